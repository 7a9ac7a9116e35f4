import numpy as np
import pytest

import aomultirl as ao
from aomultirl.reports import figure_files, grid_figure


def test_one_panel_a_world_with_policy_and_pairs():
    models = ao.worlds.gridworld()
    pairs = [(1, 0), (8, 3), (2, 1)]
    figure = grid_figure.draw_grids(models, pairs, horizon=200)
    assert len(figure.axes) == 4
    for world, panel in zip(models, figure.axes, strict=True):
        arrows = [c for c in panel.collections if hasattr(c, "U")]
        assert len(arrows) == 16
        moves = [(np.sign(float(a.U[0])), np.sign(float(a.V[0]))) for a in arrows]
        assert moves == [grid_figure.ARROWS[a] for a in world.optimal_policy(200)[0]]
        triangles = {(m.get_marker(), *np.round(m.get_xydata()[0], 2)) for m in panel.lines if m.get_marker() in "<>^v"}
        assert triangles == {("<", 0.62, 0.0), ("v", 0.0, 2.38), (">", 2.38, 0.0)}
        assert sum(m.get_marker() == "*" for m in panel.lines) == 4
        assert f"{world.optimal_values(200)[0, 5]:.1f}" in panel.get_title()


def test_only_grids():
    with pytest.raises(ValueError, match="only grid worlds with the four moves can be drawn"):
        grid_figure.draw_grids(ao.worlds.jao(), [])


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_files_are_whole_and_nothing_else_is_left(tmp_path, kind):
    figure = grid_figure.draw_grids(ao.worlds.gridworld(3), [])
    path = tmp_path / f"grids.{kind}"
    figure_files.save(figure, path)
    assert path.stat().st_size > 1000
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_keeps_the_old_file(tmp_path, monkeypatch):
    figure = grid_figure.draw_grids(ao.worlds.gridworld(3), [])
    path = tmp_path / "grids.png"
    path.write_text("old")

    def fail(name, **_):
        name.write_text("half")
        raise OSError("no space left")

    monkeypatch.setattr(figure, "savefig", fail)
    with pytest.raises(OSError, match="no space left"):
        figure_files.save(figure, path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_bad_names(tmp_path):
    figure = grid_figure.draw_grids(ao.worlds.gridworld(3), [])
    with pytest.raises(ValueError, match=r"'grids\.doc' does not end in a format for figures"):
        figure_files.save(figure, tmp_path / "grids.doc")
    with pytest.raises(ValueError, match="there is no folder"):
        figure_files.save(figure, tmp_path / "missing" / "grids.png")
