"""Tests of result tables: rows, columns, cells."""

import pytest

from coursekit.notebook.tables import Table, best_epochs, parameters, results_table


def test_a_table_escapes_its_cells():
    shown = Table(["a", "b"], [["<script>", 1.5]])._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    assert shown.count("<td>") == 2
    assert '<th scope="col">a</th>' in shown


def test_a_range_of_numbers_stays_on_one_line():
    shown = Table(["range"], [["93.2–96.5"], ["a – b"]])._repr_html_()
    assert "<td>93.2&#8288;–&#8288;96.5</td>" in shown
    assert "<td>a – b</td>" in shown


def test_a_table_is_text_in_a_terminal():
    lines = repr(Table(["model", "bleu"], [["with attention", 36.1], ["without", 22]])).splitlines()
    assert [line.split()[-1] for line in lines] == ["bleu", "36.1", "22"]
    assert lines[0].index("bleu") == lines[1].index("36.1") == lines[2].index("22")


def test_a_row_of_another_length_is_refused():
    with pytest.raises(ValueError, match="3 cells, the head 2"):
        Table(["a", "b"], [[1, 2, 3]])


MODELS = {
    "small": {
        "metrics": {"exact": 0.4},
        "runs": [
            {"metrics": {"exact": 0.3}, "best_epoch": 3, "parameters": 1200},
            {"metrics": {"exact": 0.5}, "best_epoch": 8, "parameters": 1200},
        ],
        "settings": {"epochs": 9},
    },
    "counts": {"metrics": {"bleu": 2.0}, "runs": [{"metrics": {"bleu": 2.0}}], "parameters": 7},
}


def test_results_become_a_row_for_each_model():
    table = results_table(
        MODELS, {"exact, %": ("exact", 0, 100), "BLEU": ("bleu", 1), "numbers": parameters}
    )
    assert table.head == ["model", "exact, %", "BLEU", "numbers"]
    assert table.rows == [["small", "40 (30–50)", "", "1,200"], ["counts", "", "2.0", "7"]]


def test_the_chosen_epochs_are_listed_by_seed():
    assert best_epochs(MODELS["small"]) == "3, 8 of 9"
