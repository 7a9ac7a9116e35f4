import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import aomultirl as ao
from aomultirl.streams import Past

GRID = ao.worlds.gridworld()


def small_models(count, start=0, n_states=3):
    transitions = np.full((n_states, 1, n_states), 1.0 / n_states)
    return ao.ModelSet(ao.MDP(transitions, np.zeros((n_states, 1)), start) for _ in range(count))


def play(stream, models, episodes, seed=0, cluster=lambda k: -1):
    """[(task, start), ...], asked as ``ao.run`` asks."""
    stream.begin(models, episodes, np.random.default_rng(seed))
    past = []
    for k in range(episodes):
        past.append(Past(*stream.next(past), cluster(k)))
    return [(task, start) for task, start, _ in past]


def tasks(stream, models, episodes, seed=0):
    return np.array([task for task, _ in play(stream, models, episodes, seed)])


STREAMS = {
    "sequence": lambda start=None: ao.streams.sequence([2, 0, 1, 3] * 10, start),
    "uniform": lambda start=None: ao.streams.uniform(start),
    "round_robin": lambda start=None: ao.streams.round_robin(start),
    "blocks": lambda start=None: ao.streams.blocks(3, start),
    "paper": lambda start=None: ao.streams.paper(start=start),
    "each_first": lambda start=None: ao.streams.paper(True, start),
    "adaptive": lambda start=None: ao.streams.adaptive(lambda past: len(past) % 2, start),
}


def test_the_papers_sequence():
    """Chi-square of the first three worlds over 20 runs; the seeds are fixed, the false-alarm rate is 0.1 %."""
    seen = np.array([tasks(ao.streams.paper(), GRID, 200, seed) for seed in range(20)])
    last = np.r_[100:150, 180:200]
    others = np.setdiff1d(np.arange(200), last)
    assert (seen[:, last] == 3).all()
    assert (seen[:, others] <= 2).all()
    assert stats.chisquare(np.bincount(seen[:, others].ravel(), minlength=3)).pvalue > 1e-3
    # Within a run too: 130 episodes, each world's share within 4 standard errors of a third, below 0.01 % each.
    for run in seen[:, others]:
        assert np.abs(np.bincount(run, minlength=3) - 130 / 3).max() <= 4 * np.sqrt(130 * 2 / 9)


@settings(deadline=None)
@given(st.integers(1, 30), st.integers(2, 5), st.integers(0, 10**6), st.booleans())
def test_another_number_of_episodes_has_the_same_shares(twentieths, count, seed, each_first):
    """[K/2, 3K/4) and [9K/10, K) belong to the last world."""
    total = 20 * twentieths
    before = count if each_first else 0
    seen = tasks(ao.streams.paper(each_first), small_models(count), before + total, seed)
    assert seen[:before].tolist() == list(range(before))
    share = np.arange(total) / total
    last = ((share >= 0.5) & (share < 0.75)) | (share >= 0.9)
    assert last.sum() * 20 == 7 * total
    assert np.array_equal(seen[before:] == count - 1, last)


def test_episodes_that_do_not_divide():
    two = small_models(2)
    assert tasks(ao.streams.paper(), two, 7).tolist() == [0, 0, 0, 1, 1, 0, 1]
    assert tasks(ao.streams.paper(), two, 1).tolist() == [1]


@pytest.mark.parametrize("each_first", [False, True])
def test_the_papers_sequence_of_one_world_is_that_world(each_first):
    assert (tasks(ao.streams.paper(each_first), small_models(1), 30) == 0).all()


def test_each_first_with_fewer_episodes_than_worlds():
    assert tasks(ao.streams.paper(True), GRID, 3).tolist() == [0, 1, 2]


def test_uniform():
    """Chi-square of worlds, and of one world after another; the seed is fixed, the false-alarm rate 0.1 % each."""
    seen = tasks(ao.streams.uniform(), GRID, 8000, 3)
    assert stats.chisquare(np.bincount(seen, minlength=4)).pvalue > 1e-3
    together = np.bincount(4 * seen[:-1] + seen[1:], minlength=16).reshape(4, 4)
    assert stats.chi2_contingency(together).pvalue > 1e-3


