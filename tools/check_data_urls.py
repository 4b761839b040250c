"""Check that the data sets are still available, without downloading them.

    python -m tools.check_data_urls [NAME ...] [--checksums BYTES]

The first bytes of each address must have the right file type, and mirrors must agree on the size.
Files up to --checksums bytes (2,000,000) are downloaded and verified.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from coursekit.datasets import DatasetError, Registry, read_registry
from coursekit.datasets.download import fetch
from coursekit.datasets.registry import RemoteFile
from tools.polite_http import BROKEN, OK, Answer, Visitor, table

BEGINNINGS = {
    ".gz": b"\x1f\x8b", ".tgz": b"\x1f\x8b", ".xz": b"\xfd7zXZ", ".bz2": b"BZh", ".zip": b"PK",
}  # fmt: skip
_PAGES = (b"<!doctype html", b"<html")  # error pages sent with a success status
SMALL = 2_000_000


@dataclass(frozen=True)
class Finding:
    """The result for one address of one file."""

    file: str
    address: str
    verdict: str
    says: str
    size: int | None = None


def fits(address: str, answer: Answer) -> str:
    """Return what is wrong with a file's first bytes, or ""."""
    if answer.start.lstrip().lower().startswith(_PAGES):
        return "sends a web page instead of the file"
    beginning = BEGINNINGS.get(Path(urlsplit(address).path).suffix, b"")
    if not answer.start.startswith(beginning):
        return "the first bytes do not match the file type"
    if answer.size == 0 or not answer.start:
        return "sends an empty file"
    return ""


def verify(file: RemoteFile, url: str) -> str:
    """Download a file from one address like a learner; return what is wrong, or ""."""
    known = {name: os.environ.pop(name, None) for name in ("COURSEKIT_DATA", "COURSEKIT_CACHE")}
    try:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["COURSEKIT_CACHE"] = folder
            fetch(replace(file, urls=(url,)))
    except DatasetError as error:
        return str(error)
    finally:
        os.environ.pop("COURSEKIT_CACHE", None)
        os.environ.update({name: value for name, value in known.items() if value is not None})
    return ""


def check(file: RemoteFile, visitor: Visitor, checksums: int = SMALL) -> list[Finding]:
    """Return the findings for all addresses of a file."""
    findings: list[Finding] = []
    for url in file.urls:
        address = url.partition("#")[0]
        answer = visitor.begin(address)
        verdict, says = answer.verdict, answer.says
        if verdict not in (BROKEN, "refused"):
            wrong = fits(address, answer)
            if not wrong and answer.size is not None and answer.size <= checksums:
                wrong = verify(file, url)
                says = "checksum verified"
            verdict, says = (BROKEN, wrong) if wrong else (verdict, says)
        else:
            verdict = BROKEN  # the loader would be refused as well
        findings.append(Finding(file.path, url, verdict, says, answer.size))
    return _agreeing(findings)


def _agreeing(findings: list[Finding]) -> list[Finding]:
    """Mark addresses as broken whose size differs from a mirror of the same file name."""
    first: dict[str, int] = {}
    result = []
    for finding in findings:
        name = Path(urlsplit(finding.address).path).name
        if finding.verdict != BROKEN and finding.size is not None:
            size = first.setdefault(name, finding.size)
            if size != finding.size:
                says = f"has {finding.size:,} bytes, another mirror {size:,}"
                finding = replace(finding, verdict=BROKEN, says=says)
        result.append(finding)
    return result


def check_all(
    registry: Registry, names: Iterable[str], visitor: Visitor, checksums: int = SMALL
) -> dict[str, list[Finding]]:
    """Return the findings by data set; a file of several data sets is checked once."""
    known: dict[str, list[Finding]] = {}
    by_name: dict[str, list[Finding]] = {}
    for name in names:
        for path in registry.find(name).file_paths():
            if path not in known:
                known[path] = check(registry.files[path], visitor, checksums)
            by_name.setdefault(name, []).extend(known[path])
    return by_name


def report(by_name: dict[str, list[Finding]]) -> str:
    """Return a table of the data sets, and a table of the addresses with problems."""
    rows = []
    for name, findings in by_name.items():
        files = {finding.file for finding in findings}
        lost = [f for f in files if all(x.verdict == BROKEN for x in findings if x.file == f)]
        good = sum(finding.verdict != BROKEN for finding in findings)
        state = f"unavailable: {', '.join(sorted(lost))}" if lost else "available"
        rows.append((name, len(files), f"{good} of {len(findings)}", state))
    text = table(("data set", "files", "addresses that answer", "state"), rows)
    odd = {x: None for findings in by_name.values() for x in findings if x.verdict != OK}
    if odd:
        lines = ((x.verdict, x.file, x.address, x.says) for x in odd)
        text += "\n\n" + table(("verdict", "file", "address", "what it says"), lines)
    return text


def main(
    arguments: list[str] | None = None,
    registry: Registry | None = None,
    visitor: Visitor | None = None,
) -> int:
    """Print the report; return 1 if an address is broken, 2 for an unknown data set."""
    parser = argparse.ArgumentParser(prog="python -m tools.check_data_urls", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--checksums", type=int, default=SMALL, metavar="BYTES")
    given = parser.parse_args(arguments)
    registry = registry or read_registry()
    try:
        by_name = check_all(
            registry, given.names or registry.datasets, visitor or Visitor(), given.checksums
        )
    except DatasetError as error:
        print(error, file=sys.stderr)
        return 2
    print(report(by_name))
    return 1 if any(x.verdict == BROKEN for xs in by_name.values() for x in xs) else 0


if __name__ == "__main__":
    sys.exit(main())
