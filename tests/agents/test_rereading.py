"""A memory that re-reads its past: what it keeps is all that it needs, within its bounds."""

import copy
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

import aomultirl as ao
from aomultirl.agents import rereading
from aomultirl.agents.past_episodes import PastEpisode
from aomultirl.agents.recall_memory import RecallMemory
from aomultirl.agents.rereading import FADING, Rereading
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import streams
from aomultirl.learning.reward_levels import NOTHING_NOTED
from aomultirl.learning.row_likelihoods import ln_joint
from aomultirl.setting import Setting
from by_hand import play
from counted_worlds import Counted, dense, seeds, slow_alpha, slow_ln_ml, slow_rows

ROWS = ("counts", "alone", "own", "masses", "pooled", "together", "theta", "alpha", "shared")


class Life:
    """A memory and the episodes that it has met, of some worlds drawn at random."""

    def __init__(self, seed, n_states=3, n_actions=2, worlds=2, learns_rewards=False, visits=4):
        self.rng, self.stream = np.random.default_rng(seed), streams(seed, 1)[0]
        self.sizes, self.visits = (n_states, n_actions, learns_rewards), visits
        n_pairs = n_states * n_actions
        self.rows = self.rng.dirichlet(np.full(n_states, 0.3), (worlds, n_pairs))
        self.earns = self.rng.random((worlds, n_pairs))
        self.reading, self.values = Rereading(RecallMemory(levels=np.empty(0)), *self.sizes), np.zeros(n_states)
        self.met = []

    @property
    def memory(self):
        """What files keep, tables of counts included."""
        self.reading.write_down()
        return self.reading.memory

    def draw(self, world):
        """One more episode of a world; some pairs are not visited."""
        times = self.rng.integers(0, self.visits + 1, len(self.rows[world]))
        visits = np.array([self.rng.multinomial(n, row) for n, row in zip(times, self.rows[world], strict=True)])
        ends = self.rng.integers(0, 2, self.sizes[0]) * (self.rng.random(self.sizes[0]) < 0.3)
        sums = self.rng.random(len(times)) * times * self.earns[world]
        return Counted(visits, ends, sums if self.sizes[2] else np.empty(0))

    def take_in(self, world=None, counted=None):
        """Take in an episode; look back must follow."""
        episode = self.draw(int(self.rng.integers(len(self.rows)))) if world is None else self.draw(world)
        episode = counted or episode
        self.met.append(episode)
        return self.reading.take_in(episode.table, episode.sums, NOTHING_NOTED, self.values, self.stream)

    def live(self, episodes, world=None):
        for _ in range(episodes):
            self.take_in(world)
            self.reading.look_back(self.stream)
        return self

    def found_cluster(self, past):
        """What was taken in last founds a cluster, and is settled in it."""
        world = self.memory.worlds[past.world]
        world.number = sum(other.proven is not None for other in self.memory.worlds)
        world.proven = CountTable(len(self.met[-1].visits))
        world.proven.add(self.met[-1].table)
        self.reading.settle(past, world)
        return world


def bits(reading):
    rows = reading.rows
    found = {name: getattr(rows, name).tobytes() for name in ROWS}
    return found | {name: getattr(rows.layout, name).tobytes() for name in ("first", "outcomes", "kinds", "owners")}


def check(life):
    """Memory holds all that the rows are made of, and nothing that a file would be refused for."""
    memory, (n_states, n_actions, learns_rewards) = life.memory, life.sizes
    memory.check(n_states, n_states * n_actions, learns_rewards)
    again = Rereading(copy.deepcopy(memory), *life.sizes)
    mine, theirs = bits(life.reading), bits(again)
    assert [name for name in mine if mine[name] != theirs[name]] == []
    sizes = np.bincount([past.world for past in memory.past], minlength=len(memory.worlds))
    for world, inside in zip(memory.worlds, sizes.tolist(), strict=True):
        assert world.episodes >= max(1, inside)
        assert world.met >= 0.0


lives = st.builds(
    Life, seeds, st.integers(1, 4), st.integers(1, 2), worlds=st.integers(1, 3), learns_rewards=st.booleans()
)


