"""The command that measures how fast all is: bench."""

import json
from pathlib import Path
from typing import Annotated

import typer

from aomultirl import checks
from aomultirl.cli.app import app, console


@app.command()
def bench(
    as_json: Annotated[bool, typer.Option("--json", help="Print the measurements as JSON.")] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="WORD", help="Only rows with this word in their names, as in --only recall; repeatable."),
    ] = None,
    whole: Annotated[
        bool,
        typer.Option("--whole", help="All 100 episodes of Recall in ICU-Sepsis, minutes, as in --whole --only icu."),
    ] = False,
    cold: Annotated[
        bool, typer.Option("--cold", help="Only what README's examples cost with an empty cache of machine code.")
    ] = False,
    scale: Annotated[
        bool,
        typer.Option("--scale", help="How costs grow with S, A, successors, M, K and H; three minutes."),
    ] = False,
    figure: Annotated[
        Path | None, typer.Option(metavar="FILE", help="For --scale: draw it, as in --scale --figure scale.png.")
    ] = None,
    endurance: Annotated[
        int | None,
        typer.Option(
            metavar="EPISODES",
            help="One run of Recall on the grid for so many episodes, its memory, time and wrong clusters at "
            "geometric points, as in --endurance 100000: some minutes.",
        ),
    ] = None,
    horizon: Annotated[int, typer.Option(help="For --endurance: H, the steps of an episode.")] = 100,
    sweep: Annotated[
        bool, typer.Option("--sweep", help="What many short cells cost beside the work in them, and in memory.")
    ] = False,
    cells: Annotated[int, typer.Option(help="How many, for --sweep.")] = 1000,
    workers: Annotated[int, typer.Option(help="For --sweep.")] = 2,
) -> None:
    """Measure how fast all is, and say which targets are missed; some three minutes.

    The compiled engine beside a C twin and Python in one run: ratios above 1 mean that ours is faster.  Without a C
    compiler the C column stays empty.  Then what people wait for: the first call with nothing compiled, in a process
    of its own, importing, commands, and Recall.

    Examples: [bold]aomultirl bench --json[/bold]
    [bold]aomultirl bench --cold[/bold]
    [bold]aomultirl bench --scale --figure scale.png[/bold]
    [bold]aomultirl bench --endurance 100000 --horizon 100[/bold]
    """
    kinds = {"--cold": cold, "--scale": scale, "--endurance": endurance is not None, "--sweep": sweep}
    asked = [name for name, is_asked in kinds.items() if is_asked]
    if len(asked) > 1:
        raise checks.Refusal(asked[1], f"is another benchmark than {asked[0]}: name one of them")
    if figure is not None and not scale:
        raise checks.Refusal("figure", "is drawn with --scale only")
    if whole and asked:
        raise checks.Refusal("whole", f"is about a row that {asked[0]} does not measure")
    if only and (sweep or endurance is not None):
        raise checks.Refusal("only", f"chooses rows, and {asked[0]} has none")
    if sweep:
        _sweep(cells, workers, as_json)
    elif endurance is not None:
        _endure(endurance, horizon, as_json)
    elif scale:
        _scale(figure, only or (), as_json)
    else:
        _rows(only or (), whole, cold, as_json)


def _rows(only: "list[str] | tuple[str, ...]", whole: bool, cold: bool, as_json: bool) -> None:
    """The rows of the two tables."""
    from aomultirl import benchmarks
    from aomultirl.benchmarks import rows, waits

    records = [] if cold else benchmarks.run(only=only)
    waited = rows.run(rows.COLD if cold else rows.rows(whole), only)
    if not records and not waited:
        raise checks.Refusal("only", f"is {', '.join(map(checks.shown, only))}, which is in the name of no row")
    if as_json:
        told = benchmarks.as_dict(records) | {"waits": [wait.as_dict() for wait in waited]}
        typer.echo(json.dumps(told, indent=2))
        return
    if records:
        benchmarks.print_table(records, console())
    if waited:
        waits.print_waits(waited, console())
    typer.echo(waits.misses(records, waited))
    if not only and not cold:
        typer.echo(waits.ELSEWHERE)


def _scale(figure: Path | None, only: "list[str] | tuple[str, ...]", as_json: bool) -> None:
    """How costs grow, and the large world."""
    from aomultirl.benchmarks import large, scale, scale_charts, waits
    from aomultirl.benchmarks.choosing import is_asked_for
    from aomultirl.reports import claims_table, figure_files

    if figure is not None:
        checks.path("figure", figure)
        figure_files.check_path(figure)
    found = scale.measure(only)
    waited = large.measure() if is_asked_for(large.NAME, only) else []
    if not found and not waited:
        raise checks.Refusal("only", f"is {', '.join(map(checks.shown, only))}, which is in the name of no row")
    claims = [one.claim.as_json() for one in found]
    if as_json:
        told = {"claims": claims, "sweeps": [one.as_dict() for one in found], "waits": [w.as_dict() for w in waited]}
        typer.echo(json.dumps(told, indent=2))
    else:
        claims_table.print_claims(claims, "How costs grow: exponents", console())
        if waited:
            waits.print_waits(waited, console())
        typer.echo(scale.summary(found) + (f" {waits.misses([], waited)}" if waited else ""))
    if figure is not None:
        scale_charts.write(found, figure)
        typer.echo(f"figure written to {figure}", err=as_json)


def _endure(episodes: int, horizon: int, as_json: bool) -> None:
    """A line as soon as a look was taken, so that whoever interrupts a run of hours has what it found."""
    from aomultirl.benchmarks import endurance

    endurance.check(episodes, horizon)
    looks = []
    if not as_json:
        typer.echo(f"Recall on the paper's grid, H = {horizon:,}, one run\n{endurance.headings()}")
    for look in endurance.run(episodes, horizon):
        looks.append(look)
        if not as_json:
            typer.echo(endurance.line(look))
    if as_json:
        typer.echo(json.dumps({"horizon": horizon, "looks": [look._asdict() for look in looks]}, indent=2))
    else:
        typer.echo(endurance.verdict(looks))


def _sweep(cells: int, workers: int, as_json: bool) -> None:
    """What cells cost beside their work."""
    from aomultirl.benchmarks import sweep as sweeping

    found = sweeping.measure(cells, workers)
    if as_json:
        typer.echo(json.dumps({**found._asdict(), "scaling": found.scaling, "share": found.share}, indent=2))
    else:
        sweeping.print_overhead(found, console())
