"""Benchmark computing U h_j in each step against once per sentence, as a ratio of times.

    python -m experiments bench_precomputed_keys

Times the chapter's decoder and the same decoder with the projection inside the loop, in
alternation, on the same random batch, and records the median ratio of their step times.
"""

from __future__ import annotations

import argparse
import statistics
import time

import torch
import torch.nn.functional as F
from torch import Tensor

from coursekit.training import results
from solutions.bahdanau.scores import AdditiveAttention
from solutions.bahdanau.translator import AttentionDecoder

from .run_registry import command


class ProjectsEachStep(AttentionDecoder):
    """The chapter's decoder, but with the annotations projected in every step."""

    def step(
        self,
        embedded: Tensor,
        state: Tensor,
        annotations: Tensor,
        mask: Tensor,
        projected_keys: Tensor | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Run the chapter's step without the precomputed projection."""
        return super().step(embedded, state, annotations, mask, None)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    sizes = {"batch": 64, "source": 15, "target": 14, "width": 256, "vocabulary": 8000}
    for name, value in (sizes | {"rounds": 15}).items():
        arguments.add_argument(f"--{name}", type=int, default=value)
    return arguments


def main(options: argparse.Namespace) -> None:
    """Time both decoders in alternation; print and record the ratio."""
    b, s, t, d = options.batch, options.source, options.target, options.width
    torch.manual_seed(1)
    decoders = []
    for kind in (AttentionDecoder, ProjectsEachStep):
        torch.manual_seed(2)
        decoders.append(kind(options.vocabulary, d, d, 2 * d, AdditiveAttention(d, 2 * d, d)))
    annotations = torch.randn(b, s, 2 * d, requires_grad=True)  # (B, S, 2d)
    mask = torch.ones(b, s, dtype=torch.bool)  # (B, S)
    first_state = torch.randn(b, d)  # (B, d)
    tokens = torch.randint(1, options.vocabulary, (b, t))  # (B, T)
    targets = torch.randint(1, options.vocabulary, (b, t))  # (B, T)

    def seconds(decoder: AttentionDecoder) -> float:
        started = time.perf_counter()
        logits, _ = decoder(tokens, annotations, mask, first_state)  # (B, T, V)
        F.cross_entropy(logits.flatten(0, 1), targets.flatten()).backward()
        return time.perf_counter() - started

    for decoder in decoders:  # warm-up
        seconds(decoder)
    pairs = [(seconds(decoders[0]), seconds(decoders[1])) for _ in range(options.rounds)]
    ratios = [each / once for once, each in pairs]
    ratio = statistics.median(ratios)
    results.write_result(
        "bench-projection",
        "multi30k-shapes",
        runs=[
            {
                "seed": 1,
                "metrics": {"ratio": ratio, "slowest": max(ratios), "fastest": min(ratios)},
                "seconds": sum(map(sum, pairs)),
            }
        ],
        parameters=sum(p.numel() for p in decoders[0].parameters()),
        data_sha256="none: random numbers in the shapes of a batch of Multi30k",
        command=command("bench_precomputed_keys", options),
        scorer="median over the rounds of (step with projection inside) / (step with it once)",
        settings=vars(options),
    )
    print(f"projection in each step / once per sentence: {min(ratios):.2f} to {max(ratios):.2f}")
    print(f"ratio {ratio:.2f}")
