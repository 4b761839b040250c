"""Broken submissions: duplicated, deleted, reordered, split or merged cells."""

from __future__ import annotations

import copy

from tests.submissions.broken.broken_submission import Bank
from tests.submissions.student_notebooks import SCORES, Handed, reference, stub

BANK = Bank()
WRONG = reference("additive_score").replace("torch.tanh(", "(")
TWICE = r"twice|more than on|two (cells|answers)|several|cop(y|ies)|again|duplicate|both"
GONE = r"missing|deleted|not (there|found|handed|in)|no (cell|answer|function|longer)|is gone|lacks"
ORDER = "run from top to bottom, the stub is what stands when the exercise is reached"


# Twice


@BANK()
def copied_and_the_upper_one_filled(hand: Handed) -> None:
    """The solution cell is there twice: the upper one is filled, the lower one as released."""
    hand.double("additive_score", above=True)
    hand.write(additive_score=stub("additive_score"))


@BANK()
def copied_and_the_lower_one_filled(hand: Handed) -> None:
    """The solution cell is there twice: the lower one is filled, the upper one as released."""
    hand.double("additive_score")
    hand.write(additive_score=stub("additive_score"))


@BANK()
def copied_and_both_filled(hand: Handed) -> None:
    """The solution cell is there twice, with the same answer."""
    hand.double("additive_score")


@BANK(
    maybe=["additive_score"],
    why="the right answer is there, but a wrong one stands below it",
    review_if_lost=False,
    says=TWICE,
)
def copied_and_the_lower_one_wrong(hand: Handed) -> None:
    """The solution cell is there twice: the upper answer is right, the lower one wrong."""
    hand.double("additive_score", above=True)
    hand.write(additive_score=WRONG)


@BANK(
    maybe=["additive_score"],
    why="a student who keeps the first attempt above the last hands in the last; but it is a guess",
    says=TWICE,
)
def copied_and_the_upper_one_wrong(hand: Handed) -> None:
    """The solution cell is there twice: the upper answer is wrong, the lower one right."""
    hand.double("additive_score").source = reference("additive_score")
    hand.write(additive_score=WRONG)


@BANK()
def copied_many_times(hand: Handed) -> None:
    """Every solution cell is there ten times, all but the last as released."""
    for name in SCORES:
        for _ in range(9):
            hand.double(name, above=True).source = stub(name)


@BANK()
def copied_with_its_id(hand: Handed) -> None:
    """A script copied the solution cell with its id; the upper one is as released."""
    twin = copy.deepcopy(hand.cell("additive_score"))
    hand.pages["scores"].cells.insert(hand.index("additive_score") + 1, twin)
    hand.write(additive_score=stub("additive_score"))


@BANK()
def graded_cell_copied(hand: Handed) -> None:
    """The graded cell is there twice."""
    hand.double("test-additive_score")


@BANK()
def locked_cell_copied_and_changed(hand: Handed) -> None:
    """The cell with the imports is there twice; the copy imports more."""
    hand.double("setup").source += "\nimport math"


@BANK()
def whole_notebook_twice(hand: Handed) -> None:
    """All cells are there twice, as after a select-all and paste."""
    page = hand.pages["scores"]
    page.cells += [dict(copy.deepcopy(c), id=f"again-{c.id}") for c in page.cells]


# Split


@BANK()
def split_between_two_functions(hand: Handed) -> None:
    """JupyterLab split the cell between helper and answer; both parts have its metadata."""
    hand.double("additive_score", above=True).source = (
        "def hidden_layer(query, keys, W, U):\n"
        "    return torch.tanh((query @ W.T).unsqueeze(1) + keys @ U.T)\n"
    )
    hand.write(
        additive_score=(
            "def additive_score(query, keys, W, U, v):\n"
            "    return hidden_layer(query, keys, W, U) @ v\n"
        )
    )


@BANK(
    maybe=["additive_score"],
    why="put together again the parts are right, but neither can be run as it is",
    says=r"indentation|syntax|split|parts|" + TWICE,
)
def split_within_the_function(hand: Handed) -> None:
    """JupyterLab split the cell in the middle of the function."""
    lines = reference("additive_score").splitlines()
    middle = lines.index("    projected_keys = keys @ U.T  # (B, N, d)")
    hand.double("additive_score").source = "\n".join(lines[middle:])
    hand.write(additive_score="\n".join(lines[:middle]))


