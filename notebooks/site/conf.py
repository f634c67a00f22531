"""make site: Sphinx turns the project's READMEs and notebooks into build/site, as they are.

The pages are written for GitHub, and two things are done to them on their way: a link to a folder
leads to the folder's README, and the front page gets the list of all pages.
"""

import os
import re
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

project = "How do I make a GPU kernel fast?"
html_title = project
root_doc = "README"
include_patterns = [
    "README.md",
    "chapters/**.md",
    "notebooks/*.ipynb",
    "notebooks/README.md",
    "emulator/*.md",
    "exercises/**.md",
    ".github/CONTRIBUTING.md",
]
exclude_patterns = ["build", ".git", ".venv", "**/build"]

extensions = ["myst_nb"]
nb_execution_mode = "off"  # make notebooks runs them
myst_enable_extensions = ["html_image"]
myst_heading_anchors = 6  # GitHub's names for headings
# A cell that begins with %%cuda is no Python, and a page may begin below level 1.
suppress_warnings = ["misc.highlighting_failure", "myst.header"]
highlight_language = "none"

html_theme = "furo"
html_copy_source = False
html_theme_options = {"sidebar_hide_name": False}

CONTENTS = """

```{toctree}
:hidden:
:caption: Chapters
:glob:

chapters/*/README
chapters/*
```
```{toctree}
:hidden:
:caption: Notebooks
:glob:

notebooks/*
```
```{toctree}
:hidden:
:caption: More
:glob:

exercises/README
exercises/*
exercises/*/README
emulator/*
.github/*
```
"""


def for_the_site(app, name, source):
    """Says to Sphinx what GitHub knows by itself."""
    here = (ROOT / name).parent

    def without_folders(link):
        text, target, rest = link.groups()
        if not (here / target).is_dir():
            return link[0]
        page = here / target / "README.md"
        return f"[{text}]({os.path.relpath(page, here)}{rest}" if page.is_file() else text

    source[0] = re.sub(
        r"\[([^\]]*)\]\(([^)#\s:]+)(#[^)]*\)|\))", without_folders, source[0]
    )
    if name == root_doc:
        source[0] += CONTENTS


def front_page(app, problem):
    """A web server shows index.html first."""
    if problem is None:
        shutil.copy(
            Path(app.outdir) / f"{root_doc}.html", Path(app.outdir) / "index.html"
        )


def setup(app):
    app.connect("source-read", for_the_site)
    app.connect("build-finished", front_page)
