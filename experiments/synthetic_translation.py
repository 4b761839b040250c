"""Data and measurements that the comparisons of translators on synthetic pairs share.

`FreshPairs` draws new sentences for every epoch, so that no model can learn its pairs by heart.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coursekit import corpora
from coursekit.data.batching import (
    EncodedPair,
    TranslationBatch,
    batches_by_length,
    translation_batch,
)
from coursekit.data.lesson_data import TranslationData, translation_data
from coursekit.models.translation import Translator, attention_weights, translate
from coursekit.text.vocabulary import PAD, WordVocabulary, until_eos
from coursekit.training import History
from coursekit.training.metrics import alignment_error_rate, argmax_links, entropy
from solutions.seq2seq.encoder_decoder import reverse_source

from .comparison_harness import Train

BATCH, RATE = 64, 6e-3  # of all comparisons
GRADIENT_EDGES = (4, 7, 10, 13, 16, 19, 22, 27)  # words of the source
MAKE = {"korean": corpora.english_korean, "french": corpora.english_french}


@dataclass
class FreshPairs:
    """A synthetic corpus whose training pairs are new in every epoch.

    Attributes:
        language: the target language, "korean" or "french".
        pairs: training pairs of an epoch.
        max_length: longest source sentence, in words; the shortest has 4.
        data: the vocabularies, and the validation and test sets, which are fixed.
    """

    language: str
    pairs: int
    max_length: int
    data: TranslationData = field(init=False)
    _epochs: dict[int, list[EncodedPair]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.data = translation_data(
            "quick", language=self.language, pairs=self.pairs, max_length=self.max_length
        )

    def epoch(self, number: int) -> list[EncodedPair]:
        """Return the training pairs of an epoch, counted from 1; none is held out."""
        if number not in self._epochs:
            made = self.draw(self.pairs, 100 + number, self.max_length)
            fixed = [*self.data.validation, *self.data.test]
            held_out = {tuple(source) for source, _ in fixed}
            self._epochs[number] = [pair for pair in made if tuple(pair[0]) not in held_out]
        return self._epochs[number]

    def draw(self, pairs: int, seed: int, max_length: int) -> list[EncodedPair]:
        """Return new pairs of this language, encoded."""
        source, target = self.data.source_words, self.data.target_words
        assert isinstance(source, WordVocabulary) and isinstance(target, WordVocabulary)
        made = MAKE[self.language](pairs, seed=seed, min_length=4, max_length=max_length)
        return [(source.encode(pair.source), target.encode(pair.target)) for pair in made]

    def batches(self, number: int, size: int, seed: int) -> Iterable[TranslationBatch]:
        """Return the batches of an epoch in an order that depends on the seed."""
        return batches_by_length(self.epoch(number), size, seed=1000 * seed + number)

    def train(
        self, model: Translator, seed: int, train: Train, *, epochs: int, **settings: Any
    ) -> History:
        """Train a translator for some epochs while the learning rate falls to 0.

        Args:
            model: the untrained translator.
            seed: of the order of the batches.
            train: the training loop, or a rehearsal of it.
            epochs: how many times new pairs are drawn.
            settings: further arguments of the training loop, in place of the defaults: `loss`,
                `validate`, `select`.
        """
        loss = settings.pop("loss", cross_entropy)
        defaults = {"validate": lambda _: validate_exactly(model, self.data.validation)}
        return train(
            model,
            lambda epoch: self.batches(epoch, BATCH, seed),
            loss,
            epochs=epochs,
            learning_rate=RATE,
            decay=True,
            progress=False,
            **(defaults | settings),
        )

    def sha256(self) -> str:
        """Return the checksum of the first epoch, the validation set and the test set."""
        digest = hashlib.sha256()
        for part in (self.epoch(1), self.data.validation, self.data.test):
            digest.update(repr(part).encode())
        return digest.hexdigest()


def cross_entropy(model: nn.Module, batch: TranslationBatch) -> Tensor:
    """Return the mean negative log probability per real target word."""
    logits, _ = model(batch.source, batch.lengths, batch.previous)  # (B, T, V)
    return F.cross_entropy(logits.flatten(0, 1), batch.target.flatten(), ignore_index=PAD)


def compare_with_references(
    model: Translator, pairs: Sequence[EncodedPair]
) -> tuple[Tensor, Tensor]:
    """Translate greedily and compare with the references, position by position.

    Returns:
        exact (N,): 1 where the translation is its reference word for word, else 0; in_place (N,):
        the share of positions that hold the right word.
    """
    found = translate(model, [source for source, _ in pairs])
    exact, in_place = [], []
    for ours, (_, target) in zip(found, pairs, strict=True):
        true = until_eos(target)
        exact.append(float(ours == true))
        right = sum(a == b for a, b in zip(ours, true, strict=False))
        in_place.append(right / max(len(ours), len(true)))
    return torch.tensor(exact), torch.tensor(in_place)


def validate_exactly(model: Translator, pairs: Sequence[EncodedPair]) -> dict[str, float]:
    """Return the share of exact translations as a metric of an epoch."""
    return {"exact": compare_with_references(model, pairs)[0].mean().item()}


def describe_run(
    model: Translator, history: History, data: TranslationData, edges: Sequence[int], long: int
) -> dict[str, Any]:
    """Return what a record says of every trained translator.

    Args:
        model: the trained translator.
        history: of its training.
        data: whose test set is translated.
        edges: of the ranges of lengths, see `group_by_length`.
        long: words from which on a sentence counts as long.
    """
    exact, in_place = compare_with_references(model, data.test)
    is_long = torch.tensor(data.source_lengths) >= long
    return {
        "metrics": {
            "exact": exact.mean().item(),
            "exact_long": exact[is_long].mean().item(),
            "in_place": in_place.mean().item(),
        },
        "seconds": history.seconds,
        "best_epoch": history.best_epoch,
        "history": history.epochs,
        "by_length": group_by_length(
            edges, data.source_lengths, {"exact": exact, "in_place": in_place}
        ),
        "parameters": sum(p.numel() for p in model.parameters()),
    }


def group_by_length(
    edges: Sequence[int], lengths: Sequence[int], columns: Mapping[str, Tensor]
) -> list[dict[str, Any]]:
    """Return the mean of each column over the sentences of each range of lengths.

    Args:
        edges: a range goes from one edge up to, but not including, the next.
        lengths: words of each sentence.
        columns: for each name a value per sentence, (N,).
    """
    words = torch.tensor(lengths)
    table = []
    for low, high in pairwise(edges):
        inside = (words >= low) & (words < high)
        means = {name: values[inside].mean().item() for name, values in columns.items()}
        table.append({"from": low, "to": high - 1, "sentences": int(inside.sum())} | means)
    return table


@torch.no_grad()
def log_probs_of_references(
    model: Translator, pairs: Sequence[EncodedPair]
) -> tuple[Tensor, Tensor]:
    """Return log p of each true word after the true words before it, and which are real; (N, T)."""
    batch = translation_batch(pairs).to(next(model.parameters()).device)
    logits, _ = model(batch.source, batch.lengths, batch.previous)  # (N, T, V)
    found = logits.log_softmax(-1).gather(-1, batch.target.unsqueeze(-1))[..., 0]  # (N, T)
    return found.cpu(), (batch.target != PAD).cpu()


def source_embedding(model: Any) -> nn.Module:
    """Return the module that embeds the source words of a translator."""
    part = getattr(model, "encoder", None) or model.model
    return getattr(part, "source_embedding", None) or part.embedding


def embed_source(model: nn.Module, *given: Tensor) -> tuple[Tensor, Tensor]:
    """Return logits (B, T, V), and the embedded source words (B, S, e) that they come from.

    Args:
        model: a translator.
        given: source (B, S), lengths (B,) and previous target words (B, T).
    """
    seen: list[Tensor] = []
    hook = source_embedding(model).register_forward_hook(lambda m, i, output: seen.append(output))
    logits = model(*given)[0]
    hook.remove()
    return logits, seen[0]  # where source and target share a table, the source is read first


def first_word_gradients(
    model: Translator, embedding: nn.Module, pairs: Sequence[EncodedPair], at_once: int = 50
) -> Tensor:
    """Return r = |dL/dx_1| / mean_s |dL/dx_s| of each sentence, x the embedded source words; (N,).

    L is the loss of the sentence. r is 1 if the first word gets as much gradient as an average word
    of its sentence.
    """
    model.eval()
    ratios = []
    for start in range(0, len(pairs), at_once):
        batch = translation_batch(pairs[start : start + at_once])
        batch = batch.to(next(model.parameters()).device)
        held: list[Tensor] = []

        def keep(module: nn.Module, given: Any, output: Tensor, held: list[Tensor] = held) -> None:
            output.retain_grad()
            held.append(output)

        hook = embedding.register_forward_hook(keep)
        # cuDNN computes no gradient of a recurrent network in eval mode.
        with torch.enable_grad(), torch.backends.cudnn.flags(enabled=False):
            # A sum over sentences: the gradient of each sentence is its own.
            (cross_entropy(model, batch) * (batch.target != PAD).sum()).backward()
        hook.remove()
        assert held[0].grad is not None
        norms = held[0].grad.norm(dim=-1)  # (B, S)
        if model.prepare is reverse_source:
            norms = reverse_source(norms, batch.lengths)  # back into the order of the sentence
        words = batch.lengths.to(norms.device) - 1  # <eos> is no word
        real = torch.arange(norms.shape[1], device=norms.device) < words.unsqueeze(1)  # (B, S)
        ratios.append((norms[:, 0] / ((norms * real).sum(dim=1) / words)).cpu())
    model.zero_grad(set_to_none=True)
    return torch.cat(ratios)


def gradients_by_length(
    model: Translator, embedding: nn.Module, pairs: Sequence[EncodedPair]
) -> list[dict[str, Any]]:
    """Return the geometric mean of r, see `first_word_gradients`, for each range of lengths."""
    log_r = first_word_gradients(model, embedding, pairs).log()  # (N,)
    lengths = [len(source) - 1 for source, _ in pairs]  # without <eos>
    table = group_by_length(GRADIENT_EDGES, lengths, {"r": log_r})
    return [row | {"r": math.exp(row["r"])} for row in table]


def weights_for(model: Translator, pairs: Sequence[EncodedPair]) -> list[Tensor]:
    """Return the attention weights (T, S) of each pair, for the true target words."""
    return attention_weights(model, [s for s, _ in pairs], [t for _, t in pairs])


def count_used(rows: Sequence[Tensor]) -> float:
    """Return how many words a target word uses on average: exp of the entropy of its weights."""
    # A row of local attention need not sum to 1.
    shares = (w / w.sum(-1, keepdim=True).clamp(min=1e-9) for w in rows)
    return torch.cat([entropy(w).exp() for w in shares]).mean().item()


def measure_alignment(rows: Sequence[Tensor], data: TranslationData) -> dict[str, float]:
    """Return the alignment error rate of the weights of the test set, and how many words they use.

    A target word without a gold link is not counted in the error rate.
    """
    assert data.links is not None
    linked = [{t for _, t in gold} for gold in data.links]
    predicted = [argmax_links(w, t) for w, t in zip(rows, linked, strict=True)]
    return {
        "alignment_error_rate": alignment_error_rate(predicted, data.links),
        "annotations_used": count_used(rows),
    }
