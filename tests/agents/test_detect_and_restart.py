import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aomultirl as ao
from aomultirl.agents import saving
from aomultirl.agents.detect_and_restart import Stretch, has_changed, lengthened, log_evidence
from aomultirl.engine.counts import CountTable
from aomultirl.setting import Setting
from by_hand import play

MODELS = ao.worlds.random_models(6, 3, 2, 3, 1.0, 0)
GRID = ao.worlds.gridworld()
LEARNER = ao.learning.Practical()


def table(samples, ends=(), n_pairs=6):
    """Counts of samples (pair, successor), and of the states in which episodes ended."""
    counts = CountTable(n_pairs)
    for pair, successor in samples:
        counts.count(pair, successor, 1)
    for state in ends:
        counts.end(state)
    return counts


def slow_mixture(symbols, n_symbols, prior):
    """ln of the probability of symbols one after the other, each predicted from those before."""
    total, seen = 0.0, dict.fromkeys(range(n_symbols), 0)
    for n, symbol in enumerate(symbols):
        total += math.log((seen[symbol] + prior) / (n + prior * n_symbols))
        seen[symbol] += 1
    return total


def slow_maximum(symbols):
    return sum(symbols.count(x) * math.log(symbols.count(x) / len(symbols)) for x in set(symbols))


def slow_evidence(before, after, ends_before, ends_after, n_states, n_actions):
    """The left side of the alarm, from lists of samples, row by row."""
    rows = []
    for pair in range(n_states * n_actions):
        parts = [[x for p, x in samples if p == pair] for samples in (before, after)]
        rows.append((parts, n_states, 1.0 / n_states))
    for state in range(n_states):
        parts = [
            [0 for p, _ in samples if p // n_actions == state] + [1 for s in ends if s == state]
            for samples, ends in ((before, ends_before), (after, ends_after))
        ]
        rows.append((parts, 2, 0.5))
    total, count = 0.0, n_states * n_actions + n_states
    for (early, late), n_symbols, prior in rows:
        e = 0.0
        if early and late:
            both = slow_mixture(early, n_symbols, prior) + slow_mixture(late, n_symbols, prior)
            e = math.exp(both - slow_maximum(early + late))
        total += math.log(1.0 - 1.0 / count + e / count)
    return total


samples = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)), max_size=25)
endings = st.lists(st.integers(0, 2), max_size=5)


@settings(deadline=None)
@given(samples, samples, endings, endings)
def test_evidence_is_that_of_a_slow_twin(before, after, ends_before, ends_after):
    """Up to rows of states in which no episode ended: these cannot speak for a change, and count as nothing."""
    fast = log_evidence(table(before + after, ends_before + ends_after), table(after, ends_after), 3)
    slow = slow_evidence(before, after, ends_before, ends_after, 3, 2)
    if ends_before or ends_after:
        assert fast == pytest.approx(slow)
    else:
        assert slow - 1.0 <= fast <= slow + 1e-12


def test_evidence_of_a_clear_change_grows_and_of_none_does_not():
    old = [(0, 0), (1, 1)] * 20
    same = [log_evidence(table(old + [(0, 0)] * n), table([(0, 0)] * n), 3) for n in (1, 10, 40)]
    other = [log_evidence(table(old + [(0, 2)] * n), table([(0, 2)] * n), 3) for n in (1, 10, 40)]
    assert max(same) < 0.0
    assert other == sorted(other)
    assert other[-1] > 20.0


def test_a_state_that_begins_to_end_episodes_is_a_change():
    old, new = table([(0, 1), (2, 0)] * 20), table([(0, 1)] * 20, ends=[1] * 20)
    assert has_changed([Stretch(new, 1), Stretch(old, 1)], 3, 0, 0.1)
    assert not has_changed([Stretch(old, 1), Stretch(old, 1)], 3, 0, 0.1)


