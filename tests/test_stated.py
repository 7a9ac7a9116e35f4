"""What ``test_docs_numbers.py`` relies on, on small texts: how pages are read, what marks say, how checks compare."""

import re

import pytest

from stated import marks
from stated.accounts import unaccounted
from stated.checks import Stated, agrees, worth
from stated.exempt import IN_SENTENCES, KINDS, blank
from stated.reading import Mark, Page

MARK = "<!-- made by aomultirl reproduce; commit 6e51e50 -->"


def page(text):
    return Page("docs/page.md", text)


def numbers(text):
    found = page(text)
    return [found.text[number.start : number.end] for number in found.numbers]


def missing(text):
    """Lines with a number that nobody accounts for."""
    return [int(words.split(":")[1]) for words in unaccounted(page(text))]


def check(piece, *values, within=0.0):
    return Stated("docs/page.md", piece, lambda: values, within)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It earns 97.7 and -1.5 % of 2,000 steps, 1e-6 less.", ["97.7", "-1.5", "2,000", "1e-6"]),
        ("Some ten seconds for half a billion steps.", ["ten seconds", "half a billion"]),
        (
            "Four of the five hold, in seven of nine beds, a third of the time.",
            ["Four of the five", "seven of nine", "a third of"],
        ),
        ("Two agents, one of them told, in three worlds.", []),
        ("Six do not hold, four are open, and it is best in seven.", ["Six", "four", "seven"]),
        (
            "Ten runs and three development seeds of some seventy agents",
            ["Ten runs", "three development seeds", "seventy"],
        ),
        ("The best two of these, and each of the other two.", []),
        ("`rings(9)` and [a page](page2.md) of H = 500", []),
        ("# Sizes: 4", ["4"]),
        ("| who | earns |\n|---|---|\n| Recall | 97 |\n| nobody | 1 |", ["97", "1"]),
        ("- an item with 12\n- another one", ["12"]),
        ("1. the first", []),
        ("    Q + 0.3 ln(n)", ["0.3"]),
        ("```python\nrun(200)  # takes 15 s\n```", ["15"]),
        ("```{eval-rst}\n.. note:: 7\n```", []),
        ("<!-- 7 -->", []),
        ("<p>It earns 12.</p>\n<!-- 7 -->", ["12"]),
        ("```{glossary}\nterm\n    What earns 97.7 of it.\n```", ["97.7"]),
        ("![It earns 12 of 20](images/4.png)", ["12", "20"]),
        ("[It earns 12](page.md) of 20", ["12", "20"]),
    ],
)
def test_numbers_are_what_is_measured_or_computed(text, found):
    assert numbers(text) == found


@pytest.mark.parametrize("kind", [*KINDS, IN_SENTENCES], ids=lambda kind: kind.what)
def test_what_is_exempt_has_an_example_that_its_own_pattern_takes(kind):
    assert re.search(r"\d", kind.example) or "one" in kind.example
    assert not re.search(r"\d", blank(kind.example))
    assert re.search(kind.pattern, kind.example, re.MULTILINE) or "2N" in kind.example
    assert len(blank(kind.example)) == len(kind.example)


@pytest.mark.parametrize(
    "text",
    [
        "told the world 0.82",
        "H1 of 200 steps",
        "K^0.49",
        "2,010 steps",
        "95 % of the optimum",
        "in 1 of 20 runs",
        "it gains 1 %",
        "the 5 agents",
        "E is 3.5",
        "at 0.1 √(DSAH)",
    ],
)
def test_what_is_nearly_exempt_is_a_number(text):
    assert len(re.findall(r"\d", blank(text))) >= 1


def test_a_number_without_a_check_or_a_mark_is_named_with_its_page_its_line_and_its_sentence():
    (words,) = unaccounted(page("# Title\n\nAll is well. It earns 97.7 % of\nthe optimum. So it is.\n"))
    assert words.startswith("docs/page.md:3: nothing computes 97.7 in 'It earns 97.7 % of the optimum.': ")


def test_a_mark_belongs_to_what_stands_before_it_and_to_no_more():
    assert missing(f"One: 11.\n\nTwo: 22.\n{MARK}\n\nThree: 33.\n") == [1, 6]
    assert missing(f"{MARK}\nOne: 11.\n") == [2]
    assert missing(f"```\n{MARK}\n```\n\nOne: 11.\n") == [5]


def test_a_mark_behind_a_table_belongs_to_all_of_it_and_to_the_paragraph_that_introduces_it():
    table = f"| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\n{MARK}\n"
    assert missing(f"Of 20 runs:\n\n{table}") == []
    assert missing(f"Of 20 runs.\n\n{table}") == [1]
    assert missing(f"Of 20 runs:\n\nOf 30 runs:\n\n{table}") == [1]


def test_a_mark_in_an_item_belongs_to_the_item_and_one_behind_the_list_to_all():
    assert missing(f"- 11\n  {MARK}\n- 22\n") == [3]
    assert missing(f"- 11\n- 22\n\n{MARK}\n") == []


def test_a_mark_behind_a_part_that_a_script_writes_belongs_to_all_of_it():
    part = "<!-- made by examples/ward.py: pay -->\n\n## Of 11\n\n| 22 |\n|---|\n\n<!-- until here -->\n"
    assert missing(f"Before: 33.\n\n{part}{MARK}\n\nAfter: 44.\n") == [1, 13]
    assert missing(part) == [3, 5]


