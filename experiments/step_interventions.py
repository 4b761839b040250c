"""Interventions at single steps of a translator: the weights moved, or another word forced.

The model reads the reference up to a step. There all the weight is put on one annotation, or
another word is read than the one written, and what the model writes next is compared with what it
would have to write if the intervention decided.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, mode

import torch
from torch import Tensor

from coursekit.corpora.grammar.korean_morphology import PARTICLES, particle
from coursekit.corpora.grammar.lexicon import NOUNS
from coursekit.data.batching import source_batch
from coursekit.data.lesson_data import TranslationData
from coursekit.models.translation import AttentionTranslator
from coursekit.text.vocabulary import BOS, WordVocabulary

from .bottleneck import COUNTERS

SENTENCES = 200  # of the test set: those whose steps are changed
KIND = {form: kind for kind, forms in PARTICLES.items() for form in forms}
COUNTER_OF = {noun.korean: noun.counter for noun in NOUNS}
NAMES = COUNTER_OF.keys() - COUNTERS  # a dog is written as a counter is
EVERY = 10  # of the nouns, the first of every ten is forced


@dataclass
class ForcedDecoding:
    """The decoding of one sentence, word by word, with words or contexts from outside.

    Attributes:
        model: a trained translator with attention.
        words: of the target language, by id.
        state: the decoder's state (1, d).
        read: annotations (1, S, 2d), mask (1, S) and projected annotations (1, S, d).
    """

    model: AttentionTranslator
    words: Sequence[str]
    state: Tensor
    read: tuple[Tensor, ...]

    @classmethod
    def start(cls, model: AttentionTranslator, data: TranslationData, i: int) -> ForcedDecoding:
        """Return the decoding of the i-th test sentence before its first word."""
        words = data.target_words
        assert isinstance(words, WordVocabulary)
        state, *read = model.encode(*source_batch([data.test[i][0]]))
        return cls(model, words.words, state, tuple(read))

    def bar(self, position: int) -> None:
        """Mask a source position, from the next step on."""
        annotations, mask, projected = self.read
        mask = mask.clone()  # (1, S)
        mask[:, position] = False
        self.read = annotations, mask, projected

    def step(self, previous: int, look_at: int | None = None) -> str:
        """Read the previous word and return the next one.

        Args:
            previous: id of the previous word.
            look_at: source position that gets all the weight; None leaves the weights alone.
        """
        decoder = self.model.decoder
        embedded = decoder.embedding(torch.tensor([previous]))  # (1, e)
        if look_at is None:
            self.state, context, _ = decoder.step(embedded, self.state, *self.read)
        else:
            context = self.read[0][:, look_at]  # (1, 2d)
            self.state = decoder.cell(torch.cat([embedded, context], dim=-1), self.state)
        return self.words[decoder.readout(embedded, self.state, context).argmax().item()]


@dataclass(frozen=True)
class NounSteps:
    """Where a test sentence writes its first noun, and a noun that it might write instead.

    Attributes:
        sentence: index in the test set.
        step: of the first noun.
        source_of_first: source position of the first noun.
        source_of_last: source position of the last noun.
        last: the last noun.
    """

    sentence: int
    step: int
    source_of_first: int
    source_of_last: int
    last: str


def find_noun_steps(data: TranslationData) -> Iterator[NounSteps]:
    """Yield the test sentences whose first and last noun differ."""
    assert data.links is not None
    for i in range(SENTENCES):
        written = data.target_words.tokens(data.test[i][1])
        links = sorted(data.links[i], key=lambda link: link[1])
        places = [(j, t) for j, t in links if written[t] in NAMES]
        if len(places) > 1 and written[places[0][1]] != written[places[-1][1]]:
            (first, step), (last, place) = places[0], places[-1]
            yield NounSteps(i, step, first, last, written[place])


@dataclass(frozen=True)
class CounterSteps:
    """Where a test sentence writes a counter: after its noun and its number.

    Attributes:
        sentence: index in the test set.
        step: of the counter.
        source_of_number: source position of the number.
        source_of_noun: source position of the noun that is counted.
        counter: the counter.
        others: source positions of nouns that need another counter, and that counter.
    """

    sentence: int
    step: int
    source_of_number: int
    source_of_noun: int
    counter: str
    others: tuple[tuple[int, str], ...]


def find_counter_steps(data: TranslationData) -> Iterator[CounterSteps]:
    """Yield the steps at which test sentences write a counter."""
    assert data.links is not None
    for i in range(SENTENCES):
        written = data.target_words.tokens(data.test[i][1])
        sources: dict[int, list[int]] = {}
        for j, t in sorted(data.links[i]):
            sources.setdefault(t, []).append(j)
        for t, word in enumerate(written):
            noun, number = sources.get(t - 2), sources.get(t - 1)
            if word not in COUNTERS or not noun or not number or sources.get(t) != number:
                continue
            others = tuple(
                (places[0], COUNTER_OF[written[place]])
                for place, places in sources.items()
                if written[place] in NAMES and COUNTER_OF[written[place]] != word
            )
            yield CounterSteps(i, t, number[0], noun[0], word, others)


@torch.no_grad()
def intervene_at_nouns(model: AttentionTranslator, data: TranslationData) -> dict[str, float]:
    """Return how often the translation follows an intervention at the step of the first noun.

    "moved": all weight lies on the last noun, and the model writes that one. "kept_when_barred":
    the first noun's source is barred at all steps, and the model writes that noun all the same.
    "followed": another noun is forced, which needs the other form of the particle after it, and the
    model writes that form. Each is a share of the number of cases after it.
    """
    model.eval()
    words = data.target_words
    assert isinstance(words, WordVocabulary)
    known = sorted(NAMES & words.ids.keys())
    moved, kept_when_barred, followed = [], [], []
    for case in find_noun_steps(data):
        target = [BOS, *data.test[case.sentence][1]]
        decoding = ForcedDecoding.start(model, data, case.sentence)
        for token in target[: case.step]:
            decoding.step(token)
        before = decoding.state
        moved.append(decoding.step(target[case.step], case.source_of_last) == case.last)
        decoding.state = before
        barred = ForcedDecoding.start(model, data, case.sentence)
        barred.bar(case.source_of_first)
        said = [barred.step(token) for token in target[: case.step + 1]]
        kept_when_barred.append(said[-1] == words.words[target[case.step + 1]])
        true = words.words[target[case.step + 2]]
        if true not in KIND:
            continue
        decoding.step(target[case.step])
        after = decoding.state
        for noun in known[::EVERY]:
            needed = particle(KIND[true], noun)
            if needed != true:
                decoding.state = after
                followed.append(decoding.step(words.ids[noun]) == needed)
    return {
        "moved": sum(moved) / len(moved),
        "kept_when_barred": sum(kept_when_barred) / len(kept_when_barred),
        "moved_cases": len(moved),
        "followed": sum(followed) / len(followed),
        "followed_cases": len(followed),
    }


@torch.no_grad()
def intervene_at_counters(model: AttentionTranslator, data: TranslationData) -> dict[str, float]:
    """Return which counter the translation writes after each intervention, as shares.

    "counter_right": the right one, without an intervention; "counter_by_number", "counter_by_noun"
    and "counter_by_end": the right one, with all the weight of the step on the number, on the noun
    that is counted, or, as a control, on <eos>; "counter_most_frequent": the right one, if the
    model always wrote the most frequent counter of these cases; "counter_moved" and
    "counter_stayed": that of another noun, or the right one, with all the weight on that other
    noun; "counter_followed" and "counter_unforced": that of a noun forced two words before, or the
    right one. Each kind has its number of cases.
    """
    model.eval()
    words = data.target_words
    assert isinstance(words, WordVocabulary)
    known = sorted(NAMES & words.ids.keys())
    alone: dict[str, list[bool]] = {"right": [], "by_number": [], "by_noun": [], "by_end": []}
    correct: list[str] = []
    moved: list[tuple[bool, bool]] = []
    forced: list[tuple[bool, bool]] = []
    for case in find_counter_steps(data):
        source, target = data.test[case.sentence]
        target = [BOS, *target]
        decoding = ForcedDecoding.start(model, data, case.sentence)
        for token in target[: case.step - 1]:
            decoding.step(token)
        before_noun = decoding.state
        decoding.step(target[case.step - 1])
        before_number = decoding.state

        def count(look_at: int | None = None) -> str:
            decoding.state = before_number  # noqa: B023  (called within its turn of the loop)
            return decoding.step(target[case.step], look_at)  # noqa: B023

        alone["right"].append(count() == case.counter)
        alone["by_number"].append(count(case.source_of_number) == case.counter)
        alone["by_noun"].append(count(case.source_of_noun) == case.counter)
        alone["by_end"].append(count(len(source) - 1) == case.counter)
        correct.append(case.counter)
        for place, other in case.others:
            said = count(place)
            moved.append((said == other, said == case.counter))
        for noun in known[::EVERY]:
            if COUNTER_OF[noun] != case.counter:
                decoding.state = before_noun
                decoding.step(words.ids[noun])
                said = decoding.step(target[case.step])
                forced.append((said == COUNTER_OF[noun], said == case.counter))
    return {
        **{f"counter_{name}": fmean(values) for name, values in alone.items()},
        "counter_most_frequent": correct.count(mode(correct)) / len(correct),
        "counter_cases": len(correct),
        "counter_moved": fmean(there for there, _ in moved),
        "counter_stayed": fmean(here for _, here in moved),
        "counter_moved_cases": len(moved),
        "counter_followed": fmean(there for there, _ in forced),
        "counter_unforced": fmean(here for _, here in forced),
        "counter_followed_cases": len(forced),
    }
