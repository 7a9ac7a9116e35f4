"""Random numbers have the distributions that they are named after.

Each Kolmogorov-Smirnov test raises a false alarm for one seed in 10,000; the seeds are fixed.
"""

import numpy as np
import pytest
from scipy import stats

from aomultirl.engine.compiling import kernel
from aomultirl.engine.random import draw_unit, streams
from aomultirl.engine.variates import draw_beta, draw_gamma, draw_normal

ALARM = 1e-4
DRAWS = 20_000


@kernel
def _normals(numbers, stream):
    for i in range(len(numbers)):
        numbers[i] = draw_normal(stream)


@kernel
def _gammas(shape, numbers, stream):
    for i in range(len(numbers)):
        numbers[i] = draw_gamma(shape, stream)


@kernel
def _betas(a, b, numbers, stream):
    for i in range(len(numbers)):
        numbers[i] = draw_beta(a, b, stream)


def drawn(fill, *parameters, seed=0):
    numbers = np.empty(DRAWS)
    fill(*parameters, numbers, streams(seed, 1)[0])
    return numbers


def test_units_are_uniform_and_below_one():
    stream = streams(1, 1)[0]
    numbers = np.array([draw_unit(stream) for _ in range(2000)])
    assert stats.kstest(numbers, "uniform").pvalue > ALARM
    assert numbers.min() >= 0.0
    assert numbers.max() < 1.0


def test_normals():
    assert stats.kstest(drawn(_normals), "norm").pvalue > ALARM


@pytest.mark.parametrize("shape", [0.1, 0.5, 1.0, 1.5, 20.0, 3000.0])
def test_gammas(shape):
    assert stats.kstest(drawn(_gammas, shape), stats.gamma(shape).cdf).pvalue > ALARM


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (1.0, 1.0), (0.3, 7.0), (40.0, 2.5)])
def test_betas(a, b):
    assert stats.kstest(drawn(_betas, a, b), stats.beta(a, b).cdf).pvalue > ALARM


def test_betas_of_tiny_masses_are_coins():
    """Gammas of such shapes are below the least number that there is; what is left is a coin of mean a / (a + b)."""
    numbers = drawn(_betas, 3e-5, 1e-5)
    assert np.isfinite(numbers).all()
    assert numbers.mean() == pytest.approx(0.75, abs=4 * np.sqrt(0.75 * 0.25 / DRAWS))
