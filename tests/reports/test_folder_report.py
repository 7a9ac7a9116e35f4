import json

import pytest

import aomultirl as ao
from aomultirl.cli import run
from aomultirl.experiments.paper import PaperExperiment
from aomultirl.experiments.store import MARK
from aomultirl.reports import folder_report, write_page
from aomultirl.reports.folder_report import collect
from folders import cells, keep

MODELS = ao.worlds.gridworld()


def history(seed=0, **options):
    return ao.run(ao.agents.OneEpisodeUCBVI(0.03, 10, **options), MODELS, ao.streams.uniform(), 3, seed=seed)


def test_a_folder_of_histories_is_collected_in_order(tmp_path):
    for seed in range(3):
        history(seed).write(tmp_path / f"{seed}.parquet")
    found = collect(tmp_path).runs
    assert [(run.agent, run.run) for run in found] == [("OneEpisodeUCBVI", number) for number in range(3)]
    assert [run.history for run in found] == [history(seed) for seed in range(3)]
    assert collect(tmp_path).claims is None


def test_agents_of_one_class_are_told_apart_by_their_parameters(tmp_path):
    history(bonus_scale=0.5).write(tmp_path / "a.parquet")
    history(bonus_scale=1.0).write(tmp_path / "b.parquet")
    assert [run.agent for run in collect(tmp_path).runs] == [f"OneEpisodeUCBVI (bonus_scale={x})" for x in (0.5, 1.0)]


def test_a_page_of_one_history_or_of_several(tmp_path):
    write_page(tmp_path / "one.html", history())
    write_page(tmp_path / "three.html", [history(seed) for seed in range(3)])
    assert "3 runs" in (tmp_path / "three.html").read_text()


def test_what_is_no_history_is_refused(tmp_path):
    with pytest.raises(ValueError, match="there is no file or folder"):
        collect(tmp_path / "none")
    with pytest.raises(ValueError, match="holds no histories"):
        collect(tmp_path)


@pytest.mark.parametrize("findings", [7, {"evidence": 7}, {"evidence": {"episodes": [1]}}, {"evidence": []}])
def test_findings_that_nobody_can_draw_are_refused_in_one_line(tmp_path, capfd, findings):
    found = history()
    ao.History(found.columns, {**found.about, "findings": findings}).write(tmp_path / "a.parquet")
    status = run(["report", str(tmp_path / "a.parquet"), "--out", str(tmp_path / "page.html")])
    told = capfd.readouterr().err
    assert "Traceback" not in told
    assert status == (2 if told else 0)
    assert told.count("\n") == bool(told)


def test_what_lies_in_a_folder_of_histories_may_not_be_a_link(tmp_path):
    inside = tmp_path / "in"
    inside.mkdir()
    history().write(tmp_path / "a.parquet")
    (inside / "b.parquet").symlink_to(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"'b\.parquet' is a link, not a file"):
        collect(inside)
    assert len(collect(inside / "b.parquet").runs) == 1  # what the user names may be


def test_a_summary_that_is_no_summary_is_passed_over(tmp_path):
    experiment = PaperExperiment(1, 2)
    store = keep(tmp_path / "a", experiment.cells(), identity=experiment.identity())
    for text in ("[" * 100_000, "7", '{"claims": [3], "parameters": {"runs": 1}}', '{"claims": 3, "parameters": []}'):
        (store.folder / "summary.json").write_text(text)
        assert collect(store.folder).claims is None


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"episodes": "2"}, "episodes"), ({"edges": "none"}, "edges"), ({"episodes": 3}, "does not describe the cell")],
)
def test_a_mark_that_is_not_that_of_the_papers_cells_is_refused(tmp_path, changes, words):
    experiment = PaperExperiment(1, 2)
    store = keep(tmp_path / "a", experiment.cells(), identity=experiment.identity())
    told = json.loads((store.folder / MARK).read_text())
    (store.folder / MARK).write_text(json.dumps({**told, **changes}))
    with pytest.raises(ValueError, match=words):
        collect(store.folder)


@pytest.mark.parametrize(
    ("change", "words"), [("another", "was changed while it was being read"), ("link", "is a link, not a file")]
)
def test_a_page_is_made_of_the_histories_that_were_checked(tmp_path, monkeypatch, change, words):
    store = keep(tmp_path / "a", cells(runs=2))
    rank, (one, other, *_) = folder_report.leaderboard, map(store.history, store.cells)

    def change_afterwards(folder):
        board = rank(folder)
        if change == "link":
            one.rename(tmp_path / "away.parquet")
            one.symlink_to(tmp_path / "away.parquet")
        else:
            one.write_bytes(other.read_bytes())
        return board

    monkeypatch.setattr(folder_report, "leaderboard", change_afterwards)
    with pytest.raises(ValueError, match=words):
        collect(store.folder)


def test_a_device_is_said_to_be_one(tmp_path, capfd):
    assert run(["report", "/dev/zero", "--out", str(tmp_path / "page.html")]) == 2
    assert "'/dev/zero' is a pipe, a socket or a device, not a file" in capfd.readouterr().err
