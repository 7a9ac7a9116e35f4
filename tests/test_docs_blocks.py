"""Every block of code in README and docs: its Python runs, in the order of its page, and its commands can be typed.

Blocks of a page run one after the other; a block of text behind one is all that it prints.  Commands that answer in a
second are run; those of minutes, of clusters and of a release are only looked at: their options, files, extras and
targets are there.  Who runs the others is in ``RUN_ELSEWHERE``.
"""

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from aomultirl import cli
from aomultirl.experiments.specification import specification_of
from page_blocks import ROOT, commands_of, python_of
from stated import marks
from stated.reading import pages

RUN_ELSEWHERE = {
    "README.md": "tests/test_docs_front.py",
    "docs/quick_start.md": "tests/test_docs_front.py",
    "docs/is_it_my_problem.md": "tests/test_docs_front.py",
    "docs/your_environment.md": "tests/test_docs_your_environment.py",
    "docs/logs.md": "tests/test_docs_your_environment.py",
    "docs/lower_bounds.md": "tests/test_docs_lower_bounds.py",
    "docs/rlberry.md": "tests/test_rlberry_adapter.py",  # by `make test-rlberry`, where rlberry is
    "docs/extending/explorer.md": "tests/test_extending.py",
    "docs/extending/index.md": "tests/test_extending.py",
    "docs/extending/learner.md": "tests/test_extending.py",
    **{
        f"docs/tutorials/{name}.md": "tests/test_docs_tutorials.py"
        for name in ("frozen_lake", "sweep", "learner", "ward")
    },
}
"""Pages whose Python other tests run, as it stands."""
SKETCHES = ("docs/design.md",)
"""Pages whose Python shows how something is made, and is not whole: it is parsed."""
SMALLER = {
    "docs/agents.md": [("learning_horizon=200,", "learning_horizon=20, clustering_horizon=2000, samples=10,")],
    "docs/checkpoints.md": [
        ("uniform(), 200)", "uniform(), 20)"),
        ("stop=80", "stop=8"),
        ("horizon=2000", "horizon=200"),
    ],
    "docs/experiment.md": [],
    "docs/recall.md": [("episodes=200", "episodes=40")],
    "docs/results.md": [],
    "docs/running.md": [],
    "docs/specification.md": [],
    "docs/worlds.md": [],
}
"""Pages whose Python is run here, and what is smaller in the ordinary run; as it stands `make test-all` runs it."""
SIZES = """
episodes = 3
runs = 2

[[worlds]]
name = "gridworld"
size = 3

[[agents]]
name = "Recall"
failure = 0.03
horizon = 20

[[agents]]
name = "OneEpisodeLearner"
horizon = 20
"""
"""What stands for ``examples/quick.toml``, which takes more than a minute."""
BEFORE = {
    "docs/experiment.md": """
import aomultirl as ao
models, stream = ao.worlds.gridworld(), ao.streams.paper()
agent = ao.agents.Optimal(horizon=50)
""",
}
"""What a page means by names that it does not make."""
TYPED_HERE = (
    "aomultirl run mine.toml --dry-run",
    "aomultirl status results/quick",
    "aomultirl verify results/quick",
    "aomultirl compare results/quick",
    "aomultirl report results/quick",
    "aomultirl report results/mine",
    "aomultirl inspect gridworld edges=stay --figure grids.png",
    "aomultirl inspect gridworld --figure grids.png",
)
"""Commands that are run; all others are only looked at."""
PROGRAMS = ("git", "tar", "twine", ".")
"""Of others, whose words nobody here knows."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with what pages take for there: examples, results of them, and histories."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "quick.toml").write_text(SIZES)
    return tmp_path


def computed(folder):
    """Have the folder results of its quick.toml, under the names that the pages use."""
    assert cli.run(["run", "examples/quick.toml", "--workers", "1"]) in (0, None)
    (folder / "results" / "mine").symlink_to(folder / "results" / "quick")
    for day in ("monday", "tuesday"):
        (folder / "results" / day).symlink_to(folder / "results" / "quick")


def test_every_page_with_python_is_run_by_somebody():
    found = {
        page
        for page in pages()
        if re.search(r"^ *```(?:python|\{code-cell\})", (ROOT / page).read_text(), re.MULTILINE)
    }
    assert found == {*RUN_ELSEWHERE, *SKETCHES, *SMALLER}
    for page, test in RUN_ELSEWHERE.items():
        assert Path(page).stem in (ROOT / test).read_text(encoding="utf-8"), page


@pytest.mark.parametrize("page", pages())
def test_every_block_says_what_it_is(page):
    """Otherwise nobody would look at it."""
    kinds = re.findall(r"^ *```(.*)$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)[::2]
    known = {"python", "pycon", "console", "text", "toml", "sql"}
    assert {kind for kind in kinds if not kind.startswith("{")} <= known


@pytest.mark.parametrize("page", SKETCHES)
def test_a_sketch_is_python(page):
    for block in python_of(page):
        compile(block.code, page, "exec")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("size", ["smaller", pytest.param("as it stands", marks=pytest.mark.long)])
@pytest.mark.parametrize("page", SMALLER)
def test_every_block_runs_in_order_and_prints_what_is_shown(page, size, folder, capsys):
    if page in ("docs/results.md", "docs/running.md"):
        computed(folder)
    names = {"__name__": "page"}
    exec(BEFORE.get(page, ""), names)
    replaced = SMALLER[page] if size == "smaller" else []
    blocks = python_of(page)
    assert all(any(old in block.code for block in blocks) for old, _ in replaced)
    capsys.readouterr()
    for code, shown in blocks:
        for old, new in replaced:
            code = code.replace(old, new)
        exec(compile(code, page, "exec"), names)
        printed = capsys.readouterr().out
        assert printed == shown or not shown, code


COMMANDS = sorted({(command, page) for page in pages() for command in commands_of(page)})


@pytest.mark.parametrize(("command", "page"), COMMANDS)
def test_every_command_can_be_typed(command, page):
    words = shlex.split(re.sub(r" >>? \S+$", "", command))
    program = Path(words[0]).name or words[0]
    if program == "pip":
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
        named = [extra for word in words for found in re.findall(r"\[(.*)\]", word) for extra in found.split(",")]
        assert words[1] == "install"
        assert set(named) <= set(extras)
    elif program == "python" and words[1] == "-m":
        assert words[2] in ("venv", "zipfile")
    elif program not in PROGRAMS:
        assert marks.runs(shlex.join(words)), f"{page}: nobody can type {command!r} in this project"
        if program == "python":
            script = (ROOT / words[1]).read_text(encoding="utf-8")
            assert all(f'"{word}"' in script for word in words if word.startswith("--"))


def test_some_commands_are_run(folder, capsys, monkeypatch):
    """In one folder, in the order of TYPED_HERE."""
    typed = {command for command, _ in COMMANDS}
    assert set(TYPED_HERE) <= typed
    monkeypatch.setenv("COLUMNS", "80")
    whole = re.search(
        r"^```toml\n(name = .*?)^```$", (ROOT / "docs/specification.md").read_text(), re.MULTILINE | re.DOTALL
    )
    (folder / "mine.toml").write_text(whole[1])
    for command in TYPED_HERE:
        if "results/" in command and not (folder / "results").exists():
            computed(folder)
        capsys.readouterr()
        assert cli.run(shlex.split(command)[1:]) in (0, None), command
        said = capsys.readouterr().out
        assert said
        assert max(map(len, said.splitlines())) <= 80, said


TOML = [
    (page, text)
    for page in pages()
    for _, text in re.findall(
        r"^( *)```toml\n(.*?)^ *```$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
]


@pytest.mark.parametrize(("page", "text"), TOML, ids=[f"{page}-{n}" for n, (page, _) in enumerate(TOML)])
def test_every_piece_of_a_specification_is_toml(page, text):
    """Whole ones are checked as the command checks them; the one with plug-ins is run by tests/test_extending.py."""
    found = tomllib.loads(
        re.sub(r"^# or:\n", "", text.replace("  distinguishing", "distinguishing"), flags=re.MULTILINE)
    )
    assert found
    if "agents" in found and "worlds" in found and "Wandering" not in text:
        assert specification_of(found).cells()


def test_queries_of_the_page_on_results_are_answered(folder):
    duckdb = pytest.importorskip("duckdb")
    computed(folder)
    (folder / "results" / "regret_lambda").symlink_to(folder / "results" / "quick")
    (text,) = re.findall(r"^```sql\n(.*?)^```$", (ROOT / "docs/results.md").read_text(), re.MULTILINE | re.DOTALL)
    first, second = [query for query in text.split(";") if query.strip()]
    assert len(duckdb.sql(first).fetchall()) == 2
    assert {row[1] for row in duckdb.sql(second).fetchall()} == {"Recall", "OneEpisodeLearner"}


GRID, RECALL = {"name": "gridworld"}, {"name": "Recall", "failure": 0.03, "horizon": 100}
TOLD = {"name": "AOMultiRL", "failure": 0.03}
REFUSED = (
    {"worlds": [GRID], "agents": [{"name": "Recall", "falure": 0.03, "horizon": 100}]},
    {"worlds": [{"name": "gridworld", "edges": []}], "agents": [RECALL]},
    {
        "worlds": [GRID, {"name": "random_models", "zip": {"states": [16, 64], "successors": [5, 3, 2]}}],
        "agents": [RECALL],
    },
    {"worlds": [{"name": "jao"}, {"name": "two_jao"}], "agents": [{**TOLD, "learning_horizon": 10}]},
    {"worlds": [GRID], "agents": [{**TOLD, "horizon": 2_000, "hitting_time": 7}]},
    {"worlds": [{"name": "gridworld", "size": 10**6}], "agents": [RECALL]},
    {"worlds": [GRID], "agents": [{"name": "PooledUCBVI", "failure": 0.03, "horizon": 10**12}]},
    {"worlds": [GRID], "agents": [RECALL], "runs": 2_000_000},
)
"""What is refused with the sentences of docs/specification.md, in their order."""


def test_refusals_stand_on_the_page_as_they_are_said():
    """But for the memory of the machine."""
    text = (ROOT / "docs/specification.md").read_text(encoding="utf-8")
    shown = [
        line
        for block in re.findall(r"^```text\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        for line in block.splitlines()
    ]
    said = []
    for told in REFUSED:
        with pytest.raises(ValueError, match=r"\w") as refusal:
            specification_of({"episodes": 5, **told})
        said.append(str(refusal.value))
    assert [re.sub(r"and \S+ GB are there", "", line) for line in said] == [
        re.sub(r"and \S+ GB are there", "", line) for line in shown
    ]
