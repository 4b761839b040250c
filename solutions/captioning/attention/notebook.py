# %% [markdown]
# # Show, attend and tell I: looking at a picture
#
# A picture has no words that an encoder could read one by one. Xu et al. (2015) make a list all the same:
# the last map of a convolutional network has a vector for each location of the picture, and before each word
# of the caption the decoder chooses among the locations. In this notebook you build that list, two ways of
# choosing, and the two losses that go with them. In `captioner.ipynb` a decoder uses them.
#
# {{ exercises }}
#
# **Before you begin.** You need nothing; the score is that of `bahdanau/scores.ipynb`. The ideas are explained in [Chapter 5](../../book/05_captioning.md). Allow half to one and
# a half times the minutes in the table, depending on how well you know torch.
#
# **Shapes.** $B$ pictures in the batch, $C$ channels, $H$ rows and $W$ columns of a map, $N = HW$ locations,
# $T$ words of a caption, $d_q$ the size of a query (the decoder's state), $d_k$ of an annotation, $d$ of the
# hidden layer that compares them. All locations of a picture are real, so nothing masks them. Captions differ
# in length: their mask is boolean, and `True` means *a real word*.

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
# figure = diagrams.draw("places")

# %% [markdown]
# ## `annotation_vectors`
#
# A network that only has to name a picture flattens its last map into one long vector, and what was where
# is lost. Here the map is kept. Its number at channel $c$, row $i$ and column $j$ describes what the
# network found around that location, so the $C$ numbers of one location together are its *annotation*. What the
# decoder needs is a list of them, row by row, as one reads:
#
# $$a_{n} = \mathrm{map}[:, \lfloor n / W \rfloor, n \bmod W], \quad n = 0, \dots, HW - 1
# \qquad \mathrm{map}: (B, C, H, W),\quad a: (B, HW, C)$$
#
# Each annotation keeps its numbers together. Look at one small map before you trust a `reshape`: the shape
# may be right while the numbers of a location are scattered over the list.


# %% exercise
def annotation_vectors(feature_map: Tensor) -> Tensor:
    """Turn a feature map into one vector for each location of the picture, row by row.

    a_i = feature_map[:, :, i // W, i % W],  i = 0 ... HW - 1

    Args:
        feature_map: (B, C, H, W), the activations of a convolutional layer.

    Returns:
        annotations (B, HW, C).

    Source: Xu et al. (2015), section 3.1.1.
    """
    ### BEGIN SOLUTION
    return feature_map.flatten(2).transpose(1, 2)  # (B, C, HW) -> (B, HW, C)
    ### END SOLUTION


# %% [markdown]
# ## `SoftAttention`
#
# Where to look is decided like in [Chapter 3](../../book/03_bahdanau.md): a small network compares the decoder's state with
# each annotation, and a softmax over the locations makes weights of it.
#
# $$e_i = v^\top \tanh\left(W h_{t-1} + U a_i\right), \qquad
# \alpha_i = \frac{\exp e_i}{\sum_k \exp e_k}$$
#
# $$h_{t-1}: (B, d_q),\quad a: (B, N, d_k),\quad W: (d, d_q),\quad U: (d, d_k),\quad v: (d,),\quad
# e, \alpha: (B, N)$$
#
# New is the *gate*. Some words are not in the picture: "a", or "of". Before each word the decoder decides how
# much the picture counts at all, with one number between 0 and 1, computed from its state:
#
# $$\beta = \mathrm{sigmoid}\left(w_\beta h_{t-1} + b_\beta\right), \qquad
# z = \beta \sum_i \alpha_i a_i \qquad \beta: (B,),\quad z: (B, d_k)$$
#
# The gate makes the context smaller; the weights stay what they were and sum to 1. The method `beta` returns
# $\beta$, and `forward` returns $z$ and $\alpha$. The parameters are made for you; the linear layer `gate` holds
# $w_\beta$ and $b_\beta$.

# %% hints
# * Two questions are asked of the same state: *where* to look (a weight for each location) and *how
#   much* it counts (one number).
# * The scores are those of Bahdanau's attention, with a query that needs an axis for the locations.
#   No mask: every location is real.
# * `beta` takes off the last axis of what the linear layer returns. In `forward` it needs an axis
#   again, to multiply the context; the weights are returned as they are.


