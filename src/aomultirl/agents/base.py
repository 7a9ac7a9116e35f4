"""What an agent is: a coroutine of behaviours (see ``docs/design.md``).

An agent's constructor only stores its parameters; :meth:`Agent.begin` learns the setting of a run and checks them.
:meth:`Agent.episode` yields phases, receives their outcomes, and returns a report.  It changes the agent's memory only
after its last ``yield``, so an episode that fails on the way leaves no trace.
"""

import math
import warnings
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks, records, sizes
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import RandomStream
from aomultirl.engine.stepping import Outcome, Phase, Ran
from aomultirl.exploring.base import Explorer
from aomultirl.learning.base import Known, Learner, Learning
from aomultirl.setting import Setting as Setting
from aomultirl.theory import RegretBound

if TYPE_CHECKING:
    from aomultirl.agents.game import Game
    from aomultirl.agents.premises import Premises, RunFacts

NOTHING: NDArray[np.float64] = np.empty(0)
"""In place of reward sums that nobody asks for."""
LEAST_FAILURE = 1e-100
"""Probability of failure below which formulas leave the numbers that there are."""


@dataclass(frozen=True)
class Report:
    """What an agent says of an episode.

    cluster
        the number of the cluster it was put in, from 0; -1 for none.
    new_cluster
        the episode made the cluster.
    exploration_ok
        every pair that had to be visited was visited often enough; True where nothing had to.
    evaluation
        a plan, (H, S) or (S,), to be judged by the paper's metric: the policy learned so far, without a bonus.  None
        where there is none, or where nobody asks for it (:attr:`Agent.evaluates`).
    evaluation_horizon
        how many steps it is for.
    samples
        what that policy was learned from; empty where nothing is learned, or where nobody asks for it.
    certified
        it was proven that the episode belongs to an old cluster: at every pair of the set, or of all.
    abstained
        the agent looks for clusters, and put this episode in none.
    world
        the name of the world that the agent takes the episode for, whether or not it is proven; -1 for none.
    sure
        how probable the agent finds that; nan for an agent that has no beliefs.
    """

    cluster: int = -1
    new_cluster: bool = False
    exploration_ok: bool = True
    evaluation: NDArray[np.int32] | None = None
    evaluation_horizon: int = 0
    samples: tuple[CountTable, ...] = ()
    certified: bool = False
    abstained: bool = False
    world: int = -1
    sure: float = math.nan


class Remembered(NamedTuple):
    """One cluster in an agent's memory.

    identifying: the samples it is recognised by.  plan: the first actions of what was learned for it, (S,), where A
    stands for "at random".
    """

    identifying: CountTable
    plan: NDArray[np.int32]


class Memory(NamedTuple):
    """clusters: in order of first appearance; pairs: those compared, s * A + a; threshold: on their distance."""

    clusters: list[Remembered]
    pairs: NDArray[np.int64]
    threshold: float | None


class Evidence(NamedTuple):
    """What an episode says so far against one cluster.

    cluster: its number; value: how much speaks against it, contradicted: whether that is beyond the limit; words: what
    the value is, such as "largest l1 distance".  certified: pairs certified to agree with it, of how many; belief: how
    probable the agent finds it; None where an agent has no such thing.
    """

    cluster: int
    value: float
    limit: float
    contradicted: bool
    words: str
    certified: tuple[int, int] | None = None
    belief: float | None = None


Episode: TypeAlias = Generator[Phase, Outcome, Report]
RecognisedBy: TypeAlias = Literal["", "samples", "evidence", "belief"]


