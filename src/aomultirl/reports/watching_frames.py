"""What a watched episode is made of: frames, which are data; the terminal and the GIF both show them."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.agents.base import Evidence, Report
from aomultirl.mdp import MDP

ARROWS = "←→↑↓"


class Move(NamedTuple):
    """A step; before the first, state and action are -1 and successor is where the episode starts."""

    state: int
    action: int
    successor: int


class Frame(NamedTuple):
    """The moment after a step.

    step
        steps taken so far.
    move
        the last one.
    part, part_step, part_steps
        "clustering" or "learning", the steps taken in it, and how many it may take.
    reward
        collected in this part.
    visits
        of the pairs of Gamma in this episode, (|Gamma|,).
    visited
        how often each state was entered, (S,); empty where the world has no layout.
    evidence
        for every cluster known before this episode.
    event
        what just happened; empty where nothing did.
    recognised
        what the agent takes the world for, and whether that is right; empty while it does not know.
    """

    step: int
    move: Move
    part: str
    part_step: int
    part_steps: int
    reward: float
    visits: NDArray[np.int64]
    visited: NDArray[np.int64]
    evidence: list[Evidence]
    event: str
    recognised: str


@dataclass(frozen=True)
class Recording:
    """A watched episode.

    agent, told
        its name, and whether it is told which world this is.
    episode, task
        its number and its world's, both from 0.
    pairs, samples
        Gamma, (state, action), and how often each must be seen; empty and 0 for agents that do not cluster.
    stands_for
        {cluster: the task of the episode that made it}, before this one.
    right
        the cluster that was recognised stands for this world; None where nothing was.
    states, actions
        every step: states (T + 1,), actions (T,).
    """

    world: MDP
    agent: str
    told: bool
    episode: int
    task: int
    pairs: list[tuple[int, int]]
    samples: int
    stands_for: dict[int, int]
    report: Report
    right: bool | None
    frames: list[Frame]
    states: NDArray[np.int64]
    actions: NDArray[np.int64]

    @property
    def title(self) -> str:
        """What is watched."""
        secret = "which it is told" if self.told else "which it is not told"
        return f"{self.agent}, episode {self.episode}, in m{self.task + 1} ({secret})"

    @property
    def events(self) -> list[Frame]:
        """The frames in which something happened."""
        return [frame for frame in self.frames if frame.event]

    def cluster(self, number: int) -> str:
        """A cluster's name, with the world that it stands for, which the agent does not know."""
        known = number in self.stands_for
        return f"{cluster_name(number)} = m{self.stands_for[number] + 1}" if known else cluster_name(number)

    def opinion(self, one: Evidence, frame: Frame) -> str:
        """What the evidence means for a cluster, in a word or two."""
        if not frame.visits.any():
            return "nothing seen"
        if frame.recognised and self.report.cluster == one.cluster and not self.report.new_cluster:
            return "this one"
        if frame.recognised:
            return "contradicted" if one.contradicted else "agrees too"
        return "unlike so far" if one.contradicted else "may be it"


def cluster_name(number: int) -> str:
    """c1, c2, ...; files count from 0."""
    return f"c{number + 1}"


def on_grid(world: MDP) -> bool:
    """Whether the actions are the four moves of a grid."""
    return world.layout is not None and world.n_actions == len(ARROWS)


def pair_name(world: MDP, state: int, action: int) -> str:
    """(state, action), the action as an arrow in a grid."""
    return f"({state}, {ARROWS[action] if on_grid(world) else action})"
