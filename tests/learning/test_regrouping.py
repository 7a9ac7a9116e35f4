import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aomultirl.learning.regrouping import (
    SPREADS,
    find_telling_rows,
    ln_gain_of_merging,
    part_episodes,
    score_episode,
)
from aomultirl.learning.row_likelihoods import END, ln_joint
from aomultirl.learning.world_rows import Entries, WorldRows, places_of
from counted_worlds import Counted, several_worlds, slow_alpha, slow_ln_ml, slow_row_joint, slow_rows


def put_together(rows, episodes):
    """(starts, places, counts) of episodes, as kernels take them."""
    entries = [rows.entries(episode.table, episode.sums) for episode in episodes]
    starts = np.concatenate(([0], np.cumsum([len(one.places) for one in entries]))).astype(np.int64)
    return starts, *(np.concatenate([getattr(one, name) for one in entries]) for name in Entries._fields)


def score(rows, entries):
    layout = rows.layout
    numbers = (rows.own, rows.together, rows.pooled, rows.theta, rows.alpha, rows.shared)
    return score_episode(layout.owners, layout.kinds, rows.counts, rows.masses, *numbers, *entries)


@settings(deadline=None, max_examples=100)
@given(several_worlds(), st.booleans())
def test_scores_are_differences_of_joint_likelihoods(case, places):
    """In every world and in a new one, with places for all that the episode saw or, where it fits, without new ones."""
    rows, episode = case.rows, case.episode()
    if case.worlds and not places:  # only what is known
        known = sum(world.visits for world in case.worlds) > 0
        episode = episode._replace(visits=episode.visits * known)
        episode = episode._replace(sums=np.minimum(episode.sums, episode.visits.sum(axis=1)[: len(episode.sums)]))
    rows.make_places(episode.table)
    found = score(rows, rows.entries(episode.table, episode.sums))
    mine = slow_rows(rows.layout, episode)
    dense = [slow_rows(rows.layout, world) for world in case.worlds] + [[np.zeros(len(row)) for row in mine]]
    slow = np.zeros(len(dense))
    for x in range(len(mine)):
        counts = [world[x] for world in dense]
        for w in range(len(dense)):
            changed = [row + mine[x] if i == w else row for i, row in enumerate(counts)]
            slow[w] += slow_row_joint(rows, x, changed)[0] - slow_row_joint(rows, x, counts)[0]
    assert found == pytest.approx(slow, abs=1e-7)


@settings(deadline=None, max_examples=100)
@given(several_worlds(least=2, most=4), st.data())
def test_merging_gains_what_the_joint_likelihood_rises_by(case, data):
    rows, count = case.rows, len(case.worlds)
    i, j = data.draw(st.permutations(range(count)))[:2]
    sizes = case.rng.integers(1, 9, count).astype(float)
    kinds, numbers = rows.layout.kinds, (rows.own, rows.together, rows.theta, rows.alpha, rows.shared, sizes)
    gain = ln_gain_of_merging(rows.layout.first, kinds, rows.counts, *numbers, i, j)
    before = ln_joint(kinds, rows.own, rows.together, rows.shared, sizes)
    rows.counts[i] += rows.counts[j]
    rows.remove_world(j)
    sizes[i] += sizes[j]
    after = ln_joint(kinds, rows.own, rows.together, rows.shared, np.delete(sizes, j))
    assert gain == pytest.approx(after - before, abs=1e-7)


@settings(deadline=None, max_examples=60)
@given(several_worlds(least=1), st.integers(1, 5))
def test_telling_rows_are_those_that_vary_more_than_chance_allows(case, count):
    """ln of a Dirichlet about the common mean against the mean itself, for the best of SPREADS."""
    rows, episodes = case.rows, [case.episode() for _ in range(count)]
    for episode in episodes:
        rows.make_places(episode.table)
    starts, *entries = put_together(rows, episodes)
    found = find_telling_rows(rows.layout.owners, len(rows.layout.kinds), starts, *entries)
    dense = [slow_rows(rows.layout, episode) for episode in episodes]
    for x in range(len(rows.layout.kinds)):
        pooled, gains = sum(episode[x] for episode in dense), [0.0]
        for spread in SPREADS if pooled.sum() > 0 else ():
            mean = pooled / pooled.sum()
            total = 0.0
            for row in (episode[x][mean > 0] for episode in dense):
                p = mean[mean > 0]
                varying = slow_ln_ml(row, spread * p)
                total += varying - (row * np.log(p)).sum()
            gains.append(total)
        assert found[x] == pytest.approx(max(gains), abs=1e-7)


