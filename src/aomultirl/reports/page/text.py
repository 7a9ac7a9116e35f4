"""The page's tables and sentences, as HTML; every word that comes from outside is escaped here."""

import inspect
import math
import platform
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import metadata
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from aomultirl import agents
from aomultirl.experiments.history import History
from aomultirl.mdp import ModelSet
from aomultirl.reports import inspection
from aomultirl.reports.page import charts, data
from aomultirl.reports.page.data import Group
from aomultirl.reports.page.markup import NOTHING, SIGNS, block, code, swatch, table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

MOST_WORK = 2_000
"""Worlds times states times actions up to which the geometry takes no noticeable time."""
VACUOUS = 10.0
"""How many times what was measured a bound must be before its line would flatten all others."""
LONG = 72
"""Characters of arguments that fit on a line."""
PACKAGES = ("numpy", "scipy", "numba", "plotly")


def glance(groups: Sequence[Group]) -> str:
    """One row an agent: what a reader wants to know first."""
    recently = f"last {data.RECENT} episodes"
    head = ["agent", "runs", "average reward", recently, "regret", "clusters", "misclustered", "failed explorations"]
    caption = "Every agent in numbers: means over its runs, counts over all its runs"
    return table(head, [_row(one) for one in groups], caption, "numbers")


def _row(one: Group) -> list[str]:
    histories = list(one.runs.values())
    known = [values[np.isfinite(values)] for values in map(data.rewards, histories)]
    clusters = [int(history["cluster"].max()) + 1 for history in histories]
    failed = sum(int((~history["exploration_ok"]).sum()) for history in histories)
    wrong = f"{sum(history.misclustered for history in histories):,}"
    return [
        swatch(one) + escape(one.label),
        f"{len(histories)}",
        _mean([float(values.mean()) for values in known if len(values)]),
        _mean([float(values[-data.RECENT :].mean()) for values in known if len(values)]),
        _mean([charts.regret_total(history) for history in histories]),
        _mean(clusters) if max(clusters) else NOTHING,
        wrong if max(clusters) and histories[0]["task"].max() >= 0 else NOTHING,
        f"{failed:,}" if max(clusters) else NOTHING,
    ]


def bound_sentence(groups: Sequence[Group]) -> tuple[str, bool] | None:
    """What the theorem's bound says, and whether it is so far off that its line needs a logarithmic axis."""
    words, far = [], False
    for one in groups:
        bound = one.first.about.get("bound")
        seen = float(np.mean([charts.regret_total(history) for history in one.runs.values()]))
        if not bound or not seen > 0.0:
            continue
        most = float(bound["total"][-1])
        far |= most > VACUOUS * seen
        words.append(f"{escape(one.label)} {data.number(most)}, {data.number(most / seen)} times what was measured")
    if not words:
        return None
    said = f"The theorem's bound on the regret of all episodes is, for {'; for '.join(words)}."
    return said + (" Its line is so far up that it comes with a logarithmic axis." if far else ""), far


def geometry(models: ModelSet, histories: Sequence[History]) -> str:
    """What the worlds are like, and which of the paper's assumptions hold."""
    if len(models) * models.n_states * models.n_actions > MOST_WORK:
        sizes = {"states S": models.n_states, "actions A": models.n_actions, "worlds M": len(models)}
        facts = table([], [[name, f"{size:,}"] for name, size in sizes.items()], "The worlds")
        return f"{facts}<p>{code('aomultirl inspect')} computes more of worlds this large.</p>"
    found = inspection.inspect(
        models,
        episodes=max(map(len, histories)),
        failure=_told(histories, "failure") or 0.03,
        hitting_time=_told(histories, "hitting_time"),
    )
    catcher = _Catcher()
    inspection.show(found, "The worlds", cast("Console", catcher))
    return "".join(map(_from_rich, catcher.tables))


class _Catcher:
    """Takes the tables that would be printed."""

    def __init__(self) -> None:
        self.tables: list[Table] = []

    def print(self, one: "Table") -> None:
        self.tables.append(one)


def _from_rich(one: "Table") -> str:
    from rich.text import Text

    signs = {"yes": SIGNS[True], "no": SIGNS[False], "?": SIGNS[None]}
    columns = [[Text.from_markup(str(cell)).plain for cell in column.cells] for column in one.columns]
    rows = [[signs.get(cell, escape(cell)) for cell in row] for row in zip(*columns, strict=True)]
    return table([str(column.header) for column in one.columns], rows, Text.from_markup(str(one.title)).plain)


