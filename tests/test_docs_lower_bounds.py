"""What docs/lower_bounds.md shows runs as shown."""

import json
import math
import re
from pathlib import Path

import pytest

from aomultirl import theory
from aomultirl.experiments import executors
from aomultirl.laboratory import coin

DOCS = Path(__file__).parents[1] / "docs"
BLOCKS = re.findall(
    r"^```python\n(.*?)^```$", (DOCS / "lower_bounds.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)
TINY = coin.CoinSizes(biases=(0.25, 0.15), rows=(12, 24), batches=2, games=20, repetitions=10, multiples=(1, 4))


def block(word):
    (found,) = [code for code in BLOCKS if word in code]
    return found


def said(code, names):
    """Values of the lines that are expressions with a comment, and these comments."""
    lines = [line.partition("  # ") for line in code.splitlines() if re.match(r"(theory|game)\..*  # ", line)]
    return [(eval(expression, names), comment) for expression, _, comment in lines]


def test_one_group_is_measured_and_written_as_shown(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(coin, "QUICK", TINY)
    monkeypatch.setattr(executors, "local", lambda workers: executors.InProcess())  # that others give the same is known
    names = {}
    exec(block("coin.measure"), names)
    claims = json.loads(Path("results/coin/claims.json").read_text())
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) == len(claims) == len(names["found"].claims)
    for line, claim in zip(shown, claims, strict=True):
        assert line.startswith(f"{claim['verdict']} {claim['claim']} ")


def test_the_coin_game_is_played_as_shown():
    names = {}
    code = block("TrackAndStop")
    exec(code, names)
    (limits, told), (rows, surely), (flips, about) = said(code, names)
    assert rows == 48
    assert told == "T1 = 30 and T2 = 56.25 flips"
    assert limits == pytest.approx((30.0, 56.25))
    assert surely == f"{rows}, of which the lemma promises 8"
    assert about.endswith("about 1,500")
    assert flips == pytest.approx(1500, rel=0.15)


@pytest.mark.parametrize("repetitions", [100, pytest.param(500, marks=pytest.mark.long)])
def test_a_strategy_of_your_own_plays_as_shown(repetitions):
    """As it stands with 500 repetitions."""
    names = {}
    code = block("halving")
    assert "repetitions=500" in code
    exec(code.replace("repetitions=500", f"repetitions={repetitions}"), names)
    ((rows, surely),) = said(code, names)
    assert rows == 12
    assert surely.startswith(f"{rows}, ")
    assert "about 140, uniform allocation takes 190" in code
    needed, uniform = (
        names["needed"],
        theory.flips_needed(theory.UniformAllocation(), names["table"], repetitions=repetitions),
    )
    assert 100 < needed.flips < 200
    assert needed.low < 140 < needed.high
    assert uniform.low < 190 < uniform.high
    assert needed.low > names["table"].limits.first


def test_the_statements_of_the_paper_are_those_of_the_theory():
    """The table of docs/lower_bounds.md, "what the paper states, and what is asked"."""
    flips = theory.coin_flips(rows=24, bias=0.1, base=0.1, base_bias=0.05)
    assert flips.first == pytest.approx(24 / (160 * 0.1**2))
    assert flips.second == pytest.approx(24 * (0.1 + 0.05) / (256 * 0.05**2))
    assert theory.identification_samples(states=20, actions=20, separation=0.5, diameter=100.0) == pytest.approx(
        400 / (480 * 0.5**2)
    )
    sizes = {"states": 20, "actions": 20, "episodes": 3, "horizon": 10**6}
    assert theory.minimax_lower_bound(**sizes, diameter=64.0) == pytest.approx(
        3 * (0.015 * math.sqrt(64 * 400 * 10**6) - 64 / 8)
    )
    grid = {"states": 16, "actions": 4, "models": 4, "episodes": 200, "failure": 0.03}
    bound = theory.regret_bound(clustering_horizon=600, learning_horizon=200, **grid)
    log = theory.logarithm(horizon=800, **grid)
    assert bound.linear == 2 * 200 * 600
    assert bound.root == pytest.approx(67 * 200**1.5 * log * math.sqrt(4 * 64 * 200))
    assert bound.constant == pytest.approx(15 * 4 * 16 * 64 * 200**2 * log**2)
    text = (DOCS / "lower_bounds.md").read_text(encoding="utf-8")
    for words in (
        "Q/(160 λ²)",
        "yields 480",
        "0.015 √(DSAH)",
        "2 K H0 + 67 H1<sup>3/2</sup> L √(MSAK) + 15 M S²A H1² L²",
    ):
        assert words in text
