"""Folders of results that somebody altered, and what must hold for whoever opens one.

A small folder is copied, altered in one or two of many ways, and given to everything that opens folders.  Nothing but a
ValueError may escape, no answer may take longer than five seconds, nothing outside the folder may change, and once the
experiment was run again its histories are those of the folder as it was, byte by byte, unless the folder was refused.
All of it follows from a seed.
"""

import hashlib
import io
import json
import os
import random
import shutil
import signal
import stat
import tempfile
import time
import warnings
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path
from unittest import mock

import pyarrow
import pyarrow.parquet
from rich.console import Console

import aomultirl as ao
from aomultirl.agents import saving
from aomultirl.analysis.leaderboard import leaderboard
from aomultirl.experiments.completion import complete
from aomultirl.experiments.executors import InProcess
from aomultirl.experiments.status import status
from aomultirl.experiments.store import MARK, Store
from aomultirl.experiments.verification import verify
from aomultirl.reports.folder_report import collect
from aomultirl.reports.folder_state import show_status
from sweeps import experiment

SLOWEST = 5.0
"""Seconds that an answer may take."""
ODD = (
    None, True, False, 0, -1, 1, 10**30, -(10**30), 2**63, 1.5, float("nan"), float("inf"), 1e308, "", "x", "0", "\0",
    "../../x", "x" * 10_000, "x" * 100_000, "\x1b[2J", [], [[]], {}, {"name": "x"}, [1, "a", None], "\ud800",
    "module:Env-v0",
)  # fmt: skip
"""Values that nobody expects."""


class SlowError(BaseException):
    """An answer took too long."""


class Altered:
    """A copy of the folder that is being altered, with dice.

    folder
        the copy.
    outside
        a folder beside it that nobody may touch; links lead there.
    names
        of the cells.
    forged
        whether a history was altered in a way that only computing it again would show.
    """

    def __init__(self, folder, outside, names, dice):
        self.folder, self.outside, self.names, self.dice = folder, outside, names, dice
        self.forged = False

    def cell(self):
        return self.dice.choice(self.names)

    def own(self, *names):
        """A place in the folder that can be altered without waiting, and without altering anything elsewhere."""
        path = self.folder.joinpath(*names)
        if path.parent.is_symlink():
            raise ValueError("an earlier change leads out of the folder")
        if os.path.lexists(path):
            found = path.lstat()
            if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1 or found.st_size > 2**30:
                raise ValueError("an earlier change was made here")
        return path

    def manifest(self, name=None):
        return self.own("cells", f"{name or self.cell()}.json")

    def history(self, name=None):
        return self.own("cells", f"{name or self.cell()}.parquet")

    def some_file(self):
        return self.dice.choice([self.manifest(), self.history(), self.own(MARK), self.own("specification.toml")])

    def some_json(self):
        return self.dice.choice([self.manifest(), self.manifest(), self.own(MARK)])

    def sign(self, name):
        """Give the manifest of a cell the digest of the history that is there now."""
        told = json.loads(self.manifest(name).read_bytes())
        told["sha256"] = hashlib.sha256(self.history(name).read_bytes()).hexdigest()
        self.manifest(name).write_text(json.dumps(told))

    def replace(self, place):
        """Put something else in the place of a file or a folder."""
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)
        kind = self.dice.choice(["pipe", "file", "folder", "zero", "nowhere", "itself", "link", "random"])
        if kind == "pipe":
            os.mkfifo(place)
        elif kind == "file":
            place.write_bytes(b"of somebody else")
        elif kind == "folder":
            place.mkdir()
            (place / "thesis.tex").write_text("mine")
        else:
            targets = {"zero": "/dev/zero", "nowhere": "nowhere", "itself": place.name, "random": "/dev/urandom"}
            inside = self.outside / self.dice.choice(["canary.txt", "cells", "experiment.json"])
            place.symlink_to(targets.get(kind, inside))


def flip(given):
    path = given.some_file()
    content = bytearray(path.read_bytes())
    content[given.dice.randrange(len(content))] ^= 1 << given.dice.randrange(8)
    path.write_bytes(content)


def truncate(given):
    path = given.some_file()
    os.truncate(path, given.dice.randrange(path.stat().st_size))