@BANK()
def split_with_a_call_in_the_second_part(hand: Handed) -> None:
    """The second part of a split cell only tries the answer out."""
    hand.double(
        "context_vector"
    ).source = "context_vector(torch.ones(1, 2) / 2, torch.ones(1, 2, 3))"


@BANK()
def split_of_a_class_and_its_helpers(hand: Handed) -> None:
    """A class stands in one part of a split cell, a method that is put into it in the other."""
    right = reference("AttentionDecoder")
    head, tail = right.split("    def forward(", 1)
    method = "def forward(" + tail.replace("\n    ", "\n")
    hand.double("AttentionDecoder").source = method + "\n\nAttentionDecoder.forward = forward"
    hand.write(AttentionDecoder=head.rstrip())


# Deleted


@BANK(lost=["additive_score"], says=GONE)
def solution_deleted(hand: Handed) -> None:
    """The solution cell was deleted."""
    hand.remove("additive_score")


@BANK(lost=["additive_score"], says=GONE)
def solution_and_graded_cell_deleted(hand: Handed) -> None:
    """The solution cell and its graded cell were deleted."""
    hand.remove("additive_score", "test-additive_score")


@BANK()
def graded_cell_deleted(hand: Handed) -> None:
    """The graded cell was deleted; the answer is there."""
    hand.remove("test-additive_score")


@BANK()
def all_graded_cells_deleted(hand: Handed) -> None:
    """All graded cells were deleted; the answers are there."""
    hand.remove(*(f"test-{name}" for name in SCORES))


@BANK()
def setup_deleted(hand: Handed) -> None:
    """The cell with the imports was deleted."""
    hand.remove("setup", "setup-check")


@BANK()
def all_locked_cells_deleted(hand: Handed) -> None:
    """Nothing is left but the solution cells."""
    page = hand.pages["scores"]
    page.cells = [cell for cell in page.cells if cell.id in SCORES]


@BANK(lost=SCORES, says=GONE)
def all_solutions_deleted(hand: Handed) -> None:
    """All solution cells were deleted."""
    hand.remove(*SCORES)


@BANK(lost=SCORES, says=GONE)
def no_cells(hand: Handed) -> None:
    """A new, empty notebook was saved over the right one."""
    hand.pages["scores"].cells = []


@BANK(lost=SCORES, says=r"missing|empty|not written|nothing|unwritten|" + GONE)
def one_empty_cell(hand: Handed) -> None:
    """A notebook with one empty cell and no metadata was saved over the right one."""
    hand.pages["scores"].cells = [hand.own("")]


# Another order


@BANK()
def in_reverse(hand: Handed) -> None:
    """All cells stand in reverse order."""
    hand.pages["scores"].cells.reverse()


@BANK()
def solutions_above_the_imports(hand: Handed) -> None:
    """The solution cells were moved to the top, above the imports."""
    hand.pages["scores"].cells.sort(key=lambda cell: cell.id not in SCORES)


@BANK()
def solutions_below_their_graded_cells(hand: Handed) -> None:
    """Each graded cell was moved above its solution."""
    cells = hand.pages["scores"].cells
    for name in SCORES:
        graded = hand.cell(f"test-{name}")
        cells.remove(graded)
        cells.insert(hand.index(name), graded)


@BANK()
def solutions_in_another_order(hand: Handed) -> None:
    """Two solution cells were exchanged."""
    cells = hand.pages["translator"].cells
    i, j = hand.index("BidirectionalEncoder"), hand.index("AttentionDecoder")
    cells[i], cells[j] = cells[j], cells[i]


@BANK()
def in_the_other_notebook(hand: Handed) -> None:
    """A solution cell of one notebook was pasted into the other one as well."""
    hand.pages["translator"].cells.append(copy.deepcopy(hand.cell("additive_score")))


