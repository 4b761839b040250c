"""Compare neural language models of four sizes, and look into their word vectors and skip-gram's.

    python -m experiments word_vectors --jobs 2

The models learn from 12,000 synthetic English sentences, the same that the n-gram models of chapter
1 count. A language model sees four words, the largest also two or three, and the best epoch on
validation data is tested. Its perplexity is measured by how often the four words before a test word
occur together in the training text. For each table of word vectors we measure whether nouns lie
beside nouns of their kind, whether analogies of singular and plural hold, and how often the longest
vectors are the nearest.

Writes book/results/word_vectors.english.json.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from itertools import permutations
from statistics import fmean
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coursekit.corpora.grammar.lexicon import NOUNS
from coursekit.data.lesson_data import LanguageData, language_data
from coursekit.data.skipgram import (
    SkipGramBatch,
    neighbour_pairs,
    noise_distribution,
    skipgram_batches,
)
from coursekit.models.ngrams import context_windows
from coursekit.text.vocabulary import SPECIAL, WordVocabulary
from coursekit.training import seed_everything
from solutions.embeddings.vectors import NeuralLanguageModel, negative_sampling_loss

from .comparison_harness import Comparison, Train
from .perplexity_by_context import count_contexts, group_by_context

SIZES = {  # size of a word vector, hidden units, words of context
    "neural-2-4": (2, 4, 4),
    "neural-4-8": (4, 8, 4),
    "neural-8-16": (8, 16, 4),
    "neural-16-32": (16, 32, 4),
    "neural-16-32-window-2": (16, 32, 2),
    "neural-16-32-window-3": (16, 32, 3),
}
WINDOW, BATCH, RATE, EPOCHS = 4, 512, 1e-2, 10
DIMENSION, NEIGHBOURS, NEGATIVES, PAIRS_BATCH, SKIPGRAM_EPOCHS = 24, 2, 5, 2048, 3
KINDS = ("person", "animal", "food", "vehicle", "building", "road")


def load() -> tuple[LanguageData, str]:
    """Return the sentences and their SHA-256."""
    data = language_data("quick")
    digest = hashlib.sha256()
    for part in (data.train, data.validation, data.test):
        digest.update(repr(part).encode())
    return data, digest.hexdigest()


class SkipGram(nn.Module):
    """A vector for each word in the centre, and one for each word beside it."""

    def __init__(self, vocabulary_size: int, vector_size: int):
        super().__init__()
        self.center = nn.Embedding(vocabulary_size, vector_size)
        self.context = nn.Embedding(vocabulary_size, vector_size)
        for table in (self.center, self.context):
            nn.init.normal_(table.weight, std=0.1)


def skipgram_loss(model: SkipGram, batch: SkipGramBatch) -> Tensor:
    """Return the loss of negative sampling."""
    return negative_sampling_loss(
        model.center(batch.center), model.context(batch.context), model.context(batch.negatives)
    )


def next_word_loss(model: nn.Module, rows: Tensor) -> Tensor:
    """Return the mean negative log probability of the last word of each row, (N, window + 1)."""
    return F.cross_entropy(model(rows[:, :-1]), rows[:, -1])


def shuffle(rows: Tensor, seed: int) -> Iterable[Tensor]:
    """Return the rows in batches, in an order that depends on the seed."""
    generator = torch.Generator().manual_seed(seed)
    return rows[torch.randperm(len(rows), generator=generator)].split(BATCH)


@torch.no_grad()
def log_probabilities(model: nn.Module, contexts: Tensor, nexts: Tensor) -> Tensor:
    """Return log p of each word after its context, (N,)."""
    where = next(model.parameters()).device
    log_p = model(contexts.to(where)).log_softmax(dim=-1)  # (N, V)
    return log_p.gather(1, nexts.to(where).unsqueeze(1))[:, 0].cpu()


def noun_kinds(vocabulary: WordVocabulary) -> dict[str, str]:
    """Return the kind and number of nouns, such as {"dog": "animal", "dogs": "animal, plural"}.

    Left out are nouns of no kind, and nouns with a form that the vocabulary lacks.
    """
    kinds: dict[str, str] = {}
    for noun in NOUNS:
        kind = next((kind for kind in KINDS if kind in noun.tags), None)
        if kind and {noun.english, noun.english_plural} <= vocabulary.ids.keys():
            kinds |= {noun.english: kind, noun.english_plural: f"{kind}, plural"}
    return kinds


def measure_vectors(vectors: Tensor, data: LanguageData) -> dict[str, float]:
    """Return what the neighbours of words are; vectors (V, d)."""
    ids, words = data.vocabulary.ids, len(vectors)
    unit = F.normalize(vectors, dim=-1)  # (V, d)
    cosine = (unit @ unit.T).fill_diagonal_(-torch.inf)  # (V, V)
    by_word = noun_kinds(data.vocabulary)
    kinds = {ids[word]: kind for word, kind in by_word.items()}
    forms = [(ids[n.english], ids[n.english_plural]) for n in NOUNS if n.english in by_word]
    nearest = cosine.argmax(dim=-1)  # (V,)
    same = [kinds.get(int(nearest[noun])) == kind for noun, kind in kinds.items()]
    pairs = torch.tensor(list(permutations(forms, 2)))  # (A, 2, 2): singular a, plural; b, plural
    (a, b), (c, d) = pairs[:, 0].T, pairs[:, 1].T
    sought = F.normalize(unit[b] - unit[a] + unit[c], dim=-1) @ unit.T  # (A, V)
    for given in (a, b, c):
        sought[torch.arange(len(sought)), given] = -torch.inf
    answers = sought.argmax(dim=-1)  # (A,)
    fitting = [kinds.get(x) == kinds[y] for x, y in zip(answers.tolist(), d.tolist(), strict=True)]
    # Who only knows the kind and the number guesses among the plurals that were not given. Kinds
    # differ in size, so the guesses are those of the questions answered in the kind.
    plurals = Counter(kinds.values())
    guesses = [
        1 / (plurals[kinds[y]] - (kinds[x] == kinds[y]))
        for x, y, fits in zip(b.tolist(), d.tolist(), fitting, strict=True)
        if fits
    ]
    real = vectors[len(SPECIAL) :]  # (V - 4, d)
    longest = real.norm(dim=-1) >= real.norm(dim=-1).quantile(0.9)  # one word in ten
    product = (real @ real.T).fill_diagonal_(-torch.inf).argmax(dim=-1)  # (V - 4,)
    by_cosine = cosine[len(SPECIAL) :, len(SPECIAL) :].argmax(dim=-1)  # (V - 4,)
    return {
        "same_kind": sum(same) / len(same),
        "same_kind_by_chance": _chance(list(kinds.values()), words),
        "analogies": (answers == d).float().mean().item(),
        "analogies_of_the_kind": fmean(fitting),
        "analogies_guessed_from_the_kind": fmean(guesses or [0.0]),
        "longest_by_product": longest[product].float().mean().item(),
        "longest_by_cosine": longest[by_cosine].float().mean().item(),
    }


def _chance(kinds: list[str], words: int) -> float:
    return sum(kinds.count(kind) - 1 for kind in kinds) / (words - 1) / len(kinds)


def train_language_model(
    size: tuple[int, int, int], seed: int, data: LanguageData, train: Train
) -> dict[str, Any]:
    """Train a language model; return its perplexities and the measurements of its table C."""
    (m, h, window), V = size, len(data.vocabulary)
    rows, validation, test = (
        torch.column_stack(context_windows(part, window))
        for part in (data.train, data.validation, data.test)
    )  # (N, window + 1) each
    seed_everything(seed)
    model = NeuralLanguageModel(V, m, window, h)

    def perplexity(rows: Tensor) -> float:
        return float((-log_probabilities(model, rows[:, :-1], rows[:, -1]).mean()).exp())

    history = train(
        model,
        lambda epoch: shuffle(rows, 1000 * seed + epoch),
        next_word_loss,
        epochs=EPOCHS,
        learning_rate=RATE,
        decay=True,
        validate=lambda m: {"gain": -perplexity(validation)},
        select="gain",
        progress=False,
    )
    log_p = log_probabilities(model, test[:, :-1], test[:, -1])  # (M,)
    return {
        "metrics": {"perplexity": float((-log_p.mean()).exp())}
        | measure_vectors(model.embedding.weight.detach().cpu(), data),
        "by_context": group_by_context(
            log_p.double().exp().numpy(), count_contexts(data.train, data.test, WINDOW)
        ),
        "seconds": history.seconds,
        "best_epoch": history.best_epoch,
        "history": [
            {"epoch": e["epoch"], "loss": e["loss"], "perplexity": -e["gain"]}
            for e in history.epochs
        ],
        "parameters": sum(p.numel() for p in model.parameters()),
    }


def train_skipgram(seed: int, data: LanguageData, train: Train) -> dict[str, Any]:
    """Train skip-gram with negative sampling; return the measurements of its centre vectors."""
    V = len(data.vocabulary)
    plain = [ids[:-1] for ids in data.train]  # without <eos>
    pairs, noise = neighbour_pairs(plain, NEIGHBOURS), noise_distribution(plain, V)
    seed_everything(seed)
    model = SkipGram(V, DIMENSION)
    history = train(
        model,
        lambda epoch: skipgram_batches(pairs, noise, NEGATIVES, PAIRS_BATCH, 1000 * seed + epoch),
        skipgram_loss,
        epochs=SKIPGRAM_EPOCHS,
        learning_rate=RATE,
        decay=True,
        progress=False,
    )
    return {
        "metrics": measure_vectors(model.center.weight.detach().cpu(), data),
        "seconds": history.seconds,
        "history": history.epochs,
        "parameters": sum(p.numel() for p in model.parameters()),
    }


def train_row(row: str, seed: int, data: LanguageData, train: Train) -> dict[str, Any]:
    """Train one model; return its metrics and its history."""
    if row == "skip-gram":
        return train_skipgram(seed, data, train)
    return train_language_model(SIZES[row], seed, data, train)


COMPARISON = Comparison(
    program="word_vectors",
    data="english",
    rows={
        row: f"neural, m = {m}, h = {h}" + (f", {window} words" if window < WINDOW else "")
        for row, (m, h, window) in SIZES.items()
    }
    | {"skip-gram": "skip-gram"},
    seeds=(1, 2, 3, 4, 5),
    settings={
        "window": WINDOW,
        "batch": BATCH,
        "epochs": EPOCHS,
        "dimension": DIMENSION,
        "neighbours": NEIGHBOURS,
        "negatives": NEGATIVES,
        "pairs_batch": PAIRS_BATCH,
        "skipgram_epochs": SKIPGRAM_EPOCHS,
    },
    load=load,
    train_row=train_row,
    scorer="perplexity over all words of the test set, <eos> included",
)
parser, main = COMPARISON.parser, COMPARISON.main
