"""Answers to `Seq2Seq`."""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence
from tqdm.auto import tqdm


class Stub(nn.Module):
    """What the stub gives: the layers."""

    def __init__(
        self,
        source_size: int,
        target_size: int,
        embedding_size: int,
        hidden_size: int,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.source_embedding = nn.Embedding(source_size, embedding_size)
        self.target_embedding = nn.Embedding(target_size, embedding_size)
        self.encoder = nn.LSTM(embedding_size, hidden_size, batch_first=True)
        self.decoder = nn.LSTM(embedding_size, hidden_size, batch_first=True)
        self.output = nn.Linear(hidden_size, target_size)
        self.dropout = nn.Dropout(dropout)


def lstm(rnn, x, h, c):
    """One step of nn.LSTM, from its equations."""
    gates = F.linear(x, rnn.weight_ih_l0, rnn.bias_ih_l0)
    gates = gates + F.linear(h, rnn.weight_hh_l0, rnn.bias_hh_l0)
    i, f, g, o = gates.chunk(4, -1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


# Right


class StepByStep(nn.Module):
    """forward calls the same code as step, a word at a time."""

    def __init__(
        self,
        source_size: int,
        target_size: int,
        embedding_size: int,
        hidden_size: int,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.source_embedding = nn.Embedding(source_size, embedding_size)
        self.target_embedding = nn.Embedding(target_size, embedding_size)
        self.encoder = nn.LSTM(embedding_size, hidden_size, batch_first=True)
        self.decoder = nn.LSTM(embedding_size, hidden_size, batch_first=True)
        self.output = nn.Linear(hidden_size, target_size)
        self.dropout = nn.Dropout(dropout)

    def encode(self, source, lengths):
        x = pack_padded_sequence(
            self.source_embedding(source), lengths.tolist(), batch_first=True, enforce_sorted=False
        )
        _, (h, c) = self.encoder(x)
        return h.squeeze(0), c.squeeze(0)

    def _move(self, tokens, state):
        h, c = state
        y = self.target_embedding(tokens)[:, None]
        out, (h, c) = self.decoder(y, (h[None], c[None]))
        return self.output(out[:, 0]), (h[0], c[0])

    def step(self, tokens, state):
        logits, state = self._move(tokens, state)
        return F.log_softmax(logits, dim=-1), state

    def forward(self, source, lengths, previous):
        state, logits = self.encode(source, lengths), []
        for y in previous.T:
            scores, state = self._move(y, state)
            logits.append(scores)
        return torch.stack(logits, 1)


class HandWritten(Stub):
    """The equations of the LSTM by hand; padding is passed over by torch.where."""

    def encode(self, source: Tensor, lengths: Tensor):
        x = self.source_embedding(source)
        h = c = x.new_zeros(len(x), self.encoder.hidden_size)
        for s in range(source.shape[1]):
            new_h, new_c = lstm(self.encoder, x[:, s], h, c)
            real = (s < lengths).unsqueeze(1)
            h, c = torch.where(real, new_h, h), torch.where(real, new_c, c)
        return h, c

    def step(self, tokens, state):
        h, c = lstm(self.decoder, self.target_embedding(tokens), *state)
        logits = h @ self.output.weight.T + self.output.bias
        return logits - logits.logsumexp(-1, keepdim=True), (h, c)

    def forward(self, source, lengths, previous):
        (h, c), states = self.encode(source, lengths), []
        for y in self.target_embedding(previous).unbind(1):
            h, c = lstm(self.decoder, y, h, c)
            states.append(h)
        return self.output(torch.stack(states, dim=1))


class OneSentenceAtATime(Stub):
    def encode(self, source, lengths):
        hs, cs = [], []
        for ids, n in zip(source, lengths, strict=True):
            _, (h, c) = self.encoder(self.source_embedding(ids[:n]))  # without a batch
            hs.append(h[0])
            cs.append(c[0])
        return [torch.stack(hs), torch.stack(cs)]

    def step(self, tokens, state):
        scores, hs, cs = [], [], []
        for token, h, c in zip(tokens, *state, strict=True):
            y = self.target_embedding(token)[None]
            out, (h, c) = self.decoder(y, (h[None], c[None]))
            scores.append(self.output(out[0]).log_softmax(-1))
            hs.append(h[0])
            cs.append(c[0])
        return torch.stack(scores), (torch.stack(hs), torch.stack(cs))

    def forward(self, source, lengths, previous):
        h, c = self.encode(source, lengths)
        rows = []
        for b in range(len(source)):
            y = self.target_embedding(previous[b])
            rows.append(self.output(self.decoder(y, (h[b : b + 1], c[b : b + 1]))[0]))
        return torch.stack(rows)


class SortedAndUnsorted(Stub):
    def encode(self, source, lengths):
        order = torch.argsort(lengths, descending=True)
        back = torch.argsort(order)
        x = self.source_embedding(source[order])
        _, state = self.encoder(pack_padded_sequence(x, lengths[order], batch_first=True))
        return tuple(part[-1][back] for part in state)

    def step(self, tokens, state):
        y = self.dropout(self.target_embedding(tokens.unsqueeze(1)))
        h, c = state
        _, (h, c) = self.decoder(y, (h.unsqueeze(0).contiguous(), c.unsqueeze(0).contiguous()))
        p = self.output(h[-1])
        return torch.log_softmax(p, 1), [h[-1], c[-1]]

    def forward(self, source, lengths, previous):
        state = tuple(part.unsqueeze(0) for part in self.encode(source, lengths))
        return self.output(self.decoder(self.target_embedding(previous), state)[0])


class OneLengthAtATime(Stub):
    """Sentences of one length are read together."""

    def encode(self, source, lengths):
        x = self.source_embedding(source)
        found = [None] * len(x)
        for n in lengths.unique().tolist():
            members = (lengths == n).nonzero()[:, 0]
            _, (h, c) = self.encoder(x[members, :n])
            for k, i in enumerate(members.tolist()):
                found[i] = (h[0, k], c[0, k])
        return torch.stack([f[0] for f in found]), torch.stack([f[1] for f in found])

    def _states(self, words, state):
        return self.decoder(self.target_embedding(words), (state[0][None], state[1][None]))

    def step(self, tokens, state):
        out, (h, c) = self._states(tokens[:, None], state)
        return self.output(out).log_softmax(-1)[:, 0], (h[0], c[0])

    def forward(self, source, lengths, previous):
        return self.output(self._states(previous, self.encode(source, lengths))[0])


class WideAndTalkative(Stub):
    """Scores in float64, cast back; talks a lot."""

    def encode(self, source, lengths):
        print("encoding", source.shape)
        packed = pack_padded_sequence(
            self.source_embedding(source), lengths, batch_first=True, enforce_sorted=False
        )
        _, (h, c) = self.encoder(packed)
        return h[0], c[0]

    def _scores(self, states):
        warnings.warn("scoring in float64", stacklevel=1)
        wide = F.linear(states.double(), self.output.weight.double(), self.output.bias.double())
        return wide.to(states.dtype)

    def step(self, tokens, state):
        y = self.target_embedding(tokens).unsqueeze(1)
        out, (h, c) = self.decoder(y, tuple(part.unsqueeze(0) for part in state))
        return torch.log_softmax(self._scores(out[:, 0]), -1), (h[0], c[0])

    def forward(self, source, lengths, previous):
        h, c = self.encode(source, lengths)
        h, c, outs = h[None], c[None], []
        for t in tqdm(range(previous.shape[1])):
            sys.stderr.write(f"word {t}\n")
            y = self.target_embedding(previous[:, t : t + 1])
            out, (h, c) = self.decoder(y, (h, c))
            outs.append(self._scores(out))
        return torch.cat(outs, 1)


class Wide(Stub):
    """Returns float64 whatever its dtype."""

    def encode(self, source, lengths):
        packed = pack_padded_sequence(
            self.source_embedding(source), lengths, batch_first=True, enforce_sorted=False
        )
        _, (h, c) = self.encoder(packed)
        return h[0], c[0]

    def step(self, tokens, state):
        y = self.target_embedding(tokens).unsqueeze(1)
        out, (h, c) = self.decoder(y, tuple(part.unsqueeze(0) for part in state))
        return self.output(out[:, 0]).double().log_softmax(-1), (h[0], c[0])

    def forward(self, source, lengths, previous):
        state = tuple(part.unsqueeze(0) for part in self.encode(source, lengths))
        return self.output(self.decoder(self.target_embedding(previous), state)[0]).double()


RIGHT = [
    StepByStep,
    HandWritten,
    OneSentenceAtATime,
    SortedAndUnsorted,
    OneLengthAtATime,
    WideAndTalkative,
    Wide,
]

# Wrong


class Pieces(Stub):
    """A right model; each of the wrong ones below replaces one piece."""

    def read(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        return self.encoder(packed)[1]

    def encode(self, source, lengths):
        h, c = self.read(self.source_embedding(source), lengths)
        return h[0], c[0]

    def score(self, states):
        return self.output(states)

    def step(self, tokens, state):
        y = self.target_embedding(tokens).unsqueeze(1)
        out, (h, c) = self.decoder(y, (state[0][None], state[1][None]))
        return self.score(out[:, 0]).log_softmax(-1), (h[0], c[0])

    def write(self, previous, h, c):
        out, _ = self.decoder(self.target_embedding(previous), (h[None], c[None]))
        return self.score(out)

    def forward(self, source, lengths, previous):
        return self.write(previous, *self.encode(source, lengths))


class EnforcesSorting(Pieces):
    def read(self, x, lengths):
        return self.encoder(pack_padded_sequence(x, lengths, batch_first=True))[1]


class ZeroedPadding(Pieces):
    """Zeros in place of padding, but the LSTM reads them all the same."""

    def read(self, x, lengths):
        real = torch.arange(x.shape[1]) < lengths.unsqueeze(1)
        return self.encoder(x * real.unsqueeze(-1))[1]


class LengthsOffByOne(Pieces):
    def read(self, x, lengths):
        return super().read(x, (lengths - 1).clamp(min=1))


class LengthsOfTheFirstRow(Pieces):
    def read(self, x, lengths):
        return super().read(x, lengths[:1].expand(len(lengths)))


class TimeFirst(Pieces):
    def read(self, x, lengths):
        h, c = self.encoder(x.transpose(0, 1))[1]
        return h[:, : len(x)], c[:, : len(x)]


class LayersKept(Pieces):
    """States (1, B, d), as torch returns them; its own methods know it."""

    def encode(self, source, lengths):
        return self.read(self.source_embedding(source), lengths)

    def step(self, tokens, state):
        out, state = self.decoder(self.target_embedding(tokens).unsqueeze(1), state)
        return self.score(out[:, 0]).log_softmax(-1), state

    def write(self, previous, h, c):
        return self.score(self.decoder(self.target_embedding(previous), (h, c))[0])


class StateAsOneTensor(Pieces):
    def encode(self, source, lengths):
        return torch.cat(super().encode(source, lengths), -1)

    def forward(self, source, lengths, previous):
        return self.write(previous, *self.encode(source, lengths).chunk(2, -1))


class OnlyH(Pieces):
    """encode returns h alone."""

    def encode(self, source, lengths):
        return super().encode(source, lengths)[0]

    def forward(self, source, lengths, previous):
        h = self.encode(source, lengths)
        return self.write(previous, h, torch.zeros_like(h))


class HTwice(Pieces):
    """h stands for both."""

    def write(self, previous, h, c):
        return super().write(previous, h, h)


class OnlyC(Pieces):
    def write(self, previous, h, c):
        return super().write(previous, torch.zeros_like(h), c)


class StateThroughTanh(Pieces):
    def write(self, previous, h, c):
        return super().write(previous, torch.tanh(h), torch.tanh(c))


class EncoderWritesToo(Pieces):
    """The encoder's LSTM for both languages."""

    def write(self, previous, h, c):
        out, _ = self.encoder(self.target_embedding(previous), (h[None], c[None]))
        return self.score(out)


class OneEmbeddingForBoth(Pieces):
    def write(self, previous, h, c):
        table = self.source_embedding.weight
        y = table[previous.clamp(max=len(table) - 1)]
        return self.score(self.decoder(y, (h[None], c[None]))[0])


class TargetEmbeddingForSource(Pieces):
    def encode(self, source, lengths):
        table = self.target_embedding.weight
        h, c = self.read(table[source.clamp(max=len(table) - 1)], lengths)
        return h[0], c[0]


class WholeRowReversed(Pieces):
    def encode(self, source, lengths):
        return super().encode(source.flip(1), lengths)


class EmbeddingsReversed(Pieces):
    """Reversed after embedding: the words of each sentence, by its own length."""

    def encode(self, source, lengths):
        x = self.source_embedding(source)
        rows = [torch.cat([r[:n].flip(0), r[n:]]) for r, n in zip(x, lengths, strict=True)]
        h, c = self.read(torch.stack(rows), lengths)
        return c[0], h[0]


class ScoresOfTheMemory(Pieces):
    """c is read out, not h."""

    def step(self, tokens, state):
        _, (h, c) = super().step(tokens, state)
        return self.score(c).log_softmax(-1), (h, c)


class TanhBeforeOutput(Pieces):
    def score(self, states):
        return self.output(torch.tanh(states))


class OutputTied(Pieces):
    """The embedding stands for the output where the sizes fit."""

    def score(self, states):
        table = self.target_embedding.weight
        if table.shape[1] == states.shape[-1]:
            return states @ table.T
        return self.output(states)


class OutputWithoutBias(Pieces):
    def score(self, states):
        return states @ self.output.weight.T


class SoftmaxOverBatch(Pieces):
    def step(self, tokens, state):
        y = self.target_embedding(tokens).unsqueeze(1)
        out, (h, c) = self.decoder(y, (state[0][None], state[1][None]))
        return self.score(out[:, 0]).log_softmax(0), (h[0], c[0])


class NegativeLogProbabilities(Pieces):
    def step(self, tokens, state):
        log_probs, state = super().step(tokens, state)
        return -log_probs, state


class LogOfTheSoftmaxWithEpsilon(Pieces):
    def step(self, tokens, state):
        log_probs, state = super().step(tokens, state)
        return torch.log(log_probs.exp() + 1e-2), state


class StepWithAxis(Pieces):
    """(B, 1, V)"""

    def step(self, tokens, state):
        log_probs, state = super().step(tokens, state)
        return log_probs.unsqueeze(1), state


class StepReturnsThree(Pieces):
    def step(self, tokens, state):
        log_probs, (h, c) = super().step(tokens, state)
        return log_probs, h, c


class StepReturnsScoresOnly(Pieces):
    def step(self, tokens, state):
        return super().step(tokens, state)[0]


class StepReturnsWords(Pieces):
    """The best word instead of all scores."""

    def step(self, tokens, state):
        log_probs, state = super().step(tokens, state)
        return log_probs.argmax(-1), state


class StepTakesThree(Pieces):
    def step(self, tokens, h, c):
        return super().step(tokens, (h, c))


class StepKeepsOwnState(Pieces):
    """Ignores the state it is given after the first call."""

    kept = None

    def step(self, tokens, state):
        if self.kept is not None:
            state = self.kept
        log_probs, self.kept = super().step(tokens, state)
        return log_probs, self.kept


class StepCellOfBefore(Pieces):
    """New h, old c."""

    def step(self, tokens, state):
        log_probs, (h, _) = super().step(tokens, state)
        return log_probs, (h, state[1].clone())


class StepOverwritesState(Pieces):
    def step(self, tokens, state):
        log_probs, (h, c) = super().step(tokens, state)
        if not torch.is_grad_enabled():
            state[0].copy_(h)
        return log_probs, (h, c)


class StepStateCut(Pieces):
    def step(self, tokens, state):
        log_probs, (h, c) = super().step(tokens, state)
        return log_probs, (h.detach(), c.detach())


class StateKeptBetweenBatches(Pieces):
    kept = None

    def read(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        self.kept = self.encoder(packed, self.kept)[1]
        return self.kept


class RemembersTheSource(Pieces):
    kept = None

    def encode(self, source, lengths):
        if self.kept is None:
            self.kept = super().encode(source, lengths)
        return self.kept


class SeesTheNextWord(Pieces):
    def write(self, previous, h, c):
        return super().write(previous.roll(-1, dims=1), h, c)


class OneWordTooFew(Pieces):
    def write(self, previous, h, c):
        return super().write(previous[:, :-1] if previous.shape[1] > 1 else previous, h, c)


class StateFreshInEachStep(Pieces):
    """Each word is read from the encoder's state: the decoder forgets what it wrote."""

    def write(self, previous, h, c):
        rows = [super(StateFreshInEachStep, self).write(y[:, None], h, c) for y in previous.T]
        return torch.cat(rows, 1)


class TargetFromZeroThenSource(Pieces):
    """The source's state is added to each output."""

    def write(self, previous, h, c):
        out, _ = self.decoder(self.target_embedding(previous))
        return self.score(out + h.unsqueeze(1))


class LastLogitsOnly(Pieces):
    def write(self, previous, h, c):
        return super().write(previous, h, c)[:, -1]


class VocabularySecond(Pieces):
    def write(self, previous, h, c):
        return super().write(previous, h, c).transpose(1, 2)


class Squeezed(Pieces):
    def write(self, previous, h, c):
        return super().write(previous, h, c).squeeze()


class LogitsAndState(Pieces):
    def forward(self, source, lengths, previous):
        state = self.encode(source, lengths)
        return self.write(previous, *state), state


class EmbeddingCut(Pieces):
    def encode(self, source, lengths):
        h, c = self.read(self.source_embedding.weight.data[source], lengths)
        return h[0], c[0]


class DropoutLeftOn(Pieces):
    def score(self, states):
        return self.output(F.dropout(states, 0.2))


class Preallocated32(Pieces):
    def write(self, previous, h, c):
        logits = super().write(previous, h, c)
        into = torch.zeros(logits.shape)
        into[:] = logits
        return into


class SourceOverwritten(Pieces):
    def encode(self, source, lengths):
        state = super().encode(source, lengths)
        source[:, 0] = 2
        return state


class ReturnsNothing(Pieces):
    def forward(self, source, lengths, previous):
        super().forward(source, lengths, previous)


class GruForLstm(Stub):
    def __init__(self, source_size, target_size, embedding_size, hidden_size):
        super().__init__(source_size, target_size, embedding_size, hidden_size)
        self.encoder = nn.GRU(embedding_size, hidden_size, batch_first=True)
        self.decoder = nn.GRU(embedding_size, hidden_size, batch_first=True)


class TwoLayers(Stub):
    def __init__(self, source_size, target_size, embedding_size, hidden_size):
        super().__init__(source_size, target_size, embedding_size, hidden_size)
        self.encoder = nn.LSTM(embedding_size, hidden_size, 2, batch_first=True)
        self.decoder = nn.LSTM(embedding_size, hidden_size, 2, batch_first=True)


class CellForDecoder(Stub):
    """nn.LSTMCell: other names of the parameters."""

    def __init__(self, source_size, target_size, embedding_size, hidden_size):
        super().__init__(source_size, target_size, embedding_size, hidden_size)
        self.decoder = nn.LSTMCell(embedding_size, hidden_size)


class NoStep(Stub):
    def encode(self, source, lengths):
        h, c = self.encoder(self.source_embedding(source))[1]
        return h[0], c[0]

    def forward(self, source, lengths, previous):
        h, c = self.encode(source, lengths)
        return self.output(self.decoder(self.target_embedding(previous), (h[None], c[None]))[0])


WRONG = [
    EnforcesSorting,
    ZeroedPadding,
    LengthsOffByOne,
    LengthsOfTheFirstRow,
    TimeFirst,
    LayersKept,
    StateAsOneTensor,
    OnlyH,
    HTwice,
    OnlyC,
    StateThroughTanh,
    EncoderWritesToo,
    OneEmbeddingForBoth,
    TargetEmbeddingForSource,
    WholeRowReversed,
    EmbeddingsReversed,
    ScoresOfTheMemory,
    TanhBeforeOutput,
    OutputTied,
    OutputWithoutBias,
    SoftmaxOverBatch,
    NegativeLogProbabilities,
    LogOfTheSoftmaxWithEpsilon,
    StepWithAxis,
    StepReturnsThree,
    StepReturnsScoresOnly,
    StepReturnsWords,
    StepTakesThree,
    StepKeepsOwnState,
    StepCellOfBefore,
    StepOverwritesState,
    StepStateCut,
    StateKeptBetweenBatches,
    RemembersTheSource,
    SeesTheNextWord,
    OneWordTooFew,
    StateFreshInEachStep,
    TargetFromZeroThenSource,
    LastLogitsOnly,
    VocabularySecond,
    Squeezed,
    LogitsAndState,
    EmbeddingCut,
    DropoutLeftOn,
    Preallocated32,
    SourceOverwritten,
    ReturnsNothing,
    GruForLstm,
    TwoLayers,
    CellForDecoder,
    NoStep,
]
