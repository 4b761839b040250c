"""Compare models that predict hidden words of stories from one side or from both.

    python -m experiments cloze_comparison --jobs 2

All are pre-trained on the synthetic stories: encoders with three masks (left to right, right to
left, both sides), two directions joined at the top, and BERT with and without its second task. The
left-to-right model, BERT and an encoder from scratch are then fine-tuned on three tasks. Recorded
beside the accuracies: the guesses for some stories, the words on which pronouns rest, and what the
heads of BERT attend to.

Writes book/results/cloze_comparison.stories.json, and the weights of the first seed of the
left-to-right model and of BERT.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from coursekit.models.bert import BertBatch, initialise
from coursekit.models.cloze import BidirectionalClozeModel, Filler, cloze_loss, label_every_word
from coursekit.training import History, device, results, seed_everything

from . import cloze_measures as measures
from . import story_finetuning as finetuning
from .bert_loss_and_schedule import bert_loss
from .comparison_harness import Comparison, Train
from .story_pretraining_setup import (
    BATCH,
    DEVIATION,
    EPOCHS,
    HEADS,
    LAYERS,
    RATE,
    TRAIN,
    UPDATES,
    WARMUP,
    WIDTH,
    Item,
    Mask,
    StoryPretraining,
    learning_rate,
    load,
    make_optimizer,
)

LONG = 5 * UPDATES // 2  # as many as both directions and the layer on top have together
NARROW = 40  # two models of this width have about as many parameters as one of 64
FEW = 40  # validation stories, for the curve
SEEDS = (1, 2, 3)
EXAMINED = ("left-to-right", "two-directions", "bert-no-next")  # guesses are recorded
FINETUNED = (
    "bert-no-next",
    "bert-only-mask",
    "bert",
    "bert-long",
)  # beside the left-to-right model


def fit(
    model: nn.Module,
    stories: StoryPretraining,
    items: Callable[[int], list[Item]],
    mask: Mask,
    loss: Callable[[Any, BertBatch], Tensor],
    seed: int,
    train: Train,
    updates: int = UPDATES,
    judge: measures.ClozeModel | None = None,
) -> History:
    """Pre-train a model; its history holds the accuracy on hidden words of validation stories."""
    few = stories.data.validation[:FEW]

    def validate(_: nn.Module) -> dict[str, float]:
        seen: Any = judge or model
        return {"accuracy": measures.measure_hidden_words(seen, stories, few)["accuracy"]}

    return train(
        model,
        stories.batches(items, mask, seed, updates),
        loss,
        epochs=EPOCHS,
        schedule=learning_rate(updates),
        optimizer=make_optimizer,
        validate=validate,
        progress=False,
    )


def join_directions(
    row: str, seed: int, stories: StoryPretraining, train: Train
) -> tuple[BidirectionalClozeModel, History, float]:
    """Train a model for each side, then a layer on top of both; return it and the last history."""
    width = NARROW if row == "two-directions-narrow" else WIDTH
    true_pairs = stories.neighbours(stories.data.train)
    sides, seconds = [], 0.0
    for sees in ("left", "right"):
        seed_everything(seed)
        side = stories.make_filler(sees, width)
        seconds += fit(
            side, stories, lambda turn: true_pairs, label_every_word, cloze_loss, seed, train
        ).seconds
        sides.append(side)
    seed_everything(seed)
    table = nn.Embedding(len(stories.words), width)
    initialise(table, DEVIATION)
    model = BidirectionalClozeModel(sides[0], sides[1], width, stories.make_head(table))
    history = fit(
        model,
        stories,
        lambda turn: true_pairs,
        label_every_word,
        cloze_loss,
        seed,
        train,
        UPDATES // 2,
    )
    return model, history, seconds + history.seconds


def train_row(row: str, seed: int, stories: StoryPretraining, train: Train) -> dict[str, Any]:
    """Pre-train one model, measure what it predicts, and fine-tune it on the three tasks."""
    test = stories.data.test
    if row == "from-scratch":
        seed_everything(seed)
        encoder = stories.make_encoder()
        started = time.perf_counter()
        return {
            "metrics": finetuning.measure_finetuning(stories, encoder, None, seed, train),
            "seconds": time.perf_counter() - started,
            "parameters": sum(p.numel() for p in encoder.parameters()),
        }
    model, judge, history, seconds = pretrain(row, seed, stories, train)
    metrics = measures.measure_hidden_words(judge, stories, test)
    run: dict[str, Any] = {
        "seconds": seconds,
        "history": history.epochs,
        "parameters": sum(p.numel() for p in model.parameters()),
    }
    if seed == SEEDS[0]:
        if row in EXAMINED:
            run["examples"] = measures.fill_examples(judge, stories, test)
        if row in ("left-to-right", "bert-long"):
            results.write_weights(f"{COMPARISON.program}-{row}", COMPARISON.data, model)
    if row.startswith("bert"):
        metrics |= measures.measure_visible_words(judge, stories, test[:100])
        metrics |= measures.measure_reading(judge, stories, test)
        run["heads"] = measures.measure_heads(judge.encoder, stories, test[:60])
    if row in ("bert", "bert-long"):
        metrics["next_accuracy"] = measures.measure_next_sentences(model, stories, test)
    if row in FINETUNED:
        pooler = getattr(model, "pooler", None)
        metrics |= finetuning.measure_finetuning(stories, judge.encoder, pooler, seed, train)
    if row == "left-to-right":
        one_sided = finetuning.LeftToRightEncoder(judge.encoder)
        metrics |= finetuning.measure_finetuning(stories, one_sided, None, seed, train)
    return run | {"metrics": metrics}


def pretrain(
    row: str, seed: int, stories: StoryPretraining, train: Train
) -> tuple[Any, Any, History, float]:
    """Return a pre-trained model, the part of it that fills gaps, its history and its seconds."""
    if row.startswith("two-directions"):
        both, history, seconds = join_directions(row, seed, stories, train)
        return both.eval(), both, history, seconds
    seed_everything(seed)
    updates = LONG if row.endswith("-long") else UPDATES
    if row in ("bert", "bert-long"):
        bert = stories.make_bert()
        filler = Filler(bert.encoder, bert.head)
        pairs = stories.next_pairs(stories.data.train)
        history = fit(
            bert, stories, pairs, stories.mask_words, bert_loss, seed, train, updates, filler
        )
        return bert.eval(), filler.to(device()), history, history.seconds
    sees, mask = {
        "left-to-right": ("left", label_every_word),
        "right-to-left": ("right", label_every_word),
        "bert-no-next": ("both", stories.mask_words),
        "bert-no-next-long": ("both", stories.mask_words),
        "bert-only-mask": ("both", stories.mask_all_chosen),
    }[row]
    model = stories.make_filler(sees)
    true_pairs = stories.neighbours(stories.data.train)
    history = fit(model, stories, lambda turn: true_pairs, mask, cloze_loss, seed, train, updates)
    return model.eval(), model, history, history.seconds


COMPARISON = Comparison(
    program="cloze_comparison",
    data="stories",
    rows={
        "left-to-right": "left to right",
        "right-to-left": "right to left",
        "two-directions": "two directions",
        "two-directions-narrow": "two directions, of BERT's size",
        "bert-no-next": "BERT without next sentences",
        "bert-no-next-long": "BERT without next sentences, longer",
        "bert-only-mask": "BERT without next sentences, [MASK] only",
        "bert": "BERT",
        "bert-long": "BERT, longer",
        "from-scratch": "from scratch",
    },
    seeds=SEEDS,
    settings={
        "stories": TRAIN,
        "width": WIDTH,
        "narrow_width": NARROW,
        "heads": HEADS,
        "layers": LAYERS,
        "batch": BATCH,
        "updates": UPDATES,
        "updates_long": LONG,
        "epochs": EPOCHS,
        "warmup": WARMUP,
        "rate": RATE,
        "deviation": DEVIATION,
        "finetuning_batch": finetuning.BATCH,
        "finetuning_rate": finetuning.RATE,
        "finetuning_updates": finetuning.UPDATES,
    },
    load=load,
    train_row=train_row,
    scorer="share of words that are predicted when each is hidden by itself",
)
parser, main = COMPARISON.parser, COMPARISON.main
