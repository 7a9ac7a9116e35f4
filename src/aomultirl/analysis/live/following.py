"""Reads a cell out of a folder of results, while another process writes it or afterwards, and tells the story of it.

The folder is only read.  A cell that is done has its history there, one under way the checkpoint that was written last;
both say of every episode what the agent took it for and how sure it was in the end, and a history says of some episodes
what it believed on the way.
"""

import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from aomultirl import checks, descriptions, files
from aomultirl.agents.game import NEW
from aomultirl.analysis.live.choosing import best_of, can_say_the_best, choose, facts_of, rivals
from aomultirl.analysis.live.playing import SECONDS, Pace
from aomultirl.analysis.live.records import Player
from aomultirl.analysis.live.story import Story
from aomultirl.experiments import loading
from aomultirl.experiments.cells import Cell
from aomultirl.experiments.checkpoints import read_checkpoint
from aomultirl.experiments.computation import checkpoint_of
from aomultirl.experiments.history import History, Row, out_of_range
from aomultirl.experiments.manifest import Failed, Manifest, read_manifest
from aomultirl.experiments.provenance import check_fits
from aomultirl.experiments.specification import specification_of
from aomultirl.experiments.specification.reading import read_document
from aomultirl.experiments.stored_cells import read_cell
from aomultirl.worlds import catalogue

SPECIFICATION = "specification.toml"
EVERY, PATIENCE = 1.0, 10.0
"""Seconds between two looks at the folder, at least; and so many times what a look takes."""
READ_SECONDS = 0.4
"""That an episode takes at speed 1 of which only the end is known."""
MOST_RIVALS = 4
"""Agents besides the one that is shown whose reward is shown too."""


