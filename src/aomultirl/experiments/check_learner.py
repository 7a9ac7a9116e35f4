"""A contract test that anyone can run on a learner of their own.

>>> import aomultirl as ao
>>> ao.check_learner(ao.learning.UCBVI(bonus_scale=0.01))
"""

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aomultirl import agents, checks
from aomultirl.engine.packed_counts import pack_counts
from aomultirl.engine.stepping import Phase
from aomultirl.experiments.check_agent import ContractError, check_agent
from aomultirl.experiments.contract_errors import asked, broken_contract
from aomultirl.experiments.episodes import episode_streams, simulated
from aomultirl.learning.base import Known, Learner, Learning, Share
from aomultirl.model_set import ModelSet
from aomultirl.setting import Setting
from aomultirl.worlds.random_models import random_models

HORIZON, EPISODES, SEED = 40, 4, 11
"""Sizes that every learner can be tried at within seconds."""
DOUBLINGS = 4
"""The doubling agent's clustering phase begins with a visit of every pair, and may grow to less than so many."""


def check_learner(learner: Learner, models: ModelSet | None = None) -> None:
    """Raise :class:`ContractError` if ``learner`` does not do what agents rely on.

    It must be a frozen dataclass that its fields make again.  ``act`` and ``best`` must leave what is known alone, and
    give a behaviour that can be run and a plan of actions; ``learn`` must count every step of the episode.  Known
    rewards and unknown ones are tried, the learner alone in its three forms, and inside AOMultiRL, with the samples of
    one phase and of both, in two stages, and doubling, each as :func:`aomultirl.check_agent` tries any agent: in both
    drivers, given up, saved and loaded.

    Parameters
    ----------
    learner
        an instance.
    models
        the worlds to try it on; two small random ones by default.
    """
    check_is_record(learner, Learner, "a learner")
    worlds = read_worlds(models)
    for rewards in ("known", "unknown"):
        with broken_contract():
            _check_learning(learner, worlds, rewards)
        for form in (agents.OneEpisode, agents.Pooled, agents.Told):
            _check_form(form(learner, HORIZON, failure=0.1, rewards=rewards), worlds, EPISODES)
    phases = {"samples": 4, "clustering_horizon": 400, "learning_horizon": HORIZON}
    for reuse in (False, True):
        check_inside_aomultirl(worlds, EPISODES, learner=learner, reuse_samples=reuse, **phases)
    level = _level(worlds)
    discovering = agents.TwoStageAOMultiRL(
        len(worlds),
        level,
        5.0,
        0.1,
        learning_horizon=HORIZON,
        first_learning_horizon=HORIZON // 2,
        first_clustering_horizon=400,
        clustering_horizon=400,
        samples=4,
        learner=learner,
    )
    _check_form(discovering, worlds, EPISODES)
    room = DOUBLINGS * worlds.n_states * worlds.n_actions + HORIZON
    doubling = agents.DoublingAOMultiRL(len(worlds), level, 0.1, horizon=room, samples=1, learner=learner)
    _check_form(doubling, worlds, EPISODES)


def read_worlds(models: ModelSet | None) -> ModelSet:
    """The worlds to try something on; two small random ones where none are given."""
    if models is None:
        return random_models(6, 3, 2, 3, 1.0, 0)
    if not isinstance(models, ModelSet) or len(models) < 2:
        raise checks.Refusal("models", f"is {checks.shown(models)}, not a ModelSet of two worlds or more")
    return models


def check_inside_aomultirl(worlds: ModelSet, episodes: int, **parameters: Any) -> None:
    """Check AOMultiRL with these parameters, of which one is what is tried."""
    _check_form(agents.AOMultiRL(len(worlds), _level(worlds), 5.0, 0.1, **parameters), worlds, episodes)


def _level(worlds: ModelSet) -> float:
    """A lambda that the worlds keep."""
    return min(worlds.separation(), 2.0) - 1e-6


def _check_form(agent: agents.Agent, worlds: ModelSet, episodes: int) -> None:
    with broken_contract(f"inside {type(agent).__name__}: "):
        check_agent(agent, worlds, episodes)


