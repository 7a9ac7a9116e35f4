"""Files that no specification is: each is answered in a sentence, within two seconds of CPU time."""

import os
import time
import tomllib

import pytest

from aomultirl.experiments.specification import read_specification, specification_of
from specifications import BASE, WORLDS

AGENT = BASE[BASE.index("[[agents]]") :]


def refusal(read, *arguments):
    """What is said, within two seconds of CPU time and on one line."""
    begin = time.process_time()
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        read(*arguments)
    assert time.process_time() - begin < 2.0
    text = str(refused.value)
    assert len(text) <= 500
    assert "\n" not in text
    return text


def said_of(tmp_path, text):
    file = tmp_path / "spec.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return refusal(read_specification, file).replace(repr(str(file)), "FILE")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (".".join(["a"] * 30_000) + " = 1", "FILE is not a specification: a key in line 1 has more than 32 parts"),
        (
            BASE + "x." + " . ".join(['"b c"'] * 20_000) + " = 1",
            "FILE is not a specification: a key in line 13 has more than 32 parts",
        ),
        ("[" + ".".join(["a"] * 30_000) + "]", "FILE is not a specification: a key in line 1 has more than 32 parts"),
        (
            BASE + "horizon_ = [" + "1," * 5_000_000 + "]",
            "FILE has 10,000,151 bytes, and such a file has at most 256,000",
        ),
        (BASE + "x = " + "[" * 50_000, "FILE is not a specification: it is nested too deeply"),
        (BASE + "x = " + "{a=" * 50_000, "FILE is not a specification: it is nested too deeply"),
        (
            "x = " + "9" * 5000,
            "FILE is not a specification: a whole number in it has more than 4,300 digits",
        ),
        (
            BASE.replace("60", "0x" + "f" * 200_000),
            "episodes must be below 2**63, not 10**240824 or so",
        ),
        (
            BASE.replace("500", "0x" + "f" * 200_000),
            "agents[0].horizon must be below 2**1024, not 10**240824 or so",
        ),
        ("x" * 100_000 + " = 1", "x" * 76 + " ... is not known to a specification; it takes name, "),
        (
            BASE.replace("failure", "x" * 100_000),
            "agents[0]." + "x" * 76 + " ... is not known to Recall; it takes episodes, ",
        ),
        (BASE.replace("gridworld", "x" * 100_000), "worlds[0].name is '" + "x" * 75 + " ..., and there is no such"),
        (BASE.replace("0.03", '"' + "x" * 100_000 + '"'), "agents[0].failure must be a number, not 'xxx"),
        (BASE.replace("60", '["x", ' + '"y", ' * 30_000 + "]"), "episodes[0] must be a whole number, not 'x' (and "),
        (BASE.replace("500", "[" + "1," * 80_000 + "]"), "agents[0].horizon holds 1 twice"),
        (
            BASE + "grid = { proof = [" + ",".join(f"0.{i}" for i in range(10_000, 20_000)) + "] }\n"
            "resolution = [" + ",".join(f"0.{i}" for i in range(10_000, 20_000)) + "]\n",
            "agents[0] (Recall) makes 100,000,000 configurations; at most 1,000,000 may be",
        ),
        (BASE.replace("runs = 2", "runs = " + "9" * 4000), "this makes 10**4000 or so cells, more than 1,000,000"),
        (BASE.replace("runs = 2", "runs = 1_000_000"), "this makes 2,000,000 cells, more than 1,000,000"),
        (BASE.replace("60", "1_000_000_000_000"), "episodes is 1000000000000: a run of so many episodes takes 800 TB "),
        (BASE.replace("60", f"[60, {2**64}]"), "episodes[1] must be below 2**63, not 18446744073709551616"),
        (BASE + "episodes = 1_000_000_000_000", "agents[0].episodes is 1000000000000: a run of so many episodes "),
        (BASE.replace("runs = 2", "seed = " + "9" * 4000), "seed must be below 2**1024, not 10**4000 or so"),
        (
            BASE.replace(WORLDS, '[[worlds]]\nname = "gridworld"\nsize = 1_000_000\n'),
            "worlds[0].size is 1000000: making four worlds of 1000000**2 states takes 3 PB of memory, and ",
        ),
        (
            BASE.replace(AGENT, '[[agents]]\nname = "Optimal"\nhorizon = 1_000_000_000_000\n'),
            "agents[0].horizon is 1000000000000: a plan for so many steps and 16 states takes 4",
        ),
        (BASE.replace("runs = 2", 'name = "a\\u0000b"'), "name is 'a\\x00b', which holds characters that cannot be"),
        (BASE.replace("runs = 2", f'name = "{"x" * 300}"'), "name is 'xxx"),
        (BASE + 'label = "a\\u0000b"', "agents[0].label is 'a\\x00b', which holds characters that cannot be printed"),
        (BASE + f'label = "{"x" * 300}"', "agents[0].label is 'xxx"),
        (b"\xff" * 1000, "FILE is not UTF-8 text: byte 0 is 0xff"),
    ],
    ids=range(29),
)
def test_a_text_that_nobody_means(tmp_path, text, words):
    assert said_of(tmp_path, text)[: len(words)] == words


