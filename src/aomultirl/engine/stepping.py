"""Walk through a world under a fixed plan, inside one compiled loop.

One draw of the environment's stream a step.  The inner loop holds nothing but the walk and the counts, with
no call left in it; a transition never seen before breaks out of it, and counts that want more room break out
of the kernel, which is entered again where it stopped.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import Counts, CountTable, count, insert
from aomultirl.engine.random import Stream, draw
from aomultirl.engine.sampling import AliasTables, sample

U = np.uint64


class Walk(NamedTuple):
    """state: where it ended; reward: the sum collected; counts: every transition seen."""

    state: int
    reward: float
    counts: CountTable


@kernel
def _follow(
    tables: AliasTables,
    rewards: NDArray[np.float64],
    plan: NDArray[np.int32],
    stride: int,
    first: int,
    last: int,
    state: int,
    stream: Stream,
    counts: Counts,
) -> tuple[int, int, float]:
    """Steps ``first`` to ``last``: (steps done, state, reward).  The action at step h is plan[h * stride + state]."""
    s0, s1, s2, s3 = stream[0], stream[1], stream[2], stream[3]
    s = U(state)
    n_actions = U(len(rewards) // (stride if stride > 0 else len(plan)))
    row = U(first * stride)
    total = 0.0
    step = first
    pair = U(0)
    crowded = False
    while step < last and not crowded:
        known = True
        while step < last and known:
            pair = s * n_actions + U(plan[row + s])
            bits, s0, s1, s2, s3 = draw(s0, s1, s2, s3)
            s = sample(tables, pair, bits)
            total += rewards[pair]
            row += U(stride)
            step += 1
            known = count(counts, pair, s)
        if not known:
            crowded = insert(counts, pair, s)
    stream[0], stream[1], stream[2], stream[3] = s0, s1, s2, s3
    return step, int(s), total


def follow(
    tables: AliasTables,
    rewards: NDArray[np.float64],
    plan: NDArray[np.int32],
    steps: int,
    state: int,
    stream: Stream,
    counts: CountTable,
) -> Walk:
    """Follow ``plan`` for ``steps`` steps from ``state`` and add what is seen to ``counts``.

    Parameters
    ----------
    rewards
        (S * A,).
    plan
        int32, (S,) for the same actions at every step or (steps, S).
    stream
        uint64 (4,), advanced in place.
    """
    stride = plan.shape[1] if plan.ndim == 2 else 0
    flat = plan.reshape(-1)
    done, reward = 0, 0.0
    while done < steps:
        done, state, gained = _follow(tables, rewards, flat, stride, done, steps, state, stream, counts.record)
        reward += gained
        if done < steps:
            counts.make_room()
    return Walk(int(state), reward, counts)
