"""Other people's environments: episodes that end, rewards of any range, observations of any discrete kind, tomorrow."""

import re
import signal
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.envs.toy_text.frozen_lake import generate_random_map

import aomultirl as ao
from aomultirl.agents import saving
from aomultirl.agents.spaces import as_json, digits_of, from_json
from aomultirl.worlds.environment import WorldEnv

LONG = {"horizon": 20, "rewards": "unknown"}


class Toy(gym.Env):
    """0 -a1-> 1 -a1-> goal, which pays; anything else is a hole.  ``show`` turns a state into an observation."""

    observation_space = spaces.Discrete(4)
    action_space = spaces.Discrete(2)

    def __init__(self, space=None, show=int, goal=1.0, step=0.0, action_space=None, act=int):
        self.observation_space = self.observation_space if space is None else space
        self.action_space = self.action_space if action_space is None else action_space
        self.show, self.goal, self.cost, self.act, self.closed = show, goal, step, act, False

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state = 0
        return self.show(0), {}

    def step(self, action):
        right = self.act(action) == 1
        self.state = (1 if self.state == 0 else 3) if right else 2
        reward = self.cost + (self.goal if self.state == 3 else 0.0)
        return self.show(self.state), reward, self.state >= 2, False, {}

    def close(self):
        self.closed = True


def recall(horizon=20):
    return ao.agents.Recall(0.05, horizon, rewards="unknown")


AGENTS = {
    "Recall": recall,
    "Pooled": lambda: ao.agents.Pooled(ao.learning.Practical(), **LONG),
    "Pooled UCRL2": lambda: ao.agents.Pooled(ao.learning.UCRL2(bonus_scale=0.01), **LONG),
}


@pytest.mark.parametrize(
    ("episodes", "seed"), [(100, 0), *(pytest.param(300, k, marks=pytest.mark.long) for k in range(3))]
)
@pytest.mark.parametrize("name", AGENTS)
def test_nearly_every_episode_of_the_toy_succeeds(name, episodes, seed):
    history = ao.interact(AGENTS[name](), Toy(), episodes, seed=seed)
    assert history.reward.sum() >= episodes - 10


