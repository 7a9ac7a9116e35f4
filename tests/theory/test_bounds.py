import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aomultirl import theory
from aomultirl.learning import Share

GRID = {"states": 16, "actions": 4, "models": 4, "episodes": 200, "failure": 0.03}
SMALL = {"states": 2, "actions": 2, "models": 1, "episodes": 10, "failure": 0.3}
SHORT = {"horizon": 200, "learning_horizon": 200}
ALONE = {"states": 5, "actions": 3, "episodes": 400, "horizon": 20, "failure": 0.1}
PHASES = {"clustering_horizon": 610_848, "learning_horizon": 200}
SEPARATE = {"separation": 1.3 - 1e-6, "hitting_time": 7}
HARD = {"states": 20, "actions": 20, "separation": 0.1, "diameter": 40}


def without(values, *names):
    return {name: value for name, value in values.items() if name not in names}


def test_logarithm():
    assert theory.logarithm(horizon=3, **SMALL) == pytest.approx(math.log(6000))
    assert theory.logarithm(horizon=3, **SMALL) == pytest.approx(8.699515, abs=1e-6)
    assert theory.logarithm(horizon=200, **GRID) == pytest.approx(22.36, abs=0.005)


def test_the_bonus_of_the_small_golden_plan():
    log = math.log(6000)
    bonus = theory.bonus([[400_000, 90_000], [250_000, 0]], horizon=3, learning_horizon=3, **SMALL)
    assert bonus == pytest.approx(np.array([[0.288858, 0.608966], [0.365380, np.inf]]), abs=1e-6)
    released = theory.bonus([4, 9, 0], horizon=3, learning_horizon=3, constants="released", **SMALL)
    assert released == pytest.approx([3 * math.sqrt(6 * log / n) + 2 * log / n for n in (4, 9)] + [np.inf])


def test_a_bonus_has_the_shape_of_the_visits():
    for visits in (7, 2.5, np.arange(3), np.ones((2, 3))):
        assert theory.bonus(visits, **SHORT, **GRID).shape == np.shape(visits)
    assert float(theory.bonus(0, **SHORT, **GRID)) == math.inf


@pytest.mark.parametrize(("constants", "visits"), [("paper", 24_490), ("released", 8_972)])
@pytest.mark.parametrize("horizon", [200, 611_048])
def test_visits_until_informative(constants, visits, horizon):
    arguments = {"horizon": horizon, "learning_horizon": 200, "constants": constants, **GRID}
    found = theory.visits_until_informative(**arguments)
    assert found == visits or horizon > 200
    last, next_one = theory.bonus([found, found + 1], **arguments)
    assert next_one < 200 <= last


def test_theorem_1():
    log = math.log(15 * 16 * 4 * 200 * 611_048 * 4 / 0.03)
    bound = theory.regret_bound(**PHASES, **GRID)
    assert bound.linear == 2 * 200 * 610_848
    assert bound.root == pytest.approx(67 * 200**1.5 * log * math.sqrt(4 * 16 * 4 * 200))
    assert bound.constant == pytest.approx(15 * 4 * 16**2 * 4 * 200**2 * log**2)
    assert bound.total == pytest.approx(sum(bound))
    tighter = theory.regret_bound(diameter=11.508, **PHASES, **GRID)
    assert tighter.linear == pytest.approx(200 * (610_848 + 11.508))
    assert tighter[1:] == bound[1:]


def test_where_the_paper_calls_the_last_term_small_it_is_the_largest():
    """E29: at K = M S^3 A H1 it is 15 L / 67 times the middle one, and L is above 30 on the grids."""
    episodes = 4 * 16**3 * 4 * 200
    bound = theory.regret_bound(**PHASES, **{**GRID, "episodes": episodes})
    log = theory.logarithm(horizon=611_048, **{**GRID, "episodes": episodes})
    assert bound.constant / bound.root == pytest.approx(15 * log / 67)
    assert bound.constant > 6 * bound.root


def test_theorem_1_grows_as_its_terms_are_named():
    few, many = (theory.regret_bound(**PHASES, **{**GRID, "episodes": k}) for k in (10**6, 4 * 10**6))
    assert many.linear == pytest.approx(4 * few.linear)
    assert 2 < many.root / few.root < 2.1
    assert 1 < many.constant / few.constant < 1.1