def append(given):
    with given.some_file().open("ab") as file:
        file.write(given.dice.randbytes(given.dice.randrange(1, 99)))


def grow(given):
    """A file that claims to have a terabyte."""
    os.truncate(given.some_file(), 2**40)


def swap_histories(given):
    one, other = given.dice.sample(given.names, 2)
    _swap(given.history(one), given.history(other))


def swap_histories_and_sign(given):
    one, other = given.dice.sample(given.names, 2)
    _swap(given.history(one), given.history(other))
    given.sign(one)
    given.sign(other)


def swap_manifests(given):
    one, other = given.dice.sample(given.names, 2)
    _swap(given.manifest(one), given.manifest(other))


def swap_cells(given):
    one, other = given.dice.sample(given.names, 2)
    _swap(given.manifest(one), given.manifest(other))
    _swap(given.history(one), given.history(other))


def swap_cells_and_rename(given):
    one, other = given.dice.sample(given.names, 2)
    swap_cells(given)
    for name in (one, other):
        told = json.loads(given.manifest(name).read_bytes())
        given.manifest(name).write_text(json.dumps({**told, "cell": name}))


def copy_history_and_sign(given):
    one, other = given.dice.sample(given.names, 2)
    shutil.copy(given.history(one), given.history(other))
    given.sign(other)


def change_value(given):
    _alter_json(given, lambda holder, key: holder.__setitem__(key, given.dice.choice(ODD)))


def name_strangely(given):
    """A name of the experiment that no terminal should be given."""
    told = json.loads(given.own(MARK).read_bytes())
    name = given.dice.choice(["x" * 100_000, "x " * 50_000, "\x1b[2J", "a\nb", ""])
    given.own(MARK).write_text(json.dumps({**told, "name": name}))


def delete_key(given):
    _alter_json(given, lambda holder, key: holder.pop(key))


def add_key(given):
    def add(holder, key):
        if isinstance(holder, dict):
            holder[given.dice.choice(["new", "sha256", "error", "notes", "../x", ""])] = given.dice.choice(ODD)
        else:
            holder.append(given.dice.choice(ODD))

    _alter_json(given, add)


def nest(given):
    """Lists in lists in lists, in place of a value."""
    depth = given.dice.choice([100, 300, 900, 100_000])
    path = given.some_json()
    text = path.read_text()
    told = json.loads(text)
    holder, key = _some_place(told, given.dice)
    holder[key] = "@@"
    path.write_text(json.dumps(told).replace('"@@"', "[" * depth + "]" * depth))


def write_nonsense(given):
    some = ["", "{", "[]", "null", "NaN", '"x"', "1" * 9999, "{" * 9999, "\xff", '{"a": 1, "a": 2}', "\x00" * 99]
    given.some_json().write_text(given.dice.choice(some), "latin-1")


def lie_about_cells(given):
    path = given.own(MARK)
    told = json.loads(path.read_bytes())
    lies = [
        [],
        told["cells"] * 2,
        [*told["cells"], "0" * 20],
        [*told["cells"], "../../outside/cells/canary"],
        [*told["cells"], "/dev/zero"],
        told["cells"][1:],
        dict.fromkeys(told["cells"]),
        list(range(3)),
    ]
    path.write_text(json.dumps({**told, "cells": given.dice.choice(lies)}))


def change_columns(given):
    """Another type, name, order or number of the columns."""

    def change(table):
        names, which = table.column_names, given.dice.randrange(table.num_columns)
        name = names[which]
        kind = given.dice.randrange(6)
        if kind == 0:
            return table.drop_columns([name])
        if kind == 1:
            return table.rename_columns([*names[:which], f"{name}s", *names[which + 1 :]])
        if kind == 2:
            return table.select([*names[which:], *names[:which]] if which else [*names[1:], names[0]])
        if kind == 3:
            return table.append_column(given.dice.choice(["extra", name]), table[name])
        values = table[name].to_pylist()
        other = [str(value).encode() for value in values] if kind == 4 else [[value] for value in values]
        return table.set_column(which, name, pyarrow.array(other))

    _alter_table(given, change)


def change_rows(given):
    def change(table):
        return given.dice.choice(
            [
                table.slice(1),
                table.slice(0, 0),
                table.slice(0, len(table) - 1),
                table.take(list(reversed(range(len(table))))),
                pyarrow.concat_tables([table, table]),
                pyarrow.concat_tables([table.slice(0, 1), table.slice(0, len(table) - 1)]),
            ]
        )

    _alter_table(given, change)


