"""Compare Luong's scores, local attention, input feeding and coverage on one translator.

    python -m experiments luong_scores --jobs 2

English sentences of 4 to 26 words are translated into Korean. The encoder reads in one direction,
and its last state is the decoder's first. Every epoch has new sentences, and the learning rate
falls to 0. Recorded beside the scores: alignment error rate, how many words the weights use, the
first word's share of the gradient before and after training, and, for local attention, how many
links lie inside the window. Where input feeding and coverage are compared, the alignment is also
read one step later, and the number that coverage learns is kept.

Writes book/results/luong_scores.english-korean.json.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from coursekit.data.batching import translation_batch
from coursekit.data.lesson_data import TranslationData
from coursekit.models.translation import LuongTranslator
from coursekit.training import seed_everything
from solutions.bahdanau.scores import masked_softmax
from solutions.luong.decoder import LuongDecoder
from solutions.luong.local import LocalAttention, predictive_position
from solutions.luong.scores import GlobalAttention, Score, general_score
from solutions.seq2seq.encoder_decoder import Encoder

from .bench_decoders import AllAtOnce
from .comparison_harness import Comparison, Train
from .synthetic_translation import (
    BATCH,
    FreshPairs,
    count_used,
    describe_run,
    gradients_by_length,
    measure_alignment,
    validate_exactly,
    weights_for,
)

EMBEDDING, WIDTH = 48, 96
PAIRS, EPOCHS, MAX_LENGTH = 14_000, 14, 26
EDGES = (4, 8, 12, 16, 20, 23, 27)  # words of the source
LONG = 20  # words
D = 5.0  # half the width of the window of local attention
READ_LATER = ("general", "input-feeding", "coverage")  # rows whose weights are also read later


def load() -> tuple[FreshPairs, str]:
    """Return the corpus and its SHA-256."""
    corpus = FreshPairs("korean", PAIRS, MAX_LENGTH)
    return corpus, corpus.sha256()


class UnscaledGeneral(nn.Module):
    """The score q^T W k as in the paper; `Score("general")` divides W by the root of the size."""

    def __init__(self, size: int):
        super().__init__()
        self.W = nn.Parameter(torch.empty(size, size))
        nn.init.xavier_uniform_(self.W)

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Return scores (B, N) for query (B, d), or (B, T, N) for query (B, T, d)."""
        return general_score(query, keys, self.W)


