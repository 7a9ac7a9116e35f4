"""How much bandits with known models, and with models that are learned, lose a task, beside UCB.

    python examples/tuning/bandits.py

Random sets of three models with four arms, tasks of 150 pulls drawn by chance.  UCB is ``UMUCB`` that is told that its
means may be wrong by anything.  ``TUCB`` is told how many models there are, and how soon it trusts its estimates is its
``scale``.  Printed is the regret of a task in the first hundred and in the last four hundred tasks, the means over sets
and their 95 % bootstrap intervals.  The sets serve for nothing else.  A minute.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import aomultirl as ao
from aomultirl.analysis.intervals import over_runs

SETS = range(900, 908)
"""Seeds of the sets and of the runs."""
MODELS, ARMS, PULLS, TASKS = 3, 4, 150, 1_000
FIRST, LAST = slice(0, 100), slice(600, 1_000)
ANYTHING = 100.0
"""An accuracy of means that excludes no model."""
SCALES = (0.1, 0.3, 0.5, 1.0)
Means = Sequence[Sequence[float]]


def agents() -> Mapping[str, Callable[[Means], Any]]:
    """What makes each agent from the means of the arms, which only some are told."""
    found: dict[str, Callable[[Means], Any]] = {
        "UCB": lambda means: ao.agents.UMUCB(PULLS, means, ANYTHING),
        "MUCB": lambda means: ao.agents.MUCB(PULLS, means),
    }
    for scale in SCALES:
        found[f"TUCB, scale {scale:g}"] = lambda means, scale=scale: ao.agents.TUCB(PULLS, len(means), scale=scale)
    return found


def regrets(make: Callable[[Means], Any], seed: int, tasks: int = TASKS) -> np.ndarray:
    """Of every task, (K,)."""
    means = np.random.default_rng(seed).uniform(0.1, 0.9, (MODELS, ARMS)).tolist()
    models = ao.worlds.bandits(means)
    history = ao.run(make(means), models, ao.streams.uniform(), tasks, seed=seed, record=())
    best = np.array([world.first_values(PULLS)[world.start] for world in models])
    return np.asarray(best[history["task"]] - history.reward)


def main() -> None:
    """Print the table."""
    sys.stdout.write(f"{'regret a task':20}{'the first 100':>28}{'the last 400 of 1,000':>28}\n")
    for name, make in agents().items():
        lost = np.array([regrets(make, seed) for seed in SETS])
        spans = [over_runs(lost[:, part].mean(axis=1)) for part in (FIRST, LAST)]
        words = [f"{float(one.mean):.1f} ({float(one.low):.1f} to {float(one.high):.1f})" for one in spans]
        sys.stdout.write(f"{name:20}{words[0]:>28}{words[1]:>28}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
