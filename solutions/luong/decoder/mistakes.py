"""Mistakes that people really make in the notebook `luong/decoder`.

Each function or class is one wrong implementation; the first line of its docstring is the title of
the card, the rest the hint.
"""

import torch

from solutions.luong import decoder as right

# %% attentional_state


def state_first(context, state, W):
    """Context and state are joined in the wrong order.

    The paper joins [c; h]: the context first, so that the first a columns of W belong to it. With
    [h; c] each column of W meets a number that it was not made for.
    """
    return right.attentional_state(state, context, W)


def state_without_tanh(context, state, W):
    """The tanh is missing.

    h~ = tanh(W [c; h]). Without it, W and the matrix W_s that scores the words would be two linear
    layers in a row, which is one linear layer.
    """
    return torch.cat([context, state], dim=-1) @ W.T


def state_with_relu(context, state, W):
    """A ReLU stands where the paper has tanh.

    h~ = tanh(W [c; h]): with input feeding h~ is read by the recurrent cell in the next step, and
    tanh keeps it between -1 and 1, as a state is.
    """
    return torch.relu(torch.cat([context, state], dim=-1) @ W.T)


def state_with_sigmoid(context, state, W):
    """A sigmoid stands where the paper has tanh.

    h~ = tanh(W [c; h]) lies between -1 and 1 and is 0 where W [c; h] is 0. A sigmoid gives positive
    numbers only.
    """
    return torch.sigmoid(torch.cat([context, state], dim=-1) @ W.T)


def tanh_inside(context, state, W):
    """You take the tanh of [c; h] and not of W [c; h].

    First the matrix, then tanh: the matrix mixes context and state, and tanh works on the mixture.
    """
    return torch.cat([context, state], dim=-1).tanh() @ W.T


def tanh_of_each(context, state, W):
    """You take the tanh of the context's part and of the state's part separately.

    W [c; h] is W_1 c + W_2 h, and tanh belongs around that sum: only there do context and state
    meet.
    """
    of_context, of_state = W.split([context.shape[-1], state.shape[-1]], dim=1)
    return torch.tanh(context @ of_context.T) + torch.tanh(state @ of_state.T)


def context_left_out(context, state, W):
    """The context is not used.

    h~ has to hold both what was found in the source (c) and what the decoder knows (h); without c
    the attention would change nothing.
    """
    return right.attentional_state(torch.zeros_like(context), state, W)


def state_left_out(context, state, W):
    """The state is not used.

    h~ has to hold both what was found in the source (c) and what the decoder knows (h); without h
    the decoder would not know what it has said already.
    """
    return right.attentional_state(context, torch.zeros_like(state), W)


def joined_along_axis_one(context, state, W):
    """You join context and state along axis 1, which is not always the last one.

    For (B, a) axis 1 and the last axis are the same, for all target words at once, (B, T, a), they
    are not. Count axes from the end: dim=-1.
    """
    return torch.tanh(torch.cat([context, state], dim=1) @ W.T)


def context_cut(context, state, W):
    """The context is detached from the graph, so attention cannot learn.

    The numbers are right, but no gradient reaches the context: detach(), .data, no_grad() or a new
    tensor made from numbers ends the graph.
    """
    return right.attentional_state(context.detach(), state, W)


# %% LuongDecoder


class _Decoder(right.LuongDecoder):
    """The right decoder in pieces, so that a mistake changes one of them."""

    def fed(self, embedded, attentional, state):
        """What the cell reads."""
        return torch.cat([embedded, attentional], -1) if self.input_feeding else embedded

    def joined(self, context, state):
        """h~."""
        return self.combine(torch.cat([context, state], -1)).tanh()

    def step(self, embedded, state, attentional, keys, mask, position):
        new = self.cell(self.fed(embedded, attentional, state), state)
        found, alpha = self.attention(new, keys, mask, position)
        return new, self.joined(found, new), alpha

    def beginning(self, first_state):
        """h_0 and h~_0."""
        return first_state, torch.zeros_like(first_state)

    def carried(self, new, old):
        """What the next step gets of the state and h~."""
        return new

    def counted(self, t):
        """The position that step gets."""
        return t

    def scored(self, attentional, states):
        """Logits (B, T, V)."""
        return self.output(attentional)

    def forward(self, tokens, keys, mask, first_state):
        pair = self.beginning(first_state)
        steps = []
        for t, embedded in enumerate(self.embedding(tokens).unbind(1)):
            steps.append(self.step(embedded, *pair, keys, mask, self.counted(t)))
            pair = self.carried(steps[-1][:2], pair)
        states, attentional, weights = (torch.stack(part, 1) for part in zip(*steps, strict=True))
        return self.scored(attentional, states), weights


