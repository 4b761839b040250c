"""Tests of the data address checker, on a small local web."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from tests.helpers.archive_builders import make_registry, sha256
from tests.helpers.scripted_web_server import Reply, Web
from tools import check_data_urls
from tools.polite_http import Visitor

TEXT = b"A dog sleeps.\nTwo cats.\n" * 100
PACKED = gzip.compress(TEXT, mtime=0)


@pytest.fixture
def web(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    running = Web({"/text": Reply(TEXT), "/text.gz": Reply(PACKED)})
    yield running
    running.close()


@pytest.fixture
def visitor():
    return Visitor(timeout=0.5, tries=2, pause=0.01, between=0.0)


def registry(folder: Path, urls: list[str]):
    splits = {"train": {"read": "text", "files": ["tiny/text"]}}
    return make_registry(folder, {"tiny/text": (urls, sha256(TEXT))}, "text", splits)


def run(folder, web, visitor, *paths, checksums=0):
    made = registry(folder, [f"{web.address}{path}" for path in paths])
    return check_data_urls.main(["--checksums", str(checksums)], made, visitor)


@pytest.mark.parametrize("ranges", [True, False])
def test_files_that_are_there(tmp_path, web, visitor, capsys, ranges):
    web.replies = {"/text": Reply(TEXT, ranges=ranges), "/text.gz": Reply(PACKED, ranges=ranges)}
    assert run(tmp_path, web, visitor, "/text", "/text.gz") == 0
    assert "| tiny | 1 | 2 of 2 | available |" in capsys.readouterr().out
    assert web.asked == ["GET /text", "GET /text.gz"]  # once, and not completely


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (Reply(status=404), "status 404"),
        (Reply(status=403), "status 403"),
        (Reply(delay=1.0), "no answer within 0.5 s"),
        (Reply(b"<!DOCTYPE html><p>Please log in"), "a web page instead of the file"),
        (Reply(TEXT), "the first bytes do not match the file type"),
        (Reply(b""), "the first bytes do not match the file type"),
    ],
)
def test_files_that_are_not(tmp_path, web, visitor, capsys, reply, says):
    web.replies["/bad.gz"] = reply
    assert run(tmp_path, web, visitor, "/bad.gz") == 1
    said = capsys.readouterr().out
    assert "| tiny | 1 | 0 of 1 | unavailable: tiny/text |" in said
    assert says in said and f"{web.address}/bad.gz" in said


def test_a_mirror_that_is_lost_is_told_while_the_other_serves(tmp_path, web, visitor, capsys):
    assert run(tmp_path, web, visitor, "/gone.gz", "/text.gz") == 1
    assert "| tiny | 1 | 1 of 2 | available |" in capsys.readouterr().out


def test_an_address_that_moved_for_good_is_told(tmp_path, web, visitor, capsys):
    address = f"http://localhost:{web.port}/text.gz"
    web.replies["/old.gz"] = Reply(status=301, location=address)
    assert run(tmp_path, web, visitor, "/old.gz") == 0
    assert f"moved to {address}" in capsys.readouterr().out


def test_mirrors_of_different_sizes(tmp_path, web, visitor, capsys):
    web.replies["/other/text.gz"] = Reply(PACKED + b"x")
    assert run(tmp_path, web, visitor, "/text.gz", "/other/text.gz") == 1
    assert "another mirror" in capsys.readouterr().out


def test_checksums_of_small_files(tmp_path, web, visitor, capsys, monkeypatch):
    monkeypatch.setenv("COURSEKIT_DATA", str(tmp_path / "not-looked-into"))
    monkeypatch.delenv("COURSEKIT_CACHE", raising=False)
    assert run(tmp_path, web, visitor, "/text.gz", checksums=10_000) == 0
    web.replies["/text.gz"] = Reply(gzip.compress(TEXT[:-1], mtime=0))
    assert run(tmp_path, web, visitor, "/text.gz", checksums=10_000) == 1
    assert "wrong checksum" in capsys.readouterr().out
    assert run(tmp_path, web, visitor, "/text.gz", checksums=10) == 0  # too large to download
    assert "COURSEKIT_CACHE" not in os.environ
    assert os.environ["COURSEKIT_DATA"] == str(tmp_path / "not-looked-into")


def test_an_unknown_name_is_one_sentence(web, visitor, capsys):
    assert check_data_urls.main(["nothing-like-it"], None, visitor) == 2
    assert "There is no data set 'nothing-like-it'" in capsys.readouterr().err
    assert web.asked == []
