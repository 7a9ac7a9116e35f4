"""The examples that come with the package: what there is, and copies for people to change.

An installed package has them in its folder ``examples``; a checkout has them beside ``src``, where they are written.
"""

import ast
import os
import re
from collections.abc import Iterator, Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

import aomultirl
from aomultirl import checks, files

SPECIFICATION, SCRIPT = ".toml", ".py"
"""How the names of examples end: a file for ``aomultirl run``, and a program or a plug-in."""


class Example(NamedTuple):
    """One example.

    Attributes
    ----------
    name
        its path in the folder of examples, such as ``"extending/q_learning.py"``.
    summary
        the first sentence of what the file says of itself.
    names
        the names of all files that it consists of: its own, and those that it imports from beside it.
    """

    name: str
    summary: str
    names: tuple[str, ...]


def examples() -> list[Example]:
    """All examples: specifications first, then programs and plug-ins, by name.

    Examples
    --------
    >>> [example.summary for example in examples() if example.name == "quick.toml"]
    ['Two sets of worlds and three agents: a first look.']
    >>> [example.names for example in examples() if example.name == "ward.py"]
    [('ward.py', 'ward_numbers.py', 'ward_report.py')]
    """
    texts = _texts()
    beside = {name: _imported_beside(name, texts) for name in texts}
    parts = {other for others in beside.values() for other in others}
    whole = sorted(set(texts) - parts, key=lambda name: (not name.endswith(SPECIFICATION), name.count("/"), name))
    return [Example(name, _first_sentence(name, texts[name]), (name, *beside[name])) for name in whole]


def write(name: str, out: str | os.PathLike[str] = ".") -> list[Path]:
    """Copy an example into a folder, which is made if it is missing; nothing that is there is overwritten.

    Parameters
    ----------
    name
        of the example, as in :func:`examples`.
    out
        the folder.

    Returns
    -------
    list of Path
        the files that were written, that of the example first.
    """
    found = {example.name: example for example in examples()}
    if name not in found:
        hint = checks.closest(name, found) or f"there are {', '.join(found)}"
        raise checks.Refusal("name", f"is {checks.shown(name)}, and no example is called so; {hint}")
    folder = checks.path("out", out)
    files.check_folder("out", folder)
    copies = {folder / each.rpartition("/")[2]: each for each in found[name].names}
    for path in copies:
        if os.path.lexists(path):
            raise ValueError(f"out is {str(folder)!r}, in which {path.name!r} is already there")
    folder.mkdir(parents=True, exist_ok=True)
    texts = _texts()
    for path, each in copies.items():
        files.write_whole(path, texts[each])
    return list(copies)


def _texts() -> dict[str, str]:
    """The texts of all files of the examples, by name."""
    return dict(_files_in(_folder()))


def _folder() -> Traversable:
    package = resources.files(aomultirl)
    for folder in (package / "examples", Path(str(package)).parents[1] / "examples"):
        if folder.joinpath("quick.toml").is_file():
            return folder
    raise ValueError("this installation of aomultirl lacks its examples; install it anew")


def _files_in(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Names and texts of the examples in a folder and in those inside it."""
    for place in folder.iterdir():
        if place.is_dir():
            yield from _files_in(place, f"{prefix}{place.name}/")
        elif place.name.endswith((SPECIFICATION, SCRIPT)):
            yield prefix + place.name, place.read_text(encoding="utf-8")


def _imported_beside(name: str, texts: Mapping[str, str]) -> list[str]:
    """The names of the files in an example's own folder that it imports from, and of those that these import from."""
    found = [name] if name.endswith(SCRIPT) else []
    for script in found:  # which grows
        for module in _modules(texts[script]):
            other = f"{name.rpartition('/')[0]}/{module}{SCRIPT}".lstrip("/")
            if other in texts and other not in found:
                found.append(other)
    return found[1:]


def _modules(text: str) -> Iterator[str]:
    """The names of the modules that a script imports, or imports from."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def _first_sentence(name: str, text: str) -> str:
    """What a file says of itself: the first sentence of a script's docstring, or of a specification's comment."""
    if name.endswith(SCRIPT):
        said = ast.get_docstring(ast.parse(text)) or ""
    else:
        said = "\n".join(line.lstrip("# ") for line in takewhile(lambda line: line.startswith("#"), text.splitlines()))
    return re.split(r"(?<=\.)\s|\n\n", said, maxsplit=1)[0].replace("\n", " ").replace("``", "")
