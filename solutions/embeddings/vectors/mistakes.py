"""Typical wrong answers to the exercises of this assignment, each with the hint it deserves.

A function or class here is a mistake that people really make. The first line of its docstring is
the headline a student sees, the rest is the hint. Hints teach; they never show the code.
"""

import torch
import torch.nn.functional as F

from solutions.embeddings import vectors as right

# %% negative_sampling_loss


def _dots(center, context, negatives):
    """The dot products with the true neighbours (B,) and with the negatives (B, K)."""
    return (context * center).sum(-1), torch.einsum("bkd,bd->bk", negatives, center)


def mean_over_negatives(center, context, negatives):
    """You take the mean over the negatives, not their sum.

    Equation 4 sums over k: each of the K random words asks a question of its own, and each answer
    counts as much as that for the true neighbour. Only over the batch is the mean taken.
    """
    yes, no = _dots(center, context, negatives)
    return -(F.logsigmoid(yes) + F.logsigmoid(-no).mean(-1)).mean()


def mean_over_all_terms(center, context, negatives):
    """You take the mean over the K + 1 terms of a pair, not their sum.

    The terms of one pair, one for the neighbour and K for the negatives, are added up. Only over
    the batch is the mean taken; a loss function that averages over everything it is given does
    more than that.
    """
    yes, no = _dots(center, context, negatives)
    return -torch.cat([F.logsigmoid(yes).unsqueeze(-1), F.logsigmoid(-no)], -1).mean()


def sum_over_batch(center, context, negatives):
    """Your loss is summed over the batch, not averaged.

    With a sum the step that is taken in training grows with the number of pairs in a batch. Sum
    over the K negatives of a pair, then take the mean over the B pairs.
    """
    return right.negative_sampling_loss(center, context, negatives) * len(center)


def one_loss_per_pair(center, context, negatives):
    """You return one loss for each pair, but a single number is wanted.

    The result has shape (B,). What training minimises is one number: the mean over the batch.
    """
    yes, no = _dots(center, context, negatives)
    return -(F.logsigmoid(yes) + F.logsigmoid(-no).sum(-1))


def objective_not_negated(center, context, negatives):
    """Your sign is that of the paper's objective, but a loss is wanted.

    Equation 4 is a log-likelihood, which is never positive and should become as large as possible.
    A loss should become as small as possible: put a minus before it, or training makes the vectors
    worse.
    """
    return -right.negative_sampling_loss(center, context, negatives)


def negatives_rewarded(center, context, negatives):
    """The minus inside the sigmoid of the negatives is missing.

    sigma(u.v) is the probability of a yes. For a random word "no" is the right answer, and its
    probability is 1 - sigma(u.v) = sigma(-u.v). Without that minus all words are pulled together,
    and a loss of 0 is reached by making every dot product large.
    """
    yes, no = _dots(center, context, negatives)
    return -(F.logsigmoid(yes) + F.logsigmoid(no).sum(-1)).mean()


def neighbour_punished(center, context, negatives):
    """Your minus inside the sigmoid is at the neighbour, not at the negatives.

    sigma(u.v) is the probability of a yes, the right answer for the true neighbour; sigma(-u.v)
    that of a no, the right answer for a random word. Here it is the other way round.
    """
    yes, no = _dots(center, context, negatives)
    return -(F.logsigmoid(-yes) + F.logsigmoid(no).sum(-1)).mean()


def negatives_subtracted(center, context, negatives):
    """Your negatives' terms are subtracted from the neighbour's, not added.

    All K + 1 terms are logarithms of the probability of a right answer, and all of them count in
    the same direction. That a word is a negative shows in the minus inside its sigmoid alone.
    """
    yes, no = _dots(center, context, negatives)
    return -(F.logsigmoid(yes) - F.logsigmoid(-no).sum(-1)).mean()


def negatives_against_context(center, context, negatives):
    """Your negatives are compared with the context, not with the centre.

    The question is always about the centre: is this word a neighbour of v? The random words take
    the place of the context word u, so their vectors meet v, never u.
    """
    yes, _ = _dots(center, context, negatives)
    no = torch.einsum("bkd,bd->bk", negatives, context)
    return -(F.logsigmoid(yes) + F.logsigmoid(-no).sum(-1)).mean()


def negatives_forgotten(center, context, negatives):
    """The negatives are not used.

    If only true neighbours are seen, the answer yes is always right: the loss falls to 0 when all
    vectors grow in the same direction, and nothing is learned. The K random words prevent that.
    """
    yes, _ = _dots(center, context, negatives)
    return -F.logsigmoid(yes).mean()


def neighbour_forgotten(center, context, negatives):
    """The true neighbour is not used.

    If only random words are seen, the answer no is always right. The term of the context word,
    -log sigma(u.v), is missing.
    """
    _, no = _dots(center, context, negatives)
    return -F.logsigmoid(-no).sum(-1).mean()


def neighbour_counted_for_each_negative(center, context, negatives):
    """You count the neighbour's term K times.

    It was added to each of the K terms of the negatives before the sum over k. It stands outside
    that sum and counts once.
    """
    yes, no = _dots(center, context, negatives)
    return -(F.logsigmoid(yes).unsqueeze(-1) + F.logsigmoid(-no)).sum(-1).mean()


