"""Generator of scenes of coloured shapes, with captions and the region of each word.

A caption names the objects from left to right, so a scene has exactly one caption::

    a small red circle above a blue square
    a white cross below a large green triangle beside a yellow diamond

The size of a medium object is not named. All colours in a scene differ, so a colour identifies an
object; shapes and sizes may repeat.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

CANVAS = 48
"""Height and width of a picture, in pixels."""

SHAPES = ("circle", "square", "triangle", "cross", "diamond")
COLOURS = {
    "red": (214, 40, 40),
    "green": (30, 150, 70),
    "blue": (40, 90, 215),
    "yellow": (240, 205, 50),
    "purple": (150, 60, 175),
    "white": (245, 245, 245),
}
SIZES = {"small": (3.6, 4.4), "medium": (5.6, 6.6), "large": (8.0, 9.2)}
"""Smallest and largest half-width of an object, in pixels, by its size."""

RELATIONS = ("above", "below", "beside")
KINDS = {
    "size": ("small", "large"),
    "colour": tuple(COLOURS),
    "shape": SHAPES,
    "relation": RELATIONS,
}
"""The content words by kind; the only other word is "a". The size "medium" is not named."""

_KIND_OF = {word: kind for kind, words in KINDS.items() for word in words}
_APART = 4  # minimum distance in columns of neighbours in the caption, to make their order visible
_CLEAR = 1.4  # minimum ratio of vertical to horizontal distance for "above"; inverse for "beside"
_ATTEMPTS = 200


@dataclass(frozen=True)
class SceneObject:
    """One object of a scene.

    Attributes:
        shape: one of `SHAPES`.
        colour: one of `COLOURS`.
        size: "small", "medium" or "large".
        row: row of its centre, in pixels from the top.
        column: column of its centre, in pixels from the left.
        radius: half its width and height, in pixels.
    """

    shape: str
    colour: str
    size: str
    row: float
    column: float
    radius: float

    @property
    def words(self) -> tuple[str, ...]:
        """The words that describe it: a (size) colour shape."""
        size = () if self.size == "medium" else (self.size,)
        return ("a", *size, self.colour, self.shape)

    def cover(self) -> np.ndarray:
        """Return the fraction of each pixel that it covers, (48, 48), from 0 to 1."""
        rows, columns = np.mgrid[:CANVAS, :CANVAS].astype(float)
        y, x = rows - self.row, columns - self.column
        r = self.radius
        # The signed distance to the edge, in pixels, negative inside.
        if self.shape == "circle":
            edge = np.sqrt(x * x + y * y) - r
        elif self.shape == "square":
            edge = np.maximum(abs(x), abs(y)) - 0.9 * r
        elif self.shape == "diamond":
            edge = (abs(x) + abs(y) - r) / 1.4142
        elif self.shape == "cross":
            bar = 0.36 * r
            edge = np.minimum(
                np.maximum(abs(x) - r, abs(y) - bar), np.maximum(abs(x) - bar, abs(y) - r)
            )
        else:  # a triangle that stands on its base
            edge = np.maximum(y - 0.85 * r, (2 * abs(x) - y - 0.95 * r) / 2.2361)
        return np.clip(0.5 - edge, 0.0, 1.0)  # (48, 48)

    def mask(self) -> np.ndarray:
        """Return the pixels that it covers by at least half, bool (48, 48)."""
        return self.cover() >= 0.5


@dataclass(frozen=True, eq=False)
class Scene:
    """A picture, its caption, and the objects that each word refers to.

    Attributes:
        picture: uint8 (48, 48, 3), red, green, blue.
        words: the caption.
        objects: the objects, in the order of the caption.
        about: for each word, the indices of the objects it refers to: one for the words of an
            object, two for a relation, none for "a".
    """

    picture: np.ndarray
    words: tuple[str, ...]
    objects: tuple[SceneObject, ...]
    about: tuple[tuple[int, ...], ...]

    def region(self, position: int) -> np.ndarray:
        """Return the pixels of the objects a word refers to, bool (48, 48); none for "a".

        Args:
            position: position of the word in the caption, from 0.
        """
        covered = np.zeros((CANVAS, CANVAS), dtype=bool)
        for item in self.about[position]:
            covered |= self.objects[item].mask()
        return covered


class SceneSplits(NamedTuple):
    """Three sets of scenes that share no caption."""

    train: list[Scene]
    validation: list[Scene]
    test: list[Scene]


def kind(word: str) -> str | None:
    """Return "size", "colour", "shape" or "relation"; None for a function word."""
    return _KIND_OF.get(word)


def scenes(number: int, seed: int, objects: tuple[int, int] = (2, 3)) -> list[Scene]:
    """Generate scenes; the same arguments give the same scenes on every machine.

    Args:
        number: number of scenes.
        seed: seed of the generator.
        objects: the smallest and the largest number of objects in a scene, from 1 to 3.

    Returns:
        The scenes.

    Raises:
        ValueError: a number is out of range.
    """
    _check(objects, number=number)
    return _draw(number, random.Random(seed), objects, set())


def splits(
    train: int, validation: int, test: int, seed: int, objects: tuple[int, int] = (2, 3)
) -> SceneSplits:
    """Generate training, validation and test scenes that share no caption.

    Args:
        train: scenes in the training set.
        validation: scenes in the validation set.
        test: scenes in the test set.
        seed: seed of the generator.
        objects: the smallest and the largest number of objects in a scene, from 1 to 3.

    Returns:
        The three sets; a larger training set leaves the other two unchanged.

    Raises:
        ValueError: a number is out of range, or too few different captions exist.
    """
    _check(objects, train=train, validation=validation, test=test)
    source, taken = random.Random(seed), set[tuple[str, ...]]()
    parts = []
    for number in (test, validation, train):
        parts.append(_draw(number, source, objects, taken))
        taken |= {scene.words for scene in parts[-1]}
    return SceneSplits(parts[2], parts[1], parts[0])


def caption(
    objects: tuple[SceneObject, ...],
) -> tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]:
    """Return the caption of objects from left to right, and the objects each word refers to."""
    words: list[str] = []
    about: list[tuple[int, ...]] = []
    for i, item in enumerate(objects):
        if i:
            words.append(relation(objects[i - 1], item))
            about.append((i - 1, i))
        words += item.words
        about += [(), *[(i,)] * (len(item.words) - 1)]
    return tuple(words), tuple(about)


def relation(first: SceneObject, second: SceneObject) -> str:
    """Return the first object's position relative to the second: "above", "below" or "beside"."""
    down, right = second.row - first.row, second.column - first.column
    if abs(right) > abs(down):
        return "beside"
    return "above" if down > 0 else "below"


