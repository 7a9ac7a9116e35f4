"""``aomultirl new``: the examples are listed, and written where nothing is lost."""

import re
from pathlib import Path

import pytest

from aomultirl.cli import run

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(capsys, *words):
    assert run(["new", *words]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def refused(capsys, *words):
    assert run(["new", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err.removeprefix("aomultirl: ").strip()


def test_without_a_name_all_examples_are_listed_with_a_sentence(capsys, folder):
    out = said(capsys)
    listed = re.findall(r"^([\w/]+\.(?:toml|py))  +\S", out, re.MULTILINE)
    there = {path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.rglob("*") if path.suffix in (".toml", ".py")}
    assert set(listed) == there - {"ward_numbers.py", "ward_report.py"}  # which are parts of another
    assert "Two sets of worlds and three agents: a first look." in " ".join(out.split())
    assert "aomultirl new NAME" in out
    assert list(folder.iterdir()) == []


def test_the_list_fits_a_terminal_of_80_columns(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert max(map(len, said(capsys).splitlines())) <= 80


def test_an_example_is_written_as_it_is_and_can_be_run(capsys, folder):
    assert said(capsys, "quick.toml") == "quick.toml written\ntry it with: aomultirl run quick.toml --dry-run\n"
    assert (folder / "quick.toml").read_bytes() == (EXAMPLES / "quick.toml").read_bytes()
    assert [path.name for path in folder.iterdir()] == ["quick.toml"]
    assert run(["run", "quick.toml", "--dry-run"]) == 0
    assert capsys.readouterr().out.startswith("quick: 6 configurations, 60 cells")


def test_a_program_comes_with_the_files_that_it_imports(capsys, folder):
    out = said(capsys, "ward.py", "--out", "a ward")
    written = {path.name for path in (folder / "a ward").iterdir()}
    assert written == {"ward.py", "ward_numbers.py", "ward_report.py"}
    assert out.splitlines()[-1] == "try it with: python 'a ward/ward.py'"


@pytest.mark.parametrize(("out", "there"), [([], ""), (["--out", "deep/er"], "cd deep/er && ")])
def test_a_plug_in_says_how_it_is_listed(capsys, folder, out, there):
    line = said(capsys, "extending/corridors.py", *out).splitlines()[-1]
    assert line == f"try it with: {there}aomultirl list --plugin corridors"
    assert len([*folder.rglob("corridors.py")]) == 1


@pytest.mark.parametrize("name", ["ward.py", "quick.toml"])
def test_nothing_is_overwritten(capsys, folder, name):
    last = "ward_report.py" if name == "ward.py" else name
    (folder / last).write_text("mine")
    assert refused(capsys, name) == f"out is '.', in which {last!r} is already there"
    assert [path.name for path in folder.iterdir()] == [last]
    assert (folder / last).read_text() == "mine"


def test_a_link_that_leads_nowhere_is_not_followed(capsys, folder):
    (folder / "quick.toml").symlink_to(folder / "elsewhere.toml")
    assert refused(capsys, "quick.toml") == "out is '.', in which 'quick.toml' is already there"
    assert not (folder / "elsewhere.toml").exists()


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("quik.toml", "did you mean 'quick.toml'?"),
        ("quick", "did you mean 'quick.toml'?"),
        ("q_learning.py", "did you mean 'extending/q_learning.py'?"),
        ("../pyproject.toml", "there are paper.toml, quick.toml, "),
    ],
)
def test_an_unknown_name_is_refused_with_the_closest(capsys, folder, name, hint):
    assert refused(capsys, name).startswith(f"name is {name!r}, and no example is called so; {hint}")
    assert list(folder.iterdir()) == []


def test_a_file_in_place_of_the_folder_is_refused(capsys, folder):
    (folder / "taken").write_text("mine")
    assert refused(capsys, "quick.toml", "--out", "taken") == "out is 'taken', which is a file, not a folder"
