"""Every agent keeps the contract: in particular both drivers give the same trajectory, bit for bit."""

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.agents import saving
from aomultirl.agents.base import Setting
from aomultirl.engine.behaviours import act_uniformly, follow
from aomultirl.engine.counts import CountTable
from aomultirl.engine.interacting import Session
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Phase, Simulator
from aomultirl.exploring import explore_id, gosprl
from aomultirl.worlds.environment import WorldEnv

SMALL = {"samples": 15, "clustering_horizon": 600, "bonus_scale": 0.01}
AGENTS = {
    "Random": lambda: ao.agents.Random(20),
    "Optimal": lambda: ao.agents.Optimal(20),
    "MultiModel": lambda: ao.agents.MultiModel(20),
    "UCRL2": lambda: ao.agents.UCRL2(20),
    "UCRL2, pooled": lambda: ao.agents.UCRL2(20, 0.1, bonus_scale=0.1, pooled=True),
    "OneEpisodeUCBVI": lambda: ao.agents.OneEpisodeUCBVI(0.1, 20),
    "PooledUCBVI": lambda: ao.agents.PooledUCBVI(0.1, 20, bonus_scale=0.01, cap="remaining"),
    "UCBVIWithOracle": lambda: ao.agents.UCBVIWithOracle(0.1, 20, 30, 2, bonus_scale=0.01),
    "OracleUCBVI": lambda: ao.agents.OracleUCBVI(0.1, 20, 2, bonus="released", bonus_scale=0.01),
    "AOMultiRL": lambda: ao.agents.AOMultiRL(2, 1.0, 5, 0.1, learning_horizon=30, **SMALL),
    "AOMultiRL, all options": lambda: ao.agents.AOMultiRL(
        2,
        1.0,
        5,
        0.1,
        [(0, 0), (3, 1)],
        0.6,
        horizon=700,
        stop_early=True,
        reuse_samples=True,
        rewards="unknown",
        ties="released",
        cap="remaining",
        **SMALL,
    ),
    "TwoStageAOMultiRL": lambda: ao.agents.TwoStageAOMultiRL(
        2, 1.0, 5, 0.1, learning_horizon=30, first_clustering_horizon=900, **SMALL
    ),
    "DoublingAOMultiRL": lambda: ao.agents.DoublingAOMultiRL(2, 1.0, 0.1, horizon=3000, samples=15),
    "Q-learning, pooled": lambda: ao.agents.Pooled(ao.learning.QLearning(epsilon=0.1), 40, rewards="unknown"),
    "Q-learning, told": lambda: ao.agents.Told(ao.learning.QLearning(), 40),
    "PSRL, pooled": lambda: ao.agents.Pooled(ao.learning.PSRL(), 40, rewards="unknown"),
    "PSRL, told": lambda: ao.agents.Told(ao.learning.PSRL(), 40),
    "UCBVIBF, pooled": lambda: ao.agents.Pooled(ao.learning.UCBVIBF(0.01), 40, failure=0.1, rewards="unknown"),
    "EULER, pooled": lambda: ao.agents.Pooled(ao.learning.EULER(0.01), 40, failure=0.1, rewards="unknown"),
    "UBEV, told": lambda: ao.agents.Told(ao.learning.UBEV(0.1), 40, failure=0.1, rewards="unknown"),
    "UCFH, pooled": lambda: ao.agents.Pooled(ao.learning.UCFH(bonus_scale=0.1), 40, failure=0.1),
    "UCRL2B, told": lambda: ao.agents.Told(ao.learning.UCRL2B(0.1), 40, rewards="unknown"),
    "QLearningUCBB, pooled": lambda: ao.agents.Pooled(ao.learning.QLearningUCBB(0.01), 40, failure=0.1),
    "RestartQUCB": lambda: ao.agents.RestartQUCB(40, 3.0, failure=0.1, variant="freedman", epochs=2, rewards="unknown"),
    "DetectAndRestart": lambda: ao.agents.DetectAndRestart(
        ao.learning.Practical(), 40, failure=0.1, exploration=0.3, rewards="unknown"
    ),
    "ConcurrentPACRL": lambda: ao.agents.ConcurrentPACRL(1.0, 0.1, 500, samples=15),
    "ConcurrentPACRL, unknown rewards": lambda: ao.agents.ConcurrentPACRL(
        1.0, 0.1, 600, samples=15, explorer=ao.exploring.GOSPRL(), learner=ao.learning.Practical(), rewards="unknown"
    ),
    "CECE": lambda: ao.agents.CECE(2, 1.0, 0.1, 400, 2, samples=10),
    "CECE, unknown rewards": lambda: ao.agents.CECE(
        2, 1.0, 0.1, 40, 3, samples=5, classifying_steps=10, learner=ao.learning.PSRL(), rewards="unknown"
    ),
    "FiniteModelRL": lambda: ao.agents.FiniteModelRL(
        2, 1.0, 0.9, 200, least_probability=1.0, radius_scale=0.1, rewards="unknown"
    ),
    "ForcedExploration": lambda: ao.agents.ForcedExploration(0.9, 200, 1.0, samples=6, radius_scale=0.1, decay=0.9),
    "ExploreFirst": lambda: ao.agents.ExploreFirst(0.9, 200, 1.0, 2, radius_scale=0.1, learner=ao.learning.QLearning()),
    "LUCRL": lambda: ao.agents.LUCRL(2, 40, failure=0.1, bonus_scale=0.01, rewards="unknown"),
    "LUCRL, told": lambda: ao.agents.LUCRL(2, 40, failure=0.1, contexts="told", bonus_scale=0.01),
    "LUCRL, exact": lambda: ao.agents.LUCRL(2, 4, failure=0.1, planner="exact", bonus_scale=0.01, floor=0.0),
    "RMax, pooled": lambda: ao.agents.Pooled(ao.learning.RMax(), 40, rewards="unknown"),
    "RMax, told": lambda: ao.agents.Told(ao.learning.RMax(), 40),
    "MaxQInit": lambda: ao.agents.MaxQInit(40, 0.5, failure=0.3, cautious=False, learner=ao.learning.RMax(1)),
    "LRMax": lambda: ao.agents.LRMax(
        40, 0.01, failure=0.3, rarest=0.5, cautious=False, rewards="unknown", learner=ao.learning.RMax(1)
    ),
    "MixtureOfMDPs": lambda: ao.agents.MixtureOfMDPs(40, archive=4),
    "MixtureOfMDPs, unknown rewards": lambda: ao.agents.MixtureOfMDPs(40, rewards="unknown"),
}


