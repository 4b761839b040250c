"""Answers to `BidirectionalEncoder`."""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from tqdm.auto import tqdm

from tests.answers.stubs import stub

Stub = stub("BidirectionalEncoder")


def gru(rnn, x, h, end=""):
    """One step of nn.GRU, from its equations."""
    gates_x = F.linear(x, getattr(rnn, "weight_ih_l0" + end), getattr(rnn, "bias_ih_l0" + end))
    gates_h = F.linear(h, getattr(rnn, "weight_hh_l0" + end), getattr(rnn, "bias_hh_l0" + end))
    xr, xz, xn = gates_x.chunk(3, -1)
    hr, hz, hn = gates_h.chunk(3, -1)
    r, z = torch.sigmoid(xr + hr), torch.sigmoid(xz + hz)
    n = torch.tanh(xn + r * hn)
    return (1 - z) * n + z * h


# Right


class TwoLoops(Stub):
    """The equations of the GRU by hand, with padding passed over by torch.where."""

    def forward(self, tokens, lengths):
        x = self.dropout(self.embedding(tokens))
        B, S, _ = x.shape
        forward, h = [], x.new_zeros(B, self.rnn.hidden_size)
        for j in range(S):
            h = gru(self.rnn, x[:, j], h)
            forward.append(h)
        backward, h = [None] * S, x.new_zeros(B, self.rnn.hidden_size)
        for j in reversed(range(S)):
            real = (j < lengths).unsqueeze(1)
            h = torch.where(real, gru(self.rnn, x[:, j], h, "_reverse"), h)
            backward[j] = h
        annotations = torch.cat([torch.stack(forward, 1), torch.stack(backward, 1)], -1)
        return self.dropout(annotations), self.first_state(backward[0]).tanh()


class ReversedByHand(Stub):
    """Each sentence is turned round by gather; garbage is left on the padding."""

    def forward(self, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        S = tokens.shape[1]
        places = torch.arange(S).unsqueeze(0)
        turned = torch.where(places < lengths[:, None], lengths[:, None] - 1 - places, places)
        d = self.rnn.hidden_size
        ahead = self.rnn(self.dropout(self.embedding(tokens)))[0][..., :d]
        single = nn.GRU(self.rnn.input_size, d, batch_first=True).to(ahead.dtype)
        names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
        weights = {name: getattr(self.rnn, name + "_reverse") for name in names}
        words = self.dropout(self.embedding(tokens.gather(1, turned)))
        back, _ = torch.func.functional_call(single, weights, (words,))
        back = back.gather(1, turned.unsqueeze(-1).expand_as(back))
        return self.dropout(torch.cat([ahead, back], 2)), torch.tanh(self.first_state(back[:, 0]))


class OneSentenceAtATime(Stub):
    def forward(self, tokens, lengths):
        rows, starts = [], []
        for ids, length in zip(tokens, lengths, strict=True):
            out, h = self.rnn(self.dropout(self.embedding(ids[None, :length])))
            garbage = torch.full((1, len(ids) - int(length), out.shape[2]), 7.0, dtype=out.dtype)
            rows.append(torch.cat([out, garbage], 1))
            starts.append(h[1])
        return self.dropout(torch.cat(rows)), torch.tanh(self.first_state(torch.cat(starts)))


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
        out = pad_sequence(outs, batch_first=True)
        out = F.pad(out, (0, 0, 0, tokens.shape[1] - out.shape[1]))
        return self.dropout(out), torch.tanh(self.first_state(out[:, 0, self.rnn.hidden_size :]))


class Wide(Stub):
    """Returns float64 whatever its dtype."""

    def forward(self, tokens, lengths):
        packed = pack_padded_sequence(
            self.dropout(self.embedding(tokens)), lengths, batch_first=True, enforce_sorted=False
        )
        out, h = self.rnn(packed)
        out, _ = pad_packed_sequence(out, batch_first=True, total_length=tokens.shape[1])
        return self.dropout(out).double(), torch.tanh(self.first_state(h[1])).double()


RIGHT = [TwoLoops, ReversedByHand, OneSentenceAtATime, WideAndTalkative, Wide]

# Wrong


class Pieces(Stub):
    """A right encoder; each of the wrong ones below replaces one piece."""

    def embed(self, tokens):
        return self.dropout(self.embedding(tokens))

    def read(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        out, last = self.rnn(packed)
        out, _ = pad_packed_sequence(out, batch_first=True, total_length=x.shape[1])
        return out, last

    def start(self, out, last, lengths):
        return torch.tanh(self.first_state(last[1]))

    def forward(self, tokens, lengths):
        out, last = self.read(self.embed(tokens), lengths)
        return self.dropout(out), self.start(out, last, lengths)


class Squeezed(Pieces):
    def start(self, out, last, lengths):
        return super().start(out, last, lengths).squeeze()


class RemembersTheLengths(Pieces):
    def read(self, x, lengths):
        if not hasattr(self, "lengths"):
            self.lengths = lengths
        return super().read(x, self.lengths)


class EmbeddingCut(Pieces):
    def embed(self, tokens):
        return self.dropout(self.embedding.weight.data[tokens])


class NanOnPadding(Pieces):
    def read(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        out, last = self.rnn(packed)
        padded = pad_packed_sequence(
            out, batch_first=True, padding_value=float("nan"), total_length=x.shape[1]
        )
        return padded[0], last


class Preallocated32(Stub):
    def forward(self, tokens, lengths):
        out = torch.zeros(*tokens.shape, 2 * self.rnn.hidden_size)
        start = torch.zeros(len(tokens), self.rnn.hidden_size)
        for i, n in enumerate(lengths):
            states, h = self.rnn(self.dropout(self.embedding(tokens[i : i + 1, :n])))
            out[i, :n] = states[0]
            start[i] = torch.tanh(self.first_state(h[1, 0]))
        return self.dropout(out), start


WRONG = [Squeezed, RemembersTheLengths, EmbeddingCut, NanOnPadding, Preallocated32]
