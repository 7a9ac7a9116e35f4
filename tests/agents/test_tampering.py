"""Files of agents that somebody changed: damage is noticed, and what was changed on purpose is refused, never run."""

import hashlib
import io
import json
import pickle
import zipfile

import numpy as np
import pytest
from numpy.lib import format as npy

import aomultirl as ao
from aomultirl.agents import archive, saving

MODELS = ao.worlds.random_models(6, 3, 2, 3, 1.0, 3)
SMALL = {"samples": 15, "clustering_horizon": 600, "bonus_scale": 0.01, "learning_horizon": 30}


def lived(agent, episodes=4):
    ao.run(agent, MODELS, ao.streams.round_robin(), episodes, 1)
    return agent


@pytest.fixture(scope="module")
def file():
    """A saved agent with clusters."""
    return saving.to_bytes(lived(ao.agents.AOMultiRL(2, 1.0, 5, 0.1, **SMALL)))


def test_every_damaged_byte_is_noticed(file):
    rng = np.random.default_rng(0)
    for place in [0, 3, 30, len(file) - 1, len(file) - 70, *rng.integers(0, len(file), 200)]:
        damaged = bytearray(file)
        damaged[place] ^= 1 << int(rng.integers(8))
        with pytest.raises(ValueError, match=r"damaged|not a zip archive"):
            saving.from_bytes(bytes(damaged))


@pytest.mark.parametrize("length", [0, 3, 64, 1000, -1, -64])
def test_a_file_that_is_cut_off_is_refused(file, length):
    with pytest.raises(ValueError, match=r"damaged|not a zip archive"):
        saving.from_bytes(file[:length])


