# %% [markdown]
# # The Transformer II: the layers
#
# In `attention.ipynb` words look at each other. Here you build what stands around that: numbers that
# say *where* a word stands, a norm that keeps vectors in bounds, a small network for each word, and
# the two layers of which a Transformer is made. At the end your layers agree with those of
# `torch.nn`, weight for weight.
#
# {{ exercises }}
#
# **Before you begin.** You need `attention.ipynb`, solved. The ideas are explained in [Chapter 8](../../book/08_transformer.md). Allow half to one and
# a half times the minutes in the table, depending on how well you know torch.
#
# Where nothing else is said, sections and equations are those of Vaswani et al. (2017).
#
# **Shapes.** $B$ sentences in the batch, $N$ or $S$ source positions and $T$ target positions (the width
# of the batch), $d$ the size of a vector (`model_size`), $m$ the size inside the network
# (`inner_size`). Masks are boolean and `True` means *may be attended to*.

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
# figure = diagrams.draw("layers")

# %% [markdown]
# ## `sinusoidal_positions`
#
# Attention does not see order: shuffle the keys and values, and each query finds the same. So the
# position has to be *in* the vectors. Each position gets a vector of its own, which is added to the
# word's. Its numbers are points on $d/2$ clocks that run slower and slower:
#
# $$PE_{pos,\,2i} = \sin\left(\frac{pos}{10000^{2i/d}}\right), \qquad
# PE_{pos,\,2i+1} = \cos\left(\frac{pos}{10000^{2i/d}}\right)
# \qquad PE: (T, d),\quad i = 0, \dots, d/2 - 1$$
#
# Positions count from 0. Sine and cosine of a clock are neighbours and share its speed: the first
# turns by one radian from each position to the next, the last needs almost $2\pi \cdot 10000$
# positions to come round.
#
# Why sine *and* cosine? Then the step from $pos$ to $pos + k$ turns each pair by an angle that
# depends on $k$ alone. That is a linear map, and the same for all $pos$: a query can ask for "the
# word three before me".

# %% hints
# * Make a table of angles first, $(T, d/2)$: a column of positions against a row of speeds. Sine
#   and cosine come afterwards.
# * The exponent of pair $i$ is $2i/d$. A range that counts 0, 2, 4, ... holds $2i$ already.
# * Sine and cosine of one pair are *neighbours* in a row: stack them along a new last axis and
#   join the last two axes. Float64 on the way keeps large positions exact.


# %% exercise
def sinusoidal_positions(length: int, size: int) -> Tensor:
    """Give each position a vector of sines and cosines of slower and slower waves.

    PE(pos, 2i) = sin(pos / 10000^(2i / size)),  PE(pos, 2i + 1) = cos(pos / 10000^(2i / size))

    Args:
        length: number of positions, from 0.
        size: of a vector; even.

    Returns:
        (length, size), in torch's default dtype.

    Source: Vaswani et al. (2017), section 3.5.
    """
    ### BEGIN SOLUTION
    position = torch.arange(length).unsqueeze(1)  # (T, 1)
    exponent = torch.arange(0, size, 2, dtype=torch.float64) / size  # (d / 2,)
    angle = position / 10_000**exponent  # (T, d / 2)
    waves = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)  # (T, d)
    return waves.to(torch.get_default_dtype())
    ### END SOLUTION


