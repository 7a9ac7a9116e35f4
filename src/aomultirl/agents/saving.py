"""Save an agent after any episode, and go on with it elsewhere as if nothing had happened.

A file (:mod:`.archive`) holds the agent's class and parameters, the setting of its run and its memory.  Loading makes
the agent as anybody does, with its constructor and ``begin``, and then has it restore its memory.  Files are data:
nothing in them is run, and whatever no agent could have written is refused.
"""

import inspect
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from aomultirl import checks, files, plugins, records
from aomultirl.agents import archive
from aomultirl.agents.base import Agent
from aomultirl.agents.encoding import Decoder, Encoded, Encoder
from aomultirl.exploring import Explorer
from aomultirl.learning import Learner
from aomultirl.model_set import ModelSet
from aomultirl.records import Within
from aomultirl.setting import Setting

FORMAT, VERSION = "aomultirl agent", 7
"""Version 1 kept the counts in the order in which they were seen, and every class of agents in a form of its own;
version 2 kept unknown rewards of all worlds together where the practical learner learns; version 3 kept no episodes of
Recall, which now keeps them and reads them again; version 4 did not say how far the values of the practical learner
look ahead; version 5 did not say which rewards occur."""
MOST_BYTES = 2**36
"""Of a file that is loaded: 64 GiB, more than any agent has."""


@dataclass
class _SavedSetting:
    """The setting of a run, encoded.

    rewards
        (S, A); nan where nobody knows them, so that a file is never smaller than the world it is of.
    episodes
        K.
    models
        the worlds, for agents that are told them.
    rest
        what each step after the end of an episode is worth.
    longest
        steps after which somebody else ends every episode; 0 where nobody does.
    """

    rewards: Encoded
    episodes: Annotated[int, Within(1)]
    models: Encoded
    rest: Annotated[float, Within(0.0, 1.0)]
    longest: Annotated[int, Within(0)]


@dataclass
class _Document:
    """What a file says of an agent, arrays apart.

    format, version
        FORMAT and VERSION.
    agent
        the name of its class.
    own
        whether the class is somebody's own, not one of ``ao.agents``.
    parameters
        of its constructor.
    setting
        of its run; None where it has not begun one.
    completed
        episodes that are over.
    memory
        what the agent keeps; None where it has not begun.
    interface
        what lies between the agent and environments.
    beside
        what somebody else keeps in the file.
    tables, models
        count tables and sets of worlds, each once.
    """

    format: str
    version: int
    agent: str
    own: bool
    parameters: Encoded
    setting: _SavedSetting | None
    completed: int
    memory: Encoded
    interface: Encoded
    beside: Encoded
    tables: list[Encoded]
    models: list[Encoded]


def save(agent: Agent, path: str | Path) -> None:
    """Write an agent to one file: parameters, the setting of its run, and all that it remembers.

    An agent that has not begun a run is saved without memory.  While an episode is under way, the agent is saved as it
    was before it.  The file is written under a temporary name and renamed when it is whole.

    Raises
    ------
    ValueError
        the agent's class does not say what it remembers (``Agent.keeps``), or a parameter cannot be written down.

    Examples
    --------
    >>> import aomultirl as ao, tempfile
    >>> file = Path(tempfile.mkdtemp()) / "agent.zip"
    >>> ao.save(ao.agents.Random(horizon=20), file)
    >>> ao.load_agent(file)
    Random(horizon=20)
    """
    files.write_whole(checks.path("path", path), to_bytes(agent))


def load_agent(path: str | Path, agents: Iterable[type] = ()) -> Agent:
    """The agent that :func:`save` wrote, or that of a checkpoint.

    Parameters
    ----------
    agents
        classes of your own that the file may hold: agents, learners and explorers besides those of this package and
        of the plug-ins that are loaded.

    Raises
    ------
    ValueError
        the file is damaged, or holds something else than an agent.
    """
    path = checks.path("path", path)
    content = files.read_regular(path, MOST_BYTES, follow=True)
    try:
        return from_bytes(content, agents)[0]
    except ValueError as error:
        raise ValueError(f"{str(path)!r} cannot be loaded: {error}") from None


def can_be_saved(agent: Agent) -> bool:
    """Whether the agent's class says what it remembers."""
    return type(agent).keeps is not None


def to_bytes(agent: Agent, beside: Mapping[str, Any] | None = None) -> bytes:
    """The bytes of the file; ``beside`` is kept in it, too."""
    if not isinstance(agent, Agent):
        raise ValueError(f"agent is {checks.shown(agent)}, not an agent such as ao.agents.Random(200)")
    kind = type(agent)
    if not can_be_saved(agent):
        raise ValueError(f"{kind.__name__} cannot be saved: it does not say what it remembers, see Agent.keeps")
    if agent.why_unsaved():
        raise ValueError(f"{kind.__name__} cannot be saved: {agent.why_unsaved()}")
    encoder, begun = Encoder(), "setting" in vars(agent)
    document = _Document(
        format=FORMAT,
        version=VERSION,
        agent=kind.__name__,
        own=not _is_ours(kind),
        parameters=encoder.encode(_parameters(agent), kind.__name__),
        setting=_setting(agent.setting, encoder) if begun else None,
        completed=agent.completed,
        memory=encoder.encode(records.write(agent.kept), "what the agent keeps") if begun else None,
        interface=encoder.encode(_plain_interface(agent.interface), "interface"),
        beside=encoder.encode(dict(beside or {}), "beside"),
        tables=encoder.tables,
        models=encoder.models,
    )
    return archive.pack(records.write(document), encoder.arrays)


