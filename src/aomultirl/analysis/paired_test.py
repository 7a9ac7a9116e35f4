"""Two agents over the runs that they share, by a permutation test.

If the two were equally good, each difference between them could as well have the other sign.  The p-value is the share
of all choices of signs whose mean is at least as far from zero as the one measured; up to 13 pairs all choices are
counted, and beyond that 9,999 random ones, from a fixed seed.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

RESAMPLES, SEED = 9_999, 20230
"""Random choices of signs, and the seed that makes them."""
LIKELY = 0.05
"""p-values above it tell nothing apart."""
MEANING = (
    "p is that of a permutation test of the best two, paired by run: were they equally good, a difference at least as "
    "large would come about with this probability."
)


class PairedTest(NamedTuple):
    """Whether the best agent is better than the second.

    best, second: their labels.
    pairs: runs that both have.
    difference: best less second, in the mean over these.
    p_value: two-sided.
    least: the smallest p-value that so many pairs can give.
    """

    best: str
    second: str
    pairs: int
    difference: float
    p_value: float
    least: float

    def words(self, unit: str) -> str:
        """The result in a sentence; unit: what the difference is of, such as "of total reward"."""
        ahead = f"is ahead of {self.second} by {self.difference:,.4g} {unit}"
        if self.difference == 0.0:
            ahead = f"and {self.second} are level"
        said = f"{self.best} {ahead}, in the mean over {self.pairs} runs with the same seeds; p = {self.p_value:.2g}"
        if self.p_value > LIKELY:
            said += ", which does not tell them apart"
        if self.least > LIKELY or self.p_value < 1.001 * self.least:
            said += f", and {self.pairs} pairs cannot give less than {self.least:.2g}"
        return f"{said}."


def compare(best: str, second: str, differences: NDArray[np.float64]) -> PairedTest | None:
    """Test the differences between two agents, best less second, (runs,); None for fewer than two runs."""
    count = len(differences)
    if count < 2:
        return None
    from scipy.stats import permutation_test

    found = permutation_test(
        (differences,),
        _mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=RESAMPLES,
        random_state=np.random.default_rng(SEED),
    )
    least = max(2.0 ** (1 - count), 2.0 / (RESAMPLES + 1))
    return PairedTest(best, second, count, float(differences.mean()), float(found.pvalue), least)


def _mean(values: NDArray[np.float64], axis: int) -> Any:
    return values.mean(axis=axis)
