"""Benchmark the course's Transformer parts against torch's own, as ratios of times.

    python -m experiments bench_against_torch

Times `scaled_dot_product_attention`, `MultiHeadAttention` and `EncoderLayer` in alternation with
torch's own, which have the same weights, for the forward pass alone and with the backward pass, and
records the median ratio of their times. It first verifies that both compute the same.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coursekit.training import device, results
from solutions.transformer.attention import MultiHeadAttention, scaled_dot_product_attention
from solutions.transformer.layers import EncoderLayer, PositionwiseFeedForward

from .run_registry import command

Call = Callable[[], Tensor]


def copy_weights(layer: EncoderLayer, torchs: nn.TransformerEncoderLayer) -> None:
    """Copy the weights of our layer to torch's layer."""
    own, names = layer.attention, ("query", "key", "value")
    projections = [getattr(own, name) for name in names]
    with torch.no_grad():
        torchs.self_attn.in_proj_weight.copy_(torch.cat([p.weight for p in projections]))
        torchs.self_attn.in_proj_bias.copy_(torch.cat([p.bias for p in projections]))
        pairs: list[tuple[Any, Any]] = [
            (torchs.self_attn.out_proj, own.output),
            (torchs.linear1, layer.feed_forward.inner),
            (torchs.linear2, layer.feed_forward.outer),
            (torchs.norm1, layer.attention_norm),
            (torchs.norm2, layer.feed_forward_norm),
        ]
        for target, source in pairs:
            target.weight.copy_(source.weight)
            target.bias.copy_(source.bias)


def time_call(call: Call, inputs: Tensor, backward: bool) -> float:
    """Return the time of one call, optionally with the backward pass of its sum."""
    _wait()
    started = time.perf_counter()
    if backward:
        inputs.grad = None
        call().sum().backward()
    else:
        with torch.no_grad():
            call()
    _wait()
    return time.perf_counter() - started


def _wait() -> None:
    if device().type == "cuda":
        torch.cuda.synchronize()


def parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    sizes = {"batch": 32, "length": 64, "width": 256, "heads": 8, "inner": 1024, "rounds": 21}
    for name, value in sizes.items():
        arguments.add_argument(f"--{name}", type=int, default=value)
    return arguments


def main(options: argparse.Namespace) -> None:
    """Time each pair in alternation; print and record the ratios."""
    b, n, d, h = options.batch, options.length, options.width, options.heads
    torch.manual_seed(1)
    layer = EncoderLayer(d, MultiHeadAttention(d, h), PositionwiseFeedForward(d, options.inner))
    torchs = nn.TransformerEncoderLayer(d, h, options.inner, dropout=0.0, batch_first=True)
    copy_weights(layer, torchs)
    layer, torchs = layer.to(device()), torchs.to(device())
    x = torch.randn(b, n, d, device=device(), requires_grad=True)  # (B, N, d)
    q = torch.randn(b, h, n, d // h, device=device(), requires_grad=True)  # (B, h, N, d/h)
    real = torch.rand(b, n, device=device()) > 0.2  # (B, N)
    real[:, 0] = True
    mask = real[:, None]  # (B, 1, N)

    pairs: dict[str, tuple[Call, Call, Tensor]] = {
        "scaled_dot_product_attention": (
            lambda: scaled_dot_product_attention(q, q, q, mask[:, None])[0],
            lambda: F.scaled_dot_product_attention(q, q, q, mask[:, None]),
            q,
        ),
        "multi_head_attention": (
            lambda: layer.attention(x, x, x, mask)[0],
            lambda: torchs.self_attn(x, x, x, ~real, need_weights=False)[0],
            x,
        ),
        "encoder_layer": (lambda: layer(x, mask), lambda: torchs(x, src_key_padding_mask=~real), x),
    }
    rounds: list[dict[str, float]] = []
    for name, (ours, theirs, _) in pairs.items():
        torch.testing.assert_close(ours(), theirs(), atol=1e-5, rtol=1e-4)
        print(f"{name}: the same to 1e-5")
    started = time.perf_counter()
    for turn in range(options.rounds + 1):
        ratios = {}
        for name, (ours, theirs, inputs) in pairs.items():
            for kind in ("forward", "backward"):
                own = time_call(ours, inputs, kind == "backward")
                ratios[f"{name}_{kind}"] = own / time_call(theirs, inputs, kind == "backward")
        torchs.eval()  # without gradients, torch's layer now takes its fast path
        own = time_call(pairs["encoder_layer"][0], x, False)
        ratios["encoder_layer_inference"] = own / time_call(pairs["encoder_layer"][1], x, False)
        torchs.train()
        if turn:  # the first round is warm-up
            rounds.append(ratios)
    metrics = {name: statistics.median(r[name] for r in rounds) for name in rounds[0]}
    results.write_result(
        "bench-attention",
        "random",
        runs=[
            {
                "seed": 1,
                "metrics": metrics,
                "seconds": time.perf_counter() - started,
                "rounds": rounds,
            }
        ],
        parameters=sum(p.numel() for p in layer.parameters()),
        data_sha256="none: random numbers",
        command=command("bench_against_torch", options),
        scorer="median of (time of ours) / (time of torch's); backward is with its forward",
        settings=vars(options) | {"threads": torch.get_num_threads()},
    )
    for name, ratio in metrics.items():
        print(f"{name:40} {ratio:.2f}")
