"""The sepsis world against the published arrays, and its populations against the formula."""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.worlds.icu_sepsis import icu_sepsis

installed = pytest.mark.skipif(find_spec("icu_sepsis") is None, reason="needs the package icu-sepsis")
module = import_module("aomultirl.worlds.icu_sepsis")  # the package shows the function under this name
HORIZON = 150
DEATH, SURVIVAL, AFTERWARDS = 713, 714, 715


@pytest.fixture(scope="module", autouse=True)
def read_once():
    """Reading what was published takes longer than making worlds of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_published", cache(module._published))
        yield


@pytest.fixture
def unread(monkeypatch):
    """As if nobody had read it yet."""
    monkeypatch.setattr(module, "_published", module._published.__wrapped__)


@pytest.fixture(scope="module")
def arrays():
    path = Path(find_spec("icu_sepsis").submodule_search_locations[0], "envs", "assets", "dynamics.npz")
    with np.load(path) as file:
        return {name: file[name] for name in ("tx_mat", "r_mat", "d_0")}


@pytest.fixture(scope="module")
def restarting():
    return icu_sepsis()[0]


@pytest.fixture(scope="module")
def absorbing():
    return icu_sepsis(terminal="absorb")[0]


def fingerprints(world):
    """A number for every row of P, (713, 25); equal rows have equal numbers, and no others."""
    marks = np.random.default_rng(0).random(716)
    return (world.sparse_transitions @ marks).reshape(716, 25)[:713]


# -- the published population -----------------------------------------------------------------------------


@installed
def test_sizes(restarting):
    assert repr(icu_sepsis(models=2)) == "ModelSet(2 worlds, 716 states, 25 actions)"
    successors = np.diff(restarting.successors.starts).reshape(716, 25)[:713]
    assert successors.max() == 213
    assert successors.mean() == pytest.approx(85.75, abs=0.01)


@installed
def test_treated_patients_follow_the_published_transitions(restarting, absorbing, arrays):
    for world in (restarting, absorbing):
        assert (world.transitions[:713] == arrays["tx_mat"][:713]).all()
        assert (world.start_distribution == arrays["d_0"]).all()


@installed
def test_the_ends_of_a_treatment(restarting, absorbing, arrays):
    for world in (restarting, absorbing):
        assert (world.transitions[[DEATH, SURVIVAL], :, AFTERWARDS] == 1.0).all()
        assert np.unique(np.argwhere(world.rewards)[:, 0]).tolist() == [SURVIVAL]
        assert (world.rewards[SURVIVAL] == 1.0).all()
    assert (absorbing.transitions[AFTERWARDS, :, AFTERWARDS] == 1.0).all()
    assert (restarting.transitions[AFTERWARDS] == arrays["d_0"]).all()


@installed
def test_the_published_baselines(absorbing):
    start = absorbing.start_distribution
    best = float(start @ absorbing.optimal_values(HORIZON)[0])
    uniform = float(start @ absorbing.policy_values(np.full((716, 25), 1 / 25), HORIZON)[0])
    assert round(best, 2) == 0.88
    assert round(uniform, 2) == 0.78


@installed
def test_values_are_those_of_the_benchmark_one_step_later(absorbing, arrays):
    gains = (arrays["tx_mat"] * arrays["r_mat"]).sum(axis=2)
    gains[713:] = 0.0  # the benchmark's episodes are over there
    values = np.zeros(716)
    for _ in range(20):
        values = (gains + arrays["tx_mat"] @ values).max(axis=1)
        values[713:] = 0.0
    assert absorbing.optimal_values(21)[0, :713] == pytest.approx(values[:713], abs=1e-12)


@installed
def test_only_the_restarting_world_is_communicating(restarting, absorbing):
    assert restarting.is_communicating()
    assert not absorbing.is_communicating()


# -- populations ------------------------------------------------------------------------------------------


@installed
def test_populations_exchange_dose_levels(restarting):
    models = icu_sepsis(models=5, strength=1.0, seed=3)
    published = fingerprints(models[0])
    assert (published == fingerprints(restarting)).all()
    found = []
    for world in models[1:]:
        apart = np.abs(fingerprints(world)[:, :, None] - published[:, None, :]).max(axis=0)
        sigma = apart.argmin(axis=1)
        assert (apart.min(axis=1) < 1e-12).all()
        fluid, vasopressor = sigma.reshape(5, 5) // 5, sigma.reshape(5, 5) % 5
        assert (fluid == fluid[:, :1]).all()
        assert (vasopressor == vasopressor[:1]).all()
        assert sorted(sigma) == list(range(25))
        assert fluid[:, 0].tolist() != vasopressor[0].tolist()  # drawn apart: equal for 1 seed in 30
        found.append(tuple(sigma))
    assert len({*found, tuple(range(25))}) == 5


@installed
@pytest.mark.parametrize("strength", [pytest.param(0.1, marks=pytest.mark.long), 0.5])
def test_populations_are_mixtures(strength):
    whole, part = icu_sepsis(3, 1.0, seed=1), icu_sepsis(3, strength, seed=1)
    for m in (1, 2):
        mixture = (1 - strength) * whole[0].sparse_transitions + strength * whole[m].sparse_transitions
        assert abs(part[m].sparse_transitions - mixture).max() < 1e-12
        ends = slice(713 * 25, None)
        assert (part[m].sparse_transitions[ends] != whole[0].sparse_transitions[ends]).nnz == 0


@installed
@pytest.mark.parametrize(
    "strength", [0.1, pytest.param(0.5, marks=pytest.mark.long), pytest.param(1.0, marks=pytest.mark.long)]
)
def test_populations_are_apart_by_at_most_twice_the_strength(strength):
    models = icu_sepsis(models=3, strength=strength)
    assert models.distances().max() <= 2 * strength + 1e-12
    assert models.separation() > strength
    assert all(world.is_communicating() for world in models)


@installed
@pytest.mark.parametrize("models", [2, pytest.param(3, marks=pytest.mark.long)])
def test_the_seed_decides(models):
    """The first worlds of a larger population are those of a smaller one with the same seed."""
    one, more, other = icu_sepsis(models, seed=5), icu_sepsis(models + 1, seed=5), icu_sepsis(models, seed=6)
    for m in range(models):
        for mine, theirs in zip(one[m].successors, more[m].successors, strict=True):
            assert (mine == theirs).all()
    assert (fingerprints(one[0]) == fingerprints(other[0])).all()
    assert all((fingerprints(one[m]) != fingerprints(other[m])).any() for m in range(1, models))


# -- saying no --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"models": 0}, "models must be between 1 and 14400, not 0"),
        ({"models": 2.5}, "models must be a whole number, not 2.5"),
        ({"strength": 0.0}, "strength must be above 0, not 0"),
        ({"strength": 1.5}, "strength must be at most 1, not 1.5"),
        ({"seed": -1}, "seed must be at least 0, not -1"),
        ({"terminal": "stop"}, "terminal must be one of 'restart', 'end', 'absorb', not 'stop'"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        icu_sepsis(**arguments)


def test_a_missing_package_is_named(monkeypatch, unread):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install 'aomultirl\[sepsis\]'"):
        icu_sepsis()


@installed
def test_another_version_is_refused(monkeypatch, unread, tmp_path):
    spec = find_spec("icu_sepsis")
    monkeypatch.setattr(module, "find_spec", lambda name: spec)
    monkeypatch.setattr(spec, "submodule_search_locations", [str(tmp_path)])
    with pytest.raises(ImportError, match="version 2 is needed"):
        icu_sepsis()
    assets = tmp_path / "envs" / "assets"
    assets.mkdir(parents=True)
    np.savez(assets / "dynamics.npz", tx_mat=np.zeros((2, 25, 2)), d_0=np.zeros(2))
    with pytest.raises(ValueError, match=r"tx_mat of icu-sepsis has shape \(2, 25, 2\)"):
        icu_sepsis()


def test_one_patient_is_an_episode(absorbing):
    ward = icu_sepsis(terminal="end")
    assert np.flatnonzero(ward[0].terminal).tolist() == [AFTERWARDS]
    assert ward[0].first_values(HORIZON) == pytest.approx(absorbing.first_values(HORIZON))
    history = ao.run(ao.agents.Random(HORIZON), ward, ao.streams.uniform(), 300)
    assert set(history.reward.tolist()) == {0.0, 1.0}
    assert 0.7 < history.reward.mean() < 0.86  # as published, some 0.78 survive
    assert (history["learning_steps"] < HORIZON).all()