def test_the_corollary_is_theorem_1_on_all_pairs():
    full = theory.full_set_bound(learning_horizon=200, **SEPARATE, **GRID)
    assert full == theory.regret_bound(clustering_horizon=13_031_424, learning_horizon=200, **GRID)
    released = theory.full_set_bound(learning_horizon=200, constants="released", **SEPARATE, **GRID)
    assert released.linear == 2 * 200 * 2_649_472


@pytest.mark.parametrize("bound", ["corollary", "two stages"])
def test_first_terms_grow_with_time_and_closeness(bound):
    def linear(separation, hitting_time, states):
        arguments = {**GRID, "states": states, "separation": separation, "hitting_time": hitting_time}
        if bound == "corollary":
            return theory.full_set_bound(learning_horizon=200, **arguments).linear
        return theory.two_stage_bound(horizon=10**12, **arguments).linear

    base = linear(1.0, 7, 32)
    assert linear(1.0, 21, 32) == pytest.approx(3 * base)
    assert linear(0.25, 7, 32) == pytest.approx(16 * base)
    # S^2 A for S x A and S M^2 for two stages, where S is above the logarithm (E18)
    assert linear(1.0, 7, 64) == pytest.approx((4 if bound == "corollary" else 2) * base)


def test_theorem_2():
    horizon, log = 20_000_000, math.log(15 * 16 * 4 * 200 * 20_000_000 * 4 / 0.015)
    bound = theory.two_stage_bound(horizon=horizon, **SEPARATE, **GRID)
    first = 3072 * 7 * 16 / (1.3 - 1e-6) ** 2 * max(16, math.log(3 * 200 * 16 / 0.015))
    assert bound.linear == pytest.approx(4 * 200 * first, rel=1e-3)
    assert bound.root == pytest.approx(67 * horizon**1.5 * log * math.sqrt(2 * 4 * 16 * 4 * 200))
    assert bound.constant == pytest.approx(30 * 4 * 16**2 * 4 * horizon**2 * log**2)


def test_ucbvi():
    log = math.log(5 * 5 * 3 * 400 * 20 / 0.1)
    bound = theory.ucbvi_bound(**ALONE)
    assert bound.linear == 0.0
    assert bound.root == pytest.approx(67 * 20**1.5 * log * math.sqrt(5 * 3 * 400))
    assert bound.constant == pytest.approx(15 * 25 * 3 * 400 * log**2)
    # Theorem 1 spends a third of p on it
    told = theory.ucbvi_bound(**{**GRID, "failure": 0.01}, horizon=200)
    learning = theory.regret_bound(clustering_horizon=1, learning_horizon=200, **GRID)
    assert told.root == pytest.approx(learning.root, rel=1e-3)
    assert told.constant == pytest.approx(learning.constant, rel=1e-3)


def test_where_the_proof_of_ucbvi_breaks_its_bound_is_trivial():
    for states, actions, episodes, horizon in np.ndindex(4, 4, 11, 11):
        sizes = {"states": states + 1, "actions": actions + 1, "episodes": episodes + 1, "horizon": horizon + 1}
        if math.log(5 * math.prod(sizes.values()) / 0.9) < 4.0:
            assert theory.ucbvi_bound(failure=0.9, **sizes).total > sizes["episodes"] * sizes["horizon"]


def test_external_samples():
    extra, log = 60, math.log(5 * 5 * 3 * 400 * 80 / 0.1)
    less = 39 / 99
    bound = theory.external_samples_bound(samples=extra, **ALONE)
    chance = math.e * 22 * math.sqrt(400 * 20 * log)
    assert bound.root == pytest.approx(chance + 60 * math.sqrt(less) * 20**1.5 * log * math.sqrt(15 * 400))
    assert bound.constant == pytest.approx(15 * 400 / 61 + 15 * less * 75 * 400 * log**2)


def test_no_external_samples_give_the_form_of_one_task():
    log = math.log(5 * 5 * 3 * 400 * 20 / 0.1)
    none, single = theory.external_samples_bound(samples=0, **ALONE), theory.ucbvi_bound(**ALONE)
    assert none.constant == pytest.approx(single.constant + 5 * 3 * 20**2)
    assert none.root == pytest.approx(60 / 67 * single.root + math.e * 22 * math.sqrt(400 * 20 * log))
    assert none.root < single.root


def test_external_samples_help():
    totals = [theory.external_samples_bound(samples=n, **ALONE).total for n in (0, 1, 10, 100, 1000, 10_000)]
    assert totals == sorted(totals, reverse=True)


