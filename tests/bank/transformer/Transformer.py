"""Answers to `Transformer`."""

import copy
import math
import sys
import warnings
from collections.abc import Callable, Iterable

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Stub(nn.Module):
    """What the stub gives: embedding and layers."""

    def __init__(
        self,
        vocabulary_size: int,
        model_size: int,
        positions: Callable[[int, int], Tensor],
        encoder_layers: Iterable[nn.Module],
        decoder_layers: Iterable[nn.Module],
        dropout: float = 0.0,
        pad_id: int = 0,
    ):
        super().__init__()
        self.pad_id = pad_id
        self.positions = positions
        self.embedding = nn.Embedding(vocabulary_size, model_size)
        nn.init.normal_(self.embedding.weight, std=model_size**-0.5)
        self.encoder_layers = nn.ModuleList(encoder_layers)
        self.decoder_layers = nn.ModuleList(decoder_layers)
        self.dropout = nn.Dropout(dropout)


# Right


class Plain(Stub):
    def embed(self, tokens, first=0):
        d = self.embedding.weight.shape[1]
        last = first + tokens.shape[1]
        x = self.embedding(tokens) * d**0.5 + self.positions(last, d)[first:last]
        return self.dropout(x.to(self.embedding.weight.dtype))

    def encode(self, source):
        mask = source.ne(self.pad_id)[:, None, :]
        x = self.embed(source)
        for layer in self.encoder_layers:
            x = layer(x, mask)
        return x, mask

    def forward(self, source, previous):
        memory, memory_mask = self.encode(source)
        n = previous.size(1)
        steps = torch.arange(n, device=previous.device)
        mask = (steps[None, :] <= steps[:, None]) & previous.ne(self.pad_id)[:, None, :]
        y = self.embed(previous)
        for layer in self.decoder_layers:
            y = layer(y, memory, mask, memory_mask)
        return F.linear(y, self.embedding.weight)

    def start(self, source):
        memory, memory_mask = self.encode(source)
        caches = [layer.start(memory) for layer in self.decoder_layers]
        position = source.new_zeros(len(source))
        return {"memory_mask": memory_mask, "caches": caches, "position": position}

    def step(self, tokens, state):
        y = self.embed(tokens[:, None], state["position"][0].item())
        caches = list(state["caches"])
        for i, layer in enumerate(self.decoder_layers):
            y, caches[i] = layer.step(y, caches[i], state["memory_mask"])
        log_p = F.log_softmax(F.linear(y[:, 0], self.embedding.weight), dim=-1)
        return log_p, dict(state, caches=caches, position=state["position"] + 1)


class CausalAlone(Plain):
    """Padding stands at the end of the target: the causal mask hides it from all real words."""

    def forward(self, source, previous):
        memory, memory_mask = self.encode(source)
        n = previous.shape[1]
        mask = ~torch.ones(1, n, n, dtype=torch.bool).triu(1)
        y = self.embed(previous)
        for layer in self.decoder_layers:
            y = layer(y, memory, mask, memory_mask)
        return torch.einsum("btd,vd->btv", y, self.embedding.weight)


class LongTable(Plain):
    """Makes the positions once, for longer sentences than there are."""

    def __init__(self, vocabulary_size, model_size, positions, *rest, **more):
        super().__init__(vocabulary_size, model_size, positions, *rest, **more)
        self.register_buffer("table", positions(256, model_size), persistent=False)

    def embed(self, tokens, first=0):
        places = torch.arange(first, first + tokens.shape[1])
        scale = math.sqrt(self.embedding.embedding_dim)
        return scale * self.embedding(tokens) + F.embedding(places, self.table)


class OneHot(Plain):
    def embed(self, tokens, first=0):
        table = self.embedding.weight
        n, d = tokens.shape[1], table.shape[1]
        words = F.one_hot(tokens, len(table)).to(table.dtype) @ table
        rows = [self.positions(first + t + 1, d)[-1] for t in range(n)]
        return math.sqrt(d) * words + torch.stack(rows).to(table.dtype)


class CopiedState(Plain):
    """Slices the list of caches, counts up in a copy of the state; keeps more than it must."""

    def start(self, source):
        return super().start(source) | {"words": [], "source": source}

    def step(self, tokens, state):
        new = copy.copy(state)
        new["caches"] = state["caches"][:]
        y = self.embed(tokens.reshape(-1, 1), int(state["position"].max()))
        for i, layer in enumerate(self.decoder_layers):
            y, new["caches"][i] = layer.step(y, new["caches"][i], state["memory_mask"])
        new["position"] = state["position"].clone().add_(1)
        new["words"] = [*state["words"], tokens]
        logits = (y @ self.embedding.weight.t()).squeeze(1)
        return logits - logits.logsumexp(-1, keepdim=True), new


