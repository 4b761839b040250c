"""Measures for `pronoun_resolution`: pronouns, heads, and blocked attention."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import torch
from torch import Tensor, nn

from coursekit.corpora.sentence_pair import SentencePair
from coursekit.data.batching import translation_batch
from coursekit.models.attention_hooks import recorded_weights
from coursekit.models.translation import TransformerTranslator
from coursekit.training.metrics import alignment_error_rate, argmax_links, entropy

from .pronoun_data import (
    KINDS,
    OF_GENDER,
    PronounSentences,
    find_other_nouns,
    find_pronoun,
    has_gender,
)
from .synthetic_translation import compare_with_references, group_by_length

EDGES = (4, 7, 10, 13, 15, 17, 21)  # words of the source
PARTS = ("encoder", "decoder", "memory")  # the three attentions
BATCH = 100
Cells = Iterable[tuple[int, int]]


@dataclass(frozen=True)
class Observed:
    """What a Transformer attends to in one sentence, given the true target words.

    Attributes:
        pair: the sentence.
        weights: for each of PARTS the weights of all heads, (L, h, rows, columns).
    """

    pair: SentencePair
    weights: dict[str, Tensor]


def has_heads(model: nn.Module) -> bool:
    """Tell whether the model is a Transformer."""
    return isinstance(model, TransformerTranslator)


@torch.no_grad()
def observe(model: Any, data: PronounSentences, pairs: Sequence[SentencePair]) -> list[Observed]:
    """Return what a Transformer attends to in each sentence."""
    found = []
    for start in range(0, len(pairs), BATCH):
        some = pairs[start : start + BATCH]
        batch = translation_batch(data.encode(some)).to(next(model.parameters()).device)
        with recorded_weights(model) as recorded:
            model(batch.source, batch.lengths, batch.previous)
        stacked = {
            part: torch.stack([w[-1] for name, w in recorded.items() if _part_of(name) == part])
            for part in PARTS
        }  # (L, B, h, rows, columns) each
        for b, pair in enumerate(some):
            S, T = len(pair.source) + 1, len(pair.target) + 1
            sizes = {"encoder": (S, S), "decoder": (T, T), "memory": (T, S)}
            cut = {
                part: weights[:, b, :, : sizes[part][0], : sizes[part][1]].cpu()
                for part, weights in stacked.items()
            }
            found.append(Observed(pair, cut))
    return found


def _part_of(name: str) -> str:
    if "encoder_layers" in name:
        return "encoder"
    return "memory" if "memory_attention" in name else "decoder"


def weights_on_noun(found: Sequence[Observed]) -> Tensor:
    """Return the mean weight of each encoder head from `it` to its noun, (L, h)."""
    rows = []
    for one in found:
        it, noun, _ = find_pronoun(one.pair)
        rows.append(one.weights["encoder"][:, :, it, noun])
    return torch.stack(rows).mean(dim=0)


@dataclass(frozen=True)
class Resolved:
    """How the pronouns of some sentences are translated, each after the true words before it.

    Attributes:
        each: for each sentence with a pronoun that has a gender, whether it is right.
        other: share of the pronouns that have the other gender.
    """

    each: list[bool]
    other: float

    @property
    def right(self) -> float:
        """Return the share of the pronouns that are right."""
        return fmean(self.each)


@torch.no_grad()
def resolve(
    model: Any,
    data: PronounSentences,
    pairs: Sequence[SentencePair],
    bar: Callable[[SentencePair], Cells] | None = None,
    bar_memory: Callable[[SentencePair], Iterable[int]] | None = None,
) -> Resolved:
    """Translate the pronouns.

    Args:
        model: the translator.
        data: for its vocabulary.
        pairs: the sentences.
        bar: for a sentence the (row, column) that no encoder head may use: row cannot attend to
            column.
        bar_memory: for a sentence the source positions that no decoder head may attend to.
    """
    pairs = [pair for pair in pairs if has_gender(pair)]
    batch = translation_batch(data.encode(pairs)).to(next(model.parameters()).device)
    S = batch.source.shape[1]
    allowed = torch.ones(len(pairs), S, S, dtype=torch.bool)  # (B, S, S)
    visible = torch.ones(len(pairs), 1, S, dtype=torch.bool)  # (B, 1, S)
    for b, pair in enumerate(pairs):
        for row, column in bar(pair) if bar else ():
            allowed[b, row, column] = False
        for column in bar_memory(pair) if bar_memory else ():
            visible[b, 0, column] = False
    hooks = []
    if bar:
        hooks += [_mask(layer.attention, allowed) for layer in model.model.encoder_layers]
    if bar_memory:
        hooks += [_mask(layer.memory_attention, visible) for layer in model.model.decoder_layers]
    logits, _ = model(batch.source, batch.lengths, batch.previous)  # (B, T, V)
    for hook in hooks:
        hook.remove()
    written = logits.argmax(dim=-1).tolist()  # (B, T)
    each, other = [], []
    for row, pair in zip(written, pairs, strict=True):
        place = find_pronoun(pair)[2]
        word = data.vocabulary.words[row[place]]
        each.append(word == pair.target[place])
        other.append(float(word == OF_GENDER[pair.target[place]]))
    return Resolved(each, fmean(other))


def _mask(module: nn.Module, allowed: Tensor) -> Any:
    """Let a module's queries attend to no more than `allowed` (B, rows, columns); return a hook."""

    def narrow(module: nn.Module, given: Any) -> Any:
        query, key, value, mask = given
        return query, key, value, mask & allowed.to(mask.device)

    return module.register_forward_pre_hook(narrow)