@settings(deadline=None, max_examples=40)
@given(lives, st.lists(st.sampled_from(["episode", "episode", "episode", "found", "join"]), min_size=1, max_size=14))
def test_rows_are_those_of_a_memory_that_was_written_down(life, events):
    """After every episode, to the bit: who saves an agent and loads it goes on as if nothing had happened."""
    for event in events:
        past = life.take_in()
        proven = [world for world in life.memory.worlds if world.proven is not None]
        if event == "found" and life.memory.worlds[past.world] not in proven:
            life.found_cluster(past)
        elif event == "join" and proven:
            life.reading.settle(past, proven[0])
        life.reading.look_back(life.stream)
        check(life)
    total = sum((episode.visits for episode in life.met), np.zeros_like(life.met[0].visits))
    kept = sum(dense(world.counts, life.sizes[0]) for world in life.memory.worlds)
    assert (kept == total).all(), "every transition is in one world"
    assert sum(world.episodes for world in life.memory.worlds) == len(life.met) == life.memory.met


@pytest.mark.parametrize("seed", [5, *(pytest.param(seed, marks=pytest.mark.long) for seed in (9, 10, 43, 57))])
@pytest.mark.parametrize("learns_rewards", [False, True])
def test_fractions_of_rewards_do_not_drift_from_what_is_written_down(seed, learns_rewards):
    """Forty episodes, most of which are taken out of their world and put back several times."""
    life = Life(seed, learns_rewards=learns_rewards)
    for _ in range(40):
        life.live(1)
        check(life)


@pytest.mark.parametrize("seed", range(19, 24))
@pytest.mark.parametrize("learns_rewards", [False, True])
def test_worlds_that_become_one_are_as_if_they_had_always_been(seed, learns_rewards):
    life = Life(seed, worlds=3, learns_rewards=learns_rewards).live(14)
    worlds = life.memory.worlds
    assert len(worlds) > 1
    one, two = worlds[:2]
    counts, episodes, met = one.counts, one.episodes + two.episodes, one.met + two.met
    counts.add(two.counts)
    alone = one.alone + two.alone
    life.reading.make_one(0, 1)
    life.reading.write_down()
    check(life)
    assert worlds[0] is one
    assert two not in worlds
    assert (dense(one.counts, 3) == dense(counts, 3)).all()
    assert (one.episodes, one.met) == (episodes, pytest.approx(met))
    assert one.alone == pytest.approx(alone)


# -- where episodes are put --------------------------------------------------------------------------------


def slow_posterior(life, episode):
    """Of every world, and of a new one: so many episodes, or 1, times the rise of the joint likelihood of all rows."""
    rows, sizes, scores = life.reading.rows, [world.episodes for world in life.memory.worlds], []
    entries = rows.entries(episode.table, episode.sums)

    def joint():
        return ln_joint(rows.layout.kinds, rows.own, rows.together, rows.shared, np.ones(rows.count))

    rows.add_world()
    rows.weigh()
    before = joint()
    for world, size in enumerate([*sizes, 1]):
        rows.put(entries, world)
        scores.append(np.log(size) + joint() - before)
        rows.put(entries, world, -1.0)
    rows.remove_world(rows.count - 1)
    shares = np.exp(np.array(scores) - max(scores))
    return shares / shares.sum()


def test_a_world_is_drawn_from_the_posterior():
    """3,000 draws for an episode of which it is in doubt what it was: chi square, false alarm 1e-6."""
    life = Life(3, n_states=2, n_actions=1, worlds=2, visits=3).live(9)
    life.reading.rows.make_places(life.draw(0).table)
    episode = next(one for one in map(life.draw, [0, 1] * 20) if np.ptp(slow_posterior(life, one)) < 0.6)
    life.reading.rows.make_places(episode.table)
    shares, entries = slow_posterior(life, episode), life.reading.rows.entries(episode.table, episode.sums)
    past = PastEpisode(*entries, world=-1, sure=0.0)
    assert shares.max() < 0.9
    often = np.zeros(len(shares))
    for _ in range(3000):
        place, sure = life.reading._draw(past, life.values, life.stream, is_new=True)
        assert sure == pytest.approx(shares[place])
        often[place] += 1
        if len(life.memory.worlds) == len(shares):
            life.reading.remove(place)
    expected = 3000 * shares
    likely = expected > 5.0
    assert likely.sum() > 1
    assert ((often - expected) ** 2 / expected)[likely].sum() < chi2.isf(1e-6, likely.sum() - 1)


