"""The numbers of ``docs/ward.md``: a ward with hidden variants of a disease, on ICU-Sepsis; ``ward.py`` runs it.

Exact numbers solve linear equations, those of planners who know the variants from a simulation of many weeks at
once, and those of agents from runs of the library.  Deaths and survivors are counted, see :class:`CountingDriver`.
"""

import sys
import time
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import aomultirl as ao
from aomultirl.agents.base import Episode, Report
from aomultirl.engine.behaviours import follow
from aomultirl.engine.counts import CountTable, visits_by_pair
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Phase, Ran, Simulator
from aomultirl.experiments import executors
from aomultirl.experiments.episodes import simulated
from aomultirl.experiments.runner import Meeting, SimulatedRun
from aomultirl.worlds.icu_sepsis import AFTERWARDS, DEATH, N_ACTIONS, N_STATES, SURVIVAL

Floats = NDArray[np.float64]
Plan = NDArray[np.int32]
"""A dose for every state, (S,); N_ACTIONS stands for one at random."""

FIRST_SEED = 700_000
"""Run r is in the ward with the seed FIRST_SEED + r."""
VARIANTS, STRENGTH = 3, 1.0
STEP_PAY = 0.85
"""Reward of every step that is neither a death (0) nor a survival (1), see :func:`ward`."""
PLAN_STEPS = 200
"""Steps that a plan looks ahead: fewer than one patient in a million is under treatment for longer."""
PATIENT_STEPS = 100
"""Steps of a patient for the planner who sees one patient only; one in several thousand is treated for longer."""
CHANGE = 1e-12
"""Exact numbers are iterated until they change by less than so much."""
SURE = 0.99
"""Posterior probability from which on a variant counts as recognised."""
SHRINKAGE = 256
"""Visits that the other doses of a state are worth, in a plan from logs (:func:`plan_from_logs`).

Of 16, 64, 256 and 1024, tried in the ward with the seed 20 and with 10,000 and 100,000 patients, 256 is as good as any
other with random doses; with the protocol 1024 saves 0.1 and 0.4 points more.
"""
TRIAL = 0.2
"""Share of the patients in logs of the standard protocol who were in a trial with random doses."""
BETWEEN = 2.0
"""Steps from the end of a treatment to the next patient: one for the outcome, one afterwards."""
AT_RANDOM: Plan = np.full(N_STATES, N_ACTIONS, np.int32)
"""The plan of random doses."""
FAILURE = 0.03
"""p of Recall."""
PROTOCOL, RANDOM_DOSES = "protocol", "random doses"
"""How the patients of logs were treated."""
POOLED, RECALL, TOLD = "pooled learner", "Recall, told nothing", "learner told the variant"
"""Agents that learn from nothing."""


class Sizes(NamedTuple):
    """How much is played.

    runs
        wards, each with a run of its own.
    horizon
        H, the steps of a week; a patient takes some twelve.
    weeks
        K, for agents that learn from nothing.
    logged
        patients of every variant that logs hold, about.
    planner_weeks
        weeks of every variant that the planner plays who knows the variants.
    patients
        patients of a ward that meet the planner who sees one patient of a variant only.
    """

    runs: int = 4
    horizon: int = 3_000
    weeks: int = 20
    logged: tuple[int, ...] = (1_000, 10_000, 100_000, 1_000_000)
    planner_weeks: int = 100
    patients: int = 1_500


QUICK = Sizes(runs=2, horizon=500, weeks=3, logged=(100, 1_000), planner_weeks=10, patients=300)


# -- the ward ----------------------------------------------------------------------------------------------------------


class Ward:
    """Three variants, with what can be known of them exactly.

    Parameters
    ----------
    seed
        of the variants.

    Attributes
    ----------
    patients
        the variants for one patient: an episode ends with a death or a survival.
    weeks
        the worlds that agents meet: patients without end, one after the other.
    """

    def __init__(self, seed: int) -> None:
        self.patients = ao.worlds.icu_sepsis(VARIANTS, STRENGTH, seed, terminal="end")
        rewards = np.full((N_STATES, N_ACTIONS), STEP_PAY)
        rewards[DEATH], rewards[SURVIVAL] = 0.0, 1.0
        restarting = ao.worlds.icu_sepsis(VARIANTS, STRENGTH, seed, terminal="restart")
        self.weeks = ao.ModelSet(
            [ao.MDP(world.sparse_transitions, rewards, world.start_distribution) for world in restarting]
        )

    @cached_property
    def optimal(self) -> list[Plan]:
        """For every variant the plan that is optimal in it."""
        return [best_plan(world) for world in self.patients]

    @cached_property
    def protocol(self) -> Plan:
        """The plan that is optimal for the average of the variants."""
        first, total = self.patients[0], sum(world.sparse_transitions for world in self.patients)
        average = ao.MDP(total / VARIANTS, first.rewards, first.start_distribution, terminal=first.terminal)
        return best_plan(average)


