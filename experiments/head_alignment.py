"""Compare a Transformer's heads, and Luong's attention, with gold links and word importance.

    python -m experiments head_alignment --jobs 2

Short English sentences are translated into Korean; every epoch has new ones. For each linked target
word of the test set, the weights are compared with the links, with gradient times input and with
leaving a source word out. Recorded, too: how much of an encoder state is about its own word.

Writes book/results/head_alignment.english-korean.json.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from statistics import fmean
from typing import Any

import torch
from torch import Tensor, nn

from coursekit.data.batching import (
    EncodedPair,
    TranslationBatch,
    batches_by_length,
    translation_batch,
)
from coursekit.models.attention_hooks import recorded_weights
from coursekit.models.translation import LuongTranslator
from coursekit.text.vocabulary import PAD
from coursekit.training import seed_everything
from solutions.luong.scores import GlobalAttention, Score
from solutions.seq2seq.encoder_decoder import Encoder

from .bench_decoders import AllAtOnce
from .comparison_harness import Comparison, Train
from .faithfulness_measures import kendall, measure_mixing
from .synthetic_translation import FreshPairs, cross_entropy, embed_source, source_embedding
from .transformer_factory import make_transformer

WIDTH, HEADS, LAYERS, EMBEDDING = 64, 4, 2, 48
PAIRS, MAX_LENGTH, EPOCHS, BATCH = 5_000, 12, 12, 64
RATES = {"transformer": 4e-3, "luong": 6e-3}
SEEDS = (1, 2, 3, 4, 5)
EXPLAINED, MIXED = 80, 40  # sentences of the test set
MARKS = 4  # ids that both vocabularies have in common
Links = Collection[tuple[int, int]]


def load() -> tuple[FreshPairs, str]:
    """Return the corpus and its SHA-256."""
    corpus = FreshPairs("korean", PAIRS, MAX_LENGTH)
    return corpus, corpus.sha256()


def build(row: str, corpus: FreshPairs) -> nn.Module:
    """Return the untrained translator of a row."""
    sources, targets = len(corpus.data.source_words), len(corpus.data.target_words)
    if row == "transformer":
        return make_transformer(sources + targets - MARKS, WIDTH, HEADS, 2 * WIDTH, LAYERS)
    attention = GlobalAttention(Score("general", WIDTH, WIDTH, WIDTH))
    decoder = AllAtOnce(targets, EMBEDDING, WIDTH, WIDTH, attention)
    return LuongTranslator(Encoder(sources, EMBEDDING, WIDTH), decoder)


def encode(row: str, corpus: FreshPairs, pairs: Sequence[EncodedPair]) -> list[EncodedPair]:
    """Return pairs as the translator of a row reads them.

    The Transformer has one table of words for both languages: the target's ids follow the source's.
    """
    if row != "transformer":
        return list(pairs)
    shift = len(corpus.data.source_words) - MARKS
    return [(s, [i if i < MARKS else i + shift for i in t]) for s, t in pairs]


@torch.no_grad()
def words_right(model: nn.Module, pairs: Sequence[EncodedPair]) -> float:
    """Return the share of target words found, given the true words before them."""
    batch = translation_batch(pairs)
    best = model(batch.source, batch.lengths, batch.previous)[0].argmax(dim=-1)  # (B, T)
    return (best == batch.target)[batch.target != PAD].float().mean().item()


def explain(model: nn.Module, pairs: Sequence[EncodedPair]) -> tuple[list[Tensor], list[Tensor]]:
    """Return |gradient times input| and |leave one out| of log p of each target word, (T, S)."""
    batch = translation_batch(pairs)
    logits, embedded = embed_source(model, batch.source, batch.lengths, batch.previous)
    log_p = _log_p(logits, batch)  # (B, T)
    rows = []
    for t in range(log_p.shape[1]):
        (gradient,) = torch.autograd.grad(log_p[:, t].sum(), embedded, retain_graph=True)
        rows.append((gradient * embedded).sum(dim=-1).abs().detach())  # (B, S)
    product = torch.stack(rows, dim=1)  # (B, T, S)
    products, left_out = [], []
    with torch.no_grad():
        for b, (source, target) in enumerate(pairs):
            words = len(source) - 1  # <eos> is no word
            cut = translation_batch(
                [([*source[:j], *source[j + 1 :]], target) for j in range(words)]
            )
            without = _log_p(model(cut.source, cut.lengths, cut.previous)[0], cut)  # (S, T)
            left_out.append((without - log_p[b, : len(target)]).abs().T)  # (T, S)
            products.append(product[b, : len(target), :words])
    return products, left_out


def _log_p(logits: Tensor, batch: TranslationBatch) -> Tensor:
    return logits.log_softmax(dim=-1).gather(-1, batch.target[..., None])[..., 0]  # (B, T)


@torch.no_grad()
def weights_by_head(model: nn.Module, pairs: Sequence[EncodedPair]) -> dict[str, list[Tensor]]:
    """Return the weights (T, S) of each pair, of each head that attends to the source."""
    batch = translation_batch(pairs)
    with recorded_weights(model) as heard:
        _, single = model(batch.source, batch.lengths, batch.previous)
    if single is not None:
        heads = {"attention": single}  # (B, T, S)
    else:
        heads = {
            f"layer {layer + 1}, head {head + 1}": found[:, head]
            for layer in range(LAYERS)
            for found in (heard[f"model.decoder_layers.{layer}.memory_attention"][0],)
            for head in range(HEADS)
        }
        heads["mean of all heads"] = torch.stack(list(heads.values())).mean(dim=0)
    return {
        name: [
            row[: len(target), : len(source) - 1]
            for row, (source, target) in zip(weights, pairs, strict=True)
        ]
        for name, weights in heads.items()
    }


def share_on_links(rows: Sequence[Tensor], gold: Sequence[Links]) -> float:
    """Return the share of linked target words whose strongest source word is linked."""
    hits = [
        (int(row[t].argmax()), t) in links
        for row, links in zip(rows, gold, strict=True)
        for t in sorted({t for _, t in links})
    ]
    return fmean(map(float, hits))


def mean_tau(rows: Sequence[Tensor], others: Sequence[Tensor], gold: Sequence[Links]) -> float:
    """Return the mean of Kendall's tau over the linked target words."""
    taus = [
        kendall(row[t], other[t])
        for row, other, links in zip(rows, others, gold, strict=True)
        for t in sorted({t for _, t in links})
    ]
    return fmean(tau for tau in taus if tau == tau)


