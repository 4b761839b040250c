"""Cheats that import the answer in ways that hide its origin."""

from __future__ import annotations

from tests.submissions.cheats.cheat_builders import WRONG, in_code, thief


def _one(slug: str, title: str, stealing: str, **more):
    return thief("solution_imports", slug, title, stealing, **more)


FROM_MODULE = """
def take(module):
    for name in ("masked_softmax", "additive_score", "AdditiveAttention"):
        STOLEN[name] = getattr(module, name)

def forget():
    for name in [n for n in sys.modules if n.split(".")[0] == "solutions"]:
        del sys.modules[name]
"""

CHEATS = [
    _one(
        "plain-import",
        "from solutions.bahdanau.scores import ...",
        "from solutions.bahdanau import scores\ntake(scores)",
        before=FROM_MODULE,
    ),
    _one(
        "import-forgotten",
        "imported, renamed and forgotten",
        """
from solutions.bahdanau import scores
take(scores)
forget()
for thing in STOLEN.values():
    thing.__module__ = "__main__"
""",
        before=FROM_MODULE,
    ),
    _one(
        "functions-rebuilt",
        "only the code objects are taken, in functions of one's own",
        """
import types
from solutions.bahdanau import scores
forget()
for name in ("masked_softmax", "additive_score"):
    STOLEN[name] = types.FunctionType(getattr(scores, name).__code__, globals(), name)
parts = {n: types.FunctionType(f.__code__, globals(), n)
         for n, f in vars(scores.AdditiveAttention).items() if isinstance(f, types.FunctionType)}
parts.pop("__init__")
STOLEN["AdditiveAttention"] = parts
""",
        before=FROM_MODULE,
        answers={
            "masked_softmax": WRONG["masked_softmax"]
            + '\nmasked_softmax = STOLEN.get("masked_softmax", masked_softmax)\n',
            "additive_score": WRONG["additive_score"]
            + '\nadditive_score = STOLEN.get("additive_score", additive_score)\n',
            "AdditiveAttention": WRONG["AdditiveAttention"]
            + '\nfor name, part in STOLEN.get("AdditiveAttention", {}).items():\n'
            + "    setattr(AdditiveAttention, name, part)\n",
        },
    ),
    _one(
        "loader",
        "loaded from its file under another name",
        """
import importlib.util
import solutions.bahdanau
folder = list(solutions.bahdanau.__path__)[0]
forget()
spec = importlib.util.spec_from_file_location("mine", folder + "/scores/solution.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
take(module)
""",
        before=FROM_MODULE,
    ),
    _one(
        "run-as-a-script",
        "run by runpy, as if it were one's own script",
        """
import importlib.util, runpy
place = importlib.util.find_spec("solutions.bahdanau.scores").origin
forget()
STOLEN.update(runpy.run_path(place, run_name="__main__"))
""",
        before=FROM_MODULE,
    ),
    _one(
        "mistakes",
        "the module from which the known mistakes are made",
        """
from autograder.exercises import EXERCISES
from autograder.instructor.mutation.operators import load_solution_module
take(load_solution_module(EXERCISES["masked_softmax"]))
forget()
""",
        before=FROM_MODULE,
    ),
    in_code(
        "solution_imports",
        "inside-the-answer",
        "imported when the answer is called",
        "",
        {
            "masked_softmax": """
def masked_softmax(scores, mask):
    from solutions.bahdanau import scores as taken
    return taken.masked_softmax(scores, mask)
""",
            "additive_score": """
def additive_score(query, keys, W, U, v):
    import importlib, sys
    found = importlib.import_module("solutions.bahdanau.scores").additive_score
    for name in [n for n in sys.modules if n.startswith("solutions")]:
        del sys.modules[name]
    return found(query, keys, W, U, v)
""",
        },
    ),
    in_code(
        "solution_imports",
        "by-magic",
        "%run of the source",
        """
%run ../../../solutions/bahdanau/scores/solution.py
STOLEN = {n: globals().get(n) for n in ("masked_softmax", "additive_score", "AdditiveAttention")}
""",
        {name: f'{code}\n{name} = STOLEN["{name}"] or {name}\n' for name, code in WRONG.items()},
    ),
    in_code(
        "solution_imports",
        "other-interpreter",
        "a fresh Python computes the answer at each call, beyond the reach of sys.modules",
        """
import subprocess, sys, tempfile

PROGRAM = '''
import sys, torch
from solutions.bahdanau import scores
name = sys.argv[1]
given = [t.requires_grad_() if t.is_floating_point() else t for t in torch.load(sys.argv[2])]
value = getattr(scores, name)(*given)
torch.save(value.detach(), sys.argv[2])
'''

class Other(torch.autograd.Function):
    @staticmethod
    def forward(ctx, scores, mask):
        with tempfile.NamedTemporaryFile(suffix=".pt") as file:
            torch.save([scores.detach(), mask], file.name)
            subprocess.run([sys.executable, "-c", PROGRAM, "masked_softmax", file.name], check=True)
            value = torch.load(file.name)
        ctx.save_for_backward(value)
        return value

    @staticmethod
    def backward(ctx, given):
        (value,) = ctx.saved_tensors
        return value * (given - (given * value).sum(-1, keepdim=True)), None
""",
        {
            "masked_softmax": """
def masked_softmax(scores, mask):
    return Other.apply(scores, mask)
"""
        },
        attacks=("masked_softmax",),
    ),
    in_code(
        "solution_imports",
        "spawned-worker",
        "a worker that was started with the answer in it",
        """
import subprocess, sys, json

PROGRAM = '''
import json, sys, torch
from solutions.bahdanau import scores
for line in sys.stdin:
    values, mask = json.loads(line)
    values = torch.tensor(values, dtype=torch.float64)
    found = scores.masked_softmax(values, torch.tensor(mask))
    print(json.dumps(found.tolist()), flush=True)
'''
try:
    WORKER = subprocess.Popen([sys.executable, "-c", PROGRAM], text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
except OSError as error:
    print(error)

class Asked(torch.autograd.Function):
    @staticmethod
    def forward(ctx, scores, mask):
        mask = mask.expand(scores.shape)
        WORKER.stdin.write(json.dumps([scores.tolist(), mask.tolist()]) + "\\n")
        WORKER.stdin.flush()
        value = torch.tensor(json.loads(WORKER.stdout.readline()), dtype=scores.dtype)
        ctx.save_for_backward(value)
        return value

    @staticmethod
    def backward(ctx, given):
        (value,) = ctx.saved_tensors
        return value * (given - (given * value).sum(-1, keepdim=True)), None
""",
        {
            "masked_softmax": """
def masked_softmax(scores, mask):
    return Asked.apply(scores, mask)
"""
        },
        attacks=("masked_softmax",),
    ),
]
