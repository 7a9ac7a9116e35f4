"""What goes wrong in somebody's code while a contract is tried, as one sentence that says where."""

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType
from typing import Any

from aomultirl import checks
from aomultirl.engine.stranger_sources import INSTALLED, is_ours
from aomultirl.experiments.check_agent import ContractError

LONGEST = 300
"""Letters of the first line of an error that are kept."""


@contextmanager
def broken_contract(within: str = "", method: Callable[..., Any] | None = None) -> Iterator[None]:
    """Turn whatever fails inside into a :class:`ContractError` of one sentence.

    A refused parameter stays a refusal, unless ``within`` says what refused it: then the contract is broken there.

    Parameters
    ----------
    within
        what the sentence begins with, such as "inside AOMultiRL: ".
    method
        somebody's method that is called inside, to be named where the error is in the call itself.
    """
    try:
        yield
    except ValueError as error:
        if not within and isinstance(error, ContractError | checks.Refusal):
            raise
        raise ContractError(within + _first_line(error)) from error
    except Exception as error:
        words = f"{type(error).__name__}: {_first_line(error)}"
        raise ContractError(f"{within}{_place(error, method)}{words}") from error


def asked(method: Callable[..., Any], *arguments: Any) -> Any:
    """What somebody's method gives for these arguments; an error names the method."""
    with broken_contract(method=method):
        return method(*arguments)


def _place(error: Exception, method: Callable[..., Any] | None) -> str:
    """The innermost function of somebody's that the error went through, with its file and line; else the method."""
    frames = list(traceback.walk_tb(error.__traceback__))
    for frame, line in reversed(frames):
        if _is_theirs(frame.f_code):
            return f"{frame.f_code.co_qualname} ({frame.f_code.co_filename}:{line}) fails with "
    code = getattr(method, "__code__", None)
    return "" if code is None else f"{code.co_qualname} ({code.co_filename}:{code.co_firstlineno}) fails with "


def _is_theirs(code: CodeType) -> bool:
    """Whether a function is neither of this package nor of Python or an installed package."""
    path = Path(code.co_filename)
    return not is_ours(code.co_filename) and not any(path.is_relative_to(folder) for folder in INSTALLED)


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "")[:LONGEST]
