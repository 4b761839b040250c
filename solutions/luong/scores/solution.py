"""Reference solutions of the exercises in luong/scores."""

# %% setup
import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

# %% earlier
from solutions.bahdanau.scores import masked_softmax


# %% exercise
def dot_score(query: Tensor, keys: Tensor) -> Tensor:
    """Score each key by its dot product with the query.

    e_j = q . k_j

    Args:
        query: (B, d), or (B, T, d) for all target words at once.
        keys: (B, N, d).

    Returns:
        scores (B, N), or (B, T, N).

    Source: Luong et al. (2015), section 3.1, "dot".
    """
    ### BEGIN SOLUTION
    return torch.einsum("b...d,bnd->b...n", query, keys)
    ### END SOLUTION


# %% exercise
def scaled_dot_score(query: Tensor, keys: Tensor) -> Tensor:
    """Score each key by its dot product with the query, divided by the root of their size.

    e_j = q . k_j / sqrt(d)

    Args:
        query: (B, d), or (B, T, d) for all target words at once.
        keys: (B, N, d).

    Returns:
        scores (B, N), or (B, T, N).

    Source: Vaswani et al. (2017), section 3.2.1, equation 1.
    """
    ### BEGIN SOLUTION
    return dot_score(query, keys) / math.sqrt(keys.shape[-1])
    ### END SOLUTION


# %% exercise
def general_score(query: Tensor, keys: Tensor, W: Tensor) -> Tensor:
    """Score each key by a weighted dot product with the query.

    e_j = q^T W k_j

    Args:
        query: (B, d_q), or (B, T, d_q) for all target words at once.
        keys: (B, N, d_k).
        W: (d_q, d_k).

    Returns:
        scores (B, N), or (B, T, N).

    Source: Luong et al. (2015), section 3.1, "general".
    """
    ### BEGIN SOLUTION
    return torch.einsum("b...q,qk,bnk->b...n", query, W, keys)
    ### END SOLUTION


# %% exercise
def concat_score(query: Tensor, keys: Tensor, W: Tensor, v: Tensor) -> Tensor:
    """Score each key by a network with one hidden layer that reads query and key joined.

    e_j = v^T tanh(W [q; k_j])

    Args:
        query: (B, d_q), or (B, T, d_q) for all target words at once.
        keys: (B, N, d_k).
        W: (d, d_q + d_k); its first d_q columns belong to the query.
        v: (d,).

    Returns:
        scores (B, N), or (B, T, N).

    Source: Luong et al. (2015), section 3.1, "concat".
    """
    ### BEGIN SOLUTION
    of_query, of_keys = W.split([query.shape[-1], keys.shape[-1]], dim=1)
    projected = keys @ of_keys.T  # (B, N, d)
    if query.dim() == 3:
        projected = projected.unsqueeze(1)  # (B, 1, N, d)
    hidden = torch.tanh((query @ of_query.T).unsqueeze(-2) + projected)  # (B, N, d) or (B, T, N, d)
    return hidden @ v
    ### END SOLUTION


# %% exercise
def location_score(query: Tensor, W: Tensor) -> Tensor:
    """Score each position from the query alone.

    e = W q

    Args:
        query: (B, d_q), or (B, T, d_q) for all target words at once.
        W: (N, d_q), one row for each position.

    Returns:
        scores (B, N), or (B, T, N), before the softmax.

    Source: Luong et al. (2015), section 3.1, equation 8.
    """
    ### BEGIN SOLUTION
    return query @ W.T
    ### END SOLUTION


# %% exercise
def attention(
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    score: Callable[[Tensor, Tensor], Tensor],
    mask: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Look up the values whose keys fit the query.

    Attention(Q, K, V) = sum_j a_j v_j,  a = softmax_j(score(q, k_j)) over the positions of the mask

    Args:
        query: (B, d_q), or (B, T, d_q) for all target words at once.
        keys: (B, N, d_k).
        values: (B, N, d_v).
        score: score(query, keys) returns scores (B, N), or (B, T, N).
        mask: bool, True = may be attended to; (B, N), or, with a query (B, T, d_q), (B, T, N) if it
            differs from target word to target word. None: everything may be attended to.

    Returns:
        context (B, d_v) and weights (B, N), or (B, T, d_v) and (B, T, N). A row in which nothing
        may be attended to has weights and context of 0.

    Source: Luong et al. (2015), equation 7; in this form Vaswani et al. (2017), section 3.2.
    """
    ### BEGIN SOLUTION
    scores = score(query, keys)  # (B, N) or (B, T, N)
    if mask is None:
        weights = scores.softmax(dim=-1)  # as the scores
    elif mask.dim() < scores.dim():
        weights = masked_softmax(scores, mask.unsqueeze(1))  # (B, T, N)
    else:
        weights = masked_softmax(scores, mask)  # as the scores
    return torch.einsum("b...n,bnv->b...v", weights, values), weights
    ### END SOLUTION


# %% together
class Score(nn.Module):
    """One of the scores as a module that owns its parameters.

    Args:
        kind: "dot", "scaled_dot", "general" or "concat".
        query_size: d_q.
        key_size: d_k; equal to d_q for the two dot products.
        hidden_size: d of "concat".

    Parameters: `W` and, for "concat", `v`, of the shapes that the functions above take. The matrix
    of "general" is W / sqrt(d_k): Adam moves each entry of a matrix by about the learning rate, and
    over d_q d_k products that would be a leap of the scores at every step. Any matrix can still be
    learned.

    Raises:
        ValueError: an unknown kind, or sizes that differ for a dot product.
    """

    def __init__(self, kind: str, query_size: int, key_size: int, hidden_size: int = 0):
        super().__init__()
        if kind not in ("dot", "scaled_dot", "general", "concat"):
            raise ValueError(f"kind is {kind!r}; it must be dot, scaled_dot, general or concat.")
        if kind in ("dot", "scaled_dot") and query_size != key_size:
            raise ValueError(
                f"A dot product needs query and keys of one size, not {query_size} and {key_size}."
            )
        self.kind = kind
        if kind == "general":
            self.W = nn.Parameter(torch.empty(query_size, key_size))
            nn.init.xavier_uniform_(self.W)
        if kind == "concat":
            self.W = nn.Parameter(torch.empty(hidden_size, query_size + key_size))
            self.v = nn.Parameter(torch.empty(hidden_size))
            nn.init.xavier_uniform_(self.W)
            nn.init.uniform_(self.v, -(hidden_size**-0.5), hidden_size**-0.5)

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Return scores (B, N) for query (B, d_q), or (B, T, N) for query (B, T, d_q)."""
        if self.kind == "general":
            return general_score(query, keys, self.W / math.sqrt(keys.shape[-1]))
        if self.kind == "concat":
            return concat_score(query, keys, self.W, self.v)
        return (dot_score if self.kind == "dot" else scaled_dot_score)(query, keys)


class GlobalAttention(nn.Module):
    """Attention over all real source positions, as a decoder calls it.

    Args:
        score: a module; score(query (B, d_q), keys (B, N, d_k)) returns (B, N).
    """

    def __init__(self, score: nn.Module):
        super().__init__()
        self.score = score

    def forward(
        self, query: Tensor, keys: Tensor, mask: Tensor, position: int | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return context (B, d_k) and weights (B, N); the target position is not used."""
        return attention(query, keys, keys, self.score, mask)
