# %% [markdown]
# # Luong attention III: local attention
#
# A global attention scores every source word for every target word. For a long text that is much work
# for few words that matter. Luong, Pham and Manning (2015) look at a *window* only: the decoder first
# decides where, and then spreads its attention over the words around that position. In this notebook
# you build the window, the two ways to place it, and the module that `LuongDecoder` can use in place of a
# global attention.
#
# {{ exercises }}
#
# **Before you begin.** You need `scores.ipynb` and `decoder.ipynb`, solved. The ideas are explained in [Chapter 4](../../book/04_luong.md). Allow half to one and
# a half times the minutes in the table, depending on how well you know torch.
#
# **Positions** count from 0, like indices in Python, and are *real numbers*: the decoder may look at
# 3.4. They are never rounded. The paper counts from 1. What that changes for the last word is said at `predicted_position`.
#
# **Shapes.** $B$ sentences in the batch, $N$ source positions, of which the first $S$ are real words
# (`lengths`, a different $S$ for each sentence) and the rest padding. So $S$ is here, as in the paper, the length of
# one sentence; the width of the batch, which was $S$ in `decoder.ipynb`, is $N$. $D$, half the width of the
# window, is a number that you choose before training; it need not be whole.

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
# figure = diagrams.draw("window")

# %% earlier
from solutions.bahdanau.scores import masked_softmax

# %% [markdown]
# ## `local_window`
#
# The window around position $p$ reaches from $p - D$ to $p + D$, with both ends. A word belongs to it
# if it is near enough *and* there is such a word:
#
# $$w_s = \left[\; |s - p| \le D \;\text{ and }\; s < S \;\right]
# \qquad p: (B,),\quad S: (B,),\quad s = 0, \dots, N - 1,\quad w: (B, N) \text{ bool}$$
#
# For whole $p$ and $D$ these are $2D + 1$ words. At the ends of a sentence the window is cut, not
# moved. It may be empty: around $p = 9$ in a sentence of 5 words with $D = 2$ there is nothing.

# %% hints
# * The positions are $0, \dots, N - 1$ for every sentence; what differs from row to row is where
#   the window lies and where the sentence ends. Which axes does each have?
# * Two conditions, each a boolean table $(B, N)$: near enough, and a real word. Nothing is
#   rounded; compare the distance itself with $D$.


# %% exercise
def local_window(position: Tensor, lengths: Tensor, D: float, N: int) -> Tensor:
    """Mark the source positions near p that are real words.

    |s - p| <= D  and  s < length

    Args:
        position: p, real numbers (B,), counted from 0 and not rounded.
        lengths: number of real source words, (B,).
        D: half the width of the window.
        N: number of source positions.

    Returns:
        bool (B, N).

    Source: Luong et al. (2015), section 3.2.
    """
    ### BEGIN SOLUTION
    positions = torch.arange(N, device=position.device)  # (N,)
    near = (positions - position.unsqueeze(1)).abs() <= D  # (B, N)
    return near & (positions < lengths.unsqueeze(1))  # (B, N)
    ### END SOLUTION


# %% [markdown]
# ## `predictive_position`
#
# Where should the window be? If both languages have their words in about the same order, at $p_t = t$:
# that is the *monotonic* kind. If not, the decoder has to tell. A small network reads its state and
# gives a share between 0 and 1: how far into the sentence to look. Times the sentence's length it is a
# position.
#
# $$p_t = S \cdot \mathrm{sigmoid}\left(v^\top \tanh(W h_t)\right)
# \qquad h: (B, d),\quad W: (n, d),\quad v: (n,),\quad S: (B,),\quad p: (B,)$$
#
# The paper writes $W_p$ and $v_p$. $S$ is the length of the sentence itself, not of the batch. It
# stays $S$, although the last word has the position $S - 1$ here: the paper lets $p_t$ range from 0
# to $S$, and a centre that lies up to one position beyond the last word does no harm.


