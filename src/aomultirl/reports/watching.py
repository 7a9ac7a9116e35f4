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
from aomultirl.agents import Recall, SequentialAOMultiRL
from aomultirl.agents.base import Agent, Episode, Evidence, Report, Setting
from aomultirl.engine.interacting import Session
from aomultirl.engine.random import RandomStream
from aomultirl.engine.stepping import Phase, Simulator
from aomultirl.experiments.runner import PURPOSES, episode_streams
from aomultirl.mdp import MDP, ModelSet
from aomultirl.reports.watching_frames import (
    BELIEF,
    EVIDENCE,
    PARTS,
    SAMPLES,
    SURE,
    Frame,
    Move,
    Recording,
    belief,
    certified,
    cluster_name,
    pair_name,
)
from aomultirl.streams import Past, round_robin
from aomultirl.worlds.environment import WorldEnv

SLOWDOWN = 16
"""The larger, the more frames of a phase."""
TURNS, MOST = 3, 60
"""By default every world has come so often before the watched episode, as far as that many episodes do for it."""
FEW = 8
"""Pairs up to which it is worth a pause when another one is certified."""
UNDECIDED = "put in no cluster: the evidence does not suffice"
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
    pairs = [(int(s), int(a)) for s, a in found.get("pairs", [])]
    if isinstance(agent, SequentialAOMultiRL):
        every = [(s, a) for s in range(models.n_states) for a in range(models.n_actions)]
        pairs = every if agent.distinguishing_set is None else list(agent.distinguishing_set)
    here = next((cluster for cluster, other in stands_for.items() if other == task), None)
    watcher = _Watcher(agent, world, pairs, found.get("samples", 0) if pairs else 0, here)
    report = watcher.watch(run, start, world_streams[number], agent_streams[number])
    right = _right(report, task, stands_for)
    return Recording(
        world,
        type(agent).__name__,
        "task" in agent.told,
        number,
        task,
        watcher.kind,
        watcher.pairs,
        watcher.samples,
        stands_for,
        report,
        right,
        _told(watcher, _believed(here, task), _verdict(report, task, stands_for, right, watcher.kind)),
        np.array(watcher.states),
        np.array(watcher.actions),
    )


def check(episode: int | None, seed: int) -> None:
    """Refuse, before anything is computed, what cannot be watched."""
    if episode is not None and checks.integer("episode", episode, least=0) > LAST:
        raise ValueError(f"episode must be at most {LAST:,}, not {episode:,}: all episodes before it are run first")
    checks.seed("seed", seed)


