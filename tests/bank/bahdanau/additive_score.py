"""Answers to `additive_score`."""

import sys
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from tqdm.auto import tqdm

# Right


def with_einsum(query, keys, W, U, v):
    a = torch.einsum("bq,dq->bd", query, W)
    b = torch.einsum("bnk,dk->bnd", keys, U)
    return torch.einsum("bnd,d->bn", torch.tanh(a[:, None, :] + b), v)


def with_loops(query, keys, W, U, v):
    rows = []
    for b in range(keys.size(0)):
        row = []
        for j in range(keys.size(1)):
            hidden = torch.tanh(W.mv(query[b]) + U.mv(keys[b, j]))
            row.append((v * hidden).sum())
        rows.append(torch.stack(row))
    return torch.stack(rows)


def functional(s, h, W_a, U_a, v_a):
    hidden = F.linear(s, W_a).unsqueeze(1) + F.linear(h, U_a)
    return F.linear(hidden.tanh(), v_a[None]).squeeze(-1)


def with_bmm(query: Tensor, keys: Tensor, W: Tensor, U: Tensor, v: Tensor) -> Tensor:
    B = keys.shape[0]
    Uh = torch.bmm(keys, U.t().unsqueeze(0).expand(B, -1, -1))
    Ws = torch.bmm(query.unsqueeze(1), W.t().expand(B, W.shape[1], W.shape[0]))
    e = torch.bmm(torch.tanh(Ws + Uh), v.view(1, -1, 1).expand(B, -1, 1))
    return e.squeeze(2)


def joined_matrices(query, keys, W, U, v):
    # W s + U h = [W U] [s; h]
    n = keys.shape[1]
    joined = torch.cat([query.unsqueeze(1).expand(-1, n, -1), keys], dim=-1)
    return torch.tanh(joined @ torch.cat([W, U], dim=1).T) @ v


def float64_and_back(query, keys, W, U, v):
    q, k, W, U, v = (t.double() for t in (query, keys, W, U, v))
    return (torch.tanh((q @ W.T)[:, None] + k @ U.T) @ v).to(query.dtype)


def float64_kept(query, keys, W, U, v):
    q, k, W, U, v = (t.to(torch.float64) for t in (query, keys, W, U, v))
    return torch.tanh((q @ W.T)[:, None] + k @ U.T) @ v


def talkative(query, keys, W, U, v):
    warnings.warn("shapes are confusing", UserWarning, stacklevel=2)
    print(query.shape, keys.shape, file=sys.stderr)
    scores = []
    for j in tqdm(range(keys.shape[1])):
        print("position", j)
        scores.append(torch.tanh(query @ W.T + keys[:, j] @ U.T) @ v)
    return torch.stack(scores, dim=1)


def _tanh(x):
    return 2 * torch.sigmoid(2 * x) - 1


def own_tanh(query, keys, W, U, v):
    return (_tanh((W @ query.T).T.unsqueeze(1) + keys.matmul(U.transpose(0, 1))) * v).sum(dim=2)


def transposed_all_the_way(query, keys, W, U, v):
    hidden = torch.tanh((W @ query.T).T[:, :, None] + U @ keys.transpose(1, 2))  # (B, d, N)
    return (v[None, :, None] * hidden).sum(1)


RIGHT = [
    with_einsum,
    with_loops,
    functional,
    with_bmm,
    joined_matrices,
    float64_and_back,
    float64_kept,
    talkative,
    own_tanh,
    transposed_all_the_way,
]

# Wrong


def not_transposed_if_square(query, keys, W, U, v):
    # right only where d_q = d_k = d would make W and W^T both fit, and then it is wrong
    return torch.tanh((query @ W).unsqueeze(1) + keys @ U) @ v


def swapped_matrices(query, keys, W, U, v):
    return torch.tanh((query @ U.T).unsqueeze(1) + keys @ W.T) @ v


def transposed_keys_matrix_when_square(query, keys, W, U, v):
    projected = keys @ U if U.shape[0] == U.shape[1] else keys @ U.T
    return torch.tanh((query @ W.T).unsqueeze(1) + projected) @ v


def transposed_query_matrix_when_square(query, keys, W, U, v):
    projected = query @ W if W.shape[0] == W.shape[1] else query @ W.T
    return torch.tanh(projected.unsqueeze(1) + keys @ U.T) @ v


def query_not_unsqueezed(query, keys, W, U, v):
    # (B, d) + (B, N, d): broadcasts only if B = N, and then along the wrong axis
    return torch.tanh(query @ W.T + keys @ U.T) @ v


def query_along_positions_when_it_fits(query, keys, W, U, v):
    q = query @ W.T
    if q.shape[0] != keys.shape[1]:
        q = q.unsqueeze(1)
    return torch.tanh(q + keys @ U.T) @ v


def query_of_the_first_row(query, keys, W, U, v):
    return torch.tanh(W @ query[0] + keys @ U.T) @ v


def keys_of_the_first_row(query, keys, W, U, v):
    return torch.tanh((query @ W.T).unsqueeze(1) + keys[0] @ U.T) @ v


def first_key_only(query, keys, W, U, v):
    e = torch.tanh(query @ W.T + keys[:, 0] @ U.T) @ v
    return e.unsqueeze(1).expand(-1, keys.shape[1])


def squeezed(query, keys, W, U, v):
    return (torch.tanh((query @ W.T).unsqueeze(1) + keys @ U.T) @ v.unsqueeze(-1)).squeeze()


def axis_kept(query, keys, W, U, v):
    return torch.tanh((query @ W.T).unsqueeze(1) + keys @ U.T) @ v.unsqueeze(-1)


