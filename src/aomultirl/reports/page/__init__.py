"""The report page: anyone's runs as one HTML file that needs nothing else, not even a network.

    runs -> data (curves, intervals, thinning) -> charts, details, text -> assembly (page.html, page.css, page.js)

A chart is a plain dictionary: ``traces`` and ``layout`` as Plotly knows them, and ``views``, what the traces show for
each choice of the page's controls.  ``page.js`` draws the view that is chosen and nothing else.
"""

from aomultirl.reports.page.assembly import make_page, write_page
from aomultirl.reports.page.data import Run
from aomultirl.reports.page.sweeping import Sweep

__all__ = ["Run", "Sweep", "make_page", "write_page"]
