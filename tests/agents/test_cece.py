"""CECE: its numbers, that any visited pair identifies, and an adversary that defeats it."""

import math

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.agents.base import Setting
from aomultirl.agents.cece import Context, ContextMemory
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Simulator
from by_hand import play_and_report

QUICK = ao.learning.UCRL2(0.05)


def separate(n_states, n_actions, models, delta, seed=0):
    """Worlds of which any two differ by exactly ``delta`` at every pair: each prefers another successor there."""
    rng = np.random.default_rng(seed)
    rewards = rng.random((n_states, n_actions)) * (rng.random((n_states, 1)) < 0.4)
    preferred = np.argsort(rng.random((n_states, n_actions, n_states)), axis=2)
    base = np.full((n_states, n_actions, n_states), (1.0 - delta / 2.0) / n_states)
    return ao.ModelSet(
        ao.MDP(base + delta / 2.0 * np.eye(n_states)[preferred[:, :, number]], rewards) for number in range(models)
    )


def begun(agent, models, episodes):
    agent.begin(Setting(models.n_states, models.n_actions, models.rewards, episodes))
    return agent


def played(agent, world, seed, start=0):
    """(steps as (state, action, successor), the report) of an episode."""
    steps, report = play_and_report(agent, world, start, seed, noisy=False)
    return [step[:3] for step in steps], report


def classified(agent, world, seed, start=0):
    """The context that an episode is put in."""
    agent.evaluates = False
    source, own = streams(seed, 2)
    return Simulator(world.alias_tables, world.gains, start, source, own).drive(agent.episode(start, own))[0].cluster


def counted(table, n_states, n_actions):
    """A CountTable as visits (S, A, S)."""
    starts, states, visits = table.to_lists()
    made = np.zeros((n_states * n_actions, n_states))
    made[np.repeat(np.arange(n_states * n_actions), np.diff(starts)), states] = visits
    return made.reshape(n_states, n_actions, n_states)


def knowing(agent, models, visits=10**9):
    """The agent after its batch, knowing every world almost exactly."""
    for world in models:
        known = agent._learning.nothing()
        for pair, row in enumerate(np.array(world.transitions).reshape(-1, world.n_states)):
            for successor in np.flatnonzero(row):
                known.counts.count(pair, int(successor), round(float(row[successor]) * visits))
        agent.kept.contexts.append(Context(known, 1))
    agent.kept.met = len(models)
    return agent


def test_the_worlds_of_these_tests_differ_everywhere():
    one, two = (np.array(world.transitions) for world in separate(5, 3, 2, 0.7))
    assert np.abs(one - two).sum(axis=2) == pytest.approx(0.7)


def test_golden_numbers():
    """n_0 = ceil((32 / delta^2) (S ln 2 + ln(E^2 S A / p))) and H_c = ceil((8 / delta^2) ln(M / p))."""
    for (states, actions, models, delta, failure, batch), (needed, steps) in {
        (3, 2, 2, 1.0, 0.1, 10): (345, 24),
        (16, 4, 4, 1.3, 0.03, 40): (495, 24),
        (6, 3, 5, 0.5, 0.2, 1): (1109, 104),
    }.items():
        agent = ao.agents.CECE(models, delta, failure, 10**6, batch)
        agent.begin(Setting(states, actions, np.zeros((states, actions)), 100))
        spent = states * math.log(2) + math.log(batch**2 * states * actions / failure)
        assert needed == math.ceil(32 / delta**2 * spent)
        assert steps == math.ceil(8 / delta**2 * math.log(models / failure))
        found = agent.findings()
        assert (found["samples"], found["classifying_steps"]) == (needed, steps)


@pytest.mark.parametrize(("n_states", "n_actions"), [(4, 2), (10, 5), (24, 8)])
def test_any_visited_pair_identifies_however_many_there_are(n_states, n_actions):
    """200 episodes at p = 0.1 and the same H_c for all sizes: 20 errors are allowed on average; there are far fewer."""
    models = separate(n_states, n_actions, 3, 0.8)
    options = {"samples": 1, "learner": ao.learning.QLearning()}
    agent = begun(ao.agents.CECE(3, 0.8, 0.1, 60, 3, **options), models, 300)
    assert agent.findings()["classifying_steps"] == 43
    knowing(agent, models)
    wrong = sum(classified(agent, models[k % 3], k, k % n_states) != k % 3 for k in range(200))
    assert wrong <= 20
    few = begun(ao.agents.CECE(3, 0.8, 0.1, 60, 3, classifying_steps=3, **options), models, 300)
    knowing(few, models)
    assert sum(classified(few, models[k % 3], k) != k % 3 for k in range(200)) > 20


