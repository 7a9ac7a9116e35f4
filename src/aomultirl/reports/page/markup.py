"""Pieces of HTML: tables, controls, figures.  Arguments called ``cells`` or ``content`` are HTML, all others text."""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import repeat

from aomultirl.reports.page.charts import Chart
from aomultirl.reports.page.data import Group

DASHES = {
    "solid": "none",
    "dash": "6 4",
    "dashdot": "7 3 1.5 3",
    "dot": "1.5 3",
    "longdash": "10 4",
    "longdashdot": "10 3 1.5 3",
}
SHAPES = {
    "square": "M-3.5-3.5h7v7h-7z",
    "circle": "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "triangle-up": "M0-4.5L4.5 3.5h-9z",
    "diamond": "M0-5L5 0L0 5L-5 0z",
    "triangle-down": "M0 4.5L4.5-3.5h-9z",
    "cross": "M-1.5-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z",
    "x": "M-4-2.5l1.5-1.5L0-1.5L2.5-4L4-2.5L1.5 0L4 2.5L2.5 4L0 1.5L-2.5 4L-4 2.5L-1.5 0z",
    "star": "M0-5L1.3-1.6L5-1.5L2 .8L3 4.5L0 2.3L-3 4.5L-2 .8L-5-1.5L-1.3-1.6z",
}
NOTHING = "&ndash;"
SIGNS = {
    True: '<span class="yes">✓ yes</span>',
    False: '<span class="no">✗ no</span>',
    None: '<span class="open">? open</span>',
}


def table(head: Sequence[str], cells: Sequence[Sequence[str]], caption: str, kind: str = "") -> str:
    """A table that scrolls sideways by itself where it must; the first cell of a row is its heading.

    kind: "numbers" are set flush right, "sentences" get room, and "cards" are sentences that a narrow screen stacks,
    each cell but the last after the heading of its column.
    """
    top = "".join(f'<th scope="col">{escape(one)}</th>' for one in head)
    names = [f' data-column="{escape(one)}"' for one in head[1:]] if kind == "cards" else repeat("")
    rows = "".join(
        f'<tr><th scope="row">{first}</th>'
        f"{''.join(f'<td{name}>{one}</td>' for name, one in zip(names, rest, strict=False))}</tr>"
        for first, *rest in cells
    )
    return _wide(
        caption,
        f'<table class="{"sentences cards" if kind == "cards" else kind}">'
        f"<caption><span>{escape(caption)}</span></caption>"
        f"{f'<thead><tr>{top}</tr></thead>' if any(head) else ''}<tbody>{rows}</tbody></table>",
    )


def block(text: str, label: str) -> str:
    """Text that is to be copied."""
    return _wide(label, f"<pre><code>{escape(text)}</code></pre>")


def code(text: object) -> str:
    return f"<code>{escape(str(text))}</code>"


def swatch(one: Group) -> str:
    """A piece of the agent's line."""
    colour, dash, symbol = one.look
    dashes = DASHES.get(dash, dash.replace("px", ""))
    return (
        '<svg class="swatch" viewBox="0 0 34 12" width="34" height="12" aria-hidden="true">'
        f'<path d="M0 6H34" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>'
        f'<path d="{SHAPES[symbol]}" transform="translate(17 6)" fill="white" stroke="{colour}" stroke-width="1.4"/>'
        "</svg>"
    )


def figure(chart: Chart) -> str:
    """Where a chart goes, with its first view in words."""
    name, words = chart["id"], escape(next(iter(chart["views"].values()))["words"])
    return (
        f'<figure><div class="chart" id="chart-{name}" role="img" aria-label="{words}" '
        f'style="min-height:{chart["layout"]["height"]}px"></div>'
        f'<figcaption class="reading" id="words-{name}">{words}</figcaption></figure>'
    )


def section(name: str, heading: str, content: str) -> str:
    head = f'<h2 id="{name}-head">{escape(heading)}</h2>'
    return f'<section id="{name}" aria-labelledby="{name}-head">{head}{content}</section>'


def select(name: str, label: str, options: Mapping[str, str], chosen: str = "") -> str:
    items = "".join(
        f'<option value="{escape(value)}"{" selected" if value == chosen else ""}>{escape(words)}</option>'
        for value, words in options.items()
    )
    return f'<label class="choice"><span>{escape(label)}</span> <select data-control="{name}">{items}</select></label>'


def box(name: str, label: str, *, checked: bool = False, far: bool = False) -> str:
    """A checkbox; ``far``: what it shows needs a logarithmic axis."""
    marks = (" checked" if checked else "") + (' data-far="true"' if far else "")
    return f'<label class="choice"><input type="checkbox" data-control="{name}"{marks}> {escape(label)}</label>'


def controls(*content: str) -> str:
    return f'<div class="controls">{"".join(content)}</div>'


def _wide(label: str, content: str) -> str:
    return f'<div class="wide" tabindex="0" role="region" aria-label="{escape(label)}">{content}</div>'
