"""Every combination of worlds, agents, streams and episodes, each checked and with a label."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aomultirl import checks, descriptions
from aomultirl.experiments.cells import Cell
from aomultirl.experiments.specification.expansion import Variant
from aomultirl.experiments.specification.world_facts import WorldFacts


@dataclass(frozen=True)
class Contender:
    """An agent, and what it meets; label: that of its entry, or None."""

    agent: Variant
    streams: Sequence[Variant]
    episodes: Sequence[int]
    label: str | None


def configure(
    worlds: Sequence[Variant], players: Sequence[Contender], seed: int, record: tuple[str, ...]
) -> list[Cell]:
    """The cell of the first run of each; refuses what would not run, and what is there twice."""
    check_distinct("world", worlds)
    labels = labels_of(players)
    found: list[Cell] = []
    begun = set[tuple[str, tuple[int, int, int], int]]()
    streams = {id(stream): stream for player in players for stream in player.streams}
    texts = {number: _text("stream", stream.name, stream.parameters) for number, stream in streams.items()}
    for world in worlds:
        facts = WorldFacts(world)
        place, fitting = world.described(), set[tuple[int, int]]()
        taken: dict[tuple[str, str, int], Variant] = {}
        for player, label in zip(players, labels, strict=True):
            told = facts.told(player.agent)
            agent, text = {"name": player.agent.name, "parameters": told}, _text("agent", player.agent.name, told)
            for episodes in player.episodes:
                if (text, facts.sizes, episodes) not in begun:
                    facts.check_agent(player.agent, told, episodes)
                    begun.add((text, facts.sizes, episodes))
            for stream in player.streams:
                for episodes in player.episodes:
                    if (id(stream), episodes) not in fitting:
                        facts.check_stream(stream, episodes)
                        fitting.add((id(stream), episodes))
                    key = (text, texts[id(stream)], episodes)
                    if key in taken:
                        raise ValueError(
                            f"{player.agent.place} is the same as {taken[key].place} in {world.place}; leave one out"
                        )
                    taken[key] = player.agent
                    found.append(Cell(place, stream.described(), agent, episodes, seed, 0, label, record))
    return found


def check_distinct(noun: str, variants: Sequence[Variant]) -> None:
    """Refuse a world, or a stream, that is there twice."""
    seen: dict[str, Variant] = {}
    for variant in variants:
        text = _text(noun, variant.name, variant.parameters)
        if text in seen:
            raise ValueError(f"{variant.place} is the same as {seen[text].place}; leave one out")
        seen[text] = variant


def labels_of(players: Sequence[Contender]) -> list[str]:
    """The entry's label, or the class, with the parameters of lists and those that vary among agents called so.

    Lists of one value show too: they may grow, and the labels that are there stay as they are.
    """
    groups: dict[str, list[Variant]] = defaultdict(list)
    names = [player.agent.name if player.label is None else f"{player.agent.key} {player.label}" for player in players]
    for player, name in zip(players, names, strict=True):
        groups[name].append(player.agent)
    apart = {name: _apart([agent.parameters for agent in group]) for name, group in groups.items()}
    labels, taken = [], dict[str, Variant]()
    for player, name in zip(players, names, strict=True):
        agent = player.agent
        shown = {key: value for key, value in agent.parameters.items() if key in apart[name] or key in agent.varied}
        label = descriptions.label(agent.name if player.label is None else player.label, shown)
        if len(label) > checks.LONGEST_LABEL:
            raise ValueError(
                f"{agent.place} would be called {checks.shown(label)}, {len(label):,} characters; "
                f"at most {checks.LONGEST_LABEL:,} can be, so give fewer parameters as lists"
            )
        other = taken.setdefault(label, agent)
        if (other.name, other.parameters) != (agent.name, agent.parameters):
            raise ValueError(
                f"{agent.place} and {other.place} would both be called {checks.shown(label)}; change a label"
            )
        labels.append(label)
    return labels


def _apart(parameters: Sequence[Mapping[str, Any]]) -> set[str]:
    """The parameters that are not the same in all."""
    names = {name for each in parameters for name in each}
    return {name for name in names if len({descriptions.text(each.get(name)) for each in parameters}) > 1}


def _text(noun: str, name: str, parameters: Mapping[str, Any]) -> str:
    """The same for all that do the same: with the defaults of what was not given."""
    return descriptions.text(descriptions.filled({"name": name, "parameters": parameters}, noun))
