"""Mistakes that people really make in the notebook `luong/scores`.

Each function or class is one wrong implementation; the first line of its docstring is the title of
the card, the rest the hint.
"""

import torch
from torch.nn.functional import normalize

from solutions.luong import scores as right

LOWEST = torch.finfo(torch.float32).min


# %% dot_score


def cosine_for_dot(query, keys):
    """You return cosines, not dot products.

    Query and keys are divided by their lengths. A dot product is the cosine times both lengths, and
    the length of a key matters: a long key draws more attention than a short one of the same
    direction, and a long query makes the weights sharper.
    """
    return right.dot_score(normalize(query, dim=-1), normalize(keys, dim=-1))


def dot_scaled_already(query, keys):
    """Your scores are divided by the square root of d.

    That is the scaled dot product of Vaswani et al. (2017), the next exercise. Luong's "dot" is the
    plain dot product.
    """
    return right.scaled_dot_score(query, keys)


def mean_over_features(query, keys):
    """Your products are averaged, not summed.

    A dot product is the sum over the d products of entries. The mean is d times smaller, and the
    softmax over such small scores is almost flat.
    """
    return right.dot_score(query, keys) / keys.shape[-1]


def products_not_summed(query, keys):
    """You multiply the entries, but do not sum their products.

    A score is one number for each key. What comes back has an axis of size d too many: add up along
    it.
    """
    if query.dim() == 2:
        return query.unsqueeze(1) * keys
    return query.unsqueeze(2) * keys.unsqueeze(1)


def distance_for_dot(query, keys):
    """You return squared distances with a minus sign, not dot products.

    -|q - k|^2 = 2 q.k - |q|^2 - |k|^2: the score that is asked for is in there, but so are the
    lengths. The dot product rewards long keys, the distance punishes them.
    """
    of_keys = keys.square().sum(-1)  # (B, N)
    if query.dim() == 3:
        of_keys = of_keys.unsqueeze(1)
    return 2 * right.dot_score(query, keys) - of_keys - query.square().sum(-1, keepdim=True)


def dot_softmax_already(query, keys):
    """You have already taken the softmax.

    A score is any real number. Scores become weights later, in `attention`, which knows the mask; a
    softmax of a softmax is almost flat.
    """
    return right.dot_score(query, keys).softmax(-1)


def dot_keys_before_target_words(query, keys):
    """Target words and source words have changed places.

    For several target words the scores are (B, T, N): a row for each target word, in it a number
    for each key. This is (B, N, T); it would pass unnoticed where T = N, and the softmax over the
    last axis would run over target words.
    """
    scores = right.dot_score(query, keys)
    return scores.transpose(1, 2) if query.dim() == 3 else scores


def dot_one_target_word(query, keys):
    """In your code one target word works, and several at once raise an error.

    The query is (B, d), or (B, T, d) for all target words of a sentence at once. In training they
    are all known, and one product of matrices does for all T what a loop would do one by one.
    """
    return torch.einsum("bd,bnd->bn", query, keys)


def dot_detached(query, keys):
    """The scores are detached from the graph, so encoder and decoder cannot learn through them.

    The values are right, but no gradient flows back: detach(), .data, no_grad() or a new tensor
    made from numbers ends the graph. A dot product has no parameters of its own, but what made the
    query and the keys does.
    """
    return right.dot_score(query, keys).detach()


def dot_of_normalised_keys(query, keys):
    """You divide the keys by their lengths.

    A dot product keeps the lengths of both: a long key draws more attention than a short one of the
    same direction.
    """
    return right.dot_score(query, normalize(keys, dim=-1))


def dot_of_the_last_query(query, keys):
    """All target words ask with the query of the last one.

    Row t of the scores belongs to target word t, and is made with its own query.
    """
    return right.dot_score(query if query.dim() == 2 else query[:, -1:].expand_as(query), keys)


def dot_of_reshaped_keys(query, keys):
    """You reshape the keys to (B, d, N) and do not transpose them.

    reshape keeps the order of the numbers, so that the columns hold parts of several keys. A
    transpose swaps the last two axes.
    """
    turned = keys.reshape(keys.shape[0], keys.shape[2], keys.shape[1]).mT
    return right.dot_score(query, turned)


# %% scaled_dot_score


def scaling_forgotten(query, keys):
    """The scaling is missing.

    If the entries of query and key vary by about 1, their dot product is a sum of d terms and
    varies by the square root of d. At d = 512 that is 23, and a softmax over such numbers gives all
    to one key and almost no gradient to the others. Dividing by the root of d brings it back to 1.
    """
    return right.dot_score(query, keys)


