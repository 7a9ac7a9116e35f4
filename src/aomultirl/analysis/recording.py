"""A watched episode as data: frames, and what each of them says of pairs, clusters and the verdict.

The terminal and the GIF both show it, so whatever both say is worked out here.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.agents.base import Evidence, Report
from aomultirl.agents.game import NEW
from aomultirl.analysis.phrases import belief, believed_world, counted
from aomultirl.mdp import MDP

ARROWS = "←→↑↓"
SAMPLES, EVIDENCE, BELIEF = "samples", "evidence", "belief"
"""How an agent recognises a world: when every pair has its samples, as soon as the evidence suffices, while it acts."""
PARTS = {SAMPLES: ("clustering", "learning"), EVIDENCE: ("clustering", "learning"), BELIEF: ("acting", "proving")}
SURE = 0.99
"""Belief at which an agent that recognises while it acts is said to have recognised."""
DOUBT = 0.5
"""Belief below which an agent that was said to have recognised a world is no longer said to have."""
LATELY = 5
"""Episodes that were last taken for a believed world, by which it is said which world it mostly was."""
LISTED = 8
"""Bars of beliefs that lines without bars tell of."""
PAUSE, LONG_PAUSE = 1.2, 2.5
"""Seconds that a player rests at an event, and at the moment the world is recognised."""
PALEST = 20
"""Visits of a state that give the darkest shade of a map, as long as no state has more."""


class Move(NamedTuple):
    """A step; before the first, state and action are -1 and successor is where the episode starts."""

    state: int
    action: int
    successor: int


class Frame(NamedTuple):
    """The moment after a step.

    step: steps taken so far.
    move: the last one.
    part: "clustering" or "learning"; of an agent that recognises while it acts "acting" or "proving".
    part_step, part_steps: the steps taken in this part, and how many it may take; those of the whole episode for an
        agent that recognises while it acts.
    reward: collected in this part.
    visits: of the pairs of Gamma in this episode, (|Gamma|,).
    visited: how often each state was entered, (S,); empty where the world has no layout.
    evidence: one for every cluster known before this episode.
    beliefs: how probable the agent finds every world in its memory, by number, and -1, a new one; empty for agents that
        do not recognise while they act.
    event: what just happened, in words; empty where nothing did.
    recognised: what the agent takes the world for, in words; empty while it does not know.
    right: whether that is the truth; None where the agent does not say.
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
    beliefs: dict[int, float]
    event: str
    recognised: str = ""
    right: bool | None = None


class Gauge(NamedTuple):
    """A bar with words.

    name: what is measured.
    share: of what is needed; the bar is full at 1.  None for a line without a bar.
    words: the measurement.
    enough: whether it is what is needed; of evidence against a cluster, whether the cluster is not contradicted.
    opinion: what evidence means for a cluster, in a word or two; its limit is in the middle of the bar.
    is_truth: whether this is the world that the episode is in, which the agent is not told.
    """

    name: str
    share: float | None = None
    words: str = ""
    enough: bool = False
    opinion: str = ""
    is_truth: bool = False


