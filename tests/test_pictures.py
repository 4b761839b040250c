"""The sizes that pictures of the built pages get."""

import sys
from pathlib import Path

import pytest
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "book" / "_ext"))

from pictures import true_width, with_sizes


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "_images").mkdir()
    Image.new("RGB", (900, 300)).save(tmp_path / "_images" / "plot.png", dpi=(144, 144))
    Image.new("RGB", (1280, 400)).save(tmp_path / "_images" / "screen.png")
    (tmp_path / "book").mkdir()
    return tmp_path / "book"


def test_a_picture_gets_the_size_of_its_file_and_a_box(folder):
    page = '<p>A</p><img alt="two &gt; one" src="../_images/plot.png" /><p>B</p>'
    assert with_sizes(page, folder) == (
        '<p>A</p><div class="picture" style="--true-width: 600px"><img alt="two &gt; one" '
        'src="../_images/plot.png" width="900" height="300" /></div><p>B</p>'
    )


def test_a_page_that_has_sizes_stays_as_it_is(folder):
    once = with_sizes('<img src="../_images/screen.png" alt="a" />', folder)
    assert 'width="1280" height="400"' in once
    assert with_sizes(once, folder) == once


def test_only_pictures_of_the_site_are_read(folder):
    page = '<img src="https://a.b/_images/plot.png" alt="" /><img src="_static/favicon.svg" />'
    assert with_sizes(page, folder) == page


@pytest.mark.parametrize(
    ("width", "dpi", "shown"),
    [(900, 144, 600), (660, 108, 587), (1370, 144, 720), (500, None, 500)],
)
def test_true_width_is_that_in_inches_and_not_more_than_the_column(width, dpi, shown):
    assert true_width(width, dpi) == shown
