"""Answers to `ContextDecoder`."""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm.auto import tqdm


class Stub(nn.Module):
    """What the stub gives: the layers."""

    def __init__(
        self, vocabulary_size: int, embedding_size: int, hidden_size: int, dropout: float = 0.0
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.first_state = nn.Linear(hidden_size, hidden_size)
        self.cell = nn.GRUCell(embedding_size + hidden_size, hidden_size)
        self.hidden = nn.Linear(embedding_size + 2 * hidden_size, embedding_size)
        self.output = nn.Linear(embedding_size, vocabulary_size)
        self.dropout = nn.Dropout(dropout)


# Right


class StepByStep(nn.Module):
    """Reads out in each step."""

    def __init__(
        self, vocabulary_size: int, embedding_size: int, hidden_size: int, dropout: float = 0.0
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.first_state = nn.Linear(hidden_size, hidden_size)
        self.cell = nn.GRUCell(embedding_size + hidden_size, hidden_size)
        self.hidden = nn.Linear(embedding_size + 2 * hidden_size, embedding_size)
        self.output = nn.Linear(embedding_size, vocabulary_size)
        self.dropout = nn.Dropout(dropout)

    def start(self, context):
        return self.first_state(context).tanh()

    def step(self, embedded, state, context):
        return self.cell(torch.cat((embedded, context), 1), state)

    def readout(self, embedded, states, contexts):
        return self.output(torch.tanh(self.hidden(torch.cat((embedded, states, contexts), -1))))

    def forward(self, tokens, context):
        logits, h = [], self.start(context)
        for y in tokens.T:
            e = self.embedding(y)
            h = self.step(e, h, context)
            logits.append(self.readout(e, h, context))
        return torch.stack(logits, dim=1)


class Preallocated(Stub):
    """Writes into a tensor of the right dtype."""

    def start(self, context):
        return torch.tanh(context @ self.first_state.weight.T + self.first_state.bias)

    def step(self, embedded, state, context):
        return self.cell(torch.hstack([embedded, context]), state)

    def readout(self, embedded, states, contexts):
        t = torch.tanh(self.hidden(torch.cat([embedded, states, contexts], -1)))
        return F.linear(t, self.output.weight, self.output.bias)

    def forward(self, tokens, context):
        B, T = tokens.shape
        logits = context.new_zeros(B, T, self.output.out_features)
        state = self.start(context)
        for t in range(T):
            word = self.embedding(tokens[:, t])
            state = self.step(word, state, context)
            logits[:, t] = self.readout(word, state, context)
        return logits


class HandWrittenCell(Stub):
    """The GRU from its equations, with the parameters of self.cell, and matrices in pieces."""

    def start(self, c: Tensor) -> Tensor:
        return torch.tanh(F.linear(c, self.first_state.weight, self.first_state.bias))

    def step(self, y: Tensor, h: Tensor, c: Tensor) -> Tensor:
        e, d = y.shape[-1], h.shape[-1]
        w = self.cell.weight_ih
        gx = y @ w[:, :e].T + c @ w[:, e:].T + self.cell.bias_ih
        gh = h @ self.cell.weight_hh.T + self.cell.bias_hh
        r = torch.sigmoid(gx[:, :d] + gh[:, :d])
        z = torch.sigmoid(gx[:, d : 2 * d] + gh[:, d : 2 * d])
        n = torch.tanh(gx[:, 2 * d :] + r * gh[:, 2 * d :])
        return n + z * (h - n)

    def readout(self, y, h, c):
        e, d = y.shape[-1], h.shape[-1]
        w = self.hidden.weight
        u = y @ w[:, :e].T + h @ w[:, e : e + d].T + c @ w[:, e + d :].T + self.hidden.bias
        return self.output(u.tanh())

    def forward(self, tokens, context):
        embedded, states = self.embedding(tokens), [self.start(context)]
        for y in embedded.unbind(1):
            states.append(self.step(y, states[-1], context))
        h = torch.stack(states[1:], 1)
        return self.readout(embedded, h, context[:, None].expand_as(h))


class OneSentenceAtATime(Stub):
    def start(self, context):
        return torch.stack([torch.tanh(self.first_state(c)) for c in context])

    def step(self, embedded, state, context):
        rows = zip(embedded, state, context, strict=True)
        return torch.stack([self.cell(torch.cat([e, c]), h) for e, h, c in rows])

    def readout(self, embedded, states, contexts):
        return self.output(self.hidden(torch.cat([embedded, states, contexts], -1)).tanh())

    def forward(self, tokens, context):
        sentences = []
        for ids, c in zip(tokens, context, strict=True):
            h, logits = self.start(c[None]), []
            for i in ids:
                y = self.embedding(i)[None]
                h = self.step(y, h, c[None])
                logits.append(self.readout(y, h, c[None])[0])
            sentences.append(torch.stack(logits))
        return torch.stack(sentences)


class AsOneGru(Stub):
    """forward hands the weights of the cell to nn.GRU, all words in one call."""

    def start(self, context):
        return torch.tanh(self.first_state(context))

    def step(self, embedded, state, context):
        x = torch.cat([embedded, context], -1).unsqueeze(1)
        return self._gru(x, state)[:, 0]

    def _gru(self, x, state):
        gru = nn.GRU(x.shape[-1], state.shape[-1], batch_first=True).to(x.dtype)
        weights = {f"{name}_l0": w for name, w in self.cell.named_parameters()}
        return torch.func.functional_call(gru, weights, (x, state.unsqueeze(0).contiguous()))[0]

    def readout(self, *parts):
        return self.output(torch.tanh(self.hidden(torch.cat(parts, -1))))

    def forward(self, tokens, context):
        y = self.embedding(tokens)
        c = context.unsqueeze(1).repeat(1, tokens.shape[1], 1)
        return self.readout(y, self._gru(torch.cat([y, c], -1), self.start(context)), c)


class Recursive(Stub):
    """Words by recursion, and one-hot embeddings."""

    def start(self, context):
        return torch.tanh(self.first_state(context))

    def step(self, embedded, state, context):
        return self.cell(torch.cat([embedded, context], dim=-1), state)

    def readout(self, embedded, states, contexts):
        together = torch.cat([embedded, states, contexts], dim=-1)
        return self.output(self.dropout(torch.tanh(self.hidden(together))))

    def _rest(self, embedded, state, context):
        if embedded.shape[1] == 0:
            return []
        state = self.step(embedded[:, 0], state, context)
        logits = self.readout(embedded[:, 0], state, context)
        return [logits, *self._rest(embedded[:, 1:], state, context)]

    def forward(self, tokens, context):
        table = self.embedding.weight
        embedded = F.one_hot(tokens, len(table)).to(table.dtype) @ table
        return torch.stack(self._rest(embedded, self.start(context), context), 1)


class WideAndTalkative(Stub):
    """The read-out in float64, cast back; talks a lot."""

    def start(self, context):
        print("start", tuple(context.shape))
        return torch.tanh(self.first_state(context))

    def step(self, embedded, state, context):
        return self.cell(torch.cat([embedded, context], -1), state)

    def readout(self, embedded, states, contexts):
        warnings.warn("reading out in float64", stacklevel=1)
        x = torch.cat([embedded, states, contexts], -1).double()
        t = torch.tanh(F.linear(x, self.hidden.weight.double(), self.hidden.bias.double()))
        logits = F.linear(t, self.output.weight.double(), self.output.bias.double())
        return logits.to(embedded.dtype)

    def forward(self, tokens, context):
        state, logits = self.start(context), []
        for t in tqdm(range(tokens.shape[1]), desc="decoding"):
            sys.stderr.write(f"word {t}\n")
            y = self.embedding(tokens[:, t])
            state = self.step(y, state, context)
            logits.append(self.readout(y, state, context).unsqueeze(1))
        return torch.cat(logits, 1)


class Wide(Stub):
    """Returns float64 whatever its dtype."""

    def start(self, context):
        return torch.tanh(self.first_state(context))

    def step(self, embedded, state, context):
        return self.cell(torch.cat([embedded, context], -1), state)

    def readout(self, embedded, states, contexts):
        u = torch.tanh(self.hidden(torch.cat([embedded, states, contexts], -1)))
        return self.output(u).double()

    def forward(self, tokens, context):
        state, logits = self.start(context), []
        for y in self.embedding(tokens).unbind(1):
            state = self.step(y, state, context)
            logits.append(self.readout(y, state, context))
        return torch.stack(logits, 1)


RIGHT = [
    StepByStep,
    Preallocated,
    HandWrittenCell,
    OneSentenceAtATime,
    AsOneGru,
    Recursive,
    WideAndTalkative,
    Wide,
]

# Wrong


class Pieces(Stub):
    """A right decoder; each of the wrong ones below replaces one piece."""

    def start(self, context):
        return torch.tanh(self.first_state(context))

    def step(self, embedded, state, context):
        return self.cell(torch.cat([embedded, context], -1), state)

    def readout(self, embedded, states, contexts):
        return self.output(torch.tanh(self.hidden(torch.cat([embedded, states, contexts], -1))))

    def run(self, embedded, context):
        state, states = self.start(context), []
        for y in embedded.unbind(1):
            state = self.step(y, state, context)
            states.append(state)
        return torch.stack(states, 1)

    def forward(self, tokens, context):
        embedded = self.embedding(tokens)
        states = self.run(embedded, context)
        return self.readout(embedded, states, context.unsqueeze(1).expand_as(states))


class StartWithRelu(Pieces):
    def start(self, context):
        return torch.relu(self.first_state(context))


class StartWithoutBias(Pieces):
    def start(self, context):
        return torch.tanh(context @ self.first_state.weight.T)


class StartTransposed(Pieces):
    def start(self, context):
        return torch.tanh(context @ self.first_state.weight + self.first_state.bias)


class StartTwiceTanh(Pieces):
    def start(self, context):
        return torch.tanh(self.first_state(torch.tanh(context)))


class StartWithAxis(Pieces):
    def start(self, context):
        return torch.tanh(self.first_state(context)).unsqueeze(0)


class StartCut(Pieces):
    def start(self, context):
        return torch.tanh(self.first_state(context.detach()))


class FirstStateOnlyInForward(Pieces):
    """forward begins from the context, though start is right."""

    def run(self, embedded, context):
        state, states = context, []
        for y in embedded.unbind(1):
            state = self.step(y, state, context)
            states.append(state)
        return torch.stack(states, 1)


class ContextSummedWithState(Pieces):
    """The context is added to the state after each step."""

    def run(self, embedded, context):
        state, states = self.start(context), []
        for y in embedded.unbind(1):
            state = self.step(y, state, context) + context
            states.append(state)
        return torch.stack(states, 1)


class ContextIsTheState(Pieces):
    """From the second step on, the state stands where the context should."""

    def run(self, embedded, context):
        state, states = self.start(context), []
        for y in embedded.unbind(1):
            new = self.step(y, state, context)
            states.append(new)
            state = context = new
        return torch.stack(states, 1)


class StepWithoutWord(Pieces):
    def step(self, embedded, state, context):
        return super().step(torch.zeros_like(embedded), state, context)


class StepWithoutState(Pieces):
    def step(self, embedded, state, context):
        return self.cell(torch.cat([embedded, context], -1))


class StepTanh(Pieces):
    def step(self, embedded, state, context):
        return torch.tanh(super().step(embedded, state, context))


class StepResidual(Pieces):
    def step(self, embedded, state, context):
        return state + super().step(embedded, state, context)


class StepReturnsLogits(Pieces):
    def step(self, embedded, state, context):
        state = super().step(embedded, state, context)
        return self.readout(embedded, state, context), state

    def run(self, embedded, context):
        state, states = self.start(context), []
        for y in embedded.unbind(1):
            _, state = self.step(y, state, context)
            states.append(state)
        return torch.stack(states, 1)


class StepKeepsTheContext(Pieces):
    """The context of the first sentence is kept for all."""

    kept = None

    def step(self, embedded, state, context):
        if self.kept is None or len(self.kept) != len(context):
            self.kept = context
        return super().step(embedded, state, self.kept)


class KeepsTheLastState(Pieces):
    kept = None

    def run(self, embedded, context):
        state = self.start(context) if self.kept is None else self.kept
        states = []
        for y in embedded.unbind(1):
            state = self.step(y, state, context)
            states.append(state)
        self.kept = state
        return torch.stack(states, 1)


class StateOverwritten(Pieces):
    def step(self, embedded, state, context):
        new = super().step(embedded, state, context)
        if not torch.is_grad_enabled():
            state.copy_(new)
        return new


class ContextOfTheFirstSentence(Pieces):
    def step(self, embedded, state, context):
        return super().step(embedded, state, context[:1].expand_as(context))


class ReadoutWithoutWord(Pieces):
    def readout(self, embedded, states, contexts):
        return super().readout(torch.zeros_like(embedded), states, contexts)


class ReadoutWithoutState(Pieces):
    def readout(self, embedded, states, contexts):
        return super().readout(embedded, torch.zeros_like(states), contexts)


class ReadoutWordLast(Pieces):
    def readout(self, embedded, states, contexts):
        return self.output(torch.tanh(self.hidden(torch.cat([states, contexts, embedded], -1))))


class ReadoutRelu(Pieces):
    def readout(self, embedded, states, contexts):
        return self.output(torch.relu(self.hidden(torch.cat([embedded, states, contexts], -1))))


class ReadoutTanhOutside(Pieces):
    def readout(self, embedded, states, contexts):
        return torch.tanh(super().readout(embedded, states, contexts))


class ReadoutFromState(Pieces):
    """Straight from the state where the sizes fit: no hidden layer."""

    def readout(self, embedded, states, contexts):
        if embedded.shape[-1] == states.shape[-1]:
            return self.output(states)
        return super().readout(embedded, states, contexts)


class ReadoutTiedToEmbedding(Pieces):
    def readout(self, embedded, states, contexts):
        u = torch.tanh(self.hidden(torch.cat([embedded, states, contexts], -1)))
        return u @ self.embedding.weight.T


class ReadoutTwoAxesOnly(Pieces):
    """Joins along axis 1: right for one step, not for a whole sentence."""

    def readout(self, embedded, states, contexts):
        return self.output(torch.tanh(self.hidden(torch.cat([embedded, states, contexts], 1))))


class ReadoutDropoutLeftOn(Pieces):
    def readout(self, embedded, states, contexts):
        return super().readout(F.dropout(embedded, 0.2), states, contexts)


class ReadoutCut(Pieces):
    def readout(self, embedded, states, contexts):
        return super().readout(embedded, states.detach(), contexts)


class MaskedLogits(Pieces):
    """Padding and unknown may not be said."""

    def readout(self, embedded, states, contexts):
        logits = super().readout(embedded, states, contexts).clone()
        logits[..., :2] = -1e9
        return logits


class SeesTheNextWord(Pieces):
    """The read-out is given the word that it should predict."""

    def forward(self, tokens, context):
        embedded = self.embedding(tokens)
        states = self.run(embedded, context)
        after = torch.cat([embedded[:, 1:], embedded[:, :1]], 1)
        return self.readout(after, states, context.unsqueeze(1).expand_as(states))


class StepSeesTheNextWord(Pieces):
    def forward(self, tokens, context):
        return super().forward(tokens.roll(-1, dims=1), context)


class OneWordTooFew(Pieces):
    """Drops the last word, as code with <eos> in tokens does."""

    def forward(self, tokens, context):
        return super().forward(tokens[:, :-1] if tokens.shape[1] > 1 else tokens, context)


class AlwaysTheFirstWord(Pieces):
    def run(self, embedded, context):
        return super().run(embedded[:, :1].expand_as(embedded), context)


class LastLogitsOnly(Pieces):
    def forward(self, tokens, context):
        return super().forward(tokens, context)[:, -1]


class LogitsFlattened(Pieces):
    def forward(self, tokens, context):
        return super().forward(tokens, context).flatten(0, 1)


class TimeFirst(Pieces):
    def forward(self, tokens, context):
        return super().forward(tokens, context).transpose(0, 1)


class ReshapedForTransposed(Pieces):
    def forward(self, tokens, context):
        logits = super().forward(tokens, context)
        return logits.transpose(0, 1).contiguous().reshape(logits.shape)


class VocabularySecond(Pieces):
    def forward(self, tokens, context):
        return super().forward(tokens, context).transpose(1, 2)


class Squeezed(Pieces):
    def forward(self, tokens, context):
        return super().forward(tokens, context).squeeze()


class ListOfLogits(Pieces):
    def forward(self, tokens, context):
        return list(super().forward(tokens, context).unbind(1))


class LogitsAndState(Pieces):
    def forward(self, tokens, context):
        logits = super().forward(tokens, context)
        return logits, self.start(context)


class StateDetached(Pieces):
    """Truncated back-propagation, one step long."""

    def run(self, embedded, context):
        state, states = self.start(context), []
        for y in embedded.unbind(1):
            states.append(self.step(y, state, context))
            state = states[-1].detach()
        return torch.stack(states, 1)


class EmbeddingDetached(Pieces):
    def forward(self, tokens, context):
        embedded = self.embedding(tokens).detach()
        states = self.run(embedded, context)
        return self.readout(embedded, states, context.unsqueeze(1).expand_as(states))


class WordsFromOutput(Pieces):
    """Embeds with the rows of the output matrix."""

    def forward(self, tokens, context):
        embedded = self.output.weight[tokens]
        states = self.run(embedded, context)
        return self.readout(embedded, states, context.unsqueeze(1).expand_as(states))


class Preallocated32(Pieces):
    def forward(self, tokens, context):
        logits = super().forward(tokens, context)
        into = torch.zeros(logits.shape)
        into[:] = logits
        return into


class ReturnsNothing(Pieces):
    def forward(self, tokens, context):
        super().forward(tokens, context)


class Numpy(Pieces):
    def forward(self, tokens, context):
        return super().forward(tokens, context).detach().numpy()


class HardCodedLength(Pieces):
    def run(self, embedded, context):
        state, states = self.start(context), []
        for t in range(3):
            state = self.step(embedded[:, t], state, context)
            states.append(state)
        return torch.stack(states, 1)


class NeedsAState(Pieces):
    def forward(self, tokens, context, state):
        return super().forward(tokens, context)


class RnnForCell(Stub):
    """nn.GRU in place of nn.GRUCell: other names of the parameters."""

    def __init__(self, vocabulary_size, embedding_size, hidden_size):
        super().__init__(vocabulary_size, embedding_size, hidden_size)
        self.cell = nn.GRU(embedding_size + hidden_size, hidden_size, batch_first=True)


class CellWithoutContext(Stub):
    """Another shape of the cell."""

    def __init__(self, vocabulary_size, embedding_size, hidden_size):
        super().__init__(vocabulary_size, embedding_size, hidden_size)
        self.cell = nn.GRUCell(embedding_size, hidden_size)


class NoReadout(Stub):
    def start(self, context):
        return torch.tanh(self.first_state(context))

    def step(self, embedded, state, context):
        return self.cell(torch.cat([embedded, context], -1), state)


WRONG = [
    StartWithRelu,
    StartWithoutBias,
    StartTransposed,
    StartTwiceTanh,
    StartWithAxis,
    StartCut,
    FirstStateOnlyInForward,
    ContextSummedWithState,
    ContextIsTheState,
    StepWithoutWord,
    StepWithoutState,
    StepTanh,
    StepResidual,
    StepReturnsLogits,
    StepKeepsTheContext,
    KeepsTheLastState,
    StateOverwritten,
    ContextOfTheFirstSentence,
    ReadoutWithoutWord,
    ReadoutWithoutState,
    ReadoutWordLast,
    ReadoutRelu,
    ReadoutTanhOutside,
    ReadoutFromState,
    ReadoutTiedToEmbedding,
    ReadoutTwoAxesOnly,
    ReadoutDropoutLeftOn,
    ReadoutCut,
    MaskedLogits,
    SeesTheNextWord,
    StepSeesTheNextWord,
    OneWordTooFew,
    AlwaysTheFirstWord,
    LastLogitsOnly,
    LogitsFlattened,
    TimeFirst,
    ReshapedForTransposed,
    VocabularySecond,
    Squeezed,
    ListOfLogits,
    LogitsAndState,
    StateDetached,
    EmbeddingDetached,
    WordsFromOutput,
    Preallocated32,
    ReturnsNothing,
    Numpy,
    HardCodedLength,
    NeedsAState,
    RnnForCell,
    CellWithoutContext,
    NoReadout,
]
