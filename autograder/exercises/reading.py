"""What exercises share whose modules read padded sentences and are called with a second batch."""

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


def also_others(named: dict[str, str], values: bool = False) -> dict[str, str]:
    """Add the second batch's names to a table of axes, or (values) of outputs and their masks."""
    more = {f"other_{key}": f"other_{value}" if values else value for key, value in named.items()}
    return named | more


def padded_tokens(draw: Draw, lengths: Tensor, longest: int, v: int) -> Tensor:
    """Return ids (B, N) of words, none of them 0, with 0 behind each sentence's end."""
    tokens = draw.tokens(len(lengths), longest, vocabulary_size=v)
    return tokens.masked_fill(~below(lengths, longest), 0)


def recurrent(
    draw: Draw, prefix: str, gates: int, inputs: int, hidden: int, suffix: str = ""
) -> dict[str, Tensor]:
    """Return the weights of one direction of a GRU (3 gates) or an LSTM (4), or of its cell."""
    rows = gates * hidden
    return {
        f"{prefix}weight_ih{suffix}": draw.tensor(rows, inputs, scale=0.6),
        f"{prefix}weight_hh{suffix}": draw.tensor(rows, hidden, scale=0.6),
        f"{prefix}bias_ih{suffix}": draw.tensor(rows, scale=0.3),
        f"{prefix}bias_hh{suffix}": draw.tensor(rows, scale=0.3),
    }


def both_directions(
    draw: Draw, prefix: str, gates: int, inputs: int, hidden: int
) -> dict[str, Tensor]:
    """Return the weights of a bidirectional `nn.GRU` (3 gates) or `nn.LSTM` (4)."""
    ahead = recurrent(draw, prefix, gates, inputs, hidden, "_l0")
    return ahead | recurrent(draw, prefix, gates, inputs, hidden, "_l0_reverse")
