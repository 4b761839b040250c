"""Answers to `HierarchicalAttentionNetwork`."""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from tqdm.auto import tqdm


def read(rnn: nn.Module, x: Tensor, lengths: Tensor) -> Tensor:
    """As the notebook gives it."""
    packed = pack_padded_sequence(
        x, lengths.clamp(min=1).cpu(), batch_first=True, enforce_sorted=False
    )
    return pad_packed_sequence(rnn(packed)[0], batch_first=True, total_length=x.shape[1])[0]


class Stub(nn.Module):
    """What the stub gives: the layers."""

    def __init__(
        self,
        vocabulary_size: int,
        embedding_size: int,
        hidden_size: int,
        word_attention: nn.Module,
        sentence_attention: nn.Module,
        classes: int,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.word_rnn = nn.GRU(embedding_size, hidden_size, batch_first=True, bidirectional=True)
        self.word_attention = word_attention
        self.sentence_rnn = nn.GRU(
            2 * hidden_size, hidden_size, batch_first=True, bidirectional=True
        )
        self.sentence_attention = sentence_attention
        self.output = nn.Linear(2 * hidden_size, classes)
        self.dropout = nn.Dropout(dropout)


# Right


class Flattened(Stub):
    def forward(self, documents: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        B, L, T = documents.shape
        ids = documents.view(B * L, T)
        m = ids > 0
        h = read(self.word_rnn, self.dropout(self.embedding(ids)), m.sum(-1))
        s, alpha = self.word_attention(h, m)
        m2 = m.any(-1).view(B, L)
        n = torch.where(m2, torch.arange(1, L + 1), 0).max(1)[0]
        h2 = read(self.sentence_rnn, s.view(B, L, -1), n)
        v, beta = self.sentence_attention(h2, m2)
        return self.output(self.dropout(v)), alpha.view(B, L, T), beta


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
                h = self.word_rnn(self.embedding(ids[None, :n]))[0]
                s, a = self.word_attention(h, torch.ones(1, n, dtype=torch.bool))
                vectors.append(s[0])
                words.append(F.pad(a[0], (0, T - n)))
            last = max((i + 1 for i, n in enumerate(counts) if n), default=0)
            beta, v = zeros(len(counts)), zeros(d2)
            if last:
                h = self.sentence_rnn(torch.stack(vectors[:last])[None])[0]
                v, b = self.sentence_attention(h, torch.tensor([counts[:last]]) > 0)
                beta, v = F.pad(b[0], (0, len(counts) - last)), v[0]
            logits.append(self.output(v))
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
            h = read(self.word_rnn, self.embedding(ids), ids.ne(0).sum(1))
            s[full], alpha[full] = self.word_attention(h, ids.ne(0))
        mask = full.reshape(B, L)
        n = L - mask.flip(1).to(torch.uint8).argmax(1)
        n = torch.where(mask.any(1), n, torch.zeros_like(n))
        h = read(self.sentence_rnn, s.reshape(B, L, -1), n)
        v, beta = self.sentence_attention(h, mask)
        return self.output(v), alpha.reshape(B, L, T), beta


class LevelByLevel(Stub):
    """One helper for both levels, lengths from a running count."""

    def _level(self, rnn, attention, x, mask):
        behind = mask.flip(1).cumsum(1).flip(1)  # how many real ones from here on
        h = read(rnn, x, (behind > 0).sum(1))
        return attention(h, mask)

    def forward(self, documents):
        mask = documents.bool()
        words = self.embedding(documents)
        vectors, alphas = [], []
        for i in range(documents.shape[1]):
            s, a = self._level(self.word_rnn, self.word_attention, words[:, i], mask[:, i])
            vectors.append(s)
            alphas.append(a)
        s = torch.stack(vectors, 1)
        v, beta = self._level(self.sentence_rnn, self.sentence_attention, s, mask.any(-1))
        return F.linear(v, self.output.weight, self.output.bias), torch.stack(alphas, 1), beta


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
        h = self._read(self.word_rnn, self.embedding(documents.flatten(0, 1)), real.sum(1))
        s, alpha = self.word_attention(mask=real, states=h)
        some = real.any(1).unflatten(0, (B, L))
        n = ((some * torch.arange(1, L + 1)).max(1)).values
        v, beta = self.sentence_attention(self._read(self.sentence_rnn, s.view(B, L, -1), n), some)
        return self.output(v), alpha.unflatten(0, (B, L)), beta


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
        h = self._read(self.word_rnn, self.embedding(flat), mask.sum(1))
        s, alpha = self.word_attention(h, mask)
        some = mask.any(1).reshape(B, L)
        n = (some * torch.arange(1, L + 1)).amax(1)
        v, beta = self.sentence_attention(
            self._read(self.sentence_rnn, s.reshape(B, L, -1), n), some
        )
        return self.output(v), alpha.reshape(B, L, T), beta


class Wide(Stub):
    """Returns float64 whatever its dtype, and a list."""

    def forward(self, documents):
        warnings.warn("wide", stacklevel=1)
        print("documents", documents.shape, file=sys.stderr)
        vectors, alphas = [], []
        for document in tqdm(documents):
            print("document", document.tolist())
            m = document != 0
            s, a = self.word_attention(read(self.word_rnn, self.embedding(document), m.sum(1)), m)
            vectors.append(s)
            alphas.append(a)
        some = (documents != 0).any(2)
        n = torch.stack([(row.nonzero().amax() + 1) if row.any() else row.sum() for row in some])
        h = read(self.sentence_rnn, torch.stack(vectors), n)
        v, beta = self.sentence_attention(h, some)
        logits = v.double() @ self.output.weight.double().T + self.output.bias.double()
        return [logits, torch.stack(alphas).double(), beta.double()]


RIGHT = [
    Flattened,
    SentenceBySentence,
    OnlySentencesWithWords,
    LevelByLevel,
    GatesByHand,
    NoPacking,
    Wide,
]

# Wrong


class Pieces(Stub):
    """A right network; each of the wrong ones below replaces one piece."""

    def embed(self, flat):
        return self.embedding(flat)

    def words(self, x, mask):
        return read(self.word_rnn, x, mask.sum(1))

    def vectors(self, s, shape):
        return s.reshape(*shape, -1)

    def extent(self, some):
        return (some * torch.arange(1, some.shape[1] + 1)).amax(1)

    def sentences(self, s, some):
        return read(self.sentence_rnn, s, self.extent(some))

    def classify(self, v):
        return self.output(v)

    def forward(self, documents):
        B, L, T = documents.shape
        flat = documents.reshape(B * L, T)
        s, alpha = self.word_attention(self.words(self.embed(flat), flat != 0), flat != 0)
        some = (documents != 0).any(2)
        v, beta = self.sentence_attention(self.sentences(self.vectors(s, (B, L)), some), some)
        return self.classify(v), alpha.reshape(B, L, T), beta


class EmbeddingDetached(Pieces):
    def embed(self, flat):
        return self.embedding(flat).detach()


class WordsBackwards(Pieces):
    def embed(self, flat):
        return self.embedding(flat.flip(1))


class WordsOneShort(Pieces):
    def words(self, x, mask):
        return read(self.word_rnn, x, mask.sum(1) - 1)


class WordsOneLong(Pieces):
    def words(self, x, mask):
        return read(self.word_rnn, x, (mask.sum(1) + 1).clamp(max=x.shape[1]))


class WordsOneDirection(Pieces):
    def words(self, x, mask):
        there, _ = super().words(x, mask).chunk(2, -1)
        return torch.cat([there, there], -1)


class WordsDirectionsSwapped(Pieces):
    def words(self, x, mask):
        there, back = super().words(x, mask).chunk(2, -1)
        return torch.cat([back, there], -1)


class WordsZeroedPadding(Pieces):
    """Zeros in place of padding, but the GRU reads them all the same."""

    def words(self, x, mask):
        return self.word_rnn(x * mask[..., None])[0]


class WordsWithoutGru(Pieces):
    """Averages of what the GRU knows at the first word."""

    def words(self, x, mask):
        return super().words(x, mask)[:, :1].expand(-1, x.shape[1], -1)


class VectorsTransposed(Pieces):
    """The right shape, sentences of other documents."""

    def vectors(self, s, shape):
        return s.reshape(shape[1], shape[0], -1).transpose(0, 1)


class VectorsDetached(Pieces):
    def vectors(self, s, shape):
        return super().vectors(s.detach(), shape)


class VectorsTanh(Pieces):
    def vectors(self, s, shape):
        return torch.tanh(super().vectors(s, shape))


class VectorsOfLastStates(Pieces):
    """The word weights are computed, and the last state is used."""

    def forward(self, documents):
        B, L, T = documents.shape
        flat = documents.reshape(B * L, T)
        mask = flat != 0
        h = self.words(self.embed(flat), mask)
        _, alpha = self.word_attention(h, mask)
        s = h[torch.arange(len(h)), (mask.sum(1) - 1).clamp(min=0)] * mask.any(1, keepdim=True)
        some = (documents != 0).any(2)
        v, beta = self.sentence_attention(self.sentences(self.vectors(s, (B, L)), some), some)
        return self.classify(v), alpha.reshape(B, L, T), beta


class VectorsOfMeans(Pieces):
    def forward(self, documents):
        B, L, T = documents.shape
        flat = documents.reshape(B * L, T)
        mask = flat != 0
        h = self.words(self.embed(flat), mask)
        _, alpha = self.word_attention(h, mask)
        s = (h * mask[..., None]).sum(1) / mask.sum(1, keepdim=True).clamp(min=1)
        some = (documents != 0).any(2)
        v, beta = self.sentence_attention(self.sentences(self.vectors(s, (B, L)), some), some)
        return self.classify(v), alpha.reshape(B, L, T), beta


class ExtentOneLong(Pieces):
    def extent(self, some):
        return (super().extent(some) + 1).clamp(max=some.shape[1])


class ExtentOneShort(Pieces):
    """The index of the last sentence, not the number of sentences."""

    def extent(self, some):
        return super().extent(some) - 1


class ExtentUpToTheFirstEmpty(Pieces):
    """A document ends at its first empty sentence."""

    def extent(self, some):
        return some.long().cumprod(1).sum(1)


class ExtentOfTheLongest(Pieces):
    def extent(self, some):
        return super().extent(some).amax().expand(len(some))


class SentencesOneDirection(Pieces):
    def sentences(self, s, some):
        there, _ = super().sentences(s, some).chunk(2, -1)
        return torch.cat([there, there], -1)


class SentencesBackwards(Pieces):
    def sentences(self, s, some):
        return super().sentences(s.flip(1), some)


class SentencesAdded(Pieces):
    """A residual connection."""

    def sentences(self, s, some):
        return s + super().sentences(s, some)


class SentencesOverTheBatch(Pieces):
    """The sentence GRU runs from document to document."""

    def sentences(self, s, some):
        return self.sentence_rnn(s.transpose(0, 1))[0].transpose(0, 1)


class EmptySentencesKeepTheirStates(Pieces):
    """An empty sentence is read as its padding, not as zeros."""

    def forward(self, documents):
        B, L, T = documents.shape
        flat = documents.reshape(B * L, T)
        mask = flat != 0
        h = self.words(self.embed(flat), mask)
        s, alpha = self.word_attention(h, mask)
        s = torch.where(mask.any(1, keepdim=True), s, h[:, 0])
        some = (documents != 0).any(2)
        v, beta = self.sentence_attention(self.sentences(self.vectors(s, (B, L)), some), some)
        return self.classify(v), alpha.reshape(B, L, T), beta


class EmptySentencesReadAsOnes(Pieces):
    def sentences(self, s, some):
        return super().sentences(s.masked_fill(~some[..., None], 1.0), some)


class EmptyDocumentHasZeroLogits(Pieces):
    def forward(self, documents):
        logits, alpha, beta = super().forward(documents)
        return logits * (documents != 0).flatten(1).any(1, keepdim=True), alpha, beta


class DocumentIsTheMean(Pieces):
    """The sentence weights are computed, and not used."""

    def forward(self, documents):
        B, L, T = documents.shape
        flat = documents.reshape(B * L, T)
        s, alpha = self.word_attention(self.words(self.embed(flat), flat != 0), flat != 0)
        some = (documents != 0).any(2)
        h = self.sentences(self.vectors(s, (B, L)), some)
        _, beta = self.sentence_attention(h, some)
        v = (h * some[..., None]).sum(1) / some.sum(1, keepdim=True).clamp(min=1)
        return self.classify(v), alpha.reshape(B, L, T), beta


class DocumentOfVectors(Pieces):
    """Weights from the states, the average of the sentence vectors."""

    def forward(self, documents):
        B, L, T = documents.shape
        flat = documents.reshape(B * L, T)
        s, alpha = self.word_attention(self.words(self.embed(flat), flat != 0), flat != 0)
        some = (documents != 0).any(2)
        s = self.vectors(s, (B, L))
        _, beta = self.sentence_attention(self.sentences(s, some), some)
        return self.classify((beta[..., None] * s).sum(1)), alpha.reshape(B, L, T), beta


class Flat(Pieces):
    """No hierarchy: word attention over all the words of the document."""

    def forward(self, documents):
        B, L, T = documents.shape
        flat = documents.reshape(B, L * T)
        mask = flat != 0
        v, alpha = self.word_attention(self.word_rnn(self.embed(flat))[0], mask)
        alpha = alpha.reshape(B, L, T)
        return self.classify(v), alpha, alpha.sum(2)


class LogProbabilities(Pieces):
    def classify(self, v):
        return self.output(v).log_softmax(-1)


class OutputWithoutBias(Pieces):
    def classify(self, v):
        return v @ self.output.weight.T


class TanhBeforeOutput(Pieces):
    def classify(self, v):
        return self.output(torch.tanh(v))


class DropoutLeftOn(Pieces):
    def classify(self, v):
        return self.output(F.dropout(v, 0.2))


class WordWeightsFlat(Pieces):
    def forward(self, documents):
        logits, alpha, beta = super().forward(documents)
        return logits, alpha.flatten(0, 1), beta


class WordWeightsOfTheDocument(Pieces):
    """Times the weight of their sentence."""

    def forward(self, documents):
        logits, alpha, beta = super().forward(documents)
        return logits, alpha * beta[..., None], beta


class WordWeightsReordered(Pieces):
    def forward(self, documents):
        logits, alpha, beta = super().forward(documents)
        B, L, T = alpha.shape
        return logits, alpha.reshape(L, B, T).transpose(0, 1), beta


class SentenceWeightsFirst(Pieces):
    def forward(self, documents):
        logits, alpha, beta = super().forward(documents)
        return logits, beta, alpha


class TwoThings(Pieces):
    def forward(self, documents):
        return super().forward(documents)[:2]


class LogitsOnly(Pieces):
    def forward(self, documents):
        return super().forward(documents)[0]


class InsideTheAttention(Pieces):
    """Takes for granted that the attention is that of attention.ipynb."""

    def forward(self, documents):
        logits, alpha, beta = super().forward(documents)
        return logits + 0 * self.word_attention.context.sum(), alpha, beta


class KeepsTheMask(Pieces):
    kept = None

    def sentences(self, s, some):
        if self.kept is None:
            self.kept = some
        return super().sentences(s, self.kept)


class StateFromBatchToBatch(Pieces):
    state = None

    def sentences(self, s, some):
        h, self.state = self.sentence_rnn(s, self.state)
        return h


class DocumentsOverwritten(Pieces):
    def forward(self, documents):
        found = super().forward(documents.clone())
        documents[documents == 1] = 2
        return found


class UnknownIsPadding(Pieces):
    """The id 1 is an unknown word, and a word."""

    def forward(self, documents):
        return super().forward(documents.masked_fill(documents == 1, 0))


class In32(Pieces):
    def forward(self, documents):
        logits, alpha, beta = super().forward(documents)
        return logits, alpha.float(), beta


class ReturnsNothing(Pieces):
    def forward(self, documents):
        super().forward(documents)


WRONG = [
    EmbeddingDetached,
    WordsBackwards,
    WordsOneShort,
    WordsOneLong,
    WordsOneDirection,
    WordsDirectionsSwapped,
    WordsZeroedPadding,
    WordsWithoutGru,
    VectorsTransposed,
    VectorsDetached,
    VectorsTanh,
    VectorsOfLastStates,
    VectorsOfMeans,
    ExtentOneLong,
    ExtentOneShort,
    ExtentUpToTheFirstEmpty,
    ExtentOfTheLongest,
    SentencesOneDirection,
    SentencesBackwards,
    SentencesAdded,
    SentencesOverTheBatch,
    EmptySentencesKeepTheirStates,
    EmptySentencesReadAsOnes,
    EmptyDocumentHasZeroLogits,
    DocumentIsTheMean,
    DocumentOfVectors,
    Flat,
    LogProbabilities,
    OutputWithoutBias,
    TanhBeforeOutput,
    DropoutLeftOn,
    WordWeightsFlat,
    WordWeightsOfTheDocument,
    WordWeightsReordered,
    SentenceWeightsFirst,
    TwoThings,
    LogitsOnly,
    InsideTheAttention,
    KeepsTheMask,
    StateFromBatchToBatch,
    DocumentsOverwritten,
    UnknownIsPadding,
    In32,
    ReturnsNothing,
]
