"""Submissions in which something has gone wrong, without any bad intent.

Each of them says what it must earn all the same. `BANK` holds them all, by kind in these modules:
cells (twice, gone, moved, merged), metadata, contents (text, outputs, ids), damage (files that are
no notebooks, encodings, formats), names (of files and students), answers (that cannot be run),
magics (and what else only a notebook knows), state (that all cells share), stopping (loops, exits,
crashes, bombs, floods) and leaving (threads and processes left behind).
"""

from __future__ import annotations

from tests.grading.broken import (
    answers,
    cells,
    contents,
    damage,
    leaving,
    magics,
    metadata,
    names,
    state,
    stopping,
)
from tests.grading.broken.entry import Bank, Broken

KINDS: dict[str, Bank] = {
    module.__name__.rsplit(".", 1)[-1]: module.BANK
    for module in (
        cells,
        metadata,
        contents,
        damage,
        names,
        answers,
        magics,
        state,
        stopping,
        leaving,
    )
}
BANK: list[Broken] = [broken for bank in KINDS.values() for broken in bank]
