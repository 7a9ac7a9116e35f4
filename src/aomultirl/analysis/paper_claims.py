"""What the paper says of its experiment (Section 5 and Appendix J), beside what was measured and computed.

Here are the claims on sets of pairs and on the four worlds; those on the curves are in :mod:`.paper_curve_claims`.
"""

import math
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aomultirl.analysis.claims import Claim
from aomultirl.analysis.paper_curve_claims import SECTION, curve_claims
from aomultirl.analysis.phrases import listed, number
from aomultirl.analysis.rules import About, Bounded, Exactly, Undecidable, computed, exact
from aomultirl.experiments.paper import DISCOVERED, GAMMA, GIVEN, HORIZON, SEPARATION, Results
from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet

APPENDIX, ASSUMPTION_19 = "Appendix J", "Section 4, Assumption 19"
REPORTED_SET = ((14, 1), (7, 2), (13, 0))
HALF_SET = ((11, 3), (4, 2), (13, 0))
APART = 0.75
"""Algorithm 4 takes the first pair whose estimates are further apart than this share of lambda."""
TIE = 1e-9
"""Actions whose values differ by no more are equally good: sums of some hundred rewards are rounded by less."""
Pair: TypeAlias = tuple[int, int]


def check_claims(results: Results, models: ModelSet) -> list[Claim]:
    """Every claim: on the curves, on the sets of pairs, and on the worlds, each in the order of the paper."""
    return [*curve_claims(results), *_about_the_sets(results, models), *_about_the_worlds(results, models)]


# -- sets of pairs ----------------------------------------------------------------------------------------


def _about_the_sets(results: Results, models: ModelSet) -> Iterator[Claim]:
    found = [history.about["findings"]["discovered"] for history in results.histories[DISCOVERED]]
    sets = [None if pairs is None else frozenset(map(_pair, pairs)) for pairs in found]
    full, half = models.default_level(), models.separation() / 2.0
    yield Claim(
        "the two-stage agent discovers the same set in all runs",
        APPENDIX,
        Exactly(len(sets), _words(REPORTED_SET)),
        computed(sets.count(frozenset(REPORTED_SET))),
        remark="with the states scanned from the last to the first, as the authors' code does (E25)",
        unit="in runs",
    )
    complete = [pairs for pairs in sets if pairs is not None]
    needed = len(models.distinguishing_set())
    yield Claim(
        "what it discovers distinguishes at lambda/2, with as few pairs as any set",
        APPENDIX,
        Exactly(len(sets), f"in every run, and {needed} pairs"),
        {
            "runs whose set distinguishes": exact(sum(models.is_distinguishing(pairs, half) for pairs in complete)),
            f"runs whose set has {needed} pairs": exact(sum(len(pairs) == needed for pairs in complete)),
        },
        unit="in runs",
    )
    yield from _of_half_the_separation(sets, models)
    yield Claim(
        "the given set is a smallest one",
        APPENDIX,
        Exactly(len(GAMMA), _words(GAMMA)),
        {
            "pairs needed": exact(needed),
            "pairs of the given set, if it distinguishes": exact(
                len(GAMMA) if models.is_distinguishing(GAMMA, full) else math.inf
            ),
        },
        unit="in pairs",
    )
    yield Claim(
        "another set distinguishes at lambda/2 only",
        APPENDIX,
        Exactly(1.0, _words(HALF_SET)),
        {
            "that it does at lambda/2": exact(models.is_distinguishing(HALF_SET, half)),
            "that it does not at lambda": exact(not models.is_distinguishing(HALF_SET, full)),
        },
        unit="1 for yes",
    )


def _of_half_the_separation(sets: list[frozenset[Pair] | None], models: ModelSet) -> Iterator[Claim]:
    """On pairs that tell two worlds apart at lambda/2 and no two at lambda: in what was found, and in what could be."""
    weak = [_weak_pairs(pairs or (), models) for pairs in sets]
    yield Claim(
        "one pair in it distinguishes at lambda/2 only",
        SECTION,
        Bounded(1.0, "in every run", side=">=", by="computed"),
        computed(min(map(len, weak))),
        remark="; ".join(sorted({_words(pairs) for pairs in weak if pairs})),
        explanation=f"{sum(not pairs for pairs in weak)} of {len(weak)} runs found none (E25)",
        unit="in pairs",
    )
    backwards, forwards = (scanned(models, backwards=backwards) for backwards in (True, False))
    yield Claim(
        "the worlds are set up so that whoever finds four clusters finds such a pair",
        SECTION,
        Bounded(1.0, "with exact estimates, whichever way the states are scanned", side=">=", by="computed"),
        {
            "from the last state to the first": exact(len(_weak_pairs(backwards, models))),
            "from the first state to the last": exact(len(_weak_pairs(forwards, models))),
        },
        explanation=f"Algorithm 4 leaves the scan open, and forwards it finds {_words(forwards)} (E25)",
        unit="in pairs",
    )


def scanned(models: ModelSet, *, backwards: bool) -> list[Pair]:
    """The pairs that Algorithm 4 discovers if its estimates are exact: the first of a scan, for every two worlds.

    backwards: from the last state to the first, in place of the other way; actions always from the first on.
    """
    order = [(s, a) for s in range(models.n_states) for a in range(models.n_actions)]
    if backwards:
        order.sort(key=lambda pair: -pair[0])
    apart = models.distances() > APART * models.separation()
    found = (next(pair for pair in order if apart[i, j][pair]) for i, j in combinations(range(len(models)), 2))
    return sorted(set(found))