def negatives_of_all_pairs(center, context, negatives):
    """You compare every centre with the negatives of all pairs.

    The K negatives in row b of the tensor were drawn for pair b; its centre meets these only. A
    matrix product over everything makes B times as many.
    """
    yes, _ = _dots(center, context, negatives)
    no = center @ negatives.flatten(0, 1).T  # (B, B K)
    return -(F.logsigmoid(yes) + F.logsigmoid(-no).sum(-1)).mean()


def sum_inside_the_logarithm(center, context, negatives):
    """You sum the dot products of the negatives before the log sigmoid.

    That asks one question about the sum of the K random words. Each of them is a question of its
    own: first log sigma(-u_k.v) for each k, then the sum.
    """
    yes, no = _dots(center, context, negatives)
    return -(F.logsigmoid(yes) + F.logsigmoid(-no.sum(-1))).mean()


def sigmoid_forgotten(center, context, negatives):
    """The log sigmoid is missing: you return bare dot products.

    A sum of dot products has no smallest value; training would let the vectors grow for ever.
    log sigma(x) levels off where the answer is right and sure.
    """
    yes, no = _dots(center, context, negatives)
    return -(yes - no.sum(-1)).mean()


def logarithm_forgotten(center, context, negatives):
    """The logarithm is missing: these are sums of probabilities.

    The sigmoid gives the probability of a right answer, the loss is made of minus its logarithm.
    Without the logarithm, an answer that is quite wrong gets hardly any gradient.
    """
    yes, no = _dots(center, context, negatives)
    return -(torch.sigmoid(yes) + torch.sigmoid(-no).sum(-1)).mean()


def softmax_over_words(center, context, negatives):
    """You compute a softmax over the neighbour and the negatives.

    It asks one question with K + 1 possible answers: which of these words is the neighbour?
    Negative sampling asks K + 1 questions whose answers are yes or no, with a sigmoid each.
    """
    yes, no = _dots(center, context, negatives)
    return -torch.cat([yes.unsqueeze(-1), no], -1).log_softmax(-1)[:, 0].mean()


def cosine_for_dot_product(center, context, negatives):
    """You take the cosine in place of the dot product.

    The cosine lies between -1 and 1, so that the model could never be more than 73 % sure of
    anything. The length of a vector counts in training; people take the cosine afterwards, to
    compare the vectors they have learned.
    """
    v, u, n = (F.normalize(x, dim=-1) for x in (center, context, negatives))
    return right.negative_sampling_loss(v, u, n)


def scaled_dot_product(center, context, negatives):
    """Your dot products are divided by the square root of d.

    That is the scaling of the Transformer, four years later. Here the bare dot product goes into
    the sigmoid.
    """
    return right.negative_sampling_loss(center / center.shape[-1] ** 0.5, context, negatives)


def infinite_when_sure(center, context, negatives):
    """The loss is infinite or NaN where dot products are large.

    sigma(-1000) rounds to 0 and sigma(1000) to 1, so that log sigma(x) and log(1 - sigma(x)) take
    the logarithm of 0; exp(1000) is too large for any float. Yet log sigma(-1000) is about -1000.
    Use a function that computes log sigma in one step; torch has one.
    """
    yes, no = _dots(center, context, negatives)
    return -(torch.sigmoid(yes).log() + torch.sigmoid(-no).log().sum(-1)).mean()


def cut_off_when_sure(center, context, negatives):
    """Your loss is cut off at 100 where the model is sure and wrong.

    torch's binary_cross_entropy takes probabilities, and cuts their logarithms off at -100 because
    sigma(-1000) has been rounded to 0 by then. The loss there must be about 1000, and its gradient
    must not vanish. Work with the dot products themselves, not with probabilities.
    """
    yes, no = _dots(center, context, negatives)
    terms = (torch.sigmoid(yes).log(), torch.sigmoid(-no).log())
    kept, others = (term.clamp(min=-100) for term in terms)
    return -(kept + others.sum(-1)).mean()


def loss_detached(center, context, negatives):
    """The loss is detached from the graph, so the vectors cannot learn.

    The value is right, but no gradient flows back: detach(), .item(), .data, no_grad() or a new
    tensor made from a number ends the graph.
    """
    return right.negative_sampling_loss(center, context, negatives).detach()


def negatives_detached(center, context, negatives):
    """The negatives are detached from the graph.

    The value is right, but no gradient reaches the negatives. Their vectors learn too: a random
    word is pushed away from the centre as the neighbour is pulled towards it.
    """
    return right.negative_sampling_loss(center, context, negatives.detach())


# %% NeuralLanguageModel


class _Model(right.NeuralLanguageModel):
    """The right model in pieces, so that a mistake changes one of them."""

    def join(self, embedded):
        """The vectors (B, n, m) side by side, x (B, n m)."""
        return embedded.flatten(1)

    def inside(self, x):
        """The hidden layer (B, h)."""
        return torch.tanh(self.hidden(x))

    def score(self, x):
        """The logits (B, V)."""
        return self.output(self.inside(x)) + self.direct(x)

    def forward(self, context):
        return self.score(self.join(self.embedding(context)))


