"""What the paper's theorems promise for one setting, beside the trivial K H, and which of their premises fail there.

N, H0, delta, L and the bonus; every regret bound with its parts; the lower bounds; and the errata of the paper that the
numbers depend on.  A bound is there only where nothing about the sizes and the constants breaks a premise; what is a
matter of the worlds is listed as such.  :mod:`aomultirl.reports.bounds_table` shows them.
"""

from collections.abc import Callable
from inspect import signature
from typing import Any, NamedTuple, TypeVar

from aomultirl import checks, theory

LEARNING_HORIZON = 200
"""H1 of the paper's experiment."""
PAPER_SIZES = (16, 4, 4, 7.0)
"""S, A, M and the hitting time of the paper's experiment, which errata 22 and 23 are about."""
PAPER_SEPARATION, SHORTEST_DIAMETER = 1.3, 11.508
"""Of the worlds in that experiment: lambda, and the diameter of the text's grids, rounded down."""
RELEASED = "proved for the text's N, H0 and bonus, not for those of the released code (E14, E27)"
SMALL_LOGARITHM = 4.0
"""L below which the proof for UCBVI does not hold (erratum 28)."""
BY_CONSTANTS = {"paper": set[int](), "released": {14, 27}}
"""Errata that come with the constants."""
T = TypeVar("T")


class BoundsSetting(NamedTuple):
    """What the bounds are for; the fields have the names of the parameters in :mod:`aomultirl.theory`.

    states, actions, models, episodes: S, A, M and K.
    failure: p.
    separation: lambda.
    hitting_time: the bound on the hitting time that H0 is made of, in steps.
    diameter: D, in steps; None where only the hitting time bounds it.
    constants: "paper" or "released".
    fixed_horizon: whether H is the same for every agent, rather than H1.
    pairs: the size of the distinguishing set.
    samples, clustering_horizon: N and H0 for so many pairs.
    learning_horizon, horizon: H1, and H = H0 + H1.
    """

    states: int
    actions: int
    models: int
    episodes: int
    failure: float
    separation: float
    hitting_time: float
    diameter: float | None
    constants: str
    fixed_horizon: bool = False
    pairs: int = 0
    samples: int = 0
    clustering_horizon: int = 0
    learning_horizon: int = 0
    horizon: int = 0

    @property
    def across(self) -> float:
        """D: the diameter, or the hitting time, which is never smaller."""
        return self.hitting_time if self.diameter is None else self.diameter

    @property
    def every_pair(self) -> int:
        """S A, the size of the largest distinguishing set."""
        return self.states * self.actions

    @property
    def trivial(self) -> float:
        """K H: no regret is larger."""
        return float(self.episodes) * self.horizon

    def apply(self, formula: Callable[..., T], **others: Any) -> T:
        """A formula of :mod:`aomultirl.theory` for this setting; ``others`` are parameters that it does not settle."""
        known = {**self._asdict(), **others}
        return formula(**{name: known[name] for name in signature(formula).parameters if name in known})

    def over(self, pairs: int, failure: float | None = None) -> "BoundsSetting":
        """The setting of agents that visit so many pairs: N, H0, and H or H1; failure: their p, if not the whole."""
        asked = {"pairs": pairs, "failure": self.failure if failure is None else failure}
        first = self.apply(theory.clustering_horizon, **asked, samples=None)
        steps = self.horizon - first if self.fixed_horizon else self.learning_horizon
        return self._replace(
            pairs=pairs,
            samples=self.apply(theory.samples_needed, **asked),
            clustering_horizon=first,
            learning_horizon=steps,
            horizon=first + steps,
        )


class UpperBound(NamedTuple):
    """An upper bound on the regret beside the trivial one.

    name: the theorem, or the learner.
    bound: None where it does not apply.
    trivial: K H.
    remark: why it does not apply.
    errata: the numbers of those that it depends on.
    fails: the assumption that does not hold in the paper's grids, where the sizes are theirs; then the bound is what it
        would be if it held.
    """

    name: str
    bound: theory.RegretBound | None
    trivial: float
    remark: str = ""
    errata: tuple[int, ...] = ()
    fails: str = ""

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


class Premise(NamedTuple):
    """What some of the theorems presuppose.

    name: what that is.
    holds: None where it depends on the worlds, or on the stream.
    why: what speaks for or against it.
    """

    name: str
    holds: bool | None
    why: str


