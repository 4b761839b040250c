"""Tests of the fixes in html_accessibility.py, and of what it leaves unchanged."""

import pytest
from PIL import Image

from book.site.html_accessibility import (
    compute_width,
    join_percent_signs,
    mark_korean,
    mend,
    mend_landmarks,
    mend_lists,
    name_folders,
    size_pictures,
)


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


def test_a_number_keeps_its_percent_sign_on_the_line():
    page = "<p>from 32 to 41 %, <em>97</em> % (96–98) %; 50%, in %</p><pre>7 % 3</pre><p>8 %</p>"
    assert join_percent_signs(page) == (
        "<p>from 32 to 41\u00a0%, <em>97</em> % (96–98)\u00a0%; 50%, in %</p>"
        "<pre>7 % 3</pre><p>8\u00a0%</p>"
    )


def test_a_mended_page_stays_as_it_is(folder):
    page = (
        '<div id="pst-primary-sidebar" class="x"><a class="reference internal" href="b">B</a>'
        '<details><summary></summary></details></div><p lang="ko">책</p><p>책 아이, 8 %</p>'
        '<img src="../_images/screen.png" alt="a" />'
    )
    once = mend(page, folder)
    assert 'width="1280" height="400"' in once
    assert mend(once, folder) == once


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "_images").mkdir()
    Image.new("RGB", (900, 300)).save(tmp_path / "_images" / "plot.png", dpi=(144, 144))
    Image.new("RGB", (1280, 400)).save(tmp_path / "_images" / "screen.png")
    (tmp_path / "book").mkdir()
    return tmp_path / "book"


def test_a_picture_gets_the_size_of_its_file_and_a_box(folder):
    page = '<p>A</p><img alt="two &gt; one" src="../_images/plot.png" /><p>B</p>'
    assert size_pictures(page, folder) == (
        '<p>A</p><div class="picture" style="--true-width: 600px"><img alt="two &gt; one" '
        'src="../_images/plot.png" width="900" height="300" /></div><p>B</p>'
    )


def test_pictures_after_the_first_wait_for_the_reader(folder):
    page = '<img alt="" src="../_images/plot.png" />' * 3
    sized = size_pictures(page, folder)
    assert [part.count('loading="lazy"') for part in sized.split("<img")] == [0, 0, 1, 1]
    assert size_pictures(sized, folder) == sized


def test_only_pictures_of_the_site_are_read(folder):
    page = '<img src="https://a.b/_images/plot.png" alt="" /><img src="_static/favicon.svg" />'
    assert size_pictures(page, folder) == page


@pytest.mark.parametrize(
    ("width", "dpi", "shown"),
    [(900, 144, 600), (660, 108, 587), (1370, 144, 720), (500, None, 500)],
)
def test_true_width_is_that_in_inches_and_not_more_than_the_column(width, dpi, shown):
    assert compute_width(width, dpi) == shown
