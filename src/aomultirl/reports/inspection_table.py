"""A set of worlds as tables: its facts, which of the paper's assumptions hold in it, and the paper's N and H0."""

import math

from aomultirl.analysis.inspection import Inspection
from aomultirl.geometry.reachability import COMPARABLE
from aomultirl.reports.tables import Cell, TextTable, holds

MANY_WORLDS = 8
"""Worlds up to which each is named."""
MANY_PAIRS = 12
"""Pairs of a distinguishing set that are listed."""
NOT_COMPUTED = "not computed, slow for this size; --slow does it"


def tables(inspection: Inspection, name: str) -> list[TextTable]:
    """The facts under ``name``, the assumptions, and the clustering phases where there are any."""
    shown = [_facts(inspection, name), _assumptions(inspection)]
    return [*shown, _phases(inspection)] if inspection.phases else shown


def _facts(inspection: Inspection, name: str) -> TextTable:
    models = inspection.models
    longest = max(int((m.successors.starts[1:] - m.successors.starts[:-1]).max()) for m in models)
    total = sum(len(m.successors.probs) for m in models) // len(models)
    rows = [
        ["states S", f"{models.n_states:,}"],
        ["actions A", f"{models.n_actions:,}"],
        ["worlds M", f"{len(models):,}"],
        ["transitions a world", f"{total:,} (at most {longest} successors a pair)"],
    ]
    if len(models) > 1:
        kind = "smallest" if inspection.smallest else "small (greedy)"
        rows += [
            ["separation lambda", f"{inspection.separation:.6g}"],
            [f"a {kind} distinguishing set", _pairs(inspection.distinguishing_set, "just below lambda")],
            [f"a {kind} one at lambda / 2", _pairs(inspection.half_distinguishing_set, "lambda / 2")],
        ]
    rows += [["diameter", _each(inspection.diameters)], ["greatest hitting time", _each(inspection.hitting_times)]]
    return TextTable(name, ("", ""), rows)


def _assumptions(inspection: Inspection) -> TextTable:
    rows: list[list[Cell]] = []
    if len(inspection.models) > 1:
        apart = inspection.separation > 0.0
        why = f"lambda = {inspection.separation:.6g}" if apart else "two of the worlds are the same"
        rows.append(["the worlds are lambda-separable", holds(apart), why])
    lost = [i + 1 for i, joined in enumerate(inspection.communicating) if not joined]
    why = f"not communicating: {_worlds(lost)}" if lost else _most("D", inspection.diameters)
    rows.append(["1: communicating, finite diameter", holds(not lost), why])
    endless = [i + 1 for i, finite in enumerate(inspection.finite_hitting_times) if finite is False]
    unknown = None in inspection.finite_hitting_times
    avoided = f"some policy avoids a state for ever: {_worlds(endless)}"
    why = avoided if endless else _most("hitting time", inspection.hitting_times)
    rows.append(["2: finite hitting time", holds(False if endless else None if unknown else True), why])
    return TextTable("The paper's assumptions", ("assumption", "holds", "why"), rows)


def _phases(inspection: Inspection) -> TextTable:
    bound = inspection.hitting_time
    words = "unknown" if math.isnan(bound) else "infinite" if math.isinf(bound) else f"{bound:,.6g}"
    setting = f"K = {inspection.episodes}, p = {inspection.failure:g}, hitting time {words}"
    rows = [
        [
            f"S x A, {phase.pairs:,}" if phase.every else f"a smallest set, {phase.pairs}",
            phase.constants,
            f"{phase.samples:,}",
            "no bound known" if phase.horizon is None else f"{phase.horizon:,}",
        ]
        for phase in inspection.phases
    ]
    headings = ("distinguishing set", "constants", "N, samples a pair", "H0, steps")
    return TextTable(f"The paper's clustering phase ({setting})", headings, rows)


def _pairs(pairs: list[tuple[int, int]], level: str) -> str:
    if not pairs:
        return "none"
    listed = ", ".join(f"({s}, {a})" for s, a in pairs[:MANY_PAIRS])
    return f"{len(pairs)}: {listed}{', ...' if len(pairs) > MANY_PAIRS else ''}  (state, action), level {level}"


def _each(values: list[float]) -> str:
    if any(map(math.isnan, values)):
        return NOT_COMPUTED
    times = [_time(value) for value in values]
    if len(set(times)) == 1:
        return times[0] + (" in every world" if len(times) > 1 else "")
    if len(times) > MANY_WORLDS:
        return f"{min(values):,.6g} to {max(values):,.6g}"
    return ", ".join(f"m{i}: {text}" for i, text in enumerate(times, 1))


def _time(value: float) -> str:
    if math.isinf(value):
        return "infinite"
    if value > COMPARABLE:
        return f"about {value:.2g}, too long to compute exactly"
    return f"{value:,.3f}".rstrip("0").rstrip(".")


def _most(name: str, values: list[float]) -> str:
    return f"{name} {NOT_COMPUTED}" if any(map(math.isnan, values)) else f"{name} = {max(values):,.6g}"


def _worlds(numbers: list[int]) -> str:
    return ", ".join(f"m{n}" for n in numbers[:MANY_WORLDS]) + (", ..." if len(numbers) > MANY_WORLDS else "")
