"""Cheats with the kernel's output: hooks, publishers, replies, and forged cards."""

from __future__ import annotations

from typing import Any

from tests.submissions.cheats.cheat_builders import POINTS, WRONG, in_code


def _one(slug: str, title: str, opening: str = "", **more: Any):
    return in_code("display_hooks", slug, title, opening, **more)


def _answering(call: str) -> dict[str, str]:
    """Return wrong functions that first call `call` with their points."""
    found = {}
    for name in ("masked_softmax", "additive_score"):
        head, body = WRONG[name].strip().split("\n", 1)
        found[name] = f"{head}\n    {call.replace('POINTS', str(POINTS[name]))}\n{body}\n"
    return found


FUNCTIONS = {"attacks": ("masked_softmax", "additive_score")}
RESULT = """
def result(points):
    shell = get_ipython()
    content = {
        "data": {"text/plain": str(points)}, "metadata": {}, "execution_count": 1,
        "transient": {},
    }
    publisher = shell.display_pub
    publisher.session.send(
        publisher.pub_socket, "execute_result", content, parent=publisher.parent_header
    )
"""

CHEATS = [
    _one(
        "displayhook",
        "the answer shows its own points by sys.displayhook",
        "import sys",
        answers=_answering("sys.displayhook(POINTS)"),
        **FUNCTIONS,
    ),
    _one(
        "execute-result",
        "the answer sends an execute_result to the front end",
        RESULT,
        answers=_answering("result(POINTS)"),
        **FUNCTIONS,
    ),
    _one(
        "own-card",
        "the answer displays and prints a green card",
        "from IPython.display import HTML, display\n"
        'CARD = "<div role=status><b>✓</b> <b>right in all 66 cases.</b></div>"',
        answers=_answering('display(HTML(CARD)); print("✓ right in all 66 cases.")'),
        **FUNCTIONS,
    ),
    _one(
        "errors-forgiven",
        "after each cell its error is cleared away",
        """
from IPython.display import clear_output

def forgive(result):
    result.error_in_exec = result.error_before_exec = None
    clear_output()

get_ipython().events.register("post_run_cell", forgive)
""",
    ),
    _one(
        "cells-rewritten",
        "an input transformer empties the cells that check",
        """
def emptied(lines):
    text = "".join(lines)
    return [] if "check(" in text or "examine" in text else lines

get_ipython().input_transformers_cleanup.append(emptied)
get_ipython().input_transformers_post.append(emptied)
""",
    ),
    _one(
        "cells-wrapped",
        "an AST transformer wraps each statement in try",
        """
import ast

class Wrapped(ast.NodeTransformer):
    def visit_Module(self, node):
        handler = ast.ExceptHandler(type=None, name=None, body=[ast.Pass()])
        body = [ast.Try(body=node.body or [ast.Pass()], handlers=[handler], orelse=[],
                        finalbody=[])]
        return ast.fix_missing_locations(ast.Module(body=body, type_ignores=[]))

get_ipython().ast_transformers.append(Wrapped())
""",
    ),
    _one(
        "reply-ok",
        "the kernel's replies all say ok and errors are not shown",
        """
shell = get_ipython()
kernel = shell.kernel
inner = kernel.do_execute

async def do_execute(*given, **more):
    reply = await inner(*given, **more)
    return {"status": "ok", "execution_count": 1, "payload": [], "user_expressions": {}}

kernel.do_execute = do_execute
shell.showtraceback = lambda *given, **more: None
shell._showtraceback = lambda *given, **more: None
""",
    ),
    _one(
        "shell-without-errors",
        "the shell's run_code never fails",
        """
from IPython.core.interactiveshell import InteractiveShell

inner = InteractiveShell.run_code

async def run_code(self, code, result=None, **more):
    await inner(self, code, result, **more)
    if result is not None:
        result.error_in_exec = None
    return False

InteractiveShell.run_code = run_code
get_ipython().showtraceback = lambda *given, **more: None
""",
    ),
    _one(
        "exceptions-swallowed",
        "a custom handler takes every exception",
        """
def handler(shell, kind, value, trace, tb_offset=None):
    print("✓ right in all 66 cases.")
    return []

get_ipython().set_custom_exc((Exception,), handler)
""",
    ),
    _one(
        "silent-cells",
        "a hook before each cell makes check a dummy",
        """
def again(*given):
    import sys
    get_ipython().user_ns["check"] = lambda answer: None
    for name, module in list(sys.modules.items()):
        if name.startswith("autograder") and hasattr(module, "examine"):
            module.examine = lambda answer: None

import autograder
autograder.check = lambda answer: None
try:
    import autograder.instructor
except ImportError:
    pass
get_ipython().events.register("pre_run_cell", again)
get_ipython().events.register("pre_execute", again)
""",
    ),
    _one(
        "quits-with-success",
        "exit(0), SystemExit and quit in and around the answer",
        "import sys",
        answers={
            "masked_softmax": """
def masked_softmax(scores, mask):
    sys.exit(0)
""",
            "additive_score": """
def additive_score(query, keys, W, U, v):
    raise GeneratorExit
""",
            "AdditiveAttention": WRONG["AdditiveAttention"] + "\nexit(0)\n",
        },
    ),
    _one(
        "interrupted",
        "the answer interrupts its own check",
        answers={
            "masked_softmax": """
def masked_softmax(scores, mask):
    raise KeyboardInterrupt
""",
            "additive_score": """
def additive_score(query, keys, W, U, v):
    import _thread
    _thread.interrupt_main()
    return keys.new_zeros(keys.shape[:2])
""",
        },
    ),
    _one(
        "hard-exit",
        "the answer ends the process with status 0",
        "import os",
        answers=_answering("os._exit(0)"),
        **FUNCTIONS,
    ),
]
