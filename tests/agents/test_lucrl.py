"""L-UCRL: its belief is Bayes' posterior, its planners keep their order, and contexts keep their places."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aomultirl as ao
from aomultirl.agents import saving
from aomultirl.agents.base import Setting
from aomultirl.agents.latent_memory import rows_of
from aomultirl.engine.counts import CountTable
from aomultirl.engine.interacting import Session
from aomultirl.engine.random import streams
from aomultirl.learning.latent import rate_actions
from aomultirl.worlds.environment import WorldEnv
from strategies import ending_sets, outcomes
from told_nothing import deterministic_sets, slow_planner, slow_value

GRID = ao.worlds.gridworld()
APART = ao.worlds.random_models(6, 3, 2, 3, 1.0, 3)


def knowing(models, horizon, planner="qmdp", **more):
    """An agent that begins with the true worlds, and takes them for certain."""
    agent = ao.agents.LUCRL(
        len(models), horizon, failure=0.1, planner=planner, initial=models, floor=0.0, bonus_scale=0.0, **more
    )
    agent.begin(Setting(models.n_states, models.n_actions, models.rewards, 10, rest=models.rest))
    return agent


def chooser(models, horizon, planner):
    """choose(belief, state, step) of an agent that knows the worlds."""
    agent = knowing(models, horizon, planner)
    rows = rows_of(agent.kept, models.n_actions)

    def choose(belief, state, step):
        with np.errstate(divide="ignore"):
            behaviour = agent._behaviour(rows, np.log(belief))
        rate_actions(behaviour, step, state)
        return int(np.argmax(behaviour.q))

    return choose


@given(ending_sets(max_states=4), st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_with_the_true_worlds_the_belief_is_bayes(models, seed):
    """Also where it is made of counts, in any order, and where the episode ends."""
    world, own = streams(seed, 2)
    agent, true = knowing(models, 30), models[seed % len(models)]
    env = WorldEnv(true, 0, world)
    session = Session(agent.episode(0, own), models.n_states, models.n_actions, int(env.reset()[0]), own)
    behaviour, counts, posterior = session._phase.behaviour, session.counts, np.ones(len(models))
    while not session.over:
        state, action = session.state, session.act()
        successor, reward, ended, *_ = env.step(action)
        posterior *= [outcomes(other, state, action).get((successor, ended), 0.0) for other in models]
        posterior /= posterior.sum()
        last = ended or session.steps_left == 1
        if last:
            counts.count(state * models.n_actions + action, successor, 1)
            if ended:
                counts.end(successor)
            named = agent.beliefs(counts)
            assert sum(named.values()) == pytest.approx(1.0)
            agent.kept.numbers, agent.kept.clusters = list(range(len(models))), len(models)
            assert [agent.beliefs(counts)[m] for m in range(len(models))] == pytest.approx(posterior, abs=1e-9)
            agent.kept.numbers, agent.kept.clusters = [-1] * len(models), 0
            counts.count(state * models.n_actions + action, successor, -1)
            counts.ends.clear()
        session.observe(successor, reward, ended)
        assert behaviour.shares == pytest.approx(posterior, abs=1e-9)


@given(ending_sets(max_states=3), st.integers(1, 3))
@settings(max_examples=25, deadline=None)
def test_the_exact_planner_is_the_optimum_and_qmdp_is_between(models, horizon):
    """No more than being told the world is worth, and no less than the planner of known worlds for QMDP."""
    exact = slow_value(models, horizon, chooser(models, horizon, "exact"))
    qmdp = slow_value(models, horizon, chooser(models, horizon, "qmdp"))
    assert exact == pytest.approx(slow_value(models, horizon, None), abs=1e-9)
    assert qmdp <= exact + 1e-9
    told = np.mean([world.first_values(horizon)[0] for world in models])
    assert qmdp <= told + 1e-9
    assert qmdp == pytest.approx(slow_value(models, horizon, slow_planner(models, horizon, True)), abs=1e-6)


@given(deterministic_sets(), st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_the_exact_planner_earns_the_optimum_told_nothing(models, horizon):
    optimum = ao.theory.told_nothing_optimum(models, horizon).reward
    assert slow_value(models, horizon, chooser(models, horizon, "exact")) == pytest.approx(optimum, abs=1e-9)
    agent = knowing(models, horizon, "exact")
    behaviour = agent._behaviour(rows_of(agent.kept, models.n_actions), np.zeros(len(models)))
    rate_actions(behaviour, 0, models[0].start)
    assert behaviour.q.max() == pytest.approx(optimum, abs=1e-9)  # which it promises, too


@given(deterministic_sets(), ending_sets(max_states=4), st.integers(1, 6))
@settings(max_examples=25, deadline=None)
def test_contexts_are_planned_to_their_optimum(certain, noisy, horizon):
    """With the true worlds and no bonus; also what is left after the end is worth something."""
    for models in (certain, noisy):
        agent = knowing(models, horizon)
        behaviour = agent._behaviour(rows_of(agent.kept, models.n_actions), np.zeros(len(models)))
        for m, world in enumerate(models):
            assert np.allclose(behaviour.candidates.values[m], world.optimal_values(horizon), atol=1e-12)


def test_qmdp_waits_to_be_told_and_the_exact_planner_goes_and_sees():
    """Of actions 0 and 1 one pays for ever, 2 shows which, 3 waits for a tenth: as if it were told, QMDP waits."""
    rewards, models = np.zeros((5, 4)), []
    rewards[3], rewards[0, 3] = 1.0, 0.1
    for right in (0, 1):
        doors = [{3: 1.0} if a == right else {4: 1.0} for a in (0, 1)]
        hall, signs = [*doors, {1 + right: 1.0}, {0: 1.0}], [[*doors, {4: 1.0}, {4: 1.0}]] * 2
        models.append(ao.MDP([hall, *signs, [{3: 1.0}] * 4, [{4: 1.0}] * 4], rewards))
    models = ao.ModelSet(models)
    assert slow_value(models, 5, chooser(models, 5, "qmdp")) == pytest.approx(0.8)
    assert slow_value(models, 5, chooser(models, 5, "exact")) == pytest.approx(3.0)
    agent = ao.agents.LUCRL(2, 5, failure=0.1, planner="exact", initial=models, bonus_scale=0.0, floor=0.0)
    assert ao.run(agent, models, ao.streams.uniform(), 20)["learning_reward"].tolist() == [3.0] * 20


def test_the_bonus_by_hand():
    """H min{1, sqrt(5 (S + R) ln(M S A K / eta) / N)} with N = 100: S = 6, A = 3, M = 2, K = 10, eta = 0.1."""
    root = math.sqrt(5.0 * 6.0 * math.log(2 * 6 * 3 * 10 / 0.1) / 100.0)
    for scale, expected in ((1.0, 20.0), (0.1, 20.0 * 0.1 * root)):
        agent = ao.agents.LUCRL(2, 20, failure=0.1, initial=APART, bonus_scale=scale)
        agent.begin(Setting(6, 3, APART.rewards, 10))
        gains = agent._behaviour(rows_of(agent.kept, 3), np.zeros(2)).candidates.own
        assert np.allclose(gains, np.array(APART.rewards).reshape(-1) + expected)
    assert root > 1.0


def test_one_context_is_a_learner_of_one_world():
    """It learns the world: the last episodes earn almost the optimum, and acting at random a fraction of it."""
    world = ao.ModelSet([GRID[0]])
    optimum = world[0].first_values(100)[world[0].start]
    agent = ao.agents.LUCRL(1, 100, failure=0.1, bonus_scale=1e-4, rewards="unknown")
    earned = ao.run(agent, world, ao.streams.uniform(), 120)["learning_reward"]
    assert earned[-30:].mean() > 0.93 * optimum
    blind = ao.run(ao.agents.Random(100), world, ao.streams.uniform(), 30)["learning_reward"].mean()
    assert blind < 0.3 * optimum
    assert agent.findings()["context_weights"] == pytest.approx([120.0])


def test_contexts_in_hindsight_are_learned_under_their_own_numbers():
    agent = ao.agents.LUCRL(4, 200, failure=0.1, contexts="told", bonus_scale=1e-4)
    assert agent.told == {"task"}
    assert ao.agents.LUCRL.told == frozenset()
    history = ao.run(agent, GRID, ao.streams.sequence([3, 1, 1, 0, 2, 3] * 20), 120)
    assert agent.findings()["context_weights"] == [20.0, 40.0, 20.0, 40.0]
    optimum = np.mean([world.first_values(200)[world.start] for world in GRID])
    assert history["learning_reward"][-30:].mean() > 0.9 * optimum
    rows = rows_of(agent.kept, 4)
    for m, world in enumerate(GRID):
        dense = np.zeros((64, 16))
        dense[np.repeat(np.arange(64), np.diff(rows.starts)), rows.states] = rows.probs[m]
        error = np.abs(dense - world.transitions.reshape(64, 16)).sum(axis=1)
        assert error[rows.visits[m] > 300].max() < 0.25


def test_what_is_told_comes_after_the_episode():
    """Actions are the same whichever task will be told."""
    actions = []
    for task in (0, 1):
        agent = ao.agents.LUCRL(2, 30, failure=0.1, contexts="told", initial=APART, bonus_scale=0.01)
        agent.begin(Setting(6, 3, APART.rewards, 2))
        world, own = streams(5, 2)
        env = WorldEnv(APART[0], 0, world)
        session = Session(agent.episode(0, own, task), 6, 3, int(env.reset()[0]), own)
        taken = []
        while not session.over:
            taken.append(session.act())
            session.observe(*env.step(taken[-1])[:3])
        actions.append(taken)
        assert agent.kept.weights.tolist() == [1.0 - task, float(task)]
    assert actions[0] == actions[1]


def test_labels_are_not_switched():
    """Contexts begin as given, whatever order the tasks come in, and an order of their own changes labels alone."""
    tasks = ao.streams.sequence([1, 1, 0, 1, 0, 0] * 10)
    for order in ([0, 1], [1, 0]):
        begun = ao.ModelSet([APART[m] for m in order])
        agent = ao.agents.LUCRL(2, 100, failure=0.1, initial=begun, bonus_scale=0.001)
        history = ao.run(agent, APART, tasks, 60)
        assert history.misclustered == 0
        assert agent.kept.weights == pytest.approx([30.0, 30.0], abs=1.0)
        assert agent.kept.numbers == ([1, 0] if order == [0, 1] else [0, 1])  # the first episode was of world 1


def test_the_first_episodes_begin_contexts_of_their_own():
    agent = ao.agents.LUCRL(2, 100, failure=0.1, bonus_scale=0.001)
    history = ao.run(agent, APART, ao.streams.round_robin(), 60)
    assert history["cluster"][:2].tolist() == [0, 1]
    assert history.misclustered <= 3
    assert history["sure"][:2].tolist() == [1.0, 1.0]


def test_a_start_that_repeats_a_world_is_never_made_good():
    """The negative case: both contexts begin as world 0, so world 1 has none of its own for long."""
    agent = ao.agents.LUCRL(2, 100, failure=0.1, bonus_scale=0.001)
    history = ao.run(agent, APART, ao.streams.sequence([0, 0] + [1, 0] * 15), 32)
    assert history.misclustered > 3


def test_logs_are_a_start():
    """What ao.cluster finds in trajectories of random walks is remembered, one group a context."""
    logs, rng = [], np.random.default_rng(0)
    for k in range(20):
        world, state, steps = APART[k % 2], 0, []
        for _ in range(100):
            action = int(rng.integers(3))
            successor = int(rng.choice(6, p=world.transitions[state, action]))
            steps.append((state, action, successor))
            state = successor
        logs.append(steps)
    found = ao.cluster(logs, 2, n_states=6, n_actions=3)
    agent = ao.agents.LUCRL(2, 100, failure=0.1, bonus_scale=0.001)
    agent.remember(found)
    with pytest.raises(ValueError, match="LUCRL cannot be saved: what it remembers is read by its first run"):
        saving.to_bytes(agent)
    history = ao.run(agent, APART, ao.streams.uniform(), 40, seed=1)
    assert history.misclustered == 0
    again, _ = saving.from_bytes(saving.to_bytes(agent))
    assert again.kept.counts.tobytes() == agent.kept.counts.tobytes()
    with pytest.raises(ValueError, match="has begun: let a new one remember"):
        agent.remember(found)
    for models, initial, words in ((1, None, "there are 1 contexts"), (2, APART, "initial is given too")):
        agent = ao.agents.LUCRL(models, 10, failure=0.1, initial=initial)
        agent.remember(found)
        with pytest.raises(ValueError, match=f"groups has 2 worlds to remember, but {words}"):
            ao.run(agent, APART, ao.streams.uniform(), 2)


def test_it_earns_what_its_start_is_worth():
    """With the true grids to begin with it earns almost what QMDP with them does, and random acting a quarter."""
    agent = ao.agents.LUCRL(4, 200, failure=0.1, initial=GRID, bonus_scale=1e-4)
    history = ao.run(agent, GRID, ao.streams.uniform(), 60)
    planned = ao.theory.qmdp_reward(GRID, 200, 200)
    assert history["learning_reward"].mean() > 0.97 * planned.reward
    assert history.misclustered == 0


def test_the_bonus_of_the_source_acts_at_random_at_these_sizes():
    faithful = ao.run(ao.agents.LUCRL(4, 50, failure=0.1), GRID, ao.streams.uniform(), 20)["learning_reward"].mean()
    assert faithful < 0.4 * np.mean([world.first_values(50)[world.start] for world in GRID])


def test_rewards_in_another_range_are_brought_to_it():
    agent = ao.agents.LUCRL(2, 30, failure=0.1, rewards="unknown", bonus_scale=0.01)
    ao.run(agent, APART, ao.streams.uniform(), 6)
    visits, sums = rows_of(agent.kept, 3).visits, agent.kept.sums.copy()
    agent.rescale_rewards(0.5, 0.25, 0.25)
    assert np.allclose(agent.kept.sums, 0.5 * sums + 0.25 * visits)
    assert agent.setting.rest == 0.25


def test_a_memory_that_was_tampered_with_is_refused():
    agent = ao.agents.LUCRL(2, 30, failure=0.1)
    ao.run(agent, APART, ao.streams.uniform(), 4)
    for name, changed, words in (
        ("counts", agent.kept.counts[:, 1:], "memory.counts must be of shape"),
        ("weights", np.ones(3), r"memory.weights must be of shape \(2,\), not \(3,\)"),
        ("sums", np.ones((2, 18)), r"memory.sums must be of shape \(2, 0\)"),
        ("keys", agent.kept.keys[::-1].copy(), "memory.keys are not ascending transitions of 6 states and 3 actions"),
        ("keys", agent.kept.keys + 108, "memory.keys are not ascending transitions"),
        ("numbers", [0, 0], r"memory.numbers are \[0, 0\], which . clusters cannot have"),
    ):
        good = getattr(agent.kept, name)
        setattr(agent.kept, name, changed)
        with pytest.raises(ValueError, match=words):
            saving.from_bytes(saving.to_bytes(agent))
        setattr(agent.kept, name, good)
    saving.from_bytes(saving.to_bytes(agent))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"models": 0}, "models must be at least 1, not 0"),
        ({"horizon": 0}, "horizon must be at least 1, not 0"),
        ({"failure": 1.0}, "failure must be below 1, not 1"),
        ({"contexts": "tole"}, "contexts must be one of 'hidden', 'told', not 'tole'; did you mean 'told'?"),
        ({"planner": "pomdp"}, "planner must be one of 'qmdp', 'exact', not 'pomdp'"),
        ({"floor": 1.0}, "floor must be below 1, not 1"),
        ({"bonus_scale": -1.0}, "bonus_scale must be at least 0, not -1"),
        ({"initial_visits": 0.0}, "initial_visits must be above 0, not 0"),
        ({"initial": 3}, "initial is 3, not a ModelSet"),
        ({"initial": GRID}, "initial has 4 worlds, but there are 2 contexts"),
        ({"initial": GRID[:2]}, "initial has 16 states and 4 actions, not 6 and 3"),
        ({"rewards": "unknwon"}, "rewards must be one of 'known', 'unknown', not 'unknwon'"),
        ({"models": 10**14}, "models is 100000000000000: so many contexts with 18 pairs takes"),
        ({"horizon": 10**14}, "horizon is 100000000000000: values of 2 contexts for so many steps and 6 states takes"),
    ],
)
def test_bad_input(arguments, words):
    agent = ao.agents.LUCRL(**{"models": 2, "horizon": 20, "failure": 0.1, **arguments})
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        agent.begin(Setting(6, 3, APART.rewards, 10))
    assert str(refused.value).startswith(words)


def test_horizons_too_long_for_the_exact_planner():
    agent = ao.agents.LUCRL(4, 6, failure=0.1, planner="exact")
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        agent.begin(Setting(16, 4, GRID.rewards, 10))
    assert str(refused.value) == (
        'horizon is 6: planner="exact" looks at up to (S A)^(H - 1) = 64^5 histories of 4 contexts before a step, and '
        '4,000,000 in all are the most; make it smaller, or take planner="qmdp"'
    )
    ao.agents.LUCRL(4, 4, failure=0.1, planner="exact").begin(Setting(16, 4, GRID.rewards, 10))


def test_more_tasks_than_contexts_are_refused_before_the_run():
    """Also where the stream never comes to the others; what the agent had learned before stays."""
    agent = ao.agents.LUCRL(2, 20, failure=0.1, contexts="told")
    ao.run(agent, GRID[:2], ao.streams.sequence([0, 1]), 2)
    words = "models is 2, but there are 4 worlds, and LUCRL is told which one an episode is"
    with pytest.raises(ValueError, match=words):
        ao.run(agent, GRID, ao.streams.sequence([0, 1]), 2)
    assert agent.completed == 2
    with pytest.raises(ValueError, match=words):
        ao.interact(ao.agents.LUCRL(2, 20, failure=0.1, contexts="told"), ["FrozenLake-v1"] * 4, 2)
    hidden = ao.agents.LUCRL(2, 20, failure=0.1)  # which is told nothing, and may have fewer contexts than there are
    assert len(ao.run(hidden, GRID, ao.streams.sequence([0, 1, 2]), 3)) == 3


def test_a_task_that_no_context_has_is_refused():
    agent = ao.agents.LUCRL(2, 20, failure=0.1, contexts="told")
    agent.begin(Setting(16, 4, GRID.rewards, 10))
    with pytest.raises(ValueError, match="task must be between 0 and 1, not 2"):
        next(agent.episode(0, streams(0, 1)[0], 2))
    with pytest.raises(ValueError, match="this agent must be told the task of each episode"):
        next(agent.episode(0, streams(0, 1)[0]))


def test_an_episode_without_steps_begins_no_context():
    agent = ao.agents.LUCRL(2, 20, failure=0.1)
    agent.begin(Setting(6, 3, APART.rewards, 3))
    own = streams(0, 1)[0]
    session = Session(agent.episode(0, own), 6, 3, 0, own)
    session.stop()
    assert agent.kept.is_empty.all()
    assert agent.beliefs(CountTable(18)) == {-1: 0.0, 0: 1.0}  # the next one begins the same context
