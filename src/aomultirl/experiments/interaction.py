"""Run an agent with anyone's Gymnasium environments, of which nobody knows more than what they show."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.agents.base import Agent, Episode, Report, Setting
from aomultirl.engine.interacting import Session
from aomultirl.engine.random import RandomStream
from aomultirl.engine.stepping import Ran
from aomultirl.experiments.environments import Environments, EpisodeEnvironment
from aomultirl.experiments.episodes import EpisodeLoop, begin, unjudged_row
from aomultirl.experiments.history import History
from aomultirl.experiments.progress import bar
from aomultirl.experiments.provenance import identity, left_behind

if TYPE_CHECKING:
    from gymnasium import Env


def interact(
    agent: Agent,
    make_env: "Callable[[int], Env[Any, Any]]",
    episodes: int,
    horizon: int | None = None,
    seed: int = 0,
    *,
    rewards: NDArray[np.float64] | None = None,
    progress: bool = False,
) -> History:
    """Run ``agent`` with environments of your own, with discrete states and actions.

    Parameters
    ----------
    make_env
        gives the environment of episode k; it may give the same one again.  All are closed in the end, whatever
        happens, and where there are more than 64, those met longest ago before.
    horizon
        end every episode after so many steps, if the agent does not end it before.
    rewards
        (S, A), if they are known; otherwise the agent must take ``rewards="unknown"``.
    """
    loop = EpisodeLoop(agent, episodes, seed)
    most = None if horizon is None else checks.integer("horizon", horizon, least=1)
    about: dict[str, Any] = {}
    environments = Environments(make_env)
    shown = bar(type(agent).__name__, sys.stderr, wanted=progress, lines=False)
    with environments.closed_in_the_end(), shown as done:
        while loop.met < loop.episodes:
            number = loop.met
            env = environments.of_episode(number)
            _check_fits(agent, env)
            start = env.reset(int(loop.world_streams[number][0] >> np.uint64(1)))
            with env.memory_named(agent):
                if number == 0:
                    known = _read_rewards(rewards, env.n_states, env.n_actions)
                    begin(agent, Setting(env.n_states, env.n_actions, known, loop.episodes))
                    about = {**identity(agent, loop.seed, loop.episodes), "recorded": []}
                driver = EnvironmentDriver(env, start, loop.agent_streams[number], most)
                report, ran = loop.play(driver, start)
            loop.rows.append(unjudged_row(number, start, report, ran))
            done(loop.met, loop.episodes)
    return History.of(loop.rows, {**about, **left_behind(agent, loop.spare_stream(), {})})


def _check_fits(agent: Agent, env: EpisodeEnvironment) -> None:
    """Refuse an environment that the agent cannot play in, or not after those before it."""
    sizes = env.n_states, env.n_actions
    first = sizes if env.episode == 0 else (agent.setting.n_states, agent.setting.n_actions)
    if sizes != first:
        words = f"has {sizes[0]} states and {sizes[1]} actions, that of episode 0 has {first[0]} and {first[1]}"
        raise ValueError(f"the environment of episode {env.episode} {words}")
    if "task" in agent.told:
        raise ValueError(f"{type(agent).__name__} must be told the task, and an environment does not say it")
    if env.episode == 0:
        env.check_memory(agent)


class EnvironmentDriver:
    """Steps through an episode in an environment.

    Parameters
    ----------
    env
        the environment, reset.
    start
        the state that it is in.
    stream
        the agent's random stream.
    most
        steps after which the episode ends, if nobody ends it before; None for no limit.
    """

    def __init__(self, env: EpisodeEnvironment, start: int, stream: RandomStream, most: int | None) -> None:
        self.env, self.start, self.stream, self.most = env, start, stream, most

    def drive(self, episode: Episode) -> tuple[Report, list[Ran]]:
        """Step through to the end; whatever fails, the agent's memory stays as it was."""
        env = self.env
        session = Session(episode, env.n_states, env.n_actions, self.start, self.stream)
        try:
            while not session.over:
                if self.most is None:
                    env.check_wait(session.steps_left)
                state, reward, over = env.step(session.act(), session.learns_rewards)
                session.observe(state, reward)
                if over or env.steps == self.most:
                    session.stop()
        except BaseException:
            session.close()
            raise
        return session.report, session.ran


def _read_rewards(rewards: Any, n_states: int, n_actions: int) -> NDArray[np.float64] | None:
    if rewards is None:
        return None
    table = checks.finite_array("rewards", rewards, lowest=0.0, highest=1.0)
    if table.shape != (n_states, n_actions):
        raise ValueError(f"rewards must have shape ({n_states}, {n_actions}), not {table.shape}")
    return table
