"""Answers to `BertEmbeddings`."""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Stub(nn.Module):
    """What the stub gives: the parameters."""

    def __init__(
        self,
        vocabulary_size: int,
        hidden_size: int,
        max_length: int = 512,
        segments: int = 2,
        dropout: float = 0.0,
        eps: float = 1e-12,
    ):
        super().__init__()
        self.token = nn.Embedding(vocabulary_size, hidden_size)
        self.segment = nn.Embedding(segments, hidden_size)
        self.position = nn.Embedding(max_length, hidden_size)
        self.norm = nn.LayerNorm(hidden_size, eps=eps)
        self.dropout = nn.Dropout(dropout)


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


class NormByHand(Stub):
    def forward(self, tokens, segments=None):
        kinds = tokens * 0 if segments is None else segments
        x = self.token.weight[tokens] + self.segment.weight[kinds]
        x = x + self.position.weight[None, : x.size(1)]
        mean = x.mean(-1, keepdim=True)
        variance = ((x - mean) ** 2).mean(-1, keepdim=True)
        x = (x - mean) / torch.sqrt(variance + self.norm.eps)
        return self.dropout(x * self.norm.weight + self.norm.bias)


class FunctionalWithOneHots(Stub):
    def forward(self, tokens, segments=None):
        V, d = self.token.weight.shape
        words = F.one_hot(tokens, V).to(self.token.weight.dtype) @ self.token.weight
        if segments is None:
            segments = tokens.new_zeros(tokens.shape)
        places = torch.stack([self.position.weight[i] for i in range(tokens.shape[1])])
        total = words + F.embedding(segments, self.segment.weight) + places
        return F.layer_norm(total, (d,), self.norm.weight, self.norm.bias, self.norm.eps)


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


class Talkative(AsInTheEquation):
    def forward(self, tokens, segments=None):
        warnings.warn("embedding", stacklevel=1)
        print(tokens.shape, file=sys.stderr)
        return super().forward(tokens, segments)


class Wide(AsInTheEquation):
    def forward(self, tokens, segments=None):
        return super().forward(tokens, segments).double()


RIGHT = [
    AsInTheEquation,
    FirstRows,
    NormByHand,
    FunctionalWithOneHots,
    TextByText,
    Talkative,
    Wide,
]

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
        return self.norm(self.total(tokens, segments))


class SegmentOneByDefault(Pieces):
    def kinds(self, tokens, segments):
        return torch.ones_like(tokens) if segments is None else segments


class SegmentsTurned(Pieces):
    def kinds(self, tokens, segments):
        kinds = super().kinds(tokens, segments)
        return self.segment.num_embeddings - 1 - kinds


class SegmentsAreNeeded(Pieces):
    def forward(self, tokens, segments):
        return super().forward(tokens, segments)


class SegmentOfTheFirstText(Pieces):
    def kinds(self, tokens, segments):
        return super().kinds(tokens, segments)[:1]


class TwoSegmentsOnly(Pieces):
    def kinds(self, tokens, segments):
        return super().kinds(tokens, segments).clamp(max=1)


class PositionsFromOne(Pieces):
    def places(self, tokens):
        return (torch.arange(tokens.shape[1]) + 1) % self.position.num_embeddings


class PositionOfTheToken(Pieces):
    def places(self, tokens):
        return tokens % self.position.num_embeddings


class PositionsCountRealTokens(Pieces):
    """Tokens of id 0 count as padding and do not move the position on."""

    def places(self, tokens):
        return (tokens != 0).cumsum(1).sub(1).clamp(min=0)


class PositionsInEachSegment(Pieces):
    def total(self, tokens, segments):
        kinds = self.kinds(tokens, segments)
        first = torch.cat([torch.ones_like(kinds[:, :1]), kinds.diff(dim=1)], 1) != 0
        places = torch.arange(tokens.shape[1]).expand_as(tokens)
        begin = (places * first).cummax(1).values
        return self.token(tokens) + self.segment(kinds) + self.position(places - begin)


class OnePositionForAll(Pieces):
    def places(self, tokens):
        return torch.zeros(tokens.shape[1], dtype=torch.long)


