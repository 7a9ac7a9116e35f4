"""One line where machine code is made, whoever makes it."""

import os

import pytest

from aomultirl.engine import announcing

LINE = "aomultirl: compiling, once, 10 s to 2 minutes (aomultirl warm does it ahead)\n"


@pytest.fixture(autouse=True)
def loud(monkeypatch):
    """Nothing was said yet, and somebody wants to know."""
    monkeypatch.setattr(announcing, "_here", announcing.Announcer())
    monkeypatch.delenv(announcing.QUIET)


def other(monkeypatch, words):
    """This process takes the part of one that works for it."""
    monkeypatch.setattr(announcing, "_here", announcing.Announcer())
    announcing.work_for(*words)
    announcing.announce()


def test_it_is_said_once(capsys):
    announcing.announce()
    announcing.announce()
    assert capsys.readouterr() == ("", LINE)


@pytest.mark.parametrize(("value", "said"), [("1", ""), ("yes", ""), ("0", LINE), ("", LINE)])
def test_a_variable_silences_it(monkeypatch, capsys, value, said):
    monkeypatch.setenv(announcing.QUIET, value)
    announcing.announce()
    assert capsys.readouterr().err == said


def test_nothing_is_said_to_whom_knows_it(capsys):
    announcing.hush()
    announcing.announce()
    assert capsys.readouterr().err == ""


def test_of_several_processes_the_first_that_compiles_speaks(monkeypatch, capsys):
    announcing.expect("an hour")
    with announcing.shared() as words:
        assert os.path.exists(words[0])
        here = announcing._here
        for _ in range(3):
            other(monkeypatch, words)
        monkeypatch.setattr(announcing, "_here", here)
    assert capsys.readouterr().err == LINE.replace("10 s to 2 minutes", "an hour")
    announcing.announce()
    assert capsys.readouterr().err == ""


def test_where_nobody_compiled_this_process_may_still_speak(capsys):
    with announcing.shared() as words:
        pass
    assert not os.path.exists(words[0])
    announcing.announce()
    assert capsys.readouterr().err == LINE


def test_who_has_spoken_lets_nobody_else_speak(monkeypatch, capsys):
    announcing.announce()
    with announcing.shared() as words:
        other(monkeypatch, words)
    assert capsys.readouterr().err == LINE
