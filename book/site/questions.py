"""Interactive questions with feedback in the page: ``{choice}`` and ``{number}``.

Both have the same form: the question in the directive's first line, optional further text, then a
definition list of the options or numbers. The right one is marked ``[x]``, the others ``[ ]``, and
after a colon each has an explanation of why it is right or wrong::

    :::{choice} Over which axis does the softmax of $(B, N)$ scores run?
    :name: scores-axis

    [x] $N$, the keys
    : The weights of one sentence sum to 1.

    [ ] $B$, the batch
    : Then sentences would share their weights.
    :::

    :::{number} How many weights are there for 3 target and 5 source words?
    :name: scores-count
    :tolerance: 0

    [x] 15
    : One for each pair.

    [ ] 8
    : That is 3 + 5; each target word has 5 weights of its own.
    :::

A reader's browser stores answers under ``name``: do not change it. Without JavaScript, the answers
are folded below the question; in formats other than HTML, they follow it.
"""

from __future__ import annotations

import math
import re
from html import escape
from itertools import pairwise
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_MARK = re.compile(r"\[([ xX])\]\s+")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?(/(\d+\.?\d*|\.\d+))?", re.IGNORECASE)
LETTERS = "abcdefgh"


class Question(nodes.General, nodes.Element):
    """A question with its text, further content, options and reasons."""


class QuestionText(nodes.TextElement):
    """The question itself, which becomes the legend."""


class QuestionMore(nodes.General, nodes.Element):
    """Content between the question and its options, such as an equation."""


class QuestionOption(nodes.TextElement):
    """One option of a multiple choice."""


class QuestionReason(nodes.General, nodes.Element):
    """The reason why an option or a number is right or wrong."""


class QuestionValue(nodes.TextElement):
    """The number that a reason is about."""


def value_of(text: str) -> float | None:
    """Return the value of a number or fraction such as 3/8, or None for any other text."""
    text = text.strip().replace("\N{MINUS SIGN}", "-")
    if not _NUMBER.fullmatch(text):
        return None
    above, _, below = text.partition("/")
    if below and float(below) == 0:
        return None
    value = float(above) / float(below or 1)
    return value if math.isfinite(value) else None


