"""Train cloze models of one size on the synthetic stories and record their predictions.

    python -m experiments cloze_comparison

Writes book/results/<model>.stories.json for a left-to-right and a right-to-left model, the two
combined (at the width of BERT, and narrower, to match its number of parameters), BERT without next
sentences, the same with only [MASK] for hidden words, and BERT as in the paper. The weights of the
left-to-right model and of BERT go to book/results/<model>.stories.safetensors.
"""

from __future__ import annotations

import argparse
import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from coursekit.corpora.stories import Story, splits
from coursekit.models.bert import (
    BertBatch,
    PretrainingModel,
    initialise,
    pad_items,
    pretraining_batches,
)
from coursekit.models.cloze import (
    BidirectionalClozeModel,
    Filler,
    cloze_loss,
    label_every_word,
    predict_hidden_words,
    story_vocabulary,
    texts_of,
)
from coursekit.training import device, results, seed_everything, train
from solutions.bert.inputs import BertEmbeddings, mask_tokens, next_sentence_pairs
from solutions.bert.pretraining import (
    BertEncoder,
    BertLayer,
    MaskedLanguageModelHead,
    pool_first,
    pretraining_loss,
)

from .run_registry import command

TRAIN, VALIDATION, TEST, DATA_SEED = 8_000, 100, 200, 1
LONGEST = 72  # tokens; enough for a question with its passage
SHOWN = 5  # guesses recorded for each word of an example
EXAMPLES = 6
WARMUP = 100
NARROW = 40  # two models of this width have about as many parameters as one of 64

Item = tuple[list[int], list[int], int]  # ids, segments, 1 if the second text is the next one


