"""The claims on the coin game, at sizes so small that only their making is tested, and behind `long` as they are."""

import numpy as np
import pytest

from aomultirl.experiments.executors import InProcess, local
from aomultirl.laboratory import coin
from aomultirl.laboratory.coin import TRACKING, UNIFORM, GameBatch, RowGames
from aomultirl.laboratory.findings import carry_out
from aomultirl.theory.coin_game import Played
from backwards import Backwards

TINY = coin.CoinSizes(biases=(0.25, 0.15), rows=(12, 24), batches=3, games=30, repetitions=25, multiples=(1, 16, 256))
SLOPES, ROWS_MISSED = 4, 3
"""From below and from above, in two sweeps; the lemma's rows, the corollary's, and its T2."""


@pytest.fixture(scope="module")
def found():
    return coin.measure(True, 0, InProcess(), TINY)


class Clairvoyant:
    """It needs no flips."""

    def play(self, game, specials, budgets, second, stream):
        return Played(np.repeat(specials[:, None], len(budgets), axis=1), np.zeros((len(specials), 2), np.int64))


def claims_with(found, words):
    return [claim for claim in found.claims if words in claim.claim]


def test_every_claim_says_how_it_is_judged_and_names_a_figure_that_is_there(found):
    names = {figure.name for figure in found.figures}
    assert len(found.claims) == SLOPES + 1 + ROWS_MISSED
    for claim in found.claims:
        assert claim.rule.words
        assert claim.group == "coin"
        assert claim.place.startswith("Appendix C")
        assert claim.low <= claim.measured <= claim.high
        assert claim.figure in names


def test_exponents_are_those_of_the_points(found):
    for figure, words in (("coin_lambda", "at least like 1 / lambda^2"), ("coin_rows", "at least like Q")):
        (claim,) = claims_with(found, words)
        shown = next(one for one in found.figures if one.name == claim.figure == figure)
        points = {one.label: one for one in shown.series if one.kind == "measured"}
        assert set(points) == set(claim.estimates) == set(coin.FAIR)
        for name, slope in claim.estimates.items():
            own = points[name]
            assert slope.value == pytest.approx(np.polyfit(np.log(own.x), np.log(own.y), 1)[0])
        (tight,) = (one for one in claims_with(found, "is tight") if one.figure == figure)
        assert tight.estimates == {TRACKING: claim.estimates[TRACKING]}


ROWS = [12, 26, 56, 120]


def over_rows(**powers):
    """The claims on strategies whose flips are powers of Q."""
    names = dict(zip(("uniform", "elimination", "tracking"), coin.FAIR, strict=True))
    flips = {
        (names[name], rows, coin.BIAS): 100.0 * rows**power * np.array([0.99, 1.0, 1.01])
        for name, power in powers.items()
        for rows in ROWS
    }
    below, tight = coin._over_rows(flips, [(rows, coin.BIAS) for rows in ROWS]).claims
    return below.verdict, tight.verdict


def test_the_lower_bound_is_judged_from_below_and_its_tightness_apart():
    """More flips contradict no lower bound, and one strategy that needs few makes it tight."""
    assert over_rows(uniform=1.43, elimination=1.33, tracking=1.1) == (True, True)
    assert over_rows(uniform=2.0, elimination=2.0, tracking=1.2) == (True, True)
    assert over_rows(uniform=1.43, elimination=1.33, tracking=1.5) == (True, False)
    assert over_rows(uniform=0.5, elimination=1.33, tracking=1.1) == (False, True)
    assert over_rows(uniform=1.43, elimination=1.33, tracking=0.5) == (False, True)


def test_figures_show_points_with_intervals_a_fit_with_its_slope_and_theory(found):
    for figure in found.figures[:2]:
        kinds = [one.kind for one in figure.series]
        assert kinds.count("measured") == kinds.count("fit") == 3
        assert "theory" in kinds
        for one in figure.series:
            assert one.kind != "fit" or "slope" in one.label
            if one.kind == "measured":
                assert all(a < b < c for a, b, c in zip(one.low, one.y, one.high, strict=True))


