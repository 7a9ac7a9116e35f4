"""The marginal likelihood is the product of the probabilities that a world gives to one observation after the other."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aomultirl.engine.counts import CountTable
from aomultirl.identifying.marginal_likelihood import Priors, episode_seen, ln_marginal, world_seen


def slowly(steps, ended, world, earlier_ends, prior, reward_prior, ends, rewards):
    """One observation after the other; ``world`` is the list of steps before, (s, a, s2, reward), S and A."""
    n_states, n_actions, before = world
    rows = np.full((n_states, n_actions, n_states), prior / n_states)
    heads = np.full((n_states, n_actions, 2), reward_prior / 2)
    coins = np.full((n_states, 2), prior / 2)
    for s, a, s2, r in before:
        rows[s, a, s2] += 1
        heads[s, a] += r, 1 - r
        coins[s, 1] += 1
    for state, times in earlier_ends.items():
        coins[state, 0] += times
    total = 0.0
    for s, a, s2, r in steps:
        total += math.log(rows[s, a, s2] / rows[s, a].sum())
        rows[s, a, s2] += 1
        if rewards:
            total += math.log(heads[s, a, 1 - r] / heads[s, a].sum())
            heads[s, a, 1 - r] += 1
        if ends:
            total += math.log(coins[s, 1] / coins[s].sum())
            coins[s, 1] += 1
    if ends and ended >= 0:
        total += math.log(coins[ended, 0] / coins[ended].sum())
    return total


def tally(steps, n_states, n_actions, ends):
    counts, sums = CountTable(n_states * n_actions), np.zeros(n_states * n_actions)
    for s, a, s2, r in steps:
        counts.count(s * n_actions + a, s2, 1)
        sums[s * n_actions + a] += r
    for state, times in ends.items():
        counts.end(state, times)
    return counts, sums


@st.composite
def cases(draw):
    n_states, n_actions = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))

    def walk(length):
        made = rng.integers(0, (n_states, n_actions, n_states, 2), (length, 4))
        return [tuple(step) for step in made.tolist()]

    before, steps = walk(rng.integers(0, 30)), walk(rng.integers(1, 12))
    ends = {s: int(rng.integers(1, 4)) for s in range(n_states) if rng.random() < 0.4}
    ended = int(rng.integers(-1, n_states))
    return n_states, n_actions, before, steps, ends, ended


@settings(deadline=None, max_examples=80)
@given(cases(), st.booleans(), st.booleans(), st.sampled_from([0.1, 1.0, 2.5]))
def test_equals_the_product_of_predictions(case, rewards, ends, prior):
    n_states, n_actions, before, steps, earlier_ends, ended = case
    counts, sums = tally(before, n_states, n_actions, earlier_ends)
    own, earned = tally(steps, n_states, n_actions, {ended: 1} if ended >= 0 else {})
    if not rewards:
        sums = earned = np.empty(0)
    priors = Priors(prior, 0.4, ends)
    expected = slowly(steps, ended, (n_states, n_actions, before), earlier_ends, prior, 0.4, ends, rewards)
    episode = episode_seen(own, earned)
    assert ln_marginal(episode, world_seen(counts, n_states, sums), priors, False) == pytest.approx(expected, abs=1e-9)
    counts.add(own)
    both = world_seen(counts, n_states, sums + earned)
    assert ln_marginal(episode, both, priors, True) == pytest.approx(expected, abs=1e-9)


def test_golden():
    """A coin of two states with one of each seen, prior 1: ln((1.5 / 3) (2.5 / 4)) for two more of the same."""
    counts, sums = tally([(0, 0, 0, 0), (0, 0, 1, 0)], 2, 1, {})
    own, _ = tally([(0, 0, 1, 0), (0, 0, 1, 0)], 2, 1, {})
    found = ln_marginal(
        episode_seen(own, np.empty(0)), world_seen(counts, 2, np.empty(0)), Priors(1.0, 1.0, False), False
    )
    assert found == pytest.approx(math.log(1.5 / 3.0 * 2.5 / 4.0))
    assert len(sums) == 2
