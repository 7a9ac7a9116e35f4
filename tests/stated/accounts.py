"""Which numbers of a page nobody accounts for."""

from collections.abc import Sequence

from stated.checks import Stated
from stated.reading import Number, Page


def left(page: Page, checks: Sequence[Stated] = ()) -> list[Number]:
    """Numbers of a page that none of these checks computes."""
    computed = [
        match.span(group + 1)
        for check in checks
        for match in check.found(page.text)
        for group in range(match.re.groups)
    ]
    return [number for number in page.numbers if not any(overlap(number, *span) for span in computed)]


def overlap(number: Number, start: int, end: int) -> bool:
    """Whether a number stands there, or a part of it."""
    return start < number.end and number.start < end


def unaccounted(page: Page, checks: Sequence[Stated] = ()) -> list[str]:
    """A sentence for every sentence of a page with a number that no check of it computes and no mark belongs to."""
    missing: dict[tuple[int, str], list[str]] = {}
    for number in left(page, checks):
        if not any(overlap(number, mark.start, mark.end) for mark in page.marks):
            missing.setdefault((number.line, number.sentence), []).append(page.text[number.start : number.end])
    return [
        f"{page.name}:{line}: nothing computes {', '.join(written)} in {sentence!r}: write a check in tests/stated, or "
        "put <!-- made by COMMAND; commit HASH --> behind the paragraph or table (tests/stated/marks.py)"
        for (line, sentence), written in missing.items()
    ]
