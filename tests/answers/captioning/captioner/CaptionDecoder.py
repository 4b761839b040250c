"""Answers to `CaptionDecoder`."""

import torch
import torch.nn.functional as F

from tests.answers.stubs import stub

Stub = stub("CaptionDecoder")

# Right


class AsWritten(Stub):
    def start(self, annotations):
        mean = annotations.mean(1)
        return self.first_state(mean).tanh(), self.first_memory(mean).tanh()

    def step(self, embedded, state, annotations):
        h, c = state
        z, alpha = self.attention(h, annotations)
        h, c = self.cell(torch.cat((embedded, z), -1), (h, c))
        return (h, c), z, alpha

    def readout(self, embedded, states, contexts):
        return self.output(
            self.dropout(embedded + self.state_output(states) + self.context_output(contexts))
        )

    def forward(self, tokens, annotations):
        state = self.start(annotations)
        logits, weights = [], []
        for t in range(tokens.shape[1]):
            y = self.embedding(tokens[:, t])
            state, z, alpha = self.step(y, state, annotations)
            logits.append(self.readout(y, state[0], z))
            weights.append(alpha)
        return torch.stack(logits, 1), torch.stack(weights, 1)


class CellByHand(Stub):
    """The LSTM written out, the matrices split."""

    def start(self, annotations):
        middle = annotations.sum(1) / annotations.shape[1]
        both = torch.cat([self.first_state.weight, self.first_memory.weight])
        biases = torch.cat([self.first_state.bias, self.first_memory.bias])
        return torch.tanh(middle @ both.T + biases).chunk(2, dim=1)

    def step(self, embedded, state, annotations):
        h, c = state
        z, alpha = self.attention(h, annotations)
        e = embedded.shape[1]
        of_word, of_context = self.cell.weight_ih[:, :e], self.cell.weight_ih[:, e:]
        gates = embedded @ of_word.T + z @ of_context.T + self.cell.bias_ih
        gates = gates + h @ self.cell.weight_hh.T + self.cell.bias_hh
        i, f, g, o = gates.chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return (o.sigmoid() * c.tanh(), c), z, alpha

    def readout(self, embedded, states, contexts):
        mixed = embedded + states @ self.state_output.weight.T
        mixed = mixed + contexts @ self.context_output.weight.T
        return self.dropout(mixed) @ self.output.weight.T + self.output.bias

    def forward(self, tokens, annotations):
        h, c = self.start(annotations)
        B, T = tokens.shape
        logits = annotations.new_zeros(B, T, self.output.out_features)
        weights = annotations.new_zeros(B, T, annotations.shape[1])
        for t in range(T):
            y = self.embedding.weight[tokens[:, t]]
            (h, c), z, weights[:, t] = self.step(y, (h, c), annotations)
            logits[:, t] = self.readout(y, h, z)
        return logits, weights


class ReadsOutAtOnce(Stub):
    """All words are read out together, also with their leading axes joined."""

    def start(self, annotations):
        mean = torch.einsum("bnd->bd", annotations) / annotations.size(1)
        return [torch.tanh(layer(mean)) for layer in (self.first_state, self.first_memory)]

    def step(self, embedded, state, annotations):
        z, alpha = self.attention(state[0], annotations)
        return list(self.cell(torch.hstack([embedded, z]), tuple(state))), z, alpha

    def readout(self, embedded, states, contexts):
        flat = [x.reshape(-1, x.shape[-1]) for x in (embedded, states, contexts)]
        mixed = torch.stack([flat[0], self.state_output(flat[1]), self.context_output(flat[2])])
        return self.output(self.dropout(mixed.sum(0))).view(*embedded.shape[:-1], -1)

    def forward(self, tokens, annotations):
        words = self.embedding(tokens)
        state, hs, zs, alphas = self.start(annotations), [], [], []
        for y in words.transpose(0, 1):
            state, z, alpha = self.step(y, state, annotations)
            hs.append(state[0])
            zs.append(z)
            alphas.append(alpha)
        together = [torch.stack(x).transpose(0, 1) for x in (hs, zs, alphas)]
        return self.readout(words, together[0], together[1]), together[2]


