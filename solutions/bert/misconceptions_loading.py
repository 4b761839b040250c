"""Mistakes that people really make with the exercise `load_pretrained` of `bert/finetuning`.

Each function is one wrong implementation; the first line of its docstring is the title of the card,
the rest the hint.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from solutions.bert import finetuning as right

Checkpoint = Mapping[str, Tensor]


def _tidy(name: str) -> str:
    """An entry's name without the prefix and without old words."""
    name = name.removeprefix("bert.").replace("LayerNorm.gamma", "LayerNorm.weight")
    return name.replace("LayerNorm.beta", "LayerNorm.bias")


def _entry(name: str) -> str:
    """The tidy name of the entry for a parameter of the model."""
    for ours, theirs in (
        ("encoder.embeddings.token", "embeddings.word_embeddings"),
        ("encoder.embeddings.segment", "embeddings.token_type_embeddings"),
        ("encoder.embeddings.position", "embeddings.position_embeddings"),
        ("encoder.embeddings.norm", "embeddings.LayerNorm"),
        ("encoder.layers", "encoder.layer"),
        ("attention.output", "attention.output.dense"),
        ("attention_norm", "attention.output.LayerNorm"),
        ("output_norm", "output.LayerNorm"),
        ("inner", "intermediate.dense"),
        ("outer", "output.dense"),
        ("pooler", "pooler.dense"),
        ("head.transform", "cls.predictions.transform.dense"),
        ("head.norm", "cls.predictions.transform.LayerNorm"),
        ("head.bias", "cls.predictions.bias"),
        ("next", "cls.seq_relationship"),
    ):
        name = name.replace(ours, theirs)
    for part in ("query", "key", "value"):
        name = name.replace(f"attention.{part}", f"attention.self.{part}")
    return name


def _pairs(model: nn.Module, known: Checkpoint) -> Iterator[tuple[str, nn.Parameter, Any]]:
    """Each parameter of the model with its entry, or None."""
    for name, parameter in model.named_parameters():
        yield name, parameter, known.get(_entry(name))


def loads_without_prefix(model: nn.Module, state_dict: Checkpoint) -> list[str]:
    """Names that begin with "bert." are not found.

    A checkpoint that was saved with heads has its encoder inside a part called bert, one that was
    saved without them has not. Take the prefix off before you look for a name.
    """
    kept = {n: t for n, t in state_dict.items() if not n.startswith("bert.")}
    return right.load_pretrained(model, kept)


def loads_with_prefix_only(model: nn.Module, state_dict: Checkpoint) -> list[str]:
    """Only names that begin with "bert." are found.

    A checkpoint that was saved with heads has its encoder inside a part called bert, one that was
    saved without them has not. Both have to be found.
    """
    kept = {n: t for n, t in state_dict.items() if n.startswith(("bert.", "cls."))}
    return right.load_pretrained(model, kept)


def loads_new_names_only(model: nn.Module, state_dict: Checkpoint) -> list[str]:
    """Old names are not found: LayerNorm.gamma and LayerNorm.beta.

    The first checkpoints were made from TensorFlow's, whose layer norm has a gamma and a beta. They
    are what torch calls weight and bias.
    """
    kept = {n: t for n, t in state_dict.items() if not n.endswith(("gamma", "beta"))}
    return right.load_pretrained(model, kept)


def loads_gamma_as_bias(model: nn.Module, state_dict: Checkpoint) -> list[str]:
    """gamma and beta are mixed up.

    The layer norm multiplies by gamma, so that it is the weight, and adds beta, which is the bias.
    """
    renamed = {
        n.replace(".gamma", ".bias") if n.endswith("gamma") else n.replace(".beta", ".weight"): t
        for n, t in state_dict.items()
    }
    return right.load_pretrained(model, renamed)


def loads_layer_one_twice(model: nn.Module, state_dict: Checkpoint) -> list[str]:
    """Layer 10 gets the weights of layer 1.

    "encoder.layer.1" is also the beginning of "encoder.layer.10". Look for the number with the dot
    behind it, or for the whole name.
    """
    firsts: dict[str, Tensor] = {}
    for name, tensor in state_dict.items():
        prefix, found, rest = name.partition("encoder.layer.")
        number, _, part = rest.partition(".")
        if found and len(number) > 1:
            tensor = state_dict[f"{prefix}{found}{number[0]}.{part}"]
        firsts[name] = tensor
    return right.load_pretrained(model, firsts)


def loads_norms_swapped(model: nn.Module, state_dict: Checkpoint) -> list[str]:
    """The two layer norms of a layer are swapped.

    attention.output.LayerNorm comes after the attention: it is attention_norm. output.LayerNorm, at
    the end of the layer, is output_norm.
    """
    turned = {}
    for name, tensor in state_dict.items():
        if ".attention.output.LayerNorm" in name:
            name = name.replace(".attention.output.LayerNorm", ".output.LayerNorm")
        elif ".output.LayerNorm" in name:
            name = name.replace(".output.LayerNorm", ".attention.output.LayerNorm")
        turned[name] = tensor
    return right.load_pretrained(model, turned)