@pytest.mark.parametrize("name", AGENTS)
def test_contract(name):
    ao.check_agent(AGENTS[name]())


def memory(agent):
    """Everything that an agent has learned, to the bit."""
    return saving.to_bytes(agent)


def ending(models):
    """The same worlds with episodes that end: in state 5 of the first, in states 4 and 5 of the second."""
    return ao.ModelSet(
        ao.MDP(world.successors, models.rewards, terminal=last)
        for world, last in zip(models, ([5], [4, 5]), strict=True)
    )


@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize("kind", ["", "noisy", "ending"])
def test_both_drivers_leave_the_same_memory_and_streams(name, kind):
    """Agents that are told something included; down to every count and the last word of both streams."""
    models, noisy = ao.worlds.random_models(6, 3, 2, 3, 1.0, 3), kind == "noisy"
    if kind == "ending":
        models = ending(models)
    inside, outside = AGENTS[name](), AGENTS[name]()
    for agent in (inside, outside):
        agent.begin(Setting(6, 3, models.rewards, 6, models if "models" in agent.told else None))
    nothing = memory(inside)
    for k in range(6):
        world, start = models[k % 2], k % 4 if kind == "ending" else k
        told = k % 2 if "task" in inside.told else None
        one, two = streams(k, 2), streams(k, 2)
        simulator = Simulator(world.alias_tables, world.gains, start, one[0], one[1], noisy, world.ends)
        report, ran = simulator.drive(inside.episode(start, one[1], told))
        env = WorldEnv(world, start, two[0], noisy)
        session = Session(outside.episode(start, two[1], told), 6, 3, int(env.reset()[0]), two[1])
        while not session.over:
            successor, reward, ended, *_ = env.step(session.act())
            session.observe(successor, reward, ended)
        assert np.array_equal(one, two)
        steps = [[r.outcome for r in each if r.outcome.steps] for each in (ran, session.ran)]
        assert steps[0] == steps[1]
        assert simulator.ended == session.ended == (kind == "ending" and ran[-1].outcome.ended)
        assert (report.cluster, report.new_cluster) == (session.report.cluster, session.report.new_cluster)
        assert np.array_equal(report.evaluation, session.report.evaluation)
        assert memory(inside) == memory(outside)
    assert name in ("Random", "Optimal", "MultiModel", "OneEpisodeUCBVI") or memory(inside) != nothing


