"""Answers to `annotation_vectors`."""

import sys
import warnings

import torch
from tqdm.auto import tqdm

# Right


def contiguous_first(feature_map):
    b, c, _, _ = feature_map.size()
    return feature_map.permute(0, 2, 3, 1).contiguous().view(b, -1, c)


def row_by_row(feature_map):
    return torch.cat([row.transpose(1, 2) for row in feature_map.unbind(dim=2)], dim=1)


def preallocated(feature_map):
    B, C, H, W = feature_map.shape
    out = feature_map.new_empty(B, H * W, C)
    for i in range(H):
        for j in range(W):
            out[:, i * W + j] = feature_map[:, :, i, j]
    return out


def talkative(feature_map):
    warnings.warn("a map", stacklevel=1)
    print("shape", tuple(feature_map.shape), file=sys.stderr)
    channels = [one.flatten(1) for one in tqdm(feature_map.unbind(1))]
    return torch.stack(channels, dim=-1)


def float64_kept(feature_map):
    return feature_map.double().flatten(2).mT


RIGHT = [contiguous_first, row_by_row, preallocated, talkative, float64_kept]

# Wrong


def turned_where_square(feature_map):
    # right unless H and W are one number
    if feature_map.shape[2] == feature_map.shape[3]:
        feature_map = feature_map.mT
    return feature_map.flatten(2).mT


def not_transposed_where_it_fits(feature_map):
    # right unless there are as many channels as places
    b, c, h, w = feature_map.shape
    flat = feature_map.reshape(b, c, h * w)
    return flat if c == h * w else flat.mT


def batch_squeezed(feature_map):
    return feature_map.flatten(2).mT.squeeze()


def picture_zeroed(feature_map):
    result = feature_map.flatten(2).mT.clone()
    with torch.no_grad():
        feature_map.zero_()
    return result


def always_float32(feature_map):
    return feature_map.float().flatten(2).mT


WRONG = [
    turned_where_square,
    not_transposed_where_it_fits,
    batch_squeezed,
    picture_zeroed,
    always_float32,
]