def empty_a_place(given):
    """A null in one of the columns."""

    def change(table):
        which = given.dice.randrange(table.num_columns)
        column = table.column(which)
        values = [None, *column.to_pylist()[1:]]
        return table.set_column(which, table.column_names[which], pyarrow.array(values, column.type))

    _alter_table(given, change)


def change_a_constant(given):
    """What a file says of whose history it is, in every row or in the last."""

    def change(table):
        which = given.dice.randrange(6)
        column = table.column(which)
        other = 7 if pyarrow.types.is_integer(column.type) else given.dice.choice(["", "x", "gridworld ", "y" * 9999])
        first = [other] if given.dice.randrange(2) else column.to_pylist()[:1]
        values = [*first * (len(table) - 1), other]
        return table.set_column(which, table.column_names[which], pyarrow.array(values, column.type))

    _alter_table(given, change)


def change_a_number(given):
    """A number that no run gives."""

    def change(table):
        name = given.dice.choice(["episode", "task", "cluster", "start", "identification_steps", "learning_steps"])
        values = [given.dice.choice([-5, 2**62, -(2**63), 10**9 if name in ("task", "cluster", "episode") else -1])]
        values += table[name].to_pylist()[1:]
        return table.set_column(table.column_names.index(name), name, pyarrow.array(values, pyarrow.int64()))

    _alter_table(given, change)


def change_metadata(given):
    def change(table):
        about = json.loads(table.schema.metadata[b"aomultirl"])
        key = given.dice.choice(["agent", "seed", "episodes", "recorded"])
        about[key] = given.dice.choice([value for value in ODD if value != about[key]])
        texts = [json.dumps(about)] * 6 + ["", "{", "[]", "7", "[" * 100_000, '{"a":' * 100_000]
        return table.replace_schema_metadata({"aomultirl": given.dice.choice(texts)})

    _alter_table(given, change)


def change_what_was_found(given):
    """What a history says of what the agent found, which nobody can check."""

    def change(table):
        about = json.loads(table.schema.metadata[b"aomultirl"])
        holder, key = _some_place({"about": about}, given.dice)
        holder[key] = given.dice.choice(ODD)
        return table.replace_schema_metadata({"aomultirl": json.dumps(about)})

    given.forged = True
    _alter_table(given, change)


def drop_metadata(given):
    _alter_table(given, lambda table: table.replace_schema_metadata(None))


def flip_and_sign(given):
    """A byte of the Parquet file itself, with the digest worked out anew."""
    name = given.cell()
    content = bytearray(given.history(name).read_bytes())
    for _ in range(given.dice.choice([1, 1, 1, 5, 50])):
        content[given.dice.randrange(len(content))] = given.dice.randrange(256)
    given.history(name).write_bytes(content)
    given.sign(name)
    given.forged = True


def write_otherwise(given):
    """The same rows in another way to write Parquet."""
    given.forged = True
    plain = {"compression": "none", "use_dictionary": False}
    options = given.dice.choice([{"compression": "zstd"}, plain, {"row_group_size": 1}, {"version": "1.0"}])
    _alter_table(given, lambda table: table, **options)


def replace_file(given):
    given.replace(given.some_file())


def replace_folder(given):
    given.replace(given.folder / given.dice.choice(["cells", "checkpoints", "set_aside"]))


def replace_lock(given):
    given.replace(given.folder / ".lock")


def share_lock(given):
    """A lock that is a second name of a file elsewhere."""
    (given.folder / ".lock").unlink(missing_ok=True)
    os.link(given.outside / "canary.txt", given.folder / ".lock")


def share_file(given):
    """A file of ours that is a second name of a file elsewhere."""
    path = given.some_file()
    path.unlink()
    os.link(given.outside / "canary.txt", path)


def plant_partial(given):
    """A link under the name that a file has while it is written."""
    path = given.some_file()
    partial = path.with_name(f".{path.name}.{given.dice.choice([os.getpid(), 2**22 + 1])}.partial")
    given.replace(partial)
    if partial.is_dir() and not partial.is_symlink():
        shutil.rmtree(partial)
    given.dice.choice([path, given.folder / ".lock"]).unlink(missing_ok=True)


