import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aomultirl as ao
from aomultirl.engine.counts import visits_by_pair
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Phase, Simulator
from aomultirl.learning import Known, Share
from aomultirl.learning.rmax import visits_for_accuracy
from aomultirl.setting import Setting
from by_hand import play
from counted_tasks import GRAIN, count_exactly, grained_worlds, optimal_q

MODELS = ao.worlds.random_models(5, 3, 2, 3, 1.0, 4)
ENDING = ao.ModelSet(ao.MDP(world.successors, MODELS.rewards, terminal=[4], rest=0.25) for world in MODELS)
SHARE = Share(0.1, 10, 1, 40)


def test_known_threshold_by_hand():
    assert visits_for_accuracy(16, 0.1, 0.05) == math.ceil(200 * (math.log(2**16 - 2) - math.log(0.05))) == 2818
    assert visits_for_accuracy(2, 0.5, 0.1) == math.ceil(8 * math.log(2 / 0.1)) == 24
    assert visits_for_accuracy(1, 0.1, 0.05) == math.ceil(50 * math.log(40.0))  # a row with one successor is known
    assert visits_for_accuracy(10**9, 1e-9, 0.05) == 2**62


def test_the_accuracy_sets_m_for_all_pairs_and_worlds():
    learning = ao.learning.RMax(accuracy=0.5).begin(Setting(5, 3, None, 10), 40, Share(0.1, 10, 4, 40))
    assert learning.enough == visits_for_accuracy(5, 0.5, 0.1 / (2 * 15 * 4))
    assert ao.learning.RMax(7).begin(Setting(5, 3, None, 10), 40, SHARE).enough == 7


def test_the_discount_is_that_of_the_horizon():
    learning = ao.learning.RMax().begin(Setting(5, 3, None, 10), 40, SHARE)
    assert (learning.discount, learning.vmax) == (pytest.approx(1 - 1 / 40), pytest.approx(40.0))
    known = ao.learning.RMax(discount=0.9).begin(Setting(5, 3, np.full((5, 3), 0.25), 10), 40, SHARE)
    assert (known.discount, known.vmax) == (0.9, pytest.approx(2.5))
    assert ao.learning.RMax().begin(Setting(5, 3, None, 10), 1, SHARE).discount == 0.0
    assert ao.learning.RMax().begin(Setting(5, 3, None, 10), 2**63 - 1, SHARE).vmax == pytest.approx(1e6)


class SlowRMax:
    """Lists of everything that was seen; U by value iteration on dense arrays until nothing changes."""

    def __init__(self, n_states, n_actions, enough, discount, rewards, rest, top=1.0):
        self.sizes, self.enough, self.discount = (n_states, n_actions), enough, discount
        self.rewards, self.rest, self.vmax = rewards, rest, top / (1 - discount)
        self.seen = {(s, a): [] for s in range(n_states) for a in range(n_actions)}
        self.ends = set()
        self.plan()

    def plan(self):
        n_states, _ = self.sizes
        known = {pair: seen for pair, seen in self.seen.items() if len(seen) >= self.enough}
        rows = {
            pair: np.bincount([s2 for _, s2 in seen], minlength=n_states) / len(seen) for pair, seen in known.items()
        }
        self.q = np.full(self.sizes, self.vmax)
        for _ in range(200):
            values = [self.rest / (1 - self.discount) if s in self.ends else self.q[s].max() for s in range(n_states)]
            for pair, seen in known.items():
                mean = sum(r for r, _ in seen) / len(seen) if self.rewards is None else self.rewards[pair]
                self.q[pair] = mean + self.discount * rows[pair] @ values

    def observe(self, step):
        seen = self.seen[step.state, step.action]
        seen.append((step.reward, step.successor))
        if len(seen) == self.enough:
            self.plan()


@pytest.mark.parametrize("rewards", ["known", "unknown"])
@pytest.mark.parametrize("models", [MODELS, ENDING], ids=["going on", "ending"])
def test_choices_are_those_of_a_slow_twin(models, rewards):
    """Plans hold until a pair becomes known, in the middle of an episode, or the next one begins."""
    agent = ao.agents.Pooled(ao.learning.RMax(4, discount=0.9), 30, rewards=rewards)
    agent.begin(Setting(5, 3, models.rewards, 12, rest=models.rest))
    told = models.rewards if rewards == "known" else None
    top = models.rewards.max() if rewards == "known" else 1.0
    slow = SlowRMax(5, 3, 4, 0.9, told, models.rest, top)
    chosen = set()
    for k in range(12):
        slow.plan()
        for step in play(agent, models[0], k % 4, k):
            assert slow.q[step.state, step.action] > slow.q[step.state].max() - 2e-3
            chosen.add((step.state, step.action))
            slow.observe(step)
            if step.ended:
                slow.ends.add(step.successor)
    known = sum(len(seen) >= 4 for seen in slow.seen.values())
    assert known >= (8 if models is ENDING else 12)
    upper, sure, _ = agent.learning.upper(agent.kept.known[0], np.full(15, agent.learning.vmax))
    slow.plan()
    assert upper.reshape(5, 3) == pytest.approx(slow.q, abs=2e-3)
    assert sure.sum() == known


