"""Show what the vector of an encoder says about a sentence, as figure 2 of Sutskever et al. does.

    python -m experiments sentence_vectors --jobs 2

Translators of `encoder_decoder` read all sentences "the A verbs the B" with some persons and some
verbs. Recorded are which share of the variance of the states, and of an LSTM's memory, comes from
each of the three words, how far a sentence moves when A and B change places, and where the
sentences lie in the plane of the two first principal components.

Writes book/results/sentence_vectors.english-french.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from statistics import fmean
from typing import Any

import torch
from torch import Tensor

from coursekit.data.batching import source_batch
from coursekit.data.lesson_data import TranslationData
from coursekit.models.translation import ContextTranslator, SequenceTranslator, Translator
from coursekit.text.vocabulary import WordVocabulary
from coursekit.training import seed_everything
from solutions.seq2seq.encoder_decoder import Seq2Seq

from . import encoder_decoder
from .comparison_harness import Comparison, Train
from .encoder_decoder import BATCH, EDGES, EMBEDDING, EPOCHS, LONG, PAIRS
from .synthetic_translation import FreshPairs, describe_run

WIDTH = 64
PERSONS = (("teacher", "farmer", "woman", "boy"), ("doctor", "king", "girl", "student"))
VERBS = ("sees", "follows", "helps", "calls")
PLACES = ("subject", "verb", "object")
PLANE = 2  # principal components

Words = tuple[str, str, str]  # subject, verb, object


def build(row: str, data: TranslationData) -> Translator:
    """Return the untrained translator of a row."""
    if row == "lstm-forward":
        sizes = len(data.source_words), len(data.target_words)
        return SequenceTranslator(Seq2Seq(*sizes, EMBEDDING, WIDTH))
    return encoder_decoder.build(f"{row.split('-')[0]}-{WIDTH}", data)


@torch.no_grad()
def read_sentences(
    model: Any, sentences: Sequence[Words], data: TranslationData
) -> dict[str, Tensor]:
    """Return what the encoder hands over for each "the A verbs the B".

    Returns:
        its last "state" (M, d), and of an LSTM also its "memory" (M, d).
    """
    words = data.source_words
    assert isinstance(words, WordVocabulary)
    ids = [words.encode(["the", a, verb, "the", b]) for a, verb, b in sentences]
    source, lengths = source_batch(ids)
    first, second = model.eval().encode(source, lengths)
    if isinstance(model, ContextTranslator):  # its decoder's first state, and the context
        return {"state": second}
    return {"state": first, "memory": second}


def divide_variance(vectors: Tensor, sentences: Sequence[Words]) -> dict[str, float]:
    """Divide the variance of vectors (M, d) among the three places of a full factorial design.

    Returns:
        for each place the share of the variance between the means of its words; and the "rest",
        what the words contribute in combination only.
    """
    centred = vectors - vectors.mean(dim=0)  # (M, d)
    total = centred.square().sum()
    shares = {}
    for k, place in enumerate(PLACES):
        groups = [
            centred[[sentence[k] == word for sentence in sentences]]
            for word in sorted({sentence[k] for sentence in sentences})
        ]
        between = sum(len(group) * group.mean(dim=0).square().sum() for group in groups)
        shares[place] = float(between / total)
    return shares | {"rest": 1 - sum(shares.values())}


def measure_exchange(vectors: Tensor, sentences: Sequence[Words]) -> float:
    """Return how far a sentence is from the one with A and B exchanged, for vectors (M, d).

    1 is the mean distance of two sentences; a sum of word vectors would have 0.
    """
    at = {sentence: i for i, sentence in enumerate(sentences)}
    distances = torch.cdist(vectors, vectors)  # (M, M)
    exchanged = [distances[i, at[b, verb, a]].item() for (a, verb, b), i in at.items()]
    different = ~torch.eye(len(vectors), dtype=torch.bool)
    return fmean(exchanged) / distances[different].mean().item()


def project(vectors: Tensor) -> tuple[Tensor, float]:
    """Return the vectors (M, d) in the plane of most variance, (M, 2), and that plane's share."""
    centred = vectors - vectors.mean(dim=0)  # (M, d)
    _, S, axes = torch.linalg.svd(centred, full_matrices=False)
    return centred @ axes[:PLANE].T, float(S[:PLANE].square().sum() / S.square().sum())


def describe_vectors(model: Any, data: TranslationData) -> dict[str, dict[str, Any]]:
    """Return for the "state", and an LSTM's "memory", its "metrics" and its "picture"."""
    ways = [list(product(PERSONS[i], VERBS, PERSONS[1 - i])) for i in (0, 1)]
    everyone = [*PERSONS[0], *PERSONS[1]]
    pairs = [way for way in product(everyone, VERBS, everyone) if way[0] != way[2]]
    first, second, exchanged = (read_sentences(model, some, data) for some in (*ways, pairs))
    described = {}
    for name in first:
        both = [
            divide_variance(read[name], way)
            for read, way in zip((first, second), ways, strict=True)
        ]
        plane, share = project(first[name])
        described[name] = {
            "metrics": {place: fmean(one[place] for one in both) for place in both[0]}
            | {"exchanged": measure_exchange(exchanged[name], pairs), "plane": share},
            "picture": {"sentences": ways[0], "plane": plane.tolist()},
        }
    return described


def train_row(row: str, seed: int, corpus: FreshPairs, train: Train) -> dict[str, Any]:
    """Train one model; return its metrics, its history and what its vectors say."""
    data = corpus.data
    seed_everything(seed)
    model = build(row, data)
    untrained = describe_vectors(model, data)
    history = corpus.train(model, seed, train, epochs=EPOCHS)
    model.cpu()
    run = describe_run(model, history, data, EDGES, LONG)
    found = describe_vectors(model, data)
    for when, described in (("", found), ("_untrained", untrained)):
        for vector, one in described.items():
            run["metrics"] |= {
                f"{vector}_{name}{when}": value for name, value in one["metrics"].items()
            }
    return run | {"pictures": {vector: one["picture"] for vector, one in found.items()}}


COMPARISON = Comparison(
    program="sentence_vectors",
    data="english-french",
    rows={
        "gru": "GRU (Cho)",
        "lstm-forward": "LSTM, source as it stands",
        "lstm": "LSTM, source reversed (Sutskever)",
    },
    seeds=(1, 2, 3, 4, 5),
    settings={
        "embedding": EMBEDDING,
        "width": WIDTH,
        "batch": BATCH,
        "epochs": EPOCHS,
        "pairs_per_epoch": PAIRS,
    },
    load=encoder_decoder.load,
    train_row=train_row,
    scorer="share of sentences translated word for word as the reference",
)
parser, main = COMPARISON.parser, COMPARISON.main