def test_the_first_stage_with_both_phases():
    one = theory.first_stage_bound(samples=60, **PHASES, **{**GRID, "models": 1})
    log = math.log(15 * 16 * 4 * 200 * (611_048 + 60) / 0.03)
    less = 399 / 459
    root = math.e * 202 * math.sqrt(200 * 200 * log) + 60 * math.sqrt(less * 16 * 4 * 200) * 200**1.5 * log
    assert one.linear == 2 * 200 * 610_848
    assert one.root == pytest.approx(root)
    assert one.constant == pytest.approx(16 * 4 * 200**2 / 61 + 15 * less * 16**2 * 4 * 200**2 * log**2)
    known = theory.first_stage_bound(samples=60, diameter=7, first_episodes=50, **PHASES, **GRID)
    assert known.linear == 50 * (610_848 + 7)
    every = theory.first_stage_bound(samples=60, diameter=7, **PHASES, **GRID)
    assert known.root == pytest.approx(every.root / 2)
    assert known.constant == every.constant
    assert every.total < theory.regret_bound(diameter=7, **PHASES, **GRID).total


@given(st.integers(1, 12), st.integers(0, 30), st.data())
def test_the_inequality_behind_external_samples(horizon, extra, data):
    """With typical episodes that count them (E13): the sum shrinks by sqrt(c), c = (2H-1) / (N+2H-1)."""
    visits = data.draw(st.lists(st.integers(0, horizon), min_size=1, max_size=20))
    before, total = 0, 0.0
    for k, seen in enumerate(visits, 1):
        if k * extra + before >= horizon:
            total += seen / math.sqrt(k * extra + before)
        before += seen
    less = (2 * horizon - 1) / (extra + 2 * horizon - 1)
    assert total <= (math.sqrt(2) + 1) * math.sqrt(less * before) + 1e-9


def test_the_corollary_on_external_samples_holds_as_corrected_only():
    visits, before, extra = (5, 5, 5), (9, 14, 19), 3
    shared = sum(z / math.sqrt(k * extra + at) for k, (z, at) in enumerate(zip(visits, before, strict=True), 1))
    single = sum(z / math.sqrt(at) for z, at in zip(visits, before, strict=True))
    less = math.sqrt(9 / 12)
    assert shared == pytest.approx(3.50632, abs=1e-5)
    assert less * single == pytest.approx(3.59405, abs=1e-5)
    assert less * shared < shared <= less * single


def test_ucrl2():
    sizes = without(GRID, "models", "failure")
    bound = theory.ucrl2_bound(horizon=1000, diameter=7, **sizes)
    alone = 34 * 7 * 16 * math.sqrt(4 * 1000 * math.log(1000 / (1 / 1000)))
    assert bound == pytest.approx((200 * (alone + 8), 0, 0))
    assert theory.ucrl2_bound(horizon=1000, diameter=7, **{**sizes, "episodes": 400}).total == 2 * bound.total


def test_minimax():
    size = {"states": 10, "actions": 10, "episodes": 3, "diameter": 20}
    assert theory.minimax_lower_bound(horizon=2000, **size) == pytest.approx(3 * (0.015 * 2000 - 2.5))
    longer = theory.minimax_lower_bound(horizon=8000, **size)
    assert longer == pytest.approx(3 * (0.015 * 4000 - 2.5))
    assert longer < theory.ucrl2_bound(horizon=8000, **size).total


def test_identification():
    needed = theory.identification_samples(**HARD)
    assert needed == pytest.approx(400 / 4.8)
    steps = theory.identification_steps(**HARD)
    assert steps == pytest.approx(needed + (needed - 1) * 5)
    assert theory.identification_regret(episodes=9, **HARD) == pytest.approx(9 * (steps - 40) / 2)
    assert theory.identification_regret(episodes=9, **{**HARD, "separation": 0.5}) == 0.0
    closer = theory.identification_samples(**{**HARD, "separation": 0.05})
    assert closer == pytest.approx(4 * needed)
    # the order of the corollary, D S A / lambda^2
    large = {"states": 400, "actions": 400, "separation": 0.01, "diameter": 4000}
    order = 4000 * 400 * 400 / 0.01**2
    assert theory.identification_steps(**large) == pytest.approx(order / 3840, rel=0.01)
    # and never more than the clustering phase that suffices
    enough = theory.clustering_horizon(20, 400, 0.1, 40, 9, 0.1)
    assert steps < enough


