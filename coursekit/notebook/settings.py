"""Where and how the code runs: training size, notebook, build of the pages, grading."""

import os

SIZES = ("quick", "full")


def size() -> str:
    """Return the training size: "quick" (embedded data, seconds) or "full" (real data).

    Set by the environment variable COURSEKIT_SIZE, before Python starts or with
    `os.environ["COURSEKIT_SIZE"] = "full"` in a notebook's first cell.

    Raises:
        ValueError: the variable has any other value.
    """
    chosen = os.environ.get("COURSEKIT_SIZE", "quick").strip().lower()
    if chosen not in SIZES:
        raise ValueError(
            f"COURSEKIT_SIZE is {chosen!r}; set it to 'quick' (seconds, embedded data) "
            "or 'full' (real data)."
        )
    return chosen


def is_in_notebook() -> bool:
    """Return whether this code runs in a Jupyter kernel."""
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    shell = get_ipython()
    return shell is not None and shell.__class__.__name__ == "ZMQInteractiveShell"


def is_page_build() -> bool:
    """Return whether the cells of the site's pages are being run, to be shown there.

    The site's builder sets the environment variable COURSEKIT_PAGE_BUILD. Progress bars and what
    only an open notebook needs are left out then.
    """
    return os.environ.get("COURSEKIT_PAGE_BUILD", "") == "1"


def is_grading() -> bool:
    """Return whether the notebook is being graded, in which case cells that train do nothing.

    nbgrader sets the environment variable NBGRADER_EXECUTION while it runs a notebook.
    """
    return "NBGRADER_EXECUTION" in os.environ
