"""Answers to `LuongDecoder`."""

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
        key_size: int,
        attention: nn.Module,
        input_feeding: bool = True,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.attention = attention
        self.input_feeding = input_feeding
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        fed = hidden_size if input_feeding else 0
        self.cell = nn.GRUCell(embedding_size + fed, hidden_size)
        self.combine = nn.Linear(key_size + hidden_size, hidden_size, bias=False)
        self.output = nn.Linear(hidden_size, vocabulary_size, bias=False)
        self.dropout = nn.Dropout(dropout)


# Right


class StepByStep(Stub):
    """Scores the words in each step."""

    def step(self, embedded, state, attentional, keys, mask, position):
        if self.input_feeding:
            embedded = torch.cat((embedded, attentional), 1)
        h = self.cell(embedded, state)
        c, alpha = self.attention(h, keys, mask, position)
        return h, torch.tanh(self.combine(torch.cat((c, h), 1))), alpha

    def forward(self, tokens, keys, mask, first_state):
        h, fed = first_state, first_state * 0
        logits, alphas = [], []
        for t, y in enumerate(tokens.T):
            h, fed, alpha = self.step(self.embedding(y), h, fed, keys, mask, t)
            logits.append(self.output(fed))
            alphas.append(alpha)
        return torch.stack(logits, dim=1), torch.stack(alphas, dim=1)


class Preallocated(Stub):
    def step(self, embedded, state, attentional, keys, mask, position):
        x = torch.cat([embedded, attentional], -1) if self.input_feeding else embedded
        state = self.cell(x, state)
        context, weights = self.attention(state, keys, mask, position)
        joined = torch.cat([context, state], -1)
        return state, F.linear(joined, self.combine.weight).tanh(), weights

    def forward(self, tokens, keys, mask, first_state):
        B, T = tokens.shape
        logits = keys.new_zeros(B, T, self.output.out_features)
        weights = keys.new_zeros(B, T, keys.shape[1])
        state, attentional = first_state, keys.new_zeros(B, first_state.shape[1])
        for t in range(T):
            state, attentional, alpha = self.step(
                self.embedding(tokens[:, t]), state, attentional, keys, mask, t
            )
            logits[:, t] = self.output(attentional)
            weights[:, t] = alpha
        return logits, weights


class HandWrittenCell(Stub):
    """The GRU from its equations; W_c and W_s as plain matrices."""

    def _move(self, x: Tensor, h: Tensor) -> Tensor:
        gx = x @ self.cell.weight_ih.T + self.cell.bias_ih
        gh = h @ self.cell.weight_hh.T + self.cell.bias_hh
        d = h.shape[-1]
        r = torch.sigmoid(gx[:, :d] + gh[:, :d])
        z = torch.sigmoid(gx[:, d : 2 * d] + gh[:, d : 2 * d])
        n = torch.tanh(gx[:, 2 * d :] + r * gh[:, 2 * d :])
        return n + z * (h - n)

    def step(self, y, h, h_tilde, keys, mask, t):
        h = self._move(torch.hstack([y, h_tilde][: 2 if self.input_feeding else 1]), h)
        c, a = self.attention(query=h, keys=keys, mask=mask, position=t)
        k = c.shape[-1]
        w = self.combine.weight
        return h, torch.tanh(c @ w[:, :k].T + h @ w[:, k:].T), a

    def forward(self, tokens, keys, mask, first_state):
        steps = [(first_state, torch.zeros_like(first_state), None)]
        for t, y in enumerate(self.embedding(tokens).unbind(1)):
            steps.append(self.step(y, *steps[-1][:2], keys, mask, t))
        _, h_tilde, a = (torch.stack(part, 1) for part in zip(*steps[1:], strict=True))
        return h_tilde @ self.output.weight.T, a


