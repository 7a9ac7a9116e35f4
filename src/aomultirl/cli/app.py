"""What all commands share: bad input ends with status 2 and one line on standard error, Ctrl-C with 130, TERM 143."""

import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, cast

import typer

import aomultirl
from aomultirl import checks

app = typer.Typer(
    name="aomultirl",
    help="Reinforcement learning when every episode is one of several hidden worlds and nobody says which.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
INTERRUPTED, TERMINATED = 130, 143
"""The exit statuses after Ctrl-C and TERM, as a shell would give them."""
KEEPING = ("run", "reproduce")
"""Commands that write as they go."""
LONGEST = 500
"""Characters of a refusal; those of our own are shorter, and cut the values that they name."""

# Typer has its own copy of click or uses the package, depending on its version; this class is where both agree.
_UsageError = cast(
    type[typer.BadParameter], next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name; the exit status."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    kept = "; what was finished is kept" if words and words[0] in KEEPING else ""
    try:
        status = int(app(words or ["--help"], prog_name="aomultirl", standalone_mode=False) or 0)
        if status == INTERRUPTED:  # how some versions of typer report Ctrl-C
            raise KeyboardInterrupt
        return status
    except MemoryError:
        return _refuse("there is not enough memory for this")
    except (ValueError, ImportError, OSError, RuntimeError) as error:
        return _refuse(str(error))
    except (KeyboardInterrupt, typer.Abort):
        sys.stderr.write(f"aomultirl: interrupted{kept}\n")
        return INTERRUPTED
    except SystemExit as end:
        if end.code == TERMINATED:
            sys.stderr.write(f"aomultirl: terminated{kept}\n")
            return TERMINATED
        raise
    except _UsageError as error:
        return _refuse(error.format_message() + _offender(error, words))


def _offender(error: typer.BadParameter, words: list[str]) -> str:
    """The value of the option that was refused, where it can be told."""
    for name in getattr(getattr(error, "param", None), "opts", ()):
        for word, following in pairwise([*words, ""]):
            if word == name and following:
                return f": {checks.shown(following)}"
            if word.startswith(f"{name}="):
                return f": {checks.shown(word.partition('=')[2])}"
    return ""


def _refuse(message: str) -> int:
    sys.stderr.write(f"aomultirl: {checks.cut(message, LONGEST)}\n")
    return 2


def announce_compiling() -> None:
    from aomultirl.engine import stepping
    from aomultirl.engine.compiling import is_compiled

    if not is_compiled(stepping._run):
        typer.echo("compiling, about 15 s, once", err=True)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"aomultirl {aomultirl.__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Options of all commands."""
