import math

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.engine.random import streams
from aomultirl.learning import Share
from aomultirl.learning.restart_q import StagedQLearning, _freedman_candidate, stage_ends
from aomultirl.setting import Setting
from aomultirl.theory import restart_q_epochs, variation_budget
from by_hand import play

MODELS = ao.worlds.random_models(5, 3, 2, 3, 1.0, 4)
ENDING = ao.ModelSet(ao.MDP(world.successors, MODELS.rewards, terminal=[4], rest=0.25) for world in MODELS)
VARIANTS = ("hoeffding", "freedman")


def test_stages_end_where_they_should():
    assert stage_ends(3, 8) == [3, 7, 12, 18, 26, 36, 49, 66]
    assert stage_ends(5, 8) == [5, 11, 18, 26, 35, 45, 57, 71]


class SlowStages:
    """Lists of everything that was seen, from which the values are made again at the end of every stage."""

    def __init__(self, horizon, iota, c, variant, drift, freeze, rest, n_actions=3):
        self.horizon, self.iota, self.c, self.variant = horizon, iota, c, variant
        self.drift, self.freeze, self.rest, self.n_actions = drift, freeze, rest, n_actions
        self.values, self.frozen, self.seen, self.second = {}, {}, {}, 0
        self.ends = set(stage_ends(horizon, 60))

    def q(self, h, s, a):
        return self.values.get((h, s, a), self.horizon - h)

    def value(self, h, s):
        return max(self.q(h, s, a) for a in range(self.n_actions)) if h < self.horizon else 0.0

    def reference(self, h, s):
        return self.frozen.get((h, s), self.horizon - h) if h < self.horizon else 0.0

    def observe(self, h, step):
        key = h, step.state, step.action
        ahead, reference = self.value(h + 1, step.successor), self.reference(h + 1, step.successor)
        if step.ended:
            ahead = reference = self.rest * (self.horizon - 1 - h)
        seen = self.seen.setdefault(key, [])
        seen.append((step.reward, ahead, reference))
        if len(seen) in self.ends:
            begin = max((end for end in self.ends if end < len(seen)), default=0)
            candidates = list(self.candidates(seen, seen[begin:]))
            self.values[key] = min(self.q(*key), *candidates)
            self.second += self.values[key] == candidates[-1] < candidates[0] - 1e-6
        if sum(len(self.seen.get((h, step.state, a), [])) for a in range(self.n_actions)) == self.freeze:
            self.frozen[h, step.state] = self.value(h, step.state)

    def candidates(self, seen, stage):
        n, m, h, iota = len(seen), len(stage), self.horizon, self.iota
        earned = np.mean([r for r, _, _ in stage])
        bonus = math.sqrt(h**2 * iota / m) + math.sqrt(iota / m)
        yield earned + np.mean([v for _, v, _ in stage]) + self.c * (bonus + 2 * self.drift)
        if self.variant == "freedman":
            references, gains = [x for _, _, x in seen], [v - x for _, v, x in stage]
            bonus = 2 * math.sqrt(np.var(references) * iota / n) + 2 * math.sqrt(np.var(gains) * iota / m)
            lower = h * iota / n + h * iota / m + h * iota**0.75 / n**0.75 + h * iota**0.75 / m**0.75
            bonus += 5 * lower + math.sqrt(iota / m)
            yield earned + np.mean(references) + np.mean(gains) + self.c * (2 * bonus + 4 * self.drift)


@pytest.mark.parametrize(("variant", "scale"), [("hoeffding", 0.05), ("freedman", 0.05), ("freedman", 0.0)])
@pytest.mark.parametrize("models", [MODELS, ENDING], ids=["going on", "ending"])
def test_values_and_choices_are_those_of_a_slow_twin(variant, scale, models):
    agent = ao.agents.Pooled(StagedQLearning(variant, scale, 0.4, 5), 4, failure=0.3, rewards="unknown")
    agent.begin(Setting(5, 3, models.rewards, 300, rest=models.rest))
    slow = SlowStages(4, math.log(2 * 15 * 300 * 4 / 0.1), scale, variant, 0.4, 5, models.rest)
    for k in range(300):
        before = agent.kept.known[0].own["q"].copy() if k else np.arange(4, 0, -1)[:, None] * np.ones((4, 15))
        for h, step in enumerate(play(agent, models[0], k % 4, k)):
            values = before[h].reshape(5, 3)[step.state]
            assert values[step.action] == values.max()
            slow.observe(h, step)
        if k % 20 == 19:
            q = [[[slow.q(h, s, a) for a in range(3)] for s in range(5)] for h in range(4)]
            assert agent.kept.known[0].own["q"].reshape(4, 5, 3) == pytest.approx(np.array(q))
    assert len(slow.values) > 30
    if variant == "freedman":
        assert len(slow.frozen) > 5
        assert (slow.second > 0) == (scale == 0.0 and models is ENDING)
        wanted = [[slow.reference(h, s) for s in range(5)] for h in range(4)]
        assert agent.kept.known[0].own["reference"] == pytest.approx(np.array(wanted))