# %% exercise
def predictive_position(state: Tensor, lengths: Tensor, W: Tensor, v: Tensor) -> Tensor:
    """Predict from the decoder's state where to look.

    p = S sigmoid(v^T tanh(W h)),  S = the sentence's length

    Args:
        state: h, (B, d).
        lengths: number of real source words, (B,).
        W: (n, d).
        v: (n,).

    Returns:
        positions between 0 and S, (B,), real numbers.

    Source: Luong et al. (2015), equation 9.
    """
    ### BEGIN SOLUTION
    return lengths * torch.sigmoid(torch.tanh(state @ W.T) @ v)  # (B,)
    ### END SOLUTION


# %% [markdown]
# ## `gaussian_weights`
#
# A window says yes or no, and a yes or no has no gradient: moved a little, it usually holds the same
# words, so nothing could teach $W$ and $v$ where to look. Therefore the weights are multiplied by a
# Gaussian centred at $p$. Move $p$ a little, and all weights change a little: the gradient gets through.
#
# $$a_s = \alpha_s \exp\left(-\frac{(s - p)^2}{2\sigma^2}\right), \quad \sigma = \frac{D}{2}
# \qquad \alpha: (B, N),\quad p: (B,),\quad a: (B, N)$$
#
# The Gaussian is 1 at $p$ and $e^{-2} \approx 0.14$ at the window's ends, two $\sigma$ away. The
# weights are *not* divided by their sum again: they add up to less than 1, and a context from far away
# comes out small.

# %% hints
# * Distances again: positions $(N)$ against one centre for each row, so that the result is $(B,
#   N)$.
# * Write $\sigma$ down as a number of its own first. In Python `a / 2 * b` is $(a / 2) \cdot b$,
#   not $a / (2b)$.


# %% exercise
def gaussian_weights(weights: Tensor, position: Tensor, D: float) -> Tensor:
    """Favour the positions near p.

    a_s = weights_s exp(-(s - p)^2 / (2 sigma^2)),  sigma = D / 2

    Args:
        weights: of the softmax over the window, (B, N).
        position: p, (B,).
        D: half the width of the window.

    Returns:
        weights (B, N), not renormalised: their sum is below 1.

    Source: Luong et al. (2015), equation 10.
    """
    ### BEGIN SOLUTION
    positions = torch.arange(weights.shape[1], device=weights.device)  # (N,)
    distance = positions - position.unsqueeze(1)  # (B, N)
    return weights * torch.exp(-(distance**2) / (2 * (D / 2) ** 2))
    ### END SOLUTION


# %% [markdown]
# ## `LocalAttention`
#
# Now the whole, for one target word:
#
# 1. **Where?** $p_t = t$ for "monotonic", the prediction from the query $h_t$ for "predictive".
# 2. **Which words?** Those of the window around $p_t$.
# 3. **How much of each?** The softmax of their scores, over the window *alone*: a word outside has no
#    part in the sum of the denominator.
# 4. **The Gaussian**, for "predictive" only. "monotonic" takes the weights of the softmax as they are.
# 5. **The context**, the sum of the keys with these weights.
#
# $$\alpha_s = \frac{w_s \exp e_s}{\sum_{s'} w_{s'} \exp e_{s'}}, \qquad
# a_s = \begin{cases}\alpha_s & \text{monotonic} \\
# \alpha_s \exp\left(-\frac{(s - p_t)^2}{2\sigma^2}\right) & \text{predictive}\end{cases}, \qquad
# c_t = \sum_s a_s \bar h_s$$
#
# $$h_t: (B, d_q),\quad \bar h: (B, N, d_k),\quad e, w, \alpha, a: (B, N),\quad c: (B, d_k)$$
#
# The score is a module that you are given: `score(query, keys)` returns $(B, N)$. In a mask all real
# words come first, so their number is $S$. A window without any real word, as for a monotonic position
# beyond the end of a short sentence, gives weights and a context of 0, and gradients of 0, not NaN.
#
# Use your three functions; the check uses everything together.

