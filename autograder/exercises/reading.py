"""What exercises share whose modules read padded sentences with a network in both directions."""

from __future__ import annotations

from torch import Tensor

from autograder.drawing import Draw, below

SECOND = "a second batch through the same module"
KEPT = (
    "The first batch through the module is right, a second one (other_...) is not: keep nothing "
    "of one call for the next."
)


def other(*names: str) -> tuple[str, ...]:
    """Return the names that inputs or outputs of a second batch have."""
    return tuple(f"other_{name}" for name in names)


def others(inputs: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return the inputs of a second batch under their names."""
    return {f"other_{name}": tensor for name, tensor in inputs.items()}


def also_others(axes: dict[str, str]) -> dict[str, str]:
    """Return the names of axes for both batches."""
    return axes | {f"other_{name}": names for name, names in axes.items()}


def padded_tokens(draw: Draw, lengths: Tensor, longest: int, v: int) -> Tensor:
    """Return ids (B, N) of words, none of them 0, with 0 behind each sentence's end."""
    tokens = draw.tokens(len(lengths), longest, vocabulary_size=v)
    return tokens.masked_fill(~below(lengths, longest), 0)


def both_directions(
    draw: Draw, prefix: str, gates: int, inputs: int, hidden: int
) -> dict[str, Tensor]:
    """Return the weights of a bidirectional `nn.LSTM` (4 gates) or `nn.GRU` (3)."""
    rows = gates * hidden
    found: dict[str, Tensor] = {}
    for way in ("_l0", "_l0_reverse"):
        found |= {
            f"{prefix}weight_ih{way}": draw.tensor(rows, inputs, scale=0.6),
            f"{prefix}weight_hh{way}": draw.tensor(rows, hidden, scale=0.6),
            f"{prefix}bias_ih{way}": draw.tensor(rows, scale=0.3),
            f"{prefix}bias_hh{way}": draw.tensor(rows, scale=0.3),
        }
    return found