def test_what_is_checked_is_the_numbers_between_the_words_and_not_those_of_the_check():
    found = page("It takes 122 steps of 500, in\ntwo of three runs 7.\n")
    assert not list(check("takes {} steps of 500, in {} of", 121.7, 2).wrong(found.text))
    left = unaccounted(found, [check("takes {} steps of 500", 121.7)])
    assert [words.split(" in '")[0] for words in left] == [
        "docs/page.md:1: nothing computes 500",
        "docs/page.md:2: nothing computes two of three, 7",
    ]


def test_a_check_says_what_is_right_and_where():
    text = "\nIt takes 122 steps, or -1.5.\n"
    assert list(check("takes {} steps, or {}", 122.6, -1.5).wrong(text)) == [
        "docs/page.md:2: it says 122 in 'takes 122 steps, or -1.5', and 122.6 is right"
    ]
    (words,) = check("needs {} steps", 1).wrong(text)
    assert "does not say 'needs {} steps' any more" in words
    with pytest.raises(AssertionError, match="has not as many numbers"):
        list(check("takes {} steps", 1, 2).wrong(text))


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("350,443", 350_443),
        ("-1.5", -1.5),
        ("\N{MINUS SIGN}2", -2),
        ("2^18", 2**18),
        ("2⁶³", 2.0**63),
        ("1e-6", 1e-6),
        ("seven", 7),
        ("some seventy", 70),
        ("half a billion", 5e8),
        ("a hundred", 100),
        ("three quarters", 0.75),
        ("two seconds", 2),
        ("Four", 4),
    ],
)
def test_numbers_are_read_as_people_read_them(written, value):
    assert worth(written) == pytest.approx(value)


@pytest.mark.parametrize(
    ("written", "value", "within", "right"),
    [
        ("97.7", 97.749, 0.0, True),
        ("97.7", 97.76, 0.0, False),
        ("97.70", 97.749, 0.0, False),
        ("122", 122.4, 0.0, True),
        ("122", 122.6, 0.0, False),
        ("120", 122.4, 0.03, True),
        ("120", 125.0, 0.03, False),
        ("1e-6", 1.4e-6, 0.0, True),
        ("1e-6", 1.6e-6, 0.0, False),
        ("2.5e3", 2540, 0.0, True),
        ("2.5e3", 2560, 0.0, False),
        ("seven", 7, 0.0, True),
        ("seven", 8, 0.0, False),
        ("7", float("nan"), 0.0, False),
        ("7", float("inf"), 0.5, False),
    ],
)
def test_numbers_agree_to_the_digits_that_are_shown(written, value, within, right):
    assert agrees(written, value, within) == right


def verdict(words, *some):
    return marks.wrong(Mark(1, words, 0, 1), "docs/ward.md", some)


@pytest.mark.parametrize(
    "words",
    [
        "made by aomultirl compare --suite hard --runs 3; commit 6e51e50",
        'made by aomultirl compare --suite large --only "strength 1, H = 20"; commit 6e51e50, 7f678b1',
        "made by python examples/ward.py; written in 0e7611f",
        "made by make bench-peers; commit dd9751f",
        "made by pytest tests/test_ward.py::test_x; commit dd9751f",
        "tested by tests/test_ward.py::test_the_right_plan_is_optimal_and_wrong_ones_are_not",
        "published by Lee and others 2025",
    ],
)
def test_marks_that_can_be_followed(words):
    assert verdict(words) is None


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("made by aomultirl compare --siute hard; commit 6e51e50", "nobody can run"),
        ("made by a script that is not kept; written in 7f678b1", "nobody can run 'a script that is not kept'"),
        ("made by aomultirl compair; commit 6e51e50", "nobody can run"),
        ("made by python examples/wart.py; commit 6e51e50", "nobody can run"),
        ("made by make fun; commit 6e51e50", "nobody can run"),
        ("made by hand; commit 6e51e50", "nobody can run"),
        ("made by aomultirl reproduce; commit 6e51", "none of the comments"),
        ("made by aomultirl reproduce, yesterday; ", "none of the comments"),
        ("tested by tests/test_ward.py::test_nothing", "there is no test"),
        ("tested by tests/test_wart.py::test_nothing", "there is no test"),
        ("tested by tests/test_streams.py::test_x", "there is no test"),
        ("measured", "none of the comments"),
    ],
)
def test_marks_that_cannot(words, why):
    assert why in verdict(words, "12,345")


LISTED = (54_321, "98,765")


def test_a_test_has_the_numbers_in_its_lines_or_in_constants_that_it_names():
    """12,345 is here, and 54,321 and 98,765 are in what is named here."""
    assert LISTED

    def why(words, *numbers):
        test = f"tested by tests/test_stated.py::{words}"
        return marks.wrong(Mark(1, test, 0, 1), "docs/page.md", numbers)

    name = "test_a_test_has_the_numbers_in_its_lines_or_in_constants_that_it_names"
    assert why(name, "12,345", "54,321", "98,765") is None
    another = f"{12_345 + 1:,}"
    assert why(name, "12,345", another) == f"{name} does not have {another}"
    assert why("test_marks_that_cannot", "54,321") == "test_marks_that_cannot does not have 54,321"
    assert why("test_numbers_agree_to_the_digits_that_are_shown", "97.749") is None  # in its decorator
