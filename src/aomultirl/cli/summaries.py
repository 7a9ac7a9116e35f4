"""The first sentence of everything that can be named, read from the sources: importing them takes much longer.

What a room offers stands where it calls ``plugins.offer_own``: names, or all of its ``__all__``.  Each is a function,
or a class derived from the room's base, in the file that it is imported from.  Where a plug-in is there, or something
stands otherwise, :func:`summaries` says None, and whoever asks imports.
"""

import ast
import inspect
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from pathlib import Path

import aomultirl
from aomultirl import plugins

ROOT = Path(aomultirl.__file__).parent
SUITES = ("experiments", "suites")
"""The room of suites, which no plug-in offers."""


def summaries() -> Mapping[str, Mapping[str, str]] | None:
    """By kind, suites last, and name: the beginning of the docstring; None where importing is needed to know.

    Examples
    --------
    >>> found = summaries()
    >>> found and found["stream"]["uniform"]
    'Every world equally likely, each episode anew.'
    """
    if plugins.loaded() or list(entry_points(group=plugins.GROUP)):
        return None
    try:
        rooms = {kind: dict(_offered(_Sources(room))) for kind, room in plugins.ROOMS.items()}
        return {**rooms, "suite": dict(_suites(_Sources(*SUITES)))}
    except (LookupError, OSError, SyntaxError, ValueError):
        return None


class _Sources:
    """The files of a room, as far as somebody asks for them."""

    def __init__(self, *room: str) -> None:
        path = ROOT.joinpath(*room)
        self.main = _parsed(path / "__init__.py" if path.is_dir() else path.with_suffix(".py"))
        self._parsed: dict[str, ast.Module] = {}

    def definition(self, name: str, within: ast.Module | None = None) -> ast.ClassDef | ast.FunctionDef:
        """Where something is defined that a module defines, or imports from elsewhere in the package."""
        module = within or self.main
        for node in module.body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
                return node
            if isinstance(node, ast.ImportFrom) and any(each.name == name for each in node.names):
                return self.definition(name, self._module(node.module or ""))
        raise LookupError(name)

    def derives(self, name: str, base: str, within: ast.Module | None = None) -> bool:
        """Whether a class, which is not the base itself, has the base among those that it is derived from."""
        module = within or self.main
        for node in module.body:
            if isinstance(node, ast.ClassDef) and node.name == name:
                parents = [parent.id for parent in node.bases if isinstance(parent, ast.Name)]
                return base in parents or any(self.derives(parent, base, module) for parent in parents)
            if isinstance(node, ast.ImportFrom) and any(each.name == name for each in node.names):
                ours = (node.module or "").startswith("aomultirl")
                return ours and self.derives(name, base, self._module(node.module or ""))
        return False

    def _module(self, name: str) -> ast.Module:
        if name not in self._parsed:
            path = ROOT.joinpath(*name.split(".")[1:])
            self._parsed[name] = _parsed(path / "__init__.py" if path.is_dir() else path.with_suffix(".py"))
        return self._parsed[name]


def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _offered(sources: _Sources) -> Iterator[tuple[str, str]]:
    for node in sources.main.body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            _, base, makers = node.value.args
            for name in _names(makers, sources.main):
                definition = sources.definition(name)
                if isinstance(definition, ast.FunctionDef) or sources.derives(name, _word(base)):
                    yield name, _summary(definition)


def _names(makers: ast.expr, module: ast.Module) -> list[str]:
    """Names that stand in a tuple, or otherwise those of ``__all__``."""
    if isinstance(makers, ast.Tuple):
        return [_word(each) for each in makers.elts]
    (listed,) = (node.value for node in module.body if isinstance(node, ast.Assign) and _is_all(node))
    return list(ast.literal_eval(listed))


def _is_all(node: ast.Assign) -> bool:
    return any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets)


def _suites(sources: _Sources) -> Iterator[tuple[str, str]]:
    for node in sources.main.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == "SUITES":
            if not isinstance(node.value, ast.Dict):
                raise LookupError("SUITES")
            for key, maker in zip(node.value.keys, node.value.values, strict=True):
                yield _word(key), _summary(sources.definition(_word(maker)))


def _word(node: ast.expr | None) -> str:
    """A name, or a text."""
    word = node.id if isinstance(node, ast.Name) else node.value if isinstance(node, ast.Constant) else None
    if not isinstance(word, str):
        raise LookupError("a name")
    return word


def _summary(definition: ast.ClassDef | ast.FunctionDef) -> str:
    text = inspect.cleandoc(ast.get_docstring(definition) or "")
    return text.split("\n\n")[0].replace("\n", " ")