class ForwardByPrefixes(Plain):
    """Reads each beginning of the target again, and takes what is said at its end."""

    def forward(self, source, previous):
        memory, memory_mask = self.encode(source)
        found = []
        for n in range(1, previous.shape[1] + 1):
            mask = torch.ones(1, n, n, dtype=torch.bool).tril()
            y = self.embed(previous[:, :n])
            for layer in self.decoder_layers:
                y = layer(y, memory, mask, memory_mask)
            found.append(y[:, -1] @ self.embedding.weight.T)
        return torch.stack(found, dim=1)


class ForwardBySteps(Plain):
    """Walks through the target with the layers' own caches."""

    def forward(self, source, previous):
        memory, memory_mask = self.encode(source)
        caches = [layer.start(memory) for layer in self.decoder_layers]
        found = []
        for t in range(previous.shape[1]):
            y = self.embed(previous[:, t : t + 1], t)
            for i, layer in enumerate(self.decoder_layers):
                y, caches[i] = layer.step(y, caches[i], memory_mask)
            found.append(y)
        return torch.cat(found, 1) @ self.embedding.weight.T


class WideAndTalkative(Plain):
    def encode(self, source):
        warnings.warn("reading", stacklevel=1)
        print(source.shape, file=sys.stderr)
        return list(super().encode(source))


class Wide(Plain):
    def forward(self, source, previous):
        return super().forward(source, previous).double()


RIGHT = [
    Plain,
    CausalAlone,
    LongTable,
    OneHot,
    CopiedState,
    ForwardByPrefixes,
    ForwardBySteps,
    WideAndTalkative,
    Wide,
]

# Wrong


class Pieces(Stub):
    """A right model; each of the wrong ones below replaces one piece."""

    def embed(self, tokens, first=0):
        d = self.embedding.embedding_dim
        return (
            math.sqrt(d) * self.embedding(tokens)
            + self.positions(first + tokens.shape[1], d)[first:]
        )

    def real(self, tokens):
        return (tokens != self.pad_id).unsqueeze(1)

    def encode(self, source):
        x, mask = self.embed(source), self.real(source)
        for layer in self.encoder_layers:
            x = layer(x, mask)
        return x, mask

    def target_mask(self, previous):
        n = previous.shape[1]
        return torch.ones(n, n, dtype=torch.bool).tril() & self.real(previous)

    def decode(self, previous, memory, memory_mask):
        y = self.embed(previous)
        for layer in self.decoder_layers:
            y = layer(y, memory, self.target_mask(previous), memory_mask)
        return y

    def score(self, y):
        return y @ self.embedding.weight.T

    def forward(self, source, previous):
        return self.score(self.decode(previous, *self.encode(source)))

    def start(self, source):
        memory, mask = self.encode(source)
        return {
            "memory_mask": mask,
            "caches": [layer.start(memory) for layer in self.decoder_layers],
            "position": torch.zeros(len(source), dtype=torch.long),
        }

    def walk(self, y, state):
        caches = []
        for layer, cache in zip(self.decoder_layers, state["caches"], strict=True):
            y, cache = layer.step(y, cache, state["memory_mask"])
            caches.append(cache)
        return y, caches

    def step(self, tokens, state):
        y, caches = self.walk(self.embed(tokens.unsqueeze(1), int(state["position"][0])), state)
        log_p = self.score(y)[:, 0].log_softmax(-1)
        return log_p, {**state, "caches": caches, "position": state["position"] + 1}


class PositionsMultiplied(Pieces):
    def embed(self, tokens, first=0):
        d = self.embedding.embedding_dim
        places = self.positions(first + tokens.shape[1], d)[first:]
        return math.sqrt(d) * self.embedding(tokens) * (1 + places)


class ScaledByTheVocabulary(Pieces):
    def embed(self, tokens, first=0):
        d = self.embedding.embedding_dim
        places = self.positions(first + tokens.shape[1], d)[first:]
        return math.sqrt(self.embedding.num_embeddings) * self.embedding(tokens) + places


class PositionsFromOne(Pieces):
    def embed(self, tokens, first=0):
        d = self.embedding.embedding_dim
        places = self.positions(first + 1 + tokens.shape[1], d)[first + 1 :]
        return math.sqrt(d) * self.embedding(tokens) + places


class PositionsBackwards(Pieces):
    def embed(self, tokens, first=0):
        d = self.embedding.embedding_dim
        places = self.positions(first + tokens.shape[1], d)[first:].flip(0)
        return math.sqrt(d) * self.embedding(tokens) + places


