"""L-UCRL (Kwon, Efroni, Caramanis, Mannor 2021): optimism in a latent MDP, one of M contexts, unknown which.

Every context m has counts N_m(s, a, s'), sums of rewards, counts of first states and of episodes; all are weighted, so
none need be whole.  Before an episode they give the empirical context: transitions, rewards R_m, first states nu_m and
weights w_m, with the optimistic reward

    R_m(s, a) + H min{ 1, sqrt( 5 (S + R) ln(M S A K / eta) / N_m(s, a) ) },       values at most H - h at step h.

A planner acts in this latent MDP by the belief b(m), which every step updates (:mod:`aomultirl.learning.latent`)::

    b(m)  proportional to  w_m nu_m(s_1) prod over steps of max{ P_m(s' | s, a), floor }.

Afterwards the episode is added to the counts: to those of its context, where that is told in hindsight
(``contexts="told"``), or to every context with the weight b(m) (``contexts="hidden"``).  Contexts keep their places for
the whole run, and no step relabels them, so that labels cannot be switched between episodes.

Setting: every episode is of one of M worlds, drawn independently with the same probabilities, and not told while it
lasts.

Must be told: M, H, the failure probability eta; the task after each episode, or else a good start (``initial``).

Guarantee: with contexts in hindsight, an exact planner and bonus_scale = 1, regret of the order
H S sqrt(M A N) ln(M S A N / eta), N = H K, against the best policy that knows the contexts and is told nothing
(:func:`aomultirl.theory.told_nothing_optimum`), which is less than the paper's regret asks for.  QMDP is no exact
planner, so with it there is none, nor where tasks are not drawn independently.  With hidden contexts the source
needs worlds that differ so much that their likelihoods part under every policy, long episodes, and a start that is
close to the truth; :func:`aomultirl.theory.separated_horizon` says how long, for worlds that differ everywhere.
Without these the agent may stay for ever with contexts that are mixtures of worlds.

Adapted to a stream of tasks: an adversary's tasks are no draws, so the weights say only how often a context has come.
Whether an arrival ended the episode is evidence, as the successor is; rewards are none, because worlds of a set share
them.

What was uncertain, and how it was settled.

* *Constants of the bonus.*  5 and S + R are from memory of the source, with R the number of rewards that occur.  Here
  R is 0 where rewards are known and 1 where they are estimated: their mean alone matters.  ``bonus_scale`` multiplies
  the root.  A pair that a context has not visited is worth the cap there.
* *Optimism about w and nu.*  Instead of bonuses, w_m is (episodes of m + 1) / (episodes + M), so that a context
  that has not come yet stays possible.
* *The floor.*  By default 1 / (N_m(s, a) + S): what was never seen in many visits is unlikely, and in none is one
  of S.  A pair that a context has not visited counts as 1 / S with any floor, an end in a state that it has not met as
  no evidence.  With ``floor=0`` and the true worlds as ``initial``, b is Bayes' posterior.
* *Breaking the symmetry.*  With hidden contexts of which nothing is known, all are alike and would stay so.  While
  there is such a context, the next episode is taken to be its first: it acts at random and is added there alone.  So
  without ``initial`` the first M episodes should be of M different worlds; where two are of one world, that one has two
  contexts, and another one shares its own.  ``initial`` or :meth:`LUCRL.remember` is the better start.
"""

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks, sizes
from aomultirl.agents.base import Agent, Episode, Report, learner_setting, read_failure, run_phase, told_task
from aomultirl.agents.game import check_free
from aomultirl.agents.latent_memory import LatentMemory, Rows, no_memory, rows_of
from aomultirl.agents.remembering import check_groups, read_groups
from aomultirl.engine.candidates import Candidates
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import RandomStream
from aomultirl.engine.stepping import Phase
from aomultirl.learning.latent import NO_POLICY, LatentBehaviour, act_on_posterior, log_likelihoods, plan_context
from aomultirl.model_set import ModelSet
from aomultirl.setting import Setting

BONUS = 5.0
"""The constant of the bonus."""
MOST_HISTORIES = 4_000_000
"""Histories times contexts that the exact planner may look at before a step: about two seconds."""
LEAST_SHARE = 1e-9
"""A context with less of the posterior gets nothing of an episode: counts that small are rounding."""


