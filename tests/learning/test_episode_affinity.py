"""How alike episodes are, two at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aomultirl.agents.parting import ways_to_part
from aomultirl.engine.random import streams
from aomultirl.learning.episode_affinity import COMPARED_SPREAD, COMPARING, ln_affinities, split_in_two, to_compare
from aomultirl.learning.regrouping import find_telling_rows
from aomultirl.learning.row_layout import Entries
from aomultirl.learning.world_rows import WorldRows, places_of
from counted_worlds import Counted, several_worlds, slow_alpha, slow_ln_ml, slow_rows


@settings(deadline=None, max_examples=60)
@given(several_worlds(least=1))
def test_affinity_is_how_much_likelier_one_world_is_than_two(case):
    rows, episodes = case.rows, [case.episode(), case.episode()]
    for episode in episodes:
        rows.make_places(episode.table)
    layout = rows.layout
    counts = case.rng.random(len(layout.kinds)) < 0.7
    both = [rows.entries(episode.table, episode.sums) for episode in episodes]
    found = ln_affinities(layout, rows.theta, rows.alpha, counts, both)
    slow, dense = 0.0, [slow_rows(layout, episode) for episode in episodes]
    for x in np.flatnonzero(counts):
        alpha, (one, other) = slow_alpha(rows, x), (episode[x] for episode in dense)
        slow += slow_ln_ml(one + other, alpha) - slow_ln_ml(one, alpha) - slow_ln_ml(other, alpha)
    assert found[1, 0] == pytest.approx(slow, abs=1e-7)
    assert not np.triu(found).any(), "each pair is worked out once"


def slow_split(rows, episodes, some):
    """The centred affinities of some episodes, about the mean of all, from dense rows."""
    layout, dense = rows.layout, [slow_rows(rows.layout, episode) for episode in episodes]
    alike = np.zeros((len(some), len(some)))
    for i, one in enumerate(some):
        for j, other in enumerate(some):
            for x in range(len(layout.kinds)):
                total = np.sum([episode[x] for episode in dense], axis=0)
                if i != j and dense[one][x].any() and dense[other][x].any():
                    alpha = np.maximum(COMPARED_SPREAD * total / total.sum(), 1e-9)
                    apart = slow_ln_ml(dense[one][x], alpha) + slow_ln_ml(dense[other][x], alpha)
                    alike[i, j] += slow_ln_ml(dense[one][x] + dense[other][x], alpha) - apart
    alike[np.diag_indices(len(some))] = alike.sum(axis=1) / (len(some) - 1)
    centre = np.eye(len(some)) - 1.0 / len(some)
    return centre @ alike @ centre


@settings(deadline=None, max_examples=30)
@given(several_worlds(least=1), st.integers(3, 7))
def test_parts_are_the_signs_of_the_leading_eigenvector(case, count):
    """The part of an episode that is not compared is left open."""
    rows, episodes = case.rows, [case.episode() for _ in range(count)]
    for episode in episodes:
        rows.make_places(episode.table)
    entries = [rows.entries(episode.table, episode.sums) for episode in episodes]
    mean = np.zeros(len(rows.pooled))
    for one in entries:
        mean[one.places] += one.counts
    some = case.rng.permutation(count)[:-1].tolist()
    part, slow = split_in_two(rows.layout, mean, entries, some), slow_split(rows, episodes, some)
    values, vectors = np.linalg.eigh(slow)
    leading = vectors[:, -1] * np.sign(vectors[0, -1])
    assert np.flatnonzero(part < 0).tolist() == [k for k in range(count) if k not in some]
    if len(some) > 1 and values[-1] - values[-2] > 1e-6 and abs(leading).min() > 1e-6:
        assert part[some].tolist() == (leading < 0.0).astype(int).tolist()


def test_the_latest_of_the_longer_half_are_compared_and_fewer_where_they_are_large():
    def episodes(*sizes):
        return [Entries(np.arange(size), np.ones(size)) for size in sizes]

    assert to_compare(episodes(*[5] * 10)) == list(range(10))
    assert to_compare(episodes(*[5] * 100)) == list(range(52, 100))
    assert to_compare(episodes(*[5, 9] * 100)) == list(range(105, 200, 2))
    assert to_compare(episodes(*[COMPARING // 100] * 20)) == list(range(11, 20))
    assert to_compare(episodes(*[COMPARING // 2] * 8)) == list(range(2, 8)), "not too few"


class Wards:
    """Episodes of two worlds with wide rows: one action in each state does something else in either."""

    def __init__(self, seed, episodes=16, steps=3.0, n_states=40, n_actions=10):
        rng = np.random.default_rng(seed)
        table = np.repeat(rng.dirichlet(np.full(n_states, 2.0), n_states)[:, None], n_actions, axis=1)
        strange = rng.dirichlet(np.full(n_states, 0.3), n_states)
        self.truth, self.episodes = rng.permutation(np.arange(episodes) % 2), []
        for w in self.truth:
            world = table.copy()
            world[:, w] = strange
            visits = [rng.multinomial(rng.poisson(steps), row) for row in world.reshape(-1, n_states)]
            self.episodes.append(Counted(np.array(visits), np.zeros(n_states), np.empty(0)))
        self.rows = WorldRows(
            n_states, n_actions, False, places_of([one.table for one in self.episodes], n_states, 400)
        )
        self.rows.add_world()
        self.entries = [self.rows.entries(one.table, one.sums) for one in self.episodes]
        for one in self.entries:
            self.rows.put(one, 0)
        self.rows.fit()

    def agree(self, part):
        """How many episodes are in the part of their world, whichever is called which."""
        same = int((np.asarray(part) == self.truth).sum())
        return max(same, len(self.truth) - same)


@pytest.mark.parametrize("seed", range(3))
def test_episodes_that_are_alike_are_put_together_where_no_row_tells_them_apart(seed):
    """Three visits of a row in an episode: of no row it is clear that it varies."""
    case = Wards(seed)
    layout = case.rows.layout
    part = split_in_two(layout, case.rows.counts[0], case.entries, list(range(16)))
    assert case.agree(part) == 16
    settled, stream = np.zeros(len(case.rows.pooled)), streams(seed, 1)[0]
    assert case.agree(next(ways_to_part(case.rows, 0, case.entries, settled, stream))) == 16
    starts = np.concatenate(([0], np.cumsum([len(one.places) for one in case.entries])))
    joined = (np.concatenate([getattr(one, name) for one in case.entries]) for name in Entries._fields)
    assert find_telling_rows(layout.owners, len(layout.kinds), starts, *joined).max() < 10.0


def test_what_is_settled_stays_in_the_old_world():
    case = Wards(7)
    settled = np.zeros(len(case.rows.pooled))
    for one, w in zip(case.entries, case.truth.tolist(), strict=True):
        if w == 1:
            settled[one.places] += one.counts
    left = [one for one, w in zip(case.entries, case.truth.tolist(), strict=True) if w == 0]
    more = Wards(7, episodes=16).entries
    members = [*left, *(one for one, w in zip(more, case.truth.tolist(), strict=True) if w == 1)]
    part = next(ways_to_part(case.rows, 0, members, settled, streams(0, 1)[0]))
    assert part.tolist() == [1] * 8 + [0] * 8
