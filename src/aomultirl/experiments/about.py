"""What a history says of its run: how it was made, which makes it this run and no other, and what it left behind."""

from collections.abc import Mapping
from typing import Any

import numpy as np

import aomultirl
from aomultirl import checks
from aomultirl.agents.base import Agent
from aomultirl.engine.random import RandomStream
from aomultirl.experiments.history import TYPES, History, Row
from aomultirl.identifying.threshold import largest_distance

BOUND_POINTS = 25
PARAMETER = "parameter "


def describe(agent: Agent, seed: int, episodes: int) -> dict[str, Any]:
    """What a history says of how it was made."""
    parameters = {name: repr(value) for name, value in agent.parameters().items()}
    return {
        "agent": type(agent).__name__,
        "parameters": parameters,
        "seed": seed,
        "episodes": episodes,
        "version": aomultirl.__version__,
    }


def left_behind(agent: Agent, stream: RandomStream, stands_for: Mapping[int, int]) -> dict[str, Any]:
    """What the agent found, and what it remembers of each cluster and the world that it stands for."""
    memory = agent.memory(stream)
    records = [cluster.identifying.record for cluster in memory.clusters]
    return {
        "findings": agent.findings(),
        "clusters": [
            {
                "task": stands_for.get(number, -1),
                "plan": cluster.plan.tolist(),
                "visits": int(cluster.identifying.to_lists()[2].sum()),
            }
            for number, cluster in enumerate(memory.clusters)
        ],
        "distances": [[largest_distance(one, other, memory.pairs) for other in records] for one in records],
        "threshold": memory.threshold,
    }


def bound(agent: Agent, episodes: int) -> dict[str, list[float]] | None:
    """The theorem's bound on the regret after k episodes, for some k."""
    points = sorted({int(k) for k in np.linspace(1, episodes, BOUND_POINTS)})
    bounds = [agent.regret_bound(k) for k in points]
    if any(bound is None for bound in bounds):
        return None
    parts = [(b.total, b.linear, b.root + b.constant) for b in bounds if b is not None]
    total, clustering, learning = (list(part) for part in zip(*parts, strict=True))
    return {"episodes": [float(k) for k in points], "total": total, "clustering": clustering, "learning": learning}


def check_fits(history: History, identity: Mapping[str, Any], episodes: int) -> None:
    """Refuse a history that is not the beginning of this run."""
    if not isinstance(history, History):
        raise ValueError(f"resume is {checks.shown(history)}, not a History")
    mine, theirs = _flat(identity), _flat(history.about)
    for name in [*mine, *(name for name in theirs if name.startswith(PARAMETER) and name not in mine)]:
        if theirs.get(name) != mine.get(name):
            other, own = checks.shown(theirs.get(name)), checks.shown(mine.get(name))
            raise ValueError(f"resume is of another run: its {name} is {other}, not {own}")
    if not 1 <= len(history) <= episodes:
        raise ValueError(f"resume has {len(history)} episodes, but this run has {episodes}")
    for name, kind in Row.__annotations__.items():
        column = history[name]
        if column.dtype != TYPES[kind] or column.shape != (len(history),):
            raise ValueError(f"resume has a column {name} of {column.dtype} and shape {column.shape}")
    if not np.array_equal(history["episode"], np.arange(len(history))):
        raise ValueError("resume does not have every episode from the first on")


def _flat(about: Mapping[str, Any]) -> dict[str, Any]:
    """Each parameter beside the rest, so that a message can name the one that differs."""
    rest = {name: value for name, value in about.items() if name != "parameters"}
    return {**rest, **{PARAMETER + name: value for name, value in (about.get("parameters") or {}).items()}}
