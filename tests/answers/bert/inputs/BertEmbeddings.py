"""Answers to `BertEmbeddings`."""

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.answers.stubs import stub

Stub = stub("BertEmbeddings")

# Right


class AsInTheEquation(Stub):
    def forward(self, tokens: Tensor, segments: Tensor | None = None) -> Tensor:
        if segments is None:
            segments = torch.zeros_like(tokens)
        B, N = tokens.shape
        positions = torch.arange(N, device=tokens.device).expand(B, N)
        x = self.token(tokens) + self.segment(segments) + self.position(positions)
        return self.dropout(self.norm(x))


class FirstRows(Stub):
    def forward(self, tokens, segments=None):
        x = self.token(tokens) + self.position.weight[: tokens.shape[1]]
        x = x + (self.segment.weight[0] if segments is None else self.segment(segments))
        return self.dropout(self.norm(x))


class FunctionalWithOneHots(Stub):
    def forward(self, tokens, segments=None):
        V, d = self.token.weight.shape
        words = F.one_hot(tokens, V).to(self.token.weight.dtype) @ self.token.weight
        if segments is None:
            segments = tokens.new_zeros(tokens.shape)
        places = torch.stack([self.position.weight[i] for i in range(tokens.shape[1])])
        total = words + F.embedding(segments, self.segment.weight) + places
        normed = F.layer_norm(total, (d,), self.norm.weight, self.norm.bias, self.norm.eps)
        return self.dropout(normed)


class TextByText(Stub):
    def forward(self, tokens, segments=None):
        rows = []
        for b in range(len(tokens)):
            vectors = []
            for n, token in enumerate(tokens[b]):
                kind = 0 if segments is None else segments[b, n]
                x = self.token.weight[token] + self.segment.weight[kind]
                vectors.append(self.norm(x + self.position.weight[n]))
            rows.append(torch.stack(vectors))
        return self.dropout(torch.stack(rows))


class Wide(AsInTheEquation):
    def forward(self, tokens, segments=None):
        return super().forward(tokens, segments).double()


RIGHT = [AsInTheEquation, FirstRows, FunctionalWithOneHots, TextByText, Wide]

# Wrong


class Pieces(Stub):
    """The parts; each wrong answer replaces one."""

    def kinds(self, tokens, segments):
        return torch.zeros_like(tokens) if segments is None else segments

    def places(self, tokens):
        return torch.arange(tokens.shape[1])

    def total(self, tokens, segments):
        kinds = self.segment(self.kinds(tokens, segments))
        return self.token(tokens) + kinds + self.position(self.places(tokens))

    def forward(self, tokens, segments=None):
        return self.dropout(self.norm(self.total(tokens, segments)))


class SegmentsAreNeeded(Pieces):
    def forward(self, tokens, segments):
        return super().forward(tokens, segments)


class TwoSegmentsOnly(Pieces):
    def kinds(self, tokens, segments):
        return super().kinds(tokens, segments).clamp(max=1)


class EpsOfTorch(Pieces):
    def forward(self, tokens, segments=None):
        x = self.total(tokens, segments)
        x = F.layer_norm(x, x.shape[-1:], self.norm.weight, self.norm.bias)
        return self.dropout(x)


class EpsOfTwelve(Pieces):
    def forward(self, tokens, segments=None):
        x = self.total(tokens, segments)
        x = F.layer_norm(x, x.shape[-1:], self.norm.weight, self.norm.bias, 1e-12)
        return self.dropout(x)


class DropoutBeforeTheNorm(Pieces):
    def forward(self, tokens, segments=None):
        return self.norm(self.dropout(self.total(tokens, segments)))


class KeepsThePositions(Pieces):
    def places(self, tokens):
        if not hasattr(self, "kept"):
            self.kept = torch.arange(tokens.shape[1])
        return self.kept


WRONG = [
    SegmentsAreNeeded,
    TwoSegmentsOnly,
    EpsOfTorch,
    EpsOfTwelve,
    DropoutBeforeTheNorm,
    KeepsThePositions,
]
