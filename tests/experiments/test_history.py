import io
import os
import sys

import numpy as np
import polars
import pyarrow
import pyarrow.parquet
import pytest

import aomultirl as ao
from aomultirl import files
from aomultirl.experiments import provenance
from aomultirl.experiments.history import Row


@pytest.fixture(scope="module")
def history():
    return ao.run(ao.agents.OneEpisodeUCBVI(0.03, 30), ao.worlds.gridworld(), ao.streams.paper(), 20, seed=2)


def test_columns_and_frame(history):
    frame = history.to_frame()
    assert isinstance(frame, polars.DataFrame)
    assert tuple(frame.columns) == Row._fields
    for name in ("task", "start", "cluster", "new_cluster", "misclustered", "exploration_ok", "identification_steps"):
        assert name in frame.columns
    assert len(frame) == len(history) == 20
    assert np.array_equal(frame["regret"].to_numpy(), history["regret"])


def test_regret_and_aper_are_running_sums_and_means(history):
    assert history.regret() == pytest.approx([history["regret"][: k + 1].sum() for k in range(20)])
    assert history.aper() == pytest.approx([history["evaluation_reward"][: k + 1].mean() for k in range(20)])


def judged(history, **columns):
    """The history with other columns, those that are missing as of an agent that proves nothing."""
    count = len(history)
    plain = {
        "abstained": np.ones(count, np.bool_),
        "cluster": np.full(count, -1),
        "misclustered": np.zeros(count, np.bool_),
    }
    return ao.History({**history.columns, **plain, **columns}, history.about)


def test_what_was_not_proven_was_believed_or_is_in_doubt(history):
    sure = np.tile([0.99, 0.9899, np.nan, 1.0], 5)
    taken = np.tile([3, 3, 7, -1], 5)  # some agents have names for worlds, but do not say how sure they are
    mine = judged(history, sure=sure, taken_for=taken)
    assert mine.believed_only.tolist() == [True, False, False, False] * 5
    assert mine.in_doubt.tolist() == [False, True, True, True] * 5
    told = "worlds told apart: 0 clusters, 0 episodes in a wrong one; 5 taken for one world, not proven; "
    assert repr(mine).split("\n")[3] == f"{told}15 in doubt, 4 of them lately"
    proven = judged(history, sure=sure, taken_for=taken, abstained=np.zeros(20, np.bool_), cluster=np.zeros(20, int))
    assert not proven.believed_only.any()
    assert not proven.in_doubt.any()
    assert repr(proven).split("\n")[3] == "worlds told apart: 1 cluster, 0 episodes in a wrong one"


def test_an_agent_without_beliefs_says_what_it_did_not_prove(history):
    told = repr(judged(history)).split("\n")[3]
    assert told == "worlds told apart: 0 clusters, 0 episodes in a wrong one; 20 episodes not proven"


def test_parquet_without_loss(history, tmp_path):
    path = tmp_path / "run.parquet"
    history.write(path)
    assert list(tmp_path.iterdir()) == [path]
    again = ao.History.read(path)
    assert again == history
    assert again["regret"].tobytes() == history["regret"].tobytes()
    assert again.about["agent"]["name"] == "OneEpisodeUCBVI"
    assert polars.read_parquet(path).equals(history.to_frame())


def test_missing_numbers_survive(tmp_path):
    from aomultirl.worlds.environment import WorldEnv

    world = ao.worlds.gridworld()[0]
    history = ao.interact(ao.agents.Random(5), lambda k: WorldEnv(world), 3)
    history.write(tmp_path / "a.parquet")
    assert ao.History.read(tmp_path / "a.parquet") == history


def test_foreign_files_are_refused(tmp_path, history):
    (tmp_path / "text.parquet").write_text("no")
    with pytest.raises(ValueError, match="is not a Parquet file"):
        ao.History.read(tmp_path / "text.parquet")
    history.to_frame().write_parquet(tmp_path / "plain.parquet")
    with pytest.raises(ValueError, match="but not a history of aomultirl"):
        ao.History.read(tmp_path / "plain.parquet")
    with pytest.raises(ValueError, match="there is no column 'regrets'"):
        history["regrets"]


def test_missing_packages_are_named(history, tmp_path, monkeypatch):
    for package, use in (
        ("polars", history.to_frame),
        ("pyarrow", lambda: history.write(tmp_path / "a.parquet")),
        ("pyarrow", lambda: ao.History.read(tmp_path / "a.parquet")),
    ):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(ImportError, match=rf"histories need {package}: pip install 'aomultirl\[experi"):
            use()


def test_a_failed_write_keeps_the_old_file(history, tmp_path, monkeypatch):
    path = tmp_path / "run.parquet"
    path.write_text("old")

    def fail(number):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="no space left"):
        history.write(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_files_of_strangers_are_refused_in_one_sentence(tmp_path, history):
    content = history.to_parquet()
    table = pyarrow.parquet.read_table(io.BytesIO(content))
    about = table.schema.metadata[b"aomultirl"]
    path = tmp_path / "a.parquet"
    for change in (
        table.replace_schema_metadata({"aomultirl": "{"}),
        table.replace_schema_metadata({"aomultirl": "7"}),
        table.replace_schema_metadata({"aomultirl": "[" * 100_000}),
        table.replace_schema_metadata({"aomultirl": about.replace(b'"agent": {', b'"agent": 7, "x": {')}),
        table.set_column(0, "episode", pyarrow.array(map(str, range(20)))).replace_schema_metadata(
            {"aomultirl": about}
        ),
        table.set_column(12, "regret", pyarrow.nulls(20, "float64")).replace_schema_metadata({"aomultirl": about}),
        table.append_column("more", table["regret"]),
    ):
        pyarrow.parquet.write_table(change, path)
        with pytest.raises(files.UnfitFileError) as error:
            ao.History.read(path)
        assert len(str(error.value)) < 400
    for cut in (0, 4, 100, len(content) - 9):
        path.write_bytes(content[:cut])
        with pytest.raises(files.UnfitFileError, match="is not a Parquet file"):
            ao.History.read(path)
    with pytest.raises(files.UnfitFileError, match="is a folder, not a file"):
        ao.History.read(tmp_path)


def test_what_histories_said_of_themselves_before_is_read():
    """Version 0.1.0 wrote the agent's class, and reprs of its parameters and of the stream."""
    before = {
        "agent": "AOMultiRL",
        "parameters": {"failure": "0.03", "distinguishing_set": "[(1, 0), (8, 3)]", "models": "ModelSet(4 worlds)"},
        "stream": "paper(each_first=True, start=[1, 2])",
        "seed": 3,
    }
    now = provenance.in_current_form(before)
    parameters = {
        "failure": 0.03,
        "distinguishing_set": [[1, 0], [8, 3]],
        "models": {"object": "ModelSet(4 worlds)"},
    }
    assert now == {
        "agent": {"name": "AOMultiRL", "parameters": parameters},
        "stream": {"name": "paper", "parameters": {"each_first": True, "start": [1, 2]}},
        "seed": 3,
    }
    assert provenance.in_current_form(now) == now
    deep = {"agent": "A", "parameters": {"a": "(" * 9000, "b": 3, "c": "1" * 20_000}, "stream": "os.system('x')"}
    read = provenance.in_current_form(deep)
    assert read["agent"]["parameters"] == {name: {"object": text} for name, text in deep["parameters"].items()}
    assert read["stream"] == deep["stream"]
    for odd in (3, [], {}, {"agent": 3, "parameters": []}, {"agent": "A", "parameters": []}):
        assert provenance.in_current_form(odd) == odd
