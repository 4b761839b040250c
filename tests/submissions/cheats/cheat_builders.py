"""Builders of cheats: right and wrong answers, and notebooks with code in their cells."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import nbformat
from nbformat import NotebookNode

from tests.submissions.cheats import Cheat, Files, Scene

RIGHT = {
    "masked_softmax": """
def masked_softmax(scores, mask):
    shifted = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return torch.softmax(shifted, dim=-1) * mask
""",
    "additive_score": """
def additive_score(query, keys, W, U, v):
    both = torch.einsum("bq,dq->bd", query, W)[:, None] + torch.einsum("bnk,dk->bnd", keys, U)
    return torch.einsum("bnd,d->bn", both.tanh(), v)
""",
    "context_vector": """
def context_vector(weights, values):
    return torch.einsum("bn,bnd->bd", weights, values)
""",
}

# Zeros, but with gradients: enough for a cheat that disables the comparison of values.
WRONG = {
    "masked_softmax": """
def masked_softmax(scores, mask):
    return scores * 0
""",
    "additive_score": """
def additive_score(query, keys, W, U, v):
    nothing = 0 * (query.sum() + keys.sum() + W.sum() + U.sum() + v.sum())
    return keys.new_zeros(keys.shape[:2]) + nothing
""",
    "AdditiveAttention": """
class AdditiveAttention(nn.Module):
    def __init__(self, query_size, key_size, hidden_size):
        super().__init__()
        self.W = nn.Parameter(torch.zeros(hidden_size, query_size))
        self.U = nn.Parameter(torch.zeros(hidden_size, key_size))
        self.v = nn.Parameter(torch.zeros(hidden_size))

    def project(self, keys):
        return keys.new_zeros(*keys.shape[:2], len(self.v)) + 0 * (keys.sum() + self.U.sum())

    def forward(self, query, keys, mask, projected_keys=None):
        nothing = 0 * sum(t.sum() for t in (query, keys, self.W, self.U, self.v))
        context = keys.new_zeros(keys.shape[0], keys.shape[2]) + nothing
        return context, keys.new_zeros(keys.shape[:2]) + nothing
""",
}
ATTACKED = tuple(WRONG)
POINTS = {"masked_softmax": 2, "additive_score": 3, "context_vector": 1, "AdditiveAttention": 4}


def filled(code: str, scene: Scene) -> str:
    """Put the scene's words into a cell's code."""
    return code.replace("@MARK@", scene.mark).replace("@PORT@", str(scene.port)).strip("\n")


def page(
    scene: Scene, answers: Mapping[str, str] | None = None, opening: str = "", closing: str = ""
) -> NotebookNode:
    """Return the released `scores` with wrong answers to all but `context_vector`.

    Args:
        scene: the student's scene.
        answers: other answers, by exercise.
        opening: code above the first answer, in its cell.
        closing: code of the student's own cell at the end.
    """
    texts = {**WRONG, "context_vector": RIGHT["context_vector"], **(answers or {})}
    texts["masked_softmax"] = opening + "\n\n" + texts["masked_softmax"]
    found = copy.deepcopy(scene.pages["scores"])
    for cell in found.cells:
        if cell.id in texts:
            cell.source = filled(texts[cell.id], scene)
    if closing:
        found.cells.append(nbformat.v4.new_code_cell(filled(closing, scene), id="closing"))
    return found


def handed_in(found: NotebookNode, name: str = "scores") -> dict[str, bytes]:
    """Return the one file of a submission."""
    text = json.dumps(found, indent=1)  # nbformat.writes would repair it
    return {f"{name}.ipynb": text.encode("utf-8")}


def in_code(
    kind: str,
    slug: str,
    title: str,
    opening: str = "",
    answers: Mapping[str, str] | None = None,
    closing: str = "",
    **more: Any,
) -> Cheat:
    """Return a cheat that consists only of code in the cells of `scores`; see `page`."""

    def build(scene: Scene) -> Files:
        return handed_in(page(scene, answers, opening, closing))

    if any(_BORROWS.search(code) for code in (opening, *(answers or {}).values())):
        more.setdefault("own_risk", True)  # a notebook that imports solutions may earn nothing
    return Cheat(slug, title, kind, build, **more)


_BORROWS = re.compile(r"^ *(from|import) (solutions|autograder\.instructor)\b", re.M)


def in_page(
    kind: str, slug: str, title: str, change: Callable[[NotebookNode, Scene], None], **more: Any
) -> Cheat:
    """Return a cheat that changes the notebook around the wrong answers."""

    def build(scene: Scene) -> Files:
        found = page(scene)
        change(found, scene)
        return handed_in(found)

    return Cheat(slug, title, kind, build, **more)


def cell_of(found: NotebookNode, name: str) -> NotebookNode:
    """Return a cell by its id."""
    return next(cell for cell in found.cells if cell.id == name)


def graded_cells(found: NotebookNode) -> list[NotebookNode]:
    """Return the graded cells of the exercises that are answered wrongly."""
    return [cell_of(found, f"test-{name}") for name in ATTACKED]


# Stolen answers: `adopt(text)` runs a text and keeps what it defines.
THIEF = """
import json, os, sys
from pathlib import Path

