"""Answers to `clipped_ngram_counts`."""

from collections import Counter, defaultdict

import torch

# Right


def loops_and_dicts(hypothesis, references, n):
    def table(words):
        counts = {}
        for i in range(len(words)):
            gram = tuple(words[i : i + n])
            if len(gram) == n:
                counts[gram] = counts.get(gram, 0) + 1
        return counts

    ours = table(hypothesis)
    tables = [table(reference) for reference in references]
    matches = total = 0
    for gram, times in ours.items():
        most = 0
        for theirs in tables:
            most = max(most, theirs.get(gram, 0))
        matches += most if most < times else times
        total += times
    return matches, total


def zipped_slices(hypothesis, references, n):
    def grams(words):
        return Counter(zip(*(words[k:] for k in range(n)), strict=False))

    ours = grams(hypothesis)
    clipped = Counter()
    for reference in references:
        clipped |= ours & grams(reference)
    return sum(clipped.values()), sum(ours.values())


def strings_with_separators(hypothesis, references, n):
    # a separator that no word contains
    def grams(words):
        return ["\0".join(words[i : i + n]) for i in range(max(0, len(words) - n + 1))]

    ours = grams(hypothesis)
    theirs = [grams(reference) for reference in references]
    matches = 0
    for gram in set(ours):
        matches += min(ours.count(gram), max(counted.count(gram) for counted in theirs))
    return matches, len(ours)


def uses_up_what_is_allowed(hypothesis, references, n):
    allowed = defaultdict(int)
    for reference in references:
        own = defaultdict(int)
        for i in range(len(reference) - n + 1):
            own[tuple(reference[i : i + n])] += 1
        for gram, times in own.items():
            allowed[gram] = max(allowed[gram], times)
    matches = total = 0
    for i in range(len(hypothesis) - n + 1):
        gram = tuple(hypothesis[i : i + n])
        total += 1
        if allowed[gram] > 0:
            allowed[gram] -= 1
            matches += 1
    return matches, total


def float64_kept(hypothesis, references, n):
    grams = [tuple(hypothesis[i : i + n]) for i in range(len(hypothesis) - n + 1)]
    seen, matches = {}, 0.0
    for gram in grams:
        seen[gram] = seen.get(gram, 0) + 1
        occurrences = [
            sum(tuple(r[i : i + n]) == gram for i in range(len(r) - n + 1)) for r in references
        ]
        matches += seen[gram] <= max(occurrences)
    return torch.tensor(matches).double(), torch.tensor(len(grams)).double()


RIGHT = [
    loops_and_dicts,
    zipped_slices,
    strings_with_separators,
    uses_up_what_is_allowed,
    float64_kept,
]

# Wrong


def substrings(hypothesis, references, n):
    """Words are joined with spaces and sought in the text: 'a' is found in 'cat'."""
    grams = Counter(" ".join(hypothesis[i : i + n]) for i in range(len(hypothesis) - n + 1))
    texts = [" ".join(reference) for reference in references]
    matches = sum(min(t, max(text.count(g) for text in texts)) for g, t in grams.items())
    return matches, sum(grams.values())


def minimum_over_references(hypothesis, references, n):
    """An n-gram must occur in all references."""

    def grams(words):
        return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))

    ours = grams(hypothesis)
    allowed = grams(references[0])
    for reference in references[1:]:
        allowed &= grams(reference)
    return sum((ours & allowed).values()), sum(ours.values())


def total_of_words(hypothesis, references, n):
    """The total is the number of words, whatever n is."""
    matches, _ = zipped_slices(hypothesis, references, n)
    return matches, len(hypothesis)


WRONG = [substrings, minimum_over_references, total_of_words]
