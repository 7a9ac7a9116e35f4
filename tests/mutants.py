"""Mutants: single constants and signs of the core, changed one at a time, each with the tests that must notice it.

A mutant that no test of its own module notices is a missing test.  ``test_mutants.py`` runs them.
"""

from typing import NamedTuple


class Mutant(NamedTuple):
    """One change of one file.

    file
        within the package.
    old
        the text that is changed; it stands in the file exactly once.
    new
        what it is changed to.
    tests
        of the file's own module: a file of tests, or some of its functions where the whole file would take minutes.
    """

    file: str
    old: str
    new: str
    tests: tuple[str, ...]


def _mutant(file: str, old: str, new: str, tests: str, *functions: str) -> Mutant:
    return Mutant(file, old, new, tuple(f"tests/{tests}::{name}" for name in functions) or (f"tests/{tests}",))


MUTANTS = (
    _mutant(
        "engine/stepping.py",
        "2.0**-53 < reward",
        "2.0**-52 < reward",
        "engine/test_stepping.py",
        "test_acting_at_random_is_uniform_and_noisy_rewards_have_their_means",
    ),
    _mutant(
        "engine/counts.py",
        "                    visits -= 1\n",
        "                    visits -= 0\n",
        "engine/test_counts.py",
        "test_tables_are_added",
    ),
    _mutant(
        "engine/planning.py",
        "0.5 * (low + high)",
        "0.5 * (high - low)",
        "engine/test_planning.py",
        "test_values_of_long_horizons_are_those_of_single_steps",
    ),
    _mutant("engine/sampling.py", "mass[j] -= 1.0 - mass[i]", "mass[j] -= mass[i]", "engine/test_sampling.py"),
    _mutant(
        "engine/behaviours.py",
        "0, np.ones(n_states, np.int64)",
        "0, np.full(n_states, 2)",
        "engine/test_behaviours.py",
        "test_both_drivers_hand_over_the_numbers_of_the_slow_twin",
    ),
    _mutant("model_set.py", "exact / 2.0", "exact / 4.0", "test_mdp.py"),
    _mutant(
        "geometry/separation.py",
        "abs(a.probs[i] - b.probs[j])",
        "abs(a.probs[i] + b.probs[j])",
        "geometry/test_separation.py",
    ),
    _mutant("streams.py", "total * 3 // 4", "total * 2 // 3", "test_streams.py", "test_the_papers_sequence"),
    _mutant(
        "identifying/threshold.py",
        "pair) > threshold",
        "pair) >= threshold",
        "identifying/test_threshold.py",
        "test_a_distance_equal_to_the_threshold_is_the_same_world",
    ),
    _mutant(
        "identifying/e_values.py",
        "math.log((1.0 - TRUST) / pool)",
        "math.log((1.0 + TRUST) / pool)",
        "identifying/test_e_values.py",
        "test_trusting_is_never_above_the_infimum",
    ),
    _mutant(
        "identifying/bets.py",
        "(hits_rival + 0.5) / (n_rival + 1.0)",
        "(hits_rival + 0.5) / (n_rival + 0.5)",
        "identifying/test_bets.py",
        "test_finds_the_best_threshold_event",
    ),
    _mutant(
        "identifying/certificates.py",
        "novel += here[i] - before[i]",
        "novel += here[i] + before[i]",
        "identifying/test_certificates.py",
        "test_equals_brute_force_over_all_events",
        "test_what_was_certified_stays_so_and_what_came_before_does_not_count",
    ),
    _mutant(
        "identifying/sequential.py",
        "0.9 * math.exp(scores[c] - most) / total + 0.1 / alive",
        "0.8 * math.exp(scores[c] - most) / total + 0.2 / alive",
        "identifying/test_sequential.py",
        "test_observe_equals_working_everything_out_anew",
    ),
    _mutant(
        "identifying/proof.py",
        "math.log(0.5 * (1.0 - BETTING) / len(total))",
        "math.log(1.0 * (1.0 - BETTING) / len(total))",
        "identifying/test_proof.py",
        "test_a_difference_rejects_as_soon_as_it_exceeds_its_share",
    ),
    _mutant(
        "exploring/explore_id.py",
        "- totals[best] + 1",
        "- totals[best] + 2",
        "exploring/test_explore_id.py",
        "test_equals_algorithm_2_decided_anew_at_every_step",
        "test_equals_algorithm_2_on_the_papers_grids",
    ),
    _mutant(
        "exploring/gosprl.py",
        "+ 6.0 * x / n",
        "+ 3.0 * x / n",
        "exploring/test_gosprl.py",
        "test_the_least_way_is_that_of_a_linear_program",
        "test_the_interval_of_a_coin_worked_out_by_hand",
    ),
    _mutant(
        "exploring/seek.py",
        "math.exp(0.5 * (seen.scores[rival] - seen.scores[leader]))",
        "math.exp(seen.scores[rival] - seen.scores[leader])",
        "exploring/test_seek.py",
        "test_doubts_are_worth_what_a_visit_tells_of_each_rival_by_the_root_of_its_likelihood",
    ),
    _mutant(
        "learning/ucbvi.py",
        "self.logarithm / (2.0 * np.maximum(learned.visits, 1))",
        "self.logarithm / (4.0 * np.maximum(learned.visits, 1))",
        "learning/test_ucbvi.py",
        "test_unknown_rewards_are_their_means_and_hoeffdings_radius",
    ),
    _mutant(
        "learning/ucrl2.py",
        "np.sqrt(14.0 * n_states",
        "np.sqrt(7.0 * n_states",
        "agents/test_ucrl2.py",
        "test_golden_radii",
    ),
    _mutant(
        "learning/extended_value_iteration.py",
        "moved, lost = radius / 2.0, 0.0",
        "moved, lost = radius, 0.0",
        "learning/test_extended_value_iteration.py",
        "test_golden_rows",
    ),
    _mutant(
        "learning/optimism.py",
        "math.log1p(left / (options.pace * (n + lean)))",
        "math.log1p(left / (n + lean))",
        "learning/test_optimism.py",
        "test_one_backup_is_the_formula",
    ),
    _mutant(
        "learning/row_likelihoods.py",
        "same, looked = 0.5, 1.0",
        "same, looked = 1.0, 1.0",
        "learning/test_row_likelihoods.py",
        "test_sharing_is_found_by_expectation_and_maximisation",
    ),
    _mutant(
        "learning/planning_counts.py",
        "min(odds, GUESS)",
        "min(odds, 2.0 * GUESS)",
        "learning/test_world_rows.py",
        "test_what_to_plan_with_is_the_formula",
    ),
    _mutant(
        "learning/regrouping.py",
        "fresh += math.lgamma(theta[x]) - math.lgamma(n + theta[x])",
        "fresh += math.lgamma(theta[x]) - math.lgamma(n + 1.0)",
        "learning/test_regrouping.py",
        "test_scores_are_differences_of_joint_likelihoods",
    ),
    _mutant(
        "learning/alpha_vectors.py",
        "reached[c] = points[i, c] * weights[c, j]",
        "reached[c] = weights[c, j]",
        "learning/test_alpha_vectors.py",
        "test_a_backup_of_vectors_is_the_formula",
        "test_the_value_at_the_prior_is_the_exact_optimum",
    ),
    _mutant(
        "learning/beliefs.py",
        "goes_on = left + (1.0 if there and not beliefs.status[ENDED] else 0.0)",
        "goes_on = left + 0.0",
        "learning/test_beliefs.py",
        "test_scores_are_priors_times_marginal_likelihoods_in_any_order",
    ),
    _mutant(
        "agents/aomultirl.py",
        "self.explorer.behaviour(stage.targets, stage.samples, stage.failure / 3.0)",
        "self.explorer.behaviour(stage.targets, stage.samples, stage.failure)",
        "agents/test_aomultirl.py",
        "test_exploring_may_fail_with_a_third_of_p",
    ),
    _mutant(
        "agents/doubling.py",
        "level = self.stage.threshold + self.separation / 4.0",
        "level = self.stage.threshold",
        "agents/test_aomultirl.py",
        "test_doubling_changes_the_horizon_and_nothing_else",
    ),
    _mutant(
        "agents/two_stage.py",
        "APART = 0.75",
        "APART = 0.5",
        "agents/test_aomultirl.py",
        "test_two_stages_discover_pairs_that_are_more_than_three_quarters_of_lambda_apart",
    ),
    _mutant(
        "agents/sequential.py",
        "40.0 if self.n_models is None else 20.0",
        "20.0 if self.n_models is None else 20.0",
        "agents/test_sequential_agent.py",
        "test_a_new_world_is_seen_so_often_at_every_pair",
    ),
    _mutant(
        "learning/reward_levels.py",
        "(reward - levels[i + 1]) / (levels[i] - levels[i + 1])",
        "(levels[i] - reward) / (levels[i] - levels[i + 1])",
        "learning/test_reward_levels.py",
        "test_a_reward_counts_at_its_level_or_in_parts_that_keep_its_mean",
    ),
    _mutant(
        "agents/rereading.py",
        "if world == past.world and not self.rows.learns_rewards:",
        "if world == past.world:",
        "agents/test_rereading.py",
        "test_fractions_of_rewards_do_not_drift_from_what_is_written_down",
    ),
    _mutant(
        "agents/verdicts.py",
        "COVER = 0.8",
        "COVER = 0.4",
        "agents/test_recall.py",
        "test_an_episode_is_proven_where_four_fifths_of_its_steps_are_certified_and_no_other_cluster_is_left",
    ),
    _mutant(
        "learning/q_learning.py",
        "max(1.0 / behaviour.updates[pair], behaviour.rate)",
        "min(1.0 / behaviour.updates[pair], behaviour.rate)",
        "learning/test_q_learning.py",
        "test_values_and_choices_are_those_of_a_slow_twin",
    ),
    _mutant(
        "learning/posterior.py",
        "draw_gamma(unseen * prior / n_states, stream)",
        "draw_gamma(prior / n_states, stream)",
        "learning/test_posterior.py",
        "test_rows_have_the_means_and_variances_of_the_dirichlet_posterior",
    ),
    _mutant(
        "learning/psrl.py",
        "times * times * squares + 2.0 * times * plus * sums",
        "times * times * squares + times * plus * sums",
        "learning/test_psrl.py",
        "test_what_was_watched_is_brought_to_another_range",
    ),
    _mutant(
        "identifying/marginal_likelihood.py",
        "known -= seen if included else 0",
        "known -= 0",
        "identifying/test_marginal_likelihood.py",
        "test_equals_the_product_of_predictions",
    ),
    _mutant(
        "agents/mixture_assigning.py",
        "component.episodes - (place == home)",
        "component.episodes",
        "agents/test_mixture.py",
        "test_the_posterior_is_the_restaurants_prior_times_the_marginal_likelihood",
    ),
    _mutant(
        "learning/rmax.py",
        "        if visits[pair] >= behaviour.enough:\n",
        "        if visits[pair] > behaviour.enough:\n",
        "learning/test_rmax.py",
        "test_choices_are_those_of_a_slow_twin",
    ),
    _mutant(
        "learning/lipschitz.py",
        "abs(one.rewards[pair] - two.rewards[pair]) + 2.0 * margin",
        "abs(one.rewards[pair] - two.rewards[pair]) + margin",
        "learning/test_lipschitz.py",
        "test_distances_and_gaps_are_those_of_a_slow_twin",
    ),
    _mutant(
        "agents/max_q_init.py",
        "(self.kept.missed == 0)",
        "(self.kept.missed <= 1)",
        "agents/test_max_q_init.py",
        "test_memory_is_that_of_a_slow_twin",
    ),
    _mutant(
        "agents/lr_max.py",
        "2.0 * (1.0 - rarest) ** n",
        "1.0 * (1.0 - rarest) ** n",
        "agents/test_lr_max.py",
        "test_any_two_tasks_were_met_by_then",
    ),
    _mutant(
        "analysis/believed_worlds.py",
        "(sure < RESOLVED)",
        "(sure <= RESOLVED)",
        "analysis/test_believed_worlds.py",
        "test_by_hand",
    ),
    _mutant(
        "identifying/contexts.py",
        "distance < threshold",
        "distance <= threshold",
        "identifying/test_contexts.py",
        "test_a_distance_of_just_the_threshold_is_too_far",
    ),
    _mutant("agents/cece.py", "CLASSIFYING = 8.0", "CLASSIFYING = 7.0", "agents/test_cece.py", "test_golden_numbers"),
    _mutant(
        "agents/concurrent_pac_rl.py",
        "math.nextafter(self.threshold, 0.0)",
        "self.threshold",
        "agents/test_concurrent_pac_rl.py",
        "test_estimates_must_differ_by_less_than_half_the_separation",
    ),
    _mutant("theory/concentration.py", "math.ceil(2.0 /", "math.ceil(1.9 /", "theory/test_concentration.py"),
    _mutant("agents/lucrl.py", "BONUS = 5.0", "BONUS = 4.0", "agents/test_lucrl.py", "test_the_bonus_by_hand"),
    _mutant(
        "agents/latent_memory.py",
        "self.starts[:, start] += shares",
        "self.starts[:, start] += 1.0",
        "learning/test_latent.py",
        "test_every_belief_and_every_action_is_the_slow_twins",
    ),
    _mutant(
        "learning/latent.py",
        "rest * (horizon - h)",
        "rest * (horizon - h - 1)",
        "agents/test_lucrl.py",
        "test_contexts_are_planned_to_their_optimum",
    ),
    _mutant(
        "learning/latent_histories.py",
        "(len(candidates.caps) - step - 1)",
        "(len(candidates.caps) - step)",
        "agents/test_lucrl.py",
        "test_the_exact_planner_earns_the_optimum_told_nothing",
    ),
    _mutant(
        "theory/multi_model.py",
        "shares[m] = reach[h, m, s]",
        "shares[m] = worlds.weights[m]",
        "theory/test_multi_model.py",
        "test_golden",
    ),
    _mutant(
        "learning/arm_models.py",
        "logarithm / (2.0 * pulls)",
        "logarithm / (1.0 * pulls)",
        "learning/test_arm_models.py",
        "test_the_choice_is_that_of_the_slow_twin",
    ),
    _mutant("learning/moments.py", "size**-2.0", "size**-1.0", "learning/test_moments.py"),
    _mutant(
        "agents/ucbvi_with_oracle.py",
        "_share(3.0 * failure)",
        "_share(1.0 * failure)",
        "agents/test_ucbvi_with_oracle.py",
        "test_the_logarithm_is_the_papers",
    ),
    _mutant(
        "engine/generative.py", "states[middle] <= successor", "states[middle] < successor", "engine/test_generative.py"
    ),
    _mutant(
        "agents/premises.py",
        "longest > (1.0 + ROUNDING) * told",
        "longest > (2.0 + ROUNDING) * told",
        "agents/test_premises.py",
        "test_every_premise_alone_takes_the_bound_away",
    ),
    _mutant("theory/constants.py", "math.ceil(256.0", "math.ceil(128.0", "theory/test_constants.py"),
    _mutant("theory/bounds.py", "root = 67.0", "root = 60.0", "theory/test_bounds.py"),
    _mutant("theory/lower_bounds.py", "float(pulls)) / 20.0", "float(pulls)) / 10.0", "theory/test_lower_bounds.py"),
    _mutant("analysis/reach.py", "self.had < self.needed", "self.had <= self.needed", "analysis/test_rules.py"),
    _mutant("laboratory/tree_growth.py", "wasted <= MINOR", "wasted <= 2.0", "laboratory/test_tree_growth.py"),
)
"""At most one a module; a change that no result could show, as of what all actions have in common, is no mutant."""
