"""What the paper's theorems promise for one setting, beside the trivial K H.

N, H0, delta, L and the bonus; every regret bound with its parts; the lower bounds; and the errata of the paper that the
numbers depend on.  :mod:`aomultirl.reports.bounds_table` shows them.
"""

from collections.abc import Callable
from typing import NamedTuple, TypedDict

from aomultirl import checks, theory

LEARNING_HORIZON = 200
"""H1 of the paper's experiment."""
PAPER_SIZES = (16, 4, 4, 7.0)
"""S, A, M and the hitting time of the paper's experiment, which errata 22 and 23 are about."""
SMALL_LOGARITHM = 4.0
"""L below which the proof for UCBVI does not hold (erratum 28)."""
BY_CONSTANTS = {"paper": set[int](), "released": {14, 27}}
"""Errata that come with the constants."""


class ProblemSizes(TypedDict):
    """What nearly every bound asks for: S, A, M, K and p."""

    states: int
    actions: int
    models: int
    episodes: int
    failure: float


class IdentificationSizes(TypedDict):
    """What the lower bounds on identification ask for: S, A, lambda and D."""

    states: int
    actions: int
    separation: float
    diameter: float


class BoundsSetting(NamedTuple):
    """What the bounds are for.

    sizes: S, A, M, K and p.
    separation: lambda.
    hitting_time: the bound on the hitting time that H0 is made of, in steps.
    diameter: D, in steps; None where only the hitting time bounds it.
    pairs: the size of the distinguishing set.
    constants: "paper" or "released".
    samples, clustering_horizon: N and H0 for so many pairs.
    learning_horizon, horizon: H1, and H = H0 + H1.
    fixed_horizon: whether H is the same for every agent, rather than H1.
    """

    sizes: ProblemSizes
    separation: float
    hitting_time: float
    diameter: float | None
    pairs: int
    constants: str
    samples: int
    clustering_horizon: int
    learning_horizon: int
    horizon: int
    fixed_horizon: bool

    @property
    def across(self) -> float:
        """D: the diameter, or the hitting time, which is never smaller."""
        return self.hitting_time if self.diameter is None else self.diameter

    @property
    def every_pair(self) -> int:
        """S A, the size of the largest distinguishing set."""
        return self.sizes["states"] * self.sizes["actions"]

    def trivial(self, horizon: int) -> float:
        """K H: no regret is larger."""
        return float(self.sizes["episodes"]) * horizon


class UpperBound(NamedTuple):
    """An upper bound on the regret beside the trivial one.

    name: the theorem, or the learner.
    bound: None where it does not apply.
    trivial: K H.
    remark: why it does not apply, or which premise fails.
    errata: the numbers of those that it depends on.
    """

    name: str
    bound: theory.RegretBound | None
    trivial: float
    remark: str = ""
    errata: tuple[int, ...] = ()

    @property
    def vacuous(self) -> bool:
        """Whether the bound is larger than K H."""
        return self.bound is not None and self.bound.total > self.trivial


class LowerBound(NamedTuple):
    """A lower bound.

    name: what is at least so much.
    value: None where it is not proved.
    remark: why it is not proved, or for which worlds it holds.
    errata: the numbers of those that it depends on.
    """

    name: str
    value: float | None
    remark: str
    errata: tuple[int, ...]


class Bounds(NamedTuple):
    """All that is promised for a setting.

    setting: what the bounds are for.
    thresholds: delta for a distinguishing set at lambda and at lambda / 2.
    logarithm, informative: L, and the visits of a pair until its bonus is below the cap H1.
    short: both of these with H1 for H in L.
    visits: n of each pair of a world at the end, if the learning steps spread evenly.
    bonus: after so many visits.
    upper, lower: the bounds.
    errata: the numbers of those that apply.
    """

    setting: BoundsSetting
    thresholds: tuple[float, float]
    logarithm: float
    informative: int
    short: tuple[float, int]
    visits: float
    bonus: float
    upper: list[UpperBound]
    lower: list[LowerBound]
    errata: list[int]


