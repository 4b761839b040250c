"""Answers to `SequenceClassifier`."""

import torch
import torch.nn.functional as F
from torch import nn

from tests.answers.stubs import stub

Stub = stub("SequenceClassifier")

# Right


class WithEinsum(Stub):
    def forward(self, tokens, segments=None):
        h = self.encoder(tokens, segments).select(1, 0)
        c = torch.einsum("bd,od->bo", h, self.pooler.weight) + self.pooler.bias
        c = F.dropout(torch.tanh(c), self.dropout.p, self.training)
        return torch.einsum("bd,cd->bc", c, self.output.weight) + self.output.bias


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
        return self.output(self.dropout(2 * torch.sigmoid(2 * x) - 1))


class WithSequential(Stub):
    def forward(self, tokens, segments=None):
        head = nn.Sequential(self.pooler, nn.Tanh(), self.dropout, self.output)
        return head(self.encoder(tokens, segments)[..., 0, :])


class Wide(Stub):
    """Returns float64 whatever its dtype."""

    def forward(self, tokens, segments=None):
        c = torch.tanh(self.pooler(self.encoder(tokens, segments)[:, 0]))
        return self.dropout(c).double() @ self.output.weight.double().T + self.output.bias.double()


RIGHT = [WithEinsum, TextByText, SegmentsOfZero, WithSequential, Wide]

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
        return self.output(self.dropout(c))

    def forward(self, tokens, segments=None):
        return self.score(self.pool(self.choose(self.read(tokens, segments))))


class SegmentsInverted(Pieces):
    def read(self, tokens, segments):
        return super().read(tokens, None if segments is None else 1 - segments)


class SegmentsAreOnes(Pieces):
    def read(self, tokens, segments):
        return super().read(tokens, torch.ones_like(tokens) if segments is None else segments)


class SegmentsRequired(Pieces):
    def forward(self, tokens, segments):
        return super().forward(tokens, segments)


class Squeezed(Pieces):
    def score(self, c):
        return self.output(self.dropout(c)).squeeze()


class KeepsTheStates(Pieces):
    kept = None

    def read(self, tokens, segments):
        if self.kept is None or self.kept.shape[:2] != tokens.shape:
            self.kept = super().read(tokens, segments)
        return self.kept


WRONG = [SegmentsInverted, SegmentsAreOnes, SegmentsRequired, Squeezed, KeepsTheStates]
