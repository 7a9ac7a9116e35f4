"""An experiment described in a file: worlds, streams, agents, grids of values, episodes, runs and seed, in TOML.

::

    episodes = 60
    runs = 5

    [[worlds]]
    name = "gridworld"
    edges = ["stay", "third"]      # a list stands for one world each

    [[agents]]
    name = "Recall"
    failure = 0.03
    horizon = 500

Every combination of a world, a stream, an agent and a number of episodes is a configuration; each of its runs is a
cell.  Everything is checked when the file is read: worlds are made, and agents begin in them.  The format is described
in ``docs/specification.md``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from aomultirl import checks, extras

with extras.needs("specifications"):
    from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from aomultirl.experiments.cell_differences import varying
from aomultirl.experiments.cells import Cell
from aomultirl.experiments.episodes import read_episodes
from aomultirl.experiments.judge import RECORDED
from aomultirl.experiments.runner import read_record
from aomultirl.experiments.specification.configurations import Contender, check_distinct, configure
from aomultirl.experiments.specification.expansion import Variant, check_count, check_list, expand
from aomultirl.experiments.specification.reading import read_document
from aomultirl.experiments.specification.refusals import sentence


def _listed(value: Any) -> Any:
    """One value as a list of one."""
    return value if isinstance(value, list) else [value]


Count = Annotated[int, Field(ge=1)]
Counts = Annotated[list[Count], BeforeValidator(_listed)]
Words = Annotated[str, Field(min_length=1)]


class NamedEntry(BaseModel):
    """A world or a stream; keys that are not here are its parameters.

    grid: lists of values for parameters, also for those that take lists.  zip: the same, but these vary together.
    """

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)

    name: str
    grid: dict[str, list[Any]] = {}
    zip: Annotated[list[dict[str, list[Any]]], BeforeValidator(_listed)] = []

    def variants(self, noun: str, key: str) -> list[Variant]:
        """What it stands for."""
        reserved = [name for name in type(self).model_fields if name != "name"]
        return expand(noun, key, self.name, self.model_extra or {}, self.grid, self.zip, reserved)


class AgentEntry(NamedEntry):
    """An agent.  label: what reports call it.  stream, episodes: in place of those of the experiment."""

    label: Words | None = None
    stream: NamedEntry | None = None
    episodes: Counts | None = None


class Specification(BaseModel):
    """The experiment.

    episodes: K, one or several.  runs, seed: as in a cell.  record: which of the judged numbers are computed.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    name: Words = "experiment"
    episodes: Counts
    runs: Count = 1
    seed: Annotated[int, Field(ge=0)] = 0
    record: list[str] = list(RECORDED)
    worlds: Annotated[list[NamedEntry], Field(min_length=1)]
    streams: Annotated[list[NamedEntry], Field(min_length=1)] = [NamedEntry(name="uniform")]
    agents: Annotated[list[AgentEntry], Field(min_length=1)]

    def configurations(self) -> list[Cell]:
        """Every combination of a world, an agent, a stream and a number of episodes: the cell of its first run."""
        return list(self._configurations)

    def varying(self) -> list[dict[str, Any]]:
        """For each configuration, what sets it apart, see :func:`aomultirl.experiments.cell_differences.varying`."""
        return varying(self._configurations)

    def cells(self) -> list[Cell]:
        """All runs, those of number 0 first, so that what is finished early covers everything."""
        return [replace(each, number=number) for number in range(self.runs) for each in self._configurations]

    def identity(self) -> dict[str, Any]:
        """What makes it this experiment and no other; more runs are the same experiment."""
        described: dict[str, Any] = {"episodes": list(self.episodes), "record": list(self._recorded)}
        for key, entries in (("worlds", self.worlds), ("streams", self.streams), ("agents", self.agents)):
            described[key] = [entry.model_dump(exclude_defaults=True) for entry in entries]
        return {"kind": "sweep", "name": self.name, "seed": self.seed, "specification": described}

    @cached_property
    def _recorded(self) -> tuple[str, ...]:
        return read_record(self.record)

    @cached_property
    def _configurations(self) -> list[Cell]:
        checks.word("name", self.name)
        if Path(self.name).name != self.name or self.name == "..":
            raise ValueError(f"name is {self.name!r}, and a folder cannot be called that")
        checks.seed("seed", self.seed)
        _check_episodes("episodes", self.episodes)
        recorded = self._recorded
        worlds = _all_variants("world", self.worlds)
        streams = _all_variants("stream", self.streams)
        check_distinct("stream", streams)
        players: list[Contender] = []
        for i, entry in enumerate(self.agents):
            met, episodes = streams, self.episodes
            if entry.stream is not None:
                met = entry.stream.variants("stream", f"agents[{i}].stream")
            if entry.episodes is not None:
                _check_episodes(f"agents[{i}].episodes", entry.episodes)
                episodes = entry.episodes
            if entry.label is not None:
                checks.word(f"agents[{i}].label", entry.label)
            variants = entry.variants("agent", f"agents[{i}]")
            check_count(len(players) + len(variants))
            players += [Contender(agent, met, episodes, entry.label) for agent in variants]
        count = self.runs * len(worlds) * sum(len(player.streams) * len(player.episodes) for player in players)
        check_count(count)
        return configure(worlds, players, self.seed, recorded)


def _all_variants(noun: str, entries: Sequence[NamedEntry]) -> list[Variant]:
    """What all entries of worlds, or of streams, stand for."""
    found: list[Variant] = []
    for i, entry in enumerate(entries):
        found += entry.variants(noun, f"{noun}s[{i}]")
        check_count(len(found))
    return found


def _check_episodes(key: str, episodes: Sequence[int]) -> None:
    """Refuse numbers of episodes that are there twice, or whose runs do not fit into the memory."""
    for i, count in enumerate(episodes):
        read_episodes(key if len(episodes) == 1 else f"{key}[{i}]", count)
    check_list(key, episodes)


def read_specification(path: str | Path) -> Specification:
    """Read and check a file; every error is a ValueError of one sentence that names the key.

    The experiment is named after the file if it does not name itself.
    """
    path = Path(path)
    return specification_of({"name": path.stem, **read_document(path)})


def specification_of(document: Mapping[str, Any]) -> Specification:
    """The same from what such a file holds."""
    if not isinstance(document, Mapping) or not all(isinstance(key, str) for key in document):
        raise ValueError(f"the specification is {checks.shown(document)}, not a table of names and values")
    try:
        found = Specification.model_validate(dict(document))
        found.configurations()
    except ValidationError as error:
        raise ValueError(sentence(error, document, list(Specification.model_fields))) from None
    except RecursionError:
        raise ValueError("the specification is nested too deeply") from None
    return found
