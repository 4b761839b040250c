"""Image captioning: CNN encoder, batches, greedy captions and attention measures."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coursekit.corpora.scenes import CANVAS, COLOURS, SHAPES, SIZES, Scene, kind
from coursekit.data.batching import Batch, Batches, pad
from coursekit.text.vocabulary import BOS, EOS, PAD

GRID = 8
"""Rows and columns of the feature map: a location is a square of 6 by 6 pixels of a scene."""


class PictureEncoder(nn.Module):
    """A small convolutional network whose last feature map keeps the spatial layout.

    Three convolutions with batch normalisation and ReLU, the first of stride 2, and 3 x 3 max
    pooling before the last, reduce 48 x 48 pixels to 8 x 8 locations. The receptive field of a
    location is 25 x 25 pixels, with its own 6 x 6 in the middle. The last two channels are the row
    and the column of the location, from -1 to 1: a convolution computes the same everywhere, so
    it cannot tell "above" from "below".

    Args:
        channels: C, channels of the feature map, including the two coordinates.
    """

    coordinates: Tensor

    def __init__(self, channels: int = 50):
        super().__init__()
        self.convolutions = nn.Sequential(
            nn.Conv2d(3, 16, 5, stride=2, padding=2),  # (B, 16, 24, 24)
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.Conv2d(16, 32, 3, padding=1),  # (B, 32, 24, 24)
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.MaxPool2d(3),  # (B, 32, 8, 8)
            nn.Conv2d(32, channels - 2, 3, padding=1),  # (B, C - 2, 8, 8)
            nn.BatchNorm2d(channels - 2),
            nn.ReLU(),
        )
        line = torch.linspace(-1.0, 1.0, GRID)
        self.register_buffer("coordinates", torch.stack(torch.meshgrid(line, line, indexing="ij")))

    def forward(self, pictures: Tensor) -> Tensor:
        """Return the feature map (B, C, 8, 8) of pictures (B, 3, 48, 48) with values 0 to 1."""
        features = self.convolutions(pictures - 0.45)  # (B, C - 2, 8, 8)
        where = self.coordinates.expand(len(features), -1, -1, -1)  # (B, 2, 8, 8)
        return torch.cat([features, where], dim=1)  # (B, C, 8, 8)


class Classifier(nn.Module):
    """Classifier of the size, colour and shape of the object in a one-object picture.

    Each channel of the feature map, except the coordinates, is max-pooled over all locations; one
    linear layer predicts each of the three attributes. The object's location is not given.

    Args:
        encoder: trained together with it, and later used without it.
        channels: C, channels of the encoder's feature map.
    """

    def __init__(self, encoder: nn.Module, channels: int = 50):
        super().__init__()
        self.encoder = encoder
        self.heads = nn.ModuleList(
            nn.Linear(channels - 2, len(names)) for names in (SIZES, COLOURS, SHAPES)
        )

    def forward(self, pictures: Tensor) -> list[Tensor]:
        """Return the logits of size (B, 3), colour (B, 6) and shape (B, 5)."""
        largest = self.encoder(pictures)[:, :-2].amax(dim=(2, 3))  # (B, C - 2)
        return [head(largest) for head in self.heads]


@dataclass(frozen=True)
class ClassBatch(Batch):
    """Pictures of one object, (B, 3, 48, 48), with labels (B, 3) of size, colour and shape."""

    pictures: Tensor
    labels: Tensor


def classification_loss(model: nn.Module, batch: ClassBatch) -> Tensor:
    """Return the sum of the three cross entropies, for size, colour and shape."""
    logits = model(batch.pictures)
    return sum(
        (F.cross_entropy(one, batch.labels[:, i]) for i, one in enumerate(logits)),
        start=batch.pictures.new_zeros(()),
    )


def pictures_of(scenes: Sequence[Scene]) -> Tensor:
    """Return the pictures of scenes, (B, 3, 48, 48), with values from 0 to 1."""
    stacked = torch.from_numpy(np.stack([scene.picture for scene in scenes]))  # (B, 48, 48, 3)
    return stacked.permute(0, 3, 1, 2).float() / 255


def class_batches(scenes: Sequence[Scene], batch_size: int, seed: int) -> Batches[ClassBatch]:
    """Return an iterator over one-object scenes in random order.

    The labels are size, colour and shape.
    """
    names = [tuple(SIZES), tuple(COLOURS), SHAPES]
    labels = torch.tensor(
        [
            [n.index(w) for n, w in zip(names, (t.size, t.colour, t.shape), strict=True)]
            for t in (scene.objects[0] for scene in scenes)
        ]
    )  # (n, 3)
    pictures = pictures_of(scenes)
    order = torch.randperm(len(scenes), generator=torch.Generator().manual_seed(seed))
    parts = order.split(batch_size)
    return Batches(len(parts), (ClassBatch(pictures[part], labels[part]) for part in parts))


@torch.no_grad()
def feature_maps(encoder: nn.Module, pictures: Tensor, batch_size: int = 256) -> Tensor:
    """Return the feature maps (n, C, H, W) of pictures (n, 3, ., .), computed in batches."""
    encoder.eval()
    where = next(encoder.parameters()).device
    parts = [encoder(part.to(where)).cpu() for part in pictures.split(batch_size)]
    return torch.cat(parts)


@dataclass(frozen=True)
class CaptionBatch(Batch):
    """Pictures with their captions.

    Attributes:
        annotations: (B, N, d_k).
        previous: (B, T), <bos> and the caption without its <eos>: what the decoder reads.
        target: (B, T), the caption with its <eos>: what the decoder should predict.
    """

    annotations: Tensor
    previous: Tensor
    target: Tensor

    @property
    def mask(self) -> Tensor:
        """Bool (B, T), True = a real word (or <eos>)."""
        return self.target != PAD


def caption_batch(annotations: Tensor, captions: Sequence[Sequence[int]]) -> CaptionBatch:
    """Pad encoded captions (each ending in <eos>) into one batch with their pictures.

    Args:
        annotations: (B, N, d_k).
        captions: B lists of ids.
    """
    previous = pad([[BOS, *caption[:-1]] for caption in captions])  # (B, T)
    # A decoder multiplies the annotations at every step: contiguous, they need no copy there.
    return CaptionBatch(annotations.contiguous(), previous, pad(captions))


def caption_batches(
    annotations: Tensor, captions: Sequence[Sequence[int]], batch_size: int, seed: int
) -> Batches[CaptionBatch]:
    """Return an iterator over all captions, in random batches of equal length where possible.

    Args:
        annotations: (n, N, d_k), of the pictures.
        captions: n lists of ids, each ending in <eos>.
        batch_size: captions in a batch; the last one may hold fewer.
        seed: determines the order; pass a different one in each epoch.
    """
    generator = random.Random(seed)
    order = list(range(len(captions)))
    generator.shuffle(order)
    order.sort(key=lambda i: len(captions[i]))  # stable: random within a length
    batches = [order[i : i + batch_size] for i in range(0, len(order), batch_size)]
    generator.shuffle(batches)
    made = (
        caption_batch(annotations[torch.tensor(batch)], [captions[i] for i in batch])
        for batch in batches
    )
    return Batches(len(batches), made)


@dataclass(frozen=True)
class Caption:
    """A caption that a model wrote.

    Attributes:
        ids: its words, without <eos>.
        weights: (T, N), the attention weights at each word.
        probabilities: (T,), the probability of each word.
    """

    ids: list[int]
    weights: Tensor
    probabilities: Tensor


@torch.no_grad()
def greedy_captions(
    decoder: Any, annotations: Tensor, max_length: int = 20, batch_size: int = 256
) -> list[Caption]:
    """Caption pictures greedily, taking the most probable word at each step.

    Args:
        decoder: with `embedding`, `start(annotations)`, `step(embedded, state, annotations) ->
            (state, context, weights)` and `readout(embedded, states, contexts)`; the first
            member of its state is h.
        annotations: (n, N, d_k).
        max_length: maximum number of words, <eos> included.
        batch_size: pictures per batch.

    Returns:
        a caption for each picture, in order.
    """
    decoder.eval()
    where = next(decoder.parameters()).device
    return [
        caption
        for part in annotations.split(batch_size)
        for caption in _greedy(decoder, part.to(where), max_length)
    ]


def _greedy(decoder: Any, annotations: Tensor, max_length: int) -> list[Caption]:
    tokens = torch.full((len(annotations),), BOS, device=annotations.device)  # (B,)
    state = decoder.start(annotations)
    ended = torch.zeros_like(tokens, dtype=torch.bool)  # (B,)
    steps = []
    for _ in range(max_length):
        embedded = decoder.embedding(tokens)  # (B, e)
        state, context, weights = decoder.step(embedded, state, annotations)
        probabilities = decoder.readout(embedded, state[0], context).softmax(dim=-1)  # (B, V)
        sure, tokens = probabilities.max(dim=-1)  # (B,), (B,)
        steps.append((tokens, weights, sure))
        ended = ended | (tokens == EOS)
        if ended.all():
            break
    ids, weights, sure = (torch.stack(part, dim=1).cpu() for part in zip(*steps, strict=True))
    captions = []
    for b, row in enumerate(ids.tolist()):
        length = row.index(EOS) if EOS in row else len(row)
        captions.append(Caption(row[:length], weights[b, :length], sure[b, :length]))
    return captions


@torch.no_grad()
def attention_weights(
    decoder: Any, annotations: Tensor, captions: Sequence[Sequence[int]], batch_size: int = 256
) -> list[Tensor]:
    """Return a model's attention weights when it reads the true captions.

    Args:
        decoder: `decoder(tokens (B, T), annotations) -> (logits, weights (B, T, N))`.
        annotations: (n, N, d_k).
        captions: n lists of ids, each ending in <eos>.
        batch_size: pictures per batch.

    Returns:
        the weights (T, N) for each picture, one row per word and the last for <eos>.
    """
    decoder.eval()
    where = next(decoder.parameters()).device
    weights_of = []
    for start in range(0, len(captions), batch_size):
        part = captions[start : start + batch_size]
        batch = caption_batch(annotations[start : start + batch_size], part).to(where)
        _, weights = decoder(batch.previous, batch.annotations)  # (B, T, N)
        weights_of += [w[: len(c)] for w, c in zip(weights.cpu(), part, strict=True)]
    return weights_of


def overlapped_locations(region: np.ndarray, grid: int = GRID) -> Tensor:
    """Return the locations of a feature map that a region of a picture overlaps.

    Args:
        region: bool (H, W), pixels; H and W are multiples of `grid`.
        grid: rows and columns of the feature map.

    Returns:
        bool (grid * grid,), row by row: True where at least one pixel of the location is in the
        region.
    """
    height, width = region.shape
    cells = region.reshape(grid, height // grid, grid, width // grid)
    return torch.from_numpy(cells.any(axis=(1, 3)).reshape(-1))


@dataclass(frozen=True)
class RegionAttention:
    """Agreement of attention with the true regions, for one kind of word.

    Attributes:
        words: number of words measured.
        share: mean share of the weight inside the word's region, 0 to 1.
        pointing: share of the words whose largest weight lies inside the region.
        chance: mean share of the locations that are in the region: the baseline of uniform
            weights, or of a random location, in both measures.
    """

    words: int
    share: float
    pointing: float
    chance: float


def measure_region_attention(
    weights: Sequence[Tensor], scenes: Sequence[Scene]
) -> dict[str, RegionAttention]:
    """Measure attention against the true regions of the content words.

    Args:
        weights: for each scene (T, N), a row for each word of its true caption; further rows, such
            as that of <eos>, are ignored.
        scenes: the scenes, which give the region of each word.

    Returns:
        a `RegionAttention` for each kind of word that occurs ("size", "colour", "shape",
        "relation").
    """
    rows: dict[str, list[tuple[float, float, float]]] = {}
    for matrix, scene in zip(weights, scenes, strict=True):
        for t, word in enumerate(scene.words):
            name = kind(word)
            if name is None:
                continue
            inside = overlapped_locations(scene.region(t))  # (N,)
            row = matrix[t]  # (N,)
            hit = inside[row.argmax()].item()
            numbers = (row[inside].sum().item(), float(hit), inside.float().mean().item())
            rows.setdefault(name, []).append(numbers)
    gazes = {}
    for name in ("size", "colour", "shape", "relation"):
        if name in rows:
            share, pointing, chance = np.mean(rows[name], axis=0).tolist()
            gazes[name] = RegionAttention(len(rows[name]), share, pointing, chance)
    return gazes


def attention_per_object(weights: Tensor, scene: Scene) -> list[float]:
    """Return the share of one step's attention on each object of a scene.

    Args:
        weights: (N,), sum to 1.
        scene: the scene.

    Returns:
        a share for each object, 0 to 1; the rest is on the background.
    """
    return [weights[overlapped_locations(item.mask())].sum().item() for item in scene.objects]


__all__ = [
    "CANVAS",
    "GRID",
    "Caption",
    "CaptionBatch",
    "ClassBatch",
    "Classifier",
    "PictureEncoder",
    "RegionAttention",
    "attention_per_object",
    "attention_weights",
    "caption_batch",
    "caption_batches",
    "class_batches",
    "classification_loss",
    "feature_maps",
    "greedy_captions",
    "measure_region_attention",
    "overlapped_locations",
    "pictures_of",
]
