# %% [markdown]
# # The Transformer I: attention without recurrence
#
# In all models so far a recurrent network read the sentence, word after word, and attention looked
# at its states. Vaswani et al. (2017) leave the recurrent network out. Each word of a sentence
# looks at all others by itself, and all words do so at the same time. What is left is attention: a
# scaled dot product, run in several *heads* side by side, with a mask that says who may look at what.
# You write these parts here. `layers.ipynb` builds the Transformer's layers from them, and
# `model.ipynb` the translator.
#
# {{ exercises }}
#
# **Before you begin.** You need nothing; dot products as scores are in `luong/scores.ipynb`. The ideas are explained in [Chapter 8](../../book/08_transformer.md). Allow half to one and
# a half times the minutes in the table, depending on how well you know torch.
#
# All sections and equations are those of Vaswani et al. (2017).
#
# **How to work.** Replace `raise NotImplementedError()` with your code, run the cell, then run the
# `check(...)` below it. A check says what is wrong, by name where the mistake is a known one. Any
# way of computing the right values is right: loops, `einsum`, `bmm`.
#
# **Words.** Each word asks with its *query*, is found by its *key*, and gives its *value*. In
# *self-attention* all three are made from the words of one sentence. In the attention from decoder
# to encoder the queries come from the target sentence, keys and values from the source sentence.
#
# **Shapes.** $B$ sentences in the batch, $T$ queries, $N$ keys (and as many values), $h$ heads, $d$
# the size of a word's vector. Masks are boolean and `True` means *may be attended to*.

# %% setup
import math

from torch import Tensor, nn

# %% notebook setup-check
# from autograder import check
# from coursekit.notebook.session import start
#
# start()

# %% demo overview
# from coursekit.plots import diagrams
#
# figure = diagrams.draw("qkv")

# %% earlier
from solutions.bahdanau.scores import masked_softmax

# %% [markdown]
# ## `scaled_dot_product_attention`
#
# You know all of it from [Chapter 4](../../book/04_luong.md); new is that there is a *matrix* of queries and that
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
#   everything may be attended to.
# * **A row in which nothing may be attended to** has weights and an output of exactly 0, and gradients
#   of 0, not NaN.
# * **Weights, too.** Return them beside the output: the course wants to look at them. PyTorch's
#   operator does not, and so never has to store the $T \times N$ numbers.
#
# `torch.nn.functional.scaled_dot_product_attention` is the whole answer and may not be used here.

# %% hints
# * Write the shapes under the formula: $(\dots, T, d_k)$ times what gives $(\dots, T, N)$? Only
#   the last two axes take part.
# * The root is that of the *last* axis of the query. With a mask, `masked_softmax` is given at
#   the top and takes care of empty rows; without one, a plain softmax over the keys.
# * Dropout, if there is any, acts on a copy that meets the values; the weights you return are
#   those before it.


# %% exercise
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    dropout: nn.Module | None = None,
) -> tuple[Tensor, Tensor]:
    """Attend with every query at once.

    Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V

    Not allowed, because it is the whole answer: torch's own scaled_dot_product_attention.

    Args:
        query: Q, (..., T, d_k).
        key: K, (..., N, d_k).
        value: V, (..., N, d_v).
        mask: bool, True = may be attended to; broadcasts to (..., T, N). None: everything may.
        dropout: acts on the weights before they meet the values, as `MultiHeadAttention` needs it in
            training; the weights that are returned are those before it. None: no dropout.

    Returns:
        output (..., T, d_v) and weights (..., T, N), exactly 0 where the mask is False. A query that
        may attend to nothing has weights and an output of 0.

    Source: Vaswani et al. (2017), section 3.2.1, equation 1.
    """
    ### BEGIN SOLUTION
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])  # (..., T, N)
    weights = scores.softmax(dim=-1) if mask is None else masked_softmax(scores, mask)
    kept = weights if dropout is None else dropout(weights)  # (..., T, N)
    return kept @ value, weights  # (..., T, d_v), (..., T, N)
    ### END SOLUTION


