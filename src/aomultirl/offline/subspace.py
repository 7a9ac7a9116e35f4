"""Trajectories grouped by the subspace method of Kausik, Tan and Tewari (2023); the number of groups is given.

The rows of a pair (s, a) in K worlds span K directions, which all trajectories together show, long before one of them
shows its own row.  Of every trajectory two segments are taken, the second and the fourth quarter, so far apart that
they are almost independent.  With p1_n and p2_n the empirical rows of trajectory n in both, for every pair:

    M = sum_n p1_n p2_n^T + p2_n p1_n^T        over the trajectories that visited it in both segments,
    V = the K eigenvectors of M of the greatest eigenvalues,
    d(m, n) = (p1_m - p1_n)^T V V^T (p2_m - p2_n),

a nearly unbiased estimate of a squared distance, because noise of the two segments does not multiply up.  The distance
of two trajectories is the greatest d over the pairs that both visited in both segments.  Those closer than a threshold
are neighbours, and spectral clustering of that graph gives groups, which expectation maximisation refines
(:mod:`.expectation`).

Settled here, where the paper leaves it open: the threshold is the valley of a histogram of all distances, that which
parts them best in the sense of Otsu (least variance within both parts); two trajectories with no pair in common are
half neighbours, since nothing is known of them.

Setting: trajectories whose length is of the order of the mixing time; every pair of worlds differs at some pair that is
visited often.

Guarantee, for the method with its own thresholds: all labels are right, with high probability, for trajectories whose
length is linear in the number of states.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from aomultirl.learning.row_likelihoods import Floats
from aomultirl.offline.expectation import expectation_maximisation
from aomultirl.offline.trajectories import ACTION, STATE, SUCCESSOR, Integers, Logs

BINS = 128
"""Of the histogram of distances."""
UNKNOWN = 0.5
"""How much two trajectories are neighbours that have nothing in common."""
SURE, STARTS = 0.8, 20
"""Weight of a trajectory in its group where expectation maximisation begins; starts of k-means."""


def by_subspace(logs: Logs, groups: int, rng: np.random.Generator) -> Floats:
    """The weights of every trajectory, (N, groups)."""
    apart, known = distances(logs, groups)
    near = np.full(apart.shape, UNKNOWN)
    if known.any():
        near[known] = apart[known] <= threshold(apart[known])
    labels = spectral_groups(near, groups, rng)
    weights = np.full((len(logs), groups), (1.0 - SURE) / max(1, groups - 1))
    weights[np.arange(len(logs)), labels] = SURE if groups > 1 else 1.0
    return expectation_maximisation(logs, weights)[0]


def segments(logs: Logs) -> list[list[Integers]]:
    """The second and the fourth quarter of every trajectory."""
    quarters = [(len(one) // 4, len(one) // 2, 3 * len(one) // 4) for one in logs.steps]
    first = [one[a:b] for one, (a, b, _) in zip(logs.steps, quarters, strict=True)]
    return [first, [one[c:] for one, (_, _, c) in zip(logs.steps, quarters, strict=True)]]


def distances(logs: Logs, groups: int) -> tuple[Floats, NDArray[np.bool_]]:
    """(The distance of every two trajectories, whether they have a pair in common), (N, N) each."""
    count, parts = len(logs), segments(logs)
    apart, known = np.full((count, count), -np.inf), np.zeros((count, count), bool)
    visited = [[one[:, STATE] * logs.n_actions + one[:, ACTION] for one in part] for part in parts]
    who: dict[int, list[int]] = {}
    for n in range(count):
        for pair in np.intersect1d(visited[0][n], visited[1][n]).tolist():
            who.setdefault(pair, []).append(n)
    for pair, members in who.items():
        if len(members) < 2:
            continue
        rows = np.zeros((2, len(members), logs.n_states))
        for segment in range(2):
            for place, n in enumerate(members):
                led = parts[segment][n][visited[segment][n] == pair, SUCCESSOR]
                rows[segment, place] = np.bincount(led, minlength=logs.n_states) / len(led)
        product = rows[0].T @ rows[1]
        first = max(0, logs.n_states - groups)
        _, basis = eigh(product + product.T, subset_by_index=(first, logs.n_states - 1))
        one, two = rows[0] @ basis, rows[1] @ basis  # (members, groups)
        own = (one * two).sum(axis=1)
        cross = one @ two.T
        each = own[:, None] + own[None, :] - cross - cross.T
        where = np.ix_(members, members)
        apart[where] = np.maximum(apart[where], each)
        known[where] = True
    np.fill_diagonal(known, False)
    return apart, known


def threshold(apart: Floats) -> float:
    """The valley of a histogram of distances: where its two parts vary least within themselves."""
    counts, edges = np.histogram(apart, bins=BINS)
    middle = 0.5 * (edges[1:] + edges[:-1])
    below = np.cumsum(counts)[:-1]
    above = counts.sum() - below
    sums = np.cumsum(counts * middle)
    with np.errstate(divide="ignore", invalid="ignore"):
        between = below * above * (sums[:-1] / below - (sums[-1] - sums[:-1]) / above) ** 2
    return float(edges[1:-1][np.nanargmax(between)])


def spectral_groups(near: Floats, groups: int, rng: np.random.Generator) -> Integers:
    """Groups of a graph, given how much every two are neighbours, (N, N)."""
    from scipy.cluster.vq import kmeans2  # it takes as long to import as a tenth of the library

    near = near.copy()
    np.fill_diagonal(near, 1.0)
    root = 1.0 / np.sqrt(near.sum(axis=1))
    count = len(near)
    _, vectors = eigh(root[:, None] * near * root[None, :], subset_by_index=(max(0, count - groups), count - 1))
    points = vectors * root[:, None]
    best, found = np.inf, np.zeros(count, np.int64)
    for _ in range(STARTS):
        centres, labels = kmeans2(points, groups, minit="++", rng=rng, missing="warn")
        spread = float(((points - centres[labels]) ** 2).sum())
        if spread < best:
            best, found = spread, labels.astype(np.int64)
    return found