def scaled_by_the_fourth_root(query, keys):
    """You divide by the fourth root of d.

    If both query and keys are divided by the fourth root, the product is divided by the square
    root. Divided once, the square root is needed.
    """
    return right.dot_score(query, keys) / query.shape[-1] ** 0.25


def scaled_by_whole_root(query, keys):
    """You cut the root of d to a whole number.

    The root of 8 is 2.83: int(...), // and math.isqrt lose what follows the point.
    """
    return right.dot_score(query, keys) / int(query.shape[-1] ** 0.5)


def scaled_by_size(query, keys):
    """Your scores are divided by d, not by its square root.

    The variance of a dot product grows with d, so its typical size grows with the root of d.
    Dividing by d makes large models' scores so small that the softmax is flat. (Dividing query and
    keys by the root each is dividing by d, too.)
    """
    return right.dot_score(query, keys) / keys.shape[-1]


def scaled_by_keys(query, keys):
    """Your scores are divided by the root of the number of keys.

    What makes a dot product large is the number of products in it: d, the last axis. How many keys
    there are, N, changes nothing about any one score; and it would differ with the padding.
    """
    return right.dot_score(query, keys) / keys.shape[1] ** 0.5


def scaled_by_axis_one(query, keys):
    """You take the root of the size of axis 1 of the query, which is not always its last.

    For a query (B, d) axis 1 is the size d; for (B, T, d) it is the number of target words. Count
    from the end.
    """
    return right.dot_score(query, keys) / query.shape[1] ** 0.5


def multiplied_by_root(query, keys):
    """Your scores are multiplied by the root of d.

    The scores of long vectors are too large already. They are to be divided.
    """
    return right.dot_score(query, keys) * keys.shape[-1] ** 0.5


def cosine_for_scaled_dot(query, keys):
    """You return cosines, not scaled dot products.

    Here the same number, the root of d, divides every score. A cosine divides each by the lengths
    of its own query and key, and so loses what the lengths say.
    """
    return cosine_for_dot(query, keys)


def scaled_softmax_already(query, keys):
    """You have already taken the softmax.

    Equation 1 of the paper holds score, softmax and sum; this exercise is the score alone. It
    becomes weights in `attention`, which knows the mask.
    """
    return right.scaled_dot_score(query, keys).softmax(-1)


def scaled_one_target_word(query, keys):
    """In your code one target word works, and several at once raise an error.

    The query is (B, d), or (B, T, d) for all target words of a sentence at once; the scores are
    then (B, T, N). If dot_score is right, you may call it.
    """
    return torch.einsum("bd,bnd->bn", query, keys) / keys.shape[-1] ** 0.5


def scaled_detached(query, keys):
    """The scores are detached from the graph, so encoder and decoder cannot learn through them.

    The values are right, but no gradient flows back: detach(), .data, no_grad() or a new tensor
    made from numbers ends the graph.
    """
    return right.scaled_dot_score(query, keys).detach()


# %% general_score


def matrix_transposed(query, keys, W):
    """W is transposed: this is k^T W q, not q^T W k.

    W has a row for each entry of the query and a column for each entry of a key, (d_q, d_k). Where
    both have one size the transposed matrix fits as well, and gives other scores: nobody but the
    numbers would tell.
    """
    return torch.einsum("b...q,kq,bnk->b...n", query, W, keys)


def matrix_forgotten(query, keys, W):
    """W is not used: this is the plain dot product.

    The dot product compares entry i of the query with entry i of the key. W says which entries to
    compare with which, and how much each pair counts; it also makes sizes fit that differ.
    """
    return torch.einsum("b...d,bnd->b...n", query, keys)


def matrix_reshaped(query, keys, W):
    """You reshape W where it must be transposed.

    reshape keeps the numbers in their order and only counts them off again; in the transposed matrix
    rows become columns.
    """
    return right.dot_score(query @ W.reshape(W.shape[::-1]).T, keys)


def general_scaled(query, keys, W):
    """Your scores are divided by the square root of the key's size.

    The score is q^T W k, and nothing else. Where a factor is of use, as in the training at the end
    of this notebook, it is put into the matrix that is passed as W, not into this function.
    """
    return right.general_score(query, keys, W) / keys.shape[-1] ** 0.5