@settings(deadline=None)
@given(st.integers(1, 5), st.integers(1, 4), st.integers(1, 40))
def test_round_robin_and_blocks(count, length, episodes):
    models = small_models(count)
    assert tasks(ao.streams.round_robin(), models, episodes).tolist() == (list(range(count)) * episodes)[:episodes]
    blocks = [task for task in range(count) for _ in range(length)] * episodes
    assert tasks(ao.streams.blocks(length), models, episodes).tolist() == blocks[:episodes]


def test_sequence():
    given_tasks = [3, 0, 0, 2, 1, 1]
    assert tasks(ao.streams.sequence(given_tasks), GRID, 6).tolist() == given_tasks
    assert tasks(ao.streams.sequence(tuple(given_tasks)), GRID, 4).tolist() == given_tasks[:4]
    assert tasks(ao.streams.sequence(np.array(given_tasks)), GRID, 6).tolist() == given_tasks


def test_sequence_keeps_its_own_tasks():
    mine = [0, 1, 2]
    stream = ao.streams.sequence(mine)
    mine[0] = 3
    assert tasks(stream, GRID, 3).tolist() == [0, 1, 2]


def test_adaptive_sees_the_whole_past():
    told = []

    def choose(past):
        told.append(past)
        return (past[-1].task + past[-1].cluster) % 4 if past else 3

    played = play(ao.streams.adaptive(choose, [5, 0, 9, 9, 2]), GRID, 5, cluster=lambda k: 10 + k)
    # Worlds 3, (3 + 10) % 4, (1 + 11) % 4, (0 + 12) % 4, (0 + 13) % 4.
    assert played == [(3, 5), (1, 0), (0, 9), (0, 9), (1, 2)]
    whole = [Past(task, start, 10 + k) for k, (task, start) in enumerate(played)]
    assert [list(past) for past in told] == [whole[:k] for k in range(5)]


def spoil(past):
    """Try to change what happened."""
    if isinstance(past, list):
        past[:] = [Past(0, 0, 0)] * len(past)
    for one in past:
        with pytest.raises(AttributeError):
            one.task = 0
    return 2


def test_adaptive_cannot_change_the_past():
    stream, past = ao.streams.adaptive(spoil), [Past(1, 5, 0), Past(3, 5, 1)]
    stream.begin(GRID, 5, np.random.default_rng(0))
    assert stream.next(past) == (2, 5)
    assert past == [Past(1, 5, 0), Past(3, 5, 1)]


def test_a_function_for_starts_cannot_change_the_past():
    stream, past = ao.streams.round_robin(spoil), [Past(1, 5, 0), Past(3, 5, 1)]
    stream.begin(GRID, 5, np.random.default_rng(0))
    assert stream.next(past) == (2, 2)
    assert past == [Past(1, 5, 0), Past(3, 5, 1)]


@pytest.mark.parametrize("name", STREAMS)
def test_start_of_the_world(name):
    assert {start for _, start in play(STREAMS[name](), GRID, 30)} == {5}


def test_start_is_drawn_from_the_worlds_distribution():
    """Chi-square for each world; the seed is fixed, the false-alarm rate 0.1 % each."""
    chances = [[0.2, 0.0, 0.8], [0.5, 0.5, 0.0]]
    models = ao.ModelSet(small_models(1, start)[0] for start in chances)
    played = np.array(play(ao.streams.uniform(), models, 4000))
    for task, chance in enumerate(np.array(chances)):
        seen = np.bincount(played[played[:, 0] == task, 1], minlength=3)
        assert seen[chance == 0] == 0
        assert stats.chisquare(seen[chance > 0], chance[chance > 0] * seen.sum()).pvalue > 1e-3


