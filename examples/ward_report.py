"""The tables and figures of ``docs/ward.md``, from the numbers of ``ward_numbers.py``."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from ward_numbers import (
    BETWEEN,
    POOLED,
    PROTOCOL,
    RANDOM_DOSES,
    RECALL,
    STEP_PAY,
    SURE,
    TOLD,
    TRIAL,
    VARIANTS,
    looks,
)

from aomultirl.analysis import intervals
from aomultirl.analysis.charts import Chart, Series, Subject
from aomultirl.reports.charts_matplotlib import SMALL, TEXT, draw_rows, fonts
from aomultirl.reports.looks import INK

BEGIN, END = "<!-- made by examples/ward.py: {} -->", "<!-- until here -->"
"""Lines of the page between which a table is written."""


# -- tables ------------------------------------------------------------------------------------------------------------


def _percent(span: Sequence[float]) -> str:
    """A mean and its interval in per cent."""
    mean, between = intervals.in_words(*span, write=lambda share: f"{100.0 * share:.1f}")
    return f"{mean} ({between})" if between else mean


def _over_runs(values: Iterable[float]) -> str:
    (span,) = intervals.spans([np.array(list(values))])
    return _percent(span)


def _table(header: str, rows: Iterable[Sequence[str]]) -> str:
    lines = [header, "|---" * (header.count("|") - 1) + "|"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])


def _mean(outlooks: Iterable[dict[str, float]], key: str = "survival") -> float:
    return float(np.mean([each[key] for each in outlooks]))


def _treated(weeks: Iterable[dict[str, Any]]) -> float:
    """The share of the patients of some weeks who survived."""
    some = list(weeks)
    survivors, deaths = (sum(week[name] for week in some) for name in ("survivors", "deaths"))
    return survivors / (survivors + deaths)


def _played(numbers: dict[str, Any], agent: str, logged: int = 0, treated: str = RANDOM_DOSES) -> list[Any]:
    """The weeks of every run of an agent."""
    wanted = (agent, logged, treated)
    return [job["weeks"] for job in numbers["played"] if (job["agent"], job["logged"], job["treated"]) == wanted]


def survival_table(numbers: dict[str, Any]) -> str:
    """Who saves how many patients."""
    known, logged = numbers["known"], max(numbers["sizes"]["logged"])
    exact = {
        "random doses": "random",
        "standard protocol: the best plan for the average variant": "protocol",
        "optimum, told the variant": "optimum",
    }
    rows = []
    for words, name in exact.items():
        survival = _over_runs(_mean(ward["plans"][name]) for ward in known)
        rows.append((words, survival, "", ""))
    rows.append(("knows the variants, one patient of each", _over_runs(w["one_patient"] for w in known), "", ""))
    week = _over_runs(_treated([ward["planners"]["likeliest"]]) for ward in known)
    rows.append(("knows the variants, a week of each", week, "", ""))
    for agent in (POOLED, RECALL, TOLD):
        runs = _played(numbers, agent)
        quarter = max(1, len(runs[0]) // 4)
        rows.append(
            (
                agent,
                _over_runs(_treated(weeks) for weeks in runs),
                _over_runs(_treated(weeks[-quarter:]) for weeks in runs),
                _over_runs(np.mean([week["plan"] for week in weeks[-quarter:]]) for weeks in runs),
            )
        )
    runs = _played(numbers, RECALL, logged)
    rows.append(
        (
            f"Recall with logs of {logged:,} patients a variant, first weeks",
            _over_runs(_treated(weeks) for weeks in runs),
            "",
            _over_runs(np.mean([week["plan"] for week in weeks]) for weeks in runs),
        )
    )
    return _table("| survival, % | all patients | last quarter of the weeks | the plan it has then |", rows)


def pay_table(numbers: dict[str, Any]) -> str:
    """What the plan that earns most does to patients, by what is paid for; exact, in the published variant."""
    pays = {
        'survivors a step, as in `terminal="restart"`': "hurried",
        f"1 a survivor, 0 a death, {STEP_PAY:g} any other step: the ward of this page": "paid",
        'survivors a patient, as in `terminal="end"`': "optimum",
    }
    plans = {words: numbers["known"][0]["plans"][name][0] for words, name in pays.items()}
    rows = [(words, f"{100.0 * each['survival']:.1f}", f"{each['stay']:.1f}") for words, each in plans.items()]
    return _table("| what earns | survival under the plan that earns most, % | mean stay, steps |", rows)


def _recall_steps(weeks: Iterable[dict[str, Any]], horizon: int) -> list[int]:
    """For every week the first look from which on the right variant's posterior stays above SURE; H + 1 for none."""
    steps = []
    for week in weeks:
        right = np.array(week["right"]) >= SURE
        wrong = np.flatnonzero(~right)
        first = 0 if not len(wrong) else int(wrong[-1]) + 1
        steps.append(int(week["looks"][first]) if first < len(right) else horizon + 1)
    return steps


