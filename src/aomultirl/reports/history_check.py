"""Histories that somebody else may have written: what they say of their run is checked before a page is made of it.

:meth:`History.read` checks the columns; here a schema says what the description beside them, ``History.about``, may
hold.  Whatever the schema lets through can be shown; everything else is refused in one sentence that names the field.
"""

from pathlib import Path
from typing import Annotated, Any, Literal

try:
    from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
except ModuleNotFoundError:
    raise ImportError("reports of files need pydantic: pip install 'aomultirl[experiments]'") from None

from aomultirl.experiments.history import History

LONGEST_NAME = 1_000_000
"""Characters of a text that a page shows whole; the longest parameter of ours, a distinguishing set, stays below it."""
MOST_CELLS = 1_000_000
"""Numbers in a list, so that a page of them can be made."""

Name = Annotated[str, Field(max_length=LONGEST_NAME)]
Number = Annotated[int, Field(ge=-1, lt=2**63)]
Floats = Annotated[list[float], Field(max_length=MOST_CELLS)]


class Described(BaseModel):
    """The base of all parts: types as they are written, and fields that are not known stay as they are."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)


class DescribedWorld(Described):
    """The function of ``ao.worlds`` that made the worlds, and its parameters."""

    name: Name
    parameters: dict[Name, Any]


class DescribedCluster(Described):
    """A cluster: the world it stands for (-1: unknown), its plan's first actions, and how often it was visited."""

    task: Number
    plan: Annotated[list[Annotated[int, Field(ge=0, lt=2**31)]], Field(max_length=MOST_CELLS)]
    visits: int = 0


class DescribedTrace(Described):
    """The evidence of one episode: looks at it after ``steps`` steps, and what was seen at each of them."""

    episode: Annotated[int, Field(ge=0, lt=2**63)]
    verdict: Literal["new", "accepted", "abstained"]
    cluster: Number
    steps: Annotated[list[Annotated[int, Field(ge=0, lt=2**63)]], Field(max_length=MOST_CELLS)]
    against: list[Floats] | None = None
    belief: list[Floats] | None = None
    certified: list[int] | None = None

    @model_validator(mode="after")
    def _has_a_row_a_step(self) -> "DescribedTrace":
        rows = self.belief if self.against is None else self.against
        if rows is None or len(rows) != len(self.steps) or len({len(row) for row in rows}) > 1:
            raise ValueError("it does not have one row of numbers for each of its steps")
        return self


class DescribedEvidence(Described):
    """The episodes whose evidence was kept, and the limit at which a cluster is rejected."""

    limit: float | None = None
    episodes: list[DescribedTrace] = []


class DescribedFindings(Described):
    """What the agent found; only the evidence has a form."""

    evidence: DescribedEvidence | None = None


class DescribedBound(Described):
    """The theorem's bound after some numbers of episodes, and its parts."""

    episodes: Floats
    total: Floats
    clustering: Floats
    learning: Floats

    @model_validator(mode="after")
    def _is_a_table(self) -> "DescribedBound":
        if len({len(self.episodes), len(self.total), len(self.clustering), len(self.learning)}) > 1:
            raise ValueError("its columns are not equally long")
        return self


class DescribedRun(Described):
    """All of ``History.about`` that pages use."""

    agent: Name
    parameters: dict[Name, Name]
    seed: Annotated[int, Field(ge=0)] = 0
    episodes: Annotated[int, Field(ge=1, lt=2**63)] = 1
    version: Name = ""
    noisy_rewards: bool = False
    world: DescribedWorld | None = None
    stream: Annotated[str, Field(max_length=MOST_CELLS)] | None = None
    findings: DescribedFindings | None = None
    clusters: list[DescribedCluster] | None = None
    distances: list[Floats] | None = None
    threshold: float | None = None
    bound: DescribedBound | None = None

    @model_validator(mode="after")
    def _distances_are_square(self) -> "DescribedRun":
        rows = self.distances or []
        if any(len(row) != len(rows) for row in rows):
            raise ValueError("distances is not a square table")
        return self


def read_history(path: str | Path) -> History:
    """The history in a Parquet file, for a page; refuses one whose description a page could not show."""
    history = History.read(path)
    try:
        DescribedRun.model_validate(history.about)
    except (ValidationError, RecursionError) as error:
        raise ValueError(f"{str(path)!r} is no history that a page can be made of: {_reason(error)}") from None
    return history


def _reason(error: Exception) -> str:
    """The first thing that is wrong, with its place."""
    if not isinstance(error, ValidationError):
        return "its description is nested too deeply"
    first = error.errors(include_url=False, include_input=False)[0]
    place = "".join(f"[{step}]" if isinstance(step, int) else f".{step:.80}" for step in first["loc"]).lstrip(".")
    return f"{place or 'its description'}: {first['msg'].removeprefix('Value error, ')}"
