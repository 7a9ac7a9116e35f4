import numpy as np
import pytest
from aomultirl.learning.shared_rows import share_rewards, share_rows
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln, logsumexp

import aomultirl as ao
from aomultirl.engine.behaviours import ASK
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Phase, Simulator
from aomultirl.identifying.knowledge import knowledge
from aomultirl.learning.beliefs import LATEST, act_on_beliefs, settle
from aomultirl.learning.optimism import GUIDE, SPENT, Options, planner

NONE = np.empty(0)


def table_of(visits):
    """A count table of visits (S * A, S)."""
    table = CountTable(len(visits))
    for pair, s in np.argwhere(visits).tolist():
        table.count(pair, s, int(visits[pair, s]))
    return table


def behaviour_of(memory, rewards, prior, horizon=1000):
    """memory: list of visits (S * A, S)."""
    n_states, n_actions = rewards.shape
    known = knowledge([table_of(visits) for visits in memory], n_states * n_actions, n_states)
    plan = planner(known, share_rows(known), rewards, horizon, Options())
    return act_on_beliefs(plan, np.asarray(prior), np.tile(plan.values, (len(memory), 1)))


def ln_ml(before, b, alpha, theta):
    """ln of the Dirichlet marginal likelihood of b after ``before``."""
    start = before + alpha
    whole = gammaln(before.sum() + theta) - gammaln(before.sum() + b.sum() + theta)
    return (gammaln(start + b) - gammaln(start)).sum() + whole


def slow_scores(behaviour, episode, prior):
    """ln prior + ln likelihood of every hypothesis, all at once from the counts of the episode, (S * A, S)."""
    known, believed = behaviour.planner.known, behaviour.planner.shared_rows
    count, n_pairs = known.visits.shape
    with np.errstate(divide="ignore"):
        scores = np.log(prior)
    for pair in range(n_pairs):
        states = known.states[known.starts[pair] : known.starts[pair + 1] - 1]
        b = np.append(episode[pair, states], np.delete(episode[pair], states).sum())
        each, rest, theta = believed.prior[:, pair]
        alpha = np.append(np.full(len(states), each), rest)
        row = slice(known.starts[pair], known.starts[pair + 1])
        own = ln_ml(np.zeros(len(b)), b, alpha, theta)
        of = [ln_ml(believed.seen[c, row], b, alpha, theta) for c in range(count)]
        shown = [c for c in range(count) if known.visits[c, pair] > 0]
        new = own
        if shown:
            rho = believed.shared
            terms = [own, *(of[c] for c in shown)]
            new = logsumexp(terms, b=[1.0 - rho] + [rho / len(shown)] * len(shown))
        for c in range(count):
            scores[c] += of[c] if c in shown else new
        scores[count] += new
    return scores


