"""A run in two parts, the second in another process, is the run in one piece: to the last bit."""

import subprocess
import sys
import time

import numpy as np
import pytest

import aomultirl as ao
from alarms import alarm
from aomultirl.agents import saving
from aomultirl.engine import stepping
from aomultirl.experiments.runner import SimulatedRun

GAMMA = [(1, 0), (8, 3), (2, 1)]
SMALL = {"samples": 15, "clustering_horizon": 600, "bonus_scale": 0.01}
RANDOM = ao.worlds.random_models(6, 3, 2, 3, 1.0, 3)
GRID = ao.worlds.gridworld()
BANDITS = ao.worlds.bandits([[0.9, 0.2, 0.4], [0.1, 0.7, 0.3]])
AGENTS = {
    "Random": (RANDOM, lambda: ao.agents.Random(20)),
    "MixtureOfMDPs": (RANDOM, lambda: ao.agents.MixtureOfMDPs(60, rewards="unknown")),
    "LUCRL": (RANDOM, lambda: ao.agents.LUCRL(2, 60, failure=0.1, bonus_scale=0.01, initial=RANDOM, rewards="unknown")),
    "LUCRL, told": (RANDOM, lambda: ao.agents.LUCRL(2, 60, failure=0.1, bonus_scale=0.01, contexts="told")),
    "Optimal": (RANDOM, lambda: ao.agents.Optimal(20)),
    "MultiModel": (RANDOM, lambda: ao.agents.MultiModel(20, weights=[1.0, 2.0])),
    "MUCB": (BANDITS, lambda: ao.agents.MUCB(60, [[0.9, 0.2, 0.4], [0.1, 0.7, 0.3]])),
    "UMUCB": (BANDITS, lambda: ao.agents.UMUCB(60, [[0.9, 0.2, 0.4], [0.1, 0.7, 0.3]], 0.1)),
    "TUCB": (BANDITS, lambda: ao.agents.TUCB(60, 2, views=2)),
    "OneEpisode": (RANDOM, lambda: ao.agents.OneEpisode(ao.learning.UCRL2(), 60, rewards="unknown")),
    "Pooled": (RANDOM, lambda: ao.agents.Pooled(ao.learning.UCRL2(bonus_scale=0.1), 60, rewards="unknown")),
    "RestartQUCB": (RANDOM, lambda: ao.agents.RestartQUCB(20, 3.0, failure=0.1, bonus_scale=0.01, epochs=3)),
    "DetectAndRestart": (
        RANDOM,
        lambda: ao.agents.DetectAndRestart(ao.learning.Practical(), 60, failure=0.1, exploration=0.2),
    ),
    "ConcurrentPACRL": (RANDOM, lambda: ao.agents.ConcurrentPACRL(1.0, 0.1, 600, samples=15, rewards="unknown")),
    "CECE": (RANDOM, lambda: ao.agents.CECE(2, 1.0, 0.1, 200, 3, samples=10)),
    "FiniteModelRL": (
        RANDOM,
        lambda: ao.agents.FiniteModelRL(2, 1.0, 0.9, 200, least_probability=1.0, radius_scale=0.1, rewards="unknown"),
    ),
    "ForcedExploration": (RANDOM, lambda: ao.agents.ForcedExploration(0.9, 200, 1.0, samples=6, radius_scale=0.1)),
    "ExploreFirst": (RANDOM, lambda: ao.agents.ExploreFirst(0.9, 200, 1.0, 2, radius_scale=0.1)),
    "MaxQInit": (
        RANDOM,
        lambda: ao.agents.MaxQInit(
            60, 0.5, failure=0.2, cautious=False, rewards="unknown", learner=ao.learning.RMax(2)
        ),
    ),
    "LRMax": (
        RANDOM,
        lambda: ao.agents.LRMax(60, 0.01, failure=0.4, rarest=0.5, remembered=4, learner=ao.learning.RMax(2)),
    ),
    "Told": (RANDOM, lambda: ao.agents.Told(ao.learning.Practical(level=0.5), 60, 2, rewards="unknown")),
    "AOMultiRL with other parts": (
        RANDOM,
        lambda: ao.agents.AOMultiRL(
            2,
            1.0,
            None,
            0.1,
            samples=15,
            clustering_horizon=900,
            learning_horizon=60,
            explorer=ao.exploring.GOSPRL(),
            learner=ao.learning.UCRL2(bonus_scale=0.1),
        ),
    ),
    "SequentialAOMultiRL with other parts": (
        RANDOM,
        lambda: ao.agents.SequentialAOMultiRL(
            0.1, 4000, 0.9, explorer=ao.exploring.ExploreID(), learner=ao.learning.UCBVI(bonus_scale=0.01)
        ),
    ),
    "OneEpisodeUCBVI": (RANDOM, lambda: ao.agents.OneEpisodeUCBVI(0.1, 20)),
    "PooledUCBVI": (RANDOM, lambda: ao.agents.PooledUCBVI(0.1, 20, bonus_scale=0.01, rewards="unknown")),
    "UCBVIWithOracle": (RANDOM, lambda: ao.agents.UCBVIWithOracle(0.1, 20, 5, 2, bonus_scale=0.01)),
    "OracleUCBVI": (RANDOM, lambda: ao.agents.OracleUCBVI(0.1, 20, 2, bonus_scale=0.01)),
    "UCRL2": (RANDOM, lambda: ao.agents.UCRL2(50)),
    "UCRL2, pooled": (RANDOM, lambda: ao.agents.UCRL2(50, 0.1, bonus_scale=0.1, rewards="unknown", pooled=True)),
    "OneEpisodeLearner": (RANDOM, lambda: ao.agents.OneEpisodeLearner(50, rewards="unknown")),
    "OracleLearner": (RANDOM, lambda: ao.agents.OracleLearner(50)),
    "AOMultiRL": (RANDOM, lambda: ao.agents.AOMultiRL(2, 1.0, 5, 0.1, learning_horizon=30, **SMALL)),
    "AOMultiRL, all options": (
        RANDOM,
        lambda: ao.agents.AOMultiRL(
            RANDOM,
            RANDOM.separation(),
            None,
            0.1,
            [(0, 0), (3, 1)],
            horizon=700,
            stop_early=True,
            reuse_samples=True,
            rewards="unknown",
            ties="released",
            **SMALL,
        ),
    ),
    "TwoStageAOMultiRL": (
        RANDOM,
        lambda: ao.agents.TwoStageAOMultiRL(2, 1.0, 5, 0.1, learning_horizon=30, first_clustering_horizon=900, **SMALL),
    ),
    "DoublingAOMultiRL": (RANDOM, lambda: ao.agents.DoublingAOMultiRL(2, 1.0, 0.1, horizon=3000, samples=15)),
    "SequentialAOMultiRL": (GRID, lambda: ao.agents.SequentialAOMultiRL(0.1, 3000, 1.299999, GAMMA)),
    "SequentialAOMultiRL, M known": (
        GRID,
        lambda: ao.agents.SequentialAOMultiRL(0.1, 3000, 1.299999, GAMMA, 4, rewards="unknown"),
    ),
    "Recall": (GRID, lambda: ao.agents.Recall(0.1, 1500)),
    "Recall, all options": (
        RANDOM,
        lambda: ao.agents.Recall(0.1, 400, 0.7, proof=0.1, rewards="unknown", learner=ao.learning.Practical(level=0.3)),
    ),
}
PAPER = {
    "models": 4,
    "separation": 1.299999,
    "hitting_time": 7,
    "failure": 0.03,
    "distinguishing_set": GAMMA,
    "constants": "released",
    "learning_horizon": 200,
}
GO_ON = """
import sys
from pathlib import Path
import aomultirl as ao

def go_on(folder, models, stream, episodes, seed):
    agent, first = ao.load_agent(folder / "agent.zip"), ao.History.read(folder / "first.parquet")
    ao.run(agent, models, stream, episodes, seed, resume=first).write(folder / "whole.parquet")

for folder in sorted(Path(sys.argv[1]).iterdir()):
    if folder.name == "paper":
        go_on(folder, ao.worlds.gridworld(edges="stay"), ao.streams.paper(), 50, 4)
    else:
        models = ao.worlds.random_models(6, 3, 2, 3, 1.0, 3)
        if (folder / "grid").exists():
            models = ao.worlds.gridworld()
        if (folder / "bandits").exists():
            models = ao.worlds.bandits([[0.9, 0.2, 0.4], [0.1, 0.7, 0.3]])
        go_on(folder, models, ao.streams.uniform(), 12, 3)
"""


