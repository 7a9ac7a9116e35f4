"""What people look at: tables, figures, pages, animations."""

from typing import TYPE_CHECKING, Any

from aomultirl import extras

if TYPE_CHECKING:
    from aomultirl.reports.page import write_page

__all__ = ["write_page"]

extras.check("reports", "rich", "jinja2", "matplotlib", "plotly")


def __getattr__(name: str) -> Any:
    """The page is imported when somebody asks for it: whoever runs an experiment needs none of its packages."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from aomultirl.reports.page import write_page

    return write_page
