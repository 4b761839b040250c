"""Mistakes that people really make in the notebook `sentences/pooling`.

Each function or class is one wrong implementation; the first line of its docstring is the title of
the card, the rest the hint.
"""

import torch
from torch import nn

from solutions.sentences import pooling as right

# %% last_state


def state_at_padded_end(states, lengths):
    """You take the state at the end of the batch, not at the end of the sentence.

    states[:, -1] is position N - 1, which is padding in every sentence that is shorter than the
    batch is wide. Each sentence has a last word of its own, at its length - 1.
    """
    return states[:, -1]


def state_of_longest(states, lengths):
    """You use the last position of the longest sentence for all sentences.

    lengths.max() is one number for the whole batch. A shorter sentence has padding there; its own
    last word stands at its own length - 1.
    """
    return states[:, int(lengths.max()) - 1]


def state_behind_the_end(states, lengths):
    """The state is taken one position too far.

    Positions count from 0, so the last of L words stands at L - 1. At L there is the first of the
    padding, or nothing at all.
    """
    return states[torch.arange(len(states)), lengths]


def state_before_the_last(states, lengths):
    """You take the state of the word before the last.

    The last of L words stands at L - 1; L - 2 is the word before it.
    """
    return states[torch.arange(len(states)), (lengths - 2).clamp(min=0)]


def state_of_first_word(states, lengths):
    """You take the state of the first word.

    A forward network has read nothing but the first word there. After the last word it has read
    the sentence.
    """
    return states[:, 0]


def state_for_every_pair(states, lengths):
    """You take every sentence's position from every sentence.

    states[:, lengths - 1] picks all the places in all the rows, (B, B, d). One place for each row
    needs the rows as an index too: states[rows, places], both (B,); or gather.
    """
    return states[:, lengths - 1]


def state_by_first_length(states, lengths):
    """You use the first sentence's length for all sentences.

    Each row has a length of its own: index with the whole vector of lengths, not with one of them.
    """
    return states[:, int(lengths[0]) - 1]


def state_cut(states, lengths):
    """The state is detached from the graph, so nothing before it can learn.

    The numbers are right, but no gradient comes back: detach(), .data, .item(), tolist() or a new
    tensor made from numbers ends the graph. Index the tensor itself.
    """
    return right.last_state(states.detach(), lengths)


# %% masked_mean


def mean_over_width(states, mask):
    """Your sum over the words is divided by the width of the batch.

    mean() divides by N, padding included. A sentence of 3 words in a batch 20 wide would have a
    vector seven times too small. Divide by the number of its own words, the sum of its mask.
    """
    return (states * mask.unsqueeze(2)).mean(dim=1)


def mean_with_padding(states, mask):
    """Padding takes part in your mean.

    What comes after a sentence's end is not part of it, and is not 0 either. Take only what the
    mask marks, in the sum and in the count.
    """
    return states.mean(dim=1)


def mean_padding_in_sum(states, mask):
    """Padding takes part in your sum.

    You divide by the number of real words, but add up all states. What stands on padding is
    arbitrary: set it to 0 before you add, with masked_fill or by the mask as factor.
    """
    return states.sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)


def mean_with_one_more(states, mask):
    """You add 1 to the number of words.

    That avoids a division by 0, but makes every mean too small. Only a sentence without words needs
    help: clamp(min=1).
    """
    total = (states * mask.unsqueeze(2)).sum(1)
    return total / (mask.sum(1, keepdim=True) + 1)


def mean_is_sum(states, mask):
    """You compute the sum, not the mean.

    A long sentence would have a longer vector than a short one that says the same. Divide by the
    number of real words.
    """
    return states.masked_fill(~mask.unsqueeze(2), 0.0).sum(dim=1)


def mean_nothing_by_nothing(states, mask):
    """A sentence without any word gives NaN.

    Its sum is 0 and its count is 0, and 0 / 0 is NaN. Divide by at least 1: counts.clamp(min=1).
    """
    return states.masked_fill(~mask.unsqueeze(2), 0.0).sum(dim=1) / mask.sum(dim=1, keepdim=True)