def test_an_episode_that_is_not_new_founds_no_world_unless_there_is_none_that_it_may_be():
    for seed in range(8):
        life = Life(seed, worlds=2).live(4)
        before = len(life.memory.worlds)
        for world in (0, 1) * 5:
            episode = life.draw(world)
            life.reading.take_in(episode.table, episode.sums, NOTHING_NOTED, life.values, life.stream, is_new=False)
        assert len(life.memory.worlds) == before
        barred, episode = list(life.memory.worlds), life.draw(0)
        past = life.reading.take_in(
            episode.table, episode.sums, NOTHING_NOTED, life.values, life.stream, barred, is_new=False
        )
        assert life.memory.worlds[past.world] not in barred


def test_an_episode_is_put_in_no_world_that_it_is_proven_not_to_be():
    for seed in range(8):
        life = Life(seed, worlds=1).live(6, world=0)
        barred = [world for world in life.memory.worlds if world.episodes > 1]
        episode = life.draw(0)
        past = life.reading.take_in(episode.table, episode.sums, NOTHING_NOTED, life.values, life.stream, barred)
        assert life.memory.worlds[past.world] not in barred
        assert 0.0 < past.sure <= 1.0


@settings(deadline=None, max_examples=10)
@given(lives)
def test_names_are_never_given_twice_and_lately_met_worlds_weigh_most(life):
    named = {}
    for k in range(20):
        before = {world.name: world.met for world in life.memory.worlds}
        past = life.take_in()
        world = life.memory.worlds[past.world]
        assert world.met == pytest.approx(FADING * before.get(world.name, 0.0) + 1.0)
        for other in life.memory.worlds:
            if other is not world:
                assert other.met == pytest.approx(FADING * before[other.name])
        life.reading.look_back(life.stream)
        for world in life.memory.worlds:
            assert named.setdefault(world.name, world) is world
            assert 0 <= world.name < life.memory.named
        assert life.memory.met == k + 1


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.long) for seed in (2, 3))])
def test_episodes_of_two_worlds_are_told_apart_in_the_end(seed):
    """Forty short episodes.  The first ones may be mistaken for another world; what is read again mends it."""
    life = Life(seed, n_states=4, worlds=2, visits=6)
    truth = life.rng.integers(0, 2, 40)
    pasts = []
    for world in truth.tolist():
        pasts.append(life.take_in(world))
        life.reading.look_back(life.stream)
    found = np.array([past.world for past in pasts])
    for world in range(len(life.memory.worlds)):
        assert len(set(truth[found == world].tolist())) == 1, "no world holds episodes of both"
    assert np.sort(np.bincount(found))[-2:].sum() >= 38, "and hardly any stand apart"
    assert np.mean([past.sure for past in pasts]) > 0.9


# -- going through all worlds ------------------------------------------------------------------------------


@settings(deadline=None, max_examples=25)
@given(lives, st.integers(4, 12))
def test_merging_and_parting_make_the_joint_likelihood_rise(life, episodes):
    life.live(episodes)
    reading, worlds = life.reading, life.memory.worlds
    before, count = reading.joint(), len(worlds)
    reading._merge()
    assert reading.joint() >= before - 1e-9
    assert (len(worlds) < count) == (reading.joint() > before + 1e-9)
    for world in list(worlds):
        before, shared = reading.joint(), reading.rows.shared.copy()
        new = reading._part(world, life.stream)
        if new is None:
            assert reading.joint() == pytest.approx(before)
            assert (reading.rows.shared == shared).all()
        else:
            assert reading.joint() > before
            assert new.episodes > 0
            assert world.episodes > 0
    reading.write_down()
    check(life)


