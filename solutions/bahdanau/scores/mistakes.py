"""Typical wrong answers to the exercises of this assignment, each with the hint it deserves.

A function or class here is a mistake that people really make. The first line of its docstring is
the headline a student sees, the rest is the hint. Hints teach; they never show the code.
"""

import torch

from solutions.bahdanau import scores as right

LOWEST = torch.finfo(torch.float32).min


# %% masked_softmax


def mask_ignored(scores, mask):
    """The mask is not used: padding gets attention.

    Every row is spread over all N positions. A position where the mask is False must get a weight
    of exactly 0, and the real ones share the 1 among themselves.
    """
    return scores.softmax(-1)


def mask_inverted(scores, mask):
    """The mask is read the wrong way round.

    In this course True means "a real word, may be attended", as in
    torch.nn.functional.scaled_dot_product_attention. Here the weight lies on the padding. Beware:
    masked_fill fills where its mask is True.
    """
    return right.masked_softmax(scores, ~mask)


def mask_after_softmax(scores, mask):
    """Your mask comes after the softmax, so the rows no longer sum to 1.

    The softmax has already given padding its share; setting those weights to 0 afterwards throws
    that share away. Padding has to be out before the sum in the denominator is taken.
    """
    return scores.softmax(-1) * mask


def mask_multiplied_before(scores, mask):
    """Masked scores are set to 0, but exp(0) is 1.

    A score of 0 is an ordinary score and gets an ordinary weight. To get a weight of 0, a score
    would have to be minus infinity.
    """
    return (scores * mask).softmax(-1)


def empty_row_nan(scores, mask):
    """A row without any real position gives NaN.

    If every score of a row is minus infinity the softmax divides 0 by 0. Such rows occur (an empty
    sentence in a batch), and one NaN spoils every parameter. Their weights must be 0.
    """
    return scores.masked_fill(~mask, -torch.inf).softmax(-1)


def empty_row_uniform(scores, mask):
    """A row without any real position gets uniform weights over padding.

    A large negative number in place of minus infinity avoids NaN, but if all scores of a row are
    that same number the softmax is uniform. The weights of such a row must all be 0.
    """
    return scores.masked_fill(~mask, LOWEST).softmax(-1)


def softmax_over_batch(scores, mask):
    """Your softmax runs over the batch, not over the positions.

    Weights compare the source positions of one sentence with each other, so they sum to 1 along
    the last axis. Along the first axis sentences compete that have nothing to do with each other.
    """
    filled = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return filled.softmax(0) * mask


def softmax_over_axis_one(scores, mask):
    """Your softmax runs over axis 1, which is not always the last one.

    With scores (B, N) axis 1 and the last axis are the same, with scores (B, T, N) they are not.
    """
    filled = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return filled.softmax(1) * mask


def exponent_overflows(scores, mask):
    """exp of the raw scores overflows or vanishes when scores are large.

    exp(150) is beyond float32 and exp(-150) is 0 there. The softmax does not change when the same
    number is subtracted from all scores of a row: subtract the largest, as torch.softmax does.
    """
    positive = scores.exp() * mask
    total = positive.sum(-1, keepdim=True)
    return positive / total.masked_fill(total == 0, 1.0)


def log_of_weights(scores, mask):
    """You return logarithms of weights.

    log_softmax is made for losses. The weights themselves are wanted: between 0 and 1, summing
    to 1.
    """
    return scores.masked_fill(~mask, torch.finfo(scores.dtype).min).log_softmax(-1) * mask


def scores_overwritten(scores, mask):
    """The scores are overwritten.

    masked_fill_ and assignments to a slice write into the tensor that the caller still needs.
    masked_fill without the underscore, or torch.where, makes a new one.
    """
    scores.masked_fill_(~mask, torch.finfo(scores.dtype).min)
    return scores.softmax(-1) * mask


def weights_detached(scores, mask):
    """The weights are detached from the graph, so attention cannot learn.

    The values are right, but no gradient flows back into the scores: detach(), .data, no_grad() or
    a new tensor made from numbers ends the graph.
    """
    return right.masked_softmax(scores, mask).detach()


# %% additive_score


def without_tanh(query, keys, W, U, v):
    """The tanh is missing.

    v^T (W s + U h) is v^T W s, the same for all positions, plus v^T U h, the same for all target
    words. The softmax over the positions drops the first: the weights would not depend on the
    state at all.
    """
    return ((query @ W.T).unsqueeze(1) + keys @ U.T) @ v


def relu_for_tanh(query, keys, W, U, v):
    """A ReLU stands where the paper has tanh.

    The score is v^T tanh(W s + U h). A ReLU makes another model; tanh keeps every hidden unit
    between -1 and 1.
    """
    return torch.relu((query @ W.T).unsqueeze(1) + keys @ U.T) @ v


