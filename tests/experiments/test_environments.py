"""Environments that misbehave: one sentence each, the agent as it was before the episode, and all of them closed."""

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete

import aomultirl as ao
from aomultirl.agents import saving
from aomultirl.experiments import environments

STATES, ACTIONS = 4, 2


class Walk(gymnasium.Env):
    """Four states in a ring; what is given in ``odd`` comes in place of what it should answer, from step ``at`` on."""

    def __init__(self, at=3, length=10, **odd):
        self.observation_space = odd.get("observation_space", Discrete(STATES))
        self.action_space = odd.get("action_space", Discrete(ACTIONS))
        self.at, self.length, self.odd = at, length, odd
        self.closed = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = self.state = 0
        return self._answer("reset", (self._answer("start", 0), {}))

    def step(self, action):
        self.state = (self.state + int(action) + int(self.np_random.integers(2))) % STATES
        self.steps += 1
        odd = self.steps > self.at
        state, reward, over = self.state, float(self.state == 3), self.steps >= self.length
        if not odd:
            return state, reward, over, False, {}
        answer = self._answer("state", state), self._answer("reward", reward), self._answer("terminated", over), False
        return self._answer("step", (*answer, {}))

    def close(self):
        self.closed += 1
        self._answer("close", None)

    def _answer(self, name, right):
        value = self.odd.get(name, right)
        if isinstance(value, Exception):
            raise value
        return value


def recall():
    return ao.agents.Recall(0.1, 20, rewards="unknown")


def fails_in_the_third(odd, kind=ValueError, **options):
    """The sentence; three episodes go well, then one comes that does not."""
    made = []

    def make_env(k):
        made.append(Walk(**(odd if k == 3 else {})))
        return made[-1]

    agent, twin = recall(), recall()
    ao.interact(twin, lambda k: Walk(), 5, seed=2)  # the same five episodes, all of them well
    with pytest.raises(kind) as refusal:
        ao.interact(agent, make_env, 5, seed=2, **options)
    assert [env.closed for env in made] == [1] * 4
    three = recall()
    with pytest.warns(UserWarning, match="stopped after 3 of 5 episodes"):
        ao.interact(three, lambda k: Walk(**({"start": 0, "reset": (0, {})} if k < 3 else stopped())), 5, seed=2)
    assert agent.completed == 3
    assert saving.to_bytes(agent) == saving.to_bytes(three)
    assert saving.to_bytes(agent) != saving.to_bytes(twin)
    return str(refusal.value)


def stopped():
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (1.5, "must be a whole number, not 1.5"),
        ("1", "must be a whole number, not '1'"),
        (b"1", "must be a whole number, not b'1'"),
        (np.float64(2.0), "must be a whole number, not"),
        (None, "must be a whole number, not None"),
        (np.array([1, 2]), "must be a whole number, not"),
        (True, "must be a whole number, not True"),
        (4, "must be between 0 and 3, not 4"),
        (-1, "must be between 0 and 3, not -1"),
        (2**70, "must be between 0 and 3, not"),
    ],
)
def test_states_that_are_none(state, words):
    assert fails_in_the_third({"state": state}).startswith(
        f"the state of the environment of episode 3 after step 3 {words}"
    )
    assert words in fails_in_the_third({"start": state})


@pytest.mark.parametrize("state", [1, np.int64(1), np.uint8(1), np.array(1)])
def test_states_of_any_whole_kind_are_taken(state):
    assert len(ao.interact(recall(), lambda k: Walk(state=state, start=state), 2)) == 2


@pytest.mark.parametrize(
    ("reward", "words"),
    [
        (np.nan, "the reward of step 3 in the environment of episode 3 must be finite, not nan"),
        (np.inf, "the reward of step 3 in the environment of episode 3 must be finite, not inf"),
        (-np.inf, "must be finite, not -inf"),
        ("1", "must be a number, not '1'"),
        (None, "must be a number, not None"),
        (np.array([1.0]), "must be a number, not"),
        (1.5, "the reward of step 3 in the environment of episode 3 is 1.5, outside [0, 1]: give reward_range"),
        (-0.1, "the reward of step 3 in the environment of episode 3 is -0.1, outside [0, 1]"),
    ],
)
def test_rewards_that_are_none(reward, words):
    assert words in fails_in_the_third({"reward": reward})


@pytest.mark.parametrize("reward", [1, True + 0, np.float32(0.5), np.array(0.5)])
def test_rewards_of_any_kind_are_taken(reward):
    assert len(ao.interact(recall(), lambda k: Walk(reward=reward), 2)) == 2


@pytest.mark.parametrize(
    ("odd", "words"),
    [
        ({"step": (1, 0.0, False, {})}, "the environment of episode 3 answered step 3 with (1, 0.0, False, {})"),
        ({"step": None}, "answered step 3 with None, not (observation, reward, terminated, truncated, info)"),
        ({"reset": 3}, "the environment of episode 3 answered reset with 3, not (observation, info)"),
        ({"terminated": np.array([True, False])}, "terminated of step 3 in the environment of episode 3 is array("),
        ({"terminated": "yes"}, "is 'yes', neither True nor False"),
        ({"observation_space": Discrete(5)}, "episode 3 has 5 states and 2 actions, that of episode 0 has 4 and 2"),
        ({"action_space": Discrete(3)}, "episode 3 has 4 states and 3 actions, that of episode 0 has 4 and 2"),
        ({"observation_space": Box(0, 1)}, "the observation_space of the environment of episode 3 is Box("),
        ({"observation_space": Box(0, 1)}, "ao.wrappers.Discretise gives it bins"),
        ({"observation_space": None}, "is None, which is not made of Discrete, MultiDiscrete and MultiBinary"),
        ({"observation_space": Discrete(4, start=1)}, "episode 3 has other observations than those before it"),
    ],
)
def test_answers_and_spaces_that_are_none(odd, words):
    assert words in fails_in_the_third(odd)


