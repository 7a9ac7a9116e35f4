"""The eigenvector of the largest eigenvalue, and the threads that it takes."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from aomultirl.learning import leading_eigenvector as module
from aomultirl.learning.leading_eigenvector import leading_eigenvector, one_thread


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@given(st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_no_direction_is_stretched_more(n, seed):
    """Of the vectors of length 1 it is the one with the largest x' A x, which random ones and axes do not exceed."""
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(n, n))
    symmetric = half + half.T
    found = leading_eigenvector(symmetric)
    best = found @ symmetric @ found
    assert found @ found == pytest.approx(1.0)
    assert symmetric @ found == pytest.approx(best * found, abs=1e-9)
    others = np.vstack([np.eye(n), rng.normal(size=(20, n))])
    others /= np.linalg.norm(others, axis=1, keepdims=True)
    assert (np.einsum("ki,ij,kj->k", others, symmetric, others) <= best + 1e-9).all()


def test_one_thread_inside_and_as_many_as_before_afterwards():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with one_thread():
            inside = blas_threads()
        assert blas_threads() == before
    assert inside
    assert set(inside) == {1}


def test_without_threadpoolctl_it_is_the_same_vector(monkeypatch):
    symmetric = np.array([[3.0, 1.0, 0.0], [1.0, 2.0, -1.0], [0.0, -1.0, 1.0]])
    expected = leading_eigenvector(symmetric)
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    module._pools.cache_clear()
    try:
        assert module._pools() is None
        assert leading_eigenvector(symmetric).tolist() == expected.tolist()
    finally:
        module._pools.cache_clear()
