"""The runs of a page, grouped by agent and setting."""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from aomultirl import checks
from aomultirl.analysis.charts import Subject
from aomultirl.experiments.history import History
from aomultirl.reports.looks import Look, agent_look
from aomultirl.reports.page.run_origin import RunSetting, agent_of, differences, labels, setting_of

MOST_HISTORIES = 200
"""Histories that can be looked at one by one; the averages are over all of them."""
LEAST_STRETCH, LEAST_SHARE = 5, 0.05
"""Episodes, and share of all of them, from which a stretch in one world is worth marking."""


class Run(NamedTuple):
    """A history, the label of the agent that made it, and the number of the run.

    before: how many episodes come before those that count; they are numbered up to 0, and no average has them.
    """

    agent: str
    run: int
    history: History
    before: int = 0


class Group(NamedTuple):
    """All runs of an agent in one setting.

    agent
        what the agent is called.
    configuration
        what tells its setting apart from others of this agent, in words; empty if nothing.
    number
        its place on the page, which decides its look.
    runs
        the histories by the numbers of their runs, only with the episodes that count.
    given
        the runs whole, as they were given.
    """

    agent: str
    configuration: str
    number: int
    runs: dict[int, History]
    given: dict[int, Run]

    @property
    def label(self) -> str:
        """The agent, with its configuration in brackets."""
        return f"{self.agent} ({self.configuration})" if self.configuration else self.agent

    @property
    def first(self) -> History:
        return next(iter(self.runs.values()))

    @property
    def episodes(self) -> int:
        """Episodes of the longest run."""
        return max(map(len, self.runs.values()))

    @property
    def shared(self) -> int:
        """Episodes that all runs have: means end with them."""
        return min(map(len, self.runs.values()))

    @property
    def before(self) -> int:
        """Episodes that come before those that count."""
        return max(run.before for run in self.given.values())

    @property
    def setting(self) -> RunSetting:
        return setting_of(self.first)

    @property
    def kind(self) -> str:
        """The agent's class, where a history says it."""
        return agent_of(self.first)["name"] or self.label

    @property
    def look(self) -> Look:
        """How its lines are drawn."""
        return agent_look(self.number)

    @property
    def subject(self) -> Subject:
        """What charts show of it."""
        return Subject(self.agent, self.configuration, number=self.number)


def as_runs(given: "History | Iterable[Run | History]") -> list[Run]:
    """Runs as they are; histories labelled by what made them, and numbered in their order."""
    items = [given] if isinstance(given, History) else list(given)
    names = iter(labels([item for item in items if isinstance(item, History)]))
    counts: dict[tuple[str, RunSetting], int] = {}
    runs: list[Run] = []
    for item in items:
        if isinstance(item, History):
            name = next(names)
            key = name, setting_of(item)
            counts[key] = counts.get(key, -1) + 1
            runs.append(Run(name, counts[key], item))
        else:
            runs.append(Run(*item))
    return runs


def group(runs: Iterable[Run]) -> list[Group]:
    """One group for each agent and setting, in the order in which they first appear.

    Runs under one label that differ in world, stream or noise are no repetitions of each other: they become groups of
    their own, and their labels say in what they differ.
    """
    found: dict[str, dict[RunSetting, dict[int, Run]]] = {}
    for run in runs:
        label, number = str(run.agent), int(run.run)
        _check(run)
        mine = found.setdefault(label, {}).setdefault(setting_of(run.history), {})
        if number in mine:
            raise ValueError(f"run {number} of {label!r} is given twice")
        mine[number] = run
    if not found:
        raise ValueError("runs is empty: there is nothing to show")
    groups: list[Group] = []
    for label, parts in found.items():
        for setting, mine in parts.items():
            given = dict(sorted(mine.items()))
            counted = {number: _counted(run.history, run.before) for number, run in given.items()}
            groups.append(Group(label, differences(setting, parts), len(groups), counted, given))
    return groups


def _check(run: Run) -> None:
    """Refuse what is no run, or has no episodes."""
    who = f"run {run.run} of {run.agent!r}"
    if not isinstance(run.history, History):
        raise ValueError(f"{who} is {run.history!r}, not a History")
    if len(run.history) == 0:
        raise ValueError(f"{who} has no episodes")
    checks.integer(f"before, of {who},", run.before, least=0, most=len(run.history) - 1)


def _counted(history: History, before: int) -> History:
    """The history without the episodes that come before."""
    if before == 0:
        return history
    return History({name: column[before:] for name, column in history.columns.items()}, history.about)


def shown_runs(groups: Sequence[Group]) -> list[int]:
    """The numbers of the runs that can be looked at one by one."""
    numbers = sorted({number for one in groups for number in one.runs})
    return numbers[: max(1, MOST_HISTORIES // len(groups))]


def each(groups: Sequence[Group], shown: Sequence[int]) -> Iterator[tuple[str, Group, Run]]:
    """(key, agent, run) of all that can be looked at alone; of an agent without these runs its first."""
    for one in groups:
        for run in [run for run in shown if run in one.runs] or [next(iter(one.runs))]:
            yield f"{one.number}|{run}", one, one.given[run]


def shared_stretches(groups: Sequence[Group]) -> list[tuple[int, int, int]]:
    """(first, end, task) of long stretches in which every run of every agent meets the same world, if not always."""
    if len({one.setting.world for one in groups}) > 1:
        return []
    histories = [history for one in groups for history in one.runs.values()]
    episodes = min(map(len, histories))
    tasks = np.stack([history["task"][:episodes] for history in histories])
    common = np.where((tasks == tasks[0]).all(axis=0), tasks[0], -1)
    edges = np.flatnonzero(np.diff(common)) + 1
    least = max(LEAST_STRETCH, math.ceil(LEAST_SHARE * episodes))
    return [
        (begin, end, int(common[begin]))
        for begin, end in pairwise([0, *edges.tolist(), episodes])
        if common[begin] >= 0 and least <= end - begin < episodes
    ]
