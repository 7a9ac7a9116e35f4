"""The flow of the design: a part imports only from parts to its left."""

import ast
from pathlib import Path

import pytest

import aomultirl

ORDER = [
    "gymnasium_ids",
    "extras",
    "refusals",
    "sizes",
    "checks",
    "files",
    "engine",
    "geometry",
    "world_arguments",
    "mdp",
    "model_set",
    "setting",
    "records",
    "plugins",
    "descriptions",
    "worlds",
    "streams",
    "hidden_worlds",
    "wrappers",
    "theory",
    "identifying",
    "exploring",
    "learning",
    "agents",
    "offline",
    "extending",
    "experiments",
    "rlberry_adapter",
    "analysis",
    "laboratory",
    "reports",
    "benchmarks",
    "cli",
]
ROOT = Path(aomultirl.__file__).parent
OUTSIDE = {Path("__init__.py"), Path("__main__.py")}
"""The package's own two files, which import from all parts and belong to none."""
FILES = sorted({path.relative_to(ROOT) for path in ROOT.rglob("*.py")} - OUTSIDE)
LONGEST = 400
"""Lines of a file."""


def part(path):
    return Path(path).parts[0].removesuffix(".py")


def imported_parts(source):
    """Names of the package's parts that a file imports; the file as its text, or as a tree of Python's syntax."""
    for node in ast.walk(source if isinstance(source, ast.AST) else ast.parse(source)):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            pieces = name.split(".")
            if pieces[0] == "aomultirl" and len(pieces) > 1:
                yield pieces[1]


@pytest.mark.parametrize("path", FILES, ids=str)
def test_imports_point_left(path):
    mine = ORDER.index(part(path))
    for other in imported_parts((ROOT / path).read_text()):
        if other in ORDER:
            assert ORDER.index(other) <= mine, f"{path} imports {other}"


def test_every_part_has_its_place():
    assert {part(path) for path in FILES} <= set(ORDER)


def test_the_files_that_gather_a_part_are_looked_at_too():
    assert {Path(name, "__init__.py") for name in ("agents", "engine", "learning")} <= set(FILES)


@pytest.mark.parametrize("path", [*FILES, *sorted(OUTSIDE)], ids=str)
def test_no_file_is_long(path):
    assert len((ROOT / path).read_text().splitlines()) <= LONGEST


def test_the_check_can_fail():
    assert "reports" in set(imported_parts("from aomultirl.reports import inspection"))
    assert "cli" in set(imported_parts("from aomultirl import cli"))
    assert "engine" in set(imported_parts("import aomultirl.engine.counts"))
