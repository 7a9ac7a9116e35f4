import numpy as np
from scipy.stats import bootstrap

from aomultirl.analysis import intervals


def test_bands_cover_the_truth_about_as_often_as_they_say():
    """2,000 experiments of 40 runs: coverage 0.95, a little less for a percentile bootstrap; sd of the share 0.005."""
    table = np.random.default_rng(1).normal(3.0, 2.0, (40, 2_000))
    _, low, high = intervals.over_runs(table, 0.95)
    covered = np.mean((low <= 3.0) & (high >= 3.0))
    assert 0.92 < covered < 0.96
    _, low, high = intervals.over_runs(table, 0.5)
    assert 0.45 < np.mean((low <= 3.0) & (high >= 3.0)) < 0.53


def test_a_band_is_the_bootstrap_of_scipy():
    table = np.random.default_rng(2).exponential(5.0, (10, 3))
    _, low, high = intervals.over_runs(table)
    twin = bootstrap((table,), np.mean, axis=0, n_resamples=9_999, method="percentile", rng=3).confidence_interval
    np.testing.assert_allclose(low, twin.low, atol=0.25)
    np.testing.assert_allclose(high, twin.high, atol=0.25)


def test_one_run_has_no_interval():
    mean, low, high = intervals.over_runs([[1.0, 2.0]])
    np.testing.assert_array_equal(mean, [1.0, 2.0])
    assert np.isnan(low).all()
    assert np.isnan(high).all()
