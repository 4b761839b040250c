# %% [markdown]
# # Sequence to sequence IV: BLEU
#
# Every chapter of this course on translation reports a BLEU score, and so do the papers that it follows. The
# number comes out of a library. In this notebook you compute it yourself: count the n-grams that a
# translation shares with its references, and charge it for being too short. Your function must agree
# with `sacrebleu`, the tool that papers use today.
#
# {{ exercises }}
#
# **Before you begin.** You need nothing from the other notebooks, and no tensors. The ideas are explained in [Chapter 2](../../book/02_seq2seq.md). Allow half to one and
# a half times the minutes in the table, depending on how well you know Python.
#
# **Words.** A *hypothesis* is a translation to be scored; a *reference* is a translation by somebody who
# knows both languages. All sentences are lists of words. An *n-gram* is a sequence of $n$ words that stand next
# to each other in a sentence: "the cat sleeps here" has the 2-grams *the cat*, *cat sleeps* and *sleeps here*.

# %% setup
from collections import Counter
from collections.abc import Sequence
from math import exp, log

# %% notebook setup-check
# from autograder import check
# from coursekit.notebook.session import start
#
# start()

# %% demo overview
# from coursekit.plots import diagrams
#
# figure = diagrams.draw("bleu")

# %% [markdown]
# ## `clipped_ngram_counts`
#
# How many n-grams of a hypothesis occur in a reference? Counting them plainly has a flaw, which Papineni et al. (2002)
# show with an extreme example:
#
# | | |
# | --- | --- |
# | hypothesis | the the the the the the the |
# | reference | the cat is on the mat |
# | another reference | there is a cat on the mat |
#
# All seven words occur in a reference, yet nobody would call this a perfect translation. So each n-gram $g$ is
# *clipped*: it matches at most as often as it occurs in the one reference where it occurs most.
#
# $$\text{matches} = \sum_{g} \min\left(C(g),\; \max_{r}\, C_r(g)\right), \qquad \text{total} = \sum_{g} C(g)$$
#
# $C(g)$ is the number of times that $g$ occurs in the hypothesis, $C_r(g)$ in reference $r$; the sums
# run over the different n-grams of the hypothesis. In the example *the* occurs twice in the first
# reference and once in the second. So 2 of the 7 match. Without clipping all 7 would.
#
# The function returns the two counts and does not divide them: a corpus adds up the counts of its sentences
# first. A sentence of fewer than $n$ words has no n-grams.

# %% hints
# * First write down all n-grams of one sentence: how many are there in a sentence of seven words, and
#   where does the last one begin?
# * What you look up n-grams by must tell *on ly* from *o nly*: a tuple of words does, a string without
#   spaces does not. `collections.Counter` counts tuples.
# * The largest count is taken over the references, for each n-gram by itself. Two references in which *the*
#   occurs once each allow one *the*, not two.


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


# %% [markdown]
# ## `corpus_bleu`
#
# BLEU is a property of a corpus, of all translations of a test set together. Its $n$-gram *precision* divides
# the sums of the counts:
#
# $$p_n = \frac{\sum_i \text{matches}_n^{(i)}}{\sum_i \text{total}_n^{(i)}}$$
#
# with $i$ running over the sentences. Single words tell whether the words are right, longer n-grams whether they
# stand in the right order. The precisions of $n = 1, \dots, N$ are combined by their geometric mean, $N$ being
# `max_order`, usually 4.
#
# Precision alone would be easy to raise: translate only what you are sure of, and leave out the rest. Recall would
# prevent that, but makes little sense with several references: a good translation follows one of them and need not contain
# the words of all. BLEU compares lengths instead. With $c$ words in all hypotheses and $r$ words in the references, the *brevity penalty* is
#
# $$\text{BP} = \begin{cases} 1 & c > r \\ e^{1 - r/c} & c \le r \end{cases} \qquad
# \text{BLEU} = 100 \cdot \text{BP} \cdot \exp\left(\frac{1}{N} \sum_{n=1}^{N} \log p_n\right)$$
#
# A hypothesis with several references is compared with the length of the reference that is *closest* to its own
# length; if two are equally close, with the shorter one. $r$ is the sum of these lengths. Both lengths are sums over
# the corpus, so a sentence that is too short can be made up for by one that is too long.
#
# If one of the precisions is 0, its logarithm is minus infinity, and BLEU is 0. It is also 0 if no hypothesis has $N$
# words, so that there is nothing to divide by.
#
# **Where this differs.** The paper has BLEU between 0 and 1; tools print 100 times as much, and so do we. sacrebleu
# splits sentences into words by itself and, unless told otherwise, smooths: if anything matches at all, it puts a half in place of the
# first count of 0, a quarter in place of the second, and so on. You get words that are already split, and leave 0 as it is.

