"""Run an agent through a stream of episodes: in the simulator, or with anyone's Gymnasium environment.

Every run is a function of its seed.  The sources of randomness are spawned by purpose: the stream of tasks, and for
each episode the world, the agent and the evaluation.  Agents with the same seed meet the same tasks and worlds' draws.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import aomultirl
from aomultirl import checks
from aomultirl.agents.base import Agent, Report, Setting
from aomultirl.engine.interacting import Session
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Ran, Simulator
from aomultirl.experiments.history import History, Row
from aomultirl.experiments.judging import Judge, split
from aomultirl.identifying.threshold import largest_distance
from aomultirl.mdp import ModelSet
from aomultirl.streams import Past, Stream

if TYPE_CHECKING:
    from gymnasium import Env

PURPOSES = ("stream", "world", "agent", "evaluation", "memory")
BOUND_POINTS = 25


def episode_streams(seed: int, purpose: str, episodes: int) -> NDArray[np.uint64]:
    """The random streams of a purpose, one an episode, (K, 4)."""
    return streams(np.random.SeedSequence(seed, spawn_key=(PURPOSES.index(purpose),)), episodes)


def run(
    agent: Agent,
    models: ModelSet,
    stream: Stream,
    episodes: int,
    seed: int = 0,
    *,
    noisy_rewards: bool = False,
    progress: bool = False,
) -> History:
    """Run ``agent`` for ``episodes`` episodes in the simulator.

    Parameters
    ----------
    noisy_rewards
        rewards are 0 or 1 with mean r(s, a), instead of r(s, a) itself.
    progress
        show a progress bar, if this is a terminal.
    """
    episodes = checks.integer("episodes", episodes, least=1)
    seed = checks.integer("seed", seed, least=0)
    if not isinstance(models, ModelSet):
        raise ValueError(f"models is {models!r}, not a ModelSet")
    if not isinstance(stream, Stream):
        raise ValueError(f"stream is {stream!r}, not a stream such as ao.streams.uniform()")
    _check_agent(agent)
    agent.begin(
        Setting(
            models.n_states,
            models.n_actions,
            models.rewards,
            episodes,
            models if "models" in agent.told else None,
        )
    )
    about = {**_about(agent, seed, episodes), "noisy_rewards": noisy_rewards, "world": models.origin}
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(PURPOSES.index("stream"),)))
    stream.begin(models, episodes, rng)
    about["stream"] = repr(stream)
    judge = Judge(models, episode_streams(seed, "evaluation", 2 * episodes))
    world_streams = episode_streams(seed, "world", episodes)
    agent_streams = episode_streams(seed, "agent", episodes)
    past: list[Past] = []
    rows: list[Row] = []
    with _progress(progress, type(agent).__name__, episodes) as advance:
        for k in range(episodes):
            task, start = stream.next(past)
            world = models[task]
            simulator = Simulator(
                world.alias_tables, world.gains, start, world_streams[k], agent_streams[k], noisy_rewards
            )
            told = task if "task" in agent.told else None
            report, ran = simulator.drive(agent.episode(start, agent_streams[k], told))
            _check_report(agent, report)
            rows.append(judge.row(k, task, start, report, ran))
            past.append(Past(task, start, report.cluster))
            advance()
    about["bound"] = _bound(agent, episodes)
    return History.of(rows, {**about, **_left_behind(agent, seed, judge.stands_for)})


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
    episodes = checks.integer("episodes", episodes, least=1)
    seed = checks.integer("seed", seed, least=0)
    most = None if horizon is None else checks.integer("horizon", horizon, least=1)
    _check_agent(agent)
    agent_streams, env_streams = (episode_streams(seed, purpose, episodes) for purpose in ("agent", "world"))
    rows: list[Row] = []
    with _progress(progress, type(agent).__name__, episodes) as advance:
        for k in range(episodes):
            env = make_env(k)
            n_states, n_actions = (_size(env, noun) for noun in ("observation_space", "action_space"))
            if k == 0:
                if "task" in agent.told:
                    raise ValueError(
                        f"{type(agent).__name__} must be told the task, and an environment does not say it"
                    )
                agent.begin(Setting(n_states, n_actions, _read_rewards(rewards, n_states, n_actions), episodes))
                about = _about(agent, seed, episodes)
            elif (n_states, n_actions) != (agent.setting.n_states, agent.setting.n_actions):
                raise ValueError(f"the environment of episode {k} has {n_states} states and {n_actions} actions")
            start = int(env.reset(seed=int(env_streams[k][0] >> np.uint64(1)))[0])
            session = Session(agent.episode(start, agent_streams[k]), n_states, n_actions, start, agent_streams[k])
            _play(session, env, most)
            _check_report(agent, session.report)
            rows.append(_unjudged(k, start, session.report, session.ran))
            advance()
    return History.of(rows, {**about, **_left_behind(agent, seed, {})})


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


def _check_agent(agent: object) -> None:
    if not isinstance(agent, Agent):
        raise ValueError(f"agent is {agent!r}, not an agent such as ao.agents.Random(200)")


def _read_rewards(rewards: Any, n_states: int, n_actions: int) -> NDArray[np.float64] | None:
    if rewards is None:
        return None
    table = checks.finite_array("rewards", rewards, lowest=0.0, highest=1.0)
    if table.shape != (n_states, n_actions):
        raise ValueError(f"rewards must have shape ({n_states}, {n_actions}), not {table.shape}")
    return table


def _check_report(agent: Agent, report: object) -> None:
    if not isinstance(report, Report):
        raise ValueError(f"an episode of {type(agent).__name__} returned {report!r}, not a Report")


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


def _about(agent: Agent, seed: int, episodes: int) -> dict[str, Any]:
    parameters = {name: repr(value) for name, value in agent.parameters().items()}
    return {
        "agent": type(agent).__name__,
        "parameters": parameters,
        "seed": seed,
        "episodes": episodes,
        "version": aomultirl.__version__,
    }


def _left_behind(agent: Agent, seed: int, stands_for: Mapping[int, int]) -> dict[str, Any]:
    """What the agent found, and what it remembers of each cluster and the world that it stands for."""
    memory = agent.memory(episode_streams(seed, "memory", 1)[0])
    records = [cluster.identifying.record for cluster in memory.clusters]
    return {
        "findings": agent.findings(),
        "clusters": [
            {
                "task": stands_for.get(number, -1),
                "plan": cluster.plan.tolist(),
                "visits": int(cluster.identifying.to_lists()[2].sum()),
            }
            for number, cluster in enumerate(memory.clusters)
        ],
        "distances": [[largest_distance(one, other, memory.pairs) for other in records] for one in records],
        "threshold": memory.threshold,
    }


def _bound(agent: Agent, episodes: int) -> dict[str, list[float]] | None:
    """The theorem's bound on the regret after k episodes, for some k."""
    points = sorted({int(k) for k in np.linspace(1, episodes, BOUND_POINTS)})
    bounds = [agent.regret_bound(k) for k in points]
    if any(bound is None for bound in bounds):
        return None
    parts = [(b.total, b.linear, b.root + b.constant) for b in bounds if b is not None]
    total, clustering, learning = (list(part) for part in zip(*parts, strict=True))
    return {"episodes": [float(k) for k in points], "total": total, "clustering": clustering, "learning": learning}


@contextmanager
def _progress(wanted: bool, name: str, episodes: int) -> Iterator[Callable[[], None]]:
    """A progress bar in a terminal; nothing anywhere else."""
    if not wanted:
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True, disable=not Console(stderr=True).is_terminal) as bar:
        task = bar.add_task(name, total=episodes)
        yield lambda: bar.advance(task)
