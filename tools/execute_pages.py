"""Parallel execution of the book's pages into the cache, before the site is built.

Sphinx executes pages sequentially. Pages do not depend on each other, so this module executes
several at a time, and the site's builder finds their outputs in the cache. A page that fails here
is left to the builder, which executes it again and reports the error.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from book.site.launch_links import list_pages_with_code

AT_ONCE = 2  # each page may need up to 2 GB of memory
# Several pages share the cores. With one thread each, a machine always builds the same page. The
# other variable leaves out what only an open notebook needs, such as progress bars.
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "COURSEKIT_PAGE_BUILD": "1"}
if sys.platform == "linux":
    from tools.forked_kernels import ForkedKernelManager as KernelManager
else:
    from jupyter_client.manager import AsyncKernelManager as KernelManager


def list_pages(root: Path) -> list[Path]:
    """Return the files of the pages with code in the order of the table of contents."""
    return [root / f"{page}.md" for page in list_pages_with_code(root)]


def read(page: Path) -> Any:
    """Read a page as the builder does."""
    from myst_nb.core.config import NbParserConfig
    from myst_nb.core.read import create_nb_reader
    from myst_parser.config.main import MdParserConfig

    text = page.read_text(encoding="utf-8")
    reader = create_nb_reader(str(page), MdParserConfig(), NbParserConfig(), text)
    return None if reader is None else reader.read(text)


def run_cells(page: Path, timeout: int, allow_errors: bool = False) -> tuple[Any, Any]:
    """Execute a page's cells; return its notebook with outputs, and the execution's result."""
    from jupyter_cache.executors.utils import single_nb_execution
    from traitlets.config import Config

    notebook = read(page)
    # Without encryption, each kernel prints a warning when it starts.
    encrypted = Config(KernelManager={"transport_encryption": "auto"})
    done = single_nb_execution(
        notebook,
        cwd=str(page.parent),
        timeout=timeout,
        allow_errors=allow_errors,
        config=encrypted,
        kernel_manager_class=KernelManager,
    )
    return notebook, done


def run(page: Path, timeout: int) -> tuple[Path, Any, float, str]:
    """Execute a page; return its path, its notebook, the seconds, and the error or ""."""
    notebook, done = run_cells(page, timeout)
    error = done.err and f"{getattr(done.err, 'ename', 'CellTimeoutError')}: " + str(
        getattr(done.err, "evalue", f"a cell took more than {timeout} seconds")
    )
    return page, notebook, done.time, error or ""


def execute(root: Path, cache_folder: Path, timeout: int) -> int:
    """Execute all pages that are not in the cache; return the number executed successfully.

    Args:
        root: root of the repository.
        cache_folder: folder in which the builder looks for executed pages.
        timeout: maximum seconds for a cell.
    """
    from jupyter_cache import get_cache
    from jupyter_cache.base import CacheBundleIn

    cache = get_cache(str(cache_folder))
    missing = []
    for page in list_pages(root):
        try:
            cache.match_cache_notebook(read(page))
        except KeyError:
            missing.append(page)
    if not missing:
        return 0
    count = 0
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    at_once = min(AT_ONCE, os.cpu_count() or 1)
    with ProcessPoolExecutor(at_once, mp_context=get_context("spawn")) as pool:
        # A long page takes long; started last, it would run alone at the end.
        missing.sort(key=lambda page: page.stat().st_size, reverse=True)
        waiting = [pool.submit(run, page, timeout) for page in missing]
        for future in as_completed(waiting):
            page, notebook, seconds, error = future.result()
            if error:  # the builder executes it again and reports the error
                print(f"  failed     {page.relative_to(root)}: {error}", flush=True)
                continue
            bundle = CacheBundleIn(notebook, str(page), data={"execution_seconds": seconds})
            cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
            print(f"{seconds:8.0f} s   {page.relative_to(root)}", flush=True)
            count += 1
    return count
