import math

import numpy as np
import pytest
from scipy.special import bdtr, binom

import aomultirl as ao
from aomultirl import theory
from aomultirl.theory import CoinGame, OwnStrategy, SuccessiveElimination, TrackAndStop, UniformAllocation
from aomultirl.theory.coin_success import RowSuccess

STRATEGIES = [UniformAllocation(), SuccessiveElimination(), TrackAndStop(), TrackAndStop(0.5)]
GAME = CoinGame(rows=12, bias=0.1, base=0.2, base_bias=0.05)
SIGMAS = 5.0
"""A statistical comparison fails by chance in one of two million."""


def played(strategy, game, first, second=0, games=4000, seed=0):
    specials = np.arange(games, dtype=np.int64) % game.rows
    source = ao.engine.random.streams(seed, 1)[0]
    found = strategy.play(game, specials, np.array([first], np.int64), second, source)
    return found.guesses[:, 0] == specials, found.used


def slack(chance, games):
    return SIGMAS * math.sqrt(chance * (1 - chance) / games)


def exact_uniform(rows, bias, flips):
    """The likeliest of Q binomials, ties broken at random: how often it is the one of 1/2 + bias."""
    heads, total = np.arange(flips + 1.0), 0.0
    fair, special = (np.diff(bdtr(heads, flips, chance), prepend=0.0) for chance in (0.5, 0.5 + bias))
    for same, below, mine in zip(fair, np.append(0.0, np.cumsum(fair)[:-1]), special, strict=True):
        others = range(rows)
        total += mine * sum(binom(rows - 1, k) * same**k * below ** (rows - 1 - k) / (k + 1) for k in others)
    return total


def own_uniform(coins):
    """Flip every coin of the first column five times, by hand."""
    heads = [sum(coins.flip(row) for _ in range(5)) for row in range(coins.game.rows)]
    best = [row for row, n in enumerate(heads) if n == max(heads)]
    return int(coins.rng.choice(best))


def test_the_coins_are_those_of_the_paper():
    assert GAME.chances.tolist() == [[0.5, 0.6], [0.2, 0.25]]
    assert GAME.limits == theory.coin_flips(rows=12, bias=0.1, base=0.2, base_bias=0.05)
    fair, special = GAME.odds.ratios[:, 1]
    assert fair == pytest.approx(math.log(0.6 / 0.5))
    assert special == pytest.approx(math.log(0.25 / 0.2))
    assert GAME.odds.ratios[:, 0] == pytest.approx([math.log(0.4 / 0.5), math.log(0.75 / 0.8)])


def test_an_action_at_the_hub_is_a_flip():
    world = ao.worlds.two_jao(13, 40, 0.4, 0.02)[7]
    game = CoinGame.of_two_jao(13, 40, 0.4, 0.02)
    left, right = world.transitions[0, :13, 2], world.transitions[0, 13:, 1]
    assert left == pytest.approx(np.where(np.arange(13) == 7, game.chances[0, 1], game.chances[0, 0]))
    assert right == pytest.approx(np.where(np.arange(13) == 7, game.chances[1, 1], game.chances[1, 0]))
    # and T1 is S A / (480 lambda^2) with S A = 12 n
    assert game.limits.first == pytest.approx(12 * 13 / (480 * 0.4**2))


@pytest.mark.parametrize(("rows", "bias", "each"), [(2, 0.1, 30), (12, 0.25, 9), (12, 0.05, 400), (40, 0.2, 60)])
def test_uniform_allocation_succeeds_as_often_as_it_must(rows, bias, each):
    exact = exact_uniform(rows, bias, each)
    found, used = played(UniformAllocation(), CoinGame(rows, bias), rows * each)
    assert abs(found.mean() - exact) <= slack(exact, 4000)
    assert (used == [rows * each, 0]).all()


def test_a_strategy_of_your_own_plays_the_same_game():
    game, exact = CoinGame(6, 0.2), exact_uniform(6, 0.2, 5)
    found, used = played(OwnStrategy(own_uniform), game, 40, games=1500)
    assert abs(found.mean() - exact) <= slack(exact, 1500)
    assert (used == [30, 0]).all()


def flips_and_draws(coins):
    """What the coins show, and the draws of a strategy of its own."""
    return [coins.flip(0) for _ in range(coins.left[0])], coins.rng.random(3).tolist()


def test_what_your_strategy_leaves_to_chance_comes_from_the_seed():
    def guessing(coins):
        seen.append(flips_and_draws(coins))
        return int(coins.rng.integers(coins.game.rows))

    runs = []
    for seed in (1, 1, 2):
        seen = []
        found = theory.success_curve(OwnStrategy(guessing), GAME, [40], repetitions=200, seed=seed)
        assert abs(found.success[0] - 1 / 12) <= slack(1 / 12, 200)
        runs.append(seen)
    assert runs[0] == runs[1]
    assert all(one != other for one, other in zip(runs[0], runs[2], strict=True))


