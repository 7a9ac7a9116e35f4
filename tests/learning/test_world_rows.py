import math
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aomultirl.engine.counts import CountTable
from aomultirl.identifying.knowledge import NOVEL, knowledge
from aomultirl.learning import world_rows
from aomultirl.learning.planning_counts import GUESS, LEAST_ODDS, PASSES
from aomultirl.learning.row_layout import count_reached, places_of
from aomultirl.learning.row_likelihoods import END, REWARD, TRANSITION
from aomultirl.learning.world_rows import WorldRows, rows_of
from counted_worlds import Counted, dense, make_worlds, several_worlds, slow_alpha, slow_ln_ml, slow_rows

BOTH = ("counts", "own", "masses", "pooled", "together", "theta", "alpha", "shared")
"""What must be the same however counts came to be where they are; ``alone`` depends on the episodes too."""


def bits(rows):
    return {name: getattr(rows, name).tobytes() for name in BOTH} | {
        name: getattr(rows.layout, name).tobytes() for name in ("first", "outcomes", "kinds", "owners")
    }


@settings(deadline=None)
@given(st.sets(st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(0, 4))))
def test_states_that_are_reached_are_counted_once_whatever_action_leads_there(transitions):
    """State 4 stands for what nobody has seen, and counts for nothing."""
    origins, _, states = (np.array([one[i] for one in sorted(transitions)], np.int64) for i in range(3))
    slow = [len({state for origin, _, state in transitions if origin == s and state < 4}) for s in range(4)]
    assert count_reached(origins, states, 4).tolist() == slow


