"""Our worlds as Gymnasium environments for anybody's agent."""

import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import aomultirl as ao
from aomultirl import gymnasium_ids
from aomultirl.worlds import drawing

IDS = [f"aomultirl/{name}-v0" for name in gymnasium_ids.REGISTERED]


def nested(depth):
    """A list in a list, and so on: what follows every level of it exceeds the depth of calls."""
    inside = []
    for _ in range(depth):
        inside = [inside]
    return inside


@pytest.mark.parametrize("name", IDS)
def test_gymnasium_finds_nothing_wrong(name):
    if name.startswith("aomultirl/ICU"):
        pytest.importorskip("icu_sepsis")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gym.make(name).unwrapped)


@pytest.mark.parametrize("mode", [None, "ansi", "rgb_array"])
def test_gymnasium_finds_nothing_wrong_with_any_list(mode):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gym.make("aomultirl/HiddenWorlds-v0", worlds=ao.worlds.gridworld(), render_mode=mode).unwrapped)
        check_env(gym.make("aomultirl/HiddenWorlds-v0", worlds=["FrozenLake-v1", "FrozenLake-v1"]).unwrapped)
        check_env(gym.make("aomultirl/Gridworld-v0", render_mode=mode).unwrapped)


def test_a_new_world_at_each_reset_and_nobody_says_which():
    env = gym.make("aomultirl/Gridworld-v0", reveal=True)
    tasks = [env.reset(seed=3 if k == 0 else None)[1]["task"] for k in range(40)]
    assert set(tasks) == {0, 1, 2, 3}
    again = gym.make("aomultirl/Gridworld-v0", reveal=True)
    assert tasks == [again.reset(seed=3 if k == 0 else None)[1]["task"] for k in range(40)]
    for _ in range(10):
        task = env.reset()[1]["task"]
        assert env.reset(options={"restart": True})[1]["task"] == task
        assert env.step(0)[4]["task"] == task
    assert "task" not in gym.make("aomultirl/Gridworld-v0").reset()[1]


def test_a_stream_says_who_comes():
    env = gym.make("aomultirl/Gridworld-v0", reveal=True, stream=ao.streams.blocks(2))
    assert [env.reset()[1]["task"] for _ in range(8)] == [0, 0, 1, 1, 2, 2, 3, 3]


