"""Bank of broken submissions, which are damaged without bad intent.

Each of them states what it must still earn. `BANK` holds all of them; `KINDS` groups them by the
module that defines them.
"""

from __future__ import annotations

from tests.submissions.broken import (
    answer_errors,
    cell_metadata,
    damaged_files,
    file_names,
    ipython_features,
    leftover_processes,
    malformed_cells,
    moved_cells,
    runaway_code,
    shared_state,
)
from tests.submissions.broken.broken_submission import Bank, Broken

KINDS: dict[str, Bank] = {
    module.__name__.rpartition(".")[2]: module.BANK
    for module in (
        moved_cells,
        cell_metadata,
        malformed_cells,
        damaged_files,
        file_names,
        answer_errors,
        ipython_features,
        shared_state,
        runaway_code,
        leftover_processes,
    )
}
BANK: list[Broken] = [broken for bank in KINDS.values() for broken in bank]