def tanh_of_each_part(query, keys, W, U, v):
    """You take the tanh of W s and of U h separately.

    v^T (tanh(W s) + tanh(U h)) is again a sum of one part that knows the state only and one that
    knows the annotation only. State and annotation must meet inside the tanh.
    """
    return (torch.tanh(query @ W.T).unsqueeze(1) + torch.tanh(keys @ U.T)) @ v


def tanh_outside(query, keys, W, U, v):
    """Your tanh stands outside v.

    tanh(v^T (W s + U h)) squeezes the score itself into (-1, 1), so that no weight can ever be more
    than e^2 times another. tanh belongs to the hidden layer, before v.
    """
    return torch.tanh(((query @ W.T).unsqueeze(1) + keys @ U.T) @ v)


def mean_over_hidden(query, keys, W, U, v):
    """Your hidden units are averaged, not summed.

    v^T tanh(...) is a dot product: a sum over the d hidden units. Dividing by d flattens the
    softmax.
    """
    return right.additive_score(query, keys, W, U, v) / len(v)


def v_forgotten(query, keys, W, U, v):
    """v is not used.

    The hidden units are only added up. v decides how much each of them counts, and in which
    direction.
    """
    return torch.tanh((query @ W.T).unsqueeze(1) + keys @ U.T).sum(-1)


def query_forgotten(query, keys, W, U, v):
    """The query is not used.

    Without W s the score depends on the annotation alone, and every target word would look at the
    same places.
    """
    return torch.tanh(keys @ U.T) @ v


def product_for_sum(query, keys, W, U, v):
    """You multiply W s and U h instead of adding them.

    Additive attention owes its name to the sum inside the tanh: v^T tanh(W s + U h).
    """
    return torch.tanh((query @ W.T).unsqueeze(1) * (keys @ U.T)) @ v


def softmax_already(query, keys, W, U, v):
    """You have already taken the softmax.

    additive_score returns scores, any real numbers. They become weights later, in masked_softmax,
    which has to know the mask; a softmax of a softmax is almost flat.
    """
    return right.additive_score(query, keys, W, U, v).softmax(-1)


def scaled_score(query, keys, W, U, v):
    """Your score is divided by the square root of d.

    That is the scaling of dot products in the Transformer, three years later. The additive score
    has none.
    """
    return right.additive_score(query, keys, W, U, v) / len(v) ** 0.5


def score_detached(query, keys, W, U, v):
    """The scores are detached from the graph, so W, U and v cannot learn.

    The values are right, but no gradient flows back: detach(), .data, no_grad() or a new tensor
    made from numbers ends the graph.
    """
    return right.additive_score(query, keys, W, U, v).detach()


# %% context_vector


def mean_of_weighted(weights, values):
    """Your weighted values are averaged, not summed.

    The weights sum to 1 already, so the sum over j is the average. Dividing by N once more makes
    the context smaller the longer the batch is.
    """
    return (weights.unsqueeze(-1) * values).mean(1)


def plain_mean(weights, values):
    """The weights are not used.

    This is the plain mean of all values, padding included: the same vector for each target word.
    """
    return values.mean(1) + 0 * weights.sum()


def plain_sum(weights, values):
    """You sum the values without their weights.

    Each value h_j has to be multiplied by its weight alpha_j before the sum.
    """
    return values.sum(1) + 0 * weights.sum()


def hard_choice(weights, values):
    """You take only the value with the largest weight.

    That is hard attention. Bahdanau's is soft: all values count, each with its weight, and so the
    choice is differentiable.
    """
    best = weights.argmax(-1)
    return values[torch.arange(len(values)), best] + 0 * weights.sum()


def softmax_again(weights, values):
    """You put the weights through a softmax once more.

    They are weights already. A softmax of numbers between 0 and 1 is almost uniform, and it gives
    padding a share again.
    """
    return (weights.softmax(-1).unsqueeze(1) @ values).squeeze(1)


def normalised_again(weights, values):
    """Your weights are divided by their sum.

    Rows of weights sum to 1, or to 0 for a sentence without any word, whose context is then 0;
    dividing by that 0 gives NaN.
    """
    return ((weights / weights.sum(-1, keepdim=True)).unsqueeze(1) @ values).squeeze(1)


def weights_cut(weights, values):
    """The weights are detached from the graph, so attention cannot learn.

    The values are right, but no gradient reaches the weights. Where to look is learned through them.
    """
    return right.context_vector(weights.detach(), values)


