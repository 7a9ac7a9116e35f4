"""A memory that re-reads its past: what it keeps is all that it needs, within its bounds."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aomultirl.agents import rereading
from aomultirl.agents.recall_memory import RecallMemory
from aomultirl.agents.rereading import FADING, Rereading
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import streams
from aomultirl.learning.row_likelihoods import ln_joint
from aomultirl.learning.world_rows import Entries
from counted_worlds import Counted, dense, seeds, slow_alpha, slow_ln_ml, slow_rows, some_counts

ROWS = ("counts", "alone", "own", "masses", "pooled", "together", "theta", "alpha", "shared")


class Life:
    """A memory and the episodes that it has met, of some worlds drawn at random."""

    def __init__(self, seed, n_states=3, n_actions=2, worlds=2, learns_rewards=False, visits=4):
        self.rng, self.stream = np.random.default_rng(seed), streams(seed, 1)[0]
        self.sizes, self.visits = (n_states, n_actions, learns_rewards), visits
        n_pairs = n_states * n_actions
        self.rows = self.rng.dirichlet(np.full(n_states, 0.3), (worlds, n_pairs))
        self.earns = self.rng.random((worlds, n_pairs))
        self.memory, self.values = RecallMemory(), np.zeros(n_states)
        self.reading = Rereading(self.memory, *self.sizes)
        self.met = []

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
        return self.reading.take_in(episode.table, episode.sums, self.values, self.stream)

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


@pytest.mark.parametrize("seed", [5, 9, 10, 43, 57])
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
    life.reading._make_one(0, 1)
    life.reading._write_down()
    check(life)
    assert worlds[0] is one
    assert two not in worlds
    assert (dense(one.counts, 3) == dense(counts, 3)).all()
    assert (one.episodes, one.met) == (episodes, pytest.approx(met))
    assert one.alone == pytest.approx(alone)
