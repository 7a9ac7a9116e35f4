import dataclasses
import io

import numpy as np
import pytest
from rich.console import Console

from aomultirl import cli
from aomultirl.experiments import suites
from aomultirl.experiments.suites import SuiteRun
from aomultirl.reports import suites_table, tables


def outcome(steps=(100, 140), total=240, wrong=0, abstained=0, **others):
    return SuiteRun(np.array(steps, np.int64), total, 96.5, wrong, abstained, 200, 50.0, **others)


def earning(*values, heading="last quarter", **others):
    """Runs of which one column shows these numbers."""
    return [outcome(numbers={heading: value}, **others) for value in values]


def rows(suite, place, *labels):
    cases = suites.SUITES[suite]()
    return [next(case for case in cases if (case.place, case.told) == (place, label)) for label in labels]


def printed(table, cases, results):
    text = io.StringIO()
    console = Console(file=text, width=500, force_terminal=True, color_system="standard")
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


def test_a_quick_look_at_steps_judges_nothing():
    case = suites.quick(suites.identify_suite()[:1])[0]
    shown = printed(suites_table.identify_table, [case], [[outcome()]])
    assert RED not in shown
    assert "130" not in shown


def test_shares_are_shown_by_horizon():
    every = [case for case in suites.reward_suite() if case.told == "Recall" and case.place == "grid, third"]
    cases = [
        dataclasses.replace(case, targets=case.targets[:1]) for case in every
    ]  # those of comparisons need other rows
    found = [
        earning(low, high, heading=f"H = {horizon:,}", worlds=4, models=4)
        for horizon, low, high in zip(suites.HORIZONS, (97.6, 90, 99.5, 99.8), (98, 92, 99.6, 99.9), strict=True)
    ]
    shown = printed(suites_table.reward_table, cases, found)
    assert f"{GREEN}97.80 (97.60 to 98.00); reached: at least 97.5" in " ".join(shown.split())
    assert "91.00 (90.00 to 92.00); missed: at least 92" in " ".join(shown.split())
    assert f"{GREEN}0 of 1,600" in shown
    assert f"{GREEN}4.0 of 4" in shown


def test_the_lower_end_of_the_interval_counts():
    (case,) = rows("short", "doors with a sign", "Recall")
    reached = printed(suites_table.reward_table, [case], [earning(90.0, 95.0)])
    missed = printed(suites_table.reward_table, [case], [earning(88.0, 97.0)])
    alone = printed(suites_table.reward_table, [case], [earning(97.0)])
    assert "reached: at least 89" in " ".join(reached.split())
    assert "missed: at least 89" in " ".join(missed.split())
    assert "not judged: at least 89" in " ".join(alone.split())


def test_some_targets_are_relative_to_another_row_of_the_same_run():
    cases = rows("short", "FrozenLake 8x8, 4 maps, slippery", "Recall", "QMDP, knows the worlds")
    shown = printed(suites_table.reward_table, cases, [earning(46.0, 28.0), earning(50.0, 30.0)])
    assert "reached: at least 0.9 x QMDP, knows the worlds" in " ".join(shown.split())
    shown = printed(suites_table.reward_table, cases, [earning(28.0, 46.0), earning(50.0, 30.0)])
    assert "missed: at least 0.9 x QMDP, knows the worlds" in " ".join(shown.split())
    shown = printed(suites_table.reward_table, cases[:1], [earning(28.0, 46.0)])
    assert "not judged" in " ".join(shown.split())
    cases = rows("large", "ICU-Sepsis, strength 1, H = 5,000", "Recall", "pooled learner")
    for gain, verdict in ((2.5, "reached"), (1.5, "missed")):
        runs = [earning(78.0 + gain, 80.0 + gain, heading="whole run"), earning(78.0, 80.0, heading="whole run")]
        shown = printed(suites_table.reward_table, cases, runs)
        assert f"{verdict}: at least pooled learner + 2" in " ".join(shown.split())


def test_too_many_worlds_and_wrong_clusters_are_red():
    (case,) = rows("reward", "grid 8x8", "Recall")
    shown = printed(suites_table.reward_table, [case], [earning(99.0, heading="H = 500", worlds=9, models=4, wrong=1)])
    assert f"{RED}9.0 of 4" in shown
    assert f"{RED}1 of 200" in shown
    (case,) = rows("short", "doors with a sign", "Recall")
    shown = printed(suites_table.reward_table, [case], [earning(99.0, worlds=9, models=4)])
    assert f"{RED}9.0 of 4" not in shown


def test_columns_that_a_run_is_too_short_for_are_empty():
    (case,) = rows("short", "doors with a sign", "Random")
    table = suites_table.reward_table([case], [earning(25.0)], ["A note."])
    assert table.headings[2:5] == ("K = 200", "K = 1,000", "last quarter")
    assert list(table.rows[0]) == ["doors with a sign", "Random", "-", "-", "25.00", "-", "-", "-"]
    assert table.caption[0] == "A note."


COMPARE = f"compare takes folders of results, or --suite with one of {', '.join(suites.SUITES)}"
KNOWN = ", ".join(map(repr, suites.SUITES))
WARDS = "; ".join(dict.fromkeys(case.place for case in suites.large_suite()))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], COMPARE),
        (["--suite", "rewards"], f"suite must be one of {KNOWN}, not 'rewards'; did you mean 'reward'?"),
        (["--suite", "reward", "--runs", "0"], "runs must be at least 1, not 0"),
        (["--suite", "reward", "--workers", "0"], "workers must be at least 1, not 0"),
        (["--suite", "reward", "--seed", "-1"], "seed must be at least 0, not -1"),
        (["--suite", "reward", "--seed", "500"], "seed must be at most 499, not 500"),
        (["--suite", "short", "--runs", "1001"], "runs must be at most 1000, not 1001"),
        (["--suite", "short", "--worlds", "mine"], "worlds must be one of 'reporting', 'development', not 'mine'"),
        (["--suite", "large", "--only", "grid"], f"only is 'grid', which names no row; there are {WARDS}"),
        (["x", "--only", "grid"], "only is grid, but folders are read as they are; it goes with --suite"),
        (["x", "--quick"], "quick is True, but folders are read as they are; it goes with --suite"),
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


def test_a_quick_look_at_some_rows(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "220")
    words = ["--suite", "short", "--only", "doors", "--agent", "Random", "--quick", "--worlds", "development"]
    assert cli.run(["compare", *words]) == 0
    shown = capsys.readouterr().out
    assert "2 runs in development worlds; random ones have the seeds 0 to 1." in shown
    assert "A quick look" in shown
    assert "doors with a sign" in shown
