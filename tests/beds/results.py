"""Results of the beds: run in parallel, kept in small files, and summed up with intervals.

A file holds what everybody earned in one bed, with one kind of life and one seed.  It is made anew only if the library
or the beds have changed since, so that a run that was stopped goes on where it was.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import bootstrap

import aomultirl
from aomultirl.experiments.beds import BEDS, Bed
from beds.learners import LEARNERS, Meeting

WORKERS = 2
"""Processes that run beds at the same time."""


@dataclass(frozen=True)
class Run:
    """What a file of results is about.

    bed
        the bed's name.
    life
        "end" or "restart".
    seed
        of the run.
    quick
        whether there were few episodes.
    """

    bed: str
    life: str
    seed: int
    quick: bool

    def file(self, folder: Path) -> Path:
        """Where the results are kept."""
        return folder / f"{self.bed}-{self.life}-{'quick' if self.quick else 'full'}-{self.seed}.json"


class Estimate(NamedTuple):
    """A mean over seeds, and a 95 % bootstrap interval of it."""

    mean: float
    low: float
    high: float


def made_by() -> str:
    """A digest of all code that results depend on: the library with its beds, and the learners."""
    digest = hashlib.sha256()
    here = Path(__file__).parent
    sources = sorted(Path(aomultirl.__file__).parent.rglob("*.py"))
    for source in [*sources, here / "learners.py"]:
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def earned(run: Run, folder: Path, code: str) -> dict[str, list[float]] | None:
    """What everybody earned in each episode, by learner, if a file says so that this code made."""
    try:
        kept = json.loads(run.file(folder).read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    return kept["earned"] if kept["code"] == code else None


def work(run: Run, folder: Path, code: str) -> Run:
    """Run one, and keep its results."""
    bed = next(each for each in BEDS if each.name == run.bed)
    rewards = Meeting(bed, run.life, run.seed, run.quick).all()
    content = json.dumps({"code": code, "earned": {who: np.round(row, 6).tolist() for who, row in rewards.items()}})
    unfinished = run.file(folder).with_suffix(".unfinished")
    unfinished.write_text(content)
    unfinished.replace(run.file(folder))
    return run


def run_all(runs: Iterable[Run], folder: Path, workers: int = WORKERS) -> Iterator[tuple[Run, BaseException | None]]:
    """Run those that no file tells of yet; gives each as it is done, and what it raised, if anything."""
    folder.mkdir(parents=True, exist_ok=True)
    code = made_by()
    missing = [run for run in runs if earned(run, folder, code) is None]
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        futures = {pool.submit(work, run, folder.resolve(), code): run for run in missing}
        for future in as_completed(futures):
            yield futures[future], future.exception()


def estimate(means: list[float]) -> Estimate:
    """The mean over seeds and its interval, which is the mean itself where all seeds agree."""
    mean = float(np.mean(means))
    if len(means) < 2 or np.ptp(means) == 0.0:
        return Estimate(mean, mean, mean)
    found = bootstrap((means,), np.mean, method="percentile", rng=np.random.default_rng(0)).confidence_interval
    return Estimate(mean, float(found.low), float(found.high))


def summary(bed: Bed, life: str, seeds: int, quick: bool, folder: Path) -> dict[str, Estimate] | None:
    """Reward of an episode by learner, over all seeds; None where a seed is missing."""
    code = made_by()
    found = [earned(Run(bed.name, life, seed, quick), folder, code) for seed in range(seeds)]
    if any(each is None for each in found):
        return None
    return {who: estimate([float(np.mean(each[who])) for each in found if each is not None]) for who in LEARNERS}
