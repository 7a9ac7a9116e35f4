"""The claims on the diameter: what is computed is computed exactly, what is run is run by every agent.

Rates are judged so that what is true passes, what is false fails, and a few episodes never do.
"""

import inspect

import numpy as np
import pytest

from aomultirl import agents
from aomultirl.analysis.rules import Measurement
from aomultirl.laboratory.blocked_worlds import AGENTS, LOOKING, NAMING, SEQUENTIAL, WORLDS, Course, told
from aomultirl.laboratory.diameter import BY_CHANCE, FULL, LOSES, NAMES, QUICK, chances, reachable
from aomultirl.laboratory.exponents import mean_of, rate
from aomultirl.worlds import two_jao, two_jao_noncommunicating
from verdicts import passes


def test_all_agents_are_there():
    """A form that takes any learner, such as OneEpisode, is there with a learner that has a name of its own.

    Agents for bandits are not there: they refuse three states.
    """
    known = {name: one for name, one in vars(agents).items() if inspect.isclass(one) and issubclass(one, agents.Agent)}
    forms, for_bandits = {"Agent", "OneEpisode", "Pooled", "Told"}, {"MUCB", "TUCB", "UMUCB"}
    assert set(AGENTS) == set(known) - forms - for_bandits
    for form in forms:
        assert any(issubclass(known[name], known[form]) for name in AGENTS)


def test_reachable_states_are_those_of_some_policy():
    assert reachable(two_jao_noncommunicating()[0], 0) == {0, 1}
    assert reachable(two_jao_noncommunicating()[0], 2) == {0, 1, 2}
    assert reachable(two_jao()[0], 0) == {0, 1, 2}


def test_the_best_policy_gets_to_the_left_state_as_soon_as_a_special_action_may():
    closed, free = two_jao_noncommunicating(separation=0.5)[0], two_jao(separation=0.5)[0]
    assert chances(closed, 0, 2, [1, 10]) == [0.0, 0.0]
    assert chances(free, 0, 2, [1, 2, 10]) == pytest.approx([0.75, 0.9375, 1.0 - 0.25**10])


@pytest.mark.parametrize("agent", AGENTS)
def test_no_agent_gets_to_the_left_state(agent):
    played = Course(agent, (0.95,), 0.95, False, 1).play(3)[0]
    assert played.left.sum() == 0
    assert (played.steps == told(0.95, False, agent).horizon).all()


def test_visits_are_counted_where_there_are_some():
    played = Course("AOMultiRL", (0.95,), 0.95, True, 2).play(0)[0]
    assert (played.left > 0).all()
    assert played.named.all()


def test_an_agent_that_cannot_look_puts_all_episodes_together():
    played = Course("AOMultiRL", (0.95,), 0.95, False, 4).play(0)[0]
    assert played.named[WORLDS:].sum() == 3


def test_lambda_matters_only_where_it_can_be_seen():
    blocked = Course("DoublingAOMultiRL", (0.3, 0.95), 0.95, False, 1).play(1)
    assert all(np.array_equal(one, other) for one, other in zip(*blocked, strict=True))
    seen = Course("DoublingAOMultiRL", (0.3, 0.95), 0.95, True, 1).play(1)
    assert not np.array_equal(seen[0].rewards, seen[1].rewards)


def test_what_is_lost_is_what_the_special_action_is_missed():
    best, random = (Course(agent, (0.95,), 0.95, False, 2).play(0)[0].lost for agent in ("Optimal", "Random"))
    assert best.max() < 0.01
    assert random == pytest.approx(1.0 - 1.0 / (2 * WORLDS), abs=0.03)


def test_a_visit_of_the_hub_without_the_special_action_costs_what_the_module_says():
    delta, gap, horizon = 0.25, 0.05, 4000
    model = two_jao_noncommunicating(WORLDS, 16.0, 0.5, gap=gap)[0]
    uniform = np.full((3, 2 * WORLDS), 0.5 / WORLDS)
    regret = model.first_values(horizon)[0] - model.policy_values(uniform, horizon)[0, 0]
    leaving = delta + gap / (2 * WORLDS)
    visits = horizon * delta / (delta + leaving)
    assert regret == pytest.approx(visits * (1.0 - 0.5 / WORLDS) * gap / (2.0 * delta + gap), rel=0.01)


def judged(sizes, there, agent):
    """Episodes of a rate: out of reach of all levels, within reach of one."""
    courses = sizes.courses if there else sizes.blocked(agent) * len(sizes.levels)
    return courses * (sizes.blocks - 1) * WORLDS


@pytest.mark.parametrize("sizes", [QUICK, FULL])
def test_who_names_worlds_is_told_from_who_is_right_in_three_of_five(sizes):
    games = judged(sizes, True, "AOMultiRL")
    assert passes(NAMES, 0.98, games) > 0.99
    assert passes(NAMES, 0.99, games) ** (len(LOOKING) * len(sizes.levels)) > 0.99
    assert passes(NAMES, 0.6, games) < 0.001
    assert passes(NAMES, 0.8, games) < 0.05


@pytest.mark.parametrize("sizes", [QUICK, FULL])
@pytest.mark.parametrize("agent", NAMING)
def test_who_names_worlds_by_chance_is_told_from_who_is_twice_as_good(sizes, agent):
    games = judged(sizes, False, agent)
    # who names with proof only names no world by chance, and needs fewer episodes in the quick laboratory
    truth = 0.1 if agent == SEQUENTIAL and sizes is QUICK else 1.0 / WORLDS
    assert passes(BY_CHANCE, truth, games) > 0.99
    assert passes(BY_CHANCE, 1.0 / WORLDS, judged(sizes, False, "Recall")) ** len(NAMING) > 0.99
    assert passes(BY_CHANCE, 2.0 / WORLDS, games) < 0.05


@pytest.mark.parametrize(("knows", "chance"), [(0.0, 1.0), (0.5, 0.0)])
def test_who_loses_what_ignorance_loses_is_told_from_who_knows_every_second_world(knows, chance):
    """Who does not know it takes one action throughout an episode, as likely a left one as a right one."""
    rng = np.random.default_rng(0)
    shape = (1000, QUICK.courses * QUICK.blocks, WORLDS)
    right = (rng.random(shape) < knows) | (rng.random(shape) < 0.5 / WORLDS)
    held = [LOSES.judge(mean_of(blocks)) is True for blocks in (~right).mean(axis=2)]
    assert np.mean(held) == pytest.approx(chance, abs=0.01)


def test_who_always_takes_the_same_right_action_loses_enough_even_with_a_little_luck():
    rng = np.random.default_rng(0)
    assert LOSES.judge(mean_of(1.0 - 1.0 / WORLDS - 0.01 * rng.random(QUICK.courses * QUICK.blocks)))


@pytest.mark.parametrize("rule", [BY_CHANCE, LOSES])
def test_what_is_precisely_wrong_fails_although_it_is_near(rule):
    near = rule.predicted + 0.5 * (rule.reached - rule.predicted)
    assert rule.judge(Measurement(near, near - 0.001, near + 0.001)) is False


def test_a_few_episodes_never_tell():
    assert NAMES.judge(rate(np.arange(12) < 12)) is None
    assert NAMES.judge(rate(np.arange(48) < 47)) is True
    assert NAMES.judge(rate(np.arange(48) < 29)) is False
    assert BY_CHANCE.judge(rate(np.arange(96) < 48)) is False
