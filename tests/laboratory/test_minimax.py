"""The claims on the minimax regime: how they are made, at tiny sizes, and behind `long` as they are."""

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.agents.base import NOTHING, Report
from aomultirl.agents.baselines import told_task
from aomultirl.analysis.rules import Measurement
from aomultirl.engine.behaviours import follow
from aomultirl.engine.counts import CountTable
from aomultirl.engine.stepping import Phase
from aomultirl.experiments.executors import InProcess, local
from aomultirl.laboratory import jao_trials, minimax
from aomultirl.laboratory.findings import carry_out
from aomultirl.laboratory.jao_trials import (
    LEARNER,
    ORACLE,
    PLAIN,
    RANDOM,
    TREE,
    UCRL,
    Trial,
)
from aomultirl.laboratory.minimax import KEY, MinimaxSizes
from aomultirl.worlds import two_jao_tree
from backwards import Backwards

TINY = MinimaxSizes(
    episodes=8,
    told_episodes=12,
    many=3,
    runs=4,
    each=1,
    horizons=(2000, 4000),
    diameters=(20.0, 30.0),
    pairs=((10, 10), (10, 14)),
    states=(10, 12),
    actions=(11, 13),
    constants=(1.0, 4.0),
    long_horizons=(20_000, 40_000),
    thorough=False,
)
POINT = (10, 10, 20.0, 2000)


@pytest.fixture(scope="module")
def found():
    return minimax.measure(True, 0, InProcess(), TINY)


class Clairvoyant(ao.agents.Optimal):
    """Knows the special action and takes another one once."""

    def episode(self, start, stream, task=None):
        plan = self._models[told_task(task)].optimal_policy(self.horizon)
        plan[0] = (plan[0] + 1) % self.setting.n_actions
        pairs = self.setting.n_states * self.setting.n_actions
        yield Phase(follow(plan), self.horizon, CountTable(pairs), NOTHING)
        return Report()


def the_claim(found, words):
    (claim,) = [one for one in found.claims if words in one.claim]
    return claim


@pytest.mark.parametrize("family", ["two states", TREE])
def test_lambda_is_tied_to_the_sizes(family):
    trial = Trial(LEARNER, 10, 11, 20.0, 8800, 1, 1, family, constant=2.0)
    assert trial.separation == pytest.approx(2.0 * np.sqrt(110 / (8800 * 20.0)))
    worlds = trial.worlds()
    assert worlds.separation() == pytest.approx(trial.separation)
    assert len(worlds) == (27 if family != TREE else 25)


def test_staying_in_a_reward_state_of_a_tree_is_of_no_use():
    worlds = two_jao_tree(10, 11, 20.0, 0.1, kind="jao")
    delta, bias, horizon = 0.2, 0.05, 20_000
    gain = worlds[0].first_values(horizon)[0] / horizon
    assert gain == pytest.approx((delta + bias) / (2.0 * delta + bias), abs=1e-3)


def test_what_is_lost_without_the_special_action_is_what_exact_values_say():
    trial = Trial(PLAIN, *POINT, 1, 1)
    world = trial.worlds()[0]
    other = world.policy_values(np.ones(2, int), trial.horizon)[0, 0]
    lost = world.first_values(trial.horizon)[0] - other
    assert lost == pytest.approx(trial.never_special(), abs=trial.diameter / 8.0)


def test_losses_add_up_to_what_a_fixed_policy_loses():
    """Exactly: occupancies of a random policy in a small horizon, by matrix powers."""
    world = Trial(PLAIN, *POINT, 1, 1).worlds()[3]
    horizon, n_actions = 40, world.n_actions
    each, rest = jao_trials.losses(world, horizon)
    policy = np.random.default_rng(0).dirichlet(np.ones(n_actions), size=2)
    walk = np.einsum("sa,sat->st", policy, world.transitions)
    at, lost = np.array([1.0, 0.0]), 0.0
    for _ in range(horizon):
        lost += at @ (policy * each).sum(axis=1)
        at = at @ walk
    assert each.min() > -1e-9
    best, own = world.first_values(horizon)[0], world.policy_values(policy, horizon)[0, 0]
    assert lost + at @ rest == pytest.approx(best - own)


