"""Which premises of the paper's theorems a run breaks: the one place that says where a bound on its regret holds.

========== ================================================ ===============================================
Theorem    is about                                         needs
========== ================================================ ===============================================
16 (and    :class:`~aomultirl.agents.AOMultiRL`             Algorithm 1 as printed: ExploreID, the N and H0
Corollary                                                   of the text, UCBVI with the whole bonus, known
17)                                                         rewards; at most M worlds that Gamma tells apart
                                                            by alpha; a bound on the hitting times
37         the same with ``reuse_samples``                  the same, and Gamma = S x A
20         :class:`~aomultirl.agents.TwoStageAOMultiRL`     the same, M worlds exactly, and Assumption 19:
                                                            all within K1 episodes, K1 S A < K - K1 (E17)
35         :class:`~aomultirl.agents.UCBVIWithOracle`       a single world, and UCBVI with the whole bonus
========== ================================================ ===============================================

What an agent is can be read off its parameters.  What its worlds are, and in which order they came, it does not know:
whoever holds the worlds says so (:class:`RunFacts`), and where nobody does, these premises are named as unchecked.
"""

import math
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl import theory
from aomultirl.exploring import ExploreID
from aomultirl.geometry.reachability import hitting_time_is_finite
from aomultirl.learning import UCBVI
from aomultirl.model_set import ModelSet
from aomultirl.streams import Past

if TYPE_CHECKING:
    from aomultirl.agents.aomultirl import AOMultiRL
    from aomultirl.agents.base import Agent
    from aomultirl.agents.two_stage import TwoStageAOMultiRL
    from aomultirl.agents.ucbvi_with_oracle import UCBVIWithOracle

ONE_STAGE, TWO_STAGES, ORACLE, BOTH_PHASES = "Theorem 16", "Theorem 20", "Theorem 35", "Theorem 37"
ROUNDING = 1e-9
"""Share by which distances and times may be off before a premise about them is called broken."""
MOST_WORK = 1e8
"""Operations, about a second, that the check of a premise may take; by size, so that every machine checks the same."""


class RunFacts(NamedTuple):
    """What whoever holds the worlds of a run knows of it, and its agent does not: no agent acts by it.

    worlds: the hidden set.
    past: the episodes so far, a list that grows.
    """

    worlds: ModelSet
    past: Sequence[Past]


class Premises(NamedTuple):
    """Whether a theorem's bound on the regret holds in a run.

    theorem: the one that is about the agent, "Theorem 16"; empty where none is.
    broken: a sentence for every premise that does not hold; there is a bound only where there are none.
    unchecked: what nobody could check, each as the rest of a sentence that begins with "nobody checked that".
    least: the number of first episodes from which on the bound holds.
    """

    theorem: str
    broken: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    least: int = 1

    def as_json(self) -> dict[str, object] | None:
        """For a history; None where no theorem is about the agent."""
        if not self.theorem:
            return None
        return {"theorem": self.theorem, "broken": list(self.broken), "unchecked": list(self.unchecked)}


def premises(agent: "Agent") -> Premises:
    """Which premises of the theorem on its regret the run of an agent breaks, once it has begun.

    Examples
    --------
    The paper's grids, whose hitting time is not 7; a class derived from an agent's has no theorem either.

    >>> import aomultirl as ao
    >>> agent = ao.agents.AOMultiRL(4, 1.29, 7, 0.03, [(1, 0), (8, 3), (2, 1)], learning_horizon=200)
    >>> _ = ao.run(agent, ao.worlds.gridworld(), ao.streams.paper(), episodes=1)
    >>> premises(agent).broken
    ('It is told that hitting times are at most 7, and one is 350,443 (Assumption 12).',)
    >>> agent.regret_bound(1) is None
    True
    """
    from aomultirl.agents.aomultirl import AOMultiRL
    from aomultirl.agents.doubling import DoublingAOMultiRL
    from aomultirl.agents.two_stage import TwoStageAOMultiRL
    from aomultirl.agents.ucbvi_with_oracle import UCBVIWithOracle

    # Classes derived from these may do anything, and no theorem is about them.
    if type(agent) is AOMultiRL:
        return _of_one_stage(agent)
    if type(agent) is TwoStageAOMultiRL:
        return _of_two_stages(agent)
    if type(agent) is UCBVIWithOracle:
        return _of_an_oracle(agent)
    if type(agent) is DoublingAOMultiRL:
        return Premises("", ("The paper leaves the analysis of a horizon that doubles open (Appendix G).",))
    return Premises("", (f"No bound on the regret is worked out for {type(agent).__name__}.",))


