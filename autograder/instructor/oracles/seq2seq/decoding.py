"""Oracles of the notebook `seq2seq/decoding`: sentences as lists of words, each with its own state.

Nothing is stacked: the step is called for one hypothesis at a time, so no state can be mixed up.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def _state(arguments: dict[str, Any]) -> Any:
    """Return the state in the form that the case's stand-in takes."""
    if "less" in arguments:
        return {"tables": arguments["table"], "deep": (arguments["more"], arguments["less"])}
    if "more" in arguments:
        return arguments["table"], arguments["more"]
    return arguments["table"]


def beam_search(arguments: dict[str, Any], weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """All extensions of all hypotheses, written out and sorted."""
    step, eos_id = arguments["step"], arguments["eos_id"]
    penalty = arguments.get("length_penalty", 0.0)
    live: list[tuple[float, list[int], Any]] = [(0.0, [], _state(arguments))]
    complete: list[tuple[float, list[int]]] = []
    for length in range(1, arguments["max_length"] + 1):
        extensions = []
        for total, words, state in live:
            last = torch.tensor([words[-1] if words else arguments["bos_id"]])
            log_probs, after = step(last, state)
            extensions += [
                (total + log_p, [*words, word], after)
                for word, log_p in enumerate(log_probs[0].tolist())
            ]
        extensions.sort(key=lambda extension: -extension[0])
        kept = extensions[: arguments["beam_size"] - len(complete)]
        live = []
        for total, words, after in kept:
            if words[-1] == eos_id or length == arguments["max_length"]:
                complete.append((total / length**penalty, words))
            else:
                live.append((total, words, after))
    score, words = max(complete)
    return {"tokens": torch.tensor(words), "score": torch.tensor(score, dtype=torch.float64)}


ORACLES = {"beam_search": beam_search}
