import numpy as np

from aomultirl.engine.compiling import kernel
from aomultirl.engine.random import draw, streams
from slow_twins import slow_xoshiro


@kernel
def _first(stream, out):
    s0, s1, s2, s3 = stream[0], stream[1], stream[2], stream[3]
    for i in range(len(out)):
        out[i], s0, s1, s2, s3 = draw(s0, s1, s2, s3)


def test_published_vector():
    out = np.empty(10, np.uint64)
    _first(np.array([1, 2, 3, 4], np.uint64), out)
    assert out.tolist() == [
        41943041,
        58720359,
        3588806011781223,
        3591011842654386,
        9228616714210784205,
        9973669472204895162,
        14011001112246962877,
        12406186145184390807,
        15849039046786891736,
        10450023813501588000,
    ]


def test_equals_slow_twin_on_seeded_streams():
    for words in streams(7, 20):
        out = np.empty(100, np.uint64)
        _first(words, out)
        assert out.tolist() == slow_xoshiro(words, 100)


def test_streams_are_seeded_and_distinct():
    many = streams(3, 1000)
    assert many.shape == (1000, 4)
    assert len({tuple(row) for row in many.tolist()}) == 1000
    assert np.array_equal(many[:5], streams(3, 5))
    assert np.array_equal(many, streams(np.random.SeedSequence(3), 1000))
    assert not np.array_equal(many, streams(4, 1000))
