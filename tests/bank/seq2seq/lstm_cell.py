"""Answers to `lstm_cell`."""

import sys
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

# Right


def with_chunks(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    h, c = state
    i, f, g, o = (x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh).chunk(4, 1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def eight_products(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    h, c = state
    d = h.shape[1]

    def gate(k):
        rows = slice(k * d, (k + 1) * d)
        return x @ weight_ih[rows].T + bias_ih[rows] + h @ weight_hh[rows].T + bias_hh[rows]

    c_new = torch.sigmoid(gate(1)) * c + torch.sigmoid(gate(0)) * torch.tanh(gate(2))
    h_new = torch.sigmoid(gate(3)) * torch.tanh(c_new)
    return h_new, c_new


def functional(x, hidden, w_ih, w_hh, b_ih, b_hh):
    hx, cx = hidden
    gates = F.linear(x, w_ih, b_ih) + F.linear(hx, w_hh, b_hh)
    ingate, forgetgate, cellgate, outgate = gates.split(hx.shape[1], dim=1)
    cy = torch.addcmul(F.sigmoid(forgetgate) * cx, F.sigmoid(ingate), F.tanh(cellgate))
    return [F.sigmoid(outgate) * F.tanh(cy), cy]


def joined(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    W = torch.cat([weight_ih, weight_hh], dim=1)
    a = torch.cat([x, state[0]], dim=-1) @ W.mT + (bias_ih + bias_hh)
    d = state[0].size(1)
    i, f, o = (torch.sigmoid(a[:, k * d : (k + 1) * d]) for k in (0, 1, 3))
    c = f * state[1] + i * torch.tanh(a[:, 2 * d : 3 * d])
    return o * torch.tanh(c), c


def with_einsum(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    h, c = state
    d = h.shape[1]
    a = torch.einsum("bi,gdi->gbd", x, weight_ih.view(4, d, -1))
    a = a + torch.einsum("be,gde->gbd", h, weight_hh.view(4, d, d))
    a = a + (bias_ih + bias_hh).view(4, 1, d)
    i, f, o = torch.sigmoid(a[[0, 1, 3]])
    c = c * f + i * torch.tanh(a[2])
    return torch.tanh(c) * o, c


def number_by_number(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    h, c = state
    d = h.shape[1]
    hs, cs = [], []
    for b in range(len(x)):
        a = weight_ih @ x[b] + bias_ih + weight_hh @ h[b] + bias_hh
        for j in range(d):
            i, f, o = (torch.sigmoid(a[k * d + j]) for k in (0, 1, 3))
            cs.append(f * c[b, j] + i * torch.tanh(a[2 * d + j]))
            hs.append(o * torch.tanh(cs[-1]))
    return torch.stack(hs).view(-1, d), torch.stack(cs).view(-1, d)


def _sigma(a: Tensor) -> Tensor:
    return 0.5 * (1 + torch.tanh(a / 2))


def transposed(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    h, c = (part.T for part in state)  # (d, B)
    a = weight_ih @ x.T + weight_hh @ h + (bias_ih + bias_hh).unsqueeze(1)  # (4d, B)
    i, f, g, o = a.tensor_split(4)
    c = _sigma(f) * c + _sigma(i) * torch.tanh(g)
    return (_sigma(o) * torch.tanh(c)).T, c.T


def float64_kept(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    x, h, c, weight_ih, weight_hh, bias_ih, bias_hh = (
        t.double() for t in (x, *state, weight_ih, weight_hh, bias_ih, bias_hh)
    )
    return with_chunks(x, (h, c), weight_ih, weight_hh, bias_ih, bias_hh)


def talkative(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    warnings.warn("four gates", UserWarning, stacklevel=2)
    print(x.shape, state[0].shape, file=sys.stderr)
    h, c = with_chunks(x, state, weight_ih, weight_hh, bias_ih, bias_hh)
    print("h", h, "c", c)
    return h, c


RIGHT = [
    with_chunks,
    eight_products,
    functional,
    joined,
    with_einsum,
    number_by_number,
    transposed,
    float64_kept,
    talkative,
]

# Wrong


def _gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    return (x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh).chunk(4, 1)


def library_cell(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    return torch.lstm_cell(x, state, weight_ih, weight_hh, bias_ih, bias_hh)


def library_module(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    cell = nn.LSTMCell(x.shape[1], state[0].shape[1]).to(x.dtype)
    given = {
        "weight_ih": weight_ih,
        "weight_hh": weight_hh,
        "bias_ih": bias_ih,
        "bias_hh": bias_hh,
    }
    return torch.func.functional_call(cell, given, (x, state))


def library_layer(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    lstm = nn.LSTM(x.shape[1], state[0].shape[1]).to(x.dtype)
    given = {
        "weight_ih_l0": weight_ih,
        "weight_hh_l0": weight_hh,
        "bias_ih_l0": bias_ih,
        "bias_hh_l0": bias_hh,
    }
    pair = tuple(part[None] for part in state)
    _, (h, c) = torch.func.functional_call(lstm, given, (x[None], pair))
    return h[0], c[0]


def order_f_i_o_g(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    h, c = state
    f, i, o, g = _gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def order_i_g_f_o(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    h, c = state
    i, g, f, o = _gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def order_o_f_g_i(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    h, c = state
    o, f, g, i = _gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def peephole(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    h, c = state
    i, f, g, o = _gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    c_new = torch.sigmoid(f + c) * c + torch.sigmoid(i + c) * torch.tanh(g)
    return torch.sigmoid(o + c_new) * torch.tanh(c_new), c_new


def output_gate_sees_the_memory(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    h, c = state
    i, f, g, o = _gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o + c) * torch.tanh(c), c


def bias_ih_forgotten(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    return with_chunks(x, state, weight_ih, weight_hh, 0 * bias_ih, bias_hh)


def no_biases(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    return with_chunks(x, state, weight_ih, weight_hh, 0 * bias_ih, 0 * bias_hh)


def bias_twice(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    return with_chunks(x, state, weight_ih, weight_hh, bias_hh, bias_hh)


def forget_bias_of_one(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    h, c = state
    i, f, g, o = _gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    c = torch.sigmoid(f + 1) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def candidate_linear(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    h, c = state
    i, f, g, o = _gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * g
    return torch.sigmoid(o) * torch.tanh(c), c


def output_gate_tanh(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    h, c = state
    i, f, g, o = _gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.tanh(o) * torch.tanh(c), c


def output_gate_unused(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    h, c = state
    i, f, g, _ = _gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.tanh(c), c


def input_gate_unused(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    h, c = state
    _, f, g, o = _gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    c = torch.sigmoid(f) * c + torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def memory_squashed_for_good(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    h, c = state
    i, f, g, o = _gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    c = torch.tanh(torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g))
    return torch.sigmoid(o) * c, c


def sigmoid_of_the_memory(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    h, c = state
    i, f, g, o = _gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.sigmoid(c), c


def memory_forgotten(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    h, _ = state
    i, _, g, o = _gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    c = torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def state_for_memory(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    h, _ = state
    i, f, g, o = _gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    c = torch.sigmoid(f) * h + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def hard_gates(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    h, c = state
    i, f, g, o = _gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    c = F.hardsigmoid(f) * c + F.hardsigmoid(i) * torch.tanh(g)
    return F.hardsigmoid(o) * torch.tanh(c), c


def old_memory_returned(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    h, _ = with_chunks(x, state, weight_ih, weight_hh, bias_ih, bias_hh)
    return h, state[1]


def state_only(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    return with_chunks(x, state, weight_ih, weight_hh, bias_ih, bias_hh)[0]


def state_twice(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    h, c = with_chunks(x, state, weight_ih, weight_hh, bias_ih, bias_hh)
    return h, (h, c)


def stacked(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    return torch.stack(with_chunks(x, state, weight_ih, weight_hh, bias_ih, bias_hh))


def interleaved_gates(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    h, c = state
    a = x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh
    i, f, g, o = a.reshape(len(x), -1, 4).unbind(-1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def chunked_over_the_batch(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    h, c = state
    i, f, g, o = (x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh).chunk(4)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def input_not_transposed_if_square(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    h, c = state
    d = h.shape[1]
    if x.shape[1] == d:
        weight_ih = torch.cat([w.T for w in weight_ih.split(d)])
    return with_chunks(x, (h, c), weight_ih, weight_hh, bias_ih, bias_hh)


def state_blocks_not_transposed(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    blocks = torch.cat([w.T for w in weight_hh.chunk(4)])
    return with_chunks(x, state, weight_ih, blocks, bias_ih, bias_hh)


def bias_along_the_batch(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    if len(x) == len(bias_ih):
        bias_ih, bias_hh = bias_ih[:, None], bias_hh[:, None]
    return with_chunks(x, state, weight_ih, weight_hh, bias_ih, bias_hh)


def first_sentence_for_all(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    one = (state[0][:1], state[1][:1])
    h, c = with_chunks(x[:1], one, weight_ih, weight_hh, bias_ih, bias_hh)
    return h.expand(len(x), -1), c.expand(len(x), -1)


def squeezed(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    h, c = with_chunks(x, state, weight_ih, weight_hh, bias_ih, bias_hh)
    return h.squeeze(), c.squeeze()


def memory_overwritten(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    h, c = state
    i, f, g, o = _gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    c *= torch.sigmoid(f)
    c += torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def input_detached(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    return with_chunks(x.detach(), state, weight_ih, weight_hh, bias_ih, bias_hh)


def state_detached(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    pair = (state[0].detach(), state[1])
    return with_chunks(x, pair, weight_ih, weight_hh, bias_ih, bias_hh)


def shown_memory_detached(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    h, c = state
    i, f, g, o = _gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c.detach()), c


def numpy_answer(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    x, h, c, weight_ih, weight_hh, bias_ih, bias_hh = (
        t.detach().numpy() for t in (x, *state, weight_ih, weight_hh, bias_ih, bias_hh)
    )
    a = x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh
    i, f, g, o = np.split(a, 4, axis=1)
    c = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
    return torch.from_numpy(np.tanh(c) / (1 + np.exp(-o))), torch.from_numpy(c)


def always_float32(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    x, h, c, *weights = (t.float() for t in (x, *state, weight_ih, weight_hh, bias_ih, bias_hh))
    return with_chunks(x, (h, c), *weights)


WRONG = [
    library_cell,
    library_module,
    library_layer,
    order_f_i_o_g,
    order_i_g_f_o,
    order_o_f_g_i,
    peephole,
    output_gate_sees_the_memory,
    bias_ih_forgotten,
    no_biases,
    bias_twice,
    forget_bias_of_one,
    candidate_linear,
    output_gate_tanh,
    output_gate_unused,
    input_gate_unused,
    memory_squashed_for_good,
    sigmoid_of_the_memory,
    memory_forgotten,
    state_for_memory,
    hard_gates,
    old_memory_returned,
    state_only,
    state_twice,
    stacked,
    interleaved_gates,
    chunked_over_the_batch,
    input_not_transposed_if_square,
    state_blocks_not_transposed,
    bias_along_the_batch,
    first_sentence_for_all,
    squeezed,
    memory_overwritten,
    input_detached,
    state_detached,
    shown_memory_detached,
    numpy_answer,
    always_float32,
]
