"""Mistakes that people really make in the notebook `captioning/attention`.

Each function or class is one wrong implementation; the first line of its docstring is the title of
the card, the rest the hint.
"""

import torch

from solutions.captioning import attention as right

# %% annotation_vectors


def map_reshaped(feature_map):
    """You reshape the numbers instead of reordering them: the channels of a place are not
    together.

    In memory the numbers of one channel stand next to each other. reshape and view keep that order
    and only cut it into other pieces. First the places become one axis, (B, C, HW), then that axis
    and the channels change places.
    """
    pictures, channels = feature_map.shape[:2]
    return feature_map.reshape(pictures, -1, channels)


def map_by_columns(feature_map):
    """Your places are listed column by column.

    Place i is in row i // W and column i % W: all places of the first row come first. The order of
    the axes H and W must not change on the way.
    """
    return right.annotation_vectors(feature_map.transpose(2, 3))


def map_with_channels_first(feature_map):
    """Your channels come before the places.

    (B, C, HW) has one row for each channel. Attention chooses between places, so each place needs a
    row of its own with its C numbers: (B, HW, C).
    """
    return feature_map.flatten(2)


def map_kept_as_grid(feature_map):
    """Your places are still a grid.

    (B, H, W, C) has the right numbers in the right order. Attention wants a list of places: rows and
    columns become one axis of HW.
    """
    return feature_map.permute(0, 2, 3, 1)


def map_as_one_vector(feature_map):
    """Your picture became a single vector.

    Flattening everything is what a classifier does before its last layers; then nobody can tell
    any more which number came from where. Only rows and columns become one axis here.
    """
    return feature_map.flatten(1)


def map_averaged(feature_map):
    """You average all places.

    The mean over the places says what is in the picture, but not where. Every place keeps its own
    vector; attention does the averaging later, with weights.
    """
    return feature_map.mean(dim=(2, 3))


def map_with_places_first(feature_map):
    """Your batch is not the first axis.

    In this course tensors are batch first: (B, HW, C).
    """
    return right.annotation_vectors(feature_map).transpose(0, 1)


# %% SoftAttention


class _Soft(right.SoftAttention):
    """The right answer in pieces; each mistake replaces one of them."""

    def energies(self, query, annotations):
        """e, (B, N)."""
        return torch.tanh((query @ self.W.T)[:, None] + annotations @ self.U.T) @ self.v

    def spread(self, energies):
        """alpha, (B, N)."""
        return torch.softmax(energies, dim=1)

    def forward(self, query, annotations):
        """The gated context and the weights."""
        weights = self.spread(self.energies(query, annotations))
        mean = (weights.unsqueeze(2) * annotations).sum(1)
        return mean * self.beta(query).reshape(-1, 1), weights


class SoftWithoutGate(_Soft):
    """The context is not gated.

    Before the context is returned it is multiplied by beta, one number for each picture in this
    step: for a word like "of" the decoder may close the gate and rely on its own state.
    """

    def forward(self, query, annotations):
        weights = self.spread(self.energies(query, annotations))
        return (weights.unsqueeze(2) * annotations).sum(1), weights


class SoftGatedWeights(_Soft):
    """You multiply the gate into the weights that you return.

    beta belongs to the context alone. The weights alpha say where the model looks and sum to 1, also
    when the gate is nearly closed; the penalty of the next exercise needs that.
    """

    def forward(self, query, annotations):
        context, weights = super().forward(query, annotations)
        return context, weights * self.beta(query).unsqueeze(1)


class SoftGatedScores(_Soft):
    """Your gate multiplies the scores, not the context.

    beta says how much of the look goes into the next word, and leaves open where to look: it
    multiplies the average of the annotations.
    """

    def forward(self, query, annotations):
        gate = self.beta(query).reshape(-1, 1)
        weights = self.spread(gate * self.energies(query, annotations))
        return (weights.unsqueeze(2) * annotations).sum(1), weights


class SoftWithoutTanh(_Soft):
    """The tanh is missing.

    e = v^T tanh(W h + U a). Without tanh, v^T W h is the same number for all places of a picture, and
    the softmax takes no notice of it: where the model looks would not depend on the sentence.
    """

    def energies(self, query, annotations):
        return ((query @ self.W.T)[:, None] + annotations @ self.U.T) @ self.v


class SoftWithTanhOfEach(_Soft):
    """Where your model looks does not depend on the state.

    State and annotation are added first, then comes tanh: v^T tanh(W h + U a). If each has a tanh of
    its own, the state adds the same number to all places of a picture, and the softmax takes no
    notice of it, just as if the state had been left out.
    """

    def energies(self, query, annotations):
        return (torch.tanh(query @ self.W.T)[:, None] + torch.tanh(annotations @ self.U.T)) @ self.v


