"""Bank of honest submissions: right, partly right, wrong and unwritten answers in many styles.

Each of them states what it earns. On these, our grader must agree with stock nbgrader, except where
stock is wrong.
"""

from __future__ import annotations

from tests.submissions.honest import answer_styles, partial_answers, sampled_answers
from tests.submissions.honest.honest_submission import Honest

BANK: list[Honest] = [*answer_styles.BANK, *partial_answers.BANK, *sampled_answers.BANK]
