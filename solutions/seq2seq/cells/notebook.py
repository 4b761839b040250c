# %% [markdown]
# # Sequence to sequence I: the cells
#
# A recurrent network reads a sentence word by word and keeps one vector, its state. In this
# notebook you build the two cells that made this work over more than a few words: the GRU of Cho
# et al. (2014) and the LSTM of Hochreiter and Schmidhuber (1997). At the end your cells read a
# sentence and agree with `nn.GRU` and `nn.LSTM`; from then on you use the library's. The next
# notebook, `encoder_decoder.ipynb`, makes translators of them.
#
# {{ exercises }}
#
# **Before you begin.** You need none of the earlier notebooks; vectors of words from `embeddings/vectors.ipynb` help. The ideas are explained in [Chapter 2](../../book/02_seq2seq.md). Allow half to one and
# a half times the minutes in the table, depending on how well you know torch.
#
# **How to work.** Replace `raise NotImplementedError()` with your code, run the cell, then run the
# `check(...)` below it. A check says what is wrong, by name where the mistake is a known one. Any
# way of computing the right values is right: loops, `einsum`, one matrix product or six.
#
# **Shapes.** $B$ sentences in the batch, $i$ the size of the input (an embedded word), $d$ the size
# of the state. $\sigma$ is the logistic function, between 0 and 1; $\odot$ multiplies number by
# number.

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
# figure = diagrams.draw("gru")

# %% [markdown]
# ## `gru_cell`
#
# A plain recurrent cell, $h_t = \tanh(W x_t + U h_{t-1} + b)$, writes its whole state again at every
# word. What it read ten words ago has gone through ten matrices and ten tanh, and so has its
# gradient on the way back. The gated recurrent unit decides, for each of its $d$ numbers, how much
# to write:
#
# $$r = \sigma(W_{r} x + b_{r} + U_{r} h + b'_{r})$$
#
# $$z = \sigma(W_{z} x + b_{z} + U_{z} h + b'_{z})$$
#
# $$n = \tanh\left(W_{n} x + b_{n} + r \odot (U_{n} h + b'_{n})\right)$$
#
# $$h' = z \odot h + (1 - z) \odot n$$
#
# $$x: (B, i),\quad h, r, z, n, h': (B, d),\quad W_r, W_z, W_n: (d, i),\quad
# U_r, U_z, U_n: (d, d),\quad b, b': (d)$$
#
# * The **update gate** $z$ says how much of the old state is kept. Where it is near 1, the number
#   passes through untouched, and so does its gradient.
# * The **candidate** $n$ is what would be written.
# * The **reset gate** $r$ says how much of the old state the candidate may see.
#
# The parameters come as `torch.nn.GRUCell` keeps them: the three matrices stacked in the order
# $r, z, n$, so that one product does the work of three.
#
# $$\texttt{weight\_ih} = \begin{bmatrix} W_r \\ W_z \\ W_n \end{bmatrix}: (3d, i),\qquad
# \texttt{weight\_hh} = \begin{bmatrix} U_r \\ U_z \\ U_n \end{bmatrix}: (3d, d),\qquad
# \texttt{bias\_ih}, \texttt{bias\_hh}: (3d)$$
#
# **GRUs differ.** You will meet three, and weights trained for one are useless in another:
#
# | | what $z$ multiplies | where $r$ acts |
# | --- | --- | --- |
# | Cho et al. (2014), eq. 7 and 8 | the old state | before the product: $U_n (r \odot h)$ |
# | Bahdanau et al. (2015), appendix | the candidate | before the product |
# | torch, and here | the old state | after the product: $r \odot (U_n h + b'_n)$ |
#
# After the product it is faster, since $U h$ can be computed for all three gates at once. It also
# means that $b'_n$ stands inside the bracket, and so the two biases of the candidate, unlike those
# of the gates, are not one bias written twice.
#
# `torch.gru_cell` and `torch.gru` (and so `nn.GRUCell` and `nn.GRU`, which call them) are the whole
# answer and may not be used here.