FEW = {"samples": 3, "clustering_horizon": 30, "bonus_scale": 0.01, "rewards": "unknown"}
EVERY = {
    "Random": lambda: ao.agents.Random(20),
    "Recall": recall,
    "AOMultiRL": lambda: ao.agents.AOMultiRL(2, 1.0, 5, 0.1, learning_horizon=20, **FEW),
    "TwoStage": lambda: ao.agents.TwoStageAOMultiRL(2, 1.0, 5, 0.1, learning_horizon=20, **FEW),
    "Doubling": lambda: ao.agents.DoublingAOMultiRL(2, 1.0, 0.1, horizon=100, samples=3, rewards="unknown"),
    "Sequential": lambda: ao.agents.SequentialAOMultiRL(0.1, 100, 1.0, rewards="unknown"),
    **{
        f"{form.__name__} {learner.__name__}": lambda form=form, learner=learner: form(learner(), **LONG)
        for form in (ao.agents.OneEpisode, ao.agents.Pooled)
        for learner in (ao.learning.Practical, ao.learning.UCBVI, ao.learning.UCRL2)
    },
}


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("terminal", ["end", "restart"])
@pytest.mark.filterwarnings("ignore")
def test_every_agent_takes_every_kind(name, terminal):
    agent = EVERY[name]()
    kinds = {
        "space": spaces.MultiDiscrete([2, 2]),
        "show": lambda s: np.array([s // 2, s % 2]),
        "step": -1.0,
        "goal": 11.0,
    }
    history = ao.interact(agent, Toy(**kinds), 4, 30, reward_range=(-1.0, 10.0), terminal=terminal)
    steps = history["identification_steps"] + history["learning_steps"]
    assert (steps <= 2).all() if terminal == "end" else (steps > 2).all()
    again = saving.from_bytes(saving.to_bytes(agent))[0]
    more = ao.interact(again, Toy(**kinds), 2, 30, terminal=terminal)
    assert more["episode"].tolist() == [4, 5]
    for space, show in KINDS:
        history = ao.interact(EVERY[name](), Toy(space, show), 2, 20, terminal=terminal)
        assert len(history) == 2


KINDS = [
    (spaces.Discrete(4, start=7), lambda s: 7 + s),
    (spaces.MultiDiscrete([2, 3]), lambda s: np.array([s // 2, s % 2])),
    (spaces.MultiDiscrete([[2], [3]], start=[[1], [5]]), lambda s: np.array([[1 + s // 2], [5 + s % 2]])),
    (spaces.MultiBinary(3), lambda s: np.array([s // 2, s % 2, 1], np.int8)),
    (spaces.Tuple([spaces.Discrete(2), spaces.MultiBinary(1)]), lambda s: (s // 2, np.array([s % 2]))),
    (
        spaces.Dict({"b": spaces.Discrete(2), "a": spaces.Tuple([spaces.Discrete(2)])}),
        lambda s: {"a": (s // 2,), "b": s % 2},
    ),
]


@pytest.mark.parametrize(("space", "show"), KINDS, ids=[str(i) for i in range(len(KINDS))])
def test_observations_of_any_discrete_kind(space, show):
    history = ao.interact(recall(), Toy(space, show), 60)
    assert history.reward.sum() >= 50
    digits = digits_of(space, "it")
    assert from_json(as_json(digits)) == digits
    values = [digits.value(number) for number in range(digits.size)]
    assert [digits.number(value, "it") for value in values] == list(range(digits.size))
    assert len({repr(value) for value in values}) == digits.size
    assert all(digits.number(space.sample(), "it") < digits.size for _ in range(20))


def test_actions_of_any_discrete_kind():
    space = spaces.MultiDiscrete([2, 2])
    history = ao.interact(recall(), Toy(action_space=space, act=lambda a: int(a[0] ^ a[1])), 80)
    assert history.reward.sum() >= 65


def test_states_that_nobody_knows_beforehand():
    """Any observation that can be told from others is a state; the agent carries their numbers with it."""
    agent = recall()
    env = Toy(spaces.Box(-1, 1, (2,)), lambda s: np.array([s / 8, -s / 8]))
    history = ao.interact(agent, env, 60, states=10)
    assert history.reward.sum() >= 50
    assert agent.setting.n_states == 10
    again = saving.from_bytes(saving.to_bytes(agent))[0]
    assert ao.interact(again, env, 20).reward.sum() == 20
    with pytest.raises(ValueError, match="is one more state than the 2 there is room for; raise states"):
        ao.interact(recall(), env, 60, states=2)
    with pytest.raises(ValueError, match="states must be one of 'grow', not 'all'"):
        ao.interact(recall(), env, 60, states="all")


def test_a_box_needs_bins():
    cart = gym.make("CartPole-v1")
    with pytest.raises(ValueError, match=r"is Box.*; ao.wrappers.Discretise gives it bins"):
        ao.interact(recall(), cart, 1)
    bins = {"place": [0.0], "speed": [-0.5, 0.5], "angle": 4, "turning": [0.0]}
    env = ao.wrappers.Discretise(cart, bins)
    assert env.observation_space == spaces.MultiDiscrete([2, 3, 4, 2])
    assert env.observation(np.array([0.0, 0.6, 0.41, -9.0])).tolist() == [1, 2, 3, 0]
    assert len(ao.interact(recall(200), env, 5)) == 5


@pytest.mark.parametrize(
    ("bins", "words"),
    [
        ([1, 1], "bins has 2 entries, but an observation has 4 numbers"),
        ([1, 5, 1, 1], r"bins\['1'\] is 5, but its number has no finite bounds; give the edges"),
        ([1, [1.0, 0.0], 1, [0.0]], r"bins\['1'\] is \[1.0, 0.0\], not a list of edges that rise"),
        ([0, [0.0], 1, [0.0]], r"bins\['0'\] must be at least 1, not 0"),
    ],
)
def test_bins_that_are_none(bins, words):
    with pytest.raises(ValueError, match=words):
        ao.wrappers.Discretise(gym.make("CartPole-v1"), bins)


def test_the_largest_float_is_no_bound():
    env = gym.make("CartPole-v1")
    env.observation_space = spaces.Box(-np.finfo(np.float32).max, np.finfo(np.float32).max, (4,))
    with pytest.raises(ValueError, match=r"bins\['0'\] is 5, but its number has no finite bounds"):
        ao.wrappers.Discretise(env, [5, 5, 5, 5])


def test_rewards_of_a_given_range():
    """Every step costs, so that the end is worth having; the history has what the environment gave."""
    env = Toy(goal=11.0, step=-1.0)
    history = ao.interact(recall(), env, 60, reward_range=(-1.0, 10.0))
    assert set(history.reward.tolist()) <= {-1.0, -2.0, 9.0}
    assert (history.reward[-20:] == 9.0).all()
    with pytest.raises(ValueError, match=r"is 10, outside \[0, 1\]: give reward_range=\(low, high\)"):
        ao.interact(recall(), Toy(goal=10.0), 60)


def test_a_range_that_is_learned_says_when_it_widens():
    words = r"rewards of episode \d+ left \[-?\d+, \d+\]: the range is \[-?\d+, \d+\] from now on"
    with pytest.warns(UserWarning, match=words) as told:
        history = ao.interact(recall(), Toy(goal=11.0, step=-1.0), 80, reward_range="learn")
    assert 1 <= len(told) <= 4
    assert all(re.fullmatch(words, str(each.message)) for each in told)
    assert (history.reward[-20:] == 9.0).all()


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.filterwarnings("ignore")
def test_what_is_remembered_of_rewards_is_brought_to_a_wider_range(name):
    """As if the rewards had been shown in the wider range all the time, up to rounding."""
    agent = EVERY[name]()
    env = Toy(goal=0.5, step=0.25)
    ao.interact(agent, env, 4, reward_range=(0.0, 1.0))
    twin = saving.from_bytes(saving.to_bytes(agent))[0]
    agent.rescale_rewards(0.1, 0.5, 0.5)
    assert agent.setting.rest == 0.5
    agent.rescale_rewards(10.0, -5.0, 0.0)
    for mine, other in zip(arrays(agent.kept), arrays(twin.kept), strict=True):
        assert mine == pytest.approx(other)


def arrays(record):
    """Every array of floats in what an agent keeps."""
    if isinstance(record, np.ndarray):
        yield from [record] if record.dtype == np.float64 else []
    elif isinstance(record, list | dict):
        for one in record.values() if isinstance(record, dict) else record:
            yield from arrays(one)
    elif hasattr(record, "__dataclass_fields__"):
        for name in record.__dataclass_fields__:
            yield from arrays(getattr(record, name))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ((1.0, 1.0), r"reward_range is \(1, 1\), and low must be below high"),
        ("wide", "reward_range must be one of 'learn', not 'wide'"),
        (5.0, r'reward_range is 5.0, neither \(low, high\) nor "learn"'),
    ],
)
def test_ranges_that_are_none(wrong, words):
    with pytest.raises(ValueError, match=words):
        ao.interact(recall(), Toy(), 1, reward_range=wrong)


@pytest.mark.parametrize("terminal", ["end", "restart"])
@pytest.mark.parametrize("bounds", [(-100.0, -1.0), (1.0, 2.0)])
def test_ranges_without_nothing_in_them(bounds, terminal, tmp_path):
    """A restart earns 0, which is then outside the range of what a step may earn; and steps stay within it."""
    low, high = bounds
    for agent in (recall(), ao.agents.Pooled(ao.learning.Practical(), **LONG), ao.agents.UCRL2(20, rewards="unknown")):
        history = ao.interact(agent, Toy(goal=high - low, step=low), 6, reward_range=bounds, terminal=terminal)
        assert len(history) == 6
        assert 0.0 <= agent.setting.rest <= 1.0
        ao.save(agent, tmp_path / "agent.zip")
        ao.load_agent(tmp_path / "agent.zip")
    with pytest.raises(ValueError, match=rf"is 0, outside \[{low:g}, {high:g}\]"):
        ao.interact(recall(), Toy(), 1, reward_range=bounds)


class Cut(gym.Env):
    """A row of five states, right and left, that never ends but is cut off after seven steps."""

    observation_space, action_space = spaces.Discrete(5), spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state, self.steps = 0, 0
        return 0, {}

    def step(self, action):
        self.state, self.steps = min(max(self.state + (1 if action else -1), 0), 4), self.steps + 1
        return self.state, float(self.state == 4), False, self.steps == 7, {}


def test_a_limit_of_time_teaches_no_transition_that_does_not_exist():
    agent = ao.agents.Pooled(ao.learning.Practical(), 200, rewards="unknown")
    history = ao.interact(agent, Cut(), 10, terminal="restart")
    assert (history["learning_steps"] == 200).all()
    starts, states, _ = agent.kept.known[0].counts.to_lists()
    for pair in range(10):
        expected = min(max(pair // 2 + (1 if pair % 2 else -1), 0), 4)
        assert set(states[starts[pair] : starts[pair + 1]].tolist()) <= {expected}


def test_an_episode_restarts_up_to_its_horizon():
    history = ao.interact(recall(90), Toy(), 10, terminal="restart")
    assert (history["identification_steps"] + history["learning_steps"] == 90).all()
    assert history.reward[-1] >= 29  # of 30: two steps to the goal, and one back to the start


class Changing(Toy):
    """Which action leads on from the start changes at reset, but not at a restart."""

    def __init__(self):
        super().__init__()
        self.metadata = {**self.metadata, "restart": True}

    def reset(self, *, seed=None, options=None):
        answer = super().reset(seed=seed)
        if not (options or {}).get("restart"):
            right = int(self.np_random.integers(2))
            self.act = lambda action: int(action == right if self.state == 0 else action)
        return answer


def test_an_environment_whose_world_changes_at_reset_keeps_it_when_it_restarts():
    history = ao.interact(recall(300), Changing(), 30, terminal="restart")
    assert (history.reward[-10:] >= 90).all()


def test_what_make_env_may_be():
    given = [Toy(), Toy(act=lambda action: 1 - action)]
    history = ao.interact(recall(), given, 40)
    assert set(history["task"].tolist()) == {0, 1}
    assert not any(env.closed for env in given)  # who made them closes them
    made = []
    ao.interact(recall(), lambda k: made.append(Toy()) or made[-1], 3)
    assert all(env.closed for env in made)
    assert (ao.interact(recall(), "FrozenLake-v1", 2)["task"] == -1).all()
    assert (ao.interact(recall(), ["FrozenLake-v1"], 2)["task"] == 0).all()
    for wrong, words in (
        (3, "make_env is 3; it must be an environment, the id of one, several of these, or a function of the ep"),
        ([], r"make_env is \[\]; it must be an environment"),
        (Toy, r"make_env is the class Toy; give an environment, Toy\(...\), or a function: lambda k: Toy\("),
        (lambda k: None, "make_env gave None for episode 0, not an environment"),
        (
            [Toy(), Toy(action_space=spaces.Discrete(3))],
            r"make_env\[1\] has the action_space Discrete\(3\), that of make_env\[0\] is Discrete\(2\)",
        ),
        ([Toy(), 5], r"make_env\[1\] is 5, neither an environment nor the id of one"),
        ("FrozenLake-v99", "make_env is 'FrozenLake-v99', which Gymnasium cannot make"),
    ):
        with pytest.raises(ValueError, match=words):
            ao.interact(recall(), wrong, 2)


def test_what_is_missing_is_explained():
    words = "an environment, the id of one, several of these, or a function of the episode's number that gives one"
    for given in ((recall(), Toy()), (recall(),)):
        with pytest.raises(TypeError) as refused:
            ao.interact(*given)
        assert str(refused.value).startswith("interact(agent, make_env, episodes) needs ")
        assert f"make_env is {words}; episodes is how many to play" in str(refused.value)
    with pytest.raises(TypeError, match="unexpected keyword argument 'episode'"):
        ao.interact(recall(), Toy(), 3, episode=3)
    with pytest.raises(RuntimeError, match="for episode 0; it must take the episode's number, as lambda k"):
        ao.interact(recall(), lambda: Toy(), 3)
    with pytest.raises(RuntimeError, match=r"make_env raised ZeroDivisionError \(division by zero\) for episode 0$"):
        ao.interact(recall(), lambda k: 1 / k, 3)


def test_gymnasium_warns_without_colours(recwarn):
    class Warned(Toy):
        def reset(self, **options):
            gym.logger.warn("mind the %s", "gap")
            return super().reset(**options)

    ao.interact(recall(), Warned(), 1)
    assert "WARN: mind the gap" in [str(warning.message) for warning in recwarn]
    gym.logger.warn("as before")
    assert "\x1b[33m" in str(recwarn[-1].message)


def test_an_agent_that_must_be_told_the_task_is_told_which_of_several_environments_it_is():
    """In opposite environments a learner that is told earns everything in the end, and a pooled one cannot."""
    given = [Toy(), Toy(act=lambda action: 1 - action)]
    told = ao.agents.OracleLearner(20, rewards="unknown")
    history = ao.interact(told, given, 40)
    assert set(history["task"].tolist()) == {0, 1}
    assert history.reward[-20:].mean() == 1.0
    assert sorted(told.kept.known) == [0, 1]
    again = saving.from_bytes(saving.to_bytes(told))[0]
    assert ao.interact(again, given, 10).reward.mean() == 1.0
    pooled = ao.interact(ao.agents.Pooled(ao.learning.Practical(), **LONG), given, 40)
    assert pooled.reward[-20:].mean() < 0.8
    for unknown in (lambda k: given[k % 2], given[0]):
        with pytest.raises(ValueError, match="OracleLearner must be told the task, and an environment does not say it"):
            ao.interact(ao.agents.OracleLearner(20, rewards="unknown"), unknown, 4)


def lakes():
    maps = [generate_random_map(4, seed=seed) for seed in (1, 2)]
    return [gym.make("FrozenLake-v1", desc=each, is_slippery=False) for each in maps]


def test_going_on_is_the_same_as_never_having_stopped(tmp_path):
    whole, first = recall(), recall()
    history = ao.interact(whole, lakes(), 30, seed=4)
    before = ao.interact(first, lakes(), 12, seed=4)
    ao.save(first, tmp_path / "agent.zip")
    before.write(tmp_path / "before.parquet")
    again = ao.load_agent(tmp_path / "agent.zip")
    for episodes, resume in ((12, first), (18, again)):
        assert resume.completed == 12
        kind = ao.History.read(tmp_path / "before.parquet") if episodes == 12 else None
        after = ao.interact(resume, lakes(), 30 if kind is not None else 18, seed=4, resume=kind)
        assert len(after) == (30 if kind is not None else 18)
        # K is part of the proofs, so the run that was begun for 12 episodes may differ in what it proves, not in draws.
        assert after["task"].tolist() == history["task"][-len(after) :].tolist()
        assert after["episode"].tolist() == list(range(30))[-len(after) :]


def test_a_run_that_was_stopped_goes_on_as_if_it_had_not_been():
    grid = ao.worlds.gridworld()
    envs = [WorldEnv(world, start=5) for world in grid][:2]

    def sequential():  # its evidence must be stronger the more episodes there are
        return ao.agents.SequentialAOMultiRL(0.1, 1000, 1.299999, [(1, 0), (2, 1), (8, 3)], rewards="unknown")

    whole = ao.interact(sequential(), envs, 12)
    assert set(whole["cluster"].tolist()) == {0, 1}
    agent = sequential()
    before = ao.interact(agent, envs, 12, stop=4)
    assert (len(before), agent.completed, agent.setting.episodes) == (4, 4, 12)
    for wrong in (4, 13):
        with pytest.raises(ValueError, match=f"stop must be between 5 and 12, not {wrong}"):
            ao.interact(agent, envs, 12, stop=wrong, resume=before)
    after = ao.interact(agent, envs, 12, stop=7, resume=before)
    assert ao.interact(agent, envs, 12, resume=after) == whole


@pytest.mark.parametrize("known", [True, False])
def test_clusters_of_before_are_recognised_and_judged_where_their_task_is_known(known):
    grid = ao.worlds.gridworld()
    envs = [WorldEnv(world, start=5) for world in grid][:2]
    agent = ao.agents.SequentialAOMultiRL(0.1, 1000, 1.299999, [(1, 0), (2, 1), (8, 3)], rewards="unknown")
    ao.interact(agent, envs if known else lambda k: envs[k % 2], 8)
    assert len(agent.clusters) == 2
    again = saving.from_bytes(saving.to_bytes(agent))[0]
    history = ao.interact(again, envs, 8)
    assert (history["cluster"] >= 0).all()
    assert history.misclustered == 0
    swapped = ao.interact(again, envs[::-1], 8, resume=True)
    assert swapped.misclustered == (8 if known else 0)  # told another task, every old cluster is a wrong one


def test_an_agent_never_forgets_in_silence():
    agent = recall()
    ao.interact(agent, Toy(), 20)
    with pytest.raises(ValueError, match="agent remembers 20 episodes: give resume=True or their history to go on"):
        ao.interact(agent, Toy(), 20)
    assert agent.completed == 20
    assert ao.interact(agent, Toy(), 10, resume=True)["episode"].tolist() == list(range(20, 30))
    assert ao.interact(agent, Toy(), 10, forget=True)["episode"].tolist() == list(range(10))
    for wrong, words in (
        ({"resume": True, "forget": True}, "forget is True, and resume is given"),
        ({"resume": 3}, "resume is 3, neither a History nor True"),
        ({"resume": ao.interact(recall(), Toy(), 3)}, "resume has 3 episodes, but the agent has completed 10"),
        ({"resume": True, "reward_range": (0.0, 9.0)}, r"reward_range is \(0, 9\), but the agent remembers rewards of"),
        ({"resume": True, "states": 99}, "states is given, but the agent remembers the 4 of a space"),
    ):
        with pytest.raises(ValueError, match=words):
            ao.interact(agent, Toy(), 5, **wrong)
    other = ao.interact(recall(), Toy(), 10, seed=9)
    with pytest.raises(ValueError, match="resume is of another run: its seed is 9, not 0"):
        ao.interact(agent, Toy(), 20, resume=other)


def test_ctrl_c_keeps_what_is_over():
    class Stopped(Toy):
        count = 0

        def step(self, action):
            self.count += 1
            if self.count == 50:
                signal.raise_signal(signal.SIGINT)
            return super().step(action)

    agent = recall()
    with pytest.warns(UserWarning, match=r"stopped after \d+ of 100 episodes"):
        history = ao.interact(agent, Stopped(), 100)
    assert 0 < len(history) == agent.completed < 50
    assert len(ao.interact(agent, Toy(), 100, resume=history)) == 100


def test_playing_by_hand():
    agent, env = recall(), Toy()
    for number in range(40):
        state, _ = env.reset(seed=number)
        game = agent.play(state, n_states=4, n_actions=2)
        while not game.over:
            state, reward, terminated, _, _ = env.step(game.act())
            game.observe(state, reward, terminated)
        assert game.reward == (1.0 if env.state == 3 else 0.0)
    assert agent.completed == 40
    assert game.reward == 1.0
    game = agent.play(0)
    assert game.belief.world == 0
    assert game.belief.sure > 0.9
    assert sum(game.belief.shares.values()) == pytest.approx(1.0, abs=1e-5)
    game.give_up()
    assert agent.completed == 40
    game = agent.play(0)
    game.act()
    game.stop()
    assert (game.over, agent.completed) == (True, 41)
    assert ao.agents.Random(5).play(0, n_states=3, n_actions=2).belief is None
    for wrong, words in (
        ({"n_states": 5}, "n_states is 5, but the agent began with 4"),
        ({"start": 9}, "start must be between 0 and 3, not 9"),
    ):
        with pytest.raises(ValueError, match=words):
            agent.play(**{"start": 0, **wrong})
    with pytest.raises(ValueError, match="n_states must be"):
        recall().play(0)
    with pytest.raises(ValueError, match="Optimal must be told the world, and nobody says it in a game"):
        ao.agents.Optimal(5).play(0, n_states=3, n_actions=2)


def test_games_go_on_after_the_episodes_that_were_planned():
    agent = recall(3)
    for _ in range(5):
        game = agent.play(0, n_states=4, n_actions=2, episodes=2)
        while not game.over:
            game.act()
            game.observe(1, 0.0)
    assert (agent.completed, agent.setting.episodes) == (5, 8)


def test_a_history_says_what_happened():
    lines = repr(ao.interact(recall(), [Toy(), Toy()], 40)).split("\n")
    assert len(lines) == 5
    assert lines[0] == "Recall: 40 episodes"
    assert lines[1].startswith("reward: ")
    assert lines[2].startswith("steps: ")
    assert "2 to" in lines[2] or "1 to 2" in lines[2]
    assert re.fullmatch(
        r"worlds told apart: \d+ clusters?, \d+ episodes in a wrong one; \d+ taken for one (world|of \d+ worlds), "
        r"not proven; \d+ in doubt, \d+ of them lately",
        lines[3],
    )
    assert lines[4] == "regret: not known, as nobody knows the worlds"
    history = ao.interact(recall(), Toy(), 3)
    with pytest.raises(ValueError, match="the regret cannot be said: nobody knows the worlds of this run"):
        history.regret()
    grid = ao.run(ao.agents.Random(20), ao.worlds.gridworld(), ao.streams.uniform(), 4)
    assert repr(grid).split("\n")[4].startswith("regret: ")
    assert repr(grid).split("\n")[3] == "worlds told apart: this agent does not"
    part = ao.run(ao.agents.Random(20), ao.worlds.gridworld(), ao.streams.uniform(), 4, record=[])
    with pytest.raises(ValueError, match="the regret cannot be said: it was not recorded"):
        part.regret()


def test_nothing_is_said_without_need():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ao.interact(recall(), Toy(), 5)
