import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from aomultirl.engine.counts import CountTable
from aomultirl.learning.greedy import iterate


@st.composite
def samples(draw):
    """(visits (S, A, S), rewards (S, A))."""
    n_states, n_actions = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    visits = rng.integers(0, 6, (n_states, n_actions, n_states)) * (rng.random((n_states, n_actions, n_states)) < 0.5)
    return visits, rng.random((n_states, n_actions))


def lists(visits):
    n_states, n_actions, _ = visits.shape
    table = CountTable(n_states * n_actions)
    for s, a, s2 in np.argwhere(visits).tolist():
        table.count(s * n_actions + a, s2, int(visits[s, a, s2]))
    return table.to_lists()


@settings(deadline=None)
@given(samples(), st.sampled_from([0.5, 0.9, 0.95]))
def test_equals_dense_value_iteration(sample, discount):
    """The rows are the shares of the visits, and nothing at all where there are none: no value after that step."""
    visits, rewards = sample
    model = visits / np.maximum(visits.sum(axis=2, keepdims=True), 1)
    values = np.zeros(len(rewards))
    for _ in range(450):
        q = rewards + discount * model @ values
        values = q.max(axis=1)
    plan = iterate(*lists(visits), rewards, np.ones(len(rewards)), 0.0, discount, 450)
    assert plan.dtype == np.int32
    assert np.allclose(q[np.arange(len(q)), plan], values, atol=1e-7)


@settings(deadline=None)
@given(samples(), st.integers(0, 4))
def test_each_sweep_uses_the_values_of_the_states_before(sample, sweeps):
    visits, rewards = sample
    n_states, n_actions = rewards.shape
    values, slow = np.zeros(n_states), np.zeros(n_states, int)
    for _ in range(sweeps):
        for s in range(n_states):
            q = [rewards[s, a] + 0.9 * visits[s, a] @ values / max(visits[s, a].sum(), 1) for a in range(n_actions)]
            values[s], slow[s] = max(q), int(np.argmax(q))
    assert iterate(*lists(visits), rewards, np.ones(len(rewards)), 0.0, 0.9, sweeps).tolist() == slow.tolist()
