"""What changes with a parameter: every agent against each number that varies in a sweep, all else being fixed.

A parameter that others determine, such as the separation that an agent is told of each world, has no view of its own.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from aomultirl import descriptions
from aomultirl.analysis.leaderboard import AgentLine, Leaderboard, ProblemTable
from aomultirl.experiments.cell_differences import varying

NOT_NUMBERS = ("seed", "rng")
"""Parameters whose values are numbers, and mean nothing by their size."""
DECADE = 10.0
"""Ratio of the largest to the least value above which an axis is logarithmic."""
ROOM = 0.12
"""The share of an axis that the label of a tick takes."""
MOST_CONFIGURATIONS, MOST_RUNS = 12, 10
"""Of a sweep, on the charts of single runs."""
Row = Mapping[str, Any]


class Curve(NamedTuple):
    """An agent in a view.

    name: what legends call it.
    points: (value of the parameter, line of the leaderboard), by value.
    level: the agent does not have the parameter, so it is one line at the least and the largest value.
    """

    name: str
    points: list[tuple[float, AgentLine]]
    level: bool = False


class View(NamedTuple):
    """Every agent against one number, all else fixed.

    parameter: the path of the number, such as "world.separation".
    fixed: the other parameters that vary, in words.
    curves: one an agent.
    unequal: episodes are not equally long.
    world, besides: what is fixed of the world, and what else is, in words; views that differ in the world alone belong
        side by side.
    """

    parameter: str
    fixed: str
    curves: list[Curve]
    unequal: bool
    world: str = ""
    besides: str = ""

    @property
    def axis(self) -> str:
        """What the parameter is, in words."""
        part, _, name = self.parameter.rpartition(".")
        return f"{name} of the {part}" if part else {"episodes": "episodes K"}.get(name, name)

    @property
    def title(self) -> str:
        return f"{self.axis}, with {self.fixed}" if self.fixed else self.axis

    @property
    def shared(self) -> str:
        """The title without the world: what views that belong side by side have in common."""
        return f"{self.axis}, with {self.besides}" if self.besides else self.axis

    @property
    def is_log(self) -> bool:
        """The values span more than a decade."""
        return spans_decades(self.values)

    @property
    def values(self) -> list[float]:
        """Of the parameter."""
        return sorted({x for curve in self.curves for x, _ in curve.points})

    @property
    def ticks(self) -> list[float]:
        """The values, where an axis has room for all of them; nothing otherwise."""
        places = [math.log(x) if self.is_log else x for x in self.values]
        room = min(after - before for before, after in pairwise(places)) / (places[-1] - places[0])
        return self.values if room >= ROOM else []


class NamedAgents(NamedTuple):
    """The agents of one problem, to be compared by their names.

    apart: what tells the problem apart from the others, in words; empty where there is one.
    lines: of the leaderboard, the best first.
    episodes: that count.
    unequal: they are not equally long.
    """

    apart: str
    lines: Sequence[AgentLine]
    episodes: int
    unequal: bool


def by_name(board: Leaderboard) -> list[NamedAgents]:
    """The agents of every problem, for sweeps in which names vary and no number does."""
    words = problems_apart(board.tables)
    return [
        NamedAgents(apart, table.lines, table.problem.episodes, table.ranking != "total_reward")
        for apart, table in zip(words, board.tables, strict=True)
    ]


def spans_decades(values: Iterable[float]) -> bool:
    """All are positive, and the largest is more than ten times the least."""
    found = list(values)
    return bool(found) and min(found) > 0.0 and max(found) > DECADE * min(found)


def views(board: Leaderboard) -> list[View]:
    """One for each parameter and each way to fix the others; none where no number varies."""
    rows = _rows(board.tables)
    names = independent(rows)
    found: list[View] = []
    for name in filter(lambda name: is_number(rows, name), names):
        found += _over_problems(name, board.tables, rows, [other for other in names if other != name])
    for table, row in zip(board.tables, rows, strict=True):
        found += _over_agents(table, row, names)
    order = list(dict.fromkeys(view.parameter for view in found))
    return sorted(found, key=lambda view: order.index(view.parameter))


def side_by_side(found: Sequence[View]) -> list[list[View]]:
    """The views in groups that differ in nothing but the world."""
    groups: dict[tuple[str, str], list[View]] = {}
    for view in found:
        groups.setdefault((view.parameter, view.besides), []).append(view)
    return list(groups.values())


def chosen_runs(board: Leaderboard) -> tuple[list[tuple[ProblemTable, AgentLine]], str]:
    """The configurations that a page shows run by run, and a sentence on what it leaves out; empty if nothing."""
    tables = board.tables
    total = sum(len(table.lines) for table in tables)
    widest = max(len(table.lines) for table in tables)
    few = len(tables) if total <= MOST_CONFIGURATIONS else min(len(tables), max(1, MOST_CONFIGURATIONS // widest))
    each = widest if total <= MOST_CONFIGURATIONS else MOST_CONFIGURATIONS // few
    places = dict.fromkeys(np.linspace(0, len(tables) - 1, few).round().astype(int).tolist())
    chosen = [(tables[place], line) for place in places for line in tables[place].lines[:each]]
    most = max(len(line.cells) for _, line in chosen)
    parts = []
    if len(chosen) < total:
        parts.append(f"{len(chosen)} of {total:,} configurations")
        if few < len(tables):
            parts[-1] += f", from {few} of {len(tables):,} problems"
        if each < widest:
            parts[-1] += f", the best {each} of a problem"
    if most > MOST_RUNS:
        parts.append(f"the first {MOST_RUNS} of {most:,} runs")
    shown = " and ".join(parts)
    return chosen, f"What follows shows {shown}; the leaderboard and the sweep's charts are of all." if parts else ""


def problems_apart(tables: Sequence[ProblemTable]) -> list[str]:
    """For every table, what tells its problem apart from the others, in words."""
    rows = _rows(tables)
    names = independent(rows)
    return [_fixed(row, names) for row in rows]


def _rows(tables: Sequence[ProblemTable]) -> list[dict[str, Any]]:
    parts = ("world", "stream", "episodes", "seed")
    return varying([{name: getattr(table.problem, name) for name in parts} for table in tables])


def _over_problems(
    name: str, tables: Sequence[ProblemTable], rows: Sequence[Row], others: Sequence[str]
) -> Iterator[View]:
    grouped: dict[str, list[tuple[float, ProblemTable, Row]]] = {}
    for table, row in zip(tables, rows, strict=True):
        if name in row:
            key = descriptions.text([row.get(other) for other in others])
            grouped.setdefault(key, []).append((float(row[name]), table, row))
    for group in grouped.values():
        curves: dict[str, list[tuple[float, AgentLine]]] = {}
        for value, table, _ in sorted(group, key=lambda one: one[0]):
            for line in table.lines:
                curves.setdefault(line.label, []).append((value, line))
        if any(len(points) > 1 for points in curves.values()):
            unequal = any(table.ranking != "total_reward" for _, table, _ in group)
            drawn = [Curve(*item) for item in curves.items()]
            yield View(name, _fixed(group[0][2], others), drawn, unequal, *_parts(group[0][2], others))


def _over_agents(table: ProblemTable, row: Row, fixed: Sequence[str]) -> Iterator[View]:
    """Of agents that differ in a number in the same problem; the others are level."""
    parts = [descriptions.named(line.label, line.agent["parameters"]) for line in table.lines]
    kept = {base: independent([shown for own, shown in parts if own == base]) for base, _ in parts}
    for name in dict.fromkeys(name for names in kept.values() for name in names):
        curves: dict[str, list[tuple[float, AgentLine]]] = {}
        alone: list[AgentLine] = []
        for line, (base, shown) in zip(table.lines, parts, strict=True):
            if name not in kept[base] or not _is_number(shown.get(name)):
                alone.append(line)
                continue
            others = {other: shown[other] for other in shown if other in kept[base] and other != name}
            curves.setdefault(descriptions.label(base, others), []).append((float(shown[name]), line))
        values = sorted(value for points in curves.values() for value, _ in points)
        if name in NOT_NUMBERS or not any(len(points) > 1 for points in curves.values()):
            continue
        drawn = [Curve(label, sorted(points, key=lambda one: one[0])) for label, points in curves.items()]
        drawn += [Curve(line.label, [(values[0], line), (values[-1], line)], level=True) for line in alone]
        unequal = table.ranking != "total_reward"
        yield View(f"agent.{name}", _fixed(row, fixed), drawn, unequal, *_parts(row, fixed))


def independent(rows: Sequence[Row]) -> list[str]:
    """The names that those before them do not determine; numbers come before other values, names of things first."""
    names = dict.fromkeys(name for row in rows for name in row)
    ordered = sorted(names, key=lambda name: (name not in ("world", "stream"), not is_number(rows, name)))
    kept: list[str] = []
    for name in ordered:
        values: dict[str, set[str]] = {}
        for row in rows:
            key = descriptions.text([row.get(other) for other in kept])
            values.setdefault(key, set()).add(descriptions.text(row.get(name)))
        if any(len(several) > 1 for several in values.values()):
            kept.append(name)
    return kept


def is_number(rows: Sequence[Row], name: str) -> bool:
    """All values are numbers whose size means something."""
    return name.rpartition(".")[2] not in NOT_NUMBERS and all(_is_number(row[name]) for row in rows if name in row)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _parts(row: Row, names: Sequence[str]) -> tuple[str, str]:
    """What is fixed of the world, and what else is, in words."""
    of_world = [name for name in names if name.partition(".")[0] == "world"]
    return _fixed(row, of_world), _fixed(row, [name for name in names if name not in of_world])


def _fixed(row: Row, names: Iterable[str]) -> str:
    return descriptions.words({name.removeprefix("world."): row[name] for name in names if name in row})
