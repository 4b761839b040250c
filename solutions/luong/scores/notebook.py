# %% [markdown]
# # Luong attention I: five scores, one attention
#
# Bahdanau's score is a small network. Luong, Pham and Manning (2015) asked what else could tell how
# well a decoder state fits an encoder state, and tried scores that are simpler and faster. In this
# notebook you write theirs, the scaled dot product that the Transformer made of one of them two years
# later, and the function `attention` that works with any of them. `decoder.ipynb` then puts it into
# a translator, and `local.ipynb` looks at a window only.
#
# {{ exercises }}
#
# **Before you begin.** You need nothing; who has solved `bahdanau/scores.ipynb` is faster. The ideas are explained in [Chapter 4](../../book/04_luong.md). Allow half to one and
# a half times the minutes in the table, depending on how well you know torch.
#
# **How to work.** Replace `raise NotImplementedError()` with your code, run the cell, then run the
# `check(...)` below it. A check says what is wrong, by name where the mistake is a known one. Any
# way of computing the right values is right: loops, `einsum`, `bmm`.
#
# **Words.** What asks is the *query* $q$: here the decoder's state $h_t$ at target word $t$. What is
# compared with it are the *keys* $k_j$: here the encoder's states $\bar h_s$. What is returned are the
# *values*: here the encoder's states again.
#
# **Shapes.** $B$ sentences in the batch, $T$ target words, $N$ keys (source positions), sizes $d$.
# A decoder that works word by word asks with one query for each sentence, $(B, d_q)$, and gets scores
# $(B, N)$. If all target words are known, as in training, one can ask for all of them at once: query
# $(B, T, d_q)$, scores $(B, T, N)$. Your functions take both. The number of axes of the query tells
# which it is. Masks are boolean and `True` means *may be attended to*.

# %% setup
import math
from collections.abc import Callable

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
# figure = diagrams.draw("scores")

# %% earlier
from solutions.bahdanau.scores import masked_softmax

# %% [markdown]
# ## `dot_score`
#
# The simplest way to compare two vectors: multiply them entry by entry and add up. Nothing to learn,
# and one product of matrices does it for all keys at once.
#
# $$e_{j} = q^\top k_j = \sum_{i=1}^{d} q_i\, k_{ji}
# \qquad q: (B, d) \text{ or } (B, T, d),\quad k: (B, N, d),\quad e: (B, N) \text{ or } (B, T, N)$$
#
# Query and keys must have one size, and entry $i$ must mean the same in both: they have to live in one
# space. A dot product is *not* the cosine of the angle between them: $q^\top k = |q|\,|k| \cos\theta$,
# so the length of a key counts, too.
#
# With $T$ target words the $T$ queries of a sentence meet the $N$ keys *of the same sentence*. Beware
# of sizes that happen to be equal: what broadcasts without an error may still pair the wrong things.


# %% exercise
def dot_score(query: Tensor, keys: Tensor) -> Tensor:
    """Score each key by its dot product with the query.

    e_j = q . k_j

    Args:
        query: (B, d), or (B, T, d) for all target words at once.
        keys: (B, N, d).

    Returns:
        scores (B, N), or (B, T, N).

    Source: Luong et al. (2015), section 3.1, "dot".
    """
    ### BEGIN SOLUTION
    return torch.einsum("b...d,bnd->b...n", query, keys)
    ### END SOLUTION


# %% [markdown]
# ## `scaled_dot_score`
#
# A dot product is a sum of $d$ terms. If the entries of query and key are independent with variance 1,
# the sum has variance $d$: the longer the vectors, the larger the scores. Large scores make the softmax
# give everything to one key, and then hardly any gradient is left to learn from. Vaswani et al. (2017)
# divide by the standard deviation:
#
# $$e_{j} = \frac{q^\top k_j}{\sqrt{d}}
# \qquad q: (B, d) \text{ or } (B, T, d),\quad k: (B, N, d),\quad e: (B, N) \text{ or } (B, T, N)$$
#
# You may call the function you wrote above.