class _Asked(SphinxDirective):
    """Base class of both kinds of question; a malformed question fails the build."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {"name": directives.unchanged}
    kind = ""

    def run(self) -> list[nodes.Node]:
        """Parse the question and check that it can be answered."""
        name = self.options.get("name", "").strip()
        self.called = f"The question “{self.arguments[0].strip()}”"
        if not _NAME.fullmatch(name):
            raise self.error(
                f"{self.called} needs a unique lower-case name, such as “:name: han-steps”; it "
                f"has {name!r}."
            )
        self.called = f"The question {name!r}"
        more, items = self._parts()
        marked = [(*self._marked(item), item) for item in items]
        if (right := [r for r, *_ in marked].count(True)) != 1:
            raise self.error(
                f"{self.called} must have one right answer, marked [x]; it has {right}."
            )
        question = Question(kind=self.kind, name=name, **self._judged(marked))
        self._place(question)
        text, _ = self.parse_inline(self.arguments[0])
        question += self._place(QuestionText(self.arguments[0], "", *text))
        if more:
            question += QuestionMore("", *more)
        question += [
            option for i, (r, term, _) in enumerate(marked) for option in self._option(i, term)
        ]
        for i, (is_right, term, item) in enumerate(marked):
            reason = QuestionReason(index=i, right=is_right, value=value_of(term.astext()) or 0.0)
            if self.kind == "number":
                reason += self._place(QuestionValue(term.astext(), "", *term.children))
            for part in item.children:
                reason += part.children if isinstance(part, nodes.definition) else []
            question += reason
        list_names(self.env).setdefault(self.env.docname, []).append(name)
        return [question]

    def _place(self, node: Any) -> Any:
        self.set_source_info(node)
        return node

    def _parts(self) -> tuple[list[nodes.Node], list[nodes.definition_list_item]]:
        parsed = self.parse_content_to_nodes()
        for node in parsed:
            if isinstance(node, nodes.paragraph) and _MARK.match(node.astext()):
                first = node.astext().splitlines()[0]
                raise self.error(
                    f"{self.called}: the answer “{first}” has no explanation, “: why”, on the next "
                    "line."
                )
        lists = [i for i, node in enumerate(parsed) if isinstance(node, nodes.definition_list)]
        if not lists:
            raise self.error(
                f"{self.called} has no answers: write each as “[ ] the answer”, the right one "
                "with [x], followed by an explanation “: why” on the next line."
            )
        if len(lists) > 1 or lists[0] != len(parsed) - 1:
            raise self.error(f"{self.called} has other content between or after its answers.")
        return parsed[:-1], list(parsed[-1].findall(nodes.definition_list_item))

    def _marked(self, item: nodes.definition_list_item) -> tuple[bool, nodes.term]:
        terms = [child for child in item.children if isinstance(child, nodes.term)]
        first = terms[0].children[0] if terms and terms[0].children else None
        mark = _MARK.match(first.astext()) if isinstance(first, nodes.Text) else None
        if len(terms) != 1 or first is None or not mark:
            shown = " ".join(term.astext() for term in terms)
            raise self.error(
                f"{self.called}: the answer “{shown}” must begin with [x] (right) or [ ] (wrong)."
            )
        term = terms[0]
        rest = first.astext()[mark.end() :]
        term.children = ([nodes.Text(rest)] if rest else []) + term.children[1:]
        if not term.astext().strip():
            raise self.error(f"{self.called} has an answer without a text.")
        if not "".join(d.astext() for d in item.findall(nodes.definition)).strip():
            raise self.error(f"{self.called}: the answer “{term.astext()}” has no explanation.")
        return mark[1] in "xX", term

    def _judged(self, marked: list[Any]) -> dict[str, Any]:
        raise NotImplementedError

    def _option(self, index: int, term: nodes.term) -> list[nodes.Node]:
        raise NotImplementedError


class Choice(_Asked):
    """``{choice}``: one of several options is right."""

    kind = "choice"

    def _judged(self, marked: list[Any]) -> dict[str, Any]:
        texts = [term.astext() for _, term, _ in marked]
        if not 2 <= len(texts) <= len(LETTERS):
            raise self.error(
                f"{self.called} needs 2 to {len(LETTERS)} options; it has {len(texts)}."
            )
        if len(set(texts)) < len(texts):
            raise self.error(f"{self.called} has the same option twice.")
        return {}

    def _option(self, index: int, term: nodes.term) -> list[nodes.Node]:
        return [self._place(QuestionOption(term.astext(), "", *term.children, index=index))]


class Number(_Asked):
    """``{number}``: the reader types a number, which may differ by ``tolerance``."""

    kind = "number"
    option_spec: ClassVar[dict[str, Any]] = {
        **_Asked.option_spec,
        "tolerance": directives.unchanged,
        "unit": directives.unchanged,
    }

    def _judged(self, marked: list[Any]) -> dict[str, Any]:
        tolerance = value_of(self.options.get("tolerance", ""))
        if tolerance is None or tolerance < 0:
            raise self.error(
                f"{self.called} needs “:tolerance:”, a number that is 0 or larger: how far from "
                "the right number an answer may be."
            )
        values = []
        for _, term, _ in marked:
            value = value_of(term.astext())
            if value is None:
                raise self.error(f"{self.called}: “{term.astext()}” is not a number.")
            values.append(value)
        ordered = sorted(values)
        for low, high in pairwise(ordered):
            if high - low <= 2 * tolerance + 1e-9 * max(1.0, abs(high)):
                raise self.error(
                    f"{self.called}: {low:g} and {high:g} overlap with a tolerance of "
                    f"{tolerance:g}."
                )
        return {"tolerance": tolerance, "unit": self.options.get("unit", "")}

    def _option(self, index: int, term: nodes.term) -> list[nodes.Node]:
        return []


def list_names(env: Any) -> dict[str, list[str]]:
    """Return the names of each page's questions, in order."""
    if not hasattr(env, "course_questions"):
        env.course_questions = {}
    names: dict[str, list[str]] = env.course_questions
    return names


def _forget(app: Sphinx, env: BuildEnvironment, page: str) -> None:
    list_names(env).pop(page, None)


def _merge(app: Sphinx, env: BuildEnvironment, pages: Any, other: BuildEnvironment) -> None:
    list_names(env).update({p: names for p, names in list_names(other).items() if p in pages})


def _say_what_is_double(app: Sphinx, env: BuildEnvironment) -> None:
    seen: dict[str, str] = {}
    for page, names in sorted(list_names(env).items()):
        for name in names:
            if name in seen:
                logging.getLogger(__name__).warning(
                    "Two questions have the name %r, here and in %s: a reader's browser could not "
                    "tell them apart.",
                    name,
                    seen[name],
                    location=page,
                )
            seen[name] = page


# HTML


def _open_question(self: Any, node: Question) -> None:
    name = escape(node["name"], quote=True)
    tolerance = f' data-tolerance="{node["tolerance"]!r}"' if node["kind"] == "number" else ""
    self.body.append(
        f'<div class="course-question" id="question-{name}" data-question="{name}" '
        f'data-kind="{node["kind"]}"{tolerance}>\n<fieldset disabled="disabled">\n'
    )


def _close_question(self: Any, node: Question) -> None:
    self.body.append("</details>\n</div>\n")


def _open_text(self: Any, node: QuestionText) -> None:
    self.body.append("<legend>")


def _close_text(self: Any, node: QuestionText) -> None:
    self.body.append(' <span class="cq-done" hidden="hidden">✓ answered right</span></legend>\n')


