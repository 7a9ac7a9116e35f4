import dataclasses
import time
from functools import partial

import pytest
from PIL import Image

import aomultirl as ao
from aomultirl.analysis import recording as recordings
from aomultirl.reports import watch_gif
from watching import watched


def durations(path):
    found = []
    with Image.open(path) as image:
        for number in range(image.n_frames):
            image.seek(number)
            found.append(image.info["duration"])
    return found


@pytest.mark.parametrize("most", [30, pytest.param(watch_gif.MOST_FRAMES, marks=pytest.mark.long)])
def test_an_animation(tmp_path, monkeypatch, most):
    monkeypatch.setattr(watch_gif, "MOST_FRAMES", most)
    recording, path = watched(), tmp_path / "episode.gif"
    before = time.process_time()
    watch_gif.write(recording, path, "the note")
    assert time.process_time() - before < 15.0
    assert path.stat().st_size < 2_000_000
    assert list(tmp_path.iterdir()) == [path]
    with Image.open(path) as image:
        assert image.format == "GIF"
        assert image.size == (watch_gif.WIDTH, watch_gif.HEIGHT)
        assert image.info["loop"] == 0
        chosen = len(watch_gif.chosen_frames(recording))
        assert chosen - 5 <= image.n_frames <= chosen
    times = durations(path)
    assert times.count(1_000 * recordings.LONG_PAUSE) >= 1
    assert times.count(1_000 * recordings.PAUSE) == len(recording.events) - 2
    if most > 30:
        assert 10_000 < sum(times) < 60_000


def test_the_agent_is_painted_where_it_is():
    recording = watched()
    painter = watch_gif._Painter()
    left, top, size = watch_gif.MAP
    yellow = tuple(bytes.fromhex(watch_gif.AGENT[1:]))
    for number in (0, 7, 50, len(recording.frames) - 1):
        picture = painter.picture(recording, number, "")
        for state in range(16):
            row, column = divmod(state, 4)
            centre = (left + (2 * column + 1) * size // 8, top + (2 * row + 1) * size // 8)
            here = state == recording.frames[number].move.successor
            assert (picture.getpixel(centre) == yellow) == here


def test_words_never_run_off_the_picture():
    recording = watched()
    verdict = "like nothing before, a new cluster: wrong, m123 was here before (with too few samples), and more words"
    last = recording.frames[-1]._replace(recognised=verdict, event=f"{verdict}; {verdict}")
    long = dataclasses.replace(recording, agent="AnAgentWithQuiteALongName" * 3, frames=[*recording.frames[:-1], last])
    painter = watch_gif._Painter()
    picture = painter.picture(long, len(long.frames) - 1, "the note " * 40)
    for (x, _), words, looks in painter.words:
        right = x if looks["anchor"][0] == "r" else x + looks["font"].getlength(words)
        assert right <= watch_gif.WIDTH - 20, words
    assert any(words.endswith(verdict) for _, words, _ in painter.words)
    white = (255, 255, 255)
    assert {picture.getpixel((watch_gif.WIDTH - 5, y)) for y in range(watch_gif.HEIGHT)} == {white}


LONG = pytest.mark.long


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=LONG)], ids=["short", "whole"])
@pytest.mark.parametrize(
    ("name", "models"),
    [
        pytest.param("two-stage", partial(ao.worlds.gridworld, 3), marks=LONG),
        pytest.param("aomultirl", partial(ao.worlds.gridworld, 30), marks=LONG),
        pytest.param("aomultirl", partial(ao.worlds.random_models, 6, 2, 12, 2, 1.0, 0), marks=LONG),
        ("random", ao.worlds.jao),
        pytest.param("sequential", partial(ao.worlds.gridworld, 9), marks=LONG),
        ("recall", partial(ao.worlds.random_models, 6, 2, 12, 2, 1.0, 0)),
    ],
    ids=["all pairs", "large grid", "many clusters", "no map", "sequential", "recall"],
)
def test_every_world_has_one(tmp_path, monkeypatch, name, models, whole):
    if not whole:  # the palette and the frames are what takes time
        monkeypatch.setattr(watch_gif, "COLOURS", 16)
        monkeypatch.setattr(watch_gif, "MOST_FRAMES", 30)
    recording, path = watched(name, models(), episode=1), tmp_path / "episode.gif"
    watch_gif.write(recording, path)
    assert path.stat().st_size < 5_000_000
    with Image.open(path) as image:
        assert 2 < image.n_frames <= watch_gif.MOST_FRAMES


@pytest.mark.parametrize("frames", [8, pytest.param(30, marks=LONG)])
def test_the_same_recording_gives_the_same_bytes(tmp_path, monkeypatch, frames):
    paths = [tmp_path / "a.gif", tmp_path / "b.gif"]
    monkeypatch.setattr(watch_gif, "MOST_FRAMES", frames)
    for path in paths:
        watch_gif.write(watched("optimal", episode=0), path)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_frames_are_left_out_but_no_event(monkeypatch):
    recording = watched()
    assert watch_gif.chosen_frames(recording) == list(range(len(recording.frames)))
    monkeypatch.setattr(watch_gif, "MOST_FRAMES", 30)
    chosen = watch_gif.chosen_frames(recording)
    assert len(chosen) <= 30
    assert chosen == sorted(set(chosen))
    events = [i for i, frame in enumerate(recording.frames) if frame.event]
    assert {0, *events, len(recording.frames) - 1} <= set(chosen)
    monkeypatch.setattr(watch_gif, "MOST_FRAMES", 3)
    assert len(watch_gif.chosen_frames(recording)) <= 3


