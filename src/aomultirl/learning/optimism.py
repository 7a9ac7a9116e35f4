"""A practical learner: optimism that is measured in what a state can lead to, planned anew by a few backups a step.

With n visits of a pair and m the mean of V under what they showed,

    Q(s, a) = r(s, a) + discount * (n m + l hope(s)) / (n + l),     V(s) = max_a Q(s, a):

``l`` more visits might have led to the best that can be hoped for.  From s one hopes for the best successor that any
action has shown in s; and, as often as s still shows new ones, for the best state of all:

    hope(s) = (1 - v) max{V(s') : s' seen from s} + v max V,     v = min{1, NOVELTY u / N}

after N visits of s that led to u different states.  So the bonus needs no scale: it is a difference of values of
this world, and a pair that nobody has visited promises r + discount * hope and no more.  l falls with the visits,
and with the steps left,

    l = LEVEL ln(1 + left / (PACE n)),

of this episode, and FUTURE of those that were taken in the world before: about as many are still to come.

``docs/recall.md`` says how these numbers were chosen.

Where rewards are not known, they are a part of what an action leads to: with r the mean that a pair has earned,

    Q(s, a) = (n (r + discount * m) + l hope(s)) / (n + l),    hope(s) = (1 - v) max{r + discount * V(s')} + v top,

the first maximum over what was seen from s.  ``top`` is the greatest r + discount * V(s') that was seen anywhere, and
at least the greatest reward that there can be, once.  So a pair that nobody has tried never promises more than the
best thing that is known: a goal that ends the episode is worth reaching although much is left unseen.  Among pairs
that promise the same, chance decides, once for every state and episode.

Where the actions of a state are alike (:mod:`.kinship`), a pair also has the mean of the others, as if it were KAPPA
visits: with N the visits of the other actions, ENOUGH of each at most, L = KAPPA N / (KAPPA + N) of them.  Where L is
more than LEANING, actions differ by little, and the best that a state can lead to says nothing of how much; then what
is hoped for is measured in how uncertain the mean of n + L visits is.  With ``width`` the standard deviation of what
the actions of the state have led to, l is such that hope adds

    WIDTHS LEVEL width sqrt(ln(1 + left / (PACE (n + L))) / (n + L))

to the mean, and at most MOST_HOPED of what is between it and hope(s).

V(s) is the value of arriving in s: the episode goes on from there as often as it was seen to, and otherwise each step
that is left is worth what nothing is worth.

There are C hypotheses about the world of an episode, each with counts of its own to plan with, to which those of the
episode are added (:mod:`.world_rows`), and values of its own.  Values are kept up to date by BACKUPS backups a step, in
rotation, so a step costs the same in large worlds.
"""

import math

import numpy as np

from aomultirl.engine.behaviours import Table
from aomultirl.engine.compiling import borrowing, inlined
from aomultirl.engine.counts import EMPTY, VISITS, WORDS, Counts, span
from aomultirl.engine.signals import serve_signals
from aomultirl.identifying.knowledge import place_of
from aomultirl.learning.kinship import ENOUGH
from aomultirl.learning.planner import (
    ASKED,
    FOUND,
    HIGHEST,
    HOPED,
    LENT,
    MEAN,
    NEXT,
    READY,
    SALT,
    SPENT,
    SQUARE,
    TOP,
    Planner,
)
from aomultirl.learning.reward_levels import mean_paid
from aomultirl.learning.row_likelihoods import ENDS, GOES_ON, Floats

U = np.uint64

LEANING = 16.0
"""Visits that a pair leans on, above which what is hoped for is measured in what its state's actions differ by."""
WIDTHS = 10.0 / 3.0
"""Standard errors that are hoped for then, for LEVEL and the root of the logarithm."""
MOST_HOPED = 0.9
"""The share of hope in a value, at most, then."""
SCATTER = 0x9E3779B97F4A7C15
"""An odd multiplier that scatters the numbers of states over 64 bits: 2**64 over the golden ratio."""


@inlined
def steps_left(planner: Planner, c: int) -> float:
    """In this episode and in later ones of the world."""
    return max(0, planner.horizon - planner.state[SPENT]) + planner.later[c]  # type: ignore[no-any-return]


