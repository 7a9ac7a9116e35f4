"""Run an agent through a stream of episodes in the simulator, whole or in parts.

Every run is a function of its seed.  The sources of randomness are spawned by purpose: the stream of tasks, and for
each episode the world, the agent and the evaluation.  Agents with the same seed meet the same tasks and worlds' draws.
So nothing but the agent has a state between two episodes: a stream is brought back to where it was by asking it again.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks, sizes
from aomultirl.agents.base import Agent, Report, Setting
from aomultirl.descriptions import describe
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Simulator
from aomultirl.experiments.history import History, Row
from aomultirl.experiments.judge import RECORDED, Judge
from aomultirl.experiments.provenance import bound, check_fits, identity, left_behind
from aomultirl.mdp import ModelSet
from aomultirl.streams import Past, Stream

PURPOSES = ("stream", "world", "agent", "evaluation", "memory")
EPISODE_BYTES = 800
"""Memory for an episode of a run: its random streams, its row of the history, its place in the past; measured."""


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
    record: Sequence[str] = RECORDED,
    stop: int | None = None,
    resume: History | None = None,
) -> History:
    """Run ``agent`` for ``episodes`` episodes in the simulator.

    Parameters
    ----------
    noisy_rewards
        rewards are 0 or 1 with mean r(s, a), instead of r(s, a) itself.
    progress
        show a progress bar, if this is a terminal.
    record
        which of the numbers that need the worlds are worked out: "regret" (value, regret and learning_regret),
        "evaluation" (both columns of the paper's metric) and "estimate_error".  The others are nan, which saves their
        time: in large worlds exact planning takes longer than learning.
    stop
        end after so many of the episodes, and give the history of these.
    resume
        what a run of the same kind gave that was stopped: go on from there, with the agent as it was then (the same
        object, or one that was saved and loaded), and give the whole history.  It equals that of a run in one piece.

    Examples
    --------
    >>> import aomultirl as ao
    >>> kind = ao.worlds.gridworld(), ao.streams.uniform(), 10
    >>> agent = ao.agents.Random(5)
    >>> first = ao.run(agent, *kind, stop=4)
    >>> ao.run(agent, *kind, resume=first) == ao.run(agent, *kind)
    True
    """
    course = Course(agent, models, stream, episodes, seed, noisy_rewards=noisy_rewards, record=record)
    last = course.episodes if stop is None else checks.integer("stop", stop, least=1, most=course.episodes)
    if resume is None:
        course.begin()
    else:
        course.resume(resume)
    if last < course.met:
        raise ValueError(f"stop is {last}, but resume has {course.met} episodes already")
    with progress_bar(progress, type(agent).__name__, last, course.met) as advance:
        while course.met < last:
            course.step()
            advance()
    return course.history()


class Course:
    """A run under way: begin or resume it, take one step an episode, and ask for the history.  As :func:`run`."""

    def __init__(
        self,
        agent: Agent,
        models: ModelSet,
        stream: Stream,
        episodes: int,
        seed: int = 0,
        *,
        noisy_rewards: bool = False,
        record: Sequence[str] = RECORDED,
    ) -> None:
        self.episodes = read_episodes("episodes", episodes)
        self.seed = checks.seed("seed", seed)
        if not isinstance(models, ModelSet):
            raise ValueError(f"models is {checks.shown(models)}, not a ModelSet")
        if not isinstance(stream, Stream):
            raise ValueError(f"stream is {checks.shown(stream)}, not a stream such as ao.streams.uniform()")
        check_is_agent(agent)
        self.agent, self.models, self.stream = agent, models, stream
        self.noisy_rewards = checks.truth("noisy_rewards", noisy_rewards)
        self.record = read_record(record)
        self._judge = Judge(models, episode_streams(self.seed, "evaluation", 2 * self.episodes), self.record)
        self._world_streams = episode_streams(self.seed, "world", self.episodes)
        self._agent_streams = episode_streams(self.seed, "agent", self.episodes)
        self._past: list[Past] = []
        self._rows: list[Row] = []
        self._identity: dict[str, Any] = {}

    @property
    def met(self) -> int:
        """How many episodes are over."""
        return len(self._rows)

    def begin(self) -> None:
        """From the first episode on."""
        models, told = self.models, self.models if "models" in self.agent.told else None
        self.agent.begin(Setting(models.n_states, models.n_actions, models.rewards, self.episodes, told))
        self.agent.completed = 0
        self._begin_stream()

    def _begin_stream(self) -> None:
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(PURPOSES.index("stream"),)))
        self.stream.begin(self.models, self.episodes, rng)
        self._identity = {
            **identity(self.agent, self.seed, self.episodes),
            "noisy_rewards": self.noisy_rewards,
            "world": self.models.origin,
            "stream": describe(self.stream),
            "recorded": list(self.record),
        }

    def resume(self, history: History) -> None:
        """From where ``history`` ended, with the agent as it was then."""
        self._begin_stream()
        check_fits(history, self._identity, self.episodes)
        self._check_agent_fits(len(history))
        rows = [Row(*values) for values in zip(*(history[name].tolist() for name in Row._fields), strict=True)]
        past: list[Past] = []
        for row in rows:
            if (row.task, row.start) != self.stream.next(past):
                raise ValueError(f"resume does not fit the stream: it chooses another episode {row.episode}")
            past.append(Past(row.task, row.start, row.cluster))
        self._past, self._rows = past, rows
        self._judge.stands_for = {row.cluster: row.task for row in rows if row.new_cluster}

    def _check_agent_fits(self, episodes: int) -> None:
        agent, models = self.agent, self.models
        if "setting" not in vars(agent):
            raise ValueError("resume needs the agent as it was when that history ended, and this one has not begun")
        setting = agent.setting
        sizes = (setting.n_states, setting.n_actions, setting.episodes)
        if sizes != (models.n_states, models.n_actions, self.episodes) or not np.array_equal(
            setting.rewards if setting.rewards is not None else (), models.rewards
        ):
            raise ValueError(
                f"resume needs the agent as it was when that history ended, and this one ran in other worlds: "
                f"{sizes[0]} states, {sizes[1]} actions, {sizes[2]} episodes"
            )
        if agent.completed != episodes:
            raise ValueError(f"resume has {episodes} episodes, but the agent has completed {agent.completed}")

    def step(self) -> None:
        """One more episode."""
        agent, k = self.agent, self.met
        task, start = self.stream.next(self._past)
        world, sources = self.models[task], (self._world_streams[k], self._agent_streams[k])
        simulator = Simulator(world.alias_tables, world.gains, start, *sources, self.noisy_rewards)
        told = task if "task" in agent.told else None
        report, ran = simulator.drive(agent.episode(start, sources[1], told))
        check_report(agent, report)
        agent.completed = k + 1
        row = self._judge.row(k, task, start, report, ran)
        self._past.append(Past(task, start, report.cluster))
        self._rows.append(row)

    def so_far(self) -> History:
        """The episodes that are over, with nothing but what makes it this run and no other."""
        return History.of(self._rows, self._identity)

    def history(self) -> History:
        """The episodes that are over, with what the agent has found."""
        about = {**self._identity, "bound": bound(self.agent, self.episodes)}
        stream = episode_streams(self.seed, "memory", 1)[0]
        return History.of(self._rows, {**about, **left_behind(self.agent, stream, self._judge.stands_for)})


def read_episodes(name: str, episodes: int) -> int:
    """K, for which a run fits into the memory."""
    count = checks.integer(name, episodes, least=1)
    sizes.check(name, count, float(EPISODE_BYTES) * count, "a run of so many episodes")
    return count


def read_record(record: Sequence[str]) -> tuple[str, ...]:
    """Names out of RECORDED, in their order there."""
    if isinstance(record, str) or not isinstance(record, Sequence):
        raise ValueError(f"record is {checks.shown(record)}, not a list of names such as ['regret']")
    for place, name in enumerate(record):
        checks.choice(f"record[{place}]", name, RECORDED)
    return tuple(name for name in RECORDED if name in record)


def check_is_agent(agent: object) -> None:
    """Refuse anything else, classes included."""
    if not isinstance(agent, Agent):
        raise ValueError(f"agent is {checks.shown(agent)}, not an agent such as ao.agents.Random(200)")


def check_report(agent: Agent, report: object) -> None:
    """Refuse an episode that ends without a report."""
    if not isinstance(report, Report):
        raise ValueError(f"an episode of {type(agent).__name__} returned {checks.shown(report)}, not a Report")


@contextmanager
def progress_bar(wanted: bool, name: str, total: int, done: int = 0) -> Iterator[Callable[[], None]]:
    """A progress bar in a terminal; nothing anywhere else."""
    if not wanted:
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True, disable=not Console(stderr=True).is_terminal) as bar:
        task = bar.add_task(name, total=total, completed=done)
        yield lambda: bar.advance(task)