class OneSentenceAtATime(Stub):
    def step(self, embedded, state, attentional, keys, mask, position):
        found = []
        for b in range(len(embedded)):
            row = slice(b, b + 1)
            x = embedded[row]
            if self.input_feeding:
                x = torch.cat([x, attentional[row]], 1)
            h = self.cell(x, state[row])
            c, a = self.attention(h, keys[row], mask[row], position)
            found.append((h, self.combine(torch.cat([c, h], 1)).tanh(), a))
        return tuple(torch.cat(part) for part in zip(*found, strict=True))

    def forward(self, tokens, keys, mask, first_state):
        all_logits, all_weights = [], []
        for b in range(len(tokens)):
            row = slice(b, b + 1)
            h, fed = first_state[row], torch.zeros_like(first_state[row])
            logits, weights = [], []
            for t in range(tokens.shape[1]):
                y = self.embedding(tokens[row, t])
                h, fed, a = self.step(y, h, fed, keys[row], mask[row], t)
                logits.append(self.output(fed)[0])
                weights.append(a[0])
            all_logits.append(torch.stack(logits))
            all_weights.append(torch.stack(weights))
        return torch.stack(all_logits), torch.stack(all_weights)


class Recursive(Stub):
    """Words by recursion, one-hot embeddings; a lookup in place of the attribute's value."""

    def step(self, embedded, state, attentional, keys, mask, position):
        parts = [embedded] + [attentional] * int(self.input_feeding)
        state = self.cell(torch.cat(parts, dim=-1), state)
        context, weights = self.attention(state, keys, mask, position)
        return state, torch.tanh(self.combine(torch.cat([context, state], dim=-1))), weights

    def _rest(self, embedded, state, attentional, keys, mask, t):
        if t == embedded.shape[1]:
            return []
        state, attentional, weights = self.step(embedded[:, t], state, attentional, keys, mask, t)
        rest = self._rest(embedded, state, attentional, keys, mask, t + 1)
        return [(self.output(self.dropout(attentional)), weights), *rest]

    def forward(self, tokens, keys, mask, first_state):
        table = self.embedding.weight
        embedded = self.dropout(F.one_hot(tokens, len(table)).to(table.dtype) @ table)
        nothing = torch.zeros_like(first_state)
        pairs = self._rest(embedded, first_state, nothing, keys, mask, 0)
        return torch.stack([p[0] for p in pairs], 1), torch.stack([p[1] for p in pairs], 1)


class PositionAsTensor(Stub):
    """Hands the position on as a tensor; sets padding keys to 0 in a copy."""

    def step(self, embedded, state, attentional, keys, mask, position):
        keys = keys.masked_fill(~mask.unsqueeze(-1), 0.0)
        x = torch.cat([embedded, attentional], -1) if self.input_feeding else embedded
        state = self.cell(x, state)
        context, weights = self.attention(state, keys, mask, torch.tensor(position))
        return state, torch.tanh(self.combine(torch.cat([context, state], -1))), weights

    def forward(self, tokens, keys, mask, first_state):
        state, attentional = first_state, torch.zeros_like(first_state)
        said, looked = [], []
        for t in range(tokens.size(1)):
            word = F.embedding(tokens[:, t], self.embedding.weight)
            state, attentional, alpha = self.step(word, state, attentional, keys, mask, t)
            said += [attentional]
            looked += [alpha]
        return self.output(torch.stack(said).transpose(0, 1)), torch.stack(looked).transpose(0, 1)


class WideAndTalkative(Stub):
    """h~ in float64, cast back; talks a lot."""

    def step(self, embedded, state, attentional, keys, mask, position):
        print("step", position)
        warnings.warn("joining in float64", stacklevel=1)
        x = torch.cat([embedded, attentional], -1) if self.input_feeding else embedded
        state = self.cell(x, state)
        context, weights = self.attention(state, keys, mask, position)
        joined = torch.cat([context, state], -1).double() @ self.combine.weight.double().T
        return state, torch.tanh(joined).to(state.dtype), weights

    def forward(self, tokens, keys, mask, first_state):
        state, attentional = first_state, torch.zeros_like(first_state)
        logits, weights = [], []
        for t in tqdm(range(tokens.shape[1]), desc="decoding"):
            sys.stderr.write(f"word {t}\n")
            y = self.embedding(tokens[:, t])
            state, attentional, a = self.step(y, state, attentional, keys, mask, t)
            logits.append(self.output(attentional).unsqueeze(1))
            weights.append(a.unsqueeze(1))
        return torch.cat(logits, 1), torch.cat(weights, 1)