@pytest.fixture(scope="module")
def gone_on(tmp_path_factory):
    """Every agent after 5 of 12 episodes, and the paper's after 20 of 50, gone on with in another process."""
    place = tmp_path_factory.mktemp("parts")
    runs = {name: (models, ao.streams.uniform(), 12, 3) for name, (models, _) in AGENTS.items()}
    runs["paper"] = (ao.worlds.gridworld(edges="stay"), ao.streams.paper(), 50, 4)
    for name, kind in runs.items():
        agent = ao.agents.AOMultiRL(**PAPER) if name == "paper" else AGENTS[name][1]()
        (place / name).mkdir()
        if kind[0] is GRID:
            (place / name / "grid").touch()
        if kind[0] is BANDITS:
            (place / name / "bandits").touch()
        ao.run(agent, *kind, stop=20 if name == "paper" else 5).write(place / name / "first.parquet")
        ao.save(agent, place / name / "agent.zip")
    subprocess.run([sys.executable, "-W", "error", "-c", GO_ON, str(place)], check=True)
    return place


def test_every_agent_is_looked_at():
    kinds = [getattr(ao.agents, name) for name in ao.agents.__all__]
    agents = {kind.__name__ for kind in kinds if issubclass(kind, ao.agents.Agent) and kind is not ao.agents.Agent}
    assert agents <= {type(make()).__name__ for _, make in AGENTS.values()}