@st.composite
def episodes(draw):
    """(memory, chunks of an episode, rewards, prior)."""
    n_states, n_actions, count = draw(st.integers(1, 4)), draw(st.integers(1, 2)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_pairs = n_states * n_actions
    some = lambda most: rng.integers(0, most, (n_pairs, n_states)) * (rng.random((n_pairs, n_states)) < 0.5)  # noqa: E731
    memory, chunks = [some(30) for _ in range(count)], [some(6) for _ in range(draw(st.integers(1, 4)))]
    return memory, chunks, rng.random((n_states, n_actions)), rng.dirichlet(np.ones(count + 1))


@settings(deadline=None, max_examples=150)
@given(episodes(), st.randoms(use_true_random=False))
def test_scores_are_priors_times_marginal_likelihoods_in_any_order(episode, random):
    memory, chunks, rewards, prior = episode
    behaviour = behaviour_of(memory, rewards, prior)
    counts, seen = CountTable(rewards.size), np.zeros_like(chunks[0])
    for chunk in chunks:
        moves = np.argwhere(chunk).tolist()
        random.shuffle(moves)
        for pair, s in moves:
            counts.count(pair, s, int(chunk[pair, s]))
        seen += chunk
        settle(behaviour, counts.record)
        assert behaviour.beliefs.scores == pytest.approx(slow_scores(behaviour, seen, prior), abs=1e-6)
    once = behaviour_of(memory, rewards, prior)
    settle(once, counts.record)
    assert once.beliefs.scores == pytest.approx(behaviour.beliefs.scores, abs=1e-6)
    assert once.planner.state[SPENT] == behaviour.planner.state[SPENT] == seen.sum()
    assert (once.planner.weight == behaviour.planner.weight).all()


@settings(deadline=None, max_examples=50)
@given(episodes())
def test_predictions_of_each_hypothesis_sum_to_one(episode):
    """One visit, over all successors that somebody has shown and one that nobody has."""
    memory, _, rewards, prior = episode
    n_pairs, n_states = memory[0].shape
    for pair in range(n_pairs):
        shown = np.flatnonzero(np.sum([visits[pair] for visits in memory], axis=0))
        others = [s for s in range(n_states) if s not in shown]
        if not others:
            continue
        total = np.zeros(len(prior))
        for s in [*shown.tolist(), others[0]]:
            behaviour, counts = behaviour_of(memory, rewards, prior), CountTable(n_pairs)
            counts.count(pair, s, 1)
            settle(behaviour, counts.record)
            total += np.exp(behaviour.beliefs.scores - np.log(prior))
        assert total == pytest.approx(np.ones(len(prior)))


def slow_reward_scores(earned, visits, sums, n, believed, prior):
    """ln prior + ln likelihood of the rewards of an episode, from the definition, with fractions as parts of visits.

    earned, visits: of the worlds in memory, (C, S * A); sums, n: of the episode, (S * A,).
    """
    with np.errstate(divide="ignore"):
        scores = np.log(prior)
    for pair in range(len(sums)):
        b = np.array([sums[pair], n[pair] - sums[pair]])
        own = ln_ml(np.zeros(2), b, np.full(2, 0.5), 1.0)
        of = []
        for c in range(len(visits)):
            before = np.array([believed.sums[c, pair], believed.mass[c, pair] - believed.sums[c, pair]])
            of.append(ln_ml(before, b, np.full(2, 0.5), 1.0))
        shown = np.flatnonzero(visits[:, pair])
        new = own
        if shown.size:
            weights = [1.0 - believed.shared] + [believed.shared / shown.size] * shown.size
            new = logsumexp([own, *(of[c] for c in shown)], b=weights)
        scores += [of[c] if c in shown else new for c in range(len(visits))] + [new]
    return scores


@settings(deadline=None, max_examples=60)
@given(episodes())
def test_unknown_rewards_tell_worlds_apart_as_rows_of_two_outcomes(episode):
    memory, chunks, rewards, prior = episode
    rng, known = np.random.default_rng(0), knowledge([table_of(visits) for visits in memory], *memory[0].shape)
    earned, sums = rng.random(known.visits.shape) * known.visits, np.zeros(rewards.size)
    believed = share_rewards(earned, known.visits)

    def both(unknown):
        plan = planner(known, share_rows(known), rewards, 1000, Options(), unknown)
        return act_on_beliefs(plan, np.asarray(prior), np.tile(plan.values, (len(memory), 1)))

    behaviour, counts, seen = both((sums, believed)), CountTable(rewards.size), np.zeros_like(chunks[0])
    for chunk in chunks:
        counts.add(table_of(chunk))
        seen += chunk
        sums += rng.random(rewards.size) * chunk.sum(axis=1)
        settle(behaviour, counts.record)
    only = slow_reward_scores(earned, known.visits, sums, seen.sum(axis=1), believed, prior)
    with np.errstate(divide="ignore"):
        only -= np.log(prior)
    assert behaviour.beliefs.scores == pytest.approx(slow_scores(behaviour, seen, prior) + only, abs=1e-6)


def walk(world, behaviour, steps, seed=0):
    """Some steps in the simulator; the counts."""
    counts = CountTable(world.n_states * world.n_actions)
    one, two = streams(seed, 2)
    Simulator(world.alias_tables, world.gains, 0, one, two).run(Phase(behaviour, steps, counts, NONE))
    return counts


def dense(counts, n_states):
    starts, states, visits = counts.to_lists()
    table = np.zeros((len(starts) - 1, n_states), np.int64)
    table[np.repeat(np.arange(len(starts) - 1), np.diff(starts)), states] = visits
    return table


def memory_of(models, visits, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.multinomial(visits, world.transitions.reshape(-1, world.n_states)) for world in models]


@pytest.mark.parametrize("task", range(3))
def test_it_finds_the_world_and_acts_on_it(task):
    """Worlds known from 100 visits a pair: soon the guide is the right one, and the model holds its counts."""
    models = ao.worlds.random_models(8, 3, 3, 4, 1.2, 1)
    prior = np.array([0.3, 0.3, 0.3, 0.1])
    behaviour = behaviour_of(memory_of(models, 100), models.rewards, prior)
    counts = walk(models[task], behaviour, 300)
    settle(behaviour, counts.record)
    plan, beliefs = behaviour.planner, behaviour.beliefs
    assert beliefs.scores == pytest.approx(slow_scores(behaviour, dense(counts, 8), prior))
    assert plan.state[GUIDE] == beliefs.scores.argmax() == task
    assert beliefs.switches[LATEST] < 60
    assert plan.state[SPENT] == 300
    assert np.allclose(plan.weight, plan.here + plan.shared_rows.seen[task])
    assert np.allclose(plan.mass, plan.total + plan.shared_rows.mass[task])


def test_a_new_world_is_taken_for_one():
    models = ao.worlds.random_models(8, 3, 3, 4, 1.2, 1)
    behaviour = behaviour_of(memory_of(models[:2], 100), models.rewards, [0.45, 0.45, 0.1])
    walk(models[2], behaviour, 300)
    assert behaviour.planner.state[GUIDE] == 2


def test_without_memory_it_is_the_learner_alone():
    models = ao.worlds.random_models(8, 3, 1, 4, 1.2, 1)
    behaviour = behaviour_of([], models.rewards, [1.0])
    counts = walk(models[0], behaviour, 2000)
    assert behaviour.beliefs.scores.tolist() == [0.0]
    assert behaviour.beliefs.switches.tolist() == [0, 0]
    reward = (dense(counts, 8).sum(axis=1) * models.rewards.reshape(-1)).sum()
    assert reward > 0.9 * models[0].first_values(2000)[0]


def test_a_world_that_is_certain_stays_the_guide():
    """prior (1, 0), in a world that contradicts it: nothing but the counts of the episode changes."""
    models = ao.worlds.random_models(8, 3, 2, 4, 1.2, 1)
    behaviour = behaviour_of(memory_of(models[:1], 100), models.rewards, [1.0, 0.0])
    walk(models[1], behaviour, 500)
    assert behaviour.planner.state[GUIDE] == 0
    assert behaviour.beliefs.scores[1] == -np.inf


def test_every_entry_needs_a_look_again_after_settling():
    models = ao.worlds.random_models(8, 3, 1, 4, 1.2, 1)
    behaviour = behaviour_of([], models.rewards, [1.0])
    counts = walk(models[0], behaviour, 2000)
    assert behaviour.table.budget.max() > 1
    settle(behaviour, counts.record)
    assert (behaviour.table.budget == 1).all()
    assert (behaviour.planner.lease == 1).all()
    assert (behaviour.table.plan != ASK).all()
