"""What is played for the claims on the coin game: batches of games of a sweep, and games for every row of a table."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aomultirl.theory.coin_game import CoinGame, Strategy, SuccessiveElimination, TrackAndStop, UniformAllocation
from aomultirl.theory.coin_measuring import failing_rows, success_curve
from aomultirl.theory.lower_bounds import coin_flips

Floats = NDArray[np.float64]
UNIFORM, ELIMINATION, TRACKING, FEW = "uniform allocation", "successive elimination", "Track-and-Stop", "two rows only"
STRATEGIES: dict[str, Strategy] = {
    UNIFORM: UniformAllocation(),
    ELIMINATION: SuccessiveElimination(),
    TRACKING: TrackAndStop(),
    FEW: UniformAllocation(among=2),
}
ENOUGH = 2.0 / 3.0
"""Share of games that the largest budget of a batch must win, so that one half is well inside."""


def limit(rows: int, bias: float) -> float:
    """T1 of the lemma, which the second column has no part in."""
    return coin_flips(rows=rows, bias=bias, base=0.25, base_bias=0.25).first


@dataclass(frozen=True)
class Batch:
    """Some games of a point of a sweep; ``number`` tells batches of one point apart."""

    strategy: str
    rows: int
    bias: float
    games: int
    number: int

    def play(self, seed: int) -> Floats:
        """Flips of the first column that win half of the games, (1,); budgets are T1, and others an eighth apart."""
        game, most = CoinGame(self.rows, self.bias), self.rows / self.bias**2
        while True:
            steps = np.geomspace(most / 32.0, most, 30).round()
            budgets = np.unique(np.append(limit(self.rows, self.bias) // 1, steps)).astype(np.int64)
            curve = success_curve(STRATEGIES[self.strategy], game, budgets, repetitions=self.games, seed=seed)
            if curve.success[-1] >= ENOUGH:
                return np.array([np.interp(0.5, np.maximum.accumulate(curve.success), budgets)])
            most *= 2.0


@dataclass(frozen=True)
class Misses:
    """Games in which every row is special equally often, with so many flips of the columns."""

    strategy: str
    game: CoinGame
    first: int
    second: int
    repetitions: int

    def play(self, seed: int) -> Floats:
        """How often each row is found, and the ends of intervals that hold together with probability 95 %, (3, Q)."""
        found = failing_rows(
            STRATEGIES[self.strategy],
            self.game,
            first=self.first,
            second=self.second,
            repetitions=self.repetitions,
            seed=seed,
            level=1.0 - 0.05 / self.game.rows,
        )
        return np.stack(found)


Task = Batch | Misses
