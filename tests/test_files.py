import os

import pytest

from aomultirl import files


def test_a_file_is_replaced_at_once(tmp_path):
    path = tmp_path / "note.txt"
    files.write_whole(path, "old")
    files.write_whole(path, "grün")
    assert path.read_bytes() == "grün".encode()
    assert [p.name for p in tmp_path.iterdir()] == ["note.txt"]


def test_what_fails_on_the_way_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "note.txt"
    files.write_whole(path, b"old")

    def fail():
        with files.whole(path) as partial:
            partial.write_text("half")
            raise RuntimeError("midway")

    with pytest.raises(RuntimeError, match="midway"):
        fail()
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["note.txt"]


@pytest.mark.skipif(os.name != "posix", reason="links")
def test_a_link_under_the_temporary_name_is_not_written_through(tmp_path):
    """The attack: whoever knows the number of the process plants a link where the file will be written."""
    mine, path = tmp_path / "mine.txt", tmp_path / "note.txt"
    mine.write_text("mine")
    for target in (mine, tmp_path / "new.txt"):
        (tmp_path / f".note.txt.{os.getpid()}.partial").symlink_to(target)
        files.write_whole(path, "note")
        assert path.read_text() == "note"
    assert mine.read_text() == "mine"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mine.txt", "note.txt"]


@pytest.mark.skipif(os.name != "posix", reason="links")
def test_a_file_is_replaced_never_changed_where_it_has_a_second_name(tmp_path):
    mine, link, hard = (tmp_path / name for name in ("mine.txt", "link.txt", "hard.txt"))
    mine.write_text("mine")
    link.symlink_to(mine)
    os.link(mine, hard)
    files.write_whole(link, "note")
    files.write_whole(hard, "note")
    assert mine.read_text() == "mine"
    assert (link.read_text(), hard.read_text()) == ("note", "note")


@pytest.mark.skipif(os.name != "posix", reason="links")
def test_folders_and_pipes_with_temporary_names_stay_and_links_go(tmp_path):
    places = [tmp_path / f".{name}.{2**22 + 1}.partial" for name in ("link", "folder", "pipe")]
    (tmp_path / "precious").write_text("mine")
    places[0].symlink_to(tmp_path / "precious")
    places[1].mkdir()
    os.mkfifo(places[2])
    files.clear_partials(tmp_path)
    assert [os.path.lexists(place) for place in places] == [False, True, True]
    assert (tmp_path / "precious").read_text() == "mine"


@pytest.mark.skipif(os.name != "posix", reason="pipes")
def test_only_regular_files_are_read(tmp_path):
    (tmp_path / "file").write_text("some words")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "zero").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe")
    assert files.read_regular(tmp_path / "file", 10) == b"some words"
    assert files.read_regular(tmp_path / "link", 10, follow=True) == b"some words"
    assert files.read_beginning(tmp_path / "file", 4) == b"some"
    for name, follow, words in (
        ("file", False, "has 10 bytes, and such a file has at most 9"),
        ("link", False, "is a link, not a file"),
        ("zero", True, "is a pipe, a socket or a device, not a file"),
        ("pipe", False, "is a pipe, a socket or a device, not a file"),
        (".", False, "is a folder, not a file"),
    ):
        with pytest.raises(files.UnfitFileError, match=words):
            files.read_regular(tmp_path / name, 9, follow=follow)


@pytest.mark.skipif(os.name != "posix", reason="locks")
def test_who_is_at_work_cannot_steer_a_terminal(tmp_path):
    with files.locked(tmp_path, "out"):
        (tmp_path / files.LOCK).write_text("process \x1b[2J" + "x" * 5000)
        told = files.at_work(tmp_path)
    assert told.startswith("process ?[2J")
    assert len(told) < files.MOST_LOCK


def test_a_folder_that_is_missing_is_named_and_no_temporary_file(tmp_path):
    with pytest.raises(FileNotFoundError) as refusal:
        files.write_whole(tmp_path / "missing" / "agent.zip", "mine")
    assert str(refusal.value) == f"there is no folder {str(tmp_path / 'missing')!r} to write 'agent.zip' in"
