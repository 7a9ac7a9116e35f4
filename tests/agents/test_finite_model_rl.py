import math

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.agents import saving
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Simulator
from aomultirl.setting import Setting

MANY = 10**12
"""Samples of a row that make its estimate as good as exact."""
REWARDS = np.array([[0.0, 0.1], [1.0, 0.0], [0.0, 0.5]])


def world(chance, further=0.5):
    """Action 0 of state 0 leads to 1 with some chance, and to 0 otherwise; everything else is alike in all worlds.

    With ``further`` the world differs from those without it in state 2, which action 1 of state 0 leads to.
    """
    rows = np.zeros((3, 2, 3))
    rows[0, 0] = [1 - chance, chance, 0]
    rows[0, 1] = [0.5, 0, 0.5]
    rows[1, :] = [1, 0, 0]
    rows[2, 0], rows[2, 1] = [1, 0, 0], [1 - further, 0, further]
    return ao.MDP(rows, REWARDS)


PAIR = [world(0.5), world(0.9)]


def agent_with(models, horizon=400, failure=0.05, **keywords):
    """An agent in phase 2 that knows these worlds as if they were exact."""
    agent = ao.agents.FiniteModelRL(2, 0.8, failure, horizon, **keywords)
    agent.begin(Setting(3, 2, REWARDS, 1000))
    for mdp in models:
        known = agent.learning.nothing()
        for pair in range(6):
            for place in range(mdp.successors.starts[pair], mdp.successors.starts[pair + 1]):
                visits = round(MANY * mdp.successors.probs[place])
                known.counts.count(pair, int(mdp.successors.states[place]), visits)
        agent.kept.models.append(known)
        agent.kept.discovered.append(len(agent.kept.discovered))
        agent.kept.recognised.append(0)
    agent.kept.episodes = agent.first_episodes
    return agent


def play(agent, mdp, seed=0, start=0):
    """(report, phases that were run)."""
    ours = streams(seed, 2)
    simulator = Simulator(mdp.alias_tables, mdp.gains, start, ours[0], ours[1], terminal=mdp.ends)
    return simulator.drive(agent.episode(start, ours[1]))


def visits_of(ran, pair):
    starts, _, visits = ran.phase.counts.to_lists()
    return int(visits[starts[pair] : starts[pair + 1]].sum())


@pytest.mark.parametrize("truth", [0, 1])
def test_a_world_is_recognised_after_xi_over_the_squared_distance(truth):
    """Golden: (.5, .5) and (.9, .1) at one pair are told apart by ceil(4 ln(C^2 / p) / .32) = 55 visits of it."""
    agent = agent_with(PAIR)
    report, ran = play(agent, PAIR[truth])
    looks = [phase for phase in ran if phase.phase.part == "clustering"]
    assert looks[-1].outcome.finished
    assert ran[: len(looks)] == looks  # it explores until it knows, and then for reward
    assert (report.cluster, report.abstained, report.new_cluster) == (truth, False, False)
    assert sum(phase.outcome.steps for phase in ran) == 400
    again = agent_with(PAIR, horizon=sum(phase.outcome.steps for phase in looks))
    ended = play(again, PAIR[truth])[1]
    assert visits_of(ended[-1], 0) == math.ceil(4 * math.log(4 / 0.05) / 0.32) == 55
    assert again.findings()["recognised"] == [1 - truth, truth]


@pytest.mark.parametrize(("chance", "pairs"), [(0.5 + 0.21, [0]), (0.5 + 0.19, [])])
def test_rows_that_are_half_of_the_separation_apart_are_compared(chance, pairs):
    """lambda is 0.8, so an l1 distance of 0.42 counts and one of 0.38 does not."""
    agent = agent_with([world(0.5), world(chance)])
    assert agent.memory(streams(0, 1)[0]).pairs.tolist() == pairs


def test_one_step_less_decides_nothing():
    agent = agent_with(PAIR)
    steps = sum(phase.outcome.steps for phase in play(agent, PAIR[0])[1] if phase.phase.part == "clustering")
    short = agent_with(PAIR, horizon=steps - 1)
    report, _ = play(short, PAIR[0])
    assert (report.cluster, report.abstained, report.world) == (-1, True, 0)
    assert short.findings()["undecided"] == 1