def test_coins():
    flips = theory.coin_flips(rows=12, bias=0.1, base=0.2, base_bias=0.05)
    assert flips.first == pytest.approx(7.5)
    assert flips.second == pytest.approx(12 * 0.25 / (256 * 0.0025))
    assert 3 / 12 + math.sqrt(5 / 40 + 8 / 64) / 2 == 0.5
    # S A / 12 rows with half the separation are the worlds of the lemma (E4)
    hard = {**HARD, "states": 24}
    rows = 24 * 20 // 12
    first = theory.coin_flips(rows=rows, bias=0.05, base=0.1, base_bias=0.01).first
    assert first == pytest.approx(theory.identification_samples(**hard))


def test_a_second_column_too_weak_to_help():
    hidden = theory.hidden_bias(rows=40, base=0.1, flips=10_000)
    assert hidden == pytest.approx(0.001)
    assert theory.coin_flips(rows=40, bias=0.1, base=0.1, base_bias=hidden).second >= 400 / 256 * 10_000


@pytest.mark.parametrize("gap", [0.1, 0.2, 0.3])
def test_likelihoods_part_at_the_order_of_the_separated_horizon(gap):
    """Coins of 1/2 +- gap/2: at the horizon the likelier one is the true one but for a share, well before it is not.

    The error of the better guess after n flips is that of a binomial, exact.
    """
    horizon = theory.separated_horizon(models=2, separation=2.0 * gap, failure=0.05)

    def error(steps):
        heads = np.arange(steps + 1)
        ways = np.array([math.comb(steps, k) for k in heads], dtype=float)
        biased = ways * (0.5 + gap / 2.0) ** heads * (0.5 - gap / 2.0) ** (steps - heads)
        return np.minimum(biased, biased[::-1]).sum() / 2.0

    assert error(math.ceil(horizon)) < 0.05
    assert error(math.ceil(horizon / 10.0)) > 0.1


def test_sizes_may_be_numpy_numbers():
    sizes = {name: np.int32(value) if isinstance(value, int) else value for name, value in GRID.items()}
    phases = {"clustering_horizon": np.int32(2 * 10**9), "learning_horizon": np.int32(2 * 10**9)}
    wide = {name: int(value) for name, value in phases.items()}
    assert theory.regret_bound(**phases, **sizes) == theory.regret_bound(**wide, **GRID)
    assert theory.first_stage_bound(samples=np.int32(9), **phases, **sizes) == theory.first_stage_bound(
        samples=9, **wide, **GRID
    )