@inlined
def _hoped_visits(
    planner: Planner, c: int, pair: np.uint64, n: float, lean: float, left: float, width: float, gap: float
) -> float:
    """l, of a pair with n visits and ``lean`` more that it leans on.

    left
        steps.
    width
        the standard deviation of what the actions of the state lead to.
    gap
        between hope and what the pair is known to be worth.
    """
    options, logs = planner.options, planner.logs
    ratio = left / (options.pace * (n + lean))
    if logs[ASKED, c, pair] != ratio:  # the same again in all sweeps of a step
        logs[ASKED, c, pair], logs[FOUND, c, pair] = ratio, math.log1p(ratio)
    log: float = logs[FOUND, c, pair]
    if lean <= LEANING or gap <= 0.0:
        return options.level * log
    share = min(MOST_HOPED, WIDTHS * options.level * width * math.sqrt(log / (n + lean)) / gap)
    return share / (1.0 - share) * (n + lean)


@inlined
def _lot(salt: np.int64, pair: np.uint64) -> np.uint64:
    """What a pair has drawn for this episode; of pairs that promise the same, the highest is taken."""
    bits = (U(salt) * U(SCATTER)) ^ (pair + U(1))
    bits = (bits ^ (bits >> U(32))) * U(SCATTER)
    return U((bits ^ (bits >> U(29))) * U(SCATTER))


@inlined
def earned_by(planner: Planner, c: int, pair: np.uint64) -> float:
    """The mean of what a pair has earned, where rewards are not known."""
    first = len(planner.here) - len(planner.levels) * (len(planner.total) - int(pair))
    return mean_paid(planner.counted, planner.here, planner.levels, c, first)


@inlined
def _lean(planner: Planner, c: int, state: int) -> float:
    """Fill in what each pair of a state leans on, from the means of those that were visited.

    The standard deviation of what they have led to; 0 where no pair can lean on more than LEANING visits.
    """
    leans, means, n_actions = planner.leans, planner.means, len(planner.means) - 1
    whole, mean, square = 0.0, 0.0, 0.0
    for a in range(n_actions):
        n = min(planner.mass[c, state * n_actions + a] + planner.total[state * n_actions + a], ENOUGH)
        if n > 0.0:
            whole += n
            mean += n * means[a]
            square += n * leans[SQUARE, a]
    for a in range(n_actions):
        n = min(planner.mass[c, state * n_actions + a] + planner.total[state * n_actions + a], ENOUGH)
        others = whole - n
        leans[LENT, a], leans[MEAN, a] = 0.0, 0.0
        if others > 0.0:
            leans[LENT, a] = planner.kinship * others / (planner.kinship + others)
            leans[MEAN, a] = (mean - (n * means[a] if n > 0.0 else 0.0)) / others
    if planner.kinship <= LEANING or whole == 0.0:  # no pair leans on more visits, so nobody asks
        return 0.0
    return math.sqrt(max(0.0, square / whole - (mean / whole) ** 2))


@inlined
def back_up(planner: Planner, counts: Counts, c: int, state: int) -> tuple[float, int, float]:
    """(V, the best action, the greatest that was seen) of one state under hypothesis c.

    ``planner.means`` is then Q of every action, and hope(s) at last.  The third number is what ``top`` is the greatest
    of.
    """
    starts, states, weight, mass, here = planner.starts, planner.states, planner.counted, planner.mass, planner.here
    values, marks, means, options = planner.values, planner.marks, planner.means, planner.options
    n_actions, unknown = len(means) - 1, len(planner.sums) > 0
    within, beyond = (options.discount, 1.0) if unknown else (1.0, options.discount)
    left, top = steps_left(planner, c), planner.tops[c, TOP]
    n_states = values.shape[1]
    stamp = marks[n_states] + 1
    marks[n_states] = stamp
    local, visits, distinct = -np.inf, 0.0, 0
    for a in range(n_actions):
        pair = U(state * n_actions + a)
        n = mass[c, pair] + planner.total[pair]
        if n == 0.0:
            continue
        visits += n
        i, end = U(starts[pair]), U(starts[pair + U(1)] - 1)
        total, square, earned = 0.0, 0.0, earned_by(planner, c, pair) if unknown else 0.0
        for j in range(i, end):
            w = weight[c, j] + here[j]
            if w > 0.0:
                s = U(states[j])
                v = earned + within * values[c, s] - top
                total += w * v
                square += w * v * v
                local = max(local, v)
                distinct += marks[s] != stamp
                marks[s] = stamp
        if here[end] > 0:  # successors that memory does not know
            first, last = np.int64(i), np.int64(end)
            for slot in range(*span(counts, int(pair))):
                key = counts.slots[WORDS * slot]
                if key != EMPTY and (first == last or place_of(starts, states, int(pair), key) == last):
                    v = earned + within * values[c, key] - top
                    total += counts.slots[WORDS * slot + VISITS] * v
                    square += counts.slots[WORDS * slot + VISITS] * v * v
                    local = max(local, v)
                    distinct += marks[key] != stamp
                    marks[key] = stamp
        means[a], planner.leans[SQUARE, a] = total / n, square / n
    width = _lean(planner, c, state) if planner.kinship > 0.0 else 0.0
    hope = local * (1.0 - min(1.0, options.novelty * distinct / visits)) if visits > 0.0 else 0.0
    best, action, salt = -np.inf, 0, planner.state[SALT]
    for a in range(n_actions):
        pair = U(state * n_actions + a)
        n, lean = mass[c, pair] + planner.total[pair], planner.leans[LENT, a]
        q = hope
        if n + lean > 0.0:
            known = (n * means[a] if n > 0.0 else 0.0) + lean * planner.leans[MEAN, a]
            extra = _hoped_visits(planner, c, pair, n, lean, left, width, hope - known / (n + lean))
            planner.leans[HOPED, a] = extra
            q = (known + extra * hope) / (n + lean + extra)
        q = (0.0 if unknown else planner.rewards[pair]) + beyond * (q + top)
        means[a] = q
        if q > best or (unknown and q == best and _lot(salt, pair) > _lot(salt, U(state * n_actions + action))):
            best, action = q, a
    means[n_actions] = hope + top
    going_on = planner.going_on[c, state]
    value = going_on * best + (1.0 - going_on) * planner.rest / (1.0 - options.discount)
    return value, action, local + top if unknown else value


