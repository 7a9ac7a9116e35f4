import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aomultirl as ao
from aomultirl.engine.behaviours import ASK, empty_table
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Phase, Simulator
from aomultirl.learning import beliefs as kernels
from aomultirl.learning.alpha_vectors import tabulate, vectors
from aomultirl.learning.beliefs import (
    ENDED,
    GUIDE,
    LATEST,
    NUMBER,
    PATIENCE,
    PLACE,
    act_alone,
    act_on_beliefs,
    settle,
    settle_episode,
)
from aomultirl.learning.finding_out import Evidence, act_unresolved
from aomultirl.learning.optimism import plan, sweep
from aomultirl.learning.planner import READY, SPENT, Options, planner
from aomultirl.learning.world_rows import WorldRows, rows_of
from counted_worlds import Counted, dense, several_worlds, slow_alpha, slow_ln_ml, slow_row_joint, slow_rows

NONE = np.empty(0)


def behaviour_of(rows, rewards, prior, sums=None, with_vectors=False, horizon=1000):
    p = planner(rows.layout, rows.to_plan_with(doubts=False), rewards, horizon, Options(), sums=sums)
    made = vectors(p, np.asarray(prior), None) if with_vectors else None
    return act_on_beliefs(p, rows, np.asarray(prior), made)


def slow_scores(rows, episode, prior, place=-1, ended=False):
    """ln prior + ln likelihood of every hypothesis, all at once from the counts of the episode."""
    with np.errstate(divide="ignore"):
        scores = np.log(prior)
    mine = slow_rows(rows.layout, episode)
    if place >= 0:
        mine[rows.layout.n_pairs + place] = mine[rows.layout.n_pairs + place] + [not ended, ended]
    for x, e in enumerate(mine):
        a, b, alpha = rows.layout.first[x], rows.layout.first[x + 1], slow_alpha(rows, x)
        sigma = slow_row_joint(rows, x, rows.counts[:, a:b])[1]
        pool = rows.counts[:, a:b].sum(axis=0)
        alike = slow_ln_ml(pool + e, alpha) - slow_ln_ml(pool, alpha)
        for c, known in enumerate([*rows.counts[:, a:b], np.zeros(b - a)]):
            own = slow_ln_ml(known + e, alpha) - slow_ln_ml(known, alpha)
            scores[c] += np.logaddexp(math.log(max(sigma, 1e-300)) + alike, math.log1p(-min(sigma, 1 - 1e-16)) + own)
    return scores


def prior_of(case):
    return case.rng.dirichlet(np.ones(case.rows.count + 1))


@settings(deadline=None, max_examples=150)
@given(several_worlds(least=1), st.integers(1, 4), st.booleans(), st.randoms(use_true_random=False))
def test_scores_are_priors_times_marginal_likelihoods_in_any_order(case, chunks, ends, random):
    """Transitions, where the episode is or has ended, and unknown rewards: however many are booked at a time."""
    rows, prior, rewards = case.rows, prior_of(case), case.rng.random((case.n_states, case.n_actions))
    sums = np.zeros(rewards.size) if case.learns_rewards else None
    behaviour, counts = behaviour_of(rows, rewards, prior, sums), CountTable(rewards.size)
    visits = np.zeros((rewards.size, case.n_states), int)
    seen = Counted(visits, np.zeros(case.n_states), NONE if sums is None else sums)
    for chunk in range(chunks):
        more, place = case.episode(), int(case.rng.integers(case.n_states))
        moves = np.argwhere(more.visits).tolist()
        random.shuffle(moves)
        for pair, s in moves:
            counts.count(pair, s, int(more.visits[pair, s]))
        seen.visits[:] += more.visits
        seen.sums[:] += more.sums
        ended = ends and chunk == chunks - 1
        behaviour.beliefs.status[[PLACE, ENDED]] = place, ended
        settle(behaviour, counts.record)
        assert behaviour.beliefs.scores == pytest.approx(slow_scores(rows, seen, prior, place, ended), abs=1e-6)
    once = behaviour_of(rows, rewards, prior, sums)
    once.beliefs.status[[PLACE, ENDED]] = place, ended
    settle(once, counts.record)
    assert once.beliefs.scores == pytest.approx(behaviour.beliefs.scores, abs=1e-6)
    assert once.planner.state[SPENT] == behaviour.planner.state[SPENT] == seen.visits.sum()
    assert (once.planner.here == behaviour.planner.here).all()
    assert (once.planner.going_on == behaviour.planner.going_on).all()
    shares = np.exp(once.beliefs.scores - once.beliefs.scores.max())
    assert once.beliefs.shares == pytest.approx(shares / shares.sum(), abs=1e-9)


