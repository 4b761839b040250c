# %% [markdown]
# # Bahdanau attention I: scores, weights, context
#
# In this notebook you build the mechanism of Bahdanau, Cho and Bengio (2015) from its four
# pieces: a softmax that knows about padding, the score, the weighted sum, and the module that puts
# them together. The next notebook, `translator.ipynb`, puts your module into a translator.
#
# {{ exercises }}
#
# **Before you begin.** You need none of the earlier notebooks. The ideas are explained in [Chapter 3](../../book/03_bahdanau.md). Allow half to one and
# a half times the minutes in the table, depending on how well you know torch.
#
# **How to work.** Replace `raise NotImplementedError()` with your code, run the cell, then run the
# `check(...)` below it. A check says what is wrong, by name where the mistake is a known one. Any
# way of computing the right values is right: loops, `einsum`, `bmm`.
#
# **Shapes.** $B$ sentences in the batch, $N$ annotations (source positions), sizes $d$. Masks are
# boolean and `True` means *a real word, may be attended to*.

# %% setup
import torch
from torch import Tensor, nn

# %% notebook setup-check
# from autograder import check
# from coursekit.notebook.session import start
#
# start()

# %% demo overview
# from coursekit.plots import diagrams
#
# figure = diagrams.draw("attention")

# %% [markdown]
# ## `masked_softmax`
#
# A batch holds sentences of different lengths, so the shorter ones end in padding. A softmax over
# all $N$ positions would hand some of the attention to words that do not exist. The weights must
# be spread over the real positions only:
#
# $$\alpha_{j} = \frac{m_j \exp(e_{j})}{\sum_{k=1}^{N} m_k \exp(e_{k})}
# \qquad e: (\dots, N),\quad m: (\dots, N) \text{ of } 0 \text{ and } 1,\quad \alpha: (\dots, N)$$
#
# This is equation 6 of the paper with a mask. Two things to think about:
#
# * A row in which *nothing* may be attended to has no sum to divide by. Its weights are all exactly 0,
#   and its gradient is 0, not NaN.
# * $\exp$ of a large score overflows; `torch.softmax` does not.


