"""What unknown rewards are taken for, against sums over whole arrays."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aomultirl.engine.counts import CountTable
from aomultirl.learning.beliefs import act_on_beliefs, settle
from aomultirl.learning.finding_out import Evidence, act_unresolved
from aomultirl.learning.optimism import earned_by
from aomultirl.learning.planner import Options, planner
from aomultirl.learning.reward_levels import (
    CLOSE,
    EXTREMES,
    FOUND,
    MORE,
    MOST_LEVELS,
    NOTHING_NOTED,
    counts_at,
    empty_notes,
    levels_after,
    note_reward,
    regraded,
    split,
    with_levels,
)
from aomultirl.learning.row_layout import layout_of, places_of
from aomultirl.learning.row_likelihoods import REWARD
from aomultirl.learning.world_rows import WorldRows
from counted_worlds import seeds, slow_alpha, slow_ln_ml, slow_row_joint, slow_rows, some_counts

NONE = np.empty(0)


def some_levels(rng, most=MOST_LEVELS):
    return with_levels(NONE, rng.random(int(rng.integers(0, most - 1))))


def slow_split(levels, reward):
    """(V,), the parts of a reward: all at a level that it is, or else those that keep its mean, at its neighbours."""
    parts = np.zeros(len(levels))
    near = np.abs(levels - reward)
    if near.min() <= CLOSE:
        parts[near.argmin()] = 1.0
        return parts
    above, below = np.flatnonzero(levels > reward)[-1], np.flatnonzero(levels < reward)[0]
    parts[above] = (reward - levels[below]) / (levels[above] - levels[below])
    parts[below] = (levels[above] - reward) / (levels[above] - levels[below])
    return parts


@settings(deadline=None)
@given(seeds, st.floats(0.0, 1.0))
def test_a_reward_counts_at_its_level_or_in_parts_that_keep_its_mean(seed, reward):
    rng = np.random.default_rng(seed)
    levels = some_levels(rng)
    for r in (reward, *levels, levels[0] - 0.5 * CLOSE, levels[-1] + 0.5 * CLOSE):
        place, weight = split(levels, r)
        parts = np.zeros(len(levels) + 1)
        parts[place], parts[place + 1] = weight, 1.0 - weight
        assert parts[:-1] == pytest.approx(slow_split(levels, r), abs=1e-12)
        assert parts[:-1] @ levels == pytest.approx(r, abs=CLOSE)


def test_two_levels_are_what_is_earned_and_what_is_not():
    for reward in (0.0, 0.25, 1.0):
        place, weight = split(np.array(EXTREMES), reward)
        assert (weight if place == 0 else 0.0) == reward


@settings(deadline=None)
@given(seeds, st.integers(1, 12))
def test_notes_hold_what_was_paid(seed, values):
    """Levels, other rewards in the order in which they came, and parts of them at levels; or that there were more."""
    rng = np.random.default_rng(seed)
    levels, n_pairs = some_levels(rng), 4
    layout = layout_of(places_of((), 2, n_pairs), 2, n_pairs, levels)
    here = np.zeros(len(layout.outcomes))
    notes = empty_notes(layout, here)
    pool = np.concatenate((levels, rng.random(values)))[rng.permutation(len(levels) + values)]
    steps = [(int(rng.integers(n_pairs)), float(rng.choice(pool[: values + 1]))) for _ in range(40)]
    for pair, reward in steps:
        note_reward(notes, pair, reward)
    others = list(dict.fromkeys(r for _, r in steps if np.abs(levels - r).min() > CLOSE))
    room = MOST_LEVELS - len(levels)
    assert notes.others[: notes.state[FOUND]].tolist() == others[:room]
    assert notes.state[MORE] == (len(others) > room)
    times = Counter(steps)
    for i, r in enumerate((*levels, *others[:room])):
        assert notes.counts[i].tolist() == [times[pair, r] for pair in range(n_pairs)]
    slow = np.zeros((n_pairs, len(levels)))
    for pair, r in steps:
        slow[pair] += slow_split(levels, r)
    assert here[: layout.rewards_at].sum() == 0.0
    assert here[layout.rewards_at :] == pytest.approx(slow.ravel() if len(levels) > 2 else 0.0 * slow.ravel())
    after = levels_after(notes)
    if len(others) > room:
        assert after is None
        return
    assert after.tolist() == sorted({*levels.tolist(), *others}, reverse=True)
    exact = [[times[pair, r] for r in after] for pair in range(n_pairs)]
    assert counts_at(notes, after).reshape(n_pairs, -1).tolist() == exact


def test_where_rewards_are_known_or_means_nothing_is_noted():
    note_reward(NOTHING_NOTED, 3, 0.3)
    assert all(part.size == 0 for part in NOTHING_NOTED)


# -- rows of rewards --------------------------------------------------------------------------------------


def paying_worlds(seed, count):
    """(rows of worlds with more than two levels, these worlds, one more episode); not all that is paid is noted."""
    rng = np.random.default_rng(seed)
    n_states, n_actions = int(rng.integers(1, 4)), int(rng.integers(1, 3))
    levels = with_levels(some_levels(rng, MOST_LEVELS - 1), np.array([0.5]))
    found = []
    for _ in range(count + 1):
        counted = some_counts(rng, n_states, n_actions, False)
        noted = [rng.integers(0, n + 1) for n in counted.visits.sum(axis=1)]
        paid = [rng.multinomial(n, rng.dirichlet(np.full(len(levels), 0.5))) for n in noted]
        found.append(counted._replace(sums=np.concatenate(paid).astype(float)))
    keys = places_of([one.table for one in found], n_states, n_states * n_actions)
    rows = WorldRows(n_states, n_actions, True, keys, levels)
    for world in found[:-1]:
        rows.add_table(world.table, world.sums)
    rows.fit()
    return rows, found[:-1], found[-1]


@settings(deadline=None, max_examples=60)
@given(seeds, st.integers(1, 3))
def test_rows_hold_how_often_each_level_was_paid(seed, count):
    rows, worlds, episode = paying_worlds(seed, count)
    for place, world in enumerate(worlds):
        assert rows.counts[place] == pytest.approx(np.concatenate(slow_rows(rows.layout, world)))
        table, paid = rows.table(place)
        assert table.to_lists()[2].sum() == world.visits.sum()
        assert paid.tolist() == world.sums.tolist()
    entries, before = rows.entries(episode.table, episode.sums), rows.counts.copy()
    rows.put(entries, 0)
    assert rows.counts[0] == pytest.approx(np.concatenate(slow_rows(rows.layout, worlds[0] + episode)))
    rows.put(entries, 0, -1.0)
    assert (rows.counts == before).all()


@settings(deadline=None, max_examples=60)
@given(seeds, st.integers(1, 3))
def test_the_likelihood_of_what_an_episode_pays_is_that_of_dirichlets_over_the_levels(seed, count):
    """Of every row, and with it the score of every hypothesis; the mean that is planned with; the information."""
    rows, _, episode = paying_worlds(seed, count)
    layout, n_pairs = rows.layout, rows.layout.n_pairs
    sums, prior = np.zeros(n_pairs), np.full(count + 1, 1.0 / (count + 1))
    rewards = np.ones((layout.n_states, n_pairs // layout.n_states))
    p = planner(layout, rows.to_plan_with(doubts=False), rewards, 100, Options(), sums=sums)
    notes = empty_notes(layout, p.here)
    behaviour = act_on_beliefs(p, rows, prior, None, notes)
    for pair, paid in enumerate(episode.sums.reshape(n_pairs, -1).astype(int)):
        for reward in np.repeat(layout.levels, paid).tolist():
            note_reward(notes, pair, reward)
    settle(behaviour, episode.table.record)
    slow, scores = slow_rows(layout, episode), np.log(prior)
    for x, e in enumerate(slow):
        a, b, alpha = layout.first[x], layout.first[x + 1], slow_alpha(rows, x)
        sigma, pool = slow_row_joint(rows, x, rows.counts[:, a:b])[1], rows.counts[:, a:b].sum(axis=0)
        if layout.kinds[x] != REWARD:
            e = p.here[a:b]
        alike = slow_ln_ml(pool + e, alpha) - slow_ln_ml(pool, alpha)
        for c, known in enumerate([*rows.counts[:, a:b], np.zeros(b - a)]):
            own = slow_ln_ml(known + e, alpha) - slow_ln_ml(known, alpha)
            if layout.kinds[x] == REWARD and e.sum() > 0.0:
                assert behaviour.beliefs.likelihoods[c, x] == pytest.approx(own, abs=1e-9)
            scores[c] += np.logaddexp(np.log(max(sigma, 1e-300)) + alike, np.log1p(-min(sigma, 1 - 1e-16)) + own)
    assert behaviour.beliefs.scores == pytest.approx(scores, abs=1e-6)
    for c in range(count + 1):
        for pair in range(n_pairs):
            a, b = layout.first[len(slow) - n_pairs + pair], layout.first[len(slow) - n_pairs + pair + 1]
            both = p.counted[c, a:b] + p.here[a:b]
            mean = both @ layout.levels / both.sum() if both.sum() > 0.0 else 0.0
            assert earned_by(p, c, np.uint64(pair)) == pytest.approx(mean)
    check_information(rows, behaviour, episode)


def check_information(rows, behaviour, episode):
    """What a pair's reward tells more than its row with all levels put together, which is one outcome and tells none.

    With certain worlds (no prior of sharing) predictions are those of each hypothesis alone.
    """
    layout, n_pairs, p = rows.layout, rows.layout.n_pairs, behaviour.planner
    beliefs, n_actions = behaviour.beliefs, rows.layout.n_pairs // rows.layout.n_states
    beliefs.sigma[:] = 0.0
    beliefs.shares[:] = 1.0 / len(beliefs.shares)
    evidence = Evidence(*(getattr(beliefs, name) for name in Evidence._fields))
    told = []
    for noted in (True, False):
        behaviour.unresolved.reference[:] = 0.0
        plan = p if noted else p._replace(sums=NONE)
        act_unresolved(plan, evidence, behaviour.unresolved, CountTable(n_pairs).record, 0, 0, np.zeros(n_actions))
        told.append(behaviour.unresolved.information[:n_actions].copy())
    for pair in range(n_actions):
        x = len(layout.kinds) - n_pairs + pair
        a, b = layout.first[x], layout.first[x + 1]
        predicted = np.concatenate((rows.counts[:, a:b], np.zeros((1, b - a)))) + p.here[a:b] + 0.5
        predicted /= predicted.sum(axis=1, keepdims=True)
        mean = predicted.mean(axis=0)
        slow = (predicted * np.log(predicted / mean)).sum() / len(predicted)
        assert told[0][pair] - told[1][pair] == pytest.approx(slow, rel=1e-6, abs=1e-9)


# -- other levels -----------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(seeds, st.sampled_from(["more", "means", "range"]))
def test_means_are_kept_when_levels_change(seed, way):
    rows, _, episode = paying_worlds(seed, 1)
    rng, old = np.random.default_rng(seed), rows.layout
    rewards = 0.5 * old.levels + 0.25 if way == "range" else old.levels
    levels = {
        "more": with_levels(old.levels, rng.random(2)),
        "means": np.array(EXTREMES),
        "range": with_levels(rewards, NONE),
    }[way]
    new = layout_of(old.keys, old.n_states, old.n_pairs, levels)
    counts = np.concatenate(slow_rows(old, episode)).astype(float)
    found = regraded(counts, old, new, rewards)
    assert (found[: new.rewards_at] == counts[: old.rewards_at]).all()
    before = counts[old.rewards_at :].reshape(-1, len(old.levels))
    after = found[new.rewards_at :].reshape(-1, len(levels))
    visits = episode.visits.sum(axis=1)
    for n, one, two in zip(visits, before, after, strict=True):
        assert two.sum() == pytest.approx(n if way == "means" else one.sum())
        if one.sum() > 0:
            assert two @ levels / two.sum() == pytest.approx(one @ rewards / one.sum(), abs=1e-9)
    if way != "means":
        for i, reward in enumerate(rewards):
            assert (after[:, np.abs(levels - reward).argmin()] == before[:, i]).all()
