import numpy as np
import pytest

import aomultirl as ao
from aomultirl.agents.base import NOTHING
from aomultirl.engine.behaviours import act_uniformly, follow
from aomultirl.engine.counts import CountTable
from aomultirl.engine.stepping import Phase
from aomultirl.experiments.episodes import episode_streams
from aomultirl.exploring import explore_id


def test_same_seed_same_history_and_other_seeds_differ():
    models = ao.worlds.gridworld()
    agent = ao.agents.OneEpisodeUCBVI(0.03, 50)
    one, same, other = (ao.run(agent, models, ao.streams.paper(), 20, seed=s) for s in (4, 4, 5))
    assert one == same
    assert one != other


def test_agents_with_the_same_seed_meet_the_same_tasks():
    models = ao.worlds.gridworld()
    tasks = [
        ao.run(agent, models, ao.streams.paper(), 40, seed=4)["task"].tolist()
        for agent in (ao.agents.Random(5), ao.agents.Optimal(9))
    ]
    assert tasks[0] == tasks[1]


def test_streams_of_fewer_episodes_are_a_prefix():
    assert np.array_equal(episode_streams(3, "world", 200)[:80], episode_streams(3, "world", 80))
    assert not np.array_equal(episode_streams(3, "world", 5), episode_streams(3, "agent", 5))


class Recording(ao.agents.PooledUCBVI):
    """Keeps the plans that it followed and those that it was judged by."""

    def begin(self, setting):
        super().begin(setting)
        self.followed, self.judged = [], []

    def episode(self, start, stream, task=None):
        inner = super().episode(start, stream, task)
        phase = next(inner)
        self.followed.append(phase.behaviour.table.plan.copy().reshape(-1, 3))
        outcome = yield phase
        try:
            inner.send(outcome)
        except StopIteration as end:
            self.judged.append(end.value.evaluation.reshape(-1, 3))
            return end.value


def chances(plan, horizon, n_actions):
    """A plan with "at random" entries as probabilities (H, S, A)."""
    table = np.empty((horizon, plan.shape[1], n_actions))
    for h in range(horizon):
        for s, entry in enumerate(plan[h if len(plan) > 1 else 0]):
            table[h, s] = 1 / n_actions if entry == n_actions else np.eye(n_actions)[entry]
    return table


def test_regret_is_that_of_equation_one_by_brute_force():
    """At S = 3, A = 2, H = 4: every value against a sum over all paths, plans with random entries included."""
    world = ao.worlds.random_models(3, 2, 1, 2, rng=1)[0]
    agent = Recording(0.1, 4, bonus_scale=0.004)
    history = ao.run(agent, ao.ModelSet([world]), ao.streams.uniform(), 60, seed=0)
    best = slow_best(world, 4)
    kinds = set()
    for k in range(60):
        start = int(history["start"][k])
        value = path_value(world, chances(agent.followed[k], 4, 2), start, 4)
        judged = path_value(world, chances(agent.judged[k], 4, 2), start, 4)
        assert history["value"][k] == pytest.approx(value, abs=1e-12)
        assert history["evaluation_value"][k] == pytest.approx(judged, abs=1e-12)
        assert history["regret"][k] == pytest.approx(best[start] - value, abs=1e-12)
        kinds.add((bool((agent.followed[k] == 2).any()), bool((agent.followed[k] < 2).any())))
    assert len(kinds) > 1


def test_a_behaviour_that_is_no_plan_counts_with_what_it_earned():
    class Exploring(ao.agents.Random):
        def episode(self, start, stream, task=None):
            yield Phase(explore_id(np.ones((16, 4), bool), 5), self.horizon, CountTable(64), np.empty(0))
            return ao.agents.Report()

    history = ao.run(Exploring(300), ao.worlds.gridworld(), ao.streams.uniform(), 5)
    assert np.array_equal(history["value"], history["learning_reward"])


def slow_best(world, horizon):
    values = np.zeros(world.n_states)
    for _ in range(horizon):
        values = (world.rewards + world.transitions @ values).max(axis=1)
    return values


def slow_values(world, policy):
    """The values of a policy, (S,); policy: probabilities (H, S, A)."""
    values = np.zeros(world.n_states)
    for chances in policy[::-1]:
        values = (chances * (world.rewards + world.transitions @ values)).sum(axis=1)
    return values


def path_value(world, policy, state, horizon):
    """Expected reward over every path; policy: probabilities (H, S, A)."""
    if horizon == 0:
        return 0.0
    total = 0.0
    for action, chance in enumerate(policy[0, state]):
        if chance > 0:
            total += chance * world.rewards[state, action]
            for successor, move in enumerate(world.transitions[state, action]):
                if move > 0:
                    total += chance * move * path_value(world, policy[1:], successor, horizon - 1)
    return total