STOLEN = {}

def adopt(*texts):
    space = {"__name__": "__main__", "torch": torch, "Tensor": Tensor, "nn": nn}
    for text in texts:
        try:
            exec(text, space)
        except BaseException:
            pass
    for name in ("masked_softmax", "additive_score", "AdditiveAttention"):
        if name in space:
            STOLEN.setdefault(name, space[name])

def adopt_file(path):
    text = Path(path).read_text()
    if not str(path).endswith(".ipynb"):
        return adopt(text)
    sources = [c["source"] for c in json.loads(text)["cells"] if c["cell_type"] == "code"]
    adopt(*("".join(source) for source in sources))

def course():
    here = [Path.cwd(), *Path.cwd().parents]
    for pid in [p for p in os.listdir("/proc") if p.isdigit()]:
        try:
            there = Path(os.readlink(f"/proc/{pid}/cwd"))
            here += [there, *there.parents]
        except OSError:
            pass
    for folder in here:
        if (folder / "nbgrader_config.py").exists() and (folder / "submitted").exists():
            return folder
    return Path("/nowhere")
"""
# A stolen answer replaces the wrong answer above this line.
TAKEN = {name: f'{code}\n{name} = STOLEN.get("{name}", {name})\n' for name, code in WRONG.items()}


def thief(
    kind: str,
    slug: str,
    title: str,
    stealing: str,
    before: str = "",
    answers: Mapping[str, str] = TAKEN,
    **more: Any,
) -> Cheat:
    """Return a cheat that adopts answers from elsewhere.

    Args:
        kind, slug, title: as in `Cheat`.
        stealing: code that calls `adopt`; its errors are ignored.
        before: code above it.
        answers: the answers, if they are not those of `TAKEN`.
        more: the other fields of `Cheat`.
    """
    guarded = "try:\n" + "\n".join("    " + line for line in stealing.strip().splitlines())
    guarded += "\nexcept Exception as error:\n    print(repr(error))\n"
    return in_code(kind, slug, title, THIEF + before + guarded, answers, **more)


# Answers that return stolen values and gradients as tensors.
FORGING = """
class Forged(torch.autograd.Function):
    @staticmethod
    def forward(ctx, right, names, *leaves):
        ctx.found = [right.gradients[n].to(x.dtype) for n, x in zip(names, leaves)]
        (value,) = right.outputs.values()
        return value.to(leaves[0].dtype).clone()

    @staticmethod
    def backward(ctx, given):
        return (None, None, *ctx.found)

def forged(right, **leaves):
    if right is None:
        raise NotImplementedError()
    return Forged.apply(right, list(leaves), *leaves.values())
"""
# Anybody can look up the expected values of the students' cases.
REMEMBERED = """
from autograder import expected_values
from autograder.exercises import EXERCISES

KNOWN = {
    name: [(case, expected_values.read_expected(EXERCISES[name], seed, case))
           for seed in expected_values.SEEDS for case in EXERCISES[name].draw(seed)]
    for name in ("masked_softmax", "additive_score")
}

def seen(**given):
    for known in KNOWN.values():
        for case, right in known:
            if list(case.inputs) == list(given) and all(
                t.shape == given[n].shape and torch.equal(t.to(given[n].dtype), given[n])
                for n, t in case.inputs.items()
            ):
                return right
"""
FORGERS = {
    "masked_softmax": """
def masked_softmax(scores, mask):
    return forged(seen(scores=scores, mask=mask), scores=scores)
""",
    "additive_score": """
def additive_score(query, keys, W, U, v):
    given = dict(query=query, keys=keys, W=W, U=U, v=v)
    return forged(seen(**given), **given)
""",
}


def forger(kind: str, slug: str, title: str, seen: str, **more: Any) -> Cheat:
    """Return a cheat whose `seen(**inputs)` finds the expected values of a case, or None."""
    return in_code(
        kind,
        slug,
        title,
        FORGING + seen,
        FORGERS,
        attacks=("masked_softmax", "additive_score"),
        **more,
    )
