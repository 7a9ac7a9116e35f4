"""Sentences for bad input: each check names the argument, the place and the value."""

import inspect
import math
import operator
import os
import reprlib
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from functools import wraps
from itertools import islice
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from aomultirl import sizes
from aomultirl.refusals import Refusal as Refusal  # for all who check arguments of their own

LARGEST = 2**63 - 1
"""The largest whole number that arrays and compiled code can hold."""
SEED_BITS = 1024
"""Bits of a seed: more of them are no more random, and take long to read."""
LONGEST_NAME = 200
"""Bytes of a name that becomes a folder or a label: file systems take 255 bytes, and something may be added."""
MOST_ITEMS = 10**7
"""Of a list: read in a second, and more than any run can use; an iterator may never end."""
LONGEST_LABEL = 10_000
"""Characters of a label with the parameters that set an agent apart from others."""
LINE = 300
"""Characters of what a file says, on a terminal."""
SHOWN, WRITTEN_OUT = 80, 256
"""Characters of a value in a sentence; bits of a whole number that is written out in it."""
P = ParamSpec("P")
R = TypeVar("R")


class _Sparing(reprlib.Repr):
    """``repr`` that looks at no more of a value than a sentence can show, and that nothing makes fail."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 3  # and thirty entries at each: a few thousand words at most, whatever is nested in what
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdict = self.maxarray = 30

    def repr_int(self, x: int, level: int) -> str:
        bits = x.bit_length()  # Python refuses to write out numbers of more than 4,300 digits
        return repr(x) if bits <= WRITTEN_OUT else f"{'-' * (x < 0)}10**{bits * math.log10(2.0):.0f} or so"

    def repr_str(self, x: str, level: int) -> str:
        return repr(x[:SHOWN])

    def repr_bytes(self, x: bytes, level: int) -> str:
        return repr(x[:SHOWN])

    def repr_instance(self, x: Any, level: int) -> str:
        return self.repr_int(x, level) if isinstance(x, int) and not isinstance(x, bool) else repr(x)


def shown(value: Any) -> str:
    """A value in a sentence: on one line, long ones cut; fast for huge ones, and for those that cannot show themselves.

    Examples
    --------
    >>> shown([1, "a"]), shown(10**400), shown("long" * 100)[-12:]
    ("[1, 'a']", '10**400 or so', 'glonglon ...')
    """
    try:
        return cut(_Sparing().repr(value))
    except Exception:
        return f"<a {cut(type(value).__name__)}>"


def cut(text: str, most: int = SHOWN) -> str:
    """A text on one line, of at most so many characters."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most and len(text) <= 4 * most else f"{line[: most - 4]} ..."


def plain(text: str, most: int = LINE) -> str:
    """What a stranger wrote in a file, for a terminal: nothing in it can steer one, and long texts are cut.

    Examples
    --------
    >>> plain("a\\nb\\x1b[2J"), plain("long" * 100, 8)
    ('a b?[2J', 'longlong …')
    """
    short = text if len(text) <= most else f"{text[:most]} …"
    return "".join(letter if letter.isprintable() else " " if letter.isspace() else "?" for letter in short)


def integer(name: str, value: Any, *, least: int, most: int | None = None, limit: int = LARGEST) -> int:
    """``value`` as an int within bounds; ``limit`` is for numbers that are right in principle, and too large for us."""
    try:
        number = operator.index(value)
    except Exception:  # arrays, and objects of others, raise what they like
        number = None
    if number is None or isinstance(value, bool | np.bool_):
        raise Refusal(name, f"must be a whole number, not {shown(value)}")
    if number < least or (most is not None and number > most):
        span = f"at least {shown(least)}" if most is None else f"between {shown(least)} and {shown(most)}"
        raise Refusal(name, f"must be {span}, not {shown(number)}")
    if number > limit:
        words = f"at most {limit}" if limit & (limit + 1) else f"below 2**{limit.bit_length()}"
        raise Refusal(name, f"must be {words}, not {shown(number)}")
    return number


