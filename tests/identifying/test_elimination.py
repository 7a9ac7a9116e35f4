import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from aomultirl.engine.behaviours import FOREVER
from aomultirl.engine.counts import CountTable
from aomultirl.identifying.elimination import (
    Confidence,
    VersionSpace,
    contest,
    contradiction,
    distances,
    threshold,
)

STATES, PAIRS = 3, 6
EXACT = Confidence(STATES, PAIRS, 0.1, scale=0.0)


def table(rows):
    """Counts by (pair, successor)."""
    counts = CountTable(PAIRS)
    for (pair, successor), visits in rows.items():
        if visits:
            counts.count(pair, successor, visits)
    return counts


def two_models(confidence=EXACT, times=1):
    """Two models that differ at pair 0, (1/2, 1/2) and (9/10, 1/10), and are the same at pair 1."""
    same = {(1, 2): 7 * times}
    one = table({(0, 0): 5 * times, (0, 1): 5 * times, **same})
    other = table({(0, 0): 9 * times, (0, 1): 1 * times, **same})
    return [confidence.rows_of(one), confidence.rows_of(other)]


def slow_row(rows, pair):
    total = sum(visits for (p, _), visits in rows.items() if p == pair)
    return [rows.get((pair, s), 0) / total if total else 0.0 for s in range(STATES)], total


def slow_radius(n, confidence):
    logarithm = math.log(confidence.rows * n * (n + 1) / confidence.failure)
    return confidence.scale * (1 + math.sqrt(logarithm)) / math.sqrt(n)


def slow_standing(models, seen, confidence, apart):
    """c_ij and D_ij for all i and j, one visit after the other."""
    count = len(models)
    weight, errors = np.zeros((count, count)), np.zeros((count, count))
    for i in range(count):
        for j in range(count):
            for (pair, successor), visits in seen.items():
                (a, n_a), (b, n_b) = slow_row(models[i], pair), slow_row(models[j], pair)
                if i == j or not n_a or not n_b:
                    continue
                e = max(slow_radius(n_a, confidence), slow_radius(n_b, confidence))
                gap = math.dist(a, b)
                if sum(abs(x - y) for x, y in zip(a, b, strict=True)) < apart or gap <= 4 * e:
                    continue
                z = [float(s == successor) for s in range(STATES)]
                weight[i, j] += visits * gap * (gap - 4 * e)
                errors[i, j] += visits * (math.dist(a, z) ** 2 - math.dist(b, z) ** 2)
    return weight, errors


world = st.dictionaries(st.tuples(st.integers(0, PAIRS - 1), st.integers(0, STATES - 1)), st.integers(1, 60))


@settings(deadline=None, max_examples=60)
@given(st.lists(world, min_size=2, max_size=3), world, st.sampled_from([0.0, 0.05, 0.2]))
def test_standing_is_that_of_a_slow_twin(models, seen, scale):
    confidence = Confidence(STATES, PAIRS, 0.1, scale)
    space = VersionSpace([confidence.rows_of(table(model)) for model in models], 0.25, threshold(3, 0.1))
    fast = space.standing(confidence.rows_of(table(seen)))
    weight, errors = slow_standing(models, seen, confidence, 0.25)
    # A pair whose distance is 1/4, or 4 e, but for rounding may count or not.
    near = any(
        abs(sum(abs(x - y) for x, y in zip(slow_row(a, p)[0], slow_row(b, p)[0], strict=True)) - 0.25) < 1e-9
        for a in models
        for b in models
        for p in range(PAIRS)
    )
    if not near:
        assert fast.weight == pytest.approx(weight, abs=1e-9)
        assert fast.errors == pytest.approx(errors, abs=1e-9)


@settings(deadline=None, max_examples=60)
@given(world, world)
def test_distances_are_those_of_a_slow_twin(a, b):
    found = distances(EXACT.rows_of(table(a)), EXACT.rows_of(table(b)))
    for pair in range(PAIRS):
        (p, n), (q, m) = slow_row(a, pair), slow_row(b, pair)
        both = n > 0 and m > 0
        assert found.l1[pair] == pytest.approx(both * sum(abs(x - y) for x, y in zip(p, q, strict=True)), abs=1e-9)
        assert found.l2[pair] == pytest.approx(both * math.dist(p, q), abs=1e-7)


