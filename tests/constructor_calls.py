"""Calls of everything public with arguments that nobody means: it works, or it is refused in a sentence."""

import inspect
import random
import resource
import time
import warnings
from collections import Counter
from pathlib import Path

import gymnasium
import numpy as np

import aomultirl as ao
from zoo import EVERYTHING, check_refusal

SECONDS = 5.0
"""That an answer may take."""
ROOM = 3 * 2**30
"""Bytes of addresses that all calls together may take beyond what the process has at first."""
RECORDS = {
    "__version__", "agents", "exploring", "hidden_worlds", "learning", "plugins", "streams", "theory", "worlds",
    "wrappers",
    "History", "Agent", "Report", "Setting",
    "AverageReward", "CoinFlips", "MemorylessPlan", "PlannedReward", "RegretBound", "Strategy", "VariationBudget",
    "DiscoveryCosts", "DiscoveryLoss", "LogGroups",
}  # fmt: skip
"""Public names that take no arguments to check: modules, records of results, and bases of classes."""
ENDLESS = {("MDP.rollout", "steps"), ("optimal_gain", "tolerance")}
"""Arguments for which a huge, or a tiny, value is as good as any other, and takes as long as it takes."""


def _begun(kind):
    """Makes an agent of this class, and has it begin in some worlds."""
    models = ao.worlds.jao(2)

    def call(**arguments):
        agent = kind(**arguments)
        told = models if "models" in kind.told else None
        agent.begin(ao.agents.Setting(models.n_states, models.n_actions, models.rewards, 10, told))
        repr(agent)

    return call


def _started(kind):
    """Makes a stream of this class, and asks it for an episode."""
    models = ao.worlds.jao(2)

    def call(**arguments):
        stream = kind(**arguments)
        stream.begin(models, 1, np.random.default_rng(0))
        stream.next([])

    return call


def _agents():
    for name in ao.agents.__all__:
        kind = getattr(ao.agents, name)
        if name not in RECORDS:
            known = {"models": 2, "separation": 0.09, "hitting_time": 10.0, "failure": 0.1, "horizon": 10**9}
            known |= {"variation": 3.0, "batch": 3, "first_episodes": 3}
            known |= {"means": [[0.5, 0.1], [0.2, 0.6]], "accuracy": 0.1}
            known |= {"variation": 3.0, "rarest": 0.5}
            taken = inspect.signature(kind).parameters
            base = {key: value for key, value in known.items() if key in taken}
            base["horizon"] = 10**9 if "hitting_time" in taken or name == "DoublingAOMultiRL" else 50
            if "learning_horizon" in taken:
                base["learning_horizon"] = base.pop("horizon") and 50
            if name in ("OneEpisode", "Pooled", "Told", "DetectAndRestart"):
                base["learner"] = ao.learning.UCBVI()
            if name == "DoublingAOMultiRL":
                base |= {"samples": 3, "horizon": 1000}
            if name == "CECE":
                base |= {"samples": 3, "classifying_steps": 5}
            if name == "UCBVIWithOracle":
                base["samples"] = 3
            yield name, _begun(kind), base, taken


def _streams():
    base = {"sequence": {"tasks": [0, 1]}, "blocks": {"length": 2}, "adaptive": {"choose": lambda past: 0}}
    for name, kind in vars(ao.streams).items():
        if isinstance(kind, type) and issubclass(kind, ao.streams.Stream) and kind is not ao.streams.Stream:
            yield name, _started(kind), base.get(name, {}), inspect.signature(kind).parameters


def _worlds():
    base = {"from_gymnasium": {"envs": "FrozenLake-v1"}, "two_jao_tree": {"states": 6, "actions": 6}}
    for name in ao.worlds.__all__:
        maker = getattr(ao.worlds, name)
        yield name, maker, base.get(name, {}), inspect.signature(maker).parameters