class LinearOutputsDistributed(Stub):
    """L_o (a + b + c) = L_o a + L_o b + L_o c."""

    def start(self, annotations):
        states = torch.tanh(self.first_state(annotations.mean(dim=-2)))
        return states, torch.tanh(self.first_memory(annotations.mean(dim=-2)))

    def step(self, embedded, state, annotations):
        z, alpha = self.attention(query=state[0], annotations=annotations)
        return self.cell(torch.cat([embedded, z], dim=-1), state), z, alpha

    def readout(self, embedded, states, contexts):
        W = self.output.weight
        kept = self.dropout(torch.ones_like(embedded))  # the same components of all three
        logits = F.linear(kept * embedded, W, self.output.bias)
        logits = logits + F.linear(kept * self.state_output(states), W)
        return logits + F.linear(kept * self.context_output(contexts), W)

    def forward(self, tokens, annotations):
        state, found = self.start(annotations), []
        for y in self.embedding(tokens).unbind(1):
            state, z, alpha = self.step(y, state, annotations)
            found.append((self.readout(y, state[0], z), alpha))
        logits, weights = zip(*found, strict=True)
        return torch.stack(logits, dim=1), torch.stack(weights, dim=1)


class OnePictureAtATime(Stub):
    def start(self, annotations):
        means = [picture.mean(0) for picture in annotations]
        h = torch.stack([torch.tanh(self.first_state(m)) for m in means])
        return h, torch.stack([torch.tanh(self.first_memory(m)) for m in means])

    def step(self, embedded, state, annotations):
        z, alpha = self.attention(state[0], annotations)
        return self.cell(torch.cat([embedded, z], 1), (state[0], state[1])), z, alpha

    def readout(self, embedded, states, contexts):
        parts = embedded, self.state_output(states), self.context_output(contexts)
        return self.output(self.dropout(sum(parts)))

    def forward(self, tokens, annotations):
        logits, weights = [], []
        for ids, places in zip(tokens, annotations, strict=True):
            state = self.start(places[None])
            rows, looks = [], []
            for i in ids:
                y = self.embedding(i)[None]
                state, z, alpha = self.step(y, state, places[None])
                rows.append(self.readout(y, state[0], z)[0])
                looks.append(alpha[0])
            logits.append(torch.stack(rows))
            weights.append(torch.stack(looks))
        return torch.stack(logits), torch.stack(weights)


class Wide(AsWritten):
    """Returns float64 whatever it is given."""

    def start(self, annotations):
        h, c = super().start(annotations)
        return h.double(), c.double()

    def readout(self, embedded, states, contexts):
        dtype = self.output.weight.dtype
        return super().readout(embedded, states.to(dtype), contexts).double()

    def step(self, embedded, state, annotations):
        dtype = self.output.weight.dtype
        return super().step(embedded, (state[0].to(dtype), state[1].to(dtype)), annotations)


RIGHT = [CellByHand, ReadsOutAtOnce, LinearOutputsDistributed, OnePictureAtATime, Wide]

# Wrong


class Pieces(Stub):
    """A right answer; each of the wrong ones below replaces one piece."""

    def start(self, annotations):
        mean = annotations.mean(1)
        return torch.tanh(self.first_state(mean)), torch.tanh(self.first_memory(mean))

    def look(self, state, annotations):
        return self.attention(state[0], annotations)

    def read(self, embedded, context):
        return torch.cat([embedded, context], 1)

    def step(self, embedded, state, annotations):
        context, weights = self.look(state, annotations)
        return self.cell(self.read(embedded, context), state), context, weights

    def readout(self, embedded, states, contexts):
        return self.output(
            self.dropout(embedded + self.state_output(states) + self.context_output(contexts))
        )

    def word(self, tokens, t):
        return self.embedding(tokens[:, t])

    def score(self, word, state, context, before):
        return self.readout(word, state[0], context)

    def forward(self, tokens, annotations):
        state, logits, rows = self.start(annotations), [], []
        for t in range(tokens.shape[1]):
            word, before = self.word(tokens, t), state
            state, context, weights = self.step(word, state, annotations)
            logits.append(self.score(word, state, context, before))
            rows.append(weights)
        return torch.stack(logits, 1), torch.stack(rows, 1)


class StartMeanOverBatch(Pieces):
    def start(self, annotations):
        return super().start(annotations.mean(0, keepdim=True).expand_as(annotations))


class LooksWithWord(Pieces):
    """The query is the word, where the sizes allow it."""

    def step(self, embedded, state, annotations):
        query = embedded if embedded.shape == state[0].shape else state[0]
        context, weights = self.attention(query, annotations)
        return self.cell(self.read(embedded, context), state), context, weights


class WeightsDetached(Pieces):
    def look(self, state, annotations):
        context, weights = super().look(state, annotations)
        return context, weights.detach()


class StartKept(Pieces):
    """The first picture's start is kept for all."""

    kept = None

    def start(self, annotations):
        if self.kept is None or len(self.kept[0]) != len(annotations):
            self.kept = super().start(annotations)
        return self.kept


class Always32(Pieces):
    def readout(self, embedded, states, contexts):
        return super().readout(embedded, states, contexts).float()


WRONG = [StartMeanOverBatch, LooksWithWord, WeightsDetached, StartKept, Always32]
