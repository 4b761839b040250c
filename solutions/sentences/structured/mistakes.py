"""Mistakes that people really make in the notebook `sentences/structured`.

Each function or class is one wrong implementation; the first line of its docstring is the title of
the card, the rest the hint.
"""

import torch
from torch import nn

from solutions.sentences import structured as right

# %% StructuredSelfAttention


class _Attention(right.StructuredSelfAttention):
    """The right attention in pieces, so that a mistake changes one of them."""

    def inside(self, states):
        """(B, N, d_a)."""
        return (states @ self.W_s1.T).tanh()

    def weighed(self, scores, real):
        """A from scores (B, r, N) and the mask (B, 1, N)."""
        return scores.masked_fill(~real, torch.finfo(scores.dtype).min).softmax(-1) * real

    def summed(self, A, states):
        """M."""
        return A @ states

    def forward(self, states, mask):
        scores = self.W_s2 @ self.inside(states).transpose(1, 2)
        A = self.weighed(scores, mask[:, None])
        return self.summed(A, states), A


class HopsCompete(_Attention):
    """Your softmax runs over the hops, not over the words.

    Each hop spreads a weight of 1 over the words of the sentence. A softmax over the hops makes
    them share out each word among themselves. The words are the last axis of A (B, r, N).
    """

    def weighed(self, scores, real):
        return scores.softmax(1) * real


class HopsShareOneSoftmax(_Attention):
    """You take one softmax over all hops and words together.

    Each hop is an attention of its own, and each of the r rows of A sums to 1. Here all of A does.
    """

    def weighed(self, scores, real):
        hidden = scores.masked_fill(~real, torch.finfo(scores.dtype).min)
        return hidden.flatten(1).softmax(-1).reshape(scores.shape) * real


class HopsWithoutTanh(_Attention):
    """The tanh is missing.

    A = softmax(W_s2 tanh(W_s1 H^T)). Without it W_s2 W_s1 is a single matrix, and the hidden layer
    has no use.
    """

    def inside(self, states):
        return states @ self.W_s1.T


class HopsWithRelu(_Attention):
    """A ReLU stands where the paper has tanh.

    A = softmax(W_s2 tanh(W_s1 H^T)): tanh keeps each number between -1 and 1, so that no single one
    can decide everything.
    """

    def inside(self, states):
        return (states @ self.W_s1.T).relu()


class HopsAttendToPadding(_Attention):
    """Padding takes part in your softmax.

    Then a sentence's weights depend on how wide its batch is. Set the scores of padding to minus
    infinity before the softmax, in every hop.
    """

    def weighed(self, scores, real):
        return scores.softmax(-1)


class HopsMaskedAfterwards(_Attention):
    """Your mask comes after the softmax.

    The padding has taken its share of the softmax already, and the rows of A no longer sum to 1.
    Mask the scores before it.
    """

    def weighed(self, scores, real):
        return scores.softmax(-1) * real


class HopsMaskedWithZero(_Attention):
    """You set the scores of padding to 0, not to minus infinity.

    exp(0) is 1, so that padding still takes its share of the softmax, often a large one.
    """

    def weighed(self, scores, real):
        return (scores * real).softmax(-1) * real


class HopsOfNothing(_Attention):
    """A sentence without any word gives NaN.

    A softmax over nothing but minus infinity is 0 / 0. Such a sentence has weights of 0: find the
    rows in which the mask is False everywhere, give them any finite scores, and set their weights
    to 0.
    """

    def weighed(self, scores, real):
        return scores.masked_fill(~real, -torch.inf).softmax(-1)


class HopsTanhOfScores(_Attention):
    """Your tanh comes after the second matrix, not between the two.

    Without anything between them the two matrices are one; the tanh belongs to W_s1 H^T.
    """

    def forward(self, states, mask):
        scores = (self.W_s2 @ (states @ self.W_s1.T).transpose(1, 2)).tanh()
        A = self.weighed(scores, mask[:, None])
        return self.summed(A, states), A


class HopsReshaped(_Attention):
    """You reshape the scores from (B, N, r) to (B, r, N), where they must be transposed.

    reshape keeps the numbers in their order, so that a hop gets the scores of others.
    """

    def forward(self, states, mask):
        scores = self.inside(states) @ self.W_s2.T
        A = self.weighed(scores.reshape(len(scores), -1, scores.shape[1]), mask[:, None])
        return self.summed(A, states), A


