"""Reference solutions of the exercises in bahdanau/scores."""

# %% setup
import torch
from torch import Tensor, nn


# %% exercise
def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Softmax over the last axis that gives masked positions a weight of exactly 0.

    alpha_j = m_j exp(e_j) / sum_k m_k exp(e_k); a row without any real position gives zeros.

    Args:
        scores: (..., N), any real numbers, also at masked positions.
        mask: bool, the shape of `scores` or one that broadcasts to it; True = may be attended to.

    Returns:
        weights (..., N) in the dtype of `scores`; each row sums to 1, or to 0 if fully masked.

    Source: Bahdanau et al. (2015), equation 6.
    """
    ### BEGIN SOLUTION
    lowest = torch.finfo(scores.dtype).min  # finite, so that a fully masked row gives no NaN
    weights = scores.masked_fill(~mask, lowest).softmax(dim=-1)  # (..., N)
    return weights * mask  # (..., N)
    ### END SOLUTION


# %% exercise
def additive_score(query: Tensor, keys: Tensor, W: Tensor, U: Tensor, v: Tensor) -> Tensor:
    """Score every key against the query with a network of one hidden layer.

    e_j = v^T tanh(W s + U h_j)

    Args:
        query: the decoder's state s, (B, d_q).
        keys: the annotations h, (B, N, d_k).
        W: (d, d_q).
        U: (d, d_k).
        v: (d,).

    Returns:
        scores (B, N), before any softmax.

    Source: Bahdanau et al. (2015), section A.1.2.
    """
    ### BEGIN SOLUTION
    projected_query = query @ W.T  # (B, d)
    projected_keys = keys @ U.T  # (B, N, d)
    hidden = torch.tanh(projected_query.unsqueeze(1) + projected_keys)  # (B, N, d)
    return hidden @ v  # (B, N)
    ### END SOLUTION


# %% exercise
def context_vector(weights: Tensor, values: Tensor) -> Tensor:
    """Average the values with the attention weights.

    c = sum_j alpha_j h_j

    Args:
        weights: (B, N).
        values: (B, N, d_v).

    Returns:
        context (B, d_v).

    Source: Bahdanau et al. (2015), equation 5.
    """
    ### BEGIN SOLUTION
    return (weights.unsqueeze(1) @ values).squeeze(1)  # (B, 1, N) @ (B, N, d_v) -> (B, d_v)
    ### END SOLUTION


# %% exercise
class AdditiveAttention(nn.Module):
    """Attention with the score v^T tanh(W s + U h_j).

    Parameters: `W` (d, d_q), `U` (d, d_k), `v` (d,), where d = hidden_size, d_q = query_size and
    d_k = key_size. The keys are also the values.

    Source: Bahdanau et al. (2015), equations 5 and 6, section A.1.2.
    """

    def __init__(self, query_size: int, key_size: int, hidden_size: int):
        super().__init__()
        self.W = nn.Parameter(torch.empty(hidden_size, query_size))
        self.U = nn.Parameter(torch.empty(hidden_size, key_size))
        self.v = nn.Parameter(torch.empty(hidden_size))
        for parameter in (self.W, self.U):
            nn.init.xavier_uniform_(parameter)
        nn.init.normal_(self.v, std=hidden_size**-0.5)

    def project(self, keys: Tensor) -> Tensor:
        """Compute U h_j for every key, once per sentence.

        Args:
            keys: (B, N, d_k).

        Returns:
            projected keys (B, N, d).
        """
        ### BEGIN SOLUTION
        return keys @ self.U.T  # (B, N, d)
        ### END SOLUTION

    def forward(
        self, query: Tensor, keys: Tensor, mask: Tensor, projected_keys: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Attend to the keys.

        Args:
            query: the decoder's state s_{i-1}, (B, d_q).
            keys: the annotations h, (B, N, d_k).
            mask: bool (B, N), True = a real source word.
            projected_keys: what `project(keys)` returned, (B, N, d), or None; what is given is not
                computed again.

        Returns:
            context (B, d_k) and weights (B, N).
        """
        ### BEGIN SOLUTION
        if projected_keys is None:
            projected_keys = self.project(keys)  # (B, N, d)
        projected_query = query @ self.W.T  # (B, d)
        scores = torch.tanh(projected_query.unsqueeze(1) + projected_keys) @ self.v  # (B, N)
        weights = masked_softmax(scores, mask)  # (B, N)
        return context_vector(weights, keys), weights  # (B, d_k), (B, N)
        ### END SOLUTION
