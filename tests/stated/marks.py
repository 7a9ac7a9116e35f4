"""What a mark may say: the command and the commit that made numbers, or the test that has them.

    <!-- made by aomultirl compare --suite hard --runs 3; commit 6e51e50 -->
    <!-- tested by tests/test_ward.py::test_the_page_has_the_exact_numbers_of_the_first_ward -->
    <!-- published by Lee, Jedra, Proutiere and Yun 2025 -->

``commit`` is that of the library that made them; ``written in`` is that of the page, where nobody noted the other.  A
test has the numbers in its own lines, or in constants that it names; that its file has them, or that it reads the page,
is not enough, as another number on the page would go unnoticed.  A mark stands behind the paragraph, the table, the
list or the code that it belongs to, or within an item of a list; a paragraph that ends in a colon belongs to what
follows it.  Where a script writes a part of a page, the mark stands behind the comment that ends it.
"""

import ast
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache

import typer

from aomultirl.cli.app import app
from stated.checks import worth
from stated.reading import ROOT, Mark

CODE = "the code above"
"""What made numbers, where it is no command; what nobody has any more cannot make them again, and is no mark."""
REFUSED = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
"""What a command raises that is given words it does not know."""
MADE = re.compile(r"made by (.+); (?:commit|written in) ([0-9a-f]{7,40}(?:, [0-9a-f]{7,40})*)", re.DOTALL)
PUBLISHED = re.compile(r"published by .+ \d{4}")
TESTED = re.compile(r"tested by (tests/[\w/]+\.py)::(test_\w+)")
NUMBER = r"\d[\d_]*(?:,\d{3})*(?:\.\d+)?"
"""A number in Python or, within its strings, on a page."""
COMPARES = (
    "tests/test_paper_map.py::test_every_counted_part_stands_in_one_section",
    "tests/test_screens.py::test_pages_that_show_an_image_of_minutes_say_its_command",
)
"""Tests without arguments that take the numbers from the page; each is seen to fail where one of them is another."""


def wrong(mark: Mark, page: str, numbers: Iterable[str]) -> str | None:
    """What is wrong with a mark that some numbers of a page rely on, in words, or nothing."""
    if made := MADE.fullmatch(mark.words):
        command = " ".join(made[1].split())
        return None if command == CODE or runs(command) else f"nobody can run {command!r} in this project"
    if PUBLISHED.fullmatch(mark.words):
        return None
    if tested := TESTED.fullmatch(mark.words):
        lines = lines_of(tested[1], tested[2])
        if not lines:
            return f"there is no test {tested[1]}::{tested[2]}"
        if f"{tested[1]}::{tested[2]}" in COMPARES:
            return None
        there = {worth(found.replace("_", "")) for found in re.findall(NUMBER, lines)}
        strange = [number for number in numbers if worth(number) not in there]
        return f"{tested[2]} does not have {strange[0]}" if strange else None
    return "it is none of the comments that tests/stated/marks.py shows"


@cache
def lines_of(file: str, test: str) -> str:
    """The lines of a test, and of the constants of its file that it names, and that these name; nothing without it."""
    path = ROOT / file
    source = path.read_text(encoding="utf-8") if path.is_file() else ""
    tree = ast.parse(source)
    there = {part.name: part for part in tree.body if isinstance(part, ast.FunctionDef)}
    constants = {
        target.id: part
        for part in tree.body
        if isinstance(part, ast.Assign)
        for target in part.targets
        if isinstance(target, ast.Name)
    }
    found: dict[str, ast.stmt] = {}
    new = {test: there[test]} if test in there else {}
    while new:
        found |= new
        named = {part.id for whole in new.values() for part in ast.walk(whole) if isinstance(part, ast.Name)}
        new = {name: constants[name] for name in sorted(named & constants.keys() - found.keys())}
    return "\n".join(ast.get_source_segment(source, part) or "" for part in decorated(found.values()))


def decorated(parts: Iterable[ast.stmt]) -> Iterator[ast.AST]:
    """The parts, each behind its decorators."""
    for part in parts:
        yield from getattr(part, "decorator_list", ())
        yield part


def commits(mark: Mark) -> list[str]:
    """The commits that a mark names."""
    made = MADE.fullmatch(mark.words)
    return made[2].split(", ") if made else []


@cache
def history() -> tuple[str, ...]:
    """All commits that led here; none where they are not there, as in an archive of the sources or a shallow copy."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        return ()
    shallow, commits = (
        subprocess.run([git, *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
        for words in (("rev-parse", "--is-shallow-repository"), ("rev-list", "HEAD"))
    )
    return tuple(commits) if shallow == ["false"] else ()


@cache
def runs(command: str) -> bool:
    """Whether these words can be typed in this project as it is now: the options, files and targets are there."""
    program, *words = shlex.split(command)
    if not words:
        return False
    if program == "aomultirl":
        found = typer.main.get_command(app).commands.get(words[0])
        try:
            return found is not None and bool(found.make_context(words[0], words[1:]))
        except REFUSED:
            return False
    if program == "make":
        rules = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
        return set(words) <= set(rules)
    return program in ("python", "pytest") and (ROOT / words[0].partition("::")[0]).is_file()
