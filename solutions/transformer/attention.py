# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown] nbgrader={"grade": false, "grade_id": "title", "locked": true, "solution": false}
# # The Transformer I: attention without recurrence
#
# In all models so far a recurrent network read the sentence, word after word, and attention looked
# at its states. Vaswani et al. (2017) leave the recurrent network out. Each word of a sentence
# looks at all others by itself, and all words do so at the same time. What is left is attention: a
# scaled dot product, run in several *heads* side by side, with masks that say who may look at what.
# You write these parts here. `layers.ipynb` builds the Transformer's layers from them, and
# `model.ipynb` the translator.
#
# | exercise | what it computes | source | difficulty | minutes |
# | --- | --- | --- | --- | --- |
# | `scaled_dot_product_attention` | $\mathrm{softmax}(QK^\top / \sqrt{d_k})\,V$ | eq. 1 | ●●○ | 25 |
# | `padding_mask` | which tokens are words | | ●○○ | 5 |
# | `causal_mask` | which positions are already written | section 3.2.3 | ●○○ | 5 |
# | `split_heads` | a piece of each vector for each head | section 3.2.2 | ●●○ | 15 |
# | `merge_heads` | the pieces side by side again | section 3.2.2 | ●○○ | 5 |
# | `MultiHeadAttention` | several attentions in subspaces of their own | section 3.2.2 | ●●● | 35 |
#
# All sections and equations are those of Vaswani et al. (2017).
#
# **How to work.** Replace `raise NotImplementedError()` by your code, run the cell, then run the
# `check(...)` below it. A check says what is wrong, by name where the mistake is a known one. Any
# way of computing the right values is right: loops, `einsum`, `bmm`.
#
# **Words.** Each word asks with its *query*, is found by its *key*, and gives its *value*. In
# *self-attention* all three are made from the words of one sentence. In the attention from decoder
# to encoder the queries come from the target sentence, keys and values from the source sentence.
#
# **Shapes.** $B$ sentences in the batch, $T$ queries, $N$ keys (and as many values), $h$ heads, $d$
# the size of a word's vector. Masks are boolean and `True` means *may be attended*.

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "solution": false}
import math

import torch
from torch import Tensor, nn

# %% nbgrader={"grade": false, "grade_id": "setup-check", "locked": true, "solution": false} tags=["active-ipynb"]
# from autograder import check

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-scaled_dot_product_attention", "locked": true, "solution": false}
# ## `scaled_dot_product_attention`
#
# You know all of it from Luong's chapter; new is that there is a *matrix* of queries and that
# nothing in it has to wait for anything else. Row $t$ of the scores compares query $t$ with all
# keys, the softmax makes weights of each row, and each row of the output is an average of the
# values.
#
# $$\mathrm{Attention}(Q, K, V) = \mathrm{softmax}\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V$$
#
# $$Q: (\dots, T, d_k),\quad K: (\dots, N, d_k),\quad V: (\dots, N, d_v),\quad
# \text{weights}: (\dots, T, N),\quad \text{output}: (\dots, T, d_v)$$
#
# * **Why the root.** A score is a sum of $d_k$ products. If the entries of query and key are
#   independent, with mean 0 and variance 1, the sum has variance $d_k$. Divided by $\sqrt{d_k}$ it
#   has variance 1, however long the vectors are. The last cells of this notebook show what happens
#   without it.
# * **Leading axes.** The dots may stand for nothing, for $(B,)$, or for $(B, h)$, batch and heads.
#   Count axes from the end, and it makes no difference.
# * **The mask** is boolean and broadcasts to $(\dots, T, N)$, as in PyTorch's operator: a mask $(B,
#   1, N)$ holds for all queries of a sentence, a mask $(T, N)$ for all sentences. With `None`
#   everything may be attended.
# * **A row in which nothing may be attended** has weights and an output of exactly 0, and gradients
#   of 0, not NaN.
# * **Weights, too.** Return them beside the output: the course wants to look at them. PyTorch's
#   operator does not, and so never has to store the $T \times N$ numbers.
#
# `torch.nn.functional.scaled_dot_product_attention` is the whole answer and may not be used here.
#
# *Vaswani et al. (2017), section 3.2.1, equation 1. Difficulty ●●○, about 25 minutes.*


