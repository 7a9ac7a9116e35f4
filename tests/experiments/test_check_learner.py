"""``check_learner`` and ``check_explorer`` say in one ContractError what is wrong with a learner or an explorer."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.experiments import ContractError
from aomultirl.experiments.cells import Cell
from aomultirl.experiments.computation import compute
from aomultirl.extending import ASK, Explorer, Learner, Learning, Table, empty_table, follow, kernel, register


class Steps(NamedTuple):
    """Acts at random at first, and by step; ``episode`` is how many episodes were known when it began."""

    table: Table
    episode: int


@kernel
def _fill(behaviour, counts, step, state, stream):
    table = behaviour.table
    table.plan[step * table.stride + state] = (step + state) % 2


register(Steps, prepare=_fill)


class Mute(NamedTuple):
    table: Table


@kernel
def _mute(behaviour, counts, step, state, action, successor, reward, ended):
    behaviour.table.budget[state] = 1


register(Mute, attend=_mute)


class Broken(NamedTuple):
    table: Table


@kernel
def _broken(behaviour, counts, step, state, stream):
    behaviour.table.plan[state] = behaviour.values[state]


register(Broken, prepare=_broken)


class ByStepLearning(Learning):
    """Arrays by step of the horizon that it began with, and the number of episodes."""

    def nothing(self):
        known, size = super().nothing(), (self.horizon, self.setting.n_states)
        known.own["visits"], known.own["episodes"] = np.zeros(size, np.int64), np.zeros(1, np.int64)
        return known

    def act(self, known, steps, stream):
        n_states = self.setting.n_states
        table = empty_table(n_states)._replace(plan=np.full(steps * n_states, ASK, np.int32), stride=n_states)
        return Steps(table, int(known.own["episodes"][0]))

    def learn(self, into, ran):
        super().learn(into, ran)
        if isinstance(ran.phase.behaviour, Steps) and ran.phase.behaviour.episode != into.own["episodes"][0]:
            raise RuntimeError("act() was given less than what is known")
        into.own["episodes"] = into.own["episodes"] + 1

    def best(self, known, steps, stream):
        return known.own["visits"][:steps].astype(np.int32)


@dataclass(frozen=True)
class ByStep(Learner):
    """Keeps arrays by step."""

    def begin(self, setting, horizon, share):
        learning = ByStepLearning(setting, self)
        learning.horizon = horizon
        return learning


class PlainLearning(Learning):
    """Takes the first action for ever."""

    def act(self, known, steps, stream):
        return follow(np.zeros(self.setting.n_states, np.int32))

    def best(self, known, steps, stream):
        return np.zeros(self.setting.n_states, np.int32)


class MuteLearning(PlainLearning):
    """Its behaviour's attend returns nothing."""

    def act(self, known, steps, stream):
        return Mute(empty_table(self.setting.n_states)._replace(plan=np.zeros(self.setting.n_states, np.int32)))


class BrokenLearning(PlainLearning):
    """Its behaviour's prepare does not compile."""

    def act(self, known, steps, stream):
        return Broken(empty_table(self.setting.n_states))


class ListLearning(PlainLearning):
    """Its own array is a list."""

    def nothing(self):
        known = super().nothing()
        known.own["path"] = [1, 2]
        return known


class LaterListLearning(ListLearning):
    """Its own array becomes a list when it learns."""

    def nothing(self):
        known = super().nothing()
        known.own["path"] = np.zeros(2)
        return known

    def learn(self, into, ran):
        super().learn(into, ran)
        into.own["path"] = [1, 2]


class ForgetfulLearning(PlainLearning):
    """Its own array never changes."""

    def nothing(self):
        known = super().nothing()
        known.own["q"] = np.ones(3)
        return known


class ShortLearning(PlainLearning):
    """Its act takes too few arguments."""

    def act(self, known):
        return None


class FailingLearning(PlainLearning):
    """It fails on the way."""

    def best(self, known, steps, stream):
        return {}["nothing"]


