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


def test_what_comes_near_the_80000_steps_of_the_experiment():
    """E23: Corollary 26's N without its S, 128 l / lambda^2, in the equation 38 for n intervals of 2 D steps a pair."""
    union = math.log(200 * 3 / 0.01)
    samples = 128 / (1.3 - 1e-6) ** 2 * union
    intervals = 2 * (samples + union) + 2 * math.sqrt(2 * samples * union + union**2)
    assert 2 * 7 * 3 * math.floor(intervals) == 82_320
    around = [
        theory.clustering_horizon(pairs=3, hitting_time=7, samples=n, constants="released", **GRID) for n in (833, 834)
    ]
    assert around == [82_278, 82_362]  # with N rounded down, and up
    assert 128 / (1.3 - 1e-6) ** 2 * (16 + union) > 2 * samples  # which that S would more than double


@pytest.mark.parametrize(("states", "actions", "separation", "episodes"), [(16, 4, 1.3, 200), (2, 2, 0.1, 10**6)])
def test_doubling_from_1_fails_eight_times_before_it_can_succeed(states, actions, separation, episodes):
    """E30: H0 = c S^2 A / lambda^2 is below S A N, the steps that N samples of all pairs take, for c = 1, ..., 128."""
    pairs, unit = states * actions, states**2 * actions / separation**2
    needed = pairs * theory.samples_needed(states, pairs, separation, episodes, 0.03)
    failing = [c for c in (2**i for i in range(20)) if c * unit < needed]
    assert failing[:8] == [1, 2, 4, 8, 16, 32, 64, 128]
    union = math.log(episodes * pairs / 0.01)
    assert needed / unit == pytest.approx(256 * max(1, union / states), rel=1e-3)


def test_k1_is_as_large_as_assumption_19_allows():
    """K1 S A < K - K1, so that four grids take 261 episodes at least (E17)."""
    for pairs in (1, 6, 64):
        for episodes in range(1, 300):
            most = max(k1 for k1 in range(episodes) if k1 == 0 or k1 * pairs < episodes - k1)
            assert theory.early_episodes(pairs, 1, episodes) == most
    assert [theory.early_episodes(16, 4, episodes) for episodes in (204, 260, 261)] == [3, 3, 4]


def test_threshold():
    assert theory.threshold(1.3, 1.3) == pytest.approx(0.975)
    assert theory.threshold(0.65, 1.3) == pytest.approx(0.325)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.threshold(0.6, 1.3), "level must be at least 0.65, not 0.6"),
        (lambda: theory.samples_needed(16, 3, 2.5, 200, 0.03), "separation must be at most 2, not 2.5"),
        (lambda: theory.early_episodes(16, 4, 0), "episodes must be at least 1, not 0"),
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
