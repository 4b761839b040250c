"""Answers to `ContextDecoder`."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.answers.stubs import stub

Stub = stub("ContextDecoder")

# Right


class Preallocated(Stub):
    """Writes into a tensor of the right dtype."""

    def start(self, context):
        return torch.tanh(context @ self.first_state.weight.T + self.first_state.bias)

    def step(self, embedded, state, context):
        return self.cell(torch.hstack([embedded, context]), state)

    def readout(self, embedded, states, contexts):
        t = torch.tanh(self.hidden(torch.cat([embedded, states, contexts], -1)))
        return F.linear(self.dropout(t), self.output.weight, self.output.bias)

    def forward(self, tokens, context):
        B, T = tokens.shape
        logits = context.new_zeros(B, T, self.output.out_features)
        state = self.start(context)
        for t in range(T):
            word = self.dropout(self.embedding(tokens[:, t]))
            state = self.step(word, state, context)
            logits[:, t] = self.readout(word, state, context)
        return logits


class HandWrittenCell(Stub):
    """The GRU from its equations, with the parameters of self.cell, and matrices in pieces."""

    def start(self, c: Tensor) -> Tensor:
        return torch.tanh(F.linear(c, self.first_state.weight, self.first_state.bias))

    def step(self, y: Tensor, h: Tensor, c: Tensor) -> Tensor:
        e, d = y.shape[-1], h.shape[-1]
        w = self.cell.weight_ih
        gx = y @ w[:, :e].T + c @ w[:, e:].T + self.cell.bias_ih
        gh = h @ self.cell.weight_hh.T + self.cell.bias_hh
        r = torch.sigmoid(gx[:, :d] + gh[:, :d])
        z = torch.sigmoid(gx[:, d : 2 * d] + gh[:, d : 2 * d])
        n = torch.tanh(gx[:, 2 * d :] + r * gh[:, 2 * d :])
        return n + z * (h - n)

    def readout(self, y, h, c):
        e, d = y.shape[-1], h.shape[-1]
        w = self.hidden.weight
        u = y @ w[:, :e].T + h @ w[:, e : e + d].T + c @ w[:, e + d :].T + self.hidden.bias
        return self.output(self.dropout(u.tanh()))

    def forward(self, tokens, context):
        embedded, states = self.dropout(self.embedding(tokens)), [self.start(context)]
        for y in embedded.unbind(1):
            states.append(self.step(y, states[-1], context))
        h = torch.stack(states[1:], 1)
        return self.readout(embedded, h, context[:, None].expand_as(h))


class OneSentenceAtATime(Stub):
    def start(self, context):
        return torch.stack([torch.tanh(self.first_state(c)) for c in context])

    def step(self, embedded, state, context):
        rows = zip(embedded, state, context, strict=True)
        return torch.stack([self.cell(torch.cat([e, c]), h) for e, h, c in rows])

    def readout(self, embedded, states, contexts):
        return self.output(
            self.dropout(self.hidden(torch.cat([embedded, states, contexts], -1)).tanh())
        )

    def forward(self, tokens, context):
        sentences = []
        for ids, c in zip(tokens, context, strict=True):
            h, logits = self.start(c[None]), []
            for i in ids:
                y = self.dropout(self.embedding(i))[None]
                h = self.step(y, h, c[None])
                logits.append(self.readout(y, h, c[None])[0])
            sentences.append(torch.stack(logits))
        return torch.stack(sentences)


class AsOneGru(Stub):
    """forward hands the weights of the cell to nn.GRU, all words in one call."""

    def start(self, context):
        return torch.tanh(self.first_state(context))

    def step(self, embedded, state, context):
        x = torch.cat([embedded, context], -1).unsqueeze(1)
        return self._gru(x, state)[:, 0]

    def _gru(self, x, state):
        gru = nn.GRU(x.shape[-1], state.shape[-1], batch_first=True).to(x.dtype)
        weights = {f"{name}_l0": w for name, w in self.cell.named_parameters()}
        return torch.func.functional_call(gru, weights, (x, state.unsqueeze(0).contiguous()))[0]

    def readout(self, *parts):
        return self.output(self.dropout(torch.tanh(self.hidden(torch.cat(parts, -1)))))

    def forward(self, tokens, context):
        y = self.dropout(self.embedding(tokens))
        c = context.unsqueeze(1).repeat(1, tokens.shape[1], 1)
        return self.readout(y, self._gru(torch.cat([y, c], -1), self.start(context)), c)


class Wide(Stub):
    """Returns float64 whatever its dtype."""

    def start(self, context):
        return torch.tanh(self.first_state(context))

    def step(self, embedded, state, context):
        return self.cell(torch.cat([embedded, context], -1), state)

    def readout(self, embedded, states, contexts):
        u = torch.tanh(self.hidden(torch.cat([embedded, states, contexts], -1)))
        return self.output(self.dropout(u)).double()

    def forward(self, tokens, context):
        state, logits = self.start(context), []
        for y in self.dropout(self.embedding(tokens)).unbind(1):
            state = self.step(y, state, context)
            logits.append(self.readout(y, state, context))
        return torch.stack(logits, 1)


RIGHT = [Preallocated, HandWrittenCell, OneSentenceAtATime, AsOneGru, Wide]

# Wrong


class Pieces(Stub):
    """A right decoder; each of the wrong ones below replaces one piece."""

    def start(self, context):
        return torch.tanh(self.first_state(context))

    def step(self, embedded, state, context):
        return self.cell(torch.cat([embedded, context], -1), state)

    def readout(self, embedded, states, contexts):
        return self.output(
            self.dropout(torch.tanh(self.hidden(torch.cat([embedded, states, contexts], -1))))
        )

    def run(self, embedded, context):
        state, states = self.start(context), []
        for y in embedded.unbind(1):
            state = self.step(y, state, context)
            states.append(state)
        return torch.stack(states, 1)

    def forward(self, tokens, context):
        embedded = self.dropout(self.embedding(tokens))
        states = self.run(embedded, context)
        return self.readout(embedded, states, context.unsqueeze(1).expand_as(states))


class StepKeepsTheContext(Pieces):
    """The context of the first sentence is kept for all."""

    kept = None

    def step(self, embedded, state, context):
        if self.kept is None or len(self.kept) != len(context):
            self.kept = context
        return super().step(embedded, state, self.kept)


class ReadoutFromState(Pieces):
    """Straight from the state where the sizes fit: no hidden layer."""

    def readout(self, embedded, states, contexts):
        if embedded.shape[-1] == states.shape[-1]:
            return self.output(self.dropout(states))
        return super().readout(embedded, states, contexts)


class Squeezed(Pieces):
    def forward(self, tokens, context):
        return super().forward(tokens, context).squeeze()


class StateDetached(Pieces):
    """Truncated back-propagation, one step long."""

    def run(self, embedded, context):
        state, states = self.start(context), []
        for y in embedded.unbind(1):
            states.append(self.step(y, state, context))
            state = states[-1].detach()
        return torch.stack(states, 1)


class Preallocated32(Pieces):
    def forward(self, tokens, context):
        logits = super().forward(tokens, context)
        into = torch.zeros(logits.shape)
        into[:] = logits
        return into


WRONG = [StepKeepsTheContext, ReadoutFromState, Squeezed, StateDetached, Preallocated32]
