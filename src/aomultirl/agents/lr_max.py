"""LRMax (Lecarpentier, Abel, Asadi, Jinnai, Rachelson, Littman 2021): R-Max within bounds from tasks that are close.

Of every remembered task there are the pairs that were known, with their estimates, and its upper bound U.  How far its
values may be from those of the present task, d, follows from what is known of both (:mod:`aomultirl.learning.lipschitz`
has the formulas).  Pairs of the present task that are not known are worth, in place of Vmax::

    B(s, a) = min{ Vmax, min over remembered tasks of U(s, a) + d(s, a) }

and R-Max (:mod:`aomultirl.learning.rmax`) plans with that.  B is worked out at the first step, and again whenever a
pair becomes known, in the middle of the episode; it never rises within one.

Nothing can be said of pairs that are not known beyond Dmax(s, a), the largest distance D of two tasks there: without
any prior 1 + 2 g Vmax, so large that d = Vmax.  Somebody may say that it is smaller (``distance``).  Or, where every
task has a probability of at least p_min, after n tasks with::

    1 - 2 (1 - p_min)^n + (1 - 2 p_min)^n >= 1 - p

any two tasks have both been met with probability at least 1 - p, and the largest D(s, a) of all pairs of tasks that
were met takes the place of Dmax(s, a).

Setting: lifelong: tasks that are close to one another, in any order; drawn independently from finitely many where p_min
is used.  Discounted (g = 1 - 1 / H unless the learner says otherwise).

Must be told: the failure probability; Dmax or p_min, without which next to nothing is ever transferred.

Guarantee: while the estimates of known pairs are within eps, and Dmax is true, B and U are above the optimum of the
present task, less what R-Max loses to eps, so that R-Max keeps its PAC bound with fewer pairs to try; with p_min that
holds with probability at least 1 - p more.  With a fixed m, as by default, eps is taken for 0, which it is not: then
nothing is promised.  With eps as the learner's accuracy, 2 eps (1 + g Vmax) / (1 - g) has to be far below Vmax before
anything is transferred, for which m is millions.

Adapted to a stream of tasks: an episode is a task.  The last ``remembered`` tasks are kept, because each takes time
whenever a pair becomes known; the oldest goes.  A world that comes back is a task of its own, whose distance from
itself is what estimates differ by.

What was uncertain, and how it was settled.  *Both ways*: each direction of d has its own D, weighed with the values of
the other task; a public implementation uses one D for both.  *One pair known, the other not*: the row that is not known
leads to max W at most, which is taken in place of Vmax.  *The cap of d at Vmax* and sweeps from above are ours: a bound
that was not iterated to the end is still one.  *Known rewards* are the same in all tasks, but for states in which the
episode ends, which earn what is left after the end: low and high are these two.  *Pairs that are not known in one of
two tasks* have a D near the prior, and so keep their Dmax: this is what the guarantee needs, and the default,
``cautious=True``; with ``cautious=False`` only pairs known in both tasks are compared.  When rewards turn out to have a
wider range than was known, Vmax was none, and memory begins anew.
"""

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks, sizes
from aomultirl.agents.base import Episode, check_known, run_phase
from aomultirl.agents.task_by_task import TaskByTask
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import RandomStream
from aomultirl.engine.stepping import Phase
from aomultirl.learning import Known
from aomultirl.learning.lipschitz import (
    Metric,
    TaskModel,
    TaskModels,
    bounds_from,
    joined,
    largest_distances,
    pair_distances,
    task_model,
)
from aomultirl.learning.rmax import RMax
from aomultirl.records import Shape, Within
from aomultirl.setting import Setting

LEAST_SHARE = 1e-6
"""Of p_min: below it n is beyond any memory."""
TOLERANCE, SWEEPS = 1e-3, 200
"""Of d, in rewards a step: where sweeps end, and how many there are at most.  What is left only makes d larger."""
TASK_BYTES = 64
"""Memory that a remembered task takes for each pair: its lists, rewards, U, and which pairs are known."""


@dataclass
class RememberedTask:
    """A task of the past.

    counts
        every transition of its episode.
    sums
        (S * A,), the rewards added up; empty where they are known.
    upper
        (S * A,), U at its end.
    """

    counts: CountTable
    sums: NDArray[np.float64]
    upper: Annotated[NDArray[np.float64], Shape("pairs"), Within(0.0)]


