"""Recall: what it earns, what it proves, and that nothing enters memory without proof."""

import copy
import json
import time
from importlib.util import find_spec

import numpy as np
import pytest
from gymnasium.wrappers import TimeLimit

import aomultirl as ao
from aomultirl.agents import saving
from aomultirl.agents.base import Setting
from aomultirl.agents.recall import Verdict
from aomultirl.agents.rereading import Rereading
from aomultirl.engine.counts import CountTable
from aomultirl.engine.interacting import Session
from aomultirl.engine.packed_counts import pack_counts
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Simulator
from aomultirl.experiments.suites import reward_suite, run_suite
from aomultirl.worlds.environment import WorldEnv


def share(history, models, horizon):
    """Of the optimal reward."""
    best = np.array([world.first_values(horizon) for world in models])[history["task"], history["start"]]
    return (history["clustering_reward"] + history["learning_reward"]).sum() / best.sum()


def dense(counts, n_states):
    """(S * A, S)."""
    starts, states, visits = counts.to_lists()
    table = np.zeros((len(starts) - 1, n_states), np.int64)
    table[np.repeat(np.arange(len(starts) - 1), np.diff(starts)), states] = visits
    return table


def begun(agent, models, episodes=40):
    agent.begin(Setting(models.n_states, models.n_actions, models.rewards, episodes))
    return agent


def simulator(world, start, seed):
    one, two = streams(seed, 2)
    return Simulator(world.alias_tables, world.gains, start, one, two, terminal=world.terminal)


ROWS = ("counts", "alone", "own", "masses", "pooled", "together", "theta", "alpha", "shared")


def remembered(agent):
    """All that a run has left in memory, as bytes: what files keep, and the rows that are made of it."""
    rows = agent._reading.rows
    return [saving.to_bytes(agent), *(getattr(rows, name).tobytes() for name in ROWS), rows.layout.keys.tobytes()]


# -- what users see ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("horizon", "least", "edges"),
    [
        (500, 0.8, "third"),
        pytest.param(2000, 0.95, "stay", marks=pytest.mark.long),
        pytest.param(500, 0.8, "stay", marks=pytest.mark.long),
        pytest.param(2000, 0.95, "third", marks=pytest.mark.long),
    ],
)
def test_it_earns_what_a_learner_alone_cannot(edges, horizon, least):
    """40 episodes, of which the first ones meet new worlds; 200 in the long test."""
    models = ao.worlds.gridworld(edges=edges)
    player = ao.agents.Recall(0.03, horizon)
    history = ao.run(player, models, ao.streams.uniform(), 40, seed=1)
    alone = ao.run(ao.agents.OneEpisodeLearner(horizon), models, ao.streams.uniform(), 40, seed=1)
    assert share(history, models, horizon) > least
    assert share(history, models, horizon) > share(alone, models, horizon) + 0.05
    assert history.misclustered == 0

    abstained, new = history["abstained"], history["new_cluster"]
    old = (history["cluster"] >= 0) & ~new
    assert (old.astype(int) + abstained + new == 1).all()
    assert not history["certified"].any()  # that would need proof at every pair
    assert (history["cluster"][abstained] == -1).all()
    assert abstained.sum() == player.abstentions == history.about["findings"]["abstentions"]
    founded = np.maximum.accumulate(history["cluster"])
    assert (history["cluster"][old] <= np.append(-1, founded[:-1])[old]).all()
    assert history["cluster"][new].tolist() == list(range(player.clusters))
    assert (history["identification_steps"] <= 0.05 * horizon).all()
    assert (history["identification_steps"] + history["learning_steps"] == horizon).all()
    assert 3 <= len(player.worlds) <= 8  # beliefs: two worlds may be taken for one, or one for two
    assert player.memory(streams(0, 1)[0]).threshold is None
    assert len(history.about["clusters"]) == player.clusters