def recognition_table(numbers: dict[str, Any]) -> str:
    """How soon the right variant's posterior passes SURE for good."""
    horizon = numbers["sizes"]["horizon"]
    stay = _mean([o for ward in numbers["known"] for o in ward["plans"]["optimum"]], "stay") + BETWEEN
    words = {
        "likeliest": "knows the variants, follows the plan of the likeliest",
        PROTOCOL: "knows the variants, follows the standard protocol",
        RANDOM_DOSES: "knows the variants, gives random doses",
    }
    cases = {
        label: [step for ward in numbers["known"] for step in ward["planners"][follow]["recognised"]]
        for follow, label in words.items()
    }
    for treated in (RANDOM_DOSES, PROTOCOL):
        for logged in numbers["sizes"]["logged"]:
            weeks = [week for run in _played(numbers, RECALL, logged, treated) for week in run]
            cases[f"Recall, logs of {logged:,} patients a variant, {treated}"] = _recall_steps(weeks, horizon)
    rows = []
    for label, steps in cases.items():
        middle, late = (int(q) for q in np.quantile(steps, [0.5, 0.95], method="higher"))
        rows.append(
            (
                label,
                f"{100.0 * np.mean(np.array(steps) <= horizon):.0f}",
                f"{middle:,}" if middle <= horizon else "never",
                f"{middle / stay:.1f}" if middle <= horizon else "",
                f"{late:,}" if late <= horizon else "never",
            )
        )
    return _table("| | weeks recognised, % | steps, median | patients, median | steps, 95 % within |", rows)


class Stakes(NamedTuple):
    """What recognition is worth, as shares of patients who survive, in the mean over variants and wards."""

    right: float
    wrong: float
    protocol: float
    random: float

    @property
    def break_even(self) -> float:
        """How sure one must be before acting on a recognition beats the standard protocol."""
        return (self.protocol - self.wrong) / (self.right - self.wrong)


def stakes(known: Sequence[dict[str, Any]]) -> Stakes:
    """From the exact numbers of wards."""
    tables = np.array([ward["wrong"] for ward in known])
    same = np.eye(VARIANTS, dtype=bool)
    plans = (_mean([o for ward in known for o in ward["plans"][name]]) for name in ("protocol", "random"))
    return Stakes(float(tables[:, same].mean()), float(tables[:, ~same].mean()), *plans)


