"""Answers to `SequenceClassifier`."""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import nn
from tqdm.auto import tqdm


class Stub(nn.Module):
    """What the stub gives: the layers."""

    def __init__(self, encoder, hidden_size, classes, dropout=0.0):
        super().__init__()
        self.encoder = encoder
        self.pooler = nn.Linear(hidden_size, hidden_size)
        self.output = nn.Linear(hidden_size, classes)
        self.dropout = nn.Dropout(dropout)


# Right


class Plain(Stub):
    def forward(self, tokens, segments=None):
        first = self.encoder(tokens, segments)[:, 0]
        return self.output(self.dropout(torch.tanh(self.pooler(first))))


class WithMatrices(Stub):
    def forward(self, tokens, segments=None):
        states = self.encoder(tokens=tokens, segments=segments)
        c = (states[:, 0, :] @ self.pooler.weight.mT + self.pooler.bias).tanh()
        return self.dropout(c) @ self.output.weight.mT + self.output.bias


class WithEinsum(Stub):
    def forward(self, tokens, segments=None):
        h = self.encoder(tokens, segments).select(1, 0)
        c = torch.einsum("bd,od->bo", h, self.pooler.weight) + self.pooler.bias
        c = F.dropout(torch.tanh(c), self.dropout.p, self.training)
        return torch.einsum("bd,cd->bc", c, self.output.weight) + self.output.bias


class PoolsEverything(Stub):
    """Much work for nothing, and right."""

    def forward(self, tokens, segments=None):
        states = self.encoder(tokens, segments)
        return self.output(self.dropout(self.pooler(states).tanh()))[:, 0]


class TextByText(Stub):
    def forward(self, tokens, segments=None):
        rows = []
        for i in range(len(tokens)):
            own = None if segments is None else segments[i : i + 1]
            state = self.encoder(tokens[i : i + 1], own)[0, 0]
            rows.append(self.output(self.dropout(self.pooler(state).tanh())))
        return torch.stack(rows)


class SegmentsOfZero(Stub):
    def forward(self, tokens, segments=None):
        if segments is None:
            segments = torch.zeros(tokens.shape, dtype=torch.long)
        cls, *_ = self.encoder(tokens, segments).unbind(1)
        x = self.pooler(cls)
        return self.output(2 * torch.sigmoid(2 * x) - 1)


class WithSequential(Stub):
    def forward(self, tokens, segments=None):
        head = nn.Sequential(self.pooler, nn.Tanh(), self.dropout, self.output)
        return head(self.encoder(tokens, segments)[..., 0, :])


class Talkative(Stub):
    def forward(self, tokens, segments=None):
        warnings.warn("classifying", stacklevel=1)
        print(tokens.shape)
        c = torch.tanh(self.pooler(self.encoder(tokens, segments)[:, 0]))
        return torch.stack([self.output(row) for row in tqdm(c, file=sys.stderr)])


class Wide(Stub):
    """Returns float64 whatever its dtype."""

    def forward(self, tokens, segments=None):
        c = torch.tanh(self.pooler(self.encoder(tokens, segments)[:, 0]))
        return c.double() @ self.output.weight.double().T + self.output.bias.double()


RIGHT = [
    Plain,
    WithMatrices,
    WithEinsum,
    PoolsEverything,
    TextByText,
    SegmentsOfZero,
    WithSequential,
    Talkative,
    Wide,
]

# Wrong


class Pieces(Stub):
    """The right classifier in pieces."""

    def read(self, tokens, segments):
        return self.encoder(tokens, segments)

    def choose(self, states):
        return states[:, 0]

    def pool(self, state):
        return torch.tanh(self.pooler(state))

    def score(self, c):
        return self.output(c)

    def forward(self, tokens, segments=None):
        return self.score(self.pool(self.choose(self.read(tokens, segments))))


class EncoderDetached(Pieces):
    """Nothing below the classifier learns."""

    def read(self, tokens, segments):
        with torch.no_grad():
            return super().read(tokens, segments)


class FirstTokenAlone(Pieces):
    """[CLS] is read without the others."""

    def read(self, tokens, segments):
        return super().read(tokens[:, :1], None if segments is None else segments[:, :1])


class SegmentsInverted(Pieces):
    def read(self, tokens, segments):
        return super().read(tokens, None if segments is None else 1 - segments)


class SegmentsAreOnes(Pieces):
    def read(self, tokens, segments):
        return super().read(tokens, torch.ones_like(tokens) if segments is None else segments)


