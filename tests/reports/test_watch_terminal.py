import io
import os
import pty
import signal
import subprocess
import sys
import time

import pytest
from rich.console import Console

import aomultirl as ao
from aomultirl.analysis import recording as recordings
from aomultirl.reports import watch_terminal
from watching import watched


def shown(recording, number=-1, size=(80, 24)):
    """The lines of the screen at one frame."""
    console = Console(file=io.StringIO(), width=size[0], height=size[1])
    number %= len(recording.frames)
    console.print(watch_terminal.screen(recording, number, "the note", size))
    return console.file.getvalue().splitlines()


def test_everything_is_on_the_screen():
    recording = watched()
    text = "\n".join(shown(recording))
    for words in ("AOMultiRL, episode 12, in m1 (which it is not told)", "clustering", "learning", "60 of 60 steps"):
        assert words in text
    assert text.count("of 80 ✓") == 3
    assert "c1 = m1" in text
    assert "this one" in text
    assert text.count("contradicted") == 3
    assert "✔ recognised as c1, made in m1: right" in text
    assert "the episode is over" in text
    assert "the note" in text
    assert text.count("●") == 2
    assert text.count("★") == 5


def test_what_recall_believes_and_what_is_proven_are_on_the_screen():
    recording = watched("recall", episode=24)
    lines = shown(recording, size=(100, 40))
    text = "\n".join(lines)
    assert "belief that this is" in text
    assert "proof: ln evidence against it, limit" in text
    for gauge in recording.gauges(recording.frames[-1], 8)[1]:
        line = next(line for line in lines if f"{gauge.name} " in line and gauge.words in line)
        assert line.count("━") == watch_terminal.LONG_BAR
    assert "new " in text
    assert "✔ taken for w1 ≈ m1, not proven, over 99.9 % sure: right" in text
    assert "No cluster is proven yet." in "\n".join(shown(watched("recall", episode=0), 0))
    console = Console(file=io.StringIO(), width=200, _environ={})
    watch_terminal.play(recording, console)
    assert "belief in the end: w1 ≈ m1 over 99.9 %" in console.file.getvalue()


def test_a_belief_that_nobody_can_judge_is_not_painted_as_a_mistake():
    recording = watched("recall")
    last = recording.frames[-1]
    assert last.recognised == "taken for w1, not proven, over 99.9 % sure"
    styles = {
        right: watch_terminal._verdict(recording, last._replace(right=right)).style for right in (None, True, False)
    }
    assert styles == {
        None: f"bold {watch_terminal.TARGET}",
        True: f"bold {watch_terminal.DONE}",
        False: f"bold {watch_terminal.WRONG}",
    }
    assert watch_terminal._verdict(recording, recording.frames[0]).style == "dim"


LONG = pytest.mark.long


