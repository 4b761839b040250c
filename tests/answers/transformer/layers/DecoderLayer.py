"""Answers to `DecoderLayer`."""

import copy

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.answers.stubs import stub

Stub = stub("DecoderLayer")

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
        a = self.attention_norm(y + self.dropout(self.attention(y, y, y, projected=(k, v))[0]))
        kept = (cache["memory_keys"], cache["memory_values"])
        found = self.memory_attention(a, None, None, memory_mask, kept)[0]
        b = self.memory_attention_norm(a + self.dropout(found))
        z = self.feed_forward_norm(b + self.dropout(self.feed_forward(b)))
        new = dict(cache)
        new["keys"], new["values"] = k, v
        return z, new


class OneRoad(Stub):
    """forward and step share all but where keys and values come from."""

    def _road(self, y, projected, memory_projected, mask, memory_mask):
        found, _ = self.attention(y, None, None, mask, projected)
        y = self.attention_norm(y + self.dropout(found))
        found, _ = self.memory_attention(y, None, None, memory_mask, memory_projected)
        y = self.memory_attention_norm(y + self.dropout(found))
        return self.feed_forward_norm(y + self.dropout(self.feed_forward(y)))

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
        own = cache["keys"], cache["values"]
        found, _ = self.attention(y, None, None, everything, own)
        y = self.attention_norm(self.dropout(found) + y)
        kept = cache["memory_keys"], cache["memory_values"]
        found, _ = self.memory_attention(y, None, None, mask=memory_mask, projected=kept)
        y = self.memory_attention_norm(self.dropout(found) + y)
        return self.feed_forward_norm(self.dropout(self.feed_forward(y)) + y), cache


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
            x = x + self.dropout(found)
            x = x - x.mean(-1, keepdim=True)
            return (
                norm.weight * x / (x.square().mean(-1, keepdim=True) + norm.eps).sqrt() + norm.bias
            )

        y = add(y, self.attention(y, y, y, mask)[0], self.attention_norm)
        found = self.memory_attention(y, memory, memory, memory_mask)[0]
        y = add(y, found, self.memory_attention_norm)
        return add(y, self.feed_forward(y), self.feed_forward_norm)


class Wide(Plain):
    def forward(self, y, memory, mask=None, memory_mask=None):
        return super().forward(y, memory, mask, memory_mask).double()


RIGHT = [OneRoad, CopiesTheCache, SentenceBySentence, OwnNorms, Wide]

# Wrong


class Pieces(Stub):
    """A right layer; each of the wrong ones below replaces one piece."""

    def add_own(self, y, found):
        return self.attention_norm(y + self.dropout(found))

    def add_memory(self, a, found):
        return self.memory_attention_norm(a + self.dropout(found))

    def add_network(self, b):
        return self.feed_forward_norm(b + self.dropout(self.feed_forward(b)))

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


class CausalInPlaceOfTheMask(Pieces):
    def forward(self, y, memory, mask=None, memory_mask=None):
        if mask is not None:
            mask = torch.ones(y.shape[1], y.shape[1], dtype=torch.bool).tril().unsqueeze(0)
        return super().forward(y, memory, mask, memory_mask)


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


class DropoutLeftOn(Pieces):
    def add_memory(self, a, found):
        return self.memory_attention_norm(a + F.dropout(found, 0.2))


WRONG = [MasksSwapped, MaskInverted, CausalInPlaceOfTheMask, MemoryInTheModule, DropoutLeftOn]
