"""The command for the shell: completion."""

from typing import Annotated

import typer

from aomultirl.cli.app import app
from aomultirl.cli.completing import SHELLS, beginning_with, script


@app.command()
def completion(
    shell: Annotated[
        str,
        typer.Argument(metavar="SHELL", help="bash, zsh or fish.", autocompletion=beginning_with(lambda _: SHELLS)),
    ],
) -> None:
    """Print what a shell needs to complete commands, options, and names of worlds, agents and suites.

    For bash, once: [bold]aomultirl completion bash >> ~/.bashrc[/bold]

    For zsh, once, below compinit: [bold]aomultirl completion zsh >> ~/.zshrc[/bold]

    For fish, once: [bold]aomultirl completion fish > ~/.config/fish/completions/aomultirl.fish[/bold]
    """
    typer.echo(script(shell))
