import dataclasses
import json
import os
import time

import numpy as np
import polars
import pytest

import aomultirl as ao
from aomultirl.experiments import loading
from aomultirl.experiments.cells import Cell
from aomultirl.experiments.computation import compute, constants
from aomultirl.experiments.history import Row
from aomultirl.experiments.paper import LABELS, PaperExperiment
from aomultirl.experiments.store import MARK, Store
from folders import GRID, OPTIMAL, RANDOM, cells, contents, keep, part

THIRD = part("gridworld", edges="third")
NAMING = ["cell", "agent", "world", "stream", "run"]


@pytest.fixture(scope="module")
def given():
    return cells(worlds=(GRID, THIRD), episodes=(4, 6), runs=2)


@pytest.fixture(scope="module")
def folder(given, tmp_path_factory):
    place = tmp_path_factory.mktemp("loading") / "small"
    keep(place, given)
    return place


def test_a_folder_is_one_frame_with_a_row_for_every_episode(folder, given):
    frame = ao.load(folder)
    assert frame.columns == [*NAMING, "world.edges", "episodes", *Row._fields]
    assert len(frame) == sum(cell.episodes for cell in given)
    for cell in given:
        mine = frame.filter(cell=cell.name)
        history = cell.run()
        for name in Row._fields:
            np.testing.assert_array_equal(mine[name].to_numpy(), history[name])
        told = mine.select(*NAMING, "world.edges", "episodes").unique().rows()
        edges = cell.world["parameters"]["edges"]
        assert told == [(cell.name, cell.label, "gridworld", "uniform", cell.number, edges, cell.episodes)]


def test_rows_are_in_the_order_of_the_experiment_with_the_runs_of_a_configuration_together(folder, given):
    frame = ao.load(folder, columns=["world.edges", "episodes", "agent", "run", "episode"])
    wanted = [
        (edges, count, agent, run, episode)
        for edges in ("stay", "third")
        for count in (4, 6)
        for agent in ("Random", "Optimal")
        for run in range(2)
        for episode in range(count)
    ]
    assert frame.rows() == wanted


def test_only_the_columns_that_are_asked_for(folder):
    assert ao.load(folder, columns=["regret", "agent"]).columns == ["regret", "agent"]
    with pytest.raises(ValueError, match=r"columns names 'regrets', which is not in these results; did you mean 'reg"):
        ao.load(folder, columns=["regrets"])
    with pytest.raises(ValueError, match=r"^columns is <callable_iterator .*>, of more than 10,000,000 names$"):
        ao.load(folder, columns=iter(int, 1))


def test_pandas_has_the_same(folder):
    pytest.importorskip("pandas")
    ours, theirs = ao.load(folder), ao.load(folder, kind="pandas")
    assert list(theirs.columns) == ours.columns
    assert polars.from_pandas(theirs, nan_to_null=False).equals(ours)
    with pytest.raises(ValueError, match="kind must be one of 'polars', 'pandas', not 'panda'"):
        ao.load(folder, kind="panda")


def test_duckdb_can_query_the_folder(folder):
    duckdb = pytest.importorskip("duckdb")
    rows = duckdb.sql(f"SELECT agent, avg(regret) FROM '{folder}/cells/*.parquet' GROUP BY agent").fetchall()
    ours = ao.load(folder).group_by("agent").agg(polars.col("regret").mean())
    assert dict(rows) == pytest.approx(dict(ours.rows()))
    [(world, configuration)] = duckdb.sql(
        f"SELECT DISTINCT world, configuration FROM '{folder}/cells/*.parquet' WHERE episode = 5 AND agent = 'Random' "
        "AND configuration LIKE '%stay%'"
    ).fetchall()
    assert world == "gridworld"
    assert json.loads(configuration)["agent"] == RANDOM


def test_values_keep_their_kinds(tmp_path):
    agents = {str(i): part("Random", horizon=horizon) for i, horizon in enumerate((5, 7))}
    worlds = [part("two_jao", actions=2, diameter=diameter) for diameter in (40, 50.5)]
    streams = [part("sequence", tasks=tasks) for tasks in ([0, 1], [1, 0])]
    keep(tmp_path / "a", cells(agents, worlds=worlds, streams=streams, episodes=(2,), runs=1))
    frame = ao.load(tmp_path / "a")
    kinds = {name: frame.schema[name] for name in ("agent.horizon", "world.diameter", "stream.tasks")}
    assert kinds == {
        "agent.horizon": polars.Int64,
        "world.diameter": polars.Float64,
        "stream.tasks": polars.String,
    }
    assert set(frame["stream.tasks"]) == {"[0, 1]", "[1, 0]"}


def test_a_default_that_was_written_out_does_not_vary(tmp_path):
    keep(tmp_path / "a", cells(worlds=(THIRD,), runs=1))
    keep(tmp_path / "b", cells({"other": part("Random", horizon=12)}, worlds=(part("gridworld"),), runs=1))
    frame = ao.load(tmp_path / "a", tmp_path / "b")
    assert frame.columns == [*NAMING, "agent.horizon", *Row._fields]
    assert dict(frame.select("agent", "agent.horizon").unique().rows()) == {"Random": 10, "Optimal": 10, "other": 12}


