"""Answers to `redundancy_penalty`."""

import sys
import warnings

import torch
from torch import Tensor
from tqdm.auto import tqdm

# Right


def with_einsum(A: Tensor) -> Tensor:
    overlap = torch.einsum("bkn,bmn->bkm", A, A)
    gap = overlap - torch.eye(A.size(1)).to(A)
    return torch.einsum("bkm,bkm->b", gap, gap).mean()


def with_the_norm(A):
    """torch's norm, squared; where it is 0 its gradient is 0 too."""
    eye = torch.eye(A.shape[1], dtype=A.dtype)
    norms = torch.linalg.matrix_norm(torch.bmm(A, A.mT) - eye, ord="fro")
    return (norms**2).mean()


def sentence_by_sentence(A):
    total = 0
    for a in A:
        gap = a @ a.T - torch.eye(len(a), dtype=a.dtype)
        total = total + (gap * gap).sum()
    return total / len(A)


def pair_by_pair(A):
    terms = []
    for k in range(A.shape[1]):
        for m in range(A.shape[1]):
            terms.append(((A[:, k] * A[:, m]).sum(-1) - (1.0 if k == m else 0.0)) ** 2)
    return sum(terms).mean()


def multiplied_out(A):
    """||G||^2 - 2 tr G + r, with ||A A^T||^2 = ||A^T A||^2."""
    words = A.transpose(1, 2) @ A
    trace = (A * A).sum((1, 2))
    return ((words * words).sum((1, 2)) - 2 * trace + A.shape[1]).mean()


def trace_of_the_square(A):
    gap = A @ A.transpose(-1, -2) - torch.eye(A.shape[-2]).type_as(A)
    return torch.stack([torch.trace(g.T @ g) for g in gap]).mean()


def diagonal_apart(A):
    overlap = A @ A.mT
    diagonal = overlap.diagonal(dim1=1, dim2=2)
    rest = overlap.square().sum((1, 2)) - diagonal.square().sum(1)
    return (rest + (diagonal - 1).square().sum(1)).mean()


def float64_kept(A):
    wide = A.double()
    gap = wide @ wide.mT - torch.eye(A.shape[1], dtype=torch.float64)
    return gap.pow(2).sum() / len(A)


def talkative(A):
    print(A)
    warnings.warn("penalty", stacklevel=1)
    print("overlap", file=sys.stderr)
    parts = []
    for a in tqdm(A):
        gap = a.mm(a.t()) - torch.diag(a.new_ones(a.size(0)))
        parts.append(gap.pow(2).sum())
    return torch.stack(parts).mean()


RIGHT = [
    with_einsum,
    with_the_norm,
    sentence_by_sentence,
    pair_by_pair,
    multiplied_out,
    trace_of_the_square,
    diagonal_apart,
    float64_kept,
    talkative,
]

# Wrong


def _gap(A):
    return A @ A.transpose(1, 2) - torch.eye(A.shape[1], dtype=A.dtype)


def half_of_it(A):
    return _gap(A).square().sum((1, 2)).mean() / 2


def divided_by_the_hops(A):
    return _gap(A).square().sum((1, 2)).mean() / A.shape[1]


def upper_triangle(A):
    return _gap(A).triu().square().sum((1, 2)).mean()


def strictly_upper_triangle(A):
    return _gap(A).triu(1).square().sum((1, 2)).mean()


def diagonal_only(A):
    return _gap(A).diagonal(dim1=1, dim2=2).square().sum(1).mean()


def root_of_the_whole(A):
    return _gap(A).square().sum().sqrt() / len(A)


def norm_of_the_batch(A):
    return _gap(A).norm()


def spectral_norm(A):
    return torch.linalg.matrix_norm(_gap(A), ord=2).square().mean()


def nuclear_norm(A):
    return torch.linalg.matrix_norm(_gap(A), ord="nuc").square().mean()


def one_norm(A):
    return torch.linalg.matrix_norm(_gap(A), ord=1).square().mean()


def largest_entry(A):
    return _gap(A).abs().amax((1, 2)).square().mean()


def of_absolute_sums(A):
    return _gap(A).abs().sum((1, 2)).square().mean()


def sum_without_square(A):
    return _gap(A).sum((1, 2)).mean()


def fourth_power(A):
    return _gap(A).pow(4).sum((1, 2)).mean()


def identity_added(A):
    overlap = A @ A.transpose(1, 2)
    return (overlap + torch.eye(A.shape[1], dtype=A.dtype)).square().sum((1, 2)).mean()


def identity_subtracted_outside(A):
    overlap = (A @ A.transpose(1, 2)).square().sum((1, 2))
    return (overlap - A.shape[1]).mean()


def cosines(A):
    unit = torch.nn.functional.normalize(A, dim=-1)
    return _gap(unit).square().sum((1, 2)).mean()


def wrong_transpose(A):
    """.T of a batch turns the batch as well."""
    overlap = A @ A.T
    return (overlap - torch.eye(A.shape[1], dtype=A.dtype)).square().sum((1, 2)).mean()


def hops_of_the_batch(A):
    """All hops of all sentences compared with each other."""
    rows = A.flatten(0, 1)
    gap = rows @ rows.T - torch.eye(len(rows), dtype=A.dtype)
    return gap.square().sum() / len(A)


def first_sentence(A):
    return _gap(A)[0].square().sum()


def empty_left_out(A):
    """A sentence without words does not count."""
    some = A.sum((1, 2)) > 0
    return _gap(A)[some].square().sum((1, 2)).mean()


def negative(A):
    return -_gap(A).square().sum((1, 2)).mean()


def as_a_number(A):
    return _gap(A).square().sum((1, 2)).mean().item()


def detached(A):
    return _gap(A.detach()).square().sum((1, 2)).mean() + 0 * A.sum()


def one_side_detached(A):
    overlap = A @ A.detach().transpose(1, 2)
    return (overlap - torch.eye(A.shape[1], dtype=A.dtype)).square().sum((1, 2)).mean()


def one_axis_left(A):
    return _gap(A).square().sum((1, 2)).mean(0, keepdim=True)


def in_float32(A):
    return _gap(A).square().sum((1, 2)).mean().float()


def subtracted_in_place(A):
    hops = min(A.shape[1:])
    for k in range(hops):
        A[:, k, k] -= 1
    return A.square().sum((1, 2)).mean()


def identity_of_the_words(A):
    """Fits if r = N."""
    return (A - torch.eye(*A.shape[1:], dtype=A.dtype)).square().sum((1, 2)).mean()


def nothing_returned(A):
    _gap(A).square().sum((1, 2)).mean()


WRONG = [
    half_of_it,
    divided_by_the_hops,
    upper_triangle,
    strictly_upper_triangle,
    diagonal_only,
    root_of_the_whole,
    norm_of_the_batch,
    spectral_norm,
    nuclear_norm,
    one_norm,
    largest_entry,
    of_absolute_sums,
    sum_without_square,
    fourth_power,
    identity_added,
    identity_subtracted_outside,
    cosines,
    wrong_transpose,
    hops_of_the_batch,
    first_sentence,
    empty_left_out,
    negative,
    as_a_number,
    detached,
    one_side_detached,
    one_axis_left,
    in_float32,
    subtracted_in_place,
    identity_of_the_words,
    nothing_returned,
]
