"""Phases of behaviours, run inside compiled loops.

The loops of :mod:`.walking` know the table of a behaviour (:mod:`.behaviours`) and nothing else; they are left when an
entry is missing (*prepare* it) or when one needs a look (*attend* to it), which is done here.  The agent's stream is
drawn from where ``prepare`` breaks a tie too, so keeping a decision never changes the draws.
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.engine.behaviours import ASK, Table, attend, kernels_of, prepare
from aomultirl.engine.compiling import borrowing, kernel
from aomultirl.engine.counts import Counts, CountTable
from aomultirl.engine.kernel_faults import FAULTS, refuse_kernel
from aomultirl.engine.random import RandomStream
from aomultirl.engine.sampling import AliasTables
from aomultirl.engine.signals import DECISION, STRETCH, serve_signals
from aomultirl.engine.walking import (
    ACTION,
    END,
    ENDED,
    LOOK,
    MISSING,
    NOTHING_KNOWN,
    NOWHERE,
    STATE,
    STEP,
    SUCCESSOR,
    SimulatedEpisode,
    arrive,
    walk_and_count,
)


@borrowing
def _run(
    episode: SimulatedEpisode,
    behaviour: Any,
    counts: Counts,
    known: NDArray[np.uint32],
    sums: NDArray[np.float64],
    place: NDArray[np.int64],
    last: int,
    stretch: int,
    total: float,
) -> tuple[float, bool, bool]:
    """Run a behaviour up to the last step: (total reward, it reached its aim, the counts want more room).

    stretch: steps after which the inner loop is left, at the latest, to look for signals.

    The place says whether the world ended the episode.  Ends early, and says none of these, where ``prepare`` left an
    entry that is no action: it would be asked for ever.
    """
    table = behaviour.table
    n_actions = len(counts.heads) // len(table.budget)
    finished, crowded, spent = False, False, 0
    while place[STEP] < last and not (finished or crowded or place[ENDED]):
        begin = place[STEP]
        needs, reward, total, crowded = walk_and_count(
            episode, table, counts, known, sums, place, last, stretch, total, True
        )
        if needs == MISSING:
            prepare(behaviour, counts, place[STEP], place[STATE], episode.agent)
            entry = table.plan[place[STEP] * table.stride + place[STATE]]
            if entry < 0 or entry > n_actions:
                break
        elif needs & LOOK:
            step, ended = place[STEP] - 1, needs & END > 0
            finished = attend(behaviour, counts, step, place[STATE], place[ACTION], place[SUCCESSOR], reward, ended)
            arrive(place, needs)
        spent = serve_signals(spent, place[STEP] - begin + DECISION)
    return total, finished, crowded


@dataclass
class Phase:
    """A behaviour for some steps, or until it has reached its aim.

    behaviour
        a record whose first field is a :class:`Table`.
    steps
        at most so many.
    counts
        where every transition is counted.
    sums
        (S * A,), where rewards are added; empty if nobody asks.
    part
        "clustering" or "learning": what the history calls it.
    """

    behaviour: Any
    steps: int
    counts: CountTable
    sums: NDArray[np.float64]
    part: str = "learning"


@kernel
def _within(plan: NDArray[np.int32], least: int, most: int) -> bool:
    for entry in plan:  # noqa: SIM110
        if entry < least or entry > most:
            return False
    return True


def check_phase(phase: Any, n_states: int, n_actions: int) -> None:
    """Refuse what the compiled loops would not survive: they do not check their indices."""
    if not isinstance(phase, Phase):
        raise ValueError(f"an episode yielded {checks.shown(phase)}, not a Phase")
    checks.integer("the steps of a phase", phase.steps, least=0)
    table = getattr(phase.behaviour, "table", None)
    if not isinstance(table, Table):
        raise ValueError(f"the behaviour {checks.shown(phase.behaviour)} has no Table in its field 'table'")
    kernels = kernels_of(type(phase.behaviour))
    if kernels is None:
        name = type(phase.behaviour).__name__
        raise ValueError(
            f"the behaviour {name} was never registered: call register({name}, prepare=..., attend=...) of "
            "aomultirl.engine.behaviours where the class is defined"
        )
    pairs = n_states * n_actions
    if not isinstance(phase.counts, CountTable) or len(phase.counts.record.heads) != pairs:
        raise ValueError(f"the counts of a phase must be a CountTable of S * A = {pairs} pairs")
    for name, kind, sizes in (("budget", np.int64, (n_states,)), ("watch", np.bool_, (n_states,))):
        array = getattr(table, name)
        if array.dtype != kind or array.shape != sizes:
            raise ValueError(f"the {name} of a behaviour must be {kind.__name__} of shape {sizes}")
    if phase.sums.dtype != np.float64 or phase.sums.shape not in ((0,), (pairs,)):
        raise ValueError(f"the sums of a phase must be empty or of shape ({pairs},), not {phase.sums.shape}")
    needed = n_states if table.stride == 0 else n_states * phase.steps
    if table.stride not in (0, n_states) or table.plan.dtype != np.int32 or table.plan.size < needed:
        raise ValueError(f"the plan of a behaviour has {table.plan.size} entries of int32, but {needed} are needed")
    least = 0 if kernels.prepare is None else ASK
    if not _within(table.plan, least, n_actions):
        raise ValueError(f"the plan of a behaviour holds entries outside {least} to {n_actions}")


def refuse_entry(phase: Phase, step: int, state: int) -> NoReturn:
    """A behaviour was asked for an entry and filled in none that is an action."""
    table, name = phase.behaviour.table, type(phase.behaviour).__name__
    entry = int(table.plan[step * table.stride + state])
    raise ValueError(f"the behaviour {name} was asked for state {state} at step {step}, and its plan says {entry}")


class Outcome(NamedTuple):
    """What came of a phase.

    steps
        taken.
    state
        where it ended.
    reward
        collected.
    finished
        the behaviour reached its aim.
    ended
        the world has ended the episode, in this phase or before: no phase gets a step any more.
    """

    steps: int
    state: int
    reward: float
    finished: bool
    ended: bool = False


class Ran(NamedTuple):
    """A phase that was run, the state it was entered in, and its outcome."""

    phase: Phase
    entered: int
    outcome: Outcome


class Walk(NamedTuple):
    """state: where it ended; reward: the sum collected; counts: every transition seen."""

    state: int
    reward: float
    counts: CountTable


class Simulator:
    """Runs phases in a world that we hold.

    Parameters
    ----------
    tables, rewards
        of the world; rewards (S, A).
    state
        where the episode starts.
    world, agent
        the streams, uint64 (4,), advanced in place.
    noisy
        rewards are 0 or 1 with mean r(s, a).
    terminal
        (S,), arriving in these states ends the episode; empty where nothing does.

    Attributes
    ----------
    ended
        the world has ended the episode.
    """

    def __init__(
        self,
        tables: AliasTables,
        rewards: NDArray[np.float64],
        state: int,
        world: RandomStream,
        agent: RandomStream,
        noisy: bool = False,
        terminal: NDArray[np.bool_] = NOWHERE,
    ) -> None:
        self.n_states, self.n_actions = rewards.shape
        self.state = state
        self.ended = bool(len(terminal) and terminal[state])
        self._episode = SimulatedEpisode(*tables, rewards.reshape(-1), noisy, terminal, world, agent)

    def run(self, phase: Phase) -> Outcome:
        """Run one phase to its end."""
        check_phase(phase, self.n_states, self.n_actions)
        place = np.array([0, self.state, 0, 0, self.ended], np.int64)
        reward, finished, steps = 0.0, False, phase.steps
        n_entries = len(self._episode.cells)
        known = np.zeros(n_entries, np.uint32) if steps >= n_entries else NOTHING_KNOWN
        follows_its_table = kernels_of(type(phase.behaviour)) == (None, None)
        while place[STEP] < steps and not (finished or place[ENDED]):
            on = (phase.counts.record, known, phase.sums, place, steps, STRETCH, reward)
            try:
                if follows_its_table:
                    _, _, reward, crowded = walk_and_count(self._episode, phase.behaviour.table, *on, False)
                else:
                    reward, finished, crowded = _run(self._episode, phase.behaviour, *on)
            except FAULTS as error:
                refuse_kernel(error, phase.behaviour, phase.counts.record, self._episode.agent)
                raise
            if crowded:
                phase.counts.make_room()
            elif not finished and not place[ENDED] and place[STEP] < steps:
                refuse_entry(phase, int(place[STEP]), int(place[STATE]))
        self.state = int(place[STATE])
        if place[ENDED] and not self.ended:
            phase.counts.end(self.state)
        self.ended = bool(place[ENDED])
        return Outcome(int(place[STEP]), self.state, reward, bool(finished), self.ended)

    def drive(self, episode: Generator[Phase, Outcome, Any]) -> tuple[Any, list[Ran]]:
        """Run an agent's episode to its end: what the agent says of it, and the phases that were run.

        Whatever fails on the way, the coroutine is closed, and the agent's memory stays as it was.
        """
        ran: list[Ran] = []
        try:
            phase = next(episode)
            while True:
                entered = self.state
                outcome = self.run(phase)
                ran.append(Ran(phase, entered, outcome))
                phase = episode.send(outcome)
        except StopIteration as end:
            return end.value, ran
        finally:
            episode.close()
