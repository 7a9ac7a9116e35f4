"""What happened in a run, one row an episode; written to and read from Parquet without loss."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl import files
from aomultirl.agents.recall_memory import RESOLVED
from aomultirl.extras import needs

if TYPE_CHECKING:
    import polars
    import pyarrow


class Row(NamedTuple):
    """One episode.

    task: the world's number, -1 where nobody knows it.  cluster: -1 for none.  misclustered: the cluster stands for
    another world, or is a second one for the same.  identification_steps, learning_steps, clustering_reward,
    learning_reward: of the two parts of the episode.  value: exact, of the learning phase's policy from the state it
    was entered in; of an agent that learns within the phase, what it earned.  regret: ``V*(s_1) - clustering reward -
    value``, an unbiased sample of the paper's equation 1, exact from the learning phase on where a plan is followed.
    learning_regret: the part of it that the learning phase lost, its optimum from where it was entered less value.
    evaluation_reward, evaluation_value: the paper's metric, sampled and exact, the policy learned so far without a
    bonus from the start.  estimate_error: the mean over all pairs of the l1 distance between the true transitions and
    those learned so far of this world; a pair never visited counts 1.  Numbers that need the world are nan where
    nobody knows it.  certified: an old cluster, proven at every pair it takes.  abstained: in no cluster, for want of
    proof; what the agent believed, and acted on, is in the next two.
    taken_for: the name of the world that the agent believes the episode was, proven or not, -1 where it has no beliefs.
    sure: how probable it found that when the episode was over; nan where it has no beliefs.
    """

    episode: int
    task: int
    start: int
    cluster: int
    new_cluster: bool
    misclustered: bool
    exploration_ok: bool
    identification_steps: int
    learning_steps: int
    clustering_reward: float
    learning_reward: float
    value: float
    regret: float
    learning_regret: float
    evaluation_reward: float
    evaluation_value: float
    estimate_error: float
    certified: bool
    abstained: bool
    taken_for: int = -1
    sure: float = math.nan


TYPES = {int: np.int64, bool: np.bool_, float: np.float64}
MOST_BYTES = 2**32
"""Of a file that holds a history: some ten million episodes."""
NO_HISTORY = "is a Parquet file, but not a history of aomultirl"


@dataclass(frozen=True)
class History:
    """A run: columns (see :class:`Row`), and what made it."""

    columns: Mapping[str, NDArray[Any]]
    about: Mapping[str, Any]

    @classmethod
    def of(cls, rows: Iterable[Row], about: Mapping[str, Any]) -> "History":
        """From one row an episode."""
        rows = list(rows)
        columns: dict[str, NDArray[Any]] = {}
        for i, (name, kind) in enumerate(Row.__annotations__.items()):
            columns[name] = np.array([row[i] for row in rows], TYPES[kind])
        return cls(columns, dict(about))

    def __len__(self) -> int:
        return len(self.columns["episode"])

    def __getitem__(self, name: str) -> NDArray[Any]:
        """A column."""
        if name not in self.columns:
            raise ValueError(f"there is no column {name!r}; there are {', '.join(self.columns)}")
        return self.columns[name]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, History)
            and dict(self.about) == dict(other.about)
            and list(self.columns) == list(other.columns)
            and all(
                a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
                for a, b in zip(self.columns.values(), other.columns.values(), strict=True)
            )
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "\n".join(_summary(self))

    @property
    def reward(self) -> NDArray[np.float64]:
        """What was earned in every episode, (K,), in the environment's own units."""
        return np.asarray(self["clustering_reward"] + self["learning_reward"])

    @property
    def misclustered(self) -> int:
        """How many episodes were misclustered; a ValueError of one sentence where nobody knows the worlds."""
        if len(self) and (self["task"] < 0).all():
            raise ValueError("misclustered episodes cannot be counted: nobody knows which world each episode was")
        return int(self["misclustered"].sum())

    @property
    def believed_only(self) -> NDArray[np.bool_]:
        """Which episodes were not proven, but taken for a world of which the agent was then 99 % sure, (K,)."""
        return np.asarray(self["abstained"] & (self["taken_for"] >= 0) & (self["sure"] >= RESOLVED))

    @property
    def in_doubt(self) -> NDArray[np.bool_]:
        """Which episodes of an agent that looks for clusters were neither proven nor :attr:`believed_only`, (K,)."""
        return np.asarray(self["abstained"] & ~self.believed_only)

    def regret(self) -> NDArray[np.float64]:
        """Cumulative regret, (K,), an unbiased sample of the paper's equation 1, exact from the learning phase on.

        A ValueError of one sentence where it cannot be known.
        """
        if len(self) and np.isnan(self["regret"]).all():
            reason = "it was not recorded" if self._knows_the_worlds() else "nobody knows the worlds of this run"
            raise ValueError(f"the regret cannot be said: {reason}; history.reward is what was earned")
        return np.cumsum(self["regret"])

    def _knows_the_worlds(self) -> bool:
        """Whether the run was in worlds that we hold."""
        return "world" in self.about

    def aper(self) -> NDArray[np.float64]:
        """The paper's average per-episode reward: running mean of the evaluation rewards, (K,).

        Episodes without a policy to evaluate do not count; nan before the first that has one.
        """
        rewards = self["evaluation_reward"]
        count = np.cumsum(~np.isnan(rewards))
        return np.asarray(np.where(count > 0, np.nancumsum(rewards) / np.maximum(count, 1), np.nan))

    def to_frame(self) -> "polars.DataFrame":
        """As a polars frame, one row an episode."""
        with needs("histories"):
            import polars
        return polars.DataFrame(dict(self.columns))

    def write(self, path: str | Path) -> None:
        """Write a Parquet file, under a temporary name that is renamed when it is whole."""
        files.write_whole(path, self.to_parquet())

    def to_parquet(self, constants: Mapping[str, Any] | None = None) -> bytes:
        """The bytes of that file; ``constants`` are columns of one value each, before those of the history."""
        with needs("histories"):
            import pyarrow
            import pyarrow.parquet
        columns = {name: pyarrow.repeat(value, len(self)) for name, value in (constants or {}).items()}
        table = pyarrow.table({**columns, **self.columns})
        file = pyarrow.BufferOutputStream()
        pyarrow.parquet.write_table(table.replace_schema_metadata({"aomultirl": json.dumps(dict(self.about))}), file)
        return bytes(file.getvalue())

    @classmethod
    def read(cls, path: str | Path) -> "History":
        """Read what :meth:`write` or :meth:`to_parquet` wrote; a ValueError of one sentence for any other file."""
        with needs("histories"):
            import pyarrow.parquet  # noqa: F401
        rows = read_rows(files.read_regular(path, MOST_BYTES, follow=True), path)
        columns = cls.of_table(rows, {}).columns
        met = int(columns["episode"].max(initial=-1)) + 1  # an agent that went on may know clusters of before
        if impossible := out_of_range(columns, met):
            raise files.UnfitFileError(path, impossible)
        return cls(columns, read_about(rows.schema.metadata, path))

    @classmethod
    def of_table(cls, rows: "pyarrow.Table", about: Mapping[str, Any]) -> "History":
        """From what :func:`read_rows` gives."""
        return cls({name: rows[name].to_numpy(zero_copy_only=False) for name in Row._fields}, about)


