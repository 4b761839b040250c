"""Tests of the data loader with a real HTTP server, and on the real data if available."""

from __future__ import annotations

import gzip
import lzma
import os
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from coursekit.datasets import (
    DatasetError,
    LabelledCorpus,
    ParallelCorpus,
    Registry,
    describe,
    download,
    load,
    names,
    read_registry,
)
from coursekit.datasets.__main__ import main
from coursekit.datasets.loading import KINDS
from coursekit.datasets.readers import (
    READERS,
    read_conllu_links,
    read_labelled_pairs,
    read_links,
    read_numbered_links,
)
from coursekit.datasets.splitting import divide
from tests.helpers.archive_builders import make_registry, sha256, sha256_of_tree, tarred, zipped
from tests.helpers.scripted_web_server import Reply, Web

DE = "Ein Hund schläft.\nZwei Katzen.\n".encode()
EN = b"A dog sleeps.\nTwo cats.\n"
PAIRS = [("Ein Hund schläft.", "A dog sleeps."), ("Zwei Katzen.", "Two cats.")]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    running = Web({"/de.gz": Reply(gzip.compress(DE)), "/en": Reply(EN)})
    yield running
    running.close()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("COURSEKIT_CACHE", str(folder))
    monkeypatch.delenv("COURSEKIT_DATA", raising=False)
    return folder


