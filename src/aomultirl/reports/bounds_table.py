"""What the paper's theorems promise and presuppose, as tables; a bound above K H is marked "vacuous".

An assumption that fails in the paper's own grids is named beside the bound that would follow from it.
"""

from aomultirl.analysis.errata import ERRATA
from aomultirl.analysis.paper_bounds import Bounds, Premise, UpperBound
from aomultirl.reports.tables import Cell, Judged, TextTable


def tables(bounds: Bounds) -> list[TextTable]:
    """The constants, the premises and the upper bounds, the lower bounds, and the errata under them."""
    lower = [[row.name, "" if row.value is None else _number(row.value), row.remark] for row in bounds.lower]
    said = {premise.why for premise in bounds.premises}
    remarks = [f"{row.name}: {row.remark}" for row in bounds.upper if row.remark and row.remark not in said]
    errata = [[f"E{number}", ERRATA[number]] for number in bounds.errata]
    return [
        _constants(bounds),
        TextTable("Premises of the theorems", ("premise", "holds", "why"), list(map(_premise, bounds.premises))),
        TextTable(
            "Regret is at most, where the premises hold (with probability 1 - p; UCRL2: in expectation)",
            ("", "~ K", "~ sqrt(K)", "~ ln K", "total", "K H", ""),
            list(map(_upper, bounds.upper)),
            numbers=(1, 2, 3, 4, 5),
            caption=remarks,
        ),
        TextTable("In the worst worlds of this size, at least", ("", "", ""), lower, numbers=(1,)),
        TextTable("Errata of the paper, and remarks, that these numbers depend on", ("", ""), errata),
    ]


def _constants(bounds: Bounds) -> TextTable:
    setting, (short_log, short_visits) = bounds.setting, bounds.short
    words = f"S = {setting.states}, A = {setting.actions}, M = {setting.models}, K = {setting.episodes}"
    title = f"{words}, p = {setting.failure:g}, lambda = {setting.separation:.7g}, {setting.constants} constants"
    shorter = "with H1 in place of H:"
    rows = [
        ("N, samples of each of the pairs", f"{setting.samples:,} of {setting.pairs:,}"),
        ("H0, steps of the clustering phase", f"{setting.clustering_horizon:,}"),
        ("H1, steps of the learning phase", f"{setting.learning_horizon:,}"),
        ("H = H0 + H1", f"{setting.horizon:,}"),
        ("delta, threshold of the distance", "{:.6g}, or {:.6g} at lambda / 2".format(*bounds.thresholds)),
        ("L", f"{bounds.logarithm:.6g} ({shorter} {short_log:.6g})"),
        ("visits until a bonus is below H1", f"{bounds.informative:,} ({shorter} {short_visits:,})"),
        ("visits of a pair, evenly spread", f"{bounds.visits:,.1f} by the end, K H1 / (M S A)"),
        ("bonus after so many", f"{bounds.bonus:,.6g}"),
    ]
    return TextTable(title, ("", ""), rows)


def _premise(row: Premise) -> list[Cell]:
    return [row.name, Judged("?" if row.holds is None else "yes" if row.holds else "no", row.holds), row.why]


def _upper(row: UpperBound) -> list[Cell]:
    if row.bound is None:
        return [row.name, *[""] * 4, _number(row.trivial), "no bound"]
    parts = [_number(value) if value else "" for value in row.bound]
    words = ["vacuous" if row.vacuous else "informative", *([f"and {row.fails} fails"] if row.fails else [])]
    verdict = Judged(", ".join(words), good=not row.vacuous and not row.fails)
    return [row.name, *parts, _number(row.bound.total), _number(row.trivial), verdict]


def _number(value: float) -> str:
    return f"{value:,.6g}" if value < 1e6 else f"{value:.3g}"