def _summary(history: History) -> Iterator[str]:
    """Five lines that say what happened."""
    count = len(history)
    agent = history.about.get("agent", {})
    name = agent.get("name", "an agent") if isinstance(agent, Mapping) else str(agent)
    planned = history.about.get("episodes", count)
    yield f"{name}: {count:,} episodes" + (f" of {planned:,}" if planned != count else "")
    if not count:
        return
    reward, last = history.reward, max(1, count // 4)
    yield f"reward: {reward.sum():,.6g} in all, {reward.mean():,.4g} an episode, {reward[-last:].mean():,.4g} lately"
    steps = history["identification_steps"] + history["learning_steps"]
    identifying = history["identification_steps"].mean()
    spent = f", {identifying:,.4g} of them to recognise the world" if identifying else ""
    yield f"steps: {steps.mean():,.4g} an episode, {steps.min():,} to {steps.max():,}{spent}"
    yield f"worlds told apart: {_recognised(history, last)}"
    if np.isnan(history["regret"]).all():
        yield "regret: not known" + ("" if history._knows_the_worlds() else ", as nobody knows the worlds")
    else:
        regret = history["regret"]
        lately = regret[-last:].mean()
        yield f"regret: {regret.sum():,.6g} in all, {regret.mean():,.4g} an episode, {lately:,.4g} lately"


def _recognised(history: History, last: int) -> str:
    """Which worlds were told apart, by proof and by belief; ``last``: episodes that are lately."""
    clusters, unproven = len(set(history["cluster"].tolist()) - {-1}), int(history["abstained"].sum())
    if not clusters and not unproven:
        return "this agent does not"
    wrong = f", {history.misclustered:,} episodes in a wrong one" if (history["task"] >= 0).any() else ""
    worlds = f"{clusters} cluster{'' if clusters == 1 else 's'}{wrong}"
    if not unproven:
        return worlds
    if np.isnan(history["sure"]).all():
        return f"{worlds}; {unproven:,} episodes not proven"
    believed, doubt = history.believed_only, history.in_doubt
    names = len(set(history["taken_for"][believed].tolist()))
    which = "one world" if names == 1 else f"one of {names} worlds"
    taken = f"; {believed.sum():,} taken for {which}, not proven" if names else ""
    return f"{worlds}{taken}; {doubt.sum():,} in doubt, {doubt[-last:].sum():,} of them lately"


MOST_WORLDS = 1_000_000
"""Worlds that a task can be, at most: charts have a place for each."""
MOST_STATES = 2**31
"""States that an episode can begin in, at most."""
MOST_STEPS = 2**53
"""Steps that an episode can have, at most: sums of more are not exact."""
RANGES = {
    "task": (-1, MOST_WORLDS),
    "start": (0, MOST_STATES),
    "identification_steps": (0, MOST_STEPS),
    "learning_steps": (0, MOST_STEPS),
}
"""What the numbers in a column lie between, the last of them not included; clusters are fewer than rows."""


def out_of_range(columns: Mapping[str, NDArray[Any]], episodes: int | NDArray[np.int64]) -> str:
    """What columns hold that no run of so many episodes gives, as the rest of a sentence; empty if there is nothing."""
    for name, (least, end) in {**RANGES, "cluster": (-1, episodes)}.items():
        values = columns[name]
        if len(values) and (values.min() < least or (values >= end).any()):
            return f"has numbers from {values.min()} to {values.max()} in {name}, which cannot be"
    return ""


def read_rows(content: bytes, path: str | Path, constants: Mapping[str, type] | None = None) -> "pyarrow.Table":
    """The columns of a history in the bytes of a Parquet file; :class:`~aomultirl.files.UnfitFileError` for any other.

    Every column is there, is of the type that :meth:`History.to_parquet` writes, and has no empty place.

    Parameters
    ----------
    path
        where the bytes are from.
    constants
        the columns that must stand before those of the history, by type; texts come as dictionaries, so that a long one
        is not repeated in every row.  None for any, which are not read.
    """
    with needs("histories"):
        import pyarrow
        import pyarrow.parquet

    wanted = _schema(tuple((constants or {}).items()))
    older = pyarrow.schema([field for field in wanted if field.name not in Row._field_defaults])
    try:
        texts = [name for name, kind in (constants or {}).items() if kind is str]
        file = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(content), read_dictionary=texts, pre_buffer=False)
        given, count = file.schema_arrow, file.metadata.num_rows
        held = wanted if given.get_field_index("taken_for") >= 0 else older
        if constants is None:
            given = pyarrow.schema(list(given)[-len(held) :])
        if not given.equals(held):
            raise files.UnfitFileError(path, f"{NO_HISTORY}: {_difference(given, wanted)}")
        if not 0 <= count <= len(content):  # every row takes some bytes, and a few may claim to be very many
            raise files.UnfitFileError(path, f"claims to hold {count:,} rows in {len(content):,} bytes")
        table = file.read(columns=held.names if constants is None else None, use_threads=False)
    except files.UnfitFileError:
        raise
    except Exception as error:  # the reader of Parquet has many ways to fail
        words = " ".join(str(error).split())
        raise files.UnfitFileError(path, f"is not a Parquet file: {words:.160}") from None
    if held is older:  # from before agents said what they believe
        for name, value in Row._field_defaults.items():
            table = table.append_column(
                wanted.field(name), [pyarrow.repeat(value, count).cast(wanted.field(name).type)]
            )
    if table.column_names != wanted.names or any(column.null_count for column in table.columns):
        raise files.UnfitFileError(path, f"{NO_HISTORY}: a number is missing in it, or a column there twice")
    return table