class Wide(Stub):
    """Returns float64 whatever its dtype, and a list."""

    def step(self, embedded, state, attentional, keys, mask, position):
        x = torch.cat([embedded, attentional], -1) if self.input_feeding else embedded
        state = self.cell(x, state)
        context, weights = self.attention(state, keys, mask, position)
        return [state, torch.tanh(self.combine(torch.cat([context, state], -1))), weights]

    def forward(self, tokens, keys, mask, first_state):
        state, attentional, logits, weights = first_state, torch.zeros_like(first_state), [], []
        for t, y in enumerate(self.embedding(tokens).unbind(1)):
            state, attentional, a = self.step(y, state, attentional, keys, mask, t)
            logits.append(self.output(attentional).double())
            weights.append(a)
        return [torch.stack(logits, 1), torch.stack(weights, 1)]


RIGHT = [
    StepByStep,
    Preallocated,
    HandWrittenCell,
    OneSentenceAtATime,
    Recursive,
    PositionAsTensor,
    WideAndTalkative,
    Wide,
]

# Wrong


class Pieces(Stub):
    """A right decoder; each of the wrong ones below replaces one piece."""

    def attend(self, state, keys, mask, position):
        return self.attention(state, keys, mask, position)

    def move(self, embedded, attentional, state):
        x = torch.cat([embedded, attentional], -1) if self.input_feeding else embedded
        return self.cell(x, state)

    def join(self, context, state):
        return torch.tanh(self.combine(torch.cat([context, state], -1)))

    def step(self, embedded, state, attentional, keys, mask, position):
        state = self.move(embedded, attentional, state)
        context, weights = self.attend(state, keys, mask, position)
        return state, self.join(context, state), weights

    def run(self, embedded, keys, mask, state):
        attentional = torch.zeros_like(state)
        steps = []
        for t, y in enumerate(embedded.unbind(1)):
            steps.append(self.step(y, state, attentional, keys, mask, t))
            state, attentional, _ = steps[-1]
        return tuple(torch.stack(part, 1) for part in zip(*steps, strict=True))

    def forward(self, tokens, keys, mask, first_state):
        _, attentional, weights = self.run(self.embedding(tokens), keys, mask, first_state)
        return self.output(attentional), weights


class OldStateInForward(Pieces):
    """step is right, forward has a loop of its own that attends with the old state."""

    def run(self, embedded, keys, mask, state):
        attentional = torch.zeros_like(state)
        steps = []
        for t, y in enumerate(embedded.unbind(1)):
            context, alpha = self.attend(state, keys, mask, t)
            state = self.move(y, attentional, state)
            attentional = self.join(context, state)
            steps.append((state, attentional, alpha))
        return tuple(torch.stack(part, 1) for part in zip(*steps, strict=True))


class JoinsOldState(Pieces):
    """Attends with the new state, joins the old one."""

    def step(self, embedded, state, attentional, keys, mask, position):
        new = self.move(embedded, attentional, state)
        context, weights = self.attend(new, keys, mask, position)
        return new, self.join(context, state), weights


class AttendsWithAttentional(Pieces):
    def step(self, embedded, state, attentional, keys, mask, position):
        new = self.move(embedded, attentional, state)
        context, weights = self.attend(attentional, keys, mask, position)
        return new, self.join(context, new), weights


class OneContextForAll(Pieces):
    def run(self, embedded, keys, mask, state):
        context, alpha = self.attend(state, keys, mask, 0)
        attentional = torch.zeros_like(state)
        steps = []
        for y in embedded.unbind(1):
            state = self.move(y, attentional, state)
            attentional = self.join(context, state)
            steps.append((state, attentional, alpha))
        return tuple(torch.stack(part, 1) for part in zip(*steps, strict=True))


class StateAndAttentionalAdded(Pieces):
    def move(self, embedded, attentional, state):
        return super().move(embedded, attentional + state, state)


class FeedsAttentionalAsState(Pieces):
    """The cell starts from h~ and reads h."""

    def move(self, embedded, attentional, state):
        return super().move(embedded, state, attentional)


class FeedsOnlyTheLastWord(Pieces):
    """Feeds h~ from the second word on, but the embedding of the first is lost."""

    def move(self, embedded, attentional, state):
        return super().move(torch.zeros_like(embedded), attentional, state)


class FirstAttentionalIsOne(Pieces):
    def run(self, embedded, keys, mask, state):
        attentional, steps = torch.ones_like(state), []
        for t, y in enumerate(embedded.unbind(1)):
            steps.append(self.step(y, state, attentional, keys, mask, t))
            state, attentional, _ = steps[-1]
        return tuple(torch.stack(part, 1) for part in zip(*steps, strict=True))


