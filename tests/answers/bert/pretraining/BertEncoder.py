"""Answers to `BertEncoder`."""

from functools import reduce

import torch

from tests.answers.stubs import stub

Stub = stub("BertEncoder")

# Right


class Reduced(Stub):
    def forward(self, tokens, segments=None, mask=None):
        mask = tokens.ne(self.pad_id).unsqueeze(1) if mask is None else mask
        first = self.embeddings(tokens=tokens, segments=segments)
        return reduce(lambda x, layer: layer(x=x, mask=mask), self.layers, first)


class FullMask(Stub):
    """The mask written out for all pairs of tokens."""

    def forward(self, tokens, segments=None, mask=None):
        B, N = tokens.shape
        if mask is None:
            mask = torch.ne(tokens, self.pad_id).unsqueeze(-2)
        mask = mask.expand(B, N, N)
        states = [self.embeddings(tokens, segments)]
        for i in range(len(self.layers)):
            states.append(self.layers[i](states[-1], mask))
        return states[-1]


class OneSentenceAtATime(Stub):
    def forward(self, tokens, segments=None, mask=None):
        rows = []
        for i in range(len(tokens)):
            part = slice(i, i + 1)
            seen = (tokens[part] != self.pad_id)[:, None] if mask is None else mask[part]
            x = self.embeddings(tokens[part], None if segments is None else segments[part])
            for layer in self.layers:
                x = layer(x, seen)
            rows.append(x[0])
        return torch.stack(rows)


class SegmentsOfZero(Stub):
    """No segments are segments of 0."""

    def forward(self, tokens, segments=None, mask=None):
        segments = torch.zeros_like(tokens) if segments is None else segments
        real = ~(tokens == self.pad_id)
        seen = real[:, None, :] if mask is None else mask
        x = self.embeddings(tokens, segments)
        for _, layer in self.layers.named_children():
            x = layer.forward(x, seen)
        return x


class Wide(Stub):
    """Returns float64 whatever its dtype."""

    def forward(self, tokens, segments=None, mask=None):
        if mask is None:
            mask = (tokens != self.pad_id).unsqueeze(1)
        x = self.embeddings(tokens, segments)
        for layer in self.layers:
            x = layer(x, mask)
        return x.double()


RIGHT = [Reduced, FullMask, OneSentenceAtATime, SegmentsOfZero, Wide]

# Wrong


class Pieces(Stub):
    """The right encoder in pieces."""

    def embed(self, tokens, segments):
        return self.embeddings(tokens, segments)

    def see(self, tokens, mask):
        return (tokens != self.pad_id).unsqueeze(1) if mask is None else mask

    def climb(self, x, mask):
        for layer in self.layers:
            x = layer(x, mask)
        return x

    def forward(self, tokens, segments=None, mask=None):
        return self.climb(self.embed(tokens, segments), self.see(tokens, mask))


class MaskBothWays(Pieces):
    """Padding may neither look nor be looked at, and a given mask loses rows too."""

    def see(self, tokens, mask):
        seen = super().see(tokens, mask)
        return seen & seen.transpose(-1, -2)


class MaskFromSegments(Pieces):
    """Each sentence sees itself alone."""

    def forward(self, tokens, segments=None, mask=None):
        mask = self.see(tokens, mask)
        if segments is not None:
            mask = mask & (segments[:, None] == segments[:, :, None])
        return self.climb(self.embed(tokens, segments), mask)


class SegmentsAreOnes(Pieces):
    def embed(self, tokens, segments):
        return self.embeddings(tokens, torch.ones_like(tokens) if segments is None else segments)


class NeedsALayer(Pieces):
    def climb(self, x, mask):
        for layer in self.layers:
            found = x = layer(x, mask)
        return found


class KeepsTheMask(Pieces):
    kept = None

    def see(self, tokens, mask):
        if self.kept is None or self.kept.shape[-1] != tokens.shape[1]:
            self.kept = super().see(tokens, mask)
        return self.kept


WRONG = [MaskBothWays, MaskFromSegments, SegmentsAreOnes, NeedsALayer, KeepsTheMask]
