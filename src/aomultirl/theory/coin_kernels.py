"""How to look for the special row of the coin game, compiled: many games in one call.

The score of a row is the logarithm of how much likelier all its flips are if the row is special than if not; rows with
the same flips have the same score, to the last bit.  Since exactly one row is special, the row of the greatest score is
the likeliest.  That the special row is ever ``ln((Q-1) / p)`` below a given other one has probability at most
p / (Q-1): under the truth the ratio of the two likelihoods is a martingale of mean 1, and Ville's inequality holds.

The second column is flipped first, as far as its budget goes; then only flips of the first column are left to count,
and one game says what every smaller budget of the first column would have led to.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import inlined, kernel
from aomultirl.engine.random import RandomStream, draw, draw_below
from aomultirl.engine.signals import serve_signals

U = np.uint64


class Odds(NamedTuple):
    """The coins of a game, by column, 0 or 1.

    heads
        (2, 2), heads[c, k]: 64 random bits below it are heads, k = 1 in the special row.
    ratios
        (2, 2), ratios[c, x]: ln of how much likelier the outcome x, 1 for heads, is of a special coin.
    """

    heads: NDArray[np.uint64]
    ratios: NDArray[np.float64]


class Games(NamedTuple):
    """Games to be played with the same budgets, and what comes of them.

    odds
        of the coins.
    rows
        Q.
    specials
        (games,), the special row of each.
    budgets
        (B,), of the first column, ascending.
    second
        the budget of the second column.
    guesses
        (games, B), the row that was named with each budget.
    used
        (games, 2), flips of each column until one row was left or the last budget was spent.
    """

    odds: Odds
    rows: int
    specials: NDArray[np.int64]
    budgets: NDArray[np.int64]
    second: int
    guesses: NDArray[np.int64]
    used: NDArray[np.int64]


@inlined
def _bits(stream: RandomStream) -> np.uint64:
    bits, stream[0], stream[1], stream[2], stream[3] = draw(stream[0], stream[1], stream[2], stream[3])
    return U(bits)


@inlined
def _score(ratios: NDArray[np.float64], tally: NDArray[np.int64], row: int) -> float:
    """The score of a row; tally: (Q, 2, 2), flips by column and outcome."""
    one = tally[row, 0, 0] * ratios[0, 0] + tally[row, 0, 1] * ratios[0, 1]
    other = tally[row, 1, 0] * ratios[1, 0] + tally[row, 1, 1] * ratios[1, 1]
    return float(one + other)


@kernel
def _likeliest(scores: NDArray[np.float64], stream: RandomStream) -> int:
    """The row of the greatest score; of several one at random."""
    best = scores.max()
    tied = 0
    for score in scores:
        tied += score == best
    skip = 0 if tied == 1 else draw_below(tied, stream)
    for row in range(len(scores)):
        if scores[row] == best:
            if skip == 0:
                return row
            skip -= 1
    return 0


@inlined
def _flip(
    heads: NDArray[np.uint64],
    ratios: NDArray[np.float64],
    tally: NDArray[np.int64],
    row: int,
    column: int,
    special: int,
    stream: RandomStream,
) -> float:
    """Flip a coin of a row, and book it; the row's new score.  Arrays, because records are counted at every call."""
    outcome = int(_bits(stream) < heads[column, int(row == special)])
    tally[row, column, outcome] += 1
    return _score(ratios, tally, row)


@kernel
def spread(games: Games, tables: NDArray[np.float64], among: int, at: int, stream: RandomStream) -> None:
    """Spread the flips of budget ``at`` evenly over the first ``among`` rows, then name the likeliest.

    tables[c, l, k, h]: probability of at most h heads of a coin of column c, l = 1 where the row gets one more flip
    than others, k = 1 where it is special.
    """
    rows, specials, ratios = games.rows, games.specials, games.odds.ratios
    scores, tally = np.zeros(rows), np.zeros((rows, 2, 2), np.int64)
    flips, spent = (games.budgets[at], games.second), 0
    for game in range(len(specials)):
        for row in range(among):
            spent = serve_signals(spent, 16)
            for column in range(2):
                longer = int(row < flips[column] % among)
                n = flips[column] // among + longer
                if n > 0:
                    u = np.float64(_bits(stream) >> U(11)) * 2.0**-53
                    table = tables[column, longer, int(row == specials[game]), : n + 1]
                    tally[row, column, 1] = min(n, np.searchsorted(table, u, "right"))
                    tally[row, column, 0] = n - tally[row, column, 1]
            scores[row] = _score(ratios, tally, row)
        games.guesses[game, at] = _likeliest(scores, stream)
        games.used[game, 0], games.used[game, 1] = flips


