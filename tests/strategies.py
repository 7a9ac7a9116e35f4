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


@st.composite
def ending_sets(draw, max_states=4):
    """Two or three worlds that start in state 0 and differ in a row, in terminal states, in both or in nothing."""
    transitions, rewards = draw(dense_worlds(max_states=max_states, max_actions=2, min_states=2))
    n_states, n_actions = rewards.shape
    models = []
    for _ in range(draw(st.integers(2, 3))):
        rows = transitions.copy()
        if draw(st.booleans()):
            pair = draw(st.integers(0, n_states - 1)), draw(st.integers(0, n_actions - 1))
            rows[pair] = np.random.default_rng(draw(st.integers(0, 2**32 - 1))).dirichlet(np.ones(n_states))
        terminal = draw(st.sets(st.integers(1, n_states - 1)))
        models.append(ao.MDP(rows, rewards, terminal=sorted(terminal)))
    return ao.ModelSet(models)


def outcomes(world, s, a):
    """{(successor, whether the episode ended): probability} of a pair, positive ones; empty where nobody acts."""
    if world.terminal[s]:
        return {}
    row = world.transitions[s, a].tolist()
    return {(s2, bool(world.terminal[s2])): chance for s2, chance in enumerate(row) if chance > 0.0}


def deterministic_policies(n_states, n_actions):
    """Every map from states to actions, (A**S, S)."""
    return np.stack(np.meshgrid(*[np.arange(n_actions)] * n_states, indexing="ij"), -1).reshape(-1, n_states)
