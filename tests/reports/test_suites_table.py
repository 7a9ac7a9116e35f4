import dataclasses
import io

import numpy as np
import pytest
from rich.console import Console

from aomultirl import cli
from aomultirl.experiments import suites
from aomultirl.experiments.suites import SuiteRun
from aomultirl.reports import suites_table, tables


def outcome(steps=(100, 140), total=240, share=96.5, wrong=0, abstained=0):
    return SuiteRun(np.array(steps, np.int64), total, share, wrong, abstained, 200, 50.0)


def printed(table, cases, results):
    text = io.StringIO()
    console = Console(file=text, width=160, force_terminal=True, color_system="standard")
    console.print(tables.for_terminal(table(cases, results)))
    return text.getvalue()


RED, GREEN = "\x1b[1;31m", "\x1b[32m"


def test_steps_are_shown_beside_bound_and_target():
    case = suites.identify_suite()[0]
    shown = printed(suites_table.identify_table, [case], [[outcome(), outcome((110, 130))]])
    assert "120 (120 to 120)" in shown
    assert "50 (x 2.4)" in shown
    assert f"{GREEN}130" in shown
    assert f"{GREEN}0 / 400" in shown
    shown = printed(suites_table.identify_table, [case], [[outcome((200, 300), wrong=1)]])
    assert f"{RED}130" in shown
    assert f"{RED}1 / 200" in shown


def test_with_m_known_the_whole_run_counts():
    case = suites.identify_suite()[2]
    assert f"{GREEN}240 in all, 45,000" in printed(suites_table.identify_table, [case], [[outcome()]])
    assert f"{RED}50,000 in all, 45,000" in printed(suites_table.identify_table, [case], [[outcome(total=50_000)]])


def test_an_agent_that_never_recognises_anything_is_shown_too():
    case = suites.identify_suite()[0]
    shown = printed(suites_table.identify_table, [case], [[outcome((), abstained=200)]])
    assert "never" in shown
    assert f"{RED}130" in shown


def test_shares_are_shown_by_horizon():
    cases = [case for case in suites.reward_suite() if case.told == "Recall" and case.place == "grid, third"]
    shown = printed(suites_table.reward_table, cases, [[outcome(share=share)] for share in (96.5, 91.0, 99.0, 99.8)])
    assert f"{GREEN}96.50" in shown
    assert f"{RED}91.00" in shown
    assert "0 of 800" in shown


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "compare takes folders of results, or --suite identify, or --suite reward"),
        (["--suite", "rewards"], "suite must be one of 'identify', 'reward', not 'rewards'; did you mean 'reward'?"),
        (["--suite", "reward", "--runs", "0"], "runs must be at least 1, not 0"),
        (["--suite", "reward", "--workers", "0"], "workers must be at least 1, not 0"),
        (["--suite", "reward", "--seed", "-1"], "seed must be at least 0, not -1"),
    ],
)
def test_bad_options_get_one_sentence(words, told, capsys):
    assert cli.run(["compare", *words]) == 2
    assert capsys.readouterr().err == f"aomultirl: {told}\n"


def test_the_command_prints_the_table(monkeypatch, capsys):
    few = [dataclasses.replace(case, episodes=6) for case in suites.identify_suite()[:1]]
    monkeypatch.setitem(suites.SUITES, "identify", lambda: few)
    monkeypatch.setenv("COLUMNS", "140")
    assert cli.run(["compare", "--suite", "identify", "--runs", "2"]) == 0
    shown = capsys.readouterr().out
    assert "Steps to recognise a known world" in shown
    assert "0 / 12" in shown
