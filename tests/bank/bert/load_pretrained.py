"""Answers to `load_pretrained`."""

import re
import sys
import warnings

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
        raise WrongCheckpoint("The checkpoint does not fit the model.") from error


def talkative(model, state_dict):
    warnings.warn("loading", stacklevel=1)
    print(len(state_dict), file=sys.stderr)
    return with_replacements(model, state_dict)


def float64_kept(model, state_dict):
    missing = with_replacements(model, state_dict)
    model.double()
    return missing


def new_parameters(model, state_dict):
    """The token embedding keeps its place, and so the head keeps it too."""
    missing = with_replacements(model, state_dict)
    token = model.encoder.embeddings.token
    token.weight = nn.Parameter(token.weight.detach().clone())
    return missing


RIGHT = [
    with_replacements,
    new_parameters,
    the_other_way,
    module_by_module,
    saved_and_restored,
    a_tuple_of_names,
    talkative,
    float64_kept,
]

# Wrong


def _renamed(state_dict, *pairs):
    """The checkpoint with parts of names exchanged."""
    found = {}
    for name, tensor in state_dict.items():
        for one, other in pairs:
            if one in name:
                name = name.replace(one, other)
            elif other in name:
                name = name.replace(other, one)
        found[name] = tensor
    return found


def torchs_loading_with_other_names(model, state_dict):
    return list(model.load_state_dict(state_dict, strict=False).missing_keys)


def by_order(model, state_dict):
    # one after the other, whatever the names are
    with torch.no_grad():
        for parameter, tensor in zip(model.parameters(), state_dict.values(), strict=False):
            if parameter.shape == tensor.shape:
                parameter.copy_(tensor)
    return []


def query_and_key_swapped(model, state_dict):
    return with_replacements(model, _renamed(state_dict, (".self.query", ".self.key")))


def key_and_value_swapped(model, state_dict):
    return with_replacements(model, _renamed(state_dict, (".self.value", ".self.key")))


def segments_as_positions(model, state_dict):
    pair = ("token_type_embeddings", "position_embeddings")
    return with_replacements(model, _renamed(state_dict, pair))


def layers_from_the_last(model, state_dict):
    missing = with_replacements(model, state_dict)
    layers = model.encoder.layers
    held = [[p.detach().clone() for p in layer.parameters()] for layer in layers]
    with torch.no_grad():
        for layer, tensors in zip(layers, reversed(held), strict=True):
            for parameter, tensor in zip(layer.parameters(), tensors, strict=True):
                parameter.copy_(tensor)
    return missing


def one_layer_for_all(model, state_dict):
    missing = with_replacements(model, state_dict)
    with torch.no_grad():
        for layer in model.encoder.layers:
            first = model.encoder.layers[0].parameters()
            for parameter, tensor in zip(layer.parameters(), first, strict=True):
                parameter.copy_(tensor)
    return missing


def biases_left_out(model, state_dict):
    kept = {name: p.detach().clone() for name, p in model.named_parameters()}
    missing = with_replacements(model, state_dict)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("inner.bias"):
                parameter.copy_(kept[name])
    return missing


def encoder_only(model, state_dict):
    kept = {n: t for n, t in state_dict.items() if not n.startswith("cls.")}
    return with_replacements(model, kept)


def next_turned(model, state_dict):
    missing = with_replacements(model, state_dict)
    if hasattr(model, "next") and "next.weight" not in missing:
        with torch.no_grad():
            model.next.weight.copy_(model.next.weight.flip(0).clone())
    return missing


def heads_with_prefix_only(model, state_dict):
    kept = {n: t for n, t in state_dict.items() if not n.startswith("cls.")}
    kept |= {n: t for n, t in state_dict.items() if n.startswith("bert.cls.")}
    return with_replacements(model, kept)


def prefix_cut_from_everything(model, state_dict):
    # five letters go, whatever they are
    return with_replacements(model, {f"bert.{name[5:]}": t for name, t in state_dict.items()})


def zeros_for_what_is_missing(model, state_dict):
    missing = with_replacements(model, state_dict)
    with torch.no_grad():
        for name in missing:
            model.get_parameter(name).zero_()
    return missing


