"""What all pages of ``--help`` look like, beyond what Typer makes of them.

Flags have no type beside them, arguments that are needed stand in the first line without braces, and paragraphs are
as wide as the terminal.
"""

from typing import Any

from typer.core import TyperCommand, TyperGroup

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
        return _without_types_of_flags(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]


class Commands(TyperGroup):
    """The commands together."""

    def list_commands(self, ctx: Any) -> list[str]:
        names = super().list_commands(ctx)
        return [*(name for name in ORDER if name in names), *(name for name in names if name not in ORDER)]

    def get_params(self, ctx: Any) -> Any:
        return _without_types_of_flags(super().get_params(ctx))


def _without_types_of_flags(parameters: Any) -> Any:
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    return parameters


def in_paragraphs(words: str) -> str:
    """A docstring whose paragraphs are lines, but for examples, which are lines of their own.

    >>> in_paragraphs("One thing\\nand another.\\n\\nExamples:\\n[bold]aomultirl list[/bold]")
    'One thing and another.\\n\\nExamples:\\n[bold]aomultirl list[/bold]'
    """
    paragraphs = [" ".join(map(str.strip, paragraph.split("\n"))) for paragraph in words.strip().split("\n\n")]
    return "\n\n".join(paragraphs).replace(f" {EXAMPLE}", f"\n{EXAMPLE}")
