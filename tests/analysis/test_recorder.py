import numpy as np
import pytest

import aomultirl as ao
from aomultirl.analysis import recorder, watched_agents
from aomultirl.analysis import recording as recordings
from aomultirl.engine.counts import CountTable
from aomultirl.experiments.history import Row
from watching import watched


def tally(recording, n_actions):
    """{(state, action, successor): count} of the whole episode."""
    moves = zip(recording.states[:-1], recording.actions, recording.states[1:], strict=True)
    found = {}
    for s, a, s2 in moves:
        key = (int(s) * n_actions + int(a), int(s2))
        found[key] = found.get(key, 0) + 1
    return found


@pytest.mark.parametrize("name", list(watched_agents.MAKERS))
def test_the_episode_is_the_one_that_the_simulator_runs(name):
    models = ao.worlds.gridworld()
    recording = watched(name, models, episode=5, seed=3)

    agent = watched_agents.make(name, models)
    phases, reports = [], []

    def spied(start, stream, task=None):
        phases.clear()
        episode = type(agent).episode(agent, start, stream, task)
        phase = next(episode)
        while True:
            phases.append(phase)
            try:
                phase = episode.send((yield phase))
            except StopIteration as end:
                reports.append(end.value)
                return end.value

    agent.episode = spied
    history = ao.run(agent, models, ao.streams.round_robin(), episodes=6, seed=3)
    assert recording.task == history["task"][5] == 1
    assert recording.states[0] == history["start"][5]
    assert recording.report.cluster == history["cluster"][5]
    assert recording.report.new_cluster == history["new_cluster"][5]
    assert recording.report.world == reports[-1].world
    np.testing.assert_equal(recording.report.sure, reports[-1].sure)
    assert len(recording.actions) == history["identification_steps"][5] + history["learning_steps"][5]
    assert (recording.right is False) == history["misclustered"][5]
    seen = {}
    for table in {id(phase.counts): phase.counts for phase in phases}.values():
        starts, states, visits = table.to_lists()
        for pair in range(len(starts) - 1):
            for i in range(starts[pair], starts[pair + 1]):
                seen[pair, int(states[i])] = seen.get((pair, int(states[i])), 0) + int(visits[i])
    assert tally(recording, models.n_actions) == seen
    earned = models.rewards[recording.states[:-1], recording.actions].sum()
    assert earned == pytest.approx(history["clustering_reward"][5] + history["learning_reward"][5])


def test_frames_follow_the_steps():
    recording = watched()
    frames = recording.frames
    assert frames[0].step == 0
    assert frames[0].move == (-1, -1, recording.states[0])
    for frame in frames[1:]:
        t = frame.step
        assert frame.move == (recording.states[t - 1], recording.actions[t - 1], recording.states[t])
        np.testing.assert_array_equal(frame.visited, np.bincount(recording.states[: t + 1], minlength=16))
    steps = [frame.step for frame in frames]
    assert steps == sorted(set(steps))
    assert steps[-1] == len(recording.actions)
    assert steps[:16] == list(range(16))
    assert max(np.diff(steps)) > 1


@pytest.mark.parametrize(
    ("least", "options"),
    [
        (10_000, {"samples": 80, "clustering_horizon": 10_000}),
        pytest.param(50_000, {}, marks=pytest.mark.long),
    ],
)
def test_a_long_episode_has_few_frames_and_every_event(least, options):
    models = ao.worlds.gridworld()
    agent = ao.agents.AOMultiRL(
        4, 1.299999, 7, 0.03, models.distinguishing_set(), constants="released", learning_horizon=200, **options
    )
    recording = recorder.record(agent, models, episode=1)
    assert len(recording.actions) == agent.stage.clustering_horizon + 200 > least
    assert len(recording.frames) < 300
    done = [frame.event for frame in recording.events if "has its" in frame.event]
    assert len(done) == 3
    assert done[-1].endswith("; every pair has its samples; at random until the phase ends")
    assert recording.frames[0].part_steps == recording.events[-2].part_steps == agent.stage.clustering_horizon


def test_pairs_are_counted_until_they_have_their_samples():
    recording = watched(seed=1)
    done = [frame for frame in recording.events if "has its 80 samples" in frame.event]
    assert len(done) == len(recording.pairs) == 3
    pairs = [(int(s), int(a)) for s, a in zip(recording.states, recording.actions, strict=False)]
    for frame in recording.frames:
        if frame.part == "clustering":
            assert frame.visits.tolist() == [pairs[: frame.step].count(pair) for pair in recording.pairs]
    for frame in done:
        place = recording.pairs.index((frame.move.state, frame.move.action))
        assert frame.visits[place] == 80