# %% hints
# * One product with `weight_ih` and one with `weight_hh` do the work for all three gates. Keep
#   the two results apart: for which of the three is their sum not enough?
# * Cut each result into three pieces of size $d$ along the last axis, in the order $r, z, n$. A
#   matrix $(3d, i)$ that is written for a column multiplies a batch of rows as `x @ weight.T`.
# * For $r$ and $z$ add the two pieces before the sigmoid. For $n$ the piece from $h$, its bias
#   included, is multiplied by $r$ first. The last line weighs $h$ and $n$ with $z$ and $1 - z$.


# %% exercise
def gru_cell(
    x: Tensor, h: Tensor, weight_ih: Tensor, weight_hh: Tensor, bias_ih: Tensor, bias_hh: Tensor
) -> Tensor:
    """Move a gated recurrent unit on by one word.

    r = s(W_r x + b_r + U_r h + b'_r),  z = s(W_z x + b_z + U_z h + b'_z),
    n = tanh(W_n x + b_n + r * (U_n h + b'_n)),  h' = z * h + (1 - z) * n

    Not allowed, because they are the whole answer: torch's gru_cell and gru, also by way of
    nn.GRUCell and nn.GRU.

    Args:
        x: the input, (B, i).
        h: the state so far, (B, d).
        weight_ih: W_r, W_z and W_n, one below the other, (3d, i).
        weight_hh: U_r, U_z and U_n, one below the other, (3d, d).
        bias_ih: b_r, b_z and b_n, (3d,).
        bias_hh: b'_r, b'_z and b'_n, (3d,).

    Returns:
        the next state h', (B, d).

    Source: Cho et al. (2014), section 2.3, equations 5 to 8, as in torch.
    """
    ### BEGIN SOLUTION
    from_x = x @ weight_ih.T + bias_ih  # (B, 3d)
    from_h = h @ weight_hh.T + bias_hh  # (B, 3d)
    x_r, x_z, x_n = from_x.chunk(3, dim=-1)  # (B, d) each
    h_r, h_z, h_n = from_h.chunk(3, dim=-1)  # (B, d) each
    r = torch.sigmoid(x_r + h_r)  # (B, d)
    z = torch.sigmoid(x_z + h_z)  # (B, d)
    n = torch.tanh(x_n + r * h_n)  # (B, d)
    return z * h + (1 - z) * n  # (B, d)
    ### END SOLUTION


# %% [markdown]
# ## `lstm_cell`
#
# The older cell carries two vectors from word to word. The **memory** $c$ is only ever multiplied
# by a gate and added to; the **state** $h$ is what the rest of the network sees of it.
#
# $$i = \sigma(W_{i} x + b_{i} + U_{i} h + b'_{i}) \qquad
# f = \sigma(W_{f} x + b_{f} + U_{f} h + b'_{f})$$
#
# $$g = \tanh(W_{g} x + b_{g} + U_{g} h + b'_{g}) \qquad
# o = \sigma(W_{o} x + b_{o} + U_{o} h + b'_{o})$$
#
# $$c' = f \odot c + i \odot g \qquad h' = o \odot \tanh(c')$$
#
# $$h, c, i, f, g, o, h', c': (B, d)$$
#
# Here $i$ is the input gate. The size of $x$, which was called $i$ above, has no letter in these equations.
#
# * The **forget gate** $f$ says how much of the memory stays, the **input gate** $i$ how much of
#   the candidate $g$ is added. Unlike $z$ and $1 - z$ in the GRU they are free of each other.
# * The **output gate** $o$ says how much of the memory is shown.
#
# The parameters are stacked in the order $i, f, g, o$, as in `torch.nn.LSTMCell`:
# `weight_ih` ($4d$ rows, as many columns as $x$), `weight_hh` $(4d, d)$, `bias_ih` and `bias_hh` $(4d)$. The state goes in and
# comes out as a pair $(h, c)$, in this order.
#
# The cell of 1997 had no forget gate: $c' = c + i \odot g$, so that the gradient of the memory
# came back undiminished. On a stream of text without end its memory kept growing, and Gers,
# Schmidhuber and Cummins (2000) let it forget. Variants with *peepholes* let the gates see $c$ as
# well; torch's cell has none, nor has yours.
#
# `torch.lstm_cell` and `torch.lstm` (and so `nn.LSTMCell` and `nn.LSTM`, which call them) are the
# whole answer and may not be used here.