class FirstAttentionalOfTheState(Pieces):
    """Attends once before the first word to have something to feed."""

    def run(self, embedded, keys, mask, state):
        context, _ = self.attend(state, keys, mask, 0)
        attentional, steps = self.join(context, state), []
        for t, y in enumerate(embedded.unbind(1)):
            steps.append(self.step(y, state, attentional, keys, mask, t))
            state, attentional, _ = steps[-1]
        return tuple(torch.stack(part, 1) for part in zip(*steps, strict=True))


class FeedingDetached(Pieces):
    """No gradient through what is fed."""

    def move(self, embedded, attentional, state):
        return super().move(embedded, attentional.detach(), state)


class StateDetached(Pieces):
    def move(self, embedded, attentional, state):
        return super().move(embedded, attentional, state.detach())


class ContextDetached(Pieces):
    def join(self, context, state):
        return super().join(context.detach(), state)


class QueryDetached(Pieces):
    def attend(self, state, keys, mask, position):
        return super().attend(state.detach(), keys, mask, position)


class EmbeddingDetached(Pieces):
    def forward(self, tokens, keys, mask, first_state):
        _, found, weights = self.run(self.embedding(tokens).detach(), keys, mask, first_state)
        return self.output(found), weights


class WeightsDetached(Pieces):
    def forward(self, tokens, keys, mask, first_state):
        logits, weights = super().forward(tokens, keys, mask, first_state)
        return logits, weights.detach()


class PositionBackwards(Pieces):
    def run(self, embedded, keys, mask, state):
        attentional, steps = torch.zeros_like(state), []
        for t, y in enumerate(embedded.unbind(1)):
            back = embedded.shape[1] - 1 - t
            steps.append(self.step(y, state, attentional, keys, mask, back))
            state, attentional, _ = steps[-1]
        return tuple(torch.stack(part, 1) for part in zip(*steps, strict=True))


class PositionAsCounter(Pieces):
    """Counts its own calls."""

    calls = 0

    def attend(self, state, keys, mask, position):
        self.calls += 1
        return super().attend(state, keys, mask, self.calls - 1)