def from_bytes(data: bytes, agents: Iterable[type] = ()) -> tuple[Agent, dict[str, Any]]:
    """(the agent, what is beside it); ValueError for anything that :func:`to_bytes` cannot have made."""
    document, arrays = archive.unpack(data)
    if document.get("format") != FORMAT:
        raise ValueError(f"it is not an {FORMAT}")
    if document.get("version") != VERSION:
        version = checks.shown(document.get("version"))
        raise ValueError(f"it is of version {version}, and only version {VERSION} can be read; run it again")
    try:
        return _read(records.read(_Document, document, {}, "it"), arrays, _own_classes(agents))
    except ValueError:
        raise
    except Exception as error:  # whatever a constructor or begin() says to parameters that nobody would give
        raise ValueError(f"no agent can be made of it: {type(error).__name__}: {checks.cut(str(error))}") from None


def _own_classes(classes: Iterable[type]) -> list[type]:
    given = list(classes)
    for kind in given:
        if not (isinstance(kind, type) and issubclass(kind, Agent | Learner | Explorer)):
            raise checks.Refusal("agents", f"holds {checks.shown(kind)}, no class of agents, learners or explorers")
    return given


def _read(file: _Document, arrays: list[Any], own: list[type]) -> tuple[Agent, dict[str, Any]]:
    kind, decoder = _class(file, own), Decoder(file.tables, file.models, arrays, own)
    given = decoder.decode(file.parameters)
    if not isinstance(given, dict):
        raise ValueError("its parameters are not a table of names and values")
    inspect.signature(kind).bind(**given)
    agent = kind(**given)
    if file.setting is not None:
        setting = _read_setting(file.setting, decoder)
        if (setting.models is not None) != ("models" in kind.told):
            raise ValueError(f"its setting has {'no ' if setting.models is None else ''}worlds to tell {kind.__name__}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # said when the run began
            agent.begin(setting)
        decoder.sizes = setting.n_states, setting.n_actions
        sizes = {"states": setting.n_states, "pairs": setting.n_pairs, "episodes": setting.episodes}
        agent.restore(records.read(kind.keeps, decoder.decode(file.memory), sizes))
        agent.completed = checks.integer("it.completed", file.completed, least=0, most=setting.episodes)
        agent.interface, agent.loaded = decoder.decode(file.interface), True
    elif file.memory is not None:
        raise ValueError("it has memory of an agent that has not begun")
    return agent, dict(decoder.decode(file.beside))


def _plain_interface(interface: Any) -> Any:
    """As JSON can hold it; what was read from a file is that already."""
    return interface.as_json() if hasattr(interface, "as_json") else interface


def _is_ours(kind: type[Agent]) -> bool:
    """Whether a class is one of ``ao.agents``."""
    name = kind.__name__
    return plugins.module_of("agent", name) is None and plugins.is_known("agent", name) and _offered(name) is kind


def _offered(name: str) -> type[Agent]:
    kind: type[Agent] = plugins.find("agent", name)  # type: ignore[assignment]  # a class derived from Agent
    return kind


def _class(file: _Document, own: list[type]) -> type[Agent]:
    name = file.agent
    for kind in own:
        if issubclass(kind, Agent) and kind.__name__ == name and file.own:
            return kind
    if plugins.is_known("agent", name) and _is_ours(_offered(name)) != file.own:
        return _offered(name)
    where = "which is neither in ao.agents nor in agents=[...] nor in a plug-in that is loaded"
    raise ValueError(f"it holds an agent of class {checks.shown(name)}, {where}")


def _parameters(agent: Agent) -> dict[str, Any]:
    """The constructor's parameters, enough to make the agent again."""
    given = agent.parameters()
    try:
        inspect.signature(type(agent)).bind(**given)
    except TypeError as error:
        raise ValueError(
            f"{type(agent).__name__} cannot be saved: its parameters() do not make it again ({error})"
        ) from None
    return given


def _setting(setting: Setting, encoder: Encoder) -> _SavedSetting:
    unknown = np.full((setting.n_states, setting.n_actions), np.nan)
    return _SavedSetting(
        rewards=encoder.encode(unknown if setting.rewards is None else np.asarray(setting.rewards), "rewards"),
        episodes=int(setting.episodes),
        models=encoder.encode(setting.models, "models"),
        rest=float(setting.rest),
        longest=int(setting.longest),
    )


def _read_setting(saved: _SavedSetting, decoder: Decoder) -> Setting:
    rewards, models = decoder.decode(saved.rewards), decoder.decode(saved.models)
    if not isinstance(rewards, np.ndarray) or rewards.ndim != 2 or rewards.size == 0 or rewards.dtype != np.float64:
        raise ValueError("setting.rewards must be float64 of shape (S, A)")
    known = not np.isnan(rewards).all()
    if known and not ((rewards >= 0.0) & (rewards <= 1.0)).all():
        raise ValueError("setting.rewards must lie in [0, 1]")
    n_states, n_actions = rewards.shape
    if models is not None and not (
        isinstance(models, ModelSet) and (models.n_states, models.n_actions) == rewards.shape
    ):
        raise ValueError(f"setting.models must be worlds with {n_states} states and {n_actions} actions")
    return Setting(n_states, n_actions, rewards if known else None, saved.episodes, models, saved.rest, saved.longest)
