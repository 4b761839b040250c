"""Tests of the charts: labels, outlined links, and no automatic display."""

from itertools import pairwise

import matplotlib
import numpy as np
import pytest
import torch
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

matplotlib.use("agg")

import matplotlib.pyplot as plt

from coursekit.data.papers import PAPERS
from coursekit.plots import charts, result_charts, style

SOURCE = ["the", "book", "is", "here"]
TARGET = ["책", "이", "있다"]
WEIGHTS = np.array([[0.1, 0.7, 0.1, 0.1], [0.2, 0.5, 0.2, 0.1], [0.0, 0.1, 0.6, 0.3]])


@pytest.fixture(autouse=True)
def no_figure_is_shown(monkeypatch):
    monkeypatch.setattr(plt, "show", lambda *a, **k: pytest.fail("a plot called plt.show"))
    with matplotlib.rc_context():
        style.use()
        yield
    plt.close("all")


def words(labels):
    return [label.get_text() for label in labels]


def outlines(ax):
    return sorted(
        (p.get_x() + p.get_width() / 2, p.get_y() + p.get_height() / 2)
        for p in ax.patches
        if isinstance(p, Rectangle)
    )


@pytest.mark.parametrize(
    "weights",
    [
        WEIGHTS,
        torch.tensor(WEIGHTS, dtype=torch.float32, requires_grad=True),
        torch.tensor(WEIGHTS, dtype=torch.bfloat16),
        WEIGHTS.tolist(),
    ],
    ids=["numpy", "torch", "bfloat16", "list"],
)
def test_alignment_puts_source_on_top_and_target_down_the_side(weights):
    ax = charts.alignment(weights, SOURCE, TARGET, title="One sentence")
    assert isinstance(ax, Axes)
    assert words(ax.get_xticklabels()) == SOURCE
    assert words(ax.get_yticklabels()) == style.labels(TARGET)
    assert ax.xaxis.get_ticks_position() == "top"
    (image,) = ax.images
    np.testing.assert_allclose(image.get_array(), WEIGHTS, atol=4e-3)
    left, right, bottom, top = image.get_extent()
    assert (left, right, top, bottom) == (-0.5, 3.5, -0.5, 2.5)  # the first target word is on top
    assert ax.yaxis_inverted()
    assert image.get_clim() == (0.0, 1.0)
    assert ax.get_title(loc="left") == "One sentence"


def test_alignment_outlines_the_gold_links_at_source_across_and_target_down():
    ax = charts.alignment(WEIGHTS, SOURCE, TARGET, links={(1, 0), (3, 2)})
    np.testing.assert_allclose(outlines(ax), [(1, 0), (3, 2)])
    assert outlines(charts.alignment(WEIGHTS, SOURCE, TARGET)) == []


def test_alignment_outlines_possible_links_with_dots():
    ax = charts.alignment(WEIGHTS, SOURCE, TARGET, links={(1, 0)}, possible={(3, 2)})
    drawn = {patch.get_gid(): patch for patch in ax.patches}
    assert drawn["gold link"].get_linestyle() in ("-", "solid")
    assert drawn["possible link"].get_linestyle() not in ("-", "solid")
    with pytest.raises(ValueError, match="outside"):
        charts.alignment(WEIGHTS, SOURCE, TARGET, possible={(9, 0)})


def test_alignment_draws_on_given_axes_and_adds_no_colour_bar_there():
    figure, (left, _) = plt.subplots(1, 2)
    assert charts.alignment(WEIGHTS, SOURCE, TARGET, ax=left) is left
    assert len(figure.axes) == 2


def test_thirty_words_do_not_overlap():
    names = [f"word{i}" for i in range(30)]
    ax = charts.alignment(np.full((30, 30), 1 / 30), names, names)
    ax.figure.canvas.draw()
    boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
    assert all(a.x1 <= b.x0 + 1 for a, b in pairwise(boxes))
    boxes = [label.get_window_extent() for label in ax.get_yticklabels()]
    assert all(b.y1 <= a.y0 + 1 for a, b in pairwise(boxes))


def test_alignment_says_what_does_not_fit():
    with pytest.raises(ValueError, match=r"\(3, 4\), not \(4, 3\)"):
        charts.alignment(WEIGHTS.T, SOURCE, TARGET)
    with pytest.raises(ValueError, match=r"link \(4, 0\) lies outside"):
        charts.alignment(WEIGHTS, SOURCE, TARGET, links=[(4, 0)])


def test_curves_keep_each_series_and_tell_them_apart_without_colour():
    ax = charts.curves({"training": [3.0, 2.0, 1.0], "validation": torch.tensor([3.1, 2.5])})
    first, second = ax.lines
    np.testing.assert_allclose(first.get_xydata(), [(1, 3), (2, 2), (3, 1)])
    np.testing.assert_allclose(second.get_xydata(), [(1, 3.1), (2, 2.5)])
    assert first.get_linestyle() != second.get_linestyle()
    assert first.get_marker() != second.get_marker()
    assert words(ax.get_legend().get_texts()) == ["training", "validation"]
    assert charts.curves({"only": [1.0]}).get_legend() is None
    with pytest.raises(ValueError, match="at least one series"):
        charts.curves({})
    with pytest.raises(ValueError, match="'loss' has 3 values but x has 2"):
        charts.curves({"loss": [1, 2, 3]}, x=[10, 20])


