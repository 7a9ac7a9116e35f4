"""Trajectories that somebody has logged: read, checked, and counted.

A trajectory is a list of steps (state, action, next state), or (state, action, next state, reward) with rewards within
[0, 1]; a Markov chain has action 0 at every step.  Steps need not follow each other: logs may have gaps.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.engine.counts import CountTable
from aomultirl.engine.packed_counts import Packed, unpack_counts

Integers = NDArray[np.int64]
STATE, ACTION, SUCCESSOR, REWARD = range(4)
"""Columns of a trajectory."""
COLUMNS = (3, 4)
MOST_NUMBER = 2**31 - 1


@dataclass(frozen=True)
class Logs:
    """Trajectories.

    steps
        of each, (T, 3), STATE, ACTION and SUCCESSOR.
    rewards
        of each, (T,); None where nobody has logged them.
    ended
        (N,), whether each ended with its last step, and was not only cut off.
    n_states, n_actions
        S and A.
    """

    steps: list[Integers]
    rewards: list[NDArray[np.float64]] | None
    ended: NDArray[np.bool_]
    n_states: int
    n_actions: int

    def __len__(self) -> int:
        return len(self.steps)

    def counts(self, which: Sequence[int]) -> Any:
        """How often each transition is in these trajectories, sparse (S * A, S)."""
        walked = np.concatenate([self.steps[n] for n in which]) if len(which) else np.empty((0, 3), np.int64)
        pairs = walked[:, STATE] * self.n_actions + walked[:, ACTION]
        shape = self.n_states * self.n_actions, self.n_states
        counts = sp.csr_array((np.ones(len(walked)), (pairs, walked[:, SUCCESSOR])), shape=shape)
        counts.sum_duplicates()
        return counts

    def sums(self, which: Sequence[int]) -> NDArray[np.float64]:
        """(S * A,), what each pair has earned in these trajectories; empty where rewards were not logged."""
        if self.rewards is None:
            return np.empty(0)
        total = np.zeros(self.n_states * self.n_actions)
        for n in which:
            np.add.at(total, self.steps[n][:, STATE] * self.n_actions + self.steps[n][:, ACTION], self.rewards[n])
        return total

    def ends(self, which: Sequence[int]) -> Integers:
        """(S,), how many of these trajectories ended in each state."""
        last = [int(self.steps[n][-1, SUCCESSOR]) for n in which if self.ended[n]]
        return np.bincount(np.array(last, np.int64), minlength=self.n_states)

    def table(self, which: Sequence[int]) -> CountTable:
        """The counts and ends of these trajectories, as agents keep them."""
        counts, ends = self.counts(which), self.ends(which)
        terminal = np.flatnonzero(ends)
        packed = Packed(
            np.diff(counts.indptr).astype(np.int32),
            counts.indices.astype(np.int32),
            counts.data.astype(np.int64),
            terminal.astype(np.int32),
            ends[terminal],
        )
        return unpack_counts(packed, self.n_states * self.n_actions, self.n_states)

    def group(self, which: Sequence[int]) -> dict[str, Any]:
        """What these trajectories say of one world, as :meth:`aomultirl.agents.Recall.remember` takes it."""
        said: dict[str, Any] = {"counts": self.counts(which), "ends": self.ends(which)}
        if self.rewards is not None:
            said["rewards"] = self.sums(which).reshape(self.n_states, self.n_actions)
        return said


def read_logs(trajectories: Any, ended: Any, n_states: int | None, n_actions: int | None) -> Logs:
    """Check what somebody has logged."""
    given = checks.items("trajectories", trajectories, "a list of trajectories")
    if not given:
        raise checks.Refusal("trajectories", "is empty")
    tables = [_read(one, f"trajectories[{n}]") for n, one in enumerate(given)]
    widths = {table.shape[1] for table in tables}
    if len(widths) > 1:
        odd = next(n for n, table in enumerate(tables) if table.shape[1] != tables[0].shape[1])
        raise checks.Refusal(f"trajectories[{odd}]", f"has {tables[odd].shape[1]} columns, unlike trajectories[0]")
    steps = [_whole(table[:, :3], f"trajectories[{n}]") for n, table in enumerate(tables)]
    seen_states = 1 + max(int(max(one[:, STATE].max(), one[:, SUCCESSOR].max())) for one in steps)
    seen_actions = 1 + max(int(one[:, ACTION].max()) for one in steps)
    sizes = _size("n_states", n_states, seen_states, "state"), _size("n_actions", n_actions, seen_actions, "action")
    rewards = [_paid(table[:, REWARD], f"trajectories[{n}]") for n, table in enumerate(tables) if widths == {4}]
    return Logs(steps, rewards or None, _ended(ended, len(steps)), *sizes)


def _read(given: Any, name: str) -> NDArray[np.float64]:
    table = np.asarray(checks.finite_array(name, given), np.float64)
    if table.ndim != 2 or table.shape[1] not in COLUMNS:
        raise checks.Refusal(name, f"has shape {table.shape}, not (T, 3): state, action, next state; or (T, 4)")
    if len(table) == 0:
        raise checks.Refusal(name, "has no step")
    return table


def _whole(table: NDArray[np.float64], name: str) -> Integers:
    wrong = np.argwhere((table != np.rint(table)) | (table < 0.0) | (table > MOST_NUMBER))
    if len(wrong):
        step, column = wrong[0].tolist()
        what = ("a state", "an action", "a next state")[column]
        raise checks.Refusal(f"{name}[{step}, {column}]", f"is {table[step, column]:g}, not the number of {what}")
    return table.astype(np.int64)


def _paid(rewards: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    wrong = np.flatnonzero((rewards < 0.0) | (rewards > 1.0))
    if len(wrong):
        raise checks.Refusal(f"{name}[{wrong[0]}, {REWARD}]", f"is {rewards[wrong[0]]:g}, outside of [0, 1]")
    return rewards


def _size(name: str, given: int | None, seen: int, noun: str) -> int:
    if given is None:
        return seen
    if checks.integer(name, given, least=1) < seen:
        raise checks.Refusal(name, f"is {given}, and the logs have {noun} {seen - 1}")
    return given


def _ended(given: Any, count: int) -> NDArray[np.bool_]:
    if isinstance(given, bool):
        return np.full(count, given)
    flags = np.asarray(given)
    if flags.dtype != bool or flags.shape != (count,):
        raise checks.Refusal("ended", f"is {checks.shown(given)}, not True, False, or one of them for each of {count}")
    return flags
