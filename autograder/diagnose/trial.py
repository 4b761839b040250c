"""One case, tried in one dtype: what was expected and what came back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch

from autograder.diagnose.compare import (
    Complaint,
    Difference,
    Expected,
    find_difference,
    make_complaint,
)
from autograder.diagnose.fingerprints import sketch, sketch_gradients
from autograder.spec.exercise import Case
from autograder.spec.outcome import Outcome


@dataclass(frozen=True)
class Trial:
    """One case, tried in one dtype: what was expected and what came back."""

    case: Case
    dtype: torch.dtype
    expected: Expected
    outcome: Outcome

    @cached_property
    def difference(self) -> Difference | None:
        """The first difference between what came back and what was expected."""
        return find_difference(self.case, self.outcome, self.expected, self.dtype)

    @property
    def _complaint(self) -> Complaint | None:
        return make_complaint(self.difference) if self.case.relation else None

    @cached_property
    def sketch(self) -> float:
        """What came back, as one number."""
        return sketch(self.case, self.outcome, self._complaint)

    @cached_property
    def sketch_of_gradients(self) -> float:
        """The gradients, as one number."""
        return sketch_gradients(self.outcome, self._complaint)
