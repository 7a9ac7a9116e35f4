"""The paper's constants and bounds as functions."""

from aomultirl.theory.bounds import (
    RegretBound,
    bonus,
    external_samples_bound,
    first_stage_bound,
    full_set_bound,
    logarithm,
    regret_bound,
    two_stage_bound,
    ucbvi_bound,
    ucrl2_bound,
    visits_until_informative,
)
from aomultirl.theory.constants import clustering_horizon, samples_needed, threshold
from aomultirl.theory.identification import identification_lower_bound
from aomultirl.theory.lower_bounds import (
    CoinFlips,
    coin_flips,
    hidden_bias,
    identification_regret,
    identification_samples,
    identification_steps,
    minimax_lower_bound,
)

__all__ = [
    "CoinFlips",
    "RegretBound",
    "bonus",
    "clustering_horizon",
    "coin_flips",
    "external_samples_bound",
    "first_stage_bound",
    "full_set_bound",
    "hidden_bias",
    "identification_lower_bound",
    "identification_regret",
    "identification_samples",
    "identification_steps",
    "logarithm",
    "minimax_lower_bound",
    "regret_bound",
    "samples_needed",
    "threshold",
    "two_stage_bound",
    "ucbvi_bound",
    "ucrl2_bound",
    "visits_until_informative",
]