class PositionsOfSentences(Pieces):
    """A position for each sentence of the batch, not for each word."""

    def embed(self, tokens, first=0):
        d = self.embedding.embedding_dim
        places = self.positions(first + len(tokens), d)[first:].unsqueeze(1)
        return math.sqrt(d) * self.embedding(tokens) + places


class EmbeddingDetached(Pieces):
    def embed(self, tokens, first=0):
        d = self.embedding.embedding_dim
        places = self.positions(first + tokens.shape[1], d)[first:]
        return math.sqrt(d) * self.embedding(tokens).detach() + places


class OutputDetached(Pieces):
    def score(self, y):
        return y @ self.embedding.weight.detach().T


class OutputOfItsOwn(Pieces):
    def __init__(self, vocabulary_size, model_size, *rest, **more):
        super().__init__(vocabulary_size, model_size, *rest, **more)
        self.output = nn.Linear(model_size, vocabulary_size, bias=False)

    def score(self, y):
        return self.output(y)


class OutputDivided(Pieces):
    def score(self, y):
        return super().score(y) / math.sqrt(y.shape[-1])


class PaddingNeverPredicted(Pieces):
    def score(self, y):
        logits = super().score(y)
        return logits.index_fill(-1, torch.tensor([self.pad_id]), -1e9)


class EmbeddingOfPaddingIsZero(Pieces):
    """Padding's row of the matrix is 0, also where words are scored."""

    def score(self, y):
        rows = torch.arange(self.embedding.num_embeddings) != self.pad_id
        return y @ (self.embedding.weight * rows.unsqueeze(1)).T


class MasksInverted(Pieces):
    def real(self, tokens):
        return (tokens == self.pad_id).unsqueeze(1)


class LargerIdsAreReal(Pieces):
    def real(self, tokens):
        return (tokens > self.pad_id).unsqueeze(1)


class MaskOfTwoAxes(Pieces):
    def encode(self, source):
        x, mask = super().encode(source)
        return x, mask[:, 0]

    def decode(self, previous, memory, memory_mask):
        return super().decode(previous, memory, memory_mask.unsqueeze(1))


class OneWordAhead(Pieces):
    def target_mask(self, previous):
        n = previous.shape[1]
        return torch.ones(n, n, dtype=torch.bool).tril(1) & self.real(previous)


class WindowOfTwo(Pieces):
    def target_mask(self, previous):
        n = previous.shape[1]
        return torch.ones(n, n, dtype=torch.bool).tril().triu(-1) & self.real(previous)


class ShiftsAgain(Pieces):
    """`previous` is shifted once more."""

    def decode(self, previous, memory, memory_mask):
        shifted = torch.cat([previous[:, :1], previous[:, :-1]], 1)
        return super().decode(shifted, memory, memory_mask)


class LastWordLeftOut(Pieces):
    def decode(self, previous, memory, memory_mask):
        return super().decode(previous[:, :-1], memory, memory_mask)


class FirstLayerOnly(Pieces):
    def decode(self, previous, memory, memory_mask):
        y = self.embed(previous)
        for layer in self.decoder_layers[:1]:
            y = layer(y, memory, self.target_mask(previous), memory_mask)
        return y


class FirstLayerAgainAndAgain(Pieces):
    def encode(self, source):
        x, mask = self.embed(source), self.real(source)
        for _ in self.encoder_layers:
            x = self.encoder_layers[0](x, mask)
        return x, mask


class LayersBackwards(Pieces):
    def encode(self, source):
        x, mask = self.embed(source), self.real(source)
        for layer in reversed(self.encoder_layers):
            x = layer(x, mask)
        return x, mask


class LayersAdded(Pieces):
    """A residual around whole layers too."""

    def encode(self, source):
        x, mask = self.embed(source), self.real(source)
        for layer in self.encoder_layers:
            x = x + layer(x, mask)
        return x, mask


class MemoryDetached(Pieces):
    def decode(self, previous, memory, memory_mask):
        return super().decode(previous, memory.detach(), memory_mask)


class MemoryNotReal(Pieces):
    """forward hands on no mask of the memory; step does."""

    def decode(self, previous, memory, memory_mask):
        return super().decode(previous, memory, None)


class StepWithoutMask(Pieces):
    """step hands on no mask of the memory; forward does."""

    def walk(self, y, state):
        return super().walk(y, {**state, "memory_mask": None})


class StepInTheModule(Pieces):
    """The caches live in the module; a search that goes back is not thought of."""

    def start(self, source):
        state = super().start(source)
        self.caches = state["caches"]
        return state

    def walk(self, y, state):
        y, self.caches = super().walk(y, {**state, "caches": self.caches})
        return y, self.caches