def _of_one_stage(agent: "AOMultiRL") -> Premises:
    """Theorem 16, or 37 where the samples of both phases are learned from."""
    broken = list(_of_algorithm_1(agent))
    if agent.reuse_samples and not agent.stage.targets.all():
        broken.append("It learns from the samples of both phases, for which Theorem 37 needs Gamma = S x A.")
    worlds = _worlds(agent)
    level = agent.separation if agent.level is None else agent.level
    failing, unchecked = _of_worlds(agent, worlds, agent.stage.pairs, level)
    if worlds is not None and len(worlds) > agent.n_models:
        failing.append(f"There are {len(worlds):,} worlds, and it is told M = {agent.n_models:,}.")
    elif worlds is None:
        unchecked.append(f"there are at most {agent.n_models:,} worlds")
    return Premises(BOTH_PHASES if agent.reuse_samples else ONE_STAGE, (*broken, *failing), tuple(unchecked))


def _of_two_stages(agent: "TwoStageAOMultiRL") -> Premises:
    """Theorem 20."""
    broken, worlds, models = list(_of_algorithm_1(agent)), _worlds(agent), agent.n_models
    if agent.first_clustering_horizon is not None:
        broken.append(f"{_chosen('first_clustering_horizon', agent.first_clustering_horizon)} H0 in stage 1.")
    if (agent.first_learning_horizon or 0) > agent._evaluation_horizon():
        broken.append("Its learning phases are longer in stage 1 than in stage 2; the proof has them no longer.")
    if agent.reuse_samples:
        broken.append("It learns from the samples of both phases, which Theorem 37 is about in stage 1 alone.")
    if models < 2:
        broken.append("There must be two worlds at least.")
    failing, unchecked = _of_worlds(agent, worlds, np.arange(agent.setting.n_pairs), agent.separation)
    if worlds is not None and len(worlds) != models:
        failing.append(f"There are {len(worlds):,} worlds, and it is told M = {models:,}, where stage 1 ends.")
    elif worlds is None:
        unchecked.append(f"there are {models:,} worlds")
    early, sure = _first_episodes(agent)
    most = theory.early_episodes(agent.setting.n_states, agent.setting.n_actions, agent.setting.episodes)
    if early > most:
        failing.append(_breaks_assumption_19(agent, early, sure))
    elif not sure:
        unchecked.append(f"every world comes within the first {most:,} episodes (Assumption 19)")
    # The premise is about K: of the first k episodes it holds from K1 S A < k - K1 on, where K1 is known.
    least = int(early) * (agent.setting.n_pairs + 1) + 1 if sure and not failing else agent.setting.episodes
    return Premises(TWO_STAGES, (*broken, *failing), tuple(unchecked), least)


def _of_an_oracle(agent: "UCBVIWithOracle") -> Premises:
    """Theorem 35, which is about a single world."""
    broken = list(_of_ucbvi(agent.learner))
    worlds = _worlds(agent)
    count = agent.models if worlds is None else max(agent.models, len(worlds))
    if count > 1:
        broken.append(f"There are {count:,} worlds, and the theorem is about one.")
    return Premises(ORACLE, tuple(broken))


def _of_algorithm_1(agent: "AOMultiRL") -> Iterator[str]:
    """What of the agent itself is not as Algorithm 1 has it."""
    if agent.rewards != "known":
        yield "The rewards are unknown and estimated; the theorem has them known."
    if agent.constants != "paper":
        yield "N and H0 are those of the released code; the theorem is proved for those of the text."
    if agent.samples is not None:
        yield f"{_chosen('samples', agent.samples)} N."
    if agent.clustering_horizon is not None:
        yield f"{_chosen('clustering_horizon', agent.clustering_horizon)} H0."
    if agent.stop_early:
        yield "Its clustering phase ends before H0 steps (stop_early); the theorem's takes all of them."
    if type(agent.explorer) is not ExploreID:
        yield f"It explores by {type(agent.explorer).__name__}; the theorem is about ExploreID."
    yield from _of_ucbvi(agent.learner)
    stages = agent.stage.clustering_horizon + agent.stage.learning_horizon
    if 0 < agent.setting.longest < stages:
        yield f"Episodes end after {agent.setting.longest:,} steps; its two phases need {stages:,}."


