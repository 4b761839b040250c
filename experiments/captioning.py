"""Train captioners on drawn scenes, one for each kind of attention, and record their quality.

    python -m experiments captioning [--models soft penalty ...] [--epochs 40] [--seeds 1 2 3]

The picture encoder is first trained to classify pictures of one object. Then it is frozen, and each
decoder is trained on the same feature maps: with soft attention, with the doubly stochastic
penalty, without attention, and with hard attention by REINFORCE (from scratch, from scratch with
half of the pictures soft, and from the weights of soft attention). The chapter uses the same
functions with fewer epochs. Writes book/results/captioner-<model>.scenes.json.
"""

from __future__ import annotations

import argparse
import copy
import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coursekit.corpora.scenes import SceneSplits, scenes, splits
from coursekit.models.captioning import (
    CaptionBatch,
    Classifier,
    PictureEncoder,
    attention_weights,
    caption_batches,
    class_batches,
    classification_loss,
    feature_maps,
    greedy_captions,
    measure_region_attention,
    pictures_of,
)
from coursekit.text.vocabulary import PAD, WordVocabulary
from coursekit.training import History, results, seed_everything, train
from coursekit.training.metrics import exact_match
from solutions.captioning.attention import (
    SoftAttention,
    annotation_vectors,
    doubly_stochastic_penalty,
    hard_attention,
    reinforce_loss,
)
from solutions.captioning.captioner import CaptionDecoder

from .run_registry import command

CHANNELS, EMBEDDING, HIDDEN, ATTENTION = 50, 32, 64, 16
BATCH, RATE = 48, 0.01
PENALTY = 0.01  # lambda of the doubly stochastic penalty
REINFORCE = 0.1  # weight of the REINFORCE loss against the words' cross entropy
ENTROPY = 0.005  # weight of the entropy, which keeps attention from converging too early
SCORER = "captions written greedily that agree with the true one from the first to the last word"
Loss = Callable[[nn.Module, CaptionBatch], Tensor]


@dataclass(frozen=True)
class Drawn:
    """Drawn scenes, prepared for training.

    Attributes:
        scenes: training, validation and test set.
        words: vocabulary of the captions.
        annotations: (n, 64, 50) of each set, by its name.
        captions: ids with <eos> of each set, by its name.
        encoder: the trained network that computed the annotations.
        accuracy: its accuracy for size, colour and shape on unseen pictures of one object.
        history: history of its training.
    """

    scenes: SceneSplits
    words: WordVocabulary
    annotations: dict[str, Tensor]
    captions: dict[str, list[list[int]]]
    encoder: PictureEncoder
    accuracy: dict[str, float]
    history: History


def draw_scenes(number: int = 4000, class_epochs: int = 4, seed: int = 1) -> Drawn:
    """Draw the scenes, train the encoder as a classifier, and compute all annotations once."""
    data = splits(number, 300, 500, seed=seed)
    ones = scenes(number + 500, seed=seed + 1, objects=(1, 1))
    seed_everything(seed)
    encoder = PictureEncoder(CHANNELS)
    classifier = Classifier(encoder, CHANNELS)
    history = train(
        classifier,
        lambda epoch: class_batches(ones[500:], 32, seed=epoch),
        classification_loss,
        epochs=class_epochs,
        learning_rate=RATE,
        decay=True,
        progress=False,
    )
    words = WordVocabulary([scene.words for scene in data.train])
    parts = data._asdict()
    return Drawn(
        data,
        words,
        {
            name: annotation_vectors(feature_maps(encoder, pictures_of(part)))
            for name, part in parts.items()
        },
        {name: [words.encode(scene.words) for scene in part] for name, part in parts.items()},
        encoder,
        _accuracy(classifier, ones[:500]),
        history,
    )


@torch.no_grad()
def _accuracy(classifier: Classifier, ones: list[Any]) -> dict[str, float]:
    batch = next(class_batches(ones, len(ones), seed=0)).to(next(classifier.parameters()).device)
    predicted = [logits.argmax(dim=1) for logits in classifier(batch.pictures)]  # 3 x (B,)
    right = torch.stack(predicted, dim=1) == batch.labels  # (B, 3)
    return dict(zip(("size", "colour", "shape"), right.float().mean(dim=0).tolist(), strict=True))


