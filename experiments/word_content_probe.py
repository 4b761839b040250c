"""Measure which words of a sentence can be read back from the one vector of an encoder-decoder.

    python -m experiments word_content_probe --jobs 2

The task is "word content" (Adi et al. 2017): given the vector of a sentence and a word, say whether
the word occurs in the sentence. Here the words are the forms of nouns, adjectives and verbs, and
the probe is linear: a logistic regression for each of them. It is fitted to sentences that no
translator was trained on, for Cho's and Sutskever's models of `five_translators`, and as a control
for the same networks without training. The models of the first seed are those that the page runs;
the others are trained as they were.

Writes book/results/word_content_probe.english-french.json, and the weights of the first seed.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coursekit.corpora import SentencePair
from coursekit.corpora.everyday_pairs import everyday_english_french
from coursekit.corpora.grammar.lexicon import EVERYDAY
from coursekit.data.batching import translation_batch
from coursekit.models.translation import ContextTranslator, translate
from coursekit.text.vocabulary import WordVocabulary
from coursekit.training import History, device, results, seed_everything
from coursekit.widgets import as_packed

from . import everyday_data
from .comparison_harness import Comparison, Train
from .everyday_data import LONGEST, EverydaySentences
from .five_translators import EDGES, SEEDS, build, train_translator
from .five_translators import LEVELS as MODEL_LEVELS
from .five_translators import read_recorded as read_translators
from .synthetic_translation import group_by_length

SENTENCES = 20_000  # to which the probe is fitted
EPOCHS = 20
RATE = 1e-2  # falling to 0
BATCH = 100
QUARTERS = 4  # of a sentence, in which the words that come back are counted
QUARTERED = 16  # words of the shortest sentence that is cut into quarters
LEVELS = 31  # of each weight of a probe in the browser


class LinearProbe(nn.Module):
    """Scores C words by whether they occur in the sentence of a vector.

    logits = W (v - m) / s + b, with the mean m and the standard deviation s of each component

    Args:
        vectors: of the sentences to which the probe will be fitted, (N, d).
        words: C.
    """

    mean: Tensor
    deviation: Tensor

    def __init__(self, vectors: Tensor, words: int) -> None:
        super().__init__()
        self.register_buffer("mean", vectors.mean(dim=0))  # (d,)
        self.register_buffer("deviation", vectors.std(dim=0).clamp(min=1e-6))  # (d,)
        self.weight = nn.Parameter(torch.zeros(words, vectors.shape[1]))
        self.bias = nn.Parameter(torch.zeros(words))

    def forward(self, vectors: Tensor) -> Tensor:
        """Return the logits of all words, (B, C), for vectors (B, d)."""
        standardised = (vectors - self.mean) / self.deviation  # (B, d)
        return F.linear(standardised, self.weight, self.bias)  # (B, C)


def read_recorded(source: WordVocabulary) -> tuple[dict[str, LinearProbe], list[str]]:
    """Return the probes of the first seed as they are recorded, and the words that they score."""
    content = [word for word in source.words if word in content_words()]
    probes = {}
    for name in ("cho", "sutskever"):
        saved = results.read_weights(f"word_content_probe-{name}", "english-french")
        words, size = saved["weight"].shape
        probes[name] = LinearProbe(torch.zeros(2, size), words)
        probes[name].load_state_dict(saved)
    return probes, content


class ProbeBatch(NamedTuple):
    """Vectors of sentences, (B, d), and which words occur in each, (B, C) of 0 and 1."""

    vectors: Tensor
    occur: Tensor

    def to(self, place: torch.device) -> ProbeBatch:
        """Return the batch on a device."""
        return ProbeBatch(self.vectors.to(place), self.occur.to(place))


@dataclass
class ProbedSentences:
    """The sentences of the translators, and those to which the probes are fitted."""

    translators: EverydaySentences
    fitting: list[SentencePair]


def load() -> tuple[ProbedSentences, str]:
    """Return the sentences and their SHA-256."""
    translators, digest = everyday_data.load()
    known = {pair.source for pair in (*translators.training_pairs(LONGEST), *translators.test)}
    made = everyday_english_french(3 * SENTENCES // 2, seed=5, max_length=LONGEST)
    fitting = [pair for pair in made if pair.source not in known][:SENTENCES]
    digest += hashlib.sha256(repr(fitting).encode()).hexdigest()
    return ProbedSentences(translators, fitting), hashlib.sha256(digest.encode()).hexdigest()


def content_words() -> frozenset[str]:
    """Return all English forms of the nouns, adjectives and verbs of the grammar."""
    forms = [word for noun in EVERYDAY.nouns for word in (noun.english, noun.english_plural)]
    forms += [adjective.english for adjective in EVERYDAY.adjectives]
    for verb in EVERYDAY.verbs:
        forms += [verb.english, verb.english_third, verb.english_past]
    return frozenset(forms)


@torch.no_grad()
def sentence_vectors(model: Any, sources: Sequence[Sequence[int]]) -> Tensor:
    """Return what the decoder gets to see of each source, (N, d).

    Cho's encoder ends in one state of a GRU; Sutskever's in the h and c of an LSTM, which stand
    here one behind the other.
    """
    vectors = []
    place = next(model.parameters()).device
    for start in range(0, len(sources), 500):
        some = [(source, source) for source in sources[start : start + 500]]
        batch = translation_batch(some).to(place)
        if isinstance(model, ContextTranslator):
            vectors.append(model.encoder(batch.source, batch.lengths)[1])  # (B, d)
        else:
            read = model.prepare(batch.source, batch.lengths)
            vectors.append(torch.cat(model.model.encode(read, batch.lengths), dim=-1))  # (B, 2d)
    return torch.cat(vectors)


def occurrences(sources: Sequence[Sequence[int]], words: Sequence[int]) -> Tensor:
    """Return which of C words occur in each source, (N, C) of 0 and 1."""
    return torch.tensor([[float(word in own) for word in words] for own in map(set, sources)])


def find_words_read_back(logits: Tensor, occur: Tensor) -> Tensor:
    """Return which words count as read back: as many as occur, the most probable ones.

    Args:
        logits: of the probe, (N, C).
        occur: which words occur, (N, C) of 0 and 1.

    Returns:
        (N, C) of 0 and 1.
    """
    ranks = logits.argsort(dim=1, descending=True).argsort(dim=1)  # (N, C), from 0
    return (ranks < occur.sum(dim=1, keepdim=True)).float()


def train_row(row: str, seed: int, data: ProbedSentences, train: Train) -> dict[str, Any]:
    """Fit the probe of one model; return its metrics, its history and its measurements."""
    started = time.perf_counter()
    name, _, untrained = row.partition("-")
    if untrained:
        seed_everything(seed)
        model = build(name, data.translators)
    elif seed == SEEDS[0]:
        model = read_translators()[0][name]
    else:
        model, _ = train_translator(name, seed, data.translators)
    model.to(device()).eval()
    probe, history = fit_probe(model, seed, data, train)
    if seed == SEEDS[0] and not untrained:
        results.write_weights(f"word_content_probe-{name}", "english-french", probe)
    return measure(model, probe, data.translators) | {
        "history": history.epochs,
        "seconds": time.perf_counter() - started,
        "parameters": sum(p.numel() for p in probe.parameters()),
    }


def content_ids(data: EverydaySentences) -> list[int]:
    """Return the ids of the nouns, adjectives and verbs among the source words."""
    words = content_words()
    return [i for i, word in enumerate(data.apart.source.words) if word in words]


def fit_probe(
    model: Any, seed: int, data: ProbedSentences, train: Train
) -> tuple[LinearProbe, History]:
    """Return the probe of a model, and the history of its training."""
    sources = [data.translators.apart.source.encode(pair.source) for pair in data.fitting]
    vectors = sentence_vectors(model, sources)  # (N, d)
    occur = occurrences(sources, content_ids(data.translators))  # (N, C)
    probe = LinearProbe(vectors, occur.shape[1])

    def batches(epoch: int) -> Iterable[ProbeBatch]:
        generator = torch.Generator().manual_seed(1000 * seed + epoch)
        order = torch.randperm(len(vectors), generator=generator)
        return [ProbeBatch(vectors[some], occur[some]) for some in order.split(BATCH)]

    def loss(probe: nn.Module, batch: ProbeBatch) -> Tensor:
        return F.binary_cross_entropy_with_logits(probe(batch.vectors), batch.occur)

    history = train(
        probe, batches, loss, epochs=EPOCHS, learning_rate=RATE, decay=True, progress=False
    )
    return probe.eval(), history


@torch.no_grad()
def measure(model: Any, probe: LinearProbe, data: EverydaySentences) -> dict[str, Any]:
    """Return which content words of the test sentences can be read back, and are translated."""
    languages = data.apart
    ids = content_ids(data)
    columns = {word: column for column, word in enumerate(ids)}
    pairs = [
        pair
        for pair in data.test
        if any(i in columns for i in languages.source.encode(pair.source))
    ]
    encoded = languages.encode(pairs)
    sources = [source for source, _ in encoded]
    occur = occurrences(sources, ids)  # (N, C)
    found = find_words_read_back(probe(sentence_vectors(model, sources)).cpu(), occur)  # (N, C)
    browser = as_packed(model, MODEL_LEVELS), as_packed(probe, LEVELS)  # as the page has them
    scores = browser[1].to(device())(sentence_vectors(browser[0].to(device()), sources)).cpu()
    packed = (find_words_read_back(scores, occur) * occur).sum(dim=1) / occur.sum(dim=1)  # (N,)
    read_back, translated = [], []
    quarters: list[list[float]] = [[] for _ in range(QUARTERS)]
    for pair, (source, target), row, written in zip(
        pairs, encoded, found.tolist(), translate(model, sources), strict=True
    ):
        places = [j for j, i in enumerate(source) if i in columns]
        back = [row[columns[source[j]]] for j in places]
        read_back.append(fmean(row[columns[i]] for i in {source[j] for j in places}))
        translated.append(
            fmean(any(target[t] in written for s, t in pair.links if s == j) for j in places)
        )
        if QUARTERED <= len(pair.source) <= LONGEST:
            for j, one in zip(places, back, strict=True):
                quarters[QUARTERS * j // len(pair.source)].append(one)
    lengths = [len(pair.source) for pair in pairs]
    usual = torch.tensor([n <= LONGEST for n in lengths])
    shares = {"read_back": torch.tensor(read_back), "translated": torch.tensor(translated)}
    longest = torch.tensor([QUARTERED <= n <= LONGEST for n in lengths])
    return {
        "metrics": {name: values[usual].mean().item() for name, values in shares.items()}
        | {f"{name}_longest": values[longest].mean().item() for name, values in shares.items()}
        | {
            "read_back_packed": packed[usual].mean().item(),
            "first_quarter": fmean(quarters[0]),
            "last_quarter": fmean(quarters[-1]),
        },
        "by_length": group_by_length(EDGES, lengths, shares),
        "by_quarter": [
            {"quarter": i + 1, "read_back": fmean(some), "words": len(some)}
            for i, some in enumerate(quarters)
        ],
    }


COMPARISON = Comparison(
    program="word_content_probe",
    data="english-french",
    rows={
        "cho": "Cho 2014",
        "sutskever": "Sutskever 2014",
        "cho-untrained": "Cho 2014, untrained",
        "sutskever-untrained": "Sutskever 2014, untrained",
    },
    seeds=SEEDS,
    settings={
        "sentences": SENTENCES,
        "epochs": EPOCHS,
        "rate": RATE,
        "batch": BATCH,
        "quartered": QUARTERED,
        "longest": LONGEST,
        "levels": LEVELS,
    },
    load=load,
    train_row=train_row,
    scorer="share of a sentence's k content words among the probe's k most probable ones",
)
parser, main = COMPARISON.parser, COMPARISON.main
