"""Sentences for bad input: each check names the argument, the place and the value."""

import math
import operator
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray


def integer(name: str, value: Any, *, least: int, most: int | None = None) -> int:
    """``value`` as an int within bounds."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise ValueError(f"{name} must be a whole number, not {value!r}")
    if number < least or (most is not None and number > most):
        span = f"at least {least}" if most is None else f"between {least} and {most}"
        raise ValueError(f"{name} must be {span}, not {number}")
    return number


def real(
    name: str,
    value: Any,
    *,
    above: float | None = None,
    below: float | None = None,
    least: float | None = None,
    most: float | None = None,
) -> float:
    """``value`` as a finite float within open (above, below) or closed (least, most) bounds."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise ValueError(f"{name} must be a number, not {value!r}")
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, not {number}")
    for bad, words in (
        (above is not None and number <= above, f"above {above:g}" if above is not None else ""),
        (least is not None and number < least, f"at least {least:g}" if least is not None else ""),
        (below is not None and number >= below, f"below {below:g}" if below is not None else ""),
        (most is not None and number > most, f"at most {most:g}" if most is not None else ""),
    ):
        if bad:
            raise ValueError(f"{name} must be {words}, not {number:g}")
    return number


def choice(name: str, value: Any, options: Sequence[str]) -> str:
    """``value`` if it is one of the options; otherwise the closest one is suggested."""
    if value in options:
        return str(value)
    close = get_close_matches(str(value), options, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    raise ValueError(f"{name} must be one of {', '.join(map(repr, options))}, not {value!r}{hint}")


def pairs(name: str, value: Any, n_states: int, n_actions: int) -> NDArray[np.bool_]:
    """Pairs (state, action) as a mask, (S, A)."""
    mask = np.zeros((n_states, n_actions), bool)
    for place, pair in enumerate(value):
        try:
            state, action = pair
        except (TypeError, ValueError):
            raise ValueError(f"{name}[{place}] is {pair!r}, not (state, action)") from None
        state = integer(f"{name}[{place}] state", state, least=0, most=n_states - 1)
        action = integer(f"{name}[{place}] action", action, least=0, most=n_actions - 1)
        mask[state, action] = True
    return mask


def random_source(name: str, value: Any) -> np.random.Generator:
    """A generator: the one given, or one seeded with a whole number."""
    if isinstance(value, np.random.Generator):
        return value
    return np.random.default_rng(integer(name, value, least=0))


def finite_array(name: str, value: Any, *, lowest: float = -math.inf, highest: float = math.inf) -> NDArray[np.float64]:
    """``value`` as a float64 array with every entry finite and within [lowest, highest]."""
    try:
        given = np.asarray(value)
        if value is None or given.dtype.kind not in "bfiu":
            raise ValueError(f"it holds {given.dtype.name}")
        array = given.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is not an array of real numbers: {error}") from None
    bad = ~((array >= lowest) & (array <= highest) & np.isfinite(array))
    if bad.any():
        place = tuple(int(i) for i in np.argwhere(bad)[0])
        span = (
            ""
            if math.isinf(lowest)
            else f", outside [{lowest:g}, {highest:g}]"
            if math.isfinite(highest)
            else ", negative"
        )
        raise ValueError(
            f"{name}[{', '.join(map(str, place))}] is {array[place]:g}{span if np.isfinite(array[place]) else ''}"
        )
    return array


def shown(value: Any) -> str:
    """A value in a sentence; long ones are cut."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:76]} ..."
