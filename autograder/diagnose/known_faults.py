"""Known mistakes and mutants of the solution, with fingerprints of their outcomes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from autograder.diagnose.answer_identifiers import mentions_only_known_names
from autograder.diagnose.fingerprints import combine_fingerprints, do_fingerprints_match
from autograder.diagnose.trial import Trial
from autograder.spec.exercise import Case


@dataclass(frozen=True)
class KnownMistake:
    """A known mistake: its name and hint, and fingerprints of its outcomes (in float64).

    Attributes:
        slug: name of the mistake.
        title: one sentence that names the mistake for the student.
        hint: explanation of the mistake.
        values: returns the fingerprint of the outcome on a case, or None if it is not known.
        gradients: returns the fingerprint of the gradients on a case, or None if it is not known.
    """

    slug: str
    title: str
    hint: str
    values: Callable[[Case], float | None]
    gradients: Callable[[Case], float | None]


@dataclass(frozen=True)
class MutantFingerprints:
    """The fingerprints of the solution's mutants.

    Attributes:
        cases: the cases on which the fingerprints were computed.
        totals: each mutant's change in words, and its combined fingerprint on all the cases.
        names: identifiers in the answer's code, or None; phrases about other identifiers are left
            out.
    """

    cases: tuple[Case, ...] = ()
    totals: tuple[tuple[str, tuple[float, ...]], ...] = ()
    names: frozenset[str] | None = None

    def find_matching_phrases(self, trials: Sequence[Trial]) -> list[str]:
        """Return the changes, in words, of the mutants with exactly the answer's outcomes."""
        exact = {id(t.case): t for t in trials if t.dtype == torch.float64}
        mine = [exact[id(case)] for case in self.cases if id(case) in exact]
        if not mine or len(mine) < len(self.cases):
            return []
        if any(trial.difference and trial.difference.kind == "dtype" for trial in mine):
            return []  # no mutant changes precision
        own = combine_fingerprints([trial.fingerprint for trial in mine])
        fitting = [
            words for words, theirs in self.totals if all(map(do_fingerprints_match, own, theirs))
        ]
        if self.names is not None:
            fitting = [words for words in fitting if mentions_only_known_names(words, self.names)]
        return list(dict.fromkeys(fitting))


NO_MUTANTS = MutantFingerprints()
