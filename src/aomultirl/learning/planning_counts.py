"""The counts that worlds are planned with: their own, and what they lean on.

A row leans on the same row in other worlds as far as the data support: the counts of the other worlds are worth up to

    odds = min{rho / (1 - rho), GUESS} ML(D) / prod_w ML(d_w)

visits (:mod:`.row_likelihoods`), all of them where the odds are high and none below LEAST_ODDS; a row that a world has
not shown is a guess, worth GUESS visits at most.  However often rows are shared, rho alone is worth no more than a
guess: the few rows that differ are those that matter, and two visits that went as elsewhere must not be the last.

A guess ends.  Whoever relied on it for ever would never find an action that is good here and bad elsewhere.  What
differs here with probability q is worth one look when it was passed by some 1 / q times: when its state was left by
other actions PASSES (1 + rho / (1 - rho) ML(D) / prod_w ML(d_w)) times, a row of transitions counts as unknown.

A world's own counts are worth no more than the data support that its episodes agree: if they may have been of several
worlds, whose rows differ, the present one must be looked at anew.  With e_k the counts of its episodes,

    worth = max{GUESS, ML(d_w) / prod_k ML(e_k)}   visits, all of them where that is more.

A row that has a parent (:mod:`.row_parents`) leans on the other actions in place of the other worlds, but for a guess
before its first visit, which does not end: what matters of it is what it differs by, in this world.  (The learner told
the task earned 80.2 and 82.8 % of the optimum, in all and in the last quarter, in three populations of ICU-Sepsis while
it leaned on the others, and 81.7 and 85.0 without; one development seed.)  And such a row is taken to be like its
parent whichever world it is, so nothing speaks for its episodes agreeing where they are all like it; there the data
must speak against that, and n_w times the ratio is what the row is worth.

What is settled in a world, proven or remembered, is known to agree: it is one e_k with ML(e_k) / n_k in place of
ML(e_k), so that by itself it is worth all of its n_k visits.
So a row that differs from episode to episode stays worth trying, which is what tells the worlds apart; and one that was
always the same is trusted soon.  All this serves to act, never to prove.
"""

import math

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import kernel
from aomultirl.engine.signals import serve_signals
from aomultirl.learning.row_likelihoods import TRANSITION, Floats, Integers

GUESS = 4.0
"""Visits that a guess is worth at most: a new world must be looked at where it matters."""
PASSES = 16.0
"""Times that a state was left by other actions, over 1 + odds, after which an action is guessed no more."""
LEAST_ODDS = 1e-3
"""Odds below which nothing is leant on: they say nothing, and l, which grows as visits fall, must stay a number."""


@kernel
def fill_planning_counts(
    first: Integers,
    kinds: NDArray[np.int8],
    counts: Floats,
    masses: Floats,
    pooled: Floats,
    own: Floats,
    together: Floats,
    alone: Floats,
    shared: Floats,
    trust: Floats,
    n_actions: int,
    doubts: bool,
    out: Floats,
) -> None:
    """Fill in the counts to plan with, (W + 1, P), the last for a world that nobody has met.

    ``trust``, (S * A,): how far rows of transitions trust their parents, 0 where they have none; ``n_actions``: A.
    """
    count, spent = len(counts), 0
    for x in range(len(kinds)):
        spent = serve_signals(spent, 2 * (count + 1) * (first[x + 1] - first[x]))
        apart, everywhere = 0.0, 0.0
        for w in range(count):
            apart += own[w, x]
        for p in range(first[x], first[x + 1]):
            everywhere += pooled[p]
        rho, ratio = shared[kinds[x]], math.exp(min(60.0, together[x] - apart))
        odds, passes = min(rho / (1.0 - rho), GUESS) * ratio, PASSES * (1.0 + rho / (1.0 - rho) * ratio)
        for w in range(count + 1):
            n = masses[w, x] if w < count else 0.0
            borrowed, trusted = 0.0, 1.0
            has_parent = kinds[x] == TRANSITION and trust[x] > 0.0
            passed = 0.0
            if kinds[x] == TRANSITION and n == 0.0 and not has_parent and w < count:
                for y in range(x - x % n_actions, x - x % n_actions + n_actions):
                    passed += masses[w, y]
            if everywhere > n and odds >= LEAST_ODDS and passed <= passes and not (has_parent and n > 0.0):
                borrowed = min(1.0, (odds if n > 0.0 else min(odds, GUESS)) / (everywhere - n))
            if doubts and w < count and n > 0.0 and kinds[x] == TRANSITION:
                agree = math.exp(min(60.0, own[w, x] - alone[w, x]))
                trusted = min(1.0, max(GUESS, agree * (n if has_parent else 1.0)) / n)
            for p in range(first[x], first[x + 1]):
                mine = counts[w, p] if w < count else 0.0
                out[w, p] = trusted * (mine + borrowed * (pooled[p] - mine))
