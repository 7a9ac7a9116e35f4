"""Every image that README and docs show is made by a command that can be typed, and is one that somebody looks at."""

import re

import pytest
from PIL import Image

import screens
from aomultirl import worlds
from aomultirl.analysis import recorder, watched_agents
from screens import IMAGES, LONG, ROOT, SCREENS
from stated import marks
from stated.reading import pages

SHOWN = re.compile(r"(?:docs/|\.\./|\b)images/([\w.-]+)")


def test_every_image_that_is_shown_has_a_command_and_is_there():
    named = {name: page for page in pages() for name in SHOWN.findall((ROOT / page).read_text(encoding="utf-8"))}
    lacking = {name: page for name, page in named.items() if name not in {**SCREENS, **LONG}}
    assert not lacking, "tests/screens.py has no command for these"
    assert {name for name in named if not (IMAGES / name).is_file()} == set()
    assert {path.name for path in IMAGES.iterdir()} == set(named), "an image that no page shows, or none that is shown"
    assert set(SCREENS) | set(LONG) == set(named)
    assert not set(SCREENS) & set(LONG)


COMMANDS = sorted({screen.command for screen in SCREENS.values()} | set(LONG.values()))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_can_be_typed(command):
    assert marks.runs(command)
    if command.startswith("aomultirl"):
        assert not marks.runs(f"{command} --no-such-option")


def test_pages_that_show_an_image_of_minutes_say_its_command():
    """Whoever sees the animation or a figure of runs can make it: the command stands beside it, without the folder."""
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").replace("\\\n", " ").split())
    for name in ("recognising.gif", "others.png"):
        assert f"docs/images/{name}" in text
        words = re.sub(r" --(gif|out) \S+", "", SCREENS[name].command)
        assert words in text


def test_the_animation_is_small_and_takes_some_ten_seconds():
    path = IMAGES / "recognising.gif"
    assert path.stat().st_size < 400_000
    with Image.open(path) as image:
        times = []
        for number in range(image.n_frames):
            image.seek(number)
            times.append(image.info["duration"])
    assert 8_000 <= sum(times) <= 13_000


def test_the_animation_shows_what_the_readme_says():
    """One of four worlds by four remembered ones; almost certain at step 41, rightly, and to the end."""
    models = worlds.gridworld(edges="stay")
    recording = recorder.record(watched_agents.make("recall", models), models, episode=42, seed=1)
    assert len(set(recording.mostly.values())) == len(models) == 4
    known = [frame.step for number, frame in enumerate(recording.frames) if recording.decides(number)]
    assert known == [41]
    assert all(frame.right for frame in recording.frames if frame.step >= 41)
    assert not any(frame.recognised for frame in recording.frames if frame.step < 41)


def test_an_image_is_made_and_put_where_the_pages_show_it(tmp_path, monkeypatch):
    monkeypatch.setattr(screens, "IMAGES", tmp_path)
    made = screens.make("grids.png")
    assert made == tmp_path / "grids.png"
    with Image.open(made) as new, Image.open(IMAGES / "grids.png") as old:
        assert new.size == old.size


def test_the_gallery_has_every_image_with_its_command_and_a_page():
    """A card for each: the command without our folder of screens, and a link to a page with it or with the command."""
    gallery = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    cards = gallery.split(":::{grid-item-card} ")[1:]
    shown = [SHOWN.search(card)[1] for card in cards]
    assert sorted(shown) == sorted({**SCREENS, **LONG})
    for name, card in zip(shown, cards, strict=True):
        command = SCREENS[name].command if name in SCREENS else LONG[name]
        (typed,) = re.findall(r"^\$ (.*)$", card, re.MULTILINE)
        folders = r"(?<=--out )\S+|(?<=--gif )\S+|(?<=--figure )\S+"
        assert re.sub(folders, "", typed) == re.sub(folders, "", command)
        assert "build/" not in typed
        (page,) = re.findall(r"(?<!!)\[[^\]]+\]\((\w+\.md)", card)
        explained = (ROOT / "docs" / page).read_text(encoding="utf-8")
        assert name in SHOWN.findall(explained) or " ".join(command.split()[:2]) in explained