@pytest.mark.parametrize("name", AGENTS)
def test_five_episodes_and_then_seven_are_twelve(name, gone_on, tmp_path):
    models, make = AGENTS[name]
    whole = ao.run(make(), models, ao.streams.uniform(), 12, 3)
    assert ao.History.read(gone_on / name / "first.parquet")["episode"].tolist() == [0, 1, 2, 3, 4]
    whole.write(tmp_path / "whole.parquet")
    assert (tmp_path / "whole.parquet").read_bytes() == (gone_on / name / "whole.parquet").read_bytes()


@pytest.mark.parametrize("name", ["Recall, all options", "DoublingAOMultiRL"])
def test_the_same_object_goes_on_and_leaves_the_first_history_alone(name):
    models, make = AGENTS[name]
    kind, agent = (models, ao.streams.uniform(), 12, 3), make()
    first = ao.run(agent, *kind, stop=5)
    assert ao.run(agent, *kind, resume=first) == ao.run(make(), *kind)
    assert first == ao.run(make(), *kind, stop=5)


def test_twenty_episodes_of_the_paper_and_then_thirty_are_fifty(gone_on, tmp_path):
    whole = ao.run(ao.agents.AOMultiRL(**PAPER), ao.worlds.gridworld(edges="stay"), ao.streams.paper(), 50, 4)
    whole.write(tmp_path / "whole.parquet")
    assert len(whole.about["clusters"]) == 4
    assert (tmp_path / "whole.parquet").read_bytes() == (gone_on / "paper" / "whole.parquet").read_bytes()


