"""Pages made of templates: one HTML file with its style, its script, its data and Plotly inside.

Templates escape all that they are given; what is not to be escaped stands in the templates themselves, or comes from
the Plotly package.
"""

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import aomultirl
from aomultirl.analysis import phrases
from aomultirl.analysis.intervals import in_words
from aomultirl.reports import wording
from aomultirl.reports.charts_plotly import PIXELS
from aomultirl.reports.looks import Look, agent_look
from aomultirl.reports.tables import Judged

if TYPE_CHECKING:
    from jinja2 import Environment

NOTHING = "\u2013"
"""What stands in a cell of a table that says nothing."""


class Measured(NamedTuple):
    """A cell with a number, and its interval below it; the interval is empty where there is none."""

    value: str
    interval: str = ""


class Code(NamedTuple):
    """A cell with code."""

    code: str


class AgentCell(NamedTuple):
    """A cell that names an agent beside a piece of its line."""

    label: str
    look: Look


Cell = str | Measured | Code | AgentCell | Judged
"""What a cell of a table may hold; the template decides what each looks like."""


def measured(mean: float, low: float, high: float) -> Cell:
    """The cell of a mean and its interval; nothing where the mean is unknown."""
    value, interval = in_words(mean, low, high)
    return Measured(value, interval) if value else NOTHING


def render(template: str, **context: Any) -> str:
    """The whole page, as HTML that loads nothing from anywhere."""
    page = _environment().get_template(template)
    return page.render(version=aomultirl.__version__, **context)


@cache
def _environment() -> "Environment":
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
        from markupsafe import Markup
        from plotly.offline import get_plotlyjs
    except ModuleNotFoundError as error:
        raise ImportError(f"the page needs {error.name}: pip install 'aomultirl[experiments]'") from None
    environment = Environment(
        loader=PackageLoader("aomultirl.reports.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    # Names keep their order: the first view of a chart is the one that is shown first.
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":"), "default": _number}
    environment.globals |= {
        "plotly": lambda: Markup(get_plotlyjs()),  # part of the package, not of anyone's data
        "agent_look": agent_look,
    }
    environment.filters |= {
        "number": phrases.number,
        "counted": phrases.counted,
        "symbols": wording.symbols,
        "sentence": wording.sentence,
        "ends": lambda values: " to ".join(dict.fromkeys(map(phrases.number, (min(values), max(values))))),
        "stroke": lambda dashes: " ".join(f"{PIXELS * length:g}" for length in dashes) or "none",
    }
    return environment


def _number(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} cannot be written as JSON")
