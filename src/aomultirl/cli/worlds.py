"""Commands about worlds: inspect, bounds, watch."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aomultirl.cli.app import WorldPlugins, app, console
from aomultirl.cli.completing import beginning_with, names_of

if TYPE_CHECKING:
    from aomultirl.reports.tables import TextTable

World = Annotated[
    str, typer.Argument(metavar="WORLD", help="A name of 'aomultirl list worlds'.", autocompletion=names_of("world"))
]
WorldParameters = Annotated[list[str] | None, typer.Argument(metavar="NAME=VALUE", help="Its parameters.")]


def _watched_agents(_: typer.Context) -> Iterable[str]:
    """The agents that can be watched."""
    from aomultirl.analysis import watched_agents

    return watched_agents.MAKERS


@app.command()
def inspect(
    world: World,
    parameters: WorldParameters = None,
    episodes: Annotated[int, typer.Option(help="K, how many episodes there are: N and H0 depend on it.")] = 200,
    failure: Annotated[float, typer.Option(help="p, how probable an error may be: N and H0 depend on it.")] = 0.03,
    hitting_time: Annotated[
        float | None, typer.Option(help="Expected steps to reach any state: H0 depends on it. Exact by default.")
    ] = None,
    figure: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the grids: .png, .svg or .pdf.")] = None,
    slow: Annotated[
        bool, typer.Option("--slow", help="Diameters and hitting times of large worlds too; minutes.")
    ] = False,
    plugin: WorldPlugins = None,
) -> None:
    """Show what a set of worlds is like, and which of the paper's assumptions hold in it.

    Example: [bold]aomultirl inspect gridworld edges=stay --figure grids.png[/bold]
    """
    from aomultirl.analysis import inspection
    from aomultirl.reports import figure_files, grid_figure
    from aomultirl.reports.tables import inspection_tables
    from aomultirl.worlds import catalogue

    models = catalogue.make(world, catalogue.parse(parameters or []))
    if figure is not None:
        grid_figure.check(models, figure)
    found = inspection.inspect(models, episodes=episodes, failure=failure, hitting_time=hitting_time, slow=slow)
    if figure is not None:
        figure_files.save(grid_figure.draw_grids(models, found.distinguishing_set), figure)
    _print(inspection_tables(found, " ".join([world, *(parameters or [])])))
    if figure is not None:
        console().print(f"figure written to {figure}")


def _print(tables: "Iterable[TextTable]") -> None:
    from aomultirl.reports.tables import for_terminal

    for table in tables:
        console().print(for_terminal(table))


@app.command()
def bounds(
    context: typer.Context,
    states: Annotated[int, typer.Option(help="S, how many states each world has.")] = 16,
    actions: Annotated[int, typer.Option(help="A, how many actions each state has.")] = 4,
    models: Annotated[int, typer.Option(help="M, how many worlds there are.")] = 4,
    episodes: Annotated[int, typer.Option(help="K, how many episodes there are.")] = 200,
    learning_horizon: Annotated[
        int | None, typer.Option(help="H1, steps of an episode's second part, for learning; 200 by default.")
    ] = None,
    horizon: Annotated[int | None, typer.Option(help="H = H0 + H1, steps of a whole episode, in place of H1.")] = None,
    separation: Annotated[
        float, typer.Option(help="lambda, how far apart two worlds are where they differ most; above 0, at most 2.")
    ] = 1.299999,
    hitting_time: Annotated[
        float, typer.Option(help="Expected steps in which any policy reaches any state, at most: H0 is made of it.")
    ] = 7.0,
    diameter: Annotated[
        float | None,
        typer.Option(help="D, expected steps in which a good policy reaches any state; the hitting time by default."),
    ] = None,
    failure: Annotated[float, typer.Option(help="p, how probable it may be that anything goes wrong.")] = 0.03,
    pairs: Annotated[int, typer.Option(help="How many pairs of state and action the distinguishing set has.")] = 3,
    constants: Annotated[
        str, typer.Option(help="N, H0 and the bonus: paper, as in its text, or released, as in its authors' code.")
    ] = "paper",
) -> None:
    """Show what the paper's theorems promise, beside the trivial K H; the defaults are the paper's experiment.

    Example: [bold]aomultirl bounds --episodes 100000 --separation 0.5 --constants released[/bold]
    """
    from aomultirl.analysis.paper_bounds import compute
    from aomultirl.reports import bounds_table

    _print(bounds_table.tables(compute(**context.params)))


@app.command()
def watch(
    world: World,
    parameters: WorldParameters = None,
    agent: Annotated[
        str,
        typer.Option(
            autocompletion=beginning_with(_watched_agents),
            help="aomultirl, two-stage, doubling, sequential, recall, one-episode, pooled, oracle, optimal or random.",
        ),
    ] = "aomultirl",
    episode: Annotated[
        int | None,
        typer.Option(help="Its number, from 0, at most 2,000; by default every world has come three times before."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of all randomness.")] = 0,
    speed: Annotated[float, typer.Option(help="2 is twice as fast.")] = 1.0,
    gif: Annotated[Path | None, typer.Option(metavar="FILE", help="Write an animation, and play nothing.")] = None,
    plugin: WorldPlugins = None,
) -> None:
    """Watch an agent find out which world it is in, in one episode; the worlds take turns.

    The paper's phases take some hundred thousand steps; here the agents have numbers small enough to watch.

    Examples: [bold]aomultirl watch gridworld[/bold]
    [bold]aomultirl watch gridworld edges=stay --episode 3 --gif new_world.gif[/bold]
    [bold]aomultirl watch gridworld edges=stay --agent recall --gif known.gif[/bold]
    """
    from aomultirl.analysis import recorder, watched_agents
    from aomultirl.reports import watch_gif, watch_terminal
    from aomultirl.worlds import catalogue

    watched_agents.check(agent)
    recorder.check(episode, seed)
    watch_terminal.check(speed)
    if gif is not None:
        watch_gif.check(gif)
    models = catalogue.make(world, catalogue.parse(parameters or []))
    recording = recorder.record(watched_agents.make(agent, models), models, episode=episode, seed=seed)
    note = watched_agents.numbers(recording, models)
    if gif is None:
        watch_terminal.play(recording, console(), speed=speed, note=note)
    else:
        watch_gif.write(recording, gif, note, speed=speed)
        typer.echo("\n".join([*recording.lines(note), f"animation written to {gif}"]))
