"""What can be made by name: the worlds, streams, agents, learners and explorers of this package, and those of plug-ins.

A plug-in is a module that lists in ``__all__`` what it offers: classes derived from ``Stream``, ``Agent``, ``Learner``
or ``Explorer``, and functions annotated to return a ``ModelSet``, which are worlds.  A package names such a module as
an entry point of the group ``aomultirl.plugins``; it is imported when a name is looked up that is not ours, and never
at ``import aomultirl``.  ``ao.plugins.load("module")``, or ``--plugin MODULE`` in a command, names one by hand.

Importing runs code, so nothing but these two has a module imported: no specification, folder of results, history or
saved agent does.
"""

import inspect
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import Any, TypeAlias

from aomultirl import checks

GROUP = "aomultirl.plugins"
"""The group of entry points that packages offer their plug-ins in."""
ROOMS = {"world": "worlds", "stream": "streams", "agent": "agents", "learner": "learning", "explorer": "exploring"}
"""The kinds of things that can be made by name, and the rooms of this package that offer them."""
KINDS = tuple(ROOMS)
MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
"""The name of a module: words with dots between them."""
FILE_ENDING = ".py"
"""What the file of a module ends with, and its name does not."""
Maker: TypeAlias = Callable[..., Any]
"""A function or a class whose call makes a thing."""
Makers: TypeAlias = Mapping[str, Maker]
"""Makers by name."""


class UnknownNameError(ValueError):
    """Nothing is called so.

    kind
        what was looked for: one of KINDS.
    name
        what it was looked for by.
    hint
        the rest of the sentence: what may have been meant, or what there is.
    """

    def __init__(self, kind: str, name: Any, hint: str) -> None:
        super().__init__(f"there is no {kind} {checks.shown(name)}; {hint}")
        self.kind, self.name, self.hint = kind, name, hint

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.kind, self.name, self.hint)


@dataclass
class _Offers:
    """All that can be made by name in this process.

    bases
        the class that all things of a kind are instances of.
    makers
        by kind and name.
    modules
        the plug-in that offers it, by kind and name; ours are not in it.
    by_hand
        the plug-ins that were loaded by hand, in their order.
    discovered
        whether the entry points of installed packages were loaded.
    """

    bases: dict[str, type] = field(default_factory=dict)
    makers: dict[tuple[str, str], Maker] = field(default_factory=dict)
    modules: dict[tuple[str, str], str] = field(default_factory=dict)
    by_hand: list[str] = field(default_factory=list)
    discovered: bool = False


_offers = _Offers()


def offer_own(kind: str, base: type, makers: Iterable[Maker]) -> None:
    """List what a room of this package offers.

    Parameters
    ----------
    base
        the class that all things of this kind are instances of.
    makers
        functions, and classes derived from the base; other classes, and the base itself, are passed over.
    """
    _offers.bases[kind] = base
    for maker in makers:
        if not isinstance(maker, type) or (issubclass(maker, base) and maker is not base):
            _offers.makers[kind, maker.__name__] = maker


def load(module: str | ModuleType) -> dict[str, list[str]]:
    """Load a plug-in: import the module, and make what it lists in ``__all__`` known by name.

    Returns
    -------
    the names it offers, by kind.

    Raises
    ------
    ValueError
        the module cannot be imported, offers nothing, lists a name that it does not have, or offers one that is taken.

    Warns
    -----
    UserWarning
        a name in ``__all__`` is of no known kind, such as a function without a return annotation.

    Examples
    --------
    >>> load("no_such_module")
    Traceback (most recent call last):
    ...
    ValueError: the plug-in 'no_such_module' cannot be loaded: there is no such module
    """
    name = module.__name__ if isinstance(module, ModuleType) else module
    if not isinstance(name, str) or not MODULE.fullmatch(name):
        raise ValueError(f"plugin is {checks.shown(name)}, not the name of a module")
    offered = _add(name, module if isinstance(module, ModuleType) else _imported(name))
    if name not in _offers.by_hand:
        _offers.by_hand.append(name)
    return offered


def load_all(modules: Iterable[str]) -> None:
    """Load plug-ins as another process has them, where that is not done yet."""
    for name in modules:
        if name not in _offers.by_hand:
            load(name)


def loaded() -> tuple[str, ...]:
    """The plug-ins that were loaded by hand: what another process must load to know the same names."""
    return tuple(_offers.by_hand)


def modules() -> set[str]:
    """The plug-ins that offer something here, loaded by hand or installed."""
    _discover()
    return set(_offers.modules.values())


def makers(kind: str) -> Makers:
    """All that there is of a kind, by name: ours first, then those of plug-ins."""
    _open_rooms()
    _discover()
    return MappingProxyType({name: maker for (other, name), maker in _offers.makers.items() if other == kind})


