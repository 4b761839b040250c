"""Broken submissions: solution cells that fail, completely or from some line on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.submissions.broken.broken_submission import Bank
from tests.submissions.student_notebooks import Handed, reference, stub

BANK = Bank()
SYNTAX = (
    r"null bytes|syntax|SyntaxError|IndentationError|TabError|indent|cannot be (run|read)|invalid"
)
TOP = "the cell ends in an error, but the function in it is right"
NAME = r"name|missing|no function|not (there|found|defined|written)|signature|takes|argument"


def _changed(
    slug: str,
    title: str,
    change: Callable[[str], str],
    exercise: str = "additive_score",
    **more: Any,
) -> None:
    BANK.answer(slug, title, exercise, change, **more)


def _syntax(slug: str, title: str, change: Callable[[str], str], **more: Any) -> None:
    _changed(slug, title, change, lost=["additive_score"], says=SYNTAX, **more)


# Syntax errors

_syntax("syntax-colon", "a colon is missing", lambda r: r.replace("-> Tensor:", "-> Tensor"))
_syntax("syntax-bracket", "a bracket is open", lambda r: r.replace("torch.tanh(", "torch.tanh(("))
_syntax(
    "syntax-string", "the docstring is not closed", lambda r: r[::-1].replace('"""', "", 1)[::-1]
)
_syntax(
    "only-the-first-line",
    "only the first line of the function is there",
    lambda r: r.splitlines()[0],
)
_syntax(
    "indented-too-little",
    "a line of the body is not indented",
    lambda r: r.replace("    hidden =", "hidden ="),
)
_syntax(
    "indented-too-much",
    "a line of the body is indented once more",
    lambda r: r.replace("    hidden =", "        hidden ="),
)
_syntax(
    "tabs-and-spaces",
    "tabs and spaces are mixed",
    lambda r: r.replace("    hidden =", "\thidden ="),
)
_syntax(
    "zero-width-space",
    "a zero-width space stands in a line",
    lambda r: r.replace("query @", "query\u200b @"),
)
_syntax(
    "no-break-space",
    "a no-break space stands in a line, pasted from a chat",
    lambda r: r.replace("query @", "query\u00a0@"),
)
_syntax(
    "smart-quotes",
    "quotes were made pretty by a word processor",
    lambda r: r.replace('"""', "“", 1).replace('"""', "”", 1),
)
_syntax(
    "full-width-brackets",
    "brackets were typed with a Korean keyboard",
    lambda r: r.replace("torch.tanh(", "torch.tanh（"),
)
_syntax(
    "null-character",
    "a null character stands in a line",
    lambda r: r.replace("query @", "query\x00 @"),
)
_syntax(
    "python-2",
    "a print of Python 2 stands in the body",
    lambda r: r.replace("    hidden =", "    print query.shape\n    hidden ="),
)
_syntax(
    "pseudo-code", "the answer is a sentence", lambda r: "e = v^T tanh(W s + U h), as in the paper"
)
_syntax(
    "chat-answer",
    "the answer was pasted with the fences and words around it",
    lambda r: f"Sure! Here is the function:\n\n```python\n{r}\n```\n\nLet me know if it helps.",
)
_syntax(
    "unfinished-lines", "the stub's raise is half deleted", lambda r: r + "\n    raise NotImpl("
)
_changed(
    "body-outside",
    "the body stands outside the function",
    lambda r: r.replace("\n    ", "\n").replace('Tensor:\n"""', 'Tensor:\n    """'),
    lost=["additive_score"],
    says=SYNTAX + "|None|return",
)
_syntax(
    "left-over-stub",
    "the raise of the stub stands below, indented again",
    lambda r: r + "\n  raise NotImplementedError()",
)


@BANK(lost=["additive_score", "context_vector"], partly=["AdditiveAttention"], says=SYNTAX)
def syntax_errors_in_two_cells(hand: Handed) -> None:
    """Two solution cells cannot be read, the others can."""
    for name in ("additive_score", "context_vector"):
        hand.write(**{name: reference(name).replace("return", "retrun", 1)})


# Valid but unusual syntax

