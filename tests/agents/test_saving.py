import io
import json
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.agents import saving
from aomultirl.agents.base import Setting
from aomultirl.engine.counts import CountTable

MODELS = ao.worlds.random_models(6, 3, 2, 3, 1.0, 3)
SMALL = {"samples": 15, "clustering_horizon": 600, "bonus_scale": 0.01, "learning_horizon": 30}


def lived(agent, episodes=4):
    ao.run(agent, MODELS, ao.streams.round_robin(), episodes, 1)
    return agent


@pytest.fixture(scope="module")
def file():
    """A saved agent with clusters."""
    return saving.to_bytes(lived(ao.agents.AOMultiRL(2, 1.0, 5, 0.1, **SMALL)))


def test_an_agent_comes_back_and_is_saved_as_the_same_bytes(file, tmp_path):
    (tmp_path / "agent.zip").write_bytes(file)
    agent = ao.load_agent(tmp_path / "agent.zip")
    assert isinstance(agent, ao.agents.AOMultiRL)
    assert agent.completed == 4
    ao.save(agent, tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == file
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.zip", "agent.zip"]


def test_numpy_and_any_zip_tool_can_open_the_file(file):
    with zipfile.ZipFile(io.BytesIO(file)) as opened:
        assert opened.testzip() is None
        assert json.loads(opened.read("document.json"))["agent"] == "AOMultiRL"
        assert np.load(io.BytesIO(opened.read("0.npy"))).shape == (6, 3)


def test_an_agent_that_has_not_begun_comes_back_without_memory(tmp_path):
    ao.save(ao.agents.Recall(0.1, 300, learner=ao.learning.Practical(level=0.3)), tmp_path / "agent.zip")
    agent = ao.load_agent(tmp_path / "agent.zip")
    assert repr(agent) == repr(ao.agents.Recall(0.1, 300, learner=ao.learning.Practical(level=0.3)))
    assert not hasattr(agent, "setting")


@pytest.mark.parametrize(
    "agent",
    [
        ao.agents.AOMultiRL(MODELS, MODELS.separation(), None, np.float64(0.1), [(0, 0), (3, 1)], **SMALL),
        ao.agents.SequentialAOMultiRL(0.1, 100, 0.5, np.array([[0, 0], [3, 1]]), np.int64(2)),
        ao.agents.OneEpisodeUCBVI(float("inf"), 20),
    ],
)
def test_parameters_come_back_as_they_were(agent):
    again, _ = saving.from_bytes(saving.to_bytes(agent))
    assert repr(again) == repr(agent)


def test_worlds_come_back_bit_for_bit():
    start = np.array([0.25, 0.5, 0.25])
    worlds = ao.ModelSet([ao.MDP(np.full((3, 2, 3), 1 / 3), np.eye(3, 2), start, layout=(1, 3)) for _ in range(2)])
    agent = ao.agents.Optimal(9)
    agent.begin(Setting(3, 2, worlds.rewards, 4, worlds))
    again = saving.from_bytes(saving.to_bytes(agent))[0].setting.models
    assert again.origin is worlds.origin is None
    for mine, theirs in zip(again, worlds, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(mine.successors, theirs.successors, strict=True))
        assert np.array_equal(mine.rewards, theirs.rewards)
        assert np.array_equal(mine.start, start)
        assert mine.layout == (1, 3)


def test_while_an_episode_is_under_way_the_agent_is_saved_as_before_it():
    agent = lived(ao.agents.Recall(0.1, 300))
    before = saving.to_bytes(agent)
    stream = np.array([1, 2, 3, 4], np.uint64)
    game = ao.Session(agent.episode(0, stream), 6, 3, 0, stream)
    for _ in range(100):
        game.act()
        game.observe(3, 0.5)
    assert saving.to_bytes(agent) == before


@dataclass
class TwoTables:
    one: CountTable
    other: CountTable


class Pairs(ao.agents.Random):
    """Counts what it sees in two tables that are one, with a parameter of its own."""

    keeps = TwoTables

    def __init__(self, horizon, weight=1.0):
        super().__init__(horizon)
        self.weight = weight

    def begin(self, setting):
        super().begin(setting)
        table = CountTable(setting.n_states * setting.n_actions)
        self.kept = TwoTables(table, table)


def test_agents_of_your_own_are_loaded_if_their_class_is_named(tmp_path):
    ao.save(lived(Pairs(5, weight=0.5)), tmp_path / "pairs.zip")
    with pytest.raises(ValueError, match=r"class 'Pairs', which is neither in ao.agents nor in agents=\[...\]"):
        ao.load_agent(tmp_path / "pairs.zip")
    agent = ao.load_agent(tmp_path / "pairs.zip", agents=[Pairs])
    assert agent.weight == 0.5
    assert agent.kept.one is agent.kept.other
    with pytest.raises(ValueError, match="agents holds 'Pairs', no class of agents, learners or explorers"):
        ao.load_agent(tmp_path / "pairs.zip", agents=["Pairs"])


def test_an_agent_that_borrows_a_known_name_is_not_taken_for_the_known_one(tmp_path):
    borrowed = type("Random", (Pairs,), {})
    ao.save(borrowed(5), tmp_path / "agent.zip")
    with pytest.raises(ValueError, match="which is neither in"):
        ao.load_agent(tmp_path / "agent.zip")


class Silent(ao.agents.Agent):
    def __init__(self, horizon=5):
        self.horizon = horizon


class Forgetful(Pairs):
    def __init__(self, steps):
        super().__init__(steps)


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        (Silent(), "Silent cannot be saved: it does not say what it remembers, see Agent.keeps"),
        (Forgetful(5), r"Forgetful cannot be saved: its parameters\(\) do not make it again \(missing a required"),
        (Pairs(5, weight=len), "Pairs.weight is <built-in function len>, which cannot be saved"),
        (Pairs(5, weight=[1, {2: 3}]), r"Pairs.weight\[1\] has the name 2, which cannot be saved"),
        (Pairs(5, weight=np.array(["a"])), "Pairs.weight is an array of <U1, which cannot be saved"),
        (ao.agents.Random, "agent is <class .*, not an agent such as"),
    ],
)
def test_what_cannot_be_saved_is_refused_in_a_sentence(agent, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        ao.save(agent, tmp_path / "agent.zip")
    assert not any(tmp_path.iterdir())


def test_check_agent_finds_memory_that_is_not_saved():
    class Leaky(ao.agents.PooledUCBVI):
        def begin(self, setting):
            super().begin(setting)
            self.seen = 0

        def episode(self, start, stream, task=None):
            report = yield from super().episode(start, stream, task)
            self.seen += 1
            return ao.agents.Report(self.seen, True, True, report.evaluation, report.evaluation_horizon)

    with pytest.raises(ValueError, match=r"kept must hold all that the next episode depends on"):
        ao.check_agent(Leaky(0.1, 20))

    class Stubborn(Pairs):
        def restore(self, kept):
            raise ValueError("it does not want to")

    with pytest.raises(ValueError, match="saved after 1 episodes, the agent does not come back: it does not want to"):
        ao.check_agent(Stubborn(20))


def test_what_is_no_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path, words in ((tmp_path / "pipe", "a pipe"), (Path("/dev/zero"), "a device"), (tmp_path, "is a folder")):
        with pytest.raises(ValueError, match=words):
            ao.load_agent(path)


@dataclass(frozen=True)
class Hasty(ao.learning.Practical):
    """A learner of somebody's own, of no plug-in."""


def test_a_learner_of_ones_own_is_named_when_it_is_loaded(tmp_path):
    ao.save(ao.agents.Pooled(Hasty(pace=3.0), 20), tmp_path / "agent.zip")
    assert ao.load_agent(tmp_path / "agent.zip", agents=[Hasty]).learner == Hasty(pace=3.0)
    where = r"neither in ao\.learning nor in agents=\[\.\.\.\] nor in a plug-in that is loaded"
    with pytest.raises(ValueError, match=f"there is no learner 'Hasty', {where}; "):
        ao.load_agent(tmp_path / "agent.zip")