def mean_over_longest(states, mask):
    """Your sum is divided by the number of words of the longest sentence.

    mask.sum(1).max() is one number for the whole batch; each sentence has a count of its own.
    """
    total = states.masked_fill(~mask.unsqueeze(2), 0.0).sum(dim=1)
    return total / mask.sum(dim=1).max().clamp(min=1)


def mean_over_batch(states, mask):
    """Your sum is divided by the number of words in the whole batch.

    mask.sum() counts all sentences together. Count along the words alone: mask.sum(dim=1,
    keepdim=True), one number for each sentence.
    """
    return states.masked_fill(~mask.unsqueeze(2), 0.0).sum(dim=1) / mask.sum().clamp(min=1)


def mean_mask_inverted(states, mask):
    """The mask is read the wrong way round.

    In this course True marks a real word. This is the mean of the padding.
    """
    return right.masked_mean(states, ~mask)


def mean_over_features(states, mask):
    """Your mean runs over the components of a state, not over the words.

    The words are on axis 1: (B, N, d) becomes (B, d).
    """
    return states.masked_fill(~mask.unsqueeze(2), 0.0).mean(dim=2)


# %% masked_max


def max_padding_is_zero(states, mask):
    """Padding takes part in your maximum as 0.

    Where all words of a sentence are negative, the 0 of the padding is larger than all of them and
    wins. Fill padding with something that always loses: minus infinity.
    """
    return states.masked_fill(~mask.unsqueeze(2), 0.0).amax(dim=1)


def max_not_below_zero(states, mask):
    """Your maximum starts at 0.

    A running maximum that begins with zeros can never be negative, even where all words are, and
    with or without padding. Begin with minus infinity, or with the first word.
    """
    return right.masked_max(states, mask).clamp(min=0.0)


def max_with_padding(states, mask):
    """Padding takes part in your maximum.

    What comes after a sentence's end is not part of it, however large. Fill it with minus
    infinity first.
    """
    return states.amax(dim=1)


def max_of_nothing(states, mask):
    """A sentence without any word gives minus infinity.

    The maximum of nothing is minus infinity, and the classifier would turn it into NaN. Such a
    sentence gets zeros: look for rows in which the mask is False everywhere.
    """
    return states.masked_fill(~mask.unsqueeze(2), -torch.inf).amax(dim=1)


def max_of_size(states, mask):
    """You take the number with the largest absolute value.

    The maximum has a sign: of -3 and 1 it is 1.
    """
    return _shown_as(states, states.abs(), mask)


def max_is_min(states, mask):
    """You compute the minimum.

    The vector holds the largest value of each feature: how strongly it occurs anywhere in the
    sentence.
    """
    return _shown_as(states, -states, mask)


def _shown_as(states, rank, mask):
    """Take, for each feature, the real state that ranks highest."""
    rank = rank.masked_fill(~mask.unsqueeze(2), -torch.inf)
    found = states.gather(1, rank.argmax(dim=1, keepdim=True)).squeeze(1)
    return found.masked_fill(~mask.any(dim=1, keepdim=True), 0.0)


def max_whole_word(states, mask):
    """You take the state of one word as a whole.

    The maximum is taken for each feature by itself: the first number of the vector may come from
    one word, the second from another.
    """
    norms = states.norm(dim=2).masked_fill(~mask, -torch.inf)
    found = states[torch.arange(len(states)), norms.argmax(dim=1)]
    return found.masked_fill(~mask.any(dim=1, keepdim=True), 0.0)


def max_over_features(states, mask):
    """Your maximum runs over the components of a state, not over the words.

    The words are on axis 1: (B, N, d) becomes (B, d).
    """
    return states.masked_fill(~mask.unsqueeze(2), 0.0).amax(dim=2)


def max_mask_inverted(states, mask):
    """The mask is read the wrong way round.

    In this course True marks a real word. This is the maximum of the padding.
    """
    return right.masked_max(states, ~mask)


def max_gradient_cut(states, mask):
    """The maximum is detached from the graph, so nothing before it can learn.

    The numbers are right, but no gradient comes back: detach(), .data, .item(), tolist() or a new
    tensor made from numbers ends the graph.
    """
    return right.masked_max(states.detach(), mask)


def max_against_minus_one(states, mask):
    """Your padding takes part in the maximum as -1.

    -1 loses only against what a tanh gives. States may be lower than that: fill padding with minus
    infinity.
    """
    largest = states.masked_fill(~mask.unsqueeze(2), -1.0).amax(dim=1)
    return largest * mask.any(dim=1, keepdim=True)


