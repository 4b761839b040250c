"""Tests of glossary.yml: it is complete, and agrees with the chapters that it refers to."""

import re

import pytest
from docutils.nodes import make_id
from sphinx.search.en import SearchEnglish

from book.site.glossary_page import list_entries, list_symbols, list_terms
from tests.helpers.built_site import ROOT
from tools.execute_pages import list_pages

TERMS, SYMBOLS = list_terms(), list_symbols()
CHAPTERS = sorted((ROOT / "book").glob("[01][0-9]_*.md"))
WORD = SearchEnglish({})


def read_prose(path):
    """Return the page without its metadata and its code cells."""
    text = path.read_text(encoding="utf-8")
    return re.sub(r"^```\{code-cell\}.*?^```$", "", text, flags=re.M | re.S)


def read_sections(path):
    """Return the page's sections by anchor: all text from one heading to the next."""
    texts = {}
    parts = re.split(r"^(#+ .*)$", read_prose(path), flags=re.M)
    for heading, text in zip(parts[1::2], parts[2::2], strict=True):
        texts[make_id(re.sub(r"^#+ |[$`*]", "", heading))] = f"{heading}\n{text}"
    return texts


WITH_SECTIONS = [*list_pages(ROOT), ROOT / "book" / "how_to_use.md"]
PAGES = {path.stem: read_sections(path) for path in WITH_SECTIONS}


def section(at):
    page, _, address = at.partition("#")
    return PAGES[page][address]


def test_there_are_enough_terms_and_each_says_what_it_is():
    assert len(TERMS) >= 90
    for entry in TERMS:
        assert len(entry.text) >= 25, entry.term
        assert entry.text.endswith("."), entry.term
        assert "  " not in entry.text, entry.term


def test_terms_are_in_order_and_no_name_stands_twice():
    names = [entry.term.lower() for entry in TERMS]
    assert names == sorted(names)
    names += [name.lower() for entry in TERMS for name in entry.also]
    assert len(names) == len(set(names))
    korean = [name for entry in TERMS for name in entry.korean]
    assert len(korean) == len(set(korean))


def test_korean_names_are_korean():
    korean = [name for entry in TERMS for name in entry.korean]
    assert len(korean) > 90
    for name in korean:
        assert re.search("[가-힣]", name), name
        assert name == name.strip()


def stems(text):
    return {WORD.stem(word) for word in re.findall(r"[a-z0-9]+", text.lower())}


@pytest.mark.parametrize("entry", TERMS, ids=lambda entry: entry.term)
def test_the_section_uses_the_term(entry):
    text = section(entry.at)
    if entry.written:
        assert entry.written in " ".join(text.split()), entry.at
    else:
        names = (entry.term, *entry.also)
        assert any(stems(name) <= stems(text) for name in names), entry.at


@pytest.mark.parametrize("entry", SYMBOLS, ids=lambda entry: entry.name)
def test_the_section_has_the_letter(entry):
    formulas = " ".join(re.findall(r"\$\$.*?\$\$|\$[^$]+\$", section(entry.at), re.S))
    assert entry.written in formulas or entry.written in section(entry.at), entry.written


def letters(formula):
    """Return the Latin and Greek letters of a formula, without indices, words and commands."""
    text = re.sub(r"\\(text|mathrm|operatorname|begin|end)\{[^}]*\}", " ", formula)
    greek = set(re.findall(r"\\([a-zA-Z]+)", text))
    return set(re.findall(r"[a-zA-Z]", re.sub(r"\\[a-zA-Z]+", " ", text))), greek


def test_every_letter_of_the_displayed_equations_is_in_the_table():
    known, greek = set(), set()
    for entry in SYMBOLS:
        latin, commands = letters(f"{entry.symbol} {entry.shape} {entry.elsewhere}")
        known |= latin
        greek |= commands
    names = "alpha|beta|gamma|lambda|sigma|tau|omega|phi|Phi|varepsilon|epsilon|partial|odot"
    alphabet = set(re.split(r"\|", names))
    missing = {}
    for path in CHAPTERS:
        for formula in re.findall(r"^\$\$\n(.*?)^\$\$$", read_prose(path), re.M | re.S):
            latin, commands = letters(formula)
            for letter in (latin - known) | (commands & alphabet - greek):
                missing.setdefault(letter, path.stem)
    assert missing == {}


def test_a_letter_is_indexed_by_the_names_one_types():
    indexed = {entry[1].split(";")[0] for s in SYMBOLS for entry in list_entries(s, "x")}
    assert {"alpha_ij", "sigma", "W_s1", "Q", "K", "V", "d_k", "beta"} <= indexed


def test_the_chapters_link_to_terms_that_exist():
    known = {entry.term.lower() for entry in TERMS}
    for path in CHAPTERS:
        links = re.findall(r"\{term\}`(?:[^`<]*<)?([^`>]+)>?`", read_prose(path))
        assert {link.lower() for link in links} <= known, path.name
        assert 5 <= len(links) <= 14, path.name
        for line in read_prose(path).splitlines():
            assert not (line.startswith("#") and "{term}" in line), line


def test_definitions_link_to_terms_that_exist():
    known = {entry.term.lower() for entry in TERMS}
    for entry in TERMS:
        links = re.findall(r"\{term\}`(?:[^`<]*<)?([^`>]+)>?`", entry.text)
        assert {link.lower() for link in links} <= known, entry.term
