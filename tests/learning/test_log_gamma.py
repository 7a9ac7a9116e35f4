"""The logarithm of the gamma function, remembered."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from aomultirl.engine.compiling import kernel
from aomultirl.learning.log_gamma import PLACES, ln_gamma


@kernel
def fill_in(arguments, found):
    for i in range(len(arguments)):
        found[i] = ln_gamma(arguments[i])


@kernel
def fill_in_slowly(arguments, found):
    for i in range(len(arguments)):
        found[i] = math.lgamma(arguments[i])


def both(arguments):
    found, slow = np.empty(len(arguments)), np.empty(len(arguments))
    fill_in(arguments, found)
    fill_in_slowly(arguments, slow)
    return found.tobytes(), slow.tobytes()


fill_in(np.ones(1), np.ones(1))
fill_in_slowly(np.ones(1), np.ones(1))


@settings(deadline=None)
@given(st.lists(st.floats(width=64, allow_nan=False), min_size=1, max_size=40))
def test_it_is_the_same_to_the_last_bit_the_first_time_and_later(arguments):
    found, slow = both(np.array(arguments + arguments[::-1]))
    assert found == slow


def test_arguments_that_take_each_others_places_are_worked_out_again():
    rng = np.random.default_rng(0)
    arguments = rng.permutation(np.repeat(rng.integers(1, 200, 6 * 2**PLACES) + rng.random(6 * 2**PLACES), 3))
    found, slow = both(arguments)
    assert found == slow


def test_nothing_was_asked_before():
    """An empty place must not be taken for an answer: that of 0 is infinite."""
    found, slow = both(np.array([0.0, -0.0, np.inf, -1.0, 1.0, 2.0, 5e-324]))
    assert found == slow