# %% [markdown]
# ## `layer_norm`
#
# Layers that add their result to what they were given make vectors grow. A LayerNorm brings each
# vector back to mean 0 and variance 1, and then lets a learned gain $g$ and bias $b$ choose what suits
# the next layer:
#
# $$\mu = \frac{1}{d} \sum_{k=1}^{d} x_k, \qquad
# \sigma^2 = \frac{1}{d} \sum_{k=1}^{d} (x_k - \mu)^2, \qquad
# y = g \odot \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} + b$$
#
# $$x, y: (\dots, d),\qquad g, b: (d,),\qquad \mu, \sigma^2: (\dots)$$
#
# * Mean and variance are those of *one vector*. A BatchNorm takes them over the batch; here a
#   sentence never depends on its neighbours, and padding does no harm.
# * The variance divides by $d$. torch's `var` and `std` divide by $d - 1$ unless told otherwise.
# * $\epsilon$ is added to the variance, under the root.
#
# torch has this as `torch.nn.functional.layer_norm`, which would be the whole answer; `group_norm` and
# its other norms of mean and variance can be made to do the same. Write it without any of them.


# %% exercise
def layer_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """Give each vector mean 0 and variance 1, then let gain and bias choose others.

    y = weight * (x - mean(x)) / sqrt(var(x) + eps) + bias

    Mean and variance are over the last axis; the variance divides by d, not by d - 1. Write it
    without torch's `layer_norm`, and without its other norms of mean and variance (`group_norm`,
    `batch_norm`, `instance_norm`): they are the whole answer.

    Args:
        x: (..., d).
        weight: gain, (d,).
        bias: (d,).
        eps: added to the variance.

    Returns:
        (..., d).

    Source: Ba et al. (2016), equation 4; Vaswani et al. (2017), section 3.1.
    """
    ### BEGIN SOLUTION
    centred = x - x.mean(dim=-1, keepdim=True)  # (..., d)
    variance = centred.square().mean(dim=-1, keepdim=True)  # (..., 1)
    return weight * centred / (variance + eps).sqrt() + bias
    ### END SOLUTION


# %% [markdown]
# ## `PositionwiseFeedForward`
#
# Attention mixes vectors, and does little else: its output is a weighted sum. What a word makes of
# what it has found is computed by a network with one hidden layer. It works on each word alone, and
# it is the same at each position:
#
# $$\mathrm{FFN}(x) = W_2 \max(0,\; W_1 x + b_1) + b_2$$
#
# $$x: (\dots, d),\quad W_1: (m, d),\quad b_1: (m,),\quad W_2: (d, m),\quad b_2: (d,)$$
#
# In the paper the hidden layer is four times as wide: $d = 512$, $m = 2048$. Two thirds of the
# numbers that a layer of the encoder has to learn are in this network.


# %% exercise
class PositionwiseFeedForward(nn.Module):
    """Two linear layers with a ReLU between them, the same at each position.

    FFN(x) = W_2 max(0, W_1 x + b_1) + b_2

    Parameters, d = model_size, m = inner_size: `inner.weight` W_1 (m, d), `inner.bias` b_1 (m,);
    `outer.weight` W_2 (d, m), `outer.bias` b_2 (d,).

    Source: Vaswani et al. (2017), equation 2.
    """

    def __init__(self, model_size: int, inner_size: int):
        super().__init__()
        self.inner = nn.Linear(model_size, inner_size)
        self.outer = nn.Linear(inner_size, model_size)

    def forward(self, x: Tensor) -> Tensor:
        """Return FFN(x), (..., d), for x (..., d)."""
        ### BEGIN SOLUTION
        return self.outer(self.inner(x).relu())  # (..., d)
        ### END SOLUTION


# %% [markdown]
# ## `EncoderLayer`
#
# An encoder layer has two sub-layers: the words look at each other, then each works on what it has
# found. Around both stand the same two things: a *residual connection* adds what went in, and a
# LayerNorm follows the sum.
#
# $$a = \mathrm{LayerNorm}\left(x + \mathrm{SelfAttention}(x)\right), \qquad
# y = \mathrm{LayerNorm}\left(a + \mathrm{FFN}(a)\right)
# \qquad x, a, y: (B, N, d)$$
#
# In self-attention query, key and value are all made from $x$. The residual leaves the gradient a
# way back through all layers that no matrix stands in; and a layer has to learn only what it *adds*.
#
# The norm comes after the sum, as in the paper (*post-norm*). Many later models put it in front of
# each sub-layer (*pre-norm*): $x + \mathrm{Sublayer}(\mathrm{LayerNorm}(x))$. That is another layer,
# and weights of one do not fit the other.
#
# The layer does not know what attention it uses: it is given one, calls it with `(query, key, value,
# mask)`, and hands on the mask as it is. The check passes an attention and a network of its own; at
# the end of the notebook, you pass yours.

