import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aomultirl as ao
from aomultirl.engine.counts import CountTable
from aomultirl.experiments.judge import estimate_error


def slow_error(counts, transitions):
    """Dense: unvisited rows are zero vectors."""
    visits = counts.sum(axis=2, keepdims=True)
    learned = counts / np.maximum(visits, 1)
    return np.abs(learned - transitions).sum(axis=2).mean()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 400))
def test_estimate_error_is_that_of_the_dense_arrays(seed, steps):
    models = ao.worlds.random_models(6, 2, 2, 3, 0.8, seed)
    walked = (
        models[0].rollout(np.random.default_rng(seed).integers(0, 2, (max(steps, 1), 6)), seed=seed) if steps else None
    )
    counts = CountTable(12) if walked is None else walked.counts
    dense = np.zeros((12, 6))
    starts, states, visits = counts.to_lists()
    for pair in range(12):
        dense[pair, states[starts[pair] : starts[pair + 1]]] = visits[starts[pair] : starts[pair + 1]]
    for world in models:  # the second one has successors that the walk may never have seen
        expected = slow_error(dense.reshape(6, 2, 6), world.transitions)
        assert estimate_error(counts.record, world.successors) == pytest.approx(expected, abs=1e-12)


def test_errors_shrink_as_a_world_is_learned_and_unknown_worlds_have_none():
    models = ao.worlds.gridworld()
    history = ao.run(ao.agents.OracleUCBVI(0.03, 200, 4), models, ao.streams.round_robin(), 80, seed=1)
    first, last = history["estimate_error"][:4], history["estimate_error"][-4:]
    assert (last < 0.5 * first).all()
    assert (first < 1.0).all()
    assert np.isnan(ao.run(ao.agents.Random(5), models, ao.streams.uniform(), 3)["estimate_error"]).all()


def test_regret_is_split_into_the_two_parts():
    models = ao.worlds.gridworld()
    options = {"samples": 5, "clustering_horizon": 300, "learning_horizon": 40}
    agent = ao.agents.AOMultiRL(4, 1.299999, 7, 0.03, [(1, 0), (8, 3), (2, 1)], **options)
    history = ao.run(agent, models, ao.streams.uniform(), 12, seed=2)
    best = np.array([[m.optimal_values(n)[0, 5] for n in (340, 40)] for m in models])[history["task"]]
    spread = max(m.diameter() for m in models)
    clustering = history["regret"] - history["learning_regret"]
    # V*_340(s1) - V*_40(s) less what was earned in between: s may lie anywhere, so only to within the diameter.
    assert (np.abs(clustering - (best[:, 0] - best[:, 1] - history["clustering_reward"])) <= spread).all()
    assert (history["learning_regret"] >= -1e-9).all()
    whole = ao.run(ao.agents.OneEpisodeUCBVI(0.03, 50), models, ao.streams.uniform(), 5, seed=2)
    assert whole["learning_regret"] == pytest.approx(whole["regret"], abs=1e-9)
