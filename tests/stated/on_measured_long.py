"""What Recall earns in long episodes."""

from aomultirl.cli import comparing
from aomultirl.experiments.suites import reward
from stated.checks import states
from stated.computed import kept, kept_runs
from stated.measured import MIXTURE, PAGE, PSRL, RECALL, SPAN, TOLD, judged, maps, mean, more, note, proven, span
from stated.on_suites import sets

LONG = {
    "grid of the text, 4 x 4": "grid, third",
    "grid as released, 4 x 4": "grid, stay",
    "grid 8 x 8": "grid 8x8",
    "grid 12 x 12": "grid 12x12",
    "rare pair": "rare pair",
    "FrozenLake 8 x 8, {} maps, restarting": "FrozenLake 8x8, 4 maps, restarting",
    "random, S = 16, M = 6, λ = 1": "random, 1",
}
LARGEST = "random, S = 200, M = 10, 0.5"

MISSED = ", missed by {}"
for (label, place), (first, second) in zip(
    LONG.items(),
    [(MISSED, MISSED), ("", MISSED), (MISSED, ""), (MISSED, ""), ("", MISSED), ("", ""), ("", "")],
    strict=True,
):
    others = ("H = 1,000", "H = 20,000") if place in ("grid, third", "grid, stay", "random, 1") else ()
    note(
        f"| {label} | {SPAN} | {{}}{first} | {SPAN} | {{}}{second} | {'{}; {} |' if others else '|'}",
        lambda label=label, place=place: maps(label, place),
        lambda place=place, said=first: judged("reward", place, "H = 500", said),
        lambda place=place, said=second: judged("reward", place, "H = 2,000", said),
        lambda place=place, others=others: [mean("reward", place, RECALL, heading) for heading in others],
    )
    if told := place not in ("FrozenLake 8x8, 4 maps, restarting", "random, 1"):
        note(
            f"| {label} | {SPAN} | {SPAN} | {SPAN} | {SPAN} |",
            *(
                lambda place=place, heading=heading: (
                    span("reward", place, TOLD, heading) + more("reward", place, heading, TOLD)
                )
                for heading in ("H = 500", "H = 2,000")
            ),
        )
    note(
        f"| {label} | {{}}; {{}} | {SPAN}; {SPAN} | {{}}; {{}} | {SPAN}; {SPAN} |",
        lambda label=label, place=place: maps(label, place),
        *(
            lambda place=place, other=other, runs=runs: [
                *(mean("reward", place, other, heading, runs=runs) for heading in ("H = 500", "H = 2,000")),
                *(
                    number
                    for heading in ("H = 500", "H = 2,000")
                    for number in more("reward", place, heading, other, runs)
                ),
            ]
            for other, runs in ((PSRL, 10), (MIXTURE, 3))
        ),
    )


def largest(other, runs):
    return [mean("reward", LARGEST, other, "H = 1,000", runs=runs), *more("reward", LARGEST, "H = 1,000", other, runs)]


note(
    f"| random, S = 200, M = 10, λ = 0.5 | | | | | {SPAN}, {{}} asked |",
    lambda: judged("reward", LARGEST, "H = 1,000", ""),
)
note(
    f"| random, S = 200, M = 10, λ = 0.5, H = 1,000 | {{}} | {SPAN} | {{}} | {SPAN} |",
    lambda: largest(PSRL, 10),
    lambda: largest(MIXTURE, 3),
)


def proven_when_long():
    return sum(run.episodes - run.abstained for run in kept_runs("reward", RECALL, heading="H = 20,000"))


states(
    PAGE,
    "None of the {} episodes of these {} runs was put in a wrong proven cluster; but only {} were put in one at all",
    within=0.01,
)(lambda: proven("reward"))
note("in episodes of 20,000 steps ({})", lambda: [proven_when_long()])
note(
    "believe in more than {} worlds of {}, {} of {} or {} of {}",
    lambda: [
        number
        for models in (4, 6, 3)
        for number in (max(run.worlds for run in kept_runs("reward", RECALL) if run.models == models), models)
    ],
)
note(
    "but for the grid of the text with 2,000 steps ({} of {});",
    lambda: [judged("reward", "grid, third", "H = 2,000", MISSED)[place] for place in (0, 3)],
)
note(
    "On the grid of 12 x 12 three runs of ten earn {} %, and seven {} to {};",
    lambda: [sorted(kept("reward", "grid 12x12", RECALL, "H = 500"))[place] for place in (1, 3, 9)],
)
note("has two runs of {} and {} %,", lambda: sorted(kept("reward", "rare pair", RECALL, "H = 2,000"))[:2])

note("Share of the optimal reward in %, {} episodes, the paper's stream", lambda: [reward.EPISODES])
note("most of them in episodes of {} steps", lambda: [reward.HORIZONS[-1]])
note("and earns {} % all the same", lambda: [mean("reward", LARGEST, RECALL, "H = 1,000")])


def count(told):
    """The runs of somebody in every place and column where it is compared; as many in each."""
    counts = {
        len(kept_runs("reward", told, place, heading))
        for place in LONG.values()
        for heading in ("H = 500", "H = 2,000")
    }
    (runs,) = counts - {0}
    return runs


note("was first seen there, in one of {} runs", lambda: [comparing.RUNS])
note("of its 95 % bootstrap interval over {} runs is", lambda: [comparing.RUNS])
note("that it should be ({} runs, d87cc36;", lambda: [count(TOLD)])
note("PSRL ({} runs) and the mixture of MDPs ({} runs), commit", lambda: [count(PSRL), count(MIXTURE)])
note("it believes in one or two worlds of {}, and earns", lambda: sets("reward", LARGEST))