def test_the_alarm_is_at_the_threshold():
    """ln(n (n + 1) j (j + 1) / p), n episodes before the split and j - 1 restarts."""
    old, new = table([(0, 0)] * 30), table([(0, 2)] * 10)
    evidence = log_evidence(table([(0, 0)] * 30 + [(0, 2)] * 10), new, 3)
    for episodes, restarts in ((1, 0), (4, 2)):
        level = episodes * (episodes + 1) * (restarts + 1) * (restarts + 2) * math.exp(-evidence)
        for factor, alarm in ((1.01, True), (0.99, False)):
            assert has_changed([Stretch(new), Stretch(old, episodes)], 3, restarts, factor * level) is alarm


@settings(deadline=None)
@given(st.integers(1, 300))
def test_stretches_are_few_and_a_split_is_near_every_change(episodes):
    stretches = []
    for k in range(episodes):
        stretches = lengthened(stretches, table([(k % 6, k % 3)]))
    lengths = [stretch.episodes for stretch in stretches]
    assert sum(lengths) == episodes
    assert len(lengths) <= 2 * math.log2(episodes + 1)
    assert sum(stretch.counts.to_lists()[2].sum() for stretch in stretches) == episodes
    splits = np.cumsum(lengths)[:-1]
    for lag in range(1, episodes):
        assert lag / 2 <= max(split for split in splits if split <= lag)


def test_the_newest_stretch_holds_the_newest_episodes():
    stretches = []
    for k in range(6):
        stretches = lengthened(stretches, table([(k, 0)]))
    assert [(one.episodes, np.flatnonzero(one.counts.record.filled).tolist()) for one in stretches] == [
        (1, [5]),
        (1, [4]),
        (2, [2, 3]),
        (2, [0, 1]),
    ]


def test_restarts_soon_after_each_change_and_earns_more_than_pooled():
    """In a grid whose actions are reversed after every 30 episodes, in each of three runs."""
    other = ao.MDP(np.array(GRID[0].transitions)[:, ::-1], GRID.rewards, start=GRID[0].start)
    kind = (ao.ModelSet([GRID[0], other]), ao.streams.blocks(30), 150)
    for seed in range(3):
        agent = ao.agents.DetectAndRestart(LEARNER, 100, failure=0.05)
        watched = ao.run(agent, *kind, seed=seed, record=()).reward
        pooled = ao.run(ao.agents.Pooled(LEARNER, 100, failure=0.05), *kind, seed=seed, record=()).reward
        restarts = agent.findings()["restarts"]
        assert len(restarts) == 4
        assert all(change <= restart < change + 15 for change, restart in zip((30, 60, 90, 120), restarts, strict=True))
        assert watched[30:].mean() > pooled[30:].mean()


