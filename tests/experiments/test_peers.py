"""Q-learning, PSRL and the mixture by name: in specifications, in the list, and as anybody tries them."""

import pytest

import aomultirl as ao
from aomultirl import cli

SPECIFICATION = """
episodes = 6
runs = 2
worlds = [{ name = "random_models", states = 6, actions = 3, models = 2, successors = 3, separation = 1.0, rng = 3 }]
streams = [{ name = "round_robin" }]

[[agents]]
name = "OneEpisode"
learner = ["QLearning", { name = "PSRL", prior = 0.3 }]
horizon = 30

[[agents]]
name = "Pooled"
learner = ["QLearning", { name = "PSRL", prior = 0.3 }]
horizon = 30

[[agents]]
name = "Told"
learner = ["QLearning", { name = "PSRL", prior = 0.3 }]
horizon = 30

[[agents]]
name = "MixtureOfMDPs"
concentration = 2.0
learner = { name = "PSRL", prior = 0.3 }
horizon = 30
"""


def test_peers_run_from_a_specification(tmp_path, capsys):
    (tmp_path / "peers.toml").write_text(SPECIFICATION)
    assert cli.run(["run", str(tmp_path / "peers.toml"), "--out", str(tmp_path / "out")]) == 0
    assert cli.run(["compare", str(tmp_path / "out"), "--json"]) == 0
    shown = capsys.readouterr().out
    assert "MixtureOfMDPs" in shown
    assert "QLearning" in shown


@pytest.mark.parametrize(
    ("kind", "name"), [("learners", "QLearning"), ("learners", "PSRL"), ("agents", "MixtureOfMDPs")]
)
def test_peers_are_listed(kind, name, capsys):
    assert cli.run(["list", kind, name]) == 0
    assert "guarantee" in capsys.readouterr().out


@pytest.mark.parametrize("learner", [ao.learning.QLearning(epsilon=0.05), ao.learning.PSRL(prior=0.3)], ids=repr)
def test_peers_keep_the_contract_of_learners(learner):
    ao.check_learner(learner)
