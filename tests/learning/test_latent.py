"""The filter and the planners of latent MDPs, against plain Python that keeps every count in dictionaries."""

import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aomultirl as ao
from aomultirl.agents.base import Setting
from aomultirl.agents.lucrl import LEAST_SHARE
from aomultirl.engine.interacting import Session
from aomultirl.engine.random import streams
from aomultirl.worlds.environment import WorldEnv
from strategies import ending_sets


class SlowContext:
    """One context: weighted counts in dictionaries, and everything that is made of them."""

    def __init__(self, n_states, n_actions):
        self.n_states, self.n_actions = n_states, n_actions
        self.counts, self.sums = defaultdict(float), defaultdict(float)
        self.ends, self.starts, self.episodes = defaultdict(float), defaultdict(float), 0.0

    def add(self, share, walk):
        if share > 0.0:
            self.episodes += share
            self.starts[walk[0][0]] += share
            for s, a, s2, reward, ended in walk:
                self.counts[s, a, s2] += share
                self.sums[s, a] += share * reward
                self.ends[s2] += share * ended

    def visits(self, s, a):
        return sum(self.counts[s, a, s2] for s2 in range(self.n_states))

    def row(self, s, a):
        n = self.visits(s, a)
        return [self.counts[s, a, s2] / n if n > 0.0 else 0.0 for s2 in range(self.n_states)]

    def arrivals(self, s):
        return sum(self.visits(s, a) for a in range(self.n_actions)) + self.ends[s]

    def going_on(self, s):
        n = self.arrivals(s)
        return 1.0 - self.ends[s] / n if n > 0.0 else 1.0

    def likelihood(self, s, a, s2, ended, floor):
        n, met = self.visits(s, a), self.arrivals(s2)
        least = 1.0 / (n + self.n_states) if floor is None or n == 0.0 else floor
        chance = max(self.row(s, a)[s2], least)
        if met == 0.0:
            return chance
        goes_on = self.going_on(s2)
        return chance * max(1.0 - goes_on if ended else goes_on, 1.0 / (met + 2.0) if floor is None else floor)


class SlowLUCRL:
    """L-UCRL with the rewards estimated, in plain Python."""

    def __init__(self, models, n_states, n_actions, horizon, episodes, *, failure, scale, floor, exact):
        self.contexts = [SlowContext(n_states, n_actions) for _ in range(models)]
        self.n_states, self.n_actions, self.horizon = n_states, n_actions, horizon
        self.scale, self.floor, self.exact = scale, floor, exact
        self.logarithm = math.log(models * n_states * n_actions * episodes / failure)

    def begin_episode(self, start):
        empty = [m for m, context in enumerate(self.contexts) if not sum(context.counts.values())]
        total, weights, prior = sum(c.episodes for c in self.contexts), [], []
        for m, context in enumerate(self.contexts):
            begun = sum(context.starts.values())
            least = 1.0 / (begun + self.n_states) if self.floor is None or begun == 0.0 else self.floor
            first = max(context.starts[start] / begun if begun else 0.0, least)
            weights.append((context.episodes + 1.0) / (total + len(self.contexts)))
            prior.append(weights[-1] * first)
            if empty:
                prior[-1] = float(m == empty[0])
        prior = prior if any(prior) else weights  # nobody ever began there
        self.shares, self.walk = np.array(prior) / sum(prior), []
        self.values = [self.plan(context) for context in self.contexts]

    def gain(self, context, s, a):
        n = context.visits(s, a)
        if n == 0.0:
            return math.inf
        root = math.sqrt(5.0 * (self.n_states + 1) * self.logarithm / n)
        return context.sums[s, a] / n + self.horizon * min(1.0, self.scale * root)

    def plan(self, context):
        values = np.zeros((self.horizon + 1, self.n_states))
        for h in reversed(range(self.horizon)):
            for s in range(self.n_states):
                best = max(self.q(context, values, h, s, a) for a in range(self.n_actions))
                values[h, s] = context.going_on(s) * best
        return values

    def q(self, context, values, h, s, a):
        return min(self.horizon - h, self.gain(context, s, a) + np.dot(context.row(s, a), values[h + 1]))

    def worth(self, h, s, a, weights):
        """Of an action of the exact planner, by recursion."""
        if h == self.horizon:
            return 0.0
        cap, total = self.horizon - h, 0.0
        gains = [self.gain(context, s, a) for context in self.contexts]
        total += sum(w * min(cap, gain) for w, gain in zip(weights, gains, strict=True) if w > 0.0)
        for s2 in range(self.n_states):
            after = [
                w * context.row(s, a)[s2] * context.going_on(s2) if gain < cap else 0.0
                for w, context, gain in zip(weights, self.contexts, gains, strict=True)
            ]
            if sum(after) > 0.0:
                total += max(self.worth(h + 1, s2, other, after) for other in range(self.n_actions))
        return min(cap * sum(weights), total)

    def rate(self, h, s):
        if self.exact:
            return [self.worth(h, s, a, self.shares.tolist()) for a in range(self.n_actions)]
        return [
            sum(b * self.q(c, v, h, s, a) for b, c, v in zip(self.shares, self.contexts, self.values, strict=True))
            for a in range(self.n_actions)
        ]

    def observe(self, s, a, s2, reward, ended):
        chances = np.array([context.likelihood(s, a, s2, ended, self.floor) for context in self.contexts])
        self.walk.append((s, a, s2, reward, ended))
        if (chances * self.shares).sum() > 0.0:
            self.shares = chances * self.shares / (chances * self.shares).sum()

    def end_episode(self):
        kept = np.where(self.shares >= LEAST_SHARE, self.shares, 0.0)
        for share, context in zip(kept / kept.sum(), self.contexts, strict=True):
            context.add(share, self.walk)


