"""What several pages state, computed once."""

import sys
from functools import cache

import numpy as np

import aomultirl as ao
from aomultirl import theory
from aomultirl.experiments import suites
from aomultirl.experiments.paper import FAILURE, GAMMA, HITTING_TIME, SEPARATION, PaperExperiment
from aomultirl.experiments.suites.cases import SuiteCase
from stated.checks import worth
from stated.reading import DIGITS, ROOT

EXPERIMENT = PaperExperiment()
sys.path.append(str(ROOT / "examples"))


@cache
def grids(edges: str = "third") -> ao.ModelSet:
    """The paper's four grids."""
    return ao.worlds.gridworld(edges=edges)


@cache
def hitting_time() -> float:
    """Of the grid of the text; that of the released one is infinite."""
    assert np.isinf(grids("stay")[0].hitting_time())
    return grids()[0].hitting_time()


@cache
def clustering_horizon(constants: str) -> int:
    """H0 of the experiment, with the set of pairs that the agent is given."""
    sizes = {"states": grids().n_states, "pairs": len(GAMMA), "episodes": EXPERIMENT.episodes}
    told = {"separation": SEPARATION, "hitting_time": HITTING_TIME, "failure": FAILURE}
    return theory.clustering_horizon(**sizes, **told, constants=constants)


@cache
def identification_bound(told_gamma: bool, edges: str = "third") -> float:
    """Steps that no learner can do with less, in the mean over the four grids."""
    pairs = GAMMA if told_gamma else None
    told = {"failure": FAILURE, "episodes": EXPERIMENT.episodes, "separation": SEPARATION}
    return float(theory.identification_lower_bound(grids(edges), **told, distinguishing_set=pairs).mean())


@cache
def cases(suite: str) -> list[SuiteCase]:
    """The rows of a suite."""
    return suites.SUITES[suite]()


@cache
def _kept(suite: str) -> suites.KeptRuns:
    return suites.KeptRuns(ROOT / "docs" / "measured" / f"{suite}.jsonl")


@cache
def kept_runs(
    suite: str, told: str, place: str = "", heading: str = "", count: int = 10
) -> tuple[suites.SuiteRun, ...]:
    """Runs of an agent that ``docs/measured`` keeps: of a column of one place, or all that there are."""
    found = [
        _kept(suite).get(case, suites.FIRST_SEEDS[suite]["reporting"], number)
        for case in cases(suite)
        if case.told == told
        and place in ("", case.place)
        and (not heading or heading in [window.heading for window in case.windows])
        for number in range(count)
    ]
    return tuple(run for run in found if run is not None)


@cache
def kept(suite: str, place: str, told: str, heading: str, runs: int = 10) -> tuple[float, ...]:
    """What a column of a suite shows of an agent, run by run."""
    found = kept_runs(suite, told, place, heading, runs)
    assert len(found) == runs, (suite, place, told, heading, len(found))
    return tuple(run.numbers[heading] for run in found)


@cache
def row(page: str, label: str, after: str = "") -> tuple[tuple[float, ...], ...]:
    """The numbers that a row of a table on another page states, cell by cell.

    The row is the first one behind ``after`` whose first cells are ``label``.
    """
    text = (
        (ROOT / page).read_text(encoding="utf-8").partition(after)[2]
        if after
        else (ROOT / page).read_text(encoding="utf-8")
    )
    line = next(line for line in text.splitlines() if line.startswith(f"| {label} |"))
    cells = line.removeprefix(f"| {label} |").split("|")
    return tuple(tuple(worth(match[0]) for match in DIGITS.finditer(cell)) for cell in cells)
