"""Answers to `gru_cell`."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

# Right


def with_chunks(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    ir, iz, i_n = (x @ weight_ih.T + bias_ih).chunk(3, 1)
    hr, hz, hn = (h @ weight_hh.T + bias_hh).chunk(3, 1)
    z = (iz + hz).sigmoid()
    n = (i_n + (ir + hr).sigmoid() * hn).tanh()
    return n + z * (h - n)


def six_products(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    d = h.shape[1]
    W_r, W_z, W_n = weight_ih[:d], weight_ih[d : 2 * d], weight_ih[2 * d :]
    U_r, U_z, U_n = weight_hh[:d], weight_hh[d : 2 * d], weight_hh[2 * d :]
    b_r, b_z, b_n = bias_ih[:d], bias_ih[d : 2 * d], bias_ih[2 * d :]
    c_r, c_z, c_n = bias_hh[:d], bias_hh[d : 2 * d], bias_hh[2 * d :]
    r = torch.sigmoid(x @ W_r.T + b_r + h @ U_r.T + c_r)
    z = torch.sigmoid(x @ W_z.T + b_z + h @ U_z.T + c_z)
    n = torch.tanh(x @ W_n.T + b_n + r * (h @ U_n.T + c_n))
    return (1 - z) * n + z * h


def functional(x, hidden, w_ih, w_hh, b_ih, b_hh):
    gi, gh = F.linear(x, w_ih, b_ih), F.linear(hidden, w_hh, b_hh)
    i_r, i_i, i_n = gi.chunk(3, 1)
    h_r, h_i, h_n = gh.chunk(3, 1)
    resetgate = torch.sigmoid(i_r + h_r)
    inputgate = torch.sigmoid(i_i + h_i)
    newgate = torch.tanh(i_n + resetgate * h_n)
    return newgate + inputgate * (hidden - newgate)


def row_by_row(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    out = []
    for b in range(len(x)):
        i = weight_ih.mv(x[b]) + bias_ih
        s = weight_hh.mv(h[b]) + bias_hh
        d = h.shape[1]
        new = []
        for j in range(d):
            r = torch.sigmoid(i[j] + s[j])
            z = torch.sigmoid(i[d + j] + s[d + j])
            n = torch.tanh(i[2 * d + j] + r * s[2 * d + j])
            new.append(z * h[b, j] + (1 - z) * n)
        out.append(torch.stack(new))
    return torch.stack(out)


def with_linear_layers(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    i2h = nn.utils.skip_init(nn.Linear, x.shape[1], len(bias_ih), dtype=x.dtype)
    h2h = nn.utils.skip_init(nn.Linear, h.shape[1], len(bias_hh), dtype=x.dtype)
    gi = torch.func.functional_call(i2h, {"weight": weight_ih, "bias": bias_ih}, (x,))
    gh = torch.func.functional_call(h2h, {"weight": weight_hh, "bias": bias_hh}, (h,))
    r, z, _ = torch.sigmoid(gi + gh).chunk(3, -1)
    n = torch.tanh(gi.chunk(3, -1)[2] + r * gh.chunk(3, -1)[2])
    return z * h + (1 - z) * n


def float64_kept(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    x, h, weight_ih, weight_hh, bias_ih, bias_hh = (
        t.double() for t in (x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    )
    return with_chunks(x, h, weight_ih, weight_hh, bias_ih, bias_hh)


RIGHT = [six_products, functional, row_by_row, with_linear_layers, float64_kept]


def not_transposed_if_square(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    d = h.shape[1]
    if x.shape[1] == d:  # each block is square: the product fits either way
        gi = torch.cat([x @ w for w in weight_ih.split(d)], 1) + bias_ih
    else:
        gi = x @ weight_ih.T + bias_ih
    gh = h @ weight_hh.T + bias_hh
    r, z, _ = torch.sigmoid(gi + gh).chunk(3, 1)
    n = torch.tanh(gi[:, 2 * d :] + r * gh[:, 2 * d :])
    return z * h + (1 - z) * n


def bias_along_the_batch(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    if len(x) == len(bias_ih):
        bias_ih, bias_hh = bias_ih[:, None], bias_hh[:, None]
    return with_chunks(x, h, weight_ih, weight_hh, bias_ih, bias_hh)


def squeezed(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    return with_chunks(x, h, weight_ih, weight_hh, bias_ih, bias_hh).squeeze()


def numpy_answer(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    x, h, weight_ih, weight_hh, bias_ih, bias_hh = (
        t.detach().numpy() for t in (x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    )
    r1, z1, n1 = np.split(x @ weight_ih.T + bias_ih, 3, axis=1)
    r2, z2, n2 = np.split(h @ weight_hh.T + bias_hh, 3, axis=1)
    r, z = 1 / (1 + np.exp(-r1 - r2)), 1 / (1 + np.exp(-z1 - z2))
    return torch.from_numpy(z * h + (1 - z) * np.tanh(n1 + r * n2))


def always_float32(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    given = (t.float() for t in (x, h, weight_ih, weight_hh, bias_ih, bias_hh))
    return with_chunks(*given)


WRONG = [not_transposed_if_square, bias_along_the_batch, squeezed, numpy_answer, always_float32]
