"""The coin game (Appendix C): flips that strategies need, against Q / lambda^2, and rows that they miss with too few.

The flips needed are those of the first column after which the special row is named in half of all games, every row
being special in turn.  Each point is measured in batches of games, and the spread of the batches gives the intervals.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from aomultirl.experiments.executors import Executor
from aomultirl.laboratory import paper_places
from aomultirl.laboratory.coin_tasks import (
    ELIMINATION,
    STRATEGIES,
    TRACKING,
    UNIFORM,
    Batch,
    Floats,
    Misses,
    Task,
    limit,
)
from aomultirl.laboratory.exponents import Fit, line_through
from aomultirl.laboratory.findings import Claim, Figure, Findings, Series
from aomultirl.laboratory.sweeps import Expected, bounded, exponent, fitted, mean_of, measured
from aomultirl.laboratory.tasks import carry_out
from aomultirl.theory.coin_game import CoinGame
from aomultirl.theory.lower_bounds import hidden_bias

FAIR = (UNIFORM, ELIMINATION, TRACKING)
"""Strategies that treat all rows alike, so that flips enough find any row."""
ROWS, BIAS = 24, 0.1
"""Q of the sweep over lambda, and lambda of the sweep over Q."""
TABLES = (CoinGame(12, 0.05, 0.1, 0.02), CoinGame(48, 0.1, 0.1, 0.02), CoinGame(192, 0.25, 0.25, 0.05))
"""Of the lemma; the second is the one of its figure and of the corollary."""
SPARE = 20
"""Flips of both columns together, in multiples of T1, in the corollary."""
BASES, HORIZONS = (0.02, 0.1, 0.25), (10, 100, 1000, 10_000, 100_000)
"""delta and H with which the corollary's T2 is computed."""
TOLERANCE = 0.15
"""Of an exponent: half of what a logarithm of Q adds to it between 12 and 192 rows."""
KEY = 7
"""Of this experiment's randomness."""
LEMMA, COROLLARY = paper_places.LEMMA_23, paper_places.COROLLARY_24
BY_BIAS, BY_ROWS, BY_FLIPS, BY_HORIZON = "coin_lambda", "coin_rows", "coin_lemma", "coin_corollary"

Point = tuple[str, int, float]
"""Strategy, Q, lambda."""


class Sizes(NamedTuple):
    """biases, rows: the sweeps; batches, games: of a point, and of a batch; repetitions: games for each special row;
    multiples: of T1, in the lemma's figure."""

    biases: tuple[float, ...]
    rows: tuple[int, ...]
    batches: int
    games: int
    repetitions: int
    multiples: tuple[int, ...]


QUICK = Sizes((0.25, 0.12, 0.055, 0.025), (12, 26, 56, 120), 12, 120, 250, (1, 2, 4, 8, 16, 32, 64))
FULL = Sizes(
    (0.25, 0.16, 0.1, 0.063, 0.04, 0.025), (12, 24, 48, 96, 192), 20, 600, 1000, (1, 2, 4, 8, 16, 32, 64, 128, 256)
)


def measure(quick: bool, seed: int, executor: Executor) -> Findings:
    """All claims on the coin game."""
    return measure_with(QUICK if quick else FULL, seed, executor)


def measure_with(sizes: Sizes, seed: int, executor: Executor) -> Findings:
    """The same, with other sizes than the two of :func:`measure`."""
    biases = [(ROWS, bias) for bias in sizes.biases]
    rows = [(count, BIAS) for count in sizes.rows]
    batches = {
        (name, *point): [Batch(name, *point, sizes.games, number) for number in range(sizes.batches)]
        for name in FAIR
        for point in (*biases, *rows)
    }
    lemma = {name: [_limited(name, table, sizes.repetitions) for table in TABLES] for name in STRATEGIES}
    corollary = {name: [_hidden(name, sizes.repetitions)] for name in STRATEGIES}
    curves = {
        name: [_limited(name, TABLES[1], sizes.repetitions, times) for times in sizes.multiples] for name in STRATEGIES
    }
    groups: list[dict[str, list[Misses]]] = [lemma, corollary, curves]
    tasks: list[Task] = [task for tasks in batches.values() for task in tasks]
    tasks += [task for group in groups for tasks in group.values() for task in tasks]
    found = carry_out(tasks, KEY, seed, executor)
    flips = {point: np.concatenate([found[task] for task in tasks]) for point, tasks in batches.items()}
    missed, hidden, after = (
        {name: [found[task] for task in tasks] for name, tasks in group.items()} for group in groups
    )
    return (
        _sweep(BY_BIAS, flips, biases)
        + _sweep(BY_ROWS, flips, rows)
        + Findings([_above_the_limit(flips), *_lemma(missed)], [_lemma_figure(sizes.multiples, after, hidden)])
        + _second_column()
        + Findings([_corollary(hidden)])
    )


