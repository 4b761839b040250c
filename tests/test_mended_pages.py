"""The faults of the written pages that accessible.py mends, and what it leaves alone."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "book" / "_ext"))

from accessible import mark_korean, mend, mend_landmarks, mend_lists, name_folders


def test_a_folder_is_named_after_its_chapter():
    page = (
        '<li><a class="reference internal" href="a.html">Alone</a></li>'
        '<li><a class="current reference internal" href="#">Q &amp; <em>A</em></a>'
        '<details open="open"><summary><i></i></summary>'
    )
    named = name_folders(page)
    assert '<summary aria-label="Pages of Q &amp; A"><i>' in named
    assert named.count("aria-label") == 1
    fold = '<summary aria-label="Toggle hidden content"><p>Show code</p></summary>'
    assert name_folders(fold) == "<summary><p>Show code</p></summary>"


def test_works_are_entries_of_their_list():
    page = '<div role="list"><div role="doc-biblioentry"><a role="doc-backlink" href="#x">'
    assert mend_lists(page) == '<div role="list"><div role="listitem"><a href="#x">'


def test_the_side_bar_is_a_region():
    page = '<div id="pst-primary-sidebar" class="bd-sidebar">'
    assert 'role="region" aria-label="Course"' in mend_landmarks(page)


def test_korean_is_marked_in_the_text_only():
    page = (
        "<head><title>한국어</title></head>"
        '<p title="책">We read 책, and 잘 지내? is <em>한국어</em>.</p>'
        '<pre>print("책")</pre><code>책</code><script>"책"</script>'
        "<svg><text>책</text></svg><option>책</option>"
    )
    marked = mark_korean(page)
    assert (
        '<p title="책">We read <span lang="ko">책</span>, and <span lang="ko">잘 지내</span>? '
        'is <em><span lang="ko">한국어</span></em>.</p>'
    ) in marked
    assert marked.count("<span") == 3


def test_a_mended_page_stays_as_it_is():
    page = (
        '<div id="pst-primary-sidebar" class="x"><a class="reference internal" href="b">B</a>'
        '<details><summary></summary></details></div><p lang="ko">책</p><p>책 아이</p>'
    )
    assert mend(mend(page)) == mend(page)
