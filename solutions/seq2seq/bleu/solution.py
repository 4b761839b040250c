"""Reference solutions of the exercises in seq2seq/bleu."""

# %% setup
from collections import Counter
from collections.abc import Sequence
from math import exp, log


# %% exercise
def clipped_ngram_counts(
    hypothesis: Sequence[str], references: Sequence[Sequence[str]], n: int
) -> tuple[int, int]:
    """Count the n-grams of a hypothesis that its references contain.

    matches = sum_g min(C(g), max_r C_r(g)),  total = sum_g C(g)

    C(g) is how often the n-gram g occurs in the hypothesis, C_r(g) how often in reference r.

    Args:
        hypothesis: the words of the translation; there may be fewer than n.
        references: one or more translations to compare with, each a list of words.
        n: number of words in an n-gram, at least 1.

    Returns:
        matches and total, two whole numbers.

    Source: Papineni et al. (2002), section 2.1.
    """
    ### BEGIN SOLUTION

    def count(words: Sequence[str]) -> Counter[tuple[str, ...]]:
        return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))

    found = count(hypothesis)
    allowed: Counter[tuple[str, ...]] = Counter()
    for reference in references:
        allowed |= count(reference)  # the larger of the two counts
    matches = sum(min(times, allowed[gram]) for gram, times in found.items())
    return matches, sum(found.values())
    ### END SOLUTION


# %% exercise
def corpus_bleu(
    hypotheses: Sequence[Sequence[str]],
    references: Sequence[Sequence[Sequence[str]]],
    max_order: int = 4,
) -> float:
    """Score the translations of a corpus by the n-grams that they share with the references.

    BLEU = 100 BP exp(1/N sum_{n=1}^{N} log p_n),  p_n = sum_i matches / sum_i total,
    BP = min(1, exp(1 - r/c))

    Args:
        hypotheses: the words of each translation; a translation may be empty.
        references: for each translation, one or more references, each a list of words.
        max_order: N, the length of the longest n-grams.

    Returns:
        BLEU from 0 to 100; 0 if a precision is 0 or has nothing to count.

    Source: Papineni et al. (2002), sections 2.1 to 2.3; of two equally close lengths the shorter one
    counts, as in sacrebleu (Post, 2018).
    """
    ### BEGIN SOLUTION
    sentences = list(zip(hypotheses, references, strict=True))
    c = sum(len(hypothesis) for hypothesis in hypotheses)
    r = 0
    for hypothesis, own in sentences:
        lengths = [len(reference) for reference in own]
        r += min(lengths, key=lambda length: (abs(length - len(hypothesis)), length))
    log_precisions = 0.0
    for n in range(1, max_order + 1):
        counts = [clipped_ngram_counts(hypothesis, own, n) for hypothesis, own in sentences]
        matches = sum(found for found, _ in counts)
        if matches == 0:
            return 0.0
        log_precisions += log(matches / sum(total for _, total in counts))
    return 100 * min(1.0, exp(1 - r / c)) * exp(log_precisions / max_order)
    ### END SOLUTION