class LUCRL(Agent):
    """L-UCRL of Kwon et al.: contexts with weighted counts, optimism, and a belief that is filtered while acting.

    The formulas are in :mod:`aomultirl.agents.lucrl`.

    Parameters
    ----------
    models
        M, how many contexts there are.
    horizon
        H, the steps of an episode.
    failure
        eta, the probability with which the confidence may fail.
    contexts
        "hidden": an episode is added to every context with its posterior weight; "told": the task, below M, is told
        after the episode.
    planner
        "qmdp", or "exact", which looks at up to (S A)^(H - 1) histories before a step.
    rewards
        "known", or "unknown": estimated for each context.
    bonus_scale
        multiplies the root of the bonus; 1 is faithful, and leaves the agent acting at random at laptop sizes.
    floor
        the least that a transition counts as, below 1; by default 1 / (visits + S).
    initial
        M worlds, or close to them, that the contexts begin as; None where nothing is known.
    initial_visits
        how many visits of every pair each of them is worth.

    Examples
    --------
    >>> import aomultirl as ao
    >>> models = ao.worlds.gridworld()
    >>> agent = ao.agents.LUCRL(4, 200, failure=0.1, bonus_scale=0.0003, initial=models)
    >>> history = ao.run(agent, models, ao.streams.round_robin(), episodes=40)
    >>> history.misclustered, [round(weight) for weight in agent.findings()["context_weights"]]
    (0, [10, 10, 10, 10])
    """

    recognition = "belief"
    keeps: ClassVar[type] = LatentMemory
    kept: LatentMemory

    def __init__(
        self,
        models: int,
        horizon: int,
        *,
        failure: float,
        contexts: str = "hidden",
        planner: str = "qmdp",
        rewards: str = "known",
        bonus_scale: float = 1.0,
        floor: float | None = None,
        initial: ModelSet | None = None,
        initial_visits: float = 100.0,
    ) -> None:
        self.models, self.horizon, self.failure = models, horizon, failure
        self.contexts, self.planner, self.rewards = contexts, planner, rewards
        self.bonus_scale, self.floor = bonus_scale, floor
        self.initial, self.initial_visits = initial, initial_visits
        if isinstance(contexts, str) and contexts == "told":
            self.told = frozenset({"task"})  # type: ignore[misc]  # the one agent of which a parameter decides it
            self.most_tasks = models if isinstance(models, int) else None  # what else it may be, begin() refuses
        self._groups: list[Any] = []
        self._has_begun = False

    def begin(self, setting: Setting) -> None:
        super().begin(setting)
        n_states, n_pairs = setting.n_states, setting.n_pairs
        models = checks.integer("models", self.models, least=1)
        horizon = checks.integer("horizon", self.horizon, least=1)
        failure = read_failure(self.failure)
        self._is_told = checks.choice("contexts", self.contexts, ("hidden", "told")) == "told"
        self._is_exact = checks.choice("planner", self.planner, ("qmdp", "exact")) == "exact"
        self._scale = checks.real("bonus_scale", self.bonus_scale, least=0.0)
        self._floor = None if self.floor is None else checks.real("floor", self.floor, least=0.0, below=1.0)
        visits = checks.real("initial_visits", self.initial_visits, above=0.0, most=2.0**53)
        self._rewards = learner_setting(self.rewards, setting).rewards
        sizes.check("models", models, 40.0 * models * n_pairs, f"so many contexts with {n_pairs} pairs")
        size = 8.0 * models * (horizon + 1) * n_states
        sizes.check("horizon", horizon, size, f"values of {models} contexts for so many steps and {n_states} states")
        if self._is_exact:
            _check_histories(horizon, n_pairs, models)
        self._logarithm = math.log(float(models) * n_pairs * setting.episodes / failure)
        kept = no_memory(models, n_states, setting.n_actions, self._rewards is None)
        self._begin_with(kept, setting, models, visits)
        self.kept, self._start, self._has_begun = kept, 0, True

    def _begin_with(self, kept: LatentMemory, setting: Setting, models: int, visits: float) -> None:
        """Put the start that was given, ``initial`` or what was to be remembered, into an empty memory."""
        if self.initial is not None:
            self._check_initial(setting, models)
            for context, model in enumerate(self.initial):
                kept.add_model(context, model, visits)
        if len(self._groups) > models or (self._groups and self.initial is not None):
            words = "initial is given too" if self.initial is not None else f"there are {models} contexts"
            raise checks.Refusal("groups", f"has {len(self._groups)} worlds to remember, but {words}")
        for context, (table, sums) in enumerate(read_groups(self._groups, setting, self._rewards is None)):
            kept.add(np.eye(models)[context], table, sums)

    def _check_initial(self, setting: Setting, models: int) -> None:
        initial = self.initial
        if not isinstance(initial, ModelSet):
            raise checks.Refusal("initial", f"is {checks.shown(initial)}, not a ModelSet")
        if len(initial) != models:
            raise checks.Refusal("initial", f"has {len(initial)} worlds, but there are {models} contexts")
        if (initial.n_states, initial.n_actions) != (setting.n_states, setting.n_actions):
            given = f"{initial.n_states} states and {initial.n_actions} actions"
            raise checks.Refusal("initial", f"has {given}, not {setting.n_states} and {setting.n_actions}")

    def remember(self, groups: Any) -> None:
        """Start with what logs or models say of worlds, one for each context, before the first run.

        Every run of the agent begins with it; one that is saved and loaded goes on with what it had learned.

        Parameters
        ----------
        groups
            as of :meth:`aomultirl.agents.Recall.remember`, such as what ``ao.cluster`` found; M at most.
        """
        found = check_groups(groups)
        check_free(self)
        if self._has_begun:
            raise ValueError("LUCRL can start with a memory, and has begun: let a new one remember")
        self._groups = found

    def why_unsaved(self) -> str:
        if self._has_begun or not self._groups:
            return ""
        return "what it remembers is read by its first run: save it after that, or let it remember once it is loaded"

    def episode(self, start: int, stream: RandomStream, task: int | None = None) -> Episode:
        setting, memory = self.setting, self.kept
        context = self._told_context(task)
        rows = rows_of(memory, setting.n_actions)
        behaviour = self._behaviour(rows, self._prior(memory, start))
        self._start = start
        counts, sums = CountTable(setting.n_pairs), np.zeros(setting.n_pairs if self._rewards is None else 0)
        yield from run_phase(Phase(behaviour, self.horizon, counts, sums), start)
        shares = np.where(behaviour.shares >= LEAST_SHARE, behaviour.shares, 0.0)
        shares /= shares.sum()
        if self._is_told:
            shares = np.eye(len(shares))[context]
        memory.add_episode(shares, start, counts, sums)
        return self._report(memory, shares)

    def _told_context(self, task: int | None) -> int:
        """The context that will be told after the episode; -1 where contexts are hidden."""
        if not self._is_told:
            return -1
        return checks.integer("task", told_task(task), least=0, most=self.models - 1)

    def _prior(self, memory: LatentMemory, start: int) -> NDArray[np.float64]:
        """ln of w_m nu_m(start), (M,); of w_m alone where no context has ever begun there, and the floor is 0.

        Where nothing is known of a hidden context, the first such one is certain: the next episode begins it.
        """
        empty = memory.is_empty
        if empty.any() and not self._is_told:
            return np.where(np.arange(len(empty)) == np.argmax(empty), 0.0, -np.inf)
        prior = np.log((memory.weights + 1.0) / (memory.weights.sum() + len(memory.weights)))
        begun, n_states = memory.starts.sum(axis=1), memory.starts.shape[1]
        floor = np.where(begun == 0.0, 1.0 / n_states, 1.0 / (begun + n_states) if self._floor is None else self._floor)
        first = np.maximum(memory.starts[:, start] / np.where(begun > 0.0, begun, 1.0), floor)
        with np.errstate(divide="ignore"):
            return np.asarray(prior + np.log(first) if first.any() else prior)

    def _behaviour(self, rows: Rows, scores: NDArray[np.float64]) -> LatentBehaviour:
        """Act by the belief in the optimistic contexts."""
        visits = np.where(rows.visits > 0.0, rows.visits, np.nan)
        constant = BONUS * (self.setting.n_states + (self._rewards is None)) * self._logarithm
        bonus = self.horizon * np.minimum(1.0, self._scale * np.sqrt(constant / visits))
        gains = np.where(rows.visits > 0.0, self._mean_rewards(rows) + bonus, np.inf)
        candidates = self._candidates(rows, gains, np.arange(self.horizon, 0.0, -1.0))
        if not self._is_exact:
            for context in range(len(gains)):
                plan_context(candidates, context, self.setting.rest, NO_POLICY)
        return act_on_posterior(candidates, scores, self.setting.rest, exact=self._is_exact)

    def _mean_rewards(self, rows: Rows) -> NDArray[np.float64]:
        """(M, S * A), as they are known, or the means; 0 where a context has not visited a pair."""
        if self._rewards is not None:
            return np.broadcast_to(self._rewards.reshape(-1), rows.visits.shape)
        return np.asarray(self.kept.sums / np.where(rows.visits > 0.0, rows.visits, 1.0))

    def _candidates(self, rows: Rows, gains: NDArray[np.float64], caps: NDArray[np.float64]) -> Candidates:
        """The contexts as kernels read them; values are still to be planned."""
        models, n_pairs = gains.shape
        n_states, length = self.setting.n_states, len(rows.states)
        row_floors, end_floors = 1.0 / (rows.visits + n_states), 1.0 / (rows.arrivals + 2.0)
        if self._floor is not None:
            row_floors = np.where(rows.visits > 0.0, self._floor, row_floors)
            end_floors = np.full_like(end_floors, self._floor)
        return Candidates(
            starts=rows.starts + length * np.arange(models)[:, None],
            states=np.tile(rows.states, models),
            probs=rows.probs.reshape(-1),
            going_on=rows.going_on,
            row_floors=row_floors,
            end_floors=np.where(rows.arrivals > 0.0, end_floors, 1.0),
            values=np.zeros((models, len(caps) + 1, n_states)),
            shared=np.zeros(n_pairs),
            own=np.ascontiguousarray(gains),
            caps=caps,
        )

    def _report(self, memory: LatentMemory, shares: NDArray[np.float64]) -> Report:
        """What the episode was taken for, and the policy that is best in that context as it is estimated."""
        context = int(np.argmax(shares))
        best = self._best(memory, context) if self.evaluates else None
        if self._is_told:
            return Report(evaluation=best, evaluation_horizon=self.horizon)
        is_new = memory.numbers[context] < 0
        if is_new:
            memory.numbers[context] = memory.clusters
            memory.clusters += 1
        number = memory.numbers[context]
        return Report(
            number, is_new, evaluation=best, evaluation_horizon=self.horizon, world=number, sure=float(shares[context])
        )

    def _best(self, memory: LatentMemory, context: int) -> NDArray[np.int32]:
        """The first of the best actions in a context without a bonus, (H, S); unvisited pairs lead nowhere."""
        rows = rows_of(memory, self.setting.n_actions)
        policy = np.zeros((self.horizon, self.setting.n_states), np.int32)
        candidates = self._candidates(rows, self._mean_rewards(rows), np.full(self.horizon, np.inf))
        plan_context(candidates, context, self.setting.rest, policy)
        return policy

    def beliefs(self, explored: CountTable) -> dict[int, float]:
        """The posterior of the contexts, by the clusters that they are reported in; -1 for those that have none yet."""
        memory, setting = self.kept, self.setting
        rows, found = rows_of(memory, setting.n_actions), {-1: 0.0}
        behaviour = self._behaviour(rows, self._prior(memory, self._start))
        scores = behaviour.scores + log_likelihoods(behaviour.candidates, explored)
        if not np.isfinite(scores).any():
            scores = np.zeros(len(scores))
        shares = np.exp(scores - scores.max())
        for number, share in zip(memory.numbers, (shares / shares.sum()).tolist(), strict=True):
            found[number] = found.get(number, 0.0) + share
        return found

    def restore(self, kept: LatentMemory) -> None:
        kept.check(self.models, self.setting.n_states, self.setting.n_actions, self._rewards is None)
        super().restore(kept)

    def findings(self) -> dict[str, Any]:
        """How many episodes each context has had, weighted, and how many transitions any of them has seen."""
        return {"context_weights": self.kept.weights.tolist(), "transitions": len(self.kept.keys)}


def _check_histories(horizon: int, n_pairs: int, models: int) -> None:
    """Refuse a horizon for which the exact planner would look at too many histories."""
    histories = math.exp(min(700.0, (horizon - 1) * math.log(n_pairs)))
    if histories * models > MOST_HISTORIES:
        words = f"up to (S A)^(H - 1) = {n_pairs}^{horizon - 1} histories of {models} contexts before a step"
        raise checks.Refusal(
            "horizon",
            f'is {horizon}: planner="exact" looks at {words}, and {MOST_HISTORIES:,} in all are the most; '
            'make it smaller, or take planner="qmdp"',
        )