class Bounds(NamedTuple):
    """All that is promised for a setting.

    setting: what the bounds are for.
    thresholds: delta for a distinguishing set at lambda and at lambda / 2.
    logarithm, informative: L, and the visits of a pair until its bonus is below the cap H1.
    short: both of these with H1 for H in L.
    visits: n of each pair of a world at the end, if the learning steps spread evenly.
    bonus: after so many visits.
    premises: of the upper bounds.
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
    premises: list[Premise]
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
    setting = BoundsSetting(
        states=states,
        actions=actions,
        models=models,
        episodes=episodes,
        failure=failure,
        separation=separation,
        hitting_time=hitting_time,
        diameter=diameter,
        constants=constants,
    )
    first = setting.over(pairs).clustering_horizon
    if horizon is not None and learning_horizon is not None:
        raise ValueError("give horizon or learning_horizon, not both")
    if horizon is not None:
        whole = checks.integer("horizon", horizon, least=first + 1)
        return _bounds(setting._replace(horizon=whole, fixed_horizon=True).over(pairs))
    wanted = LEARNING_HORIZON if learning_horizon is None else learning_horizon
    return _bounds(setting._replace(learning_horizon=checks.integer("learning_horizon", wanted, least=1)).over(pairs))


def _bounds(setting: BoundsSetting) -> Bounds:
    (log, informative), short = (
        (
            setting.apply(theory.logarithm, horizon=horizon),
            setting.apply(theory.visits_until_informative, horizon=horizon),
        )
        for horizon in (setting.horizon, setting.learning_horizon)
    )
    visits = setting.episodes * setting.learning_horizon / (setting.models * setting.every_pair)
    upper, lower = _upper_bounds(setting), _lower_bounds(setting)
    errata = BY_CONSTANTS[setting.constants].union(*(row.errata for row in upper), *(row.errata for row in lower))
    if _is_the_papers(setting):
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
        bonus=float(setting.apply(theory.bonus, visits=visits)),
        premises=_premises(setting),
        upper=upper,
        lower=lower,
        errata=sorted(errata),
    )


def _premises(setting: BoundsSetting) -> list[Premise]:
    """What the theorems on clustering, then learning presuppose, beside known rewards."""
    released, ours, worlds = setting.constants != "paper", _is_the_papers(setting), "a matter of the worlds"
    longest = "it is 350,443 in the paper's grids, and infinite in those of the released code (E22)"
    premises = [
        Premise(
            "N, H0 and the bonus are those of the text", not released, RELEASED if released else "so they are here"
        ),
        Premise(
            f"lambda: every two worlds differ by at least {setting.separation:.7g} somewhere",
            True if ours and setting.separation <= PAPER_SEPARATION else None,
            "the paper's grids are 1.3 apart" if ours else worlds,
        ),
        Premise(
            f"Assumption 4, for UCRL2: diameters are at most {setting.across:,.7g}",
            False if _breaks_assumption_4(setting) else None,
            "it is 11.508 in the paper's grids, and 16.152 in those of the released code (E22)" if ours else worlds,
        ),
        Premise(
            f"Assumption 12: hitting times are at most {setting.hitting_time:,.7g}",
            False if ours else None,
            longest if ours else worlds,
        ),
    ]
    if setting.models > 1:
        fails, most = _breaks_assumption_19(setting), _early(setting)
        why = fails or f"every world must come within the first {most:,} of the {setting.episodes:,} episodes (E17)"
        premises.append(Premise("Assumption 19, for two stages: K1 S A < K - K1", False if fails else None, why))
    return premises


def _is_the_papers(setting: BoundsSetting) -> bool:
    """Whether these are the sizes of the paper's experiment, so that its worlds are the four grids."""
    return (setting.states, setting.actions, setting.models, setting.hitting_time) == PAPER_SIZES


def _breaks_assumption_4(setting: BoundsSetting) -> bool:
    """Whether the paper's grids have a larger diameter."""
    return _is_the_papers(setting) and setting.across < SHORTEST_DIAMETER


def _early(setting: BoundsSetting) -> int:
    return setting.apply(theory.early_episodes)


