"""What all commands share: bad input ends with status 2 and one line on standard error, Ctrl-C with 130, TERM 143.

Whoever reads no further, as in ``aomultirl list | head -1``, ends a command with 141, as a shell would have it, and in
silence.  Modules of commands import at their beginning only what is quick: a page of help, and every word that a shell
completes, begin with importing all of them.
"""

import os
import signal
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

import typer

import aomultirl
from aomultirl import checks, extras
from aomultirl.cli import closed_pipes
from aomultirl.cli.completing import COMPLETE, NAME, answer_shells
from aomultirl.cli.help_pages import Command, Commands

if TYPE_CHECKING:
    from rich.console import Console


F = TypeVar("F", bound=Callable[..., Any])


class App(typer.Typer):
    """Commands whose pages of help look as ours do."""

    def command(self, name: str | None = None, **options: Any) -> Callable[[F], F]:
        return super().command(name, **{"cls": Command, **options})


app = App(
    name="aomultirl",
    cls=Commands,
    help="Reinforcement learning when every episode is one of several hidden worlds and nobody says which.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
GREETING = """\
Watch an agent recognise a hidden world:   aomultirl watch gridworld edges=stay
See what worlds, agents, ... there are:    aomultirl list
See all commands, each with an example:    aomultirl --help
"""
"""What is said where nothing is asked."""
INTERRUPTED, TERMINATED = 130, 143
"""The exit statuses after Ctrl-C and TERM, as a shell would give them."""
ENDED = {INTERRUPTED: "interrupted", TERMINATED: "terminated"}
"""What is said then."""
KEEPING = ("run", "reproduce")
"""Commands that write as they go."""
ENDED_BY_HAND = ("live",)
"""Commands that go on until Ctrl-C, which is their proper end."""
LONGEST = 500
"""Characters of a refusal; those of our own are shorter, and cut the values that they name."""

# Typer has its own copy of click or uses the package, depending on its version; this class is where both agree.
_UsageError = cast(
    type[typer.BadParameter], next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
)


def run(arguments: Sequence[str] | None = None, signals: Sequence[int] = ()) -> int:
    """Run the command that the arguments name; the exit status.

    Parameters
    ----------
    signals
        those that ask the process to end, as they come.  Whatever is raised after one, also by a library that was
        interrupted in the middle of something, is its consequence.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    refusal = ""
    try:
        status = _run(words)
    except (KeyboardInterrupt, typer.Abort):
        status = INTERRUPTED
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # which Rich and Typer turn into this
            status, refusal = _broken_pipe(end.__context__)
        elif end.code != TERMINATED and not signals:
            raise
        else:
            status = TERMINATED
    except MemoryError:
        refusal = "there is not enough memory for this"
    except ModuleNotFoundError as error:
        missing = extras.advice(error)
        refusal = str(error) if missing is None else f"this needs {missing}"
    except (ValueError, ImportError, OSError, RuntimeError) as error:
        status, refusal = _broken_pipe(error) if isinstance(error, BrokenPipeError) else (2, str(error))
    except _UsageError as error:
        refusal = error.format_message() + _offender(error, words)
    except Exception:
        if not signals:
            raise
    if signals:
        by_hand = bool(words) and words[0] in ENDED_BY_HAND and set(signals) == {signal.SIGINT}
        status = 0 if by_hand else 128 + signals[0]
    elif refusal:
        return _refuse(refusal)
    if status == closed_pipes.STATUS:
        closed_pipes.forget()
    if status in ENDED:
        kept = "; what was finished is kept" if words and words[0] in KEEPING else ""
        sys.stderr.write(f"aomultirl: {ENDED[status]}{kept}\n")
    return status


def _run(words: Sequence[str]) -> int:
    """The exit status of a command that ends as it should."""
    answer_shells()
    if not words and not os.environ.get(COMPLETE):
        typer.echo(GREETING, nl=False)
        status = 0
    else:
        status = int(app(words, prog_name=NAME, complete_var=COMPLETE, standalone_mode=False) or 0)
    sys.stdout.flush()  # while somebody can still say that nobody reads it
    return status


def _broken_pipe(error: BrokenPipeError) -> tuple[int, str]:
    """The exit status, and what is refused, when a pipe broke: nothing where that is our own output."""
    return (closed_pipes.STATUS, "") if closed_pipes.ended(error) else (2, str(error))


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


def console() -> "Console":
    """Where results are printed."""
    from rich.console import Console

    return Console()


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"aomultirl {aomultirl.__version__}")
        raise typer.Exit


def _load_plugins(modules: list[str] | None) -> list[str] | None:
    """Load the plug-ins that a command names; those in the current folder are found, too."""
    if modules and not {"", os.getcwd()} & set(sys.path):
        sys.path.insert(0, os.getcwd())
    if modules:
        from aomultirl import plugins

        plugins.load_all(modules)
    return modules


def _plugin_option(offers: str) -> Any:
    """The option that names plug-ins, in a command that can make use of what they ``offers``."""
    words = f"A module with {offers} of others, named as in an import: it is imported, which runs it."
    return typer.Option("--plugin", metavar="MODULE", callback=_load_plugins, help=words)


Plugins = Annotated[list[str] | None, _plugin_option("worlds, streams, agents, learners or explorers")]
"""The option of all commands that read names of every kind."""
WorldPlugins = Annotated[list[str] | None, _plugin_option("worlds")]
"""The option of the commands that read the name of a world and no other."""


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Options of all commands."""