def check_is_record(thing: Any, base: type, noun: str) -> None:
    """Refuse what is not a frozen dataclass derived from ``base`` that its own fields make again."""
    if not isinstance(thing, base):
        raise ContractError(f"{checks.shown(thing)} is not {noun}: derive it from {base.__module__}.{base.__name__}")
    kind = type(thing)
    frozen = dataclasses.is_dataclass(kind) and kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
    if not frozen:
        raise ContractError(f"{kind.__name__} is not a frozen dataclass, so it cannot be described and shared")
    fields = {field.name: getattr(thing, field.name) for field in dataclasses.fields(thing)}  # type: ignore[arg-type]
    if kind(**fields) != thing:
        raise ContractError(f"{kind.__name__} is not made again by its fields")


def _check_learning(learner: Learner, worlds: ModelSet, rewards: str) -> None:
    """One episode, step by step."""
    told = np.array(worlds.rewards) if rewards == "known" else None
    setting = Setting(worlds.n_states, worlds.n_actions, told, EPISODES)
    learning = asked(learner.begin, setting, HORIZON, Share(0.1, EPISODES, len(worlds), HORIZON))
    if not isinstance(learning, Learning):
        raise ContractError(f"begin() gave {checks.shown(learning)}, not a Learning")
    known, stream = asked(learning.nothing), episode_streams(SEED, "agent", 1)[0]
    _check_own(known)
    for episode in range(2):
        before, tally = _frozen(known), asked(learning.tally)
        behaviour = asked(learning.act, known.during(tally), HORIZON, stream)
        simulator = simulated(worlds[0], 0, episode_streams(SEED, "world", 2)[episode], stream)
        _, (ran,) = simulator.drive(single(Phase(behaviour, HORIZON, tally.counts, tally.sums)))
        if _frozen(known) != before:
            raise ContractError("act() changes what is known: an episode may be given up, so only learn() may")
        if ran.outcome.steps != HORIZON or ran.outcome.finished:
            raise ContractError(f"the behaviour stopped after {ran.outcome.steps} of {HORIZON} steps")
        visits = int(known.counts.to_lists()[2].sum())
        asked(learning.learn, known, ran)
        _check_own(known)
        gained = int(known.counts.to_lists()[2].sum()) - visits
        if gained != HORIZON:
            raise ContractError(f"learn() counted {gained} of {HORIZON} steps: every sample must join what is known")
        _check_plan(learning, known, stream)
    fresh = learning.nothing()
    if _frozen(fresh) == _frozen(known):
        raise ContractError("nothing() gives what was learned: it must give a new record at every call")
    forgotten = all(np.array_equal(array, known.own[name]) for name, array in fresh.own.items())
    # In a world where a step may earn nothing, two episodes may leave nothing to learn.
    if fresh.own and forgotten and worlds.rewards.min() > 0.0:
        raise ContractError("learn() leaves every array of own as nothing() gave it: what was learned is forgotten")


def single(phase: Phase) -> Any:
    """An episode of one phase."""
    yield phase


def _check_plan(learning: Learning, known: Known, stream: Any) -> None:
    before = _frozen(known)
    plan = asked(learning.best, known, HORIZON, stream)
    if _frozen(known) != before:
        raise ContractError("best() changes what is known")
    n_states, n_actions = learning.setting.n_states, learning.setting.n_actions
    shapes = ((n_states,), (HORIZON, n_states))
    if not isinstance(plan, np.ndarray) or plan.dtype != np.int32 or plan.shape not in shapes:
        raise ContractError(f"best() gave {checks.shown(plan)}, not int32 of shape {shapes[0]} or {shapes[1]}")
    if plan.min() < 0 or plan.max() > n_actions:
        raise ContractError(f"best() gave actions outside 0 to {n_actions}, which stands for acting at random")


def _check_own(known: Known) -> None:
    """Refuse arrays of the learner's own that are none: files could not keep them."""
    for name, array in known.own.items():
        if not isinstance(array, np.ndarray):
            raise ContractError(f"own[{name!r}] of what is known is {checks.shown(array)}, not an array")


def _frozen(known: Known) -> list[bytes]:
    """All that is known, as bytes that can be compared."""
    arrays: list[NDArray[Any]] = [
        *pack_counts(known.counts),
        known.sums,
        *(known.own[name] for name in sorted(known.own)),
    ]
    return [array.tobytes() for array in arrays]
