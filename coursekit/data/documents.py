"""Tokenization, encoding and batching of texts and documents for classifiers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from coursekit.data.batching import Batch, Batches, order_by_length, pad
from coursekit.text.vocabulary import PAD, WordVocabulary

EncodedText = tuple[Sequence[int], int]  # ids, label
EncodedDocument = tuple[Sequence[Sequence[int]], int]  # ids of each sentence, label

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[^\w\s]")
_BREAK = re.compile(r"<br\s*/?>|\n")  # a line break in HTML or in plain text
_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+")


def words(text: str) -> list[str]:
    """Return the words of a text in lower case; each punctuation mark is a word.

    HTML line breaks (`<br />`) separate words; `don't` is one word.
    """
    return _WORD.findall(_BREAK.sub(" ", text).lower())


def sentences(text: str) -> list[list[str]]:
    """Return the sentences of a text, each a list of words; empty sentences are dropped.

    A sentence ends at a line break, or at . ! ? … before a space.
    """
    parts = (part for line in _BREAK.split(text) for part in _END.split(line))
    return [sentence for part in parts if (sentence := words(part))]


def whole_texts(items: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return, in order, the items whose text is not part of another item's text.

    The training set of SST-2 consists of parse-tree phrases; this keeps the whole sentences.

    Args:
        items: texts and their labels; words are separated by spaces.
    """
    parts: set[tuple[str, ...]] = set()
    for text, _ in items:
        tokens = tuple(text.split())
        for i in range(len(tokens)):
            # All phrases that begin with token i, except the text itself.
            parts.update(tokens[i:j] for j in range(i + 1, len(tokens) + (i > 0)))
    return [item for item in items if tuple(item[0].split()) not in parts]


def encode_document(
    document: Sequence[Sequence[str]],
    vocabulary: WordVocabulary,
    max_words: int = 50,
    max_sentences: int = 40,
) -> list[list[int]]:
    """Return the ids of a document's sentences.

    A sentence of more than `max_words` words is split. A document of more than `max_sentences`
    sentences keeps only its first and last ones, because a review's verdict is often at its end.

    Raises:
        TypeError: the document or a sentence is a string.
    """
    if isinstance(document, str):
        raise TypeError("A document is a list of sentences; split the text with sentences(text).")
    pieces = [
        vocabulary.encode(sentence[start : start + max_words], eos=False)
        for sentence in document
        for start in range(0, len(sentence), max_words)
    ]
    if len(pieces) > max_sentences:
        head = max_sentences // 2
        pieces = [*pieces[:head], *pieces[len(pieces) - (max_sentences - head) :]]
    return pieces


def middle_cut(ids: Sequence[int], most: int) -> list[int]:
    """Return at most `most` ids: half from the beginning, half from the end."""
    if len(ids) <= most:
        return list(ids)
    head = most // 2
    return [*ids[:head], *ids[len(ids) - (most - head) :]]


@dataclass(frozen=True)
class TextBatch(Batch):
    """Texts as padded ids.

    Attributes:
        tokens: (B, N).
        lengths: (B,), the number of real tokens in each row; 0 for an empty text.
        labels: (B,), the class of each text.
    """

    tokens: Tensor
    lengths: Tensor
    labels: Tensor


@dataclass(frozen=True)
class DocumentBatch(Batch):
    """Documents as padded ids.

    Attributes:
        documents: (B, L, T), 0 after a sentence's words and after a document's sentences.
        labels: (B,), the class of each document.
    """

    documents: Tensor
    labels: Tensor


def text_batch(items: Sequence[EncodedText], length: int = 1) -> TextBatch:
    """Pad texts to the longest of them, and to at least `length`."""
    lengths = [len(ids) for ids, _ in items]
    columns = max([length, *lengths])
    rows = [[*ids, *[PAD] * (columns - len(ids))] for ids, _ in items]
    return TextBatch(
        torch.tensor(rows, dtype=torch.long),  # (B, N)
        torch.tensor(lengths),  # (B,)
        torch.tensor([label for _, label in items]),  # (B,)
    )


def document_batch(items: Sequence[EncodedDocument]) -> DocumentBatch:
    """Pad documents to their largest numbers of sentences and words, at least one of each."""
    rows = max([1, *(len(document) for document, _ in items)])
    columns = max([1, *(len(sentence) for document, _ in items for sentence in document)])
    filled = [[*document, *[[]] * (rows - len(document))] for document, _ in items]
    flat = pad([*(sentence for document in filled for sentence in document), [PAD] * columns])[:-1]
    return DocumentBatch(
        flat.reshape(len(items), rows, columns),  # (B, L, T)
        torch.tensor([label for _, label in items]),  # (B,)
    )


def text_batches(
    items: Sequence[EncodedText], batch_size: int, seed: int, length: int = 1
) -> Batches[TextBatch]:
    """Return an iterator over all texts, in random batches of similar length.

    Args:
        items: (ids, label) of each text.
        batch_size: texts in a batch.
        seed: determines the order; pass a different one in each epoch.
        length: minimum length after padding (for a comparison, that of the longest text).
    """
    order = order_by_length([len(ids) for ids, _ in items], batch_size, seed)
    return Batches(len(order), (text_batch([items[i] for i in batch], length) for batch in order))


def document_batches(
    items: Sequence[EncodedDocument], batch_size: int, seed: int
) -> Batches[DocumentBatch]:
    """Return an iterator over all documents, in random batches with similar numbers of sentences.

    Args:
        items: (ids of each sentence, label) of each document.
        batch_size: documents in a batch.
        seed: determines the order; pass a different one in each epoch.
    """
    order = order_by_length([len(document) for document, _ in items], batch_size, seed)
    return Batches(len(order), (document_batch([items[i] for i in batch]) for batch in order))
