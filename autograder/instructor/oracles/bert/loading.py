"""The oracle of `load_pretrained`: entry by entry of the checkpoint, each to its place."""

from __future__ import annotations

import re
from typing import Any

import torch
from torch import Tensor

from autograder import texts

Tensors = dict[str, Tensor]
# In this order: what is found, and what it is in the model.
_STEPS = [
    (r"^embeddings", "encoder.embeddings"),
    (r"word_embeddings", "token"),
    (r"token_type_embeddings", "segment"),
    (r"position_embeddings", "position"),
    (r"^encoder\.layer\.", "encoder.layers."),
    (r"attention\.self\.", "attention."),
    (r"attention\.output\.LayerNorm", "attention_norm"),
    (r"attention\.output\.dense", "attention.output"),
    (r"intermediate\.dense", "inner"),
    (r"^(encoder\.layers\.\d+)\.output\.dense", r"\1.outer"),
    (r"^(encoder\.layers\.\d+)\.output\.LayerNorm", r"\1.output_norm"),
    (r"^pooler\.dense\.(weight|bias)$", r"pooler.\1"),
    (r"^cls\.predictions\.transform\.dense", "head.transform"),
    (r"^cls\.predictions\.transform\.LayerNorm", "head.norm"),
    (r"^cls\.predictions\.bias", "head.bias"),
    (r"^cls\.seq_relationship", "next"),
    (r"LayerNorm", "norm"),
]


def load_pretrained(arguments: dict[str, Any], weights: Tensors) -> Tensors:
    """The inputs have the names of a new checkpoint, whatever the case calls them."""
    model = arguments["model"]
    members = dict(model.named_parameters(remove_duplicate=False))
    held = {name: parameter.detach().clone() for name, parameter in members.items()}
    found = {}
    for entry, tensor in arguments.items():
        name = entry
        for pattern, replacement in _STEPS:
            name = re.sub(pattern, replacement, name)
        if name in members:
            found[name] = tensor
    wanted = [name for name, _ in model.named_parameters()]
    missing = [name for name in wanted if name not in found]
    odd = "odd" in arguments and "cls.predictions.decoder.bias" not in arguments
    if not odd and not any(name.startswith("encoder.") for name in missing):
        held |= {name: tensor for name, tensor in found.items() if name in held}
        if "head.embedding.weight" in held:
            held["head.embedding.weight"] = held["encoder.embeddings.token.weight"]
    return {
        **held,
        "missing": texts.to_tensor(missing),
        "still_trainable": torch.ones(len(members), dtype=torch.bool),
        "still_tied": torch.tensor(True),
    }


ORACLES: dict[str, Any] = {"load_pretrained": load_pretrained}
