"""Tests that solutions agree with torch's own operators, where these exist.

Outputs and gradients are compared on the exercises' own cases. Rows without any real position, for
which torch returns NaN, are left out.
"""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call

from autograder.exercises import EXERCISES
from autograder.instructor.authoring.reference_solution import compute_expected, load_solution

WEIGHTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def heads(i, w, c):
    """Compute attention; the outputs have other names without a mask, or with one for all heads."""
    size, count = c.init_arguments["model_size"], c.init_arguments["heads"]
    torch_own = nn.MultiheadAttention(size, count, batch_first=True).double()
    kinds = ("query", "key", "value")
    theirs = {
        "in_proj_weight": torch.cat([w[f"{kind}.weight"] for kind in kinds]),
        "in_proj_bias": torch.cat([w[f"{kind}.bias"] for kind in kinds]),
        "out_proj.weight": w["output.weight"],
        "out_proj.bias": w["output.bias"],
    }
    query, key, value = (i.get(kind, i["query"]) for kind in kinds)
    mask = None
    if "mask" in i:
        shape = (len(query), count, query.shape[1], key.shape[1])
        mask = ~i["mask"].reshape(-1, 1, *i["mask"].shape[-2:]).expand(shape).flatten(0, 1)
    options = {"attn_mask": mask, "average_attn_weights": False}
    output, weights = functional_call(torch_own, theirs, (query, key, value), options)
    return dict(zip(c.calls[-1].returned, (output, weights), strict=True))


def attention(i, w, c):
    output = F.scaled_dot_product_attention(i["query"], i["key"], i["value"], i.get("mask"))
    return {c.calls[0].returned[0]: output}


def general_score(i, w, c):
    query, keys = i["query"], i["keys"]
    if query.dim() == 2:
        pairs = query.unsqueeze(1).expand(-1, keys.shape[1], -1), keys
    else:
        sizes = (len(query), query.shape[1], keys.shape[1], -1)
        pairs = query.unsqueeze(2).expand(sizes), keys.unsqueeze(1).expand(sizes)
    pairs = [member.contiguous() for member in pairs]
    return {"scores": F.bilinear(*pairs, i["W"].unsqueeze(0)).squeeze(-1)}


def recurrent(i, w, c, name, bidirectional=False):
    """Run torch's GRU on packed embeddings; return all states and the last of each direction."""
    size, hidden = c.init_arguments["embedding_size"], c.init_arguments["hidden_size"]
    gru = nn.GRU(size, hidden, batch_first=True, bidirectional=bidirectional).double()
    theirs = {n.removeprefix("rnn."): t for n, t in w.items() if n.startswith("rnn.")}
    words = F.embedding(i["tokens"], w["embedding.weight"])
    packed = nn.utils.rnn.pack_padded_sequence(words, i["lengths"], True, False)
    states, last = functional_call(gru, theirs, (packed,))
    width = i["tokens"].shape[1]
    states = nn.utils.rnn.pad_packed_sequence(states, True, total_length=width)[0]
    return {name: states}, last


def encoder(i, w, c):
    outputs, last = recurrent(i, w, c, "states")
    return outputs | {"final": last[0]}


def bidirectional_encoder(i, w, c):
    outputs, last = recurrent(i, w, c, "annotations", bidirectional=True)
    first = F.linear(last[1], w["first_state.weight"], w["first_state.bias"])
    return outputs | {"first_state": torch.tanh(first)}


def negative_sampling(i, w, c):
    others = torch.cat([i["context"].unsqueeze(1), i["negatives"]], dim=1)
    logits = (others @ i["center"].unsqueeze(2)).squeeze(2)
    label = torch.zeros_like(logits).index_fill(1, torch.tensor(0), 1.0)
    loss = F.binary_cross_entropy_with_logits(logits, label, reduction="sum")
    return {"loss": loss / len(logits)}


def cross_entropy(i, w, c):
    kept, smoothed = c.extra_arguments.get("pad_id", 0), c.extra_arguments.get("smoothing", 0.0)
    flat = i["logits"].flatten(0, 1), i["targets"].flatten()
    return {"loss": F.cross_entropy(*flat, ignore_index=kept, label_smoothing=smoothed)}


def pretraining(i, w, c):
    tokens = F.cross_entropy(i["token_logits"].flatten(0, 1), i["labels"].flatten())
    return {"loss": tokens + F.cross_entropy(i["next_logits"], (~i["is_next"]).long())}