class DecoderAttendsWithOldState(_Decoder):
    """Your query is the state before the step: that is Bahdanau's order.

    Luong's decoder moves on first and attends afterwards: h_t is computed from h_{t-1} and the
    word, and h_t is the query for c_t. Bahdanau's attends with s_{t-1}, because its cell needs the
    context.
    """

    def step(self, embedded, state, attentional, keys, mask, position):
        found, alpha = self.attention(state, keys, mask, position)
        new = self.cell(self.fed(embedded, attentional, state), state)
        return new, self.joined(found, new), alpha


class DecoderFeedsContext(_Decoder):
    """Your context is fed to the next step, not the attentional state.

    Input feeding joins h~_{t-1} to the embedded word: it holds the context and the state, so that
    the decoder remembers where it looked and what it made of it. The context alone is Bahdanau's
    cell, and it has another size.
    """

    def forward(self, tokens, keys, mask, first_state):
        state, context = first_state, torch.zeros_like(keys[:, 0])
        said, looked = [], []
        for t, embedded in enumerate(self.embedding(tokens).unbind(1)):
            state = self.cell(self.fed(embedded, context, state), state)
            context, alpha = self.attention(state, keys, mask, t)
            said.append(self.joined(context, state))
            looked.append(alpha)
        return self.output(torch.stack(said, 1)), torch.stack(looked, 1)


class DecoderFeedsState(_Decoder):
    """Your state h is fed to the cell, not the attentional state h~.

    The cell has h_{t-1} already: it is its recurrent state. What it does not know is where the
    decoder looked, and that is in h~_{t-1}, the result of attention in the step before.
    """

    def fed(self, embedded, attentional, state):
        return super().fed(embedded, state, state)


class DecoderIgnoresFeedingSwitch(_Decoder):
    """Your attentional state is fed to the cell although input_feeding is False.

    Without input feeding the cell's input is the embedded word alone, and __init__ made the cell
    for that size. Ask self.input_feeding before you join.
    """

    def fed(self, embedded, attentional, state):
        return torch.cat([embedded, attentional], -1)


class DecoderFeedsZeros(_Decoder):
    """The attentional state is not carried from step to step.

    Each step has to be fed the h~ that the step before returned; here every step is fed zeros, as
    only the first should be.
    """

    def carried(self, new, old):
        return new[0], old[1]


class DecoderStateStandsStill(_Decoder):
    """The state is not carried from step to step.

    Each step has to start from the state h that the step before returned; here all start from h_0.
    """

    def carried(self, new, old):
        return old[0], new[1]


class DecoderAttentionalForState(_Decoder):
    """Your attentional state h~ is carried on as the recurrent state.

    Two things go from step to step: h_t, the state of the cell, and h~_t, which is joined to the
    next word. Here the cell continues from h~_t. Look at the order in which step returns them.
    """

    def carried(self, new, old):
        return new[1], new[1]


class DecoderStartsWithFirstState(_Decoder):
    """Your first attentional state is the first state, not 0.

    Before the first word nothing has been attended to, so there is no h~ yet: it is 0. The
    encoder's summary goes into the recurrent state h_0 alone.
    """

    def beginning(self, first_state):
        return first_state, first_state


class DecoderForgetsFirstState(_Decoder):
    """The decoder does not start from the first state.

    h_0 is what the encoder says about the whole sentence; only h~_0 is 0. Here both are.
    """

    def beginning(self, first_state):
        return torch.zeros_like(first_state), torch.zeros_like(first_state)


