"""Parameters of the agents that put episodes in clusters, as they are read when a run begins."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.agents.base import check_is_explorer, check_is_learner
from aomultirl.agents.forwarding import configured
from aomultirl.exploring import Explorer
from aomultirl.learning import Learner
from aomultirl.model_set import ModelSet
from aomultirl.setting import Setting


def configured_parts(explorer: Explorer, learner: Learner, keywords: dict[str, Any]) -> tuple[Explorer, Learner]:
    """The explorer and the learner, with the fields that ``keywords`` names; refuses keywords that neither has."""
    check_is_explorer(explorer)
    check_is_learner(learner)
    rest = {name: value for name, value in keywords.items() if value is not None}
    parts = configured(explorer, rest), configured(learner, rest)
    for name in rest:
        raise checks.Refusal(name, f"is a parameter of neither {type(explorer).__name__} nor {type(learner).__name__}")
    return parts


def check_models(models: int | ModelSet, separation: float | None, setting: Setting) -> None:
    """Refuse a lambda that the worlds do not keep, and worlds of another size."""
    if not isinstance(models, ModelSet):
        checks.integer("models", models, least=1)
        return
    exact = models.separation()
    if separation is not None and (told := checks.real("separation", separation, above=0.0, most=2.0)) > exact:
        raise checks.Refusal(
            "separation", f"is {told!r}, but the models are only {exact!r} apart; tests are strict, so stay 1e-6 below"
        )
    sizes = (models.n_states, models.n_actions)
    if sizes != (setting.n_states, setting.n_actions):
        raise checks.Refusal("models", f"have {sizes[0]} states and {sizes[1]} actions, but these worlds do not")


def as_pairs(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """A list, so that a generator is not used up by the first run."""
    return checks.items("distinguishing_set", pairs, "pairs (state, action)")


def read_pairs(pairs: Iterable[tuple[int, int]] | None, setting: Setting) -> NDArray[np.bool_]:
    """The distinguishing set as a mask, (S, A); all pairs where none is given."""
    if pairs is None:
        return np.ones((setting.n_states, setting.n_actions), bool)
    mask = checks.pairs("distinguishing_set", pairs, setting.n_states, setting.n_actions)
    if not mask.any():
        raise checks.Refusal("distinguishing_set", "is empty")
    return mask