_changed("tabs", "the body is indented by tabs", lambda r: r.replace("    ", "\t"))
_changed(
    "indented-as-a-whole",
    "the whole cell is indented",
    lambda r: "\n".join("    " + line if line else line for line in r.splitlines()),
)
_changed(
    "line-ends-of-windows-in-a-cell",
    "the cell's lines end as on Windows",
    lambda r: r.replace("\n", "\r\n"),
)
_changed(
    "line-ends-of-old-macs", "the cell's lines end as on old Macs", lambda r: r.replace("\n", "\r")
)
_changed("form-feed", "a form feed stands between the lines", lambda r: "\f\n" + r)
_changed(
    "prompts",
    "the prompts of a terminal were pasted as well",
    lambda r: "\n".join(
        (">>> " if i == 0 else "... ") + line for i, line in enumerate(r.splitlines())
    ),
)
_changed(
    "prompts-of-ipython",
    "the prompts of IPython were pasted as well",
    lambda r: "\n".join(
        ("In [12]: " if i == 0 else "    ...: ") + line for i, line in enumerate(r.splitlines())
    ),
)
_changed(
    "names-in-korean",
    "names are Korean, Greek and mathematical",
    lambda r: (
        r.replace("hidden", "은닉층")
        .replace("projected_query", "Ws")
        .replace("projected_keys", "𝐔𝐡")
    ),
)
_changed(
    "zero-width-in-a-comment",
    "a zero-width space and emoji stand in comments and strings",
    lambda r: r + "\n# \u200b ok 👩‍👩‍👧 \u202e\ns = '\u200b'",
)
_changed(
    "bom-in-a-cell",
    "a cell begins with a byte order mark",
    lambda r: "\ufeff" + r,
    maybe=["additive_score"],
    why="Python reads it at the beginning of a file and nowhere else",
    says=SYNTAX,
    review_if_lost=False,
)
_changed(
    "semicolons",
    "statements end in semicolons and stand in one line",
    lambda r: "x = 1; y = 2;\n" + r + ";",
)
_changed(
    "main",
    "a main is there as in a script",
    lambda r: (
        "#!/usr/bin/env python\n# -*- coding: latin-1 -*-\n"
        + r
        + "\n\nif __name__ == '__main__':\n    print('ran')\n"
    ),
)
_changed(
    "question-in-a-comment",
    "comments hold what looks like magics",
    lambda r: r + "\n# %%bash\n# !ls\n# why?\n",
)
_changed(
    "strings-that-look-like-marks",
    "strings hold nbgrader's own marks",
    lambda r: r + "\n### BEGIN SOLUTION\ns = '### BEGIN HIDDEN TESTS'\n### END SOLUTION\n",
)
_changed(
    "long-line",
    "a line has a hundred thousand characters",
    lambda r: r + "\nnumbers = [" + "1, " * 50_000 + "]",
)
_changed(
    "deep-expression",
    "an expression has two thousand brackets",
    lambda r: r + "\nx = " + "(" * 2000 + "1" + ")" * 2000,
    maybe=["additive_score"],
    why="Python cannot read so many brackets, but the function is right",
    review_if_lost=False,
    says=SYNTAX + "|MemoryError|RecursionError|parenthes|nest",
)

# Runtime errors

