"""ICU-Sepsis: treating sepsis in intensive care, for one population of patients or several.

Description
    The tabular benchmark of Choudhary, Gupta and Thomas (2024), estimated from the MIMIC-III records.  States
    0 to 712 describe a patient under treatment; 713 is death, 714 survival, 715 what comes afterwards.  The
    numbers are read from the package icu-sepsis, which is not imported.

Actions
    5 * fluid + vasopressor, each a dose from 0 to 4.

Transitions
    As published in states 0 to 712.  Death and survival lead to 715 under every action; 715 stays for ever
    (``terminal="absorb"``), ends the episode (``terminal="end"``: one patient an episode) or leads to the next patient,
    drawn from the start (``terminal="restart"``).

Rewards
    1 for acting in state 714, 0 everywhere else, so a patient who survives counts once.  The benchmark pays the
    same 1 a step earlier, on entering 714.

Worlds
    Population 0 is the published one.  Population m responds to a dose partly as the published one responds to
    another dose,

        P_m(s, a) = (1 - strength) P(s, a) + strength P(s, sigma_m(a)),
        sigma_m(5 i + j) = 5 pi_m(i) + rho_m(j),

    with pi_m and rho_m random permutations of the five levels.  Every row is a mixture of rows that were
    estimated for the same state, and ||P_m(s, a) - P(s, a)||_1 <= 2 strength.
"""

from importlib.util import find_spec
from math import factorial
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from aomultirl import checks, sizes
from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet
from aomultirl.worlds.origin import origin

DEATH, SURVIVAL, AFTERWARDS = 713, 714, 715
N_STATES, N_PATIENT, LEVELS = 716, 713, 5
N_ACTIONS = LEVELS * LEVELS
MOST_MODELS = factorial(LEVELS) ** 2
"""As many populations as there are pairs of permutations; the identity is the published one."""
WORLD_BYTES = 20_000_000
"""Memory for a population, measured."""


def icu_sepsis(models: int = 1, strength: float = 0.75, seed: int = 0, terminal: str = "restart") -> ModelSet:
    """The published population of patients, and others that respond differently to treatment.

    Parameters
    ----------
    models
        how many populations; the first is the published one.
    strength
        within (0, 1], how much of a response is exchanged in the populations after the first.  At 0.5 they are
        easily told apart (separation about 0.8) but the wrong treatment costs little, because responses average out;
        at 0.75 (about 1.2) it costs some 0.05 of survival, at 1 (about 1.5) some 0.1.
    seed
        of the permutations; more models with the same seed only add populations.
    terminal
        "restart", the next patient follows, which makes the world communicating; "end", one patient is an episode; or
        "absorb".

    Raises
    ------
    ImportError
        the package icu-sepsis is not installed.
    ValueError
        anything invalid.

    Examples
    --------
    >>> icu_sepsis(models=3)
    ModelSet(3 worlds, 716 states, 25 actions)
    """
    made = origin("icu_sepsis", locals())
    models = checks.integer("models", models, least=1, most=MOST_MODELS)
    strength = checks.real("strength", strength, above=0.0, most=1.0)
    seed = checks.seed("seed", seed)
    checks.choice("terminal", terminal, ("restart", "end", "absorb"))
    sizes.check("models", models, float(WORLD_BYTES) * models, "a set of so many populations")
    published, start = _published()
    ending = _ending(start, terminal)
    rewards = np.zeros((N_STATES, N_ACTIONS))
    rewards[SURVIVAL] = 1.0
    last = [AFTERWARDS] if terminal == "end" else None
    worlds = [
        MDP(sp.vstack([_population(published, sigma, strength), ending], format="csr"), rewards, start, terminal=last)
        for sigma in _exchanges(models, seed)
    ]
    return ModelSet(worlds, made)


def _published() -> tuple[sp.csr_array, NDArray[np.float64]]:
    """P in the states of a patient under treatment, sparse (713 * 25, 716), and the start, (716,)."""
    spec = find_spec("icu_sepsis")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("icu_sepsis needs the package icu-sepsis: pip install 'aomultirl[sepsis]'")
    path = Path(spec.submodule_search_locations[0], "envs", "assets", "dynamics.npz")
    if not path.is_file():
        raise ImportError("the installed icu-sepsis holds no envs/assets/dynamics.npz: version 2 is needed")
    with np.load(path, allow_pickle=False) as arrays:
        transitions, start = arrays["tx_mat"], arrays["d_0"]
    if transitions.shape != (N_STATES, N_ACTIONS, N_STATES):
        raise ValueError(f"tx_mat of icu-sepsis has shape {transitions.shape}, not (716, 25, 716)")
    return sp.csr_array(transitions[:N_PATIENT].reshape(N_PATIENT * N_ACTIONS, N_STATES)), start


def _ending(start: NDArray[np.float64], terminal: str) -> sp.csr_array:
    """P in the last three states, sparse (3 * 25, 716)."""
    rows = np.zeros((3, N_STATES))
    rows[:2, AFTERWARDS] = 1.0
    if terminal == "restart":
        rows[2] = start
    else:
        rows[2, AFTERWARDS] = 1.0
    return sp.csr_array(np.repeat(rows, N_ACTIONS, axis=0))


def _exchanges(models: int, seed: int) -> list[NDArray[np.int64]]:
    """sigma_m for every population, each (25,) and different; the first is the identity."""
    random = np.random.default_rng(seed)
    identity = np.arange(N_ACTIONS)
    found = {tuple(identity): identity}
    while len(found) < models:
        fluid, vasopressor = random.permutation(LEVELS), random.permutation(LEVELS)
        sigma = (LEVELS * fluid[:, None] + vasopressor[None, :]).ravel()
        found.setdefault(tuple(sigma), sigma)
    return list(found.values())


def _population(published: sp.csr_array, sigma: NDArray[np.int64], strength: float) -> sp.csr_array:
    rows = (np.arange(N_PATIENT)[:, None] * N_ACTIONS + sigma).ravel()
    # Written as a step from P, so that rows which exchange nothing stay the same to the last bit.
    return sp.csr_array(published + strength * (published[rows] - published))
