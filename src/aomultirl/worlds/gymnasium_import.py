"""Worlds from Gymnasium's tabular environments: FrozenLake, CliffWalking, Taxi and whatever is built like them.

Such an environment holds a transition table, ``P[s][a] = [(probability, next_state, reward, terminated), ...]``,
and a start distribution, ``initial_state_distrib``.  An MDP of ours has rewards r(s, a) within [0, 1], and no end
of an episode before its horizon.  So three things are translated: what a terminal state does, to which step a
reward belongs, and the scale of the rewards.  Wrappers (time limits, changed rewards) are no part of the table.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import product
from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.engine.successors import ROW_SUM_TOLERANCE
from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet
from aomultirl.worlds.origin import origin

if TYPE_CHECKING:
    from gymnasium import Env


class _Table(NamedTuple):
    """One environment: entry k of the lists is a transition from pair s * A + a with positive probability."""

    name: str
    n_actions: int
    start: NDArray[np.float64]
    pairs: NDArray[np.int64]
    probs: NDArray[np.float64]
    nexts: NDArray[np.int64]
    rewards: NDArray[np.float64]
    ends: NDArray[np.bool_]

    @property
    def sources(self) -> NDArray[np.int64]:
        return self.pairs // self.n_actions

    def place(self, entry: int) -> str:
        s, a = divmod(int(self.pairs[entry]), self.n_actions)
        return f"P[{s}][{a}]"

    def only(self, entries: NDArray[np.bool_]) -> "_Table":
        return self._replace(**{field: getattr(self, field)[entries] for field in self._fields[3:]})


def from_gymnasium(
    envs: "Env[Any, Any] | str | Iterable[Env[Any, Any] | str]",
    *,
    terminal: str = "absorb",
    rewards: str = "expected",
    rescale: bool | tuple[float, float] = False,
    unreachable: str | None = None,
) -> ModelSet:
    """One world for each tabular environment; its ``labels`` are the observations that the states stand for.

    Parameters
    ----------
    envs
        an environment, the id of a registered one, or several of either, with as many states and actions each.
    terminal
        what follows in a state that ends the episode, whatever its own row of the table says.  "end": the episode is
        over, and agents are told so (``MDP.terminal``).  "absorb": it keeps itself for ever, with reward 0, and agents
        have to find out.  "restart": every action earns 0 and leads to the start distribution, which makes the world
        communicating where all states can be reached.
    rewards
        "expected": r(s, a) is the mean of the rewards in ``P[s][a]``.  "arrival": a reward belongs to the
        state that is entered, and is earned one step later, when acting there; so environments with different
        transitions can share their rewards, as a :class:`ModelSet` must.  Where episodes start, nothing has been
        earned, so coming back there must not pay.  The value of H + 1 steps from the start is that of H steps in
        the environment.  With "end" and "absorb", terminal states lead to one more state, the last, labelled -1, to pay
        once.
    rescale
        False: rewards outside [0, 1] are an error.  (low, high): each reward r becomes (r - low) / (high - low),
        also the zeros of terminal states; a value v' over H steps turns back by v = (high - low) v' + H low.
        True: low and high are the least and the greatest of 0 and all rewards in the tables of the states kept.
    unreachable
        "keep", or "drop" the states that no transition of any of the environments leads to from their
        starts.  By default "drop" with ``terminal="restart"`` and "keep" otherwise.

    Raises
    ------
    ValueError
        anything missing, invalid or impossible; the message names the environment, the place and the value.

    Examples
    --------
    >>> from_gymnasium("FrozenLake-v1")[0]
    MDP(16 states, 4 actions, 148 transitions)
    >>> from_gymnasium("FrozenLake-v1", terminal="restart")[0].is_communicating()
    True
    """
    made = origin("from_gymnasium", locals())
    checks.choice("terminal", terminal, ("absorb", "end", "restart"))
    checks.choice("rewards", rewards, ("expected", "arrival"))
    if unreachable is None:
        unreachable = "drop" if terminal == "restart" else "keep"
    checks.choice("unreachable", unreachable, ("keep", "drop"))
    return ModelSet(_translate(_read_tables(envs), terminal, rewards, rescale, unreachable == "drop"), made)


def _translate(tables: list[_Table], terminal: str, rewards: str, rescale: Any, drop: bool) -> list[MDP]:
    ending = [_terminal_states(table) for table in tables]
    tables = [table.only(~last[table.sources]) for table, last in zip(tables, ending, strict=True)]
    labels = np.arange(len(tables[0].start))
    pay_once = terminal != "restart" and rewards == "arrival" and any(last.any() for last in ending)
    if pay_once:
        labels = np.append(labels, -1)
        ending = [np.append(last, True) for last in ending]
        tables = [table._replace(start=np.append(table.start, 0.0)) for table in tables]
    worlds = [_transitions(*each, terminal, pay_once) for each in zip(tables, ending, strict=True)]
    kept = _closure(tables, worlds) if drop else np.ones(len(labels), np.bool_)
    tables = [table.only(kept[table.sources]) for table in tables]

    low, high = _span(tables, rescale)
    # Where a state ends the episode in one world and not in another, its rewards are those of the other.
    spared = [last & (terminal == "end") for last in ending]
    gains = _arrival_rewards(tables) if rewards == "arrival" else _expected_rewards(tables, spared)
    # Every reward lies within the span; a mean of them may leave it by rounding.
    gains = np.clip((gains - low) / (high - low), 0.0, 1.0)
    rows = np.repeat(kept, tables[0].n_actions)
    starts = [table.start[kept] for table in tables]
    if pay_once:
        ending = [labels == -1] * len(tables)
    over = [last[kept] & (terminal == "end") for last in ending]
    rest = -low / (high - low) if terminal == "end" else 0.0
    return [
        MDP(
            world[rows][:, kept],
            gains[kept],
            start if start.max() < 1 else int(start.argmax()),
            labels=labels[kept],
            terminal=last,
            rest=rest,
        )
        for world, start, last in zip(worlds, starts, over, strict=True)
    ]


def check_registered(envs: Any) -> None:
    """Refuse ids from a file that name a module: Gymnasium imports what stands before a colon, and so runs it."""
    for i, env in enumerate(envs if isinstance(envs, Iterable) and not isinstance(envs, str) else [envs]):
        if isinstance(env, str) and ":" in env:
            raise checks.Refusal(
                f"envs[{i}]",
                f"is {env!r:.200}, and a file may not name a module to import; name an environment that is "
                "registered without one, or make the worlds in Python with ao.worlds.from_gymnasium",
            )


@contextmanager
def plain_warnings() -> Iterator[None]:
    """A block in which Gymnasium warns without colours, which nothing but a terminal can read."""
    from gymnasium import logger

    names = vars(logger)
    before = names["colorize"]
    names["colorize"] = lambda string, *_, **__: string
    try:
        yield
    finally:
        names["colorize"] = before


def make_registered(place: str, name: str) -> "Env[Any, Any]":
    """The environment that is registered under this id; a refusal of the argument at ``place`` where there is none."""
    import gymnasium

    try:
        with plain_warnings():
            return gymnasium.make(name)
    except (gymnasium.error.Error, ImportError) as error:
        reason = f"which Gymnasium cannot make: {checks.cut(str(error), 300)}"
        raise checks.Refusal(place, f"is {checks.shown(name)}, {reason}") from error


def _read_tables(envs: Any) -> list[_Table]:
    import gymnasium  # here, because importing it takes long

    tables: list[_Table] = []
    given = checks.items("envs", envs, "environments") if _are_several(envs) else [envs]
    for i, env in enumerate(given):
        if isinstance(env, str):
            env = make_registered(f"envs[{i}]", env)
        if not isinstance(env, gymnasium.Env):
            raise checks.Refusal(
                f"envs[{i}]", f"is {checks.shown(env)}, neither a Gymnasium environment nor the id of one"
            )
        name = env.spec.id if env.spec else type(env.unwrapped).__name__
        tables.append(_read_table(f"envs[{i}] ({name})", env.unwrapped))
        sizes = [(len(table.start), table.n_actions) for table in (tables[0], tables[-1])]
        if sizes[0] != sizes[1]:
            words = [f"{states} states and {actions} actions" for states, actions in sizes]
            raise ValueError(f"{tables[-1].name} has {words[1]}, {tables[0].name} has {words[0]}")
    if not tables:
        raise checks.Refusal("envs", "is empty: a set needs at least one world")
    return tables


def _are_several(envs: Any) -> bool:
    return isinstance(envs, Iterable) and not isinstance(envs, str | bytes)


def _read_table(name: str, env: Any) -> _Table:
    from gymnasium.spaces import Discrete

    for noun in ("observation_space", "action_space"):
        space = getattr(env, noun, None)
        if not isinstance(space, Discrete) or space.start != 0:
            raise ValueError(f"{name} has the {noun} {space}, not a Discrete one that begins at 0")
    for noun, words in (("P", "transition table P"), ("initial_state_distrib", "start distribution")):
        if getattr(env, noun, None) is None:
            raise ValueError(f"{name} has no {words}: env.unwrapped.{noun} is missing")
    if getattr(env, "fickle_passenger", False):
        raise ValueError(f"{name} has a fickle passenger, which its transition table leaves out")
    n_states, n_actions = int(env.observation_space.n), int(env.action_space.n)
    start = checks.finite_array(f"{name}: initial_state_distrib", env.initial_state_distrib, lowest=0.0)
    if start.shape != (n_states,):
        raise ValueError(f"{name}: initial_state_distrib must have shape ({n_states},), not {start.shape}")
    if abs(start.sum() - 1.0) > ROW_SUM_TOLERANCE:
        raise ValueError(f"{name}: initial_state_distrib sums to {start.sum():.12g}, not 1")
    columns = zip(*_entries(name, env.P, n_states, n_actions), strict=True)
    table = _Table(name, n_actions, start, *map(np.array, columns))
    sums = np.bincount(table.pairs, table.probs)
    if (np.abs(sums - 1.0) > ROW_SUM_TOLERANCE).any():
        s, a = divmod(int(np.argmax(np.abs(sums - 1.0))), n_actions)
        raise ValueError(f"{name}: the probabilities of P[{s}][{a}] sum to {sums[s * n_actions + a]:.12g}, not 1")
    return table.only(table.probs > 0.0)


def _entries(name: str, rows: Any, n_states: int, n_actions: int) -> Iterator[tuple[int, float, int, float, bool]]:
    for s, a in product(range(n_states), range(n_actions)):
        try:
            row = list(rows[s][a])
        except (KeyError, IndexError, TypeError):
            row = []
        if not row:
            raise ValueError(f"{name}: P[{s}][{a}] is missing or empty")
        for entry in row:
            try:
                probability, successor, reward, ends = entry
                read = float(probability), index(successor), float(reward), bool(ends)
                if not (read[0] >= 0.0 and 0 <= read[1] < n_states and abs(read[2]) < np.inf):
                    raise ValueError
            except (TypeError, ValueError):
                words = f"{checks.shown(entry)}, not (probability, next_state, reward, terminated)"
                raise ValueError(f"{name}: P[{s}][{a}] holds {words}") from None
            yield s * n_actions + a, *read


def _reached(sources: NDArray[np.int64], nexts: NDArray[np.int64], start: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which states a walk along these transitions can reach from the start, (S,)."""
    from scipy.sparse.csgraph import breadth_first_order

    n, firsts = len(start), np.flatnonzero(start)
    rows, columns = np.append(sources, np.full(len(firsts), n)), np.append(nexts, firsts)
    graph = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n + 1, n + 1))
    mask = np.zeros(n + 1, np.bool_)
    mask[breadth_first_order(graph, n, return_predecessors=False)] = True
    return mask[:n]


