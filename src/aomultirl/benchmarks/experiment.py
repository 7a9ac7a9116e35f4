"""The paper's whole experiment: the CPU time that our kernels take, next to what plain Python would need.

Nobody waits hours for the latter: one episode of AOMultiRL is transcribed, as one writes it with NumPy, measured, and
its time a step multiplied by the steps of the experiment.
"""

import cProfile
import pstats
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

from aomultirl.benchmarks import peers
from aomultirl.benchmarks.report import Record
from aomultirl.experiments.paper import GAMMA, HORIZON, PaperExperiment

TARGET = 3.5
"""Seconds in the kernels, for ten runs."""


def name_of(runs: int) -> str:
    """What the record of so many runs is called."""
    return f"whole experiment, {runs} run{'' if runs == 1 else 's'}"


def measure(runs: int, episodes: int, most_steps: int) -> Record:
    """Run it, with ``most_steps`` of the transcribed episode's clustering phase."""
    experiment = PaperExperiment(runs=runs, episodes=episodes)
    PaperExperiment(1, 1).cells()[0].run()  # compiled and loaded before anything is timed
    profile = cProfile.Profile(time.process_time)
    steps = 0
    with seen_by_profiles():
        for cell in experiment.cells():
            history = profile.runcall(cell.run)
            steps += int((history["identification_steps"] + history["learning_steps"]).sum())
    mine = kernel_seconds(profile)
    targets = np.zeros((16, 4), bool)
    targets[tuple(np.transpose(GAMMA))] = True
    episode = peers.one_episode(experiment.models()[0], targets, 1043, most_steps, HORIZON)
    begin = time.process_time()
    episode()
    each = (time.process_time() - begin) / (most_steps + HORIZON)
    return Record(
        name=name_of(runs),
        work=steps,
        unit="steps",
        ours_seconds=mine,
        c_seconds=None,
        numpy_seconds=each * steps,
        c_target=None,
        numpy_target=1.0,
        seconds_target=TARGET * runs / 10,
    )


@contextmanager
def seen_by_profiles() -> Iterator[None]:
    """A block in which profiles see compiled functions: since Python 3.12, Numba shows them only if it is asked to."""
    asked = [kernel for kernel in _kernels() if not getattr(kernel, "_enable_sysmon", True)]
    for kernel in asked:
        kernel._enable_sysmon = True
    try:
        yield
    finally:
        for kernel in asked:
            kernel._enable_sysmon = False


def kernel_seconds(profile: cProfile.Profile) -> float:
    """The time that a profile found in compiled functions."""
    codes = [kernel.py_func.__code__ for kernel in _kernels()]
    names = {(code.co_filename, code.co_firstlineno, code.co_name) for code in codes}
    stats: Any = pstats.Stats(profile)
    return float(sum(entry[2] for name, entry in stats.stats.items() if name in names))


def _kernels() -> list[Dispatcher]:
    """The compiled functions of the package."""
    modules = [module for name, module in list(sys.modules.items()) if name.startswith("aomultirl.")]
    return [value for module in modules for value in vars(module).values() if isinstance(value, Dispatcher)]
