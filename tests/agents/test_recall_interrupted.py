"""Whatever fails while Recall remembers an episode, Ctrl-C included: no half of the episode stays."""

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.agents import saving
from aomultirl.agents.grouping import Grouping
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Simulator
from aomultirl.setting import Setting

HORIZON = 120
FIELDS = ("counts", "alone", "own", "masses", "pooled", "together", "theta", "alpha", "shared", "spreads", "trust")


def begun(rewards):
    models = ao.worlds.random_models(6, 3, 2, 3, 1.0, 0)
    ended = ao.ModelSet([ao.MDP(world.transitions, models.rewards, terminal=[4 + i]) for i, world in enumerate(models)])
    agent = ao.agents.Recall(0.1, HORIZON, rewards=rewards)
    agent.begin(Setting(6, 3, models.rewards, 60))
    return agent, models if rewards == "known" else ended


def live(agent, models, k):
    world = models[k * k % 3 % 2]
    one, two = streams(k, 2)
    driver = Simulator(world.alias_tables, world.gains, 0, one, two, terminal=world.terminal)
    return driver.drive(agent.episode(0, streams(k, 1)[0]))[0]


def remembered(agent):
    rows = agent._reading.rows
    return [saving.to_bytes(agent), *(getattr(rows, name).tobytes() for name in FIELDS), rows.layout.keys.tobytes()]


@pytest.mark.parametrize("rewards", ["known", "unknown"])
@pytest.mark.parametrize("lived", [0, 1, 17])
def test_an_interrupt_leaves_the_memory_as_it_was(rewards, lived, monkeypatch):
    """At the first, second, ... change of the grouping, until an episode has none left; then it goes on to the bit."""
    (agent, models), (twin, _) = begun(rewards), begun(rewards)
    for k in range(lived):
        live(agent, models, k)
        live(twin, models, k)
    before, put = remembered(agent), Grouping.put
    for most in np.unique(np.geomspace(1, 400, 14).astype(int)).tolist():
        left = [most]

        def interrupted(grouping, *what, left=left):
            left[0] -= 1
            if left[0] == 0:
                raise KeyboardInterrupt
            put(grouping, *what)

        with monkeypatch.context() as patch:
            patch.setattr(Grouping, "put", interrupted)
            try:
                live(agent, models, lived)
            except KeyboardInterrupt:
                assert remembered(agent) == before, most
            else:
                assert most > 1
                break
    else:
        live(agent, models, lived)
    live(twin, models, lived)
    assert remembered(agent) == remembered(twin)


def test_an_interrupt_after_what_is_proven_was_added_to(monkeypatch):
    """Samples that joined a cluster leave it again."""
    models = ao.worlds.random_models(6, 3, 3, 3, 1.0, 0)
    agent = ao.agents.Recall(0.1, 20_000)
    agent.begin(Setting(6, 3, models.rewards, 40))

    def stop(*_):
        raise KeyboardInterrupt

    joined = 0
    for k in range(12):
        before, held = remembered(agent), [world.proven for world in agent.worlds if world.proven is not None]
        with monkeypatch.context() as patch:
            patch.setattr("aomultirl.agents.rereading.Rereading.look_back", stop)
            with pytest.raises(KeyboardInterrupt):
                live(agent, [models[k % 3]] * 2, k)
        assert remembered(agent) == before
        live(agent, [models[k % 3]] * 2, k)
        now = [world.proven for world in agent.worlds if world.proven is not None]
        joined += any(one is not two for one, two in zip(held, now, strict=False))
    assert joined > 0


def test_an_agent_that_has_met_nothing_is_saved_and_loaded(tmp_path):
    agent = ao.agents.Recall(0.05, 10, rewards="unknown")
    agent.play(0, n_states=4, n_actions=2).give_up()
    ao.save(agent, tmp_path / "agent.zip")
    loaded = ao.load_agent(tmp_path / "agent.zip")
    assert loaded.worlds == []
    assert loaded.findings()["worlds"] == 0


@pytest.mark.parametrize("name", ["worlds", "kept", "clusters", "abstentions"])
def test_before_it_begins_there_is_nothing_to_look_at(name):
    with pytest.raises(AttributeError, match="Recall has met nothing yet"):
        getattr(ao.agents.Recall(0.05, 10), name)
    with pytest.raises(AttributeError, match="Recall has met nothing yet"):
        ao.agents.Recall(0.05, 10).findings()
