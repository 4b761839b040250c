"""Answers to `Encoder`."""

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
        self.rnn = nn.GRU(embedding_size, hidden_size, batch_first=True)
        self.dropout = nn.Dropout(dropout)


# Right


class Packed(nn.Module):
    def __init__(
        self, vocabulary_size: int, embedding_size: int, hidden_size: int, dropout: float = 0.0
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.GRU(embedding_size, hidden_size, batch_first=True)
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens, lengths):
        x = pack_padded_sequence(
            self.embedding(tokens), lengths.tolist(), batch_first=True, enforce_sorted=False
        )
        out, h_n = self.rnn(x)
        out, _ = pad_packed_sequence(out, batch_first=True, total_length=tokens.size(1))
        return out, h_n.squeeze(0)


class Gathered(Stub):
    """Reads the padding, but looks at each sentence's last word; garbage is left on the padding."""

    def forward(self, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        states, _ = self.rnn(self.dropout(self.embedding(tokens)))
        at = (lengths - 1).view(-1, 1, 1).expand(-1, 1, states.shape[-1])
        return states, states.gather(1, at).squeeze(1)


class Indexed(Stub):
    def forward(self, tokens, lengths):
        out = self.rnn(self.embedding(tokens))[0]
        return out, out[torch.arange(len(tokens)), lengths - 1]


class HandWrittenCell(Stub):
    """The equations of the GRU by hand, with padding passed over by torch.where."""

    def forward(self, tokens, lengths):
        x, d = self.embedding(tokens), self.rnn.hidden_size
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


class SortedAndUnsorted(Stub):
    def forward(self, tokens, lengths):
        order = torch.argsort(lengths, descending=True)
        back = torch.argsort(order)
        x = self.embedding(tokens[order])
        out, h = self.rnn(pack_padded_sequence(x, lengths[order], batch_first=True))
        out = pad_packed_sequence(out, batch_first=True, total_length=tokens.shape[1])[0]
        return out[back], h[-1][back]


class OneSentenceAtATime(Stub):
    def forward(self, tokens, lengths):
        rows, finals = [], []
        for ids, length in zip(tokens, lengths, strict=True):
            out, h = self.rnn(self.embedding(ids[None, :length]))
            garbage = torch.full((1, len(ids) - int(length), out.shape[2]), 7.0, dtype=out.dtype)
            rows.append(torch.cat([out, garbage], 1))
            finals.append(h[0])
        return torch.cat(rows), torch.cat(finals)


class LengthsFromTokens(Stub):
    """Counts the words itself: ids of words are never 0."""

    def forward(self, tokens, lengths):
        packed = pack_padded_sequence(self.embedding(tokens), tokens.ne(0).sum(1), True, False)
        out, h = self.rnn(packed)
        return pad_packed_sequence(out, True, -3.0, tokens.shape[1])[0], h.view(len(tokens), -1)


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
        final = torch.stack([out[-1] for out in outs])
        out = pad_sequence(outs, batch_first=True)
        return F.pad(out, (0, 0, 0, tokens.shape[1] - out.shape[1])), final


class Wide(Stub):
    """Returns float64 whatever its dtype."""

    def forward(self, tokens, lengths):
        packed = pack_padded_sequence(
            self.embedding(tokens), lengths, batch_first=True, enforce_sorted=False
        )
        out, h = self.rnn(packed)
        out, _ = pad_packed_sequence(out, batch_first=True, total_length=tokens.shape[1])
        return out.double(), h[0].double()


class PaddingIndex(Stub):
    """An embedding that knows about padding, a first state of its own, dropout off in eval."""

    def __init__(self, vocabulary_size, embedding_size, hidden_size):
        super().__init__(vocabulary_size, embedding_size, hidden_size, dropout=0.5)
        self.embedding = nn.Embedding(vocabulary_size, embedding_size, padding_idx=0)

    def forward(self, x, n):
        x = self.dropout(self.embedding(x))
        h = x.new_zeros(1, len(x), self.rnn.hidden_size)
        packed = pack_padded_sequence(x, n.cpu(), batch_first=True, enforce_sorted=False)
        states, h = self.rnn(packed, h)
        states, _ = pad_packed_sequence(states, batch_first=True, total_length=x.shape[1])
        return self.dropout(states), h[0]


RIGHT = [
    Packed,
    Gathered,
    Indexed,
    HandWrittenCell,
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
        return out, last[0]

    def forward(self, tokens, lengths):
        return self.read(self.embed(tokens), lengths)


class EnforcesSorting(Pieces):
    def read(self, x, lengths):
        out, last = self.rnn(pack_padded_sequence(x, lengths, batch_first=True))
        return pad_packed_sequence(out, batch_first=True, total_length=x.shape[1])[0], last[0]


class CutsTheWidth(Pieces):
    """Without total_length the states end at the longest sentence."""

    def read(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        out, last = self.rnn(packed)
        return pad_packed_sequence(out, batch_first=True)[0], last[0]


class ZeroedPadding(Pieces):
    """Zeros in place of padding, but the RNN reads them all the same."""

    def read(self, x, lengths):
        real = torch.arange(x.shape[1]) < lengths.unsqueeze(1)
        out, last = self.rnn(x * real.unsqueeze(-1))
        return out, last[0]


class FullLengths(Pieces):
    def read(self, x, lengths):
        return super().read(x, torch.full_like(lengths, int(lengths.max())))


class LengthsOffByOne(Pieces):
    def read(self, x, lengths):
        return super().read(x, (lengths - 1).clamp(min=1))


class LengthsOfTheFirstRow(Pieces):
    def read(self, x, lengths):
        return super().read(x, lengths[:1].expand(len(lengths)))


class OneWordBeforeTheLast(Pieces):
    def read(self, x, lengths):
        out, _ = super().read(x, lengths)
        return out, out[torch.arange(len(x)), (lengths - 2).clamp(min=0)]


class OnePlaceTooFar(Pieces):
    """Position `lengths` is the first of the padding."""

    def read(self, x, lengths):
        out, _ = self.rnn(x)
        return out, out[torch.arange(len(x)), lengths.clamp(max=x.shape[1] - 1)]


class IndexBeyondTheEnd(Pieces):
    def read(self, x, lengths):
        out, _ = self.rnn(x)
        return out, out[torch.arange(len(x)), lengths]


class TimeFirst(Pieces):
    """The axes are turned, though the RNN has the batch first."""

    def read(self, x, lengths):
        out, last = self.rnn(x.transpose(0, 1))
        return out.transpose(0, 1), last[0, : len(lengths)]


class AxisKept(Pieces):
    def read(self, x, lengths):
        out, last = super().read(x, lengths)
        return out, last.unsqueeze(0)


class Squeezed(Pieces):
    def read(self, x, lengths):
        out, last = super().read(x, lengths)
        return out, last.squeeze()


class FinalFirst(Pieces):
    def read(self, x, lengths):
        return super().read(x, lengths)[::-1]


class FinalOnly(Pieces):
    def read(self, x, lengths):
        return super().read(x, lengths)[1]


class FinalTanh(Pieces):
    """A layer's tanh, without the layer."""

    def read(self, x, lengths):
        out, last = super().read(x, lengths)
        return out, torch.tanh(last)


class FinalIsTheSum(Pieces):
    def read(self, x, lengths):
        out, _ = super().read(x, lengths)
        return out, out.sum(1)


class FinalIsTheMaximum(Pieces):
    def read(self, x, lengths):
        out, _ = super().read(x, lengths)
        real = (torch.arange(x.shape[1]) < lengths.unsqueeze(1)).unsqueeze(-1)
        return out, out.masked_fill(~real, -9.0).amax(1)


class FinalOfTheFirstSentence(Pieces):
    def read(self, x, lengths):
        out, last = super().read(x, lengths)
        return out, last[:1].expand_as(last)


class RightToLeft(Pieces):
    """Each sentence is read backwards."""

    def forward(self, tokens, lengths):
        tokens = tokens.clone()
        for row, n in zip(tokens, lengths.tolist(), strict=True):
            row[:n] = row[:n].flip(0)
        return super().forward(tokens, lengths)


class StateAlwaysZero(Pieces):
    """The state is forgotten after each word."""

    def read(self, x, lengths):
        flat, _ = self.rnn(x.reshape(-1, 1, x.shape[-1]))
        out = flat.reshape(*x.shape[:2], -1)
        return out, out[torch.arange(len(x)), lengths - 1]


class StartsFromOnes(Pieces):
    def read(self, x, lengths):
        out, _ = self.rnn(x, torch.ones(1, len(x), self.rnn.hidden_size, dtype=x.dtype))
        return out, out[torch.arange(len(x)), lengths - 1]


class StartsAtRandom(Pieces):
    def read(self, x, lengths):
        out, _ = self.rnn(x, torch.randn(1, len(x), self.rnn.hidden_size, dtype=x.dtype))
        return out, out[torch.arange(len(x)), lengths - 1]


class FirstStateIn32(Pieces):
    """A first state without the dtype of the words."""

    def read(self, x, lengths):
        out, _ = self.rnn(x, torch.zeros(1, len(x), self.rnn.hidden_size))
        return out, out[torch.arange(len(x)), lengths - 1]


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


class OtherGru(Stub):
    """The reset gate before the matrix, as in the paper."""

    def forward(self, tokens, lengths):
        x, d = self.embedding(tokens), self.rnn.hidden_size
        w, b = self.rnn.weight_hh_l0, self.rnn.bias_hh_l0
        h, states = x.new_zeros(len(x), d), []
        for t in range(tokens.shape[1]):
            gx = x[:, t] @ self.rnn.weight_ih_l0.T + self.rnn.bias_ih_l0
            gates = torch.sigmoid(gx[:, : 2 * d] + h @ w[: 2 * d].T + b[: 2 * d])
            r, z = gates.chunk(2, -1)
            n = torch.tanh(gx[:, 2 * d :] + (r * h) @ w[2 * d :].T + b[2 * d :])
            h = torch.where((t < lengths)[:, None], (1 - z) * n + z * h, h)
            states.append(h)
        return torch.stack(states, 1), h


class EmbeddingCut(Pieces):
    def embed(self, tokens):
        return self.embedding.weight.data[tokens]


class StatesCut(Pieces):
    def read(self, x, lengths):
        out, last = super().read(x, lengths)
        return out.detach(), last


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
        out = self.read(self.embed(tokens.clone()), lengths)
        tokens[tokens == 1] = 0
        return out


class NanOnPadding(Pieces):
    def read(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        out, last = self.rnn(packed)
        padded = pad_packed_sequence(
            out, batch_first=True, padding_value=float("nan"), total_length=x.shape[1]
        )
        return padded[0], last[0]


class Bidirectional(Stub):
    """Another network: twice the parameters."""

    def __init__(self, vocabulary_size, embedding_size, hidden_size):
        super().__init__(vocabulary_size, embedding_size, hidden_size)
        self.rnn = nn.GRU(embedding_size, hidden_size, batch_first=True, bidirectional=True)

    def forward(self, tokens, lengths):
        out, h = self.rnn(self.embedding(tokens))
        return out, h[0]


class Lstm(Stub):
    def __init__(self, vocabulary_size, embedding_size, hidden_size):
        super().__init__(vocabulary_size, embedding_size, hidden_size)
        self.rnn = nn.LSTM(embedding_size, hidden_size, batch_first=True)

    def forward(self, tokens, lengths):
        out, (h, _) = self.rnn(self.embedding(tokens))
        return out, h[0]


class NewRnnInForward(Stub):
    def forward(self, tokens, lengths):
        rnn = nn.GRU(self.rnn.input_size, self.rnn.hidden_size, batch_first=True)
        out, h = rnn.to(self.embedding.weight.dtype)(self.embedding(tokens))
        return out, h[0]


class AsTorchReturnsIt(Pieces):
    """The packed sequence itself."""

    def read(self, x, lengths):
        return self.rnn(pack_padded_sequence(x, lengths, True, enforce_sorted=False))


class Always32(Pieces):
    def read(self, x, lengths):
        out, last = super().read(x, lengths)
        return out.float(), last.float()


class Preallocated32(Stub):
    def forward(self, tokens, lengths):
        out = torch.zeros(*tokens.shape, self.rnn.hidden_size)
        final = torch.zeros(len(tokens), self.rnn.hidden_size)
        for i, n in enumerate(lengths):
            states, h = self.rnn(self.embedding(tokens[i : i + 1, :n]))
            out[i, :n] = states[0]
            final[i] = h[0, 0]
        return out, final


class ReturnsNothing(Pieces):
    def forward(self, tokens, lengths):
        super().forward(tokens, lengths)


class ListOfSentences(Stub):
    def forward(self, tokens, lengths):
        outs = [self.rnn(self.embedding(t[None, :n])) for t, n in zip(tokens, lengths, strict=True)]
        return [out[0] for out, _ in outs], torch.cat([h[0] for _, h in outs])


class Nothing(Stub):
    def forward(self, tokens, lengths):
        d = self.rnn.hidden_size
        return torch.zeros(*tokens.shape, d).double(), torch.zeros(len(tokens), d).double()


WRONG = [
    EnforcesSorting,
    CutsTheWidth,
    ZeroedPadding,
    FullLengths,
    LengthsOffByOne,
    LengthsOfTheFirstRow,
    OneWordBeforeTheLast,
    OnePlaceTooFar,
    IndexBeyondTheEnd,
    TimeFirst,
    AxisKept,
    Squeezed,
    FinalFirst,
    FinalOnly,
    FinalTanh,
    FinalIsTheSum,
    FinalIsTheMaximum,
    FinalOfTheFirstSentence,
    RightToLeft,
    StateAlwaysZero,
    StartsFromOnes,
    StartsAtRandom,
    FirstStateIn32,
    RemembersTheEmbeddings,
    RemembersTheLengths,
    OtherGru,
    EmbeddingCut,
    StatesCut,
    EmbeddingDropoutLeftOn,
    EmbeddingTanh,
    TokensShifted,
    TokensOverwritten,
    NanOnPadding,
    Bidirectional,
    Lstm,
    NewRnnInForward,
    AsTorchReturnsIt,
    Always32,
    Preallocated32,
    ReturnsNothing,
    ListOfSentences,
    Nothing,
]
