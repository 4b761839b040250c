"""Tests of the drawn scenes: reproducible, true captions and regions, disjoint splits."""

import random
from collections import Counter
from dataclasses import FrozenInstanceError
from itertools import combinations

import numpy as np
import pytest

from coursekit.corpora import scenes as drawn
from coursekit.corpora.scenes import CANVAS, COLOURS, RELATIONS, SHAPES, SIZES, SceneObject
from tests.helpers.one_line_errors import refused

SAMPLE = drawn.scenes(300, seed=5)


def test_a_scene_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        SAMPLE[0].words = ()


def test_pictures_are_colour_pictures_of_one_size():
    for scene in SAMPLE[:20]:
        assert scene.picture.shape == (CANVAS, CANVAS, 3)
        assert scene.picture.dtype == np.uint8


def test_captions_say_what_is_there_from_left_to_right():
    for scene in SAMPLE:
        objects = list(scene.objects)
        assert objects == sorted(objects, key=lambda t: t.column)
        rest = list(scene.words)
        for i, item in enumerate(objects):
            if i:
                word, last = rest.pop(0), objects[i - 1]
                down, right = item.row - last.row, item.column - last.column
                assert word == (
                    "beside" if abs(right) > abs(down) else "above" if down > 0 else "below"
                )
                assert max(abs(down), right) >= 1.4 * min(abs(down), right)  # unambiguous
            said = [rest.pop(0) for _ in range(3 if item.size == "medium" else 4)]
            size = [] if item.size == "medium" else [item.size]
            assert said == ["a", *size, item.colour, item.shape]
        assert rest == []


def test_every_word_knows_its_objects():
    for scene in SAMPLE:
        assert len(scene.about) == len(scene.words)
        for word, about in zip(scene.words, scene.about, strict=True):
            meant = [scene.objects[i] for i in about]
            if word == "a":
                assert meant == []
            elif word in RELATIONS:
                assert about[1] == about[0] + 1 and len(about) == 2
            else:
                (item,) = meant
                assert word in (item.size, item.colour, item.shape)


def test_regions_have_the_colour_that_the_word_names():
    for scene in SAMPLE:
        for i, word in enumerate(scene.words):
            if drawn.kind(word) == "colour":
                region = scene.region(i)
                assert 15 < region.sum() < 0.2 * CANVAS**2
                mean = scene.picture[region].mean(axis=0)
                light = mean / mean.max() * 255  # the brightness of an object varies
                distances = {
                    name: np.abs(light - np.array(rgb) / max(rgb) * 255).sum()
                    for name, rgb in COLOURS.items()
                }
                assert min(distances, key=distances.get) == word
            if word == "a":
                assert not scene.region(i).any()


def test_the_region_of_a_relation_is_both_objects():
    scene = next(s for s in SAMPLE if len(s.objects) == 3)
    position = max(i for i, word in enumerate(scene.words) if word in RELATIONS)
    both = scene.objects[1].mask() | scene.objects[2].mask()
    assert (scene.region(position) == both).all()


def test_objects_do_not_touch_and_stay_inside():
    for scene in SAMPLE:
        for one, other in combinations([item.mask() for item in scene.objects], 2):
            assert not (one & other).any()
        for item in scene.objects:
            edge = np.ones((CANVAS, CANVAS), dtype=bool)
            edge[1:-1, 1:-1] = False
            assert not (item.mask() & edge).any()
            low, high = SIZES[item.size]
            assert low <= item.radius <= high
        assert len({item.colour for item in scene.objects}) == len(scene.objects)


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_have_their_form(shape):
    mask = SceneObject(shape, "red", "large", 24.0, 24.0, 9.0).mask()
    widths = mask.sum(axis=1)
    used = widths[widths > 0]
    assert (mask == mask[:, ::-1][:, [-1, *range(CANVAS - 1)]]).mean() > 0.99  # mirror symmetry
    if shape == "square":
        assert len(set(used)) == 1
    if shape == "triangle":
        assert (np.diff(used) >= 0).all() and used[-1] > 4 * used[0]
    if shape in ("circle", "diamond"):
        assert used.argmax() in range(len(used) // 2 - 2, len(used) // 2 + 2)
        assert used[0] < used.max()
    if shape == "circle":
        assert abs(mask.sum() - np.pi * 81) < 12
    if shape == "cross":
        assert len(set(used)) == 2


def test_all_words_occur_evenly():
    counts = Counter(word for scene in drawn.scenes(600, 2) for word in scene.words)
    for words in drawn.KINDS.values():
        seen = [counts[word] for word in words]
        assert min(seen) > 0.65 * max(seen), dict(counts)


def test_global_generators_are_neither_used_nor_changed():
    random.seed(1)
    np.random.seed(1)
    before = random.getstate(), np.random.get_state()[2]
    pictures = [scene.picture.tobytes() for scene in drawn.scenes(5, 3)]
    assert (random.getstate(), np.random.get_state()[2]) == before
    random.seed(2)
    assert [scene.picture.tobytes() for scene in drawn.scenes(5, 3)] == pictures


def test_splits_share_no_caption():
    parts = drawn.splits(200, 40, 60, seed=3)
    assert [len(part) for part in parts] == [200, 40, 60]
    captions = [{scene.words for scene in part} for part in parts]
    assert all(not (a & b) for a, b in combinations(captions, 2))


@pytest.mark.parametrize("objects", [(1, 1), (2, 2), (3, 3), (1, 3)])
def test_the_number_of_objects_can_be_chosen(objects):
    scenes = drawn.scenes(60, seed=1, objects=objects)
    assert {len(scene.objects) for scene in scenes} == set(range(objects[0], objects[1] + 1))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: drawn.scenes(-1, 0), "number must be 0 or more"),
        (lambda: drawn.splits(1, -2, 1, 0), "validation must be 0 or more"),
        (lambda: drawn.scenes(1, 0, objects=(0, 2)), "objects must be two numbers from 1 to 3"),
        (lambda: drawn.scenes(1, 0, objects=(3, 2)), "objects must be two numbers from 1 to 3"),
        (lambda: drawn.scenes(1, 0, objects=(2, 4)), "objects must be two numbers from 1 to 3"),
    ],
)
def test_impossible_numbers_are_refused_in_one_sentence(call, message):
    with refused(message):
        call()


def test_too_many_scenes_of_one_object_are_refused():
    with pytest.raises(ValueError, match="too few different captions"):
        drawn.splits(5, 0, 1500, seed=1, objects=(1, 1))  # the test set uses up all 90 captions


def test_kinds_cover_all_words_but_the_article():
    words = {word for scene in SAMPLE for word in scene.words}
    assert {word for word in words if drawn.kind(word) is None} == {"a"}