class SoftOverBatch(_Soft):
    """Your softmax runs over the batch.

    The places of one picture compete with each other, not with those of other pictures: the
    softmax goes over the axis of the places, so that each row sums to 1.
    """

    def spread(self, energies):
        return torch.softmax(energies, dim=0)


class SoftWithSigmoid(_Soft):
    """Your weights are sigmoids, not a softmax.

    A sigmoid looks at each place by itself. Weights compete: softmax over the places, so that they
    sum to 1.
    """

    def spread(self, energies):
        return torch.sigmoid(energies)


class SoftReturnsEnergies(_Soft):
    """Your energies e are returned in place of the weights.

    The second result is alpha, after the softmax: where the model looked, as shares that sum to 1.
    """

    def forward(self, query, annotations):
        context, _ = super().forward(query, annotations)
        return context, self.energies(query, annotations)


class SoftBetaWithoutSigmoid(_Soft):
    """beta has no sigmoid.

    beta = sigmoid(w h + b) is a number between 0 and 1, like a valve. Without the sigmoid it may
    turn the context around or make it many times larger.
    """

    def beta(self, query):
        return self.gate(query).squeeze(1)


class SoftBetaKeepsAxis(_Soft):
    """Your beta keeps an axis of size 1.

    The linear layer gives (B, 1). beta is one number for each picture, (B,): take the last axis
    away, and only that one, since a batch may have one picture.
    """

    def beta(self, query):
        return torch.sigmoid(self.gate(query))


class SoftBetaClosed(_Soft):
    """The gate is the wrong way round.

    beta near 1 means that the picture counts. The context is multiplied by beta, not by 1 - beta.
    """

    def forward(self, query, annotations):
        weights = self.spread(self.energies(query, annotations))
        mean = (weights.unsqueeze(2) * annotations).sum(1)
        return mean * (1 - self.beta(query)).unsqueeze(1), weights


# %% doubly_stochastic_penalty


def penalty_over_padding(weights, mask):
    """The mask is not used.

    After the last word of a caption the model still has weights, and they mean nothing. Only looks
    at real words are added up.
    """
    looks = weights.sum(1)
    return ((1 - looks) ** 2).sum(1).mean()


def penalty_over_places(weights, mask):
    """You add up the weights over the places.

    Over the places every row sums to 1 already. The penalty looks the other way: what one place
    gets from all words together, the sum over t, should be 1.
    """
    missing = 1 - weights.sum(2)  # (B, T)
    return (missing.square() * mask).sum(1).mean()


def penalty_of_each_weight(weights, mask):
    """You square before you sum over the words.

    (1 - sum_t alpha)^2: first a place's looks are added up, then the difference to 1 is squared. A
    place that gets 0.5 twice is fine.
    """
    each = (1 - weights).square() * mask.unsqueeze(2)
    return each.sum((1, 2)).mean()


def penalty_without_square(weights, mask):
    """Your differences are not squared.

    Without the square, too many looks at one place make up for too few at another, and the sum is
    N minus the number of words whatever the model does.
    """
    looks = (weights * mask.unsqueeze(2)).sum(1)
    return (1 - looks).sum(1).masked_fill(~mask.any(1), 0.0).mean()


def penalty_with_mean_of_words(weights, mask):
    """You average the looks over the words.

    The sum over t is meant: all looks together at one place should come to 1. Their mean would be
    compared with the wrong number.
    """
    count = mask.sum(1, keepdim=True).clamp(min=1)
    looks = (weights * mask.unsqueeze(2)).sum(1) / count
    return (1 - looks).square().sum(1).masked_fill(~mask.any(1), 0.0).mean()


def penalty_with_mean_of_places(weights, mask):
    """You average the squares over the places.

    Equation 14 adds up over the places; only over the batch the mean is taken.
    """
    looks = (weights * mask.unsqueeze(2)).sum(1)
    return (1 - looks).square().mean(1).masked_fill(~mask.any(1), 0.0).mean()


def penalty_summed_over_batch(weights, mask):
    """You add up the penalties of all pictures.

    The mean over the batch is taken, so that the penalty does not grow with the number of pictures.
    """
    looks = (weights * mask.unsqueeze(2)).sum(1)
    return (1 - looks).square().sum(1).masked_fill(~mask.any(1), 0.0).sum()


def penalty_of_empty_captions(weights, mask):
    """You punish a caption without any real word for not looking.

    No word, no look: each of its N places would add 1. Such a caption has a penalty of 0.
    """
    looks = (weights * mask.unsqueeze(2)).sum(1)
    return (1 - looks).square().sum(1).mean()


def penalty_mean_of_captions_with_words(weights, mask):
    """You leave captions without words out of the mean.

    They add 0, but they are pictures of the batch: the sum is divided by B.
    """
    looks = (weights * mask.unsqueeze(2)).sum(1)
    some = mask.any(1)
    total = ((1 - looks).square().sum(1) * some).sum()
    return total / some.sum().clamp(min=1)


