"""Answers to `AttentionClassifier`."""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from tqdm.auto import tqdm


class Stub(nn.Module):
    """What the stub gives: the layers."""

    def __init__(
        self,
        vocabulary_size: int,
        embedding_size: int,
        hidden_size: int,
        attention_size: int,
        classes: int,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.LSTM(embedding_size, hidden_size, batch_first=True, bidirectional=True)
        self.W = nn.Parameter(torch.empty(attention_size, 2 * hidden_size))
        self.U = nn.Parameter(torch.empty(attention_size, 2 * hidden_size))
        self.v = nn.Parameter(torch.empty(attention_size))
        self.output = nn.Linear(2 * hidden_size, classes)
        self.dropout = nn.Dropout(dropout)
        for parameter in (self.W, self.U):
            nn.init.xavier_uniform_(parameter)
        nn.init.normal_(self.v, std=attention_size**-0.5)


# Right


class Packed(Stub):
    def forward(self, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        N = tokens.shape[1]
        mask = torch.arange(N)[None] < lengths[:, None]
        x = self.dropout(self.embedding(tokens))
        p = pack_padded_sequence(x, lengths.clamp(1), batch_first=True, enforce_sorted=False)
        out, (h_n, _) = self.rnn(p)
        H = pad_packed_sequence(out, batch_first=True, total_length=N)[0]
        q = torch.cat((h_n[-2], h_n[-1]), -1)
        e = F.linear(torch.tanh(F.linear(q, self.W)[:, None] + F.linear(H, self.U)), self.v[None])
        a = e.squeeze(-1).masked_fill(~mask, -1e9).softmax(-1) * mask
        return self.output(self.dropout(torch.bmm(a[:, None], H).squeeze(1))), a


class OneSentenceAtATime(Stub):
    """No packing at all: each sentence is cut out, and an empty one is passed over."""

    def forward(self, tokens, lengths):
        logits, weights = [], []
        for ids, n in zip(tokens, lengths.tolist(), strict=True):
            row = self.v.new_zeros(len(ids))
            s = self.v.new_zeros(self.output.in_features)
            if n:
                states, (h, _) = self.rnn(self.embedding(ids[:n])[None])
                q = h[:, 0].reshape(-1)
                scores = torch.tanh(self.W @ q + states[0] @ self.U.T) @ self.v
                alpha = scores.softmax(0)
                row = torch.cat([alpha, row[n:]])
                s = alpha @ states[0]
            logits.append(self.output(s))
            weights.append(row)
        return torch.stack(logits), torch.stack(weights)


class FullSentencesOnly(Stub):
    """Sentences with words are picked out, read, and put back among the others."""

    def forward(self, tokens, lengths):
        B, N = tokens.shape
        some = lengths > 0
        logits = self.output.bias.expand(B, -1).clone()
        weights = self.v.new_zeros(B, N)
        if some.any():
            x, n = self.embedding(tokens[some]), lengths[some]
            out, (h, _) = self.rnn(pack_padded_sequence(x, n, True, enforce_sorted=False))
            out, _ = pad_packed_sequence(out, True, total_length=N)
            q = torch.cat([h[0], h[1]], 1)
            e = (torch.tanh((q @ self.W.T).unsqueeze(1) + out @ self.U.T) * self.v).sum(-1)
            e = e.masked_fill(torch.arange(N) >= n[:, None], -torch.inf)
            a = e.softmax(1)
            weights[some] = a
            logits[some] = self.output((a.unsqueeze(-1) * out).sum(1))
        return logits, weights


class MaskFromTokens(Stub):
    """Counts the words itself: ids of words are never 0. Takes the final states from the states."""

    def forward(self, tokens, lengths):
        mask = tokens.ne(0)
        count = mask.sum(1)
        x = self.embedding(tokens)
        packed = pack_padded_sequence(x, count.clamp(min=1), True, enforce_sorted=False)
        H, _ = pad_packed_sequence(self.rnn(packed)[0], True, 5.0, total_length=tokens.shape[1])
        d = self.rnn.hidden_size
        last = H[torch.arange(len(H)), (count - 1).clamp(min=0), :d]
        q = torch.cat([last, H[:, 0, d:]], -1)
        both = torch.cat([q[:, None].expand_as(H), H], -1)  # Bahdanau's score as Luong's concat
        scores = torch.tanh(both @ torch.cat([self.W, self.U], 1).T) @ self.v
        powers = torch.exp(scores) * mask
        total = powers.sum(1, keepdim=True)
        alpha = powers / torch.where(total > 0, total, torch.ones_like(total))
        return self.output(torch.einsum("bn,bnd->bd", alpha, H)), alpha


class GatesByHand(Stub):
    """The LSTM's equations; padding is passed over by torch.where."""

    def _read(self, x, lengths, suffix, order):
        w = {k: getattr(self.rnn, f"{k}_l0{suffix}") for k in ("weight_ih", "weight_hh")}
        b = getattr(self.rnn, f"bias_ih_l0{suffix}") + getattr(self.rnn, f"bias_hh_l0{suffix}")
        h = c = x.new_zeros(len(x), self.rnn.hidden_size)
        states = [h] * x.shape[1]
        for t in order:
            i, f, g, o = (x[:, t] @ w["weight_ih"].T + h @ w["weight_hh"].T + b).chunk(4, 1)
            real = (t < lengths)[:, None]
            c_new = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h_new = o.sigmoid() * c_new.tanh()
            h, c = torch.where(real, h_new, h), torch.where(real, c_new, c)
            states[t] = h
        return torch.stack(states, 1), h

    def forward(self, tokens, lengths):
        x = self.embedding(tokens)
        N = tokens.shape[1]
        there, last = self._read(x, lengths, "", range(N))
        back, first = self._read(x, lengths, "_reverse", reversed(range(N)))
        H, q = torch.cat([there, back], -1), torch.cat([last, first], -1)
        e = torch.tanh((q @ self.W.t()).unsqueeze(1) + H @ self.U.t()) @ self.v
        mask = torch.arange(N) < lengths[:, None]
        lowest = torch.finfo(e.dtype).min
        alpha = torch.where(mask, e, torch.full_like(e, lowest)).softmax(1) * mask
        return self.output((alpha[..., None] * H).sum(1)), alpha


class SortedFirst(Stub):
    def forward(self, tokens, lengths):
        order = lengths.argsort(descending=True)
        back = order.argsort()
        n = lengths[order]
        x = self.embedding(tokens[order])
        packed = pack_padded_sequence(x, n.clamp(min=1).tolist(), batch_first=True)
        out, (h, _) = self.rnn(packed)
        H = pad_packed_sequence(out, batch_first=True, total_length=tokens.shape[1])[0]
        q = h.permute(1, 0, 2).reshape(len(tokens), -1)
        e = torch.einsum("bna,a->bn", torch.tanh((q @ self.W.T)[:, None] + H @ self.U.T), self.v)
        mask = torch.arange(tokens.shape[1]) < n[:, None]
        alpha = torch.nan_to_num(e.masked_fill(~mask, -1e30).softmax(1)) * mask
        return self.output((alpha[:, None] @ H)[:, 0])[back], alpha[back]


class Wide(Stub):
    """Returns float64 whatever its dtype, and a list."""

    def forward(self, tokens, lengths):
        warnings.warn("wide", stacklevel=1)
        print("tokens", tokens.shape)
        print("lengths", lengths, file=sys.stderr)
        rows = []
        for i in tqdm(range(len(tokens))):
            n = max(int(lengths[i]), 1)
            states, (h, _) = self.rnn(self.embedding(tokens[i : i + 1, :n]))
            e = torch.tanh(torch.cat([h[0], h[1]], 1) @ self.W.T + states[0] @ self.U.T) @ self.v
            alpha = e.double().softmax(0) * bool(lengths[i] > 0)
            s = alpha @ states[0].double()
            logits = s @ self.output.weight.double().T + self.output.bias.double()
            rows.append((logits, F.pad(alpha, (0, tokens.shape[1] - n))))
        return [torch.stack(part) for part in zip(*rows, strict=True)]


RIGHT = [
    Packed,
    OneSentenceAtATime,
    FullSentencesOnly,
    MaskFromTokens,
    GatesByHand,
    SortedFirst,
    Wide,
]

# Wrong


class Pieces(Stub):
    """A right classifier; each of the wrong ones below replaces one piece."""

    def embed(self, tokens):
        return self.embedding(tokens)

    def read(self, x, lengths):
        packed = pack_padded_sequence(x, lengths.clamp(min=1), True, enforce_sorted=False)
        out, (h, c) = self.rnn(packed)
        return pad_packed_sequence(out, True, total_length=x.shape[1])[0], h, c

    def query(self, H, h, lengths):
        return torch.cat([h[0], h[1]], 1)

    def mask(self, tokens, lengths):
        return torch.arange(tokens.shape[1]) < lengths[:, None]

    def score(self, q, H):
        return torch.tanh((q @ self.W.T)[:, None] + H @ self.U.T) @ self.v

    def weigh(self, e, mask):
        return e.masked_fill(~mask, -1e9).softmax(1) * mask

    def average(self, alpha, H):
        return torch.einsum("bn,bnd->bd", alpha, H)

    def forward(self, tokens, lengths):
        H, h, _ = self.read(self.embed(tokens), lengths)
        alpha = self.weigh(self.score(self.query(H, h, lengths), H), self.mask(tokens, lengths))
        return self.output(self.average(alpha, H)), alpha


class EnforcesSorting(Pieces):
    def read(self, x, lengths):
        out, (h, c) = self.rnn(pack_padded_sequence(x, lengths.clamp(min=1), True))
        return pad_packed_sequence(out, True, total_length=x.shape[1])[0], h, c


class CutsTheWidth(Pieces):
    """Without total_length the states end at the longest sentence."""

    def read(self, x, lengths):
        packed = pack_padded_sequence(x, lengths.clamp(min=1), True, enforce_sorted=False)
        out, (h, c) = self.rnn(packed)
        return pad_packed_sequence(out, True)[0], h, c

    def mask(self, tokens, lengths):
        return torch.arange(max(1, int(lengths.max()))) < lengths[:, None]


class ZeroedPadding(Pieces):
    """Zeros in place of padding, but the LSTM reads them all the same."""

    def read(self, x, lengths):
        real = self.mask(x[..., 0], lengths)
        out, (h, c) = self.rnn(x * real[..., None])
        return out, h, c


class ForwardQueryTwice(Pieces):
    def query(self, H, h, lengths):
        return torch.cat([h[0], h[0]], 1)


class BackwardQueryTwice(Pieces):
    def query(self, H, h, lengths):
        return torch.cat([h[1], h[1]], 1)


class QueryOfTheMean(Pieces):
    def query(self, H, h, lengths):
        return H.sum(1) / lengths.clamp(min=1)[:, None]


class QueryOfTheFirstWord(Pieces):
    def query(self, H, h, lengths):
        return H[:, 0]


class QueryOfTheFirstSentence(Pieces):
    def query(self, H, h, lengths):
        return super().query(H, h, lengths)[:1].expand(len(H), -1)


class QueryDetached(Pieces):
    def query(self, H, h, lengths):
        return super().query(H, h, lengths).detach()


class StatesDetached(Pieces):
    def average(self, alpha, H):
        return super().average(alpha, H.detach())


class EmbeddingDetached(Pieces):
    def embed(self, tokens):
        return self.embedding(tokens).detach()


class WeightsDetached(Pieces):
    def average(self, alpha, H):
        return super().average(alpha.detach(), H)


class DotProductScore(Pieces):
    def score(self, q, H):
        return torch.einsum("ba,bna->bn", q @ self.W.T, H @ self.U.T)


class ReluScore(Pieces):
    def score(self, q, H):
        return torch.relu((q @ self.W.T)[:, None] + H @ self.U.T) @ self.v


class WithoutV(Pieces):
    def score(self, q, H):
        return torch.tanh((q @ self.W.T)[:, None] + H @ self.U.T).sum(-1)


class ScaledScore(Pieces):
    def score(self, q, H):
        return super().score(q, H) / len(self.v) ** 0.5


class TanhOfTheScore(Pieces):
    def score(self, q, H):
        return torch.tanh(super().score(q, H))


class SoftmaxOverTheBatch(Pieces):
    def weigh(self, e, mask):
        return e.masked_fill(~mask, -1e9).softmax(0) * mask


class SigmoidWeights(Pieces):
    def weigh(self, e, mask):
        return torch.sigmoid(e) * mask


class FilledWithMinusFive(Pieces):
    def weigh(self, e, mask):
        return e.masked_fill(~mask, -5.0).softmax(1) * mask


class NanForEmpty(Pieces):
    def weigh(self, e, mask):
        return e.masked_fill(~mask, -torch.inf).softmax(1)


class UniformForEmpty(Pieces):
    def weigh(self, e, mask):
        return e.masked_fill(~mask, -1e9).softmax(1)


class Hardest(Pieces):
    """All the weight on the best word."""

    def weigh(self, e, mask):
        best = e.masked_fill(~mask, -1e9).argmax(1)
        return F.one_hot(best, e.shape[1]).to(e.dtype) * mask


class MaskOneTooLong(Pieces):
    def mask(self, tokens, lengths):
        return torch.arange(tokens.shape[1]) <= lengths[:, None]


class MaskOneTooShort(Pieces):
    def mask(self, tokens, lengths):
        return torch.arange(tokens.shape[1]) < lengths[:, None] - 1


class MaskInverted(Pieces):
    def mask(self, tokens, lengths):
        return ~super().mask(tokens, lengths)


class AverageOverLength(Pieces):
    def average(self, alpha, H):
        return (alpha[..., None] * H).mean(1)


class AverageOfEmbeddings(Pieces):
    """Where the sizes allow it; the mean of the states otherwise."""

    def average(self, alpha, H):
        return H.mean(1)


class QueryAdded(Pieces):
    def forward(self, tokens, lengths):
        H, h, _ = self.read(self.embed(tokens), lengths)
        q = self.query(H, h, lengths)
        alpha = self.weigh(self.score(q, H), self.mask(tokens, lengths))
        return self.output(self.average(alpha, H) + q), alpha


class LogProbabilities(Pieces):
    def forward(self, tokens, lengths):
        logits, alpha = super().forward(tokens, lengths)
        return logits.log_softmax(1), alpha


class TanhBeforeOutput(Pieces):
    def average(self, alpha, H):
        return torch.tanh(super().average(alpha, H))


class DropoutLeftOn(Pieces):
    def average(self, alpha, H):
        return F.dropout(super().average(alpha, H), 0.2)


class OutputWithoutBias(Pieces):
    def forward(self, tokens, lengths):
        logits, alpha = super().forward(tokens, lengths)
        return logits - self.output.bias, alpha


class WeightsFirst(Pieces):
    def forward(self, tokens, lengths):
        return super().forward(tokens, lengths)[::-1]


class LogitsOnly(Pieces):
    def forward(self, tokens, lengths):
        return super().forward(tokens, lengths)[0]


class ScoresForWeights(Pieces):
    def forward(self, tokens, lengths):
        H, h, _ = self.read(self.embed(tokens), lengths)
        e = self.score(self.query(H, h, lengths), H)
        alpha = self.weigh(e, self.mask(tokens, lengths))
        return self.output(self.average(alpha, H)), e


class EmptyBiasForgotten(Pieces):
    """Zero logits where there is nothing to read."""

    def forward(self, tokens, lengths):
        logits, alpha = super().forward(tokens, lengths)
        return logits * (lengths > 0)[:, None], alpha


class KeepsTheMask(Pieces):
    kept = None

    def mask(self, tokens, lengths):
        if self.kept is None:
            self.kept = super().mask(tokens, lengths)
        return self.kept


class KeepsTheQuery(Pieces):
    kept = None

    def query(self, H, h, lengths):
        if self.kept is None:
            self.kept = super().query(H, h, lengths)
        return self.kept


class StateFromBatchToBatch(Pieces):
    """The LSTM starts where the last batch ended."""

    state = None

    def read(self, x, lengths):
        packed = pack_padded_sequence(x, lengths.clamp(min=1), True, enforce_sorted=False)
        out, (h, c) = self.rnn(packed, self.state)
        self.state = (h, c)
        return pad_packed_sequence(out, True, total_length=x.shape[1])[0], h, c


class TokensOverwritten(Pieces):
    def forward(self, tokens, lengths):
        found = super().forward(tokens.clone(), lengths)
        tokens[tokens == 1] = 0
        return found


class LengthsOverwritten(Pieces):
    """clamp_ writes into what it is given."""

    def forward(self, tokens, lengths):
        return super().forward(tokens, lengths.clamp_(min=1))


class RightToLeft(Pieces):
    def forward(self, tokens, lengths):
        return super().forward(tokens.flip(1), lengths)


class AnotherLstm(Stub):
    """One direction of twice the size."""

    def __init__(self, vocabulary_size, embedding_size, hidden_size, attention_size, classes):
        super().__init__(vocabulary_size, embedding_size, hidden_size, attention_size, classes)
        self.rnn = nn.LSTM(embedding_size, 2 * hidden_size, batch_first=True)

    def forward(self, tokens, lengths):
        H, (h, _) = self.rnn(self.embedding(tokens))
        return self.output(h[0]), H[..., 0].softmax(1)


class NewLayerInForward(Pieces):
    def forward(self, tokens, lengths):
        logits, alpha = super().forward(tokens, lengths)
        new = nn.Linear(logits.shape[1], logits.shape[1]).to(logits.dtype)
        return new(logits), alpha


class In32(Pieces):
    def forward(self, tokens, lengths):
        logits, alpha = super().forward(tokens, lengths)
        return logits.float(), alpha


class ReturnsNothing(Pieces):
    def forward(self, tokens, lengths):
        super().forward(tokens, lengths)


WRONG = [
    EnforcesSorting,
    CutsTheWidth,
    ZeroedPadding,
    ForwardQueryTwice,
    BackwardQueryTwice,
    QueryOfTheMean,
    QueryOfTheFirstWord,
    QueryOfTheFirstSentence,
    QueryDetached,
    StatesDetached,
    EmbeddingDetached,
    WeightsDetached,
    DotProductScore,
    ReluScore,
    WithoutV,
    ScaledScore,
    TanhOfTheScore,
    SoftmaxOverTheBatch,
    SigmoidWeights,
    FilledWithMinusFive,
    NanForEmpty,
    UniformForEmpty,
    Hardest,
    MaskOneTooLong,
    MaskOneTooShort,
    MaskInverted,
    AverageOverLength,
    AverageOfEmbeddings,
    QueryAdded,
    LogProbabilities,
    TanhBeforeOutput,
    DropoutLeftOn,
    OutputWithoutBias,
    WeightsFirst,
    LogitsOnly,
    ScoresForWeights,
    EmptyBiasForgotten,
    KeepsTheMask,
    KeepsTheQuery,
    StateFromBatchToBatch,
    TokensOverwritten,
    LengthsOverwritten,
    RightToLeft,
    AnotherLstm,
    NewLayerInForward,
    In32,
    ReturnsNothing,
]
