"""What Recall takes unknown rewards for: the values that occur where they are few, means where they are many."""

import copy

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.agents import recall_levels, saving
from aomultirl.agents.base import Setting
from aomultirl.agents.recall_memory import RecallMemory
from aomultirl.agents.rereading import Rereading
from aomultirl.engine.counts import CountTable, visits_by_pair
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Phase, Simulator
from aomultirl.learning import reward_levels
from aomultirl.learning.beliefs import settle
from aomultirl.learning.reward_levels import MOST_LEVELS, note_reward

ROWS = ("counts", "alone", "own", "masses", "pooled", "together", "theta", "alpha", "shared")
THREE = (0.0, 0.3, 1.0)


def paying(values, seed=0, worlds=2, n_states=6, n_actions=3):
    """Random worlds whose pairs pay these rewards, each its own."""
    models, rng = ao.worlds.random_models(n_states, n_actions, worlds, 3, 1.0, seed), np.random.default_rng(seed)
    return [ao.MDP(world.transitions, rng.choice(values, (n_states, n_actions))) for world in models]


def remembered(agent):
    """All that a run has left in memory, as bytes: what files keep, and the rows that are made of it."""
    rows = agent._reading.rows
    return [saving.to_bytes(agent), *(getattr(rows, name).tobytes() for name in ROWS), rows.layout.keys.tobytes()]


def begun(models, horizon=120, episodes=60):
    agent = ao.agents.Recall(0.1, horizon, rewards="unknown")
    agent.begin(Setting(models[0].n_states, models[0].n_actions, None, episodes))
    return agent


def play(agent, world, k):
    one, two = streams(k, 2)
    return Simulator(world.alias_tables, world.gains, 0, one, two).drive(agent.episode(0, streams(k, 1)[0]))


# -- few and many -----------------------------------------------------------------------------------------


def test_few_rewards_are_told_apart_and_each_pair_pays_its_own():
    models = paying(THREE, worlds=1)
    agent = ao.agents.Recall(0.1, 400, rewards="unknown")
    ao.run(agent, ao.ModelSet(models), ao.streams.uniform(), 4, seed=1)
    assert agent.findings()["rewards"] == [0.0, 0.3, 1.0]
    rows = agent._reading.rows
    paid = rows.counts[:, rows.layout.rewards_at :].reshape(rows.count, -1, 3)
    for world, n in zip(agent.worlds, paid, strict=True):
        starts, _, visits = world.counts.to_lists()
        met = np.add.reduceat(visits, starts[:-1]) * (np.diff(starts) > 0)
        assert ((n.sum(axis=1) > 0) == (met > 0)).all()
        assert (n.sum(axis=1) <= met).all()
        assert (n.sum(axis=1) < met).any(), "not all steps are attended to"
        gains = np.asarray(models[0].gains).ravel()
        for level, reward in enumerate((1.0, 0.3, 0.0)):
            assert (n[gains != reward, level] == 0.0).all()


def test_what_is_paid_on_the_way_to_a_proof_is_noted_too():
    """There another behaviour acts; what it sees of rewards counts in the one that knows the hypotheses."""
    models = paying(THREE)
    agent = begun(models)
    for k in range(4):
        play(agent, models[k % 2], k)
    (one, two, own), tally = streams(9, 3), agent._learning.tally()
    behaviour = agent._behaviour(tally.sums, own)
    seeker = agent._seeker(behaviour, np.ones(18), 60, tally.counts)
    walk = Simulator(models[0].alias_tables, models[0].gains, 0, one, two)
    walk.run(Phase(seeker, 60, tally.counts, tally.sums))
    paid = behaviour.planner.here[agent._reading.rows.layout.rewards_at :].reshape(18, 3)
    visits = visits_by_pair(tally.counts)
    assert ((paid.sum(axis=1) > 0) == (visits > 0)).all()
    assert 50 < paid.sum() <= 60
    assert behaviour.notes.counts[:3].T.tolist() == paid.tolist()
    gains = np.asarray(models[0].gains).ravel()
    assert paid @ behaviour.notes.levels == pytest.approx(gains * paid.sum(axis=1))
    before = behaviour.beliefs.scores.copy()
    settle(behaviour, tally.counts.record)
    rewards = behaviour.beliefs.likelihoods[:, -18:]
    assert (rewards[:, paid.sum(axis=1) > 0] < 0.0).all()
    assert (behaviour.beliefs.scores != before).all()


@pytest.mark.parametrize(("values", "few"), [(MOST_LEVELS, True), (MOST_LEVELS + 1, False)])
def test_means_are_kept_where_many_rewards_occur(values, few):
    models = paying(np.linspace(0.0, 1.0, values), seed=3)
    agent = begun(models, 400)
    for k in range(4):
        play(agent, models[k % 2], k)
    found = agent.findings()["rewards"]
    assert found == (np.linspace(0.0, 1.0, values).round(9).tolist() if few else "means")
    expected = np.linspace(1.0, 0.0, values) if few else [1.0, 0.0]
    assert agent._reading.rows.layout.levels == pytest.approx(expected)