def gaussian(i, w, c):
    bell = torch.distributions.Normal(i["position"].unsqueeze(1), c.extra_arguments["D"] / 2)
    places = torch.arange(i["weights"].shape[1]).double()
    density = (bell.log_prob(places) - bell.log_prob(bell.mean)).exp()
    return {"weighted": i["weights"] * density}


def embeddings(i, w, c):
    segments = i.get("segments", torch.zeros_like(i["tokens"]))
    ids = {"token": i["tokens"], "segment": segments}
    ids["position"] = torch.arange(i["tokens"].shape[1])
    total = sum(F.embedding(which, w[f"{part}.weight"]) for part, which in ids.items())
    eps = c.init_arguments.get("eps", 1e-12)
    norm = w["norm.weight"], w["norm.bias"], eps
    return {"embedded": F.layer_norm(total, total.shape[-1:], *norm)}


def feed_forward(i, w, c):
    inner = F.relu(F.linear(i["x"], w["inner.weight"], w["inner.bias"]))
    return {"y": F.linear(inner, w["outer.weight"], w["outer.bias"])}


# Each function takes inputs, weights and the case, and returns outputs by name.
OPERATORS = {
    "negative_sampling_loss": negative_sampling,
    "gru_cell": lambda i, w, c: {"h_next": torch.gru_cell(i["x"], i["h"], *at(i, *WEIGHTS))},
    "lstm_cell": lambda i, w, c: dict(
        zip(
            ("h_next", "c_next"),
            torch.lstm_cell(i["x"], at(i, "h", "c"), *at(i, *WEIGHTS)),
            strict=True,
        )
    ),
    "Encoder": encoder,
    "sequence_loss": cross_entropy,
    "masked_softmax": lambda i, w, c: {
        "weights": i["scores"].masked_fill(~i["mask"], -torch.inf).softmax(-1)
    },
    "context_vector": lambda i, w, c: {
        "context": torch.bmm(i["weights"].unsqueeze(1), i["values"]).squeeze(1)
    },
    "BidirectionalEncoder": bidirectional_encoder,
    "general_score": general_score,
    "gaussian_weights": gaussian,
    "annotation_vectors": lambda i, w, c: {"annotations": i["feature_map"].flatten(2).mT},
    "last_state": lambda i, w, c: {
        "sentence": i["states"].take_along_dim(i["lengths"].view(-1, 1, 1) - 1, dim=1).squeeze(1)
    },
    "redundancy_penalty": lambda i, w, c: {
        "penalty": nn.MSELoss(reduction="sum")(
            i["A"] @ i["A"].mT, torch.eye(i["A"].shape[1]).double().expand(len(i["A"]), -1, -1)
        )
        / len(i["A"])
    },
    "scaled_dot_product_attention": attention,
    "padding_mask": lambda i, w, c: {"real": i["tokens"].ne(c.extra_arguments.get("pad_id", 0))},
    "causal_mask": lambda i, w, c: {
        "mask": torch.ones(2 * (c.extra_arguments["length"],)).tril().bool()
    },
    "split_heads": lambda i, w, c: {
        "split": i["x"].unflatten(-1, (c.extra_arguments["heads"], -1)).transpose(1, 2)
    },
    "MultiHeadAttention": heads,
    "layer_norm": lambda i, w, c: {
        "y": F.layer_norm(
            i["x"], i["x"].shape[-1:], i["weight"], i["bias"], c.extra_arguments.get("eps", 1e-5)
        )
    },
    "PositionwiseFeedForward": feed_forward,
    "label_smoothed_loss": cross_entropy,
    "BertEmbeddings": embeddings,
    "pool_first": lambda i, w, c: {"pooled": F.linear(i["states"][:, 0], i["W"], i["b"]).tanh()},
    "pretraining_loss": pretraining,
}


def at(tensors, *names):
    return [tensors[name] for name in names]


def comparable(case):
    """Return whether torch's operator gives finite numbers: every row has a real position."""
    masks = [t for n, t in case.inputs.items() if n == "mask"]
    ids = [t for n, t in case.inputs.items() if n in ("targets", "labels")]
    return (
        all(mask.any(-1).all() for mask in masks)
        and all(
            (i != case.extra_arguments.get("pad_id", 0)).any() and (i != -100).any() for i in ids
        )
        and "given_keys" not in case.inputs
        and "dropout" not in case.extra_arguments
        and not case.training_mode
        and all(tensor.numel() for tensor in case.inputs.values())
    )