def test_a_driver_that_seeds_every_episode_still_follows_the_stream():
    """Asked for an episode of a run, it is in that world in any order, and where a part of the run was done before."""
    stream = ao.streams.blocks(3)
    expected = [k // 3 % 4 for k in range(13)]
    env = gym.make("aomultirl/Gridworld-v0", reveal=True, stream=stream).unwrapped
    tasks = []
    agent = ao.agents.Random(5)

    class Noting(gym.Wrapper):
        def reset(self, **given):
            answer = self.env.reset(**given)
            tasks.append(answer[1]["task"])
            return answer

    history = ao.interact(agent, Noting(env), 8, seed=4)
    assert tasks == expected[:8]
    ao.interact(agent, Noting(gym.make("aomultirl/Gridworld-v0", reveal=True, stream=stream).unwrapped), 5, resume=True)
    assert tasks == expected
    assert len(history) == 8
    random = ao.HiddenWorlds(ao.worlds.gridworld(), reveal=True)
    of = lambda run, k: random.reset(seed=k, options={"run": run, "episode": k})[1]["task"]  # noqa: E731
    forwards = [of(7, k) for k in range(20)]
    assert forwards == [of(7, k) for k in range(19, -1, -1)][::-1]
    assert forwards != [of(8, k) for k in range(20)]
    assert random.reset(options={"restart": True})[1]["task"] == of(8, 19)
    with pytest.raises(ValueError, match="episode must be at least 0, not -1"):
        random.reset(options={"run": 7, "episode": -1})


def test_environments_do_not_disturb_each_others_streams():
    stream = ao.streams.uniform()
    one, other = (ao.HiddenWorlds(ao.worlds.gridworld(), stream, reveal=True) for _ in range(2))
    alone = [one.reset(seed=5 if k == 0 else None)[1]["task"] for k in range(12)]
    mixed = []
    for k in range(12):
        mixed.append(one.reset(seed=5 if k == 0 else None)[1]["task"])
        other.reset()
    assert mixed == alone


def test_a_sequence_has_as_many_episodes_as_it_says():
    env = ao.HiddenWorlds(ao.worlds.gridworld(), ao.streams.sequence([3, 1]), reveal=True)
    assert [env.reset()[1]["task"] for _ in range(2)] == [3, 1]
    with pytest.raises(ValueError, match="episodes is 2, and they are over"):
        env.reset()


def test_it_walks_as_its_worlds_do():
    models = ao.worlds.random_models(5, 2, 2, 3, 1.0, 0)
    env = ao.HiddenWorlds(models, reveal=True)
    seen = np.zeros((2, 5, 2, 5))
    for k in range(300):
        state, info = env.reset(seed=k)
        for step in range(20):
            action = step % 2
            after, reward, *_ = env.step(action)
            assert reward == models.rewards[state, action]
            seen[info["task"], state, action, after] += 1
            state = after
    visits = seen.sum(axis=3, keepdims=True)
    truth = np.stack([world.transitions for world in models])
    enough = visits[..., 0] > 100
    assert np.abs(seen / np.maximum(visits, 1) - truth)[enough].max() < 0.2
    assert enough.sum() > 5


def test_terminal_states_end_the_episode():
    world = ao.MDP([[[0.0, 1.0]], [[0.5, 0.5]]], [[0.0], [0.0]], terminal=[1])
    env = ao.HiddenWorlds([world])
    env.reset()
    assert env.step(0)[2] is True


def test_vector_environments_work():
    envs = gym.make_vec("aomultirl/Gridworld-v0", num_envs=3, vectorization_mode="sync")
    states, _ = envs.reset(seed=1)
    assert states.shape == (3,)
    for _ in range(5):
        states, rewards, *_ = envs.step(envs.action_space.sample())
    assert rewards.shape == (3,)
    envs.close()


def test_an_agent_of_ours_recognises_them():
    env = gym.make("aomultirl/Gridworld-v0")
    agent = ao.agents.Recall(0.05, 500, rewards="unknown")
    history = ao.interact(agent, env, 40)
    random = ao.interact(ao.agents.Random(500), env, 10)
    assert history.reward[-10:].mean() > 2 * random.reward.mean()


def test_drawings():
    env = gym.make("aomultirl/Gridworld-v0", render_mode="ansi")
    state, _ = env.reset(seed=0)
    lines = env.render().splitlines()
    assert [len(line) for line in lines] == [4] * 4
    row, column = divmod(state, 4)
    assert lines[row][column] == "@"
    assert sum(line.count("*") for line in lines) >= 1
    image = drawing.as_image(ao.worlds.gridworld()[0], 5)
    assert (image.shape, image.dtype) == ((4 * drawing.CELL, 4 * drawing.CELL, 3), np.uint8)
    middle = drawing.CELL // 2
    assert tuple(image[drawing.CELL + middle, drawing.CELL + middle]) == drawing.WALKER
    ended = ao.MDP(np.ones((2, 1, 2)) / 2, np.zeros((2, 1)), layout=(1, 2), terminal=[1])
    assert drawing.as_text(ended, 0) == "@#\n"
    assert tuple(drawing.as_image(ended, 0)[middle, drawing.CELL + middle]) == drawing.END


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ao.HiddenWorlds([]), "worlds is empty: there must be at least one"),
        (lambda: ao.HiddenWorlds([3]), r"worlds\[0\] is 3, neither a world nor an environment nor the id of one"),
        (lambda: ao.HiddenWorlds(["Nowhere-v0"]), r"worlds\[0\] is 'Nowhere-v0', which Gymnasium cannot make"),
        (lambda: ao.HiddenWorlds(ao.worlds.gridworld(), stream=3), "stream is 3, not a stream such as"),
        (lambda: ao.HiddenWorlds(ao.worlds.gridworld(), stream=nested(10**5)), "not a stream such as"),
        (
            lambda: ao.HiddenWorlds(ao.worlds.gridworld(), render_mode="human"),
            "render_mode is 'human', but these worlds draw ansi and rgb_",
        ),
        (
            lambda: ao.HiddenWorlds(["FrozenLake-v1", "FrozenLake8x8-v1"]),
            r"worlds\[1\] has the observation_space Discrete\(64\), that of worlds\[0\] is Discrete\(16\)",
        ),
        (
            lambda: gym.make("aomultirl/JAO-v0", render_mode="ansi"),
            "render_mode is 'ansi', but these worlds cannot be drawn",
        ),
    ],
)
def test_what_cannot_be(make, words):
    with pytest.raises(ValueError, match=words):
        make()
