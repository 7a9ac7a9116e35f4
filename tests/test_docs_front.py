"""The pages that somebody new reads first, and the README: what their Python prints is what they show.

Blocks of a page run one after the other; a block of text behind one is all that it prints.
"""

import re
from pathlib import Path

import pytest

import aomultirl as ao

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```$(?:\s*^```text\n(?P<shown>.*?)^```$)?", re.MULTILINE | re.DOTALL)
PAGES = ("README.md", "docs/is_it_my_problem.md")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", PAGES)
def test_every_block_runs_in_order_and_prints_what_is_shown(page, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text, names = (ROOT / page).read_text(encoding="utf-8"), {}
    blocks = list(BLOCK.finditer(text))
    assert blocks
    assert len(blocks) == text.count("```python\n")
    for block in blocks:
        exec(compile(block["code"], page, "exec"), names)
        printed = capsys.readouterr().out
        assert printed == (block["shown"] or ""), block["code"]


def test_what_others_earn_on_the_lakes_of_the_readme():
    """`Pooled(QLearning())` earns 25.4 and who is told the map 42.8, in the last twenty of the same sixty episodes."""
    first = BLOCK.search((ROOT / "README.md").read_text(encoding="utf-8"))["code"]
    names = {}
    exec(first.partition("agent = ")[0], names)
    for agent, earned in (
        (ao.agents.Pooled(ao.learning.QLearning(), 300, rewards="unknown"), 25.4),
        (ao.agents.Told(ao.learning.Practical(), 300, rewards="unknown"), 42.8),
    ):
        history = ao.interact(agent, names["lakes"], episodes=60, terminal="restart")
        lately = re.search(r"([\d.]+) lately", str(history))[1]
        assert float(lately) == pytest.approx(earned, abs=0.05)
