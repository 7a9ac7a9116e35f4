"""An episode to watch, recorded as frames that a terminal or a GIF can show.

The episodes before it run silently in the simulator, so that the agent has something to remember; the worlds take
turns.  The watched one goes step by step through :class:`aomultirl.Session`, with the draws that the simulator would
have made, so what is shown is the very episode that ``ao.run`` runs.

Time-lapse.  Of a long phase nobody watches every step: step t of a phase is followed by step ``t + max(1, t // 16)``,
and whatever happens in between (a pair has its samples, the phase changes, the world is recognised) has a frame of
its own.
"""

import numpy as np

from aomultirl import checks
from aomultirl.agents.base import Agent, Episode, Evidence, Report, Setting
from aomultirl.engine.interacting import Session
from aomultirl.engine.random import Stream
from aomultirl.engine.stepping import Phase, Simulator
from aomultirl.experiments.runner import PURPOSES, episode_streams
from aomultirl.mdp import MDP, ModelSet
from aomultirl.reports.watching_frames import Frame, Move, Recording, cluster_name, pair_name
from aomultirl.streams import Past, round_robin
from aomultirl.worlds.environment import WorldEnv

SLOWDOWN = 16
"""The larger, the more frames of a phase."""
TURNS, MOST = 3, 60
"""By default every world has come so often before the watched episode, as far as that many episodes do for it."""
LAST = 2_000
"""The highest number that can be watched; what is silent for longer looks as if it hung."""


def record(
    agent: Agent,
    models: ModelSet,
    *,
    episode: int | None = None,
    seed: int = 0,
) -> Recording:
    """Run an agent up to an episode, and watch that one.

    Parameters
    ----------
    episode
        its number, from 0 to 2,000; by default every world has come three times before, or 60 episodes have.
    seed
        as in :func:`aomultirl.run`, which runs the same episodes with ``ao.streams.round_robin()`` and K = episode + 1.
    """
    check(episode, seed)
    number = min(TURNS * len(models), MOST) if episode is None else episode
    known = models if "models" in agent.told else None
    agent.begin(Setting(models.n_states, models.n_actions, models.rewards, number + 1, known))
    stream = round_robin()
    source = np.random.SeedSequence(seed, spawn_key=(PURPOSES.index("stream"),))
    stream.begin(models, number + 1, np.random.default_rng(source))
    world_streams, agent_streams = (episode_streams(seed, purpose, number + 1) for purpose in ("world", "agent"))
    past: list[Past] = []
    stands_for: dict[int, int] = {}
    for k in range(number + 1):
        task, start = stream.next(past)
        world, told = models[task], task if "task" in agent.told else None
        run = agent.episode(start, agent_streams[k], told)
        if k == number:
            break
        report, _ = Simulator(world.alias_tables, world.gains, start, world_streams[k], agent_streams[k]).drive(run)
        if report.new_cluster:
            stands_for[report.cluster] = task
        past.append(Past(task, start, report.cluster))
    found = agent.findings()
    watcher = _Watcher(agent, world, [(int(s), int(a)) for s, a in found.get("pairs", [])], found.get("samples", 0))
    report = watcher.watch(run, start, world_streams[number], agent_streams[number])
    right = _right(report, task, stands_for)
    return Recording(
        world,
        type(agent).__name__,
        "task" in agent.told,
        number,
        task,
        watcher.pairs,
        watcher.samples,
        stands_for,
        report,
        right,
        _told(watcher.frames, watcher.moment, _verdict(report, task, stands_for, right)),
        np.array(watcher.states),
        np.array(watcher.actions),
    )


def check(episode: int | None, seed: int) -> None:
    """Refuse, before anything is computed, what cannot be watched."""
    if episode is not None and checks.integer("episode", episode, least=0) > LAST:
        raise ValueError(f"episode must be at most {LAST:,}, not {episode:,}: all episodes before it are run first")
    checks.integer("seed", seed, least=0)


