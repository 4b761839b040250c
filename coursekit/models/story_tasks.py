"""Fine-tuning tasks on the synthetic stories: tagging, answer spans, sentence pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import torch

from coursekit.corpora.stories import TAGS, Question, Story
from coursekit.data.batching import order_by_length
from coursekit.models.bert import IGNORED, BertBatch, pad_items
from coursekit.text.wordpiece import WordPieceVocabulary

# ids, segments, and a class, a class for each token, or the answer's first and last token
Labelled = tuple[Sequence[int], Sequence[int], int | Sequence[int]]


def tagged_sentences(stories: Iterable[Story], vocabulary: WordPieceVocabulary) -> list[Labelled]:
    """Return every sentence with the number of each word's tag in `TAGS`, -100 elsewhere."""
    return [
        (
            *vocabulary.join([vocabulary.id(word) for word in sentence]),
            [IGNORED, *(TAGS.index(tag) for tag in tags), IGNORED],
        )
        for story in stories
        for sentence, tags in zip(story.sentences, story.tags, strict=True)
    ]


def questions_with_passages(
    stories: Iterable[Story], vocabulary: WordPieceVocabulary, sentences: int = 4
) -> list[Labelled]:
    """Return every question with a passage around its answer, and the answer's input positions.

    Args:
        stories: stories with questions.
        vocabulary: every word of the stories is one of its pieces.
        sentences: number of sentences in the passage, which surrounds the answer.
    """
    return [
        (*joined, [start + question.first, start + question.last])
        for story in stories
        for question in story.questions
        for joined, start in (_with_passage(story, question, vocabulary, sentences),)
    ]


def _with_passage(
    story: Story, question: Question, vocabulary: WordPieceVocabulary, sentences: int
) -> tuple[tuple[list[int], list[int]], int]:
    """Return the question with its passage, and the input position of the story's first word."""
    last = max(0, len(story.sentences) - sentences)
    begin = min(max(0, question.sentence - sentences // 2), last)
    passage = sum(story.sentences[begin : begin + sentences], ())
    left_out = sum(len(sentence) for sentence in story.sentences[:begin])
    asked = [vocabulary.id(word) for word in question.words]
    joined = vocabulary.join(asked, [vocabulary.id(word) for word in passage])
    return joined, len(asked) + 2 - left_out  # [CLS] and [SEP]


def question_sentence_pairs(
    stories: Iterable[Story], vocabulary: WordPieceVocabulary, seed: int
) -> list[Labelled]:
    """Return pairs of a question and a sentence of its story: 1 if it holds the answer, else 0.

    Every question gives one pair of each kind.
    """
    generator = torch.Generator().manual_seed(seed)
    pairs: list[Labelled] = []
    for story in stories:
        for question in story.questions:
            others = [i for i in range(len(story.sentences)) if i != question.sentence]
            other = others[int(torch.randint(len(others), (), generator=generator))]
            asked = [vocabulary.id(word) for word in question.words]
            for i, label in ((question.sentence, 1), (other, 0)):
                sentence = [vocabulary.id(word) for word in story.sentences[i]]
                pairs.append((*vocabulary.join(asked, sentence), label))
    return pairs


def task_batches(items: Sequence[Labelled], batch_size: int, seed: int) -> Iterator[BertBatch]:
    """Yield all items once, in random batches of similar length.

    Args:
        items: result of one of the functions above.
        batch_size: items in a batch.
        seed: determines the order; pass a different one in each epoch.

    Yields:
        batches whose labels are (B,), (B, N) with -100 where there is none, or (B, 2).
    """
    for order in order_by_length([len(ids) for ids, _, _ in items], batch_size, seed):
        yield task_batch([items[i] for i in order])


def task_batch(items: Sequence[Labelled]) -> BertBatch:
    """Return one batch of these items, in the given order."""
    tokens, segments, _ = pad_items([(ids, given, 0) for ids, given, _ in items])
    rows = [[label] if isinstance(label, int) else list(label) for _, _, label in items]
    columns = max(map(len, rows))
    labels = torch.tensor([[*row, *[IGNORED] * (columns - len(row))] for row in rows])
    if isinstance(items[0][2], int):
        labels = labels.squeeze(1)  # (B,)
    return BertBatch(tokens, segments, labels, torch.zeros(len(items), dtype=torch.bool))