def _theory():
    sizes = {
        "states": 20, "actions": 20, "models": 2, "episodes": 10, "horizon": 10**9, "learning_horizon": 50,
        "clustering_horizon": 100, "failure": 0.1, "separation": 0.4, "hitting_time": 5.0, "diameter": 60.0,
        "pairs": 3, "samples": 10, "visits": 3, "level": 0.4, "rows": 12, "bias": 0.1, "base": 0.2,
        "base_bias": 0.1, "flips": 10, "radius": 0.3, "successes": 3, "trials": 10, "values": [0.0, 1.0],
        "special": 0, "first": 3, "second": 3, "chance": np.random.default_rng(0), "rng": np.random.default_rng(0),
        "choose": lambda coins: 0, "budgets": [5, 10], "repetitions": 20, "world": ao.worlds.jao(2)[0],
        "rounds": 10, "types": [0, 1], "explored": [True, False], "chances": [1.0, 0.5], "least_probability": 0.2,
        "costs": ao.theory.DiscoveryCosts(0.0, 1.0, 1.0, 2.0),
        "variation": 3.0, "game": ao.theory.CoinGame(12, 0.2), "strategy": ao.theory.UniformAllocation(),
    }  # fmt: skip
    own = {
        "forced_exploration_bound": {"types": 2},
        "identification_lower_bound": {"models": ao.worlds.jao(2)},
        "threshold": {"level": 0.4},
        "binomial_interval": {"level": 0.9},
        "flips_needed": {"success": 0.2},
        "likeliest_world_reward": {"models": ao.worlds.jao(2), "horizon": 10},
        "qmdp_reward": {"models": ao.worlds.jao(2), "horizon": 10},
        **{
            name: {"models": ao.worlds.jao(2), "horizon": 10}
            for name in ("coordinate_ascent", "mean_value_problem", "weight_select_update")
        },
        "variation_budget": {"models": ao.worlds.jao(2), "tasks": [0, 1]},
        "told_nothing_optimum": {"models": ao.worlds.doors(sign=1.0), "horizon": 10},
    }
    makers = [(name, getattr(ao.theory, name)) for name in ao.theory.__all__ if name not in RECORDS]
    for name, maker in [*makers, ("CoinGame.of_two_jao", ao.theory.CoinGame.of_two_jao)]:
        taken = inspect.signature(maker).parameters
        base = {key: sizes[key] for key in taken if key in sizes and taken[key].default is taken[key].empty}
        if name == "CoinGame.of_two_jao":
            base = {"actions": 4, "diameter": 40.0, "separation": 0.2, "gap": 0.1}
        yield name, maker, base | own.get(name, {}), taken


def _methods():
    world, models = ao.worlds.jao(2)[0], ao.worlds.jao(2)
    rows, rewards = world.transitions, np.array(world.rewards)
    policy = np.zeros(2, np.int64)
    for owner, name, base in (
        (world, "optimal_values", {"horizon": 5}),
        (world, "first_values", {"horizon": 20_000}),
        (world, "optimal_policy", {"horizon": 5}),
        (world, "policy_values", {"policy": policy, "horizon": 5}),
        (world, "rollout", {"policy": policy, "steps": 5}),
        (world, "diameter", {}),
        (world, "hitting_time", {}),
        (models, "distinguishing_pairs", {"i": 0, "j": 1, "level": 0.05}),
        (models, "distinguishing_set", {}),
        (models, "is_distinguishing", {"pairs": [(0, 0)], "level": 0.05}),
    ):
        method = getattr(owner, name)
        yield f"{type(owner).__name__}.{name}", method, base, inspect.signature(method).parameters
    yield "MDP", ao.MDP, {"transitions": rows, "rewards": rewards}, inspect.signature(ao.MDP).parameters
    yield "ModelSet", ao.ModelSet, {"models": list(models)}, {"models": None}
    lists = world.successors._asdict()
    yield "Successors", lambda **fields: ao.MDP(ao.Successors(**fields), rewards), lists, lists


