"""What happened in a run, one row an episode; written to and read from Parquet without loss."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl import files

if TYPE_CHECKING:
    import polars


class Row(NamedTuple):
    """One episode.

    task: the world's number, -1 where nobody knows it.  cluster: -1 for none.  misclustered: the cluster stands for
    another world, or is a second one for the same.  identification_steps, learning_steps, clustering_reward,
    learning_reward: of the two parts of the episode.  value: exact, of the learning phase's policy from the state it
    was entered in.  regret: exact given the clustering phase, ``V*(s_1) - clustering reward - value``.
    learning_regret: the part of it that the learning phase lost, its optimum from where it was entered less value.
    evaluation_reward, evaluation_value: the paper's metric, sampled and exact, the policy learned so far without a
    bonus from the start.  estimate_error: the mean over all pairs of the l1 distance between the true transitions and
    those learned so far of this world; a pair never visited counts 1.  Numbers that need the world are nan where
    nobody knows it.  certified: an old cluster, proven at every pair it takes.  abstained: in no cluster.
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


@contextmanager
def _needs(package: str) -> Iterator[None]:
    """Say how to install what is missing."""
    try:
        yield
    except ModuleNotFoundError:
        raise ImportError(f"histories need {package} for this: pip install 'aomultirl[experiments]'") from None


TYPES = {int: np.int64, bool: np.bool_, float: np.float64}


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

    @property
    def misclustered(self) -> int:
        """How many episodes were misclustered."""
        return int(self["misclustered"].sum())

    def regret(self) -> NDArray[np.float64]:
        """Cumulative regret, (K,)."""
        return np.cumsum(self["regret"])

    def aper(self) -> NDArray[np.float64]:
        """The paper's average per-episode reward: running mean of the evaluation rewards, (K,).

        Episodes without a policy to evaluate do not count; nan before the first that has one.
        """
        rewards = self["evaluation_reward"]
        count = np.cumsum(~np.isnan(rewards))
        return np.asarray(np.where(count > 0, np.nancumsum(rewards) / np.maximum(count, 1), np.nan))

    def to_frame(self) -> "polars.DataFrame":
        """As a polars frame, one row an episode."""
        with _needs("polars"):
            import polars
        return polars.DataFrame(dict(self.columns))

    def write(self, path: str | Path) -> None:
        """Write a Parquet file, under a temporary name that is renamed when it is whole."""
        files.write_whole(path, self.to_parquet())

    def to_parquet(self, constants: Mapping[str, Any] | None = None) -> bytes:
        """The bytes of that file; ``constants`` are columns of one value each, before those of the history."""
        with _needs("pyarrow"):
            import pyarrow
            import pyarrow.parquet
        columns = {name: pyarrow.repeat(value, len(self)) for name, value in (constants or {}).items()}
        table = pyarrow.table({**columns, **self.columns})
        file = pyarrow.BufferOutputStream()
        pyarrow.parquet.write_table(table.replace_schema_metadata({"aomultirl": json.dumps(dict(self.about))}), file)
        return bytes(file.getvalue())

    @classmethod
    def read(cls, path: str | Path) -> "History":
        """Read what :meth:`write` or :meth:`to_parquet` wrote."""
        with _needs("pyarrow"):
            import pyarrow
            import pyarrow.parquet
        try:
            table = pyarrow.parquet.read_table(path)
        except pyarrow.ArrowInvalid as error:
            raise ValueError(f"{str(path)!r} is not a Parquet file: {error}") from None
        about = (table.schema.metadata or {}).get(b"aomultirl")
        if about is None or table.column_names[-len(Row._fields) :] != list(Row._fields):
            raise ValueError(f"{str(path)!r} is a Parquet file, but not a history of aomultirl")
        columns = {name: table[name].to_numpy(zero_copy_only=False) for name in Row._fields}
        return cls(columns, json.loads(about))
