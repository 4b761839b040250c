"""Command that downloads data sets: `python -m coursekit.datasets [NAME ...]`."""

from __future__ import annotations

import argparse
import sys

from coursekit.datasets import DatasetError, load, names, read_registry


def main(arguments: list[str] | None = None) -> int:
    """Download the named data sets and print their sizes; without a name, list all of them."""
    parser = argparse.ArgumentParser(prog="python -m coursekit.datasets", description=main.__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    chosen = parser.parse_args(arguments).names
    if not chosen:
        for name in names():
            print(f"{name:20} {read_registry().datasets[name].description}")
    try:
        for name in chosen:
            corpus = load(name)
            for split, items in corpus.splits.items():
                print(f"{name} {split}: {len(items):,}")
            print(f"{name} sha256: {corpus.data_sha256}")
    except DatasetError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
