"""What pydantic finds wrong with a specification, as one sentence."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from aomultirl import checks

if TYPE_CHECKING:
    from pydantic import ValidationError

TABLES = ("worlds", "streams", "agents")
EXPECTED = {
    "int_type": "a whole number",
    "string_type": "a text",
    "list_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
}


def sentence(error: "ValidationError", document: Mapping[str, Any], valid: Sequence[str]) -> str:
    """The first error, keys that are not known before all others, and how many more there are."""
    errors = sorted(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return _sentence(errors[0], document, valid) + more


def _sentence(error: Any, document: Mapping[str, Any], valid: Sequence[str]) -> str:
    key, kind, value, context = _key(error["loc"], document), error["type"], error["input"], error.get("ctx", {})
    if kind == "extra_forbidden":
        hint = checks.closest(key, valid) or f"it takes {', '.join(valid)}"
        return f"{key} is not known to a specification; {hint}"
    if kind == "missing":
        return f"{key} is missing"
    if kind in ("too_short", "string_too_short"):
        return f"{key} is an empty {'list' if kind == 'too_short' else 'text'}"
    if kind == "list_type" and key in TABLES:
        return f"{key} must be a list of tables, each under [[{key}]]"
    if kind == "greater_than_equal":
        return f"{key} must be at least {context['ge']}, not {checks.shown(value)}"
    if kind in EXPECTED:
        return f"{key} must be {EXPECTED[kind]}, not {checks.shown(value)}"
    return f"{key} is {checks.shown(value)}: {error['msg']}"


def _key(place: Sequence[int | str], document: Any) -> str:
    """``agents[1].failure``; a value that stands for a list of one has no number."""
    key, here = "", document
    for step in place:
        if isinstance(step, int):
            if isinstance(here, list):
                key += f"[{step}]"
                here = here[step]
        else:
            key += f".{step}" if key else step
            here = here.get(step) if isinstance(here, dict) else None
    return checks.cut(key)
