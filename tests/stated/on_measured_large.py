"""What Recall earns in ICU-Sepsis."""

import numpy as np

from stated.computed import cases, kept, kept_runs
from stated.measured import POOLED, PSRL, QMDP, RECALL, SPAN, Q, judged, mean, more, note, span

STRONG, SHORTER, WEAK, PATIENTS = (
    "ICU-Sepsis, strength 1, H = 20,000",
    "ICU-Sepsis, strength 1, H = 5,000",
    "ICU-Sepsis, strength 0.75, H = 20,000",
    "ICU-Sepsis, strength 1, one patient, survival",
)
WHOLE, LAST = "whole run", "last quarter"


def believed(place):
    """In how many worlds Recall believes at the end, of how many."""
    return [(run.worlds, run.models) for run in kept_runs("large", RECALL, place)]


def in_every_run(place):
    ((worlds, models),) = set(believed(place))
    return worlds, models


def in_most_runs(place):
    """Worlds believed in most often, of how many; worlds believed in by the others."""
    worlds, models = max(set(believed(place)), key=believed(place).count)
    ((other, _),) = {pair for pair in believed(place) if pair != (worlds, models)}
    return worlds, models, believed(place).count((worlds, models)), other


def whole(place, told=RECALL):
    return span("large", place, told, WHOLE)


def last(place, told=RECALL):
    return span("large", place, told, LAST)


def survivors(told, heading=WHOLE, runs=10):
    return [mean("large", PATIENTS, told, heading, runs=runs)]


def wanted(place, than):
    """How much more than another row is asked of Recall."""
    (value,) = {
        target.value
        for case in cases("large")
        for target in case.targets
        if (case.place, case.told, target.than) == (place, RECALL, than)
    }
    return value


def worse(place):
    """In how many runs Recall earns less than the pooled learner, and how much at most."""
    lead = np.array(kept("large", place, RECALL, WHOLE)) - np.array(kept("large", place, POOLED, WHOLE))
    return [np.sum(lead < 0.0), -lead.min()]


def ends(numbers):
    found = sorted(numbers)
    return found[0], found[-1]


note(
    f"| strength 1, H = 20,000, K = 60, {{}} runs | {SPAN} | {{}} | {SPAN} | {{}} | {{}} of {{}} in every run |",
    lambda: [len(believed(STRONG))],
    lambda: judged("large", STRONG, WHOLE, ""),
    lambda: judged("large", STRONG, LAST, ""),
    lambda: in_every_run(STRONG),
)
note(
    f"| strength 1, H = 5,000, K = 200, {{}} runs | {SPAN} | {{}} more than pooled: {SPAN} more, missed by {{}} "
    f"| {SPAN} | ({{}} more than pooled) | {{}} of {{}} in {{}} runs, {{}} in one |",
    lambda: [len(believed(SHORTER))],
    lambda: whole(SHORTER),
    lambda: [
        wanted(SHORTER, POOLED),
        *more("large", SHORTER, WHOLE, POOLED),
        wanted(SHORTER, POOLED) - more("large", SHORTER, WHOLE, POOLED)[1],
    ],
    lambda: last(SHORTER),
    lambda: more("large", SHORTER, LAST, POOLED)[:1],
    lambda: in_most_runs(SHORTER),
)
for place, after in ((SHORTER, "strength 0.75"), (WEAK, "one patient")):
    note(
        f"| the same: pooled learner, {{}} runs | {SPAN} | | {SPAN} | | | | {after}",
        lambda place=place: [len(kept("large", place, POOLED, WHOLE))],
        lambda place=place: whole(place, POOLED),
        lambda place=place: last(place, POOLED),
    )
note(
    f"K = 60, {{}} runs | {SPAN} | never below pooled: {SPAN} more; in {{}} runs up to {{}} less | {SPAN} | "
    "({} more than pooled) | {} of {} in {} runs, {} in two |",
    lambda: [len(believed(WEAK))],
    lambda: whole(WEAK),
    lambda: more("large", WEAK, WHOLE, POOLED),
    lambda: worse(WEAK),
    lambda: last(WEAK),
    lambda: more("large", WEAK, LAST, POOLED)[:1],
    lambda: in_most_runs(WEAK),
)
note(
    f"20,000 patients, **{{}} runs** | {SPAN}, acting at random in the same runs {{}} | {{}} more than at random: "
    f"{SPAN} more, missed | {SPAN}, at random {{}} | | {{}} of {{}} |",
    lambda: [len(kept_runs("large", RECALL, PATIENTS))],
    lambda: [*whole(PATIENTS), *survivors("Random")],
    lambda: [wanted(PATIENTS, "Random"), *more("large", PATIENTS, WHOLE, "Random")],
    lambda: [*last(PATIENTS), *survivors("Random", LAST)],
    lambda: in_every_run(PATIENTS),
)
note(
    "acting at random ({} runs), QMDP that knows the populations ({} runs) | {}, {} |",
    lambda: [len(kept_runs("large", told, PATIENTS)) for told in ("Random", QMDP)],
    lambda: survivors("Random") + survivors(QMDP, runs=2),
)
note("A planner that knows the three and is told nothing saves {} (QMDP).", lambda: survivors(QMDP, runs=2))
note(
    f"tuned, earns {{}}, {{}} (H = 5,000) and {{}} (strength 0.75), which `Recall` exceeds by {SPAN}, {SPAN} "
    f"and {SPAN} in the whole run and by {{}} to {{}} in the last quarter (ten runs).",
    lambda: [whole(place, Q)[0] for place in (STRONG, SHORTER, WEAK)],
    lambda: [number for place in (STRONG, SHORTER, WEAK) for number in more("large", place, WHOLE, Q)],
    lambda: ends(more("large", place, LAST, Q)[0] for place in (STRONG, SHORTER, WEAK)),
)
note(
    "earns {}, {} and {}; `Recall` in the same runs {}, {} and {} more.",
    lambda: [mean("large", place, PSRL, WHOLE, runs=1) for place in (STRONG, SHORTER, WEAK)],
    lambda: [more("large", place, WHOLE, PSRL, 1)[0] for place in (STRONG, SHORTER, WEAK)],
)
note(
    "With one patient an episode Q-learning saves {} (ten runs; acting at random {}).",
    lambda: survivors(Q) + survivors("Random"),
)
