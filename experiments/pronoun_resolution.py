"""Test whether a translating Transformer resolves the pronoun `it`, and through which words.

    python -m experiments pronoun_resolution --jobs 2

Small Transformers translate from English to French, where a pronoun has the gender of its noun.
For comparison there are Transformers with one head, without positions, with learned positions and
with shifted ones, and a recurrent translator with Luong's attention. Recorded beside the
translations of the Transformer: what its heads attend to, which pronouns are still right where some
words are barred from attending to others, and what changes where Winograd pairs exchange states.

Writes book/results/pronoun_resolution.english-french.json, and the weights of the first seed of the
Transformer.
"""

from __future__ import annotations

from statistics import fmean
from typing import Any

import torch
from torch import Tensor, nn

from coursekit.data.batching import TranslationBatch, batches_by_length
from coursekit.models.translation import LuongTranslator, TransformerTranslator
from coursekit.text.vocabulary import WordVocabulary
from coursekit.training import History, device, results, seed_everything
from solutions.bahdanau.translator import BidirectionalEncoder
from solutions.luong.scores import GlobalAttention, Score
from solutions.transformer.layers import sinusoidal_positions
from solutions.transformer.model import Transformer, label_smoothed_loss, noam_learning_rate

from . import pronoun_measures as measures
from .bench_decoders import AllAtOnce
from .comparison_harness import Comparison, Train
from .pronoun_data import MAX_LENGTH, PronounSentences, guess_by_last_word, has_gender, load
from .transformer_factory import Positions, make_transformer

WIDTH, HEADS, LAYERS, INNER = 64, 4, 2, 256
BATCH, EPOCHS = 64, 16
FACTOR, WARMUP, SMOOTHING = 0.5, 300, 0.1
GRU_RATE = 6e-3
SEEDS = (1, 2, 3, 4, 5)
SHIFT = 10  # the largest shift of the row "shifted"
LEVELS = 61  # of each weight in the browser: a page must stay small


def no_positions(length: int, size: int) -> Tensor:
    """Return zeros (length, size)."""
    return torch.zeros(length, size)


class ShiftedPositions:
    """Sinusoids; in training they begin anywhere from position 0 to SHIFT, at random."""

    def __call__(self, length: int, size: int) -> Tensor:
        """Return positions (length, size)."""
        first = int(torch.randint(SHIFT + 1, ())) if torch.is_grad_enabled() else 0
        return sinusoidal_positions(first + length, size)[first:]


class LearnedPositions(Transformer):
    """A Transformer that learns a vector for each position, as many as its longest text has."""

    longest = 64  # positions

    def __init__(self, *given: Any):
        super().__init__(*given)
        self.table = nn.Parameter(torch.randn(self.longest, WIDTH) * 0.1)
        self.positions = lambda length, size: self.table[:length]


def build(row: str, vocabulary_size: int) -> nn.Module:
    """Return the untrained translator of a row."""
    if row == "gru":
        encoder = BidirectionalEncoder(vocabulary_size, WIDTH, WIDTH)
        attention = GlobalAttention(Score("general", WIDTH, 2 * WIDTH))
        decoder = AllAtOnce(vocabulary_size, WIDTH, WIDTH, 2 * WIDTH, attention)
        return LuongTranslator(encoder, decoder)
    heads = 1 if row == "one-head" else HEADS
    kind = LearnedPositions if row == "learned" else Transformer
    positions: dict[str, Positions] = {"no-positions": no_positions, "shifted": ShiftedPositions()}
    return make_transformer(
        vocabulary_size, WIDTH, heads, INNER, LAYERS, positions.get(row, sinusoidal_positions), kind
    )


def read_recorded() -> tuple[TransformerTranslator, WordVocabulary, set[str]]:
    """Return the recorded Transformer, its vocabulary, and the English words of its training."""
    # Also inside `write_results_to`, where another experiment needs the translator.
    record = results.read("pronoun_resolution", "english-french", results.FOLDER)
    words = record["rows"]["transformer"]["runs"][0]["words"]
    vocabulary = WordVocabulary.from_words(words["both"])
    model: Any = build("transformer", len(vocabulary))
    model.load_state_dict(
        results.read_weights("pronoun_resolution", "english-french", results.FOLDER)
    )
    return model.eval(), vocabulary, set(words["english"])


def smoothed_loss(model: nn.Module, batch: TranslationBatch) -> Tensor:
    """Return the cross entropy with label smoothing."""
    logits, _ = model(batch.source, batch.lengths, batch.previous)  # (B, T, V)
    return label_smoothed_loss(logits, batch.target, SMOOTHING)


def learning_rate(step: int) -> float:
    """Return the paper's learning rate at a step, times a factor."""
    return FACTOR * noam_learning_rate(step, WIDTH, WARMUP)