def test_rewards_that_are_known_are_taken_for_nothing():
    models = paying((0.0, 1.0))
    agent = ao.agents.Recall(0.1, 50)
    ao.run(agent, ao.ModelSet(models[:1]), ao.streams.uniform(), 2)
    assert "rewards" not in agent.findings()


def test_once_there_are_many_what_was_counted_before_keeps_its_means():
    """Each world earns at each pair what it earned before, and no pair loses visits."""
    models = paying(THREE)
    agent = begun(models)
    for k in range(6):
        play(agent, models[k % 2], k)
    rows, memory = agent._reading.rows, agent.kept
    layout = rows.layout
    before = rows.counts[:, layout.rewards_at :].reshape(rows.count, -1, 3)
    whole = rows.counts[:, : layout.rewards_at].copy()
    notes = recall_levels.notes_for(memory, rows, np.zeros(len(layout.outcomes)))
    for reward in np.linspace(0.05, 0.95, 9):
        note_reward(notes, 0, reward)
    assert recall_levels.take_levels(memory, rows, notes)
    assert len(memory.levels) == 0
    assert not recall_levels.take_levels(memory, rows, recall_levels.notes_for(memory, rows, rows.pooled))
    after = rows.counts[:, rows.layout.rewards_at :].reshape(rows.count, -1, 2)
    assert (rows.counts[:, : rows.layout.rewards_at] == whole).all()
    visits = np.add.reduceat(whole[:, : layout.first[18]], layout.first[:18], axis=1)
    assert after.sum(axis=2) == pytest.approx(visits)
    seen = visits > 0
    means = (before @ layout.levels)[seen] / before.sum(axis=2)[seen]
    assert after[:, :, 0][seen] / visits[seen] == pytest.approx(means)
    total = np.zeros_like(rows.pooled)
    for past in memory.past:
        total[past.places] += past.counts
    assert (rows.pooled >= total - 1e-6).all()
    agent._reading._note_change(True)
    agent._reading.write_down()
    for k in range(6, 10):
        play(agent, models[k % 2], k)
    assert agent.findings()["rewards"] == "means"


# -- telling worlds apart ---------------------------------------------------------------------------------


