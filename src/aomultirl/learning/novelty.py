"""Whether an episode is of no world that is known, with a stated rate of error.

That the worlds in memory explain an episode badly says little by itself: rows with a hundred successors make every
episode improbable.  So an episode is compared with what its own world would have predicted.  With q the prediction of a
row by world c before the episode, the counts e of the row are held against predictions r in which what is improbable
is likelier.  Together the outcomes that world c has not shown get r_new, in proportion to q, and the others the rest:

    r_new = q_new + t (1 - q_new) / 2,      r_i ~ q_i^(1 - t),        t one of TILTS.

Few rows may differ, or all of them, so the evidence mixes a row that differs with one that does not,

    E_c = mean over f of  prod over rows of  { 1 - f + f mean over t of  DM(e; N r) / L_c(e) },      f one of PARTS.

DM(e; N r) is the probability of the counts under a Dirichlet-multinomial with the parameters N r, where N = n + theta
and n is how often world c has shown the row.  L_c is their probability in world c: as in :mod:`.row_likelihoods` a
mixture of a row that all worlds share and of one of its own, but with predictions that are right about outcomes that
the row has not shown yet.  Of n visits with counts d,

    q_i = d_i / (n + theta)  for an outcome that was seen,      q_new = theta / (n + theta)  for all others together:

theta is learned from how often rows show something new, and this is that rate.  (The prior of beliefs says less of what
is new.  Beliefs compare two hypotheses that share this error, so it cancels there; here it would not.)  DM and L_c are
probabilities of the same outcomes, one after the other, so the mean of E_c is 1 under what is believed of world c,
however the episode was acted, and at any time:

    P(E_c >= 1 / level) <= level.

An episode is *new* when E_c >= 1 / level for every world in memory: if it is of one of them, this happens with
probability ``level`` at most.  That is an average over what is believed of the world: all that is not known of its rows
is drawn from the prior that was learned.  For a world and a memory that are given it is no theorem; tests count how
often it happens with worlds that were made otherwise.  Counts of other worlds that were put there by mistake make a row
more spread, and "new" rarer; and episodes that look unlike their world and are put elsewhere when they are read again
make it narrower, and "new" more frequent.

Rows that a world has shown less often than LEAST_VISITS say nothing, since what they may lead to is hardly known.  So
a world of which hardly anything was seen is never excluded, and as long as it is in memory no episode is new.  Rewards
that are not known are left out, since their rows may count parts of rewards.
"""

import math

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import borrowing, kernel
from aomultirl.engine.signals import serve_signals
from aomultirl.learning.beliefs import BeliefBehaviour
from aomultirl.learning.log_gamma import ln_gamma
from aomultirl.learning.row_likelihoods import REWARD, TRANSITION, Floats, Integers, ln_mixture
from aomultirl.learning.world_rows import WorldRows

LEVEL = 0.01
"""The rate of error: of the episodes of worlds that are known, so many at most are called new."""
TILTS = (0.25, 0.5, 1.0)
"""How much flatter the predictions are that the evidence is for; with 1 all outcomes that were seen are as likely."""
PARTS = (0.01, 0.1, 0.5)
"""How many of the rows may differ."""
LEAST_VISITS = 5.0
"""Visits of a row in a world for it to say anything."""


@borrowing
def _prior(counts: Floats, kind: int, alpha: Floats, theta: float, a: int, b: int, prior: Floats) -> None:
    """Fill in the prior visits of every place of a row, which has shown ``counts``."""
    unseen = 0
    for p in range(a, b):
        unseen += counts[p] == 0.0
    for p in range(a, b):
        if kind == TRANSITION:
            prior[p - a] = theta / unseen if counts[p] == 0.0 else 0.0
        else:
            prior[p - a] = alpha[p]


@borrowing
def _ln_likely(here: Floats, counts: Floats, prior: Floats, mass: float, n: float, a: int, b: int) -> float:
    """ln of the probability of the n outcomes of a row in this episode, after ``mass`` visits."""
    total = ln_gamma(mass) - ln_gamma(mass + n)
    for p in range(a, b):
        if here[p] > 0.0:
            known = counts[p] + prior[p - a]
            total += ln_gamma(known + here[p]) - ln_gamma(known)
    return total