@given(
    ending_sets(max_states=3),
    st.integers(0, 2**32 - 1),
    st.sampled_from([None, 0.0, 0.01]),
    st.sampled_from([0.0, 0.01, 0.1]),
    st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_every_belief_and_every_action_is_the_slow_twins(models, seed, floor, scale, exact):
    """Ties are broken at random, and rounding may break them: the action must be as good as the best."""
    episodes, horizon, n_states, n_actions = 5, 3 if exact else 6, models.n_states, models.n_actions
    planner = "exact" if exact else "qmdp"
    agent = ao.agents.LUCRL(2, horizon, failure=0.1, planner=planner, rewards="unknown", bonus_scale=scale, floor=floor)
    agent.begin(Setting(n_states, n_actions, None, episodes))
    slow = SlowLUCRL(2, n_states, n_actions, horizon, episodes, failure=0.1, scale=scale, floor=floor, exact=exact)
    for k in range(episodes):
        world, own = streams(seed + k, 2)
        true = models[k % len(models)]
        states = np.flatnonzero(~true.terminal)
        start = int(states[(seed // 3**k) % len(states)])
        env = WorldEnv(true, start, world, True)
        slow.begin_episode(start)
        session = Session(agent.episode(start, own), n_states, n_actions, int(env.reset()[0]), own)
        behaviour = session._phase.behaviour
        step, counts = 0, session.counts
        while not session.over:
            assert np.allclose(behaviour.shares, slow.shares, atol=1e-9)
            state, action = session.state, session.act()
            rated = slow.rate(step, state)
            assert np.allclose(behaviour.q, rated, atol=1e-9)
            assert rated[action] >= max(rated) - 1e-9
            successor, reward, ended, *_ = env.step(action)
            slow.observe(state, action, successor, reward, ended)
            session.observe(successor, reward, ended)
            step += 1
        assert np.allclose(behaviour.shares, slow.shares, atol=1e-9)
        slow.end_episode()
        weights = [context.episodes for context in slow.contexts]
        assert agent.findings()["context_weights"] == pytest.approx(weights, abs=1e-9)
        assert counts.to_lists()[2].sum() == step


def test_a_step_that_no_context_can_explain_says_nothing():
    """Both contexts stay as likely as they were; the next step that one of them explains tells them apart."""
    rows = [[{0: 1.0}], [{1: 1.0}], [{0: 1.0}]], [[{0: 1.0}], [{0: 1.0}], [{0: 1.0}]]
    models = ao.ModelSet([ao.MDP(row, np.zeros((3, 1))) for row in rows])
    agent = ao.agents.LUCRL(2, 3, failure=0.1, initial=models, floor=0.0)
    agent.begin(Setting(3, 1, models.rewards, 1))
    own = streams(0, 1)[0]
    session = Session(agent.episode(0, own), 3, 1, 0, own)
    behaviour = session._phase.behaviour
    for successor, shares in ((2, [0.5, 0.5]), (1, [0.5, 0.5]), (1, [1.0, 0.0])):
        session.act()
        session.observe(successor, 0.0)
        assert behaviour.shares.tolist() == shares


def test_a_context_that_looked_impossible_can_come_back():
    """The belief is held as logarithms: 3,000 steps against a context and 3,001 for it end where one for it does."""
    rows = [np.array([[[0.4, 0.6]], [[0.4, 0.6]]]), np.array([[[0.6, 0.4]], [[0.6, 0.4]]])]
    models = ao.ModelSet([ao.MDP(row, np.zeros((2, 1))) for row in rows])
    agent = ao.agents.LUCRL(2, 10_000, failure=0.1, initial=models, floor=0.0)
    agent.begin(Setting(2, 1, models.rewards, 1))
    own = streams(0, 1)[0]
    session = Session(agent.episode(0, own), 2, 1, 0, own)
    behaviour = session._phase.behaviour
    for successor in [1] * 3_000 + [0] * 3_001:
        session.act()
        session.observe(successor, 0.0)
    assert behaviour.shares == pytest.approx([0.4, 0.6])