@settings(deadline=None, max_examples=60)
@given(several_worlds(least=1))
def test_the_episode_is_booked_where_its_counts_stand(case):
    """What is planned with besides memory: transitions, ends and rewards of the episode, at their places."""
    rows, episode = case.rows, case.episode()
    sums = episode.sums if case.learns_rewards else None
    behaviour = behaviour_of(rows, np.ones((case.n_states, case.n_actions)), prior_of(case), sums)
    settle(behaviour, episode.table.record)
    slow = slow_rows(rows.layout, episode._replace(ends=np.zeros(case.n_states)))
    assert behaviour.planner.here == pytest.approx(np.concatenate(slow), abs=1e-9)
    assert (behaviour.planner.total == episode.visits.sum(axis=1)).all()


@settings(deadline=None, max_examples=60)
@given(several_worlds(least=1))
def test_predictions_of_each_hypothesis_sum_to_one(case):
    """One visit, over all successors that somebody has shown and one that nobody has; an arrival, and a reward."""
    rows, rewards, prior = case.rows, np.ones((case.n_states, case.n_actions)), prior_of(case)

    def chances(pair=-1, s=-1, place=-1, ended=False, earned=0.0):
        """Of every hypothesis, that this is seen."""
        sums = np.zeros(rewards.size) if case.learns_rewards else None
        behaviour, counts = behaviour_of(rows, rewards, prior, sums), CountTable(rewards.size)
        if pair >= 0:
            counts.count(pair, s, 1)
            if case.learns_rewards:
                sums[pair] = earned
        behaviour.beliefs.status[[PLACE, ENDED]] = place, ended
        settle(behaviour, counts.record)
        return np.exp(behaviour.beliefs.scores - np.log(prior))

    for state in range(case.n_states):
        on = chances(place=state)
        assert on + chances(place=state, ended=True) == pytest.approx(np.ones(len(prior)))
        for pair in range(state * case.n_actions, (state + 1) * case.n_actions):
            shown = np.flatnonzero(np.sum([world.visits[pair] for world in case.worlds], axis=0)).tolist()
            others = [s for s in range(case.n_states) if s not in shown]
            if others:
                ways = [(s, r) for s in [*shown, others[0]] for r in ((0.0, 1.0) if case.learns_rewards else (0.0,))]
                total = sum(chances(pair, s, earned=r) for s, r in ways)
                assert total == pytest.approx(on), "whoever leaves a state has arrived and gone on"


# -- acting ------------------------------------------------------------------------------------------------


def walk(world, behaviour, steps, seed=0, start=0):
    """Some steps in the simulator; the counts."""
    counts, (one, two) = CountTable(world.n_states * world.n_actions), streams(seed, 2)
    simulator = Simulator(world.alias_tables, world.gains, start, one, two, terminal=world.terminal)
    simulator.run(Phase(behaviour, steps, counts, NONE))
    return counts


def memory_of(models, visits, seed=0):
    """Rows of worlds of which every pair was visited so often."""
    rng = np.random.default_rng(seed)
    tables = []
    for world in models:
        counted = rng.multinomial(visits, world.transitions.reshape(-1, world.n_states))
        counted[np.repeat(world.terminal, world.n_actions)] = 0
        tables.append((Counted(counted, world.terminal * visits, NONE).table, NONE))
    return rows_of(tables, models.n_states, models.n_actions, False)


