"""The site's search and its index: Korean terms, names in code, letters; and where they lead."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from conftest import ROOT, go_to

pytestmark = pytest.mark.browser

MASTER = yaml.safe_load((ROOT / "book" / "glossary.yml").read_text(encoding="utf-8"))
TERMS = MASTER["terms"]
CATALOGUE = (ROOT / "book" / "catalogue.md").read_text(encoding="utf-8")
NAMES = re.findall(r"^\| `(\w+)\(.*\| \d+ \|$", CATALOGUE, re.M)

RESULTS = """queries => queries.map(query => {
  const results = Search._performSearch(...Search._parseQuery(query));
  return results.reverse().map(([page, title, anchor]) => ({page, title, anchor}));
})"""


@pytest.fixture
def search(visit: Any) -> Any:
    """search(queries) -> for each query its results, best first: page, title, anchor."""
    page = visit("search.html").page
    page.wait_for_function("Search.hasIndex()")
    return lambda queries: page.evaluate(RESULTS, queries)


def test_every_korean_name_leads_to_its_term(search):
    queries = [(name, entry["term"]) for entry in TERMS for name in entry.get("korean", ())]
    found = search([name for name, _ in queries])
    wrong = [
        name
        for (name, term), results in zip(queries, found, strict=True)
        if not results
        or results[0]["page"] != "book/glossary"
        or f"({term.lower()})" not in results[0]["title"]
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("query", "term"),
    [
        ("어텐션은", "attention"),
        ("셀프 어텐션을", "self-attention"),
        ("교사 강요로", "teacher-forcing"),
        ("빔 서치에서", "beam-search"),
        ("가중치", "parameter"),
    ],
)
def test_korean_is_found_with_its_particles(search, query, term):
    (results,) = search([query])
    assert results[0]["page"] + results[0]["anchor"] == f"book/glossary#term-{term}"


def test_every_term_leads_to_its_section_and_to_the_glossary(search):
    found = search([entry["term"] for entry in TERMS])
    wrong = []
    for entry, results in zip(TERMS, found, strict=True):
        places = [result["page"] + result["anchor"] for result in results[:6]]
        if f"book/{entry['at']}" not in places:
            wrong.append(entry["term"])
        if not any(place.startswith("book/glossary#term-") for place in places):
            wrong.append(entry["term"])
    assert wrong == []


def test_every_exercise_leads_to_its_notebook(search):
    found = search(NAMES)
    wrong = {
        name: results[:1]
        for name, results in zip(NAMES, found, strict=True)
        if not any(
            r["page"].startswith("exercises/") and r["anchor"] and r["title"].endswith(name)
            for r in results[:4]
        )
    }
    assert len(NAMES) > 65
    assert wrong == {}


@pytest.mark.parametrize("query", ["alpha_ij", "d_k", "sigma", "beta", "lambda", "h_j", "Q"])
def test_letters_are_found_by_their_names(search, query):
    (results,) = search([query])
    assert any(r["page"] == "book/glossary" and "#symbol-" in r["anchor"] for r in results[:3])


def test_a_plural_is_its_singular_and_a_part_finds_the_name(search):
    plural, part = search(["annotations", "masked softm"])
    assert plural[0]["anchor"] in ("#term-annotation", "#the-equations")
    assert any("masked_softmax" in result["title"] for result in part) or part


def test_a_result_can_be_opened_and_says_what_it_is(visit, site):
    opened = visit("search.html?q=어텐션은")
    page = opened.page
    first = page.locator("ul.search li").first
    first.locator(".context").wait_for()
    assert first.locator("a").inner_text() == "Glossary > 어텐션 (attention)"
    assert "weighted average" in first.locator(".context").inner_text()
    first.locator("a").click()
    page.wait_for_url("**/glossary.html#term-attention")
    assert page.locator("#term-attention span[lang=ko]").inner_text().startswith("어텐션")
    assert opened.problems() == {}


def test_the_index_is_in_the_navigation_and_its_links_lead_somewhere(visit, site):
    opened = visit("book/how_to_use.html")
    page = opened.page
    link = page.locator(".bd-sidebar-primary a", has_text=re.compile("^Index$"))
    go_to(opened, page.evaluate("a => a.href", link.element_handle()))
    assert page.locator("h1#index").inner_text() == "Index"
    entries = page.locator(".index-entries span[lang=ko]").all_inner_texts()
    assert {name for entry in TERMS for name in entry.get("korean", ())} <= set(entries)
    addresses = page.locator(".index-entries a").evaluate_all("all => all.map(a => a.href)")
    pages: dict[str, str] = {}
    missing = []
    for address in set(addresses):
        name, _, anchor = address.removeprefix(site.address).partition("#")
        text = pages.setdefault(name, (site.folder / name).read_text(encoding="utf-8"))
        if f'id="{anchor}"' not in text:
            missing.append(address)
    assert missing == []
    assert opened.problems() == {}
