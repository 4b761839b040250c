"""Explorers on the site without Jupyter's widget manager.

The notebooks' cells leave the state of each explorer in the page, its code included. The build
writes the code to a file that all pages share, puts the rest of the state after the page's text,
and loads `draw_explorers.js`, which draws them. A large state, such as a model, goes to a file of
its own, which is loaded when the reader comes near. There is no kernel, so nothing else of the
manager is needed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)
STATE = "application/vnd.jupyter.widget-state+json"
FOLDER = "explorers"  # in _static
LARGE = 60_000  # characters of a state that a page loads when the reader comes near
# What the widget manager alone reads.
_OF_THE_MANAGER = re.compile(
    r"_(model|view)_.*|_anywidget_id|_dom_classes|_esm|_css|layout|tabbable|tooltip"
)
_EXPORT = "export default { render };"


def as_classic_script(module: str, name: str) -> str:
    """Return an explorer's ES module as a script that registers it; modules fail for file:// pages.

    Raises:
        ValueError: the module imports something, or exports more than `render`.
    """
    code = module.replace(_EXPORT, "return { render };")
    if module.count(_EXPORT) != 1 or re.search(r"^\s*(import|export)\b|\bimport\s*\(", code, re.M):
        raise ValueError(f"{name}: an explorer's module ends in `{_EXPORT}` and imports nothing.")
    register = f"(window.courseExplorers ??= {{}})[{json.dumps(name)}]"
    return f'"use strict";\n{register} = (() => {{\n{code}\n}})();\n'


def split_states(
    body: dict[str, Any],
) -> tuple[dict[str, Any], dict[str, tuple[str, str]], list[str]]:
    """Separate the code of a page's explorers from their states.

    Args:
        body: the widget states of a page, as ipywidgets writes them.

    Returns:
        the states, each with the name of its code as "code"; name -> (module, style sheet); and the
        names of models that the site cannot show.
    """
    states: dict[str, Any] = {}
    code: dict[str, tuple[str, str]] = {}
    unknown = []
    for model_id, model in body["state"].items():
        state = model["state"]
        if model["model_name"] == "LayoutModel":
            continue
        if model["model_module"] != "anywidget" or "_esm" not in state:
            unknown.append(model["model_name"])
            continue
        name = state["_anywidget_id"].rsplit(".", 1)[-1].removesuffix("Explorer").lower()
        code[name] = state["_esm"], state["_css"]
        kept = {key: value for key, value in state.items() if not _OF_THE_MANAGER.fullmatch(key)}
        states[model_id] = {"code": name, "state": kept, "buffers": model.get("buffers", [])}
    return states, code, unknown


def take_from_the_manager(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Replace the states in a page's head, which the widget manager reads, by what a page needs."""
    files = context.get("script_files", [])
    written = [f for f in files if getattr(f, "attributes", {}).get("type") == STATE]
    if not written:
        return
    body = json.loads(written[0].attributes["body"].replace("<\\/", "</"))
    states, code, unknown = split_states(body)
    for name in unknown:
        logger.warning("%s has a widget that the site cannot show: %s", page, name)
    static = Path(app.outdir) / "_static"
    root = "../" * page.count("/") + "_static/"
    for model_id, saved in states.items():
        text = _as_json(saved)
        if len(text) > LARGE:
            # A script and no JSON: pages that are opened as files may fetch nothing.
            register = f"(window.courseStates ??= {{}})[{json.dumps(model_id)}] = {text};\n"
            file = _write(static, f"{saved['code']}-state", "js", register)
            states[model_id] = {"code": saved["code"], "file": root + file}
    text = _as_json({"state": states}).replace("</", "<\\/")  # would end the script
    context["body"] += f'\n<script type="{STATE}">{text}</script>\n'
    context["script_files"][:] = [file for file in files if file not in written]
    for name, (module, sheet) in code.items():
        script = _write(static, name, "js", as_classic_script(module, name))
        app.add_js_file(script, priority=400, loading_method="defer")  # MathJax has 500
        app.add_css_file(_write(static, name, "css", sheet), priority=900)  # after the theme's
    app.add_js_file("draw_explorers.js", priority=401, loading_method="defer")


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _write(static: Path, name: str, suffix: str, text: str) -> str:
    """Write a file whose name changes with its content; return its path below _static."""
    file = f"{FOLDER}/{name}.{hashlib.sha256(text.encode()).hexdigest()[:8]}.{suffix}"
    (static / FOLDER).mkdir(parents=True, exist_ok=True)
    (static / file).write_text(text, encoding="utf-8")
    return file


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the build step, and leave out of pages what only an open notebook needs."""
    os.environ.setdefault("COURSEKIT_PAGE_BUILD", "1")
    app.connect("html-page-context", take_from_the_manager, priority=800)  # after myst-nb's
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
