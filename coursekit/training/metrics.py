"""Metrics of translation and alignment: BLEU, exact match, AER, attention entropy."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

Links = Collection[tuple[int, int]]


@dataclass(frozen=True)
class Bleu:
    """A BLEU score from 0 to 100, and sacrebleu's signature of the computation."""

    score: float
    signature: str


def bleu(hypotheses: Sequence[str], references: Sequence[str]) -> Bleu:
    """Score translations with sacrebleu: 13a tokenisation, lower-cased, one reference each.

    BLEU = BP exp(sum_{n=1}^{4} log p_n / 4), p_n the share of n-grams that occur in the reference,
    BP = min(1, exp(1 - r/c)) for reference length r and hypothesis length c, over all sentences.

    Raises:
        ValueError: the lists differ in length or are empty.
        TypeError: a string was given in place of a list.

    Source: Papineni et al. (2002); Post (2018) for the tool.
    """
    result, signature = _score(hypotheses, references)
    return Bleu(result.score, signature)


def bleu_interval(
    hypotheses: Sequence[str], references: Sequence[str], resamples: int = 1000
) -> tuple[float, float]:
    """Return the 95 % bootstrap confidence interval of a BLEU score.

    The sentences of the test set are repeatedly resampled with replacement and scored. The
    interval is as wide as the middle 95 % of these scores and centred on their mean, as computed
    by sacrebleu. It shows the variation with the choice of test sentences, but not the variation
    with the training seed.

    Args:
        hypotheses: translations, checked as in `bleu`.
        references: the reference of each translation.
        resamples: number of resampled test sets.

    Returns:
        lower and upper end, on the scale of `bleu`, 0 to 100.

    Source: Koehn (2004), "Statistical significance tests for machine translation evaluation".
    """
    result, signature = _score(hypotheses, references, resamples)
    found = json.loads(result.format(width=4, is_json=True, signature=signature))
    # sacrebleu reports no interval if all scores are 0.
    middle, half = found.get("confidence_mean", 0.0), found.get("confidence_var", 0.0)
    return middle - half, middle + half


def _score(
    hypotheses: Sequence[str], references: Sequence[str], resamples: int = 1
) -> tuple[Any, str]:
    """Return sacrebleu's result and its signature."""
    import sacrebleu

    if isinstance(hypotheses, str) or isinstance(references, str):
        raise TypeError("bleu compares lists of sentences; put a single sentence into a list.")
    if len(hypotheses) != len(references) or not hypotheses:
        raise ValueError(
            f"bleu compares sentence by sentence; it was given {len(hypotheses)} translations "
            f"and {len(references)} references."
        )
    scorer = sacrebleu.metrics.BLEU(tokenize="13a", lowercase=True)
    result = scorer.corpus_score(list(hypotheses), [list(references)], n_bootstrap=resamples)
    return result, str(scorer.get_signature())


def exact_match(hypotheses: Sequence[object], references: Sequence[object]) -> float:
    """Return the share of sentences that match their references exactly, 0 to 1."""
    if not hypotheses:
        return math.nan
    pairs = zip(hypotheses, references, strict=True)
    return sum(a == b for a, b in pairs) / len(hypotheses)


def alignment_error_rate(
    predicted: Sequence[Links], sure: Sequence[Links], possible: Sequence[Links] | None = None
) -> float:
    """Return the alignment error rate over a corpus, from 0 (perfect) to 1.

    AER = 1 - (|A n S| + |A n P|) / (|A| + |S|), P includes S.

    Args:
        predicted: A, for each sentence its links (source position, target position).
        sure: S, the gold links that must be found.
        possible: P, gold links that may be found; S alone by default.

    Source: Och and Ney (2003), "A Systematic Comparison of Various Statistical Alignment Models".
    """
    possible = sure if possible is None else possible
    hits = total = 0
    for a, s, p in zip(predicted, sure, possible, strict=True):
        links, must = set(a), set(s)
        hits += len(links & must) + len(links & (must | set(p)))
        total += len(links) + len(must)
    return 1 - hits / total if total else math.nan


def argmax_links(weights: Tensor, targets: Collection[int] | None = None) -> set[tuple[int, int]]:
    """Link each target word to the source word it attends to most.

    Args:
        weights: (T, S).
        targets: target positions to link; all by default. Attention weights always sum to 1, so
            for words without a gold link they say nothing about alignment.

    Returns:
        links (source position, target position).
    """
    best = weights.argmax(dim=-1).tolist()  # (T,)
    chosen = range(len(best)) if targets is None else targets
    return {(best[t], t) for t in chosen}


def entropy(weights: Tensor) -> Tensor:
    """Return the entropy of each row of attention weights, in nats.

    H = - sum_j alpha_j log alpha_j; exp(H) is the *effective number* of source words: the number of
    equally weighted positions with the same entropy.

    Args:
        weights: (..., N), rows that sum to 1.

    Returns:
        (...,), from 0 (one position) to log N (uniform).
    """
    return torch.special.entr(weights).sum(dim=-1)  # (...,)


def hop_similarity(weights: Tensor) -> dict[str, Tensor]:
    """Return how alike several rows of attention weights over the same words are.

    Args:
        weights: A, (..., r, N), rows that sum to 1, with r of at least 2.

    Returns:
        "overlap": the mean entry of A A^T off the diagonal; "sharpness": the mean entry on it;
        "cosine": the mean cosine of two different rows. Each (...,), from 0 to 1.

    Raises:
        ValueError: there are fewer than two rows.
    """
    hops = weights.shape[-2]
    if hops < 2:
        raise ValueError(f"similarity needs at least two rows of weights, not {hops}.")
    gram = weights @ weights.transpose(-1, -2)  # (..., r, r)
    own = gram.diagonal(dim1=-2, dim2=-1)  # (..., r)
    norms = own.sqrt()  # (..., r)
    cosine = gram / (norms.unsqueeze(-1) * norms.unsqueeze(-2)).clamp(min=1e-12)  # (..., r, r)
    apart = ~torch.eye(hops, dtype=torch.bool, device=weights.device)  # (r, r)
    return {
        "overlap": gram[..., apart].mean(dim=-1),
        "sharpness": own.mean(dim=-1),
        "cosine": cosine[..., apart].mean(dim=-1),
    }