def test_a_model_is_dropped_after_xi_over_the_squared_distance():
    """Golden: ||d||^2 = .32, so ceil(xi / .32) visits decide, and not one less."""
    one, other = two_models()
    assert contest(one, other, 0.3).pairs.tolist() == [0]
    assert contest(one, other, 0.3).weights == pytest.approx([0.32])
    assert contest(one, other, 0.81).pairs.tolist() == []  # l1 distance .8
    xi = threshold(2, 0.05)
    assert xi == pytest.approx(4 * math.log(80))
    space, visits = VersionSpace([one, other], 0.3, xi), math.ceil(xi / 0.32)
    assert visits == 55
    nothing = space.standing(EXACT.rows_of(table({})))
    assert space.needed([0, 1], nothing).tolist() == [visits, *[FOREVER] * 5]
    for n, left in ((visits - 1, [0, 1]), (visits, [1])):
        assert space.survivors([0, 1], space.standing(EXACT.rows_of(table({(0, 0): n})))) == left
    assert space.survivors([0, 1], space.standing(EXACT.rows_of(table({(0, 1): visits})))) == [0]
    seen = space.standing(EXACT.rows_of(table({(0, 0): 10})))
    assert space.needed([0, 1], seen)[0] == visits - 10
    assert space.needed([0], seen).min() == FOREVER


@pytest.mark.parametrize(("share", "pairs"), [(0.26, []), (0.24, [0])])
def test_rows_within_four_of_their_errors_are_not_compared(share, pairs):
    """Twice and three times the error is not enough, because the weight of such a visit would be negative."""
    one, other = two_models()
    errors = np.full(PAIRS, share * math.dist((0.5, 0.5), (0.9, 0.1)))
    found = contest(one._replace(radius=errors), other._replace(radius=errors), 0.3)
    assert found.pairs.tolist() == pairs
    assert (found.weights > 0.0).all()


@pytest.mark.parametrize("truth", [0, 1])
def test_the_world_is_dropped_as_rarely_as_promised(truth):
    """At most p / C^2; p = .9, so that it can be seen.  False alarms: one in a million if the bound were sharp."""
    failure, runs, rng = 0.9, 20_000, np.random.default_rng(0)
    space = VersionSpace(two_models(), 0.3, threshold(2, failure))
    visits = math.ceil(space.limit / 0.32)
    hits = rng.binomial(visits, (0.5, 0.9)[truth], runs)
    wrong = 0
    for n in range(visits + 1):
        left = space.survivors([0, 1], space.standing(EXACT.rows_of(table({(0, 0): n, (0, 1): visits - n}))))
        wrong += int((hits == n).sum()) * (left != [truth])
    assert 0 < wrong <= stats.binom.ppf(1 - 1e-6, runs, failure / 4)


def test_looking_at_every_time_is_allowed():
    """Ville's inequality: also who looks after every visit, and stops at the first wrong verdict, is within p / C^2."""
    failure, runs, steps, rng = 0.9, 4000, 400, np.random.default_rng(1)
    xi = threshold(2, failure)
    for truth, chance in ((0, 0.5), (1, 0.9)):
        hits = (rng.random((runs, steps)) < chance).cumsum(axis=1)
        n = np.arange(1, steps + 1)
        # D_01 adds .5 - 1 = -.5 + ... : ||(.5, .5) - z||^2 - ||(.9, .1) - z||^2 is .48 at z = 0, and -1.12 at z = 1
        d = 0.48 * hits - 1.12 * (n - hits)
        wrong = (0.32 * n >= xi) & ((d > 0) if truth == 0 else (d <= 0))
        assert wrong.any(axis=1).sum() <= stats.binom.ppf(1 - 1e-6, runs, failure / 4)


