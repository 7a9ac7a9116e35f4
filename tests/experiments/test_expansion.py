from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from aomultirl.experiments.specification import specification_of
from aomultirl.experiments.specification.expansion import expand

HORIZONS = st.lists(st.integers(1, 10_000), min_size=1, max_size=4, unique=True)
SHARES = st.lists(st.floats(0.01, 0.5), min_size=1, max_size=4, unique=True)


@given(HORIZONS, SHARES, SHARES, st.data())
def test_lists_grids_and_zips_make_the_product(horizons, failures, proofs, data):
    pairs = [(proof, data.draw(st.floats(0.1, 2.0))) for proof in proofs]
    group = {"proof": [proof for proof, _ in pairs], "resolution": [resolution for _, resolution in pairs]}
    given_ = {"horizon": horizons, "rewards": "unknown"}
    found = expand("agent", "agents[0]", "Recall", given_, {"failure": failures}, [group], [])
    assert [
        tuple(variant.parameters[name] for name in ("horizon", "failure", "proof", "resolution")) for variant in found
    ] == [(horizon, failure, *pair) for horizon, failure, pair in product(horizons, failures, pairs)]
    assert {variant.parameters["rewards"] for variant in found} == {"unknown"}
    assert len({variant.place for variant in found}) == len(found)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.sampled_from(["stay", "third"]), min_size=1, max_size=2, unique=True),
    st.lists(st.integers(1, 9), min_size=1, max_size=3, unique=True),
    HORIZONS,
    st.lists(st.integers(1, 99), min_size=1, max_size=3, unique=True),
    st.integers(1, 3),
)
def test_cells_are_the_product_of_worlds_streams_agents_episodes_and_runs(edges, lengths, horizons, episodes, runs):
    cells = specification_of(
        {
            "episodes": episodes,
            "runs": runs,
            "worlds": [{"name": "gridworld", "edges": edges}],
            "streams": [{"name": "blocks", "length": lengths}],
            "agents": [{"name": "Random", "horizon": horizons}, {"name": "OneEpisodeLearner", "horizon": horizons}],
        }
    ).cells()
    found = [
        (
            cell.number,
            cell.world["parameters"]["edges"],
            cell.agent["name"],
            cell.agent["parameters"]["horizon"],
            cell.stream["parameters"]["length"],
            cell.episodes,
        )
        for cell in cells
    ]
    assert found == list(product(range(runs), edges, ["Random", "OneEpisodeLearner"], horizons, lengths, episodes))
    assert len({cell.name for cell in cells}) == len(cells)