# %% hints
# * Two lines, one for each formula. What does an attention return besides its output?
# * The order in each: sub-layer, dropout, add what went in, norm. The second line starts from the
#   *result* of the first.


# %% exercise
class EncoderLayer(nn.Module):
    """Self-attention, then a feed-forward network, each with a residual and a LayerNorm after it.

    a = LayerNorm(x + SelfAttention(x)),  y = LayerNorm(a + FFN(a))

    Parameters: `attention.*`, `attention_norm.weight` and `.bias` (d,), `feed_forward.*`,
    `feed_forward_norm.weight` and `.bias` (d,), d = model_size. In training, `dropout` acts on what
    each of the two returns, before it is added.

    Args:
        model_size: d.
        attention: `attention(query, key, value, mask) -> (output (B, N, d), weights)`.
        feed_forward: `feed_forward(x (B, N, d)) -> (B, N, d)`.
        dropout: share of components set to 0.
        eps: of both LayerNorms.

    Source: Vaswani et al. (2017), section 3.1 and figure 1, left.
    """

    def __init__(
        self,
        model_size: int,
        attention: nn.Module,
        feed_forward: nn.Module,
        dropout: float = 0.0,
        eps: float = 1e-5,
    ):
        super().__init__()
        self.attention = attention
        self.attention_norm = nn.LayerNorm(model_size, eps=eps)
        self.feed_forward = feed_forward
        self.feed_forward_norm = nn.LayerNorm(model_size, eps=eps)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return the states of the layer.

        Args:
            x: (B, N, d).
            mask: bool, True = may be attended to; broadcasts to (B, N, N). It is handed on to the
                attention as it is.

        Returns:
            y, (B, N, d).
        """
        ### BEGIN SOLUTION
        found, _ = self.attention(x, x, x, mask)  # (B, N, d)
        x = self.attention_norm(x + self.dropout(found))
        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))
        ### END SOLUTION


# %% [markdown]
# ## `DecoderLayer`
#
# A decoder layer has three sub-layers. Between self-attention and network it looks at the source:
#
# $$a = \mathrm{LayerNorm}\left(y + \mathrm{Attention}(y, y, y)\right)$$
#
# $$b = \mathrm{LayerNorm}\left(a + \mathrm{Attention}(a, M, M)\right), \qquad
# z = \mathrm{LayerNorm}\left(b + \mathrm{FFN}(b)\right)$$
#
# $$y, a, b, z: (B, T, d),\qquad M: (B, S, d)$$
#
# $M$, the *memory*, holds the encoder's states. Queries come from the decoder, keys and values from
# the memory: the same division of labour as Bahdanau's, whose query was the decoder's state and whose
# keys were the annotations.
#
# **Two ways through one layer.** In training all target words are known. `forward` computes all
# positions at once, and the mask keeps each from seeing the words after it. In translating there is
# one new word at a time. All before it have been computed, and *they do not change* when a word is
# added, since none of them can see it. So their keys and values are computed once and kept:
#
# | | what it does | what it returns |
# | --- | --- | --- |
# | `start(memory)` | projects the memory, once for the whole sentence | a cache |
# | `step(y, cache, memory_mask)` | projects the one new position, joins its key and value to the kept ones, attends | its state, and a new cache |
#
# The cache is a dict with the four tensors that the two attentions project: `keys` and `values`, and
# `memory_keys` and `memory_values`. Before the first word, `keys` and `values` have the length 0 on the
# axis of positions: they are what the attention projects from no position. An attention
# projects with `project(key, value)` and takes what was kept with `attention(query, None, None, mask,
# projected)`; axis 2 of the kept tensors runs over the positions. `step` must not change the cache it
# is given: a search goes on from one cache in several ways.
#
# `forward` earns half of the points, `start` and `step` the other half.

# %% hints
# * Write `forward` first: three times the pattern of `EncoderLayer`. Then cover it up and ask: to
#   compute one new position, what of all that do I need of the earlier ones?
# * Only their keys and values. `start` projects the memory; for the words, of which there are none yet,
#   project a piece of length 0, such as `memory[:, :0]`, and the shapes come out right by
#   themselves.
# * `step`: project the new position, join it to what is kept along axis 2, attend with
#   `projected`, no mask needed; attend to the memory with what `start` kept; network. Return a
#   *new* dict: `torch.cat` makes new tensors, and the old dict stays as it was.


# %% exercise
class DecoderLayer(nn.Module):
    """Masked self-attention, attention to the encoder's states, feed-forward; a norm after each.

    a = LayerNorm(y + SelfAttention(y)),  b = LayerNorm(a + Attention(a, memory, memory)),
    z = LayerNorm(b + FFN(b))

    Parameters: `attention.*`, `attention_norm.*`, `memory_attention.*`, `memory_attention_norm.*`,
    `feed_forward.*`, `feed_forward_norm.*`; each norm has `weight` and `bias` (d,), d = model_size.
    In training, `dropout` acts on what each of the three returns, before it is added.

    Args:
        model_size: d.
        attention: to the words written so far:
            `attention(query, key, value, mask, projected) -> (output, weights)`, with
            `project(key, value) -> (keys, values)` whose axis 2 runs over the positions.
        memory_attention: to the encoder's states, with the same interface.
        feed_forward: `feed_forward(y (B, T, d)) -> (B, T, d)`.
        dropout: share of components set to 0.

    Source: Vaswani et al. (2017), section 3.1 and figure 1, right.
    """

    def __init__(
        self,
        model_size: int,
        attention: nn.Module,
        memory_attention: nn.Module,
        feed_forward: nn.Module,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.attention = attention
        self.attention_norm = nn.LayerNorm(model_size)
        self.memory_attention = memory_attention
        self.memory_attention_norm = nn.LayerNorm(model_size)
        self.feed_forward = feed_forward
        self.feed_forward_norm = nn.LayerNorm(model_size)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        y: Tensor,
        memory: Tensor,
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
    ) -> Tensor:
        """Return the states of the layer for all target positions at once.

        Args:
            y: (B, T, d).
            memory: the encoder's states, (B, S, d).
            mask: bool, True = may be attended to; broadcasts to (B, T, T).
            memory_mask: bool (B, 1, S), True = a real source word.

        Returns:
            z, (B, T, d).
        """
        ### BEGIN SOLUTION
        found, _ = self.attention(y, y, y, mask)  # (B, T, d)
        y = self.attention_norm(y + self.dropout(found))
        found, _ = self.memory_attention(y, memory, memory, memory_mask)  # (B, T, d)
        y = self.memory_attention_norm(y + self.dropout(found))
        return self.feed_forward_norm(y + self.dropout(self.feed_forward(y)))
        ### END SOLUTION

    def start(self, memory: Tensor) -> dict[str, Tensor]:
        """Return what `step` keeps, before the first word: nothing written, the memory projected.

        Args:
            memory: the encoder's states, (B, S, d).

        Returns:
            "memory_keys" and "memory_values", what the memory attention projects from the memory,
            and "keys" and "values", what the attention projects from no position at all.
        """
        ### BEGIN SOLUTION
        memory_keys, memory_values = self.memory_attention.project(memory, memory)
        keys, values = self.attention.project(memory[:, :0], memory[:, :0])  # no positions yet
        return {
            "keys": keys,
            "values": values,
            "memory_keys": memory_keys,
            "memory_values": memory_values,
        }
        ### END SOLUTION

    def step(
        self, y: Tensor, cache: dict[str, Tensor], memory_mask: Tensor | None = None
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the layer's state for the next position, from the keys and values kept so far.

        Args:
            y: (B, 1, d).
            cache: what `start` or the last `step` returned; it is not changed.
            memory_mask: bool (B, 1, S).

        Returns:
            z (B, 1, d), equal to what `forward` returns at this position under a causal mask, and
            the new cache.
        """
        ### BEGIN SOLUTION
        key, value = self.attention.project(y, y)
        keys = torch.cat([cache["keys"], key], dim=2)
        values = torch.cat([cache["values"], value], dim=2)
        found, _ = self.attention(y, None, None, None, (keys, values))  # (B, 1, d)
        y = self.attention_norm(y + self.dropout(found))
        kept = cache["memory_keys"], cache["memory_values"]
        found, _ = self.memory_attention(y, None, None, memory_mask, kept)  # (B, 1, d)
        y = self.memory_attention_norm(y + self.dropout(found))
        z = self.feed_forward_norm(y + self.dropout(self.feed_forward(y)))
        return z, {**cache, "keys": keys, "values": values}
        ### END SOLUTION


