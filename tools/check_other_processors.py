"""Check that the claims of the pages hold on other processors.

    python -m tools.check_other_processors [PAGE ...]

The book is built with instructions that nearly all processors have, so that every build is the
same. Elsewhere a page's numbers differ in their last digits, training turns these into different
models, and the claims of the page must hold for them as well. This command executes each page once
for each instruction set that this processor can be restricted to, and prints the failures.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from tools.execute_pages import ALIKE, AT_ONCE, ONE_THREAD, list_pages, run_cells

ROOT = Path(__file__).resolve().parents[1]
KINDS: dict[str, dict[str, str]] = {
    "as the book is built": ALIKE,
    "this processor": {},
    "AVX2": {"ATEN_CPU_CAPABILITY": "avx2", "MKL_CBWR": "AVX2", "ONEDNN_MAX_CPU_ISA": "AVX2"},
}


def find_errors(page: Path, kind: str) -> Iterator[str]:
    """Yield the errors of a page on a kind of processor."""
    os.environ.update(ONE_THREAD | KINDS[kind])
    notebook, done = run_cells(page, timeout=1200, allow_errors=True)
    if done.err:
        yield f"{page.name}, {kind}: {done.err}"
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "error" and output.ename != "NameError":  # a follow-up error
                lines = re.sub(r"\x1b\[[\d;]*m", "", "\n".join(output.traceback)).split("\n")
                line = next((x for x in lines if x.startswith("---")), "")
                yield f"{page.name}, {kind}: {output.ename}: {output.evalue}\n    {line}"


def _list_errors(page: Path, kind: str) -> list[str]:
    return list(find_errors(page, kind))


def main(names: list[str]) -> int:
    """Execute the named pages, or all; return 1 if there are errors."""
    pages = [p for p in list_pages(ROOT) if not names or p.stem in names or p.stem[:2] in names]
    with ProcessPoolExecutor(
        AT_ONCE, mp_context=get_context("spawn"), max_tasks_per_child=1
    ) as pool:
        waiting = [pool.submit(_list_errors, page, kind) for page in pages for kind in KINDS]
        wrong = 0
        for future in waiting:
            for error in future.result():
                print(error, flush=True)
                wrong += 1
    print(f"{len(pages)} pages on {len(KINDS)} kinds of processors: {wrong} errors.")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
