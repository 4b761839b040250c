"""Answers to `DecoderLayer`."""

import copy
import sys
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Stub(nn.Module):
    """What the stub gives: the layers."""

    def __init__(
        self,
        model_size: int,
        attention: nn.Module,
        memory_attention: nn.Module,
        feed_forward: nn.Module,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.attention = attention
        self.attention_norm = nn.LayerNorm(model_size)
        self.memory_attention = memory_attention
        self.memory_attention_norm = nn.LayerNorm(model_size)
        self.feed_forward = feed_forward
        self.feed_forward_norm = nn.LayerNorm(model_size)
        self.dropout = nn.Dropout(dropout)


# Right


class Plain(Stub):
    def forward(
        self,
        y: Tensor,
        memory: Tensor,
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
    ) -> Tensor:
        a = self.attention_norm(y + self.dropout(self.attention(y, y, y, mask)[0]))
        found = self.memory_attention(a, memory, memory, memory_mask)[0]
        b = self.memory_attention_norm(a + self.dropout(found))
        return self.feed_forward_norm(b + self.dropout(self.feed_forward(b)))

    def start(self, memory):
        nothing = memory.new_zeros(memory.shape[0], 0, memory.shape[2])
        k, v = self.attention.project(nothing, nothing)
        mk, mv = self.memory_attention.project(memory, memory)
        return {"keys": k, "values": v, "memory_keys": mk, "memory_values": mv}

    def step(self, y, cache, memory_mask=None):
        k, v = self.attention.project(y, y)
        k = torch.cat((cache["keys"], k), dim=2)
        v = torch.cat((cache["values"], v), dim=2)
        a = self.attention_norm(y + self.attention(y, y, y, projected=(k, v))[0])
        kept = (cache["memory_keys"], cache["memory_values"])
        found = self.memory_attention(a, None, None, memory_mask, kept)[0]
        b = self.memory_attention_norm(a + found)
        z = self.feed_forward_norm(b + self.feed_forward(b))
        new = dict(cache)
        new["keys"], new["values"] = k, v
        return z, new


class OneRoad(Stub):
    """forward and step share all but where keys and values come from."""

    def _road(self, y, projected, memory_projected, mask, memory_mask):
        y = self.attention_norm(y + self.attention(y, None, None, mask, projected)[0])
        found, _ = self.memory_attention(y, None, None, memory_mask, memory_projected)
        y = self.memory_attention_norm(y + found)
        return self.feed_forward_norm(y + self.feed_forward(y))

    def forward(self, y, memory, mask=None, memory_mask=None):
        own = self.attention.project(y, y)
        deep = self.memory_attention.project(memory, memory)
        return self._road(y, own, deep, mask, memory_mask)

    def start(self, memory):
        empty = memory[:, :0]
        names = ("keys", "values", "memory_keys", "memory_values")
        own = self.attention.project(empty, empty)
        return dict(zip(names, (*own, *self.memory_attention.project(memory, memory)), strict=True))

    def step(self, y, cache, memory_mask=None):
        key, value = self.attention.project(y, y)
        own = torch.cat([cache["keys"], key], 2), torch.cat([cache["values"], value], 2)
        deep = cache["memory_keys"], cache["memory_values"]
        z = self._road(y, own, deep, None, memory_mask)
        return z, cache | {"keys": own[0], "values": own[1]}


class CopiesTheCache(Plain):
    def step(self, y, cache, memory_mask=None):
        cache = copy.copy(cache)
        key, value = self.attention.project(y, y)
        cache["keys"] = torch.concat([cache["keys"], key], dim=-2)
        cache["values"] = torch.concat([cache["values"], value], dim=-2)
        everything = torch.ones(1, 1, cache["keys"].shape[2], dtype=torch.bool)
        y = self.attention_norm(
            self.attention(y, None, None, everything, (cache["keys"], cache["values"]))[0] + y
        )
        kept = cache["memory_keys"], cache["memory_values"]
        y = self.memory_attention_norm(
            self.memory_attention(y, None, None, mask=memory_mask, projected=kept)[0] + y
        )
        return self.feed_forward_norm(self.feed_forward(y) + y), cache


class KeepsMore(Plain):
    """Keeps something of its own in the cache, and nothing gets lost."""

    def start(self, memory):
        return super().start(memory) | {"count": [0], "memory": memory}

    def step(self, y, cache, memory_mask=None):
        assert cache["memory"].shape[0] == y.shape[0]
        z, new = super().step(y, cache, memory_mask)
        return z, new | {"count": [cache["count"][0] + 1]}


class SentenceBySentence(Plain):
    def forward(self, y, memory, mask=None, memory_mask=None):
        rows = []
        for i in range(len(y)):
            m = None if mask is None else mask.expand(len(y), -1, -1)[i : i + 1]
            mm = None if memory_mask is None else memory_mask[i : i + 1]
            rows.append(super().forward(y[i : i + 1], memory[i : i + 1], m, mm))
        return torch.cat(rows)


class OwnNorms(Plain):
    def __init__(self, *given):
        super().__init__(*given)

    def forward(self, y, memory, mask=None, memory_mask=None):
        def add(x, found, norm):
            x = x + found
            x = x - x.mean(-1, keepdim=True)
            return (
                norm.weight * x / (x.square().mean(-1, keepdim=True) + norm.eps).sqrt() + norm.bias
            )

        y = add(y, self.attention(y, y, y, mask)[0], self.attention_norm)
        found = self.memory_attention(y, memory, memory, memory_mask)[0]
        y = add(y, found, self.memory_attention_norm)
        return add(y, self.feed_forward(y), self.feed_forward_norm)


class WideAndTalkative(Plain):
    def step(self, y, cache, memory_mask=None):
        warnings.warn("stepping", stacklevel=1)
        print(y.shape, file=sys.stderr)
        return list(super().step(y, cache, memory_mask))


class Wide(Plain):
    def forward(self, y, memory, mask=None, memory_mask=None):
        return super().forward(y, memory, mask, memory_mask).double()


RIGHT = [
    Plain,
    OneRoad,
    CopiesTheCache,
    KeepsMore,
    SentenceBySentence,
    OwnNorms,
    WideAndTalkative,
    Wide,
]

# Wrong


class Pieces(Stub):
    """A right layer; each of the wrong ones below replaces one piece."""

    def add_own(self, y, found):
        return self.attention_norm(y + found)

    def add_memory(self, a, found):
        return self.memory_attention_norm(a + found)

    def add_network(self, b):
        return self.feed_forward_norm(b + self.feed_forward(b))

    def forward(self, y, memory, mask=None, memory_mask=None):
        a = self.add_own(y, self.attention(y, y, y, mask)[0])
        b = self.add_memory(a, self.memory_attention(a, memory, memory, memory_mask)[0])
        return self.add_network(b)

    def start(self, memory):
        keys, values = self.attention.project(memory[:, :0], memory[:, :0])
        memory_keys, memory_values = self.memory_attention.project(memory, memory)
        return {
            "keys": keys,
            "values": values,
            "memory_keys": memory_keys,
            "memory_values": memory_values,
        }

    def grown(self, cache, y):
        key, value = self.attention.project(y, y)
        return torch.cat([cache["keys"], key], 2), torch.cat([cache["values"], value], 2)

    def step(self, y, cache, memory_mask=None):
        keys, values = self.grown(cache, y)
        a = self.add_own(y, self.attention(y, None, None, None, (keys, values))[0])
        kept = cache["memory_keys"], cache["memory_values"]
        b = self.add_memory(a, self.memory_attention(a, None, None, memory_mask, kept)[0])
        return self.add_network(b), {**cache, "keys": keys, "values": values}


class MasksSwapped(Pieces):
    def forward(self, y, memory, mask=None, memory_mask=None):
        return super().forward(y, memory, memory_mask, mask)


class MaskInverted(Pieces):
    def forward(self, y, memory, mask=None, memory_mask=None):
        return super().forward(y, memory, None if mask is None else ~mask, memory_mask)


class MaskTransposed(Pieces):
    def forward(self, y, memory, mask=None, memory_mask=None):
        mask = None if mask is None else mask.transpose(1, 2)
        return super().forward(y, memory, mask, memory_mask)


class CausalInPlaceOfTheMask(Pieces):
    def forward(self, y, memory, mask=None, memory_mask=None):
        if mask is not None:
            mask = torch.ones(y.shape[1], y.shape[1], dtype=torch.bool).tril().unsqueeze(0)
        return super().forward(y, memory, mask, memory_mask)


class MemoryAsksTheWords(Pieces):
    """Query and key of the second attention swapped, cut to the right length."""

    def forward(self, y, memory, mask=None, memory_mask=None):
        a = self.add_own(y, self.attention(y, y, y, mask)[0])
        found = self.memory_attention(memory, a, a)[0]
        found = F.pad(found, (0, 0, 0, max(0, y.shape[1] - found.shape[1])))[:, : y.shape[1]]
        return self.add_network(self.add_memory(a, found))


class WordsAsValues(Pieces):
    """Keys from the memory, and its values: those of the first word for all."""

    def forward(self, y, memory, mask=None, memory_mask=None):
        a = self.add_own(y, self.attention(y, y, y, mask)[0])
        values = memory[:, :1].expand_as(memory)
        found = self.memory_attention(a, memory, values, memory_mask)[0]
        return self.add_network(self.add_memory(a, found))


class MemoryAveraged(Pieces):
    def forward(self, y, memory, mask=None, memory_mask=None):
        memory = memory.mean(1, keepdim=True).expand_as(memory)
        return super().forward(y, memory, mask, memory_mask)


class MemoryDetached(Pieces):
    def forward(self, y, memory, mask=None, memory_mask=None):
        return super().forward(y, memory.detach(), mask, memory_mask)


class ProjectionDetached(Pieces):
    """What is kept of the memory does not learn."""

    def start(self, memory):
        return {name: tensor.detach() for name, tensor in super().start(memory).items()}


class ResidualOfTheInput(Pieces):
    """The second residual adds y."""

    def forward(self, y, memory, mask=None, memory_mask=None):
        a = self.add_own(y, self.attention(y, y, y, mask)[0])
        b = self.add_memory(y, self.memory_attention(a, memory, memory, memory_mask)[0])
        return self.add_network(b)


class NoFirstResidual(Pieces):
    def add_own(self, y, found):
        return self.attention_norm(found)


class NoThirdResidual(Pieces):
    def add_network(self, b):
        return self.feed_forward_norm(self.feed_forward(b))


class NoLastNorm(Pieces):
    def add_network(self, b):
        return b + self.feed_forward(b)


class OneNormForAll(Pieces):
    def add_memory(self, a, found):
        return self.attention_norm(a + found)

    def add_network(self, b):
        return self.attention_norm(b + self.feed_forward(b))


class BothAttentionsAtOnce(Pieces):
    def forward(self, y, memory, mask=None, memory_mask=None):
        own = self.attention(y, y, y, mask)[0]
        deep = self.memory_attention(y, memory, memory, memory_mask)[0]
        return self.add_network(self.add_memory(self.add_own(y, own), deep))


class StepWithoutOwnAttention(Pieces):
    """One word has nothing to look at, it is thought."""

    def step(self, y, cache, memory_mask=None):
        kept = cache["memory_keys"], cache["memory_values"]
        b = self.add_memory(y, self.memory_attention(y, None, None, memory_mask, kept)[0])
        keys, values = self.grown(cache, y)
        return self.add_network(b), {**cache, "keys": keys, "values": values}


class StepAlongHeads(Pieces):
    """Joined along axis 1, which is that of the heads."""

    def grown(self, cache, y):
        key, value = self.attention.project(y, y)
        if not cache["keys"].shape[2]:
            return key, value
        return torch.cat([cache["keys"], key], 1), torch.cat([cache["values"], value], 1)


class KeepsTheFirstOnly(Pieces):
    def grown(self, cache, y):
        return super().grown(cache, y) if not cache["keys"].shape[2] else tuple(cache.values())[:2]


class KeysAndValuesSwapped(Pieces):
    """Where the sizes allow it."""

    def grown(self, cache, y):
        keys, values = super().grown(cache, y)
        return (values, keys) if keys.shape == values.shape else (keys, keys)


class KeepsInTheModule(Pieces):
    """The cache lives in the module; what is passed around is not looked at."""

    def start(self, memory):
        self.kept = super().start(memory)
        return self.kept

    def step(self, y, cache, memory_mask=None):
        z, self.kept = super().step(y, self.kept, memory_mask)
        return z, self.kept


class MemoryInTheModule(Pieces):
    """Keys and values of the memory are those of the last start."""

    def start(self, memory):
        cache = super().start(memory)
        self.deep = cache["memory_keys"], cache["memory_values"]
        return cache

    def step(self, y, cache, memory_mask=None):
        rows = range(len(self.deep[0])) if len(self.deep[0]) == len(y) else [0] * len(y)
        deep = [tensor[list(rows)] for tensor in self.deep]
        z, new = super().step(y, cache | {"memory_keys": deep[0], "memory_values": deep[1]})
        return z, new


class CachesTheStates(Pieces):
    """Keeps y and the memory as they are, and projects all of them again in each step."""

    def start(self, memory):
        return {"keys": memory[:, :0], "values": memory[:, :0], "memory": memory}

    def step(self, y, cache, memory_mask=None):
        seen = torch.cat([cache["keys"], y], 1)
        a = self.add_own(y, self.attention(y, seen, seen)[0])
        memory = cache["memory"]
        b = self.add_memory(a, self.memory_attention(a, memory, memory, memory_mask)[0])
        return self.add_network(b), {**cache, "keys": seen, "values": seen}


class CacheAsTuple(Pieces):
    def start(self, memory):
        return tuple(super().start(memory).values())

    def step(self, y, cache, memory_mask=None):
        names = ("keys", "values", "memory_keys", "memory_values")
        z, new = super().step(y, dict(zip(names, cache, strict=True)), memory_mask)
        return z, tuple(new.values())


class CacheWithoutMemory(Pieces):
    def step(self, y, cache, memory_mask=None):
        z, new = super().step(y, cache, memory_mask)
        return z, {"keys": new["keys"], "values": new["values"]}


class PadsTheCache(Pieces):
    """A cache of fixed length whose empty places are attended to."""

    def start(self, memory):
        cache = super().start(memory)
        return cache | {n: F.pad(cache[n], (0, 0, 0, 4)) for n in ("keys", "values")}


class WritesIntoTheKeys(Pieces):
    def step(self, y, cache, memory_mask=None):
        found = super().step(y, cache, memory_mask)
        if not torch.is_grad_enabled():
            cache["memory_keys"] *= 2
        return found


class StepOfTwoAxes(Pieces):
    def step(self, y, cache, memory_mask=None):
        z, new = super().step(y, cache, memory_mask)
        return z[:, 0], new


class StepReturnsTheStateOnly(Pieces):
    def step(self, y, cache, memory_mask=None):
        return super().step(y, cache, memory_mask)[0]


class NoStep(Stub):
    def forward(self, y, memory, mask=None, memory_mask=None):
        a = self.attention_norm(y + self.attention(y, y, y, mask)[0])
        b = self.memory_attention_norm(a + self.memory_attention(a, memory, memory, memory_mask)[0])
        return self.feed_forward_norm(b + self.feed_forward(b))


class DropoutLeftOn(Pieces):
    def add_memory(self, a, found):
        return self.memory_attention_norm(a + F.dropout(found, 0.2))


class ReturnsWeightsToo(Pieces):
    def forward(self, y, memory, mask=None, memory_mask=None):
        return super().forward(y, memory, mask, memory_mask), self.attention(y, y, y, mask)[1]


WRONG = [
    MasksSwapped,
    MaskInverted,
    MaskTransposed,
    CausalInPlaceOfTheMask,
    MemoryAsksTheWords,
    WordsAsValues,
    MemoryAveraged,
    MemoryDetached,
    ProjectionDetached,
    ResidualOfTheInput,
    NoFirstResidual,
    NoThirdResidual,
    NoLastNorm,
    OneNormForAll,
    BothAttentionsAtOnce,
    StepWithoutOwnAttention,
    StepAlongHeads,
    KeepsTheFirstOnly,
    KeysAndValuesSwapped,
    KeepsInTheModule,
    MemoryInTheModule,
    CachesTheStates,
    CacheAsTuple,
    CacheWithoutMemory,
    PadsTheCache,
    WritesIntoTheKeys,
    StepOfTwoAxes,
    StepReturnsTheStateOnly,
    NoStep,
    DropoutLeftOn,
    ReturnsWeightsToo,
]