def plant_checkpoint(given):
    name = given.cell()
    place = given.own("checkpoints", f"{name}{given.dice.choice(['.zip', '.zip', '.zip.damaged1', '.txt'])}")
    if given.dice.randrange(2):
        given.manifest(name).unlink()
    if given.dice.randrange(2):
        given.replace(place)
    else:
        beside = given.dice.choice([{}, {"columns": {}, "about": {}}])
        content = bytearray(saving.to_bytes(ao.agents.Random(50), beside))
        content[given.dice.randrange(len(content))] ^= given.dice.choice([0, 1, 255])
        place.write_bytes(content)


def add_foreign(given):
    strange = ["a\nb", "x" * 250, "ü.json", ".x.1.partial", "\udcff.json"]
    names = ["thesis.tex", f"{'0' * 20}.json", f"{'0' * 20}.parquet", *strange]
    place = given.own(given.dice.choice([".", "cells", "checkpoints"]), given.dice.choice(names))
    if given.dice.randrange(2):
        given.replace(place)
    else:
        place.write_bytes(given.dice.randbytes(40))


def rename(given):
    path = given.some_file()
    path.rename(path.with_name(given.dice.choice(["x", f"{path.stem}.JSON", f"{'f' * 20}{path.suffix}"])))


def remove(given):
    given.some_file().unlink()


def describe_another(given):
    """A manifest whose specification, name and seed are changed together, and experiment.json as well."""
    from aomultirl.experiments.cells import Cell

    name = given.cell()
    told = json.loads(given.manifest(name).read_bytes())
    changes = [("label", "other"), ("seed", 10**30), ("number", 2**62), ("episodes", 5), ("episodes", 10**15)]
    for key, value in given.dice.sample(changes, 2):
        told["specification"][key] = value
    cell = Cell(**told["specification"])
    given.manifest(cell.name).write_text(json.dumps({**told, "cell": cell.name, "run_seed": cell.run_seed}))
    shutil.copy(given.history(name), given.history(cell.name))
    mark = json.loads(given.own(MARK).read_bytes())
    given.own(MARK).write_text(json.dumps({**mark, "cells": [*mark["cells"], cell.name]}))


KINDS = [
    flip, truncate, append, grow, swap_histories, swap_histories_and_sign, swap_manifests, swap_cells,
    swap_cells_and_rename, copy_history_and_sign, change_value, change_value, name_strangely, delete_key, add_key, nest,
    write_nonsense, lie_about_cells, change_columns, change_rows, empty_a_place, change_a_constant, change_a_number,
    change_metadata, change_what_was_found, drop_metadata, flip_and_sign, write_otherwise, replace_file,
    replace_folder, replace_lock, share_lock, share_file, plant_partial, plant_checkpoint, add_foreign, rename,
    remove, describe_another,
]  # fmt: skip


def _swap(one, other):
    mine, theirs = one.read_bytes(), other.read_bytes()
    one.write_bytes(theirs)
    other.write_bytes(mine)


def _some_place(told, dice):
    """A container somewhere in a JSON document, and one of its keys."""
    places = []

    def walk(value):
        keys = value if isinstance(value, dict) else range(len(value))
        for key in keys:
            places.append((value, key))
            if isinstance(value[key], dict | list):
                walk(value[key])

    walk(told)
    return dice.choice(places)


def _alter_json(given, change):
    path = given.some_json()
    told = json.loads(path.read_bytes())
    change(*_some_place(told, given.dice))
    path.write_text(json.dumps(told))


def _alter_table(given, change, **options):
    """Alter the rows of a history, and give its manifest the new digest."""
    name = given.cell()
    table = change(pyarrow.parquet.read_table(io.BytesIO(given.history(name).read_bytes())))
    pyarrow.parquet.write_table(table, given.history(name), **options)
    given.sign(name)


def _shown(folder):
    """The status as the command prints it."""
    words = io.StringIO()
    show_status(status(folder), Console(file=words))
    assert "\x1b" not in words.getvalue()