class _Watcher:
    """Steps through an episode and keeps the frames; moment: the number of the one in which the agent decides."""

    def __init__(self, agent: Agent, world: MDP, pairs: list[tuple[int, int]], samples: int) -> None:
        self.agent, self.world, self.pairs, self.samples = agent, world, pairs, samples
        self.frames: list[Frame] = []
        self.moment: int | None = None
        self.phases: list[Phase] = []
        self.place = {pair: i for i, pair in enumerate(pairs)}
        self.visits = np.zeros(len(pairs), np.int64)
        self.visited = np.zeros(world.n_states if world.layout else 0, np.int64)
        self.evidence: list[Evidence] = []
        self.step = self.part_step = self.entered = self.next = 0
        self.reward = 0.0

    def watch(self, episode: Episode, start: int, world_stream: Stream, agent_stream: Stream) -> Report:
        """Step through to the end."""
        env = WorldEnv(self.world, start, world_stream)
        env.reset()
        self.states, self.actions = [start], list[int]()
        session = Session(self._spied(episode), self.world.n_states, self.world.n_actions, start, agent_stream)
        if len(self.visited):
            self.visited[start] += 1
        self._look(self.phases[-1])
        self._keep(Move(-1, -1, start), self.phases[-1], "")
        try:
            while not session.over:
                state, action, phase = session.state, session.act(), self.phases[-1]
                successor, reward, _, _, _ = env.step(action)
                session.observe(successor, reward)
                self._count(phase, Move(state, action, successor), reward, session.over)
        except BaseException:
            session.close()
            raise
        report: Report = session.report
        return report

    def _spied(self, episode: Episode) -> Episode:
        """The same episode; its phases are noted, and what they say before the agent draws its conclusions."""
        phase = next(episode)
        while True:
            self.phases.append(phase)
            outcome = yield phase
            self._look(phase)
            try:
                phase = episode.send(outcome)
            except StopIteration as end:
                report: Report = end.value
                return report

    def _look(self, phase: Phase) -> None:
        if phase.part == "clustering":
            self.evidence = self.agent.evidence(phase.counts)

    def _count(self, phase: Phase, move: Move, reward: float, over: bool) -> None:
        self.step += 1
        self.part_step += 1
        self.reward += reward
        self.states.append(move.successor)
        self.actions.append(move.action)
        if len(self.visited):
            self.visited[move.successor] += 1
        news = self._news(phase, move, over)
        decided = self.phases[-1].part != phase.part
        if news or decided or self.part_step >= self.next:
            if self.phases[-1] is phase and not over:
                self._look(phase)
            if decided:
                self.moment = len(self.frames)
            self._keep(move, phase, "; ".join(news))
        if decided:
            self.part_step = self.entered = self.next = 0
            self.reward = 0.0
        elif self.phases[-1] is not phase:
            self.entered = self.part_step

    def _news(self, phase: Phase, move: Move, over: bool) -> list[str]:
        """What this step has brought about, apart from a decision."""
        news = []
        place = self.place.get((move.state, move.action))
        if place is not None and phase.part == "clustering":
            self.visits[place] += 1
            if self.visits[place] == self.samples:
                news.append(f"{pair_name(self.world, *self.pairs[place])} has its {self.samples:,} samples")
        if self.phases[-1] is not phase and self.phases[-1].part == phase.part:
            news.append("every pair has its samples; at random until the phase ends")
        if over:
            news.append(f"the episode is over: {self.reward:,.6g} reward in {self.part_step:,} steps of {phase.part}")
        return news

    def _keep(self, move: Move, phase: Phase, event: str) -> None:
        self.next = self.part_step + max(1, self.part_step // SLOWDOWN)
        progress = (self.part_step, self.entered + phase.steps, self.reward)
        counted = (self.visits.copy(), self.visited.copy(), self.evidence)
        self.frames.append(Frame(self.step, move, phase.part, *progress, *counted, event, ""))


def _right(report: Report, task: int, stands_for: dict[int, int]) -> bool | None:
    if report.cluster < 0:
        return None
    if report.new_cluster:
        return task not in stands_for.values()
    return stands_for[report.cluster] == task


def _verdict(report: Report, task: int, stands_for: dict[int, int], right: bool | None) -> str:
    """What the agent takes the world for, and the truth."""
    if right is None:
        return "exploration failed: nothing is recognised"
    if not report.new_cluster:
        truth = "right" if right else f"wrong, this is m{task + 1}"
        words = f"recognised as {cluster_name(report.cluster)}, made in m{stands_for[report.cluster] + 1}: {truth}"
    elif right:
        words = f"like nothing before, a new cluster: right, m{task + 1} is new"
    else:
        words = f"like nothing before, a new cluster: wrong, m{task + 1} was here before"
    return words if report.exploration_ok else f"{words} (with too few samples)"


def _told(frames: list[Frame], moment: int | None, verdict: str) -> list[Frame]:
    """The frames from the agent's decision on say what it was; the agent itself says so only at the end."""
    if moment is None:
        return frames
    later = [frame._replace(recognised=verdict) for frame in frames[moment:]]
    later[0] = later[0]._replace(event="; ".join(filter(None, (later[0].event, verdict))))
    return frames[:moment] + later
