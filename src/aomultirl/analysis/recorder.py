"""Records an episode of an agent, frame by frame, for a terminal or a GIF to show.

The episodes before it run silently in the simulator, so that the agent has something to remember; the worlds take
turns.  The watched one goes step by step through :class:`aomultirl.Session`, with the draws that the simulator would
have made, so what is shown is the very episode that ``ao.run`` runs.

Time-lapse.  Of a long phase nobody watches every step: step t of a phase is followed by step ``t + max(1, t // 16)``,
and whatever happens in between (a pair has its samples, the phase changes, the world is recognised) has a frame of
its own.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from aomultirl import checks
from aomultirl.agents.base import Agent, Episode, Evidence, Report
from aomultirl.agents.game import NEW
from aomultirl.analysis.phrases import belief
from aomultirl.analysis.recording import (
    BELIEF,
    EVIDENCE,
    PARTS,
    SAMPLES,
    Frame,
    Move,
    Recording,
    almost_sure_of,
    believed_name,
    certified,
    cluster_name,
    majority,
    pair_name,
)
from aomultirl.engine.interacting import Session
from aomultirl.engine.random import RandomStream
from aomultirl.engine.stepping import Phase, Ran
from aomultirl.experiments.history import Row
from aomultirl.experiments.runner import Meeting, SimulatedRun
from aomultirl.model_set import ModelSet
from aomultirl.streams import round_robin
from aomultirl.worlds.environment import WorldEnv

SLOWDOWN = 16
"""The larger, the more frames of a phase."""
TURNS, MOST = 3, 60
"""By default every world has come so often before the watched episode, as far as that many episodes do for it."""
FEW = 8
"""Pairs up to which it is worth a pause when another one is certified."""
UNPROVEN = "not proven: the evidence does not suffice, so it is put in no cluster"
LAST = 2_000
"""The highest number that can be watched; what is silent for longer looks as if it hung."""


def record(agent: Agent, models: ModelSet, *, episode: int | None = None, seed: int = 0) -> Recording:
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
    run = SimulatedRun(agent, models, round_robin(), number + 1, seed, record=())
    run.begin()
    while run.met < number:
        run.step()
    stands_for, before = dict(run.stands_for), list(run.rows)
    recorders: list[_Recorder] = []

    def watched(meeting: Meeting) -> _Recorder:
        recorders.append(_Recorder(agent, meeting, run.spare_stream()))
        return recorders[0]

    report = run.step(watched)
    (recorder,) = recorders
    task = recorder.meeting.task
    right = _is_right(report, task, stands_for)
    verdict = _verdict(report, task, stands_for, right, recorder.kind)
    if recorder.kind == BELIEF:
        frames = _with_beliefs(recorder, report, before, (verdict, right))
    else:
        frames = _with_verdict(recorder, verdict, right)
    return Recording(
        world=recorder.world,
        agent=type(agent).__name__,
        told="task" in agent.told,
        episode=number,
        task=task,
        kind=recorder.kind,
        pairs=recorder.pairs,
        samples=recorder.samples,
        stands_for=stands_for,
        mostly=_mostly(before),
        report=report,
        right=right,
        is_first=all(row.task != task for row in before),
        frames=frames,
        states=np.array(recorder.states),
        actions=np.array(recorder.actions),
    )


def _mostly(rows: Sequence[Row]) -> dict[int, int]:
    """For each world the task that more than half of the last episodes were in that were taken for it, if there is one.

    Agents that have no names for worlds take episodes for clusters.
    """
    tasks: dict[int, list[int]] = {}
    for row in rows:
        tasks.setdefault(row.cluster if row.taken_for < 0 else row.taken_for, []).append(row.task)
    most = {name: majority(met) for name, met in tasks.items() if name >= 0}
    return {name: task for name, task in most.items() if task is not None}


def check(episode: int | None, seed: int) -> None:
    """Refuse, before anything is computed, what cannot be watched."""
    if episode is not None and checks.integer("episode", episode, least=0) > LAST:
        raise ValueError(f"episode must be at most {LAST:,}, not {episode:,}: all episodes before it are run first")
    checks.seed("seed", seed)


class _Recorder:
    """The driver that steps through an episode and keeps the frames.

    moment: the number of the frame in which the agent decides.  turns: of an agent that recognises while it acts, the
    numbers of the frames in which it became almost certain of a world, and that world, or None where it lost faith.
    """

    def __init__(self, agent: Agent, meeting: Meeting, spare: RandomStream) -> None:
        self.agent, self.meeting, self.kind = agent, meeting, agent.recognition
        self.world = world = meeting.world
        self.pairs: list[tuple[int, int]] = []
        if self.kind in (SAMPLES, EVIDENCE):
            compared = agent.memory(spare).pairs.tolist()
            self.pairs = [(pair // world.n_actions, pair % world.n_actions) for pair in compared]
        self.samples = int(agent.findings().get("samples", 0)) if self.pairs else 0
        self.frames: list[Frame] = []
        self.moment: int | None = None
        self.phases: list[Phase] = []
        self.place = {pair: i for i, pair in enumerate(self.pairs)}
        self.visits = np.zeros(len(self.pairs), np.int64)
        self.visited = np.zeros(world.n_states if world.layout else 0, np.int64)
        self.evidence: list[Evidence] = []
        self.beliefs: dict[int, float] = {}
        self.turns: list[tuple[int, int | None]] = []
        self.step = self.part_step = self.entered = self.next = 0
        self.reward = 0.0

    def drive(self, episode: Episode) -> tuple[Report, list[Ran]]:
        """Step through to the end."""
        start, stream = self.meeting.start, self.meeting.agent_stream
        env = WorldEnv(self.world, start, self.meeting.world_stream)
        env.reset()
        self.states, self.actions = [start], list[int]()
        session = Session(self._spied(episode), self.world.n_states, self.world.n_actions, start, stream)
        if len(self.visited):
            self.visited[start] += 1
        self._look(self.phases[-1])
        self._keep(Move(-1, -1, start), self.phases[-1], "")
        try:
            while not session.over:
                state, action, phase = session.state, session.act(), self.phases[-1]
                successor, reward, _, _, _ = env.step(action)
                before = self.evidence
                session.observe(successor, reward, bool(self.world.terminal[successor]))
                if self.kind in (EVIDENCE, BELIEF) and self.phases[-1] is phase and not session.over:
                    self._look(phase)
                self._count(phase, Move(state, action, successor), reward, session.over, before)
        except BaseException:
            session.close()
            raise
        return session.report, session.ran

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
        if self.kind == BELIEF:
            self.beliefs = self.agent.beliefs(phase.counts)

    def _count(self, phase: Phase, move: Move, reward: float, over: bool, before: list[Evidence]) -> None:
        self.step += 1
        self.part_step += 1
        self.reward += reward
        self.states.append(move.successor)
        self.actions.append(move.action)
        if len(self.visited):
            self.visited[move.successor] += 1
        place = self.place.get((move.state, move.action)) if phase.part == "clustering" else None
        if place is not None:
            self.visits[place] += 1
        by_samples, following = self.kind in ("", SAMPLES), self.phases[-1]
        news = self._sampled(phase, place) if by_samples else self._proven(phase, before)
        if over:
            part = f" of {phase.part}" if by_samples else ""
            news.append(f"the episode is over: {self.reward:,.6g} reward in {self.part_step:,} steps{part}")
        turned = following.part != phase.part and self.kind != BELIEF
        believed = self.turns[-1][1] if self.turns else None
        believes = almost_sure_of(self.beliefs, believed) if self.kind == BELIEF else None
        if news or turned or believes != believed or self.part_step >= self.next:
            if following is phase and not over and self.kind == SAMPLES:
                self._look(phase)
            if turned:
                self.moment = len(self.frames)
            if believes != believed:
                self.turns.append((len(self.frames), believes))
            self._keep(move, phase, "; ".join(news))
        if turned:
            self.part_step = self.entered = self.next = 0
            self.reward = 0.0
        elif following is not phase:
            self.entered = self.part_step

    def _proven(self, phase: Phase, before: list[Evidence]) -> list[str]:
        """What this step has proven."""
        gone = {evidence.cluster for evidence in before if evidence.contradicted}
        news = [
            f"{cluster_name(evidence.cluster)} is ruled out: ln evidence {evidence.value:.1f} against it"
            for evidence in self.evidence
            if evidence.contradicted and evidence.cluster not in gone
        ]
        done, every = certified(self.evidence)
        if done > certified(before)[0] and every <= FEW:
            news.append(f"{done} of {every} pairs certified")
        if self.kind == BELIEF and self.phases[-1].part != phase.part:
            news.append("goes for proof" if self.phases[-1].part == "clustering" else "acts again")
        return news

    def _sampled(self, phase: Phase, place: int | None) -> list[str]:
        """Whether this step gave a pair its last sample, and whether it was the last pair."""
        news = []
        if place is not None and self.visits[place] == self.samples:
            news.append(f"{pair_name(self.world, *self.pairs[place])} has its {self.samples:,} samples")
        if self.phases[-1] is not phase and self.phases[-1].part == phase.part:
            news.append("every pair has its samples; at random until the phase ends")
        return news

    def _keep(self, move: Move, phase: Phase, event: str) -> None:
        self.next = self.part_step + max(1, self.part_step // SLOWDOWN)
        clustering = phase.part == "clustering"
        most = self.entered + phase.steps
        if self.kind == BELIEF or (self.kind == EVIDENCE and clustering):
            most = getattr(self.agent, "horizon", most)
        self.frames.append(
            Frame(
                step=self.step,
                move=move,
                part=PARTS[BELIEF][clustering] if self.kind == BELIEF else phase.part,
                part_step=self.part_step,
                part_steps=most,
                reward=self.reward,
                visits=self.visits.copy(),
                visited=self.visited.copy(),
                evidence=self.evidence,
                beliefs=self.beliefs,
                event=event,
            )
        )


def _is_right(report: Report, task: int, stands_for: dict[int, int]) -> bool | None:
    """Whether the episode's cluster is the one of this world; None where it was put in none."""
    if report.cluster < 0:
        return None
    if report.new_cluster:
        return task not in stands_for.values()
    return stands_for[report.cluster] == task