def test_a_batch_is_clustered_rightly_at_the_stated_number_of_samples():
    """Ten runs at p = 0.1, of which one may fail on average."""
    wrong = 0
    for seed in range(10):
        models = separate(3, 2, 3, 1.0, seed)
        agent = ao.agents.CECE(3, 1.0, 0.1, 4000, 6)
        history = ao.run(agent, models, ao.streams.paper(each_first=True), 18, seed=seed, record=())
        wrong += history.misclustered > 0
        assert agent.findings()["unsure"] == []
        assert agent.findings()["contexts"] == 3
    assert wrong <= 1


def test_a_run_is_that_of_the_slow_twin():
    """A batch of 8 with contexts that cannot always be compared, then classification, with plain arrays."""
    models, needed, delta, contexts, unsure = separate(3, 2, 2, 1.0, 3), 14, 1.0, [], []
    agent = begun(ao.agents.CECE(2, delta, 0.1, 60, 8, samples=needed, learner=QUICK), models, 30)
    first = agent.findings()["classifying_steps"]
    assert first == 24
    for k in range(30):
        steps, report = played(agent, models[k % 2], k)
        seen = np.zeros((3, 2, 3))
        for step in steps:
            seen[step] += 1
        number = None
        if k < 8:
            doubt = False
            for c, there in enumerate(contexts):
                both = (seen.sum(axis=2) >= needed) & (there.sum(axis=2) >= needed)
                doubt |= not both.any()
                pairs = [(s, a) for s in range(3) for a in range(2) if both[s, a]]
                apart = [np.abs(seen[p] / seen[p].sum() - there[p] / there[p].sum()).sum() for p in pairs]
                if apart and max(apart) < delta / 2:
                    number = c
                    break
            if number is None:
                number = len(contexts)
                contexts.append(np.zeros((3, 2, 3)))
                unsure.append(doubt)
                assert report.new_cluster
        else:
            scores = []
            for there in contexts:
                score = 0.0
                for s, a, successor in steps[:first]:
                    n = there[s, a].sum()
                    score += math.log(max(there[s, a, successor] / max(n, 1), 1 / (n + 3)))
                scores.append(score)
            number = int(np.argmax(scores))
            assert not report.new_cluster
        assert report.cluster == number
        contexts[number] = contexts[number] + seen
    assert agent.findings()["unsure"] == [c for c, doubt in enumerate(unsure) if doubt]
    assert any(unsure)
    assert 2 < len(contexts) < 8
    for table, there in zip(agent.contexts, contexts, strict=True):
        assert np.array_equal(counted(table, 3, 2), there)


def test_episodes_without_a_comparable_pair_are_contexts_of_their_own_that_are_unsure():
    models = separate(6, 3, 1, 1.0)
    agent = ao.agents.CECE(1, 1.0, 0.1, 30, 4, samples=20, classifying_steps=5)
    history = ao.run(agent, models, ao.streams.uniform(), 10, record=())
    assert history["cluster"][:4].tolist() == [0, 1, 2, 3]
    assert history["new_cluster"].sum() == 4
    assert agent.findings()["unsure"] == [1, 2, 3]
    assert agent.findings()["contexts"] == 4
    assert sum(agent.findings()["episodes of each"]) == 10


def test_after_the_batch_it_earns_twice_what_chance_does():
    models, horizon = separate(6, 3, 3, 1.2, 5), 1000
    agent = ao.agents.CECE(3, 1.2, 0.1, horizon, 9, samples=40, learner=QUICK)
    history = ao.run(agent, models, ao.streams.round_robin(), 60, seed=1, record=())
    chance = ao.run(ao.agents.Random(horizon), models, ao.streams.round_robin(), 60, seed=1, record=())
    assert history.misclustered == 0
    assert (history["identification_steps"] == [horizon] * 9 + [agent.findings()["classifying_steps"]] * 51).all()
    assert abs(history.reward[:9].mean() - chance.reward.mean()) < 0.15 * chance.reward.mean()
    assert history.reward[9:].mean() > 2 * chance.reward.mean()
    assert sum(int(table.to_lists()[2].sum()) for table in agent.contexts) == 60 * horizon


