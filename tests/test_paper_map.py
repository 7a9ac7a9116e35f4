"""docs/paper_map.md has one row for every numbered part of the paper, and all that it names is there."""

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

import aomultirl
from aomultirl import plugins
from aomultirl.analysis.errata import ERRATA as SENTENCES
from aomultirl.cli.app import app
from aomultirl.laboratory import findings
from aomultirl.laboratory.groups import GROUPS

ROOT = Path(__file__).parents[1]
COUNTED = {
    "Definition": (1, 2, 3, 7, 21),
    "Assumption": (4, 12, 19),
    "Lemma": (5, 8, 13, 14, 15, 22, 23, 25, 29, 30, 31, 32, 33, 34, 36, 38, 40, 41),
    "Corollary": (9, 17, 24, 26, 28, 39, 42),
    "Theorem": (16, 20, 35, 37),
    "Remark": (6, 10, 11, 18),
    "Proposition": (27,),
}
"""Statements that the paper counts in one sequence, by kind."""
KINDS = {number: kind for kind, numbers in COUNTED.items() for number in numbers}
ALGORITHMS, FIGURES, ERRATA = 7, 5, 36
PARTIAL = {("Definition", "7"), ("Definition", "21")}
"""Parts of which something is missing."""
LOOSE = {14, 16, 18, 26, 27, 29, 30, 33}
"""Errata that are remarks; of 18 the first part is."""
LABEL = re.compile(rf"({'|'.join(COUNTED)}|Algorithm|Figure|Equations?|Section|Appendix) (\S+?),? ")


def tables():
    """The cells of the tables: what sections count, parts, errata, remarks, decisions, and what is beside the paper."""
    found = [[]]
    for line in (ROOT / "docs/paper_map.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("|"):
            found[-1].append([cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))])
        elif found[-1]:
            found.append([])
    return [rows[2:] for rows in found if rows]


SECTIONS, PARTS, MISTAKES, REMARKS, DECISIONS, BESIDE = tables()
PLACES = {name: place for name, place in vars(findings).items() if name.isupper()}


def label(row):
    """What a row is about: ("Lemma", "5")."""
    match = LABEL.match(row[0])
    assert match, f"{row[0]!r} does not begin with a part of the paper"
    return match.groups()


def numbers(kind):
    return [int(number) for name, number in map(label, PARTS) if name == kind]


def names(cell):
    return re.findall(r"`([^`]+)`", cell)


def mentioned(text):
    return {int(number) for number in re.findall(r"\bE(\d+)\b", text)}


def counted(column):
    """The section of each number in a column of the first table."""
    found = {}
    for row in SECTIONS:
        ends = [int(number) for number in re.findall(r"\d+", row[column])]
        here = range(ends[0], ends[-1] + 1) if ends else ()
        assert not set(here) & set(found), f"{row[0]} has what another section has"
        found |= dict.fromkeys(here, row[0])
    return found


def section(kind, number):
    """Where a counted part of the paper stands."""
    return counted({"Algorithm": 2, "Figure": 3}.get(kind, 1))[int(number)]


def check_place(place):
    """Raise unless it begins like a row of the page, in its section, with errata of this row alone."""
    assert re.match(r"(Section \d|Appendix [A-J])\b", place), f"{place!r} has no section"
    numbered = re.match(rf"(\w+ \w+), ({'|'.join(COUNTED)}|Algorithm|Figure) (\d+)(?= \(|$)", place)
    if numbered:
        where, kind, number = numbered.groups()
        rows = [row for row in PARTS if label(row) == (kind, number)]
        assert rows, f"{place!r} has no row"
        assert where == section(kind, number)
    else:
        rows = [row for row in PARTS if re.split(r" \(E?", row[0])[0] == place.split(" (")[0]]
        assert rows, f"{place!r} has no row"
    assert mentioned(place) <= mentioned(rows[0][0])


def resolve(name):
    """What a dotted name of the package means; a function before a module of the same name."""
    found = aomultirl
    for part in name.removeprefix("ao.").split("."):
        found = getattr(found, part) if hasattr(found, part) else import_module(f"{found.__name__}.{part}")
    return found