def adversary(past):
    """Looks at every past cluster and start."""
    return sum(one.cluster + 2 * one.start for one in past) % 4


@pytest.mark.parametrize(
    "stream",
    [
        lambda: ao.streams.adaptive(adversary),
        lambda: ao.streams.uniform(start=lambda past: (5 * len(past)) % 16),
        lambda: ao.streams.sequence([3, 2, 1, 0] * 3, start=list(range(12))),
    ],
)
def test_streams_are_brought_back_to_where_they_were(stream):
    agent = ao.agents.SequentialAOMultiRL(0.1, 3000, 1.299999, GAMMA)
    whole = ao.run(agent, GRID, stream(), 12, 7)
    assert len(set(whole["task"].tolist())) > 2
    parts = None
    for stop in (2, 3, 11, 12):
        parts = ao.run(agent, GRID, stream(), 12, 7, stop=stop, resume=parts)
        assert len(parts) == stop
    assert parts == whole
    assert ao.run(agent, GRID, stream(), 12, 7, resume=whole) == whole


def test_clusters_stand_for_what_they_stood_for():
    """An episode after the break that is put in a cluster from before it, of another world, is misclustered."""

    class Told(ao.agents.Random):
        def begin(self, setting):
            super().begin(setting)
            self.k = 0

        def episode(self, start, stream, task=None):
            yield from super().episode(start, stream, task)
            self.k += 1
            return ao.agents.Report(0, self.k == 1)

    agent, kind = Told(3), (GRID, ao.streams.sequence([2, 1, 2]), 3)
    first = ao.run(agent, *kind, stop=1)
    assert ao.run(agent, *kind, resume=first)["misclustered"].tolist() == [False, True, False]


def test_what_is_not_recorded_is_nan_and_changes_nothing_else():
    agent = AGENTS["AOMultiRL"][1]()
    whole = ao.run(agent, RANDOM, ao.streams.uniform(), 6, 1)
    assert whole.about["recorded"] == ["regret", "evaluation", "estimate_error"]
    columns = {
        "regret": ["value", "regret", "learning_regret"],
        "evaluation": ["evaluation_reward", "evaluation_value"],
        "estimate_error": ["estimate_error"],
    }
    for asked in ([], ["regret"], ["evaluation"], ["estimate_error", "regret"]):
        some = ao.run(agent, RANDOM, ao.streams.uniform(), 6, 1, record=asked)
        left_out = [name for kind, names in columns.items() if kind not in asked for name in names]
        for name in whole.columns:
            if name in left_out:
                assert np.isnan(some[name]).all()
            else:
                assert np.array_equal(some[name], whole[name], equal_nan=whole[name].dtype.kind == "f")
        assert some.about == {**whole.about, "recorded": [name for name in columns if name in asked]}