def test_the_lemmas_curve_lies_below_one_half_at_t1(found):
    figure = next(one for one in found.figures if one.name == "coin_lemma")
    for one in figure.series:
        if one.kind == "measured":
            assert one.x[0] == 1
            assert one.high[0] <= 0.5
    tracking = next(one for one in figure.series if one.label == TRACKING)
    assert tracking.y[-1] > 0.5


def test_the_corollarys_flips_of_the_second_column_are_more_than_there_are(found):
    (claim,) = claims_with(found, "makes T2 larger")
    figure = next(one for one in found.figures if one.name == claim.figure)
    points = [one for one in figure.series if one.kind == "measured"]
    assert (claim.rule.relation, claim.predicted) == (">=", 400 / 256)
    assert claim.measured == min(min(one.y) for one in points)
    for one, base in zip(points, coin.BASES, strict=True):
        eps = np.sqrt(48 * base / np.array(one.x)) / 20
        assert one.y == pytest.approx(48 * (base + eps) / (256 * eps**2) / one.x)


def test_who_does_the_work_makes_no_difference_and_the_seed_does(found):
    assert coin.measure(True, 0, Backwards(), TINY) == found
    tasks = [GameBatch(TRACKING, 12, 0.2, 30, number) for number in range(2)]
    first, same, other = (carry_out(tasks, coin.KEY, seed, InProcess()) for seed in (0, 0, 1))
    assert first == same != other
    assert first[tasks[0]] != first[tasks[1]]


def test_after_the_flips_needed_uniform_allocation_wins_every_second_game():
    """Heads drawn with NumPy; 20,000 games stray by 0.0035, the whole flips of a row make up to 0.02."""
    flips = GameBatch(UNIFORM, 12, 0.2, 8000, 0).play(0)[0]
    rng, games, each = np.random.default_rng(1), 20_000, round(flips / 12)
    heads = rng.binomial(each, np.r_[0.7, np.full(11, 0.5)], (games, 12)) + 0.5 * rng.random((games, 12))
    assert (heads.argmax(axis=1) == 0).mean() == pytest.approx(0.5, abs=0.04)


def test_rows_are_found_with_flips_enough():
    game = coin.TABLES[0]
    enough = RowGames(UNIFORM, game, 4000 * game.rows, 0, 50).play(0)
    assert enough.shape == (3, game.rows)
    assert (enough[0] > 0.9).all()
    assert (RowGames(UNIFORM, game, 0, 0, 50).play(0)[2] < 0.5).all()


def test_a_strategy_that_knows_the_row_would_be_noticed(monkeypatch):
    monkeypatch.setitem(coin.STRATEGIES, TRACKING, Clairvoyant())
    found = coin.measure(True, 0, InProcess(), TINY)
    (above,) = claims_with(found, "takes more than T1")
    (missed,) = claims_with(found, "rows are missed at least every second time with T1 and T2")
    (hidden,) = claims_with(found, "with this eps")
    assert [above.holds, missed.holds, hidden.holds] == [False] * 3
    assert missed.measured == 0.0
    assert missed.worst.startswith(TRACKING)
    assert all(missed.rule.judge(one) for name, one in missed.estimates.items() if name.startswith(UNIFORM))
    assert above.plain.found == "the quickest strategy took 0.833 times as many"


@pytest.mark.long
def test_the_shape_is_q_over_lambda_squared():
    """Uniform allocation pays a logarithm of Q more: the slope of Q ln Q over these Q is 1.28."""
    found = coin.measure(True, 1, local(2))
    assert all(claim.holds for claim in found.claims)
    (below,) = claims_with(found, "at least like Q")
    uniform, elimination, tracking = (below.estimates[name] for name in coin.FAIR)
    assert 1.0 < tracking.value < elimination.value < uniform.value
    assert uniform.low > 1.0 + coin.TOLERANCE
