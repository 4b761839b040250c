"""Reference solutions of the exercises in transformer/layers."""

# %% setup
import torch
from torch import Tensor, nn


# %% exercise
def sinusoidal_positions(length: int, size: int) -> Tensor:
    """Give each position a vector of sines and cosines of slower and slower waves.

    PE(pos, 2i) = sin(pos / 10000^(2i / size)),  PE(pos, 2i + 1) = cos(pos / 10000^(2i / size))

    Args:
        length: number of positions, from 0.
        size: of a vector; even.

    Returns:
        (length, size), in torch's default dtype.

    Source: Vaswani et al. (2017), section 3.5.
    """
    ### BEGIN SOLUTION
    position = torch.arange(length).unsqueeze(1)  # (T, 1)
    exponent = torch.arange(0, size, 2, dtype=torch.float64) / size  # (d / 2,)
    angle = position / 10_000**exponent  # (T, d / 2)
    waves = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)  # (T, d)
    return waves.to(torch.get_default_dtype())
    ### END SOLUTION


# %% exercise
def layer_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """Give each vector mean 0 and variance 1, then let gain and bias choose others.

    y = weight * (x - mean(x)) / sqrt(var(x) + eps) + bias

    Mean and variance are over the last axis; the variance divides by d, not by d - 1. Write it
    without torch's `layer_norm`, and without its other norms of mean and variance (`group_norm`,
    `batch_norm`, `instance_norm`): they are the whole answer.

    Args:
        x: (..., d).
        weight: gain, (d,).
        bias: (d,).
        eps: added to the variance.

    Returns:
        (..., d).

    Source: Ba et al. (2016), equation 4; Vaswani et al. (2017), section 3.1.
    """
    ### BEGIN SOLUTION
    centred = x - x.mean(dim=-1, keepdim=True)  # (..., d)
    variance = centred.square().mean(dim=-1, keepdim=True)  # (..., 1)
    return weight * centred / (variance + eps).sqrt() + bias
    ### END SOLUTION


# %% exercise
class PositionwiseFeedForward(nn.Module):
    """Two linear layers with a ReLU between them, the same at each position.

    FFN(x) = W_2 max(0, W_1 x + b_1) + b_2

    Parameters, d = model_size, m = inner_size: `inner.weight` W_1 (m, d), `inner.bias` b_1 (m,);
    `outer.weight` W_2 (d, m), `outer.bias` b_2 (d,).

    Source: Vaswani et al. (2017), equation 2.
    """

    def __init__(self, model_size: int, inner_size: int):
        super().__init__()
        self.inner = nn.Linear(model_size, inner_size)
        self.outer = nn.Linear(inner_size, model_size)

    def forward(self, x: Tensor) -> Tensor:
        """Return FFN(x), (..., d), for x (..., d)."""
        ### BEGIN SOLUTION
        return self.outer(self.inner(x).relu())  # (..., d)
        ### END SOLUTION


