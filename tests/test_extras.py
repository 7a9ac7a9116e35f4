"""Where a package of an extra is missing, whatever needs it says how to install it."""

import importlib
import io
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import aomultirl as ao
from aomultirl import cli, extras
from aomultirl.experiments import executors, progress

HOW = r"pip install 'aomultirl\[experiments\]'"


@pytest.fixture
def without(monkeypatch):
    """Make a package missing, and have modules of ours that have imported it do so again."""

    def remove(package, *again):
        for name in [name for name in sys.modules if name.partition(".")[0] == package]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, package, None)
        for name in again:
            monkeypatch.delitem(sys.modules, f"aomultirl.{name}", raising=False)

    return remove


def run(**options):
    return ao.run(ao.agents.Random(3), ao.worlds.gridworld(), ao.streams.uniform(), 2, **options)


def test_progress_bars(without, monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    without("rich")
    for call in (
        lambda: run(progress=True),
        lambda: ao.interact(ao.agents.Random(3), "FrozenLake-v1", 1, progress=True),
        lambda: progress.table(sys.stderr).__enter__(),
    ):
        with pytest.raises(ImportError, match=f"^progress bars need rich: {HOW}$"):
            call()
    assert len(run()) == 2


@pytest.mark.parametrize("package", ["rich", "jinja2", "matplotlib", "plotly"])
def test_reports(without, package):
    without(package, "reports")
    with pytest.raises(ImportError, match=f"^reports need {package}: {HOW}$"):
        importlib.import_module("aomultirl.reports")


def test_processes_and_results(without, tmp_path):
    without("loky")
    with pytest.raises(ImportError, match=f"^several processes need loky: {HOW}$"):
        list(executors.local(2).map(abs, [1]))
    without("pydantic", "experiments.manifest", "experiments.specification.document")
    with pytest.raises(ImportError, match=f"^folders of results need pydantic: {HOW}$"):
        importlib.import_module("aomultirl.experiments.manifest")
    with pytest.raises(ImportError, match=f"^specifications need pydantic: {HOW}$"):
        importlib.import_module("aomultirl.experiments.specification.document")
    with pytest.raises(ImportError, match=f"^frames of results need pydantic: {HOW}$"):
        ao.load(tmp_path)


def test_the_command_line_says_so_wherever_it_is(monkeypatch, capsys):
    def fail(*_):
        raise ModuleNotFoundError("No module named 'polars'", name="polars")

    monkeypatch.setattr("aomultirl.plugins.makers", fail)
    assert cli.run(["list", "agents"]) == 2
    assert capsys.readouterr().err == "aomultirl: this needs polars: pip install 'aomultirl[experiments]'\n"
    monkeypatch.setattr("aomultirl.plugins.makers", lambda _: importlib.import_module("no_such_module"))
    assert cli.run(["list", "agents"]) == 2
    assert capsys.readouterr().err == "aomultirl: No module named 'no_such_module'\n"


def test_what_no_extra_brings_stays_what_it_is():
    with pytest.raises(ModuleNotFoundError, match="no_such_module"), extras.needs("reports"):
        importlib.import_module("no_such_module")


def test_every_package_of_the_extras_is_known():
    """By the name that it is imported by, with the extra that asks for it."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    places = packages_distributions()
    for extra in ("experiments", "cluster"):
        for asked in project["optional-dependencies"][extra]:
            wanted = asked.partition(">")[0].partition("[")[0]
            if wanted != "aomultirl":
                names = {name for name, owners in places.items() if wanted in map(str.lower, owners)}
                assert any(extras.EXTRAS.get(name) == extra for name in names), wanted


def test_what_runs_an_agent_needs_no_extra():
    code = f"import sys; sys.modules |= dict.fromkeys({sorted(extras.EXTRAS)!r}); import aomultirl as ao; "
    code += "print(len(ao.run(ao.agents.Random(3), ao.worlds.gridworld(), ao.streams.uniform(), 2, progress=True)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "2\n"