def test_a_failure_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "episode.gif"
    path.write_text("old")

    def fail(*_, **__):
        raise OSError("no space left")

    monkeypatch.setattr(Image.Image, "save", fail)
    with pytest.raises(OSError, match="no space left"):
        watch_gif.write(watched("random", episode=0), path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_beliefs_are_painted():
    recording = watched("recall", episode=24)
    painter = watch_gif._Painter()
    painter.picture(recording, len(recording.frames) - 1, "")
    words = [words for _, words, _ in painter.words]
    for gauge in recording.gauges(recording.frames[-1], watch_gif.ROWS)[1]:
        assert words[words.index(gauge.name) + 1] == gauge.words
    assert "new" in words
    assert any(line.startswith("✔ taken for w1 ≈ m1, not proven, over 99.9 % sure") for line in words)


def test_a_belief_that_nobody_can_judge_is_not_painted_as_a_mistake():
    recording = watched("recall")
    painter = watch_gif._Painter()
    painter.picture(recording, len(recording.frames) - 1, "")
    (looks,) = [looks for _, words, looks in painter.words if words == "? taken for w1, not proven, over 99.9 % sure"]
    assert looks["fill"] == watch_gif.INK


def test_evidence_below_zero_has_no_bar():
    recording = watched("sequential", episode=8)
    frame = next(frame for frame in recording.frames if frame.recognised)
    assert min(one.value for one in frame.evidence) < 0.0
    painter = watch_gif._Painter()
    painter.clear()
    _, against = recording.lists(frame, watch_gif.ROWS)
    painter._list(*against, 100)
    right = [words for _, words, _ in painter.words if words.endswith("this one") and words.startswith("-")]
    assert len(right) == 1
    painter.clear()
    painter.bar(100, 50, -3.0, "#ff0000", length=40)
    assert not (painter.pixels[:, :, :3] == (255, 0, 0)).all(axis=2).any()


def test_bad_names(tmp_path):
    with pytest.raises(ValueError, match=r"'a\.png' does not end in \.gif"):
        watch_gif.check(tmp_path / "a.png")
    with pytest.raises(ValueError, match=r"there is no folder '.*missing' to write 'a\.gif' in"):
        watch_gif.check(tmp_path / "missing" / "a.gif")
    (tmp_path / "b.gif").mkdir()
    with pytest.raises(ValueError, match=r"b\.gif' cannot be written"):
        watch_gif.check(tmp_path / "b.gif")


def test_the_true_world_is_marked_and_the_moment_of_recognition_stands_out():
    recording = watched("recall", episode=24)
    painter = watch_gif._Painter()
    (moment,) = [i for i in range(len(recording.frames)) if recording.decides(i)]
    band = (watch_gif.WIDTH - watch_gif.EDGE, watch_gif.VERDICT - 12)

    def painted(number):
        picture = painter.picture(recording, number, "")
        rows = [(words, y) for (_, y), words, _ in painter.words]
        return dict(reversed(rows)), "#{:02x}{:02x}{:02x}".format(*picture.getpixel(band))

    before, ground = painted(moment - 1)
    assert ground == "#ffffff"
    assert before[watch_gif.TRUTH] == before[recording.believed(0)]  # episode 24 is in the first world
    assert not any(words.startswith("since step") for words in before)
    at, ground = painted(moment)
    assert ground == watch_gif.DONE
    after, ground = painted(len(recording.frames) - 1)
    assert ground == watch_gif.GOOD
    step = f"since step {recording.frames[moment].step}"
    assert step in at
    assert step in after


def test_every_sign_and_colour_is_explained():
    painter = watch_gif._Painter()
    for name, signs in (("recall", {"agent", "reward", "darker: more visits", "almost certain, over 99 %"}),
                        ("aomultirl", {"agent", "reward", "to sample", "sampled", "enough"}),
                        ("sequential", {"compared"})):  # fmt: skip
        painter.picture(watched(name), 5, "")
        assert signs <= {words for _, words, _ in painter.words}


def test_a_faster_animation_is_shorter(tmp_path):
    recording, paths = watched("random", episode=0), [tmp_path / "a.gif", tmp_path / "b.gif"]
    for path, speed in zip(paths, (1.0, 2.0), strict=True):
        watch_gif.write(recording, path, speed=speed)
    assert sum(durations(paths[1])) == pytest.approx(sum(durations(paths[0])) / 2, rel=0.02)
    watch_gif.write(recording, paths[0], speed=1e6)
    assert set(durations(paths[0])) == {20}
    with pytest.raises(ValueError, match="speed"):
        watch_gif.write(recording, paths[0], speed=0.0)