class Faulty(ao.agents.Random):
    """Yields a phase that somebody else made."""

    def __init__(self, phase):
        self.phase, self.horizon = phase, 10

    def episode(self, start, stream, task=None):
        yield self.phase
        return ao.agents.Report()


def phase(plan=None, steps=10, counts=18, sums=0):
    behaviour = act_uniformly(6, 3) if plan is None else follow(np.asarray(plan, np.int32))
    return Phase(behaviour, steps, CountTable(counts), np.zeros(sums))


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: phase(np.zeros((5, 6)), 500), "the plan of a behaviour has 30 entries of int32, but 3000 are needed"),
        (lambda: phase(np.full(6, 7)), "the plan of a behaviour holds entries outside 0 to 3"),
        (lambda: phase(np.full(6, -1)), "the plan of a behaviour holds entries outside 0 to 3"),
        (lambda: phase(np.zeros(5)), r"the budget of a behaviour must be int64 of shape \(6,\)"),
        (lambda: phase(sums=2), r"the sums of a phase must be empty or of shape \(18,\), not \(2,\)"),
        (lambda: phase(counts=4), r"the counts of a phase must be a CountTable of S \* A = 18 pairs"),
        (lambda: phase(steps=-1), "the steps of a phase must be at least 0, not -1"),
        (lambda: 3, "an episode yielded 3, not a Phase"),
        (lambda: Phase("behaviour", 3, CountTable(18), np.zeros(0)), "has no Table in its field 'table'"),
    ],
)
def test_faulty_phases_are_refused_by_both_drivers(made, message):
    models = ao.worlds.random_models(6, 3, 2, 3, 1.0, 3)
    with pytest.raises(ValueError, match=message):
        ao.run(Faulty(made()), models, ao.streams.uniform(), 1)
    with pytest.raises(ValueError, match=message):
        ao.interact(Faulty(made()), lambda k: WorldEnv(models[0]), 1)


@pytest.mark.parametrize("explore", [lambda t: explore_id(t, 3), lambda t: gosprl(t, 3, 0.1)])
def test_exploring_for_nothing_is_refused(explore):
    with pytest.raises(ValueError, match="targets is empty: there is nothing to explore"):
        explore(np.zeros((6, 3), bool))


def test_an_evaluation_that_is_too_short_is_refused():
    class Short(ao.agents.Random):
        def episode(self, start, stream, task=None):
            yield from super().episode(start, stream, task)
            return ao.agents.Report(evaluation=np.zeros((3, 6), np.int32), evaluation_horizon=100)

    with pytest.raises(ValueError, match="has 18 entries of int32, but 600 are needed"):
        ao.run(Short(5), ao.worlds.random_models(6, 3, 2, 3, 1.0, 3), ao.streams.uniform(), 1)


def test_a_cluster_that_nobody_made_is_refused():
    class Wrong(ao.agents.Random):
        def episode(self, start, stream, task=None):
            yield from super().episode(start, stream, task)
            return ao.agents.Report(cluster=0)

    with pytest.raises(ValueError, match="an episode was put in cluster 0, which no episode made"):
        ao.run(Wrong(5), ao.worlds.gridworld(), ao.streams.uniform(), 1)


def test_an_agent_may_keep_its_parameters_as_it_likes():
    class Plain(ao.agents.Agent):
        def episode(self, start, stream, task=None):
            yield phase()
            return ao.agents.Report()

    ao.check_agent(Plain())
    assert Plain().parameters() == {}


class Cheating(ao.agents.Random):
    """Remembers something across runs."""

    def episode(self, start, stream, task=None):
        self.seen = getattr(self, "seen", 0) + 1
        self.horizon = 10 + self.seen
        return (yield from super().episode(start, stream, task))


