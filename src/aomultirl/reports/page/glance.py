"""Every agent at a glance: what it earned first, then the paper's metric, what it lost, and what it proved or believed.

Where agents' episodes are not equally long, reward and regret are those of a step, as in the leaderboard.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from aomultirl.analysis import phrases
from aomultirl.analysis.intervals import Span
from aomultirl.analysis.measures import MEASURES, UNEQUAL, has_ends
from aomultirl.experiments.history import History
from aomultirl.reports.page.agent_summaries import mean_over_runs
from aomultirl.reports.page.comparison_charts import regret_after
from aomultirl.reports.page.episode_curves import RECENT, Floats, earned, is_evaluated, metric, steps_of
from aomultirl.reports.page.groups import Group


def glance(groups: Sequence[Group]) -> dict[str, Any]:
    """What a reader wants to know of an agent first: headings, and a row for each, None for what says nothing."""
    by_steps = per_step(groups)
    rows = [_row(one, by_steps) for one in groups]
    hidden = set() if any(row["metric"] for row in rows) else {"metric"}
    if not unequal_steps(groups):
        hidden.add("steps")
    hidden |= {"abstained"} if any(row["believed_only"] for row in rows) else {"believed_only", "in_doubt"}
    hidden |= set() if any(row["abstained"] for row in rows) else {"abstained"}
    headings = _headings("a step" if by_steps else "an episode")
    shown = [name for name in headings if name not in hidden]
    return {"headings": [headings[name] for name in shown], "rows": [[row[name] for name in shown] for row in rows]}


def _headings(unit: str) -> dict[str, str]:
    """The columns in their order, and what they are called."""
    return {
        "agent": "agent",
        "earned": f"reward {unit}",
        "lately": f"in the last {RECENT} episodes",
        "metric": "the paper's metric (APER)",
        "steps": MEASURES["steps"],
        "regret": MEASURES["regret_per_step"] if unit == "a step" else "regret",
        "clusters": "clusters",
        "misclustered": "misclustered",
        "abstained": MEASURES["abstained"],
        "believed_only": MEASURES["believed_only"],
        "in_doubt": MEASURES["in_doubt"],
        "failed": "failed explorations",
        "runs": "runs",
        "episodes": "episodes",
    }


def _row(one: Group, by_steps: bool) -> Mapping[str, Any]:
    histories = list(one.runs.values())
    clusters = [int(run.history["cluster"].max()) + 1 for run in one.given.values()]
    abstained, believed, doubt = (
        sum(int(happened.sum()) for happened in each)
        for each in zip(*((h["abstained"], h.believed_only, h.in_doubt) for h in histories), strict=True)
    )
    recognises, has_beliefs = bool(max(clusters) or abstained), any((h["taken_for"] >= 0).any() for h in histories)
    failed = sum(int((~history["exploration_ok"]).sum()) for history in histories)
    wrong = sum(int(history["misclustered"].sum()) for history in histories)
    return {
        "agent": one,
        "earned": _at_the_end([earned(history, per_step=by_steps) for history in histories], one),
        "lately": _at_the_end([earned(history, RECENT, per_step=by_steps) for history in histories], one),
        "metric": _at_the_end([metric(history) for history in histories if is_evaluated(history)], one),
        "steps": mean_over_runs([float(steps_of(history)[: one.shared].mean()) for history in histories]),
        "regret": mean_over_runs([_regret(history, one.shared, by_steps) for history in histories]),
        "clusters": mean_over_runs(clusters) if max(clusters) else None,
        "misclustered": wrong if max(clusters) and histories[0]["task"].max() >= 0 else None,
        "failed": failed if max(clusters) else None,
        "abstained": abstained if recognises else None,
        "believed_only": believed if has_beliefs else None,
        "in_doubt": doubt if recognises else None,
        "runs": len(histories),
        "episodes": phrases.span(map(len, histories)),
    }


def _at_the_end(means: Sequence[Floats], one: Group) -> Span | None:
    """The last numbers of running means within the episodes that all runs share, over the runs that have any."""
    known = [values[: one.shared][np.isfinite(values[: one.shared])] for values in means]
    return mean_over_runs([float(values[-1]) for values in known if len(values)])


def _regret(history: History, episodes: int, by_steps: bool) -> float:
    """The regret of so many episodes, or that of a step of them."""
    return regret_after(history, episodes) / (float(steps_of(history)[:episodes].sum()) if by_steps else 1.0)


def unequal_steps(groups: Sequence[Group]) -> dict[str, float]:
    """Steps of an episode in the mean, by agent, where agents differ in it; empty otherwise."""
    steps = {one.label: float(np.mean([steps_of(h).mean() for h in one.runs.values()])) for one in groups}
    return steps if steps and max(steps.values()) > UNEQUAL * min(steps.values()) else {}


def per_step(groups: Sequence[Group]) -> bool:
    """Whether agents are compared by their steps: their episodes are not equally long, and no world ends one."""
    worlds = [one.first.about.get("world") for one in groups]
    return all(world is not None and not has_ends(world) for world in worlds) and bool(unequal_steps(groups))