@lru_cache(maxsize=1)
def ward(seed: int) -> Ward:
    """The ward with this seed.

    In ``icu_sepsis(terminal="restart")`` a survivor earns 1 and a step nothing, so that who is quick earns most: the
    plan with the most survivors a step hurries patients, and saves fewer of them.  Here every other step earns
    STEP_PAY, about what a patient is worth.  A step in bed is then worth as much as a step of the next patient, and the
    plan that earns most is the one that saves most (within 0.1 points).
    """
    return Ward(seed)


def best_plan(world: ao.MDP) -> Plan:
    """The first actions of an optimal policy for one patient."""
    return world.optimal_policy(PLAN_STEPS)[0]


class Outlook(NamedTuple):
    """What becomes of a patient under a plan.

    survival
        the probability to survive.
    stay
        the mean number of steps under treatment.
    """

    survival: float
    stay: float


def outlook(patients: ao.MDP, plan: Plan) -> Outlook:
    """What a plan does to a patient, exactly.

    With P the transitions of the plan between patients under treatment, and q the probability of each to go over into
    survival next, survival x solves x = q + P x and the stay y solves y = 1 + P y; both are iterated until no number
    changes by more than CHANGE.
    """
    chances = np.zeros((N_STATES, N_ACTIONS))
    known = plan < N_ACTIONS
    chances[known, plan[known]] = 1.0
    chances[~known] = 1.0 / N_ACTIONS
    mixing = sp.csr_array(
        (chances.ravel(), np.arange(N_STATES * N_ACTIONS), np.arange(N_STATES + 1) * N_ACTIONS),
        shape=(N_STATES, N_STATES * N_ACTIONS),
    )
    rows = sp.csr_array(mixing @ patients.sparse_transitions)[:DEATH]
    next_step = np.stack([rows[:, [SURVIVAL]].toarray().ravel(), np.ones(DEATH)], axis=1)
    under_treatment, found, change = sp.csr_array(rows[:, :DEATH]), np.zeros((DEATH, 2)), np.inf
    while change > CHANGE:
        later = next_step + under_treatment @ found
        change, found = float(np.abs(later - found).max()), later
    survival, stay = patients.start_distribution[:DEATH] @ found
    return Outlook(float(survival), float(stay))


def wrong_plans(here: Ward) -> Floats:
    """Survival in variant j under the plan that is optimal in variant i, (M, M)."""
    return np.array([[outlook(world, plan).survival for world in here.patients] for plan in here.optimal])


def exact_numbers(seed: int) -> dict[str, Any]:
    """All that is computed, and not sampled, of one ward.

    "paid" is the plan that earns most in a week as :func:`ward` pays, and "hurried" the one with the most survivors a
    step, in the published variant.
    """
    here = ward(seed)
    plans = {
        "random": [AT_RANDOM] * VARIANTS,
        "protocol": [here.protocol] * VARIANTS,
        "optimum": here.optimal,
        "paid": [best_plan(world) for world in here.weeks],
        "hurried": [best_plan(ao.worlds.icu_sepsis(terminal="restart")[0])],
    }
    found = {
        name: [outlook(world, plan)._asdict() for world, plan in zip(here.patients, each, strict=False)]
        for name, each in plans.items()
    }
    return {"seed": seed, "plans": found, "wrong": wrong_plans(here).tolist()}


# -- a planner who knows the variants, and logs ------------------------------------------------------------------------