class Task:
    """The stories with their vocabulary, their splitting into texts, and their masking."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.command = command("cloze_comparison", options)
        self.data = splits(TRAIN, VALIDATION, TEST, DATA_SEED)
        self.words = story_vocabulary(self.data.train)
        self.generator = torch.Generator()

    def encoder(self) -> BertEncoder:
        """Return a newly initialised encoder."""
        o = self.options
        layers = [BertLayer(o.width, o.heads, 2 * o.width, o.dropout) for _ in range(o.layers)]
        embeddings = BertEmbeddings(len(self.words), o.width, LONGEST, dropout=o.dropout)
        encoder = BertEncoder(embeddings, layers)
        initialise(encoder, o.deviation)
        # At first, the identity of a word counts for more than its position.
        nn.init.normal_(embeddings.token.weight, std=2 * o.deviation)
        nn.init.normal_(embeddings.position.weight, std=o.deviation / 4)
        return encoder

    def head(self, embedding: Any) -> MaskedLanguageModelHead:
        """Return a newly initialised head that shares the given `nn.Embedding`."""
        head = MaskedLanguageModelHead(embedding)
        nn.init.normal_(head.transform.weight, std=self.options.deviation)
        return head

    def filler(self, sees: str) -> Filler:
        """Return a model that predicts hidden words."""
        encoder = self.encoder()
        return Filler(encoder, self.head(encoder.embeddings.token), sees)

    def documents(self, stories: Iterable[Story], begin: int = 0) -> list[list[list[int]]]:
        """Return stories as lists of two-sentence texts, as ids, from sentence `begin` on."""
        return [
            [[self.words.id(w) for w in text] for text in texts_of(story, begin=begin)]
            for story in stories
        ]

    def neighbours(self, stories: Iterable[Story]) -> list[Item]:
        """Return all pairs of consecutive texts, for both ways of splitting the stories."""
        return [
            (*self.words.join(first, second), 1)
            for begin in (0, 1)
            for document in self.documents(stories, begin)
            for first, second in pairwise(document)
        ]

    def masked(self, tokens: Tensor, special: Tensor) -> tuple[Tensor, Tensor]:
        """Hide words as the paper does, 80/10/10."""
        return mask_tokens(tokens, special, len(self.words), self.words.mask_id, self.generator)

    def only_masked(self, tokens: Tensor, special: Tensor) -> tuple[Tensor, Tensor]:
        """Hide as many words, but replace all of them by [MASK]."""
        _, labels = self.masked(tokens, special)
        return torch.where(labels != -100, self.words.mask_id, tokens), labels

    def epochs(
        self, items: Callable[[int], list[Item]], mask: Callable[..., Any]
    ) -> Callable[[int], Iterator[BertBatch]]:
        """Return `batches(epoch)` for `train`, with steps / epochs updates in an epoch."""
        per_epoch = self.options.steps // self.options.epochs

        def batches(epoch: int) -> Iterator[BertBatch]:
            made, turn = 0, 1000 * epoch
            self.generator.manual_seed(turn)
            while made < per_epoch:
                turn += 1
                for batch in pretraining_batches(
                    items(turn), self.options.batch, turn, mask, self.words.special_ids
                ):
                    yield batch
                    made += 1
                    if made == per_epoch:
                        return

        return batches

    def schedule(self, step: int) -> float:
        """Return the learning rate: linear warm-up, then linear decay."""
        o = self.options
        return o.rate * min(step / WARMUP, max(o.steps - step + 1, 0) / (o.steps - WARMUP))


def adamw(parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
    """Return Adam with weight decay for the trainable parameters."""
    trained = [parameter for parameter in parameters if parameter.requires_grad]
    return torch.optim.AdamW(trained, betas=(0.9, 0.98), weight_decay=0.01, fused=True)


@torch.no_grad()
def judge_model(
    task: Task, model: Filler | BidirectionalClozeModel, stories: list[Story]
) -> dict[str, Any]:
    """Return the accuracy on hidden words, over all words and by part of speech, and the loss."""
    right: dict[str, list[float]] = defaultdict(list)
    loss: list[float] = []
    for story in stories:
        documents, tags = task.documents([story])[0], texts_of(_tags_as_story(story))
        pairs = pairwise(documents)
        for i, (first, second) in enumerate(pairs):
            ids, segments = task.words.join(first, second)
            places, guessed = predict_hidden_words(model, ids, segments, task.words)
            true = torch.tensor([ids[place] for place in places])
            hits = (guessed.argmax(dim=1) == true).double().tolist()
            loss += (-guessed.gather(1, true[:, None]).log()).flatten().tolist()
            for hit, tag in zip(hits, (*tags[i], *tags[i + 1]), strict=True):
                right[tag].append(hit)
    every = [hit for hits in right.values() for hit in hits]
    return {
        "accuracy": sum(every) / len(every),
        "loss": sum(loss) / len(loss),
        "kinds": {tag: sum(hits) / len(hits) for tag, hits in sorted(right.items())},
    }


def _tags_as_story(story: Story) -> Story:
    return Story(story.tags, story.tags, (), story.plot)


@torch.no_grad()
def judge_shown_words(task: Task, model: nn.Module, stories: list[Story]) -> dict[str, float]:
    """Return a model's accuracy on visible words: true ones, and randomly replaced ones.

    For the latter, one word in ten of each text is replaced by a random one.
    """
    generator = torch.Generator().manual_seed(7)
    same = wrong = kept = replaced = noticed = 0
    for ids, segments, _ in task.neighbours(stories):
        tokens, given = torch.tensor([ids]), torch.tensor([segments])
        special = torch.isin(tokens, torch.tensor(task.words.special_ids))
        for other in (False, True):
            shown = tokens.clone()
            if other:
                places = ~special & (torch.rand(tokens.shape, generator=generator) < 0.1)
                noise = torch.randint(
                    len(task.words.special_ids), len(task.words), tokens.shape, generator=generator
                )
                places &= noise != tokens
                shown = torch.where(places, noise, tokens)
            guess = model(shown, given).argmax(dim=-1)
            if other:
                replaced += int(places.sum())
                noticed += int((guess == tokens)[places].sum())
                wrong += int((guess == shown)[places].sum())
            else:
                same += int((guess == tokens)[~special].sum())
                kept += int((~special).sum())
    return {
        "visible_accuracy": same / kept,
        "replaced_accuracy": noticed / replaced,
        "replaced_believed": wrong / replaced,
    }


def fill_examples(
    task: Task, model: Filler | BidirectionalClozeModel, stories: list[Story]
) -> list[dict[str, Any]]:
    """Return a model's predictions for each word of the example texts."""
    shown = []
    for story in stories:
        first, second = texts_of(story)[:2]
        halves = [[task.words.id(word) for word in text] for text in (first, second)]
        ids, segments = task.words.join(halves[0], halves[1])
        places, guessed = predict_hidden_words(model, ids, segments, task.words)
        best = guessed.topk(SHOWN, dim=1)
        shown.append(
            {
                "sentences": [list(sentence) for sentence in story.sentences[:4]],
                "guesses": [
                    [
                        [word, round(p, 4)]
                        for word, p in zip(task.words.tokens(row), ps, strict=True)
                    ]
                    for row, ps in zip(best.indices.tolist(), best.values.tolist(), strict=True)
                ],
                "truth": [guessed[m, ids[i]].item() for m, i in enumerate(places)],
            }
        )
    return shown


