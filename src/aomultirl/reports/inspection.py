"""What there is to know about a set of worlds before any learner sees it.

:func:`inspect` computes it, :func:`show` prints it: sizes, separation, smallest distinguishing sets, diameters and
hitting times, which of the paper's assumptions hold, and the paper's N and H0.
"""

import math
import time
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from aomultirl import checks, theory
from aomultirl.geometry.reachability import COMPARABLE, hitting_time_is_finite
from aomultirl.mdp import MDP, ModelSet

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

T = TypeVar("T")
MANY_WORLDS = 8
NOT_COMPUTED = "not computed, slow for this size; --slow does it"
TIME_LIMIT = 10.0
"""Seconds for each of: a smallest set, all diameters, all hitting times; more only on request."""


class Phase(NamedTuple):
    """The clustering phase for one distinguishing set.  horizon: None where no bound on the hitting time is known."""

    pairs: str
    constants: str
    samples: int
    horizon: int | None


class Inspection(NamedTuple):
    """separation: inf for one world; diameters, hitting_times: one a world, nan where it was not computed.

    finite_hitting_times: one a world, None where that was not found out either.  smallest: False where a
    distinguishing set was chosen greedily, because a smallest one takes too long to find.
    """

    models: ModelSet
    separation: float
    distinguishing_set: list[tuple[int, int]]
    half_distinguishing_set: list[tuple[int, int]]
    smallest: bool
    communicating: list[bool]
    diameters: list[float]
    hitting_times: list[float]
    finite_hitting_times: list[bool | None]
    hitting_time: float
    episodes: int
    failure: float
    phases: list[Phase]


def inspect(
    models: ModelSet,
    *,
    episodes: int = 200,
    failure: float = 0.03,
    hitting_time: float | None = None,
    slow: bool = False,
) -> Inspection:
    """Measure a set of worlds.

    Parameters
    ----------
    episodes, failure
        K and p, for N and H0.
    hitting_time
        D for H0 in place of the exact one.
    slow
        compute diameters and hitting times of worlds so large that it takes minutes.
    """
    checks.integer("episodes", episodes, least=1)
    checks.real("failure", failure, above=0.0, below=1.0)
    if hitting_time is not None:
        hitting_time = checks.real("hitting_time", hitting_time, above=0.0)
    level = models.separation()
    separable = 0.0 < level < math.inf
    half, exact_half = _small_set(models, level / 2.0) if separable else ([], True)
    limit = None if slow else TIME_LIMIT
    finite = _each_in_time(models, limit, lambda m, t: hitting_time_is_finite(m.successors, m.n_states, t))
    times = [math.inf if known is False else math.nan for known in finite]
    if all(finite):
        times = [math.nan if x is None else x for x in _each_in_time(models, limit, MDP.hitting_time)]
    bound = hitting_time if hitting_time is not None else float(np.max(times))
    chosen, exact = _small_set(models, None) if separable else ([], True)
    return Inspection(
        models,
        level,
        chosen,
        half,
        exact and exact_half,
        [m.is_communicating() for m in models],
        [math.nan if x is None else x for x in _each_in_time(models, limit, MDP.diameter)],
        times,
        finite,
        bound,
        episodes,
        failure,
        _phases(models, level, len(chosen), bound, episodes, failure) if separable else [],
    )


def _small_set(models: ModelSet, level: float | None) -> tuple[list[tuple[int, int]], bool]:
    """A smallest distinguishing set and True, or a greedy one and False."""
    try:
        return models.distinguishing_set(level, time_limit=TIME_LIMIT), True
    except TimeoutError:
        return models.distinguishing_set(level, method="greedy"), False


def _each_in_time(models: ModelSet, limit: float | None, measure: Callable[[MDP, float | None], T]) -> list[T | None]:
    """measure(world, seconds left) for every world; None from the first one on that takes too long.

    A time that is too long to be exact is shown as such later, not warned of.
    """
    found: list[T | None] = []
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for world in models:
            left = None if limit is None else begin + limit - time.process_time()
            try:
                found.append(measure(world, left))
            except TimeoutError:
                break
    return found + [None] * (len(models) - len(found))


