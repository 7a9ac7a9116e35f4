"""A test for every line of docs/trust.md: what may be opened from strangers, and what may not."""

import dataclasses
import hashlib
import io
import json
import os
import pickle
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

import aomultirl as ao
from aomultirl.agents import saving
from aomultirl.cli import run as command
from aomultirl.engine import kernel_files
from aomultirl.engine.kernel_files import DamagedCacheWarning, KernelFiles
from aomultirl.experiments import ray_executor
from aomultirl.experiments.computation import constants
from aomultirl.experiments.history import History
from folders import cells, contents, keep
from pages import Outline, content, without_scripts

DOCUMENTED = Path(__file__).parent.parent / "docs" / "trust.md"
EVIL = "</script><b>bold</b><img src=x onerror=alert(1)>"


class Payload:
    """What a stranger would like to have unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return Path.write_text, (self.mark, "run")


@pytest.fixture
def trap(tmp_path, monkeypatch):
    """A module that leaves a mark when it is imported, and registers a tabular environment."""
    mark = tmp_path / "mark"
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "stranger.py").write_text(
        f"""
from pathlib import Path
import gymnasium
from gymnasium.envs.toy_text.frozen_lake import FrozenLakeEnv
Path({str(mark)!r}).write_text("run")
gymnasium.register("Trap-v0", lambda: FrozenLakeEnv())
"""
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH", "")])))
    monkeypatch.syspath_prepend(str(folder))
    yield mark
    sys.modules.pop("stranger", None)


def in_a_process(*words):
    return subprocess.run([sys.executable, "-m", "aomultirl", *words], capture_output=True, text=True, check=False)


def history_of(world, path, **more):
    """A history that claims to be of these worlds."""
    history = ao.run(ao.agents.Random(5), ao.worlds.gridworld(), ao.streams.uniform(), 3)
    History(history.columns, {**history.about, "world": world, **more}).write(path)


def test_the_page_has_a_line_for_each_of_these():
    text = DOCUMENTED.read_text()
    assert len(re.findall(r"^\| [^|-].*\|$", text, re.M)) == 5 + 4 + 2  # lines, and two headings
    assert "tests/test_trust.py" in text


def test_agent_files_run_nothing(tmp_path):
    agent, mark = ao.agents.Recall(0.1, 20), tmp_path / "mark"
    ao.run(agent, ao.worlds.gridworld(), ao.streams.uniform(), 2)
    payload = pickle.dumps(Payload(mark))
    with pytest.raises(ValueError, match="not a zip archive"):
        saving.from_bytes(payload)
    whole = saving.to_bytes(agent)
    with zipfile.ZipFile(io.BytesIO(whole)) as opened:
        assert all(name.endswith((".npy", ".json")) for name in opened.namelist())
        assert not any(opened.read(name)[:2] == b"\x80\x04" for name in opened.namelist())
    assert not mark.exists()  # tests/agents/test_tampering.py has every other way to write such a file


def forge_world(store, victim, world):
    """Give a cell another world, and all that follows from it: its name, files, columns, metadata and digests."""
    forged = dataclasses.replace(victim, world=world)
    history = History.read(store.history(victim))
    about = {**history.about, "world": world}
    content = History(history.columns, about).to_parquet(constants(forged))
    told = json.loads(store.manifest(victim).read_text())
    changes = {"cell": forged.name, "specification": forged.specification(), "run_seed": forged.run_seed}
    for place in (store.manifest(victim), store.history(victim)):
        place.unlink()
    store.history(forged).write_bytes(content)
    store.manifest(forged).write_text(json.dumps({**told, **changes, "sha256": hashlib.sha256(content).hexdigest()}))
    mark = json.loads((store.folder / "experiment.json").read_text())
    names = [forged.name if name == victim.name else name for name in mark["cells"]]
    (store.folder / "experiment.json").write_text(json.dumps({**mark, "cells": names}))


@pytest.mark.parametrize(("envs", "fits"), [("stranger:Trap-v0", False), ("FrozenLake-v1", True)])
def test_result_folders_run_nothing_and_touch_nothing_outside(tmp_path, trap, capsys, monkeypatch, envs, fits):
    folder, outside = tmp_path / "results", tmp_path / "outside"
    outside.mkdir()
    (outside / "lock").write_text("precious")
    store = keep(folder, cells(runs=2))
    forge_world(store, store.cells[0], {"name": "from_gymnasium", "parameters": {"envs": envs}})
    monkeypatch.setattr("gymnasium.make", lambda *_, **__: trap.write_text("made"))
    assert command(["verify", str(folder)]) == (0 if fits else 1)  # the forgery is consistent, and the id decides
    assert ("may not name a module" in capsys.readouterr().out) is not fits
    for words in (["status"], ["compare"], ["report"]):
        assert command([*words, str(folder)]) == 0
    (folder / "report.html").unlink()
    (folder / ".lock").unlink(missing_ok=True)
    (folder / ".lock").symlink_to(outside / "lock")
    (folder / "set_aside").symlink_to(outside)
    before = contents(outside)
    for words in (["status"], ["compare"], ["report"], ["verify"]):
        assert command([*words, str(folder)]) in (0, 1, 2)
    capsys.readouterr()
    assert contents(outside) == before
    assert not trap.exists()


@pytest.mark.parametrize(("envs", "fits"), [("stranger:Trap-v0", False), ("FrozenLake-v1", True)])
def test_what_is_shown_live_of_a_folder_makes_no_environment(tmp_path, trap, capsys, monkeypatch, envs, fits):
    recall = {"name": "Recall", "parameters": {"failure": 0.1, "horizon": 20}}
    store = keep(tmp_path / "results", cells([recall], runs=1))
    forge_world(store, store.cells[0], {"name": "from_gymnasium", "parameters": {"envs": envs}})
    text = f'episodes = 4\nworlds = [{{name = "from_gymnasium", envs = "{envs}"}}]\n'
    text += 'agents = [{name = "Recall", failure = 0.1, horizon = 20}]\n'
    (store.folder / "specification.toml").write_text(text)
    monkeypatch.setattr("gymnasium.make", lambda *_, **__: trap.write_text("made"))
    monkeypatch.setattr("aomultirl.cli.live.LAST_LOOK", 0.0)
    before = contents(store.folder)
    assert command(["live", str(store.folder), "--until-done", "--speed", "1e9"]) == (0 if fits else 2)
    assert contents(store.folder) == before
    assert not trap.exists()
    capsys.readouterr()


def test_histories_make_no_environment(tmp_path, trap, capsys):
    path, page = tmp_path / "history.parquet", tmp_path / "page.html"
    for envs in ("stranger:Trap-v0", ["stranger:Trap-v0"], "FrozenLake-v1"):
        history_of({"name": "from_gymnasium", "parameters": {"envs": envs}}, path)
        assert command(["report", str(path), "--out", str(page)]) == 0
        assert "a page makes no environments of Gymnasium that a file names" in page.read_text()
    assert not trap.exists()
    capsys.readouterr()
    history_of({"name": "gridworld", "parameters": {}}, path)  # one of ours is made again
    assert command(["report", str(path), "--out", str(page)]) == 0
    assert "smallest distinguishing set" in page.read_text()
    assert "makes no environments" not in page.read_text()


def test_pages_show_what_strangers_wrote_as_text(tmp_path, capsys):
    path, page = tmp_path / "history.parquet", tmp_path / "page.html"
    world = {"name": EVIL, "parameters": {EVIL: EVIL}}
    history_of(world, path, agent=world, version=EVIL, stream=world)
    assert command(["report", str(path), "--out", str(page)]) == 0
    outline = Outline(page.read_text())
    assert outline.all("b") == outline.all("img") == []
    assert len(outline.all("script")) == 3
    assert "<b>" not in without_scripts(page.read_text())
    assert content(page.read_text())["agents"][0]["label"] == EVIL


@pytest.mark.parametrize(
    "envs", ['"stranger:Trap-v0"', '["FrozenLake-v1", "stranger:Trap-v0"]', '["stranger:x:Trap-v0"]']
)
@pytest.mark.parametrize("words", [["run", "--dry-run"], ["run"], ["live"]])
def test_specifications_import_nothing(tmp_path, trap, capsys, monkeypatch, envs, words):
    monkeypatch.chdir(tmp_path)
    specification = tmp_path / "theirs.toml"
    specification.write_text(
        f'episodes = 1\n[[worlds]]\nname = "from_gymnasium"\ngrid.envs = [{envs}]\n'
        '[[agents]]\nname = "Random"\nhorizon = 5\n'
    )
    assert command([*words, str(specification)]) == 2
    assert "a file may not name a module to import" in capsys.readouterr().err
    assert not trap.exists()
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["theirs.toml"]


def test_the_compile_cache_runs_what_is_written_there(tmp_path, monkeypatch):
    """Its digest keeps damage out, and not whoever works out a new one: that is why nobody else may write there."""
    monkeypatch.setattr(kernel_files, "FOLDERS", set())
    monkeypatch.setattr(kernel_files, "_told", [])
    mark, kernel = tmp_path / "mark", KernelFiles(tmp_path, "kernel", "these versions")
    kernel.save("signature", b"machine code")
    file = tmp_path / "kernel.checked.nbi"
    body = file.read_bytes()[32:64] + pickle.dumps(Payload(mark))
    file.write_bytes(bytes(32) + body)
    with pytest.warns(DamagedCacheWarning, match="its digest is not that of its content"):
        assert kernel.index() == {}
    assert not mark.exists()
    file.write_bytes(hashlib.sha256(body).digest() + body)
    kernel.index()
    assert mark.read_text() == "run"


def test_a_cluster_that_others_can_reach_is_ended(monkeypatch):
    """The real one is in tests/experiments/test_ray.py."""
    monkeypatch.setattr(ray_executor, "listening", lambda: iter([("raylet", "::")]))
    with pytest.raises(RuntimeError, match="which other machines can reach, so it was stopped"):
        ray_executor.check_listens_here_only()


def test_what_a_user_types_may_name_what_it_likes(trap):
    made = in_a_process("inspect", "from_gymnasium", "envs=stranger:Trap-v0", "terminal=restart")
    assert made.returncode == 0, made.stderr
    assert trap.read_text() == "run"  # and that is why it may not come from a file
    trap.unlink()
    assert len(ao.worlds.from_gymnasium("stranger:Trap-v0")) == 1
    assert trap.read_text() == "run"


def test_the_script_of_a_page_is_what_the_file_says(tmp_path, capsys):
    path, page = tmp_path / "history.parquet", tmp_path / "page.html"
    history_of({"name": "gridworld", "parameters": {}}, path, stream={"name": "uniform(), mine", "parameters": {}})
    assert command(["report", str(path), "--out", str(page)]) == 0
    assert "ao.streams.uniform(), mine()" in page.read_text()


def test_a_history_whose_metadata_are_no_description_is_refused(tmp_path, capsys):
    path = tmp_path / "history.parquet"
    history_of({"name": "gridworld", "parameters": {}}, path)
    table = pyarrow.parquet.read_table(path)
    for about in (b"[" * 100_000, b"[]", b"3", b"\xff", b"{}", b'{"agent": 3, "parameters": []}'):
        pyarrow.parquet.write_table(table.replace_schema_metadata({b"aomultirl": about}), path)
        assert command(["report", str(path), "--out", str(tmp_path / "page.html")]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize(
    ("more", "key"),
    [
        ({"agent": {"name": "Random", "parameters": {"x": "\ud800"}}}, "agent.parameters.x"),
        ({"version": "\ud800"}, "version"),
        ({"world": {"name": "gridworld", "parameters": {"edges": ["\ud800"]}}}, "world.parameters.edges"),
        ({"stream": {"name": "uniform", "parameters": {"x": "\ud800"}}}, "stream.parameters.x"),
        ({"findings": {"x": {"\ud800": 1}}}, "findings.x"),
    ],
)
def test_a_history_with_half_a_character_is_refused(tmp_path, capsys, more, key):
    path = tmp_path / "history.parquet"
    history_of(**{"world": {"name": "gridworld", "parameters": {}}, "path": path, **more})
    assert command(["report", str(path), "--out", str(tmp_path / "page.html")]) == 2
    told = capsys.readouterr().err
    assert f"{str(path)!r} says how it was made in a way that cannot be: {key} is " in told
    assert "half a character" in told
    assert len(told.splitlines()) == 1
