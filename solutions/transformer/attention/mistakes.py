"""Mistakes that people really make in the notebook `transformer/attention`.

Each docstring is what a student reads: its first line is the title of the card, the rest the hint.
"""

import math

import torch

from solutions.transformer import attention as right

LOWEST = -1e9

# %% scaled_dot_product_attention


def _scores(query, key):
    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])


def _masked(scores, mask, dim=-1):
    """The right weights if dim is -1."""
    if mask is None:
        return scores.softmax(dim)
    return scores.masked_fill(~mask, LOWEST).softmax(dim) * mask


def _found(weights, value, dropout):
    """Output and weights; dropout acts on the weights that meet the values."""
    kept = weights if dropout is None else dropout(weights)
    return kept @ value, weights


def scaling_left_out(query, key, value, mask=None, dropout=None):
    """Your scores are not divided by the square root of d_k.

    A dot product of d_k terms has a variance of about d_k. Without the division the softmax
    saturates as vectors grow longer: one key gets nearly everything, and the gradient vanishes.
    """
    weights = _masked(query @ key.transpose(-2, -1), mask)
    return _found(weights, value, dropout)


def scaled_by_d_k(query, key, value, mask=None, dropout=None):
    """Your scores are divided by d_k, not by its square root.

    The variance of a sum of d_k terms is d_k, so its standard deviation is the root of d_k.
    Dividing by d_k makes all scores too much alike.
    """
    weights = _masked(query @ key.transpose(-2, -1) / query.shape[-1], mask)
    return _found(weights, value, dropout)


def scaled_by_the_number_of_keys(query, key, value, mask=None, dropout=None):
    """Your scores are divided by the root of the number of keys.

    d_k is the size of a key, its last axis. How many keys there are has no influence on how large
    a single dot product is.
    """
    weights = _masked(query @ key.transpose(-2, -1) / math.sqrt(key.shape[-2]), mask)
    return _found(weights, value, dropout)


def scaled_by_d_v(query, key, value, mask=None, dropout=None):
    """Your scores are divided by the root of the size of the values.

    The sum that makes a score runs over the entries of query and key. Values may be of another
    size; they have no part in the score.
    """
    weights = _masked(query @ key.transpose(-2, -1) / math.sqrt(value.shape[-1]), mask)
    return _found(weights, value, dropout)


def mask_not_used(query, key, value, mask=None, dropout=None):
    """The mask is not used: padding gets attention.

    Each row is spread over all N keys. Where the mask is False the weight must be exactly 0, and
    the other keys share the 1 among themselves.
    """
    return right.scaled_dot_product_attention(query, key, value, None, dropout)


def mask_read_backwards(query, key, value, mask=None, dropout=None):
    """The mask is read the wrong way round.

    True means "may be attended", as in torch.nn.functional.scaled_dot_product_attention. Beware:
    masked_fill fills where its mask is True, and nn.MultiheadAttention's masks say what to leave
    out.
    """
    inverse = None if mask is None else ~mask
    return right.scaled_dot_product_attention(query, key, value, inverse, dropout)


def mask_after_the_softmax(query, key, value, mask=None, dropout=None):
    """Your mask comes after the softmax, so the rows no longer sum to 1.

    The softmax has given padding its share already. Setting those weights to 0 afterwards throws
    the share away. What may not be attended has to be out before the sum is taken.
    """
    weights = _scores(query, key).softmax(-1)
    weights = weights if mask is None else weights * mask
    return _found(weights, value, dropout)


def mask_added_as_a_number(query, key, value, mask=None, dropout=None):
    """You add the boolean mask to the scores, as 0 and 1.

    Adding 1 to some scores favours them a little and shuts nobody out. A mask that is added has to
    hold 0 and minus infinity; a boolean one says where minus infinity belongs.
    """
    scores = _scores(query, key)
    weights = (scores if mask is None else scores + mask).softmax(-1)
    return _found(weights, value, dropout)


