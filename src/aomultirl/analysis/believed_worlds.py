"""What an agent believed in a run: which worlds it took episodes for, how sure it was, and what it holds in the end.

A believed world is what the agent acts on.  It is no cluster: clusters are proven, and a belief may be wrong.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.agents.recall_memory import RESOLVED
from aomultirl.experiments.history import History

KINDS = ("transitions", "ends", "rewards")
"""What worlds may share."""


class BelievedWorlds(NamedTuple):
    """What an agent believed in a run.

    episodes
        that were taken for some world.
    names
        how many worlds they were taken for, when they were over.
    met
        how many true worlds there were in these episodes; None where nobody knows them.
    together
        episodes that are of the true world that most episodes taken for the same are of; None where nobody knows it.
    sure
        how probable the agent found the world that it took an episode for, in the mean.
    doubted
        episodes of which that was below RESOLVED when they were over.
    worlds
        in which the agent believes in the end; None where it does not say.
    shared
        how often worlds share a row of each of KINDS, as the agent believes in the end; without rewards that are known.
    unresolved
        past episodes that, read again, are still below RESOLVED in the end; None where the agent does not say.
    """

    episodes: int
    names: int
    met: int | None
    together: int | None
    sure: float
    doubted: int
    worlds: int | None
    shared: dict[str, float]
    unresolved: int | None


def believed_worlds(history: History, before: int = 0) -> BelievedWorlds | None:
    """What the agent believed in the episodes after the first ``before``; None for an agent that has no beliefs."""
    taken = history["taken_for"] >= 0
    taken[:before] = False
    if not taken.any():
        return None
    names, tasks, sure = (history[name][taken] for name in ("taken_for", "task", "sure"))
    known = bool((tasks >= 0).all())
    findings = history.about.get("findings") or {}
    return BelievedWorlds(
        episodes=len(names),
        names=len(np.unique(names)),
        met=len(np.unique(tasks)) if known else None,
        together=_together(names, tasks) if known else None,
        sure=float(sure.mean()),
        doubted=int((sure < RESOLVED).sum()),
        worlds=_count(findings.get("worlds")),
        shared=_shared(findings.get("shared"), history.about.get("agent")),
        unresolved=_count(findings.get("unresolved")),
    )


def has_beliefs(history: History) -> bool:
    """Whether the agent said of any episode which world it took it for."""
    return bool((history["taken_for"] >= 0).any())


def _together(names: NDArray[np.int64], tasks: NDArray[np.int64]) -> int:
    return sum(int(np.unique(tasks[names == name], return_counts=True)[1].max()) for name in np.unique(names))


def _count(value: Any) -> int | None:
    """What an agent says it found, where it is a number of things; files of strangers may hold anything there."""
    return value if type(value) is int and value >= 0 else None


def _shared(value: Any, agent: Any) -> dict[str, float]:
    told = agent.get("parameters") if isinstance(agent, Mapping) else None
    rewards_known = isinstance(told, Mapping) and told.get("rewards") == "known"
    found = {kind: value.get(kind) for kind in KINDS} if isinstance(value, Mapping) else {}
    if rewards_known:
        found.pop("rewards", None)
    return {kind: share for kind, share in found.items() if isinstance(share, float) and math.isfinite(share)}
