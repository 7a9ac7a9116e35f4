"""Grid worlds drawn: an optimal policy in each, and the pairs that tell the worlds apart."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from aomultirl import checks
from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet
from aomultirl.reports import figure_files

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ARROWS = ((-1.0, 0.0), (1.0, 0.0), (0.0, -1.0), (0.0, 1.0))
"""Left, right, up, down, with the vertical axis pointing down."""


def draw_grids(models: ModelSet, pairs: Sequence[tuple[int, int]], horizon: int = 200) -> "Figure":
    """One panel a world: first action of an optimal policy, values as shades, the pairs ``pairs`` marked.

    Parameters
    ----------
    pairs
        (state, action), drawn in every panel as a triangle at the side of the cell that the action aims at.
    horizon
        H of the policy.
    """
    from matplotlib.figure import Figure

    checks.integer("horizon", horizon, least=1)
    _check_drawable(models)
    columns = min(len(models), 4)
    rows = -(-len(models) // columns)
    figure = Figure(figsize=(3.1 * columns, 3.3 * rows + 0.5), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for number, (world, panel) in enumerate(zip(models, axes, strict=False), 1):
        _draw_world(panel, world, pairs, horizon)
        panel.set_title(f"$m_{{{number}}}$   $V^* = {world.optimal_values(horizon)[0] @ world.start_distribution:.1f}$")
    for panel in axes[len(models) :]:
        panel.set_axis_off()
    figure.supxlabel(
        f"arrows: optimal first action, H = {horizon}; shade: value; $\\bigstar$ reward 1; $\\circ$ start; "
        "orange: distinguishing pair",
        fontsize=9,
    )
    return figure


def _draw_world(panel: "Axes", world: MDP, pairs: Sequence[tuple[int, int]], horizon: int) -> None:
    assert world.layout is not None
    rows, columns = world.layout
    values = world.optimal_values(horizon)[0].reshape(world.layout)
    panel.imshow(values, cmap="Greys", vmin=values.min() - 0.1 * np.ptp(values), vmax=values.max() + np.ptp(values))
    panel.set_xticks(np.arange(columns + 1) - 0.5, labels=[])
    panel.set_yticks(np.arange(rows + 1) - 0.5, labels=[])
    panel.tick_params(length=0)
    panel.grid(color="white", linewidth=1.2)
    for side in panel.spines.values():
        side.set_visible(False)
    actions = world.optimal_policy(horizon)[0]
    shaft = max(0.006, 0.028 / max(rows, columns))
    for state in range(world.n_states):
        row, column = divmod(state, columns)
        right, down = ARROWS[actions[state]]
        panel.quiver(
            column - 0.25 * right,
            row - 0.25 * down,
            0.5 * right,
            0.5 * down,
            angles="xy",
            scale_units="xy",
            scale=1,
            width=shaft,
            color="#1f4e79",
        )
        if world.rewards[state].any():
            panel.plot(column + 0.33, row - 0.33, marker="*", color="black", markersize=24 / max(rows, 3))
        if world.start_distribution[state] > 0.0:
            panel.plot(column, row, marker="o", fillstyle="none", color="black", markersize=90 / max(rows, 3))
    for state, action in pairs:
        row, column = divmod(state, columns)
        right, down = ARROWS[action]
        panel.plot(
            column + 0.38 * right,
            row + 0.38 * down,
            marker="<>^v"[action],
            color="#f28e1c",
            markeredgecolor="black",
            markersize=52 / max(rows, columns),
        )


def check(models: ModelSet, path: Path) -> None:
    """Refuse, before anything is computed, what cannot be drawn or written."""
    _check_drawable(models)
    figure_files.check_path(path)


def _check_drawable(models: ModelSet) -> None:
    if any(world.layout is None or world.n_actions != 4 for world in models):
        raise ValueError("only grid worlds with the four moves can be drawn")