def _limited(name: str, table: CoinGame, repetitions: int, times: int = 1) -> Misses:
    """With T1, or a multiple of it, and T2 flips."""
    first, second = table.limits
    return Misses(name, table, math.floor(times * first + 1e-9), math.floor(second + 1e-9), repetitions)


def _hidden(name: str, repetitions: int) -> Misses:
    """With T1 flips, many of the second column, and an eps so small that these are no use."""
    table = TABLES[1]
    first = math.floor(table.limits.first + 1e-9)
    bias = hidden_bias(rows=table.rows, base=table.base, flips=SPARE * first)
    game = CoinGame(table.rows, table.bias, table.base, bias)
    return Misses(name, game, first, (SPARE - 1) * first, repetitions)


def _sweep(figure: str, flips: Mapping[Point, Floats], points: Sequence[tuple[int, float]]) -> Findings:
    """The exponents of one sweep, and its figure."""
    over_rows = figure == BY_ROWS
    x = [float(rows if over_rows else bias) for rows, bias in points]
    claims, series = [], []
    for name in FAIR:
        samples = [flips[(name, *point)] for point in points]
        line = line_through(x, samples)
        claims.append(_exponent(name, line, points, figure))
        series += [measured(name, x, samples), fitted(name, x, line)]
    if over_rows:
        normal = [_normal_approximation(*point) for point in points]
        series.append(Series("uniform allocation, normal approximation", x, normal, kind="theory"))
    limits = [limit(*point) for point in points]
    series.append(Series("the lemma's T1 = Q / (160 lambda^2)", x, limits, kind="theory"))
    fixed = f"lambda = {BIAS}" if over_rows else f"Q = {ROWS}"
    what = "the number of rows Q" if over_rows else "the bias lambda"
    return Findings(
        claims,
        [
            Figure(
                figure,
                f"The coin game: flips for success 1/2 against {what}",
                "Q" if over_rows else "lambda",
                "flips of the first column",
                series,
                caption=f"With {fixed}; means over batches of games, with 95 % intervals of the mean.",
            )
        ],
    )


def _exponent(name: str, line: Fit, points: Sequence[tuple[int, float]], figure: str) -> Claim:
    over_rows = figure == BY_ROWS
    predicted = 1.0 if over_rows else -2.0
    band = "half of what a logarithm of Q adds"
    if over_rows:
        band += f"; Q ln Q has {_slope(points, lambda rows, _: rows * math.log(rows)):.2f} over these Q"
    grows = f"{name}: the flips needed grow like {'Q' if over_rows else '1 / lambda^2'}"
    expected = Expected(grows, LEMMA, predicted, predicted - TOLERANCE, predicted + TOLERANCE, band)
    claim = exponent(expected, {name: line}, figure)
    if claim.holds or claim.undecided:
        return claim
    return claim._replace(reason=_why_faster(name, points) if over_rows else "1 / lambda^2 is not the shape found here")


def _why_faster(name: str, points: Sequence[tuple[int, float]]) -> str:
    why = {
        UNIFORM: "the special row must beat the luckiest of all others, a factor of order ln Q: the normal "
        "approximation Q z^2 / (4 lambda^2), z the median of the greatest of Q - 1 normals, has slope "
        f"{_slope(points, _normal_approximation):.2f} here",
        ELIMINATION: "all rows that are left are flipped equally often, as by uniform allocation, until the first are "
        "dropped",
    }
    allowed = "the lemma is a lower bound, which more flips do not contradict"
    return "; ".join(filter(None, [why.get(name), allowed]))


def _normal_approximation(rows: int, bias: float) -> float:
    """Flips after which uniform allocation wins every second game, were heads normal and their variance 1/4 each."""
    return float(rows * ndtri(0.5 ** (1.0 / (rows - 1))) ** 2 / (4.0 * bias**2))


def _slope(points: Sequence[tuple[int, float]], curve: Callable[[int, float], float]) -> float:
    """The exponent that a curve has in Q over these points."""
    return line_through([rows for rows, _ in points], [np.array([curve(*point)]) for point in points]).slope


def _above_the_limit(flips: Mapping[Point, Floats]) -> Claim:
    """Whether any strategy got by with T1 flips somewhere: of all points the least multiple of T1."""
    found = {point: mean_of(values / limit(*point[1:])) for point, values in flips.items()}
    (name, rows, bias), (least, low, high) = min(found.items(), key=lambda item: item[1])
    claim = Claim(
        "success 1/2 takes more than T1 = Q / (160 lambda^2) flips, whatever the strategy",
        LEMMA,
        1.0,
        least,
        low,
        high,
        False,
        "the whole 95 % interval lies above 1",
        f"the least of all points: {name} with Q = {rows} and lambda = {bias:g}; Lemma 8 prints SA / (180 lambda^2), "
        "which is 8/3 T1, where the proof yields 480 (E4)",
        BY_ROWS if bias == BIAS else BY_BIAS,
        ">",
        "in multiples of T1",
    )
    return bounded(claim)