# %% exercise
def scaled_dot_score(query: Tensor, keys: Tensor) -> Tensor:
    """Score each key by its dot product with the query, divided by the root of their size.

    e_j = q . k_j / sqrt(d)

    Args:
        query: (B, d), or (B, T, d) for all target words at once.
        keys: (B, N, d).

    Returns:
        scores (B, N), or (B, T, N).

    Source: Vaswani et al. (2017), section 3.2.1, equation 1.
    """
    ### BEGIN SOLUTION
    return dot_score(query, keys) / math.sqrt(keys.shape[-1])
    ### END SOLUTION


# %% [markdown]
# ## `general_score`
#
# The dot product compares entry $i$ with entry $i$. Encoder and decoder are two networks, and why
# should entry 3 of one mean what entry 3 of the other means? A matrix in between says which entries are
# to be compared, and how much each pair counts:
#
# $$e_{j} = q^\top W k_j = \sum_{i=1}^{d_q} \sum_{l=1}^{d_k} q_i\, W_{il}\, k_{jl}$$
#
# $$q: (B, d_q) \text{ or } (B, T, d_q),\quad k: (B, N, d_k),\quad W: (d_q, d_k),
# \quad e: (B, N) \text{ or } (B, T, N)$$
#
# It is a dot product in the query's space, $q \cdot (W k_j)$, or in the keys', $(W^\top q) \cdot k_j$,
# whichever you like better; and query and keys may differ in size. With $W = I$ it is `dot_score`.

# %% hints
# * Read $q^\top W k$ as a dot product of two vectors of one size. You may multiply $W$ into
#   either side; which side has fewer rows?
# * $W^\top q$ for a batch of rows is `query @ W`. What is left is a function that you have
#   written already.


# %% exercise
def general_score(query: Tensor, keys: Tensor, W: Tensor) -> Tensor:
    """Score each key by a weighted dot product with the query.

    e_j = q^T W k_j

    Args:
        query: (B, d_q), or (B, T, d_q) for all target words at once.
        keys: (B, N, d_k).
        W: (d_q, d_k).

    Returns:
        scores (B, N), or (B, T, N).

    Source: Luong et al. (2015), section 3.1, "general".
    """
    ### BEGIN SOLUTION
    return torch.einsum("b...q,qk,bnk->b...n", query, W, keys)
    ### END SOLUTION


# %% [markdown]
# ## `concat_score`
#
# A network with one hidden layer reads query and key, joined to one vector:
#
# $$e_{j} = v^\top \tanh(W [q; k_j])$$
#
# $$q: (B, d_q) \text{ or } (B, T, d_q),\quad k: (B, N, d_k),\quad W: (d, d_q + d_k),\quad v: (d),
# \quad e: (B, N) \text{ or } (B, T, N)$$
#
# The order counts: the first $d_q$ columns of $W$ belong to the query. You can build $[q; k_j]$ for
# every pair of a query and a key. Or you can think first about what a matrix does to two vectors that
# are stacked on top of each other, and never build it. Both are right; which one needs less memory for
# $T = 50$ target words and $N = 50$ source words?

# %% hints
# * A matrix times two stacked vectors is a sum of two products: the left columns times the first
#   plus the right columns times the second.
# * So cut $W$ after its first $d_q$ columns. Each part maps one of the two by itself, $(B, \dots,
#   d)$ and $(B, N, d)$.
# * For one target word the query needs an axis for $N$. For $T$ of them the keys need one for $T$
#   as well, so that the sum is $(B, T, N, d)$. `query.dim()` tells which it is.


# %% exercise
def concat_score(query: Tensor, keys: Tensor, W: Tensor, v: Tensor) -> Tensor:
    """Score each key by a network with one hidden layer that reads query and key joined.

    e_j = v^T tanh(W [q; k_j])

    Args:
        query: (B, d_q), or (B, T, d_q) for all target words at once.
        keys: (B, N, d_k).
        W: (d, d_q + d_k); its first d_q columns belong to the query.
        v: (d,).

    Returns:
        scores (B, N), or (B, T, N).

    Source: Luong et al. (2015), section 3.1, "concat".
    """
    ### BEGIN SOLUTION
    of_query, of_keys = W.split([query.shape[-1], keys.shape[-1]], dim=1)
    projected = keys @ of_keys.T  # (B, N, d)
    if query.dim() == 3:
        projected = projected.unsqueeze(1)  # (B, 1, N, d)
    hidden = torch.tanh((query @ of_query.T).unsqueeze(-2) + projected)  # (B, N, d) or (B, T, N, d)
    return hidden @ v
    ### END SOLUTION


