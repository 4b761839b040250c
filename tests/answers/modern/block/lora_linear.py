"""Answers to `lora_linear`."""

import torch
import torch.nn.functional as F

# Right


def merged_first(x, weight, bias, A, B, scale):
    W = weight.detach() + scale / A.shape[0] * (B @ A)
    return F.linear(x, W, None if bias is None else bias.detach())


def with_einsum(x, weight, bias, A, B, scale):
    low = torch.einsum("...d,rd->...r", x, A)
    y = torch.einsum("...d,md->...m", x, weight.data)
    y = y + torch.einsum("...r,mr->...m", low, B) * (scale / B.size(1))
    return y if bias is None else y + bias.data


def rank_by_rank(x, weight, bias, A, B, scale):
    y = x @ weight.detach().T
    y = y if bias is None else y + bias.detach()
    for a, b in zip(A, B.T, strict=True):
        y = y + scale / len(A) * (x * a).sum(-1, keepdim=True) * b
    return y


def transposed_copies(x, weight, bias, A, B, scale):
    W = weight.detach().clone().t()
    b = 0.0 if bias is None else bias.detach().clone()
    return torch.matmul(x, W) + b + (scale * x) @ (A.t() @ B.t()) / len(A)


def float64_kept(x, weight, bias, A, B, scale):
    b = None if bias is None else bias.double()
    return merged_first(x.double(), weight.double(), b, A.double(), B.double(), scale)


RIGHT = [merged_first, with_einsum, rank_by_rank, transposed_copies, float64_kept]

# Wrong


def _frozen(x, weight, bias):
    return F.linear(x, weight.detach(), None if bias is None else bias.detach())


def bias_needed(x, weight, bias, A, B, scale):
    return x @ weight.detach().T + bias.detach() + scale / len(A) * (x @ A.T @ B.T)


def root_of_the_rank(x, weight, bias, A, B, scale):
    return _frozen(x, weight, bias) + scale / len(A) ** 0.5 * (x @ A.T @ B.T)


def divides_by_outputs(x, weight, bias, A, B, scale):
    return _frozen(x, weight, bias) + scale / len(B) * (x @ A.T @ B.T)


def first_factor_cut(x, weight, bias, A, B, scale):
    return _frozen(x, weight, bias) + scale / len(A) * (x @ A.detach().T @ B.T)


def correction_of_the_output(x, weight, bias, A, B, scale):
    y = _frozen(x, weight, bias)
    if A.shape[1] == B.shape[0]:
        return y + scale / len(A) * (y @ A.T @ B.T)
    return y + scale / len(A) * (x @ A.T @ B.T)


def whole_scale(x, weight, bias, A, B, scale):
    return _frozen(x, weight, bias) + int(scale) / len(A) * (x @ A.T @ B.T)


def written_into_the_matrix(x, weight, bias, A, B, scale):
    with torch.no_grad():
        weight += scale / len(A) * B @ A
    return F.linear(x, weight.detach(), None if bias is None else bias.detach())


WRONG = [
    bias_needed,
    root_of_the_rank,
    divides_by_outputs,
    first_factor_cut,
    correction_of_the_output,
    whole_scale,
    written_into_the_matrix,
]
