"""The folder that the laboratory writes to: what is replaced, what is refused, and what an interrupted write leaves."""

import json
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from aomultirl.analysis.charts import Chart, Series
from aomultirl.analysis.claims import Claim
from aomultirl.analysis.rules import Exactly, computed
from aomultirl.cli import run
from aomultirl.laboratory import groups
from aomultirl.laboratory.findings import Findings
from aomultirl.reports import charts_matplotlib, lower_bounds
from folders import contents


def figure(name):
    return Chart(name, name.title(), "x", "y", [Series("y", [1.0, 10.0], [1.0, 2.0])])


def claim(name):
    return Claim(f"{name} is so", "Section 3", Exactly(1.0), computed(1.0), figure=name)


def found(*names):
    return Findings([claim(name) for name in names], [figure(name) for name in names])


def drawn(*names):
    return {f"figures/{name}.{kind}" for name in names for kind in ("png", "svg")}


def mark(folder):
    return json.loads((folder / "lower_bounds.json").read_text())


@pytest.fixture
def empty_figures():
    """Figures with nothing on them, which takes most of the time, for tests that look at names alone."""
    with pytest.MonkeyPatch.context() as patch:  # one that no test undoes
        patch.setattr(charts_matplotlib, "draw", lambda chart: Figure())
        yield


no_drawing = pytest.mark.usefixtures("empty_figures")
WORDS = {"report.html", "claims.json", "lower_bounds.json"}
OLD, NEW = found("one", "two"), found("two", "three")


def test_the_same_findings_give_the_same_bytes_and_replace_what_was_there(tmp_path):
    lower_bounds.write(OLD, tmp_path, quick=True, seed=3, seconds=1.0)
    before = contents(tmp_path)
    lower_bounds.write(NEW, tmp_path, quick=True, seed=4, seconds=2.0)
    assert mark(tmp_path)["seed"] == 4
    lower_bounds.write(OLD, tmp_path, quick=True, seed=3, seconds=1.0)
    assert contents(tmp_path) == before


@no_drawing
def test_figures_of_an_earlier_run_are_removed_and_nothing_else_is(tmp_path):
    out = tmp_path / "out"
    lower_bounds.write(OLD, out, quick=True, seed=0)
    (out / "figures" / "mine.png").write_text("mine")
    (out / "figures" / "one.txt").write_text("mine, too")
    (out / "notes.txt").write_text("and this")
    lower_bounds.write(NEW, out, quick=False, seed=0)
    assert set(contents(out)) == {*WORDS, *drawn("two", "three"), "figures/mine.png", "figures/one.txt", "notes.txt"}
    assert mark(out)["figures"] == ["two", "three"]


@no_drawing
@pytest.mark.parametrize("figures", ["none", ["../mine", 7, "", "kept", "TMP/mine"], None, {"mine": 1}])
def test_a_mark_that_someone_wrote_removes_nothing_elsewhere(tmp_path, figures):
    if isinstance(figures, list):
        figures = [str(name).replace("TMP", str(tmp_path)) for name in figures]
    out = tmp_path / "out"
    (out / "figures" / "kept.png").mkdir(parents=True)
    for folder in (tmp_path, out):
        (folder / "mine.png").write_text("mine")
    (out / "lower_bounds.json").write_text(json.dumps({"kind": "lower_bounds", "figures": figures}))
    lower_bounds.write(NEW, out, quick=True, seed=0)
    assert set(contents(out)) == {*WORDS, *drawn("two", "three"), "mine.png"}
    assert (tmp_path / "mine.png").read_text() == "mine"
    assert (out / "figures" / "kept.png").is_dir()


@no_drawing
@pytest.mark.parametrize("whole", [0, 5, *(pytest.param(whole, marks=pytest.mark.long) for whole in (1, 2, 7))])
def test_an_interrupted_write_is_still_ours_and_the_next_one_tidies_up(tmp_path, monkeypatch, whole):
    """Interrupted after so many of eight files: the mark twice, claims, page, and two figures twice."""
    lower_bounds.write(OLD, tmp_path, quick=True, seed=0)
    replace, written = Path.replace, []

    def interrupted(path, target):
        if len(written) == whole:
            raise KeyboardInterrupt
        written.append(target)
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        lower_bounds.write(NEW, tmp_path, quick=True, seed=1)
    monkeypatch.undo()
    assert mark(tmp_path).get("unfinished", False) == (whole > 0)
    assert mark(tmp_path)["seed"] == (1 if whole else 0)
    lower_bounds.check(tmp_path, quick=True)
    lower_bounds.write(found("four"), tmp_path, quick=True, seed=2)
    assert set(contents(tmp_path)) == {*WORDS, *drawn("four")}
    assert "unfinished" not in mark(tmp_path)