class _Watcher:
    """Steps through an episode and keeps the frames; moment: the number of the one in which the agent decides.

    here: the cluster that stands for this world, if any; recognising while acting is to believe in it.
    """

    def __init__(self, agent: Agent, world: MDP, pairs: list[tuple[int, int]], samples: int, here: int | None) -> None:
        self.agent, self.world, self.pairs, self.samples, self.here = agent, world, pairs, samples, here
        self.kind = SAMPLES if pairs else ""
        if isinstance(agent, Recall | SequentialAOMultiRL):
            self.kind = BELIEF if isinstance(agent, Recall) else EVIDENCE
        self.frames: list[Frame] = []
        self.moment: int | None = None
        self.phases: list[Phase] = []
        self.place = {pair: i for i, pair in enumerate(pairs)}
        self.visits = np.zeros(len(pairs), np.int64)
        self.visited = np.zeros(world.n_states if world.layout else 0, np.int64)
        self.evidence: list[Evidence] = []
        self.step = self.part_step = self.entered = self.next = 0
        self.reward = 0.0

    def watch(self, episode: Episode, start: int, world_stream: RandomStream, agent_stream: RandomStream) -> Report:
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
                before = self.evidence
                session.observe(successor, reward)
                if self.kind in (EVIDENCE, BELIEF) and self.phases[-1] is phase and not session.over:
                    self._look(phase)
                self._count(phase, Move(state, action, successor), reward, session.over, before)
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
        if phase.part == "clustering" or self.kind == BELIEF:
            self.evidence = self.agent.evidence(phase.counts)

    def _count(self, phase: Phase, move: Move, reward: float, over: bool, before: list[Evidence]) -> None:
        self.step += 1
        self.part_step += 1
        self.reward += reward
        self.states.append(move.successor)
        self.actions.append(move.action)
        if len(self.visited):
            self.visited[move.successor] += 1
        place = self.place.get((move.state, move.action))
        if place is not None and phase.part == "clustering":
            self.visits[place] += 1
        news = self._news(phase, move, over) if self.kind in ("", SAMPLES) else self._proof(phase, over, before)
        turned = self.phases[-1].part != phase.part and self.kind != BELIEF
        decided = turned or (self.kind == BELIEF and self.moment is None and self.believes())
        if news or decided or self.part_step >= self.next:
            if self.phases[-1] is phase and not over and self.kind == SAMPLES:
                self._look(phase)
            if decided:
                self.moment = len(self.frames)
            self._keep(move, phase, "; ".join(news))
        if turned:
            self.part_step = self.entered = self.next = 0
            self.reward = 0.0
        elif self.phases[-1] is not phase:
            self.entered = self.part_step

    def believes(self) -> bool:
        """In the right cluster, if there is one."""
        return any(one.cluster == self.here and belief(one) > SURE for one in self.evidence)

    def _proof(self, phase: Phase, over: bool, before: list[Evidence]) -> list[str]:
        """What this step has proven."""
        gone = {one.cluster for one in before if one.contradicted}
        news = [
            f"{cluster_name(one.cluster)} is ruled out: ln evidence {one.value:.1f} against it"
            for one in self.evidence
            if one.contradicted and one.cluster not in gone
        ]
        done, every = certified(self.evidence)
        if done > certified(before)[0] and every <= FEW:
            news.append(f"{done} of {every} pairs certified")
        if self.kind == BELIEF and self.phases[-1].part != phase.part:
            news.append("goes for proof" if self.phases[-1].part == "clustering" else "acts again")
        if over:
            news.append(f"the episode is over: {self.reward:,.6g} reward in {self.part_step:,} steps")
        return news

    def _news(self, phase: Phase, move: Move, over: bool) -> list[str]:
        """What this step has brought about, apart from a decision."""
        news = []
        place = self.place.get((move.state, move.action))
        if place is not None and phase.part == "clustering" and self.visits[place] == self.samples:
            news.append(f"{pair_name(self.world, *self.pairs[place])} has its {self.samples:,} samples")
        if self.phases[-1] is not phase and self.phases[-1].part == phase.part:
            news.append("every pair has its samples; at random until the phase ends")
        if over:
            news.append(f"the episode is over: {self.reward:,.6g} reward in {self.part_step:,} steps of {phase.part}")
        return news

    def _keep(self, move: Move, phase: Phase, event: str) -> None:
        self.next = self.part_step + max(1, self.part_step // SLOWDOWN)
        most, part = self.entered + phase.steps, phase.part
        if isinstance(self.agent, Recall | SequentialAOMultiRL):
            most = self.agent.horizon if part == "clustering" or self.kind == BELIEF else phase.steps
        if self.kind == BELIEF:
            part = PARTS[BELIEF][part == "clustering"]
        progress = (self.part_step, most, self.reward)
        counted = (self.visits.copy(), self.visited.copy(), self.evidence)
        self.frames.append(Frame(self.step, move, part, *progress, *counted, event, ""))


def _right(report: Report, task: int, stands_for: dict[int, int]) -> bool | None:
    if report.cluster < 0:
        return None
    if report.new_cluster:
        return task not in stands_for.values()
    return stands_for[report.cluster] == task


def _believed(here: int | None, task: int) -> str:
    return "" if here is None else f"believed to be {cluster_name(here)}, made in m{task + 1}: right"


def _verdict(report: Report, task: int, stands_for: dict[int, int], right: bool | None, kind: str) -> str:
    """What the agent takes the world for, and the truth."""
    if kind in (EVIDENCE, BELIEF) and right is None:
        return UNDECIDED
    if right is None:
        return "exploration failed: nothing is recognised"
    if not report.new_cluster:
        truth = "right" if right else f"wrong, this is m{task + 1}"
        words = f"recognised as {cluster_name(report.cluster)}, made in m{stands_for[report.cluster] + 1}: {truth}"
    elif right:
        words = f"like nothing before, a new cluster: right, m{task + 1} {'had none' if kind == BELIEF else 'is new'}"
    else:
        words = f"like nothing before, a new cluster: wrong, m{task + 1} was here before"
    return words if report.exploration_ok else f"{words} (with too few samples)"


def _told(watcher: _Watcher, believed: str, verdict: str) -> list[Frame]:
    """The frames from the agent's decision on say what it was; the agent itself says so only at the end."""
    frames, moment = list(watcher.frames), watcher.moment
    said = [] if moment is None else [(moment, f"{believed}; no proof yet" if watcher.kind == BELIEF else verdict)]
    if watcher.kind == BELIEF or (watcher.kind == EVIDENCE and moment is None):
        unproven = verdict == UNDECIDED and watcher.believes()
        said.append((len(frames) - 1, f"{believed}; no proof, so put in no cluster" if unproven else verdict))
    for place, words in said:
        frames[place:] = [frame._replace(recognised=words) for frame in frames[place:]]
        frames[place] = frames[place]._replace(event="; ".join(filter(None, (frames[place].event, words))))
    return frames
