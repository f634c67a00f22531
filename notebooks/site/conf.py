"""make site: Sphinx makes the book, build/site, of what assemble.py has laid out."""

import re
import shutil
import time
from pathlib import Path

from docutils import nodes
from math_core import LatexError, LatexToMathML
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

ROOT = Path(__file__).resolve().parents[2]

project = "How do I make a GPU kernel fast?"
html_title = project
root_doc = "README"
include_patterns = ["**.md", "**.ipynb"]
language = "en"
author = "the authors of this book"
copyright = f"{time.strftime('%Y')}, {author}. Code: MIT. Text and figures: CC BY 4.0"
html_last_updated_fmt = "%Y-%m-%d"
html_show_sphinx = False
html_use_index = False
html_show_search_summary = False  # a page from disk may not read another
html_copy_source = False

extensions = ["myst_nb"]
nb_execution_mode = "off"  # make notebooks runs them, and their outputs are stored
nb_mime_priority_overrides = [("html", "image/svg+xml", 0)]
myst_enable_extensions = ["html_image", "dollarmath"]  # a notebook's formulas are $$...$$
# A line that begins with "%" or "+++" is text on GitHub, and so it is here.
myst_disable_syntax = ["myst_line_comment", "myst_block_break", "myst_target"]
myst_fence_as_directive = ["math"]  # those of the other pages are as GitHub has them
myst_update_mathjax = False
myst_heading_anchors = 6  # GitHub's names for headings
# A source page is reached by links, and a page may begin below level 1.
suppress_warnings = [
    "misc.highlighting_failure",
    "myst.header",
    "toc.not_included",
    "toc.not_readable",
]
highlight_language = "none"
pygments_style = "xcode"
pygments_dark_style = "github-dark"

html_theme = "furo"
html_static_path = ["static"]
html_favicon = "static/favicon.svg"
html_css_files = ["book.css"]
# In the order in which they run: figures.js is what the others draw with.
SCRIPTS = ("figures", "lens", "wheel", "occupancy", "race", "warps", "book", "search")
html_js_files = [(f"{name}.js", {"defer": "defer"}) for name in SCRIPTS]
html_search_scorer = str(Path(__file__).with_name("static") / "scorer.js")
FONT = (
    "Charter, 'Bitstream Charter', 'Iowan Old Style', 'Palatino Linotype', Georgia, serif"
)
CODE = "'JetBrains Mono', 'Cascadia Code', Menlo, Consolas, 'DejaVu Sans Mono', monospace"
html_theme_options = {
    "sidebar_hide_name": False,
    "light_css_variables": {
        "font-stack": FONT,
        "font-stack--monospace": CODE,
        "code-font-size": ".79rem",  # a page at a laptop's width has room for 90 columns
        "color-brand-primary": "#6741b8",
        "color-brand-content": "#0b6478",
    },
    "dark_css_variables": {
        "color-brand-primary": "#b197fc",
        "color-brand-content": "#4fc3d4",
    },
}


def described(app, name, template, context, doctree):
    """A page's description is its first paragraph; a link's preview shows it."""
    if doctree is None:
        return
    found = next(
        (p.astext() for p in doctree.findall(nodes.paragraph) if len(p.astext()) > 60),
        project,
    )
    words = re.sub(r"\s+", " ", found)[:200].replace('"', "'").replace("<", "&lt;")
    context["metatags"] = (
        f'{context.get("metatags", "")}<meta name="description" content="{words}">'
    )


class Formulas(SphinxTransform):
    """Formulas become MathML, which browsers draw and screen readers say, without a script."""

    default_priority = 400  # before the words of a page are collected, for the search

    def apply(self, **options):
        typeset = LatexToMathML(fancy_error=False).convert_with_local_state
        for node in [
            *self.document.findall(nodes.math),
            *self.document.findall(nodes.math_block),
        ]:
            block = isinstance(node, nodes.math_block)
            try:
                drawn = typeset(node.astext(), displaystyle=block)
            except LatexError as problem:
                logging.getLogger(__name__).warning(
                    "a formula: %s", problem, location=node
                )
                continue
            # A browser takes mtext for space, and drops the room around an operator between words.
            drawn = re.sub(r"<mtext>(\w[^<]*)</mtext>", r"<mi>\1</mi>", drawn)
            if block:
                drawn = f'<div class="math">{drawn}</div>'
            node.replace_self(nodes.raw("", drawn, format="html"))


def front_page(app, problem):
    """A web server shows index.html first."""
    if problem is None:
        shutil.copy(
            Path(app.outdir) / f"{root_doc}.html", Path(app.outdir) / "index.html"
        )


def setup(app):
    app.add_transform(Formulas)
    app.connect("html-page-context", described)
    app.connect("build-finished", front_page)
