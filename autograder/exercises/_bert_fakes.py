"""Fakes of BERT's vocabulary and encoder, for exercises that take them as arguments."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from autograder.spec import byte_codec
from autograder.spec.fakes import register_fake


def _show_pieces(*pieces: str) -> str:
    return f"{{{byte_codec.show(list(pieces))[1:-1]}}}"


@register_fake("a vocabulary of its own: ask whether a piece is `in` it", show=_show_pieces)
class PieceSet:
    """A fake vocabulary that tells whether a piece is in it, and nothing else."""

    def __init__(self, *pieces: str):
        self._pieces = frozenset(pieces)

    def __contains__(self, piece: object) -> bool:
        return piece in self._pieces


@register_fake(
    "a dict from pieces to ids: ask whether a piece is `in` it", name="PieceIds", show=_show_pieces
)
def piece_ids(*pieces: str) -> dict[str, int]:
    """Return a dict from pieces to their ids, which count from 0."""
    return {piece: number for number, piece in enumerate(pieces)}


@register_fake("a model of its own, with the parameters that the docstring lists: fill them")
class BertShell(nn.Module):
    """A fake BERT with parameters that an answer fills, but without any computation.

    The parameters belong to torch's own layers, have the names of the exercise `load_pretrained`,
    and hold the sines of 1, 2, 3, ... until an answer fills them.

    Args:
        layers: number of layers.
        vocabulary_size: number of tokens.
        hidden_size: size of a state.
        inner_size: inner size of a layer's feed-forward network.
        max_length: number of positions.
        segments: number of kinds of segments.
        parts: names of the model's parts, in their order in the model: "encoder" and any of
            "pooler", "head", "next", "output".
    """

    def __init__(
        self,
        layers: int,
        vocabulary_size: int,
        hidden_size: int,
        inner_size: int,
        max_length: int,
        segments: int,
        *parts: str,
    ):
        super().__init__()
        embeddings = nn.Module()
        embeddings.token = nn.Embedding(vocabulary_size, hidden_size)
        embeddings.segment = nn.Embedding(segments, hidden_size)
        embeddings.position = nn.Embedding(max_length, hidden_size)
        embeddings.norm = nn.LayerNorm(hidden_size)
        encoder, head = nn.Module(), nn.Module()
        encoder.embeddings = embeddings
        encoder.layers = nn.ModuleList(_bert_layer(hidden_size, inner_size) for _ in range(layers))
        head.embedding = embeddings.token
        head.transform = nn.Linear(hidden_size, hidden_size)
        head.norm = nn.LayerNorm(hidden_size)
        head.bias = nn.Parameter(torch.zeros(vocabulary_size))
        known = {
            "encoder": encoder,
            "head": head,
            "pooler": nn.Linear(hidden_size, hidden_size),
            "next": nn.Linear(hidden_size, 2),
            "output": nn.Linear(hidden_size, 3),
        }
        for part in parts:
            self.add_module(part, known[part])
        with torch.no_grad():
            count = 1
            for parameter in self.parameters():
                numbers = torch.arange(count, count + parameter.numel(), dtype=torch.float32)
                parameter.copy_(torch.sin(numbers).reshape(parameter.shape))
                count += parameter.numel()

    def copy_parameters(self) -> tuple[Tensor, ...]:
        """Return copies of all parameters, including a tied one for each of its names."""
        return tuple(p.detach().clone() for _, p in self.named_parameters(remove_duplicate=False))

    def take_step(self) -> tuple[Tensor, Tensor]:
        """Change all parameters, as a training step does.

        Returns:
            which parameters require gradients, and whether the head still uses the token embeddings
            themselves.
        """
        members = [p for _, p in self.named_parameters(remove_duplicate=False)]
        asked = torch.tensor([parameter.requires_grad for parameter in members])
        tied = True
        if "head" in dict(self.named_children()):
            own = self.get_parameter("head.embedding.weight")
            tied = own is self.get_parameter("encoder.embeddings.token.weight")
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.add_(1.0)
        return asked, torch.tensor(tied)


def _bert_layer(hidden_size: int, inner_size: int) -> nn.Module:
    attention, layer = nn.Module(), nn.Module()
    for name in ("query", "key", "value", "output"):
        attention.add_module(name, nn.Linear(hidden_size, hidden_size))
    layer.attention = attention
    layer.attention_norm = nn.LayerNorm(hidden_size)
    layer.inner = nn.Linear(hidden_size, inner_size)
    layer.outer = nn.Linear(inner_size, hidden_size)
    layer.output_norm = nn.LayerNorm(hidden_size)
    return layer