class PositionMultiplied(Pieces):
    def total(self, tokens, segments):
        x = self.token(tokens) + self.segment(self.kinds(tokens, segments))
        return x * self.position(self.places(tokens))


class Mean(Pieces):
    """The mean of three: the norm takes no notice, but for eps."""

    def total(self, tokens, segments):
        return super().total(tokens, segments) / 3


class ZeroIsPadding(Pieces):
    def total(self, tokens, segments):
        return super().total(tokens, segments) * (tokens != 0).unsqueeze(-1)


class EpsOfTorch(Pieces):
    def forward(self, tokens, segments=None):
        x = self.total(tokens, segments)
        return F.layer_norm(x, x.shape[-1:], self.norm.weight, self.norm.bias)


class EpsOfTwelve(Pieces):
    def forward(self, tokens, segments=None):
        x = self.total(tokens, segments)
        return F.layer_norm(x, x.shape[-1:], self.norm.weight, self.norm.bias, 1e-12)


class UnbiasedVariance(Pieces):
    def forward(self, tokens, segments=None):
        x = self.total(tokens, segments)
        x = (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + self.norm.eps).sqrt()
        return x * self.norm.weight + self.norm.bias


class EpsOutsideTheRoot(Pieces):
    def forward(self, tokens, segments=None):
        x = self.total(tokens, segments)
        centred = x - x.mean(-1, keepdim=True)
        spread = centred.square().mean(-1, keepdim=True).sqrt() + self.norm.eps
        return centred / spread * self.norm.weight + self.norm.bias


class NormWithoutItsParameters(Pieces):
    def forward(self, tokens, segments=None):
        x = self.total(tokens, segments)
        return F.layer_norm(x, x.shape[-1:], eps=self.norm.eps)


class NormOverTokens(Pieces):
    def forward(self, tokens, segments=None):
        x = self.total(tokens, segments)
        mean = x.mean((1, 2), keepdim=True)
        variance = x.var((1, 2), keepdim=True, unbiased=False)
        x = (x - mean) / (variance + self.norm.eps).sqrt()
        return x * self.norm.weight + self.norm.bias


class NormTwice(Pieces):
    def forward(self, tokens, segments=None):
        return self.norm(super().forward(tokens, segments))


class NormThenSegment(Pieces):
    def forward(self, tokens, segments=None):
        x = self.norm(self.token(tokens) + self.position(self.places(tokens)))
        return x + self.segment(self.kinds(tokens, segments))


class NoGradientToPositions(Pieces):
    def total(self, tokens, segments):
        x = self.token(tokens) + self.segment(self.kinds(tokens, segments))
        return x + self.position(self.places(tokens)).detach()


class Concatenated(Pieces):
    def forward(self, tokens, segments=None):
        kinds = self.segment(self.kinds(tokens, segments))
        places = self.position(self.places(tokens)).expand_as(kinds)
        return torch.cat([self.token(tokens), kinds, places], -1)


class SequenceFirst(Pieces):
    def forward(self, tokens, segments=None):
        return super().forward(tokens, segments).transpose(0, 1)


class KeepsThePositions(Pieces):
    def places(self, tokens):
        if not hasattr(self, "kept"):
            self.kept = torch.arange(tokens.shape[1])
        return self.kept


WRONG = [
    SegmentOneByDefault,
    SegmentsTurned,
    SegmentsAreNeeded,
    SegmentOfTheFirstText,
    TwoSegmentsOnly,
    PositionsFromOne,
    PositionOfTheToken,
    PositionsCountRealTokens,
    PositionsInEachSegment,
    OnePositionForAll,
    PositionMultiplied,
    Mean,
    ZeroIsPadding,
    EpsOfTorch,
    EpsOfTwelve,
    UnbiasedVariance,
    EpsOutsideTheRoot,
    NormWithoutItsParameters,
    NormOverTokens,
    NormTwice,
    NormThenSegment,
    NoGradientToPositions,
    Concatenated,
    SequenceFirst,
    KeepsThePositions,
]
