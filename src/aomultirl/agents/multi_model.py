"""MultiModel: knows the worlds, is never told which one it is in, and remembers nothing inside an episode.

It follows one policy (H, S) in all episodes, made for sum over m of w_m V_m by one of three planners of
:mod:`aomultirl.theory.multi_model`: "CADP", "WSU" (weight, select, update) or "mean" (the mean-value problem).

Setting: multi-model Markov decision processes (Steimle, Kaufman, Denton 2021): a finite set of known worlds, of which
every episode is one, and a policy that looks at the step and the state alone.

Must be told: the worlds, and their weights; never the task.

Guarantee: that of its planner.  CADP is worth at least what weight, select, update is, both are optimal for one world,
and all are worth at most the best policy without memory, which is NP-hard to find.

Adapted to a stream of tasks: not at all, since it learns nothing.  It is a yardstick.  A learner that pools all worlds
and remembers nothing inside an episode cannot expect more than the best policy without memory earns, where tasks are
drawn independently with these weights (in blocks it can: the last episodes say which world comes next);
``docs/agents.md`` says how often CADP finds that policy in worlds where all can be tried.  What lies between this agent
and :class:`aomultirl.agents.Optimal` is what recognising worlds is worth.

What was uncertain, and how it was settled.  The weights are all the same by default.  How often the stream will bring
each world would be better, and nobody knows that beforehand; who does gives ``weights``.  The default is CADP, which is
never worth less than weight, select, update.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

from aomultirl import checks
from aomultirl.agents.base import NOTHING, Agent, Episode, NoMemory, Report, check_plan
from aomultirl.engine.behaviours import follow
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import RandomStream
from aomultirl.engine.stepping import Phase
from aomultirl.setting import Setting
from aomultirl.theory import MemorylessPlan, coordinate_ascent, mean_value_problem, weight_select_update
from aomultirl.theory.multi_model import read_weights

PLANNERS = {"CADP": coordinate_ascent, "WSU": weight_select_update, "mean": mean_value_problem}
"""The methods by name."""


class MultiModel(Agent):
    """Is told the worlds and not the task, and follows a good policy without memory inside the episode.

    The planners are in :mod:`aomultirl.theory.multi_model`.

    Parameters
    ----------
    horizon
        H, the steps of an episode.
    method
        "CADP", coordinate ascent from the policy of "WSU" on; "WSU", weight, select, update; "mean", the policy that is
        optimal in the mean of all worlds.
    weights
        (M,), how probable every world is, or how often it comes; by default all are as probable.

    Examples
    --------
    >>> import aomultirl as ao
    >>> agent = ao.agents.MultiModel(4)
    >>> history = ao.run(agent, ao.worlds.doors(), ao.streams.round_robin(), episodes=8)
    >>> float(history["learning_reward"].mean()), agent.findings()  # the same door, whatever the sign says
    (0.25, {'value': 0.25})
    """

    told: ClassVar[frozenset[str]] = frozenset({"models"})
    keeps: ClassVar[type] = NoMemory

    def __init__(self, horizon: int, method: str = "CADP", weights: Sequence[float] | None = None) -> None:
        self.horizon, self.method, self.weights = horizon, method, weights

    def begin(self, setting: Setting) -> None:
        super().begin(setting)
        horizon = checks.integer("horizon", self.horizon, least=1)
        checks.choice("method", self.method, tuple(PLANNERS))
        if setting.models is None:
            raise ValueError("MultiModel must be told the worlds, and nobody knows them here")
        read_weights(self.weights, len(setting.models))
        tables = 2 * len(setting.models) if self.method == "CADP" else 0
        check_plan("horizon", horizon, setting, 1 + tables)
        vars(self).pop("_plan", None)
        self.kept = NoMemory()

    @cached_property
    def _plan(self) -> MemorylessPlan:
        """The plan, made when it is first needed: in large worlds it takes long."""
        assert self.setting.models is not None
        return PLANNERS[self.method](self.setting.models, self.horizon, self.weights)

    def episode(self, start: int, stream: RandomStream, task: int | None = None) -> Episode:
        plan = self._plan.policy
        yield Phase(follow(plan), self.horizon, CountTable(self.setting.n_pairs), NOTHING)
        return Report(evaluation=plan, evaluation_horizon=self.horizon)

    def findings(self) -> dict[str, Any]:
        """What the policy is worth: sum over m of w_m V_m, from the worlds' own starts."""
        return {"value": self._plan.value}
