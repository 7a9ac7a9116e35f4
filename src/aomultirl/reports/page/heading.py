"""What the page calls itself, where nobody gave it a title."""

from collections.abc import Sequence

from aomultirl.reports.page import phrases, settings
from aomultirl.reports.page.data import Group

MOST_NAMES = 3
"""Worlds or streams that a title names."""


def title(groups: Sequence[Group]) -> str:
    """Who ran on what."""
    agents = list(dict.fromkeys(one.agent for one in groups))
    who = agents[0] if len(agents) == 1 else f"{len(agents)} agents"
    worlds = list(dict.fromkeys(one.setting.world[0] for one in groups if one.setting.world))
    return f"{who} on {phrases.listed(worlds)}" if 0 < len(worlds) <= MOST_NAMES else who


def subtitle(groups: Sequence[Group]) -> str:
    """How many agents, runs and episodes, and on which worlds and streams."""
    found = {one.setting for one in groups}
    agents = {one.agent for one in groups}
    parts = [phrases.counted(len(agents), "agent")]
    if len(agents) < len(groups):
        parts[0] += f" in {phrases.counted(len(found), 'setting')}"
    runs = {len(one.runs) for one in groups}
    episodes = {len(history) for one in groups for history in one.runs.values()}
    parts.append(f"{_many(runs, 'run')} of {_many(episodes, 'episode')}")
    worlds = dict.fromkeys(settings.world_call(one.setting.world) for one in groups if one.setting.world)
    streams = dict.fromkeys(f"stream {one.setting.stream}" for one in groups if one.setting.stream)
    for named, noun in ((list(worlds), "sets of worlds"), (list(streams), "streams")):
        if named:
            parts.append(phrases.listed(named) if len(named) <= MOST_NAMES else f"{len(named)} {noun}")
    return " · ".join(parts)


def _many(counts: set[int], noun: str) -> str:
    return f"{phrases.span(counts)} {noun}{'' if counts == {1} else 's'}"
