"""The paper's constants and bounds as functions, and the coin game behind its lower bound."""

from aomultirl.theory.average_reward import AverageReward, optimal_gain, span
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
from aomultirl.theory.coin_game import (
    CoinGame,
    Coins,
    OwnStrategy,
    Strategy,
    SuccessiveElimination,
    TrackAndStop,
    UniformAllocation,
)
from aomultirl.theory.coin_success import failing_rows, flips_needed, success_curve
from aomultirl.theory.concentration import binomial_interval, weissman_radius, weissman_samples, weissman_tail
from aomultirl.theory.constants import clustering_horizon, samples_needed, threshold
from aomultirl.theory.identification import identification_lower_bound
from aomultirl.theory.known_worlds import PlannedReward, likeliest_world_reward, qmdp_reward, told_nothing_optimum
from aomultirl.theory.lower_bounds import (
    CoinFlips,
    coin_flips,
    hidden_bias,
    identification_regret,
    identification_samples,
    identification_steps,
    minimax_lower_bound,
)
from aomultirl.theory.variation import VariationBudget, restart_q_bound, restart_q_epochs, variation_budget

__all__ = [
    "AverageReward",
    "CoinFlips",
    "CoinGame",
    "Coins",
    "OwnStrategy",
    "PlannedReward",
    "RegretBound",
    "Strategy",
    "SuccessiveElimination",
    "TrackAndStop",
    "UniformAllocation",
    "VariationBudget",
    "binomial_interval",
    "bonus",
    "clustering_horizon",
    "coin_flips",
    "external_samples_bound",
    "failing_rows",
    "first_stage_bound",
    "flips_needed",
    "full_set_bound",
    "hidden_bias",
    "identification_lower_bound",
    "identification_regret",
    "identification_samples",
    "identification_steps",
    "likeliest_world_reward",
    "logarithm",
    "minimax_lower_bound",
    "optimal_gain",
    "qmdp_reward",
    "regret_bound",
    "restart_q_bound",
    "restart_q_epochs",
    "samples_needed",
    "span",
    "success_curve",
    "threshold",
    "told_nothing_optimum",
    "two_stage_bound",
    "ucbvi_bound",
    "ucrl2_bound",
    "variation_budget",
    "visits_until_informative",
    "weissman_radius",
    "weissman_samples",
    "weissman_tail",
]