def _phases(models: ModelSet, level: float, smallest: int, bound: float, episodes: int, failure: float) -> list[Phase]:
    told = models.default_level()
    size = models.n_states, models.n_actions
    phases = []
    for words, pairs in (
        (f"a smallest set, {smallest}", smallest),
        (f"S x A, {size[0] * size[1]:,}", size[0] * size[1]),
    ):
        for constants in ("paper", "released"):
            samples = theory.samples_needed(size[0], pairs, told, episodes, failure, constants)
            horizon = None
            if math.isfinite(bound):
                horizon = theory.clustering_horizon(size[0], pairs, told, bound, episodes, failure, constants)
            phases.append(Phase(words, constants, samples, horizon))
    return phases


def show(found: Inspection, name: str, console: "Console") -> None:
    """Print it as tables."""
    console.print(_facts(found, name))
    console.print(_assumptions(found))
    if found.phases:
        console.print(_clustering(found))


def _facts(found: Inspection, name: str) -> "Table":
    models = found.models
    table = _table(f"[bold]{name}[/bold]", "", "")
    longest = max(int((m.successors.starts[1:] - m.successors.starts[:-1]).max()) for m in models)
    total = sum(len(m.successors.probs) for m in models) // len(models)
    table.add_row("states S", f"{models.n_states:,}")
    table.add_row("actions A", f"{models.n_actions:,}")
    table.add_row("worlds M", f"{len(models):,}")
    table.add_row("transitions a world", f"{total:,} (at most {longest} successors a pair)")
    if len(models) > 1:
        table.add_row("separation lambda", f"{found.separation:.6g}")
        kind = "smallest" if found.smallest else "small (greedy)"
        table.add_row(f"a {kind} distinguishing set", _pairs(found.distinguishing_set, "just below lambda"))
        table.add_row(f"a {kind} one at lambda / 2", _pairs(found.half_distinguishing_set, "lambda / 2"))
    table.add_row("diameter", _each(found.diameters))
    table.add_row("greatest hitting time", _each(found.hitting_times))
    return table


def _assumptions(found: Inspection) -> "Table":
    table = _table("The paper's assumptions", "assumption", "holds", "why")
    yes, no = "[green]yes[/green]", "[red]no[/red]"
    if len(found.models) > 1:
        apart = found.separation > 0.0
        table.add_row(
            "the worlds are lambda-separable",
            yes if apart else no,
            f"lambda = {found.separation:.6g}" if apart else "two of the worlds are the same",
        )
    lost = [i + 1 for i, joined in enumerate(found.communicating) if not joined]
    table.add_row(
        "1: communicating, finite diameter",
        no if lost else yes,
        f"not communicating: {_worlds(lost)}" if lost else _most("D", found.diameters),
    )
    endless = [i + 1 for i, finite in enumerate(found.finite_hitting_times) if finite is False]
    table.add_row(
        "2: finite hitting time",
        no if endless else "?" if None in found.finite_hitting_times else yes,
        f"some policy avoids a state for ever: {_worlds(endless)}"
        if endless
        else _most("hitting time", found.hitting_times),
    )
    return table


def _clustering(found: Inspection) -> "Table":
    bound = found.hitting_time
    words = "unknown" if math.isnan(bound) else "infinite" if math.isinf(bound) else f"{bound:,.6g}"
    title = f"The paper's clustering phase (K = {found.episodes}, p = {found.failure:g}, hitting time {words})"
    table = _table(title, "distinguishing set", "constants", "N, samples a pair", "H0, steps")
    for phase in found.phases:
        horizon = "no bound known" if phase.horizon is None else f"{phase.horizon:,}"
        table.add_row(phase.pairs, phase.constants, f"{phase.samples:,}", horizon)
    return table


def _table(title: str, *columns: str) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, show_header=any(columns))
    for column in columns:
        table.add_column(column)
    return table


def _pairs(pairs: list[tuple[int, int]], level: str) -> str:
    if not pairs:
        return "none"
    shown = ", ".join(f"({s}, {a})" for s, a in pairs[:12])
    return f"{len(pairs)}: {shown}{', ...' if len(pairs) > 12 else ''}  (state, action), level {level}"


def _each(values: list[float]) -> str:
    if any(map(math.isnan, values)):
        return NOT_COMPUTED
    shown = [_time(value) for value in values]
    if len(set(shown)) == 1:
        return shown[0] + (" in every world" if len(shown) > 1 else "")
    if len(shown) > MANY_WORLDS:
        return f"{min(values):,.6g} to {max(values):,.6g}"
    return ", ".join(f"m{i}: {text}" for i, text in enumerate(shown, 1))


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