def test_lengths_fall_into_half_open_bins():
    assert charts.length_bins([4, 7, 8, 30, 3], [4, 8, 12]) == [[0, 1], [2]]
    with pytest.raises(ValueError, match="ascend"):
        charts.length_bins([1], [4, 4])


def test_by_length_shows_bins_counts_and_gaps():
    quality = {"attention": [30.0, 28.0, 27.0], "fixed vector": [29.0, 20.0, float("nan")]}
    ax = charts.by_length([4, 8, 12, 13], quality, [120, 1300, 5])
    assert words(ax.get_xticklabels()) == ["4–7\nn=120", "8–11\nn=1,300", "12\nn=5"]
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [30, 28, 27])
    assert ax.get_ylim()[0] == 0
    empty = charts.by_length([4, 8, 12], {"attention": [30.0, 0.0]}, [9, 0])
    assert np.isnan(empty.lines[0].get_ydata()[1])  # no sentences, no value
    with pytest.raises(ValueError, match="3 bins but 'attention' has 2 values"):
        charts.by_length([4, 8, 12, 16], {"attention": [1, 2]}, [1, 1, 1])


def test_several_seeds_are_a_mean_and_a_band_from_lowest_to_highest():
    seeds = [[1.0, 4.0, 3.0], [3.0, 2.0, 3.0]]
    for ax in (
        charts.curves({"a": seeds, "b": [1, 2, 3]}),
        charts.by_length([1, 2, 3, 4], {"a": seeds, "b": [1, 2, 3]}, [5, 5, 5]),
    ):
        first, second = ax.get_lines()
        assert list(first.get_ydata()) == [2, 3, 3] and list(second.get_ydata()) == [1, 2, 3]
        (band,) = ax.collections
        corners = band.get_paths()[0].vertices
        at_second = corners[np.isclose(corners[:, 0], first.get_xdata()[1]), 1]
        assert (at_second.min(), at_second.max()) == (2, 4)


def test_a_legend_below_hides_no_data_and_makes_the_figure_higher():
    ax = charts.curves({"one model": [1, 2], "another": [2, 1], "a third": [0, 1]})
    before = ax.figure.get_figheight()
    charts.put_legend_below(ax, columns=2)
    assert ax.get_legend() is None
    [legend] = ax.figure.legends
    assert words(legend.get_texts()) == ["one model", "another", "a third"]
    assert ax.figure.get_figheight() == pytest.approx(before + 0.4)
    ax.figure.canvas.draw()
    assert legend.get_window_extent().y1 <= ax.get_window_extent().y0


def result(*seeds):
    """A result with quality by length and after each epoch, and shares of the gradient."""
    groups = ({"from": 1, "to": 4, "sentences": 30}, {"from": 5, "to": 9, "sentences": 12})
    runs = [
        {
            "by_length": [group | {"bleu": y} for group, y in zip(groups, ys, strict=True)],
            "history": [{"exact": y / 100} for y in ys],
            **{
                f"gradient_{when}": [group | {"r": 1 / y} for group in groups for y in ys[:1]]
                for when in ("before", "after")
            },
        }
        for ys in seeds
    ]
    return {"runs": runs}


def test_recorded_quality_by_length_has_the_bins_of_the_record():
    ax = result_charts.by_length({"a": result([10, 20], [30, 40]), "b": result([1, 2])})
    assert words(ax.get_xticklabels()) == ["1–4\nn=30", "5–9\nn=12"]
    assert list(ax.lines[0].get_ydata()) == [20, 30]
    assert words(ax.get_legend().get_texts()) == ["a", "b"]


def test_recorded_curves_are_scaled():
    ax = result_charts.by_epoch({"a": result([10, 20])}, "exact", 100, ylabel="exact, %")
    assert list(ax.lines[0].get_ydata()) == [10, 20]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("epoch", "exact, %")


def test_columns_of_one_result_are_curves_of_one_figure():
    row = result([10, 20])
    ax = result_charts.columns_by_epoch(row, {"right": "exact", "again": "exact"}, 50)
    assert [list(line.get_ydata()) for line in ax.lines[:2]] == [[5, 10], [5, 10]]
    assert words(ax.get_legend().get_texts()) == ["right", "again"]


def test_gradients_are_drawn_before_and_after_with_the_longest_training_sentence():
    result_charts.gradients({"a": result([10, 20])}, (1e-3, 2), trained_up_to=8)
    before, after = plt.gcf().axes
    assert [ax.get_title(loc="left") or ax.get_title() for ax in (before, after)] == [
        "before training",
        "after training",
    ]
    for ax in (before, after):
        curve, dashed = ax.lines
        assert list(curve.get_xdata()) == [2.5, 7]
        assert list(dashed.get_xdata()) == [8, 8]
        assert ax.get_yscale() == "log"


def test_entries_are_in_order_of_first_appearance():
    assert sorted(PAPERS, key=lambda e: e.appeared) == list(PAPERS)
    # An arXiv number begins with the year and month of the first version.
    for entry in PAPERS:
        if entry.arxiv:
            assert entry.arxiv[:4] == f"{entry.appeared:%y%m}", entry.key
