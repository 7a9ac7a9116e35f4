"""A generative model: successors of any pair, drawn from a world's alias tables without going there."""

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import kernel
from aomultirl.engine.random import RandomStream, draw
from aomultirl.engine.sampling import AliasTables, pick
from aomultirl.engine.signals import serve_signals
from aomultirl.engine.successors import Successors

U = np.uint64


def draw_successors(
    successors: Successors, tables: AliasTables, samples: NDArray[np.int64], stream: RandomStream
) -> NDArray[np.int64]:
    """Draw ``samples[pair]`` successors of every pair, independently.

    Parameters
    ----------
    successors, tables
        of one world.
    samples
        (S * A,).
    stream
        of all randomness, which moves on by one draw a sample.

    Returns
    -------
    drawn
        (transitions,), how often each transition of the successor lists came up.
    """
    drawn = np.zeros(len(successors.states), np.int64)
    _draw(successors.starts, successors.states, tables.heads, tables.cells, samples, stream, drawn)
    return drawn


@kernel
def _draw(
    starts: NDArray[np.int64],
    states: NDArray[np.int32],
    heads: NDArray[np.uint64],
    cells: NDArray[np.uint64],
    samples: NDArray[np.int64],
    stream: RandomStream,
    drawn: NDArray[np.int64],
) -> None:
    spent = 0
    for pair in range(len(samples)):
        first, k = heads[pair] >> U(6), heads[pair] & U(63)
        for _ in range(samples[pair]):
            spent = serve_signals(spent, 8)
            bits, stream[0], stream[1], stream[2], stream[3] = draw(stream[0], stream[1], stream[2], stream[3])
            successor = np.int64(pick(cells, first, k, bits))
            low, high = starts[pair], starts[pair + 1]
            while high - low > 1:
                middle = (low + high) // 2
                if states[middle] <= successor:
                    low = middle
                else:
                    high = middle
            drawn[low] += 1
