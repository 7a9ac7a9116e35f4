"""``python -m beds``: run the beds, and write the page of the documentation."""

import argparse
import sys
import time
from pathlib import Path

from aomultirl.experiments.beds import BEDS, LIVES
from beds.page import draw, tables, write_page
from beds.results import WORKERS, Run, run_all, summary

ROOT = Path(__file__).parents[2]
SEEDS = 20
"""Seeds that the page of the documentation is made with."""


def main() -> int:
    """Run what is missing; 1 if anything failed."""
    names = [bed.name for bed in BEDS]
    parser = argparse.ArgumentParser(prog="python -m beds", description="Run the test beds that nobody here wrote.")
    parser.add_argument("--quick", action="store_true", help="2 seeds and a fifth of the episodes")
    parser.add_argument("--seeds", type=int, help="how many seeds; 20, or 2 with --quick")
    parser.add_argument("--beds", nargs="+", choices=names, default=names, help="run only these")
    parser.add_argument("--workers", type=int, default=WORKERS, help="processes at the same time")
    parser.add_argument("--folder", type=Path, default=ROOT / "results" / "beds", help="where results are kept")
    asked = parser.parse_args()
    seeds = asked.seeds or (2 if asked.quick else SEEDS)
    runs = [
        Run(bed=name, life=life, seed=seed, quick=asked.quick)
        for seed in range(seeds)
        for name in asked.beds
        for life in LIVES
    ]
    failed, began = 0, time.monotonic()
    for run, error in run_all(runs, asked.folder, asked.workers):
        failed += error is not None
        said = "done" if error is None else f"failed: {error!r}"
        sys.stderr.write(f"{time.monotonic() - began:6.0f} s  {run.bed}, {run.life}, seed {run.seed}: {said}\n")
    estimates = {
        (bed.name, life): summary(bed, life, seeds, asked.quick, asked.folder) for bed in BEDS for life in LIVES
    }
    content = tables(estimates, seeds, asked.quick)
    sys.stdout.write(content + "\n")
    if asked.quick or seeds < SEEDS or any(found is None for found in estimates.values()):
        sys.stderr.write(f"the page of the documentation is left alone: it shows all beds with {SEEDS} seeds\n")
    else:
        write_page(ROOT / "docs" / "test_beds.md", content)
        draw(estimates, ROOT / "docs" / "images" / "test_beds.png")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
