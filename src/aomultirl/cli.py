"""The command line.  Each command only reads its arguments, calls the library, and prints.

Bad input ends with status 2 and one line on standard error.
"""

import json
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, cast

import typer
from rich.console import Console
from rich.table import Table

import aomultirl
from aomultirl import checks
from aomultirl.worlds import catalogue

app = typer.Typer(
    name="aomultirl",
    help="Reinforcement learning when every episode is one of several hidden worlds and nobody says which.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


# Typer has its own copy of click or uses the package, depending on its version; this class is where both agree.
_UsageError = cast(
    type[typer.BadParameter], next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name; the exit status."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        status = int(app(words or ["--help"], prog_name="aomultirl", standalone_mode=False) or 0)
        if status == 130:  # how some versions of typer report Ctrl-C
            raise KeyboardInterrupt
        return status
    except MemoryError:
        return _refuse("there is not enough memory for this")
    except (ValueError, ImportError, OSError, RuntimeError) as error:
        return _refuse(str(error))
    except (KeyboardInterrupt, typer.Abort):
        sys.stderr.write("aomultirl: interrupted; what was finished is kept\n")
        return 130
    except _UsageError as error:
        return _refuse(error.format_message() + _offender(error, words))


def _offender(error: typer.BadParameter, words: list[str]) -> str:
    """The value of the option that was refused, where it can be told."""
    for name in getattr(getattr(error, "param", None), "opts", ()):
        for word, following in pairwise([*words, ""]):
            if word == name and following:
                return f": {following!r}"
            if word.startswith(f"{name}="):
                return f": {word.partition('=')[2]!r}"
    return ""


def _refuse(message: str) -> int:
    sys.stderr.write(f"aomultirl: {' '.join(message.split())}\n")
    return 2


def _announce_compiling() -> None:
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


@app.command("list")
def list_worlds() -> None:
    """List the worlds and their parameters.

    Example: [bold]aomultirl list[/bold]
    """
    table = Table(box=None, pad_edge=False, padding=(0, 2, 1, 0))
    table.add_column("world", style="bold", no_wrap=True)
    table.add_column("what it is, and name=value it takes")
    for name in catalogue.names():
        summary, parameters = catalogue.describe(name)
        table.add_row(name, f"{summary.replace('``', '')}\n[dim]{parameters}[/dim]")
    Console().print(table)


@app.command()
def bench(
    as_json: Annotated[bool, typer.Option("--json", help="Print the measurements as JSON.")] = False,
) -> None:
    """Compare the compiled engine with a C twin and with Python, in one run; about forty seconds.

    Ratios above 1 mean that ours is faster.  Without a C compiler the C column stays empty.

    Example: [bold]aomultirl bench --json[/bold]
    """
    from aomultirl import benchmarks

    records = benchmarks.run()
    if as_json:
        typer.echo(json.dumps(benchmarks.as_dict(records), indent=2))
    else:
        benchmarks.print_table(records)


@app.command()
def inspect(
    world: Annotated[str, typer.Argument(help="A world of 'aomultirl list'.")],
    parameters: Annotated[list[str] | None, typer.Argument(metavar="[NAME=VALUE]...", help="Its parameters.")] = None,
    episodes: Annotated[int, typer.Option(help="K, for N and H0.")] = 200,
    failure: Annotated[float, typer.Option(help="p, for N and H0.")] = 0.03,
    hitting_time: Annotated[float | None, typer.Option(help="D for H0, in place of the exact one.")] = None,
    figure: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the grids: .png, .svg or .pdf.")] = None,
    slow: Annotated[
        bool, typer.Option("--slow", help="Diameters and hitting times of large worlds too; minutes.")
    ] = False,
) -> None:
    """Show what a set of worlds is like, and which of the paper's assumptions hold in it.

    Example: [bold]aomultirl inspect gridworld edges=stay --figure grids.png[/bold]
    """
    from aomultirl.reports import grid_figure, inspection

    models = catalogue.make(world, catalogue.parse(parameters or []))
    console = Console()
    if figure is not None:
        grid_figure.check(models, figure)
    found = inspection.inspect(models, episodes=episodes, failure=failure, hitting_time=hitting_time, slow=slow)
    if figure is not None:
        grid_figure.save(grid_figure.draw_grids(models, found.distinguishing_set), figure)
    inspection.show(found, " ".join([world, *(parameters or [])]), console)
    if figure is not None:
        console.print(f"figure written to {figure}")


@app.command()
def bounds(
    states: Annotated[int, typer.Option(help="S.")] = 16,
    actions: Annotated[int, typer.Option(help="A.")] = 4,
    models: Annotated[int, typer.Option(help="M, the number of worlds.")] = 4,
    episodes: Annotated[int, typer.Option(help="K.")] = 200,
    learning_horizon: Annotated[int | None, typer.Option(help="H1; 200 if neither it nor H is given.")] = None,
    horizon: Annotated[int | None, typer.Option(help="H = H0 + H1, in place of H1.")] = None,
    separation: Annotated[float, typer.Option(help="lambda, above 0 and at most 2.")] = 1.299999,
    hitting_time: Annotated[float, typer.Option(help="The bound on the hitting time that H0 is made of.")] = 7.0,
    diameter: Annotated[float | None, typer.Option(help="D; the hitting time bounds it otherwise.")] = None,
    failure: Annotated[float, typer.Option(help="p.")] = 0.03,
    pairs: Annotated[int, typer.Option(help="The size of the distinguishing set.")] = 3,
    constants: Annotated[str, typer.Option(help="N, H0 and the bonus: paper or released.")] = "paper",
) -> None:
    """Show what the paper's theorems promise, beside the trivial K H; the defaults are the paper's experiment.

    Example: [bold]aomultirl bounds --episodes 100000 --separation 0.5 --constants released[/bold]
    """
    from aomultirl.reports import bounds_table

    found = bounds_table.collect(
        states=states,
        actions=actions,
        models=models,
        episodes=episodes,
        learning_horizon=learning_horizon,
        horizon=horizon,
        separation=separation,
        hitting_time=hitting_time,
        diameter=diameter,
        failure=failure,
        pairs=pairs,
        constants=constants,
    )
    bounds_table.show(found, Console())


@app.command()
def reproduce(
    runs: Annotated[int, typer.Option(help="How often each agent runs.")] = 10,
    episodes: Annotated[int, typer.Option(help="K.")] = 200,
    seed: Annotated[int, typer.Option(help="Of all randomness.")] = 0,
    edges: Annotated[
        str, typer.Option(help="Moves out of the grid: stay, as the authors ran it, or third, as the text says.")
    ] = "stay",
    constants: Annotated[
        str, typer.Option(help="N, H0 and the bonus: released, of the authors' code, or paper.")
    ] = "released",
    workers: Annotated[int, typer.Option(help="Processes that share the work; the results are the same.")] = 1,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where to write; finished runs in it are kept.")] = Path(
        "results/paper"
    ),
) -> None:
    """Run the paper's experiment and check what the paper says of it: figure, numbers, and a page for the browser.

    Interrupted, it loses nothing: the same command again runs what is missing.

    Example: [bold]aomultirl reproduce --edges third --workers 2 --out results/text[/bold]
    """
    from aomultirl.experiments.paper import PaperExperiment
    from aomultirl.reports import paper_claims, progress, reproduction

    experiment = PaperExperiment(runs, episodes, seed, edges, constants)
    workers = checks.integer("workers", workers, least=1)
    reproduction.check(experiment, out)
    _announce_compiling()
    with progress.bar("runs", sys.stderr) as done:
        found = reproduction.reproduce(experiment, out, workers, done)
    for path in found.set_aside:
        typer.echo(f"aomultirl: a damaged file was set aside as {path}", err=True)
    paper_claims.show_claims(found.claims, Console())
    typer.echo(f"figure.png, figure.svg, figure.pdf, episodes.parquet, summary.json and report.html are in {out}")


@app.command()
def report(
    place: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of results, or a history in a Parquet file.")],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The page; report.html beside the results by default.")
    ] = None,
) -> None:
    """Make a page for the browser from the histories in a folder or a file.

    Histories are what [bold]History.write[/bold] writes.  The page needs no network and nothing beside it.

    Example: [bold]aomultirl report results/paper --out page.html[/bold]
    """
    from aomultirl.reports import collecting, page

    target = out or (place if place.is_dir() else place.parent) / "report.html"
    collecting.check_target(target)
    found = collecting.collect(place)
    page.write_page(target, found.runs, title=found.title, claims=found.claims, command=found.command)
    typer.echo(f"page written to {target}")