def test_a_row_that_changes_from_episode_to_episode_tells_and_one_that_is_the_same_does_not():
    """Twelve episodes of 20 visits a row: the second row leads elsewhere in half of them."""
    rng, visits = np.random.default_rng(3), []
    for k in range(12):
        turned = [0.9, 0.1] if k % 2 else [0.1, 0.9]
        visits.append(np.array([rng.multinomial(20, [0.7, 0.3]), rng.multinomial(20, turned)]))
    episodes = [Counted(one, np.zeros(2), np.empty(0)) for one in visits]
    rows = WorldRows(2, 1, False, places_of([episode.table for episode in episodes], 2, 2))
    starts, *entries = put_together(rows, episodes)
    same, turned, *ends = find_telling_rows(rows.layout.owners, 4, starts, *entries)
    assert same < 2.0
    assert turned > 20.0
    assert ends == [0.0, 0.0]


# -- parting -----------------------------------------------------------------------------------------------


class TwoWorlds:
    """Episodes of two worlds that share all rows but a few, all taken for one."""

    def __init__(self, seed, kind, episodes=24, visits=6, n_states=5, n_actions=2):
        rng = np.random.default_rng(seed)
        n_pairs = n_states * n_actions
        probs = np.tile(rng.dirichlet(np.full(n_states, 0.4), n_pairs), (2, 1, 1))
        ending = np.zeros((2, n_states))
        if kind == "rows":
            probs[1, :2] = np.roll(probs[0, :2], 1, axis=1)
        else:
            ending[0, 3], ending[1, 4] = 0.9, 0.9
        self.truth, self.episodes = rng.permutation(np.arange(episodes) % 2), []
        for w in self.truth:
            counted = np.array([rng.multinomial(visits, row) for row in probs[w]])
            ends = rng.binomial(2, ending[w])
            counted[3 * n_actions : 4 * n_actions] //= 1 + (ending[w, 3] > 0) * visits
            counted[4 * n_actions :] //= 1 + (ending[w, 4] > 0) * visits
            self.episodes.append(Counted(counted, ends, np.empty(0)))
        keys = places_of([one.table for one in self.episodes], n_states, n_pairs)
        self.rows = WorldRows(n_states, n_actions, False, keys)
        self.rows.add_world()
        for episode in self.episodes:
            self.rows.put(self.rows.entries(episode.table, episode.sums), 0)
        self.rows.fit()

    def seeds(self):
        """The first of either world."""
        return np.array([np.flatnonzero(self.truth == w)[0] for w in range(2)])

    def telling(self):
        """The rows that vary between episodes, as memory asks for them."""
        layout, (starts, *entries) = self.rows.layout, put_together(self.rows, self.episodes)
        gains = find_telling_rows(layout.owners, len(layout.kinds), starts, *entries)
        return gains > 2.0 + 0.5 * math.log(len(layout.kinds))

    def part(self, counts, settled=None, seeds=None):
        rows, layout = self.rows, self.rows.layout
        starts, *entries = put_together(rows, self.episodes)
        steps = np.array([episode.visits.sum() for episode in self.episodes])
        return part_episodes(
            layout.owners,
            layout.first,
            layout.kinds,
            rows.theta,
            rows.alpha,
            rows.shared,
            counts,
            np.zeros(len(rows.pooled)) if settled is None else settled,
            starts,
            *entries,
            np.argsort(-steps, kind="stable"),
            self.seeds() if seeds is None else seeds,
        )


