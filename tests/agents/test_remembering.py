"""A memory to start with: what is read from models and counts, what it is worth, and what is refused."""

import numpy as np
import pytest
import scipy.sparse as sp

import aomultirl as ao
from aomultirl.agents.remembering import VISITS, read_group
from aomultirl.setting import Setting


def setting_of(models):
    return Setting(models.n_states, models.n_actions, models.rewards, 10)


def counted(world, steps, seed):
    """Counts (S, A, S) of a walk at random."""
    agent = ao.agents.Random(steps)
    seen = np.zeros((world.n_states, world.n_actions, world.n_states))
    rng, state = np.random.default_rng(seed), 5
    rows = world.transitions
    for _ in range(agent.horizon):
        action = int(rng.integers(world.n_actions))
        successor = int(rng.choice(world.n_states, p=rows[state, action]))
        seen[state, action, successor] += 1
        state = successor
    return seen


def test_a_model_is_worth_so_many_visits_of_every_pair_that_goes_on():
    models = ao.worlds.doors()
    table, sums = read_group(models[1], setting_of(models), True, "groups[1]")
    starts, states, visits = table.to_lists()
    dense = np.zeros((models.n_states * models.n_actions, models.n_states))
    dense[np.repeat(np.arange(len(starts) - 1), np.diff(starts)), states] = visits
    goes_on = np.repeat(~models[1].terminal, models.n_actions)
    true = models[1].transitions.reshape(dense.shape)
    assert np.abs(dense[goes_on] - VISITS * true[goes_on]).max() <= 1.0
    assert not dense[~goes_on].any()
    assert table.ends == dict.fromkeys(np.flatnonzero(models[1].terminal).tolist(), VISITS)
    assert sums == pytest.approx(models[1].gains.ravel() * dense.sum(axis=1))


def test_reading_a_model_leaves_it_as_it_was():
    models = ao.worlds.doors()
    before = [part.copy() for part in models[0].successors]
    read_group(models[0], setting_of(models), True, "groups[0]")
    assert all((a == b).all() for a, b in zip(before, models[0].successors, strict=True))


@pytest.mark.parametrize("kind", [np.asarray, lambda seen: sp.csr_array(seen.reshape(-1, seen.shape[-1]))])
def test_counts_are_read_as_they_are(kind):
    models = ao.worlds.gridworld()
    seen = counted(models[2], 400, 0)
    table, sums = read_group(kind(seen), setting_of(models), False, "groups[0]")
    starts, states, visits = table.to_lists()
    assert visits.sum() == 400
    pairs = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    assert (seen.reshape(-1, models.n_states)[pairs, states] == visits).all()
    assert sums.size == 0


def test_who_remembers_the_worlds_knows_them_from_the_first_episode():
    """Doors with a sign: a planner with the true worlds opens the right one in 90 % of the episodes, on average.

    40 episodes each; 26 or fewer right ones of 40 at 0.9 have a chance of 1e-5.
    """
    models = ao.worlds.doors()
    fresh, knowing = (ao.agents.Recall(0.05, 10, rewards="unknown") for _ in range(2))
    knowing.remember(models)
    earned = [ao.run(agent, models, ao.streams.uniform(), 40, seed=3).reward.sum() for agent in (fresh, knowing)]
    assert earned[1] > 26
    assert earned[1] > earned[0] + 8
    assert [world.name for world in knowing.worlds][:4] == [0, 1, 2, 3]


def test_what_is_remembered_is_planned_with_in_full():
    """It is known to be of one world, so nothing of it is doubted, although it is worth one episode."""
    models = ao.worlds.gridworld()
    agent = ao.agents.Recall(0.05, horizon=300)
    agent.remember([counted(world, 20_000, seed) for seed, world in enumerate(models)])
    agent.begin(setting_of(models))
    rows = agent._reading.rows
    pairs = slice(0, rows.layout.first[rows.layout.n_pairs])
    planned = rows.to_plan_with(doubts=True)[:-1, pairs]
    assert rows.counts[:, pairs].sum(axis=1).tolist() == [20_000.0] * 4
    assert (planned >= rows.counts[:, pairs] * (1.0 - 1e-9)).all()


