import math

import pytest

from aomultirl import theory

GRID = {"states": 16, "separation": 1.3 - 1e-6, "episodes": 200, "failure": 0.03}


@pytest.mark.parametrize(
    ("constants", "pairs", "samples", "horizon"),
    [
        ("paper", 3, 2424, 610_848),
        ("paper", 64, 2424, 13_031_424),
        ("released", 3, 1043, 101_262),
        ("released", 64, 1275, 2_649_472),
    ],
)
def test_golden_values(constants, pairs, samples, horizon):
    assert theory.samples_needed(pairs=pairs, constants=constants, **GRID) == samples
    assert theory.clustering_horizon(pairs=pairs, hitting_time=7, constants=constants, **GRID) == horizon


def test_many_episodes_make_the_logarithm_matter():
    few = theory.samples_needed(2, 3, 1.0, 10, 0.03)
    union = math.log(10 * 3 / 0.01)
    assert few == math.ceil(256 * union)


def test_threshold():
    assert theory.threshold(1.3, 1.3) == pytest.approx(0.975)
    assert theory.threshold(0.65, 1.3) == pytest.approx(0.325)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.threshold(0.6, 1.3), "level must be at least 0.65, not 0.6"),
        (lambda: theory.samples_needed(16, 3, 2.5, 200, 0.03), "separation must be at most 2, not 2.5"),
        (lambda: theory.samples_needed(16, 0, 1.0, 200, 0.03), "pairs must be at least 1, not 0"),
        (lambda: theory.samples_needed(16, 3, 1.0, 200, 1.0), "failure must be below 1, not 1"),
        (
            lambda: theory.samples_needed(16, 3, 1.0, 200, 0.1, "authors"),
            "constants must be one of 'paper', 'released'",
        ),
        (lambda: theory.clustering_horizon(16, 3, 1.0, math.inf, 9, 0.1), "hitting_time must be finite, not inf"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
