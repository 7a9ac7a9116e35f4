"""Rows with parents: before it is known, the row of an action is taken to be like its state's average over the others.

With n_b the visits of action b and p_b its row, in all worlds together, the parent of the row of action a is

    m(s') ~ sum_b min{n_b, ENOUGH} p_b(s') + 1 / S        over the actions b other than a,

and the prior of the row is a Dirichlet with alpha = TRUST m.  Each row has the TRUST, one of TRUSTS, that is likeliest
for it, where how often each of them occurs is learned from all rows by expectation and maximisation: in ICU-Sepsis most
doses are given what the average is given, some are not at all like it.  The likelihood is that of
:mod:`.row_likelihoods`, in which worlds may share the row.

A prior that knows nothing of the other actions holds a wide row to be so uncertain that two worlds with rows of their
own pay for it with every row: the evidence that they differ has to pay that off first.  With parents, rows of their own
cost little where they are alike, and what differs counts at once.  (24 episodes of ICU-Sepsis of 20,000 steps, 70 % of
them by one plan: three worlds are likelier than one by 922 nats where they are three, and less likely by 3 where the
same episodes are grouped at random.)

It is for states with more successors than LEAST_REACH, whose rows take hundreds of visits to be known, and only where
the actions of a state are alike at all (:mod:`.kinship`).
"""

import math

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import kernel
from aomultirl.engine.signals import serve_signals
from aomultirl.learning.kinship import ENOUGH
from aomultirl.learning.row_likelihoods import LEAST_REACH, Floats, Integers, ln_mixture, ln_rising

TRUSTS = (4.0, 16.0, 64.0, 256.0, 1024.0, 16384.0, 262144.0)
"""Visits that the parent of a row may be worth."""
LEAST_MEAN = 1e-12
"""What a parent holds possible of all that its state has not shown, at least."""
ROUNDS = 12
"""Rounds of expectation and maximisation for how often each of TRUSTS occurs."""


@kernel
def _fill_means(
    starts: Integers,
    states: NDArray[np.int32],
    pooled: Floats,
    n_states: int,
    state: int,
    average: Floats,
    means: Floats,
) -> None:
    """Fill in the parents of the rows of one state; ``average``, (S,), is 0 at both times."""
    n_actions = (len(starts) - 1) // n_states
    whole = 0.0
    for pair in range(state * n_actions, (state + 1) * n_actions):
        mass = pooled[starts[pair] : starts[pair + 1]].sum()
        if mass > 0.0:
            part = min(mass, ENOUGH)
            whole += part
            for p in range(starts[pair], starts[pair + 1] - 1):
                average[states[p]] += part * pooled[p] / mass
    for pair in range(state * n_actions, (state + 1) * n_actions):
        mass, last = pooled[starts[pair] : starts[pair + 1]].sum(), starts[pair + 1] - 1
        part, rest = min(mass, ENOUGH), 1.0
        for p in range(starts[pair], last):
            own = part * pooled[p] / mass if mass > 0.0 else 0.0
            means[p] = (max(0.0, average[states[p]] - own) + 1.0 / n_states) / (whole - part + 1.0)
            rest -= means[p]
        means[last] = max(rest, LEAST_MEAN)
    for p in range(starts[state * n_actions], starts[(state + 1) * n_actions]):
        if states[p] >= 0:
            average[states[p]] = 0.0


@kernel
def _ln_ml(counts: Floats, means: Floats, trust: float, first: int, last: int) -> float:
    """ln ML of a row with its parent."""
    total, n = 0.0, 0.0
    for p in range(first, last):
        if counts[p] > 0.0:
            total += ln_rising(trust * means[p], counts[p])
            n += counts[p]
    return total - ln_rising(trust, n)


