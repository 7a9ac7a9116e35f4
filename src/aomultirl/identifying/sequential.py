"""Sequential identification: which cluster is this episode, decided as soon as the evidence allows.

h = lambda / 2.  Three kinds of evidence from this episode's counts and the clusters', all valid at any time and for any
exploration:

* bets against c for c' (:mod:`.bets`), and differences from c (:mod:`.differences`).  c is rejected when the mean over
  c' of the wealth reaches K / (p_R w), or a difference K / (p_R (1 - w)) times its share in the union.
* certificates that c agrees at a pair (:mod:`.certificates`), each at K / p_A over the leader's share of the wealth.

**Accept** c when every pair of the set is certified for it; where M clusters are known to be all, when it is the only
one that is not rejected.  It is a **new** world when every cluster is rejected.  Till then, nothing is said.

All K verdicts are right with probability at least 1 - p, p = p_R + p_A + p_CR + p_CA.  A false rejection concerns only
the true cluster, p_R / K an episode; a false acceptance needs one certificate to be wrong, p_A / K; the bounds of
clusters are time-uniform, so old ones stay valid, p_CR and p_CA in all.  Induct over episodes: as long as all verdicts
were right, every cluster holds samples of one world.
"""

import math
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import borrowing, kernel
from aomultirl.engine.signals import DECISION, serve_signals
from aomultirl.identifying.bets import LOSE, RATE, THETA, WIN, find_bets, ln_wealth, ratio
from aomultirl.identifying.certificates import certify_pair
from aomultirl.identifying.differences import differs
from aomultirl.identifying.e_values import Demand, Gammas
from aomultirl.identifying.knowledge import Knowledge, TwoRows, place_of

OPEN, SETTLED, LEADER, ALIVE, CHANGED = range(5)


class Levels(NamedTuple):
    """The numbers in force for an episode.

    gap
        h.
    reject, certify
        ln(K / p_R) and ln(K / p_A).
    pool
        of how many worlds the adversary may choose one.
    betting
        w, the share of p_R that the bets get.
    settle
        the lead, in nats, at which the certificates' wealth is divided; below 0: evenly, at once.
    intervals, bounds
        (C,), the levels of the confidence intervals for rejections and of the bounds for certificates.
    events
        (S + 1,), ln(j (j + 1) binom(S, j)) for events of j states.
    choice
        (C,), ln(c (c + 1)), or ln M: the cost of an adversary who may play the cluster whose own samples were the most
        unusual.
    """

    gap: float
    reject: float
    certify: float
    pool: float
    betting: float
    settle: float
    intervals: NDArray[np.float64]
    bounds: NDArray[np.float64]
    events: NDArray[np.float64]
    choice: NDArray[np.float64]


class EpisodeEvidence(NamedTuple):
    """What an episode has shown.

    here, total
        counts of this episode: at the places of :class:`Knowledge`, and (S * A,) of pairs.
    before, before_total
        the same when the certificates began.
    scores
        (C,), log-likelihood of each cluster's predictions.
    wealth
        (C, C), ln of the wealth of the bets against c for c'.
    alive
        (C,), which clusters are not rejected.
    bets
        (C, C, S * A, 4), the cells of :mod:`.bets`.
    ready
        (S * A,), the pairs whose bets have been worked out.
    done
        (S * A,), a bit for each certified event of the leader.
    certified
        (S * A,), the pairs at which all events are.
    targets
        (S * A,), the pairs that must be.
    shares
        (C,), ln of each cluster's share of the certificates' wealth.
    state
        OPEN (targets not certified), SETTLED (the wealth is divided), LEADER (a cluster, or -1), ALIVE (how many),
        CHANGED (the leader or its certificates have).
    """

    here: NDArray[np.int64]
    total: NDArray[np.int64]
    before: NDArray[np.int64]
    before_total: NDArray[np.int64]
    scores: NDArray[np.float64]
    wealth: NDArray[np.float64]
    alive: NDArray[np.bool_]
    bets: NDArray[np.float64]
    ready: NDArray[np.bool_]
    done: NDArray[np.uint64]
    certified: NDArray[np.bool_]
    targets: NDArray[np.bool_]
    shares: NDArray[np.float64]
    state: NDArray[np.int64]


class Split(NamedTuple):
    """Shares of p: false rejections, false acceptances, confidence intervals for the one and bounds for the other."""

    reject: float
    accept: float
    intervals: float
    bounds: float