def wrong_table(numbers: dict[str, Any]) -> str:
    """Survival under the plan of one variant in another, in the first ward, and what follows from it."""
    first, (right, wrong, protocol, random) = numbers["known"][0], stakes(numbers["known"])
    rows = [
        (f"best for variant {i + 1}", *(f"{100.0 * share:.1f}" for share in row))
        for i, row in enumerate(first["wrong"])
    ]
    for words, name in (("standard protocol", "protocol"), ("random doses", "random")):
        rows.append((words, *(f"{100.0 * each['survival']:.1f}" for each in first["plans"][name])))
    names = " | ".join(f"in variant {i + 1}" for i in range(VARIANTS))
    words = (
        f"In the mean over all {len(numbers['known'])} wards: right {100 * right:.1f} %, wrong {100 * wrong:.1f} %, "
        f"standard protocol {100 * protocol:.1f} %, random doses {100 * random:.1f} %. Of 1,000 patients a wrong "
        f"recognition costs {1000 * (right - wrong):.0f} lives against the right one, and "
        f"{1000 * (protocol - wrong):.0f} against the standard protocol. Acting on a recognition beats the protocol "
        f"from a probability of {stakes(numbers['known']).break_even:.2f} on that it is right."
    )
    return _table(f"| plan; survival, % | {names} |", rows) + "\n\n" + words


def history_table(numbers: dict[str, Any]) -> str:
    """What logs are worth."""
    horizon, rows = numbers["sizes"]["horizon"], []
    for treated in (RANDOM_DOSES, PROTOCOL):
        for logged in numbers["sizes"]["logged"]:
            runs = _played(numbers, RECALL, logged, treated)
            steps = _recall_steps([week for weeks in runs for week in weeks], horizon)
            rows.append(
                (
                    treated if treated == RANDOM_DOSES else f"protocol, {100 * TRIAL:.0f} % on random doses",
                    f"{logged:,}",
                    _over_runs(_from_logs(numbers, logged, treated)),
                    _over_runs(np.mean([week["plan"] for week in weeks]) for weeks in runs),
                    _over_runs(_treated(weeks) for weeks in runs),
                    f"{100.0 * np.mean(np.array(steps) <= horizon):.0f}",
                )
            )
    runs = _played(numbers, RECALL)
    first = [weeks[:VARIANTS] for weeks in runs]
    plan, treated = (
        _over_runs(np.mean([week["plan"] for week in weeks]) for weeks in first),
        _over_runs(_treated(weeks) for weeks in first),
    )
    rows.insert(0, ("no logs", "0", "", plan, treated, ""))
    header = (
        "| survival, %; logs of patients on | patients a variant | plan from logs, told the variant | Recall's plan "
        "| Recall's patients | weeks recognised, % |"
    )
    return _table(header, rows)


def _from_logs(numbers: dict[str, Any], logged: int, treated: str) -> list[float]:
    """For every ward the mean survival of the plans that are made from logs."""
    return [
        float(np.mean(each["survival"]))
        for ward in numbers["known"]
        for each in ward["from_logs"]
        if (each["logged"], each["treated"]) == (logged, treated)
    ]


def tables(numbers: dict[str, Any]) -> dict[str, str]:
    """All tables in Markdown, by the name that the page knows them under."""
    sizes = numbers["sizes"]
    how = (
        f"{sizes['runs']} wards, each with its own run; weeks of H = {sizes['horizon']:,} steps, {sizes['weeks']} of "
        f"them for those who learn from nothing and {VARIANTS}, one of each variant, for those with logs; "
        f"{numbers['seconds'] / 60:.1f} minutes."
    )
    return {
        "how": how,
        "pay": pay_table(numbers),
        "survival": survival_table(numbers),
        "recognition": recognition_table(numbers),
        "wrong": wrong_table(numbers),
        "history": history_table(numbers),
    }


def write_page(page: Path, made: dict[str, str]) -> None:
    """Put the tables where the page has room for them."""
    text = page.read_text(encoding="utf-8")
    for name, table in made.items():
        before, rest = text.split(BEGIN.format(name))
        text = f"{before}{BEGIN.format(name)}\n\n{table}\n\n{END}{rest.split(END, 1)[1]}"
    page.write_text(text, encoding="utf-8")


# -- figures -----------------------------------------------------------------------------------------------------------


