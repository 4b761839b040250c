"""Answers to `AttentionDecoder`."""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm.auto import tqdm


class Stub(nn.Module):
    """What the stub gives: the layers."""

    def __init__(
        self,
        vocabulary_size: int,
        embedding_size: int,
        hidden_size: int,
        annotation_size: int,
        attention: nn.Module,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.attention = attention
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.cell = nn.GRUCell(embedding_size + annotation_size, hidden_size)
        self.hidden = nn.Linear(embedding_size + hidden_size + annotation_size, embedding_size)
        self.output = nn.Linear(embedding_size, vocabulary_size)
        self.dropout = nn.Dropout(dropout)


# Right


class StepByStep(nn.Module):
    """Reads out in each step; attends without projected keys."""

    def __init__(
        self,
        vocabulary_size: int,
        embedding_size: int,
        hidden_size: int,
        annotation_size: int,
        attention: nn.Module,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.attention = attention
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.cell = nn.GRUCell(embedding_size + annotation_size, hidden_size)
        self.hidden = nn.Linear(embedding_size + hidden_size + annotation_size, embedding_size)
        self.output = nn.Linear(embedding_size, vocabulary_size)
        self.dropout = nn.Dropout(dropout)

    def step(self, embedded, state, annotations, mask, projected_keys=None):
        context, weights = self.attention(state, annotations, mask)
        state = self.cell(torch.cat((embedded, context), 1), state)
        return state, context, weights

    def readout(self, embedded, states, contexts):
        return self.output(torch.tanh(self.hidden(torch.cat((embedded, states, contexts), -1))))

    def forward(self, tokens, annotations, mask, first_state):
        logits, alphas, s = [], [], first_state
        for y in tokens.T:
            e = self.embedding(y)
            s, c, alpha = self.step(e, s, annotations, mask)
            logits.append(self.readout(e, s, c))
            alphas.append(alpha)
        return torch.stack(logits, dim=1), torch.stack(alphas, dim=1)


class Preallocated(Stub):
    """Writes into tensors of the right dtype."""

    def step(self, embedded, state, annotations, mask, projected_keys=None):
        context, weights = self.attention(state, annotations, mask, projected_keys)
        return self.cell(torch.cat([embedded, context], -1), state), context, weights

    def readout(self, embedded, states, contexts):
        t = torch.tanh(self.hidden(torch.cat([embedded, states, contexts], -1)))
        return F.linear(t, self.output.weight, self.output.bias)

    def forward(self, tokens, annotations, mask, first_state):
        B, T = tokens.shape
        logits = annotations.new_zeros(B, T, self.output.out_features)
        weights = annotations.new_zeros(B, T, annotations.shape[1])
        projected, state = self.attention.project(annotations), first_state
        for i in range(T):
            word = self.embedding(tokens[:, i])
            state, context, alpha = self.step(word, state, annotations, mask, projected)
            logits[:, i] = self.readout(word, state, context)
            weights[:, i] = alpha
        return logits, weights


class HandWrittenCell(Stub):
    """The GRU from its equations, with the parameters of self.cell."""

    def _move(self, x: Tensor, h: Tensor) -> Tensor:
        gx = x @ self.cell.weight_ih.T + self.cell.bias_ih
        gh = h @ self.cell.weight_hh.T + self.cell.bias_hh
        d = h.shape[-1]
        r = torch.sigmoid(gx[:, :d] + gh[:, :d])
        z = torch.sigmoid(gx[:, d : 2 * d] + gh[:, d : 2 * d])
        n = torch.tanh(gx[:, 2 * d :] + r * gh[:, 2 * d :])
        return n + z * (h - n)

    def step(self, y, s, h, m, uh=None):
        c, a = self.attention(query=s, keys=h, mask=m, projected_keys=uh)
        return self._move(torch.hstack([y, c]), s), c, a

    def readout(self, y, s, c):
        # W_t [y; s; c] piece by piece
        e, d = y.shape[-1], s.shape[-1]
        w = self.hidden.weight
        t = y @ w[:, :e].T + s @ w[:, e : e + d].T + c @ w[:, e + d :].T + self.hidden.bias
        return self.output(t.tanh())

    def forward(self, tokens, annotations, mask, first_state):
        uh = self.attention.project(annotations)
        embedded = self.embedding(tokens)
        steps = [(first_state, None, None)]
        for y in embedded.unbind(1):
            steps.append(self.step(y, steps[-1][0], annotations, mask, uh))
        s, c, a = (torch.stack(part, 1) for part in zip(*steps[1:], strict=True))
        return self.readout(embedded, s, c), a


class OneSentenceAtATime(Stub):
    def step(self, embedded, state, annotations, mask, projected_keys=None):
        states, contexts, weights = [], [], []
        for b in range(len(embedded)):
            row = slice(b, b + 1)
            c, a = self.attention(state[row], annotations[row], mask[row])
            states.append(self.cell(torch.cat([embedded[row], c], 1), state[row]))
            contexts.append(c)
            weights.append(a)
        return torch.cat(states), torch.cat(contexts), torch.cat(weights)

    def readout(self, embedded, states, contexts):
        return self.output(self.hidden(torch.cat([embedded, states, contexts], -1)).tanh())

    def forward(self, tokens, annotations, mask, first_state):
        all_logits, all_weights = [], []
        for b in range(len(tokens)):
            s, logits, weights = first_state[b : b + 1], [], []
            for token in tokens[b]:
                y = self.embedding(token)[None]
                s, c, a = self.step(y, s, annotations[b : b + 1], mask[b : b + 1])
                logits.append(self.readout(y, s, c)[0])
                weights.append(a[0])
            all_logits.append(torch.stack(logits))
            all_weights.append(torch.stack(weights))
        return torch.stack(all_logits), torch.stack(all_weights)


class Recursive(Stub):
    """Words by recursion, one-hot embeddings, and the loop not sharing step."""

    def step(self, embedded, state, annotations, mask, projected_keys=None):
        if projected_keys is None:
            projected_keys = self.attention.project(annotations)
        context, weights = self.attention(state, annotations, mask, projected_keys)
        gates = torch.cat([embedded, context], dim=-1)
        return self.cell(gates, state), context, weights

    def readout(self, embedded, states, contexts):
        return self.output(
            self.dropout(torch.tanh(self.hidden(torch.cat([embedded, states, contexts], dim=-1))))
        )

    def _rest(self, embedded, annotations, mask, state):
        if embedded.shape[1] == 0:
            return []
        state, context, weights = self.step(embedded[:, 0], state, annotations, mask)
        logits = self.readout(embedded[:, 0], state, context)
        return [(logits, weights), *self._rest(embedded[:, 1:], annotations, mask, state)]

    def forward(self, tokens, annotations, mask, first_state):
        table = self.embedding.weight
        embedded = F.one_hot(tokens, len(table)).to(table.dtype) @ table
        pairs = self._rest(embedded, annotations, mask, first_state)
        return torch.stack([p[0] for p in pairs], 1), torch.stack([p[1] for p in pairs], 1)


class WideAndTalkative(Stub):
    """The read-out in float64, cast back; talks a lot."""

    def step(self, embedded, state, annotations, mask, projected_keys=None):
        print("step", tuple(state.shape))
        context, weights = self.attention(state, annotations, mask, projected_keys)
        return self.cell(torch.cat([embedded, context], -1), state), context, weights

    def readout(self, embedded, states, contexts):
        warnings.warn("reading out in float64", stacklevel=1)
        x = torch.cat([embedded, states, contexts], -1).double()
        t = torch.tanh(F.linear(x, self.hidden.weight.double(), self.hidden.bias.double()))
        logits = F.linear(t, self.output.weight.double(), self.output.bias.double())
        return logits.to(embedded.dtype)

    def forward(self, tokens, annotations, mask, first_state):
        state, logits, weights = first_state, [], []
        for i in tqdm(range(tokens.shape[1]), desc="decoding"):
            sys.stderr.write(f"word {i}\n")
            y = self.embedding(tokens[:, i])
            state, c, a = self.step(y, state, annotations, mask)
            logits.append(self.readout(y, state, c).unsqueeze(1))
            weights.append(a.unsqueeze(1))
        return torch.cat(logits, 1), torch.cat(weights, 1)


class Wide(Stub):
    """Returns float64 whatever its dtype."""

    def step(self, embedded, state, annotations, mask, projected_keys=None):
        context, weights = self.attention(state, annotations, mask, projected_keys)
        return self.cell(torch.cat([embedded, context], -1), state), context, weights

    def readout(self, embedded, states, contexts):
        return self.output(
            torch.tanh(self.hidden(torch.cat([embedded, states, contexts], -1)))
        ).double()

    def forward(self, tokens, annotations, mask, first_state):
        state, logits, weights = first_state, [], []
        for y in self.embedding(tokens).unbind(1):
            state, c, a = self.step(y, state, annotations, mask)
            logits.append(self.readout(y, state, c))
            weights.append(a)
        return [torch.stack(logits, 1), torch.stack(weights, 1)]


RIGHT = [
    StepByStep,
    Preallocated,
    HandWrittenCell,
    OneSentenceAtATime,
    Recursive,
    WideAndTalkative,
    Wide,
]

# Wrong


class Pieces(Stub):
    """A right decoder; each of the wrong ones below replaces one piece."""

    def attend(self, state, annotations, mask, projected_keys=None):
        return self.attention(state, annotations, mask, projected_keys)

    def move(self, embedded, context, state):
        return self.cell(torch.cat([embedded, context], -1), state)

    def step(self, embedded, state, annotations, mask, projected_keys=None):
        context, weights = self.attend(state, annotations, mask, projected_keys)
        return self.move(embedded, context, state), context, weights

    def readout(self, embedded, states, contexts):
        return self.output(torch.tanh(self.hidden(torch.cat([embedded, states, contexts], -1))))

    def run(self, embedded, annotations, mask, state):
        projected = self.attention.project(annotations)
        steps = []
        for y in embedded.unbind(1):
            steps.append(self.step(y, state, annotations, mask, projected))
            state = steps[-1][0]
        return tuple(torch.stack(part, 1) for part in zip(*steps, strict=True))

    def forward(self, tokens, annotations, mask, first_state):
        embedded = self.embedding(tokens)
        states, contexts, weights = self.run(embedded, annotations, mask, first_state)
        return self.readout(embedded, states, contexts), weights


class QueryOfThisStepInForward(Pieces):
    """step is right, forward has a loop of its own that attends with the new state."""

    def run(self, embedded, annotations, mask, state):
        context = torch.zeros_like(annotations[:, 0])
        steps = []
        for y in embedded.unbind(1):
            state = self.cell(torch.cat([y, context], -1), state)
            context, alpha = self.attention(state, annotations, mask)
            steps.append((state, context, alpha))
        return tuple(torch.stack(part, 1) for part in zip(*steps, strict=True))


class FirstContextIsZero(Pieces):
    """The cell reads the context of the step before."""

    def run(self, embedded, annotations, mask, state):
        before = torch.zeros_like(annotations[:, 0])
        steps = []
        for y in embedded.unbind(1):
            context, alpha = self.attention(state, annotations, mask)
            state = self.cell(torch.cat([y, before], -1), state)
            before = context
            steps.append((state, context, alpha))
        return tuple(torch.stack(part, 1) for part in zip(*steps, strict=True))


class KeepsTheProjection(Pieces):
    cached = None

    def run(self, embedded, annotations, mask, state):
        if self.cached is None:
            self.cached = self.attention.project(annotations)
        steps = []
        for y in embedded.unbind(1):
            steps.append(self.step(y, state, annotations, mask, self.cached))
            state = steps[-1][0]
        return tuple(torch.stack(part, 1) for part in zip(*steps, strict=True))


class KeepsTheProjectionInStep(Pieces):
    cached = None

    def step(self, embedded, state, annotations, mask, projected_keys=None):
        if projected_keys is None:
            if self.cached is None:
                self.cached = self.attention.project(annotations)
            projected_keys = self.cached
        return super().step(embedded, state, annotations, mask, projected_keys)


class ProjectsTwiceInStep(Pieces):
    """Wrong only when step is given projected keys, which its own forward does not do."""

    def step(self, embedded, state, annotations, mask, projected_keys=None):
        if projected_keys is not None:
            projected_keys = projected_keys * 2
        return super().step(embedded, state, annotations, mask, projected_keys)

    def run(self, embedded, annotations, mask, state):
        steps = []
        for y in embedded.unbind(1):
            steps.append(self.step(y, state, annotations, mask))
            state = steps[-1][0]
        return tuple(torch.stack(part, 1) for part in zip(*steps, strict=True))


class ProjectedKeysAsAnnotations(Pieces):
    """The context is taken of the projected keys, which step is given."""

    def step(self, embedded, state, annotations, mask, projected_keys=None):
        state, context, weights = super().step(embedded, state, annotations, mask, projected_keys)
        if projected_keys is not None and projected_keys.shape == annotations.shape:
            context = torch.einsum("bs,bsa->ba", weights, projected_keys)
        elif projected_keys is not None:
            context = context * 0.5
        return state, context, weights


class StateCarriedToTheNextBatch(Pieces):
    state = None

    def run(self, embedded, annotations, mask, state):
        if self.state is not None:
            state = self.state
        found = super().run(embedded, annotations, mask, state)
        self.state = found[0][:, -1]
        return found


class RemembersTheMask(Pieces):
    mask = None

    def attend(self, state, annotations, mask, projected_keys=None):
        self.mask = mask if self.mask is None else self.mask
        return super().attend(state, annotations, self.mask, projected_keys)


class StateDetached(Pieces):
    """Truncated back-propagation, one step long."""

    def run(self, embedded, annotations, mask, state):
        projected = self.attention.project(annotations)
        steps = []
        for y in embedded.unbind(1):
            steps.append(self.step(y, state, annotations, mask, projected))
            state = steps[-1][0].detach()
        return tuple(torch.stack(part, 1) for part in zip(*steps, strict=True))


class FirstStateDetached(Pieces):
    def forward(self, tokens, annotations, mask, first_state):
        return super().forward(tokens, annotations, mask, first_state.detach())


class ContextDetached(Pieces):
    def move(self, embedded, context, state):
        return super().move(embedded, context.detach(), state)


class QueryDetached(Pieces):
    def attend(self, state, annotations, mask, projected_keys=None):
        return super().attend(state.detach(), annotations, mask, projected_keys)


class WeightsDetached(Pieces):
    def forward(self, tokens, annotations, mask, first_state):
        logits, weights = super().forward(tokens, annotations, mask, first_state)
        return logits, weights.detach()


class EmbeddingDetached(Pieces):
    def forward(self, tokens, annotations, mask, first_state):
        embedded = self.embedding(tokens).detach()
        states, contexts, weights = self.run(embedded, annotations, mask, first_state)
        return self.readout(embedded, states, contexts), weights


class ReadoutSeesNextWord(Pieces):
    """The word that is to be predicted is read out: the answer leaks."""

    def forward(self, tokens, annotations, mask, first_state):
        embedded = self.embedding(tokens)
        states, contexts, weights = self.run(embedded, annotations, mask, first_state)
        return self.readout(embedded.roll(-1, 1), states, contexts), weights


class WordsShifted(Pieces):
    """A zero word first, as if tokens did not start with one."""

    def forward(self, tokens, annotations, mask, first_state):
        embedded = F.pad(self.embedding(tokens), (0, 0, 1, 0))[:, :-1]
        states, contexts, weights = self.run(embedded, annotations, mask, first_state)
        return self.readout(embedded, states, contexts), weights


class AlwaysTheFirstWord(Pieces):
    def forward(self, tokens, annotations, mask, first_state):
        return super().forward(tokens[:, :1].expand_as(tokens), annotations, mask, first_state)


class OneWordTooFew(Pieces):
    def forward(self, tokens, annotations, mask, first_state):
        if tokens.shape[1] > 1:
            tokens = tokens[:, :-1]
        return super().forward(tokens, annotations, mask, first_state)


class LastWeightsOnly(Pieces):
    def forward(self, tokens, annotations, mask, first_state):
        logits, weights = super().forward(tokens, annotations, mask, first_state)
        return logits, weights[:, -1]


class LastLogitsOnly(Pieces):
    def forward(self, tokens, annotations, mask, first_state):
        logits, weights = super().forward(tokens, annotations, mask, first_state)
        return logits[:, -1:], weights


class LogitsFlattened(Pieces):
    def forward(self, tokens, annotations, mask, first_state):
        logits, weights = super().forward(tokens, annotations, mask, first_state)
        return logits.reshape(-1, logits.shape[-1]), weights


class VocabularySecond(Pieces):
    """(B, V, T), as F.cross_entropy wants it."""

    def forward(self, tokens, annotations, mask, first_state):
        logits, weights = super().forward(tokens, annotations, mask, first_state)
        return logits.transpose(1, 2), weights


class WeightsTransposed(Pieces):
    def forward(self, tokens, annotations, mask, first_state):
        logits, weights = super().forward(tokens, annotations, mask, first_state)
        return logits, weights.transpose(1, 2)


class ReshapedForTransposed(Pieces):
    """Stacked along time, then viewed as batch first: the right shape, mixed-up sentences."""

    def forward(self, tokens, annotations, mask, first_state):
        logits, weights = super().forward(tokens, annotations, mask, first_state)
        b, t, v = logits.shape
        return logits.transpose(0, 1).reshape(b, t, v), weights


class ListOfLogits(Pieces):
    def forward(self, tokens, annotations, mask, first_state):
        logits, weights = super().forward(tokens, annotations, mask, first_state)
        return list(logits.unbind(1)), weights


class Squeezed(Pieces):
    def forward(self, tokens, annotations, mask, first_state):
        logits, weights = super().forward(tokens, annotations, mask, first_state)
        return logits.squeeze(), weights.squeeze()


class LogitsOnly(Pieces):
    def forward(self, *given):
        return super().forward(*given)[0]


class LogitsWeightsState(Pieces):
    def forward(self, tokens, annotations, mask, first_state):
        embedded = self.embedding(tokens)
        states, contexts, weights = self.run(embedded, annotations, mask, first_state)
        return self.readout(embedded, states, contexts), states[:, -1], weights


class StepOfTwo(Pieces):
    def step(self, embedded, state, annotations, mask, projected_keys=None):
        return super().step(embedded, state, annotations, mask, projected_keys)[:2]


class StepInAnotherOrder(Pieces):
    """context first, and forward knows it."""

    def step(self, embedded, state, annotations, mask, projected_keys=None):
        state, context, weights = super().step(embedded, state, annotations, mask, projected_keys)
        return context, state, weights

    def run(self, embedded, annotations, mask, state):
        steps = []
        for y in embedded.unbind(1):
            context, state, alpha = self.step(y, state, annotations, mask)
            steps.append((state, context, alpha))
        return tuple(torch.stack(part, 1) for part in zip(*steps, strict=True))


class ReadoutWithoutWord(Pieces):
    def readout(self, embedded, states, contexts):
        return super().readout(torch.zeros_like(embedded), states, contexts)


class ReadoutWithoutContext(Pieces):
    def readout(self, embedded, states, contexts):
        return super().readout(embedded, states, torch.zeros_like(contexts))


class ReadoutWithoutHidden(Pieces):
    def readout(self, embedded, states, contexts):
        if embedded.shape[-1] == states.shape[-1]:
            return self.output(states)
        return super().readout(embedded, states, contexts)


class ReadoutRelu(Pieces):
    def readout(self, embedded, states, contexts):
        return self.output(torch.relu(self.hidden(torch.cat([embedded, states, contexts], -1))))


class ReadoutTiedToEmbedding(Pieces):
    def readout(self, embedded, states, contexts):
        t = torch.tanh(self.hidden(torch.cat([embedded, states, contexts], -1)))
        return t @ self.embedding.weight.T


class ReadoutTwoAxesOnly(Pieces):
    """Joins along axis 1: right for one step, not for a whole sentence."""

    def readout(self, embedded, states, contexts):
        return self.output(torch.tanh(self.hidden(torch.cat([embedded, states, contexts], 1))))


class ReadoutDropoutLeftOn(Pieces):
    def readout(self, embedded, states, contexts):
        return super().readout(F.dropout(embedded, 0.2), states, contexts)


class MaskedLogits(Pieces):
    """Padding and unknown may not be said."""

    def readout(self, embedded, states, contexts):
        logits = super().readout(embedded, states, contexts).clone()
        logits[..., :2] = -1e9
        return logits


class OwnAttention(Pieces):
    """Dot products, where the sizes allow it; the attention it was given otherwise."""

    def attend(self, state, annotations, mask, projected_keys=None):
        if state.shape[-1] != annotations.shape[-1]:
            return super().attend(state, annotations, mask, projected_keys)
        scores = torch.einsum("bd,bsd->bs", state, annotations)
        alpha = scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(-1) * mask
        return torch.einsum("bs,bsd->bd", alpha, annotations), alpha


class InsideTheAttention(Pieces):
    """Takes for granted that the attention is the one of scores.ipynb."""

    def attend(self, state, annotations, mask, projected_keys=None):
        e = torch.tanh((state @ self.attention.W.T)[:, None] + annotations @ self.attention.U.T)
        alpha = (e @ self.attention.v).masked_fill(~mask, -1e9).softmax(-1) * mask
        return torch.einsum("bs,bsa->ba", alpha, annotations), alpha


class QueryIsTheWord(Pieces):
    """The word is added to the query."""

    def step(self, embedded, state, annotations, mask, projected_keys=None):
        query = state + embedded.mean(-1, keepdim=True)
        context, weights = self.attend(query, annotations, mask, projected_keys)
        return self.move(embedded, context, state), context, weights


class InvertedMask(Pieces):
    def attend(self, state, annotations, mask, projected_keys=None):
        return super().attend(state, annotations, ~mask, projected_keys)


class MaskOfTheFirstSentence(Pieces):
    def attend(self, state, annotations, mask, projected_keys=None):
        return super().attend(state, annotations, mask[:1].expand_as(mask), projected_keys)


class ContextLeftOut(Pieces):
    def move(self, embedded, context, state):
        return super().move(embedded, torch.zeros_like(context), state)


class WordLeftOut(Pieces):
    def move(self, embedded, context, state):
        return super().move(torch.zeros_like(embedded), context, state)


class CellWithoutState(Pieces):
    def move(self, embedded, context, state):
        return self.cell(torch.cat([embedded, context], -1))


class ResidualState(Pieces):
    def move(self, embedded, context, state):
        return super().move(embedded, context, state) + state


class StateInPlace(Pieces):
    def move(self, embedded, context, state):
        new = super().move(embedded, context, state)
        if not torch.is_grad_enabled():
            state.copy_(new)
        return new


class AnnotationsZeroedInPlace(Pieces):
    def attend(self, state, annotations, mask, projected_keys=None):
        annotations[~mask] = 0
        return super().attend(state, annotations, mask, projected_keys)


class NewLayersInForward(Pieces):
    def readout(self, embedded, states, contexts):
        x = torch.cat([embedded, states, contexts], -1)
        hidden = nn.Linear(x.shape[-1], embedded.shape[-1]).to(x.dtype)
        return self.output(torch.tanh(hidden(x)))


class RnnForCell(Stub):
    """nn.GRU in place of nn.GRUCell: other names of the parameters."""

    def __init__(self, vocabulary_size, embedding_size, hidden_size, annotation_size, attention):
        super().__init__(vocabulary_size, embedding_size, hidden_size, annotation_size, attention)
        self.cell = nn.GRU(embedding_size + annotation_size, hidden_size, batch_first=True)


class StateFirstInCell(Stub):
    """Another shape of the cell."""

    def __init__(self, vocabulary_size, embedding_size, hidden_size, annotation_size, attention):
        super().__init__(vocabulary_size, embedding_size, hidden_size, annotation_size, attention)
        self.cell = nn.GRUCell(embedding_size, hidden_size)


class NoReadout(Stub):
    def step(self, embedded, state, annotations, mask, projected_keys=None):
        context, weights = self.attention(state, annotations, mask, projected_keys)
        return self.cell(torch.cat([embedded, context], -1), state), context, weights


class ForwardWithoutState(Pieces):
    def forward(self, tokens, annotations, mask):
        first = annotations.new_zeros(len(tokens), self.cell.hidden_size)
        return super().forward(tokens, annotations, mask, first)


class Preallocated32(Pieces):
    def forward(self, tokens, annotations, mask, first_state):
        logits, weights = super().forward(tokens, annotations, mask, first_state)
        into = torch.zeros(logits.shape)
        into[:] = logits
        return into, weights


class ReturnsNothing(Pieces):
    def forward(self, *given):
        super().forward(*given)


class Numpy(Pieces):
    def forward(self, *given):
        logits, weights = super().forward(*given)
        return logits.detach().numpy(), weights.detach().numpy()


class Nothing(Pieces):
    def forward(self, *given):
        logits, weights = super().forward(*given)
        return torch.zeros_like(logits), weights


class BatchCentred(Pieces):
    """Depends on who else is in the batch."""

    def move(self, embedded, context, state):
        return super().move(embedded, context - context.mean(0) * 0.01, state)


class Argmax(Pieces):
    """Hard attention, straight through."""

    def attend(self, state, annotations, mask, projected_keys=None):
        _, alpha = super().attend(state, annotations, mask, projected_keys)
        hard = F.one_hot(alpha.argmax(-1), alpha.shape[-1]).to(alpha.dtype) * mask
        alpha = hard + alpha - alpha.detach()
        return torch.einsum("bs,bsa->ba", alpha, annotations), alpha


class HardCodedLength(Pieces):
    def run(self, embedded, annotations, mask, state):
        steps = []
        for i in range(5):
            steps.append(self.step(embedded[:, i], state, annotations, mask))
            state = steps[-1][0]
        return tuple(torch.stack(part, 1) for part in zip(*steps, strict=True))


class ParallelOverTime(Pieces):
    """No recurrence: all steps at once from the first state, states summed up."""

    def run(self, embedded, annotations, mask, state):
        states, contexts, weights = super().run(embedded, annotations, mask, state)
        return states.cumsum(1), contexts, weights


WRONG = [
    QueryOfThisStepInForward,
    FirstContextIsZero,
    KeepsTheProjection,
    KeepsTheProjectionInStep,
    ProjectsTwiceInStep,
    ProjectedKeysAsAnnotations,
    StateCarriedToTheNextBatch,
    RemembersTheMask,
    StateDetached,
    FirstStateDetached,
    ContextDetached,
    QueryDetached,
    WeightsDetached,
    EmbeddingDetached,
    ReadoutSeesNextWord,
    WordsShifted,
    AlwaysTheFirstWord,
    OneWordTooFew,
    LastWeightsOnly,
    LastLogitsOnly,
    LogitsFlattened,
    VocabularySecond,
    WeightsTransposed,
    ReshapedForTransposed,
    ListOfLogits,
    Squeezed,
    LogitsOnly,
    LogitsWeightsState,
    StepOfTwo,
    StepInAnotherOrder,
    ReadoutWithoutWord,
    ReadoutWithoutContext,
    ReadoutWithoutHidden,
    ReadoutRelu,
    ReadoutTiedToEmbedding,
    ReadoutTwoAxesOnly,
    ReadoutDropoutLeftOn,
    MaskedLogits,
    OwnAttention,
    InsideTheAttention,
    QueryIsTheWord,
    InvertedMask,
    MaskOfTheFirstSentence,
    ContextLeftOut,
    WordLeftOut,
    CellWithoutState,
    ResidualState,
    StateInPlace,
    AnnotationsZeroedInPlace,
    NewLayersInForward,
    RnnForCell,
    StateFirstInCell,
    NoReadout,
    ForwardWithoutState,
    Preallocated32,
    ReturnsNothing,
    Numpy,
    Nothing,
    BatchCentred,
    Argmax,
    HardCodedLength,
    ParallelOverTime,
]
