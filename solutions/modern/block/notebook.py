# %% [markdown]
# # Today: the parts of a current decoder
#
# This notebook is a supplement: it leaves the course's timeline, which ends with BERT. The decoders of today's language models
# still consist of attention and a feed-forward network with residual connections. But the parts
# have been exchanged one by one: another norm, another way to say where a word stands, fewer keys and
# values than queries, another network. You write these four, and a fifth function with which
# such a model is adapted to a task at little cost. At the end your parts make a small decoder that
# writes stories.
#
# {{ exercises }}
#
# **Before you begin.** You need `transformer/attention.ipynb` and `transformer/layers.ipynb`, solved. The ideas are explained in [Chapter 10](../../book/10_what_changed.md). Allow half to one and
# a half times the minutes in the table, depending on how well you know torch.
#
# **Shapes.** $B$ texts in the batch, $T$ queries, $N$ keys (and as many values), $h$ heads of
# queries, $G$ heads of keys and values, $d$ the size of a vector, $m$ the size inside the network.
# Masks are boolean and `True` means *may be attended to*. Matrices are those of torch's linear
# layers, $(d_\text{out}, d_\text{in})$: where the formula says $W x$, the code says `x @ W.T`.

# %% setup
import torch
from torch import Tensor

# %% notebook setup-check
# from autograder import check
# from coursekit.notebook.session import start
#
# start()

# %% demo overview
# from coursekit.plots import diagrams
#
# figure = diagrams.draw("today")

# %% earlier
from solutions.transformer.attention import scaled_dot_product_attention

# %% [markdown]
# ## `rms_norm`
#
# A LayerNorm takes the mean off a vector, divides by the standard deviation and adds a bias. Which of that is
# needed? Zhang and Sennrich left the mean and the bias away, divided by the *root of the mean square* alone, and the
# models they tried were about as good:
#
# $$\mathrm{RMSNorm}(x) = g \odot \frac{x}{\sqrt{\frac{1}{d} \sum_{k=1}^{d} x_k^2 + \epsilon}}
# \qquad x: (\dots, d),\quad g: (d,)$$
#
# What is left is the direction of the vector. Its length becomes $\sqrt d$, before the gain.
# The paper has no $\epsilon$; today's code adds it to the mean square, under the root.
#
# torch has this as `torch.nn.functional.rms_norm`, which would be the whole answer. Write it without.


# %% exercise
def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """Divide each vector by the root of its mean square, then multiply by the gain.

    y = weight * x / sqrt(mean(x^2) + eps)

    The mean is over the last axis. A vector of zeros stays a vector of zeros. Write it without
    torch's `rms_norm`, which is the whole answer.

    Args:
        x: (..., d).
        weight: gain g, (d,).
        eps: added to the mean square.

    Returns:
        (..., d).

    Source: Zhang and Sennrich (2019), equation 4, where eps is 0.
    """
    ### BEGIN SOLUTION
    mean_square = x.square().mean(dim=-1, keepdim=True)  # (..., 1)
    return weight * x / (mean_square + eps).sqrt()
    ### END SOLUTION


# %% [markdown]
# ## `rotary_positions`
#
# The Transformer of 2017 adds a vector of sines and cosines to each word. One query can then ask for "the word three before me",
# because going $k$ positions further is a *rotation* of each pair of sine and cosine.
# Rotary positions use the rotation itself, and add nothing: the query at position $p$ is turned by angles that are
# proportional to $p$, the key at position $j$ by angles proportional to $j$. In their dot product only the difference of the angles is left,
# and so only the distance $j - p$.
#
# Pair $i$ of a vector consists of the *neighbours* $x_{2i}$ and $x_{2i+1}$. It turns by the angle
# $p\,\theta_i$:
#
# $$\theta_i = b^{-2i/d} \qquad i = 0, \dots, d/2 - 1$$
#
# $$\begin{aligned}
# y_{2i} &= x_{2i} \cos p\,\theta_i - x_{2i+1} \sin p\,\theta_i \\
# y_{2i+1} &= x_{2i} \sin p\,\theta_i + x_{2i+1} \cos p\,\theta_i
# \end{aligned}$$
#
# $$x, y: (\dots, N, d),\quad p: (N,)$$
#
# * The base $b$ is 10,000, as it was for the sinusoids. Models for long texts take a larger one, so that
#   the slowest pairs turn more slowly.
# * The dots may stand for nothing, for $(B,)$, or for $(B, h)$: batch and heads. All of them have the same positions.
# * Positions are given, since they need not begin at 0: a decoder that has kept its keys turns only the newest ones.
# * A rotation does not change a vector's length, and nothing is learned.
#
# Published weights fit one convention only. The paper turns neighbours, as here; LLaMA's weights as Hugging Face
# stores them turn $x_i$ and $x_{i + d/2}$ together. It is the same with the components in another order.

