"""Plug-ins: what packages offer, and what is named by hand; files alone import nothing."""

import json
import os
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

import aomultirl as ao
from aomultirl import plugins
from aomultirl.cli import run as command
from aomultirl.experiments import package_state
from aomultirl.experiments.cells import Cell
from aomultirl.experiments.runner import SimulatedRun
from aomultirl.experiments.status import status
from sweeps import results

STRANGER = Path(__file__).parent / "strangers" / "strange_methods.py"
SPECIFICATION = """
episodes = 4
runs = 2
[[worlds]]
name = "corridor"
length = [3, 4]
[[streams]]
name = "backwards"
[[agents]]
name = "Sticky"
horizon = 5
action = [0, 1]
[[agents]]
name = "Random"
horizon = 5
"""


@pytest.fixture
def offers(monkeypatch):
    """The names of this package alone; what a test loads is forgotten after it."""
    plugins.makers("world")
    ours = {key: maker for key, maker in plugins._offers.makers.items() if key not in plugins._offers.modules}
    fresh = plugins._Offers(bases=dict(plugins._offers.bases), makers=ours)
    monkeypatch.setattr(plugins, "_offers", fresh)
    return fresh


@pytest.fixture
def module(tmp_path, monkeypatch, offers):
    """The stranger's module, which can be imported."""
    folder = tmp_path / "site"
    folder.mkdir()
    shutil.copy(STRANGER, folder)
    monkeypatch.syspath_prepend(folder)
    yield folder
    sys.modules.pop("strange_methods", None)


def install(folder, point="strange = strange_methods"):
    """As an installed package is: with its entry points."""
    info = folder / "strange-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: strange\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[aomultirl.plugins]\n{point}\n")


def in_a_process(folder, *words, **more):
    path = os.pathsep.join([str(folder), *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONPATH": path}
    call = [sys.executable, "-P", "-m", "aomultirl", *map(str, words)]
    return subprocess.run(call, capture_output=True, text=True, check=False, env=environment, **more)


def test_installed_packages_offer_what_their_modules_list(module):
    install(module)
    sys.modules.pop("strange_methods", None)  # where all files are collected for doctests, it was imported as one
    assert "strange_methods" not in sys.modules
    assert plugins.find("agent", "Sticky").__name__ == "Sticky"
    assert plugins.module_of("agent", "Sticky") == "strange_methods"
    assert {"corridor", "gridworld"} <= set(plugins.makers("world"))
    assert plugins.loaded() == ()  # other processes find the package themselves


def test_our_own_names_have_nothing_imported(module):
    install(module)
    assert plugins.find("agent", "Random") is ao.agents.Random
    assert "strange_methods" not in sys.modules


def test_a_module_named_by_hand(module):
    assert ao.plugins.load("strange_methods") == {"world": ["corridor"], "stream": ["backwards"], "agent": ["Sticky"]}
    assert ao.plugins.load(sys.modules["strange_methods"])["agent"] == ["Sticky"]  # again, as an object
    assert plugins.loaded() == ("strange_methods",)
    world = ao.descriptions.make({"name": "corridor", "parameters": {"length": 3}}, "world")
    assert world.origin == {"name": "corridor", "parameters": {"length": 3, "slip": 0.1}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "the plug-in 'odd_one' cannot be loaded: there is no such module"),
        ("import no_such_thing", "the plug-in 'odd_one' cannot be loaded: ModuleNotFoundError: No module named 'no_su"),
        ("1 / 0", "the plug-in 'odd_one' cannot be loaded: ZeroDivisionError: division by zero"),
        ("x = 3", "the plug-in 'odd_one' offers nothing: its __all__ lists no world, stream, agent, learner or"),
        (
            "from aomultirl.agents import Agent\nclass Random(Agent): pass\n__all__ = ['Random']",
            "the plug-in 'odd_one' offers the agent 'Random', and aomultirl has another of that name; rename one",
        ),
        (
            "from aomultirl.agents import Agent\nclass Sticky(Agent): pass\n__all__ = ['Sticky']",
            "offers the agent 'Sticky', and the plug-in 'strange_methods' has another of that name; rename one",
        ),
        (
            "from aomultirl.agents import Agent\nclass Calm(Agent): pass\n__all__ = ['Calm', 'Clam']",
            "the plug-in 'odd_one' lists 'Clam' in its __all__, and has nothing so called",
        ),
        (
            "def plain(): pass\n__all__ = ['plain']",
            "offers nothing: its __all__ lists no world, .*; 'plain' of the plug-in 'odd_one' cannot be made",
        ),
    ],
)
def test_what_cannot_be_loaded_is_one_sentence(module, content, message):
    """By hand it is refused; an installed package is left out with a warning, and the others are there."""
    sys.modules.pop("odd_one", None)
    plugins.load("strange_methods")
    if content is not None:
        (module / "odd_one.py").write_text(content)
    before = dict(plugins._offers.makers)
    with pytest.raises(ValueError, match=message.replace("[", r"\[")):
        plugins.load("odd_one")
    assert plugins._offers.makers == before
    install(module, "odd = odd_one")
    plugins._offers.discovered = False
    with pytest.warns(UserWarning, match="odd_one"):
        assert "Sticky" in plugins.makers("agent")