def _check(objects: tuple[int, int], **numbers: int) -> None:
    for name, value in numbers.items():
        if value < 0:
            raise ValueError(f"{name} must be 0 or more, not {value}.")
    fewest, most = objects
    if not 1 <= fewest <= most <= 3:
        raise ValueError(
            f"objects must be two numbers from 1 to 3 in ascending order, not {objects}."
        )


def _draw(
    number: int, source: random.Random, counts: tuple[int, int], taken: set[tuple[str, ...]]
) -> list[Scene]:
    """Draw `number` scenes whose captions are not in `taken`."""
    made: list[Scene] = []
    refused = 0
    while len(made) < number:
        objects = _place(source, source.randint(*counts))
        words, about = caption(objects)
        noise = source.getrandbits(32)
        if words in taken:
            refused += 1
            if refused > 50 * number + _ATTEMPTS:
                raise ValueError(
                    "There are too few different captions: request fewer scenes, or more objects "
                    "per scene."
                )
            continue
        made.append(Scene(_paint(objects, noise), words, objects, about))
    return made


def _place(source: random.Random, count: int) -> tuple[SceneObject, ...]:
    """Draw objects and their positions so that none overlap and every relation is clear."""
    while True:
        colours = source.sample(tuple(COLOURS), count)
        sizes = [source.choice(tuple(SIZES)) for _ in range(count)]
        shapes = [source.choice(SHAPES) for _ in range(count)]
        for _ in range(_ATTEMPTS):
            objects = []
            for shape, colour, size in zip(shapes, colours, sizes, strict=True):
                radius = source.uniform(*SIZES[size])
                low, high = radius + 1, CANVAS - 2 - radius
                row, column = source.uniform(low, high), source.uniform(low, high)
                objects.append(SceneObject(shape, colour, size, row, column, radius))
            objects.sort(key=lambda item: item.column)
            if all(_apart(*pair) for pair in combinations(objects, 2)) and all(
                _clear(*pair) for pair in pairwise(objects)
            ):
                return tuple(objects)


def _apart(one: SceneObject, other: SceneObject) -> bool:
    """Return whether the bounding squares of two objects are at least two pixels apart."""
    distance = max(abs(one.row - other.row), abs(one.column - other.column))
    return distance >= one.radius + other.radius + 2


def _clear(first: SceneObject, second: SceneObject) -> bool:
    """Return whether the order and the relation of two objects are unambiguous."""
    down, right = abs(second.row - first.row), second.column - first.column
    return right >= _APART and max(down, right) >= _CLEAR * min(down, right)


def _paint(objects: tuple[SceneObject, ...], seed: int) -> np.ndarray:
    """Return the picture: a slightly uneven grey background, the objects, and a little noise."""
    generator = np.random.default_rng(seed)
    level, across, down = generator.uniform((85, -25, -25), (145, 25, 25))
    ramp = np.linspace(-1.0, 1.0, CANVAS)
    ground = level + across * ramp + down * ramp[:, None]  # (48, 48)
    picture = np.repeat(ground[:, :, None], 3, axis=2)  # (48, 48, 3)
    for item in objects:
        light = generator.uniform(0.85, 1.0)
        cover = item.cover()[:, :, None]  # (48, 48, 1)
        picture += cover * (light * np.array(COLOURS[item.colour], dtype=float) - picture)
    picture += generator.integers(-10, 11, (CANVAS, CANVAS, 1))
    return np.clip(np.rint(picture), 0, 255).astype(np.uint8)
