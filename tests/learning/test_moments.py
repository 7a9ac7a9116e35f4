from itertools import permutations

import numpy as np
import pytest

from aomultirl.learning.moments import decompose, symmetric_moments


def exact_moments(means, weights):
    second = sum(w * np.outer(mu, mu) for w, mu in zip(weights, means, strict=True))
    third = sum(w * np.einsum("i,j,k", mu, mu, mu) for w, mu in zip(weights, means, strict=True))
    return second, third


def in_order_of(found, means):
    """The found vectors in the order in which they are closest to the means."""
    orders = permutations(range(len(found)))
    return list(min(orders, key=lambda order: np.abs(found[list(order)] - means).max()))


@pytest.mark.parametrize("seed", range(12))
def test_exact_moments_give_the_mixture_back(seed):
    rng = np.random.default_rng(seed)
    arms = int(rng.integers(1, 8))
    count = int(rng.integers(1, min(arms, 5) + 1))
    means, weights = rng.random((count, arms)), rng.dirichlet(3.0 * np.ones(count))
    found, shares = decompose(*exact_moments(means, weights), count)
    order = in_order_of(found, means)
    assert np.abs(found[order] - means).max() < 1e-8
    assert np.abs(shares[order] - weights).max() < 1e-8
    assert (np.diff(shares) <= 0.0).all()


def test_equal_weights_are_no_trouble():
    means = np.array([[0.9, 0.1, 0.5, 0.2], [0.1, 0.8, 0.5, 0.3], [0.4, 0.4, 0.1, 0.9]])
    found, shares = decompose(*exact_moments(means, np.full(3, 1 / 3)), 3)
    assert np.abs(found[in_order_of(found, means)] - means).max() < 1e-8
    assert shares == pytest.approx(np.full(3, 1 / 3), abs=1e-8)


def test_more_asked_for_than_there_are():
    means, weights = np.array([[0.9, 0.1, 0.5], [0.1, 0.8, 0.5]]), np.array([0.3, 0.7])
    found, shares = decompose(*exact_moments(means, weights), 3)
    assert found[::-1] == pytest.approx(means, abs=1e-8)
    assert shares[::-1] == pytest.approx(weights, abs=1e-8)


def test_eigenvalues_that_are_not_positive_are_dropped():
    means, weights = np.array([[0.9, 0.1, 0.5], [0.1, 0.8, 0.5]]), np.array([0.3, 0.7])
    second, third = exact_moments(means, weights)
    normal = np.cross(*means)
    found, _ = decompose(second - 0.01 * np.outer(normal, normal), third, 3)
    assert found[::-1] == pytest.approx(means, abs=1e-8)
    found, shares = decompose(-np.eye(3), np.zeros((3, 3, 3)), 2)
    assert (found.shape, shares.shape) == ((0, 3), (0,))
    found, _ = decompose(np.eye(3), np.zeros((3, 3, 3)), 2)
    assert found.shape == (0, 3)


def test_moments_of_views_are_symmetric_and_those_of_the_vector():
    rng = np.random.default_rng(0)
    second, third = symmetric_moments(rng.random((3, 4)))
    assert second == pytest.approx(second.T)
    for order in permutations(range(3)):
        assert third == pytest.approx(third.transpose(order))
    mean = np.array([0.2, 0.9, 0.4])
    second, third = symmetric_moments(np.stack([mean] * 3))
    assert second == pytest.approx(np.outer(mean, mean))
    assert third == pytest.approx(np.einsum("i,j,k", mean, mean, mean))


def test_moments_of_views_are_unbiased():
    """Coins: what the mean of 5,000 moments is off by has a deviation of at most 1 / sqrt(4 * 5,000) an entry."""
    rng, mean = np.random.default_rng(1), np.array([0.3, 0.8])
    flips = (rng.random((5_000, 3, 2)) < mean).astype(float)
    moments = [symmetric_moments(views) for views in flips]
    second, third = np.mean([one[0] for one in moments], axis=0), np.mean([one[1] for one in moments], axis=0)
    assert np.abs(second - np.outer(mean, mean)).max() < 5 / np.sqrt(20_000)
    assert np.abs(third - np.einsum("i,j,k", mean, mean, mean)).max() < 5 / np.sqrt(20_000)
