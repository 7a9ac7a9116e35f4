"""A good specification, and what is said about bad ones."""

import tomllib

from aomultirl.experiments.specification import specification_of

BASE = """
episodes = 60
runs = 2

[[worlds]]
name = "gridworld"
edges = ["stay", "third"]

[[agents]]
name = "Recall"
failure = 0.03
horizon = 500
"""
WORLDS = '[[worlds]]\nname = "gridworld"\nedges = ["stay", "third"]\n'
AOMULTIRL = '[[agents]]\nname = "AOMultiRL"\nfailure = 0.03\n'


def message(text):
    """What is said about a specification."""
    try:
        specification_of(tomllib.loads(text))
    except ValueError as error:
        return str(error)
    return "it is good"


def check(old, new, words):
    text = BASE.replace(old, new, 1)
    assert text != BASE
    assert message(text) == words