# %% exercise
def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Softmax over the last axis that gives masked positions a weight of exactly 0.

    alpha_j = m_j exp(e_j) / sum_k m_k exp(e_k); a row without any real position gives zeros.

    Args:
        scores: (..., N), any real numbers, also at masked positions.
        mask: bool, the shape of `scores` or one that broadcasts to it; True = may be attended to.

    Returns:
        weights (..., N) in the dtype of `scores`; each row sums to 1, or to 0 if fully masked.

    Source: Bahdanau et al. (2015), equation 6.
    """
    ### BEGIN SOLUTION
    lowest = torch.finfo(scores.dtype).min  # finite, so that a fully masked row gives no NaN
    weights = scores.masked_fill(~mask, lowest).softmax(dim=-1)  # (..., N)
    return weights * mask  # (..., N)
    ### END SOLUTION


# %% [markdown]
# ## `additive_score`
#
# How well does what the decoder is about to say, summed up in its state $s$, fit the source word
# at position $j$, summed up in its annotation $h_j$? A small network with one hidden layer decides:
#
# $$e_{j} = v^\top \tanh(W s + U h_j)$$
#
# $$s: (B, d_q),\quad h: (B, N, d_k),\quad W: (d, d_q),\quad U: (d, d_k),\quad v: (d),
# \quad e: (B, N)$$
#
# The paper writes $W_a$, $U_a$, $v_a$, and $s_{i-1}$ for the state: the score for target word $i$
# is computed from the state *before* that word. $W$ and $U$ bring state and annotation, which may
# differ in size, into one space of size $d$; the last layer is a vector because one number is
# wanted. Without the tanh the score would be a sum of one term that depends on $s$ alone and one
# that depends on $h_j$ alone, and every target word would attend to the same places. Why? Think it
# through: what does a softmax do with a constant?

# %% hints
# * There is one query for each sentence and there are $N$ keys. Which of the two sums inside the
#   tanh lacks an axis?
# * Map the query to $(B, d)$ and the keys to $(B, N, d)$. A matrix that is written for a column
#   vector multiplies rows from the right, transposed.
# * Give the mapped query an axis of size 1 in the middle, add, take the tanh; the product with
#   $v$ removes the last axis.


# %% exercise
def additive_score(query: Tensor, keys: Tensor, W: Tensor, U: Tensor, v: Tensor) -> Tensor:
    """Score every key against the query with a network of one hidden layer.

    e_j = v^T tanh(W s + U h_j)

    Args:
        query: the decoder's state s, (B, d_q).
        keys: the annotations h, (B, N, d_k).
        W: (d, d_q).
        U: (d, d_k).
        v: (d,).

    Returns:
        scores (B, N), before any softmax.

    Source: Bahdanau et al. (2015), section A.1.2.
    """
    ### BEGIN SOLUTION
    projected_query = query @ W.T  # (B, d)
    projected_keys = keys @ U.T  # (B, N, d)
    hidden = torch.tanh(projected_query.unsqueeze(1) + projected_keys)  # (B, N, d)
    return hidden @ v  # (B, N)
    ### END SOLUTION


# %% [markdown]
# ## `context_vector`
#
# The decoder receives one vector for the whole sentence, but a different one for each target word:
# the annotations, averaged with the weights.
#
# $$c = \sum_{j=1}^{N} \alpha_j h_j \qquad \alpha: (B, N),\quad h: (B, N, d_v),\quad c: (B, d_v)$$


# %% exercise
def context_vector(weights: Tensor, values: Tensor) -> Tensor:
    """Average the values with the attention weights.

    c = sum_j alpha_j h_j

    Args:
        weights: (B, N).
        values: (B, N, d_v).

    Returns:
        context (B, d_v).

    Source: Bahdanau et al. (2015), equation 5.
    """
    ### BEGIN SOLUTION
    return (weights.unsqueeze(1) @ values).squeeze(1)  # (B, 1, N) @ (B, N, d_v) -> (B, d_v)
    ### END SOLUTION


# %% [markdown]
# ## `AdditiveAttention`
#
# Now the module that a decoder owns. In each step it turns the decoder's state into weights over
# the source and a context vector:
#
# $$e_{ij} = v^\top \tanh(W s_{i-1} + U h_j),\qquad
# \alpha_{ij} = \frac{m_j\exp(e_{ij})}{\sum_k m_k\exp(e_{ik})},\qquad
# c_i = \sum_j \alpha_{ij} h_j$$
#
# $U h_j$ does not depend on the target position $i$. The paper points out that it can be computed
# once per sentence, before the first target word; that is what `project` is for. `forward` takes
# the projected keys if it is given them, and otherwise projects the keys itself. The result is the
# same either way.
#
# The parameters are created for you. Keep their names: the checks load their own values into them.
# You may call the functions you wrote above.

# %% hints
# * You have written all the parts above; the parameters take the place of the arguments. What
#   must not be computed again when `projected_keys` is given?
# * The score is that of `additive_score`, but $U h_j$ is there already (or comes from
#   `self.project`). So begin with the sum inside the tanh.
# * Scores, then `masked_softmax`, then `context_vector`: the *keys* are averaged, not the
#   projected ones.


# %% exercise
class AdditiveAttention(nn.Module):
    """Attention with the score v^T tanh(W s + U h_j).

    Parameters: `W` (d, d_q), `U` (d, d_k), `v` (d,), where d = hidden_size, d_q = query_size and
    d_k = key_size. The keys are also the values.

    Source: Bahdanau et al. (2015), equations 5 and 6, section A.1.2.
    """

    def __init__(self, query_size: int, key_size: int, hidden_size: int):
        super().__init__()
        self.W = nn.Parameter(torch.empty(hidden_size, query_size))
        self.U = nn.Parameter(torch.empty(hidden_size, key_size))
        self.v = nn.Parameter(torch.empty(hidden_size))
        for parameter in (self.W, self.U):
            nn.init.xavier_uniform_(parameter)
        nn.init.normal_(self.v, std=hidden_size**-0.5)

    def project(self, keys: Tensor) -> Tensor:
        """Compute U h_j for every key, once per sentence.

        Args:
            keys: (B, N, d_k).

        Returns:
            projected keys (B, N, d).
        """
        ### BEGIN SOLUTION
        return keys @ self.U.T  # (B, N, d)
        ### END SOLUTION

    def forward(
        self, query: Tensor, keys: Tensor, mask: Tensor, projected_keys: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Attend to the keys.

        Args:
            query: the decoder's state s_{i-1}, (B, d_q).
            keys: the annotations h, (B, N, d_k).
            mask: bool (B, N), True = a real source word.
            projected_keys: what `project(keys)` returned, (B, N, d), or None; what is given is not
                computed again.

        Returns:
            context (B, d_k) and weights (B, N).
        """
        ### BEGIN SOLUTION
        if projected_keys is None:
            projected_keys = self.project(keys)  # (B, N, d)
        projected_query = query @ self.W.T  # (B, d)
        scores = torch.tanh(projected_query.unsqueeze(1) + projected_keys) @ self.v  # (B, N)
        weights = masked_softmax(scores, mask)  # (B, N)
        return context_vector(weights, keys), weights  # (B, d_k), (B, N)
        ### END SOLUTION


# %% [markdown]
# ## See it move
#
# Your attention with three annotations of two numbers each, as in [Chapter 3](../../book/03_bahdanau.md).
# Change the query and watch the weights: which hidden unit does each query switch off?

# %% demo look
# keys = torch.tensor([[[1.0, 0.0], [-1.0, -1.0], [0.0, 1.0]]])  # (B, N, d_k) = (1, 3, 2)
# mask = torch.tensor([[True, True, True]])  # (1, 3)
# attention = AdditiveAttention(query_size=2, key_size=2, hidden_size=2)
# with torch.no_grad():
#     attention.W.copy_(3 * torch.eye(2))
#     attention.U.copy_(2 * torch.eye(2))
#     attention.v.fill_(2.2)
#     for query in ([0.0, 1.0], [1.0, 0.0], [0.0, 0.0]):
#         context, weights = attention(torch.tensor([query]), keys, mask)
#         print("query", query, " weights", [round(w, 2) for w in weights[0].tolist()])

# %% [markdown] play-text-query
# **Predict, then run.** Choose a query, write down the largest weight, run. Then
# make $v$ ten times as large, or 0, and hide one of the annotations by the mask.

# %% play query
# query, strength, mask = [1.0, 1.0], 2.2, torch.tensor([[True, True, True]])
# with torch.no_grad():
#     attention.v.fill_(strength)
#     context, weights = attention(torch.tensor([query]), keys, mask)
# print("weights", [round(w, 2) for w in weights[0].tolist()])
# print("context", [round(c, 2) for c in context[0].tolist()])