def compute(
    *,
    states: int = 16,
    actions: int = 4,
    models: int = 4,
    episodes: int = 200,
    learning_horizon: int | None = None,
    horizon: int | None = None,
    separation: float = 1.299999,
    hitting_time: float = 7.0,
    diameter: float | None = None,
    failure: float = 0.03,
    pairs: int = 3,
    constants: str = "paper",
) -> Bounds:
    """Every bound for one setting; the defaults are the paper's experiment.

    Parameters
    ----------
    states, actions, models, episodes
        S, A, M and K.
    learning_horizon
        H1, by default 200; every agent's episode is so much longer than its own clustering phase.
    horizon
        H in place of H1, the same for every agent.
    separation, hitting_time, failure
        lambda, the bound on the hitting time that H0 is made of, and p.
    diameter
        D, by default bounded by the hitting time.
    pairs
        the size of the distinguishing set Gamma.
    constants
        "paper" or "released", for N, H0 and the bonus.
    """
    for name, value in (("states", states), ("actions", actions), ("models", models)):
        checks.integer(name, value, least=1)
    checks.integer("pairs", pairs, least=1, most=states * actions)
    if diameter is not None:
        checks.real("diameter", diameter, above=0.0)
    first = theory.clustering_horizon(states, pairs, separation, hitting_time, episodes, failure, constants)
    if horizon is not None and learning_horizon is not None:
        raise ValueError("give horizon or learning_horizon, not both")
    if horizon is not None:
        steps = checks.integer("horizon", horizon, least=first + 1) - first
    else:
        wanted = LEARNING_HORIZON if learning_horizon is None else learning_horizon
        steps = checks.integer("learning_horizon", wanted, least=1)
    setting = BoundsSetting(
        sizes=ProblemSizes(states=states, actions=actions, models=models, episodes=episodes, failure=failure),
        separation=separation,
        hitting_time=hitting_time,
        diameter=diameter,
        pairs=pairs,
        constants=constants,
        samples=theory.samples_needed(states, pairs, separation, episodes, failure, constants),
        clustering_horizon=first,
        learning_horizon=steps,
        horizon=first + steps,
        fixed_horizon=horizon is not None,
    )
    return _bounds(setting)


def _bounds(setting: BoundsSetting) -> Bounds:
    sizes, steps, constants = setting.sizes, setting.learning_horizon, setting.constants
    (log, informative), short = (
        (
            theory.logarithm(**sizes, horizon=horizon),
            theory.visits_until_informative(**sizes, horizon=horizon, learning_horizon=steps, constants=constants),
        )
        for horizon in (setting.horizon, steps)
    )
    visits = sizes["episodes"] * steps / (sizes["models"] * setting.every_pair)
    bonus = theory.bonus(visits, **sizes, horizon=setting.horizon, learning_horizon=steps, constants=constants)
    upper, lower = _upper_bounds(setting), _lower_bounds(setting)
    errata = BY_CONSTANTS[constants].union(*(row.errata for row in upper), *(row.errata for row in lower))
    if (sizes["states"], sizes["actions"], sizes["models"], setting.hitting_time) == PAPER_SIZES:
        errata |= {22, 23}
    if log < SMALL_LOGARITHM:
        errata.add(28)
    level = setting.separation
    return Bounds(
        setting=setting,
        thresholds=(theory.threshold(level, level), theory.threshold(level / 2.0, level)),
        logarithm=log,
        informative=informative,
        short=short,
        visits=visits,
        bonus=float(bonus),
        upper=upper,
        lower=lower,
        errata=sorted(errata),
    )


def _upper_bounds(setting: BoundsSetting) -> list[UpperBound]:
    sizes, steps, whole = setting.sizes, setting.learning_horizon, setting.trivial(setting.horizon)
    first = theory.regret_bound(
        **sizes,
        clustering_horizon=setting.clustering_horizon,
        learning_horizon=steps,
        diameter=setting.diameter,
    )
    alone = ProblemSizes(**{**sizes, "models": 1})
    name = f"Theorem 1, {setting.pairs:,} known pairs"
    return [
        UpperBound(name, first, whole, errata=(6, 7, 8, 19, 29)),
        _over_every_pair(setting, "Corollary, S x A", _corollary, errata=(6, 7, 8, 18, 19, 29)),
        _theorem_2(setting),
        _over_every_pair(setting, "S x A, samples of both phases", _both_phases, errata=(7, 8, 11, 12, 13, 19)),
        UpperBound("UCBVI, told the world", theory.ucbvi_bound(**sizes, horizon=setting.horizon), whole),
        UpperBound("UCBVI, one world, H1 steps", theory.ucbvi_bound(**alone, horizon=steps), setting.trivial(steps)),
        _external(setting),
        UpperBound("UCRL2, every episode alone", _ucrl2(setting), whole),
    ]