def moment(recording):
    return next(frame for frame in recording.frames if frame.recognised)


def test_a_known_world_is_recognised():
    recording = watched(episode=8)
    frame = moment(recording)
    assert frame.part == "clustering"
    assert frame.recognised == "recognised as c1, made in m1: right"
    assert frame.event.endswith(frame.recognised)
    assert recording.right is True
    assert [one.contradicted for one in frame.evidence] == [False, True, True, True]
    assert [one.limit for one in frame.evidence] == pytest.approx([0.75 * 1.3] * 4, abs=1e-5)
    assert (frame.visits >= 80).all()
    assert recording.frames[-1].recognised == frame.recognised


def test_sequential_decides_by_evidence():
    recording = watched("sequential", episode=8)
    frame = moment(recording)
    assert frame.part == "clustering"
    assert frame.recognised == "recognised as c1, made in m1: right"
    assert recording.verdict(frame)[0].startswith("✔ ")
    assert len(frame.evidence) == 4
    assert recordings.certified(frame.evidence) == (3, 3)
    assert frame.part_steps == recording.frames[0].part_steps == 2_600
    assert frame.step < 600
    for number, before in enumerate(recording.frames[:-1]):
        after = recording.frames[number + 1]
        gone = [{one.cluster for one in f.evidence if one.contradicted} for f in (before, after)]
        assert gone[0] <= gone[1]
        assert all(f"{recorder.cluster_name(c)} is ruled out" in after.event for c in gone[1] - gone[0])
    title, gauges = recording.gauges(frame, 4)
    assert title == "visits"
    assert gauges[-1] == recordings.Gauge("certified", 1.0, "3 of 3 pairs", enough=True)
    assert [gauge.words for gauge in gauges[:-1]] == [str(n) for n in frame.visits]
    opinions = {one.cluster: recording.opinion(one, frame) for one in frame.evidence}
    assert opinions[0] == "this one"
    assert set(opinions.values()) <= {"this one", "ruled out", "not this one"}


def test_sequential_abstains_where_time_is_short():
    models = ao.worlds.gridworld()
    agent = ao.agents.SequentialAOMultiRL(0.03, 300, 1.3 - 1e-6, models.distinguishing_set())
    recording = recorder.record(agent, models, episode=1)
    assert recording.report.abstained
    assert recording.frames[-1].recognised == recorder.UNPROVEN
    assert recording.verdict(recording.frames[-1])[0].startswith("? ")
    assert [bool(frame.recognised) for frame in recording.frames].count(True) == 1


def test_recall_recognises_while_it_acts():
    recording = watched("recall", episode=24)
    frame, number = moment(recording), next(i for i, f in enumerate(recording.frames) if f.recognised)
    (here,) = [name for name, task in recording.mostly.items() if task == recording.task]
    assert frame.beliefs[here] > recordings.SURE
    assert not any(max(f.beliefs.values()) > recordings.SURE for f in recording.frames[1:number])
    assert frame.recognised == f"believed to be w{here + 1} ≈ m1, not proven yet: right"
    assert {f.part for f in recording.frames} <= {"acting", "proving"}
    assert [f.part_step for f in recording.frames] == [f.step for f in recording.frames]
    assert {f.part_steps for f in recording.frames} == {1_000}
    report, last = recording.report, recording.frames[-1]
    assert report.world == here
    assert report.sure > 0.9995
    assert last.recognised == f"taken for w{here + 1} ≈ m1, not proven, over 99.9 % sure: right"
    assert recording.verdict(last) == (f"✔ {last.recognised}", True)


def test_every_world_that_recall_believes_in_has_a_bar_and_so_has_a_new_one():
    recording = watched("recall", episode=24)  # by then every world of the four has been told apart
    names = sorted(recording.frames[0].beliefs)
    assert names[0] == -1
    assert len(names) == 5
    assert recording.lines()[1].endswith("clusters known before, 4 worlds believed in")
    for frame in recording.frames:
        assert sorted(frame.beliefs) == names
        title, gauges = recording.gauges(frame, len(names))
        assert title == "belief that this is"
        assert [gauge.name.split(" ≈ ")[0] for gauge in gauges] == [*(f"w{name + 1}" for name in names[1:]), "new"]
        assert [gauge.share for gauge in gauges] == [frame.beliefs[name] for name in [*names[1:], -1]]
        assert sum(gauge.share for gauge in gauges) == pytest.approx(1.0, abs=1e-5)
        assert [gauge.enough for gauge in gauges] == [gauge.share > recordings.SURE for gauge in gauges]
        few = recording.gauges(frame, len(names) - 1)[1]
        assert [gauge.name for gauge in few[-2:]] == ["2 others", "new"]
        assert sum(gauge.share for gauge in few) == pytest.approx(1.0, abs=1e-5)
        shown = (-1, *(int(gauge.name[1:].split(" ")[0]) - 1 for gauge in few[:-2]))
        assert max(frame.beliefs, key=frame.beliefs.get) in shown
    shown = ", ".join(f"{gauge.name} {gauge.words}" for gauge in recording.gauges(recording.frames[-1], 8)[1])
    assert recording.lines()[-1] == f"belief in the end: {shown}"
    assert "belief in the end" not in "".join(watched("sequential", episode=0).lines())


