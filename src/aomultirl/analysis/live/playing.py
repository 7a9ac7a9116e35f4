"""Plays a cell episode by episode and tells the story of it, with the same learner without memory beside it.

Both meet the same episodes with the same draws, which are those of ``aomultirl run``.  The agent's episodes go step by
step, as in :mod:`aomultirl.analysis.recorder`, so that its belief can be looked at on the way; those of more than
STEPPED steps go phase by phase in the simulator, which is a hundred times faster, with a look after each phase.  Either
way they are the very episodes that ``ao.run`` runs.
"""

import math
import time
from collections.abc import Callable

from aomultirl import checks, descriptions
from aomultirl.agents.base import Agent, Episode, Report
from aomultirl.analysis.live.choosing import best_of, can_say_the_best, facts_of, forgetful, without_memory
from aomultirl.analysis.live.records import Player
from aomultirl.analysis.live.story import Story
from aomultirl.analysis.recording import BELIEF
from aomultirl.engine.interacting import Session
from aomultirl.engine.stepping import Phase, Ran
from aomultirl.experiments.cells import Cell, make_world
from aomultirl.experiments.episodes import simulated
from aomultirl.experiments.runner import Meeting, SimulatedRun
from aomultirl.streams import Stream
from aomultirl.worlds.environment import WorldEnv

STEPPED = 20_000
"""Steps up to which an episode goes step by step: some two seconds."""
SLOWDOWN = 16
"""Step t of an episode is looked at after step t - max(1, t / SLOWDOWN)."""
SECONDS = 2.0
"""That an episode takes at speed 1, where it is not computed more slowly."""


class Pace:
    """Rests so that an episode takes a given time, most of it in the first steps, where worlds are recognised.

    Parameters
    ----------
    speed
        2 is twice as fast.
    sleep
        rests so many seconds.
    """

    def __init__(self, speed: float, sleep: Callable[[float], None] = time.sleep) -> None:
        self.speed, self.sleep = checks.real("speed", speed, above=0.0), sleep
        self.begin()

    def begin(self, seconds: float = SECONDS) -> None:
        """An episode begins now, which takes so many seconds at speed 1."""
        self._began, self._seconds = time.monotonic(), seconds / self.speed

    def rest(self, step: int, steps: int | None) -> None:
        """After a step, of so many that the episode has."""
        share = math.log1p(step / SLOWDOWN) / math.log1p(max(step, steps or step, 1) / SLOWDOWN)
        left = self._began + share * self._seconds - time.monotonic()
        if left > 0.0:
            self.sleep(left)


class Playing:
    """A cell that is played.

    Parameters
    ----------
    cell
        what is run.
    story
        what is told of it.
    origin
        the file that the cell is from, as the user named it.
    """

    def __init__(self, cell: Cell, story: Story, origin: str) -> None:
        models = make_world(cell.world)
        self.story, self.models = story, models
        self.agent: Agent = descriptions.make(cell.agent, "agent")
        self.course = SimulatedRun(self.agent, models, _stream(cell), cell.episodes, cell.run_seed, record=())
        alone = without_memory(self.agent)
        self.alone = None
        if alone is not None:
            self.alone = SimulatedRun(alone, models, _stream(cell), cell.episodes, cell.run_seed, record=())
        self.says_best = can_say_the_best(cell, models, self.agent)
        players = [Player(cell.label), *([forgetful()] if self.alone is not None else [])]
        story.introduce(facts_of(cell, self.agent, origin, plays=True), players, has_best=self.says_best)

    def play(self, pace: Pace) -> None:
        """Play all episodes."""
        self.course.begin()
        if self.alone is not None:
            self.alone.begin()
        while self.course.met < self.course.episodes:
            self._play_one(pace)
        self.story.say("done")

    def _play_one(self, pace: Pace) -> None:
        pace.begin()
        self.course.step(lambda meeting: _Watched(self.agent, meeting, self.story, pace))
        rewards = []
        if self.alone is not None:
            self.alone.step()
            row = self.alone.rows[-1]
            rewards.append(row.clustering_reward + row.learning_reward)
        row = self.course.rows[-1]
        best = best_of(self.models, self.agent, row.task, row.start) if self.says_best else None
        self.story.end(row, rewards, best)


def _stream(cell: Cell) -> Stream:
    made: Stream = descriptions.make(cell.stream, "stream")
    return made


class _Watched:
    """The driver that steps through an episode, and tells what the agent believes on the way."""

    def __init__(self, agent: Agent, meeting: Meeting, story: Story, pace: Pace) -> None:
        self.agent, self.meeting, self.story, self.pace = agent, meeting, story, pace
        self.step = self.next = self.before = 0

    def drive(self, episode: Episode) -> tuple[Report, list[Ran]]:
        """Run the episode to its end."""
        world, start, stream = self.meeting.world, self.meeting.start, self.meeting.agent_stream
        steps = self.agent.episode_steps
        self.story.begin(len(self.story.outcomes), self.meeting.task)
        if steps is None or steps > STEPPED:
            return simulated(world, start, self.meeting.world_stream, stream).drive(self._spied(episode))
        env = WorldEnv(world, start, self.meeting.world_stream)
        env.reset()
        session = Session(self._spied(episode), world.n_states, world.n_actions, start, stream)
        try:
            while not session.over:
                successor, reward, _, _, _ = env.step(session.act())
                self.step += 1
                session.observe(successor, reward, bool(world.terminal[successor]))
                if self.step >= self.next and not session.over:
                    self._look(self.phase, self.step)
        except BaseException:
            session.close()
            raise
        return session.report, session.ran

    def _spied(self, episode: Episode) -> Episode:
        """The same episode, with a look after each of its phases, before the agent draws its conclusions."""
        phase = next(episode)
        try:
            while True:
                self.phase = phase
                if self.before == 0:
                    self._look(phase, 0)
                outcome = yield phase
                self.before += outcome.steps
                self._look(phase, self.before)
                phase = episode.send(outcome)
        except StopIteration as end:
            report: Report = end.value
            return report
        finally:
            episode.close()

    def _look(self, phase: Phase, step: int) -> None:
        """Tell what the agent believes; those that recognise before they act say no more once they act."""
        self.next = step + max(1, step // SLOWDOWN)
        if self.agent.recognition == BELIEF or phase.part == "clustering":
            shares = self.agent.beliefs(phase.counts)
            self.story.look(step, shares, shares if self.agent.recognition == BELIEF else None)
        self.pace.rest(step, self.agent.episode_steps)