def find(kind: str, name: Any) -> Maker:
    """What makes the thing called ``name``; hyphens count as underscores.

    Raises
    ------
    UnknownNameError
        nothing of this kind is called so, here or in a plug-in.
    """
    plain = name.replace("-", "_") if isinstance(name, str) else ""
    if not is_known(kind, plain):
        names = makers(kind)
        raise UnknownNameError(kind, name, checks.closest(plain, names) or f"there are {', '.join(sorted(names))}")
    return _offers.makers[kind, plain]


def is_known(kind: str, name: str) -> bool:
    """Whether something of a kind is called so; looks at entry points too."""
    _open_rooms()
    key = kind, name.replace("-", "_")
    if key not in _offers.makers:
        _discover()
    return key in _offers.makers


def module_of(kind: str, name: str) -> str | None:
    """The plug-in that offers a thing; None for our own, and for what nobody offers."""
    return _offers.modules.get((kind, name.replace("-", "_")))


def kind_of(thing: Any) -> str | None:
    """The kind of a thing that was made, or of a class; None for anything else."""
    for kind, base in _offers.bases.items():
        if isinstance(thing, base) or (isinstance(thing, type) and issubclass(thing, base)):
            return kind
    return None


def _open_rooms() -> None:
    """Have the rooms of this package offer what they have: importing one does that, once."""
    for room in ROOMS.values():
        import_module(f"aomultirl.{room}")


def _imported(name: str) -> ModuleType:
    try:
        return import_module(name)
    except Exception as error:  # a stranger's module may raise anything
        is_missing = isinstance(error, ModuleNotFoundError) and f"{name}.".startswith(f"{error.name}.")
        why = "there is no such module" if is_missing else f"{type(error).__name__}: {checks.cut(str(error), 200)}"
        if is_missing and name.endswith(FILE_ENDING):
            why += f"; leave out the {FILE_ENDING!r}: a plug-in is named as in an import, {name[: -len(FILE_ENDING)]!r}"
        raise ValueError(f"the plug-in {name!r} cannot be loaded: {why}") from error


def _add(name: str, module: ModuleType) -> dict[str, list[str]]:
    """Make all of a module known, or nothing of it; names in ``__all__`` that are of no known kind are warned of."""
    _open_rooms()
    offered: dict[tuple[str, str], Maker] = {}
    unknown: list[str] = []
    for word in getattr(module, "__all__", ()):
        if not hasattr(module, word):
            raise ValueError(
                f"the plug-in {name!r} lists {checks.shown(word)} in its __all__, and has nothing so called"
            )
        maker = getattr(module, word)
        kind = _offered_kind(maker)
        if kind is None:
            unknown.append(f"{word!r} of the plug-in {name!r} {_why_unknown(maker)}")
            continue
        key = kind, maker.__name__
        if _offers.makers.get(key, maker) is not maker:
            owner = f"the plug-in {_offers.modules[key]!r}" if key in _offers.modules else "aomultirl"
            words = f"offers the {kind} {maker.__name__!r}, and {owner} has another of that name; rename one of them"
            raise ValueError(f"the plug-in {name!r} {words}")
        offered[key] = maker
    if not offered:
        words = "its __all__ lists no world, stream, agent, learner or explorer"
        raise ValueError(f"the plug-in {name!r} offers nothing: {'; '.join([words, *unknown])}")
    for sentence in unknown:
        warnings.warn(sentence, stacklevel=3)
    _offers.modules.update(dict.fromkeys(offered.keys() - _offers.makers.keys(), name))
    _offers.makers.update(offered)
    kinds = {kind for kind, _ in offered}
    return {kind: [word for other, word in offered if other == kind] for kind in KINDS if kind in kinds}


def _why_unknown(maker: Any) -> str:
    """The rest of a sentence about something in ``__all__`` that is of no kind: what would make it known."""
    if inspect.isfunction(maker):
        return "cannot be made by name: a function is a world where it is annotated to return a ModelSet"
    if isinstance(maker, type):
        return "cannot be made by name: it is not derived from Stream, Agent, Learner or Explorer"
    return "cannot be made by name: it is neither a class nor a function"


def _offered_kind(maker: Any) -> str | None:
    """The kind of what a class or a function makes; a base itself makes nothing."""
    if isinstance(maker, type):
        return None if maker in _offers.bases.values() else kind_of(maker)
    if not inspect.isfunction(maker):
        return None
    made = maker.__annotations__.get("return")
    return "world" if made is _offers.bases["world"] or (isinstance(made, str) and made.endswith("ModelSet")) else None


def _discover() -> None:
    """Load what installed packages offer, once; what cannot be loaded is said, and left out."""
    if _offers.discovered:
        return
    _offers.discovered = True
    from importlib.metadata import entry_points  # takes a while, and most programs use our own names only

    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        try:
            _add(point.module, _imported(point.module))
        except ValueError as error:
            warnings.warn(f"{error} (entry point {point.name!r} of an installed package)", stacklevel=2)
