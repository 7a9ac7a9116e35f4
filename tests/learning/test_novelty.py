"""Evidence that an episode is of no world in memory: its formula, its rate of error, and what it notices."""

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import stats

from aomultirl.engine.counts import CountTable
from aomultirl.learning.beliefs import act_on_beliefs, settle_episode
from aomultirl.learning.novelty import LEAST_VISITS, LEVEL, PARTS, TILTS, chance_of_known, ln_novelty
from aomultirl.learning.planner import Options, planner
from aomultirl.learning.row_likelihoods import TRANSITION
from aomultirl.learning.world_rows import rows_of
from counted_worlds import Counted, several_worlds, slow_alpha, slow_row_joint, slow_rows


def settled(rows, table, shape):
    """A behaviour that has seen an episode."""
    rewards = np.zeros(shape)
    p = planner(rows.layout, rows.to_plan_with(doubts=False), rewards, 100, Options())
    behaviour = act_on_beliefs(p, rows, np.full(rows.count + 1, 1.0 / (rows.count + 1)))
    settle_episode(behaviour, table)
    return behaviour


def evidence(rows, behaviour):
    beliefs, layout = behaviour.beliefs, rows.layout
    numbers = (beliefs.counts, beliefs.masses, beliefs.sigma, beliefs.theta, beliefs.alpha)
    return ln_novelty(layout.first, layout.kinds, behaviour.planner.here, *numbers)


def slow_one_by_one(counts, urn, mass):
    """ln of the probability of outcomes that are drawn from an urn and put back with one more of the same."""
    total, urn = 0.0, urn.copy()
    for place in np.repeat(np.arange(len(urn)), counts.astype(int)):
        total += np.log(urn[place] / mass)
        urn[place] += 1
        mass += 1
    return total


@settings(deadline=None, max_examples=60)
@given(several_worlds(least=1))
def test_it_is_the_formula(case):
    rows = case.rows
    if case.learns_rewards:
        return
    episode = case.episode()
    episode.ends[:] = 0
    table = episode.table
    found = evidence(rows, settled(rows, table, (case.n_states, case.n_actions)))
    mine = slow_rows(rows.layout, episode)
    for c in range(rows.count):
        gains = np.zeros(len(PARTS))
        for x in range(rows.layout.n_pairs + rows.layout.n_states):
            a, b, alpha, e = (
                rows.layout.first[x],
                rows.layout.first[x + 1],
                slow_alpha(rows, x),
                np.asarray(mine[x], float),
            )
            known, pool = rows.counts[c, a:b], rows.counts[:, a:b].sum(axis=0)
            if known.sum() < LEAST_VISITS or e.sum() == 0:
                continue
            sigma = slow_row_joint(rows, x, rows.counts[:, a:b])[1]
            theta, moves = alpha.sum(), rows.layout.kinds[x] == TRANSITION
            shared, own = (d + (theta * (d == 0) / max(1, (d == 0).sum()) if moves else alpha) for d in (pool, known))
            likely = np.logaddexp(
                np.log(sigma) + slow_one_by_one(e, shared, pool.sum() + theta),
                np.log1p(-sigma) + slow_one_by_one(e, own, known.sum() + theta),
            )
            q, ratio = sigma * shared / (pool.sum() + theta) + (1 - sigma) * own / (known.sum() + theta), 0.0
            seen = known > 0
            for tilt in TILTS:
                new = q[~seen].sum()
                more = new + tilt * (1 - new) / 2 if (~seen).any() else 0.0
                r = np.where(seen, (1 - more) * q ** (1 - tilt) / (q[seen] ** (1 - tilt)).sum(), 0.0)
                r[~seen] = more * q[~seen] / max(new, 1e-300)
                assert r.sum() == pytest.approx(1.0)
                ratio += np.exp(slow_one_by_one(e, (known.sum() + theta) * r, known.sum() + theta) - likely) / len(
                    TILTS
                )
            gains += [np.log(1 - part + part * ratio) for part in PARTS]
        assert found[c] == pytest.approx(np.logaddexp.reduce(gains) - np.log(len(PARTS)), rel=1e-6, abs=1e-8)


def crowded(seed, successors=100, n_states=120, spread=0.3):
    """A world whose pairs have a hundred successors each: (S, S), one action."""
    rng = np.random.default_rng(seed)
    rows = np.zeros((n_states, n_states))
    for s in range(n_states):
        rows[s, rng.permutation(n_states)[:successors]] = rng.dirichlet(np.full(successors, spread))
    return rows


def walk(rows, steps, rng):
    """The counts of an episode of so many steps."""
    visits, state, sums = np.zeros(rows.shape, int), 0, rows.cumsum(axis=1)
    for draw in rng.random(steps):
        successor = min(int(np.searchsorted(sums[state], draw * sums[state, -1])), len(rows) - 1)
        visits[state, successor] += 1
        state = successor
    return Counted(visits, np.zeros(len(rows), int), np.empty(0))


def chances(world, episodes, known=20_000, steps=400, seed=0, others=()):
    """What the evidence says of episodes with these rows each; memory has seen the world so long, and the others."""
    rng = np.random.default_rng(seed)
    memory = [walk(one, known, rng) for one in (world, *others)]
    rows = rows_of([(one.table, one.sums) for one in memory], len(world), 1, False)
    found = []
    for one in episodes:
        behaviour = settled(rows, walk(one, steps, rng).table, (len(world), 1))
        found.append(chance_of_known(behaviour, rows))
    return np.array(found)


@pytest.mark.parametrize("known", [300, 3_000, 30_000])
@pytest.mark.parametrize("others", [0, 1])
def test_episodes_of_a_known_world_are_hardly_ever_new_with_a_hundred_successors_too(known, others):
    """How often it happens is at most the level; more than 5 of 150 is a false alarm of 0.4 % there."""
    world = crowded(1)
    found = chances(world, [world] * 150, known=known, others=[crowded(2)] * others)
    assert (found <= LEVEL).sum() <= stats.binom.ppf(0.995, 150, LEVEL)


def test_another_world_with_the_same_successors_is_new():
    """The same successors with other chances, as when another dose acts; in 400 steps, once the world is known."""
    world = crowded(1)
    rng, other = np.random.default_rng(3), np.zeros_like(world)
    for s in range(len(world)):
        there = np.flatnonzero(world[s])
        other[s, there] = world[s, rng.permutation(there)]
    assert (chances(world, [other] * 30) <= LEVEL).mean() > 0.9


def test_one_successor_that_a_deterministic_row_never_had_is_enough():
    world, other = np.eye(4)[[1, 2, 3, 0]], np.eye(4)[[1, 2, 0, 0]]
    found = chances(world, [other, world], known=2000, steps=8)
    assert found[0] <= LEVEL < found[1]


def test_what_a_world_has_not_shown_says_nothing():
    rows = rows_of([(CountTable(2), np.empty(0))], 2, 1, False)
    table = CountTable(2)
    table.count(0, 1, 5)
    assert evidence(rows, settled(rows, table, (2, 1))).tolist() == [0.0]
