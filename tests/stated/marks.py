"""What a mark may say: the command and the commit that made numbers, or the test that has them.

    <!-- made by aomultirl compare --suite hard --runs 3; commit 6e51e50 -->
    <!-- made by a script that is not kept; written in 7f678b1 -->
    <!-- tested by tests/test_ward.py::test_the_page_has_the_exact_numbers_of_the_first_ward -->
    <!-- published by Lee, Jedra, Proutiere and Yun 2025 -->

``commit`` is that of the library that made them; ``written in`` is that of the page, where nobody noted the other.  A
test reads the page, or has the numbers in its file.  A mark stands behind the paragraph, the table, the list or the
code that it belongs to, or within an item of a list; a paragraph that ends in a colon belongs to what follows it.
Where a script writes a part of a page, the mark stands behind the comment that ends it.
"""

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable
from functools import cache

import typer

from aomultirl.cli.app import app
from stated.checks import worth
from stated.reading import ROOT, Mark

OTHERS = ("a script that is not kept", "the code above")
"""What made numbers, where it is no command."""
REFUSED = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
"""What a command raises that is given words it does not know."""
MADE = re.compile(r"made by (.+); (?:commit|written in) ([0-9a-f]{7,40}(?:, [0-9a-f]{7,40})*)", re.DOTALL)
PUBLISHED = re.compile(r"published by .+ \d{4}")
TESTED = re.compile(r"tested by (tests/[\w/]+\.py)::(test_\w+)")


def wrong(mark: Mark, page: str, numbers: Iterable[str]) -> str | None:
    """What is wrong with a mark that some numbers of a page rely on, in words, or nothing."""
    if made := MADE.fullmatch(mark.words):
        command = " ".join(made[1].split())
        return None if command in OTHERS or runs(command) else f"nobody can run {command!r} in this project"
    if PUBLISHED.fullmatch(mark.words):
        return None
    if tested := TESTED.fullmatch(mark.words):
        file = ROOT / tested[1]
        source = file.read_text(encoding="utf-8") if file.is_file() else ""
        if f"def {tested[2]}(" not in source:
            return f"there is no test {tested[1]}::{tested[2]}"
        there = {worth(found) for found in re.findall(r"\d[\d_]*(?:\.\d+)?", source.replace("_", ""))}
        strange = [number for number in numbers if worth(number) not in there]
        read = page.rpartition("/")[2] in source
        return None if read or not strange else f"{tested[1]} neither reads this page nor has {strange[0]}"
    return "it is none of the comments that tests/stated/marks.py shows"


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