def snapshot(folder):
    """What lies in a folder: the content of files, where links lead, and the kind of everything else."""
    found = {}
    for place, folders, names in os.walk(folder):
        for name in [*folders, *names]:
            path = Path(place) / name
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                found[str(path)] = os.readlink(path)
            elif stat.S_ISREG(mode) and path.stat().st_size < 2**30:
                found[str(path)] = path.read_bytes()
            else:
                found[str(path)] = stat.S_IFMT(mode)
    return found


@contextmanager
def in_time(what):
    """Nothing but a ValueError of few words escapes, and that soon."""

    def late(*_):
        raise SlowError(what)

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, SLOWEST)
    try:
        yield
    except ValueError as error:
        if not 0 < len(str(error)) < 1000:
            raise AssertionError(f"{what} says nothing, or too much") from error
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Laboratory:
    """A folder of three small cells that are done, and a place to alter copies of it."""

    def __init__(self, place):
        self.place = Path(place)
        self.identity, self.cells = experiment(runs=3, episodes=4)
        self.beside = {"specification.toml": b"# how it was run\n"}
        whole = self.place / "whole"
        assert not complete(self.store(whole), InProcess()).failed
        self.whole = {str(path.relative_to(whole)): path.read_bytes() for path in whole.rglob("*") if path.is_file()}
        self.histories = {name: content for name, content in self.whole.items() if name.endswith(".parquet")}
        self.outside = self.place / "outside"
        (self.outside / "cells").mkdir(parents=True)
        for name in ("canary.txt", "experiment.json", "cells/canary.json", "cells/canary.parquet"):
            (self.outside / name).write_bytes(b"sings")
        self.safe = snapshot(self.outside)

    def store(self, folder):
        return Store(folder, self.identity, self.cells, self.beside)

    def check(self, kinds, dice):
        """Alter a copy in these ways, and open it in every way; whether it was refused, mended, or found to be well."""
        folder = self.place / "altered"
        for name, content in self.whole.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        (folder / "checkpoints").mkdir(exist_ok=True)
        given = Altered(folder, self.outside, [cell.name for cell in self.cells], dice)
        for kind in kinds:
            with suppress(Exception):  # the second cannot always be done to what the first left
                kind(given)
        before, told = snapshot(folder), []
        compare = dice.choice([leaderboard, collect])  # a page has the leaderboard of a folder in it
        for read in (_shown, ao.load, compare, lambda place: told.append(verify(place))):
            with in_time(getattr(read, "__name__", "verify")):
                read(folder)
        assert snapshot(folder) == before
        verdict = self._run(folder, before, given.forged)
        if verdict == "mended":
            assert told, "verify refused what run did not"
            assert told[0].findings or told[0].missing or told[0].remarks, "verify saw nothing"
        assert snapshot(self.outside) == self.safe
        shutil.rmtree(folder)
        return verdict

    def _run(self, folder, before, forged):
        """Run the experiment again."""
        store = None
        with in_time("Store"):
            store = self.store(folder)
        if store is None:
            assert snapshot(folder) == before
            return "refused"
        outcome = None
        with in_time("complete"):
            outcome = complete(store, InProcess())
        if outcome is None:
            after = snapshot(folder)
            after.pop(str(folder / ".lock"), None)
            before.pop(str(folder / ".lock"), None)
            assert after == before
            return "refused"
        assert not outcome.failed
        if not forged:
            found = {f"cells/{path.name}": path.read_bytes() for path in (folder / "cells").glob("*.parquet")}
            assert found == self.histories
        assert status(folder).done == len(self.cells)
        return "mended" if outcome.found < len(self.cells) else "well"


def check_mutations(count, seed):
    """Alter ``count`` folders; how many of each kind there were, and what became of them."""
    counts = Counter()
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=memory) as place, mock.patch("os.fsync"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        laboratory = Laboratory(place)
        for number in range(count):
            dice = random.Random(f"{seed} {number}")
            kinds = [KINDS[number % len(KINDS)], *dice.sample(KINDS, dice.choice([0, 0, 1]))]
            names = " and ".join(kind.__name__ for kind in kinds)
            begin = time.perf_counter()
            try:
                verdict = laboratory.check(kinds, dice)
            except BaseException as error:
                error.add_note(f"folder {number} of seed {seed}: {names}, after {time.perf_counter() - begin:.1f} s")
                raise
            counts.update([kinds[0].__name__, verdict])
    return counts
