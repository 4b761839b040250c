"""Mistakes that people really make in the notebook `luong/local`.

Each function or class is one wrong implementation; the first line of its docstring is the title of
the card, the rest the hint.
"""

import torch

from solutions.luong import local as right

# %% local_window


def _gaps(position, N):
    """s - p, (B, N)."""
    return torch.arange(N).to(position.dtype) - position[:, None]


def _real(lengths, N):
    """True on real words, (B, N)."""
    return torch.arange(N) < lengths[:, None]


def window_without_ends(position, lengths, D, N):
    """Your window leaves out its ends.

    The paper's window is [p - D, p + D], with both ends: |s - p| <= D. For a whole p and D that is
    2D + 1 words, D on each side and p itself.
    """
    return (_gaps(position, N).abs() < D) & _real(lengths, N)


def window_without_right_end(position, lengths, D, N):
    """Your window leaves out its right end.

    Slices and ranges of Python stop before their end, the paper's window [p - D, p + D] does not:
    the word at p + D belongs to it.
    """
    gaps = _gaps(position, N)
    return (gaps >= -D) & (gaps < D) & _real(lengths, N)


def window_rounds(position, lengths, D, N):
    """Your position is rounded.

    A predicted position is a real number. The distance |s - p| is taken from that number itself,
    so that the window of 3.4 and D = 1 holds the words 3 and 4.
    """
    return right.local_window(position.round(), lengths, D, N)


def window_cuts_fraction(position, lengths, D, N):
    """You cut off the fraction of the position.

    int(), .long() and .floor() move the window to the left. The distance |s - p| is taken from
    the real number p itself.
    """
    return right.local_window(position.long().to(position.dtype), lengths, D, N)


def window_over_padding(position, lengths, D, N):
    """Your window is not cut at the end of the sentence.

    After a sentence's last word comes padding. A position belongs to the window only if it is a
    real word too: s < length, which differs from sentence to sentence.
    """
    return _gaps(position, N).abs() <= D


def window_one_word_too_long(position, lengths, D, N):
    """Your window contains the first position of the padding.

    Positions count from 0, so the last real word of a sentence stands at length - 1: s < length,
    not s <= length.
    """
    return right.local_window(position, lengths + 1, D, N)


def window_of_D_words(position, lengths, D, N):
    """You take D for the width of the whole window.

    D is the distance from p to each end: the window reaches from p - D to p + D and is 2D wide.
    """
    return right.local_window(position, lengths, D / 2, N)


def window_moved_to_zero(position, lengths, D, N):
    """You move a position before the sentence to 0.

    A position may lie outside the sentence and stays there. The window is cut at the sentence's
    ends, not moved: around -1 with D = 2 it holds the words 0 and 1.
    """
    return right.local_window(position.clamp(min=0), lengths, D, N)


def window_moved_into_sentence(position, lengths, D, N):
    """You move a position outside the sentence to its first or last word.

    The window is cut at the sentence's ends, not moved: if p lies far away, no word is near it, and
    the window is empty.
    """
    last = (lengths - 1).to(position.dtype)
    return right.local_window(torch.minimum(position.clamp(min=0), last), lengths, D, N)


def window_to_the_left_open(position, lengths, D, N):
    """Your window is not limited on the left.

    s - p <= D holds for all words to the left of p, however far they are. The distance is an
    absolute value: |s - p| <= D.
    """
    return (_gaps(position, N) <= D) & _real(lengths, N)


def window_to_the_left(position, lengths, D, N):
    """Your window ends at p.

    It reaches as far to the right as to the left: the distance is |s - p|.
    """
    near = right.local_window(position, lengths, D, N)
    return near & (torch.arange(N) <= position.unsqueeze(1))


def window_moved_inside(position, lengths, D, N):
    """You move the window inside at the ends of a sentence.

    It is cut there, and then holds fewer words: p stays where it is.
    """
    last = (lengths - 1 - D).to(position.dtype)
    centre = torch.minimum(position, last).clamp(min=D)
    return right.local_window(centre, lengths, D, N)


def window_counts_from_one(position, lengths, D, N):
    """You count the source positions from 1.

    In this course the first word has position 0, and p is counted like it.
    """
    return right.local_window(position - 1, lengths, D, N)