@pytest.mark.parametrize(
    ("thing", "why"),
    [
        (lambda: None, "a function is a world where it is annotated to return a ModelSet"),
        (type("Other", (), {}), "it is not derived from Stream, Agent, Learner or Explorer"),
        (3, "it is neither a class nor a function"),
        (None, "it is neither a class nor a function"),
    ],
)
def test_what_is_of_no_known_kind_is_warned_of(offers, thing, why):
    made = types.ModuleType("made_by_hand")
    made.__all__, made.Still, made.other = ["Still", "other"], type("Still", (ao.agents.Random,), {}), thing
    with pytest.warns(UserWarning, match=f"^'other' of the plug-in 'made_by_hand' cannot be made by name: {why}$"):
        assert ao.plugins.load(made) == {"agent": ["Still"]}


def test_a_name_is_not_taken_for_a_kind(offers):
    made = types.ModuleType("made_by_hand")
    made.__all__, made.agent = ["agent"], type("agent", (ao.learning.Practical,), {})
    assert ao.plugins.load(made) == {"learner": ["agent"]}


def test_the_name_of_a_file_is_not_that_of_a_module(module):
    for name in ("strange_methods.py", "no_such_folder.strange_methods.py"):
        plain = name.removesuffix(".py")
        with pytest.raises(ValueError, match=f"no such module; leave out the '.py': .*, '{plain}'$"):
            plugins.load(name)


@pytest.mark.parametrize("name", [3, "", "a b", "a..b", "../a", "a:b"])
def test_names_that_no_module_has(offers, name):
    with pytest.raises(ValueError, match=r"plugin is .*, not the name of a module"):
        plugins.load(name)


def test_a_module_that_was_made_by_hand(offers):
    made = types.ModuleType("made_by_hand")
    made.__all__, made.Still = ["Still"], type("Still", (ao.agents.Random,), {})
    assert ao.plugins.load(made) == {"agent": ["Still"]}


def test_sweeps_on_one_worker_and_on_two_are_the_same(tmp_path, module, capfd):
    """Workers load the plug-ins that were named; a leaderboard and a second run know them, too."""
    specification = tmp_path / "strange.toml"
    specification.write_text(SPECIFICATION)
    assert command(["run", str(specification), "--out", str(tmp_path / "a"), "--plugin", "strange_methods"]) == 0
    two = ["run", specification, "--out", tmp_path / "b", "--workers", "2", "--plugin", "strange_methods"]
    assert command([*map(str, two)]) == 0
    assert results(tmp_path / "a") == results(tmp_path / "b")
    assert len(results(tmp_path / "a")) == 12
    assert json.loads((tmp_path / "a" / "experiment.json").read_text())["plugins"] == ["strange_methods"]
    capfd.readouterr()
    assert command([*map(str, two)]) == 0
    again = " ".join(capfd.readouterr().err.split())
    assert "12 of 12 cells are in" in again
    assert "12 of them from before" in again
    assert command(["compare", str(tmp_path / "a"), "--json"]) == 0
    assert "Sticky, action=1" in capfd.readouterr().out


def test_an_edited_plugin_is_other_code(tmp_path, module, capfd, monkeypatch):
    """Results of the plug-in as it was are kept, and said."""
    monkeypatch.setattr(package_state, "_plugin", package_state._plugin.__wrapped__)
    (tmp_path / "strange.toml").write_text(
        SPECIFICATION.replace("corridor", "gridworld").replace("length = [3, 4]", "").replace("backwards", "uniform")
    )
    words = ["run", tmp_path / "strange.toml", "--out", tmp_path / "a", "--plugin", "strange_methods"]
    for _ in range(2):
        assert command(list(map(str, words))) == 0
        assert "other sources" not in " ".join(capfd.readouterr().err.split())
        assert status(tmp_path / "a").sources == 1
    with (module / "strange_methods.py").open("a") as file:
        file.write("# edited\n")
    assert "4 of the results that are there were computed with other sources of aomultirl or of a plug-in" in (
        in_a_process(module, *words).stderr
    )


