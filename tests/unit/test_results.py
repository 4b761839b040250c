"""Tests of recorded results: they can be written and read, by programs and people."""

from __future__ import annotations

import json
import math
import re

import pytest
import torch

from coursekit.training import results

RUNS = [
    {"seed": 0, "metrics": {"bleu": 30.123456789, "aer": 0.25}, "seconds": 10.5},
    {"seed": 1, "metrics": {"bleu": 31.0, "aer": 0.35}, "seconds": 12.0},
]
ABOUT = {
    "parameters": 12345,
    "data_sha256": "ab" * 32,
    "command": "python -m experiments.bahdanau multi30k",
    "scorer": "nrefs:1|case:lc|tok:13a",
}


@pytest.fixture
def path(tmp_path):
    return results.write_result(
        "attention",
        "multi30k",
        runs=RUNS,
        folder=tmp_path / "results",
        **ABOUT,
        history=[[1, 2.5, -3e-07], [4, 5, 6]],
        words=["a", "b"],
    )


def test_what_was_recorded_is_read(path):
    result = results.read("attention", "multi30k", folder=path.parent)
    assert path.name == "attention.multi30k.json"
    assert (result["model"], result["data"]) == ("attention", "multi30k")
    assert {name: result[name] for name in ABOUT} == ABOUT
    assert result["history"] == [[1, 2.5, -3e-07], [4, 5, 6]]
    assert result["words"] == ["a", "b"]
    assert [run["seed"] for run in result["runs"]] == [0, 1]


def test_metrics_are_means_over_the_runs_and_seconds_their_sum(path):
    result = results.read("attention", "multi30k", folder=path.parent)
    assert result["metrics"] == {"bleu": 30.5617, "aer": 0.3}
    assert result["seconds"] == 22.5


def test_it_says_where_and_with_what_it_ran(path):
    result = results.read("attention", "multi30k", folder=path.parent)
    assert result["versions"]["torch"] == torch.__version__.split("+")[0] or (
        result["versions"]["torch"] == torch.__version__
    )
    assert set(result["versions"]) == {"python", "torch", "numpy", "tokenizers", "sacrebleu"}
    assert result["hardware"] == results.hardware() != ""
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", result["date"])


def test_a_row_of_numbers_is_on_one_line_and_the_rest_is_not(path):
    text = path.read_text("utf-8")
    lines = [line.strip() for line in text.splitlines()]
    assert "[1, 2.5, -3e-07]," in lines
    assert "[4, 5, 6]" in lines
    assert '"seed": 0,' in lines
    assert text.endswith("}\n")


def test_numbers_have_six_digits(path):
    assert json.loads(path.read_text("utf-8"))["runs"][0]["metrics"]["bleu"] == 30.1235
    assert RUNS[0]["metrics"]["bleu"] == 30.123456789  # the arguments are not modified


def test_text_that_looks_like_numbers_is_left_alone(tmp_path):
    odd = {"words": ["1, 2", "[ 3 ]", "e.", "한국어"], "nothing": [], "one": [[1], []]}
    results.write_result("m", "d", runs=RUNS, folder=tmp_path, **ABOUT, **odd)
    result = results.read("m", "d", folder=tmp_path)
    assert {name: result[name] for name in odd} == odd
    assert "한국어" in (tmp_path / "m.d.json").read_text("utf-8")


def test_no_path_of_this_machine_is_written(path, tmp_path):
    text = path.read_text("utf-8")
    assert str(tmp_path) not in text
    assert not re.search(r'"(/|[A-Z]:\\|~)', text)


def test_recording_again_replaces_the_file(path):
    better = [{"seed": 0, "metrics": {"bleu": 40.0}, "seconds": 1.0}]
    results.write_result("attention", "multi30k", runs=better, folder=path.parent, **ABOUT)
    result = results.read("attention", "multi30k", folder=path.parent)
    assert result["metrics"] == {"bleu": 40.0}
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_what_is_not_a_number_becomes_null(tmp_path):
    # NaN is not valid JSON, so a browser could not read it; but it must not make a long run fail.
    runs = [{"seed": 0, "metrics": {"bleu": 1.5, "aer": math.nan}, "seconds": 1.0}]
    losses = [math.inf, 2.0]
    written = results.write_result("m", "d", runs=runs, folder=tmp_path, **ABOUT, losses=losses)
    result = json.loads(written.read_text("utf-8"), parse_constant=pytest.fail)
    assert result["metrics"] == {"bleu": 1.5, "aer": None}
    assert '"losses": [null, 2.0]' in written.read_text("utf-8")


def test_a_missing_result_names_those_that_are_there(path):
    with pytest.raises(FileNotFoundError) as error:
        results.read("transformer", "multi30k", folder=path.parent)
    assert str(error.value) == (
        "No result transformer.multi30k is recorded; there are: attention.multi30k."
    )


def test_a_missing_result_in_an_empty_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there are: none\.$"):
        results.read("a", "b", folder=tmp_path)


