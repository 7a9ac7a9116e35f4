import math

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.engine.random import streams
from aomultirl.learning.ubev import UBEV, plan_ubev, radius
from aomultirl.setting import Setting
from by_hand import play

MODELS = ao.worlds.random_models(5, 3, 2, 3, 1.0, 4)
ENDING = ao.ModelSet(ao.MDP(world.successors, MODELS.rewards, terminal=[4], rest=0.25) for world in MODELS)


def slow_radius(n, logarithm):
    return math.sqrt((2.0 * math.log(max(1.0, math.log(max(n, math.e)))) + logarithm) / n) if n else math.inf


def slow_plan(led, earned, rewards, going_on, rest, logarithm, scale):
    """Q, (H, S, A), as the module has it."""
    horizon, n_pairs, n_states = led.shape
    q, values = np.zeros((horizon, n_pairs)), np.zeros((horizon + 1, n_states))
    for h in reversed(range(horizon)):
        top = values[h + 1].max()
        for pair in range(n_pairs):
            n = int(led[h, pair].sum())
            phi = scale * slow_radius(n, logarithm) if n else math.inf
            gain = rewards[pair] if rewards is not None else min(1.0, (earned[h, pair] / n if n else 0.0) + phi)
            ahead = min(top, (float(led[h, pair] @ values[h + 1]) / n if n else 0.0) + max(1e-9, horizon - 1 - h) * phi)
            if n and h == horizon - 1:
                ahead = 0.0
            q[h, pair] = gain + ahead
        best = q[h].reshape(n_states, -1).max(axis=1)
        values[h] = going_on * best + (1.0 - going_on) * rest * (horizon - h)
    return q


@pytest.mark.parametrize("told", ["known", "unknown"])
def test_plans_are_those_of_a_slow_twin(told):
    rng = np.random.default_rng(7)
    for trial in range(30):
        n_states, n_actions, horizon = int(rng.integers(1, 5)), int(rng.integers(1, 4)), int(rng.integers(1, 6))
        led = rng.integers(0, 10 ** rng.integers(1, 6), (horizon, n_states * n_actions, n_states))
        led[rng.random(led.shape[:2]) < 0.2] = 0
        rewards = rng.random(n_states * n_actions)
        earned = rewards * led.sum(axis=2) if told == "unknown" else np.zeros((horizon, 0))
        given = rewards if told == "known" else np.empty(0)
        going_on = np.where(rng.random(n_states) < 0.3, rng.random(n_states), 1.0)
        plan = np.zeros((horizon, n_states), np.int32)
        q = plan_ubev(led, earned, given, going_on, 0.3, 6.0, 0.2, streams(trial, 1)[0], plan)
        slow = slow_plan(led, earned, rewards if told == "known" else None, going_on, 0.3, 6.0, 0.2)
        assert q == pytest.approx(slow)
        taken = np.take_along_axis(q.reshape(horizon, n_states, -1), plan[:, :, None].astype(int), axis=2)[:, :, 0]
        assert taken == pytest.approx(q.reshape(horizon, n_states, -1).max(axis=2))


def test_golden_radius():
    assert radius(10, math.log(18 * 2 * 2 * 3 / 0.1)) == pytest.approx(0.966743, abs=1e-6)
    falling = [radius(n, 7.0) for n in range(3, 200)]
    assert falling == sorted(falling, reverse=True)


@pytest.mark.parametrize("told", ["known", "unknown"])
def test_everything_is_counted_at_its_step(told):
    agent = ao.agents.Told(UBEV(0.2), 12, failure=0.1, rewards=told)
    agent.begin(Setting(5, 3, ENDING.rewards, 20, rest=ENDING.rest))
    led, earned = np.zeros((2, 12, 15, 5), int), np.zeros((2, 12, 15))
    for k in range(20):
        for h, step in enumerate(play(agent, ENDING[k % 2], k % 4, k, task=k % 2)):
            led[k % 2, h, step.state * 3 + step.action, step.successor] += 1
            earned[k % 2, h, step.state * 3 + step.action] += step.reward
    for task in range(2):
        own = agent.kept.known[task].own
        assert own["led"].tolist() == led[task].tolist()
        assert own["earned"].shape == (12, 15 if told == "unknown" else 0)
        if told == "unknown":
            assert own["earned"] == pytest.approx(earned[task])


def test_all_steps_together_learn_sooner():
    shares = []
    for stationary in (False, True):
        agent = ao.agents.Told(UBEV(0.1, stationary=stationary), 20, failure=0.1)
        history = ao.run(agent, ao.worlds.gridworld(), ao.streams.uniform(), 400, seed=2, record=())
        shares.append(history.reward[-100:].sum())
    assert shares[1] > 1.5 * shares[0]


def test_wider_rewards_bring_what_was_earned_to_their_range():
    agent = ao.agents.Pooled(UBEV(0.1), 4, failure=0.1, rewards="unknown")
    ao.run(agent, MODELS, ao.streams.uniform(), 6, seed=1)
    own = {name: array.copy() for name, array in agent.kept.known[0].own.items()}
    agent.rescale_rewards(0.1, 0.5, 0.5)
    now = agent.kept.known[0].own
    assert now["earned"] == pytest.approx(0.1 * own["earned"] + 0.5 * own["led"].sum(axis=2))


def test_bad_parameters_get_one_sentence():
    setting = Setting(5, 3, MODELS.rewards, 5)
    with pytest.raises(ValueError, match="bonus_scale must be at least 0"):
        ao.agents.Pooled(UBEV(-0.5), 20, failure=0.1).begin(setting)
    with pytest.raises(ValueError, match="stationary must be"):
        ao.agents.Pooled(UBEV(stationary="yes"), 20, failure=0.1).begin(setting)
