"""The numbers of a run, over the episodes that count."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from aomultirl import extras
from aomultirl.agents.recall_memory import RESOLVED
from aomultirl.experiments import loading
from aomultirl.experiments.cells import read_configuration
from aomultirl.experiments.loading import Finished

MEASURES = {
    "total_reward": "total reward",
    "reward_per_step": "reward a step",
    "regret": "regret",
    "regret_per_step": "regret a step",
    "identification_steps": "steps to identify",
    "misclustered": "wrong cluster",
    "abstained": "not proven",
    "believed_only": "sure, not proven",
    "in_doubt": "in doubt",
    "steps": "steps an episode",
}
"""Of a run, and what tables call them: reward of all its steps; that, a step; cumulative regret; that, a step;
steps spent identifying, an episode; episodes in a wrong cluster; episodes not proven to be of a cluster; of these the
ones that were taken for a world that the agent was 99 % sure of, and the others; steps of an episode."""
BEHIND = "behind the best"
"""What tables call the difference to the best."""
UNEQUAL = 1.01
"""Ratio of the mean lengths of agents' episodes from which these are not equally long."""
NEEDED = (
    "task",
    "cluster",
    "misclustered",
    "abstained",
    "identification_steps",
    "learning_steps",
    "clustering_reward",
    "learning_reward",
    "regret",
    "taken_for",
    "sure",
)
"""The columns of a history that these numbers are of."""


def summarise(cells: Sequence[Finished]) -> list[dict[str, float] | None]:
    """The numbers of every cell over the episodes that count; None where none does.  Its rows have NEEDED."""
    with extras.needs("summaries"):
        import polars
        from polars import col

    early = [is_early(read_configuration(cell.configuration)["stream"]) for cell in cells]
    number = polars.LazyFrame({loading.PLACE: np.arange(len(cells)), "early": early})
    rows = loading.frame_of_rows(cells).lazy().join(number, on=loading.PLACE).rename({loading.PLACE: "number"})
    if any(early):
        first = polars.when("early").then(col("task").max().over("number") + 1).otherwise(0)
        rows = rows.filter(col("episode") >= first)
    steps = col("identification_steps") + col("learning_steps")
    regret = col("regret").fill_null(np.nan).sum()
    # As History.believed_only; for polars nan is more than any number.
    believed_only = col("abstained") & (col("taken_for") >= 0) & (col("sure").fill_nan(0.0) >= RESOLVED)
    measured = rows.group_by("number").agg(
        episodes=polars.len().cast(polars.Float64),
        total_reward=(col("clustering_reward") + col("learning_reward")).sum(),
        steps=steps.mean(),
        reward_per_step=(col("clustering_reward") + col("learning_reward")).sum() / steps.sum(),
        regret=regret,
        regret_per_step=regret / steps.sum(),
        identification_steps=col("identification_steps").mean(),
        misclustered=col("misclustered").sum().cast(polars.Float64),
        abstained=col("abstained").sum().cast(polars.Float64),
        believed_only=believed_only.sum().cast(polars.Float64),
        in_doubt=(col("abstained") & ~believed_only).sum().cast(polars.Float64),
        beliefs=(col("taken_for") >= 0).any().cast(polars.Float64),
        clusters=(col("cluster").max() + 1).cast(polars.Float64),
    )
    found: list[dict[str, float] | None] = [None] * len(cells)
    for row in measured.collect().iter_rows(named=True):
        found[row.pop("number")] = row
    return found


def has_ends(world: Any) -> bool:
    """Whether the world may end an episode, so that its length says how it went, not how long it was to be."""
    if not isinstance(world, Mapping):
        return False
    parameters = world.get("parameters", {})
    ends = world.get("name") == "doors" or (world.get("name") == "diabolical_locks" and not parameters.get("again"))
    return ends or parameters.get("terminal") == "end"


def is_early(stream: Mapping[str, Any]) -> bool:
    """Every world comes once before the episodes that count."""
    return stream["name"] == "paper" and bool(stream["parameters"].get("each_first"))
