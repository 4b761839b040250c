"""Checksums of other kinds, archives in two formats, and a reader's own files."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import zipfile
from pathlib import Path

import pytest

from coursekit.datasets import DatasetError, load, own_table, read_registry

REVIEWS = "5\t배송이 빠르고 좋아요\n1\t별로예요\n4\t괜찮네요\n2\t\n"


def tar_of(files: dict[str, bytes]) -> bytes:
    page = io.BytesIO()
    with tarfile.open(fileobj=page, mode="w") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return page.getvalue()


def zip_of(files: dict[str, bytes]) -> bytes:
    page = io.BytesIO()
    with zipfile.ZipFile(page, "w") as archive:
        archive.writestr("news/", "")
        for name, content in files.items():
            archive.writestr(name, content)
    return page.getvalue()


def registry_of(tmp_path: Path, path: str, checksum: str, spec: dict) -> Path:
    """Write a registry with one data set of one file, found in COURSEKIT_DATA."""
    dataset = {
        "title": "t",
        "description": "d",
        "licence": "l",
        "citation": "c",
        "kind": "labelled",
        "splits": {"train": {"files": [path], **spec}},
    }
    files = {path: {"urls": [], "sha256": checksum}}
    page = tmp_path / f"registry-{hashlib.sha256(checksum.encode()).hexdigest()[:8]}.json"
    page.write_text(json.dumps({"files": files, "datasets": {"mine": dataset}}))
    return page


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
    corpus = load("mine", read_registry(registry_of(tmp_path, "shop.txt", f"git:{name}", spec)))
    assert corpus.train == [("배송이 빠르고 좋아요", 1), ("별로예요", 0), ("괜찮네요", 1)]
    wrong = registry_of(tmp_path, "shop.txt", "git:" + "0" * 40, spec)
    with pytest.raises(DatasetError, match=r"wrong checksum \(git expected"):
        load("mine", read_registry(wrong))


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


def tree(files: dict[str, bytes]) -> str:
    lines = (f"{hashlib.sha256(c).hexdigest()}  {n}\n" for n, c in sorted(files.items()))
    return "tree:" + hashlib.sha256("".join(lines).encode()).hexdigest()


@pytest.mark.parametrize("pack", [tar_of, zip_of])
def test_archive_by_its_files_however_packed(data, tmp_path, pack):
    (data / "news.zip").write_bytes(pack(NEWS))
    corpus = load("mine", read_registry(registry_of(tmp_path, "news.zip", tree(NEWS), SPEC)))
    assert corpus.train == [("Zwölf Tore", 0), ("A win for £5", 0), ("A new chip", 1)]
    (data / "news.zip").write_bytes(pack(NEWS | {"news/tech/001.txt": b"Another chip"}))
    with pytest.raises(DatasetError, match="wrong checksum"):
        load("mine", read_registry(registry_of(tmp_path, "news.zip", tree(NEWS), SPEC)))


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
        ("good\n", r"Line 1 .* has 1 column"),
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
