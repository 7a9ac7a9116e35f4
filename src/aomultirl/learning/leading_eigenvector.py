"""The leading eigenvector of a small symmetric matrix, on one thread.

A linear algebra library shares even a matrix of 20 x 20 among all cores, and its threads wait for more work in a loop
for a while: on two cores that took a third of the time of a run of :class:`aomultirl.agents.Recall`.
"""

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray


def leading_eigenvector(symmetric: NDArray[np.float64]) -> NDArray[np.float64]:
    """The eigenvector (n,) of the largest eigenvalue of a symmetric matrix (n, n); its sign is arbitrary.

    Examples
    --------
    >>> np.abs(leading_eigenvector(np.array([[2.0, 1.0], [1.0, 2.0]]))).round(3).tolist()
    [0.707, 0.707]
    """
    with one_thread():
        return np.asarray(np.linalg.eigh(symmetric)[1][:, -1])


def one_thread() -> AbstractContextManager[Any]:
    """A block in which libraries of linear algebra use one thread, where threadpoolctl is installed."""
    pools = _pools()
    return nullcontext() if pools is None else pools.limit(limits=1, user_api="blas")


@cache
def _pools() -> Any:
    """The libraries that this process has loaded; looking for them takes a millisecond, so that is done once."""
    try:
        from threadpoolctl import ThreadpoolController
    except ModuleNotFoundError:
        return None
    return ThreadpoolController()
