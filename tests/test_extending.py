"""A stranger's learner, explorer, agent, world and stream, each in one file of ``examples/extending``.

They run alone, pooled, told and inside AOMultiRL, are saved and resumed, run in a sweep from TOML on two workers, and
appear in ``list``; the page that shows them is about these files.
"""

import copy
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import aomultirl as ao
from aomultirl import cli, extending
from aomultirl.experiments.specification import specification_of
from aomultirl.extending import Explorer, Learner, Learning

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples" / "extending"
PAGES = ROOT / "docs" / "extending"
FILES = sorted(EXAMPLES.glob("*.py"))
KINDS = {
    "q_learning": ("learner", "OptimisticQ"),
    "wandering": ("explorer", "Wandering"),
    "explore_then_commit": ("agent", "ExploreThenCommit"),
    "corridors": ("world", "corridors"),
    "pendulum": ("stream", "pendulum"),
}
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join([str(EXAMPLES), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]),
}
PLUGINS = [word for name in KINDS for word in ("--plugin", name)]

SWEEP = """
episodes = 6
runs = 2

[[worlds]]
name = "corridors"
length = [4, 5]

[[streams]]
name = "pendulum"

[[agents]]
name = "ExploreThenCommit"
horizon = 60

[[agents]]
name = "Pooled"
learner = {name = "OptimisticQ", rate = 0.3}
horizon = 60

[[agents]]
name = "AOMultiRL"
hitting_time = 9
failure = 0.1
samples = 4
clustering_horizon = 300
learning_horizon = 60
explorer = "Wandering"
learner = {name = "OptimisticQ"}
"""


@pytest.fixture(scope="module")
def strangers():
    """The modules, importable while the tests of this file run, and made known by name."""
    sys.path.insert(0, str(EXAMPLES))
    made, before = {name: __import__(name) for name in KINDS}, copy.copy(ao.plugins._offers)
    for name in ("bases", "makers", "modules", "by_hand"):
        setattr(ao.plugins._offers, name, copy.copy(getattr(before, name)))
    for module in made.values():
        ao.plugins.load(module)
    yield made
    ao.plugins._offers = before  # other tests know nothing of strangers
    sys.path.remove(str(EXAMPLES))


def process(*words, folder):
    """What a new process said, which finds the modules but has loaded none of them."""
    words = [sys.executable, *words]
    return subprocess.run(words, capture_output=True, text=True, env=ENVIRONMENT, cwd=folder, check=False)


def test_every_file_is_one_of_each_kind_and_short():
    assert {path.stem for path in FILES} == set(KINDS)
    for path in FILES:
        assert len(path.read_text().splitlines()) <= 60, path.name


def test_a_page_for_each_kind_shows_its_file_as_it_is():
    for name, (kind, _) in KINDS.items():
        assert f"{{literalinclude}} ../../examples/extending/{name}.py\n" in (PAGES / f"{kind}.md").read_text()
    contents = (PAGES / "index.md").read_text()
    assert all(f"]({path.name})" in contents for path in PAGES.glob("*.md") if path.name != "index.md")


def test_the_pages_say_all_that_a_stranger_may_need():
    page = "".join(path.read_text() for path in PAGES.glob("*.md"))
    for room in (Learner, Learning, Explorer):
        assert all(f"`{name}" in page for name in vars(room) if not name.startswith("_")), room
    page += "".join(path.read_text() for path in FILES)
    for name in extending.__all__:
        assert re.search(rf"\b{name}\b", page), name