def test_an_adversary_that_hides_a_task_until_after_the_batch_defeats_it():
    """The hidden world's episodes are put in contexts of others, and spoil them; who makes clusters is not fooled."""
    models, horizon = separate(3, 2, 3, 1.2, 2), 600
    tasks = [0, 1] * 4 + [2] * 20 + [0, 1, 2] * 4
    agent = ao.agents.CECE(3, 1.2, 0.1, horizon, 8, samples=40, learner=QUICK)
    hidden = ao.run(agent, models, ao.streams.sequence(tasks), len(tasks), seed=1)
    assert agent.findings()["contexts"] == 2
    assert not hidden["new_cluster"][8:].any()
    assert hidden["misclustered"][8:28].all()
    open_tasks = [0, 1, 2] * 4 + [2] * 16 + [0, 1, 2] * 4
    other = ao.agents.CECE(3, 1.2, 0.1, horizon, 12, samples=40, learner=QUICK)
    shown = ao.run(other, models, ao.streams.sequence(open_tasks), len(open_tasks), seed=1)
    assert shown.misclustered == 0
    assert hidden["estimate_error"][-12:].mean() > 2 * shown["estimate_error"][-12:].mean()
    clustering = ao.agents.ConcurrentPACRL(1.2, 0.1, 3000, samples=60, learner=QUICK)
    history = ao.run(clustering, models, ao.streams.sequence(tasks), len(tasks), seed=1)
    assert history.misclustered == 0
    assert history["new_cluster"].nonzero()[0].tolist() == [0, 1, 8]


def test_evidence_is_the_distance_in_the_batch_and_the_likelihood_after_it():
    models = separate(4, 2, 2, 1.0)
    agent = begun(ao.agents.CECE(2, 1.0, 0.1, 500, 1, samples=10), models, 10)
    assert agent.evidence(CountTable(8)) == []
    played(agent, models[0], 0)
    explored = CountTable(8)
    explored.count(0, 0, 30)
    (only,) = agent.evidence(explored)
    assert (only.value, only.contradicted) == (0.0, False)  # the batch is over, and it is the likeliest
    knowing(agent, models)
    found = agent.evidence(explored)
    assert [one.contradicted for one in found] == [one.value > 0.0 for one in found]
    assert min(one.value for one in found) == 0.0
    fresh = begun(ao.agents.CECE(2, 1.0, 0.1, 500, 2, samples=10), models, 10)
    played(fresh, models[0], 0)
    (only,) = fresh.evidence(explored)
    assert only.limit == 0.5
    assert only.contradicted == (only.value >= 0.5)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"models": 0}, "models must be at least 1, not 0"),
        ({"separation": 0.0}, "separation must be above 0, not 0"),
        ({"failure": 0.0}, "failure must be above 0, not 0"),
        ({"batch": 0}, "batch must be at least 1, not 0"),
        ({"samples": 0}, "samples must be at least 1, not 0"),
        ({"classifying_steps": 0}, "classifying_steps must be at least 1, not 0"),
        ({"horizon": 300}, "samples is 345 visits of a pair, but horizon is 300: no two episodes can be compared"),
        ({"classifying_steps": 1000}, "classifying_steps is 1,000, but horizon is 1,000: nothing is left"),
        ({"learner": 3}, "learner is 3, not a learner such as"),
        ({"separation": 1e-200}, "is beyond what numbers can hold"),
        ({"separation": 1e-200, "samples": 3}, "classifying_horizon is beyond what numbers can hold"),
    ],
)
def test_misuse(changes, message):
    right = {"models": 2, "separation": 1.0, "failure": 0.1, "horizon": 1000, "batch": 10}
    with pytest.raises(ValueError, match=message):
        begun(ao.agents.CECE(**right | changes), separate(3, 2, 1, 1.0), 10)


def test_a_memory_that_no_run_can_leave_is_refused():
    models = separate(3, 2, 2, 1.0)
    agent = begun(ao.agents.CECE(2, 1.0, 0.1, 500, 2, samples=10), models, 10)
    for k in range(3):
        played(agent, models[k % 2], k)
    kept = agent.kept
    with pytest.raises(ValueError, match=r"memory\.met is 4, but the contexts have another number of episodes"):
        agent.restore(ContextMemory(kept.contexts, 4, kept.shared))
    with pytest.raises(ValueError, match=r"memory\.contexts has 3, more than the batch of 2 episodes"):
        agent.restore(ContextMemory([Context(kept.contexts[0].known)] * 3, 3, kept.shared))
    agent.restore(kept)
