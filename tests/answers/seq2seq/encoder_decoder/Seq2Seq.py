"""Answers to `Seq2Seq`."""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence
from tqdm.auto import tqdm

from tests.answers.stubs import stub

Stub = stub("Seq2Seq")


def lstm(rnn, x, h, c):
    """One step of nn.LSTM, from its equations."""
    gates = F.linear(x, rnn.weight_ih_l0, rnn.bias_ih_l0)
    gates = gates + F.linear(h, rnn.weight_hh_l0, rnn.bias_hh_l0)
    i, f, g, o = gates.chunk(4, -1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


# Right


class HandWritten(Stub):
    """The equations of the LSTM by hand; padding is passed over by torch.where."""

    def encode(self, source: Tensor, lengths: Tensor):
        x = self.dropout(self.source_embedding(source))
        h = c = x.new_zeros(len(x), self.encoder.hidden_size)
        for s in range(source.shape[1]):
            new_h, new_c = lstm(self.encoder, x[:, s], h, c)
            real = (s < lengths).unsqueeze(1)
            h, c = torch.where(real, new_h, h), torch.where(real, new_c, c)
        return h, c

    def step(self, tokens, state):
        h, c = lstm(self.decoder, self.dropout(self.target_embedding(tokens)), *state)
        logits = self.dropout(h) @ self.output.weight.T + self.output.bias
        return logits - logits.logsumexp(-1, keepdim=True), (h, c)

    def forward(self, source, lengths, previous):
        (h, c), states = self.encode(source, lengths), []
        for y in self.dropout(self.target_embedding(previous)).unbind(1):
            h, c = lstm(self.decoder, y, h, c)
            states.append(h)
        return self.output(self.dropout(torch.stack(states, dim=1)))


class OneSentenceAtATime(Stub):
    def encode(self, source, lengths):
        hs, cs = [], []
        for ids, n in zip(source, lengths, strict=True):
            _, (h, c) = self.encoder(
                self.dropout(self.source_embedding(ids[:n]))
            )  # without a batch
            hs.append(h[0])
            cs.append(c[0])
        return [torch.stack(hs), torch.stack(cs)]

    def step(self, tokens, state):
        scores, hs, cs = [], [], []
        for token, h, c in zip(tokens, *state, strict=True):
            y = self.dropout(self.target_embedding(token))[None]
            out, (h, c) = self.decoder(y, (h[None], c[None]))
            scores.append(self.output(self.dropout(out[0])).log_softmax(-1))
            hs.append(h[0])
            cs.append(c[0])
        return torch.stack(scores), (torch.stack(hs), torch.stack(cs))

    def forward(self, source, lengths, previous):
        h, c = self.encode(source, lengths)
        rows = []
        for b in range(len(source)):
            y = self.dropout(self.target_embedding(previous[b]))
            rows.append(self.output(self.dropout(self.decoder(y, (h[b : b + 1], c[b : b + 1]))[0])))
        return torch.stack(rows)


class OneLengthAtATime(Stub):
    """Sentences of one length are read together."""

    def encode(self, source, lengths):
        x = self.dropout(self.source_embedding(source))
        found = [None] * len(x)
        for n in lengths.unique().tolist():
            members = (lengths == n).nonzero()[:, 0]
            _, (h, c) = self.encoder(x[members, :n])
            for k, i in enumerate(members.tolist()):
                found[i] = (h[0, k], c[0, k])
        return torch.stack([f[0] for f in found]), torch.stack([f[1] for f in found])

    def _states(self, words, state):
        return self.decoder(
            self.dropout(self.target_embedding(words)), (state[0][None], state[1][None])
        )

    def step(self, tokens, state):
        out, (h, c) = self._states(tokens[:, None], state)
        return self.output(self.dropout(out)).log_softmax(-1)[:, 0], (h[0], c[0])

    def forward(self, source, lengths, previous):
        return self.output(self.dropout(self._states(previous, self.encode(source, lengths))[0]))


class WideAndTalkative(Stub):
    """Scores in float64, cast back; talks a lot."""

    def encode(self, source, lengths):
        print("encoding", source.shape)
        packed = pack_padded_sequence(
            self.dropout(self.source_embedding(source)),
            lengths,
            batch_first=True,
            enforce_sorted=False,
        )
        _, (h, c) = self.encoder(packed)
        return h[0], c[0]

    def _scores(self, states):
        warnings.warn("scoring in float64", stacklevel=1)
        wide = F.linear(
            self.dropout(states).double(), self.output.weight.double(), self.output.bias.double()
        )
        return wide.to(states.dtype)

    def step(self, tokens, state):
        y = self.dropout(self.target_embedding(tokens)).unsqueeze(1)
        out, (h, c) = self.decoder(y, tuple(part.unsqueeze(0) for part in state))
        return torch.log_softmax(self._scores(out[:, 0]), -1), (h[0], c[0])

    def forward(self, source, lengths, previous):
        h, c = self.encode(source, lengths)
        h, c, outs = h[None], c[None], []
        for t in tqdm(range(previous.shape[1])):
            sys.stderr.write(f"word {t}\n")
            y = self.dropout(self.target_embedding(previous[:, t : t + 1]))
            out, (h, c) = self.decoder(y, (h, c))
            outs.append(self._scores(out))
        return torch.cat(outs, 1)


class Wide(Stub):
    """Returns float64 whatever its dtype."""

    def encode(self, source, lengths):
        packed = pack_padded_sequence(
            self.dropout(self.source_embedding(source)),
            lengths,
            batch_first=True,
            enforce_sorted=False,
        )
        _, (h, c) = self.encoder(packed)
        return h[0], c[0]

    def step(self, tokens, state):
        y = self.dropout(self.target_embedding(tokens)).unsqueeze(1)
        out, (h, c) = self.decoder(y, tuple(part.unsqueeze(0) for part in state))
        return self.output(self.dropout(out[:, 0])).double().log_softmax(-1), (h[0], c[0])

    def forward(self, source, lengths, previous):
        state = tuple(part.unsqueeze(0) for part in self.encode(source, lengths))
        return self.output(
            self.dropout(self.decoder(self.dropout(self.target_embedding(previous)), state)[0])
        ).double()


RIGHT = [HandWritten, OneSentenceAtATime, OneLengthAtATime, WideAndTalkative, Wide]

# Wrong


class Pieces(Stub):
    """A right model; each of the wrong ones below replaces one piece."""

    def read(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        return self.encoder(packed)[1]

    def encode(self, source, lengths):
        h, c = self.read(self.dropout(self.source_embedding(source)), lengths)
        return h[0], c[0]

    def score(self, states):
        return self.output(self.dropout(states))

    def step(self, tokens, state):
        y = self.dropout(self.target_embedding(tokens)).unsqueeze(1)
        out, (h, c) = self.decoder(y, (state[0][None], state[1][None]))
        return self.score(out[:, 0]).log_softmax(-1), (h[0], c[0])

    def write(self, previous, h, c):
        out, _ = self.decoder(self.dropout(self.target_embedding(previous)), (h[None], c[None]))
        return self.score(out)

    def forward(self, source, lengths, previous):
        return self.write(previous, *self.encode(source, lengths))


class OutputTied(Pieces):
    """The embedding stands for the output where the sizes fit."""

    def score(self, states):
        table = self.target_embedding.weight
        if table.shape[1] == states.shape[-1]:
            return self.dropout(states) @ table.T
        return self.output(self.dropout(states))


class RemembersTheSource(Pieces):
    kept = None

    def encode(self, source, lengths):
        if self.kept is None:
            self.kept = super().encode(source, lengths)
        return self.kept


class Squeezed(Pieces):
    def write(self, previous, h, c):
        return super().write(previous, h, c).squeeze()


class EmbeddingCut(Pieces):
    def encode(self, source, lengths):
        h, c = self.read(self.dropout(self.source_embedding.weight.data[source]), lengths)
        return h[0], c[0]


class Preallocated32(Pieces):
    def write(self, previous, h, c):
        logits = super().write(previous, h, c)
        into = torch.zeros(logits.shape)
        into[:] = logits
        return into


WRONG = [OutputTied, RemembersTheSource, Squeezed, EmbeddingCut, Preallocated32]
