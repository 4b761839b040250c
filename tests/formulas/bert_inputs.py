"""The notebook `bert/inputs` in numpy, and `load_pretrained`."""

from __future__ import annotations

import numpy as np
import torch

from autograder import texts


def spelt(word, vocabulary, unknown):
    """By a walk over all cuts: from each place the furthest that a piece reaches."""
    reach = {}
    for i in range(len(word)):
        sign = "##" if i else ""
        ends = [j for j in range(i + 1, len(word) + 1) if sign + word[i:j] in vocabulary]
        reach[i] = max(ends, default=None)
    pieces, place = [], 0
    while place is not None and place < len(word):
        pieces.append((place, reach[place]))
        place = reach[place]
    if place is None or len(word) > 100:
        return [unknown]
    return [("##" if i else "") + word[i:j] for i, j in pieces]


def numpy_wordpiece(x, w):
    return {"pieces": texts.to_tensor(spelt(x["word"], x["vocabulary"], x.get("unknown", "[UNK]")))}


def numpy_embeddings(x, w):
    found = {}
    for pre in ("", "other_"):
        if pre + "tokens" not in x:
            continue
        tokens, kinds = x[pre + "tokens"], x[pre + "segments"]
        if not isinstance(kinds, np.ndarray):  # the constructor's argument: how many there are
            kinds = np.zeros_like(tokens)
        total = w["token.weight"][tokens] + w["segment.weight"][kinds]
        total = total + w["position.weight"][: tokens.shape[1]]
        total = total - total.mean(-1, keepdims=True)
        spread = np.sqrt(total.var(-1, keepdims=True) + x.get("eps", 1e-12))
        found[pre + "embedded"] = w["norm.weight"] * total / spread + w["norm.bias"]
    return found


def generators(x, names):
    """Each call's generator by the name of what it returns; made here for calls without one."""
    if "nothing" in x:
        return {names[0]: None, names[4]: None}
    found = {names[0]: x["generator"]}
    if "other" in x:
        found |= {names[1]: x["twin"], names[2]: x["other"], names[3]: x["generator"]}
    return found


def numpy_masking(x, w):
    def masked(tokens, generator):
        u, level = torch.rand(2, *tokens.shape, dtype=torch.float64, generator=generator).numpy()
        p = x.get("probability", 0.15)
        # 0 to 7: hidden; 8: replaced; 9: as it is; above: not chosen
        fate = np.where(x["special"] | (u >= p), 10, np.floor(10 * u / max(p, 1e-9)))
        inputs = np.select(
            [fate < 8, fate == 8], [x["mask_id"], level * x["vocabulary_size"]], tokens
        )
        return inputs.astype(np.int64), np.where(fate < 10, tokens, -100)

    names = ("inputs", "labels")
    if "tokens_0" in x:
        numbers = range(sum(name.startswith("tokens_") for name in x))
        return {
            f"{name}_{i}": found
            for i in numbers
            for name, found in zip(names, masked(x[f"tokens_{i}"], x["generator"]), strict=True)
        }
    return {
        pre + name: found
        for pre, generator in generators(x, ("", "twin_", "other_", "later_", "again_")).items()
        for name, found in zip(names, masked(x["tokens"], generator), strict=True)
    }


def numpy_pairs(x, w):
    def paired(generator):
        documents, pairs = x["documents"], []
        full = [i for i, document in enumerate(documents) if document]
        for i, document in enumerate(documents):
            for j, first in enumerate(document[:-1]):
                u = torch.rand(3, dtype=torch.float64, generator=generator).tolist()
                others = [k for k in full if k != i]
                other = documents[others[int(u[1] * len(others))]]
                wrong = other[int(u[2] * len(other))]
                pairs.append(
                    (first, wrong, False) if u[0] < 0.5 else (first, document[j + 1], True)
                )
        return texts.to_tensor(pairs)

    names = ("pairs", "twin", "other", "later", "again")
    return {name: paired(generator) for name, generator in generators(x, names).items()}


def entries(name):
    """The entry of a checkpoint for a parameter of the model, or None."""
    parts = name.split(".")
    end, kind = ".".join(parts[:-1]), parts[-1]
    if parts[0] == "encoder" and parts[1] == "layers":
        number, end = parts[2], ".".join(parts[3:-1])
        inside = {
            "attention.query": "attention.self.query",
            "attention.key": "attention.self.key",
            "attention.value": "attention.self.value",
            "attention.output": "attention.output.dense",
            "attention_norm": "attention.output.LayerNorm",
            "inner": "intermediate.dense",
            "outer": "output.dense",
            "output_norm": "output.LayerNorm",
        }[end]
        return f"encoder.layer.{number}.{inside}.{kind}"
    found = {
        "encoder.embeddings.token": "embeddings.word_embeddings",
        "head.embedding": "embeddings.word_embeddings",
        "encoder.embeddings.segment": "embeddings.token_type_embeddings",
        "encoder.embeddings.position": "embeddings.position_embeddings",
        "encoder.embeddings.norm": "embeddings.LayerNorm",
        "pooler": "pooler.dense",
        "head.transform": "cls.predictions.transform.dense",
        "head.norm": "cls.predictions.transform.LayerNorm",
        "head": "cls.predictions",
        "next": "cls.seq_relationship",
    }.get(end)
    return found and f"{found}.{kind}"


def numpy_loading(x, w):
    members = dict(x["model"].double().named_parameters(remove_duplicate=False))
    own = {name: parameter.detach().numpy().copy() for name, parameter in members.items()}
    theirs = {name: x.get(entries(name)) for name in own}
    unfit = [
        name for name, found in theirs.items() if name.startswith("encoder.") and found is None
    ]
    # The odd tensor of a case is one that the model needs, unless the whole decoder is there.
    if unfit or ("odd" in x and "cls.predictions.decoder.bias" not in x):
        held = own
    else:
        held = {name: own[name] if theirs[name] is None else theirs[name] for name in own}
    once = [name for name, _ in x["model"].named_parameters()]
    return {
        **held,
        "missing": texts.to_tensor([name for name in once if theirs[name] is None]),
        "still_trainable": np.ones(len(own), dtype=bool),
        "still_tied": np.array(True),
    }


FORMULAS = {
    "wordpiece": numpy_wordpiece,
    "BertEmbeddings": numpy_embeddings,
    "mask_tokens": numpy_masking,
    "next_sentence_pairs": numpy_pairs,
    "load_pretrained": numpy_loading,
}
