"""Answers to `BertEncoder`."""

import sys
import warnings
from functools import reduce

import torch
import torch.nn.functional as F
from torch import nn
from tqdm.auto import tqdm


class Stub(nn.Module):
    """What the stub gives: the parts."""

    def __init__(self, embeddings, layers, pad_id=0):
        super().__init__()
        self.pad_id = pad_id
        self.embeddings = embeddings
        self.layers = nn.ModuleList(layers)


# Right


class Plain(Stub):
    def forward(self, tokens, segments=None, mask=None):
        if mask is None:
            mask = (tokens != self.pad_id)[:, None, :]
        x = self.embeddings(tokens, segments)
        for layer in self.layers:
            x = layer(x, mask)
        return x


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


class ZerosOnPadding(Stub):
    """What stands at padding is nobody's business."""

    def forward(self, tokens, segments=None, mask=None):
        real = tokens != self.pad_id
        if mask is None:
            mask = real.unsqueeze(1)
        x = self.embeddings(tokens, segments)
        for layer in self.layers:
            x = layer(x, mask)
        return x * real.unsqueeze(-1)


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


class Recursive(Stub):
    def _up(self, x, mask, level):
        if level == len(self.layers):
            return x
        return self._up(self.layers[level](x, mask), mask, level + 1)

    def forward(self, tokens, segments=None, mask=None):
        if mask is None:
            return self.forward(tokens, segments, (tokens != self.pad_id).unsqueeze(1))
        return self._up(self.embeddings(tokens, segments), mask, 0)


class Talkative(Stub):
    def forward(self, tokens, segments=None, mask=None):
        warnings.warn("encoding", stacklevel=1)
        if mask is None:
            print("no mask")
            mask = (tokens != self.pad_id).unsqueeze(1)
        x = self.embeddings(tokens, segments)
        for layer in tqdm(self.layers, file=sys.stderr):
            x = layer(x, mask)
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


RIGHT = [
    Plain,
    Reduced,
    FullMask,
    ZerosOnPadding,
    OneSentenceAtATime,
    SegmentsOfZero,
    Recursive,
    Talkative,
    Wide,
]

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


class MaskOfTwoAxes(Pieces):
    """(B, N): read as (N, N) where B is N."""

    def see(self, tokens, mask):
        return tokens != self.pad_id if mask is None else mask


class MaskWithHeads(Pieces):
    """(B, 1, 1, N), as for scores that have an axis of heads."""

    def see(self, tokens, mask):
        return super().see(tokens, mask).unsqueeze(1)


class MaskOfFloats(Pieces):
    def see(self, tokens, mask):
        return super().see(tokens, mask).float()


class MaskOfMinusInfinity(Pieces):
    """What is added to scores in other code."""

    def see(self, tokens, mask):
        seen = super().see(tokens, mask)
        return torch.zeros(seen.shape).masked_fill(~seen, -1e9)


class MaskOfIds(Pieces):
    def see(self, tokens, mask):
        return tokens.unsqueeze(1) if mask is None else mask


class MaskLargerIds(Pieces):
    """Right if padding has the smallest id."""

    def see(self, tokens, mask):
        return (tokens > self.pad_id).unsqueeze(1) if mask is None else mask


class MaskInvertedAlways(Pieces):
    def see(self, tokens, mask):
        return ~super().see(tokens, mask)


class MaskWithoutOneself(Pieces):
    def see(self, tokens, mask):
        return super().see(tokens, mask) & ~torch.eye(tokens.shape[1], dtype=torch.bool)


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


class SegmentsInverted(Pieces):
    def embed(self, tokens, segments):
        return self.embeddings(tokens, None if segments is None else 1 - segments)


class SegmentsAreOnes(Pieces):
    def embed(self, tokens, segments):
        return self.embeddings(tokens, torch.ones_like(tokens) if segments is None else segments)


class SegmentsRequired(Pieces):
    def forward(self, tokens, segments, mask):
        return super().forward(tokens, segments, mask)


class SegmentsAsMask(Pieces):
    def embed(self, tokens, segments):
        return self.embeddings(tokens, None if segments is None else segments.bool())


class EmbeddingsDetached(Pieces):
    def embed(self, tokens, segments):
        return super().embed(tokens, segments).detach()