def max_of_infinity_times_zero(states, mask):
    """You multiply minus infinity by 0, which gives NaN.

    Where the mask is to change nothing, the product is not 0 but NaN. masked_fill puts minus
    infinity where it belongs, without a product.
    """
    largest = (states + (~mask).unsqueeze(2).to(states.dtype) * -torch.inf).amax(dim=1)
    return largest.masked_fill(~mask.any(dim=1, keepdim=True), 0.0)


def max_is_mean(states, mask):
    """You take the mean of the real states, not their maximum.

    That is the other pooling, masked_mean. Here the largest value of each feature counts, from
    whichever word it comes.
    """
    return right.masked_mean(states, mask)


def max_of_the_batch(states, mask):
    """Your maximum is over the words of all sentences of the batch.

    Each sentence has a maximum of its own, over axis 1. Axis 0, the batch, stays.
    """
    lowest = torch.finfo(states.dtype).min
    largest = states.masked_fill(~mask.unsqueeze(2), lowest).amax(dim=(0, 1))
    return largest * mask.any(dim=1, keepdim=True)


# %% AttentionClassifier


class _Classifier(right.AttentionClassifier):
    """The right classifier in pieces, so that a mistake changes one of them."""

    def read(self, tokens, lengths):
        """States (B, N, 2d), and h and c after the last word, (2, B, d) each."""
        rows = nn.utils.rnn.pack_padded_sequence(
            self.embedding(tokens), lengths.clamp(min=1), batch_first=True, enforce_sorted=False
        )
        packed, (h, c) = self.rnn(rows)
        states = nn.utils.rnn.pad_packed_sequence(packed, True, total_length=tokens.shape[1])[0]
        return states, h, c

    def asks(self, states, h, c, lengths):
        """The query (B, 2d)."""
        return torch.cat([h[0], h[1]], dim=1)

    def marks(self, tokens, lengths):
        """The mask (B, N)."""
        return torch.arange(tokens.shape[1]) < lengths[:, None]

    def scored(self, query, states):
        """The scores (B, N)."""
        both = (query @ self.W.T)[:, None] + states @ self.U.T
        return both.tanh() @ self.v

    def weighed(self, scores, mask):
        """The weights (B, N)."""
        return scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(1) * mask

    def said(self, sentence):
        """The logits (B, C)."""
        return self.output(sentence)

    def summed(self, weights, states, query):
        """The sentence vector (B, 2d)."""
        return (weights[:, None] @ states)[:, 0]

    def forward(self, tokens, lengths):
        states, h, c = self.read(tokens, lengths)
        query = self.asks(states, h, c, lengths)
        weights = self.weighed(self.scored(query, states), self.marks(tokens, lengths))
        return self.said(self.summed(weights, states, query)), weights


class ClassifierReadsPadding(_Classifier):
    """Your LSTM reads the padding.

    The forward direction goes on into the padding and ends there, and the backward direction
    begins there, so that every state of a short sentence depends on how wide its batch is. Pack the
    sequences before the LSTM (pack_padded_sequence) and unpack them after it.
    """

    def read(self, tokens, lengths):
        states, (h, c) = self.rnn(self.embedding(tokens))
        return states, h, c


class ClassifierQueryFromLastPlace(_Classifier):
    """Your query is the state at the last word, in both directions.

    The forward direction has read the whole sentence at its last word, the backward direction at
    its first: there it ends. At the last word the backward state knows that word alone. h_n of the
    LSTM holds the two final states.
    """

    def asks(self, states, h, c, lengths):
        return states[torch.arange(len(states)), (lengths - 1).clamp(min=0)]


class ClassifierQueryFromPaddedEnd(_Classifier):
    """Your query is taken from the end of the batch, not of the sentence.

    states[:, -1] is padding in every sentence that is shorter than the batch is wide. h_n of the
    LSTM holds the final states of each sentence itself.
    """

    def asks(self, states, h, c, lengths):
        return states[:, -1]


