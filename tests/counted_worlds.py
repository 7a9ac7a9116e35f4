"""Small worlds that were counted, as dense arrays and as the tables and rows that the learner keeps."""

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from scipy.special import gammaln

from aomultirl.engine.counts import CountTable
from aomultirl.learning.row_likelihoods import REWARD, TRANSITION
from aomultirl.learning.world_rows import rows_of


class Counted(NamedTuple):
    """What was counted in a world, or in an episode.

    visits
        (S * A, S).
    ends
        (S,), how many episodes ended on arriving there.
    sums
        (S * A,), rewards added up; (S * A * V,), how often pairs paid each of V > 2 levels; empty where they are known.
    """

    visits: np.ndarray
    ends: np.ndarray
    sums: np.ndarray

    @property
    def table(self):
        table = CountTable(len(self.visits))
        for pair, s in np.argwhere(self.visits).tolist():
            table.count(pair, s, int(self.visits[pair, s]))
        for s in np.flatnonzero(self.ends).tolist():
            table.end(s, int(self.ends[s]))
        return table

    @property
    def goes_on(self):
        """(S,), how often each state was left."""
        return self.visits.sum(axis=1).reshape(len(self.ends), -1).sum(axis=1)

    def __add__(self, other):
        return Counted(*(one + two for one, two in zip(self, other, strict=True)))


def some_counts(rng, n_states, n_actions, learns_rewards, most=6, filled=0.4):
    """Random counts; rewards are fractions."""
    shape = (n_states * n_actions, n_states)
    visits = rng.integers(1, most + 1, shape) * (rng.random(shape) < filled)
    ends = rng.integers(0, 3, n_states) * (rng.random(n_states) < 0.4)
    n = visits.sum(axis=1)
    sums = rng.random(len(n)) * n * (rng.random(len(n)) < 0.8)
    return Counted(visits, ends, sums if learns_rewards else np.empty(0))


class Worlds(NamedTuple):
    """Counted worlds and the rows that are made of them, whose prior is learned from them."""

    worlds: list
    rows: object
    rng: np.random.Generator
    n_states: int
    n_actions: int
    learns_rewards: bool

    def episode(self, most=6, filled=0.4):
        """The counts of one more episode."""
        return some_counts(self.rng, self.n_states, self.n_actions, self.learns_rewards, most, filled)


def make_worlds(seed, n_states, n_actions, count, learns_rewards):
    rng = np.random.default_rng(seed)
    worlds = [some_counts(rng, n_states, n_actions, learns_rewards) for _ in range(count)]
    rows = rows_of([(world.table, world.sums) for world in worlds], n_states, n_actions, learns_rewards)
    return Worlds(worlds, rows, rng, n_states, n_actions, learns_rewards)


make_worlds(0, 2, 1, 2, learns_rewards=True)  # compiles what draws need, which hypothesis would find too slow

seeds = st.integers(0, 2**32 - 1)


def several_worlds(least=0, most=3):
    """Rows of some random worlds, small enough for brute force."""
    return st.builds(make_worlds, seeds, st.integers(1, 4), st.integers(1, 2), st.integers(least, most), st.booleans())


def dense(table, n_states):
    """The visits of a count table, (S * A, S)."""
    starts, states, visits = table.to_lists()
    found = np.zeros((len(starts) - 1, n_states), np.int64)
    found[np.repeat(np.arange(len(starts) - 1), np.diff(starts)), states] = visits
    return found


def slow_rows(layout, counted):
    """The counts of every row of a layout, from dense arrays: a list of R arrays; what has no place is the last's."""
    found, n = [], counted.visits.sum(axis=1)
    for pair in range(layout.n_pairs):
        states = layout.outcomes[layout.first[pair] : layout.first[pair + 1] - 1]
        found.append(np.append(counted.visits[pair, states], np.delete(counted.visits[pair], states).sum()))
    found += [np.array(two) for two in zip(counted.goes_on, counted.ends, strict=True)]
    if len(layout.levels) > 2:
        found += list(counted.sums.reshape(-1, len(layout.levels)))
    elif len(layout.levels):
        found += [np.array([earned, visits - earned]) for earned, visits in zip(counted.sums, n, strict=True)]
    return found


def slow_alpha(rows, x):
    """alpha of a row: theta in equal parts, and a half for every level of rewards.

    Of transitions there are as many parts as states that any action of the same state leads to, and one for others.
    """
    layout = rows.layout
    places = layout.first[x + 1] - layout.first[x]
    if layout.kinds[x] != TRANSITION:
        return np.full(places, 0.5 if layout.kinds[x] == REWARD else rows.theta[x] / places)
    n_actions = layout.n_pairs // layout.n_states
    siblings = range(x // n_actions * n_actions, (x // n_actions + 1) * n_actions)
    reached = {int(s) for y in siblings for s in layout.outcomes[layout.first[y] : layout.first[y + 1] - 1]}
    shown = int(layout.first[x + 1] - layout.first[x] - 1)
    likely = shown + (len(reached) - shown) * np.exp(-shown / rows.theta[x])
    each = rows.theta[x] / (max(likely, min(len(reached), 32)) + 1)
    return np.append(np.full(places - 1, each), rows.theta[x] - each * (places - 1))


def slow_ln_ml(counts, alpha):
    """ln of the Dirichlet marginal likelihood; theta is the sum of alpha."""
    counts = np.asarray(counts, float)
    each = gammaln(counts + alpha) - gammaln(alpha)
    return float(each.sum() + gammaln(alpha.sum()) - gammaln(counts.sum() + alpha.sum()))


def slow_row_joint(rows, x, counts):
    """(J, sigma) of a row, from the counts of every world, (W, places of the row)."""
    alpha, rho = slow_alpha(rows, x), float(rows.shared[rows.layout.kinds[x]])
    together = np.log(rho) + slow_ln_ml(np.sum(counts, axis=0) if len(counts) else np.zeros(len(alpha)), alpha)
    apart = np.log1p(-rho) + sum(slow_ln_ml(row, alpha) for row in counts)
    joint = np.logaddexp(together, apart)
    return float(joint), float(np.exp(together - joint))