def seed(name: str, value: Any) -> int:
    """``value`` as a seed: whole, not negative, and of a length that somebody may have meant."""
    return integer(name, value, least=0, limit=2**SEED_BITS - 1)


def truth(name: str, value: Any) -> bool:
    """``value`` if it is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise Refusal(name, f"must be True or False, not {shown(value)}")
    return bool(value)


def word(name: str, value: str) -> str:
    """``value`` as a name that can be a folder's, or a label: printable, and not too long."""
    if not value.isprintable():
        raise Refusal(name, f"is {shown(value)}, which holds characters that cannot be printed")
    length = len(os.fsencode(value))
    if length > LONGEST_NAME:
        raise Refusal(name, f"is {shown(value)}, {length:,} bytes long; at most {LONGEST_NAME} can be")
    return value


def path(name: str, value: str | os.PathLike[str]) -> Path:
    """``value`` as a path that a file system may take: without NUL, and with no part that is too long."""
    text = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(text, str):
        raise Refusal(name, f"is {shown(value)}, not a path")
    if "\0" in text:
        raise Refusal(name, f"is {shown(text)}, and no path holds the character NUL")
    for part in text.split("/"):
        length = len(os.fsencode(part))
        if length > 255:
            raise Refusal(name, f"is {shown(text)}, of which a part is {length:,} bytes long; 255 can be")
    return Path(str.__str__(text))  # somebody's own kind of text may not be what it says it is


def representable(function: Callable[P, R]) -> Callable[P, R]:
    """Numbers so extreme that a formula leaves what floats can hold are refused in a sentence, by its name."""

    @wraps(function)
    def refusing(*arguments: P.args, **options: P.kwargs) -> R:
        try:
            return function(*arguments, **options)
        except (OverflowError, ZeroDivisionError):
            given = [*map(shown, arguments), *(f"{key}={shown(value)}" for key, value in options.items())]
            raise ValueError(
                f"{function.__name__} is beyond what numbers can hold with {cut(', '.join(given))}"
            ) from None

    return refusing


