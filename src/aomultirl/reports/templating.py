"""Templates of what people see: the words and the marks stand in them, and Python hands over records.

Pages are in ``reports/page/templates``; tables for a terminal, as plain text, in ``reports/templates``.
"""

from typing import TYPE_CHECKING, Any

from aomultirl import extras
from aomultirl.analysis import phrases
from aomultirl.reports import wording

if TYPE_CHECKING:
    from jinja2 import Environment


def environment(package: str, **options: Any) -> "Environment":
    """The templates of a package, with the filters that all templates have."""
    with extras.needs("reports"):
        from jinja2 import Environment, PackageLoader, StrictUndefined
    made = Environment(
        loader=PackageLoader(package), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, **options
    )
    made.filters |= {
        "number": phrases.number,
        "counted": phrases.counted,
        "span": phrases.span,
        "symbols": wording.symbols,
        "sentence": wording.sentence,
        "ends": lambda values: " to ".join(dict.fromkeys(map(phrases.number, (min(values), max(values))))),
    }
    return made
