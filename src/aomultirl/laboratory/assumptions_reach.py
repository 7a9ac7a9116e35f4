"""Why a finite diameter, computed: what of non-communicating 2-JAO worlds can be told from the adversary's start."""

from collections.abc import Sequence

import numpy as np

from aomultirl import theory
from aomultirl.laboratory import paper_places
from aomultirl.laboratory.assumptions_blocked import DIAMETER, FAILURE, WORLDS, Course, told
from aomultirl.laboratory.exponents import line_through
from aomultirl.laboratory.findings import Claim, Figure, Findings, Series, Subject
from aomultirl.mdp import MDP, ModelSet
from aomultirl.worlds.jao import HUB, LEFT

REACH, APART, NEEDED = "assumptions_reach", "assumptions_apart", "assumptions_needed"
LEVELS = (0.1, 0.2, 0.4, 0.6, 0.8, 0.95)
"""lambda of the figures."""
STEPS = (1, 2, 3, 5, 10, 20, 50, 100)


def measure(level: float) -> Findings:
    """All of it; agents are told ``level`` in place of lambda, and H is chosen by it."""
    blocked, free = (
        {one: Course("", one, level, there, 1).worlds() for one in (*LEVELS, level)} for there in (False, True)
    )
    horizon = told(level, False).horizon
    return _reach(blocked, free[LEVELS[0]]) + _apart(level, horizon, blocked) + _needed(horizon, blocked, free)


def reachable(model: MDP, start: int) -> set[int]:
    """The states that some policy reaches from ``start`` with positive probability."""
    found, waiting = {start}, [start]
    while waiting:
        after = np.flatnonzero(model.transitions[waiting.pop()].max(axis=0) > 0.0)
        fresh = set(after.tolist()) - found
        found |= fresh
        waiting += fresh
    return found


def chances(model: MDP, start: int, goal: int, steps: Sequence[int]) -> list[float]:
    """The largest probability, over all policies, of having been in ``goal`` after so many steps from ``start``."""
    table, values, found = model.transitions, np.zeros(model.n_states), []
    values[goal] = 1.0
    for step in range(1, max(steps) + 1):
        values = (table @ values).max(axis=1)
        values[goal] = 1.0
        if step in steps:
            found.append(float(values[start]))
    return found


def _reach(blocked: dict[float, ModelSet], free: ModelSet) -> Findings:
    closed = [model for worlds in blocked.values() for model in worlds]
    never, soon = (np.max([chances(model, HUB, LEFT, STEPS) for model in worlds], axis=0) for worlds in (closed, free))
    met = any(LEFT in reachable(model, HUB) for model in closed)
    most = float(never.max())
    claim = Claim(
        "from the adversary's start no policy reaches the state in which the worlds differ by lambda",
        paper_places.FIGURE_4,
        0.0,
        most,
        most,
        most,
        most == 0.0 and not met and not any(model.is_communicating() for model in closed),
        "computed; the largest probability over all policies and worlds must be 0, and no path may lead there",
        f"{len(closed)} worlds, lambda from {min(blocked):g} to {max(blocked):g}, infinite diameter; within "
        f"{max(STEPS)} steps, and since no path leads there within any number",
        REACH,
    )
    series = [
        Series("non-communicating 2-JAO", STEPS, never.tolist()),
        Series(f"2-JAO, lambda = {LEVELS[0]:g}", STEPS, soon.tolist()),
        Series("1 - (1/2 - lambda / 2)^t", STEPS, [1.0 - (0.5 - LEVELS[0] / 2.0) ** t for t in STEPS], kind="theory"),
        Series("never: 0", (STEPS[0], STEPS[-1]), (0.0, 0.0), kind="theory"),
    ]
    figure = Figure(
        REACH,
        "2-JAO worlds: how likely a policy reaches the left state from the hub",
        "steps t",
        "probability, the best policy",
        series,
        log_y=False,
        caption=f"D = {DIAMETER:g}; the largest over all policies and worlds, non-communicating for all lambda from "
        f"{min(blocked):g} to {max(blocked):g}; computed.",
    )
    return Findings([claim], [figure])


