"""One cell of an experiment: a world, a stream, an agent, and one of the runs; all of it written down in JSON.

A cell is a pure function of its specification: whoever computes it, wherever, gets the same history.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from aomultirl import descriptions, plugins
from aomultirl.experiments.checkpoints import EVERY, finish
from aomultirl.experiments.history import History
from aomultirl.experiments.judge import RECORDED
from aomultirl.experiments.package_state import source
from aomultirl.experiments.runner import SimulatedRun
from aomultirl.model_set import ModelSet
from aomultirl.worlds import catalogue

PARTS = ("world", "stream", "agent")
"""What of a cell is made by name."""


@dataclass(frozen=True)
class Cell:
    """What to run.

    world, stream, agent
        {"name", "parameters"} each: a function of ``ao.worlds``, a stream of ``ao.streams``, a class of ``ao.agents``.
    episodes
        K.
    seed, number
        of the experiment, and of the run in it, from 0.
    label
        what reports call the agent.
    record
        which of the numbers that need the worlds are worked out, see :func:`aomultirl.run`.
    """

    world: Mapping[str, Any]
    stream: Mapping[str, Any]
    agent: Mapping[str, Any]
    episodes: int
    seed: int
    number: int
    label: str
    record: tuple[str, ...] = RECORDED

    def specification(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        return dict(json.loads(json.dumps({field: getattr(self, field) for field in self.__match_args__})))

    @cached_property
    def name(self) -> str:
        """A digest of the specification, to name files by."""
        return descriptions.digest(self.specification())[:20]

    @property
    def run_seed(self) -> int:
        """Of this run; the same for every agent, so that they meet the same tasks and draws."""
        state = np.random.SeedSequence(self.seed, spawn_key=(self.number,)).generate_state(1, np.uint64)
        return int(state[0] >> np.uint64(1))

    def run(
        self, checkpoint: str | Path | None = None, every: float = EVERY, notes: list[str] | None = None
    ) -> History:
        """Compute it, going on from ``checkpoint`` if there is one that fits; it stays there when all is done.

        Parameters as in :func:`aomultirl.experiments.checkpoints.finish`.
        """
        models = make_world(self.world)
        agent = descriptions.make(self.agent, "agent")
        stream = descriptions.make(self.stream, "stream")
        course = SimulatedRun(agent, models, stream, self.episodes, self.run_seed, record=self.record)
        return finish(course, checkpoint, every, notes, self.plugins)

    @property
    def plugins(self) -> list[str]:
        """The modules of the plug-ins that offer what the cell is made of; empty where all of it is ours."""
        return plugins_of([self])

    @property
    def source(self) -> str:
        """A digest of the code that computes the cell here: that of this package, and of the plug-ins it needs."""
        return source(self.plugins)


def make_world(world: Mapping[str, Any]) -> ModelSet:
    """The worlds that {"name", "parameters"} describes; it may come from a file, so no module is imported for it."""
    return _made(json.dumps(world))


@lru_cache(maxsize=4)
def _made(world: str) -> ModelSet:
    """Worlds never change, so cells share them, and the values that they remember."""
    described = json.loads(world)
    return catalogue.make_from_file(described["name"], described["parameters"])


def configuration(specification: Mapping[str, Any]) -> str:
    """The canonical text of a cell without the number of the run, the label and what is recorded, with all defaults.

    Two ways to write the same configuration have the same text.

    Examples
    --------
    >>> world, stream, agent = ({"name": name, "parameters": {}} for name in ("gridworld", "uniform", "Random"))
    >>> given = {"world": world, "stream": stream, "agent": agent, "episodes": 60, "seed": 0}
    >>> read_configuration(configuration(given))["world"]
    {'name': 'gridworld', 'parameters': {'edges': 'third', 'size': 4}}
    """
    return _filled(descriptions.text({name: specification[name] for name in (*PARTS, "episodes", "seed")}))


@lru_cache(maxsize=100_000)
def _filled(text: str) -> str:
    given = json.loads(text)
    return descriptions.text({**given, **{part: descriptions.filled(given[part], part) for part in PARTS}})


@lru_cache(maxsize=100_000)
def read_configuration(text: str) -> dict[str, Any]:
    """What the text of a configuration says; nobody may change it."""
    return dict(json.loads(text))


def plugins_of(cells: Iterable[Cell]) -> list[str]:
    """The modules of the plug-ins that offer what the cells are made of; empty where all of it is ours."""
    described = {id(part): (kind, part) for cell in cells for kind in PARTS for part in (getattr(cell, kind),)}
    members = {member for kind, part in described.values() for member in descriptions.members(part, kind)}
    return sorted({module for kind, name in members if (module := plugins.module_of(kind, name)) is not None})