def _told(histories: Sequence[History], name: str) -> float | None:
    """What the first agent that was told this parameter was told."""
    for history in histories:
        try:
            value = float(history.about.get("parameters", {}).get(name, ""))
        except ValueError:
            continue
        if math.isfinite(value) and value > 0.0:
            return value
    return None


def claims_table(claims: Iterable[Mapping[str, Any]]) -> str:
    """Each claim, where it stands, what it predicts, what was measured, and whether it holds."""
    rows = []
    for one in claims:
        words = {key: "" if value is None else escape(str(value)) for key, value in one.items()}
        holds = one.get("holds")
        said = [words.get(key, "") for key in ("claim", "place", "predicted", "measured")]
        rows.append([*said, SIGNS[None if holds is None else bool(holds)], words.get("reason", "")])
    return table(
        ["claim", "where", "predicted", "measured", "holds", "why"], rows, "The claims, one by one", "sentences"
    )


def parameters(groups: Sequence[Group]) -> str:
    """Every agent's parameters, what it found, and the seeds of its runs."""
    blocks = []
    for one in groups:
        about = one.first.about
        rows = [[escape(str(name)), code(value)] for name, value in about.get("parameters", {}).items()]
        rows += [[f"found: {escape(str(name))}", code(value)] for name, value in (about.get("findings") or {}).items()]
        rows.append(["seeds, run by run", code(_seeds(one))])
        inside = table([], rows, f"Parameters, findings and seeds of {one.label}")
        kind = str(about.get("agent", one.label))
        name = swatch(one) + escape(one.label) + ("" if kind == one.label else f": {code(kind)}")
        blocks.append(f"<details><summary>{name}</summary>{inside}</details>")
    return "".join(blocks)


def versions(groups: Sequence[Group]) -> str:
    """What ran it, and what made the page."""
    ran = sorted({str(h.about.get("version", "unknown")) for one in groups for h in one.runs.values()})
    made = [f"Python {platform.python_version()}", *(f"{name} {metadata.version(name)}" for name in PACKAGES)]
    return f"<p>Run with aomultirl {escape(', '.join(ran))}; the page was made with {escape(', '.join(made))}.</p>"


def script(groups: Sequence[Group]) -> str:
    """Python that runs it all again."""
    world = groups[0].first.about.get("world")
    lines = ["import aomultirl as ao", ""]
    if world:
        lines += [f"models = ao.worlds.{world['name']}({call(world['parameters'], repr)})", ""]
    for one in groups:
        about = one.first.about
        options = f"episodes={about.get('episodes', one.episodes)}, seed=seed"
        if about.get("noisy_rewards"):
            options += ", noisy_rewards=True"
        lines += [
            f"# {' '.join(one.label.split())}",
            f"for seed in {_seeds(one)}:",
            f"    agent = {_agent(about)}",
            f"    history = ao.run(agent, models, ao.streams.{about['stream']}, {options})"
            if about.get("stream")
            else f"    history = ao.interact(agent, make_env, {options})  # make_env(k): the environment of episode k",
            "",
        ]
    return block("\n".join(lines).strip(), "Python to run it again")


def _agent(about: Mapping[str, Any]) -> str:
    """The call that makes the agent, without arguments that are the defaults, an argument a line where it is long."""
    name = str(about.get("agent", "Agent"))
    known = inspect.signature(getattr(agents, name)).parameters if hasattr(agents, name) else {}
    defaults = {key: repr(parameter.default) for key, parameter in known.items()}
    given = {key: value for key, value in about.get("parameters", {}).items() if defaults.get(key) != value}
    arguments = call(given, str)
    if len(arguments) > LONG:
        arguments = "".join(f"\n        {key}={value}," for key, value in given.items()) + "\n    "
    return f"ao.agents.{name}({arguments})"


def call(arguments: Mapping[str, Any], written: Any) -> str:
    """Arguments as a call has them."""
    return ", ".join(f"{name}={written(value)}" for name, value in arguments.items())


def _seeds(one: Group) -> str:
    seeds = [history.about.get("seed", 0) for history in one.runs.values()]
    if len(seeds) > 2 and seeds == list(range(seeds[0], seeds[0] + len(seeds))):
        return f"range({seeds[0]}, {seeds[-1] + 1})"
    return str(seeds)


def _mean(values: Sequence[float]) -> str:
    return data.number(float(np.mean(values))) if values and np.isfinite(values).all() else NOTHING