def adam(parameters: Any) -> torch.optim.Optimizer:
    """Return the paper's optimiser."""
    return torch.optim.Adam(parameters, betas=(0.9, 0.98), eps=1e-9)


def train_translator(
    model: nn.Module, data: PronounSentences, seed: int, train: Train, **settings: Any
) -> History:
    """Train a translator on the sentences of a seed.

    Args:
        model: the untrained translator.
        data: the sentences.
        seed: of the training sentences and of the order of the batches.
        train: the training loop.
        settings: further arguments of the training loop, in place of the defaults; also its `loss`.
    """
    loss = settings.pop("loss", smoothed_loss)
    pairs = data.encode(data.training_pairs(seed))
    defaults: dict[str, Any]
    if isinstance(model, TransformerTranslator):
        defaults = {"schedule": learning_rate, "optimizer": adam}
    else:
        defaults = {"learning_rate": GRU_RATE, "decay": True}
    return train(
        model,
        lambda epoch: batches_by_length(pairs, BATCH, seed=1000 * seed + epoch),
        loss,
        **({"epochs": EPOCHS, "progress": False} | defaults | settings),
    )


def validate(model: nn.Module, data: PronounSentences) -> dict[str, float]:
    """Return the shares of pronouns right, and the weights of `it` on its noun by head."""
    metrics = {}
    for kind in ("own", "twins"):
        pairs = data.validation[kind]
        metrics[kind] = measures.resolve(model, data, pairs).right
        if measures.has_heads(model):
            found = measures.observe(model, data, pairs)
            weights = measures.weights_on_noun(found)  # (L, h)
            by_head = enumerate(weights.flatten().tolist())
            metrics |= {f"{kind} {i}": weight for i, weight in by_head}
    return metrics


def train_row(row: str, seed: int, data: PronounSentences, train: Train) -> dict[str, Any]:
    """Train one translator; return how it translates, and what its attention shows."""
    seed_everything(seed)
    model = build(row, len(data.vocabulary))
    untrained = build(row, len(data.vocabulary))
    untrained.load_state_dict(model.state_dict())
    examined = row == "transformer"
    check = (lambda model: validate(model, data)) if examined else None
    history = train_translator(model, data, seed, train, validate=check)
    model.eval()
    run: dict[str, Any] = measures.measure_translations(model, data)
    training = data.training_pairs(seed)
    usual = {
        kind: guess_by_last_word(training, list(filter(has_gender, data.test[kind])))
        for kind in ("own", "twins")
    }
    for kind, right in usual.items():
        run["metrics"][f"{kind}_by_last_word"] = fmean(right)
    if examined:
        run["history"], best = _choose_head(history.epochs)
        run |= measures.measure_heads(model, untrained.to(device()).eval(), data)
        run["metrics"] |= measures.measure_head(model, data, *best)
        run["barred"] = measures.measure_barring(model, data)
        run |= measures.measure_patching(model, data, usual["twins"])
        if seed == SEEDS[0]:
            results.write_weights("pronoun_resolution", "english-french", model)
            # A page that runs these weights would need seconds to generate the words' corpus.
            english = sorted({word for pair in training for word in pair.source})
            run["words"] = {"both": data.vocabulary.words, "english": english}
    else:
        run["history"] = history.epochs
    return run | {
        "seconds": history.seconds,
        "parameters": sum(p.numel() for p in model.parameters()),
    }


def _choose_head(epochs: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], tuple[int, int]]:
    """Return the history with the weights of one head: the one with most on the noun at the end."""
    best = max(range(LAYERS * HEADS), key=lambda i: epochs[-1][f"own {i}"])
    history = []
    for epoch in epochs:
        kept = {name: value for name, value in epoch.items() if " " not in name}
        weights = {f"{kind}_on_noun": epoch[f"{kind} {best}"] for kind in ("own", "twins")}
        history.append(kept | weights)
    return history, divmod(best, HEADS)


COMPARISON = Comparison(
    program="pronoun_resolution",
    data="english-french",
    rows={
        "transformer": "Transformer",
        "one-head": "one head",
        "no-positions": "no positions",
        "learned": "learned positions",
        "shifted": "positions shifted in training",
        "gru": "bidirectional GRU, Luong's attention",
    },
    seeds=SEEDS,
    settings={
        "width": WIDTH,
        "heads": HEADS,
        "layers": LAYERS,
        "inner": INNER,
        "batch": BATCH,
        "epochs": EPOCHS,
        "factor": FACTOR,
        "warmup": WARMUP,
        "smoothing": SMOOTHING,
        "gru_rate": GRU_RATE,
        "max_words": MAX_LENGTH,
        "shift": SHIFT,
    },
    load=load,
    train_row=train_row,
    scorer="share of the test sentences that are translated exactly",
)
parser, main = COMPARISON.parser, COMPARISON.main