def test_long_episodes_are_proven_and_put_in_clusters():
    models = ao.worlds.random_models(6, 3, 3, 3, 1.0, 0)
    history = ao.run(ao.agents.Recall(0.03, 5000), models, ao.streams.round_robin(), 15, seed=2)
    assert history.misclustered == 0
    assert history["new_cluster"].sum() == 3
    assert ((history["cluster"] >= 0) & ~history["new_cluster"]).sum() > 3
    assert share(history, models, 5000) > 0.97


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2))])
def test_worlds_nearer_than_the_resolution_need_a_finer_one(seed):
    """Two worlds 0.15 apart at one pair, resolution 0.1: no row joins that differs, and none is founded twice."""
    rows = np.full((4, 1, 4), 0.25)
    other = rows.copy()
    other[0, 0] += [0.0375, 0.0375, -0.0375, -0.0375]
    rewards = np.array([[0.0], [0.0], [0.0], [1.0]])
    models = ao.ModelSet([ao.MDP(rows, rewards), ao.MDP(other, rewards)])
    player = ao.agents.Recall(0.03, 4000, resolution=0.1)
    history = ao.run(player, models, ao.streams.sequence([0] + [1] * 30 + [0] * 29), 60, seed=seed)
    assert (history["task"][history["new_cluster"]] == np.arange(player.clusters)).all()


def test_what_is_believed_stays_bounded(monkeypatch):
    monkeypatch.setattr("aomultirl.agents.rereading.MOST_WORLDS", 3)
    models = ao.worlds.random_models(12, 4, 6, 4, 1.0, 3)
    player = ao.agents.Recall(0.03, 400)
    ao.run(player, models, ao.streams.round_robin(), 18, seed=5)
    assert len(player.worlds) <= max(3, player.clusters)
    assert sum(world.proven is not None for world in player.worlds) == player.clusters


def test_rewards_may_be_unknown():
    models = ao.worlds.gridworld()
    player = ao.agents.Recall(0.03, 2000, rewards="unknown")
    history = ao.run(player, models, ao.streams.round_robin(), 24, seed=3, noisy_rewards=True)
    assert share(history, models, 2000) > 0.85
    assert history.misclustered == 0


def test_findings_can_be_written_down():
    models = ao.worlds.gridworld()
    player = ao.agents.Recall(0.03, 500)
    found = ao.run(player, models, ao.streams.round_robin(), 12, seed=4).about["findings"]
    assert json.loads(json.dumps(found)) == found
    assert found["assumes"] == "rows of two worlds are equal or at least 0.5 apart"
    assert found["worlds"] == len(player.worlds)
    for episode in found["evidence"]["episodes"]:
        assert len(episode["steps"]) == len(episode["belief"])
        assert {len(belief) for belief in episode["belief"]} == {len(episode["worlds"]) + 1}
        assert episode["steps"] == sorted(episode["steps"])
        assert all(sum(belief) == pytest.approx(1.0, abs=1e-5) for belief in episode["belief"])
        assert (episode["cluster"] == -1) == (episode["verdict"] == "abstained")
    assert found["evidence"]["episodes"][-1]["episode"] == 11
    assert found["evidence"]["episodes"][-1]["steps"][-1] == 500


def watched(agent, world, look):
    """The actions of an episode, and the evidence in its course, asked for at every 50th step if ``look``."""
    one, two = streams(9, 2)
    env, actions, seen = WorldEnv(world, 0, one), [], []
    start = int(env.reset()[0])
    phases = []

    def spied(episode):
        phase = next(episode)
        while True:
            phases.append(phase)
            try:
                phase = episode.send((yield phase))
            except StopIteration as end:
                return end.value

    session = Session(spied(agent.episode(start, two)), world.n_states, world.n_actions, start, two)
    while not session.over:
        actions.append(session.act())
        session.observe(*env.step(actions[-1])[:2])
        if look and len(actions) % 50 == 0:
            seen.append(agent.evidence(phases[-1].counts))
    return actions, seen