_changed(
    "error-below",
    "a try below the function raises",
    lambda r: r + "\n\nprint(additive_score(torch.ones(2), torch.ones(3), 1, 2, 3))\n",
)
_changed(
    "assertion-below",
    "a test of the student's own fails below the function",
    lambda r: (
        r + "\n\n"
        "one = torch.ones\n"
        "assert additive_score(one(1, 2), one(1, 3, 2), one(4, 2), one(4, 2), one(4)).dim() == 1\n"
    ),
)
_changed(
    "error-above",
    "a line above the function raises",
    lambda r: "print(undefined_name)\n\n\n" + r,
    maybe=["additive_score"],
    why=TOP,
    review_if_lost=False,
    says="undefined_name|NameError|missing|not (there|defined|found)|no function",
)
_changed(
    "package-missing-above",
    "an import of a package that is not there stands above the function",
    lambda r: "from einops import rearrange\n\n\n" + r,
    maybe=["additive_score"],
    why=TOP,
    review_if_lost=False,
    says="einops|ModuleNotFoundError|missing|not (there|found|defined|installed)",
)
_changed(
    "package-missing-inside",
    "the function imports a package that is not there",
    lambda r: r.replace(
        "    projected_query", "    from einops import einsum\n    projected_query", 1
    ),
    lost=["additive_score"],
    says="einops|ModuleNotFoundError",
)
_changed(
    "import-forgotten",
    "a name of the signature was never imported",
    lambda r: r.replace("-> Tensor:", "-> Optional[Tensor]:"),
    maybe=["additive_score"],
    why=TOP,
    review_if_lost=False,
    says="Optional|NameError|missing|not (there|defined|found)",
)
_changed(
    "import-forgotten-inside",
    "a name of the body was never imported",
    lambda r: r.replace("torch.tanh(", "F.tanh("),
    lost=["additive_score"],
    says=r"\bF\b|NameError",
)
_changed(
    "stub-left-below",
    "the raise of the stub stands below the answer",
    lambda r: r + "\n    raise NotImplementedError()",
)
_changed(
    "stub-left-above",
    "the raise of the stub stands above the answer",
    lambda r: r.replace(
        "    projected_query", "    raise NotImplementedError()\n    projected_query", 1
    ),
    lost=["additive_score"],
    says="not written|NotImplementedError",
)
_changed(
    "stub-below-in-the-cell",
    "the stub stands in the same cell, below the answer",
    lambda r: r + "\n\n\n" + stub("additive_score"),
    maybe=["additive_score"],
    why="the stub below it is what stands in the end",
    review_if_lost=False,
    says="not written|NotImplementedError|twice|stub",
)
_changed(
    "no-return",
    "the return is forgotten",
    lambda r: r.replace("    return hidden @ v", "    hidden @ v"),
    lost=["additive_score"],
    says="None|return",
)
_changed(
    "printed-not-returned",
    "the result is printed, not returned",
    lambda r: r.replace("    return hidden @ v", "    print(hidden @ v)"),
    lost=["additive_score"],
    says="None|return",
)
_changed(
    "only-the-docstring",
    "only signature and docstring are left",
    lambda r: r[: r.index('"""', r.index('"""') + 3) + 3],
    lost=["additive_score"],
    says="None|return|not written",
)
_changed(
    "pass",
    "the body is pass",
    lambda r: "def additive_score(query, keys, W, U, v):\n    pass",
    lost=["additive_score"],
    says="None|return|not written",
)
_changed(
    "another-name",
    "the function has another name",
    lambda r: r.replace("def additive_score", "def additive_scores"),
    maybe=["additive_score"],
    why="the answer is right, but not under the name that is asked for",
    review_if_lost=False,
    says=NAME,
)
_changed(
    "another-name-and-case",
    "the class has another name",
    lambda r: r.replace("class BidirectionalEncoder", "class bidirectionalEncoder"),
    exercise="BidirectionalEncoder",
    maybe=["BidirectionalEncoder"],
    why="the answer is right, but not under the name that is asked for",
    review_if_lost=False,
    says=NAME,
)
_changed(
    "bound-to-another-name",
    "the function is bound to the right name, but has another",
    lambda r: r.replace("def additive_score", "def my_score") + "\n\n\nadditive_score = my_score",
    maybe=["additive_score"],
    why="a check of the student's own asks for the name that the function has",
    says=NAME,
    review_if_lost=False,
)
_changed(
    "lambda",
    "the answer is a lambda",
    lambda r: (
        "additive_score = lambda query, keys, W, U, v: ("
        "torch.tanh((query @ W.T).unsqueeze(1) + keys @ U.T) @ v)"
    ),
    maybe=["additive_score"],
    why="a check of the student's own asks for the name that the function has",
    says=NAME,
    review_if_lost=False,
)
_changed(
    "partial",
    "the answer is a partial function",
    lambda r: (
        r.replace("def additive_score(", "def full(scale, ")
        + "\n\n\nfrom functools import partial\nadditive_score = partial(full, 1)"
    ),
    maybe=["additive_score"],
    why="a check of the student's own asks for the name that the function has",
    says=NAME + "|partial",
    review_if_lost=False,
)
_changed(
    "object-in-place-of-the-class",
    "an object of the class has the class's name",
    lambda r: r + "\n\n\nBidirectionalEncoder = BidirectionalEncoder(5, 3, 2)",
    exercise="BidirectionalEncoder",
    lost=["BidirectionalEncoder"],
    says="class|object",
)
_changed(
    "function-in-place-of-the-class",
    "a function has the class's name",
    lambda r: "def BidirectionalEncoder(tokens, lengths):\n    return tokens, lengths",
    exercise="BidirectionalEncoder",
    lost=["BidirectionalEncoder"],
    says="class",
)
_changed(
    "method-outside-the-class",
    "a method slipped out of the class",
    lambda r: (
        r[: r.index("    def forward")]
        + r[r.index("    def forward") :].replace("\n    ", "\n")[4:]
    ),
    exercise="BidirectionalEncoder",
    lost=["BidirectionalEncoder"],
    says="forward|missing|not",
)
_changed(
    "arguments-in-another-order",
    "the arguments stand in another order",
    lambda r: r.replace("query: Tensor, keys: Tensor", "keys: Tensor, query: Tensor"),
    lost=["additive_score"],
    says="raised|shape|expected|Error|size|differ|wrong",
)
_changed(
    "arguments-missing",
    "an argument is missing",
    lambda r: r.replace(", v: Tensor", "").replace("hidden @ v", "hidden.sum(-1)"),
    lost=["additive_score"],
    says="argument|signature|take",
)
_changed(
    "decorated",
    "a decorator of the student's own prints",
    lambda r: (
        "import functools\n\n\ndef loud(f):\n    @functools.wraps(f)\n"
        "    def inner(*a, **k):\n        print('called', flush=True)\n"
        "        return f(*a, **k)\n    return inner\n\n\n@loud\n" + r
    ),
)
_changed(
    "cached",
    "a cache that cannot hash tensors by value is wrapped around it",
    lambda r: "import functools\n\n\n@functools.lru_cache(maxsize=None)\n" + r,
)
_changed(
    "no-grad-decorator",
    "no_grad stands above the function",
    lambda r: "@torch.no_grad()\n" + r,
    lost=["additive_score"],
    says="grad",
)
_changed(
    "raises-with-odd-text",
    "the error that it raises cannot be shown",
    lambda r: (
        "class Odd(Exception):\n    def __str__(self):\n        raise ValueError('no text')\n\n\n"
        + r.replace("    projected_query", "    raise Odd\n    projected_query", 1)
    ),
    lost=["additive_score"],
    says="Odd|raised|error",
)
_changed(
    "raises-html",
    "the error that it raises holds HTML",
    lambda r: r.replace(
        "    projected_query",
        "    raise ValueError('<script>alert(1)</script>')\n    projected_query",
        1,
    ),
    lost=["additive_score"],
    says="ValueError",
)
_changed(
    "raises-keyboard-interrupt",
    "it raises KeyboardInterrupt when called",
    lambda r: r.replace(
        "    projected_query", "    raise KeyboardInterrupt\n    projected_query", 1
    ),
    lost=["additive_score"],
    says="KeyboardInterrupt|interrupt|stopped|raised|ended",
)
_changed(
    "generator",
    "it yields in place of returning",
    lambda r: r.replace("    return hidden", "    yield hidden"),
    lost=["additive_score"],
    says="generator|Tensor|return",
)
_changed(
    "async-def",
    "it is an async function",
    lambda r: "async " + r,
    lost=["additive_score"],
    says="coroutine|Tensor|async|return",
)


@BANK(partly=["AttentionDecoder"], says="not written|missing|method|readout|raised")
def class_with_a_method_missing(hand: Handed) -> None:
    """A method of a class was deleted."""
    right = reference("AttentionDecoder")
    start, end = right.index("    def readout"), right.index("    def forward")
    hand.write(AttentionDecoder=right[:start] + right[end:])


@BANK(maybe=["AttentionDecoder"], why=TOP, says=NAME, review_if_lost=False)
def class_in_two_versions(hand: Handed) -> None:
    """The stub of a class stands below the answer in the same cell, under a comment."""
    right = reference("AttentionDecoder")
    hand.write(AttentionDecoder=right + "\n\n# old version\n" + stub("AttentionDecoder"))
