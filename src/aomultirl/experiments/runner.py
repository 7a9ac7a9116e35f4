"""Run an agent through a stream of episodes in the simulator, whole or in parts.

Nothing but the agent has a state between two episodes, see :mod:`.episodes`: a stream of tasks is brought back to where
it was by asking it again.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from aomultirl import checks
from aomultirl.agents.base import Agent, Report
from aomultirl.agents.premises import RunFacts
from aomultirl.descriptions import describe
from aomultirl.engine.random import RandomStream
from aomultirl.experiments.episodes import PURPOSES, Driver, EpisodeLoop, begin_in, simulated
from aomultirl.experiments.history import History, Row
from aomultirl.experiments.judge import RECORDED, Judge
from aomultirl.experiments.progress import bar
from aomultirl.experiments.provenance import bound, check_fits, identity, left_behind
from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet
from aomultirl.streams import Past, Stream


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

    The agent begins anew, and forgets what it remembered from before, unless ``resume`` is given.

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
    course = SimulatedRun(agent, models, stream, episodes, seed, noisy_rewards=noisy_rewards, record=record)
    last = course.episodes if stop is None else checks.integer("stop", stop, least=1, most=course.episodes)
    if resume is None:
        course.begin()
    else:
        course.resume(resume)
    if last < course.met:
        raise checks.Refusal("stop", f"is {last}, but resume has {course.met} episodes already")
    with bar(type(agent).__name__, sys.stderr, wanted=progress, lines=False) as done:
        while course.met < last:
            course.step()
            done(course.met, last)
    return course.history()


class Meeting(NamedTuple):
    """An episode that is about to begin.

    task
        the number of its world.
    start
        the state that it starts in.
    world
        the world itself.
    world_stream, agent_stream
        the random streams of the episode.
    """

    task: int
    start: int
    world: MDP
    world_stream: RandomStream
    agent_stream: RandomStream


class SimulatedRun(EpisodeLoop):
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
        super().__init__(agent, episodes, seed)
        if not isinstance(models, ModelSet):
            raise checks.Refusal("models", f"is {checks.shown(models)}, not a ModelSet")
        if not isinstance(stream, Stream):
            raise checks.Refusal("stream", f"is {checks.shown(stream)}, not a stream such as ao.streams.uniform()")
        self.models, self.stream = models, stream
        self.noisy_rewards = checks.truth("noisy_rewards", noisy_rewards)
        self.record = read_record(record)
        agent.evaluates = not {"evaluation", "estimate_error"}.isdisjoint(self.record)
        self._judge = Judge(models, self.streams("evaluation", each=2), self.record)
        self._past: list[Past] = []
        self._identity: dict[str, Any] = {}

    @property
    def stands_for(self) -> Mapping[int, int]:
        """The task that each cluster stands for."""
        return self._judge.stands_for

    def begin(self) -> None:
        """From the first episode on."""
        begin_in(self.agent, self.models, self.episodes)
        self._begin_stream()
        self.agent.run_facts = RunFacts(self.models, self._past)

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
                raise checks.Refusal("resume", f"does not fit the stream: it chooses another episode {row.episode}")
            past.append(Past(row.task, row.start, row.cluster))
        self._past, self.rows = past, rows
        self.agent.run_facts = RunFacts(self.models, self._past)
        self._judge.stands_for = {row.cluster: row.task for row in rows if row.new_cluster}

    def _check_agent_fits(self, episodes: int) -> None:
        agent, models = self.agent, self.models
        if "setting" not in vars(agent):
            raise checks.Refusal(
                "resume", "needs the agent as it was when that history ended, and this one has not begun"
            )
        setting = agent.setting
        sizes = (setting.n_states, setting.n_actions, setting.episodes)
        if sizes != (models.n_states, models.n_actions, self.episodes) or not np.array_equal(
            setting.rewards if setting.rewards is not None else (), models.rewards
        ):
            raise checks.Refusal(
                "resume",
                f"needs the agent as it was when that history ended, and this one ran in other worlds: "
                f"{sizes[0]} states, {sizes[1]} actions, {sizes[2]} episodes",
            )
        if agent.completed != episodes:
            raise checks.Refusal("resume", f"has {episodes} episodes, but the agent has completed {agent.completed}")

    def step(self, driver_of: Callable[[Meeting], Driver] | None = None) -> Report:
        """One more episode, in the simulator or with a driver of one's own; what the agent says of it."""
        number = self.met
        task, start = self.stream.next(self._past)
        meeting = Meeting(task, start, self.models[task], self.world_streams[number], self.agent_streams[number])
        driver = self._simulated(meeting) if driver_of is None else driver_of(meeting)
        report, ran = self.play(driver, start, task)
        self.rows.append(self._judge.row(number, task, start, report, ran, self.agent.episode_steps))
        self._past.append(Past(task, start, report.cluster))
        return report

    def _simulated(self, meeting: Meeting) -> Driver:
        return simulated(meeting.world, meeting.start, meeting.world_stream, meeting.agent_stream, self.noisy_rewards)

    def so_far(self) -> History:
        """The episodes that are over, with nothing but what makes it this run and no other."""
        return History.of(self.rows, self._identity)

    def history(self) -> History:
        """The episodes that are over, with what the agent has found."""
        about = {**self._identity, **bound(self.agent, self.episodes)}
        return History.of(self.rows, {**about, **left_behind(self.agent, self.spare_stream(), self.stands_for)})


def read_record(record: Sequence[str]) -> tuple[str, ...]:
    """Names out of RECORDED, in their order there."""
    if isinstance(record, str) or not isinstance(record, Sequence):
        raise checks.Refusal("record", f"is {checks.shown(record)}, not a list of names such as ['regret']")
    for place, name in enumerate(record):
        checks.choice(f"record[{place}]", name, RECORDED)
    return tuple(name for name in RECORDED if name in record)