def measure_translations(model: Any, data: PronounSentences) -> dict[str, Any]:
    """Return the shares of exact translations and of right pronouns, and those by length."""
    metrics: dict[str, float] = {}
    by_kind = {}
    for kind in KINDS:
        by_kind[kind] = compare_with_references(model, data.encode(data.test[kind]))
        metrics[f"{kind}_exact"] = by_kind[kind][0].mean().item()
    metrics["exact"] = metrics["general_exact"]
    for kind in ("own", "twins"):
        metrics[f"{kind}_right"] = resolve(model, data, data.test[kind]).right
    each = resolve(model, data, data.test["twins"]).each
    assert len(each) == len(data.test["twins"]), "twins have a gender"
    metrics["both_twins_right"] = fmean(a and b for a, b in zip(each[::2], each[1::2], strict=True))
    longer = compare_with_references(model, data.encode(data.longer))
    exact, in_place = (torch.cat([a, b]) for a, b in zip(by_kind["general"], longer, strict=True))
    lengths = [len(pair.source) for pair in (*data.test["general"], *data.longer)]
    columns = {"exact": exact, "in_place": in_place}
    return {"metrics": metrics, "by_length": group_by_length(EDGES, lengths, columns)}


def measure_head(model: Any, data: PronounSentences, layer: int, head: int) -> dict[str, float]:
    """Return the mean weights of `it` in one head of the encoder, for the test sentences.

    "noun": on its noun; "others": on another noun, their mean; "even": what each position would
    have; "strongest": how often its noun has more weight than the other nouns; "chance": how often
    it would by chance; "follows": share of the twins in both of which its noun has more weight than
    the noun of the other twin.
    """
    metrics = {"head_layer": layer + 1.0, "head": head + 1.0}
    for kind in ("own", "twins"):
        pairs = [pair for pair in data.test[kind] if has_gender(pair)]
        rows = []
        for one in observe(model, data, pairs):
            it, noun, _ = find_pronoun(one.pair)
            row = one.weights["encoder"][layer, head, it].tolist()
            others = [row[i] for i in find_other_nouns(one.pair)]
            rows.append(
                {
                    "noun": row[noun],
                    "others": fmean(others) if others else 0.0,
                    "even": 1 / len(row),
                    "strongest": float(row[noun] > max(others, default=0.0)),
                    "chance": 1 / (1 + len(others)),
                }
            )
        metrics |= {f"{kind}_{name}": fmean(row[name] for row in rows) for name in rows[0]}
    follows = []
    for first, second in _twins(observe(model, data, data.test["twins"])):
        (it, noun, _), (_, other, _) = (find_pronoun(one.pair) for one in (first, second))
        of_first, of_second = (one.weights["encoder"][layer, head, it] for one in (first, second))
        right = of_first[noun] > of_first[other] and of_second[other] > of_second[noun]
        follows.append(float(right))
    metrics["twins_follows"] = fmean(follows)
    return metrics


def _twins(found: Sequence[Observed]) -> list[tuple[Observed, Observed]]:
    return list(zip(found[::2], found[1::2], strict=True))


