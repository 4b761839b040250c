"""Mistakes that people really make in the notebook `seq2seq/cells`.

Each function or class is one wrong implementation; the first line of its docstring is the title of
the card, the rest the hint.
"""

import torch

from solutions.seq2seq import cells as right


def _thirds(x, h, *weights):
    """What r, z and n get from the input, then what they get from the state."""
    weight_ih, weight_hh, bias_ih, bias_hh = weights
    from_x, from_h = x @ weight_ih.T + bias_ih, h @ weight_hh.T + bias_hh
    return (*from_x.chunk(3, -1), *from_h.chunk(3, -1))


def _quarters(x, h, *weights):
    """i, f, g and o before their sigmoid or tanh."""
    weight_ih, weight_hh, bias_ih, bias_hh = weights
    return (x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh).chunk(4, -1)


# %% gru_cell


def update_gate_reversed(x, h, *weights):
    """z and 1 - z are swapped.

    Here z multiplies the candidate, as in the appendix of Bahdanau et al. (2015). In Cho's
    equation 7, in torch, and so in this exercise z says how much of the old state is kept.
    """
    x_r, x_z, x_n, h_r, h_z, h_n = _thirds(x, h, *weights)
    z = torch.sigmoid(x_z + h_z)
    n = torch.tanh(x_n + torch.sigmoid(x_r + h_r) * h_n)
    return (1 - z) * h + z * n


def reset_before_product(x, h, *weights):
    """Your reset gate acts before the product, as in Cho's own equation.

    U_n (r * h) is equation 8 of Cho et al. (2014). torch multiplies first and resets afterwards,
    r * (U_n h + b'_n), and its weights are used here.
    """
    _, weight_hh, _, bias_hh = weights
    x_r, x_z, x_n, h_r, h_z, _ = _thirds(x, h, *weights)
    r, z, d = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z), h.shape[1]
    n = torch.tanh(x_n + (r * h) @ weight_hh[2 * d :].T + bias_hh[2 * d :])
    return z * h + (1 - z) * n


def bias_outside_reset(x, h, *weights):
    """Your candidate's second bias stands outside the reset.

    r multiplies all that comes from the old state, bias included: r * (U_n h + b'_n). With the
    bias outside, it is r * (U_n h) + b'_n.
    """
    x_r, x_z, x_n, h_r, h_z, h_n = _thirds(x, h, *weights)
    r, z, bias = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z), weights[3].chunk(3)[2]
    n = torch.tanh(x_n + r * (h_n - bias) + bias)
    return z * h + (1 - z) * n


def reset_on_everything(x, h, *weights):
    """Your reset gate also multiplies what comes from the input.

    r decides how much of the old state the candidate sees. The input's share, W_n x + b_n, is not
    touched by it.
    """
    x_r, x_z, x_n, h_r, h_z, h_n = _thirds(x, h, *weights)
    z = torch.sigmoid(x_z + h_z)
    return z * h + (1 - z) * torch.tanh(torch.sigmoid(x_r + h_r) * (x_n + h_n))


def reset_unused(x, h, *weights):
    """The reset gate is not used.

    Without r the candidate always sees the whole old state. It should see r * (U_n h + b'_n).
    """
    _, x_z, x_n, _, h_z, h_n = _thirds(x, h, *weights)
    z = torch.sigmoid(x_z + h_z)
    return z * h + (1 - z) * torch.tanh(x_n + h_n)


def gates_in_another_order(x, h, *weights):
    """The reset gate and the update gate are swapped.

    The rows of the weights are stacked in the order r, z, n: the first d rows make the reset gate,
    the next d the update gate.
    """
    x_z, x_r, x_n, h_z, h_r, h_n = _thirds(x, h, *weights)
    z = torch.sigmoid(x_z + h_z)
    return z * h + (1 - z) * torch.tanh(x_n + torch.sigmoid(x_r + h_r) * h_n)


def state_bias_forgotten(x, h, *weights):
    """bias_hh is not used.

    There are two biases, as in torch: bias_ih beside the input's product and bias_hh beside the
    state's.
    """
    weight_ih, weight_hh, bias_ih, bias_hh = weights
    return right.gru_cell(x, h, weight_ih, weight_hh, bias_ih, torch.zeros_like(bias_hh))


def candidate_without_tanh(x, h, *weights):
    """The candidate lacks its tanh.

    n = tanh(...): it keeps the state between -1 and 1, however long the sentence is.
    """
    x_r, x_z, x_n, h_r, h_z, h_n = _thirds(x, h, *weights)
    z = torch.sigmoid(x_z + h_z)
    return z * h + (1 - z) * (x_n + torch.sigmoid(x_r + h_r) * h_n)


