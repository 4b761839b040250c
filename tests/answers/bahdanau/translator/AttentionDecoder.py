"""Answers to `AttentionDecoder`."""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor
from tqdm.auto import tqdm

from tests.answers.stubs import stub

Stub = stub("AttentionDecoder")

# Right


class HandWrittenCell(Stub):
    """The GRU from its equations, with the parameters of self.cell."""

    def _move(self, x: Tensor, h: Tensor) -> Tensor:
        gx = x @ self.cell.weight_ih.T + self.cell.bias_ih
        gh = h @ self.cell.weight_hh.T + self.cell.bias_hh
        d = h.shape[-1]
        r = torch.sigmoid(gx[:, :d] + gh[:, :d])
        z = torch.sigmoid(gx[:, d : 2 * d] + gh[:, d : 2 * d])
        n = torch.tanh(gx[:, 2 * d :] + r * gh[:, 2 * d :])
        return n + z * (h - n)

    def step(self, y, s, h, m, uh=None):
        c, a = self.attention(query=s, keys=h, mask=m, projected_keys=uh)
        return self._move(torch.hstack([y, c]), s), c, a

    def readout(self, y, s, c):
        # W_t [y; s; c] piece by piece
        e, d = y.shape[-1], s.shape[-1]
        w = self.hidden.weight
        t = y @ w[:, :e].T + s @ w[:, e : e + d].T + c @ w[:, e + d :].T + self.hidden.bias
        return self.output(self.dropout(t.tanh()))

    def forward(self, tokens, annotations, mask, first_state):
        uh = self.attention.project(annotations)
        embedded = self.dropout(self.embedding(tokens))
        steps = [(first_state, None, None)]
        for y in embedded.unbind(1):
            steps.append(self.step(y, steps[-1][0], annotations, mask, uh))
        s, c, a = (torch.stack(part, 1) for part in zip(*steps[1:], strict=True))
        return self.readout(embedded, s, c), a


class OneSentenceAtATime(Stub):
    def step(self, embedded, state, annotations, mask, projected_keys=None):
        states, contexts, weights = [], [], []
        for b in range(len(embedded)):
            row = slice(b, b + 1)
            keys = None if projected_keys is None else projected_keys[row]
            c, a = self.attention(state[row], annotations[row], mask[row], keys)
            states.append(self.cell(torch.cat([embedded[row], c], 1), state[row]))
            contexts.append(c)
            weights.append(a)
        return torch.cat(states), torch.cat(contexts), torch.cat(weights)

    def readout(self, embedded, states, contexts):
        return self.output(
            self.dropout(self.hidden(torch.cat([embedded, states, contexts], -1)).tanh())
        )

    def forward(self, tokens, annotations, mask, first_state):
        all_logits, all_weights = [], []
        for b in range(len(tokens)):
            s, logits, weights = first_state[b : b + 1], [], []
            for token in tokens[b]:
                y = self.dropout(self.embedding(token))[None]
                s, c, a = self.step(y, s, annotations[b : b + 1], mask[b : b + 1])
                logits.append(self.readout(y, s, c)[0])
                weights.append(a[0])
            all_logits.append(torch.stack(logits))
            all_weights.append(torch.stack(weights))
        return torch.stack(all_logits), torch.stack(all_weights)


class Recursive(Stub):
    """Words by recursion, one-hot embeddings, and the loop not sharing step."""

    def step(self, embedded, state, annotations, mask, projected_keys=None):
        if projected_keys is None:
            projected_keys = self.attention.project(annotations)
        context, weights = self.attention(state, annotations, mask, projected_keys)
        gates = torch.cat([embedded, context], dim=-1)
        return self.cell(gates, state), context, weights

    def readout(self, embedded, states, contexts):
        return self.output(
            self.dropout(torch.tanh(self.hidden(torch.cat([embedded, states, contexts], dim=-1))))
        )

    def _rest(self, embedded, annotations, mask, state):
        if embedded.shape[1] == 0:
            return []
        state, context, weights = self.step(embedded[:, 0], state, annotations, mask)
        logits = self.readout(embedded[:, 0], state, context)
        return [(logits, weights), *self._rest(embedded[:, 1:], annotations, mask, state)]

    def forward(self, tokens, annotations, mask, first_state):
        table = self.embedding.weight
        embedded = self.dropout(F.one_hot(tokens, len(table)).to(table.dtype) @ table)
        pairs = self._rest(embedded, annotations, mask, first_state)
        return torch.stack([p[0] for p in pairs], 1), torch.stack([p[1] for p in pairs], 1)


