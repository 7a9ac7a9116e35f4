"""Which parameters vary over the cells of an experiment.

What is known from elsewhere does not vary: the parameters of a world are compared within worlds of the same name, those
of an agent within agents of the same name in the same world.  So an agent that is told the separation of each of
several worlds does not vary in it, and a sweep over worlds shows as ``world.separation`` alone.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from aomultirl import descriptions

if TYPE_CHECKING:
    from aomultirl.experiments.cells import Cell


def varying(cells: "Iterable[Cell | Mapping[str, Any]]") -> list[dict[str, Any]]:
    """For every cell, or specification of one, what sets it apart from the others: ``{"world.edges": "stay", ...}``.

    The keys are ``world``, ``stream`` and ``agent`` for names, ``world.NAME`` and so on for parameters,
    ``agent.learner.NAME`` for parameters of what is itself made by name, ``episodes`` and ``seed``; the number of the
    run and the label are left out, and so is a parameter that a cell was not given.

    Examples
    --------
    >>> grid = {"name": "gridworld", "parameters": {}}
    >>> told = [{"name": "Recall", "parameters": {"failure": 0.03, "horizon": horizon}} for horizon in (500, 1000)]
    >>> varying([{"world": grid, "agent": agent, "episodes": 60} for agent in told])
    [{'agent.horizon': 500}, {'agent.horizon': 1000}]
    """
    described = [cell if isinstance(cell, Mapping) else vars(cell) for cell in cells]
    rows = [_flat(cell) for cell in described]
    names = {name for row in rows for name in row}
    values: dict[tuple[str, str], set[str]] = defaultdict(set)
    for cell, row in zip(described, rows, strict=True):
        groups = _groups(cell)
        for name in names:
            part = name.partition(".")[0] if "." in name else ""
            if not part or part in groups:
                values[name, groups.get(part, "")].add(descriptions.text(row[name]) if name in row else "")
    apart = {name for (name, _), found in values.items() if len(found) > 1}
    return [{name: value for name, value in row.items() if name in apart} for row in rows]


def _flat(cell: Mapping[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for part in ("world", "stream", "agent"):
        if part in cell:
            row |= _flat_part(part, cell[part])
    return row | {name: cell[name] for name in ("episodes", "seed") if name in cell}


def _flat_part(key: str, described: Mapping[str, Any]) -> dict[str, Any]:
    """The name and the parameters of one thing, and of the things that are parameters of it."""
    row: dict[str, Any] = {key: described["name"]}
    for name, value in described["parameters"].items():
        place = f"{key}.{name}"
        row |= _flat_part(place, value) if descriptions.is_description(value) else {place: value}
    return row


def _groups(cell: Mapping[str, Any]) -> dict[str, str]:
    """Within which cells the parameters of each part are compared."""
    groups = {part: str(cell[part]["name"]) for part in ("world", "stream", "agent") if part in cell}
    if "agent" in groups and "world" in groups:
        groups["agent"] += descriptions.text(cell["world"])
    return groups