class Variants:
    """The weeks of a ward as arrays that many weeks are simulated with at once."""

    def __init__(self, worlds: ao.ModelSet) -> None:
        self._start = worlds[0].start_distribution
        tables = [world.sparse_transitions for world in worlds]
        self._states = [table.indices for table in tables]
        self._chances = [table.data for table in tables]
        self._places = [_owners(table) * N_STATES + table.indices for table in tables]
        self._ends = [_owners(table) + _sums_within_rows(table) for table in tables]

    def first(self, count: int, random: np.random.Generator) -> NDArray[np.int64]:
        """The states of so many new patients."""
        return random.choice(N_STATES, size=count, p=self._start)

    def next(self, variant: int, pairs: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
        """What follows pairs s * A + a, one each."""
        chosen = np.searchsorted(self._ends[variant], pairs + random.random(len(pairs)), side="right")
        return self._states[variant][chosen].astype(np.int64)

    def evidence(self, pairs: NDArray[np.int64], states: NDArray[np.int64]) -> Floats:
        """The logarithm of the probability of transitions in every variant, (n, M)."""
        wanted, found = pairs * N_STATES + states, np.full((len(pairs), VARIANTS), -np.inf)
        for variant, (places, chances) in enumerate(zip(self._places, self._chances, strict=True)):
            at = np.searchsorted(places, wanted).clip(max=len(places) - 1)
            there = places[at] == wanted
            found[there, variant] = np.log(chances[at[there]])
        return found


def _owners(table: sp.csr_array) -> NDArray[np.int64]:
    """The row of every entry."""
    return np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))


def _sums_within_rows(table: sp.csr_array) -> Floats:
    """The sum of every row up to each entry, exactly 1 at its end."""
    sums = np.concatenate(([0.0], np.cumsum(table.data)))
    within = sums[1:] - np.repeat(sums[table.indptr[:-1]], np.diff(table.indptr))
    within[table.indptr[1:] - 1] = 1.0
    return within


def looks(horizon: int) -> list[int]:
    """Steps of a week at which posteriors are written down: 5, 10, 25, ..., as far as the week goes."""
    steps = [5, 10, *(25 * 2**power for power in range(20))]
    return [step for step in steps if step < horizon] + [horizon]


def plan_knowingly(seed: int, horizon: int, weeks: int, follow: str) -> dict[str, Any]:
    """Weeks of a planner who knows the variants, holds the exact posterior, and is told nothing.

    Parameters
    ----------
    follow
        "likeliest", the plan of the likeliest variant; "protocol"; or "random doses".

    Returns
    -------
    dict
        survivors and deaths in all; "right", the mean posterior of the right variant after :func:`looks`; and for every
        week "recognised", the steps after which the posterior of the right variant stays above SURE, H + 1 where it
        does not.
    """
    here = ward(seed)
    variants, random = Variants(here.weeks), np.random.default_rng([seed, horizon, weeks])
    plans = np.stack(here.optimal)
    survivors, deaths, recognised = 0, 0, list[int]()
    right_after = dict.fromkeys(looks(horizon), 0.0)
    for variant in range(VARIANTS):
        state, scores = variants.first(weeks, random), np.zeros((weeks, VARIANTS))
        unsure = np.zeros(weeks, np.int64)
        for step in range(horizon):
            if follow == "likeliest":
                dose = plans[scores.argmax(axis=1), state]
            else:
                dose = here.protocol[state] if follow == PROTOCOL else random.integers(N_ACTIONS, size=weeks)
            pairs = state * N_ACTIONS + dose
            survivors, deaths = survivors + int((state == SURVIVAL).sum()), deaths + int((state == DEATH).sum())
            state = variants.next(variant, pairs, random)
            scores += variants.evidence(pairs, state)
            scores -= scores.max(axis=1, keepdims=True)
            right = np.exp(scores[:, variant]) / np.exp(scores).sum(axis=1)
            unsure[right < SURE] = step + 1
            if step + 1 in right_after:
                right_after[step + 1] += float(right.mean()) / VARIANTS
        recognised += (unsure + 1).tolist()
    return {
        "survivors": survivors,
        "deaths": deaths,
        "right": list(right_after.values()),
        "recognised": recognised,
    }