def _over_every_pair(
    setting: BoundsSetting,
    name: str,
    bound: Callable[[BoundsSetting, int, int], theory.RegretBound],
    errata: tuple[int, ...],
    *,
    failure: float | None = None,
    remark: str = "",
) -> UpperBound:
    """A bound of (setting, H0, H1) for agents that visit every pair; failure: their p, if it is not the whole."""
    sizes = setting.sizes
    first = theory.clustering_horizon(
        sizes["states"],
        setting.every_pair,
        setting.separation,
        setting.hitting_time,
        sizes["episodes"],
        sizes["failure"] if failure is None else failure,
        setting.constants,
    )
    steps = setting.horizon - first if setting.fixed_horizon else setting.learning_horizon
    if steps < 1:
        return UpperBound(name, None, setting.trivial(setting.horizon), f"horizon must be above H0 = {first:,}")
    return UpperBound(name, bound(setting, first, steps), setting.trivial(first + steps), remark, errata)


def _corollary(setting: BoundsSetting, first: int, steps: int) -> theory.RegretBound:
    return theory.full_set_bound(
        **setting.sizes,
        learning_horizon=steps,
        separation=setting.separation,
        hitting_time=setting.hitting_time,
        diameter=setting.diameter,
        constants=setting.constants,
    )


def _theorem_2(setting: BoundsSetting) -> UpperBound:
    sizes, name = setting.sizes, "Theorem 2, two stages"
    if sizes["models"] == 1:
        return UpperBound(name, None, setting.trivial(setting.horizon), "models must be at least 2")
    least = sizes["models"] * (setting.every_pair + 1) + 1
    remark = "" if sizes["episodes"] >= least else f"its premise needs at least {least:,} episodes (E17)"
    errata, half = (6, 7, 8, 17, 18, 19, 21), sizes["failure"] / 2.0
    return _over_every_pair(setting, name, _two_stages, errata, failure=half, remark=remark)


def _two_stages(setting: BoundsSetting, first: int, steps: int) -> theory.RegretBound:
    return theory.two_stage_bound(
        **setting.sizes,
        horizon=first + steps,
        separation=setting.separation,
        hitting_time=setting.hitting_time,
        constants=setting.constants,
    )


def _both_phases(setting: BoundsSetting, first: int, steps: int) -> theory.RegretBound:
    return theory.first_stage_bound(
        **setting.sizes,
        clustering_horizon=first,
        learning_horizon=steps,
        samples=_samples_of_every_pair(setting),
        diameter=setting.diameter,
    )


def _external(setting: BoundsSetting) -> UpperBound:
    """For a learner of H1 steps that is given the samples of somebody else's clustering phase."""
    sizes, steps, samples = setting.sizes, setting.learning_horizon, _samples_of_every_pair(setting)
    bound = theory.external_samples_bound(
        states=sizes["states"],
        actions=sizes["actions"],
        episodes=sizes["episodes"],
        horizon=steps,
        samples=samples,
        failure=sizes["failure"],
    )
    return UpperBound(f"... {samples:,} external samples", bound, setting.trivial(steps), errata=(11, 12))


def _ucrl2(setting: BoundsSetting) -> theory.RegretBound:
    states, actions, episodes = (setting.sizes[name] for name in ("states", "actions", "episodes"))
    return theory.ucrl2_bound(
        states=states, actions=actions, episodes=episodes, horizon=setting.horizon, diameter=setting.across
    )


def _samples_of_every_pair(setting: BoundsSetting) -> int:
    """N where the distinguishing set is S x A."""
    sizes, pairs = setting.sizes, setting.every_pair
    known = setting.separation, sizes["episodes"], sizes["failure"], setting.constants
    return theory.samples_needed(sizes["states"], pairs, *known)


def _lower_bounds(setting: BoundsSetting) -> list[LowerBound]:
    states, actions, episodes = setting.sizes["states"], setting.sizes["actions"], setting.sizes["episodes"]
    hard = IdentificationSizes(states=states, actions=actions, separation=setting.separation, diameter=setting.across)
    apart = f"cluster-then-learn, on {setting.every_pair // 12:,} 2-JAO worlds"
    return [
        _where_proved(
            "regret, minimax",
            lambda: theory.minimax_lower_bound(
                states=states, actions=actions, episodes=episodes, horizon=setting.horizon, diameter=setting.across
            ),
            f"any algorithm, on {setting.every_pair // 4:,} worlds close to each other",
            (2, 3),
        ),
        *(
            _where_proved(name, bound, apart, (4, 5))
            for name, bound in (
                ("samples to identify a world", lambda: theory.identification_samples(**hard)),
                ("steps to identify a world", lambda: theory.identification_steps(**hard)),
                ("regret from identifying", lambda: theory.identification_regret(**hard, episodes=episodes)),
            )
        ),
    ]


def _where_proved(name: str, bound: Callable[[], float], worlds: str, errata: tuple[int, ...]) -> LowerBound:
    try:
        return LowerBound(name, bound(), worlds, errata)
    except ValueError as error:
        return LowerBound(name, None, f"not proved here: {error}", ())
