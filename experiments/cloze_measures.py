"""What cloze models of the stories predict, what they read for it, and where they attend."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean
from typing import Any

import torch
from torch import nn

from coursekit.corpora.stories import Story
from coursekit.models.bert import PretrainingModel, pad_items
from coursekit.models.cloze import BidirectionalClozeModel, Filler, predict_hidden_words, texts_of
from coursekit.training import device

from .bert_heads import compute_weights, measure_habits
from .story_pretraining_setup import StoryPretraining

SHOWN = 5  # guesses recorded for each word of an example
EXAMPLES = 6
REPLACED = 0.1  # share of the words that are replaced by random ones
GENDERED = ("she", "he", "her", "him")
ClozeModel = Filler | BidirectionalClozeModel


def tags_of(story: Story, begin: int = 0) -> list[tuple[str, ...]]:
    """Return the parts of speech of each text of a story."""
    return texts_of(Story(story.tags, story.tags, (), story.plot), begin=begin)


@torch.no_grad()
def measure_hidden_words(
    model: ClozeModel, stories: StoryPretraining, test: Sequence[Story]
) -> dict[str, float]:
    """Return the accuracy on words that are hidden one at a time: all, and by part of speech.

    Colours and names are counted apart, by whether the pair of texts repeats them: a colour before
    the same thing, a name anywhere.
    """
    hits: dict[str, list[float]] = defaultdict(list)
    losses: list[float] = []
    for story in test:
        texts, tags = texts_of(story), tags_of(story)
        for i, (first, second) in enumerate(pairwise(stories.documents([story])[0])):
            ids, segments = stories.words.join(first, second)
            places, guessed = predict_hidden_words(model, ids, segments, stories.words)  # (M, V)
            true = torch.tensor([ids[place] for place in places])  # (M,)
            right = (guessed.argmax(dim=1) == true).double().tolist()
            losses += (-guessed.gather(1, true[:, None]).log()).flatten().tolist()
            words, kinds = (*texts[i], *texts[i + 1]), (*tags[i], *tags[i + 1])
            for hit, kind, again in zip(right, kinds, _repeats(words, kinds), strict=True):
                hits[kind].append(hit)
                if again is not None:
                    hits[f"{kind}_{again}"].append(hit)
    every = [hit for kind, values in hits.items() if "_" not in kind for hit in values]
    return {
        "accuracy": fmean(every),
        "loss": fmean(losses),
        **{f"accuracy_{kind}": fmean(values) for kind, values in sorted(hits.items())},
    }


def _repeats(words: Sequence[str], kinds: Sequence[str]) -> list[str | None]:
    """Return "repeated" or "single" for each colour of a thing and each name, else None."""
    things = Counter(pairwise(words))
    names = Counter(words)
    said: list[str | None] = []
    for i, (word, kind) in enumerate(zip(words, kinds, strict=True)):
        if kind == "PROPN":
            said.append("repeated" if names[word] > 1 else "single")
        elif kind == "ADJ" and i + 1 < len(words) and kinds[i + 1] == "NOUN":
            said.append("repeated" if things[word, words[i + 1]] > 1 else "single")
        else:
            said.append(None)
    return said


@torch.no_grad()
def measure_visible_words(
    model: Filler, stories: StoryPretraining, test: Sequence[Story]
) -> dict[str, float]:
    """Return a model's accuracy on visible words: true ones, and randomly replaced ones.

    For the latter, one word in ten of each text is replaced by a random one.
    """
    where = device()
    special_ids = stories.words.special_ids
    generator = torch.Generator().manual_seed(7)
    same = wrong = kept = replaced = noticed = 0
    for ids, segments, _ in stories.neighbours(test):
        tokens, given = torch.tensor([ids]), torch.tensor([segments], device=where)
        special = torch.isin(tokens, torch.tensor(special_ids))
        guess = model(tokens.to(where), given).argmax(dim=-1).cpu()  # (1, N)
        same += int((guess == tokens)[~special].sum())
        kept += int((~special).sum())
        places = ~special & (torch.rand(tokens.shape, generator=generator) < REPLACED)
        noise = torch.randint(
            len(special_ids), len(stories.words), tokens.shape, generator=generator
        )
        places &= noise != tokens
        shown = torch.where(places, noise, tokens)
        guess = model(shown.to(where), given).argmax(dim=-1).cpu()  # (1, N)
        replaced += int(places.sum())
        noticed += int((guess == tokens)[places].sum())
        wrong += int((guess == shown)[places].sum())
    return {
        "visible_accuracy": same / kept,
        "replaced_accuracy": noticed / replaced,
        "replaced_believed": wrong / replaced,
    }


@torch.no_grad()
def measure_next_sentences(
    model: PretrainingModel, stories: StoryPretraining, test: Sequence[Story]
) -> float:
    """Return the accuracy of next-sentence prediction."""
    tokens, segments, labels = pad_items(stories.next_pairs(test)(0))
    logits = model(tokens.to(device()), segments.to(device()))[1].cpu()  # (B, 2)
    return ((logits.argmax(dim=1) == 0) == (labels == 1)).double().mean().item()


def fill_examples(
    model: ClozeModel, stories: StoryPretraining, test: Sequence[Story]
) -> list[dict[str, Any]]:
    """Return a model's predictions for each word of the first two texts of some stories."""
    shown = []
    for story in test[:EXAMPLES]:
        first, second = stories.documents([story])[0][:2]
        ids, segments = stories.words.join(first, second)
        places, guessed = predict_hidden_words(model, ids, segments, stories.words)  # (M, V)
        best = guessed.topk(SHOWN, dim=1)
        shown.append(
            {
                "sentences": [list(sentence) for sentence in story.sentences[:4]],
                "guesses": [
                    [
                        [word, round(p, 4)]
                        for word, p in zip(stories.words.tokens(row), ps, strict=True)
                    ]
                    for row, ps in zip(best.indices.tolist(), best.values.tolist(), strict=True)
                ],
                "truth": [guessed[m, ids[i]].item() for m, i in enumerate(places)],
            }
        )
    return shown


