"""Random small worlds for property-based tests."""

import numpy as np
from hypothesis import strategies as st

import aomultirl as ao


@st.composite
def dense_worlds(draw, max_states=4, max_actions=3, min_states=1):
    """(transitions, rewards): dense, some entries zero; rows sum to one."""
    n_states = draw(st.integers(min_states, max_states))
    n_actions = draw(st.integers(1, max_actions))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sparsity = draw(st.sampled_from([0.0, 0.3, 0.7]))
    transitions = rng.dirichlet(np.ones(n_states), (n_states, n_actions)) + 1e-3
    transitions[rng.random(transitions.shape) < sparsity] = 0.0
    lost = transitions.sum(axis=2) == 0.0
    transitions[lost, rng.integers(0, n_states, lost.sum())] = 1.0
    transitions /= transitions.sum(axis=2, keepdims=True)
    return transitions, rng.random((n_states, n_actions))


@st.composite
def worlds(draw, **sizes):
    return ao.MDP(*draw(dense_worlds(**sizes)))


@st.composite
def ending_worlds(draw, **sizes):
    """Worlds in which some states other than the start may be terminal."""
    transitions, rewards, *rest = draw(dense_worlds(**sizes))
    terminal = draw(st.sets(st.integers(1, max(1, len(rewards) - 1)))) if len(rewards) > 1 else set()
    return ao.MDP(transitions, rewards, *rest, terminal=sorted(terminal))


def deterministic_policies(n_states, n_actions):
    """Every map from states to actions, (A**S, S)."""
    return np.stack(np.meshgrid(*[np.arange(n_actions)] * n_states, indexing="ij"), -1).reshape(-1, n_states)
