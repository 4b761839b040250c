"""Answers to `gru_cell`."""

import sys
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

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


def with_einsum(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    d = h.size(-1)
    gi = torch.einsum("bi,gdi->gbd", x, weight_ih.reshape(3, d, -1)) + bias_ih.reshape(3, 1, d)
    gh = torch.einsum("be,gde->gbd", h, weight_hh.reshape(3, d, d)) + bias_hh.reshape(3, 1, d)
    r, z = torch.sigmoid(gi[:2] + gh[:2])
    n = torch.tanh(gi[2] + r * gh[2])
    return torch.lerp(n, h, z)


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


def gates_in_one_product(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    # [x; h] for the gates; the candidate apart
    d = h.shape[1]
    both = torch.cat([x, h], dim=1)
    W = torch.cat([weight_ih[: 2 * d], weight_hh[: 2 * d]], dim=1)
    r, z = torch.sigmoid(both @ W.t() + (bias_ih + bias_hh)[: 2 * d]).split(d, dim=1)
    n = torch.tanh(
        torch.addmm(bias_ih[2 * d :], x, weight_ih[2 * d :].t())
        + r * torch.addmm(bias_hh[2 * d :], h, weight_hh[2 * d :].t())
    )
    return z.mul(h).add((1.0 - z).mul(n))


def _sigma(a: Tensor) -> Tensor:
    return 0.5 * (1 + torch.tanh(a / 2))


def own_sigmoid(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    d = h.shape[-1]
    gi, gh = weight_ih @ x.T + bias_ih[:, None], weight_hh @ h.T + bias_hh[:, None]  # (3d, B)
    r, z = _sigma(gi[:d] + gh[:d]), _sigma(gi[d : 2 * d] + gh[d : 2 * d])
    n = torch.tanh(gi[2 * d :] + r * gh[2 * d :])
    return (z * h.T + (1 - z) * n).T


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


def talkative(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    warnings.warn("three gates or two?", UserWarning, stacklevel=2)
    print(x.shape, h.shape, file=sys.stderr)
    r, z, n = None, None, None
    for k in range(3):
        rows = slice(k * h.shape[1], (k + 1) * h.shape[1])
        a = x @ weight_ih[rows].T + bias_ih[rows]
        b = h @ weight_hh[rows].T + bias_hh[rows]
        if k == 0:
            r = torch.sigmoid(a + b)
        elif k == 1:
            z = torch.sigmoid(a + b)
        else:
            n = torch.tanh(a + r * b)
        print("gate", k)
    return (1 - z) * n + z * h


RIGHT = [
    with_chunks,
    six_products,
    functional,
    with_einsum,
    row_by_row,
    gates_in_one_product,
    own_sigmoid,
    with_linear_layers,
    float64_kept,
    talkative,
]

# Wrong


def _parts(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    return (
        *(x @ weight_ih.T + bias_ih).chunk(3, 1),
        *(h @ weight_hh.T + bias_hh).chunk(3, 1),
    )


def library_cell(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    return torch.gru_cell(x, h, weight_ih, weight_hh, bias_ih, bias_hh)


def library_module(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    cell = nn.GRUCell(x.shape[1], h.shape[1]).to(x.dtype)
    given = {
        "weight_ih": weight_ih,
        "weight_hh": weight_hh,
        "bias_ih": bias_ih,
        "bias_hh": bias_hh,
    }
    return torch.func.functional_call(cell, given, (x, h))


def library_layer(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    gru = nn.GRU(x.shape[1], h.shape[1], batch_first=True).to(x.dtype)
    given = {
        "weight_ih_l0": weight_ih,
        "weight_hh_l0": weight_hh,
        "bias_ih_l0": bias_ih,
        "bias_hh_l0": bias_hh,
    }
    return torch.func.functional_call(gru, given, (x[:, None], h[None]))[0][:, 0]


def a_cell_of_its_own(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    d = h.shape[1]
    gates = torch.sigmoid(nn.Linear(x.shape[1] + d, 2 * d).to(x.dtype)(torch.cat([x, h], 1)))
    r, z = gates.chunk(2, 1)
    n = torch.tanh(nn.Linear(x.shape[1] + d, d).to(x.dtype)(torch.cat([x, r * h], 1)))
    return z * h + (1 - z) * n


def order_z_n_r(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    z1, n1, r1, z2, n2, r2 = _parts(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    z = torch.sigmoid(z1 + z2)
    return z * h + (1 - z) * torch.tanh(n1 + torch.sigmoid(r1 + r2) * n2)


def order_n_z_r(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    n1, z1, r1, n2, z2, r2 = _parts(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    z = torch.sigmoid(z1 + z2)
    return z * h + (1 - z) * torch.tanh(n1 + torch.sigmoid(r1 + r2) * n2)


def cho_and_swapped(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    # Bahdanau's appendix to the letter: two differences at once
    d = h.shape[1]
    r1, z1, n1, r2, z2, _ = _parts(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    r, z = torch.sigmoid(r1 + r2), torch.sigmoid(z1 + z2)
    n = torch.tanh(n1 + (r * h) @ weight_hh[2 * d :].T + bias_hh[2 * d :])
    return (1 - z) * h + z * n


def bias_ih_forgotten(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    return with_chunks(x, h, weight_ih, weight_hh, 0 * bias_ih, bias_hh)


def bias_ih_twice(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    return with_chunks(x, h, weight_ih, weight_hh, bias_ih, bias_ih)


def no_biases(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    return with_chunks(x, h, weight_ih, weight_hh, 0 * bias_ih, 0 * bias_hh)


def biases_added_first(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    # as if the two biases of the candidate were one, inside the reset
    r1, z1, n1, r2, z2, n2 = _parts(x, h, weight_ih, weight_hh, 0 * bias_ih, bias_ih + bias_hh)
    z = torch.sigmoid(z1 + z2)
    return z * h + (1 - z) * torch.tanh(n1 + torch.sigmoid(r1 + r2) * n2)


def reset_applied_twice(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    d = h.shape[1]
    r1, z1, n1, r2, z2, _ = _parts(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    r, z = torch.sigmoid(r1 + r2), torch.sigmoid(z1 + z2)
    n = torch.tanh(n1 + r * ((r * h) @ weight_hh[2 * d :].T + bias_hh[2 * d :]))
    return z * h + (1 - z) * n


def reset_on_old_state_too(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    r1, z1, n1, r2, z2, n2 = _parts(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    r, z = torch.sigmoid(r1 + r2), torch.sigmoid(z1 + z2)
    return z * r * h + (1 - z) * torch.tanh(n1 + r * n2)


def tanh_of_the_result(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    r1, z1, n1, r2, z2, n2 = _parts(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    r, z = torch.sigmoid(r1 + r2), torch.sigmoid(z1 + z2)
    return torch.tanh(z * h + (1 - z) * torch.tanh(n1 + r * n2))


def relu_candidate(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    r1, z1, n1, r2, z2, n2 = _parts(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    r, z = torch.sigmoid(r1 + r2), torch.sigmoid(z1 + z2)
    return z * h + (1 - z) * torch.relu(n1 + r * n2)


def hard_gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    r1, z1, n1, r2, z2, n2 = _parts(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    r, z = F.hardsigmoid(r1 + r2), F.hardsigmoid(z1 + z2)
    return z * h + (1 - z) * torch.tanh(n1 + r * n2)


def gates_from_input_only(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    r1, z1, n1, _, _, n2 = _parts(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    r, z = torch.sigmoid(r1), torch.sigmoid(z1)
    return z * h + (1 - z) * torch.tanh(n1 + r * n2)


def gates_multiplied(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    r1, z1, n1, r2, z2, n2 = _parts(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    r, z = torch.sigmoid(r1 * r2), torch.sigmoid(z1 * z2)
    return z * h + (1 - z) * torch.tanh(n1 + r * n2)


def old_state_kept_whole(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    r1, z1, n1, r2, z2, n2 = _parts(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    r, z = torch.sigmoid(r1 + r2), torch.sigmoid(z1 + z2)
    return h + (1 - z) * torch.tanh(n1 + r * n2)


def candidate_not_weighted(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    r1, z1, n1, r2, z2, n2 = _parts(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    r, z = torch.sigmoid(r1 + r2), torch.sigmoid(z1 + z2)
    return z * h + torch.tanh(n1 + r * n2)


def plain_rnn(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    d = h.shape[1]
    a = x @ weight_ih[:d].T + bias_ih[:d] + h @ weight_hh[:d].T + bias_hh[:d]
    return torch.tanh(a)


def reset_for_update(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    r1, _, n1, r2, _, n2 = _parts(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    r = torch.sigmoid(r1 + r2)
    return r * h + (1 - r) * torch.tanh(n1 + r * n2)


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


def state_blocks_not_transposed(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    d = h.shape[1]
    gi = x @ weight_ih.T + bias_ih
    gh = torch.cat([h @ w for w in weight_hh.split(d)], 1) + bias_hh
    r, z, _ = torch.sigmoid(gi + gh).chunk(3, 1)
    n = torch.tanh(gi[:, 2 * d :] + r * gh[:, 2 * d :])
    return z * h + (1 - z) * n


def chunked_over_the_batch(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    gi, gh = x @ weight_ih.T + bias_ih, h @ weight_hh.T + bias_hh
    r1, z1, n1 = gi.chunk(3)
    r2, z2, n2 = gh.chunk(3)
    r, z = torch.sigmoid(r1 + r2), torch.sigmoid(z1 + z2)
    return z * h + (1 - z) * torch.tanh(n1 + r * n2)


def interleaved_gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    # rows r1 z1 n1 r2 z2 n2 ... instead of blocks
    gi = (x @ weight_ih.T + bias_ih).reshape(len(x), -1, 3)
    gh = (h @ weight_hh.T + bias_hh).reshape(len(x), -1, 3)
    r, z = torch.sigmoid(gi[..., 0] + gh[..., 0]), torch.sigmoid(gi[..., 1] + gh[..., 1])
    return z * h + (1 - z) * torch.tanh(gi[..., 2] + r * gh[..., 2])


def bias_along_the_batch(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    if len(x) == len(bias_ih):
        bias_ih, bias_hh = bias_ih[:, None], bias_hh[:, None]
    return with_chunks(x, h, weight_ih, weight_hh, bias_ih, bias_hh)


def first_sentence_for_all(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    one = with_chunks(x[:1], h[:1], weight_ih, weight_hh, bias_ih, bias_hh)
    return one.expand(len(x), -1)


def squeezed(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    return with_chunks(x, h, weight_ih, weight_hh, bias_ih, bias_hh).squeeze()


def returns_gates_too(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    r1, z1, n1, r2, z2, n2 = _parts(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    r, z = torch.sigmoid(r1 + r2), torch.sigmoid(z1 + z2)
    return z * h + (1 - z) * torch.tanh(n1 + r * n2), z


def returns_nothing(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    h = with_chunks(x, h, weight_ih, weight_hh, bias_ih, bias_hh)


def state_overwritten(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    new = with_chunks(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    h *= 0
    h += new
    return new


def weights_detached(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    return with_chunks(x, h, weight_ih.data, weight_hh.data, bias_ih, bias_hh)


def gate_detached(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    r1, z1, n1, r2, z2, n2 = _parts(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    z = torch.sigmoid(z1 + z2).detach()
    return z * h + (1 - z) * torch.tanh(n1 + torch.sigmoid(r1 + r2) * n2)


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


def preallocated_float32(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    new = torch.zeros(h.shape)
    new[:] = with_chunks(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    return new


WRONG = [
    library_cell,
    library_module,
    library_layer,
    a_cell_of_its_own,
    order_z_n_r,
    order_n_z_r,
    cho_and_swapped,
    bias_ih_forgotten,
    bias_ih_twice,
    no_biases,
    biases_added_first,
    reset_applied_twice,
    reset_on_old_state_too,
    tanh_of_the_result,
    relu_candidate,
    hard_gates,
    gates_from_input_only,
    gates_multiplied,
    old_state_kept_whole,
    candidate_not_weighted,
    plain_rnn,
    reset_for_update,
    not_transposed_if_square,
    state_blocks_not_transposed,
    chunked_over_the_batch,
    interleaved_gates,
    bias_along_the_batch,
    first_sentence_for_all,
    squeezed,
    returns_gates_too,
    returns_nothing,
    state_overwritten,
    weights_detached,
    gate_detached,
    numpy_answer,
    always_float32,
    preallocated_float32,
]
