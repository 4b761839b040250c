"""Tests of result tables: rows, columns, provenance."""

import pytest

from coursekit.notebook.tables import Table, provenance


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


def test_provenance_says_how_a_number_came_about():
    result = {
        "runs": [{"seed": 1}, {"seed": 2}],
        "seconds": 5400,
        "hardware": "a machine",
        "versions": {"torch": "2.13.0"},
        "scorer": "nrefs:1",
        "data_sha256": "0123456789abcdef0123",
        "command": "python run.py",
        "date": "2026-11-21",
    }
    rows = {name: value for name, _, value in provenance(result)}
    assert rows["seeds"] == "1, 2"
    assert rows["hours, all seeds"] == "1.5"
    assert rows["versions"] == "torch 2.13.0"
    assert rows["data, SHA-256"] == "0123456789abcdef…"
    assert rows["command"] == "python run.py"
    alone = {name: value for name, _, value in provenance(result | {"runs": [{"seed": 7}]})}
    assert (alone["seed"], alone["hours"]) == ("7", "1.5")