def test_the_evidence_in_mid_episode_is_sorted_and_changes_nothing():
    models = ao.worlds.random_models(6, 3, 3, 3, 1.0, 0)
    player = begun(ao.agents.Recall(0.1, 2000), models)
    assert player.evidence(CountTable(18)) == []
    for k in range(9):
        simulator(models[k % 3], 0, k).drive(player.episode(0, streams(100 + k, 1)[0]))
    assert player.clusters == 3
    twin = copy.deepcopy(player)
    actions, seen = watched(player, models[1], look=True)
    assert actions == watched(twin, models[1], look=False)[0]
    assert remembered(player) == remembered(twin)
    for found in seen:
        assert [evidence.cluster for evidence in found] == [0, 1, 2]
        assert all(np.isfinite(evidence.value) for evidence in found)
        assert all(evidence.contradicted == (evidence.value >= evidence.limit) for evidence in found)
    right = next(world.number for world in player.worlds if seen[-1][max(world.number, 0)].belief > 0.999)
    assert not seen[-1][right].contradicted
    assert seen[-1][right].value < max(evidence.value for evidence in seen[-1])


def test_beliefs_go_by_name_follow_what_was_explored_and_change_nothing():
    models = ao.worlds.random_models(6, 3, 3, 3, 1.0, 0)
    player = begun(ao.agents.Recall(0.1, 2000), models)
    assert player.beliefs(CountTable(18)) == {}
    for k in range(9):
        simulator(models[k % 3], 0, k).drive(player.episode(0, streams(100 + k, 1)[0]))
    episode = player.episode(0, streams(200, 1)[0])
    next(episode)
    before = [array.tobytes() for array in player._now[0].beliefs]
    nothing = player.beliefs(CountTable(18))
    assert list(nothing) == [*(world.name for world in player.worlds), -1]
    assert sum(nothing.values()) == pytest.approx(1.0, abs=1e-5)
    assert max(nothing.values()) < 0.9
    for world in player.worlds:
        assert player.beliefs(world.counts)[world.name] > 0.99
        found = {one.cluster: one.belief for one in player.evidence(world.counts)}
        assert found == {w.number: player.beliefs(world.counts)[w.name] for w in player.worlds if w.proven is not None}
    assert [array.tobytes() for array in player._now[0].beliefs] == before
    episode.close()


def test_a_game_believes_what_its_history_says():
    """Likely worlds by name while it goes on; in the end the one that it was taken for, which is drawn."""
    models = ao.worlds.doors()
    agent = ao.agents.Recall(0.05, 10)
    drawn_others, over = 0, []
    for k in range(40):
        env = WorldEnv(models[k % 4], 0, streams(k, 1)[0])
        state, _ = env.reset()
        game = agent.play(int(state), n_states=models.n_states, n_actions=4, rewards=models.rewards)
        names = [*(world.name for world in agent.worlds), -1]
        while not game.over:
            belief = game.belief
            assert list(belief.shares) == names
            assert belief.sure == belief.shares[belief.world] == max(belief.shares.values())
            state, reward, terminated, _, _ = env.step(game.act())
            game.observe(int(state), reward, terminated)
        belief = game.belief
        assert (belief.world, belief.sure) == (game.report.world, game.report.sure)
        assert list(belief.shares) == names
        assert belief.world in names or belief.world > max(names)
        drawn_others += belief.world != max(belief.shares, key=belief.shares.get)
        over.append((game, belief))
    assert drawn_others > 0
    assert all(game.belief == belief for game, belief in over), "later games change nothing"


def test_the_evidence_after_an_episode_that_founds_a_cluster():
    """What was proven when the episode began is all that there is evidence about."""
    models = ao.worlds.random_models(6, 3, 2, 3, 1.0, 0)
    player = begun(ao.agents.Recall(0.1, 3000), models)
    for k in range(4):
        before = player.clusters
        _, ran = simulator(models[k % 2], 0, k).drive(player.episode(0, streams(k, 1)[0]))
        assert len(player.evidence(ran[-1].phase.counts)) == before
    assert player.clusters == 2


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"failure": 0.0}, "failure must be above 0"),
        ({"failure": 1.0}, "failure must be below 1"),
        ({"horizon": 0}, "horizon must be at least 1"),
        ({"resolution": 0.0}, "resolution must be above 0"),
        ({"resolution": 2.5}, "resolution must be at most 2"),
        ({"proof": -0.1}, "proof must be at least 0"),
        ({"proof": 0.6}, "proof must be at most 0.5"),
        ({"rewards": "secret"}, "rewards must be one of"),
    ],
)
def test_bad_parameters_get_one_sentence(options, told):
    with pytest.raises(ValueError, match=told):
        begun(ao.agents.Recall(**{"failure": 0.03, "horizon": 100, **options}), ao.worlds.gridworld())