@pytest.mark.parametrize("agent", [UCRL, PLAIN])
def test_regret_is_that_of_the_runner_with_less_noise(agent):
    """Four standard deviations of the difference of two means: a false alarm in 15,000."""
    trial = Trial(agent, *POINT, 60, 1)
    own = trial.play(0)[:, 0]
    run = [
        ao.run(jao_trials.AGENTS[agent](trial), trial.worlds(), ao.streams.uniform(), 1, seed, record=["regret"])
        for seed in range(60)
    ]
    theirs = np.array([history["regret"][0] for history in run])
    noise = np.sqrt((own.var() + theirs.var()) / 60)
    assert abs(own.mean() - theirs.mean()) < 4.0 * noise
    assert agent != UCRL or own.std() < 0.5 * theirs.std()


def test_aomultirl_refuses_the_horizon_because_clustering_needs_more():
    trial = Trial(LEARNER, *POINT, 1, 4)
    worlds = trial.worlds()
    pairs = [(0, action) for action in range(worlds.n_actions - 1)]
    agent = ao.agents.AOMultiRL(len(worlds), trial.separation, 5.0, jao_trials.FAILURE, pairs, horizon=trial.horizon)
    with pytest.raises(ValueError, match=f"takes H0 = {trial.clustering_horizon():,} steps, but horizon is 2,000"):
        ao.run(agent, worlds, ao.streams.uniform(), 4)
    assert len(worlds.distinguishing_set()) == len(pairs)


def test_every_claim_says_how_it_is_judged_and_names_a_figure_that_is_there(found):
    names = [figure.name for figure in found.figures]
    assert len(names) == len(set(names)) == 11
    for claim in found.claims:
        assert claim.rule.words
        assert claim.place.startswith("Section 3")
        assert claim.group == "minimax"
        assert np.isnan(claim.measured) or claim.low <= claim.measured <= claim.high
        assert claim.figure in names


def figure_of(found, name):
    return next(one for one in found.figures if one.name == name)


def test_exponents_that_follow_from_the_tie_are_shown_and_not_judged(found):
    for axis, agents in (("horizon", 3), ("diameter", 3), ("pairs", 2), ("states", 3), ("actions", 3)):
        figure = figure_of(found, f"minimax_{axis}")
        points = {one.label: one for one in figure.series if one.kind == "measured"}
        fits = {one.subject.name: one for one in figure.series if one.kind == "fit"}
        assert len(points) == len(fits) == agents
        for name, one in points.items():
            slope = np.polyfit(np.log(one.x), np.log(one.y), 1)[0]
            assert f"slope {slope:.2f} (" in fits[name].label
        assert "Slopes are not judged: lambda is tied to the sizes" in figure.caption
        assert ("hardly learn within H" in figure.caption) == (axis in ("states", "actions"))
    assert not any("the root of" in claim.claim for claim in found.claims)


def test_of_the_agents_only_those_that_remember_are_judged_in_k(found):
    claim = the_claim(found, "regret grows at least linearly in K")
    assert set(claim.estimates) == {jao_trials.RECALL, jao_trials.SEQUENTIAL}
    figure = figure_of(found, claim.figure)
    points = {one.label: one for one in figure.series if one.kind == "measured"}
    for name, slope in claim.estimates.items():
        assert slope.value == pytest.approx(np.polyfit(np.log(points[name].x), np.log(points[name].y), 1)[0])
    shown = set(points) - set(claim.estimates) - {ORACLE}
    assert shown == {PLAIN, UCRL, RANDOM, jao_trials.POOLED}
    not_judged = figure.caption.partition("Not judged: ")[2]
    assert all(name in not_judged for name in shown)
    assert "OneEpisodeUCBVI and PooledUCBVI are Random to the bit" in not_judged


@pytest.mark.parametrize(
    ("slope", "outcome", "times"),
    [(1.0, "holds", "10 times (9.55 to 10.5)"), (0.5, "fails", "3.16 times (3.02 to 3.31)")],
)
def test_what_memory_is_worth_is_told_as_it_was_measured(slope, outcome, times):
    claim = minimax._no_use({"Recall": Measurement(slope, slope - 0.02, slope + 0.02)})
    assert claim.outcome == outcome
    assert claim.plain.found == f"ten times as many episodes cost {times} as much for Recall"