# %% hints
# * Collect four numbers for each $n$ or two lists: matches, totals, and beside them $c$ and $r$. What is divided, and
#   when?
# * `min(lengths, key=...)` finds the closest length. What must the key be, so that of 6 and 10 the 6 is chosen for a
#   hypothesis of 8 words?
# * Look for the zeros before you take a logarithm or divide.


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


# %% [markdown]
# ## Yours and sacrebleu's
#
# The next cell takes 300 French sentences generated by the course, damages them at random, and scores what is left
# twice: with your function and with sacrebleu. Each sentence has two references, itself and a damaged version that stands for a
# second translator's. Your function takes the references of each sentence together; sacrebleu takes one list with the first
# references of all sentences, and another with the second ones.

# %% demo agreement
# import random
#
# import sacrebleu
#
# from coursekit import corpora
#
# test = corpora.splits("french", 1, 1, 300, seed=1, min_length=8, max_length=16).test
# sentences = [list(pair.target) for pair in test]
# chance = random.Random(1)
#
# def damage(sentence, rate):
#     """Damage each word with probability `rate`: leave it out, repeat it, or swap it with the one before."""
#     damaged = []
#     for word in sentence:
#         u = chance.random()
#         if u < rate / 3:
#             continue
#         damaged += [word, word] if u < 2 * rate / 3 else [word]
#         if 2 * rate / 3 <= u < rate and len(damaged) > 1:
#             damaged[-2:] = damaged[:-3:-1]
#     return damaged
#
# second = [damage(sentence, 0.3) for sentence in sentences]
# columns = [[" ".join(words) for words in column] for column in (sentences, second)]
# library = sacrebleu.BLEU(tokenize="none", smooth_method="none")
# print(f"{'damage':>8} {'yours':>10} {'sacrebleu':>10}")
# for rate in (0.0, 0.1, 0.2, 0.4, 0.8):
#     damaged = [damage(sentence, rate) for sentence in sentences]
#     yours = corpus_bleu(damaged, [list(pair) for pair in zip(sentences, second)])
#     theirs = library.corpus_score([" ".join(words) for words in damaged], columns).score
#     print(f"{rate:8.1f} {yours:10.4f} {theirs:10.4f}")
#     assert abs(yours - theirs) < 1e-6

# %% [markdown] what-bleu-sees
# ## What BLEU sees
#
# Now each sentence has one reference, the original, and is changed in one definite way. Before you run the cell, put the seven changes into the order that you
# expect, from the least loss of BLEU to the greatest.

