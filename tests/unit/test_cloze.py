"""Tests of the cloze models' visible context, and of the fine-tuning tasks on stories."""

import pytest
import torch
from torch import nn

from coursekit.corpora.stories import TAGS, stories
from coursekit.models.bert import IGNORED
from coursekit.models.cloze import (
    BidirectionalClozeModel,
    Filler,
    cloze_loss,
    label_every_word,
    predict_hidden_words,
    story_vocabulary,
    texts_of,
)
from coursekit.models.story_tasks import (
    question_sentence_pairs,
    questions_with_passages,
    tagged_sentences,
    task_batch,
    task_batches,
)

SAMPLE = stories(40, seed=3)
WORDS = story_vocabulary(SAMPLE)
SIZE = 6


class Averages(nn.Module):
    """An encoder whose states are averages of the embeddings that the mask lets through."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.embedding = nn.Embedding(len(WORDS), SIZE)

    def forward(self, tokens, segments, mask=None):
        if mask is None:
            mask = (tokens != 0).unsqueeze(1).expand(-1, tokens.shape[1], -1)
        weights = mask / mask.sum(dim=-1, keepdim=True)
        return weights.double() @ self.embedding(tokens).double()


def filler(sees):
    return Filler(Averages().double(), nn.Linear(SIZE, len(WORDS)).double(), sees)


def encoded():
    first, second = texts_of(SAMPLE[0])[:2]
    return WORDS.join(*([WORDS.id(w) for w in text] for text in (first, second)))


def test_a_vocabulary_of_whole_words():
    for story in SAMPLE:
        for word in story.words + story.questions[0].words:
            assert WORDS.pieces(word) == [word]


def test_texts_of_two_sentences():
    for story in SAMPLE:
        texts = texts_of(story)
        assert sum(texts, ()) == story.words
        assert texts[0] == story.sentences[0] + story.sentences[1]
        assert len(texts) == (len(story.sentences) + 1) // 2
        assert texts_of(story, begin=1)[0] == story.sentences[1] + story.sentences[2]


@pytest.mark.parametrize(("sees", "before", "after"), [("left", 1, 0), ("right", 0, 1)])
def test_one_side_sees_nothing_of_the_other_nor_of_the_word(sees, before, after):
    ids, segments = encoded()
    model, place = filler(sees), 7
    tokens, given = torch.tensor([ids]), torch.tensor([segments])
    told = model(tokens, given)[0, place]
    for i in range(1, len(ids) - 1):
        changed = tokens.clone()
        changed[0, i] = (tokens[0, i] + 9) % len(WORDS)
        same = torch.equal(model(changed, given)[0, place], told)
        assert same != ((i < place and before) or (i > place and after)), i


def test_both_sides_are_seen_by_one_that_sees_both():
    ids, segments = encoded()
    model = filler("both")
    given = torch.tensor([segments])
    told = model(torch.tensor([ids]), given)[0, 7]
    for i in (3, 12):
        changed = torch.tensor([ids])
        changed[0, i] = 5 if ids[i] != 5 else 6
        assert not torch.equal(model(changed, given)[0, 7], told)


@pytest.mark.parametrize("sees", ["left", "right", "both"])
def test_padding_changes_nothing(sees):
    ids, segments = encoded()
    model, n = filler(sees), len(ids)
    short = model(torch.tensor([ids]), torch.tensor([segments]))
    padded = torch.tensor([[*ids, 0, 0, 0]])
    long = model(padded, torch.tensor([[*segments, 0, 0, 0]]))
    assert torch.isfinite(long).all()
    assert torch.allclose(short[:, 1:-1], long[:, 1 : n - 1])


def test_two_directions_train_only_what_joins_them():
    left, right = filler("left"), filler("right")
    both = BidirectionalClozeModel(left, right, SIZE, nn.Linear(SIZE, len(WORDS))).double()
    trained = {name for name, p in both.named_parameters() if p.requires_grad}
    assert trained == {"combine.weight", "combine.bias", "head.weight", "head.bias"}
    ids, segments = encoded()
    tokens, given = torch.tensor([ids]), torch.tensor([segments])
    told = both(tokens, given)[0, 7]
    hidden = tokens.clone()
    hidden[0, 7] = WORDS.mask_id
    assert torch.equal(both(hidden, given)[0, 7], told), "it saw the word itself"


def test_every_word_hides_nothing_and_asks_for_all_but_the_special_ones():
    tokens = torch.tensor([[2, 9, 8, 3, 0]])
    special = torch.tensor([[True, False, False, True, True]])
    inputs, labels = label_every_word(tokens, special)
    assert inputs.tolist() == tokens.tolist()
    assert labels.tolist() == [[IGNORED, 9, 8, IGNORED, IGNORED]]


def test_filled_hides_each_word_by_itself():
    ids, segments = encoded()
    model = filler("both")
    places, told = predict_hidden_words(model, ids, segments, WORDS)
    assert [ids[i] for i in places] == [i for i in ids if i not in WORDS.special_ids]
    assert torch.allclose(told.sum(dim=1), torch.ones(len(places), dtype=told.dtype))
    hidden = [*ids]
    hidden[places[4]] = WORDS.mask_id
    alone = model(torch.tensor([hidden]), torch.tensor([segments]))[0, places[4]].softmax(dim=0)
    assert torch.allclose(told[4], alone)


def test_the_loss_is_the_mean_over_what_is_asked_for():
    ids, segments = encoded()
    model = filler("left")
    batch = task_batch([(ids, segments, label_every_word(torch.tensor(ids), torch.tensor(
        [i in WORDS.special_ids for i in ids]))[1].tolist())])  # fmt: skip
    logits = model(batch.tokens, batch.segments).log_softmax(dim=-1)[0]
    expected = [-logits[i, t] for i, t in enumerate(ids) if t not in WORDS.special_ids]
    assert torch.allclose(cloze_loss(model, batch), torch.stack(expected).mean())


def test_an_unknown_side_is_refused():
    with pytest.raises(ValueError, match="sees must be one of left, right, both"):
        Filler(nn.Identity(), nn.Identity(), "up")


def test_tags_stand_on_their_words():
    items = tagged_sentences(SAMPLE, WORDS)
    assert len(items) == sum(len(s.sentences) for s in SAMPLE)
    ids, segments, labels = items[0]
    assert len(ids) == len(segments) == len(labels)
    assert WORDS.tokens(ids)[1:-1] == list(SAMPLE[0].sentences[0])
    assert [TAGS[i] for i in labels[1:-1]] == list(SAMPLE[0].tags[0])
    assert labels[0] == labels[-1] == IGNORED


@pytest.mark.parametrize("sentences", [1, 2, 4, 9])
def test_answers_are_found_again_in_the_input(sentences):
    items = iter(questions_with_passages(SAMPLE, WORDS, sentences))
    for story in SAMPLE:
        for question in story.questions:
            ids, segments, (first, last) = next(items)
            assert tuple(WORDS.tokens(ids[first : last + 1])) == story.answer(question)
            assert set(segments[first : last + 1]) == {1}
            assert WORDS.tokens(ids)[1 : 1 + len(question.words)] == list(question.words)
    assert next(items, None) is None


def test_of_two_sentences_one_answers():
    items = iter(question_sentence_pairs(SAMPLE, WORDS, seed=1))
    for story in SAMPLE:
        for question in story.questions:
            true, false = next(items), next(items)
            for (ids, segments, label), wanted in ((true, 1), (false, 0)):
                second = [t for t, s in zip(WORDS.tokens(ids), segments, strict=True) if s][:-1]
                assert label == wanted
                assert (tuple(second) == story.sentences[question.sentence]) == wanted
    assert question_sentence_pairs(SAMPLE, WORDS, 1) == question_sentence_pairs(SAMPLE, WORDS, 1)


@pytest.mark.parametrize(
    ("items", "shape"),
    [
        (tagged_sentences(SAMPLE, WORDS), None),
        (questions_with_passages(SAMPLE, WORDS), (2,)),
        (question_sentence_pairs(SAMPLE, WORDS, 1), ()),
    ],
)
def test_batches_hold_every_item_once(items, shape):
    batches = list(task_batches(items, 16, seed=1))
    assert sum(len(batch.tokens) for batch in batches) == len(items)
    for batch in batches:
        rows = len(batch.tokens)
        expected = tuple(batch.tokens.shape) if shape is None else (rows, *shape)
        assert tuple(batch.labels.shape) == expected
        assert (batch.labels[batch.tokens == 0] == IGNORED).all() if shape is None else True
