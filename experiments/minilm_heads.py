"""Record what the heads of published weights attend to, in the course's own BERT.

    python -m experiments minilm_heads

Writes book/results/minilm-heads.sst-2.json: the mean weights of each head of all-MiniLM-L6-v2 over
SST-2's validation sentences, and the largest difference between the states of the course's encoder
and those of `transformers` with the same weights. Needs transformers (pip install -e .[test]).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from coursekit import datasets
from coursekit.models.bert import EncodedPair, pad_items
from coursekit.training import results

from .bert_heads import compute_weights, measure_habits
from .minilm_encoder import HEADS, LAYERS, POSITIONS, WIDTH, load_published
from .run_registry import command


def parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--sentences", type=int, default=0, help="0: all")
    return arguments


@torch.no_grad()
def compare_states(
    encoder: nn.Module, items: Sequence[EncodedPair], state: dict[str, Tensor]
) -> float:
    """Return the largest difference from the library's states, over all real tokens."""
    import transformers

    library = transformers.BertModel(
        transformers.BertConfig(
            hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
            intermediate_size=4 * WIDTH, max_position_embeddings=POSITIONS,
        )
    ).eval()  # fmt: skip
    library.load_state_dict(state, strict=False)
    tokens, segments, _ = pad_items(items)
    real = tokens != 0  # (B, N)
    theirs = library(
        input_ids=tokens, token_type_ids=segments, attention_mask=real.long()
    ).last_hidden_state  # (B, N, d)
    return (encoder(tokens, segments) - theirs).abs()[real].max().item()


@torch.no_grad()
def main(options: argparse.Namespace) -> None:
    """Measure and record."""
    started = time.perf_counter()
    model, pieces, weights_sha256 = load_published()
    corpus = datasets.load("sst-2")
    texts = [text for text, _ in corpus.validation][: options.sentences or None]
    items: list[EncodedPair] = [(*pieces.encode(text), 0) for text in texts]
    sums: dict[str, Tensor] = {}
    for item in items:
        ids = item[0]
        for layer, weights in enumerate(compute_weights(model.encoder, item)):
            for name, value in measure_habits(weights, (0, len(ids) - 1), len(ids) - 2).items():
                sums.setdefault(name, torch.zeros(LAYERS, HEADS))[layer] += value / len(items)
    state = dict(datasets.load("minilm-l6").split("weights"))
    results.write_result(
        "minilm-heads",
        "sst-2",
        runs=[
            {
                "seed": "none",
                "metrics": {"difference": compare_states(model.encoder, items[:64], state)},
                "seconds": time.perf_counter() - started,
            }
        ],
        parameters=sum(p.numel() for p in model.encoder.parameters()),
        data_sha256=corpus.data_sha256,
        weights_sha256=weights_sha256,
        command=command("minilm_heads", options),
        scorer="means over the texts of the means over their pieces, without [CLS] and [SEP]",
        sentences=len(items),
        even=sum(1 / len(ids) for ids, _, _ in items) / len(items),
        heads={name: value.tolist() for name, value in sums.items()},
    )