class LastState(nn.Module):
    """The context of a decoder without attention: the encoder's last state for every query."""

    def forward(
        self, query: Tensor, keys: Tensor, mask: Tensor, position: int | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return the last state (B, a), or (B, T, a) for query (B, T, d), and weights of 0."""
        last = mask.sum(dim=1) - 1  # (B,)
        context = keys[torch.arange(len(keys), device=keys.device), last]  # (B, a)
        if query.dim() == 2:
            return context, keys.new_zeros(mask.shape)
        context = context.unsqueeze(1).expand(-1, query.shape[1], -1)  # (B, T, a)
        return context, keys.new_zeros(*query.shape[:2], keys.shape[1])


class LocalForAllWords(nn.Module):
    """Local attention that also takes the queries of all target words at once."""

    def __init__(self, local: LocalAttention):
        super().__init__()
        self.local = local

    def forward(
        self, query: Tensor, keys: Tensor, mask: Tensor, position: int = 0
    ) -> tuple[Tensor, Tensor]:
        """Return contexts (B, T, a) and weights (B, T, S) for query (B, T, d); (B, d) as before."""
        if query.dim() == 2:
            return self.local(query, keys, mask, position)
        T = query.shape[1]
        if self.local.kind == "monotonic":  # the position differs from word to word
            found = [self.local(query[:, t], keys, mask, t) for t in range(T)]
            context, weights = (torch.stack(parts, dim=1) for parts in zip(*found, strict=True))
            return context, weights
        context, weights = self.local(
            query.flatten(0, 1), keys.repeat_interleave(T, 0), mask.repeat_interleave(T, 0), 0
        )
        return context.unflatten(0, (-1, T)), weights.unflatten(0, (-1, T))


@torch.no_grad()
def window_centers(
    model: LuongTranslator, source: Sequence[int], target: Sequence[int]
) -> tuple[Tensor, Tensor]:
    """Return where local-p looks in one sentence, and the scores before window and Gaussian.

    Args:
        model: a translator with `AllAtOnce` and `LocalForAllWords(LocalAttention("predictive"))`.
        source: ids of the source sentence, with <eos>.
        target: ids of its translation, with <eos>.

    Returns:
        p_t for each target word (T,), and the scores (T, S).
    """
    batch = translation_batch([(source, target)]).to(next(model.parameters()).device)
    decoder, local = model.decoder, model.decoder.attention.local
    keys, first_state = model.encoder(batch.source, batch.lengths)  # (1, S, a), (1, d)
    states, _ = decoder.rnn(decoder.embedding(batch.previous), first_state.unsqueeze(0))
    lengths = batch.lengths.expand(states.shape[1])  # (T,)
    positions = predictive_position(states[0], lengths, local.W, local.v)  # (T,)
    return positions.cpu(), local.score(states, keys)[0].cpu()


class CoverageDecoder(LuongDecoder):
    """Luong's decoder without input feeding, whose score knows how much weight a word has had.

    score_t(s) = h_t^T W h_s - u cover_t(s),  cover_t(s) = sum_{t' < t} a_{t'}(s)

    One number u is learned. Source: Tu et al. (2016), "Modeling Coverage for Neural Machine
    Translation", whose coverage enters an additive score.
    """

    def __init__(self, vocabulary_size: int, embedding_size: int, hidden_size: int, score: Score):
        super().__init__(
            vocabulary_size, embedding_size, hidden_size, hidden_size, nn.Module(), False
        )
        self.score = score
        self.u = nn.Parameter(torch.zeros(()))

    def attend(
        self, state: Tensor, keys: Tensor, mask: Tensor, cover: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return h~_t (B, d) and the weights (B, S), given the weight so far, cover (B, S)."""
        scores = self.score(state, keys) - self.u * cover  # (B, S)
        weights = masked_softmax(scores, mask)  # (B, S)
        context = torch.einsum("bs,bsa->ba", weights, keys)  # (B, a)
        return torch.tanh(self.combine(torch.cat([context, state], dim=-1))), weights

    def forward(
        self, tokens: Tensor, keys: Tensor, mask: Tensor, first_state: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Predict each target word from the true words before it; as in `LuongDecoder`."""
        embedded = self.embedding(tokens)  # (B, T, e)
        state, cover = first_state, torch.zeros_like(keys[..., 0])  # (B, d), (B, S)
        found, weights = [], []
        for t in range(tokens.shape[1]):
            state = self.cell(embedded[:, t], state)  # (B, d)
            attentional, alpha = self.attend(state, keys, mask, cover)  # (B, d), (B, S)
            cover = cover + alpha  # (B, S)
            found.append(attentional)
            weights.append(alpha)
        return self.output(torch.stack(found, 1)), torch.stack(weights, 1)


class CoverageTranslator(LuongTranslator):
    """A translator whose state holds the weight that each source word has had so far."""

    def _encode(self, source: Tensor, lengths: Tensor) -> tuple[Tensor, ...]:
        keys, mask, hidden = self._read(source, lengths)
        return hidden, torch.zeros_like(keys[..., 0]), keys, mask

    def _step(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        hidden, cover, keys, mask = state
        hidden = self.decoder.cell(self.decoder.embedding(tokens), hidden)  # (B, d)
        attentional, alpha = self.decoder.attend(hidden, keys, mask, cover)  # (B, d), (B, S)
        logits = self.decoder.output(attentional)  # (B, V)
        return logits.log_softmax(dim=-1), (hidden, cover + alpha, keys, mask)


def build(row: str, data: TranslationData) -> LuongTranslator:
    """Return the untrained translator of a row."""
    d, V = WIDTH, len(data.target_words)
    encoder = Encoder(len(data.source_words), EMBEDDING, d)
    if row == "coverage":
        decoder = CoverageDecoder(V, EMBEDDING, d, Score("general", d, d))
        return CoverageTranslator(encoder, decoder)
    if row == "input-feeding":
        attention = GlobalAttention(Score("general", d, d))
        return LuongTranslator(encoder, LuongDecoder(V, EMBEDDING, d, d, attention))
    attentions: dict[str, Callable[[], nn.Module]] = {
        "no-attention": LastState,
        "dot": lambda: GlobalAttention(Score("dot", d, d)),
        "scaled-dot": lambda: GlobalAttention(Score("scaled_dot", d, d)),
        "general": lambda: GlobalAttention(Score("general", d, d)),
        "general-unscaled": lambda: GlobalAttention(UnscaledGeneral(d)),
        "concat": lambda: GlobalAttention(Score("concat", d, d, d)),
        "local-m": lambda: _local("monotonic"),
        "local-p": lambda: _local("predictive"),
    }
    return LuongTranslator(encoder, AllAtOnce(V, EMBEDDING, d, d, attentions[row]()))


def _local(kind: str) -> LocalForAllWords:
    score = Score("general", WIDTH, WIDTH)
    return LocalForAllWords(LocalAttention(kind, score, WIDTH, WIDTH, D))


def links_with_weight(rows: Sequence[Tensor], data: TranslationData) -> float:
    """Return the share of the gold links that have any weight."""
    assert data.links is not None
    on_links = [w[t, s].item() for w, gold in zip(rows, data.links, strict=True) for s, t in gold]
    return sum(weight > 0 for weight in on_links) / len(on_links)


def shift_weights(rows: Sequence[Tensor]) -> list[Tensor]:
    """Return the weights (T, S) of each sentence read one step later: row t is that of t + 1.

    The last row, that of <eos>, stays; <eos> has no link. Source: Luong et al. (2015), footnote 14.
    """
    return [torch.cat([w[1:], w[-1:]]) for w in rows]


def train_row(row: str, seed: int, corpus: FreshPairs, train: Train) -> dict[str, Any]:
    """Train one model; return its metrics, its history and its measurements."""
    data = corpus.data
    seed_everything(seed)
    model = build(row, data)
    embedding = model.encoder.embedding
    before = gradients_by_length(model, embedding, data.test)

    def validate(module: nn.Module) -> dict[str, float]:
        exact = validate_exactly(model, data.validation)
        if row == "no-attention":
            return exact
        return exact | {"annotations_used": count_used(weights_for(model, data.validation))}

    history = corpus.train(model, seed, train, epochs=EPOCHS, validate=validate)
    run = describe_run(model, history, data, EDGES, LONG)
    if row != "no-attention":
        rows = weights_for(model, data.test)
        run["metrics"] |= measure_alignment(rows, data)
        run["metrics"]["links_with_weight"] = links_with_weight(rows, data)
        if row in READ_LATER:
            later = measure_alignment(shift_weights(rows), data)
            run["metrics"]["alignment_error_rate_later"] = later["alignment_error_rate"]
        if row == "coverage":
            run["metrics"]["u"] = model.decoder.u.item()
    return run | {
        "gradient_before": before,
        "gradient_after": gradients_by_length(model, embedding, data.test),
    }


COMPARISON = Comparison(
    program="luong_scores",
    data="english-korean",
    rows={
        "no-attention": "no attention",
        "dot": "dot",
        "scaled-dot": "scaled dot",
        "general": "general, W / √a",
        "general-unscaled": "general, unscaled as in the paper",
        "concat": "concat",
        "input-feeding": "general, input feeding",
        "coverage": "general, coverage",
        "local-m": "general, local, monotonic",
        "local-p": "general, local, predictive",
    },
    seeds=(1, 2, 3, 4, 5),
    settings={
        "embedding": EMBEDDING,
        "width": WIDTH,
        "batch": BATCH,
        "epochs": EPOCHS,
        "pairs_per_epoch": PAIRS,
        "D": D,
    },
    load=load,
    train_row=train_row,
    scorer="share of sentences translated word for word as the reference",
)
parser, main = COMPARISON.parser, COMPARISON.main