@dataclass
class TasksMet:
    """What LRMax remembers.

    widest
        (S * A,), the largest D of each pair over all tasks that were compared; 0 before.
    compared
        (S * A,), how often two tasks were compared there.
    tasks
        the last ones, oldest first.
    met
        how many there were.
    """

    widest: Annotated[NDArray[np.float64], Shape("pairs"), Within(0.0)]
    compared: Annotated[NDArray[np.int64], Shape("pairs"), Within(0)]
    tasks: list[RememberedTask] = field(default_factory=list)
    met: Annotated[int, Within(0)] = 0

    def rescale_rewards(self, times: float, plus: float) -> None:
        """Forget everything: it was made with a Vmax that is none."""
        self.widest[:], self.compared[:], self.met = 0.0, 0, 0
        self.tasks.clear()


def tasks_until_any_two_were_met(rarest: float, failure: float) -> int:
    """n, at least 2, after which any two tasks of probability ``rarest`` or more were both met, but for ``failure``.

    Examples
    --------
    >>> tasks_until_any_two_were_met(0.25, 0.05)
    13
    """

    def missing(n: int) -> float:
        return float(2.0 * (1.0 - rarest) ** n - max(0.0, 1.0 - 2.0 * rarest) ** n)

    most = 2
    while missing(most) > failure:
        most *= 2
    least = most // 2
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (middle, most) if missing(middle) > failure else (least, middle)
    return most


