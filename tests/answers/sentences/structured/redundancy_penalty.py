"""Answers to `redundancy_penalty`."""

import torch

# Right


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


RIGHT = [with_the_norm, sentence_by_sentence, trace_of_the_square, diagonal_apart, float64_kept]

# Wrong


def _gap(A):
    return A @ A.transpose(1, 2) - torch.eye(A.shape[1], dtype=A.dtype)


def diagonal_only(A):
    return _gap(A).diagonal(dim1=1, dim2=2).square().sum(1).mean()


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


def one_side_detached(A):
    overlap = A @ A.detach().transpose(1, 2)
    return (overlap - torch.eye(A.shape[1], dtype=A.dtype)).square().sum((1, 2)).mean()


WRONG = [diagonal_only, hops_of_the_batch, first_sentence, empty_left_out, one_side_detached]