# %% demo changes
# changes = {  # of a list of words, with the place of its middle
#     "the last word left out": lambda words, middle: words[:-1],
#     "a word in the middle left out": lambda words, middle: words[:middle] + words[middle + 1 :],
#     "a word in the middle replaced": lambda words, middle: words[:middle] + ["?"] + words[middle + 1 :],
#     "the halves exchanged": lambda words, middle: words[middle:] + words[:middle],
#     "all words in reverse": lambda words, middle: words[::-1],
#     "the second half left out": lambda words, middle: words[:middle],
#     "the sentence twice": lambda words, middle: words + words,
# }
# references = [[sentence] for sentence in sentences]
#
# def describe(name, hypotheses):
#     """Print the precisions, the lengths' ratio and BLEU of a corpus."""
#     shares = []
#     for n in (1, 2, 3, 4):
#         counts = [clipped_ngram_counts(one, own, n) for one, own in zip(hypotheses, references)]
#         shares.append(sum(found for found, _ in counts) / sum(total for _, total in counts))
#     ratio = sum(map(len, hypotheses)) / sum(map(len, sentences))
#     columns = " ".join(f"{100 * share:6.1f}" for share in shares)
#     print(f"{name:<32} {columns} {ratio:7.2f} {corpus_bleu(hypotheses, references):7.1f}")
#
# print(f"{'precisions in %, n =':<32} {1:6} {2:6} {3:6} {4:6} {'c / r':>7} {'BLEU':>7}")
# for name, change in changes.items():
#     describe(name, [change(words, len(words) // 2) for words in sentences])

# %% [markdown]
# A word that is replaced in the middle breaks $n$ of the $n$-grams: one word, two pairs, and so on. A word that is left out there breaks
# $n - 1$, those that reach across the gap; the rest of its loss is the brevity penalty. Exchanging the halves also breaks $n - 1$, and changes no
# length. So it costs less than one wrong word in the middle, although it ruins the sentence. What the words mean plays no part: a synonym costs as much
# as nonsense.

# %% [markdown] play-text-bleu
# **Predict, then run.** Which of the two is the better translation, and which has the higher score? Then write one that is right and
# scores lower still.

# %% play bleu
# reference = "the old cat sleeps on the chair by the window"
# for hypothesis in (
#     "the old cat sleeps on the chair near the door",
#     "an elderly cat is asleep on a chair by the window",
# ):
#     score = corpus_bleu([hypothesis.split()], [[reference.split()]])
#     print(f"{score:6.1f}  {hypothesis}")

# %% [markdown] questions
# **To think about.**
#
# 1. A corpus is scored sentence by sentence, and the scores are averaged. Why is the result mostly lower than
#    BLEU, and for which sentences is it always 0?
# 2. One system leaves out the last third of every sentence. Another leaves out every third sentence, and translates the others
#    as accurately as the first one translates what it keeps. Does BLEU tell them apart?
# 3. A test set gets a second reference for each sentence. Can the BLEU of a system fall?

# %% answers
# 1. Always 0: sentences of fewer than four words, however good they are, and every other sentence without a matching 4-gram. In the
#    corpus their words count among those of all others. Nor do the other sentences balance: a short one pays a penalty that no long one pays
#    back, and a geometric mean falls by more for a low precision than it rises for a high one.
# 2. Hardly. If the missing sentences are of average length, both have two thirds of the words of the references, so the same brevity penalty,
#    $e^{1 - 3/2} = 0.61$. Precisions are about what was written, and there the two are equally good. Of what is missing BLEU sees the amount, not the place.
# 3. Yes. Matches cannot fall, but if the new reference is closer in length and longer than the old one, $r$ grows, and once it exceeds $c$, BP falls.
#    A hypothesis of 8 words with a reference of 5 has BP = 1; with a second one of 9 words $r$ is 9 and BP is $e^{1 - 9/8} = 0.88$.

# %% [markdown] open-task
# ## An open task
#
# How large a difference in BLEU is worth reporting? Draw 300 sentences with replacement from the test set, a thousand times, and
# look at how far the BLEU of one and the same system moves (*bootstrap resampling*; Koehn, 2004). Then do it for
# the *difference* of two systems, with the same sentences drawn for both. As systems, damage the corpus at rates 0.20 and 0.22: first with one
# `random.Random(i)` for sentence `i` at both rates, then with independent draws. When is the interval of the difference narrower than that of one score,
# and why?
