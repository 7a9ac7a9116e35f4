"""What everybody may know of a run before it begins."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aomultirl.model_set import ModelSet


@dataclass(frozen=True)
class Setting:
    """The sizes of a run, and what is said of its worlds beforehand.

    n_states, n_actions
        S and A.
    rewards
        (S, A), or None where they are not known.
    episodes
        K.
    models
        the worlds themselves; only for agents that say so in ``told``.
    rest
        what each step that is left is worth after a state has ended the episode: 0, unless the rewards were moved.
    longest
        steps after which somebody else ends every episode; 0 where nobody does.
    """

    n_states: int
    n_actions: int
    rewards: NDArray[np.float64] | None
    episodes: int
    models: ModelSet | None = None
    rest: float = 0.0
    longest: int = 0

    @property
    def n_pairs(self) -> int:
        """S * A."""
        return self.n_states * self.n_actions