@dataclass(frozen=True)
class Recording:
    """A watched episode.

    world: where it took place.
    agent, told: the agent's name, and whether it is told which world this is.
    episode, task: the numbers of the episode and of its world, both from 0.
    kind: SAMPLES, EVIDENCE or BELIEF; empty for agents that do not cluster.
    pairs: Gamma, (state, action); empty for agents that have none.
    samples: how often each pair must be seen, with evidence only in a new world; 0 for agents without pairs.
    stands_for: {cluster: the task of the episode that made it}, before this one.
    mostly: {believed world: the task that more than half of the last episodes were in that were taken for it}, before
        this one; worlds without such a task are not there.
    report: what the agent said in the end.
    right: the cluster that was recognised stands for this world; None where nothing was.
    is_first: no episode before this one was in its world.
    frames: in order of time.
    states, actions: every step, (T + 1,) and (T,).
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
    mostly: dict[int, int]
    report: Report
    right: bool | None
    is_first: bool
    frames: list[Frame]
    states: NDArray[np.int64]
    actions: NDArray[np.int64]

    @property
    def title(self) -> str:
        """What is watched."""
        secret = "which it is told" if self.told else "which it is not told"
        return f"{self.agent}, episode {self.episode}, in m{self.task + 1} ({secret})"

    @property
    def parts(self) -> tuple[str, ...]:
        """What an episode consists of."""
        return PARTS.get(self.kind, ("learning",))

    @property
    def events(self) -> list[Frame]:
        """The frames in which something happened."""
        return [frame for frame in self.frames if frame.event]

    def lines(self, note: str = "") -> list[str]:
        """The whole episode in words, with a note on the numbers that were in force."""
        sizes = f"{counted(self.world.n_states, 'state')}, {counted(self.world.n_actions, 'action')}"
        if self.kind:
            sizes += f", {counted(len(self.stands_for), 'cluster')} known before"
        if self.kind == BELIEF:
            sizes += f", {counted(len(self.frames[0].beliefs.keys() - {NEW}), 'world')} believed in"
        events = [f"step {frame.step:,}, {frame.part}: {frame.event}" for frame in self.events]
        last = self._beliefs(self.frames[-1], LISTED) if self.kind == BELIEF else []
        belief = [f"belief in the end: {', '.join(f'{one.name} {one.words}' for one in last)}"] if last else []
        return [self.title, sizes, *([note] if note else []), *events, *belief]

    def log(self, number: int, most: int) -> list[Frame]:
        """The last events up to a frame."""
        return [frame for frame in self.frames[: number + 1] if frame.event][-most:]

    def decides(self, number: int) -> bool:
        """Whether the agent recognises the world in this very frame."""
        return bool(self.frames[number].recognised) and not self.frames[max(0, number - 1)].recognised

    def verdict(self, frame: Frame) -> tuple[str, bool | None]:
        """What the agent takes the world for, in words, and whether that is right.

        None while it does not know, where nobody can tell, and where it claims nothing for want of proof.
        """
        if not frame.recognised:
            return ("? which world is this" if self.kind else ""), None
        if frame.right is None and (self.kind == BELIEF or (self.report.abstained and self.kind != SAMPLES)):
            return f"? {frame.recognised}", None
        return f"{'✔' if frame.right else '✘'} {frame.recognised}", bool(frame.right)

    def known_since(self, number: int) -> Frame | None:
        """The frame since which the agent has taken the world rightly, or wrongly; None while it does not know."""
        if not self.frames[number].recognised:
            return None
        while number > 0 and self._judged(number - 1) == self._judged(number):
            number -= 1
        return self.frames[number]

    def _judged(self, number: int) -> tuple[bool, bool | None]:
        frame = self.frames[number]
        return bool(frame.recognised), frame.right

    def progress(self, frame: Frame) -> str:
        """How far the part of the episode is."""
        most = "at most " if frame.part == "clustering" else ""
        return f"{frame.part_step:,} of {most}{frame.part_steps:,} steps, reward {frame.reward:,.6g}"

    def heat(self, frame: Frame) -> NDArray[np.float64]:
        """How dark each state is on the map, (S,), from 0 to 1."""
        return np.asarray(np.log1p(frame.visited) / np.log1p(max(int(frame.visited.max()), PALEST)))

    def moves(self, number: int, most: int) -> list[tuple[str, str, str, str]]:
        """The last moves up to a frame, for worlds without a map: step, state, action and successor, in words."""
        return [self._move(frame) for frame in self.frames[max(0, number + 1 - most) : number + 1]]

    def _move(self, frame: Frame) -> tuple[str, str, str, str]:
        (state, action, successor), labels = frame.move, self.world.labels
        before, after = (str(s if labels is None else labels[s]) for s in (state, successor))
        return (f"{frame.step:,}", before, str(action), after) if action >= 0 else ("0", "start", "", after)

    def cluster(self, number: int) -> str:
        """A cluster's name, with the world that it stands for, which the agent does not know."""
        known = number in self.stands_for
        return f"{cluster_name(number)} = m{self.stands_for[number] + 1}" if known else cluster_name(number)

    @property
    def names_worlds(self) -> bool:
        """Whether the agent has names for the worlds that it believes in, apart from what it has proven."""
        return self.report.world >= 0

    def believed(self, number: int) -> str:
        """The name of a world that the agent may believe in, with the world that it mostly was."""
        return believed_name(number, self.mostly, self.names_worlds)

    def lists(self, frame: Frame, rows: int) -> list[tuple[str, list[Gauge]]]:
        """What the agent goes by, and what speaks against each cluster: a heading and at most so many bars each.

        Of many clusters those that are not contradicted come before others.
        """
        if not self.kind:
            return [("This agent does not cluster.", []), ("", [])]
        if not frame.evidence:
            nothing = f"No cluster is {'proven' if self.names_worlds else 'known'} yet."
            return [self.gauges(frame, rows), (nothing, [])]
        ranked = sorted(frame.evidence, key=lambda one: one.contradicted)
        more = 0 if len(ranked) <= rows else len(ranked) - (rows - 1)
        against = []
        for one in sorted(ranked[: len(ranked) - more], key=lambda one: one.cluster):
            share, words = one.value / (2.0 * one.limit), f"{one.value:.2f}"
            opinion = self.opinion(one, frame)
            is_truth = self.stands_for.get(one.cluster) == self.task
            against.append(Gauge(self.cluster(one.cluster), share, words, not one.contradicted, opinion, is_truth))
        against += [Gauge(f"and {more} more")] if more else []
        first, proof = frame.evidence[0], "proof: " if self.names_worlds else ""
        return [self.gauges(frame, rows), (f"{proof}{first.words}, limit {first.limit:.3g}", against)]

    def opinion(self, evidence: Evidence, frame: Frame) -> str:
        """What the evidence means for a cluster, in a word or two."""
        if not (frame.visits.any() if self.kind == SAMPLES else frame.step):
            return "nothing seen"
        if frame.recognised and self.report.cluster == evidence.cluster and not self.report.new_cluster:
            return "this one"
        if self.kind != SAMPLES and evidence.contradicted:
            return "ruled out"
        if self.kind == EVIDENCE and frame.recognised and self.report.certified:
            return "not this one"
        if self.kind == SAMPLES and frame.recognised:
            return "contradicted" if evidence.contradicted else "agrees too"
        return "unlike so far" if evidence.contradicted else "may be it"

    def has_enough(self, visits: int) -> bool:
        """A pair was seen often enough to be compared."""
        return self.kind == SAMPLES and bool(visits >= self.samples)

    def gauges(self, frame: Frame, rows: int) -> tuple[str, list[Gauge]]:
        """What the agent goes by, a heading and at most so many bars: samples, visits, or belief in every world."""
        if self.kind == BELIEF:
            return "belief that this is", self._beliefs(frame, rows)
        if self.kind == EVIDENCE:
            return "visits", self._visits(frame, rows)
        return "samples of each pair", self._samples(frame, rows)

    def _beliefs(self, frame: Frame, rows: int) -> list[Gauge]:
        """The likeliest worlds in memory, the others together, and a new one."""
        ranked = sorted(frame.beliefs.keys() - {NEW}, key=lambda number: (-frame.beliefs[number], number))
        kept = ranked if len(ranked) < rows else ranked[: rows - 2]
        listed = [
            (self.believed(number), frame.beliefs[number], self.mostly.get(number) == self.task)
            for number in sorted(kept)
        ]
        others = [frame.beliefs[number] for number in ranked[len(kept) :]]
        listed += [(f"{len(others)} others", sum(others), False)] if others else []
        listed += [(self.believed(NEW), frame.beliefs.get(NEW, 0.0), self.is_first)]
        return [Gauge(name, p, belief(p), p > SURE, is_truth=is_truth) for name, p, is_truth in listed]

    def _visits(self, frame: Frame, rows: int) -> list[Gauge]:
        """The pairs with most visits, and how many are certified."""
        done, every = certified(frame.evidence)
        every = every or len(self.pairs)
        often = sorted(sorted(range(len(self.pairs)), key=lambda i: -int(frame.visits[i]))[: rows - 1])
        gauges = [self._gauge(i, frame, f"{frame.visits[i]:,}", enough=False) for i in often]
        return [*gauges, Gauge("certified", done / every, f"{done} of {every} pairs", done == every)]

    def _samples(self, frame: Frame, rows: int) -> list[Gauge]:
        """The pairs, those that need more samples before others, and how many are done where not all are listed."""
        enough, every = [self.has_enough(seen) for seen in frame.visits], len(self.pairs)
        places = list(range(every))
        if every > rows:
            places = sorted(sorted(places, key=enough.__getitem__)[: rows - 1])
        gauges = []
        for i in places:
            words = f"{frame.visits[i]:,} of {self.samples:,}{' ✓' if enough[i] else ''}"
            gauges.append(self._gauge(i, frame, words, enough[i]))
        if every > rows:
            gauges.append(Gauge("all", sum(enough) / every, f"{sum(enough)} of {every} pairs", all(enough)))
        return gauges

    def _gauge(self, place: int, frame: Frame, words: str, enough: bool) -> Gauge:
        share = int(frame.visits[place]) / max(1, self.samples)
        return Gauge(pair_name(self.world, *self.pairs[place]), share, words, enough)


