"""Learned and optimal first actions of grid worlds, cell by cell."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet
from aomultirl.reports.charts_plotly import plain
from aomultirl.reports.page.episode_curves import Floats
from aomultirl.reports.page.groups import Group, each
from aomultirl.reports.page.run_charts import MOST_CLUSTERS, cluster_name, world_name

MOST_CELLS = 1_024
"""Cells of a grid up to which it is drawn."""
EQUALLY_GOOD = 1e-9
"""Of the horizon: an action that costs less than this is as good as the best."""
DEFAULT_HORIZON = 200
"""Steps that a policy is optimal for, where nobody learned in any."""


def maps(groups: Sequence[Group], shown: Sequence[int], models: Sequence[ModelSet | None]) -> dict[str, Any] | None:
    """The maps of every cluster; None where no worlds are grids or nothing was learned in them.

    Parameters
    ----------
    models
        the worlds of every group.
    """
    grids: list[ModelSet] = []
    for one, mine in zip(groups, models, strict=True):
        learned = any(history.about.get("clusters") for history in one.runs.values())
        if mine is not None and learned and _is_grid(mine) and mine not in grids:
            grids.append(mine)
    if not grids:
        return None
    horizons = [_horizon([one for one, mine in zip(groups, models, strict=True) if mine is grid]) for grid in grids]
    gaps = [[_gaps(world, horizon) for world in grid] for grid, horizon in zip(grids, horizons, strict=True)]
    views = {}
    for key, one, run in each(groups, shown):
        place = next((i for i, grid in enumerate(grids) if grid is models[one.number]), 0)
        clusters = run.history.about.get("clusters") or []
        if models[one.number] is not grids[place]:
            clusters = []
        kept = [cluster for cluster in clusters if len(cluster["plan"]) == grids[place].n_states][:MOST_CLUSTERS]
        words = f"{one.label}, run {run.run}: {_agreement(kept, gaps[place])}"
        views[key] = {"world": place, "clusters": kept, "words": words if kept else f"{one.label}: no maps to show."}
    worlds = [
        {
            "layout": grid[0].layout,
            "horizon": horizon,
            "rewards": plain(grid.rewards.max(axis=1), 3),
            "starts": np.flatnonzero(grid[0].start_distribution).tolist(),
            "gaps": [[plain(row, 2) for row in world] for world in costs],
        }
        for grid, horizon, costs in zip(grids, horizons, gaps, strict=True)
    ]
    return {"worlds": worlds, "views": views}


def _is_grid(models: ModelSet) -> bool:
    return models[0].layout is not None and models.n_actions == 4 and models.n_states <= MOST_CELLS


def _horizon(groups: Sequence[Group]) -> int:
    return max(int(h["learning_steps"].max()) for one in groups for h in one.runs.values()) or DEFAULT_HORIZON


def _gaps(world: MDP, horizon: int) -> Floats:
    """What each first action costs if all later ones are optimal, (S, A); 0 for all that are equally good."""
    later = world.first_values(horizon - 1)
    gains = world.rewards + (world.sparse_transitions @ later).reshape(world.rewards.shape)
    costs = gains.max(axis=1, keepdims=True) - gains
    return np.where(costs <= EQUALLY_GOOD * horizon, 0.0, costs)


def _agreement(clusters: Sequence[dict[str, Any]], gaps: Sequence[Floats]) -> str:
    parts = []
    for number, cluster in enumerate(clusters):
        if not 0 <= cluster["task"] < len(gaps):
            continue
        costs = gaps[cluster["task"]]
        wrong = sum(action >= costs.shape[1] or costs[s, action] > 0.0 for s, action in enumerate(cluster["plan"]))
        parts.append(f"{cluster_name(number)}, world {world_name(cluster['task'])}, {wrong} of {len(costs)} cells")
    return f"cells where the learned action is not optimal: {'; '.join(parts)}." if parts else "learned policies."