def _apart(level: float, horizon: int, blocked: dict[float, ModelSet]) -> Findings:
    inside = sorted(reachable(blocked[level][0], HUB))
    seen = {one: _separation(worlds, inside) for one, worlds in blocked.items()}
    gap = 2.0 * float(blocked[level][0].transitions[HUB, WORLDS, 1] - 4.0 / DIAMETER)
    claim = Claim(
        "where the learner can be, worlds are only 2 Delta apart, however large lambda is",
        paper_places.FIGURE_4,
        gap,
        seen[level],
        seen[level],
        seen[level],
        all(abs(apart - gap) < 1e-12 for apart in seen.values()),
        "computed; equal up to rounding, for every lambda",
        f"Delta = sqrt(S A / (3 H D)) / 20 with H = {horizon:,}, D = {DIAMETER:g}, S A = {12 * WORLDS}",
        APART,
        unit="as an l1 distance",
    )
    whole = [blocked[one].separation() for one in LEVELS]
    ends = (LEVELS[0], LEVELS[-1])
    series = [
        Series("all states", LEVELS, whole),
        Series("states that can be reached from the hub", LEVELS, [seen[one] for one in LEVELS]),
        Series("lambda", ends, ends, kind="theory"),
        Series("2 Delta", ends, (gap, gap), kind="theory"),
    ]
    figure = Figure(
        APART,
        "Non-communicating 2-JAO worlds: how far apart they are",
        "lambda",
        "l1 distance",
        series,
        caption=f"The smallest of all pairs of worlds; H = {horizon:,}, D = {DIAMETER:g}; computed.",
    )
    return Findings([claim], [figure])


def _separation(models: ModelSet, states: list[int]) -> float:
    apart = models.distances()[:, :, states].max(axis=(2, 3))
    return float(apart[~np.eye(len(models), dtype=bool)].min())


def _needed(horizon: int, blocked: dict[float, ModelSet], free: dict[float, ModelSet]) -> Findings:
    steps, easy = (
        {one: float(theory.identification_lower_bound(worlds[one], failure=FAILURE).min()) for one in worlds}
        for worlds in (blocked, free)
    )
    least = min(steps.values()) / horizon
    claim = Claim(
        f"whoever is wrong with probability {FAILURE:g} at most needs more steps than an episode has, all worlds known",
        paper_places.FIGURE_4,
        1.0,
        least,
        least,
        least,
        least > 1.0,
        "computed, a linear program; above 1 for every lambda",
        f"{least * horizon:,.0f} steps, H = {horizon:,}; where the left state can be reached the same bound is "
        f"{min(easy.values()):,.0f} to {max(easy.values()):,.0f} steps, lambda from {max(easy):g} to {min(easy):g}",
        NEEDED,
        ">",
        "in multiples of H",
    )
    out, reached = ([found[one] for one in LEVELS] for found in (steps, easy))
    line = line_through(LEVELS, [np.array([one]) for one in reached])
    words = "left state within reach"
    series = [
        Series("left state out of reach", LEVELS, out),
        Series(words, LEVELS, reached),
        Series(
            f"{words}: slope {line.slope:.2f}",
            LEVELS,
            [line(one) for one in LEVELS],
            kind="fit",
            subject=Subject(words),
        ),
        Series("H", (LEVELS[0], LEVELS[-1]), (horizon, horizon), kind="theory"),
    ]
    figure = Figure(
        NEEDED,
        f"2-JAO worlds: the least steps in which anybody can be wrong with probability {FAILURE:g} at most",
        "lambda",
        "steps",
        series,
        caption=f"All worlds known, computed by a linear program; M = {WORLDS}, D = {DIAMETER:g}, H = {horizon:,}.",
    )
    return Findings([claim], [figure])