@pytest.mark.parametrize("kind", ["rows", "ends"])
@pytest.mark.parametrize("seed", range(5))
def test_the_parts_are_the_true_worlds(kind, seed):
    """Two of ten rows differ, or the states that end episodes; seeds are fixed, and every episode finds its part."""
    case = TwoWorlds(seed, kind)
    ways = [case.telling()] if kind == "rows" else [case.telling(), case.rows.layout.kinds == END]
    for counts in ways:
        assert case.part(counts).tolist() == case.truth.tolist()
        assert case.part(counts, seeds=case.seeds()[::-1].copy()).tolist() == (1 - case.truth).tolist()


def test_with_the_telling_rows_alone_parts_are_found_that_noise_would_hide():
    """Forty rows are the same in both worlds, and are visited twice an episode; one row differs.

    One world is met four times as often, so it knows the rows that are the same better: they must not count.
    """
    rng, truth, episodes = np.random.default_rng(5), np.repeat([0, 1], [24, 6]), []
    probs = rng.dirichlet(np.ones(41), 41)
    for w in truth:
        visits = np.array([rng.multinomial(2, row) for row in probs])
        visits[0] = 0
        visits[0, w] = 4
        episodes.append(Counted(visits, np.zeros(41), np.empty(0)))
    case = TwoWorlds.__new__(TwoWorlds)
    case.truth, case.episodes = truth, episodes
    case.rows = WorldRows(41, 1, False, places_of([one.table for one in episodes], 41, 41))
    case.rows.add_world()
    for episode in episodes:
        case.rows.put(case.rows.entries(episode.table, episode.sums), 0)
    case.rows.fit()
    telling = case.telling()
    assert np.flatnonzero(telling).tolist() == [0]
    assert case.part(telling).tolist() == truth.tolist()


def test_what_cannot_be_parted_keeps_the_part_of_the_old_world():
    """Counts of the second world are settled: its episodes are part 0, whichever episode is named first."""
    case = TwoWorlds(0, "rows")
    settled = np.zeros(len(case.rows.pooled))
    for episode, w in zip(case.episodes, case.truth, strict=True):
        if w == 1:
            entries = case.rows.entries(episode.table, episode.sums)
            settled[entries.places] += entries.counts
    for seeds in (case.seeds(), case.seeds()[::-1].copy()):
        assert case.part(case.telling(), settled, seeds).tolist() == (1 - case.truth).tolist()


def ln_gain(known, more, alpha):
    return slow_ln_ml(known + more, alpha) - slow_ln_ml(known, alpha)


def slow_parts(rows, episodes, counts, settled, order, seeds):
    """(part, the narrowest choice): as the module says, row by row."""
    layout, dense = rows.layout, [slow_rows(rows.layout, episode) for episode in episodes]
    alphas = [slow_alpha(rows, x) for x in range(len(layout.kinds))]
    fixed = [settled[layout.first[x] : layout.first[x + 1]].copy() for x in range(len(alphas))]
    parts = [fixed, [np.zeros(len(alpha)) for alpha in alphas]]
    nearer = [
        sum(
            ln_gain(fixed[x], dense[k][x], alphas[x]) - slow_ln_ml(dense[k][x], alphas[x])
            for x in np.flatnonzero(counts)
        )
        for k in seeds
    ]
    narrowest, part = abs(nearer[0] - nearer[1]) if settled.any() else np.inf, [-1] * len(dense)
    for q, k in enumerate(seeds if nearer[0] >= nearer[1] else seeds[::-1]):
        part[k], parts[q] = q, [one + more for one, more in zip(parts[q], dense[k], strict=True)]
    weights = np.ones(len(alphas))
    for sweep in range(10):
        if sweep >= 3:  # rows count as far as the two parts do not share them
            for x, kind in enumerate(layout.kinds):
                ln_odds = ln_gain(parts[0][x], parts[1][x], alphas[x]) - slow_ln_ml(parts[1][x], alphas[x])
                weights[x] = 1.0 / (1.0 + rows.shared[kind] / (1.0 - rows.shared[kind]) * math.exp(min(ln_odds, 700.0)))
        before = list(part)
        for k in order:
            if part[k] >= 0:
                parts[part[k]] = [one - less for one, less in zip(parts[part[k]], dense[k], strict=True)]
                parts[part[k]] = [np.where(one > 1e-9, one, 0.0) for one in parts[part[k]]]
            looked = [x for x in range(len(alphas)) if (sweep >= 5 or counts[x]) and dense[k][x].any()]
            gains = [
                ln_gain(parts[1][x], dense[k][x], alphas[x]) - ln_gain(parts[0][x], dense[k][x], alphas[x])
                for x in looked
            ]
            lead = float(weights[looked] @ np.array(gains)) if looked else 0.0
            narrowest = min(narrowest, abs(lead)) if looked else narrowest
            part[k] = int(lead > 0.0)
            parts[part[k]] = [one + more for one, more in zip(parts[part[k]], dense[k], strict=True)]
        if part == before and sweep > 5:
            break
    return part, narrowest


