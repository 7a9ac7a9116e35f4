"""What ``experiment.json`` and the manifests of cells may say: one schema, for everybody who reads a folder of results.

Whatever is of another type, out of range, missing or nested too deeply is an
:class:`~aomultirl.files.UnfitFileError`, whose sentence names the key.  Names of cells are names of files, so they are
digests and nothing else: none leads out of the folder.  Keys that nobody knows are ignored in a manifest and kept in
``experiment.json``, where every experiment has some of its own.
"""

import json
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal

from aomultirl import checks, extras, files, plugins

with extras.needs("folders of results"):
    from pydantic import (
        AfterValidator,
        BaseModel,
        ConfigDict,
        Field,
        JsonValue,
        StringConstraints,
        TypeAdapter,
        ValidationError,
        field_validator,
    )

from aomultirl.experiments.cells import Cell
from aomultirl.worlds.gymnasium_import import check_registered

MARK = "experiment.json"
MOST_BYTES = 64 * 2**20
"""Of a manifest, and of ``experiment.json``: room for the names of two million cells."""
MOST_WORDS = 160
"""Characters of what is wrong, at most."""


def _encodable(value: Any) -> Any:
    """JSON can hold halves of characters, which no file and no page can."""
    if isinstance(value, str) and value.isascii():
        return value
    try:
        (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)).encode()
    except UnicodeEncodeError:
        raise ValueError("it holds half a character, which cannot be written") from None
    return value


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("it holds characters that cannot be printed")
    return text


Text = Annotated[str, AfterValidator(_encodable)]
Json = Annotated[JsonValue, AfterValidator(_encodable)]
Name = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{20}$")]
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Word = Annotated[str, StringConstraints(min_length=1, max_length=checks.LONGEST_NAME), AfterValidator(_printable)]
"""What people call something: a terminal can show it."""
Label = Annotated[str, StringConstraints(min_length=1, max_length=checks.LONGEST_LABEL), AfterValidator(_printable)]
"""What reports call an agent: a word, with the parameters that set the agent apart from others."""
Count = Annotated[int, Field(ge=0, lt=2**63)]
Seconds = Annotated[float, Field(ge=0.0, le=1e10, allow_inf_nan=False)]


class StrictRecord(BaseModel):
    """Nothing is converted: a number is not a text, and "1" is not a number."""

    model_config = ConfigDict(strict=True, frozen=True)


class Part(StrictRecord):
    """A world, a stream or an agent: its name, and the parameters that were given."""

    model_config = ConfigDict(extra="forbid")

    name: Word
    parameters: dict[Text, Json]


class CellSpecification(StrictRecord):
    """What :meth:`Cell.specification` gives."""

    model_config = ConfigDict(extra="forbid")

    world: Part
    stream: Part
    agent: Part
    episodes: Annotated[int, Field(ge=1, lt=2**63)]
    seed: Annotated[int, Field(ge=0)]
    number: Count
    label: Label
    record: list[Literal["regret", "evaluation", "estimate_error"]]

    @field_validator("world")
    @classmethod
    def _names_no_module(cls, world: Part) -> Part:
        if world.name.replace("-", "_") == "from_gymnasium":
            try:
                check_registered(world.parameters.get("envs"))
            except ValueError:
                raise ValueError("a file may not name a module to import") from None
        return world


class _Manifest(StrictRecord):
    """What every manifest says."""

    cell: Name
    specification: CellSpecification
    run_seed: Count
    version: Text
    commit: Text | None = None
    notes: list[Text] = []

    def to_cell(self) -> Cell:
        """The cell that the specification describes."""
        return Cell(**self.specification.model_dump())


class Done(_Manifest):
    """The manifest of a cell that was computed."""

    state: Literal["done"]
    sha256: Digest
    cpu_seconds: Seconds
    wall_seconds: Seconds
    compiling_seconds: Seconds = 0.0
    source: Text
    versions: dict[Text, Text]
    host: Text
    finished: Text


class Failed(_Manifest):
    """The manifest of a cell that went wrong; one whose process was lost has no times and no host."""

    state: Literal["failed"]
    error: Text
    traceback: Text = ""
    cpu_seconds: Seconds = 0.0
    wall_seconds: Seconds = 0.0
    compiling_seconds: Seconds = 0.0
    source: Text = ""


Manifest = Done | Failed
_MANIFEST: TypeAdapter[Manifest] = TypeAdapter(Annotated[Manifest, Field(discriminator="state")])


class ExperimentMark(StrictRecord):
    """What an experiment is: the content of ``experiment.json``.

    kind
        "sweep" for an experiment of a specification, "paper" for the paper's.
    cells
        the names of all its cells.
    plugins
        the modules that offer what the cells are made of; nothing is imported because it stands here.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Json]

    kind: Word
    version: Text
    cells: list[Name]
    name: Word | None = None
    plugins: list[Word] = []

    @property
    def title(self) -> str:
        """What people call the experiment."""
        return self.name or self.kind

    def identity(self) -> dict[str, Any]:
        """All that the file says."""
        return self.model_dump(exclude_unset=True)


def read_manifest(path: Path) -> Manifest:
    """The manifest in a file; :class:`~aomultirl.files.UnfitFileError` for anything else."""
    content = files.read_regular(path, MOST_BYTES)
    with suppress(ValidationError):  # quicker; what it refuses is refused below, or taken, and in our words
        return _MANIFEST.validate_json(content)
    try:
        return _MANIFEST.validate_python(_parsed(path, content))
    except ValidationError as error:
        raise files.UnfitFileError(path, f"is not the manifest of a cell: {first_fault(error)}") from None


def read_mark(folder: Path) -> ExperimentMark:
    """What the experiment in ``folder`` is; refuses a folder that is not ours."""
    try:
        content = _parsed(folder / MARK, files.read_regular(folder / MARK, MOST_BYTES))
    except FileNotFoundError:
        some = min((repr(path.name) for path in folder.iterdir()), default="nothing")
        raise ValueError(
            f"{str(folder)!r} is not a folder of results: it holds {some:.99}, but no {MARK!r}; name another folder"
        ) from None
    except OSError as error:
        raise files.UnfitFileError(folder / MARK, f"cannot be read: {error.strerror or error}") from None
    try:
        return ExperimentMark.model_validate(content)
    except ValidationError as error:
        words = f"does not describe an experiment of aomultirl: {first_fault(error)}"
        raise files.UnfitFileError(folder / MARK, words) from None


def _parsed(path: Path, content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise files.UnfitFileError(path, f"cannot be read: {error}"[:MOST_WORDS]) from None


def first_fault(error: ValidationError) -> str:
    """The first thing that does not fit a schema: its place, and the beginning of what is there."""
    first = error.errors(include_url=False, include_context=False)[0]
    place = ".".join(map(str, first["loc"][:6])) or "it"
    return f"{place} is {first['input']!r:.60}: {first['msg']}"[:MOST_WORDS]


def plugins_missing(folder: Path) -> list[str]:
    """The plug-ins that the results in a folder name and that are not loaded; empty where there is no such folder."""
    try:
        named = read_mark(folder).plugins
    except (OSError, ValueError):
        return []
    return [module for module in named if module not in plugins.modules()]
