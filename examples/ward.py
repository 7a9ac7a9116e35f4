"""A ward with hidden variants, on ICU-Sepsis: makes the numbers, tables and figures of ``docs/ward.md``.

    python examples/ward.py --workers 2                    some minutes
    python examples/ward.py --quick                        the same with very few weeks, to see that it runs
    python examples/ward.py --workers 2 --images docs/images --page docs/ward.md

writes ``ward.json`` (all numbers) and four figures into ``results/ward``, and prints the tables.  The last line remakes
the page.  What is measured is in ``ward_numbers.py``, how it is shown in ``ward_report.py``.

A ward has three variants of a disease.  In a week all patients have one variant, and nobody says which.  Patients come
one after the other, and a patient either dies or survives.  Four questions are asked: how many patients survive under
which agent, how soon a variant is recognised, what a wrong recognition costs, and what logs of earlier patients are
worth.  The wards have seeds from 700000 on, on which no agent was developed.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from ward_numbers import QUICK, Sizes, measure
from ward_report import FIGURES, tables, write_page

from aomultirl import files
from aomultirl.reports import figure_files


def read_options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description="A ward with hidden variants, on ICU-Sepsis.")
    parser.add_argument("--quick", action="store_true", help="very few weeks, to see that it runs")
    parser.add_argument("--runs", type=int, help="wards, each with its own run")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--out", type=Path, default=Path("results/ward"), help="folder of ward.json and of the figures")
    parser.add_argument("--images", type=Path, help="folder of the figures, if they should go elsewhere")
    parser.add_argument("--page", type=Path, help="a page whose tables are written anew, such as docs/ward.md")
    parser.add_argument("--redraw", action="store_true", help="measure nothing: take the numbers of ward.json")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, write and print everything."""
    options = read_options(arguments)
    sizes = QUICK if options.quick else Sizes()
    if options.runs is not None:
        sizes = sizes._replace(runs=options.runs)
    options.out.mkdir(parents=True, exist_ok=True)
    kept = options.out / "ward.json"
    if options.redraw:
        numbers = json.loads(kept.read_text(encoding="utf-8"))
    else:
        numbers = measure(sizes, options.workers)
        files.write_whole(kept, json.dumps(numbers).encode())
    for name, draw in FIGURES.items():
        figure_files.save(draw(numbers), (options.images or options.out) / f"{name}.png", dpi=160)
    made = tables(numbers)
    for name, table in made.items():
        sys.stdout.write(f"\n{name}\n\n{table}\n")
    if options.page is not None:
        write_page(options.page, made)


if __name__ == "__main__":
    main()