def test_an_alarm_forgets_everything():
    agent = ao.agents.DetectAndRestart(LEARNER, 100, failure=0.05)
    agent.begin(Setting(16, 4, GRID.rewards, 60))
    for k in range(60):
        play(agent, GRID[k // 30], 0, k, noisy=False)
        if agent.kept.restarts == [k]:
            assert agent.kept.stretches == []
            assert agent.kept.known[0].counts.to_lists()[2].sum() == 0
    assert len(agent.kept.restarts) == 1
    steps = 100 * (59 - agent.kept.restarts[0])
    assert agent.kept.known[0].counts.to_lists()[2].sum() == steps
    assert sum(stretch.counts.to_lists()[2].sum() for stretch in agent.kept.stretches) == steps


def test_false_alarms_in_one_world_are_as_rare_as_promised():
    """20 runs at p = 0.1: two alarms are allowed on average, and more than 6 have a probability below 0.3 %."""
    runs = 0
    for seed in range(20):
        agent = ao.agents.DetectAndRestart(LEARNER, 50, failure=0.1, exploration=0.2)
        ao.run(agent, ao.ModelSet([MODELS[seed % 2]]), ao.streams.uniform(), 100, seed=seed, record=())
        runs += bool(agent.findings()["restarts"])
    assert runs <= 2


def test_false_alarms_are_as_rare_as_promised_at_a_level_that_is_hardly_one():
    """Rows drawn from one Dirichlet prior, 400 times at p = 0.5; the mean of the e-value is at most 1."""
    rng, alarms, values = np.random.default_rng(5), 0, []
    for _ in range(400):
        rows = rng.dirichlet(np.full(3, 1.0), 6)
        drawn = [[(p, int(rng.choice(3, p=rows[p]))) for p in range(6) for _ in range(8)] for _ in range(2)]
        early, late = map(table, drawn)
        values.append(math.exp(log_evidence(table(drawn[0] + drawn[1]), late, 3)))
        alarms += has_changed([Stretch(late), Stretch(early)], 3, 0, 0.5)
    assert np.mean(values) <= 1.0
    assert alarms <= 100  # n (n + 1) j (j + 1) = 4: a quarter of p


def test_where_worlds_return_often_memory_earns_more():
    earned = []
    for agent in (ao.agents.DetectAndRestart(LEARNER, 100, failure=0.05), ao.agents.Recall(0.05, 100)):
        earned.append(ao.run(agent, GRID[:2], ao.streams.round_robin(), 60, seed=1, record=()).reward.mean())
    assert earned[1] > earned[0]


def test_exploration_is_a_share_of_random_episodes():
    """At 1, the agent acts as the random one does; at 0, nothing is drawn, and it acts as the pooled one does."""
    kind = (MODELS, ao.streams.blocks(50), 20, 4)
    makers = {1.0: ao.agents.Random(30), 0.0: ao.agents.Pooled(LEARNER, 30, failure=0.05)}
    for share, other in makers.items():
        agent = ao.agents.DetectAndRestart(LEARNER, 30, failure=0.05, exploration=share)
        mine, theirs = ao.run(agent, *kind).reward, ao.run(other, *kind).reward
        assert share == 1.0 or np.array_equal(mine, theirs)
        assert share == 0.0 or abs(mine.mean() - theirs.mean()) < 4.0 * theirs.std() / math.sqrt(20) * math.sqrt(2)


@pytest.mark.parametrize(
    "learner", [LEARNER, ao.learning.UCBVI(bonus_scale=0.01), ao.learning.QLearning(), ao.learning.PSRL()], ids=repr
)
def test_contract(learner):
    ao.check_agent(ao.agents.DetectAndRestart(learner, 40, failure=0.1, exploration=0.3, rewards="unknown"))


def test_an_agent_that_has_restarted_is_saved_and_loaded_exactly():
    kind = (GRID[:2], ao.streams.blocks(10), 30, 3)
    agent = ao.agents.DetectAndRestart(LEARNER, 100, failure=0.05)
    whole = ao.run(agent, *kind)
    assert agent.findings()["restarts"]
    for stop in (12, 17, 25):
        first = ao.run(agent, *kind, stop=stop)
        again, _ = saving.from_bytes(saving.to_bytes(agent))
        assert saving.to_bytes(again) == saving.to_bytes(agent)
        assert ao.run(again, *kind, resume=first) == whole


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"learner": 3}, "learner is 3, not a learner such as"),
        ({"horizon": 0}, "horizon must be at least 1"),
        ({"failure": 1.0}, "failure must be below 1"),
        ({"failure": None}, "failure must be a number"),
        ({"exploration": 1.5}, "exploration must be at most 1"),
        ({"exploration": "much"}, "exploration must be a number"),
        ({"rewards": "some"}, "rewards must be one of"),
    ],
)
def test_bad_input_gets_one_sentence(given, message):
    arguments = {"learner": LEARNER, "horizon": 6, "failure": 0.1, **given}
    agent = ao.agents.DetectAndRestart(**arguments)
    with pytest.raises(ValueError, match=message):
        agent.begin(Setting(6, 3, MODELS.rewards, 40))
