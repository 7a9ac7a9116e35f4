"""MaxQInit (Abel, Jinnai, Guo, Konidaris, Littman 2018): begin each task with the largest values of the tasks before.

With p_min a lower bound on how probable each task is, the first::

    t0 = ceil( ln d / ln(1 - p_min) )

tasks are learned by R-Max (:mod:`aomultirl.learning.rmax`) from U = Vmax.  At the end of each, U of all pairs that are
known by then goes into memory.  From then on pairs that are not known are worth, in place of Vmax::

    B(s, a) = min{ Vmax, max over the tasks before of U(s, a) }     for pairs that memory has, Vmax for all others.

Where that is above the optimum of every task, R-Max stays optimistic and leaves out what is good in no task.

Setting: lifelong: tasks are drawn independently from one distribution over finitely many; discounted (g = 1 - 1 / H
unless the learner says otherwise, as in :mod:`aomultirl.learning.rmax`).

Must be told: p_min, and d, the failure probability.

Guarantee: each task is among the first t0 with probability at least 1 - d.  If it was, and U was above its optimum
everywhere, so is B whenever it comes again, and R-Max keeps its PAC bound with fewer pairs to try.  U is above the
optimum where the learner's m makes it so; where it has a fixed m, as by default, nothing is promised, and nothing is
under an adversary, for whom p_min = 0: a task that is held back until B is in use may be worse off than without memory,
and for ever.

Adapted to a stream of tasks: an episode is a task, and the samples of one are not used in another.  A world that comes
back is learned anew, within better bounds.  Only three tables are kept, however many tasks there were.

What was uncertain, and how it was settled.  *Pairs that are not known at the end of a task* have U = Vmax in it, and so
B = Vmax for ever: this is what the guarantee needs, and the default, ``cautious=True``.  In episodes too short to know
every pair nothing is transferred then.  ``cautious=False`` takes the largest value over the tasks in which the pair was
known, for which there is no guarantee: the task in which it is best may be one of the others.  *After t0 tasks* U of
further ones goes into the maximum too, which can only raise B.  *Q-learning* and delayed Q-learning, for which the
method is described as well, are left out: R-Max learns more from an episode.  When rewards turn out to have a wider
range than was known, Vmax was none, and memory begins anew.
"""

import math
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.agents.base import Episode, run_phase
from aomultirl.agents.task_by_task import TaskByTask
from aomultirl.engine.random import RandomStream
from aomultirl.engine.stepping import Phase
from aomultirl.learning.rmax import RMax
from aomultirl.records import Shape, Within
from aomultirl.setting import Setting

LEAST_SHARE = 1e-12
"""Of p_min: below it no run is long enough for t0."""


@dataclass
class LargestValues:
    """What MaxQInit remembers.

    largest
        (S * A,), the largest U of each pair over the tasks at whose end it was known; 0 where there is none.
    known
        (S * A,), at the end of how many tasks the pair was known.
    missed
        (S * A,), at the end of how many of the first t0 tasks it was not.
    tasks
        how many there were.
    """

    largest: Annotated[NDArray[np.float64], Shape("pairs"), Within(0.0)]
    known: Annotated[NDArray[np.int64], Shape("pairs"), Within(0)]
    missed: Annotated[NDArray[np.int64], Shape("pairs"), Within(0)]
    tasks: Annotated[int, Within(0)] = 0

    def rescale_rewards(self, times: float, plus: float) -> None:
        """Forget everything: it was made with a Vmax that is none."""
        self.largest[:], self.known[:], self.missed[:], self.tasks = 0.0, 0, 0, 0


def tasks_until_each_was_met(rarest: float, failure: float) -> int:
    """t0, after which a task of probability ``rarest`` or more was met, but for ``failure``.

    Examples
    --------
    >>> tasks_until_each_was_met(0.25, 0.05), tasks_until_each_was_met(1 / 7, 0.1)
    (11, 15)
    """
    return 1 if rarest == 1.0 else math.ceil(math.log(failure) / math.log1p(-rarest))


class MaxQInit(TaskByTask):
    """R-Max that begins each task with the largest values of the tasks before; a guarantee for tasks drawn by chance.

    The formulas are in :mod:`aomultirl.agents.max_q_init`.

    Parameters
    ----------
    horizon
        H, the steps of an episode.
    rarest
        p_min, a lower bound on the probability of every task.
    failure
        d, the probability with which a task may be missing among the first t0; the learner's confidence has the same.
    cautious
        whether pairs that were not known at the end of one of the first t0 tasks keep Vmax, as the guarantee needs.
    rewards
        "known", or "unknown": estimated.
    learner
        an :class:`aomultirl.learning.RMax` with other numbers than the default ones.

    Examples
    --------
    >>> import aomultirl as ao
    >>> agent = ao.agents.MaxQInit(2000, 0.25, failure=0.05)
    >>> _ = ao.run(agent, ao.worlds.gridworld(), ao.streams.uniform(), episodes=20)
    >>> agent.findings()
    {'first_tasks': 11, 'pairs_with_bounds': 61}
    """

    keeps: ClassVar[type] = LargestValues
    kept: LargestValues

    def __init__(
        self,
        horizon: int,
        rarest: float,
        *,
        failure: float,
        cautious: bool = True,
        rewards: str = "known",
        learner: RMax = RMax(),
    ) -> None:
        super().__init__(horizon, failure, rewards, learner)
        self.rarest, self.cautious = rarest, cautious

    def begin(self, setting: Setting) -> None:
        super().begin(setting)
        rarest = checks.real("rarest", self.rarest, above=0.0, least=LEAST_SHARE, most=1.0)
        checks.truth("cautious", self.cautious)
        self._first = tasks_until_each_was_met(rarest, self.failure)
        pairs = setting.n_pairs
        self.kept = LargestValues(np.zeros(pairs), np.zeros(pairs, np.int64), np.zeros(pairs, np.int64))

    def bounds(self) -> NDArray[np.float64]:
        """B, (S * A,), for the next task."""
        kept, vmax = self.kept, self.learning.vmax
        if kept.tasks < self._first:
            return np.full(self.setting.n_pairs, vmax)
        return np.where(self._bounded(), np.minimum(vmax, kept.largest), vmax)

    def _bounded(self) -> NDArray[np.bool_]:
        """Pairs that memory has, (S * A,)."""
        return np.asarray((self.kept.known > 0) & ((self.kept.missed == 0) if self.cautious else True))

    def episode(self, start: int, stream: RandomStream, task: int | None = None) -> Episode:
        learning, bounds = self.learning, self.bounds()
        known, tally = learning.nothing(), learning.tally()
        behaviour = learning.act_within(known.during(tally), bounds)
        ran = yield from run_phase(Phase(behaviour, self.horizon, tally.counts, tally.sums), start)
        learning.learn(known, ran)
        upper, sure, _ = learning.upper(known, bounds)
        kept = self.kept
        kept.largest = np.where(sure, np.maximum(kept.largest, upper), kept.largest)
        kept.known = kept.known + sure
        if kept.tasks < self._first:
            kept.missed = kept.missed + ~sure
        kept.tasks += 1
        return self._report(known, stream)

    def findings(self) -> dict[str, Any]:
        """t0, and how many pairs the next task begins with that are not worth Vmax for want of memory."""
        ready = self.kept.tasks >= self._first
        return {"first_tasks": self._first, "pairs_with_bounds": int(self._bounded().sum()) if ready else 0}
