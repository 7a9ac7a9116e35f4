"""The suite ``identify``: how many steps it takes to recognise a world."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from aomultirl.experiments.paper import GAMMA, SEPARATION
from aomultirl.experiments.suites.cases import RUN, STEPS, SuiteCase, Target
from aomultirl.experiments.suites.players import FAILURE
from aomultirl.experiments.suites.scenes import world

EPISODES, HORIZON = 200, 200_000
"""K and H, so long that every episode ends with a verdict."""


def identify_suite() -> list[SuiteCase]:
    """Steps to recognise a world, for what the agent is told."""
    cases = []
    for edges in ("third", "stay"):
        place, grid = f"grid, {edges}", world("gridworld", edges=edges)
        slack = 1.0 if edges == "third" else 1.3
        gamma = {"distinguishing_set": [list(pair) for pair in GAMMA]}
        cases += [
            _case(place, grid, "Gamma, lambda", 130 * slack, SEPARATION, gamma, pairs=GAMMA),
            _case(place, grid, "lambda", 1600 * slack, SEPARATION),
            replace(
                _case(place, grid, "M, lambda", 45_000 * slack, SEPARATION, {"models": 4}),
                stream={"name": "paper", "parameters": {"each_first": True}},
                episodes=EPISODES + 4,
                aim=RUN,
                separation=None,
            ),
        ]
    for separation, target in ((1.0, 4_500.0), (0.7, 10_000.0)):
        sizes: dict[str, Any] = {"states": 16, "actions": 4, "models": 6, "successors": 5}
        worlds = world("random_models", **sizes, separation=separation)
        cases.append(_case(f"random, {separation:g}", worlds, "lambda", target, separation - 1e-6))
    return cases


def _case(
    place: str,
    worlds: dict[str, Any],
    told: str,
    target: float,
    separation: float,
    known: Mapping[str, Any] = MappingProxyType({}),
    pairs: tuple[tuple[int, int], ...] | None = None,
) -> SuiteCase:
    """Identification is what is measured, so no steps are spent on learning: the episode ends with the verdict."""
    parameters = {"failure": FAILURE, "horizon": HORIZON, "separation": separation, **known, "learning": False}
    return SuiteCase(
        place=place,
        told=told,
        world=worlds,
        stream={"name": "paper", "parameters": {}},
        agent={"name": "SequentialAOMultiRL", "parameters": parameters},
        episodes=EPISODES,
        horizon=HORIZON,
        aim=STEPS,
        targets=(Target("steps", target),),
        separation=separation,
        pairs=pairs,
    )
