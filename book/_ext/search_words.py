"""How the site's search cuts its words: English as Sphinx does, names in code, and Korean.

A word of Korean carries its particles (어텐션은, 어텐션을); they are cut off, in the index as in
the query. A name such as ``additive_score`` is found as a whole and by its parts.
"""

from __future__ import annotations

import json
import re
from typing import Any

from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish
from sphinx.util.index_entries import split_index_msg

# What is left must have two syllables, so that 결과 keeps its 과.
PARTICLES = re.findall(
    r"\w+",
    "으로부터 에서부터 이라는 에서는 에서의 으로는 으로써 으로서 까지의 라는 이란 에서 에게 에는 "
    "에도 으로 로는 로써 로서 까지 부터 처럼 보다 마다 이나 이며 과의 와의 와는 과는 만을 만이 "
    "은 는 이 가 을 를 의 에 로 와 과 도 만 란",
)
_KOREAN = re.compile("[가-힣]{2,}")
_PARTICLE = re.compile(f"^([가-힣]{{2,}}?)(?:{'|'.join(PARTICLES)})$")
_NAME = re.compile(r"[^\W_]+")

_JAVASCRIPT = """
Stemmer = ((English) => function () {
  const english = new English();
  const particle = new RegExp(%s, "u");
  this.stemWord = (word) =>
    /^[가-힣]{2,}$/u.test(word) ? word.replace(particle, "$1") : english.stemWord(word);
})(Stemmer);
"""


class CourseSearch(SearchEnglish):
    """English with the parts of names, and Korean without particles."""

    js_stemmer_code = SearchEnglish.js_stemmer_code + _JAVASCRIPT % json.dumps(
        _PARTICLE.pattern, ensure_ascii=False
    )

    def split(self, input: str) -> list[str]:
        """Return the words of a text; a name with underscores also gives its parts."""
        words: list[str] = super().split(input)
        parts = [p for w in words if "_" in w for p in _NAME.findall(w) if len(p) > 1]
        return words + parts

    def stem(self, word: str) -> str:
        """Return what a word is looked up by: the same as the browser's ``stemWord``."""
        if _KOREAN.fullmatch(word):
            return _PARTICLE.sub(r"\1", word)
        stem: str = super().stem(word)
        return stem


def keep_entries_of_unchanged_pages(app: Sphinx) -> list[Any]:
    """Give the search the index's entries of all pages.

    Sphinx 7 forgets those of the pages that a further build has no need to write again.
    """
    indexer = getattr(app.builder, "indexer", None)
    if indexer is not None:
        for page, entries in app.env.get_domain("index").entries.items():  # type: ignore[attr-defined]
            indexer._index_entries[page] = sorted(
                {
                    (part, target or "", main)
                    for kind, value, target, main, _ in entries
                    for part in split_index_msg(kind, value)
                }
            )
    return []


def setup(app: Sphinx) -> dict[str, Any]:
    """Put ours in the place of Sphinx's English."""
    app.add_search_language(CourseSearch)
    app.connect("html-collect-pages", keep_entries_of_unchanged_pages)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
