import time

import numpy as np
import pytest

from aomultirl.reports import curves_figure, figure_files, looks

NAMES = ["Optimal", "AOMultiRL", "Two-stage AOMultiRL", "One-episode UCBVI", "Random"]


def example(runs=10, episodes=200, seed=0):
    """Five agents whose curves run close together here and there."""
    rng = np.random.default_rng(seed)
    levels = dict(zip(NAMES, (139.0, 128.0, 127.5, 96.0, 24.0), strict=True))
    counts = np.arange(1, episodes + 1)
    return {
        name: np.cumsum(rng.normal(level, 12.0, (runs, episodes)), axis=1) / counts for name, level in levels.items()
    }


def lines_of(figure):
    return [line for line in figure.axes[0].lines if line.get_label() in NAMES]


def bands_of(figure):
    return [band for band in figure.axes[0].collections if band.get_label().endswith("band")]


def bounds_of(band):
    """(low, high) at each episode."""
    corners = band.get_paths()[0].vertices
    episodes = np.unique(corners[:, 0])
    both = [corners[corners[:, 0] == episode, 1] for episode in episodes]
    return np.array([side.min() for side in both]), np.array([side.max() for side in both])


def test_curves_can_be_told_apart_in_grey():
    figure = curves_figure.draw_curves(example())
    lines = lines_of(figure)
    assert [line.get_label() for line in lines] == NAMES
    looks = {(str(line._unscaled_dash_pattern), line.get_marker()) for line in lines}
    assert len(looks) == 5
    assert len({line.get_marker() for line in lines}) == 5
    assert len({line.get_color() for line in lines}) == 5
    assert len({line.get_markevery()[0] for line in lines}) == 5


def test_the_figure_names_the_papers_metric():
    assert curves_figure.draw_curves(example()).axes[0].get_ylabel() == "Average per-episode reward (APER)"


def test_every_style_is_of_its_own():
    for field in ("colour", "dashes", "marker"):
        assert len({getattr(look, field) for look in looks.AGENTS}) >= len(looks.AGENTS) - 1


def test_lines_are_means_and_bands_bracket_them():
    curves = example()
    figure = curves_figure.draw_curves(curves)
    for line, band, table in zip(lines_of(figure), bands_of(figure), curves.values(), strict=True):
        np.testing.assert_array_equal(line.get_xdata(), np.arange(1, 201))
        np.testing.assert_allclose(line.get_ydata(), table.mean(axis=0))
        low, high = bounds_of(band)
        assert (low <= line.get_ydata()).all()
        assert (high >= line.get_ydata()).all()
        assert (low > table.min(axis=0)).all()
        assert (high < table.max(axis=0)).all()


def test_one_run_has_no_band():
    figure = curves_figure.draw_curves(example(runs=1))
    assert len(lines_of(figure)) == 5
    assert bands_of(figure) == []


def test_curves_may_begin_late_and_end_early():
    curves = example()
    curves["Random"][:, :20] = np.nan
    curves["Random"][3, :30] = np.nan
    curves["AOMultiRL"] = curves["AOMultiRL"][:, :150]
    lines = lines_of(curves_figure.draw_curves(curves))
    assert lines[4].get_xdata()[0] == 31
    assert np.isfinite(lines[4].get_ydata()).all()
    assert lines[1].get_xdata()[-1] == 150


def test_names_never_overlap():
    curves = {name: np.full((2, 30), 10.0 + 0.01 * i) for i, name in enumerate(NAMES)}
    figure = curves_figure.draw_curves(curves, marks={5: "one", 6: "another one", 20: "third"}, title="all the same")
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure.set_dpi(300)
    renderer = FigureCanvasAgg(figure).get_renderer()
    texts = [text for text in [*figure.texts, *figure.axes[0].texts] if text.get_text()]
    boxes = [text.get_window_extent(renderer) for text in texts]
    assert len(boxes) == 9
    width, height = figure.get_size_inches() * figure.dpi
    for i, box in enumerate(boxes):
        assert box.x0 >= 0
        assert box.x1 <= width
        assert box.y0 >= 0
        assert box.y1 <= height
        for other in boxes[:i]:
            assert not box.overlaps(other)


def test_spread_keeps_order_and_distance():
    wanted, sizes = np.array([50.0, 10.0, 51.0, 99.0]), np.array([10.0, 10.0, 20.0, 10.0])
    found = curves_figure.spread(wanted, sizes, 100.0)
    np.testing.assert_allclose(found, [43.0, 10.0, 58.0, 99.0])
    np.testing.assert_allclose(curves_figure.spread(np.array([0.0, 0.0]), np.array([10.0, 10.0]), 50.0), [0.0, 10.0])
    np.testing.assert_allclose(curves_figure.spread(np.array([50.0, 50.0]), np.array([10.0, 10.0]), 50.0), [40.0, 50.0])


def test_the_same_data_give_the_same_bytes_in_every_format(tmp_path, monkeypatch):
    written = []
    for folder, moment in (("a", "1000000000"), ("b", "1500000000")):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", moment)
        (tmp_path / folder).mkdir()
        figure = curves_figure.draw_curves(example(3, 20), marks={10: "$m_4$ appears"}, title="Twice")
        paths = figure_files.save_all(figure, tmp_path / folder, "curves")
        assert sorted(p.name for p in paths) == sorted(p.name for p in (tmp_path / folder).iterdir())
        written.append({kind: (tmp_path / folder / f"curves.{kind}").read_bytes() for kind in figure_files.FORMATS})
    assert len(written[0]) == 3
    assert written[0] == written[1]


def test_size_for_print(tmp_path):
    from PIL import Image

    figure_files.save_all(curves_figure.draw_curves(example(2, 20)), tmp_path, "figure")
    with Image.open(tmp_path / "figure.png") as image:
        assert image.size == (1020, 750)


def test_fast_enough():
    curves = example()
    curves_figure.draw_curves(curves)
    before = time.process_time()
    curves_figure.draw_curves(curves)
    assert time.process_time() - before < 0.5


@pytest.mark.parametrize(
    ("curves", "message"),
    [
        ({}, "curves is empty: there is nothing to draw"),
        ({"a": [1.0, 2.0]}, r"curves\['a'\] must be numbers of shape \(runs, episodes\), not float64 of shape \(2,\)"),
        ({"a": [["x"]]}, r"curves\['a'\] must be numbers of shape \(runs, episodes\), not str"),
        ({"a": [[1.0, np.nan, 2.0]]}, r"curves\['a'\]\[0, 1\] is nan: only the first may be nan"),
        ({"a": [[1.0, np.inf]]}, r"curves\['a'\]\[0, 1\] is inf: only the first may be nan"),
        ({"a": [[1.0], [np.nan]]}, r"curves\['a'\] has a run without any number"),
        ({str(i): [[1.0]] for i in range(9)}, "curves has 9 agents, but only 8 can be told apart in grey"),
    ],
)
def test_bad_curves(curves, message):
    with pytest.raises(ValueError, match=message):
        curves_figure.draw_curves(curves)


def test_bad_options():
    curves = {"a": np.ones((2, 5))}
    with pytest.raises(ValueError, match="level must be below 1, not 1"):
        curves_figure.draw_curves(curves, level=1.0)
    with pytest.raises(ValueError, match="a mark must be between 0 and 5, not 6"):
        curves_figure.draw_curves(curves, marks={6: "late"})