# %% hints
# * Go through the five points with your own three functions. What is given, and what has to be
#   made first: the length of each sentence?
# * The mask holds the lengths: count its `True` in each row. A monotonic centre is the same
#   number for all sentences, as a tensor $(B)$ of the query's dtype and device.
# * The softmax runs over the window alone, so the window goes where a mask would go. Only
#   "predictive" multiplies by the Gaussian, and nothing is renormalised afterwards.


# %% exercise
class LocalAttention(nn.Module):
    """Attend to a window of the source around one position.

    "monotonic":   p = t,                           a = softmax over the window
    "predictive":  p = S sigmoid(v^T tanh(W h_t)),  a = softmax over the window, times a Gaussian

    Parameters: those of `score`; for "predictive" also `W` (hidden_size, query_size) and `v`
    (hidden_size,). A window without a real word gives weights and a context of 0.

    Source: Luong et al. (2015), section 3.2, equations 7, 9 and 10.
    """

    def __init__(self, kind: str, score: nn.Module, query_size: int, hidden_size: int, D: float):
        super().__init__()
        if kind not in ("monotonic", "predictive"):
            raise ValueError(f"kind is {kind!r}; it must be monotonic or predictive.")
        self.kind = kind
        self.score = score
        self.D = D
        if kind == "predictive":
            self.W = nn.Parameter(torch.empty(hidden_size, query_size))
            self.v = nn.Parameter(torch.empty(hidden_size))
            nn.init.xavier_uniform_(self.W)
            nn.init.uniform_(self.v, -(hidden_size**-0.5), hidden_size**-0.5)

    def forward(
        self, query: Tensor, keys: Tensor, mask: Tensor, position: int
    ) -> tuple[Tensor, Tensor]:
        """Attend around the target word's own position, or around a predicted one.

        Args:
            query: h_t, (B, d_q).
            keys: encoder states (B, N, d_k).
            mask: bool (B, N), True = a real source word; real words come first.
            position: t, index of the target word, from 0.

        Returns:
            context (B, d_k) and weights (B, N).
        """
        ### BEGIN SOLUTION
        lengths = mask.sum(dim=1)  # (B,)
        if self.kind == "monotonic":
            centre = torch.full_like(query[:, 0], position)  # (B,)
        else:
            centre = predictive_position(query, lengths, self.W, self.v)  # (B,)
        window = local_window(centre, lengths, self.D, keys.shape[1])  # (B, N)
        weights = masked_softmax(self.score(query, keys), window)  # (B, N)
        if self.kind == "predictive":
            weights = gaussian_weights(weights, centre, self.D)  # (B, N)
        context = torch.einsum("bn,bnd->bd", weights, keys)  # (B, d_k)
        return context, weights
        ### END SOLUTION


# %% [markdown]
# ## See it
#
# One query, a sentence of 12 words, and one row of scores, used three times: by a softmax over all
# words, by a monotonic window around word 4, and by a predicted one. $W$ and $v$ are set by hand so that
# the prediction is 7.4. The shaded part is the window; the dashed line is the Gaussian at the words,
# drawn at 0.4 of its size.