def test_every_run_begins_with_it_and_a_run_under_way_adds_it():
    models = ao.worlds.gridworld()
    agent = ao.agents.Recall(0.05, 60)
    agent.remember([models[0], models[1]])
    for _ in range(2):
        ao.run(agent, models, ao.streams.sequence([0, 1]), 2, seed=1)
        assert [world.name for world in agent.worlds][:2] == [0, 1]
    names = len(agent.worlds)
    agent.remember([counted(models[3], 2000, 1)])
    assert len(agent.worlds) == names + 1
    agent.restore(agent.kept)  # what was added is whole
    assert agent.clusters <= 1


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        (5, r"groups is 5, not a list"),
        (ao.worlds.gridworld()[0], r"groups is MDP\(.*not a list"),
        ([np.zeros((3, 3))], r"groups\[0\]\['counts'\] has shape \(3, 3\), not \(S, A, S\) = \(16, 4, 16\)"),
        ([sp.csr_array((3, 16))], r"groups\[0\]\['counts'\] has shape \(3, 16\), not \(S \* A, S\)"),
        ([np.zeros((16, 4, 16))], r"groups\[0\]\['counts'\] holds nothing"),
        ([np.full((16, 4, 16), 0.5)], r"groups\[0\]\['counts'\] holds a number that is not whole"),
        ([np.full((16, 4, 16), 1e19)], r"groups\[0\]\['counts'\] holds 1e\+19, more than 9.0072e\+15"),
        ([np.ones((16, 4, 16))] * 33, r"groups has 33 worlds: at most 32 are kept"),
        ([{"count": 1}], r"a part of groups\[0\] must be one of 'counts', 'rewards', 'ends', not 'count'"),
        ([{"ends": np.zeros(16)}], r"groups\[0\] has no part \"counts\""),
        (
            [{"counts": np.ones((16, 4, 16)), "ends": np.zeros(3)}],
            r"groups\[0\]\['ends'\] has shape \(3,\), not \(16,\)",
        ),
    ],
)
def test_what_is_no_group_is_refused(groups, words):
    models = ao.worlds.gridworld()
    agent = ao.agents.Recall(0.05, 60)
    with pytest.raises(ValueError, match=words):  # noqa: PT012  some are seen when the sizes are known
        agent.remember(groups)
        ao.run(agent, models, ao.streams.uniform(), 1)


def test_rewards_are_needed_where_nobody_knows_them_and_are_at_most_one_a_visit():
    models, counts = ao.worlds.gridworld(), np.ones((16, 4, 16))
    for group, words in (
        ({"counts": counts}, r"groups\[0\] has no part \"rewards\""),
        ({"counts": counts, "rewards": np.full((16, 4), 17.0)}, r"\[0, 0\] is 17, more than 1 for each of 16 visits"),
        (
            {"counts": counts, "rewards": np.full((16, 4), -1.0)},
            r"\[0, 0\] is -1, negative: rewards are those that agents",
        ),
        ({"counts": counts, "rewards": np.zeros(4)}, r"has shape \(4,\), not \(S, A\) = \(16, 4\)"),
    ):
        agent = ao.agents.Recall(0.05, 60, rewards="unknown")
        agent.remember([group])
        with pytest.raises(ValueError, match=words):
            ao.run(agent, models, ao.streams.uniform(), 1)


def test_more_worlds_than_episodes_are_remembered_saved_and_loaded(tmp_path):
    models, agent = ao.worlds.gridworld(), ao.agents.Recall(0.05, 60)
    agent.remember(models)
    with pytest.raises(ValueError, match=r"Recall cannot be saved: what it remembers is read by its first run"):
        ao.save(agent, tmp_path / "too_early")
    assert not list(tmp_path.iterdir())
    ao.run(agent, models, ao.streams.uniform(), 2)
    ao.save(agent, tmp_path / "agent")
    assert len(ao.load_agent(tmp_path / "agent").worlds) == len(agent.worlds) >= 4


def test_nothing_is_remembered_in_the_middle_of_a_game():
    models, agent = ao.worlds.gridworld(), ao.agents.Recall(0.05, 60)
    game = agent.play(0, n_states=16, n_actions=4, rewards=models.rewards, episodes=5)
    with pytest.raises(ValueError, match=r"agent is in the middle of a game"):
        agent.remember(models)
    game.give_up()
    agent.remember(models)
    assert len(agent.worlds) == 4


def test_an_agent_without_such_a_memory_says_so():
    with pytest.raises(ValueError, match=r"Random cannot start with a memory; ao.agents.Recall can"):
        ao.agents.Random(10).remember([])


def test_an_array_that_is_filled_anew_does_not_change_what_is_remembered():
    models, room = ao.worlds.gridworld(), np.zeros((16, 4, 16))
    agent = ao.agents.Recall(0.05, 50)
    for i in range(2):
        room[:] = counted(models[i], 3000, i)
        agent.remember([room])
    ao.run(agent, models, ao.streams.uniform(), 1)
    tables = [world.counts.to_lists() for world in agent.worlds[:2]]
    assert not np.array_equal(tables[0][2], tables[1][2])


def test_what_cannot_be_copied_is_refused_as_anything_else():
    agent = ao.agents.Recall(0.05, 10)
    agent.remember([iter([1])])
    with pytest.raises(ValueError, match=r"groups\[0\]"):
        agent.play(0, n_states=4, n_actions=2, rewards=np.zeros((4, 2)))


def test_a_memory_that_does_not_fit_is_refused_at_every_try():
    agent = ao.agents.Recall(0.05, 10)
    agent.remember([np.ones((3, 2, 3))])
    for _ in range(2):
        with pytest.raises(ValueError, match=r"groups\[0\]\['counts'\] has shape \(3, 2, 3\)"):
            agent.play(0, n_states=4, n_actions=2, rewards=np.zeros((4, 2)))


