"""What the counts of an episode prove about the clusters in memory: a function of counts, worked out when asked.

The evidence is that of :mod:`.sequential` (notation and validity there), at one fixed time instead of at every step: an
e-process has mean at most 1 at any time.

- c is *rejected* when the bets against it win K / (p_R w) on average over the alternatives, or a difference exceeds
  its share of the rest.  Only the bound on P_c(A) must come from counts that are proven to be of c's world.  What is
  bet on may come from anywhere in the past, so the notes on worlds that nobody has proven serve here as
  alternatives.
- a pair is *certified* for c when the certificate of every event exceeds K C S A / p_A: then this world and that of
  c are less than ``resolution`` apart there.  The union over pairs is needed because data joins pair by pair.

Confidence bounds.  A cluster is founded by the counts of a whole episode, chosen by what they show; any of K
episodes may be the one, so their level carries ln K.  What joins later must be chosen before it is seen
(:mod:`aomultirl.agents.recall`).
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import CountTable
from aomultirl.engine.signals import DECISION, serve_signals
from aomultirl.identifying.bets import LOSE, RATE, THETA, WIN, find_bet, ratio
from aomultirl.identifying.certificates import certify_pair
from aomultirl.identifying.differences import differs
from aomultirl.identifying.e_values import Demand, Gammas
from aomultirl.identifying.knowledge import Knowledge, TwoRows, place_of
from aomultirl.identifying.sequential import event_weights

BETTING = 0.6
"""w, the share of p_R that the bets get; the differences get the rest."""
SHARES = (0.4, 0.4, 0.1, 0.1)
"""Of the failure probability: rejections, certificates, the bounds used by the one and the other."""


class EpisodeCounts(NamedTuple):
    """What an episode counted.

    here
        at the places of :class:`Knowledge`.
    total
        (S * A,), visits of pairs.
    """

    here: NDArray[np.int64]
    total: NDArray[np.int64]


def at_places(known: Knowledge, counts: CountTable, n_states: int) -> EpisodeCounts:
    """The counts at the places of ``known``, and of pairs."""
    starts, states, visits = counts.to_lists()
    owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    here = np.zeros(len(known.states), np.int64)
    _add_at_places(known.starts, known.states, owners, states, visits, here)
    return EpisodeCounts(here, np.bincount(owners, visits, len(starts) - 1).astype(np.int64))


@kernel
def _add_at_places(
    starts: NDArray[np.int64],
    known: NDArray[np.int32],
    pairs: NDArray[np.int64],
    successors: NDArray[np.int32],
    visits: NDArray[np.int64],
    here: NDArray[np.int64],
) -> None:
    """Add visits, (n,), of these pairs and successors to ``here``, (places,)."""
    for i in range(len(pairs)):
        here[place_of(starts, known, pairs[i], successors[i])] += visits[i]


class Standards(NamedTuple):
    """The numbers in force.

    reject
        ln(K / p_R).
    certify
        ln(K S A / p_A).
    interval, bound
        levels of the confidence bounds for rejections and for certificates.
    pool
        founders times worlds that an adversary may choose from.
    gap
        half the resolution.
    events
        (S + 1,), ln(j (j + 1) binom(S, j)) for events of j states.
    chosen
        ln K, for the choice of a founder.
    """

    reject: float
    certify: float
    interval: float
    bound: float
    pool: float
    gap: float
    events: NDArray[np.float64]
    chosen: float


def standards(n_states: int, n_pairs: int, episodes: int, failure: float, resolution: float) -> Standards:
    """What a proof must reach, for K episodes that fail with probability p in all."""
    reject, certify, interval, bound = (math.log(episodes / (failure * share)) for share in SHARES)
    pairs = math.log(n_pairs)
    return Standards(
        reject,
        certify + pairs,
        interval + pairs,
        bound + math.log(episodes),
        float(episodes) ** 2,
        0.5 * resolution,
        event_weights(n_states),
        math.log(episodes),
    )


@kernel
def ln_against(
    gammas: Gammas,
    proven: Knowledge,
    noted: Knowledge,
    episode: EpisodeCounts,
    rules: Standards,
    c: int,
    alternatives: NDArray[np.int64],
) -> float:
    """ln of the mean over alternatives of the wealth of the bets against c."""
    here, total = episode.here, episode.total
    most, logs = -np.inf, np.zeros(len(alternatives))
    bet, spent = np.zeros(4), 0
    for k, rival in enumerate(alternatives):
        for pair in range(len(total)):
            if total[pair] == 0:
                continue
            spent = serve_signals(spent, DECISION)
            n, m = proven.visits[c, pair], noted.visits[rival, pair]
            if n == 0 or m == 0:
                continue
            first, last = proven.starts[pair], proven.starts[pair + 1]
            mine, his = proven.seen[c, first:last], noted.seen[rival, first:last]
            find_bet(gammas, TwoRows(his, m, mine, n), rules.interval, rules.events, bet)
            if bet[RATE] <= 0.0:
                continue
            hits = 0
            for i in range(len(mine) - 1):
                if ratio(his[i], m, mine[i], n) >= bet[THETA]:
                    hits += here[first + i]
            logs[k] += hits * bet[WIN] + (total[pair] - hits) * bet[LOSE]
        most = max(most, logs[k])
    if len(alternatives) == 0:
        return -np.inf
    return most + math.log(np.exp(logs - most).mean())


@kernel
def is_rejected(
    gammas: Gammas,
    proven: Knowledge,
    noted: Knowledge,
    episode: EpisodeCounts,
    rules: Standards,
    c: int,
    alternatives: NDArray[np.int64],
) -> bool:
    """This is not the world of c."""
    here, total = episode.here, episode.total
    if ln_against(gammas, proven, noted, episode, rules, c, alternatives) >= rules.reject - math.log(BETTING):
        return True
    events = rules.events + rules.chosen  # so the test of both samples together pays for the choice of the founder too
    bound = rules.reject - math.log(0.5 * (1.0 - BETTING) / len(total))
    spent = 0
    for pair in range(len(total)):
        if total[pair] == 0:
            continue
        spent = serve_signals(spent, DECISION)
        first, last = proven.starts[pair], proven.starts[pair + 1]
        rows = TwoRows(here[first:last], total[pair], proven.seen[c, first:last], proven.visits[c, pair])
        if differs(gammas, rows, rules.interval - rules.chosen, bound, events):
            return True
    return False


@kernel
def growth(
    gammas: Gammas,
    proven: Knowledge,
    believed: EpisodeCounts,
    rules: Standards,
    survivors: NDArray[np.int64],
) -> NDArray[np.float64]:
    """(S * A,): how fast bets on what is believed of this world would win against the survivors, all together."""
    here, visits = believed.here, believed.total
    worth, bet, spent = np.zeros(len(visits)), np.zeros(4), 0
    for c in survivors:
        for pair in range(len(visits)):
            spent = serve_signals(spent, DECISION)
            if visits[pair] > 0 and proven.visits[c, pair] > 0:
                first, last = proven.starts[pair], proven.starts[pair + 1]
                mine, n = proven.seen[c, first:last], proven.visits[c, pair]
                rows = TwoRows(here[first:last], visits[pair], mine, n)
                find_bet(gammas, rows, rules.interval, rules.events, bet)
                worth[pair] += bet[RATE]
    return worth


@kernel
def certified_pairs(
    gammas: Gammas,
    proven: Knowledge,
    episode: EpisodeCounts,
    rules: Standards,
    c: int,
    count: int,
) -> NDArray[np.bool_]:
    """(S * A,): this world and that of c agree there, to half an l1 distance of ``gap``."""
    here, total = episode.here, episode.total
    demand = Demand(rules.gap, rules.bound, rules.pool * count, rules.certify + math.log(count))
    found = np.zeros(len(total), np.bool_)
    spent = 0
    for pair in range(len(total)):
        if total[pair] == 0:
            continue
        spent = serve_signals(spent, DECISION)
        first, last = proven.starts[pair], proven.starts[pair + 1]
        rows = TwoRows(here[first:last], total[pair], proven.seen[c, first:last], proven.visits[c, pair])
        nothing = np.zeros(last - first, np.int64)
        found[pair], _ = certify_pair(gammas, rows, nothing, demand, np.uint64(0))
    return found
