"""Runs for the tests of the report page."""

import pytest

import aomultirl as ao
from aomultirl.reports.page import Run
from aomultirl.worlds.environment import WorldEnv
from browser import CHROMIUM, Browser
from pages import told
from proven import proven_agent, proven_worlds


@pytest.fixture(scope="module")
def models():
    return ao.worlds.gridworld(edges="stay")


@pytest.fixture(scope="module")
def runs(models):
    agents = {
        "Optimal": (ao.agents.Optimal(100), ao.streams.paper()),
        "AOMultiRL": (ao.agents.AOMultiRL(**told(distinguishing_set=[(1, 0), (8, 3), (2, 1)])), ao.streams.paper()),
        "One episode": (ao.agents.OneEpisodeUCBVI(0.03, 100), ao.streams.paper()),
        "Random": (ao.agents.Random(100), ao.streams.uniform()),
    }
    return [
        Run(name, run, ao.run(agent, models, stream, episodes=30, seed=run))
        for name, (agent, stream) in agents.items()
        for run in range(3)
    ]


@pytest.fixture(scope="module")
def proven():
    """A run in which Theorem 16 holds."""
    return ao.run(proven_agent(), proven_worlds(), ao.streams.round_robin(), 30)


@pytest.fixture(scope="module")
def unjudged(models):
    agent = ao.agents.AOMultiRL(**told(samples=5, clustering_horizon=300, rewards="unknown"))
    return ao.interact(agent, lambda k: WorldEnv(models[k % 2]), 6)


@pytest.fixture(scope="module")
def sure(models):
    gamma = [(1, 0), (8, 3), (2, 1)]
    agents = {
        "Sequential": ao.agents.SequentialAOMultiRL(0.03, 2_000, 1.3 - 1e-6, gamma),
        "Recall": ao.agents.Recall(0.03, 500),
    }
    return {name: ao.run(agent, models, ao.streams.round_robin(), 12) for name, agent in agents.items()}


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed (Debian package chromium)")
    pytest.importorskip("websocket", reason="websocket-client is not installed")
    found = Browser()
    yield found
    found.close()
