"""What people look at: tables, figures, pages, animations."""

from aomultirl.reports.page import write_page

__all__ = ["write_page"]
