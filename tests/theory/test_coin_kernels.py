"""The compiled strategies of the coin game against slow ones, flip by flip, with the same draws."""

from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aomultirl.engine.random import streams
from aomultirl.theory import CoinGame, SuccessiveElimination, TrackAndStop, UniformAllocation
from slow_twins import slow_xoshiro

DRAWS = 1000


class SlowGame:
    """A table, the draws that decide its flips, and what has been flipped."""

    def __init__(self, game, special, draws):
        self.game, self.special, self.draws = game, special, draws
        self.tally = np.zeros((game.rows, 2, 2), int)
        self.gone, self.ratios = set(), game.odds.ratios

    def below(self, n):
        return (next(self.draws) >> 32) * n >> 32

    def flip(self, row, column):
        chance = self.game.chances[column, int(row == self.special)]
        self.tally[row, column, int(next(self.draws) < int(chance * 2.0**64))] += 1

    def used(self):
        return self.tally.sum(axis=(0, 2)).tolist()

    def score(self, row):
        """ln of the likelihood if the row is special over that if it is not."""
        one, other = (self.tally[row] * self.ratios).sum(axis=1)
        return -np.inf if row in self.gone else one + other

    def scores(self):
        return [self.score(row) for row in range(self.game.rows)]

    def likeliest(self):
        scores = self.scores()
        tied = [row for row, score in enumerate(scores) if score == max(scores)]
        return tied[0] if len(tied) == 1 else tied[self.below(len(tied))]


def slow_uniform(table, budgets, second, among, uniforms):
    """One budget only: inverse distribution functions, summed up term by term."""
    from scipy.special import comb

    for row in range(among):
        for column, flips in enumerate((budgets[0], second)):
            n = flips // among + (row < flips % among)
            if n > 0:
                chance, u = table.game.chances[column, int(row == table.special)], next(uniforms)
                terms = np.cumsum([comb(n, h) * chance**h * (1 - chance) ** (n - h) for h in range(n + 1)])
                heads = next(h for h in count() if h == n or u < terms[h])
                table.tally[row, column] = n - heads, heads
    return [table.likeliest()]


def slow_elimination(table, budgets, second, limit):
    guesses, rows = [], table.game.rows
    while len(guesses) < len(budgets) and len(table.gone) < rows - 1:
        for row in [row for row in range(rows) if row not in table.gone]:
            column = int(table.used()[1] < second)
            while column == 0 and len(guesses) < len(budgets) and table.used()[0] == budgets[len(guesses)]:
                guesses.append(table.likeliest())
            if len(guesses) == len(budgets):
                return guesses
            table.flip(row, column)
        scores = table.scores()
        table.gone |= {row for row, score in enumerate(scores) if max(scores) - score >= limit}
    return guesses + [table.likeliest() for _ in budgets[len(guesses) :]]


def slow_tracking(table, budgets, second, limit):
    order = list(range(table.game.rows))
    for row in range(table.game.rows - 1, 0, -1):
        other = table.below(row + 1)
        order[row], order[other] = order[other], order[row]
    guesses = []
    leader = order[0]
    while True:
        best = max(table.scores())
        if sum(score == best for score in table.scores()) > 1 or table.score(leader) < best:
            leader = next(row for row in order if table.score(row) == best)
        column = int(table.used()[1] < second)
        while column == 0 and len(guesses) < len(budgets) and table.used()[0] == budgets[len(guesses)]:
            guesses.append(leader)
        ahead = best - max(table.score(row) for row in order if row != leader)
        if len(guesses) == len(budgets) or ahead >= limit:
            return guesses + [leader] * (len(budgets) - len(guesses))
        table.flip(leader, column)


games = st.builds(
    CoinGame,
    st.integers(2, 9),
    st.sampled_from([0.05, 0.2, 0.4]),
    st.sampled_from([0.1, 0.3]),
    st.sampled_from([0.0, 0.05, 0.25]),
)
flips = st.lists(st.integers(0, 60), min_size=1, max_size=4).map(sorted)


def play_both(strategy, slow, game, budgets, second, seed):
    """Four games in a row from one stream."""
    specials = np.arange(4, dtype=np.int64) % game.rows
    played = strategy.play(game, specials, np.array(budgets, np.int64), second, streams(seed, 1)[0])
    draws = iter(slow_xoshiro(streams(seed, 1)[0], DRAWS))
    for number, special in enumerate(specials):
        table = SlowGame(game, special, draws)
        assert slow(table) == played.guesses[number].tolist()
        assert table.used() == played.used[number].tolist()


@settings(deadline=None, max_examples=30)
@given(games, flips, st.integers(0, 30), st.floats(0.05, 0.9), st.integers(0, 10**6))
def test_elimination(game, budgets, second, failure, seed):
    limit = np.log((game.rows - 1) / failure)
    play_both(
        SuccessiveElimination(failure),
        lambda t: slow_elimination(t, budgets, second, limit),
        game,
        budgets,
        second,
        seed,
    )


@settings(deadline=None, max_examples=30)
@given(games, flips, st.integers(0, 30), st.none() | st.floats(0.05, 0.9), st.integers(0, 10**6))
def test_tracking(game, budgets, second, failure, seed):
    limit = np.inf if failure is None else np.log((game.rows - 1) / failure)
    play_both(TrackAndStop(failure), lambda t: slow_tracking(t, budgets, second, limit), game, budgets, second, seed)


@settings(deadline=None, max_examples=30)
@given(games, st.integers(0, 120), st.integers(0, 60), st.integers(1, 9), st.integers(0, 10**6))
def test_uniform_allocation(game, budget, second, among, seed):
    among = min(among, game.rows)

    def slow(table):
        uniforms = ((bits >> 11) * 2.0**-53 for bits in table.draws)
        return slow_uniform(table, [budget], second, among, uniforms)

    play_both(UniformAllocation(among), slow, game, [budget], second, seed)


def test_the_twins_can_fail():
    game = CoinGame(5, 0.2)
    with pytest.raises(AssertionError):
        play_both(TrackAndStop(), lambda t: slow_tracking(t, [40], 0, 0.5), game, [40], 0, 1)
    with pytest.raises(AssertionError):
        play_both(SuccessiveElimination(0.1), lambda t: slow_elimination(t, [400], 0, 0.5), game, [400], 0, 1)
