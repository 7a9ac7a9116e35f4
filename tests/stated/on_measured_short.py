"""What Recall earns in one short life an episode."""

import inspect
import re

import numpy as np

import aomultirl as ao
from aomultirl.analysis.intervals import over_runs
from aomultirl.experiments.suites import short
from stated.computed import cases, kept, kept_runs, row
from stated.measured import (
    COLUMNS,
    MIXTURE,
    PSRL,
    QMDP,
    RECALL,
    SPAN,
    TOLD,
    Q,
    judged,
    maps,
    mean,
    more,
    note,
    proven,
    span,
)
from stated.on_suites import CLIFFS, TAXIS, lakes, told_nothing
from stated.reading import ROOT

SHORT = {
    "FrozenLake 8 x 8, {} maps": "FrozenLake 8x8, 3 maps",
    "the same, slippery": "FrozenLake 8x8, 3 maps, slippery",
    "{} maps, slippery": "FrozenLake 8x8, 4 maps, slippery",
    "doors with a sign": "doors with a sign",
    "sparse random, H = 10": "sparse random, H = 10",
    "sparse random, H = 30": "sparse random, H = 30",
    "sparse random, H = 100": "sparse random, H = 100",
    "cliff, reward a life": "cliff, reward a life",
    "Taxi, reward a life": "Taxi, reward a life",
}


ASKED = {
    "FrozenLake 8 x 8, {} maps": ("{}, missed by {}", "{}, impossible", "{}, impossible"),
    "the same, slippery": ("{}, missed by {}", "{}, missed by {}", None),
    "{} maps, slippery": ("", "", None),
    "doors with a sign": ("{}, missed by {}", "{}, missed by {}", "{}"),
    "sparse random, H = 10": ("", "", "{}, missed by {}"),
    "sparse random, H = 30": ("", "", "{}, missed by {}"),
    "sparse random, H = 100": ("", "", "{}"),
    "cliff, reward a life": ("", "{}, missed by {}", "{}, missed by {}"),
    "Taxi, reward a life": ("", "", "{}, impossible"),
}
for label, place in SHORT.items():
    cells = [f"{SPAN} | {said}".rstrip() for said in ASKED[label] if said is not None]
    cells += [SPAN] * (3 - len(cells))
    note(
        f"| {label} | {' | '.join(cells)} |",
        lambda label=label, place=place: maps(label, place),
        *(
            lambda place=place, heading=heading, said=said: (
                span("short", place, RECALL, heading) if said is None else judged("short", place, heading, said[2:])
            )
            for heading, said in zip(COLUMNS, ASKED[label], strict=True)
        ),
    )


def sparse(place):
    """Of QMDP, which other runs than these have measured."""
    return [row("docs/suites.md", "sparse random, H = 10 / 30 / 100")[1][place]]


CEILINGS = {
    "FrozenLake 8 x 8, {} maps": ("{}, exact", lambda: [100.0 * np.mean(lakes())]),
    "the same, slippery": (
        "QMDP with the true maps: {}",
        lambda: [mean("short", SHORT["the same, slippery"], QMDP, COLUMNS[-1])],
    ),
    "{} maps, slippery": (
        "QMDP with the true maps: {}",
        lambda: [mean("short", SHORT["{} maps, slippery"], QMDP, COLUMNS[-1])],
    ),
    "doors with a sign": ("about {}", lambda: [100.0 * inspect.signature(ao.worlds.doors).parameters["sign"].default]),
    "sparse random, H = 10": ("QMDP with the true worlds: {}", lambda: sparse(0)),
    "sparse random, H = 30": ("QMDP with the true worlds: {}", lambda: sparse(1)),
    "sparse random, H = 100": ("QMDP with the true worlds: {}", lambda: sparse(2)),
    "cliff, reward a life": ("{}, exact", lambda: told_nothing(*CLIFFS)[1:]),
    "Taxi, reward a life": ("{}, exact", lambda: told_nothing(*TAXIS)[1:]),
}
"""The most that can be earned, in the words of the page."""
for label, (words, ceiling) in CEILINGS.items():
    place = SHORT[label]
    note(
        f"| {label} | {words} | {{}}; {{}}; {{}} | {{}} |",
        lambda label=label, place=place: maps(label, place),
        ceiling,
        lambda place=place: [mean("short", place, TOLD, heading) for heading in COLUMNS],
        lambda place=place: [mean("short", place, Q, COLUMNS[-1])],
    )


def counted_lives():
    episodes, _, put = proven("short")
    return episodes, put


note("None of {} lives was put in a wrong proven cluster; but {} were put in one at all", counted_lives)


def beyond(*places, heading=COLUMNS[-1], other, runs=10):
    """How much more Recall earns, in the mean."""
    return [more("short", place, heading, other, runs)[0] for place in places]


