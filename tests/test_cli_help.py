"""What somebody meets who does not know the commands yet: a greeting, pages of help, completion in the shell."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from aomultirl.cli import laboratory, run
from aomultirl.cli.app import app
from aomultirl.cli.help_pages import ORDER
from aomultirl.laboratory.groups import GROUPS

COMMANDS = sorted(info.name or info.callback.__name__ for info in app.registered_commands)
EXAMPLES = Path(__file__).parents[1] / "examples"
WRITES = re.compile(r"--out (\S+)")
WRITTEN_BY_DEFAULT = {
    "reproduce": {"results/paper"},
    "lower-bounds": {"results/lower_bounds", "results/lower_bounds_quick"},
    "run": {f"results/{path.stem}" for path in EXAMPLES.glob("*.toml")} - {"results/paper"},
}
"""Folders that commands write to where nobody names another; examples/paper.toml is what ``reproduce`` runs."""


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def page(capsys, *words):
    assert run([*words, "--help"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_who_asks_nothing_is_greeted_with_three_lines(capsys):
    assert run([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert max(map(len, lines)) <= 80
    for line in lines:
        words = line.rpartition("   ")[2].split()
        assert words[0] == "aomultirl"
        assert words[1] in (*COMMANDS, "--help")


def test_commands_stand_in_the_order_in_which_they_are_wanted(capsys):
    names = re.findall(r"^│ ([a-z][a-z-]*) ", page(capsys), re.MULTILINE)
    assert sorted(names) == COMMANDS
    assert names[: len(ORDER)] == list(ORDER)


@pytest.mark.parametrize("command", COMMANDS)
def test_pages_of_help_are_for_people(capsys, command):
    """Words in place of types, folders are FOLDER, examples are lines of their own, and all fits the terminal."""
    said = page(capsys, command)
    assert "<" not in said
    assert "{" not in said
    assert not re.search(r"\bDIR\b", said)
    assert max(map(len, said.splitlines())) <= 80
    assert re.search(rf"^ aomultirl {command}( |$)", said, re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_in_help_can_be_copied_line_by_line(capsys, command):
    """What follows the word is whole commands: nothing is said beside them, and none goes on in the next line."""
    after = re.split(r"^ Examples?: *$", page(capsys, command), flags=re.MULTILINE)[1:]
    lines = [line.strip() for part in after for line in part.strip().split("╭")[0].splitlines() if line.strip()]
    if command != "completion":  # which gives an example for each shell, in words of its own
        assert lines
    for line in lines:
        assert re.fullmatch(rf"aomultirl {command}( [\w./-]+| \w+=\w+)*", line), line


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_explained_by_more_than_a_letter(capsys, command):
    for row in re.findall(r"^│ +--.*│$", page(capsys, command), re.MULTILINE):
        assert not re.search(r"  [A-Zp]\d?\.( |$)", row.strip("│")), row


def test_no_example_lands_in_the_folder_of_another_command(capsys):
    folders = {command: set(written) for command, written in WRITTEN_BY_DEFAULT.items()}
    for command in COMMANDS:
        for line in page(capsys, command).splitlines():
            if line.startswith(f" aomultirl {command} ") and (named := WRITES.search(line)):
                folders.setdefault(command, set()).add(named[1])
    assert "results/hard" in folders["compare"]
    whole = [folder for written in folders.values() for folder in written]
    assert len(whole) == len(set(whole)), folders


def test_the_groups_that_help_names_are_those_of_the_laboratory():
    assert tuple(GROUPS) == laboratory.GROUPS


def test_pages_of_help_wait_for_nothing_that_is_slow():
    code = "import sys; from aomultirl.cli import run; run(['--help']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numba", "scipy", "polars", "pydantic", "matplotlib"} & set(done.stdout.splitlines()[-1].split())


def asked(capfd, monkeypatch, shell, words):
    """What a shell is answered for words, of which the last is not finished."""
    monkeypatch.setenv("_AOMULTIRL_COMPLETE", f"complete_{shell}")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", " ".join(words))
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    monkeypatch.setenv("COMP_WORDS", " ".join(words))
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    with pytest.raises(SystemExit) as end:
        run([])
    assert end.value.code == 0
    return capfd.readouterr().out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_names(capfd, monkeypatch, shell):
    assert run(["completion", shell]) == 0
    assert "_AOMULTIRL_COMPLETE=complete_" + shell in capfd.readouterr().out
    for words, wanted in (
        (["aomultirl", "ver"], "verify"),
        (["aomultirl", "list", "expl"], "explorers"),
        (["aomultirl", "list", "agents", "Reca"], "Recall"),
        (["aomultirl", "inspect", "grid"], "gridworld"),
        (["aomultirl", "watch", "gridworld", "--agent", "two"], "two-stage"),
        (["aomultirl", "compare", "--suite", "har"], "hard"),
        (["aomultirl", "compare", "--qu"], "--quick"),
    ):
        found = asked(capfd, monkeypatch, shell, words)
        assert wanted in found
        assert found.count("\n") == 1


def test_another_shell_is_refused(capsys):
    assert run(["completion", "tcsh"]) == 2
    assert "SHELL must be one of 'bash', 'zsh', 'fish', not 'tcsh'" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_itself_completes(tmp_path, capsys):
    program = tmp_path / "aomultirl"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m aomultirl "$@"\n')
    program.chmod(0o755)
    assert run(["completion", "bash"]) == 0
    lines = [capsys.readouterr().out, "COMP_WORDS=(aomultirl re) COMP_CWORD=1", "_aomultirl_completion aomultirl"]
    script = "\n".join([*lines, 'echo "${COMPREPLY[@]}"'])
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env={**os.environ, "PATH": path})
    assert done.stderr == ""
    assert done.stdout.split() == ["report", "reproduce"]