class SegmentsRequired(Pieces):
    def forward(self, tokens, segments):
        return super().forward(tokens, segments)


class SegmentsFirst(Pieces):
    def read(self, tokens, segments):
        return super().read(tokens if segments is None else segments, tokens % 2)


class AskedForAMask(Pieces):
    """The encoder is not told here what padding is."""

    def read(self, tokens, segments):
        return self.encoder(tokens, segments, tokens != 0)


class SecondToken(Pieces):
    def choose(self, states):
        return states[:, min(1, states.shape[1] - 1)]


class FirstText(Pieces):
    def choose(self, states):
        return states[0]


class SumOfStates(Pieces):
    def choose(self, states):
        return states.sum(1)


class FirstAndMean(Pieces):
    def choose(self, states):
        return (states[:, 0] + states.mean(1)) / 2


class AxisKept(Pieces):
    def choose(self, states):
        return states[:, :1]


class PoolerTransposed(Pieces):
    def pool(self, state):
        return torch.tanh(state @ self.pooler.weight + self.pooler.bias)


class PoolerWithoutBias(Pieces):
    def pool(self, state):
        return torch.tanh(state @ self.pooler.weight.T)


class PoolerWithGelu(Pieces):
    def pool(self, state):
        return F.gelu(self.pooler(state))


class PoolerResidual(Pieces):
    def pool(self, state):
        return state + torch.tanh(self.pooler(state))


class PoolerTwice(Pieces):
    def pool(self, state):
        return torch.tanh(self.pooler(torch.tanh(self.pooler(state))))


class TanhAlone(Pieces):
    def pool(self, state):
        return torch.tanh(state)


class TanhTwice(Pieces):
    def pool(self, state):
        return torch.tanh(torch.tanh(self.pooler(state)))


class OutputWithoutBias(Pieces):
    def score(self, c):
        return c @ self.output.weight.T


class OutputWithTanh(Pieces):
    def score(self, c):
        return torch.tanh(self.output(c))


class LogProbabilities(Pieces):
    def score(self, c):
        return F.log_softmax(self.output(c), -1)


class Sigmoids(Pieces):
    def score(self, c):
        return self.output(c).sigmoid()


class BestClass(Pieces):
    def score(self, c):
        return self.output(c).argmax(-1)


class Squeezed(Pieces):
    def score(self, c):
        return self.output(c).squeeze()


class DropoutLeftOn(Pieces):
    def pool(self, state):
        return F.dropout(super().pool(state), 0.1)


class KeepsTheStates(Pieces):
    kept = None

    def read(self, tokens, segments):
        if self.kept is None or self.kept.shape[:2] != tokens.shape:
            self.kept = super().read(tokens, segments)
        return self.kept


class InsideTheEncoder(Pieces):
    """Takes for granted that the encoder is that of pretraining.ipynb."""

    def read(self, tokens, segments):
        x = self.encoder.embeddings(tokens, segments)
        for layer in self.encoder.layers:
            x = layer(x, (tokens != 0)[:, None])
        return x


class TokensOverwritten(Pieces):
    def forward(self, tokens, segments=None):
        found = super().forward(tokens, segments)
        tokens[:, 0] = 0
        tokens += 1
        return found


class In32(Pieces):
    def score(self, c):
        return super().score(c).float()


class ReturnsTheStatesToo(Pieces):
    def forward(self, tokens, segments=None):
        states = self.read(tokens, segments)
        return self.score(self.pool(self.choose(states))), states


class ReturnsNothing(Pieces):
    def forward(self, tokens, segments=None):
        super().forward(tokens, segments)


WRONG = [
    EncoderDetached,
    FirstTokenAlone,
    SegmentsInverted,
    SegmentsAreOnes,
    SegmentsRequired,
    SegmentsFirst,
    AskedForAMask,
    SecondToken,
    FirstText,
    SumOfStates,
    FirstAndMean,
    AxisKept,
    PoolerTransposed,
    PoolerWithoutBias,
    PoolerWithGelu,
    PoolerResidual,
    PoolerTwice,
    TanhAlone,
    TanhTwice,
    OutputWithoutBias,
    OutputWithTanh,
    LogProbabilities,
    Sigmoids,
    BestClass,
    Squeezed,
    DropoutLeftOn,
    KeepsTheStates,
    InsideTheEncoder,
    TokensOverwritten,
    In32,
    ReturnsTheStatesToo,
    ReturnsNothing,
]
