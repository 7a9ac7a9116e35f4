"""Run an agent with anyone's Gymnasium environments, of which nobody knows more than what they show."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.agents.base import Agent, Episode, Report, Setting
from aomultirl.agents.interface import carried, check_same_rewards, known_rewards, read_interface
from aomultirl.agents.reward_scale import RewardScale
from aomultirl.agents.spaces import StateIndexer
from aomultirl.engine.interacting import Session
from aomultirl.engine.random import RandomStream
from aomultirl.engine.stepping import Ran
from aomultirl.experiments.environments import MAKE_ENV, Environments, EpisodeEnvironment
from aomultirl.experiments.episodes import EpisodeLoop, begin, check_is_agent, check_tasks, play, unjudged_row
from aomultirl.experiments.history import History, Row
from aomultirl.experiments.judge import is_misclustered
from aomultirl.experiments.progress import bar
from aomultirl.experiments.provenance import identity, left_behind, resumed_rows
from aomultirl.worlds.gymnasium_import import plain_warnings

if TYPE_CHECKING:
    from aomultirl.experiments.environments import MakeEnv


@checks.explained(make_env=MAKE_ENV, episodes="how many to play")
def interact(
    agent: Agent,
    make_env: "MakeEnv",
    episodes: int,
    horizon: int | None = None,
    seed: int = 0,
    *,
    rewards: NDArray[np.float64] | None = None,
    reward_range: tuple[float, float] | Literal["learn"] | None = None,
    terminal: Literal["end", "restart"] = "end",
    states: Literal["grow"] | int | None = None,
    stop: int | None = None,
    resume: History | bool | None = None,
    forget: bool = False,
    progress: bool = False,
) -> History:
    """Run ``agent`` with environments of your own, with discrete observations and actions.

    Stopped with Ctrl-C, it gives up the episode under way, and returns the history of those that are over.

    Parameters
    ----------
    make_env
        a function that gives the environment of episode k, which may be the same one again; one environment, whose
        hidden world changes at reset, or the id of one; or several of these, of which each episode is one at random.
        Only of several is it known which one an episode has: an agent that must be told the task is told its number.
        What a function or an id made is closed in the end, whatever happens, and where a function made more than 64,
        those met longest ago before.
    horizon
        end every episode after so many steps, if the agent does not end it before.
    rewards
        (S, A), if they are known; otherwise the agent must take ``rewards="unknown"``.  An agent that goes on knows
        them already: others than those are refused.
    reward_range
        (low, high) of the rewards, which the agent is shown as 0 and 1; by default they lie in [0, 1] themselves.
        "learn": begins there, widens after an episode that left it, and says so.  The history keeps the rewards as the
        environment gave them.  An agent that goes on has its range already, if none is given; "learn" widens it from
        now on, and another range is refused.
    terminal
        what follows where the environment terminates.  "end": the episode is over, and the agent is told that what is
        left is worth nothing.  "restart": the environment is reset, which takes a step that earns nothing, and the same
        episode goes on in the same hidden world up to its horizon.  So does one that is truncated, without a step: the
        agent finds itself at the start, and learns no transition that leads there.  An environment whose
        world changes at reset must then keep it where ``options={"restart": True}``, and say so by the name "restart"
        in its ``metadata``.
    states
        "grow", or a number: states are numbered in the order in which they are met, 10,000 or so many at most; for
        observations of any kind that can be told apart.  By default the observation space says them all.  An agent that
        goes on has its states already: another number is refused.
    stop
        end when so many of the agent's episodes are over, those of before included; the run stays one of ``episodes``,
        and goes on later as if it had not been stopped.
    resume
        a history: go on after its last episode, up to ``episodes`` in all, with the agent as it was then.  True: the
        agent goes on with what it remembers for ``episodes`` more, with a history of their own.
    forget
        begin anew with an agent that remembers; where no episode can be completed, it remembers as before.

    Raises
    ------
    ValueError
        anything that cannot be; also an agent that remembers episodes, unless ``resume`` or ``forget`` is given, or it
        has just been read by ``ao.load_agent``: then it goes on.
    """
    check_is_agent(agent)
    most = None if horizon is None else checks.integer("horizon", horizon, least=1)
    checks.choice("terminal", terminal, ("end", "restart"))
    before = _remembered(agent, resume, forget)
    interface = carried(agent, reward_range, states) if before else read_interface(reward_range, states)
    more = checks.integer("episodes", episodes, least=1)
    loop = EpisodeLoop(agent, more if isinstance(resume, History) else before + more, seed)
    if isinstance(resume, History):
        loop.rows = resumed_rows(resume, {**identity(agent, loop.seed, len(resume)), "recorded": []}, loop.episodes)
    last = loop.episodes if stop is None else checks.integer("stop", stop, least=before + 1, most=loop.episodes)
    with plain_warnings():
        environments = Environments(make_env, loop.seed)
    shown = bar(type(agent).__name__, sys.stderr, wanted=progress, lines=False)
    with plain_warnings(), environments.closed_in_the_end(), _forgetting_late(agent, loop), shown as done:
        try:
            for number in range(before, last):
                given = environments.of_episode(number)
                env = EpisodeEnvironment(given, number, interface.states, interface.scale, terminal == "restart")
                task = environments.task(number)
                if number == 0:
                    check_tasks(agent, environments.several)
                _check_fits(agent, env, interface.states, task, number == 0)
                start = env.reset(int(loop.world_streams[number][0] >> np.uint64(1)), loop.seed)
                with env.memory_named(agent):
                    if number == before:
                        known = known_rewards(rewards, env.scale, env.n_states, env.n_actions)
                        _begin(agent, env, known, loop.episodes, most or 0)
                        interface.states, interface.actions, agent.interface = env.states, env.actions, interface
                    driver = EnvironmentDriver(env, start, loop.agent_streams[number], most)
                    report, ran = play(agent, driver, start, loop.agent_streams[number], task)
                loop.rows.append(driver.row(task, report, ran, interface.stands_for))
                if change := interface.scale.widen(number):
                    agent.rescale_rewards(*change, interface.scale.rest)
                done(number + 1, last)
        except KeyboardInterrupt:
            if not loop.rows:
                raise
            warnings.warn(f"stopped after {agent.completed} of {last} episodes", stacklevel=2)
    about = {**identity(agent, loop.seed, loop.episodes), "recorded": []}
    return History.of(loop.rows, {**about, **left_behind(agent, loop.spare_stream(), interface.stands_for)})


def _remembered(agent: Agent, resume: Any, forget: bool) -> int:
    """How many episodes the agent goes on after; refuses to forget what nobody said may be forgotten."""
    completed = agent.completed if "setting" in vars(agent) else 0
    if not isinstance(resume, History | bool | None):
        raise checks.Refusal("resume", f"is {checks.shown(resume)}, neither a History nor True")
    if checks.truth("forget", forget):
        if resume:
            raise checks.Refusal("forget", "is True, and resume is given: an agent cannot do both")
        return 0
    if isinstance(resume, History) and len(resume) != completed:
        raise checks.Refusal("resume", f"has {len(resume)} episodes, but the agent has completed {completed}")
    if completed and not resume and not agent.loaded:
        raise checks.Refusal(
            "agent",
            f"remembers {completed} {'episode' if completed == 1 else 'episodes'}: "
            "give resume=True or their history to go on, or forget=True to begin anew",
        )
    return completed


@contextmanager
def _forgetting_late(agent: Agent, loop: EpisodeLoop) -> Iterator[None]:
    """A block that may have an agent begin anew; if it fails before an episode is over, the agent is as it was."""
    before = dict(vars(agent))
    try:
        yield
    except BaseException:
        if not loop.rows and before.get("completed") and agent.completed == 0:
            vars(agent).clear()
            vars(agent).update(before)
        raise


def _begin(
    agent: Agent, env: EpisodeEnvironment, rewards: NDArray[np.float64] | None, episodes: int, longest: int
) -> None:
    """Begin a run, or have the agent go on with one for so many episodes in all, of ``longest`` steps if not 0."""
    if env.episode == 0:
        agent.loaded = False
        begin(agent, Setting(env.n_states, env.n_actions, rewards, episodes, rest=env.scale.rest, longest=longest))
        return
    check_same_rewards(agent, rewards)
    agent.loaded = False
    if episodes > agent.setting.episodes or longest != agent.setting.longest:
        agent.go_on(replace(agent.setting, episodes=max(episodes, agent.setting.episodes), longest=longest))


def _check_fits(agent: Agent, env: EpisodeEnvironment, states: StateIndexer | None, task: int, first: bool) -> None:
    """Refuse an environment that the agent cannot play in, or not after those before it, whose ``states`` are known.

    ``task`` is -1 where nobody knows it.
    """
    if not first:
        sizes, had = (env.n_states, env.n_actions), (agent.setting.n_states, agent.setting.n_actions)
        if sizes != had:
            words = f"has {sizes[0]} states and {sizes[1]} actions, that of episode 0 has {had[0]} and {had[1]}"
            raise ValueError(f"the environment of episode {env.episode} {words}")
        if states is not None and env.states != states:
            raise ValueError(f"the environment of episode {env.episode} has other observations than those before it")
    if "task" in agent.told and task < 0:
        raise ValueError(f"{type(agent).__name__} must be told the task, and an environment does not say it")
    if first:
        env.check_memory(agent)


class EnvironmentDriver:
    """Steps through an episode in an environment.

    Parameters
    ----------
    env
        the environment, reset.
    start
        the state that it is in.
    stream
        the agent's random stream.
    most
        steps after which the episode ends, if nobody ends it before; None for no limit.
    """

    def __init__(self, env: EpisodeEnvironment, start: int, stream: RandomStream, most: int | None) -> None:
        self.env, self.start, self.stream, self.most = env, start, stream, most
        self._earned = {"clustering": 0.0, "learning": 0.0}

    def drive(self, episode: Episode) -> tuple[Report, list[Ran]]:
        """Step through to the end; whatever fails, the agent's memory stays as it was."""
        env = self.env
        session = Session(episode, env.n_states, env.n_actions, self.start, self.stream)
        try:
            while not session.over:
                if self.most is None:
                    env.check_wait(session.steps_left)
                action, part = session.act(), session.part
                move = env.step(action, session.learns_rewards)
                self._earned[part] += move.reward
                session.observe(move.state, move.shown, move.terminated)
                if env.steps == self.most or (move.truncated and not env.restarts):
                    session.stop()
                elif move.truncated and not (session.over or env.is_over):
                    session.move(env.begin_again())
        except BaseException:
            session.close()
            raise
        return session.report, session.ran

    def row(self, task: int, report: Report, ran: list[Ran], stands_for: dict[int, int]) -> Row:
        """The row of the episode, with the rewards as the environment gave them.

        ``stands_for`` is the task of every cluster of which somebody knows it; the others are not judged.
        """
        row = unjudged_row(self.env.episode, self.start, report, ran)
        if self.env.scale != RewardScale():  # otherwise what the phases earned is that, and the same to the last bit
            earned = self._earned
            row = row._replace(clustering_reward=earned["clustering"], learning_reward=earned["learning"])
        judged = task >= 0 and (report.new_cluster or report.cluster in stands_for)
        return row._replace(task=task, misclustered=judged and is_misclustered(task, report, stands_for))