def loads_turned_matrices(model: nn.Module, state_dict: Checkpoint) -> list[str]:
    """The matrices of the linear layers are transposed.

    A checkpoint of torch holds them as nn.Linear does, (out, in), and so does your model. Only
    TensorFlow keeps them the other way round.
    """
    renamed = {_tidy(name): tensor for name, tensor in state_dict.items()}
    missing = right.load_pretrained(model, state_dict)
    with torch.no_grad():
        for name, parameter, tensor in _pairs(model, renamed):
            square = parameter.dim() == 2 and parameter.shape[0] == parameter.shape[1]
            if square and tensor is not None and "embeddings" not in name:
                parameter.copy_(tensor.T)
    return missing


def loads_what_it_finds(model: nn.Module, state_dict: Checkpoint) -> list[str]:
    """A missing part of the encoder is only reported.

    A BERT with one layer that was never trained computes nonsense, and nobody reads a list of names.
    Heads may be missing; for a parameter of the encoder raise a ValueError.
    """
    found = {_tidy(name): tensor for name, tensor in state_dict.items()}
    missing = [name for name, _, tensor in _pairs(model, found) if tensor is None]
    for name in missing:
        if name.startswith("encoder."):
            found[_entry(name)] = model.get_parameter(name).detach().clone()
    right.load_pretrained(model, found)
    return missing


def loads_with_key_error(model: nn.Module, state_dict: Checkpoint) -> list[str]:
    """What is missing raises a KeyError.

    That is Python's word for a dict without the key. Whoever calls load_pretrained is told what is
    wrong with the checkpoint: with a ValueError, in a sentence.
    """
    found = {_tidy(name) for name in state_dict}
    for name, _ in model.named_parameters():
        if name.startswith("encoder.") and _entry(name) not in found:
            raise KeyError(_entry(name))
    return right.load_pretrained(model, state_dict)


def loads_with_torchs_error(model: nn.Module, state_dict: Checkpoint) -> list[str]:
    """A tensor of another shape raises torch's own RuntimeError.

    copy_ and load_state_dict notice that the shapes do not fit, but when they do, parts of the model
    may be filled already. Compare the shapes first, and raise a ValueError.
    """
    found = {_tidy(name): tensor for name, tensor in state_dict.items()}
    for name, parameter, tensor in _pairs(model, found):
        if tensor is not None and tensor.shape != parameter.shape:
            raise RuntimeError(f"{name}: shapes differ")
    return right.load_pretrained(model, state_dict)


def loads_before_it_looks(model: nn.Module, state_dict: Checkpoint) -> list[str]:
    """Weights are copied before all of them have been looked at.

    When the error comes, part of the model is already another one. First look whether everything is
    there and has the right shape, then copy.
    """
    found = {_tidy(name): tensor for name, tensor in state_dict.items()}
    missing = []
    with torch.no_grad():
        for name, parameter, tensor in _pairs(model, found):
            if tensor is None and name.startswith("encoder."):
                raise ValueError(f"{name} is missing")
            if tensor is None:
                missing.append(name)
            elif tensor.shape != parameter.shape:
                raise ValueError(f"{name} has another shape")
            else:
                parameter.copy_(tensor)
    return missing


def loads_shapes_that_repeat(model: nn.Module, state_dict: Checkpoint) -> list[str]:
    """A tensor of another shape is repeated until it fits.

    copy_ fills a whole row with a single number, and says nothing. Compare the shapes before you
    copy.
    """
    found = {_tidy(name): tensor for name, tensor in state_dict.items()}
    for name, parameter, tensor in _pairs(model, found):
        if tensor is not None and tensor.numel() == 1:
            found[_entry(name)] = tensor.expand(parameter.shape)
    return right.load_pretrained(model, found)


def loads_shapes_left_out(model: nn.Module, state_dict: Checkpoint) -> list[str]:
    """A head of another shape is left out like a missing one.

    A head that is not there is no mistake. One that is there with another shape is: the model was
    not built for this checkpoint. Raise a ValueError for it too.
    """
    found = {_tidy(name): tensor for name, tensor in state_dict.items()}
    for name, parameter, tensor in list(_pairs(model, found)):
        odd = tensor is not None and tensor.shape != parameter.shape
        if odd and not name.startswith("encoder."):
            del found[_entry(name)]
    return right.load_pretrained(model, found)


def loads_returns_their_names(model: nn.Module, state_dict: Checkpoint) -> list[str]:
    """The names of what is missing are the checkpoint's.

    The list says which parameters of the model keep their values, in the model's own names, such as
    head.norm.weight.
    """
    return [_entry(name) for name in right.load_pretrained(model, state_dict)]


