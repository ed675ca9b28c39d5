"""Settings of the documentation; `make docs` builds it with warnings as errors and without a network."""

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "sgclearn"
author = "The sgclearn developers"
copyright = "2026, The sgclearn developers"
release = version = installed_version("sgclearn")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",  # formulas without a network
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "command_help",
]
nitpicky = False
exclude_patterns = [
    "_build",
    "_templates",
    "defaults-table.rst",
    "label-amounts-table.rst",
    "lnet-settings-table.rst",
    "benchmarks-table.rst",
    "benchmarks-xeon-table.rst",
    "propagation-tried-table.rst",
]
templates_path = ["_templates"]
default_role = "code"

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
# numpydoc would list the members a second time, scikit-learn's inherited ones among them.
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "abort_on_example_error": True,
}
# The gallery keeps objects in its settings that Sphinx cannot cache; nothing is lost but a little time.
suppress_warnings = ["config.cache"]

html_theme = "pydata_sphinx_theme"
html_title = "sgclearn"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_sidebars = {"**": []}  # the rooms are in the header; the room goes to the text
html_show_sourcelink = False
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 5,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
}
