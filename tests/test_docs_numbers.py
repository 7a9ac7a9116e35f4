"""Every sentence of README and docs that states a number: it is computed here, or a mark says what made it.

What computes numbers stands in ``stated/on_*.py``; ``stated/marks.py`` says what a mark is, and ``stated/exempt.py``
what has digits and is no number.  A number that has neither fails here, with its page, its line and its sentence.
"""

import re
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location

import pytest

from stated import checks, marks
from stated.accounts import left, overlap, unaccounted
from stated.checks import CHECKS
from stated.exempt import COMMIT
from stated.reading import ROOT, Page, pages

for module in sorted((ROOT / "tests" / "stated").glob("on_*.py")):
    import_module(f"stated.{module.stem}")
PAGES = {name: Page(name) for name in pages()}
EVERY = [
    pytest.param(check, marks=[pytest.mark.long] * check.long, id=f"{check.page}: {check.piece}")
    for check in CHECKS
    if check.page in PAGES  # an archive of the sources may be without some
]


def of(name):
    return [check for check in CHECKS if check.page == name]


@pytest.mark.parametrize("name", PAGES)
def test_every_number_is_computed_or_says_what_made_it(name):
    missing = unaccounted(PAGES[name], of(name))
    assert not missing, "\n".join(missing)


@pytest.mark.parametrize("check", EVERY)
def test_what_is_computed_is_what_the_page_says(check):
    wrong = list(check.wrong(PAGES[check.page].text))
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("check", EVERY)
def test_another_number_on_the_page_would_be_noticed(check):
    """Each number of each check, changed."""
    text = PAGES[check.page].text
    match = check.found(text)[0]
    for group, written in enumerate(match.groups(), start=1):
        start, end = match.span(group)
        other = f"{2 * checks.worth(written) + 1000.7:.1f}"
        assert list(check.wrong(text[:start] + other + text[end:])), written


@pytest.mark.parametrize("name", PAGES)
def test_every_mark_can_be_followed_and_belongs_to_a_number(name):
    page, wrong = PAGES[name], []
    relying = left(page, of(name))
    for mark in page.marks:
        numbers = [page.text[number.start : number.end] for number in relying if overlap(number, mark.start, mark.end)]
        why = marks.wrong(mark, name, numbers) if numbers else "it belongs to no number that nothing computes"
        wrong += [f"{name}:{mark.line}: {why}"] if why else []
    assert not wrong, "\n".join(wrong)


def alone(test):
    """Run a test of another file, read anew."""
    file, name = test.split("::")
    spec = spec_from_file_location("read_anew", ROOT / file)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    getattr(module, name)()


@pytest.mark.parametrize("name", PAGES)
def test_no_page_relies_on_what_nobody_can_run_again(name):
    """Neither in a mark nor in a sentence: a number that was measured once stays out, or its script comes in."""
    said = " ".join(PAGES[name].text.split())
    assert not re.findall(r"script that (?:is|was) not kept|[Mm]easured once", said)


@pytest.mark.parametrize("test", marks.COMPARES)
def test_a_test_that_takes_numbers_from_a_page_notices_another_one(test, monkeypatch):
    """Each number of each mark that names it, changed."""
    alone(test)
    read = type(ROOT).read_text
    named = [(page, mark) for page in PAGES.values() for mark in page.marks if mark.words == f"tested by {test}"]
    assert named
    for page, mark in named:
        for number in left(page, of(page.name)):
            if not overlap(number, mark.start, mark.end):
                continue
            other = f"{page.text[: number.start]}{1000.7}{page.text[number.end :]}"

            def changed(path, *args, name=page.name, other=other, **options):
                return other if path == ROOT / name else read(path, *args, **options)

            with monkeypatch.context() as patched:
                patched.setattr(type(ROOT), "read_text", changed)
                with pytest.raises((AssertionError, ValueError)):
                    alone(test)


@pytest.mark.parametrize("name", PAGES)
def test_a_new_sentence_with_a_number_is_noticed_on_every_page(name):
    page = Page(name, f"{PAGES[name].text}\n\nFrom now on it earns 12.34 % more.\n")
    last = page.text.count("\n")
    assert any(words.startswith(f"{name}:{last}: nothing computes 12.34") for words in unaccounted(page, of(name)))


def test_every_commit_that_is_named_led_here():
    """In marks, and in sentences."""
    if not marks.history():
        pytest.skip("the history is not there")
    named = {
        name: {*re.findall(COMMIT, page.text), *(commit for mark in page.marks for commit in marks.commits(mark))}
        for name, page in PAGES.items()
    }
    strange = [
        f"{name}: {commit} is no commit of this history"
        for name, commits in named.items()
        for commit in sorted(commits)
        if not any(full.startswith(commit) for full in marks.history())
    ]
    assert not strange, "\n".join(strange)
