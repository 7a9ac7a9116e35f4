"""Each bad specification is refused with one sentence, before anything runs."""

import os

import pytest

import aomultirl as ao
from aomultirl.experiments.specification import read_specification
from specifications import BASE, WORLDS, check, message


def test_the_one_that_they_differ_from_is_good():
    assert message(BASE) == "it is good"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("episodes", "episode", "episode is not known to a specification; did you mean 'episodes'? (and 1 more)"),
        (
            "runs",
            "zzz",
            "zzz is not known to a specification; it takes name, episodes, runs, seed, record, worlds, streams, agents",
        ),
        ("edges", "edge", "worlds[0].edge is not known to gridworld; did you mean 'edges'?"),
        ("edges", "zzz", "worlds[0].zzz is not known to gridworld; it takes edges, grid, size, zip"),
        ("failure", "falure", "agents[0].falure is not known to Recall; did you mean 'failure'?"),
        ("failure", "lable", "agents[0].lable is not known to Recall; did you mean 'label'?"),
        (
            "failure = 0.03",
            "grid = { falure = [0.03] }",
            "agents[0].grid.falure is not known to Recall; did you mean 'failure'?",
        ),
        (
            "failure = 0.03",
            "zip = { falure = [0.03] }",
            "agents[0].zip.falure is not known to Recall; did you mean 'failure'?",
        ),
        (
            "[[worlds]]",
            '[[streams]]\nname = "blocks"\nlenght = 3\n[[worlds]]',
            "streams[0].lenght is not known to blocks; did you mean 'length'?",
        ),
    ],
)
def test_unknown_keys_with_the_closest_one(old, new, words):
    check(old, new, words)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            '"gridworld"',
            '"gridwrld"',
            "worlds[0].name is 'gridwrld', and there is no such world; did you mean 'gridworld'?",
        ),
        (
            '"gridworld"',
            '"zzz"',
            f"worlds[0].name is 'zzz', and there is no such world; there are {', '.join(sorted(ao.worlds.__all__))}",
        ),
        ('"Recall"', '"recal"', "agents[0].name is 'recal', and there is no such agent; did you mean 'Recall'?"),
        (
            "[[worlds]]",
            '[[streams]]\nname = "unifrom"\n[[worlds]]',
            "streams[0].name is 'unifrom', and there is no such stream; did you mean 'uniform'?",
        ),
    ],
)
def test_names_that_do_not_exist(old, new, words):
    check(old, new, words)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("runs = 2", "runs = 2.5", "runs must be a whole number, not 2.5"),
        ("runs = 2", "runs = true", "runs must be a whole number, not True"),
        ("runs = 2", "runs = [1, 2]", "runs must be a whole number, not [1, 2]"),
        ("runs = 2", "name = 3", "name must be a text, not 3"),
        ("episodes = 60", 'episodes = "many"', "episodes must be a whole number, not 'many'"),
        ("episodes = 60", 'episodes = [60, "many"]', "episodes[1] must be a whole number, not 'many'"),
        ('"gridworld"', "4", "worlds[0].name must be a text, not 4"),
        ("[[worlds]]", "[worlds]", "worlds must be a list of tables, each under [[worlds]]"),
        (WORLDS, 'worlds = ["gridworld"]', "worlds[0] must be a table, not 'gridworld'"),
        ("0.03", '"high"', "agents[0].failure must be a number, not 'high'"),
        ("0.03", '[0.03, "high"]', "agents[0].failure[1] must be a number, not 'high'"),
        ("0.03", "[0.03, [0.1]]", "agents[0].failure[1] must be a number, not [0.1]"),
        ("0.03", "true", "agents[0].failure must be a number, not True"),
        ("0.03", "nan", "agents[0].failure must be finite, not nan"),
        ("0.03", "1" + "0" * 400, "agents[0].failure must be finite, not inf"),
        ("500", "500.0", "agents[0].horizon must be a whole number, not 500.0"),
        ("500", "2024-01-01", "agents[0].horizon must be a whole number, not datetime.date(2024, 1, 1)"),
        ("500", "500\nlabel = 3", "agents[0].label must be a text, not 3"),
        ("500", '500\nlabel = ""', "agents[0].label is an empty text"),
        ("500", "500\ngrid = { proof = 0.1 }", "agents[0].grid.proof must be a list, not 0.1"),
        ("500", "500\ngrid = [0.1]", "agents[0].grid must be a table, not [0.1]"),
        ("500", "500\nzip = 3", "agents[0].zip must be a table, not 3"),
        ("500", "500\nzip = [{ proof = [0] }, 3]", "agents[0].zip[1] must be a table, not 3"),
        ("500", '500\nstream = "blocks"', "agents[0].stream must be a table, not 'blocks'"),
        (
            "500",
            "500\nlearner = { level = 1 }",
            "agents[0].learner must be the name of a learner or a table with a name, not {'level': 1}",
        ),
        (
            '"Recall"',
            '"SequentialAOMultiRL"\nexplorer = 3',
            "agents[0].explorer must be the name of an explorer or a table with a name, not 3",
        ),
        ('["stay", "third"]', "4", "worlds[0].edges must be a text, not 4"),
        (
            "runs = 2",
            'record = ["regrets"]',
            "record[0] must be one of 'regret', 'evaluation', 'estimate_error', not 'regrets'; did you mean 'regret'?",
        ),
    ],
)
def test_wrong_types(old, new, words):
    check(old, new, words)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("0.03", "[]", "agents[0].failure is an empty list"),
        ('["stay", "third"]', "[]", "worlds[0].edges is an empty list"),
        ("episodes = 60", "episodes = []", "episodes is an empty list"),
        (WORLDS, "worlds = []", "worlds is an empty list"),
        ("500", "500\ngrid = { proof = [] }", "agents[0].grid.proof is an empty list"),
        ("500", "500\nzip = { proof = [] }", "agents[0].zip.proof is an empty list"),
        ("500", "500\nzip = {}", "agents[0].zip is an empty table"),
        (
            "500",
            "500\nzip = { proof = [0, 0.1], resolution = [0.5] }",
            "agents[0].zip holds lists of different lengths: proof has 2 values, resolution 1",
        ),
        (
            "500",
            "500\nzip = [{ proof = [0] }, { resolution = [0.5], rewards = [] }]",
            "agents[0].zip[1].rewards is an empty list",
        ),
        ("0.03", "[0.03, 0.03]", "agents[0].failure holds 0.03 twice"),
        ("episodes = 60", "episodes = [60, 60]", "episodes holds 60 twice"),
        ("500", "500\nepisodes = [60, 60]", "agents[0].episodes holds 60 twice"),
        (
            "500",
            "500\nzip = { proof = [0, 0], resolution = [0.5, 0.5] }",
            "agents[0].zip holds proof=0.0, resolution=0.5 twice",
        ),
        (
            "500",
            "500\ngrid = { failure = [0.1] }",
            "agents[0].grid.failure is given twice, also as agents[0].failure",
        ),
        (
            "500",
            "500\ngrid = { proof = [0.1] }\nzip = { proof = [0.1] }",
            "agents[0].zip.proof is given twice, also as agents[0].grid.proof",
        ),
        (
            "[[agents]]",
            '[[agents]]\nname = "Recall"\nfailure = 0.03\nhorizon = 500\nresolution = 0.5\n[[agents]]',
            "agents[1] (Recall) is the same as agents[0] (Recall) in worlds[0] (gridworld, edges=stay); leave one out",
        ),
        (
            "[[agents]]",
            '[[worlds]]\nname = "gridworld"\nsize = 4\n[[agents]]',
            "worlds[1] (gridworld) is the same as worlds[0] (gridworld, edges=third); leave one out",
        ),
        (
            "[[agents]]",
            '[[streams]]\nname = "paper"\n[[streams]]\nname = "paper"\neach_first = false\n[[agents]]',
            "streams[1] (paper) is the same as streams[0] (paper); leave one out",
        ),
        (
            "[[agents]]",
            '[[agents]]\nname = "Random"\nlabel = "Recall"\nhorizon = 500\n[[agents]]',
            "agents[1] (Recall) and agents[0] (Random) would both be called 'Recall'; change a label",
        ),
    ],
)
def test_empty_lists_lists_that_do_not_fit_and_what_is_there_twice(old, new, words):
    check(old, new, words)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("runs = 2", "runs = 0", "runs must be at least 1, not 0"),
        ("runs = 2", "seed = -1", "seed must be at least 0, not -1"),
        ("episodes = 60", "episodes = -1", "episodes must be at least 1, not -1"),
        ("episodes = 60", "episodes = [60, 0]", "episodes[1] must be at least 1, not 0"),
        ("500", "500\nepisodes = 0", "agents[0].episodes must be at least 1, not 0"),
        ("500", "-500", "agents[0].horizon must be at least 1, not -500"),
        ("runs = 2", "runs = 10_000_000", "this makes 20,000,000 cells, more than 1,000,000"),
        ("runs = 2", "runs = 0\nseed = -1\nname = 3", "name must be a text, not 3 (and 2 more)"),
    ],
)
def test_counts(old, new, words):
    check(old, new, words)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("episodes = 60", "", "episodes is missing"),
        (WORLDS, "", "worlds is missing"),
        ('name = "Recall"', "", "agents[0].name is missing"),
        ("failure = 0.03", "", "agents[0] (Recall) needs failure"),
        ("[[agents]]", '[[streams]]\nname = "blocks"\n[[agents]]', "streams[0] (blocks) needs length"),
        (
            "[[agents]]",
            '[[streams]]\nname = "adaptive"\n[[agents]]',
            "streams[0] (adaptive) needs choose, a Python object, which a file cannot describe",
        ),
    ],
)
def test_what_is_missing(old, new, words):
    check(old, new, words)


def said(path):
    """What is said about a file."""
    try:
        read_specification(path)
    except ValueError as error:
        return str(error)
    return "it is good"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"episodes = \n", "is not TOML: Invalid value (at line 1, column 12)"),
        (b"runs = 1\nruns = 2\n", "is not TOML: Cannot overwrite a value (at line 2, column 9)"),
        (b"a = '\xff'", "is not UTF-8 text: byte 5 is 0xff"),
        (b"a = " + b"[" * 100_000, "is not a specification: it is nested too deeply"),
    ],
)
def test_files_that_are_no_toml(tmp_path, content, words):
    path = tmp_path / "bad.toml"
    path.write_bytes(content)
    assert said(path) == f"{str(path)!r} {words}"


def test_files_that_cannot_be_read(tmp_path):
    missing, inside = tmp_path / "none.toml", os.path.join(__file__, "x.toml")
    assert said(missing) == f"there is no file {str(missing)!r}"
    assert said(tmp_path) == f"{str(tmp_path)!r} is a folder, not a file"
    assert said(inside) == f"{inside!r} cannot be read: not a directory"