def rebuilt(rows):
    """The same rows, made anew from the tables of the worlds."""
    layout = rows.layout
    again = WorldRows(layout.n_states, layout.n_pairs // layout.n_states, rows.learns_rewards, layout.keys)
    for world in range(rows.count):
        again.add_table(*rows.table(world))
    again.spreads[:], again.shared[:] = rows.spreads, rows.shared
    again.means[:], again.trust[:] = rows.means, rows.trust
    again.weigh()
    return again


def as_lists(rows, counts):
    """Counts at places as a list for every row."""
    return [counts[rows.layout.first[x] : rows.layout.first[x + 1]] for x in range(len(rows.layout.kinds))]


# -- places ------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(several_worlds())
def test_every_row_has_a_place_for_all_that_was_seen_and_one_for_the_rest(case):
    layout, n_pairs = case.rows.layout, case.n_states * case.n_actions
    seen = sum((world.visits for world in case.worlds), np.zeros((n_pairs, case.n_states)))
    for pair in range(n_pairs):
        states = layout.outcomes[layout.first[pair] : layout.first[pair + 1]].tolist()
        assert states == [*np.flatnonzero(seen[pair]).tolist(), NOVEL]
    assert layout.kinds.tolist() == [TRANSITION] * n_pairs + [END] * case.n_states + [REWARD] * (
        n_pairs if case.learns_rewards else 0
    )
    assert np.diff(layout.first)[n_pairs:].tolist() == [2] * (len(layout.kinds) - n_pairs)
    assert layout.outcomes[layout.first[n_pairs] :].tolist() == [0, 1] * (len(layout.kinds) - n_pairs)
    assert layout.first[layout.owners].tolist() == np.repeat(layout.first[:-1], np.diff(layout.first)).tolist()
    assert layout.keys.tolist() == places_of([world.table for world in case.worlds], case.n_states, n_pairs).tolist()
    assert case.rows.learns_rewards == case.learns_rewards


@settings(deadline=None)
@given(several_worlds(least=1), st.data())
def test_entries_are_the_counts_at_their_places(case, data):
    world = data.draw(st.sampled_from(case.worlds))
    entries, counts = case.rows.entries(world.table, world.sums), np.zeros(len(case.rows.pooled))
    assert (np.diff(entries.places) > 0).all()
    assert (entries.counts > 0.0).all()
    counts[entries.places] = entries.counts
    for found, slow in zip(as_lists(case.rows, counts), slow_rows(case.rows.layout, world), strict=True):
        assert found == pytest.approx(slow, abs=1e-12)


@settings(deadline=None)
@given(several_worlds())
def test_making_places_keeps_all_counts(case):
    """Afterwards everything is as if the places had been there from the beginning, to the bit."""
    rows, new = case.rows, case.episode(filled=0.6)
    before, keys = rows.counts.copy(), rows.layout.keys
    moved = rows.make_places(new.table)
    every = places_of([new.table, *(world.table for world in case.worlds)], case.n_states, len(new.visits))
    assert rows.layout.keys.tolist() == every.tolist()
    assert (moved is None) == (len(every) == len(keys))
    if moved is not None:
        assert (rows.counts[:, moved] == before).all()
        assert np.count_nonzero(rows.counts) == np.count_nonzero(before)
        assert every[moved[: len(keys)]].tolist() == keys.tolist()
        rest = np.arange(len(keys), before.shape[1])
        assert (moved[len(keys) :] - len(every) == rest - len(keys)).all()
    assert bits(rows) == bits(rebuilt(rows))
    world = rows.add_world()
    rows.put(rows.entries(new.table, new.sums), world)
    for found, slow in zip(as_lists(rows, rows.counts[world]), slow_rows(rows.layout, new), strict=True):
        assert found == pytest.approx(slow, abs=1e-9)
    assert rows.make_places(new.table) is None


# -- worlds ------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(several_worlds(least=1), st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=8))
def test_episodes_that_come_and_go_leave_rows_as_if_made_anew(case, moves):
    """Put episodes in worlds and take some away again: counts, ln ML and masses are those of the tables, to the bit."""
    rows, inside = case.rows, []
    true = list(case.worlds)
    for number, adds in moves:
        if adds or not inside:
            episode, world = case.episode(), number % (rows.count + 1)
            rows.make_places(episode.table)
            if world == rows.count:
                assert rows.add_world() == world
                true.append(Counted(*(np.zeros_like(part) for part in episode)))
            rows.put(rows.entries(episode.table, episode.sums), world)
            inside.append((episode, world))
            true[world] = true[world] + episode
        else:
            episode, world = inside.pop(number % len(inside))
            rows.put(rows.entries(episode.table, episode.sums), world, -1.0)
            true[world] = Counted(*(one - other for one, other in zip(true[world], episode, strict=True)))
        assert bits(rows) == bits(rebuilt(rows))
    for world, counted in enumerate(true):
        for found, slow in zip(as_lists(rows, rows.counts[world]), slow_rows(rows.layout, counted), strict=True):
            assert found == pytest.approx(slow, abs=1e-7)
        table, _ = rows.table(world)
        assert (dense(table, case.n_states) == counted.visits).all()


@settings(deadline=None, max_examples=60)
@given(several_worlds(least=1), st.integers(1, 4))
def test_an_episode_that_is_taken_out_and_put_back_leaves_rows_as_two_moves_do(case, count):
    """To the last bit, what came to ``alone`` and went from it included."""
    rows, entries = case.rows, []
    episodes = [case.episode() for _ in range(count)]
    for episode in episodes:
        rows.make_places(episode.table)
    for number, episode in enumerate(episodes):
        entries.append((rows.entries(episode.table, episode.sums), number % rows.count))
        rows.put(*entries[-1])
    for one in case.rng.permutation(count).tolist():
        twin, (places, world) = deepcopy(rows), entries[one]
        rows.take_out(places, world)
        twin.put(places, world, -1.0)
        assert bits(rows) == bits(twin)
        assert rows.alone.tobytes() == twin.alone.tobytes()
        twin.put(places, world)
        if case.learns_rewards:  # fractions may differ in their last bit
            rows.put(places, world)
        else:
            rows.put_back(places, world)
        assert bits(rows) == bits(twin)
        assert rows.alone.tobytes() == twin.alone.tobytes()


@settings(deadline=None)
@given(several_worlds(least=1))
def test_a_world_of_whole_rewards_is_as_before_after_an_episode_came_and_went(case):
    episode = case.episode()
    if case.learns_rewards:
        episode = episode._replace(sums=np.floor(episode.sums))
    for world in case.worlds:
        world.sums[:] = np.floor(world.sums)
    tables = [(world.table, world.sums) for world in case.worlds]
    rows = rows_of(tables, case.n_states, case.n_actions, case.learns_rewards)
    rows.make_places(episode.table)
    before, alone = bits(rows), rows.alone.copy()
    entries = rows.entries(episode.table, episode.sums)
    rows.put(entries, 0)
    rows.put(entries, 0, -1.0)
    assert bits(rows) == before
    assert rows.alone == pytest.approx(alone, abs=1e-9)


@settings(deadline=None)
@given(several_worlds(least=1), st.data())
def test_tables_come_back(case, data):
    world = data.draw(st.integers(0, len(case.worlds) - 1))
    table, sums = case.rows.table(world)
    for mine, theirs in zip(table.to_lists(), case.worlds[world].table.to_lists(), strict=True):
        assert mine.tolist() == theirs.tolist()
    assert table.ends == case.worlds[world].table.ends
    assert sums.tobytes() == case.worlds[world].sums.tobytes()


@settings(deadline=None)
@given(several_worlds(least=1), st.data())
def test_a_world_that_is_removed_was_never_there(case, data):
    rows, gone = case.rows, data.draw(st.integers(0, len(case.worlds) - 1))
    rows.alone[:] = case.rng.random(rows.alone.shape)
    left = [world for world in range(rows.count) if world != gone]
    tables, alone = [rows.table(world) for world in left], rows.alone[left].copy()
    rows.remove_world(gone)
    again = rebuilt(rows)
    assert bits(rows) == bits(again)
    assert (rows.alone == alone).all()
    for world, (table, sums) in enumerate(tables):
        assert (dense(rows.table(world)[0], case.n_states) == dense(table, case.n_states)).all()
        assert (rows.table(world)[1] == sums).all()


@settings(deadline=None)
@given(several_worlds(least=1), st.integers(1, 4))
def test_alone_is_the_sum_over_episodes_of_ln_ml(case, count):
    rows, slow = case.rows, np.zeros(len(case.rows.theta))
    episodes = [case.episode() for _ in range(count)]
    for episode in episodes:
        rows.make_places(episode.table)
    for episode in episodes:
        rows.put(rows.entries(episode.table, episode.sums), 0)
        slow += [slow_ln_ml(row, slow_alpha(rows, x)) for x, row in enumerate(slow_rows(rows.layout, episode))]
    assert rows.alone[0] == pytest.approx(slow, abs=1e-8)
    episode = episodes[0]
    weighed = rows.weigh_counts(np.concatenate(slow_rows(rows.layout, episode)).astype(float))
    slow -= weighed
    rows.put(rows.entries(episode.table, episode.sums), 0, -1.0)
    assert rows.alone[0] == pytest.approx(slow, abs=1e-8)


@settings(deadline=None)
@given(several_worlds())
def test_what_proofs_take_are_the_transitions(case):
    mine = case.rows.knowledge()
    slow = knowledge([world.table for world in case.worlds], case.n_states * case.n_actions, case.n_states)
    for one, other in zip(mine, slow, strict=True):
        assert one.dtype == other.dtype
        assert (one == other).all()


# -- what to plan with -------------------------------------------------------------------------------------


def slow_plan(rows, doubts):
    """The docstring's formulas, row by row: (W + 1) lists of rows."""
    counts, n_actions = [as_lists(rows, world) for world in rows.counts], rows.layout.n_pairs // rows.layout.n_states
    planned = []
    for w in range(rows.count + 1):
        every = []
        for x, kind in enumerate(rows.layout.kinds.tolist()):
            alpha, rho = slow_alpha(rows, x), float(rows.shared[kind])
            pooled = sum((world[x] for world in counts), np.zeros(len(alpha)))
            ln_odds = slow_ln_ml(pooled, alpha) - sum(slow_ln_ml(world[x], alpha) for world in counts)
            odds = min(rho / (1.0 - rho), GUESS) * math.exp(min(ln_odds, 60.0))
            odds = odds if odds >= LEAST_ODDS else 0.0
            mine = counts[w][x] if w < rows.count else np.zeros(len(alpha))
            others = pooled - mine
            worth = odds if mine.sum() > 0.0 else min(odds, GUESS)
            if kind == TRANSITION and w < rows.count and not mine.any():
                siblings = range(x - x % n_actions, x - x % n_actions + n_actions)
                doubtful = 1.0 + rho / (1.0 - rho) * math.exp(min(ln_odds, 60.0))
                worth = worth if sum(counts[w][y].sum() for y in siblings) <= PASSES * doubtful else 0.0
            scale = min(1.0, worth / others.sum()) if others.sum() > 1e-12 else 0.0
            row = mine + scale * others
            if doubts and w < rows.count and mine.sum() > 0.0 and kind == TRANSITION:
                agree = math.exp(min(60.0, slow_ln_ml(mine, alpha) - rows.alone[w, x]))
                row = row * min(1.0, max(GUESS, agree) / mine.sum())
            every.append(row)
        planned.append(every)
    return planned


@settings(deadline=None, max_examples=60)
@given(several_worlds(), st.booleans(), st.integers(1, 4))
def test_what_to_plan_with_is_the_formula(case, doubts, episodes):
    """Worlds of one to four episodes each, whose rows agree or do not."""
    rows = case.rows
    for world in range(rows.count):
        rows.add_alone(rows.entries(case.worlds[world].table, case.worlds[world].sums), world)
    for number in range(episodes if rows.count else 0):
        episode = case.episode(most=20)
        rows.make_places(episode.table)
        rows.put(rows.entries(episode.table, episode.sums), number % rows.count)
    found = rows.to_plan_with(doubts)
    assert found.shape == (rows.count + 1, len(rows.pooled))
    for world, slow in enumerate(slow_plan(rows, doubts)):
        for row, expected in zip(as_lists(rows, found[world]), slow, strict=True):
            assert row == pytest.approx(expected, rel=1e-6, abs=1e-9)


def two_rows(one, other, rho=0.5):
    """Rows of two worlds with one pair that matters."""
    worlds = [Counted(np.array([row, [0, 0]]), np.zeros(2), np.empty(0)) for row in (one, other)]
    rows = rows_of([(world.table, world.sums) for world in worlds], 2, 1, False)
    rows.shared[:] = rho
    return rows


def test_rows_that_agree_are_shared_and_rows_that_differ_are_not():
    borrowed = two_rows([30, 10], [60, 20]).to_plan_with(False)[0, :2] - [30, 10]
    assert 0.05 < borrowed[0] / 60 == pytest.approx(borrowed[1] / 20)
    differ = two_rows([40, 0], [0, 80]).to_plan_with(False)
    assert differ[:2, :2].ravel().tolist() == pytest.approx([40, 0, 0, 80], abs=1e-6)


def test_a_row_that_a_world_has_not_shown_is_a_guess_of_four_visits_at_most():
    rows = two_rows([500, 500], [0, 0], rho=0.98)
    planned = rows.to_plan_with(False)
    assert planned[1, :3].sum() == pytest.approx(GUESS)
    assert planned[2, :3].sum() == pytest.approx(GUESS), "and so it is in a world that nobody has met"
    assert planned[1, :2].tolist() == pytest.approx([2.0, 2.0])


def test_a_row_that_was_passed_by_often_is_guessed_no_more():
    """Two actions of state 0, the second of which the second world has not tried, after 32 and after 33 visits."""
    for passed, guessed in ((32, True), (33, False)):
        counts = [np.array([[5, 0], [0, 50], [0, 0], [0, 0]]), np.array([[passed, 0], [0, 0], [0, 0], [0, 0]])]
        worlds = [Counted(one, np.zeros(2), np.empty(0)) for one in counts]
        rows = rows_of([(world.table, world.sums) for world in worlds], 2, 2, False)
        rows.shared[:] = 0.5  # one world alone knows the row, so that its odds are 1
        first = rows.layout.first
        assert rows.to_plan_with(False)[1, first[1] : first[2]].any() == guessed


def test_rows_that_differ_in_hundreds_of_visits_say_nothing_of_a_world_that_nobody_has_met():
    """Odds of 1e-310 once made what an untried action promises no number, and the action was never tried again."""
    assert two_rows([520, 0], [0, 520]).to_plan_with(True)[2, :3].tolist() == [0.0] * 3


def test_counts_of_episodes_that_disagree_are_worth_a_guess_and_those_that_agree_all_visits():
    """Ten episodes of ten visits each: all to one state, or in turn to one and to the other."""
    for turns in (False, True):
        rows = WorldRows(2, 1, False, places_of([Counted(np.ones((2, 2), int), np.zeros(2), np.empty(0)).table], 2, 2))
        rows.add_world()
        for k in range(10):
            table = CountTable(2)
            table.count(0, k % 2 if turns else 0, 10)
            rows.put(rows.entries(table, np.empty(0)), 0)
        rows.fit()
        assert rows.to_plan_with(False)[0, :3].sum() == 100
        assert rows.to_plan_with(True)[0, :3].sum() == pytest.approx(GUESS if turns else 100)


def test_nothing_was_met():
    rows = WorldRows(2, 2, True)
    assert rows.to_plan_with(True).tolist() == [[0.0] * len(rows.pooled)]
    assert rows.knowledge().seen.shape == (0, 4)
    assert make_worlds(0, 2, 1, 0, False).rows.count == 0


def test_two_visits_that_went_as_elsewhere_are_not_the_last():
    """99 rows that two worlds share, and one that each knows a little of: it is worth little more than a guess."""
    tables = [CountTable(100) for _ in range(2)]
    for pair in range(100):
        for world, visits in enumerate((200, 2 if pair == 0 else 200)):
            tables[world].count(pair, 3, visits // 2 + visits % 2)
            tables[world].count(pair, 4, visits // 2)
    rows = rows_of([(table, np.empty(0)) for table in tables], 100, 1, False)
    assert rows.shared[TRANSITION] > 0.95
    planned = rows.to_plan_with(False)
    assert planned[1, rows.layout.first[0] : rows.layout.first[1]].sum() < 10 * GUESS
    assert planned[1, rows.layout.first[1] : rows.layout.first[2]].sum() == pytest.approx(400)


@settings(deadline=None, max_examples=60)
@given(several_worlds())
def test_the_prior_knows_what_the_other_actions_of_a_state_have_led_to(case):
    for x in range(len(case.rows.layout.kinds)):
        a, b = case.rows.layout.first[x : x + 2]
        assert case.rows.alpha[a:b] == pytest.approx(slow_alpha(case.rows, x))


def test_two_samples_of_one_world_with_many_successors_are_not_held_to_be_two():
    """Ten actions of the same hundred successors each, five visits of a pair in a sample."""
    rng = np.random.default_rng(0)
    chances = rng.dirichlet(np.full(100, 0.3), (100, 1)).repeat(10, axis=1).reshape(1000, 100)
    samples = [np.array([rng.multinomial(5, row) for row in chances]) for _ in range(2)]
    worlds = [Counted(visits, np.zeros(100, int), np.empty(0)) for visits in samples]
    rows = rows_of([(one.table, one.sums) for one in worlds], 100, 10, False)
    assert rows.together[:1000].sum() > rows.own[:, :1000].sum()
    assert rows.shared[0] > 0.5


def test_wide_rows_expect_the_less_that_is_new_the_more_they_have_shown(monkeypatch):
    """Two actions of a state that lead to 90 and to 60 states, each ever more often, in two worlds; without parents."""
    monkeypatch.setattr(world_rows, "fit_parents", lambda *_: None)
    possible = []
    for visits in (1, 2, 4, 40):
        tables = [CountTable(2 * 120), CountTable(2 * 120)]
        for table in tables:
            for state in range(90):
                table.count(0, state, visits)
            for state in range(30, 90):
                table.count(1, state, visits)
        rows = rows_of([(table, np.empty(0)) for table in tables], 120, 2, False)
        assert rows.layout.reach[0] == 90
        first = rows.layout.first
        for x in (0, 1):
            assert rows.alpha[first[x] : first[x + 1]] == pytest.approx(slow_alpha(rows, x))
            assert rows.alpha[first[x] : first[x + 1]].sum() == pytest.approx(rows.theta[x])
        possible.append(rows.theta[1] / rows.alpha[first[1]] - 1.0)  # successors of the second action
    assert (np.diff(possible) < 0.0).all()
    assert possible[0] > 65.0
    assert 60.0 <= possible[-1] < 60.1