class LRMax(TaskByTask):
    """R-Max within upper bounds from remembered tasks that are close; a guarantee where a bound on distances is true.

    The formulas are in :mod:`aomultirl.agents.lr_max` and :mod:`aomultirl.learning.lipschitz`.

    Parameters
    ----------
    horizon
        H, the steps of an episode.
    distance
        Dmax, what two tasks differ by at most: ``|R - R'| + g sum V' |T - T'|`` at any pair; None: nobody knows.
    failure
        p, the probability with which the learner's confidence may fail; two tasks may be missing with the same.
    rarest
        p_min, a lower bound on the probability of every task, by which Dmax is found; None: it is not.
    remembered
        how many of the last tasks are remembered, at least n where ``rarest`` is given.
    cautious
        whether pairs that are not known in one of two tasks count as far apart, as the guarantee needs.
    rewards
        "known", or "unknown": estimated.
    learner
        an :class:`aomultirl.learning.RMax` with other numbers than the default ones.

    Examples
    --------
    >>> import aomultirl as ao
    >>> agent = ao.agents.LRMax(300, distance=0.0, failure=0.1)
    >>> _ = ao.run(agent, ao.worlds.gridworld()[:1], ao.streams.uniform(), episodes=20)
    >>> agent.findings()["tasks_remembered"]
    10
    """

    keeps: ClassVar[type] = TasksMet
    kept: TasksMet

    def __init__(
        self,
        horizon: int,
        distance: float | None = None,
        *,
        failure: float,
        rarest: float | None = None,
        remembered: int = 10,
        cautious: bool = True,
        rewards: str = "known",
        learner: RMax = RMax(),
    ) -> None:
        super().__init__(horizon, failure, rewards, learner)
        self.distance, self.rarest, self.remembered, self.cautious = distance, rarest, remembered, cautious

    def begin(self, setting: Setting) -> None:
        super().begin(setting)
        remembered = checks.integer("remembered", self.remembered, least=1)
        checks.truth("cautious", self.cautious)
        most = min(remembered, setting.episodes)
        sizes.check("remembered", remembered, float(most) * TASK_BYTES * setting.n_pairs, f"a memory of {most} tasks")
        self._metric = self._first_metric()
        self._enough_tasks: int | None = None
        if self.rarest is not None:
            rarest = checks.real("rarest", self.rarest, above=0.0, least=LEAST_SHARE, most=1.0)
            self._enough_tasks = tasks_until_any_two_were_met(rarest, self.failure)
            if remembered < self._enough_tasks:
                words = f"is {remembered}, but {self._enough_tasks} tasks must be compared for rarest = {rarest:g}"
                raise checks.Refusal("remembered", words)
        self.kept = TasksMet(np.zeros(setting.n_pairs), np.zeros(setting.n_pairs, np.int64))
        self._models: list[TaskModel] = []

    def _first_metric(self) -> Metric:
        """The metric with Dmax as it is before any task was met."""
        learning, accuracy = self.learning, self.learner.accuracy
        rewards, pairs = learning.setting.rewards, self.setting.n_pairs
        low, high = np.zeros(pairs), np.ones(pairs)
        if rewards is not None:
            low, high = np.minimum(rewards, self.setting.rest), np.maximum(rewards, self.setting.rest)
        low, high = low.reshape(-1), high.reshape(-1)
        limits = largest_distances(low, high, learning.discount, learning.vmax)
        if self.distance is not None:
            limits = np.minimum(limits, checks.real("distance", self.distance, least=0.0))
        error = 0.0 if accuracy is None else float(accuracy)
        return Metric(
            low=low,
            high=high,
            limits=limits,
            discount=learning.discount,
            vmax=learning.vmax,
            error=error,
            reward_error=error if rewards is None else 0.0,
            tolerance=TOLERANCE,
            sweeps=SWEEPS,
        )

    def metric(self) -> Metric:
        """What distances are measured with in the next task."""
        metric, kept = self._metric, self.kept
        if self._enough_tasks is None or kept.met < self._enough_tasks:
            return metric
        return metric._replace(
            limits=np.where(kept.compared > 0, np.minimum(metric.limits, kept.widest), metric.limits)
        )

    def _model(self, counts: CountTable, sums: NDArray[np.float64], values: NDArray[np.float64]) -> TaskModel:
        """What was counted in a task; ``values``, (S,), are its W."""
        rewards = self.learning.setting.rewards
        told = np.empty(0) if rewards is None else np.ascontiguousarray(rewards).reshape(-1)
        return task_model(counts, told, sums, self.learning.enough, float(self.setting.rest), values)

    def _model_of(self, task: RememberedTask) -> TaskModel:
        return self._model(task.counts, task.sums, task.upper.reshape(self.setting.n_states, -1).max(axis=1))

    def episode(self, start: int, stream: RandomStream, task: int | None = None) -> Episode:
        learning, state, left = self.learning, start, self.horizon
        known, tally = learning.nothing(), learning.tally()
        metric, tasks = self.metric(), self._tasks()
        vmax = np.full(self.setting.n_pairs, learning.vmax)
        behaviour = learning.act_within(known.during(tally), vmax, pauses=tasks is not None)
        bounds, values = behaviour.bounds, behaviour.values
        while True:
            if tasks is not None:
                present = self._model(tally.counts, tally.sums, values)
                np.minimum(bounds, bounds_from(present, tasks, metric), out=bounds)
            ran = yield from run_phase(Phase(behaviour, left, tally.counts, tally.sums), state)
            state, left = ran.outcome.state, left - ran.outcome.steps
            if not ran.outcome.finished or ran.outcome.ended or left == 0:
                break
        learning.learn(known, ran)
        self._remember_task(known, bounds)
        return self._report(known, stream)

    def _tasks(self) -> TaskModels | None:
        """What is remembered, in one record; None where nothing is."""
        return joined(self._models, [task.upper for task in self.kept.tasks]) if self._models else None

    def _remember_task(self, known: Known, bounds: NDArray[np.float64]) -> None:
        """Compare a task that is over with those in memory, and put it there."""
        kept, setting = self.kept, self.setting
        upper = self.learning.upper(known, bounds)[0].reshape(setting.n_states, -1)
        upper[known.counts.going_on(setting.n_states) < 0.5] = setting.rest / (1.0 - self.learning.discount)
        task = RememberedTask(known.counts, known.sums, np.minimum(upper, self.learning.vmax).reshape(-1))
        model = self._model_of(task)
        if self._enough_tasks is not None:
            for other in self._models:
                far = pair_distances(model, other, self._metric).max(axis=0)
                counts = np.full(setting.n_pairs, True) if self.cautious else model.known & other.known
                kept.widest = np.where(counts, np.maximum(kept.widest, far), kept.widest)
                kept.compared = kept.compared + counts
        forgotten = max(0, len(kept.tasks) + 1 - self.remembered)
        kept.tasks = [*kept.tasks[forgotten:], task]
        self._models = [*self._models[forgotten:], model]
        kept.met += 1

    def restore(self, kept: TasksMet) -> None:
        nothing = self.learning.nothing()
        if len(kept.tasks) > self.remembered:
            raise ValueError(
                f"memory.tasks has {len(kept.tasks)} entries, but at most {self.remembered} are remembered"
            )
        for i, task in enumerate(kept.tasks):
            check_known(Known(task.counts, task.sums), Known(nothing.counts, nothing.sums), f"memory.tasks[{i}]")
        super().restore(kept)
        self._models = [self._model_of(task) for task in kept.tasks]

    def findings(self) -> dict[str, Any]:
        """Tasks that are remembered, n where p_min is given, and of how many pairs Dmax is below the prior by now."""
        smaller = self.metric().limits < self._metric.limits
        return {
            "tasks_remembered": len(self.kept.tasks),
            "tasks_to_compare": self._enough_tasks,
            "pairs_with_smaller_distance": int(smaller.sum()),
        }
