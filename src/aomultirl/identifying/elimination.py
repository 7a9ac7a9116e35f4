"""A version space: which of some models this episode can still be, by squared errors (Brunskill, Li 2013).

Of models i and j with rows theta_i(s, a) and theta_j(s, a), a visit of (s, a) that leads to the successor z (as a
vector, 1 at the successor) adds::

    c_ij  +=  w_ij(s, a),        D_ij  +=  ||theta_i - z||^2 - ||theta_j - z||^2,

and once c_ij >= xi = 4 ln(C^2 / p), model i is dropped if D_ij > 0, and j otherwise.  All norms are l2.

Why it is right.  Let d = theta_i - theta_j, and let j be the world, whose row is theta, with ||theta_j - theta|| <= e.
The mean of what is added to D_ij is ||d||^2 + 2 d . (theta_j - theta) >= ||d||^2 - 2 e ||d||, and it lies in an
interval of length 2 (max d - min d) <= 2 sqrt(2) ||d||.  By Hoeffding's lemma::

    E exp(-(1/2) added)  <=  exp(-(||d||^2 - 2 e ||d||) / 2 + ||d||^2 / 4)  =  exp(-(||d||^2 - 4 e ||d||) / 4),

so with w_ij = ||d||^2 - 4 e ||d|| the process exp(-D_ij / 2 + c_ij / 4) is a supermartingale, however pairs are chosen.
By Ville's inequality the world itself is dropped for the sake of i, at whatever time anybody looks, with probability at
most exp(-xi / 4) = p / C^2.  Exact models have e = 0, which is w_ij = ||d||^2.

A pair counts for (i, j), and is *informative* as long as both are possible, where w_ij > 0 and the estimated rows are
at least a given l1 distance apart.

Rows that are estimated from n samples are within::

    e(n) = scale (1 + sqrt(ln(S A C n (n + 1) / p))) / sqrt(n)

of the true ones for all n, all pairs and all C models at once, with probability at least 1 - p (scale = 1): the mean
error is at most 1 / sqrt(n), one sample changes the error by at most sqrt(2) / n, so McDiarmid's inequality bounds
what lies above the mean, and 1 / (n (n + 1)) adds up to 1 over all n.  It does not depend on the number of states.

One model always survives these comparisons.  So a model is also dropped where the samples of the episode *contradict*
it: where the two estimates of some pair are further apart than the sum of their e(n).  If none is left, this world is
none of the models, or their estimates are wrong.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.behaviours import FOREVER
from aomultirl.engine.counts import CountTable

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Confidence:
    """How far estimated rows may be from the true ones.

    n_states
        S.
    rows
        S A C, the number of rows that it must hold for.
    failure
        p.
    scale
        multiplies every distance; 1 is what is proven, 0 takes estimates for exact.
    """

    n_states: int
    rows: float
    failure: float
    scale: float = 1.0

    def radius(self, visits: NDArray[np.int64]) -> Floats:
        """e(n) for the visits of every row; infinite where there are none."""
        n = np.maximum(visits, 1).astype(np.float64)
        radius = self.scale * (1.0 + np.sqrt(np.log(self.rows * n * (n + 1.0) / self.failure))) / np.sqrt(n)
        return np.where(visits > 0, radius, np.inf)

    def rows_of(self, counts: CountTable) -> "Rows":
        """The rows that were counted."""
        starts, states, times = counts.to_lists()
        owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        visits = np.diff(np.concatenate(([0], np.cumsum(times)))[starts])
        probs = times / visits[owners]
        squares = np.asarray(np.bincount(owners, probs * probs, len(visits)), np.float64)
        return Rows(owners * self.n_states + states, owners, times, probs, visits, squares, self.radius(visits))


class Rows(NamedTuple):
    """The estimated rows of one world, as lists of the transitions that were seen, ascending.

    keys
        int64 (transitions,), pair * S + successor.
    owners
        int64 (transitions,), the pair of each.
    times
        int64 (transitions,), how often each was seen.
    probs
        (transitions,), the share of its pair's visits.
    visits
        int64 (S * A,).
    squares
        (S * A,), ||theta||^2.
    radius
        (S * A,), e(n).
    """

    keys: NDArray[np.int64]
    owners: NDArray[np.int64]
    times: NDArray[np.int64]
    probs: Floats
    visits: NDArray[np.int64]
    squares: Floats
    radius: Floats

    def at(self, keys: NDArray[np.int64]) -> Floats:
        """The probability of each of these transitions; 0 for those that were never seen."""
        if len(self.keys) == 0:
            return np.zeros(len(keys))
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[place] == keys, self.probs[place], 0.0)


class Distances(NamedTuple):
    """How far the rows of two worlds are apart, (S * A,) each; 0 where one of them was never visited.

    l1, l2
        in both norms.
    """

    l1: Floats
    l2: Floats


def distances(a: Rows, b: Rows) -> Distances:
    """The distances of all rows of two worlds."""
    other = b.at(a.keys)
    both, pairs = (a.visits > 0) & (b.visits > 0), len(a.visits)
    product = np.bincount(a.owners, a.probs * other, pairs)
    common = np.bincount(a.owners, np.minimum(a.probs, other), pairs)
    square = np.maximum(a.squares + b.squares - 2.0 * product, 0.0)
    return Distances(np.where(both, np.maximum(2.0 - 2.0 * common, 0.0), 0.0), np.where(both, np.sqrt(square), 0.0))


def contradiction(model: Rows, seen: Rows) -> float:
    """The largest distance between rows of a model and of an episode, in sums of their e(n); above 1 it contradicts."""
    allowed = model.radius + seen.radius
    return float((distances(seen, model).l2 / np.maximum(allowed, np.finfo(float).tiny)).max(initial=0.0))


class Contest(NamedTuple):
    """Where two models are compared.

    pairs
        int64, those that count.
    weights
        w_ij of each.
    """

    pairs: NDArray[np.int64]
    weights: Floats


def contest(a: Rows, b: Rows, apart: float) -> Contest:
    """The pairs at which two models are at least ``apart`` in l1, and further than their errors; see the module."""
    l1, l2 = distances(a, b)
    error = np.maximum(a.radius, b.radius)
    pairs = np.flatnonzero((l1 >= apart) & (l2 > 4.0 * error))
    return Contest(pairs, l2[pairs] * (l2[pairs] - 4.0 * error[pairs]))


class Standing(NamedTuple):
    """What an episode says of the models so far, (C, C) each.

    weight
        c_ij, symmetric.
    errors
        D_ij = -D_ji; positive where j explains the episode better than i.
    """

    weight: Floats
    errors: Floats


def threshold(models: int, failure: float) -> float:
    """xi = 4 ln(C^2 / p): what c_ij must reach."""
    return 4.0 * math.log(max(models, 1) ** 2 / failure)


class VersionSpace:
    """Models, and where each two of them are compared.

    Parameters
    ----------
    models
        their rows, C of them.
    apart
        the l1 distance from which on rows count as different.
    limit
        xi.
    before
        a version space with some of the same rows, whose comparisons are taken over.
    """

    def __init__(
        self, models: Sequence[Rows], apart: float, limit: float, before: "VersionSpace | None" = None
    ) -> None:
        self.models, self.limit = list(models), limit
        self.contests: dict[tuple[int, int], Contest] = {}
        old = before.models if before is not None else []
        for j in range(len(models)):
            for i in range(j):
                same = j < len(old) and models[i] is old[i] and models[j] is old[j]
                known = before.contests[i, j] if before is not None and same else None
                self.contests[i, j] = known or contest(models[i], models[j], apart)

    def standing(self, seen: Rows) -> Standing:
        """What was seen in an episode, compared with all models."""
        count = len(self.models)
        weight, errors = np.zeros((count, count)), np.zeros((count, count))
        squared = [self._squared_errors(model, seen) for model in self.models]
        for (i, j), (pairs, weights) in self.contests.items():
            weight[i, j] = weight[j, i] = seen.visits[pairs] @ weights
            errors[i, j] = (squared[i][pairs] - squared[j][pairs]).sum()
            errors[j, i] = -errors[i, j]
        return Standing(weight, errors)

    @staticmethod
    def _squared_errors(model: Rows, seen: Rows) -> Floats:
        """The sum over the visits of each pair of ||theta - z||^2 - 1, (S * A,)."""
        hits = np.bincount(seen.owners, seen.times * model.at(seen.keys), len(seen.visits))
        return np.asarray(seen.visits * model.squares - 2.0 * hits)

    def survivors(self, alive: Iterable[int], standing: Standing) -> list[int]:
        """The models among ``alive`` that no other one of them drops, ascending."""
        left = list(alive)
        for i, j in self.contests:
            if i in left and j in left and standing.weight[i, j] >= self.limit:
                left.remove(i if standing.errors[i, j] > 0.0 else j)
        return left

    def needed(self, alive: Sequence[int], standing: Standing) -> NDArray[np.int64]:
        """Visits of each pair, alone, after which a model is dropped, (S * A,); FOREVER where it is not informative."""
        needed = np.full(len(self.models[0].visits), FOREVER)
        for (i, j), (pairs, weights) in self.contests.items():
            if i in alive and j in alive:
                visits = np.ceil(np.minimum((self.limit - standing.weight[i, j]) / weights, FOREVER / 2))
                needed[pairs] = np.minimum(needed[pairs], np.maximum(visits, 1.0).astype(np.int64))
        return needed
