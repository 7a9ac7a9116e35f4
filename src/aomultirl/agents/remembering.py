"""A memory to start with: what logs or models say of worlds, before the first episode.

A *group* is all that is known of one world.  It is one of

- an :class:`aomultirl.MDP`: every pair counts as visited VISITS times, or as often as its rarest outcome needs to come
  once, MOST_MODELLED at most, with the outcomes that the model gives it;
- counts of transitions, (S, A, S) or sparse (S * A, S): how often each was seen;
- {"counts": as above, "rewards": (S, A), what each pair has earned in all, "ends": (S,), how many episodes ended on
  arriving in each state}, the last two where they are known.  Rewards are as agents are shown them, within [0, 1].
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.engine.counts import CountTable
from aomultirl.engine.packed_counts import Packed, unpack_counts
from aomultirl.mdp import MDP
from aomultirl.setting import Setting

VISITS = 100
"""Visits of every pair that a model is worth."""
MOST_MODELLED = 10_000
"""The same where a pair has an outcome that is rarer than one in VISITS, at most."""
MOST_VISITS = 2.0**53
"""Of a world in all: numbers above are not exact any more."""
PARTS = ("counts", "rewards", "ends")


def check_groups(groups: Any) -> list[Any]:
    """The groups as a list, with copies of the arrays: whoever gave them may fill them anew."""
    if isinstance(groups, MDP | Mapping | str) or sp.issparse(groups) or not hasattr(groups, "__iter__"):
        raise checks.Refusal("groups", f"is {checks.shown(groups)}, not a list with one entry for every world")
    return [_copied(group) for group in groups]


def _copied(part: Any) -> Any:
    """A copy of an array, or of a table or list of arrays; anything else, which is refused later, as it is."""
    if isinstance(part, np.ndarray) or sp.issparse(part):
        return part.copy()  # type: ignore[union-attr]
    if isinstance(part, Mapping):
        return {name: _copied(value) for name, value in part.items()}
    return [_copied(value) for value in part] if isinstance(part, list | tuple) else part


def read_groups(
    groups: Sequence[Any], setting: Setting, learns_rewards: bool
) -> list[tuple[CountTable, NDArray[np.float64]]]:
    """What was counted and earned in each of the worlds."""
    return [read_group(group, setting, learns_rewards, f"groups[{i}]") for i, group in enumerate(groups)]


def read_group(
    group: Any, setting: Setting, learns_rewards: bool, place: str
) -> tuple[CountTable, NDArray[np.float64]]:
    """What was counted in a world, and the rewards added up, (S * A,), or empty where they are known."""
    if isinstance(group, MDP):
        group = _from_model(group)
    parts = dict(group) if isinstance(group, Mapping) else {"counts": group}
    for name in parts:
        checks.choice(f"a part of {place}", name, PARTS)
    if "counts" not in parts:
        raise checks.Refusal(place, 'has no part "counts"')
    n_states, n_pairs = setting.n_states, setting.n_pairs
    counts = _counts(parts["counts"], setting, place)
    ends = np.zeros(n_states, np.int64)
    if parts.get("ends") is not None:
        ends = _whole(checks.finite_array(f"{place}['ends']", parts["ends"], lowest=0.0), f"{place}['ends']")
        if ends.shape != (n_states,):
            raise checks.Refusal(f"{place}['ends']", f"has shape {ends.shape}, not ({n_states},)")
    terminal = np.flatnonzero(ends)
    packed = Packed(
        np.diff(counts.indptr).astype(np.int32),
        counts.indices.astype(np.int32),
        counts.data.astype(np.int64),
        terminal.astype(np.int32),
        ends[terminal],
    )
    table = unpack_counts(packed, n_pairs, n_states)
    if not learns_rewards:
        return table, np.empty(0)
    return table, _rewards(parts.get("rewards"), counts, setting, place)


def _from_model(model: MDP) -> dict[str, Any]:
    """Visits of every pair of a state that does not end the episode, and VISITS ends in those that do."""
    starts, states, probs = model.successors
    needed = np.clip(1.0 / np.minimum.reduceat(probs, starts[:-1]), VISITS, MOST_MODELLED)
    counts = np.maximum(1.0, np.rint(np.repeat(needed, np.diff(starts)) * probs))
    goes_on = ~model.terminal
    counts *= np.repeat(np.repeat(goes_on, model.n_actions), np.diff(starts))
    rows = sp.csr_array((counts, states, starts), shape=(len(starts) - 1, model.n_states))
    visits = np.asarray(rows.sum(axis=1)).reshape(model.n_states, model.n_actions)
    return {"counts": rows, "rewards": model.gains * visits, "ends": VISITS * model.terminal}


def _whole(array: NDArray[np.float64], place: str) -> NDArray[np.int64]:
    if (array != np.rint(array)).any():
        raise checks.Refusal(place, "holds a number that is not whole")
    if array.max(initial=0.0) > MOST_VISITS:
        raise checks.Refusal(place, f"holds {array.max():g}, more than {MOST_VISITS:g}")
    return array.astype(np.int64)


def _counts(given: Any, setting: Setting, place: str) -> Any:
    """Sparse (S * A, S), whole and positive, ascending in every row."""
    name, sizes = f"{place}['counts']", (setting.n_states, setting.n_actions, setting.n_states)
    rows: Any
    sparse: Any = given
    if sp.issparse(given):
        entries: Any = sp.coo_array(sparse)
        entries.data = checks.finite_array(name, entries.data, lowest=0.0)  # in a wide type before duplicates are added
        rows = sp.csr_array(entries)
    else:
        dense = checks.finite_array(name, given, lowest=0.0)
        if dense.shape != sizes:
            raise checks.Refusal(name, f"has shape {dense.shape}, not (S, A, S) = {sizes}")
        flat: Any = np.asarray(dense, np.float64).reshape(setting.n_pairs, setting.n_states)
        rows = sp.csr_array(flat)
    if rows.shape != (setting.n_pairs, setting.n_states):
        raise checks.Refusal(name, f"has shape {rows.shape}, not (S * A, S) = {(setting.n_pairs, setting.n_states)}")
    rows.sum_duplicates()
    rows.eliminate_zeros()
    data = checks.finite_array(name, rows.data, lowest=0.0)
    rows.data = _whole(np.asarray(data, np.float64), name)
    if float(data.sum()) > MOST_VISITS:
        raise checks.Refusal(name, f"holds {float(data.sum()):g} visits in all, more than {MOST_VISITS:g}")
    if rows.nnz == 0:
        raise checks.Refusal(name, "holds nothing: no transition was seen")
    return rows


def _rewards(given: Any, counts: Any, setting: Setting, place: str) -> NDArray[np.float64]:
    """(S * A,), what each pair has earned in all, at most 1 a visit."""
    name = f"{place}['rewards']"
    if given is None:
        raise checks.Refusal(place, 'has no part "rewards", and the agent is not told what pairs earn')
    sums = np.asarray(checks.finite_array(name, given), np.float64)
    if sums.shape != (setting.n_states, setting.n_actions):
        raise checks.Refusal(name, f"has shape {sums.shape}, not (S, A) = {(setting.n_states, setting.n_actions)}")
    visits = np.asarray(counts.sum(axis=1)).ravel()
    wrong = np.flatnonzero((sums.ravel() < 0.0) | (sums.ravel() > visits * (1.0 + 1e-12)))
    if len(wrong):
        s, a = divmod(int(wrong[0]), setting.n_actions)
        said = "negative" if sums[s, a] < 0.0 else f"more than 1 for each of {visits[wrong[0]]:g} visits"
        raise checks.Refusal(f"{name}[{s}, {a}]", f"is {sums[s, a]:g}, {said}: rewards are those that agents are shown")
    return np.asarray(np.minimum(sums.ravel(), visits))