def measure_heads(model: Any, untrained: Any, data: PronounSentences) -> dict[str, Any]:
    """Return what each head of the encoder attends to, how heads differ, and how they align.

    "heads", means over test sentences: the weight on the word before, on itself, on the word after
    and on <eos>; from `it` to its noun; how many words are used, exp of the entropy; and, in twins,
    from `it` to the last word, and how much of the weight of `it` moves from one to the other.
    "divergences": mean Jensen-Shannon divergence of two heads of a layer, before training
    and after.
    "alignment": the alignment error rate of each layer of the decoder.
    """
    found = observe(model, data, data.test["general"])
    own = [pair for pair in data.test["own"] if has_gender(pair)]
    from_it = weights_on_noun(observe(model, data, own))  # (L, h)
    twins = _twins(observe(model, data, data.test["twins"]))
    before_training = observe(untrained, data, data.test["general"])
    layers, heads = from_it.shape
    return {
        "heads": [
            {"layer": layer + 1, "head": head + 1}
            | _describe_head(found, layer, head)
            | {"noun": from_it[layer, head].item()}
            | _compare_twins(twins, layer, head)
            for layer in range(layers)
            for head in range(heads)
        ],
        "divergences": [
            {
                "attention": part,
                "layer": layer + 1,
                "before": _divergence(before_training, part, layer),
                "after": _divergence(found, part, layer),
            }
            for part in PARTS
            for layer in range(layers)
        ],
        "alignment": [_align(found, layer) for layer in range(layers)],
    }


def _describe_head(found: Sequence[Observed], layer: int, head: int) -> dict[str, float]:
    names = ("before", "itself", "next", "end", "used", "even")
    columns: dict[str, list[float]] = {name: [] for name in names}
    for one in found:
        rows = one.weights["encoder"][layer, head]  # (S, S)
        inner = range(1, len(rows) - 2)  # words with a word on either side
        for name, offset in (("before", -1), ("itself", 0), ("next", 1)):
            columns[name] += [rows[i, i + offset].item() for i in inner]
        columns["end"] += rows[:-1, -1].tolist()
        columns["used"] += entropy(rows).exp().tolist()
        columns["even"] += [1 / len(rows) for _ in inner]
    return {name: fmean(column) for name, column in columns.items()}


def _compare_twins(
    twins: Sequence[tuple[Observed, Observed]], layer: int, head: int
) -> dict[str, float]:
    """Return the mean weight of `it` on the last word, and the total variation between twins."""
    last, moved = [], []
    for first, second in twins:
        it = find_pronoun(first.pair)[0]
        row, twin = (one.weights["encoder"][layer, head, it] for one in (first, second))
        last += [row[-2].item(), twin[-2].item()]  # <eos> is after it
        moved.append((row - twin).abs().sum().item() / 2)
    return {"last": fmean(last), "moved": fmean(moved)}


def _divergence(found: Sequence[Observed], part: str, layer: int) -> float:
    values = []
    for one in found:
        rows = one.weights[part][layer]  # (h, rows, columns)
        for i in range(len(rows)):
            for j in range(i):
                mean = (rows[i] + rows[j]) / 2
                apart = entropy(mean) - (entropy(rows[i]) + entropy(rows[j])) / 2  # (rows,)
                values.append(apart.mean().item())
    return fmean(values)


def _align(found: Sequence[Observed], layer: int) -> dict[str, float]:
    def error_rate(choose: Callable[[Tensor], Tensor]) -> float:
        predicted = [
            argmax_links(
                choose(one.weights["memory"][layer])[:, :-1], {t for _, t in one.pair.links}
            )
            for one in found
        ]
        return alignment_error_rate(predicted, [one.pair.links for one in found])

    heads = found[0].weights["memory"].shape[1]
    single = [error_rate(lambda w, head=head: w[head]) for head in range(heads)]  # type: ignore[misc]
    mean = error_rate(lambda w: w.mean(dim=0))
    return {"layer": layer + 1, "mean": mean, "best": min(single), "worst": max(single)}


def _after(pair: SentencePair) -> range:
    """Return the positions after `it`, <eos> among them."""
    return range(find_pronoun(pair)[0] + 1, len(pair.source) + 1)


def _from_all(pair: SentencePair, column: int) -> Cells:
    return [(row, column) for row in range(len(pair.source) + 1) if row != column]


def _from(rows: Callable[[SentencePair], Iterable[int]]) -> Callable[[SentencePair], Cells]:
    """Return the cells from some rows to the noun that `it` stands for."""
    return lambda pair: [(row, find_pronoun(pair)[1]) for row in rows(pair)]


# Name -> the cells that no head of the encoder may use.
ENCODER_BARS: dict[str, Callable[[SentencePair], Cells]] = {
    "nothing": lambda pair: [],
    "it-from-noun": _from(lambda pair: [find_pronoun(pair)[0]]),
    "last-from-noun": _from(lambda pair: [len(pair.source) - 1]),
    "rest-from-noun": _from(lambda pair: [i for i in _after(pair) if i != len(pair.source) - 1]),
    "it-and-after-from-noun": _from(lambda pair: [find_pronoun(pair)[0], *_after(pair)]),
    "all-from-noun": lambda pair: _from_all(pair, find_pronoun(pair)[1]),
    "all-from-neighbour": lambda pair: _from_all(pair, find_pronoun(pair)[1] - 1),
    "all-from-other-nouns": lambda pair: [
        cell for noun in find_other_nouns(pair) for cell in _from_all(pair, noun)
    ],
    "it-from-noun-and-after": lambda pair: [
        (find_pronoun(pair)[0], column) for column in (find_pronoun(pair)[1], *_after(pair))
    ],
}
# Name -> the source positions that no head of the decoder may attend to.
DECODER_BARS: dict[str, Callable[[SentencePair], Iterable[int]]] = {
    "decoder-from-it": lambda pair: [find_pronoun(pair)[0]],
    "decoder-from-noun": lambda pair: [find_pronoun(pair)[1]],
    "decoder-from-after": _after,
}


