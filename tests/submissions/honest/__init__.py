"""Honest submissions: right, partly right, wrong and unwritten answers in many styles.

Each of them says what it earns. On these, ours has to give what stock nbgrader gives, except where
stock is wrong.
"""

from __future__ import annotations

from tests.grading.honest import drawn, partial, styles
from tests.grading.honest.entry import Honest

BANK: list[Honest] = [*styles.BANK, *partial.BANK, *drawn.BANK]
