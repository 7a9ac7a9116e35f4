"""Whether the theorem on each agent's regret holds in its runs, as a table: its bound is shown only where it does."""

from collections.abc import Iterable, Mapping
from typing import Any

from aomultirl.experiments.history import History
from aomultirl.reports.tables import Cell, Judged, TextTable

MOST_SENTENCES = 6
"""Of an agent, whose runs may break a premise each in its own way."""
UNCHECKED_VERSION = "The history is of a version that checked no premises, and its bound is not shown."


def premises_table(runs: Mapping[str, Iterable[History]]) -> TextTable | None:
    """A row for every agent that a theorem is about; None where there is none.

    Parameters
    ----------
    runs
        the histories of every agent, by its label.
    """
    rows = [row for label, histories in runs.items() if (row := _row(label, histories))]
    if not rows:
        return None
    return TextTable("Theorems on the regret, and whether they hold here", ("agent", "theorem", "holds", "why"), rows)


def shown_bound(history: History) -> dict[str, Any] | None:
    """The theorem's bound that a history holds; None where none is, or a premise of it was never looked at."""
    return history.about.get("bound") if "premises" in history.about else None


def _row(label: str, histories: Iterable[History]) -> list[Cell] | None:
    """An agent's row: the theorem, whether it holds in all of its runs, and what speaks against that."""
    theorem, broken, unchecked = "", [], []
    for history in histories:
        told = history.about.get("premises")
        if told is not None:
            theorem = told["theorem"]
            broken += told["broken"]
            unchecked += [f"Nobody checked that {words}." for words in told["unchecked"]]
        elif "premises" not in history.about and history.about.get("bound"):
            unchecked.append(UNCHECKED_VERSION)
    if not (theorem or unchecked):
        return None
    verdict = Judged("no", False) if broken else Judged("?", None) if unchecked else Judged("yes", True)
    sentences = list(dict.fromkeys([*broken, *unchecked]))
    more = [] if len(sentences) <= MOST_SENTENCES else [f"And {len(sentences) - MOST_SENTENCES} more."]
    return [label, theorem, verdict, " ".join([*sentences[:MOST_SENTENCES], *more])]
