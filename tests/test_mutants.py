"""Every mutant of the core is noticed by the tests of its own module."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from mutants import MUTANTS, Mutant

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "aomultirl"
SECONDS = 600
"""Time that the tests of one mutant may take; most of it is compiling, half a minute where nothing else is done."""
OPTIONS = ("-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-p", "fixed_examples")


def changed(mutant: Mutant) -> str:
    """The file of a mutant, with its change."""
    text = (PACKAGE / mutant.file).read_text()
    assert text.count(mutant.old) == 1, f"{mutant.old!r} stands {text.count(mutant.old)} times in {mutant.file}"
    return text.replace(mutant.old, mutant.new)


def run_own_tests(mutant: Mutant, text: str) -> subprocess.CompletedProcess[str]:
    """Run the tests of a mutant on a copy of the package in which its file holds ``text``.

    The copy has the kernels that were compiled, which serve where no compiled code is changed, and no bytecode.
    """
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        shutil.copytree(PACKAGE, f"{folder}/aomultirl", ignore=shutil.ignore_patterns("*.pyc"))
        Path(folder, "aomultirl", mutant.file).write_text(text)
        own = {"PYTHONPATH": os.pathsep.join((folder, str(ROOT / "tests"))), "PYTHONDONTWRITEBYTECODE": "1"}
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        return subprocess.run(
            [sys.executable, "-m", "pytest", *OPTIONS, *mutant.tests],
            cwd=ROOT,
            env=kept | own,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.file)
def test_the_table_fits_the_sources(mutant):
    """The text stands there once, what it becomes is Python, and the tests exist."""
    compile(changed(mutant), mutant.file, "exec")
    assert mutant.new != mutant.old
    for name in mutant.tests:
        file, _, function = name.partition("::")
        assert re.search(rf"^def {function or 'test_'}", (ROOT / file).read_text(), re.MULTILINE), name


def test_no_file_has_two_mutants_and_there_are_twenty():
    assert len({mutant.file for mutant in MUTANTS}) == len(MUTANTS) >= 20


@pytest.mark.long
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.file)
def test_its_own_tests_notice_it(mutant):
    ran = run_own_tests(mutant, changed(mutant))
    assert ran.returncode == 1, ran.stdout[-3000:] + ran.stderr[-3000:]  # 0: it survived; above 1: no test was run
    assert "1 failed" in ran.stdout
    assert "numba.core.errors" not in ran.stdout  # it compiles


@pytest.mark.long
@pytest.mark.parametrize("mutant", [MUTANTS[0], MUTANTS[-1]], ids=lambda mutant: mutant.file)
def test_without_the_change_the_same_tests_pass(mutant):
    ran = run_own_tests(mutant, (PACKAGE / mutant.file).read_text())
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-3000:]
