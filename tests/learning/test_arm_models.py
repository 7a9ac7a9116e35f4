import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aomultirl.engine.random import streams
from aomultirl.learning.arm_models import EMPTY, PULLS, choose_arm, pull_arms
from slow_bandits import slow_choices


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.05, 0.3, math.inf]), st.booleans())
def test_the_choice_is_that_of_the_slow_twin(seed, accuracy, coarse):
    rng = np.random.default_rng(seed)
    n_models, n_arms = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    means = rng.random((n_models, n_arms))
    if coarse:  # so that there are ties
        means = np.round(4 * means) / 4
    pulls = rng.integers(0, 12, n_arms)
    paid = rng.binomial(pulls, rng.random(n_arms)).astype(float)
    logarithm = float(rng.choice([0.05, 0.5, 4.0]))
    allowed, empty = slow_choices(means.tolist(), accuracy, logarithm, pulls.tolist(), paid.tolist())
    behaviour = pull_arms(1, means, accuracy, logarithm)
    behaviour.pulls[:], behaviour.paid[:] = pulls, paid
    drawn = {int(choose_arm(behaviour, source)) for source in streams(seed, 60)}
    assert drawn <= allowed
    if len(allowed) <= 2:  # two stages of one in four at least, 60 times: missed with a probability below 1e-6
        assert drawn == allowed
    assert behaviour.happened[[PULLS, EMPTY]].tolist() == [60, 60 * empty]


@pytest.mark.parametrize("seed", range(20))
def test_exact_means_pull_the_best_arm_of_the_most_promising_model(seed):
    """mUCB by its own definition, which is umUCB with an accuracy of 0."""
    rng = np.random.default_rng(seed)
    means, pulls = rng.random((4, 3)), rng.integers(1, 9, 3)
    paid, logarithm = rng.binomial(pulls, means[0]).astype(float), 2.0
    left = [t for t in means if (np.abs(t - paid / pulls) <= np.sqrt(logarithm / (2 * pulls))).all()]
    behaviour = pull_arms(2, means, 0.0, logarithm)
    behaviour.pulls[:], behaviour.paid[:] = pulls, paid
    chosen = choose_arm(behaviour, streams(seed, 1)[0])
    expected = np.argmax(max(left, key=max)) if left else np.argmax(paid / pulls + np.sqrt(logarithm / (2 * pulls)))
    assert chosen == expected
