"""Refusals: one sentence each, short whatever is refused, and never an error of their own."""

import math
import time

import numpy as np
import pytest

import aomultirl as ao
from aomultirl import checks
from zoo import EVERYTHING, Nasty, Raising, check_refusal, circular, deep

SETTING = ao.agents.Setting(2, 2, np.zeros((2, 2)), 10)


@pytest.mark.parametrize(
    ("attack", "sentence"),
    [
        (lambda: checks.real("failure", 10**400), "failure must be below 1e308, not 10**400 or so"),
        (lambda: checks.real("failure", -(10**400)), "failure must be below 1e308, not -10**400 or so"),
        (lambda: checks.real("failure", 1 << 10**7), "failure must be below 1e308, not 10**3010300 or so"),
        (
            lambda: ao.agents.Recall(failure=b"x", horizon=5).begin(SETTING),
            "failure must be a number, not b'x'",
        ),
        (
            lambda: ao.agents.AOMultiRL(2, 0.5, 5.0, b"x", learning_horizon=5).begin(SETTING),
            "failure must be a number, not b'x'",
        ),
        (
            lambda: ao.streams.adaptive(choose=math.nan),
            "choose is nan, not a function of the past episodes",
        ),
        (lambda: ao.streams.sequence(5), "tasks is 5, not a list of numbers of worlds"),
        (lambda: ao.streams.paper(each_first="x"), "each_first must be True or False, not 'x'"),
        (lambda: checks.integer("n", 10**5000, least=0), "n must be below 2**63, not 10**5000 or so"),
        (lambda: checks.integer("n", -(10**5000), least=0), "n must be at least 0, not -10**5000 or so"),
        (lambda: checks.word("name", "a\0b"), "name is 'a\\x00b', which holds characters that cannot be printed"),
        (lambda: checks.path("out", "a\0b"), "out is 'a\\x00b', and no path holds the character NUL"),
        (
            lambda: checks.path("out", "results/" + "x" * 300),
            f"out is 'results/{'x' * 67} ..., of which a part is 300 bytes long; 255 can be",
        ),
        (
            lambda: ao.theory.samples_needed(16, 3, 1e-200, 10, 0.1),
            "samples_needed is beyond what numbers can hold with 16, 3, 1e-200, 10, 0.1",
        ),
        (
            lambda: ao.theory.clustering_horizon(16, 3, 0.5, 1e308, 10, 0.1),
            "clustering_horizon is beyond what numbers can hold with 16, 3, 0.5, 1e+308, 10, 0.1",
        ),
        (lambda: ao.save(ao.agents.Random(5), "a\0b"), "path is 'a\\x00b', and no path holds the character NUL"),
        (lambda: ao.load_agent(5), "path is 5, not a path"),
    ],
)
def test_each_attack_gets_its_sentence(attack, sentence):
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        attack()
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("attack", "words"),
    [
        (
            lambda: ao.ModelSet(iter(int, 1)),
            "models is <callable_iterator object at .*>, of more than 1,000,000 worlds",
        ),
        (
            lambda: ao.streams.sequence(iter(int, 1)),
            "tasks is <callable_.*>, of more than 10,000,000 numbers of worlds",
        ),
        (
            lambda: ao.agents.AOMultiRL(4, 1.2, 7.0, 0.1, distinguishing_set=iter(int, 1)),
            "distinguishing_set is <callable_iterator .*>, of more than 10,000,000 pairs .state, action.",
        ),
        (lambda: checks.pairs("pairs", iter(int, 1), 2, 2), "pairs is <.*>, of more than 10,000,000 pairs .*"),
    ],
)
def test_iterators_that_never_end(attack, words):
    with pytest.raises(ValueError, match=f"^{words}$"):
        attack()


def test_a_name_of_300_characters():
    with pytest.raises(ValueError, match=r"^name is 'x{75} \.\.\., 300 bytes long; at most 200 can be$"):
        checks.word("name", "x" * 300)
    with pytest.raises(ValueError, match=r", 450 bytes long; at most 200 can be$"):
        checks.word("name", "\u20ac" * 150)
    with pytest.raises(ValueError, match=r", of which a part is 300 bytes long; 255 can be$"):
        checks.path("path", "a/" + "\u20ac" * 100)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([1, "a", (2.5, None)], "[1, 'a', (2.5, None)]"),
        ({"b": 1}, "{'b': 1}"),
        (True, "True"),
        (Nasty("x"), "<a Nasty>"),
        (Raising(), "<a Raising>"),
        ([Raising()], "<a list>"),
        (10**30, "1000000000000000000000000000000"),
        (circular(), "[1, [1, [1, [...]]]]"),
        ("a\nb", "'a\\nb'"),
    ],
)
def test_values_as_a_sentence_shows_them(value, text):
    assert checks.shown(value) == text


@pytest.mark.parametrize(
    "value",
    [
        "x" * 10**8,
        b"x" * 10**8,
        list(range(10**6)),
        np.zeros(10**7),
        deep(100_000),
        1 << 10**8,
        [[[[0] * 100] * 100] * 100] * 100,
        dict.fromkeys(range(10**5)),
    ],
    ids=type,
)
def test_huge_values_are_shown_at_once(value):
    begin = time.process_time()
    text = checks.shown(value)
    assert time.process_time() - begin < 0.5
    assert len(text) <= checks.SHOWN
    assert "\n" not in text


@pytest.mark.parametrize("make", EVERYTHING)
def test_every_check_takes_every_value(make):
    for check in (
        lambda value: checks.integer("x", value, least=0),
        lambda value: checks.real("x", value, above=0.0),
        lambda value: checks.seed("x", value),
        lambda value: checks.truth("x", value),
        lambda value: checks.choice("x", value, ("a", "b")),
        lambda value: checks.pairs("x", value, 2, 2),
        lambda value: checks.items("x", value, "things"),
        lambda value: checks.path("x", value),
        lambda value: checks.random_source("x", value),
        lambda value: checks.finite_array("x", value, lowest=0.0),
    ):
        try:
            check(make())
        except ValueError as error:
            check_refusal(error, check)
