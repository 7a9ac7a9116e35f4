"""The picture of rooms and doors in ``docs/design.md`` shows every door of the package, and none besides."""

from pathlib import Path

import pytest

import rooms
from rooms import Door
from test_layers import ORDER

DESIGN = Path(__file__).parents[1] / "docs" / "design.md"


def picture():
    return rooms.PICTURE.read_text(encoding="utf-8")


def check(picture, doors):
    """Whether a picture shows these doors and no others; fails with their names."""
    shown = rooms.drawn(picture)[1]
    lacking = [f"{door.room} -> {door.other}" for door in sorted(doors.keys() - shown.keys())]
    added = [f"{door.room} -> {door.other}" for door in sorted(shown.keys() - doors.keys())]
    assert (lacking, added) == ([], []), f"make rooms draws it anew; it lacks {lacking} and shows besides {added}"
    assert shown == doors, "make rooms draws it anew; some doors are now used at another time"


def test_the_picture_shows_the_doors_that_there_are():
    check(picture(), rooms.doors())


def test_the_picture_shows_the_rooms_in_their_order():
    assert rooms.drawn(picture())[0] == ORDER


def test_the_picture_is_as_it_would_be_drawn_now():
    assert picture() == rooms.draw(ORDER, rooms.doors()), "make rooms draws it anew"


def test_the_picture_is_in_the_design():
    assert "](images/rooms.svg)" in DESIGN.read_text(encoding="utf-8")


def test_a_door_that_the_picture_lacks_is_named():
    new = rooms.doors() | {Door("wrappers", "streams"): True}
    with pytest.raises(AssertionError, match=r"lacks \['wrappers -> streams'\] and shows besides \[\]"):
        check(picture(), new)


def test_a_door_that_is_gone_is_named():
    there = dict(rooms.doors())
    del there[Door("reports", "analysis")]
    with pytest.raises(AssertionError, match=r"lacks \[\] and shows besides \['reports -> analysis'\]"):
        check(picture(), there)


def test_a_disc_that_is_moved_is_another_door():
    there = rooms.doors()
    moved = rooms.draw(ORDER, there).replace('<circle cx="69"', '<circle cx="25"', 1)
    assert rooms.drawn(moved)[1].keys() != there.keys()


@pytest.mark.parametrize(
    ("source", "early"),
    [
        ("from aomultirl.analysis import charts", True),
        ("from aomultirl import analysis", True),
        ("import aomultirl.analysis.charts", True),
        ("class A:\n    from aomultirl import analysis", True),
        ("try:\n    pass\nexcept ImportError:\n    from aomultirl import analysis", True),
        ("def f():\n    from aomultirl import analysis", False),
        ("class A:\n    def f(self):\n        if self:\n            from aomultirl import analysis", False),
        ("async def f():\n    import aomultirl.analysis", False),
        ("if typing.TYPE_CHECKING:\n    from aomultirl import analysis\nelse:\n    pass", False),
        ("def f():\n    from aomultirl import analysis\nfrom aomultirl import analysis", True),
    ],
)
def test_a_door_is_open_at_import_unless_it_is_in_a_function_or_for_types(source, early):
    assert rooms.doors_of([("reports", source)]) == {Door("reports", "analysis"): early}


def test_a_room_has_no_door_to_itself_and_none_to_what_is_no_room():
    assert rooms.doors_of([("reports", "from aomultirl import reports, __version__\nimport numpy")]) == {}
