"""The average reward of a world for ever on, and how far values lie apart.

In a communicating world the best average reward, the gain rho*, is the same from everywhere, and the bias h solves
``rho* + h(s) = max_a { r(s, a) + P(s, a) h }``.  The gain is found by value iteration in the lazy world that stays
where it is every second step: it has the same gain, twice the bias, and never goes round in circles.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aomultirl import checks
from aomultirl.engine.compiling import kernel
from aomultirl.engine.planning import expect_row
from aomultirl.engine.signals import serve_signals
from aomultirl.mdp import MDP

U = np.uint64
MOST_SWEEPS = 10_000_000


class AverageReward(NamedTuple):
    """The best that a world gives in the long run.

    gain: rho*, reward a step, to within the tolerance.
    bias: h, (S,), its least entry 0, as far as it is known then.
    """

    gain: float
    bias: NDArray[np.float64]


@kernel
def _iterate(
    starts: NDArray[np.int64],
    states: NDArray[np.int32],
    probs: NDArray[np.float64],
    rewards: NDArray[np.float64],
    values: NDArray[np.float64],
    tolerance: float,
) -> tuple[float, float]:
    """Value iteration in the lazy world; the gain lies between the two."""
    n_states = len(values)
    n_actions = len(rewards) // n_states
    fresh = np.empty(n_states)
    low, high, sweeps, spent = -np.inf, np.inf, 0, 0
    while high - low > tolerance and sweeps < MOST_SWEEPS:
        spent = serve_signals(spent, len(probs))
        low, high = np.inf, -np.inf
        for s in range(n_states):
            best = -np.inf
            for pair in range(s * n_actions, (s + 1) * n_actions):
                mean = expect_row(starts, states, probs, values, U(pair))
                best = max(best, rewards[pair] + 0.5 * (mean + values[s]))
            low, high = min(low, best - values[s]), max(high, best - values[s])
            fresh[s] = best
        values[:] = fresh - fresh.min()
        sweeps += 1
    return low, high


def optimal_gain(world: MDP, tolerance: float = 1e-9) -> AverageReward:
    """The best average reward of a communicating world, and its bias.

    Parameters
    ----------
    tolerance
        the gain is off by at most so much; some 2 D ln(1 / tolerance) sweeps are needed.

    Examples
    --------
    >>> import aomultirl as ao
    >>> round(optimal_gain(ao.worlds.jao()[0]).gain, 6)
    0.6
    """
    if not isinstance(world, MDP):
        raise ValueError(f"world is {checks.shown(world)}, not an MDP")
    within = checks.real("tolerance", tolerance, above=0.0)
    if not world.is_communicating():
        raise ValueError("the world is not communicating: the best average reward depends on where it starts")
    values = np.zeros(world.n_states)
    low, high = _iterate(*world.successors, world.gains.reshape(-1), values, within)
    if high - low > within:
        raise ValueError(f"tolerance = {within:g} is too small: the gain is known to within {high - low:.3g} only")
    return AverageReward((low + high) / 2.0, values / 2.0)


def span(values: ArrayLike) -> float:
    """max - min over the states, the last axis; of several rows the largest.

    With rewards in [0, 1] the span of V*_h, and of the bias, is at most the diameter: from the worst state one can walk
    to the best and lose no more than a reward a step on the way.
    """
    table = checks.finite_array("values", values)
    if table.ndim == 0 or table.size == 0:
        raise ValueError(f"values must be a list of numbers, one a state, not {checks.shown(values)}")
    return float(np.ptp(table, axis=-1).max())
