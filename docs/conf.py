"""Sphinx's settings of the manual. `make docs` lays out its sources first (tools/stage.py)."""

from __future__ import annotations

import os

import iolens

project = "iolens"
author = "The iolens developers"
copyright = "The iolens developers, BSD-3-Clause"
version = release = iolens.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton"]
root_doc = "index"
nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"(pd|pandas|np|numpy|matplotlib|collections|pathlib|typing)\..*|Limits|Path|Mapping|Sequence")
]

myst_enable_extensions = ["attrs_inline", "colon_fence"]
myst_heading_anchors = 5

default_role = "code"
smartquotes = False  # The typographer of Sphinx would join the two hyphens of an option, so smart quotes are off.
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = f"iolens {release}"
html_baseurl = os.environ.get("IOLENS_DOCS_URL", "")
html_static_path = ["style"]
html_css_files = ["manual.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f5f8b", "color-brand-content": "#1f5f8b"},
    "dark_css_variables": {"color-brand-primary": "#7db8dd", "color-brand-content": "#7db8dd"},
}
copybutton_exclude = ".linenos, .gp, .go"
copybutton_selector = "div:not(.output) > div.highlight > pre"
linkcheck_timeout = 20
linkcheck_anchors = False