def test_rewards_that_nobody_knows_are_asked_for():
    with pytest.raises(ValueError, match='take rewards="unknown"'):
        ao.agents.Recall(0.03, 100).begin(Setting(6, 3, None, 10))


@pytest.mark.parametrize("rewards", ["known", "unknown"])
@pytest.mark.parametrize("horizon", [1, 2, 300])
@pytest.mark.parametrize(
    ("transitions", "gains"),
    [
        ([[[1.0]]], [[0.5]]),
        ([[[1.0], [1.0]]], [[0.2, 0.7]]),
        ([[[0.5, 0.5]], [[0.9, 0.1]]], [[0.0], [1.0]]),
    ],
    ids=["S = A = 1", "S = 1", "A = 1"],
)
def test_the_smallest_worlds_and_a_set_of_one(transitions, gains, horizon, rewards):
    models = ao.ModelSet([ao.MDP(transitions, gains)])
    history = ao.run(ao.agents.Recall(0.1, horizon, rewards=rewards), models, ao.streams.uniform(), 12, seed=5)
    assert history.misclustered == 0
    assert history["new_cluster"].sum() == 1
    assert (history["identification_steps"] + history["learning_steps"] == horizon).all()
    if horizon == 300:
        assert share(history, models, horizon) > 0.85


def test_a_world_that_ends_episodes_early():
    """30 of 500 steps, from outside, with rewards that nobody knows."""
    models = ao.worlds.gridworld()
    player = ao.agents.Recall(0.1, 500, rewards="unknown")
    history = ao.interact(player, lambda k: TimeLimit(WorldEnv(models[k % 4]), 30), 20, seed=6)
    assert (history["identification_steps"] + history["learning_steps"] == 30).all()
    assert (history["learning_reward"] > 0.0).any()
    assert player.kept.met == 20
    for episode in history.about["findings"]["evidence"]["episodes"]:
        assert episode["steps"] == sorted(episode["steps"])
        assert episode["steps"][-1] == 30


# -- what it guarantees -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("horizon", "rewards"),
    [
        (200, "known"),
        (200, "unknown"),
        *(pytest.param(3000, each, marks=pytest.mark.long) for each in ("known", "unknown")),
    ],
)
def test_contract(rewards, horizon):
    ao.check_agent(ao.agents.Recall(0.1, horizon, rewards=rewards))


@pytest.mark.parametrize("rewards", ["known", "unknown"])
def test_an_episode_that_is_given_up_leaves_no_trace(rewards):
    """At any step, down to the last; and clusters in memory that it might have joined."""
    models = ao.worlds.random_models(6, 3, 2, 3, 1.0, 0)
    player = begun(ao.agents.Recall(0.1, 1000, rewards=rewards), models)
    for k in range(6):
        simulator(models[k % 2], 0, k).drive(player.episode(0, streams(k, 1)[0]))
    before = remembered(player)
    for most in (0, 1, 25, 500, 501, 999):
        one, two = streams(50, 2)
        env = WorldEnv(models[0], 0, one)
        env.reset()
        session = Session(player.episode(0, two), 6, 3, 0, two)
        for _ in range(most):
            session.observe(*env.step(session.act())[:2])
        assert not session.over
        session.close()
        assert remembered(player) == before


def brinks():
    """A brink, from which one waits, goes left or goes right: one side is a hole, which one depends on the world.

    The other side earns 1 when it is left, and then the episode ends.
    """
    rows = np.zeros((4, 3, 4))
    rows[0, [0, 1, 2], [0, 1, 2]] = rows[1:, :, 3] = 1.0
    rewards = np.array([[0.0] * 3, [1.0] * 3, [1.0] * 3, [0.0] * 3])
    return ao.ModelSet([ao.MDP(rows, rewards, terminal=[hole, 3]) for hole in (1, 2)])


def ending():
    """Two random worlds that end episodes in different states."""
    models = ao.worlds.random_models(6, 3, 2, 3, 1.0, 0)
    return ao.ModelSet([ao.MDP(world.transitions, models.rewards, terminal=[4 + i]) for i, world in enumerate(models)])