def test_estimated_rows_that_are_wrong_within_their_confidence_keep_the_promise():
    """The model's row is (.56, .44) where the world's is (.5, .5), which e allows for.  False alarms: below 1e-6."""
    failure, runs, rng = 0.5, 3000, np.random.default_rng(2)
    e = math.dist((0.5, 0.5), (0.56, 0.44))
    rows = [
        EXACT.rows_of(table({(0, 0): hits, (0, 1): 100 - hits}))._replace(radius=np.full(PAIRS, e)) for hits in (56, 94)
    ]
    space = VersionSpace(rows, 0.1, threshold(2, failure))
    gap = math.dist((0.56, 0.44), (0.94, 0.06))
    assert space.contests[0, 1].weights == pytest.approx([gap * (gap - 4 * e)])
    visits = math.ceil(space.limit / space.contests[0, 1].weights[0])
    wrong = sum(
        0 not in space.survivors([0, 1], space.standing(EXACT.rows_of(table({(0, 0): n, (0, 1): visits - n}))))
        for n in rng.binomial(visits, 0.5, runs).tolist()
    )
    assert wrong <= stats.binom.ppf(1 - 1e-6, runs, failure / 4)


def test_rows_are_within_their_confidence():
    """e(n) holds for all n at once with probability 1 - p; p = .9 and a single row.  False alarms: below 1e-6."""
    confidence, runs, steps, rng = Confidence(4, 1.0, 0.9), 500, 200, np.random.default_rng(0)
    row = np.array([0.25, 0.25, 0.25, 0.25])
    n = np.arange(1, steps + 1)
    radius = confidence.radius(n)
    drawn = rng.integers(4, size=(runs, steps))
    shares = (drawn[:, :, None] == np.arange(4)).cumsum(axis=1) / n[:, None]
    outside = (np.linalg.norm(shares - row, axis=2) > radius).any(axis=1).sum()
    assert outside <= stats.binom.ppf(1 - 1e-6, runs, 0.9)
    assert confidence.radius(np.array([0]))[0] == math.inf
    assert radius[9] == pytest.approx(slow_radius(10, confidence))


def test_a_contradicted_model_is_told_by_the_distance_of_its_rows():
    confidence = Confidence(STATES, PAIRS, 0.1)
    model = confidence.rows_of(table({(0, 0): 400}))
    near, far = (confidence.rows_of(table({(0, s): 400})) for s in (0, 1))
    assert contradiction(model, near) == 0.0
    expected = math.sqrt(2) / (2 * slow_radius(400, confidence))
    assert contradiction(model, far) == pytest.approx(expected)
    assert expected > 1.0
    assert contradiction(model, confidence.rows_of(table({(1, 1): 400}))) == 0.0  # nothing in common
    assert contradiction(model, confidence.rows_of(table({}))) == 0.0


def test_one_model_always_survives_comparison():
    rng = np.random.default_rng(3)
    for _ in range(30):
        rows = [
            EXACT.rows_of(table({(p, s): int(rng.integers(1, 20)) for p in range(PAIRS) for s in range(STATES)}))
            for _ in range(5)
        ]
        space = VersionSpace(rows, 0.05, 0.5)
        seen = EXACT.rows_of(table({(p, s): int(rng.integers(0, 50)) for p in range(PAIRS) for s in range(STATES)}))
        assert len(space.survivors(range(5), space.standing(seen))) >= 1


def test_comparisons_that_are_known_are_taken_over():
    rows = two_models()
    before = VersionSpace(rows, 0.3, 1.0)
    third = EXACT.rows_of(table({(0, 2): 3}))
    after = VersionSpace([*rows, third], 0.3, 2.0, before)
    assert after.contests[0, 1] is before.contests[0, 1]
    assert sorted(after.contests) == [(0, 1), (0, 2), (1, 2)]
    changed = VersionSpace([third, rows[1]], 0.3, 2.0, before)
    assert changed.contests[0, 1] is not before.contests[0, 1]
    assert changed.contests[0, 1].pairs.tolist() == [0]
