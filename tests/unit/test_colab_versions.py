"""Tests of colab_versions: reading Colab's package list, comparing it, writing it for pip."""

from __future__ import annotations

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from tools import colab_versions

LIST = """\
# Do not modify this file directly
torch @ https://example.org/whl/cu126/torch-2.9.0%2Bcu126-cp312-cp312-linux_x86_64.whl#sha256=aa
numpy==2.0.2
ipywidgets==7.7.1
matplotlib==3.10.0
safetensors==0.6.2
Jinja2==3.1.6
scikit-learn==1.6.1+local
tensorflow==2.19.0
google-colab @ file:///colabtools/dist/google-colab-1.0.0.tar.gz
"""


def test_versions_are_read_without_the_build():
    known = colab_versions.versions(LIST)
    assert known["torch"] == Version("2.9.0")
    assert known["scikit-learn"] == Version("1.6.1")
    assert known["jinja2"] == Version("3.1.6")
    assert "google-colab" not in known


def test_all_that_is_needed_is_known():
    wanted = colab_versions.needed()
    assert {"torch", "numpy", "anywidget", "ipywidgets", "jinja2"} <= set(wanted)
    assert not {"playwright", "ruff", "distributed", "tensorflow"} & set(wanted)  # extras, others


def test_what_is_too_old_and_what_is_absent():
    wanted = {"numpy": [], "ipywidgets": [], "anywidget": [], "jinja2": []}
    own = ["numpy>=1.26", "ipywidgets>=8.1", "anywidget>=0.9"]
    comparison = colab_versions.compare(colab_versions.versions(LIST), wanted, own)
    assert comparison.too_old == {"ipywidgets": "ipywidgets 7.7.1 does not fit >=8.1"}
    assert comparison.absent == ("anywidget",)
    assert comparison.requirements() == "ipywidgets==7.7.1\njinja2==3.1.6\nnumpy==2.0.2\n"


def test_only_what_the_course_needs_is_written(tmp_path, capsys):
    (tmp_path / "list.txt").write_text(LIST, encoding="utf-8")
    out = tmp_path / "folder" / "colab.txt"
    assert colab_versions.main([str(tmp_path / "list.txt"), str(out)]) == 0
    lines = out.read_text(encoding="utf-8").splitlines()
    assert "torch==2.9.0" in lines and "numpy==2.0.2" in lines
    assert not any(line.startswith("tensorflow") for line in lines)
    assert all(str(Requirement(line)) == line for line in lines)
    said = capsys.readouterr().out
    assert "too old, pip will upgrade it: ipywidgets 7.7.1 does not fit" in said
    assert "missing, pip will install them:" in said and "anywidget" in said


@pytest.mark.parametrize(
    ("text", "status", "says"),
    [
        ("torch==1.13.0\nnumpy==2.0.2\n", 1, "must be compatible"),
        ("<html>moved</html>", 2, "is not a list of Colab's packages"),
    ],
)
def test_a_list_that_will_not_do(tmp_path, capsys, text, status, says):
    (tmp_path / "list.txt").write_text(text, encoding="utf-8")
    assert colab_versions.main([str(tmp_path / "list.txt"), str(tmp_path / "out.txt")]) == status
    assert says in capsys.readouterr().err