class DecoderScoresState(_Decoder):
    """You score the words from the state h, not from the attentional state h~.

    logits_t = W_s h~_t. The state h_t has not seen c_t: scored from it, the word would be predicted
    without the attention of its own step.
    """

    def scored(self, attentional, states):
        return self.output(states)


class DecoderWithoutTanh(_Decoder):
    """The tanh of the attentional state is missing.

    h~_t = tanh(W_c [c_t; h_t]). Without it W_c and W_s are one linear layer, and what is fed to the
    next step may grow without bound.
    """

    def joined(self, context, state):
        return self.combine(torch.cat([context, state], -1))


class DecoderSwapsCombine(_Decoder):
    """The attentional state joins context and state in the wrong order.

    h~_t = tanh(W_c [c_t; h_t]): the context first.
    """

    def joined(self, context, state):
        return super().joined(state, context)


class DecoderSwapsCellInput(_Decoder):
    """The input of the cell is in the wrong order.

    The cell reads [E y_{t-1}; h~_{t-1}]: first the embedded word, then the attentional state.
    """

    def fed(self, embedded, attentional, state):
        return torch.cat([attentional, embedded], -1) if self.input_feeding else embedded


class DecoderPositionNotPassed(_Decoder):
    """Your step does not hand on the position.

    The attention gets (query, keys, mask, position). A global attention has no use for the
    position, a local one looks around it; the decoder does not know which one it was given.
    """

    def step(self, embedded, state, attentional, keys, mask, position):
        return super().step(embedded, state, attentional, keys, mask, 0)


class DecoderPositionAlwaysZero(_Decoder):
    """Your forward gives every step the position 0.

    The position is the index of the target word: 0, 1, 2, ... A monotonic local attention that
    always gets 0 would look at the beginning of the source for the whole sentence.
    """

    def counted(self, t):
        return 0


class DecoderPositionFromOne(_Decoder):
    """Your forward counts the target words from 1.

    In this course positions count from 0, those of the source as well as those of the target: the
    first call of step gets position 0.
    """

    def counted(self, t):
        return t + 1


class DecoderForgetsMask(_Decoder):
    """The mask does not reach the attention.

    Pass the mask you were given on to the attention; otherwise padding is attended to.
    """

    def step(self, embedded, state, attentional, keys, mask, position):
        return super().step(embedded, state, attentional, keys, torch.ones_like(mask), position)


class DecoderFeedsItself(_Decoder):
    """Your decoder reads its own predictions, not the words it is given.

    forward is for training with teacher forcing: the word before the t-th prediction is
    tokens[:, t]. Reading one's own predictions is decoding, which `translate` does later.
    """

    def forward(self, tokens, keys, mask, first_state):
        pair, word = self.beginning(first_state), tokens[:, 0]
        said, looked = [], []
        for t in range(tokens.shape[1]):
            *carried, alpha = self.step(self.embedding(word), *pair, keys, mask, t)
            pair = (carried[0], carried[1])
            said.append(self.output(pair[1]))
            looked.append(alpha)
            word = said[-1].argmax(-1)
        return torch.stack(said, 1), torch.stack(looked, 1)


class DecoderReturnsProbabilities(_Decoder):
    """You return probabilities, not logits.

    forward returns the scores before the softmax; the loss takes the softmax itself.
    """

    def scored(self, attentional, states):
        return self.output(attentional).softmax(-1)


class DecoderReturnsLogProbabilities(_Decoder):
    """You return logarithms of probabilities, not logits.

    forward returns the scores before the softmax; the loss takes the softmax itself.
    """

    def scored(self, attentional, states):
        return self.output(attentional).log_softmax(-1)


class DecoderTimeFirst(_Decoder):
    """Your result has target positions first and sentences second.

    Tensors are batch first in this course: logits (B, T, V), weights (B, T, S). Stack the steps
    along axis 1.
    """

    def forward(self, tokens, keys, mask, first_state):
        logits, weights = super().forward(tokens, keys, mask, first_state)
        return logits.transpose(0, 1), weights.transpose(0, 1)
