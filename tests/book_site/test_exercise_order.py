"""Test of the order of the exercises, in which scoreboards and gradebooks list them, too."""

from autograder.exercises import EXERCISES
from book.site.toc import read_toc
from tests.conftest import ROOT


def test_exercises_are_in_the_order_of_the_table_of_contents():
    pages = [entry.path for entry in read_toc(ROOT / "_toc.yml")]
    listed = [page for page in pages if page.startswith("exercises/") and page.count("/") == 2]
    notebooks = {f"exercises/{one.assignment}/{one.notebook}": None for one in EXERCISES.values()}
    assert list(notebooks) == listed
