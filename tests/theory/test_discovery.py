import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aomultirl.theory import (
    DiscoveryCosts,
    discovery_episodes,
    discovery_loss,
    expected_discovery_loss,
    forced_exploration_bound,
    forced_exploration_chances,
)

COSTS = DiscoveryCosts(0.5, 1.0, 1.5, 3.0)


def slow_loss(types, explored, costs=COSTS):
    """(total, known types, missed rounds), round by round."""
    known, total, missed = set(), 0.0, 0
    for kind, explores in zip(types, explored, strict=True):
        if explores:
            total += costs.explore_known if kind in known else costs.explore_new
            known.add(kind)
        else:
            total += costs.exploit_known if kind in known else costs.exploit_new
            missed += kind not in known
    return total, len(known), missed


rounds = st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=30)


@settings(deadline=None)
@given(rounds)
def test_losses_are_those_of_a_slow_twin(played):
    types, explored = zip(*played, strict=True)
    loss = discovery_loss(types, explored, COSTS)
    total, known, missed = slow_loss(types, explored)
    assert loss == pytest.approx((total, 1.5 * len(set(types)) + 0.5 * (len(types) - len(set(types))), known, missed))
    seen = sum(explored) - known
    assert loss.regret == pytest.approx(0.5 * seen + 2.5 * missed - 1.0 * (len(set(types)) - known))


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.floats(0, 1)), min_size=1, max_size=7))
def test_expected_losses_are_means_over_all_coins(played):
    types, chances = zip(*played, strict=True)
    mean = np.zeros(3)
    for coins in np.ndindex(*[2] * len(types)):
        weight = math.prod(p if coin else 1 - p for coin, p in zip(coins, chances, strict=True))
        mean += weight * np.array(slow_loss(types, coins))
    loss = expected_discovery_loss(types, chances, COSTS)
    assert (loss.total, loss.discovered, loss.missed) == pytest.approx(tuple(mean))


def test_the_best_decisions_have_no_regret():
    types = [2, 2, 0, 2, 1, 0]
    first = [kind not in types[:t] for t, kind in enumerate(types)]
    assert discovery_loss(types, first, COSTS).regret == 0.0


@pytest.mark.parametrize("count", [100, 10_000])
def test_the_sum_of_the_chances_is_about_two_roots(count):
    total = forced_exploration_chances(count).sum()
    assert 2 * math.sqrt(count) - 2 < total < 2 * math.sqrt(count)


@pytest.mark.parametrize("times", [1, 10, 100, 1000])
@pytest.mark.parametrize("late", [False, True])
def test_few_rounds_of_a_type_are_missed(times, late):
    """At most 1 / eta_T, however often the type appears, first or last."""
    count = 1000
    types = [0] * (count - times) + [1] * times if late else [1] * times + [0] * (count - times)
    chances = forced_exploration_chances(count)
    only = [p if kind else 1.0 for kind, p in zip(types, chances, strict=True)]  # type 0 is never missed
    assert expected_discovery_loss(types, only, COSTS).missed <= 1 / chances[-1]


def test_missed_rounds_by_simulation():
    """The exact mean is that of coins.  False alarms: five standard errors."""
    rng, count = np.random.default_rng(0), 400
    types = rng.integers(3, size=count).tolist()
    chances = forced_exploration_chances(count)
    losses = [discovery_loss(types, rng.random(count) < chances, COSTS).total for _ in range(400)]
    exact = expected_discovery_loss(types, chances, COSTS).total
    assert abs(np.mean(losses) - exact) < 5 * np.std(losses) / 20


def adversary(count, types, explored):
    """Shows a type that is not discovered while there is one, and the last otherwise: sees all coins but the next."""
    shown, known = [], set()
    for t in range(count):
        kind = min(len(known), types - 1)
        shown.append(kind)
        if explored[t]:
            known.add(kind)
    return shown


