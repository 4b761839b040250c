"""Compare kinds of attention in captioners of drawn scenes, whose true regions are known.

    python -m experiments captioning --jobs 2

Each seed has training scenes of its own, and trains a picture encoder of its own to classify
pictures of one object. Then the encoder is frozen, and each decoder is trained on the same feature
maps. The validation and test scenes are the same for all. Recorded beside the captions: how much
of the attention lies in the true regions, what the gate and the penalty change, how noisy the
gradient of REINFORCE is, and the first mistakes of the captions.

Writes book/results/captioning.scenes.json, and the weights of the first seed of "soft" and of its
encoder.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn

from coursekit.corpora.scenes import SceneSplits
from coursekit.models.captioning import CaptionBatch, caption_batches
from coursekit.text.vocabulary import PAD
from coursekit.training import History, results, seed_everything
from coursekit.training import train as train_model
from solutions.captioning.attention import SoftAttention, doubly_stochastic_penalty
from solutions.captioning.captioner import CaptionDecoder

from . import captioning_measures as measures
from .comparison_harness import Comparison, Train
from .reinforce import ENTROPY, REINFORCE, HardAttention, Reinforce, to_hard_attention
from .scene_data import CHANNELS, SEEDS, TRAIN, EncodedScenes, load, prepare

EMBEDDING, HIDDEN, ATTENTION = 32, 64, 16
BATCH, EPOCHS, RATE = 48, 40, 0.01
PENALTY = 0.01  # lambda of the doubly stochastic penalty
SMALL = 0.02  # a smaller weight of the REINFORCE loss
Loss = Callable[[nn.Module, CaptionBatch], Tensor]


class MeanAnnotation(nn.Module):
    """Replacement for attention: the mean of all annotations, whatever the query."""

    def forward(self, query: Tensor, annotations: Tensor) -> tuple[Tensor, Tensor]:
        """Return the mean (B, d_k) and uniform weights (B, N)."""
        even = annotations.new_full(annotations.shape[:2], 1 / annotations.shape[1])  # (B, N)
        return annotations.mean(dim=1), even


class UngatedAttention(SoftAttention):
    """Soft attention without the gate: beta = 1."""

    def __init__(self, query_size: int, key_size: int, hidden_size: int):
        super().__init__(query_size, key_size, hidden_size)
        del self.gate

    def beta(self, query: Tensor) -> Tensor:
        """Return 1 for each picture, (B,)."""
        return query.new_ones(len(query))


def caption_loss(penalty: float = 0.0) -> Loss:
    """Return a loss: cross entropy per word plus `penalty` times the doubly stochastic penalty."""

    def loss(model: nn.Module, batch: CaptionBatch) -> Tensor:
        logits, weights = model(batch.previous, batch.annotations)  # (B, T, V), (B, T, N)
        words = F.cross_entropy(logits.flatten(0, 1), batch.target.flatten(), ignore_index=PAD)
        return (
            words + penalty * doubly_stochastic_penalty(weights, batch.mask) if penalty else words
        )

    return loss


def make_attention() -> SoftAttention:
    """Return untrained soft attention of the course's size."""
    return SoftAttention(HIDDEN, CHANNELS, ATTENTION)


def build(row: str, words: int) -> CaptionDecoder:
    """Return the untrained captioner of a row."""
    attention, _ = MODELS[row]
    return CaptionDecoder(words, EMBEDDING, HIDDEN, CHANNELS, attention())


# Row -> its attention before training, and its loss.
MODELS: dict[str, tuple[Callable[[], nn.Module], Callable[[], Loss]]] = {
    "soft": (make_attention, caption_loss),
    "penalty": (make_attention, lambda: caption_loss(PENALTY)),
    "no-gate": (lambda: UngatedAttention(HIDDEN, CHANNELS, ATTENTION), caption_loss),
    "mean": (MeanAnnotation, caption_loss),
    "hard": (lambda: HardAttention(make_attention()), Reinforce),
    "hard-small": (lambda: HardAttention(make_attention()), lambda: Reinforce(weight=SMALL)),
    "hard-half": (lambda: HardAttention(make_attention(), 0.5), lambda: Reinforce(weight=SMALL)),
    "hard-after-soft": (make_attention, lambda: Reinforce(entropy_weight=0.0)),
    "hard-no-baseline": (make_attention, lambda: Reinforce(baseline=False, entropy_weight=0.0)),
}
CONTINUED = ("hard-after-soft", "hard-no-baseline")  # from the weights of a soft model