# %% hints
# * First the table of angles, $(N, d/2)$: a column of positions times a row of the $\theta_i$. Make it
#   in the dtype of `x`, or in float64, so that no digits are lost.
# * The even components, `::2`, and the odd ones are two tensors of $(\dots, N, d/2)$. Each of the
#   two lines of the formula is a line of code.
# * The two results are neighbours again: stack them along a new last axis and join the last two axes.


# %% exercise
def rotary_positions(x: Tensor, positions: Tensor, base: float = 10_000.0) -> Tensor:
    """Turn each pair of components by an angle that is proportional to the position.

    theta_i = base^(-2i / d),
    y_2i = x_2i cos(p theta_i) - x_2i+1 sin(p theta_i),
    y_2i+1 = x_2i sin(p theta_i) + x_2i+1 cos(p theta_i)

    Args:
        x: queries or keys, (..., N, d); d is even.
        positions: p, whole numbers (N,), in any order.
        base: the larger it is, the more slowly the last pairs turn.

    Returns:
        (..., N, d), in x's dtype.

    Source: Su et al. (2024), section 3.4.2, equation 34.
    """
    ### BEGIN SOLUTION
    pairs = torch.arange(0, x.shape[-1], 2, dtype=x.dtype, device=x.device)  # 2i, (d / 2,)
    theta = base ** (-pairs / x.shape[-1])  # (d / 2,)
    angle = positions.unsqueeze(1) * theta  # (N, d / 2)
    even, odd = x[..., ::2], x[..., 1::2]  # (..., N, d / 2) each
    first = even * angle.cos() - odd * angle.sin()  # (..., N, d / 2)
    second = even * angle.sin() + odd * angle.cos()  # (..., N, d / 2)
    return torch.stack([first, second], dim=-1).flatten(-2)  # (..., N, d)
    ### END SOLUTION


# %% [markdown]
# ## `grouped_query_attention`
#
# While a decoder writes, it keeps the keys and values of all words so far: in each layer two vectors of
# $h\,d_k$ numbers for each word. For long texts that is more memory than anything else that grows, and all of it is read for each new
# word. Shazeer (2019) let all heads of queries share *one* head of keys and values. Grouped queries are the
# compromise: $G$ heads of keys and values, each for $h/G$ *neighbouring* heads of queries.
#
# $$\mathrm{head}_i = \mathrm{Attention}\left(Q_i,\; K_{\lfloor i G / h \rfloor},\; V_{\lfloor i G / h \rfloor}\right)
# \qquad i = 0, \dots, h - 1$$
#
# $$Q: (B, h, T, d_k),\quad K: (B, G, N, d_k),\quad V: (B, G, N, d_v),\quad
# \text{output}: (B, h, T, d_v),\quad \text{weights}: (B, h, T, N)$$
#
# With $G = h$ it is the attention of 2017, with $G = 1$ Shazeer's. The attention itself does not
# change: your `scaled_dot_product_attention` is given at the top.
#
# torch's `scaled_dot_product_attention` with `enable_gqa` would be the whole answer and may not be used.

# %% hints
# * Six heads of queries and two of keys: which of them look at head 0 of the keys? Write down the list of six
#   numbers. `repeat` and `repeat_interleave` give two different lists.
# * One way: repeat keys and values along their axis of heads until there are $h$. Another, without copies: give
#   the queries two axes, $(B, G, h/G, T, d_k)$, and the keys a 1 in that place; then the mask needs the same axes.


