"""Phases of behaviours, run inside one compiled loop.

The table of a behaviour (:mod:`.behaviours`) is all that the inner loop knows: it walks, counts and decrements, and
leaves when an entry is missing (*prepare* it), when one needs a look (*attend* to it), or when a transition is seen
for the first time.

Draws.  One 64-bit draw of the world's stream a step (two where rewards are noisy).  The agent's stream is drawn from
where a table says "at random" and where ``prepare`` breaks a tie, so keeping a decision never changes the draws.

The inner loop is a function of its own that counts no references (:func:`.compiling.borrowing`): with calls left in
it, or references counted at every step, it costs a factor of four to ten.
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.engine.behaviours import ASK, Table, attend, kernels_of, prepare
from aomultirl.engine.compiling import borrowing, callee, inlined, kernel
from aomultirl.engine.counts import SHORT, VISITS, Counts, CountTable, find, insert
from aomultirl.engine.kernel_faults import FAULTS, refuse_kernel
from aomultirl.engine.random import RandomStream, below, draw
from aomultirl.engine.sampling import AliasTables, pick_entry
from aomultirl.engine.signals import DECISION, STRETCH, serve_signals

U = np.uint64
UNSEEN, LOOK, MISSING, END = 1, 2, 4, 8
"""What a step needs beside the table: a transition seen for the first time, a look, an entry that is missing; or the
episode ended with it."""


STEP, STATE, ACTION, SUCCESSOR, ENDED = range(5)
"""Cells of a walk's place: steps taken, the state it is in, the last step's action and successor, and whether the world
ended the episode."""


NOWHERE: NDArray[np.bool_] = np.empty(0, np.bool_)
"""In place of a mask of terminal states, where there are none."""


NOTHING_KNOWN: NDArray[np.uint32] = np.empty(0, np.uint32)
"""In place of the slots of all entries, in phases so short that most entries come up once or never."""


class SimulatedEpisode(NamedTuple):
    """What an episode is simulated with: the world that it is in, and where draws come from.

    One flat record, because every record more costs most of a microsecond a phase when Python hands it over.

    heads, cells, width
        of the world's :class:`AliasTables`.
    rewards
        (S * A,), the mean of what each pair earns.
    noisy
        rewards are 0 or 1 with that mean.
    terminal
        (S,), arriving here ends the episode; empty where nothing does.
    world
        uint64 (4,), the world's stream: one draw a step, two where rewards are noisy.
    agent
        uint64 (4,), drawn from where a table says "at random", and by ``prepare``.
    """

    heads: NDArray[np.uint64]
    cells: NDArray[np.uint64]
    width: int
    rewards: NDArray[np.float64]
    noisy: bool
    terminal: NDArray[np.bool_]
    world: RandomStream
    agent: RandomStream


@callee
def _walk(
    episode: SimulatedEpisode,
    table: Table,
    counts: Counts,
    known: NDArray[np.uint32],
    sums: NDArray[np.float64],
    place: NDArray[np.int64],
    last: int,
    total: float,
) -> tuple[int, float, float]:
    """Walk until a step needs more than the table; ``place`` in and out.

    known: (cells,), of every entry of the alias tables the slot that counts it, or 0 where that is to be found; empty
    where it is to be found at every step.

    Returns what the last step needs, a sum of UNSEEN, LOOK, MISSING and END, what it earned, and ``total`` with the
    rewards added one by one, as a loop from outside would add them.
    """
    heads, cells, width = episode.heads, episode.cells, episode.width
    rewards, noisy, world, agent = episode.rewards, episode.noisy, episode.world, episode.agent
    terminal = episode.terminal
    ends, remembers = len(terminal) > 0, len(known) > 0
    plan, stride, budget, watch = table.plan, table.stride, table.budget, table.watch
    count_heads, slots = counts.heads, counts.slots
    w0, w1, w2, w3 = world[0], world[1], world[2], world[3]
    a0, a1, a2, a3 = agent[0], agent[1], agent[2], agent[3]
    n_actions = U(len(rewards) // len(budget))
    step, s, s2, a, pair = place[STEP], U(place[STATE]), U(place[STATE]), np.int64(0), U(0)
    row = U(step * stride)
    needs, reward = 0, 0.0
    while step < last:
        a = np.int64(plan[row + s])
        if a < 0:
            needs = MISSING
            break
        random = U(a) == n_actions
        if random:
            bits, a0, a1, a2, a3 = draw(a0, a1, a2, a3)
            a = below(n_actions, bits)
        pair = s * n_actions + U(a)
        bits, w0, w1, w2, w3 = draw(w0, w1, w2, w3)
        k = U(width)
        first = pair << k
        if width < 0:
            k = heads[pair] & U(63)
            first = heads[pair] >> U(6)
        s2, entry = pick_entry(cells, U(2) * first, k, bits)
        reward = rewards[pair]
        if noisy:
            bits, w0, w1, w2, w3 = draw(w0, w1, w2, w3)
            reward = 1.0 if np.float64(bits >> U(11)) * 2.0**-53 < reward else 0.0
        total += reward
        if len(sums) > 0:
            sums[pair] += reward
        step += 1
        row += U(stride)
        left = budget[s] - 1
        budget[s] = left
        slot = U(known[entry]) if remembers else U(0)
        seen = slot != U(0)
        if not seen:
            slot = find(count_heads, slots, pair, s2)
            seen = slots[slot] >= 0
            if seen and remembers:
                known[entry] = slot
        if seen:
            slots[slot + U(VISITS)] += 1
        look = (left == 0) | (random & watch[s2])
        over = ends and terminal[s2]
        if look | (not seen) | over:
            needs = LOOK * look + UNSEEN * (not seen) + END * over
            break
        s = s2
    world[0], world[1], world[2], world[3] = w0, w1, w2, w3
    agent[0], agent[1], agent[2], agent[3] = a0, a1, a2, a3
    place[STEP], place[STATE], place[ACTION], place[SUCCESSOR] = step, np.int64(s), a, np.int64(s2)
    return needs, reward, total


@callee
def _follow(
    episode: SimulatedEpisode,
    table: Table,
    counts: Counts,
    known: NDArray[np.uint32],
    place: NDArray[np.int64],
    last: int,
    total: float,
) -> tuple[int, float]:
    """:func:`_walk` where nothing needs a look: a plan that is the same at every step, in a world of the plainest kind.

    That is one with a single width of alias tables, certain rewards that nobody sums up by pair, and without terminal
    states; and ``known`` is not empty.  Returns UNSEEN or 0, and the total.  Apart from the walk's own loop, because
    what that one holds in registers leaves none for the streams.
    """
    cells, rewards, k = episode.cells, episode.rewards, U(episode.width)
    world, agent, plan, slots = episode.world, episode.agent, table.plan, counts.slots
    w0, w1, w2, w3 = world[0], world[1], world[2], world[3]
    a0, a1, a2, a3 = agent[0], agent[1], agent[2], agent[3]
    n_actions = U(len(rewards) // len(table.budget))
    stride = U(2) * (n_actions << k)  # words of a state: its cells are found without a look at the pair
    step, s, s2, a, needs = place[STEP], U(place[STATE]), U(place[STATE]), U(0), 0
    while step < last:
        a = U(plan[s])
        if a == n_actions:
            bits, a0, a1, a2, a3 = draw(a0, a1, a2, a3)
            a = U(below(n_actions, bits))
        pair = s * n_actions + a
        bits, w0, w1, w2, w3 = draw(w0, w1, w2, w3)
        s2, entry = pick_entry(cells, s * stride + U(2) * (a << k), k, bits)
        total += rewards[pair]
        step += 1
        slot = U(known[entry])
        if slot == U(0):
            slot = find(counts.heads, slots, pair, s2)
            if slots[slot] < 0:
                needs = UNSEEN
                break
            known[entry] = slot
        slots[slot + U(VISITS)] += 1
        s = s2
    world[0], world[1], world[2], world[3] = w0, w1, w2, w3
    agent[0], agent[1], agent[2], agent[3] = a0, a1, a2, a3
    place[STEP], place[STATE], place[ACTION], place[SUCCESSOR] = step, np.int64(s), np.int64(a), np.int64(s2)
    return needs, total


@borrowing
def _walk_and_count(
    episode: SimulatedEpisode,
    table: Table,
    counts: Counts,
    known: NDArray[np.uint32],
    sums: NDArray[np.float64],
    place: NDArray[np.int64],
    last: int,
    stretch: int,
    total: float,
    looks: bool,
) -> tuple[int, float, float, bool]:
    """Walk, and count what is seen for the first time, until the behaviour is needed, or more room.

    looks: some steps need a look.

    stretch: steps after which the inner loop is left, at the latest, to look for signals.

    Returns what :func:`_walk` says of the last step, and whether the counts want more room.  A step that needs a look
    is not over: the place still says where it began, until the behaviour has looked.
    """
    needs, reward, crowded, spent = 0, 0.0, False, 0
    n_actions = len(counts.heads) // len(table.budget)
    plainly = len(known) > 0 and not looks and table.stride == 0 and len(sums) == 0
    plainly &= episode.width >= 0 and not episode.noisy and len(episode.terminal) == 0
    while place[STEP] < last and not (crowded or place[ENDED]) and needs & (LOOK | MISSING) == 0:
        begin = place[STEP]
        end = begin + stretch if begin + stretch < last else last
        if plainly:
            needs, total = _follow(episode, table, counts, known, place, end, total)
        else:
            needs, reward, total = _walk(episode, table, counts, known, sums, place, end, total)
        if needs & UNSEEN:
            pair = place[STATE] * n_actions + place[ACTION]
            head = counts.heads[pair]
            crowded = insert(counts, pair, place[SUCCESSOR])
            if len(known) > 0 and (counts.heads[pair] != head or counts.filled[pair] <= SHORT):
                _forget_slots(episode, known, pair)
        if needs & (UNSEEN | END) and not needs & LOOK:
            _arrive(place, needs)
        spent = serve_signals(spent, place[STEP] - begin + 1)
    return needs, reward, total, crowded


@inlined
def _arrive(place: NDArray[np.int64], needs: int) -> None:
    """A step is over: the next one begins where it led, unless the episode ended there."""
    place[STATE], place[ENDED] = place[SUCCESSOR], needs & END > 0


@callee
def _forget_slots(episode: SimulatedEpisode, known: NDArray[np.uint32], pair: int) -> None:
    """The counts of a pair may have moved to other slots."""
    head = episode.heads[pair]
    first, n = head >> U(6), U(1) << (head & U(63))
    for entry in range(U(2) * first, U(2) * (first + n)):
        known[entry] = 0


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
        needs, reward, total, crowded = _walk_and_count(
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
            _arrive(place, needs)
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
                    _, _, reward, crowded = _walk_and_count(self._episode, phase.behaviour.table, *on, False)
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
