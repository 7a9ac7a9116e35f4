"""One episode of an agent in a world, step by step, with everything that happened."""

from typing import NamedTuple

from aomultirl.engine.interacting import Session
from aomultirl.engine.random import streams
from aomultirl.worlds.environment import WorldEnv


class Step(NamedTuple):
    """What happened in one step."""

    state: int
    action: int
    successor: int
    reward: float
    ended: bool


def play(agent, world, start, seed, task=None, noisy=True):
    """The steps of an episode; the agent has begun its run."""
    return play_and_report(agent, world, start, seed, task, noisy)[0]


def play_and_report(agent, world, start, seed, task=None, noisy=True):
    """The steps of an episode, and what the agent says of it."""
    source, own = streams(seed, 2)
    env = WorldEnv(world, start, source, noisy)
    n_states, n_actions = agent.setting.n_states, agent.setting.n_actions
    session, steps = Session(agent.episode(start, own, task), n_states, n_actions, int(env.reset()[0]), own), []
    while not session.over:
        state, action = session.state, session.act()
        successor, reward, ended, *_ = env.step(action)
        session.observe(successor, reward, ended)
        steps.append(Step(int(state), int(action), int(successor), float(reward), bool(ended)))
    return steps, session.report
