"""What a history says of its run: how it was made, which makes it this run and no other, and what it left behind."""

import ast
from collections.abc import Mapping
from typing import Any

import numpy as np

import aomultirl
from aomultirl import checks, descriptions
from aomultirl.agents.base import Agent
from aomultirl.engine.random import RandomStream
from aomultirl.experiments.history import TYPES, History, Row
from aomultirl.identifying.threshold import largest_distance

BOUND_POINTS = 25
"""Numbers of episodes at which the theorem's bound is worked out."""


def identity(agent: Agent, seed: int, episodes: int) -> dict[str, Any]:
    """What a history says of how it was made, wherever it was made."""
    return {
        "agent": descriptions.describe(agent),
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
        "distances": [[largest_distance(mine, other, memory.pairs) for other in records] for mine in records],
        "threshold": memory.threshold,
    }


def bound(agent: Agent, episodes: int) -> dict[str, Any]:
    """``premises`` of the theorem on an agent's regret, and its ``bound`` after k episodes, for some k.

    Both are None where no theorem is about the agent, the bound also where the run breaks a premise.
    """
    found, whole = agent.premises(), agent.regret_bound(episodes)
    told: dict[str, Any] = {"premises": found.as_json(), "bound": None}
    if whole is None:
        return told
    points = sorted({int(k) for k in np.linspace(found.least, episodes, BOUND_POINTS)})
    bounds = [whole.of_first(k, episodes) for k in points]
    parts = [(b.total, b.linear, b.root + b.constant) for b in bounds]
    total, clustering, learning = (list(part) for part in zip(*parts, strict=True))
    lines = {"episodes": [float(k) for k in points], "total": total, "clustering": clustering, "learning": learning}
    return {**told, "bound": lines}


def check_fits(history: History, mine: Mapping[str, Any], episodes: int) -> None:
    """Refuse a history that is not the beginning of the run whose identity is ``mine``."""
    if not isinstance(history, History):
        raise checks.Refusal("resume", f"is {checks.shown(history)}, not a History")
    for name, own in mine.items():
        _check_same(name, history.about.get(name), own)
    if not 1 <= len(history) <= episodes:
        raise checks.Refusal("resume", f"has {len(history)} episodes, but this run has {episodes}")
    for name, kind in Row.__annotations__.items():
        column = history[name]
        if column.dtype != TYPES[kind] or column.shape != (len(history),):
            raise checks.Refusal("resume", f"has a column {name} of {column.dtype} and shape {column.shape}")
    if not np.array_equal(history["episode"], np.arange(len(history))):
        raise checks.Refusal("resume", "does not have every episode from the first on")


def resumed_rows(history: History, mine: Mapping[str, Any], episodes: int) -> list[Row]:
    """The rows of a history that goes on; refuses one that is not the beginning of the run whose identity is ``mine``.

    ``mine`` may say less than the history: how many episodes there were to be may change.
    """
    check_fits(history, {name: own for name, own in mine.items() if name != "episodes"}, episodes)
    return [Row(*values) for values in zip(*(history[name].tolist() for name in Row._fields), strict=True)]


def _check_same(name: str, theirs: Any, own: Any) -> None:
    """Refuse what differs; of two things of the same name, the sentence names the parameter in which they differ."""
    if theirs == own:
        return
    if descriptions.is_description(theirs) and descriptions.is_description(own):
        if theirs["name"] != own["name"]:
            theirs, own = theirs["name"], own["name"]
        else:
            for key in {**own["parameters"], **theirs["parameters"]}:
                _check_same(f"{name}.{key}", theirs["parameters"].get(key), own["parameters"].get(key))
    raise checks.Refusal("resume", f"is of another run: its {name} is {checks.shown(theirs)}, not {checks.shown(own)}")


LONGEST_LITERAL = 10_000
"""Characters of a parameter in a history of the old form: more is none that a person wrote."""


def in_current_form(about: Any) -> Any:
    """What a history says of itself, as histories say it today; those of version 0.1.0 had texts of Python code.

    They named the agent's class and gave the reprs of its parameters and of the stream.  A repr that is no constant
    stays what it is: the text of an object.
    """
    if not isinstance(about, dict) or not isinstance(about.get("agent"), str):
        return about
    rest = {name: value for name, value in about.items() if name != "parameters"}
    given = about.get("parameters")
    if not isinstance(given, dict):
        return about
    rest["agent"] = {"name": about["agent"], "parameters": {name: _constant(text) for name, text in given.items()}}
    if "stream" in rest:
        rest["stream"] = _call(rest["stream"])
    return rest


def _constant(text: Any) -> Any:
    """The value that a repr stands for."""
    try:
        if len(text) > LONGEST_LITERAL:
            raise ValueError
        return descriptions.data(ast.literal_eval(text))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return {"object": text}


def _call(text: Any) -> Any:
    """The name and the keywords of a call such as ``paper(each_first=True)``; text that is none stays what it is."""
    try:
        call = ast.parse(text[:LONGEST_LITERAL], mode="eval").body
    except (TypeError, ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return text
    given = {str(keyword.arg): _constant(ast.unparse(keyword.value)) for keyword in call.keywords}
    return {"name": call.func.id, "parameters": given}