# %% predictive_position


def position_of_batch(state, lengths, W, v):
    """You use the longest sentence's length for all sentences.

    S is the length of the sentence itself. With that of the longest sentence in the batch the
    position of a short one may fall on padding, and changes with its neighbours.
    """
    longest = lengths.max().expand_as(lengths)
    return right.predictive_position(state, longest, W, v)


def position_to_last_word(state, lengths, W, v):
    """You multiply the sigmoid by S - 1.

    Equation 9 has p = S sigmoid(...), a number between 0 and S. Counting positions from 0 does not
    change that.
    """
    return right.predictive_position(state, lengths - 1, W, v)


def position_as_share(state, lengths, W, v):
    """Your position is not multiplied by the sentence's length.

    The sigmoid gives a share between 0 and 1: how far into the sentence to look. Times S it is a
    position.
    """
    return right.predictive_position(state, torch.ones_like(lengths), W, v)


def position_without_sigmoid(state, lengths, W, v):
    """The sigmoid is missing.

    v^T tanh(W h) is any real number. The sigmoid makes it a share between 0 and 1, so that p lies
    inside the sentence.
    """
    return lengths * (torch.tanh(state @ W.T) @ v)


def position_without_tanh(state, lengths, W, v):
    """The tanh is missing.

    p = S sigmoid(v^T tanh(W h)). Without tanh, v^T W is a single vector, and the hidden layer has
    no use.
    """
    return lengths * torch.sigmoid(state @ W.T @ v)


def position_with_tanh_for_sigmoid(state, lengths, W, v):
    """tanh stands where the paper has the sigmoid.

    The outer function is a sigmoid, between 0 and 1; tanh gives negative shares too, and positions
    before the sentence. The inner one, of W h, is tanh.
    """
    return lengths * torch.tanh(torch.tanh(state @ W.T) @ v)


def position_with_sigmoid_twice(state, lengths, W, v):
    """A sigmoid stands where the paper has tanh.

    The hidden layer is tanh(W h), between -1 and 1; the sigmoid comes after v.
    """
    return lengths * torch.sigmoid(torch.sigmoid(state @ W.T) @ v)


def position_without_v(state, lengths, W, v):
    """v is not used.

    The hidden units are only added up. v says how much each of them moves the position, and in
    which direction.
    """
    return lengths * torch.sigmoid(torch.tanh(state @ W.T).sum(-1))


def position_rounded(state, lengths, W, v):
    """Your position is rounded.

    p stays a real number. Rounding cuts the graph too: its gradient is 0 everywhere, so W and v
    would never learn where to look.
    """
    return right.predictive_position(state, lengths, W, v).round()


def position_cut(state, lengths, W, v):
    """The position is detached from the graph, so W and v cannot learn.

    The values are right, but no gradient flows back: detach(), .data, .item(), no_grad() or a new
    tensor made from numbers ends the graph.
    """
    return right.predictive_position(state, lengths, W, v).detach()


def position_length_inside(state, lengths, W, v):
    """You multiply by the length inside the sigmoid.

    The sigmoid gives a share of the sentence, between 0 and 1; times the length it becomes a
    position. With the length inside, all positions lie between 0 and 1.
    """
    return torch.sigmoid(lengths * (torch.tanh(state @ W.T) @ v))


def position_with_activations_swapped(state, lengths, W, v):
    """Your sigmoid and tanh have changed places.

    The tanh is inside, the sigmoid outside: a position lies between 0 and the length, and a tanh
    may be negative.
    """
    return lengths * torch.tanh(torch.sigmoid(state @ W.T) @ v)


def position_plus_one(state, lengths, W, v):
    """You add 1 to the position.

    In the equation, the result lies between 0 and the length. Source positions are counted from 0
    here, so nothing has to be added.
    """
    return 1 + right.predictive_position(state, lengths, W, v)


def position_of_a_softmax(state, lengths, W, v):
    """A softmax over the batch stands in place of the sigmoid.

    Sentences do not compete: each one's share lies between 0 and 1 by itself, which is what a
    sigmoid gives.
    """
    return lengths * torch.softmax(torch.tanh(state @ W.T) @ v, dim=0)


