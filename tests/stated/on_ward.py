"""What the case study of the ward states of its own sizes; ``tests/test_ward.py`` has its exact numbers."""

import sys

from aomultirl.worlds.icu_sepsis import DEATH, N_ACTIONS, N_STATES
from stated.checks import states
from stated.reading import ROOT

sys.path.append(str(ROOT / "examples"))
import ward_numbers

sys.path.remove(str(ROOT / "examples"))
WARD = "docs/ward.md"
FULL = ward_numbers.Sizes()
SIZES = {
    "There are {} states and {} doses.": lambda: [N_STATES, N_ACTIONS],
    "Wards have the seeds {}, {}, ...": lambda: [ward_numbers.FIRST_SEED, ward_numbers.FIRST_SEED + 1],
    "The ward here pays {} for every step": lambda: [ward_numbers.STEP_PAY],
    "until the posterior of the right variant stays above {}:": lambda: [ward_numbers.SURE],
    "there are {} pairs of a state under treatment and a dose": lambda: [DEATH * N_ACTIONS],
    "of whom {} in {} had random doses, as in a trial": lambda: [1, 1 / ward_numbers.TRIAL],
    "({} visits' worth of it, chosen on another ward)": lambda: [ward_numbers.SHRINKAGE],
    "by grouping patients into {} states": lambda: [N_STATES],
    "Survival by week of {} agents that begin with nothing": lambda: [
        len({ward_numbers.POOLED, ward_numbers.RECALL, ward_numbers.TOLD})
    ],
    "{} wards, each with its own run;": lambda: [FULL.runs],
    "steps, {} of them for those who learn from nothing and": lambda: [FULL.weeks],
}
for piece, values in SIZES.items():
    states(WARD, piece)(values)