def masked_scores_are_zero(query, key, value, mask=None, dropout=None):
    """Masked scores are set to 0, but exp(0) is 1.

    A score of 0 is an ordinary score and gets an ordinary weight, a large one if the others are
    negative. For a weight of 0 the score would have to be minus infinity.
    """
    scores = _scores(query, key)
    weights = (scores if mask is None else scores * mask).softmax(-1)
    return _found(weights, value, dropout)


def nothing_to_attend_gives_nan(query, key, value, mask=None, dropout=None):
    """A query that may attend to nothing gets NaN.

    If every score of a row is minus infinity the softmax divides 0 by 0. Such rows occur, and one
    NaN spoils every parameter. Weights and output of such a row must be 0.
    """
    scores = _scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(-1)
    return _found(weights, value, dropout)


def nothing_to_attend_gives_the_mean(query, key, value, mask=None, dropout=None):
    """Your query that may attend to nothing gets the mean of what it may not see.

    A large negative number such as -1e9 in place of minus infinity avoids NaN. But if all scores of
    a row are that same number, the softmax is uniform. Weights and output of such a row must be 0.
    """
    scores = _scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask, LOWEST)
    weights = scores.softmax(-1)
    return _found(weights, value, dropout)


def softmax_over_queries(query, key, value, mask=None, dropout=None):
    """Your softmax runs over the queries, not over the keys.

    The scores are (..., T, N). Each row belongs to a query and must sum to 1 over its N keys, the
    last axis. Along the axis before it queries would compete for each key.
    """
    weights = _masked(_scores(query, key), mask, dim=-2)
    return _found(weights, value, dropout)


def softmax_over_axis_one(query, key, value, mask=None, dropout=None):
    """Your softmax runs over axis 1, and which axis that is depends on the leading axes.

    With scores (T, N) axis 1 holds the keys, with (B, T, N) the queries, with (B, h, T, N) the
    heads. Count from the end: the keys are always axis -1.
    """
    weights = _masked(_scores(query, key), mask, dim=1)
    return _found(weights, value, dropout)


def softmax_left_out(query, key, value, mask=None, dropout=None):
    """The softmax is missing: values are added up with raw scores.

    Scores may be negative and sum to anything. The softmax makes weights of them, between 0 and 1,
    summing to 1, so that the output is an average of values.
    """
    scores = _scores(query, key)
    scores = scores if mask is None else scores * mask
    return _found(scores, value, dropout)


def axes_one_and_two_swapped(query, key, value, mask=None, dropout=None):
    """You transpose the keys with transpose(1, 2), which fits three axes only.

    With heads there are four axes, (B, h, N, d_k), and axes 1 and 2 are heads and keys. K^T swaps
    the last two, whatever stands before them: transpose(-2, -1).
    """
    scores = query @ key.transpose(1, 2) / math.sqrt(query.shape[-1])
    weights = _masked(scores, mask)
    return _found(weights, value, dropout)


def cosines_for_dot_products(query, key, value, mask=None, dropout=None):
    """Your scores are cosines: query and keys are divided by their lengths.

    A dot product is not a cosine. The length of a key counts, too: a long one that points half the
    right way may win over a short one that points all the way.
    """
    asked, offered = (x / x.norm(dim=-1, keepdim=True) for x in (query, key))
    weights = _masked(asked @ offered.transpose(-2, -1), mask)
    return _found(weights, value, dropout)


def exponent_of_raw_scores(query, key, value, mask=None, dropout=None):
    """exp of the raw scores overflows or vanishes when scores are large.

    exp(800) is beyond float64 and exp(-800) is 0 there. The softmax does not change when the same
    number is subtracted from all scores of a row: subtract the largest, as torch.softmax does.
    """
    powers = _scores(query, key).exp()
    powers = powers if mask is None else powers * mask
    total = powers.sum(-1, keepdim=True)
    weights = powers / total.masked_fill(total == 0, 1.0)
    return _found(weights, value, dropout)


