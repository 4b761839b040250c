"""Benchmark what the length of a text costs: self-attention, plain and fused, against a GRU.

    python -m experiments bench_length

Times forward and backward of one layer of each in turn on the same random text of each length, on
one thread. Records the median times, and the bytes that the forward pass keeps for the gradient.
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

from coursekit.training import results
from solutions.transformer.attention import MultiHeadAttention, merge_heads, split_heads

from .run_registry import command


def parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in {"width": 64, "heads": 4, "rounds": 15}.items():
        arguments.add_argument(f"--{name}", type=int, default=value)
    arguments.add_argument("--lengths", type=int, nargs="+", default=[128, 256, 512, 1024, 2048])
    return arguments


def make_layers(width: int, heads: int) -> dict[str, Callable[[Tensor], Tensor]]:
    """Return the three layers, each from (1, N, d) to (1, N, d)."""
    attention, gru = MultiHeadAttention(width, heads), nn.GRU(width, width, batch_first=True)

    def fused(x: Tensor) -> Tensor:
        """The same attention through torch's operator, which never stores the N x N weights."""
        q = split_heads(attention.query(x), heads)  # (1, h, N, d / h)
        k, v = attention.project(x, x)
        found = F.scaled_dot_product_attention(q, k, v)  # (1, h, N, d / h)
        return attention.output(merge_heads(found))  # (1, N, d)

    return {
        "attention": lambda x: attention(x, x, x)[0],
        "fused": fused,
        "gru": lambda x: gru(x)[0],
    }


def count_kept_bytes(layer: Callable[[Tensor], Tensor], x: Tensor) -> int:
    """Return what a forward pass keeps for the backward pass, without parameters and input."""
    kept: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        if not isinstance(tensor, nn.Parameter) and tensor.data_ptr() != x.data_ptr():
            storage = tensor.untyped_storage()
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        result = layer(x)
    del result
    return sum(kept.values())


def main(options: argparse.Namespace) -> None:
    """Time the layers in turn at each length; print and record the medians."""
    torch.manual_seed(1)
    torch.set_num_threads(1)
    layers = make_layers(options.width, options.heads)

    def seconds(layer: Callable[[Tensor], Tensor], x: Tensor) -> float:
        started = time.perf_counter()
        layer(x).sum().backward()
        return time.perf_counter() - started

    table: list[dict[str, Any]] = []
    spent = 0.0
    for n in options.lengths:
        x = torch.randn(1, n, options.width, requires_grad=True)
        for layer in layers.values():  # warm-up
            seconds(layer, x)
        rounds = [
            {name: seconds(layer, x) for name, layer in layers.items()}
            for _ in range(options.rounds)
        ]
        spent += sum(sum(times.values()) for times in rounds)
        row: dict[str, Any] = {"words": n}
        for name, layer in layers.items():
            row[f"{name}_seconds"] = statistics.median(times[name] for times in rounds)
            row[f"{name}_bytes"] = count_kept_bytes(layer, x)
        table.append(row)
        print(row)
    last = table[-1]
    results.write_result(
        "bench-length",
        "random",
        runs=[
            {
                "seed": 1,
                "metrics": {
                    f"{name}_to_gru": last[f"{name}_seconds"] / last["gru_seconds"]
                    for name in ("attention", "fused")
                },
                "seconds": spent,
                "by_length": table,
            }
        ],
        parameters=4 * options.width * (options.width + 1),
        data_sha256="none: random numbers",
        command=command("bench_length", options),
        scorer="median over the rounds of the time of one layer, forward and backward",
        settings=vars(options),
    )