def sealed(members, compression=zipfile.ZIP_STORED):
    """An archive with these members and the digest that belongs to it."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", compression) as opened:
        opened.comment = b"0" * archive.DIGEST
        for name, content in members:
            opened.writestr(name, content)
    content = made.getvalue()[: -archive.DIGEST]
    return content + hashlib.sha256(content).hexdigest().encode()


def members(file):
    with zipfile.ZipFile(io.BytesIO(file)) as opened:
        return [(name, opened.read(name)) for name in opened.namelist()]


def with_document(file, change):
    """The file after ``change(document)``, sealed again."""
    (name, text), *rest = members(file)
    document = json.loads(text)
    change(document)
    return sealed([(name, json.dumps(document)), *rest])


def with_array(file, number, content):
    made = members(file)
    made[number + 1] = (f"{number}.npy", content)
    return sealed(made)


def as_npy(array):
    made = io.BytesIO()
    npy.write_array(made, array, version=(1, 0), allow_pickle=True)
    return made.getvalue()


RAN = []


class Evil:
    """Runs something when it is unpickled."""

    def __reduce__(self):
        return RAN.append, (1,)


def put(*path, value):
    def change(document):
        for name in path[:-1]:
            document = document[name]
        document[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("agent", value="system"), "class 'system', which is neither in ao.agents"),
        (put("agent", value="Agent"), "class 'Agent', which is neither"),
        (put("agent", value="Setting"), "class 'Setting', which is neither"),
        (put("agent", value=["AOMultiRL"]), r"it.agent must be a text, not \['AOMultiRL'\]"),
        (put("agent", value="Recall"), "no agent can be made of it: TypeError"),
        (put("format", value="something"), "it is not an aomultirl agent"),
        (put("version", value=1), "it is of version 1, and only version 7 can be read; run it again"),
        (put("parameters", "learner", value={"$learner": ["system", {}]}), "there is no learner 'system'"),
        (put("parameters", "learner", value={"$learner": ["UCBVI", []]}), "parameters of UCBVI are not a table"),
        (
            put("parameters", "learner", value={"$learner": ["UCBVI", {"x": 1}]}),
            "no agent can be made of it: TypeError",
        ),
        (
            put("parameters", "learner", value={"$explorer": ["GOSPRL", {}]}),
            "learner is GOSPRL.*, not a learner such as",
        ),
        (put("parameters", "learner", value=3), "learner is 3, not a learner such as"),
        (put("parameters", "models", value=0), "models must be at least 1, not 0"),
        (put("parameters", "failure", value="often"), "failure must be a number, not 'often'"),
        (put("parameters", "__class__", value="x"), "no agent can be made of it: TypeError"),
        (put("parameters", "samples", value={"$array": 10**6}), "the number of an array must be between"),
        (put("parameters", "samples", value={"$array": 0, "$float": "inf"}), "which nothing has"),
        (put("parameters", "samples", value={"$eval": "1"}), r"it holds '\$eval' with something that cannot be"),
        (put("parameters", "samples", value={"$counts": 0}), "counts of an agent that has not begun"),
        (put("setting", value=None), "memory of an agent that has not begun"),
        (put("setting", "episodes", value=0), "it.setting.episodes must be at least 1, not 0"),
        (put("setting", "rewards", value=3), r"setting.rewards must be float64 of shape \(S, A\)"),
        (put("setting", "models", value=3), "setting.models must be worlds"),
        (put("setting", "models", value={"$models": 0}), "the number of a set of worlds must be between"),
        (put("memory", value=None), "memory must be a table of names and values, not None"),
        (put("memory", "more", value=1), "memory holds 'more', which nobody asked for"),
        (put("memory", "clusters", 0, "model", value=3), r"memory.clusters\[0\].model must be a count table, not 3"),
        (
            put("memory", "clusters", 0, "model_sums", value={"$array": 0}),
            r"sums must be float64 of shape \(0,\), not fl",
        ),
        (
            put("memory", "clusters", 0, "regret", "own", value={"q": {"$array": 0}}),
            r"has the arrays \['q', 'sums'\], not",
        ),
        (put("memory", "shared", value={"sums": {"$array": 0}}), r"memory.shared has the arrays \['sums'\], not \[\]"),
        (put("memory", "clusters", value=[{}] * 5), "memory.clusters must be a list of at most 4 entries, not one of"),
        (put("memory", "clusters", 0, value={}), r"memory.clusters\[0\] has no 'model'"),
        (put("tables", 0, value=[0, 1]), "a count table is .*, not 5 arrays"),
        (put("tables", 0, 0, value=0), "filled must be a list of int32, not float64"),
        (put("tables", value={}), "it.tables must be a list"),
        (put("completed", value=5), "it.completed must be between 0 and 4, not 5"),
    ],
)
def test_a_document_that_somebody_changed_is_refused(file, change, message):
    with pytest.raises(ValueError, match=message):
        saving.from_bytes(with_document(file, change))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (pickle.dumps(Evil()), "an array that cannot be read: the magic string is not correct"),
        (as_npy(np.array([[Evil()] * 3] * 6)), "an array of object, which saved agents do not"),
        (as_npy(np.zeros((6, 3), "c16")), "an array of complex128"),
        (as_npy(np.asfortranarray(np.zeros((6, 3)))), "laid out in another way"),
        (as_npy(np.zeros((6, 4))), "filled must have 24 entries, not 18"),
        (as_npy(np.full((6, 3), 7.0)), r"setting.rewards must lie in \[0, 1\]"),
        (as_npy(np.zeros((6, 3)))[:-8], r"an array of shape \(6, 3\) with 136 bytes"),
        (as_npy(np.zeros((6, 3))).replace(b"(6, 3)", b"(9**9)"), "an array that cannot be read: malformed"),
        (as_npy(np.zeros((6, 3))).replace(b"(6, 3), }     ", b"(99999, 9999)}"), "with 144 bytes"),
        (as_npy(np.zeros((6, 3), bool))[:-1] + b"\2", "entries that are neither true nor false"),
        (b"", "an array that cannot be read"),
    ],
)
def test_an_array_that_somebody_changed_is_refused_and_nothing_is_run(file, content, message):
    with pytest.raises(ValueError, match=message):
        saving.from_bytes(with_array(file, 0, content))
    assert not RAN


def test_counts_out_of_range_never_reach_a_kernel(file):
    document = json.loads(members(file)[0][1])
    filled, states, visits, *_ = document["tables"][0]
    arrays = archive.unpack(file)[1]
    for number, value, message in (
        (states, 6, r"a count table is wrong: states\[0\] is 6, but states are 0 to 5"),
        (states, -1, r"states\[0\] is -1"),
        (visits, -5, r"visits\[0\] is -5, not positive"),
        (filled, 60, "do not fit filled"),
    ):
        wrong = arrays[number].copy()
        wrong[0] = value
        with pytest.raises(ValueError, match=message):
            saving.from_bytes(with_array(file, number, as_npy(wrong)))


@pytest.mark.parametrize("name", ["../../evil.npy", "/etc/passwd", "0.pkl", "0.npy/../x"])
def test_names_that_lead_elsewhere_are_refused(file, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first, *rest = members(file)
    rest[0] = (name, rest[0][1])
    with pytest.raises(ValueError, match="and the arrays should be"):
        saving.from_bytes(sealed([first, *rest]))
    assert not any(tmp_path.iterdir())


def test_a_bomb_is_not_unpacked(file):
    first, *rest = members(file)
    rest[0] = ("0.npy", as_npy(np.zeros((6, 3))) + b"\0" * 10_000_000)
    with pytest.raises(ValueError, match="it is compressed, which saved agents are not"):
        saving.from_bytes(sealed([first, *rest], zipfile.ZIP_DEFLATED))


def test_deep_and_long_documents_are_refused(file):
    first, *rest = members(file)
    for text in (
        "[" * 100_000,
        '{"a":' * 50_000 + "1" + "}" * 50_000,
        "[]",
        "nonsense",
        '{"format": 1' + "0" * 9999 + "}",
    ):
        with pytest.raises(ValueError, match=r"\w"):
            saving.from_bytes(sealed([(first[0], text), *rest]))


def test_an_archive_of_something_else_is_refused():
    with pytest.raises(ValueError, match="it holds 'notes' where"):
        saving.from_bytes(sealed([("notes", "hello")]))
    with pytest.raises(ValueError, match="it is not a zip archive"):
        saving.from_bytes(sealed([]))


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        ("Recall", put("memory", "worlds", 0, "number", value=7), r"clusters with the numbers \[1, 7\]"),
        (
            "Recall",
            put("memory", "worlds", 0, "proven", value=None),
            r"worlds\[0\].number must be -1, not 0: it is no cluster",
        ),
        ("Recall", put("memory", "worlds", 0, "met", value={"$float": "nan"}), "met must be finite, not nan"),
        (
            "Recall",
            put("memory", "traces", "kept", 0, "verdict", value="guilty"),
            "verdict of a trace must be one of 'new'",
        ),
        (
            "Recall",
            put("memory", "traces", "kept", 0, "looks", value={"steps": ["x"]}),
            "steps of a trace holds 'x', not a number",
        ),
        (
            "Sequential",
            put("memory", "clusters", value=[1]),
            r"memory.clusters\[0\] must be a table of names and values, not 1",
        ),
        ("Doubling", put("memory", "doublings", value=3), "memory.doublings is 3, more than the . failures"),
        (
            "TwoStage",
            put("memory", "discovered", value=[{"$tuple": [9, 0]}]),
            r"discovered\[0\] state must be between 0 and 5",
        ),
        ("TwoStage", put("memory", "discovered", value=[]), "number of pairs discovered must be at least 1"),
        (
            "Pooled",
            put("memory", "known", 0, 1, "sums", value=0),
            r"known\[0\]\[1\].sums must be an array, not 0",
        ),
    ],
)
def test_memory_that_no_agent_could_have_is_refused(kind, change, message):
    agents = {
        "Recall": lambda: ao.agents.Recall(0.1, 400),
        "Sequential": lambda: ao.agents.SequentialAOMultiRL(0.1, 50, 0.9, samples=2),
        "Doubling": lambda: ao.agents.DoublingAOMultiRL(2, 1.0, 0.1, horizon=3000, samples=15),
        "TwoStage": lambda: ao.agents.TwoStageAOMultiRL(2, 1.0, 5, 0.1, first_clustering_horizon=900, **SMALL),
        "Pooled": lambda: ao.agents.PooledUCBVI(0.1, 20),
    }
    with pytest.raises(ValueError, match=message):
        saving.from_bytes(with_document(saving.to_bytes(lived(agents[kind]())), change))


@pytest.fixture(scope="module", params=["known", "unknown"])
def recalled(request):
    """A saved Recall with clusters, worlds that are none, and past episodes."""
    return saving.to_bytes(lived(ao.agents.Recall(0.1, 100, rewards=request.param), 6))


def with_remembered(file, *path, change):
    """The file after ``change(array)`` of an array in memory, sealed again."""
    document, arrays = archive.unpack(file)
    place = document["memory"]
    for name in path:
        place = place[name]
    number = place["$array"]
    arrays[number] = np.ascontiguousarray(change(arrays[number].copy()))
    return archive.pack(document, arrays)


def setting(place, value):
    def change(array):
        array[place] = value
        return array

    return change


@pytest.mark.parametrize(
    ("path", "change", "message"),
    [
        (("past", 0, "places"), lambda places: places[::-1], r"memory.past\[0\].places must rise"),
        (("past", 0, "places"), setting(-1, 10**6), r"memory.past\[0\].places must rise, up to"),
        (("past", 0, "places"), setting(0, -1), r"past\[0\].places\[0\] is -1, which it cannot be"),
        (("past", 0, "places"), lambda places: places[:-1], r"past\[0\].places and counts must be lists of one length"),
        (
            ("past", 0, "places"),
            lambda places: places[None],
            r"past\[0\].places and counts must be lists of one length",
        ),
        (("past", 0, "places"), lambda places: places.astype(float), r"past\[0\].places must be .*int64"),
        (("past", 0, "counts"), setting(0, -1.0), r"past\[0\].counts\[0\] is -1.0, which it cannot be"),
        (("past", 0, "counts"), setting(0, np.nan), r"past\[0\].counts"),
        (("past", 0, "counts"), setting(0, 1e300), r"memory.past holds more than the worlds"),
        (("past", 0, "counts"), lambda counts: counts + 1.0, r"memory.past holds more than the worlds"),
        (("past", 0, "counts"), lambda counts: 0.5 * counts, r"memory.past holds parts of visits"),
        (("transitions",), lambda keys: keys[::-1], "memory.transitions must rise"),
        (("transitions",), lambda keys: keys[:-1], "memory.transitions has no place for a transition"),
        (("transitions",), lambda keys: keys[1:], "memory.transitions has no place for a transition"),
        (("transitions",), lambda keys: keys[:0], "memory.transitions must rise"),
        (("transitions",), setting(-1, 10**9), "memory.transitions must rise"),
        (("transitions",), lambda keys: np.append(keys, keys[-1]), "memory.transitions must rise"),
        (("spreads",), lambda spreads: spreads[1:], r"memory.spreads must have \d+ entries"),
        (("spreads",), setting(0, 0.0), r"memory.spreads must lie in \[0.1, 1000\]"),
        (("spreads",), setting(0, 1e-300), r"memory.spreads must lie in \[0.1, 1000\]"),
        (("spreads",), setting(0, 1e300), r"memory.spreads must lie in \[0.1, 1000\]"),
        (("parents",), lambda parents: parents[1:], r"memory.parents must have \d+ entries"),
        (("parents",), setting(0, 1.5), r"memory.parents must lie in \[0, 1\]"),
        (("trust",), lambda trust: trust[1:], r"memory.trust must have \d+ entries"),
        (("trust",), setting(0, 1e9), "memory.trust holds what no row can have"),
        (("trust",), setting(0, 4.0), "memory.parents must be above 0 where memory.trust is"),
        (("sharing",), setting(1, 0.0), r"memory.sharing must lie in \[0.02, 0.98\]"),
        (("sharing",), setting(1, 1.0), r"memory.sharing must lie in \[0.02, 0.98\]"),
        (("sharing",), setting(0, 2.0), "memory.sharing"),
        (("sharing",), lambda shared: shared[:2], "memory.sharing"),
        (("levels",), lambda levels: levels[None], "memory.levels must be a list of at most"),
        (("levels",), lambda levels: np.linspace(1.0, 0.0, 9), r"memory.levels must be a list of at most \d rewards"),
        (("levels",), lambda levels: np.array([0.0, 1.0]), "memory.levels must fall from 1 to 0"),
        (("levels",), lambda levels: np.array([1.0, 0.5]), "memory.levels must fall from 1 to 0"),
        (("levels",), lambda levels: np.array([0.5, 0.0]), "memory.levels must fall from 1 to 0"),
        (("levels",), lambda levels: np.array([1.0, 1.0]), "memory.levels must fall from 1 to 0"),
        (("levels",), lambda levels: np.array([1.5, 0.0]), "memory.levels must fall from 1 to 0"),
        (("levels",), lambda levels: np.array([1.0, -0.5]), r"memory.levels\[1\] is -0.5, which it cannot be"),
        (("worlds", 0, "sums"), lambda sums: np.append(sums, 1.0), r"worlds\[0\].sums must have \d+ entries"),
        (("worlds", 0, "alone"), lambda alone: alone[1:], r"memory.worlds\[0\].alone must have \d+ entries"),
        (("worlds", 0, "values"), lambda values: values[1:], r"memory.worlds\[0\].values"),
    ],
)
def test_a_past_that_no_run_has_left_is_refused(recalled, path, change, message):
    with pytest.raises(ValueError, match=message):
        saving.from_bytes(with_remembered(recalled, *path, change=change))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("memory", "past", 0, "world", value=9), r"memory.past\[0\].world is 9, but there are \d+ worlds"),
        (put("memory", "past", 0, "world", value=-1), r"past\[0\].world must be at least 0"),
        (put("memory", "past", 0, "sure", value=1.5), r"past\[0\].sure"),
        (put("memory", "past", value=[{}] * 7), "memory.past must be a list of at most 6 entries"),
        (put("memory", "worlds", 0, "name", value=99), r"names that are not different and below \d+"),
        (put("memory", "worlds", value=[]), "must be empty where there are no worlds"),
        (put("memory", "worlds", -1, "episodes", value=0), r"memory.worlds\[\d+\].episodes is 0, but"),
        (put("memory", "named", value=0), "names that are not different and below 0"),
        (put("memory", "next_review", value=-1), "memory.next_review must be at least 0"),
        (put("memory", "met", value=7), "memory.met must be between 0 and 6"),
        (put("memory", "vectors_of", value=["x"]), "memory.vectors_of"),
    ],
)
def test_a_memory_that_does_not_fit_together_is_refused(recalled, change, message):
    with pytest.raises(ValueError, match=message):
        saving.from_bytes(with_document(recalled, change))


def test_rewards_of_a_past_episode_are_at_most_its_visits():
    file = saving.to_bytes(lived(ao.agents.Recall(0.1, 100, rewards="unknown"), 6))
    for value in (200.0, 1e308):
        with pytest.raises(ValueError, match=r"memory.past holds rewards above 1"):
            saving.from_bytes(with_remembered(file, "past", 0, "counts", change=setting(-1, value)))


def test_levels_that_do_not_fit_what_worlds_hold_are_refused():
    """Three rewards occur, so worlds hold how often pairs paid each, and a fourth has no counts."""
    models = ao.ModelSet(ao.MDP(world.transitions, np.tile([0.0, 0.3, 1.0], (6, 1))) for world in MODELS)
    agent = ao.agents.Recall(0.1, 100, rewards="unknown")
    ao.run(agent, models, ao.streams.round_robin(), 4, 1)
    file = saving.to_bytes(agent)
    saving.from_bytes(file)
    for change, message in (
        (lambda levels: np.array([1.0, 0.3, 0.3, 0.0]), "memory.levels must fall from 1 to 0"),
        (lambda levels: np.array([1.0, 0.3, 0.2, 0.0]), r"worlds\[0\].sums must have 72 entries, not \(54,\)"),
        (lambda levels: levels[::2], r"worlds\[0\].sums must have 18 entries, not \(54,\)"),
    ):
        with pytest.raises(ValueError, match=message):
            saving.from_bytes(with_remembered(file, "levels", change=change))
    with pytest.raises(ValueError, match=r"worlds\[0\].sums\[5\] is -1.0"):
        saving.from_bytes(with_remembered(file, "worlds", 0, "sums", change=setting(5, -1.0)))


def test_two_worlds_of_one_name_are_refused(recalled):
    def change(document):
        worlds = document["memory"]["worlds"]
        worlds[1]["name"] = worlds[0]["name"]

    with pytest.raises(ValueError, match="names that are not different"):
        saving.from_bytes(with_document(recalled, change))
