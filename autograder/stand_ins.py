"""What a check passes to an answer in place of another exercise's answer."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class DistanceAttention(nn.Module):
    """An attention of the checks' own, with the interface that a decoder expects.

    alpha_j = m_j / (1 + |P q - R k_j|^2), divided by the sum over j; rows without a real position
    get zeros. No paper uses it: it only has to depend on query, keys and mask.

    Parameters: `P` (d, d_q) and `R` (d, d_k).
    """

    def __init__(self, query_size: int, key_size: int, hidden_size: int):
        super().__init__()
        self.P = nn.Parameter(torch.zeros(hidden_size, query_size))
        self.R = nn.Parameter(torch.zeros(hidden_size, key_size))

    def project(self, keys: Tensor) -> Tensor:
        """Return R k_j, (B, N, d)."""
        return keys @ self.R.T

    def forward(
        self, query: Tensor, keys: Tensor, mask: Tensor, projected_keys: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return context (B, d_k) and weights (B, N) for query (B, d_q), keys (B, N, d_k)."""
        projected = self.project(keys) if projected_keys is None else projected_keys
        distance = ((query @ self.P.T).unsqueeze(1) - projected).square().sum(-1)  # (B, N)
        closeness = mask / (1 + distance)  # (B, N)
        total = closeness.sum(-1, keepdim=True)  # (B, 1)
        weights = closeness / total.masked_fill(total == 0, 1.0)  # (B, N)
        return torch.einsum("bn,bnd->bd", weights, keys), weights


STAND_INS = {"DistanceAttention": DistanceAttention}
