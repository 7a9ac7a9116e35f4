"""Figures as files: each whole or not at all, without dates and random names: the same figure, the same bytes."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from aomultirl import files

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("png", "svg", "pdf")
MADE_BY = "aomultirl"
METADATA = {
    "png": {"Software": MADE_BY},
    "svg": {"Creator": MADE_BY, "Date": None},
    "pdf": {"Creator": MADE_BY, "CreationDate": None},
}


def check_path(path: Path) -> str:
    """The format that a file's name asks for; refuses names and folders that cannot be written."""
    kind = path.suffix.lstrip(".").lower()
    if kind not in FORMATS:
        raise ValueError(f"{path.name!r} does not end in a format for figures: .png, .svg, .pdf")
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {str(path.parent)!r} to write {path.name!r} in")
    return kind


def save(figure: "Figure", path: Path, dpi: int = 200) -> None:
    """Write the figure under a temporary name and rename it, so that no half-written file is ever left."""
    from matplotlib import rc_context

    kind = check_path(path)
    with files.whole(path) as partial, rc_context({"svg.hashsalt": MADE_BY, "pdf.fonttype": 42}):
        figure.savefig(partial, format=kind, dpi=dpi, metadata=METADATA[kind])


def save_all(
    figure: "Figure", folder: Path, stem: str, kinds: Sequence[str] = FORMATS, *, dpi: int = 300
) -> list[Path]:
    """Write the figure once in each format, under one name; the paths."""
    paths = named(folder, stem, kinds)
    for path in paths:
        save(figure, path, dpi)
    return paths


def named(folder: Path, stem: str, kinds: Iterable[str]) -> list[Path]:
    """The paths of a figure in each format."""
    return [folder / f"{stem}.{kind}" for kind in kinds]


def check_ours(paths: Iterable[Path]) -> None:
    """Refuse to replace a file that is no figure of ours."""
    for path in paths:
        if os.path.lexists(path) and MADE_BY.encode() not in files.read_beginning(path, 8192):
            raise ValueError(f"{str(path)!r} is a figure that aomultirl did not make; move it, or write elsewhere")
