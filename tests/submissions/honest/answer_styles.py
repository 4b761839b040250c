"""Honest submissions with right answers in different styles, and with other cells."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from tests.submissions.honest.honest_submission import Bank
from tests.submissions.student_notebooks import POINTS, SCORES, TRANSLATOR, Handed, reference

BANK = Bank()


def every(hand: Handed, change: Callable[[str], str]) -> None:
    """Change the text of every answer."""
    for name in POINTS:
        hand.write(**{name: change(hand.cell(name).source)})


@BANK()
def the_reference(hand: Handed) -> None:
    """The reference answers."""


@BANK()
def without_docstrings(hand: Handed) -> None:
    """No docstrings, no type hints, no comments."""

    def bare(source: str) -> str:
        tree = ast.parse(source)
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node):
                node.body.pop(0)
            if isinstance(node, ast.FunctionDef):
                node.returns = None
                for argument in node.args.args:
                    argument.annotation = None
        return ast.unparse(tree)

    every(hand, bare)


@BANK()
def comments_in_korean(hand: Handed) -> None:
    """Comments and strings in Korean, Chinese and with emoji."""
    every(
        hand, lambda s: re.sub(r"#.*", "# 텐서의 크기를 확인 ✓ 张量 😀", s) + '\n메모 = "질문: 왜?"'
    )


@BANK(quick=True)
def noise_everywhere(hand: Handed) -> None:
    """Warnings, prints, logging, progress bars and the descriptors 1 and 2, in every method."""
    noise = """
import logging, os, sys, warnings
from tqdm.auto import tqdm

logging.basicConfig(level=logging.INFO)


def make_noise():
    warnings.warn("deprecated", DeprecationWarning)
    warnings.warn("something may be slow")
    print("here", flush=True)
    print("there", file=sys.stderr)
    logging.info("at work")
    for _ in tqdm(range(2)):
        pass


print("loaded", file=sys.stderr)
os.write(2, b"deep down\\n")
"""

    def loud(source: str) -> str:
        return re.sub(r"^( +)(return )", r"\1make_noise()\n\1\2", source, flags=re.M)

    every(hand, loud)
    hand.add(noise, before="text-masked_softmax")
    hand.add(noise, before="text-BidirectionalEncoder")


@BANK()
def experiments(hand: Handed) -> None:
    """Own cells with tries, plots, tables and questions between the exercises."""
    tries = (
        "torch.manual_seed(3)\nscores = torch.randn(2, 5)\nmask = torch.rand(2, 5) > 0.3\nscores",
        "weights = masked_softmax(scores, mask)\nprint(weights.sum(-1))\nweights",
        "import matplotlib.pyplot as plt\nplt.imshow(weights)\nplt.colorbar()\nplt.show()",
        "from IPython.display import Markdown, display\ndisplay(Markdown('**looks right**'))",
        "%timeit -n 3 -r 2 masked_softmax(scores, mask)",
        "for _ in range(200):\n    print('.', end='')",
        "assert torch.allclose(weights.sum(-1)[mask.any(-1)], torch.ones(()))",
        "masked_softmax?",
    )
    for source in reversed(tries):
        hand.add(source, after="masked_softmax")
    hand.add("## My notes\n\nWhy a *vector* $v$?", before="additive_score", kind="markdown")
    hand.add("- [ ] ask about `project`", before="AdditiveAttention", kind="raw")
    hand.add("print(AdditiveAttention(2, 3, 4))", after="test-AdditiveAttention")
    hand.add(
        "sum(p.numel() for p in AttentionDecoder(5, 3, 4, 2, None).parameters())", to="translator"
    )


@BANK()
def experiments_that_failed(hand: Handed) -> None:
    """Own cells whose errors were left in, with the outputs of the last run."""
    cell = hand.add("masked_softmax(torch.ones(2, 3), torch.ones(4, 5))", after="masked_softmax")
    cell.outputs = [{"output_type": "error", "ename": "E", "evalue": "size", "traceback": ["..."]}]
    hand.add("raise ValueError('remember to fix this')", before="context_vector")
    hand.add("print(x_that_i_deleted)", after="BidirectionalEncoder")


@BANK()
def helpers_in_own_cells(hand: Handed) -> None:
    """All work is done by helper functions in added cells."""
    hand.add("def lift(t):\n    return t.unsqueeze(1)", before="text-masked_softmax")
    hand.add(
        "def joined(*parts):\n    return torch.cat(parts, dim=-1)",
        before="text-BidirectionalEncoder",
    )
    hand.write(
        additive_score=(
            "def additive_score(query, keys, W, U, v):\n"
            "    return torch.tanh(lift(query @ W.T) + keys @ U.T) @ v\n"
        ),
        context_vector=(
            "def context_vector(weights, values):\n    return (lift(weights) @ values).squeeze(1)\n"
        ),
        AttentionDecoder=re.sub(
            r"torch\.cat\(\[([^\]]*)\], dim=-1\)", r"joined(\1)", reference("AttentionDecoder")
        ),
    )


@BANK()
def methods_added_later(hand: Handed) -> None:
    """A class is finished in an added cell below it, method by method."""
    right = reference("AttentionDecoder")
    head, tail = right.split("    def readout(", 1)
    readout, forward = tail.split("    def forward(", 1)
    for name, text in (("forward", forward), ("readout", readout)):
        method = f"def {name}(" + text.replace("\n    ", "\n").rstrip()
        hand.add(f"{method}\n\n\nAttentionDecoder.{name} = {name}", after="AttentionDecoder")
    hand.write(AttentionDecoder=head.rstrip())


@BANK()
def base_classes_of_ones_own(hand: Handed) -> None:
    """The classes inherit from a class of the student's own, with more methods and properties."""
    base = (
        "class Talking(nn.Module):\n"
        "    verbose = False\n\n"
        "    @property\n"
        "    def size(self):\n"
        "        return sum(p.numel() for p in self.parameters())\n\n"
        "    def say(self, *words):\n"
        "        if self.verbose:\n"
        "            print(*words)\n\n"
        "    def __repr__(self):\n"
        "        return f'{type(self).__name__} of {self.size} numbers'\n"
    )
    hand.add(base, before="AdditiveAttention")
    hand.add(base, before="BidirectionalEncoder")
    for name in ("AdditiveAttention", *TRANSLATOR):
        hand.write(**{name: reference(name).replace("(nn.Module)", "(Talking)")})


