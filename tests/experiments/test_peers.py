"""Learners of others and the mixture by name: in specifications, in the list, and as anybody tries them."""

import pytest

import aomultirl as ao
from aomultirl import cli, plugins

LEARNERS = (
    ao.learning.QLearning(epsilon=0.05),
    ao.learning.PSRL(prior=0.3),
    ao.learning.RMax(enough=2),
    ao.learning.UCBVICH(bonus_scale=0.01),
    ao.learning.UCBVIBF(bonus_scale=0.01),
    ao.learning.EULER(bonus_scale=0.01),
    ao.learning.StrongEuler(bonus_scale=0.01),
    ao.learning.UBEV(bonus_scale=0.1),
    ao.learning.UBEV(bonus_scale=0.1, stationary=True),
    ao.learning.UCFH(bonus_scale=0.1),
    ao.learning.UCRL2B(bonus_scale=0.1),
    ao.learning.QLearningUCBH(bonus_scale=0.01),
    ao.learning.QLearningUCBB(bonus_scale=0.01),
)
OURS = (ao.learning.Practical(), ao.learning.UCBVI(bonus_scale=0.01), ao.learning.UCRL2(bonus_scale=0.1))
"""The learners of the paper and of this library."""
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
name = "AOMultiRL"
models = 2
separation = 0.99
hitting_time = 5
failure = 0.1
samples = 4
clustering_horizon = 300
learning_horizon = 30
learner = [
  { name = "RMax", enough = 2 },
  { name = "UCBVICH", bonus_scale = 0.01 },
  { name = "UCBVIBF", bonus_scale = 0.01 },
  { name = "EULER", bonus_scale = 0.01 },
  { name = "StrongEuler", bonus_scale = 0.01 },
  { name = "UBEV", bonus_scale = 0.1 },
  { name = "UCFH", bonus_scale = 0.1 },
  { name = "UCRL2B", bonus_scale = 0.1 },
  { name = "QLearningUCBH", bonus_scale = 0.01 },
  { name = "QLearningUCBB", bonus_scale = 0.01 },
]

[[agents]]
name = "MaxQInit"
horizon = 30
rarest = 0.5
failure = 0.3
learner = { name = "RMax", enough = 1 }

[[agents]]
name = "LRMax"
horizon = 30
distance = 0.01
failure = 0.3

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
    for agent in ("MaxQInit", "LRMax", "MixtureOfMDPs"):
        assert agent in shown
    for learner in LEARNERS:
        assert type(learner).__name__ in shown


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *(("agents", name) for name in ("LRMax", "MaxQInit", "MixtureOfMDPs")),
        *(("learners", name) for name in sorted({type(one).__name__ for one in LEARNERS})),
    ],
)
def test_peers_are_listed(kind, name, capsys):
    assert cli.run(["list", kind, name]) == 0
    assert "guarantee" in capsys.readouterr().out.lower()


@pytest.mark.parametrize("learner", [*LEARNERS, *OURS], ids=repr)
def test_learners_keep_their_contract(learner):
    ao.check_learner(learner)


def test_every_learner_is_checked():
    assert {type(learner).__name__ for learner in (*LEARNERS, *OURS)} == set(plugins.makers("learner"))


@pytest.mark.parametrize("name", sorted(plugins.makers("explorer")))
def test_every_explorer_keeps_its_contract(name):
    ao.check_explorer(plugins.makers("explorer")[name]())
