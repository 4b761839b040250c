"""Answers to `corpus_bleu`."""

import math
from collections import Counter

import torch


def _matches(hypothesis, references, n):
    def grams(words):
        return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))

    ours, best = grams(hypothesis), Counter()
    for reference in references:
        best |= grams(reference)
    return sum((ours & best).values()), sum(ours.values())


def _closest(hypothesis, references):
    lengths = sorted(len(reference) for reference in references)
    return min(lengths, key=lambda length: abs(length - len(hypothesis)))


# Right


def one_pass_over_sentences(hypotheses, references, max_order=4):
    matches, totals = [0] * max_order, [0] * max_order
    c = r = 0
    for hypothesis, own in zip(hypotheses, references, strict=False):
        c += len(hypothesis)
        r += _closest(hypothesis, own)
        for n in range(max_order):
            found, total = _matches(hypothesis, own, n + 1)
            matches[n] += found
            totals[n] += total
    if min(matches) == 0:
        return 0.0
    mean = sum(math.log(m / t) for m, t in zip(matches, totals, strict=False)) / max_order
    penalty = 1.0 if c > r else math.exp(1 - r / c)
    return 100.0 * penalty * math.exp(mean)


def product_and_root(hypotheses, references, max_order=4):
    c = sum(map(len, hypotheses))
    if c == 0:
        return 0
    r = sum(_closest(h, own) for h, own in zip(hypotheses, references, strict=False))
    product = 1.0
    for n in range(1, max_order + 1):
        counts = [_matches(h, own, n) for h, own in zip(hypotheses, references, strict=False)]
        product *= sum(m for m, _ in counts) / max(1, sum(t for _, t in counts))
    return 100 * min(1, math.exp(1 - r / c)) * product ** (1 / max_order)


def float64_kept(hypotheses, references, max_order=4):
    counts = torch.tensor(
        [
            [_matches(h, own, n + 1) for n in range(max_order)]
            for h, own in zip(hypotheses, references, strict=False)
        ],
        dtype=torch.float64,
    ).sum(0)  # (N, 2)
    if (counts[:, 0] == 0).any():
        return torch.zeros((), dtype=torch.float64)
    c = float(sum(len(h) for h in hypotheses))
    r = float(sum(_closest(h, own) for h, own in zip(hypotheses, references, strict=False)))
    logs = (counts[:, 0] / counts[:, 1]).log().mean()
    return 100 * (logs + min(0.0, 1 - r / c)).exp()


def logarithm_of_zero_is_caught(hypotheses, references, max_order=4):
    try:
        logs = []
        for n in range(1, max_order + 1):
            m = t = 0
            for h, own in zip(hypotheses, references, strict=False):
                found, total = _matches(h, own, n)
                m, t = m + found, t + total
            logs.append(math.log(m / t))
        c = sum(len(h) for h in hypotheses)
        r = sum(_closest(h, own) for h, own in zip(hypotheses, references, strict=False))
        return 100 * math.exp(min(0, 1 - r / c) + sum(logs) / len(logs))
    except (ValueError, ZeroDivisionError):
        return 0.0


def weights_of_the_paper(hypotheses, references, max_order=4):
    w = [1 / max_order] * max_order
    m, t = Counter(), Counter()
    c = r = 0
    for i in range(len(hypotheses)):
        h, own = hypotheses[i], references[i]
        c += len(h)
        distance, best = None, None
        for reference in own:
            off = abs(len(reference) - len(h))
            if distance is None or off < distance or (off == distance and len(reference) < best):
                distance, best = off, len(reference)
        r += best
        for n in range(1, max_order + 1):
            found, total = _matches(h, own, n)
            m[n] += found
            t[n] += total
    p = [m[n] / t[n] if t[n] else 0.0 for n in range(1, max_order + 1)]
    if 0 in p:
        return 0.0
    bp = 1 if c > r else math.e ** (1 - r / c)
    return 100 * bp * math.exp(sum(w_n * math.log(p_n) for w_n, p_n in zip(w, p, strict=False)))


RIGHT = [
    one_pass_over_sentences,
    product_and_root,
    float64_kept,
    logarithm_of_zero_is_caught,
    weights_of_the_paper,
]

# Wrong


def log_base_two(hypotheses, references, max_order=4):
    """The logarithm is of base 2, the exponential of base e."""
    c = sum(map(len, hypotheses))
    r = sum(_closest(h, own) for h, own in zip(hypotheses, references, strict=False))
    logs = 0.0
    for n in range(1, max_order + 1):
        counts = [_matches(h, own, n) for h, own in zip(hypotheses, references, strict=False)]
        m = sum(found for found, _ in counts)
        if m == 0:
            return 0.0
        logs += math.log2(m / sum(t for _, t in counts))
    return 100 * min(1, math.exp(1 - r / c)) * math.exp(logs / max_order)


def short_sentences_left_out(hypotheses, references, max_order=4):
    """Sentences of fewer than max_order words are left out altogether."""
    kept = [(h, own) for h, own in zip(hypotheses, references, strict=False) if len(h) >= max_order]
    return one_pass_over_sentences([h for h, _ in kept], [own for _, own in kept], max_order)


def longest_ngrams_alone(hypotheses, references, max_order=4):
    """Only the precision of the longest n-grams counts."""
    c = sum(map(len, hypotheses))
    counts = [_matches(h, own, max_order) for h, own in zip(hypotheses, references, strict=False)]
    m = sum(found for found, _ in counts)
    if m == 0:
        return 0.0
    r = sum(_closest(h, own) for h, own in zip(hypotheses, references, strict=False))
    return 100 * min(1, math.exp(1 - r / c)) * m / sum(t for _, t in counts)


def fails_on_zero(hypotheses, references, max_order=4):
    """log(0) is not caught."""
    c = sum(map(len, hypotheses))
    r = sum(_closest(h, own) for h, own in zip(hypotheses, references, strict=False))
    logs = 0.0
    for n in range(1, max_order + 1):
        counts = [_matches(h, own, n) for h, own in zip(hypotheses, references, strict=False)]
        logs += math.log(sum(m for m, _ in counts) / sum(t for _, t in counts))
    return 100 * min(1, math.exp(1 - r / c)) * math.exp(logs / max_order)


WRONG = [log_base_two, short_sentences_left_out, longest_ngrams_alone, fails_on_zero]
