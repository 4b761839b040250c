"""Answers to `HierarchicalAttentionNetwork`."""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from tqdm.auto import tqdm

from tests.answers.stubs import stub


def read(rnn: nn.Module, x: Tensor, lengths: Tensor) -> Tensor:
    """As the notebook gives it."""
    packed = pack_padded_sequence(
        x, lengths.clamp(min=1).cpu(), batch_first=True, enforce_sorted=False
    )
    return pad_packed_sequence(rnn(packed)[0], batch_first=True, total_length=x.shape[1])[0]


Stub = stub("HierarchicalAttentionNetwork")

# Right


class SentenceBySentence(Stub):
    """Loops over documents and sentences; nothing is padded or packed."""

    def forward(self, documents):
        logits, all_words, all_sentences = [], [], []
        d2 = self.output.in_features
        T = documents.shape[2]
        zeros = self.output.weight.new_zeros
        for document in documents:
            counts = (document != 0).sum(1).tolist()
            vectors, words = [], []
            for ids, n in zip(document, counts, strict=True):
                if n == 0:
                    vectors.append(zeros(d2))
                    words.append(zeros(T))
                    continue
                h = self.word_rnn(self.dropout(self.embedding(ids[None, :n])))[0]
                s, a = self.word_attention(h, torch.ones(1, n, dtype=torch.bool))
                vectors.append(s[0])
                words.append(F.pad(a[0], (0, T - n)))
            last = max((i + 1 for i, n in enumerate(counts) if n), default=0)
            beta, v = zeros(len(counts)), zeros(d2)
            if last:
                h = self.sentence_rnn(torch.stack(vectors[:last])[None])[0]
                v, b = self.sentence_attention(h, torch.tensor([counts[:last]]) > 0)
                beta, v = F.pad(b[0], (0, len(counts) - last)), v[0]
            logits.append(self.output(self.dropout(v)))
            all_words.append(torch.stack(words))
            all_sentences.append(beta)
        return torch.stack(logits), torch.stack(all_words), torch.stack(all_sentences)


class OnlySentencesWithWords(Stub):
    """Empty sentences never reach the word network: picked out and put back."""

    def forward(self, documents):
        B, L, T = documents.shape
        flat = documents.reshape(-1, T)
        full = flat.ne(0).any(1)
        s = self.output.weight.new_zeros(B * L, self.output.in_features)
        alpha = self.output.weight.new_zeros(B * L, T)
        if full.any():
            ids = flat[full]
            h = read(self.word_rnn, self.dropout(self.embedding(ids)), ids.ne(0).sum(1))
            s[full], alpha[full] = self.word_attention(h, ids.ne(0))
        mask = full.reshape(B, L)
        n = L - mask.flip(1).to(torch.uint8).argmax(1)
        n = torch.where(mask.any(1), n, torch.zeros_like(n))
        h = read(self.sentence_rnn, s.reshape(B, L, -1), n)
        v, beta = self.sentence_attention(h, mask)
        return self.output(self.dropout(v)), alpha.reshape(B, L, T), beta


class GatesByHand(Stub):
    """The GRU's equations in both directions; padding is passed over by torch.where."""

    def _read(self, rnn, x, lengths):
        states = []
        for suffix in ("", "_reverse"):
            names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            w_ih, w_hh, b_ih, b_hh = (getattr(rnn, f"{name}_l0{suffix}") for name in names)
            h = x.new_zeros(len(x), rnn.hidden_size)
            found = {}
            order = range(x.shape[1])
            for t in reversed(order) if suffix else order:
                xr, xz, xn = (x[:, t] @ w_ih.T + b_ih).chunk(3, 1)
                hr, hz, hn = (h @ w_hh.T + b_hh).chunk(3, 1)
                z = torch.sigmoid(xz + hz)
                n = torch.tanh(xn + torch.sigmoid(xr + hr) * hn)
                h = torch.where((t < lengths)[:, None], (1 - z) * n + z * h, h)
                found[t] = h
            states.append(torch.stack([found[t] for t in order], 1))
        return torch.cat(states, -1)

    def forward(self, documents):
        B, L = documents.shape[:2]
        real = documents.flatten(0, 1) != 0
        h = self._read(
            self.word_rnn, self.dropout(self.embedding(documents.flatten(0, 1))), real.sum(1)
        )
        s, alpha = self.word_attention(mask=real, states=h)
        some = real.any(1).unflatten(0, (B, L))
        n = ((some * torch.arange(1, L + 1)).max(1)).values
        v, beta = self.sentence_attention(self._read(self.sentence_rnn, s.view(B, L, -1), n), some)
        return self.output(self.dropout(v)), alpha.unflatten(0, (B, L)), beta


