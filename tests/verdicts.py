"""How often a rule judges so, of what is true with a known probability."""

import numpy as np
from scipy.stats import binom

from aomultirl.laboratory.exponents import rate


def passes(rule, truth, games):
    """With which probability a rate that is ``truth`` is said to hold after so many games."""
    hits = np.arange(games + 1)
    verdicts = [rule.judge(rate(np.arange(games) < count)) is True for count in hits]
    return float(binom.pmf(hits, games, truth)[verdicts].sum())