def loads_returns_what_is_left(model: nn.Module, state_dict: Checkpoint) -> list[str]:
    """The list holds what the model does not need.

    What the checkpoint has on top is left out without a word. The list says what the checkpoint does
    not have: parameters of the model that keep their values.
    """
    right.load_pretrained(model, state_dict)
    needed = {_entry(name) for name, _ in model.named_parameters()}
    return [name for name in state_dict if _tidy(name) not in needed]


def loads_returns_what_was_found(model: nn.Module, state_dict: Checkpoint) -> list[str]:
    """The list holds the parameters that were loaded.

    It says which ones were not: they keep their values, and somebody has to train them.
    """
    missing = right.load_pretrained(model, state_dict)
    return [name for name, _ in model.named_parameters() if name not in missing]


def loads_returns_sorted(model: nn.Module, state_dict: Checkpoint) -> list[str]:
    """The names are in the order of the alphabet, not in the model's.

    The list has the order of model.named_parameters().
    """
    return sorted(right.load_pretrained(model, state_dict))


def loads_returns_nothing_missing(model: nn.Module, state_dict: Checkpoint) -> list[str]:
    """The list is always empty.

    A checkpoint may lack the pooler or the heads. Their names are returned, so that whoever calls
    knows what still has to be trained.
    """
    right.load_pretrained(model, state_dict)
    return []


def loads_tied_weight_as_missing(model: nn.Module, state_dict: Checkpoint) -> list[str]:
    """head.embedding.weight is called missing.

    It is the token embedding of the encoder, under a second name: model.named_parameters() names it
    once. (model.state_dict() names it twice.)
    """
    missing = set(right.load_pretrained(model, state_dict)) | {"head.embedding.weight"}
    members = model.named_parameters(remove_duplicate=False)
    return [name for name, _ in members if name in missing]


def loads_decoder_weight(model: nn.Module, state_dict: Checkpoint) -> list[str]:
    """The decoder's weights are loaded into the head.

    The head has no matrix of its own: its embedding is the encoder's. What a checkpoint calls
    decoder.weight is a copy of it at best, and is left out.
    """
    missing = right.load_pretrained(model, state_dict)
    weight = state_dict.get("cls.predictions.decoder.weight")
    tied = dict(model.named_parameters(remove_duplicate=False)).get("head.embedding.weight")
    if tied is not None and weight is not None and weight.shape == tied.shape:
        with torch.no_grad():
            tied.copy_(weight)
    return missing


def loads_without_copying(model: nn.Module, state_dict: Checkpoint) -> list[str]:
    """The model and the checkpoint share their tensors.

    parameter.data = tensor copies nothing: the first step of training changes the checkpoint too.
    parameter.copy_(tensor) copies the numbers.
    """
    missing = right.load_pretrained(model, state_dict)
    found = {_tidy(name): tensor for name, tensor in state_dict.items()}
    for _, parameter, tensor in _pairs(model, found):
        if tensor is not None:
            parameter.data = tensor
    return missing


def loads_and_empties_the_dict(model: nn.Module, state_dict: Any) -> list[str]:
    """The entries are taken out of the dict that was passed.

    pop and del change the checkpoint of whoever called: a second model could not be filled from it.
    Make a dict of your own.
    """
    missing = right.load_pretrained(model, state_dict)
    for name in list(state_dict):
        state_dict[name.removeprefix("bert.") + " "] = state_dict.pop(name)
    return missing


def loads_an_embedding_for_the_head(model: nn.Module, state_dict: Checkpoint) -> list[str]:
    """The head gets an embedding of its own.

    The head scores tokens with the encoder's token embedding itself. With a copy the two go different
    ways as soon as they are trained. Fill the parameters that are there.
    """
    missing = right.load_pretrained(model, state_dict)
    head = dict(model.named_children()).get("head")
    if head is not None:
        weight = model.get_parameter("encoder.embeddings.token.weight").detach().clone()
        head.add_module("embedding", nn.Embedding.from_pretrained(weight, freeze=False))
    return missing


def loads_and_freezes(model: nn.Module, state_dict: Checkpoint) -> list[str]:
    """The loaded parameters are frozen.

    Fine-tuning changes all of them: after loading, each parameter still requires a gradient.
    """
    missing = right.load_pretrained(model, state_dict)
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(name in missing)
    return missing


MISCONCEPTIONS: dict[str, list[Any]] = {
    "load_pretrained": [
        loads_without_prefix,
        loads_with_prefix_only,
        loads_new_names_only,
        loads_gamma_as_bias,
        loads_layer_one_twice,
        loads_norms_swapped,
        loads_turned_matrices,
        loads_what_it_finds,
        loads_with_key_error,
        loads_with_torchs_error,
        loads_before_it_looks,
        loads_shapes_that_repeat,
        loads_shapes_left_out,
        loads_returns_their_names,
        loads_returns_what_is_left,
        loads_returns_what_was_found,
        loads_returns_sorted,
        loads_returns_nothing_missing,
        loads_tied_weight_as_missing,
        loads_decoder_weight,
        loads_without_copying,
        loads_and_empties_the_dict,
        loads_an_embedding_for_the_head,
        loads_and_freezes,
    ],
}
