"""Sphinx configuration.  Pages of ``docs/tutorials`` are run when they are built, and kept until sources change."""

import hashlib
import os
from pathlib import Path

import aomultirl

project = "aomultirl"
author = "The aomultirl developers"
copyright = "2026, The aomultirl developers"
version = release = aomultirl.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode", "sphinx_design"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3  # so that links to headings are checked
exclude_patterns = ["_build"]

SOURCES = Path(aomultirl.__file__).parent
STATE = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(SOURCES.rglob("*.py")))).hexdigest()[:16]
"""Of the package: what its cells print and draw is kept under this name, so no page shows what older sources did."""
nb_execution_mode = "cache"
nb_execution_cache_path = str(Path(__file__).parent / "_build" / ".executed" / STATE)
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_merge_streams = True
nb_execution_timeout = 600  # seconds; where nothing is compiled yet, a page compiles
nb_output_stderr = "remove-warn"  # a warning on a page is a mistake, and fails the build
os.environ["AOMULTIRL_QUIET"] = "1"  # but not the word on compiling

html_theme = "furo"
html_title = "aomultirl"
html_static_path = ["_static"]
html_css_files = ["pages.css"]

autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_rtype = False
