"""Known mistakes and mutants of the solution, each with fingerprints of what it gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from autograder.diagnose.fingerprints import combine_fingerprints, do_fingerprints_match
from autograder.diagnose.identifiers import mentions_only_known_names
from autograder.diagnose.trial import Trial
from autograder.spec.exercise import Case


@dataclass(frozen=True)
class KnownMistake:
    """A known mistake: its name and hint, and fingerprints of what it gives (in float64).

    Attributes:
        slug: its name.
        title: one sentence.
        hint: what it is about.
        values: the fingerprint of what it gives on a case, or None if that is not known.
        gradients: the fingerprint of its gradients.
    """

    slug: str
    title: str
    hint: str
    values: Callable[[Case], float | None]
    gradients: Callable[[Case], float | None]


@dataclass(frozen=True)
class MutantFingerprints:
    """What right answers give with one place changed.

    Attributes:
        cases: on which.
        totals: what is other in each, in words, and the total of what it gives on all the cases.
        names: those that the answer's code has; what would be about others is not said.
    """

    cases: tuple[Case, ...] = ()
    totals: tuple[tuple[str, tuple[float, ...]], ...] = ()
    names: frozenset[str] | None = None

    def name(self, trials: Sequence[Trial]) -> list[str]:
        """Return what is other in those that give just what an answer gave."""
        exact = {id(t.case): t for t in trials if t.dtype == torch.float64}
        mine = [exact[id(case)] for case in self.cases if id(case) in exact]
        if not mine or len(mine) < len(self.cases):
            return []
        if any(trial.difference and trial.difference.kind == "dtype" for trial in mine):
            return []  # none is about precision
        own = combine_fingerprints([trial.fingerprint for trial in mine])
        fitting = [
            words for words, theirs in self.totals if all(map(do_fingerprints_match, own, theirs))
        ]
        if self.names is not None:
            fitting = [words for words in fitting if mentions_only_known_names(words, self.names)]
        return list(dict.fromkeys(fitting))


NO_MUTANTS = MutantFingerprints()