def test_a_plan_is_made_when_a_pair_becomes_known_and_no_sooner():
    learning = ao.learning.RMax(3).begin(Setting(5, 3, MODELS.rewards, 1), 400, SHARE)
    tally = learning.tally()
    behaviour = learning.act(learning.nothing().during(tally), 400, streams(0, 1)[0])
    one, two = streams(3, 2)
    world = MODELS[0]
    Simulator(world.alias_tables, world.gains, 0, one, two).run(Phase(behaviour, 400, tally.counts, tally.sums))
    known = (visits_by_pair(tally.counts) >= 3).sum()
    assert 5 < known <= 15
    assert behaviour.plans == 1 + known


def test_a_pausing_behaviour_ends_its_phase_when_a_pair_becomes_known():
    learning = ao.learning.RMax(3).begin(Setting(5, 3, MODELS.rewards, 1), 400, SHARE)
    tally = learning.tally()
    behaviour = learning.act_within(learning.nothing().during(tally), np.full(15, learning.vmax), pauses=True)
    one, two = streams(3, 2)
    simulator = Simulator(MODELS[0].alias_tables, MODELS[0].gains, 0, one, two)
    for number in range(1, 5):
        assert simulator.run(Phase(behaviour, 400, tally.counts, tally.sums)).finished
        assert (visits_by_pair(tally.counts) >= 3).sum() == number


@settings(deadline=None, max_examples=40)
@given(grained_worlds(), st.integers(0, 2**32 - 1), st.floats(0.0, 0.97))
def test_upper_bounds_are_above_the_optimum_where_estimates_are_exact(world, seed, discount):
    """With any bounds that are above it; and equal to it where all pairs are known."""
    n_states, n_actions = world.rewards.shape
    rng = np.random.default_rng(seed)
    setting = Setting(n_states, n_actions, world.rewards, 1, rest=world.rest)
    learning = ao.learning.RMax(GRAIN, discount=discount).begin(setting, 10, SHARE)
    best = optimal_q(world, discount)
    for share in (0.5, 1.0):
        mask = rng.random((n_states, n_actions)) < share
        known = Known(count_exactly(world, mask), np.empty(0))
        bounds = np.minimum(best + rng.random(best.shape), learning.vmax).reshape(-1)
        upper, sure, values = learning.upper(known, bounds)
        acting = np.repeat(~world.terminal, n_actions)
        assert (sure == (mask.reshape(-1) & acting)).all()
        assert (upper >= best.reshape(-1) - 1e-3)[acting].all()
        if share == 1.0:
            assert upper[acting] == pytest.approx(best.reshape(-1)[acting], abs=0.01)
            assert values[~world.terminal] == pytest.approx(best.max(axis=1)[~world.terminal], abs=0.01)


def test_one_world_is_learned():
    """In one world after 20 episodes nearly the optimum is earned, while acting at random earns half of it."""
    world = ao.ModelSet([ao.worlds.random_models(8, 3, 1, 3, 0.5, 21)[0]])
    agent = ao.agents.Pooled(ao.learning.RMax(10), 50, rewards="unknown")
    history = ao.run(agent, world, ao.streams.uniform(), 100, seed=3)
    best = world[0].first_values(50)[history["start"]]
    assert history.reward[20:].sum() > 0.95 * best[20:].sum()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"enough": 0}, "enough must be at least 1"),
        ({"enough": 1.5}, "enough must be a whole number"),
        ({"accuracy": 0.0}, "accuracy must be above 0"),
        ({"accuracy": 3.0}, "accuracy must be at most 2"),
        ({"discount": 1.0}, "discount must be below 1"),
    ],
)
def test_bad_parameters_get_one_sentence(wrong, message):
    with pytest.raises(ValueError, match=message):
        ao.agents.Pooled(ao.learning.RMax(**wrong), 20).begin(Setting(6, 3, np.ones((6, 3)), 5))
