"""A public name stands for one thing, wherever it is imported from."""

import inspect
from collections import defaultdict

import pytest

import aomultirl as ao
from aomultirl import extending

ROOMS = (ao, extending, ao.agents, ao.learning, ao.exploring, ao.streams, ao.worlds, ao.theory)
TWO_THINGS = {"UCRL2"}
"""The agent and the learner that it is alone; the docstring of each names the other."""


def public_names(room):
    """What a room exports: its ``__all__``, or all that it defines without an underscore."""
    if hasattr(room, "__all__"):
        return list(room.__all__)
    return [name for name, thing in vars(room).items() if name[0] != "_" and inspect.getmodule(thing) is room]


def shared_names(rooms):
    """Names that stand for different classes or functions, with where each is defined."""
    meanings = defaultdict(dict)
    for room in rooms:
        for name in public_names(room):
            thing = getattr(room, name)
            if callable(thing):
                meanings[name][id(thing)] = getattr(thing, "__module__", room.__name__)
    return {name: sorted(places.values()) for name, places in meanings.items() if len(places) > 1}


def test_no_name_stands_for_two_things():
    assert set(shared_names(ROOMS)) == TWO_THINGS


def test_what_is_exported_is_called_as_it_is_defined():
    """So that a traceback, a page of the reference and an import say the same."""
    for room in ROOMS:
        for name in public_names(room):
            thing = getattr(room, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                assert thing.__name__ == name


def test_the_two_that_share_a_name_say_so():
    assert ":class:`aomultirl.learning.UCRL2`, of the same name" in " ".join(ao.agents.UCRL2.__doc__.split())
    assert ":class:`aomultirl.agents.UCRL2`, of the same name" in " ".join(ao.learning.UCRL2.__doc__.split())


def test_the_old_name_of_a_behaviour_still_works():
    with pytest.warns(DeprecationWarning, match="act_uniformly"):
        assert extending.uniform is extending.act_uniformly
    with pytest.raises(AttributeError, match="has no attribute 'unifrom'"):
        extending.unifrom  # noqa: B018


def test_the_check_can_fail():
    class Room:
        __name__, __all__, uniform = "room", ["uniform"], staticmethod(lambda: None)

    assert set(shared_names((ao.streams, Room))) == {"uniform"}
