"""What can be saved in ICU-Sepsis by who takes three hidden populations for one: the ceilings of a target.

    python examples/tuning/ceilings.py policies
    python examples/tuning/ceilings.py logs
    python examples/tuning/ceilings.py policies logs --sets 2

``policies`` prints survival under four plans that need no data: random doses, the optimal policy of the mean of the
populations (:func:`aomultirl.theory.mean_value_problem`), the best policy without memory that CADP finds, and the
optimum of who is told the population.  ``logs`` prints survival under plans made of the logs of patients on random
doses: of so many patients in all, whom nobody told apart, and of so many of each population.  A dose that was seldom
given is taken to do what the other doses of its state did (``plan_from_logs`` of ``examples/ward_numbers.py``).

All survival is exact; only logs are drawn.  Each line has the mean over sets of populations and its 95 % bootstrap
interval.  The sets are those that the suite ``large`` reports, ten of them.  Both together take some four minutes.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

import aomultirl as ao
from aomultirl.analysis.intervals import over_runs

sys.path.append(str(Path(__file__).parents[1]))
import ward_numbers as known

sys.path.pop()
FIRST_SET = 500_000
"""The sets that the suite ``large`` reports have the seeds FIRST_SET, FIRST_SET + 1, ..."""
SETS = 10
HORIZON = known.PATIENT_STEPS
"""H of a patient in that suite."""
POOLED = (20_000, 60_000)
"""Patients in all, whom nobody told apart."""
TOLD = (10_000, 100_000)
"""Patients of each population, told apart."""


def survival(here: known.Ward, plans: Sequence[known.Plan]) -> float:
    """The mean over the populations, each with its plan."""
    return float(
        np.mean([known.outlook(world, plan).survival for world, plan in zip(here.patients, plans, strict=True)])
    )


def policies(seed: int) -> dict[str, float]:
    """Survival without any data, in one set."""
    here = known.ward(seed)
    return {
        "random doses": survival(here, [known.AT_RANDOM] * known.VARIANTS),
        "mean-value problem": float(ao.theory.mean_value_problem(here.patients, HORIZON).value),
        "CADP": float(ao.theory.coordinate_ascent(here.patients, HORIZON).value),
        "optimum, told the population": survival(here, here.optimal),
    }


def logs(seed: int, pooled: Sequence[int] = POOLED, told: Sequence[int] = TOLD) -> dict[str, float]:
    """Survival under plans from logs, in one set."""
    here, found = known.ward(seed), dict[str, float]()
    for patients in pooled:
        counts = sum(known.logs(seed, patients // known.VARIANTS, known.RANDOM_DOSES))
        plan = known.plan_from_logs(here.patients[0], counts)
        found[f"{patients:,} patients in all, not told apart"] = survival(here, [plan] * known.VARIANTS)
    for patients in told:
        plans = [
            known.plan_from_logs(world, counts)
            for world, counts in zip(here.patients, known.logs(seed, patients, known.RANDOM_DOSES), strict=True)
        ]
        found[f"{patients:,} patients of each population, told apart"] = survival(here, plans)
    return found


QUESTIONS: Mapping[str, Callable[[int], dict[str, float]]] = {"policies": policies, "logs": logs}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table for each question on the command line, or for both."""
    parser = argparse.ArgumentParser(
        description="Ceilings of survival in ICU-Sepsis, for who takes populations for one."
    )
    parser.add_argument("questions", nargs="*", metavar="QUESTION", help="policies, logs, or both if none is named")
    parser.add_argument("--sets", type=int, default=SETS, help=f"sets of populations, {SETS} by default")
    options = parser.parse_args(arguments)
    for question in options.questions:
        if question not in QUESTIONS:
            parser.error(f"QUESTION must be one of {', '.join(QUESTIONS)}; got {question!r}")
    if options.sets < 1:
        parser.error(f"--sets must be at least 1; got {options.sets}")
    for question in options.questions or QUESTIONS:
        found = [QUESTIONS[question](FIRST_SET + number) for number in range(options.sets)]
        sys.stdout.write(f"{question}: survival in {options.sets} sets of {known.VARIANTS} populations\n")
        for name in found[0]:
            mean = over_runs(np.array([one[name] for one in found]))
            sys.stdout.write(f"  {name:50}{float(mean.mean):8.4f}  ({float(mean.low):.4f} to {float(mean.high):.4f})\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