# %% nbgrader={"grade": false, "grade_id": "scaled_dot_product_attention", "locked": false, "solution": true}
def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Attend with every query at once.

    Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V

    Not allowed, because it is the whole answer: torch's own scaled_dot_product_attention.

    Args:
        query: Q, (..., T, d_k).
        key: K, (..., N, d_k).
        value: V, (..., N, d_v).
        mask: bool, True = may be attended; broadcasts to (..., T, N). None: everything may.

    Returns:
        output (..., T, d_v) and weights (..., T, N), exactly 0 where the mask is False. A query that
        may attend to nothing has weights and an output of 0.

    Source: Vaswani et al. (2017), equation 1.
    """
    ### BEGIN SOLUTION
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])  # (..., T, N)
    if mask is None:
        weights = scores.softmax(dim=-1)  # (..., T, N)
    else:
        nothing = ~mask.any(dim=-1, keepdim=True)  # (..., T, 1)
        # Rows without anything to attend to take a softmax over all, which is then set to 0.
        scores = scores.masked_fill(~mask & ~nothing, float("-inf"))
        weights = scores.softmax(dim=-1).masked_fill(~mask, 0.0)  # (..., T, N)
    return weights @ value, weights  # (..., T, d_v), (..., T, N)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-scaled_dot_product_attention", "locked": true, "points": 4, "solution": false} tags=["active-ipynb"]
# check(scaled_dot_product_attention)
# ### BEGIN HIDDEN TESTS
# from autograder.instructor import examine

# examine(scaled_dot_product_attention)
# ### END HIDDEN TESTS

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-padding_mask", "locked": true, "solution": false}
# ## `padding_mask`
#
# Sentences of a batch are padded to one length. A word must not attend to padding: so we mark which
# tokens are real.
#
# $$m_{bs} = \begin{cases} \text{True} & \text{if token } s \text{ of sentence } b \text{ is a word}
# \\ \text{False} & \text{if it is padding} \end{cases}
# \qquad \text{tokens}: (B, S),\quad m: (B, S)$$
#
# Which id stands for padding is the vocabulary's choice; `pad_id` says which. The result has two
# axes. Who uses it as a mask for attention adds the axis of the queries: `mask.unsqueeze(1)` is
# $(B, 1, S)$.
#
# *Difficulty ●○○, about 5 minutes.*


# %% nbgrader={"grade": false, "grade_id": "padding_mask", "locked": false, "solution": true}
def padding_mask(tokens: Tensor, pad_id: int = 0) -> Tensor:
    """Tell real tokens from padding.

    Args:
        tokens: ids (B, S).
        pad_id: the id of padding.

    Returns:
        bool (B, S), True where there is a real token.
    """
    ### BEGIN SOLUTION
    return tokens != pad_id  # (B, S)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-padding_mask", "locked": true, "points": 1, "solution": false} tags=["active-ipynb"]
# check(padding_mask)
# ### BEGIN HIDDEN TESTS
# from autograder.instructor import examine

# examine(padding_mask)
# ### END HIDDEN TESTS

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-causal_mask", "locked": true, "solution": false}
# ## `causal_mask`
#
# The decoder learns to predict each next word, for all positions at the same time. If position $t$
# could look at position $t + 1$, it would read the answer instead of predicting it. So it may look
# at itself and at what is before it:
#
# $$m_{ts} = \text{True if } s \le t, \qquad m: (T, T)$$
#
# The row is who asks, the column who is asked. A position may look at itself: the decoder's input
# is moved by one place, so the token at position $t$ is the last one that is already known. The
# paper sets the forbidden *scores* to $-\infty$; that is what your attention does with this mask.
#
# *Vaswani et al. (2017), section 3.2.3. Difficulty ●○○, about 5 minutes.*


# %% nbgrader={"grade": false, "grade_id": "causal_mask", "locked": false, "solution": true}
def causal_mask(length: int) -> Tensor:
    """Let each position see itself and what is before it, nothing behind.

    Args:
        length: T.

    Returns:
        bool (T, T): row t is True in columns 0 to t.

    Source: Vaswani et al. (2017), section 3.2.3.
    """
    ### BEGIN SOLUTION
    return torch.ones(length, length, dtype=torch.bool).tril()  # (T, T)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-causal_mask", "locked": true, "points": 1, "solution": false} tags=["active-ipynb"]
# check(causal_mask)
# ### BEGIN HIDDEN TESTS
# from autograder.instructor import examine

# examine(causal_mask)
# ### END HIDDEN TESTS

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-split_heads", "locked": true, "solution": false}
# ## `split_heads`
#
# One attention gives each word one average. But a word may want to look in several places for
# several reasons: at its verb, at the noun it stands for. So the vectors are cut into $h$ pieces,
# and an attention of its own, a *head*, works on each piece.
#
# $$x: (B, T, d) \;\longrightarrow\; (B, h, T, d/h)$$
#
# Head $i$ gets the components $i\,d/h$ to $(i + 1)\,d/h - 1$ of *every* word. The heads' axis
# stands beside the batch's, so that `scaled_dot_product_attention` treats it as a leading axis and
# works on all heads at once.
#
# Beware: `reshape` keeps the order of the numbers in memory. Straight to $(B, h, T, d/h)$ it
# would give the first head the first *words*. There is a step between.
#
# *Vaswani et al. (2017), section 3.2.2. Difficulty ●●○, about 15 minutes.*


# %% nbgrader={"grade": false, "grade_id": "split_heads", "locked": false, "solution": true}
def split_heads(x: Tensor, heads: int) -> Tensor:
    """Cut each vector into one piece for each head.

    Args:
        x: (B, T, d); d is a multiple of `heads`.
        heads: h.

    Returns:
        (B, h, T, d / h): head i gets components i d/h to (i + 1) d/h - 1 of each vector.

    Source: Vaswani et al. (2017), section 3.2.2.
    """
    ### BEGIN SOLUTION
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)  # (B, h, T, d / h)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-split_heads", "locked": true, "points": 2, "solution": false} tags=["active-ipynb"]
# check(split_heads)
# ### BEGIN HIDDEN TESTS
# from autograder.instructor import examine

# examine(split_heads)
# ### END HIDDEN TESTS

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-merge_heads", "locked": true, "solution": false}
# ## `merge_heads`
#
# Each head has found something of size $d/h$ for each word. Put the pieces side by side again, head
# 0 first: this is the $\mathrm{Concat}$ of the paper, and it undoes `split_heads`.
#
# $$x: (B, h, T, d/h) \;\longrightarrow\; (B, T, d)$$
#
# *Vaswani et al. (2017), section 3.2.2. Difficulty ●○○, about 5 minutes.*


# %% nbgrader={"grade": false, "grade_id": "merge_heads", "locked": false, "solution": true}
def merge_heads(x: Tensor) -> Tensor:
    """Put the pieces of all heads side by side again; undoes `split_heads`.

    Args:
        x: (B, h, T, d / h).

    Returns:
        (B, T, d).

    Source: Vaswani et al. (2017), section 3.2.2, Concat(head_1, ..., head_h).
    """
    ### BEGIN SOLUTION
    return x.transpose(1, 2).flatten(2)  # (B, T, d)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-merge_heads", "locked": true, "points": 1, "solution": false} tags=["active-ipynb"]
# check(merge_heads)
# ### BEGIN HIDDEN TESTS
# from autograder.instructor import examine

# examine(merge_heads)
# ### END HIDDEN TESTS

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-MultiHeadAttention", "locked": true, "solution": false}
# ## `MultiHeadAttention`
#
# Which pieces the heads compare should not be left to chance: matrices are learnt that lead into a
# subspace for each head, one for its queries, one for its keys, one for its values. A last matrix
# $W^O$ mixes what the heads have found.
#
# $$\mathrm{head}_i = \mathrm{Attention}(Q W_i^Q,\, K W_i^K,\, V W_i^V), \qquad
# \mathrm{MultiHead}(Q, K, V) = \mathrm{Concat}(\mathrm{head}_1, \dots, \mathrm{head}_h)\, W^O$$
#
# $$\begin{gathered}
# Q: (B, T, d),\quad K, V: (B, N, d),\quad W_i^Q, W_i^K, W_i^V: (d, d/h) \\
# W^O: (d, d),\quad \text{output}: (B, T, d),\quad \text{weights}: (B, h, T, N)
# \end{gathered}$$
#
# * **One product for all heads.** The $W_i^Q$ of all heads side by side are one matrix $(d, d)$:
#   multiply by it, then cut with `split_heads`. The stub has the four matrices as `nn.Linear`, with
#   biases; the paper has none, torch and BERT do. The size $d_k$ under the root is a head's, $d/h$.
# * **What it costs.** $h$ heads of size $d/h$ need as many numbers and as many multiplications as
#   one head of size $d$. More heads are not more work, but smaller subspaces.
# * **The mask** broadcasts to $(B, T, N)$ and holds for all heads: $(T, N)$, $(B, 1, N)$ and $(B,
#   T, N)$ may come. The weights have one axis more.
# * **`project`.** When a trained decoder writes a sentence, it asks the same source sentence at
#   every word. The keys and values of that sentence need not be computed each time: `project(key,
#   value)` computes them once, and `forward(query, None, None, mask, projected)` uses them. So
#   `forward` looks at `key` and `value` only if `projected` is `None`.
# * Where nothing may be attended the heads have found 0, and the output is the bias of $W^O$.
# * In training, dropout acts on the weights before the values are averaged (`self.dropout`); checks
#   run in evaluation mode, where it does nothing.
#
# *Vaswani et al. (2017), section 3.2.2. Difficulty ●●●, about 35 minutes.*


# %% nbgrader={"grade": false, "grade_id": "MultiHeadAttention", "locked": false, "solution": true}
class MultiHeadAttention(nn.Module):
    """Several attentions side by side, each in a subspace of its own.

    head_i = Attention(Q W_i^Q, K W_i^K, V W_i^V),  MultiHead = Concat(head_1, ..., head_h) W^O

    The W_i^Q of all heads are one matrix, cut into pieces after the product; so are W^K and W^V.

    Parameters, d = model_size: `query.weight`, `key.weight`, `value.weight`, `output.weight`, all
    (d, d), and `query.bias`, `key.bias`, `value.bias`, `output.bias`, all (d,). The paper has no
    biases; torch and BERT have them. In training, `dropout` acts on the weights.

    Raises:
        ValueError: model_size is not a multiple of heads.

    Source: Vaswani et al. (2017), section 3.2.2.
    """

    def __init__(self, model_size: int, heads: int, dropout: float = 0.0):
        super().__init__()
        if model_size % heads:
            raise ValueError(f"{heads} heads cannot share vectors of size {model_size} equally.")
        self.heads = heads
        self.query = nn.Linear(model_size, model_size)
        self.key = nn.Linear(model_size, model_size)
        self.value = nn.Linear(model_size, model_size)
        self.output = nn.Linear(model_size, model_size)
        self.dropout = nn.Dropout(dropout)

    def project(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Return K W^K and V W^V, cut into heads: what a decoder computes once and keeps.

        Args:
            key: (B, N, d).
            value: (B, N, d).

        Returns:
            keys and values, both (B, h, N, d / h).
        """
        ### BEGIN SOLUTION
        return split_heads(self.key(key), self.heads), split_heads(self.value(value), self.heads)
        ### END SOLUTION

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None = None,
        projected: tuple[Tensor, Tensor] | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Let each query attend, once in each head.

        Args:
            query: (B, T, d).
            key: (B, N, d); not looked at if `projected` is given, None will do then.
            value: (B, N, d); not looked at if `projected` is given.
            mask: bool, True = may be attended; broadcasts to (B, T, N) and holds for all heads.
            projected: what `project(key, value)` returned.

        Returns:
            output (B, T, d) and the weights of each head, (B, h, T, N).
        """
        ### BEGIN SOLUTION
        q = split_heads(self.query(query), self.heads)  # (B, h, T, d / h)
        k, v = self.project(key, value) if projected is None else projected  # (B, h, N, d / h)
        mask = None if mask is None else mask.unsqueeze(-3)  # one axis more, for the heads
        found, weights = scaled_dot_product_attention(q, k, v, mask)  # (B, h, T, .)
        if self.training and self.dropout.p:
            found = self.dropout(weights) @ v  # (B, h, T, d / h)
        return self.output(merge_heads(found)), weights  # (B, T, d), (B, h, T, N)
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-MultiHeadAttention", "locked": true, "points": 5, "solution": false} tags=["active-ipynb"]
# check(MultiHeadAttention)
# ### BEGIN HIDDEN TESTS
# from autograder.instructor import examine

# examine(MultiHeadAttention)
# ### END HIDDEN TESTS

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-equal", "locked": true, "solution": false}
# ## Build it, prove it equal
#
# PyTorch has both: `F.scaled_dot_product_attention`, which also has fast versions for graphics
# cards, and `nn.MultiheadAttention`. With the same weights they must give what yours give, and so
# must the gradients. Two traps lie on the way. `nn.MultiheadAttention` keeps the three matrices
# below each other in one, and its boolean masks are the other way round: `True` means *may not be
# attended*. The last line asks about a batch without a single word.

# %% nbgrader={"grade": false, "grade_id": "equal", "locked": true, "solution": false} tags=["active-ipynb"]
# import torch.nn.functional as F
#
#
# def apart(mine, other):
#     """Return the largest difference."""
#     return (mine - other).abs().max().item()
#
#
# # Not again when another notebook runs this one.
# if "__file__" not in globals():
#     torch.manual_seed(0)
#     B, T, N, d, h = 2, 5, 7, 12, 3
#     query, key, value = torch.randn(B, T, d), torch.randn(B, N, d), torch.randn(B, N, d)
#     tokens = torch.tensor([[7, 4, 9, 5, 3, 8, 6], [5, 9, 6, 4, 0, 0, 0]])  # (B, N)
#     real = padding_mask(tokens).unsqueeze(1)  # (B, 1, N)
#
#     output, _ = scaled_dot_product_attention(query, key, value, real)
#     theirs = F.scaled_dot_product_attention(query, key, value, attn_mask=real)
#     print(f"with padding, against F.scaled_dot_product_attention: {apart(output, theirs):.0e}")
#     assert apart(output, theirs) < 1e-5
#
#     output, _ = scaled_dot_product_attention(query, query, query, causal_mask(T))
#     theirs = F.scaled_dot_product_attention(query, query, query, is_causal=True)
#     print(f"no look ahead, against F.scaled_dot_product_attention: {apart(output, theirs):.0e}")
#     assert apart(output, theirs) < 1e-5
#
#     mine = MultiHeadAttention(d, h)
#     torchs = nn.MultiheadAttention(d, h, batch_first=True)
#     parts = (mine.query, mine.key, mine.value)
#     with torch.no_grad():
#         torchs.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
#         torchs.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
#         torchs.out_proj.load_state_dict(mine.output.state_dict())
#     output, weights = mine(query, key, value, real)
#     theirs, their_weights = torchs(
#         query, key, value, key_padding_mask=~real.squeeze(1), average_attn_weights=False
#     )
#     my_gradient = torch.autograd.grad(output.square().sum(), mine.key.weight)[0]  # (d, d)
#     below_each_other = torch.autograd.grad(theirs.square().sum(), torchs.in_proj_weight)[0]
#     their_gradient = below_each_other[d : 2 * d]  # (d, d)
#     print(f"against nn.MultiheadAttention, output:   {apart(output, theirs):.0e}")
#     print(f"                               weights:  {apart(weights, their_weights):.0e}")
#     print(f"                               gradient: {apart(my_gradient, their_gradient):.0e}")
#     assert max(apart(output, theirs), apart(weights, their_weights)) < 1e-5
#     torch.testing.assert_close(my_gradient, their_gradient, rtol=1e-5, atol=1e-5)
#
#     nothing = torch.zeros(B, 1, N, dtype=torch.bool)  # a batch without a single word
#     output, _ = mine(query, key, value, nothing)
#     theirs, _ = torchs(query, key, value, key_padding_mask=~nothing.squeeze(1))
#     for name, found in (("yours", output), ("torch's", theirs)):
#         print(f"no words at all, {name}:", "finite" if found.isfinite().all() else "not finite")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-look", "locked": true, "solution": false}
# It is the same attention. Now three things to see with it, all without training.
#
# **Keys kept.** What `project` returns can be used again: the output is the same as if keys and
# values were computed anew.
#
# **Nobody reads the answer.** Change the last word of a sentence. Under the causal mask no output
# before it may change.
#
# **No order.** Shuffle the words of a sentence. Without a mask each word finds what it found
# before: the outputs are shuffled like the words, and otherwise the same. To self-attention a
# sentence is a bag of words. The next notebook gives it positions.

# %% nbgrader={"grade": false, "grade_id": "look", "locked": true, "solution": false} tags=["active-ipynb"]
# if "__file__" not in globals():
#     words = torch.randn(1, 6, d)  # (B, T, d), one sentence
#     with torch.no_grad():
#         keys, values = mine.project(key, value)
#         kept, _ = mine(query, None, None, real, (keys, values))
#         print(f"keys kept, or computed anew: {apart(kept, mine(query, key, value, real)[0]):.0e}")
#
#         before, _ = mine(words, words, words, causal_mask(6))
#         changed = words.clone()
#         changed[:, -1] = torch.randn(d)
#         after, _ = mine(changed, changed, changed, causal_mask(6))
#         moved = (after - before).abs().amax(dim=(0, 2))  # (T,)
#         print("changes under the causal mask:", "  ".join(f"{x:.2f}" for x in moved.tolist()))
#
#         order = torch.tensor([3, 0, 5, 1, 4, 2])
#         found, _ = mine(words, words, words)
#         shuffled, _ = mine(words[:, order], words[:, order], words[:, order])
#         print(f"shuffled words, shuffled outputs: {apart(shuffled, found[:, order]):.0e}")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-root", "locked": true, "solution": false}
# **Why $\sqrt{d_k}$.** Queries and keys of independent numbers with variance 1, 64 keys for each
# query. For longer and longer vectors the table shows the standard deviation of the scores, the
# largest weight of a row, and how much of the gradient comes through the softmax: the size of the
# gradient at the scores when each weight is pulled up or down at random.

# %% nbgrader={"grade": false, "grade_id": "root", "locked": true, "solution": false} tags=["active-ipynb"]
# def through_softmax(scores):
#     """Return, on average, the largest weight of a row and the size of its scores' gradient."""
#     scores = scores.requires_grad_()
#     shares = scores.softmax(dim=-1)  # (T, N)
#     pull = torch.randn(shares.shape, generator=torch.Generator().manual_seed(1))
#     (gradient,) = torch.autograd.grad((shares * pull).sum(), scores)
#     return shares.amax(dim=-1).mean().item(), gradient.norm(dim=-1).mean().item()
#
#
# if "__file__" not in globals():
#     torch.manual_seed(0)
#     print(f"{'':>6}{'not divided':^36}{'divided by the root of d_k':^36}")
#     print(f"{'d_k':>6}" + 2 * f"{'deviation':>12}{'largest':>12}{'gradient':>12}")
#     for d_k in (1, 4, 16, 64, 256, 1024):
#         scores = torch.randn(500, d_k) @ torch.randn(64, d_k).T  # (T, N)
#         line = f"{d_k:>6}"
#         for some in (scores, scores / math.sqrt(d_k)):
#             largest, gradient = through_softmax(some.clone())
#             line += f"{some.std().item():>12.2f}{largest:>12.2f}{gradient:>12.4f}"
#         print(line)

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-questions", "locked": true, "solution": false}
# **To think about.**
#
# 1. Undivided, the gradient first grows with $d_k$ and then falls. Where does the largest weight go
#    meanwhile, and what is the derivative of a softmax there?
# 2. How many numbers does `MultiHeadAttention(d, h)` have to learn? Which of them depend on $h$?
# 3. Multiply all queries by 2 and halve all keys. What changes? What does that say about how free
#    the matrices $W^Q$ and $W^K$ are?
# 4. Under the causal mask the first word has no choice but to attend to itself. What does its
#    output depend on, and what not?
# 5. The weights of one layer have $B \cdot h \cdot T \cdot N$ numbers. For a book of 100,000 words
#    in one piece, one head, in float32: how many gigabytes?
