"""Machine code on disk that was damaged: the right result, one sentence, and whole files afterwards."""

import importlib.util
import os
import shutil
import subprocess
import sys
import warnings

import pytest

from aomultirl.engine import kernel_files
from aomultirl.engine.compiling import is_compiled
from aomultirl.engine.kernel_files import DamagedCacheWarning

MODULE = """
from aomultirl.engine.compiling import kernel

@kernel
def double(x):
    return 2 * x

@kernel
def twice_doubled(x):
    return double(double(x))
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A folder with a module of two kernels whose machine code is on disk."""
    folder = tmp_path_factory.mktemp("compiled")
    path = folder / "kernels.py"
    path.write_text(MODULE)
    assert use(path) == (0, 2, [])
    return folder


@pytest.fixture
def source(compiled, tmp_path, monkeypatch):
    """A copy of the module, with its machine code."""
    monkeypatch.setattr(kernel_files, "FOLDERS", set())
    path = shutil.copytree(compiled, tmp_path / "copy") / "kernels.py"
    assert use(path) == (1, 0, [])  # the inner one is part of the machine code of the outer one
    return path


def load(path):
    """The module as a new process would have it: nothing compiled, nothing said yet."""
    kernel_files._told.clear()
    specification = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def use(path):
    """(kernels found on disk, kernels compiled, sentences), after a call that gave the right result."""
    module = load(path)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert module.twice_doubled(5) == 20
    stats = [module.double.stats, module.twice_doubled.stats]
    hits = sum(sum(one.cache_hits.values()) for one in stats)
    misses = sum(sum(one.cache_misses.values()) for one in stats)
    return hits, misses, [str(one.message) for one in said if one.category is DamagedCacheWarning]


def kept(path, ending):
    (found,) = path.parent.joinpath("__pycache__").glob(f"*.twice_doubled-*{ending}")
    return found


def cut(share):
    return lambda path: path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])


def flip(share):
    def damage(path):
        data = bytearray(path.read_bytes())
        data[int(share * (len(data) - 1))] ^= 4
        path.write_bytes(data)

    return damage


def instead(make):
    def damage(path):
        path.unlink()
        make(path)

    return damage


def folder_with_a_file(path):
    path.mkdir()
    (path / "mine.txt").write_text("kept")


DAMAGES = {
    "empty": cut(0.0),
    "cut after a byte": lambda path: path.write_bytes(path.read_bytes()[:1]),
    "cut in the digest": lambda path: path.write_bytes(path.read_bytes()[:40]),
    "cut in the middle": cut(0.5),
    "cut at the end": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"\0"),
    "first byte flipped": flip(0.0),
    "a byte flipped in the middle": flip(0.5),
    "a byte flipped near the end": flip(0.9),
    "last byte flipped": flip(1.0),
    "other content": lambda path: path.write_bytes(os.urandom(5000)),
    "a folder": instead(folder_with_a_file),
    "a pipe": instead(os.mkfifo) if hasattr(os, "mkfifo") else None,
    "a link to an endless device": instead(lambda path: path.symlink_to("/dev/zero")),
    "a link to itself": instead(lambda path: path.symlink_to(path)),
}


@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
@pytest.mark.parametrize("kind", [kind for kind, damage in DAMAGES.items() if damage])
def test_damaged_machine_code_is_compiled_anew_and_said_once(source, kind, ending):
    path = kept(source, ending)
    DAMAGES[kind](path)
    _, misses, said = use(source)
    assert misses == 1
    (sentence,) = said
    assert sentence.startswith(f"the compile cache is damaged: {path}: it")
    assert sentence.endswith("; what is damaged is removed and compiled anew")
    assert use(source) == (1, 0, [])
    if kind == "a folder":
        (aside,) = path.parent.glob("*.set_aside")
        assert (aside / "mine.txt").read_text() == "kept"


def test_where_all_is_damaged_it_is_said_once_and_removed_at_once(source):
    paths = [*source.parent.joinpath("__pycache__").glob("*.nb[ic]")]
    assert len(paths) == 4
    for path in paths:
        flip(0.7)(path)
    hits, misses, said = use(source)
    assert (hits, misses, len(said)) == (0, 2, 1)
    assert use(source) == (1, 0, [])