def test_the_wrong_world_is_as_rare_as_promised():
    """p = .9 and C = 2: at most p / C^2 of the episodes.  False alarms: below one in 10,000."""
    agent = agent_with(PAIR, horizon=60, failure=0.9)
    wrong, runs = 0, 200
    for seed in range(runs):
        report, _ = play(agent, PAIR[seed % 2], seed)
        wrong += report.cluster not in (-1, seed % 2)
    assert wrong <= runs * 0.225 + 4 * math.sqrt(runs * 0.225 * 0.775)


def test_the_model_that_is_left_learns_from_the_episode():
    agent = agent_with(PAIR)
    before = [saving.to_bytes(agent), agent.kept.models[0].counts.to_lists()[2].sum()]
    play(agent, PAIR[1])
    totals = [int(model.counts.to_lists()[2].sum()) for model in agent.kept.models]
    assert totals == [before[1], before[1] + 400]


def test_it_exploits_at_once_where_the_steps_cannot_decide():
    agent = agent_with(PAIR, horizon=54)
    report, ran = play(agent, PAIR[1])
    assert {phase.phase.part for phase in ran} == {"learning"}
    assert report.abstained


def test_it_exploits_where_informative_pairs_are_out_of_reach():
    """From state 1, which leads to 0, reaching is certain but for the discount; nothing is asked of a chance of 1."""
    agent = agent_with(PAIR, reach=1.0)
    ran = play(agent, PAIR[1], start=1)[1]
    assert ran[0].phase.part == "learning"
    eager = agent_with(PAIR, reach=0.0)
    assert play(eager, PAIR[1], start=1)[1][0].phase.part == "clustering"


def test_a_world_that_contradicts_all_models_falls_back_to_a_learner_alone():
    """State 0's second action, and state 2, are as in no model; nothing of it is remembered."""
    agent = agent_with(PAIR, horizon=3000)
    stranger = world(0.02)
    report, ran = play(agent, stranger)
    assert (report.cluster, report.world, report.abstained) == (-1, -1, True)
    assert agent.findings()["unknown"] == [agent.first_episodes]
    assert ran[-1].phase.part == "learning"
    assert [int(model.counts.to_lists()[2].sum()) for model in agent.kept.models] == [6 * MANY] * 2
    earned = sum(phase.outcome.reward for phase in ran[-1:]) / ran[-1].outcome.steps
    assert earned > 0.2  # state 2 pays, which the learner alone has found out


def test_one_model_is_exploited_until_it_is_contradicted():
    agent = agent_with(PAIR[1:])
    report, ran = play(agent, PAIR[1])
    assert {phase.phase.part for phase in ran} == {"learning"}
    assert report.cluster == 0
    assert play(agent, world(0.02), 1)[0].cluster == -1


def test_phase_one_makes_and_joins_models():
    models = ao.worlds.gridworld()
    agent = ao.agents.FiniteModelRL(4, 1.3, 0.1, 1000, radius_scale=0.35)
    history = ao.run(agent, models, ao.streams.uniform(), episodes=60, seed=1)
    found = agent.findings()
    assert agent.first_episodes == found["first_episodes"] == math.ceil(math.log(4 / 0.1) / 0.25) == 15
    assert len(found["discovered"]) == found["models"] == 4
    assert found["discovered"][-1] < 15
    assert len(found["discovered"]) + len(found["joined"]) == 15
    assert sum(found["recognised"]) + found["undecided"] + len(found["unknown"]) == 45
    alone = ao.run(ao.agents.OneEpisodeLearner(1000), models, ao.streams.uniform(), episodes=60, seed=1)
    earned = [(h["clustering_reward"] + h["learning_reward"])[15:].mean() for h in (history, alone)]
    assert earned[0] > earned[1] + 30.0
    assert history.misclustered <= 2