def _breaks_assumption_19(setting: BoundsSetting) -> str:
    """Why K episodes are too few for it, since K1 is at least M; empty where they are not."""
    models, episodes = setting.models, setting.episodes
    if models <= _early(setting):
        return ""
    needed = models * (setting.every_pair + 1) + 1
    return (
        f"K1 is at least M = {models:,}, K1 S A at least {models * setting.every_pair:,}, and K - K1 at most "
        f"{episodes - models:,}: it takes at least {needed:,} episodes (E17)"
    )


def _upper_bounds(setting: BoundsSetting) -> list[UpperBound]:
    every, learning = setting.over(setting.every_pair), setting._replace(horizon=setting.learning_horizon)
    known, external = f"Theorem 16, {setting.pairs:,} known pairs", f"... {every.samples:,} external samples"
    return [
        _upper(known, setting, theory.regret_bound, (6, 7, 8, 19, 29)),
        _upper("Corollary, S x A", every, theory.full_set_bound, (6, 7, 8, 18, 19, 29)),
        _theorem_20(setting),
        _upper("S x A, samples of both phases", every, theory.first_stage_bound, (7, 8, 11, 12, 13, 19)),
        _upper("UCBVI, told the world", setting, theory.ucbvi_bound),
        _upper("UCBVI, one world, H1 steps", learning, theory.ucbvi_bound, models=1),
        _upper(external, learning, theory.external_samples_bound, (11, 12), samples=every.samples),
        _upper("UCRL2, every episode alone", setting, theory.ucrl2_bound, is_ucbvi=False, diameter=setting.across),
    ]


def _theorem_20(setting: BoundsSetting) -> UpperBound:
    """Each of the two stages may fail with p / 2 (E21)."""
    name = "Theorem 20, two stages"
    if setting.models == 1:
        return UpperBound(name, None, setting.trivial, "models must be at least 2")
    stage = setting.over(setting.every_pair, failure=setting.failure / 2.0)
    row = _upper(name, stage, theory.two_stage_bound, (6, 7, 8, 17, 18, 19, 21))
    fails = _breaks_assumption_19(setting)
    return row._replace(bound=None, remark=f"Assumption 19 fails: {fails}", errata=(17,)) if fails else row


def _upper(
    name: str,
    setting: BoundsSetting,
    formula: Callable[..., theory.RegretBound],
    errata: tuple[int, ...] = (),
    *,
    is_ucbvi: bool = True,
    **others: Any,
) -> UpperBound:
    """The bound of a formula; none where the clustering phase leaves no steps, or UCBVI is not that of the theorems."""
    if setting.learning_horizon < 1:
        return UpperBound(name, None, setting.trivial, f"horizon must be above H0 = {setting.clustering_horizon:,}")
    if is_ucbvi and setting.constants != "paper":
        return UpperBound(name, None, setting.trivial, RELEASED)
    clusters = is_ucbvi and signature(formula).parameters.keys() & {"clustering_horizon", "hitting_time"}
    fails = "Assumption 12" if clusters and _is_the_papers(setting) else ""
    if not is_ucbvi and _breaks_assumption_4(setting):
        fails = "Assumption 4"
    return UpperBound(name, setting.apply(formula, **others), setting.trivial, errata=errata, fails=fails)


def _lower_bounds(setting: BoundsSetting) -> list[LowerBound]:
    close = f"any algorithm, on {setting.every_pair // 4:,} worlds close to each other"
    apart = f"cluster-then-learn, on {setting.every_pair // 12:,} 2-JAO worlds"
    told = "any algorithm, told the task, on trees of arms"
    return [
        _lower("regret, told the task", setting, theory.multi_task_lower_bound, told, ()),
        _lower("regret, minimax", setting, theory.minimax_lower_bound, close, (2, 3)),
        _lower("samples to identify a world", setting, theory.identification_samples, apart, (4, 5)),
        _lower("steps to identify a world", setting, theory.identification_steps, apart, (4, 5)),
        _lower("regret from identifying", setting, theory.identification_regret, apart, (4, 5)),
    ]


def _lower(
    name: str, setting: BoundsSetting, formula: Callable[..., float], worlds: str, errata: tuple[int, ...]
) -> LowerBound:
    """The bound of a formula in these worlds; none where its premises do not hold."""
    try:
        return LowerBound(name, setting.apply(formula, diameter=setting.across), worlds, errata)
    except ValueError as error:
        return LowerBound(name, None, f"not proved here: {error}", ())