def tanh_of_projected_keys(query, keys, W):
    """There is a tanh too many.

    q^T W k is linear in the query and linear in the key. The tanh belongs to "concat", where it is
    needed: there query and key are added, here they are multiplied.
    """
    return right.dot_score(query, torch.tanh(keys @ W.T))


def tanh_of_projected_query(query, keys, W):
    """There is a tanh too many, on the query's side.

    q^T W k is linear in the query and linear in the key. The tanh belongs to "concat", where it is
    needed: there query and key are added, here they are multiplied.
    """
    return right.dot_score(torch.tanh(query @ W), keys)


def general_cosine(query, keys, W):
    """You return cosines between the query and W k.

    No length is divided out in q^T W k: how long the query and W k are is part of the score.
    """
    return cosine_for_dot(query, keys @ W.T)


def sum_for_product(query, keys, W):
    """You add the query's part instead of multiplying.

    The sum of all entries of q + W k has one term that knows only the query and one that knows only
    the key; the softmax drops the first. In q^T W k every entry of one meets every entry of the
    other.
    """
    of_keys = (keys @ W.T).sum(-1)  # (B, N)
    if query.dim() == 3:
        of_keys = of_keys.unsqueeze(1)
    return query.sum(-1, keepdim=True) + of_keys


def general_softmax_already(query, keys, W):
    """You have already taken the softmax.

    A score is any real number. Scores become weights later, in `attention`, which knows the mask.
    """
    return right.general_score(query, keys, W).softmax(-1)


def general_one_target_word(query, keys, W):
    """In your code one target word works, and several at once raise an error.

    The query is (B, d_q), or (B, T, d_q) for all target words of a sentence at once; the scores are
    then (B, T, N). W acts on the last axis, so only the product with the keys has to be thought
    about.
    """
    return torch.einsum("bq,qk,bnk->bn", query, W, keys)


def matrix_detached(query, keys, W):
    """W is detached from the graph, so it cannot learn.

    The values are right, but no gradient reaches W, the only parameter this score has: detach(),
    .data or a copy made from numbers ends the graph.
    """
    return right.general_score(query, keys, W.detach())


def general_detached(query, keys, W):
    """The scores are detached from the graph, so nothing can learn through them.

    The values are right, but no gradient flows back: detach(), .data, no_grad() or a new tensor
    made from numbers ends the graph.
    """
    return right.general_score(query, keys, W).detach()


# %% concat_score


def _hidden(query, keys, W):
    """W [q; k], before the tanh: (B, N, d) or (B, T, N, d)."""
    return _parts(query, keys, W)[0] + _parts(query, keys, W)[1]


def _parts(query, keys, W):
    of_query, of_keys = W.split([query.shape[-1], keys.shape[-1]], dim=1)
    projected = keys @ of_keys.T  # (B, N, d)
    if query.dim() == 3:
        projected = projected.unsqueeze(1)  # (B, 1, N, d)
    return (query @ of_query.T).unsqueeze(-2), projected


def key_before_query(query, keys, W, v):
    """Key and query are joined in the wrong order: [k; q].

    The first d_q columns of W belong to the query, the other d_k to the key: [q; k]. The matrix
    fits either way, since d_q + d_k = d_k + d_q. A model that you train yourself would learn either
    order, but here W is given.
    """
    size = keys.shape[-1]
    turned = torch.cat([W[:, size:], W[:, :size]], dim=1)
    return torch.tanh(_hidden(query, keys, turned)) @ v


def concat_without_tanh(query, keys, W, v):
    """The tanh is missing.

    v^T W [q; k] is a number that depends on the query alone plus one that depends on the key alone.
    The softmax over the keys drops the first, and every target word would look at the same places.
    """
    return _hidden(query, keys, W) @ v


def concat_without_v(query, keys, W, v):
    """v is not used.

    The hidden units are only added up. v decides how much each of them counts, and in which
    direction; it is a vector because one number is wanted.
    """
    return torch.tanh(_hidden(query, keys, W)).sum(-1)


def concat_mean_over_hidden(query, keys, W, v):
    """Your hidden units are averaged, not summed.

    v^T tanh(...) is a dot product: a sum over the d hidden units. Dividing by d flattens the
    softmax.
    """
    return right.concat_score(query, keys, W, v) / len(v)


def matrix_on_the_sum(query, keys, W, v):
    """You add query and key instead of joining them.

    W [q; k] is W_1 q + W_2 k with two matrices side by side. One matrix on the sum q + k treats
    both alike, so the score would not change if they changed places; and it asks for one size.
    """
    several = keys.unsqueeze(1) if query.dim() == 3 else keys
    return torch.tanh((query.unsqueeze(-2) + several) @ W[:, : query.shape[-1]].T) @ v