# %% [markdown]
# ## `split_heads`
#
# One attention gives each word one average. But a word may want to look in several places for
# several reasons: at its verb, at the noun it stands for. So each word gets $h$ vectors, and
# an attention of its own, a *head*, works on each of them. In `MultiHeadAttention` a matrix projects a word to all $h$
# vectors at once, side by side; here you take its result apart.
#
# $$x: (B, T, d) \;\longrightarrow\; (B, h, T, d/h)$$
#
# Head $i$ gets the components $i\,d/h$ to $(i + 1)\,d/h - 1$ of *every* word. The heads' axis
# stands beside the batch's, so that `scaled_dot_product_attention` treats it as a leading axis and
# works on all heads at once.
#
# Beware: `reshape` keeps the order of the numbers in memory. Straight to $(B, h, T, d/h)$ it
# would give the first head the first *words*. There is a step between.

# %% hints
# * Follow one number: component $i\,d/h$ of word $t$ goes to head $i$, word $t$, place 0. Which
#   of the three old axes is cut in two?
# * Cut the last axis into $(h, d/h)$: nothing moves in memory. Then two axes change places.


# %% exercise
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


# %% [markdown]
# ## `merge_heads`
#
# Each head has found something of size $d/h$ for each word. Put the pieces side by side again, head
# 0 first: this is the $\mathrm{Concat}$ of the paper, and it undoes `split_heads`.
#
# $$x: (B, h, T, d/h) \;\longrightarrow\; (B, T, d)$$


# %% exercise
def merge_heads(x: Tensor) -> Tensor:
    """Put the pieces of all heads side by side again; undoes `split_heads`.

    Args:
        x: (B, h, T, d / h).

    Returns:
        (B, T, d).

    Source: Vaswani et al. (2017), section 3.2.2.
    """
    ### BEGIN SOLUTION
    return x.transpose(1, 2).flatten(2)  # (B, T, d)
    ### END SOLUTION


# %% [markdown]
# ## `MultiHeadAttention`
#
# Which pieces the heads compare should not be left to chance: matrices are learned that lead into a
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
# * Where nothing may be attended to the heads have found 0, and the output is the bias of $W^O$.
# * In training, dropout acts on the weights before the values are averaged (`self.dropout`). The
#   weights that are returned are those before it.

# %% hints
# * You have all the parts. Their order: linear layers, `split_heads`, attention, `merge_heads`,
#   one more linear layer.
# * The mask comes without an axis for heads. Counted from the end, where must the new one stand,
#   so that masks of two and of three axes both fit?
# * If `projected` is given, `key` and `value` are None: call `project` only if it is not. Your
#   attention has an argument for the dropout.