# %% [markdown]
# ## `location_score`
#
# In their first attempts Luong et al. did not look at the keys at all: from its own state the decoder
# decides which *positions* to look at.
#
# $$e = W q
# \qquad q: (B, d_q) \text{ or } (B, T, d_q),\quad W: (N, d_q),\quad e: (B, N) \text{ or } (B, T, N)$$
#
# $W$ has a row for every position up to the longest sentence. Of a shorter sentence the paper takes as many rows as
# it has words (footnote 6); here `attention` masks the positions after its end. For a sentence with more than $N$ words
# there are no weights beyond position $N$. In the paper equation 8 has the softmax in it; here it comes later, in
# `attention`, as for the other scores.


# %% exercise
def location_score(query: Tensor, W: Tensor) -> Tensor:
    """Score each position from the query alone.

    e = W q

    Args:
        query: (B, d_q), or (B, T, d_q) for all target words at once.
        W: (N, d_q), one row for each position.

    Returns:
        scores (B, N), or (B, T, N), before the softmax.

    Source: Luong et al. (2015), section 3.1, equation 8.
    """
    ### BEGIN SOLUTION
    return query @ W.T
    ### END SOLUTION


# %% [markdown]
# ## `attention`
#
# Now the mechanism itself, for any score. It is like looking something up in a dictionary, but softly:
# the query is compared with *all* keys, and what comes back is the average of *all* values, each
# counted as much as its key fits.
#
# $$a_{j} = \frac{m_j \exp(\operatorname{score}(q, k_j))}{\sum_{i=1}^{N} m_i \exp(\operatorname{score}(q, k_i))},
# \qquad c = \sum_{j=1}^{N} a_j v_j$$
#
# $$k: (B, N, d_k),\quad v: (B, N, d_v)$$
#
# | | one target word | all target words |
# | --- | --- | --- |
# | query | $(B, d_q)$ | $(B, T, d_q)$ |
# | mask $m$ | $(B, N)$ | $(B, N)$, or $(B, T, N)$ |
# | weights $a$ | $(B, N)$ | $(B, T, N)$ |
# | context $c$ | $(B, d_v)$ | $(B, T, d_v)$ |
#
# * `score` is a function of query and keys. Call it; which one it is must not matter. (A score with
#   parameters is passed with them inside: `lambda query, keys: general_score(query, keys, W)`.)
# * A mask $(B, N)$ says which source positions are real. It holds for all target words of a sentence. A
#   mask $(B, T, N)$ may differ from target word to target word; it comes only with a query
#   $(B, T, d_q)$, where $T$ may be 1. With `None` everything may be attended to.
# * A row in which *nothing* may be attended to has weights and a context of exactly 0, and gradients of 0,
#   not NaN. You have solved this before: `masked_softmax` is given at the top of this notebook.
# * Keys and values may be two different things, of different sizes.

# %% hints
# * Four steps: scores, mask, weights, average. Which of them know whether there is one target
#   word or there are $T$?
# * Only the mask does: a mask $(B, N)$ that meets scores $(B, T, N)$ lacks the axis of the target
#   words. Compare the numbers of axes.
# * For the average with and without the axis of target words, `einsum` with dots, or a matrix
#   product after adding an axis, serves both. Without a mask a plain softmax will do.


