"""Readers, which parse data files into items; the registry names one for each split.

line pairs         files: source, target. Two files with a sentence per line.
tab pairs          files: one. `columns`: [source, target]; `member`: the name inside a zip.
paired members     files: one archive with two files for each text, NAME + `suffixes`, whose lines
                   are sentences; `pattern`: a regular expression for the names of the first file.
links              files: source, target, links. Links are lines `i-j i-j ...`, counted from 0.
numbered links     files: source, target, links. Links are lines `sentence i j S` (sure) or `... P`
                   (possible), all counted from 1.
conllu links       files: source.conllu, target.conllu, alignment.json (PUD).
labelled table     files: one, tab separated. `text`, `label`: columns; `header`: lines to skip;
                   `labels`: label to class number, if the labels are not numbers themselves.
labelled folders   files: one archive. `pattern`: a regular expression for member names whose group
                   1 is the class; `labels`: class to number; `encodings`: tried in order, by
                   default only UTF-8.
labelled pairs     files: one table, tab separated, and optionally another of ids. `first`,
                   `second`, `label`: columns; `header`: lines to skip; `ids`: columns that
                   identify a row; `listed`: true to keep the rows in the second file, else false.
lines              files: one.
tensors            files: one, of safetensors.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

from coursekit.corpora import SentencePair
from coursekit.datasets.archives import archive_members

Reader = Callable[[list[bytes], Mapping[str, Any]], list[Any]]


def lines_of(raw: bytes, encoding: str = "utf-8") -> list[str]:
    """Return the lines, split at newlines only; str.splitlines would also split at U+2028."""
    text = raw.decode(encoding).removeprefix("\ufeff")  # byte order mark of some files
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return [line.rstrip("\r") for line in lines]


def read_line_pairs(files: list[bytes], options: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return pairs (source, target) from two files with equal numbers of lines."""
    source, target = (lines_of(raw) for raw in files)
    if len(source) != len(target):
        raise ValueError(f"{len(source)} source lines but {len(target)} target lines")
    return [(a.strip(), b.strip()) for a, b in zip(source, target, strict=True)]