@pytest.mark.parametrize(
    ("ends", "rewards"),
    [
        (False, "known"),
        (True, "unknown"),
        pytest.param(False, "unknown", marks=pytest.mark.long),
        pytest.param(True, "known", marks=pytest.mark.long),
    ],
)
def test_saved_and_loaded_after_every_episode_it_goes_on_to_the_bit(rewards, ends):
    """Thirty episodes, in which worlds are founded, left, merged and parted, against an agent that is never saved."""
    models, most = ending() if ends else ao.worlds.random_models(6, 3, 2, 3, 1.0, 0), 0
    player, twin = (begun(ao.agents.Recall(0.1, 120, rewards=rewards), models) for _ in range(2))
    for k in range(30):
        for agent in (player, twin):
            simulator(models[k * k % 3 % 2], 0, k).drive(agent.episode(0, streams(k, 1)[0]))
        twin, _ = saving.from_bytes(saving.to_bytes(twin))
        assert remembered(player) == remembered(twin), k
        most = max(most, len(player.worlds))
    assert most > 1
    assert len(player.kept.past) > 5


@pytest.mark.parametrize("rewards", [pytest.param("known", marks=pytest.mark.long), "unknown"])
def test_where_one_side_is_a_hole_it_does_not_wait_for_ever(rewards):
    """Nobody can know the side, so half of the episodes earn 1.  Of the last 60, 15 or fewer would with chance 1e-4."""
    history = ao.run(ao.agents.Recall(0.1, 40, rewards=rewards), brinks(), ao.streams.uniform(), 120, seed=1)
    assert history["learning_reward"][-60:].sum() > 15
    assert history["learning_steps"][-60:].mean() < 5.0


def test_vectors_are_kept_from_episode_to_episode_and_begin_anew_with_other_worlds_or_rewards():
    models = ending()
    player = begun(ao.agents.Recall(0.1, 40, rewards="unknown"), models, 100)
    kept, k = player.kept, 0
    while len(kept.vectors) == 0 or kept.vectors_of != [world.name for world in player.worlds]:
        simulator(models[k % 2], 0, k).drive(player.episode(0, streams(k, 1)[0]))
        k += 1
        assert k < 50, "in most episodes the worlds stay as they are"
    count = len(player.worlds) + 1
    assert len(kept.vectors) == 6 * (count + 1) * count
    behaviour = player._behaviour(np.zeros(18), streams(0, 1)[0])
    assert behaviour.vectors.alpha.ravel().tolist() == kept.vectors.tolist()
    kept.vectors_of[0] = 99
    assert not player._behaviour(np.zeros(18), streams(0, 1)[0]).vectors.alpha.any()
    player.rescale_rewards(0.5, 0.25, 0.25)
    assert len(player.kept.vectors) == 0


def test_wider_rewards_bring_past_episodes_to_their_range():
    """What a world has earned is what its past episodes have, before and after, and files hold it."""
    models = ao.worlds.random_models(6, 3, 2, 3, 1.0, 0)
    player = ao.agents.Recall(0.1, 60, rewards="unknown", proof=0.0)
    ao.run(player, models, ao.streams.uniform(), 12, seed=1)
    before, values = player._reading.rows.pooled.copy(), [world.values for world in player.worlds]
    player.rescale_rewards(0.5, 0.25, 0.25)
    rows, first = player._reading.rows, player._reading.rows.layout.first[24]
    visits = before[first::2] + before[first + 1 :: 2]
    assert (rows.pooled[:first] == before[:first]).all()
    assert rows.pooled[first::2] == pytest.approx(0.5 * before[first::2] + 0.25 * visits)
    assert rows.pooled[first::2] + rows.pooled[first + 1 :: 2] == pytest.approx(visits)
    for world, old in zip(player.worlds, values, strict=True):
        assert world.values == pytest.approx(0.5 * old + 0.25 / 0.02)
    twin, _ = saving.from_bytes(saving.to_bytes(player))
    assert remembered(twin) == remembered(player)


