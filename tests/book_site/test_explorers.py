"""Tests of embedding explorers in pages: code in shared files, states in the page."""

from __future__ import annotations

import json
import logging
from types import SimpleNamespace

import anywidget
import pytest

from book.site.explorers import LARGE, STATE, as_classic_script, split_states, take_from_the_manager
from coursekit import widgets

MODULE = "function render({ model, el }) {}\n\nexport default { render };"
EXPLORERS = [
    value
    for value in vars(widgets).values()
    if isinstance(value, type) and issubclass(value, anywidget.AnyWidget)
]


def model(module="anywidget", name="AnyModel", **state):
    given = {
        "_anywidget_id": "coursekit.widgets.recurrent_state.StateExplorer",
        "_esm": MODULE,
        "_css": ".state-explorer {}",
        "_model_name": name,
        "_view_module": module,
        "layout": "IPY_MODEL_1",
        "tabbable": None,
    }
    return {"model_module": module, "model_name": name, "state": given | state}


def test_a_module_becomes_a_script_that_registers_it():
    script = as_classic_script(MODULE, "state")
    assert '(window.courseExplorers ??= {})["state"] = ' in script
    assert "return { render };" in script and "export" not in script


@pytest.mark.parametrize(
    "module",
    [
        "function render() {}",
        "import { x } from './y.js';\n" + MODULE,
        MODULE + "\nexport const x = 1;",
        MODULE + "\nawait import('./y.js');",
    ],
)
def test_a_module_that_a_script_cannot_be_is_refused(module):
    with pytest.raises(ValueError, match="state: an explorer's module ends in"):
        as_classic_script(module, "state")


def test_the_explorers_of_the_course_become_scripts():
    assert len(EXPLORERS) >= 15
    names = set()
    for explorer in EXPLORERS:
        assert "render" in as_classic_script(explorer._esm, explorer.__name__)
        names.add(explorer.__name__.removesuffix("Explorer").lower())
    assert len(names) == len(EXPLORERS)


def test_a_state_loses_what_the_manager_reads_and_nothing_else():
    buffer = {"path": ["weights", "data"], "data": "AAAA", "encoding": "base64"}
    known = model(words=["a"], table=[1], _secret=2) | {"buffers": [buffer]}
    body = {"state": {"1": known, "2": model("@jupyter-widgets/base", "LayoutModel"),
                      "3": model("@jupyter-widgets/controls", "IntSliderModel")}}  # fmt: skip
    states, code, unknown = split_states(body)
    assert states == {
        "1": {
            "code": "state",
            "state": {"words": ["a"], "table": [1], "_secret": 2},
            "buffers": [buffer],
        }
    }
    assert code == {"state": (MODULE, ".state-explorer {}")}
    assert unknown == ["IntSliderModel"]


def test_a_page_gets_its_states_after_the_text_and_files_that_pages_share(tmp_path, caplog):
    added = []
    app = SimpleNamespace(
        outdir=tmp_path,
        add_js_file=lambda name, **how: added.append((name, how["priority"])),
        add_css_file=lambda name, **how: added.append((name, how["priority"])),
    )
    body = {"state": {"1": model(text="</script>"), "2": model("other", "OtherModel")}}
    written = SimpleNamespace(attributes={"type": STATE, "body": json.dumps(body)})
    context = {"script_files": ["theme.js", written], "body": "<p>Text.</p>"}
    with caplog.at_level(logging.WARNING):
        take_from_the_manager(app, "book/a", "page.html", context, None)
    assert context["script_files"] == ["theme.js"]
    text, _, rest = context["body"].partition(f'<script type="{STATE}">')
    assert text == "<p>Text.</p>\n"
    [state] = json.loads(rest.partition("</script>")[0].replace("<\\/", "</"))["state"].values()
    assert state["state"] == {"text": "</script>"}
    (script, first), (sheet, _), (draw, second) = added
    assert draw == "draw_explorers.js" and first < second < 500  # MathJax's
    assert (tmp_path / "_static" / script).read_text("utf-8") == as_classic_script(MODULE, "state")
    assert (tmp_path / "_static" / sheet).read_text("utf-8") == ".state-explorer {}"
    assert "book/a has a widget that the site cannot show: OtherModel" in caplog.text


def test_a_large_state_gets_a_file_that_the_page_names(tmp_path):
    app = SimpleNamespace(
        outdir=tmp_path, add_js_file=lambda name, **how: None, add_css_file=lambda name, **how: None
    )
    large = "</script>" + "w" * LARGE
    body = {"state": {"1": model(weights=large), "2": model(weights="small")}}
    context = {
        "script_files": [SimpleNamespace(attributes={"type": STATE, "body": json.dumps(body)})],
        "body": "",
    }
    take_from_the_manager(app, "book/part/a", "page.html", context, None)
    assert len(context["body"]) < 1000
    found = json.loads(context["body"].partition(">")[2].partition("</script>")[0])["state"]
    assert found["2"]["state"] == {"weights": "small"} and found["1"]["code"] == "state"
    assert found["1"]["file"].startswith("../../_static/explorers/state-state.")
    script = (tmp_path / found["1"]["file"].removeprefix("../../")).read_text("utf-8")
    name, _, state = script.partition(" = ")
    assert name == '(window.courseStates ??= {})["1"]'
    assert json.loads(state.rstrip(";\n"))["state"] == {"weights": large}


def test_a_page_without_explorers_is_left_as_it_is():
    context = {"script_files": ["theme.js"], "body": ""}
    take_from_the_manager(None, "book/a", "page.html", context, None)
    assert context == {"script_files": ["theme.js"], "body": ""}