class NoPacking(Stub):
    """The backward direction by turning each sequence round within its own length."""

    def _read(self, rnn, x, lengths):
        j = torch.arange(x.shape[1])
        turned = torch.where(j < lengths[:, None], lengths[:, None] - 1 - j, j)  # (B, N)
        at = turned.unsqueeze(-1).expand_as(x)
        there = rnn(x)[0][..., : rnn.hidden_size]
        # torch's backward direction reads from the end; so the padding goes to the front.
        flipped = rnn(x.gather(1, at).flip(1))[0].flip(1)[..., rnn.hidden_size :]
        back = flipped.gather(1, turned.unsqueeze(-1).expand_as(flipped))
        return torch.cat([there, back], -1)

    def forward(self, documents):
        B, L, T = documents.shape
        flat = documents.reshape(B * L, T)
        mask = flat != 0
        h = self._read(self.word_rnn, self.dropout(self.embedding(flat)), mask.sum(1))
        s, alpha = self.word_attention(h, mask)
        some = mask.any(1).reshape(B, L)
        n = (some * torch.arange(1, L + 1)).amax(1)
        v, beta = self.sentence_attention(
            self._read(self.sentence_rnn, s.reshape(B, L, -1), n), some
        )
        return self.output(self.dropout(v)), alpha.reshape(B, L, T), beta


class Wide(Stub):
    """Returns float64 whatever its dtype, and a list."""

    def forward(self, documents):
        warnings.warn("wide", stacklevel=1)
        print("documents", documents.shape, file=sys.stderr)
        vectors, alphas = [], []
        for document in tqdm(documents):
            print("document", document.tolist())
            m = document != 0
            s, a = self.word_attention(
                read(self.word_rnn, self.dropout(self.embedding(document)), m.sum(1)), m
            )
            vectors.append(s)
            alphas.append(a)
        some = (documents != 0).any(2)
        n = torch.stack([(row.nonzero().amax() + 1) if row.any() else row.sum() for row in some])
        h = read(self.sentence_rnn, torch.stack(vectors), n)
        v, beta = self.sentence_attention(h, some)
        logits = (
            self.dropout(v).double() @ self.output.weight.double().T + self.output.bias.double()
        )
        return [logits, torch.stack(alphas).double(), beta.double()]


RIGHT = [SentenceBySentence, OnlySentencesWithWords, GatesByHand, NoPacking, Wide]

# Wrong


class Pieces(Stub):
    """A right network; each of the wrong ones below replaces one piece."""

    def embed(self, flat):
        return self.dropout(self.embedding(flat))

    def words(self, x, mask):
        return read(self.word_rnn, x, mask.sum(1))

    def vectors(self, s, shape):
        return s.reshape(*shape, -1)

    def extent(self, some):
        return (some * torch.arange(1, some.shape[1] + 1)).amax(1)

    def sentences(self, s, some):
        return read(self.sentence_rnn, s, self.extent(some))

    def classify(self, v):
        return self.output(self.dropout(v))

    def forward(self, documents):
        B, L, T = documents.shape
        flat = documents.reshape(B * L, T)
        s, alpha = self.word_attention(self.words(self.embed(flat), flat != 0), flat != 0)
        some = (documents != 0).any(2)
        v, beta = self.sentence_attention(self.sentences(self.vectors(s, (B, L)), some), some)
        return self.classify(v), alpha.reshape(B, L, T), beta


class EmbeddingDetached(Pieces):
    def embed(self, flat):
        return self.dropout(self.embedding(flat)).detach()


class VectorsDetached(Pieces):
    def vectors(self, s, shape):
        return super().vectors(s.detach(), shape)


class EmptySentencesReadAsOnes(Pieces):
    def sentences(self, s, some):
        return super().sentences(s.masked_fill(~some[..., None], 1.0), some)


class KeepsTheMask(Pieces):
    kept = None

    def sentences(self, s, some):
        if self.kept is None:
            self.kept = some
        return super().sentences(s, self.kept)


class DocumentsOverwritten(Pieces):
    def forward(self, documents):
        found = super().forward(documents.clone())
        documents[documents == 1] = 2
        return found


WRONG = [
    EmbeddingDetached,
    VectorsDetached,
    EmptySentencesReadAsOnes,
    KeepsTheMask,
    DocumentsOverwritten,
]
