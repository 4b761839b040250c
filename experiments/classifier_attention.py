"""Measures and examples of a trained classifier's attention, for the chapters."""

from __future__ import annotations

import argparse
from collections import defaultdict
from typing import Any

import torch
from torch import Tensor, nn

from coursekit import datasets
from coursekit.data.documents import DocumentBatch, document_batch, text_batch
from coursekit.models.baseline_classifiers import compute_outputs
from coursekit.training import device
from coursekit.training.metrics import entropy, hop_similarity

EXAMPLES = 12  # reviews quoted, at most 120 words each
QUOTED = ("imdb", "nsmc")  # the full texts of other data sets are copyrighted
OPINIONS = ("good", "bad", "not good", "not bad")
BINS = 20  # of the histogram of a word's weight


@torch.no_grad()
def look_at(
    model: nn.Module,
    task: Any,
    corpus: datasets.Corpus[tuple[str, int]],
    options: argparse.Namespace,
) -> dict[str, Any]:
    """Return a model's attention measures on the test set; none for a model without weights."""
    if options.model not in ("bilstm-attention", "structured", "structured-no-penalty", "han"):
        return {}
    items = task.parts["test"]
    measures: dict[str, Any] = {}
    sums: dict[str, list[Tensor]] = defaultdict(list)
    looks = _Words(task, _ratings(corpus)) if options.data == "imdb" else None
    for start in range(0, len(items), 128):
        some = items[start : start + 128]
        batch = document_batch(some) if task.hierarchical else text_batch(some)
        _, *weights = (t.float().cpu() for t in compute_outputs(model, batch.to(device())))
        for name, value in _selection(weights, batch).items():
            sums[name].append(value)
        if looks is not None and options.model in ("han", "bilstm-attention"):
            looks.add(start, batch, weights)
    measures["selection"] = {name: torch.cat(values).mean().item() for name, values in sums.items()}
    if looks is not None and looks.seen:
        measures["word_weights"] = looks.table()
    if options.data in QUOTED:
        measures["examples"] = _examples(model, task)
    return measures


def _selection(weights: list[Tensor], batch: Any) -> dict[str, Tensor]:
    """Return each text's effective number of words (and sentences), and the overlap of hops."""
    if isinstance(batch, DocumentBatch):
        word, sentence = weights  # (B, L, T), (B, L)
        real = batch.documents != 0  # (B, L, T)
        many = real.sum(-1) > 1  # (B, L)
        several = real.any(-1).sum(-1) > 1  # (B,)
        return {
            "words_in_a_sentence": real.sum(-1)[many].float(),
            "effective_words": entropy(word)[many].exp(),
            "sentences": real.any(-1).sum(-1)[several].float(),
            "effective_sentences": entropy(sentence)[several].exp(),
        }
    (word,) = weights  # (B, N) or (B, r, N)
    measures = {"words": batch.lengths.float()}
    if word.dim() == 2:
        return measures | {"effective_words": entropy(word).exp()}
    measures["effective_words"] = entropy(word).exp().mean(1)
    if word.shape[1] > 1:
        alike = hop_similarity(word)
        measures |= {"overlap": alike["overlap"], "cosine": alike["cosine"]}
    return measures


class _Words:
    """Collects the weights of opinion words by the rating of their review."""

    def __init__(self, task: Any, ratings: dict[int, int]):
        self._ids = {word: task.vocabulary.ids.get(word, -1) for word in ("good", "bad", "not")}
        self._ratings = [ratings.get(i, 0) for i in range(len(task.parts["test"]))]
        self.seen: dict[tuple[str, int], list[float]] = defaultdict(list)

    def add(self, start: int, batch: Any, weights: list[Tensor]) -> None:
        """Add the words of a batch that begins at this index of the test set."""
        if isinstance(batch, DocumentBatch):
            tokens, word = batch.documents, weights[0]  # (B, L, T)
            # A word's share of its sentence, times the number of words: 1 is a uniform share.
            share = word * (tokens != 0).sum(-1, keepdim=True)  # (B, L, T)
        else:
            tokens = batch.tokens.unsqueeze(1)  # (B, 1, N)
            share = (weights[0] * batch.lengths.unsqueeze(1)).unsqueeze(1)  # (B, 1, N)
        before = torch.cat([torch.zeros_like(tokens[..., :1]), tokens[..., :-1]], dim=-1)
        for opinion in OPINIONS:
            *negation, word_ = opinion.split()
            hit = tokens == self._ids[word_]  # (B, L, T)
            negated = before == self._ids["not"]
            hit = hit & (negated if negation else ~negated)
            for b, row, column in hit.nonzero().tolist():
                rating = self._ratings[start + b]
                self.seen[opinion, rating].append(share[b, row, column].item())

    def table(self) -> dict[str, list[dict[str, Any]]]:
        """Return for each opinion and rating: number, mean share, and a histogram of log2 share."""
        rows_of = {}
        for opinion in OPINIONS:
            rows = []
            for rating in sorted({r for o, r in self.seen if o == opinion}):
                shares = torch.tensor(self.seen[opinion, rating])
                logs = shares.clamp(min=1e-6).log2()
                rows.append(
                    {
                        "rating": rating,
                        "number": len(shares),
                        "mean_share": shares.mean().item(),
                        "median_share": shares.median().item(),
                        "histogram_log2": torch.histc(logs, BINS, -10, 10).int().tolist(),
                    }
                )
            rows_of[opinion] = rows
        return rows_of


def _ratings(corpus: datasets.Corpus[tuple[str, int]]) -> dict[int, int]:
    """Return the star rating of each IMDB test review, which comes from its file name."""
    by_text = dict(datasets.load("imdb-ratings").test)
    return {i: by_text[text] for i, (text, _) in enumerate(corpus.test)}


def _examples(model: nn.Module, task: Any) -> list[dict[str, Any]]:
    """Return some short test texts with their tokens, weights, class and class probabilities."""
    chosen: list[tuple[Any, int]] = []
    for index in range(0, len(task.parts["test"]), 97):
        ids, label = task.parts["test"][index]
        length = sum(map(len, ids)) if task.hierarchical else len(ids)
        if 12 <= length <= 120 and len(chosen) < EXAMPLES:
            chosen.append((ids, label))
    examples = []
    for ids, label in chosen:
        batch = (document_batch if task.hierarchical else text_batch)([(ids, label)])
        logits, *weights = (t.float().cpu() for t in compute_outputs(model, batch.to(device())))
        shown: dict[str, Any] = {
            "label": label,
            "probabilities": [round(p, 4) for p in logits[0].softmax(0).tolist()],
        }
        if task.hierarchical:
            word, sentence = weights
            shown["tokens"] = [task.tokens(row) for row in ids]
            shown["weights"] = [
                [round(w, 4) for w in word[0, i, : len(row)].tolist()] for i, row in enumerate(ids)
            ]
            shown["sentence_weights"] = [round(w, 4) for w in sentence[0, : len(ids)].tolist()]
        else:
            shown["tokens"] = task.tokens(ids)
            hops = weights[0][0] if weights[0].dim() == 3 else weights[0]
            shown["weights"] = [[round(w, 4) for w in hop[: len(ids)].tolist()] for hop in hops]
        examples.append(shown)
    return examples
