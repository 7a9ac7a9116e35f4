"""The coin game (Appendix C): flips that strategies need, against Q / lambda^2, and rows that they miss with too few.

The flips needed are those of the first column after which the special row is named in half of all games, every row
being special in turn.  Each point is measured in batches of games, and the spread of the batches gives the intervals.

The lemma is a lower bound, so all strategies are judged from below.  That it is tight, but for a factor of order ln Q,
is said of the strategy that needs the fewest flips: it is enough that one does.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from aomultirl.analysis.charts import Chart, Series
from aomultirl.analysis.claims import Claim, Plain
from aomultirl.analysis.rules import Bounded, Exponent, Measurement, computed
from aomultirl.experiments.executors import Executor
from aomultirl.laboratory.exponents import Fit, Floats, fits, level, mean_of, slope_of, slopes, theory
from aomultirl.laboratory.findings import COROLLARY_24, LEMMA_23, Findings, carry_out
from aomultirl.theory.coin_game import CoinGame, Strategy, SuccessiveElimination, TrackAndStop, UniformAllocation
from aomultirl.theory.coin_success import failing_rows, success_curve
from aomultirl.theory.lower_bounds import coin_flips, hidden_bias

UNIFORM, ELIMINATION, TRACKING, FEW = "uniform allocation", "successive elimination", "Track-and-Stop", "two rows only"
STRATEGIES: dict[str, Strategy] = {
    UNIFORM: UniformAllocation(),
    ELIMINATION: SuccessiveElimination(),
    TRACKING: TrackAndStop(),
    FEW: UniformAllocation(among=2),
}
FAIR = (UNIFORM, ELIMINATION, TRACKING)
"""Strategies that treat all rows alike, so that flips enough find any row."""
ENOUGH = 2.0 / 3.0
"""Share of games that the largest budget of a batch must win, so that one half is well inside."""
ROWS, BIAS = 24, 0.1
"""Q of the sweep over lambda, and lambda of the sweep over Q."""
TABLES = (CoinGame(12, 0.05, 0.1, 0.02), CoinGame(48, 0.1, 0.1, 0.02), CoinGame(192, 0.25, 0.25, 0.05))
"""Of the lemma; the second is the one of its figure and of the corollary."""
SPARE = 20
"""Flips of both columns together, in multiples of T1, in the corollary."""
BASES, HORIZONS = (0.02, 0.1, 0.25), (10, 100, 1000, 10_000, 100_000)
"""delta and H with which the corollary's T2 is computed."""
TOLERANCE = 0.15
"""Of an exponent: half of what a logarithm of Q adds to it between 12 and 192 rows, a third of what one of 1 / lambda
adds between 0.25 and 0.025."""
KEY = 7
"""Of this experiment's randomness."""
AT_LEAST_SQUARE = Exponent(
    -2.0, "0.15 for chance, a third of what a logarithm of 1 / lambda would add", most=-2.0 + TOLERANCE
)
NO_FASTER_THAN_SQUARE = Exponent(-2.0, AT_LEAST_SQUARE.why, least=-2.0 - TOLERANCE)

MISSED = Bounded(1.0 / 6.0, "the intervals of all rows hold together with probability 95 %", side=">=")

StrategyAt = tuple[str, int, float]
"""Strategy, Q, lambda."""


class CoinSizes(NamedTuple):
    """How much is played.

    biases, rows: lambda and Q of the two sweeps.
    batches, games: batches of a point, and games of a batch.
    repetitions: games for each special row.
    multiples: of T1, in the lemma's figure.
    """

    biases: tuple[float, ...]
    rows: tuple[int, ...]
    batches: int
    games: int
    repetitions: int
    multiples: tuple[int, ...]


QUICK = CoinSizes((0.25, 0.12, 0.055, 0.025), (12, 26, 56, 120), 12, 120, 250, (1, 2, 4, 8, 16, 32, 64))
FULL = CoinSizes(
    (0.25, 0.16, 0.1, 0.063, 0.04, 0.025), (12, 24, 48, 96, 192), 20, 600, 1000, (1, 2, 4, 8, 16, 32, 64, 128, 256)
)


