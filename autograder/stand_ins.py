"""What a check passes to an answer in place of another exercise's answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from autograder.exercise import StandIn


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


class PositionAttention(DistanceAttention):
    """The attention above, but each target position favours other source positions.

    alpha_j = m_j / (1 + |P q - R k_j|^2 + |j - t|), divided by the sum over j.

    Its interface is that of Luong's decoder: `attention(query, keys, mask, position)`.
    """

    def forward(  # type: ignore[override]
        self, query: Tensor, keys: Tensor, mask: Tensor, position: int
    ) -> tuple[Tensor, Tensor]:
        """Return context (B, d_k) and weights (B, N) for query (B, d_q), keys (B, N, d_k)."""
        distance = ((query @ self.P.T).unsqueeze(1) - self.project(keys)).square().sum(-1)  # (B, N)
        away = (torch.arange(keys.shape[1]) - position).abs()  # (N,)
        closeness = mask / (1 + distance + away)  # (B, N)
        total = closeness.sum(-1, keepdim=True)  # (B, 1)
        weights = closeness / total.masked_fill(total == 0, 1.0)  # (B, N)
        return torch.einsum("bn,bnd->bd", weights, keys), weights


class HopAttention(nn.Module):
    """Several looks of the checks' own at the words of a sentence: `attention(states, mask)`.

    A_kj = m_j / (1 + |P_k - R h_j|^2), divided by the sum over j; a sentence without a real word
    gets zeros. Each look k has a place P_k of its own, and likes the states near to it.

    Parameters: `P` (r, n) and `R` (n, d).
    """

    def __init__(self, state_size: int, place_size: int, hops: int):
        super().__init__()
        self.P = nn.Parameter(torch.zeros(hops, place_size))
        self.R = nn.Parameter(torch.zeros(place_size, state_size))

    def forward(self, states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return (B, r, d) and weights (B, r, N) for states (B, N, d) and mask (B, N)."""
        places = (states @ self.R.T).unsqueeze(-3)  # (B, 1, N, n)
        gap = (self.P.unsqueeze(-2) - places).square().sum(-1)  # (B, r, N)
        closeness = mask.unsqueeze(-2) / (1 + gap)  # (B, r, N)
        total = closeness.sum(-1, keepdim=True)  # (B, r, 1)
        shares = closeness / total.masked_fill(total == 0, 1.0)  # (B, r, N)
        return (shares.unsqueeze(-1) * states.unsqueeze(-3)).sum(-2), shares


