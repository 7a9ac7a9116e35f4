"""What all pages of ``--help`` look like, beyond what Typer makes of them.

Flags and arguments have no type beside them, arguments that are needed stand in the first line without braces, and
paragraphs are as wide as the terminal.
"""

from typing import Any

from typer.core import TyperArgument, TyperCommand, TyperGroup

EXAMPLE = "[bold]aomultirl "
"""How a line with an example begins, in the docstring of a command: such lines stay lines."""


ORDER = (
    *("watch", "list", "inspect", "new", "run", "live", "status", "verify"),
    *("compare", "report", "reproduce", "lower-bounds", "bounds"),
    *("warm", "bench", "completion"),
)
"""The commands in the order in which somebody new may want them; others follow."""


class Command(TyperCommand):
    """A command with such a page."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.help = in_paragraphs(self.help or "")

    def get_params(self, ctx: Any) -> Any:
        return _without_needless_types(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]


class Commands(TyperGroup):
    """The commands together."""

    def list_commands(self, ctx: Any) -> list[str]:
        names = super().list_commands(ctx)
        return [*(name for name in ORDER if name in names), *(name for name in names if name not in ORDER)]

    def get_params(self, ctx: Any) -> Any:
        return _without_needless_types(super().get_params(ctx))


def _without_needless_types(parameters: Any) -> Any:
    """The parameters, where flags and arguments, whose names such as FOLDER say enough, are shown without a type."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
        elif isinstance(parameter, TyperArgument):
            parameter.display_type_rich = _no_type  # type: ignore[method-assign]
    return parameters


def _no_type(ctx: Any) -> None:
    """What stands in the column of types where there is nothing to say."""


def in_paragraphs(words: str) -> str:
    """A docstring whose paragraphs are lines, but for examples, which are lines of their own.

    >>> in_paragraphs("One thing\\nand another.\\n\\nExamples:\\n[bold]aomultirl list[/bold]")
    'One thing and another.\\n\\nExamples:\\n[bold]aomultirl list[/bold]'
    """
    paragraphs = [" ".join(map(str.strip, paragraph.split("\n"))) for paragraph in words.strip().split("\n\n")]
    return "\n\n".join(paragraphs).replace(f" {EXAMPLE}", f"\n{EXAMPLE}")
