"""Answers to `StructuredClassifier`."""

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
        attention: nn.Module,
        hops: int,
        inner_size: int,
        classes: int,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.LSTM(embedding_size, hidden_size, batch_first=True, bidirectional=True)
        self.attention = attention
        self.hidden = nn.Linear(hops * 2 * hidden_size, inner_size)
        self.output = nn.Linear(inner_size, classes)
        self.dropout = nn.Dropout(dropout)


# Right


class Packed(Stub):
    def forward(self, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        N = tokens.shape[1]
        x = self.dropout(self.embedding(tokens))
        p = pack_padded_sequence(x, lengths.clamp(1).cpu(), True, enforce_sorted=False)
        H = pad_packed_sequence(self.rnn(p)[0], True, total_length=N)[0]
        M, A = self.attention(H, torch.arange(N) < lengths.view(-1, 1))
        flat = self.dropout(M.view(len(M), -1)) if M.is_contiguous() else M.flatten(1)
        return self.output(F.relu(self.hidden(flat))), A


class OneSentenceAtATime(Stub):
    """No packing: each sentence is cut out, and an empty one has states of zeros."""

    def forward(self, tokens, lengths):
        H = []
        for ids, n in zip(tokens, lengths.tolist(), strict=True):
            rest = self.output.weight.new_zeros(1, len(ids) - n, 2 * self.rnn.hidden_size)
            states = self.rnn(self.embedding(ids[None, :n]))[0] if n else rest[:, :0]
            H.append(torch.cat([states, rest], 1))
        H = torch.cat(H)
        mask = torch.arange(tokens.shape[1]).expand_as(tokens) < lengths[:, None]
        M, A = self.attention(states=H, mask=mask)
        inner = self.hidden(torch.cat(list(M.unbind(1)), dim=-1)).clamp(min=0)
        return self.output(inner), A


class MaskFromTokens(Stub):
    def forward(self, tokens, lengths):
        mask = tokens != 0
        packed = pack_padded_sequence(
            self.embedding(tokens), mask.sum(1).clamp(min=1), True, enforce_sorted=False
        )
        H, _ = pad_packed_sequence(self.rnn(packed)[0], True, -2.0, tokens.shape[1])
        M, A = self.attention(H, mask)
        return self.output(torch.relu(self.hidden(M.reshape(M.shape[0], -1)))), A


class FullSentencesOnly(Stub):
    """Sentences with words are picked out, read and put back."""

    def forward(self, tokens, lengths):
        B, N = tokens.shape
        some = lengths > 0
        H = self.hidden.weight.new_zeros(B, N, 2 * self.rnn.hidden_size)
        if some.any():
            x = self.embedding(tokens[some])
            p = pack_padded_sequence(x, lengths[some], True, enforce_sorted=False)
            H[some] = pad_packed_sequence(self.rnn(p)[0], True, total_length=N)[0]
        M, A = self.attention(H, torch.arange(N)[None] < lengths[:, None])
        return self.output(self.hidden(M.flatten(start_dim=1)).relu()), A


class HopsThroughTheirOwnColumns(Stub):
    """W_h cut into a block for each hop."""

    def forward(self, tokens, lengths):
        N = tokens.shape[1]
        rows = pack_padded_sequence(
            self.embedding(tokens), lengths.clamp(min=1), batch_first=True, enforce_sorted=False
        )
        out, _ = pad_packed_sequence(self.rnn(rows)[0], batch_first=True)
        H = F.pad(out, (0, 0, 0, N - out.shape[1]))
        M, A = self.attention(H, torch.arange(N) < lengths[:, None])
        blocks = self.hidden.weight.unflatten(1, M.shape[1:])  # (m, r, 2d)
        inner = torch.einsum("mrd,brd->bm", blocks, M) + self.hidden.bias
        return F.linear(inner * (inner > 0), self.output.weight, self.output.bias), A


class GatesByHand(Stub):
    """The LSTM's equations; padding is passed over by torch.where."""

    def _read(self, x, lengths, suffix, order):
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        w_ih, w_hh, b_ih, b_hh = (getattr(self.rnn, f"{name}_l0{suffix}") for name in names)
        h = c = x.new_zeros(len(x), self.rnn.hidden_size)
        states = [h] * x.shape[1]
        for t in order:
            i, f, g, o = (x[:, t] @ w_ih.T + b_ih + h @ w_hh.T + b_hh).chunk(4, 1)
            real = (t < lengths)[:, None]
            new = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = torch.where(real, o.sigmoid() * new.tanh(), h)
            c = torch.where(real, new, c)
            states[t] = h
        return torch.stack(states, 1)

    def forward(self, tokens, lengths):
        x, N = self.embedding(tokens), tokens.shape[1]
        H = torch.cat(
            [
                self._read(x, lengths, "", range(N)),
                self._read(x, lengths, "_reverse", range(N - 1, -1, -1)),
            ],
            -1,
        )
        M, A = self.attention(H, torch.arange(N) < lengths[:, None])
        return self.output(torch.relu(self.hidden(M.flatten(1)))), A


class Wide(Stub):
    """Returns float64 whatever its dtype, and a list."""

    def forward(self, tokens, lengths):
        warnings.warn("wide", stacklevel=1)
        print("lengths", lengths, file=sys.stderr)
        N, states = tokens.shape[1], []
        for i in tqdm(range(len(tokens))):
            n = max(int(lengths[i]), 1)
            print("sentence", i)
            found, _ = self.rnn(self.embedding(tokens[i : i + 1, :n]))
            states.append(F.pad(found, (0, 0, 0, N - n)))
        M, A = self.attention(torch.cat(states), torch.arange(N) < lengths[:, None])
        wide = M.double().flatten(1) @ self.hidden.weight.double().T + self.hidden.bias.double()
        return [wide.relu() @ self.output.weight.double().T + self.output.bias, A.double()]


RIGHT = [
    Packed,
    OneSentenceAtATime,
    MaskFromTokens,
    FullSentencesOnly,
    HopsThroughTheirOwnColumns,
    GatesByHand,
    Wide,
]

# Wrong


class Pieces(Stub):
    """A right classifier; each of the wrong ones below replaces one piece."""

    def embed(self, tokens):
        return self.embedding(tokens)

    def read(self, x, lengths):
        packed = pack_padded_sequence(x, lengths.clamp(min=1), True, enforce_sorted=False)
        return pad_packed_sequence(self.rnn(packed)[0], True, total_length=x.shape[1])[0]

    def mask(self, tokens, lengths):
        return torch.arange(tokens.shape[1]) < lengths[:, None]

    def flat(self, M):
        return M.reshape(len(M), -1)

    def inner(self, flat):
        return torch.relu(self.hidden(flat))

    def forward(self, tokens, lengths):
        H = self.read(self.embed(tokens), lengths)
        M, A = self.attention(H, self.mask(tokens, lengths))
        return self.output(self.inner(self.flat(M))), A


class EnforcesSorting(Pieces):
    def read(self, x, lengths):
        packed = pack_padded_sequence(x, lengths.clamp(min=1), True)
        return pad_packed_sequence(self.rnn(packed)[0], True, total_length=x.shape[1])[0]


class CutsTheWidth(Pieces):
    """Without total_length the states end at the longest sentence."""

    def read(self, x, lengths):
        packed = pack_padded_sequence(x, lengths.clamp(min=1), True, enforce_sorted=False)
        return pad_packed_sequence(self.rnn(packed)[0], True)[0]

    def mask(self, tokens, lengths):
        return torch.arange(max(1, int(lengths.max()))) < lengths[:, None]


class ZeroedPadding(Pieces):
    def read(self, x, lengths):
        return self.rnn(x * self.mask(x[..., 0], lengths)[..., None])[0]


class OneDirection(Pieces):
    """The forward states twice."""

    def read(self, x, lengths):
        there, _ = super().read(x, lengths).chunk(2, -1)
        return torch.cat([there, there], -1)


class DirectionsSwapped(Pieces):
    def read(self, x, lengths):
        there, back = super().read(x, lengths).chunk(2, -1)
        return torch.cat([back, there], -1)


class RightToLeft(Pieces):
    def embed(self, tokens):
        return self.embedding(tokens.flip(1))


class EmbeddingDetached(Pieces):
    def embed(self, tokens):
        return self.embedding(tokens).detach()


class StatesDetached(Pieces):
    def read(self, x, lengths):
        return super().read(x, lengths).detach()


class MatrixDetached(Pieces):
    def flat(self, M):
        return super().flat(M).detach()


class MaskOneTooLong(Pieces):
    def mask(self, tokens, lengths):
        return torch.arange(tokens.shape[1]) <= lengths[:, None]


class MaskOneTooShort(Pieces):
    def mask(self, tokens, lengths):
        return torch.arange(tokens.shape[1]) < lengths[:, None] - 1


class MaskOfTheFirstSentence(Pieces):
    def mask(self, tokens, lengths):
        return super().mask(tokens, lengths)[:1].expand_as(tokens)


class FlatFromTheEnd(Pieces):
    def flat(self, M):
        return super().flat(M.flip(1))


class FlatOverTheBatch(Pieces):
    """Stacked with the hops first, then viewed: the right shape, mixed-up sentences."""

    def flat(self, M):
        return M.transpose(0, 1).reshape(len(M), -1)


class SumOfTheHops(Pieces):
    def flat(self, M):
        return super().flat(M.sum(1, keepdim=True).expand_as(M))


class LargestOfTheHops(Pieces):
    def flat(self, M):
        return super().flat(M.amax(1, keepdim=True).expand_as(M))


class FirstHopOnly(Pieces):
    def flat(self, M):
        return super().flat(M[:, :1].expand_as(M))


class FlatNormalised(Pieces):
    def flat(self, M):
        return F.normalize(super().flat(M), dim=-1)


class ReluOfTheMatrix(Pieces):
    def flat(self, M):
        return super().flat(M).relu()


class SigmoidInside(Pieces):
    def inner(self, flat):
        return torch.sigmoid(self.hidden(flat))


class LeakyInside(Pieces):
    def inner(self, flat):
        return F.leaky_relu(self.hidden(flat))


class GeluInside(Pieces):
    def inner(self, flat):
        return F.gelu(self.hidden(flat))


class HiddenWithoutBias(Pieces):
    def inner(self, flat):
        return torch.relu(flat @ self.hidden.weight.T)


class DropoutLeftOn(Pieces):
    def inner(self, flat):
        return F.dropout(super().inner(flat), 0.2)


class OutputWithoutBias(Pieces):
    def forward(self, tokens, lengths):
        logits, A = super().forward(tokens, lengths)
        return logits - self.output.bias, A


class LogProbabilities(Pieces):
    def forward(self, tokens, lengths):
        logits, A = super().forward(tokens, lengths)
        return logits.log_softmax(-1), A


class EmptyHasZeroLogits(Pieces):
    """The course asks for what the layers give for a matrix of 0."""

    def forward(self, tokens, lengths):
        logits, A = super().forward(tokens, lengths)
        return logits * (lengths > 0)[:, None], A


class EmptyHasTheBias(Pieces):
    """Passes over the hidden layer."""

    def forward(self, tokens, lengths):
        logits, A = super().forward(tokens, lengths)
        return torch.where((lengths > 0)[:, None], logits, self.output.bias), A


class AttentionTwice(Pieces):
    """Weights of a second look, at states moved on by one."""

    def forward(self, tokens, lengths):
        H = self.read(self.embed(tokens), lengths)
        mask = self.mask(tokens, lengths)
        M, _ = self.attention(H, mask)
        _, A = self.attention(H + 1, mask)
        return self.output(self.inner(self.flat(M))), A


class MeanOfTheWeights(Pieces):
    def forward(self, tokens, lengths):
        logits, A = super().forward(tokens, lengths)
        return logits, A.mean(1)


class WeightsTransposed(Pieces):
    def forward(self, tokens, lengths):
        logits, A = super().forward(tokens, lengths)
        return logits, A.transpose(1, 2)


class WeightsFirst(Pieces):
    def forward(self, tokens, lengths):
        return super().forward(tokens, lengths)[::-1]


class LogitsOnly(Pieces):
    def forward(self, tokens, lengths):
        return super().forward(tokens, lengths)[0]


class MatrixToo(Pieces):
    def forward(self, tokens, lengths):
        H = self.read(self.embed(tokens), lengths)
        M, A = self.attention(H, self.mask(tokens, lengths))
        return self.output(self.inner(self.flat(M))), A, M


class OwnAttention(Pieces):
    """A plain mean in place of the attention it was given."""

    def forward(self, tokens, lengths):
        H = self.read(self.embed(tokens), lengths)
        real = self.mask(tokens, lengths).to(H.dtype)
        alpha = real / real.sum(1, keepdim=True).clamp(min=1)
        hops = self.hidden.in_features // H.shape[2]
        A = alpha[:, None].expand(-1, hops, -1)
        return self.output(self.inner(self.flat(A @ H))), A


class InsideTheAttention(Pieces):
    """Takes for granted that the attention is the one above."""

    def forward(self, tokens, lengths):
        H = self.read(self.embed(tokens), lengths)
        e = (torch.tanh(H @ self.attention.W_s1.T) @ self.attention.W_s2.T).mT
        mask = self.mask(tokens, lengths)[:, None]
        A = e.masked_fill(~mask, -1e9).softmax(-1) * mask
        return self.output(self.inner(self.flat(A @ H))), A


class KeepsTheMask(Pieces):
    kept = None

    def mask(self, tokens, lengths):
        if self.kept is None:
            self.kept = super().mask(tokens, lengths)
        return self.kept


class StateFromBatchToBatch(Pieces):
    state = None

    def read(self, x, lengths):
        packed = pack_padded_sequence(x, lengths.clamp(min=1), True, enforce_sorted=False)
        out, self.state = self.rnn(packed, self.state)
        return pad_packed_sequence(out, True, total_length=x.shape[1])[0]


class TokensOverwritten(Pieces):
    def forward(self, tokens, lengths):
        found = super().forward(tokens.clone(), lengths)
        tokens[tokens == 1] = 0
        return found


class LengthsOverwritten(Pieces):
    def forward(self, tokens, lengths):
        return super().forward(tokens, lengths.clamp_(min=1))


class In32(Pieces):
    def forward(self, tokens, lengths):
        logits, A = super().forward(tokens, lengths)
        return logits.float(), A


class ReturnsNothing(Pieces):
    def forward(self, tokens, lengths):
        super().forward(tokens, lengths)


WRONG = [
    EnforcesSorting,
    CutsTheWidth,
    ZeroedPadding,
    OneDirection,
    DirectionsSwapped,
    RightToLeft,
    EmbeddingDetached,
    StatesDetached,
    MatrixDetached,
    MaskOneTooLong,
    MaskOneTooShort,
    MaskOfTheFirstSentence,
    FlatFromTheEnd,
    FlatOverTheBatch,
    SumOfTheHops,
    LargestOfTheHops,
    FirstHopOnly,
    FlatNormalised,
    ReluOfTheMatrix,
    SigmoidInside,
    LeakyInside,
    GeluInside,
    HiddenWithoutBias,
    DropoutLeftOn,
    OutputWithoutBias,
    LogProbabilities,
    EmptyHasZeroLogits,
    EmptyHasTheBias,
    AttentionTwice,
    MeanOfTheWeights,
    WeightsTransposed,
    WeightsFirst,
    LogitsOnly,
    MatrixToo,
    OwnAttention,
    InsideTheAttention,
    KeepsTheMask,
    StateFromBatchToBatch,
    TokensOverwritten,
    LengthsOverwritten,
    In32,
    ReturnsNothing,
]