@BANK(
    maybe=["additive_score"],
    why="each notebook is graded alone, but the answer is there",
    review_if_lost=False,
    says=GONE,
)
def moved_to_the_other_notebook(hand: Handed) -> None:
    """A solution cell was cut from one notebook and pasted into the other."""
    cell = hand.cell("additive_score")
    hand.remove("additive_score")
    hand.pages["translator"].cells.append(cell)


# Merged


@BANK()
def two_solutions_merged_into_the_upper_one(hand: Handed) -> None:
    """Two solution cells were merged; the upper one's metadata is left."""
    hand.write(additive_score=reference("additive_score") + "\n\n\n" + reference("context_vector"))
    hand.remove("context_vector")


@BANK()
def two_solutions_merged_into_the_lower_one(hand: Handed) -> None:
    """Two solution cells were merged; the lower one's metadata is left."""
    hand.write(context_vector=reference("additive_score") + "\n\n\n" + reference("context_vector"))
    hand.remove("additive_score")


@BANK()
def all_solutions_merged_into_the_first(hand: Handed) -> None:
    """All answers stand in the first solution cell."""
    hand.write(masked_softmax="\n\n\n".join(map(reference, SCORES)))
    hand.remove(*SCORES[1:])


@BANK()
def all_answers_in_the_first_cell_and_stubs_left(hand: Handed) -> None:
    """All answers stand in the last solution cell; the others are as released."""
    hand.write(**{name: stub(name) for name in SCORES})
    hand.write(AdditiveAttention="\n\n\n".join(map(reference, SCORES)))


@BANK()
def all_code_merged_into_one_cell(hand: Handed) -> None:
    """All code cells were merged into the first one, whose metadata is left."""
    page = hand.pages["scores"]
    code = [cell for cell in page.cells if cell.cell_type == "code" and cell.id != "look"]
    code[0].source = "\n\n".join(cell.source for cell in code)
    page.cells = [c for c in page.cells if c.cell_type == "markdown" or c is code[0]]


@BANK()
def solution_merged_with_the_graded_cell(hand: Handed) -> None:
    """The graded cell was merged into the solution above it."""
    hand.write(additive_score=reference("additive_score") + "\n\ncheck(additive_score)")
    hand.remove("test-additive_score")


@BANK()
def solution_merged_into_the_graded_cell(hand: Handed) -> None:
    """The solution was merged into the graded cell, whose metadata is left."""
    hand.cell("test-additive_score").source = (
        reference("additive_score") + "\n\ncheck(additive_score)"
    )
    hand.remove("additive_score")


@BANK()
def solution_merged_with_the_text(hand: Handed) -> None:
    """The solution was merged into the text above it and made code again."""
    cell = hand.cell("text-context_vector")
    cell.source = "# The weighted sum\n\n" + reference("context_vector")
    cell.cell_type = "code"
    cell.update(outputs=[], execution_count=None)
    hand.remove("context_vector")


# Cells of the student's own


@BANK()
def answer_above_an_emptied_stub(hand: Handed) -> None:
    """The answer stands in a new cell above the solution cell, which is empty."""
    hand.add(reference("additive_score"), before="additive_score")
    hand.write(additive_score="")


@BANK(maybe=["additive_score"], why=ORDER, says="not written|stub|overwrit|above|another cell")
def answer_above_the_stub(hand: Handed) -> None:
    """The answer stands in a new cell above the solution cell, which is as released."""
    hand.add(reference("additive_score"), before="additive_score")
    hand.write(additive_score=stub("additive_score"))


@BANK()
def answer_below_the_stub(hand: Handed) -> None:
    """The answer stands in a new cell between the stub and the graded cell."""
    hand.add(reference("additive_score"), after="additive_score")
    hand.write(additive_score=stub("additive_score"))


@BANK(maybe=["additive_score"], why=ORDER, says="not written|stub|below|another cell|end of")
def answer_at_the_end(hand: Handed) -> None:
    """The answer stands in a new cell at the end of the notebook, the stub is as released."""
    hand.add(reference("additive_score"))
    hand.write(additive_score=stub("additive_score"))


