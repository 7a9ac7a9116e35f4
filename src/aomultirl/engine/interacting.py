"""The same phases, one step at a time, for a world that we do not hold.

:class:`Session` turns an agent's coroutine inside out: a person, or a loop around a Gymnasium environment, asks
:meth:`Session.act` and tells :meth:`Session.observe`.  The behaviours are the ones that the simulator runs, with the
same draws in the same order, so the same observations lead to the same actions, bit for bit.
"""

from collections.abc import Generator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.engine.behaviours import attend, prepare
from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import VISITS, Counts, CountTable, find, insert
from aomultirl.engine.kernel_faults import FAULTS, refuse_kernel
from aomultirl.engine.random import RandomStream, draw_below
from aomultirl.engine.stepping import Outcome, Phase, Ran, check_phase, refuse_entry

U = np.uint64


@kernel
def _act(behaviour: Any, counts: Counts, step: int, state: int, agent: RandomStream) -> int:
    """The action for a state, at a step of the phase."""
    table = behaviour.table
    n_actions = len(counts.heads) // len(table.budget)
    entry = table.plan[step * table.stride + state]
    if entry < 0:
        prepare(behaviour, counts, step, state, agent)
        entry = table.plan[step * table.stride + state]
    return draw_below(n_actions, agent) if entry == n_actions else int(entry)


@kernel
def _observe(
    behaviour: Any,
    counts: Counts,
    sums: NDArray[np.float64],
    step: int,
    state: int,
    action: int,
    successor: int,
    reward: float,
    ended: bool,
) -> tuple[bool, bool]:
    """(the behaviour reached its aim, the counts want more room), in the order of the simulator's loop."""
    table = behaviour.table
    n_actions = len(counts.heads) // len(table.budget)
    pair = state * n_actions + action
    at_random = table.plan[step * table.stride + state] == n_actions
    if len(sums) > 0:
        sums[pair] += reward
    table.budget[state] -= 1
    finished, crowded = False, False
    slot = find(counts.heads, counts.slots, U(pair), U(successor))
    if counts.slots[slot] >= 0:
        counts.slots[slot + U(VISITS)] += 1
    else:
        crowded = insert(counts, pair, successor)
    if table.budget[state] == 0 or (at_random and table.watch[successor]):
        finished = attend(behaviour, counts, step, state, action, successor, reward, ended)
    return finished, crowded


def check_scaled(name: str, reward: float) -> None:
    """Refuse a reward outside [0, 1]; ``name`` says which one it is."""
    if not 0.0 <= reward <= 1.0:
        raise ValueError(f"{name} is {reward:g}, outside [0, 1]: rewards that are learned must be scaled to it")


class Session:
    """One episode of an agent, from outside.

    Parameters
    ----------
    episode
        what the agent's ``episode`` method returned.
    n_states, n_actions
        S and A.
    start
        the first state.
    stream
        the agent's, uint64 (4,), advanced in place.

    Attributes
    ----------
    over
        the agent has no more to do in this episode; ``report`` is what it says of it.
    ended
        the world ended the episode.
    ran
        the phases so far.
    """

    def __init__(
        self, episode: Generator[Phase, Outcome, Any], n_states: int, n_actions: int, start: int, stream: RandomStream
    ) -> None:
        start = checks.integer("start", start, least=0, most=n_states - 1)
        self._episode, self._stream = episode, stream
        self.n_states, self.n_actions = n_states, n_actions
        self.state = start
        self.over = self.ended = False
        self.report: Any = None
        self.ran: list[Ran] = []
        self._action: int | None = None
        self._enter(lambda: next(episode))

    def act(self) -> int:
        """The action for the present state."""
        self._must_go_on()
        if self._action is None:
            phase = self._phase
            try:
                action = int(_act(phase.behaviour, phase.counts.record, self._step, self.state, self._stream))
            except FAULTS as error:
                refuse_kernel(error, phase.behaviour, phase.counts.record, self._stream)
                raise
            if not 0 <= action < self.n_actions:
                refuse_entry(phase, self._step, self.state)
            self._action = action
        return self._action

    def observe(self, successor: int, reward: float, ended: bool = False) -> None:
        """What the action led to, what it earned, and whether the episode ended there: the state is terminal."""
        action = self.check_acted()
        successor = checks.integer("successor", successor, least=0, most=self.n_states - 1)
        phase = self._phase
        reward = checks.real("reward", reward)
        if self.learns_rewards:
            check_scaled("reward", reward)
        seen = (self._step, self.state, action, successor, reward, ended)
        try:
            finished, crowded = _observe(phase.behaviour, phase.counts.record, phase.sums, *seen)
            if finished is None:
                raise TypeError("attend returned nothing")
        except FAULTS as error:
            refuse_kernel(error, phase.behaviour, phase.counts.record, self._stream)
            raise
        if crowded:
            phase.counts.make_room()
        self._action = None
        self._reward += reward
        self._step += 1
        self.state = successor
        if ended:
            phase.counts.end(successor)
            self.ended = True
        if finished or ended or self._step == phase.steps:
            self._leave(finished)

    def check_acted(self) -> int:
        """The action that has no outcome yet; refuses where there is none."""
        self._must_go_on()
        if self._action is None:
            raise ValueError("observe comes after act: there is no action to observe the outcome of")
        return self._action

    def move(self, state: int) -> None:
        """The world was put into another state by nobody's action: nothing is counted, and the episode goes on."""
        self._must_go_on()
        if self._action is not None:
            raise ValueError("move comes after observe: the action before it has no outcome yet")
        self.state = checks.integer("state", state, least=0, most=self.n_states - 1)

    @property
    def learns_rewards(self) -> bool:
        """Whether the present phase sums up rewards, which must then lie in [0, 1]."""
        return len(self._phase.sums) > 0

    @property
    def counts(self) -> CountTable:
        """What the present phase has counted, or the last one."""
        return self._phase.counts

    @property
    def part(self) -> str:
        """What the history calls the present phase: "clustering" or "learning"."""
        return self._phase.part

    @property
    def steps_left(self) -> int:
        """How many more steps the present phase may take."""
        return self._phase.steps - self._step

    def observe_and_act(self, successor: int, reward: float) -> int | None:
        """:meth:`observe`, then :meth:`act`; None when the episode is over."""
        self.observe(successor, reward)
        return None if self.over else self.act()

    def stop(self) -> None:
        """Somebody ends the episode before the agent's horizon: every phase left over gets no step."""
        while not self.over:
            self._leave(False)

    def close(self) -> None:
        """Give up the episode; the agent's memory stays as it was."""
        self._episode.close()
        self.over = True

    def _must_go_on(self) -> None:
        if self.over:
            raise ValueError("the episode is over")

    def _leave(self, finished: bool) -> None:
        outcome = Outcome(self._step, self.state, self._reward, finished, self.ended)
        self.ran.append(Ran(self._phase, self._entered, outcome))
        self._enter(lambda: self._episode.send(outcome))

    def _enter(self, advance: Any) -> None:
        """Go to the next phase that has any steps, or to the end."""
        try:
            self._phase: Phase = advance()
        except StopIteration as end:
            self.report, self.over = end.value, True
            return
        check_phase(self._phase, self.n_states, self.n_actions)
        self._step, self._reward, self._entered = 0, 0.0, self.state
        if self._phase.steps == 0 or self.ended:
            self._leave(False)