def test_outcomes_of_a_model_are_as_rare_as_it_says():
    """One in ten thousand comes once in as many visits; 200 that are equal come once each."""
    rows = np.zeros((200, 1, 200))
    rows[:, 0] = 1 / 200
    rows[0, 0] = 0.0
    rows[0, 0, :2] = 1e-4, 1.0 - 1e-4
    model = ao.MDP(rows, np.zeros((200, 1)))
    table, _ = read_group(model, Setting(200, 1, model.rewards, 10), False, "groups[0]")
    starts, _, visits = table.to_lists()
    assert visits[: starts[1]].tolist() == [1, 9999]
    assert (visits[starts[1] :] == 1).all()


def test_worlds_that_others_told_of_are_not_dropped_for_new_ones(monkeypatch):
    monkeypatch.setattr("aomultirl.agents.rereading.MOST_WORLDS", 4)
    models = ao.worlds.gridworld()
    agent = ao.agents.Recall(0.05, 300)
    agent.remember(models)
    ao.run(agent, ao.worlds.gridworld(edges="stay"), ao.streams.uniform(), 6)
    assert {world.name for world in agent.worlds} >= {0, 1, 2, 3}


def test_counts_that_are_too_many_in_all_and_small_types():
    setting = setting_of(ao.worlds.gridworld())
    many = np.zeros((16, 4, 16))
    many[0, 0, :3] = 2.0**52
    with pytest.raises(ValueError, match=r"groups\[3\]\['counts'\] holds 1.35108e\+16 visits in all"):
        read_group(many, setting, False, "groups[3]")
    twice = sp.coo_array((np.full(2, 100, np.int8), (np.zeros(2, int), np.ones(2, int))), shape=(64, 16))
    assert read_group(twice, setting, False, "groups[0]")[0].to_lists()[2].tolist() == [200]


def lives(world, count, seed):
    """What so many lives on random actions show of a world, as a group."""
    rng, horizon = np.random.default_rng(seed), 10
    shape = world.n_states, world.n_actions
    counts, rewards, ends = np.zeros((*shape, world.n_states)), np.zeros(shape), np.zeros(world.n_states)
    for _ in range(count):
        state = world.start
        for _ in range(horizon):
            action = rng.integers(world.n_actions)
            successor = rng.choice(world.n_states, p=world.transitions[state, action])
            counts[state, action, successor] += 1
            rewards[state, action] += world.gains[state, action]
            state = successor
            if world.terminal[state]:
                ends[state] += 1
                break
    return {"counts": counts, "rewards": rewards, "ends": ends}


def test_worlds_of_one_list_stay_apart_however_little_is_said_of_them():
    """Three lives of each of four doors explain as one world what they explain as four; but somebody knows better."""
    models = ao.worlds.doors()
    for seed in range(3):
        agent = ao.agents.Recall(0.05, 10, rewards="unknown")
        agent.remember([lives(world, 3, 10 * seed + place) for place, world in enumerate(models)])
        ao.run(agent, models, ao.streams.uniform(), 40, seed=seed)
        assert sum(world.told == [1] for world in agent.worlds) == 4


def test_another_list_may_be_about_the_same_worlds():
    models, agent = ao.worlds.gridworld(), ao.agents.Recall(0.05, 300)
    agent.remember([models[0], models[1]])
    agent.remember([models[1], models[2]])
    ao.run(agent, models[:3], ao.streams.uniform(), 12, seed=1)
    assert sorted(world.told for world in agent.worlds) == [[1], [1, 2], [2]]


def test_after_a_refusal_the_next_memory_takes_its_place():
    models, agent = ao.worlds.doors(), ao.agents.Recall(0.05, 10, rewards="unknown")
    agent.remember([np.ones((models.n_states, models.n_actions, models.n_states))])
    for _ in range(2):
        with pytest.raises(ValueError, match=r"groups\[0\] has no part \"rewards\""):
            ao.run(agent, models, ao.streams.uniform(), 1)
    agent.remember(models)
    ao.run(agent, models, ao.streams.uniform(), 2)
    assert len(agent.worlds) == 4


@pytest.mark.parametrize(
    ("data", "words"),
    [([5.0, -2.0], r"groups\[0\]\['counts'\]\[1\] is -2, negative"), ([5.0, 2j], r"groups\[0\]\['counts'\]")],
)
def test_entries_of_sparse_counts_are_looked_at_one_by_one(data, words):
    given = sp.coo_array((np.array(data), ([0, 0], [1, 1])), shape=(64, 16))
    agent = ao.agents.Recall(0.05, 60)
    agent.remember([given])
    with pytest.raises(ValueError, match=words):
        ao.run(agent, ao.worlds.gridworld(), ao.streams.uniform(), 1)