def _open_option(self: Any, node: QuestionOption) -> None:
    group = escape(f"question-{node.parent['name']}-answer", quote=True)
    i = node["index"]
    self.body.append(
        f'<label class="cq-option"><input type="radio" name="{group}" value="{i}" '
        f'autocomplete="off"/> <span class="cq-letter">{LETTERS[i]}</span> <span>'
    )


def _close_option(self: Any, node: QuestionOption) -> None:
    self.body.append("</span></label>\n")


def _open_reason(self: Any, node: QuestionReason) -> None:
    question, i, right = node.parent, node["index"], node["right"]
    if i == 0:  # before the first reason, close the fields and open the answers
        self.body.append(_entry(question) if question["kind"] == "number" else "")
        self.body.append(
            '</fieldset>\n<div class="cq-verdict" role="status" aria-live="polite"></div>\n'
            '<details class="cq-answers"><summary>All answers, with reasons</summary>\n'
        )
    said = "right" if right else "wrong"
    value = f' data-value="{node["value"]!r}"' if question["kind"] == "number" else ""
    sign = f'<span class="cq-sign">{"✓" if right else "✗"} {said}</span>'
    self.body.append(f'<div class="cq-reason" data-index="{i}" data-judged="{said}"{value}>\n')
    if question["kind"] == "choice":
        self.body.append(
            f'<p class="cq-head"><span class="cq-letter">{LETTERS[i]}</span> {sign}</p>'
        )
        self.body.append('<div class="cq-why">\n')


def _close_reason(self: Any, node: QuestionReason) -> None:
    self.body.append("</div>\n</div>\n")


def _open_value(self: Any, node: QuestionValue) -> None:
    self.body.append('<p class="cq-head"><span class="cq-value">')


def _close_value(self: Any, node: QuestionValue) -> None:
    right = node.parent["right"]
    said = "✓ right" if right else "✗ wrong"
    unit = escape(node.parent.parent["unit"])
    self.body.append(
        f'{" " + unit if unit else ""}</span> <span class="cq-sign">{said}</span></p>'
        '<div class="cq-why">\n'
    )


def _entry(question: Question) -> str:
    unit = f' <span class="cq-unit">{escape(question["unit"])}</span>' if question["unit"] else ""
    return (
        '<div class="cq-entry" hidden="hidden"><label>Your answer: <input type="text" '
        'inputmode="decimal" autocomplete="off" size="9" spellcheck="false"/></label>'
        f'{unit} <button type="button">Check</button></div>\n'
    )


def _nothing(self: Any, node: nodes.Node) -> None:
    pass


class PlainQuestions(SphinxPostTransform):
    """Replaces questions by plain text and lists in formats other than HTML."""

    default_priority = 200

    def run(self, **_: Any) -> None:
        """Replace all questions of the page."""
        if self.app.builder.format == "html":
            return
        for question in list(self.document.findall(Question)):
            plain: list[nodes.Node] = []
            listed = nodes.enumerated_list(enumtype="loweralpha", prefix="", suffix=".")
            answers = nodes.definition_list()
            for part in list(question.children):
                if isinstance(part, QuestionText):
                    plain.append(nodes.paragraph("", "", nodes.strong("", "", *part.children)))
                elif isinstance(part, QuestionMore):
                    plain += part.children
                elif isinstance(part, QuestionOption):
                    listed += nodes.list_item("", nodes.paragraph("", "", *part.children))
                elif isinstance(part, QuestionReason):
                    answers += _plain_reason(question["kind"], part)
            plain += [listed] if listed.children else []
            question.replace_self([*plain, answers])


def _plain_reason(kind: str, reason: QuestionReason) -> nodes.definition_list_item:
    said = "right" if reason["right"] else "wrong"
    children = list(reason.children)
    head: list[nodes.Node] = [nodes.Text(f"{LETTERS[reason['index']]}, {said}")]
    if kind == "number":
        head = [*children.pop(0).children, nodes.Text(f", {said}")]
    return nodes.definition_list_item(
        "", nodes.term("", "", *head), nodes.definition("", *children)
    )


VISITORS = {
    Question: (_open_question, _close_question),
    QuestionText: (_open_text, _close_text),
    QuestionMore: (_nothing, _nothing),
    QuestionOption: (_open_option, _close_option),
    QuestionReason: (_open_reason, _close_reason),
    QuestionValue: (_open_value, _close_value),
}


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives and the writers of their nodes."""
    for kind, visitors in VISITORS.items():
        app.add_node(kind, html=visitors)
    app.add_directive("choice", Choice)
    app.add_directive("number", Number)
    app.add_post_transform(PlainQuestions)
    app.connect("env-purge-doc", _forget)
    app.connect("env-merge-info", _merge)
    app.connect("env-check-consistency", _say_what_is_double)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