def _of_ucbvi(learner: object) -> Iterator[str]:
    """What of the learner is not as UCBVI has it; a cap of H - h is as valid as one of H."""
    if type(learner) is not UCBVI:
        yield f"It learns by {type(learner).__name__}; the theorem is about UCBVI."
        return
    if learner.bonus != "paper":
        yield "The bonus is that of the released code; the theorem is proved for that of the text (E27)."
    if learner.bonus_scale != 1.0:
        yield f"The bonus is multiplied by {learner.bonus_scale:g}; the theorem is proved for the whole of it."


def _chosen(name: str, value: int) -> str:
    return f"{name} = {value:,} is in place of the theorem's"


def _worlds(agent: "Agent") -> ModelSet | None:
    """The worlds of the run: those it is in, or those that the agent was told; None where nobody knows them."""
    if agent.run_facts is not None:
        return agent.run_facts.worlds
    if agent.setting.models is not None:
        return agent.setting.models
    told = getattr(agent, "models", None)
    return told if isinstance(told, ModelSet) else None


def _of_worlds(
    agent: "AOMultiRL", worlds: ModelSet | None, pairs: NDArray[np.int64], level: float
) -> tuple[list[str], list[str]]:
    """What the worlds break, and what nobody could check: that Gamma tells them apart, and Assumption 12."""
    broken, unchecked = [], []
    n_actions = agent.setting.n_actions
    told_apart = _tells_apart(worlds, [divmod(pair, n_actions) for pair in pairs.tolist()], level)
    if told_apart is None:
        unchecked.append(f"every two worlds differ by at least {level:g} at one of the pairs it compares")
    elif not told_apart:
        where = f"any of the {len(pairs):,} pairs it compares" if len(pairs) > 1 else "the pair it compares"
        broken.append(f"Two of the worlds differ by less than {level:g} at {where}.")
    if type(agent.explorer) is not ExploreID or (agent.hitting_time is None and agent.clustering_horizon is not None):
        return broken, unchecked  # nothing is made of a hitting time
    told, longest = agent._hitting_time(), longest_hitting_time(worlds)
    if longest is None:
        unchecked.append(f"hitting times are at most {told:,.10g} (Assumption 12)")
    elif longest > (1.0 + ROUNDING) * told:
        real = "but some policy avoids a state for ever" if math.isinf(longest) else f"and one is {longest:,.6g}"
        broken.append(f"It is told that hitting times are at most {told:,.10g}, {real} (Assumption 12).")
    return broken, unchecked


def _tells_apart(worlds: ModelSet | None, pairs: list[tuple[int, int]], level: float) -> bool | None:
    """Whether every two worlds differ by ``level`` at one of the pairs; None where that is not known."""
    if worlds is None or len(worlds) ** 2 * worlds.n_states * worlds.n_actions > MOST_WORK:
        return None
    return worlds.is_distinguishing(pairs, (1.0 - ROUNDING) * level)


def longest_hitting_time(worlds: ModelSet | None) -> float | None:
    """The greatest hitting time of a set of worlds, exact; None where nobody knows them, or that takes too long."""
    if worlds is None:
        return None
    states = worlds.n_states
    if states * sum(len(world.successors.probs) for world in worlds) > MOST_WORK:
        return None
    if not all(hitting_time_is_finite(world.successors, states) for world in worlds):
        return math.inf
    if len(worlds) * states**3 > MOST_WORK:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a time too long to be exact is too long all the same
        return max(world.hitting_time() for world in worlds)


def _first_episodes(agent: "TwoStageAOMultiRL") -> tuple[float, bool]:
    """K1, the episodes after which every world had come, and whether it is that; otherwise it is at least so many."""
    least = float(agent.n_models)
    if agent.run_facts is None:
        return least, False
    facts = agent.run_facts
    tasks = [past.task for past in facts.past]
    if len(set(tasks)) == len(facts.worlds):
        return max(least, 1.0 + max(tasks.index(task) for task in set(tasks))), True
    if len(tasks) >= agent.setting.episodes:
        return math.inf, True
    return max(least, 1.0 + len(tasks)), False


def _breaks_assumption_19(agent: "TwoStageAOMultiRL", early: float, sure: bool) -> str:
    """The sentence for a K1 that is too large."""
    if math.isinf(early):
        return "A world never came, where every one must come early (Assumption 19)."
    first, pairs, episodes = int(early), agent.setting.n_pairs, agent.setting.episodes
    words = "Every world had come only after" if sure and first > agent.n_models else "For all worlds to come it takes"
    return (
        f"{words} K1 = {first:,} episodes: K1 S A = {first * pairs:,} is not below "
        f"K - K1 = {episodes - first:,} (Assumption 19)."
    )
