"""The short code on the card of a right answer: the book's page "Your progress" takes it.

A code says that a check has passed, to nobody but the learner: it is made from what every learner
has, is no secret, and counts for no grade.
"""

from __future__ import annotations

import hashlib
import os

from autograder import fixtures
from autograder.exercise import Exercise

# No vowels, so that no words come out, and nothing that looks like something else.
LETTERS = "23456789BCDFGHJKMNPQRSTVWXYZ"
LENGTH = 6


def code(exercise: Exercise) -> str:
    """Return the code of an exercise, such as "K7PX-2M".

    It follows from the exercise's name and from the names, shapes and kinds of its expected values,
    not from their digits: values written anew on another machine leave the code as it was, cases
    added or taken away change it.
    """
    found = hashlib.sha256(exercise.name.encode())
    for name, tensor in fixtures.right_values(exercise).items():
        found.update(f"\n{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
    number, letters = int.from_bytes(found.digest()[:8], "big"), ""
    for _ in range(LENGTH):
        number, place = divmod(number, len(LETTERS))
        letters += LETTERS[place]
    return f"{letters[:4]}-{letters[4:]}"


def mark(written: str) -> str:
    """Return what the book's page holds in place of a code: 32 bits of FNV-1a, in hexadecimal.

    The page must not simply list the codes; more is not asked of the mark. A browser computes it
    from what is typed in, in a few lines and also where it grants pages no cryptography.
    """
    total = 0x811C9DC5
    for letter in written.replace("-", "").upper().encode():
        total = ((total ^ letter) * 0x01000193) & 0xFFFFFFFF
    return f"{total:08x}"


def shown(exercise: Exercise) -> str:
    """Return the code for a card, or "" where a submission is being graded: nobody types it in."""
    return "" if "NBGRADER_EXECUTION" in os.environ else code(exercise)