@pytest.mark.parametrize("task", range(3))
def test_it_finds_the_world_and_acts_on_it(task):
    """Worlds known from 100 visits a pair: soon the guide is the right one."""
    models = ao.worlds.random_models(8, 3, 3, 4, 1.2, 1)
    prior, rows = np.array([0.3, 0.3, 0.3, 0.1]), memory_of(models, 100)
    behaviour = behaviour_of(rows, models.rewards, prior)
    counts = walk(models[task], behaviour, 300)
    settle(behaviour, counts.record)
    p, status = behaviour.planner, behaviour.beliefs.status
    seen = Counted(dense(counts, 8), np.zeros(8), NONE)
    assert behaviour.beliefs.scores == pytest.approx(slow_scores(rows, seen, prior, status[PLACE]))
    assert status[GUIDE] == behaviour.beliefs.scores.argmax() == task
    assert status[NUMBER] >= 1
    assert 0 < status[LATEST] < 60
    assert p.state[SPENT] == 300


def test_a_new_world_is_taken_for_one():
    models = ao.worlds.random_models(8, 3, 3, 4, 1.2, 1)
    behaviour = behaviour_of(memory_of(models[:2], 100), models.rewards, [0.45, 0.45, 0.1])
    walk(models[2], behaviour, 300)
    assert behaviour.beliefs.status[GUIDE] == 2


def test_the_end_of_an_episode_is_evidence():
    """Two worlds of one row each; in one of them the second state ends the episode."""
    rows, rewards = [[[0.0, 1.0]], [[1.0, 0.0]]], [[0.0], [1.0]]
    models = ao.ModelSet([ao.MDP(rows, rewards), ao.MDP(rows, rewards, terminal=[1])])
    memory, prior = memory_of(models, 20), np.array([0.45, 0.45, 0.1])
    for task, world in enumerate(models):
        behaviour = behaviour_of(memory, models.rewards, prior)
        counts = walk(world, behaviour, 6)
        settle(behaviour, counts.record)
        status, seen = behaviour.beliefs.status, Counted(dense(counts, 2), np.zeros(2), NONE)
        slow = slow_scores(memory, seen, prior, status[PLACE], bool(status[ENDED]))
        assert behaviour.beliefs.scores == pytest.approx(slow)
        assert counts.ends == ({1: 1} if status[ENDED] else {})
        assert bool(status[ENDED]) == (task == 1)
        assert behaviour.beliefs.shares[:2].argmax() == task


def test_an_end_that_came_while_an_entry_was_leased_is_evidence_too():
    """State 1 leads to the end, 2, now and then; most visits of it are not looked at.  200 lives of 1,000 steps."""
    rows = np.zeros((3, 1, 3))
    rows[0, 0, 1], rows[1, 0, 0], rows[1, 0, 2], rows[2, 0, 2] = 1.0, 59 / 60, 1 / 60, 1.0
    world = ao.MDP(rows, [[0.5], [0.5], [0.0]], terminal=[2])
    memory, prior, unseen = memory_of(ao.ModelSet([world]), 60), np.array([0.999, 0.001]), 0
    for seed in range(200):
        behaviour = behaviour_of(memory, world.rewards, prior)
        counts = walk(world, behaviour, 1000, seed)
        unseen += bool(counts.ends) and not behaviour.beliefs.status[ENDED]
        settle_episode(behaviour, counts)
        seen = Counted(dense(counts, 3), np.array([0, 0, counts.ends.get(2, 0)]), NONE)
        place = -1 if counts.ends else behaviour.beliefs.status[PLACE]
        assert behaviour.beliefs.scores == pytest.approx(slow_scores(memory, seen, prior, place), abs=1e-6)
    assert unseen > 50


