"""Reference solutions of the exercises in transformer/attention."""

# %% setup
import math

from torch import Tensor, nn

# %% earlier
from solutions.bahdanau.scores import masked_softmax


# %% exercise
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    dropout: nn.Module | None = None,
) -> tuple[Tensor, Tensor]:
    """Attend with every query at once.

    Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V

    Not allowed, because it is the whole answer: torch's own scaled_dot_product_attention.

    Args:
        query: Q, (..., T, d_k).
        key: K, (..., N, d_k).
        value: V, (..., N, d_v).
        mask: bool, True = may be attended to; broadcasts to (..., T, N). None: everything may.
        dropout: acts on the weights before they meet the values, as `MultiHeadAttention` needs it in
            training; the weights that are returned are those before it. None: no dropout.

    Returns:
        output (..., T, d_v) and weights (..., T, N), exactly 0 where the mask is False. A query that
        may attend to nothing has weights and an output of 0.

    Source: Vaswani et al. (2017), section 3.2.1, equation 1.
    """
    ### BEGIN SOLUTION
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])  # (..., T, N)
    weights = scores.softmax(dim=-1) if mask is None else masked_softmax(scores, mask)
    kept = weights if dropout is None else dropout(weights)  # (..., T, N)
    return kept @ value, weights  # (..., T, d_v), (..., T, N)
    ### END SOLUTION


# %% exercise
def split_heads(x: Tensor, heads: int) -> Tensor:
    """Cut each vector into one piece for each head.

    Args:
        x: (B, T, d); d is a multiple of `heads`.
        heads: h.

    Returns:
        (B, h, T, d / h): head i gets components i d/h to (i + 1) d/h - 1 of each vector.

    Source: Vaswani et al. (2017), section 3.2.2.
    """
    ### BEGIN SOLUTION
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)  # (B, h, T, d / h)
    ### END SOLUTION


# %% exercise
def merge_heads(x: Tensor) -> Tensor:
    """Put the pieces of all heads side by side again; undoes `split_heads`.

    Args:
        x: (B, h, T, d / h).

    Returns:
        (B, T, d).

    Source: Vaswani et al. (2017), section 3.2.2.
    """
    ### BEGIN SOLUTION
    return x.transpose(1, 2).flatten(2)  # (B, T, d)
    ### END SOLUTION


# %% exercise
class MultiHeadAttention(nn.Module):
    """Several attentions side by side, each in a subspace of its own.

    head_i = Attention(Q W_i^Q, K W_i^K, V W_i^V),  MultiHead = Concat(head_1, ..., head_h) W^O

    The W_i^Q of all heads are one matrix, cut into pieces after the product; so are W^K and W^V.

    Parameters, d = model_size: `query.weight`, `key.weight`, `value.weight`, `output.weight`, all
    (d, d), and `query.bias`, `key.bias`, `value.bias`, `output.bias`, all (d,). The paper has no
    biases; torch and BERT have them. In training, `dropout` acts on the weights.

    Raises:
        ValueError: model_size is not a multiple of heads.

    Source: Vaswani et al. (2017), section 3.2.2.
    """

    def __init__(self, model_size: int, heads: int, dropout: float = 0.0):
        super().__init__()
        if model_size % heads:
            raise ValueError(f"{heads} heads cannot share vectors of size {model_size} equally.")
        self.heads = heads
        self.query = nn.Linear(model_size, model_size)
        self.key = nn.Linear(model_size, model_size)
        self.value = nn.Linear(model_size, model_size)
        self.output = nn.Linear(model_size, model_size)
        self.dropout = nn.Dropout(dropout)

    def project(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Return K W^K and V W^V, cut into heads: what a decoder computes once and keeps.

        Args:
            key: (B, N, d).
            value: (B, N, d).

        Returns:
            keys and values, both (B, h, N, d / h).
        """
        ### BEGIN SOLUTION
        return split_heads(self.key(key), self.heads), split_heads(self.value(value), self.heads)
        ### END SOLUTION

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None = None,
        projected: tuple[Tensor, Tensor] | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Let each query attend, once in each head.

        Args:
            query: (B, T, d).
            key: (B, N, d); not looked at if `projected` is given, None will do then.
            value: (B, N, d); not looked at if `projected` is given.
            mask: bool, True = may be attended to; broadcasts to (B, T, N) and holds for all heads.
            projected: what `project(key, value)` returned.

        Returns:
            output (B, T, d) and the weights of each head, (B, h, T, N), before dropout.
        """
        ### BEGIN SOLUTION
        q = split_heads(self.query(query), self.heads)  # (B, h, T, d / h)
        k, v = self.project(key, value) if projected is None else projected  # (B, h, N, d / h)
        mask = None if mask is None else mask.unsqueeze(-3)  # one axis more, for the heads
        heads, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)  # (B, h, T, .)
        return self.output(merge_heads(heads)), weights  # (B, T, d), (B, h, T, N)
        ### END SOLUTION
