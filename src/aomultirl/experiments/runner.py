"""Run an agent through a stream of episodes: in the simulator, or with anyone's Gymnasium environment.

Every run is a function of its seed.  The sources of randomness are spawned by purpose: the stream of tasks, and for
each episode the world, the agent and the evaluation.  Agents with the same seed meet the same tasks and worlds' draws.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import aomultirl
from aomultirl import checks
from aomultirl.agents.base import NOTHING, Agent, Report, Setting
from aomultirl.engine import planning
from aomultirl.engine.counts import CountTable
from aomultirl.engine.interacting import Session
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Fixed, Phase, Ran, Simulator, follow
from aomultirl.experiments.history import History, Row
from aomultirl.mdp import MDP, ModelSet
from aomultirl.streams import Past, Stream

if TYPE_CHECKING:
    from gymnasium import Env

PURPOSES = ("stream", "world", "agent", "evaluation")


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
    about = _about(agent, seed, episodes)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(PURPOSES.index("stream"),)))
    stream.begin(models, episodes, rng)
    judge = _Judge(models, episode_streams(seed, "evaluation", 2 * episodes))
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
    return History.of(rows, about)


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
    return History.of(rows, about)


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


class _Judge:
    """Knows the worlds, and computes what no agent may see: exact values, regret, and who is in the wrong cluster."""

    def __init__(self, models: ModelSet, sources: NDArray[np.uint64]) -> None:
        self.models, self.sources = models, sources
        self.stands_for: dict[int, int] = {}

    def row(self, k: int, task: int, start: int, report: Report, ran: list[Ran]) -> Row:
        world = self.models[task]
        steps = sum(one.outcome.steps for one in ran)
        value = sum(self._value(world, one) for one in ran if one.phase.part == "learning")
        split = _split(ran)
        evaluation = self._evaluate(world, start, report, self.sources[2 * k : 2 * k + 2])
        return Row(
            k,
            task,
            start,
            report.cluster,
            report.new_cluster,
            self._misclustered(task, report),
            report.exploration_ok,
            *split,
            value,
            float(world.first_values(steps)[start]) - split[2] - value,
            *evaluation,
        )

    @staticmethod
    def _value(world: MDP, one: Ran) -> float:
        """The exact value of a phase that follows a plan, from the state it was entered in; else what it earned."""
        table, steps = one.phase.behaviour.table, one.phase.steps
        if not isinstance(one.phase.behaviour, Fixed) or steps == 0:
            return one.outcome.reward
        plan = table.plan.reshape(-1, world.n_states)
        return float(planning.evaluate(world.planning_tables, world.gains, plan, steps)[0, one.entered])

    @staticmethod
    def _evaluate(world: MDP, start: int, report: Report, sources: NDArray[np.uint64]) -> tuple[float, float]:
        """The paper's metric, sampled and exact."""
        plan, horizon = report.evaluation, report.evaluation_horizon
        if plan is None or horizon == 0:
            return np.nan, np.nan
        simulator = Simulator(world.alias_tables, world.gains, start, sources[0], sources[1])
        phase = Phase(follow(plan), horizon, CountTable(world.n_states * world.n_actions), NOTHING)
        sampled = simulator.run(phase).reward
        table = plan.reshape(-1, world.n_states)
        exact = planning.evaluate(world.planning_tables, world.gains, table, horizon)[0, start]
        return sampled, float(exact)

    def _misclustered(self, task: int, report: Report) -> bool:
        """A cluster stands for the task of the episode that made it."""
        if report.cluster < 0:
            return False
        if report.new_cluster:
            known = task in self.stands_for.values()
            self.stands_for[report.cluster] = task
            return known
        if report.cluster not in self.stands_for:
            raise ValueError(f"an episode was put in cluster {report.cluster}, which no episode made")
        return self.stands_for[report.cluster] != task


def _split(ran: list[Ran]) -> tuple[int, int, float, float]:
    """(identification steps, learning steps, clustering reward, learning reward)."""
    steps = {"clustering": 0, "learning": 0}
    earned = {"clustering": 0.0, "learning": 0.0}
    for one in ran:
        steps[one.phase.part] += one.outcome.steps
        earned[one.phase.part] += one.outcome.reward
    return steps["clustering"], steps["learning"], earned["clustering"], earned["learning"]


def _unjudged(k: int, start: int, report: Report, ran: list[Ran]) -> Row:
    """A row where nobody knows the world."""
    unknown = (np.nan,) * 4
    return Row(k, -1, start, report.cluster, report.new_cluster, False, report.exploration_ok, *_split(ran), *unknown)


def _about(agent: Agent, seed: int, episodes: int) -> dict[str, Any]:
    parameters = {name: repr(value) for name, value in agent.parameters().items()}
    return {
        "agent": type(agent).__name__,
        "parameters": parameters,
        "seed": seed,
        "episodes": episodes,
        "version": aomultirl.__version__,
    }


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
