"""The report page: anyone's runs as one HTML file that needs nothing else, not even a network.

    runs -> groups -> charts and tables, as records -> report (what the template is told) -> rendering

The templates hold all words that do not depend on the runs.  A chart has a view for each choice of the page's
controls; ``page.js`` draws the view that is chosen and nothing else.
"""

from aomultirl.reports.page.groups import Run
from aomultirl.reports.page.report import make_page, write_page
from aomultirl.reports.page.sweep_section import Sweep

__all__ = ["Run", "Sweep", "make_page", "write_page"]