def test_without_memory_it_is_the_learner_alone():
    models = ao.worlds.random_models(8, 3, 1, 4, 1.2, 1)
    rows = WorldRows(8, 3, False)
    behaviour = act_alone(planner(rows.layout, rows.to_plan_with(False), models.rewards, 1000, Options()))
    counts = walk(models[0], behaviour, 2000)
    assert behaviour.beliefs.scores.tolist() == [0.0]
    assert behaviour.beliefs.status[[GUIDE, NUMBER, LATEST]].tolist() == [0, 0, 0]
    reward = (dense(counts, 8).sum(axis=1) * models.rewards.reshape(-1)).sum()
    assert reward > 0.9 * models[0].first_values(2000)[0]


def test_a_world_that_is_certain_stays_the_guide():
    """prior (1, 0), in a world that contradicts it: nothing but the counts of the episode changes."""
    models = ao.worlds.random_models(8, 3, 2, 4, 1.2, 1)
    behaviour = behaviour_of(memory_of(models[:1], 100), models.rewards, [1.0, 0.0])
    walk(models[1], behaviour, 500)
    assert behaviour.beliefs.status[GUIDE] == 0
    assert behaviour.beliefs.scores[1] == -np.inf


def test_entries_are_leased_for_a_sixteenth_of_their_visits_and_settling_ends_all_leases():
    models = ao.worlds.random_models(8, 3, 1, 4, 1.2, 1)
    rows = WorldRows(8, 3, False)
    behaviour = act_alone(planner(rows.layout, rows.to_plan_with(False), models.rewards, 1000, Options()))
    counts, leases = CountTable(24), set()
    one, two = streams(0, 2)
    simulator = Simulator(models[0].alias_tables, models[0].gains, 0, one, two)
    for _ in range(1500):
        simulator.run(Phase(behaviour, 1, counts, NONE))
        p, table = behaviour.planner, behaviour.table
        fresh = np.flatnonzero((p.lease > 1) & (table.budget == p.lease))
        for s in fresh.tolist():
            assert p.lease[s] == 1 + p.total[3 * s + table.plan[s]] // PATIENCE
            leases.add(int(p.lease[s]))
        assert (table.budget >= 1).all()
        assert (table.budget <= p.lease).all()
    assert len(leases) > 5
    settle(behaviour, counts.record)
    assert (behaviour.table.budget == 1).all()
    assert (behaviour.planner.lease == 1).all()
    assert (behaviour.table.plan != ASK).all()


def test_while_worlds_are_in_doubt_no_entry_is_leased():
    models = ao.worlds.random_models(8, 3, 1, 4, 1.2, 1)
    rows = memory_of(ao.ModelSet([models[0]] * 2), 100)
    behaviour = behaviour_of(rows, models.rewards, [0.45, 0.45, 0.1])
    counts = walk(models[0], behaviour, 600)
    assert behaviour.beliefs.status[GUIDE] == -1
    assert (behaviour.planner.lease == 1).all()
    assert (behaviour.table.budget == 1).all()
    assert behaviour.planner.state[SPENT] == dense(counts, 8).sum() == 600


