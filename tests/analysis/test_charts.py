"""The record of a chart: what has a place in its legend, and curves that lie decades away from all points."""

import math

import pytest

from aomultirl.analysis.charts import Chart, Series, Subject, beside, entries

TIMES = "\u00d7"
X = [1.0, 10.0]
POINTS = Series("points", X, [3.0, 30.0], [2.0, 20.0], [4.0, 40.0])


def theory(*heights, label="bound"):
    return [Series(f"{label} {i}", X, [height, 2.0 * height], kind="theory") for i, height in enumerate(heights)]


def figure(*series, **more):
    return Chart("name", "Title", "K", "regret", [POINTS, *series], caption="Two worlds.", to_scale=False, **more)


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
    assert Chart("name", "Title", "x", "y", []).to_scale
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


def test_a_fit_belongs_to_the_points_of_its_subject_whatever_the_labels_say():
    fit = Series("points: slope 1", X, [3.0, 30.0], kind="fit")
    (apart, alone) = entries(figure(fit))
    assert (apart.line, alone.points) == (None, None)
    (together,) = entries(figure(fit._replace(subject=Subject("points"))))
    assert (together.label, together.points) == ("points: slope 1", POINTS)
    assert len(entries(figure(fit._replace(subject=Subject("points", configuration="another"))))) == 2
    (first, second) = entries(figure(*[fit._replace(subject=Subject("points"))] * 2))
    assert (first.line, second.points) == (fit._replace(subject=Subject("points")), None)
