"""The paper's technical lemmas about samples, values and divergences, as properties (Appendices C and D).

Those about sums are in ``test_sum_lemmas.py``.  Where a lemma needs a condition that its use in the paper lacks, or is
printed wrongly, a counterexample stands beside the repaired form.
"""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import bdtr, rel_entr

import aomultirl as ao
from aomultirl import theory
from aomultirl.engine.counts import CountTable
from aomultirl.learning.ucbvi import estimate
from strategies import worlds

ROUNDING = 1e-12
quarters = st.floats(1e-6, 0.25)


@st.composite
def distributions(draw, least=1, most=4):
    size = draw(st.integers(least, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return rng.dirichlet(np.full(size, draw(st.sampled_from([0.3, 1.0, 5.0]))))


def divergence(p, q):
    """KL in bits."""
    return float(rel_entr(p, q).sum() / math.log(2))


def flip(chance):
    return np.array([chance, 1.0 - chance])


# -- samples ----------------------------------------------------------------------------------------------


def outcomes(row, samples):
    """(counts, probability) of every outcome of so many draws."""
    for counts in product(range(samples + 1), repeat=len(row)):
        if sum(counts) == samples:
            ways = math.factorial(samples) / math.prod(math.factorial(n) for n in counts)
            yield np.array(counts), ways * math.prod(p**n for p, n in zip(row, counts, strict=True))


@settings(deadline=None, max_examples=60)
@given(distributions(), st.integers(1, 8))
def test_weissman(row, samples):
    """Every tail, computed over all outcomes."""
    found = [(np.abs(row - counts / samples).sum(), chance) for counts, chance in outcomes(row, samples)]
    for radius in {distance for distance, _ in found if distance > ROUNDING}:
        tail = sum(chance for distance, chance in found if distance >= radius)
        assert tail <= theory.weissman_tail(radius, samples=samples, states=len(row)) + ROUNDING


@given(st.floats(0.0, 1.0), st.floats(0.05, 2.0), st.floats(1e-4, 0.3))
def test_enough_samples_put_an_estimate_within_an_eighth_of_the_separation(chance, separation, failure):
    """Corollary of Weissman, for two successors, where the tail is exact: the paper's N, and the tighter one of E14."""
    for samples in (
        math.ceil(256 / separation**2 * max(2, math.log(1 / failure))),
        math.ceil(128 / separation**2 * (2 * math.log(2) + math.log(1 / failure))),
    ):
        off = separation / 16  # half the distance in l1
        fewer = bdtr(math.ceil((chance - off) * samples - 1e-9) - 1.0, samples, chance) if chance > off else 0.0
        more = 1.0 - bdtr(math.floor((chance + off) * samples + 1e-9), samples, chance) if chance + off < 1 else 0.0
        assert fewer + more <= failure


@settings(deadline=None)
@given(distributions(least=2), st.lists(st.integers(1, 40), min_size=1, max_size=6), st.integers(0, 2**32 - 1))
def test_pooled_samples_are_no_worse_than_the_worst_of_them(row, sizes, seed):
    """Proposition and corollary on pooling, with the counts that agents keep."""
    rng = np.random.default_rng(seed)
    pooled, errors = CountTable(len(row)), []
    for size in sizes:
        drawn, table = rng.multinomial(size, row), CountTable(len(row))
        for state in np.flatnonzero(drawn):
            table.count(0, int(state), int(drawn[state]))
        pooled.add(table)
        errors.append(np.abs(row - drawn / size).sum())
    learned = estimate(len(row), pooled)
    found = np.zeros(len(row))
    found[learned.transitions.states] = learned.transitions.probs
    assert learned.visits.sum() == sum(sizes)
    assert np.abs(row - found).sum() <= max(errors) + ROUNDING


# -- values -----------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(worlds(max_states=5, min_states=2), st.integers(1, 60))
def test_values_differ_by_no_more_than_the_diameter(world, horizon):
    assume(world.is_communicating())
    diameter = world.diameter()
    assert theory.span(world.optimal_values(horizon)) <= diameter + 1e-9
    gain, bias = theory.optimal_gain(world)
    assert theory.span(bias) <= diameter + 1e-6
    assert np.abs(world.first_values(horizon) - gain * horizon).max() <= diameter + 1e-6


@given(worlds(), st.integers(1, 12))
def test_a_value_at_step_h_is_of_as_many_steps_as_there_are_from_h_on(world, horizon):
    """E36: V_h, h from 1, is of H - h + 1 steps, V_H of one; the proof of Lemma 30 says H - h."""
    values = world.optimal_values(horizon)
    for h in range(1, horizon + 1):
        assert np.allclose(values[h - 1], world.optimal_values(horizon - h + 1)[0])
    assert np.array_equal(values[horizon - 1], world.rewards.max(axis=1))


def test_the_diameter_is_reached_by_the_span():
    """So it cannot be replaced by anything smaller: a corridor with a reward at its end."""
    rows = [[{max(s - 1, 0): 1.0}, {min(s + 1, 9): 1.0}] for s in range(10)]
    world = ao.MDP(rows, np.repeat(np.arange(10)[:, None] == 9, 2, axis=1).astype(float))
    assert world.diameter() == pytest.approx(9.0)
    assert theory.span(world.optimal_values(100)) == pytest.approx(9.0)


@settings(deadline=None, max_examples=150)
@given(st.floats(4.0, 4000.0), st.floats(1e-3, 2.0), st.integers(1, 300))
def test_jao_values_are_near_the_gain_times_the_horizon(diameter, separation, horizon):
    """|V* - rho* H| <= 1 / (2 delta) = D / 8 (E2), from both states, also where the chain swings to and fro."""
    delta, bias = 4 / diameter, separation / 2
    assume(delta + bias <= 1.0)
    world = ao.worlds.jao(2, diameter, separation)[1]
    gain = (delta + bias) / (2 * delta + bias)
    values = world.optimal_values(horizon)[0]
    assert np.abs(values - gain * horizon).max() <= 1 / (2 * delta) + 1e-9
    assert 1 / (2 * delta) == pytest.approx(diameter / 8)


def test_half_of_that_distance_is_reached():
    """So the D / 2 that the proof prints, with delta = D / 4 (E2), is right but never near."""
    values = ao.worlds.jao(2, 40, 1e-6)[1].first_values(1000)
    assert abs(values[0] - 500.0) == pytest.approx(40 / 16, rel=1e-3)


# -- divergences ------------------------------------------------------------------------------------------


@given(st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_pinsker_and_its_reverse(size, seed):
    """2 TV^2 <= KL ln 2 and KL <= 4 log2(e) TV^2 / min q."""
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(size)), rng.dirichlet(np.ones(size)) + 1e-9
    q /= q.sum()
    variation = np.abs(p - q).sum() / 2
    assert 2 * variation**2 <= divergence(p, q) * math.log(2) + ROUNDING
    assert divergence(p, q) <= 4 * math.log2(math.e) / q.min() * variation**2 + ROUNDING


@given(st.floats(0.0, 1.0), st.floats(1e-6, 0.5))
def test_the_reverse_for_two_coins(p, q):
    assert divergence(flip(p), flip(q)) <= 4 * math.log2(math.e) / q * (p - q) ** 2 + ROUNDING


def test_the_reverse_for_two_coins_needs_tails_to_be_the_likelier_side():
    p, q = 0.5, 0.99
    assert divergence(flip(p), flip(q)) > 1.5 * 4 * math.log2(math.e) / q * (p - q) ** 2


@given(quarters)
def test_a_biased_coin_is_near_a_fair_one(bias):
    assert divergence(flip(0.5), flip(0.5 + bias)) <= 5 * bias**2 / (2 * math.log(2)) + ROUNDING


def test_a_strongly_biased_coin_is_not():
    """So separations up to 1, coins up to 1/2 + 1/2, are not covered by the corollary's proof (E4)."""
    assert divergence(flip(0.5), flip(0.95)) > 1.5 * 5 * 0.45**2 / (2 * math.log(2))


@given(st.integers(12, 10**5), quarters, quarters, quarters)
def test_the_last_line_of_the_coin_games_proof(rows, bias, base, base_bias):
    """With 4 T1 / Q and 4 T2 / Q flips of its coins a row is told apart with probability at most 1/2."""
    limits = theory.coin_flips(rows=rows, bias=bias, base=base, base_bias=base_bias)
    bits = 4 * limits.first / rows * divergence(flip(0.5), flip(0.5 + bias))
    bits += 4 * limits.second / rows * divergence(flip(base), flip(base + base_bias))
    assert 3 / rows + math.sqrt(2 * math.log(2) * bits) / 2 <= 0.5 + ROUNDING


@given(st.integers(12, 10**4), quarters, st.integers(1, 10**7))
def test_the_second_column_is_hidden_from_all_flips_together(rows, base, flips):
    """Corollary of the coin game."""
    hidden = theory.hidden_bias(rows=rows, base=base, flips=flips)
    assume(hidden <= 0.25)
    assert theory.coin_flips(rows=rows, bias=0.1, base=base, base_bias=hidden).second > flips
