"""Drawn scenes with captions, encoded for the captioners of one seed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from coursekit.corpora.scenes import Scene, SceneSplits, scenes, splits
from coursekit.models.captioning import (
    Classifier,
    PictureEncoder,
    class_batches,
    classification_loss,
    feature_maps,
    pictures_of,
)
from coursekit.text.vocabulary import WordVocabulary
from coursekit.training import seed_everything, train
from solutions.captioning.attention import annotation_vectors

CHANNELS = 50  # of an annotation
TRAIN, VALIDATION, TEST = 4_000, 300, 500  # scenes; each seed has training scenes of its own
SEEDS = (1, 2, 3, 4, 5)
ENCODER_RATE, ENCODER_EPOCHS = 0.01, 4


@dataclass(frozen=True)
class EncodedScenes:
    """Drawn scenes, prepared for training.

    Attributes:
        scenes: training, validation and test set.
        words: vocabulary of the captions.
        annotations: (n, 64, 50) of each set, by its name.
        captions: ids with <eos> of each set, by its name.
        encoder: the trained network that computed the annotations.
        accuracy: its accuracy for size, colour and shape on unseen pictures of one object; empty
            if the encoder was not trained here.
    """

    scenes: SceneSplits
    words: WordVocabulary
    annotations: dict[str, Tensor]
    captions: dict[str, list[list[int]]]
    encoder: PictureEncoder
    accuracy: dict[str, float]


def draw_scenes(seed: int) -> SceneSplits:
    """Return the training scenes of a seed, and the validation and test scenes of all seeds."""
    shared = splits(1, VALIDATION, TEST, seed=1)
    taken = {scene.words for scene in (*shared.validation, *shared.test)}
    drawn = [scene for scene in scenes(TRAIN + 500, seed=100 + seed) if scene.words not in taken]
    assert len(drawn) >= TRAIN, "too many captions are those of validation or test scenes"
    return SceneSplits(drawn[:TRAIN], *shared[1:])


def encode_scenes(seed: int, encoder: PictureEncoder | None = None) -> EncodedScenes:
    """Draw the scenes of a seed, and compute all annotations; without an encoder, train one."""
    data = draw_scenes(seed)
    accuracy: dict[str, float] = {}
    if encoder is None:
        encoder, accuracy = train_encoder(seed)
    words = WordVocabulary([scene.words for scene in data.train])
    parts = data._asdict()
    annotations = {
        name: annotation_vectors(feature_maps(encoder, pictures_of(part)))
        for name, part in parts.items()
    }
    captions = {name: [words.encode(scene.words) for scene in part] for name, part in parts.items()}
    return EncodedScenes(data, words, annotations, captions, encoder, accuracy)


def train_encoder(seed: int) -> tuple[PictureEncoder, dict[str, float]]:
    """Train an encoder to classify pictures of one object; return its accuracy on new ones, too."""
    ones = scenes(TRAIN + 500, seed=200 + seed, objects=(1, 1))
    seed_everything(seed)
    encoder = PictureEncoder(CHANNELS)
    classifier = Classifier(encoder, CHANNELS)
    train(
        classifier,
        lambda epoch: class_batches(ones[500:], 32, seed=1000 * seed + epoch),
        classification_loss,
        epochs=ENCODER_EPOCHS,
        learning_rate=ENCODER_RATE,
        decay=True,
        progress=False,
    )
    return encoder, _accuracy(classifier, ones[:500])


@torch.no_grad()
def _accuracy(classifier: Classifier, ones: list[Scene]) -> dict[str, float]:
    batch = next(class_batches(ones, len(ones), seed=0)).to(next(classifier.parameters()).device)
    predicted = [logits.argmax(dim=1) for logits in classifier(batch.pictures)]  # 3 x (B,)
    right = torch.stack(predicted, dim=1) == batch.labels  # (B, 3)
    return dict(zip(("size", "colour", "shape"), right.float().mean(dim=0).tolist(), strict=True))


@lru_cache(maxsize=1)  # the rows of a seed share its scenes and its encoder
def prepare(seed: int) -> EncodedScenes:
    """Draw the scenes of a seed, and train its encoder."""
    return encode_scenes(seed)


def load() -> tuple[SceneSplits, str]:
    """Return the scenes of the first seed, and their SHA-256."""
    data = draw_scenes(SEEDS[0])
    digest = hashlib.sha256()
    for part in data:
        for scene in part:
            digest.update(scene.picture.tobytes() + " ".join(scene.words).encode())
    return data, digest.hexdigest()