def test_a_cell_in_two_folders_counts_once(folder, given, tmp_path):
    keep(tmp_path / "b", [*given[:2], *cells(seed=5, runs=1)])
    frame = ao.load(folder, tmp_path / "b")
    assert frame["cell"].n_unique() == len(given) + 2
    assert len(frame) == sum(cell.episodes for cell in given) + 8
    assert set(frame["seed"]) == {0, 5}


def test_cells_that_failed_or_are_not_there_yet_are_left_out_and_said(tmp_path):
    wrong = part("Random", horizon=-1)
    given = cells({"Random": RANDOM, "wrong": wrong}, runs=2)
    keep(tmp_path / "a", given, done=given[:2])
    with pytest.warns(UserWarning, match="cell") as said:
        frame = ao.load(tmp_path / "a")
    assert frame["cell"].unique().to_list() == [given[0].name]
    messages = [str(one.message) for one in said]
    assert messages[0].startswith("1 cell failed and is left out: '")
    assert messages[1] == "2 cells are not done yet."


@pytest.mark.parametrize("damage", ["truncated", "no history", "no manifest", "half a manifest", "foreign", "renamed"])
def test_damaged_and_foreign_files_are_never_read(tmp_path, damage):
    given = cells(runs=2)
    store = keep(tmp_path / "a", given)
    history, manifest = store.history(given[0]), store.manifest(given[0])
    if damage == "truncated":
        history.write_bytes(history.read_bytes()[:-9])
    elif damage == "no history":
        history.unlink()
    elif damage == "no manifest":
        manifest.unlink()
    elif damage == "half a manifest":
        manifest.write_text(manifest.read_text()[:100])
    elif damage == "renamed":
        history.write_bytes(store.history(given[1]).read_bytes())
        manifest.write_bytes(store.manifest(given[1]).read_bytes())
    else:
        keep(tmp_path / "b", cells(seed=9, runs=1))
        for path in (tmp_path / "b" / "cells").iterdir():
            path.replace(store.folder / "cells" / path.name)
    before = contents(tmp_path / "a")
    words = "not done yet" if damage == "no manifest" else "damaged or of something else and (is|are) left out"
    with pytest.warns(UserWarning, match=words):
        frame = ao.load(tmp_path / "a")
    whole = given if damage == "foreign" else given[1:]
    assert set(frame["cell"]) == {cell.name for cell in whole}
    assert contents(tmp_path / "a") == before


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda place: None, "there is no folder '.*out'"),
        (lambda place: place.write_text("mine"), "is a file, not a folder of results"),
        (lambda place: place.mkdir(), "is empty: it holds no results"),
        (lambda place: (place.mkdir(), (place / "thesis.tex").write_text("")), "is not a folder of results"),
        (lambda place: (place.mkdir(), (place / MARK).write_text("{}")), "does not describe an experiment"),
        (lambda place: keep(place, cells(), done=[]), "no cell in '.*out' is done. 6 cells are not done yet."),
    ],
)
def test_what_is_no_folder_of_results_is_refused(tmp_path, make, words):
    make(tmp_path / "out")
    with pytest.raises(ValueError, match=words):
        ao.load(tmp_path / "out")


def test_no_folder_at_all():
    with pytest.raises(ValueError, match="name at least one folder"):
        ao.load()


def test_the_papers_experiment_opens_too(tmp_path):
    experiment = PaperExperiment(1, 2)
    keep(tmp_path / "a", experiment.cells(), identity=experiment.identity())
    frame = ao.load(tmp_path / "a")
    assert set(frame["agent"]) == set(LABELS)
    counts = dict(frame.group_by("agent").len().rows())
    assert {label: counts[label] for label in LABELS} == {label: 6 if "disc" in label else 2 for label in LABELS}
    assert "stream.each_first" in frame.columns


@pytest.mark.long
def test_ten_thousand_cells_load_in_seconds(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda file: None)  # the folder is thrown away
    first = Cell(GRID, part("uniform"), OPTIMAL, 50, 0, 0, "Optimal")
    given = [dataclasses.replace(first, number=number) for number in range(10_000)]
    store = Store(tmp_path, {"kind": "sweep"}, given)
    store.prepare()
    computed, history = compute(first), first.run()
    for cell in given:
        mine = ao.History(history.columns, {**history.about, "seed": cell.run_seed})
        store.keep(computed._replace(cell=cell, history=mine.to_parquet(constants(cell))))
    begin = time.perf_counter()
    frame = ao.load(tmp_path)
    assert time.perf_counter() - begin < 10.0
    assert len(frame) == 500_000
    assert frame["run"].n_unique() == 10_000


def test_what_is_found_is_said_in_sentences(tmp_path):
    found = loading.FoundCells([], [tmp_path / "x.json"] * 3, [], 1)
    assert loading.said_of(found) == [
        f"3 cells failed and are left out, the first of them {str(tmp_path / 'x.json')!r}.",
        "1 cell is not done yet.",
    ]