# %% hints
# * It is the plan of `gru_cell` once more, but no gate stands between the two products: they may
#   be added at once.
# * Cut the sum into four pieces, in the order $i, f, g, o$. Three of them get a sigmoid, one a
#   tanh.
# * Compute the new memory first. The new state needs it, and is returned *before* it in the pair.


# %% exercise
def lstm_cell(
    x: Tensor,
    state: tuple[Tensor, Tensor],
    weight_ih: Tensor,
    weight_hh: Tensor,
    bias_ih: Tensor,
    bias_hh: Tensor,
) -> tuple[Tensor, Tensor]:
    """Move a long short-term memory on by one word.

    i, f, o = s(W x + b + U h + b'),  g = tanh(W_g x + b_g + U_g h + b'_g),
    c' = f * c + i * g,  h' = o * tanh(c')

    Not allowed, because they are the whole answer: torch's lstm_cell and lstm, also by way of
    nn.LSTMCell and nn.LSTM.

    Args:
        x: the input, (B, size of x).
        state: (h, c), state and memory so far, both (B, d).
        weight_ih: W_i, W_f, W_g and W_o, one below the other, (4d, size of x).
        weight_hh: U_i, U_f, U_g and U_o, one below the other, (4d, d).
        bias_ih: b_i, b_f, b_g and b_o, (4d,).
        bias_hh: b'_i, b'_f, b'_g and b'_o, (4d,).

    Returns:
        (h', c'), the next state and memory, both (B, d).

    Source: Hochreiter and Schmidhuber (1997), with the forget gate of Gers et al. (2000).
    """
    ### BEGIN SOLUTION
    h, c = state
    gates = x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh  # (B, 4d)
    i, f, g, o = gates.chunk(4, dim=-1)  # (B, d) each
    memory = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)  # (B, d)
    return torch.sigmoid(o) * torch.tanh(memory), memory  # (B, d), (B, d)
    ### END SOLUTION


# %% [markdown]
# ## Your cell reads a sentence
#
# A cell moves on by one word; a layer calls it once for each word of the sentence. The next cell
# gives your cells the weights of an `nn.GRU` and an `nn.LSTM` and lets them read the same batch. All
# states must agree, and so must the gradient that arrives at the first word after the way back
# through all the others.

# %% demo sentence
# from torch import nn
#
# torch.manual_seed(1)
# sentence = torch.randn(4, 25, 6, requires_grad=True)  # (B, S, i): four sentences of 25 words
# start = torch.zeros(4, 8)  # (B, d)
#
#
# def read(cell, layer, state):
#     weights = (layer.weight_ih_l0, layer.weight_hh_l0, layer.bias_ih_l0, layer.bias_hh_l0)
#     states = []
#     for word in sentence.unbind(dim=1):  # (B, i)
#         state = cell(word, state, *weights)
#         states.append(state[0] if isinstance(state, tuple) else state)
#     return torch.stack(states, dim=1)  # (B, S, d)
#
#
# for cell, layer, state in (
#     (gru_cell, nn.GRU(6, 8, batch_first=True), start),
#     (lstm_cell, nn.LSTM(6, 8, batch_first=True), (start, start)),
# ):
#     yours, torchs = read(cell, layer, state), layer(sentence)[0]  # (B, S, d)
#     (your_gradient,) = torch.autograd.grad(yours[:, -1].sum(), sentence)
#     (torchs_gradient,) = torch.autograd.grad(torchs[:, -1].sum(), sentence)
#     states_apart = (yours - torchs).abs().max().item()
#     gradients_apart = (your_gradient - torchs_gradient).abs().max().item()
#     assert max(states_apart, gradients_apart) < 1e-5
#     print(
#         f"{cell.__name__} against nn.{type(layer).__name__}: states differ by at most "
#         f"{states_apart:.0e}, gradients by {gradients_apart:.0e}"
#     )

