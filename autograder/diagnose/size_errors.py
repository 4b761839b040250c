"""Maps the sizes in torch's error messages to the names of the exercise's axes."""

from __future__ import annotations

import re

from autograder.diagnose.failed_output import group_names_by_size, name_sizes
from autograder.spec.exercise import Case, Exercise

_ABOUT_SIZES = re.compile(
    r"shapes? cannot be multiplied|size of tensor|sizes of tensors|must match|expected size|"
    r"is invalid for input of size|not broadcastable|subscript .* has size|inner product",
    re.IGNORECASE,
)
_NOT_A_SIZE = re.compile(r"(dimension|dim|number|operand|argument|subscript) [-\w]+")


def explain_sizes(exercise: Exercise, case: Case, sentence: str) -> str:
    """Return a sentence that names the sizes in an error message, or "".

    Args:
        exercise: the exercise, which names the axes.
        case: the case in which the error was raised.
        sentence: the message.
    """
    message = sentence.split("\n")[0]
    if not _ABOUT_SIZES.search(message):
        return ""
    names = group_names_by_size(exercise, case, {})
    message = _NOT_A_SIZE.sub("", message)
    found = dict.fromkeys(map(int, re.findall(r"(?<![\w.])\d+|(?<=\dx)\d+", message)))
    products = _list_products(name_sizes(exercise, case, {}))
    known = []
    for number in found:
        if number in names and len(names[number]) < 4:
            known.append(f"{number} is {' or '.join(sorted(names[number]))}")
        elif number > 1 and number in products:
            known.append(f"{number} is {products[number]}")
    return f"In this case {', '.join(known)}." if known else ""


def _list_products(sizes: dict[str, int]) -> dict[int, str]:
    """Return the products that a flattened batch has as its size: B x T."""
    batch = sizes.get("B")
    if batch is None:
        return {}
    return {
        batch * size: f"B x {name}"
        for name, size in sizes.items()
        if name in ("T", "S", "N", "L", "heads")
    }