def logs(seed: int, patients: int, treated: str) -> list[sp.csr_array]:
    """For every variant the counts of transitions of about so many earlier patients, sparse (S * A, S).

    With RANDOM_DOSES all of them had random doses; with PROTOCOL one in five had, and the others the standard protocol.
    """
    here, groups = ward(seed), []
    arms = [(AT_RANDOM, TRIAL), (here.protocol, 1.0 - TRIAL)] if treated == PROTOCOL else [(AT_RANDOM, 1.0)]
    sources = iter(streams(np.random.SeedSequence([seed, patients, treated == PROTOCOL]), 2 * VARIANTS * len(arms)))
    for world, each in zip(here.weeks, here.patients, strict=True):
        counts = CountTable(N_STATES * N_ACTIONS)
        for plan, share in arms:
            steps = round(share * patients * (outlook(each, plan).stay + BETWEEN))
            simulator = Simulator(world.alias_tables, world.gains, AFTERWARDS, next(sources), next(sources))
            simulator.run(Phase(follow(plan), steps, counts, np.empty(0)))
        starts, states, visits = counts.to_lists()
        groups.append(sp.csr_array((visits.astype(float), states, starts), shape=(N_STATES * N_ACTIONS, N_STATES)))
    return groups


def plan_from_logs(patients: ao.MDP, counts: sp.csr_array) -> Plan:
    """The optimal plan of the world that logs of one variant show.

    The row of a dose is (its counts + SHRINKAGE m) / (their number + SHRINKAGE), where m is what happened in this state
    under all doses.  A state that nobody was in leads to death.
    """
    visits = np.asarray(counts.sum(axis=1)).ravel()
    by_state = sp.csr_array(
        (np.ones(N_STATES * N_ACTIONS), np.arange(N_STATES * N_ACTIONS), np.arange(N_STATES + 1) * N_ACTIONS),
        shape=(N_STATES, N_STATES * N_ACTIONS),
    )
    common = sp.csr_array(by_state @ counts)
    seen = np.asarray(common.sum(axis=1)).ravel()
    common = sp.diags_array(1.0 / np.maximum(seen, 1.0)) @ common
    unseen = sp.csr_array(
        (np.ones((seen == 0).sum()), (np.flatnonzero(seen == 0), np.full((seen == 0).sum(), DEATH))),
        shape=(N_STATES, N_STATES),
    )
    common = sp.csr_array(common + unseen)
    rows = counts + SHRINKAGE * common[np.repeat(np.arange(N_STATES), N_ACTIONS)]
    rows = sp.csr_array(sp.diags_array(1.0 / (visits + SHRINKAGE)) @ rows)
    return best_plan(ao.MDP(rows, patients.rewards, patients.start_distribution, terminal=patients.terminal))


# -- agents that learn -------------------------------------------------------------------------------------------------


class CountingDriver:
    """The simulator, which counts deaths and survivors of an episode too.

    A patient who dies spends one step in the state DEATH, and one who survives one step in SURVIVAL.  So they are as
    many as the visits that the episode's own table of counts has there.
    """

    def __init__(self, meeting: Meeting) -> None:
        self.meeting = meeting
        self._simulator = simulated(meeting.world, meeting.start, meeting.world_stream, meeting.agent_stream)
        self.deaths = self.survivors = 0

    def drive(self, episode: Episode) -> tuple[Report, list[Ran]]:
        """Run the episode to its end."""
        report, ran = self._simulator.drive(episode)
        tables: dict[int, CountTable] = {id(part.phase.counts): part.phase.counts for part in ran}
        visits = sum(visits_by_pair(table) for table in tables.values()).reshape(N_STATES, N_ACTIONS).sum(axis=1)
        self.deaths, self.survivors = int(visits[DEATH]), int(visits[SURVIVAL])
        return report, ran


class Job(NamedTuple):
    """One run of one agent.

    run
        the number of the ward.
    agent
        POOLED, RECALL or TOLD.
    horizon
        H.
    weeks
        K.
    logged
        patients of every variant that the agent has logs of before the first week.
    treated
        how they were treated.
    """

    run: int
    agent: str
    horizon: int
    weeks: int
    logged: int = 0
    treated: str = RANDOM_DOSES


def play(job: Job) -> dict[str, Any]:
    """Run an agent; for every week the variant, deaths, survivors, the survival of the plan learned, and beliefs.

    Learners from nothing meet a random variant every week.  An agent with logs meets every variant in its turn.
    """
    seed, begun = FIRST_SEED + job.run, time.perf_counter()
    here = ward(seed)
    agent = {
        POOLED: lambda: ao.agents.Pooled(ao.learning.Practical(), job.horizon),
        RECALL: lambda: ao.agents.Recall(FAILURE, job.horizon),
        TOLD: lambda: ao.agents.OracleLearner(job.horizon),
    }[job.agent]()
    if job.logged:
        agent.remember(logs(seed, job.logged, job.treated))
    stream = ao.streams.round_robin() if job.logged else ao.streams.uniform()
    run = SimulatedRun(agent, here.weeks, stream, job.weeks, seed, record=())
    agent.evaluates = True  # the plan of every week is looked at
    run.begin()
    weeks = [_play_week(run, agent, here, bool(job.logged)) for _ in range(job.weeks)]
    return {**job._asdict(), "weeks": weeks, "seconds": time.perf_counter() - begun}


