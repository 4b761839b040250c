"""Builds the site: clears the execution cache if anything behind the pages changed, then builds.

    python book/_ext/build.py

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
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import yaml
from execute import execute
from launch import clone_address, repository
from notebooks import write_notebooks

ROOT = Path(__file__).resolve().parents[2]
# What cells import and read.
BEHIND = ("coursekit", "autograder", "solutions", "book/results", "book/runs", "book/figures")
LOOKS = ("book/_ext", "book/_static", "_config.yml", "_toc.yml")  # what all pages are dressed in


def files(places: Iterable[str], root: Path = ROOT) -> list[Path]:
    """Return all files at the places, sorted, without what Python or an editor left there."""
    found: list[Path] = []
    for place in places:
        path = root / place
        found += [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]
    return sorted(
        p
        for p in found
        if p.suffix not in (".pyc", ".ipynb")
        and "__pycache__" not in p.parts
        and ".ipynb_checkpoints" not in p.parts
    )


def digest(places: Iterable[str], root: Path = ROOT, said: str = "") -> str:
    """Return one SHA-256 of all files at the places, names and contents, and of a text."""
    total = hashlib.sha256(said.encode())
    for path in files(places, root):
        total.update(f"{path.relative_to(root)}\0".encode())
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def forget_stale(build: Path, root: Path = ROOT) -> list[str]:
    """Remove from the build folder what changes elsewhere have made stale; return what was."""
    removed = []
    for name, places, stale, said in (
        ("behind", (*BEHIND, "requirements.txt", "constraints.txt"), [".jupyter_cache"], ""),
        ("looks", LOOKS, ["html", ".doctrees"], repository(root) or ""),
    ):
        mark, now = build / f".{name}.sha256", digest(places, root, said)
        if not mark.exists() or mark.read_text(encoding="utf-8") != now:
            for folder in stale:
                if (build / folder).exists():
                    shutil.rmtree(build / folder)
                    removed.append(folder)
            build.mkdir(exist_ok=True)
            mark.write_text(now, encoding="utf-8")
            if name == "behind":  # pages that show results are written anew, not only executed
                shutil.rmtree(build / ".doctrees", ignore_errors=True)
    return removed


def weights(html: Path) -> list[tuple[str, int, int]]:
    """Return each page's size in bytes as a server sends it, alone and with all that it names.

    What it names are its pictures, styles and scripts; what these fetch in turn, such as the fonts
    of equations, is not counted (tests/browser/test_pages.py measures all of it).
    """
    sizes: dict[Path, int] = {}

    def sent(path: Path) -> int:
        if path not in sizes:
            content = path.read_bytes()
            packed = path.suffix in (".html", ".css", ".js", ".svg", ".json")
            sizes[path] = len(gzip.compress(content)) if packed else len(content)
        return sizes[path]

    found = []
    for page in sorted(html.rglob("*.html")):
        if "_static" in page.parts:
            continue
        text = page.read_text(encoding="utf-8")
        named = re.findall(r'<(?:img|script)[^>]*\ssrc="([^":?#]+)', text)
        for link in re.findall(r"<link[^>]*>", text):
            if re.search(r'rel="(?:stylesheet|preload)"', link):
                named += re.findall(r'href="([^":?#]+)', link)
        files = {(page.parent / name).resolve() for name in named}
        together = sent(page) + sum(sent(file) for file in files if file.is_file())
        found.append((str(page.relative_to(html)), sent(page), together))
    return found


def main(root: Path = ROOT) -> int:
    """Build; print the pages' sizes and how long it took."""
    build = root / "_build"
    removed = forget_stale(build, root)
    if removed:
        print(f"Something behind the pages changed: removed {', '.join(removed)}.")
    started = time.perf_counter()
    program = [str(Path(sys.executable).with_name("jupyter-book")), "build", str(root)]
    # The pages' models are small: threads that wait for each other cost more than they bring where
    # anything else wants the processor.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    settings = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))["execute"]
    execute(root, build / ".jupyter_cache", settings.get("timeout", 30))
    status = subprocess.run([*program, "-W", "-n", "--keep-going"], cwd=root).returncode
    if status:
        shutil.rmtree(build / ".jupyter_cache", ignore_errors=True)
        print("The book was not built: see the warnings above.", file=sys.stderr)
        return status
    known = repository(root)
    write_notebooks(build / "html" / "notebooks", root, known and clone_address(known))
    if known is None:
        print(
            "Nobody says where the course is published: the buttons of Colab and Binder say how "
            "to open a notebook by hand. Set COURSE_REPOSITORY=owner/name."
        )
    print("Compressed, in kB: a page alone, and with its pictures, styles and scripts")
    for name, alone, together in weights(build / "html"):
        print(f"{alone / 1000:8.1f} {together / 1000:8.1f}  {name}")
    print(f"Built in {time.perf_counter() - started:.0f} s: {build / 'html' / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