class Half:
    """An episode whose second half may be of another world."""

    def __init__(self, player, first, second, seed):
        horizon, verdicts = player.horizon, []
        judge = type(player)._judge

        def listening(*arguments):
            verdicts.append(judge(player, *arguments))
            return verdicts[-1]

        player._judge = listening
        world, own = streams(seed, 2)
        sims = [Simulator(w.alias_tables, w.gains, 0, world, own) for w in (first, second)]
        episode, spent, state, self.middle = player.episode(0, own), 0, 0, None
        phase = next(episode)
        while True:
            if spent >= horizon // 2 and self.middle is None:
                self.middle = dense(phase.counts, 6)
            sims[spent >= horizon // 2].state = state
            outcome = sims[spent >= horizon // 2].run(phase)
            spent, state = spent + outcome.steps, outcome.state
            try:
                phase = episode.send(outcome)
            except StopIteration as end:
                self.report = end.value
                break
        del player._judge
        self.late = dense(phase.counts, 6) - self.middle
        self.early = verdicts[0]


def proven_of(player):
    return [dense(world.proven, 6) for world in sorted(player.worlds, key=lambda w: w.number) if world.proven]


def test_what_joins_a_cluster_is_chosen_before_it_is_seen():
    """The same first half thrice; then the second half goes on, or is of another world, or of a third.

    What was certified early joins with exactly the counts of the second half, whatever these are, and nothing else.
    """
    models = ao.worlds.random_models(6, 3, 3, 3, 1.0, 0)
    player = begun(ao.agents.Recall(0.1, 20_000), models)
    for k in range(9):
        simulator(models[k % 3], 0, k).drive(player.episode(0, streams(k, 1)[0]))
    assert player.clusters == 3
    before, certified = proven_of(player), []
    for second in models:
        twin = copy.deepcopy(player)
        half = Half(twin, models[0], second, 77)
        assert half.early.proven
        certified.append(half.early.certified.tolist())
        host = twin.worlds[half.early.likely].number
        after = proven_of(twin)
        for number in range(3):
            joined = half.late * half.early.certified[:, None] if number == host else 0
            assert (after[number] - before[number] == joined).all()
        for extra in after[3:]:
            assert (extra == half.middle + half.late).all()  # founded: by the counts of the whole episode
    assert certified[0] == certified[1] == certified[2]
    assert any(certified[0])


def test_an_episode_that_is_proven_to_be_of_another_world_than_was_drawn_is_as_sure_as_that_world(monkeypatch):
    models = ao.worlds.random_models(6, 3, 3, 3, 1.0, 0)
    player = begun(ao.agents.Recall(0.1, 20_000), models)
    for k in range(9):
        simulator(models[k % 3], 0, k).drive(player.episode(0, streams(k, 1)[0]))
    draw, drawn = Rereading._draw, []

    def draw_another(reading, *what):
        place, sure = draw(reading, *what)
        if drawn:
            return place, sure
        drawn.append((place + 1) % len(reading.memory.worlds))
        return drawn[0], 1e-9

    monkeypatch.setattr(Rereading, "_draw", draw_another)
    report, _ = simulator(models[0], 0, 77).drive(player.episode(0, streams(77, 1)[0]))
    assert report.cluster >= 0
    assert not report.new_cluster
    assert report.sure > 0.99


def test_an_episode_is_proven_where_four_fifths_of_its_steps_are_certified_and_no_other_cluster_is_left():
    verdict = Verdict(likely=1, sure=True, survivors=[1], certified=np.ones(1, bool), cover=0.8)
    assert verdict.proven
    for doubt in ({"cover": 0.79}, {"sure": False}, {"survivors": []}, {"survivors": [0]}, {"survivors": [0, 1]}):
        assert not verdict._replace(**doubt).proven


def test_nothing_joins_when_nothing_is_certified_early():
    """First half of a world that nobody knows: no pair of the second half joins, whatever it looks like."""
    models = ao.worlds.random_models(6, 3, 3, 3, 1.0, 0)
    player = begun(ao.agents.Recall(0.1, 6000), models)
    for k in range(6):
        simulator(models[k % 2], 0, k).drive(player.episode(0, streams(k, 1)[0]))
    before = proven_of(player)
    half = Half(player, models[2], models[0], 77)
    assert not half.early.proven
    for old, new in zip(before, proven_of(player), strict=False):
        assert (old == new).all()


class Audited(ao.agents.Recall):
    """Is told the task, which it does not use, and writes down what founds clusters and joins them.

    founders: the task of each cluster; joined: (the cluster's task, the episode's, pair).
    """

    told = frozenset({"task"})

    def begin(self, setting):
        super().begin(setting)
        self.founders, self.joined = [], []

    def episode(self, start, stream, task=None):
        self._task = task
        return (yield from super().episode(start, stream, task))

    def _remember(self, *arguments):
        n_states = self.setting.n_states
        before = {world.number: dense(world.proven, n_states) for world in self.worlds if world.proven}
        report = super()._remember(*arguments)
        for world in self.worlds:
            if world.number in before:
                for pair in np.flatnonzero((dense(world.proven, n_states) != before[world.number]).any(axis=1)):
                    self.joined.append((self.founders[world.number], self._task, int(pair)))
        if report.new_cluster:
            self.founders.append(self._task)
        return report

    def differing(self, models):
        """How many of the rows that joined are of a world that differs there from the cluster's."""
        rows = [world.transitions.reshape(-1, world.n_states) for world in models]
        return sum(np.abs(rows[one][pair] - rows[other][pair]).sum() > 1e-9 for one, other, pair in self.joined)

    @property
    def doubles(self):
        """Clusters founded by a world that had one."""
        return len(self.founders) - len(set(self.founders))


def one_pair_off(base, count, lam, seed):
    """Worlds that differ from the first at one pair each, by an l1 distance of lam."""
    rows, worlds = base.transitions, [base]
    for pair in np.random.default_rng(seed).permutation(rows.shape[0] * rows.shape[1]):
        s, a = divmod(int(pair), rows.shape[1])
        seen = np.flatnonzero(rows[s, a])
        most, least = seen[rows[s, a, seen].argmax()], seen[rows[s, a, seen].argmin()]
        if len(worlds) < count and most != least and rows[s, a, most] >= lam / 2:
            other = rows.copy()
            other[s, a, most] -= lam / 2
            other[s, a, least] += lam / 2
            worlds.append(ao.MDP(other, base.rewards, base.start))
    return ao.ModelSet(worlds)


def test_rows_of_a_world_one_pair_off_do_not_join():
    """Small; p = 0.03 for the whole run, so a differing row that joins is a false alarm with at most that chance."""
    models = one_pair_off(ao.worlds.random_models(6, 3, 1, 4, 1.0, 1)[0], 4, 1.0, 0)
    player = Audited(0.03, 10_000)
    ao.run(player, models, ao.streams.uniform(), 30, seed=1)
    assert len(player.joined) > 20
    assert player.differing(models) == 0
    assert player.doubles == 0


# -- at full size -----------------------------------------------------------------------------------------


@pytest.mark.long
def test_the_reward_table_at_full_size():
    """K = 200, 5 runs: every target on both grids, and above the one-episode learner there and on random worlds.

    There it is close at H = 20,000, where steps spent on proof cost what remembering brings: 99.87 against 99.85.
    """
    places, players = ("grid, third", "grid, stay", "random, 1"), ("Recall", "one-episode learner")
    cases = [case for case in reward_suite() if case.told in players and case.place in places]
    found = {}
    for case, outcomes in zip(cases, run_suite(cases, 5, seed=1, workers=2), strict=True):
        found[case.place, case.horizon, case.told] = np.mean([outcome.share for outcome in outcomes])
        assert sum(outcome.wrong for outcome in outcomes) == 0, case
        if case.told == "Recall" and case.place.startswith("grid"):
            assert found[case.place, case.horizon, case.told] >= case.target, case
    assert len(found) == 24
    for place, horizon, told in found:
        if told == "Recall":
            assert found[place, horizon, told] > found[place, horizon, "one-episode learner"], (place, horizon)


@pytest.mark.long
@pytest.mark.parametrize(("place", "horizon", "runs"), [("random", 20_000, 2), ("grid", 2000, 5), ("grid", 20_000, 2)])
def test_no_row_joins_from_a_world_that_differs_there(place, horizon, runs):
    """Six worlds one pair off, K = 200; the rows joined are 2,453, 1,574 and 272.

    With p = 0.03 a run has a differing row, or a world founded twice, with a chance of at most 3 %: in 9 runs at most
    24 %, were every bound tight.  The seeds are fixed, and there is none.  The label is another matter: where the pair
    that differs is never visited, episodes of both worlds are put in one cluster, and rightly, as far as was seen.
    """
    joined = 0
    for seed in range(runs):
        base = ao.worlds.random_models(16, 4, 1, 5, 1.0, seed) if place == "random" else ao.worlds.gridworld()
        models = one_pair_off(base[0], 6, 1.0 if place == "random" else 1.3, seed)
        player = Audited(0.03, horizon)
        ao.run(player, models, ao.streams.uniform(), 200, seed=seed)
        assert player.differing(models) == 0
        assert player.doubles == 0
        joined += len(player.joined)
    assert joined > 200


@pytest.mark.long
def test_at_a_failure_probability_of_a_half_fewer_runs_than_that_go_wrong():
    """p = 0.5, 32 runs: grids, random sets and ten worlds one pair off.

    A world founded twice or a differing row counts.  Were the chance a half, 8 or fewer of 32 would go wrong with a
    chance of 0.4 %; there is none.
    """
    wrong = 0
    for seed in range(8):
        sets = (
            (ao.worlds.gridworld(), 2000),
            (ao.worlds.gridworld(edges="stay"), 2000),
            (ao.worlds.random_models(16, 4, 6, 5, 0.7, 200 + seed), 2000),
            (one_pair_off(ao.worlds.random_models(16, 4, 1, 5, 1.0, seed)[0], 10, 1.0, seed), 5000),
        )
        for models, horizon in sets:
            player = Audited(0.5, horizon)
            ao.run(player, models, ao.streams.uniform(), 200, seed=50 + seed)
            wrong += player.doubles > 0 or player.differing(models) > 0
    assert wrong <= 8


@pytest.mark.skipif(find_spec("icu_sepsis") is None, reason="needs the package icu-sepsis")
@pytest.mark.long
@pytest.mark.parametrize("name", ["Recall", "SequentialAOMultiRL"])
def test_an_episode_in_intensive_care_takes_seconds(name):
    """716 states, 25 actions, 5,000 steps; without the first one, which may compile.  Each takes 0.1 to 0.5 s."""
    models = ao.worlds.icu_sepsis(models=2)
    if name == "Recall":
        player = ao.agents.Recall(0.03, 5000)
    else:
        player = ao.agents.SequentialAOMultiRL(0.03, 5000, 0.5, learning=False)
    begun(player, models)
    for k in range(4):
        begin = time.process_time()
        _, ran = simulator(models[k % 2], 0, k).drive(player.episode(0, streams(k, 1)[0]))
        assert sum(phase.outcome.steps for phase in ran) == 5000
        assert k == 0 or time.process_time() - begin < 10.0


def test_tables_of_counts_do_not_depend_on_who_asked_for_them_before(monkeypatch):
    """They are made when somebody asks: after every episode, or once when all are over."""
    models, twins = ao.worlds.gridworld(), []
    for is_asked in (False, True):
        agent = ao.agents.Recall(0.03, 60)
        look_back = Rereading.look_back

        def look(reading, stream, look_back=look_back, is_asked=is_asked):
            look_back(reading, stream)
            if is_asked:
                reading.write_down()

        with monkeypatch.context() as patch:
            patch.setattr(Rereading, "look_back", look)
            history = ao.run(agent, models, ao.streams.uniform(), 30, seed=4, record=())
        twins.append((history, agent))
    (one, lazy), (two, asked) = twins
    assert (one.reward == two.reward).all()
    assert [world.name for world in lazy.worlds] == [world.name for world in asked.worlds]
    for first, second in zip(lazy.worlds, asked.worlds, strict=True):
        for here, there in zip(pack_counts(first.counts), pack_counts(second.counts), strict=True):
            assert (here == there).all()
        assert (first.alone == second.alone).all()
    visits = sum(int(world.counts.to_lists()[2].sum()) for world in lazy.worlds)
    assert visits == 30 * 60, "every step is in one world"
