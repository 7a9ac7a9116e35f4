"""What the paper's theorems promise for one setting, beside the trivial K H.

:func:`collect` computes it, :func:`show` prints it: N, H0, delta, L and the bonus; every regret bound with its parts;
the lower bounds; and the errata of the paper that the numbers depend on.  A bound above K H is marked "vacuous".
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from aomultirl import checks, theory

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

LEARNING_HORIZON = 200
"""H1 of the paper's experiment."""

ERRATA = {
    2: "The minimax proof's delta = D / 4 means 4 / D; V* is then within D / 8 of H times the best gain, not D / 2.",
    3: "The minimax family has S A / 4 worlds, as stated; the proof prints S A.",
    4: "Identifying takes S A / (480 lambda^2) samples, as the proof yields, not 180; lambda above 1/2 is not covered.",
    5: "The tree of 2-JAO worlds must be shallow, D >= 4 ceil(log_A' (S / 3)), which D >= 16 alone does not give.",
    6: "The part that grows with ln K has S^2 A; the lemma for one world prints S^2 A^2.",
    7: "H0 is made of the bound on the hitting time, although Algorithm 1 prints the diameter's letter.",
    8: "L contains the whole horizon H, as in Theorem 1 and the bonus; the corollary and Theorem 2 print H1.",
    11: "External samples: the sum on the right must be the one without them; as printed it says X <= c X with c < 1.",
    12: "External samples: e (H+2) sqrt(K H L_N), not e (H+1) sqrt(K L_N).",
    13: "External samples: K1 (H0 + D), sqrt(M K1) and N + 2 H1 - 1, not K1 H0, sqrt(M K) and N + H1 - 1.",
    14: "The released N has 4 ln 2 for S ln 2, right only where every pair has at most four known successors.",
    17: "Theorem 2 needs K1 S A < K - K1 and K1 >= M: at least M (S A + 1) + 1 episodes.",
    18: "max{S, ln} is kept: the first term is of order S^2 A (Theorem 2: S M^2), not S A (M^2).",
    19: "UCBVI bounds the regret at the states reached, not at the worst; an Azuma term fits into the slack of 67.",
    21: "Each of the two stages gets p / 2, so that both together fail with probability at most p.",
    22: "The grid's hitting time is 350,443 (in the released version infinite) and its diameter 11.508, not 7.",
    23: "The experiment's H0 of about 80,000 comes out of neither set of constants.",
    27: "The released bonus is not the one of the theorems: their bounds are not proved for it.",
    28: "The proof for UCBVI needs L >= 4; below that the bounds exceed K H, so they hold all the same.",
    29: "K > M S^3 A H does not make the last part small: its constants and L^2 are left out there.",
}


class Sizes(TypedDict):
    """What nearly every bound asks for: S, A, M, K and p."""

    states: int
    actions: int
    models: int
    episodes: int
    failure: float


class Hard(TypedDict):
    """What the lower bounds on identification ask for."""

    states: int
    actions: int
    separation: float
    diameter: float


class Setting(NamedTuple):
    """What the bounds are for.  samples, clustering_horizon: N and H0 for ``pairs`` pairs.

    fixed_horizon: whether H is the same for every agent, rather than H1.
    """

    sizes: Sizes
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


class Upper(NamedTuple):
    """An upper bound beside K H.  bound: None where it does not apply; remark: why, or which premise fails."""

    name: str
    bound: theory.RegretBound | None
    trivial: float
    remark: str = ""
    errata: tuple[int, ...] = ()

    @property
    def vacuous(self) -> bool:
        """Whether the bound is larger than K H."""
        return self.bound is not None and self.bound.total > self.trivial


class Lower(NamedTuple):
    """A lower bound.  value: None where it is not proved; remark: why, or for which worlds it holds."""

    name: str
    value: float | None
    remark: str
    errata: tuple[int, ...]


