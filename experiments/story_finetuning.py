"""Fine-tuning on the synthetic stories: tags of words, answers in passages, pairs of sentences."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count, islice

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coursekit.corpora.stories import TAGS
from coursekit.models.bert import IGNORED, BertBatch
from coursekit.models.cloze import one_sided_mask
from coursekit.models.story_tasks import (
    Labelled,
    question_sentence_pairs,
    questions_with_passages,
    tagged_sentences,
    task_batch,
    task_batches,
)
from coursekit.training import device, seed_everything
from solutions.bert.finetuning import SequenceClassifier, SpanPredictor, TokenClassifier

from .comparison_harness import Train
from .story_pretraining_setup import WIDTH, StoryPretraining, make_optimizer

BATCH, RATE, WARMUP, EPOCHS = 16, 2e-3, 20, 10
# Task -> labelled examples -> updates.
UPDATES = {
    "tags": {10: 100, 50: 200, 500: 500},
    "answers": {50: 200, 500: 1000, 5000: 2000},
    "pairs": {50: 200, 500: 1000, 5000: 2000},
}


class LeftToRightEncoder(nn.Module):
    """An encoder in which no token sees later ones.

    The state of the last token, the only one that has read everything, replaces that of [CLS].

    Args:
        encoder: `encoder(tokens (B, N), segments (B, N), mask (B, N, N)) -> states (B, N, d)`.
        pad_id: id of padding.
    """

    def __init__(self, encoder: nn.Module, pad_id: int = 0):
        super().__init__()
        self.encoder = encoder
        self.pad_id = pad_id

    def forward(self, tokens: Tensor, segments: Tensor | None = None) -> Tensor:
        """Return states (B, N, d) for ids (B, N) and segments (B, N)."""
        mask = one_sided_mask(tokens, "left", self.pad_id)  # (B, N, N)
        states = self.encoder(tokens, segments, mask)  # (B, N, d)
        last = (tokens != self.pad_id).sum(dim=1) - 1  # (B,)
        summary = states[torch.arange(len(tokens), device=tokens.device), last]  # (B, d)
        return torch.cat([summary[:, None], states[:, 1:]], dim=1)


@dataclass(frozen=True)
class FinetuningTask:
    """Labelled examples of a task, the model for it, and its loss."""

    train: list[Labelled]
    validation: list[Labelled]
    test: list[Labelled]
    make: Callable[[nn.Module], nn.Module]
    loss: Callable[[nn.Module, BertBatch], Tensor]


def tag_loss(model: nn.Module, batch: BertBatch) -> Tensor:
    """Return the mean cross entropy over the words."""
    logits = model(batch.tokens, batch.segments)  # (B, N, C)
    return F.cross_entropy(logits.flatten(0, 1), batch.labels.flatten(), ignore_index=IGNORED)


def span_loss(model: nn.Module, batch: BertBatch) -> Tensor:
    """Return the cross entropy of the answers' first tokens plus that of their last tokens."""
    real = batch.tokens != 0  # (B, N)
    return sum(
        (
            F.cross_entropy(scores.masked_fill(~real, -torch.inf), batch.labels[:, k])
            for k, scores in enumerate(model(batch.tokens, batch.segments))  # (B, N)
        ),
        torch.zeros((), device=batch.tokens.device),
    )


def pair_loss(model: nn.Module, batch: BertBatch) -> Tensor:
    """Return the mean cross entropy over the pairs."""
    return F.cross_entropy(model(batch.tokens, batch.segments), batch.labels)


def make_tasks(stories: StoryPretraining) -> dict[str, FinetuningTask]:
    """Return the three tasks, by name."""
    data, words = stories.data, stories.words
    return {
        "tags": FinetuningTask(
            tagged_sentences(data.train, words),
            tagged_sentences(data.validation, words),
            tagged_sentences(data.test, words),
            lambda encoder: TokenClassifier(encoder, WIDTH, len(TAGS)),
            tag_loss,
        ),
        "answers": FinetuningTask(
            questions_with_passages(data.train, words),
            questions_with_passages(data.validation, words),
            questions_with_passages(data.test, words),
            lambda encoder: SpanPredictor(encoder, WIDTH),
            span_loss,
        ),
        "pairs": FinetuningTask(
            question_sentence_pairs(data.train, words, seed=1),
            question_sentence_pairs(data.validation, words, seed=2),
            question_sentence_pairs(data.test, words, seed=3),
            lambda encoder: SequenceClassifier(encoder, WIDTH, 2),
            pair_loss,
        ),
    }


@torch.no_grad()
def share_right(model: nn.Module, items: list[Labelled], sep_id: int) -> float:
    """Return the share of the tags, answers or pairs that a model gets right."""
    hits: list[Tensor] = []
    for first in range(0, len(items), 200):
        batch = task_batch(items[first : first + 200]).to(device())
        if isinstance(model, SpanPredictor):
            passage = (batch.segments == 1) & (batch.tokens != sep_id)  # (B, N)
            first_scores, last_scores = model(batch.tokens, batch.segments)  # (B, N)
            spans = model.best(first_scores, last_scores, passage)
            hits.append((torch.stack(spans, dim=1) == batch.labels).all(dim=1))
        else:
            best = model(batch.tokens, batch.segments).argmax(dim=-1)  # (B,) or (B, N)
            hits.append((best == batch.labels)[batch.labels != IGNORED])
    return torch.cat(hits).double().mean().item()


def fine_tune(
    task: FinetuningTask,
    encoder: nn.Module,
    pooler: nn.Linear | None,
    labels: int,
    updates: int,
    seed: int,
    sep_id: int,
    train: Train,
) -> nn.Module:
    """Train a model of a task from a copy of an encoder; the epoch is chosen on validation data.

    Args:
        task: the task.
        encoder: `encoder(tokens, segments) -> states (B, N, d)`; it is not changed.
        pooler: replaces that of a classifier, if there is one.
        labels: number of labelled examples.
        updates: in all epochs together.
        seed: of the examples, the output layer and the order of the batches.
        sep_id: id of [SEP].
        train: the training loop.
    """
    items = random.Random(seed).sample(task.train, labels)
    seed_everything(seed)
    model = task.make(copy.deepcopy(encoder).requires_grad_(True))
    if pooler is not None and isinstance(model, SequenceClassifier):
        model.pooler.load_state_dict(pooler.state_dict())
    per_epoch = updates // EPOCHS
    train(
        model,
        lambda epoch: islice(
            (
                batch
                for turn in count(1000 * epoch)
                for batch in task_batches(items, BATCH, 100_000 * seed + turn)
            ),
            per_epoch,
        ),
        task.loss,
        epochs=EPOCHS,
        schedule=lambda step: RATE * min(step / WARMUP, (updates - step + 1) / updates),
        optimizer=make_optimizer,
        validate=lambda model: {"right": share_right(model, task.validation, sep_id)},
        select="right",
        progress=False,
    )
    return model.eval()


def measure_finetuning(
    stories: StoryPretraining, encoder: nn.Module, pooler: nn.Linear | None, seed: int, train: Train
) -> dict[str, float]:
    """Fine-tune an encoder on each task with each number of labels; return the shares right."""
    sep_id = stories.words.sep_id
    metrics = {}
    for name, task in make_tasks(stories).items():
        for labels, updates in UPDATES[name].items():
            model = fine_tune(task, encoder, pooler, labels, updates, seed, sep_id, train)
            metrics[f"{name}_{labels}"] = share_right(model, task.test, sep_id)
    return metrics