def test_the_second_candidate_is_that_of_the_slow_twin():
    """Alone, because in runs of this size its bonus is never the smaller one."""
    rng = np.random.default_rng(3)
    learning = StagedQLearning("freedman", 0.7, 0.4).begin(Setting(5, 3, None, 300), 4, Share(0.3, 300, 1, 4))
    behaviour = learning.act(learning.nothing(), 4, streams(1, 1)[0])
    slow = SlowStages(4, math.log(2 * 15 * 300 * 4 / 0.1), 0.7, "freedman", 0.4, 5, 0.0)
    for visits, stage in ((4, 4), (9, 5), (40, 11)):
        seen = rng.random((visits, 3)) * [1.0, 3.0, 3.0]
        gains = seen[-stage:, 1] - seen[-stage:, 2]
        behaviour.visits[:, 2, 7] = stage, stage, visits
        behaviour.sums[:, 2, 7] = seen[-stage:, :2].sum(axis=0)
        behaviour.moments[:, 2, 7] = seen[:, 2].sum(), (seen[:, 2] ** 2).sum(), gains.sum(), (gains**2).sum()
        _, second = slow.candidates(seen.tolist(), seen[-stage:].tolist())
        assert _freedman_candidate(behaviour, 2, 7) == pytest.approx(second)


def test_freedman_needs_very_many_visits_to_be_of_use():
    """As the module of the agent says: about 160,000 iota at a pair and a step, where values do not vary at all."""
    horizon, iota = 8, 5.0
    for visits, smaller in ((20_000 * iota, False), (400_000 * iota, True)):
        share = iota / visits
        second = 2 * (10 * horizon * (share + share**0.75) + math.sqrt(share))
        assert (second < (horizon + 1) * math.sqrt(share)) is smaller


@pytest.mark.parametrize("variant", VARIANTS)
def test_regret_of_one_world_falls_in_one_epoch(variant):
    agent = ao.agents.RestartQUCB(8, 0.0, failure=0.1, variant=variant, bonus_scale=0.02)
    history = ao.run(agent, ao.ModelSet([MODELS[0]]), ao.streams.uniform(), 6000, seed=3, record=())
    lost = MODELS[0].first_values(8)[history["start"]] - history.reward
    assert lost[-1000:].mean() < 0.5 * lost[:500].mean()
    assert agent.findings() == {"epochs": 1.0, "epoch_episodes": 6000, "restarts": []}


def test_everything_is_forgotten_when_an_epoch_ends():
    agent = ao.agents.RestartQUCB(6, None, failure=0.1, epochs=3, bonus_scale=0.01)
    agent.begin(Setting(5, 3, MODELS.rewards, 8))
    steps = []
    for k in range(8):
        play(agent, MODELS[0], 0, k)
        steps.append(agent.kept.known[0].counts.to_lists()[2].sum())
    assert steps == [6, 12, 18, 6, 12, 18, 6, 12]
    assert agent.findings() == {"epochs": 3.0, "epoch_episodes": 3, "restarts": [3, 6]}


@pytest.mark.parametrize("variant", VARIANTS)
def test_epochs_and_drift_are_those_of_the_budget(variant):
    variation = variation_budget(MODELS, [0, 0, 1, 1, 0], 6).total
    agent = ao.agents.RestartQUCB(6, variation, failure=0.1, variant=variant)
    agent.begin(Setting(5, 3, MODELS.rewards, 40))
    size = {"states": 5, "actions": 3, "episodes": 40, "horizon": 6, "variation": variation, "variant": variant}
    epochs = restart_q_epochs(**size)
    assert 1.0 < epochs < 40.0
    assert agent.findings()["epochs"] == epochs
    assert agent.findings()["epoch_episodes"] == math.ceil(40 / epochs)
    assert agent.learner.drift == pytest.approx(6 * variation / epochs)
    agent = ao.agents.RestartQUCB(6, variation, failure=0.1, variant=variant, epochs=2.5)
    agent.begin(Setting(5, 3, MODELS.rewards, 40))
    assert agent.findings()["epoch_episodes"] == 16
    assert agent.learner.drift == pytest.approx(6 * variation / 2.5)