# %% [markdown]
# ## Yours and torch's
#
# The next cells need the checks above to pass, and those of `attention.ipynb`. Save that notebook: your
# `MultiHeadAttention` is read from the disk. Your layers and those of `torch.nn` get the same weights and read
# the same sentences. torch keeps the projections of query, key and value in one matrix, and its masks
# are the other way round: `True` means *may not be attended to*.

# %% demo together
# from coursekit.notebook.session import import_answers
#
# import_answers("attention.ipynb")

# %% demo compare
# def copy_attention(mine, theirs):
#     parts = (mine.query, mine.key, mine.value)
#     theirs.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
#     theirs.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
#     theirs.out_proj.load_state_dict(mine.output.state_dict())
#
#
# def copy_rest(mine, theirs, norms):
#     theirs.linear1.load_state_dict(mine.feed_forward.inner.state_dict())
#     theirs.linear2.load_state_dict(mine.feed_forward.outer.state_dict())
#     for number, name in enumerate(norms, start=1):
#         norm = getattr(mine, name)
#         nn.init.normal_(norm.weight, mean=1.0, std=0.3)
#         nn.init.normal_(norm.bias, std=0.3)
#         getattr(theirs, f"norm{number}").load_state_dict(norm.state_dict())
#
#
# torch.manual_seed(0)
# B, S, T, d, heads, m = 3, 7, 5, 24, 4, 96
# x, y = torch.randn(B, S, d), torch.randn(B, T, d)
# real = torch.arange(S) < torch.tensor([7, 4, 2]).unsqueeze(1)  # (B, S)
# causal = torch.ones(1, T, T, dtype=torch.bool).tril()  # (1, T, T)
#
# with torch.no_grad():
#     mine = EncoderLayer(d, MultiHeadAttention(d, heads), PositionwiseFeedForward(d, m))
#     theirs = nn.TransformerEncoderLayer(d, heads, m, dropout=0.0, batch_first=True)
#     copy_attention(mine.attention, theirs.self_attn)
#     copy_rest(mine, theirs, ["attention_norm", "feed_forward_norm"])
#     memory = mine(x, real.unsqueeze(1))
#     gap = (memory - theirs(x, src_key_padding_mask=~real))[real].abs().max()
#     print(f"EncoderLayer: largest difference {gap:.1e}")
#     assert gap < 1e-5
#
#     mine = DecoderLayer(
#         d,
#         MultiHeadAttention(d, heads),
#         MultiHeadAttention(d, heads),
#         PositionwiseFeedForward(d, m),
#     )
#     theirs = nn.TransformerDecoderLayer(d, heads, m, dropout=0.0, batch_first=True)
#     copy_attention(mine.attention, theirs.self_attn)
#     copy_attention(mine.memory_attention, theirs.multihead_attn)
#     copy_rest(mine, theirs, ["attention_norm", "memory_attention_norm", "feed_forward_norm"])
#     z = mine(y, memory, causal, real.unsqueeze(1))
#     wanted = theirs(y, memory, tgt_mask=~causal[0], memory_key_padding_mask=~real)
#     gap = (z - wanted).abs().max()
#     print(f"DecoderLayer: largest difference {gap:.1e}")
#     assert gap < 1e-5

