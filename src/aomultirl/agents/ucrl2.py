"""UCRL2 in every episode alone: what the paper's minimax section calls near-optimal (Section 3, Appendix C).

Where worlds are so close that earlier episodes do not help, learning each afresh costs K D S sqrt(A H ln H) up to
constants (:func:`aomultirl.theory.ucrl2_bound`), and no algorithm can do with less than K sqrt(D S A H).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.agents.base import NOTHING, Agent, Episode, Report, Setting, known_rewards, read_failure
from aomultirl.agents.state import Saved
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import RandomStream
from aomultirl.engine.stepping import Phase
from aomultirl.learning.greedy import greedy
from aomultirl.learning.ucrl2 import ucrl2

DISCOUNT, SWEEPS = 0.98, 200
"""Of the policy that is judged without optimism."""


class UCRL2(Agent):
    """Learns every episode afresh with UCRL2 (:mod:`aomultirl.learning.ucrl2`).

    Parameters
    ----------
    horizon
        H.
    failure
        delta; by default 1 / H, as in the paper, so that failures cost one step of reward an episode.
    bonus_scale
        multiplies both radii; 1 is faithful.
    rewards
        "known", or "unknown": estimated, as the original does.
    pooled
        keep the samples from episode to episode, as if all were one world: right for a single world, negative transfer
        for several.

    Attributes
    ----------
    epochs
        how many policies each episode planned; at most S A log2(8 H / (S A)) for H >= S A where nothing is pooled.

    Examples
    --------
    >>> import aomultirl as ao
    >>> history = ao.run(ao.agents.UCRL2(1000), ao.worlds.jao(), ao.streams.uniform(), episodes=3)
    >>> history["learning_steps"].tolist()
    [1000, 1000, 1000]
    """

    pair_bytes = 45

    def __init__(
        self,
        horizon: int,
        failure: float | None = None,
        *,
        bonus_scale: float = 1.0,
        rewards: str = "known",
        pooled: bool = False,
    ) -> None:
        self.horizon, self.failure = horizon, failure
        self.bonus_scale, self.rewards, self.pooled = bonus_scale, rewards, pooled

    def begin(self, setting: Setting) -> None:
        super().begin(setting)
        checks.integer("horizon", self.horizon, least=1)
        if self.failure is not None:
            read_failure(self.failure)
        checks.real("bonus_scale", self.bonus_scale, above=0.0)
        checks.truth("pooled", self.pooled)
        self._known = known_rewards(self.rewards, setting)
        self._counts, self._sums = self._nothing()
        self.epochs: list[int] = []

    def _nothing(self) -> tuple[CountTable, NDArray[np.float64]]:
        pairs = self.setting.n_states * self.setting.n_actions
        return CountTable(pairs), np.zeros(pairs) if self._known is None else NOTHING

    def episode(self, start: int, stream: RandomStream, task: int | None = None) -> Episode:
        counts, sums = self._nothing()
        counts.add(self._counts)
        sums = sums + self._sums
        failure = 1.0 / self.horizon if self.failure is None else self.failure
        behaviour = ucrl2(self.setting.n_states, self._known, sums, failure, self.bonus_scale)
        yield Phase(behaviour, self.horizon, counts, sums)
        self.epochs.append(int(behaviour.epochs))
        if self.pooled:
            self._counts, self._sums = counts, sums
        plan = self._best(counts, sums)
        return Report(evaluation=plan, evaluation_horizon=self.horizon, samples=(counts,))

    def _best(self, counts: CountTable, sums: NDArray[np.float64]) -> NDArray[np.int32]:
        """The policy that is best for the samples as they are, the same at every step, (S,)."""
        starts, states, visits = counts.to_lists()
        rewards = self._known
        if rewards is None:
            seen = np.add.reduceat(np.append(visits, 0), starts[:-1]) * (np.diff(starts) > 0)
            rewards = (sums / np.maximum(seen, 1)).reshape(self.setting.n_states, -1)
        return np.asarray(greedy(starts, states, visits, rewards, DISCOUNT, SWEEPS))

    def state(self) -> dict[str, Any]:
        return {"counts": self._counts, "sums": self._sums, "epochs": self.epochs}

    def restore(self, saved: Saved) -> None:
        self._counts, self._sums = saved.counts("counts"), saved.array("sums", self._sums.shape, least=0.0)
        numbers = enumerate(saved.entries("epochs", most=self.setting.episodes))
        self.epochs = [checks.integer(f"{saved.place}.epochs[{k}]", number, least=0) for k, number in numbers]

    def findings(self) -> dict[str, Any]:
        return {"epochs": list(self.epochs)}