def weights_before_output(query, key, value, mask=None, dropout=None):
    """Output and weights are returned in the wrong order.

    First the output, then the weights.
    """
    output, weights = right.scaled_dot_product_attention(query, key, value, mask, dropout)
    return weights, output


def weights_cut_from_the_graph(query, key, value, mask=None, dropout=None):
    """The weights are detached from the graph, so attention cannot learn where to look.

    The values are right, but no gradient reaches query and key: detach(), .data, no_grad() or a
    new tensor made from numbers ends the graph.
    """
    _, weights = right.scaled_dot_product_attention(query, key, value, mask)
    return _found(weights.detach(), value, dropout)


def dropped_weights_returned(query, key, value, mask=None, dropout=None):
    """You return the weights after dropout, not before it.

    Dropout sets some weights to 0 and enlarges the others, so that rows no longer sum to 1. It
    decides what meets the values; the weights to look at are those of the softmax.
    """
    output, weights = right.scaled_dot_product_attention(query, key, value, mask, dropout)
    return output, weights if dropout is None else dropout(weights)


def dropout_on_the_output(query, key, value, mask=None, dropout=None):
    """Your dropout acts on the output, not on the weights.

    It is to hide whole source positions from a query, so it acts between the softmax and the
    product with the values.
    """
    output, weights = right.scaled_dot_product_attention(query, key, value, mask)
    return output if dropout is None else dropout(output), weights


def dropout_on_the_scores(query, key, value, mask=None, dropout=None):
    """Your dropout acts on the scores, before the softmax.

    A score of 0 is an ordinary score, so nothing is dropped: exp(0) is 1. Dropout acts on the
    weights, after the softmax.
    """
    scores = _scores(query, key)
    dropped = scores if dropout is None else dropout(scores)
    return _masked(dropped, mask) @ value, _masked(scores, mask)


# %% split_heads


def split_without_transpose(x, heads):
    """You reshape where you should swap axes: heads get parts of other words.

    reshape to (B, h, T, d / h) keeps the order of the numbers, and gives head 0 the first words
    instead of the first components of all words. First (B, T, h, d / h), then swap two axes.
    """
    return x.reshape(x.shape[0], heads, x.shape[1], -1)


def heads_behind_words(x, heads):
    """Your heads come after the words: (B, T, h, d / h).

    Each head is to work on (T, d / h) by itself, so its axis must stand with the batch:
    (B, h, T, d / h). Swap axes 1 and 2.
    """
    return x.unflatten(-1, (heads, -1))


def components_dealt_out(x, heads):
    """You deal the components out like cards: head i gets components i, i + h, i + 2h.

    Head i is to get d / h neighbours, components i d/h to (i + 1) d/h - 1. The last axis is cut
    into (h, d / h), in this order.
    """
    return x.unflatten(-1, (-1, heads)).permute(0, 3, 1, 2)


def heads_first(x, heads):
    """Your heads come before the batch: (h, B, T, d / h).

    Batch first, then heads: (B, h, T, d / h). torch.stack has an argument for where its new axis
    goes.
    """
    return torch.stack(x.chunk(heads, dim=-1))


def heads_into_the_batch(x, heads):
    """You let batch and heads share one axis: (B h, T, d / h).

    That works, too, but then the batch is h times as long for everyone who comes later. Here the
    heads have an axis of their own: (B, h, T, d / h).
    """
    return right.split_heads(x, heads).flatten(0, 1)


def whole_vectors_for_each_head(x, heads):
    """You give each head the whole vectors.

    The vectors are cut, not copied: each of the h heads works on d / h components. So all heads
    together cost as much as one on all d.
    """
    return x.unsqueeze(1).expand(-1, heads, -1, -1).clone()


def size_of_a_head_for_heads(x, heads):
    """You take `heads` for the size of a piece.

    It is the number of heads; the size of a piece is d / h.
    """
    return x.unflatten(-1, (-1, heads)).transpose(1, 2)


