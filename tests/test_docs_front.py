"""The pages that somebody new reads first, and the README: what their Python prints is what they show.

Blocks of a page run one after the other; a block of text behind one is all that it prints.
"""

import re
from pathlib import Path

import pytest

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
