"""What agents for many tasks earn on the paper's four grids, beside a learner that is told the grid.

    python examples/tuning/four_grids.py
    python examples/tuning/four_grids.py discovering bounds

prints, for every question, the reward of an episode of each agent: the mean over runs and its 95 % bootstrap interval,
and the mean of the second half of the episodes.  Where an agent founds clusters, their number follows, and how many
episodes were put in a wrong one.  Everybody in a row of a question meets the same tasks.

discovering
    agents that discover models, in episodes of 1,000 steps.
drifting
    ``DetectAndRestart`` on a stream of blocks, and on one of tasks drawn by chance.
contexts
    ``LUCRL`` with contexts told afterwards, with the true worlds to begin with, and with neither.
bounds
    agents that transfer bounds of values, and R-Max alone, pooled and told.
clustering
    agents that cluster before they learn, in episodes of 20,000 steps.

Some minutes in all.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

import aomultirl as ao
from aomultirl.agents import (
    LUCRL,
    ConcurrentPACRL,
    DetectAndRestart,
    ExploreFirst,
    FiniteModelRL,
    ForcedExploration,
    LRMax,
    MaxQInit,
    OneEpisode,
    OneEpisodeLearner,
    Optimal,
    OracleLearner,
    Pooled,
    Random,
    Recall,
    SequentialAOMultiRL,
    Told,
)
from aomultirl.analysis.intervals import over_runs
from aomultirl.learning import UCRL2, Practical, RMax

GRIDS = ao.worlds.gridworld()
FAILURE, SEPARATION = 0.03, 1.3 - 1e-6
SCALE = 0.35
"""What the confidence of agents that discover models is multiplied by."""
BONUS = 1e-4
"""What the bonus of L-UCRL is multiplied by."""
QUARTER = 0.25
"""How probable each grid is."""
Makers = Mapping[str, Callable[[int], Any]]
"""Agents by the names of their rows, made from H."""


class Question(NamedTuple):
    """Agents that meet the same tasks.

    makers
        of the agents.
    horizons
        H, one table for each.
    episodes, runs
        K, and how many runs.
    streams
        by their names.
    """

    makers: Makers
    horizons: tuple[int, ...]
    episodes: int
    runs: int
    streams: Mapping[str, ao.streams.Stream]


def _discovering(horizon: int, scale: float) -> Any:
    return FiniteModelRL(len(GRIDS), SEPARATION, FAILURE, horizon, radius_scale=scale)


def _latent(horizon: int, **options: Any) -> Any:
    return LUCRL(len(GRIDS), horizon, failure=FAILURE, bonus_scale=BONUS, **options)


LEARNERS: Makers = {
    "at random": Random,
    "practical learner, alone": OneEpisodeLearner,
    "practical learner, pooled": lambda horizon: Pooled(Practical(), horizon),
    "Recall": lambda horizon: Recall(FAILURE, horizon),
    "practical learner, told": OracleLearner,
    "optimum": Optimal,
}
QUESTIONS: Mapping[str, Question] = {
    "discovering": Question(
        LEARNERS
        | {
            "FiniteModelRL": lambda horizon: _discovering(horizon, SCALE),
            "FiniteModelRL, scale 1": lambda horizon: _discovering(horizon, 1.0),
            "ExploreFirst": lambda horizon: ExploreFirst(FAILURE, horizon, SEPARATION, 15, radius_scale=SCALE),
            "ForcedExploration": lambda horizon: ForcedExploration(FAILURE, horizon, SEPARATION, radius_scale=SCALE),
        },
        (1_000,),
        100,
        5,
        {"by chance": ao.streams.uniform()},
    ),
    "drifting": Question(
        LEARNERS | {"DetectAndRestart": lambda horizon: DetectAndRestart(Practical(), horizon, failure=FAILURE)},
        (200,),
        200,
        5,
        {"blocks of 25": ao.streams.blocks(25), "by chance": ao.streams.uniform()},
    ),
    "contexts": Question(
        LEARNERS
        | {
            "LUCRL, told afterwards": lambda horizon: _latent(horizon, contexts="told"),
            "LUCRL, true worlds to begin with": lambda horizon: _latent(horizon, initial=GRIDS),
            "LUCRL, hidden": _latent,
        },
        (200,),
        200,
        5,
        {"by chance": ao.streams.uniform()},
    ),
    "bounds": Question(
        {
            "at random": Random,
            "RMax, alone": lambda horizon: OneEpisode(RMax(), horizon),
            "MaxQInit": lambda horizon: MaxQInit(horizon, QUARTER, failure=FAILURE),
            "MaxQInit, not cautious": lambda horizon: MaxQInit(horizon, QUARTER, failure=FAILURE, cautious=False),
            "LRMax": lambda horizon: LRMax(horizon, failure=FAILURE, rarest=QUARTER, remembered=50),
            "LRMax, told a false distance": lambda horizon: LRMax(horizon, 0.001, failure=FAILURE),
            "RMax, pooled": lambda horizon: Pooled(RMax(), horizon),
            "RMax, told": lambda horizon: Told(RMax(), horizon),
            "optimum": Optimal,
        },
        (200, 2_000),
        100,
        5,
        {"by chance": ao.streams.uniform()},
    ),
    "clustering": Question(
        {
            "ConcurrentPACRL": lambda horizon: ConcurrentPACRL(
                SEPARATION, FAILURE, horizon, samples=50, learner=UCRL2(0.05)
            ),
            "UCRL2, alone": lambda horizon: OneEpisode(UCRL2(0.05), horizon),
            "UCRL2, told": lambda horizon: Told(UCRL2(0.05), horizon),
            "SequentialAOMultiRL": lambda horizon: SequentialAOMultiRL(FAILURE, horizon, SEPARATION),
            "optimum": Optimal,
        },
        (5_000, 20_000),
        60,
        3,
        {"by chance": ao.streams.uniform()},
    ),
}


def rows(question: Question, horizon: int, stream: ao.streams.Stream) -> dict[str, list[ao.History]]:
    """The runs of every agent."""
    return {
        name: [
            ao.run(make(horizon), GRIDS, stream, question.episodes, seed=seed, record=())
            for seed in range(question.runs)
        ]
        for name, make in question.makers.items()
    }


def line(histories: Sequence[ao.History]) -> str:
    """What the runs of one agent have earned, and what it found."""
    earned = np.array([history.reward for history in histories])
    mean, half = over_runs(earned.mean(axis=1)), earned[:, earned.shape[1] // 2 :].mean()
    words = f"{float(mean.mean):10.1f}  ({float(mean.low):.1f} to {float(mean.high):.1f}){half:10.1f}"
    clusters = [len(set(history["cluster"][history["cluster"] >= 0].tolist())) for history in histories]
    wrong = sum(history.misclustered for history in histories)
    return words + (f"   clusters {np.mean(clusters):.1f}, wrong {wrong} of {earned.size}" if any(clusters) else "")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables of the questions on the command line, or all."""
    parser = argparse.ArgumentParser(description="Agents for many tasks on the paper's four grids.")
    parser.add_argument("questions", nargs="*", metavar="QUESTION", help=", ".join(QUESTIONS))
    asked = parser.parse_args(arguments).questions or list(QUESTIONS)
    for name in asked:
        if name not in QUESTIONS:
            parser.error(f"QUESTION must be one of {', '.join(QUESTIONS)}; got {name!r}")
    for name in asked:
        question = QUESTIONS[name]
        for horizon in question.horizons:
            for said, stream in question.streams.items():
                sys.stdout.write(f"{name}: H = {horizon:,}, K = {question.episodes}, tasks {said}\n")
                for who, histories in rows(question, horizon, stream).items():
                    sys.stdout.write(f"  {who:36}{line(histories)}\n")
                    sys.stdout.flush()


if __name__ == "__main__":
    main()