def check(name):
    """Raise unless the name is that of a command, a test, or something in the package, with these options if any."""
    if name.startswith("aomultirl "):
        commands = {command.name or command.callback.__name__ for command in app.registered_commands}
        assert name.removeprefix("aomultirl ") in commands, f"there is no command {name}"
    elif name.startswith("tests/"):
        assert re.search(r"^ *def test_", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
    else:
        tree = ast.parse(name, mode="eval").body
        options = {keyword.arg for keyword in tree.keywords} if isinstance(tree, ast.Call) else set()
        found = resolve(ast.unparse(tree.func) if isinstance(tree, ast.Call) else name)
        assert options <= set(inspect.signature(found).parameters if options else ()), f"{name} has no such option"


def test_every_counted_statement_has_one_row_in_the_papers_order():
    assert sorted(KINDS) == list(range(1, 43))
    assert [(int(number), kind) for kind, number in map(label, PARTS) if kind in COUNTED] == sorted(KINDS.items())


def test_every_algorithm_and_figure_has_one_row_in_the_papers_order():
    assert numbers("Algorithm") == list(range(1, ALGORITHMS + 1))
    assert numbers("Figure") == list(range(1, FIGURES + 1))


def test_every_counted_part_stands_in_one_section():
    assert list(counted(1)) == list(range(1, 43))
    assert list(counted(2)) == list(range(1, ALGORITHMS + 1))
    assert list(counted(3)) == list(range(1, FIGURES + 1))


def test_no_row_comes_twice():
    assert len({row[0] for row in PARTS}) == len(PARTS)


@pytest.mark.parametrize("row", PARTS, ids=lambda row: " ".join(label(row)))
def test_everything_that_a_row_names_is_there(row):
    _, here, checked = row
    assert names(here) or here == "proof only"
    assert names(checked) or label(row)[0] == "Remark"
    for name in names(here) + names(checked):
        check(name)
    assert all(name.startswith(("tests/", "laboratory.", "aomultirl ")) for name in names(checked))


@pytest.mark.parametrize("row", PARTS, ids=lambda row: " ".join(label(row)))
def test_a_row_says_partial_where_something_is_missing(row):
    partial = re.fullmatch(r"partial: .*(nowhere|nothing says).*", row[1])
    assert bool(partial) == (label(row) in PARTIAL) == ("partial" in row[1])


def test_every_erratum_is_listed_once_and_belongs_to_a_part():
    numbered = [[int(re.match(r"E(\d+)", row[0])[1]) for row in table] for table in (MISTAKES, REMARKS)]
    assert numbered == [sorted(set(one)) for one in numbered]
    assert set(numbered[0]) == set(range(1, ERRATA + 1)) - LOOSE | {18}
    assert set(numbered[1]) == LOOSE
    parted = [row[0] for row in MISTAKES + REMARKS if not re.fullmatch(r"E\d+", row[0])]
    assert parted == ["E18, second part", "E18, first part"]
    assert set.union(*(mentioned(row[0]) for row in PARTS)) == set(range(1, ERRATA + 1))


def test_what_other_pages_call_remarks_are_the_remarks():
    assert {number for number, words in SENTENCES.items() if words.startswith("Remark: ")} == LOOSE & set(SENTENCES)


@pytest.mark.parametrize("row", DECISIONS, ids=lambda row: row[0])
def test_everything_that_a_decision_names_is_there(row):
    part, there, here, checked = row
    kinds = {(kind, number) for kind, number in map(label, PARTS)}
    named = re.findall(r"(Algorithm|Equation|Appendix)s? (\w+)", part)
    assert named
    assert set(named) <= kinds
    assert there
    assert names(checked)
    for name in names(part) + names(here) + names(checked):
        check(name)


@pytest.mark.parametrize("row", BESIDE, ids=lambda row: row[0])
def test_everything_beside_the_paper_is_there(row):
    _, source, here, checked = row
    assert source == "nobody" or re.search(r"\b(19|20)\d\d\b", source)
    assert names(here)
    assert names(checked)
    for name in names(here) + names(checked):
        check(name)


@pytest.mark.parametrize("kind", ["agent", "learner", "explorer"])
def test_every_agent_learner_and_explorer_has_a_row(kind):
    """Under its own name, or as the function of its module that is the algorithm."""
    here = " ".join(row[1] for row in PARTS) + " ".join(row[2] for row in BESIDE)
    missing = [name for name in plugins.makers(kind) if not re.search(rf"\b{name}\b", here)]
    assert missing == (["ExploreID"] if kind == "explorer" else [])  # exploring.explore_id


@pytest.mark.parametrize("row", MISTAKES + REMARKS, ids=lambda row: row[0])
def test_everything_that_an_erratum_names_is_there(row):
    _, _, here = row
    for name in names(here):
        check(name)


@pytest.mark.parametrize("group", GROUPS)
def test_every_group_of_the_laboratory_checks_something(group):
    assert any(f"laboratory.{group}" in names(checked) for _, _, checked in PARTS)


@pytest.mark.parametrize("name", PLACES)
def test_every_place_of_a_claim_is_a_part_of_the_paper(name):
    check_place(PLACES[name])
    number = re.fullmatch(r"([A-Z]+)_(\d+)", name)
    if number:
        assert f", {number[1].capitalize()} {number[2]} (" in PLACES[name]


@pytest.mark.parametrize(
    "place",
    [
        "Lemma 23 (Q x 2 coins)",
        "Appendix B, Lemma 23 (Q x 2 coins)",
        "Appendix C, Lemma 24 (Q x 2 coins)",
        "Appendix C, Lemma 23 (Q x 2 coins; E4)",
        "Section 4, Theorem 1",
        "Appendix F, unknown hitting time",
        "Appendix C, composites",
    ],
)
def test_a_place_that_is_elsewhere_is_noticed(place):
    with pytest.raises(AssertionError):
        check_place(place)


@pytest.mark.parametrize("path", sorted((ROOT / "src/aomultirl/laboratory").glob("*.py")), ids=lambda path: path.name)
def test_claims_have_no_places_of_their_own(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    places_here = [
        call.args[1]
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and getattr(call.func, "id", "") in ("Claim", "Expected", "judge")
        and call.args[1:]
    ]
    constants = [
        one.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for one in ast.walk(node.value)
        if isinstance(one, ast.Constant)
    ]
    assert not any(isinstance(place, (ast.Constant, ast.JoinedStr)) for place in places_here)
    assert path.name == "findings.py" or not any(re.match(r"(Section|Appendix) \w\b", str(one)) for one in constants)


@pytest.mark.parametrize(
    "name",
    [
        "aomultirl upper-bounds",
        "tests/test_paper.py",
        "tests/slow_twins.py",
        "theory.upper_bound",
        "MDP.radius",
        "laboratory.dice",
        "agents.Wizard(rewards='unknown')",
        "agents.AOMultiRL(magic=True)",
    ],
)
def test_what_is_not_there_is_noticed(name):
    with pytest.raises((AssertionError, AttributeError, ImportError, OSError)):
        check(name)