def lines(line, count):
    """A text of many lines, each with its number for ``#``."""
    return "\n".join(line.replace("#", f"{k:x}") for k in range(count))


LONG_KEY = "FILE is not a specification: a key in line 2 has more than 32 parts"
MANY_PARTS = "FILE is not a specification: its dotted keys have "
UNKNOWN = " is not known to a specification; it takes "
DEEP = ".".join("a" * 30)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (".".join([r'"\""'] * 20_000) + " = 1", LONG_KEY),
        (".".join([r'"a\"b"'] * 9_000) + " = 1", LONG_KEY),
        ("x = {" + ".".join([r'"a\"b"'] * 9_000) + " = 1}", LONG_KEY),
        ("x = 1 # '\n[" + ".".join([r'"\\"'] * 9_000) + "]", LONG_KEY.replace("2", "3", 1)),
        ('x = """\n"""""\n' + ".".join("a" * 30_000) + " = 1", LONG_KEY.replace("2", "4", 1)),
        (lines(f"#.{DEEP} = 1", 2_500), MANY_PARTS + "77,500 parts in all, more than 20,000"),
        (lines(f"[#.{DEEP}]", 3_500), MANY_PARTS),
        (f"[{DEEP}]\n" + lines(f"#.{DEEP} = []", 3_000), MANY_PARTS),
        (lines(f"[[{DEEP}]]", 3_500), MANY_PARTS),
        ("x = [" + lines("{a.b.c.d = {}},", 15_000) + "]", MANY_PARTS),
        pytest.param(f"[{DEEP}]\n" + lines("#.a = 1", 22_000), UNKNOWN, marks=pytest.mark.long),
        pytest.param(lines("[#]", 30_000), UNKNOWN, marks=pytest.mark.long),
        (lines("[[x]]", 40_000), UNKNOWN),
        pytest.param("x = {" + ",".join(f"{k:x}.a={{}}" for k in range(20_000)) + "}", UNKNOWN, marks=pytest.mark.long),
        (r'x = "' + r"\"" * 120_000 + '"', UNKNOWN),
        (r'x = "' + r"\"" * 120_000, "FILE is not TOML: Unterminated string"),
        ('x = """' + "\\\n" * 120_000 + '"""', UNKNOWN),
        ("x = '''" + "''a" * 80_000 + "'''", UNKNOWN),
        ("x = [" + "1.5," * 60_000 + "]", UNKNOWN),
        ("x = [" + '"a.b.c.d",' * 20_000 + "]", UNKNOWN),
        ("x" + " " * 240_000 + ".", "FILE is not TOML: Invalid initial character"),
        pytest.param("x = [" + ("[" * 200 + "]" * 200 + ",") * 600 + "]", UNKNOWN, marks=pytest.mark.long),
    ],
    ids=range(22),
)
def test_a_text_that_takes_a_reader_long(tmp_path, text, words):
    assert words in said_of(tmp_path, "episodes = 2\n" + text)


def test_a_long_stream_of_tasks_is_read_within_two_seconds():
    """Of the processor's time, which other work beside the test does not change."""
    tasks = ", ".join(str(k % 4) for k in range(80_000))
    text = BASE.replace("60", "80_000") + f'[[streams]]\nname = "sequence"\ntasks = [{tasks}]\n'
    begin = time.process_time()
    assert len(specification_of(tomllib.loads(text)).configurations()) == 2
    assert time.process_time() - begin < 2.0


@pytest.mark.parametrize("value", [None, 3, [], "x", {1: 2}])
def test_what_is_no_table(value):
    assert refusal(specification_of, value).startswith("the specification is ")


def test_lists_without_end():
    nested = []
    nested.append(nested)
    document = tomllib.loads(BASE)
    document["agents"][0]["failure"] = [nested]
    assert "agents[0].failure" in refusal(specification_of, document)
    document["agents"][0] = {"name": "AOMultiRL", "failure": 0.1, "distinguishing_set": nested}
    assert refusal(specification_of, document) == "the specification is nested too deeply"


def test_a_pipe_or_a_device_is_not_waited_for(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert refusal(read_specification, pipe) == f"{str(pipe)!r} is a pipe, a socket or a device, not a file"
    assert refusal(read_specification, "/dev/zero") == "'/dev/zero' is a pipe, a socket or a device, not a file"


def test_paths_that_no_file_has(tmp_path):
    assert refusal(read_specification, "a\0b") == "the specification is 'a\\x00b', and no path holds the character NUL"
    assert refusal(read_specification, "x" * 300).startswith("the specification is 'xxx")