def concat_tanh_of_each_part(query, keys, W, v):
    """You take the tanh of the query's and of the key's part separately.

    v^T (tanh(W_1 q) + tanh(W_2 k)) is again one part that knows the query only and one that knows
    the key only. Both must meet inside the tanh.
    """
    of_query, of_keys = _parts(query, keys, W)
    return (torch.tanh(of_query) + torch.tanh(of_keys)) @ v


def concat_tanh_outside(query, keys, W, v):
    """Your tanh stands outside v.

    tanh(v^T W [q; k]) squeezes the score itself into (-1, 1), so that no weight can ever be more
    than e^2 times another. tanh belongs to the hidden layer, before v.
    """
    return torch.tanh(_hidden(query, keys, W) @ v)


def concat_relu_for_tanh(query, keys, W, v):
    """A ReLU stands where the paper has tanh.

    The score is v^T tanh(W [q; k]). A ReLU makes another model.
    """
    return torch.relu(_hidden(query, keys, W)) @ v


def concat_query_forgotten(query, keys, W, v):
    """The query is not used.

    Without it the score depends on the key alone, and every target word would look at the same
    places.
    """
    of_query, of_keys = _parts(query, keys, W)
    return torch.tanh(0 * of_query + of_keys) @ v


def concat_scaled(query, keys, W, v):
    """Your scores are divided by the square root of d.

    Scaling is for dot products, whose size grows with d by itself. v is learned, and learns its own
    scale.
    """
    return right.concat_score(query, keys, W, v) / len(v) ** 0.5


def concat_softmax_already(query, keys, W, v):
    """You have already taken the softmax.

    A score is any real number. Scores become weights later, in `attention`, which knows the mask.
    """
    return right.concat_score(query, keys, W, v).softmax(-1)


def concat_one_target_word(query, keys, W, v):
    """In your code one target word works, and several at once raise an error.

    The query is (B, d_q), or (B, T, d_q) for all target words of a sentence at once. Then each of T
    queries meets each of N keys: the hidden layer is (B, T, N, d), the scores (B, T, N).
    """
    expanded = query.unsqueeze(1).expand(-1, keys.shape[1], -1)  # (B, N, d_q)
    return torch.tanh(torch.cat([expanded, keys], dim=-1) @ W.T) @ v


def concat_detached(query, keys, W, v):
    """The scores are detached from the graph, so W and v cannot learn.

    The values are right, but no gradient flows back: detach(), .data, no_grad() or a new tensor
    made from numbers ends the graph.
    """
    return right.concat_score(query, keys, W, v).detach()


# %% location_score


def location_softmax_already(query, W):
    """You have already taken the softmax.

    Equation 8 of the paper writes the softmax with it, but here, as for the other scores, it comes
    later, in `attention`, which knows the mask: W has a row for every position up to N, and a
    shorter sentence must not give weight to those beyond its end.
    """
    return right.location_score(query, W).softmax(-1)


def location_transposed(query, W):
    """W is transposed.

    W has a row for each position and a column for each entry of the query, (N, d_q); score j is row
    j times the query. Only where N = d_q does the transposed matrix fit, and then the numbers are
    others.
    """
    return query @ W


def location_reshaped(query, W):
    """You reshape W where it must be transposed.

    reshape keeps the numbers in their order and only counts them off again; in the transposed matrix
    rows become columns.
    """
    return query @ W.reshape(W.shape[::-1])


def location_tanh(query, W):
    """There is a tanh too many.

    The scores are W q, linear in the query. Squeezed into (-1, 1), no weight could ever be more
    than e^2 times another.
    """
    return torch.tanh(right.location_score(query, W))


def location_sigmoid(query, W):
    """There is a sigmoid too many.

    A sigmoid turns up in local attention, where one position p is predicted. Here each position
    gets a score, W q, and the softmax compares them.
    """
    return torch.sigmoid(right.location_score(query, W))


def location_scaled(query, W):
    """Your scores are divided by the square root of the query's size.

    Scaling is for dot products of query and key. W is learned, and learns its own scale.
    """
    return right.location_score(query, W) / query.shape[-1] ** 0.5


def location_rows_normalised(query, W):
    """You return cosines between the query and the rows of W.

    The score is the plain product W q: the lengths of the query and of the rows count.
    """
    return normalize(query, dim=-1) @ normalize(W, dim=-1).T


