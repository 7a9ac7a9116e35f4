"""The frame of every page: one HTML file with its style, its script, its data and Plotly inside."""

import json
from collections.abc import Sequence
from html import escape
from importlib.resources import files as resources
from string import Template
from typing import Any

import numpy as np

import aomultirl
from aomultirl.reports.page import markup
from aomultirl.reports.page.charts import Chart

Section = tuple[str, str, str]
"""(id, heading, HTML)."""


def frame(
    title: str,
    subtitle: str,
    sections: Sequence[Section],
    charts: Sequence[Chart],
    *,
    nav: Sequence[tuple[str, str]] | None = None,
    toolbar: str = "",
    **data: Any,
) -> str:
    """The whole page, as HTML that loads nothing from anywhere.

    Parameters
    ----------
    nav
        (id, words) of the links at the top; all sections by default.
    toolbar
        HTML, above the sections.
    data
        what else ``page.js`` is given.
    """
    links = [(name, heading) for name, heading, _ in sections] if nav is None else nav
    return Template(_resource("page.html")).substitute(
        version=escape(aomultirl.__version__),
        title=escape(title),
        subtitle=escape(subtitle),
        nav="".join(f'<li><a href="#{name}">{escape(words)}</a></li>' for name, words in links),
        toolbar=toolbar,
        sections="".join(markup.section(*one) for one in sections),
        style=_resource("page.css"),
        plotly=_plotly(),
        data=_json({"agents": [], "charts": charts, "maps": None, **data}),
        script=_resource("page.js"),
    )


def _resource(name: str) -> str:
    return resources("aomultirl.reports.page").joinpath(name).read_text("utf-8")


def _plotly() -> str:
    try:
        from plotly.offline import get_plotlyjs
    except ModuleNotFoundError:
        raise ImportError("the page needs plotly: pip install 'aomultirl[experiments]'") from None
    return str(get_plotlyjs())


def _json(content: Any) -> str:
    """JSON that no part of the page around it takes for markup."""
    return json.dumps(content, allow_nan=False, separators=(",", ":"), default=_number).replace("<", "\\u003c")


def _number(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} cannot be written as JSON")