def test_exact_regret_is_the_mean_of_the_realised_one():
    """The learning phase's value minus its realised reward has mean zero; 4 standard errors, below 0.01 %."""
    models = ao.worlds.random_models(5, 3, 3, 3, 0.8, 2)
    agent = ao.agents.PooledUCBVI(0.1, 12, bonus_scale=0.01)
    history = ao.run(agent, models, ao.streams.uniform(), 3000, seed=1)
    gap = history["learning_reward"] - history["value"]
    assert abs(gap.mean()) < 4 * gap.std() / np.sqrt(len(gap))
    gap = history["evaluation_reward"] - history["evaluation_value"]
    assert abs(gap.mean()) < 4 * gap.std() / np.sqrt(len(gap))


class ExploresThenFollows(ao.agents.Random):
    """Acts at random for five steps, which count as its clustering phase, and then follows a plan."""

    def episode(self, start, stream, task=None):
        n_states, n_actions = self.setting.n_states, self.setting.n_actions
        explored = yield Phase(
            act_uniformly(n_states, n_actions), 5, CountTable(self.setting.n_pairs), NOTHING, "clustering"
        )
        yield Phase(follow(PLAN), 7, CountTable(self.setting.n_pairs), NOTHING)
        return ao.agents.Report(exploration_ok=explored.steps == 5)


PLAN = np.array([[0, 1, 2, 0, 1], [2, 2, 1, 0, 0]] * 3 + [[1, 0, 1, 2, 0]], np.int32)


def test_regret_is_an_unbiased_sample_of_equation_1_and_exact_from_the_learning_phase_on():
    """4 standard errors, below 0.01 %; the policy's own value is that of both its parts, (H, S, A)."""
    world = ao.worlds.random_models(5, 3, 1, 3, 0.8, 2)[0]
    history = ao.run(ExploresThenFollows(1), ao.ModelSet([world]), ao.streams.uniform(), 4000, seed=3)
    policy = np.concatenate([np.full((5, 5, 3), 1 / 3), np.eye(3)[PLAN]])
    equation_1 = sum(world.start_distribution * (slow_best(world, 12) - slow_values(world, policy)))
    gap = history["regret"] - equation_1
    assert gap.std() > 0.1
    assert abs(gap.mean()) < 4 * gap.std() / np.sqrt(len(gap))
    follows = slow_values(world, np.eye(3)[PLAN])  # value depends on nothing but where the learning phase was entered
    assert {round(value, 9) for value in history["value"]} <= {round(value, 9) for value in follows}


def test_clustering_reward_enters_the_regret_as_realised():
    models = ao.worlds.random_models(6, 3, 2, 3, 1.0, 3)
    agent = ao.agents.AOMultiRL(2, 1.0, 5, 0.1, samples=15, clustering_horizon=600, learning_horizon=30)
    history = ao.run(agent, models, ao.streams.round_robin(), 4, seed=0)
    for k in range(4):
        best = slow_best(models[int(history["task"][k])], 630)[int(history["start"][k])]
        expected = best - history["clustering_reward"][k] - history["value"][k]
        assert history["regret"][k] == pytest.approx(expected, abs=1e-9)