@kernel
def fit_parents(
    starts: Integers,
    states: NDArray[np.int32],
    counts: Floats,
    pooled: Floats,
    reach: Integers,
    rho: float,
    means: Floats,
    trust: Floats,
) -> None:
    """Fill in the parent of every row and how far it is trusted, which is 0 for rows that have none.

    Parameters
    ----------
    starts, states
        where transitions stand: (S * A + 1,) and (places,).
    counts, pooled
        (W, P) and (P,), of each world and of all of them.
    reach
        (S,), how many different successors the actions of a state have shown.
    rho
        how often worlds share rows of transitions.
    means, trust
        (places,) and (S * A,), to be filled in.
    """
    n_states, n_pairs = len(reach), len(trust)
    n_actions, spent = n_pairs // n_states, 0
    likely, average = np.zeros((n_pairs, len(TRUSTS))), np.zeros(n_states)
    trust[:] = 0.0
    for s in range(n_states):
        if reach[s] <= LEAST_REACH:
            continue
        _fill_means(starts, states, pooled, n_states, s, average, means)
        for pair in range(s * n_actions, (s + 1) * n_actions):
            a, b = starts[pair], starts[pair + 1]
            spent = serve_signals(spent, 32 * len(TRUSTS) * (1 + len(counts)) * (b - a))
            for k in range(len(TRUSTS)):
                apart = 0.0
                for w in range(len(counts)):
                    apart += _ln_ml(counts[w], means, TRUSTS[k], a, b)
                together = apart if len(counts) == 1 else _ln_ml(pooled, means, TRUSTS[k], a, b)
                likely[pair, k] = ln_mixture(rho, together, apart)
            trust[pair] = 1.0
    often, posterior = np.full(len(TRUSTS), 1.0 / len(TRUSTS)), np.zeros(len(TRUSTS))
    for _ in range(ROUNDS):
        sums = np.full(len(TRUSTS), 1.0)
        for pair in range(n_pairs):
            if trust[pair] > 0.0 and starts[pair + 1] - starts[pair] > 1:
                most = likely[pair].max()
                for k in range(len(TRUSTS)):
                    posterior[k] = often[k] * math.exp(likely[pair, k] - most)
                sums += posterior / posterior.sum()
        often = sums / sums.sum()
    for pair in range(n_pairs):
        if trust[pair] > 0.0:
            best = 0
            for k in range(1, len(TRUSTS)):
                if math.log(often[k]) + likely[pair, k] > math.log(often[best]) + likely[pair, best]:
                    best = k
            trust[pair] = TRUSTS[best]


def parents_of_more(old: Integers, means: Floats, new: Integers, n_states: int, n_actions: int) -> Floats:
    """The parents at the places of more transitions, from those at the old ones.

    A transition that is new to its row has the mean that the other actions of its state have for it; one that is new to
    the state has its part of what was held possible of all that are.  All that are new to a row together take no more
    than half of that.

    Parameters
    ----------
    old, new
        keys of transitions (:attr:`.row_layout.Layout.keys`).
    means
        at the places of the old ones.
    """
    found = np.zeros(len(new))
    at = np.searchsorted(new, old)
    found[at] = means
    is_new = np.ones(len(new), bool)
    is_new[at] = False
    (pairs, after), (old_pairs, old_after) = np.divmod(new, n_states + 1), np.divmod(old, n_states + 1)
    seen = old_after < n_states
    of_state = (old_pairs // n_actions * (n_states + 1) + old_after)[seen]
    ids, which = np.unique(of_state, return_inverse=True)
    average = np.bincount(which, means[seen], len(ids)) / np.bincount(which, minlength=len(ids))
    wanted = (pairs // n_actions * (n_states + 1) + after)[is_new]
    place = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1) if len(ids) else np.zeros(len(wanted), np.int64)
    shown = ids[place] == wanted if len(ids) else np.zeros(len(wanted), bool)
    last = np.searchsorted(new, pairs[is_new] * (n_states + 1) + n_states)  # for all that nobody has seen
    others = n_states - np.bincount(ids // (n_states + 1), minlength=n_states)[pairs[is_new] // n_actions]
    share = np.where(shown, average[place] if len(ids) else 0.0, found[last] / np.maximum(1, others))
    wanted_of_row = np.bincount(last, share, len(new))[last]
    found[is_new] = share * np.minimum(1.0, 0.5 * found[last] / np.maximum(wanted_of_row, np.finfo(float).tiny))
    np.subtract.at(found, last, found[is_new])
    found[last] = np.maximum(found[last], LEAST_MEAN)
    return found