# %% [markdown]
# The same decoder layer, word by word. The cache grows by one position in each step, and each step
# gives what `forward` gave at that position.

# %% demo steps
# with torch.no_grad():
#     cache = mine.start(memory)
#     for t in range(T):
#         state, cache = mine.step(y[:, t : t + 1], cache, real.unsqueeze(1))
#         gap = (state[:, 0] - z[:, t]).abs().max()
#         print(f"word {t}: keys kept {tuple(cache['keys'].shape)}, difference {gap:.1e}")
#         assert gap < 1e-5

# %% [markdown]
# Your positions, a row for each. On the right, the dot product of each pair of rows: it depends on
# how far apart they are, and on nothing else.

# %% demo picture
# import matplotlib.pyplot as plt
#
# from coursekit.plots import style
#
# style.use()
# table = sinusoidal_positions(60, 64)
# figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
# left.imshow(table, aspect="auto", cmap="RdBu_r", vmin=-1, vmax=1)
# left.grid(False)
# right.grid(False)
# left.set(xlabel="component", ylabel="position", title="sinusoidal_positions(60, 64)")
# shown = right.imshow(table @ table.T, cmap="viridis")
# right.set(xlabel="position", ylabel="position", title="dot products of the rows")
# figure.colorbar(shown, ax=right)
# plt.show()