@torch.no_grad()
def next_accuracy(task: Task, model: PretrainingModel, stories: list[Story]) -> float:
    """Return the accuracy of next-sentence prediction."""
    pairs = next_sentence_pairs(task.documents(stories), torch.Generator().manual_seed(1))
    items = [(*task.words.join(a, b), int(is_next)) for a, b, is_next in pairs]
    tokens, segments, labels = pad_items(items)
    logits = model(tokens.to(device()), segments.to(device()))[1].cpu()
    return ((logits.argmax(dim=1) == 0) == (labels == 1)).double().mean().item()


def bert_loss(model: nn.Module, batch: BertBatch) -> Tensor:
    """Return the loss of both tasks; words are scored only at the chosen positions."""
    assert isinstance(model, PretrainingModel)
    states = model.encoder(batch.tokens, batch.segments)
    chosen = batch.labels != -100
    logits = model.head(states[chosen])
    next_logits = model.next(model.summarise(states))
    return pretraining_loss(logits[None], next_logits, batch.labels[chosen][None], batch.is_next)


def fit(
    task: Task, model: nn.Module, batches: Any, loss: Any, judge: Filler | BidirectionalClozeModel
) -> dict[str, Any]:
    """Train a model and return its run: metrics, curve, examples."""
    o = task.options
    few = task.data.validation[:40]
    history = train(
        model,
        batches,
        loss,
        epochs=o.epochs,
        schedule=task.schedule,
        optimizer=adamw,
        validate=lambda _: {"accuracy": judge_model(task, judge, few)["accuracy"]},
        progress=False,
    )
    model.cpu()
    judgement = judge_model(task, judge, task.data.test)
    per_epoch = o.steps // o.epochs
    return {
        "seed": o.seed,
        "metrics": {"accuracy": judgement["accuracy"], "loss": judgement["loss"]},
        "kinds": judgement["kinds"],
        "curve": {
            "updates": [per_epoch * (i + 1) for i in range(o.epochs)],
            "accuracy": history.column("accuracy"),
        },
        "examples": fill_examples(task, judge, task.data.test[:EXAMPLES]),
        "seconds": history.seconds,
    }


def write(task: Task, name: str, model: nn.Module, run: dict[str, Any]) -> None:
    """Record one model."""
    text = repr(task.data).encode()
    results.write_result(
        name,
        "stories",
        runs=[run],
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        data_sha256=hashlib.sha256(text).hexdigest(),
        command=task.command,
        scorer="share of words that are told when each is hidden by itself",
        settings=vars(task.options) | {"stories": TRAIN, "vocabulary": len(task.words)},
    )


def parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--steps", type=int, default=12000, help="updates")
    arguments.add_argument("--epochs", type=int, default=12, help="points of the curve")
    arguments.add_argument("--batch", type=int, default=24, help="pairs of texts in an update")
    arguments.add_argument("--rate", type=float, default=4e-3, help="highest learning rate")
    arguments.add_argument("--width", type=int, default=64)
    arguments.add_argument("--layers", type=int, default=2)
    arguments.add_argument("--heads", type=int, default=4)
    arguments.add_argument("--dropout", type=float, default=0.0)
    arguments.add_argument(
        "--deviation", type=float, default=0.08, help=("standard deviation of the initial weights")
    )
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--only", choices=("fill", "narrow", "bert"), help="one part")
    return arguments


def main(options: argparse.Namespace) -> None:
    """Train and record all models in turn."""
    task = Task(options)
    torch.set_num_threads(1)
    for name, part in (("fill", fill), ("narrow", train_narrow), ("bert", pretrain_bert)):
        if task.options.only in (None, name):
            part(task)


def fill(task: Task) -> None:
    """Train the compared models, all on the same pairs of texts."""
    true_pairs = task.neighbours(task.data.train)
    made: dict[str, Filler] = {}
    for name, sees, mask in (
        ("bert-no-next", "both", task.masked),
        ("left-to-right", "left", label_every_word),
        ("right-to-left", "right", label_every_word),
        ("bert-only-mask", "both", task.only_masked),
    ):
        seed_everything(task.options.seed)
        made[name] = task.filler(sees)
        batches = task.epochs(lambda turn: true_pairs, mask)
        run = fit(task, made[name], batches, cloze_loss, made[name])
        if sees == "both":
            run["metrics"] |= judge_shown_words(task, made[name], task.data.test[:100])
        write(task, name, made[name], run)
        if name == "left-to-right":
            results.write_weights(name, "stories", made[name])
    train_side_by_side(task, "two-directions", made["left-to-right"], made["right-to-left"])


def train_narrow(task: Task) -> None:
    """Train both directions again, so narrow that together they are about as large as BERT."""
    wide, task.options.width = task.options.width, NARROW
    true_pairs = task.neighbours(task.data.train)
    sides = []
    for sees in ("left", "right"):
        seed_everything(task.options.seed)
        side = task.filler(sees)
        batches = task.epochs(lambda turn: true_pairs, label_every_word)
        fit(task, side, batches, cloze_loss, side)
        sides.append(side)
    train_side_by_side(task, "two-directions-narrow", *sides)
    task.options.width = wide


def train_side_by_side(task: Task, name: str, left: Filler, right: Filler) -> None:
    """Train a layer on top of two frozen models for half as many updates, and record the result."""
    seed_everything(task.options.seed)
    width, steps = task.options.width, task.options.steps
    fresh = initialise(nn.Embedding(len(task.words), width), task.options.deviation)
    assert isinstance(fresh, nn.Embedding)
    both = BidirectionalClozeModel(left, right, width, task.head(fresh))
    task.options.steps = steps // 2
    true_pairs = task.neighbours(task.data.train)
    batches = task.epochs(lambda turn: true_pairs, label_every_word)
    write(task, name, both, fit(task, both, batches, cloze_loss, both))
    task.options.steps = steps


def pretrain_bert(task: Task) -> None:
    """Pre-train BERT with both tasks, and save its weights."""
    seed_everything(task.options.seed)
    encoder = task.encoder()
    head = task.head(encoder.embeddings.token)
    model = PretrainingModel(encoder, head, task.options.width, pool_first)
    cut = [task.documents(task.data.train, begin) for begin in (0, 1)]

    def pairs(turn: int) -> list[Item]:
        drawn = next_sentence_pairs(cut[turn % 2], torch.Generator().manual_seed(turn))
        return [(*task.words.join(a, b), int(is_next)) for a, b, is_next in drawn]

    view = Filler(encoder, head)
    run = fit(task, model, task.epochs(pairs, task.masked), bert_loss, view)
    run["metrics"]["next_accuracy"] = next_accuracy(task, model, task.data.test)
    write(task, "bert", model, run)
    results.write_weights("bert", "stories", model)
