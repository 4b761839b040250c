"""Tests of unpacking what students handed in: sizes, nested archives, paths."""

from __future__ import annotations

import io
import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from autograder.instructor.collecting import packed_files
from autograder.instructor.collecting.packed_files import clean_path, open_package, unpack_nested
from tests.helpers.platform_archives import SCORES, pack


def test_archives_of_zeros_are_not_unpacked_beyond_what_one_may_hand_in(monkeypatch):
    for name, size in (("FILE_AT_MOST", 1), ("NOTEBOOKS_AT_MOST", 2), ("UNPACKED_AT_MOST", 6)):
        monkeypatch.setattr(packed_files, name, size << 20)
    zeros = pack({f"{number}.bin": bytes(900_000) for number in range(50)})
    level_2 = pack({f"{number}.zip": zeros for number in range(20)})
    level_1 = pack({f"{number}.zip": level_2 for number in range(20)})
    bomb = pack({"scores.ipynb": SCORES, "large.bin": bytes(2 << 20), "bomb.zip": level_1})
    tracemalloc.start()
    with open_package(io.BytesIO(bomb), "bomb.zip") as files:
        contents, left = unpack_nested(files)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert ("scores.ipynb", SCORES) in contents
    assert sum(len(content) for _, content in contents) <= 2 << 20
    assert left["large.bin"] == "is larger than 1 MB"
    assert set(left.values()) == {
        "is larger than 1 MB",
        "is more than the 2 MB that one may hand in",
    }
    assert peak < 12 << 20, f"{peak >> 20} MB"


@given(st.text())
def test_a_cleaned_path_is_relative_and_short(text):
    path = clean_path(text)
    assert not path.startswith("/") and ".." not in path.split("/") and "\\" not in path
    assert all(len(part.encode("utf-8", "replace")) <= 200 for part in path.split("/"))
    assert clean_path(path) == path