@pytest.mark.parametrize(
    ("odd", "words"),
    [
        (
            {"step": ZeroDivisionError("by zero")},
            "the environment of episode 3 raised ZeroDivisionError (by zero) in step 3",
        ),
        ({"reset": OSError("gone\naway")}, "the environment of episode 3 raised OSError (gone away) in reset"),
        ({"start": KeyError()}, "the environment of episode 3 raised KeyError in reset"),
        ({"step": RuntimeError("x" * 10_000)}, f"raised RuntimeError ({'x' * 200}) in step 3"),
    ],
)
def test_environments_that_raise(odd, words):
    assert words in fails_in_the_third(odd, RuntimeError)


def test_the_cause_is_kept():
    with pytest.raises(RuntimeError) as refusal:
        ao.interact(recall(), lambda k: Walk(step=ZeroDivisionError("by zero")), 2)
    assert isinstance(refusal.value.__cause__, ZeroDivisionError)


def test_make_env_that_raises():
    made = [Walk()]
    with pytest.raises(RuntimeError, match=r"make_env raised IndexError \(list index out of range\) for episode 1"):
        ao.interact(recall(), lambda k: made[k], 2)
    assert made[0].closed == 1


@pytest.mark.parametrize("start", [1.5, OSError("no")])
def test_an_agent_that_has_lived_survives_a_first_environment_that_does_not_begin(start):
    agent = recall()
    ao.interact(agent, lambda k: Walk(), 3)
    before = saving.to_bytes(agent)
    with pytest.raises((ValueError, RuntimeError)):
        ao.interact(agent, lambda k: Walk(start=start), 3, forget=True)
    assert saving.to_bytes(agent) == before


def test_an_environment_that_never_ends():
    class Endless(Walk):
        def step(self, action):
            return *super().step(action)[:2], False, False, {}

    made = []

    def make_env(k):
        made.append(Endless())
        return made[-1]

    with pytest.raises(
        ValueError, match=r"may never end, and the agent asks for 1,000,000,000,000 steps; give a horizon"
    ):
        ao.interact(ao.agents.Random(10**12), make_env, 2)
    assert made[0].closed == 1
    with pytest.raises(ValueError, match=r"asks for 100,000,001 steps; give a horizon"):
        ao.interact(ao.agents.Random(10**8 + 1), make_env, 2)
    history = ao.interact(ao.agents.Random(10**12), make_env, 2, horizon=30)
    assert history["learning_steps"].tolist() == [30, 30]
    assert [env.closed for env in made] == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("agent", "states"),
    [(ao.agents.Random(5), 10**12), (ao.agents.UCRL2(5, rewards="unknown"), 10**11), (recall(), 10**10)],
)
def test_spaces_that_no_memory_holds(agent, states):
    env = Walk(observation_space=Discrete(states))
    words = (
        rf"the observation_space of the environment of episode 0 is Discrete\({states}\): {type(agent).__name__} with "
        rf"{states} states and 2 actions takes [\d.]+ TB of memory, and .+ are there; make their number smaller"
    )
    with pytest.raises(ValueError, match=f"^{words}$"):
        ao.interact(agent, lambda k: env, 2)
    assert env.closed == 1


def test_memory_that_runs_out_all_the_same():
    class Greedy(ao.agents.Random):
        def episode(self, start, stream, task=None):
            raise MemoryError("Unable to allocate 7.28 TiB")
            yield

    words = "^Greedy ran out of memory in the environment of episode 0, which has 4 states and 2 actions$"
    with pytest.raises(ValueError, match=words):
        ao.interact(Greedy(5), lambda k: Walk(), 2)


def test_an_environment_is_closed_once_however_often_it_comes():
    ring = [Walk() for _ in range(3)]
    ao.interact(recall(), lambda k: ring[k % 3], 10)
    assert [env.closed for env in ring] == [1, 1, 1]


def test_environments_that_are_made_anew_do_not_pile_up():
    made, most = [], 0

    def make_env(k):
        nonlocal most
        made.append(Walk())
        most = max(most, sum(env.closed == 0 for env in made))
        return made[-1]

    ao.interact(ao.agents.Random(3), make_env, 3 * environments.MOST_OPEN)
    assert most == environments.MOST_OPEN + 1
    assert all(env.closed == 1 for env in made)


def test_an_environment_that_cannot_be_closed_costs_nobody_the_history():
    with pytest.warns(UserWarning, match=r"an environment raised OSError \(no\) in close"):
        history = ao.interact(recall(), lambda k: Walk(close=OSError("no")), 1)
    assert len(history) == 1


def test_ctrl_c_closes_too():
    env = Walk(at=0)
    env.odd["step"] = None
    env.step = lambda action: stopped()
    with pytest.raises(KeyboardInterrupt):
        ao.interact(recall(), lambda k: env, 2)
    assert env.closed == 1