def candidate_with_sigmoid(x, h, *weights):
    """Your candidate goes through a sigmoid.

    Gates lie between 0 and 1 and take a sigmoid; what is written into the state lies between -1
    and 1 and takes a tanh.
    """
    x_r, x_z, x_n, h_r, h_z, h_n = _thirds(x, h, *weights)
    z = torch.sigmoid(x_z + h_z)
    return z * h + (1 - z) * torch.sigmoid(x_n + torch.sigmoid(x_r + h_r) * h_n)


def candidate_only(x, h, *weights):
    """Your candidate is returned, not the new state.

    n is what would be written if nothing were kept. The new state mixes it with the old one:
    z * h + (1 - z) * n.
    """
    x_r, _, x_n, h_r, _, h_n = _thirds(x, h, *weights)
    return torch.tanh(x_n + torch.sigmoid(x_r + h_r) * h_n)


def state_detached(x, h, *weights):
    """The old state is detached from the graph, so nothing is learned across words.

    The values are right, but no gradient reaches h. Through it each word learns from what comes
    after it.
    """
    return right.gru_cell(x, h.detach(), *weights)


# %% lstm_cell


def memory_shown_without_tanh(x, state, *weights):
    """Your memory is shown without its tanh.

    h' = o * tanh(c'). The memory has no bounds; tanh brings what is shown of it between -1 and 1.
    """
    i, f, g, o = _quarters(x, state[0], *weights)
    memory = torch.sigmoid(f) * state[1] + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * memory, memory


def old_memory_shown(x, state, *weights):
    """Your state shows the old memory, not the new one.

    h' = o * tanh(c') comes after the update of the memory: what was just read is in it.
    """
    _, memory = right.lstm_cell(x, state, *weights)
    o = _quarters(x, state[0], *weights)[3]
    return torch.sigmoid(o) * torch.tanh(state[1]), memory


def forget_and_input_swapped(x, state, *weights):
    """The input gate and the forget gate are swapped.

    c' = f * c + i * g: f stands with the old memory, i with the candidate. The rows of the weights
    are stacked in the order i, f, g, o.
    """
    f, i, g, o = _quarters(x, state[0], *weights)
    memory = torch.sigmoid(f) * state[1] + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(memory), memory


def candidate_and_output_swapped(x, state, *weights):
    """The candidate and the output gate are swapped.

    The rows of the weights are stacked in the order i, f, g, o, as in torch: the third block is
    the candidate, the last one the output gate. Other sources stack them as i, f, o, g.
    """
    i, f, o, g = _quarters(x, state[0], *weights)
    memory = torch.sigmoid(f) * state[1] + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(memory), memory


def all_gates_sigmoid(x, state, *weights):
    """Your candidate goes through a sigmoid.

    Gates take a sigmoid, but g is no gate: it is what is added to the memory, up or down, and
    takes a tanh.
    """
    i, f, g, o = (torch.sigmoid(part) for part in _quarters(x, state[0], *weights))
    memory = f * state[1] + i * g
    return o * torch.tanh(memory), memory


def nothing_forgotten(x, state, *weights):
    """The forget gate is not used.

    c' = c + i * g is the cell of 1997. Gers et al. (2000) multiply the old memory by the forget
    gate first.
    """
    i, _, g, o = _quarters(x, state[0], *weights)
    memory = state[1] + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(memory), memory


def gates_tied(x, state, *weights):
    """Your input gate is taken to be 1 - f.

    That is how a GRU mixes old and new. In the LSTM the input gate has weights of its own, and both
    gates may be open, or both shut.
    """
    _, f, g, o = _quarters(x, state[0], *weights)
    kept = torch.sigmoid(f)
    memory = kept * state[1] + (1 - kept) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(memory), memory


def memory_first(x, state, *weights):
    """You return the pair as (c, h).

    The new state is returned as it came in: h first, then the memory c.
    """
    h, c = right.lstm_cell(x, state, *weights)
    return c, h


def pair_read_in_reverse(x, state, *weights):
    """You read the pair as (c, h).

    state is (h, c): the state, which goes into the gates, comes first, and the memory second.
    """
    return right.lstm_cell(x, (state[1], state[0]), *weights)


def second_bias_forgotten(x, state, *weights):
    """bias_hh is not used.

    There are two biases, as in torch: bias_ih beside the input's product and bias_hh beside the
    state's. Both are added.
    """
    weight_ih, weight_hh, bias_ih, bias_hh = weights
    return right.lstm_cell(x, state, weight_ih, weight_hh, bias_ih, torch.zeros_like(bias_hh))


def memory_detached(x, state, *weights):
    """The memory is detached from the graph, so nothing is learned over long distances.

    The values are right, but no gradient reaches c. The way back through the memory is what the
    LSTM was made for.
    """
    return right.lstm_cell(x, (state[0], state[1].detach()), *weights)