# -- one rule ----------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(several_worlds(least=1), st.sampled_from([0.5, 0.985, 0.989, 0.9911, 0.999]), st.data())
def test_one_hypothesis_guides_above_99_percent_and_otherwise_all_that_are_plausible(case, most, data):
    """The plan of the one alone; otherwise what finding out is worth, over hypotheses of more than 0.3 %."""
    rows, count = case.rows, case.rows.count + 1
    lead, state = data.draw(st.integers(0, count - 1)), data.draw(st.integers(0, case.n_states - 1))
    prior = np.full(count, (1.0 - most) / (count - 1))
    prior[lead] = most
    rewards = case.rng.random((case.n_states, case.n_actions))
    behaviour, twin = (behaviour_of(rows, rewards, prior) for _ in range(2))
    nothing = CountTable(rewards.size).record
    kernels._prepare(behaviour, nothing, 0, state, streams(0, 1)[0])
    table = empty_table(case.n_states)
    twin.beliefs.status[PLACE] = state
    settle(twin, nothing)
    shares, blend = twin.beliefs.shares, np.zeros(case.n_actions)
    guide = int(shares.argmax()) if shares.max() > 0.99 else -1
    assert behaviour.beliefs.status[GUIDE] == guide
    assert behaviour.beliefs.shares == pytest.approx(shares)
    says = [guide] if guide >= 0 else np.flatnonzero(shares > 0.003).tolist()
    assert np.flatnonzero(behaviour.planner.rotation[:, READY]).tolist() == says
    for c in says:
        sweep(twin.planner, table, nothing, c, 20, state, False)
        plan(twin.planner, table, nothing, c, 0, state, False)
        blend = twin.planner.means[:-1].copy()
    if guide < 0:
        evidence = Evidence(*(getattr(twin.beliefs, name) for name in Evidence._fields))
        act_unresolved(twin.planner, evidence, twin.unresolved, nothing, state, 0, blend)
    assert blend[behaviour.table.plan[state]] == pytest.approx(blend.max())
    assert behaviour.beliefs.status[NUMBER] == 0, "nothing has changed before the first step"


def test_vectors_decide_where_there_are_some():
    """A brink: waiting, left or right, and one side is a hole.  Vectors jump; without them it mostly waits."""
    rows = np.zeros((4, 3, 4))
    rows[0, [0, 1, 2], [0, 1, 2]] = rows[1:, :, 3] = 1.0
    rewards = np.array([[0.0] * 3, [1.0] * 3, [1.0] * 3, [0.0] * 3])
    models = ao.ModelSet([ao.MDP(rows, rewards, terminal=[hole, 3]) for hole in (1, 2)])
    memory, prior = memory_of(models, 1000), [0.4995, 0.4995, 0.001]
    waiting = walk(models[0], behaviour_of(memory, rewards, prior, horizon=50), 50)
    assert 25 < dense(waiting, 4)[0, 0] <= 50
    jumping = walk(models[0], behaviour_of(memory, rewards, prior, with_vectors=True, horizon=50), 50)
    assert jumping.ends
    assert dense(jumping, 4)[0, 0] == 0


def test_vectors_know_what_the_episode_has_shown():
    """After every step the rows of the state that was left are those of memory and of the episode so far."""
    models = ao.worlds.random_models(6, 2, 2, 3, 1.0, 0)
    models = ao.ModelSet(
        [ao.MDP(world.transitions, models.rewards, terminal=[4 + i]) for i, world in enumerate(models)]
    )
    behaviour = behaviour_of(memory_of(models, 3), models.rewards, [0.4, 0.4, 0.2], with_vectors=True)
    counts, (one, two), changed = CountTable(12), streams(3, 2), 0
    simulator = Simulator(models[0].alias_tables, models[0].gains, 0, one, two, terminal=models[0].terminal)
    made, p = behaviour.vectors, behaviour.planner
    while not simulator.ended and p.state[SPENT] < 40:
        state, before = simulator.state, made.weights.copy()
        simulator.run(Phase(behaviour, 1, counts, NONE))
        after = made.weights.copy()
        tabulate(p, made, counts.record, state)
        assert (made.weights == after).all()
        changed += not np.array_equal(before, after)
    assert changed > 2


@pytest.mark.parametrize(
    ("horizon", "places", "sweeps"),
    [(100, 1_000, 20), (100, 99_999, 2), (100, 300_000, 1), (2_000, 399_999, 10), (20_000, 399_999, 10)],
)
def test_planning_for_an_episode_costs_no_more_than_so_much_a_step_of_it(horizon, places, sweeps):
    rows = memory_of(ao.worlds.gridworld(), 1)
    short = planner(rows.layout, rows.to_plan_with(doubts=True), np.zeros((16, 4)), horizon, Options())
    assert kernels._sweeps(short._replace(states=np.zeros(places, np.int32))) == sweeps
