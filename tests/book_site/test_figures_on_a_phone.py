"""Tests of the figures' sizes: whole on a phone, and no text in them smaller than 9 pixels."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

import book.figures
from coursekit.plots import charts, style
from tests.conftest import ROOT

COLUMN = 358  # CSS pixels of the text on a phone of 390
SMALLEST = 9  # CSS pixels; a point is 96/72 of them at the figure's natural size
PAGES = sorted((ROOT / "book").glob("*.md"))


@pytest.fixture(autouse=True)
def course_style():
    with matplotlib.rc_context():
        style.use()
        yield
    plt.close("all")


def measure_smallest_text(figure: Figure) -> float:
    """Return the size of the smallest text, in CSS pixels, of a figure that fits the column."""
    figure.canvas.draw()
    width = 96 * (figure.get_tightbbox().width + 0.2)  # Jupyter saves it with this padding
    texts = [t for t in figure.findobj(Text) if t.get_visible() and t.get_text().strip()]
    return min(float(t.get_fontsize()) for t in texts) * 96 / 72 * min(1.0, COLUMN / width)


def diagrams() -> dict[str, Callable[[], object]]:
    """Return the diagrams that are drawn without data, by name."""
    found: dict[str, Callable[[], object]] = {}
    for module in pkgutil.iter_modules(book.figures.__path__):
        name = f"book.figures.{module.name}"
        for function, draw in inspect.getmembers(importlib.import_module(name), inspect.isfunction):
            own = function.startswith("draw") and draw.__module__ == name
            parameters = inspect.signature(draw).parameters.values()
            if own and all(p.default is not p.empty for p in parameters):
                found[f"{module.name}.{function}"] = draw
    return found


DIAGRAMS = diagrams()


def test_the_diagrams_are_found():
    assert len(DIAGRAMS) > 20


@pytest.mark.parametrize("draw", DIAGRAMS.values(), ids=DIAGRAMS)
def test_a_diagram_can_be_read_on_a_phone(draw):
    draw()
    for number in plt.get_fignums():
        assert measure_smallest_text(plt.figure(number)) >= SMALLEST


@pytest.mark.parametrize("length", [4, 9, 14, 20])
def test_a_heat_map_can_be_read_on_a_phone(length):
    source = [f"{'w' * (2 + i % 7)}" for i in range(length)]
    target = [f"{'ㅁ' * (1 + i % 3)} (meaning)" for i in range(length)]
    ax = charts.alignment(np.full((length, length), 1 / length), source, target, links=[(1, 1)])
    assert measure_smallest_text(ax.figure) >= SMALLEST


def test_a_chart_can_be_read_on_a_phone():
    charts.curves({"a model": [1.0, 2.0, 3.0], "another model": [2.0, 1.0, 0.0]})
    charts.by_length(range(1, 41, 5), {"a": range(7), "b": range(7)}, [1_000] * 7)
    charts.image_attention(np.zeros((48, 48, 3), np.uint8), ["small"] * 9, np.ones((9, 64)) / 64)
    for number in plt.get_fignums():
        assert measure_smallest_text(plt.figure(number)) >= SMALLEST


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_the_figures_of_a_page_have_the_width_of_a_phone(page):
    text = page.read_text(encoding="utf-8")
    widths = [float(width) for width in re.findall(r"figsize=\(([\d.]+),", text)]
    assert [width for width in widths if width > style.WIDTH] == []
    sizes = [float(size) for size in re.findall(r"(?:fontsize|labelsize)=([\d.]+)", text)]
    assert [size for size in sizes if size < 9] == []


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_a_page_sets_the_style_before_it_draws(page):
    """Without the style a figure has matplotlib's own size, which is cut on a phone."""
    cells = re.findall(r"^```\{code-cell\}.*?^```", page.read_text("utf-8"), re.M | re.S)
    drawing = [i for i, cell in enumerate(cells) if re.search(r"\bplt\.|charts\.\w+\(", cell)]
    styled = [i for i, cell in enumerate(cells) if "style.use(" in cell]
    assert not drawing or (styled and styled[0] <= drawing[0])
    assert matplotlib.rcParams["figure.figsize"][0] <= style.WIDTH