def _of_looks(deviation, mask):
    """The mean of what each picture's places cost, (B, N) -> ()."""
    return deviation.sum(1).masked_fill(~mask.any(1), 0.0).mean()


def _looks(weights, mask):
    """What each place gets from all real words, (B, N)."""
    return weights.masked_fill(~mask.unsqueeze(2), 0.0).sum(1)


def penalty_of_absolutes(weights, mask):
    """You take the absolute value, not the square.

    (1 - sum_t alpha)^2: squared, one place that is far from 1 costs more than several that are a
    little off.
    """
    return _of_looks((1 - _looks(weights, mask)).abs(), mask)


def penalty_for_a_fair_share(weights, mask):
    """You compare each place with its fair share of the words, not with 1.

    T words shared among N places would be T / N for each. The paper's penalty compares what a place
    gets with 1, whatever T and N are.
    """
    share = mask.sum(1, keepdim=True) / weights.shape[2]
    return _of_looks((share - _looks(weights, mask)).square(), mask)


def penalty_of_neglect_alone(weights, mask):
    """Only places that get less than 1 cost something.

    The square grows in both directions: a place that is looked at too often costs as well.
    """
    return _of_looks((1 - _looks(weights, mask)).relu().square(), mask)


def penalty_over_real_words(weights, mask):
    """You divide the sum by the number of real words, not of pictures.

    The penalty of a picture is one sum over its places. The mean is over the pictures.
    """
    total = _of_looks((1 - _looks(weights, mask)).square(), mask) * len(mask)
    return total / mask.sum().clamp(min=1)


# %% hard_attention


def _look(weights, values, place):
    """The three results for places (B,)."""
    rows = torch.arange(len(place))
    sample = torch.nn.functional.one_hot(place, weights.shape[1]).to(weights.dtype)
    return values[rows, place], sample, weights[rows, place].log()


def _drawn(weights, generator):
    return torch.multinomial(weights.detach(), 1, generator=generator)[:, 0]


def hard_takes_the_largest(weights, values, generator=None):
    """You always take the place with the largest weight.

    argmax never looks anywhere else, so the model cannot find out that another place would have
    been better. Hard attention draws: a place of weight 0.2 is taken one time in five.
    """
    return _look(weights, values, weights.argmax(1))


def hard_ignores_generator(weights, values, generator=None):
    """The generator is not used.

    With a generator the same seed gives the same places, so that a run can be repeated. Pass it on
    to what draws: torch.multinomial and torch.rand take generator=generator, and None is allowed.
    """
    return _look(weights, values, _drawn(weights, None))


def hard_with_fixed_seed(weights, values, generator=None):
    """You set a seed inside the function.

    Then every call draws the same numbers, and what has been drawn says nothing about the weights.
    Whoever calls the function decides about the seed, with the generator that is passed.
    """
    torch.manual_seed(0)
    return _look(weights, values, _drawn(weights, None))


def hard_with_soft_context(weights, values, generator=None):
    """Your context is soft: the mean of all values.

    Hard attention sees one place only. Its context is the value at the place that was drawn, the
    sum of s_i a_i with the one-hot sample s, not with the weights.
    """
    _, sample, log_prob = _look(weights, values, _drawn(weights, generator))
    return torch.einsum("bn,bnd->bd", weights, values), sample, log_prob


def hard_with_probability(weights, values, generator=None):
    """Your third result is the probability, not its logarithm.

    REINFORCE needs log p: its gradient is the gradient of p divided by p, so that a place counts the
    same whether it is drawn often or seldom.
    """
    context, sample, log_prob = _look(weights, values, _drawn(weights, generator))
    return context, sample, log_prob.exp()


def hard_with_negative_logarithm(weights, values, generator=None):
    """Your logarithm has the wrong sign.

    log_prob is log p itself, which is never above 0. The minus sign belongs to the loss of the next
    exercise.
    """
    context, sample, log_prob = _look(weights, values, _drawn(weights, generator))
    return context, sample, -log_prob


def hard_with_zero_times_infinity(weights, values, generator=None):
    """0 times the logarithm of 0 is not a number.

    The logarithm of a weight of 0 is minus infinity, and 0 times infinity is NaN, which spoils the
    sum. First pick the weight that was drawn, which is never 0, then take its logarithm.
    """
    context, sample, _ = _look(weights, values, _drawn(weights, generator))
    return context, sample, (sample * weights.log()).sum(1)


def hard_with_place_for_sample(weights, values, generator=None):
    """Your sample is the number of the place, not a one-hot row.

    (B,) places hold the same information, but what comes after expects one row for each picture, as
    long as the weights: 1 at the place drawn and 0 elsewhere.
    """
    place = _drawn(weights, generator)
    context, _, log_prob = _look(weights, values, place)
    return context, place, log_prob