def _lemma(missed: Mapping[str, Sequence[Floats]]) -> Iterator[Claim]:
    """The least share of failing rows over the tables, for each strategy."""
    for name, tables in missed.items():
        yield _share(
            f"{name}: at least Q / 6 rows are missed at least every second time with T1 and T2 flips",
            LEMMA,
            tables,
            f"the least over (Q, lambda) = {', '.join(f'({table.rows}, {table.bias:g})' for table in TABLES)}",
        )


def _second_column() -> Findings:
    """Computed: T2 with the corollary's eps, in multiples of H."""
    table, series = TABLES[1], []
    for base in BASES:
        biases = [hidden_bias(rows=table.rows, base=base, flips=flips) for flips in HORIZONS]
        games = [CoinGame(table.rows, table.bias, base, bias) for bias in biases]
        ratios = [game.limits.second / flips for game, flips in zip(games, HORIZONS, strict=True)]
        series.append(Series(f"delta = {base:g}", HORIZONS, ratios))
    least, limit = min(min(one.y) for one in series), 400.0 / 256.0
    series.append(Series("400 / 256", [min(HORIZONS), max(HORIZONS)], [limit, limit], kind="theory"))
    claim = Claim(
        "eps = sqrt(Q delta / H) / 20 makes T2 larger than the H flips of both columns",
        COROLLARY,
        limit,
        least,
        least,
        least,
        least >= limit,
        "computed exactly; at least 400 / 256 at every point",
        f"the least of all points, with Q = {table.rows}; T2 / H is (1 + eps / delta) 400 / 256",
        BY_HORIZON,
        ">=",
        "as T2 / H",
    )
    title = "The coin game: the flips of the second column that tell nothing, with the corollary's eps"
    caption = f"Q = {table.rows}; computed."
    return Findings([claim], [Figure(BY_HORIZON, title, "H", "T2 / H", series, log_y=False, caption=caption)])


def _corollary(hidden: Mapping[str, Sequence[Floats]]) -> Claim:
    played = _hidden(UNIFORM, 1)
    flips = played.first + played.second
    return _share(
        "with this eps at least Q / 6 rows are missed at least every second time with T1 flips of the first column",
        COROLLARY,
        [table for tables in hidden.values() for table in tables],
        f"the least over all strategies; the second column has the other {played.second} of {flips} flips",
    )


def _share(claim: str, place: str, tables: Sequence[Floats], reason: str) -> Claim:
    shares = [[float((line <= 0.5).mean()) for line in table] for table in tables]
    least, low, high = (min(share[end] for share in shares) for end in (0, 2, 1))
    rule = "at least 1/6 of the rows have intervals up to 1/2 at most, which hold together with probability 95 %"
    numbers = (1.0 / 6.0, least, low, high)
    return bounded(Claim(claim, place, *numbers, False, rule, reason, BY_FLIPS, ">=", "as a share of the rows"))


def _lemma_figure(
    multiples: Sequence[int], after: Mapping[str, Sequence[Floats]], hidden: Mapping[str, Sequence[Floats]]
) -> Figure:
    table = TABLES[1]
    place = math.ceil(table.rows / 6) - 1
    series = []
    for name, found in after.items():
        found_often, low, high = np.array([np.sort(rows, axis=1)[:, place] for rows in found]).T
        series.append(Series(name, multiples, found_often.tolist(), low.tolist(), high.tolist()))
    best = max(np.sort(rows, axis=1)[:, place].tolist() for found in hidden.values() for rows in found)
    label = f"the best of them with the corollary's eps, and {SPARE - 1} T1 flips of the second column"
    series.append(Series(label, [1.0], best[:1], best[1:2], best[2:]))
    series.append(Series("the lemma: at most 1/2, up to T1", [0.5, 1.0], [0.5, 0.5], kind="theory"))
    return Figure(
        BY_FLIPS,
        "The coin game: how often the rows that are missed most are found",
        "flips of the first column, in multiples of T1",
        f"success of the {place + 1}th worst row",
        series,
        log_y=False,
        caption=f"Q / 6 rows do no better than the {place + 1}th worst of {table.rows}, with lambda = {table.bias:g}, "
        f"delta = {table.base:g}, eps = {table.base_bias:g} and T2 flips of the second column; the intervals of all "
        "rows hold together with probability 95 %.",
    )