@BANK()
def float64_inside(hand: Handed) -> None:
    """Everything is computed in float64 and cast back."""
    hand.write(
        additive_score=(
            "def additive_score(query, keys, W, U, v):\n"
            "    q, k, W, U, v = (t.double() for t in (query, keys, W, U, v))\n"
            "    return (torch.tanh((q @ W.T)[:, None] + k @ U.T) @ v).to(query.dtype)\n"
        ),
        context_vector=(
            "def context_vector(weights, values):\n"
            "    return torch.einsum('bn,bnd->bd', weights.double(), values.double())"
            ".to(values.dtype)\n"
        ),
    )


@BANK()
def loops_everywhere(hand: Handed) -> None:
    """The scores and the context are computed in loops over lists."""
    hand.write(
        additive_score=(
            "def additive_score(query, keys, W, U, v):\n"
            "    rows = []\n"
            "    for s, hs in zip(query, keys):\n"
            "        row = []\n"
            "        for h in hs:\n"
            "            hidden = torch.tanh(W @ s + U @ h)\n"
            "            row.append(sum(a * b for a, b in zip(v, hidden)))\n"
            "        rows.append(torch.stack(row))\n"
            "    return torch.stack(rows)\n"
        ),
        context_vector=(
            "def context_vector(weights, values):\n"
            "    context = torch.zeros_like(values[:, 0])\n"
            "    j = 0\n"
            "    while j < values.shape[1]:\n"
            "        context = context + weights[:, j:j + 1] * values[:, j]\n"
            "        j += 1\n"
            "    return context\n"
        ),
    )


@BANK()
def careful(hand: Handed) -> None:
    """Arguments are checked by assertions, with type hints of the student's own."""
    hand.write(
        context_vector=(
            "from typing import Annotated\n\nFloat = Annotated[Tensor, 'float']\n\n\n"
            "def context_vector(weights: Float, values: Float) -> Float:\n"
            "    assert weights.dim() == 2 and values.dim() == 3, (weights.shape, values.shape)\n"
            "    assert weights.shape == values.shape[:2]\n"
            "    (batch, n), d = weights.shape, values.shape[-1]\n"
            "    context = weights.view(batch, 1, n).bmm(values).view(batch, d)\n"
            "    assert context.shape == (batch, d)\n"
            "    return context\n"
        )
    )