def _weak_pairs(pairs: Iterable[Pair], models: ModelSet) -> list[Pair]:
    """Those that tell two worlds apart at lambda/2, and no two at lambda."""
    farthest = models.distances().max(axis=(0, 1))
    level, half = models.default_level(), models.separation() / 2.0
    return sorted(pair for pair in pairs if half < farthest[pair] <= level)


# -- the worlds -------------------------------------------------------------------------------------------


def _about_the_worlds(results: Results, models: ModelSet) -> Iterator[Claim]:
    yield from _about_times(results, models)
    ties = {f"m{place}": tied_states(world, HORIZON) for place, world in enumerate(models, 1)}
    tied = [f"{listed(list(map(str, states)))} of {name}" for name, states in ties.items() if states]
    yield Claim(
        "every world has a unique optimal policy",
        SECTION,
        Exactly(0.0, f"states in which several actions are best, with {HORIZON} steps to go"),
        {name: exact(len(states)) for name, states in ties.items()},
        explanation=f"actions tie in states {'; '.join(tied)} (E35)",
        unit="in states",
    )
    rule = About(1.2999, least=1.2989, most=1.3009)
    remark = f"agents are told {SEPARATION:.6f}"
    yield Claim("the separation of the worlds", SECTION, rule, computed(models.separation()), remark=remark)
    corners = {
        f"between m{i + 1} and m{j + 1}": exact(corners_told_apart(models, i, j))
        for i, j in combinations(range(len(models)), 2)
    }
    yield Claim(
        "every two worlds differ at pairs next to two corners",
        SECTION,
        Exactly(2.0, "and nowhere else"),
        corners,
        unit="in corners",
    )


def tied_states(world: MDP, horizon: int) -> list[int]:
    """The states in which more than one action is best, with so many steps to go."""
    values = world.rewards + world.transitions @ world.optimal_values(horizon)[1]
    best = values >= values.max(axis=1, keepdims=True) - TIE
    return [int(state) for state in np.flatnonzero(best.sum(axis=1) > 1)]


def corners_told_apart(models: ModelSet, i: int, j: int) -> float:
    """How many corners two grids differ next to; infinite if they differ elsewhere too."""
    assert models[i].layout is not None
    rows, columns = models[i].layout
    corners = [(row, column) for row in (0, rows - 1) for column in (0, columns - 1)]
    places = [divmod(int(state), columns) for state, _ in np.argwhere(models.distances()[i, j] > TIE)]
    near = [
        [corner for corner in corners if abs(row - corner[0]) + abs(column - corner[1]) == 1] for row, column in places
    ]
    return float(len({corner for some in near for corner in some})) if all(near) else math.inf


def _about_times(results: Results, models: ModelSet) -> Iterator[Claim]:
    """On episodes and steps: D, H0 and K1."""
    hitting, diameter = max(world.hitting_time() for world in models), max(world.diameter() for world in models)
    why = "some policy avoids a state for ever (E22)" if np.isinf(hitting) else "computed exactly (E22)"
    yield Claim(
        "the hitting time D",
        SECTION,
        About(7.0, least=6.5, most=7.5),
        computed(hitting),
        remark=f"the diameter is {diameter:.3f}; {why}",
        unit="in steps",
    )
    constants = results.experiment.constants
    first, second = (
        results.histories[label][0].about["findings"]["clustering_horizon"] for label in (GIVEN, DISCOVERED)
    )
    whole = results.experiment.episodes == 200
    source = "formula of the paper" if constants == "paper" else "released code"
    yield Claim(
        "steps of the clustering phase, H0",
        SECTION,
        About(80_000.0, least=72_000.0, most=88_000.0) if whole else Undecidable(80_000.0, "that is for 200 episodes"),
        computed(first),
        remark=f"the {source} gives {first:,} with the paper's D = 7 (E23)",
        unit="in steps",
    )
    more = "its run has four episodes more, and N grows with ln K"
    yield Claim(
        "H0 with the discovered set",
        APPENDIX,
        Exactly(first, "identical"),
        computed(second),
        explanation=more if constants == "released" else f"{more}; each stage may fail with p / 2 (E21)",
        unit="in steps",
    )
    yield _assumption_19(results, models)


def _assumption_19(results: Results, models: ModelSet) -> Claim:
    """Which the theorem for the two-stage agent needs, and which says that its second stage is the longer by far."""
    tasks = [history["task"] for history in results.histories[DISCOVERED]]
    latest = max(episodes_until_all(seen, len(models)) for seen in tasks)
    episodes, pairs = len(tasks[0]), models.n_states * models.n_actions
    return Claim(
        "every world comes within K1 episodes, and K1 S A is below K",
        ASSUMPTION_19,
        Bounded(float(episodes), "K, with the four episodes of stage 1", side="<", by="computed"),
        computed(latest * pairs),
        explanation=f"no K1 is below M = {len(models)}, so K would have to be above {len(models) * pairs} (E34); "
        f"the proof takes {len(models) * (pairs + 1) + 1:,} episodes at least (E17)",
        remark=f"K1 = {number(latest)}, S A = {pairs}",
        unit="in episodes",
    )


def episodes_until_all(tasks: NDArray[np.int64], worlds: int) -> float:
    """After how many episodes every world has come; inf if one never does."""
    came = [np.flatnonzero(tasks == world) for world in range(worlds)]
    return float(max(times[0] for times in came) + 1) if all(map(len, came)) else math.inf


def _pair(pair: Iterable[int]) -> Pair:
    state, action = pair
    return state, action


def _words(pairs: Iterable[Pair]) -> str:
    return listed([f"({s}, {a})" for s, a in pairs])
