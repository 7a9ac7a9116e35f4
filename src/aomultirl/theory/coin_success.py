"""How many flips of the coin game it takes, measured (:mod:`.coin_game`; Appendix C).

By the lemma and its corollary every strategy needs of the order of Q / lambda^2 flips of the first column to name the
special row every second time, whatever the row.  The strategies at hand treat all rows alike, up to a flip.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aomultirl import checks
from aomultirl.engine.random import RandomStream, streams
from aomultirl.theory.coin_game import CoinGame, Strategy, check_games, check_strategy
from aomultirl.theory.concentration import binomial_interval

TRIALS, FINENESS, MOST = 200, 25, 2**12
"""Games to find the range of budgets, steps over it, and how many times Q / (160 lambda^2) is given up."""


class Success(NamedTuple):
    """Of each budget: how often the special row was named, and an interval for its probability."""

    budgets: NDArray[np.int64]
    success: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


@checks.representable
def success_curve(
    strategy: Strategy,
    game: CoinGame,
    budgets: Sequence[int] | NDArray[np.int64],
    *,
    second: int = 0,
    repetitions: int = 2000,
    seed: int = 0,
    level: float = 0.95,
) -> Success:
    """How often the special row is found with so many flips of the first column, every row being special in turn.

    Parameters
    ----------
    budgets
        ascending.
    second
        how many flips of the second column there are beside them.
    repetitions
        how many games.
    level
        of the intervals, each by itself.

    Examples
    --------
    >>> from aomultirl.theory import TrackAndStop
    >>> curve = success_curve(TrackAndStop(), CoinGame(12, 0.25), [0, 2000])
    >>> curve.success.round(1).tolist()
    [0.1, 1.0]
    """
    check_strategy(strategy, game)
    if checks.array_of("budgets", budgets).ndim != 1:
        raise ValueError(f"budgets must be a list of numbers, not {checks.shown(budgets)}")
    first = np.array([checks.integer("budgets", budget, least=0) for budget in budgets], np.int64)
    if len(first) == 0 or (np.diff(first) < 0).any():
        raise ValueError("budgets must be ascending, and at least one")
    games = checks.integer("repetitions", repetitions, least=1)
    check_games(game, "repetitions", games, len(first))
    specials = np.arange(games, dtype=np.int64) % game.rows
    played = strategy.play(game, specials, first, checks.integer("second", second, least=0), _stream(seed))
    found = (played.guesses == specials[:, None]).sum(axis=0)
    return Success(first, found / games, *binomial_interval(found, games, level))


class FlipsNeeded(NamedTuple):
    """flips of the first column, and an interval for them: where the ends of the curve's intervals reach the goal."""

    flips: float
    low: float
    high: float


@checks.representable
def flips_needed(
    strategy: Strategy,
    game: CoinGame,
    success: float = 0.5,
    *,
    second: int = 0,
    repetitions: int = 2000,
    seed: int = 0,
    level: float = 0.95,
) -> FlipsNeeded:
    """Flips of the first column after which the special row is named with probability ``success``, mean over the rows.

    What even 25 Q / lambda^2 flips are not enough for is inf.  Parameters as in :func:`success_curve`.

    Examples
    --------
    >>> from aomultirl.theory import TrackAndStop
    >>> game = CoinGame(rows=12, bias=0.1)
    >>> flips_needed(TrackAndStop(), game).flips > game.limits.first
    True
    """
    check_strategy(strategy, game)
    goal = checks.real("success", success, above=0.0, below=1.0)
    unit = math.ceil(game.rows / (160.0 * game.bias**2))
    most = unit
    while success_curve(strategy, game, [most], second=second, repetitions=TRIALS, seed=seed).success[0] < goal:
        if most > MOST * unit:
            return FlipsNeeded(math.inf, math.inf, math.inf)
        most *= 2
    while True:
        budgets = np.unique(np.append(0, np.geomspace(max(1.0, most / 32.0), most, FINENESS).round())).astype(np.int64)
        curve = success_curve(strategy, game, budgets, second=second, repetitions=repetitions, seed=seed, level=level)
        if curve.low.max() >= goal or most > MOST * unit:
            break
        most *= 2
    return FlipsNeeded(*(_crossing(budgets, line, goal) for line in (curve.success, curve.high, curve.low)))


class RowSuccess(NamedTuple):
    """Of each row: how often it was named when it was special, and an interval for its probability, (Q,)."""

    success: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @property
    def failing(self) -> int:
        """Rows named at most every second time."""
        return int((self.success <= 0.5).sum())

    @property
    def surely_failing(self) -> int:
        """Rows whose whole interval says so."""
        return int((self.high <= 0.5).sum())


@checks.representable
def failing_rows(
    strategy: Strategy,
    game: CoinGame,
    *,
    first: int | None = None,
    second: int | None = None,
    repetitions: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> RowSuccess:
    """How often every row is found when it is the special one; the lemma: below T1 and T2 at least Q / 6 fail.

    Parameters
    ----------
    first, second
        flips of either column; by default the lemma's T1 and T2, rounded down.  Where T2 is infinite, with eps = 0,
        there are none of the second column, which would tell nothing.
    repetitions
        games for each row.

    Examples
    --------
    >>> from aomultirl.theory import UniformAllocation
    >>> game = CoinGame(rows=12, bias=0.1, base=0.2, base_bias=0.05)
    >>> failing_rows(UniformAllocation(), game).surely_failing >= 12 / 6
    True
    """
    check_strategy(strategy, game)
    columns = [
        _whole(game.limits[column]) if flips is None else checks.integer(name, flips, least=0)
        for column, (name, flips) in enumerate((("first", first), ("second", second)))
    ]
    games = checks.integer("repetitions", repetitions, least=1)
    check_games(game, "repetitions", game.rows * games, 1)
    specials = np.repeat(np.arange(game.rows, dtype=np.int64), games)
    played = strategy.play(game, specials, np.array(columns[:1], np.int64), columns[1], _stream(seed))
    found = (played.guesses[:, 0] == specials).reshape(game.rows, games).sum(axis=1)
    return RowSuccess(found / games, *binomial_interval(found, games, level))


def _whole(limit: float) -> int:
    """Rounded down, but for rounding errors; 0 for inf."""
    return math.floor(limit + 1e-9) if math.isfinite(limit) else 0


def _stream(seed: int) -> RandomStream:
    source: RandomStream = streams(checks.seed("seed", seed), 1)[0]
    return source


def _crossing(budgets: NDArray[np.int64], line: ArrayLike, goal: float) -> float:
    """Where a curve, made to rise, reaches the goal; inf where it does not."""
    rising = np.maximum.accumulate(np.asarray(line))
    at = int(np.searchsorted(rising, goal))
    if at == 0 or at == len(rising):
        return float(budgets[0]) if at == 0 else math.inf
    share = (goal - rising[at - 1]) / (rising[at] - rising[at - 1])
    return float(budgets[at - 1] + share * (budgets[at] - budgets[at - 1]))