ACCEPTING = Split(0.06, 0.82, 0.06, 0.06)
"""Where a new world may come, so that clusters are accepted by certificates."""
SURVIVING = Split(0.60, 0.15, 0.20, 0.05)
"""Where M is known, so that most episodes are decided by rejections alone."""
BET_AND_DIFFER, BET = 0.5, 0.8
"""w, the share of p_R that the bets get, in these two cases."""
MANY_TARGETS, LEAD = 16, 4.0
"""With so many pairs to certify it pays to wait for a lead of so many nats before dividing the wealth."""


def levels(
    n_states: int,
    n_pairs: int,
    n_targets: int,
    clusters: int,
    episodes: int,
    failure: float,
    gap: float,
    models: int | None,
) -> Levels:
    """The numbers for an episode that begins with so many clusters.

    Parameters
    ----------
    gap
        h = lambda / 2.
    models
        M, or None: then at most K worlds ever come.  An adversary who has seen a cluster's samples may choose, among
        all worlds, the one that these flatter most; so the certificates pay for each of them.
    """
    split = ACCEPTING if models is None else SURVIVING
    pool = episodes if models is None else models
    numbers = np.arange(1.0, clusters + 1.0)
    each = np.log(numbers * (numbers + 1.0)) if models is None else np.full(clusters, math.log(models))
    return Levels(
        gap=gap,
        reject=math.log(episodes / (failure * split.reject)),
        certify=math.log(episodes / (failure * split.accept)),
        pool=float(pool),
        betting=BET_AND_DIFFER if models is None else BET,
        settle=LEAD if n_targets >= MANY_TARGETS else -1.0,
        intervals=each + math.log(n_pairs / (failure * split.intervals)),
        bounds=each + math.log(pool / (failure * split.bounds)),
        events=event_weights(n_states),
        choice=each,
    )


@cache
def event_weights(n_states: int) -> NDArray[np.float64]:
    """ln(j (j + 1) binom(S, j)) for events of j states, (S + 1,); an event and its complement weigh the same."""
    weights = np.zeros(n_states + 1)
    for size in range(1, n_states + 1):
        j = min(size, n_states - size) or 1
        ways = math.lgamma(n_states + 1) - math.lgamma(j + 1) - math.lgamma(n_states - j + 1)
        weights[size] = math.log(j * (j + 1)) + ways
    return weights


def evidence(known: Knowledge, targets: NDArray[np.bool_]) -> EpisodeEvidence:
    """Nothing seen yet."""
    count, places, n_pairs = len(known.seen), len(known.states), len(known.starts) - 1
    return EpisodeEvidence(
        here=np.zeros(places, np.int64),
        total=np.zeros(n_pairs, np.int64),
        before=np.zeros(places, np.int64),
        before_total=np.zeros(n_pairs, np.int64),
        scores=np.zeros(count),
        wealth=np.zeros((count, count)),
        alive=np.ones(count, bool),
        bets=np.empty((count, count, n_pairs, 4)),
        ready=np.zeros(n_pairs, bool),
        done=np.zeros(n_pairs, np.uint64),
        certified=np.zeros(n_pairs, bool),
        targets=np.ascontiguousarray(targets, np.bool_).reshape(-1),
        shares=np.full(count, -math.log(max(1, count))),
        state=np.array([int(targets.sum()), 0, 0 if count else -1, count, 1], np.int64),
    )


@borrowing
def _score(known: Knowledge, seen: EpisodeEvidence, pair: int, place: int) -> None:
    """Book a visit in the clusters' scores and in the bets."""
    visits, bets, wealth = known.visits, seen.bets, seen.wealth
    length = known.starts[pair + 1] - known.starts[pair]
    for c in range(len(known.seen)):
        d, n = known.seen[c, place], visits[c, pair]
        seen.scores[c] += math.log((d + 0.5) / (n + 0.5 * length))
        if seen.alive[c]:
            for rival in range(len(known.seen)):
                if rival != c and bets[c, rival, pair, RATE] > 0.0:
                    inside = ratio(known.seen[rival, place], visits[rival, pair], d, n) >= bets[c, rival, pair, THETA]
                    wealth[c, rival] += bets[c, rival, pair, WIN] if inside else bets[c, rival, pair, LOSE]


@borrowing
def _leader(scores: NDArray[np.float64], alive: NDArray[np.bool_]) -> tuple[int, float]:
    """The living cluster that predicts best, and its lead over the next in nats."""
    best, first, second = -1, -np.inf, -np.inf
    for c in range(len(scores)):
        if alive[c]:
            if scores[c] > first:
                best, first, second = c, scores[c], first
            elif scores[c] > second:
                second = scores[c]
    return best, first - second


