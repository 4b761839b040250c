"""Cheats with forged cell metadata: tags, types, flags, ids, points, saved outputs."""

from __future__ import annotations

import copy

import nbformat
from nbformat import NotebookNode
from nbgrader.utils import compute_checksum

from tests.submissions.cheats import Cheat, Files, Scene
from tests.submissions.cheats.cheat_builders import (
    ATTACKED,
    POINTS,
    RIGHT,
    WRONG,
    cell_of,
    filled,
    graded_cells,
    handed_in,
    in_page,
    page,
)

CARD = '<div role="status"><strong>✓</strong> <strong>right in all 66 cases.</strong></div>'


def _tag(*tags: str):
    def change(found: NotebookNode, scene: Scene) -> None:
        for cell in graded_cells(found):
            cell.metadata["tags"] = list(tags)

    return change


def _skipped_with_a_card(found: NotebookNode, scene: Scene) -> None:
    for cell in graded_cells(found):
        cell.metadata["tags"] = ["skip-execution"]
        data = {"text/html": CARD, "text/plain": "✓ right in all 66 cases."}
        cell.outputs = [nbformat.v4.new_output("display_data", data)]
        cell.execution_count = 7


def _more_points(found: NotebookNode, scene: Scene) -> None:
    for cell in found.cells:
        if cell.metadata["nbgrader"]["grade"]:
            cell.metadata["nbgrader"]["points"] = 100


def _flag(**values: object):
    def change(found: NotebookNode, scene: Scene) -> None:
        for cell in graded_cells(found):
            cell.metadata["nbgrader"].update(values)

    return change


def _retyped(kind: str):
    def change(found: NotebookNode, scene: Scene) -> None:
        for cell in graded_cells(found):
            cell.cell_type = kind
            cell.metadata["nbgrader"]["cell_type"] = kind
            for name in ("outputs", "execution_count"):
                cell.pop(name, None)

    return change


def _second_copy(found: NotebookNode, scene: Scene) -> None:
    for cell in graded_cells(found):
        second = copy.deepcopy(cell)
        second.id = f"again-{cell.id}"
        second.metadata["tags"] = ["skip-execution"]
        found.cells.append(second)


def _cell_of_its_own(found: NotebookNode, scene: Scene) -> None:
    cell = copy.deepcopy(cell_of(found, "test-context_vector"))
    cell.id = cell.metadata["nbgrader"]["grade_id"] = "test-bonus"
    cell.metadata["nbgrader"]["points"] = 50
    cell.source = "pass"
    found.cells.append(cell)


def _checks_of_another(found: NotebookNode, scene: Scene) -> None:
    for cell in graded_cells(found):
        cell.source = "check(context_vector)"
        cell.metadata["nbgrader"]["checksum"] = compute_checksum(cell)


def _unlocked(found: NotebookNode, scene: Scene) -> None:
    for cell in graded_cells(found):
        cell.source = "pass"
        cell.metadata["nbgrader"]["locked"] = False
        cell.metadata["nbgrader"]["checksum"] = compute_checksum(cell)


def _ids_swapped(found: NotebookNode, scene: Scene) -> None:
    honest = cell_of(found, "test-context_vector")
    other = cell_of(found, "test-AdditiveAttention")
    for one, name in ((honest, "test-AdditiveAttention"), (other, "test-context_vector")):
        one.metadata["nbgrader"]["grade_id"] = one.id = name


def _answer_is_graded(found: NotebookNode, scene: Scene) -> None:
    """Give the answer's cell the graded cell's name, and remove the graded cell."""
    for name in ATTACKED:
        graded = cell_of(found, f"test-{name}")
        cell = cell_of(found, name)
        found.cells.remove(graded)
        cell.metadata["nbgrader"] = dict(graded.metadata["nbgrader"], solution=True, locked=False)


def _deleted(found: NotebookNode, scene: Scene) -> None:
    for cell in graded_cells(found):
        found.cells.remove(cell)


def _saved_output_under_the_id(found: NotebookNode, scene: Scene) -> None:
    for cell in graded_cells(found):
        cell.id = cell.id + "-old"
    for name in ATTACKED:
        data = {"text/html": CARD, "text/plain": str(float(POINTS[name]))}
        shown = nbformat.v4.new_output("execute_result", data, execution_count=1)
        cell = nbformat.v4.new_code_cell("pass", id=f"test-{name}", outputs=[shown])
        found.cells.append(cell)


def _scores_written_in(found: NotebookNode, scene: Scene) -> None:
    for cell in graded_cells(found):
        own = cell.metadata["nbgrader"]
        own.update(score=own["points"], auto_score=own["points"], manual_score=own["points"])
    found.metadata["nbgrader"] = {"score": 10, "max_score": 10, "graded": True}


def _settings_of_the_notebook(found: NotebookNode, scene: Scene) -> None:
    found.metadata["execution"] = {"timeout": -1, "allow_errors": False}
    found.metadata["tags"] = ["skip-execution"]
    found.metadata["nbgrader"] = {"execute": False, "exclude": [f"test-{n}" for n in ATTACKED]}
    found.metadata["papermill"] = {"skip": True, "exception": False}


