"""What a history may say of how it was made and of what the agent left behind, see :mod:`.about`: one schema.

Files come from strangers.  A page that is made of one asks for names, lists and numbers where these are, so whatever is
of another type is refused when the file is read.  What a class of agents finds, it alone knows: that may be any JSON.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, JsonValue, TypeAdapter, ValidationError

from aomultirl.experiments.manifest import Part, first_fault


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True)


class Bound(_Strict):
    """The theorem's bound on the regret after some numbers of episodes."""

    episodes: list[float]
    total: list[float]
    clustering: list[float]
    learning: list[float]


class LeftCluster(_Strict):
    """What the agent remembers of a cluster, and the world that it stands for."""

    task: int
    plan: list[int]
    visits: int


class Provenance(_Strict):
    """All of it; what only the simulator knows is not there in histories of ``ao.interact``."""

    agent: str
    parameters: dict[str, str]
    seed: int
    episodes: int
    version: str
    noisy_rewards: bool = False
    world: Part | None = None
    stream: str = ""
    recorded: list[str] = []
    bound: Bound | None = None
    findings: dict[str, JsonValue] = {}
    clusters: list[LeftCluster] = []
    distances: list[list[float]] = []
    threshold: float | None = None


_PROVENANCE = TypeAdapter(Provenance)


def fault(about: Any) -> str:
    """What is wrong with what a history says of itself; empty for nothing."""
    try:
        told = _PROVENANCE.validate_python(about)
    except ValidationError as error:
        return first_fault(error)
    sizes: Mapping[str, list[int]] = {
        "bound": [len(part) for _, part in told.bound] if told.bound else [],
        "distances": [*map(len, told.distances), *([len(told.distances)] if told.distances else [])],
    }
    return next((f"the lists in {name} are not equally long" for name, some in sizes.items() if len(set(some)) > 1), "")
