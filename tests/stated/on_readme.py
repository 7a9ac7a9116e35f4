"""What README and CONTRIBUTING state."""

import shlex

import numpy as np

from aomultirl.experiments import suites
from aomultirl.experiments.specification import read_specification
from screens import OTHERS
from stated.checks import states
from stated.computed import EXPERIMENT, cases, clustering_horizon, identification_bound, kept, row
from stated.on_suites import lakes, sets
from stated.reading import ROOT

README = "README.md"


@states(README, "episodes=200)  # {} million steps")
def steps_of_the_papers_example():
    return [EXPERIMENT.episodes * (clustering_horizon("released") + 200) / 1e6]


@states(README, "# the paper says {}")
def the_hitting_time_of_the_paper():
    return [EXPERIMENT.cells()[0].agent["parameters"]["hitting_time"]]


@states(README, "| Γ, M, λ, D | {} / {} |")
def clustering_steps():
    return clustering_horizon("paper"), clustering_horizon("released")


@states(README, "| `SequentialAOMultiRL` | Γ, λ | about {} |", within=0.01)
@states(README, "[recognise a known world](docs/recall.md) in {} steps", within=0.25)
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


@states(README, "that start anew {} %, where Q-learning earns {}.")
def what_is_earned_on_lakes():
    lakes = "FrozenLake 8x8, 4 maps, restarting"
    q_learning = row("docs/measured.md", "FrozenLake 8 x 8, 4 maps, restarting", after="## Long episodes")[-2][0]
    return np.mean(kept("reward", lakes, "Recall", "H = 500")), q_learning


@states(README, "it earns {} to {} %, more than all others that are not told the world")
def what_recall_earns_on_rings():
    rings = [cell[0] for cell in row("docs/contests.md", "**`Recall`, told nothing**")[:3]]
    return min(rings), max(rings)


@states(README, "with some {} agents and learners", "some {} agents and learners in [one comparison]", within=0.1)
@states("docs/contests.md", "in the same order: some {} rows in every place", within=0.1)
def entrants():
    return [len({case.told for case in cases("hard") if case.place == cases("hard")[0].place})]


@states(README, "lists of values, runs: {} cells,")
def cells_of_the_quick_example():
    return [len(read_specification(ROOT / "examples/quick.toml").cells())]


def on_others(place):
    """What Recall, PSRL and Q-learning earn in the last quarter of short lives."""
    return [
        np.mean(kept("short", place, told, "last quarter")) for told in ("Recall", "PSRL, pooled", "Q-learning, pooled")
    ]


@states(README, "With {} slippery maps it earns {} % of the optimum, where PSRL and Q-learning earn {} and {};")
def what_is_earned_on_slippery_lakes():
    return *sets("short", "FrozenLake 8x8, 3 maps, slippery"), *on_others("FrozenLake 8x8, 3 maps, slippery")


@states(
    README, "on cliffs it loses {} a life, and they lose {} and {}; with taxis it earns {}, and they lose {} and {}."
)
def what_is_earned_on_cliffs_and_with_taxis():
    cliff, taxi = on_others("cliff, reward a life"), on_others("Taxi, reward a life")
    return [-number for number in cliff] + [taxi[0]] + [-number for number in taxi[1:]]


@states(README, "the last quarter of {} lives, {} runs, means and {} % intervals")
def how_others_were_measured():
    lives = cases("short")[0].episodes
    return lives, len(kept("short", "Taxi, reward a life", "Recall", "last quarter")), 95


@states(README, "one way to the goal is often safe on {} maps of {}")
def maps_of_a_lake():
    """On most sets who is told nothing earns on two maps of three, and on the third some lives end in a hole."""
    count = sets("short", "FrozenLake 8x8, 3 maps")
    return np.median(lakes()) * count[0], *count


@states(README, "![{} environments, {} learners in each:")
def what_the_figure_on_others_shows():
    words = shlex.split(OTHERS)
    named = {
        option: [words[i + 1] for i, word in enumerate(words) if word == option] for option in ("--only", "--agent")
    }
    shown = suites.pick(cases("short"), named["--only"], named["--agent"])
    return len({case.place for case in shown}), len({case.told for case in shown})


@states(README, "In [{} environments](docs/test_beds.md) that others wrote it is best of those not told in {}.")
def how_often_it_is_best_in_the_beds():
    page = (ROOT / "docs/test_beds.md").read_text(encoding="utf-8")
    life = page.partition("## One life an episode")[2].partition("## ")[0]
    recall = [line.split("|")[6].strip() for line in life.splitlines() if line.startswith("|")][2:]
    return len(recall), sum(cell.startswith("**") for cell in recall)
