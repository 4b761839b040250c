"""Typical wrong answers to the exercises of this assignment, each with the hint it deserves.

A function or class here is a mistake that people really make. The first line of its docstring is
the headline a student sees, the rest is the hint. Hints teach; they never show the code.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from solutions.bahdanau import scores as right
from solutions.bahdanau.translator import AttentionDecoder, BidirectionalEncoder

LOWEST = torch.finfo(torch.float32).min


# masked_softmax


def mask_ignored(scores: Tensor, mask: Tensor) -> Tensor:
    """The mask is not used: padding gets attention.

    Every row is spread over all N positions. A position where the mask is False must get a weight
    of exactly 0, and the real ones share the 1 among themselves.
    """
    return scores.softmax(-1)


def mask_inverted(scores: Tensor, mask: Tensor) -> Tensor:
    """The mask is read the wrong way round.

    In this course True means "a real word, may be attended", as in
    torch.nn.functional.scaled_dot_product_attention. Here the weight lies on the padding. Beware:
    masked_fill fills where its mask is True.
    """
    return right.masked_softmax(scores, ~mask)


def mask_after_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """The mask comes after the softmax, so the rows no longer sum to 1.

    The softmax has already given padding its share; setting those weights to 0 afterwards throws
    that share away. Padding has to be out before the sum in the denominator is taken.
    """
    return scores.softmax(-1) * mask


def mask_multiplied_before(scores: Tensor, mask: Tensor) -> Tensor:
    """Masked scores are set to 0, but exp(0) is 1.

    A score of 0 is an ordinary score and gets an ordinary weight. To get a weight of 0, a score
    would have to be minus infinity.
    """
    return (scores * mask).softmax(-1)


def empty_row_nan(scores: Tensor, mask: Tensor) -> Tensor:
    """A row without any real position gives NaN.

    If every score of a row is minus infinity the softmax divides 0 by 0. Such rows occur (an empty
    sentence in a batch), and one NaN spoils every parameter. Their weights must be 0.
    """
    return scores.masked_fill(~mask, -torch.inf).softmax(-1)


def empty_row_uniform(scores: Tensor, mask: Tensor) -> Tensor:
    """A row without any real position gets uniform weights over padding.

    A large negative number in place of minus infinity avoids NaN, but if all scores of a row are
    that same number the softmax is uniform. The weights of such a row must all be 0.
    """
    return scores.masked_fill(~mask, LOWEST).softmax(-1)


def softmax_over_batch(scores: Tensor, mask: Tensor) -> Tensor:
    """The softmax runs over the batch, not over the positions.

    Weights compare the source positions of one sentence with each other, so they sum to 1 along
    the last axis. Along the first axis sentences compete that have nothing to do with each other.
    """
    filled = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return filled.softmax(0) * mask


def softmax_over_axis_one(scores: Tensor, mask: Tensor) -> Tensor:
    """The softmax runs over axis 1, which is not always the last one.

    With scores (B, N) axis 1 and the last axis are the same, with scores (B, T, N) they are not.
    """
    filled = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return filled.softmax(1) * mask


def exponent_overflows(scores: Tensor, mask: Tensor) -> Tensor:
    """exp of the raw scores overflows or vanishes when scores are large.

    exp(150) is beyond float32 and exp(-150) is 0 there. The softmax does not change when the same
    number is subtracted from all scores of a row: subtract the largest, as torch.softmax does.
    """
    positive = scores.to(torch.float32).exp() * mask
    total = positive.sum(-1, keepdim=True)
    return (positive / total.masked_fill(total == 0, 1.0)).to(scores.dtype)


def log_of_weights(scores: Tensor, mask: Tensor) -> Tensor:
    """These are logarithms of weights.

    log_softmax is made for losses. The weights themselves are wanted: between 0 and 1, summing
    to 1.
    """
    return scores.masked_fill(~mask, torch.finfo(scores.dtype).min).log_softmax(-1) * mask


def scores_overwritten(scores: Tensor, mask: Tensor) -> Tensor:
    """The scores are overwritten.

    masked_fill_ and assignments to a slice write into the tensor that the caller still needs.
    masked_fill without the underscore, or torch.where, makes a new one.
    """
    scores.masked_fill_(~mask, torch.finfo(scores.dtype).min)
    return scores.softmax(-1) * mask


def weights_detached(scores: Tensor, mask: Tensor) -> Tensor:
    """The weights are cut from the graph, so attention cannot learn.

    The values are right, but no gradient flows back into the scores: detach(), .data, no_grad() or
    a new tensor made from numbers ends the graph.
    """
    return right.masked_softmax(scores, mask).detach()


# additive_score


def without_tanh(query: Tensor, keys: Tensor, W: Tensor, U: Tensor, v: Tensor) -> Tensor:
    """The tanh is missing.

    v^T (W s + U h) is v^T W s, the same for all positions, plus v^T U h, the same for all target
    words. The softmax over the positions drops the first: the weights would not depend on the
    state at all.
    """
    return ((query @ W.T).unsqueeze(1) + keys @ U.T) @ v


def relu_for_tanh(query: Tensor, keys: Tensor, W: Tensor, U: Tensor, v: Tensor) -> Tensor:
    """A ReLU stands where the paper has tanh.

    The score is v^T tanh(W s + U h). A ReLU makes another model; tanh keeps every hidden unit
    between -1 and 1.
    """
    return torch.relu((query @ W.T).unsqueeze(1) + keys @ U.T) @ v


def tanh_of_each_part(query: Tensor, keys: Tensor, W: Tensor, U: Tensor, v: Tensor) -> Tensor:
    """tanh is taken of W s and of U h separately.

    v^T (tanh(W s) + tanh(U h)) is again a sum of one part that knows the state only and one that
    knows the annotation only. State and annotation must meet inside the tanh.
    """
    return (torch.tanh(query @ W.T).unsqueeze(1) + torch.tanh(keys @ U.T)) @ v


def tanh_outside(query: Tensor, keys: Tensor, W: Tensor, U: Tensor, v: Tensor) -> Tensor:
    """tanh stands outside v.

    tanh(v^T (W s + U h)) squeezes the score itself into (-1, 1), so that no weight can ever be more
    than e^2 times another. tanh belongs to the hidden layer, before v.
    """
    return torch.tanh(((query @ W.T).unsqueeze(1) + keys @ U.T) @ v)


def mean_over_hidden(query: Tensor, keys: Tensor, W: Tensor, U: Tensor, v: Tensor) -> Tensor:
    """The hidden units are averaged, not summed.

    v^T tanh(...) is a dot product: a sum over the d hidden units. Dividing by d flattens the
    softmax.
    """
    return right.additive_score(query, keys, W, U, v) / len(v)


def v_forgotten(query: Tensor, keys: Tensor, W: Tensor, U: Tensor, v: Tensor) -> Tensor:
    """v is not used.

    The hidden units are only added up. v decides how much each of them counts, and in which
    direction.
    """
    return torch.tanh((query @ W.T).unsqueeze(1) + keys @ U.T).sum(-1)


def query_forgotten(query: Tensor, keys: Tensor, W: Tensor, U: Tensor, v: Tensor) -> Tensor:
    """The query is not used.

    Without W s the score depends on the annotation alone, and every target word would look at the
    same places.
    """
    return torch.tanh(keys @ U.T) @ v


def product_for_sum(query: Tensor, keys: Tensor, W: Tensor, U: Tensor, v: Tensor) -> Tensor:
    """W s and U h are multiplied, not added.

    Additive attention owes its name to the sum inside the tanh: v^T tanh(W s + U h).
    """
    return torch.tanh((query @ W.T).unsqueeze(1) * (keys @ U.T)) @ v


def softmax_already(query: Tensor, keys: Tensor, W: Tensor, U: Tensor, v: Tensor) -> Tensor:
    """The softmax is taken already.

    additive_score returns scores, any real numbers. They become weights later, in masked_softmax,
    which has to know the mask; a softmax of a softmax is almost flat.
    """
    return right.additive_score(query, keys, W, U, v).softmax(-1)


def scaled_score(query: Tensor, keys: Tensor, W: Tensor, U: Tensor, v: Tensor) -> Tensor:
    """The score is divided by the square root of d.

    That is the scaling of dot products in the Transformer, three years later. The additive score
    has none.
    """
    return right.additive_score(query, keys, W, U, v) / len(v) ** 0.5


def score_detached(query: Tensor, keys: Tensor, W: Tensor, U: Tensor, v: Tensor) -> Tensor:
    """The scores are cut from the graph, so W, U and v cannot learn.

    The values are right, but no gradient flows back: detach(), .data, no_grad() or a new tensor
    made from numbers ends the graph.
    """
    return right.additive_score(query, keys, W, U, v).detach()


# context_vector


def mean_of_weighted(weights: Tensor, values: Tensor) -> Tensor:
    """The weighted values are averaged, not summed.

    The weights sum to 1 already, so the sum over j is the average. Dividing by N once more makes
    the context smaller the longer the batch is.
    """
    return (weights.unsqueeze(-1) * values).mean(1)


def plain_mean(weights: Tensor, values: Tensor) -> Tensor:
    """The weights are not used.

    This is the plain mean of all values, padding included: the same vector for each target word.
    """
    return values.mean(1) + 0 * weights.sum()


def plain_sum(weights: Tensor, values: Tensor) -> Tensor:
    """The values are summed without their weights.

    Each value h_j has to be multiplied by its weight alpha_j before the sum.
    """
    return values.sum(1) + 0 * weights.sum()


def hard_choice(weights: Tensor, values: Tensor) -> Tensor:
    """Only the value with the largest weight is taken.

    That is hard attention. Bahdanau's is soft: all values count, each with its weight, and so the
    choice is differentiable.
    """
    best = weights.argmax(-1)
    return values[torch.arange(len(values)), best] + 0 * weights.sum()


def softmax_again(weights: Tensor, values: Tensor) -> Tensor:
    """The weights go through a softmax once more.

    They are weights already. A softmax of numbers between 0 and 1 is almost uniform, and it gives
    padding a share again.
    """
    return (weights.softmax(-1).unsqueeze(1) @ values).squeeze(1)


def normalised_again(weights: Tensor, values: Tensor) -> Tensor:
    """The weights are divided by their sum.

    Rows of weights sum to 1, or to 0 for a sentence without any word, whose context is then 0;
    dividing by that 0 gives NaN.
    """
    return ((weights / weights.sum(-1, keepdim=True)).unsqueeze(1) @ values).squeeze(1)


def weights_cut(weights: Tensor, values: Tensor) -> Tensor:
    """The weights are cut from the graph, so attention cannot learn.

    The values are right, but no gradient reaches the weights. Where to look is learnt through them.
    """
    return right.context_vector(weights.detach(), values)


def values_cut(weights: Tensor, values: Tensor) -> Tensor:
    """The values are cut from the graph, so the encoder cannot learn through attention.

    The numbers are right, but no gradient reaches the annotations.
    """
    return right.context_vector(weights, values.detach())


# AdditiveAttention


class _Attention(right.AdditiveAttention):
    """The right module in pieces, so that a mistake changes one of them."""

    def combine(self, query: Tensor, projected: Tensor) -> Tensor:
        """Scores (B, N)."""
        return torch.tanh((query @ self.W.T).unsqueeze(1) + projected) @ self.v

    def normalise(self, scores: Tensor, mask: Tensor) -> Tensor:
        """Weights (B, N)."""
        return right.masked_softmax(scores, mask)

    def average(self, weights: Tensor, keys: Tensor, projected: Tensor) -> Tensor:
        """Context (B, d_k)."""
        return right.context_vector(weights, keys)

    def forward(
        self, query: Tensor, keys: Tensor, mask: Tensor, projected_keys: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """As in the reference."""
        projected = self.project(keys) if projected_keys is None else projected_keys
        weights = self.normalise(self.combine(query, projected), mask)
        return self.average(weights, keys, projected), weights


class ModuleWithoutTanh(_Attention):
    """The tanh is missing.

    Without it the score is a sum of a part that knows only the state and a part that knows only the
    annotation; the softmax drops the first, and every target word looks at the same places.
    """

    def combine(self, query: Tensor, projected: Tensor) -> Tensor:
        """Linear."""
        return ((query @ self.W.T).unsqueeze(1) + projected) @ self.v


class ModuleIgnoresMask(_Attention):
    """The mask is not used: padding gets attention.

    Pass the mask on to masked_softmax; padding must get a weight of exactly 0.
    """

    def normalise(self, scores: Tensor, mask: Tensor) -> Tensor:
        """Plain softmax."""
        return scores.softmax(-1)


class ModuleInvertsMask(_Attention):
    """The mask is read the wrong way round.

    True means "a real word, may be attended". Here the weight lies on the padding.
    """

    def normalise(self, scores: Tensor, mask: Tensor) -> Tensor:
        """Inverted."""
        return right.masked_softmax(scores, ~mask)


class ModuleMasksAfterSoftmax(_Attention):
    """The mask comes after the softmax, so the rows no longer sum to 1.

    Padding has to be out before the sum in the denominator is taken; masked_softmax does it.
    """

    def normalise(self, scores: Tensor, mask: Tensor) -> Tensor:
        """Too late."""
        return scores.softmax(-1) * mask


class ModuleSoftmaxOverBatch(_Attention):
    """The softmax runs over the batch, not over the positions.

    Weights compare the source positions of one sentence, so they sum to 1 along the last axis.
    """

    def normalise(self, scores: Tensor, mask: Tensor) -> Tensor:
        """Wrong axis."""
        return softmax_over_batch(scores, mask)


class ModuleEmptyRowNan(_Attention):
    """A sentence without any real word gives NaN.

    If every score of a row is minus infinity the softmax divides 0 by 0. Weights and context of
    such a row must be 0.
    """

    def normalise(self, scores: Tensor, mask: Tensor) -> Tensor:
        """NaN."""
        return empty_row_nan(scores, mask)


class ModuleEmptyRowUniform(_Attention):
    """A sentence without any real word gets uniform weights over padding.

    Filling with a large negative number avoids NaN, but a row of nothing else becomes uniform.
    Weights and context of such a row must be 0.
    """

    def normalise(self, scores: Tensor, mask: Tensor) -> Tensor:
        """Uniform."""
        return empty_row_uniform(scores, mask)


class ModuleHardChoice(_Attention):
    """The context is the annotation with the largest weight alone.

    The context is the weighted sum of all annotations.
    """

    def average(self, weights: Tensor, keys: Tensor, projected: Tensor) -> Tensor:
        """Argmax."""
        return hard_choice(weights, keys)


class ModuleUniformContext(_Attention):
    """The context does not use the weights.

    The weights are right, but the context is the plain mean of the annotations. It has to be their
    sum weighted by alpha.
    """

    def average(self, weights: Tensor, keys: Tensor, projected: Tensor) -> Tensor:
        """Mean."""
        return plain_mean(weights, keys)


class ModuleWeightsCut(_Attention):
    """The weights are cut from the graph, so attention cannot learn.

    The numbers are right, but no gradient reaches W, U and v. Something like detach(), .data or
    no_grad() ends the graph.
    """

    def normalise(self, scores: Tensor, mask: Tensor) -> Tensor:
        """Detached."""
        return right.masked_softmax(scores, mask).detach()


class ModuleSwapsResults(_Attention):
    """Weights and context are returned in the wrong order.

    forward returns the context first, then the weights.
    """

    def forward(
        self, query: Tensor, keys: Tensor, mask: Tensor, projected_keys: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Swapped."""
        context, weights = super().forward(query, keys, mask, projected_keys)
        return weights, context


