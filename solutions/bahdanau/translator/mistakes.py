"""Typical wrong answers to the exercises of this assignment, each with the hint it deserves.

A function or class here is a mistake that people really make. The first line of its docstring is
the headline a student sees, the rest is the hint. Hints teach; they never show the code.
"""

import torch

from solutions.bahdanau.translator import AttentionDecoder, BidirectionalEncoder

# %% BidirectionalEncoder


class _Encoder(BidirectionalEncoder):
    """The right encoder in pieces."""

    def read(self, tokens, lengths):
        """States (B, S, 2d)."""
        annotations, _ = super().forward(tokens, lengths)
        return annotations

    def start(self, annotations, lengths):
        """First state (B, d)."""
        return torch.tanh(self.first_state(annotations[:, 0, self.rnn.hidden_size :]))

    def finish(self, annotations):
        """Annotations (B, S, 2d)."""
        return annotations

    def forward(self, tokens, lengths):
        annotations = self.read(tokens, lengths)
        return self.finish(annotations), self.start(annotations, lengths)


class EncoderReadsPadding(_Encoder):
    """Your backward RNN reads the padding first.

    In a batch, a short sentence ends in padding. An RNN that runs over it reaches the last real
    word with a state full of nothing, and a sentence's annotations depend on the length of its
    neighbours. pack_padded_sequence keeps padding out.
    """

    def read(self, tokens, lengths):
        return self.rnn(self.embedding(tokens))[0]


class EncoderStartsAtLastWord(_Encoder):
    """Your first state comes from the backward state at the last position.

    At the last word the backward RNN has only just begun. It has read the whole sentence when it
    arrives at the first word: position 0.
    """

    def start(self, annotations, lengths):
        rows = torch.arange(len(lengths))
        last = annotations[rows, lengths - 1, self.rnn.hidden_size :]
        return torch.tanh(self.first_state(last))


class EncoderStartsForward(_Encoder):
    """Your first state comes from the forward RNN.

    The paper starts the decoder from the backward RNN's state at the first word, which has read the
    whole sentence and the first word last.
    """

    def start(self, annotations, lengths):
        rows = torch.arange(len(lengths))
        return torch.tanh(self.first_state(annotations[rows, lengths - 1, : self.rnn.hidden_size]))


class EncoderStartsForwardAtFirst(_Encoder):
    """Your first state comes from the forward half of the first annotation.

    An annotation is [forward ; backward]: the backward state is its second half.
    """

    def start(self, annotations, lengths):
        return torch.tanh(self.first_state(annotations[:, 0, : self.rnn.hidden_size]))


class EncoderStartWithoutTanh(_Encoder):
    """The first state lacks its tanh.

    s_0 = tanh(W_s h): like all states of the decoder's RNN it lies between -1 and 1.
    """

    def start(self, annotations, lengths):
        return self.first_state(annotations[:, 0, self.rnn.hidden_size :])


class EncoderStartUnprojected(_Encoder):
    """Your first state is the backward state itself.

    It has to pass through the layer first_state and a tanh: s_0 = tanh(W_s h).
    """

    def start(self, annotations, lengths):
        return annotations[:, 0, self.rnn.hidden_size :]


class EncoderSwapsHalves(_Encoder):
    """The halves of the annotations are swapped.

    h_j = [forward ; backward], in this order.
    """

    def finish(self, annotations):
        ahead, back = annotations.chunk(2, -1)
        return torch.cat([back, ahead], -1)


class EncoderForgetsOrder(_Encoder):
    """Your sentences come back in another order than they went in.

    If you sort the sentences by length for packing, put the results back into the order of the
    batch; enforce_sorted=False does both.
    """

    def forward(self, tokens, lengths):
        order = lengths.argsort(descending=True, stable=True)
        return super().forward(tokens[order], lengths[order])


class EncoderStatesCut(_Encoder):
    """The annotations are detached from the graph, so the encoder cannot learn through
    attention.

    The numbers are right, but the gradient of the annotations does not reach the RNN.
    """

    def finish(self, annotations):
        return annotations.detach()


# %% AttentionDecoder


class _Decoder(AttentionDecoder):
    """The right decoder in pieces."""

    def inside(self, embedded, states, contexts):
        """t_i."""
        return torch.tanh(self.hidden(torch.cat([embedded, states, contexts], -1)))

    def readout(self, embedded, states, contexts):
        return self.output(self.inside(embedded, states, contexts))


class DecoderQueryOfThisStep(_Decoder):
    """Your query is the state of this step, not of the step before.

    In Bahdanau's model the decoder looks first and moves on afterwards: c_i is computed from
    s_{i-1}, because s_i needs c_i as its input. Attending with the new state is Luong's model.
    """

    def step(self, embedded, state, *memory):
        old, _ = self.attention(state, *memory)
        state = self.cell(torch.cat([embedded, old], -1), state)
        context, weights = self.attention(state, *memory)
        return state, context, weights


class DecoderReadsOldState(_Decoder):
    """You read the words out of the state before the step.

    g(y_{i-1}, s_i, c_i): the word y_i is predicted from the new state s_i. Here forward passes
    s_{i-1} to readout.
    """

    def forward(self, tokens, annotations, mask, first_state):
        embedded, state = self.embedding(tokens), first_state
        logits, weights = [], []
        for i in range(tokens.shape[1]):
            new, context, alpha = self.step(embedded[:, i], state, annotations, mask)
            logits.append(self.readout(embedded[:, i], state, context))
            weights.append(alpha)
            state = new
        return torch.stack(logits, 1), torch.stack(weights, 1)