@pytest.mark.parametrize("name", ["states", "actions", "models", "episodes"])
def test_every_size_is_checked(name):
    bad = {**GRID, name: 0}
    calls = [
        lambda: theory.logarithm(horizon=5, **bad),
        lambda: theory.bonus(3, **SHORT, **bad),
        lambda: theory.visits_until_informative(**SHORT, **bad),
        lambda: theory.regret_bound(**PHASES, **bad),
        lambda: theory.full_set_bound(learning_horizon=200, **SEPARATE, **bad),
        lambda: theory.two_stage_bound(horizon=10**9, **SEPARATE, **bad),
        lambda: theory.ucbvi_bound(horizon=5, **bad),
        lambda: theory.first_stage_bound(samples=1, **PHASES, **bad),
    ]
    if name != "models":
        alone = without(bad, "models")
        calls.append(lambda: theory.external_samples_bound(horizon=5, samples=1, **alone))
        calls.append(lambda: theory.ucrl2_bound(horizon=5, diameter=3, **without(alone, "failure")))
    for call in calls:
        with pytest.raises(ValueError, match=f"{name} must be at least 1, not 0"):
            call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.logarithm(horizon=5, **{**GRID, "failure": 1.0}), "failure must be below 1, not 1"),
        (lambda: theory.logarithm(horizon=2.5, **GRID), "horizon must be a whole number, not 2.5"),
        (lambda: theory.ucbvi_bound(horizon=5, **{**GRID, "failure": 0.0}), "failure must be above 0, not 0"),
        (lambda: theory.bonus(-1, **SHORT, **GRID), "visits must be at least 0, not -1"),
        (lambda: theory.bonus([3, -1], **SHORT, **GRID), r"visits\[1\] is -1, negative"),
        (lambda: theory.bonus("many", **SHORT, **GRID), "visits must be a number, not 'many'"),
        (lambda: theory.bonus(1, horizon=5, learning_horizon=6, **GRID), "learning_horizon must be between 1 and 5"),
        (lambda: theory.bonus(1, constants="papr", **SHORT, **GRID), "did you mean 'paper'"),
        (
            lambda: theory.visits_until_informative(constants="mine", **SHORT, **GRID),
            "constants must be one of 'paper', 'released', not 'mine'",
        ),
        (
            lambda: theory.visits_until_informative(horizon=5, learning_horizon=0, **GRID),
            "learning_horizon must be between 1 and 5, not 0",
        ),
        (
            lambda: theory.regret_bound(clustering_horizon=0, learning_horizon=5, **GRID),
            "clustering_horizon must be at least 1, not 0",
        ),
        (lambda: theory.regret_bound(diameter=math.inf, **PHASES, **GRID), "diameter must be finite, not inf"),
        (
            lambda: theory.two_stage_bound(horizon=1000, **SEPARATE, **GRID),
            "horizon must be at least 13031425, not 1000",
        ),
        (
            lambda: theory.two_stage_bound(horizon=10**9, **SEPARATE, **{**GRID, "models": 1}),
            "models must be at least 2, not 1",
        ),
        (lambda: theory.external_samples_bound(samples=-1, **ALONE), "samples must be at least 0, not -1"),
        (
            lambda: theory.first_stage_bound(samples=1, first_episodes=201, **PHASES, **GRID),
            "first_episodes must be between 1 and 200, not 201",
        ),
        (
            lambda: theory.ucrl2_bound(states=2, actions=2, episodes=1, horizon=1, diameter=2),
            "horizon must be at least 2, not 1",
        ),
        (
            lambda: theory.minimax_lower_bound(states=9, actions=10, episodes=1, horizon=9999, diameter=20),
            "states must be at least 10, not 9",
        ),
        (
            lambda: theory.minimax_lower_bound(states=10, actions=9, episodes=1, horizon=9999, diameter=20),
            "actions must be at least 10, not 9",
        ),
        (
            lambda: theory.minimax_lower_bound(states=100, actions=10, episodes=1, horizon=10**6, diameter=39),
            "diameter must be at least 40, not 39",
        ),
        (
            lambda: theory.minimax_lower_bound(states=10, actions=10, episodes=1, horizon=1999, diameter=20),
            "horizon must be at least 2000, not 1999",
        ),
        (lambda: theory.identification_samples(**{**HARD, "actions": 19}), "actions must be at least 20, not 19"),
        (lambda: theory.identification_samples(**{**HARD, "states": 19}), "states must be at least 20, not 19"),
        (lambda: theory.identification_samples(**{**HARD, "diameter": 15}), "diameter must be at least 16, not 15"),
        (
            lambda: theory.identification_samples(**{**HARD, "states": 20_000, "diameter": 16}),
            "diameter must be at least 20, not 16",
        ),
        (lambda: theory.identification_steps(**{**HARD, "separation": 0.6}), "separation must be at most 0.5"),
        (lambda: theory.separated_horizon(models=2, separation=0.0, failure=0.1), "separation must be above 0, not 0"),
        (lambda: theory.separated_horizon(models=2, separation=2.1, failure=0.1), "separation must be at most 2"),
        (lambda: theory.separated_horizon(models=0, separation=0.5, failure=0.1), "models must be at least 1, not 0"),
        (lambda: theory.separated_horizon(models=2, separation=0.5, failure=1.0), "failure must be below 1, not 1"),
        (lambda: theory.identification_regret(episodes=0, **HARD), "episodes must be at least 1, not 0"),
        (lambda: theory.coin_flips(rows=11, bias=0.1, base=0.1, base_bias=0.1), "rows must be at least 12, not 11"),
        (lambda: theory.coin_flips(rows=12, bias=0.3, base=0.1, base_bias=0.1), "bias must be at most 0.25, not 0.3"),
        (lambda: theory.coin_flips(rows=12, bias=0.1, base=0.0, base_bias=0.1), "base must be above 0, not 0"),
        (lambda: theory.coin_flips(rows=12, bias=0.1, base=0.1, base_bias=0.5), "base_bias must be at most 0.25"),
        (lambda: theory.hidden_bias(rows=12, base=0.1, flips=0), "flips must be at least 1, not 0"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@given(*(st.integers(1, most) for most in (10**4, 10**3, 100, 10**6, 10**7)), st.floats(1e-9, 0.5))
def test_learners_have_the_same_logarithm_to_the_bit(states, actions, models, episodes, steps, failure):
    share = Share(failure, episodes, models, steps)
    sizes = {"states": states, "actions": actions, "models": models, "episodes": episodes, "horizon": steps}
    assert share.logarithm(states * actions) == theory.logarithm(**sizes, failure=failure)