def location_one_target_word(query, W):
    """In your code one target word works, and several at once raise an error.

    The query is (B, d_q), or (B, T, d_q) for all target words of a sentence at once; the scores are
    then (B, T, N). W acts on the last axis of the query, whatever stands before it.
    """
    return torch.einsum("bq,nq->bn", query, W)


def location_detached(query, W):
    """The scores are detached from the graph, so W cannot learn.

    The values are right, but no gradient flows back: detach(), .data, no_grad() or a new tensor
    made from numbers ends the graph.
    """
    return right.location_score(query, W).detach()


# %% attention


def _widened(mask, scores):
    return mask.unsqueeze(1) if mask.dim() < scores.dim() else mask


def _average(weights, values):
    return torch.einsum("b...n,bnv->b...v", weights, values)


def _masked(scores, mask, dim=-1):
    """The right weights if dim is -1."""
    if mask is None:
        return scores.softmax(dim)
    mask = _widened(mask, scores)
    return scores.masked_fill(~mask, LOWEST).softmax(dim) * mask


def attention_ignores_mask(query, keys, values, score, mask=None):
    """The mask is not used: padding gets attention.

    Every row is spread over all N positions. Where the mask is False the weight must be exactly 0,
    and the other positions share the 1 among themselves.
    """
    return right.attention(query, keys, values, score)


def attention_inverts_mask(query, keys, values, score, mask=None):
    """The mask is read the wrong way round.

    True means "may be attended", as in torch.nn.functional.scaled_dot_product_attention. Here the
    weight lies on the padding. Beware: masked_fill fills where its mask is True, and
    nn.MultiheadAttention's masks say what to leave out.
    """
    return right.attention(query, keys, values, score, None if mask is None else ~mask)


def attention_masks_after_softmax(query, keys, values, score, mask=None):
    """Your mask comes after the softmax, so the rows no longer sum to 1.

    The softmax has given padding its share already; setting those weights to 0 afterwards throws
    the share away, and the context comes out too short. Padding has to be out before the sum in the
    denominator is taken.
    """
    scores = score(query, keys)
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights * _widened(mask, scores)
    return _average(weights, values), weights


def attention_fills_zero(query, keys, values, score, mask=None):
    """Masked scores are set to 0, but exp(0) is 1.

    A score of 0 is an ordinary score and gets an ordinary weight, a large one if the others are
    negative. For a weight of 0 the score would have to be minus infinity.
    """
    scores = score(query, keys)
    if mask is not None:
        scores = scores * _widened(mask, scores)
    weights = scores.softmax(-1)
    return _average(weights, values), weights


def attention_empty_row_nan(query, keys, values, score, mask=None):
    """A row in which nothing may be attended gives NaN.

    If every score of a row is minus infinity the softmax divides 0 by 0. Such rows occur, and one
    NaN spoils every parameter. Weights and context of such a row must be 0.
    """
    scores = score(query, keys)
    if mask is not None:
        scores = scores.masked_fill(~_widened(mask, scores), -torch.inf)
    weights = scores.softmax(-1)
    return _average(weights, values), weights


def attention_empty_row_uniform(query, keys, values, score, mask=None):
    """A row in which nothing may be attended gets uniform weights over padding.

    A large negative number such as -1e9 in place of minus infinity avoids NaN. But if all scores of
    a row are that same number, the softmax is uniform, and the context is the mean of padding.
    Weights and context of such a row must be 0.
    """
    scores = score(query, keys)
    if mask is not None:
        scores = scores.masked_fill(~_widened(mask, scores), LOWEST)
    weights = scores.softmax(-1)
    return _average(weights, values), weights


def attention_mask_meets_target_words(query, keys, values, score, mask=None):
    """A mask (B, N) meets scores (B, T, N) along the wrong axis.

    Shapes are matched from the end, so (B, N) is taken for (T, N): sentence b's mask goes to target
    word b. Mostly that raises an error; if T happens to equal B it is wrong without a word. Between
    B and N the mask needs an axis that stands for all target words.
    """
    scores = score(query, keys)
    if mask is None:
        weights = scores.softmax(-1)
    else:
        nothing = ~mask.any(-1, keepdim=True)
        weights = scores.masked_fill(~mask, -torch.inf).masked_fill(nothing, 0.0).softmax(-1)
        weights = weights.masked_fill(nothing, 0.0)
    return _average(weights, values), weights


