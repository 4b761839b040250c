"""Download the browser libraries that the site serves itself into book/_static/vendor.

Run ``python -m tools.vendor`` (``make vendor``). It needs npm: ``npm pack`` downloads each
package. If a SHA-256 differs from the one below, nothing is changed.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

VENDOR = Path(__file__).resolve().parents[1] / "book" / "_static" / "vendor"

# Only what a page can request: the files of MathJax's font, and the TeX packages that MathJax loads
# automatically when a formula uses their commands.
_TEX = (
    "bbox boldsymbol braket cancel cases centernot color colortbl enclose extpfeil "
    "gensymb mathtools textcomp textmacros unicode upgreek verb"
)
_FONTS = "b bi brk c cb f fb i lo m mi n ob os s3 s4 so ss ssb ssi v zero"


@dataclass(frozen=True)
class Package:
    """One npm package: its pinned version, and the target paths of its files."""

    name: str
    version: str
    licence: str
    sha256: str
    folder: str
    files: dict[str, str]


PACKAGES = (
    Package(
        "mathjax",
        "4.1.3",
        "Apache-2.0",
        "b7109f516f3d842de62b95d653e35fa0976dc223706a2a77440e7f7723f0c54d",
        "mathjax",
        {
            name: name
            for name in (
                "LICENSE",
                "tex-chtml-nofont.js",
                "a11y/assistive-mml.js",
                *(f"input/tex/extensions/{extension}.js" for extension in _TEX.split()),
            )
        },
    ),
    Package(
        "@mathjax/mathjax-tex-font",
        "4.1.3",
        "Apache-2.0",
        "98eaefe05263ca997f42973701b2888ec395d666d4bc26e2cd8b7a51f0decb01",
        "mathjax-tex-font",
        {
            name: name
            for name in (
                "chtml.js",
                *(f"chtml/woff2/mjx-tex-{font}.woff2" for font in _FONTS.split()),
            )
        },
    ),
)


def hash_file(path: Path) -> str:
    """Return the file's SHA-256 in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def compute_sums(folder: Path) -> str:
    """Return the lines of SHA256SUMS: one for each file in the folder except SHA256SUMS itself."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return "".join(
        f"{hash_file(path)}  {path.relative_to(folder).as_posix()}\n"
        for path in files
        if path.name != "SHA256SUMS"
    )


def write_table() -> str:
    """Return the README with the table of the packages."""
    rows = "".join(f"| {p.name} | {p.version} | {p.licence} | `{p.sha256}` |\n" for p in PACKAGES)
    return (
        "# Libraries that the site serves itself\n\n"
        "Written by `make vendor`; do not edit. The SHA-256 is that of the npm package; those of\n"
        "the files are in `SHA256SUMS`.\n\n"
        f"| package | version | licence | SHA-256 |\n| --- | --- | --- | --- |\n{rows}"
    )


def fetch(package: Package, into: Path) -> None:
    """Download one package, verify it, and unpack the selected files into a folder."""
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run(
            ["npm", "pack", "--silent", f"{package.name}@{package.version}"],
            cwd=scratch,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        (tarball,) = Path(scratch).glob("*.tgz")
        checksum = hash_file(tarball)
        if checksum != package.sha256:
            raise SystemExit(
                f"{package.name}@{package.version} has the SHA-256 {checksum}, "
                f"not {package.sha256}; nothing was changed."
            )
        with tarfile.open(tarball) as archive:
            for inside, outside in package.files.items():
                content = archive.extractfile(f"package/{inside}")
                assert content is not None, inside
                path = into / package.folder / outside
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content.read())


def main() -> int:
    """Download everything, then replace the vendor folder."""
    if shutil.which("npm") is None:
        print("npm is needed to fetch the libraries; install Node.js.", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as scratch:
        new = Path(scratch) / "vendor"
        for package in PACKAGES:
            fetch(package, new)
        # The npm package of the font has no licence file; MathJax's holds for it, too.
        shutil.copy(new / "mathjax" / "LICENSE", new / "mathjax-tex-font" / "LICENSE")
        (new / "README.md").write_text(write_table(), encoding="utf-8")
        (new / "SHA256SUMS").write_text(compute_sums(new), encoding="utf-8")
        shutil.rmtree(VENDOR, ignore_errors=True)
        shutil.copytree(new, VENDOR)
    print(f"wrote {VENDOR}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
