"""Save an agent after any episode, and go on with it elsewhere as if nothing had happened.

A file (:mod:`.archive`) holds the agent's class and parameters, the setting of its run and its memory.  Loading makes
the agent as anybody does, with its constructor and ``begin``, and then has it restore its memory.  Files are data:
nothing in them is run, and whatever no agent could have written is refused.
"""

import inspect
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from aomultirl import checks, files, plugins
from aomultirl.agents import archive
from aomultirl.agents.base import Agent, Setting
from aomultirl.agents.encoding import Decoder, Encoder
from aomultirl.agents.state import Saved
from aomultirl.mdp import ModelSet

FORMAT, VERSION = "aomultirl agent", 1
MOST_BYTES = 2**36
"""Of a file that is loaded: 64 GiB, more than any agent has."""


def save(agent: Agent, path: str | Path) -> None:
    """Write an agent to one file: parameters, the setting of its run, and all that it remembers.

    An agent that has not begun a run is saved without memory.  While an episode is under way, the agent is saved as it
    was before it.  The file is written under a temporary name and renamed when it is whole.

    Raises
    ------
    ValueError
        the agent's class does not say what it remembers (``Agent.state``), or a parameter cannot be written down.

    Examples
    --------
    >>> import aomultirl as ao, tempfile
    >>> file = Path(tempfile.mkdtemp()) / "agent.zip"
    >>> ao.save(ao.agents.Random(horizon=20), file)
    >>> ao.load_agent(file)
    Random(horizon=20)
    """
    files.write_whole(checks.path("path", path), to_bytes(agent))


def load_agent(path: str | Path, agents: Iterable[type[Agent]] = ()) -> Agent:
    """The agent that :func:`save` wrote, or that of a checkpoint.

    Parameters
    ----------
    agents
        classes of your own that the file may hold, besides those of ``ao.agents``.

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
    return type(agent).state is not Agent.state and type(agent).restore is not Agent.restore


def to_bytes(agent: Agent, beside: Mapping[str, Any] | None = None) -> bytes:
    """The bytes of the file; ``beside`` is kept in it, too."""
    if not isinstance(agent, Agent):
        raise ValueError(f"agent is {checks.shown(agent)}, not an agent such as ao.agents.Random(200)")
    kind = type(agent)
    if not can_be_saved(agent):
        raise ValueError(f"{kind.__name__} cannot be saved: it does not say what it remembers, see Agent.state")
    encoder, begun = Encoder(), "setting" in vars(agent)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "class": kind.__name__,
        "own": _listed().get(kind.__name__) is not kind,
        "parameters": encoder.encode(_parameters(agent), kind.__name__),
        "setting": _setting(agent.setting, encoder) if begun else None,
        "completed": agent.completed,
        "memory": encoder.encode(agent.state(), "the state") if begun else None,
        "beside": encoder.encode(dict(beside or {}), "beside"),
    }
    return archive.pack({**document, "tables": encoder.tables, "models": encoder.models}, encoder.arrays)


def from_bytes(data: bytes, agents: Iterable[type[Agent]] = ()) -> tuple[Agent, dict[str, Any]]:
    """(the agent, what is beside it); ValueError for anything that :func:`to_bytes` cannot have made."""
    document, arrays = archive.unpack(data)
    try:
        return _read(Saved(document, "it"), arrays, agents)
    except ValueError:
        raise
    except Exception as error:  # whatever a constructor or begin() says to parameters that nobody would give
        raise ValueError(f"no agent can be made of it: {type(error).__name__}: {checks.cut(str(error))}") from None


def _read(file: Saved, arrays: list[Any], agents: Iterable[type[Agent]]) -> tuple[Agent, dict[str, Any]]:
    if file.value("format") != FORMAT or file.value("version") != VERSION:
        raise ValueError(f"it is not an {FORMAT} of version {VERSION}")
    kind, decoder = _class(file, agents), Decoder(file, arrays)
    given = decoder.decode(file.value("parameters"))
    if not isinstance(given, dict):
        raise ValueError("its parameters are not a table of names and values")
    inspect.signature(kind).bind(**given)
    agent, setting = kind(**given), file.value("setting")
    beside, memory = file.value("beside"), file.value("memory")
    if setting is not None:
        told = _read_setting(Saved(setting, "setting"), decoder)
        if (told.models is not None) != ("models" in kind.told):
            raise ValueError(f"its setting has {'no ' if told.models is None else ''}worlds to tell {kind.__name__}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # said when the run began
            agent.begin(told)
        decoder.sizes = told.n_states, told.n_actions
        state = Saved(decoder.decode(memory))
        agent.restore(state)
        state.check_all_read()
        agent.completed = file.integer("completed", most=told.episodes)
    elif memory is not None:
        raise ValueError("it has memory of an agent that has not begun")
    return agent, dict(decoder.decode(beside))


def _listed() -> dict[str, type[Agent]]:
    """The classes of ``ao.agents`` by name."""
    import aomultirl.agents as package

    found = {name: getattr(package, name) for name in package.__all__}
    kinds = {name: one for name, one in found.items() if isinstance(one, type) and issubclass(one, Agent)}
    return {name: kind for name, kind in kinds.items() if kind is not Agent}


def _class(file: Saved, agents: Iterable[type[Agent]]) -> type[Agent]:
    name, own = file.value("class"), file.value("own")
    if own is False and isinstance(name, str) and name in _listed():
        return _listed()[name]
    for kind in agents:
        if not (isinstance(kind, type) and issubclass(kind, Agent)):
            raise ValueError(f"agents holds {checks.shown(kind)}, which is not a class of agents")
        if kind.__name__ == name:
            return kind
    if isinstance(name, str) and plugins.is_known("agent", name) and plugins.module_of("agent", name) is not None:
        offered: type[Agent] = plugins.find("agent", name)  # type: ignore[assignment]
        return offered
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


def _setting(setting: Setting, encoder: Encoder) -> dict[str, Any]:
    """Rewards that nobody knows are nan, so that a file is never smaller than the world it is of."""
    unknown = np.full((setting.n_states, setting.n_actions), np.nan)
    return {
        "rewards": encoder.encode(unknown if setting.rewards is None else np.asarray(setting.rewards), "rewards"),
        "episodes": int(setting.episodes),
        "models": encoder.encode(setting.models, "models"),
    }


def _read_setting(told: Saved, decoder: Decoder) -> Setting:
    rewards, models = decoder.decode(told.value("rewards")), decoder.decode(told.value("models"))
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
    return Setting(n_states, n_actions, rewards if known else None, told.integer("episodes", least=1), models)
