"""Compare Colab's package versions with those that the course needs.

    python -m tools.colab_versions LIST OUT       LIST: Colab's pip-freeze.txt, a file or a URL

Writes Colab's versions to OUT as requirements, and prints which are too old for the course (the
first cell of a notebook then installs newer ones, which costs time) and which are missing.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

PROJECT = "attention-course"
_WHEEL = re.compile(r"/[^/]+?-(\d[^-/]*)-[^/]*\.whl")


def needed(project: str = PROJECT) -> dict[str, list[Requirement]]:
    """Return the requirements on each package, by name, of the project and its dependencies."""
    wanted: dict[str, list[Requirement]] = {}
    seen: set[str] = set()
    waiting = [project]
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        try:
            lines = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        for requirement in map(Requirement, lines):
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                other = canonicalize_name(requirement.name)
                wanted.setdefault(other, []).append(requirement)
                waiting.append(other)
    return wanted


def versions(text: str) -> dict[str, Version]:
    """Return the versions of a `pip freeze`, without local build tags such as +cu126."""
    known: dict[str, Version] = {}
    for line in text.splitlines():
        name, _, version = line.partition("==")
        if not version and " @ " in line:
            name, _, address = line.partition(" @ ")
            wheel = _WHEEL.search(unquote(urlsplit(address.strip()).path))
            version = wheel[1] if wheel else ""
        try:
            known[canonicalize_name(name.strip())] = Version(Version(version.strip()).public)
        except InvalidVersion:
            continue  # a comment, or a local file of Colab
    return known


@dataclass(frozen=True)
class Comparison:
    """Colab's versions of the needed packages, those too old (and why), and those missing."""

    has: dict[str, Version]
    too_old: dict[str, str]
    absent: tuple[str, ...]

    def requirements(self) -> str:
        """Return Colab's versions as a requirements file."""
        return "".join(f"{name}=={version}\n" for name, version in sorted(self.has.items()))


def compare(
    there: dict[str, Version], wanted: dict[str, list[Requirement]], own: Iterable[str]
) -> Comparison:
    """Compare Colab's versions with the needed ones.

    Args:
        there: Colab's versions by name.
        wanted: requirements on each package.
        own: the project's own requirements; only these are checked for versions too old.
    """
    has = {name: there[name] for name in wanted if name in there}
    ranges = {canonicalize_name(Requirement(line).name): Requirement(line) for line in own}
    too_old: dict[str, str] = {
        name: f"{name} {has[name]} does not fit {requirement.specifier}"
        for name, requirement in ranges.items()
        if name in has and not requirement.specifier.contains(has[name], prereleases=True)
    }
    absent = tuple(sorted(name for name in ranges if name not in there))
    return Comparison(has, too_old, absent)


def read(source: str) -> str:
    """Return the list from a file or a URL."""
    if urlsplit(source).scheme in ("http", "https"):
        import requests

        response = requests.get(source, timeout=60)
        response.raise_for_status()
        return response.text
    return Path(source).read_text(encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Write Colab's versions; return 1 if Colab's torch is too old, 2 if LIST is not a list."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.colab_versions", description=main.__doc__
    )
    parser.add_argument("source", metavar="LIST")
    parser.add_argument("out", metavar="OUT", type=Path)
    given = parser.parse_args(arguments)
    there = versions(read(given.source))
    if "torch" not in there or "numpy" not in there:
        print(
            f"{given.source} is not a list of Colab's packages: torch or numpy is missing.",
            file=sys.stderr,
        )
        return 2
    own = [
        line
        for line in importlib.metadata.requires(PROJECT) or []
        if "extra ==" not in line.replace("'", '"')
    ]
    comparison = compare(there, needed(), own)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(comparison.requirements(), encoding="utf-8")
    print(f"{len(comparison.has)} packages in Colab's versions: {given.out}")
    for line in comparison.too_old.values():
        print(f"too old, pip will upgrade it: {line}")
    if comparison.absent:
        print(f"missing, pip will install them: {', '.join(comparison.absent)}")
    if "torch" in comparison.too_old:
        print(
            "The course cannot replace Colab's torch, so its version must be compatible.",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
