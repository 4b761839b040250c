"""What all pre-trainings of BERT share: the loss of both tasks, and the learning rate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

from coursekit.models.bert import IGNORED, BertBatch
from solutions.bert.pretraining import pretraining_loss


def bert_loss(model: Any, batch: BertBatch) -> Tensor:
    """Return the loss of both tasks; logits of words are computed at the chosen positions only.

    Args:
        model: a `PretrainingModel`.
        batch: labels (B, N), -100 where nothing is to be predicted; is_next (B,).
    """
    states = model.encoder(batch.tokens, batch.segments)  # (B, N, d)
    chosen = batch.labels != IGNORED  # (B, N)
    logits = model.head(states[chosen])  # (M, V)
    next_logits = model.next(model.summarise(states))  # (B, 2)
    labels = batch.labels[chosen]  # (M,)
    return pretraining_loss(logits[None].float(), next_logits.float(), labels[None], batch.is_next)


def warm_up_and_decay(peak: float, warmup: int, steps: int) -> Callable[[int], float]:
    """Return the paper's schedule: linear warm-up for `warmup` steps, then linear decay to 0."""
    return lambda step: peak * min(step / warmup, max(steps - step + 1, 0) / (steps - warmup))