def _play_week(run: SimulatedRun, agent: ao.agents.Agent, here: Ward, is_logged: bool) -> dict[str, Any]:
    drivers: list[CountingDriver] = []

    def counting(meeting: Meeting) -> CountingDriver:
        drivers.append(CountingDriver(meeting))
        return drivers[0]

    report = run.step(counting)
    (driver,) = drivers
    variant = driver.meeting.task
    assert report.evaluation is not None
    week = {
        "variant": variant,
        "deaths": driver.deaths,
        "survivors": driver.survivors,
        "plan": outlook(here.patients[variant], report.evaluation).survival,
        "taken_for": report.world,
    }
    if is_logged:  # then the worlds in memory are the variants, in their order
        trace = agent.findings()["evidence"]["episodes"][-1]
        week["looks"] = trace["steps"]
        week["right"] = [belief[variant] for belief in trace["belief"]]
    return week


# -- everything --------------------------------------------------------------------------------------------------------


def jobs_of(sizes: Sizes) -> list[Job]:
    """All runs of agents, ward by ward, so that a process seldom has to make another ward."""
    logged = [(count, treated) for count in sizes.logged for treated in (RANDOM_DOSES, PROTOCOL)]
    jobs = list[Job]()
    for run in range(sizes.runs):
        jobs += [Job(run, agent, sizes.horizon, sizes.weeks) for agent in (RECALL, TOLD, POOLED)]
        jobs += [Job(run, RECALL, sizes.horizon, VARIANTS, *each) for each in logged]
    return jobs


def known_numbers(job: tuple[int, Sizes]) -> dict[str, Any]:
    """What is known of a ward without any agent: exact numbers, planners who know the variants, plans from logs."""
    run, sizes = job
    seed = FIRST_SEED + run
    here = ward(seed)
    planners = {
        follow: plan_knowingly(seed, sizes.horizon, sizes.planner_weeks, follow)
        for follow in ("likeliest", PROTOCOL, RANDOM_DOSES)
    }
    one_patient = ao.theory.qmdp_reward(here.patients, PATIENT_STEPS, sizes.patients, seed)
    from_logs = []
    for treated in (RANDOM_DOSES, PROTOCOL):
        for logged in sizes.logged:
            counts = logs(seed, logged, treated)
            survival = [
                outlook(world, plan_from_logs(world, each)).survival
                for world, each in zip(here.patients, counts, strict=True)
            ]
            from_logs.append({"logged": logged, "treated": treated, "survival": survival})
    return {
        **exact_numbers(seed),
        "planners": planners,
        "one_patient": one_patient.reward,
        "from_logs": from_logs,
    }


def _work(job: Any) -> dict[str, Any]:
    return play(job) if isinstance(job, Job) else known_numbers(job)


def measure(sizes: Sizes, workers: int = 1) -> dict[str, Any]:
    """All numbers, as JSON can hold them; the same on any number of workers, apart from the seconds."""
    jobs: list[Any] = [*((run, sizes) for run in range(sizes.runs)), *jobs_of(sizes)]
    jobs.sort(key=lambda job: int(job[0]))  # by ward
    begun, done = time.perf_counter(), list[dict[str, Any]]()
    for found in executors.local(workers).map(_work, jobs):
        done.append(found)
        sys.stderr.write(f"\r{len(done)} of {len(jobs)} parts, {time.perf_counter() - begun:.0f} s ")
    sys.stderr.write("\n")
    played = sorted(
        (found for found in done if "agent" in found),
        key=lambda found: (found["agent"], found["treated"], found["logged"], found["run"]),
    )
    known = sorted((found for found in done if "agent" not in found), key=lambda found: found["seed"])
    return {"sizes": sizes._asdict(), "known": known, "played": played, "seconds": time.perf_counter() - begun}