class WideAndTalkative(Stub):
    """The read-out in float64, cast back; talks a lot."""

    def step(self, embedded, state, annotations, mask, projected_keys=None):
        print("step", tuple(state.shape))
        context, weights = self.attention(state, annotations, mask, projected_keys)
        return self.cell(torch.cat([embedded, context], -1), state), context, weights

    def readout(self, embedded, states, contexts):
        warnings.warn("reading out in float64", stacklevel=1)
        x = torch.cat([embedded, states, contexts], -1).double()
        t = torch.tanh(F.linear(x, self.hidden.weight.double(), self.hidden.bias.double()))
        logits = F.linear(self.dropout(t), self.output.weight.double(), self.output.bias.double())
        return logits.to(embedded.dtype)

    def forward(self, tokens, annotations, mask, first_state):
        state, logits, weights = first_state, [], []
        for i in tqdm(range(tokens.shape[1]), desc="decoding"):
            sys.stderr.write(f"word {i}\n")
            y = self.dropout(self.embedding(tokens[:, i]))
            state, c, a = self.step(y, state, annotations, mask)
            logits.append(self.readout(y, state, c).unsqueeze(1))
            weights.append(a.unsqueeze(1))
        return torch.cat(logits, 1), torch.cat(weights, 1)


class Wide(Stub):
    """Returns float64 whatever its dtype."""

    def step(self, embedded, state, annotations, mask, projected_keys=None):
        context, weights = self.attention(state, annotations, mask, projected_keys)
        return self.cell(torch.cat([embedded, context], -1), state), context, weights

    def readout(self, embedded, states, contexts):
        return self.output(
            self.dropout(torch.tanh(self.hidden(torch.cat([embedded, states, contexts], -1))))
        ).double()

    def forward(self, tokens, annotations, mask, first_state):
        state, logits, weights = first_state, [], []
        for y in self.dropout(self.embedding(tokens)).unbind(1):
            state, c, a = self.step(y, state, annotations, mask)
            logits.append(self.readout(y, state, c))
            weights.append(a)
        return [torch.stack(logits, 1), torch.stack(weights, 1)]


RIGHT = [HandWrittenCell, OneSentenceAtATime, Recursive, WideAndTalkative, Wide]

# Wrong


class Pieces(Stub):
    """A right decoder; each of the wrong ones below replaces one piece."""

    def attend(self, state, annotations, mask, projected_keys=None):
        return self.attention(state, annotations, mask, projected_keys)

    def move(self, embedded, context, state):
        return self.cell(torch.cat([embedded, context], -1), state)

    def step(self, embedded, state, annotations, mask, projected_keys=None):
        context, weights = self.attend(state, annotations, mask, projected_keys)
        return self.move(embedded, context, state), context, weights

    def readout(self, embedded, states, contexts):
        return self.output(
            self.dropout(torch.tanh(self.hidden(torch.cat([embedded, states, contexts], -1))))
        )

    def run(self, embedded, annotations, mask, state):
        projected = self.attention.project(annotations)
        steps = []
        for y in embedded.unbind(1):
            steps.append(self.step(y, state, annotations, mask, projected))
            state = steps[-1][0]
        return tuple(torch.stack(part, 1) for part in zip(*steps, strict=True))

    def forward(self, tokens, annotations, mask, first_state):
        embedded = self.dropout(self.embedding(tokens))
        states, contexts, weights = self.run(embedded, annotations, mask, first_state)
        return self.readout(embedded, states, contexts), weights


class RemembersTheMask(Pieces):
    mask = None

    def attend(self, state, annotations, mask, projected_keys=None):
        self.mask = mask if self.mask is None else self.mask
        return super().attend(state, annotations, self.mask, projected_keys)


class ProjectedKeysIgnored(Pieces):
    def step(self, embedded, state, annotations, mask, projected_keys=None):
        return super().step(embedded, state, annotations, mask)


class WeightsDetached(Pieces):
    def forward(self, tokens, annotations, mask, first_state):
        logits, weights = super().forward(tokens, annotations, mask, first_state)
        return logits, weights.detach()


class Squeezed(Pieces):
    def forward(self, tokens, annotations, mask, first_state):
        logits, weights = super().forward(tokens, annotations, mask, first_state)
        return logits.squeeze(), weights.squeeze()


class ReadoutWithoutHidden(Pieces):
    def readout(self, embedded, states, contexts):
        if embedded.shape[-1] == states.shape[-1]:
            return self.output(self.dropout(states))
        return super().readout(embedded, states, contexts)


class Preallocated32(Pieces):
    def forward(self, tokens, annotations, mask, first_state):
        logits, weights = super().forward(tokens, annotations, mask, first_state)
        into = torch.zeros(logits.shape)
        into[:] = logits
        return into, weights


WRONG = [
    RemembersTheMask,
    ProjectedKeysIgnored,
    WeightsDetached,
    Squeezed,
    ReadoutWithoutHidden,
    Preallocated32,
]
