"""The pages that somebody new reads first, and the README: what their Python prints is what they show.

Blocks of a page run one after the other; a block of text behind one is all that it prints.
"""

import re
from pathlib import Path

import pytest

import aomultirl as ao
from aomultirl import plugins

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```$(?:\s*^```text\n(?P<shown>.*?)^```$)?", re.MULTILINE | re.DOTALL)
PAGES = ("README.md", "docs/quick_start.md", "docs/is_it_my_problem.md")


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
    """README.md: `Pooled(QLearning())` earns 24.3 lately in the same episodes, and who is told the map 42.9."""
    first = BLOCK.search((ROOT / "README.md").read_text(encoding="utf-8"))["code"]
    names = {}
    exec(first.partition("agent = ")[0], names)
    for agent, earned in (
        (ao.agents.Pooled(ao.learning.QLearning(), 300, rewards="unknown"), 24.3),
        (ao.agents.Told(ao.learning.Practical(), 300, rewards="unknown"), 42.9),
    ):
        history = ao.interact(agent, names["lakes"], episodes=60, terminal="restart")
        lately = re.search(r"([\d.]+) lately", str(history))[1]
        assert float(lately) == pytest.approx(earned, abs=0.05)


def first_cells(tables):
    """The names in the first cells of tables."""
    first = [line.split("|")[1] for line in tables.splitlines() if line.startswith("| `")]
    return {name for cell in first for name in re.findall(r"`(\w+)", cell)}


@pytest.mark.parametrize("kind", ["learner", "explorer"])
def test_every_learner_and_explorer_stands_in_the_page_on_which_to_take(kind):
    page = (ROOT / "docs" / "which_agent.md").read_text(encoding="utf-8")
    tables = page.partition("## Learners and explorers")[2]
    learners, _, explorers = tables.partition("### Explorers")
    assert first_cells(learners if kind == "learner" else explorers) == set(plugins.makers(kind))


def test_every_agent_stands_in_the_page_on_which_to_take():
    page = (ROOT / "docs" / "which_agent.md").read_text(encoding="utf-8")
    tables = page.partition("## What all of them must be told")[2]
    there = first_cells(tables.partition("## Learners and explorers")[0])
    agents = {name for name in ao.agents.__all__ if issubclass(getattr(ao.agents, name), ao.agents.Agent)}
    assert there == agents - {"Agent"}


def test_what_the_page_on_which_agent_writes_can_be_made():
    """Whatever stands there as ``ao....(...)`` is made as it stands, with H and the rest as numbers."""
    page = (ROOT / "docs" / "which_agent.md").read_text(encoding="utf-8")
    calls = re.findall(r"`(ao\.agents\.\w+\(.*?\))`", page)
    assert len(calls) >= 6
    numbers = {"ao": ao, "H": 100, "horizon": 100, "failure": 0.05, "separation": 1.0}
    for call in calls:
        assert isinstance(eval(call, numbers), ao.agents.Agent), call
    for name in re.findall(r"`ao\.(?:agents|learning|theory)\.\w+", page):
        assert eval(name[1:], numbers)


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda path: path.stem)
def test_every_term_is_in_the_glossary(page):
    """What sphinx would only say when the pages are built."""
    glossary = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    entries = {
        line for part in re.findall(r"```\{glossary\}\n(.*?)```", glossary, re.DOTALL) for line in part.splitlines()
    }
    for words in re.findall(r"\{term\}`([^`]+)`", page.read_text(encoding="utf-8")):
        assert (re.findall(r"<(.+)>", words) or [words])[0] in entries, words


SIGNS = {"Γ": {"Γ", "distinguishing set"}, "λ": {"λ", "separation"}, "H0": {"H0"}}
"""Signs of the paper, and which entries of the glossary say what they are."""


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda path: path.stem)
def test_a_sign_of_the_paper_is_linked_to_the_glossary_on_every_page_that_has_it(page):
    if page.stem == "glossary" or "_build" in page.parts:
        return
    text = page.read_text(encoding="utf-8")
    linked = {(re.findall(r"<(.+)>", words) or [words])[0] for words in re.findall(r"\{term\}`([^`]+)`", text)}
    prose = re.sub(r"```.*?```|<!--.*?-->|`[^`\n]*`", "", text, flags=re.DOTALL)
    for sign, entries in SIGNS.items():
        if re.search(rf"(?<!\w){sign}(?!\w)", prose):
            assert linked & entries, f"{page.name} has {sign}, and no link to what it is"