# %% exercise
class SoftAttention(nn.Module):
    """Soft attention over the locations of a picture, with a gate on the context.

    e_i = v^T tanh(W h_{t-1} + U a_i),  alpha = softmax(e),  beta = sigmoid(w_beta h_{t-1} + b_beta),
    z = beta sum_i alpha_i a_i

    Parameters: `W` (d, d_q), `U` (d, d_k), `v` (d,), where d = hidden_size, d_q = query_size and
    d_k = key_size; `gate.weight` w_beta (1, d_q), `gate.bias` b_beta (1,).

    Source: Xu et al. (2015), equations 4, 5 and 13, and section 4.2.1.
    """

    def __init__(self, query_size: int, key_size: int, hidden_size: int):
        super().__init__()
        self.W = nn.Parameter(torch.empty(hidden_size, query_size))
        self.U = nn.Parameter(torch.empty(hidden_size, key_size))
        self.v = nn.Parameter(torch.empty(hidden_size))
        self.gate = nn.Linear(query_size, 1)
        for parameter in (self.W, self.U):
            nn.init.xavier_uniform_(parameter)
        nn.init.normal_(self.v, std=hidden_size**-0.5)

    def beta(self, query: Tensor) -> Tensor:
        """Say how much the picture counts in this step, a number between 0 and 1.

        Args:
            query: the decoder's state h_{t-1}, (B, d_q).

        Returns:
            beta (B,).
        """
        ### BEGIN SOLUTION
        return torch.sigmoid(self.gate(query)).squeeze(1)  # (B,)
        ### END SOLUTION

    def forward(self, query: Tensor, annotations: Tensor) -> tuple[Tensor, Tensor]:
        """Look at the picture.

        Args:
            query: the decoder's state h_{t-1}, (B, d_q).
            annotations: (B, N, d_k); every location is real, so there is no mask.

        Returns:
            gated context z (B, d_k) and weights alpha (B, N).
        """
        ### BEGIN SOLUTION
        projected = (query @ self.W.T).unsqueeze(1) + annotations @ self.U.T  # (B, N, d)
        weights = torch.softmax(torch.tanh(projected) @ self.v, dim=1)  # (B, N)
        attended = torch.einsum("bn,bnd->bd", weights, annotations)  # (B, d_k)
        return self.beta(query).unsqueeze(1) * attended, weights
        ### END SOLUTION


# %% [markdown]
# ## `doubly_stochastic_penalty`
#
# The weights of one word sum to 1 over the locations: the softmax sees to that. Nothing says that a location
# gets any look in the whole caption; the decoder could stare at one spot from the first word to the last.
# So a second sum is asked for: what a location gets from *all words together* should come near to 1.
#
# $$L = \frac{1}{B} \sum_b \sum_i \left(1 - \sum_t m_{t}\, \alpha_{ti}\right)^2
# \qquad \alpha: (B, T, N),\quad m: (B, T) \text{ bool},\quad L: ()$$
#
# Both sums cannot be 1 everywhere unless there are as many words as locations; the paper hopes for locations that
# are not left out. Added to the loss with a small factor $\lambda$, it is a push, not a law.
#
# After its last word a caption is padding, and the weights there mean nothing. A caption without any real
# word has a penalty of 0, not the $N$ that the formula would give it, and still counts as one of the $B$ pictures.

# %% hints
# * There are two sums, over words and over locations. Which of them is inside the square?
# * First take out the words that are padding (their weights may be any numbers), then add over
#   words: one sum for each location.
# * A caption without words has sums of 0, and the formula would give $N$. Set its penalty to 0,
#   and still divide by $B$.


# %% exercise
def doubly_stochastic_penalty(weights: Tensor, mask: Tensor) -> Tensor:
    """Punish locations that get less or more than one look in all.

    L = mean over the batch of sum_i (1 - sum_t m_t alpha_{ti})^2

    Args:
        weights: alpha, (B, T, N), rows sum to 1.
        mask: bool (B, T), True = a real word.

    Returns:
        penalty, a scalar; 0 for a caption without any real word.

    Source: Xu et al. (2015), equation 14.
    """
    ### BEGIN SOLUTION
    looks = weights.masked_fill(~mask.unsqueeze(2), 0.0).sum(dim=1)  # (B, N)
    penalty = (1 - looks).square().sum(dim=1)  # (B,)
    return penalty.masked_fill(~mask.any(dim=1), 0.0).mean()  # ()
    ### END SOLUTION