class ModelWithoutTanh(_Model):
    """The tanh is missing.

    U (d + H x) + W x is one linear map of x, however many layers it is written in: the words of
    the context could only vote one by one, never together. tanh makes the hidden layer more than
    that.
    """

    def inside(self, x):
        return self.hidden(x)


class ModelReluForTanh(_Model):
    """A ReLU stands where the paper has tanh.

    The hidden layer is tanh(d + H x). A ReLU makes another model.
    """

    def inside(self, x):
        return torch.relu(self.hidden(x))


class ModelTanhOfVectors(_Model):
    """You take the tanh of the words' vectors, not of the hidden layer.

    tanh(d + H x): the vectors pass through H first, and go as they are into W.
    """

    def join(self, embedded):
        return torch.tanh(embedded.flatten(1))

    def inside(self, x):
        return self.hidden(x)


class ModelTanhOutside(_Model):
    """Your tanh stands outside: you take it of the logits.

    tanh squeezes the scores into (-1, 1), so that no word can ever be more than e^2 times as
    probable as another. tanh belongs to the hidden layer, before U.
    """

    def score(self, x):
        return torch.tanh(self.output(self.hidden(x)) + self.direct(x))


class ModelWithoutDirect(_Model):
    """The direct connections are missing.

    y = b + W x + U tanh(d + H x): the layer direct leads past the hidden layer, from the vectors
    straight to the scores.
    """

    def score(self, x):
        return self.output(self.inside(x))


class ModelDirectOnly(_Model):
    """The hidden layer is not used.

    y = b + W x + U tanh(d + H x). With b + W x alone the words of the context could only vote one
    by one, never together.
    """

    def score(self, x):
        return self.direct(x) + self.output.bias


class ModelForgetsHiddenBias(_Model):
    """The bias d of the hidden layer is missing.

    tanh(d + H x): d shifts each hidden unit, so that it need not be 0 where H x is 0.
    """

    def inside(self, x):
        return torch.tanh(x @ self.hidden.weight.T)


class ModelForgetsOutputBias(_Model):
    """The bias b of the scores is missing.

    y = b + ...: b holds how frequent each word is whatever stands before it.
    """

    def score(self, x):
        return self.inside(x) @ self.output.weight.T + self.direct(x)


class ModelReversesWords(_Model):
    """Your context has its words in reverse order.

    Here x = [C(w_{t-n}); ...; C(w_{t-1})], the farthest word first, as in the tensor you are
    given. The paper writes the nearest word first; then the columns of H and W would have to
    change places too.
    """

    def join(self, embedded):
        return embedded.flip(1).flatten(1)


class ModelMixesVectors(_Model):
    """Your vectors are interleaved, not one after the other.

    x holds the whole vector of the first word, then the whole vector of the second. Here it holds
    the first numbers of all vectors, then the second numbers: the axes were swapped before they
    were joined.
    """

    def join(self, embedded):
        return embedded.transpose(1, 2).flatten(1)


class ModelAveragesWords(_Model):
    """Your vectors are averaged, so that the order of the words is lost.

    "dog bites man" and "man bites dog" have the same mean. The vectors stand side by side in x:
    each place of the context has columns of its own in H and W.
    """

    def join(self, embedded):
        return embedded.mean(1, keepdim=True).expand_as(embedded).flatten(1)


class ModelSeesLastWordOnly(_Model):
    """You use only the last word of the context.

    x holds the vectors of all n words. With one word alone this is a bigram model.
    """

    def join(self, embedded):
        before = torch.zeros_like(embedded[:, :-1])
        return torch.cat([before, embedded[:, -1:]], 1).flatten(1)


class ModelReturnsProbabilities(_Model):
    """You return probabilities, not logits.

    forward returns the scores before the softmax; the loss takes the softmax itself.
    """

    def score(self, x):
        return super().score(x).softmax(-1)


class ModelReturnsLogProbabilities(_Model):
    """You return logarithms of probabilities, not logits.

    forward returns the scores before the softmax; the loss takes the softmax itself.
    """

    def score(self, x):
        return super().score(x).log_softmax(-1)


class ModelSoftmaxOverBatch(_Model):
    """You take a softmax over the batch.

    forward returns the scores before any softmax. And where there is one, it runs over the words
    of the vocabulary, the last axis; along the first axis contexts compete that have nothing to do
    with each other.
    """

    def score(self, x):
        return super().score(x).softmax(0)


class ModelVectorsCut(_Model):
    """The vectors are detached from the graph, so that words cannot learn.

    The scores are right, but no gradient reaches C. That the vectors are learned together with the
    rest is the idea of the paper: detach(), .data or no_grad() prevents it.
    """

    def join(self, embedded):
        return embedded.detach().flatten(1)


class ModelLogitsCut(_Model):
    """The logits are detached from the graph, so that nothing can learn.

    The scores are right, but no gradient reaches any parameter: detach(), .data or no_grad() ends
    the graph.
    """

    def score(self, x):
        return super().score(x).detach()
