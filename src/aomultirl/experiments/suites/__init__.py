"""Suites: comparisons that say what they should reach.

``identify`` measures how many steps it takes to recognise a world; ``reward``, ``short`` and ``large`` how much is
earned, in long episodes, in one short life an episode, and in a large world.  Each row of a suite is a set of worlds
and an agent, or a planner that knows the worlds and so is a ceiling; every run of a row is a cell.  In ``beds`` the
worlds are other people's environments, of which nobody knows more than what they show.

**Worlds for development and worlds for reports.**  Random worlds are another set in every run.  Constants are chosen on
the development worlds, and numbers are reported of the others: the seeds of a suite begin at one place for the former,
and at another for the latter (:data:`FIRST_SEEDS`), so that no run of one is a run of the other.

**Agents** are listed in :mod:`aomultirl.experiments.suites.players`, once for all suites that measure reward.
"""

from collections.abc import Callable, Mapping

from aomultirl.experiments.suites.beds import beds_suite, installed
from aomultirl.experiments.suites.cases import (
    QUICK_RUNS,
    RUN,
    SETS_A_SEED,
    SHARE,
    STEPS,
    SuiteCase,
    Target,
    Window,
    pick,
    quick,
    shortened,
)
from aomultirl.experiments.suites.drift import drift_suite
from aomultirl.experiments.suites.hard import hard_suite
from aomultirl.experiments.suites.identify import identify_suite
from aomultirl.experiments.suites.keeping import KeptRuns
from aomultirl.experiments.suites.large import large_suite
from aomultirl.experiments.suites.paper_grids import paper_suite
from aomultirl.experiments.suites.reward import HORIZONS, reward_suite
from aomultirl.experiments.suites.running import SuiteRun, measure, run_suite
from aomultirl.experiments.suites.short import short_suite

__all__ = [
    "CONTESTS",
    "FIRST_SEEDS",
    "HORIZONS",
    "MOST_SEEDS",
    "QUICK_RUNS",
    "RUN",
    "SETS_A_SEED",
    "SHARE",
    "STEPS",
    "SUITES",
    "KeptRuns",
    "SuiteCase",
    "SuiteRun",
    "Target",
    "Window",
    "beds_suite",
    "drift_suite",
    "hard_suite",
    "identify_suite",
    "installed",
    "large_suite",
    "measure",
    "paper_suite",
    "pick",
    "quick",
    "reward_suite",
    "run_suite",
    "short_suite",
    "shortened",
]

SUITES: Mapping[str, Callable[[], list[SuiteCase]]] = {
    "identify": identify_suite,
    "reward": reward_suite,
    "short": short_suite,
    "large": large_suite,
    "paper": paper_suite,
    "hard": hard_suite,
    "drift": drift_suite,
    "beds": beds_suite,
}
"""What makes the cases of each suite, by the name that commands have for it."""
CONTESTS = ("paper", "hard", "drift", "beds")
"""Suites in which all peers meet and nobody is asked for a number."""

MOST_SEEDS = 500
"""Seeds of a suite, from 0, that development and reports have each."""
FIRST_SEEDS: Mapping[str, Mapping[str, int]] = {
    "identify": {"reporting": 0, "development": MOST_SEEDS},
    "reward": {"reporting": MOST_SEEDS, "development": 0},
    "short": {"reporting": MOST_SEEDS, "development": 0},
    "large": {"reporting": MOST_SEEDS, "development": 0},
    "paper": {"reporting": MOST_SEEDS, "development": 0},
    "hard": {"reporting": MOST_SEEDS, "development": 0},
    "drift": {"reporting": MOST_SEEDS, "development": 0},
    "beds": {"reporting": MOST_SEEDS, "development": 0},
}
"""The seed that stands for 0, for every suite.

Development has the small seeds, which everybody tries first; those of ``identify`` were reported before there was a
difference.
"""
