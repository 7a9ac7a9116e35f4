"""What the agents share that learn with UCBVI: samples, rewards known or estimated, plans."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import RandomStream
from aomultirl.learning.ucbvi import UCBVI, Estimate, estimate


@dataclass(frozen=True)
class Learner:
    """UCBVI with what it knows of the rewards.

    Unknown rewards are estimated by their means, and made optimistic with ``sqrt(L / (2 n))``: by Hoeffding's
    inequality a mean of n rewards in [0, 1] is off by more with probability ``2 exp(-L)``, so with
    ``L = ln(5 S A K H M / p_1)`` all pairs, numbers of visits and worlds together fail with probability below p_1.
    """

    ucbvi: UCBVI
    rewards: NDArray[np.float64] | None
    n_states: int
    n_actions: int

    def sums(self) -> NDArray[np.float64]:
        """Where a phase adds up rewards: (S * A,) if they are unknown, else empty."""
        return np.zeros(self.n_states * self.n_actions if self.rewards is None else 0)

    def _means(self, learned: Estimate, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        return sums.reshape(learned.visits.shape) / np.maximum(learned.visits, 1)

    def act(
        self, tables: tuple[CountTable, ...], sums: NDArray[np.float64], horizon: int, stream: RandomStream
    ) -> NDArray[np.int32]:
        """The optimistic plan from these samples."""
        learned = estimate(self.n_states, *tables)
        return self.ucbvi.optimistic(learned, self.upper_rewards(learned, sums), horizon, stream)

    def upper_rewards(self, learned: Estimate, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """The rewards where they are known, upper bounds on them where they are not, (S, A)."""
        if self.rewards is not None:
            return self.rewards
        radius = np.sqrt(self.ucbvi.logarithm / (2.0 * np.maximum(learned.visits, 1)))
        return np.minimum(1.0, self._means(learned, sums) + self.ucbvi.bonus_scale * radius)

    def best(
        self, tables: tuple[CountTable, ...], sums: NDArray[np.float64], horizon: int, stream: RandomStream
    ) -> NDArray[np.int32]:
        """The plan that is best for the samples as they are, without any bonus."""
        learned = estimate(self.n_states, *tables)
        rewards = self._means(learned, sums) if self.rewards is None else self.rewards
        return self.ucbvi.greedy(learned, rewards, horizon, stream)
