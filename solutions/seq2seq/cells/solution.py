"""Reference solutions of the exercises in seq2seq/cells."""

# %% setup
import torch
from torch import Tensor


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