# %% exercise
def attention(
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    score: Callable[[Tensor, Tensor], Tensor],
    mask: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Look up the values whose keys fit the query.

    Attention(Q, K, V) = sum_j a_j v_j,  a = softmax_j(score(q, k_j)) over the positions of the mask

    Args:
        query: (B, d_q), or (B, T, d_q) for all target words at once.
        keys: (B, N, d_k).
        values: (B, N, d_v).
        score: score(query, keys) returns scores (B, N), or (B, T, N).
        mask: bool, True = may be attended to; (B, N), or, with a query (B, T, d_q), (B, T, N) if it
            differs from target word to target word. None: everything may be attended to.

    Returns:
        context (B, d_v) and weights (B, N), or (B, T, d_v) and (B, T, N). A row in which nothing
        may be attended to has weights and context of 0.

    Source: Luong et al. (2015), equation 7; in this form Vaswani et al. (2017), section 3.2.
    """
    ### BEGIN SOLUTION
    scores = score(query, keys)  # (B, N) or (B, T, N)
    if mask is None:
        weights = scores.softmax(dim=-1)  # as the scores
    elif mask.dim() < scores.dim():
        weights = masked_softmax(scores, mask.unsqueeze(1))  # (B, T, N)
    else:
        weights = masked_softmax(scores, mask)  # as the scores
    return torch.einsum("b...n,bnv->b...v", weights, values), weights
    ### END SOLUTION


# %% [markdown]
# ## The scores as modules
#
# A decoder owns its attention, and the attention owns its score, parameters and all. These two classes
# are given: `Score` creates the parameters and calls your functions; `GlobalAttention` calls your
# `attention` with the encoder's states as keys and as values. The next notebooks use them.


# %% together
class Score(nn.Module):
    """One of the scores as a module that owns its parameters.

    Args:
        kind: "dot", "scaled_dot", "general" or "concat".
        query_size: d_q.
        key_size: d_k; equal to d_q for the two dot products.
        hidden_size: d of "concat".

    Parameters: `W` and, for "concat", `v`, of the shapes that the functions above take. The matrix
    of "general" is W / sqrt(d_k): Adam moves each entry of a matrix by about the learning rate, and
    over d_q d_k products that would be a leap of the scores at every step. Any matrix can still be
    learned.

    Raises:
        ValueError: an unknown kind, or sizes that differ for a dot product.
    """

    def __init__(self, kind: str, query_size: int, key_size: int, hidden_size: int = 0):
        super().__init__()
        if kind not in ("dot", "scaled_dot", "general", "concat"):
            raise ValueError(f"kind is {kind!r}; it must be dot, scaled_dot, general or concat.")
        if kind in ("dot", "scaled_dot") and query_size != key_size:
            raise ValueError(
                f"A dot product needs query and keys of one size, not {query_size} and {key_size}."
            )
        self.kind = kind
        if kind == "general":
            self.W = nn.Parameter(torch.empty(query_size, key_size))
            nn.init.xavier_uniform_(self.W)
        if kind == "concat":
            self.W = nn.Parameter(torch.empty(hidden_size, query_size + key_size))
            self.v = nn.Parameter(torch.empty(hidden_size))
            nn.init.xavier_uniform_(self.W)
            nn.init.uniform_(self.v, -(hidden_size**-0.5), hidden_size**-0.5)

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Return scores (B, N) for query (B, d_q), or (B, T, N) for query (B, T, d_q)."""
        if self.kind == "general":
            return general_score(query, keys, self.W / math.sqrt(keys.shape[-1]))
        if self.kind == "concat":
            return concat_score(query, keys, self.W, self.v)
        return (dot_score if self.kind == "dot" else scaled_dot_score)(query, keys)


class GlobalAttention(nn.Module):
    """Attention over all real source positions, as a decoder calls it.

    Args:
        score: a module; score(query (B, d_q), keys (B, N, d_k)) returns (B, N).
    """

    def __init__(self, score: nn.Module):
        super().__init__()
        self.score = score

    def forward(
        self, query: Tensor, keys: Tensor, mask: Tensor, position: int | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return context (B, d_k) and weights (B, N); the target position is not used."""
        return attention(query, keys, keys, self.score, mask)


# %% [markdown]
# ## Build it, prove it equal
#
# Four things that you can now show with your own code.
#
# * `general_score` with $W = I$ is `dot_score`.
# * Bahdanau's additive score, $v^\top \tanh(W_b s + W_c h_j)$, is `concat_score` with the two matrices
#   side by side, $W = [W_b\; W_c]$.
# * `attention` with `scaled_dot_score` is PyTorch's `scaled_dot_product_attention`.
# * A dot product is not a cosine: a long key that points elsewhere beats the one that points the same
#   way as the query.

# %% demo equal
# import torch.nn.functional as F
#
# torch.manual_seed(0)
# query = torch.randn(2, 4, 6)  # (B, T, d)
# keys = torch.randn(2, 5, 6)  # (B, N, d)
# values = torch.randn(2, 5, 3)  # (B, N, d_v)
# mask = torch.tensor([[True, True, True, True, True], [True, True, True, False, False]])  # (B, N)
#
#
# def compare(name, mine, other):
#     print(f"{name}: the largest difference is {(mine - other).abs().max().item():.1e}")
#
#
# compare("general with I and dot", general_score(query, keys, torch.eye(6)), dot_score(query, keys))
#
# W_b, W_c, v = torch.randn(7, 6), torch.randn(7, 6), torch.randn(7)
# state = query[:, 0]  # (B, d)
# additive = torch.tanh((state @ W_b.T).unsqueeze(1) + keys @ W_c.T) @ v  # (B, N)
# compare("concat and additive", concat_score(state, keys, torch.cat([W_b, W_c], dim=1), v), additive)
#
# mine, weights = attention(query, keys, values, scaled_dot_score, mask)
# theirs = F.scaled_dot_product_attention(query, keys, values, attn_mask=mask.unsqueeze(1))
# compare("attention and PyTorch's", mine, theirs)
#
# alike = torch.tensor([[[1.0, 0.2], [1.0, 0.0], [5.0, 8.0]]])  # (B, N, d) = (1, 3, 2)
# asked = torch.tensor([[1.0, 0.0]])  # (B, d): points as the second key does
# cosines = F.cosine_similarity(asked.unsqueeze(1), alike, dim=-1)
# print("cosines     ", [round(x, 2) for x in cosines[0].tolist()])
# print("dot products", [round(x, 2) for x in dot_score(asked, alike)[0].tolist()])

# %% [markdown]
# ## See them learn
#
# What can each score do? A small task shows it. A *word* is a vector of 6 numbers; there are 12 of
# them, all of one length. A sentence has 2 to 6 different words: the keys. The query asks for one of them, and your
# attention is to bring back its vector. Nobody tells it at which position the word stands: the loss is
# the distance between the context and the vector that was wanted.
#
# There are two worlds. In the first, the query *is* the word's vector, with a little noise: asking and
# being asked for live in one space. In the second, the query is the word's vector seen through a
# rotation of the six-dimensional space that nobody knows, as the states of two networks that were not
# made for each other. Afterwards, each attention is asked about 12 words it has never seen.
#
# Four scores, two worlds, 10 to 30 seconds on a CPU.

# %% demo lookup
# from coursekit.training import seed_everything
#
# WORDS, SIZE, LONGEST = 12, 6, 6
#
#
# def make_words(generator):
#     """Draw WORDS vectors of one length, (12, 6)."""
#     drawn = torch.randn(WORDS, SIZE, generator=generator)
#     return drawn / drawn.norm(dim=-1, keepdim=True) * SIZE**0.5
#
#
# def questions(words, turn, batch, generator):
#     """Draw sentences, and for each a question after the word at position `wanted`."""
#     order = torch.rand(batch, WORDS, generator=generator).argsort(dim=1)
#     keys = words[order[:, :LONGEST]]  # (B, N, d)
#     lengths = torch.randint(2, LONGEST + 1, (batch, 1), generator=generator)
#     mask = torch.arange(LONGEST) < lengths  # (B, N)
#     wanted = (torch.rand(batch, generator=generator) * lengths[:, 0]).long()  # (B,)
#     query = keys[torch.arange(batch), wanted] @ turn.T  # (B, d)
#     return query + 0.1 * torch.randn(batch, SIZE, generator=generator), keys, mask, wanted
#
#
# def learn(model, words, turn, generator, steps=400):
#     """Train on what is brought back; a score without parameters has nothing to train."""
#     if not list(model.parameters()):
#         return
#     optimiser = torch.optim.Adam(model.parameters(), lr=0.02)
#     for _ in range(steps):
#         query, keys, mask, wanted = questions(words, turn, 64, generator)
#         context, _ = model(query, keys, mask)
#         loss = (context - keys[torch.arange(len(keys)), wanted]).square().mean()
#         optimiser.zero_grad()
#         loss.backward()
#         optimiser.step()
#
#
# def share_found(model, words, turn, generator):
#     """Return how often the largest weight lies on the word that was asked for."""
#     with torch.no_grad():
#         query, keys, mask, wanted = questions(words, turn, 4000, generator)
#         _, weights = model(query, keys, mask)  # (B, N)
#     return (weights.argmax(dim=-1) == wanted).double().mean().item()
#
#
# generator = torch.Generator().manual_seed(7)
# known, unseen = make_words(generator), make_words(generator)
# rotation = torch.linalg.qr(torch.randn(SIZE, SIZE, generator=generator))[0]  # (6, 6)
# worlds = {"one space": torch.eye(SIZE), "a rotation": rotation}
#
# print(f"{'score':<11}{'world':<12}{'learns':>12}{'known words':>13}{'new words':>11}")
# for kind in ("dot", "scaled_dot", "general", "concat"):
#     for world, turn in worlds.items():
#         seed_everything(1)
#         model = GlobalAttention(Score(kind, SIZE, SIZE, hidden_size=32))
#         learn(model, known, turn, generator)
#         size = sum(parameter.numel() for parameter in model.parameters())
#         found = [share_found(model, words, turn, generator) for words in (known, unseen)]
#         print(
#             f"{kind:<11}{world:<12}{size:>4} numbers{found[0]:>13.0%}{found[1]:>11.0%}"
#         )
#         if kind == "general":
#             matrix = model.score.W.detach()
#             likeness = F.cosine_similarity(matrix.flatten(), turn.flatten(), dim=0).item()
#             print(f"{'':<11}cosine of its W and the world's own matrix: {likeness:.2f}")
# chance = sum(1 / length for length in range(2, LONGEST + 1)) / (LONGEST - 1)
# print(f"whoever guesses finds {chance:.0%}")

# %% [markdown] play-text-score
# **Predict, then run.** Will "concat" find the rotation if it sees 100 words in place of 12? Will "general" still, if its
# questions are ten times as noisy? (Some seconds for each run.)

# %% play score
# kind, hidden, WORDS, steps = "concat", 32, 100, 400
# generator = torch.Generator().manual_seed(7)
# known, unseen = make_words(generator), make_words(generator)
# seed_everything(1)
# model = GlobalAttention(Score(kind, SIZE, SIZE, hidden_size=hidden))
# learn(model, known, rotation, generator, steps)
# for name, words in (("known words", known), ("new words", unseen)):
#     print(f"{name}: {share_found(model, words, rotation, generator):.0%} found")

# %% [markdown] questions
# In the rotated world a dot product without parameters finds *less* than somebody who guesses. That is no mistake: this
# rotation happens to turn words away from themselves, so that the right key often has one of the smallest scores.
#
# **To think about.** To change a given cell, which is locked, copy it (*Edit*, *Copy Cells*, *Paste*).
#
# 1. Without parameters a dot product is no better than guessing in the rotated world. In a translator it works
#    all the same. Which parameters learn there what $W$ learns here?
# 2. "general" answers questions about words it has never seen, "concat" hardly better than by
#    guessing. What has each of them learned? (Look at the cosine, and at the number of parameters.)
# 3. Give the words different lengths: leave out the division in `make_words`. Which questions does the
#    dot product now get wrong, even in one space?
# 4. Give "concat" more words to learn from, or more hidden units. Does it find the rotation?

# %% answers
# 1. All those that make query and keys: the recurrent networks of encoder and decoder, and the
#    embeddings under them. Nothing stops the two networks from agreeing on one space while they
#    learn, and the dot product's gradient pushes them there. Here query and keys were *given*, so
#    only $W$ could do it.
# 2. "general" learns 36 numbers, and the cosine says which: the world's own matrix, up to scale.
#    A rotation is the same for known and for new words, so it carries over. "concat" has many
#    more numbers and with twelve words finds an answer for those twelve: it has learned who is
#    asked for by which query, not how the space was turned.
# 3. Questions after short words. The dot product is length times length times cosine, so a long
#    word can beat the one that was asked for although it points elsewhere. "One space" is not
#    enough: lengths have to be alike, too.
# 4. More words help it most: with hundreds of them, no list of cases fits into its parameters,
#    and the rotation is the simpler thing to learn. More hidden units alone give it more room to
#    learn by heart. Try `WORDS = 200`, and see how its share for new words moves.
