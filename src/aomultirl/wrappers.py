"""Wrappers that make other people's environments discrete."""

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, MultiDiscrete
from numpy.typing import ArrayLike, NDArray

from aomultirl import checks

__all__ = ["Discretise"]

UNBOUNDED = float(np.finfo(np.float32).max)
"""Bounds from here on say that there are none: Gymnasium before 1.0 wrote the largest float in place of infinity."""


class Discretise(gymnasium.ObservationWrapper[Any, Any, Any]):
    """Observations of a Box in bins: each number becomes the number of the bin that it lies in.

    Parameters
    ----------
    env
        with a Box of one dimension, or of none, as its observation space.
    bins
        for each number of an observation, in its order or by a name of your own: the edges between its bins, ascending,
        or how many bins of the same width lie between its bounds, which must then be finite.  A number on an edge
        belongs to the bin above; one beyond the bounds belongs to the first or the last.

    Examples
    --------
    >>> import gymnasium
    >>> env = gymnasium.make("MountainCar-v0")
    >>> Discretise(env, {"position": 12, "speed": [-0.02, 0.0, 0.02]}).observation_space
    MultiDiscrete([12  4])
    """

    def __init__(
        self, env: "gymnasium.Env[Any, Any]", bins: Mapping[str, int | ArrayLike] | Sequence[int | ArrayLike]
    ) -> None:
        if not isinstance(env, gymnasium.Env):
            raise checks.Refusal("env", f"is {checks.shown(env)}, not an environment")
        super().__init__(env)
        space = env.observation_space
        if not isinstance(space, Box) or len(space.shape) > 1:
            raise checks.Refusal("env", f"has the observation_space {checks.shown(space)}, not a Box of one dimension")
        lows, highs = space.low.reshape(-1), space.high.reshape(-1)
        given = list(bins.values()) if isinstance(bins, Mapping) else checks.items("bins", bins, "edges or numbers")
        names = [str(name) for name in (bins if isinstance(bins, Mapping) else range(len(given)))]
        if len(given) != len(lows):
            raise checks.Refusal("bins", f"has {len(given)} entries, but an observation has {len(lows)} numbers")
        self.names: list[str] = names
        self.edges: list[NDArray[np.float64]] = [
            _edges(f"bins[{name!r}]", one, float(low), float(high))
            for name, one, low, high in zip(names, given, lows, highs, strict=True)
        ]
        self.observation_space = MultiDiscrete([len(edges) + 1 for edges in self.edges])

    def observation(self, observation: Any) -> NDArray[np.int64]:
        """The bin of each number."""
        numbers = checks.finite_array("observation", observation).reshape(-1)
        if len(numbers) != len(self.edges):
            words = (
                f"is {checks.shown(observation)}, of {len(numbers)} numbers, and there are bins for {len(self.edges)}"
            )
            raise checks.Refusal("observation", words)
        bins = [np.searchsorted(edges, x, side="right") for edges, x in zip(self.edges, numbers, strict=True)]
        return np.array(bins, np.int64)


def _edges(name: str, given: Any, low: float, high: float) -> NDArray[np.float64]:
    """The edges between bins, ascending."""
    if checks.array_of(name, given).ndim == 0:
        count = checks.integer(name, given, least=1)
        if not (np.abs([low, high]) < UNBOUNDED).all():
            raise checks.Refusal(name, f"is {count}, but its number has no finite bounds; give the edges of the bins")
        return np.linspace(low, high, count + 1)[1:-1]
    edges = checks.finite_array(name, given)
    if edges.ndim != 1 or (np.diff(edges) <= 0.0).any():
        raise checks.Refusal(name, f"is {checks.shown(given)}, not a list of edges that rise")
    return edges