def test_what_a_believed_world_mostly_was():
    def rows(*episodes):
        run = ao.run(ao.agents.Random(1), ao.worlds.jao(), ao.streams.uniform(), 1)
        row = Row(*(run[name][0] for name in Row._fields))
        return [row._replace(taken_for=name, cluster=cluster, task=task) for name, cluster, task in episodes]

    assert recorder._mostly(rows((4, 0, 1), (4, 0, 1), (4, -1, 2), (2, -1, 0))) == {4: 1, 2: 0}
    assert recorder._mostly(rows((4, 0, 1), (4, 0, 2))) == {}
    assert recorder._mostly(rows(*[(4, -1, 1)] * 9, *[(4, -1, 2)] * 3)) == {4: 2}
    assert recorder._mostly(rows((-1, 3, 1), (-1, -1, 2))) == {3: 1}


def test_a_belief_is_judged_by_what_its_world_mostly_was():
    stands_for = {5: 2, -1: -1}
    assert recorder._truth(5, 2, stands_for) == (": right", True)
    assert recorder._truth(5, 0, stands_for) == (": wrong, this is m1", False)
    assert recorder._truth(-1, 0, stands_for) == (": wrong, m1 was here before", False)
    assert recorder._truth(-1, 0, {-1: 0}) == (": right", True)
    assert recorder._truth(7, 0, stands_for) == ("", None)


def test_a_belief_that_nobody_can_judge_is_neither_right_nor_wrong():
    recording = watched("recall")
    frame = recording.frames[-1]._replace(recognised="believed to be w9, not proven yet", right=None)
    assert recording.verdict(frame) == ("? believed to be w9, not proven yet", None)
    assert recording.verdict(frame._replace(right=False))[0].startswith("✘")


def test_an_agent_is_almost_certain_until_it_doubts():
    models = ao.worlds.gridworld()
    agent = watched_agents.make("recall", models)
    shares = iter([0.5, 0.995, 0.6, 0.995, 0.4, 0.45, 0.3])

    class Wavering(type(agent)):
        def beliefs(self, explored):
            share = next(shares, 0.3)
            return {0: share, -1: 1.0 - share}

    agent.__class__ = Wavering
    agent.horizon = 7
    recording = recorder.record(agent, models, episode=0)
    told = [frame.recognised for frame in recording.frames[:-1]]
    assert told == ["", *["believed to be w1, not proven yet"] * 3, "", "", ""]
    assert recording.frames[4].event == "no longer almost certain of any world"


def test_a_mixture_believes_in_clusters():
    recording = recorder.record(ao.agents.MixtureOfMDPs(300), ao.worlds.gridworld(), episode=8)
    assert not recording.names_worlds
    gauges = recording.gauges(recording.frames[-1], 8)[1]
    assert {gauge.name[0] for gauge in gauges[:-1]} == {"c"}
    assert gauges[-1].name == "new"
    assert not recording.lists(recording.frames[-1], 8)[1][0].startswith("proof")


def test_recall_goes_for_proof_in_a_new_world():
    recording = watched("recall", episode=0)
    events = " ".join(frame.event for frame in recording.events)
    assert "goes for proof" in events
    assert "acts again" in events
    assert {frame.part for frame in recording.frames} == {"acting", "proving"}
    proven = "like nothing before, a new cluster: right, m1 had none"
    assert recording.frames[-1].recognised == f"{proven}; taken for the new w1, over 99.9 % sure: right"


def test_a_new_world_is_recognised_as_new():
    recording = watched(episode=3)
    frame = moment(recording)
    assert frame.recognised == "like nothing before, a new cluster: right, m4 is new"
    assert len(frame.evidence) == 3
    assert all(one.contradicted for one in frame.evidence)
    assert recording.stands_for == {0: 0, 1: 1, 2: 2}


def test_the_first_episode_knows_no_cluster():
    recording = watched(episode=0)
    assert all(frame.evidence == [] for frame in recording.frames)
    assert recording.report.new_cluster
    assert recording.right


