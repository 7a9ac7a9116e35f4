"""What varies in a sweep, from leaderboards that nobody had to run."""

from itertools import product

import pytest

from aomultirl.analysis.intervals import Span
from aomultirl.analysis.leaderboard import AgentLine, Leaderboard, Problem, ProblemTable
from aomultirl.analysis.measures import MEASURES
from aomultirl.analysis.sweep_views import by_name, independent, problems_apart, side_by_side, spans_decades, views
from folders import UNIFORM, part


def line(label, name="Recall", value=1.0, **parameters):
    return AgentLine(label, part(name, **parameters), [], {}, {name: Span(value, value, value) for name in MEASURES})


def table(lines, world=None, episodes=60, stream=UNIFORM, seed=0, ranking="total_reward"):
    return ProblemTable(Problem(world or part("gridworld"), stream, episodes, seed), lines, ranking, None, [])


def board(*tables):
    return Leaderboard(tables, [])


def told(view):
    return {curve.name: [x for x, _ in curve.points] for curve in view.curves}


def test_a_parameter_of_the_world_makes_a_view_with_a_curve_for_each_agent():
    lines = [line("Random"), line("Recall")]
    tables = [table(lines, part("two_jao", separation=separation)) for separation in (0.8, 0.2, 0.5)]
    [view] = views(board(*tables))
    assert view.parameter == "world.separation"
    assert view.axis == view.title == "separation of the world"
    assert told(view) == {"Random": [0.2, 0.5, 0.8], "Recall": [0.2, 0.5, 0.8]}


def test_every_number_has_views_for_each_way_to_fix_the_others():
    tables = [
        table([line("Recall")], part("two_jao", separation=separation), episodes)
        for separation, episodes in product((0.2, 0.8), (10, 12, 500))
    ]
    found = views(board(*tables))
    assert [(view.parameter, view.fixed) for view in found] == [
        ("world.separation", "episodes=10"),
        ("world.separation", "episodes=12"),
        ("world.separation", "episodes=500"),
        ("episodes", "separation=0.2"),
        ("episodes", "separation=0.8"),
    ]
    assert [view.is_log for view in found] == [False] * 3 + [True] * 2
    assert found[-1].title == "episodes K, with separation=0.8"
    assert found[-1].ticks == []  # 10 and 12 are too close on an axis to 500
    assert found[0].ticks == [0.2, 0.8]


def test_what_the_world_determines_is_no_axis_of_its_own():
    tables = [
        table(
            [line("Sequential", "SequentialAOMultiRL", separation=separation, models=models)],
            part("random_models", separation=separation, models=models, states=4 * models),
        )
        for separation, models in product((0.2, 0.8), (2, 3))
    ]
    assert {view.parameter for view in views(board(*tables))} == {"world.separation", "world.models"}


def test_seeds_and_words_are_not_axes():
    worlds = [part("random_models", rng=rng, kind=kind) for rng, kind in product((0, 1), ("a", "b"))]
    assert views(board(*(table([line("Recall")], world) for world in worlds))) == []
    assert views(board(*(table([line("Recall")], seed=seed) for seed in (0, 1)))) == []


def test_a_parameter_of_agents_makes_a_view_in_which_the_others_are_level():
    lines = [line("Optimal", "Optimal"), *(line(f"Recall, failure={p}", failure=p, horizon=9) for p in (0.3, 0.01))]
    [view] = views(board(table(lines)))
    assert view.parameter == "agent.failure"
    assert told(view) == {"Recall": [0.01, 0.3], "Optimal": [0.01, 0.3]}
    assert [curve.level for curve in view.curves] == [False, True]
    assert view.is_log


def test_parameters_of_agents_that_vary_together_are_one_axis():
    both = [line(f"mine, failure={p}, horizon={h}", failure=p, horizon=h) for p, h in ((0.1, 5), (0.2, 6), (0.3, 7))]
    [view] = views(board(table(both)))
    assert view.parameter == "agent.failure"
    assert told(view) == {"mine": [0.1, 0.2, 0.3]}


def test_parameters_of_agents_that_vary_by_themselves_fix_each_other():
    both = [line(f"mine, failure={p}, horizon={h}", failure=p, horizon=h) for p, h in product((0.1, 0.2), (5, 6, 7))]
    found = views(board(table(both)))
    assert [(view.parameter, list(told(view))) for view in found] == [
        ("agent.failure", ["mine, horizon=5", "mine, horizon=6", "mine, horizon=7"]),
        ("agent.horizon", ["mine, failure=0.1", "mine, failure=0.2"]),
    ]


def test_an_agent_that_asks_the_world_and_one_that_does_not_stay_apart():
    tables = [
        table(
            [
                line("Recall, resolution=world", resolution=separation),
                line("Recall, resolution=0.1", resolution=0.1),
            ],
            part("two_jao", separation=separation),
        )
        for separation in (0.2, 0.5, 0.8)
    ]
    first = views(board(*tables))[0]
    assert first.parameter == "world.separation"
    assert told(first) == {"Recall, resolution=world": [0.2, 0.5, 0.8], "Recall, resolution=0.1": [0.2, 0.5, 0.8]}


def test_problems_that_are_not_alike_in_other_ways_are_not_joined():
    worlds = [part("gridworld", size=size, edges=edges) for edges, size in product(("stay", "third"), (4, 5))]
    tables = [table([line("Recall")], world) for world in [*worlds, part("two_jao")]]
    found = views(board(*tables))
    assert [(view.parameter, view.fixed) for view in found] == [
        ("world.size", "world=gridworld, edges=stay"),
        ("world.size", "world=gridworld, edges=third"),
    ]
    assert problems_apart(tables)[-1] == "world=two_jao"
    assert len(set(problems_apart(tables))) == 5


def test_where_nothing_varies_there_is_nothing_to_see():
    assert views(board(table([line("Recall"), line("Random")]))) == []
    assert problems_apart([table([line("Recall")])]) == [""]


def test_names_that_others_determine_are_dropped():
    rows = [{"kind": "abc"[i], "size": i, "other": j} for i, j in product(range(3), range(2))]
    assert independent(rows) == ["size", "other"]
    assert independent([{"x": 1}, {"x": 1}]) == []


@pytest.mark.parametrize(
    ("values", "wide"), [([1, 10], False), ([1, 11], True), ([0, 11], False), ([-5, 5], False), ([], False)]
)
def test_a_decade(values, wide):
    assert spans_decades(values) is wide


def test_views_that_differ_in_the_world_alone_belong_side_by_side():
    worlds = [part("gridworld", size=4), part("two_jao", states=8)]
    agents = [line(f"Recall, failure={failure}", failure=failure) for failure in (0.1, 0.2)]
    tables = [table(agents, world, episodes) for episodes, world in product((60, 90), worlds)]
    groups = side_by_side(views(board(*tables)))
    found = [(group[0].shared, [view.world for view in group]) for group in groups]
    names = ["world=gridworld", "world=two_jao"]
    assert found == [
        ("episodes K", names),
        ("failure of the agent, with episodes=60", names),
        ("failure of the agent, with episodes=90", names),
    ]
    assert groups[0][0].title == "episodes K, with world=gridworld"


def test_agents_by_their_names():
    tables = [table([line("Recall"), line("Random")], part(name)) for name in ("gridworld", "two_jao")]
    found = by_name(board(*tables))
    assert [(one.apart, one.episodes, one.unequal) for one in found] == [
        ("world=gridworld", 60, False),
        ("world=two_jao", 60, False),
    ]
    assert [line.label for line in found[1].lines] == ["Recall", "Random"]
