"""xoshiro256++ (Blackman, Vigna 2019), the random stream inside compiled loops.

A stream is four 64-bit words, an array ``uint64[4]``.  A kernel loads the words into local variables, draws
with :func:`draw`, and stores them back when its loop ends, so that the state lives in registers meanwhile.
Streams are seeded from NumPy's ``SeedSequence``; everything that is not a kernel uses NumPy's ``Generator``.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import borrowing, inlined

RandomStream: TypeAlias = NDArray[np.uint64]


def streams(seed: int | np.random.SeedSequence, count: int) -> NDArray[np.uint64]:
    """``count`` independent streams, shape (count, 4), made in one call because one at a time is slow."""
    sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    words: NDArray[np.uint64] = np.asarray(sequence.generate_state(4 * count, np.uint64), np.uint64)
    return words.reshape(count, 4)


@inlined
def _rotate(x: np.uint64, k: int) -> np.uint64:
    return np.uint64((x << np.uint64(k)) | (x >> np.uint64(64 - k)))


@inlined
def draw(
    s0: np.uint64, s1: np.uint64, s2: np.uint64, s3: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64, np.uint64]:
    """64 random bits and the four words of the next state."""
    bits = _rotate(s0 + s3, 23) + s0
    t = s1 << np.uint64(17)
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= t
    s3 = _rotate(s3, 45)
    return bits, s0, s1, s2, s3


@inlined
def below(n: np.uint64, bits: np.uint64) -> np.int64:
    """A number below n from 64 random bits."""
    return np.int64(((bits >> np.uint64(32)) * n) >> np.uint64(32))


@borrowing
def draw_below(n: int, stream: RandomStream) -> int:
    """A number below n from a stream, which moves on."""
    bits, stream[0], stream[1], stream[2], stream[3] = draw(stream[0], stream[1], stream[2], stream[3])
    return int(below(np.uint64(n), bits))


@borrowing
def draw_unit(stream: RandomStream) -> float:
    """A number of [0, 1), a multiple of 2**-53, from a stream, which moves on."""
    bits, stream[0], stream[1], stream[2], stream[3] = draw(stream[0], stream[1], stream[2], stream[3])
    return float(np.float64(bits >> np.uint64(11)) * 2.0**-53)