def test_draws_of_your_own_do_not_change_how_the_coins_fall():
    def quiet(coins):
        return seen.append(coins.flip(3)) or 0

    def drawing(coins):
        coins.rng.random(7)
        return quiet(coins)

    fallen = []
    for choose in (quiet, drawing):
        seen = []
        theory.success_curve(OwnStrategy(choose), GAME, [1], repetitions=100)
        fallen.append(seen)
    assert fallen[0] == fallen[1]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_without_flips_it_is_a_guess_and_with_many_it_is_certain(strategy):
    found, used = played(strategy, CoinGame(10, 0.2), 0)
    assert abs(found.mean() - 0.1) <= slack(0.1, 4000)
    assert not used.any()
    certain = TrackAndStop(1e-4) if strategy == TrackAndStop(0.5) else strategy
    certain = SuccessiveElimination(1e-4) if strategy == SuccessiveElimination() else certain
    assert played(certain, CoinGame(10, 0.2), 4000)[0].all()


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_second_column_tells_rows_apart_too(strategy):
    strong, none = CoinGame(10, 0.2, 0.1, 0.25), CoinGame(10, 0.2, 0.1, 0.0)
    assert played(strategy, strong, 0, 1500)[0].mean() > 0.7
    found, used = played(strategy, none, 0, 1500)
    assert abs(found.mean() - 0.1) <= slack(0.1, 4000)
    assert (used[:, 0] == 0).all()
    assert (used[:, 1] <= 1500).all()


@pytest.mark.parametrize("kind", [SuccessiveElimination, TrackAndStop])
@pytest.mark.parametrize("failure", [0.5, 0.1])
def test_left_to_stop_by_itself_it_fails_as_rarely_as_it_says(kind, failure):
    found, used = played(kind(failure), CoinGame(12, 0.2, 0.2, 0.05), 10**6, 40)
    assert 1.0 - found.mean() <= failure + slack(failure, 4000)
    assert (used[:, 0] < 10**6).all()
    assert (used[:, 1] == 40).mean() > 0.9


@pytest.mark.parametrize("strategy", [SuccessiveElimination(0.3), TrackAndStop(0.3), TrackAndStop()])
def test_one_game_says_what_smaller_budgets_lead_to(strategy):
    """The curve from one call, and budget by budget."""
    budgets = [0, 60, 150, 400]
    curve = theory.success_curve(strategy, GAME, budgets, second=20, repetitions=4000)
    for budget, success in zip(budgets, curve.success, strict=True):
        alone = played(strategy, GAME, budget, 20, seed=budget + 1)[0].mean()
        assert abs(alone - success) <= math.sqrt(2) * slack(success, 4000)
    assert (curve.low < curve.success).all()
    assert (curve.success < curve.high).all()


@pytest.mark.parametrize("game", [GAME, CoinGame(30, 0.05, 0.1, 0.02), CoinGame(60, 0.25, 0.25, 0.25)])
@pytest.mark.parametrize(
    "strategy", [*STRATEGIES, UniformAllocation(1), UniformAllocation(4), OwnStrategy(lambda coins: 0)]
)
def test_below_the_limits_of_the_lemma_a_sixth_of_the_rows_fail(strategy, game):
    rows = theory.failing_rows(strategy, game, repetitions=300)
    assert rows.success.shape == (game.rows,)
    assert rows.surely_failing >= game.rows / 6
    assert rows.failing >= rows.surely_failing


def test_a_second_column_that_tells_nothing_has_no_limit_and_is_not_flipped():
    game = CoinGame(12, 0.1)
    assert game.limits == (theory.coin_flips(rows=12, bias=0.1, base=0.25, base_bias=0.1).first, math.inf)

    def note(coins):
        flips.add(tuple(coins.left))
        return 0

    flips = set()
    rows = theory.failing_rows(OwnStrategy(note), game, repetitions=20)
    assert flips == {(7, 0)}
    assert rows.failing == 11
    theory.failing_rows(OwnStrategy(note), game, second=30, repetitions=20)
    assert flips == {(7, 0), (7, 30)}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_lemma_holds_with_any_number_of_flips_that_tell_nothing(strategy):
    for second in (None, 5000):
        assert theory.failing_rows(strategy, CoinGame(12, 0.1), second=second, repetitions=300).surely_failing >= 2


def test_with_enough_flips_no_row_fails():
    rows = theory.failing_rows(TrackAndStop(), GAME, first=3000, second=0, repetitions=300)
    assert rows.failing == 0
    first_only = theory.failing_rows(UniformAllocation(1), GAME, first=3000, second=0, repetitions=300)
    assert first_only.success[0] > 0.9
    assert first_only.failing == 11


def test_rows_fail_surely_where_the_whole_interval_says_so():
    rows = RowSuccess(np.array([0.1, 0.45, 0.5, 0.8]), np.array([0.0, 0.3, 0.4, 0.7]), np.array([0.2, 0.6, 0.6, 0.9]))
    assert (rows.failing, rows.surely_failing) == (3, 1)


def slope(x, y):
    return np.polyfit(np.log(x), np.log(y), 1)[0]


