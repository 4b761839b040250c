"""Mistakes that people really make in the notebook `han/attention`.

Each class is one wrong implementation; the first line of its docstring is the title of the card,
the rest the hint.
"""

import torch
from torch import nn

from solutions.han import attention as right

# %% AttentionPooling


class _Pooling(right.AttentionPooling):
    """The right pooling in pieces, so that a mistake changes one of them."""

    def inside(self, states):
        """u, (B, N, a)."""
        return self.projection(states).tanh()

    def scored(self, u):
        """(B, N)."""
        return u @ self.context

    def weighed(self, scores, mask):
        """(B, N)."""
        return scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(1) * mask

    def summed(self, weights, states):
        """(B, d)."""
        return (weights[:, None] @ states)[:, 0]

    def forward(self, states, mask):
        weights = self.weighed(self.scored(self.inside(states)), mask)
        return self.summed(weights, states), weights


class PoolingWithoutTanh(_Pooling):
    """The tanh is missing.

    u = tanh(W h + b). Without it u^T u_w is one dot product with the vector W^T u_w, and the bias
    adds the same number to every score, which the softmax takes out again.
    """

    def inside(self, states):
        return self.projection(states)


class PoolingWithRelu(_Pooling):
    """A ReLU stands where the paper has tanh.

    u = tanh(W h + b) lies between -1 and 1 in every direction, and is compared with u_w.
    """

    def inside(self, states):
        return self.projection(states).relu()


class PoolingWithoutBias(_Pooling):
    """The bias is not used.

    u = tanh(W h + b), with the bias inside the tanh. Added outside of it, it adds the same number
    to every score, and the softmax takes it out again. (The additive score of the translator has
    no bias; this one has.)
    """

    def inside(self, states):
        return (states @ self.projection.weight.T).tanh()


class PoolingTanhOfScore(_Pooling):
    """You take the tanh of the score, not of the projection.

    First u = tanh(W h + b), then the dot product with u_w. A score between -1 and 1 could never
    prefer one word much to another.
    """

    def inside(self, states):
        return self.projection(states)

    def scored(self, u):
        return (u @ self.context).tanh()


class PoolingAddsUp(_Pooling):
    """The context vector is not used.

    The numbers of u are only added up. u_w says how much each of them matters, and it is what the
    model learns about being informative.
    """

    def scored(self, u):
        return u.sum(-1)


class PoolingScaled(_Pooling):
    """Your scores are divided by the square root of a size.

    That belongs to the dot products of the Transformer. Here the score is u^T u_w as it is.
    """

    def scored(self, u):
        return u @ self.context / len(self.context) ** 0.5


class PoolingOverSentences(_Pooling):
    """Your softmax runs over the batch, not over the words.

    Axis 0 are the sentences, which have nothing to do with each other. The weights of the words of
    one sentence sum to 1: axis 1.
    """

    def weighed(self, scores, mask):
        return scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(0) * mask


class PoolingAttendsToPadding(_Pooling):
    """Padding takes part in your softmax.

    Then a sentence's weights depend on how wide its batch is. Set the scores to minus infinity
    where the mask is False, before the softmax.
    """

    def weighed(self, scores, mask):
        return scores.softmax(1)


class PoolingMaskedAfterwards(_Pooling):
    """Your mask comes after the softmax.

    The padding has taken its share of the softmax already, and the weights of the words no longer
    sum to 1. Mask the scores before it.
    """

    def weighed(self, scores, mask):
        return scores.softmax(1) * mask


class PoolingMaskedWithZero(_Pooling):
    """You set the scores of padding to 0, not to minus infinity.

    exp(0) is 1, so that padding still takes its share of the softmax, often a large one.
    """

    def weighed(self, scores, mask):
        return (scores * mask).softmax(1) * mask


class PoolingOfNothing(_Pooling):
    """A sentence without any word gives NaN.

    A softmax over nothing but minus infinity is 0 / 0. Documents have empty sentences; give such
    rows any finite scores and set their weights to 0.
    """

    def weighed(self, scores, mask):
        return scores.masked_fill(~mask, -torch.inf).softmax(1)


class PoolingOfNothingIsAMean(_Pooling):
    """Your sentence without any word gets equal weights.

    With all scores equally small, the softmax spreads the weight over the padding. Where the mask
    is False everywhere, the weights are 0.
    """

    def weighed(self, scores, mask):
        return scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(1)


class PoolingOfUnitLength(_Pooling):
    """You bring the context vector to length 1.

    Its length is learned with it: the longer it is, the sharper the weights can be.
    """

    def scored(self, u):
        return u @ nn.functional.normalize(self.context, dim=0)


class PoolingDividedByWords(_Pooling):
    """You divide the weighted sum by the number of words.

    The weights sum to 1 already: the weighted sum is a mean.
    """

    def forward(self, states, mask):
        pooled, weights = super().forward(states, mask)
        return pooled / mask.sum(1, keepdim=True).clamp(min=1), weights


class PoolingWithSigmoid(_Pooling):
    """A sigmoid stands where the softmax belongs.

    With a sigmoid each word is judged by itself, and the weights do not sum to 1. The softmax makes
    the words compete.
    """

    def weighed(self, scores, mask):
        return scores.sigmoid() * mask