class Agent:
    """Base of all agents.

    Attributes
    ----------
    told
        what the agent is told beyond the setting: "task", the number of the world of each episode, and "models".
    most_tasks
        how many tasks an agent that is told them can tell apart; None for any number.
    completed
        how many episodes of its run are over, as ``ao.run`` and ``ao.interact`` count them.
    interface
        what lies between the agent and environments, where there is anything; ``ao.save`` writes it down.
    loaded
        the agent was read from a file, and goes on from there.
    run_facts
        what whoever holds the worlds knows of the run; no agent acts by it.  None where nobody holds them.
    evaluates
        whether anybody asks for :attr:`Report.evaluation` and :attr:`Report.samples`, which take long in large worlds.
    recognition
        how the agent recognises a world: "samples", when every pair that it compares has its samples; "evidence", as
        soon as the evidence suffices; "belief", while it acts; empty for agents that do not.
    pair_bytes
        memory that an episode takes for each state and action, visited or not: at least a table of counts.
    keeps
        the class of :attr:`kept`; None where the agent does not say what it remembers, and so cannot be saved.
    kept
        everything that the next episode, :meth:`memory` and :meth:`findings` depend on, beyond what begin() makes: a
        dataclass whose fields say what a file may hold (:mod:`aomultirl.records`).  ``ao.save`` writes it down between
        episodes.
    """

    told: ClassVar[frozenset[str]] = frozenset()
    most_tasks: int | None = None
    keeps: ClassVar[type | None] = None
    pair_bytes: int = 16
    recognition: ClassVar[RecognisedBy] = ""
    setting: Setting
    kept: Any
    completed: int = 0
    interface: Any = None
    loaded: bool = False
    run_facts: "RunFacts | None" = None
    evaluates: bool = True

    def begin(self, setting: Setting) -> None:
        """A new run: forget everything, and check the parameters against the setting."""
        checks.integer("n_states", setting.n_states, least=1)
        checks.integer("n_actions", setting.n_actions, least=1)
        check_pairs(self, "n_states", setting.n_states, setting.n_states, setting.n_actions)
        self.setting, self.run_facts = setting, None

    def episode(self, start: int, stream: RandomStream, task: int | None = None) -> Episode:
        """One episode from state ``start``; ``stream`` is the agent's own source of randomness in it."""
        raise NotImplementedError(f"{type(self).__name__} has no method episode; ao.check_agent says what it must be")

    @property
    def episode_steps(self) -> int | None:
        """How many steps an episode has that nothing ends before; None where the agent does not say."""
        return getattr(self, "horizon", None)

    def memory(self, stream: RandomStream) -> Memory:
        """What the agent remembers of each cluster; ``stream`` breaks ties of the plans."""
        return Memory([], np.empty(0, np.int64), None)

    def evidence(self, explored: CountTable) -> list[Evidence]:
        """What the transitions of a clustering phase say about every cluster; empty where there are none."""
        return []

    def beliefs(self, explored: CountTable) -> dict[int, float]:
        """How probable the agent finds every world that it remembers, and -1, one that it does not, after ``explored``.

        Empty for an agent that has no beliefs.  One that only tells what is contradicted holds the rest for equal.
        """
        found = self.evidence(explored)
        left = [one.cluster for one in found if not one.contradicted] or ([-1] if found else [])
        return dict.fromkeys(left, 1.0 / len(left)) if left else {}

    def play(
        self,
        start: Any,
        *,
        n_states: int | None = None,
        n_actions: int | None = None,
        rewards: NDArray[np.float64] | None = None,
        episodes: int = 1000,
        seed: int = 0,
    ) -> "Game":
        """Play an episode by hand.

        One game of an agent is open at a time: finish it, or give it up.  One that nobody holds any more is given up.

        Parameters
        ----------
        start
            the first state: its number, or what the environment shows where the agent has met environments.
        n_states, n_actions
            S and A, needed for the first game.
        rewards
            (S, A), if they are known; otherwise the agent must take ``rewards="unknown"``.  Needed for the first game.
        episodes
            how many games there will be, about; needed for the first.  After them the agent goes on.

        Examples
        --------
        >>> import aomultirl as ao
        >>> agent = ao.agents.Recall(0.05, horizon=10, rewards="unknown")
        >>> game = agent.play(0, n_states=3, n_actions=2)
        >>> while not game.over:
        ...     action = game.act()
        ...     game.observe(state=action, reward=0.5, terminated=False)
        >>> game.reward
        5.0
        >>> sorted(agent.play(0).belief.shares)  # the world that it has met, and one that it has not
        [-1, 0]
        """
        from aomultirl.agents.game import play

        return play(self, start, n_states, n_actions, rewards, episodes, seed)

    def remember(self, groups: Any) -> None:
        """Start with a memory of worlds that others have met; see :meth:`aomultirl.agents.Recall.remember`."""
        raise ValueError(f"{type(self).__name__} cannot start with a memory; ao.agents.Recall can")

    def findings(self) -> dict[str, Any]:
        """What else is worth knowing of a run: numbers and lists that JSON can hold."""
        return {}

    def premises(self) -> "Premises":
        """Which premises of the theorem on its regret the agent's run breaks; see :mod:`aomultirl.agents.premises`."""
        from aomultirl.agents.premises import premises

        return premises(self)

    def regret_bound(self, episodes: int) -> RegretBound | None:
        """What a theorem promises for the run's first so many episodes; None where none does, see :meth:`premises`."""
        found = self.premises()
        if found.broken or checks.integer("episodes", episodes, least=1) < found.least:
            return None
        longest = max(episodes, self.setting.episodes)
        return None if (bound := self._theorem(longest)) is None else bound.of_first(episodes, longest)

    def _theorem(self, episodes: int) -> RegretBound | None:
        """The theorem's bound on a run of so many episodes, at least as many as this one has."""
        return None

    def why_unsaved(self) -> str:
        """Why the agent cannot be saved as it is now, or nothing."""
        return ""

    def restore(self, kept: Any) -> None:
        """Take over what :attr:`kept` was when the agent was saved, after begin() with the same setting.

        Its fields were checked against their types; what else must hold is checked here.
        """
        self.kept = kept

    def go_on(self, setting: Setting) -> None:
        """Go on with what is remembered in another setting, such as one of more episodes.

        What was promised with probability 1 - p for the episodes before holds for them; those from now on have their
        own p.
        """
        kept = self.kept
        if hasattr(kept, "shared"):
            kept.shared = self._learner.shared_for(kept.shared, setting)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # said when the run began
            self.begin(setting)
        self.restore(kept)

    @property
    def _learner(self) -> Learner:
        learner: Learner = vars(self)["learner"]
        return learner

    def rescale_rewards(self, times: float, plus: float, rest: float) -> None:
        """Between episodes: every reward r is shown as ``times * r + plus`` from now on, nothing as ``rest``.

        What is remembered of rewards (:meth:`aomultirl.learning.Known.rescale_rewards`, and the same of other records)
        is brought to the new range.
        """
        records.each(self.kept, "rescale_rewards", times, plus)
        if hasattr(self.kept, "shared"):
            records.each(self.kept, "rescale_own", self._learner, times, plus)
            self.kept.shared = self._learner.rescaled_shared(self.kept.shared, times, plus)
        rewards = None if self.setting.rewards is None else times * self.setting.rewards + plus
        self.go_on(replace(self.setting, rewards=rewards, rest=rest))

    def parameters(self) -> dict[str, Any]:
        """The constructor's parameters by name, as far as they are kept.

        Those that a constructor only forwards to its learner or explorer are read there, unless that is a parameter
        itself and so says them all.
        """
        import inspect

        names = inspect.signature(type(self).__init__).parameters
        holders = [getattr(self, part) for part in ("learner", "explorer") if hasattr(self, part) and part not in names]
        kept = {}
        for name in names:
            owner = next((owner for owner in (self, *holders) if name in vars(owner)), None)
            if owner is not None:
                kept[name] = vars(owner)[name]
        return kept

    def __repr__(self) -> str:
        words = ", ".join(f"{name}={value!r}" for name, value in self.parameters().items())
        return f"{type(self).__name__}({words})"