@no_drawing
def test_a_folder_whose_first_write_was_interrupted_is_ours(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(lower_bounds, "save_figure", interrupted)
    with pytest.raises(KeyboardInterrupt):
        lower_bounds.write(OLD, tmp_path, quick=True, seed=0)
    monkeypatch.undo()
    assert mark(tmp_path)["unfinished"]
    lower_bounds.write(NEW, tmp_path, quick=True, seed=0)
    assert set(contents(tmp_path)) == {*WORDS, *drawn("two", "three")}


@no_drawing
def test_a_quick_run_does_not_replace_a_full_one(tmp_path):
    lower_bounds.write(OLD, tmp_path, quick=False, seed=0)
    before = contents(tmp_path)
    message = r"out is '.*', which holds a full run, and a quick one does not replace it; name another folder or remove"
    with pytest.raises(ValueError, match=message):
        lower_bounds.check(tmp_path, quick=True)
    with pytest.raises(ValueError, match=message):
        lower_bounds.write(NEW, tmp_path, quick=True, seed=0)
    assert contents(tmp_path) == before
    lower_bounds.write(NEW, tmp_path, quick=False, seed=1)
    assert (mark(tmp_path)["seed"], mark(tmp_path)["quick"]) == (1, False)


@no_drawing
def test_the_command_refuses_it_before_anything_is_measured(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(groups, "measure_all", lambda *_, **__: pytest.fail("measured"))
    lower_bounds.write(OLD, tmp_path, quick=False, seed=0)
    assert run(["lower-bounds", "--quick", "--workers", "1", "--out", str(tmp_path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "holds a full run" in " ".join(err.split())


@no_drawing
def test_the_command_records_how_long_it_took(tmp_path, monkeypatch):
    monkeypatch.setattr(groups, "measure_all", lambda *_, **__: OLD)
    assert run(["lower-bounds", "--quick", "--workers", "1", "--out", str(tmp_path)]) == 0
    assert 0.0 <= mark(tmp_path)["seconds"] < 60.0


@no_drawing
def test_a_full_run_replaces_a_quick_one(tmp_path):
    lower_bounds.write(OLD, tmp_path, quick=True, seed=0)
    lower_bounds.check(tmp_path, quick=False)
    lower_bounds.write(NEW, tmp_path, quick=False, seed=0)
    assert mark(tmp_path)["quick"] is False


@no_drawing
@pytest.mark.parametrize("name", ["notes.txt", "lower_bounds.json", "experiment.json"])
@pytest.mark.parametrize("text", ['{"kind": "sweep"}', "[]", "nothing"])
def test_a_foreign_folder_is_refused_and_not_touched(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    before = contents(tmp_path)
    with pytest.raises(ValueError, match=f"out is .*, which holds '{name}' and is not a folder of this laboratory"):
        lower_bounds.write(OLD, tmp_path, quick=True, seed=0)
    assert contents(tmp_path) == before
    assert [path.name for path in tmp_path.iterdir()] == [name]


@no_drawing
def test_places_that_cannot_be_written_are_refused(tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(ValueError, match="which is a file, not a folder"):
        lower_bounds.check(file, quick=True)
    with pytest.raises(ValueError, match=r"but .* is a file"):
        lower_bounds.check(file / "below", quick=True)
    ours = tmp_path / "ours"
    lower_bounds.write(Findings(), ours, quick=True, seed=0)
    (ours / "report.html").unlink()
    (ours / "report.html").mkdir()
    with pytest.raises(ValueError, match=r"in which 'report\.html' is a folder, not a file"):
        lower_bounds.check(ours, quick=True)


@no_drawing
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="only Linux has a folder that nobody can write to")
def test_a_folder_that_nobody_can_write_to_is_refused():
    with pytest.raises(ValueError, match="out is '/proc/new', but '/proc' may not be written to"):
        lower_bounds.check("/proc/new", quick=True)


@no_drawing
def test_a_run_of_some_groups_does_not_replace_others(tmp_path):
    lower_bounds.write(OLD, tmp_path, quick=True, seed=0)
    before = (tmp_path / "lower_bounds.json").read_text()
    for act in (
        lambda: lower_bounds.check(tmp_path, quick=True, only=["coin"]),
        lambda: lower_bounds.write(OLD, tmp_path, quick=False, seed=0, only=["coin"]),
    ):
        with pytest.raises(ValueError, match=r"which holds clustering, .* a run of only coin does not replace that"):
            act()
    assert (tmp_path / "lower_bounds.json").read_text() == before
    lower_bounds.check(tmp_path, quick=False)


@no_drawing
def test_more_groups_replace_fewer(tmp_path):
    lower_bounds.write(OLD, tmp_path, quick=True, seed=0, only=["coin"])
    lower_bounds.check(tmp_path, quick=True, only=["coin"])
    lower_bounds.check(tmp_path, quick=True, only=["coin", "minimax"])
    lower_bounds.check(tmp_path, quick=True)


@no_drawing
@pytest.mark.parametrize("name", ["figures", "report.html", "lower_bounds.json"])
def test_links_in_the_folder_are_refused_and_not_written_through(tmp_path, name):
    mine, out = tmp_path / "mine", tmp_path / "out"
    lower_bounds.write(OLD, out, quick=True, seed=0)
    (out / name).rename(mine)
    (out / name).symlink_to(mine)
    before = contents(mine) if mine.is_dir() else mine.read_bytes()
    with pytest.raises(ValueError, match=f"'{name}' is a link, not a f"):
        lower_bounds.write(NEW, out, quick=True, seed=0)
    assert (contents(mine) if mine.is_dir() else mine.read_bytes()) == before