def _levels(known: Sequence[dict[str, Any]], x: Sequence[float]) -> list[Series]:
    """What is exact, as lines from end to end."""
    right, _, protocol, random = stakes(known)
    lines = {
        "optimum, told the variant (exact)": right,
        "standard protocol (exact)": protocol,
        "random doses (exact)": random,
    }
    return [Series(words, x, [100.0 * y] * len(x), kind="theory", drawn="level") for words, y in lines.items()]


def _banded(label: str, x: Sequence[float], runs: Sequence[Sequence[float]], number: int, **looks: Any) -> Series:
    """A series with intervals over runs, in per cent."""
    mean, low, high = (100.0 * values for values in intervals.over_runs(np.array(runs)))
    ends = {"low": low.tolist(), "high": high.tolist()} if len(runs) > 1 else {}
    return Series(label, x, mean.tolist(), subject=Subject(label, number=number), **ends, **looks)


NUMBERS = {RECALL: 1, POOLED: 2, TOLD: 3}
"""Places of agents in the palette."""


def survival_figure(numbers: dict[str, Any]) -> Any:
    """Survival by week: of the patients treated so far, and of the plan that the agent has then."""
    count = numbers["sizes"]["weeks"]
    weeks, panels = list(range(1, count + 1)), []
    measures = {
        "all patients so far: survival, %": lambda run, k: _treated(run[:k]),
        "plan learned so far: survival, %": lambda run, k: float(np.mean([w["plan"] for w in run[max(0, k - 3) : k]])),
    }
    for words, measure in measures.items():
        curves = [
            _banded(
                agent,
                weeks,
                [[measure(run, k) for k in weeks] for run in _played(numbers, agent)],
                number,
                drawn="curve",
            )
            for agent, number in NUMBERS.items()
        ]
        panels.append(
            Chart(
                "survival",
                "Agents that begin with nothing: each week has one hidden variant",
                "week",
                words,
                [*curves, *_levels(numbers["known"], [1, count])],
                log_x=False,
                log_y=False,
                x_range=(1, count),
                x_ticks={week: str(week) for week in weeks if week == 1 or week % 5 == 0},
                y_range=(74.0, 89.0),
            )
        )
    return draw_rows([panels])


def recognition_figure(numbers: dict[str, Any]) -> Any:
    """The mean posterior of the right variant against the steps of a week."""
    horizon = numbers["sizes"]["horizon"]
    labels = {
        "likeliest": "knows the variants, follows the likeliest",
        RANDOM_DOSES: "knows the variants, random doses",
    }
    exact = [
        _banded(words, looks(horizon), [ward["planners"][follow]["right"] for ward in numbers["known"]], number)
        for number, (follow, words) in zip((0, 7), labels.items(), strict=True)
    ]
    panels = []
    for treated in (RANDOM_DOSES, PROTOCOL):
        curves = []
        for number, logged in zip((1, 2, 3, 4, 5), numbers["sizes"]["logged"], strict=False):
            runs = _played(numbers, RECALL, logged, treated)
            beliefs = [np.mean([week["right"] for week in weeks], axis=0).tolist() for weeks in runs]
            curves.append(
                _banded(f"Recall, logs of {logged:,} patients a variant", runs[0][0]["looks"], beliefs, number)
            )
        panels.append(
            Chart(
                "recognition",
                "How soon the variant is recognised; logs of patients with random doses (left) or the protocol (right)",
                "steps since the week began (a patient takes about 12)",
                "posterior of the right variant, %",
                [*exact, *curves],
                log_y=False,
                y_range=(0.0, 102.0),
            )
        )
    return draw_rows([panels])


