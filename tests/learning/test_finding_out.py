"""What it is worth to find out, against the formulas written out over whole arrays."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aomultirl as ao
from aomultirl.engine.behaviours import empty_table
from aomultirl.engine.counts import CountTable
from aomultirl.learning.beliefs import act_on_beliefs, settle
from aomultirl.learning.finding_out import (
    MOMENT,
    PLAUSIBLE,
    Evidence,
    act_unresolved,
    all_resolved,
)
from aomultirl.learning.optimism import sweep
from aomultirl.learning.planner import Options, planner
from aomultirl.learning.world_rows import rows_of
from counted_worlds import Counted, several_worlds, slow_alpha, slow_row_joint

EXACT = Options(level=0.0, discount=0.9)
"""Without hope: what was counted is the world."""


def evidence_of(behaviour):
    found = behaviour.beliefs
    return Evidence(*(getattr(found, name) for name in Evidence._fields))


def slow_predictions(rows, x, here):
    """What every hypothesis says of the next outcome of a row, (C, n), after ``here`` was seen of it."""
    a, b, alpha = rows.layout.first[x], rows.layout.first[x + 1], slow_alpha(rows, x)
    known = [*rows.counts[:, a:b], np.zeros(b - a)]
    sigma, pool = slow_row_joint(rows, x, rows.counts[:, a:b])[1], rows.counts[:, a:b].sum(axis=0)

    def chance(counts):
        """Of what was seen here, one outcome after the other, and then of each outcome."""
        total, seen = 1.0, np.zeros(b - a)
        for place in np.repeat(np.arange(b - a), here.astype(int)):
            total *= (counts[place] + alpha[place] + seen[place]) / (counts + alpha + seen).sum()
            seen[place] += 1
        return total, (counts + alpha + seen) / (counts + alpha + seen).sum()

    alike, together = chance(pool)
    found = []
    for counts in known:
        apart, own = chance(counts)
        found.append((sigma * alike * together + (1 - sigma) * apart * own) / (sigma * alike + (1 - sigma) * apart))
    return np.array(found)


def slow_information(shares, predicted):
    counted = shares > PLAUSIBLE
    b, p = shares[counted] / shares[counted].sum(), predicted[counted]
    return float((b[:, None] * p * np.log(p / (b @ p))).sum())


@settings(deadline=None, max_examples=60)
@given(several_worlds(least=1), st.integers(0, 2**32 - 1))
def test_information_is_that_of_the_predictions_that_belief_is_made_of(case, seed):
    """Of transitions, of the ends of where they lead, and of rewards that are not known."""
    if case.learns_rewards:
        return
    rows, rng = case.rows, np.random.default_rng(seed)
    rewards = rng.random((case.n_states, case.n_actions))
    p = planner(rows.layout, rows.to_plan_with(doubts=False), rewards, 100, Options())
    prior = rng.dirichlet(np.ones(rows.count + 1))
    behaviour, counts = act_on_beliefs(p, rows, prior), CountTable(rewards.size)
    pair = int(rng.integers(rewards.size))
    first, last = rows.layout.first[pair], rows.layout.first[pair + 1]
    for place in rng.integers(first, last - 1, 3).tolist() if last - 1 > first else []:
        counts.count(pair, int(rows.layout.outcomes[place]), 1)
    settle(behaviour, counts.record)
    evidence, found = evidence_of(behaviour), behaviour.unresolved
    act_unresolved(p, evidence, found, counts.record, pair // case.n_actions, 0, np.zeros(case.n_actions))
    shares, here = behaviour.beliefs.shares, p.here
    told = slow_information(shares, slow_predictions(rows, pair, here[first:last]))
    pool = rows.counts[:, first : last - 1].sum(axis=0) + here[first : last - 1]
    seen = pool.sum() + here[last - 1]
    for state, arrivals in zip(rows.layout.outcomes[first : last - 1].tolist(), pool, strict=True):
        x = rows.layout.n_pairs + state
        ends = here[rows.layout.first[x] : rows.layout.first[x + 1]]
        told += arrivals / seen * slow_information(shares, slow_predictions(rows, x, ends))
    assert found.information[pair] == pytest.approx(told, rel=1e-6, abs=1e-9)


def known_worlds(rows, rewards, options=EXACT):
    """A behaviour for worlds with these chances, (C, S, A, S), which were seen ten thousand times; and its counts.

    The last hypothesis, of a world that nobody has met, has no share.
    """
    rows = np.asarray(rows, float)
    n_states, n_actions = rows.shape[1:3]
    tables = [
        Counted(np.rint(10_000 * one).astype(int).reshape(-1, n_states), np.zeros(n_states), np.empty(0))
        for one in rows
    ]
    memory = rows_of([(one.table, one.sums) for one in tables], n_states, n_actions, False)
    counted = np.concatenate((memory.counts, memory.counts[:1]))
    p = planner(memory.layout, counted, np.asarray(rewards, float), 1000, options)
    p.tops[:] = 0.0
    return memory, p, CountTable(n_states * n_actions).record


def converged(memory, p, nothing, prior, sweeps=400):
    behaviour = act_on_beliefs(p, memory, np.array([*prior, 0.0]))
    evidence, found = evidence_of(behaviour), behaviour.unresolved
    n_states, n_actions = p.values.shape[1], len(p.means) - 1
    for c in range(len(prior)):
        sweep(p, empty_table(n_states), nothing, c, 300, 0, False)
    means = np.zeros((n_states, n_actions))
    for _ in range(sweeps):
        for s in range(n_states):
            act_unresolved(p, evidence, found, nothing, s, 0, means[s])
    return means, found


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.integers(2, 3), st.integers(2, 3))
def test_values_solve_the_equation(seed, n_states, n_actions, count):
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.full(n_states, 0.7), (count, n_states, n_actions))
    rows[:, 0] = rows[0, 0]  # some rows are alike in all worlds
    rewards, prior = rng.random((n_states, n_actions)), rng.dirichlet(np.full(count, 3.0))
    if prior.min() < 2 * PLAUSIBLE:
        return
    memory, p, nothing = known_worlds(rows, rewards)
    means, found = converged(memory, p, nothing, prior)
    chances = memory.counts[:, : p.starts[-1]]
    rows = np.zeros_like(rows)
    for pair in range(n_states * n_actions):
        for place in range(p.starts[pair], p.starts[pair + 1] - 1):
            rows[:, pair // n_actions, pair % n_actions, p.states[place]] = chances[:, place]
    rows /= rows.sum(axis=3, keepdims=True)
    entropy = -float((prior * np.log(prior)).sum())
    told = np.minimum(1.0, found.information.reshape(n_states, n_actions) / entropy)
    own, values = np.zeros((count, n_states)), np.zeros(n_states)
    for _ in range(400):
        own = (rewards + EXACT.discount * np.einsum("wsat,wt->wsa", rows, own)).max(axis=2)
    for _ in range(400):
        known = np.einsum("w,wsat,wt->sa", prior, rows, own)
        lost = np.maximum(0.0, known - np.einsum("w,wsat,t->sa", prior, rows, values))
        q = rewards + EXACT.discount * (known - (1.0 - told) * lost)
        values = q.max(axis=1)
    np.testing.assert_allclose(means, q, atol=1e-6)
    np.testing.assert_allclose(found.values, values, atol=1e-6)
    assert (found.information.reshape(n_states, n_actions)[0] < 1e-6).all()


def hall(length=6):
    """A hall with a small reward at its beginning, action 0, and a sign at its end, which alone tells two worlds apart.

    The sign leads to a room on the left or on the right; in it one action, another in each world, earns much.
    """
    n_states = length + 2
    rows = np.zeros((2, n_states, 2, n_states))
    for s in range(length - 1):
        rows[:, s, 0, max(0, s - 1)], rows[:, s, 1, s + 1] = 1.0, 1.0
    for w in range(2):
        rows[w, length - 1, :, length + w] = 1.0
        for room in (length, length + 1):
            rows[w, room, :, room] = 1.0
    rows[0, length, 0] = rows[1, length + 1, 1] = np.eye(n_states)[0]
    rewards = np.zeros((n_states, 2))
    rewards[0, 0], rewards[length:] = 0.1, 1.0
    return rows, rewards


def test_it_goes_where_worlds_differ_although_the_mean_of_q_would_do_nothing_but_wait():
    """Where nothing but a far sign tells worlds apart, every step of the way there is the best one."""
    rows, rewards = hall()
    memory, p, nothing = known_worlds(rows, rewards, Options(level=0.0, discount=0.95))
    means, found = converged(memory, p, nothing, [0.5, 0.5])
    assert (means[:5].argmax(axis=1) == 1).all()
    assert found.information.reshape(-1, 2)[5].min() == pytest.approx(np.log(2), rel=1e-3)


def test_where_finding_out_costs_more_than_it_earns_it_stays():
    rows, rewards = hall()
    rewards[0, 0] = 0.9
    memory, p, nothing = known_worlds(rows, rewards, Options(level=0.0, discount=0.95))
    assert converged(memory, p, nothing, [0.5, 0.5])[0][0].argmax() == 0


def test_worlds_that_are_alike_tell_nothing_however_small_the_shares_of_some_are():
    """Hypotheses that are not plausible have no say, and what they leave out is no information."""
    rows = np.repeat(np.random.default_rng(1).dirichlet(np.ones(3), (1, 3, 2)), 9, axis=0)
    memory, p, nothing = known_worlds(rows, np.ones((3, 2)))
    behaviour = act_on_beliefs(p, memory, np.array([0.5, 0.48, *[0.0025] * 7, 0.0025]))
    found = behaviour.unresolved
    act_unresolved(p, evidence_of(behaviour), found, nothing, 1, 0, np.zeros(2))
    assert found.information[2:4] == pytest.approx([0.0, 0.0], abs=1e-9)


def test_a_hole_in_one_world_counts_as_often_as_that_world_is_likely():
    """State 1 ends the episode in the first world; in the second, acting there earns 1 and leads back to state 0."""
    visits = np.zeros((2, 2, 2), int)
    visits[:, 0, 1] = 10_000
    visits[1, 1, 0] = 10_000
    ends = np.array([[0, 10_000], [0, 0]])
    tables = [Counted(visits[w], ends[w], np.empty(0)) for w in range(2)]
    memory = rows_of([(one.table, one.sums) for one in tables], 2, 1, False)
    counted = np.concatenate((memory.counts, memory.counts[:1]))
    p = planner(memory.layout, counted, np.array([[0.0], [1.0]]), 1000, EXACT)
    p.tops[:] = 0.0
    nothing = CountTable(2).record
    _, found = converged(memory, p, nothing, [0.5, 0.5])
    own = 1.0 / (1.0 - EXACT.discount**2)  # of arriving in state 1 in the second world
    assert p.values[1, 1] == pytest.approx(own, rel=1e-3)
    assert p.values[0, 1] == pytest.approx(0.0, abs=1e-9)
    told = min(1.0, found.information[1] / np.log(2))
    ahead = told * p.values[1, 0] + (1.0 - told) * found.values[0]
    assert found.values[1] == pytest.approx(0.5 * (1.0 + EXACT.discount * ahead), rel=1e-3)


def test_another_moment_comes_when_the_belief_has_moved():
    rows, rewards = hall()
    memory, p, nothing = known_worlds(rows, rewards)
    behaviour = act_on_beliefs(p, memory, np.array([0.5, 0.5, 0.0]))
    evidence, found, means = evidence_of(behaviour), behaviour.unresolved, np.zeros(2)
    for shares, moment in (([0.5, 0.5, 0.0], 1), ([0.55, 0.45, 0.0], 1), ([0.7, 0.3, 0.0], 2)):
        evidence.shares[:] = shares
        act_unresolved(p, evidence, found, nothing, 0, 0, means)
        assert found.state[MOMENT] == moment
    assert len(all_resolved(1).values) == 0


def test_in_a_large_grid_it_earns_what_waiting_does_not():
    """With the models themselves as memory; QMDP with the true worlds earns 44 % on a grid of 12 x 12."""
    models = ao.worlds.gridworld(9)
    agent = ao.agents.Recall(0.05, horizon=400)
    agent.remember(models)
    history = ao.run(agent, models, ao.streams.round_robin(), episodes=12, seed=5)
    best = np.array([world.first_values(400) for world in models])[history["task"], history["start"]]
    assert history.reward.sum() > 0.8 * best.sum()
