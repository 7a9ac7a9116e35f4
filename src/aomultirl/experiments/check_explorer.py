"""A contract test that anyone can run on an explorer of their own.

>>> import aomultirl as ao
>>> ao.check_explorer(ao.exploring.GOSPRL())
"""

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.engine.counts import CountTable
from aomultirl.engine.interacting import Session
from aomultirl.engine.stepping import Phase, Ran
from aomultirl.experiments.check_agent import EPISODES, ContractError
from aomultirl.experiments.check_learner import check_inside_aomultirl, check_is_record, read_worlds, single
from aomultirl.experiments.contract_errors import asked, broken_contract
from aomultirl.experiments.episodes import episode_streams, simulated
from aomultirl.exploring.base import Exploration, Explorer
from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet

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
    with broken_contract():
        _check_steps(explorer, worlds)
    every = np.ones((worlds.n_states, worlds.n_actions), bool)
    single, some = np.zeros_like(every), np.zeros_like(every)
    single[-1, -1] = True
    some[::2, 0] = True
    for number, world in enumerate(worlds):
        for targets in (single, some, every):
            with broken_contract():
                _check_visits(explorer, world, targets, number)
    check_inside_aomultirl(
        worlds, EPISODES, explorer=explorer, samples=NEEDED, clustering_horizon=500, learning_horizon=20
    )


def _check_steps(explorer: Explorer, worlds: ModelSet) -> None:
    task = Exploration(
        n_states=worlds.n_states,
        pairs=4,
        needed=NEEDED,
        episodes=10,
        separation=1.0,
        hitting_time=5.0,
        failure=FAILURE,
    )
    steps = asked(explorer.steps, task)
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
    outside = _explored(explorer, world, targets, number, steps, outside=True)
    if _lists(outside.phase.counts) != _lists(inside.phase.counts) or not outside.outcome.finished:
        raise ContractError("step by step, the visits are not the simulator's: they must depend on observations only")


def _explored(
    explorer: Explorer, world: MDP, targets: NDArray[np.bool_], number: int, steps: int, outside: bool = False
) -> Ran:
    """A phase of exploring, in the simulator or step by step through a Gymnasium environment."""
    source, agent = (episode_streams(SEED, purpose, number + 1)[number] for purpose in ("world", "agent"))
    behaviour = asked(explorer.behaviour, targets.copy(), NEEDED, FAILURE)
    phase = Phase(behaviour, steps, CountTable(targets.size), np.empty(0), "clustering")
    if not outside:
        return Ran(phase, 0, simulated(world, 0, source, agent).run(phase))
    from aomultirl.worlds.environment import WorldEnv

    environment = WorldEnv(world, 0, source)
    environment.reset()
    session = Session(single(phase), world.n_states, world.n_actions, 0, agent)
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