def signs(counts, is_spread):
    """A memory of worlds with a sign each; episodes that showed the sign of none of them are spread over all."""
    life = Life(3, n_states=5, n_actions=1, worlds=1)
    n_worlds = 3 if is_spread else len(counts)
    pasts = []
    for sign, count in enumerate(counts):
        for k in range(count):
            visits = np.zeros((5, 5), int)
            visits[0, 1 + sign] = 1
            pasts.append(life.take_in(counted=Counted(visits, np.zeros(5, int), np.empty(0))))
            pasts[-1].wanted = sign if sign < n_worlds else k % n_worlds
    while len(life.memory.worlds) < n_worlds:
        life.reading.found(life.values)
    for past in pasts:
        life.reading.move([past], past.world, past.wanted)
        del past.wanted
    for number, past in enumerate(pasts):
        past.sure = 1.0 if is_spread and number < sum(counts[:n_worlds]) else 0.5
    for place in reversed(range(n_worlds, len(life.memory.worlds))):
        life.reading.remove(place)
    life.reading.rows.fit()
    life.reading.sum_alone()
    return life, pasts


def test_a_world_is_gathered_from_episodes_that_were_spread_over_others():
    """Each world holds ten that are none of its own; no world is worth parting, together they are worth a world."""
    life, pasts = signs([30, 30, 30, 30], is_spread=True)
    reading, worlds = life.reading, life.memory.worlds
    for place in range(3):  # what one world would gain by letting them go
        before, shared = reading.joint(), reading.rows.shared.copy()
        new, leaving = reading.found(life.values), [past for past in pasts[90:] if past.world == place]
        reading.move(leaving, place, new)
        assert reading.joint() < before + 2.0
        reading.move(leaving, new, place)
        reading.withdraw(new)
        reading.rows.shared[:] = shared
    before, met = reading.joint(), sum(world.met for world in worlds)
    reading._gather(life.stream)
    assert reading.joint() > before + 10.0
    assert len(worlds) == 4
    assert [past.world for past in pasts] == [sign for sign in range(4) for _ in range(30)]
    assert [world.episodes for world in worlds] == [30] * 4
    assert sum(world.met for world in worlds) == pytest.approx(met)
    reading.write_down()
    check(life)


def test_going_through_all_worlds_gathers(monkeypatch):
    """Without it three worlds stay three, and share the episodes of the fourth."""
    found = []
    for gathers in (True, False):
        if not gathers:
            monkeypatch.setattr(Rereading, "_gather", lambda *_: None)
        life, pasts = signs([30, 30, 30, 30], is_spread=True)
        life.reading.review(life.stream)
        found.append((len(life.memory.worlds), len({past.world for past in pasts[90:]})))
    assert found == [(4, 1), (3, 3)]


def test_nothing_is_gathered_where_every_episode_is_in_its_world():
    life, pasts = signs([15, 15, 15], is_spread=False)
    before, where, named = bits(life.reading), [past.world for past in pasts], life.memory.named
    life.reading._gather(life.stream)
    after = bits(life.reading)
    assert [past.world for past in pasts] == where
    assert life.memory.named == named
    assert [name for name in before if before[name] != after[name] and name != "alone"] == []
    assert len(life.memory.worlds) == 3


def test_episodes_that_were_put_together_leave_their_world_as_worlds_become_one(monkeypatch):
    """A block of twenty that either world explains: drawn as one episode is, it would go to and fro."""

    def moves(margin):
        monkeypatch.setattr(rereading, "MARGIN", margin)
        life, pasts = signs([40, 40], is_spread=False)
        reading, memory = life.reading, life.memory
        block = pasts[0]
        for other in pasts[1:20]:
            block = block.joined(other)
        memory.past[:] = [block, *(past for past in pasts if past not in pasts[:20])]
        scores = np.zeros(3)
        monkeypatch.setattr(reading, "scores", lambda _: scores.copy())
        places = []
        for _ in range(30):
            reading._reread(block, life.stream)
            places.append(block.world)
        return len(set(places))

    assert moves(0.0) > 1
    assert moves(0.69) == 1


