"""Curves of the paper that lie decades away from all points, in print and on the page."""

import math

import pytest

from aomultirl.experiments.lower_bounds.findings import Figure, Findings, Series
from aomultirl.reports import lower_bounds_figures
from aomultirl.reports.lower_bounds_page import make_page
from aomultirl.reports.lower_bounds_scaling import beside
from pages import content

TIMES = "\u00d7"
X = [1.0, 10.0]
POINTS = Series("points", X, [3.0, 30.0], [2.0, 20.0], [4.0, 40.0])


def theory(*heights, label="bound"):
    return [Series(f"{label} {i}", X, [height, 2.0 * height], kind="theory") for i, height in enumerate(heights)]


def figure(*series, **more):
    return Figure("name", "Title", "K", "regret", [POINTS, *series], caption="Two worlds.", to_scale=False, **more)


def labels(moved):
    return [one.label for one in moved.series[1:]]


def test_a_far_curve_is_moved_and_says_so():
    moved = beside(figure(*theory(2e6)))
    assert moved.series[0] is POINTS
    (curve,) = moved.series[1:]
    assert curve.label == f"bound 0, drawn {TIMES} 10^-4"
    assert curve.y == pytest.approx([200.0, 400.0])
    assert moved.caption.startswith(
        f"Two worlds. Not to scale: what is drawn {TIMES} 10^-4 is at least 10^4 times the highest"
    )


def test_a_far_curve_below_is_moved_up():
    moved = beside(figure(*theory(2e-6)))
    assert labels(moved) == [f"bound 0, drawn {TIMES} 10^5"]
    assert moved.series[1].y == pytest.approx([0.2, 0.4])
    assert f"what is drawn {TIMES} 10^5 is at most 10^-5 times the lowest point" in moved.caption


@pytest.mark.parametrize("height", [2900.0, 31.0, 5.0, 0.0, math.nan, math.inf, 1.0, 0.016])
def test_a_curve_within_two_decades_of_the_points_or_without_a_place_stays(height):
    given = figure(*theory(height))
    assert beside(given) == given


def test_what_is_to_scale_stays_and_so_do_fits():
    given = figure(*theory(1e9))._replace(to_scale=True)
    assert beside(given) is given
    assert Figure("name", "Title", "x", "y", []).to_scale
    fit = figure(Series("points: slope 1", X, [1e9, 1e9], kind="fit"))
    assert beside(fit) == fit
    empty = figure(*theory(1e9))._replace(series=theory(1e9))
    assert beside(empty) == empty


def test_curves_share_a_factor_and_keep_their_order():
    assert labels(beside(figure(*theory(3.1e4, 2.9e4)))) == [
        f"bound 0, drawn {TIMES} 10^-2",
        f"bound 1, drawn {TIMES} 10^-2",
    ]
    both = beside(figure(*theory(4e4, 1e-7)))
    assert labels(both) == [f"bound 0, drawn {TIMES} 10^-3", f"bound 1, drawn {TIMES} 10^7"]
    heights = [60.0, 2e4, 5e6, 6e6, 8e13]
    moved = beside(figure(*theory(*heights))).series[1:]
    drawn = [one.y[0] for one in moved]
    assert drawn == sorted(drawn)
    assert moved[0].y[0] == 60.0
    assert max(later / sooner for sooner, later in zip([30.0, *drawn], drawn, strict=False)) < 200.0


def test_print_and_page_have_the_moved_curve():
    given = figure(*theory(2e6))
    drawn = lower_bounds_figures.draw(given)
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == ["points", f"bound 0, drawn {TIMES} 10⁻⁴"]
    assert drawn.axes[0].get_ylim()[1] < 1000.0
    page = make_page(Findings([], [given]), quick=True, seed=0)
    assert f"<p>Two worlds. Not to scale: what is drawn {TIMES} 10⁻⁴ is at least 10⁴ times the highest point" in page
    assert f"theory, bound 0, drawn {TIMES} 10⁻⁴, 200 at 1 and 400 at 10" in page
    (trace,) = [one for one in content(page)["charts"][0]["views"][""]["data"] if one["mode"] == "lines"]
    assert (trace["name"], trace["y"]) == (f"bound 0, drawn {TIMES} 10⁻⁴", [200, 400])