def test_errors_are_called_errors():
    agent = watched_agents.make("aomultirl", ao.worlds.gridworld())
    agent.samples = 1
    verdicts = {}
    for seed in range(30):
        recording = recorder.record(agent, ao.worlds.gridworld(), episode=6, seed=seed)
        verdicts[recording.right, recording.report.new_cluster] = moment(recording).recognised
        known = recording.task in recording.stands_for.values()
        if recording.report.new_cluster:
            assert recording.right is not known
        else:
            assert recording.right is (recording.stands_for[recording.report.cluster] == recording.task)
    assert "wrong, this is m3" in verdicts[False, False]
    assert "wrong, m3 was here before" in verdicts[False, True]


def test_what_was_not_explored_is_said():
    agent = watched_agents.make("aomultirl", ao.worlds.gridworld())
    agent.clustering_horizon = 30
    recording = recorder.record(agent, ao.worlds.gridworld(), episode=4)
    assert moment(recording).recognised.endswith("(with too few samples)")
    failing = recorder.record(watched_agents.make("doubling", ao.worlds.gridworld()), ao.worlds.gridworld(), episode=0)
    assert moment(failing).recognised == "exploration failed: nothing is recognised"
    assert failing.right is None


def test_evidence_is_what_the_agent_decides_by():
    models = ao.worlds.gridworld()
    agent = watched_agents.make("aomultirl", models)
    ao.run(agent, models, ao.streams.round_robin(), episodes=4)
    explored = CountTable(64)
    assert [one.value for one in agent.evidence(explored)] == [0.0] * 4
    for number, cluster in enumerate(agent.clusters):
        found = agent.evidence(cluster.model)
        assert found[number].value == 0.0
        assert [one.contradicted for one in found] == [other != number for other in range(4)]
        assert all(one.contradicted == (one.value > one.limit) for one in found)
    assert ao.agents.Random(5).evidence(explored) == []


def test_worlds_without_a_map():
    models = ao.worlds.random_models(6, 2, 3, 2, 1.0, 0)
    recording = watched("aomultirl", models)
    assert recording.world.layout is None
    assert recording.frames[-1].visited.size == 0
    assert len(recording.frames) > 10


def test_one_world_alone():
    models = ao.ModelSet([ao.worlds.gridworld()[0]])
    recording = watched("aomultirl", models, episode=1)
    assert len(recording.pairs) == 64
    assert recording.right


def test_a_failure_on_the_way_leaves_the_agent_as_it_was(monkeypatch):
    models = ao.worlds.gridworld()
    agent = watched_agents.make("aomultirl", models)

    def fail(self, explored):
        if len(self.clusters) == 2:
            raise KeyboardInterrupt
        return []

    monkeypatch.setattr(type(agent), "evidence", fail)
    with pytest.raises(KeyboardInterrupt):
        recorder.record(agent, models, episode=2)
    assert len(agent.clusters) == 2


def test_numbers_say_what_they_are_for():
    models = ao.worlds.gridworld()
    note = watched_agents.numbers(watched(), models)
    assert "N = 80 samples for each of 3 pairs" in note
    assert "numbers for watching; the paper's N for 200 episodes is 2,424" in note
    for name in ("random", "optimal"):
        assert watched_agents.numbers(watched(name, models, episode=0), models) == "H = 200 steps: numbers for watching"
    assert "lambda = 1.3, 3 pairs" in watched_agents.numbers(watched("sequential", models, episode=0), models)
    assert "H = 1,000 steps" in watched_agents.numbers(watched("recall", models, episode=0), models)
    assert "no bonus" in watched_agents.numbers(watched("pooled", models, episode=0), models)


@pytest.mark.long
def test_few_samples_do_on_the_grid():
    """100 runs of 9 episodes: about 1 in 1,000 is misclustered; more than 10 of 900 has probability below 1e-6."""
    models = ao.worlds.gridworld()
    agent = watched_agents.make("aomultirl", models)
    wrong = sum(ao.run(agent, models, ao.streams.round_robin(), 9, seed).misclustered for seed in range(100))
    assert wrong <= 10


def test_bad_input():
    with pytest.raises(ValueError, match="episode must be at least 0, not -1"):
        watched(episode=-1)
    with pytest.raises(
        ValueError, match=r"episode must be at most 2,000, not 1,000,000: all episodes before it are run"
    ):
        recorder.check(1_000_000, 0)
    recorder.check(2_000, 0)
    with pytest.raises(ValueError, match="seed must be a whole number, not 'a'"):
        watched(seed="a")
    with pytest.raises(ValueError, match=r"agent must be one of 'aomultirl', .*, not 'ucbvi'"):
        watched("ucbvi")
