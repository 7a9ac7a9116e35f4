"""The command that shows a run while it goes on: live."""

import time
import webbrowser
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aomultirl import checks
from aomultirl.cli.app import Plugins, app

if TYPE_CHECKING:
    from aomultirl.analysis.live.playing import Pace, Playing

LAST_LOOK = 1.0
"""Seconds that the end is shown where the command ends with the run: a page asks several times a second."""


@app.command()
def live(
    place: Annotated[
        Path,
        typer.Argument(metavar="SPEC.toml|FOLDER", help="What to play: see examples/; or results, to follow them."),
    ],
    world: Annotated[
        str | None, typer.Option(metavar="WORD", help="The worlds with this word in their name; the first by default.")
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(metavar="WORD", help="The agent with this word in its label; Recall by default."),
    ] = None,
    run: Annotated[int, typer.Option(help="The number of the run, from 0.")] = 0,
    speed: Annotated[float, typer.Option(help="2 is twice as fast.")] = 1.0,
    port: Annotated[int, typer.Option(help="To listen to on this machine; any that is free by default.")] = 0,
    open_it: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    until_done: Annotated[
        bool, typer.Option("--until-done", help="End with the last episode; by default with Ctrl-C.")
    ] = False,
    plugin: Plugins = None,
) -> int:
    """Show a run in a page for the browser while it goes on: beliefs, the worlds in memory, rewards.

    A specification is played: one of its agents that recognise worlds, such as Recall, with the same learner without
    memory beside it.  A folder of results is read, while another process writes it or afterwards.  Nothing is written.
    Only this machine can reach the page, at an address with a random token.  Ctrl-C ends it.

    Examples: [bold]aomultirl live examples/quick.toml --open[/bold]
    [bold]aomultirl live results/quick --agent Recall --speed 4[/bold]
    """
    from aomultirl.analysis.live.choosing import choose, of_run
    from aomultirl.analysis.live.following import Following
    from aomultirl.analysis.live.playing import Pace, Playing
    from aomultirl.analysis.live.story import Story
    from aomultirl.experiments.specification import read_specification
    from aomultirl.reports import live_server

    pace = Pace(speed)
    checks.path("the specification or the folder", place)
    if not place.exists():
        raise ValueError(f"there is no file or folder {str(place)!r}")
    story = Story(f"{place.name or place.resolve().name}, live")
    if place.is_dir():
        show: Callable[[], None] = partial(
            Following(place, story, world, agent, run).follow, pace, until_done=until_done
        )
    else:
        specification = read_specification(place)
        cell = of_run(choose(specification.configurations(), world, agent), run, specification.runs)
        show = partial(_play, Playing(cell, story, str(place)), pace)
    with live_server.serving(story, port) as server:
        typer.echo(f"{server.address} shows it; Ctrl-C ends it")
        try:
            if open_it and not webbrowser.open(server.address):
                typer.echo("aomultirl: no browser was found that could open it", err=True)
            show()
            time.sleep(LAST_LOOK)
            while not until_done:
                time.sleep(LAST_LOOK)
        except KeyboardInterrupt:
            typer.echo(err=True)
    return 0


def _play(playing: "Playing", pace: "Pace") -> None:
    """Play a cell; what has to be compiled for it is said in the page, too."""
    playing.story.say(
        "preparing", "What the computer needs for it is being compiled, once; that may take some minutes."
    )
    playing.play(pace)
