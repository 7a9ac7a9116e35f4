"""The one loop over episodes: whoever runs an agent, in the simulator or with environments, goes through it.

Every run is a function of its seed.  The sources of randomness are spawned by purpose: the stream of tasks, and for
each episode the world, the agent and the evaluation.  Agents with the same seed meet the same tasks and worlds' draws.
So nothing but the agent has a state between two episodes.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks, sizes
from aomultirl.agents.base import Agent, Episode, Report, Setting
from aomultirl.agents.game import check_free
from aomultirl.engine.random import RandomStream, streams
from aomultirl.engine.stepping import Ran, Simulator
from aomultirl.experiments.history import Row
from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet

PURPOSES = ("stream", "world", "agent", "evaluation", "memory")
"""What random streams are for; the place of a purpose is part of the key that its streams are spawned with."""
EPISODE_BYTES = 800
"""Memory for an episode of a run: its random streams, its row of the history, its place in the past; measured."""


class Driver(Protocol):
    """What steps through an episode: the simulator, or an environment."""

    def drive(self, episode: Episode) -> tuple[Report, list[Ran]]:
        """Run an agent's episode to its end: what the agent says of it, and the phases that were run."""
        ...


class EpisodeLoop:
    """The episodes of one run of an agent, one after the other.

    Parameters
    ----------
    agent
        what acts in all of them.
    episodes
        K.
    seed
        of all randomness.

    Attributes
    ----------
    rows
        of the history, one for each episode that is over.
    agent_streams, world_streams
        random streams, uint64 (K, 4): one an episode for the agent, one for the world or the environment.
    """

    def __init__(self, agent: Agent, episodes: int, seed: int) -> None:
        self.episodes = read_episodes("episodes", episodes)
        self.seed = checks.seed("seed", seed)
        check_is_agent(agent)
        check_free(agent)
        self.agent = agent
        agent.evaluates, agent.run_facts = False, None
        self.rows: list[Row] = []
        self.agent_streams = self.streams("agent")
        self.world_streams = self.streams("world")

    @property
    def met(self) -> int:
        """How many episodes are over."""
        return len(self.rows)

    def streams(self, purpose: str, each: int = 1) -> NDArray[np.uint64]:
        """The random streams of a purpose, so many for each episode."""
        return episode_streams(self.seed, purpose, each * self.episodes)

    def spare_stream(self) -> RandomStream:
        """A stream for what is asked of the agent's memory after the last episode."""
        stream: RandomStream = episode_streams(self.seed, "memory", 1)[0]
        return stream

    def play(self, driver: Driver, start: int, task: int | None = None) -> tuple[Report, list[Ran]]:
        """Play the next episode: what the agent says of it, and the phases that were run.

        Whatever fails on the way, the agent's memory stays as it was before the episode.  Who calls adds the row.
        """
        return play(self.agent, driver, start, self.agent_streams[self.met], task)


def begin(agent: Agent, setting: Setting) -> None:
    """Have an agent begin a run: no episode of it is over, and no environment was met."""
    agent.begin(setting)
    agent.completed, agent.interface = 0, None


def check_tasks(agent: Agent, worlds: int) -> None:
    """Refuse more worlds than an agent that is told the task of each episode has room for."""
    most = agent.most_tasks
    if most is not None and worlds > most:
        words = f"is {most}, but there are {worlds} worlds, and {type(agent).__name__} is told which one an episode is"
        raise checks.Refusal("models", words)


def begin_in(agent: Agent, models: ModelSet, episodes: int) -> None:
    """Have an agent begin a run in worlds that we hold; only one that must be told them learns of more than rewards."""
    check_tasks(agent, len(models))
    told = models if "models" in agent.told else None
    begin(agent, Setting(models.n_states, models.n_actions, models.rewards, episodes, told, models.rest))


def play(
    agent: Agent, driver: Driver, start: int, stream: RandomStream, task: int | None = None
) -> tuple[Report, list[Ran]]:
    """One episode of an agent, however it is driven; the agent is told the task only if it must be."""
    report, ran = driver.drive(agent.episode(start, stream, task if "task" in agent.told else None))
    if not isinstance(report, Report):
        raise ValueError(f"an episode of {type(agent).__name__} returned {checks.shown(report)}, not a Report")
    agent.completed += 1
    return report, ran


def simulated(
    world: MDP, start: int, world_stream: RandomStream, agent_stream: RandomStream, noisy: bool = False
) -> Simulator:
    """The driver of an episode in a world that we hold."""
    return Simulator(world.alias_tables, world.gains, start, world_stream, agent_stream, noisy, world.ends)


def unjudged_row(number: int, start: int, report: Report, ran: list[Ran]) -> Row:
    """The row of an episode of which nobody knows the world: what takes knowing it is nan."""
    steps = {"clustering": 0, "learning": 0}
    earned = {"clustering": 0.0, "learning": 0.0}
    for part in ran:
        steps[part.phase.part] += part.outcome.steps
        earned[part.phase.part] += part.outcome.reward
    return Row(
        episode=number,
        task=-1,
        start=start,
        cluster=report.cluster,
        new_cluster=report.new_cluster,
        misclustered=False,
        exploration_ok=report.exploration_ok,
        identification_steps=steps["clustering"],
        learning_steps=steps["learning"],
        clustering_reward=earned["clustering"],
        learning_reward=earned["learning"],
        value=np.nan,
        regret=np.nan,
        learning_regret=np.nan,
        evaluation_reward=np.nan,
        evaluation_value=np.nan,
        estimate_error=np.nan,
        certified=report.certified,
        abstained=report.abstained,
        taken_for=report.world,
        sure=report.sure,
    )


def episode_streams(seed: int, purpose: str, episodes: int) -> NDArray[np.uint64]:
    """The random streams of a purpose, one an episode, (K, 4)."""
    return streams(np.random.SeedSequence(seed, spawn_key=(PURPOSES.index(purpose),)), episodes)


def read_episodes(name: str, episodes: int) -> int:
    """K, for which a run fits into the memory."""
    count = checks.integer(name, episodes, least=1)
    sizes.check(name, count, float(EPISODE_BYTES) * count, "a run of so many episodes")
    return count


def check_is_agent(agent: object) -> None:
    """Refuse anything else, classes included."""
    if not isinstance(agent, Agent):
        raise checks.Refusal("agent", f"is {checks.shown(agent)}, not an agent such as ao.agents.Random(200)")
