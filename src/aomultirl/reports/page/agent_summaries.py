"""What a page says of every agent in numbers: at a glance, beside the theorem's bound, and how it was made."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from aomultirl import descriptions
from aomultirl.analysis import inspection, intervals
from aomultirl.analysis.phrases import span
from aomultirl.experiments.history import History
from aomultirl.mdp import ModelSet
from aomultirl.reports.inspection_table import tables
from aomultirl.reports.looks import agent_look
from aomultirl.reports.page.comparison_charts import bounds, regret_after
from aomultirl.reports.page.episode_curves import RECENT, Floats, rewards, running_mean
from aomultirl.reports.page.groups import Group
from aomultirl.reports.page.rendering import NOTHING, AgentCell, Cell, Code, measured
from aomultirl.reports.page.rerun_script import seeds
from aomultirl.reports.page.run_origin import agent_of, world_call
from aomultirl.reports.tables import TextTable

MOST_WORK = 2_000
"""Worlds times states times actions up to which the geometry takes no noticeable time."""
VACUOUS = 10.0
"""How many times what was measured a bound must be before its line would flatten all others."""
UNEQUAL, COINCIDE = 1.01, 1.02
"""Ratios from which episodes are not equally long, and below which regrets count as equal."""
USUAL_FAILURE = 0.03
"""The failure probability of the paper's experiment, for worlds whose agents were told none."""


def glance(one: Group) -> list[Cell]:
    """What a reader wants to know of an agent first: a row of the first table."""
    histories = list(one.runs.values())
    known = [rewards(history)[: one.shared] for history in histories]
    known = [values for values in known if np.isfinite(values).any()]
    clusters = [int(run.history["cluster"].max()) + 1 for run in one.given.values()]
    failed = sum(int((~history["exploration_ok"]).sum()) for history in histories)
    abstained = sum(int(history["abstained"].sum()) for history in histories)
    wrong = sum(history.misclustered for history in histories)
    return [
        AgentCell(one.label, agent_look(one.number)),
        _mean([_last(running_mean(values)) for values in known]),
        _mean([_last(running_mean(values, RECENT)) for values in known]),
        _mean([regret_after(history, one.shared) for history in histories]),
        _mean(clusters) if max(clusters) else NOTHING,
        f"{wrong:,}" if max(clusters) and histories[0]["task"].max() >= 0 else NOTHING,
        f"{failed:,}" if max(clusters) else NOTHING,
        f"{abstained:,}" if max(clusters) or abstained else NOTHING,
        f"{len(histories)}",
        span(map(len, histories)),
    ]


def _last(values: Floats) -> float:
    """The last that is a number."""
    return float(values[np.isfinite(values)][-1])


def _mean(values: Sequence[float]) -> Cell:
    """The mean over runs, with its interval where there are several that differ."""
    return measured(*map(float, intervals.over_runs(values))) if values else NOTHING


class BoundBeside(NamedTuple):
    """The theorem's bound on an agent's regret.

    label
        of the agent.
    values, ratios
        the bound on all episodes of a run, and how many times what was measured it is, for every run that has one.
    """

    label: str
    values: Sequence[float]
    ratios: Sequence[float]

    @property
    def is_far(self) -> bool:
        """Whether the bound's line would flatten all others."""
        return max(self.ratios) > VACUOUS


def regret_bounds(groups: Sequence[Group]) -> list[BoundBeside]:
    """What the theorem says of each agent, where it says anything and there was any regret."""
    found = []
    for one in groups:
        pairs = []
        for run, bound in bounds(one).items():
            history = one.given[run].history  # whole: the theorem counts every episode
            regret = regret_after(history, len(history))
            if regret > 0.0:
                pairs.append((float(bound["total"][-1]), float(bound["total"][-1]) / regret))
        if pairs:
            found.append(BoundBeside(one.label, *zip(*pairs, strict=True)))
    return found


def unequal_steps(groups: Sequence[Group]) -> dict[str, float]:
    """Steps of an episode in the mean, by agent, where agents differ in it; empty otherwise."""
    steps = {
        one.label: float(np.mean([(h["identification_steps"] + h["learning_steps"]).mean() for h in one.runs.values()]))
        for one in groups
    }
    return steps if max(steps.values()) > UNEQUAL * min(steps.values()) else {}


def coincide(groups: Sequence[Group]) -> bool:
    """Whether two agents lose as much while learning."""
    ends = [np.mean([regret_after(h, one.shared, "learning") for h in one.runs.values()]) for one in groups]
    ends = sorted(end for end in ends if end > 0.0)
    return any(after < COINCIDE * before for before, after in pairwise(ends))


def world_tables(models: ModelSet, groups: Sequence[Group], title: str) -> list[TextTable] | None:
    """What the worlds are like, and which of the paper's assumptions hold; None where that takes too long."""
    if len(models) * models.n_states * models.n_actions > MOST_WORK:
        return None
    histories = [history for one in groups for history in one.runs.values()]
    found = inspection.inspect(
        models,
        episodes=max(map(len, histories)),
        failure=_told(histories, "failure") or USUAL_FAILURE,
        hitting_time=_told(histories, "hitting_time"),
    )
    return tables(found, title)


def _told(histories: Sequence[History], name: str) -> float | None:
    """What the first agent that was told this parameter was told."""
    for history in histories:
        value = agent_of(history)["parameters"].get(name)
        if isinstance(value, int | float) and math.isfinite(value) and value > 0.0:
            return float(value)
    return None


def how_made(one: Group) -> dict[str, Any]:
    """An agent's parameters, what it was run on, what it found, and the seeds of its runs."""
    about, (world, stream, noisy) = one.first.about, one.setting
    agent = agent_of(one.first)
    rows: list[list[Cell]] = [[name, Code(descriptions.code(value))] for name, value in agent["parameters"].items()]
    rows += [["world", Code(world_call(world))]] if world else []
    rows += [["stream", Code(stream)]] if stream else []
    rows += [["rewards", "noisy: 0 or 1"]] if noisy else []
    findings: Mapping[str, Any] = about.get("findings") or {}
    rows += [[f"found: {name}", Code(str(value))] for name, value in findings.items() if name != "evidence"]
    rows.append(["seeds, run by run", Code(seeds(list(one.runs.values())))])
    return {"agent": AgentCell(one.label, agent_look(one.number)), "kind": agent["name"] or one.label, "rows": rows}