# %% [markdown] play-text-positions
# **Predict, then run.** Which two positions are most alike to position 10? How does the curve change with a size of 4, and with
# 512?

# %% play positions
# size, position = 64, 10
# table = sinusoidal_positions(100, size)
# figure, axes = plt.subplots(figsize=(6.0, 2.6), layout="constrained")
# axes.plot(table @ table[position] / (size / 2))
# axes.set(xlabel="other position", ylabel=f"likeness to {position}")
# plt.show()

# %% [markdown] questions
# **To think about.**
#
# 1. The dot product of rows $pos$ and $pos + k$ is a sum of $d/2$ cosines. Which ones? Why does $pos$
#    not come in?
# 2. A LayerNorm with gain 1 and bias 0 comes after each layer. How long are the vectors that come
#    out, whatever goes in? What would happen to the length over twelve layers without it?
# 3. Which of the tensors in the cache grow with each word, and which stay as they are? How many
#    numbers does a layer keep for a sentence of $S$ words when $T$ words are written?
# 4. `step` needs no causal mask. Why?

# %% answers
# 1. Row $pos$ times row $pos + k$ is, for each pair, $\sin a \sin b + \cos a \cos b = \cos(b -
#    a)$ with $b - a = k / 10000^{2i/d}$. Only the difference is left.
# 2. Mean 0 and variance 1 mean that the squares sum to $d$, so the length is $\sqrt d$ (a hair
#    less, because of $\epsilon$). Without the norm each layer adds to what it is given. If what
#    is added is independent of it and as large, the length grows with the root of the number of
#    layers; if it points the same way, faster.
# 3. `keys` and `values` grow; `memory_keys` and `memory_values` stay. Together $2d (S + T)$
#    numbers for each sentence.
# 4. It computes the newest position only. All that is kept lies before it, so all of it may be
#    attended to; what comes later is not there yet.
