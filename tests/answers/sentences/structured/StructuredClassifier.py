"""Answers to `StructuredClassifier`."""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from tqdm.auto import tqdm

from tests.answers.stubs import stub

Stub = stub("StructuredClassifier")

# Right


class Packed(Stub):
    def forward(self, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        N = tokens.shape[1]
        x = self.dropout(self.embedding(tokens))
        p = pack_padded_sequence(x, lengths.clamp(1).cpu(), True, enforce_sorted=False)
        H = pad_packed_sequence(self.rnn(p)[0], True, total_length=N)[0]
        M, A = self.attention(H, torch.arange(N) < lengths.view(-1, 1))
        flat = self.dropout(M.view(len(M), -1)) if M.is_contiguous() else self.dropout(M.flatten(1))
        hidden = F.linear(flat, self.hidden.weight, self.hidden.bias)
        return self.output(F.relu(hidden)), A


class OneSentenceAtATime(Stub):
    """No packing: each sentence is cut out, and an empty one has states of zeros."""

    def forward(self, tokens, lengths):
        H = []
        for ids, n in zip(tokens, lengths.tolist(), strict=True):
            rest = self.output.weight.new_zeros(1, len(ids) - n, 2 * self.rnn.hidden_size)
            states = self.rnn(self.dropout(self.embedding(ids[None, :n])))[0] if n else rest[:, :0]
            H.append(torch.cat([states, rest], 1))
        H = torch.cat(H)
        mask = torch.arange(tokens.shape[1]).expand_as(tokens) < lengths[:, None]
        M, A = self.attention(states=H, mask=mask)
        inner = self.hidden(self.dropout(torch.cat(list(M.unbind(1)), dim=-1))).clamp(min=0)
        return self.output(inner), A


class HopsThroughTheirOwnColumns(Stub):
    """W_h cut into a block for each hop."""

    def forward(self, tokens, lengths):
        N = tokens.shape[1]
        rows = pack_padded_sequence(
            self.dropout(self.embedding(tokens)),
            lengths.clamp(min=1),
            batch_first=True,
            enforce_sorted=False,
        )
        out, _ = pad_packed_sequence(self.rnn(rows)[0], batch_first=True)
        H = F.pad(out, (0, 0, 0, N - out.shape[1]))
        M, A = self.attention(H, torch.arange(N) < lengths[:, None])
        blocks = self.hidden.weight.unflatten(1, M.shape[1:])  # (m, r, 2d)
        inner = torch.einsum("mrd,brd->bm", blocks, self.dropout(M)) + self.hidden.bias
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
        x, N = self.dropout(self.embedding(tokens)), tokens.shape[1]
        H = torch.cat(
            [
                self._read(x, lengths, "", range(N)),
                self._read(x, lengths, "_reverse", range(N - 1, -1, -1)),
            ],
            -1,
        )
        M, A = self.attention(H, torch.arange(N) < lengths[:, None])
        return self.output(torch.relu(self.hidden(self.dropout(M.flatten(1))))), A


class Wide(Stub):
    """Returns float64 whatever its dtype, and a list."""

    def forward(self, tokens, lengths):
        warnings.warn("wide", stacklevel=1)
        print("lengths", lengths, file=sys.stderr)
        N, states = tokens.shape[1], []
        for i in tqdm(range(len(tokens))):
            n = max(int(lengths[i]), 1)
            print("sentence", i)
            found, _ = self.rnn(self.dropout(self.embedding(tokens[i : i + 1, :n])))
            states.append(F.pad(found, (0, 0, 0, N - n)))
        M, A = self.attention(torch.cat(states), torch.arange(N) < lengths[:, None])
        wide = (
            self.dropout(M).double().flatten(1) @ self.hidden.weight.double().T
            + self.hidden.bias.double()
        )
        return [wide.relu() @ self.output.weight.double().T + self.output.bias, A.double()]


RIGHT = [Packed, OneSentenceAtATime, HopsThroughTheirOwnColumns, GatesByHand, Wide]

# Wrong


class Pieces(Stub):
    """A right classifier; each of the wrong ones below replaces one piece."""

    def embed(self, tokens):
        return self.dropout(self.embedding(tokens))

    def read(self, x, lengths):
        packed = pack_padded_sequence(x, lengths.clamp(min=1), True, enforce_sorted=False)
        return pad_packed_sequence(self.rnn(packed)[0], True, total_length=x.shape[1])[0]

    def mask(self, tokens, lengths):
        return torch.arange(tokens.shape[1]) < lengths[:, None]

    def flat(self, M):
        return M.reshape(len(M), -1)

    def inner(self, flat):
        return torch.relu(self.hidden(self.dropout(flat)))

    def forward(self, tokens, lengths):
        H = self.read(self.embed(tokens), lengths)
        M, A = self.attention(H, self.mask(tokens, lengths))
        return self.output(self.inner(self.flat(M))), A


class CutsTheWidth(Pieces):
    """Without total_length the states end at the longest sentence."""

    def read(self, x, lengths):
        packed = pack_padded_sequence(x, lengths.clamp(min=1), True, enforce_sorted=False)
        return pad_packed_sequence(self.rnn(packed)[0], True)[0]

    def mask(self, tokens, lengths):
        return torch.arange(max(1, int(lengths.max()))) < lengths[:, None]


class EmbeddingDetached(Pieces):
    def embed(self, tokens):
        return self.dropout(self.embedding(tokens)).detach()


class MatrixDetached(Pieces):
    def flat(self, M):
        return super().flat(M).detach()


class KeepsTheMask(Pieces):
    kept = None

    def mask(self, tokens, lengths):
        if self.kept is None:
            self.kept = super().mask(tokens, lengths)
        return self.kept


class TokensOverwritten(Pieces):
    def forward(self, tokens, lengths):
        found = super().forward(tokens.clone(), lengths)
        tokens[tokens == 1] = 0
        return found


WRONG = [CutsTheWidth, EmbeddingDetached, MatrixDetached, KeepsTheMask, TokensOverwritten]
