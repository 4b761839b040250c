"""Answers to `TokenClassifier`."""

import torch
import torch.nn.functional as F

from tests.answers.stubs import stub

Stub = stub("TokenClassifier")

# Right


class WithEinsum(Stub):
    def forward(self, tokens, segments=None):
        h = F.dropout(self.encoder(tokens, segments), self.dropout.p, self.training)
        return torch.einsum("bnd,cd->bnc", h, self.output.weight) + self.output.bias


class Flat(Stub):
    """All tokens of the batch in one row, and back."""

    def forward(self, tokens, segments=None):
        states = self.encoder(tokens, segments)
        return self.output(self.dropout(states.flatten(0, 1))).unflatten(0, tokens.shape)


class TokenByToken(Stub):
    def forward(self, tokens, segments=None):
        columns = self.encoder(tokens, segments).unbind(1)
        return torch.stack([self.output(self.dropout(h)) for h in columns], dim=1)


class AsConvolution(Stub):
    """A linear layer on each token is a convolution of width 1."""

    def forward(self, tokens, segments=None):
        states = self.dropout(self.encoder(tokens, segments)).transpose(1, 2)
        return F.conv1d(states, self.output.weight.unsqueeze(-1), self.output.bias).mT


class Wide(Stub):
    """Returns float64 whatever its dtype."""

    def forward(self, tokens, segments=None):
        h = self.dropout(self.encoder(tokens, segments)).double()
        return h @ self.output.weight.double().T + self.output.bias.double()


RIGHT = [WithEinsum, Flat, TokenByToken, AsConvolution, Wide]

# Wrong


class Pieces(Stub):
    """The right classifier in pieces."""

    def read(self, tokens, segments):
        return self.encoder(tokens, segments)

    def change(self, states):
        return states

    def score(self, states):
        return self.output(self.dropout(states))

    def forward(self, tokens, segments=None):
        return self.score(self.change(self.read(tokens, segments)))


class SegmentsAreOnes(Pieces):
    def read(self, tokens, segments):
        return super().read(tokens, torch.ones_like(tokens) if segments is None else segments)


class SegmentsRequired(Pieces):
    def forward(self, tokens, segments):
        return super().forward(tokens, segments)


class KeepsTheStates(Pieces):
    kept = None

    def read(self, tokens, segments):
        if self.kept is None or self.kept.shape[:2] != tokens.shape:
            self.kept = super().read(tokens, segments)
        return self.kept


class TokensOverwritten(Pieces):
    def forward(self, tokens, segments=None):
        found = super().forward(tokens, segments)
        tokens += 1
        return found


class In32(Pieces):
    def score(self, states):
        return super().score(states).float()


WRONG = [SegmentsAreOnes, SegmentsRequired, KeepsTheStates, TokensOverwritten, In32]