def hard_straight_through(weights, values, generator=None):
    """You let a gradient go through the sample as if it were the weights.

    sample + weights - weights.detach() is the straight-through trick: it has the values of hard
    attention and the gradient of soft attention, which is not that of what was computed. In Xu's
    hard attention the sample is a constant, and weights learn through log p alone.
    """
    _, sample, log_prob = _look(weights, values, _drawn(weights, generator))
    sample = sample + weights - weights.detach()
    return torch.einsum("bn,bnd->bd", sample, values), sample, log_prob


def hard_cut_from_the_graph(weights, values, generator=None):
    """You compute log_prob from a copy of the weights that has no gradient.

    The draw itself needs no gradient, so weights.detach() is fine there. But log p is the only way
    back to the weights: it is computed from the weights themselves.
    """
    return _look(weights.detach(), values, _drawn(weights, generator))


# %% reinforce_loss


def _masked(log_prob, mask):
    """sum_t m_t log p, (B,)."""
    return torch.where(mask, log_prob, 0.0).sum(1)


def reinforce_without_minus(log_prob, reward, baseline, mask):
    """The minus sign is missing.

    An optimiser makes the loss small. What should become large, the log p of looks that paid off,
    gets a minus sign; without it the model unlearns them.
    """
    return -right.reinforce_loss(log_prob, reward, baseline, mask)


def reinforce_without_baseline(log_prob, reward, baseline, mask):
    """The baseline is not used.

    R - b is what counts: better than usual or worse. If all rewards are positive, R alone makes every
    look more probable, also the bad ones.
    """
    return right.reinforce_loss(log_prob, reward, 0.0, mask)


def reinforce_adds_baseline(log_prob, reward, baseline, mask):
    """Your baseline is added to the reward.

    It is subtracted: R - b is above 0 for captions that are better than usual, and below 0 for those
    that are worse.
    """
    return right.reinforce_loss(log_prob, reward, -baseline, mask)


def reinforce_over_padding(log_prob, reward, baseline, mask):
    """The mask is not used.

    After the last word nothing was looked at that could have paid off. Only the log p of real words
    are added up.
    """
    return right.reinforce_loss(log_prob, reward, baseline, torch.ones_like(mask))


def reinforce_with_mean_of_words(log_prob, reward, baseline, mask):
    """You average log p over the words of a caption.

    The probability of all looks of a caption is a product, its logarithm the sum over t. Divided by
    its length, a look in a long caption would count less than one in a short caption.
    """
    count = mask.sum(1).clamp(min=1)
    return -((reward - baseline).detach() * _masked(log_prob, mask) / count).mean()


def reinforce_mean_of_all_words(log_prob, reward, baseline, mask):
    """Your sum is divided by the number of words of the batch.

    The loss is the mean over the pictures: the sum over words and pictures, divided by B.
    """
    total = ((reward - baseline).detach() * _masked(log_prob, mask)).sum()
    return -total / mask.sum().clamp(min=1)


def reinforce_sum_of_batch(log_prob, reward, baseline, mask):
    """You add up over the pictures.

    The loss is the mean over the batch, so that it does not grow with the number of pictures.
    """
    return -((reward - baseline).detach() * _masked(log_prob, mask)).sum()


def reinforce_standardised(log_prob, reward, baseline, mask):
    """You divide the advantage by its standard deviation.

    Some implementations do that, but it is not in the formula: R - b stands there as it is.
    """
    advantage = (reward - torch.as_tensor(baseline)).detach()
    advantage = advantage / (advantage.std(unbiased=False) + 1e-8)
    return -(advantage * _masked(log_prob, mask)).mean()


def reinforce_baseline_outside(log_prob, reward, baseline, mask):
    """You subtract the baseline from the product, not from the reward.

    There it changes no gradient, and so it takes nothing from the noise: it belongs to the reward,
    before the logarithm is multiplied.
    """
    b = torch.as_tensor(baseline).detach()
    return -(reward.detach() * _masked(log_prob, mask) - b).mean()


def reinforce_reward_not_cut(log_prob, reward, baseline, mask):
    """You let a gradient flow into the reward.

    The reward is a number that says how good the caption was, not something to be changed: R - b is
    taken out of the graph, with detach(). If a network computed b, this loss would push b up or down
    where it should only tell what is usual.
    """
    return -((reward - baseline) * _masked(log_prob, mask)).mean()


def reinforce_looks_cut(log_prob, reward, baseline, mask):
    """You detach log_prob from the graph, and not the reward.

    It is the other way round: the reward is a number, and log p leads back to the weights that are
    to change.
    """
    return -((reward - baseline) * _masked(log_prob.detach(), mask)).mean()