@pytest.fixture
def closed_port() -> str:
    """Return the address of a server that is down."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


def registry(tmp_path: Path, de_urls: list[str], en_urls: list[str], **changes) -> Registry:
    files = {"tiny/text.de": (de_urls, sha256(DE)), "tiny/text.en": (en_urls, sha256(EN))}
    told = {
        "kind": "parallel",
        "splits": {"train": {"read": "line pairs", "files": list(files)}},
        **changes,
    }
    return make_registry(tmp_path, files, **told)


def left_behind(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def assert_one_sentence(error: pytest.ExceptionInfo[DatasetError]) -> str:
    text = str(error.value)
    assert "\n" not in text and text.endswith(".") and not re.search(r"[.!?] [A-Z]", text)
    return text


# --- downloads -----------------------------------------------------------------------------------


def test_download_verifies_caches_and_prints(server, cache, tmp_path, capsys):
    tiny = registry(tmp_path, [f"{server.address}/de.gz"], [f"{server.address}/en"])
    corpus = load("tiny", tiny)
    assert isinstance(corpus, ParallelCorpus)
    assert corpus.train == PAIRS
    assert (corpus.name, corpus.licence, corpus.citation) == ("tiny", "CC0", "Nobody (2020)")
    assert corpus.sha256 == {"tiny/text.de": sha256(DE), "tiny/text.en": sha256(EN)}
    lines = f"{sha256(DE)}  tiny/text.de\n", f"{sha256(EN)}  tiny/text.en\n"
    assert corpus.data_sha256 == sha256("".join(sorted(lines)).encode())
    assert left_behind(cache) == ["tiny/text.de", "tiny/text.en"]
    assert (cache / "tiny/text.de").read_bytes() == DE
    assert repr(corpus) == "ParallelCorpus(tiny; train: 2)"
    captured = capsys.readouterr()
    assert captured.err == ""

    server.close()  # the second load downloads nothing
    assert load("tiny", tiny).train == PAIRS
    assert len(server.asked) == 2


def test_licence_and_citation_are_printed_once(server, cache, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("coursekit.datasets.loading._described", set())
    tiny = registry(tmp_path, [f"{server.address}/de.gz"], [f"{server.address}/en"])
    assert describe("tiny", tiny) == "Tiny. Licence: CC0.\nPlease cite: Nobody (2020)"
    load("tiny", tiny)
    load("tiny", tiny)
    assert capsys.readouterr().out.count(describe("tiny", tiny)) == 1


def test_second_mirror_is_used_when_the_first_fails(server, cache, tmp_path, closed_port):
    server.replies["/wrong"] = Reply(b"something else\n")
    tiny = registry(
        tmp_path,
        [f"{closed_port}/de.gz", f"{server.address}/missing", f"{server.address}/de.gz"],
        [f"{server.address}/wrong", f"{server.address}/en"],
    )
    assert load("tiny", tiny).train == PAIRS
    assert left_behind(cache) == ["tiny/text.de", "tiny/text.en"]


def test_wrong_checksum_names_file_expected_and_found(server, cache, tmp_path):
    server.replies["/en"] = Reply(b"tampered\n")
    tiny = registry(tmp_path, [f"{server.address}/de.gz"], [f"{server.address}/en"])
    with pytest.raises(DatasetError) as error:
        load("tiny", tiny)
    text = assert_one_sentence(error)
    for part in ("tiny/text.en", sha256(EN), sha256(b"tampered\n"), "wrong checksum"):
        assert part in text
    assert left_behind(cache) == ["tiny/text.de"]


@pytest.mark.parametrize("path", ["/de.gz", "/en"])
def test_truncated_body_leaves_nothing_behind(server, cache, tmp_path, path):
    server.replies[path].missing = 1000
    tiny = registry(tmp_path, [f"{server.address}/de.gz"], [f"{server.address}/en"])
    with pytest.raises(DatasetError, match="closed the connection before the end") as error:
        load("tiny", tiny)
    assert_one_sentence(error)
    assert left_behind(cache) == ([] if path == "/de.gz" else ["tiny/text.de"])
    server.replies[path].missing = 0
    assert load("tiny", tiny).train == PAIRS


def test_truncated_archive_is_reported(server, cache, tmp_path):
    server.replies["/de.gz"] = Reply(gzip.compress(DE)[:-12])
    tiny = registry(tmp_path, [f"{server.address}/de.gz"], [f"{server.address}/en"])
    with pytest.raises(DatasetError, match="truncated or damaged") as error:
        load("tiny", tiny)
    assert_one_sentence(error)
    assert left_behind(cache) == []


def test_no_network_says_what_to_do(cache, tmp_path, closed_port, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    tiny = registry(tmp_path, [f"{closed_port}/de.gz"], [f"{closed_port}/en"])
    with pytest.raises(DatasetError) as error:
        load("tiny", tiny)
    text = assert_one_sentence(error)
    for part in ("could not be reached", "check the network", "COURSEKIT_DATA", "tiny/text.de"):
        assert part in text
    assert left_behind(cache) == []


def test_server_error_is_reported(server, cache, tmp_path):
    tiny = registry(tmp_path, [f"{server.address}/missing"], [f"{server.address}/en"])
    with pytest.raises(DatasetError, match="answered with status 404") as error:
        load("tiny", tiny)
    assert_one_sentence(error)


@pytest.mark.parametrize("moment", ["transfer", "rename"])
def test_interruption_leaves_nothing_behind(server, cache, tmp_path, monkeypatch, moment):
    tiny = registry(tmp_path, [f"{server.address}/de.gz"], [f"{server.address}/en"])

    def interrupted(*args: object) -> None:
        if moment == "transfer":
            Path(str(args[1])).write_bytes(b"half a fi")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        if moment == "transfer":
            patch.setattr(download, "_transfer", interrupted)
        else:
            patch.setattr(os, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            load("tiny", tiny)
    assert left_behind(cache) == []
    assert load("tiny", tiny).train == PAIRS


def test_what_a_killed_process_left_is_swept_away(server, cache, tmp_path):
    old, young = cache / "tiny/text.de.abc.part", cache / "tiny/text.de.def.part"
    old.parent.mkdir(parents=True)
    old.write_bytes(b"half")
    os.utime(old, (1, 1))
    young.write_bytes(b"perhaps still growing in another process")
    load("tiny", registry(tmp_path, [f"{server.address}/de.gz"], [f"{server.address}/en"]))
    assert left_behind(cache) == ["tiny/text.de", "tiny/text.de.def.part", "tiny/text.en"]


def test_damaged_cache_is_downloaded_again(server, cache, tmp_path):
    tiny = registry(tmp_path, [f"{server.address}/de.gz"], [f"{server.address}/en"])
    load("tiny", tiny)
    (cache / "tiny/text.de").write_bytes(DE[:10])
    assert load("tiny", tiny).train == PAIRS
    assert (cache / "tiny/text.de").read_bytes() == DE


def test_cache_that_cannot_be_written(server, tmp_path, monkeypatch):
    monkeypatch.delenv("COURSEKIT_DATA", raising=False)
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("COURSEKIT_CACHE", str(tmp_path / "file"))
    tiny = registry(tmp_path, [f"{server.address}/de.gz"], [f"{server.address}/en"])
    with pytest.raises(DatasetError, match="COURSEKIT_CACHE") as error:
        load("tiny", tiny)
    assert_one_sentence(error)


def test_member_of_an_archive(server, cache, tmp_path):
    server.replies["/all.zip"] = Reply(zipped({"folder/text.de": DE}))
    server.replies["/all.tgz"] = Reply(tarred({"text.en": EN}))
    tiny = registry(
        tmp_path,
        [f"{server.address}/all.zip#folder/text.de"],
        [f"{server.address}/all.zip#absent", f"{server.address}/all.tgz#text.en"],
    )
    assert load("tiny", tiny).train == PAIRS


def test_folder_of_an_archive(server, cache, tmp_path):
    """An archive of a whole repository: one of its folders is taken, the rest is not kept."""
    debates = {"debates/1.en": EN, "debates/1.de": DE, "debates/2.en": b"c\n", "debates/2.de": b"d"}
    within = {f"repository-1/data/{name}": text for name, text in debates.items()}
    server.replies["/all.tgz"] = Reply(tarred({"repository-1/README": b"x", **within}))
    urls = [f"{server.address}/all.tgz#{folder}/" for folder in ("absent", "repository-1/data")]
    split = {"read": "paired members", "files": ["tiny/raw.tar"], "pattern": "debates/.*[.]de$"}
    files = {"tiny/raw.tar": (urls, sha256_of_tree(debates))}
    splits = {"train": {**split, "suffixes": [".de", ".en"]}}
    tiny = make_registry(tmp_path, files, "parallel", splits)
    assert load("tiny", tiny).train == [*PAIRS, ("d", "c")]
    assert left_behind(cache) == ["tiny/raw.tar"]
    server.replies.clear()  # the second load downloads nothing
    assert load("tiny", tiny).train == [*PAIRS, ("d", "c")]


# --- names ---------------------------------------------------------------------------------------


def test_unknown_name_lists_the_known_and_the_closest():
    with pytest.raises(DatasetError) as error:
        load("multi30k-en-de")
    text = assert_one_sentence(error)
    assert "did you mean multi30k-de-en?" in text
    assert all(name in text for name in names())
    with pytest.raises(DatasetError, match="did you mean tatoeba-eng-kor"):
        load("tatoeba-en-ko")
    with pytest.raises(DatasetError, match="'zzzz': the known names are"):
        describe("zzzz")


def test_unknown_split(server, cache, tmp_path):
    tiny = registry(tmp_path, [f"{server.address}/de.gz"], [f"{server.address}/en"])
    with pytest.raises(DatasetError, match="no split 'test': use one of train") as error:
        _ = load("tiny", tiny).test
    assert_one_sentence(error)


# --- the folder COURSEKIT_DATA -------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
def test_data_folder_comes_first(server, cache, tmp_path, monkeypatch, suffix):
    folder = tmp_path / "data"
    (folder / "tiny").mkdir(parents=True)
    pack = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}[suffix]
    (folder / f"tiny/text.de{suffix}").write_bytes(pack(DE))
    monkeypatch.setenv("COURSEKIT_DATA", str(folder))
    tiny = registry(tmp_path, [f"{server.address}/de.gz"], [f"{server.address}/en"])
    assert load("tiny", tiny).train == PAIRS
    assert server.asked == ["GET /en"]  # only the missing file is downloaded
    assert left_behind(cache) == ["tiny/text.en"]
    assert left_behind(folder) == [f"tiny/text.de{suffix}"]


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"Ein Hund.\n", "wrong checksum"), (gzip.compress(DE, mtime=0)[:-9], "truncated or damaged")],
)
def test_damaged_file_in_the_data_folder(server, cache, tmp_path, monkeypatch, content, said):
    suffix = ".gz" if content.startswith(b"\x1f") else ""
    (tmp_path / "data/tiny").mkdir(parents=True)
    (tmp_path / f"data/tiny/text.de{suffix}").write_bytes(content)
    monkeypatch.setenv("COURSEKIT_DATA", str(tmp_path / "data"))
    tiny = registry(tmp_path, [f"{server.address}/de.gz"], [f"{server.address}/en"])
    with pytest.raises(DatasetError, match=said) as error:
        load("tiny", tiny)
    text = assert_one_sentence(error)
    assert f"text.de{suffix}" in text and "replace it, or remove it" in text
    assert server.asked == []


def test_data_folder_that_does_not_exist(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("COURSEKIT_DATA", str(tmp_path / "absent"))
    with pytest.raises(DatasetError, match="is not a folder") as error:
        load("multi30k-de-en")
    assert_one_sentence(error)


def test_new_data_sets_need_only_the_registry(tmp_path, cache, monkeypatch):
    """A labelled table, labelled folders in an archive and running text, without any code."""
    files = {
        "new/table.tsv": b"id\ttext\tlabel\n1\tgood\t1\n2\t\t0\n3\tbad\t0\n",
        "new/folders.tar.gz": tarred({"x/test/neg/1.txt": b"dull", "x/test/pos/0.txt": b"fine\n"}),
        "new/run.txt": b" a line \n\n",
    }
    splits = {
        "train": {"read": "labelled table", "text": 1, "label": 2, "header": 1},
        "test": {
            "read": "labelled folders",
            "pattern": "(?:^|/)test/(neg|pos)/",
            "labels": {"neg": 0, "pos": 1},
        },
        "extra": {"read": "lines"},
    }
    for (path, content), split in zip(files.items(), splits.values(), strict=True):
        (tmp_path / "new").mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(content)
        split["files"] = [path]
    declared = {path: ([], sha256(content)) for path, content in files.items()}
    monkeypatch.setenv("COURSEKIT_DATA", str(tmp_path))
    corpus = load("tiny", make_registry(tmp_path, declared, "labelled", splits))
    assert isinstance(corpus, LabelledCorpus)
    assert corpus.train == [("good", 1), ("bad", 0)]
    assert corpus.test == [("dull", 0), ("fine", 1)]
    assert corpus.split("extra") == ["a line", ""]


# --- readers, division, registry -----------------------------------------------------------------


def test_links_outside_the_sentence_and_byte_order_mark():
    (pair,) = read_links(["\ufeffein haus\n".encode(), b"a house\n", b"0-0 1-1 2-1 1-7\n"], {})
    assert pair.source == ("ein", "haus")
    assert pair.links == {(0, 0), (1, 1)}


def test_numbered_links_count_from_one_and_are_sure_or_possible():
    links = b"2 1 1 P\n1 1 2 S\n1 2 1 P\n2 1 1 S\n"
    first, second = read_numbered_links([b"a house\nno\n", b"maison une\nnon\n", links], {})
    assert (first.source, first.target) == (("a", "house"), ("maison", "une"))
    assert (first.links, first.possible) == ({(0, 1)}, {(1, 0)})
    assert (second.links, second.possible) == ({(0, 0)}, frozenset())  # sure links are listed once


def test_conllu_links_count_from_zero_and_skip_contractions():
    source = b"# text\n1\ta\t_\n2\tb\t_\n\n"
    target = b"1-2\tdu\t_\n1\tde\t_\n2\tle\t_\n2.1\tx\t_\n3\tc\t_\n"
    links = b'[{"1": ["1", "3"], "2": ["X"], "X": ["2"]}]'
    (pair,) = read_conllu_links([source, target, links], {})
    assert pair.target == ("de", "le", "c")
    assert pair.links == {(0, 0), (0, 2)}


def test_pairs_of_the_rows_whose_ids_are_listed_or_of_the_others():
    table = "\ufefflabel\ta\tb\tfirst\tsecond\n1\t7\t8\tone \t uno\n0\t9\t7\ttwo\tdos\n".encode()
    ids = b"8\t7\n9\t7\n"
    columns = {"label": 0, "first": 3, "second": 4, "header": 1}
    one, two = ("one", "uno", 1), ("two", "dos", 0)
    assert read_labelled_pairs([table], columns) == [one, two]
    listed = columns | {"ids": [1, 2], "listed": True}
    assert read_labelled_pairs([table, ids], listed) == [two]  # 8, 7 is not 7, 8
    assert read_labelled_pairs([table, ids], listed | {"listed": False}) == [one]


def test_division_keeps_together_what_says_the_same():
    items = [(f"s{i}", f"t{i}") for i in range(100)]
    items += [("S1!", "u"), ("s3 .", "u"), ("s5", "t5")]
    parts = divide(items, seed=1, validation=20, test=30)
    assert sum(map(len, parts.values())) == len(items)
    assert len(parts["test"]) >= 30 and len(parts["validation"]) >= 20
    place = {item: name for name, part in parts.items() for item in part}
    assert place["s1", "t1"] == place["S1!", "u"] == place["s3 .", "u"] == place["s3", "t3"]
    assert parts["train"] == sorted(parts["train"], key=items.index)
    assert divide(items, 1, 20, 30) == parts != divide(items, 2, 20, 30)


def test_the_registry_is_complete():
    known = read_registry()
    assert set(names()) >= {"multi30k-de-en", "multi30k-en-fr", "tatoeba-eng-fra"}
    used = set()
    for dataset in known.datasets.values():
        assert dataset.kind in KINDS and dataset.licence and dataset.citation
        for spec in dataset.splits.values():
            assert spec["read"] in READERS
        used.update(dataset.file_paths())
    assert used == set(known.files)
    for file in known.files.values():
        assert re.fullmatch("(tree:)?[0-9a-f]{64}|git:[0-9a-f]{40}", file.sha256) and file.urls
        for url in file.urls:  # GitHub only at a commit, as branches move
            assert url.startswith(("https://", "http://d2l-data.s3", "http://mlg.ucd.ie/"))
            if "githubusercontent" in url:
                assert re.search("/[0-9a-f]{40}/", url)


# --- the command ---------------------------------------------------------------------------------


def test_command_lists_and_fails_in_one_sentence(capsys):
    assert main([]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in names())
    assert main(["multi30k"]) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith("There is no data set 'multi30k' (did you mean multi30k-")
    assert captured.err.count("\n") == 1


# --- the real data -------------------------------------------------------------------------------

SIZES = {
    "multi30k-de-en": {"train": 29000, "validation": 1014, "test": 1000, "test_2018": 1071},
    "multi30k-en-fr": {"train": 29000, "validation": 1014, "test": 1000, "test_2017_mscoco": 461},
    "tatoeba-eng-fra": {"train": 138787, "validation": 2000, "test": 2000},
    "tatoeba-eng-kor": {"train": 4948, "validation": 400, "test": 401},
    "alignment-de-en": {"test": 100},
    "alignment-en-fr": {"test": 999},
    "alignment-en-ko": {"test": 884},
    "alignment-hansards": {"validation": 37, "test": 447},
    "hansards-en-fr": {"train": 359595},
    "nsmc": {"train": 144995, "validation": 5000, "test": 49997},
    "sst-2": {"train": 67349, "validation": 872},
    "cola": {"train": 8551, "validation": 1043},
    "minilm-l6": {"weights": 104, "pieces": 30522},
    "imdb": {"train": 22500, "validation": 2500, "test": 25000},
    "imdb-ratings": {"train": 22500, "validation": 2500, "test": 25000},
    "bbc": {"train": 1560, "validation": 220, "test": 445},
    "mrpc": {"train": 3668, "validation": 408, "test": 1725},
    "bert-base-uncased-vocabulary": {"pieces": 30522},
    "wikitext-2": {"train": 36718, "validation": 3760, "test": 4358},
}


@pytest.mark.real_data
@pytest.mark.parametrize("name", SIZES)
def test_real_data(name):
    corpus = load(name)
    assert {split: len(corpus.splits[split]) for split in SIZES[name]} == SIZES[name]


@pytest.mark.real_data
def test_real_sentences_and_links():
    assert load("multi30k-de-en").test[0] == (
        "Ein Mann mit einem orangefarbenen Hut, der etwas anstarrt.",
        "A man in an orange hat starring at something.",
    )
    german = load("alignment-de-en").test
    assert german[0].source[:2] == ("herr", "präsident")
    assert sum(len(pair.links) for pair in german) == 1232  # 1,233 minus the one out of range
    for name in ("alignment-de-en", "alignment-en-fr", "alignment-en-ko", "alignment-hansards"):
        for pair in load(name).test:
            links = pair.links | pair.possible
            assert all(i < len(pair.source) and j < len(pair.target) for i, j in links)
    hansards = load("alignment-hansards").test  # as counted by its authors
    assert sum(len(pair.links) for pair in hansards) == 4038
    assert sum(len(pair.possible) for pair in hansards) == 13400


@pytest.mark.real_data
def test_tatoeba_test_sentences_are_not_in_training():
    corpus = load("tatoeba-eng-kor")
    for side in (0, 1):
        train = {pair[side].lower() for pair in corpus.train}
        assert not train & {pair[side].lower() for pair in corpus.test + corpus.validation}