@torch.no_grad()
def most_used_words(
    model: Filler, stories: StoryPretraining, story: Story, place: int
) -> tuple[float, list[tuple[int, float]]]:
    """Return a hidden word's probability, and what it loses when another word is hidden, too.

    Args:
        model: sees both sides.
        stories: with the vocabulary.
        story: whose first two texts are read.
        place: the hidden word, counted over both texts.

    Returns:
        the probability of the true word, and (place, loss) of each other word, largest loss first.
    """
    where = device()
    first, second = stories.documents([story])[0][:2]
    ids, given = stories.words.join(first, second)
    spots = [i for i, token in enumerate(ids) if token not in stories.words.special_ids]
    others = [k for k in range(len(spots)) if k != place]
    inputs = torch.tensor(ids).repeat(len(others) + 1, 1)  # (1 + others, N)
    inputs[:, spots[place]] = stories.words.mask_id
    inputs[torch.arange(1, len(others) + 1), [spots[k] for k in others]] = stories.words.mask_id
    segments = torch.tensor(given).repeat(len(inputs), 1)
    logits = model(inputs.to(where), segments.to(where))[:, spots[place]]  # (1 + others, V)
    p = logits.softmax(dim=-1)[:, ids[spots[place]]].tolist()
    lost = [(k, p[0] - after) for k, after in zip(others, p[1:], strict=True)]
    return p[0], sorted(lost, key=lambda pair: -pair[1])


@torch.no_grad()
def find_two_sided_gap(
    both: Filler, left: Filler, stories: StoryPretraining, story: Story
) -> tuple[float, tuple[list[str], list[str], int]]:
    """Find the noun or verb that a model of both sides predicts better than one of the left side.

    Args:
        both: sees both sides.
        left: sees the words before the gap only.
        stories: with the vocabulary.
        story: whose first two texts are read.

    Returns:
        the smaller of the gain and of what the most used other word contributes; and the first
        text, the second and the gap's place, counted over both texts.
    """
    first, second = (list(text) for text in texts_of(story)[:2])
    one, other = stories.documents([story])[0][:2]
    ids, segments = stories.words.join(one, other)
    wanted = torch.tensor([tag in ("NOUN", "VERB") for tag in sum(tags_of(story)[:2], ())])
    chances = []
    for model in (both, left):
        places, found = predict_hidden_words(model, ids, segments, stories.words)  # (M, V)
        chances.append(found[range(len(places)), [ids[place] for place in places]])  # (M,)
    gain = wanted * (chances[0] - chances[1])  # (M,)
    gap = int(gain.argmax())
    _, ((_, loss), *_) = most_used_words(both, stories, story, gap)
    return min(gain[gap].item(), loss), (first, second, gap)


def measure_reading(
    model: Filler, stories: StoryPretraining, test: Sequence[Story]
) -> dict[str, float]:
    """Return on which kinds of words the prediction of hidden pronouns rests most.

    Counted are the pronouns with a gender that the model gives at least one half. "none": no other
    word costs a tenth when it is hidden, too.
    """
    most: Counter[str] = Counter()
    for story in test:
        words = sum(texts_of(story)[:2], ())
        kinds = sum(tags_of(story)[:2], ())
        for place, word in enumerate(words):
            if word in GENDERED and kinds[place] == "PRON":
                p, lost = most_used_words(model, stories, story, place)
                if p >= 0.5:
                    best, loss = lost[0]
                    most[_kind(words[best], kinds[best]) if loss >= 0.1 else "none"] += 1
    named = ("pronoun", "possessive", "name", "none")
    shares = {f"rests_on_{kind}": most[kind] / most.total() for kind in named}
    return shares | {"rests_on_other": 1 - sum(shares.values())}


def _kind(word: str, tag: str) -> str:
    if tag == "PRON" and word in GENDERED:
        return "pronoun"
    if tag == "DET" and word in ("his", "her"):
        return "possessive"
    return "name" if tag == "PROPN" else "other"


def measure_heads(
    encoder: nn.Module, stories: StoryPretraining, test: Sequence[Story]
) -> list[dict[str, float]]:
    """Return the mean weights of each head on some kinds of places, and how many tokens it uses.

    "even" is the weight of one token if all have the same.
    """
    means: dict[tuple[int, int], list[dict[str, float]]] = defaultdict(list)
    for story in test:
        first, second = stories.documents([story])[0][:2]
        ids, given = stories.words.join(first, second)
        special = [i for i, token in enumerate(ids) if token in stories.words.special_ids]
        for layer, weights in enumerate(compute_weights(encoder, (ids, given, 0)), start=1):
            habits = measure_habits(weights, special, len(ids) - 2)
            for head in range(len(weights)):
                one = {name: value[head].item() for name, value in habits.items()}
                means[layer, head + 1].append(
                    {name: one[name] for name in ("before", "next", "itself")}
                    | {"special": one["cls"] + one["sep"], "tokens": one["used"]}
                    | {"even": 1 / len(ids)}
                )
    return [
        {"layer": layer, "head": head}
        | {name: fmean(row[name] for row in rows) for name in rows[0]}
        for (layer, head), rows in means.items()
    ]