@app.command()
def compare(
    suite: Annotated[str, typer.Option(help="identify: steps to recognise a world; reward: what whole episodes earn.")],
    runs: Annotated[int, typer.Option(help="Of 200 episodes each; 100 make the full size of 'identify'.")] = 5,
    seed: Annotated[int, typer.Option(help="Of all randomness.")] = 0,
    workers: Annotated[int, typer.Option(help="Processes that share the work; the results are the same.")] = 1,
) -> None:
    """Compare agents: a table with intervals, and what it should reach.

    Example: [bold]aomultirl compare --suite identify --runs 20 --workers 2[/bold]
    """
    from aomultirl.experiments import suites
    from aomultirl.reports import progress, suites_table

    checks.choice("suite", suite, ("identify", "reward"))
    runs, workers = checks.integer("runs", runs, least=1), checks.integer("workers", workers, least=1)
    checks.integer("seed", seed, least=0)
    _announce_compiling()
    cases = suites.identify_suite() if suite == "identify" else suites.reward_suite()
    with progress.bar("runs", sys.stderr) as done:
        results = suites.run_suite(cases, runs, seed, workers, done)
    show = suites_table.show_identify if suite == "identify" else suites_table.show_reward
    show(cases, results, Console())


@app.command()
def watch(
    world: Annotated[str, typer.Argument(help="A world of 'aomultirl list'.")],
    parameters: Annotated[list[str] | None, typer.Argument(metavar="[NAME=VALUE]...", help="Its parameters.")] = None,
    agent: Annotated[
        str,
        typer.Option(
            help="aomultirl, two-stage, doubling, sequential, recall, one-episode, pooled, oracle, optimal or random."
        ),
    ] = "aomultirl",
    episode: Annotated[
        int | None,
        typer.Option(help="Its number, from 0, at most 2,000; by default every world has come three times before."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of all randomness.")] = 0,
    speed: Annotated[float, typer.Option(help="2 is twice as fast.")] = 1.0,
    gif: Annotated[Path | None, typer.Option(metavar="FILE", help="Write an animation, and play nothing.")] = None,
) -> None:
    """Watch an agent find out which world it is in, in one episode; the worlds take turns.

    The paper's phases take some hundred thousand steps; here the agents have numbers small enough to watch.

    Example: [bold]aomultirl watch gridworld edges=stay --episode 3 --gif new_world.gif[/bold]
    """
    from aomultirl.reports import watching, watching_agents, watching_gif, watching_terminal

    watching_agents.check(agent)
    watching.check(episode, seed)
    watching_terminal.check(speed)
    if gif is not None:
        watching_gif.check(gif)
    models = catalogue.make(world, catalogue.parse(parameters or []))
    _announce_compiling()
    player = watching_agents.make(agent, models)
    recording = watching.record(player, models, episode=episode, seed=seed)
    note = watching_agents.numbers(recording, models)
    if gif is None:
        watching_terminal.play(recording, Console(), speed=speed, note=note)
    else:
        watching_gif.write(recording, gif, note)
        typer.echo("\n".join([*watching_terminal.lines(recording, note), f"animation written to {gif}"]))