@pytest.mark.parametrize("name", STREAMS)
def test_start_given(name):
    wanted = [*range(16), 7, 7]
    assert [start for _, start in play(STREAMS[name](11), GRID, 18)] == [11] * 18
    assert [start for _, start in play(STREAMS[name](np.int64(0)), GRID, 18)] == [0] * 18
    assert [start for _, start in play(STREAMS[name](wanted), GRID, 18)] == wanted
    assert [start for _, start in play(STREAMS[name](tuple(wanted)), GRID, 10)] == wanted[:10]
    after = [(task + start) % 16 for task, start in play(STREAMS[name](last_place), GRID, 18)]
    assert [start for _, start in play(STREAMS[name](last_place), GRID, 18)] == [15, *after[:-1]]


def last_place(past):
    return (past[-1].task + past[-1].start) % 16 if past else 15


@pytest.mark.parametrize("name", STREAMS)
def test_starts_do_not_change_the_tasks(name):
    free = [task for task, _ in play(STREAMS[name](), GRID, 40, 8)]
    for start in (3, [4] * 40, last_place):
        assert [task for task, _ in play(STREAMS[name](start), GRID, 40, 8)] == free


@pytest.mark.parametrize("name", STREAMS)
def test_same_seed_same_sequence_also_when_begun_again(name):
    models = small_models(4, [0.25, 0.25, 0.5])
    stream = STREAMS[name]()
    first = play(stream, models, 40, 1)
    assert play(stream, models, 40, 1) == first
    assert play(STREAMS[name](), models, 40, 1) == first
    assert play(stream, models, 40, 2) != first


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        (lambda: ao.streams.sequence([0, 4]), "the task of episode 1 must be between 0 and 3, not 4"),
        (lambda: ao.streams.sequence([-1, 0]), "the task of episode 0 must be between 0 and 3, not -1"),
        (lambda: ao.streams.sequence([0]), "tasks has 1 entries, but there are 2 episodes"),
        (lambda: ao.streams.adaptive(lambda past: 7), "the task of episode 0 must be between 0 and 3, not 7"),
        (lambda: ao.streams.uniform(start=16), "the start of episode 0 must be between 0 and 15, not 16"),
        (lambda: ao.streams.uniform(start=-1), "the start of episode 0 must be between 0 and 15, not -1"),
        (lambda: ao.streams.uniform(start=1.0), "the start of episode 0 must be a whole number, not 1.0"),
        (lambda: ao.streams.uniform(start=True), "the start of episode 0 must be a whole number, not True"),
        (lambda: ao.streams.round_robin([3, "b"]), "the start of episode 1 must be a whole number, not 'b'"),
        (lambda: ao.streams.round_robin([3]), "start has 1 states, but there are 2 episodes"),
        (lambda: ao.streams.sequence([0, 1], [3, 99]), "the start of episode 1 must be between 0 and 15, not 99"),
        (lambda: ao.streams.paper(start=lambda past: 20), "the start of episode 0 must be between 0 and 15, not 20"),
        (lambda: ao.streams.paper(start=lambda past: None), "the start of episode 0 must be a whole number, not None"),
        (lambda: ao.streams.blocks(0), "length must be at least 1, not 0"),
        (lambda: ao.streams.blocks(2.5), "length must be a whole number, not 2.5"),
    ],
)
def test_bad_input(stream, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        play(stream(), GRID, 2)


@pytest.mark.parametrize("value", [0.9, "1", True, None])
@pytest.mark.parametrize("kind", ["sequence", "adaptive"])
def test_a_task_that_is_no_whole_number_is_refused(kind, value):
    with pytest.raises(ValueError, match=f"must be a whole number, not {value!r}"):
        play(ao.streams.sequence([value]) if kind == "sequence" else ao.streams.adaptive(lambda past: value), GRID, 1)


def test_a_stream_of_ones_own():
    class LastFirst(ao.streams.Stream):
        def task(self, past):
            return len(self.models) - 1 - len(past)

    assert play(LastFirst(start=2), GRID, 4) == [(3, 2), (2, 2), (1, 2), (0, 2)]
    with pytest.raises(NotImplementedError):
        play(ao.streams.Stream(), GRID, 1)
