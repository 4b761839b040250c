"""Build the site, and clear the execution cache first if the code behind the pages has changed.

    python -m tools.build_site [FOLDER]      # folder of a book; by default this repository

jupyter-cache detects changes only in a page's own code cells. This module hashes what the cells
import or read (coursekit, autograder, solutions, recorded results, the pinned versions). If the
hash differs from that of the last build, all pages are executed again, so that no page shows
outdated output.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import shutil
import sys
import time
import warnings
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import yaml

from book.site.launch_links import clone_address, find_repository
from tools.compress_images import shrink_pictures
from tools.execute_pages import execute
from tools.export_notebooks import write_notebooks
from tools.opening_states import add_openings

ROOT = Path(__file__).resolve().parents[1]
# What the cells import and read.
BEHIND = ("coursekit", "autograder", "solutions", "book/results", "experiments", "book/figures")
# What determines the look of all pages.
LOOKS = ("book/site", "book/_static", "_config.yml", "_toc.yml")
LEFT = {"__pycache__", ".ipynb_checkpoints"}  # leftovers of Python and editors


def list_files(places: Iterable[str], root: Path = ROOT) -> list[Path]:
    """Return all files at the given paths, sorted, without notebooks and leftovers."""
    paths = [p for place in places for p in (root / place, *(root / place).rglob("*"))]
    return sorted(
        p for p in paths if p.is_file() and p.suffix != ".ipynb" and not LEFT & set(p.parts)
    )


def compute_digest(places: Iterable[str], root: Path = ROOT, text: str = "") -> str:
    """Return one SHA-256 of the names and contents of all files at the paths, and of a text."""
    total = hashlib.sha256(text.encode())
    for path in list_files(places, root):
        total.update(f"{path.relative_to(root)}\0".encode())
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def forget_stale(build: Path, root: Path = ROOT) -> list[str]:
    """Remove the stale parts of the build folder; return their names."""
    removed = []
    for name, places, stale, text in (
        ("behind", (*BEHIND, "requirements.txt", "constraints.txt"), [".jupyter_cache"], ""),
        ("looks", LOOKS, ["html", ".doctrees"], find_repository(root) or ""),
    ):
        mark, now = build / f".{name}.sha256", compute_digest(places, root, text)
        if not mark.exists() or mark.read_text(encoding="utf-8") != now:
            for folder in stale:
                if (build / folder).exists():
                    shutil.rmtree(build / folder)
                    removed.append(folder)
            build.mkdir(exist_ok=True)
            mark.write_text(now, encoding="utf-8")
            if name == "behind":  # pages that show results must be rewritten, too
                shutil.rmtree(build / ".doctrees", ignore_errors=True)
    return removed


def weigh_pages(html: Path) -> list[tuple[str, int, int]]:
    """Return each page's compressed size in bytes, alone and with its direct resources.

    Direct resources are pictures, styles and scripts. What these load in turn, such as the fonts of
    equations, is not counted (tests/browser/test_pages.py measures everything).
    """
    sizes: dict[Path, int] = {}

    def weigh(path: Path) -> int:
        if path not in sizes:
            content = path.read_bytes()
            packed = path.suffix in (".html", ".css", ".js", ".svg", ".json")
            sizes[path] = len(gzip.compress(content)) if packed else len(content)
        return sizes[path]

    weights = []
    for page in sorted(html.rglob("*.html")):
        if "_static" in page.parts:
            continue
        text = page.read_text(encoding="utf-8")
        named = re.findall(r'<(?:img|script)[^>]*\ssrc="([^":?#]+)', text)
        for link in re.findall(r"<link[^>]*>", text):
            if re.search(r'rel="(?:stylesheet|preload)"', link):
                named += re.findall(r'href="([^":?#]+)', link)
        files = {(page.parent / name).resolve() for name in named}
        together = weigh(page) + sum(weigh(file) for file in files if file.is_file())
        weights.append((str(page.relative_to(html)), weigh(page), together))
    return weights


def write_pages(root: Path, html: Path) -> int | Exception:
    """Write the site like `jupyter-book build . -W -n --keep-going`; return 0 on success.

    Only warnings are printed; they count as errors.
    """
    from jupyter_book.sphinx import build_sphinx

    # One extension looks at every object in memory, and an alias of torch's complains when touched.
    warnings.filterwarnings("ignore", "`torch.distributed.reduce_op`", FutureWarning)
    settings = {
        "external_toc_path": str(root / "_toc.yml"),
        "nitpicky": True,
        "latex_individualpages": False,
    }
    result: int | Exception = build_sphinx(
        root,
        html,
        noconfig=True,
        path_config=root / "_config.yml",
        confoverrides=settings,
        warningiserror=True,
        keep_going=True,
        quiet=True,
    )
    return result


def main(root: Path = ROOT) -> int:
    """Build the site, write the pages' sizes to weights.txt, and print the build time."""
    build = root / "_build"
    removed = forget_stale(build, root)
    if removed:
        print(f"The code behind the pages has changed: removed {', '.join(removed)}.")
    started = time.perf_counter()
    # Silence the kernels' warning that the debugger misses breakpoints in frozen modules.
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    settings = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))["execute"]
    execute(root, build / ".jupyter_cache", settings.get("timeout", 30))
    if write_pages(root, build / "html"):
        # Sphinx warns only about pages that it reads, so make the next build read all of them.
        shutil.rmtree(build / ".doctrees", ignore_errors=True)
        for report in sorted((build / "html" / "reports").rglob("*.err.log")):
            lines = report.read_text(encoding="utf-8").strip().splitlines()
            print(
                f"{report.stem.removesuffix('.err')}: {lines[-1] if lines else ''}", file=sys.stderr
            )
        print("The book was not built: see the warnings above.", file=sys.stderr)
        return 1
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        shrinking = pool.submit(shrink_pictures, build / "html" / "_images")
        try:
            add_openings(build / "html")  # which needs no pictures
        except RuntimeError as error:
            print(f"Explorers leave their place empty until they are drawn: {error}.")
        shrinking.result()
    known = find_repository(root)
    write_notebooks(build / "html" / "notebooks", root, known and clone_address(known))
    if known is None:
        print(
            "The course's repository is unknown, so the Colab and Binder buttons only explain "
            "how to open a notebook manually. Set COURSE_REPOSITORY=owner/name."
        )
    weights = weigh_pages(build / "html")
    lines = [
        f"{alone / 1000:8.1f} {all_of_it / 1000:8.1f}  {page}" for page, alone, all_of_it in weights
    ]
    head = "Compressed, in kB: a page alone, and with its pictures, styles and scripts"
    (build / "weights.txt").write_text("\n".join([head, *lines, ""]), encoding="utf-8")
    print(f"Built in {time.perf_counter() - started:.0f} s: {build / 'html' / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:2])))
