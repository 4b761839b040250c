"""Defines the fakes that the checks pass to answers in place of other exercises' classes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from autograder.spec.fakes import register_fake

register_fake("", name="Embedding")(nn.Embedding)  # torch's own layer needs no usage hint


@register_fake("an attention of its own: call it and its project")
class DistanceAttention(nn.Module):
    """A fake attention with the interface that a decoder expects.

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


@register_fake("an attention of its own: call it with (query, keys, mask, position)")
class PositionAttention(DistanceAttention):
    """A `DistanceAttention` in which each target position favours other source positions.

    alpha_j = m_j / (1 + |P q - R k_j|^2 + |j - t|), divided by the sum over j.

    It has the interface that Luong's decoder expects: `attention(query, keys, mask, position)`.
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


@register_fake("an attention of its own: call it with (states, mask)")
class HopAttention(nn.Module):
    """A fake attention with several hops over a sentence: `attention(states, mask)`.

    A_kj = m_j / (1 + |P_k - R h_j|^2), divided by the sum over j; a sentence without a real word
    gets zeros. Each hop k has its own place P_k and favours the states near it.

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


@register_fake("an attention of its own: call it with (states, mask)")
class PoolAttention(HopAttention):
    """A `HopAttention` with a single hop, which returns (B, d) and weights (B, N)."""

    def __init__(self, state_size: int, place_size: int):
        super().__init__(state_size, place_size, 1)

    def forward(self, states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return (B, d) and weights (B, N) for states (B, N, d) and mask (B, N)."""
        vectors, shares = super().forward(states, mask)
        return vectors[..., 0, :], shares[..., 0, :]


@register_fake("an attention of its own: call it with (query, annotations)")
class GlanceAttention(DistanceAttention):
    """A `DistanceAttention` for pictures, which needs no mask because every place is real.

    alpha_j = 1 / (1 + |P q - R k_j|^2), divided by the sum over j. The context is scaled by
    1 / (1 + |P q|^2), so that it differs from what the weights alone would give.

    It has the interface that a caption decoder expects: `attention(query, annotations)`.
    """

    def forward(  # type: ignore[override]
        self, query: Tensor, annotations: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return context (B, d_k), weights (B, N) for query (B, d_q), annotations (B, N, d_k)."""
        everywhere = torch.ones(annotations.shape[:2], dtype=torch.bool)
        context, weights = super().forward(query, annotations, everywhere)
        smaller = 1 + (query @ self.P.T).square().sum(-1, keepdim=True)  # (B, 1)
        return context / smaller, weights


@register_fake("a score of its own: call it with (query, keys)")
class RippleScore(nn.Module):
    """A fake score: e_j = sin(P q) . (R k_j), for query (B, d_q) or (B, T, d_q).

    Parameters: `P` (d, d_q) and `R` (d, d_k).
    """

    def __init__(self, query_size: int, key_size: int, hidden_size: int):
        super().__init__()
        self.P = nn.Parameter(torch.zeros(hidden_size, query_size))
        self.R = nn.Parameter(torch.zeros(hidden_size, key_size))

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Return scores (B, N), or (B, T, N)."""
        return _bilinear(torch.sin(query @ self.P.T), keys @ self.R.T)


@register_fake("a score of its own: call it with (query, keys)")
class CountingScore:
    """A fake score without parameters, for answers that are functions.

    e_j = 2 sin(C q) . cos(D k_j) + `shift`

    C and D are fixed; their entries, row by row, are the sines of 1, 2, 3, ...
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
    """Return q . k_j as (|q + k_j|^2 - |q - k_j|^2) / 4, a form that no answer would use."""
    keys = keys if query.dim() == 2 else keys.unsqueeze(1)  # (B, N, d) or (B, 1, N, d)
    asked = query.unsqueeze(-2)  # (B, 1, d) or (B, T, 1, d)
    return ((asked + keys).square().sum(-1) - (asked - keys).square().sum(-1)) / 4


@register_fake("a next-word model of its own: call it with (tokens, state)")
class TableStep:
    """A fake next-word model: `step(tokens (K,), state) -> (log_probs (K, V), state)`.

    The state holds a table of scores for each hypothesis, (K, V, V) together; row y of a table
    scores the words that may follow y. Reading a word y shifts all rows by y + 1, so that the next
    scores depend on all words before and on whether the state of the right hypothesis is carried
    along. It also multiplies the table by `SHRINK`, so that no two sentences get the same numbers
    in another order. `kind` says how the table is packed: "tensor"; "tuple", two tensors that sum
    to it; or "dict", {"tables": a, "deep": (b, c)}, where it is a + b - c.
    """

    SHRINK = 15 / 16

    def __init__(self, kind: str):
        self._kind = kind

    def __call__(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        """Return the log-probabilities of all next words, (K, V), and the new state."""
        if self._kind == "tensor":
            return self._read(tokens, state)
        # All tensors of the new state differ between hypotheses, so an answer must reorder each.
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


@register_fake("embeddings of its own: call them with (tokens, segments)")
class TintedEmbeddings(nn.Module):
    """Fake embeddings: x_i = E_{w_i} times C_{s_i}, elementwise.

    They are called with `(tokens, segments)`; without segments all tokens are in segment 0.

    Parameters: `E` (V, d) and `C` (2, d).
    """

    def __init__(self, vocabulary_size: int, hidden_size: int):
        super().__init__()
        self.E = nn.Parameter(torch.zeros(vocabulary_size, hidden_size))
        self.C = nn.Parameter(torch.zeros(2, hidden_size))

    def forward(self, tokens: Tensor, segments: Tensor | None = None) -> Tensor:
        """Return (B, N, d) for ids (B, N) and segments (B, N) or None."""
        tint = self.C[0] if segments is None else self.C[segments]
        return self.E[tokens] * tint


@register_fake("an encoder of its own: call it with (tokens, segments)")
class TintedEncoder(TintedEmbeddings):
    """A fake encoder: h_i = x_i + x_{i+1} / 2, where x_1 comes after x_N.

    The x_i are the outputs of `TintedEmbeddings`. The encoder is called with `(tokens, segments)`
    and treats padding like any other token.
    """

    def forward(self, tokens: Tensor, segments: Tensor | None = None) -> Tensor:
        """Return (B, N, d) for ids (B, N) and segments (B, N) or None."""
        x = super().forward(tokens, segments)
        return x + x.roll(-1, dims=1) / 2


class NearLayer(nn.Module):
    """A fake layer, `layer(x, mask)`, that maps (B, N, d) to (B, N, d).

    y_i = g x_i + sum_j c_ij x_j,  c_ij = m_ij / (1 + |P (x_i - x_j)|^2), divided by the sum over j

    Where the mask is False for all j, the sum is 0. The mask is boolean and broadcasts to
    (B, N, N).

    Parameters: `g` (d,) and `P` (n, d).
    """

    def __init__(self, size: int, place_size: int):
        super().__init__()
        self.g = nn.Parameter(torch.zeros(size))
        self.P = nn.Parameter(torch.zeros(place_size, size))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return (B, N, d) for x (B, N, d) and a mask that broadcasts to (B, N, N)."""
        place = x @ self.P.T  # (B, N, n)
        gap = (place.unsqueeze(-2) - place.unsqueeze(-3)).square().sum(-1)  # (B, N, N)
        close = (1 / (1 + gap)).masked_fill(~mask, 0.0)  # (B, N, N)
        total = close.sum(-1, keepdim=True)  # (B, N, 1)
        return self.g * x + close @ x / total.masked_fill(total == 0, 1.0)


@register_fake("layers of its own: call each with (x, mask)", name="NearLayers")
def near_layers(count: int, size: int, place_size: int) -> nn.ModuleList:
    """Return a list of `NearLayer` modules."""
    return nn.ModuleList(NearLayer(size, place_size) for _ in range(count))


@register_fake(
    "an attention of its own: call it with (query, key, value, mask), or with "
    "projected in place of key and value, and its project with (key, value)"
)
class PairAttention(nn.Module):
    """A fake attention with two heads: `attention(query, key, value, mask, projected)`.

    o_i = sum over both heads l and all j of c_lij S_l v_j,  with
    c_lij = m_ij / (1 + |P_l q_i - R_l k_j|^2), divided by the sum over j

    A query that may attend to nothing gets 0. The mask is boolean and broadcasts to (B, T, N).

    Parameters: `P` (2, n, d), `R` (2, n, d), `S` (2, d, d).
    """

    def __init__(self, size: int, place_size: int):
        super().__init__()
        self.P = nn.Parameter(torch.zeros(2, place_size, size))
        self.R = nn.Parameter(torch.zeros(2, place_size, size))
        self.S = nn.Parameter(torch.zeros(2, size, size))

    def project(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Return R k_j, (B, 2, N, n), and S v_j, (B, 2, N, d)."""
        places = torch.einsum("lnd,bjd->bljn", self.R, key)
        return places, torch.einsum("led,bjd->blje", self.S, value)

    def forward(
        self,
        query: Tensor,
        key: Tensor | None,
        value: Tensor | None,
        mask: Tensor | None = None,
        projected: tuple[Tensor, Tensor] | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Return (B, T, d) and weights (B, 2, T, N) for query (B, T, d), key, value (B, N, d)."""
        places, things = projected or self.project(key, value)  # type: ignore[arg-type]
        aims = torch.einsum("lnd,bid->blin", self.P, query)
        gap = (aims.unsqueeze(-2) - places.unsqueeze(-3)).square().sum(-1)  # (B, 2, T, N)
        close = (1 if mask is None else mask.unsqueeze(-3)) / (1 + gap)
        total = close.sum(-1, keepdim=True)  # (B, 2, T, 1)
        shares = close / total.masked_fill(total == 0, 1.0)
        return torch.einsum("blij,blje->bie", shares, things), shares


@register_fake("a network of its own: call it with (x)")
class WaveNetwork(nn.Module):
    """A fake network that is applied at each position: f(x) = 2 sin(A x).

    Parameters: `A` (d, d).
    """

    def __init__(self, size: int):
        super().__init__()
        self.A = nn.Parameter(torch.zeros(size, size))

    def forward(self, x: Tensor) -> Tensor:
        """Return (B, T, d) for x (B, T, d)."""
        return 2 * torch.sin(x @ self.A.T)


@register_fake("a dropout of its own: call it with the weights")
class Fading(nn.Module):
    """A fake dropout without chance, which drops every third component.

    The other components are doubled. Components are counted through the whole tensor.
    """

    def forward(self, x: Tensor) -> Tensor:
        """Return 2 x with every third component set to 0."""
        kept = torch.arange(x.numel()).reshape(x.shape) % 3 != 2
        return 2 * x * kept


@register_fake("positions of its own: call it with (length, size)")
class RulerPositions:
    """Fake positions: p_ti = (((t + 1)(2 i + 3) mod 11) - 5) / 8.

    These numbers are the same in every precision.
    """

    def __call__(self, length: int, size: int) -> Tensor:
        """Return the positions (length, size) in torch's default dtype."""
        product = torch.outer(torch.arange(1, length + 1), 2 * torch.arange(size) + 3)
        return (product % 11 - 5).to(torch.get_default_dtype()) / 8


class EchoLayer(nn.Module):
    """A fake decoder layer: `layer(y, memory, mask, memory_mask)`.

    z_t = sin(y_t) + mean of A y_j + y_t * mean of D m_s, elementwise; the means are over the
    positions j and s that the masks allow, and 0 where they allow none.

    Parameters: `A` (d, d) and `D` (d, d).
    """

    def __init__(self, size: int):
        super().__init__()
        self.A = nn.Parameter(torch.zeros(size, size))
        self.D = nn.Parameter(torch.zeros(size, size))

    def forward(
        self,
        y: Tensor,
        memory: Tensor,
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
    ) -> Tensor:
        """Return (B, T, d) for y (B, T, d) and memory (B, S, d)."""
        return self._mixed(y, y @ self.A.T, memory @ self.D.T, mask, memory_mask)

    def start(self, memory: Tensor) -> dict[str, Any]:
        """Return the initial cache for `step`; only `step` reads it."""
        return {"echo": (memory @ self.A.T)[:, :0], "deep": (memory @ self.D.T,)}

    def step(
        self, y: Tensor, cache: dict[str, Any], memory_mask: Tensor | None = None
    ) -> tuple[Tensor, dict[str, Any]]:
        """Return (B, 1, d) for y (B, 1, d), and the new cache."""
        echo = torch.cat([cache["echo"], y @ self.A.T], dim=1)
        z = self._mixed(y, echo, cache["deep"][0], None, memory_mask)
        return z, {"echo": echo, "deep": cache["deep"]}

    @staticmethod
    def _mixed(
        y: Tensor, echo: Tensor, deep: Tensor, mask: Tensor | None, memory_mask: Tensor | None
    ) -> Tensor:
        return torch.sin(y) + _mean(echo, mask) + y * _mean(deep, memory_mask)


def _mean(things: Tensor, mask: Tensor | None) -> Tensor:
    """Return means of (B, N, d) over the positions that a mask, broadcast to (B, T, N), allows."""
    if mask is None:
        return things.mean(dim=1, keepdim=True)
    return mask.to(things) @ things / mask.sum(-1, keepdim=True).clamp(min=1)


@register_fake(
    "layers of its own: call each with (y, memory, mask, memory_mask), and its start and step",
    name="EchoLayers",
)
def echo_layers(count: int, size: int) -> nn.ModuleList:
    """Return a list of `EchoLayer` modules."""
    return nn.ModuleList(EchoLayer(size) for _ in range(count))
