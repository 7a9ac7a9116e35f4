"""What is lost even by a learner that is told the task (Section 1): at least of order sqrt(MK).

The worlds are trees of arms (:mod:`.arm_trees`), M of them with arms of their own, each K / M times, the gap between
arms the hardest for so many episodes.  A lower bound is judged from below: regret must lie above it at every point.
Slopes are shown and not judged.  As the gap is tied to K / M, a learner that knows all but the arm, which the bound
allows it to, meets the same game at every point, only longer, and its slopes of one half follow from that tie.
Learners of the library find out the way to the arms as well, in each world once: a term that grows like M and not with
K, which makes their slopes in M steeper and those in K, over any sizes within reach, flatter.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from aomultirl.analysis.charts import Chart
from aomultirl.analysis.claims import Claim, Plain
from aomultirl.analysis.phrases import listed
from aomultirl.analysis.rules import Bounded
from aomultirl.experiments.executors import Executor
from aomultirl.laboratory.arm_trees import ACTIONS, HORIZON, INFORMED, LEARNERS, STATES, ToldRuns
from aomultirl.laboratory.exponents import Floats, fits, mean_of, theory
from aomultirl.laboratory.findings import TOLD, Findings, carry_out

BOUND = "(1/20) (H - d - 1) sqrt(M L A K)"
TIED = (
    "Slopes are not judged: the gap is tied to K / M, so that who knows all but the arm meets the same game "
    "everywhere, only longer; {} have to find the ways to the arms too, in each world once, which adds a term that "
    "grows like M and not with K"
)
KEY = 13
"""Of this experiment's randomness."""
RunRegrets = Mapping[ToldRuns, Floats]
Sweep = Mapping[str, Sequence[ToldRuns]]
"""Runs along an axis, by learner."""


class ToldSizes(NamedTuple):
    """What is swept; by default the sizes of a quick run.

    runs, informed_runs: runs at every point, and of the learner that knows all but the arm, which is quick.
    numbers, episodes: M, and K, in the sweep over M.
    models, lengths: M, and K, in the sweep over K.
    """

    runs: int = 4
    informed_runs: int = 40
    numbers: tuple[int, ...] = (1, 2, 4, 8)
    episodes: int = 960
    models: int = 2
    lengths: tuple[int, ...] = (240, 480, 960, 1920)


QUICK = ToldSizes()
FULL = ToldSizes(
    runs=8,
    informed_runs=200,
    numbers=(1, 2, 4, 8, 16),
    episodes=9600,
    models=4,
    lengths=(960, 1920, 3840, 7680, 15_360),
)


def measure(quick: bool, seed: int, executor: Executor, sizes: ToldSizes | None = None) -> Findings:
    """All claims on learners that are told the task, with the sizes of a quick or of a full run, or with others."""
    sizes = sizes or (QUICK if quick else FULL)
    runs = {INFORMED: sizes.informed_runs} | dict.fromkeys(LEARNERS, sizes.runs)
    over_models = {
        name: [ToldRuns(name, models, many, sizes.episodes) for models in sizes.numbers] for name, many in runs.items()
    }
    over_episodes = {
        name: [ToldRuns(name, sizes.models, many, length) for length in sizes.lengths] for name, many in runs.items()
    }
    tasks = [one for sweep in (over_episodes, over_models) for row in sweep.values() for one in reversed(row)]
    results = carry_out(tasks, KEY, seed, executor)
    findings = _grows("M", "models", over_models, results) + _grows("K", "episodes", over_episodes, results)
    return (findings + Findings([_above(tasks, results)])).of_group("told_tasks")


def _grows(letter: str, axis: str, sweep: Sweep, results: RunRegrets) -> Findings:
    """The regret of all episodes along M or K."""
    first = next(iter(sweep.values()))
    places = [float(getattr(one, axis)) for one in first]
    _, series = fits(dict.fromkeys(sweep, places), {name: [results[one] for one in row] for name, row in sweep.items()})
    series.append(theory(BOUND, places, [one.bound() for one in first]))
    other = f"K = {first[0].episodes:,}" if axis == "models" else f"M = {first[0].models}"
    caption = f"Trees of arms, S = {STATES}, A = {ACTIONS}, H = {HORIZON}, {other}; the gap is the hardest everywhere. "
    caption += f"{TIED.format(listed(list(LEARNERS)))}."
    title = f"Regret of learners that are told the task, against {letter}"
    return Findings.shown(Chart(f"told_{axis}", title, letter, "regret of all episodes", series, caption=caption))


def _above(every: Sequence[ToldRuns], results: RunRegrets) -> Claim:
    """All points against the bound."""
    claim = Claim(
        f"told the task, no learner loses less than {BOUND}",
        TOLD,
        Bounded(1.0, side=">="),
        {
            f"{one.learner}, M = {one.models}, K = {one.episodes:,}": mean_of(results[one] / one.bound())
            for one in every
        },
        figure="told_models",
        unit="in multiples of it",
    )
    statement = (
        "Even whoever is told which world every episode is in loses something while learning them, and at least what "
        "the bound behind the paper's introduction says"
    )
    return replace(claim, plain=Plain(statement, f"the best learner lost {claim.measured:.3g} times as much"))
