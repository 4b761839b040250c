"""Cheats that inject HTML into the feedback page or the instructor's report."""

from __future__ import annotations

import copy
import re
from html.parser import HTMLParser

import nbformat
from nbformat import NotebookNode

from tests.submissions.cheats import After, Cheat, Files, Scene
from tests.submissions.cheats.cheat_builders import (
    WRONG,
    cell_of,
    filled,
    handed_in,
    in_code,
    in_page,
    page,
)

SCRIPT = '<script>document.title = "@MARK@"</script>'
IMAGE = '<img src="x" onerror="document.title = \'@MARK@\'">'
FRAME = '<iframe srcdoc="<b>@MARK@</b>"></iframe>'
ALL = SCRIPT + IMAGE + FRAME


class _Active(HTMLParser):
    """Finds elements with a word that would be executed, loaded or sent."""

    def __init__(self, word: str):
        super().__init__(convert_charrefs=True)
        self.word = word
        self.found: list[str] = []
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag if tag in ("script", "style") else self._inside
        for name, value in attrs:
            text = (value or "").strip()
            if self.word not in text:
                continue
            loads = tag in ("iframe", "object", "embed", "base", "form", "meta", "link")
            runs = re.match(r"\s*(javascript|vbscript|data:text/html)", text, re.I)
            if name.startswith("on") or name == "srcdoc" or runs or loads:
                self.found.append(f"<{tag} {name}>")

    def handle_endtag(self, tag: str) -> None:
        if tag == self._inside:
            self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside and self.word in data:
            self.found.append(f"<{self._inside}>")


def active(page_of_html: str, word: str) -> list[str]:
    """Return the active elements of a page that contain the word."""
    parser = _Active(word)
    parser.feed(page_of_html)
    parser.close()
    return list(dict.fromkeys(parser.found))


def nothing_active(after: After) -> list[str]:
    """Look for active elements of the student in the feedback and in the report."""
    pages = {"feedback": after.feedback, "report": after.report}
    return [
        f"active in the {name}: {element}"
        for name, text in pages.items()
        for element in active(text, after.mark)
    ]


def _code(slug: str, title: str, opening: str = "", **more) -> Cheat:
    return in_code("html_injection", slug, title, opening, check=nothing_active, **more)


def _page(slug: str, title: str, change, **more) -> Cheat:
    return in_page("html_injection", slug, title, change, check=nothing_active, **more)


def _markdown(found: NotebookNode, scene: Scene) -> None:
    texts = (
        ALL,
        '[look](javascript:document.title="@MARK@")',
        "![look](x\"onerror=\"document.title='@MARK@')",
        "<svg onload=\"document.title='@MARK@'\"></svg>",
        '<style>body { background: url("http://127.0.0.1/@MARK@") }</style>',
        '<meta http-equiv="refresh" content="0; url=http://127.0.0.1/@MARK@">',
        "$\\href{javascript:document.title='@MARK@'}{x}$",
        '<form action="http://127.0.0.1/@MARK@"><button>Log in</button></form>',
    )
    for number, text in enumerate(texts):
        cell = nbformat.v4.new_markdown_cell(filled(text, scene), id=f"text-of-mine-{number}")
        found.cells.append(cell)


def _saved_outputs(found: NotebookNode, scene: Scene) -> None:
    bundles = (
        {"text/html": ALL},
        {"application/javascript": 'document.title = "@MARK@"'},
        {"image/svg+xml": f'<svg xmlns="http://www.w3.org/2000/svg">{SCRIPT}</svg>'},
        {"image/png": f'x">{SCRIPT}<b id="'},
        {"text/markdown": ALL},
        {"text/latex": ALL},
    )
    cells = [cell_of(found, "look"), cell_of(found, "masked_softmax"), *found.cells[-1:]]
    for cell in cells:
        cell.outputs = [
            nbformat.v4.new_output(
                "display_data", {k: filled(v, scene) for k, v in bundle.items()}, metadata={}
            )
            for bundle in bundles
        ]


def _cell_metadata(found: NotebookNode, scene: Scene) -> None:
    for cell in found.cells:
        cell.metadata["tags"] = [filled(f'x">{SCRIPT}', scene)]
        cell.metadata["collapsed"] = filled(SCRIPT, scene)
        cell.metadata["nbgrader"]["comment"] = filled(ALL, scene)
    cell_of(found, "context_vector").metadata["slideshow"] = {"slide_type": filled(ALL, scene)}


