"""Small folders of results for the tests of what reads them."""

from itertools import product

from aomultirl.experiments.cells import Cell
from aomultirl.experiments.computation import compute
from aomultirl.experiments.store import Store


def part(name, **parameters):
    return {"name": name, "parameters": parameters}


GRID, UNIFORM = part("gridworld", edges="stay"), part("uniform")
RANDOM, OPTIMAL = part("Random", horizon=10), part("Optimal", horizon=10)


def cells(agents=(RANDOM, OPTIMAL), *, worlds=(GRID,), streams=(UNIFORM,), episodes=(4,), runs=3, seed=0, **options):
    """All combinations, the first runs first; agents may be given by their labels."""
    named = agents if isinstance(agents, dict) else {agent["name"]: agent for agent in agents}
    return [
        Cell(world, stream, agent, count, seed, number, label, **options)
        for number, world, stream, count, (label, agent) in product(
            range(runs), worlds, streams, episodes, named.items()
        )
    ]


def keep(folder, given, *, done=None, identity=None):
    """A folder of these cells, of which only ``done`` are computed, if that is said."""
    store = Store(folder, identity or {"kind": "sweep", "name": "small", "seed": given[0].seed}, given)
    store.prepare()
    for cell in given if done is None else done:
        store.keep(compute(cell))
    return store


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