# %% [markdown]
# It is the same cell. From here on the course uses `nn.GRU` and `nn.LSTM`, which do the loop in one
# call and many times faster.
#
# ## See a gate at work
#
# Here is your GRU with the weights set by hand, $i = d = 1$. It hears a 1 at the first word and then
# nothing but zeros. Only the bias of the update gate differs from line to line. Which $z$ does each
# bias make, and why is the state after 20 words what it is?

# %% demo look
# weight_ih = torch.tensor([[0.0], [-8.0], [3.0]])  # (3d, i): the 1 opens the gate (z near 0)
# weight_hh = torch.zeros(3, 1)  # (3d, d)
# silence = torch.zeros(3)
# for bias in (-2.0, 0.0, 2.0, 4.0, 6.0):
#     state = torch.zeros(1, 1)  # (B, d)
#     states = []
#     for t in range(20):
#         word = torch.ones(1, 1) if t == 0 else torch.zeros(1, 1)  # (B, i)
#         state = gru_cell(word, state, weight_ih, weight_hh, torch.tensor([0, bias, 0]), silence)
#         states.append(state.item())
#     shown = "  ".join(f"{states[t - 1]:.3f}" for t in (1, 2, 5, 10, 20))
#     print(f"bias of z {bias:4.1f}    state after 1, 2, 5, 10, 20 words:  {shown}")

# %% [markdown] play-text-gate
# **Predict, then run.** At which bias of $z$ is half of the state left after 20 words? Compute it first: the state is
# multiplied by $\sigma(\mathrm{bias})$ at each of 19 silent words.

# %% play gate
# import matplotlib.pyplot as plt
#
# from coursekit.plots import style
#
# biases, words = [1.0, 2.0, 3.0, 4.0], 20
# style.use()
# figure, axes = plt.subplots(figsize=(6.0, 2.8), layout="constrained")
# for bias in biases:
#     state, states = torch.zeros(1, 1), []
#     for t in range(words):
#         word = torch.ones(1, 1) if t == 0 else torch.zeros(1, 1)
#         state = gru_cell(word, state, weight_ih, weight_hh, torch.tensor([0, bias, 0]), silence)
#         states.append(state.item())
#     axes.plot(range(1, words + 1), states, label=f"bias {bias}")
# axes.set(xlabel="words read", ylabel="state", ylim=(0, 1.05))
# _ = axes.legend()

# %% [markdown] questions
# **To think about.**
#
# 1. Set $r = 1$ and $z = 0$ in the equations of the GRU. Which cell is left?
# 2. The LSTM's $c'$ may be larger than 1; the GRU's state never is, if it starts below 1. Why?
# 3. How many numbers does an LSTM have to learn for each number of a GRU of the same size?

# %% answers
# 1. $h' = n = \tanh(W_n x + b_n + U_n h + b'_n)$: the plain recurrent cell. Both gates can be
#    learned away, so a GRU can do whatever a plain cell can.
# 2. $h' = z \odot h + (1 - z) \odot n$ is an average of the old number and of a tanh, and an
#    average of numbers between $-1$ and 1 lies there too. In $c' = f \odot c + i \odot g$ the two
#    gates do not have to sum to 1: with both near 1 the memory grows by up to 1 with each word.
#    That lets it count.
# 3. 4/3. An LSTM has four blocks of weights where a GRU has three; each block has $d \cdot i + d
#    \cdot d$ weights and two biases.