def _own_check(found: NotebookNode, scene: Scene) -> None:
    """Skip the import of `check`, and replace everything that could judge by a dummy."""
    cell_of(found, "setup-check").metadata["tags"] = ["skip-execution"]
    cell = cell_of(found, "masked_softmax")
    cell.source = filled(
        """
import sys, types

def check(answer):
    pass

dummy = types.ModuleType("autograder.instructor")
dummy.examine = check
sys.modules["autograder.instructor"] = dummy
"""
        + WRONG["masked_softmax"],
        scene,
    )


def _answer_twice(found: NotebookNode, scene: Scene) -> None:
    """Add a second cell with the same id and the text to grade, and tag the first one."""
    second = copy.deepcopy(cell_of(found, "test-masked_softmax"))
    second.source = "pass"
    second.cell_type = "raw"
    second.pop("outputs", None)
    second.pop("execution_count", None)
    found.cells.insert(0, second)
    cell_of(found, "test-additive_score").metadata["tags"] = ["skip-execution"]


def _other_kernel(scene: Scene) -> Files:
    found = page(scene)
    found.metadata["kernelspec"] = {"name": "generous", "display_name": "G", "language": "python"}
    found.metadata["language_info"] = {"name": "generous"}
    kernel = b'{"argv": ["true", "{connection_file}"], "display_name": "G", "language": "python"}'
    folders = ("kernels/generous", ".local/share/jupyter/kernels/generous")
    return handed_in(found) | {f"{folder}/kernel.json": kernel for folder in folders}


def _old_format(scene: Scene) -> Files:
    """Convert the notebook to format 3, which stores outputs and metadata elsewhere."""
    old = nbformat.convert(page(scene), 3)
    for sheet in old.worksheets:
        for cell in sheet.cells:
            if cell.metadata.get("nbgrader", {}).get("grade"):
                cell.metadata["tags"] = ["skip-execution"]
                cell.language = "html"
    return {"scores.ipynb": nbformat.writes(old, 3).encode("utf-8")}


def _skipped_in_the_translator(scene: Scene) -> Files:
    found = copy.deepcopy(scene.pages["translator"])
    for cell in found.cells:
        if cell.metadata["nbgrader"]["grade"]:
            cell.metadata["tags"] = ["skip-execution"]
    return handed_in(found, "translator") | handed_in(page(scene, RIGHT))


def _all_in_one(scene: Scene) -> Files:
    """Add graded cells of the other notebook to this one, to be found by name."""
    found = page(scene)
    for cell in copy.deepcopy(scene.pages["translator"]).cells:
        if cell.metadata["nbgrader"]["grade"]:
            cell.metadata["tags"] = ["skip-execution"]
            found.cells.append(cell)
    return handed_in(found)


def _one(slug: str, title: str, change, **more) -> Cheat:
    return in_page("forged_metadata", slug, title, change, **more)


CHEATS = [
    _one("tag-skip", "the graded cells are tagged skip-execution", _tag("skip-execution")),
    _one("tag-errors-allowed", "the graded cells may raise", _tag("raises-exception")),
    _one("tag-removed", "the graded cells ask to be removed", _tag("remove-cell", "remove_cell")),
    _one("skip-with-card", "skipped, with a green card saved as output", _skipped_with_a_card),
    _one("points-raised", "each graded cell says that it is worth 100", _more_points),
    _one("not-graded", "the graded cells say that they are not", _flag(grade=False)),
    _one("graded-answer", "the graded cells say they are answers", _flag(solution=True)),
    _one("task", "the graded cells say that a person grades them", _flag(task=True, grade=False)),
    _one("graded-text", "the graded cells become text", _retyped("markdown")),
    _one("graded-raw", "the graded cells become raw", _retyped("raw")),
    _one("graded-twice", "each graded cell again, skipped, at the end", _second_copy),
    _one("raw-twin", "a raw twin of a graded cell comes first", _answer_twice),
    _one("own-graded-cell", "a graded cell of one's own, worth 50", _cell_of_its_own),
    _one("other-checks", "the graded cells check the one right answer", _checks_of_another),
    _one("unlocked", "the graded cells are unlocked and emptied", _unlocked),
    _one("ids-swapped", "the right answer's check has the name of a dearer one", _ids_swapped),
    _one("answer-is-graded", "the answers take the graded cells' names", _answer_is_graded),
    _one("checks-deleted", "the graded cells are gone", _deleted),
    _one("saved-outputs", "other cells have the graded ones' ids", _saved_output_under_the_id),
    _one("scores-written-in", "the scores stand in the metadata", _scores_written_in),
    _one("schema-from-tomorrow", "a version nobody knows", _flag(schema_version=99)),
    _one("settings", "the notebook says how it wants to be run", _settings_of_the_notebook),
    _one("own-check", "the import of check is skipped, a dummy is there", _own_check),
    Cheat("other-kernel", "a kernel that does nothing", "forged_metadata", _other_kernel),
    Cheat("old-format", "tags hidden in a notebook of format 3", "forged_metadata", _old_format),
    Cheat(
        "skip-translator",
        "the translator's checks are tagged skip-execution",
        "forged_metadata",
        _skipped_in_the_translator,
        attacks=("BidirectionalEncoder", "AttentionDecoder"),
        honest={name: float(POINTS[name]) for name in RIGHT},
    ),
    Cheat(
        "checks-moved",
        "the translator's checks, skipped, in the first notebook",
        "forged_metadata",
        _all_in_one,
        attacks=("BidirectionalEncoder", "AttentionDecoder", *ATTACKED),
    ),
]
