"""Tests of git and tree checksums, archives in two formats, and users' own files."""

from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path

import pytest

from coursekit.datasets import DatasetError, Registry, load, own_table
from tests.helpers.archive_builders import make_registry, sha256_of_tree, tarred, zipped

REVIEWS = "5\t배송이 빠르고 좋아요\n1\t별로예요\n4\t괜찮네요\n2\t\n"


def registry_of(folder: Path, path: str, checksum: str, spec: dict) -> Registry:
    """Return a registry with one data set of one file, found in COURSEKIT_DATA."""
    return make_registry(
        folder, {path: ([], checksum)}, "labelled", {"train": {"files": [path], **spec}}
    )


@pytest.fixture
def data(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("COURSEKIT_DATA", str(folder))
    monkeypatch.setenv("COURSEKIT_CACHE", str(tmp_path / "cache"))
    return folder


def test_file_that_git_knows(data, tmp_path):
    raw = REVIEWS.encode()
    (data / "shop.txt").write_bytes(raw)
    name = hashlib.sha1(b"blob %d\0" % len(raw) + raw).hexdigest()
    spec = {
        "read": "labelled table",
        "text": 1,
        "label": 0,
        "labels": {"1": 0, "2": 0, "4": 1, "5": 1},
    }
    corpus = load("tiny", registry_of(tmp_path, "shop.txt", f"git:{name}", spec))
    assert corpus.train == [("배송이 빠르고 좋아요", 1), ("별로예요", 0), ("괜찮네요", 1)]
    wrong = registry_of(tmp_path, "shop.txt", "git:" + "0" * 40, spec)
    with pytest.raises(DatasetError, match=r"wrong checksum \(git expected"):
        load("tiny", wrong)


NEWS = {
    "news/sport/002.txt": "A win for £5".encode("cp1252"),
    "news/sport/001.txt": "Zwölf Tore".encode(),
    "news/tech/001.txt": b"A new chip",
}
SPEC = {
    "read": "labelled folders",
    "pattern": "news/([a-z]+)/",
    "labels": {"sport": 0, "tech": 1},
    "encodings": ["utf-8", "cp1252"],
}


@pytest.mark.parametrize("pack", [partial(tarred, mode="w"), zipped])
def test_archive_by_its_files_however_packed(data, tmp_path, pack):
    (data / "news.zip").write_bytes(pack(NEWS))
    corpus = load("tiny", registry_of(tmp_path, "news.zip", sha256_of_tree(NEWS), SPEC))
    assert corpus.train == [("Zwölf Tore", 0), ("A win for £5", 0), ("A new chip", 1)]
    (data / "news.zip").write_bytes(pack(NEWS | {"news/tech/001.txt": b"Another chip"}))
    with pytest.raises(DatasetError, match="wrong checksum"):
        load("tiny", registry_of(tmp_path, "news.zip", sha256_of_tree(NEWS), SPEC))


def test_own_file(tmp_path):
    page = tmp_path / "mine.tsv"
    page.write_text("text\tclass\ngood\t1\nbad\t0\n\t0\n", encoding="utf-8-sig")
    table = own_table(page, header=1)
    assert table.train == [("good", 1), ("bad", 0), ("", 0)]
    page.write_text("".join(f"text number {n}\t{n % 2}\n" for n in range(50)))
    divided = own_table(page, validation=10, test=5)
    assert [len(divided.split(part)) for part in ("train", "validation", "test")] == [35, 10, 5]


def test_own_file_in_another_encoding(tmp_path):
    page = tmp_path / "mine.tsv"
    page.write_bytes("좋아요\t1\n".encode("cp949"))
    assert own_table(page, encoding="cp949").train == [("좋아요", 1)]
    with pytest.raises(DatasetError, match=r"not in the encoding utf-8 .* encoding='cp949'"):
        own_table(page)
    with pytest.raises(DatasetError, match="no encoding called 'korean-8'"):
        own_table(page, encoding="korean-8")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("good\n", r"Line 1 .* has 1 tab-separated column"),
        ("good\t1\nbad\tno\n", r"Line 2 .* has the class 'no'"),
        ("", "is empty"),
    ],
)
def test_own_file_with_a_slip(tmp_path, content, sentence):
    page = tmp_path / "mine.tsv"
    page.write_text(content)
    with pytest.raises(DatasetError, match=sentence):
        own_table(page)


def test_own_file_that_is_not_there(tmp_path):
    with pytest.raises(DatasetError, match="check the path"):
        own_table(tmp_path / "none.tsv")
