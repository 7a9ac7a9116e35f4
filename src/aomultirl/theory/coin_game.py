"""The coin game behind the paper's lower bound on identification (Appendix C, the lemma and corollary of Q x 2 coins).

Q rows of two coins.  In the first column all coins are fair, but for the one of the special row, which shows heads with
probability 1/2 + lambda; in the second column all show heads with probability delta, that of the special row with
delta + eps.  Flip coins, then name the special row; all but the row is known.

The lemma: with at most T1 flips of the first column and T2 of the second (:func:`aomultirl.theory.coin_flips`) at least
Q / 6 rows are named with probability at most 1/2 when they are the special one.  A 2-JAO world with n actions a side is
this game with Q = n, half its separation for lambda, 4 / D for delta and its gap for eps: to act at the hub is to flip.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

from aomultirl import checks, sizes
from aomultirl.engine.random import RandomStream
from aomultirl.theory import coin_kernels
from aomultirl.theory.lower_bounds import CoinFlips, coin_flips

FIRST, SECOND = 0, 1


@dataclass(frozen=True)
class CoinGame:
    """A table of coins.

    Parameters
    ----------
    rows
        Q, how many there are.
    bias
        lambda, of the first column.
    base
        delta, of the second column.
    base_bias
        eps, of the second column, which tells nothing if it is 0.

    Examples
    --------
    >>> CoinGame(rows=12, bias=0.25, base=0.25, base_bias=0.25).limits
    CoinFlips(first=1.2, second=0.375)
    """

    rows: int
    bias: float
    base: float = 0.25
    base_bias: float = 0.0

    def __post_init__(self) -> None:
        checks.integer("rows", self.rows, least=2)
        checks.real("bias", self.bias, above=0.0, below=0.5)
        checks.real("base", self.base, above=0.0, below=1.0)
        checks.real("base_bias", self.base_bias, least=0.0, below=1.0 - self.base)

    @classmethod
    def of_two_jao(cls, actions: int, diameter: float, separation: float, gap: float) -> "CoinGame":
        """The game that identifying one of the worlds of :func:`aomultirl.worlds.two_jao` is."""
        bias = checks.real("separation", separation, above=0.0, below=1.0) / 2.0
        return cls(actions, bias, 4.0 / checks.real("diameter", diameter, least=16.0), gap)

    @property
    def limits(self) -> CoinFlips:
        """T1 and T2 of the lemma; T2 is inf for eps = 0, when the second column tells nothing.

        Refuses games that the lemma does not cover.
        """
        limits = coin_flips(rows=self.rows, bias=self.bias, base=self.base, base_bias=self.base_bias or self.base)
        return limits if self.base_bias > 0.0 else limits._replace(second=math.inf)

    @property
    def chances(self) -> NDArray[np.float64]:
        """Probabilities of heads, (2, 2), in each column first of ordinary rows, then of the special one."""
        return np.array([[0.5, 0.5 + self.bias], [self.base, self.base + self.base_bias]])

    @property
    def odds(self) -> coin_kernels.Odds:
        """The coins as the compiled strategies take them."""
        fair, special = self.chances.T
        ratios = np.log1p(np.array([(fair - special) / (1.0 - fair), (special - fair) / fair]).T)
        return coin_kernels.Odds((self.chances * 2.0**64).astype(np.uint64), ratios)


class Played(NamedTuple):
    """What came of games.

    guesses
        (games, B), the row named in each game with each budget.
    used
        (games, 2), flips of each column.
    """

    guesses: NDArray[np.int64]
    used: NDArray[np.int64]


class Strategy:
    """A way to play."""

    def play(
        self, game: CoinGame, specials: NDArray[np.int64], budgets: NDArray[np.int64], second: int, stream: RandomStream
    ) -> Played:
        """One game for each special row in ``specials``, with each budget of flips of the first column, (B,) ascending.

        ``second`` is the budget of the second column, which the strategies here use up first: only flips of the first
        are scarce.  ``stream``: all randomness.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class UniformAllocation(Strategy):
    """Flip all rows equally often, the first rows once more where the budget does not divide; name the likeliest.

    Parameters
    ----------
    among
        flip only so many rows; the lemma holds for any number of them.
    """

    among: int | None = None

    def play(
        self, game: CoinGame, specials: NDArray[np.int64], budgets: NDArray[np.int64], second: int, stream: RandomStream
    ) -> Played:
        among = game.rows if self.among is None else checks.integer("among", self.among, least=1, most=game.rows)
        games = _games(game, specials, budgets, second)
        for at, budget in enumerate(budgets):
            tables = _tables(game, np.array([budget, second], np.int64) // among)
            coin_kernels.spread(games, tables, among, at, stream)
        return Played(games.guesses, games.used)


@dataclass(frozen=True)
class SuccessiveElimination(Strategy):
    """Flip every row that is left once a round; drop rows that are (Q - 1) / p times less likely than the likeliest.

    Parameters
    ----------
    failure
        p: where the budget lets it end by itself, the special row is dropped with probability at most p.
    """

    failure: float = 0.5

    def play(
        self, game: CoinGame, specials: NDArray[np.int64], budgets: NDArray[np.int64], second: int, stream: RandomStream
    ) -> Played:
        games = _games(game, specials, budgets, second)
        coin_kernels.eliminate(games, _limit(game, self.failure), stream)
        return Played(games.guesses, games.used)


@dataclass(frozen=True)
class TrackAndStop(Strategy):
    """Flip the row that is the likeliest now; stop when it is (Q - 1) / p times likelier than all others.

    Track-and-Stop (Garivier, Kaufmann 2016) plays the shares that would tell the likeliest row j from its rivals in the
    fewest flips.  A flip of j speaks for or against all rivals at once, one of a rival about that rival alone, so with
    three rows or more, and lambda up to 1/4, all flips go to j.  The likelihood of a wrong j falls until another row is
    the likeliest: no exploration needs to be forced.

    Parameters
    ----------
    failure
        p: where the budget lets it stop by itself, it is wrong with probability at most p; None never stops.
    """

    failure: float | None = None

    def play(
        self, game: CoinGame, specials: NDArray[np.int64], budgets: NDArray[np.int64], second: int, stream: RandomStream
    ) -> Played:
        games = _games(game, specials, budgets, second)
        coin_kernels.track(games, math.inf if self.failure is None else _limit(game, self.failure), stream)
        return Played(games.guesses, games.used)


class Coins:
    """One game for a strategy of your own: flip coins of column 0 and 1 while ``left`` of that column is above 0.

    Attributes
    ----------
    game
        the table; which row is special it does not say.
    left
        how many flips of either column there still are.
    rng
        a numpy Generator for choices of your own, made from the seed and apart from what the coins show: a strategy
        that draws from nothing else gives the same numbers with the same seed.
    """

    def __init__(
        self,
        game: CoinGame,
        special: int,
        first: int,
        second: int,
        chance: np.random.Generator,
        rng: np.random.Generator,
    ) -> None:
        check_game(game)
        checks.integer("special", special, least=0, most=game.rows - 1)
        self.left = [checks.integer("first", first, least=0), checks.integer("second", second, least=0)]
        self.game, self.rng = game, rng
        self._special, self._chance, self._chances = special, chance, game.chances

    def flip(self, row: int, column: int = FIRST) -> bool:
        """True for heads."""
        row = checks.integer("row", row, least=0, most=self.game.rows - 1)
        column = checks.integer("column", column, least=0, most=1)
        if self.left[column] == 0:
            raise ValueError(f"column {column} has no flips left")
        self.left[column] -= 1
        return bool(self._chance.random() < self._chances[column, int(row == self._special)])


@dataclass(frozen=True)
class OwnStrategy(Strategy):
    """Any strategy: ``choose(coins)`` flips some :class:`Coins` and returns a row.  Not compiled, so rather slow.

    What it leaves to chance it draws from ``coins.rng``.

    Examples
    --------
    >>> first_heads = OwnStrategy(lambda coins: next((row for row in range(12) if coins.flip(row)), 0))
    >>> from aomultirl.theory import failing_rows
    >>> failing_rows(first_heads, CoinGame(12, 0.25), first=12, second=0, repetitions=100).failing
    11
    """

    choose: Callable[[Coins], int]

    def __post_init__(self) -> None:
        if not callable(self.choose):
            raise ValueError(f"choose is {checks.shown(self.choose)}, not a function of some Coins")

    def play(
        self, game: CoinGame, specials: NDArray[np.int64], budgets: NDArray[np.int64], second: int, stream: RandomStream
    ) -> Played:
        played, chance = _empty(len(specials), len(budgets)), np.random.default_rng(stream)
        (rng,) = chance.spawn(1)
        for number, special in enumerate(specials):
            for b, budget in enumerate(budgets):
                coins = Coins(game, int(special), int(budget), second, chance, rng)
                guess = checks.integer("the row named", self.choose(coins), least=0, most=game.rows - 1)
                played.guesses[number, b] = guess
                played.used[number] = budget - coins.left[FIRST], second - coins.left[SECOND]
        return played


def check_game(game: object) -> None:
    """Refuse what is no game."""
    if not isinstance(game, CoinGame):
        raise ValueError(f"game is {checks.shown(game)}, not a CoinGame")


def check_strategy(strategy: object, game: object) -> None:
    """Refuse what is no strategy, or no game to play."""
    check_game(game)
    if not callable(getattr(strategy, "play", None)) or isinstance(strategy, type):
        raise ValueError(f"strategy is {checks.shown(strategy)}, not a strategy such as TrackAndStop()")


def check_games(game: CoinGame, name: str, games: int, budgets: int) -> None:
    """Refuse so many games, and a game of so many rows, where they do not fit into the memory."""
    sizes.check("rows", game.rows, 80.0 * game.rows, "a game of so many rows")
    sizes.check(name, games, (32.0 + 8.0 * budgets) * games, f"the outcome of so many games with {budgets} budgets")


def _empty(games: int, budgets: int) -> Played:
    return Played(np.zeros((games, budgets), np.int64), np.zeros((games, 2), np.int64))


def _games(game: CoinGame, specials: NDArray[np.int64], budgets: NDArray[np.int64], second: int) -> coin_kernels.Games:
    """The games as the compiled strategies take them, with nothing named yet."""
    return coin_kernels.Games(game.odds, game.rows, specials, budgets, second, *_empty(len(specials), len(budgets)))


def _limit(game: CoinGame, failure: float) -> float:
    """ln((Q - 1) / p)."""
    return math.log((game.rows - 1) / checks.real("failure", failure, above=0.0, below=1.0))


def _tables(game: CoinGame, shares: NDArray[np.int64]) -> NDArray[np.float64]:
    """Distributions of heads as :func:`coin_kernels.spread` takes them, for so many flips a row, and one more."""
    longest = int(shares.max()) + 1
    sizes.check("budgets", f"{longest} flips a row", 90.0 * longest, "the distribution of their heads")
    tables = np.ones((2, 2, 2, longest + 1))
    for column, longer, special in np.ndindex(2, 2, 2):
        n = int(shares[column]) + longer
        tables[column, longer, special, : n + 1] = bdtr(np.arange(n + 1.0), n, game.chances[column, special])
    return tables