@kernel
def ln_novelty(
    first: Integers,
    kinds: NDArray[np.int8],
    here: Floats,
    counts: Floats,
    masses: Floats,
    sigma: Floats,
    theta: Floats,
    alpha: Floats,
) -> Floats:
    """(C,), ln E of every world in memory.

    Parameters
    ----------
    first, kinds
        (R + 1,), the first place of each row, and (R,).
    here
        (P,), the counts of the episode.
    counts, masses
        (C + 2, P) and (C + 2, R), of every world, of a new one and of all of them together.
    sigma, theta, alpha
        (R,), (R,) and (P,).
    """
    count, last, spent = len(counts) - 2, len(counts) - 1, 0
    widest = 0
    for x in range(len(kinds)):
        widest = max(widest, first[x + 1] - first[x])
    own, pooled, tilted = np.zeros(widest), np.zeros(widest), np.zeros(widest)
    gains = np.zeros((count, len(PARTS)))
    for x in range(len(kinds)):
        a, b, n = first[x], first[x + 1], 0.0
        spent = serve_signals(spent, 8 + b - a)
        for p in range(a, b):
            n += here[p]
        if n == 0.0 or kinds[x] == REWARD:
            continue
        _prior(counts[last], kinds[x], alpha, theta[x], a, b, pooled)
        together = _ln_likely(here, counts[last], pooled, masses[last, x] + theta[x], n, a, b)
        for c in range(count):
            if masses[c, x] < LEAST_VISITS:
                continue
            spent = serve_signals(spent, 64 * len(TILTS) * (b - a))
            _prior(counts[c], kinds[x], alpha, theta[x], a, b, own)
            mass, ratio = masses[c, x] + theta[x], 0.0
            likely = ln_mixture(sigma[x], together, _ln_likely(here, counts[c], own, mass, n, a, b))
            for tilt in TILTS:
                flat, new, unseen = 0.0, 0.0, 0
                for p in range(a, b):
                    q = sigma[x] * (counts[last, p] + pooled[p - a]) / (masses[last, x] + theta[x])
                    q += (1.0 - sigma[x]) * (counts[c, p] + own[p - a]) / mass
                    tilted[p - a] = q
                    if counts[c, p] == 0.0:
                        new += q
                        unseen += 1
                    else:
                        tilted[p - a] = q ** (1.0 - tilt)
                        flat += tilted[p - a]
                more = new + 0.5 * tilt * (1.0 - new) if unseen > 0 else 0.0
                gain = math.lgamma(mass) - math.lgamma(mass + n)
                for p in range(a, b):
                    if here[p] > 0.0:
                        if counts[c, p] == 0.0:
                            mean = mass * more * tilted[p - a] / new
                        else:
                            mean = mass * (1.0 - more) * tilted[p - a] / flat
                        gain += math.lgamma(mean + here[p]) - math.lgamma(mean)
                ratio += math.exp(min(gain - likely, 600.0)) / len(TILTS)
            for f in range(len(PARTS)):
                gains[c, f] += math.log(1.0 - PARTS[f] + PARTS[f] * ratio)
    found = np.zeros(count)
    for c in range(count):
        most = gains[c].max()
        for f in range(len(PARTS)):
            found[c] += math.exp(gains[c, f] - most)
        found[c] = most + math.log(found[c] / len(PARTS))
    return found


def chance_of_known(behaviour: BeliefBehaviour, rows: WorldRows) -> float:
    """How probable so much evidence that an episode is new is at most, if it is of a world in memory: 1 / min E.

    Parameters
    ----------
    behaviour
        that has taken over all that was counted in the episode, and knows of at least one world.
    rows
        of all worlds, as they were when the episode began.
    """
    known = behaviour.beliefs
    numbers = (known.counts, known.masses, known.sigma, rows.spreads, known.alpha)
    found = ln_novelty(rows.layout.first, rows.layout.kinds, behaviour.planner.here, *numbers)
    return float(np.exp(-max(0.0, found.min())))
