"""Run the cells of an experiment that are missing in a folder, in any executor; what is finished stays finished."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol

from aomultirl import plugins
from aomultirl.experiments.cells import Cell, plugins_of
from aomultirl.experiments.checkpoints import EVERY
from aomultirl.experiments.computation import Computed, compute, failed, lost
from aomultirl.experiments.executors import Executor
from aomultirl.experiments.package_state import source
from aomultirl.experiments.store import Store


class Observer(Protocol):
    """Who is told how far it is."""

    def begin(self, cells: Sequence[Cell], missing: Sequence[Cell], executor: Executor) -> None:
        """Before the first missing cell is computed."""

    def finished(self, computed: Computed) -> None:
        """After each, when it is kept."""


class Completion(NamedTuple):
    """What became of an experiment.

    total, found
        cells of it, and those that were done before.
    failed
        cells that went wrong, with their errors.
    set_aside
        files that were damaged or of something else.
    notes
        about results of other code, and checkpoints that could not be used or written.
    """

    total: int
    found: int
    failed: list[tuple[Cell, str]]
    set_aside: list[Path]
    notes: list[str]


def complete(store: Store, executor: Executor, observers: Sequence[Observer] = (), every: float = EVERY) -> Completion:
    """Compute what is missing in the store, and keep it; failed cells are tried again, and do not stop the others.

    Parameters
    ----------
    every
        seconds between checkpoints of a cell.
    """
    strangers = plugins_of(store.cells)
    source(strangers)  # of the code that runs, before somebody edits it
    with ExitStack() as stack:
        with _writing(store):
            stack.enter_context(store.opened())
        missing = store.missing()
        wrong, notes = list[tuple[Cell, str]](), list[str]()
        if store.of_other_code:
            notes.append(
                f"{store.of_other_code:,} of the results that are there were computed with other sources of "
                f"aomultirl{' or of a plug-in' * bool(strangers)}; "
                "name another folder to compute all of them with these"
            )
        for observer in observers:
            observer.begin(store.cells, missing, executor)
        try:
            work = partial(compute, folder=store.folder.absolute(), every=every, plugins=plugins.loaded())
            with closing(executor.map(work, missing, lost)) as results:
                for each in results:
                    computed = _check_source(each)
                    with _writing(store):
                        store.keep(computed)
                    notes.extend(computed.facts.get("notes", ()))
                    if computed.error is not None:
                        wrong.append((computed.cell, computed.error))
                    for observer in observers:
                        observer.finished(computed)
        finally:
            store.clear()
    return Completion(
        total=len(store.cells),
        found=len(store.cells) - len(missing),
        failed=wrong,
        set_aside=store.set_aside,
        notes=notes,
    )


@contextmanager
def _writing(store: Store) -> Iterator[None]:
    """A block in which the folder is written to; where that cannot be done, the sentence names it."""
    try:
        yield
    except OSError as error:
        raise OSError(
            f"out is {str(store.folder)!r}, which could not be written to: {error.strerror or error}; "
            "what was finished before is kept, and the same command goes on from there"
        ) from None


def _check_source(computed: Computed) -> Computed:
    """A cluster whose machines hold another state of the package, or of a plug-in, would give something else."""
    ours = computed.cell.source
    theirs = computed.facts.get("source", ours)
    if theirs == ours or (computed.error is not None and theirs == source()):  # the plug-in may not have been loaded
        return computed
    words = f"it was computed with other sources of aomultirl ({theirs}, here {ours})"
    return computed._replace(history=b"", facts={**computed.facts, **failed(words)})
