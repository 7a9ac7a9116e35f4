"""The records that the story of a run is made of: what is shown of its facts, episodes, worlds and players.

Worlds in the agent's memory go by their numbers, as in ``history["taken_for"]``, or by those of its clusters where the
agent has no names for worlds; NEW (-1) is a world that the agent does not know.  Tasks are the true worlds.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from aomultirl.analysis.recording import LATELY, majority

WINDOW = 10
"""Episodes whose mean reward is a point of a curve."""
MOST_POINTS = 300
"""Of a curve, at most: a page has some pixels for each."""


@dataclass(frozen=True)
class Facts:
    """What does not change while a run goes on.

    agent, stream
        in words; the agent by the label that it has in the experiment.
    world, parameters
        the name of the worlds, and in words the parameters that were given for them.
    number
        of the run.
    episodes
        K.
    steps
        H, that an episode has if nothing ends it; None where the agent does not say.
    origin
        the file or the folder that it is from, as the user named it.
    is_told
        whether the agent is told the world of each episode.
    plays
        whether the run is played here, with beliefs step by step, or read from what another process wrote.
    """

    agent: str
    world: str
    parameters: str
    stream: str
    number: int
    episodes: int
    steps: int | None
    origin: str
    is_told: bool
    plays: bool


class Turn(NamedTuple):
    """The agent became almost certain of a world, or lost its faith.

    step
        of the episode.
    name
        of the world; NEW for one that it does not know, None where it is no longer certain of any.
    right
        whether that is the truth; None where nobody can tell.
    """

    step: int
    name: int | None
    right: bool | None


class Outcome(NamedTuple):
    """An episode that is over.

    episode, task
        its number and its true world.
    name
        of the world that the agent took it for; -1 for none.
    is_new
        whether the agent held the world for one that it had not met; by its proofs where nobody knows its memory.
    sure
        how probable the agent found that; None for an agent that does not say.
    recognised
        the step from which on the agent was almost certain of one world, up to the end; None where it was not, or
        where nobody looked.
    steps
        that the episode had.
    right
        whether the agent took the episode for what it was; None where nobody can tell.
    """

    episode: int
    task: int
    name: int
    is_new: bool
    sure: float | None
    recognised: int | None
    steps: int
    right: bool | None


@dataclass
class Card:
    """What is known of one world that the agent believes in.

    episodes
        that were taken for it.
    tasks
        how many of these were of each true world.
    lately
        the true worlds of the last LATELY of them.
    last
        the last of them.
    recognised
        the step at which it was recognised in the last episode in which it was; None where it never was.
    sure
        how probable it was in the last of them; None where the agent does not say.
    reward, best
        what its episodes earned in all, and could have earned at best; None where that is not worked out.
    cluster
        the number of its proven cluster; -1 where it is none.
    """

    episodes: int = 0
    tasks: Counter[int] = field(default_factory=Counter)
    lately: list[int] = field(default_factory=list)
    last: int = -1
    recognised: int | None = None
    sure: float | None = None
    reward: float = 0.0
    best: float | None = 0.0
    cluster: int = -1

    def add(self, outcome: Outcome, reward: float, best: float | None, cluster: int) -> None:
        """One more episode that was taken for this world."""
        self.episodes += 1
        self.tasks[outcome.task] += 1
        self.lately = [*self.lately, outcome.task][-LATELY:]
        self.last, self.sure = outcome.episode, outcome.sure
        self.recognised = self.recognised if outcome.recognised is None else outcome.recognised
        self.reward += reward
        self.best = None if best is None or self.best is None else self.best + best
        self.cluster = max(self.cluster, cluster)

    def as_json(self, name: int) -> dict[str, Any]:
        """As the page reads it."""
        return {
            "name": name,
            "episodes": self.episodes,
            "tasks": sorted(self.tasks.items()),
            "mostly": majority(self.lately),
            "last": self.last,
            "recognised": self.recognised,
            "sure": self.sure,
            "reward": self.reward / max(1, self.episodes),
            "share": None if not self.best else self.reward / self.best,
            "cluster": self.cluster,
        }


class Player:
    """Somebody who plays the episodes of the run, and what it has earned up to each of them, added up.

    Parameters
    ----------
    label
        what it is called.
    forgets
        whether it is the learner of the agent that is shown, without a memory.
    """

    def __init__(self, label: str, *, forgets: bool = False) -> None:
        self.label, self.forgets, self.sums = label, forgets, [0.0]

    def add(self, reward: float) -> None:
        """One more episode."""
        self.sums.append(self.sums[-1] + reward)

    def as_json(self, episodes: int) -> dict[str, Any]:
        """Its total, and its mean reward in the WINDOW episodes up to some of the first ``episodes``."""
        count = min(len(self.sums) - 1, episodes)
        stride = max(1, -(-count // MOST_POINTS))
        ends = sorted({*range(count, 0, -stride)})
        means = [(self.sums[end] - self.sums[max(0, end - WINDOW)]) / min(end, WINDOW) for end in ends]
        told = {"label": self.label, "forgets": self.forgets, "episodes": count, "total": self.sums[count]}
        return {**told, "x": ends, "y": means}


@dataclass
class Now:
    """The episode under way, or the last one; looks: (step, shares above LEAST_SHARE), in the order of steps."""

    episode: int
    task: int
    steps: int | None
    looks: list[tuple[int, dict[int, float]]] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """As the page reads it."""
        return {**vars(self), "looks": list(self.looks), "turns": list(self.turns)}