@lru_cache(maxsize=8)
def _schema(constants: tuple[tuple[str, type], ...]) -> "pyarrow.Schema":
    """The columns of a file with these constants."""
    import pyarrow

    kinds: dict[type, Any] = {int: pyarrow.int64(), bool: pyarrow.bool_(), float: pyarrow.float64()}
    kinds[str] = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    return pyarrow.schema([(name, kinds[kind]) for name, kind in (*constants, *Row.__annotations__.items())])


def _difference(given: "pyarrow.Schema", wanted: "pyarrow.Schema") -> str:
    for field in wanted:
        there = [other for other in given if other.name == field.name]
        if not there:
            return f"it has no {field.name}"
        if there != [field]:
            return f"its {field.name} is of {there[0].type}, not of {field.type}"
    return "it has other columns, or in another order"


def read_about(metadata: Mapping[Any, Any] | None, path: str | Path, key: str | bytes = b"aomultirl") -> dict[str, Any]:
    """What the file of a history, which has this metadata, says of how the rows were made."""
    try:
        about = json.loads((metadata or {})[key])
    except (KeyError, TypeError):
        raise files.UnfitFileError(path, f"{NO_HISTORY}: it does not say how it was made") from None
    except (ValueError, RecursionError) as error:
        raise files.UnfitFileError(path, f"says how it was made in a way that cannot be read: {error!s:.99}") from None
    with needs("histories"):
        from aomultirl.experiments import provenance, provenance_schema
    about = provenance.in_current_form(about)
    wrong = provenance_schema.fault(about)
    if wrong:
        raise files.UnfitFileError(path, f"says how it was made in a way that cannot be: {wrong}")
    return dict(about)
