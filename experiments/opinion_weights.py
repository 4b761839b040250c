"""The attention weights of *good* and *bad* in reviews, by rating and by whose opinion they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from torch import Tensor

from coursekit.corpora.reviews import Review

RATINGS = range(1, 6)
NEGATIONS = {"not", "never", "hardly", "neither", "nor", "far", "anything"}
PLACES = ("verdict", "contrast", "elsewhere")  # of an opinion word, see `Occurrence.place`


@dataclass(frozen=True)
class Occurrence:
    """An opinion word in a review, and its weights.

    Attributes:
        rating: of the review.
        place: "verdict" if the word decides, "contrast" if it does not but stands in a deciding
            sentence, as in "the acting was good but it was bad", else "elsewhere".
        in_sentence: weight of the word in its sentence.
        of_sentence: weight of the sentence.
    """

    rating: int
    place: str
    in_sentence: float
    of_sentence: float

    @property
    def in_document(self) -> float:
        """The weight of the word in the document."""
        return self.in_sentence * self.of_sentence


def find_negations(sentence: Sequence[str], t: int) -> list[int]:
    """Return the positions of the negations that stand at most three words before position t."""
    return [k for k in range(max(0, t - 3), t) if sentence[k] in NEGATIONS]


def replace_good_verdicts(found: Sequence[Review], *words: str) -> list[Review]:
    """Return the reviews whose verdict is *good*, with other words, or none, in its place.

    *Good* is not negated, but may have a modifier: *quite good*. Its sentence is the only one that
    decides.
    """
    replaced = []
    for review in found:
        if len(review.deciding_sentences) > 1:
            continue
        for i, t in sorted(review.deciding_words):
            sentence = review.sentences[i]
            if sentence[t] == "good" and not find_negations(sentence, t):
                lines = list(review.sentences)
                lines[i] = (*sentence[:t], *words, *sentence[t + 1 :])
                replaced.append(replace(review, sentences=tuple(lines)))
    return replaced


def collect_opinions(
    words: Tensor, sentences: Tensor, found: Sequence[Review]
) -> dict[str, list[Occurrence]]:
    """Return all occurrences of the opinion words *good* and *bad*.

    "good" and "bad" are not negated, "negated good" is, and "negation" is the word that negates it:
    a negation stands at most three words before.
    """
    places: dict[str, list[Occurrence]] = defaultdict(list)
    for b, review in enumerate(found):
        for i, sentence in enumerate(review.sentences):
            for t, word in enumerate(sentence):
                if word not in ("good", "bad"):
                    continue
                before = find_negations(sentence, t)
                hits = [(word, t)] if not before else []
                if before and word == "good":
                    hits = [("negated good", t), ("negation", before[-1])]
                for name, k in hits:
                    beside = "contrast" if i in review.deciding_sentences else "elsewhere"
                    place = "verdict" if (i, k) in review.deciding_words else beside
                    weights = words[b, i, k].item(), sentences[b, i].item()
                    places[name].append(Occurrence(review.rating, place, *weights))
    return places


def describe_opinions(places: Mapping[str, Sequence[Occurrence]]) -> list[dict[str, Any]]:
    """Return the number and the mean weights of each opinion word, by rating and by place."""
    rows = []
    for name, occurrences in places.items():
        groups: dict[tuple[str, Any], list[Occurrence]] = {
            **{("rating", r): [o for o in occurrences if o.rating == r] for r in RATINGS},
            **{("place", p): [o for o in occurrences if o.place == p] for p in PLACES},
        }
        for (by, group), here in groups.items():
            row: dict[str, Any] = {"word": name, by: group, "number": len(here)}
            for what in ("in_sentence", "of_sentence", "in_document"):
                row[what] = fmean(getattr(o, what) for o in here) if here else None
            rows.append(row)
    return rows