class Following:
    """A folder of results that is followed.

    Parameters
    ----------
    place
        the folder.
    story
        what is told of it.
    world, agent
        as in :func:`aomultirl.analysis.live.choosing.choose`.
    number
        of the run.

    Raises
    ------
    ValueError
        it is no folder of results, or nothing in it can be shown.
    """

    def __init__(
        self, place: Path, story: Story, world: str | None = None, agent: str | None = None, number: int = 0
    ) -> None:
        self.place, self.story, self.wanted = place, story, (world, agent)
        self.number = checks.integer("run", number, least=0)
        self.names = dict.fromkeys(loading.check(place).cells)
        self.manifests: dict[str, tuple[int, Manifest | None]] = {}
        self.specified = self._specified()
        self.cell: Cell | None = None
        self.rows: list[Row] = []
        self.trails: dict[int, list[tuple[int, dict[int, float]]]] = {}
        self.error = ""
        self.is_over = False
        self._joined: set[str] = set()
        self._checkpoint = 0
        self.look()

    def follow(self, pace: Pace, *, until_done: bool = False, sleep: Callable[[float], None] = time.sleep) -> None:
        """Show one episode after the other, and wait for more; without ``until_done`` for ever."""
        due = time.monotonic() + EVERY
        while True:
            if len(self.story.outcomes) < len(self.rows):
                self._show(self.rows[len(self.story.outcomes)], pace)
            else:
                self.story.say(*self._standing())
                if self.is_over and until_done:
                    return
                sleep(max(0.0, due - time.monotonic()))
            began = time.monotonic()
            if began >= due:
                self.look()
                due = time.monotonic() + max(EVERY, PATIENCE * (time.monotonic() - began))

    def look(self) -> None:
        """Look into the folder for what is new."""
        self._look_at_manifests()
        if self.cell is None:
            self._choose()
        if self.cell is not None:
            self._look_at_cell(self.cell)
            self._look_at_rivals(self.cell)
        states = Counter(
            "damaged" if told is None else "failed" if isinstance(told, Failed) else "done"
            for _, told in self.manifests.values()
        )
        self.story.count({**states, "all": len(self.names)})

    def _specified(self) -> list[Cell]:
        """The cells of this run, as the file says that described the experiment; empty where it cannot be used.

        Reading it makes the worlds in it; environments of Gymnasium are never made for what a folder says.
        """
        file = self.place / SPECIFICATION
        if files.is_regular(file):
            with suppress(ValueError, OSError, ImportError, TypeError, KeyError):
                document = read_document(file)
                if not any(catalogue.needs_gymnasium(world["name"]) for world in document["worlds"]):
                    cells = specification_of(document).configurations()
                    of_this_run = [replace(cell, number=self.number) for cell in cells]
                    return [cell for cell in of_this_run if cell.name in self.names]
        return []

    def _look_at_manifests(self) -> None:
        """Read the manifests that are new, or were changed."""
        place = self.place / "cells"
        if place.is_symlink() or not place.is_dir():
            return
        with os.scandir(place) as entries:
            found = {entry.name[:-5]: entry for entry in entries if entry.name.endswith(".json")}
        for name in found.keys() & self.names.keys():
            with suppress(OSError):
                written = found[name].stat(follow_symlinks=False).st_mtime_ns
                if self.manifests.get(name, (None,))[0] != written:
                    self.manifests[name] = written, _manifest(self.place / "cells" / f"{name}.json", name)

    def _known(self) -> list[Cell]:
        """The cells of this run that somebody has described so far."""
        if self.specified:
            return self.specified
        read = [self.manifests[name][1] for name in self.names if name in self.manifests]
        return [cell for told in read if told is not None and (cell := told.to_cell()).number == self.number]

    def _choose(self) -> None:
        """Choose the cell to show; refuse a folder where there is none, and none will come."""
        known, left = self._known(), self.names.keys() - self.manifests.keys()
        if not known and not left:
            raise ValueError(
                f"run is {self.number}, and {str(self.place)!r} holds no cell of that run that can be read"
            )
        try:
            self.cell = choose(known, *self.wanted)
        except ValueError:
            if self.specified or not left:
                raise
            return
        self.agent = descriptions.make(self.cell.agent, "agent")
        models = catalogue.make_again(self.cell.world)
        self.models = models if models is not None and can_say_the_best(self.cell, models, self.agent) else None
        facts = facts_of(self.cell, self.agent, str(self.place), plays=False)
        self.story.introduce(facts, [Player(self.cell.label)], has_best=self.models is not None)

    def _look_at_cell(self, cell: Cell) -> None:
        """Read the cell's history, or the checkpoint that is there as long as there is none."""
        if self.is_over:
            return
        manifest = self.manifests.get(cell.name, (0, None))[1]
        if manifest is None:
            self._look_at_checkpoint(cell)
        elif isinstance(manifest, Failed):
            self.error, self.is_over = f"The cell failed: {checks.plain(manifest.error)}", True
        else:
            try:
                history = read_cell(self.place / "cells" / f"{cell.name}.json").history
                self.rows, self.trails = _rows(history), _trails(history.about)
            except (OSError, ValueError) as error:
                self.error = f"The cell cannot be read: {checks.plain(str(error))}"
            self.is_over = True

    def _look_at_checkpoint(self, cell: Cell) -> None:
        """Read the episodes in the cell's checkpoint, where there is one that was not read before."""
        path = checkpoint_of(cell, self.place)
        with suppress(OSError, ValueError):
            written = 0 if path is None else os.lstat(path).st_mtime_ns
            if path is not None and written != self._checkpoint:
                self._checkpoint = written
                history = read_checkpoint(path, [type(self.agent)])[1]
                check_fits(history, {"seed": cell.run_seed, "episodes": cell.episodes}, cell.episodes)
                if not out_of_range(history.columns, len(history)) and len(history) > len(self.rows):
                    self.rows = _rows(history)

    def _look_at_rivals(self, cell: Cell) -> None:
        """Have those join whose episodes are over by now."""
        if len(self._joined) >= MOST_RIVALS:
            return
        done = {name for name, (_, told) in self.manifests.items() if told is not None and not isinstance(told, Failed)}
        known = [other for other in self._known() if other.name in done - self._joined]
        for player, other in rivals(cell, known, self.agent, MOST_RIVALS - len(self._joined)):
            self._joined.add(other.name)
            with suppress(OSError, ValueError):
                history = read_cell(self.place / "cells" / f"{other.name}.json").history
                self.story.join(player, history.reward.tolist())

    def _show(self, row: Row, pace: Pace) -> None:
        """Show an episode, as far as it is known."""
        name = row.taken_for if row.taken_for >= 0 else row.cluster
        steps = row.identification_steps + row.learning_steps
        trail = self.trails.get(row.episode)
        pace.begin(READ_SECONDS if trail is None else SECONDS)
        self.story.begin(row.episode, row.task)
        for step, shares in trail or ():
            self.story.look(step, shares, shares)
            pace.rest(step, steps)
        if trail is None and name >= 0 and 0.0 <= row.sure <= 1.0:
            self.story.look(steps, {name: row.sure}, on_the_way=False)
        pace.rest(steps, steps)
        best = None if self.models is None else best_of(self.models, self.agent, row.task, row.start)
        self.story.end(row, best=best)

    def _standing(self) -> tuple[str, str]:
        """How it stands, and a sentence about that."""
        if self.is_over:
            return ("failed", self.error) if self.error else ("done", "")
        who = files.at_work(self.place)
        at_work = f"{who} is at work" if who else "nobody is at work in the folder"
        if self.cell is None:
            return "waiting", f"No cell with an agent that recognises worlds is there yet; {at_work}."
        more = "more of its episodes" if self.rows else "its first episodes, which come with a checkpoint or the end"
        return "waiting", f"Waiting for {more}; {at_work}."


def _manifest(path: Path, name: str) -> Manifest | None:
    """The manifest of the cell of this name; None for anything else."""
    with suppress(OSError, ValueError):
        told = read_manifest(path)
        return told if told.cell == name == told.to_cell().name else None
    return None


def _rows(history: History) -> list[Row]:
    columns: Sequence[list[Any]] = [history[name].tolist() for name in Row._fields]
    return [Row(*values) for values in zip(*columns, strict=True)]


def _trails(about: Mapping[str, Any]) -> dict[int, list[tuple[int, dict[int, float]]]]:
    """The beliefs on the way through the episodes of which a history keeps them, by the numbers of the episodes."""
    evidence = (about.get("findings") or {}).get("evidence") or {}
    found = {}
    for trace in evidence.get("episodes") or []:
        if trace.get("belief") and trace.get("worlds") is not None:
            names = [*trace["worlds"], NEW]
            table = np.asarray(trace["belief"], np.float64).reshape(len(trace["steps"]), -1)
            if table.shape[1] == len(names):
                looks = zip(trace["steps"], table.tolist(), strict=True)
                found[trace["episode"]] = [(step, dict(zip(names, shares, strict=True))) for step, shares in looks]
    return found
