"""What :class:`aomultirl.agents.Recall` remembers of each world that it has met."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aomultirl.agents.state import Saved
from aomultirl.engine.counts import CountTable


@dataclass(eq=False)
class World:
    """counts: all that is believed of it; proven: what is certain, number: of its cluster, or None and -1.

    values: (S,), where planning begins; met: how often lately; tries: episodes that spent steps
    on proof in vain.
    """

    counts: CountTable
    values: NDArray[np.float64]
    met: float = 1.0
    tries: int = 0
    proven: CountTable | None = None
    number: int = -1


def restored_world(saved: Saved, n_states: int) -> World:
    """A world again, from its fields by name."""
    proven = None if saved.value("proven") is None else saved.counts("proven")
    return World(
        saved.counts("counts"),
        saved.array("values", (n_states,)),
        saved.real("met", least=0.0),
        saved.integer("tries"),
        proven,
        saved.integer("number", *((-1, -1) if proven is None else (0, None))),
    )


def add_since(target: CountTable, before: Any, counts: CountTable, pairs: NDArray[np.bool_]) -> None:
    """Add what was counted since ``before`` at these pairs."""
    starts, states, visits = before
    old = {
        (pair, int(states[i])): int(visits[i])
        for pair in np.flatnonzero(pairs).tolist()
        for i in range(starts[pair], starts[pair + 1])
    }
    starts, states, visits = counts.to_lists()
    for pair in np.flatnonzero(pairs).tolist():
        for i in range(starts[pair], starts[pair + 1]):
            new = int(visits[i]) - old.get((pair, int(states[i])), 0)
            if new > 0:
                target.count(pair, int(states[i]), new)