def _drivers():
    models = ao.worlds.jao(2)
    course = {"agent": ao.agents.Random(5), "models": models, "stream": ao.streams.uniform(), "episodes": 2}
    taken = {name: None for name in inspect.signature(ao.run).parameters if name != "progress"}
    yield "run", ao.run, course, taken
    env = {"make_env": _environment, "episodes": 2}
    taken = {name: None for name in inspect.signature(ao.interact).parameters if name != "progress"}
    yield "interact", _interact, env, taken
    hidden = inspect.signature(ao.HiddenWorlds).parameters
    yield "HiddenWorlds", lambda **given: ao.HiddenWorlds(**given).reset(seed=0), {"worlds": models}, hidden
    bins = {"bins": [3, [0.0]]}
    yield "Discretise", lambda **given: ao.wrappers.Discretise(_Box(), **given).reset(), bins, dict.fromkeys(("bins",))
    game = {"start": 0, "n_states": 3, "n_actions": 2}
    taken = inspect.signature(ao.agents.Random(5).play).parameters
    yield "play", lambda **given: ao.agents.Random(5).play(**given).act(), game, taken
    yield "check_agent", ao.check_agent, {"agent": ao.agents.Random(5)}, dict.fromkeys(("agent", "models", "episodes"))
    parts = dict.fromkeys(("learner", "models"))
    yield "check_learner", ao.check_learner, {"learner": ao.learning.UCBVI(bonus_scale=0.01)}, parts
    parts = dict.fromkeys(("explorer", "models"))
    yield "check_explorer", ao.check_explorer, {"explorer": ao.exploring.ExploreID()}, parts
    yield "save", ao.save, {"agent": ao.agents.Random(5), "path": "agent.zip"}, dict.fromkeys(("agent", "path"))
    yield "load_agent", ao.load_agent, {"path": "agent.zip"}, dict.fromkeys(("path",))
    logs = {"trajectories": [[(0, 0, 1), (1, 0, 0)], [(0, 0, 0)]]}
    yield "cluster", ao.cluster, logs, inspect.signature(ao.cluster).parameters
    yield "load", lambda place: ao.load(place), {}, dict.fromkeys(("place",))
    session = {"n_states": 2, "n_actions": 2, "start": 0}
    yield "Session", _session, session, dict.fromkeys(("start", "successor", "reward"))


def _interact(agent=None, **given):
    return ao.interact(ao.agents.Random(5) if agent is None else agent, **given)


class _Box(gymnasium.Env):
    """Two numbers within [0, 1]."""

    observation_space = gymnasium.spaces.Box(0.0, 1.0, (2,))
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(2, np.float32), {}


def _environment(k):
    from aomultirl.worlds.environment import WorldEnv

    return WorldEnv(ao.worlds.jao(2)[0], start=0)


def _session(n_states, n_actions, start, successor=0, reward=0.5):
    agent, stream = ao.agents.Random(3), np.arange(1, 5, dtype=np.uint64)
    agent.begin(ao.agents.Setting(n_states, n_actions, None, 1))
    session = ao.Session(agent.episode(0, stream), n_states, n_actions, start, stream)
    session.act()
    session.observe(successor, reward)


def targets():
    """(name, what is called, arguments that work, names of all that it takes) of everything public."""
    found = [*_agents(), *_streams(), *_worlds(), *_theory(), *_methods(), *_drivers()]
    return [(name, call, base, list(taken)) for name, call, base, taken in found]


def check_calls(count, seed):
    """Make so many calls; how many worked and how many were refused.

    Files that calls write are in the present folder.
    """
    source, every = random.Random(seed), targets()
    found = Counter()
    before = resource.getrlimit(resource.RLIMIT_AS)
    for name, call, base, _ in every:  # compile what there is to compile before anything is measured
        if name != "load":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                call(**base)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + ROOM, before[1]))
    try:
        for number in range(count):
            name, call, base, taken = every[number % len(every)]
            arguments = dict(base)
            for key in source.sample(taken, min(len(taken), source.choice((1, 1, 1, 2)))):
                if (name, key) not in ENDLESS:
                    arguments[key] = source.choice(EVERYTHING)()
            found[_outcome(name, call, arguments, source.random() < 0.01)] += 1
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
    return dict(found)


def _outcome(name, call, arguments, unknown):
    """ "worked" or "refused"; anything else fails."""
    if unknown:
        arguments = {**arguments, "no_such_argument": 1}
    begin = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call(**arguments)
        said = "worked"
    except (ValueError, TimeoutError, ImportError) as error:
        check_refusal(error, f"{name}({_words(arguments)})")
        said = "refused"
    except Exception as error:
        documented = (TypeError,) * unknown + (OSError,) * (name in ("save", "load", "load_agent"))
        if not isinstance(error, documented):
            raise AssertionError(f"{name}({_words(arguments)}): {type(error).__name__}: {str(error)[:300]}") from error
        said = "refused"
    took = time.perf_counter() - begin
    assert took < SECONDS, f"{name}({_words(arguments)}) took {took:.1f} s"
    return said


def _words(arguments):
    from aomultirl import checks

    return ", ".join(f"{key}={checks.shown(value)}" for key, value in arguments.items())
