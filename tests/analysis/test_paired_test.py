from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aomultirl.analysis.paired_test import compare


def by_all_signs(differences):
    """The p-value by its definition: over all choices of signs, the share at least as far from zero."""
    size = abs(np.mean(differences))
    means = [abs(np.mean(np.multiply(signs, differences))) for signs in product((-1, 1), repeat=len(differences))]
    return np.mean([mean >= size * (1 - 1e-9) for mean in means])


@settings(deadline=None)
@given(st.lists(st.integers(-20, 20).map(float), min_size=2, max_size=9))
def test_the_p_value_is_the_share_of_all_choices_of_signs(differences):
    found = compare("a", "b", np.array(differences))
    assert found.p_value == pytest.approx(min(1.0, by_all_signs(differences)))
    assert found.pairs == len(differences)
    assert found.difference == pytest.approx(np.mean(differences))
    assert found.p_value >= found.least - 1e-12


def test_the_least_p_value_is_reached_where_all_differences_have_one_sign():
    for count in (2, 5, 10):
        found = compare("a", "b", np.arange(1.0, count + 1.0))
        assert found.p_value == pytest.approx(found.least)
        assert found.least == 2.0 ** (1 - count)


def test_many_pairs_are_sampled_from_a_fixed_seed():
    """For 60 pairs a normal approximation is close; the share among 9,999 signs has sd 0.005 at most."""
    differences = np.random.default_rng(1).normal(0.25, 1.0, 60)
    first, again = (compare("a", "b", differences) for _ in range(2))
    assert first == again
    from scipy.stats import norm

    about = 2 * norm.sf(abs(differences.mean()) / np.sqrt((differences**2).mean() / 60))
    assert first.p_value == pytest.approx(about, abs=0.02)


def test_agents_that_are_alike_are_rarely_told_apart():
    """2,000 experiments of 8 runs: p < 0.05 in at most 5 %; sd of the share 0.005."""
    table = np.random.default_rng(2).normal(0.0, 1.0, (2_000, 8))
    signs = np.array(list(product((-1, 1), repeat=8)))
    exact = (np.abs(signs @ table.T) >= np.abs(table.sum(axis=1)) * (1 - 1e-9)).mean(axis=0)
    ours = [compare("a", "b", row).p_value for row in table[:50]]
    np.testing.assert_allclose(ours, exact[:50])
    assert np.mean(exact <= 0.05) < 0.065


def test_one_pair_says_nothing():
    assert compare("a", "b", np.array([3.0])) is None
    assert compare("a", "b", np.array([])) is None


@pytest.mark.parametrize(
    ("differences", "words"),
    [
        (
            [1.0, 2.0, 3.0],
            "a is ahead of b by 2 of reward, in the mean over 3 runs with the same seeds; p = 0.25, which does not "
            "tell them apart, and 3 pairs cannot give less than 0.25.",
        ),
        (
            [5.0] * 8,
            "a is ahead of b by 5 of reward, in the mean over 8 runs with the same seeds; p = 0.0078, and 8 pairs "
            "cannot give less than 0.0078.",
        ),
        (
            [0.0] * 8,
            "a and b are level, in the mean over 8 runs with the same seeds; p = 1, which does not tell them apart.",
        ),
    ],
)
def test_the_verdict_in_words(differences, words):
    assert compare("a", "b", np.array(differences)).words("of reward") == words