@kernel
def eliminate(games: Games, limit: float, stream: RandomStream) -> None:
    """Flip every row that is left once a round; drop those whose score is ``limit`` below the best."""
    rows, specials, budgets, second, guesses = games.rows, games.specials, games.budgets, games.second, games.guesses
    scores, tally, out = np.zeros(rows), np.zeros((rows, 2, 2), np.int64), np.zeros(rows, np.bool_)
    heads, ratios, spent = games.odds.heads, games.odds.ratios, 0
    for game in range(len(specials)):
        scores[:], tally[:], out[:] = 0.0, 0, False
        left, at, first, others = rows, 0, 0, 0
        while left > 1 and at < len(budgets):
            spent = serve_signals(spent, 8 * rows)
            for row in range(rows):
                if out[row]:
                    continue
                column = 1 if others < second else 0
                while column == 0 and at < len(budgets) and first == budgets[at]:
                    guesses[game, at] = _likeliest(scores, stream)
                    at += 1
                if at == len(budgets):
                    break
                scores[row] = _flip(heads, ratios, tally, row, column, specials[game], stream)
                first, others = first + (column == 0), others + (column == 1)
            best = scores.max()
            for row in range(rows):
                if not out[row] and best - scores[row] >= limit and at < len(budgets):
                    out[row], scores[row] = True, -np.inf
                    left -= 1
        for later in range(at, len(budgets)):
            guesses[game, later] = _likeliest(scores, stream)
        games.used[game, 0], games.used[game, 1] = first, others


@kernel
def _update(tree: NDArray[np.int64], scores: NDArray[np.float64], row: int) -> None:
    """The tournament after a row's score changed: tree[1] is the row of the greatest score, the first of several."""
    node = (len(scores) + row) // 2
    while node > 0:
        left, right = tree[2 * node], tree[2 * node + 1]
        tree[node] = right if scores[right] > scores[left] else left
        node //= 2


@kernel
def _runner_up(tree: NDArray[np.int64], scores: NDArray[np.float64], winner: int) -> float:
    """The greatest score of the others: of those who lost against the winner."""
    best, node = -np.inf, len(scores) + winner
    while node > 1:
        best = max(best, scores[tree[node ^ 1]])
        node //= 2
    return best


@kernel
def track(games: Games, limit: float, stream: RandomStream) -> None:
    """Flip the likeliest row until its score is ``limit`` above all others.

    Every game puts the rows in a random order first, and of rows with equal scores the first in it goes ahead.
    """
    rows, specials, budgets, second, guesses = games.rows, games.specials, games.budgets, games.second, games.guesses
    size = 1
    while size < rows:
        size *= 2
    scores, tally, tree = np.empty(size), np.zeros((rows, 2, 2), np.int64), np.empty(2 * size, np.int64)
    order, places = np.empty(rows, np.int64), np.empty(rows, np.int64)
    heads, ratios, spent = games.odds.heads, games.odds.ratios, 0
    for game in range(len(specials)):
        order[:] = np.arange(rows)
        for row in range(rows - 1, 0, -1):
            other = draw_below(row + 1, stream)
            order[row], order[other] = order[other], order[row]
        places[order] = np.arange(rows)
        special = places[specials[game]]
        scores[:rows], scores[rows:], tally[:] = 0.0, -np.inf, 0
        for node in range(2 * size - 1, 0, -1):
            tree[node] = node - size if node >= size else tree[2 * node]
        at, first, others, leader, next_best = 0, 0, 0, 0, _runner_up(tree, scores, 0)
        spent = serve_signals(spent, 8 * rows)
        while True:
            spent = serve_signals(spent, 8)
            if scores[leader] <= next_best:
                _update(tree, scores, leader)
                leader = tree[1]
                next_best = _runner_up(tree, scores, leader)
            column = 1 if others < second else 0
            while column == 0 and at < len(budgets) and first == budgets[at]:
                guesses[game, at] = order[leader]
                at += 1
            if at == len(budgets) or scores[leader] - next_best >= limit:
                break
            scores[leader] = _flip(heads, ratios, tally, leader, column, special, stream)
            first, others = first + (column == 0), others + (column == 1)
        guesses[game, at:] = order[leader]
        games.used[game, 0], games.used[game, 1] = first, others
