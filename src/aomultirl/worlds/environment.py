"""One of our worlds as a Gymnasium environment, drawing exactly as the simulator draws."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Discrete
from numpy.typing import NDArray

from aomultirl.engine.compiling import kernel
from aomultirl.engine.random import RandomStream, draw, streams
from aomultirl.engine.sampling import AliasTables, pick
from aomultirl.mdp import MDP

U = np.uint64


@kernel
def _step(tables: AliasTables, pair: int, mean: float, noisy: bool, stream: RandomStream) -> tuple[int, float]:
    """(successor, reward) of one step."""
    bits, stream[0], stream[1], stream[2], stream[3] = draw(stream[0], stream[1], stream[2], stream[3])
    head = tables.heads[pair]
    successor = pick(tables.cells, head >> U(6), head & U(63), bits)
    reward = mean
    if noisy:
        bits, stream[0], stream[1], stream[2], stream[3] = draw(stream[0], stream[1], stream[2], stream[3])
        reward = 1.0 if np.float64(bits >> U(11)) * 2.0**-53 < mean else 0.0
    return int(successor), reward


class WorldEnv(gymnasium.Env[Any, Any]):
    """A world, which ends the episode in its terminal states and nowhere else.

    Parameters
    ----------
    world
        the world.
    start
        the first state; drawn from the world's start by default.
    stream
        uint64 (4,), what successors are drawn from; by default seeded by ``reset(seed=...)``.
    noisy
        rewards are 0 or 1 with mean r(s, a).
    """

    def __init__(
        self, world: MDP, start: int | None = None, stream: NDArray[np.uint64] | None = None, noisy: bool = False
    ) -> None:
        self.world, self.noisy = world, noisy
        self.observation_space = Discrete(world.n_states)
        self.action_space = Discrete(world.n_actions)
        self._start, self._given, self._state = start, stream, -1

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        fresh = streams(int(self.np_random.integers(2**63)), 1)[0]
        self._stream = fresh if self._given is None else self._given
        self._state = (
            int(self.np_random.choice(self.world.n_states, p=self.world.start_distribution))
            if self._start is None
            else self._start
        )
        return self._state, {}

    @property
    def state(self) -> int:
        """The state that it is in."""
        return self._state

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        pair = self._state * self.world.n_actions + int(action)
        mean = float(self.world.rewards[self._state, int(action)])
        self._state, reward = _step(self.world.alias_tables, pair, mean, self.noisy, self._stream)
        return self._state, float(reward), bool(self.world.terminal[self._state]), False, {}
