"""Answers to `BidirectionalEncoder`."""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from tqdm.auto import tqdm


class Stub(nn.Module):
    """What the stub gives: the layers."""

    def __init__(
        self, vocabulary_size: int, embedding_size: int, hidden_size: int, dropout: float = 0.0
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.GRU(embedding_size, hidden_size, batch_first=True, bidirectional=True)
        self.first_state = nn.Linear(hidden_size, hidden_size)
        self.dropout = nn.Dropout(dropout)


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


class Packed(nn.Module):
    def __init__(
        self, vocabulary_size: int, embedding_size: int, hidden_size: int, dropout: float = 0.0
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.GRU(embedding_size, hidden_size, batch_first=True, bidirectional=True)
        self.first_state = nn.Linear(hidden_size, hidden_size)
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens, lengths):
        x = pack_padded_sequence(
            self.embedding(tokens), lengths.tolist(), batch_first=True, enforce_sorted=False
        )
        out, h_n = self.rnn(x)
        out, _ = pad_packed_sequence(out, batch_first=True, total_length=tokens.size(1))
        return out, torch.tanh(self.first_state(h_n[1]))


class TwoLoops(Stub):
    """The equations of the GRU by hand, with padding passed over by torch.where."""

    def forward(self, tokens, lengths):
        x = self.embedding(tokens)
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
        return annotations, self.first_state(backward[0]).tanh()


class ReversedByHand(Stub):
    """Each sentence is turned round by gather; garbage is left on the padding."""

    def forward(self, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        S = tokens.shape[1]
        places = torch.arange(S).unsqueeze(0)
        turned = torch.where(places < lengths[:, None], lengths[:, None] - 1 - places, places)
        d = self.rnn.hidden_size
        ahead = self.rnn(self.embedding(tokens))[0][..., :d]
        single = nn.GRU(self.rnn.input_size, d, batch_first=True).to(ahead.dtype)
        names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
        weights = {name: getattr(self.rnn, name + "_reverse") for name in names}
        words = self.embedding(tokens.gather(1, turned))
        back, _ = torch.func.functional_call(single, weights, (words,))
        back = back.gather(1, turned.unsqueeze(-1).expand_as(back))
        return torch.cat([ahead, back], 2), torch.tanh(self.first_state(back[:, 0]))


class SortedAndUnsorted(Stub):
    def forward(self, tokens, lengths):
        order = torch.argsort(lengths, descending=True)
        back = torch.argsort(order)
        x = self.embedding(tokens[order])
        packed = pack_padded_sequence(x, lengths[order], batch_first=True)
        out, h = self.rnn(packed)
        out = pad_packed_sequence(out, batch_first=True, total_length=tokens.shape[1])[0][back]
        return out, torch.tanh(self.first_state(h[-1][back]))


class OneSentenceAtATime(Stub):
    def forward(self, tokens, lengths):
        rows, starts = [], []
        for ids, length in zip(tokens, lengths, strict=True):
            out, h = self.rnn(self.embedding(ids[None, :length]))
            garbage = torch.full((1, len(ids) - int(length), out.shape[2]), 7.0, dtype=out.dtype)
            rows.append(torch.cat([out, garbage], 1))
            starts.append(h[1])
        return torch.cat(rows), torch.tanh(self.first_state(torch.cat(starts)))


class LengthsFromTokens(Stub):
    """Counts the words itself: ids of words are never 0."""

    def forward(self, tokens, lengths):
        real = tokens.ne(0)
        x = self.embedding(tokens)
        packed = pack_padded_sequence(x, real.sum(1), True, False)
        out, _ = pad_packed_sequence(self.rnn(packed)[0], True, -3.0, tokens.shape[1])
        return out, torch.tanh(self.first_state(out[:, 0].chunk(2, -1)[1]))


class WideAndTalkative(Stub):
    def forward(self, tokens, lengths):
        warnings.warn("casting to float64", stacklevel=1)
        print("lengths", lengths.tolist(), file=sys.stderr)
        x = self.embedding(tokens)
        wide = {name: p.double() for name, p in self.rnn.named_parameters()}
        outs = []
        for i in tqdm(range(len(tokens)), leave=False):
            words = x[i, : lengths[i]].double().unsqueeze(0)
            outs.append(torch.func.functional_call(self.rnn, wide, (words,))[0][0].to(x.dtype))
            print("sentence", i, "done")
        out = pad_sequence(outs, batch_first=True)
        out = F.pad(out, (0, 0, 0, tokens.shape[1] - out.shape[1]))
        return out, torch.tanh(self.first_state(out[:, 0, self.rnn.hidden_size :]))


class Wide(Stub):
    """Returns float64 whatever its dtype."""

    def forward(self, tokens, lengths):
        packed = pack_padded_sequence(
            self.embedding(tokens), lengths, batch_first=True, enforce_sorted=False
        )
        out, h = self.rnn(packed)
        out, _ = pad_packed_sequence(out, batch_first=True, total_length=tokens.shape[1])
        return out.double(), torch.tanh(self.first_state(h[1])).double()


class PaddingIndex(Stub):
    """An embedding that knows about padding, and dropout that is off when not training."""

    def __init__(self, vocabulary_size, embedding_size, hidden_size):
        super().__init__(vocabulary_size, embedding_size, hidden_size, dropout=0.5)
        self.embedding = nn.Embedding(vocabulary_size, embedding_size, padding_idx=0)

    def forward(self, x, n):
        x = self.dropout(self.embedding(x))
        packed = pack_padded_sequence(x, n.cpu(), batch_first=True, enforce_sorted=False)
        h, last = self.rnn(packed)
        h, _ = pad_packed_sequence(h, batch_first=True, total_length=x.shape[1])
        start = F.linear(last[1], self.first_state.weight, self.first_state.bias)
        return self.dropout(h), start.tanh()


RIGHT = [
    Packed,
    TwoLoops,
    ReversedByHand,
    SortedAndUnsorted,
    OneSentenceAtATime,
    LengthsFromTokens,
    WideAndTalkative,
    Wide,
    PaddingIndex,
]

# Wrong


class Pieces(Stub):
    """A right encoder; each of the wrong ones below replaces one piece."""

    def embed(self, tokens):
        return self.embedding(tokens)

    def read(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        out, last = self.rnn(packed)
        out, _ = pad_packed_sequence(out, batch_first=True, total_length=x.shape[1])
        return out, last

    def start(self, out, last, lengths):
        return torch.tanh(self.first_state(last[1]))

    def forward(self, tokens, lengths):
        out, last = self.read(self.embed(tokens), lengths)
        return out, self.start(out, last, lengths)


class EnforcesSorting(Pieces):
    def read(self, x, lengths):
        out, last = self.rnn(pack_padded_sequence(x, lengths, batch_first=True))
        return pad_packed_sequence(out, batch_first=True, total_length=x.shape[1])[0], last


class CutsTheWidth(Pieces):
    """Without total_length the annotations end at the longest sentence."""

    def read(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        out, last = self.rnn(packed)
        return pad_packed_sequence(out, batch_first=True)[0], last


class ZeroedPadding(Pieces):
    """Zeros in place of padding, but the RNN reads them all the same."""

    def read(self, x, lengths):
        real = torch.arange(x.shape[1]) < lengths.unsqueeze(1)
        return self.rnn(x * real.unsqueeze(-1))


class FullLengths(Pieces):
    def read(self, x, lengths):
        return super().read(x, torch.full_like(lengths, int(lengths.max())))


class LengthsOffByOne(Pieces):
    def read(self, x, lengths):
        return super().read(x, (lengths - 1).clamp(min=1))


class LengthsOfTheFirstRow(Pieces):
    def read(self, x, lengths):
        return super().read(x, lengths[:1].expand(len(lengths)))


class TimeFirst(Pieces):
    """batch_first forgotten in packing."""

    def read(self, x, lengths):
        out, last = self.rnn(x.transpose(0, 1))
        return out.transpose(0, 1), last[:, : len(lengths)]


class BackwardNotTurnedRound(Stub):
    """The backward states stay in the order in which they were computed."""

    def forward(self, tokens, lengths):
        rows, starts = [], []
        for ids, length in zip(tokens, lengths.tolist(), strict=True):
            out, h = self.rnn(self.embedding(ids[None, :length]))
            ahead, back = out.chunk(2, -1)
            out = torch.cat([ahead, back.flip(1)], -1)
            rows.append(F.pad(out[0], (0, 0, 0, len(ids) - length)))
            starts.append(h[1, 0])
        return torch.stack(rows), torch.tanh(self.first_state(torch.stack(starts)))


class SameWeightsBothWays(Stub):
    """The backward RNN with the weights of the forward one."""

    def forward(self, tokens, lengths):
        x = self.embedding(tokens)
        outs = []
        for way in (range(x.shape[1]), reversed(range(x.shape[1]))):
            h, states = x.new_zeros(len(x), self.rnn.hidden_size), [None] * x.shape[1]
            for j in way:
                h = torch.where((j < lengths)[:, None], gru(self.rnn, x[:, j], h), h)
                states[j] = h
            outs.append(torch.stack(states, 1))
        return torch.cat(outs, -1), torch.tanh(self.first_state(outs[1][:, 0]))


class OtherGru(Stub):
    """The reset gate before the matrix, as in the first version of Cho's paper."""

    def _step(self, x, h, end):
        w = {n: getattr(self.rnn, f"{n}_l0{end}") for n in ("weight_ih", "weight_hh")}
        b = {n: getattr(self.rnn, f"{n}_l0{end}") for n in ("bias_ih", "bias_hh")}
        xr, xz, xn = F.linear(x, w["weight_ih"], b["bias_ih"]).chunk(3, -1)
        w_r, w_z, w_n = w["weight_hh"].chunk(3)
        b_r, b_z, b_n = b["bias_hh"].chunk(3)
        r, z = torch.sigmoid(xr + h @ w_r.T + b_r), torch.sigmoid(xz + h @ w_z.T + b_z)
        n = torch.tanh(xn + (r * h) @ w_n.T + b_n)
        return (1 - z) * n + z * h

    def forward(self, tokens, lengths):
        x = self.embedding(tokens)
        outs = []
        for end in ("", "_reverse"):
            way = range(x.shape[1]) if not end else reversed(range(x.shape[1]))
            h, states = x.new_zeros(len(x), self.rnn.hidden_size), [None] * x.shape[1]
            for j in way:
                h = torch.where((j < lengths)[:, None], self._step(x[:, j], h, end), h)
                states[j] = h
            outs.append(torch.stack(states, 1))
        return torch.cat(outs, -1), torch.tanh(self.first_state(outs[1][:, 0]))


class GatesSwapped(OtherGru):
    """z and r in the wrong order."""

    def _step(self, x, h, end):
        gates = F.linear(
            x, getattr(self.rnn, "weight_ih_l0" + end), getattr(self.rnn, "bias_ih_l0" + end)
        )
        states = F.linear(
            h, getattr(self.rnn, "weight_hh_l0" + end), getattr(self.rnn, "bias_hh_l0" + end)
        )
        xz, xr, xn = gates.chunk(3, -1)
        hz, hr, hn = states.chunk(3, -1)
        z, n = torch.sigmoid(xz + hz), torch.tanh(xn + torch.sigmoid(xr + hr) * hn)
        return (1 - z) * n + z * h


class SumOfDirections(Pieces):
    def read(self, x, lengths):
        out, last = super().read(x, lengths)
        return out.unflatten(-1, (2, -1)).sum(-2), last


class ForwardTwice(Pieces):
    def read(self, x, lengths):
        out, last = super().read(x, lengths)
        ahead = out.chunk(2, -1)[0]
        return torch.cat([ahead, ahead], -1), last


class Interleaved(Pieces):
    """Forward and backward number by number, not half by half."""

    def read(self, x, lengths):
        out, last = super().read(x, lengths)
        return out.unflatten(-1, (2, -1)).transpose(-1, -2).flatten(-2), last


class StartOfBothDirections(Pieces):
    def start(self, out, last, lengths):
        return torch.tanh(self.first_state(last.sum(0)))


class StartOfTheMean(Pieces):
    def start(self, out, last, lengths):
        back = out.chunk(2, -1)[1]
        return torch.tanh(self.first_state(back.sum(1) / lengths.unsqueeze(1)))


class StartFromLastColumn(Pieces):
    """The backward state at the last column, padding or not."""

    def start(self, out, last, lengths):
        return torch.tanh(self.first_state(out[:, -1, self.rnn.hidden_size :]))


class StartFromTheSecondWord(Pieces):
    def start(self, out, last, lengths):
        return torch.tanh(self.first_state(out[:, min(1, out.shape[1] - 1), -last.shape[2] :]))


class StartWithoutBias(Pieces):
    def start(self, out, last, lengths):
        return torch.tanh(last[1] @ self.first_state.weight.T)


class StartTransposed(Pieces):
    def start(self, out, last, lengths):
        return torch.tanh(last[1] @ self.first_state.weight + self.first_state.bias)


class StartOfReshapedStates(Pieces):
    """h_n (2, B, d) reshaped to (B, 2d): mixes sentences."""

    def start(self, out, last, lengths):
        back = last.reshape(len(lengths), -1)[:, self.rnn.hidden_size :]
        return torch.tanh(self.first_state(back))


class StartWithAxis(Pieces):
    def start(self, out, last, lengths):
        return torch.tanh(self.first_state(last[1:]))


class StartTwiceTanh(Pieces):
    def start(self, out, last, lengths):
        return torch.tanh(self.first_state(torch.tanh(last[1])))


class StartSigmoid(Pieces):
    def start(self, out, last, lengths):
        return torch.sigmoid(self.first_state(last[1]))


class StartCut(Pieces):
    def start(self, out, last, lengths):
        return torch.tanh(self.first_state(last[1].detach()))


class StartOfTheFirstSentence(Pieces):
    def start(self, out, last, lengths):
        return torch.tanh(self.first_state(last[1][:1])).expand(len(lengths), -1)


class Squeezed(Pieces):
    def start(self, out, last, lengths):
        return super().start(out, last, lengths).squeeze()


class RemembersTheLastBatch(Pieces):
    """The RNN starts from where the batch before ended."""

    state = None

    def read(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        if self.state is not None and self.state.shape[1] == len(x):
            out, last = self.rnn(packed, self.state)
        else:
            out, last = self.rnn(packed)
        self.state = last
        return pad_packed_sequence(out, batch_first=True, total_length=x.shape[1])[0], last


class RemembersTheEmbeddings(Pieces):
    kept = None

    def embed(self, tokens):
        if self.kept is None:
            self.kept = self.embedding(tokens)
        return self.kept


class RemembersTheLengths(Pieces):
    def read(self, x, lengths):
        if not hasattr(self, "lengths"):
            self.lengths = lengths
        return super().read(x, self.lengths)


class RandomStart(Pieces):
    def read(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        out, last = self.rnn(packed, torch.randn(2, len(x), self.rnn.hidden_size, dtype=x.dtype))
        return pad_packed_sequence(out, batch_first=True, total_length=x.shape[1])[0], last


class EmbeddingCut(Pieces):
    def embed(self, tokens):
        return self.embedding.weight.data[tokens]


class EmbeddingDropoutLeftOn(Pieces):
    def embed(self, tokens):
        return F.dropout(self.embedding(tokens), 0.1)


class EmbeddingTanh(Pieces):
    def embed(self, tokens):
        return torch.tanh(self.embedding(tokens))


class TokensShifted(Pieces):
    def embed(self, tokens):
        return self.embedding((tokens - 1).clamp(min=0))


class TokensOverwritten(Pieces):
    def forward(self, tokens, lengths):
        for row, n in zip(tokens, lengths.tolist(), strict=True):
            row[:n] = row[:n].flip(0)
        out, last = self.read(self.embed(tokens.clone()), lengths)
        return out, self.start(out, last, lengths)


class NanOnPadding(Pieces):
    def read(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        out, last = self.rnn(packed)
        padded = pad_packed_sequence(
            out, batch_first=True, padding_value=float("nan"), total_length=x.shape[1]
        )
        return padded[0], last


class OtherLayers(nn.Module):
    """Two RNNs of its own."""

    def __init__(self, vocabulary_size, embedding_size, hidden_size):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.forward_rnn = nn.GRU(embedding_size, hidden_size, batch_first=True)
        self.backward_rnn = nn.GRU(embedding_size, hidden_size, batch_first=True)
        self.first_state = nn.Linear(hidden_size, hidden_size)

    def forward(self, tokens, lengths):
        x = self.embedding(tokens)
        ahead, _ = self.forward_rnn(x)
        back, _ = self.backward_rnn(x.flip(1))
        return torch.cat([ahead, back.flip(1)], -1), torch.tanh(self.first_state(back[:, -1]))


class StartFromBoth(Pieces):
    """first_state for both directions: a parameter of another shape."""

    def __init__(self, vocabulary_size, embedding_size, hidden_size):
        super().__init__(vocabulary_size, embedding_size, hidden_size)
        self.first_state = nn.Linear(2 * hidden_size, hidden_size)

    def start(self, out, last, lengths):
        return torch.tanh(self.first_state(torch.cat([last[0], last[1]], -1)))


class Lstm(Stub):
    def __init__(self, vocabulary_size, embedding_size, hidden_size):
        super().__init__(vocabulary_size, embedding_size, hidden_size)
        self.rnn = nn.LSTM(embedding_size, hidden_size, batch_first=True, bidirectional=True)

    def forward(self, tokens, lengths):
        out, (h, _) = self.rnn(self.embedding(tokens))
        return out, torch.tanh(self.first_state(h[1]))


class NewRnnInForward(Stub):
    def forward(self, tokens, lengths):
        d = self.rnn.hidden_size
        rnn = nn.GRU(self.rnn.input_size, d, batch_first=True, bidirectional=True)
        out, h = rnn.to(self.embedding.weight.dtype)(self.embedding(tokens))
        return out, torch.tanh(self.first_state(h[1]))


class AnnotationsOnly(Pieces):
    def forward(self, tokens, lengths):
        return super().forward(tokens, lengths)[0]


class StartFirst(Pieces):
    def forward(self, tokens, lengths):
        out, start = super().forward(tokens, lengths)
        return start, out


class AsTorchReturnsIt(Pieces):
    """The packed sequence itself."""

    def forward(self, tokens, lengths):
        return self.rnn(
            pack_padded_sequence(self.embedding(tokens), lengths, True, enforce_sorted=False)
        )


class Always32(Pieces):
    def forward(self, tokens, lengths):
        out, start = super().forward(tokens, lengths)
        return out.float(), start.float()


class Preallocated32(Stub):
    def forward(self, tokens, lengths):
        out = torch.zeros(*tokens.shape, 2 * self.rnn.hidden_size)
        start = torch.zeros(len(tokens), self.rnn.hidden_size)
        for i, n in enumerate(lengths):
            states, h = self.rnn(self.embedding(tokens[i : i + 1, :n]))
            out[i, :n] = states[0]
            start[i] = torch.tanh(self.first_state(h[1, 0]))
        return out, start


class ReturnsNothing(Pieces):
    def forward(self, tokens, lengths):
        super().forward(tokens, lengths)


class ListOfSentences(Stub):
    def forward(self, tokens, lengths):
        outs = [self.rnn(self.embedding(t[None, :n])) for t, n in zip(tokens, lengths, strict=True)]
        start = torch.tanh(self.first_state(torch.cat([h[1] for _, h in outs])))
        return [out[0] for out, _ in outs], start


class Nothing(Stub):
    def forward(self, tokens, lengths):
        d = self.rnn.hidden_size
        return torch.zeros(*tokens.shape, 2 * d).double(), torch.zeros(len(tokens), d).double()


class HardCodedBatch(Pieces):
    def forward(self, tokens, lengths):
        out, start = super().forward(tokens, lengths)
        return out.reshape(2, -1, out.shape[-1]), start


WRONG = [
    EnforcesSorting,
    CutsTheWidth,
    ZeroedPadding,
    FullLengths,
    LengthsOffByOne,
    LengthsOfTheFirstRow,
    TimeFirst,
    BackwardNotTurnedRound,
    SameWeightsBothWays,
    OtherGru,
    GatesSwapped,
    SumOfDirections,
    ForwardTwice,
    Interleaved,
    StartOfBothDirections,
    StartOfTheMean,
    StartFromLastColumn,
    StartFromTheSecondWord,
    StartWithoutBias,
    StartTransposed,
    StartOfReshapedStates,
    StartWithAxis,
    StartTwiceTanh,
    StartSigmoid,
    StartCut,
    StartOfTheFirstSentence,
    Squeezed,
    RemembersTheLastBatch,
    RemembersTheEmbeddings,
    RemembersTheLengths,
    RandomStart,
    EmbeddingCut,
    EmbeddingDropoutLeftOn,
    EmbeddingTanh,
    TokensShifted,
    TokensOverwritten,
    NanOnPadding,
    OtherLayers,
    StartFromBoth,
    Lstm,
    NewRnnInForward,
    AnnotationsOnly,
    StartFirst,
    AsTorchReturnsIt,
    Always32,
    Preallocated32,
    ReturnsNothing,
    ListOfSentences,
    Nothing,
    HardCodedBatch,
]