@borrowing
def best_of(planner: Planner, means: Floats, state: int) -> int:
    """The action of the greatest mean, (A,); chance decides among equals where rewards are not known."""
    action, n_actions, salt = 0, len(planner.means) - 1, planner.state[SALT]
    for a in range(1, n_actions):
        one, other = U(state * n_actions + a), U(state * n_actions + action)
        if means[a] > means[action] or (
            len(planner.sums) > 0 and means[a] == means[action] and _lot(salt, one) > _lot(salt, other)
        ):
            action = a
    return action


@inlined
def least_top(planner: Planner) -> float:
    """What ``top`` is at least."""
    return planner.promise if len(planner.sums) > 0 else -np.inf


@inlined
def greatest_value(planner: Planner, c: int) -> float:
    """max V under hypothesis c."""
    greatest = planner.values[c, 0]
    for s in range(1, planner.values.shape[1]):
        greatest = max(greatest, planner.values[c, s])
    return greatest  # type: ignore[no-any-return]


@borrowing
def plan(planner: Planner, table: Table, counts: Counts, c: int, backups: int, last: int, guides: bool) -> None:
    """Back up so many states in rotation, and ``last`` at last.

    guides
        the entries of the table are made for this hypothesis; those that are still good are kept.
    """
    tops, rotation, n_states = planner.tops, planner.rotation, planner.values.shape[1]
    s, spent = rotation[c, NEXT], 0
    for step in range(backups + 1):
        spent = serve_signals(spent, 32 * len(planner.means))
        if step < backups:
            s -= 1
            if s < 0:
                s = n_states - 1
                tops[c, TOP], tops[c, HIGHEST] = tops[c, HIGHEST], least_top(planner)
        at = s if step < backups else last
        v, action, seen = back_up(planner, counts, c, at)
        planner.values[c, at] = v
        tops[c, HIGHEST] = max(tops[c, HIGHEST], seen)
        if guides and planner.lease[at] == 1:
            table.plan[at] = action
    rotation[c, NEXT] = s


@borrowing
def sweep(planner: Planner, table: Table, counts: Counts, c: int, sweeps: int, last: int, guides: bool) -> None:
    """Whole rotations, from the values as they are."""
    planner.rotation[c, NEXT], planner.rotation[c, READY] = 0, 1
    planner.tops[c, HIGHEST] = max(greatest_value(planner, c), least_top(planner))
    plan(planner, table, counts, c, sweeps * planner.values.shape[1], last, guides)


@borrowing
def see_end(planner: Planner, state: int, goes_on: float, ends: float) -> None:
    """In this episode a state has let it go on so often, and ended it so often."""
    place = len(planner.states) + 2 * state
    planner.here[place + GOES_ON], planner.here[place + ENDS] = goes_on, ends
    for c in range(len(planner.counted)):
        lasted, over = planner.counted[c, place + GOES_ON] + goes_on, planner.counted[c, place + ENDS] + ends
        planner.going_on[c, state] = 1.0 - over / (lasted + over) if over > 0.0 else 1.0