def _verdict(report: Report, task: int, stands_for: dict[int, int], right: bool | None, kind: str) -> str:
    """What the agent takes the world for, and the truth."""
    if right is None and kind in (EVIDENCE, BELIEF):
        return UNPROVEN
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


def _with_verdict(recorder: _Recorder, verdict: str, right: bool | None) -> list[Frame]:
    """The frames from the agent's decision on say what it was; the agent itself says so only at the end."""
    frames, moment = list(recorder.frames), recorder.moment
    if moment is None and recorder.kind == EVIDENCE:
        moment = len(frames) - 1
    if moment is not None:
        _say_from(frames, moment, verdict, right)
    return frames


def _with_beliefs(
    recorder: _Recorder, report: Report, before: Sequence[Row], proven: tuple[str, bool | None]
) -> list[Frame]:
    """The frames say what the agent believes while it is almost certain; the last one what is proven, and believed.

    before: the episodes before this one; proven: the verdict on the episode's cluster, and whether it is right.
    """
    frames, names_worlds, mostly = list(recorder.frames), report.world >= 0, _mostly(before)
    task = recorder.meeting.task
    # A new world is the truth where the world was not here before, and another one where that is what it mostly was.
    stands_for = {**mostly, NEW: -1 if any(row.task == task for row in before) else task}
    for place, number in recorder.turns:
        if number is None:
            _say_from(frames, place, "", None, event="no longer almost certain of any world")
        else:
            truth, right = _truth(number, task, stands_for)
            name = believed_name(number, mostly, names_worlds)
            _say_from(frames, place, f"believed to be {name}, not proven yet{truth}", right)
    words, right = proven
    if names_worlds:
        is_new = report.world not in recorder.beliefs
        truth, taken_right = _truth(NEW if is_new else report.world, task, stands_for)
        name = believed_name(report.world, mostly, names_worlds)
        taken, judged = f"taken for {'the new ' if is_new else ''}{name}", f"{belief(report.sure)} sure{truth}"
        if right is None:
            words, right = f"{taken}, not proven, {judged}", taken_right
        else:
            words = f"{words}; {taken}, {judged}"
    _say_from(frames, len(frames) - 1, words, right)
    return frames


def _truth(number: int, task: int, stands_for: Mapping[int, int]) -> tuple[str, bool | None]:
    """What a belief that this is a world is worth, in words, and whether it is right; None where nobody can tell."""
    if number not in stands_for:
        return "", None
    if stands_for[number] == task:
        return ": right", True
    return f": wrong, {f'm{task + 1} was here before' if number == NEW else f'this is m{task + 1}'}", False


def _say_from(frames: list[Frame], place: int, words: str, right: bool | None, event: str = "") -> None:
    """From this frame on these words are what the agent takes the world for; there they, or ``event``, are news."""
    frames[place:] = [frame._replace(recognised=words, right=right) for frame in frames[place:]]
    frames[place] = frames[place]._replace(event="; ".join(filter(None, (frames[place].event, words or event))))