def test_only_cells_that_need_a_plugin_depend_on_its_source(tmp_path, module, monkeypatch):
    """So do checkpoints: where the plug-in is edited, or what it imports, a run does not go on from them."""
    (module / "strange_help.py").write_text("LENGTH = 3")
    with (module / "strange_methods.py").open("a") as file:
        file.write("import strange_help\n")
    plugins.load("strange_methods")
    ours = {"name": "gridworld", "parameters": {}}, {"name": "uniform", "parameters": {}}
    plain, sticky = (
        Cell(*ours, {"name": name, "parameters": {"horizon": 5}}, 4, 0, 0, name) for name in ("Random", "Sticky")
    )
    monkeypatch.setattr(package_state, "_plugin", package_state._plugin.__wrapped__)
    before, notes = sticky.source, []
    assert plain.source == package_state.source() != before
    step = SimulatedRun.step
    monkeypatch.setattr(SimulatedRun, "step", lambda run: step(run) if run.met < 2 else pytest.fail("interrupted"))
    with pytest.raises(pytest.fail.Exception):
        sticky.run(tmp_path / "cell.zip", 0.0)
    monkeypatch.setattr(SimulatedRun, "step", step)
    (module / "strange_help.py").write_text("LENGTH = 4")
    assert plain.source == package_state.source()
    assert sticky.source != before
    assert len(sticky.run(tmp_path / "cell.zip", 1000.0, notes)) == 4
    assert "other code began it" in notes[0]
    sys.modules.pop("strange_help")


def test_a_file_alone_imports_nothing_and_says_what_to_load(tmp_path, module, offers, capfd, monkeypatch):
    specification = tmp_path / "strange.toml"
    specification.write_text(SPECIFICATION)
    out = tmp_path / "a"
    nothing_loaded = plugins._Offers(bases=dict(offers.bases), makers=dict(offers.makers))
    assert command(["run", str(specification), "--out", str(out), "--plugin", "strange_methods"]) == 0
    monkeypatch.setattr(plugins, "_offers", nothing_loaded)  # as a new process begins
    sys.modules.pop("strange_methods")
    for words in (["status", out], ["verify", out], ["compare", out], ["report", out]):
        assert command(list(map(str, words))) == 0
    said = " ".join(capfd.readouterr().out.split())
    assert "the agent 'Sticky' is not known here" in said
    assert "--plugin strange_methods" in said
    assert command(["run", str(specification), "--out", str(out)]) == 2
    refused = capfd.readouterr().err
    assert "worlds[0].name is 'corridor', and there is no such world" in refused
    assert refused.endswith("the results that are there were made with --plugin strange_methods\n")
    assert "strange_methods" not in sys.modules


def test_the_list_names_them_and_who_offers_them(module, capfd):
    assert command(["list", "agents", "--plugin", "strange_methods"]) == 0
    said = capfd.readouterr().out
    assert "Takes one action for ever. (plug-in strange_methods)" in said
    assert "horizon action=0" in said
    assert command(["list", "agents", "Sticky"]) == 0
    assert "Sticky, agent of the plug-in strange_methods" in capfd.readouterr().out
    assert command(["list"]) == 0
    everything = capfd.readouterr().out
    assert all(name in everything for name in ("gridworld", "corridor", "backwards", "uniform", "Recall"))


def test_saved_agents_of_plugins(tmp_path, module):
    plugins.load("strange_methods")
    agent = plugins.find("agent", "Sticky")(5, action=1)
    ao.run(agent, ao.worlds.gridworld(3), ao.streams.uniform(), 2)
    ao.save(agent, tmp_path / "agent.zip")
    again = ao.load_agent(tmp_path / "agent.zip")
    assert (type(again), again.completed) == (type(agent), 2)
    plugins._offers.modules.clear()
    plugins._offers.makers.pop(("agent", "Sticky"))
    with pytest.raises(ValueError, match="nor in a plug-in that is loaded"):
        ao.load_agent(tmp_path / "agent.zip")
