"""The bounds of the minimax regime beside what was measured at all points of all sweeps, and AOMultiRL's H0."""

from collections.abc import Callable, Mapping, Sequence

from aomultirl.laboratory import paper_places
from aomultirl.laboratory.findings import Claim, Figure, Findings, Series
from aomultirl.laboratory.minimax_sizes import DISTANCE, LEAST, Sweep
from aomultirl.laboratory.minimax_tasks import CONSTANT, TWO_STATES, UCRL, Results, Trial, per_episode
from aomultirl.laboratory.sweeps import Mean, bounded, mean_of

LEMMA, AFTER = paper_places.LEMMA_5, paper_places.UCRL2
FIGURE, BY_BOUND, BY_SHARE = "minimax_room", "minimax_above", "minimax_within"


def above(tied: Sequence[Trial], found: Results) -> Findings:
    """All points against the lower bound."""
    ratios = {trial: mean_of(per_episode(found[trial]) / trial.lower_bound()) for trial in tied}
    least, below = min(ratios, key=lambda trial: ratios[trial].mean), sum(one.low <= 1.0 for one in ratios.values())
    claim = Claim(
        "no agent's regret is below 0.015 sqrt(DSAH) - D / 8 an episode",
        LEMMA,
        1.0,
        *ratios[least],
        below == 0,
        "the whole 95 % interval of every point lies above 1",
        f"the least of {len(ratios)} points: {least.agent}, {least.family}, {least.sizes}"
        + (f"; {below} intervals do not lie above 1" if below else ""),
        BY_BOUND,
        ">=",
        "in multiples of it",
        below > 0 and all(one.high >= 1.0 for one in ratios.values()),
    )
    title = "Regret of an episode, in multiples of the lower bound"
    words = "All points of the sweeps over H, D, SA, S and A."
    return Findings([claim], [_scattered(BY_BOUND, title, "sqrt(DSAH)", ratios, lambda trial: trial.unit, words)])


def within(found: Results) -> Findings:
    """All trials of UCRL2 against its bound, in families of two states."""
    trials = [trial for trial in found if trial.agent == UCRL and trial.family == TWO_STATES]
    shares = {trial: mean_of(per_episode(found[trial]) / trial.upper_bound()) for trial in trials}
    largest = max(shares, key=lambda trial: shares[trial].high)
    telling = [trial for trial in trials if trial.upper_bound() < trial.horizon]
    says = "the bound exceeds H everywhere here, so it says nothing"
    if telling:
        first, most = min(one.horizon for one in telling), max(shares[one].mean for one in telling)
        says = f"the bound is below H from H = {first:,} on; there the largest share is {most:.2g}"
    claim = Claim(
        "UCRL2 in every episode stays within 34 D S sqrt(2 A H ln H) + D + 1",
        AFTER,
        1.0,
        *shares[largest],
        False,
        "no 95 % interval reaches beyond 1",
        f"the largest of {len(shares)} points, {largest.sizes}; {says}",
        BY_SHARE,
        "<=",
        "as a share of it",
    )
    title, words = "UCRL2's regret of an episode, as a share of its bound", "All points of UCRL2, two states."
    figure = _scattered(BY_SHARE, title, "H", shares, lambda trial: float(trial.horizon), words)
    return Findings([bounded(claim)], [figure])


def _scattered(
    name: str, title: str, x_label: str, ratios: Mapping[Trial, Mean], at: Callable[[Trial], float], caption: str
) -> Figure:
    """Ratios by agent, against a line at 1."""
    series = []
    for agent in dict.fromkeys(trial.agent for trial in ratios):
        points = sorted((at(trial), *ratio) for trial, ratio in ratios.items() if trial.agent == agent)
        x, mean, low, high = zip(*points, strict=True)
        series.append(Series(agent, x, mean, low, high))
    ends = [extreme(at(trial) for trial in ratios) for extreme in (min, max)]
    series.append(Series("the bound", ends, [1.0, 1.0], kind="theory"))
    return Figure(name, title, x_label, "regret / bound", series, caption=caption)


def no_room(powered: Sequence[Sweep]) -> Findings:
    """H0 / H at the points of all sweeps in families of two states."""
    series: list[Series] = []
    for sweep in powered:
        row = next(iter(sweep.rows.values()))
        if row[0].family == TWO_STATES:
            ratios = [trial.clustering_horizon() / trial.horizon for trial in row]
            label = f"{sweep.letter} varied, {sweep.at(row[0]):,g} to {sweep.at(row[-1]):,g}"
            series.append(Series(label, [float(trial.horizon) for trial in row], ratios))
    least = min(min(one.y) for one in series)
    ends = [extreme(x for one in series for x in one.x) for extreme in (min, max)]
    series.append(Series("H0 = H", ends, [1.0, 1.0], kind="theory"))
    claim = Claim(
        "where lambda is so small, AOMultiRL's clustering phase does not fit into an episode",
        LEMMA,
        1.0,
        least,
        least,
        least,
        least > 1.0,
        "computed exactly; above 1 at every point",
        "of order D^2, whatever H: with lambda tied to H so is H0; AOMultiRL refuses such a horizon",
        FIGURE,
        ">",
        "as H0 / H",
    )
    figure = Figure(
        FIGURE,
        "AOMultiRL's clustering phase, in episodes",
        "H",
        "H0 / H",
        series,
        caption=f"Two states, lambda = {CONSTANT:g} sqrt(SA / (HD)); D = {DISTANCE:g} and SA = {LEAST**2} where they "
        "are not varied; computed.",
    )
    return Findings([claim], [figure])
