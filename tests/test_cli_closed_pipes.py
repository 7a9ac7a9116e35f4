"""`aomultirl list | head -1` ends in silence, with 141 or 0."""

import os
import subprocess
import sys

import pytest

from aomultirl.cli import run
from aomultirl.cli.app import app


def closed_pipe():
    """What is written to a pipe whose reader is gone."""
    reader, writer = os.pipe()
    os.close(reader)
    return writer


@pytest.mark.parametrize("words", [["list", "streams"], ["list"], ["list", "worlds", "doors"], ["bounds"], []])
def test_a_command_that_nobody_reads_ends_in_silence(capfd, monkeypatch, words):
    """Whether it prints through Rich, through Typer, or what is left at its end."""
    with os.fdopen(closed_pipe(), "w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        assert run(words) == 141
        stream.flush()  # goes nowhere now, where it would fail
    assert capfd.readouterr().err == ""


def test_a_pipe_that_breaks_elsewhere_is_an_error(monkeypatch, capsys):
    def fail(*_):
        raise BrokenPipeError(32, "a worker is gone")

    monkeypatch.setattr("aomultirl.plugins.makers", fail)
    assert run(["list", "streams"]) == 2
    assert capsys.readouterr().err == "aomultirl: [Errno 32] a worker is gone\n"


def test_as_a_program():
    writer = closed_pipe()
    done = subprocess.run([sys.executable, "-m", "aomultirl", "--help"], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


def test_there_are_commands():
    assert len(app.registered_commands) > 10
