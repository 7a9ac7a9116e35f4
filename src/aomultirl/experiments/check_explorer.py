"""A contract test that anyone can run on an explorer of their own.

>>> import aomultirl as ao
>>> ao.check_explorer(ao.exploring.GOSPRL())
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aomultirl import agents, checks
from aomultirl.engine.counts import CountTable
from aomultirl.engine.interacting import Session
from aomultirl.engine.stepping import Phase, Ran, Simulator
from aomultirl.experiments.check_agent import ContractError, check_agent
from aomultirl.experiments.check_learner import check_is_record, read_worlds
from aomultirl.experiments.episodes import episode_streams
from aomultirl.exploring.base import Exploration, Explorer
from aomultirl.mdp import MDP, ModelSet

NEEDED, FAILURE, SEED = 3, 0.1, 13
MOST_STEPS = 100_000
"""Steps within which an explorer must have visited every pair of a small world that communicates."""


def check_explorer(explorer: Explorer, models: ModelSet | None = None) -> None:
    """Raise :class:`ContractError` if ``explorer`` does not do what agents rely on.

    It must be a frozen dataclass that its fields make again.  Its behaviour must visit one pair, some or all of them as
    often as asked, say that it has reached its aim when it has and not before, depend on nothing but what it observes
    and its own random stream, and take the same steps in both drivers.  What it says of the number of steps must be a
    number or None.  Then it is tried inside AOMultiRL.

    Parameters
    ----------
    explorer
        an instance.
    models
        the worlds to try it on, which must communicate; two small random ones by default.
    """
    check_is_record(explorer, Explorer, "an explorer")
    worlds = read_worlds(models)
    _check_steps(explorer, worlds)
    every = np.ones((worlds.n_states, worlds.n_actions), bool)
    single, some = np.zeros_like(every), np.zeros_like(every)
    single[-1, -1] = True
    some[::2, 0] = True
    for number, world in enumerate(worlds):
        for targets in (single, some, every):
            _check_visits(explorer, world, targets, number)
    level = min(worlds.separation(), 2.0) - 1e-6
    inside: dict[str, Any] = {"samples": NEEDED, "clustering_horizon": 500, "learning_horizon": 20}
    try:
        check_agent(agents.AOMultiRL(len(worlds), level, 5.0, FAILURE, explorer=explorer, **inside), worlds)
    except ValueError as error:
        raise ContractError(f"inside AOMultiRL: {error}") from None


def _check_steps(explorer: Explorer, worlds: ModelSet) -> None:
    steps = explorer.steps(
        Exploration(
            n_states=worlds.n_states,
            pairs=4,
            needed=NEEDED,
            episodes=10,
            separation=1.0,
            hitting_time=5.0,
            failure=FAILURE,
        )
    )
    if steps is not None and (isinstance(steps, bool) or not isinstance(steps, int) or steps < 4 * NEEDED):
        raise ContractError(f"steps() gave {checks.shown(steps)} for 4 pairs of {NEEDED} visits, which cannot be")


def _check_visits(explorer: Explorer, world: MDP, targets: NDArray[np.bool_], number: int) -> None:
    """Every target is visited, and that is said at the step at which it is true."""
    inside = _explored(explorer, world, targets, number, MOST_STEPS)
    if not inside.outcome.finished:
        raise ContractError(f"after {MOST_STEPS:,} steps not every target has its {NEEDED} visits")
    if _least(inside.phase.counts, targets) < NEEDED:
        raise ContractError(f"the behaviour says it has reached its aim, but a target has fewer than {NEEDED} visits")
    steps = inside.outcome.steps
    before = _explored(explorer, world, targets, number, steps - 1)
    if _least(before.phase.counts, targets) >= NEEDED:
        raise ContractError("the behaviour goes on after every target has its visits")
    outside = _from_outside(explorer, world, targets, number, steps)
    if _lists(outside.phase.counts) != _lists(inside.phase.counts) or not outside.outcome.finished:
        raise ContractError("step by step, the visits are not the simulator's: they must depend on observations only")


def _phase(explorer: Explorer, targets: NDArray[np.bool_], steps: int) -> Phase:
    behaviour = explorer.behaviour(targets.copy(), NEEDED, FAILURE)
    return Phase(behaviour, steps, CountTable(targets.size), np.empty(0), "clustering")


def _explored(explorer: Explorer, world: MDP, targets: NDArray[np.bool_], number: int, steps: int) -> Ran:
    source, agent = (episode_streams(SEED, purpose, number + 1)[number] for purpose in ("world", "agent"))
    simulator = Simulator(world.alias_tables, world.gains, 0, source, agent)
    phase = _phase(explorer, targets, steps)
    return Ran(phase, 0, simulator.run(phase))


def _from_outside(explorer: Explorer, world: MDP, targets: NDArray[np.bool_], number: int, steps: int) -> Ran:
    source, agent = (episode_streams(SEED, purpose, number + 1)[number] for purpose in ("world", "agent"))
    from aomultirl.worlds.environment import WorldEnv

    environment = WorldEnv(world, 0, source)
    environment.reset()

    def single() -> Any:
        yield _phase(explorer, targets, steps)

    session = Session(single(), world.n_states, world.n_actions, 0, agent)
    while not session.over:
        state, reward, *_ = environment.step(session.act())
        session.observe(int(state), float(reward))
    return session.ran[0]


def _least(counts: CountTable, targets: NDArray[np.bool_]) -> int:
    """Visits of the target that has fewest."""
    starts, _, visits = counts.to_lists()
    totals = np.add.reduceat(np.append(visits, 0), starts[:-1]) * (np.diff(starts) > 0)
    return int(totals[targets.reshape(-1)].min())


def _lists(counts: CountTable) -> list[list[int]]:
    return [array.tolist() for array in counts.to_lists()]
