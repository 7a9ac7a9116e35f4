"""What a watched episode is made of: frames, which are data; the terminal and the GIF both show them."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.agents.base import Evidence, Report
from aomultirl.mdp import MDP

ARROWS = "←→↑↓"
SAMPLES, EVIDENCE, BELIEF = "samples", "evidence", "belief"
"""How an agent recognises a world: when every pair has its samples, as soon as the evidence suffices, while it acts."""
PARTS = {SAMPLES: ("clustering", "learning"), EVIDENCE: ("clustering", "learning"), BELIEF: ("acting", "proving")}
Gauge = tuple[str, float, str, bool]
"""(what is measured, its share of what is needed, in words, whether that is enough)."""


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
        "clustering" or "learning", the steps taken in it, and how many it may take; of an agent that recognises while
        it acts "acting" or "proving", and the steps of the whole episode.
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
    kind
        SAMPLES, EVIDENCE or BELIEF; empty for agents that do not cluster.
    pairs, samples
        Gamma, (state, action), and how often each must be seen, with evidence only in a new world; empty and 0 for
        agents that have none.
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
    kind: str
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
        if not (frame.visits.any() if self.kind == SAMPLES else frame.step):
            return "nothing seen"
        if frame.recognised and self.report.cluster == one.cluster and not self.report.new_cluster:
            return "this one"
        if self.kind != SAMPLES and one.contradicted:
            return "ruled out"
        if self.kind == EVIDENCE and frame.recognised and self.report.certified:
            return "not this one"
        if self.kind != SAMPLES:
            return "may be it"
        if frame.recognised:
            return "contradicted" if one.contradicted else "agrees too"
        return "unlike so far" if one.contradicted else "may be it"

    @property
    def parts(self) -> tuple[str, ...]:
        """What an episode consists of."""
        return PARTS.get(self.kind, ("learning",))

    def sign(self, frame: Frame) -> str:
        """Whether what the agent takes the world for is the truth; a question mark where it does not say."""
        return "✔" if ": right" in frame.recognised else "?" if self.report.abstained and self.kind != SAMPLES else "✘"

    def has_enough(self, visits: int) -> bool:
        """A pair was seen often enough to be compared."""
        return self.kind == SAMPLES and visits >= self.samples

    def gauges(self, frame: Frame, rows: int) -> tuple[str, list[Gauge]]:
        """A heading and what is below it: visits and certified pairs, or the belief in every cluster."""
        if self.kind == BELIEF:
            beliefs = {one.cluster: belief(one) for one in frame.evidence}
            kept = sorted(sorted(beliefs, key=lambda number: -beliefs[number])[: rows - 1])
            rest = max(0.0, 1.0 - sum(beliefs[number] for number in kept))
            found = [(self.cluster(number), beliefs[number]) for number in kept] + [("none of them", rest)]
            return "belief that this is", [(name, p, f"{100 * p:.1f} %", p > SURE) for name, p in found]
        done, every = certified(frame.evidence)
        places = list(range(len(self.pairs)))
        if len(places) > rows - 1:
            places = sorted(sorted(places, key=lambda i: -int(frame.visits[i]))[: rows - 1])
        gauges: list[Gauge] = []
        for i in places:
            seen = int(frame.visits[i])
            gauges.append((pair_name(self.world, *self.pairs[i]), seen / max(1, self.samples), f"{seen:,}", False))
        every = every or len(self.pairs)
        return "visits", [*gauges, ("certified", done / every, f"{done} of {every} pairs", done == every)]


SURE = 0.99
"""Belief at which an agent that recognises while it acts is said to have recognised."""


def belief(one: Evidence) -> float:
    """How probable the agent finds it that this is the cluster; 0 if it does not say."""
    return one.belief or 0.0


def certified(evidence: list[Evidence]) -> tuple[int, int]:
    """How many pairs are certified to agree with the leading cluster, of how many."""
    return next((one.certified for one in evidence if one.certified is not None), (0, 0))


def heading(one: Evidence) -> str:
    """What the value is, and its limit."""
    return f"{one.words}, limit {one.limit:.3g}"


def cluster_name(number: int) -> str:
    """c1, c2, ...; files count from 0."""
    return f"c{number + 1}"


def on_grid(world: MDP) -> bool:
    """Whether the actions are the four moves of a grid."""
    return world.layout is not None and world.n_actions == len(ARROWS)


def pair_name(world: MDP, state: int, action: int) -> str:
    """(state, action), the action as an arrow in a grid."""
    return f"({state}, {ARROWS[action] if on_grid(world) else action})"