# %% demo drawing
# class FixedScore(nn.Module):
#     """Gives the same scores whatever is asked."""
#
#     def __init__(self, scores):
#         super().__init__()
#         self.scores = scores
#
#     def forward(self, query, keys):
#         return self.scores
#
#
# import matplotlib.pyplot as plt
#
# from coursekit.plots import style
#
# style.use()
# N, D, t, p = 12, 2.5, 4, 7.4
# scores = torch.tensor([[0.2, 1.1, -0.4, 0.9, 0.1, 1.4, 0.6, 1.2, 1.5, -0.3, 1.7, 0.8]])
# query, keys, mask = torch.ones(1, 1), torch.randn(1, N, 3), torch.ones(1, N).bool()
# monotonic = LocalAttention("monotonic", FixedScore(scores), 1, 1, D)
# predictive = LocalAttention("predictive", FixedScore(scores), 1, 1, D)
# with torch.no_grad():
#     predictive.W.fill_(1.0)
#     predictive.v.fill_(torch.logit(torch.tensor(p / N)) / torch.tanh(torch.tensor(1.0)))
#     rows = {
#         "softmax over all words": (scores.softmax(dim=1), None),
#         f"monotonic, p = {t}": (monotonic(query, keys, mask, t)[1], float(t)),
#         f"predictive, p = {p}": (predictive(query, keys, mask, t)[1], p),
#     }
# figure, panels = plt.subplots(3, 1, sharex=True, figsize=(6.6, 5.0), layout="constrained")
# for panel, (title, (weights, centre)) in zip(panels, rows.items()):
#     if centre is not None:
#         panel.axvspan(centre - D, centre + D, color=style.SERIES[5], alpha=0.25, linewidth=0)
#         panel.axvline(centre, color=style.SERIES[1], linewidth=1)
#     panel.bar(range(N), weights[0], width=0.6)
#     if title.startswith("predictive"):
#         bell = gaussian_weights(torch.ones(1, N), torch.tensor([centre]), D)[0]
#         panel.plot(range(N), 0.4 * bell, "--", color=style.SERIES[1], linewidth=1)
#     panel.set(ylim=(0, 0.45), ylabel="weight", title=f"{title}: sum {weights.sum():.2f}")
# _ = panels[-1].set(xlabel="source position", xticks=range(N), xlim=(-0.6, N - 0.4))

# %% [markdown] play-text-window
# **Predict, then run.** With $D = 1$, what does the predictive kind sum to? And with $D = 20$? Where is the sum
# smaller, with $p$ at a word or between two: for $D = 1$, and for $D = 2.5$?

# %% play window
# D, t, p = 2.5, 4, 7.4
# for kind, centre in (("monotonic", t), ("predictive", p)):
#     look = LocalAttention(kind, FixedScore(scores), 1, 1, D)
#     with torch.no_grad():
#         if kind == "predictive":
#             look.W.fill_(1.0)
#             look.v.fill_(torch.logit(torch.tensor(p / N)) / torch.tanh(torch.tensor(1.0)))
#         weights = look(query, keys, mask, t)[1][0]
#     print(f"{kind:<11}", "  ".join(f"{w:.2f}" for w in weights.tolist()), f"  sum {weights.sum():.2f}")

# %% [markdown]
# ## Your decoder with your local attention
#
# The corpus is that of `decoder.ipynb`, English to Korean. The verb of an English sentence stands in
# its middle, that of a Korean one at its end, so the order of the words changes much. Which kind will
# cope?
#
# The next cell reads your scores and your decoder from the disk: save `scores.ipynb` and `decoder.ipynb`.
# Both kinds are trained with $D = 4$ on the sentences of up
# to 12 words, each for half a minute to two minutes on a CPU.

# %% demo together
# from coursekit.notebook.session import import_answers
#
# import_answers("scores.ipynb", "decoder.ipynb")