def limit(rows: int, bias: float) -> float:
    """T1 of the lemma, which the second column has no part in."""
    return coin_flips(rows=rows, bias=bias, base=0.25, base_bias=0.25).first


@dataclass(frozen=True)
class GameBatch:
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
class RowGames:
    """Games in which every row is special equally often, with so many flips of the columns."""

    strategy: str
    game: CoinGame
    first: int
    second: int
    repetitions: int

    def play(self, seed: int) -> Floats:
        """How often each row is found, and the ends of intervals that hold together with probability 95 %, (3, Q)."""
        rows = failing_rows(
            STRATEGIES[self.strategy],
            self.game,
            first=self.first,
            second=self.second,
            repetitions=self.repetitions,
            seed=seed,
            level=1.0 - 0.05 / self.game.rows,
        )
        return np.stack(rows)


def limited(strategy: str, table: CoinGame, repetitions: int, times: int = 1) -> RowGames:
    """Games with T1, or a multiple of it, and T2 flips."""
    first, second = table.limits
    return RowGames(strategy, table, math.floor(times * first + 1e-9), math.floor(second + 1e-9), repetitions)


def hidden(strategy: str, repetitions: int) -> RowGames:
    """Games with T1 flips, many of the second column, and an eps so small that these are no use."""
    table = TABLES[1]
    first = math.floor(table.limits.first + 1e-9)
    bias = hidden_bias(rows=table.rows, base=table.base, flips=SPARE * first)
    game = CoinGame(table.rows, table.bias, table.base, bias)
    return RowGames(strategy, game, first, (SPARE - 1) * first, repetitions)


def measure(quick: bool, seed: int, executor: Executor, sizes: CoinSizes | None = None) -> Findings:
    """All claims on the coin game, with the sizes of a quick or of a full run, or with others."""
    sizes = sizes or (QUICK if quick else FULL)
    biases = [(ROWS, bias) for bias in sizes.biases]
    rows = [(count, BIAS) for count in sizes.rows]
    batches = {
        (name, *point): [GameBatch(name, *point, sizes.games, number) for number in range(sizes.batches)]
        for name in FAIR
        for point in (*biases, *rows)
    }
    repetitions = sizes.repetitions
    lemma = {name: [limited(name, table, repetitions) for table in TABLES] for name in STRATEGIES}
    corollary = {name: [hidden(name, repetitions)] for name in STRATEGIES}
    curves = {name: [limited(name, TABLES[1], repetitions, times) for times in sizes.multiples] for name in STRATEGIES}
    groups: list[dict[str, list[RowGames]]] = [lemma, corollary, curves]
    tasks: list[GameBatch | RowGames] = [task for tasks in batches.values() for task in tasks]
    tasks += [task for group in groups for tasks in group.values() for task in tasks]
    results = carry_out(tasks, KEY, seed, executor)
    flips = {point: np.concatenate([results[task] for task in tasks]) for point, tasks in batches.items()}
    missed, unhelped, after = (
        {name: [results[task] for task in tasks] for name, tasks in group.items()} for group in groups
    )
    findings = _over_bias(flips, biases) + _over_rows(flips, rows)
    findings += Findings([_above_the_limit(flips)])
    lemma_chart = _lemma_chart(sizes.multiples, after, unhelped)
    findings += Findings.shown(lemma_chart, _lemma(missed)) + _second_column()
    return (findings + Findings([replace(_corollary(unhelped), figure=lemma_chart.name)])).of_group("coin")


def _over_bias(flips: Mapping[StrategyAt, Floats], points: Sequence[tuple[int, float]]) -> Findings:
    title, x = "The coin game: flips for success 1/2 against the bias lambda", [bias for _, bias in points]
    figure = Chart("coin_lambda", title, "lambda", "flips of the first column", [], caption=f"With Q = {ROWS};")
    figure, lines = _sweep(figure, flips, points, x)
    below = Claim("the flips needed grow at least like 1 / lambda^2", LEMMA_23, AT_LEAST_SQUARE, slopes(lines))
    statement = f"the bound is tight in lambda: the flips of {TRACKING} grow no faster than 1 / lambda^2"
    tight = Claim(statement, LEMMA_23, NO_FASTER_THAN_SQUARE, {TRACKING: lines[TRACKING].exponent})
    return Findings.shown(figure, below, tight)


