"""Pre-training on the synthetic stories: inputs, masking, models, batches, learning rate."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from coursekit.corpora.stories import Story, StorySplits, splits
from coursekit.models.bert import (
    IGNORED,
    BertBatch,
    PretrainingModel,
    initialise,
    pretraining_batches,
)
from coursekit.models.cloze import Filler, story_vocabulary, texts_of
from solutions.bert.inputs import BertEmbeddings, mask_tokens, next_sentence_pairs
from solutions.bert.pretraining import BertEncoder, BertLayer, MaskedLanguageModelHead, pool_first

from .bert_loss_and_schedule import warm_up_and_decay

TRAIN, VALIDATION, TEST, DATA_SEED = 8_000, 100, 200, 1
LONGEST = 72  # tokens; enough for a question with its passage
WIDTH, HEADS, LAYERS = 64, 4, 2
BATCH, UPDATES, EPOCHS = 24, 12_000, 12
WARMUP, RATE = 100, 4e-3
DEVIATION = 0.08  # of the initial weights

Item = tuple[list[int], list[int], int]  # ids, segments, 1 if the second text is the next one
Mask = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


class StoryPretraining:
    """The stories with their vocabulary, their splitting into texts, and their masking.

    Attributes:
        data: the stories.
        words: their vocabulary.
    """

    def __init__(self, data: StorySplits) -> None:
        self.data = data
        self.words = story_vocabulary(data.train)

    def make_encoder(self, width: int = WIDTH) -> BertEncoder:
        """Return an untrained encoder."""
        layers = [BertLayer(width, HEADS, 2 * width) for _ in range(LAYERS)]
        embeddings = BertEmbeddings(len(self.words), width, LONGEST)
        encoder = BertEncoder(embeddings, layers)
        initialise(encoder, DEVIATION)
        # At first, the identity of a word counts for more than its position.
        nn.init.normal_(embeddings.token.weight, std=2 * DEVIATION)
        nn.init.normal_(embeddings.position.weight, std=DEVIATION / 4)
        return encoder

    def make_head(self, embedding: Any) -> MaskedLanguageModelHead:
        """Return an untrained head that shares an `nn.Embedding`."""
        head = MaskedLanguageModelHead(embedding)
        nn.init.normal_(head.transform.weight, std=DEVIATION)
        return head

    def make_filler(self, sees: str, width: int = WIDTH) -> Filler:
        """Return an untrained model that predicts hidden words and sees one side or both."""
        encoder = self.make_encoder(width)
        return Filler(encoder, self.make_head(encoder.embeddings.token), sees)

    def make_bert(self) -> PretrainingModel:
        """Return an untrained BERT with both heads."""
        encoder = self.make_encoder()
        return PretrainingModel(
            encoder, self.make_head(encoder.embeddings.token), WIDTH, pool_first
        )

    def documents(self, stories: Iterable[Story], begin: int = 0) -> list[list[list[int]]]:
        """Return stories as lists of two-sentence texts, as ids, from sentence `begin` on."""
        return [
            [[self.words.id(w) for w in text] for text in texts_of(story, begin=begin)]
            for story in stories
        ]

    def encode_whole(self, stories: Iterable[Story]) -> Tensor:
        """Return the ids of whole stories, (M, N): [CLS], and [SEP] at the end of each sentence."""
        rows = []
        for story in stories:
            ids = [self.words.cls_id]
            for sentence in story.sentences:
                ids += [*(self.words.id(word) for word in sentence), self.words.sep_id]
            rows.append(torch.tensor(ids))
        return nn.utils.rnn.pad_sequence(rows, True, self.words.pad_id)

    def neighbours(self, stories: Iterable[Story]) -> list[Item]:
        """Return all pairs of consecutive texts, for both ways of splitting the stories."""
        return [
            (*self.words.join(first, second), 1)
            for begin in (0, 1)
            for document in self.documents(stories, begin)
            for first, second in pairwise(document)
        ]

    def next_pairs(self, stories: Iterable[Story]) -> Callable[[int], list[Item]]:
        """Return `pairs(turn)`: each text with the next one, or with one from another story."""
        documents = [self.documents(stories, begin) for begin in (0, 1)]

        def pairs(turn: int) -> list[Item]:
            drawn = next_sentence_pairs(documents[turn % 2], torch.Generator().manual_seed(turn))
            return [(*self.words.join(a, b), int(is_next)) for a, b, is_next in drawn]

        return pairs

    def batches(
        self,
        items: Callable[[int], list[Item]],
        mask: Mask,
        seed: int,
        updates: int = UPDATES,
        epochs: int = EPOCHS,
    ) -> Callable[[int], Iterator[BertBatch]]:
        """Return `batches(epoch)` for `train`, with updates / epochs batches in an epoch.

        Args:
            items: `items(turn)` returns the pairs of one pass through the stories.
            mask: `mask(tokens, special) -> (inputs, labels)`; draws from torch's generator.
            seed: of the order of the batches and of what is hidden.
            updates: in all epochs together.
            epochs: number of epochs.
        """

        def draw(epoch: int) -> Iterator[BertBatch]:
            made, turn = 0, 1_000_000 * seed + 1000 * epoch
            torch.manual_seed(turn)
            while made < updates // epochs:
                turn += 1
                for batch in pretraining_batches(
                    items(turn), BATCH, turn, mask, self.words.special_ids
                ):
                    yield batch
                    made += 1
                    if made == updates // epochs:
                        return

        return draw

    def mask_words(self, tokens: Tensor, special: Tensor) -> tuple[Tensor, Tensor]:
        """Hide words as the paper does, 80/10/10."""
        return mask_tokens(tokens, special, len(self.words), self.words.mask_id)

    def mask_all_chosen(self, tokens: Tensor, special: Tensor) -> tuple[Tensor, Tensor]:
        """Hide as many words, but replace all of them by [MASK]."""
        _, labels = self.mask_words(tokens, special)
        return torch.where(labels != IGNORED, self.words.mask_id, tokens), labels


def load() -> tuple[StoryPretraining, str]:
    """Return the stories, and their SHA-256."""
    data = splits(TRAIN, VALIDATION, TEST, DATA_SEED)
    return StoryPretraining(data), hashlib.sha256(repr(data).encode()).hexdigest()


def learning_rate(updates: int = UPDATES) -> Callable[[int], float]:
    """Return the learning rate of each step."""
    return warm_up_and_decay(RATE, WARMUP, updates)


def make_optimizer(parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
    """Return Adam with weight decay for the trainable parameters."""
    trained = [parameter for parameter in parameters if parameter.requires_grad]
    return torch.optim.AdamW(trained, betas=(0.9, 0.98), weight_decay=0.01, fused=True)
