"""The best row within intervals, and the two learners that plan with it: UCFH and UCRL2B."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog

import aomultirl as ao
from aomultirl.engine.random import streams
from aomultirl.learning.base import Share
from aomultirl.learning.box import UNSEEN, greatest_in_box
from aomultirl.learning.extended_value_iteration import extended_value_iteration
from aomultirl.learning.ucbvi import estimate
from aomultirl.learning.ucfh import UCFH, UcfhLearning, interval_widths, plan_in_boxes
from aomultirl.learning.ucrl2b import UCRL2B, interval_width, value_iteration_in_boxes
from aomultirl.setting import Setting
from by_hand import play
from learning.test_ucbvi import table_of

MODELS = ao.worlds.random_models(5, 3, 2, 3, 1.0, 4)
ENDING = ao.ModelSet(ao.MDP(world.successors, MODELS.rewards, terminal=[4], rest=0.25) for world in MODELS)


def slow_greatest(p, widths, values):
    """By linear programming, over all states; ``widths`` (S,)."""
    bounds = list(zip(np.maximum(0.0, p - widths), np.minimum(1.0, p + widths), strict=True))
    found = linprog(-values, A_eq=np.ones((1, len(p))), b_eq=[1.0], bounds=bounds, method="highs")
    assert found.success
    return -found.fun


def test_the_greatest_mean_is_that_of_a_linear_program():
    rng = np.random.default_rng(3)
    for _ in range(200):
        n_states = int(rng.integers(1, 8))
        counts = rng.integers(0, 5, n_states) * (rng.random(n_states) < 0.6)
        counts[rng.integers(n_states)] += 1
        p, unseen = counts / counts.sum(), float(rng.choice([0.0, 0.05, 0.4, 3.0]))
        widths = np.where(p > 0, rng.random(n_states) * rng.choice([0.0, 0.2, 2.0]), unseen)
        values, room = rng.normal(size=n_states), np.full(n_states, UNSEEN)
        seen = np.flatnonzero(p)
        row = seen.astype(np.int32), p[seen], widths[seen], 0, len(seen)
        found = greatest_in_box(*row, unseen, values, np.argsort(-values), room)
        assert found == pytest.approx(slow_greatest(p, widths, values))
        assert (room == UNSEEN).all()


def slow_width(p, n, x):
    return min(math.sqrt(x / (2 * n)), math.sqrt(2 * p * (1 - p) * x / n) + 2 * x / (3 * n))


def test_plans_of_ucfh_are_those_of_a_slow_twin():
    rng = np.random.default_rng(4)
    for trial in range(12):
        n_states, n_actions, horizon = int(rng.integers(1, 5)), int(rng.integers(1, 4)), int(rng.integers(1, 5))
        counts = rng.integers(0, 10 ** rng.integers(1, 5), (n_states, n_actions, n_states))
        counts[rng.random((n_states, n_actions)) < 0.2] = 0
        rewards, learned = rng.random((n_states, n_actions)), estimate(n_states, table_of(counts))
        visits, flat = learned.visits.reshape(-1), rewards.reshape(-1)
        widths, unseen = interval_widths(learned.transitions.starts, learned.transitions.probs, visits, 4.0, 0.3)
        plan = np.zeros((horizon, n_states), np.int32)
        ends = learned.going_on, 0.0
        q = plan_in_boxes(learned.transitions, widths, unseen, flat, *ends, streams(trial, 1)[0], plan)
        values = np.zeros(n_states)
        for h in reversed(range(horizon)):
            slow = np.zeros((n_states, n_actions))
            for s, a in np.ndindex(n_states, n_actions):
                n = counts[s, a].sum()
                p = counts[s, a] / n if n else np.full(n_states, 1.0 / n_states)
                each = np.array([0.3 * slow_width(x, n, 4.0) if n else 1.0 for x in p])
                slow[s, a] = rewards[s, a] + slow_greatest(p, each, values)
            assert q[h].reshape(n_states, n_actions) == pytest.approx(slow)
            assert slow[np.arange(n_states), plan[h]] == pytest.approx(slow.max(axis=1))
            values = slow.max(axis=1)


def test_with_the_true_rows_ucfh_plans_the_optimum():
    """Exact counts and intervals of nothing."""
    world = ao.worlds.gridworld()[0]
    counts = np.rint(world.transitions * 10**6).astype(np.int64)
    learned = estimate(16, table_of(counts))
    rewards = np.ascontiguousarray(world.rewards).reshape(-1)
    plan, nothing = np.zeros((30, 16), np.int32), np.zeros(64)
    widths = np.zeros(len(learned.transitions.probs))
    q = plan_in_boxes(learned.transitions, widths, nothing, rewards, learned.going_on, 0.0, streams(0, 1)[0], plan)
    assert q[0].reshape(16, 4).max(axis=1) == pytest.approx(world.first_values(30), abs=1e-3)


def test_ucfh_plans_anew_only_when_visits_have_doubled():
    agent = ao.agents.Pooled(UCFH(bonus_scale=0.1), 12, failure=0.1)
    agent.begin(Setting(5, 3, ENDING.rewards, 200, rest=ENDING.rest))
    visits, known, updates = np.zeros(15, int), np.zeros(15, int), 0
    for k in range(200):
        if k == 0 or (visits - known >= np.maximum(1, known)).any():
            known, updates = visits.copy(), updates + 1
        for step in play(agent, ENDING[k % 2], k % 4, k):
            visits[step.state * 3 + step.action] += 1
        own = agent.kept.known[0].own
        assert own["visits"].tolist() == known.tolist()
        assert own["updates"] == updates
    assert updates <= 1 + 15 * math.log2(200 * 12)
    assert updates < 100


def test_more_samples_and_fewer_successors():
    setting, share = Setting(5, 3, MODELS.rewards, 20), Share(0.3, 20, 2, 10)
    learning = UcfhLearning(setting, UCFH(accuracy=0.5, samples=8000.0, successors=3), 10, share)
    assert learning.rare == pytest.approx(0.5 / (4 * 10 * 5))
    updates = 15 * math.log2(5 * 10 / learning.rare)
    assert learning.logarithm == pytest.approx(math.log(6 / (0.1 / (2 * updates * 3 * 2))))
    nothing = np.zeros(15, int)
    assert not learning.is_due(np.full(15, 19), nothing)  # m w = 20
    assert learning.is_due(np.full(15, 20), nothing)
    assert not learning.is_due(np.full(15, 10**9), np.full(15, 5 * 8000 * 10))  # enough is known
    first, second = (ao.agents.Pooled(UCFH(bonus_scale=0.1, successors=few), 20, failure=0.1) for few in (None, 3))
    worlds = ao.ModelSet([MODELS[0]])
    earned = [
        ao.run(agent, worlds, ao.streams.uniform(), 60, seed=5, record=()).reward.sum() for agent in (first, second)
    ]
    assert earned[0] != earned[1]  # who knows that rows have three successors hopes for less


def test_golden_width_of_ucrl2b():
    assert interval_width(0.3, 100, 10, 0.05) == pytest.approx(1.015148, abs=1e-6)
    assert interval_width(0.0, 0, 10, 0.05) == pytest.approx(6.0 * math.log(1200.0))


def test_value_iteration_in_boxes_without_width_is_that_in_balls_without_radius():
    world = ao.worlds.jao(actions=5, diameter=40.0, separation=0.1)[0]
    starts, states, probs = world.successors
    rewards, nothing = np.ascontiguousarray(world.rewards).reshape(-1), np.zeros(len(starts) - 1)
    q = value_iteration_in_boxes(starts, states, probs, np.zeros(len(probs)), nothing, rewards, 2, 1e-9)
    balls = extended_value_iteration(starts, states, probs, nothing, rewards, 2, 1e-9)
    assert q == pytest.approx(balls[1])
    assert balls[2] == pytest.approx(0.6, abs=1e-6)  # the gain of this world


def test_value_iteration_in_boxes_is_that_of_a_slow_twin():
    rng = np.random.default_rng(6)
    for _ in range(5):
        counts = rng.integers(0, 30, (4, 2, 4)) * (rng.random((4, 2, 4)) < 0.7)
        learned, rewards = estimate(4, table_of(counts)), rng.random(8)
        starts, states, probs, _ = learned.transitions
        visits = learned.visits.reshape(-1)
        pairs = np.repeat(np.arange(8), np.diff(starts))
        widths = np.array(
            [0.05 * interval_width(p, visits[pair], 8, 0.1) for p, pair in zip(probs, pairs, strict=True)]
        )
        unseen = np.array([0.05 * interval_width(0.0, n, 8, 0.1) if n else 1.0 for n in visits])
        q = value_iteration_in_boxes(starts, states, probs, widths, unseen, rewards, 4, 1e-4)
        values, span = np.zeros(4), np.inf
        while span >= 1e-4:
            slow = np.zeros(8)
            for pair in range(8):
                n = counts.reshape(8, 4)[pair].sum()
                p = counts.reshape(8, 4)[pair] / n if n else np.full(4, 0.25)
                each = np.array([0.05 * interval_width(x, n, 8, 0.1) if n else 1.0 for x in p])
                slow[pair] = rewards[pair] + slow_greatest(p, each, values)
            fresh = slow.reshape(4, 2).max(axis=1)
            span, values = np.ptp(fresh - values), fresh - fresh.min()
        assert q.reshape(4, 2).argmax(axis=1).tolist() == slow.reshape(4, 2).argmax(axis=1).tolist()
        assert q - q.min() == pytest.approx(slow - slow.min(), abs=1e-6)


@pytest.mark.parametrize("told", ["known", "unknown"])
def test_ucrl2b_learns_one_world_and_counts_its_epochs(told):
    agent = ao.agents.Pooled(UCRL2B(0.05), 2000, rewards=told)
    world = ao.ModelSet([ao.worlds.gridworld()[0]])
    history = ao.run(agent, world, ao.streams.uniform(), 6, seed=1, record=())
    best = world[0].first_values(2000)[history["start"]]
    assert history.reward[-1] > 0.9 * best[-1]
    epochs = agent.findings()["epochs"]
    assert len(epochs) == 6
    assert sum(epochs) <= 64 * math.log2(8 * 12_000 / 64) + 6


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (UCFH(accuracy=0.0), "accuracy must be above 0"),
        (UCFH(samples=-1.0), "samples must be above 0"),
        (UCFH(successors=9), "successors must be"),
        (UCFH(bonus_scale=-1.0), "bonus_scale must be at least 0"),
        (UCRL2B(bonus_scale=0.0), "bonus_scale must be above 0"),
    ],
)
def test_bad_parameters_get_one_sentence(learner, message):
    with pytest.raises(ValueError, match=message):
        ao.agents.Pooled(learner, 20).begin(Setting(5, 3, MODELS.rewards, 5))
