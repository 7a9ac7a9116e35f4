"""Refusals say what they are about in fields."""

import pickle

import pytest

from aomultirl import checks
from aomultirl.refusals import Refusal


@pytest.mark.parametrize(
    ("check", "argument", "place"),
    [
        (lambda: checks.integer("episodes", -1, least=0), "episodes", ""),
        (lambda: checks.seed("seed", 0.5), "seed", ""),
        (lambda: checks.truth("noisy", 1), "noisy", ""),
        (lambda: checks.real("failure", 2.0, below=1.0), "failure", ""),
        (lambda: checks.choice("record[1]", "regrt", ("regret",)), "record", "[1]"),
        (lambda: checks.pairs("targets", [(0, 9)], 2, 2), "targets", "[0] action"),
        (lambda: checks.pairs("targets", [3], 2, 2), "targets", "[0]"),
        (lambda: checks.items("tasks", 3, "numbers"), "tasks", ""),
        (lambda: checks.finite_array("rewards", [[0.0, -1.0]], lowest=0.0), "rewards", "[0, 1]"),
        (lambda: checks.path("out", "a\0b"), "out", ""),
        (lambda: checks.integer("the task of episode 3", 4, least=0, most=1), "the task of episode 3", ""),
    ],
)
def test_every_check_names_its_argument(check, argument, place):
    with pytest.raises(Refusal) as error:
        check()
    refusal = error.value
    assert (refusal.argument, refusal.place) == (argument, place)
    assert str(refusal) == f"{refusal.name} {refusal.words}"
    again = pickle.loads(pickle.dumps(refusal))
    assert (str(again), again.argument, again.place) == (str(refusal), argument, place)
