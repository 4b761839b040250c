"""Answers to `Encoder`."""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from tqdm.auto import tqdm

from tests.answers.stubs import stub

Stub = stub("Encoder")

# Right


class Gathered(Stub):
    """Reads the padding, but looks at each sentence's last word; garbage is left on the padding."""

    def forward(self, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        states, _ = self.rnn(self.dropout(self.embedding(tokens)))
        at = (lengths - 1).view(-1, 1, 1).expand(-1, 1, states.shape[-1])
        return states, states.gather(1, at).squeeze(1)


class HandWrittenCell(Stub):
    """The equations of the GRU by hand, with padding passed over by torch.where."""

    def forward(self, tokens, lengths):
        x, d = self.dropout(self.embedding(tokens)), self.rnn.hidden_size
        h, states = x.new_zeros(len(x), d), []
        for t in range(tokens.shape[1]):
            gx = x[:, t] @ self.rnn.weight_ih_l0.T + self.rnn.bias_ih_l0
            gh = h @ self.rnn.weight_hh_l0.T + self.rnn.bias_hh_l0
            r = torch.sigmoid(gx[:, :d] + gh[:, :d])
            z = torch.sigmoid(gx[:, d : 2 * d] + gh[:, d : 2 * d])
            n = torch.tanh(gx[:, 2 * d :] + r * gh[:, 2 * d :])
            h = torch.where((t < lengths)[:, None], (1 - z) * n + z * h, h)
            states.append(h)
        return torch.stack(states, dim=1), h


class OneSentenceAtATime(Stub):
    def forward(self, tokens, lengths):
        rows, finals = [], []
        for ids, length in zip(tokens, lengths, strict=True):
            out, h = self.rnn(self.dropout(self.embedding(ids[None, :length])))
            garbage = torch.full((1, len(ids) - int(length), out.shape[2]), 7.0, dtype=out.dtype)
            rows.append(torch.cat([out, garbage], 1))
            finals.append(h[0])
        return torch.cat(rows), torch.cat(finals)


class WideAndTalkative(Stub):
    def forward(self, tokens, lengths):
        warnings.warn("casting to float64", stacklevel=1)
        print("lengths", lengths.tolist(), file=sys.stderr)
        x = self.dropout(self.embedding(tokens))
        wide = {name: p.double() for name, p in self.rnn.named_parameters()}
        outs = []
        for i in tqdm(range(len(tokens)), leave=False):
            words = x[i, : lengths[i]].double().unsqueeze(0)
            outs.append(torch.func.functional_call(self.rnn, wide, (words,))[0][0].to(x.dtype))
            print("sentence", i, "done")
        final = torch.stack([out[-1] for out in outs])
        out = pad_sequence(outs, batch_first=True)
        return F.pad(out, (0, 0, 0, tokens.shape[1] - out.shape[1])), final


class Wide(Stub):
    """Returns float64 whatever its dtype."""

    def forward(self, tokens, lengths):
        packed = pack_padded_sequence(
            self.dropout(self.embedding(tokens)), lengths, batch_first=True, enforce_sorted=False
        )
        out, h = self.rnn(packed)
        out, _ = pad_packed_sequence(out, batch_first=True, total_length=tokens.shape[1])
        return out.double(), h[0].double()


RIGHT = [Gathered, HandWrittenCell, OneSentenceAtATime, WideAndTalkative, Wide]

# Wrong


class Pieces(Stub):
    """A right encoder; each of the wrong ones below replaces one piece."""

    def embed(self, tokens):
        return self.dropout(self.embedding(tokens))

    def read(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        out, last = self.rnn(packed)
        out, _ = pad_packed_sequence(out, batch_first=True, total_length=x.shape[1])
        return out, last[0]

    def forward(self, tokens, lengths):
        return self.read(self.embed(tokens), lengths)


class Squeezed(Pieces):
    def read(self, x, lengths):
        out, last = super().read(x, lengths)
        return out, last.squeeze()


class RemembersTheLengths(Pieces):
    def read(self, x, lengths):
        if not hasattr(self, "lengths"):
            self.lengths = lengths
        return super().read(x, self.lengths)


class TokensOverwritten(Pieces):
    def forward(self, tokens, lengths):
        out = self.read(self.embed(tokens.clone()), lengths)
        tokens[tokens == 1] = 0
        return out


class DropoutInEvaluation(Pieces):
    """F.dropout drops unless it is told not to."""

    def embed(self, tokens):
        return F.dropout(self.embedding(tokens), self.dropout.p)


class DropoutOfOneHalf(Pieces):
    """Whatever the constructor was given."""

    def embed(self, tokens):
        return F.dropout(self.embedding(tokens), 0.5, self.training)


class NanOnPadding(Pieces):
    def read(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        out, last = self.rnn(packed)
        padded = pad_packed_sequence(
            out, batch_first=True, padding_value=float("nan"), total_length=x.shape[1]
        )
        return padded[0], last[0]


class Preallocated32(Stub):
    def forward(self, tokens, lengths):
        out = torch.zeros(*tokens.shape, self.rnn.hidden_size)
        final = torch.zeros(len(tokens), self.rnn.hidden_size)
        for i, n in enumerate(lengths):
            states, h = self.rnn(self.dropout(self.embedding(tokens[i : i + 1, :n])))
            out[i, :n] = states[0]
            final[i] = h[0, 0]
        return out, final


WRONG = [
    Squeezed,
    RemembersTheLengths,
    TokensOverwritten,
    DropoutInEvaluation,
    DropoutOfOneHalf,
    NanOnPadding,
    Preallocated32,
]