def told_apart(seed, episodes=30):
    """Of the later half of episodes: how many were put in a world that was mostly theirs; what a step earned."""
    same = np.full((2, 2, 2), 0.5)
    worlds = [ao.MDP(same, [[one, 0.9 - one], [one, 0.9 - one]]) for one in (0.4, 0.5)]
    agent, tasks = begun(worlds, 20), np.random.default_rng(seed).integers(0, 2, episodes)
    taken, earned = [], []
    for k, task in enumerate(tasks):
        report, ran = play(agent, worlds[task], 100 * seed + k)
        taken.append(report.world)
        earned.append(sum(phase.outcome.reward for phase in ran) / 20)
    taken, tasks = np.array(taken)[episodes // 2 :], tasks[episodes // 2 :]
    right = sum(np.bincount(tasks[taken == name]).max() for name in np.unique(taken))
    return right / len(tasks), np.mean(earned[episodes // 2 :])


def test_worlds_that_differ_in_a_third_reward_alone_are_told_apart_much_sooner_than_by_means(monkeypatch):
    """0.4 and 0.5 instead of 0.5 and 0.4: a visit shows it; parts of the mean need hundreds, and 20 steps do not."""
    levels = np.mean([told_apart(seed) for seed in range(4)], axis=0)
    monkeypatch.setattr(reward_levels, "MOST_LEVELS", 2)
    means = np.mean([told_apart(seed) for seed in range(4)], axis=0)
    assert levels[0] > 0.95
    assert means[0] < 0.8
    assert levels[1] > 0.48
    assert means[1] < 0.47


# -- files ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [THREE, (0.0, 0.2, 0.3, 0.9, 1.0)])
def test_saved_and_loaded_after_every_episode_it_goes_on_to_the_bit(values):
    """Also across episodes that pay a reward for the first time."""
    models = paying(values, seed=1)
    plain = [ao.MDP(world.transitions, np.rint(world.gains)) for world in models]
    player, twin, counts = begun(models), begun(models), []
    for k in range(24):
        world = (plain if k < 3 else models)[k * k % 3 % 2]
        for agent in (player, twin):
            play(agent, world, k)
        twin, _ = saving.from_bytes(saving.to_bytes(twin))
        assert remembered(player) == remembered(twin), k
        counts.append(len(player.kept.levels))
    assert counts[2] == 2
    assert counts[-1] == len(values)
    assert len(player.kept.past) > 5


# -- another range ----------------------------------------------------------------------------------------


def test_rewards_that_occur_move_with_the_range():
    """times 0.5, plus 0.25: levels are 0.25, 0.4 and 0.75, and 0 and 1 that nothing has paid yet."""
    models = paying(THREE)
    agent = begun(models)
    for k in range(8):
        play(agent, models[k % 2], k)
    rows = agent._reading.rows
    before = rows.counts[:, rows.layout.rewards_at :].reshape(rows.count, -1, 3).copy()
    pasts = copy.deepcopy(agent.kept.past)
    agent.rescale_rewards(0.5, 0.25, 0.25)
    rows = agent._reading.rows
    assert agent.findings()["rewards"] == [0.0, 0.25, 0.4, 0.75, 1.0]
    after = rows.counts[:, rows.layout.rewards_at :].reshape(rows.count, -1, 5)
    assert (after[:, :, 1:4] == before).all()
    assert not after[:, :, [0, 4]].any()
    for old, new in zip(pasts, agent.kept.past, strict=True):
        assert sorted(old.counts) == sorted(new.counts)
    twin, _ = saving.from_bytes(saving.to_bytes(agent))
    assert remembered(twin) == remembered(agent)
    agent.rescale_rewards(1.0, 0.0, 0.25)
    assert agent.findings()["rewards"] == [0.0, 0.25, 0.4, 0.75, 1.0]
    for k in range(8, 12):
        play(agent, models[k % 2], k)
    assert agent.findings()["rewards"] == [0.0, 0.25, 0.3, 0.4, 0.75, 1.0]


def lived(*episodes):
    """A memory of one pair, which paid these rewards, one list for every episode."""
    memory = RecallMemory()
    reading = Rereading(memory, 1, 1, True)
    for k, rewards in enumerate(episodes):
        table, stream = CountTable(1), streams(k, 1)[0]
        table.count(0, 0, len(rewards))
        notes = recall_levels.notes_for(memory, reading.rows, np.zeros(len(reading.rows.pooled)))
        for reward in rewards:
            note_reward(notes, 0, reward)
        reading.take_in(table, np.array([sum(rewards)]), notes, np.zeros(1), stream, is_new=False)
        reading.look_back(stream)
    return memory, reading


def test_levels_that_nothing_counts_at_are_dropped_when_the_range_changes():
    memory, reading = lived([0.3, 0.3], [0.6])
    assert memory.levels.tolist() == [1.0, 0.6, 0.3, 0.0]
    reading.rescale_rewards(0.5, 0.25)
    reading.write_down()
    assert memory.levels == pytest.approx([1.0, 0.55, 0.4, 0.0])
    assert memory.worlds[0].sums.tolist() == [0.0, 1.0, 2.0, 0.0]


def test_too_many_levels_in_another_range_are_means():
    """Eight of them, and 0 and 1 that nothing pays any more."""
    memory, reading = lived(np.linspace(0.0, 1.0, MOST_LEVELS).tolist(), [0.0])
    assert len(memory.levels) == MOST_LEVELS
    reading.rescale_rewards(0.5, 0.25)
    reading.write_down()
    assert len(memory.levels) == 0
    assert memory.worlds[0].sums == pytest.approx([0.5 * 4.0 + 0.25 * 9])
    assert [past.counts[-2:].sum() for past in memory.past] == pytest.approx([8.0, 1.0])
    reading.rescale_rewards(0.5, 0.0)
    reading.write_down()
    assert memory.worlds[0].sums == pytest.approx([0.5 * (0.5 * 4.0 + 0.25 * 9)])


# -- memories that others made ----------------------------------------------------------------------------


@pytest.mark.parametrize(("values", "found"), [((0.0, 1.0), [0.0, 0.3, 1.0]), (THREE, "means")])
def test_a_memory_of_sums_alone_is_one_of_means_unless_it_says_what_was_paid(values, found):
    """Pairs that have earned 0 or 1 at every visit have paid nothing else; then other rewards may still be found."""
    models, agent = paying(THREE), ao.agents.Recall(0.1, 120, rewards="unknown")
    agent.remember(paying(values))
    agent.begin(Setting(6, 3, None, 60))
    assert agent.findings()["rewards"] == ("means" if found == "means" else [0.0, 1.0])
    for k in range(4):
        play(agent, models[k % 2], k)
    assert agent.findings()["rewards"] == found
    agent.remember(paying((0.0, 1.0), seed=5))
    assert agent.findings()["rewards"] == found
    world = agent.worlds[-1]
    paid = world.sums.reshape(18, -1)
    gains = np.asarray(paying((0.0, 1.0), seed=5)[1].gains).ravel()
    assert ((paid[:, 0] > 0) == (gains == 1.0)).all()
    if found != "means":
        assert (paid[:, 1] == 0).all()
        assert ((paid[:, 2] > 0) == (gains == 0.0)).all()
