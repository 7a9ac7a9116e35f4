"""Gymnasium's tabular environments in which actions do what others did."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gymnasium import Env


def exchange_actions(env: "Env[Any, Any]", order: Sequence[int]) -> "Env[Any, Any]":
    """The same environment with a transition table in which action a does what ``order[a]`` did.

    Only the table changes, which is all that :func:`aomultirl.worlds.from_gymnasium` reads.
    """
    table: Mapping[int, Mapping[int, Any]] = env.unwrapped.P  # type: ignore[attr-defined]
    env.unwrapped.P = {  # type: ignore[attr-defined]
        state: {action: rows[meant] for action, meant in enumerate(order)} for state, rows in table.items()
    }
    return env