def explained(**meanings: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A function that says, where arguments are missing, what its arguments are; ``meanings`` by their names.

    Examples
    --------
    >>> @explained(times="how often")
    ... def knock(door, times): ...
    >>> knock("mine")
    Traceback (most recent call last):
    ...
    TypeError: knock(door, times) needs times; times is how often
    """

    def explaining(function: Callable[P, R]) -> Callable[P, R]:
        known = inspect.signature(function)
        names = [name for name, one in known.parameters.items() if one.default is one.empty]

        @wraps(function)
        def called(*arguments: P.args, **options: P.kwargs) -> R:
            try:
                known.bind(*arguments, **options)
            except TypeError:
                given = known.bind_partial(*arguments, **options).arguments
                missing = [name for name in names if name not in given]
                if not missing:
                    raise
                call = f"{function.__name__}({', '.join(names)})"
                said = [f"{name} is {meaning}" for name, meaning in meanings.items()]
                raise TypeError(f"{call} needs {' and '.join(missing)}; {'; '.join(said)}") from None
            return function(*arguments, **options)

        return called

    return explaining


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
        raise Refusal(name, f"must be a number, not {shown(value)}")
    try:
        number = float(value)
    except OverflowError:  # a whole number that no float comes near
        raise Refusal(name, f"must be below 1e308, not {shown(value)}") from None
    if not math.isfinite(number):
        raise Refusal(name, f"must be finite, not {number}")
    for bound, is_beyond, words in (
        (above, operator.le, "above"),
        (least, operator.lt, "at least"),
        (below, operator.ge, "below"),
        (most, operator.gt, "at most"),
    ):
        if bound is not None and is_beyond(number, bound):
            raise Refusal(name, f"must be {words} {bound:g}, not {number:g}")
    return number


def bare(value: Any) -> Any:
    """What an array without dimensions holds, as environments give rewards; anything else as it is."""
    return value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value


def choice(name: str, value: Any, options: Sequence[str]) -> str:
    """``value`` if it is one of the options; otherwise the closest one is suggested."""
    if isinstance(value, str) and value in options:
        return str(value)
    hint = closest(value, options) if isinstance(value, str) else ""
    suffix = f"; {hint}" if hint else ""
    raise Refusal(name, f"must be one of {', '.join(map(repr, options))}, not {shown(value)}{suffix}")


def with_article(noun: str) -> str:
    """A noun with "a" or "an" before it.

    Examples
    --------
    >>> with_article("learner"), with_article("explorer")
    ('a learner', 'an explorer')
    """
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"


def closest(name: str, valid: Iterable[str]) -> str:
    """A question whether the closest of some names was meant; empty where none is close.

    Examples
    --------
    >>> closest("falure", ["failure", "horizon"])
    "did you mean 'failure'?"
    """
    known = {option.lower(): option for option in valid}
    close = get_close_matches(name[:SHOWN].lower(), known, n=1)
    return f"did you mean {known[close[0]]!r}?" if close else ""


def pairs(name: str, value: Any, n_states: int, n_actions: int) -> NDArray[np.bool_]:
    """Pairs (state, action) as a mask, (S, A)."""
    mask = np.zeros((n_states, n_actions), bool)
    for place, pair in enumerate(items(name, value, "pairs (state, action)")):
        try:
            state, action = pair
        except Exception:  # whatever somebody's object raises
            raise Refusal(f"{name}[{place}]", f"is {shown(pair)}, not (state, action)") from None
        state = integer(f"{name}[{place}] state", state, least=0, most=n_states - 1)
        action = integer(f"{name}[{place}] action", action, least=0, most=n_actions - 1)
        mask[state, action] = True
    return mask


def items(name: str, value: Any, what: str, most: int = MOST_ITEMS) -> list[Any]:
    """``value`` as a list of at most so many; ``what`` it should be a list of."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise Refusal(name, f"is {shown(value)}, not a list of {what}")
    try:
        listed = list(islice(value, most + 1))
    except Exception as error:  # an array without dimensions, or somebody's own
        raise Refusal(name, f"is {shown(value)}, not a list of {what}: {_words(error)}") from error
    if len(listed) > most:
        raise Refusal(name, f"is {shown(value)}, of more than {most:,} {what}")
    return listed


def random_source(name: str, value: Any) -> np.random.Generator:
    """A generator: the one given, or one seeded with a whole number."""
    if isinstance(value, np.random.Generator):
        return value
    return np.random.default_rng(seed(name, value))


def _words(error: Exception) -> str:
    try:
        return cut(str(error))
    except Exception:
        return type(error).__name__


def array_of(name: str, value: Any) -> NDArray[Any]:
    """``value`` as NumPy reads it."""
    try:
        return np.asarray(value)
    except Exception as error:  # whatever __array__, __len__ or __getitem__ of somebody's object may raise
        raise Refusal(name, f"is not an array of real numbers: {_words(error)}") from None


def finite_array(name: str, value: Any, *, lowest: float = -math.inf, highest: float = math.inf) -> NDArray[np.float64]:
    """``value`` as a float64 array with every entry finite and within [lowest, highest]."""
    given = array_of(name, value)
    if value is None or given.dtype.kind not in "bfiu":
        raise Refusal(name, f"is not an array of real numbers: it holds {cut(given.dtype.name)}")
    sizes.check(name, f"of shape {given.shape}", 10.0 * given.size, "a copy with checks of every entry")
    with np.errstate(over="ignore"):  # a longer float that is beyond float64 becomes infinite, and is refused as such
        array = given.astype(np.float64)
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
        where = f"{name}[{', '.join(map(str, place))}]"
        raise Refusal(where, f"is {array[place]:g}{span if np.isfinite(array[place]) else ''}")
    return array
