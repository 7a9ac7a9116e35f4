"""Command lines with something changed: each does its work or is refused in a line, and touches what it names alone.

The words that are tried come from the tables below.  Commands whose work takes minutes are only tried with words that
they must refuse.
"""

import contextlib
import io
import os
import time
from collections import Counter
from pathlib import Path

import numpy as np

from aomultirl.cli import run
from folders import cells, contents, keep

SECONDS = 5.0
"""Within which every command is answered."""
LONGEST = 800
"""Characters of a refusal."""
SPECIFICATION = """
episodes = 2
[[worlds]]
name = "gridworld"
size = 3
[[agents]]
name = "Random"
horizon = 5
"""
QUICK = [
    "list",
    "new",
    "--version",
    "--help",
    "inspect gridworld size=3",
    "inspect gridworld size=3 edges=stay --episodes 100 --failure 0.1 --hitting-time 7",
    "inspect random_models n_states=4 n_actions=2 n_models=2 n_successors=2",
    "inspect jao states=6 actions=3 --figure inside/figure.png",
    "inspect from_gymnasium envs=FrozenLake-v1 terminal=restart",
    "bounds --episodes 100 --separation 0.5",
    "bounds --states 3 --actions 2 --models 2 --learning-horizon 10 --constants released --pairs 2",
    "run spec.toml --dry-run",
    "run spec.toml --out inside/new --workers 1 --checkpoint 5",
    "run spec.toml --out results",
    "status results",
    "status results --json",
    "verify results",
    "verify results --json",
    "compare results",
    "compare results --json",
    "compare results results",
]
SLOWER = ["report results --out inside/page.html", "report results/cells --out inside/page.html"]
REFUSED = [
    "new {word}x",
    "bench --{word}x",
    "bench --cells {word}x --sweep",
    "bench --endurance {word}x",
    "bench --endurance 2 --horizon {word}x",
    "bench --scale --figure {word}x",
    "lower-bounds --only {word}x",
    "lower-bounds --seed {word}x",
    "reproduce --runs {word}x",
    "reproduce --edges {word}x",
    "compare --suite {word}x",
    "compare --suite identify --runs {word}x",
    "compare --suite short --worlds {word}x",
    "watch gridworld --agent {word}x",
    "watch gridworld size={word}x",
    "run spec.toml --ray {word}x",
    "live {word}x",
    "live results --run {word}x",
    "live spec.toml --speed {word}x",
    "live spec.toml --until-done --agent {word}x",
]
ODD = [
    *(
        "",
        "-",
        "--",
        "-1",
        "0",
        "1",
        "2.5",
        "nan",
        "inf",
        "1e400",
        "10" * 30,
        "1_0",
        "0x10",
        "true",
        "None",
        "=",
        "a=b",
    ),
    *(
        "x" * 300,
        "x" * 100_000,
        "\0",
        "a\0b",
        "\n",
        "\x1b[31m",
        "é",
        "日本",
        "\ud800",
        "'",
        '"',
        "[bold]",
        "[/x]",
        "$(id)",
    ),
    *(
        "..",
        "../..",
        "/",
        "/proc",
        "/dev/null",
        "/dev/zero",
        "/dev/stdin",
        "fifo",
        "loop",
        "nowhere",
        "spec.toml",
        "results",
    ),
    *(
        "results/cells",
        "results/experiment.json",
        "inside",
        "outside/precious",
        "--out",
        "--workers",
        "--json",
        "--help",
    ),
    *("size=-1", "size=1e9", "size=100000000", "size=nan", "size=", "=3", "edges=round", "size=3", "states=10**9"),
    *("envs=nothing:Env-v0", "envs=Nothing-v0", "envs=CartPole-v1", "envs=", "terminal=end,end", "gridworld", "jao"),
]


def prepare(folder):
    """What the commands above name, and something outside that nobody may touch."""
    (folder / "inside").mkdir()
    (folder / "outside").mkdir()
    (folder / "outside" / "precious").write_text("precious")
    (folder / "spec.toml").write_text(SPECIFICATION)
    keep(folder / "results", cells(runs=2))
    os.mkfifo(folder / "fifo")
    (folder / "loop").symlink_to("loop")


def changed(words, rng):
    """The words with one or two of them replaced, left out, doubled, exchanged, or joined by another."""
    words = list(words)
    for _ in range(int(rng.integers(1, 3))):
        first = int(rng.random() < 0.95 and len(words) > 1)  # the command itself, now and then
        place, odd = int(rng.integers(first, len(words) + 1)), ODD[int(rng.integers(len(ODD)))]
        kind = int(rng.integers(8))
        if kind == 0:
            words.insert(place, odd)
        elif kind in (1, 5) and place < len(words):
            words[place] = odd
        elif kind in (6, 7) and place < len(words) and "=" in words[place]:
            words[place] = f"{words[place].partition('=')[0]}={odd}"
        elif kind == 2 and place < len(words) and len(words) > 1:
            del words[place]
        elif kind == 3 and place < len(words):
            words.insert(place, words[place])
        elif words:
            other = int(rng.integers(len(words)))
            words[other], words[place % len(words)] = words[place % len(words)], words[other]
    return words


def command_line(rng):
    """One more command line, and the kind it is of."""
    share = rng.random()
    if share < 0.2:
        template = REFUSED[int(rng.integers(len(REFUSED)))].split()
        odd = ODD[int(rng.integers(len(ODD)))]
        return "refused", [word.replace("{word}", odd) for word in template]
    if share < 0.22:
        return "slower", changed(SLOWER[int(rng.integers(len(SLOWER)))].split(), rng)
    return "quick", changed(QUICK[int(rng.integers(len(QUICK)))].split(), rng)


def check_command_lines(count, seed, folder):
    """Try so many command lines in ``folder``; how many there were of each kind, and how they ended."""
    rng, found = np.random.default_rng(seed), Counter()
    folder = Path(folder)
    prepare(folder)
    with contextlib.chdir(folder):
        for _ in range(count):
            kind, words = command_line(rng)
            status = _ended(words)
            assert (kind, status) != ("refused", 0), words
            found[kind] += 1
            found[f"ended with {status}"] += 1
    assert contents(folder / "outside") == {"precious": b"precious"}
    ours = {"inside", "outside", "spec.toml", "results", "fifo", "loop"}
    assert {path.name for path in folder.iterdir()} <= ours | set(ODD)  # a folder that a command was asked to make
    return found


def _ended(words):
    said, told = io.StringIO(), io.StringIO()
    begin = time.monotonic()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(told):
        status = run(words)
    seconds = time.monotonic() - begin
    assert seconds < SECONDS, (words, seconds)
    assert status in (0, 1, 2), (words, status)
    refusal = said.getvalue()
    assert "Traceback" not in refusal + told.getvalue(), words
    if status == 2:
        assert refusal.startswith("aomultirl: "), (words, refusal)
        assert refusal.count("\n") == 1, (words, refusal)
        assert len(refusal) <= LONGEST, (words, refusal)
    return status