class DecoderLooksOnce(_Decoder):
    """Your context is computed once and used for all words.

    Attention is recomputed in each step, from the state before that step; one context for all
    words is the model that Bahdanau et al. set out to improve.
    """

    def forward(self, tokens, annotations, mask, first_state):
        embedded, state = self.embedding(tokens), first_state
        context, alpha = self.attention(state, annotations, mask)
        logits = []
        for i in range(tokens.shape[1]):
            state = self.cell(torch.cat([embedded[:, i], context], -1), state)
            logits.append(self.readout(embedded[:, i], state, context))
        return torch.stack(logits, 1), alpha.unsqueeze(1).repeat(1, tokens.shape[1], 1)


class DecoderSwapsCellInput(_Decoder):
    """The input of the cell is in the wrong order.

    The GRU cell reads [E y_{i-1} ; c_i]: first the embedded word, then the context.
    """

    def step(self, embedded, state, *memory):
        context, weights = self.attention(state, *memory)
        return self.cell(torch.cat([context, embedded], -1), state), context, weights


class DecoderSwapsReadout(_Decoder):
    """The read-out joins its three inputs in the wrong order.

    It reads [E y_{i-1} ; s_i ; c_i]: the word, the state, the context.
    """

    def inside(self, embedded, states, contexts):
        return torch.tanh(self.hidden(torch.cat([states, embedded, contexts], -1)))


class DecoderSwapsReadoutEnd(_Decoder):
    """The read-out joins state and context in the wrong order.

    It reads [E y_{i-1} ; s_i ; c_i]: the word, the state, the context.
    """

    def inside(self, embedded, states, contexts):
        return torch.tanh(self.hidden(torch.cat([embedded, contexts, states], -1)))


class DecoderContextLastInReadout(_Decoder):
    """The read-out joins state, context and word in the wrong order.

    It reads [E y_{i-1} ; s_i ; c_i]: the word comes first.
    """

    def inside(self, embedded, states, contexts):
        return torch.tanh(self.hidden(torch.cat([states, contexts, embedded], -1)))


class DecoderReadoutWithoutTanh(_Decoder):
    """The tanh of the read-out is missing.

    t_i = tanh(W_t [...] + b_t). Two linear layers without anything between them are one linear
    layer.
    """

    def inside(self, embedded, states, contexts):
        return self.hidden(torch.cat([embedded, states, contexts], -1))


class DecoderReturnsProbabilities(_Decoder):
    """You return probabilities, not logits.

    readout returns the scores before the softmax; the loss takes the softmax itself.
    """

    def readout(self, embedded, states, contexts):
        return super().readout(embedded, states, contexts).softmax(-1)


class DecoderReturnsLogProbabilities(_Decoder):
    """You return logarithms of probabilities, not logits.

    readout returns the scores before the softmax; the loss takes the softmax itself.
    """

    def readout(self, embedded, states, contexts):
        return super().readout(embedded, states, contexts).log_softmax(-1)


class DecoderForgetsMask(_Decoder):
    """The mask does not reach the attention.

    Pass the mask you were given on to the attention; otherwise padding is attended to.
    """

    def step(self, embedded, state, annotations, mask, *projected):
        return super().step(embedded, state, annotations, torch.ones_like(mask), *projected)


class DecoderForgetsFirstState(_Decoder):
    """The decoder does not start from the first state.

    s_0 is what the encoder says about the whole sentence; here the decoder starts from zeros.
    """

    def forward(self, tokens, annotations, mask, first_state):
        return super().forward(tokens, annotations, mask, torch.zeros_like(first_state))


class DecoderFeedsItself(_Decoder):
    """Your decoder reads its own predictions, not the words it is given.

    forward is for training with teacher forcing: the word before the i-th prediction is
    tokens[:, i]. Reading one's own predictions is decoding, which comes later.
    """

    def forward(self, tokens, annotations, mask, first_state):
        word, state = tokens[:, 0], first_state
        logits, weights = [], []
        for _ in range(tokens.shape[1]):
            embedded = self.embedding(word)
            state, context, alpha = self.step(embedded, state, annotations, mask)
            logits.append(self.readout(embedded, state, context))
            weights.append(alpha)
            word = logits[-1].argmax(-1)
        return torch.stack(logits, 1), torch.stack(weights, 1)


class DecoderStateStandsStill(_Decoder):
    """The state is not carried from step to step.

    Each step has to start from the state that the step before returned; here all start from s_0.
    """

    def forward(self, tokens, annotations, mask, first_state):
        embedded = self.embedding(tokens)
        steps = [
            self.step(embedded[:, i], first_state, annotations, mask)
            for i in range(tokens.shape[1])
        ]
        states, contexts, weights = (torch.stack(part, 1) for part in zip(*steps, strict=True))
        return self.readout(embedded, states, contexts), weights


class DecoderTimeFirst(_Decoder):
    """Your result has target positions first and sentences second.

    Tensors are batch first in this course: logits (B, T, V), weights (B, T, S). Stack the steps
    along axis 1.
    """

    def forward(self, tokens, annotations, mask, first_state):
        logits, weights = super().forward(tokens, annotations, mask, first_state)
        return logits.transpose(0, 1), weights.transpose(0, 1)