@borrowing
def _certify(gammas: Gammas, known: Knowledge, seen: EpisodeEvidence, levels: Levels, pair: int) -> None:
    leader = seen.state[LEADER]
    first, last = known.starts[pair], known.starts[pair + 1]
    rows = TwoRows(
        here=seen.here[first:last],
        n=seen.total[pair] - seen.before_total[pair],
        seen=known.seen[leader, first:last],
        m=known.visits[leader, pair],
    )
    demand = Demand(
        gap=levels.gap,
        level=levels.bounds[leader],
        pool=levels.pool * math.exp(levels.choice[leader]),
        enough=levels.certify - seen.shares[leader],
    )
    every, seen.done[pair] = certify_pair(gammas, rows, seen.before[first:last], demand, seen.done[pair])
    if every:
        seen.certified[pair] = True
        seen.state[OPEN] -= 1
        seen.state[CHANGED] = 1


@kernel
def _settle(seen: EpisodeEvidence, scores: NDArray[np.float64]) -> None:
    """Divide the certificates' wealth by the posterior, and begin them here."""
    most = -np.inf
    for c in range(len(scores)):
        if seen.alive[c]:
            most = max(most, scores[c])
    total, alive = 0.0, 0
    for c in range(len(scores)):
        if seen.alive[c]:
            total += math.exp(scores[c] - most)
            alive += 1
    for c in range(len(scores)):
        if seen.alive[c]:
            seen.shares[c] = math.log(0.9 * math.exp(scores[c] - most) / total + 0.1 / alive)
    seen.before[:] = seen.here
    seen.before_total[:] = seen.total
    seen.state[SETTLED] = 1


@borrowing
def look_again(gammas: Gammas, known: Knowledge, seen: EpisodeEvidence, levels: Levels) -> None:
    """All certificates anew, for another leader."""
    seen.done[:] = np.uint64(0)
    seen.certified[:] = False
    seen.state[CHANGED] = 1
    seen.state[OPEN] = 0
    for pair in range(len(seen.targets)):
        seen.state[OPEN] += seen.targets[pair]
    if seen.state[LEADER] >= 0 and seen.state[SETTLED]:
        spent = 0
        for pair in range(len(seen.targets)):
            spent = serve_signals(spent, DECISION)
            if seen.targets[pair] and seen.total[pair] > seen.before_total[pair]:
                _certify(gammas, known, seen, levels, pair)


@borrowing
def observe(
    gammas: Gammas, known: Knowledge, seen: EpisodeEvidence, levels: Levels, pair: int, successor: int, certifying: bool
) -> None:
    """Book one transition in all evidence."""
    starts = known.starts
    place = place_of(starts, known.states, pair, successor)
    seen.here[place] += 1
    seen.total[pair] += 1
    count = len(known.seen)
    if count == 0:
        return
    first, last = starts[pair], starts[pair + 1]
    if not seen.ready[pair]:
        find_bets(gammas, known, levels.intervals, levels.events, seen.bets, pair)
        seen.ready[pair] = True
    _score(known, seen, pair, place)
    died = False
    goal = levels.reject - math.log(levels.betting)
    bound = levels.reject - math.log(0.5 * (1.0 - levels.betting) / len(seen.total))
    for c in range(count):
        rows = TwoRows(seen.here[first:last], seen.total[pair], known.seen[c, first:last], known.visits[c, pair])
        if seen.alive[c] and (
            ln_wealth(seen.wealth, c, goal) >= goal
            or differs(gammas, rows, levels.intervals[c], bound + levels.choice[c], levels.events)
        ):
            seen.alive[c] = False
            seen.state[ALIVE] -= 1
            died = True
    leader, lead = _leader(seen.scores, seen.alive)
    changed = leader != seen.state[LEADER]
    seen.state[LEADER] = leader
    if not certifying:
        seen.state[CHANGED] |= changed or died
        return
    if not seen.state[SETTLED] and lead >= levels.settle:
        if levels.settle >= 0.0:
            _settle(seen, seen.scores)
        else:
            seen.state[SETTLED] = 1
        changed = True
    if changed:
        look_again(gammas, known, seen, levels)
    elif leader >= 0 and seen.state[SETTLED] and seen.targets[pair] and not seen.certified[pair]:
        _certify(gammas, known, seen, levels, pair)
