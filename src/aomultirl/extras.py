"""Packages that agents do without, and which of this package's extras brings each."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec

EXTRAS: Mapping[str, str] = {
    **dict.fromkeys(("typer", "rich", "matplotlib", "PIL", "polars", "pyarrow", "loky"), "experiments"),
    **dict.fromkeys(("psutil", "plotly", "jinja2", "markupsafe", "pydantic", "threadpoolctl"), "experiments"),
    "ray": "cluster",
    "icu_sepsis": "sepsis",
    "rlberry": "rlberry",
}
"""The extras by the names that packages are imported by."""


@contextmanager
def needs(what: str) -> Iterator[None]:
    """A block that imports packages of an extra; where one is missing, the error says how to install it.

    what
        in the plural, what cannot be done without them.

    Examples
    --------
    >>> with needs("dreams"):
    ...     raise ModuleNotFoundError(name="rich.table")
    Traceback (most recent call last):
    ...
    ImportError: dreams need rich: pip install 'aomultirl[experiments]'
    """
    try:
        yield
    except ModuleNotFoundError as error:
        words = advice(error)
        if words is None:
            raise
        raise ImportError(f"{what} need {words}", name=error.name) from None


def check(what: str, *packages: str) -> None:
    """Refuse to go on where one of these packages is not installed; none of them is imported."""
    with needs(what):
        for package in packages:
            if not _is_there(package):
                raise ModuleNotFoundError(name=package)


def advice(error: ModuleNotFoundError) -> str | None:
    """Which package is missing, and how to install it; None where no extra of ours brings it."""
    package = (error.name or "").partition(".")[0]
    return f"{package}: pip install 'aomultirl[{EXTRAS[package]}]'" if package in EXTRAS else None


def _is_there(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ValueError:  # somebody has put something else in its place
        return False
