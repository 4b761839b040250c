"""Splitting of a corpus into training, validation and test sets, keeping duplicates together."""

from __future__ import annotations

import random
from typing import TypeVar

Item = TypeVar("Item", bound="tuple[str, str] | tuple[str, int]")


def divide(items: list[Item], seed: int, validation: int, test: int) -> dict[str, list[Item]]:
    """Divide items at random, keeping duplicates together.

    Items that share a text on either side, apart from case, punctuation and spaces, form a group
    (`Run!` and `Run.`, two translations of one sentence, two sentences with one translation). A
    group is never split: otherwise the test set would hold sentences seen in training. Groups of
    more than 50 items stay in the training set, so that no single group fills the test set.

    Args:
        items: pairs (source, target) or (text, label).
        seed: seed of the order in which groups are assigned.
        validation: minimum number of items in the validation set (its last group may exceed it).
        test: minimum number of items in the test set.

    Returns:
        The lists `train`, `validation` and `test`, each in the original order.
    """
    groups = _groups(items)
    order = list(groups)
    random.Random(seed).shuffle(order)
    wanted = {"test": test, "validation": validation}
    chosen: dict[str, list[int]] = {"train": [], "validation": [], "test": []}
    for group in order:
        members = groups[group]
        name = next((n for n, size in wanted.items() if len(chosen[n]) < size), "train")
        chosen[name if len(members) <= 50 else "train"].extend(members)
    return {name: [items[i] for i in sorted(indices)] for name, indices in chosen.items()}


def _groups(items: list[Item]) -> dict[int, list[int]]:
    """Return the indices of each connected group (union-find), in order of its first index."""
    parent = list(range(len(items)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    first: dict[tuple[int, str], int] = {}
    for index, item in enumerate(items):
        for side, text in enumerate(item):
            if isinstance(text, str):
                key = "".join(c for c in text.lower() if c.isalnum())
                other = first.setdefault((side, key), index)
                a, b = root(other), root(index)
                parent[max(a, b)] = min(a, b)
    groups: dict[int, list[int]] = {}
    for index in range(len(items)):
        groups.setdefault(root(index), []).append(index)
    return groups