@pytest.mark.parametrize("types", [2, 5])
def test_forced_exploration_withstands_an_adversary(types):
    """The mean regret against one that shows what is not known is within the bound, of the order C* sqrt(T)."""
    rng, means = np.random.default_rng(types), []
    for count in (400, 1600, 6400):
        chances, regrets = forced_exploration_chances(count), []
        for _ in range(100):
            explored = rng.random(count) < chances
            regrets.append(discovery_loss(adversary(count, types, explored), explored, COSTS).regret)
        means.append(np.mean(regrets))
        assert means[-1] <= forced_exploration_bound(count, types, COSTS)
    assert means[2] / means[0] < 6.0  # 4 for a root, 16 for a line
    bounds = [forced_exploration_bound(count, types, COSTS) for count in (100, 10_000, 1_000_000)]
    assert bounds[2] / bounds[1] == pytest.approx(10.0, rel=0.02)


def test_exploring_first_is_defeated_by_an_adversary_who_waits():
    """The regret of ExpFirst is linear where a type is hidden until later, and that of ForcedExp is not."""
    first, regrets = 50, {"first": [], "forced": []}
    for count in (1000, 4000):
        hidden = [0] * first + [1] * (count - first)
        explore_first = [t < first for t in range(count)]
        regrets["first"].append(discovery_loss(hidden, explore_first, COSTS).regret)
        forced = expected_discovery_loss(hidden, forced_exploration_chances(count), COSTS)
        regrets["forced"].append(forced.regret)
    assert regrets["first"][1] / regrets["first"][0] > 3.9
    assert regrets["forced"][1] / regrets["forced"][0] < 2.5
    assert regrets["forced"][1] < regrets["first"][1] / 20


@pytest.mark.parametrize(("types", "least", "failure"), [(4, 0.25, 0.1), (3, 0.05, 0.2)])
def test_all_types_appear_in_the_first_rounds(types, least, failure):
    """One world has p_min, the rest is shared by the others.  False alarms: below 1e-4."""
    count, rng, runs = discovery_episodes(types, least, failure), np.random.default_rng(0), 2000
    chances = [least, *[(1 - least) / (types - 1)] * (types - 1)]
    drawn = rng.choice(types, size=(runs, count), p=chances)
    missing = sum(len(set(row)) < types for row in drawn.tolist())
    assert missing <= runs * failure + 4 * math.sqrt(runs * failure)


def test_golden_numbers():
    assert discovery_episodes(4, 0.25, 0.1) == 15
    assert discovery_episodes(1, 1.0, 0.5) == 1
    assert forced_exploration_chances(9, 1.0)[-1] == pytest.approx(1 / 9)
    # (1 - 0.5) (1 + 2^-1 + 3^-1 + 4^-1) + (3 - 0.5) 2 / 4^-1
    assert forced_exploration_bound(4, 2, COSTS, 1.0) == pytest.approx(0.5 * 25 / 12 + 20.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: discovery_loss([0], [True], (1, 2)), "costs is"),
        (lambda: discovery_loss([0], [True], DiscoveryCosts(1.0, 0.5, 2.0, 3.0)), "costs must be exploit_known <"),
        (lambda: discovery_loss([0, 1], [True], COSTS), "has 1 rounds, but types has 2"),
        (lambda: discovery_loss([], [], COSTS), "types is empty"),
        (lambda: discovery_loss([0.5], [True], COSTS), r"types\[0\] must be a whole number"),
        (lambda: discovery_loss([0], [2], COSTS), r"explored\[0\] must be True or False"),
        (lambda: expected_discovery_loss([0], [1.5], COSTS), r"chances\[0\] must be at most 1"),
        (lambda: discovery_episodes(2, 0.0, 0.1), "least_probability must be above 0"),
        (lambda: forced_exploration_chances(10**14), "rounds is"),
        (lambda: forced_exploration_bound(10, 11, COSTS), "types must be between 1 and 10"),
    ],
)
def test_bad_arguments_are_refused_in_a_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()