def _over_rows(flips: Mapping[StrategyAt, Floats], points: Sequence[tuple[int, float]]) -> Findings:
    x = [float(rows) for rows, _ in points]
    normal = [_normal_approximation(*point) for point in points]
    title = "The coin game: flips for success 1/2 against the number of rows Q"
    curve = theory("uniform allocation, normal approximation", x, normal)
    figure = Chart("coin_rows", title, "Q", "flips of the first column", [curve], caption=f"With lambda = {BIAS};")
    figure, lines = _sweep(figure, flips, points, x)
    rule = Exponent(1.0, "0.15 for chance, half of what a logarithm of Q adds", least=1.0 - TOLERANCE)
    below = Claim("the flips needed grow at least like Q", LEMMA_23, rule, slopes(lines))
    logarithm = slope_of(x, [rows * math.log(rows) for rows in x]).slope
    statement = f"the bound is tight up to a factor ln Q: the flips of {TRACKING} grow no faster than Q ln Q"
    rule = Exponent(logarithm, "the slope of Q ln Q over these Q", most=logarithm)
    others = ", ".join(f"{name} {lines[name].slope:.2f}" for name in FAIR if name != TRACKING)
    remark = (
        f"others flip all rows, or all that are left, equally often, and grow faster ({others}), as the special row "
        "must beat the luckiest of all others: the normal approximation Q z^2 / (4 lambda^2), z the median of the "
        f"greatest of Q - 1 normals, has slope {slope_of(x, normal).slope:.2f}"
    )
    tight = Claim(statement, LEMMA_23, rule, {TRACKING: lines[TRACKING].exponent}, remark=remark)
    return Findings.shown(figure, below, tight)


def _sweep(
    figure: Chart, flips: Mapping[StrategyAt, Floats], points: Sequence[tuple[int, float]], x: Sequence[float]
) -> tuple[Chart, dict[str, Fit]]:
    """The chart of one sweep, which holds curves of its own already, and the lines of the strategies."""
    lines, series = fits(dict.fromkeys(FAIR, x), {name: [flips[(name, *point)] for point in points] for name in FAIR})
    limits = theory("the lemma's T1 = Q / (160 lambda^2)", x, [limit(*point) for point in points])
    caption = f"{figure.caption} means over batches of games, with 95 % intervals of the mean."
    return figure._replace(series=[*series, *figure.series, limits], caption=caption), lines


def _normal_approximation(rows: int, bias: float) -> float:
    """Flips after which uniform allocation wins every second game, were heads normal and their variance 1/4 each."""
    return float(rows * ndtri(0.5 ** (1.0 / (rows - 1))) ** 2 / (4.0 * bias**2))


def _above_the_limit(flips: Mapping[StrategyAt, Floats]) -> Claim:
    """Whether any strategy got by with T1 flips somewhere."""
    claim = Claim(
        "success 1/2 takes more than T1 = Q / (160 lambda^2) flips, whatever the strategy that treats rows alike",
        LEMMA_23,
        Bounded(1.0, side=">"),
        {
            f"{name} with Q = {rows} and lambda = {bias:g}": mean_of(values / limit(rows, bias))
            for (name, rows, bias), values in flips.items()
        },
        remark="Lemma 8 prints SA / (180 lambda^2), which is 8/3 T1, where the proof yields 480 (E4)",
        figure="coin_rows",
        unit="in multiples of T1",
    )
    statement = "Whoever looks for the one odd coin among many needs at least as many flips as the paper's bound says"
    return replace(claim, plain=Plain(statement, f"the quickest strategy took {claim.measured:.3g} times as many"))