def split_after_a_transpose(x, heads):
    """You swap the axes before the vectors are cut: a vector gets components of several words.

    reshape reads numbers in their order. If words are the last axis by then, neighbours belong to
    different words. First cut the last axis, d, into (h, d / h), then swap words and heads.
    """
    return x.transpose(1, 2).reshape(x.shape[0], heads, x.shape[1], -1)


def split_cut_from_the_graph(x, heads):
    """The pieces are detached from the graph.

    The values are right, but no gradient flows back: detach(), .data, no_grad() or a new tensor
    made from numbers ends the graph.
    """
    return right.split_heads(x, heads).detach()


# %% merge_heads


def merged_without_transpose(x):
    """You reshape where you should swap axes: words get parts of other words.

    reshape keeps the order of the numbers, and in (B, h, T, d / h) a head's words stand together.
    Swap heads and words first, so that the pieces of one word are neighbours.
    """
    return x.reshape(x.shape[0], x.shape[2], -1)


def pieces_shuffled(x):
    """Your pieces are mixed component by component.

    The d / h components of head 0 come first, then those of head 1. Here the first components of
    all heads stand together: the order of the last two axes is wrong before they are joined.
    """
    return x.permute(0, 2, 3, 1).flatten(2)


def heads_added_up(x):
    """Your heads are added up.

    Concat puts them side by side, so that no head's answer is lost; the matrix that comes after it
    mixes them. The result is (B, T, d), not (B, T, d / h).
    """
    return x.sum(1)


def heads_averaged(x):
    """Your heads are averaged.

    Concat puts them side by side, so that no head's answer is lost; the matrix that comes after it
    mixes them. The result is (B, T, d), not (B, T, d / h).
    """
    return x.mean(1)


def heads_one_after_the_other(x):
    """Your heads are joined along the words: (B, h T, d / h).

    The number of words stays; the vectors become longer. Join the last axis: (B, T, d).
    """
    return x.flatten(1, 2)


def not_merged(x):
    """The axes are swapped, but the pieces are not joined.

    After the swap there are still four axes, (B, T, h, d / h). The last two become one, of size d.
    """
    return x.transpose(1, 2)


def merged_with_the_last_axes_swapped(x):
    """You swap the last two axes, not heads and words.

    In (B, h, T, d / h) the axes of heads and words are 1 and 2. They change places, so that the
    pieces of one word become neighbours: (B, T, h, d / h).
    """
    return x.transpose(2, 3).reshape(x.shape[0], x.shape[2], -1)


def merged_cut_from_the_graph(x):
    """The result is detached from the graph.

    The values are right, but no gradient flows back: detach(), .data, no_grad() or a new tensor
    made from numbers ends the graph.
    """
    return right.merge_heads(x).detach()


# %% MultiHeadAttention


class _Steps(right.MultiHeadAttention):
    """The right answer in steps that a mistake can change."""

    def _ask(self, query):
        """Return q (B, h, T, d / h)."""
        return right.split_heads(self.query(query), self.heads)

    def _allow(self, mask):
        """Return the mask as (..., 1, T, N)."""
        return None if mask is None else mask.unsqueeze(-3)

    def _attend(self, q, k, v, mask):
        """Return what is found (B, h, T, d / h) and weights (B, h, T, N)."""
        return right.scaled_dot_product_attention(q, k, v, mask)

    def _finish(self, found):
        """Return the output (B, T, d)."""
        return self.output(right.merge_heads(found))

    def forward(self, query, key, value, mask=None, projected=None):
        """Ask, attend, finish."""
        k, v = self.project(key, value) if projected is None else projected
        found, weights = self._attend(self._ask(query), k, v, self._allow(mask))
        return self._finish(found), weights


class heads_unscaled(_Steps):
    """Your scores are not divided by the square root of a head's size.

    Each head is a scaled dot-product attention: its scores are divided by the root of d / h.
    """

    def _attend(self, q, k, v, mask):
        weights = _masked(q @ k.transpose(-2, -1), mask)
        return weights @ v, weights


