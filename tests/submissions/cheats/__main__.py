"""Print what each cheat gains: `python -m tests.submissions.cheats [--help]`."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tqdm import tqdm

from tests.submissions.cheats import KINDS, Cheat, cheats
from tests.submissions.cheats.graded_course import Result, StockClass, graded_by_ours


def main() -> None:
    """Grade the cheats with stock nbgrader, with ours, or both, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.submissions.cheats", description=__doc__)
    parser.add_argument("--stock", action="store_true", help="only stock nbgrader")
    parser.add_argument("--ours", action="store_true", help="only ours")
    parser.add_argument("--only", nargs="+", metavar="SLUG", help="only these cheats, or kinds")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="at a time (2)")
    parser.add_argument("--log", action="store_true", help="show what the graders say")
    given = parser.parse_args()
    bank = cheats()
    if given.only:
        unknown = set(given.only) - {cheat.slug for cheat in bank} - set(KINDS)
        if unknown:
            parser.error(f"there is no cheat and no kind named {', '.join(sorted(unknown))}")
        bank = [cheat for cheat in bank if {cheat.slug, cheat.kind} & set(given.only)]
    both = given.stock == given.ours
    stock: Mapping[str, Result] | None = None
    ours: Mapping[str, Result] | None = None
    harm: tuple[str, ...] = ()
    with tempfile.TemporaryDirectory(prefix="cheats-", ignore_cleanup_errors=True) as folder:
        if both or given.stock:
            stock = _stock(Path(folder), bank, given.workers)
        if both or given.ours:
            graded = graded_by_ours(Path(folder) / "ours", bank, given.workers)
            ours, harm = graded.results, graded.harm
            if given.log:
                print(graded.seen.log)
    if given.log and stock:
        for slug, result in stock.items():
            print(f"--- {slug}\n{result.log}")
    print(table(bank, stock, ours))
    for line in harm:
        print(f"ours, all together: {line}")


def _stock(folder: Path, bank: list[Cheat], workers: int) -> dict[str, Result]:
    graded = StockClass.made(folder / "template")
    tried = [cheat for cheat in bank if not cheat.not_on_stock]
    with ThreadPoolExecutor(workers) as pool:
        found = pool.map(graded.grade, tried)
        bar = tqdm(zip(tried, found, strict=True), total=len(tried), file=sys.stderr)
        return {cheat.slug: result for cheat, result in bar}


def table(
    bank: list[Cheat], stock: Mapping[str, Result] | None, ours: Mapping[str, Result] | None
) -> str:
    """Return the table of what each cheat deserves, what it gets, and whom it harms."""
    head = f"{'cheat':<30}{'kind':<20}{'deserves':>9}{'stock':>10}{'ours':>8}  harm"
    lines = [head, "-" * len(head)]
    for cheat in bank:
        deserved = sum(cheat.honest.values())
        cells = [f"{cheat.slug:<30}{cheat.kind:<20}{deserved:>9g}"]
        harm = []
        for name, width, side in (("stock", 10, stock), ("ours", 8, ours)):
            result = side.get(cheat.slug) if side else None
            cells.append(f"{_shown(cheat, result, side is not None):>{width}}")
            if result and result.harm:
                harm.append(f"{name}: {', '.join(result.harm)}")
        lines.append("".join(cells) + "  " + "; ".join(harm))
    lines.append("-" * len(head))
    for name, side in (("stock nbgrader", stock), ("ours", ours)):
        if side is not None:
            lines.append(_total(name, bank, side))
    return "\n".join(lines)


def _shown(cheat: Cheat, result: Result | None, tried: bool) -> str:
    if result is None:
        return "not run" if tried else ""
    if result.points is None:
        return "?"
    sign = "+" if result.gained(cheat) else "-" if result.lost(cheat) else ""
    return f"{sign}{sum(result.points.values()):g}"


def _total(name: str, bank: list[Cheat], side: Mapping[str, Result]) -> str:
    pairs = [(cheat, side[cheat.slug]) for cheat in bank if cheat.slug in side]
    gained = sum(result.gained(cheat) for cheat, result in pairs)
    lost = sum(result.lost(cheat) for cheat, result in pairs)
    leaked = sum(any(h.startswith(("leaks", "active")) for h in r.harm) for _, r in pairs)
    harmed = sum(any(not h.startswith(("leaks", "active")) for h in r.harm) for _, r in pairs)
    return (
        f"{name}: {len(pairs)} cheats, {gained} gained points, {leaked} got something onto the "
        f"feedback page, {harmed} did other harm, {lost} lost what they deserve"
    )


if __name__ == "__main__":
    main()