class MeanAnnotation(nn.Module):
    """Replacement for attention: the mean of all annotations, whatever the query."""

    def forward(self, query: Tensor, annotations: Tensor) -> tuple[Tensor, Tensor]:
        """Return the mean (B, d_k) and uniform weights (B, N)."""
        even = annotations.new_full(annotations.shape[:2], 1 / annotations.shape[1])  # (B, N)
        return annotations.mean(dim=1), even


class HardAttention(nn.Module):
    """Attention to one location: sampled in training, the most probable one at inference.

    Args:
        soft: soft attention, which computes the weights and the gate.
        soft_share: share of training pictures that get soft attention at every word.
    """

    def __init__(self, soft: SoftAttention, soft_share: float = 0.0):
        super().__init__()
        self.soft, self.soft_share = soft, soft_share
        self.softly = torch.empty(0, dtype=torch.bool)  # (B,), pictures with soft attention
        self.log_probs: list[Tensor] = []  # of the sampled locations, (B,) for each word
        self.entropies: list[Tensor] = []  # of the weights, (B,) for each word

    def forward(self, query: Tensor, annotations: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gated annotation of one location, (B, d_k), and the weights (B, N)."""
        expected, weights = self.soft(query, annotations)  # (B, d_k), (B, N)
        gate = self.soft.beta(query).unsqueeze(1)  # (B, 1)
        if not self.training:
            best = weights.argmax(dim=1)  # (B,)
            return gate * annotations[torch.arange(len(best), device=best.device), best], weights
        if not self.log_probs:  # the caption begins
            self.softly = torch.rand(len(gate), device=gate.device) < self.soft_share
        context, _, log_prob = hard_attention(weights, annotations)
        self.log_probs.append(log_prob.masked_fill(self.softly, 0.0))
        self.entropies.append(torch.special.entr(weights).sum(dim=1))
        return torch.where(self.softly.unsqueeze(1), expected, gate * context), weights


def likelihood(penalty: float = 0.0) -> Loss:
    """Return a loss: cross entropy per word plus `penalty` times the doubly stochastic penalty."""

    def loss(model: nn.Module, batch: CaptionBatch) -> Tensor:
        logits, weights = model(batch.previous, batch.annotations)  # (B, T, V), (B, T, N)
        words = F.cross_entropy(logits.flatten(0, 1), batch.target.flatten(), ignore_index=PAD)
        return (
            words + penalty * doubly_stochastic_penalty(weights, batch.mask) if penalty else words
        )

    return loss


class Reinforce:
    """The loss of hard attention: words, REINFORCE for the sampled locations, and entropy.

    The reward of a picture's locations is log p(caption | locations). The baseline is a moving
    average of the batches' mean rewards, b <- 0.9 b + 0.1 R, without pictures that are soft.

    Args:
        baseline: whether to use a baseline; else b = 0.
        strength: weight of the REINFORCE loss.
        entropy: weight of the entropy.
    """

    def __init__(
        self, baseline: bool = True, strength: float = REINFORCE, entropy: float = ENTROPY
    ):
        self.baseline, self.strength, self.entropy = baseline, strength, entropy
        self.average: float | None = None

    def parts(self, model: nn.Module, batch: CaptionBatch) -> tuple[Tensor, Tensor, Tensor]:
        """Sample locations; return reward (B,), log-probabilities (B, T) and entropies (B, T)."""
        looker: Any = model.attention
        looker.log_probs, looker.entropies = [], []
        logits, _ = model(batch.previous, batch.annotations)  # (B, T, V)
        reward = -F.cross_entropy(
            logits.transpose(1, 2), batch.target, ignore_index=PAD, reduction="none"
        ).sum(dim=1)  # (B,)
        return reward, torch.stack(looker.log_probs, 1), torch.stack(looker.entropies, 1)

    def __call__(self, model: nn.Module, batch: CaptionBatch) -> Tensor:
        """Return the loss per word."""
        reward, log_prob, entropy = self.parts(model, batch)
        looker: Any = model.attention
        mean = reward[~looker.softly].mean().item() if not looker.softly.all() else self.average
        self.average = mean if self.average is None else self.average
        baseline = (self.average or 0.0) if self.baseline else 0.0
        looked = reinforce_loss(log_prob, reward.detach(), baseline, batch.mask)
        self.average = 0.9 * (self.average or 0.0) + 0.1 * (mean or 0.0)
        per_word = len(batch.target) / batch.mask.sum()
        bonus = entropy[batch.mask].mean()
        return per_word * (self.strength * looked - reward.mean()) - self.entropy * bonus


def make_decoder(words: int, attention: nn.Module, seed: int = 1) -> CaptionDecoder:
    """Return an untrained decoder."""
    seed_everything(seed)
    return CaptionDecoder(words, EMBEDDING, HIDDEN, CHANNELS, attention)


def make_attention(seed: int = 1) -> SoftAttention:
    """Return untrained soft attention of the course's size."""
    seed_everything(seed)
    return SoftAttention(HIDDEN, CHANNELS, ATTENTION)


def fit(
    model: nn.Module, data: Drawn, loss: Loss, epochs: int, rate: float = RATE, **more: Any
) -> History:
    """Train a decoder on the training set; the order of the batches is always the same."""
    return train(
        model,
        lambda epoch: caption_batches(
            data.annotations["train"], data.captions["train"], BATCH, seed=epoch
        ),
        loss,
        epochs=epochs,
        learning_rate=rate,
        decay=True,
        progress=False,
        **more,
    )


def measure_right(model: nn.Module, data: Drawn, part: str = "test") -> float:
    """Return the share of captions that match the true one exactly."""
    captions = [caption.ids for caption in greedy_captions(model, data.annotations[part])]
    return exact_match(captions, [ids[:-1] for ids in data.captions[part]])


def harden(model: CaptionDecoder) -> CaptionDecoder:
    """Return a copy of a soft-attention decoder that attends to one location at a time."""
    harder = copy.deepcopy(model)
    harder.attention = HardAttention(harder.attention)  # type: ignore[arg-type]
    return harder


MODELS: dict[str, tuple[Callable[[int], nn.Module], Callable[[], Loss]]] = {
    "soft": (make_attention, likelihood),
    "penalty": (make_attention, lambda: likelihood(PENALTY)),
    "mean": (lambda seed: MeanAnnotation(), likelihood),
    "hard": (lambda seed: HardAttention(make_attention(seed)), Reinforce),
    "hard-half": (
        lambda seed: HardAttention(make_attention(seed), 0.5),
        lambda: Reinforce(strength=0.02),
    ),
    "hard-after-soft": (make_attention, lambda: Reinforce(entropy=0.0)),
}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    arguments.add_argument("--epochs", type=int, default=40)
    arguments.add_argument("--scenes", type=int, default=4000)
    arguments.add_argument("--seeds", type=int, nargs="+", default=[1])
    return arguments


def main(options: argparse.Namespace) -> None:
    """Train the models and record them."""
    data = draw_scenes(options.scenes)
    digest = hashlib.sha256()
    for part in data.scenes:
        for scene in part:
            digest.update(scene.picture.tobytes() + " ".join(scene.words).encode())
    print("the classifier names", data.accuracy)
    for name in options.models:
        attention, make_loss = MODELS[name]
        runs = []
        for seed in options.seeds:
            started = time.process_time()
            model = make_decoder(len(data.words), attention(seed), seed)
            rate = RATE
            if name == "hard-after-soft":
                fit(model, data, likelihood(), options.epochs)
                model, rate = harden(model), RATE / 2
            history = fit(
                model, data, make_loss(), options.epochs, rate,
                validate=lambda m: {"right": measure_right(m, data, "validation")}, select="right",
            )  # fmt: skip
            seconds = time.process_time() - started
            metrics = {"exact": measure_right(model, data)}
            if name != "mean":
                gazes = measure_region_attention(
                    attention_weights(model, data.annotations["test"], data.captions["test"]),
                    data.scenes.test,
                )
                for kind, one in gazes.items():
                    metrics |= {f"share_{kind}": one.share, f"pointing_{kind}": one.pointing}
            runs.append(
                {
                    "seed": seed,
                    "metrics": metrics,
                    "seconds": seconds,
                    "best_epoch": history.best_epoch,
                    "validation": history.column("right"),
                }
            )
            print(name, seed, f"{seconds:.0f} s", metrics, flush=True)
        results.write_result(
            f"captioner-{name}",
            "scenes",
            runs=runs,
            parameters=sum(p.numel() for p in model.parameters()),
            data_sha256=digest.hexdigest(),
            command=command("captioning", argparse.Namespace(**vars(options) | {"models": [name]})),
            scorer=SCORER,
            settings={"epochs": options.epochs, "scenes": options.scenes, "batch": BATCH},
            classifier=data.accuracy,
        )