class ClassifierMixesSentences(_Classifier):
    """You reshape the final states, which mixes the sentences of a batch.

    h_n is (2, B, d): direction first, then sentence. view and reshape only count numbers, and give
    the first sentence the forward states of two sentences. Join h_n[0] and h_n[1] along their last
    axis.
    """

    def asks(self, states, h, c, lengths):
        return h.reshape(len(states), -1)


class ClassifierSwapsDirections(_Classifier):
    """Your query has the backward state first.

    q = [h_L->; h_1<-]: the forward state first, as in the states h_j. The first d columns of W
    belong to it.
    """

    def asks(self, states, h, c, lengths):
        return torch.cat([h[1], h[0]], dim=1)


class ClassifierAsksWithCell(_Classifier):
    """Your query is the LSTM's cell c, not its state h.

    An LSTM returns (h_n, c_n). h is what it shows to the outside, and what the states h_j are; c is
    its memory.
    """

    def asks(self, states, h, c, lengths):
        return torch.cat([c[0], c[1]], dim=1)


class ClassifierWithoutQuery(_Classifier):
    """The query has no effect on the weights.

    e_j = v^T tanh(W q + U h_j): the query has to be inside the tanh, together with the state. Left
    out, or in a tanh of its own, it adds the same number to all scores of a sentence, and the
    softmax takes that out again.
    """

    def scored(self, query, states):
        return (states @ self.U.T).tanh() @ self.v


class ClassifierSwapsMatrices(_Classifier):
    """W and U are swapped.

    W belongs to the query, U to the states: e_j = v^T tanh(W q + U h_j). They have one shape here,
    so that torch does not complain.
    """

    def scored(self, query, states):
        return ((query @ self.U.T)[:, None] + states @ self.W.T).tanh() @ self.v


class ClassifierWithoutTanh(_Classifier):
    """The tanh is missing.

    e_j = v^T tanh(W q + U h_j). Without tanh the query adds the same number to all scores, and the
    softmax takes it out again: what the sentence is about would not matter.
    """

    def scored(self, query, states):
        return ((query @ self.W.T)[:, None] + states @ self.U.T) @ self.v


class ClassifierAttendsToPadding(_Classifier):
    """Padding takes part in your softmax.

    Then a sentence's weights depend on how wide its batch is, and part of them is lost on nothing.
    Set the scores of padding to minus infinity before the softmax.
    """

    def weighed(self, scores, mask):
        return scores.softmax(1)


class ClassifierMasksAfterwards(_Classifier):
    """Your mask comes after the softmax.

    Weights of padding are then 0, but those of the words no longer sum to 1: the padding has taken
    its share of the softmax. Mask the scores before it.
    """

    def weighed(self, scores, mask):
        return scores.softmax(1) * mask


class ClassifierMasksWithZero(_Classifier):
    """You set the scores of padding to 0, not to minus infinity.

    exp(0) is 1, so that padding still takes its share of the softmax, often a large one.
    """

    def weighed(self, scores, mask):
        return (scores * mask).softmax(1) * mask


class ClassifierEmptyGetsPadding(_Classifier):
    """You let a sentence without any word attend to its padding.

    Only pack_padded_sequence needs lengths of at least 1. Make the mask from the lengths as they
    were given. A sentence without words has weights of 0 everywhere.
    """

    def marks(self, tokens, lengths):
        return super().marks(tokens, lengths.clamp(min=1))


class ClassifierRefusesEmpty(_Classifier):
    """A sentence without any word stops the module.

    pack_padded_sequence refuses a length of 0. Give it lengths of at least 1 (clamp), and let the
    mask, made from the lengths as they were given, see to it that this word does not count.
    """

    def read(self, tokens, lengths):
        if (lengths < 1).any():
            raise RuntimeError("Length of all samples has to be greater than 0")
        return super().read(tokens, lengths)


class ClassifierUsesFinalState(_Classifier):
    """Your classifier reads the query, not the average of the states.

    The weights are computed and then not used. The sentence vector is sum_j alpha_j h_j.
    """

    def summed(self, weights, states, query):
        return query * (weights.sum(1, keepdim=True) > 0)


class ClassifierReturnsProbabilities(_Classifier):
    """You return probabilities, not logits.

    forward returns the scores before the softmax; the loss takes the softmax itself.
    """

    def said(self, sentence):
        return self.output(sentence).softmax(1)