def values_cut(weights, values):
    """The values are detached from the graph, so the encoder cannot learn through attention.

    The numbers are right, but no gradient reaches the annotations.
    """
    return right.context_vector(weights, values.detach())


# %% AdditiveAttention


class _Attention(right.AdditiveAttention):
    """The right module in pieces, so that a mistake changes one of them."""

    def combine(self, query, projected):
        """Scores (B, N)."""
        return torch.tanh((query @ self.W.T).unsqueeze(1) + projected) @ self.v

    def normalise(self, scores, mask):
        """Weights (B, N)."""
        return right.masked_softmax(scores, mask)

    def average(self, weights, keys, projected):
        """Context (B, d_k)."""
        return right.context_vector(weights, keys)

    def forward(self, query, keys, mask, projected_keys=None):
        projected = self.project(keys) if projected_keys is None else projected_keys
        weights = self.normalise(self.combine(query, projected), mask)
        return self.average(weights, keys, projected), weights


class ModuleWithoutTanh(_Attention):
    """The tanh is missing.

    Without it the score is a sum of a part that knows only the state and a part that knows only the
    annotation; the softmax drops the first, and every target word looks at the same places.
    """

    def combine(self, query, projected):
        return ((query @ self.W.T).unsqueeze(1) + projected) @ self.v


class ModuleIgnoresMask(_Attention):
    """The mask is not used: padding gets attention.

    Pass the mask on to masked_softmax; padding must get a weight of exactly 0.
    """

    def normalise(self, scores, mask):
        return scores.softmax(-1)


class ModuleInvertsMask(_Attention):
    """The mask is read the wrong way round.

    True means "a real word, may be attended". Here the weight lies on the padding.
    """

    def normalise(self, scores, mask):
        return right.masked_softmax(scores, ~mask)


class ModuleMasksAfterSoftmax(_Attention):
    """Your mask comes after the softmax, so the rows no longer sum to 1.

    Padding has to be out before the sum in the denominator is taken; masked_softmax does it.
    """

    def normalise(self, scores, mask):
        return scores.softmax(-1) * mask


class ModuleSoftmaxOverBatch(_Attention):
    """Your softmax runs over the batch, not over the positions.

    Weights compare the source positions of one sentence, so they sum to 1 along the last axis.
    """

    def normalise(self, scores, mask):
        return softmax_over_batch(scores, mask)


class ModuleEmptyRowNan(_Attention):
    """A sentence without any real word gives NaN.

    If every score of a row is minus infinity the softmax divides 0 by 0. Weights and context of
    such a row must be 0.
    """

    def normalise(self, scores, mask):
        return empty_row_nan(scores, mask)


class ModuleEmptyRowUniform(_Attention):
    """A sentence without any real word gets uniform weights over padding.

    Filling with a large negative number avoids NaN, but a row of nothing else becomes uniform.
    Weights and context of such a row must be 0.
    """

    def normalise(self, scores, mask):
        return empty_row_uniform(scores, mask)


class ModuleHardChoice(_Attention):
    """Your context is the annotation with the largest weight alone.

    The context is the weighted sum of all annotations.
    """

    def average(self, weights, keys, projected):
        return hard_choice(weights, keys)


class ModuleUniformContext(_Attention):
    """Your context does not use the weights.

    The weights are right, but the context is the plain mean of the annotations. It has to be their
    sum weighted by alpha.
    """

    def average(self, weights, keys, projected):
        return plain_mean(weights, keys)


class ModuleWeightsCut(_Attention):
    """The weights are detached from the graph, so attention cannot learn.

    The numbers are right, but no gradient reaches W, U and v. Something like detach(), .data or
    no_grad() ends the graph.
    """

    def normalise(self, scores, mask):
        return right.masked_softmax(scores, mask).detach()


class ModuleSwapsResults(_Attention):
    """Weights and context are returned in the wrong order.

    forward returns the context first, then the weights.
    """

    def forward(self, query, keys, mask, projected_keys=None):
        context, weights = super().forward(query, keys, mask, projected_keys)
        return weights, context


class ModuleContextOfProjection(_Attention):
    """Your context is a sum of projected keys.

    The projected keys U h_j are only for the scores. The context is the weighted sum of the
    annotations h_j themselves.
    """

    def average(self, weights, keys, projected):
        return right.context_vector(weights, projected)


class ModuleProjectsTwice(_Attention):
    """You project the projected keys once more.

    projected_keys holds U h_j already; forward must use it as it is.
    """

    def forward(self, query, keys, mask, projected_keys=None):
        if projected_keys is not None:
            projected_keys = self.project(projected_keys)
        return super().forward(query, keys, mask, projected_keys)