# %% exercise
def grouped_query_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Attend with more heads of queries than of keys and values.

    head_i = Attention(Q_i, K_g, V_g) with g = floor(i G / h)

    Not allowed, because it is the whole answer: torch's own scaled_dot_product_attention.

    Args:
        query: (B, h, T, d_k).
        key: (B, G, N, d_k); h is a multiple of G.
        value: (B, G, N, d_v).
        mask: bool, True = may be attended to; broadcasts to (B, h, T, N). None: everything may.

    Returns:
        output (B, h, T, d_v) and weights (B, h, T, N), exactly 0 where the mask is False. A query
        that may attend to nothing has weights and an output of 0.

    Source: Ainslie et al. (2023), section 2.2.
    """
    ### BEGIN SOLUTION
    sharing = query.shape[1] // key.shape[1]  # h / G
    keys = key.repeat_interleave(sharing, dim=1)  # (B, h, N, d_k)
    values = value.repeat_interleave(sharing, dim=1)  # (B, h, N, d_v)
    return scaled_dot_product_attention(query, keys, values, mask)
    ### END SOLUTION


# %% [markdown]
# ## `swiglu`
#
# The network of 2017 decides with a ReLU which of its hidden units are on. A *gated* network makes two
# projections and multiplies them number by number: one is the content, the other says how much of it passes. In SwiGLU
# the gate goes through $\mathrm{SiLU}(z) = z\,\sigma(z)$, a smooth relative of the ReLU, which is also called Swish:
#
# $$\mathrm{FFN}(x) = W_\text{down}\left(\mathrm{SiLU}(W_\text{gate}\,x) \odot W_\text{up}\,x\right)$$
#
# $$x: (\dots, d),\quad W_\text{gate}, W_\text{up}: (m, d),\quad W_\text{down}: (d, m)$$
#
# There are three matrices instead of two, and no biases. So that the network does not grow, $m$ is
# usually about $\frac{8}{3} d$ and not $4 d$: as many weights as before.


# %% exercise
def swiglu(x: Tensor, gate: Tensor, up: Tensor, down: Tensor) -> Tensor:
    """Let one projection, through SiLU, decide how much of another passes.

    y = W_down (SiLU(W_gate x) * W_up x),  SiLU(z) = z sigmoid(z)

    Args:
        x: (..., d).
        gate: W_gate, (m, d).
        up: W_up, (m, d).
        down: W_down, (d, m).

    Returns:
        (..., d).

    Source: Shazeer (2020), equation 6, FFN_SwiGLU, where gate is W, up is V and down is W_2.
    """
    ### BEGIN SOLUTION
    gates = x @ gate.T  # (..., m)
    return (gates * gates.sigmoid() * (x @ up.T)) @ down.T  # (..., d)
    ### END SOLUTION


# %% [markdown]
# ## `lora_linear`
#
# A large model is fine-tuned for a task. All its weights change, and each task needs a copy of its own. LoRA
# (*low-rank adaptation*) leaves a matrix $W$ as it is and learns what is to be *added* to it, as a product of two thin matrices of rank
# $r$:
#
# $$y = W x + b + \frac{s}{r}\, B\,(A\,x)$$
#
# $$x: (\dots, d),\quad W: (m, d),\quad b: (m,),\quad y: (\dots, m),\quad A: (r, d),\quad B: (m, r)$$
#
# * $W$ and $b$ are *frozen*: no gradient flows into them, only through them to $x$. $A$ and $B$ are learned.
# * $B$ begins at 0, so that the model is unchanged before the first step. $A$ begins at random; if both were 0, neither would get a gradient.
# * From the right to the left: $A x$ has only $r$ numbers. The product $B A$, an $(m, d)$ matrix, need not be made.
# * The scale $s$ is divided by the rank: with another rank the learning rate need hardly be chosen anew. (The paper calls it $\alpha$.)

# %% hints
# * Two terms: the frozen layer, and the correction. Which of the two has gradients for its matrices, and which only for $x$?
# * The rank is the size of an axis of $A$. Which one?


# %% exercise
def lora_linear(
    x: Tensor, weight: Tensor, bias: Tensor | None, A: Tensor, B: Tensor, scale: float
) -> Tensor:
    """Apply a frozen linear layer, and add a trained correction of low rank.

    y = W x + b + (s / r) B A x,  r = A.shape[0]

    Args:
        x: (..., d).
        weight: W, (m, d); no gradient flows into it.
        bias: b, (m,); no gradient flows into it. None: there is none.
        A: (r, d).
        B: (m, r).
        scale: s.

    Returns:
        (..., m).

    Source: Hu et al. (2022), section 4.1, equation 3, where the scale is alpha.
    """
    ### BEGIN SOLUTION
    frozen = x @ weight.detach().T  # (..., m)
    if bias is not None:
        frozen = frozen + bias.detach()
    return frozen + scale / len(A) * (x @ A.T @ B.T)  # (..., m)
    ### END SOLUTION


# %% [markdown]
# ## Yours and torch's
#
# The next cells need the checks above to pass. torch has the norm and the grouped attention. A rotation of a pair
# is the product with a complex number of length 1, which is another way to the same.

# %% demo compare
# import torch.nn.functional as F
# from torch import nn
#
# torch.manual_seed(0)
# B, h, G, T, d = 3, 6, 2, 7, 16
# x = torch.randn(B, T, d)
# theirs = nn.RMSNorm(d, eps=1e-6)
# nn.init.normal_(theirs.weight)
# q = torch.randn(B, h, T, d)
# k, v = torch.randn(2, B, G, T, d)
# places = torch.arange(100, 100 + T)
# with torch.no_grad():
#     gaps = {"rms_norm": rms_norm(x, theirs.weight) - theirs(x)}
#     angle = places.unsqueeze(1) * 10_000 ** (-torch.arange(0, d, 2) / d)  # (T, d / 2)
#     turned = torch.view_as_complex(q.unflatten(-1, (-1, 2))) * torch.polar(torch.ones(()), angle)
#     gaps["rotary_positions"] = rotary_positions(q, places) - torch.view_as_real(turned).flatten(-2)
#     causal = torch.ones(T, T, dtype=torch.bool).tril()
#     wanted = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
#     gaps["grouped_query_attention"] = grouped_query_attention(q, k, v, causal)[0] - wanted
# for name, gap in gaps.items():
#     print(f"{name}: largest difference {gap.abs().max():.1e}")
#     assert gap.abs().max() < 1e-4

# %% [markdown]
# **Only distances count.** One query and one key, at all pairs of positions up to 40: the picture of their scores is made of
# diagonal stripes. On each diagonal the distance is the same.

# %% demo stripes
# import matplotlib.pyplot as plt
#
# from coursekit.plots import style
#
# style.use()
# torch.manual_seed(1)
# places = torch.arange(40)
# query, key = torch.randn(2, 1, 32)
# scores = rotary_positions(query.expand(40, 32), places) @ rotary_positions(key.expand(40, 32), places).T
# figure, axes = plt.subplots(figsize=(4.2, 3.4), layout="constrained")
# shown = axes.imshow(scores, cmap="viridis")
# axes.grid(False)
# axes.set(xlabel="position of the key", ylabel="position of the query", title="one query, one key")
# figure.colorbar(shown, ax=axes, label="score")
# plt.show()

# %% [markdown] play-text-far
# **Predict, then run.** Let query and key be the same vector. Where is the score largest, and does it always fall with the distance?
# What does a base of 100 change, and one of a million?

# %% play far
# base = 10_000
# query = torch.ones(64)
# turned = rotary_positions(query.expand(200, 64), torch.arange(200), base)
# figure, axes = plt.subplots(figsize=(6.0, 2.6), layout="constrained")
# axes.plot(turned @ query)
# axes.set(xlabel="distance", ylabel="score")
# plt.show()

# %% [markdown]
# ## A decoder of your parts writes
#
# The block below is today's: the norm before each sub-layer, no biases, your four parts. The model predicts each next word of the
# course's made-up stories. 10 to 40 seconds on a CPU.

# %% demo write
# import torch.nn.functional as F
# from torch import nn
#
# from coursekit.models.cloze import story_vocabulary
# from coursekit.corpora.stories import splits
# from coursekit.training import seed_everything
#
#
# class Block(nn.Module):
#     def __init__(self, width, heads, groups):
#         super().__init__()
#         self.size, inner = width // heads, 8 * width // 3
#         shapes = {
#             "query": (width, width), "key": (groups * self.size, width),
#             "value": (groups * self.size, width), "output": (width, width),
#             "gate": (inner, width), "up": (inner, width), "down": (width, inner),
#         }
#         self.weights = nn.ParameterDict(
#             {name: torch.randn(shape) * shape[1] ** -0.5 for name, shape in shapes.items()}
#         )
#         self.gains = nn.Parameter(torch.ones(2, width))
#
#     def forward(self, x):
#         w, places = self.weights, torch.arange(x.shape[1])
#         y = rms_norm(x, self.gains[0])  # (B, N, d)
#         q, k, v = (
#             (y @ w[name].T).unflatten(-1, (-1, self.size)).transpose(1, 2)  # (B, h or G, N, d_k)
#             for name in ("query", "key", "value")
#         )
#         seen = places <= places.unsqueeze(1)  # (N, N)
#         found, _ = grouped_query_attention(
#             rotary_positions(q, places), rotary_positions(k, places), v, seen
#         )
#         x = x + found.transpose(1, 2).flatten(2) @ w["output"].T
#         return x + swiglu(rms_norm(x, self.gains[1]), w["gate"], w["up"], w["down"])
#
#
# class Writer(nn.Module):
#     def __init__(self, words, width=64, heads=4, groups=2, layers=2):
#         super().__init__()
#         self.embedding = nn.Embedding(words, width)
#         nn.init.normal_(self.embedding.weight, std=width**-0.5)
#         self.blocks = nn.Sequential(*(Block(width, heads, groups) for _ in range(layers)))
#         self.gain = nn.Parameter(torch.ones(width))
#
#     def forward(self, tokens):
#         states = rms_norm(self.blocks(self.embedding(tokens)), self.gain)  # (B, N, d)
#         return states @ self.embedding.weight.T  # (B, N, V)
#
#
# stories = splits(2_000, 10, 100, seed=1)
# vocabulary = story_vocabulary(stories.train)
#
#
# def rows(told):
#     ids = []
#     for story in told:
#         ids.append([vocabulary.cls_id])
#         for sentence in story.sentences:
#             ids[-1] += [*(vocabulary.id(word) for word in sentence), vocabulary.sep_id]
#     texts = [torch.tensor(one) for one in ids]
#     return nn.utils.rnn.pad_sequence(texts, batch_first=True, padding_value=vocabulary.pad_id)
#
#
# def next_word_loss(model, texts):
#     texts = texts[:, : int((texts != vocabulary.pad_id).sum(1).max())]
#     logits = model(texts[:, :-1]).flatten(0, 1)
#     return F.cross_entropy(logits, texts[:, 1:].flatten(), ignore_index=vocabulary.pad_id)
#
#
# seed_everything(0)
# writer, texts, unseen = Writer(len(vocabulary)), rows(stories.train), rows(stories.test)
# adam = torch.optim.Adam(writer.parameters(), betas=(0.9, 0.98))
# updates = 400
# for update in range(updates):
#     adam.param_groups[0]["lr"] = 6e-3 * min((update + 1) / 40, 1.1 * (1 - update / updates), 1.0)
#     loss = next_word_loss(writer, texts[torch.randint(len(texts), (24,))])
#     adam.zero_grad()
#     loss.backward()
#     nn.utils.clip_grad_norm_(writer.parameters(), 1.0)
#     adam.step()
# with torch.no_grad():
#     perplexity = next_word_loss(writer, unseen).exp()
# print(f"perplexity on unseen stories {perplexity:.1f}; a uniform guess has {len(vocabulary)}")

# %% [markdown] play-text-temperature
# **Predict, then run.** The temperature divides the logits before a word is drawn. What does the model write at 0.1, and what at 3?
# Change the first words as well: they have to be words of the stories.

# %% play temperature
# temperature, seed = 0.7, 0
# torch.manual_seed(seed)
# ids = [vocabulary.cls_id]
# with torch.no_grad():
#     while len(ids) < 60 and ids.count(vocabulary.sep_id) < 4:
#         shares = (writer(torch.tensor([ids]))[0, -1] / temperature).softmax(dim=-1)
#         ids.append(int(torch.multinomial(shares, 1)))
# print(" ".join(vocabulary.tokens(ids[1:])).replace(" [SEP]", "."))

# %% [markdown]
# ## A correction of rank $r$
#
# A matrix $W$ has to become $W + \Delta$, where the change $\Delta$ has rank 4. Your layer learns it with corrections of rank 1, 2, 4 and 8.
# The error that is left cannot be less than that of the best approximation of each rank, which the singular values tell
# (Eckart and Young 1936). Afterwards the correction is added into the matrix, and the layer costs what it cost before. 2 to 10 seconds.

# %% demo rank
# torch.manual_seed(0)
# d, m, true_rank = 32, 24, 4
# weight, bias = torch.randn(m, d), torch.randn(m)
# change = torch.randn(m, true_rank) @ torch.randn(true_rank, d) / 4
# squares = torch.linalg.svdvals(change).square()
# for rank in (1, 2, 4, 8):
#     A = (torch.randn(rank, d) / d**0.5).requires_grad_()
#     B = torch.zeros(m, rank, requires_grad=True)
#     adam = torch.optim.Adam([A, B], lr=0.02)
#     for _ in range(1_500):
#         x = torch.randn(64, d)
#         wanted = x @ (weight + change).T + bias
#         loss = (lora_linear(x, weight, bias, A, B, scale=8.0) - wanted).square().sum(1).mean()
#         adam.zero_grad()
#         loss.backward()
#         adam.step()
#     with torch.no_grad():
#         left = (8.0 / rank * B @ A - change).square().sum() / squares.sum()
#         merged = x @ (weight + 8.0 / rank * B @ A).T + bias
#         gap = (merged - lora_linear(x, weight, bias, A, B, scale=8.0)).abs().max()
#     best = squares[rank:].sum() / squares.sum()
#     print(
#         f"rank {rank}: {A.numel() + B.numel():>4} numbers of {weight.numel()}; left of the change "
#         f"{left:6.1%}, at best {best:6.1%}; merged: largest difference {gap:.0e}"
#     )

# %% [markdown] questions
# **To think about.**
#
# 1. A vector is multiplied by 10. What does `rms_norm` make of it, compared with before? And if 10 is *added* to each component?
#    Answer the same for a LayerNorm.
# 2. Why are the values not rotated?
# 3. A model has 32 layers, 32 heads of queries and heads of size 128. How much memory do keys and values of 8,000 words take
#    with $G = 32$ and with $G = 8$, at two bytes for a number?
# 4. In `lora_linear`, $B$ is 0 at the first step. Which of $A$ and $B$ gets a gradient then?

# %% answers
# 1. RMSNorm: nothing changes (but for $\epsilon$), since the root of the mean square grows tenfold as well. Adding
#    10 changes it much: all components become nearly equal to 1, times the gain. A LayerNorm
#    ignores both: it takes the mean off first.
# 2. The weights already depend on the distance through the scores. The value says what a word *is*; rotated by its
#    position it would be another vector at every place, and the sum would mix the word with where it stands.
# 3. $2 \cdot 32 \cdot 32 \cdot 128 \cdot 8000 \cdot 2$ bytes, about 4.2 GB; with eight heads a quarter, about 1.05 GB.
# 4. The gradient of $A$ is a product with $B$, so it is 0. That of $B$ is a product with $A x$, which is not. After
#    the first step $B$ is no longer 0, and both learn.

# %% [markdown] open-task
# ## An open task
#
# Make the writer better without making it larger or training it longer: `Writer`'s parameters and the 400 updates stay. Try the
# number of heads and groups, the base of the rotation, the learning rate, dropout, or a norm of queries and keys. The
# goal is a lower perplexity on the unseen stories than that of the cell above. Change one thing at a time, with
# three seeds each: how far apart are the seeds of one setting?