LAKES, SLIPPERY, FOUR, DOORS, SPARSE_10, SPARSE_30, SPARSE_100, CLIFF, TAXI = SHORT.values()
note(
    "in every row but sparse worlds with H = 100, where `Recall` is {} above it ({} to {}):",
    lambda: more("short", SPARSE_100, COLUMNS[-1], TOLD),
)
note("where it is {} ({} to {}) above Q-learning pooled", lambda: more("short", LAKES, COLUMNS[-1], Q))
note(
    f"everywhere but in two rows: on those lakes {SPAN} and on sparse random worlds with H = 10 {SPAN},",
    lambda: more("short", LAKES, COLUMNS[-1], PSRL),
    lambda: more("short", SPARSE_10, COLUMNS[-1], PSRL),
)
note(
    "`Recall` is ahead of it by {} on lakes, {} and {} on slippery ones, {} on doors, {} and {} on sparse random "
    "worlds with H = 30 and 100, {} on cliffs and {} with taxis, and {} behind on sparse random worlds with H = 10.",
    lambda: beyond(LAKES, SLIPPERY, FOUR, DOORS, SPARSE_30, SPARSE_100, CLIFF, TAXI, other=MIXTURE, runs=1),
    lambda: [-number for number in beyond(SPARSE_10, other=MIXTURE, runs=1)],
)


def beside_the_planner(place):
    """The share of what QMDP earns that is asked, and what is earned beyond that, run by run."""
    (share,) = {
        target.times
        for case in cases("short")
        for target in case.targets
        if (case.place, case.told, target.than) == (place, RECALL, QMDP)
    }
    lead = np.array(kept("short", place, RECALL, COLUMNS[-1])) - share * np.array(
        kept("short", place, QMDP, COLUMNS[-1])
    )
    found = over_runs(lead)
    return [share, float(found.mean), float(found.low), float(found.high)]


def told_nothing_at_best():
    """Lives on the sets of lakes on which one in three is lost at best, in the order of what they earn."""
    earned = zip(kept("short", LAKES, RECALL, COLUMNS[-1]), lakes(), strict=True)
    return sorted(share for share, best in earned if best < 0.99)


note(f"| {{}} of QMDP: {SPAN} more |", lambda: beside_the_planner(SLIPPERY))
note(f"| {{}} of QMDP: {SPAN} more, missed |", lambda: beside_the_planner(FOUR))
note("a uniform stream, {} lives; share of the optimum", lambda: [short.EPISODES])
note("| worlds | first {} | asked | first {} | asked |", lambda: [short.FIRST.first, short.MORE.first])
note("| learner told the task: first {}; {}; last quarter |", lambda: [short.FIRST.first, short.MORE.first])
note("*Cliffs, first {}.*", lambda: [short.MORE.first])
note(
    "The same learner told the task earns {}, and not being told costs everybody at least {} a life ({} and {})",
    lambda: [
        mean("short", CLIFF, TOLD, COLUMNS[1]),
        told_nothing(*CLIFFS)[0] - told_nothing(*CLIFFS)[1],
        *told_nothing(*CLIFFS)[::-1],
    ],
)
note(
    "together {}, where {} is asked and {} was measured",
    lambda: [
        mean("short", CLIFF, TOLD, COLUMNS[1]) - told_nothing(*CLIFFS)[0] + told_nothing(*CLIFFS)[1],
        *judged("short", CLIFF, COLUMNS[1], "{}, missed by {}"[2:])[3:4],
        mean("short", CLIFF, RECALL, COLUMNS[1]),
    ],
)
note(
    "one run of ten settles at {}, as it does for the learner told the task ({}).",
    lambda: [min(kept("short", CLIFF, told, COLUMNS[-1])) for told in (RECALL, TOLD)],
)
note(
    "*Lakes without slip.* {} of {} sets of maps can be walked in {} of {} maps at best, which is where the {} come "
    "from; {} of the {} runs there are at {} to {} %, and {} are at {} and {}.",
    lambda: [len(told_nothing_at_best()), len(lakes()), 2, 3, 100.0 * np.mean(lakes())],
    lambda: [len(told_nothing_at_best()) - 2, len(told_nothing_at_best())],
    lambda: [told_nothing_at_best()[2], told_nothing_at_best()[-1], 2, *told_nothing_at_best()[:2]],
)
note(
    "*Slippery lakes, first {} and {}.* Told the task the learner earns {} and {} %, and a planner that knows the "
    "maps but not which earns {}:",
    lambda: [short.FIRST.first, short.MORE.first, *(mean("short", SLIPPERY, TOLD, heading) for heading in COLUMNS[:2])],
    lambda: [mean("short", SLIPPERY, QMDP, COLUMNS[-1])],
)


def development_runs():
    source = (ROOT / "examples/tuning/evidence.py").read_text(encoding="utf-8")
    first, end = re.search(r"^SEEDS = range\((\d+), (\d+)\)$", source, re.MULTILINE).groups()
    return [int(end) - int(first)]


note("compares, in {} development runs each", development_runs)
note(
    "and what others earn ({} runs).",
    lambda: {len(kept_runs("short", told, place, "last quarter")) for place in SHORT.values() for told in (PSRL, Q)},
)
