"""Which cell of an experiment is shown live, and who its agent is compared with."""

from collections.abc import Sequence
from dataclasses import replace

from aomultirl import checks, descriptions, plugins
from aomultirl.agents import OneEpisode
from aomultirl.agents.base import Agent
from aomultirl.analysis.live.records import Facts, Player
from aomultirl.analysis.recording import BELIEF
from aomultirl.experiments.cells import Cell
from aomultirl.learning import Learner
from aomultirl.model_set import ModelSet


def choose(cells: Sequence[Cell], world: str | None = None, agent: str | None = None) -> Cell:
    """The first cell whose agent recognises worlds; those that believe in worlds while they act come before others.

    Parameters
    ----------
    world, agent
        a word that must be in the name of the cell's world, or in the label of its agent, in any case.

    Raises
    ------
    ValueError
        there is none; the message names what there is.
    """
    left = list(cells)
    for argument, word, name_of in (("world", world, world_of), ("agent", agent, lambda cell: cell.label)):
        if word is not None:
            there = list(dict.fromkeys(map(name_of, left)))
            left = [cell for cell in left if word.lower() in name_of(cell).lower()]
            if not left:
                raise checks.Refusal(argument, f"is {checks.shown(word)}, which is in none of {'; '.join(there)}")
    ranked = sorted((cell for cell in left if recognition(cell)), key=lambda cell: recognition(cell) != BELIEF)
    if not ranked:
        labels = ", ".join(dict.fromkeys(cell.label for cell in left))
        raise ValueError(f"no agent here recognises worlds, as Recall does: there are {labels}")
    return ranked[0]


def of_run(cell: Cell, number: int, runs: int) -> Cell:
    """The same cell in the run of this number, of so many runs."""
    return replace(cell, number=checks.integer("run", number, least=0, most=runs - 1))


def world_of(cell: Cell) -> str:
    """The worlds of a cell in words."""
    return descriptions.label(cell.world["name"], cell.world["parameters"])


def recognition(cell: Cell) -> str:
    """How the agent of a cell recognises worlds; empty where it does not, or where nobody here knows it."""
    name = cell.agent["name"]
    return getattr(plugins.find("agent", name), "recognition", "") if plugins.is_known("agent", name) else ""


def facts_of(cell: Cell, agent: Agent, origin: str, *, plays: bool) -> Facts:
    """What does not change while the cell is shown."""
    return Facts(
        agent=cell.label,
        world=cell.world["name"],
        parameters=descriptions.words(cell.world["parameters"]),
        stream=descriptions.label(cell.stream["name"], cell.stream["parameters"]),
        number=cell.number,
        episodes=cell.episodes,
        steps=agent.episode_steps,
        origin=origin,
        is_told="task" in agent.told,
        plays=plays,
    )


def without_memory(agent: Agent) -> OneEpisode | None:
    """The learner of an agent alone, which begins every episode with nothing; None where nobody can say what that is.

    Examples
    --------
    >>> import aomultirl as ao
    >>> alone = without_memory(ao.agents.Recall(0.03, horizon=500))
    >>> type(alone).__name__, alone.horizon, alone.learner == ao.learning.Practical()
    ('OneEpisode', 500, True)
    """
    learner, steps = getattr(agent, "learner", None), agent.episode_steps
    if not isinstance(learner, Learner) or steps is None:
        return None
    return OneEpisode(learner, steps, rewards=getattr(agent, "rewards", "known"))


def forgetful() -> Player:
    """Who plays the same episodes without a memory."""
    return Player("the same learner without memory", forgets=True)


def is_without_memory(cell: Cell, agent: Agent) -> bool:
    """Whether a cell's agent is the learner of ``agent`` alone, under whatever name."""
    alone = without_memory(agent)
    try:
        other = descriptions.make(cell.agent, "agent")
    except (ValueError, TypeError):  # of a plug-in that is not loaded, or what a stranger wrote
        return False
    return alone is not None and (
        isinstance(other, OneEpisode)
        and descriptions.describe(other.learner) == descriptions.describe(alone.learner)
        and (other.horizon, other.rewards) == (alone.horizon, alone.rewards)
    )


def rivals(cell: Cell, cells: Sequence[Cell], agent: Agent, most: int) -> list[tuple[Player, Cell]]:
    """Others who play the same episodes, at most so many, and their cells: first who has no memory."""
    same = [other for other in cells if other != cell and replace(other, agent=cell.agent, label=cell.label) == cell]
    told = [(is_without_memory(other, agent), other) for other in same]
    ranked = sorted(told, key=lambda one: not one[0])
    return [(forgetful() if alone else Player(other.label), other) for alone, other in ranked][:most]


def can_say_the_best(cell: Cell, models: ModelSet, agent: Agent) -> bool:
    """Whether what an episode can earn at best is worked out: where the experiment asks for regrets, which need it."""
    return "regret" in cell.record and agent.episode_steps is not None and models.rest == 0.0


def best_of(models: ModelSet, agent: Agent, task: int, start: int) -> float:
    """What an episode can earn at best."""
    assert agent.episode_steps is not None
    return float(models[task].first_values(agent.episode_steps)[start])