def _terminal_states(table: _Table) -> NDArray[np.bool_]:
    """The states that end an episode, (S,)."""
    ends = table.ends
    alive = _reached(table.sources[~ends], table.nexts[~ends], table.start)
    ending = np.zeros(len(alive), np.bool_)
    ending[table.nexts[ends & alive[table.sources]]] = True
    both = np.flatnonzero(alive & ending)
    if len(both):
        entered = alive[table.sources] & (table.nexts == both[0])
        stops, goes_on = (table.place(int(np.argmax(entered & kind))) for kind in (ends, ~ends))
        other = f"by {goes_on}" if (entered & ~ends).any() else "at the start"
        raise ValueError(f"{table.name}: entering state {both[0]} by {stops} ends the episode, but not {other}")
    # No episode gets to the other states: there, one transition that ends is enough.
    reached = alive | ending
    ending[table.nexts[ends & ~reached[table.sources] & ~reached[table.nexts]]] = True
    return ending


def _transitions(table: _Table, ending: NDArray[np.bool_], terminal: str, pay_once: bool) -> sp.csr_array:
    """P as a sparse array (S*A, S); under ``pay_once`` terminal states lead to the last state, and it to itself."""
    n_states, n_actions, closed = len(table.start), table.n_actions, np.flatnonzero(ending)
    if terminal == "restart":
        starts = np.flatnonzero(table.start)
        sources, nexts = np.repeat(closed, len(starts)), np.tile(starts, len(closed))
        probs = np.tile(table.start[starts], len(closed))
    else:
        sources, probs = closed, np.ones(len(closed))
        nexts = np.full(len(closed), n_states - 1) if pay_once else closed
    pairs = np.append(table.pairs, sources[:, None] * n_actions + np.arange(n_actions))
    nexts = np.append(table.nexts, np.repeat(nexts, n_actions))
    probs = np.append(table.probs, np.repeat(probs, n_actions))
    return sp.csr_array((probs, (pairs, nexts)), shape=(n_states * n_actions, n_states))