def wrong_figure(numbers: dict[str, Any]) -> Any:
    """The table of plans and variants as shades, and what acting on a recognition gives by how sure it is."""
    from matplotlib.figure import Figure

    first, found = numbers["known"][0], stakes(numbers["known"])
    table = 100.0 * np.array(first["wrong"])
    with fonts():
        figure = Figure(figsize=(6.8, 2.6))
        shades = figure.add_axes((0.13, 0.2, 0.27, 0.62))
        shades.imshow(table, cmap="Blues", vmin=72.0, vmax=92.0)
        for (i, j), share in np.ndenumerate(table):
            shades.text(j, i, f"{share:.1f} %", ha="center", va="center", color="white" if share > 84.0 else INK)
        names = [f"variant {i + 1}" for i in range(VARIANTS)]
        shades.set_xticks(range(VARIANTS), names)
        shades.set_yticks(range(VARIANTS), names)
        shades.set_xlabel("the patient has", color=INK)
        shades.set_ylabel("the plan is best for", color=INK)
        shades.set_title("survival, the first ward", fontsize=TEXT, color=INK)
        lines = figure.add_axes((0.53, 0.2, 0.44, 0.62))
        sure = np.linspace(1.0 / VARIANTS, 1.0, 50)
        expected = 100.0 * (sure * found.right + (1.0 - sure) * found.wrong)
        lines.plot(100.0 * sure, expected, color="#0072B2", linewidth=1.2)
        lines.text(70.0, 86.0, "act on the likeliest variant", color="#0072B2", ha="right", fontsize=SMALL)
        for share, words, dashes in (
            (found.protocol, "standard protocol", (4.0, 2.0)),
            (found.random, "random doses", (1.2, 1.6)),
        ):
            lines.axhline(100.0 * share, color=INK, linewidth=1.0, linestyle=(0, dashes))
            lines.text(99.0, 100.0 * share + 0.2, words, color=INK, ha="right", va="bottom", fontsize=SMALL)
        break_even = 100.0 * found.break_even
        lines.plot([break_even] * 2, [76.0, 100.0 * found.protocol], color="#8c8c8c", linewidth=0.6)
        words = f"better than the protocol from {break_even:.0f} % on"
        lines.text(break_even + 0.8, 76.3, words, color=INK, fontsize=SMALL)
        lines.set_xlim(100.0 / VARIANTS, 100.0)
        lines.set_ylim(76.0, 89.0)
        lines.set_xlabel("probability that the recognition is right, %", color=INK)
        lines.set_ylabel("survival, %", color=INK)
        lines.set_title("all wards", fontsize=TEXT, color=INK)
        lines.grid(axis="y", color="#e6e6e6", linewidth=0.4)
        for panel in (shades, lines):
            panel.tick_params(labelsize=SMALL, width=0.6, length=2.5)
            for side, spine in panel.spines.items():
                spine.set_visible(panel is lines and side in ("left", "bottom"))
    return figure


def history_figure(numbers: dict[str, Any]) -> Any:
    """Survival against the number of patients in logs."""
    logged, panels = list(numbers["sizes"]["logged"]), []
    for treated in (RANDOM_DOSES, PROTOCOL):
        runs = [_played(numbers, RECALL, count, treated) for count in logged]
        told = [_from_logs(numbers, count, treated) for count in logged]
        plans = [[float(np.mean([week["plan"] for week in weeks])) for weeks in each] for each in runs]
        patients = [[_treated(weeks) for weeks in each] for each in runs]
        series = [
            _banded("plan from the logs alone, told the variant", logged, np.transpose(told).tolist(), 0),
            _banded("Recall's plan after its first week in a variant", logged, np.transpose(plans).tolist(), 1),
            _banded("Recall's patients in these weeks", logged, np.transpose(patients).tolist(), 2),
        ]
        panels.append(
            Chart(
                "history",
                "What logs of earlier patients are worth; these had random doses (left) or the protocol (right)",
                "patients of every variant in the logs",
                "survival, %",
                [*series, *_levels(numbers["known"], [logged[0], logged[-1]])],
                log_y=False,
                y_range=(74.0, 89.0),
            )
        )
    return draw_rows([panels])


FIGURES = {
    "ward_survival": survival_figure,
    "ward_recognition": recognition_figure,
    "ward_wrong": wrong_figure,
    "ward_history": history_figure,
}
"""By the name of the file."""