# %% exercise
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
            mask: bool, True = may be attended to; broadcasts to (B, T, N) and holds for all heads.
            projected: what `project(key, value)` returned.

        Returns:
            output (B, T, d) and the weights of each head, (B, h, T, N), before dropout.
        """
        ### BEGIN SOLUTION
        q = split_heads(self.query(query), self.heads)  # (B, h, T, d / h)
        k, v = self.project(key, value) if projected is None else projected  # (B, h, N, d / h)
        mask = None if mask is None else mask.unsqueeze(-3)  # one axis more, for the heads
        heads, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)  # (B, h, T, .)
        return self.output(merge_heads(heads)), weights  # (B, T, d), (B, h, T, N)
        ### END SOLUTION


# %% [markdown]
# ## Build it, prove it equal
#
# PyTorch has both: `F.scaled_dot_product_attention`, which also has fast versions for graphics
# cards, and `nn.MultiheadAttention`. With the same weights they must give what yours give, and so
# must the gradients. Two traps lie on the way. `nn.MultiheadAttention` keeps the three matrices
# below each other in one, and its boolean masks are the other way round: `True` means *may not be
# attended*. The last two lines ask about a batch without a single word.

# %% demo equal
# import torch.nn.functional as F
#
#
# def apart(mine, other):
#     """Return the largest difference."""
#     return (mine - other).abs().max().item()
#
#
# torch.manual_seed(0)
# B, T, N, d, h = 2, 5, 7, 12, 3
# query, key, value = torch.randn(B, T, d), torch.randn(B, N, d), torch.randn(B, N, d)
# words = [[1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0, 0]]  # two sentences, one with padding
# real = torch.tensor(words, dtype=torch.bool).unsqueeze(1)  # (B, 1, N)
# steps = [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 1, 1, 0, 0], [1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]
# no_look_ahead = torch.tensor(steps, dtype=torch.bool)  # (T, T), row: who asks
#
# output, _ = scaled_dot_product_attention(query, key, value, real)
# theirs = F.scaled_dot_product_attention(query, key, value, attn_mask=real)
# print(f"with padding, against F.scaled_dot_product_attention: {apart(output, theirs):.0e}")
# assert apart(output, theirs) < 1e-5
#
# output, _ = scaled_dot_product_attention(query, query, query, no_look_ahead)
# theirs = F.scaled_dot_product_attention(query, query, query, is_causal=True)
# print(f"no look ahead, against F.scaled_dot_product_attention: {apart(output, theirs):.0e}")
# assert apart(output, theirs) < 1e-5
#
# mine = MultiHeadAttention(d, h)
# torchs = nn.MultiheadAttention(d, h, batch_first=True)
# parts = (mine.query, mine.key, mine.value)
# with torch.no_grad():
#     torchs.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
#     torchs.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
#     torchs.out_proj.load_state_dict(mine.output.state_dict())
# output, weights = mine(query, key, value, real)
# theirs, their_weights = torchs(
#     query, key, value, key_padding_mask=~real.squeeze(1), average_attn_weights=False
# )
# my_gradient = torch.autograd.grad(output.square().sum(), mine.key.weight)[0]  # (d, d)
# below_each_other = torch.autograd.grad(theirs.square().sum(), torchs.in_proj_weight)[0]
# their_gradient = below_each_other[d : 2 * d]  # (d, d)
# print(f"against nn.MultiheadAttention, output:   {apart(output, theirs):.0e}")
# print(f"                               weights:  {apart(weights, their_weights):.0e}")
# print(f"                               gradient: {apart(my_gradient, their_gradient):.0e}")
# assert max(apart(output, theirs), apart(weights, their_weights)) < 1e-5
# torch.testing.assert_close(my_gradient, their_gradient, rtol=1e-5, atol=1e-5)
#
# nothing = torch.zeros(B, 1, N, dtype=torch.bool)  # a batch without a single word
# output, _ = mine(query, key, value, nothing)
# theirs, _ = torchs(query, key, value, key_padding_mask=~nothing.squeeze(1))
# for name, found in (("yours", output), ("torch's", theirs)):
#     print(f"no words at all, {name}:", "finite" if found.isfinite().all() else "not finite")

# %% [markdown]
# It is the same attention. Now three things to see with it, all without training.
#
# **Keys kept.** What `project` returns can be used again: the output is the same as if keys and
# values were recomputed.
#
# **Nobody reads the answer.** Change the last word of a sentence. Where no word may look at a later
# one, as under a decoder's *causal mask*, no output before it may change.
#
# **No order.** Shuffle the words of a sentence. Without a mask each word finds what it found
# before: the outputs are shuffled like the words, and otherwise the same. To self-attention a
# sentence is a bag of words. The next notebook gives it positions.

# %% demo look
# words = torch.randn(1, 5, d)  # (B, T, d), one sentence
# with torch.no_grad():
#     keys, values = mine.project(key, value)
#     kept, _ = mine(query, None, None, real, (keys, values))
#     print(f"keys kept, or recomputed: {apart(kept, mine(query, key, value, real)[0]):.0e}")
#
#     before, _ = mine(words, words, words, no_look_ahead)
#     changed = words.clone()
#     changed[:, -1] = torch.randn(d)
#     after, _ = mine(changed, changed, changed, no_look_ahead)
#     moved = (after - before).abs().amax(dim=(0, 2))  # (T,)
#     print("changes where nobody may look ahead:", "  ".join(f"{x:.2f}" for x in moved.tolist()))
#
#     order = torch.tensor([3, 0, 1, 4, 2])
#     found, _ = mine(words, words, words)
#     shuffled, _ = mine(words[:, order], words[:, order], words[:, order])
#     print(f"shuffled words, shuffled outputs: {apart(shuffled, found[:, order]):.0e}")

# %% [markdown]
# **Why $\sqrt{d_k}$.** Queries and keys of independent numbers with variance 1, 64 keys for each
# query. For longer and longer vectors the table shows the standard deviation of the scores, the
# largest weight of a row, and how much of the gradient comes through the softmax: the size of the
# gradient at the scores when each weight is pulled up or down at random.

# %% demo root
# def through_softmax(scores):
#     """Return, on average, the largest weight of a row and the size of its scores' gradient."""
#     scores = scores.requires_grad_()
#     shares = scores.softmax(dim=-1)  # (T, N)
#     pull = torch.randn(shares.shape, generator=torch.Generator().manual_seed(1))
#     (gradient,) = torch.autograd.grad((shares * pull).sum(), scores)
#     return shares.amax(dim=-1).mean().item(), gradient.norm(dim=-1).mean().item()
#
#
# torch.manual_seed(0)
# print(f"{'':>6}{'not divided':^36}{'divided by the root of d_k':^36}")
# print(f"{'d_k':>6}" + 2 * f"{'deviation':>12}{'largest':>12}{'gradient':>12}")
# for d_k in (1, 4, 16, 64, 256, 1024):
#     scores = torch.randn(500, d_k) @ torch.randn(64, d_k).T  # (T, N)
#     line = f"{d_k:>6}"
#     for some in (scores, scores / math.sqrt(d_k)):
#         largest, gradient = through_softmax(some.clone())
#         line += f"{some.std().item():>12.2f}{largest:>12.2f}{gradient:>12.4f}"
#     print(line)

