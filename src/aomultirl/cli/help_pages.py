"""What all pages of ``--help`` look like, beyond what Typer makes of them.

Flags and arguments have no type beside them, what follows an option is a word, arguments that are needed stand in the
first line without braces, and paragraphs are as wide as the terminal.
"""

from typing import Any

from typer.core import TyperCommand, TyperGroup

EXAMPLE = "[bold]aomultirl "
"""How a line with an example begins, in the docstring of a command: such lines stay lines."""
WORDS = {"int": "N", "integer": "N", "float": "NUMBER", "str": "NAME", "text": "NAME"}
"""What follows an option, by the name of its type, where the option does not say it."""


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
        return _for_people(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]


class Commands(TyperGroup):
    """The commands together."""

    def list_commands(self, ctx: Any) -> list[str]:
        names = super().list_commands(ctx)
        return [*(name for name in ORDER if name in names), *(name for name in names if name not in ORDER)]

    def get_params(self, ctx: Any) -> Any:
        return _for_people(super().get_params(ctx))


def _for_people(parameters: Any) -> Any:
    """Flags and arguments without a type beside them, and options with a word for what follows."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
        elif parameter.param_type_name == "argument":
            parameter.display_type_rich = lambda ctx: None
        elif parameter.metavar is None:
            parameter.metavar = WORDS.get(_type_of(parameter))
    return parameters


def _type_of(parameter: Any) -> str:
    """The name of the type of an option; Typer took Click's words for them before it had its own."""
    if descriptor := getattr(parameter, "type_descriptor", None):
        return str(getattr(descriptor.annotation, "__name__", ""))
    return str(getattr(parameter.type, "name", ""))


def in_paragraphs(words: str) -> str:
    """A docstring whose paragraphs are lines, but for examples, which are lines of their own.

    >>> in_paragraphs("One thing\\nand another.\\n\\nExamples:\\n[bold]aomultirl list[/bold]")
    'One thing and another.\\n\\nExamples:\\n[bold]aomultirl list[/bold]'
    """
    paragraphs = [" ".join(map(str.strip, paragraph.split("\n"))) for paragraph in words.strip().split("\n\n")]
    return "\n\n".join(paragraphs).replace(f" {EXAMPLE}", f"\n{EXAMPLE}")