@dataclass
class NoMemory:
    """What an agent keeps that remembers nothing."""


def run_phase(phase: Phase, entered: int) -> Generator[Phase, Outcome, Ran]:
    """Yield a phase, and give it back as it was run; ``entered`` is the state it begins in."""
    outcome = yield phase
    return Ran(phase, entered, outcome)


def read_failure(failure: float) -> float:
    """p, not so small that what is divided by it is beyond numbers."""
    return checks.real("failure", failure, above=0.0, least=LEAST_FAILURE, below=1.0)


def check_is_learner(learner: object) -> None:
    """Refuse anything else, classes included."""
    if not isinstance(learner, Learner):
        raise checks.Refusal("learner", f"is {checks.shown(learner)}, not a learner such as ao.learning.UCBVI()")


def check_is_explorer(explorer: object) -> None:
    """Refuse anything else, classes included."""
    if not isinstance(explorer, Explorer):
        words = f"is {checks.shown(explorer)}, not an explorer such as ao.exploring.ExploreID()"
        raise checks.Refusal("explorer", words)


def check_plan(name: str, horizon: int, setting: Setting, plans: int = 1) -> None:
    """Refuse a horizon for which a plan by steps, (H, S), does not fit into the memory with what it is made from.

    Parameters
    ----------
    name
        the argument that the horizon comes from.
    plans
        how many of them are kept at a time.
    """
    size = (horizon + 1.0) * (setting.n_states * (8 + 4 * plans) + 16)
    sizes.check(name, horizon, size, f"a plan for so many steps and {setting.n_states} states")


def check_pairs(agent: Agent, name: str, value: object, n_states: int, n_actions: int) -> None:
    """Refuse more states and actions than an agent has memory for; ``name`` and ``value`` say where they come from."""
    words = f"{type(agent).__name__} with {n_states} states and {n_actions} actions"
    sizes.check(name, value, float(agent.pair_bytes) * n_states * n_actions, words, "their number")


def check_known(known: Known, nothing: Known, place: str) -> None:
    """Refuse what no learner can know that knows ``nothing`` at first."""
    records.check_like({"sums": known.sums, **known.own}, {"sums": nothing.sums, **nothing.own}, place)
    records.check_entries(known.sums, f"{place}.sums", least=0.0)


def check_shared(shared: dict[str, NDArray[Any]], learning: Learning) -> None:
    """Refuse what a learner cannot know of all worlds alike."""
    records.check_like(shared, learning.shared(), "memory.shared")


def learner_setting(rewards: str, setting: Setting) -> Setting:
    """The setting as a learner is told it, without rewards if "unknown"; refuses "known" where nobody knows them."""
    if checks.choice("rewards", rewards, ("known", "unknown")) == "unknown":
        return replace(setting, rewards=None)
    if setting.rewards is None:
        raise checks.Refusal("rewards", '= "known", but nobody says what they are here; take rewards="unknown"')
    return replace(setting, rewards=np.array(setting.rewards, np.float64))


def told_task(task: int | None) -> int:
    """The task, which must be told."""
    if task is None:
        raise ValueError("this agent must be told the task of each episode")
    return task
