import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from aomultirl.engine.counts import CountTable
from aomultirl.identifying.bets import LOSE, RATE, THETA, WIN, find_bet, ratio
from aomultirl.identifying.certificates import certify_pair
from aomultirl.identifying.differences import differs
from aomultirl.identifying.e_values import Demand, gammas
from aomultirl.identifying.knowledge import Knowledge, TwoRows, knowledge
from aomultirl.identifying.proof import (
    BETTING,
    SHARES,
    at_places,
    certified_pairs,
    growth,
    is_rejected,
    ln_against,
    standards,
)

GAMMAS = gammas(2048)


def table_of(visits):
    """A count table of visits (S * A, S)."""
    table = CountTable(len(visits))
    for pair, s in np.argwhere(visits).tolist():
        table.count(pair, s, int(visits[pair, s]))
    return table


def both(notes, proofs):
    """(noted, proven) at the same places, of visits (S * A, S) each."""
    n_pairs, n_states = notes[0].shape
    every = knowledge([table_of(visits) for visits in (*notes, *proofs)], n_pairs, n_states)
    count, (starts, states, seen, visits) = len(notes), every
    return (
        Knowledge(starts, states, seen[:count], visits[:count]),
        Knowledge(starts, states, seen[count:], visits[count:]),
    )


@st.composite
def situations(draw):
    """Notes and proven counts of C worlds, and an episode in one of them or in another."""
    n_states, n_pairs, count = draw(st.integers(1, 5)), draw(st.integers(1, 3)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = rng.dirichlet(np.full(n_states, 0.4), (count + 1, n_pairs))
    sample = lambda most, c: np.array([rng.multinomial(rng.integers(0, most), row) for row in rows[c]])  # noqa: E731
    most = draw(st.sampled_from([5, 60, 600]))
    notes, proofs = ([sample(most, c) for c in range(count)] for _ in range(2))
    return notes, proofs, sample(most, draw(st.integers(0, count)))


def arranged(situation, failure=0.3, resolution=1.0, episodes=4):
    """(proven, noted, the episode's counts, rules)."""
    notes, proofs, episode = situation
    noted, proven = both(notes, proofs)
    rules = standards(episode.shape[1], len(episode), episodes, failure, resolution)
    return proven, noted, at_places(noted, table_of(episode), episode.shape[1]), rules


@settings(deadline=None)
@given(situations())
def test_counts_at_places_equal_dicts(situation):
    notes, _, episode = situation
    known = knowledge([table_of(visits) for visits in notes], *episode.shape)
    here, total = at_places(known, table_of(episode), episode.shape[1])
    assert total.tolist() == episode.sum(axis=1).tolist()
    for pair, (first, last) in enumerate(pairwise(known.starts)):
        row = {s: int(n) for s, n in enumerate(episode[pair]) if n > 0}
        listed = [row.pop(int(s), 0) for s in known.states[first : last - 1]]
        assert here[first:last].tolist() == [*listed, sum(row.values())]
    assert here.dtype == total.dtype == np.int64


def slow_against(proven, noted, episode, rules, c, alternatives):
    """ln of the mean wealth, the factors of one visit after the other."""
    wealth = []
    for rival in alternatives:
        ln = 0.0
        for first, last in pairwise(proven.starts):
            mine, his, bet = proven.seen[c, first:last], noted.seen[rival, first:last], np.zeros(4)
            n, m = mine.sum(), his.sum()
            find_bet(GAMMAS, TwoRows(his, m, mine, n), rules.interval, rules.events, bet)
            if bet[RATE] > 0.0:
                for i in range(last - first):
                    inside = i < last - first - 1 and ratio(his[i], m, mine[i], n) >= bet[THETA]
                    ln += episode.here[first + i] * (bet[WIN] if inside else bet[LOSE])
        wealth.append(ln)
    if not wealth:
        return -math.inf
    return float(np.logaddexp.reduce(wealth)) - math.log(len(wealth))


def slow_rejected(proven, noted, episode, rules, c, alternatives):
    """A failure probability of p_R / K in all: BETTING for the bets, the rest for all pairs and both tests of each."""
    if slow_against(proven, noted, episode, rules, c, alternatives) >= rules.reject - math.log(BETTING):
        return True
    bound = rules.reject + math.log(2.0 * len(episode.total) / (1.0 - BETTING))
    for pair, (first, last) in enumerate(pairwise(proven.starts)):
        rows = TwoRows(
            episode.here[first:last], episode.total[pair], proven.seen[c, first:last], proven.visits[c, pair]
        )
        interval = rules.interval - rules.chosen  # differs adds the weights of the events, and with them ln K
        if differs(GAMMAS, rows, interval, bound, rules.events + rules.chosen):
            return True
    return False


@settings(deadline=None, max_examples=100)
@given(situations())
def test_rejections_equal_slow_loops(situation):
    proven, noted, episode, rules = arranged(situation)
    for c in range(len(proven.seen)):
        others = np.array([i for i in range(len(proven.seen)) if i != c], np.int64)
        slow = slow_against(proven, noted, episode, rules, c, others)
        assert ln_against(GAMMAS, proven, noted, episode, rules, c, others) == pytest.approx(slow, abs=1e-9)
        rejected = is_rejected(GAMMAS, proven, noted, episode, rules, c, others)
        assert rejected == slow_rejected(proven, noted, episode, rules, c, others)


@settings(deadline=None, max_examples=100)
@given(situations())
def test_certificates_equal_slow_loops(situation):
    proven, _, episode, rules = arranged(situation)
    here, total = episode
    count = len(proven.seen)
    for c in range(count):
        fast = certified_pairs(GAMMAS, proven, episode, rules, c, count)
        for pair, (first, last) in enumerate(pairwise(proven.starts)):
            rows = TwoRows(here[first:last], total[pair], proven.seen[c, first:last], proven.visits[c, pair])
            enough = math.log(4 / (0.3 * 0.4)) + math.log(len(total)) + math.log(count)
            demand = Demand(gap=0.5, level=rules.bound, pool=16.0 * count, enough=enough)
            slow, _ = certify_pair(GAMMAS, rows, np.zeros(last - first, np.int64), demand, np.uint64(0))
            assert fast[pair] == slow


@settings(deadline=None)
@given(situations())
def test_growth_is_the_sum_of_the_bets(situation):
    proven, _, episode, rules = arranged(situation)
    survivors = np.arange(len(proven.seen))
    fast, bet = growth(GAMMAS, proven, episode, rules, survivors), np.zeros(4)
    for pair, (first, last) in enumerate(pairwise(proven.starts)):
        slow = 0.0
        for c in survivors:
            mine, n = proven.seen[c, first:last], proven.visits[c, pair]
            rows = TwoRows(episode.here[first:last], episode.total[pair], mine, n)
            find_bet(GAMMAS, rows, rules.interval, rules.events, bet)
            slow += bet[RATE]
        assert fast[pair] == pytest.approx(slow)


def test_the_failure_probability_is_shared_out():
    assert sum(SHARES) == pytest.approx(1.0)
    rules = standards(16, 64, 200, 0.03, 0.5)
    assert math.exp(-rules.reject) * 200 == pytest.approx(0.4 * 0.03)
    assert math.exp(-rules.certify) * 200 * 64 == pytest.approx(0.4 * 0.03)
    assert math.exp(-rules.interval) * 200 * 64 == pytest.approx(0.1 * 0.03)
    assert math.exp(-rules.bound) * 200 * 200 == pytest.approx(0.1 * 0.03)
    assert rules.gap == 0.25


def flattering(rng, rows, proof, drawn):
    """Notes of other worlds; or of an adversary who knows the world and what is proven, and bets where that is low."""
    n_pairs, n_states = rows.shape
    if drawn:
        return [rng.multinomial(80, row) for row in rng.dirichlet(np.full(n_states, 0.5), n_pairs)]
    lucky = (proof / np.maximum(1, proof.sum(axis=1, keepdims=True)) < rows) * rows
    lucky = np.where(lucky.sum(axis=1, keepdims=True) > 0.0, lucky, rows)
    return np.rint(100 * lucky / lucky.sum(axis=1, keepdims=True)).astype(np.int64)


@pytest.mark.parametrize(
    ("drawn", "worlds"),
    [(False, 400), *(pytest.param(*one, marks=pytest.mark.long) for one in ((True, 400), (False, 1500), (True, 1500)))],
)
def test_the_wealth_against_the_true_world_has_a_mean_of_at_most_one(drawn, worlds):
    """Hundreds of worlds of 3 pairs and 4 successors, proven counts of 5 to 60 visits, 3 notes that nobody has proven.

    Visits go, 15 at a time, to the pair whose bet has won most so far, or at random: exploration that depends on the
    data, until 60 steps are over or the wealth exceeds 20.  Under the null the mean is at most 1, and 20 is exceeded
    with a chance of at most 1 / 20; false-alarm rates 0.1 % each.  In a world of the notes the wealth grows.
    """
    rng, found, power = np.random.default_rng(5), [], []
    for k in range(worlds):
        rows = rng.dirichlet(np.full(4, 0.5), 3)
        proof = np.array([rng.multinomial(rng.integers(5, 61), row) for row in rows])
        notes = [np.array(flattering(rng, rows, proof, drawn)) for _ in range(3)]
        noted, proven = both([proof, *notes], [proof] + [np.zeros_like(proof)] * 3)
        rules = standards(4, 3, 4, 0.5, 1.0)
        others = np.array([1, 2, 3], np.int64)
        for world, results in ((rows, found), (notes[0] / notes[0].sum(axis=1, keepdims=True), power)):
            if world is not rows and k >= 200:
                continue
            episode, ln = np.zeros((3, 4), np.int64), 0.0
            for _ in range(4):
                gains = []
                for pair in range(3):
                    alone = np.zeros_like(episode)
                    alone[pair] = episode[pair]
                    seen = at_places(noted, table_of(alone), 4)
                    gains.append(ln_against(GAMMAS, proven, noted, seen, rules, 0, others))
                pair = int(np.argmax(gains)) if k % 2 else int(rng.integers(3))
                episode[pair] += rng.multinomial(15, world[pair])
                seen = at_places(noted, table_of(episode), 4)
                ln = ln_against(GAMMAS, proven, noted, seen, rules, 0, others)
                if ln > math.log(20.0):
                    break
            results.append(ln)
    wealth = np.exp(found)
    assert (wealth != 1.0).mean() > 0.2  # bets were made
    assert wealth.mean() - 3.1 * wealth.std() / math.sqrt(len(wealth)) <= 1.0
    assert (wealth >= 20.0).sum() <= stats.binom.isf(1e-3, len(wealth), 1 / 20)
    assert np.mean(np.exp(power) >= 20.0) > 0.5


def test_a_cluster_is_rejected_and_certified_where_it_should_be():
    """Three worlds well known: the true one stays and is certified, the others are rejected."""
    rng = np.random.default_rng(0)
    rows = rng.dirichlet(np.full(5, 0.5), (3, 4))
    notes = [rng.multinomial(2000, rows[c]) for c in range(3)]
    for task in range(3):
        situation = notes, notes, rng.multinomial(800, rows[task])
        proven, noted, episode, rules = arranged(situation, failure=0.03, resolution=1.0, episodes=200)
        for c in range(3):
            others = np.array([i for i in range(3) if i != c], np.int64)
            assert is_rejected(GAMMAS, proven, noted, episode, rules, c, others) == (c != task)
        assert certified_pairs(GAMMAS, proven, episode, rules, task, 3).all()


def test_a_world_that_nobody_knows_is_rejected_without_an_alternative():
    """One cluster and no notes: only the differences can tell."""
    proof, episode = np.array([[400, 600]]), np.array([[500, 100]])
    proven, noted, episode, rules = arranged(([proof], [proof], episode), failure=0.03, episodes=200)
    nobody = np.empty(0, np.int64)
    assert ln_against(GAMMAS, proven, noted, episode, rules, 0, nobody) == -math.inf
    assert is_rejected(GAMMAS, proven, noted, episode, rules, 0, nobody)


def test_a_difference_rejects_as_soon_as_it_exceeds_its_share():
    """One hit more is a third of a nat, so a share that is twice as large, or half, would reject at another number."""
    proof, nobody, rejected = np.array([[4000, 6000]]), np.empty(0, np.int64), []
    for hits in range(400, 600):
        situation = [proof], [proof], np.array([[hits, 1000 - hits]])
        proven, noted, episode, rules = arranged(situation, failure=0.03, episodes=200)
        rejected.append(is_rejected(GAMMAS, proven, noted, episode, rules, 0, nobody))
        assert rejected[-1] == slow_rejected(proven, noted, episode, rules, 0, nobody)
    assert rejected == sorted(rejected)
    assert 50 < sum(rejected) < 150


def test_counts_that_are_only_noted_are_no_null():
    """A world that is not proven has no bound: it is never rejected, nor certified, however much its notes say."""
    note, episode = np.array([[900, 100]]), np.array([[100, 900]])
    nothing = np.zeros_like(note)
    proven, noted, episode, rules = arranged(([note, episode], [nothing, nothing], episode))
    assert not is_rejected(GAMMAS, proven, noted, episode, rules, 0, np.array([1]))
    assert not certified_pairs(GAMMAS, proven, episode, rules, 1, 1).any()
