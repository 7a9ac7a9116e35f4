"""`aomultirl list`: a line each, one kind with its parameters, and one thing with an example that works."""

import tomllib
from itertools import pairwise

import pytest

import aomultirl as ao
from aomultirl import descriptions, plugins
from aomultirl.cli import comparing, listing, run, summaries, usage
from aomultirl.experiments import suites
from aomultirl.experiments.specification import specification_of

MARKS = (":class:", ":func:", ":mod:", "`")
KINDS = ("worlds", "agents", "learners", "explorers", "streams", "suites")


def said(capsys, *words):
    assert run(["list", *words]) == 0
    return capsys.readouterr().out.splitlines()


def test_everything_has_a_line_that_fits_the_terminal(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = said(capsys)
    assert [line for line in lines if line in KINDS] == list(KINDS)
    for kind in plugins.KINDS:
        for name in plugins.makers(kind):
            assert any(line.startswith(f"  {name} ") and len(line.split()) > 2 for line in lines)
    assert max(map(len, lines)) <= 80
    assert not any(mark in line for mark in MARKS for line in lines)
    cut = [line for line in lines if line.endswith("…")]
    assert all(line.endswith(" …") for line in cut)
    assert any(line.startswith("  Recall ") for line in cut)


def test_what_is_read_from_sources_is_what_importing_says(capsys, monkeypatch):
    """`aomultirl list` alone imports nothing that it lists; names, order and words are those of the classes."""
    monkeypatch.setenv("COLUMNS", "200")
    read = summaries.summaries()
    assert set(read) == {*plugins.KINDS, "suite"}
    lines = said(capsys)
    monkeypatch.setattr(listing, "summaries", lambda: None)
    assert said(capsys) == lines
    for kind in plugins.KINDS:
        assert {name: descriptions.summary(maker)[0] for name, maker in plugins.makers(kind).items()} == read[kind]


def test_what_cannot_be_read_is_imported(monkeypatch):
    monkeypatch.setattr(summaries.plugins, "loaded", lambda: ("somebodys",))
    assert summaries.summaries() is None
    monkeypatch.undo()
    monkeypatch.setattr(summaries.plugins, "ROOMS", {"world": "no_such_room"})
    assert summaries.summaries() is None


def test_where_no_terminal_is_nothing_is_cut(capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    lines = said(capsys)
    assert not any("…" in line for line in lines)
    assert any(line.endswith("and commits to memory on proof.") for line in lines)


def test_names_stand_in_the_order_of_the_alphabet(capsys):
    names = [line.split()[0] for line in said(capsys) if line.startswith("  ")]
    agents = names[names.index("AOMultiRL") : names.index("UMUCB") + 1]
    assert agents == sorted(agents, key=str.casefold)
    assert set(agents) == set(plugins.makers("agent"))
    assert agents != sorted(agents)


def test_a_kind_is_listed_with_parameters_in_whole_words(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = said(capsys, "agents")
    whole = " ".join(" ".join(lines).split())
    assert "keywords as of aomultirl.learning.UCBVI." in whole
    assert "discount=null, backups=16)" in whole
    assert max(map(len, lines)) <= 80
    assert not any(mark in whole for mark in ("…", *MARKS))


def test_one_thing_has_its_parameters_and_an_example(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = said(capsys, "agents", "AOMultiRL")
    assert "see aomultirl.theory.constants." in " ".join(" ".join(lines).split())
    assert not any("`" in line for line in lines)
    assert max(len(line) for line in lines if ">>>" not in line) <= 80
    assert '    name = "AOMultiRL"' in lines
    assert "    hitting_time = 7.0" in lines
    assert "    aomultirl inspect gridworld" in said(capsys, "worlds", "gridworld")
    assert "    aomultirl compare --suite hard --quick" in said(capsys, "suites", "hard")


@pytest.mark.parametrize("kind", plugins.KINDS)
def test_every_example_works(kind):
    """In Python, where it is run, and in a file, which is checked as `aomultirl run` checks it."""
    makers = {name: maker for name, maker in plugins.makers(kind).items() if plugins.module_of(kind, name) is None}
    for name in makers.keys() - {"icu_sepsis"}:  # which needs another extra, and reads a file of many megabytes
        shown = dict(usage.examples(kind, name))
        lines = shown["In Python"]
        names = {"ao": ao}
        assert lines[0] == "import aomultirl as ao"
        exec("\n".join(lines[1:]), names)
        (made,) = (thing for word, thing in names.items() if word not in ("ao", "__builtins__"))
        assert isinstance(made, plugins._offers.bases[{"learner": "agent", "explorer": "agent"}.get(kind, kind)])
        assert name in repr(made) or kind in ("world", "stream")
        title = "In the file of an experiment, for aomultirl run FILE.toml"
        assert (title in shown) == (name != "adaptive")  # which needs a function
        if kind in ("agent", "explorer"):
            document = tomllib.loads("\n".join(shown[title]))
            fits = "bandits" if "means" in str(document) or name == "TUCB" else "gridworld"
            worlds = [{"name": fits, **({"models": 2} if fits == "bandits" else {})}]
            told = {key: value for key, value in document["agents"][0].items() if key != "means"}
            assert specification_of({"episodes": 40, "worlds": worlds, "agents": [told]}).cells()


def test_what_strangers_need_is_left_open(monkeypatch):
    class Theirs(ao.agents.Agent):
        def __init__(self, colour, horizon):
            self.colour, self.horizon = colour, horizon

    monkeypatch.setitem(plugins._offers.makers, ("agent", "Theirs"), Theirs)
    monkeypatch.setitem(plugins._offers.modules, ("agent", "Theirs"), "their.module")
    ((title, lines),) = usage.examples("agent", "Theirs")
    assert title == "In Python"
    assert lines[1] == "agent = their.module.Theirs(colour=..., horizon=500)"


def test_the_names_that_help_and_shells_show_are_those_of_the_suites():
    assert tuple(suites.SUITES) == comparing.SUITES


@pytest.mark.parametrize("name", sorted(set(plugins.makers("agent")) - {"DetectAndRestart"}))
def test_parameters_of_agents_are_explained_by_more_than_a_letter(capsys, monkeypatch, name):
    """Of all agents but one, whose file holds kernels: a change of its words would compile all of them anew."""
    monkeypatch.setenv("COLUMNS", "80")
    lines = said(capsys, "agents", name)
    for parameter, words in pairwise(lines):
        if parameter in ("failure", "horizon", "separation"):
            assert len(words.split()) > 2, (parameter, words)
