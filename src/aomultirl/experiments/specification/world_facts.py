"""What worlds say to agents that ask, and whether agents and streams fit the worlds, before anything runs.

``separation`` is told just below the exact one, as :meth:`ModelSet.default_level` has it: worlds must differ by *more*
than lambda somewhere, and rounding hides the difference at lambda itself.  It is rounded to nine decimals, and
``hitting_time``, a bound, up to thousandths, so that all machines write down the same cell.  ``distinguishing_set`` is
a smallest one at the level that the agent tests at: its ``level``, else its ``separation``.  ``means`` are those of
worlds that are bandits.
"""

import math
import time
import warnings
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from aomultirl import checks, descriptions, plugins
from aomultirl.agents import Setting
from aomultirl.experiments.cells import make_world
from aomultirl.experiments.specification.expansion import Variant
from aomultirl.experiments.specification.parameters import FACTS, FROM_WORLD, parameters_of
from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet
from aomultirl.streams import Past
from aomultirl.worlds.bandits import means_of

SECONDS = 60.0
"""How long a fact may take to be found."""
LONGEST = 1e14
"""Steps beyond which a hitting time is not exact."""
LONGEST_REASON = 300
"""Characters of what a world, a stream or an agent says against its parameters."""
BAD = (ValueError, TypeError, ArithmeticError, LookupError, ImportError)


class NoFactError(Exception):
    """The worlds do not have what was asked; the message says why."""


class WorldFacts:
    """A set of worlds, made once; each fact is found when it is asked for the first time."""

    def __init__(self, world: Variant) -> None:
        self.world = world
        try:
            self.models = make_world(world.described())
        except BAD as error:
            raise refusal(world, error) from None
        self._facts: dict[tuple[str, float | None], Any] = {}

    @property
    def sizes(self) -> tuple[int, int, int]:
        """(S, A, M): all of the worlds that the checks of an agent's parameters depend on."""
        return self.models.n_states, self.models.n_actions, len(self.models)

    def told(self, agent: Variant) -> dict[str, Any]:
        """The agent's parameters with what it asks for, or needs and was not given."""
        known = parameters_of(plugins.find("agent", agent.name))
        told = dict(agent.parameters)
        for name in FACTS:
            needed = name in known and known[name].required and name not in told
            if not needed and told.get(name) != FROM_WORLD:
                continue
            if needed and name == "hitting_time" and self._does_without(agent, told):
                told[name] = None
                continue
            level = told.get("level", told.get("separation")) if name == "distinguishing_set" else None
            try:
                told[name] = self._fact(name, level)
            except NoFactError as none:
                raise ValueError(
                    f"{agent.place} needs {name}, and {self.world.place} has none: {none}; "
                    "give one, or take another agent"
                ) from None
        return told

    def _does_without(self, agent: Variant, told: Mapping[str, Any]) -> bool:
        """The hitting time is only needed where H0 is not given."""
        try:
            self._begin(agent.name, {**told, "hitting_time": None}, 1)
        except BAD as error:
            return not (isinstance(error, checks.Refusal) and error.argument == "hitting_time")
        return True

    def _fact(self, name: str, level: float | None) -> Any:
        if (name, level) not in self._facts:
            self._facts[name, level] = self._find(name, level)
        return self._facts[name, level]

    def _find(self, name: str, level: float | None) -> Any:
        if name == "models":
            return len(self.models)
        if name == "means":
            means = means_of(self.models)
            if means is None:
                raise NoFactError("its worlds are no bandits")
            return means.tolist()
        if name == "hitting_time":
            return _hitting_time(self.models)
        if len(self.models) == 1:
            raise NoFactError("it is a single world")
        if name == "separation":
            if self.models.separation() <= 0.0:
                raise NoFactError("two of its worlds are the same")
            exact = self.models.default_level()
            return round(exact, 9) or exact
        try:
            return [list(pair) for pair in self.models.distinguishing_set(level, time_limit=SECONDS)]
        except (ValueError, TimeoutError) as error:
            raise NoFactError(str(error)) from None

    def check_agent(self, agent: Variant, told: Mapping[str, Any], episodes: int) -> None:
        """Refuse parameters that the agent refuses in these worlds."""
        try:
            self._begin(agent.name, told, episodes)
        except BAD as error:
            raise refusal(agent, error, self.world) from None

    def _begin(self, name: str, parameters: Mapping[str, Any], episodes: int) -> None:
        agent = descriptions.make({"name": name, "parameters": parameters}, "agent")
        models = (
            _small(len(self.models)) if "models" in agent.told else None
        )  # it may plan for them at once, which takes long
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            agent.begin(
                Setting(
                    self.models.n_states, self.models.n_actions, self.models.rewards, episodes, models, self.models.rest
                )
            )

    def check_stream(self, stream: Variant, episodes: int) -> None:
        """Refuse a stream that does not fit these worlds, or ends too soon."""
        is_listed = any(isinstance(value, list) for value in stream.parameters.values())
        try:
            source = descriptions.make(stream.described(), "stream")
            source.begin(self.models, episodes, np.random.default_rng(0))
            past: list[Past] = []
            for _ in range(episodes if is_listed else 1):
                task, start = source.next(past)
                past.append(Past(task, start, -1))
        except BAD as error:
            raise refusal(stream, error, self.world) from None


@cache
def _small(count: int) -> ModelSet:
    """In place of so many worlds that an agent is told: one state, one action."""
    return ModelSet([MDP([[[1.0]]], [[0.0]])] * count)


def _hitting_time(models: ModelSet) -> float:
    """The greatest of all worlds."""
    longest, end = 0.0, time.process_time() + SECONDS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for world in models:
            try:
                longest = max(longest, world.hitting_time(end - time.process_time()))
            except TimeoutError:
                raise NoFactError(f"it was not found within {SECONDS:g} s") from None
    if longest > LONGEST:
        raise NoFactError("it is infinite" if math.isinf(longest) else f"it is beyond {LONGEST:g} steps")
    return math.ceil(1000.0 * longest - 1e-6) / 1000.0


def refusal(variant: Variant, error: Exception, world: Variant | None = None) -> ValueError:
    """What ``variant`` said when it was made, with its key, and with the world where that may be the reason."""
    message = checks.cut(str(error), LONGEST_REASON)
    where = f" in {world.place}" if world else ""
    argument, place = (error.argument, error.place) if isinstance(error, checks.Refusal) else ("", "")
    key = _key_of(argument, variant.key, variant.parameters)
    if key is None:
        return ValueError(f"{variant.place}{where}: {message}")
    return ValueError(f"{key}.{message}{where if place else ''}")


def _key_of(argument: str, key: str, parameters: Mapping[str, Any]) -> str | None:
    """Where in a file an argument was given: to the agent itself, or to what is a parameter of it; None for neither."""
    if argument in parameters:
        return key
    inner = ((f"{key}.{name}", value) for name, value in parameters.items() if descriptions.is_description(value))
    return next(filter(None, (_key_of(argument, place, value["parameters"]) for place, value in inner)), None)