@pytest.mark.parametrize("name", OPERATORS)
def test_solution_gives_what_torchs_operator_gives(name):
    exercise, compared = EXERCISES[name], 0
    for case in (case for seed in (1, 2, 3) for case in exercise.draw(seed)):
        if not comparable(case):
            continue
        leaves = {n: t.clone() for n, t in {**case.inputs, **case.weights}.items()}
        floating = [t.requires_grad_() for t in leaves.values() if t.is_floating_point()]
        theirs = OPERATORS[name](
            {n: leaves[n] for n in case.inputs}, {n: leaves[n] for n in case.weights}, case
        )
        right, total = compute_expected(exercise, case), 0
        for output, tensor in theirs.items():
            real = case.valid_masks.get(output, ...)
            torch.testing.assert_close(tensor[real], right.outputs[output][real], msg=case.name)
            if output in case.upstream:
                total = total + (tensor * case.upstream[output])[real].sum()
        compared += 1
        if case.upstream and theirs.keys() >= case.upstream.keys():
            torch.autograd.backward(total, inputs=floating)
            for leaf, gradient in right.gradients.items():
                mine = leaves[leaf].grad
                mine = torch.zeros_like(gradient) if mine is None else mine
                torch.testing.assert_close(mine, gradient, msg=f"{case.name}, {leaf}")
    assert compared >= 6


# Layers are composed of other exercises, whose solutions are used.


def parts(*layers):
    """Return the solutions' attention and feed-forward network with a torch layer's weights."""
    made = []
    for layer in layers:
        if isinstance(layer, nn.MultiheadAttention):
            part = load_solution(EXERCISES["MultiHeadAttention"])(layer.embed_dim, layer.num_heads)
            for kind, weight, bias in zip(
                ("query", "key", "value"),
                layer.in_proj_weight.chunk(3),
                layer.in_proj_bias.chunk(3),
                strict=True,
            ):
                copy(getattr(part, kind), weight, bias)
            copy(part.output, layer.out_proj.weight, layer.out_proj.bias)
        else:
            inner, outer = layer
            part = load_solution(EXERCISES["PositionwiseFeedForward"])(
                inner.in_features, inner.out_features
            )
            copy(part.inner, inner.weight, inner.bias)
            copy(part.outer, outer.weight, outer.bias)
        made.append(part)
    return made


def copy(layer, weight, bias):
    layer.load_state_dict({"weight": weight, "bias": bias})


def drawn(layer):
    """Redraw all weights, since torch initialises norms with 1 and biases with 0."""
    for parameter in layer.parameters():
        nn.init.normal_(parameter, std=0.4)
    return layer.double().eval()


LENGTHS = torch.tensor([4, 2, 3])
REAL = torch.arange(4) < LENGTHS.unsqueeze(1)  # (3, 4)
CAUSAL = torch.ones(5, 5).tril().bool()


def test_encoder_layer_is_torchs():
    theirs = drawn(nn.TransformerEncoderLayer(6, 2, 10, batch_first=True))
    forward = (theirs.linear1, theirs.linear2)
    mine = load_solution(EXERCISES["EncoderLayer"])(6, *parts(theirs.self_attn, forward))
    copy(mine.attention_norm, theirs.norm1.weight, theirs.norm1.bias)
    copy(mine.feed_forward_norm, theirs.norm2.weight, theirs.norm2.bias)
    x = torch.randn(3, 4, 6).double()
    mine = mine.double().eval()
    wanted = theirs(x, src_key_padding_mask=~REAL)
    torch.testing.assert_close(mine(x, REAL.unsqueeze(1))[REAL], wanted[REAL])
    torch.testing.assert_close(mine(x), theirs(x))


def test_decoder_layer_is_torchs():
    theirs = drawn(nn.TransformerDecoderLayer(6, 2, 10, batch_first=True))
    forward = (theirs.linear1, theirs.linear2)
    mine = load_solution(EXERCISES["DecoderLayer"])(
        6, *parts(theirs.self_attn, theirs.multihead_attn, forward)
    )
    for norm, name in ((theirs.norm1, "attention"), (theirs.norm2, "memory_attention")):
        copy(getattr(mine, f"{name}_norm"), norm.weight, norm.bias)
    copy(mine.feed_forward_norm, theirs.norm3.weight, theirs.norm3.bias)
    y, memory = torch.randn(3, 5, 6).double(), torch.randn(3, 4, 6).double()
    mine = mine.double().eval()
    wanted = theirs(y, memory, ~CAUSAL, memory_key_padding_mask=~REAL)
    torch.testing.assert_close(mine(y, memory, CAUSAL.unsqueeze(0), REAL.unsqueeze(1)), wanted)