@BANK()
def answers_that_call_each_other(hand: Handed) -> None:
    """The attention is put together of all three functions above it."""
    lines = reference("AdditiveAttention").splitlines()
    at = next(i for i, line in enumerate(lines) if "if projected_keys is None" in line)
    end = next(i for i, line in enumerate(lines) if line.lstrip().startswith("scores ="))
    given = [f"    {line}" for line in lines[at + 2 : end + 1]]
    scores = "            scores = additive_score(query, keys, self.W, self.U, self.v)"
    called = [lines[at], scores, "        else:", *given]
    hand.write(AdditiveAttention="\n".join([*lines[:at], *called, *lines[end + 1 :]]))


@BANK()
def trained_in_between(hand: Handed) -> None:
    """The student trains something in a cell of their own, with gradients and an optimiser."""
    hand.add(
        "attention = AdditiveAttention(2, 2, 4)\n"
        "adam = torch.optim.Adam(attention.parameters(), lr=0.1)\n"
        "for step in range(30):\n"
        "    adam.zero_grad()\n"
        "    mask = torch.ones(4, 3, dtype=torch.bool)\n"
        "    context, weights = attention(torch.randn(4, 2), torch.randn(4, 3, 2), mask)\n"
        "    loss = context.pow(2).mean()\n"
        "    loss.backward()\n"
        "    adam.step()\n"
        "print(f'{loss.item():.3f}')",
        before="test-AdditiveAttention",
    )


@BANK()
def decorated(hand: Handed) -> None:
    """A decorator of the student's own counts calls and measures time."""
    clock = (
        "import functools, time\n\n\n"
        "def timed(function):\n"
        "    @functools.wraps(function)\n"
        "    def inner(*given, **named):\n"
        "        start = time.perf_counter()\n"
        "        try:\n"
        "            return function(*given, **named)\n"
        "        finally:\n"
        "            inner.seconds += time.perf_counter() - start\n"
        "    inner.seconds = 0.0\n"
        "    return inner\n"
    )
    hand.add(clock, before="text-masked_softmax")
    for name in SCORES[:3]:
        hand.write(**{name: "@timed\n" + reference(name)})


@BANK()
def other_names_and_defaults(hand: Handed) -> None:
    """Arguments have other names, and there are more of them, with defaults."""
    hand.write(
        masked_softmax=(
            "def masked_softmax(e, m, /, dim=-1, *, fill=None):\n"
            "    fill = torch.finfo(e.dtype).min if fill is None else fill\n"
            "    return torch.where(m, torch.where(m, e, fill).softmax(dim), 0.0)\n"
        ),
        additive_score=(
            "def additive_score(*tensors, **options):\n"
            "    s, h, W, U, v = tensors\n"
            "    return torch.einsum('bnd,d->bn', (s.matmul(W.T)[:, None, :] + h.matmul(U.T))"
            ".tanh(), v)\n"
        ),
    )


@BANK()
def imports_inside(hand: Handed) -> None:
    """Every answer imports what it needs again, by other names."""
    hand.write(
        context_vector=(
            "import torch as t, torch.nn.functional as F\nfrom torch import einsum\n"
            "import numpy as np, math, collections, itertools, functools\n\n\n"
            "def context_vector(weights, values):\n"
            "    import torch\n"
            "    return einsum('bn,bnd->bd', weights, values)\n"
        )
    )


@BANK()
def settings_in_own_cells(hand: Handed) -> None:
    """Own cells set seeds, the style of plots, the number of threads and how torch prints."""
    hand.add(
        "%matplotlib inline\nimport warnings\nwarnings.filterwarnings('ignore')\n"
        "import numpy as np\nnp.random.seed(0)\ntorch.manual_seed(0)\ntorch.set_num_threads(1)\n"
        "torch.set_printoptions(precision=2)\n"
        "device = 'cuda' if torch.cuda.is_available() else 'cpu'",
        after="setup",
    )


@BANK()
def one_notebook_a_day_later(hand: Handed) -> None:
    """The notebooks were run from top to bottom, in another order, and saved by VS Code."""
    for page in hand.pages.values():
        page.metadata["language_info"] = {"name": "python", "version": "3.12.1"}
        page.metadata["kernelspec"] = {
            "name": "python3",
            "display_name": ".venv",
            "language": "python",
        }
        for number, cell in enumerate(c for c in page.cells if c.cell_type == "code"):
            cell.execution_count = 41 - number
            cell.outputs = [{"output_type": "stream", "name": "stdout", "text": ["✓ right\n"]}]
