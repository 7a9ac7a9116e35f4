"""The lower bound of the introduction, for learners that are told the task; test_bounds.py has the other ones."""

import itertools
import math
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aomultirl import theory
from aomultirl.theory.lower_bounds import arm_tree, tree_levels

SIZE = {"states": 11, "actions": 4, "episodes": 2400, "horizon": 10}


def fewest_states(leaves, actions):
    """The slow twin of a tree's size: states that lead to so many leaves at one depth, counted node by node."""
    nodes = set()
    depth = next(d for d in itertools.count() if actions**d >= leaves)
    level = set(itertools.islice(itertools.product(range(actions), repeat=depth), leaves))
    while level:
        nodes |= level
        level = {path[:-1] for path in level if path}
    return len(nodes), depth


@pytest.mark.parametrize("actions", [2, 3, 5])
@pytest.mark.parametrize("states", range(3, 25))
def test_the_tree_is_the_largest_that_has_so_many_states(states, actions):
    leaves, depth = arm_tree(states, actions)
    assert fewest_states(leaves, actions) == (sum(tree_levels(leaves, actions)), depth)
    assert fewest_states(leaves, actions)[0] <= states - 2 < fewest_states(leaves + 1, actions)[0]


def test_the_bound_has_the_order_h_sqrt_msak():
    large = {"states": 1000, "actions": 50, "models": 9, "episodes": 9 * 10**6, "horizon": 10**4}
    order = 1e4 * math.sqrt(9 * 1000 * 50 * 9e6)
    assert theory.multi_task_lower_bound(**large) == pytest.approx(order / 20, rel=0.02)
    assert theory.multi_task_lower_bound(**large) < theory.ucbvi_bound(**large, failure=0.1).total


def test_golden_values():
    assert theory.single_task_lower_bound(**SIZE) == pytest.approx(7 / 20 * math.sqrt(24 * 2400))
    assert theory.multi_task_lower_bound(models=4, **SIZE) == pytest.approx(7 / 20 * math.sqrt(4 * 24 * 2400))
    few = {**SIZE, "episodes": 20}  # fewer pulls than arms: a share of all that there is
    assert theory.single_task_lower_bound(**few) == pytest.approx(7 / 20 * 20)


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=6).filter(any))
def test_the_bound_is_the_sum_over_worlds_and_the_largest_at_equal_shares(shares):
    sizes = {"states": 7, "actions": 3, "horizon": 6}
    total, models = sum(shares), len(shares)
    given_shares = theory.multi_task_lower_bound(models=models, episodes=total, shares=shares, **sizes)
    single = [theory.single_task_lower_bound(episodes=share, **sizes) for share in shares if share]
    assert given_shares == pytest.approx(math.fsum(single))
    equal = theory.multi_task_lower_bound(models=models, episodes=total, **sizes)
    assert given_shares <= equal * (1 + 1e-12)
    worth, arms = 6 - 1 - 1, 3 * 3
    assert equal <= worth / 20 * math.sqrt(models * arms * total) * (1 + 1e-12)  # Cauchy and Schwarz


@pytest.mark.parametrize(("arms", "pulls"), [(2, 1), (2, 40), (3, 12), (6, 60)])
def test_the_constant_holds_for_the_proofs_own_inequality(arms, pulls):
    """The proof has eps T (1 - 1/n - sqrt(-(T/n) ln(1 - 4 eps^2)) / 2) with the hardest eps; 1/20 is below it."""
    eps = min(1.0, math.sqrt(arms / pulls)) / 4.0
    lost = eps * pulls * (1.0 - 1.0 / arms - math.sqrt(-pulls / arms * math.log(1.0 - 4.0 * eps**2)) / 2.0)
    assert lost >= min(math.sqrt(arms * pulls), pulls) / 20.0


def test_the_best_learner_of_two_arms_loses_more_than_the_bound():
    """The regret of the best learner there is, by dynamic programming over all that it may have seen."""
    pulls = 12
    eps = min(1.0, math.sqrt(2 / pulls)) / 4.0
    won, failed = math.log(1.0 + 2.0 * eps), math.log(1.0 - 2.0 * eps)

    @cache
    def wrong(left, wins, failures):
        """The least expected number of pulls of the wrong arm; wins and failures: the first arm's less the second's."""
        if not left:
            return 0.0
        first = 1.0 / (1.0 + math.exp(-(won * wins + failed * failures)))
        options = []
        for sign, chance in ((1, first), (-1, 1.0 - first)):
            win = 0.5 + eps * chance
            later = win * wrong(left - 1, wins + sign, failures)
            later += (1.0 - win) * wrong(left - 1, wins, failures + sign)
            options.append(1.0 - chance + later)
        return min(options)

    bound = theory.single_task_lower_bound(states=3, actions=2, episodes=pulls, horizon=2)
    assert eps * wrong(pulls, 0, 0) >= bound > 0.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"states": 2}, "states must be at least 3, not 2"),
        ({"actions": 1}, "actions must be at least 2, not 1"),
        ({"horizon": 3}, "horizon must be at least 4, not 3"),
        ({"models": 0}, "models must be at least 1, not 0"),
        ({"episodes": 0}, "episodes must be at least 1, not 0"),
        ({"shares": [2400]}, "shares must be 2 numbers that add up to 2400, not 1 that add up to 2400"),
        ({"shares": [1, 2]}, "shares must be 2 numbers that add up to 2400, not 2 that add up to 3"),
        ({"shares": [2401, -1]}, r"shares\[1\] must be at least 0, not -1"),
        ({"shares": 7}, "shares is 7, not a list of episodes of each world"),
    ],
)
def test_bad_input(change, message):
    with pytest.raises(ValueError, match=message):
        theory.multi_task_lower_bound(**{**SIZE, "models": 2, **change})