class PositionHalved(Pieces):
    def attend(self, state, keys, mask, position):
        return super().attend(state, keys, mask, position // 2)


class NoPosition(Pieces):
    def attend(self, state, keys, mask, position):
        return self.attention(state, keys, mask)


class KeepsTheKeys(Pieces):
    kept = None

    def attend(self, state, keys, mask, position):
        if self.kept is None or self.kept[0].shape != keys.shape:
            self.kept = keys, mask
        return super().attend(state, *self.kept, position)


class AttentionalCarriedToTheNextBatch(Pieces):
    last = None

    def run(self, embedded, keys, mask, state):
        attentional = torch.zeros_like(state) if self.last is None else self.last
        steps = []
        for t, y in enumerate(embedded.unbind(1)):
            steps.append(self.step(y, state, attentional, keys, mask, t))
            state, attentional, _ = steps[-1]
        self.last = attentional
        return tuple(torch.stack(part, 1) for part in zip(*steps, strict=True))


class InvertedMask(Pieces):
    def attend(self, state, keys, mask, position):
        return super().attend(state, keys, ~mask, position)


class MaskOfTheFirstSentence(Pieces):
    def attend(self, state, keys, mask, position):
        return super().attend(state, keys, mask[:1].expand_as(mask), position)


class OwnAttention(Pieces):
    """Dot products, where the sizes allow it; the attention it was given otherwise."""

    def attend(self, state, keys, mask, position):
        if state.shape[-1] != keys.shape[-1]:
            return super().attend(state, keys, mask, position)
        scores = torch.einsum("bd,bsd->bs", state, keys)
        alpha = scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(-1) * mask
        return torch.einsum("bs,bsd->bd", alpha, keys), alpha


class InsideTheAttention(Pieces):
    """Takes for granted that the attention is the one of scores.ipynb."""

    def attend(self, state, keys, mask, position):
        scores = self.attention.score(state, keys).masked_fill(~mask, -1e9)
        alpha = scores.softmax(-1) * mask
        return torch.einsum("bs,bsa->ba", alpha, keys), alpha


class JoinAdded(Pieces):
    """Residual: h~ = h + tanh(...)."""

    def join(self, context, state):
        return state + super().join(context, state)


class JoinWithRelu(Pieces):
    def join(self, context, state):
        return torch.relu(self.combine(torch.cat([context, state], -1)))


class JoinWithoutContext(Pieces):
    def join(self, context, state):
        return super().join(torch.zeros_like(context), state)


class JoinWithoutState(Pieces):
    def join(self, context, state):
        return super().join(context, torch.zeros_like(state))


class OutputOfSum(Pieces):
    def forward(self, tokens, keys, mask, first_state):
        states, found, weights = self.run(self.embedding(tokens), keys, mask, first_state)
        return self.output(states + found), weights


class OutputOfThePreviousStep(Pieces):
    def forward(self, tokens, keys, mask, first_state):
        _, found, weights = self.run(self.embedding(tokens), keys, mask, first_state)
        return self.output(F.pad(found, (0, 0, 1, 0))[:, :-1]), weights


class OutputTiedToEmbedding(Pieces):
    """Where the sizes allow it."""

    def forward(self, tokens, keys, mask, first_state):
        _, found, weights = self.run(self.embedding(tokens), keys, mask, first_state)
        table = self.embedding.weight
        if table.shape == self.output.weight.shape:
            return found @ table.T, weights
        return self.output(found), weights


class TanhOfLogits(Pieces):
    def forward(self, tokens, keys, mask, first_state):
        logits, weights = super().forward(tokens, keys, mask, first_state)
        return torch.tanh(logits), weights


class WordsShifted(Pieces):
    def forward(self, tokens, keys, mask, first_state):
        embedded = F.pad(self.embedding(tokens), (0, 0, 1, 0))[:, :-1]
        _, found, weights = self.run(embedded, keys, mask, first_state)
        return self.output(found), weights


class AlwaysTheFirstWord(Pieces):
    def forward(self, tokens, keys, mask, first_state):
        return super().forward(tokens[:, :1].expand_as(tokens), keys, mask, first_state)


class OneWordTooFew(Pieces):
    def forward(self, tokens, keys, mask, first_state):
        if tokens.shape[1] > 1:
            tokens = tokens[:, :-1]
        return super().forward(tokens, keys, mask, first_state)


class LastWeightsOnly(Pieces):
    def forward(self, tokens, keys, mask, first_state):
        logits, weights = super().forward(tokens, keys, mask, first_state)
        return logits, weights[:, -1]


class VocabularySecond(Pieces):
    def forward(self, tokens, keys, mask, first_state):
        logits, weights = super().forward(tokens, keys, mask, first_state)
        return logits.transpose(1, 2), weights


class WeightsTransposed(Pieces):
    def forward(self, tokens, keys, mask, first_state):
        logits, weights = super().forward(tokens, keys, mask, first_state)
        return logits, weights.transpose(1, 2)


class ReshapedForTransposed(Pieces):
    """Stacked along time, then viewed as batch first: the right shape, mixed-up sentences."""

    def forward(self, tokens, keys, mask, first_state):
        logits, weights = super().forward(tokens, keys, mask, first_state)
        b, t, v = logits.shape
        return logits.transpose(0, 1).reshape(b, t, v), weights


class LogitsOnly(Pieces):
    def forward(self, *given):
        return super().forward(*given)[0]


class StepReturnsContext(Pieces):
    """step returns the context in place of h~, and forward knows it."""

    def step(self, embedded, state, attentional, keys, mask, position):
        state = self.move(embedded, attentional, state)
        context, weights = self.attend(state, keys, mask, position)
        return state, context, weights

    def run(self, embedded, keys, mask, state):
        attentional, steps = torch.zeros_like(state), []
        for t, y in enumerate(embedded.unbind(1)):
            state, context, alpha = self.step(y, state, attentional, keys, mask, t)
            attentional = self.join(context, state)
            steps.append((state, attentional, alpha))
        return tuple(torch.stack(part, 1) for part in zip(*steps, strict=True))


class StepInAnotherOrder(Pieces):
    """h~ first, and forward knows it."""

    def step(self, *given):
        state, attentional, weights = super().step(*given)
        return attentional, state, weights

    def run(self, embedded, keys, mask, state):
        attentional, steps = torch.zeros_like(state), []
        for t, y in enumerate(embedded.unbind(1)):
            attentional, state, alpha = self.step(y, state, attentional, keys, mask, t)
            steps.append((state, attentional, alpha))
        return tuple(torch.stack(part, 1) for part in zip(*steps, strict=True))


class StepOfTwo(Pieces):
    def step(self, *given):
        return super().step(*given)[:2]


class NoForward(Stub):
    def step(self, embedded, state, attentional, keys, mask, position):
        x = torch.cat([embedded, attentional], -1) if self.input_feeding else embedded
        state = self.cell(x, state)
        context, weights = self.attention(state, keys, mask, position)
        return state, torch.tanh(self.combine(torch.cat([context, state], -1))), weights


class CellWithoutState(Pieces):
    def move(self, embedded, attentional, state):
        x = torch.cat([embedded, attentional], -1) if self.input_feeding else embedded
        return self.cell(x)


class StateInPlace(Pieces):
    def move(self, embedded, attentional, state):
        new = super().move(embedded, attentional, state)
        if not torch.is_grad_enabled():
            state.copy_(new)
        return new


class KeysZeroedInPlace(Pieces):
    def attend(self, state, keys, mask, position):
        keys[~mask] = 0
        return super().attend(state, keys, mask, position)


class WithBiases(Pieces):
    def __init__(self, vocabulary_size, embedding_size, hidden_size, key_size, *rest):
        super().__init__(vocabulary_size, embedding_size, hidden_size, key_size, *rest)
        self.combine = nn.Linear(key_size + hidden_size, hidden_size)


class AlwaysFed(Pieces):
    """The cell is made for input feeding, also without."""

    def __init__(
        self,
        vocabulary_size,
        embedding_size,
        hidden_size,
        key_size,
        attention,
        input_feeding=True,
    ):
        super().__init__(vocabulary_size, embedding_size, hidden_size, key_size, attention)


class NewLayersInForward(Pieces):
    def join(self, context, state):
        x = torch.cat([context, state], -1)
        return torch.tanh(nn.Linear(x.shape[-1], state.shape[-1]).to(x.dtype)(x))


class DropoutLeftOn(Pieces):
    def join(self, context, state):
        return F.dropout(super().join(context, state), 0.2)


class Preallocated32(Pieces):
    def forward(self, tokens, keys, mask, first_state):
        logits, weights = super().forward(tokens, keys, mask, first_state)
        into = torch.zeros(logits.shape)
        into[:] = logits
        return into, weights


class ReturnsNothing(Pieces):
    def forward(self, *given):
        super().forward(*given)


class Nothing(Pieces):
    def forward(self, *given):
        logits, weights = super().forward(*given)
        return torch.zeros_like(logits), weights


class BatchCentred(Pieces):
    """Depends on who else is in the batch."""

    def join(self, context, state):
        return super().join(context - 0.01 * context.mean(0), state)


WRONG = [
    OldStateInForward,
    JoinsOldState,
    AttendsWithAttentional,
    OneContextForAll,
    StateAndAttentionalAdded,
    FeedsAttentionalAsState,
    FeedsOnlyTheLastWord,
    FirstAttentionalIsOne,
    FirstAttentionalOfTheState,
    FeedingDetached,
    StateDetached,
    ContextDetached,
    QueryDetached,
    EmbeddingDetached,
    WeightsDetached,
    PositionBackwards,
    PositionAsCounter,
    PositionHalved,
    NoPosition,
    KeepsTheKeys,
    AttentionalCarriedToTheNextBatch,
    InvertedMask,
    MaskOfTheFirstSentence,
    OwnAttention,
    InsideTheAttention,
    JoinAdded,
    JoinWithRelu,
    JoinWithoutContext,
    JoinWithoutState,
    OutputOfSum,
    OutputOfThePreviousStep,
    OutputTiedToEmbedding,
    TanhOfLogits,
    WordsShifted,
    AlwaysTheFirstWord,
    OneWordTooFew,
    LastWeightsOnly,
    VocabularySecond,
    WeightsTransposed,
    ReshapedForTransposed,
    LogitsOnly,
    StepReturnsContext,
    StepInAnotherOrder,
    StepOfTwo,
    NoForward,
    CellWithoutState,
    StateInPlace,
    KeysZeroedInPlace,
    WithBiases,
    AlwaysFed,
    NewLayersInForward,
    DropoutLeftOn,
    Preallocated32,
    ReturnsNothing,
    Nothing,
    BatchCentred,
]