class CountsInTheModule(Pieces):
    def start(self, source):
        self.read = 0
        return super().start(source)

    def step(self, tokens, state):
        y, caches = self.walk(self.embed(tokens.unsqueeze(1), self.read), state)
        self.read += 1
        log_p = self.score(y)[:, 0].log_softmax(-1)
        return log_p, {**state, "caches": caches, "position": state["position"] + 1}


class ReadsAllAgain(Pieces):
    """No caches: keeps the words and the memory, and decodes everything again."""

    def start(self, source):
        memory, mask = self.encode(source)
        position = torch.zeros(len(source), dtype=torch.long)
        words = torch.zeros(len(source), 0, dtype=torch.long)
        return {"memory_mask": mask, "memory": memory, "position": position, "words": words}

    def step(self, tokens, state):
        words = torch.cat([state["words"], tokens.unsqueeze(1)], 1)
        y = self.decode(words, state["memory"], state["memory_mask"])
        moved = {"words": words, "position": state["position"] + 1}
        return self.score(y)[:, -1].log_softmax(-1), {**state, **moved}


class PositionAsNumber(Pieces):
    def start(self, source):
        return super().start(source) | {"position": 0}

    def step(self, tokens, state):
        y, caches = self.walk(self.embed(tokens.unsqueeze(1), state["position"]), state)
        log_p = self.score(y)[:, 0].log_softmax(-1)
        return log_p, {**state, "caches": caches, "position": state["position"] + 1}


class StateAsTuple(Pieces):
    def start(self, source):
        return tuple(super().start(source).values())

    def step(self, tokens, state):
        names = ("memory_mask", "caches", "position")
        log_p, new = super().step(tokens, dict(zip(names, state, strict=True)))
        return log_p, tuple(new.values())


class CachesWrittenInto(Pieces):
    """The list of caches is the old one, with new members."""

    def walk(self, y, state):
        for i, layer in enumerate(self.decoder_layers):
            y, state["caches"][i] = layer.step(y, state["caches"][i], state["memory_mask"])
        return y, state["caches"]


class PositionCountedInPlace(Pieces):
    def step(self, tokens, state):
        log_p, new = super().step(tokens, state)
        state["position"] += 1
        return log_p, {**new, "position": state["position"]}


class StepOfThreeAxes(Pieces):
    def step(self, tokens, state):
        log_p, new = super().step(tokens, state)
        return log_p.unsqueeze(1), new


class StepTakesTheBest(Pieces):
    def step(self, tokens, state):
        log_p, new = super().step(tokens, state)
        return log_p.argmax(-1), new


class NormalisedOverTheBatch(Pieces):
    def step(self, tokens, state):
        y, caches = self.walk(self.embed(tokens.unsqueeze(1), int(state["position"][0])), state)
        moved = {"caches": caches, "position": state["position"] + 1}
        return self.score(y)[:, 0].log_softmax(0), {**state, **moved}


class NoStart(Stub):
    embed = Pieces.embed
    real = Pieces.real
    encode = Pieces.encode
    target_mask = Pieces.target_mask
    decode = Pieces.decode
    score = Pieces.score
    forward = Pieces.forward


class ReturnsStatesToo(Pieces):
    def forward(self, source, previous):
        memory, mask = self.encode(source)
        y = self.decode(previous, memory, mask)
        return self.score(y), y


class DropoutLeftOn(Pieces):
    def embed(self, tokens, first=0):
        return F.dropout(super().embed(tokens, first), 0.1)


class BatchMixed(Pieces):
    """Depends on who else is in the batch."""

    def score(self, y):
        return super().score(y - 0.01 * y.mean(0))


WRONG = [
    PositionsMultiplied,
    ScaledByTheVocabulary,
    PositionsFromOne,
    PositionsBackwards,
    PositionsOfSentences,
    EmbeddingDetached,
    OutputDetached,
    OutputOfItsOwn,
    OutputDivided,
    PaddingNeverPredicted,
    EmbeddingOfPaddingIsZero,
    MasksInverted,
    LargerIdsAreReal,
    MaskOfTwoAxes,
    OneWordAhead,
    WindowOfTwo,
    ShiftsAgain,
    LastWordLeftOut,
    FirstLayerOnly,
    FirstLayerAgainAndAgain,
    LayersBackwards,
    LayersAdded,
    MemoryDetached,
    MemoryNotReal,
    StepWithoutMask,
    StepInTheModule,
    CountsInTheModule,
    ReadsAllAgain,
    PositionAsNumber,
    StateAsTuple,
    CachesWrittenInto,
    PositionCountedInPlace,
    StepOfThreeAxes,
    StepTakesTheBest,
    NormalisedOverTheBatch,
    NoStart,
    ReturnsStatesToo,
    DropoutLeftOn,
    BatchMixed,
]