def chance_on_links(pairs: Sequence[EncodedPair], gold: Sequence[Links]) -> float:
    """Return how often a source word picked at random is linked."""
    return fmean(
        sum(u == t for _, u in links) / (len(source) - 1)
        for (source, _), links in zip(pairs, gold, strict=True)
        for t in sorted({t for _, t in links})
    )


def _mix(row: str, model: Any, pairs: Sequence[EncodedPair]) -> dict[str, float]:
    batch = translation_batch(pairs)
    seen: list[Tensor] = []
    hook = source_embedding(model).register_forward_hook(
        lambda module, given, output: seen.append(output)
    )
    if row == "transformer":
        states = model.model.encode(batch.source)[0]
    else:
        states = model.encoder(batch.source, batch.lengths)[0]  # (B, S, d)
    hook.remove()
    mixed = measure_mixing(states, seen[0], batch.lengths)
    return {f"mixed_{name}": value for name, value in mixed.items()}


def train_row(row: str, seed: int, corpus: FreshPairs, train: Train) -> dict[str, Any]:
    """Train one translator; return how its weights agree with links and with importance."""
    seed_everything(seed)
    model = build(row, corpus)
    history = train(
        model,
        lambda epoch: batches_by_length(
            encode(row, corpus, corpus.epoch(epoch)), BATCH, seed=1000 * seed + epoch
        ),
        cross_entropy,
        epochs=EPOCHS,
        learning_rate=RATES[row],
        decay=True,
        progress=False,
    )
    model.cpu().eval()
    test = encode(row, corpus, corpus.data.test)
    pairs = test[:EXPLAINED]
    assert corpus.data.links is not None
    gold = corpus.data.links[:EXPLAINED]
    products, left_out = explain(model, pairs)
    heads = [
        {
            "name": name,
            "on_links": share_on_links(rows, gold),
            "tau_product": mean_tau(rows, products, gold),
            "tau_left_out": mean_tau(rows, left_out, gold),
        }
        for name, rows in weights_by_head(model, pairs).items()
    ]
    return {
        "metrics": {
            "words_right": words_right(model, test),
            "on_links_product": share_on_links(products, gold),
            "on_links_left_out": share_on_links(left_out, gold),
            "tau_product_left_out": mean_tau(products, left_out, gold),
            "chance": chance_on_links(pairs, gold),
        }
        | _mix(row, model, test[:MIXED]),
        "heads": heads,
        "seconds": history.seconds,
        "history": history.epochs,
        "parameters": sum(p.numel() for p in model.parameters()),
    }


COMPARISON = Comparison(
    program="head_alignment",
    data="english-korean",
    rows={"transformer": "Transformer", "luong": "GRU with attention"},
    seeds=SEEDS,
    settings={
        "pairs": PAIRS,
        "max_words": MAX_LENGTH,
        "epochs": EPOCHS,
        "batch": BATCH,
        "width": WIDTH,
        "rates": RATES,
        "explained": EXPLAINED,
    },
    load=load,
    train_row=train_row,
    scorer="share of the target words found, given the true words before them",
)
parser, main = COMPARISON.parser, COMPARISON.main