class HopsScaled(_Attention):
    """Your scores are divided by the square root of a size.

    That belongs to the dot products of the Transformer. Here W_s2 is learned, and nothing is scaled.
    """

    def weighed(self, scores, real):
        return super().weighed(scores / self.W_s1.shape[0] ** 0.5, real)


class HopsTransposed(_Attention):
    """Your words come before the hops.

    A is (B, r, N): a row for each hop, as in the paper. Transpose the scores before the softmax or
    the weights after it.
    """

    def forward(self, states, mask):
        M, A = super().forward(states, mask)
        return M, A.transpose(1, 2)


class HopsUseTheFirst(_Attention):
    """You compute all hops from the first row of W_s2.

    Each hop k has a direction of its own, row k of W_s2. With one row there is one view, r times
    over.
    """

    def forward(self, states, mask):
        M, A = super().forward(states, mask)
        return M[:, :1].expand_as(M), A[:, :1].expand_as(A)


# %% redundancy_penalty


def _eye(A):
    return torch.eye(A.shape[1], dtype=A.dtype)


def penalty_without_square(A):
    """Your norm is not squared.

    The penalty is the squared Frobenius norm: the sum of the squares, without a root. The root has
    no gradient where the hops are just right, and near that point one that does not get smaller.
    """
    return (A @ A.transpose(1, 2) - _eye(A)).norm(dim=(1, 2)).mean()


def penalty_is_a_mean(A):
    """Your squares are averaged, not added up.

    The Frobenius norm adds up the squares of all r x r entries of a sentence. Only over the batch
    is the mean taken.
    """
    return (A @ A.transpose(1, 2) - _eye(A)).square().mean()


def penalty_summed_over_batch(A):
    """You add up the sentences' penalties.

    Take their mean, so that the penalty does not grow with the size of a batch.
    """
    return (A @ A.transpose(1, 2) - _eye(A)).square().sum()


def penalty_of_words(A):
    """You compute A^T A, the overlap of words, not A A^T, the overlap of hops.

    Entry (k, m) of A A^T (r, r) says how much hops k and m look at the same words. A^T A is (N, N)
    and compares words.
    """
    overlap = A.transpose(1, 2) @ A
    return (overlap - torch.eye(A.shape[2], dtype=A.dtype)).square().sum(dim=(1, 2)).mean()


def penalty_without_identity(A):
    """You do not subtract the identity.

    Without it the diagonal would be pushed to 0 too: the overlap of a hop with itself, which is
    large when it looks at few words. With I the diagonal is pushed to 1, towards single words.
    """
    return (A @ A.transpose(1, 2)).square().sum(dim=(1, 2)).mean()


def penalty_off_the_diagonal(A):
    """You count only the overlap of different hops.

    The diagonal of A A^T - I counts too: it is 0 only if a hop has all its weight on one word, so
    that the penalty also makes each hop look at few words.
    """
    overlap = A @ A.transpose(1, 2)
    return (overlap * (1 - _eye(A))).square().sum(dim=(1, 2)).mean()


def penalty_with_ones(A):
    """You subtract 1 everywhere, not the identity.

    I has ones on its diagonal only. Subtracting 1 from all entries asks the hops to be alike.
    """
    return (A @ A.transpose(1, 2) - 1).square().sum(dim=(1, 2)).mean()


def penalty_of_absolute_values(A):
    """You add up absolute values, not squares.

    The Frobenius norm is the root of the sum of squares, and the penalty is its square.
    """
    return (A @ A.transpose(1, 2) - _eye(A)).abs().sum(dim=(1, 2)).mean()


def penalty_of_mean_overlap(A):
    """Your overlap is averaged over the batch before the norm is taken.

    Then too much overlap in one sentence could cancel too little in another. Take the norm of each
    sentence, then the mean.
    """
    return ((A @ A.transpose(1, 2)).mean(dim=0) - _eye(A)).square().sum()


def penalty_for_each(A):
    """You return a number for each sentence, not one for the batch.

    The penalty is added to the loss, so it must be a single number: the mean over the sentences.
    """
    return (A @ A.transpose(1, 2) - _eye(A)).square().sum(dim=(1, 2))


# %% StructuredClassifier


