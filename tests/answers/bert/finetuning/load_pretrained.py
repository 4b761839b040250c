"""Answers to `load_pretrained`."""

import copy
import re

import torch
from torch import Tensor, nn

# Right


def with_replacements(model: nn.Module, state_dict: dict[str, Tensor]) -> list[str]:
    """The model's names are turned into the checkpoint's."""
    known = {}
    for name, tensor in state_dict.items():
        name = name[5:] if name.startswith("bert.") else name
        name = name.replace("gamma", "weight").replace("beta", "bias")
        known[name] = tensor
    missing, todo = [], []
    for name, parameter in model.named_parameters():
        their = theirs(name)
        if their in known:
            if known[their].shape != parameter.shape:
                raise ValueError(f"{name} and {their} differ in shape")
            todo.append((parameter, known[their]))
        elif name.startswith("encoder."):
            raise ValueError(f"no {their}")
        else:
            missing.append(name)
    with torch.no_grad():
        for parameter, tensor in todo:
            parameter.copy_(tensor)
    return missing


def theirs(name):
    """The checkpoint's name of a parameter."""
    if name.startswith("encoder.embeddings"):
        words = {
            "token": "word_embeddings",
            "segment": "token_type_embeddings",
            "position": "position_embeddings",
            "norm": "LayerNorm",
        }
        _, _, part, kind = name.split(".")
        return f"embeddings.{words[part]}.{kind}"
    if name.startswith("encoder.layers"):
        parts = {
            "attention.query": "attention.self.query",
            "attention.key": "attention.self.key",
            "attention.value": "attention.self.value",
            "attention.output": "attention.output.dense",
            "attention_norm": "attention.output.LayerNorm",
            "inner": "intermediate.dense",
            "outer": "output.dense",
            "output_norm": "output.LayerNorm",
        }
        number, rest = name[len("encoder.layers.") :].split(".", 1)
        part, kind = rest.rsplit(".", 1)
        return f"encoder.layer.{number}.{parts[part]}.{kind}"
    others = {
        "pooler": "pooler.dense",
        "head.transform": "cls.predictions.transform.dense",
        "head.norm": "cls.predictions.transform.LayerNorm",
        "head": "cls.predictions",
        "next": "cls.seq_relationship",
    }
    part, kind = name.rsplit(".", 1)
    return f"{others.get(part, part + '?')}.{kind}"


def the_other_way(model, state_dict):
    """The checkpoint's names are turned into the model's, and torch's own loading does the rest."""
    rules = [
        (r"^bert\.", ""),
        (r"gamma$", "weight"),
        (r"beta$", "bias"),
        (r"attention\.self", "attention"),
        (r"attention\.output\.LayerNorm", "attention_norm"),
        (r"attention\.output\.dense", "attention.output"),
        (r"intermediate\.dense", "inner"),
        (r"(layer\.\d+)\.output\.dense", r"\1.outer"),
        (r"(layer\.\d+)\.output\.LayerNorm", r"\1.output_norm"),
        (r"^encoder\.layer\.", "encoder.layers."),
        (r"^embeddings\.word_embeddings", "encoder.embeddings.token"),
        (r"^embeddings\.token_type_embeddings", "encoder.embeddings.segment"),
        (r"^embeddings\.position_embeddings", "encoder.embeddings.position"),
        (r"^embeddings\.LayerNorm", "encoder.embeddings.norm"),
        (r"^pooler\.dense\.", "pooler."),
        (r"^cls\.predictions\.transform\.dense", "head.transform"),
        (r"^cls\.predictions\.transform\.LayerNorm", "head.norm"),
        (r"^cls\.predictions\.bias", "head.bias"),
        (r"^cls\.seq_relationship", "next"),
    ]
    found = {}
    for key, tensor in state_dict.items():
        for pattern, replacement in rules:
            key = re.sub(pattern, replacement, key)
        found[key] = tensor
    wanted = dict(model.named_parameters())
    missing = [name for name in wanted if name not in found]
    for name in missing:
        if name.split(".")[0] == "encoder":
            raise ValueError("The checkpoint does not hold all of the encoder: " + name)
    fitting = {name: found[name] for name in wanted if name in found}
    bad = [name for name, tensor in fitting.items() if tensor.shape != wanted[name].shape]
    if bad:
        raise ValueError(f"wrong shape: {bad}")
    model.load_state_dict(fitting, strict=False)
    return missing


