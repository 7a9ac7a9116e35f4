"""The table and the figure of ``docs/test_beds.md``, from the estimates of every bed."""

from collections.abc import Mapping
from pathlib import Path

from aomultirl.experiments.beds import BEDS, LIVES, Bed
from beds.learners import LEARNERS
from beds.results import Estimate

BEGIN, END = "<!-- made by make test-beds -->", "<!-- until here -->"
"""Lines of the page between which the tables are written."""
TITLES = {"end": "One life an episode", "restart": "Episodes that restart"}
FEW = 10
"""Seeds below which a bootstrap interval covers the truth much less often than it says."""
Estimates = Mapping[tuple[str, str], Mapping[str, Estimate] | None]
"""By bed and kind of life; None where there are no results."""


def _number(value: float) -> str:
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}" if abs(value) < 100 else f"{value:,.0f}"


def _row(bed: Bed, found: Mapping[str, Estimate] | None) -> str:
    if found is None:
        return f"| {bed.name} | no results |" + " |" * (len(LEARNERS) - 1)
    best = max(found[who].mean for who in LEARNERS if not who.endswith("told"))
    cells = []
    for who in LEARNERS:
        mean, low, high = found[who]
        shown = f"**{_number(mean)}**" if mean == best and not who.endswith("told") else _number(mean)
        cells.append(f"{shown} [{_number(low)}, {_number(high)}]")
    return f"| {bed.name} | " + " | ".join(cells) + " |"


def tables(estimates: Estimates, seeds: int, quick: bool) -> str:
    """The tables in Markdown: reward of an episode with 95 % intervals, a bed a row."""
    how = f"{seeds} seeds" + (", a fifth of the episodes (`make test-beds-quick`)" if quick else "")
    means = f"Reward of an episode, mean and 95 % bootstrap interval over {how}."
    if seeds < FEW:
        means += f" An interval over {seeds} seeds says little: it is hardly more than their range."
    lines = [f"{means} Bold: the highest mean of those that are not told.", ""]
    for life in LIVES:
        lines += [f"## {TITLES[life]}", "", "| | " + " | ".join(LEARNERS) + " |", "|---" * (len(LEARNERS) + 1) + "|"]
        lines += [_row(bed, estimates[bed.name, life]) for bed in BEDS]
        lines += [""]
    return "\n".join(lines)


def write_page(page: Path, content: str) -> None:
    """Put the tables where the page has room for them."""
    before, rest = page.read_text().split(BEGIN)
    page.write_text(f"{before}{BEGIN}\n\n{content}\n{END}{rest.split(END)[1]}")


def draw(estimates: Estimates, file: Path) -> None:
    """The figure: a panel for each bed and kind of life, a line with an interval for each learner."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(len(LIVES), len(BEDS), figsize=(2.1 * len(BEDS), 5.4), sharey=True, squeeze=False)
    places = range(len(LEARNERS))[::-1]
    for row, life in zip(axes, LIVES, strict=True):
        for panel, bed in zip(row, BEDS, strict=True):
            for place, who in zip(places, LEARNERS, strict=True):
                if (found := estimates[bed.name, life]) is not None:
                    mean, low, high = found[who]
                    colour = "tab:red" if who == "Recall" else "tab:gray" if who.endswith("told") else "tab:blue"
                    panel.plot([low, high], [place, place], color=colour, linewidth=2)
                    panel.plot([mean], [place], "o", color=colour, markersize=5)
            panel.set_yticks(list(places), LEARNERS)
            panel.tick_params(labelsize=8)
            panel.grid(axis="x", alpha=0.3)
            if life == LIVES[0]:
                panel.set_title(bed.name, fontsize=9)
        row[0].set_ylabel(TITLES[life], fontsize=9)
    figure.supxlabel("reward of an episode", fontsize=9)
    figure.tight_layout()
    figure.savefig(file, dpi=100, metadata={"Software": None})
    pyplot.close(figure)