class Hasty(ao.agents.Random):
    """Remembers before the episode is over."""

    def begin(self, setting):
        super().begin(setting)
        self.seen = 0

    def episode(self, start, stream, task=None):
        self.seen += 1
        plan = np.full(6, self.seen % 3, np.int32)
        yield Phase(follow(plan), self.horizon, CountTable(18), np.empty(0))
        return ao.agents.Report()


class Speechless(ao.agents.Random):
    """Returns no report."""

    def episode(self, start, stream, task=None):
        yield from super().episode(start, stream, task)


class Peeking(ao.agents.Random):
    """Acts on something that is no observation: how often it was called."""

    calls = 0

    def begin(self, setting):
        super().begin(setting)
        Peeking.calls += 1

    def episode(self, start, stream, task=None):
        self.horizon = 20 if Peeking.calls <= 2 else 21
        return (yield from super().episode(start, stream, task))


class Idle(ao.agents.Agent):
    """Does not say what an episode is."""


class Untold(ao.agents.Random):
    """Forgets that there may be a task."""

    def episode(self, start, stream):
        return super().episode(start, stream)


def test_an_agent_without_episodes_says_so_when_it_is_run():
    with pytest.raises(NotImplementedError, match=r"Idle has no method episode; ao\.check_agent says what it must be"):
        ao.run(Idle(), ao.worlds.gridworld(), ao.streams.uniform(), 1)


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        (Cheating(20), "the same seed gives another history"),
        (Hasty(20), "an episode that is given up changes the next one"),
        (Speechless(20), "an episode of Speechless returned None, not a Report"),
        (Peeking(20), "step by step, learning_steps differs from the simulator"),
        ("agent", "'agent' is not an aomultirl.agents.Agent: derive its class from that, and give it episode"),
        (Idle(), r"Idle has no method episode: give it episode\(self, start, stream, task=None\), which yields the ph"),
        (Untold(20), r"Untold.episode must take \(self, start, stream, task=None\), but called so it has too many"),
        (Idle, r"Idle is a class: give an agent, such as Idle\(...\)"),
    ],
)
def test_check_agent_can_fail(agent, message):
    with pytest.raises(ValueError, match=message):
        ao.check_agent(agent)


def test_an_environment_that_fails_leaves_no_trace():
    models = ao.worlds.random_models(6, 3, 2, 3, 1.0, 3)
    agent = AGENTS["AOMultiRL"]()

    class Failing(WorldEnv):
        steps = 0

        def step(self, action):
            self.steps += 1
            if self.steps == 610:
                raise OSError("the machine is gone")
            return super().step(action)

    def make_env(k):
        kind = Failing if k == 2 else WorldEnv
        return kind(models[k % 2], 0, streams(k, 1)[0])

    with pytest.raises(RuntimeError, match=r"the environment of episode 2 raised OSError .the machine is gone"):
        ao.interact(agent, make_env, 3, rewards=np.array(models.rewards))
    assert len(agent.clusters) == 2
    assert sum(cluster.model.to_lists()[2].sum() for cluster in agent.clusters) == 2 * 600
    assert sum(cluster.regret.counts.to_lists()[2].sum() for cluster in agent.clusters) == 2 * 30


def test_an_environment_may_end_early():
    models = ao.worlds.random_models(6, 3, 2, 3, 1.0, 3)

    class Ending(WorldEnv):
        steps = 0

        def step(self, action):
            self.steps += 1
            *rest, _, truncated, info = super().step(action)
            return (*rest, self.steps == 605, truncated, info)

    history = ao.interact(
        AGENTS["AOMultiRL"](), lambda k: Ending(models[0], 0, streams(k, 1)[0]), 2, rewards=np.array(models.rewards)
    )
    assert history["identification_steps"].tolist() == [600, 600]
    assert history["learning_steps"].tolist() == [5, 5]
    short = ao.interact(
        AGENTS["Random"](), lambda k: WorldEnv(models[0], 0), 2, horizon=7, rewards=np.array(models.rewards)
    )
    assert short["learning_steps"].tolist() == [7, 7]
