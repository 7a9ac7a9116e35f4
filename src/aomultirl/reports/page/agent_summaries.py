"""What a page says of every agent: beside the theorem's bound, how it was made and is made again."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from aomultirl import descriptions
from aomultirl.agents.premises import TWO_STAGES
from aomultirl.analysis import inspection, intervals
from aomultirl.experiments.history import History
from aomultirl.model_set import ModelSet
from aomultirl.reports.page.comparison_charts import bounds, regret_after
from aomultirl.reports.page.groups import Group
from aomultirl.reports.page.run_origin import agent_of, what_was_given, world_call
from aomultirl.reports.tables import TextTable, inspection_tables

MOST_WORK = 2_000
"""Worlds times states times actions up to which the geometry takes no noticeable time."""
VACUOUS = 10.0
"""How many times what was measured a bound must be before its line would flatten all others."""
COINCIDE = 1.02
"""Ratio below which regrets count as equal."""
MODULES = {"learner": "ao.learning.", "explorer": "ao.exploring."}
"""Where the parts of an agent come from, by the parameter that they are."""
LONG = 72
"""Characters of arguments that fit on a line of code."""
FOUND = {"abstentions": "episodes in no cluster"}
"""Findings whose names say less to a reader of the page than these: an agent may act on a belief and not abstain."""
USUAL_FAILURE = 0.03
"""The failure probability of the paper's experiment, for worlds whose agents were told none."""


def mean_over_runs(values: Sequence[float]) -> intervals.Span | None:
    """The mean over runs, with its interval; None where there are none."""
    return intervals.Span(*map(float, intervals.over_runs(values))) if values else None


def regret_bounds(groups: Sequence[Group]) -> list[dict[str, Any]]:
    """What the theorem says of each agent, where it says anything and there was any regret.

    ``bounds`` and ``ratios`` are the bounds on all episodes of each run, and how many times what was measured they
    are; ``is_far``: the bound's line would flatten all others.
    """
    found = []
    for one in groups:
        pairs = []
        for run, bound in bounds(one).items():
            history = one.given[run].history  # whole: the theorem counts every episode
            regret = regret_after(history, len(history))
            if regret > 0.0:
                pairs.append((float(bound["total"][-1]), float(bound["total"][-1]) / regret))
        if pairs:
            values, ratios = zip(*pairs, strict=True)
            is_far = max(ratios) > VACUOUS
            found.append({"label": one.label, "bounds": values, "ratios": ratios, "is_far": is_far})
    return found


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
        early=_early_worlds(groups, len(models)),
    )
    return inspection_tables(found, title)


def _early_worlds(groups: Sequence[Group], worlds: int) -> list[tuple[int, float]]:
    """K and K1 of every run whose worlds are known: of agents that Theorem 20 is about, where there are some."""
    runs = [run.history for one in groups for run in one.given.values() if run.history["task"].max() >= 0]
    two_stages = [history for history in runs if (history.about.get("premises") or {}).get("theorem") == TWO_STAGES]
    return [(len(history), _last_first(history, worlds)) for history in two_stages or runs]


def _last_first(history: History, worlds: int) -> float:
    """K1: after how many episodes every world had come; inf if one never did."""
    tasks, first = np.unique(history["task"], return_index=True)
    return float(first.max() + 1) if len(tasks) == worlds else math.inf


def _told(histories: Sequence[History], name: str) -> float | None:
    """What the first agent that was told this parameter was told."""
    for history in histories:
        value = agent_of(history)["parameters"].get(name)
        if isinstance(value, int | float) and math.isfinite(value) and value > 0.0:
            return float(value)
    return None


def origin_rows(one: Group) -> list[list[Any]]:
    """An agent's parameters, what it was run on, what it found, and the seeds of its runs: the rows of a table."""
    (world, stream, noisy), findings = one.setting, one.first.about.get("findings") or {}
    told = {name: descriptions.code(value) for name, value in agent_of(one.first)["parameters"].items()}
    told |= {"world": world_call(world)} if world else {}
    told |= {"stream": stream} if stream else {}
    found = {f"found: {FOUND.get(name, name)}": str(value) for name, value in findings.items() if name != "evidence"}
    found["seeds, run by run"] = seeds(list(one.runs.values()))
    rows, others = ([[name, {"code": words}] for name, words in some.items()] for some in (told, found))
    return [*rows, *([["rewards", "noisy: 0 or 1"]] if noisy else []), *others]


def seeds(histories: Sequence[History]) -> str:
    """The seeds, run by run."""
    found = [history.about.get("seed", 0) for history in histories]
    if len(found) > 2 and found == list(range(found[0], found[0] + len(found))):
        return f"range({found[0]}, {found[-1] + 1})"
    return str(found)


def alike(one: Group) -> list[list[History]]:
    """The runs of an agent in one setting, together where only their seeds differ."""
    found: dict[tuple[str, int], list[History]] = {}
    for run in one.given.values():
        episodes = run.history.about.get("episodes", len(run.history))
        found.setdefault((agent_call(run.history), episodes), []).append(run.history)
    return list(found.values())


def agent_call(history: History) -> str:
    """The call that makes the agent, without arguments that are the defaults, an argument a line where it is long."""
    agent = agent_of(history)
    given = what_was_given(agent, "agent")["parameters"]
    modules = {key: MODULES.get(key, "") for key, value in given.items() if descriptions.is_description(value)}
    written = [f"{key}={modules.get(key, '')}{descriptions.code(value)}" for key, value in given.items()]
    arguments = ", ".join(written)
    if len(arguments) > LONG:
        arguments = "".join(f"\n        {argument}," for argument in written) + "\n    "
    return f"ao.agents.{agent['name'] or 'Agent'}({arguments})"
