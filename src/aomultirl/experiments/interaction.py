"""Run an agent with anyone's Gymnasium environments, of which nobody knows more than what they show."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.agents.base import Agent, Report, Setting
from aomultirl.engine.interacting import Session
from aomultirl.engine.stepping import Ran
from aomultirl.experiments.about import describe, left_behind
from aomultirl.experiments.history import History, Row
from aomultirl.experiments.judging import split
from aomultirl.experiments.runner import check_is_agent, check_report, episode_streams, progress_bar, read_episodes

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
        gives the environment of episode k.
    horizon
        end every episode after so many steps, if the agent does not end it before.
    rewards
        (S, A), if they are known; otherwise the agent must take ``rewards="unknown"``.
    """
    episodes = read_episodes("episodes", episodes)
    seed = checks.seed("seed", seed)
    most = None if horizon is None else checks.integer("horizon", horizon, least=1)
    check_is_agent(agent)
    agent_streams, env_streams = (episode_streams(seed, purpose, episodes) for purpose in ("agent", "world"))
    rows: list[Row] = []
    with progress_bar(progress, type(agent).__name__, episodes) as advance:
        for k in range(episodes):
            env = make_env(k)
            n_states, n_actions = (_size(env, noun) for noun in ("observation_space", "action_space"))
            if k == 0:
                if "task" in agent.told:
                    raise ValueError(
                        f"{type(agent).__name__} must be told the task, and an environment does not say it"
                    )
                agent.begin(Setting(n_states, n_actions, _read_rewards(rewards, n_states, n_actions), episodes))
                agent.completed = 0
                about = {**describe(agent, seed, episodes), "recorded": []}
            elif (n_states, n_actions) != (agent.setting.n_states, agent.setting.n_actions):
                raise ValueError(f"the environment of episode {k} has {n_states} states and {n_actions} actions")
            start = int(env.reset(seed=int(env_streams[k][0] >> np.uint64(1)))[0])
            session = Session(agent.episode(start, agent_streams[k]), n_states, n_actions, start, agent_streams[k])
            _play(session, env, most)
            check_report(agent, session.report)
            agent.completed = k + 1
            rows.append(_unjudged(k, start, session.report, session.ran))
            advance()
    return History.of(rows, {**about, **left_behind(agent, episode_streams(seed, "memory", 1)[0], {})})


def _play(session: Session, env: Any, most: int | None) -> None:
    """Step through one episode; whatever fails, the agent's memory stays as it was."""
    steps = 0
    try:
        while not session.over:
            successor, reward, terminated, truncated, _ = env.step(session.act())
            session.observe(int(successor), float(reward))
            steps += 1
            if terminated or truncated or steps == most:
                session.stop()
    except BaseException:
        session.close()
        raise


def _read_rewards(rewards: Any, n_states: int, n_actions: int) -> NDArray[np.float64] | None:
    if rewards is None:
        return None
    table = checks.finite_array("rewards", rewards, lowest=0.0, highest=1.0)
    if table.shape != (n_states, n_actions):
        raise ValueError(f"rewards must have shape ({n_states}, {n_actions}), not {table.shape}")
    return table


def _size(env: Any, noun: str) -> int:
    from gymnasium.spaces import Discrete

    space = getattr(env, noun, None)
    if not isinstance(space, Discrete) or space.start != 0:
        raise ValueError(f"the environment has the {noun} {space}, not a Discrete one that begins at 0")
    return int(space.n)


def _unjudged(k: int, start: int, report: Report, ran: list[Ran]) -> Row:
    """A row where nobody knows the world."""
    unknown, told = (np.nan,) * 6, (report.certified, report.abstained)
    return Row(
        k, -1, start, report.cluster, report.new_cluster, False, report.exploration_ok, *split(ran), *unknown, *told
    )
