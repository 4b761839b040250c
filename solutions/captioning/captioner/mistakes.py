"""Mistakes that people really make in the notebook `captioning/captioner`.

Each function or class is one wrong implementation; the first line of its docstring is the title of
the card, the rest the hint.
"""

import torch

from solutions.captioning.captioner import CaptionDecoder

# %% CaptionDecoder


class AttendsWithNewState(CaptionDecoder):
    """Your query is the state of this step.

    The context is needed to compute h_t, so the decoder looks before it moves on: the query is
    h_{t-1}. (A look afterwards, with h_t, is how Luong's decoder works.)
    """

    def step(self, embedded, state, annotations):
        before, _ = self.attention(state[0], annotations)
        new = self.cell(torch.cat([embedded, before], dim=1), state)
        context, weights = self.attention(new[0], annotations)
        return new, context, weights


class AttendsWithMemory(CaptionDecoder):
    """Your query is the memory c.

    An LSTM's state is a pair (h, c). What it shows to others is h; c is its memory, which stays
    inside. The query is h_{t-1}, the first of the pair.
    """

    def step(self, embedded, state, annotations):
        context, weights = self.attention(state[1], annotations)
        return self.cell(torch.cat([embedded, context], dim=1), state), context, weights


class ContextBeforeWord(CaptionDecoder):
    """Your context comes before the word in the LSTM's input.

    The order is [E y; z]: the first e columns of the input weights belong to the word, the others to
    the context.
    """

    def step(self, embedded, state, annotations):
        context, weights = self.attention(state[0], annotations)
        return self.cell(torch.cat([context, embedded], dim=1), state), context, weights


class ContextFromWeights(CaptionDecoder):
    """You compute the context once more from the weights.

    The attention returns the context already, with its gate. The sum of weights times annotations is
    the context without the gate: take what the attention returns.
    """

    def step(self, embedded, state, annotations):
        _, weights = self.attention(state[0], annotations)
        context = (weights.unsqueeze(2) * annotations).sum(1)
        return self.cell(torch.cat([embedded, context], dim=1), state), context, weights


class StateAndMemoryAlike(CaptionDecoder):
    """Your h_0 and c_0 come from the same layer.

    There are two layers: first_state for h_0, and first_memory for c_0.
    """

    def start(self, annotations):
        state, _ = super().start(annotations)
        return state, state


class StartsWithoutTanh(CaptionDecoder):
    """The start has no tanh.

    h_0 and c_0 are tanh of a linear layer, so that both begin between -1 and 1. That is also where
    an LSTM keeps h.
    """

    def start(self, annotations):
        mean = annotations.mean(1)
        return self.first_state(mean), self.first_memory(mean)


class StartsFromSum(CaptionDecoder):
    """Your annotations are added up for the start, not averaged.

    The mean is the same whether a map has 49 places or 196; the sum grows with their number and drives
    tanh to 1.
    """

    def start(self, annotations):
        return super().start(annotations.sum(1, keepdim=True))


class StartsFromFirstPlace(CaptionDecoder):
    """Your start sees the first place alone.

    annotations[:, 0] is the upper left corner of the picture. The start sees the whole picture: the
    mean over all places.
    """

    def start(self, annotations):
        return super().start(annotations[:, :1])


class ReadsOutWithoutWord(CaptionDecoder):
    """Your read-out leaves out the word before.

    Equation 7 adds three things: the embedding of the word before, the state, and the context.
    """

    def readout(self, embedded, states, contexts):
        return super().readout(torch.zeros_like(embedded), states, contexts)


class ReadsOutWithoutContext(CaptionDecoder):
    """Your read-out leaves out the context.

    Equation 7 adds three things: the embedding of the word before, the state, and the context. So a
    word can be chosen by what is seen right now.
    """

    def readout(self, embedded, states, contexts):
        return super().readout(embedded, states, torch.zeros_like(contexts))


class ReadsOutWithTanh(CaptionDecoder):
    """You add a tanh before the last layer.

    Equation 7 has none: the sum of the three parts goes straight into L_o.
    """

    def readout(self, embedded, states, contexts):
        mixed = embedded + self.state_output(states) + self.context_output(contexts)
        return self.output(torch.tanh(mixed))


class _Loop(CaptionDecoder):
    """The sentence in pieces; each mistake below replaces one."""

    def first(self, annotations):
        """The state before the first word."""
        return self.start(annotations)

    def read(self, state, before):
        """Which state is read out."""
        return state[0]

    def forward(self, tokens, annotations):
        """Word by word."""
        state, logits, rows = self.first(annotations), [], []
        for t in range(tokens.shape[1]):
            word, before = self.embedding(tokens[:, t]), state
            state, context, weights = self.step(word, state, annotations)
            logits.append(self.readout(word, self.read(state, before), context))
            rows.append(weights)
        return torch.stack(logits, 1), torch.stack(rows, 1)


class SentenceStartsFromZero(_Loop):
    """Your forward does not call start.

    The LSTM begins with what start makes of the picture, not with zeros.
    """

    def first(self, annotations):
        h, c = self.start(annotations)
        return torch.zeros_like(h), torch.zeros_like(c)


class SentenceReadsOldState(_Loop):
    """Your forward reads out the state of the step before.

    Word t is scored with h_t, which has read word t - 1 and seen the picture; h_{t-1} was only the
    query.
    """

    def read(self, state, before):
        return before[0]


class SentenceReadsMemory(_Loop):
    """Your forward reads out the memory c.

    step returns the pair (h_t, c_t). The read-out gets h_t, the first of the pair.
    """

    def read(self, state, before):
        return state[1]
