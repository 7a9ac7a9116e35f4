"""Grid worlds drawn: an optimal policy in each, and the pairs that tell the worlds apart."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from aomultirl import checks, files
from aomultirl.mdp import MDP, ModelSet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("png", "svg", "pdf")
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
    _check_path(path)


def _check_drawable(models: ModelSet) -> None:
    if any(world.layout is None or world.n_actions != 4 for world in models):
        raise ValueError("only grid worlds with the four moves can be drawn")


def _check_path(path: Path) -> str:
    """The format that the name asks for."""
    kind = path.suffix.lstrip(".").lower()
    if kind not in FORMATS:
        raise ValueError(f"{path.name!r} does not end in a format for figures: .png, .svg, .pdf")
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {str(path.parent)!r} to write {path.name!r} in")
    return kind


def save(figure: "Figure", path: Path, dpi: int = 200) -> None:
    """Write the figure under a temporary name and rename it, so that no half-written file is ever left.

    The file holds no date and no random names: the same figure gives the same bytes.
    """
    from matplotlib import rc_context

    kind = _check_path(path)
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    with files.whole(path) as partial, rc_context({"svg.hashsalt": "aomultirl", "pdf.fonttype": 42}):
        figure.savefig(partial, format=kind, dpi=dpi, metadata=undated)