def _closure(tables: list[_Table], worlds: list[sp.csr_array]) -> NDArray[np.bool_]:
    """The states reached from any start by transitions of any environment; so no row kept leads outside."""
    rows, nexts = np.concatenate([np.array(world.nonzero()) for world in worlds], axis=1)
    return _reached(rows // tables[0].n_actions, nexts, np.sum([table.start for table in tables], axis=0))


def _span(tables: list[_Table], rescale: Any) -> tuple[float, float]:
    """(low, high): rewards, all of them within, are mapped from there to [0, 1]."""
    if rescale is True:
        rewards = np.concatenate([[0.0], *(table.rewards for table in tables)])
        low, high = float(rewards.min()), float(rewards.max())
        return (low, high) if low < high else (0.0, 1.0)
    if rescale is not False and not (isinstance(rescale, tuple | list) and len(rescale) == 2):
        raise checks.Refusal("rescale", f"must be True, False or (low, high), not {checks.shown(rescale)}")
    low, high = (checks.real(f"rescale[{i}]", end) for i, end in enumerate(rescale or (0.0, 1.0)))
    if not low <= 0.0 <= high or low == high:
        raise checks.Refusal("rescale", f"is ({low:g}, {high:g}); it needs low <= 0 <= high, as terminal states earn 0")
    for table in tables:
        outside = (table.rewards < low) | (table.rewards > high)
        if outside.any():
            entry = int(np.argmax(outside))
            earns = f"{table.name}: {table.place(entry)} earns {table.rewards[entry]:g}"
            raise ValueError(f"{earns}, outside [{low:g}, {high:g}]; pass rescale=True to map all rewards to [0, 1]")
    return low, high


def _expected_rewards(tables: list[_Table], spared: list[NDArray[np.bool_]]) -> NDArray[np.float64]:
    """r(s, a) = sum of probability * reward, (S, A), as the first table has it in which the state is not spared."""
    means = np.zeros((len(tables), len(tables[0].start), tables[0].n_actions))
    owner = np.argmax(~np.array(spared), axis=0)
    for table, mean in zip(tables, means, strict=True):
        np.add.at(mean.reshape(-1), table.pairs, table.probs * table.rewards)
    shared: NDArray[np.float64] = means[owner, np.arange(len(owner))]
    for table, mean, out in zip(tables, means, spared, strict=True):
        differing = np.argwhere(~np.isclose(mean, shared, rtol=1e-9, atol=1e-12) & ~out[:, None])
        if len(differing):
            s, a = differing[0]
            raise ValueError(
                f"{table.name} has the expected reward {mean[s, a]:g} in P[{s}][{a}], {tables[owner[s]].name} has "
                f'{shared[s, a]:g}; the worlds of a set share their rewards, and rewards="arrival" may help'
            )
    return shared


def _arrival_rewards(tables: list[_Table]) -> NDArray[np.float64]:
    """The reward of entering s, for every action in s, (S, A); nothing is earned where an episode starts."""
    known: dict[int, tuple[float, str]] = {}
    for table in tables:
        known |= dict.fromkeys(np.flatnonzero(table.start).tolist(), (0.0, f"at the start of {table.name}"))
    for table in tables:
        for entry, state in enumerate(table.nexts.tolist()):
            reward, place = float(table.rewards[entry]), f"by {table.place(entry)} of {table.name}"
            value, where = known.setdefault(state, (reward, place))
            if reward != value:
                raise ValueError(
                    f"entering state {state} earns {value:g} {where} and {reward:g} {place}; "
                    f'rewards="arrival" needs one reward for each state'
                )
    worth = np.zeros(len(tables[0].start))
    worth[list(known)] = [value for value, _ in known.values()]
    return np.repeat(worth[:, None], tables[0].n_actions, axis=1)
