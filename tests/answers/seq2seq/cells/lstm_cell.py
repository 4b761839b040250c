"""Answers to `lstm_cell`."""

import torch
import torch.nn.functional as F
from torch import Tensor

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


RIGHT = [eight_products, functional, number_by_number, transposed, float64_kept]

# Wrong


def _gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    return (x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh).chunk(4, 1)


def input_not_transposed_if_square(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    h, c = state
    d = h.shape[1]
    if x.shape[1] == d:
        weight_ih = torch.cat([w.T for w in weight_ih.split(d)])
    return with_chunks(x, (h, c), weight_ih, weight_hh, bias_ih, bias_hh)


def bias_along_the_batch(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    if len(x) == len(bias_ih):
        bias_ih, bias_hh = bias_ih[:, None], bias_hh[:, None]
    return with_chunks(x, state, weight_ih, weight_hh, bias_ih, bias_hh)


def squeezed(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    h, c = with_chunks(x, state, weight_ih, weight_hh, bias_ih, bias_hh)
    return h.squeeze(), c.squeeze()


def shown_memory_detached(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    h, c = state
    i, f, g, o = _gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c.detach()), c


def always_float32(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    x, h, c, *weights = (t.float() for t in (x, *state, weight_ih, weight_hh, bias_ih, bias_hh))
    return with_chunks(x, (h, c), *weights)


WRONG = [
    input_not_transposed_if_square,
    bias_along_the_batch,
    squeezed,
    shown_memory_detached,
    always_float32,
]