def attention_softmax_over_axis_one(query, keys, values, score, mask=None):
    """Your softmax runs over axis 1, which is not always the last one.

    With scores (B, N) axis 1 holds the keys; with (B, T, N) it holds the target words, and they
    would compete for each key. Every target word's weights must sum to 1 over the keys.
    """
    weights = _masked(score(query, keys), mask, dim=1)
    return _average(weights, values), weights


def attention_softmax_over_axis_one_infinite(query, keys, values, score, mask=None):
    """Your softmax runs over axis 1, which is not always the last one, and gives NaN on
    padding.

    With scores (B, T, N) axis 1 holds the target words. A padded key is masked for all of them, so
    the softmax over that axis meets nothing but minus infinity. It must run over the keys.
    """
    scores = score(query, keys)
    if mask is None:
        weights = scores.softmax(1)
    else:
        mask = _widened(mask, scores)
        nothing = ~mask.any(-1, keepdim=True)
        weights = scores.masked_fill(~mask, -torch.inf).masked_fill(nothing, 0.0).softmax(1)
        weights = weights.masked_fill(nothing, 0.0)
    return _average(weights, values), weights


def attention_softmax_over_batch(query, keys, values, score, mask=None):
    """Your softmax runs over the batch, not over the keys.

    Along the first axis sentences compete that have nothing to do with each other. The weights of
    one query sum to 1 over its keys, the last axis.
    """
    weights = _masked(score(query, keys), mask, dim=0)
    return _average(weights, values), weights


def keys_for_values(query, keys, values, score, mask=None):
    """Your context is made of the keys, not of the values.

    Keys say where to look, values say what is found there. In this chapter both are the encoder's
    states, but the function must not rely on it: a value may even have another size.
    """
    return right.attention(query, keys, keys, score, mask)


def dot_product_for_score(query, keys, values, score, mask=None):
    """The score that is passed is not used: your code computes dot products.

    Which score it is, is the caller's choice: `score` is a function of query and keys. Calling it
    is all that `attention` does with it, and so it works for all five.
    """
    return right.attention(query, keys, values, right.dot_score, mask)


def attention_scales_scores(query, keys, values, score, mask=None):
    """Your scores are divided by the root of the key's size.

    Whether a score is scaled is the score's own business: scaled_dot_score does it, the others do
    not. Take what `score` returns as it is.
    """
    weights = _masked(score(query, keys) / keys.shape[-1] ** 0.5, mask)
    return _average(weights, values), weights


def softmax_forgotten(query, keys, values, score, mask=None):
    """The softmax is missing: the values are added up with raw scores.

    Scores may be negative and sum to anything. The softmax makes weights of them, between 0 and 1,
    summing to 1, so that the context is an average of values.
    """
    scores = score(query, keys)
    if mask is not None:
        scores = scores * _widened(mask, scores)
    return _average(scores, values), scores


def returned_in_the_wrong_order(query, keys, values, score, mask=None):
    """Context and weights are returned in the wrong order.

    First the context, then the weights. Who calls `attention` wants the first and looks at the
    second.
    """
    return right.attention(query, keys, values, score, mask)[::-1]


def attention_hard_choice(query, keys, values, score, mask=None):
    """Your context is the value with the largest weight alone.

    A dictionary looks up one entry; attention looks up all of them, each as much as its weight
    says. That is what makes it differentiable.
    """
    _, weights = right.attention(query, keys, values, score, mask)
    chosen = torch.nn.functional.one_hot(weights.argmax(-1), keys.shape[1]) * (weights > 0)
    return _average(chosen.to(values.dtype), values), weights


def attention_exponent_overflows(query, keys, values, score, mask=None):
    """exp of the raw scores overflows or vanishes when scores are large.

    exp(1000) is beyond float64 and exp(-1000) is 0 there. The softmax does not change when the same
    number is subtracted from all scores of a row: subtract the largest, as torch.softmax does.
    """
    scores = score(query, keys)
    powers = scores.exp()
    if mask is not None:
        powers = powers * _widened(mask, scores)
    total = powers.sum(-1, keepdim=True)
    weights = powers / total.masked_fill(total == 0, 1.0)
    return _average(weights, values), weights


def attention_cuts_weights(query, keys, values, score, mask=None):
    """The weights are detached from the graph, so attention cannot learn where to look.

    The values are right, but no gradient reaches query and keys: detach(), .data, no_grad() or a
    new tensor made from numbers ends the graph.
    """
    _, weights = right.attention(query, keys, values, score, mask)
    return _average(weights.detach(), values), weights.detach()
