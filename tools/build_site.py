"""Builds the site: clears the execution cache if anything behind the pages changed, then builds.

    python -m tools.build_site [FOLDER]      # of a book; this repository unless given

jupyter-cache knows a page by its own code cells. What the cells import or read (coursekit,
autograder, solutions, recorded results, the pinned versions) is hashed here; when the hash differs
from that of the last build, all pages are executed again, so that no page shows what no longer
holds.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import shutil
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import yaml

from book.site.launch_links import clone_address, find_repository
from tools.compress_images import shrink_pictures
from tools.execute_pages import execute
from tools.export_notebooks import write_notebooks

ROOT = Path(__file__).resolve().parents[1]
# What cells import and read.
BEHIND = ("coursekit", "autograder", "solutions", "book/results", "experiments", "book/figures")
# What all pages are dressed in.
LOOKS = ("book/site", "book/_static", "_config.yml", "_toc.yml")
LEFT = {"__pycache__", ".ipynb_checkpoints"}  # what Python or an editor leaves


def list_files(places: Iterable[str], root: Path = ROOT) -> list[Path]:
    """Return all files at the places, sorted, without notebooks and what Python leaves."""
    paths = [p for place in places for p in (root / place, *(root / place).rglob("*"))]
    return sorted(
        p for p in paths if p.is_file() and p.suffix != ".ipynb" and not LEFT & set(p.parts)
    )


def compute_digest(places: Iterable[str], root: Path = ROOT, text: str = "") -> str:
    """Return one SHA-256 of all files at the places, names and contents, and of a text."""
    total = hashlib.sha256(text.encode())
    for path in list_files(places, root):
        total.update(f"{path.relative_to(root)}\0".encode())
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def forget_stale(build: Path, root: Path = ROOT) -> list[str]:
    """Remove from the build folder what changes elsewhere have made stale; return what was."""
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
            if name == "behind":  # pages that show results are rewritten, not only executed
                shutil.rmtree(build / ".doctrees", ignore_errors=True)
    return removed


def weigh_pages(html: Path) -> list[tuple[str, int, int]]:
    """Return each page's size in bytes as a server sends it, alone and with all that it names.

    What it names are its pictures, styles and scripts; what these fetch in turn, such as the fonts
    of equations, is not counted (tests/browser/test_pages.py measures all of it).
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
    """Write the site as `jupyter-book build . -W -n --keep-going` does; return 0 if all is well.

    What is said is warnings, which are errors, and nothing else.
    """
    from jupyter_book.sphinx import build_sphinx

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
    """Build; write the pages' sizes to weights.txt, and say how long it took."""
    build = root / "_build"
    removed = forget_stale(build, root)
    if removed:
        print(f"Something behind the pages changed: removed {', '.join(removed)}.")
    started = time.perf_counter()
    # A kernel need not say that its debugger sees no breakpoints in Python's own frozen modules.
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    settings = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))["execute"]
    execute(root, build / ".jupyter_cache", settings.get("timeout", 30))
    if write_pages(root, build / "html"):
        # Sphinx warns of a page only when it reads it: the next build reads all of them again.
        shutil.rmtree(build / ".doctrees", ignore_errors=True)
        for report in sorted((build / "html" / "reports").rglob("*.err.log")):
            lines = report.read_text(encoding="utf-8").strip().splitlines()
            print(
                f"{report.stem.removesuffix('.err')}: {lines[-1] if lines else ''}", file=sys.stderr
            )
        print("The book was not built: see the warnings above.", file=sys.stderr)
        return 1
    shrink_pictures(build / "html" / "_images")
    known = find_repository(root)
    write_notebooks(build / "html" / "notebooks", root, known and clone_address(known))
    if known is None:
        print(
            "Nobody says where the course is published: the buttons of Colab and Binder say how "
            "to open a notebook by hand. Set COURSE_REPOSITORY=owner/name."
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