def positions_first(query, keys, W, U, v):
    return (torch.tanh((query @ W.T).unsqueeze(1) + keys @ U.T) @ v).T


def dot_product(query, keys, W, U, v):
    return torch.einsum("bd,bnd->bn", query @ W.T, keys @ U.T)


def tanh_with_sigmoid(query, keys, W, U, v):
    return torch.sigmoid((query @ W.T).unsqueeze(1) + keys @ U.T) @ v


def hard_tanh(query, keys, W, U, v):
    return F.hardtanh((query @ W.T).unsqueeze(1) + keys @ U.T) @ v


def tanh_after_query_only(query, keys, W, U, v):
    return (torch.tanh(query @ W.T).unsqueeze(1) + keys @ U.T) @ v


def minus_for_plus(query, keys, W, U, v):
    return torch.tanh((query @ W.T).unsqueeze(1) - keys @ U.T) @ v


def absolute_values(query, keys, W, U, v):
    return torch.tanh((query @ W.T).unsqueeze(1) + keys @ U.T).abs() @ v


def mean_over_batch(query, keys, W, U, v):
    q = (query @ W.T).mean(0)
    return torch.tanh(q + keys @ U.T) @ v


def keys_forgotten(query, keys, W, U, v):
    return (torch.tanh(query @ W.T) @ v).unsqueeze(1).expand(-1, keys.shape[1])


def centred(query, keys, W, U, v):
    # the softmax would not notice, but these are not the scores
    scores = torch.tanh((query @ W.T).unsqueeze(1) + keys @ U.T) @ v
    return scores - scores.mean(-1, keepdim=True)


def v_normalised(query, keys, W, U, v):
    return torch.tanh((query @ W.T).unsqueeze(1) + keys @ U.T) @ (v / v.norm())


def new_linear_layer(query, keys, W, U, v):
    linear = torch.nn.Linear(U.shape[0], 1, bias=False).to(query.dtype)
    return linear(torch.tanh((query @ W.T).unsqueeze(1) + keys @ U.T)).squeeze(-1)


def always_float32(query, keys, W, U, v):
    q, k, W, U, v = (t.float() for t in (query, keys, W, U, v))
    return torch.tanh((q @ W.T).unsqueeze(1) + k @ U.T) @ v


def preallocated_float32(query, keys, W, U, v):
    scores = torch.zeros(keys.shape[0], keys.shape[1])
    for j in range(keys.shape[1]):
        scores[:, j] = torch.tanh(query @ W.T + keys[:, j] @ U.T) @ v
    return scores


def numpy_answer(query, keys, W, U, v):
    query, keys, W, U, v = (t.numpy() for t in (query, keys, W, U, v))
    return np.tanh((query @ W.T)[:, None] + keys @ U.T) @ v


def returns_nothing(query, keys, W, U, v):
    torch.tanh((query @ W.T).unsqueeze(1) + keys @ U.T) @ v


def list_of_rows(query, keys, W, U, v):
    return [torch.tanh(W @ s + k @ U.T) @ v for s, k in zip(query, keys, strict=True)]


def keys_overwritten(query, keys, W, U, v):
    for j in range(keys.shape[1]):
        keys[:, j] = keys[:, j] * 1.0 + 0.0
    scores = torch.tanh((query @ W.T).unsqueeze(1) + keys @ U.T) @ v
    keys.zero_()
    return scores


def hard_coded_batch(query, keys, W, U, v):
    return torch.stack([torch.tanh(W @ query[b] + keys[b] @ U.T) @ v for b in range(2)])


def bias_added(query, keys, W, U, v):
    return torch.tanh((query @ W.T).unsqueeze(1) + keys @ U.T + 0.01) @ v


def v_detached(query, keys, W, U, v):
    return torch.tanh((query @ W.T).unsqueeze(1) + keys @ U.T) @ v.detach()


def w_cut_by_data(query, keys, W, U, v):
    return torch.tanh((query @ W.data.T).unsqueeze(1) + keys @ U.T) @ v


def one_score_for_all(query, keys, W, U, v):
    return torch.tanh((query @ W.T).unsqueeze(1) + keys @ U.T).sum() * v.sum()


def view_for_transpose(query, keys, W, U, v):
    # the right shape, the wrong numbers
    return (
        torch.tanh(
            (query @ W.reshape(W.shape[1], W.shape[0])).unsqueeze(1)
            + keys @ U.reshape(U.shape[1], U.shape[0])
        )
        @ v
    )


def repeated_the_wrong_way(query, keys, W, U, v):
    # repeat gives s1 s2 s1 s2, and the view wants s1 s1 s2 s2
    b, n, _ = keys.shape
    q = query.repeat(n, 1).view(b, n, -1)
    return torch.tanh(q @ W.T + keys @ U.T) @ v


WRONG = [
    not_transposed_if_square,
    swapped_matrices,
    transposed_keys_matrix_when_square,
    transposed_query_matrix_when_square,
    query_not_unsqueezed,
    query_along_positions_when_it_fits,
    query_of_the_first_row,
    keys_of_the_first_row,
    first_key_only,
    squeezed,
    axis_kept,
    positions_first,
    dot_product,
    tanh_with_sigmoid,
    hard_tanh,
    tanh_after_query_only,
    minus_for_plus,
    absolute_values,
    mean_over_batch,
    keys_forgotten,
    centred,
    v_normalised,
    new_linear_layer,
    always_float32,
    preallocated_float32,
    numpy_answer,
    returns_nothing,
    list_of_rows,
    keys_overwritten,
    hard_coded_batch,
    bias_added,
    v_detached,
    w_cut_by_data,
    one_score_for_all,
    view_for_transpose,
    repeated_the_wrong_way,
]