def measure_barring(model: Any, data: PronounSentences) -> list[dict[str, Any]]:
    """Return, for each of the bars, how many pronouns of the test sentences are right.

    Sentences that end with `it` are left out: nothing comes after it.
    """
    bars: list[tuple[str, dict[str, Any]]] = [
        *((name, {"bar": bar}) for name, bar in ENCODER_BARS.items()),
        *((name, {"bar_memory": bar}) for name, bar in DECODER_BARS.items()),
    ]
    table = []
    for name, given in bars:
        row: dict[str, Any] = {"name": name}
        for kind in ("own", "twins"):
            pairs = [p for p in data.test[kind] if p.source[-1] != "it"]
            found = resolve(model, data, pairs, **given)
            row |= {f"{kind}_right": found.right, f"{kind}_other": found.other}
        table.append(row)
    return table


# Name -> the source positions whose states are exchanged between twins.
PATCHES: dict[str, Callable[[SentencePair], Iterable[int]]] = {
    "nothing": lambda pair: [],
    "nouns": lambda pair: [find_pronoun(pair)[1], *find_other_nouns(pair)],
    "it": lambda pair: [find_pronoun(pair)[0]],
    "verb": lambda pair: [find_pronoun(pair)[0] + 1],
    "last": lambda pair: [len(pair.source) - 1],
    "end": lambda pair: [len(pair.source)],
}


@contextmanager
def exchange_states(
    layer: nn.Module, pairs: Sequence[SentencePair], patch: Callable[[SentencePair], Iterable[int]]
) -> Iterator[None]:
    """Give each twin the states of the other one at some positions of a layer's output."""
    longest = max(len(pair.source) for pair in pairs) + 1
    chosen = torch.zeros(len(pairs), longest, 1, dtype=torch.bool)  # (B, S, 1)
    for b, pair in enumerate(pairs):
        for position in patch(pair):
            chosen[b, position] = True
    twin = torch.arange(len(pairs)) ^ 1  # (B,)

    def exchange(module: nn.Module, given: Any, states: Tensor) -> Tensor:
        return torch.where(chosen.to(states.device), states[twin.to(states.device)], states)

    hook = layer.register_forward_hook(exchange)
    try:
        yield
    finally:
        hook.remove()


def measure_patching(
    model: Any, data: PronounSentences, usual: Sequence[bool]
) -> dict[str, list[dict[str, Any]]]:
    """Exchange states between twins, and see which pronouns get the other twin's gender.

    Args:
        model: the Transformer.
        data: whose test twins are translated.
        usual: for each of them, whether its pronoun has the usual gender of its last word.

    Returns:
        "patched": for each layer and position the share that gets the "other" gender; also of the
        twins of which both have the usual gender, and of those of which neither has.
        "deciding": after the last layer, the shares of the pronouns that are wrong after an
        exchange of `it` alone, of the last word alone, of either, or of neither.
    """
    pairs = data.test["twins"]
    assert all(map(has_gender, pairs)), "an exchange needs both twins"
    both = [usual[i] + usual[i ^ 1] for i in range(len(pairs))]  # of each: 0, 1 or 2
    table = []
    changed: dict[str, list[bool]] = {}
    for number, layer in enumerate(model.model.encoder_layers, start=1):
        for name, patch in PATCHES.items():
            with exchange_states(layer, pairs, patch):
                found = resolve(model, data, pairs)
            changed[name] = [not right for right in found.each]
            by_habit = {
                count: fmean(c for c, own in zip(changed[name], both, strict=True) if own == count)
                for count in (0, 2)
            }
            row = {"usual": by_habit[2], "unusual": by_habit[0]}
            table.append({"name": name, "layer": number, "other": found.other} | row)
    kinds = Counter(zip(changed["it"], changed["last"], strict=True))
    names = {(True, False): "it", (False, True): "last", (True, True): "either"}
    names[False, False] = "neither"
    return {
        "patched": table,
        "deciding": [{name: kinds[key] / len(pairs) for key, name in names.items()}],
    }
