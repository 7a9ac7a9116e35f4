"""Sphinx configuration."""

import aomultirl

project = "aomultirl"
author = "The aomultirl developers"
copyright = "2026, The aomultirl developers"
version = release = aomultirl.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode", "sphinx_design"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3  # so that links to headings are checked
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = "aomultirl"

autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_rtype = False