def test_the_snippets_of_the_pages_run(strangers, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for path in sorted(PAGES.glob("*.md")):
        for snippet in re.findall(r"^```python\n(.*?)^```", path.read_text(), re.DOTALL | re.MULTILINE):
            exec(compile(snippet, path.name, "exec"), names)
    assert names["agent"].learner == strangers["q_learning"].OptimisticQ(rate=0.3)
    with pytest.raises(ao.plugins.checks.Refusal, match="times must be at least 1, not 0"):
        names["Patient"](times=0).behaviour(np.ones((3, 2), bool), 4, 0.1)


def test_the_specification_of_the_pages_is_good(strangers):
    (text,) = re.findall(r"^```toml\n(episodes.*?)^```", (PAGES / "plugins.md").read_text(), re.DOTALL | re.MULTILINE)
    assert len(specification_of(tomllib.loads(text)).cells()) == 2 * 2 * 2


def test_the_learner_does_what_agents_rely_on(strangers):
    ao.check_learner(strangers["q_learning"].OptimisticQ())


def test_the_explorer_does_what_agents_rely_on(strangers):
    ao.check_explorer(strangers["wandering"].Wandering())


def test_the_agent_does_what_drivers_rely_on(strangers):
    ao.check_agent(strangers["explore_then_commit"].ExploreThenCommit(100))


def test_the_learner_learns_in_every_form(strangers):
    """Told the world it earns more than alone, and both more than acting at random."""
    models, learner = strangers["corridors"].corridors(4, 2), strangers["q_learning"].OptimisticQ()
    stream = strangers["pendulum"].pendulum()
    earned = {
        type(agent).__name__: ao.run(agent, models, stream, 40, seed=1)["learning_reward"].sum()
        for agent in (
            ao.agents.Random(60),
            ao.agents.OneEpisode(learner, 60),
            ao.agents.Pooled(learner, 60),
            ao.agents.Told(learner, 60, 2),
        )
    }
    assert earned["Told"] > earned["OneEpisode"] > earned["Random"]
    assert earned["Pooled"] > earned["Random"]


def test_the_stream_goes_back_and_forth(strangers):
    models = strangers["corridors"].corridors(4, 3)
    history = ao.run(ao.agents.Random(5), models, strangers["pendulum"].pendulum(), 9)
    assert history["task"].tolist() == [0, 1, 2, 1, 0, 1, 2, 1, 0]


def test_both_parts_work_inside_aomultirl_saved_and_resumed(strangers, tmp_path):
    models, stream = strangers["corridors"].corridors(4, 2), ao.streams.round_robin()
    explorer, learner = strangers["wandering"].Wandering(), strangers["q_learning"].OptimisticQ()

    def agent():
        return ao.agents.AOMultiRL(
            2,
            models.separation() - 1e-6,
            None,
            0.1,
            samples=10,
            clustering_horizon=600,
            learning_horizon=60,
            explorer=explorer,
            learner=learner,
        )

    whole, begun = ao.run(agent(), models, stream, 12, seed=2), agent()
    first = ao.run(begun, models, stream, 12, seed=2, stop=5)
    ao.save(begun, tmp_path / "agent.zip")
    loaded = ao.load_agent(tmp_path / "agent.zip")
    assert (loaded.explorer, loaded.learner) == (explorer, learner)
    assert any((cluster.regret.own["q"] < 20.0).any() for cluster in loaded.clusters)
    assert ao.run(loaded, models, stream, 12, seed=2, resume=first) == whole
    assert whole.misclustered == 0


def test_a_file_alone_imports_nothing(strangers, tmp_path):
    """Another process, which has not loaded the learner's module, says what is missing and imports nothing.

    Nor does a sweep from TOML that nobody named the modules for.
    """
    agent = ao.agents.Pooled(strangers["q_learning"].OptimisticQ(), 20)
    ao.run(agent, strangers["corridors"].corridors(), ao.streams.uniform(), 2)
    ao.save(agent, tmp_path / "agent.zip")
    program = (
        "import sys, aomultirl as ao\n"
        "try:\n    ao.load_agent('agent.zip')\n"
        "except ValueError as error:\n    print(error)\n"
        "from aomultirl import cli\n"
        "print(cli.run(['run', 'sweep.toml', '--out', 'three']))\n"
        "print('q_learning' in sys.modules)\n"
        "ao.plugins.load('q_learning')\n"
        "print(ao.load_agent('agent.zip').learner)"
    )
    (tmp_path / "sweep.toml").write_text(SWEEP)
    done = process("-c", program, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    message, status, imported, learner = done.stdout.splitlines()
    assert status == "2"
    assert "there is no such world" in done.stderr
    assert "there is no learner 'OptimisticQ', neither in ao.learning nor in agents=[...] nor in a plug-in" in message
    assert imported == "False"
    assert learner == "OptimisticQ(rate=0.5, discount=0.95)"


def test_a_sweep_from_toml(strangers, tmp_path):
    (tmp_path / "sweep.toml").write_text(SWEEP)
    words = ["run", str(tmp_path / "sweep.toml"), "--out", str(tmp_path / "one"), *PLUGINS]
    assert cli.run([*words, "--workers", "1"]) == 0
    assert len(list((tmp_path / "one" / "cells").glob("*.parquet"))) == 2 * 3 * 2
    assert set(ao.load(tmp_path / "one")["agent"].unique()) >= {"ExploreThenCommit", "Pooled", "AOMultiRL"}


@pytest.mark.long
def test_a_sweep_from_toml_on_two_workers(strangers, tmp_path):
    (tmp_path / "sweep.toml").write_text(SWEEP)
    words = ["run", "sweep.toml", "--out", "two", "--workers", "2", *PLUGINS]
    done = process("-m", "aomultirl", *words, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    out = ["--out", str(tmp_path / "one"), "--workers", "1"]
    assert cli.run(["run", str(tmp_path / "sweep.toml"), *out, *PLUGINS]) == 0
    cells = [sorted((tmp_path / name / "cells").glob("*.parquet")) for name in ("one", "two")]
    assert [path.name for path in cells[0]] == [path.name for path in cells[1]]
    assert len(cells[0]) == 2 * 3 * 2
    assert [path.read_bytes() for path in cells[0]] == [path.read_bytes() for path in cells[1]]
    frame = ao.load(tmp_path / "two")
    assert set(frame["agent"].unique()) >= {"ExploreThenCommit", "Pooled", "AOMultiRL"}
    assert cli.run(["run", str(tmp_path / "sweep.toml"), "--out", str(tmp_path / "two"), *PLUGINS]) == 0


def test_the_command_lists_them(strangers, capsys):
    for name, (kind, word) in KINDS.items():
        assert cli.run(["list", f"{kind}s", "--plugin", name]) == 0
        assert word in capsys.readouterr().out


def test_what_is_kept_is_what_it_says(strangers):
    agent = strangers["explore_then_commit"].ExploreThenCommit(50, explore=20)
    ao.run(agent, strangers["corridors"].corridors(), ao.streams.uniform(), 3)
    assert int(agent.kept.counts.to_lists()[2].sum()) == 150
    assert json.loads(json.dumps(ao.run(agent, strangers["corridors"].corridors(), ao.streams.uniform(), 1).about))
    assert np.isfinite(agent.kept.counts.to_lists()[2]).all()