def test_ucrl2_is_within_its_bound_where_that_is_less_than_all_there_is(found):
    """Elsewhere nobody can lose more, so nothing is judged; with these sizes that is everywhere."""
    claim = the_claim(found, "stays within 34 D S")
    assert claim.outcome == "open"
    assert "the bound exceeds H everywhere here" in claim.reason
    small = Trial(UCRL, *minimax.SMALLEST, 3_000_000, 2, 1)
    assert small.upper_bound() < small.horizon
    regrets = {small: np.full((2, 1), 50.0) + np.arange(2)[:, None], Trial(UCRL, *POINT, 2, 1): np.full((2, 1), 9e9)}
    (within,) = minimax._within(regrets).claims
    assert within.holds
    assert len(within.estimates) == 1
    assert within.measured == pytest.approx(50.5 / small.upper_bound())


def test_ucrl2_is_compared_with_the_slope_of_its_own_bound(found):
    rule = the_claim(found, "no faster than sqrt(H ln H)").rule
    bounds = [Trial(UCRL, *minimax.SMALLEST, horizon, 6, 1).upper_bound() for horizon in TINY.long_horizons]
    slope = np.log(bounds[1] / bounds[0]) / np.log(TINY.long_horizons[1] / TINY.long_horizons[0])
    assert rule.predicted == pytest.approx(slope)
    assert 0.5 < rule.predicted < rule.most == rule.predicted + minimax.DOUBLING


def test_what_clustering_takes_is_shown_at_every_point_of_two_states(found):
    claim = the_claim(found, "does not fit into an episode")
    figure = next(one for one in found.figures if one.name == claim.figure)
    points = [one for one in figure.series if one.kind == "measured"]
    assert [len(one.x) for one in points] == [len(TINY.horizons), len(TINY.diameters), len(TINY.pairs)]
    assert points[0].y[0] == pytest.approx(Trial(PLAIN, *POINT, 4, 1).clustering_horizon() / 2000)
    assert claim.measured == min(min(one.y) for one in points)
    assert claim.holds


def test_figures_show_points_with_intervals_fits_with_their_slopes_and_theory(found):
    for figure in found.figures:
        if figure.name == "minimax_room":
            continue
        kinds = [one.kind for one in figure.series]
        assert "theory" in kinds
        assert "fit" in kinds or figure.name in ("minimax_constant", "minimax_above", "minimax_within")
        for one in figure.series:
            assert one.kind != "fit" or "slope" in one.label
            if one.kind == "measured":
                assert len(one.x) == len(one.y) == len(one.low) == len(one.high)
                assert all(a <= b <= c for a, b, c in zip(one.low, one.y, one.high, strict=True))


def test_the_agent_that_is_told_the_task_is_judged_apart(found):
    figure = next(one for one in found.figures if one.name == "minimax_episodes")
    assert ORACLE in [one.label for one in figure.series]
    assert the_claim(found, "told the task, profits").figure == "minimax_episodes"


def test_who_does_the_work_makes_no_difference_and_the_seed_does():
    trials = [Trial(name, *POINT, 1, 2) for name in (UCRL, LEARNER)]
    first, same, other = (
        carry_out(trials, KEY, seed, way) for seed, way in ((0, InProcess()), (0, Backwards()), (1, InProcess()))
    )
    for trial in trials:
        assert np.array_equal(first[trial], same[trial])
        assert not np.array_equal(first[trial], other[trial])


def test_an_agent_that_knows_the_special_action_would_be_noticed(monkeypatch):
    monkeypatch.setitem(jao_trials.AGENTS, LEARNER, lambda trial: Clairvoyant(trial.horizon))
    sizes = TINY._replace(episodes=4, told_episodes=4, many=2, long_horizons=(20_000, 25_000))
    found = minimax.measure(True, 0, InProcess(), sizes)
    lower = the_claim(found, "no agent's regret is below")
    assert not lower.holds
    assert lower.measured < 0.1
    assert not the_claim(found, "the best agent loses that much").holds


@pytest.mark.long
def test_nobody_is_below_the_bound_and_memory_is_of_no_use():
    """What learners lose has standard errors of 0.05 in the exponent of K, so it may be open; none may fail."""
    found = minimax.measure(True, 1, local(2))
    for words in ("no agent's regret is below", "the best agent loses", "UCRL2 in every"):
        assert the_claim(found, words).holds
    assert all(claim.verdict is not False for claim in found.claims)


def test_agents_said_to_act_at_random_are_random_to_the_bit():
    drawn = Trial(RANDOM, *POINT, 2, 6).play(3)
    for agent in minimax.RANDOMLY:
        assert np.array_equal(Trial(agent, *POINT, 2, 6).play(3), drawn)