def _notebook_metadata(found: NotebookNode, scene: Scene) -> None:
    text = filled(f'</title>">{ALL}', scene)
    found.metadata["title"] = text
    found.metadata["authors"] = [{"name": text}]
    found.metadata["language_info"] = {"name": text, "pygments_lexer": text, "version": text}
    found.metadata["kernelspec"]["display_name"] = text
    found.metadata["widgets"] = {
        "application/vnd.jupyter.widget-state+json": {
            "version_major": 2,
            "version_minor": 0,
            "state": {"x": {"model_name": text, "model_module": text, "state": {"value": text}}},
        }
    }


def _cell_ids(scene: Scene) -> Files:
    """Set cell ids that are HTML, which nbformat would refuse to write."""
    found = page(scene)
    for cell in found.cells:
        if cell.cell_type == "code":
            cell.execution_count = 1
    text = handed_in(found)["scores.ipynb"].decode()
    bad = filled('x\\">' + SCRIPT.replace('"', "'"), scene)
    text = text.replace('"id": "setup"', f'"id": "{bad}"')
    return {
        "scores.ipynb": text.replace('"execution_count": 1', f'"execution_count": "{bad}"').encode()
    }


def _names(scene: Scene) -> Files:
    """Return files whose names are HTML, for pages that list files."""
    text = handed_in(page(scene))["scores.ipynb"]
    image = f"<img src=x onerror=alert('{scene.mark}')>"
    translator = copy.deepcopy(scene.pages["translator"])
    return {
        "scores.ipynb": text,
        f"{image}.ipynb": text,
        f"{image}.txt": b"x",
        f"<script>alert('{scene.mark}')<!--.py": b"x",
        **handed_in(translator, "translator"),
    }


ERRORS = {
    "masked_softmax": f"""
def masked_softmax(scores, mask):
    print('''{ALL}''')
    raise ValueError('''{ALL}''')
""",
    "additive_score": f"""
Odd = type('''{ALL}''', (Exception,), {{}})

def additive_score(query, keys, W, U, v):
    raise Odd('''{ALL}''')
""",
}

CHEATS = [
    _page("markdown", "scripts, frames and links in text cells", _markdown),
    _page("saved-outputs-active", "saved outputs with scripts", _saved_outputs),
    _page("cell-metadata", "tags and comments with scripts", _cell_metadata),
    _page("notebook-metadata", "title, authors and widgets with scripts", _notebook_metadata),
    Cheat(
        "cell-ids",
        "ids and numbers of cells that are scripts",
        "html_injection",
        _cell_ids,
        check=nothing_active,
        own_risk=True,
    ),
    Cheat("file-names", "file names that are HTML", "html_injection", _names, check=nothing_active),
    _code("messages", "error messages and prints with scripts", answers=ERRORS),
    _code(
        "names",
        "types and parameters whose names are scripts",
        answers={
            "masked_softmax": f"""
def masked_softmax(scores, mask):
    return type('''{ALL}''', (), {{}})()
""",
            "AdditiveAttention": WRONG["AdditiveAttention"].replace(
                "        self.v =",
                f"        self.register_parameter('''{ALL}'''.replace('.', ''), "
                "nn.Parameter(torch.zeros(1)))\n        self.v =",
            ),
        },
    ),
    _code(
        "displayed",
        "HTML, JavaScript and SVG displayed by cells",
        f"""
from IPython.display import HTML, SVG, Javascript, Markdown, display

display(HTML('''{ALL}'''), Javascript('document.title = "@MARK@"'), Markdown('''{ALL}'''))
display({{"image/svg+xml": '<svg xmlns="http://www.w3.org/2000/svg">{SCRIPT}</svg>'}}, raw=True)
display({{"image/png": 'x">{SCRIPT}<b id="', "text/plain": "x"}}, raw=True)
display({{"image/png": "eA==", "text/plain": "x"}}, raw=True,
        metadata={{"image/png": {{"width": '1">{SCRIPT}', "alt": '">{SCRIPT}'}}}})
print('''\x1b[31m{ALL}\x1b]8;;javascript:@MARK@\x07x\x1b]8;;\x07''')
""".replace("\x1b", "\\x1b").replace("\x07", "\\x07"),
        closing=f"%%html\n{ALL}",
    ),
    _code(
        "score-repainted",
        "the page's own score is rewritten by a style sheet and a script",
        """
from IPython.display import HTML, display

display(HTML('''<style>.score { display: none } /* @MARK@ */</style><script>
document.querySelectorAll("h4").forEach(e => { e.innerText = "Score: 10 / 10 @MARK@" })
</script>'''))
""",
    ),
]