def test_exact_planning_is_left_out_where_nobody_asks(monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("planned")

    monkeypatch.setattr("aomultirl.mdp.MDP.first_values", refuse)
    monkeypatch.setattr("aomultirl.engine.planning.evaluate", refuse)
    ao.run(AGENTS["AOMultiRL"][1](), RANDOM, ao.streams.uniform(), 3, record=["estimate_error"])
    with pytest.raises(AssertionError, match="planned"):
        ao.run(AGENTS["AOMultiRL"][1](), RANDOM, ao.streams.uniform(), 3, record=["regret"])


def test_a_history_of_another_run_is_refused():
    def stopped(horizon=5, models=GRID, stream=None, episodes=9, seed=1, stop=4, **options):
        agent = ao.agents.Random(horizon)
        return agent, ao.run(agent, models, stream or ao.streams.uniform(), episodes, seed, stop=stop, **options)

    agent, first = stopped()
    kind = (GRID, ao.streams.uniform(), 9, 1)
    others = [
        (stopped(seed=2), "resume is of another run: its seed is 2, not 1"),
        (stopped(episodes=8), "resume is of another run: its episodes is 8, not 9"),
        (stopped(stream=ao.streams.paper()), "its stream is 'paper', not 'uniform'"),
        (stopped(models=ao.worlds.gridworld(edges="stay")), "its world.edges is 'stay', not 'third'"),
        (stopped(noisy_rewards=True), "its noisy_rewards is True, not False"),
        (stopped(record=["regret"]), r"its recorded is \['regret'\], not \['regret', 'evaluation', 'estimate_error'\]"),
        ((agent, stopped(horizon=6)[1]), "its agent.horizon is 6, not 5"),
        ((ao.agents.Optimal(5), first), "its agent is 'Random', not 'Optimal'"),
        ((agent, stopped(stop=3)[1]), "resume has 3 episodes, but the agent has completed 4"),
        ((ao.agents.Random(5), first), "and this one has not begun"),
        ((stopped(models=ao.worlds.gridworld(3))[0], first), "ran in other worlds: 9 states, 4 actions, 9 episodes"),
        ((agent, ao.History({**first.columns, "task": 1 - first["task"]}, first.about)), "chooses another episode 0"),
        ((agent, ao.History({**first.columns, "episode": first["episode"][::-1]}, first.about)), "every episode from"),
        ((agent, ao.History({**first.columns, "value": first["task"]}, first.about)), "a column value of int64"),
        ((agent, first.about), "resume is .*, not a History"),
    ]
    for (one, history), message in others:
        with pytest.raises(ValueError, match=message):
            ao.run(one, *kind, resume=history)
    with pytest.raises(ValueError, match="stop is 3, but resume has 4 episodes already"):
        ao.run(agent, *kind, resume=first, stop=3)
    assert len(ao.run(agent, *kind, resume=first)) == 9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stop": 0}, "stop must be between 1 and 5, not 0"),
        ({"stop": 6}, "stop must be between 1 and 5, not 6"),
        ({"record": "regret"}, "record is 'regret', not a list of names"),
        ({"record": ["regrets"]}, r"record\[0\] must be one of .*, not 'regrets'; did you mean 'regret'\?"),
    ],
)
def test_bad_parts_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        ao.run(ao.agents.Random(5), GRID, ao.streams.uniform(), 5, **options)


@pytest.mark.parametrize("name", AGENTS)
def test_looking_for_signals_more_often_changes_nothing(name, monkeypatch):
    models, make = AGENTS[name]
    histories = []
    for stretch in (10**12, 7, 1):
        monkeypatch.setattr(stepping, "STRETCH", stretch)
        agent = make()
        histories.append((ao.run(agent, models, ao.streams.round_robin(), 4, seed=3), saving.to_bytes(agent)))
    assert histories[0] == histories[1] == histories[2]


def test_an_interrupted_episode_leaves_no_trace():
    """Ctrl-C inside a kernel; the run is then resumed as if nothing had been."""
    agent, kind = ao.agents.Recall(0.1, 500), (GRID, ao.streams.round_robin(), 5)
    whole = ao.run(ao.agents.Recall(0.1, 500), *kind)
    course = SimulatedRun(agent, *kind)
    course.begin()
    for _ in range(3):
        course.step()
    before, first = saving.to_bytes(agent), course.so_far()
    agent.horizon = 10**12
    with pytest.raises(KeyboardInterrupt), alarm(0.3):
        course.step()
    agent.horizon = 500
    assert saving.to_bytes(agent) == before
    assert ao.run(agent, *kind, resume=first) == whole


@pytest.mark.parametrize("agent", [ao.agents.Random(10**12), ao.agents.Recall(0.1, 10**12)])
def test_ctrl_c_comes_out_of_a_run(agent):
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt), alarm(0.3):
        ao.run(agent, GRID, ao.streams.round_robin(), 2)
    assert time.monotonic() - begin < 1.5
    agent.horizon = 20
    assert len(ao.run(agent, GRID, ao.streams.round_robin(), 2)) == 2