def test_misclustered():
    """A cluster stands for the task of the episode that made it; a second cluster for a known task is wrong too."""

    class Told(ao.agents.Random):
        plan = ((0, True), (0, False), (1, True), (1, False), (-1, False), (2, True))

        def begin(self, setting):
            super().begin(setting)
            self.k = -1

        def episode(self, start, stream, task=None):
            report = yield from super().episode(start, stream, task)
            self.k += 1
            cluster, new = self.plan[self.k]
            return ao.agents.Report(cluster, new, True, report.evaluation, report.evaluation_horizon)

    tasks = [0, 1, 0, 0, 1, 1]
    history = ao.run(Told(3), ao.worlds.gridworld(), ao.streams.sequence(tasks), 6)
    assert history["misclustered"].tolist() == [False, True, True, False, False, False]
    assert history.misclustered == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: ao.run(ao.agents.Random(5), m, ao.streams.uniform(), 0), "episodes must be at least 1, not 0"),
        (lambda m: ao.run(ao.agents.Random(5), m, ao.streams.uniform(), 5, -1), "seed must be at least 0, not -1"),
        (lambda m: ao.run(ao.agents.Random(5), m[0], ao.streams.uniform(), 5), "models is MDP.*, not a ModelSet"),
        (lambda m: ao.run(ao.agents.Random, m, ao.streams.uniform(), 5), "agent is <class .*, not an agent such as"),
        (lambda m: ao.run(ao.agents.Random(5), m, ao.streams.uniform, 5), "stream is <class .*, not a stream such as"),
        (lambda m: ao.run(ao.agents.Random(0), m, ao.streams.uniform(), 5), "horizon must be at least 1, not 0"),
        (lambda m: ao.run(ao.agents.OneEpisodeUCBVI(2, 5), m, ao.streams.uniform(), 5), "failure must be below 1"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call(ao.worlds.gridworld())


def test_environments_must_be_discrete_and_agree():
    import gymnasium

    with pytest.raises(ValueError, match="is Box"):
        ao.interact(ao.agents.Random(5), lambda k: gymnasium.make("CartPole-v1"), 1)
    from aomultirl.worlds.environment import WorldEnv

    grid = ao.worlds.gridworld()[0]
    with pytest.raises(ValueError, match=r"rewards must have shape \(16, 4\), not \(16, 3\)"):
        ao.interact(ao.agents.Random(5), lambda k: WorldEnv(grid), 1, rewards=np.zeros((16, 3)))
    with pytest.raises(ValueError, match=r"rewards\[0, 0\] is nan"):
        ao.interact(ao.agents.Random(5), lambda k: WorldEnv(grid), 1, rewards=np.full((16, 4), np.nan))
    grids = {0: ao.worlds.gridworld(), 1: ao.worlds.gridworld(5)}
    with pytest.raises(ValueError, match="the environment of episode 1 has 25 states and 4 actions"):
        ao.interact(ao.agents.Random(5), lambda k: WorldEnv(grids[k][0]), 2)


def test_a_gymnasium_environment_of_someone_else():
    import gymnasium

    agent = ao.agents.PooledUCBVI(0.1, 60, bonus_scale=0.001, rewards="unknown")
    history = ao.interact(agent, lambda k: gymnasium.make("FrozenLake-v1", is_slippery=False), 30, seed=1)
    assert len(history) == 30
    assert np.isnan(history["regret"]).all()
    assert (history["task"] == -1).all()
    assert (history["learning_steps"] <= 60).all()


def test_progress_is_silent_where_there_is_no_terminal(capfd):
    ao.run(ao.agents.Random(5), ao.worlds.gridworld(), ao.streams.uniform(), 3, progress=True)
    assert capfd.readouterr() == ("", "")


def test_a_run_says_what_made_it_and_what_it_left_behind():
    models = ao.worlds.gridworld(edges="stay")
    agent = ao.agents.AOMultiRL(
        4, 1.299999, 7, 0.03, [(1, 0), (8, 3), (2, 1)], constants="released", learning_horizon=50
    )
    history = ao.run(agent, models, ao.streams.paper(each_first=True), 12, seed=3)
    about = history.about
    assert about["world"] == {"name": "gridworld", "parameters": {"size": 4, "edges": "stay"}}
    assert about["stream"] == {"name": "paper", "parameters": {"each_first": True, "start": None}}
    assert [cluster["task"] for cluster in about["clusters"]] == [0, 1, 2, 3]
    assert all(len(cluster["plan"]) == 16 and cluster["visits"] > 50_000 for cluster in about["clusters"])
    distances = np.array(about["distances"])
    assert np.allclose(distances, distances.T)
    assert (distances[~np.eye(4, dtype=bool)] > about["threshold"]).all()
    assert np.abs(distances[~np.eye(4, dtype=bool)] - 1.3).max() < 0.2  # the worlds are 1.3 apart on these pairs
    assert about["bound"] is None  # the released constants, and a hitting time that is none
    assert about["premises"]["theorem"] == "Theorem 16"
    assert [sentence.split(";")[0].split(",")[0] for sentence in about["premises"]["broken"]] == [
        "N and H0 are those of the released code",
        "It is told that hitting times are at most 7",
    ]


def test_streams_are_written_down_without_addresses():
    assert repr(ao.streams.paper()) == "paper()"
    assert repr(ao.streams.blocks(5, start=3)) == "blocks(length=5, start=3)"
    assert repr(ao.streams.adaptive(len)) == "adaptive(choose=len)"


def test_no_theorem_covers_numbers_chosen_by_hand():
    models = ao.worlds.gridworld()
    agent = ao.agents.AOMultiRL(4, 1.299999, 7, 0.03, samples=3, clustering_horizon=500, learning_horizon=20)
    assert ao.run(agent, models, ao.streams.uniform(), 2).about["bound"] is None