def test_flips_needed_grow_like_rows_over_the_square_of_the_bias():
    """Slopes within 0.15 of -2 and 1: four times the spread of the estimates, and the drift at few rows."""
    biases, rows = [0.25, 0.12, 0.055, 0.025], [12, 26, 56, 120]
    over_bias = [theory.flips_needed(TrackAndStop(), CoinGame(12, bias), repetitions=1500) for bias in biases]
    over_rows = [theory.flips_needed(TrackAndStop(), CoinGame(q, 0.2), repetitions=1500) for q in rows]
    assert slope(biases, [f.flips for f in over_bias]) == pytest.approx(-2.0, abs=0.15)
    assert slope(rows, [f.flips for f in over_rows]) == pytest.approx(1.0, abs=0.15)
    for needed, bias in zip(over_bias, biases, strict=True):
        assert needed.low < needed.flips < needed.high
        assert needed.low > 12 / (160 * bias**2)


def test_flips_needed_by_uniform_allocation_are_the_exact_ones():
    each = next(n for n in range(1, 200) if exact_uniform(12, 0.2, n) >= 0.5)
    needed = theory.flips_needed(UniformAllocation(), CoinGame(12, 0.2), repetitions=6000, level=0.9999)
    assert needed.low <= 12 * each
    assert needed.high >= 12 * (each - 1)


def test_tracking_needs_the_fewest_flips():
    game = CoinGame(48, 0.2)
    track, eliminate, spread = (
        theory.flips_needed(s, game).flips for s in (TrackAndStop(), SuccessiveElimination(), UniformAllocation())
    )
    assert track < 0.8 * eliminate
    assert eliminate < 0.8 * spread


def test_a_hopeless_strategy_needs_infinitely_many_flips():
    assert theory.flips_needed(UniformAllocation(1), CoinGame(12, 0.25)).flips == math.inf


def test_the_same_seed_gives_the_same_numbers():
    curves = [theory.success_curve(TrackAndStop(), GAME, [100], repetitions=500, seed=s).success[0] for s in (1, 1, 2)]
    assert curves[0] == curves[1] != curves[2]


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: CoinGame(1, 0.1), "rows must be at least 2, not 1"),
        (lambda: CoinGame(12, 0.5), "bias must be below 0.5, not 0.5"),
        (lambda: CoinGame(12, 0.1, 0.0), "base must be above 0, not 0"),
        (lambda: CoinGame(12, 0.1, 0.8, 0.2), "base_bias must be below 0.2, not 0.2"),
        (lambda: CoinGame(8, 0.1, 0.2, 0.1).limits, "rows must be at least 12, not 8"),
        (lambda: CoinGame(8, 0.1).limits, "rows must be at least 12, not 8"),
        (lambda: CoinGame(12, 0.1, 0.5).limits, "base must be at most 0.25, not 0.5"),
        (lambda: CoinGame.of_two_jao(12, 10, 0.1, 0.1), "diameter must be at least 16, not 10"),
        (lambda: theory.success_curve(TrackAndStop(), GAME, []), "budgets must be ascending, and at least one"),
        (lambda: theory.success_curve(TrackAndStop(), GAME, [3, 2]), "budgets must be ascending, and at least one"),
        (lambda: theory.success_curve(TrackAndStop(), GAME, [-1]), "budgets must be at least 0, not -1"),
        (lambda: theory.success_curve(TrackAndStop(1.5), GAME, [1]), "failure must be below 1, not 1.5"),
        (lambda: theory.success_curve(UniformAllocation(13), GAME, [1]), "among must be between 1 and 12, not 13"),
        (lambda: theory.success_curve(TrackAndStop(), GAME, [1], second=-1), "second must be at least 0, not -1"),
        (lambda: theory.flips_needed(TrackAndStop(), GAME, 1.0), "success must be below 1, not 1"),
        (lambda: theory.failing_rows(TrackAndStop(), GAME, first=0.5), "first must be a whole number, not 0.5"),
        (lambda: theory.failing_rows(OwnStrategy(lambda coins: 12), GAME), "the row named must be between 0 and 11"),
        (
            lambda: theory.success_curve(OwnStrategy(lambda coins: coins.flip(0)), GAME, [0]),
            "column 0 has no flips left",
        ),
        (
            lambda: theory.success_curve(OwnStrategy(lambda coins: coins.flip(0, 2)), GAME, [1]),
            "column must be between",
        ),
    ],
)
def test_bad_input(call, told):
    with pytest.raises(ValueError, match=told):
        call()


def test_flips_needed_for_a_success_near_one_are_finite():
    needed = theory.flips_needed(UniformAllocation(), CoinGame(12, 0.25), 0.99)
    assert 500 < needed.low <= needed.flips <= needed.high < 2500


def test_budgets_are_a_list():
    with pytest.raises(ValueError, match="budgets must be a list of numbers, not 10"):
        theory.success_curve(TrackAndStop(), CoinGame(12, 0.25), 10)