@BANK(maybe=SCORES, why=ORDER, says="not written|stub|below|another cell|end of")
def all_answers_at_the_end(hand: Handed) -> None:
    """All answers stand in new cells at the end of the notebook, the stubs are as released."""
    for name in SCORES:
        hand.add(reference(name))
    hand.write(**{name: stub(name) for name in SCORES})


@BANK(maybe=["additive_score"], why=ORDER, says=GONE + "|below|another cell|end of|not defined")
def answer_at_the_end_and_no_stub(hand: Handed) -> None:
    """The answer stands in a new cell at the end, and the solution cell was deleted."""
    hand.add(reference("additive_score"))
    hand.remove("additive_score")


@BANK()
def better_answer_below_the_wrong_one(hand: Handed) -> None:
    """A right answer stands in a new cell below a wrong one."""
    hand.add(reference("additive_score"), after="additive_score")
    hand.write(additive_score=WRONG)


@BANK()
def helper_above(hand: Handed) -> None:
    """The answer calls a helper from an added cell above it."""
    hand.add("def plus(a, b):\n    return a.unsqueeze(1) + b", before="text-additive_score")
    hand.write(
        additive_score=(
            "def additive_score(query, keys, W, U, v):\n"
            "    return torch.tanh(plus(query @ W.T, keys @ U.T)) @ v\n"
        )
    )


@BANK(
    maybe=["additive_score"],
    why="it worked in the student's kernel, but not when the notebook is run from top to bottom",
    review_if_lost=False,
    says="plus|NameError|not defined",
)
def helper_at_the_end(hand: Handed) -> None:
    """The answer calls a helper from an added cell at the end of the notebook."""
    helper_above(hand)
    cells = hand.pages["scores"].cells
    cells.append(cells.pop(hand.index("text-additive_score") - 1))


@BANK()
def helper_in_another_solution(hand: Handed) -> None:
    """The answer calls a helper that stands in another exercise's solution cell."""
    hand.write(
        masked_softmax=reference("masked_softmax")
        + "\n\n\ndef column(t):\n    return t.unsqueeze(1)",
        context_vector=(
            "def context_vector(weights, values):\n"
            "    return (column(weights) @ values).squeeze(1)\n"
        ),
    )


@BANK()
def constant_in_an_own_cell(hand: Handed) -> None:
    """The answer needs a constant from an added cell."""
    hand.add("LOWEST = -1e30", before="masked_softmax")
    hand.write(
        masked_softmax=(
            "def masked_softmax(scores, mask):\n"
            "    return scores.masked_fill(~mask, LOWEST).softmax(-1) * mask\n"
        )
    )


@BANK()
def a_hundred_own_cells(hand: Handed) -> None:
    """A hundred empty and small cells stand between the given ones."""
    for i in range(100):
        hand.add("" if i % 2 else f"x{i} = {i}", before="test-masked_softmax")


# Locked cells edited


@BANK(
    maybe=["context_vector"],
    why="what the student changed in a locked cell is not run, but the answer is right with it",
    says=r"numpy|\bnp\b|NameError|locked|changed|given",
)
def import_added_to_a_locked_cell(hand: Handed) -> None:
    """The answer needs an import that the student wrote into the locked cell with the imports."""
    hand.cell("setup").source += "\nfrom torch import einsum as summed"
    hand.write(
        context_vector=(
            "def context_vector(weights, values):\n"
            "    return summed('bn,bnd->bd', weights, values)\n"
        )
    )


@BANK()
def typing_error_in_the_imports(hand: Handed) -> None:
    """The locked cell with the imports cannot be run any more."""
    hand.cell("setup").source = "mport torch\nfrom torch import Tensor, nn"


@BANK()
def graded_cell_edited(hand: Handed) -> None:
    """The graded cells say something else, or nothing."""
    hand.cell("test-masked_softmax").source = ""
    hand.cell("test-additive_score").source = "check(additive_scor)"
    hand.cell("test-context_vector").source = "# check(context_vector)"


@BANK()
def text_edited(hand: Handed) -> None:
    """The student wrote notes into the locked texts."""
    for cell in hand.pages["scores"].cells:
        if cell.cell_type == "markdown":
            cell.source += "\n\nMy note: ask in the tutorial!"