class ModuleContextOfProjection(_Attention):
    """The context is a sum of projected keys.

    The projected keys U h_j are only for the scores. The context is the weighted sum of the
    annotations h_j themselves.
    """

    def average(self, weights: Tensor, keys: Tensor, projected: Tensor) -> Tensor:
        """Of U h."""
        return right.context_vector(weights, projected)


class ModuleProjectsTwice(_Attention):
    """The projected keys are projected once more.

    projected_keys holds U h_j already; forward must use it as it is.
    """

    def forward(
        self, query: Tensor, keys: Tensor, mask: Tensor, projected_keys: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """U (U h), where the sizes allow it."""
        if projected_keys is not None:
            projected_keys = self.project(projected_keys)
        return super().forward(query, keys, mask, projected_keys)


# BidirectionalEncoder


class _Encoder(BidirectionalEncoder):
    """The right encoder in pieces."""

    def read(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """States (B, S, 2d)."""
        annotations, _ = super().forward(tokens, lengths)
        return annotations

    def start(self, annotations: Tensor, lengths: Tensor) -> Tensor:
        """First state (B, d)."""
        return torch.tanh(self.first_state(annotations[:, 0, self.rnn.hidden_size :]))

    def finish(self, annotations: Tensor) -> Tensor:
        """Annotations (B, S, 2d)."""
        return annotations

    def forward(self, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """As in the reference."""
        annotations = self.read(tokens, lengths)
        return self.finish(annotations), self.start(annotations, lengths)


class EncoderReadsPadding(_Encoder):
    """The backward RNN reads the padding first.

    In a batch, a short sentence ends in padding. An RNN that runs over it reaches the last real
    word with a state full of nothing, and a sentence's annotations depend on the length of its
    neighbours. pack_padded_sequence keeps padding out.
    """

    def read(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Without packing."""
        return self.rnn(self.embedding(tokens))[0]


class EncoderStartsAtLastWord(_Encoder):
    """The first state comes from the backward state at the last position.

    At the last word the backward RNN has only just begun. It has read the whole sentence when it
    arrives at the first word: position 0.
    """

    def start(self, annotations: Tensor, lengths: Tensor) -> Tensor:
        """At the last word."""
        rows = torch.arange(len(lengths))
        last = annotations[rows, lengths - 1, self.rnn.hidden_size :]
        return torch.tanh(self.first_state(last))


class EncoderStartsForward(_Encoder):
    """The first state comes from the forward RNN.

    The paper starts the decoder from the backward RNN's state at the first word, which has read the
    whole sentence and the first word last.
    """

    def start(self, annotations: Tensor, lengths: Tensor) -> Tensor:
        """The last forward state."""
        rows = torch.arange(len(lengths))
        return torch.tanh(self.first_state(annotations[rows, lengths - 1, : self.rnn.hidden_size]))


class EncoderStartsForwardAtFirst(_Encoder):
    """The first state comes from the forward half of the first annotation.

    An annotation is [forward ; backward]: the backward state is its second half.
    """

    def start(self, annotations: Tensor, lengths: Tensor) -> Tensor:
        """The first half."""
        return torch.tanh(self.first_state(annotations[:, 0, : self.rnn.hidden_size]))


class EncoderStartWithoutTanh(_Encoder):
    """The first state lacks its tanh.

    s_0 = tanh(W_s h): like all states of the decoder's RNN it lies between -1 and 1.
    """

    def start(self, annotations: Tensor, lengths: Tensor) -> Tensor:
        """Linear."""
        return self.first_state(annotations[:, 0, self.rnn.hidden_size :])


class EncoderStartUnprojected(_Encoder):
    """The first state is the backward state itself.

    It has to pass through the layer first_state and a tanh: s_0 = tanh(W_s h).
    """

    def start(self, annotations: Tensor, lengths: Tensor) -> Tensor:
        """No layer."""
        return annotations[:, 0, self.rnn.hidden_size :]


class EncoderSwapsHalves(_Encoder):
    """The halves of the annotations are swapped.

    h_j = [forward ; backward], in this order.
    """

    def finish(self, annotations: Tensor) -> Tensor:
        """Swapped."""
        ahead, back = annotations.chunk(2, -1)
        return torch.cat([back, ahead], -1)


class EncoderForgetsOrder(_Encoder):
    """Sentences come back in another order than they went in.

    If you sort the sentences by length for packing, put the results back into the order of the
    batch; enforce_sorted=False does both.
    """

    def forward(self, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Sorted."""
        order = lengths.argsort(descending=True, stable=True)
        return super().forward(tokens[order], lengths[order])


class EncoderStatesCut(_Encoder):
    """The annotations are cut from the graph, so the encoder cannot learn through attention.

    The numbers are right, but the gradient of the annotations does not reach the RNN.
    """

    def finish(self, annotations: Tensor) -> Tensor:
        """Detached."""
        return annotations.detach()


# AttentionDecoder


class _Decoder(AttentionDecoder):
    """The right decoder in pieces."""

    def inside(self, embedded: Tensor, states: Tensor, contexts: Tensor) -> Tensor:
        """t_i."""
        return torch.tanh(self.hidden(torch.cat([embedded, states, contexts], -1)))

    def readout(self, embedded: Tensor, states: Tensor, contexts: Tensor) -> Tensor:
        """As in the reference."""
        return self.output(self.inside(embedded, states, contexts))


class DecoderQueryOfThisStep(_Decoder):
    """The query is the state of this step, not of the step before.

    In Bahdanau's model the decoder looks first and moves on afterwards: c_i is computed from
    s_{i-1}, because s_i needs c_i as its input. Attending with the new state is Luong's model.
    """

    def step(self, embedded: Tensor, state: Tensor, *memory: Any) -> tuple[Tensor, Tensor, Tensor]:
        """Moves with the old context, then attends."""
        old, _ = self.attention(state, *memory)
        state = self.cell(torch.cat([embedded, old], -1), state)
        context, weights = self.attention(state, *memory)
        return state, context, weights


class DecoderReadsOldState(_Decoder):
    """The words are read out of the state before the step.

    g(y_{i-1}, s_i, c_i): the word y_i is predicted from the new state s_i. Here forward passes
    s_{i-1} to readout.
    """

    def forward(
        self, tokens: Tensor, annotations: Tensor, mask: Tensor, first_state: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Reads too early."""
        embedded, state = self.embedding(tokens), first_state
        logits, weights = [], []
        for i in range(tokens.shape[1]):
            new, context, alpha = self.step(embedded[:, i], state, annotations, mask)
            logits.append(self.readout(embedded[:, i], state, context))
            weights.append(alpha)
            state = new
        return torch.stack(logits, 1), torch.stack(weights, 1)


class DecoderLooksOnce(_Decoder):
    """The context is computed once and used for all words.

    Attention is computed anew in each step, from the state before that step; one context for all
    words is the model that Bahdanau et al. set out to improve.
    """

    def forward(
        self, tokens: Tensor, annotations: Tensor, mask: Tensor, first_state: Tensor
    ) -> tuple[Tensor, Tensor]:
        """One context."""
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

    def step(self, embedded: Tensor, state: Tensor, *memory: Any) -> tuple[Tensor, Tensor, Tensor]:
        """Swapped."""
        context, weights = self.attention(state, *memory)
        return self.cell(torch.cat([context, embedded], -1), state), context, weights


class DecoderSwapsReadout(_Decoder):
    """The read-out joins its three inputs in the wrong order.

    It reads [E y_{i-1} ; s_i ; c_i]: the word, the state, the context.
    """

    def inside(self, embedded: Tensor, states: Tensor, contexts: Tensor) -> Tensor:
        """State first."""
        return torch.tanh(self.hidden(torch.cat([states, embedded, contexts], -1)))


class DecoderSwapsReadoutEnd(_Decoder):
    """The read-out joins state and context in the wrong order.

    It reads [E y_{i-1} ; s_i ; c_i]: the word, the state, the context.
    """

    def inside(self, embedded: Tensor, states: Tensor, contexts: Tensor) -> Tensor:
        """Context before state."""
        return torch.tanh(self.hidden(torch.cat([embedded, contexts, states], -1)))


class DecoderContextLastInReadout(_Decoder):
    """The read-out joins state, context and word in the wrong order.

    It reads [E y_{i-1} ; s_i ; c_i]: the word comes first.
    """

    def inside(self, embedded: Tensor, states: Tensor, contexts: Tensor) -> Tensor:
        """Word last."""
        return torch.tanh(self.hidden(torch.cat([states, contexts, embedded], -1)))


class DecoderReadoutWithoutTanh(_Decoder):
    """The tanh of the read-out is missing.

    t_i = tanh(W_t [...] + b_t). Two linear layers without anything between them are one linear
    layer.
    """

    def inside(self, embedded: Tensor, states: Tensor, contexts: Tensor) -> Tensor:
        """Linear."""
        return self.hidden(torch.cat([embedded, states, contexts], -1))


class DecoderReturnsProbabilities(_Decoder):
    """These are probabilities, not logits.

    readout returns the scores before the softmax; the loss takes the softmax itself.
    """

    def readout(self, embedded: Tensor, states: Tensor, contexts: Tensor) -> Tensor:
        """Softmax."""
        return super().readout(embedded, states, contexts).softmax(-1)


class DecoderReturnsLogProbabilities(_Decoder):
    """These are logarithms of probabilities, not logits.

    readout returns the scores before the softmax; the loss takes the softmax itself.
    """

    def readout(self, embedded: Tensor, states: Tensor, contexts: Tensor) -> Tensor:
        """Log softmax."""
        return super().readout(embedded, states, contexts).log_softmax(-1)


class DecoderForgetsMask(_Decoder):
    """The mask does not reach the attention.

    Pass the mask you were given on to the attention; otherwise padding is attended to.
    """

    def step(
        self, embedded: Tensor, state: Tensor, annotations: Tensor, mask: Tensor, *projected: Any
    ) -> tuple[Tensor, Tensor, Tensor]:
        """All real."""
        return super().step(embedded, state, annotations, torch.ones_like(mask), *projected)


class DecoderForgetsFirstState(_Decoder):
    """The decoder does not start from the first state.

    s_0 is what the encoder says about the whole sentence; here the decoder starts from zeros.
    """

    def forward(
        self, tokens: Tensor, annotations: Tensor, mask: Tensor, first_state: Tensor
    ) -> tuple[Tensor, Tensor]:
        """From zeros."""
        return super().forward(tokens, annotations, mask, torch.zeros_like(first_state))


class DecoderFeedsItself(_Decoder):
    """The decoder reads its own predictions, not the words it is given.

    forward is for training with teacher forcing: the word before the i-th prediction is
    tokens[:, i]. Reading one's own predictions is decoding, which comes later.
    """

    def forward(
        self, tokens: Tensor, annotations: Tensor, mask: Tensor, first_state: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Own predictions."""
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

    def forward(
        self, tokens: Tensor, annotations: Tensor, mask: Tensor, first_state: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Always s_0."""
        embedded = self.embedding(tokens)
        steps = [
            self.step(embedded[:, i], first_state, annotations, mask)
            for i in range(tokens.shape[1])
        ]
        states, contexts, weights = (torch.stack(part, 1) for part in zip(*steps, strict=True))
        return self.readout(embedded, states, contexts), weights


class DecoderTimeFirst(_Decoder):
    """Target positions come first, sentences second.

    Tensors are batch first in this course: logits (B, T, V), weights (B, T, S). Stack the steps
    along axis 1.
    """

    def forward(
        self, tokens: Tensor, annotations: Tensor, mask: Tensor, first_state: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Transposed."""
        logits, weights = super().forward(tokens, annotations, mask, first_state)
        return logits.transpose(0, 1), weights.transpose(0, 1)


MISCONCEPTIONS: dict[str, list[Any]] = {
    "masked_softmax": [
        mask_ignored,
        mask_inverted,
        mask_after_softmax,
        mask_multiplied_before,
        empty_row_nan,
        empty_row_uniform,
        softmax_over_batch,
        softmax_over_axis_one,
        exponent_overflows,
        log_of_weights,
        scores_overwritten,
        weights_detached,
    ],
    "additive_score": [
        without_tanh,
        relu_for_tanh,
        tanh_of_each_part,
        tanh_outside,
        mean_over_hidden,
        v_forgotten,
        query_forgotten,
        product_for_sum,
        softmax_already,
        scaled_score,
        score_detached,
    ],
    "context_vector": [
        mean_of_weighted,
        plain_mean,
        plain_sum,
        hard_choice,
        softmax_again,
        normalised_again,
        weights_cut,
        values_cut,
    ],
    "AdditiveAttention": [
        ModuleWithoutTanh,
        ModuleIgnoresMask,
        ModuleInvertsMask,
        ModuleMasksAfterSoftmax,
        ModuleSoftmaxOverBatch,
        ModuleEmptyRowNan,
        ModuleEmptyRowUniform,
        ModuleHardChoice,
        ModuleUniformContext,
        ModuleWeightsCut,
        ModuleSwapsResults,
        ModuleContextOfProjection,
        ModuleProjectsTwice,
    ],
    "BidirectionalEncoder": [
        EncoderReadsPadding,
        EncoderStartsAtLastWord,
        EncoderStartsForward,
        EncoderStartsForwardAtFirst,
        EncoderStartWithoutTanh,
        EncoderStartUnprojected,
        EncoderSwapsHalves,
        EncoderForgetsOrder,
        EncoderStatesCut,
    ],
    "AttentionDecoder": [
        DecoderQueryOfThisStep,
        DecoderReadsOldState,
        DecoderLooksOnce,
        DecoderSwapsCellInput,
        DecoderSwapsReadout,
        DecoderSwapsReadoutEnd,
        DecoderContextLastInReadout,
        DecoderReadoutWithoutTanh,
        DecoderReturnsProbabilities,
        DecoderReturnsLogProbabilities,
        DecoderForgetsMask,
        DecoderForgetsFirstState,
        DecoderFeedsItself,
        DecoderStateStandsStill,
        DecoderTimeFirst,
    ],
}
