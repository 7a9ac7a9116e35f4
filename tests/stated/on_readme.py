"""What README and CONTRIBUTING state."""

import numpy as np

from aomultirl.experiments.specification import read_specification
from stated.checks import states
from stated.computed import EXPERIMENT, cases, clustering_horizon, hitting_time, identification_bound, kept, row
from stated.reading import ROOT

README = "README.md"


@states(README, "# {} million steps, half a second")
def steps_of_the_first_example():
    return [EXPERIMENT.episodes * (clustering_horizon("released") + 200) / 1e6]


@states(README, "# {} steps; the paper says {}")
def the_hitting_time():
    return hitting_time(), EXPERIMENT.cells()[0].agent["parameters"]["hitting_time"]


@states(README, "| Γ, M, λ, D | {} / {} |")
def clustering_steps():
    return clustering_horizon("paper"), clustering_horizon("released")


@states(
    README,
    "| `SequentialAOMultiRL` | Γ, λ | about {} |",
    "[recognise a known world](docs/recall.md) in {} steps",
    within=0.25,
)
def steps_to_recognise():
    return row("docs/recall.md", "grid of the text | Γ of 3, λ")[0][:1]


@states(README, "| `SequentialAOMultiRL` | λ | about {} |", within=0.01)
def steps_to_recognise_without_the_set():
    return row("docs/recall.md", "| λ", after="| grid of the text | Γ of 3, λ |")[0][:1]


@states(README, "| Γ, λ / λ | {} / {} |")
def the_least_steps():
    return identification_bound(True), identification_bound(False)


@states(README, "in episodes of {} steps on the paper's grids it earns {} and {} % of the optimal reward")
def what_recall_earns_on_the_grids():
    return 500, *(np.mean(kept("reward", f"grid, {edges}", "Recall", "H = 500")) for edges in ("third", "stay"))


@states(README, "learning each episode alone earns {} to {} %")
def what_learning_alone_earns():
    tables = [
        row("docs/measured.md", "one-episode learner", after=f"**grid {grid}**")
        for grid in ("as released", "of the text")
    ]
    return sorted(table[0][0] for table in tables)


@states(README, "that start anew {} %, where Q-learning earns {} (")
def what_is_earned_on_lakes():
    lakes = "FrozenLake 8x8, 4 maps, restarting"
    q_learning = row("docs/measured.md", "FrozenLake 8 x 8, 4 maps, restarting", after="## Long episodes")[-2][0]
    return np.mean(kept("reward", lakes, "Recall", "H = 500")), q_learning


@states(README, "it earns {} to {} %, more than all others that are not told the world")
def what_recall_earns_on_rings():
    rings = [cell[0] for cell in row("docs/contests.md", "**`Recall`, told nothing**")[:3]]
    return min(rings), max(rings)


@states(README, "with some {} agents and learners", within=0.1)
def entrants():
    return [len({case.told for case in cases("hard") if case.place == cases("hard")[0].place})]


@states(README, "lists of values, runs: {} cells,")
def cells_of_the_quick_example():
    return [len(read_specification(ROOT / "examples/quick.toml").cells())]
