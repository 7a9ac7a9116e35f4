"""Run an agent with anyone's Gymnasium environments, of which nobody knows more than what they show."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.agents.base import Agent, Report, Setting
from aomultirl.engine.interacting import Session
from aomultirl.engine.stepping import Ran
from aomultirl.experiments.environments import Environments, Player
from aomultirl.experiments.history import History, Row
from aomultirl.experiments.judge import split
from aomultirl.experiments.provenance import identity, left_behind
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
        gives the environment of episode k; it may give the same one again.  All are closed in the end, whatever
        happens, and where there are more than 64, those met longest ago before.
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
    environments = Environments(make_env)
    with environments.closed_in_the_end(), progress_bar(progress, type(agent).__name__, episodes) as advance:
        for k in range(episodes):
            player = environments.player(k)
            sizes = player.n_states, player.n_actions
            first = (agent.setting.n_states, agent.setting.n_actions) if k > 0 else sizes
            if sizes != first:
                words = f"has {sizes[0]} states and {sizes[1]} actions, that of episode 0 has {first[0]} and {first[1]}"
                raise ValueError(f"the environment of episode {k} {words}")
            if "task" in agent.told:
                raise ValueError(f"{type(agent).__name__} must be told the task, and an environment does not say it")
            if k == 0:
                player.check_memory(agent)
            start = player.reset(int(env_streams[k][0] >> np.uint64(1)))
            with player.memory_named(agent):
                if k == 0:
                    agent.begin(Setting(*sizes, _read_rewards(rewards, *sizes), episodes))
                    agent.completed = 0
                    about = {**identity(agent, seed, episodes), "recorded": []}
                session = Session(agent.episode(start, agent_streams[k]), *sizes, start, agent_streams[k])
                _play(session, player, most)
            check_report(agent, session.report)
            agent.completed = k + 1
            rows.append(_unjudged(k, start, session.report, session.ran))
            advance()
    return History.of(rows, {**about, **left_behind(agent, episode_streams(seed, "memory", 1)[0], {})})


def _play(session: Session, player: Player, most: int | None) -> None:
    """Step through one episode; whatever fails, the agent's memory stays as it was."""
    try:
        while not session.over:
            if most is None:
                player.check_wait(session.steps_left)
            state, reward, over = player.step(session.act(), session.learns_rewards)
            session.observe(state, reward)
            if over or player.steps == most:
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


def _unjudged(k: int, start: int, report: Report, ran: list[Ran]) -> Row:
    """A row where nobody knows the world."""
    unknown, told = (np.nan,) * 6, (report.certified, report.abstained)
    return Row(
        k, -1, start, report.cluster, report.new_cluster, False, report.exploration_ok, *split(ran), *unknown, *told
    )
