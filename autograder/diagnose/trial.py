"""A trial: one case in one dtype, with the expected values and the outcome."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch

from autograder.diagnose.compare import (
    Difference,
    Expected,
    FailureSignature,
    find_difference,
    make_failure_signature,
)
from autograder.diagnose.fingerprints import compute_fingerprint, compute_gradient_fingerprint
from autograder.spec.exercise import Case
from autograder.spec.outcome import Outcome


@dataclass(frozen=True)
class Trial:
    """One case, tried in one dtype, with the expected values and the outcome."""

    case: Case
    dtype: torch.dtype
    expected: Expected
    outcome: Outcome

    @cached_property
    def difference(self) -> Difference | None:
        """Return the first difference between the outcome and the expected values, or None."""
        return find_difference(self.case, self.outcome, self.expected, self.dtype)

    @property
    def is_exact(self) -> bool:
        """Return whether values can be compared exactly: in float64, without dropout."""
        return self.dtype == torch.float64 and not self.case.training_mode

    @property
    def _complaint(self) -> FailureSignature | None:
        return make_failure_signature(self.difference) if self.case.check_random_outputs else None

    @cached_property
    def fingerprint(self) -> float:
        """Return the fingerprint of the outcome."""
        return compute_fingerprint(self.case, self.outcome, self._complaint)

    @cached_property
    def gradient_fingerprint(self) -> float:
        """Return the fingerprint of the gradients."""
        return compute_gradient_fingerprint(self.outcome, self._complaint)
