"""Who does best: agents on the problems that they share, run by run.

A problem is a world, a stream, a number of episodes and a seed; run number i of every agent on it meets the same tasks
and the same draws of the world, so agents are compared by their differences in each run.  Episodes that the stream
``paper(each_first=True)`` puts before the others do not count, as in the paper.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aomultirl import descriptions
from aomultirl.analysis import intervals
from aomultirl.analysis.intervals import Span
from aomultirl.analysis.measures import BEHIND, MEASURES, NEEDED, UNEQUAL, has_ends, summarise
from aomultirl.analysis.paired_test import MEANING, PairedTest, compare
from aomultirl.analysis.phrases import counted
from aomultirl.experiments import loading
from aomultirl.experiments.cell_differences import varying
from aomultirl.experiments.cells import read_configuration
from aomultirl.experiments.loading import Finished, FoundCells
from aomultirl.experiments.package_state import states

Floats = NDArray[np.float64]
Runs = dict[int, tuple[Finished, dict[str, float]]]
FEW = 10
"""Runs up to which it is said that a bootstrap interval is too short."""


@dataclass(frozen=True)
class Problem:
    """What agents share.

    world, stream: {"name", "parameters"} each, with defaults.
    episodes: K, those that count.
    seed: of the experiment.
    title: all of it in words.
    """

    world: Mapping[str, Any]
    stream: Mapping[str, Any]
    episodes: int
    seed: int
    title: str = ""


@dataclass(frozen=True)
class AgentLine:
    """One agent on a problem.

    label: what reports call it.
    agent: {"name", "parameters"}, with defaults.
    cells: its runs, by their numbers.
    values: of every measure, (runs,), nan where it was not recorded or the agent has no clusters, or no beliefs.
    spans: of every measure, over the runs.
    behind: what the best has more in the measure that orders them, over the runs that both have; None for the best.
    """

    label: str
    agent: Mapping[str, Any]
    cells: Sequence[Finished]
    values: Mapping[str, Floats]
    spans: Mapping[str, Span]
    behind: Span | None = None

    @property
    def runs(self) -> list[int]:
        """The numbers of its runs."""
        return [int(cell.specification["number"]) for cell in self.cells]

    def span(self, column: str) -> Span | None:
        """The mean and interval in a column of the table; "" is what it is behind the best."""
        return self.spans[column] if column else self.behind


@dataclass(frozen=True)
class ProblemTable:
    """A problem and its agents.

    problem: what they share.
    lines: one an agent, the best first.
    ranking: the measure that orders them.
    test: of the best two; None where there are fewer, or a single run.
    notes: what to mind.
    """

    problem: Problem
    lines: Sequence[AgentLine]
    ranking: str
    test: PairedTest | None
    notes: Sequence[str]

    @property
    def columns(self) -> list[str]:
        """The measures to show, and "" for the differences in the first; totals only where they can be compared.

        Where episodes were not proven, and some agent has beliefs, those that it was sure of stand apart.
        """
        totals, by_steps = {"total_reward", "regret"}, {"reward_per_step", "regret_per_step", "steps"}
        hidden = by_steps if self.ranking == "total_reward" else totals
        hidden |= {"abstained"} if self._has("believed_only") else {"believed_only", "in_doubt"}
        hidden |= set() if self._has("abstained") else {"abstained"}
        return [self.ranking, "", *(name for name in MEASURES if name not in {self.ranking, *hidden})]

    def _has(self, measure: str) -> bool:
        """Whether any agent has more than none."""
        return any(line.spans[measure].mean > 0 for line in self.lines)

    @property
    def headings(self) -> list[str]:
        """What these are called."""
        return [MEASURES.get(name, BEHIND) for name in self.columns]

    @property
    def verdict(self) -> str:
        """What the test of the best two says, in a sentence; nothing where there is none."""
        return "" if self.test is None else self.test.words(f"of {MEASURES[self.ranking]}")


@dataclass(frozen=True)
class Leaderboard:
    """Who does best.

    tables: one for each problem.
    notes: what to mind about all of them.
    """

    tables: Sequence[ProblemTable]
    notes: Sequence[str]


def leaderboard(places: str | Path | Sequence[str | Path]) -> Leaderboard:
    """Compare all agents in one or several folders of results.

    Parameters
    ----------
    places
        agents in different folders meet on the problems that both folders have.
    """
    return rank(loading.find(*([places] if isinstance(places, str | Path) else places), columns=NEEDED))


def rank(found: FoundCells) -> Leaderboard:
    """The tables of these cells."""
    grouped: dict[str, dict[tuple[str, str], Runs]] = {}
    for cell, measured in zip(found.cells, summarise(found.cells), strict=True):
        if measured is None:
            continue
        told = read_configuration(cell.configuration)
        agent = descriptions.text(told["agent"])
        problem = _problem(told, int(measured["episodes"]))
        runs = grouped.setdefault(problem, {}).setdefault((cell.specification["label"], agent), {})
        number = int(cell.specification["number"])
        if number not in runs or np.isnan(runs[number][1]["regret"]):
            runs[number] = cell, measured
    problems = _titled([json.loads(text) for text in grouped])
    tables = _tables(problems, _lines(list(grouped.values()), problems))
    return Leaderboard(tables, [*loading.said_of(found), *_common_notes(tables, found.cells)])


def _problem(told: Mapping[str, Any], episodes: int) -> str:
    parameters = {key: value for key, value in told["stream"]["parameters"].items() if key != "each_first"}
    stream = {"name": told["stream"]["name"], "parameters": parameters}
    return descriptions.text({"world": told["world"], "stream": stream, "episodes": episodes, "seed": told["seed"]})


def _titled(problems: Sequence[dict[str, Any]]) -> list[Problem]:
    """With titles that name what is not a default, or not the same for all."""
    found = []
    for one, apart in zip(problems, varying(problems), strict=True):
        world, stream = (_call(part, one[part], apart) for part in ("world", "stream"))
        title = f"{world}, stream {stream}, {counted(one['episodes'], 'episode')}, seed {one['seed']}"
        found.append(Problem(**one, title=title))
    return found


def _call(part: str, given: Mapping[str, Any], apart: Iterable[str]) -> str:
    usual = descriptions.filled({**given, "parameters": {}}, part)["parameters"]
    shown = {
        name: value
        for name, value in given["parameters"].items()
        if f"{part}.{name}" in apart or name not in usual or usual[name] != value
    }
    return descriptions.written({"name": given["name"], "parameters": shown})


def _lines(grouped: Sequence[Mapping[tuple[str, str], Runs]], problems: Sequence[Problem]) -> list[list[AgentLine]]:
    """The lines of every problem, in no order yet."""
    keys = [(i, *key) for i, agents in enumerate(grouped) for key in agents]
    labels = _labels([(label, {"world": problems[i].world, "agent": json.loads(agent)}) for i, label, agent in keys])
    runs = [[run for _, run in sorted(grouped[i][label, agent].items())] for i, label, agent in keys]
    values = [_values([measured for _, measured in several]) for several in runs]
    spans = iter(intervals.spans([mine[name] for mine in values for name in MEASURES]))
    lines: list[list[AgentLine]] = [[] for _ in problems]
    for (i, _, agent), label, several, mine in zip(keys, labels, runs, values, strict=True):
        cells = [cell for cell, _ in several]
        lines[i].append(AgentLine(label, json.loads(agent), cells, mine, {name: next(spans) for name in MEASURES}))
    return lines


def _values(runs: Sequence[Mapping[str, float]]) -> dict[str, Floats]:
    found = {name: np.array([run[name] for run in runs]) for name in MEASURES}
    unknown = np.full(len(runs), np.nan)
    if not any(run["clusters"] or run["abstained"] for run in runs):
        found |= dict.fromkeys(("misclustered", "abstained", "in_doubt"), unknown)
    if not any(run["beliefs"] for run in runs):
        found["believed_only"] = unknown
    return found


def _labels(given: Sequence[tuple[str, Mapping[str, Any]]]) -> list[str]:
    """Where agents of one label differ in one world, with the parameters in which they do."""
    found = [label for label, _ in given]
    alike: dict[str, list[int]] = {}
    for i, label in enumerate(found):
        alike.setdefault(label, []).append(i)
    for label, places in alike.items():
        for i, apart in zip(places, varying([given[i][1] for i in places]), strict=True):
            mine = {name.removeprefix("agent."): value for name, value in apart.items() if name.startswith("agent")}
            found[i] = descriptions.label(label, mine)
    return found


def _tables(problems: Sequence[Problem], lines: Sequence[Sequence[AgentLine]]) -> list[ProblemTable]:
    ordered = []
    for problem, several in zip(problems, lines, strict=True):
        steps = [line.spans["steps"].mean for line in several]
        unequal = max(steps) > UNEQUAL * min(steps) and not has_ends(problem.world)
        ranking = "reward_per_step" if unequal else "total_reward"
        ordered.append((ranking, sorted(several, key=lambda line: -line.spans[ranking].mean)))
    pairs = [_paired(best[0], line, ranking) for ranking, best in ordered for line in best[1:]]
    behind = iter(intervals.spans(pairs))
    tables = []
    for problem, (ranking, best) in zip(problems, ordered, strict=True):
        full = [best[0], *(AgentLine(**{**vars(line), "behind": next(behind)}) for line in best[1:])]
        test = None
        if len(full) > 1:
            first, second = full[:2]
            test = compare(first.label, second.label, _paired(first, second, ranking))
        tables.append(ProblemTable(problem, full, ranking, test, _notes(full, ranking)))
    return tables


def _paired(one: AgentLine, other: AgentLine, measure: str) -> Floats:
    """One less the other, over the runs that both have."""
    _, mine, theirs = np.intersect1d(one.runs, other.runs, return_indices=True)
    return np.asarray(one.values[measure][mine] - other.values[measure][theirs])


def _notes(lines: Sequence[AgentLine], ranking: str) -> list[str]:
    said = []
    if ranking == "reward_per_step":
        said.append(
            "The episodes of these agents are not equally long, so their total rewards and regrets cannot be compared; "
            "both are those of a step."
        )
    if any(line.runs != lines[0].runs for line in lines):
        each = "; ".join(f"{line.label} {len(line.runs)}" for line in lines)
        said.append(f"The agents do not have the same runs, and differences are over those that both have: {each}.")
    return said


def _common_notes(tables: Sequence[ProblemTable], cells: Sequence[Finished]) -> list[str]:
    said = []
    runs = {len(line.runs) for table in tables for line in table.lines}
    if 1 in runs:
        said.append("A single run has no interval.")
    if any(1 < count <= FEW for count in runs):
        said.append(
            "Bootstrap intervals over few runs are too short: if runs vary like a normal variable, those called 95 % "
            "hold the mean in some 50 % of cases with 2 runs, 75 % with 3, 84 % with 5 and 90 % with 10."
        )
    tests = sum(table.test is not None for table in tables)
    if tests:
        said.append(MEANING + (f" The p-values of the {tests:,} tests are not corrected." if tests > 1 else ""))
    versions = sorted({cell.version for cell in cells})
    if len(versions) > 1:
        said.append(f"The cells were computed by different versions: {', '.join(versions)}.")
    if states(cell.source for cell in cells) > 1:
        said.append(
            "The cells were computed with different states of the sources of aomultirl, and may not fit together."
        )
    return said
