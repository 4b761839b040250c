"""Answers to `additive_score`."""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor
from tqdm.auto import tqdm


def functional(s, h, W_a, U_a, v_a):
    hidden = F.linear(s, W_a).unsqueeze(1) + F.linear(h, U_a)
    return F.linear(hidden.tanh(), v_a[None]).squeeze(-1)


def with_bmm(query: Tensor, keys: Tensor, W: Tensor, U: Tensor, v: Tensor) -> Tensor:
    B = keys.shape[0]
    Uh = torch.bmm(keys, U.t().unsqueeze(0).expand(B, -1, -1))
    Ws = torch.bmm(query.unsqueeze(1), W.t().expand(B, W.shape[1], W.shape[0]))
    e = torch.bmm(torch.tanh(Ws + Uh), v.view(1, -1, 1).expand(B, -1, 1))
    return e.squeeze(2)


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


RIGHT = [functional, with_bmm, float64_kept, talkative, own_tanh]

# Wrong


def transposed_keys_matrix_when_square(query, keys, W, U, v):
    projected = keys @ U if U.shape[0] == U.shape[1] else keys @ U.T
    return torch.tanh((query @ W.T).unsqueeze(1) + projected) @ v


def query_along_positions_when_it_fits(query, keys, W, U, v):
    q = query @ W.T
    if q.shape[0] != keys.shape[1]:
        q = q.unsqueeze(1)
    return torch.tanh(q + keys @ U.T) @ v


def squeezed(query, keys, W, U, v):
    return (torch.tanh((query @ W.T).unsqueeze(1) + keys @ U.T) @ v.unsqueeze(-1)).squeeze()


def keys_overwritten(query, keys, W, U, v):
    for j in range(keys.shape[1]):
        keys[:, j] = keys[:, j] * 1.0 + 0.0
    scores = torch.tanh((query @ W.T).unsqueeze(1) + keys @ U.T) @ v
    keys.zero_()
    return scores


def v_detached(query, keys, W, U, v):
    return torch.tanh((query @ W.T).unsqueeze(1) + keys @ U.T) @ v.detach()


WRONG = [
    transposed_keys_matrix_when_square,
    query_along_positions_when_it_fits,
    squeezed,
    keys_overwritten,
    v_detached,
]
