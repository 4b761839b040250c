"""Answers to `TokenClassifier`."""

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
        self.output = nn.Linear(hidden_size, classes)
        self.dropout = nn.Dropout(dropout)


# Right


class Plain(Stub):
    def forward(self, tokens, segments=None):
        return self.output(self.dropout(self.encoder(tokens, segments)))


class WithMatrices(Stub):
    def forward(self, tokens, segments=None):
        states = self.dropout(self.encoder(tokens=tokens, segments=segments))
        return states @ self.output.weight.T + self.output.bias


class WithEinsum(Stub):
    def forward(self, tokens, segments=None):
        h = F.dropout(self.encoder(tokens, segments), self.dropout.p, self.training)
        return torch.einsum("bnd,cd->bnc", h, self.output.weight) + self.output.bias


class Flat(Stub):
    """All tokens of the batch in one row, and back."""

    def forward(self, tokens, segments=None):
        states = self.encoder(tokens, segments)
        return self.output(states.flatten(0, 1)).unflatten(0, tokens.shape)


class TokenByToken(Stub):
    def forward(self, tokens, segments=None):
        columns = self.encoder(tokens, segments).unbind(1)
        return torch.stack([self.output(self.dropout(h)) for h in columns], dim=1)


class TextByText(Stub):
    def forward(self, tokens, segments=None):
        if segments is None:
            segments = torch.zeros_like(tokens)
        pairs = zip(tokens, segments, strict=True)
        rows = [self.encoder(ids[None], parts[None])[0] for ids, parts in pairs]
        return torch.stack([self.output(row) for row in rows])


class AsConvolution(Stub):
    """A linear layer on each token is a convolution of width 1."""

    def forward(self, tokens, segments=None):
        states = self.encoder(tokens, segments).transpose(1, 2)
        return F.conv1d(states, self.output.weight.unsqueeze(-1), self.output.bias).mT


class Talkative(Stub):
    def forward(self, tokens, segments=None):
        warnings.warn("tagging", stacklevel=1)
        print(tokens.shape)
        states = self.encoder(tokens, segments)
        return torch.stack([self.output(text) for text in tqdm(states, file=sys.stderr)])


class Wide(Stub):
    """Returns float64 whatever its dtype."""

    def forward(self, tokens, segments=None):
        h = self.encoder(tokens, segments).double()
        return h @ self.output.weight.double().T + self.output.bias.double()


RIGHT = [
    Plain,
    WithMatrices,
    WithEinsum,
    Flat,
    TokenByToken,
    TextByText,
    AsConvolution,
    Talkative,
    Wide,
]

# Wrong


class Pieces(Stub):
    """The right classifier in pieces."""

    def read(self, tokens, segments):
        return self.encoder(tokens, segments)

    def change(self, states):
        return states

    def score(self, states):
        return self.output(states)

    def forward(self, tokens, segments=None):
        return self.score(self.change(self.read(tokens, segments)))


class EncoderDetached(Pieces):
    def read(self, tokens, segments):
        return super().read(tokens, segments).detach()


class EachTokenAlone(Pieces):
    """Read without the others."""

    def read(self, tokens, segments):
        parts = torch.zeros_like(tokens) if segments is None else segments
        found = super().read(tokens.reshape(-1, 1), parts.reshape(-1, 1))
        return found.reshape(*tokens.shape, -1)


class SegmentsInverted(Pieces):
    def read(self, tokens, segments):
        return super().read(tokens, None if segments is None else 1 - segments)


class SegmentsAreOnes(Pieces):
    def read(self, tokens, segments):
        return super().read(tokens, torch.ones_like(tokens) if segments is None else segments)


class SegmentsRequired(Pieces):
    def forward(self, tokens, segments):
        return super().forward(tokens, segments)


class AskedForAMask(Pieces):
    def read(self, tokens, segments):
        return self.encoder(tokens, segments, tokens != 0)


class MeanForAll(Pieces):
    """Every token gets the mean."""

    def change(self, states):
        return states.mean(1, keepdim=True).expand_as(states)


class FirstForAll(Pieces):
    def change(self, states):
        return states[:, :1].expand_as(states)


class Shifted(Pieces):
    """The class of the token before."""

    def change(self, states):
        return states.roll(1, 1)


class Backwards(Pieces):
    def change(self, states):
        return states.flip(1)


class PaddingAtZero(Pieces):
    """An id of 0 is taken for padding, whose logits are set to 0."""

    def forward(self, tokens, segments=None):
        return super().forward(tokens, segments) * (tokens != 0).unsqueeze(-1)


class WithGelu(Pieces):
    def change(self, states):
        return F.gelu(states)


class Normalised(Pieces):
    def change(self, states):
        return F.layer_norm(states, states.shape[-1:])


class WithTheFirst(Pieces):
    def change(self, states):
        return states + states[:, :1]


class TextsAndTokensSwapped(Pieces):
    """Reshaped in the wrong order."""

    def score(self, states):
        found = self.output(states)
        B, N, C = found.shape
        return found.transpose(0, 1).reshape(B, N, C)


class Flattened(Pieces):
    def score(self, states):
        return self.output(states).flatten(0, 1)


class OutputTransposed(Pieces):
    def score(self, states):
        return states @ self.output.weight + self.output.bias


class BiasTwice(Pieces):
    def score(self, states):
        return self.output(states) + self.output.bias


class LogProbabilities(Pieces):
    def score(self, states):
        return self.output(states).log_softmax(-1)


class OverTheTokens(Pieces):
    """A softmax over the places."""

    def score(self, states):
        return self.output(states).softmax(1)


class BestClass(Pieces):
    def score(self, states):
        return self.output(states).argmax(-1)


class Squeezed(Pieces):
    def score(self, states):
        return self.output(states).squeeze()


class DropoutLeftOn(Pieces):
    def change(self, states):
        return F.dropout(states, 0.1)


class KeepsTheStates(Pieces):
    kept = None

    def read(self, tokens, segments):
        if self.kept is None or self.kept.shape[:2] != tokens.shape:
            self.kept = super().read(tokens, segments)
        return self.kept


class InsideTheEncoder(Pieces):
    """Takes for granted that the encoder is that of pretraining.ipynb."""

    def read(self, tokens, segments):
        return super().read(tokens, segments) + 0 * self.encoder.embeddings.token.weight.sum()


class TokensOverwritten(Pieces):
    def forward(self, tokens, segments=None):
        found = super().forward(tokens, segments)
        tokens += 1
        return found


class In32(Pieces):
    def score(self, states):
        return super().score(states).float()


class ReturnsNothing(Pieces):
    def forward(self, tokens, segments=None):
        super().forward(tokens, segments)


WRONG = [
    EncoderDetached,
    EachTokenAlone,
    SegmentsInverted,
    SegmentsAreOnes,
    SegmentsRequired,
    AskedForAMask,
    MeanForAll,
    FirstForAll,
    Shifted,
    Backwards,
    PaddingAtZero,
    WithGelu,
    Normalised,
    WithTheFirst,
    TextsAndTokensSwapped,
    Flattened,
    OutputTransposed,
    BiasTwice,
    LogProbabilities,
    OverTheTokens,
    BestClass,
    Squeezed,
    DropoutLeftOn,
    KeepsTheStates,
    InsideTheEncoder,
    TokensOverwritten,
    In32,
    ReturnsNothing,
]