def read_tab_pairs(files: list[bytes], options: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return pairs (source, target) from two columns of one table."""
    (raw,) = files
    if "member" in options:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            raw = archive.read(options["member"])
    source, target = options["columns"]
    rows = (line.split("\t") for line in lines_of(raw))
    return [(row[source].strip(), row[target].strip()) for row in rows]


def read_paired_members(files: list[bytes], options: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return pairs (source, target) from an archive with two files per text, in order of name."""
    (raw,) = files
    texts, (first, second) = dict(archive_members(raw)), options["suffixes"]
    pairs = []
    for name in sorted(name for name in texts if re.search(options["pattern"], name)):
        both = [texts[name], texts[name.removesuffix(first) + second]]
        pairs += read_line_pairs(both, options)
    return pairs


def read_links(files: list[bytes], options: Mapping[str, Any]) -> list[SentencePair]:
    """Return tokenised sentences with links `i-j`; links outside their sentences are dropped."""
    pairs = []
    for source_line, target_line, links_line in zip(*map(lines_of, files), strict=True):
        source, target = tuple(source_line.split()), tuple(target_line.split())
        links = (tuple(map(int, link.split("-"))) for link in links_line.split())
        pairs.append(
            SentencePair(
                source,
                target,
                frozenset((i, j) for i, j in links if i < len(source) and j < len(target)),
            )
        )
    return pairs


def read_numbered_links(files: list[bytes], options: Mapping[str, Any]) -> list[SentencePair]:
    """Return tokenised sentences with sure and possible links `sentence i j S|P`, from 1."""
    sources, targets = ([tuple(line.split()) for line in lines_of(raw)] for raw in files[:2])
    links: dict[str, list[set[tuple[int, int]]]] = {kind: [set() for _ in sources] for kind in "SP"}
    for line in lines_of(files[2]):
        sentence, i, j, kind = line.split()
        links[kind][int(sentence) - 1].add((int(i) - 1, int(j) - 1))
    return [
        SentencePair(source, target, frozenset(sure), possible=frozenset(possible - sure))
        for source, target, sure, possible in zip(
            sources, targets, links["S"], links["P"], strict=True
        )
    ]


def _conllu(raw: bytes) -> list[list[str]]:
    """Return each sentence's words, without multiword tokens (`2-3`) and empty nodes (`2.1`)."""
    sentences: list[list[str]] = [[]]
    for line in lines_of(raw):
        if not line.strip():
            if sentences[-1]:
                sentences.append([])
        elif not line.startswith("#"):
            identifier, form = line.split("\t")[:2]
            if identifier.isdigit():
                sentences[-1].append(form)
    return [sentence for sentence in sentences if sentence]


def read_conllu_links(files: list[bytes], options: Mapping[str, Any]) -> list[SentencePair]:
    """Return sentences of two CoNLL-U files with links {source word: [target words]}, from 1."""
    pairs = []
    sources, targets, alignments = _conllu(files[0]), _conllu(files[1]), json.loads(files[2])
    for source, target, alignment in zip(sources, targets, alignments, strict=True):
        links = frozenset(
            (int(i) - 1, int(j) - 1)
            for i, positions in alignment.items()
            for j in positions
            if i.isdigit() and j.isdigit()  # "X" marks a word without a counterpart
        )
        pairs.append(SentencePair(tuple(source), tuple(target), links))
    return pairs


def read_labelled_table(files: list[bytes], options: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Return pairs (text, label) from two columns of a table; rows without a text are dropped."""
    (raw,) = files
    rows = (line.split("\t") for line in lines_of(raw)[options.get("header", 0) :])
    numbers = options.get("labels", {})
    labels = ((row[options["text"]].strip(), row[options["label"]]) for row in rows)
    items = ((text, int(numbers.get(label, label))) for text, label in labels)
    return [(text, label) for text, label in items if text]


def read_labelled_pairs(
    files: list[bytes], options: Mapping[str, Any]
) -> list[tuple[str, str, int]]:
    """Return pairs of texts with a label, (first, second, label), from a table."""
    rows = [line.split("\t") for line in lines_of(files[0])[options.get("header", 0) :]]
    if "ids" in options:
        listed = {tuple(line.split("\t")) for line in lines_of(files[1])}
        names = options["ids"]
        rows = [
            row for row in rows if (tuple(row[i] for i in names) in listed) == options["listed"]
        ]
    first, second, label = (options[name] for name in ("first", "second", "label"))
    return [(row[first].strip(), row[second].strip(), int(row[label])) for row in rows]


def read_labelled_folders(files: list[bytes], options: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Return pairs (text, label) from an archive with one folder per class, sorted by name."""
    (raw,) = files
    pattern = re.compile(options["pattern"])
    rows = []
    for name, content in archive_members(raw):
        if match := pattern.search(name):
            text = _decode(content, options.get("encodings", ["utf-8"])).strip()
            rows.append((match[1], name.rsplit("/", 1)[-1], text))
    return [(text, options["labels"][label]) for label, _, text in sorted(rows)]


def _decode(content: bytes, encodings: list[str]) -> str:
    """Return the text, decoded with the first encoding in which it is valid."""
    *first, last = encodings
    for encoding in first:
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    return content.decode(last)


def read_lines(files: list[bytes], options: Mapping[str, Any]) -> list[str]:
    """Return the lines of one file."""
    return [line.strip() for line in lines_of(files[0])]


def read_tensors(files: list[bytes], options: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return pairs (name, tensor) from one file, in order of name."""
    from safetensors.torch import load  # imported here: texts do not need torch

    return sorted(load(files[0]).items())


READERS: Mapping[str, Reader] = {
    "line pairs": read_line_pairs,
    "tab pairs": read_tab_pairs,
    "paired members": read_paired_members,
    "links": read_links,
    "numbered links": read_numbered_links,
    "conllu links": read_conllu_links,
    "labelled table": read_labelled_table,
    "labelled pairs": read_labelled_pairs,
    "labelled folders": read_labelled_folders,
    "lines": read_lines,
    "tensors": read_tensors,
}