@settings(deadline=None, max_examples=40)
@given(several_worlds(least=1), st.integers(2, 6), st.booleans())
def test_parts_are_those_of_the_slow_way(case, count, settles):
    rows, episodes = case.rows, [case.episode() for _ in range(count)]
    for episode in episodes:
        rows.make_places(episode.table)
    layout, rng = rows.layout, case.rng
    counts, order = rng.random(len(layout.kinds)) < 0.7, rng.permutation(count)
    settled = rows.counts[0].copy() if settles else np.zeros(len(rows.pooled))
    seeds, past = rng.permutation(count)[:2], put_together(rows, episodes)
    prior = (rows.theta, rows.alpha, rows.shared)
    found = part_episodes(layout.owners, layout.first, layout.kinds, *prior, counts, settled, *past, order, seeds)
    slow, narrowest = slow_parts(rows, episodes, counts, settled, order, seeds)
    if narrowest > 1e-7:  # else rounding decides
        assert found.tolist() == slow


def joint_of(rows, episodes, part):
    """The joint likelihood with the episodes of part 1 in a world of their own, after which they go back."""
    part, kinds = np.asarray(part), rows.layout.kinds
    if part.min() == part.max():
        return ln_joint(kinds, rows.own, rows.together, rows.shared, np.array([len(part)], float))
    new, shared = rows.add_world(), rows.shared.copy()
    moved = [rows.entries(one.table, one.sums) for one, q in zip(episodes, part.tolist(), strict=True) if q]
    for entries in moved:
        rows.put(entries, 0, -1.0)
        rows.put(entries, new)
    rows.fit_sharing()
    sizes = np.array([len(part) - part.sum(), part.sum()], float)
    found = ln_joint(kinds, rows.own, rows.together, rows.shared, sizes)
    for entries in moved:
        rows.put(entries, 0)
    rows.remove_world(new)
    rows.shared[:] = shared
    return found


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["rows", "ends"])
def test_the_joint_likelihood_rises_with_the_true_parts_and_falls_with_others(kind, seed):
    """Two worlds parted as they are gain; episodes of one world lose, parted at random in twenty ways.

    Seeds are fixed.  One world that is parted may look likelier by chance; here no part comes near it.
    """
    case = TwoWorlds(seed, kind)
    whole = joint_of(case.rows, case.episodes, np.zeros(24, int))
    assert joint_of(case.rows, case.episodes, case.truth) > whole + 5.0
    one = [episode for episode, w in zip(case.episodes, case.truth, strict=True) if w == 0]
    rows = WorldRows(case.rows.layout.n_states, 2, False, case.rows.layout.keys)
    rows.add_world()
    for episode in one:
        rows.put(rows.entries(episode.table, episode.sums), 0)
    rows.fit()
    whole, rng = joint_of(rows, one, np.zeros(12, int)), np.random.default_rng(seed)
    for _ in range(20):
        assert joint_of(rows, one, rng.permutation(np.arange(12) % 2)) < whole - 2.0
    case.rows, case.episodes = rows, one
    assert joint_of(rows, one, case.part(np.ones(len(rows.theta), bool), seeds=np.array([0, 1]))) <= whole
