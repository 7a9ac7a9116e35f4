"""Every agent keeps the contract: in particular both drivers give the same trajectory, bit for bit."""

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.engine.random import streams
from aomultirl.experiments.runner import episode_streams
from aomultirl.worlds.environment import WorldEnv

SMALL = {"samples": 15, "clustering_horizon": 600, "bonus_scale": 0.01}
AGENTS = {
    "Random": lambda: ao.agents.Random(20),
    "Optimal": lambda: ao.agents.Optimal(20),
    "OneEpisodeUCBVI": lambda: ao.agents.OneEpisodeUCBVI(0.1, 20),
    "PooledUCBVI": lambda: ao.agents.PooledUCBVI(0.1, 20, bonus_scale=0.01, cap="remaining"),
    "OracleUCBVI": lambda: ao.agents.OracleUCBVI(0.1, 20, 2, bonus="released", bonus_scale=0.01),
    "AOMultiRL": lambda: ao.agents.AOMultiRL(2, 1.0, 5, 0.1, learning_horizon=30, **SMALL),
    "AOMultiRL, all options": lambda: ao.agents.AOMultiRL(
        2,
        1.0,
        5,
        0.1,
        [(0, 0), (3, 1)],
        0.6,
        horizon=700,
        stop_early=True,
        reuse_samples=True,
        rewards="unknown",
        ties="released",
        cap="remaining",
        **SMALL,
    ),
    "TwoStageAOMultiRL": lambda: ao.agents.TwoStageAOMultiRL(
        2, 1.0, 5, 0.1, learning_horizon=30, first_clustering_horizon=900, **SMALL
    ),
    "DoublingAOMultiRL": lambda: ao.agents.DoublingAOMultiRL(2, 1.0, 0.1, horizon=3000, samples=15),
}


@pytest.mark.parametrize("name", AGENTS)
def test_contract(name):
    ao.check_agent(AGENTS[name]())


@pytest.mark.parametrize("name", [name for name in AGENTS if name not in ("Optimal", "OracleUCBVI")])
@pytest.mark.parametrize("noisy", [False, True])
def test_both_drivers_leave_the_same_memory_and_streams(name, noisy):
    """Down to every count of every cluster and the last word of the agent's stream."""
    models = ao.worlds.random_models(6, 3, 2, 3, 1.0, 3)
    inside, outside = AGENTS[name](), AGENTS[name]()
    history = ao.run(inside, models, ao.streams.round_robin(), 6, seed=5, noisy_rewards=noisy)
    sources = episode_streams(5, "world", 6)

    def make_env(k):
        return WorldEnv(models[int(history["task"][k])], int(history["start"][k]), sources[k], noisy)

    other = ao.interact(outside, make_env, 6, seed=5, rewards=np.array(models.rewards))
    for column in ("cluster", "new_cluster", "exploration_ok", "identification_steps", "learning_steps"):
        assert np.array_equal(history[column], other[column])
    for column in ("clustering_reward", "learning_reward"):
        assert history[column].tobytes() == other[column].tobytes()
    for one, two in zip(getattr(inside, "clusters", []), getattr(outside, "clusters", []), strict=True):
        for table in ("model", "regret"):
            assert all(map(np.array_equal, getattr(one, table).to_lists(), getattr(two, table).to_lists()))
        assert one.model_sums.tobytes() == two.model_sums.tobytes()
        assert one.regret_sums.tobytes() == two.regret_sums.tobytes()


class Cheating(ao.agents.Random):
    """Remembers something across runs."""

    def episode(self, start, stream, task=None):
        self.seen = getattr(self, "seen", 0) + 1
        self.horizon = 10 + self.seen
        return (yield from super().episode(start, stream, task))


class Speechless(ao.agents.Random):
    """Returns no report."""

    def episode(self, start, stream, task=None):
        yield from super().episode(start, stream, task)


class Peeking(ao.agents.Random):
    """Acts on something that is no observation: how often it was called."""

    calls = 0

    def begin(self, setting):
        super().begin(setting)
        Peeking.calls += 1

    def episode(self, start, stream, task=None):
        self.horizon = 20 if Peeking.calls <= 2 else 21
        return (yield from super().episode(start, stream, task))


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        (Cheating(20), "the same seed gives another history"),
        (Speechless(20), "an episode of Speechless returned None, not a Report"),
        (Peeking(20), "step by step, learning_steps differs from the simulator"),
        ("agent", "'agent' is not an aomultirl"),
    ],
)
def test_check_agent_can_fail(agent, message):
    with pytest.raises(ValueError, match=message):
        ao.check_agent(agent)


def test_an_environment_that_fails_leaves_no_trace():
    models = ao.worlds.random_models(6, 3, 2, 3, 1.0, 3)
    agent = AGENTS["AOMultiRL"]()

    class Failing(WorldEnv):
        steps = 0

        def step(self, action):
            self.steps += 1
            if self.steps == 610:
                raise OSError("the machine is gone")
            return super().step(action)

    def make_env(k):
        kind = Failing if k == 2 else WorldEnv
        return kind(models[k % 2], 0, streams(k, 1)[0])

    with pytest.raises(OSError, match="the machine is gone"):
        ao.interact(agent, make_env, 3, rewards=np.array(models.rewards))
    assert len(agent.clusters) == 2
    assert sum(cluster.model.to_lists()[2].sum() for cluster in agent.clusters) == 2 * 600
    assert sum(cluster.regret.to_lists()[2].sum() for cluster in agent.clusters) == 2 * 30


def test_an_environment_may_end_early():
    models = ao.worlds.random_models(6, 3, 2, 3, 1.0, 3)

    class Ending(WorldEnv):
        steps = 0

        def step(self, action):
            self.steps += 1
            *rest, _, truncated, info = super().step(action)
            return (*rest, self.steps == 605, truncated, info)

    history = ao.interact(
        AGENTS["AOMultiRL"](), lambda k: Ending(models[0], 0, streams(k, 1)[0]), 2, rewards=np.array(models.rewards)
    )
    assert history["identification_steps"].tolist() == [600, 600]
    assert history["learning_steps"].tolist() == [5, 5]
    short = ao.interact(
        AGENTS["Random"](), lambda k: WorldEnv(models[0], 0), 2, horizon=7, rewards=np.array(models.rewards)
    )
    assert short["learning_steps"].tolist() == [7, 7]
