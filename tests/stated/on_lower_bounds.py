"""What the page on lower bounds states of the coin game, played as it says; it takes some seconds."""

import math
from functools import cache

import numpy as np

from aomultirl import theory
from stated.checks import states

PAGE = "docs/lower_bounds.md"
GAMES = 4_000
STRATEGIES = {
    "uniform allocation": theory.UniformAllocation(),
    "successive elimination, p = 1/2": theory.SuccessiveElimination(0.5),
    "Track-and-Stop": theory.TrackAndStop(),
}
ROWS = 12, 48, 192
SPAN = "{} ({} to {})"


@cache
def flips(strategy, rows, bias):
    """Flips of the first column for success 1/2, and the ends of the interval."""
    return theory.flips_needed(STRATEGIES[strategy], theory.CoinGame(rows=rows, bias=bias), repetitions=GAMES)


def shares(strategy):
    """In multiples of Q / lambda^2, for each Q."""
    for rows in ROWS:
        found = flips(strategy, rows, 0.1)
        for number in (found.flips, found.low, found.high):
            yield number * 0.1**2 / rows


for one in STRATEGIES:
    states(PAGE, f"| {one} | {SPAN} | {SPAN} | {SPAN} |")(lambda one=one: list(shares(one)))


@states(PAGE, "| | Q = {} | {} | {} |")
def numbers_of_rows():
    return ROWS


@states(PAGE, "(λ = 0.1, {} games a point, {} % intervals; the lemma's T1 is at {})")
def how_it_was_played():
    return GAMES, 95, theory.CoinGame(rows=ROWS[-1], bias=0.1).limits.first * 0.1**2 / ROWS[-1]


@states(PAGE, "the best strategy meets it, {} times above the lemma's constant", within=0.1)
def how_far_above():
    game = theory.CoinGame(rows=ROWS[-1], bias=0.1)
    return [min(flips(one, ROWS[-1], 0.1).flips for one in STRATEGIES) / game.limits.first]


@states(PAGE, "In λ, from {} to {} with {} rows, all {} have slopes within {} of {}.")
def slopes():
    biases, rows = (0.25, 0.1, 0.05, 0.025), 24
    found = [
        np.polyfit(np.log(biases), [np.log(flips(one, rows, bias).flips) for bias in biases], 1)[0]
        for one in STRATEGIES
    ]
    return biases[0], biases[-1], rows, len(found), math.ceil(100 * max(abs(slope + 2) for slope in found)) / 100, -2