class PoolAttention(HopAttention):
    """The attention above with a single look: (B, d) and weights (B, N)."""

    def __init__(self, state_size: int, place_size: int):
        super().__init__(state_size, place_size, 1)

    def forward(self, states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return (B, d) and weights (B, N) for states (B, N, d) and mask (B, N)."""
        found, shares = super().forward(states, mask)
        return found[..., 0, :], shares[..., 0, :]


class GlanceAttention(DistanceAttention):
    """The attention above for pictures, of which every place is real: no mask.

    alpha_j = 1 / (1 + |P q - R k_j|^2), divided by the sum over j. The context is made smaller by
    1 / (1 + |P q|^2), so that it is not what the weights alone would give.

    Its interface is that of a caption's decoder: `attention(query, annotations)`.
    """

    def forward(  # type: ignore[override]
        self, query: Tensor, annotations: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return context (B, d_k) and weights (B, N) for query (B, d_q) and (B, N, d_k)."""
        everywhere = torch.ones(annotations.shape[:2], dtype=torch.bool)
        context, weights = super().forward(query, annotations, everywhere)
        smaller = 1 + (query @ self.P.T).square().sum(-1, keepdim=True)  # (B, 1)
        return context / smaller, weights


class RippleScore(nn.Module):
    """A score of the checks' own: e_j = sin(P q) . (R k_j), for query (B, d_q) or (B, T, d_q).

    Parameters: `P` (d, d_q) and `R` (d, d_k).
    """

    def __init__(self, query_size: int, key_size: int, hidden_size: int):
        super().__init__()
        self.P = nn.Parameter(torch.zeros(hidden_size, query_size))
        self.R = nn.Parameter(torch.zeros(hidden_size, key_size))

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Return scores (B, N), or (B, T, N)."""
        return _bilinear(torch.sin(query @ self.P.T), keys @ self.R.T)


class CountingScore:
    """A score without parameters, for functions that take one: e_j = 2 sin(C q) . cos(D k_j).

    C and D are fixed: entries are the sines of 1, 2, 3, ... through rows and columns. `shift` is
    added to every score.
    """

    def __init__(self, query_size: int, key_size: int, shift: float = 0.0):
        self._C = _counted(3, query_size)
        self._D = _counted(3, key_size)
        self._shift = shift

    def __call__(self, query: Tensor, keys: Tensor) -> Tensor:
        """Return scores (B, N), or (B, T, N)."""
        of_query = torch.sin(query @ self._C.to(query.dtype).T)
        return 2 * _bilinear(of_query, torch.cos(keys @ self._D.to(keys.dtype).T)) + self._shift


def _counted(rows: int, columns: int) -> Tensor:
    return torch.sin(torch.arange(1.0, rows * columns + 1, dtype=torch.float64)).reshape(
        rows, columns
    )


def _bilinear(query: Tensor, keys: Tensor) -> Tensor:
    """Return q . k_j = (|q + k_j|^2 - |q - k_j|^2) / 4; written as an answer would not be."""
    keys = keys if query.dim() == 2 else keys.unsqueeze(1)  # (B, N, d) or (B, 1, N, d)
    asked = query.unsqueeze(-2)  # (B, 1, d) or (B, T, 1, d)
    return ((asked + keys).square().sum(-1) - (asked - keys).square().sum(-1)) / 4


class TableStep:
    """A next-word model for searches: `step(tokens (K,), state) -> (log_probs (K, V), state)`.

    The state holds a table of scores (K, V, V) for each hypothesis: row y of it scores the words
    after y. Each word y that is read moves all rows on by y + 1, so that what comes next depends on
    all words before it, and on the right hypothesis' state being carried along; and it shrinks the
    table by `SHRINK`, so that no two sentences get the same numbers in another order. `kind` says
    how the table is packed: "tensor"; "tuple", two tensors whose sum it is; or "dict",
    {"tables": a, "deep": (b, c)} with a + b - c.
    """

    SHRINK = 15 / 16

    def __init__(self, kind: str):
        self._kind = kind

    def __call__(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        """Return log p of every next word, (K, V), and the new state."""
        if self._kind == "tensor":
            return self._read(tokens, state)
        # All tensors of the new state tell the hypotheses apart: none may be left unsorted.
        if self._kind == "tuple":
            log_probs, table = self._read(tokens, state[0] + state[1])
            return log_probs, (0.25 * table, 0.75 * table)
        first, second = state["deep"]
        log_probs, table = self._read(tokens, state["tables"] + first - second)
        return log_probs, {"tables": 0.5 * table, "deep": (0.75 * table, 0.25 * table)}

    def _read(self, tokens: Tensor, table: Tensor) -> tuple[Tensor, Tensor]:
        rows = torch.arange(len(tokens), device=tokens.device)  # (K,)
        log_probs = table[rows, tokens].log_softmax(dim=-1)  # (K, V)
        turned = torch.stack(
            [one.roll(int(y) + 1, dims=0) for one, y in zip(table, tokens, strict=True)]
        )
        return log_probs, self.SHRINK * turned


def generator(seed: int) -> torch.Generator:
    """Return a generator of random numbers that begins at a seed."""
    return torch.Generator().manual_seed(seed)


STAND_INS: dict[str, Callable[..., Any]] = {
    "DistanceAttention": DistanceAttention,
    "PositionAttention": PositionAttention,
    "GlanceAttention": GlanceAttention,
    "HopAttention": HopAttention,
    "PoolAttention": PoolAttention,
    "RippleScore": RippleScore,
    "CountingScore": CountingScore,
    "TableStep": TableStep,
    "Generator": generator,
}

# How each is used, for an answer that uses it in another way.
USES = {
    "DistanceAttention": "an attention of its own: call it and its project",
    "PositionAttention": "an attention of its own: call it with (query, keys, mask, position)",
    "HopAttention": "an attention of its own: call it with (states, mask)",
    "PoolAttention": "an attention of its own: call it with (states, mask)",
    "GlanceAttention": "an attention of its own: call it with (query, annotations)",
    "RippleScore": "a score of its own: call it with (query, keys)",
    "CountingScore": "a score of its own: call it with (query, keys)",
    "TableStep": "a next-word model of its own: call it with (tokens, state)",
    "Generator": "a torch.Generator: hand it on to what draws, as generator=generator",
}


def built(value: Any) -> Any:
    """Return the object that a `StandIn` names, and anything else as it is."""
    return STAND_INS[value.name](*value.arguments) if isinstance(value, StandIn) else value
