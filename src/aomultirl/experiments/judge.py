"""What no agent may see: exact values, regret, errors of what was learned, and who is in the wrong cluster."""

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from aomultirl.agents.base import NOTHING, Report
from aomultirl.engine import planning
from aomultirl.engine.behaviours import Fixed, follow
from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import Counts, CountTable, find, merged, visits_of
from aomultirl.engine.signals import serve_signals
from aomultirl.engine.stepping import Phase, Ran
from aomultirl.engine.successors import Successors
from aomultirl.experiments.episodes import simulated, unjudged_row
from aomultirl.experiments.history import Row
from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet

U = np.uint64
REMEMBERED = 100
RECORDED = ("regret", "evaluation", "estimate_error")
"""What a judge works out if asked: value, regret and learning_regret; both evaluation columns; estimate_error."""


@kernel
def estimate_error(learned: Counts, world: Successors) -> float:
    """Mean over all pairs of ``||P_learned(s, a) - P(s, a)||_1``; 1 for a pair that was never visited."""
    n_pairs = len(learned.heads)
    total, spent = 0.0, 0
    for pair in range(n_pairs):
        spent = serve_signals(spent, 16 * (1 + world.starts[pair + 1] - world.starts[pair]))
        visits = visits_of(learned, pair)
        if visits == 0:
            total += 1.0
            continue
        inside = 0.0
        for i in range(world.starts[pair], world.starts[pair + 1]):
            slot = find(learned.heads, learned.slots, U(pair), U(world.states[i]))
            share = learned.slots[slot + U(1)] / visits if learned.slots[slot] == world.states[i] else 0.0
            total += abs(share - world.probs[i])
            inside += share
        if inside < 1.0:
            total += 1.0 - inside
    return total / n_pairs


def is_misclustered(task: int, report: Report, stands_for: dict[int, int]) -> bool:
    """Whether an episode is in the wrong cluster: one stands for the task of the episode that made it.

    ``stands_for`` is the task of every cluster, to which one that the episode made is added.
    """
    if report.cluster < 0:
        return False
    if report.new_cluster:
        known = task in stands_for.values()
        stands_for[report.cluster] = task
        return known
    if report.cluster not in stands_for:
        raise ValueError(f"an episode was put in cluster {report.cluster}, which no episode made")
    return stands_for[report.cluster] != task


def _total(numbers: Iterable[float]) -> float:
    """Their sum, one after the other: that of Python is another one, to the last bit, from 3.12 on."""
    total = 0.0
    for number in numbers:
        total += number
    return total


def _length(one: Ran) -> int:
    """The steps of a phase, with those that it was to have where the world ended the episode."""
    return one.phase.steps if one.outcome.ended else one.outcome.steps


def _earned(one: Ran, rest: float) -> float:
    """What a phase earned, with what its steps after the end of the episode are worth."""
    return one.outcome.reward + (_length(one) - one.outcome.steps) * rest


class Judge:
    """Knows the worlds, and judges every episode.

    Parameters
    ----------
    sources
        two random streams an episode, for the sampled evaluation.
    record
        which of RECORDED are worked out; columns of the others are nan.
    """

    def __init__(self, models: ModelSet, sources: NDArray[np.uint64], record: Sequence[str] = RECORDED) -> None:
        self.models, self.sources, self.record = models, sources, record
        self._known: dict[tuple[int, int, bytes], NDArray[np.float64]] = {}
        self.stands_for: dict[int, int] = {}

    def row(
        self, number: int, task: int, start: int, report: Report, ran: list[Ran], horizon: int | None = None
    ) -> Row:
        """The row of an episode, with all that takes knowing the world.

        ``horizon``: steps that the episode has if the world does not end it; None for those of its phases.
        """
        row = unjudged_row(number, start, report, ran)
        value, regret, learning_regret = self._regret(task, start, ran, horizon)
        sampled, exact = self._evaluate(task, start, report, self.sources[2 * number : 2 * number + 2])
        return row._replace(
            task=task,
            misclustered=is_misclustered(task, report, self.stands_for),
            value=value,
            regret=regret,
            learning_regret=learning_regret,
            evaluation_reward=sampled,
            evaluation_value=exact,
            estimate_error=self._error(task, report),
        )

    def _regret(self, task: int, start: int, ran: list[Ran], horizon: int | None) -> tuple[float, float, float]:
        """(value, regret, learning regret), given what the clustering phases collected.

        Where the world ended the episode, the steps that are left count: they earn what the world says of the end.
        """
        if "regret" not in self.record:
            return np.nan, np.nan, np.nan
        world, steps = self.models[task], sum(map(_length, ran))
        learning = [one for one in ran if one.phase.part == "learning"]
        collected = _total(_earned(one, world.rest) for one in ran if one.phase.part == "clustering")
        value = _total(self._value(task, one) for one in learning)
        left = max(0, (horizon or 0) - steps) if ran and ran[-1].outcome.ended else 0
        best = float(world.first_values(steps + left)[start])
        after = left * world.rest
        optimum = self._optimum(world, learning, left)
        return value + after, best - collected - value - after, optimum - value - (after if learning else 0.0)

    def _error(self, task: int, report: Report) -> float:
        if "estimate_error" not in self.record or not report.samples:
            return np.nan
        learned, world = merged(report.samples), self.models[task]
        told = sum(bool(world.terminal[state]) for state in learned.ends)  # each of their pairs counts as never visited
        return float(estimate_error(learned.record, world.successors) - told / world.n_states)

    @staticmethod
    def _optimum(world: MDP, learning: list[Ran], left: int) -> float:
        """What the learning phases could have earned at best, from where the first of them was entered."""
        steps = sum(map(_length, learning)) + left
        return float(world.first_values(steps)[learning[0].entered]) if learning and steps > 0 else 0.0

    def _value(self, task: int, one: Ran) -> float:
        """The exact value of a phase that follows a plan, from the state it was entered in; else what it earned."""
        steps = one.phase.steps
        if not isinstance(one.phase.behaviour, Fixed) or steps == 0:
            return _earned(one, self.models[task].rest)
        return float(self._values(task, one.phase.behaviour.table.plan, steps)[one.entered])

    def _values(self, task: int, plan: NDArray[np.int32], steps: int) -> NDArray[np.float64]:
        """The exact values of a plan in a world, (S,); learners often come back to one they followed before."""
        key = (task, steps, hashlib.blake2b(np.ascontiguousarray(plan).data).digest())
        if key not in self._known:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            world = self.models[task]
            table = plan.reshape(-1, world.n_states)
            self._known[key] = planning.evaluate_first(world.planning_tables, world.gains, table, steps)
        return self._known[key]

    def _evaluate(self, task: int, start: int, report: Report, sources: NDArray[np.uint64]) -> tuple[float, float]:
        """The paper's metric, sampled and exact."""
        plan, horizon = report.evaluation, report.evaluation_horizon
        if "evaluation" not in self.record or plan is None or horizon == 0:
            return np.nan, np.nan
        world = self.models[task]
        simulator = simulated(world, start, sources[0], sources[1])
        phase = Phase(follow(plan), horizon, CountTable(world.n_states * world.n_actions), NOTHING)
        sampled = _earned(Ran(phase, start, simulator.run(phase)), world.rest)
        return sampled, float(self._values(task, plan, horizon)[start])