@pytest.mark.parametrize(
    ("name", "models"),
    [
        ("aomultirl", ao.worlds.gridworld()),
        pytest.param("two-stage", ao.worlds.gridworld(3), marks=LONG),
        pytest.param("aomultirl", ao.worlds.gridworld(9), marks=LONG),
        pytest.param("aomultirl", ao.worlds.random_models(6, 2, 12, 2, 1.0, 0), marks=LONG),
        pytest.param("optimal", ao.worlds.gridworld(3), marks=LONG),
        ("random", ao.worlds.jao()),
        ("sequential", ao.worlds.gridworld()),
        pytest.param("sequential", ao.worlds.random_models(6, 2, 12, 2, 1.0, 0), marks=LONG),
        pytest.param("recall", ao.worlds.gridworld(), marks=LONG),
        pytest.param("recall", ao.worlds.random_models(6, 2, 12, 2, 1.0, 0), marks=LONG),
    ],
    ids=[
        *("grid", "all pairs", "large grid", "many clusters", "told", "no map"),
        *("evidence", "evidence, no map", "belief", "belief, no map"),
    ],
)
def test_the_screen_fits_and_does_not_jump(name, models):
    recording = watched(name, models, episode=14)
    for size in ((80, 24), (120, 40)):
        heights = set()
        for number in range(0, len(recording.frames), max(1, len(recording.frames) // 12)):
            lines = shown(recording, number, size)
            assert len(lines) <= size[1]
            assert max(map(len, lines)) <= size[0]
            heights.add(len(lines))
        if recording.world.layout is not None:
            assert len(heights) == 1


def test_a_large_map_shows_the_part_around_the_agent():
    recording = watched("random", ao.worlds.gridworld(60), episode=0)
    for number in (0, len(recording.frames) // 2, -1):
        assert sum(line.count("●") for line in shown(recording, number)) == 2


def test_the_agent_stands_where_it_is():
    recording = watched()
    for number in (0, 5, 40, -1):
        row, column = divmod(recording.frames[number].move.successor, 4)
        line = shown(recording, number)[1 + 3 * row + 1]
        assert line[2 + 7 * column + 3] == "●"


def test_bars():
    assert watch_terminal.bar(0.5, "red", 10).plain == "━" * 10
    assert watch_terminal.bar(0.25, "red", 10).plain == "━━╸━━━━━━━"
    assert watch_terminal.bar(-3.0, "red", 10, 0.5).plain == "━━━━━┃━━━━"
    assert all("red" not in str(span.style) for span in watch_terminal.bar(-3.0, "red", 10).spans)
    assert watch_terminal.bar(9.0, "red", 10, 0.5).plain == "━━━━━┃━━━━"


def test_a_terminal_gets_every_frame_and_pauses_at_events():
    recording, waits = watched(), []
    console = Console(file=io.StringIO(), force_terminal=True, width=80, height=24, _environ={})
    watch_terminal.play(recording, console, speed=2.0, sleep=waits.append)
    assert len(waits) == len(recording.frames)
    assert waits.count(recordings.LONG_PAUSE / 2.0) == 1
    assert waits.count(recordings.PAUSE / 2.0) == len(recording.events) - 1
    assert 5.0 < sum(waits) < 30.0
    text = console.file.getvalue()
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h") == 1


def test_what_is_no_terminal_gets_lines_without_control_codes():
    recording = watched()
    console = Console(file=io.StringIO(), _environ={})
    watch_terminal.play(recording, console, note="the note", sleep=lambda _: pytest.fail("waits for nobody"))
    text = console.file.getvalue()
    assert "\x1b" not in text
    assert text.splitlines() == recording.lines("the note")
    assert len(text.splitlines()) == 3 + len(recording.events)
    assert "recognised as c1, made in m1: right" in text


def test_what_is_known_before_is_said_only_of_agents_with_clusters():
    one = watched(episode=1).lines()
    assert one[1] == "16 states, 4 actions, 1 cluster known before"
    assert watched(episode=2).lines()[1].endswith("2 clusters known before")
    assert watched("random", episode=1).lines()[1] == "16 states, 4 actions"


def test_an_interrupt_gives_the_terminal_back():
    ours, theirs = pty.openpty()
    game = subprocess.Popen(
        [sys.executable, "-m", "aomultirl", "watch", "gridworld"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"},
        start_new_session=True,
    )
    os.close(theirs)
    text, deadline = b"", time.monotonic() + 120.0
    while b"which world is this" not in text and time.monotonic() < deadline:
        text += os.read(ours, 65536)
    game.send_signal(signal.SIGINT)
    try:
        while chunk := os.read(ours, 65536):
            text += chunk
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert game.wait(timeout=60) == 130
    assert b"Traceback" not in text
    assert text.rindex(b"\x1b[?25h") > text.rindex(b"\x1b[?25l")


def test_bad_speed():
    with pytest.raises(ValueError, match="speed must be above 0, not -1"):
        watch_terminal.play(watched(episode=0), Console(file=io.StringIO()), speed=-1.0)