def certified(evidence: list[Evidence]) -> tuple[int, int]:
    """How many pairs are certified to agree with the leading cluster, of how many."""
    return next((one.certified for one in evidence if one.certified is not None), (0, 0))


def cluster_name(number: int) -> str:
    """c1, c2, ...; files count from 0."""
    return f"c{number + 1}"


def believed_name(number: int, mostly: Mapping[int, int], names_worlds: bool) -> str:
    """w1, w2, ..., with the world that it mostly was, which the agent does not know; "new" for one not in memory.

    Agents that have no names for worlds believe in clusters: c1, c2, ....
    """
    if number == NEW:
        return "new"
    name = believed_world(number) if names_worlds else cluster_name(number)
    return f"{name} ≈ m{mostly[number] + 1}" if number in mostly else name


def on_grid(world: MDP) -> bool:
    """Whether the actions are the four moves of a grid."""
    return world.layout is not None and world.n_actions == len(ARROWS)


def pair_name(world: MDP, state: int, action: int) -> str:
    """(state, action), the action as an arrow in a grid."""
    return f"({state}, {ARROWS[action] if on_grid(world) else action})"


def almost_sure_of(beliefs: Mapping[int, float], before: int | None) -> int | None:
    """The world that an agent is almost certain of, or was before and has not come to doubt; None without one.

    Parameters
    ----------
    beliefs
        how probable the agent finds every world, by number.
    before
        what this function gave at the look before.
    """
    likely = max(beliefs, key=lambda number: beliefs[number], default=None)
    if likely is not None and beliefs[likely] > SURE:
        return likely
    return before if before is not None and beliefs.get(before, 0.0) >= DOUBT else None


def majority(tasks: Sequence[int]) -> int | None:
    """The task that more than half of the last LATELY episodes were in; None where no task is."""
    last = tasks[-LATELY:]
    task, times = Counter(last).most_common(1)[0] if last else (0, 0)
    return task if 2 * times > len(last) else None