# %% [markdown] play-text-heads
# **Predict, then run.** With two heads in place of three, which shapes change? Which rows of the weights change if you forbid the
# last key to everybody? And what does `temperature` do at 0.1 and at 10?

# %% play heads
# heads, temperature = 3, 1.0  # heads have to divide 12
# allowed = torch.ones(1, 5, dtype=torch.bool)  # forbid a key: allowed[0, 4] = False
# one = MultiHeadAttention(12, heads)
# with torch.no_grad():
#     output, weights = one(words / temperature, words, words, allowed.unsqueeze(0))
# print("output", tuple(output.shape), " weights", tuple(weights.shape))
# for head, table in enumerate(weights[0], 1):
#     print(f"head {head}")
#     for row in table.tolist():
#         print("   ", "  ".join(f"{w:.2f}" for w in row))

# %% [markdown] questions
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

# %% answers
# 1. To 1: one key gets everything. There $\partial a_i / \partial e_i = a_i (1 - a_i)$ and
#    $\partial a_i / \partial e_j = -a_i a_j$ are all near 0. First the gradient grows, because
#    even weights are not the steepest place either: with larger scores a few keys compete.
# 2. $4 (d^2 + d)$: four matrices and four biases. None depends on $h$; the heads are cuts through
#    the same matrices.
# 3. Nothing: the product of a query and a key is the same. So $W^Q$ and $W^K$ are not determined
#    by what the attention computes, only their product is, for each head $W_i^Q {W_i^K}^\top$, a
#    matrix of rank at most $d/h$.
# 4. Its weight is 1 whatever is learned, so the output is $W^O$ applied to its own value, plus a
#    bias. It does not depend on $W^Q$ or $W^K$, nor on any other word.
# 5. $100{,}000^2$ weights of 4 bytes are $4 \cdot 10^{10}$ bytes: 40 gigabytes for one head of
#    one layer. This is why fast versions never store the table.