def _lemma(missed: Mapping[str, Sequence[Floats]]) -> Claim:
    """The share of failing rows, over strategies and tables."""
    return Claim(
        "at least Q / 6 rows are missed at least every second time with T1 and T2 flips, whatever the strategy",
        LEMMA_23,
        MISSED,
        {
            f"{name}, Q = {table.rows}, lambda = {table.bias:g}": _share(rows)
            for name, tables in missed.items()
            for table, rows in zip(TABLES, tables, strict=True)
        },
        unit="as a share of the rows",
    )


def _corollary(unhelped: Mapping[str, Sequence[Floats]]) -> Claim:
    games = hidden(UNIFORM, 1)
    return Claim(
        "with this eps at least Q / 6 rows are missed at least every second time with T1 flips of the first column",
        COROLLARY_24,
        MISSED,
        {name: _share(rows) for name, (rows,) in unhelped.items()},
        remark=f"the second column has the other {games.second} of {games.first + games.second} flips",
        unit="as a share of the rows",
    )


def _share(rows: Floats) -> Measurement:
    """The share of rows that are found in at most half of their games, and the ends of its interval."""
    share, high, low = (float((line <= 0.5).mean()) for line in rows)
    return Measurement(share, low, high)


def _second_column() -> Findings:
    """Computed: T2 with the corollary's eps, in multiples of H."""
    table, series = TABLES[1], []
    for base in BASES:
        biases = [hidden_bias(rows=table.rows, base=base, flips=flips) for flips in HORIZONS]
        games = [CoinGame(table.rows, table.bias, base, bias) for bias in biases]
        ratios = [game.limits.second / flips for game, flips in zip(games, HORIZONS, strict=True)]
        series.append(Series(f"delta = {base:g}", HORIZONS, ratios))
    ratio = 400.0 / 256.0
    statement = "eps = sqrt(Q delta / H) / 20 makes T2 larger than the H flips of both columns"
    rule = Bounded(ratio, "400 / 256, at every point", side=">=", by="computed")
    estimates = computed(min(min(one.y) for one in series))
    remark = f"the least of all points, with Q = {table.rows}; T2 / H is (1 + eps / delta) 400 / 256"
    claim = Claim(statement, COROLLARY_24, rule, estimates, remark=remark, unit="as T2 / H")
    series.append(level("400 / 256", HORIZONS, ratio))
    title = "The coin game: the flips of the second column that tell nothing, with the corollary's eps"
    caption = f"Q = {table.rows}; computed."
    figure = Chart("coin_corollary", title, "H", "T2 / H", series, log_y=False, caption=caption)
    return Findings.shown(figure, claim)


def _lemma_chart(
    multiples: Sequence[int], after: Mapping[str, Sequence[Floats]], unhelped: Mapping[str, Sequence[Floats]]
) -> Chart:
    table = TABLES[1]
    place = math.ceil(table.rows / 6) - 1
    series = []
    for name, tables in after.items():
        success, low, high = np.array([np.sort(rows, axis=1)[:, place] for rows in tables]).T
        series.append(Series(name, multiples, success.tolist(), low.tolist(), high.tolist()))
    best = max(np.sort(rows, axis=1)[:, place].tolist() for tables in unhelped.values() for rows in tables)
    label = f"the best of them with the corollary's eps, and {SPARE - 1} T1 flips of the second column"
    series.append(Series(label, [1.0], best[:1], best[1:2], best[2:]))
    series.append(level("the lemma: at most 1/2, up to T1", [0.5, 1.0], 0.5))
    title = "The coin game: how often the rows that are missed most are found"
    x = "flips of the first column, in multiples of T1"
    y = f"success of the {place + 1}th worst row"
    caption = (
        f"Q / 6 rows do no better than the {place + 1}th worst of {table.rows}, with lambda = {table.bias:g}, "
        f"delta = {table.base:g}, eps = {table.base_bias:g} and T2 flips of the second column; the intervals of all "
        "rows hold together with probability 95 %."
    )
    return Chart("coin_lemma", title, x, y, series, log_y=False, caption=caption)