class _Classifier(right.StructuredClassifier):
    """The right classifier in pieces, so that a mistake changes one of them."""

    def read(self, tokens, lengths):
        """States (B, N, 2d)."""
        rows = nn.utils.rnn.pack_padded_sequence(
            self.embedding(tokens), lengths.clamp(min=1), batch_first=True, enforce_sorted=False
        )
        packed = self.rnn(rows)[0]
        return nn.utils.rnn.pad_packed_sequence(packed, True, total_length=tokens.shape[1])[0]

    def marks(self, tokens, lengths):
        """The mask (B, N)."""
        return torch.arange(tokens.shape[1]) < lengths[:, None]

    def flat(self, matrix):
        """(B, r 2d)."""
        return matrix.reshape(len(matrix), -1)

    def bent(self, inner):
        """The activation."""
        return inner.relu()

    def said(self, inner):
        """The logits (B, C)."""
        return self.output(inner)

    def forward(self, tokens, lengths):
        matrix, weights = self.attention(self.read(tokens, lengths), self.marks(tokens, lengths))
        return self.said(self.bent(self.hidden(self.flat(matrix)))), weights


class StructuredReadsPadding(_Classifier):
    """Your LSTM reads the padding.

    The backward direction begins there, so that every state of a short sentence depends on how wide
    its batch is. Pack the sequences before the LSTM (pack_padded_sequence) and unpack them after
    it.
    """

    def read(self, tokens, lengths):
        return self.rnn(self.embedding(tokens))[0]


class StructuredForgetsMask(_Classifier):
    """Your attention is told that everything is real.

    Make the mask from the lengths, True where the position is below the length; otherwise padding
    is attended to.
    """

    def marks(self, tokens, lengths):
        return torch.ones_like(tokens, dtype=torch.bool)


class StructuredMaskInverted(_Classifier):
    """The mask is the wrong way round.

    In this course True marks a real word. Here the attention may look at the padding only.
    """

    def marks(self, tokens, lengths):
        return ~super().marks(tokens, lengths)


class StructuredFlattensColumns(_Classifier):
    """You flatten M column by column.

    flatten puts the rows of M (B, r, 2d) one after the other: the first hop's 2d numbers, then the
    second hop's. Here the first number of all hops comes first, and each meets a weight that was
    made for another.
    """

    def flat(self, matrix):
        return matrix.transpose(1, 2).reshape(len(matrix), -1)


class StructuredAveragesHops(_Classifier):
    """You average the hops before the hidden layer.

    Each hop has columns of its own in W_h, so that the classifier can tell what each has seen. An
    average of the r rows throws that away.
    """

    def flat(self, matrix):
        return super().flat(matrix.mean(dim=1, keepdim=True).expand_as(matrix))


class StructuredWithoutRelu(_Classifier):
    """The ReLU is missing.

    logits = W_o relu(W_h flatten(M) + b_h) + b_o. Without it W_h and W_o are two linear layers in a
    row, which is one linear layer.
    """

    def bent(self, inner):
        return inner


class StructuredWithTanh(_Classifier):
    """A tanh stands where the ReLU belongs.

    logits = W_o relu(W_h flatten(M) + b_h) + b_o; the tanh is inside the attention.
    """

    def bent(self, inner):
        return inner.tanh()


class StructuredReluTwice(_Classifier):
    """You add a ReLU after the output layer, too.

    Logits may be negative. A ReLU makes all classes that are unlikely equally so, and stops their
    gradients.
    """

    def said(self, inner):
        return self.output(inner).relu()


class StructuredEmptyGetsPadding(_Classifier):
    """You let a sentence without any word attend to its padding.

    Only pack_padded_sequence needs lengths of at least 1. Make the mask from the lengths as they
    were given.
    """

    def marks(self, tokens, lengths):
        return super().marks(tokens, lengths.clamp(min=1))


class StructuredRefusesEmpty(_Classifier):
    """A sentence without any word stops the module.

    pack_padded_sequence refuses a length of 0. Give it lengths of at least 1 (clamp), and let the
    mask, made from the lengths as they were given, see to it that this word does not count.
    """

    def read(self, tokens, lengths):
        if (lengths < 1).any():
            raise RuntimeError("Length of all samples has to be greater than 0")
        return super().read(tokens, lengths)


class StructuredReturnsProbabilities(_Classifier):
    """You return probabilities, not logits.

    forward returns the scores before the softmax; the loss takes the softmax itself.
    """

    def said(self, inner):
        return self.output(inner).softmax(1)
