"""A kernel that a driver cannot be compiled with: one sentence, the same from both drivers, that names it."""

from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from aomultirl import MDP
from aomultirl.engine.behaviours import Table, empty_table, register
from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import CountTable
from aomultirl.engine.interacting import Session
from aomultirl.engine.kernel_faults import LONGEST, KernelError
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Phase, Simulator

WORLD = MDP(np.full((2, 2, 2), 0.5), np.zeros((2, 2)))


class Misspelt(NamedTuple):
    table: Table


class Silent(NamedTuple):
    table: Table


class SometimesSilent(NamedTuple):
    table: Table


class Untyped(NamedTuple):
    table: Table
    notes: object


class Sound(NamedTuple):
    table: Table
    values: NDArray[np.float64]


@kernel
def act(behaviour, counts, step, state, stream):
    behaviour.table.plan[state] = 0


@kernel
def misspelt(behaviour, counts, step, state, stream):
    behaviour.table.plan[state] = 0
    behaviour.tabel.plan[state] = 0


@kernel
def silent(behaviour, counts, step, state, action, successor, reward, ended):
    behaviour.table.budget[state] = 1


@kernel
def sometimes_silent(behaviour, counts, step, state, action, successor, reward, ended):
    behaviour.table.budget[state] = 1
    if step > 1:
        return False


register(Misspelt, prepare=misspelt)
register(Silent, prepare=act, attend=silent)
register(SometimesSilent, prepare=act, attend=sometimes_silent)
register(Untyped, prepare=act)
register(Sound, prepare=act)


def in_the_simulator(behaviour):
    world, agent = streams(0, 2)
    simulator = Simulator(WORLD.alias_tables, WORLD.gains, 0, world, agent)
    simulator.run(Phase(behaviour, 5, CountTable(4), np.empty(0)))


def step_by_step(behaviour):
    def episode():
        yield Phase(behaviour, 5, CountTable(4), np.empty(0))

    session = Session(episode(), 2, 2, 0, streams(0, 1)[0])
    while not session.over:
        session.act()
        session.observe(0, 0.0)


LINE = misspelt.py_func.__code__.co_firstlineno + 3
"""Of the misspelt name: Numba says it, and it helps more than the first line of the kernel."""


@pytest.mark.parametrize("drive", [in_the_simulator, step_by_step])
@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        (Misspelt, rf"Misspelt has a kernel misspelt \(.*py:{LINE}\) for prepare that does not compile: Unknown attr"),
        (
            Silent,
            r"the behaviour Silent has a kernel silent \(.*py:\d+\) for attend that returns none: it must",
        ),
        (SometimesSilent, r"a kernel sometimes_silent \(.*py:\d+\) for attend that returns (Opt|opt)"),
    ],
)
def test_a_kernel_that_a_driver_cannot_take_is_named_in_one_sentence(drive, behaviour, words):
    with pytest.raises(KernelError, match=words) as refused:
        drive(behaviour(empty_table(2)))
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < LONGEST + 300


@pytest.mark.parametrize("drive", [in_the_simulator, step_by_step])
def test_a_field_that_compiled_code_cannot_take_is_named(drive):
    with pytest.raises(KernelError, match="the behaviour Untyped has a field notes that compiled code cannot take: "):
        drive(Untyped(empty_table(2), object()))


@pytest.mark.parametrize("drive", [in_the_simulator, step_by_step])
def test_sound_kernels_run(drive):
    drive(Sound(empty_table(2), np.zeros(2)))