def extra_entries_are_errors(model, state_dict):
    needed = {theirs(name) for name, _ in model.named_parameters()}
    for name in state_dict:
        tidy = name.removeprefix("bert.").replace("gamma", "weight").replace("beta", "bias")
        if tidy not in needed:
            raise ValueError(f"nobody needs {name}")
    return with_replacements(model, state_dict)


def heads_are_needed(model, state_dict):
    missing = with_replacements(model, state_dict)
    if missing:
        raise ValueError(f"missing: {missing}")
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


def error_after_copying(model, state_dict):
    known = {}
    for name, tensor in state_dict.items():
        name = name.removeprefix("bert.").replace("gamma", "weight").replace("beta", "bias")
        known[name] = tensor
    bad, missing = [], []
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            tensor = known.get(theirs(name))
            if tensor is not None and tensor.shape == parameter.shape:
                parameter.copy_(tensor)
            elif tensor is not None or name.startswith("encoder."):
                bad.append(name)
            else:
                missing.append(name)
    if bad:
        raise ValueError(str(bad))
    return missing


def shapes_not_compared(model, state_dict):
    known = {}
    for name, tensor in state_dict.items():
        name = name.removeprefix("bert.").replace("gamma", "weight").replace("beta", "bias")
        known[name] = tensor
    missing = [name for name, _ in model.named_parameters() if theirs(name) not in known]
    if any(name.startswith("encoder.") for name in missing):
        raise ValueError(missing[0])
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name not in missing:
                parameter.copy_(known[theirs(name)])
    return missing


def numbers_compared_only(model, state_dict):
    known = {}
    for name, tensor in state_dict.items():
        name = name.removeprefix("bert.").replace("gamma", "weight").replace("beta", "bias")
        known[name] = tensor
    for name, parameter in model.named_parameters():
        tensor = known.get(theirs(name))
        if tensor is not None and tensor.numel() == parameter.numel():
            known[theirs(name)] = tensor.reshape(parameter.shape)
    return with_replacements(model, known)


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


def returns_nothing(model, state_dict):
    with_replacements(model, state_dict)


def returns_the_model(model, state_dict):
    with_replacements(model, state_dict)
    return model


def returns_a_number(model, state_dict):
    return len(with_replacements(model, state_dict))


def returns_one_string(model, state_dict):
    return ", ".join(with_replacements(model, state_dict))


def returns_backwards(model, state_dict):
    return with_replacements(model, state_dict)[::-1]


def returns_modules(model, state_dict):
    names = with_replacements(model, state_dict)
    return list(dict.fromkeys(name.rpartition(".")[0] for name in names))


def returns_missing_and_extra(model, state_dict):
    missing = with_replacements(model, state_dict)
    return missing, [name for name in state_dict if name.startswith("classifier")]


def only_a_copy_is_filled(model, state_dict):
    import copy

    return with_replacements(copy.deepcopy(model), state_dict)


def tensors_scaled_in_place(model, state_dict):
    missing = with_replacements(model, state_dict)
    for tensor in state_dict.values():
        if tensor.is_floating_point():
            tensor.zero_()
    return missing


def entries_deleted(model, state_dict):
    missing = with_replacements(model, state_dict)
    for name in [name for name in state_dict if "decoder" in name or "position_ids" in name]:
        del state_dict[name]
    return missing


def half_precision(model, state_dict):
    return with_replacements(model, {name: t.half() for name, t in state_dict.items()})


WRONG = [
    torchs_loading_with_other_names,
    by_order,
    query_and_key_swapped,
    key_and_value_swapped,
    segments_as_positions,
    layers_from_the_last,
    one_layer_for_all,
    biases_left_out,
    encoder_only,
    next_turned,
    heads_with_prefix_only,
    prefix_cut_from_everything,
    zeros_for_what_is_missing,
    extra_entries_are_errors,
    heads_are_needed,
    two_layers,
    error_after_copying,
    shapes_not_compared,
    numbers_compared_only,
    cut_to_size,
    returns_nothing,
    returns_the_model,
    returns_a_number,
    returns_one_string,
    returns_backwards,
    returns_modules,
    returns_missing_and_extra,
    only_a_copy_is_filled,
    tensors_scaled_in_place,
    entries_deleted,
    half_precision,
]
