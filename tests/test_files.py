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