@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
def test_machine_code_that_may_not_be_read(source, ending, monkeypatch):
    path = kept(source, ending)
    written, opens = path.stat().st_mtime_ns, os.open

    def forbidden(name, *arguments):
        if str(name) == str(path) and path.exists() and path.stat().st_mtime_ns == written:
            raise PermissionError(13, "Permission denied")
        return opens(name, *arguments)

    monkeypatch.setattr(os, "open", forbidden)
    _, misses, said = use(source)
    assert misses == 1
    assert "it cannot be read (Permission denied)" in said[0]
    monkeypatch.undo()
    assert use(source) == (1, 0, [])


def test_asking_whether_a_kernel_is_compiled_survives_a_damaged_index(source):
    cut(0.5)(kept(source, ".nbi"))
    module = load(source)
    with pytest.warns(DamagedCacheWarning, match="compiled anew"):
        assert not is_compiled(module.twice_doubled)
    assert use(source) == (1, 1, [])
    assert is_compiled(load(source).twice_doubled)


def test_machine_code_that_cannot_be_rebuilt_is_compiled_anew(source, monkeypatch):
    """Right to the last bit, but not what Numba can use."""
    module = load(source)
    implementation = type(module.twice_doubled._cache._impl)
    rebuild = implementation.rebuild
    broken = iter([True])

    def fails_once(self, *arguments):
        if next(broken, False):
            raise AttributeError("no such thing")
        return rebuild(self, *arguments)

    monkeypatch.setattr(implementation, "rebuild", fails_once)
    _, misses, said = use(source)
    assert misses == 1
    assert "it cannot be loaded (AttributeError)" in said[0]
    assert use(source) == (1, 0, [])


def test_machine_code_of_other_sources_is_passed_over_in_silence(source, monkeypatch):
    """A process that was killed between index and data must not leave old machine code under a new name."""
    old = kept(source, ".nbc").read_bytes()
    monkeypatch.setattr("aomultirl.engine.compiling.source_stamp", lambda: "edited")
    assert use(source) == (0, 2, [])
    kept(source, ".nbc").write_bytes(old)
    assert use(source)[1:] == (1, [])
    assert use(source) == (1, 0, [])


def test_machine_code_of_another_kernel_is_not_taken_for_this_one(source):
    """Whole, made from the same sources, and in the wrong place."""
    (other,) = source.parent.joinpath("__pycache__").glob("*.double-*.nbc")
    kept(source, ".nbc").write_bytes(other.read_bytes())
    assert use(source)[1:] == (1, [])
    assert use(source) == (1, 0, [])


def test_interrupted_while_it_writes_it_leaves_nothing_behind(source, monkeypatch):
    for path in source.parent.joinpath("__pycache__").glob("*.nb[ic]"):
        path.unlink()
    before = sorted(source.parent.joinpath("__pycache__").iterdir())

    def interrupted(_place):
        raise KeyboardInterrupt

    monkeypatch.setattr("aomultirl.files.os.fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        use(source)
    monkeypatch.undo()
    assert sorted(source.parent.joinpath("__pycache__").iterdir()) == before
    assert use(source) == (0, 2, [])


def test_a_folder_that_takes_nothing_costs_time_only(source, monkeypatch):
    for path in source.parent.joinpath("__pycache__").glob("*.nb[ic]"):
        path.unlink()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("aomultirl.files.write_whole", full)
    assert use(source) == (0, 2, [])
    assert use(source) == (0, 2, [])


ALONE = """
import kernels
print(kernels.twice_doubled(5), sum(kernels.twice_doubled.stats.cache_hits.values()))
"""


@pytest.mark.long
def test_two_processes_at_once_on_a_damaged_cache(source):
    for path in source.parent.joinpath("__pycache__").glob("*.nb[ic]"):
        cut(0.5)(path)

    def start():
        command = [sys.executable, "-c", ALONE]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd=source.parent, stdout=pipe, stderr=pipe, text=True)

    both = [start(), start()]
    told = [process.communicate(timeout=60) for process in both]
    assert [out.split()[0] for out, _ in told] == ["20", "20"]
    assert all(err.count("the compile cache is damaged") <= 1 for _, err in told)
    assert any(err.count("the compile cache is damaged") for _, err in told)
    assert start().communicate(timeout=60) == ("20 1\n", "")
