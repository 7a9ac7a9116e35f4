"""UCRL2 (Jaksch, Ortner, Auer 2010) as a behaviour: optimism for the average reward, planned anew when visits double.

An epoch begins at step t (the first is 1) after n(s, a) visits.  Its policy is the best one in the best world within

    ||p - P(s, a)||_1 <= sqrt( 14 S ln(2 A t / delta) / max{1, n} ),
    r - R(s, a)       <= sqrt( 7 ln(2 S A t / delta) / (2 max{1, n}) )     where rewards are estimated, and r <= 1,

found by :mod:`.extended_value_iteration` to the accuracy 1 / sqrt(t).  It ends, as in the original's loop, when the
walk comes to a state whose pair has been visited max{1, n} times since the epoch began: elsewhere the old policy is
still followed.  P and R are empirical means; a pair never visited may lead anywhere, and earn 1 unless
rewards are known, whatever the scale of the radii.  Actions that promise the same are chosen between at random, once
an epoch.

Setting: one world, communicating, the average reward.

Must be told: the failure probability delta.

Guarantee, for one world and one run of T steps: regret of at most 34 D S sqrt(A T ln(T / delta)) with probability at
least 1 - delta, D being the diameter (:func:`aomultirl.theory.ucrl2_bound`).  None where several worlds are behind one
table.

Adapted to a stream of tasks: every episode is one run of the original, in which t counts from 1 and n begins with what
is known of its world: nothing alone, all episodes pooled, those of its world told or clustered.

What was uncertain, and how it was settled.  The average reward of episodes that end is that of one episode after the
other: a terminal state is known to lead back to where the phase began, whatever the action, and to earn nothing.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.engine.behaviours import ASK, Table, empty_table, register
from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import EMPTY, VISITS, WORDS, Counts, span
from aomultirl.engine.random import RandomStream
from aomultirl.engine.stepping import Ran
from aomultirl.learning.base import Known, Learner, Learning, Share
from aomultirl.learning.extended_value_iteration import extended_value_iteration
from aomultirl.learning.greedy import draw_best, greedy
from aomultirl.setting import Setting

DISCOUNT, SWEEPS = 0.98, 200
"""Of the policy that is judged without optimism: the practical learner's discount, and sweeps that leave 2 %."""


class Before(NamedTuple):
    """What earlier episodes have shown, as successor lists with ascending states.

    starts
        (S * A + 1,).
    states, visits
        of every transition seen.
    sums
        (S * A,), the rewards added up; empty where they are known.
    terminal
        (S,), the episode ends here more often than not.
    """

    starts: NDArray[np.int64]
    states: NDArray[np.int32]
    visits: NDArray[np.int64]
    sums: NDArray[np.float64]
    terminal: NDArray[np.bool_]


class Ucrl2Behaviour(NamedTuple):
    """UCRL2 in the middle of an episode.

    table
        the policy of the epoch, with the visits until it ends as budgets.
    before
        what earlier episodes have shown.
    rewards
        (S * A,), where they are known, else empty.
    sums
        (S * A,), the rewards of the phase added up, where they are not known.
    epochs
        (), how many there were.
    start
        (), the state in which the phase began.
    failure
        delta.
    scale
        of both radii; 1 is faithful.
    """

    table: Table
    before: Before
    rewards: NDArray[np.float64]
    sums: NDArray[np.float64]
    epochs: NDArray[np.int64]
    start: NDArray[np.int64]
    failure: float
    scale: float


def ucrl2(
    known: Known,
    n_states: int,
    rewards: NDArray[np.float64] | None,
    sums: NDArray[np.float64],
    failure: float,
    scale: float = 1.0,
) -> Ucrl2Behaviour:
    """The behaviour; it learns from what is known and from the counts of its phase.

    Parameters
    ----------
    known
        what earlier episodes have shown.
    rewards
        (S, A), or None where they are estimated from ``sums``, the sums of the phase.
    failure
        delta.
    scale
        multiplies both radii; 1 is faithful.
    """
    told = np.empty(0) if rewards is None else np.ascontiguousarray(rewards, np.float64).reshape(-1)
    before = Before(*known.counts.to_lists(), known.sums, known.counts.going_on(n_states) < 0.5)
    epochs, start = np.zeros((), np.int64), np.zeros((), np.int64)
    return Ucrl2Behaviour(empty_table(n_states), before, told, sums, epochs, start, failure, scale)