# %% gaussian_weights


def _bell(weights, position, divisor):
    """exp(-(s - p)^2 / divisor), (B, N)."""
    return torch.exp(-_gaps(position, weights.shape[1]).square() / divisor)


def gaussian_of_D(weights, position, D):
    """Your sigma is D, not D / 2.

    The paper sets sigma = D / 2, so that the window ends two sigma from p, where the Gaussian has
    fallen to exp(-2) = 0.14.
    """
    return weights * _bell(weights, position, 2 * D**2)


def gaussian_without_two(weights, position, D):
    """The factor 2 in the denominator is missing.

    The exponent is -(s - p)^2 / (2 sigma^2), as in every Gaussian; sigma is D / 2 besides.
    """
    return weights * _bell(weights, position, (D / 2) ** 2)


def gaussian_without_square_of_sigma(weights, position, D):
    """You do not square sigma.

    The exponent is -(s - p)^2 / (2 sigma^2): both the distance and sigma are squared, so that only
    their ratio counts.
    """
    return weights * _bell(weights, position, 2 * (D / 2))


def gaussian_without_square_of_distance(weights, position, D):
    """Your distance is not squared.

    exp(-|s - p| ...) has a peak with a kink at p. In a Gaussian the distance is squared: words close
    to p keep almost all of their weight.
    """
    gaps = _gaps(position, weights.shape[1]).abs()
    return weights * torch.exp(-gaps / (2 * (D / 2) ** 2))