def test_nothing_is_learned_within_the_first_stage():
    """Fewer episodes than the first stage has visits: all values are as they were, and every action is random."""
    for variant in VARIANTS:
        agent = ao.agents.RestartQUCB(30, None, failure=0.1, variant=variant, epochs=1, bonus_scale=0.0)
        rewards = ao.run(agent, MODELS, ao.streams.uniform(), 29, seed=2).reward
        assert np.array_equal(rewards, ao.run(ao.agents.Random(30), MODELS, ao.streams.uniform(), 29, seed=2).reward)


@pytest.mark.parametrize("variant", VARIANTS)
def test_contract(variant):
    ao.check_agent(ao.agents.RestartQUCB(20, None, failure=0.1, variant=variant, bonus_scale=0.01, epochs=2))
    ao.check_agent(ao.agents.RestartQUCB(20, 30.0, failure=0.1, variant=variant, rewards="unknown"))


def test_wider_rewards_bring_the_values_to_their_range():
    """Rewards and V moved by hand, as if they had been such from the start."""
    agent = ao.agents.Pooled(StagedQLearning("freedman", 0.01, 0.0, 3), 4, failure=0.1, rewards="unknown")
    ao.run(agent, MODELS, ao.streams.uniform(), 9, seed=1)
    own = {name: array.copy() for name, array in agent.kept.known[0].own.items()}
    agent.rescale_rewards(0.1, 0.5, 0.5)
    now, left = agent.kept.known[0].own, np.array([[4.0], [3.0], [2.0], [1.0]])
    assert now["q"] == pytest.approx(0.1 * own["q"] + 0.5 * left)
    assert now["reference"] == pytest.approx(0.1 * own["reference"] + 0.5 * left)
    in_stage, _, visits = own["visits"]
    assert now["sums"][0] == pytest.approx(0.1 * own["sums"][0] + 0.5 * in_stage)
    assert now["sums"][1] == pytest.approx(0.1 * own["sums"][1] + 0.5 * (left - 1.0) * in_stage)
    seen = visits > 0
    means = [table["moments"][0][seen] / visits[seen] for table in (own, now)]
    assert means[1] == pytest.approx(0.1 * means[0] + 0.5 * np.broadcast_to(left - 1.0, seen.shape)[seen])
    spread = [table["moments"][1][seen] / visits[seen] - mean**2 for table, mean in zip((own, now), means, strict=True)]
    assert spread[1] == pytest.approx(0.01 * spread[0], abs=1e-9)
    assert now["moments"][2:] == pytest.approx(own["moments"][2:] * np.array([0.1, 0.01])[:, None, None])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"variation": None}, "variation is None, unknown, so epochs must be given"),
        ({"variation": -1.0}, "variation must be at least 0"),
        ({"variation": -1.0, "epochs": 2}, "variation must be at least 0"),
        ({"epochs": 0.5}, "epochs must be at least 1"),
        ({"epochs": 41}, "epochs must be at most 40"),
        ({"failure": None}, "failure must be a number"),
        ({"variant": "bernstein"}, "variant must be one of 'hoeffding', 'freedman'"),
        ({"bonus_scale": -1.0}, "bonus_scale must be at least 0"),
        ({"horizon": 0}, "horizon must be at least 1"),
        ({"rewards": "some"}, "rewards must be one of"),
    ],
)
def test_bad_input_gets_one_sentence(given, message):
    arguments = {"horizon": 6, "variation": 3.0, "failure": 0.1, **given}
    agent = ao.agents.RestartQUCB(**arguments)
    with pytest.raises(ValueError, match=message):
        agent.begin(Setting(5, 3, MODELS.rewards, 40))


def test_a_budget_beyond_what_any_stream_has_is_no_error():
    agent = ao.agents.RestartQUCB(6, 1e308, failure=0.1, epochs=2)
    agent.begin(Setting(5, 3, MODELS.rewards, 40))
    assert agent.learner.drift == 6 * 3 * 6 * 40 / 2