@dataclass(frozen=True)
class Plain(Learner):
    """Any of these."""

    made: type = PlainLearning

    def begin(self, setting, horizon, share):
        return self.made(setting, self)


@dataclass(frozen=True)
class NoShare(Learner):
    """Its begin takes too little."""

    def begin(self, setting, horizon):
        return PlainLearning(setting, self)


def test_a_learner_by_step_that_keeps_arrays_does_in_every_agent():
    """Its arrays are long enough for two stages and for doubling, and both phases' samples come with its own arrays."""
    ao.check_learner(ByStep())


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (NoShare(), r"NoShare.begin \(.*test_check_learner.py:\d+\) fails with TypeError: .*takes 3 positional"),
        (Plain(ShortLearning), r"ShortLearning.act \(.*py:\d+\) fails with TypeError: .*takes 2 positional"),
        (Plain(FailingLearning), r"FailingLearning.best \(.*py:\d+\) fails with KeyError: 'nothing'"),
        (Plain(MuteLearning), r"the behaviour Mute has a kernel _mute \(.*py:\d+\) for attend that returns none"),
        (Plain(BrokenLearning), r"the behaviour Broken has a kernel _broken \(.*py:\d+\) for prepare .*: Unknown attr"),
        (Plain(ListLearning), r"own\['path'\] of what is known is \[1, 2\], not an array"),
        (Plain(LaterListLearning), r"own\['path'\] of what is known is \[1, 2\], not an array"),
        (Plain(ForgetfulLearning), r"learn\(\) leaves every array of own as nothing\(\) gave it"),
    ],
)
def test_what_is_wrong_with_a_learner_is_one_sentence(learner, words):
    with pytest.raises(ContractError, match=words) as broken:
        ao.check_learner(learner)
    assert "\n" not in str(broken.value)


def test_a_refused_parameter_of_the_learner_stays_a_refusal():
    with pytest.raises(ao.checks.Refusal, match="bonus_scale must be"):
        ao.check_learner(ao.learning.UCBVI(bonus_scale=-1.0))


@dataclass(frozen=True)
class Odd(Explorer):
    """Its behaviour takes one argument less, or gives one whose kernel does not compile."""

    def behaviour(self, targets, needed):
        return None


@dataclass(frozen=True)
class Incompilable(Explorer):
    """Its behaviour's kernel does not compile."""

    def behaviour(self, targets, needed, failure):
        return Broken(empty_table(len(targets)))


@pytest.mark.parametrize(
    ("explorer", "words"),
    [
        (Odd(), r"Odd.behaviour \(.*py:\d+\) fails with TypeError: .*takes 3 positional"),
        (Incompilable(), r"the behaviour Broken has a kernel _broken \(.*py:\d+\) for prepare that does not compile"),
    ],
)
def test_what_is_wrong_with_an_explorer_is_one_sentence(explorer, words):
    with pytest.raises(ContractError, match=words) as broken:
        ao.check_explorer(explorer)
    assert "\n" not in str(broken.value)


class Unlucky(ao.agents.Pooled):
    """A learner alone whose kernel does not compile."""

    def __init__(self, horizon: int = 20) -> None:
        super().__init__(Plain(BrokenLearning), horizon)


def test_a_cell_of_a_sweep_that_fails_says_it_too(monkeypatch):
    from aomultirl import descriptions

    parts = {"name": "gridworld", "parameters": {}}, {"name": "uniform", "parameters": {}}
    cell = Cell(*parts, {"name": "Random", "parameters": {"horizon": 20}}, 2, 0, 0, "broken")
    make = descriptions.make
    monkeypatch.setattr(descriptions, "make", lambda told, kind: Unlucky() if kind == "agent" else make(told, kind))
    error = compute(cell).error
    assert error.startswith("KernelError: the behaviour Broken has a kernel _broken (")
    assert len(error) < 700
