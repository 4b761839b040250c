"""Oracles of the notebook `bert/inputs`: the library's WordPiece, and one token at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from tokenizers.models import WordPiece
from torch import Tensor

from autograder import texts
from autograder.stand_ins import PieceSet

Tensors = dict[str, Tensor]
_NOTHING = "\0"  # what the library says where a word cannot be spelt: no piece of any vocabulary


def wordpiece(arguments: dict[str, Any], weights: Tensors) -> Tensors:
    """What `tokenizers` makes of the word."""
    word, vocabulary = arguments["word"], arguments["vocabulary"]
    if isinstance(vocabulary, PieceSet):  # of which the library needs a list
        ends = range(1, len(word) + 1)
        parts = {word[i:j] for j in ends for i in range(j)}
        parts |= {f"##{part}" for part in parts}
        vocabulary = [part for part in sorted(parts) if part in vocabulary]
    ids = {piece: number for number, piece in enumerate([_NOTHING, *vocabulary])}
    model = WordPiece(ids, unk_token=_NOTHING, max_input_chars_per_word=100)
    found = [token.value for token in model.tokenize(word)] if word else []
    if _NOTHING in found:
        found = [arguments.get("unknown", "[UNK]")]
    return {"pieces": texts.to_tensor(found)}


def bert_embeddings(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    """Each batch as if it were the only one."""
    eps = inputs.get("eps", 1e-12)
    segments = inputs["segments"]  # without any, what the constructor calls so: how many kinds
    kinds = segments if isinstance(segments, Tensor) else None
    found = {"embedded": _embedded(inputs["tokens"], kinds, weights, eps)}
    if "other_tokens" in inputs:
        tokens, segments = inputs["other_tokens"], inputs["other_segments"]
        found["other_embedded"] = _embedded(tokens, segments, weights, eps)
    return found


def _embedded(tokens: Tensor, segments: Tensor | None, weights: Tensors, eps: float) -> Tensor:
    """Token by token, the mean and the variance of its numbers taken by hand."""
    rows = []
    for b, ids in enumerate(tokens.tolist()):
        kinds = [0] * len(ids) if segments is None else segments[b].tolist()
        for place, (token, kind) in enumerate(zip(ids, kinds, strict=True)):
            x = weights["token.weight"][token] + weights["segment.weight"][kind]
            x = x + weights["position.weight"][place]
            centred = x - x.sum() / len(x)
            spread = ((centred * centred).sum() / len(x) + eps) ** 0.5
            rows.append(weights["norm.weight"] * centred / spread + weights["norm.bias"])
    return torch.stack(rows).reshape(*tokens.shape, -1)


def mask_tokens(arguments: dict[str, Any], weights: Tensors) -> Tensors:
    """Token by token: a number decides whether it is chosen, one what becomes of it, one as what.

    A call without a generator draws with one of a fixed seed, so that an oracle repeats itself.
    """
    if "tokens_0" in arguments:
        many = [name for name in arguments if name.startswith("tokens_")]
        return {
            f"{kind}_{name.removeprefix('tokens_')}": found
            for name in many
            for kind, found in _masked(arguments, arguments[name], arguments["generator"]).items()
        }
    found: Tensors = {}
    for prefix, generator in _generators(arguments, ("", "twin_", "other_", "later_", "again_")):
        drawn = _masked(arguments, arguments["tokens"], generator)
        found |= {prefix + name: tensor for name, tensor in drawn.items()}
    return found


def _generators(
    arguments: dict[str, Any], names: Sequence[str]
) -> list[tuple[str, torch.Generator]]:
    """Return the generator of each call, under the name that its result has."""
    plain, twin, other, later, again = names
    if "nothing" in arguments:
        fixed = [torch.Generator().manual_seed(seed) for seed in (1, 2)]
        return list(zip((plain, again), fixed, strict=True))
    first = [(plain, arguments["generator"])]
    if "other" not in arguments:
        return first
    second = [(twin, arguments["twin"]), (other, arguments["other"])]
    return [*first, *second, (later, arguments["generator"])]


def _masked(arguments: dict[str, Any], tokens: Tensor, generator: torch.Generator) -> Tensors:
    v, mask_id = arguments["vocabulary_size"], arguments["mask_id"]
    probability = arguments.get("probability", 0.15)
    levels = torch.rand(tokens.numel(), 3, dtype=torch.float64, generator=generator).tolist()
    inputs, labels = tokens.flatten().tolist(), [-100] * tokens.numel()
    for i, special in enumerate(arguments["special"].flatten().tolist()):
        choice, fate, other = levels[i]
        if special or choice >= probability:
            continue
        labels[i] = inputs[i]
        if fate < 0.1:
            inputs[i] = int(other * v)
        elif fate >= 0.2:
            inputs[i] = mask_id
    shape = tokens.shape
    return {
        "inputs": torch.tensor(inputs).reshape(shape),
        "labels": torch.tensor(labels).reshape(shape),
    }


def next_sentence_pairs(arguments: dict[str, Any], weights: Tensors) -> Tensors:
    """Neighbour by neighbour, the negative among all sentences of the other documents alike."""
    names = ("pairs", "twin", "other", "later", "again")
    return {
        name: texts.to_tensor(_paired(arguments["documents"], generator))
        for name, generator in _generators(arguments, names)
    }


def _paired(documents: list[list[Any]], generator: torch.Generator) -> list[list[Any]]:
    found = []
    for number, document in enumerate(documents):
        others = [s for i, other in enumerate(documents) if i != number for s in other]
        for place in range(len(document) - 1):
            coin, level = torch.rand(2, dtype=torch.float64, generator=generator).tolist()
            second = document[place + 1] if coin < 0.5 else others[int(level * len(others))]
            found.append([document[place], second, coin < 0.5])
    return found


ORACLES: dict[str, Any] = {
    "wordpiece": wordpiece,
    "BertEmbeddings": bert_embeddings,
    "mask_tokens": mask_tokens,
    "next_sentence_pairs": next_sentence_pairs,
}
