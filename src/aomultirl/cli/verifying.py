"""The command that checks a folder of results: verify."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from aomultirl.cli.app import Plugins, app


@app.command()
def verify(
    place: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of results.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
    plugin: Plugins = None,
) -> int:
    """Check every file in a folder of results: whether it is whole, and of the cell that it is named after.

    Nothing is touched.  Ends with 0 if all is well, also where cells are missing or failed, and with 1 if something is
    wrong; [bold]aomultirl run[/bold] sets aside what is wrong and computes it anew.

    Example: [bold]aomultirl verify results/quick[/bold]
    """
    from aomultirl.experiments import verification
    from aomultirl.reports import verified_table

    found = verification.verify(place)
    if as_json:
        typer.echo(json.dumps(verification.as_dict(found), indent=2))
    else:
        verified_table.show(found, Console())
    return 1 if found.findings else 0
