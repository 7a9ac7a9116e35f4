"""Why a finite hitting time, computed: 2-JAO worlds have none, and without it ExploreID's H0 is void."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from aomultirl import agents, theory
from aomultirl.agents.base import Setting
from aomultirl.laboratory import paper_places
from aomultirl.laboratory.assumptions_gathering import ACTIONS, FAILURE, LEVEL, LOCK, world
from aomultirl.laboratory.exponents import line_through
from aomultirl.laboratory.findings import Claim, Figure, Findings, Series, Subject
from aomultirl.mdp import MDP
from aomultirl.worlds.jao import two_jao
from aomultirl.worlds.jao_tree import two_jao_tree

TIMES, VOID = "assumptions_times", "assumptions_void"
REFUSAL = re.compile(r"infinite hitting time|hitting_time must be finite")
"""What is said where it is refused."""
STEPS = (1, 3, 10, 30, 100, 300, 1000)
"""At which waiting is cut off."""
DIAMETER = 40.0
SHARES = (0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001)
"""Of actions that are taken at random."""


def measure() -> Findings:
    """All of it."""
    return _hitting() + _horizon()


def expected_times(model: MDP, steps: Sequence[int], *, slowest: bool) -> list[float]:
    """max over s != s' of the expected time from s to s', cut off at so many steps, by the slowest or quickest way."""
    table, size, found = model.transitions, model.n_states, []
    times = np.zeros((size, size))
    for step in range(1, max(steps) + 1):
        ahead = 1.0 + table @ times
        times = ahead.max(axis=1) if slowest else ahead.min(axis=1)
        np.fill_diagonal(times, 0.0)
        if step in steps:
            found.append(float(times.max()))
    return found


def _hitting() -> Findings:
    hard: Mapping[str, Sequence[MDP]] = {
        "2-JAO worlds": list(two_jao(ACTIONS, DIAMETER, LEVEL)),
        "2-JAO trees": list(two_jao_tree(12, 13, 16.0, LEVEL)),
    }
    worlds = [model for models in hard.values() for model in models]
    finite = float(sum(np.isfinite(model.hitting_time()) for model in worlds))
    wide = float(sum(not np.isfinite(model.diameter()) for model in worlds))
    claim = Claim(
        "no 2-JAO world has a finite hitting time, although all have a finite diameter",
        paper_places.ASSUMPTION_12,
        0.0,
        finite,
        finite,
        finite,
        finite == 0.0 and wide == 0.0,
        "computed exactly; how many have a finite hitting time, and every diameter must be finite",
        f"{' and '.join(f'{len(models)} {name}' for name, models in hard.items())}; the paper's own hard worlds break "
        "its assumption",
        TIMES,
        unit="in worlds",
    )
    sets = {**hard, "JAO trees": list(two_jao_tree(8, 5, 16.0, LEVEL, kind="jao")), "locks": [world(LOCK, 8)]}
    last = {name: models[-1] for name, models in sets.items()}
    waits = [expected_times(model, STEPS, slowest=True) for model in last.values()]
    series = [Series("the slowest policy, in all of them", STEPS, np.min(waits, axis=0).tolist())]
    for name, model in last.items():
        quick = expected_times(model, STEPS, slowest=False)
        series.append(Series(f"the quickest, {name}: diameter {model.diameter():.3g}", STEPS, quick))
    series.append(Series("T: never met", (STEPS[0], STEPS[-1]), (STEPS[0], STEPS[-1]), kind="theory"))
    figure = Figure(
        TIMES,
        "Expected time until a state is met, cut off at T, for the two states for which it is longest",
        "T",
        "steps",
        series,
        caption="One world of each kind; of the slowest policy the least of all worlds is shown. Computed, over all "
        "policies: the quickest ends at the diameter, the slowest at the hitting time, here never.",
    )
    return Findings([claim], [figure])


def _horizon() -> Findings:
    """H0 where actions are random now and then, so that the hitting time is finite."""
    refused = float(sum(_refused(attempt) for attempt in ATTEMPTS.values()))
    claim = Claim(
        "there is no H0 for an infinite hitting time, and ExploreID's agents refuse to choose one",
        paper_places.LEMMA_14,
        float(len(ATTEMPTS)),
        refused,
        refused,
        refused,
        refused == len(ATTEMPTS),
        "tried; all must be refused, with the infinite hitting time as the reason",
        f"tried: {', '.join(ATTEMPTS)}",
        VOID,
        unit="in attempts",
    )
    plain = two_jao(ACTIONS, DIAMETER, LEVEL)[0]
    horizons = [_clustering_horizon(_shaken(plain, share).hitting_time()) for share in SHARES]
    near = _clustering_horizon(plain.diameter())
    line = line_through(SHARES, [np.array([horizon]) for horizon in horizons])
    series = [
        Series("H0", SHARES, horizons),
        Series(
            f"H0: slope {line.slope:.2f}", SHARES, [line(share) for share in SHARES], kind="fit", subject=Subject("H0")
        ),
        Series("H0 with the diameter in place of the hitting time", SHARES, [near for _ in SHARES], kind="theory"),
    ]
    figure = Figure(
        VOID,
        "A 2-JAO world: ExploreID's H0, a share of the actions being random",
        "share of random actions",
        "steps",
        series,
        caption=f"H0 = 12 D |Gamma| N with the hitting time for D, which is finite if actions are random now and then; "
        f"D = {DIAMETER:g}, lambda = {LEVEL:g}. Without random actions there is no H0, and it is refused.",
    )
    return Findings([claim], [figure])


def _clustering_horizon(time: float) -> float:
    return float(theory.clustering_horizon(3, ACTIONS, LEVEL, time, 1, FAILURE))


def _shaken(model: MDP, share: float) -> MDP:
    """Whatever is chosen, such a share of the actions is random."""
    table = model.transitions
    return MDP((1.0 - share) * table + share * table.mean(axis=1, keepdims=True), model.rewards)


def _begin(agent: agents.Agent) -> None:
    models = two_jao(ACTIONS, 40.0, LEVEL)
    agent.begin(Setting(models.n_states, models.n_actions, models.rewards, 1))


ATTEMPTS: dict[str, Callable[[], Any]] = {
    "theory.clustering_horizon": lambda: theory.clustering_horizon(3, ACTIONS, LEVEL, np.inf, 1, FAILURE),
    "AOMultiRL": lambda: _begin(
        agents.AOMultiRL(two_jao(ACTIONS, 40.0, LEVEL), LEVEL - 1e-6, None, FAILURE, horizon=10**9)
    ),
    "TwoStageAOMultiRL": lambda: _begin(
        agents.TwoStageAOMultiRL(two_jao(ACTIONS, 40.0, LEVEL), LEVEL - 1e-6, None, FAILURE, horizon=10**9)
    ),
}


def _refused(attempt: Callable[[], Any]) -> bool:
    """Because of the hitting time, and of nothing else."""
    try:
        attempt()
    except ValueError as error:
        return REFUSAL.search(str(error)) is not None
    return False