# %% [markdown]
# ## `hard_attention`
#
# Soft attention sees a mixture of all locations. *Hard* attention looks at one location at a time. Which
# one is drawn at random, with the weights as probabilities (the paper calls the categorical distribution Multinoulli):
#
# $$s \sim \mathrm{Multinoulli}(\alpha), \qquad z = \sum_i s_i a_i, \qquad
# \log p(s) = \log \alpha_i \text{ at the location drawn}$$
#
# $$\alpha, s: (B, N),\quad a: (B, N, d_v),\quad z: (B, d_v),\quad \log p(s): (B,)$$
#
# $s$ is one-hot: 1 at the location drawn and 0 elsewhere. Each picture has a draw of its own. A location of weight
# 0 is never drawn, but it stands in the row: mind the logarithm of 0.
#
# **Chance that can be repeated.** Everything is drawn with the `generator`, so that the same seed gives the
# same locations; with `None`, torch's own generator draws. The check passes generators of several seeds and
# looks at what must hold for *any* way of drawing: how you draw is up to you.
#
# **Gradients.** A draw has no gradient, the sample is a constant. Still two things learn: the
# values, through $z$, and the weights, through $\log p(s)$. The next exercise turns that into a loss.

# %% hints
# * Draw one location for each picture. `torch.multinomial` does that for rows of probabilities, and
#   takes the generator.
# * One-hot rows are zeros with a 1 written in at the location (`scatter`), in the dtype of the
#   weights. The context is the product of the sample with the values.
# * For $\log p(s)$ pick the weight at the location *first* and take its logarithm then. A logarithm
#   of the whole row would meet the zeros.


