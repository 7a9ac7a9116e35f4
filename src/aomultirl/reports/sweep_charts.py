"""Charts of a sweep: what every agent reached at the end of its runs, against a parameter that varies.

Points are means over runs, with 95 % bootstrap intervals.
"""

from collections.abc import Sequence

import numpy as np

from aomultirl.analysis.charts import Chart, Series, Subject, settled
from aomultirl.analysis.phrases import number
from aomultirl.analysis.sweep_views import Curve, View, spans_decades

MEASURES = {
    "regret": "cumulative exact regret",
    "total_reward": "total reward",
    "identification_steps": "steps identifying",
}
"""What is drawn of a sweep, and what the axes call it."""
PER_STEP = "reward_per_step"
"""What takes the place of the total reward where episodes are not equally long."""


def agent_names(views: Sequence[View]) -> list[str]:
    """The agents of all views; the place of an agent here decides its look."""
    return list(dict.fromkeys(curve.name for view in views for curve in view.curves))


def chart_of(view: View, measure: str, names: Sequence[str]) -> Chart:
    """The agents of these names against the view's parameter; agents of which nothing is known are left out."""
    used = PER_STEP if measure == "total_reward" and view.unequal else measure
    series = [_series(curve, used, names.index(curve.name)) for curve in view.curves if curve.name in names]
    return Chart(
        f"sweep-{measure}",
        f"with {view.fixed}" if view.fixed else "",
        view.axis,
        "reward a step" if used == PER_STEP else MEASURES[measure],
        [one for one in series if len(one.x)],
        log_x=view.is_log,
        log_y=False,
        x_ticks={x: number(x) for x in view.ticks},
    )


def _series(curve: Curve, measure: str, place: int) -> Series:
    points = [(x, line.spans[measure]) for x, line in curve.points if np.isfinite(line.spans[measure].mean)]
    mean, low, high = np.array([span for _, span in points], np.float64).reshape(-1, 3).T
    known = np.isfinite(low).any()
    return Series(
        curve.name,
        [x for x, _ in points],
        settled(mean).tolist(),
        low=low.tolist() if known else (),
        high=high.tolist() if known else (),
        subject=Subject(curve.name, number=place),
        drawn="level" if curve.level else "joined",
    )


def spans_many(chart: Chart) -> bool:
    """Whether the values that are not 0 span decades, so that a logarithmic axis suits them."""
    return spans_decades(y for one in chart.series for y in one.y if y > 0.0)
