"""What a history may say of how it was made and of what the agent left behind, see :mod:`.provenance`: one schema.

Files come from strangers.  A page that is made of one asks for names, lists and numbers where these are, so whatever is
of another type is refused when the file is read.  What a class of agents finds, it alone knows: that may be any JSON,
except for the evidence of episodes, of which pages draw a chart.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from aomultirl import extras

with extras.needs("histories"):
    from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from aomultirl.experiments.manifest import Json, Part, Text, first_fault

World = Annotated[int, Field(ge=-1, lt=2**31)]
"""The number of a world or a cluster; -1 where there is none."""
Count = Annotated[int, Field(ge=0, lt=2**63)]


class KeptRecord(BaseModel):
    """Nothing is converted: a number is not a text."""

    model_config = ConfigDict(strict=True)


class KeptBound(KeptRecord):
    """The theorem's bound on the regret after some numbers of episodes."""

    episodes: list[float]
    total: list[float]
    clustering: list[float]
    learning: list[float]


class KeptPremises(KeptRecord):
    """Whether a theorem's bound holds: the theorem, what breaks its premises, and what nobody could check."""

    theorem: Text
    broken: list[Text]
    unchecked: list[Text]


class LeftCluster(KeptRecord):
    """What the agent remembers of a cluster, and the world that it stands for."""

    task: World
    plan: list[Annotated[int, Field(ge=0, lt=2**31)]]
    visits: Count


class KeptTrace(KeptRecord):
    """The evidence of one episode, a row for each of the looks at it.

    steps
        taken before each look.
    against, belief
        a number for each cluster at each look: what speaks against it, or how probable it is.
    certified
        pairs that were certified to agree, at each look.
    worlds
        the names of the worlds that a row of ``belief`` is about; its last number is of a new one.
    """

    episode: Count
    verdict: Literal["new", "accepted", "abstained"]
    cluster: World
    steps: list[Count]
    against: list[list[float]] | None = None
    belief: list[list[float]] | None = None
    certified: list[Count] | None = None
    worlds: list[Count] | None = None

    @property
    def is_a_table(self) -> bool:
        """Whether it has as many equally long rows as looks, with a name for each number where there are names."""
        rows = self.belief if self.against is None else self.against
        if rows is None or len(rows) != len(self.steps):
            return False
        lengths = {len(row) for row in rows}
        return len(lengths) <= 1 and (self.worlds is None or lengths <= {len(self.worlds) + 1})


class KeptEvidence(KeptRecord):
    """The episodes whose evidence was kept, and the limit at which a cluster is rejected."""

    limit: float | None = None
    episodes: list[KeptTrace] = []


class AgentFindings(KeptRecord):
    """What the agent found."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Json]

    evidence: KeptEvidence | None = None


class Provenance(KeptRecord):
    """All of it; what only the simulator knows is not there in histories of ``ao.interact``."""

    agent: Part
    seed: Annotated[int, Field(ge=0)]
    episodes: Annotated[int, Field(ge=1, lt=2**63)]
    version: Text
    noisy_rewards: bool = False
    world: Part | None = None
    stream: Part | None = None
    recorded: list[Text] = []
    premises: KeptPremises | None = None
    bound: KeptBound | None = None
    findings: AgentFindings | None = None
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
    except RecursionError:
        return "it is nested too deeply"
    if told.findings is not None and told.findings.evidence is not None:
        for number, trace in enumerate(told.findings.evidence.episodes):
            if not trace.is_a_table:
                return f"findings.evidence.episodes[{number}] does not have a row of numbers for each of its steps"
    sizes: Mapping[str, list[int]] = {
        "bound": [len(part) for _, part in told.bound] if told.bound else [],
        "distances": [*map(len, told.distances), *([len(told.distances)] if told.distances else [])],
    }
    return next((f"the lists in {name} are not equally long" for name, some in sizes.items() if len(set(some)) > 1), "")
