"""How costs grow with sizes: exponents that are fitted to measurements, and whether they are what they should be.

Sizes are measured in turns, so that a machine that becomes slower or faster meanwhile does not bend a line.  Every
sample is the best of several calls.  Memory is counted by ``tracemalloc``, to the byte, and has no interval.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.analysis.claims import Claim
from aomultirl.analysis.claims import summary as counted_claims
from aomultirl.analysis.rules import Exponent
from aomultirl.benchmarks import scale_probes as probes
from aomultirl.benchmarks.choosing import is_asked_for
from aomultirl.laboratory.exponents import Fit, line_through

LINEAR, CONSTANT = 0.25, 0.15
"""By how much an exponent may miss 1 or 0.  A quarter tells a straight line from a root and from anything like a
square; a transition costs twice as much in a world that has outgrown the processor's caches, which is 0.2 from 1,000 to
64,000 states."""
TURNS = 4
"""Samples of each size."""
GROWS = Exponent.near(1.0, LINEAR, "caches and what is done once bend a line a little")
AT_MOST_LINEAR = Exponent(1.0, "what is done once, whatever the size, makes it smaller", most=1.0 + LINEAR)
STAYS = Exponent.near(0.0, CONSTANT, "twice the size would cost a tenth more")

Probe = Callable[[], float]
"""Measures once: seconds of CPU time, or bytes."""


class Question(NamedTuple):
    """What is asked of one size.

    name
        what costs, and the size that grows.
    chart
        the name of the panel that shows it.
    claim
        what should be so, in a sentence.
    rule
        how the exponent is judged.
    sizes
        that are measured.
    along
        what stands along x, of a size: the size itself, or the transitions that a world of that size has.
    probe
        makes what measures a size.
    turns
        samples of each size.
    """

    name: str
    chart: str
    claim: str
    rule: Exponent
    sizes: Sequence[int]
    probe: Callable[[int], Probe]
    along: Callable[[int], float] = float
    turns: int = TURNS


class Sweep(NamedTuple):
    """What was measured for a question.

    x
        (n,), the sizes, or the transitions.
    samples
        for each size its measurements: seconds, or bytes.
    fit
        the line through their logarithms.
    claim
        what became of it.
    """

    question: Question
    x: list[float]
    samples: list[NDArray[np.float64]]
    fit: Fit
    claim: Claim

    def as_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {
            "name": self.question.name,
            "sizes": list(self.question.sizes),
            "x": self.x,
            "samples": [one.tolist() for one in self.samples],
            "exponent": self.fit.slope,
            "low": self.fit.low,
            "high": self.fit.high,
        }


def _transitions(
    states: int = probes.STATES, actions: int = probes.ACTIONS, successors: int = probes.SUCCESSORS
) -> float:
    return float(states * actions * successors)


QUESTIONS = (
    Question(
        name="planning, states",
        chart="planning",
        claim="planning is linear in the transitions that exist, as states are added",
        rule=GROWS,
        sizes=(1_000, 4_000, 16_000, 64_000),
        probe=lambda size: probes.planning(states=size),
        along=lambda size: _transitions(states=size),
    ),
    Question(
        name="planning, actions",
        chart="planning",
        claim="planning is linear in the transitions that exist, as actions are added",
        rule=GROWS,
        sizes=(2, 4, 8, 16, 32),
        probe=lambda size: probes.planning(actions=size),
        along=lambda size: _transitions(actions=size),
    ),
    Question(
        name="planning, successors",
        chart="planning",
        claim="planning is at most linear in the transitions that exist, as successors are added",
        rule=AT_MOST_LINEAR,
        sizes=(2, 4, 8, 16, 32),
        probe=lambda size: probes.planning(successors=size),
        along=lambda size: _transitions(successors=size),
    ),
    Question(
        name="planning, H",
        chart="planning, H",
        claim="planning is linear in H",
        rule=GROWS,
        sizes=(10, 40, 160, 640),
        probe=lambda size: probes.planning(horizon=size),
    ),
    Question(
        name="memory of a world, states",
        chart="memory",
        claim="building a world and planning in it take memory linear in the transitions that exist",
        rule=GROWS,
        sizes=(1_000, 4_000, 16_000, 64_000),
        probe=lambda size: probes.world_memory(size),
        along=lambda size: _transitions(states=size),
        turns=1,
    ),
    Question(
        name="memory of Recall, states",
        chart="memory",
        claim="an episode of Recall takes memory at most linear in the transitions that exist",
        rule=AT_MOST_LINEAR,
        sizes=(1_000, 4_000, 16_000, 64_000),
        probe=lambda size: probes.recall_memory(size),
        along=lambda size: _transitions(states=size),
        turns=1,
    ),
    Question(
        name="Recall's step, few states",
        chart="step, S",
        claim="a step of Recall costs the same in worlds of 16 to 2,000 states",
        rule=STAYS,
        sizes=(16, 64, 250, 1_000, 2_000),
        probe=lambda size: probes.step(states=size),
    ),
    Question(
        name="Recall's step, many states",
        chart="step, S",
        claim="a step of Recall costs the same in worlds of 8,000 to 64,000 states",
        rule=STAYS,
        sizes=(8_000, 16_000, 32_000, 64_000),
        probe=lambda size: probes.step(states=size),
        turns=2,
    ),
    Question(
        name="Recall's step, worlds ruled out",
        chart="step, M",
        claim="a step of Recall costs the same however many worlds are ruled out",
        rule=STAYS,
        sizes=(2, 4, 8, 16, 32),
        probe=lambda size: probes.step(models=size),
    ),
    Question(
        name="Recall's episode, H",
        chart="episode",
        claim="an episode of Recall costs at most a time linear in H",
        rule=AT_MOST_LINEAR,
        sizes=(100, 400, 1_600, 6_400),
        probe=lambda size: probes.episode(horizon=size),
        turns=2,
    ),
    Question(
        name="Recall's episode, K",
        chart="episode",
        claim="an episode of Recall costs no more after more episodes",
        rule=Exponent(0.0, "twice the size would cost a tenth more", most=CONSTANT),
        sizes=(100, 200, 400, 800),
        probe=lambda size: probes.episode(before=size),
        turns=2,
    ),
)
"""What is asked, in the order of the table."""


def measure(only: Sequence[str] = (), questions: Sequence[Question] = QUESTIONS) -> list[Sweep]:
    """Measure every question of which the name has one of the words in it; without words, all."""
    return [_measure(question) for question in questions if is_asked_for(question.name, only)]


def _measure(question: Question) -> Sweep:
    """Sizes take turns."""
    measuring = [question.probe(size) for size in question.sizes]
    turns = [[probe() for probe in measuring] for _ in range(question.turns)]
    samples = list(np.array(turns).T)
    x = [question.along(size) for size in question.sizes]
    fit = line_through(x, samples)
    claim = Claim(question.claim, "", question.rule, {"": fit.exponent}, figure=question.chart)
    return Sweep(question, x, samples, fit, claim)


def summary(sweeps: Sequence[Sweep]) -> str:
    """How many claims hold, and the exponents of those that do not, in sentences."""
    claims = [one.claim for one in sweeps]
    others = [f"{one.question.name}: {one.claim.outcome}, {one.fit}" for one in sweeps if not one.claim.holds]
    return f"{counted_claims(claims)}." + (f" {'; '.join(others)}." if others else "")