# %% demo train
# import torch.nn.functional as F
#
# from coursekit.data.batching import batches_by_length
# from coursekit.data.lesson_data import translation_data
# from coursekit.training import seed_everything, train
# from coursekit.models.translation import LuongTranslator
# from coursekit.text.vocabulary import PAD
#
#
# def loss(model, batch):
#     logits, weights = model(batch.source, batch.lengths, batch.previous)  # (B, T, V), (B, T, S)
#     return F.cross_entropy(logits.flatten(0, 1), batch.target.flatten(), ignore_index=PAD)
#
#
# from coursekit.training.metrics import exact_match
# from coursekit.models.translation import translate
#
# data, longest = translation_data("quick"), 13  # words, <eos> counted
# pairs = [pair for pair in data.train if len(pair[0]) <= longest]
# short = [i for i, (source, _) in enumerate(data.test) if len(source) <= longest]
# references = [data.references[i] for i in short]
# e, d = 48, 96
# models = {}
# for kind in ("monotonic", "predictive"):
#     seed_everything(1)
#     look = LocalAttention(kind, Score("general", d, 2 * d), query_size=d, hidden_size=d, D=4)
#     models[kind] = LuongTranslator(
#         BidirectionalEncoder(len(data.source_words), e, d, dropout=0.0),
#         LuongDecoder(len(data.target_words), e, d, 2 * d, look),
#     )
#     history = train(
#         models[kind],
#         lambda epoch: batches_by_length(pairs, 64, seed=epoch),
#         loss,
#         epochs=8,
#         learning_rate=6e-3,
#         decay=True,
#     )
#     found = translate(models[kind], [data.test[i][0] for i in short])
#     right = exact_match([data.target_words.decode(ids) for ids in found], references)
#     print(
#         f"{kind}: loss per epoch {', '.join(f'{x:.2f}' for x in history.column('loss'))};",
#         f"{right:.0%} of the test sentences are right",
#     )

# %% [markdown]
# This is where they looked, a row for each target word, with its English. The monotonic window moves down the diagonal.
# Where does the predicted one go?
#
# **Do not be surprised** if the kind that cannot know the order wins. Its window always lies where the sentence is,
# $D = 4$ makes it wider than half of it, and the encoder carries the rest. The predicted centre has to be learned, and the
# Gaussian shrinks all that lies away from it, also while it is still wrong: pale rows and outlined squares without colour
# are the model's, no mistake of yours. The paper's gain was found on long sentences with far more training.

# %% demo picture
# from coursekit.plots import charts
# from coursekit.models.translation import attention_weights
#
# i = next(i for i, length in enumerate(data.source_lengths) if length == 12)
# source, target = data.test[i]
# figure, panels = plt.subplots(1, 2, figsize=(10, 5.4), layout="constrained")
# for panel, (kind, model) in zip(panels, models.items()):
#     (weights,) = attention_weights(model, [source], [target])  # (T, S)
#     charts.alignment(
#         weights,
#         data.source_words.tokens(source),
#         data.glossed(target),
#         links=data.links[i],
#         ax=panel,
#         title=kind,
#     )

# %% [markdown] questions
# **To think about.** To change a given cell, which is locked, copy it (*Edit*, *Copy Cells*, *Paste*).
#
# 1. Leave the Gaussian out of the predictive kind and train again. What happens to the gradients of $W$
#    and $v$, and to where the model looks?
# 2. Make $D$ larger. From which $D$ on is the monotonic kind nearly a global attention, and what is then
#    left of the saving?
# 3. The encoder's states have read the whole sentence. How can a model with a window of 9 words know
#    what stands outside it?

# %% answers
# 1. The window's edge has no gradient: whether a word is in or out does not change for a tiny
#    step of $p$. So the gradients of $W$ and $v$ are exactly zero, the prediction stays what
#    chance made it at the start, and the model looks around a place that nobody chose. The
#    encoder's states then have to bring what is needed into the window.
# 2. From $D$ about as large as the longest sentence the window holds everything at any $t$; the
#    scores are then computed for all words again and nothing is saved. What is saved is scoring:
#    $2D + 1$ products in place of $S$ for each target word. (And our code scores all $S$ words
#    and masks most of them: it shows the mechanism, not the saving.)
# 3. Each state has read the words before it, from the left, or after it, from the right, so a
#    word far away has left its trace in states within the window. Local attention limits where
#    the decoder looks, not what is written there.

# %% [markdown] open-task
# ## An open task
#
# Make the predictive kind beat the monotonic one on these sentences with a window no wider than $D = 4$. Where the prediction starts, how
# fast $W$ and $v$ learn, and whether the Gaussian is there from the first epoch on are all open.
#
# | | |
# | --- | --- |
# | ours, one run on a CPU | monotonic 70 %, predictive 51 % of the test sentences right |
# | yours | |
