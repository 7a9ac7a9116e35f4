"""What shells complete: the command that prints what they need for it, and the names that there are.

A shell asks by running the command with the variable COMPLETE set; Typer answers, in the shell's own way.
"""

import os
from collections.abc import Callable, Iterable

import typer
from typer.completion import completion_init, get_completion_script  # type: ignore[attr-defined]

from aomultirl import checks

NAME, COMPLETE = "aomultirl", "_AOMULTIRL_COMPLETE"
"""The name of the program, and the variable that says what a shell wants to know."""
SHELLS = ("bash", "zsh", "fish")
"""Those that are known."""


def answer_shells() -> None:
    """Have Typer answer in the way of these shells, if one asks."""
    if os.environ.get(COMPLETE):
        completion_init()


def script(shell: str) -> str:
    """What a shell must read to complete the words of commands."""
    checks.choice("SHELL", shell, SHELLS)
    return str(get_completion_script(prog_name=NAME, complete_var=COMPLETE, shell=shell))


def beginning_with(names: Callable[[typer.Context], Iterable[str]]) -> Callable[[typer.Context, str], list[str]]:
    """How Typer asks for the names that begin with what was typed, of those that there are."""

    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        return [name for name in names(ctx) if name.startswith(incomplete)]

    return complete


def names_of(kind: str) -> Callable[[typer.Context, str], list[str]]:
    """The same for the names of a kind, such as "world"."""

    def names(_: typer.Context) -> Iterable[str]:
        from aomultirl import plugins

        return sorted(plugins.makers(kind), key=str.casefold)

    return beginning_with(names)
