"""What CONTRIBUTING and the pages on reliability and design state: what is tried how often, and constants."""

import dis
import inspect
import math
from importlib import import_module
from unittest.mock import MagicMock, patch

import bench_peers
import command_lines
import folder_mutations
import specification_mutations
from aomultirl.engine import signals
from mutants import MUTANTS
from stated.checks import states
from stated.reading import ROOT

RELIABILITY, CONTRIBUTING = "docs/reliability.md", "CONTRIBUTING.md"


class Tried(Exception):  # noqa: N818
    """Ends a test when it has said how much it is going to try."""


def tried(module, name):
    """How much the tests of a module ask of a function: by ``make test``, and by ``make test-all`` beyond that."""
    tests, found = import_module(module), {False: 0, True: 0}
    for test in vars(tests).values():
        if inspect.isfunction(test) and test.__name__.startswith("test_") and name in global_names(test):
            for is_long, arguments in calls(test):
                found[is_long] += counted(tests, name, test, arguments)
    return found[False], found[True]


def global_names(function):
    return {step.argval for step in dis.get_instructions(function) if step.opname == "LOAD_GLOBAL"}


def calls(test):
    """The arguments of every call that pytest makes of a test, and whether ``make test-all`` alone makes it."""
    marks = getattr(test, "pytestmark", [])
    always, variants = any(mark.name == "long" for mark in marks), [(False, {})]
    for mark in marks:
        if mark.name == "parametrize":
            names = mark.args[0] if isinstance(mark.args[0], tuple) else (mark.args[0],)
            chosen = [(bool(getattr(value, "marks", ())), getattr(value, "values", value)) for value in mark.args[1]]
            variants = [
                (
                    was or is_long,
                    {**known, **dict(zip(names, value if isinstance(value, tuple) else (value,), strict=True))},
                )
                for was, known in variants
                for is_long, value in chosen
            ]
    return [(always or is_long, known) for is_long, known in variants]


def counted(tests, name, test, arguments):
    """What a test asks for in one call: the number that it hands over first."""
    asked = []

    def note(*handed, **_):
        asked.extend(value for value in handed if isinstance(value, int))
        raise Tried

    given = {parameter: arguments.get(parameter, MagicMock()) for parameter in inspect.signature(test).parameters}
    with patch.object(tests, name, note):
        try:
            test(**given)
        except Tried:
            return asked[0]
    raise AssertionError(f"{test.__name__} does not call {name}")


def row(words, module, function, times=1):
    """A row of the table of attacks; ``times`` for tests that try as much of each of several kinds."""
    states(RELIABILITY, words)(lambda: [times * count for count in tried(module, function)])


row("| specifications, changed or made up | {} | {} more |", "fuzz.test_specifications", "check_specifications")
row("| agent files, changed, with the digest that belongs to them | {} | {} more |", "fuzz.test_agent_files", "check")
row(
    "| folders of results, changed, with the digests that belong to them | {} | {} more |",
    "fuzz.test_folders",
    "check_mutations",
)
row("| histories, changed, and the pages of them | {} | {} more |", "fuzz.test_histories", "check")
row(
    "| calls of everything public with values that nobody means | {} | {} more |",
    "fuzz.test_constructors",
    "check_calls",
)
row("| command lines, changed | {} | {} more |", "fuzz.test_commands", "check")
row("descriptions that hypothesis makes up | {} | {} more |", "fuzz.test_made_up", "check", times=4)
row("| `kill -9` of the driver, at recorded moments | {} | {} more,", "experiments.test_kills", "kill")


@states(RELIABILITY, "| the table fits | {}, each noticed by its own module's tests |")
def mutants():
    return [len(MUTANTS)]


@states(CONTRIBUTING, "attacks by the {}, a hundred kills")
def attacks():
    """Of most kinds."""
    kinds = [("specifications", "check_specifications"), ("agent_files", "check"), ("constructors", "check_calls")]
    return [10_000 if all(tried(f"fuzz.test_{kind}", name)[1] >= 10_000 for kind, name in kinds) else math.nan]


@states(CONTRIBUTING, "attacks by the ten thousand, {} kills", within=0.02)
def kills():
    return [tried("experiments.test_kills", "kill")[1]]


@states(CONTRIBUTING, "fails below {} times faster")
def planning_beside_rlberry():
    return [bench_peers.TARGET]


@states("docs/design.md", "It fails if planning is less than {} times faster.")
def planning_beside_rlberry_again():
    return [bench_peers.TARGET]


@states(CONTRIBUTING, "aim for less than {} lines", within=0.2)
def long_files():
    """So long or shorter are five files of six."""
    lengths = sorted(len(file.read_bytes().splitlines()) for file in (ROOT / "src").rglob("*.py"))
    return [lengths[5 * len(lengths) // 6]]


@states(RELIABILITY, "an answer that takes more than {} seconds")
def seconds_of_an_answer():
    (seconds,) = {specification_mutations.SECONDS, folder_mutations.SLOWEST, command_lines.SECONDS}
    return [seconds]


@states("docs/design.md", "every {} units, lets Python run")
def stretch():
    return [signals.STRETCH]