# %% exercise
def hard_attention(
    weights: Tensor, values: Tensor, generator: torch.Generator | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Look at one location only, drawn with the weights as probabilities.

    s ~ Multinoulli(alpha),  z = sum_i s_i a_i,  log p(s) = log alpha_i at the location drawn

    Args:
        weights: alpha, (B, N), rows sum to 1; some may be exactly 0.
        values: a, (B, N, d_v).
        generator: draws the locations; torch's own generator if None.

    Returns:
        context (B, d_v), the sample s as one-hot rows (B, N) in the weights' dtype, and log p(s),
        (B,). Gradients reach the weights through log p(s), and the values through the context.

    Source: Xu et al. (2015), equations 8 and 9, section 4.1.
    """
    ### BEGIN SOLUTION
    place = torch.multinomial(weights, 1, generator=generator)  # (B, 1)
    sample = torch.zeros_like(weights).scatter(1, place, 1.0)  # (B, N)
    context = torch.einsum("bn,bnd->bd", sample, values)  # (B, d_v)
    return context, sample, weights.gather(1, place).squeeze(1).log()
    ### END SOLUTION


# %% [markdown]
# ## `reinforce_loss`
#
# Where hard attention looked cannot be improved by following the gradient back through the draw. Williams
# (1992) found another way, REINFORCE: let the model look, see how good the caption became (its reward $R$),
# and make looks that were followed by a good caption more probable. What is usual, the *baseline* $b$, is
# subtracted first: better than usual is praised, worse than usual is blamed.
#
# $$L = -\frac{1}{B} \sum_b (R - b) \sum_t m_{t} \log p(s_t)$$
#
# $$\log p(s): (B, T),\quad R: (B,),\quad b: \text{a number or } (B,),\quad m: (B, T)$$
#
# In the paper the reward is the log-probability of the true caption, and the baseline its moving average.
# Both are judgements, not something to be changed by this loss: **no gradient flows into $R$ or $b$**, also
# if they come from a network. Subtracting $b$ does not change the gradient on average, only how much it
# jumps about: the last cells of this notebook show by how much.

# %% hints
# * Which of the four arguments may receive a gradient? Only one.
# * Cut the graph at the advantage $R - b$, whatever reward and baseline are made of.
# * Where a caption has ended, any number may stand: fill in 0 before the sum. Then weigh, average
#   and mind the sign.


# %% exercise
def reinforce_loss(
    log_prob: Tensor, reward: Tensor, baseline: Tensor | float, mask: Tensor
) -> Tensor:
    """Make looks that were followed by a better caption than usual more probable.

    L = - mean over the batch of (R - b) sum_t m_t log p(s_t)

    Args:
        log_prob: log p(s_t) of the locations drawn, (B, T).
        reward: R, (B,); no gradient flows into it.
        baseline: b, a number or (B,); no gradient flows into it.
        mask: bool (B, T), True = a real word.

    Returns:
        loss, a scalar.

    Source: Williams (1992); Xu et al. (2015), equations 11 and 12, section 4.1.
    """
    ### BEGIN SOLUTION
    advantage = (reward - baseline).detach()  # (B,)
    looks = log_prob.masked_fill(~mask, 0.0).sum(dim=1)  # (B,)
    return -(advantage * looks).mean()  # ()
    ### END SOLUTION


# %% [markdown]
# ## See it learn
#
# One picture of nine locations, and nothing to see but a number: the location in the middle pays 10, all others pay
# 9. The model knows only what the location it looked at has paid. Its scores start at 0, so that all locations
# have the same weight. The next cell lets it look 300 times, in batches of 8, once with the mean reward so far
# as a baseline and once without one, and draws the weight of the location in the middle, for ten seeds each.

# %% demo look
# def learn(seed, with_baseline, places=9, looks=300, batch=8, rate=0.2):
#     """Return the weight of the location in the middle after each batch of looks."""
#     generator = torch.Generator().manual_seed(seed)
#     pays = torch.full((places,), 9.0)
#     pays[places // 2] = 10.0
#     scores, usual, found = torch.zeros(places, requires_grad=True), 0.0, []
#     for step in range(looks):
#         weights = scores.softmax(dim=0).expand(batch, places)  # (B, N)
#         values = pays.expand(batch, places).unsqueeze(2)  # (B, N, 1)
#         reward, _, log_prob = hard_attention(weights, values, generator)  # (B, 1), -, (B,)
#         mask = torch.ones(batch, 1, dtype=torch.bool)  # one look for each picture
#         baseline = usual if with_baseline else 0.0
#         loss = reinforce_loss(log_prob.unsqueeze(1), reward.squeeze(1), baseline, mask)
#         (gradient,) = torch.autograd.grad(loss, scores)
#         scores = (scores - rate * gradient).detach().requires_grad_()
#         usual += (reward.mean().item() - usual) / (step + 1)
#         found.append(weights[0, places // 2].item())
#     return found
#
#
# import matplotlib.pyplot as plt
#
# from coursekit.plots import style
#
# style.use(photographs=True)
# figure, panels = plt.subplots(1, 2, sharey=True, figsize=(7.0, 2.8), layout="constrained")
# for panel, with_baseline in zip(panels, (True, False)):
#     for seed in range(10):
#         panel.plot(learn(seed, with_baseline), color=style.SERIES[0], alpha=0.5, linewidth=1)
#     panel.set(title="with a baseline" if with_baseline else "without", xlabel="batches of looks")
# panels[0].set(ylabel="weight of the best location", ylim=(0, 1.02))

# %% [markdown] play-text-rewards
# **Predict, then run.** Let the best location pay 1 and all others 0 (`less`, `more`): does the baseline still help? And with 100
# locations?

# %% play rewards
# places, rate, batch = 9, 0.2, 8
# figure, axes = plt.subplots(figsize=(5.0, 2.8), layout="constrained")
# for with_baseline in (True, False):
#     runs = [learn(seed, with_baseline, places, rate=rate, batch=batch) for seed in range(5)]
#     mean = torch.tensor(runs).mean(dim=0)
#     axes.plot(mean, label="with a baseline" if with_baseline else "without")
# axes.set(xlabel="batches of looks", ylabel="weight of the best location", ylim=(0, 1.02))
# _ = axes.legend()

# %% [markdown] questions
# **To think about.**
#
# 1. Without a baseline all rewards are positive, so every location that is looked at becomes more probable. Why do
#    some runs find the best location all the same, and what happens in the others?
# 2. Give the location in the middle a reward of 1 and all others 0. Does the baseline still help?
# 3. Soft attention on this picture would return the mean of all rewards. What could it learn from that?

# %% answers
# 1. Every location drawn is pushed up by about 9 or 10, so what counts is how often it is drawn, and
#    only a tenth of the push is about quality. In runs that drew the middle often in the
#    beginning, it wins. In the others a location that happened to be drawn first is drawn ever more
#    often, and the weights settle there: rich get richer.
# 2. Less. With rewards of 1 and 0 a draw that found nothing pushes nothing, and one that found
#    the middle pushes it up: zero is a fair baseline already. At the start the usual reward is
#    1/9, which changes little. The baseline matters when all rewards share a large part that says
#    nothing.
# 3. A lot, and at once: the mean of the rewards, $\sum_i \alpha_i R_i$, has a gradient with
#    respect to each weight, which says of every location whether it pays more than the mean. Soft
#    attention needs no draws. But it is allowed to look at all locations in each step, which is what
#    hard attention was to avoid.
