"""Rows that lean on their state's average over actions, in what is believed of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln, logsumexp

import aomultirl as ao
from aomultirl.learning.kinship import ENOUGH
from aomultirl.learning.planning_counts import GUESS
from aomultirl.learning.row_likelihoods import LEAST_REACH, ln_joint
from aomultirl.learning.row_parents import LEAST_MEAN, ROUNDS, TRUSTS, fit_parents, parents_of_more
from aomultirl.learning.world_rows import WorldRows, rows_of
from counted_worlds import Counted

WIDE = 40
"""States of worlds whose rows are wide enough to have parents."""


def random_counts(seed, n_actions, count, like=0.5, visits=60):
    """(W, WIDE * A, WIDE): in each state some actions do what is usual there, and others do not."""
    rng = np.random.default_rng(seed)
    found = np.zeros((count, WIDE * n_actions, WIDE))
    for s in range(WIDE):
        usual = rng.dirichlet(np.full(WIDE, 2.0))
        for a in range(n_actions):
            rows = [usual if rng.random() < like else rng.dirichlet(np.full(WIDE, 0.2)) for _ in range(count)]
            found[:, s * n_actions + a] = [rng.multinomial(rng.integers(visits), row) for row in rows]
    return found


def rows_with(counts, n_actions):
    """The rows of worlds with these counts, (W, S * A, S)."""
    worlds = [Counted(one.astype(int), np.zeros(counts.shape[2], int), np.empty(0)) for one in counts]
    return rows_of([(world.table, world.sums) for world in worlds], counts.shape[2], n_actions, False)


def slow_parents(layout, counts, rho):
    """(means by row, trust), from the definition, over the lists of each row."""
    n_actions, pooled = layout.n_pairs // layout.n_states, counts.sum(axis=0)
    rows = [slice(layout.first[x], layout.first[x + 1]) for x in range(layout.n_pairs)]
    dense = np.zeros((layout.n_pairs, layout.n_states))
    for x, row in enumerate(rows):
        dense[x, layout.outcomes[row][:-1]] = pooled[row][:-1]
    n = dense.sum(axis=1)
    parts = dense * (np.minimum(n, ENOUGH) / np.maximum(n, 1e-300))[:, None]
    means, likely = [], np.full((layout.n_pairs, len(TRUSTS)), np.nan)
    for x, row in enumerate(rows):
        siblings = [y for y in range(x // n_actions * n_actions, (x // n_actions + 1) * n_actions) if y != x]
        others = parts[siblings].sum(axis=0)
        mean = (others + 1.0 / layout.n_states) / (others.sum() + 1.0)
        own = mean[layout.outcomes[row][:-1]]
        means.append(np.append(own, max(1.0 - own.sum(), LEAST_MEAN)))
        if layout.reach[x // n_actions] <= LEAST_REACH:
            continue
        for k, trust in enumerate(TRUSTS):

            def ln_ml(one, alpha=trust * means[-1], trust=trust):
                each = gammaln(alpha + one) - gammaln(alpha)
                return each[one > 0].sum() + gammaln(trust) - gammaln(trust + one.sum())

            apart = sum(ln_ml(world[row]) for world in counts)
            likely[x, k] = logsumexp([np.log(rho) + ln_ml(pooled[row]), np.log1p(-rho) + apart])
    wide, often = ~np.isnan(likely[:, 0]), np.full(len(TRUSTS), 1.0 / len(TRUSTS))
    seen = wide & (np.diff(layout.first[: layout.n_pairs + 1]) > 1)
    for _ in range(ROUNDS):
        both = likely[seen] + np.log(often)
        often = np.exp(both - logsumexp(both, axis=1, keepdims=True)).sum(axis=0) + 1.0
        often /= often.sum()
    trust = np.zeros(layout.n_pairs)
    if wide.any():
        trust[wide] = np.array(TRUSTS)[(likely[wide] + np.log(often)).argmax(axis=1)]
    return means, trust


@settings(deadline=None, max_examples=12)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 3), st.sampled_from([0.0, 0.5, 1.0]))
def test_parents_are_those_of_the_definition(seed, n_actions, count, like):
    rows = rows_with(random_counts(seed, n_actions, count, like), n_actions)
    layout, starts = rows.layout, rows.layout.first[: rows.layout.n_pairs + 1]
    means, trust, states = np.full(starts[-1], np.nan), np.full(layout.n_pairs, np.nan), layout.outcomes[: starts[-1]]
    fit_parents(starts, states, rows.counts, rows.pooled, layout.reach, 0.7, means, trust)
    slow_means, slow_trust = slow_parents(layout, rows.counts, 0.7)
    assert np.array_equal(trust, slow_trust)
    for x in np.flatnonzero(layout.reach.repeat(n_actions) > LEAST_REACH):
        assert means[starts[x] : starts[x + 1]] == pytest.approx(slow_means[x], abs=1e-12)


def test_the_prior_of_a_row_is_its_parent_as_far_as_it_is_trusted():
    rows = rows_with(random_counts(3, 20, 2, 0.9), 20)
    assert (rows.trust > 0.0).any()
    for x in np.flatnonzero(rows.trust):
        row = slice(rows.layout.first[x], rows.layout.first[x + 1])
        assert rows.alpha[row] == pytest.approx(rows.trust[x] * rows.means[row])
        assert rows.theta[x] == rows.trust[x]
        assert rows.alpha[row].sum() == pytest.approx(rows.theta[x], rel=1e-6)


@pytest.mark.parametrize("like", [1.0, 0.9])
def test_rows_that_do_what_is_usual_trust_it_most(like):
    """Of 20 actions all, or nine in ten, do what is usual in their state."""
    rows = rows_with(random_counts(5, 20, 1, like, visits=200), 20)
    assert np.median(rows.trust) >= (1024.0 if like == 1.0 else 256.0)
    assert (rows.trust <= 16.0).mean() == pytest.approx(1.0 - like, abs=0.05)


def test_narrow_rows_and_rows_that_know_nothing_of_each_other_have_no_parents():
    narrow = rows_with(random_counts(7, 3, 1, 1.0)[:, : 3 * 20, :20], 3)
    strange = np.zeros((1, WIDE * 3, WIDE))
    rng = np.random.default_rng(0)
    for x in range(WIDE * 3):  # all actions of a state have the same successors in all, and each others of them
        strange[0, x, rng.permutation(WIDE)[:13]] = 50
    assert not narrow.trust.any()
    assert not rows_with(strange, 3).trust.any()


def test_a_true_grouping_is_found_likelier_and_one_at_random_is_not():
    """Three worlds whose actions are those of one in another order; 12 episodes of each."""
    rng, n_actions, per = np.random.default_rng(11), 12, 12
    usual = rng.dirichlet(np.full(WIDE, 2.0), WIDE)
    table = np.repeat(usual[:, None], n_actions, axis=1)
    for s in range(WIDE):
        for a in range(3):
            table[s, a] = rng.dirichlet(np.full(WIDE, 0.3))
    orders = [np.arange(n_actions), rng.permutation(n_actions), rng.permutation(n_actions)]
    episodes = [
        np.array([rng.multinomial(rng.poisson(1.0), row) for row in table[:, order].reshape(-1, WIDE)])
        for _ in range(per)
        for order in orders
    ]
    truth, order = np.arange(len(episodes)) % 3, rng.permutation(len(episodes))

    def joint(groups):
        pairs = list(zip(episodes, groups, strict=True))
        rows = rows_with(np.array([sum(one for one, g in pairs if g == j) for j in sorted(set(groups))]), n_actions)
        return ln_joint(rows.layout.kinds, rows.own, rows.together, rows.shared, np.ones(rows.count))

    one, three, random = joint([0] * len(episodes)), joint(truth.tolist()), joint(truth[order].tolist())
    assert three > one + 100.0
    assert random < one


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_new_transitions_have_the_mean_of_the_other_actions(seed, n_actions):
    rng = np.random.default_rng(seed)
    n_states, n_pairs = 6, 6 * n_actions
    last = np.arange(n_pairs) * (n_states + 1) + n_states
    every = np.unique(np.concatenate((last, rng.integers(0, n_pairs * (n_states + 1), 4 * n_pairs))))
    old = np.union1d(last, every[rng.random(len(every)) < 0.6])
    means = rng.random(len(old)) * 0.2
    held = dict(zip(old.tolist(), means.tolist(), strict=True))
    found = dict(zip(every.tolist(), parents_of_more(old, means, every, n_states, n_actions).tolist(), strict=True))
    for pair in range(n_pairs):
        rest, siblings = held[last[pair]], range(pair // n_actions * n_actions, (pair // n_actions + 1) * n_actions)
        shown = {s for y in siblings for s in range(n_states) if y * (n_states + 1) + s in held}
        shares = {}
        for s in range(n_states):
            key = pair * (n_states + 1) + s
            if key in held:
                assert found[key] == held[key]
            elif key in found:
                others = [held[y * (n_states + 1) + s] for y in siblings if y * (n_states + 1) + s in held]
                shares[key] = np.mean(others) if others else rest / max(1, n_states - len(shown))
        scale = min(1.0, 0.5 * rest / sum(shares.values())) if shares else 1.0
        for key, share in shares.items():
            assert found[key] == pytest.approx(scale * share)
        left = rest - scale * sum(shares.values())
        assert found[last[pair]] == pytest.approx(max(left, LEAST_MEAN))
        whole = [key for key in found if key // (n_states + 1) == pair]
        before = [key for key in held if key // (n_states + 1) == pair]
        assert sum(found[key] for key in whole) == pytest.approx(sum(held[key] for key in before)), "no mass is made"


def test_places_that_are_made_keep_what_is_believed_of_others():
    counts = random_counts(13, 20, 2, 0.95)
    rows = rows_with(np.where(np.random.default_rng(0).random(counts.shape) < 0.5, counts, 0.0), 20)
    before, trust = rows.means.copy(), rows.trust.copy()
    old = rows.layout.keys
    more = Counted(counts[0].astype(int), np.zeros(WIDE, int), np.empty(0))
    rows.make_places(more.table)
    assert len(rows.layout.keys) > len(old)
    assert np.array_equal(rows.trust, trust)
    assert trust.any()
    seen = old % (WIDE + 1) < WIDE
    assert np.array_equal(rows.means[np.searchsorted(rows.layout.keys, old[seen])], before[seen])
    again = WorldRows(WIDE, 20, False, rows.layout.keys)
    for world in range(rows.count):
        again.add_table(*rows.table(world))
    again.spreads[:], again.shared[:], again.means[:], again.trust[:] = (
        rows.spreads,
        rows.shared,
        rows.means,
        rows.trust,
    )
    again.weigh()
    assert np.array_equal(again.own, rows.own)
    assert np.array_equal(again.together, rows.together)


@pytest.mark.parametrize("doubts", [False, True])
def test_rows_with_parents_are_planned_with_as_their_world_has_shown_them(doubts):
    """A guess before the first visit; and with doubts, n ML(d) / prod ML(e) visits at most, and a guess at least."""
    counts = random_counts(17, 20, 2, 0.9, visits=30)
    rows = rows_with(counts, 20)
    rng = np.random.default_rng(0)
    rows.alone[:] = rows.own + rng.normal(0.0, 2.0, rows.own.shape)
    planned, leaning = rows.to_plan_with(doubts), np.flatnonzero(rows.trust)
    assert len(leaning) > 100
    for x in leaning:
        row = slice(rows.layout.first[x], rows.layout.first[x + 1])
        for w in range(2):
            n = rows.counts[w, row].sum()
            worth = n
            if doubts and n > 0.0:
                worth = min(n, max(GUESS, n * np.exp(rows.own[w, x] - rows.alone[w, x])))
            if n > 0.0:
                assert planned[w, row] == pytest.approx(rows.counts[w, row] * worth / n)
            else:
                assert planned[w, row].sum() <= GUESS + 1e-9
        assert planned[2, row].sum() <= GUESS + 1e-9


def wards(seed=0, models=2):
    """Worlds with wide rows, in which most actions do what is usual."""
    rng = np.random.default_rng(seed)
    table = np.repeat(rng.dirichlet(np.full(WIDE, 2.0), WIDE)[:, None], 10, axis=1)
    table[:, 0] = rng.dirichlet(np.full(WIDE, 0.3), WIDE)
    rewards = np.zeros((WIDE, 10))
    rewards[0] = 1.0
    return ao.ModelSet([ao.MDP(table[:, rng.permutation(10)], rewards) for _ in range(models)])


def test_an_agent_whose_rows_have_parents_is_resumed_to_the_bit(tmp_path):
    worlds, path = wards(), tmp_path / "agent"
    whole, first = (ao.agents.Recall(0.05, horizon=1000) for _ in range(2))
    kind = (worlds, ao.streams.uniform(), 14)
    expected = ao.run(whole, *kind, seed=3)
    before = ao.run(first, *kind, seed=3, stop=9)
    assert first.kept.trust.any()
    ao.save(first, path)
    again = ao.load_agent(path)
    assert ao.run(again, *kind, seed=3, resume=before) == expected
    assert np.array_equal(again.kept.parents, whole.kept.parents)