class EmbeddingsScaled(Pieces):
    """By sqrt(d), as in the Transformer."""

    def embed(self, tokens, segments):
        x = super().embed(tokens, segments)
        return x * x.shape[-1] ** 0.5


class EmbeddingsNormalised(Pieces):
    """Once more: the embeddings have their own LayerNorm."""

    def embed(self, tokens, segments):
        x = super().embed(tokens, segments)
        return F.layer_norm(x, x.shape[-1:])


class FirstLayerAlone(Pieces):
    def climb(self, x, mask):
        return self.layers[0](x, mask) if len(self.layers) else x


class LastLayerLeftOut(Pieces):
    def climb(self, x, mask):
        for layer in self.layers[:-1]:
            x = layer(x, mask)
        return x


class FirstLayerRepeated(Pieces):
    """One layer again and again."""

    def climb(self, x, mask):
        for _ in self.layers:
            x = self.layers[0](x, mask)
        return x


class MaskInTheFirstLayerAlone(Pieces):
    def climb(self, x, mask):
        for i, layer in enumerate(self.layers):
            x = layer(x, mask if i == 0 else torch.ones_like(mask))
        return x


class MeanOfTheLayers(Pieces):
    def climb(self, x, mask):
        found = [x]
        for layer in self.layers:
            found.append(layer(found[-1], mask))
        return torch.stack(found).mean(0)


class NeedsALayer(Pieces):
    def climb(self, x, mask):
        for layer in self.layers:
            found = x = layer(x, mask)
        return found


class AllStates(Pieces):
    """One for each layer."""

    def climb(self, x, mask):
        found = [x]
        for layer in self.layers:
            found.append(layer(found[-1], mask))
        return torch.stack(found)


class FirstStateAlone(Pieces):
    def climb(self, x, mask):
        return super().climb(x, mask)[:, 0]


class LayersDetached(Pieces):
    def climb(self, x, mask):
        for layer in self.layers:
            x = layer(x.detach(), mask)
        return x


class Activated(Pieces):
    def climb(self, x, mask):
        for layer in self.layers:
            x = torch.tanh(layer(x, mask))
        return x


class DropoutLeftOn(Pieces):
    def climb(self, x, mask):
        return F.dropout(super().climb(x, mask), 0.1)


class KeepsTheMask(Pieces):
    kept = None

    def see(self, tokens, mask):
        if self.kept is None or self.kept.shape[-1] != tokens.shape[1]:
            self.kept = super().see(tokens, mask)
        return self.kept


class TokensOverwritten(Pieces):
    def forward(self, tokens, segments=None, mask=None):
        found = super().forward(tokens, segments, mask)
        tokens[tokens == self.pad_id] = 1
        return found


class InsideTheEmbeddings(Pieces):
    """Takes for granted that the embeddings are those of inputs.ipynb."""

    def embed(self, tokens, segments):
        return self.embeddings.token(tokens) + super().embed(tokens, segments)


class In32(Pieces):
    def climb(self, x, mask):
        return super().climb(x, mask).float()


class ReturnsAPair(Pieces):
    def forward(self, tokens, segments=None, mask=None):
        states = super().forward(tokens, segments, mask)
        return states, states[:, 0]


class ReturnsNothing(Pieces):
    def forward(self, tokens, segments=None, mask=None):
        super().forward(tokens, segments, mask)


WRONG = [
    MaskOfTwoAxes,
    MaskWithHeads,
    MaskOfFloats,
    MaskOfMinusInfinity,
    MaskOfIds,
    MaskLargerIds,
    MaskInvertedAlways,
    MaskWithoutOneself,
    MaskBothWays,
    MaskFromSegments,
    SegmentsInverted,
    SegmentsAreOnes,
    SegmentsRequired,
    SegmentsAsMask,
    EmbeddingsDetached,
    EmbeddingsScaled,
    EmbeddingsNormalised,
    FirstLayerAlone,
    LastLayerLeftOut,
    FirstLayerRepeated,
    MaskInTheFirstLayerAlone,
    MeanOfTheLayers,
    NeedsALayer,
    AllStates,
    FirstStateAlone,
    LayersDetached,
    Activated,
    DropoutLeftOn,
    KeepsTheMask,
    TokensOverwritten,
    InsideTheEmbeddings,
    In32,
    ReturnsAPair,
    ReturnsNothing,
]
