import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import aomultirl as ao
from aomultirl.agents.base import Setting
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Simulator
from aomultirl.identifying.bets import LOSE, RATE, THETA, WIN, find_bets, ln_wealth, ratio
from aomultirl.identifying.certificates import certify_pair
from aomultirl.identifying.differences import differs
from aomultirl.identifying.e_values import Demand, gammas
from aomultirl.identifying.knowledge import TwoRows, knowledge
from aomultirl.identifying.sequential import (
    ACCEPTING,
    ALIVE,
    CHANGED,
    LEADER,
    OPEN,
    SETTLED,
    SURVIVING,
    event_weights,
    evidence,
    levels,
    observe,
)

GAMMAS = gammas(1 << 12)


def samples(transitions, visits, rng):
    """A cluster with so many visits of every pair; transitions: (S * A, S)."""
    counts = CountTable(len(transitions))
    for pair, row in enumerate(transitions):
        for successor, n in enumerate(rng.multinomial(visits, row / row.sum())):
            if n > 0:
                counts.count(pair, successor, n)
    return counts


# -- levels ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_states", [1, 2, 3, 4, 7, 12])
def test_event_weights_are_a_prior_over_events(n_states):
    """Of an event and its complement together, for they have the same confidence interval; not of all or nothing."""
    weights = event_weights(n_states)
    total = 0.0
    for size in range(1, n_states):
        for event in combinations(range(n_states), size):
            if 0 in event:  # one of each two complements
                total += math.exp(-weights[size])
            assert weights[size] == pytest.approx(weights[n_states - size])
    assert total <= 1.0 + 1e-12
    assert total == pytest.approx(sum(1.0 / (j * (j + 1)) for j in range(1, (n_states + 1) // 2)), abs=0.26)


@pytest.mark.parametrize("models", [None, 5])
def test_levels_spend_no_more_than_p(models):
    n_pairs, episodes, failure = 12, 40, 0.2
    split = ACCEPTING if models is None else SURVIVING
    assert sum(split) == pytest.approx(1.0)
    most = 5 if models else 300
    found = levels(4, n_pairs, 12, most, episodes, failure, 0.4, models)
    pool = models or episodes
    assert found.pool == pool
    assert found.gap == 0.4
    assert episodes * math.exp(-found.reject) == pytest.approx(failure * split.reject)
    assert episodes * math.exp(-found.certify) == pytest.approx(failure * split.accept)
    assert n_pairs * np.exp(-found.intervals).sum() <= failure * split.intervals + 1e-12
    assert pool * np.exp(-found.bounds).sum() <= failure * split.bounds + 1e-12
    # What a cluster was promised once must hold for ever.
    fewer = levels(4, n_pairs, 12, 2, episodes, failure, 0.4, models)
    assert np.array_equal(fewer.intervals, found.intervals[:2])
    assert np.array_equal(fewer.bounds, found.bounds[:2])
    assert np.array_equal(fewer.choice, found.choice[:2])
    assert np.exp(-found.choice).sum() <= 1.0 + 1e-12  # shares of a whole, however many clusters come


def test_wealth_is_divided_late_only_where_many_pairs_must_be_certified():
    assert levels(4, 64, 15, 2, 40, 0.2, 0.4, None).settle < 0.0
    assert levels(4, 64, 16, 2, 40, 0.2, 0.4, None).settle > 0.0


# -- observe --------------------------------------------------------------------------------------------------------


class SlowEvidence:
    """Everything worked out anew from the list of all transitions."""

    def __init__(self, known, targets, rules, certifying):
        self.known, self.targets, self.rules, self.certifying = known, targets, rules, certifying
        self.count, self.n_pairs = len(known.seen), len(known.starts) - 1
        self.past = []
        self.died = {}
        self.leader, self.settled_at, self.bits, self.certified = 0, None, {}, set()
        self.bets = np.zeros((self.count, self.count, self.n_pairs, 4))
        for pair in range(self.n_pairs):
            find_bets(GAMMAS, known, rules.intervals, rules.events, self.bets, pair)

    def place(self, pair, successor):
        row = self.known.states[self.known.starts[pair] : self.known.starts[pair + 1]].tolist()
        return self.known.starts[pair] + (row.index(successor) if successor in row else len(row) - 1)

    def here(self, since=0, until=None):
        counts = np.zeros(len(self.known.states), np.int64)
        for pair, successor in self.past[since:until]:
            counts[self.place(pair, successor)] += 1
        return counts

    def row(self, array, pair):
        return np.ascontiguousarray(array[..., self.known.starts[pair] : self.known.starts[pair + 1]])

    def scores(self):
        total = np.zeros(self.count)
        for pair, successor in self.past:
            length = len(self.row(self.known.states, pair))
            for c in range(self.count):
                d, n = self.known.seen[c, self.place(pair, successor)], self.known.visits[c, pair]
                total[c] += math.log((d + 0.5) / (n + 0.5 * length))
        return total

    def wealth(self):
        total = np.zeros((self.count, self.count))
        for c in range(self.count):
            for step, (pair, successor) in enumerate(self.past):
                if step <= self.died.get(c, math.inf):
                    place = self.place(pair, successor)
                    for rival in set(range(self.count)) - {c}:
                        bet = self.bets[c, rival, pair]
                        if bet[RATE] > 0.0:
                            seen, visits = self.known.seen[:, place], self.known.visits[:, pair]
                            inside = ratio(seen[rival], visits[rival], seen[c], visits[c]) >= bet[THETA]
                            total[c, rival] += bet[WIN] if inside else bet[LOSE]
        return total

    def rejected(self, c):
        rules, here = self.rules, self.here()
        if ln_wealth(self.wealth(), c, -math.inf) >= rules.reject - math.log(rules.betting):
            return True
        bound = rules.reject + math.log(2.0 * self.n_pairs / (1.0 - rules.betting))
        for pair in range(self.n_pairs):
            row, seen = self.row(here, pair), self.row(self.known.seen[c], pair)
            rows = TwoRows(row, int(row.sum()), seen, int(seen.sum()))
            if differs(GAMMAS, rows, rules.intervals[c], bound + rules.choice[c], rules.events):
                return True
        return False

    def shares(self):
        if self.rules.settle < 0.0 or self.settled_at is None:
            return np.full(self.count, -math.log(self.count))
        return self.divided

    def observe(self, pair, successor):
        """True if the leader or its certificates changed, or without certificates if any cluster died."""
        self.past.append((pair, successor))
        alive = [c for c in range(self.count) if c not in self.died]
        dead = [c for c in alive if self.rejected(c)]
        self.died |= dict.fromkeys(dead, len(self.past) - 1)
        alive = [c for c in alive if c not in dead]
        scores = self.scores()
        ranked = sorted(alive, key=lambda c: (-scores[c], c))
        leader = ranked[0] if ranked else -1
        changed, self.leader = leader != self.leader, leader
        if not self.certifying:
            return changed or bool(dead)
        lead = scores[leader] - scores[ranked[1]] if len(ranked) > 1 else math.inf if ranked else math.nan
        if self.settled_at is None and lead >= self.rules.settle:
            late, self.settled_at, changed = self.rules.settle >= 0.0, 0, True
            if late:
                self.settled_at = len(self.past)
                odds = np.exp(scores[alive] - scores[alive].max())
                self.divided = np.full(self.count, -math.log(self.count))
                self.divided[alive] = np.log(0.9 * odds / odds.sum() + 0.1 / len(alive))
        if changed:
            self.bits, self.certified = {}, set()
        before = len(self.certified)
        if leader >= 0 and self.settled_at is not None:
            for target in np.flatnonzero(self.targets):
                self.certify(int(target))
        return changed or len(self.certified) > before

    def certify(self, pair):
        here, seen = self.row(self.here(self.settled_at), pair), self.row(self.known.seen[self.leader], pair)
        rules = self.rules
        rows = TwoRows(here, int(here.sum()), seen, int(seen.sum()))
        demand = Demand(
            gap=rules.gap,
            level=rules.bounds[self.leader],
            pool=rules.pool * math.exp(rules.choice[self.leader]),
            enough=rules.certify - self.shares()[self.leader],
        )
        every, bits = certify_pair(GAMMAS, rows, np.zeros_like(here), demand, np.uint64(0))
        self.bits[pair] = self.bits.get(pair, 0) | int(bits)
        size = int((seen > 0).sum())
        if every or (self.bits[pair] == (1 << (1 << size)) - 1 and int(here.sum()) > 0):
            self.certified.add(pair)


@st.composite
def episodes(draw):
    """(clusters' rows, the world's rows, numbers): few pairs, so that much happens soon."""
    n_states = draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    known = rng.dirichlet(np.full(n_states, 0.3), (draw(st.integers(0, 3)), n_states))
    world = known[0] if len(known) and draw(st.booleans()) else rng.dirichlet(np.full(n_states, 0.3), n_states)
    visits = draw(st.sampled_from([5, 40, 150]))
    return [samples(rows, visits, rng) for rows in known], world, rng


@settings(deadline=None, max_examples=25)
@given(episodes(), st.sampled_from([-1.0, 1.5]), st.sampled_from([None, 3]), st.sampled_from([0.3, 0.6]))
def test_observe_equals_working_everything_out_anew(episode, settle, models, gap):
    clusters, world, rng = episode
    n_states = len(world)
    known = knowledge(clusters, n_states, n_states)
    rules = levels(n_states, n_states, n_states, len(clusters), 2, 0.9, gap, models)._replace(settle=settle)
    targets = rng.random(n_states) < 0.8
    seen, certifying = evidence(known, targets), models is None
    slow = SlowEvidence(known, targets, rules, certifying)
    for _ in range(50):
        pair = int(rng.integers(n_states))
        successor = int(rng.choice(n_states, p=world[pair]))
        seen.state[CHANGED] = 0
        observe(GAMMAS, known, seen, rules, pair, successor, certifying)
        if not clusters:
            slow.past.append((pair, successor))
            assert np.array_equal(seen.here, slow.here())
            continue
        changed = slow.observe(pair, successor)
        here = slow.here()
        assert np.array_equal(seen.here, here)
        assert np.array_equal(seen.total, np.add.reduceat(here, known.starts[:-1]))
        assert seen.scores == pytest.approx(slow.scores())
        assert seen.wealth == pytest.approx(slow.wealth())
        assert seen.alive.tolist() == [c not in slow.died for c in range(len(clusters))]
        assert seen.state[ALIVE] == seen.alive.sum()
        assert seen.state[LEADER] == slow.leader
        assert bool(seen.state[CHANGED]) == changed
        if certifying:
            assert bool(seen.state[SETTLED]) == (slow.settled_at is not None)
            assert np.array_equal(seen.before, slow.here(0, slow.settled_at or 0))
            assert seen.shares == pytest.approx(slow.shares())
            assert np.exp(seen.shares[seen.alive]).sum() <= 1.0 + 1e-9
            assert set(np.flatnonzero(seen.certified).tolist()) == slow.certified
            assert seen.state[OPEN] == targets.sum() - len(slow.certified)
            for pair, bits in slow.bits.items():
                assert pair in slow.certified or int(seen.done[pair]) == bits


# -- the wealth of bets as a guarantee ------------------------------------------------------------------------------


def explore(known, world, rules, rng):
    """ln of the wealth against cluster 0, the true one, at the end and at its most; and of the nominal Bayes factor.

    The explorer goes where the bets look best, or where the clusters look most different, and stops at a wealth of 20.
    """
    n_pairs = len(world)
    seen = evidence(known, np.ones(n_pairs, bool))
    shares = known.seen / np.maximum(1, known.visits[:, np.repeat(np.arange(n_pairs), np.diff(known.starts))])
    apart = np.add.reduceat(np.abs(shares[0] - shares[1]), known.starts[:-1])
    most = nominal = -math.inf
    for step in range(60):
        tried = np.where(seen.ready, seen.bets[0, 1, :, RATE], 1.0)
        worth = (tried, apart, rng.random(n_pairs))[step % 3]
        pair = int(np.argmax(worth))
        observe(GAMMAS, known, seen, rules, pair, int(rng.choice(len(world[0]), p=world[pair])), False)
        most = max(most, float(seen.wealth[0, 1]))
        nominal = max(nominal, float(seen.scores[1] - seen.scores[0]))
        if most >= math.log(20.0):
            break
    return float(seen.wealth[0, 1]), most, nominal


def is_fair(known, world, rules):
    """Whether a visit has a mean of at most 1 for every bet against cluster 0: so it is where its bounds hold."""
    bets = np.zeros((2, 2, len(world), 4))
    fair = True
    for pair, row in enumerate(world):
        find_bets(GAMMAS, known, rules.intervals, rules.events, bets, pair)
        bet, chance = bets[0, 1, pair], 0.0
        for i in range(known.starts[pair], known.starts[pair + 1] - 1):
            if ratio(known.seen[1, i], known.visits[1, pair], known.seen[0, i], known.visits[0, pair]) >= bet[THETA]:
                chance += row[known.states[i]]
        if bet[RATE] > 0.0:
            fair = fair and chance * math.exp(bet[WIN]) + (1.0 - chance) * math.exp(bet[LOSE]) <= 1.0 + 1e-9
    return fair


def test_the_wealth_against_the_true_cluster_has_a_mean_of_at_most_one():
    """Random worlds, young clusters, an explorer who looks at the evidence and stops when it pleases.

    The upper end of a 99.9 % interval of the mean lies below 1.  Bounds fail with a chance of at most p_CR = 0.3
    (false-alarm rate 0.1 %).  Nominal Bayes factors reach 20 in more than a twentieth of the runs, which Ville's
    inequality forbids: so many would have a chance of 0.1 % if they were valid.
    """
    rng = np.random.default_rng(5)
    runs, last, reached, nominal, failed, betting = 400, [], 0, 0, 0, 0
    for run in range(runs):
        true, other = rng.dirichlet(np.full(4, 0.5), (2, 3))
        rival = 0.7 * true + 0.3 * other if run % 2 else other
        visits = int(rng.integers(5, 9) if run % 2 else rng.integers(15, 30))
        known = knowledge([samples(true, visits, rng), samples(rival, 100, rng)], 3, 4)
        rules = levels(4, 3, 3, 2, 10, 0.9, 0.5, 2)
        rules = rules._replace(reject=1e9, intervals=np.full(2, math.log(3 / 0.3)))
        wealth, most, bayes = explore(known, true, rules, rng)
        fair = is_fair(known, true, rules)
        failed += not fair
        betting += wealth != 0.0
        last.append(math.exp(wealth) if fair else 0.0)
        reached += fair and most >= math.log(20.0)
        nominal += bayes >= math.log(20.0)
    assert betting > 100
    assert np.mean(last) + stats.norm.isf(1e-3) * np.std(last) / math.sqrt(runs) <= 1.0
    assert failed <= stats.binom.isf(1e-3, runs, 0.3)
    assert reached <= stats.binom.isf(1e-3, runs, 1.0 / 20.0)
    assert nominal > stats.binom.isf(1e-3, runs, 1.0 / 20.0)


# -- whole runs at an inflated p ------------------------------------------------------------------------------------

N_STATES, N_ACTIONS, SEPARATION = 8, 2, 1.2


def base(rng):
    """(S * A, S): one successor of 0.8 and two of 0.1 for each pair; the second action leads around, so all is near."""
    rows = np.zeros((N_STATES * N_ACTIONS, N_STATES))
    for pair in range(len(rows)):
        main = (pair // N_ACTIONS + 1) % N_STATES if pair % N_ACTIONS else int(rng.integers(N_STATES))
        others = rng.permutation(np.delete(np.arange(N_STATES), main))[:2]
        rows[pair, main], rows[pair, others] = 0.8, 0.1
    return rows


class Family:
    """A base world, and worlds that differ from it at one pair each by ``apart``."""

    def __init__(self, count, apart, rng, with_base=True):
        rows = base(rng)
        self.pairs = rng.permutation(len(rows))[:count].tolist()
        self.grown, every = [], [rows] if with_base else []
        for pair in self.pairs:
            other = rows.copy()
            least = int(np.flatnonzero(rows[pair] == 0.1)[0])
            other[pair, rows[pair].argmax()] -= apart / 2.0
            other[pair, least] += apart / 2.0
            self.grown.append((pair, least, rows[pair, least]))
            every.append(other)
        shape = N_STATES, N_ACTIONS, N_STATES
        self.worlds = [ao.MDP(rows.reshape(shape), np.zeros(shape[:2])) for rows in every]

    def flattered(self, cluster, past):
        """The world not shown yet whose event came most often in the cluster's samples, above what it should."""
        starts, states, visits = cluster.to_lists()
        best = {}
        for world, (pair, successor, chance) in enumerate(self.grown, 1):
            row = slice(starts[pair], starts[pair + 1])
            best[world] = visits[row][states[row] == successor].sum() / max(1, visits[row].sum()) - chance
        left = [world for world in best if world not in past]
        return max(left, key=best.__getitem__)


def uniformly(family, agent, past, episodes, rng):
    return int(rng.integers(len(family.worlds)))


def last_new(family, agent, past, episodes, rng):
    """The base world, and at last a new one."""
    return family.flattered(agent.clusters[0], past) if agent.clusters and len(past) == episodes - 1 else 0


def flattering(family, agent, past, episodes, rng):
    """Twice the base world, then always the new one that its samples flatter most."""
    return family.flattered(agent.clusters[0], past) if agent.clusters and len(past) >= 2 else 0


class Tally:
    """Runs, those with any wrong assignment, wrong merges, duplicates, abstentions and episodes."""

    def __init__(self):
        self.runs = self.wrong = self.merged = self.doubled = self.abstained = self.episodes = 0

    def play(self, family, choose, agent, episodes, seed):
        rng = np.random.default_rng([seed, 1])
        agent.begin(Setting(N_STATES, N_ACTIONS, np.zeros((N_STATES, N_ACTIONS)), episodes))
        sources, past, stands, before = streams(seed, 2 * episodes), [], {}, self.merged + self.doubled
        for episode in range(episodes):
            task = choose(family, agent, past, episodes, rng)
            past.append(task)
            world = family.worlds[task]
            stream = sources[2 * episode + 1]
            simulator = Simulator(world.alias_tables, world.gains, 0, sources[2 * episode], stream)
            report, _ = simulator.drive(agent.episode(0, stream))
            if report.new_cluster:
                self.doubled += task in stands.values()
                stands[report.cluster] = task
            elif report.cluster >= 0:
                self.merged += stands[report.cluster] != task
            self.abstained += report.abstained
        self.runs += 1
        self.episodes += episodes
        self.wrong += self.merged + self.doubled > before

    def below(self, share):
        """p-value of "the share of runs with any wrong assignment is at least this"."""
        return stats.binomtest(self.wrong, self.runs, share, alternative="less").pvalue


def tally(runs, choose, failure, apart, count=10, with_base=True, episodes=6, horizon=20_000, seed=0, **told):
    found = Tally()
    for run in range(runs):
        family = Family(count, apart, np.random.default_rng([seed, run]), with_base)
        agent = ao.agents.SequentialAOMultiRL(failure, horizon, **{"separation": SEPARATION, **told}, learning=False)
        found.play(family, choose, agent, episodes, 1000 * seed + run)
    return found


SCENES = {
    "one pair off by exactly lambda": {"choose": uniformly, "apart": SEPARATION, "count": 3},
    "just inside": {"choose": uniformly, "apart": 1.02 * SEPARATION, "count": 3},
    "ten novel worlds, each one pair off": {
        "choose": uniformly,
        "apart": SEPARATION,
        "with_base": False,
        "episodes": 12,
    },
    "a new world last": {"choose": last_new, "apart": SEPARATION, "episodes": 4},
    "the most flattered world": {"choose": flattering, "apart": SEPARATION, "samples": 60},
    "M is told": {"choose": uniformly, "apart": SEPARATION, "count": 3, "models": 4, "episodes": 12},
}


def assert_guaranteed(scene, failure, runs, seed):
    found = tally(runs, failure=failure, seed=seed, **SCENES[scene])
    assert found.below(failure) < 1e-3, vars(found)
    return found


QUICK = {("a new world last", 0.3), ("M is told", 0.5)}
"""Scenes and failure probabilities of the suite; all of them are long."""


@pytest.mark.parametrize(
    ("scene", "failure"),
    [
        pytest.param(scene, failure, marks=() if (scene, failure) in QUICK else pytest.mark.long)
        for scene in SCENES
        for failure in (0.3, 0.5)
    ],
)
def test_wrong_runs_stay_below_p(scene, failure):
    """That the share is p or more is refused at 0.1 %; with a true share of 2 % the false-alarm rate is below 1 %."""
    assert_guaranteed(scene, failure, 40, 1)


@pytest.mark.long
@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("failure", [0.3, 0.5])
def test_wrong_runs_stay_below_p_at_full_size(scene, failure):
    """The same at full size, where a share of nine tenths of p would fail with a chance of 90 %."""
    found = assert_guaranteed(scene, failure, 300, 2)
    assert found.abstained <= 0.02 * found.episodes


def test_wrong_runs_are_noticed():
    """The tests above can fail: told a separation that the worlds do not have, most runs merge what differs."""
    found = tally(20, flattering, 0.3, 0.5 * SEPARATION, seed=3, separation=1.5 * SEPARATION)
    assert found.below(0.3) > 0.5
    assert found.merged > 10


@pytest.mark.parametrize("failure", [0.3, pytest.param(0.5, marks=pytest.mark.long)])
def test_young_clusters_abstain(failure):
    """N_0 = 8 can hardly ever be certified: abstentions, and no wrong merge in any of 10 runs."""
    found = tally(10, flattering, failure, SEPARATION, horizon=1_500, seed=4, samples=8)
    assert found.merged == 0
    assert found.abstained > 0.3 * found.episodes


@pytest.mark.long
@pytest.mark.parametrize("failure", [0.3, 0.5])
def test_young_clusters_abstain_at_full_size(failure):
    found = tally(200, flattering, failure, SEPARATION, horizon=1_500, seed=5, samples=8)
    assert found.below(failure) < 1e-3, vars(found)
    assert found.merged <= 1
    assert found.abstained > 0.3 * found.episodes