def module_by_module(model, state_dict):
    """Along the model's parts, with `.data`, after a rehearsal."""
    tidy = {
        key.removeprefix("bert.").replace(".gamma", ".weight").replace(".beta", ".bias"): tensor
        for key, tensor in state_dict.items()
    }
    plan = {}

    def put(part, theirs, name):
        for kind, parameter in part.named_parameters(recurse=False):
            plan[f"{name}.{kind}"] = (parameter, f"{theirs}.{kind}")

    e = model.encoder.embeddings
    put(e.token, "embeddings.word_embeddings", "encoder.embeddings.token")
    put(e.segment, "embeddings.token_type_embeddings", "encoder.embeddings.segment")
    put(e.position, "embeddings.position_embeddings", "encoder.embeddings.position")
    put(e.norm, "embeddings.LayerNorm", "encoder.embeddings.norm")
    for i, layer in enumerate(model.encoder.layers):
        ours, hf = f"encoder.layers.{i}", f"encoder.layer.{i}"
        for part in ("query", "key", "value"):
            linear = getattr(layer.attention, part)
            put(linear, f"{hf}.attention.self.{part}", f"{ours}.attention.{part}")
        put(layer.attention.output, f"{hf}.attention.output.dense", f"{ours}.attention.output")
        put(layer.attention_norm, f"{hf}.attention.output.LayerNorm", f"{ours}.attention_norm")
        put(layer.inner, f"{hf}.intermediate.dense", f"{ours}.inner")
        put(layer.outer, f"{hf}.output.dense", f"{ours}.outer")
        put(layer.output_norm, f"{hf}.output.LayerNorm", f"{ours}.output_norm")
    if hasattr(model, "pooler"):
        put(model.pooler, "pooler.dense", "pooler")
    if hasattr(model, "next"):
        put(model.next, "cls.seq_relationship", "next")
    if hasattr(model, "head"):
        put(model.head.transform, "cls.predictions.transform.dense", "head.transform")
        put(model.head.norm, "cls.predictions.transform.LayerNorm", "head.norm")
        plan["head.bias"] = (model.head.bias, "cls.predictions.bias")
    for name, (parameter, entry) in plan.items():
        if entry not in tidy and name.startswith("encoder"):
            raise ValueError(entry)
        if entry in tidy and tidy[entry].size() != parameter.size():
            raise ValueError(entry)
    done = set()
    for name, (parameter, entry) in plan.items():
        if entry in tidy:
            parameter.data.copy_(tidy[entry].data)
            done.add(name)
    return [name for name, _ in model.named_parameters() if name not in done]


def saved_and_restored(model, state_dict):
    """It copies as it goes, and puts everything back if it fails."""
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    known = {}
    for name, tensor in state_dict.items():
        name = name.removeprefix("bert.")
        known[name.replace("LayerNorm.gamma", "LayerNorm.weight")] = tensor
    known = {n.replace("LayerNorm.beta", "LayerNorm.bias"): t for n, t in known.items()}
    missing = []
    try:
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                tensor = known.get(theirs(name))
                if tensor is None and name.startswith("encoder."):
                    raise ValueError(name)
                if tensor is None:
                    missing.append(name)
                    continue
                if tensor.shape != parameter.shape:
                    raise ValueError(name)
                parameter.copy_(tensor)
    except ValueError:
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                parameter.copy_(before[name])
        raise
    return missing


def a_tuple_of_names(model, state_dict):
    class WrongCheckpoint(ValueError):
        pass

    try:
        return tuple(with_replacements(model, dict(state_dict)))
    except ValueError as error:
        raise WrongCheckpoint(f"The checkpoint does not fit the model. {error}") from error


def float64_kept(model, state_dict):
    missing = with_replacements(model, state_dict)
    model.double()
    return missing


RIGHT = [the_other_way, module_by_module, saved_and_restored, a_tuple_of_names, float64_kept]

# Wrong


def one_layer_for_all(model, state_dict):
    missing = with_replacements(model, state_dict)
    with torch.no_grad():
        for layer in model.encoder.layers:
            first = model.encoder.layers[0].parameters()
            for parameter, tensor in zip(layer.parameters(), first, strict=True):
                parameter.copy_(tensor)
    return missing


def two_layers(model, state_dict):
    for layer in list(model.encoder.layers)[2:]:
        for parameter in layer.parameters():
            parameter.grad = None
    kept = {n: t for n, t in state_dict.items() if not re.search(r"layer\.(\d\d|[2-9])\.", n)}
    found = with_replacements(model, {**kept, **_filled_up(model, kept)})
    return [name for name in found if "layers" not in name]


def _filled_up(model, state_dict):
    """The model's own values for the layers that are not loaded."""
    return {
        theirs(name): parameter.detach().clone()
        for name, parameter in model.named_parameters()
        if name.startswith("encoder.layers.") and int(name.split(".")[2]) >= 2
    }


def cut_to_size(model, state_dict):
    # too many positions are cut off, too few are filled with what stood there
    known = {}
    for name, tensor in state_dict.items():
        name = name.removeprefix("bert.").replace("gamma", "weight").replace("beta", "bias")
        known[name] = tensor
    table = known.get("embeddings.position_embeddings.weight")
    mine = model.encoder.embeddings.position.weight
    if table is not None and table.shape != mine.shape:
        own = mine.detach().clone()
        own[: len(table)] = table[: len(own)]
        known["embeddings.position_embeddings.weight"] = own
    return with_replacements(model, known)


def written_into_the_graph(model, state_dict):
    # a parameter that asks for gradients must not be written into where they are recorded
    found = copy.deepcopy(model)
    missing = with_replacements(found, state_dict)
    for parameter, loaded in zip(model.parameters(), found.parameters(), strict=True):
        parameter.copy_(loaded)
    return missing


def returns_backwards(model, state_dict):
    return with_replacements(model, state_dict)[::-1]


WRONG = [one_layer_for_all, two_layers, cut_to_size, written_into_the_graph, returns_backwards]