def fit(
    model: nn.Module,
    data: EncodedScenes,
    loss: Loss,
    seed: int,
    epochs: int = EPOCHS,
    rate: float = RATE,
    train: Train = train_model,
) -> History:
    """Train a captioner; the epoch is chosen by the captions of the validation scenes."""
    return train(
        model,
        lambda epoch: caption_batches(
            data.annotations["train"], data.captions["train"], BATCH, seed=1000 * seed + epoch
        ),
        loss,
        epochs=epochs,
        learning_rate=rate,
        decay=True,
        progress=False,
        validate=lambda model: {"right": measures.measure_right(model, data, "validation")},
        select="right",
    )


def train_row(row: str, seed: int, scenes: SceneSplits, train: Train) -> dict[str, Any]:
    """Train one captioner; return its metrics, its history and what its attention shows."""
    data = prepare(seed)
    seed_everything(seed)
    model = build(row, len(data.words))
    metrics: dict[str, float] = {}
    seconds = 0.0
    rate = RATE
    if row in CONTINUED:
        seconds = fit(model, data, caption_loss(), seed, train=train).seconds
        model, rate = to_hard_attention(model), RATE / 2
        metrics["exact_before"] = measures.measure_right(model, data)
    _, make_loss = MODELS[row]
    history = fit(model, data, make_loss(), seed, rate=rate, train=train)
    model.eval()
    run: dict[str, Any] = {
        "metrics": metrics | {"exact": measures.measure_right(model, data)},
        "seconds": seconds + history.seconds,
        "history": history.epochs,
        "best_epoch": history.best_epoch,
        "parameters": sum(p.numel() for p in model.parameters()),
        "encoder": data.accuracy,
    }
    if row != "mean":
        run["metrics"] |= measures.measure_regions(model, data)
    if row in ("soft", "penalty", "mean"):
        run["metrics"] |= measures.measure_words(model, data)
    if row in ("soft", "penalty"):
        run["metrics"] |= measures.measure_coverage(model, data)
    if row == "soft":
        run["metrics"] |= measures.measure_gate(model, data)
        run["metrics"] |= measures.measure_relations(model, data)
        run["metrics"] |= measures.measure_noise(model, data)
        run["attention"] = measures.count_attention(model, data)
        if seed == SEEDS[0]:
            results.write_weights(f"{COMPARISON.program}-soft", COMPARISON.data, model)
            results.write_weights(f"{COMPARISON.program}-encoder", COMPARISON.data, data.encoder)
    return run


COMPARISON = Comparison(
    program="captioning",
    data="scenes",
    rows={
        "soft": "soft",
        "penalty": "soft, with penalty",
        "no-gate": "soft, without the gate",
        "mean": "mean annotation",
        "hard": "hard, from random weights",
        "hard-small": "hard, smaller weight of REINFORCE",
        "hard-half": "hard, smaller weight, half of the images soft",
        "hard-after-soft": "hard, from the soft model",
        "hard-no-baseline": "hard, from the soft model, no baseline",
    },
    seeds=SEEDS,
    settings={
        "epochs": EPOCHS,
        "scenes": TRAIN,
        "batch": BATCH,
        "rate": RATE,
        "penalty": PENALTY,
        "reinforce": REINFORCE,
        "small_reinforce": SMALL,
        "entropy": ENTROPY,
        "channels": CHANNELS,
        "embedding": EMBEDDING,
        "hidden": HIDDEN,
        "attention": ATTENTION,
    },
    load=load,
    train_row=train_row,
    scorer="captions written greedily that agree with the true one from the first to the last word",
    tolerance=0.03,  # the encoder is trained first; 1.3 % between AMD and Intel
)
parser, main = COMPARISON.parser, COMPARISON.main