# %% exercise
class EncoderLayer(nn.Module):
    """Self-attention, then a feed-forward network, each with a residual and a LayerNorm after it.

    a = LayerNorm(x + SelfAttention(x)),  y = LayerNorm(a + FFN(a))

    Parameters: `attention.*`, `attention_norm.weight` and `.bias` (d,), `feed_forward.*`,
    `feed_forward_norm.weight` and `.bias` (d,), d = model_size. In training, `dropout` acts on what
    each of the two returns, before it is added.

    Args:
        model_size: d.
        attention: `attention(query, key, value, mask) -> (output (B, N, d), weights)`.
        feed_forward: `feed_forward(x (B, N, d)) -> (B, N, d)`.
        dropout: share of components set to 0.
        eps: of both LayerNorms.

    Source: Vaswani et al. (2017), section 3.1 and figure 1, left.
    """

    def __init__(
        self,
        model_size: int,
        attention: nn.Module,
        feed_forward: nn.Module,
        dropout: float = 0.0,
        eps: float = 1e-5,
    ):
        super().__init__()
        self.attention = attention
        self.attention_norm = nn.LayerNorm(model_size, eps=eps)
        self.feed_forward = feed_forward
        self.feed_forward_norm = nn.LayerNorm(model_size, eps=eps)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return the states of the layer.

        Args:
            x: (B, N, d).
            mask: bool, True = may be attended to; broadcasts to (B, N, N). It is handed on to the
                attention as it is.

        Returns:
            y, (B, N, d).
        """
        ### BEGIN SOLUTION
        found, _ = self.attention(x, x, x, mask)  # (B, N, d)
        x = self.attention_norm(x + self.dropout(found))
        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))
        ### END SOLUTION


# %% exercise
class DecoderLayer(nn.Module):
    """Masked self-attention, attention to the encoder's states, feed-forward; a norm after each.

    a = LayerNorm(y + SelfAttention(y)),  b = LayerNorm(a + Attention(a, memory, memory)),
    z = LayerNorm(b + FFN(b))

    Parameters: `attention.*`, `attention_norm.*`, `memory_attention.*`, `memory_attention_norm.*`,
    `feed_forward.*`, `feed_forward_norm.*`; each norm has `weight` and `bias` (d,), d = model_size.
    In training, `dropout` acts on what each of the three returns, before it is added.

    Args:
        model_size: d.
        attention: to the words written so far:
            `attention(query, key, value, mask, projected) -> (output, weights)`, with
            `project(key, value) -> (keys, values)` whose axis 2 runs over the positions.
        memory_attention: to the encoder's states, with the same interface.
        feed_forward: `feed_forward(y (B, T, d)) -> (B, T, d)`.
        dropout: share of components set to 0.

    Source: Vaswani et al. (2017), section 3.1 and figure 1, right.
    """

    def __init__(
        self,
        model_size: int,
        attention: nn.Module,
        memory_attention: nn.Module,
        feed_forward: nn.Module,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.attention = attention
        self.attention_norm = nn.LayerNorm(model_size)
        self.memory_attention = memory_attention
        self.memory_attention_norm = nn.LayerNorm(model_size)
        self.feed_forward = feed_forward
        self.feed_forward_norm = nn.LayerNorm(model_size)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        y: Tensor,
        memory: Tensor,
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
    ) -> Tensor:
        """Return the states of the layer for all target positions at once.

        Args:
            y: (B, T, d).
            memory: the encoder's states, (B, S, d).
            mask: bool, True = may be attended to; broadcasts to (B, T, T).
            memory_mask: bool (B, 1, S), True = a real source word.

        Returns:
            z, (B, T, d).
        """
        ### BEGIN SOLUTION
        found, _ = self.attention(y, y, y, mask)  # (B, T, d)
        y = self.attention_norm(y + self.dropout(found))
        found, _ = self.memory_attention(y, memory, memory, memory_mask)  # (B, T, d)
        y = self.memory_attention_norm(y + self.dropout(found))
        return self.feed_forward_norm(y + self.dropout(self.feed_forward(y)))
        ### END SOLUTION

    def start(self, memory: Tensor) -> dict[str, Tensor]:
        """Return what `step` keeps, before the first word: nothing written, the memory projected.

        Args:
            memory: the encoder's states, (B, S, d).

        Returns:
            "memory_keys" and "memory_values", what the memory attention projects from the memory,
            and "keys" and "values", what the attention projects from no position at all.
        """
        ### BEGIN SOLUTION
        memory_keys, memory_values = self.memory_attention.project(memory, memory)
        keys, values = self.attention.project(memory[:, :0], memory[:, :0])  # no positions yet
        return {
            "keys": keys,
            "values": values,
            "memory_keys": memory_keys,
            "memory_values": memory_values,
        }
        ### END SOLUTION

    def step(
        self, y: Tensor, cache: dict[str, Tensor], memory_mask: Tensor | None = None
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the layer's state for the next position, from the keys and values kept so far.

        Args:
            y: (B, 1, d).
            cache: what `start` or the last `step` returned; it is not changed.
            memory_mask: bool (B, 1, S).

        Returns:
            z (B, 1, d), equal to what `forward` returns at this position under a causal mask, and
            the new cache.
        """
        ### BEGIN SOLUTION
        key, value = self.attention.project(y, y)
        keys = torch.cat([cache["keys"], key], dim=2)
        values = torch.cat([cache["values"], value], dim=2)
        found, _ = self.attention(y, None, None, None, (keys, values))  # (B, 1, d)
        y = self.attention_norm(y + self.dropout(found))
        kept = cache["memory_keys"], cache["memory_values"]
        found, _ = self.memory_attention(y, None, None, memory_mask, kept)  # (B, 1, d)
        y = self.memory_attention_norm(y + self.dropout(found))
        z = self.feed_forward_norm(y + self.dropout(self.feed_forward(y)))
        return z, {**cache, "keys": keys, "values": values}
        ### END SOLUTION
