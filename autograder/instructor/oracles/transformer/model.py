"""Oracles of the notebook `transformer/model`: sentence by sentence, without padding, in float64.

No mask is used: padding is cut off, and each target position is given the words before it alone.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

Tensors = dict[str, Tensor]


class _Model:
    """The model for one sentence, with the stand-ins written out."""

    def __init__(self, inputs: dict[str, Any], weights: Tensors):
        self._weights = weights
        self.table = weights["embedding.weight"]
        self._depth = {
            side: len({name.split(".")[1] for name in weights if name.startswith(side)})
            for side in ("encoder_layers", "decoder_layers")
        }

    def embed(self, ids: list[int], first: int = 0) -> Tensor:
        """(T, d), number by number where the ruler is concerned."""
        size = self.table.shape[1]
        marks = [
            [((first + t + 1) * (2 * i + 3) % 11 - 5) / 8 for i in range(size)]
            for t in range(len(ids))
        ]
        ruler = torch.tensor(marks, dtype=torch.float64).reshape(len(ids), size)
        return self.table[ids] * size**0.5 + ruler

    def encode(self, ids: list[int]) -> Tensor:
        """(S, d)."""
        x = self.embed(ids)
        for layer in range(self._depth["encoder_layers"]):
            g, P = (self._weights[f"encoder_layers.{layer}.{name}"] for name in "gP")
            rows = []
            for word in x:
                close = 1 / (1 + ((word - x) @ P.T).square().sum(1))  # (S,)
                rows.append(g * word + (close / close.sum()).unsqueeze(0).mm(x)[0])
            x = torch.stack(rows) if rows else x
        return x

    def decode(self, ids: list[int], memory: Tensor) -> Tensor:
        """(T, V)."""
        y = self.embed(ids)
        for layer in range(self._depth["decoder_layers"]):
            A, D = (self._weights[f"decoder_layers.{layer}.{name}"] for name in "AD")
            deep = D @ memory.mean(0) if len(memory) else torch.zeros_like(D[0])
            rows = [y[t].sin() + A @ y[: t + 1].mean(0) + y[t] * deep for t in range(len(ids))]
            y = torch.stack(rows) if rows else y
        return torch.einsum("td,vd->tv", y, self.table)

    def next_word(self, ids: list[int], memory: Tensor) -> Tensor:
        """log p of what follows, (V,)."""
        return F.log_softmax(self.decode(ids, memory)[-1], dim=0)


def _filled(rows: list[Tensor], longest: int) -> Tensor:
    """Put rows of different length (L, n) together, zeros behind them."""
    return torch.stack([F.pad(row, (0, 0, 0, longest - len(row))) for row in rows])


def transformer(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    """Each sentence, and each batch, as if it were alone; a step reads all words again."""
    model, pad = _Model(inputs, weights), inputs.get("pad_id", 0)

    def real(ids: Tensor) -> list[list[int]]:
        return [[i for i in row if i != pad] for row in ids.tolist()]

    def logits(previous: Tensor, memories: list[Tensor]) -> Tensor:
        pairs = zip(real(previous), memories, strict=True)
        return _filled([model.decode(*pair) for pair in pairs], previous.shape[1])

    def following(memories: list[Tensor], *words: Tensor) -> Tensor:
        heard = zip(*(word.tolist() for word in words), strict=True)
        pairs = zip(heard, memories, strict=True)
        return torch.stack([model.next_word(list(ids), memory) for ids, memory in pairs])

    found: Tensors = {}
    for pre in ("", "other_"):
        if f"{pre}source" not in inputs:
            continue
        source, previous = inputs[f"{pre}source"], inputs[f"{pre}previous"]
        first, second = inputs[f"{pre}first"], inputs[f"{pre}second"]
        memories = [model.encode(ids) for ids in real(source)]
        mask = torch.tensor([[[i != pad for i in row]] for row in source.tolist()])
        found |= {
            f"{pre}memory": _filled(memories, source.shape[1]),
            f"{pre}memory_mask": mask,
            f"{pre}logits": logits(previous, memories),
            f"{pre}log_probs_1": following(memories, first),
            f"{pre}log_probs_2": following(memories, first, second),
        }
        for number in range(3):
            found[f"{pre}memory_mask_{number}"] = mask
            found[f"{pre}position_{number}"] = torch.tensor([number for _ in source])
        if pre:
            continue
        rows = inputs["rows"].tolist()
        chosen = [memories[row] for row in rows]
        heard = [torch.tensor([int(word[row]) for row in rows]) for word in (first, second)]
        found |= {
            "embedded": _filled([model.embed(ids) for ids in real(previous)], previous.shape[1]),
            "embedded_later": _filled(
                [model.embed(ids, inputs["at"]) for ids in real(previous)], previous.shape[1]
            ),
            "log_probs_chosen": following(chosen, *heard, inputs["third"]),
            "log_probs_further": following(chosen, *heard, inputs["third"], inputs["fourth"]),
            "log_probs_again": following(memories, first, inputs["other_word"]),
        }
        if "changed" in inputs:
            found["changed_logits"] = logits(inputs["changed"], memories)
    return found


def label_smoothed_loss(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    """Torch's own, summed, and divided by the number of real targets."""
    logits, targets, pad = inputs["logits"], inputs["targets"], inputs.get("pad_id", 0)
    total = F.cross_entropy(
        logits.flatten(0, 1),
        targets.flatten(),
        ignore_index=pad,
        reduction="sum",
        label_smoothing=inputs["smoothing"],
    )
    return {"loss": total / max(1, sum(i != pad for row in targets.tolist() for i in row))}


def noam_learning_rate(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    """The line and the root, one at a time: they meet at the end of the warmup."""
    step, size, warmup = (float(inputs[name]) for name in ("step", "model_size", "warmup"))
    top = 1 / (size * warmup) ** 0.5
    rate = top * step / warmup if step <= warmup else top * (warmup / step) ** 0.5
    return {"rate": torch.tensor(rate, dtype=torch.float64)}


ORACLES: dict[str, Any] = {
    "Transformer": transformer,
    "label_smoothed_loss": label_smoothed_loss,
    "noam_learning_rate": noam_learning_rate,
}