def gaussian_of_whole_D(weights, position, D):
    """You round sigma down to a whole number.

    D // 2 cuts off the half of an odd D. sigma = D / 2 is a real number.
    """
    sigma = torch.tensor(D // 2, dtype=weights.dtype)
    return weights * torch.exp(-(_gaps(position, weights.shape[1]) ** 2) / (2 * sigma**2))


def gaussian_renormalised(weights, position, D):
    """You divide the weights by their sum once more.

    Equation 10 multiplies the softmax's weights by the Gaussian and leaves them so: their sum is
    below 1, and says how close to p the attention is. A row of zeros becomes NaN besides.
    """
    cut = right.gaussian_weights(weights, position, D)
    return cut / cut.sum(-1, keepdim=True)


def gaussian_renormalised_safely(weights, position, D):
    """You divide the weights by their sum once more.

    Equation 10 multiplies the softmax's weights by the Gaussian and leaves them so: their sum is
    below 1, and says how close to p the attention is.
    """
    cut = right.gaussian_weights(weights, position, D)
    total = cut.sum(-1, keepdim=True)
    return cut / total.masked_fill(total == 0, 1.0)


def gaussian_as_density(weights, position, D):
    """Your Gaussian is divided by sigma sqrt(2 pi).

    That factor makes a density whose area is 1. Here the Gaussian is 1 at p, so that a word at p
    keeps all of its weight.
    """
    density = (D / 2) * (2 * torch.pi) ** 0.5
    return right.gaussian_weights(weights, position, D) / density


def gaussian_growing(weights, position, D):
    """The minus sign is missing.

    exp(+(s - p)^2 ...) grows with the distance: the farthest words would get the most.
    """
    return weights * _bell(weights, position, -2 * (D / 2) ** 2)


def gaussian_added(weights, position, D):
    """Your Gaussian is added to the weights.

    It multiplies them. Added, it would give weight to words outside the window and to padding.
    """
    return weights + _bell(weights, position, 2 * (D / 2) ** 2)


def gaussian_rounds(weights, position, D):
    """Your position is rounded.

    p is a real number, and the Gaussian is centred at it exactly. Through p the gradient flows
    back to what predicts it; the gradient of a rounded number is 0.
    """
    return right.gaussian_weights(weights, position.round(), D)


def gaussian_position_cut(weights, position, D):
    """The position is detached from the graph, so the decoder cannot learn where to look.

    The values are right, but no gradient reaches the position. The window is a yes or no that has
    no gradient; the Gaussian is the only way by which W and v of the position learn.
    """
    return right.gaussian_weights(weights, position.detach(), D)


def gaussian_counts_from_one(weights, position, D):
    """You count the source positions from 1.

    The first source word stands at position 0, as everywhere in Python, and the centre is counted in
    the same way.
    """
    return right.gaussian_weights(weights, position - 1, D)


# %% LocalAttention


class _Local(right.LocalAttention):
    """The right module in pieces, so that a mistake changes one of them."""

    def centred(self, query, mask, position):
        """p_t, (B,)."""
        if self.kind == "monotonic":
            return query.new_full(query.shape[:1], position)
        return right.predictive_position(query, mask.sum(1), self.W, self.v)

    def near(self, centre, mask):
        """The window (B, N)."""
        return right.local_window(centre, mask.sum(1), self.D, mask.shape[1])

    def shared(self, scores, window, centre):
        """Softmax over the window (B, N)."""
        lowest = torch.finfo(scores.dtype).min
        return scores.masked_fill(~window, lowest).softmax(1) * window

    def shaped(self, alpha, centre):
        """After the softmax (B, N)."""
        if self.kind == "monotonic":
            return alpha
        return right.gaussian_weights(alpha, centre, self.D)

    def averaged(self, weights, alpha, keys):
        """Context (B, d_k), of the weights or of those before the Gaussian."""
        return (weights[:, None] @ keys)[:, 0]

    def forward(self, query, keys, mask, position):
        centre = self.centred(query, mask, position)
        alpha = self.shared(self.score(query, keys), self.near(centre, mask), centre)
        weights = self.shaped(alpha, centre)
        return self.averaged(weights, alpha, keys), weights


class LocalSoftmaxOverAll(_Local):
    """Your softmax runs over the whole sentence and is cut to the window afterwards.

    The words outside the window have then taken their share already, and the weights inside sum to
    less than 1 before the Gaussian. Local attention never looks at words outside: the sum in the
    softmax's denominator runs over the window alone.
    """

    def shared(self, scores, window, centre):
        return scores.softmax(1) * window


class LocalSoftmaxOverSentence(_Local):
    """Your softmax runs over all real words and is cut to the window afterwards.

    The words outside the window have then taken their share already. Local attention never looks at
    them: the sum in the softmax's denominator runs over the window alone.
    """

    def forward(self, query, keys, mask, position):
        self.real = mask
        return super().forward(query, keys, mask, position)

    def shared(self, scores, window, centre):
        return super().shared(scores, self.real, centre) * window


class LocalCountsFromOne(_Local):
    """Your monotonic window stands one word too far to the right.

    The first target word has t = 0, as the first source word has: p = t, without a 1 added.
    """

    def centred(self, query, mask, position):
        return super().centred(query, mask, position + (self.kind == "monotonic"))


class LocalScoresZeroed(_Local):
    """Scores outside the window are set to 0, but exp(0) is 1.

    A score of 0 is an ordinary score and takes its share. To get a weight of 0, a score would have
    to be minus infinity.
    """

    def shared(self, scores, window, centre):
        return (scores * window).softmax(1) * window


class LocalIsGlobal(_Local):
    """The window is not used: you attend to all real words.

    Only words with |s - p| <= D may get weight. The Gaussian alone makes far words small, not 0.
    """

    def near(self, centre, mask):
        return mask


class LocalWithoutGaussian(_Local):
    """The Gaussian is missing for the predicted position.

    "predictive" multiplies the softmax's weights by the Gaussian around p (equation 10). Without it
    no gradient reaches W and v: the window is a yes or no, and p would never be learned.
    """

    def shaped(self, alpha, centre):
        return alpha


class LocalMonotonicGaussian(_Local):
    """Your monotonic kind has a Gaussian; only the predictive kind has one.

    "monotonic" uses the softmax over the window as it is (equation 7). The paper has the Gaussian
    for the predicted position only, where the gradient needs it.
    """

    def shaped(self, alpha, centre):
        return right.gaussian_weights(alpha, centre, self.D)


class LocalAlwaysMonotonic(_Local):
    """Your window lies around the target word's position for both kinds.

    "predictive" looks around p = S sigmoid(v^T tanh(W h)), which W and v predict from the query;
    `position` is for "monotonic" alone.
    """

    def centred(self, query, mask, position):
        return query.new_full(query.shape[:1], position)


class LocalGaussianInScores(_Local):
    """Your scores are multiplied by the Gaussian before the softmax.

    The Gaussian multiplies the weights, after the softmax. A score that is multiplied by a small
    number comes close to 0, which for a negative score means more weight, not less.
    """

    def shared(self, scores, window, centre):
        return super().shared(super().shaped(scores, centre), window, centre)

    def shaped(self, alpha, centre):
        return alpha


class LocalRenormalised(_Local):
    """Your weights are divided by their sum after the Gaussian.

    The paper leaves them as they are, with a sum below 1. Adding the Gaussian's exponent to the
    scores before the softmax is the same as dividing: the softmax makes the sum 1 again.
    """

    def shaped(self, alpha, centre):
        cut = super().shaped(alpha, centre)
        total = cut.sum(1, keepdim=True)
        return cut / total.masked_fill(total == 0, 1.0)


class LocalSigmaIsD(_Local):
    """Your sigma is D, not D / 2.

    The paper sets sigma = D / 2, so that the window ends two sigma from p.
    """

    def shaped(self, alpha, centre):
        return alpha if self.kind == "monotonic" else gaussian_of_D(alpha, centre, self.D)


class LocalRounds(_Local):
    """Your predicted position is rounded.

    p stays a real number, in the window as in the Gaussian. The gradient of a rounded number is 0,
    so that W and v would never learn where to look.
    """

    def centred(self, query, mask, position):
        return super().centred(query, mask, position).round()


class LocalPositionOfN(_Local):
    """Your predicted position is a share of N, not of the sentence's length.

    N is the length of the longest sentence in the batch, with padding for the others. S is the
    number of real words of the sentence itself: count the True of its mask.
    """

    def centred(self, query, mask, position):
        return super().centred(query, torch.ones_like(mask), position)


class LocalOverPadding(_Local):
    """Your window is not cut at the end of the sentence.

    After a sentence's last word comes padding, and it is attended to here. Padding is never in
    the window, also not where a short sentence has ended long ago.
    """

    def near(self, centre, mask):
        return super().near(centre, torch.ones_like(mask))


class LocalOpenWindow(_Local):
    """Your window leaves out its ends.

    The paper's window is [p - D, p + D], with both ends: |s - p| <= D.
    """

    def near(self, centre, mask):
        return window_without_ends(centre, mask.sum(1), self.D, mask.shape[1])


class LocalWindowOfD(_Local):
    """You take D for the width of the whole window.

    D is the distance from p to each end: the window reaches from p - D to p + D.
    """

    def near(self, centre, mask):
        return window_of_D_words(centre, mask.sum(1), self.D, mask.shape[1])


class LocalEmptyNan(_Local):
    """A window without a real word gives NaN.

    If every score of a row is minus infinity the softmax divides 0 by 0. Such windows occur: a
    monotonic one after the end of a short sentence, for example. Weights and context must be 0.
    """

    def shared(self, scores, window, centre):
        return scores.masked_fill(~window, -torch.inf).softmax(1)


class LocalEmptyUniform(_Local):
    """A window without a real word gives uniform weights.

    A large negative number in place of minus infinity avoids NaN, but if all scores of a row are
    that same number the softmax is uniform. Weights and context of such a row must be 0.
    """

    def shared(self, scores, window, centre):
        return scores.masked_fill(~window, torch.finfo(scores.dtype).min).softmax(1)


class LocalContextWithoutGaussian(_Local):
    """You take the context with the weights before the Gaussian.

    The weights that are returned are right, but the context does not use them. It is the sum of the
    keys, each with its weight after the Gaussian.
    """

    def averaged(self, weights, alpha, keys):
        return (alpha[:, None] @ keys)[:, 0]


class LocalPositionCut(_Local):
    """The predicted position is detached from the graph, so W and v cannot learn.

    The values are right, but no gradient reaches W and v. It flows through the Gaussian into p:
    detach(), .item(), .data or no_grad() on the way ends the graph.
    """

    def centred(self, query, mask, position):
        return super().centred(query, mask, position).detach()


class LocalSwapsResults(_Local):
    """Weights and context are returned in the wrong order.

    forward returns the context first, then the weights.
    """

    def forward(self, query, keys, mask, position):
        context, weights = super().forward(query, keys, mask, position)
        return weights, context