class Bounds(NamedTuple):
    """logarithm, informative: L, and the visits until the bonus is below the cap H1; short: both with H1 for H in L.

    thresholds: delta for a set at lambda and at lambda / 2; visits: n of each pair of a world if the learning steps
    spread evenly; bonus: after so many visits; errata: numbers of those that apply.
    """

    setting: Setting
    thresholds: tuple[float, float]
    logarithm: float
    informative: int
    short: tuple[float, int]
    visits: float
    bonus: float
    upper: list[Upper]
    lower: list[Lower]
    errata: list[int]


def collect(
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
    sizes = Sizes(states=states, actions=actions, models=models, episodes=episodes, failure=failure)
    for name, value in (("states", states), ("actions", actions), ("models", models)):
        checks.integer(name, value, least=1)
    checks.integer("pairs", pairs, least=1, most=states * actions)
    if diameter is not None:
        checks.real("diameter", diameter, above=0.0)
    known = separation, hitting_time, episodes, failure, constants
    first = theory.clustering_horizon(states, pairs, *known)
    if horizon is not None and learning_horizon is not None:
        raise ValueError("give horizon or learning_horizon, not both")
    if horizon is not None:
        steps = checks.integer("horizon", horizon, least=first + 1) - first
    else:
        wanted = LEARNING_HORIZON if learning_horizon is None else learning_horizon
        steps = checks.integer("learning_horizon", wanted, least=1)
    setting = Setting(
        sizes,
        separation,
        hitting_time,
        diameter,
        pairs,
        constants,
        theory.samples_needed(states, pairs, separation, episodes, failure, constants),
        first,
        steps,
        first + steps,
        horizon is not None,
    )
    return _collect(setting)


def _collect(setting: Setting) -> Bounds:
    sizes, steps, constants = setting.sizes, setting.learning_horizon, setting.constants
    upper = [_theorem_1(setting), _corollary(setting), _theorem_2(setting), _both_phases(setting), *_others(setting)]
    lower = _lower(setting)
    log, informative = (
        (
            theory.logarithm(**sizes, horizon=horizon),
            theory.visits_until_informative(**sizes, horizon=horizon, learning_horizon=steps, constants=constants),
        )
        for horizon in (setting.horizon, steps)
    )
    visits = sizes["episodes"] * steps / (sizes["models"] * sizes["states"] * sizes["actions"])
    added = theory.bonus(visits, **sizes, horizon=setting.horizon, learning_horizon=steps, constants=constants)
    level = setting.separation
    return Bounds(
        setting,
        (theory.threshold(level, level), theory.threshold(level / 2.0, level)),
        *log,
        informative,
        visits,
        float(added),
        upper,
        lower,
        _errata(setting, log[0], upper, lower),
    )


def _theorem_1(setting: Setting) -> Upper:
    first, steps = setting.clustering_horizon, setting.learning_horizon
    bound = theory.regret_bound(
        **setting.sizes, clustering_horizon=first, learning_horizon=steps, diameter=setting.diameter
    )
    name = f"Theorem 1, {setting.pairs:,} known pairs"
    return Upper(name, bound, _trivial(setting, setting.horizon), "", (6, 7, 8, 19, 29))


def _corollary(setting: Setting) -> Upper:
    name, errata = "Corollary, S x A", (6, 7, 8, 18, 19, 29)
    first, steps, refusal = _room(setting, setting.sizes["failure"])
    if refusal:
        return Upper(name, None, _trivial(setting, setting.horizon), refusal)
    bound = theory.full_set_bound(
        **setting.sizes,
        learning_horizon=steps,
        separation=setting.separation,
        hitting_time=setting.hitting_time,
        diameter=setting.diameter,
        constants=setting.constants,
    )
    return Upper(name, bound, _trivial(setting, first + steps), "", errata)


def _theorem_2(setting: Setting) -> Upper:
    sizes, name = setting.sizes, "Theorem 2, two stages"
    first, steps, refusal = _room(setting, sizes["failure"] / 2.0)
    if sizes["models"] == 1:
        refusal = "models must be at least 2"
    if refusal:
        return Upper(name, None, _trivial(setting, setting.horizon), refusal)
    bound = theory.two_stage_bound(
        **sizes,
        horizon=first + steps,
        separation=setting.separation,
        hitting_time=setting.hitting_time,
        constants=setting.constants,
    )
    least = sizes["models"] * (sizes["states"] * sizes["actions"] + 1) + 1
    remark = "" if sizes["episodes"] >= least else f"its premise needs at least {least:,} episodes (E17)"
    return Upper(name, bound, _trivial(setting, first + steps), remark, (6, 7, 8, 17, 18, 19, 21))


def _both_phases(setting: Setting) -> Upper:
    sizes, name = setting.sizes, "S x A, samples of both phases"
    first, steps, refusal = _room(setting, sizes["failure"])
    if refusal:
        return Upper(name, None, _trivial(setting, setting.horizon), refusal)
    bound = theory.first_stage_bound(
        **sizes,
        clustering_horizon=first,
        learning_horizon=steps,
        samples=_full_set_samples(setting),
        diameter=setting.diameter,
    )
    return Upper(name, bound, _trivial(setting, first + steps), "", (7, 8, 11, 12, 13, 19))


def _others(setting: Setting) -> list[Upper]:
    """The bounds for learners without a clustering phase."""
    sizes, steps = setting.sizes, setting.learning_horizon
    states, actions, episodes = sizes["states"], sizes["actions"], sizes["episodes"]
    whole, short = _trivial(setting, setting.horizon), _trivial(setting, steps)
    alone = Sizes(states=states, actions=actions, models=1, episodes=episodes, failure=sizes["failure"])
    extra = _full_set_samples(setting)
    external = theory.external_samples_bound(
        states=states, actions=actions, episodes=episodes, horizon=steps, samples=extra, failure=sizes["failure"]
    )
    ucrl2 = theory.ucrl2_bound(
        states=states, actions=actions, episodes=episodes, horizon=setting.horizon, diameter=setting.across
    )
    return [
        Upper("UCBVI, told the world", theory.ucbvi_bound(**sizes, horizon=setting.horizon), whole),
        Upper("UCBVI, one world, H1 steps", theory.ucbvi_bound(**alone, horizon=steps), short),
        Upper(f"... {extra:,} external samples", external, short, "", (11, 12)),
        Upper("UCRL2, every episode alone", ucrl2, whole),
    ]


def _lower(setting: Setting) -> list[Lower]:
    states, actions, episodes = setting.sizes["states"], setting.sizes["actions"], setting.sizes["episodes"]
    hard = Hard(states=states, actions=actions, separation=setting.separation, diameter=setting.across)
    close = f"any algorithm, on {states * actions // 4:,} worlds close to each other"
    apart = f"cluster-then-learn, on {states * actions // 12:,} 2-JAO worlds"
    return [
        _attempt(
            "regret, minimax",
            lambda: theory.minimax_lower_bound(
                states=states, actions=actions, episodes=episodes, horizon=setting.horizon, diameter=setting.across
            ),
            close,
            (2, 3),
        ),
        _attempt("samples to identify a world", lambda: theory.identification_samples(**hard), apart, (4, 5)),
        _attempt("steps to identify a world", lambda: theory.identification_steps(**hard), apart, (4, 5)),
        _attempt(
            "regret from identifying", lambda: theory.identification_regret(**hard, episodes=episodes), apart, (4, 5)
        ),
    ]


def _attempt(name: str, bound: Callable[[], float], words: str, errata: tuple[int, ...]) -> Lower:
    try:
        return Lower(name, bound(), words, errata)
    except ValueError as error:
        return Lower(name, None, f"not proved here: {error}", ())


def _trivial(setting: Setting, horizon: int) -> float:
    return float(setting.sizes["episodes"]) * horizon


def _full_set_samples(setting: Setting) -> int:
    sizes = setting.sizes
    pairs = sizes["states"] * sizes["actions"]
    return theory.samples_needed(
        sizes["states"], pairs, setting.separation, sizes["episodes"], sizes["failure"], setting.constants
    )


def _room(setting: Setting, failure: float) -> tuple[int, int, str]:
    """H0 for S x A, the H1 that goes with it, and a refusal where H leaves no room for it."""
    sizes = setting.sizes
    first = theory.clustering_horizon(
        sizes["states"],
        sizes["states"] * sizes["actions"],
        setting.separation,
        setting.hitting_time,
        sizes["episodes"],
        failure,
        setting.constants,
    )
    steps = setting.horizon - first if setting.fixed_horizon else setting.learning_horizon
    return first, steps, f"horizon must be above H0 = {first:,}" if steps < 1 else ""


def _errata(setting: Setting, log: float, upper: list[Upper], lower: list[Lower]) -> list[int]:
    numbers = {number for above in upper for number in above.errata}
    numbers |= {number for below in lower for number in below.errata}
    sizes = setting.sizes
    if (sizes["states"], sizes["actions"], sizes["models"], setting.hitting_time) == (16, 4, 4, 7.0):
        numbers |= {22, 23}
    if setting.constants == "released":
        numbers |= {14, 27}
    if log < 4.0:
        numbers.add(28)
    return sorted(numbers)


def show(found: Bounds, console: "Console") -> None:
    """Print it as tables, and the errata as a list under them."""
    console.print(_facts(found))
    console.print(_upper_table(found))
    console.print(_lower_table(found))
    console.print(_errata_table(found))


def _facts(found: Bounds) -> "Table":
    setting, sizes = found.setting, found.setting.sizes
    words = f"S = {sizes['states']}, A = {sizes['actions']}, M = {sizes['models']}, K = {sizes['episodes']}"
    title = f"[bold]{words}, p = {sizes['failure']:g}, lambda = {setting.separation:.7g}[/bold], {setting.constants}"
    table = _table(f"{title} constants", "", "")
    table.add_row("N, samples of each of the pairs", f"{setting.samples:,} of {setting.pairs:,}")
    table.add_row("H0, steps of the clustering phase", f"{setting.clustering_horizon:,}")
    table.add_row("H1, steps of the learning phase", f"{setting.learning_horizon:,}")
    table.add_row("H = H0 + H1", f"{setting.horizon:,}")
    table.add_row("delta, threshold of the distance", "{:.6g}, or {:.6g} at lambda / 2".format(*found.thresholds))
    table.add_row("L", f"{found.logarithm:.6g} (with H1 in place of H: {found.short[0]:.6g})")
    table.add_row(
        "visits until a bonus is below H1", f"{found.informative:,} (with H1 in place of H: {found.short[1]:,})"
    )
    table.add_row("visits of a pair, evenly spread", f"{found.visits:,.1f} by the end, K H1 / (M S A)")
    table.add_row("bonus after so many", f"{found.bonus:,.6g}")
    return table


def _upper_table(found: Bounds) -> "Table":
    title = "Regret is at most (with probability 1 - p; UCRL2: in expectation)"
    table = _table(title, "", "~ K", "~ sqrt(K)", "~ ln K", "total", "K H", "", numbers=(1, 2, 3, 4, 5))
    for row in found.upper:
        if row.bound is None:
            table.add_row(row.name, *[""] * 4, _number(row.trivial), "no bound")
            continue
        parts = [_number(value) if value else "" for value in row.bound]
        verdict = "[red]vacuous[/red]" if row.vacuous else "[green]informative[/green]"
        table.add_row(row.name, *parts, _number(row.bound.total), _number(row.trivial), verdict)
    table.caption = "".join(f"{row.name}: {row.remark}\n" for row in found.upper if row.remark) or None
    return table


def _lower_table(found: Bounds) -> "Table":
    table = _table("In the worst worlds of this size, at least", "", "", "", numbers=(1,))
    for row in found.lower:
        table.add_row(row.name, "" if row.value is None else _number(row.value), row.remark)
    return table


def _errata_table(found: Bounds) -> "Table":
    table = _table("Errata of the paper that these numbers depend on", "", "")
    for number in found.errata:
        table.add_row(f"E{number}", ERRATA[number])
    return table


def _table(title: str, *columns: str, numbers: tuple[int, ...] = ()) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(
        title=title,
        title_justify="left",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        show_header=any(columns),
    )
    for place, column in enumerate(columns):
        table.add_column(column, justify="right" if place in numbers else "left", no_wrap=place in numbers)
    return table


def _number(value: float) -> str:
    return f"{value:,.6g}" if value < 1e6 else f"{value:.3g}"
