"""Answers to `annotation_vectors`."""

import sys
import warnings

import numpy as np
import torch
from torch import Tensor
from tqdm.auto import tqdm

# Right


def by_permutation(feature_map: Tensor) -> Tensor:
    B, C, H, W = feature_map.shape
    return feature_map.permute(0, 2, 3, 1).reshape(B, H * W, C)


def by_view(feature_map):
    B, C = feature_map.shape[:2]
    return feature_map.view(B, C, -1).permute(0, 2, 1)


def contiguous_first(feature_map):
    b, c, _, _ = feature_map.size()
    return feature_map.permute(0, 2, 3, 1).contiguous().view(b, -1, c)


def with_einsum(feature_map):
    grid = torch.einsum("bchw->bhwc", feature_map)
    return grid.flatten(start_dim=1, end_dim=2)


def with_loops(feature_map):
    B, _, H, W = feature_map.shape
    pictures = []
    for b in range(B):
        places = []
        for i in range(H * W):
            places.append(feature_map[b, :, i // W, i % W])
        pictures.append(torch.stack(places))
    return torch.stack(pictures)


def row_by_row(feature_map):
    return torch.cat([row.transpose(1, 2) for row in feature_map.unbind(dim=2)], dim=1)


def preallocated(feature_map):
    B, C, H, W = feature_map.shape
    out = feature_map.new_empty(B, H * W, C)
    for i in range(H):
        for j in range(W):
            out[:, i * W + j] = feature_map[:, :, i, j]
    return out


def with_movedim(feature_map):
    return torch.movedim(feature_map, 1, -1).flatten(1, -2)


def with_unfold(feature_map):
    # windows of one pixel
    return torch.nn.functional.unfold(feature_map, kernel_size=1).mT


def last_axis_turned(feature_map):
    turned = feature_map.transpose(1, 3).transpose(1, 2)  # (B, H, W, C)
    return torch.cat([turned[:, i] for i in range(turned.shape[1])], 1)


def talkative(feature_map):
    warnings.warn("a map", stacklevel=1)
    print("shape", tuple(feature_map.shape), file=sys.stderr)
    channels = [one.flatten(1) for one in tqdm(feature_map.unbind(1))]
    return torch.stack(channels, dim=-1)


def float64_kept(feature_map):
    return feature_map.double().flatten(2).mT


RIGHT = [
    by_permutation,
    by_view,
    contiguous_first,
    with_einsum,
    with_loops,
    row_by_row,
    preallocated,
    with_movedim,
    with_unfold,
    last_axis_turned,
    talkative,
    float64_kept,
]

# Wrong


def upside_down(feature_map):
    return feature_map.flip(2).flatten(2).mT


def mirrored(feature_map):
    return feature_map.flip(3).flatten(2).mT


def from_the_last_place(feature_map):
    return feature_map.flatten(2).flip(2).mT


def channels_the_other_way(feature_map):
    return feature_map.flip(1).flatten(2).mT


def turned_where_square(feature_map):
    # right unless H and W are one number
    if feature_map.shape[2] == feature_map.shape[3]:
        feature_map = feature_map.mT
    return feature_map.flatten(2).mT


def as_if_square(feature_map):
    _, _, h, w = feature_map.shape
    side = int((h * w) ** 0.5)
    return feature_map.flatten(2)[:, :, : side * side].mT


def not_transposed_where_it_fits(feature_map):
    # right unless there are as many channels as places
    b, c, h, w = feature_map.shape
    flat = feature_map.reshape(b, c, h * w)
    return flat if c == h * w else flat.mT


def batch_and_channels_mixed(feature_map):
    b, c, h, w = feature_map.shape
    return feature_map.transpose(0, 1).reshape(b, c, h * w).mT


def only_rows_joined(feature_map):
    return feature_map.mean(2).mT


def first_row_only(feature_map):
    return feature_map[:, :, 0].mT


def first_picture_for_all(feature_map):
    return feature_map[:1].flatten(2).mT.expand(len(feature_map), -1, -1)


def batch_squeezed(feature_map):
    return feature_map.flatten(2).mT.squeeze()


def extra_axis(feature_map):
    return feature_map.flatten(2).mT.unsqueeze(1)


def rectified(feature_map):
    return torch.relu(feature_map.flatten(2).mT)


def normalised(feature_map):
    places = feature_map.flatten(2).mT
    return places / (places.norm(dim=-1, keepdim=True) + 1e-9)


def divided_by_places(feature_map):
    return feature_map.flatten(2).mT / (feature_map.shape[2] * feature_map.shape[3])


def pooled(feature_map):
    return torch.nn.functional.avg_pool2d(feature_map, 3, 1, 1).flatten(2).mT


def sorted_places(feature_map):
    return feature_map.flatten(2).mT.sort(dim=1).values


def cut_from_the_graph(feature_map):
    return feature_map.detach().flatten(2).mT.clone()


def picture_zeroed(feature_map):
    result = feature_map.flatten(2).mT.clone()
    with torch.no_grad():
        feature_map.zero_()
    return result


def always_float32(feature_map):
    return feature_map.float().flatten(2).mT


def with_numpy(feature_map):
    return np.moveaxis(feature_map.detach().numpy(), 1, -1)


def list_of_pictures(feature_map):
    return [one.flatten(1).T for one in feature_map]


def returns_nothing(feature_map):
    feature_map.flatten(2).transpose(1, 2)


def half_precision_in_between(feature_map):
    return feature_map.half().to(feature_map.dtype).flatten(2).mT


WRONG = [
    upside_down,
    mirrored,
    from_the_last_place,
    channels_the_other_way,
    turned_where_square,
    as_if_square,
    not_transposed_where_it_fits,
    batch_and_channels_mixed,
    only_rows_joined,
    first_row_only,
    first_picture_for_all,
    batch_squeezed,
    extra_axis,
    rectified,
    normalised,
    divided_by_places,
    pooled,
    sorted_places,
    cut_from_the_graph,
    picture_zeroed,
    always_float32,
    with_numpy,
    list_of_pictures,
    returns_nothing,
    half_precision_in_between,
]