@kernel
def transition_radius(visits: int, step: int, n_states: int, n_actions: int, failure: float) -> float:
    """How far the transitions of a pair may be from their estimate, in l1."""
    return float(np.sqrt(14.0 * n_states * np.log(2.0 * n_actions * step / failure) / max(1, visits)))


@kernel
def reward_radius(visits: int, step: int, n_states: int, n_actions: int, failure: float) -> float:
    """How far the reward of a pair may be above its mean."""
    return float(np.sqrt(7.0 * np.log(2.0 * n_states * n_actions * step / failure) / (2.0 * max(1, visits))))


@kernel
def estimated_rows(
    before: Before, counts: Counts, start: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], NDArray[np.int64]]:
    """Successor lists of what was seen before and in this episode, those of before first, and visits of each pair."""
    n_pairs, n_actions = len(counts.heads), len(counts.heads) // len(before.terminal)
    starts, visits = np.zeros(n_pairs + 1, np.int64), np.zeros(n_pairs, np.int64)
    most = len(before.states) + counts.filled.sum() + n_actions * before.terminal.sum()
    states, probs = np.empty(most, np.int32), np.empty(most)
    for pair in range(n_pairs):
        first = at = starts[pair]
        for i in range(before.starts[pair], before.starts[pair + 1]):
            states[at], probs[at] = before.states[i], before.visits[i]
            visits[pair] += before.visits[i]
            at += 1
        old = at
        for slot in range(*span(counts, pair)):
            successor, seen = counts.slots[WORDS * slot], counts.slots[WORDS * slot + VISITS]
            if successor != EMPTY:
                place = first + np.searchsorted(states[first:old], successor)
                if place == old or states[place] != successor:
                    place, at = at, at + 1
                    states[place], probs[place] = successor, 0.0
                probs[place] += seen
                visits[pair] += seen
        for i in range(first, at):
            probs[i] /= visits[pair]
        if before.terminal[pair // n_actions]:
            states[first], probs[first], at = start, 1.0, first + 1
        starts[pair + 1] = at
    return starts, states[: starts[n_pairs]], probs[: starts[n_pairs]], visits


@kernel
def _promised(
    behaviour: Ucrl2Behaviour, visits: NDArray[np.int64], step: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(radii of the transitions, upper bounds on the rewards), (S * A,); a pair never visited may be anything."""
    n_pairs, n_states = len(visits), len(behaviour.table.budget)
    n_actions = n_pairs // n_states
    known = len(behaviour.rewards) > 0
    radii, rewards = np.empty(n_pairs), np.ones(n_pairs)
    for pair in range(n_pairs):
        n = visits[pair]
        radii[pair] = 2.0
        if known:
            rewards[pair] = behaviour.rewards[pair]
        if n > 0:
            radii[pair] = behaviour.scale * transition_radius(n, step, n_states, n_actions, behaviour.failure)
            if not known:
                extra = behaviour.scale * reward_radius(n, step, n_states, n_actions, behaviour.failure)
                earned = behaviour.before.sums[pair] + behaviour.sums[pair]
                rewards[pair] = min(1.0, earned / n + extra)
        if behaviour.before.terminal[pair // n_actions]:
            radii[pair] = rewards[pair] = 0.0
    return radii, rewards


@kernel
def begin_epoch(table: Table, q: NDArray[np.float64], visits: NDArray[np.int64], stream: RandomStream) -> None:
    """Fill in the policy that is best for q, (S * A,), and how long it lasts."""
    n_states = len(table.budget)
    n_actions = len(q) // n_states
    for s in range(n_states):
        action = draw_best(q, s * n_actions, (s + 1) * n_actions, stream)
        table.plan[s], table.budget[s] = action, max(1, visits[s * n_actions + action])


@kernel
def _prepare(behaviour: Ucrl2Behaviour, counts: Counts, step: int, state: int, stream: RandomStream) -> None:
    """A new epoch."""
    table = behaviour.table
    n_states = len(table.budget)
    if step == 0:
        behaviour.start[()] = state
    starts, states, probs, visits = estimated_rows(behaviour.before, counts, int(behaviour.start[()]))
    step = 1 + int(visits.sum())
    radii, rewards = _promised(behaviour, visits, step)
    q = extended_value_iteration(starts, states, probs, radii, rewards, n_states, 1.0 / np.sqrt(step))[1]
    begin_epoch(table, q, visits, stream)
    behaviour.epochs[()] += 1


@kernel
def end_epoch(
    behaviour: Ucrl2Behaviour,
    counts: Counts,
    step: int,
    state: int,
    action: int,
    successor: int,
    reward: float,
    ended: bool,
) -> bool:
    """The measure of a pair is full: coming here again begins a new epoch."""
    behaviour.table.plan[state] = ASK
    return False


register(Ucrl2Behaviour, prepare=_prepare, attend=end_epoch)


@dataclass(frozen=True)
class UCRL2(Learner):
    """UCRL2, for the average reward.

    This learner is a part that any agent takes as its ``learner=``.  The agent :class:`aomultirl.agents.UCRL2`, of the
    same name, is this learner alone: ``ao.agents.UCRL2(H, bonus_scale=1.0)`` plays every episode with it.

    Parameters
    ----------
    bonus_scale
        multiplies both radii; 1 is faithful.
    """

    pair_bytes: ClassVar[int] = 45

    bonus_scale: float = 1.0

    def begin(self, setting: Setting, horizon: int, share: Share) -> "UCRL2Learning":
        checks.real("bonus_scale", self.bonus_scale, above=0.0)
        return UCRL2Learning(setting, self, share.failure)

    def shared_for(self, shared: dict[str, NDArray[Any]], setting: Setting) -> dict[str, NDArray[Any]]:
        """Room for the epochs of every episode."""
        room = max(0, setting.episodes - len(shared["epochs"]))
        return {**shared, "epochs": np.append(shared["epochs"], np.zeros(room, np.int64))}


class UCRL2Learning(Learning):
    """UCRL2 in a run; every episode is one run of the original, with the whole failure probability as its delta."""

    learner: UCRL2
    behaviour: ClassVar[Any] = Ucrl2Behaviour

    def __init__(self, setting: Setting, learner: UCRL2, failure: float) -> None:
        super().__init__(setting, learner)
        self._failure, self._epochs = failure, np.zeros(setting.episodes, np.int64)

    def act(self, known: Known, steps: int, stream: RandomStream) -> Any:
        sums = self.tally().sums if known.tally is None else known.tally.sums
        begun = ucrl2(known, self.setting.n_states, self.setting.rewards, sums, self._failure, self.learner.bonus_scale)
        return self.behaviour(*begun)

    def learn(self, into: Known, ran: Ran) -> None:
        super().learn(into, ran)
        if isinstance(ran.phase.behaviour, self.behaviour):
            planned = self._epochs[self._epochs > 0].tolist()
            spare = max(1, len(self._epochs) - len(planned)) - 1
            self._epochs = np.array([*planned, int(ran.phase.behaviour.epochs), *[0] * spare], np.int64)

    def best(self, known: Known, steps: int, stream: RandomStream) -> NDArray[np.int32]:
        """The policy that is best for the samples as they are, the same at every step, (S,)."""
        starts, _, visits = known.counts.to_lists()
        rewards = self.setting.rewards
        if rewards is None:
            seen = np.add.reduceat(np.append(visits, 0), starts[:-1]) * (np.diff(starts) > 0)
            rewards = (known.sums / np.maximum(seen, 1)).reshape(self.setting.n_states, -1)
        return greedy(known.counts, rewards, DISCOUNT, SWEEPS, self.setting.rest)

    def shared(self) -> dict[str, NDArray[Any]]:
        return {"epochs": self._epochs}

    def take_shared(self, shared: dict[str, NDArray[Any]]) -> None:
        self._epochs = shared["epochs"]

    def findings(self) -> dict[str, Any]:
        """How many policies each episode planned."""
        return {"epochs": self._epochs[: np.count_nonzero(self._epochs)].tolist()}
