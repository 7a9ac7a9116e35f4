from hypothesis import given
from hypothesis import strategies as st

from aomultirl.agents.tracing import MOST, Trace, Traces

VERDICTS = ("new", "accepted", "abstained")


def kept_after(verdicts):
    traces = Traces()
    for number, verdict in enumerate(verdicts):
        traces.keep(Trace(number, verdict, -1, {}))
    return [trace.episode for trace in traces.kept]


@given(st.lists(st.sampled_from(VERDICTS), min_size=1, max_size=40))
def test_few_are_kept_in_order_and_the_last_always(verdicts):
    kept = kept_after(verdicts)
    assert kept == sorted(set(kept))
    assert len(kept) <= MOST
    assert kept[-1] == len(verdicts) - 1


@given(st.lists(st.sampled_from(VERDICTS), min_size=1, max_size=40).filter(lambda v: v.count("new") < MOST))
def test_every_first_meeting_stays_while_there_is_room(verdicts):
    """All of fewer than eight new clusters; a last episode that is not new comes after them."""
    assert {i for i, verdict in enumerate(verdicts) if verdict == "new"} <= set(kept_after(verdicts))


def test_without_room_the_first_ones_go():
    assert kept_after(["new"] * (MOST + 3)) == list(range(3, MOST + 3))
    assert kept_after(["new"] * MOST + ["accepted"]) == list(range(1, MOST + 1))


def test_the_last_of_many_takes_the_place_of_the_one_before():
    assert kept_after(["new"] + ["accepted"] * 30) == [0, *range(1, MOST - 1), 30]