class heads_scaled_by_model_size(_Steps):
    """Your scores are divided by the root of model_size, not of a head's size.

    A head's dot product is a sum of d / h terms, not of d. It is d / h that stands for d_k here.
    """

    def _attend(self, q, k, v, mask):
        weights = _masked(q @ k.transpose(-2, -1) / math.sqrt(self.heads * q.shape[-1]), mask)
        return weights @ v, weights


class heads_without_mask(_Steps):
    """The mask is not used: padding gets attention in all heads.

    Each head must respect the mask. It has no axis for the heads: give it one, so that it
    broadcasts.
    """

    def _allow(self, mask):
        return None


class heads_mask_backwards(_Steps):
    """The mask is read the wrong way round.

    True means "may be attended". The masks of nn.MultiheadAttention say what to leave out.
    """

    def _allow(self, mask):
        return None if mask is None else ~mask.unsqueeze(-3)


class mask_meets_heads(_Steps):
    """A mask (B, T, N) meets scores (B, h, T, N) along the wrong axis.

    Shapes are matched from the end, so the sentences of the mask are taken for heads. Mostly that
    raises an error; if there are as many heads as sentences it is wrong without a word. The mask
    needs an axis for the heads: unsqueeze(-3).
    """

    def _allow(self, mask):
        return mask


class mask_with_its_axis_behind_the_batch(_Steps):
    """You insert the new axis of the mask at axis 1, which fits three axes only.

    With (B, T, N) that gives (B, 1, T, N). A mask (T, N) has no batch: it would become (T, 1, N).
    Count from the end, unsqueeze(-3), and both are right.
    """

    def _allow(self, mask):
        return None if mask is None else mask.unsqueeze(1)


class heads_nothing_gives_nan(_Steps):
    """A query that may attend to nothing gets NaN.

    If every score of a row is minus infinity the softmax divides 0 by 0. Weights of such a row must
    be 0, and what comes out is the bias of the last matrix.
    """

    def _attend(self, q, k, v, mask):
        return nothing_to_attend_gives_nan(q, k, v, mask)


class heads_nothing_gives_the_mean(_Steps):
    """Your query that may attend to nothing gets the mean of what it may not see.

    If all scores of a row are the same large negative number, the softmax is uniform. Weights of
    such a row must be 0, and what comes out is the bias of the last matrix.
    """

    def _attend(self, q, k, v, mask):
        return nothing_to_attend_gives_the_mean(q, k, v, mask)


class output_matrix_left_out(_Steps):
    """You do not apply the last matrix, W^O.

    Concat only puts the heads side by side. W^O mixes what they have found: output(...) of the
    merged heads.
    """

    def _finish(self, found):
        return right.merge_heads(found)


class query_matrix_left_out(_Steps):
    """You cut the query into heads without its matrix W^Q.

    Each head asks in a subspace of its own, and W^Q leads there. Project first, then cut.
    """

    def _ask(self, query):
        return right.split_heads(query, self.heads)


class key_matrix_for_the_query(_Steps):
    """Your query goes through the matrix of the keys.

    With one matrix for both, a word's score with itself is never negative, and who asks whom makes
    no difference. Queries have a matrix of their own, W^Q.
    """

    def _ask(self, query):
        return right.split_heads(self.key(query), self.heads)


class key_matrix_for_the_values(_Steps):
    """Your values go through the matrix of the keys.

    What a word is found by and what it then tells are two things; so values have a matrix of their
    own, W^V.
    """

    def project(self, key, value):
        keys, values = self.key(key), self.key(value)
        return right.split_heads(keys, self.heads), right.split_heads(values, self.heads)


class values_made_of_keys(_Steps):
    """You make the values from `key`; `value` is not used.

    In the Transformer both are the same tensor, but the class must not rely on it.
    """

    def project(self, key, value):
        return super().project(key, key)


class one_head_only(_Steps):
    """You have only one head: the vectors are not cut.

    The weights are to be (B, h, T, N), one map for each head. Cut queries, keys and values into h
    pieces and attend in each.
    """

    def forward(self, query, key, value, mask=None, projected=None):
        if projected is None:
            k, v = self.key(key), self.value(value)
        else:
            k, v = (right.merge_heads(x) for x in projected)
        found, weights = right.scaled_dot_product_attention(self.query(query), k, v, mask)
        return self.output(found), weights