def test_a_world_that_is_hidden_until_later_is_never_remembered():
    """No guarantee against an adversary, and why: phase 2 makes no models."""
    models = ao.ModelSet([world(0.5), world(0.9), world(0.02)])
    agent = ao.agents.FiniteModelRL(2, 0.8, 0.1, 600, radius_scale=0.5)
    tasks = [0, 1] * 10 + [2] * 10
    history = ao.run(agent, models, ao.streams.sequence(tasks), episodes=30)
    found = agent.findings()
    assert found["models"] == 2
    assert found["unknown"] == list(range(20, 30))
    assert history["cluster"][20:].tolist() == [-1] * 10
    assert (history["cluster"][found["first_episodes"] : 20] >= 0).mean() > 0.8  # the worlds of phase 1 are recognised


def test_no_more_models_than_there_are_worlds():
    """With C = 1 the second world joins the first, and findings() say so."""
    agent = ao.agents.FiniteModelRL(1, 0.8, 0.1, 600, least_probability=0.5, radius_scale=0.3)
    ao.run(agent, ao.ModelSet(PAIR), ao.streams.sequence([0, 1, 0, 1, 0]), episodes=5)
    assert agent.findings()["joined"] == [[k, 0, 0] for k in range(1, 5)]


def test_episodes_that_end_early_are_learned_from():
    ending = ao.ModelSet(ao.MDP(mdp.successors, REWARDS, terminal=[2]) for mdp in PAIR)
    agent = ao.agents.FiniteModelRL(2, 0.8, 0.1, 300, radius_scale=0.3, rewards="unknown")
    history = ao.run(agent, ending, ao.streams.round_robin(), episodes=40)
    steps = history["identification_steps"] + history["learning_steps"]
    assert steps.min() < 300
    assert agent.kept.episodes == 40


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"models": 0}, "models must be at least 1, not 0"),
        ({"models": None}, "models must be a whole number, not None"),
        ({"separation": 3.0}, "separation must be at most 2, not 3"),
        ({"failure": 0.0}, "failure must be above 0, not 0"),
        ({"horizon": 0}, "horizon must be at least 1, not 0"),
        ({"least_probability": 2.0}, "least_probability must be at most 1, not 2"),
        ({"radius_scale": 0.0}, "radius_scale must be above 0, not 0"),
        ({"reach": -1.0}, "reach must be at least 0, not -1"),
        ({"learner": 3}, "learner is 3, not a learner"),
        ({"rewards": "some"}, "rewards"),
    ],
)
def test_bad_arguments_are_refused_in_a_sentence(arguments, message):
    given = {"models": 2, "separation": 0.8, "failure": 0.1, "horizon": 20} | arguments
    with pytest.raises(ValueError, match=message):
        ao.agents.FiniteModelRL(**given).begin(Setting(3, 2, REWARDS, 10))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda kept: kept.recognised.append(1), "memory.recognised must have an entry for each of the 2 models"),
        (lambda kept: kept.discovered.pop(), "memory.discovered must have an entry for each of the 2 models"),
        (lambda kept: setattr(kept.joined[0], "model", 5), r"memory.joined\[0\].model must be between 0 and 1"),
    ],
)
def test_a_memory_that_cannot_be_is_refused(change, message):
    agent = ao.agents.FiniteModelRL(2, 0.8, 0.1, 600, radius_scale=0.3)
    ao.run(agent, ao.ModelSet(PAIR), ao.streams.round_robin(), episodes=6)
    kept = agent.kept
    agent.restore(kept)
    change(kept)
    with pytest.raises(ValueError, match=message):
        agent.restore(kept)


def test_evidence_and_memory_are_shown():
    agent = agent_with(PAIR)
    seen = agent.learning.tally().counts
    assert [found.value for found in agent.evidence(seen)] == [0.0, 0.0]
    seen.count(0, 1, 60)
    first, second = agent.evidence(seen)
    assert first.contradicted
    assert not second.contradicted
    assert first.value == pytest.approx(60 * 0.32 / 4, rel=1e-4)
    assert first.value > first.limit
    memory = agent.memory(streams(0, 1)[0])
    assert memory.pairs.tolist() == [0]
    assert [len(cluster.plan) for cluster in memory.clusters] == [3, 3]
