"""Answers to `Transformer`."""

import copy
import math

import torch
import torch.nn.functional as F

from tests.answers.stubs import stub

Stub = stub("Transformer")

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


class LongTable(Plain):
    """Makes the positions once, for longer sentences than there are."""

    def __init__(self, vocabulary_size, model_size, positions, *rest, **more):
        super().__init__(vocabulary_size, model_size, positions, *rest, **more)
        self.register_buffer("table", positions(256, model_size), persistent=False)

    def embed(self, tokens, first=0):
        places = torch.arange(first, first + tokens.shape[1])
        scale = math.sqrt(self.embedding.embedding_dim)
        return self.dropout(scale * self.embedding(tokens) + F.embedding(places, self.table))


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
            real = previous[:, None, :n] != self.pad_id
            mask = torch.ones(1, n, n, dtype=torch.bool).tril() & real
            y = self.embed(previous[:, :n])
            for layer in self.decoder_layers:
                y = layer(y, memory, mask, memory_mask)
            found.append(y[:, -1] @ self.embedding.weight.T)
        return torch.stack(found, dim=1)


class Wide(Plain):
    def forward(self, source, previous):
        return super().forward(source, previous).double()


RIGHT = [Plain, LongTable, CopiedState, ForwardByPrefixes, Wide]

# Wrong


class Pieces(Stub):
    """A right model; each of the wrong ones below replaces one piece."""

    def embed(self, tokens, first=0):
        d = self.embedding.embedding_dim
        places = self.positions(first + tokens.shape[1], d)[first:]
        return self.dropout(math.sqrt(d) * self.embedding(tokens) + places)

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


class LargerIdsAreReal(Pieces):
    def real(self, tokens):
        return (tokens > self.pad_id).unsqueeze(1)


class WindowOfTwo(Pieces):
    def target_mask(self, previous):
        n = previous.shape[1]
        return torch.ones(n, n, dtype=torch.bool).tril().triu(-1) & self.real(previous)


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


class StepInTheModule(Pieces):
    """The caches live in the module; a search that goes back is not thought of."""

    def start(self, source):
        state = super().start(source)
        self.caches = state["caches"]
        return state

    def walk(self, y, state):
        y, self.caches = super().walk(y, {**state, "caches": self.caches})
        return y, self.caches


WRONG = [LargerIdsAreReal, WindowOfTwo, FirstLayerOnly, FirstLayerAgainAndAgain, StepInTheModule]