class query_poured_into_heads(_Steps):
    """You reshape into the shape of the heads: heads get parts of other words.

    reshape to (B, h, T, d / h) keeps the order of the numbers. First (B, T, h, d / h), then swap
    two axes, as in split_heads.
    """

    def _ask(self, query):
        return split_without_transpose(self.query(query), self.heads)

    def project(self, key, value):
        keys, values = self.key(key), self.value(value)
        return (
            split_without_transpose(keys, self.heads),
            split_without_transpose(values, self.heads),
        )


class heads_poured_together(_Steps):
    """You put the heads together without swapping the axes back.

    reshape of (B, h, T, d / h) to (B, T, d) keeps the order of the numbers, and words get parts of
    other words. Use merge_heads.
    """

    def _finish(self, found):
        return self.output(merged_without_transpose(found))


class weights_averaged_over_heads(_Steps):
    """Your weights are averaged over the heads.

    nn.MultiheadAttention returns such an average unless it is told otherwise. Here each head's
    weights come back, (B, h, T, N), so that one can see how they differ.
    """

    def forward(self, query, key, value, mask=None, projected=None):
        output, weights = super().forward(query, key, value, mask, projected)
        return output, weights.mean(1)


class projected_not_used(_Steps):
    """`projected` is not used: keys and values are always recomputed.

    A decoder that writes word by word computes the keys and values of the source once and hands
    them in. If `projected` is given, key and value are not looked at; they may be None.
    """

    def forward(self, query, key, value, mask=None, projected=None):
        return super().forward(query, key, value, mask)


class projected_not_cut(_Steps):
    """Your project returns keys and values that are not cut into heads.

    What it returns is kept and used again and again: do all that can be done once. Keys and values
    are to be (B, h, N, d / h).
    """

    def project(self, key, value):
        return self.key(key), self.value(value)

    def forward(self, query, key, value, mask=None, projected=None):
        pair = self.project(key, value) if projected is None else projected
        k, v = (right.split_heads(x, self.heads) for x in pair)
        return super().forward(query, key, value, mask, (k, v))


class key_and_value_matrices_swapped(_Steps):
    """Your matrices of keys and values have changed places.

    `key` goes through W^K, whose result is compared with the query; `value` goes through W^V, whose
    result is averaged.
    """

    def project(self, key, value):
        keys, values = self.value(key), self.key(value)
        return right.split_heads(keys, self.heads), right.split_heads(values, self.heads)


class output_bias_left_out(_Steps):
    """You do not add the bias of the last layer, W^O.

    The paper writes its projections without biases, but the layers here have them. Where a query
    may attend to nothing, the bias of the last layer is all that comes out.
    """

    def _finish(self, found):
        return right.merge_heads(found) @ self.output.weight.T


class mask_lost_with_projected(_Steps):
    """You do not use the mask when `projected` is given.

    Keys and values that were computed before still belong to a source with padding, so the mask
    holds for them as well.
    """

    def forward(self, query, key, value, mask=None, projected=None):
        allowed = mask if projected is None else None
        return super().forward(query, key, value, allowed, projected)


class projected_once_more(_Steps):
    """What is given as `projected` goes through the layers once more.

    It is what `project` returned: it went through the layers of keys and values and was cut into
    heads. Attend to it as it is.
    """

    def forward(self, query, key, value, mask=None, projected=None):
        if projected is not None:
            key, value = (right.merge_heads(x) for x in projected)
        return super().forward(query, key, value, mask)


class heads_weights_first(_Steps):
    """Output and weights are returned in the wrong order.

    First the output (B, T, d), then the weights (B, h, T, N).
    """

    def forward(self, query, key, value, mask=None, projected=None):
        output, weights = super().forward(query, key, value, mask, projected)
        return weights, output
