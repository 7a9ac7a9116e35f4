"""Numbers and lists as sentences have them, from :mod:`aomultirl.analysis.phrases`."""

from aomultirl.analysis.phrases import RAISED, counted, listed, number, span

__all__ = ["RAISED", "counted", "listed", "number", "span"]