def one_seed(folder, seed, bleu, rows=(), **about):
    """Write the record of one seed, like one of several parallel runs."""
    run = {"seed": seed, "metrics": {"bleu": bleu}, "seconds": 2.0, "by_length": list(rows)}
    return results.write_result(
        "attention", "multi30k", runs=[run], folder=folder / str(seed), **ABOUT | about
    )


def test_seeds_recorded_apart_become_one_record(tmp_path):
    parts = [one_seed(tmp_path, seed, bleu) for seed, bleu in ((2, 31.0), (1, 30.0), (3, 35.0))]
    merged = results.merge_results(parts, "python -m experiments x --seeds 2 1 3", 3, tmp_path)
    assert merged == tmp_path / "attention.multi30k.json"
    result = results.read("attention", "multi30k", tmp_path)
    assert [run["seed"] for run in result["runs"]] == [2, 1, 3]
    assert (result["metrics"], result["seconds"]) == ({"bleu": 32.0}, 6.0)
    assert result["command"] == "python -m experiments x --seeds 2 1 3"
    assert result["hardware"] == f"{results.hardware()}, shared by 3 runs"


def test_what_depends_on_no_seed_is_merged_once(tmp_path):
    parts = [
        results.write_result(
            "counts",
            "multi30k",
            runs=[{"seed": 0, "metrics": {"bleu": 30.0}, "seconds": 2.0}],
            folder=tmp_path / name,
            **ABOUT,
        )
        for name in "ab"
    ]
    results.merge_results(parts, "", folder=tmp_path)
    assert len(results.read("counts", "multi30k", tmp_path)["runs"]) == 1


def test_seeds_of_different_models_are_not_merged(tmp_path):
    parts = [one_seed(tmp_path, 1, 30.0), one_seed(tmp_path, 2, 31.0, parameters=1)]
    with pytest.raises(ValueError, match="differ in parameters"):
        results.merge_results(parts, "", folder=tmp_path)
    assert not (tmp_path / "attention.multi30k.json").exists()


def test_results_can_be_written_to_another_folder(tmp_path):
    with results.write_results_to(tmp_path):
        path = results.write_result("one", "two", runs=RUNS, **ABOUT)
    assert path == tmp_path / "one.two.json"


def test_a_metric_is_shown_with_its_range(tmp_path):
    rows = ([{"bleu": 30.0}, {"bleu": 20.0}], [{"bleu": 32.0}, {"bleu": 21.0}])
    parts = [one_seed(tmp_path, i, bleu, rows[i]) for i, bleu in enumerate((0.36743, 0.37697))]
    results.merge_results(parts, "", folder=tmp_path)
    result = results.read("attention", "multi30k", tmp_path)
    assert results.metric_values(result, "bleu") == [0.36743, 0.37697]
    assert results.format_metric(result, "bleu", 1, 100) == "37.2 (36.7–37.7)"
    assert results.format_metric(result, "bleu", 1) == "0.4"  # no range if all round to the same
    assert results.rows_by_seed(result, "by_length", "bleu") == [[30.0, 20.0], [32.0, 21.0]]
    assert results.mean_rows(result, "by_length", "bleu") == [31.0, 20.5]
    alone = results.read("attention", "multi30k", tmp_path / "0")
    assert results.format_metric(alone, "bleu", 3) == "0.367"


def test_a_ratio_is_that_of_each_seed():
    runs = [{"metrics": {"right": a, "of_kind": b}} for a, b in ((1, 4), (1, 2))]
    assert results.format_ratio({"runs": runs}, "right", "of_kind", 1, 100) == "37.5 (25.0–50.0)"


# The files of the book


@pytest.mark.parametrize("file", sorted(results.FOLDER.glob("*.json")), ids=lambda p: p.stem)
def test_the_books_results_are_complete_and_their_means_right(file):
    text = file.read_text("utf-8")
    result = json.loads(text, parse_constant=pytest.fail)
    wanted = "model data hardware versions data_sha256 command scorer date"
    assert all(result[key] for key in wanted.split())
    assert len(text) < 1_000_000
    assert file.stem == f"{result['model']}.{result['data']}"
    for row in result.get("rows", {"": result}).values():
        assert row["runs"] and row["seconds"]
        for name, mean in row["metrics"].items():
            values = [run["metrics"][name] for run in row["runs"]]
            if None in values:
                assert mean is None
            else:
                assert mean == pytest.approx(sum(values) / len(values), rel=1e-4)
        assert all("seed" in run for run in row["runs"])
        assert result.get("parameters") or all(run["parameters"] for run in row["runs"])
    assert not re.search(r'"(/\w|[A-Z]:\\|~/|file:)', text), "a path of somebody's machine"


def test_weights_are_kept_as_float16_and_tied_ones_once(tmp_path):
    module = torch.nn.ModuleDict({"one": torch.nn.Linear(3, 2), "two": torch.nn.Linear(3, 2)})
    module["two"].weight = module["one"].weight
    with results.write_results_to(tmp_path):
        results.write_weights("model", "lines", module)
        kept = results.read_weights("model", "lines")
    assert kept.keys() == {"one.weight", "one.bias", "two.bias"}
    for name, tensor in kept.items():
        assert tensor.dtype == torch.float32
        assert torch.equal(tensor, module.get_parameter(name).detach().half().float())
