"""Keywords that a constructor takes for somebody else: they stand in its signature, and are written nowhere twice.

An agent takes the fields of its learner and of its explorer as keywords of its own, so that
``AOMultiRL(..., bonus="released")`` is ``AOMultiRL(..., learner=UCBVI(bonus="released"))``, and one value given in the
learner and another beside it are refused; and a variant of an agent takes the keywords of the agent that it is a
variant of.
"""

import inspect
from collections.abc import Callable, Collection
from dataclasses import MISSING, Field, fields, replace
from functools import wraps
from typing import Any, TypeVar, cast

from aomultirl import checks, descriptions

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., None])


def forwarding(*makers: Callable[..., Any], without: Collection[str] = (), unset: bool = False) -> Callable[[F], F]:
    """Decorate ``__init__(self, ..., **keywords)``: its signature lists the keywords, and others are refused.

    Parameters
    ----------
    makers
        classes whose constructors' parameters are the keywords.
    without
        names that are not taken over.
    unset
        the defaults are None, which stands for "as it is": for keywords that change a part which is a parameter too.

    Examples
    --------
    >>> class Plain:
    ...     def __init__(self, size: int, colour: str = "red") -> None: ...
    >>> class Special(Plain):
    ...     @forwarding(Plain, without=["size"])
    ...     def __init__(self, **keywords: Any) -> None:
    ...         super().__init__(3, **keywords)
    >>> inspect.signature(Special)
    <Signature (*, colour: str = 'red') -> None>
    """

    def sign(function: F) -> F:
        own = inspect.signature(function)
        listed = {name: one for name, one in own.parameters.items() if one.kind is not inspect.Parameter.VAR_KEYWORD}
        for maker in makers:
            for name, parameter in inspect.signature(maker).parameters.items():
                if name not in listed and name not in without:
                    kept = parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
                    hint = parameter.annotation | None if unset else parameter.annotation
                    listed[name] = kept.replace(default=None, annotation=hint) if unset else kept
        signature = own.replace(parameters=list(listed.values()))
        others = [name for name in listed if name != "self"]
        added = [name for name in listed if name not in own.parameters]
        inherited = {name for maker in makers for name in getattr(getattr(maker, "__init__", None), "unset", ())}

        @wraps(function)
        def construct(self: Any, *values: Any, **keywords: Any) -> None:
            for name in keywords:
                if name not in listed:
                    hint = checks.closest(name, others) or f"it takes {', '.join(others)}"
                    raise TypeError(f"{type(self).__name__} takes no keyword {checks.shown(name)}; {hint}")
            signature.bind(self, *values, **keywords)  # a TypeError, as for any other function
            function(self, *values, **keywords)

        construct.__signature__ = signature  # type: ignore[attr-defined]
        construct.unset = frozenset(name for name in added if unset or name in inherited)  # type: ignore[attr-defined]
        return cast(F, construct)

    return sign


def configured(part: T, keywords: dict[str, Any]) -> T:
    """``part``, a dataclass, with the fields that ``keywords`` has and are not None; they are taken out of it.

    Raises
    ------
    Refusal
        a field was given in ``part`` already, as it is not the default there, and the keyword has another value.

    Examples
    --------
    >>> from aomultirl.learning import UCBVI
    >>> configured(UCBVI(cap="remaining"), {"bonus": "released"})
    UCBVI(bonus='released', bonus_scale=1.0, cap='remaining')
    """
    changes: dict[str, Any] = {}
    for field in fields(part):  # type: ignore[arg-type]
        value = keywords.pop(field.name, None)
        if value is None:
            continue
        inside = getattr(part, field.name)
        if not _same(inside, _default(field)) and not _same(inside, value):
            given = f"{type(part).__name__}({field.name}={checks.shown(inside)})"
            raise checks.Refusal(field.name, f"is given twice: as {checks.shown(value)}, and in {given}; leave out one")
        changes[field.name] = value
    return replace(part, **changes)  # type: ignore[type-var]


def _default(field: Field[Any]) -> Any:
    """What a field of a dataclass is where nobody gives it; MISSING where it must be given."""
    return field.default if field.default_factory is MISSING else field.default_factory()


def _same(value: Any, other: Any) -> bool:
    """Whether two values of a parameter are the same as descriptions have them, also where they are arrays."""
    return bool(descriptions.data(value) == descriptions.data(other))
