"""A mixture of vectors from its second and third moments, by a decomposition of tensors.

With weights p_1, ..., p_m and linearly independent vectors mu_1, ..., mu_m (so m <= K),

    M2 = sum p_i mu_i mu_i^T,      M3 = sum p_i mu_i (x) mu_i (x) mu_i.

W = U D^(-1/2) of the m greatest eigenvalues of M2 makes W^T M2 W = 1, and so T = M3(W, W, W) = sum lambda_i v_i (x) v_i
(x) v_i with orthonormal v_i = sqrt(p_i) W^T mu_i and lambda_i = 1 / sqrt(p_i).  The v_i are the robust fixed points of
the tensor power iteration (Anandkumar, Ge, Hsu, Kakade, Telgarsky 2014)::

    v <- T(1, v, v) / ||T(1, v, v)||,       lambda = T(v, v, v),

found one after the other: the best of several starts, then T is deflated by lambda v (x) v (x) v.  Back again,

    mu_i = lambda_i U D^(1/2) v_i,       p_i = 1 / lambda_i^2.

Moments of a sample are not of that form.  Eigenvalues of M2 that are not positive have no square root and are dropped,
and so are components with a lambda that is not positive: fewer vectors come back than were asked for.
"""

from itertools import permutations

import numpy as np
from numpy.typing import NDArray

STARTS = 20
"""Starts of the power iteration for every component; with ten, one decomposition of noisy moments in twenty differs."""
ITERATIONS = 30
"""Steps from every start, and as many more from the best: the convergence is quadratic."""
SETTLED = 1e-15
"""A change of directions that is rounding."""
SINGULAR = 1e-10
"""Eigenvalues below this share of the greatest are taken for 0."""


def symmetric_moments(views: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The second and third moment of three independent estimates of one vector, (3, K), in the mean over all orders."""
    second = np.mean([np.outer(views[a], views[b]) for a, b in permutations(range(3), 2)], axis=0)
    third = np.mean([np.einsum("i,j,k", *views[list(order)]) for order in permutations(range(3))], axis=0)
    return second, third


def decompose(
    second: NDArray[np.float64], third: NDArray[np.float64], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The vectors and weights of a mixture, (m, K) and (m,), with m at most ``count``; by descending weights.

    Parameters
    ----------
    second, third
        M2, (K, K), and M3, (K, K, K), symmetric.
    count
        how many vectors are asked for.
    """
    values, vectors = np.linalg.eigh(second)
    kept = np.argsort(-values)[: min(count, len(values))]
    kept = kept[values[kept] > SINGULAR * np.abs(values).max()]
    roots, basis = np.sqrt(values[kept]), vectors[:, kept]
    whitening = basis / roots
    tensor = np.einsum("abc,ai,bj,ck->ijk", third, whitening, whitening, whitening, optimize=True)
    means, weights = [], []
    for size, direction in _components(tensor):
        means.append(size * (basis * roots) @ direction)
        weights.append(size**-2.0)
    order = np.argsort(-np.array(weights), kind="stable")
    return np.array(means).reshape(-1, len(second))[order], np.array(weights)[order]


def _components(tensor: NDArray[np.float64]) -> list[tuple[float, NDArray[np.float64]]]:
    """(lambda, v) of the components of a symmetric tensor with a positive lambda, as they are found."""
    found: list[tuple[float, NDArray[np.float64]]] = []
    size = len(tensor)
    starts = np.random.default_rng(0).standard_normal((STARTS, size))  # the same at every call: a function of T alone
    for _ in range(size):
        directions = _iterated(tensor, _normalised(starts))
        sizes = np.einsum("ijk,li,lj,lk->l", tensor, directions, directions, directions, optimize=True)
        best = int(np.argmax(sizes))
        direction = _iterated(tensor, directions[best : best + 1])[0]
        strength = float(np.einsum("ijk,i,j,k", tensor, direction, direction, direction))
        if not strength > 0.0:
            break
        found.append((strength, direction))
        tensor = tensor - strength * np.einsum("i,j,k", direction, direction, direction)
    return found


def _iterated(tensor: NDArray[np.float64], directions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Directions (L, m), after so many power iterations each, or fewer once nothing changes any more."""
    flat = tensor.reshape(len(tensor), -1).T
    for _ in range(ITERATIONS):
        squares = directions[:, :, None] * directions[:, None, :]
        before, directions = directions, _normalised(squares.reshape(len(directions), -1) @ flat)
        if np.abs(directions - before).max() <= SETTLED:
            break
    return directions


def _normalised(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows of length 1; those of length 0 stay as they are."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0.0, lengths, 1.0))