@settings(deadline=None, max_examples=25)
@given(lives)
def test_alone_is_the_sum_over_episodes_of_ln_ml(life):
    """After all worlds were gone through; what can no longer be read again is one episode, worth all of its visits."""
    life.live(9)
    life.reading.review(life.stream)
    assert life.reading.rows.alone == pytest.approx(slow_alone(life), abs=1e-6)
    life.memory.past[:2] = []
    life.reading.sum_alone()
    assert life.reading.rows.alone == pytest.approx(slow_alone(life), abs=1e-6)
    life.reading.write_down()
    check(life)


def slow_alone(life):
    rows = life.reading.rows
    slow, left = np.zeros(rows.alone.shape), rows.counts.copy()
    for past in life.memory.past:
        counts = np.zeros(rows.counts.shape[1])
        counts[past.places] = past.counts
        left[past.world] -= counts
        slow[past.world] += ln_ml_by_row(rows, counts)
    for world in range(len(slow)):
        settled = np.where(left[world] > 1e-9, left[world], 0.0)
        visits = [settled[a:b].sum() for a, b in zip(rows.layout.first[:-1], rows.layout.first[1:], strict=True)]
        slow[world] += ln_ml_by_row(rows, settled) - np.log(np.maximum(1.0, visits))
    return slow


def ln_ml_by_row(rows, counts):
    first = rows.layout.first
    return [slow_ln_ml(counts[first[x] : first[x + 1]], slow_alpha(rows, x)) for x in range(len(rows.theta))]


def test_proven_worlds_never_become_one_and_others_join_them():
    """Two clusters and a loose world with the same counts: the loose one joins, the clusters stay two."""
    life = Life(0, worlds=1, visits=8)
    for _ in range(2):
        barred = list(life.memory.worlds)
        episode = life.draw(0)
        life.met.append(episode)
        life.found_cluster(
            life.reading.take_in(episode.table, episode.sums, NOTHING_NOTED, life.values, life.stream, barred)
        )
    clusters = list(life.memory.worlds)
    episode = life.draw(0)
    life.met.append(episode)
    life.reading.take_in(episode.table, episode.sums, NOTHING_NOTED, life.values, life.stream, clusters)
    assert len(life.memory.worlds) == 3
    life.reading.review(life.stream)
    life.reading.look_back(life.stream)
    assert life.memory.worlds == clusters
    assert [world.number for world in clusters] == [0, 1]
    assert sum(world.episodes for world in clusters) == 3
    life.live(20, world=0)
    assert all(world in life.memory.worlds for world in clusters)
    check(life)


def test_all_worlds_are_gone_through_when_there_is_an_eighth_more_episodes():
    life, at = Life(0), []
    life.reading.review = lambda stream: at.append(life.memory.met)
    life.live(40)
    assert at == [*range(4, 17), 18, 20, 22, 24, 27, 30, 33, 37]


# -- bounds ------------------------------------------------------------------------------------------------


def test_the_oldest_episodes_of_a_world_are_put_together(monkeypatch):
    monkeypatch.setattr(rereading, "MOST_PAST", 5)
    life, pasts, total = Life(1), [], np.zeros((6, 3))
    for k in range(20):
        pasts.append(life.take_in())
        total += life.met[-1].visits
        life.reading.look_back(life.stream)
        past, worlds = life.memory.past, len(life.memory.worlds)
        assert len(past) <= max(5, worlds)
        assert sum(episode.episodes for episode in past) == k + 1
        alone = [episode for episode in past if episode.episodes == 1]
        assert all(episode in pasts for episode in alone)
        assert pasts[-1] in alone or worlds > 3
        assert (sum(dense(world.counts, 3) for world in life.memory.worlds) == total).all()
        check(life)


def test_entries_of_past_episodes_are_bounded(monkeypatch):
    monkeypatch.setattr(rereading, "MOST_ENTRIES", 40)
    life = Life(2)
    for _ in range(20):
        life.live(1)
        entries = sum(len(past.places) for past in life.memory.past)
        assert entries <= 40 or len(life.memory.past) == 1
        check(life)
    assert len(life.memory.past) < 20


