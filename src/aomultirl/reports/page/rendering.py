"""Pages made of templates: one HTML file with its style, its script, its data and Plotly inside.

Templates escape all that they are given; what is not to be escaped stands in the templates themselves, or comes from
the Plotly package.
"""

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

import aomultirl
from aomultirl import extras
from aomultirl.analysis.intervals import in_words
from aomultirl.reports import templating
from aomultirl.reports.charts_plotly import PIXELS
from aomultirl.reports.page.run_origin import world_call

if TYPE_CHECKING:
    from jinja2 import Environment


def render(template: str, **context: Any) -> str:
    """The whole page, as HTML that loads nothing from anywhere."""
    page = _environment().get_template(template)
    return page.render(version=aomultirl.__version__, **context)


def in_a_sentence(macro: str, **record: Any) -> str:
    """A chart in words, as plain text: what one of the macros of ``words.txt`` makes of a record."""
    return str(getattr(_words(), macro)(**record))


@cache
def _words() -> Any:
    return templating.environment("aomultirl.reports.page").get_template("words.txt").module


@cache
def _environment() -> "Environment":
    with extras.needs("pages"):
        from markupsafe import Markup
        from plotly.offline import get_plotlyjs
    environment = templating.environment("aomultirl.reports.page", autoescape=True, keep_trailing_newline=True)
    # Names keep their order: the first view of a chart is the one that is shown first.
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":"), "default": _number}
    environment.globals |= {
        "plotly": lambda: Markup(get_plotlyjs()),  # part of the package, not of anyone's data
        "in_words": in_words,
    }
    environment.filters["world_call"] = world_call
    environment.filters["stroke"] = lambda dashes: " ".join(f"{PIXELS * length:g}" for length in dashes) or "none"
    return environment


def _number(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} cannot be written as JSON")
