"""Alias tables (Walker 1977, Vose 1991): a successor drawn with one 64-bit draw and no search.

The successors of a pair occupy ``2**k`` cells.  The top k bits of the draw choose the cell, the rest is
compared with the cell's threshold: below it the cell's own successor, otherwise its alias.  Thresholds are
64-bit integers, so a probability is represented to within 2**-53 and a certain successor is certain.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import inlined, kernel
from aomultirl.engine.signals import serve_signals
from aomultirl.engine.successors import Successors

U = np.uint64
FULL = U(0xFFFFFFFFFFFFFFFF)


class AliasTables(NamedTuple):
    """The cells of pair p start at ``p * 2**width``, or at ``heads[p] >> 6`` where ``width`` is negative.

    heads[p] = first cell * 64 + k;  cells[2 i] = threshold, cells[2 i + 1] = own successor + alias * 2**32.
    One width for all pairs saves the look-up of a head, a third of a step's time; worlds whose rows differ
    much in length pay it to save memory.
    """

    heads: NDArray[np.uint64]
    cells: NDArray[np.uint64]
    width: int


def alias_tables(successors: Successors) -> AliasTables:
    """Tables for every pair; memory at most four times that of the successor lists."""
    lengths = np.diff(successors.starts)
    exponents = np.ceil(np.log2(lengths)).astype(np.int64)
    widest = int(exponents.max())
    uniform = len(lengths) << widest <= 2 * (np.int64(1) << exponents).sum()
    if uniform:
        exponents[:] = widest
    offsets = np.concatenate(([0], np.cumsum(np.int64(1) << exponents)))
    heads = (offsets[:-1] * 64 + exponents).astype(np.uint64)
    cells = np.empty(2 * offsets[-1], np.uint64)
    _fill(successors, heads, cells)
    return AliasTables(heads, cells, widest if uniform else -1)


@kernel
def _fill(successors: Successors, heads: NDArray[np.uint64], cells: NDArray[np.uint64]) -> None:
    """Vose's construction, one pair after the other."""
    spent = 0
    for pair in range(len(heads)):
        first = np.int64(heads[pair] >> U(6))
        n = 1 << np.int64(heads[pair] & U(63))
        spent = serve_signals(spent, 16 * n)
        lo, hi = successors.starts[pair], successors.starts[pair + 1]
        own, alias = np.empty(n, np.int64), np.empty(n, np.int64)
        mass = np.empty(n)
        small, large = np.empty(n, np.int64), np.empty(n, np.int64)
        total = 0.0
        for i in range(lo, hi):
            total += successors.probs[i]
        scale = n / total
        for i in range(n):  # cells that no successor has are filled up with the alias
            exists = lo + i < hi
            own[i] = successors.states[lo + i if exists else lo]
            mass[i] = successors.probs[lo + i] * scale if exists else 0.0
            alias[i] = own[i]
        n_small = n_large = 0
        for i in range(n):
            if mass[i] < 1.0:
                small[n_small] = i
                n_small += 1
            else:
                large[n_large] = i
                n_large += 1
        while n_small > 0 and n_large > 0:
            i, j = small[n_small - 1], large[n_large - 1]
            n_small -= 1
            alias[i] = own[j]
            mass[j] -= 1.0 - mass[i]
            if mass[j] < 1.0:
                n_large -= 1
                small[n_small] = j
                n_small += 1
        for rest in range(n_small):  # below one by rounding only
            mass[small[rest]] = 1.0
        for i in range(n):
            if mass[i] >= 1.0:
                threshold = FULL
                alias[i] = own[i]
            else:
                threshold = U(mass[i] * 18446744073709551616.0)
            cells[2 * (first + i)] = threshold
            cells[2 * (first + i) + 1] = U(own[i]) | (U(alias[i]) << U(32))


@inlined
def pick(cells: NDArray[np.uint64], first: np.uint64, k: np.uint64, bits: np.uint64) -> np.uint64:
    """The successor that 64 random bits stand for, among the 2**k cells that begin at ``first``."""
    return pick_entry(cells, U(2) * first, k, bits)[0]


@inlined
def pick_entry(
    cells: NDArray[np.uint64], begin: np.uint64, k: np.uint64, bits: np.uint64
) -> tuple[np.uint64, np.uint64]:
    """(the successor, the entry that it is) among the 2**k cells whose words begin at ``begin``.

    The words of a cell stand for its two entries: the first for its own successor, the second for its alias.

    Indices are unsigned throughout: signed ones make Numba test for negative values, which a step feels.  Both
    successors are at hand before the choice, so this is a conditional move: a branch could not be predicted.
    """
    cell = begin + U(2) * ((bits >> U(1)) >> (U(63) - k))
    both = cells[cell + U(1)]
    alias = (bits << k) >= cells[cell]
    return U(both >> U(32)) if alias else U(both & U(0xFFFFFFFF)), cell + U(alias)