def test_worlds_that_no_cluster_stands_on_are_bounded(monkeypatch):
    """Those met least lately go, with their episodes; clusters stay."""
    monkeypatch.setattr(rereading, "MOST_WORLDS", 2)
    life = Life(4, n_states=5, worlds=6, visits=12)
    clusters = []
    for k in range(18):
        past = life.take_in(k % 6)
        if k in (0, 1):
            clusters.append(life.found_cluster(past))
        before = {world.name: world.met for world in life.memory.worlds}
        life.reading.look_back(life.stream)
        assert len(life.memory.worlds) <= max(2, len(clusters))
        assert all(world in life.memory.worlds for world in clusters)
        check(life)
        gone = set(before) - {world.name for world in life.memory.worlds}
        loose = [world.name for world in life.memory.worlds if world not in clusters and world.name in before]
        assert not gone or not loose or min(before[name] for name in gone) <= max(before[name] for name in loose)
    assert sum(dense(world.counts, 5).sum() for world in life.memory.worlds) < sum(one.visits.sum() for one in life.met)


def test_the_world_that_was_met_least_lately_is_dropped(monkeypatch):
    life = Life(0, n_states=4, worlds=5, visits=9).live(10)
    worlds = life.memory.worlds
    assert len(worlds) > 2
    for number, world in enumerate(worlds):
        world.met = float(number != 1) * (1.0 + number)
    worlds[0].met, worlds[0].proven = 0.0, worlds[0].counts
    monkeypatch.setattr(rereading, "MOST_WORLDS", len(worlds) - 1)
    kept = [world for place, world in enumerate(worlds) if place != 1]
    held = [past for past in life.memory.past if past.world != 1]
    life.reading._forget()
    assert worlds == kept
    assert life.memory.past == held


@settings(deadline=None, max_examples=20)
@given(lives)
def test_what_is_settled_never_moves(life):
    """The counts of episodes that are proven to be of a world stay there, whatever is read again."""
    life.take_in()
    host = life.found_cluster(life.memory.past[-1])
    life.reading.look_back(life.stream)
    settled = life.met[0].visits.copy()
    for k in range(14):
        past = life.take_in()
        if k % 4 == 0:
            life.reading.settle(past, host)
            settled += life.met[-1].visits
        life.reading.look_back(life.stream)
        assert past in life.memory.past or k % 4 == 0
        assert (dense(host.counts, life.sizes[0]) >= settled).all()
    place = life.memory.worlds.index(host)
    held = life.reading.settled_in(place, [past for past in life.memory.past if past.world == place])
    slow = slow_rows(life.reading.rows.layout, Counted(settled, np.zeros(life.sizes[0]), np.zeros(len(settled))))
    n_pairs = life.reading.rows.layout.n_pairs
    assert held[: life.reading.rows.layout.first[n_pairs]] == pytest.approx(np.concatenate(slow[:n_pairs]))


def test_rewards_are_brought_to_another_range():
    """times 0.5, plus 0.25: worlds and past episodes are as if they had earned that."""
    life = Life(7, learns_rewards=True).live(12)
    life.reading.rescale_rewards(0.5, 0.25)
    check(life)
    rows = life.reading.rows
    for past, episode in zip(life.memory.past, life.met, strict=True):
        n = episode.visits.sum(axis=1)
        slow = rows.entries(episode.table, 0.5 * episode.sums + 0.25 * n)
        assert past.places.tolist() == slow.places.tolist()
        assert past.counts == pytest.approx(slow.counts)
    total = np.zeros_like(rows.pooled)
    for past in life.memory.past:
        total[past.places] += past.counts
    assert rows.pooled == pytest.approx(total)
    life.live(10)
    check(life)


def test_a_world_that_would_be_new_by_far_but_is_not_new_warns_of_nothing():
    """Worlds that differ in rewards alone: an episode is 700 nats likelier in a world of its own, and not new."""
    rows = ao.worlds.random_models(10, 2, 2, 3, 1.0, 0)[0].successors
    paid = np.zeros((10, 2))
    paid[::2] = 1.0
    worlds = ao.MDP(rows, paid), ao.MDP(rows, 1.0 - paid)
    agent = ao.agents.Recall(0.05, 3000, rewards="unknown")
    agent.begin(Setting(10, 2, None, 12))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in range(12):
            play(agent, worlds[k % 2], 0, k)
    assert len(agent.worlds) == 2
