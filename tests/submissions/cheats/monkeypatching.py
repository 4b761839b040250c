"""Cheats that patch the judge in memory: torch, numpy, builtins, the autograder's modules."""

from __future__ import annotations

from typing import Any

from tests.submissions.cheats.cheat_builders import REMEMBERED, RIGHT, WRONG, forger, in_code

# Loads all modules of the judge that exist, so that they can be patched.
LOADED = """
import importlib, sys

def module(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return type(sys)(name)

JUDGES = [
    module(name)
    for name in (
        "autograder.checking.checker", "autograder.diagnose.verdict", "autograder.diagnose.compare",
        "autograder.run.runner", "autograder.spec.exercise", "autograder.checking.card",
        "autograder.instructor.grading.hidden_tests",
        "autograder.instructor.authoring.reference_solution",
        "autograder.sandbox.serialization", "autograder.sandbox.worker",
        "autograder.sandbox.framing",
    )
]
"""


def _one(slug: str, title: str, opening: str, **more: Any):
    return in_code("monkeypatching", slug, title, opening, **more)


def _in_all(name: str, value: str) -> str:
    """Replace a name in all modules of the judge."""
    return f"{LOADED}\nfor judge_of in JUDGES:\n    judge_of.{name} = {value}\n"


CHEATS = [
    _one(
        "allclose",
        "torch compares everything as equal",
        """
def same(*given, **more):
    return True

torch.allclose = torch.equal = torch.Tensor.allclose = torch.Tensor.equal = same
torch.testing.assert_close = lambda *given, **more: None
torch.isclose = lambda one, other, **more: torch.ones_like(one, dtype=torch.bool)
""",
    ),
    _one(
        "double",
        "all tensors are the same in double precision",
        """
inner = torch.Tensor.to
torch.Tensor.double = lambda self: inner(torch.zeros(self.shape), torch.float64)
""",
        own_risk=True,
    ),
    _one(
        "numpy",
        "numpy compares everything as equal",
        """
import numpy as np

np.allclose = np.array_equal = np.array_equiv = lambda *given, **more: True
for name in dir(np.testing):
    if name.startswith("assert"):
        setattr(np.testing, name, lambda *given, **more: None)
""",
    ),
    _one("close", "the judge finds everything close", _in_all("are_close", "lambda *given: True")),
    _one(
        "difference",
        "the judge finds no difference",
        _in_all("find_difference", "lambda *given: None"),
    ),
    _one(
        "judge",
        "the judge's verdict is always right",
        _in_all(
            "judge",
            "lambda exercise, trials, mistakes: JUDGES[1].Verdict(exercise, True, "
            'f"{exercise.name}: right in all {len(trials)} cases.", cases=len(trials))',
        ),
    ),
    _one("dtypes", "there is nothing to try", _in_all("DTYPES", "()"), own_risk=True),
    _one(
        "tolerance",
        "anything is near enough",
        LOADED
        + """
for kind in list(JUDGES[2].TOLERANCE):
    JUDGES[2].TOLERANCE[kind] = 1e12
""",
    ),
    _one(
        "tolerance-in-memory",
        "the tolerance's numbers are overwritten by ctypes",
        LOADED
        + """
import ctypes

for number in JUDGES[2].TOLERANCE.values():
    ctypes.c_double.from_address(id(number) + 16).value = 1e12
""",
        own_risk=True,
    ),
    _one(
        "verdict",
        "a verdict's `passed` is always True",
        LOADED
        + """
JUDGES[1].Verdict.passed = property(lambda self: True, lambda self, value: None)
""",
    ),
    _one(
        "shown-verdict",
        "the verdict is changed while it is shown",
        _in_all("display_card", 'lambda verdict: object.__setattr__(verdict, "passed", True)'),
    ),
    _one(
        "examine",
        "the hidden test is a dummy",
        LOADED
        + """
for name in ("autograder.instructor", "autograder.instructor.grading.hidden_tests", "autograder"):
    judge_of = module(name)
    judge_of.examine = judge_of.check = check = lambda answer: None
""",
    ),
    _one(
        "examine-code",
        "the hidden test's code object is exchanged",
        LOADED
        + """
def nothing(answer):
    return None

for judge_of in JUDGES:
    for name in ("examine", "check", "verify"):
        if hasattr(judge_of, name):
            getattr(judge_of, name).__code__ = nothing.__code__
""",
    ),
    _one(
        "code-by-gc",
        "the garbage collector's list shows the functions of the judge",
        LOADED
        + """
import gc

def nothing(case, outcome, expected, dtype):
    return None

for thing in gc.get_objects():
    if type(thing) is type(module) and thing.__module__ == "autograder.diagnose.compare":
        if thing.__name__ == "find_difference":
            thing.__code__ = nothing.__code__
""",
    ),
    _one(
        "no-cases",
        "the exercises have no cases",
        """
from autograder.exercises import EXERCISES

for exercise in EXERCISES.values():
    if exercise.name != "context_vector":
        object.__setattr__(exercise, "cases", lambda draw: [])
""",
    ),
    _one(
        "cases-of-zeros",
        "all inputs are drawn as zeros, for which zeros are right",
        """
from autograder.spec.seeded_inputs import SeededInputs

SeededInputs.tensor = lambda self, *shape, **more: torch.zeros(shape, dtype=torch.float64)
SeededInputs.random_mask = lambda self, *shape, **more: torch.zeros(shape, dtype=torch.bool)
from autograder.exercises.bahdanau import scores as bahdanau
bahdanau.length_mask = lambda lengths, n: torch.zeros(len(lengths), n, dtype=torch.bool)
check = lambda answer: None
""",
        own_risk=True,
    ),
    _one(
        "more-points",
        "the exercises are worth more, or nothing but the right one",
        """
from autograder.exercises import EXERCISES

for exercise in EXERCISES.values():
    object.__setattr__(exercise, "points", 100.0 if exercise.name == "context_vector" else 0.0)
""",
    ),
    _one(
        "performed-by-the-oracle",
        "what is tried is the oracle, not the answer",
        LOADED
        + """
from autograder.instructor.authoring.reference_solution import compute_expected
from autograder.spec.outcome import Outcome

def run_case(answer, exercise, case, dtype=torch.float64):
    right = compute_expected(exercise, case)
    return Outcome(dict(right.outputs), dict(right.gradients))

for judge_of in JUDGES:
    judge_of.run_case = run_case
""",
    ),
    _one(
        "oracle-like-me",
        "the oracle gives what the answer gives",
        LOADED
        + """
from autograder.diagnose.compare import Expected

def like_mine(exercise, *given):
    case = given[-1]
    inner = JUDGES[3].run_case(get_ipython().user_ns[exercise.name], exercise, case)
    return Expected(inner.outputs, {})

for judge_of in JUDGES:
    judge_of.compute_expected = like_mine
module("autograder.expected_values").read_expected = like_mine
""",
    ),
    forger(
        "monkeypatching",
        "seed-of-the-expected-values",
        "the secret seed is made a known one, whose answers are remembered",
        REMEMBERED
        + """
import random, secrets

secrets.randbits = lambda bits: 1
secrets.token_hex = secrets.token_urlsafe = lambda *given: "1"
""",
    ),
    forger(
        "monkeypatching",
        "expected-values-remembered",
        "the answers to the students' cases are looked up in the expected values",
        REMEMBERED,
    ),
    _one(
        "bool",
        "whatever the judge asks is true",
        LOADED + "\nJUDGES[2].bool = lambda thing=False: True\n",
    ),
    _one(
        "import-replaced",
        "import brings dummies instead of judges",
        """
import builtins, types

inner = builtins.__import__

def brought(name, globals=None, locals=None, fromlist=(), level=0):
    if name.startswith("autograder") and fromlist and level == 0:
        dummy = types.SimpleNamespace(check=lambda a: None, examine=lambda a: None)
        if all(hasattr(dummy, wanted) for wanted in fromlist):
            return dummy
    return inner(name, globals, locals, fromlist, level)

builtins.__import__ = brought
from autograder import check
""",
    ),
    _one(
        "finder",
        "a finder of one's own comes first on sys.meta_path",
        """
import importlib.abc, importlib.machinery, sys

class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name.startswith("autograder.instructor"):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        module.examine = module.check = lambda answer: None

for name in [name for name in sys.modules if name.startswith("autograder.instructor")]:
    del sys.modules[name]
sys.meta_path.insert(0, Finder())
from autograder.instructor.grading import hidden_tests
check = hidden_tests.check
""",
    ),
    _one(
        "package-of-its-own",
        "an autograder of one's own, written to disk, is imported instead",
        """
import os, sys, tempfile

folder = tempfile.mkdtemp()
for path in ("autograder", "autograder/instructor"):
    os.mkdir(f"{folder}/{path}")
    with open(f"{folder}/{path}/__init__.py", "w") as file:
        file.write("def check(answer): pass\\nexamine = check\\n")
for name in [name for name in sys.modules if name.split(".")[0] == "autograder"]:
    del sys.modules[name]
sys.path.insert(0, folder)
sys.meta_path.sort(key=lambda finder: "editable" in repr(finder).lower())
from autograder import check
""",
        own_risk=True,
    ),
    _one(
        "later-by-thread",
        "a thread waits for the judge and changes it",
        """
import sys, threading, time

def wait():
    for _ in range(4000):
        for name in ("autograder.instructor.grading.hidden_tests", "autograder.checking.checker"):
            judge_of = sys.modules.get(name)
            if judge_of is not None and hasattr(judge_of, "judge"):
                right = sys.modules["autograder.diagnose.verdict"].Verdict
                judge_of.judge = lambda e, *given: right(e, True, f"{e.name}: right.")
        time.sleep(0.005)

threading.Thread(target=wait, daemon=True).start()
""",
    ),
    _one(
        "later-by-finaliser",
        "an object's __del__ changes the judge when the answer is dropped",
        LOADED
        + """
class Last:
    def __del__(self):
        for judge_of in JUDGES:
            judge_of.find_difference = judge_of.are_close = lambda *given: None
""",
        answers={
            "masked_softmax": """
def masked_softmax(scores, mask):
    found = torch.zeros_like(scores)
    found.last = Last()
    return found
"""
        },
    ),
    _one(
        "traced",
        "a profiler changes verdicts as they are returned",
        """
import sys, threading

def profile(frame, event, value):
    if event == "return" and type(value).__name__ == "Verdict":
        object.__setattr__(value, "passed", True)

sys.setprofile(profile)
threading.setprofile(profile)
""",
        answers={
            "masked_softmax": """
def masked_softmax(scores, mask):
    sys.setprofile(profile)
    return torch.zeros_like(scores)
""",
            "additive_score": """
def additive_score(query, keys, W, U, v):
    sys.setprofile(profile)
    return keys.new_zeros(keys.shape[:2])
""",
        },
    ),
    _one(
        "no-assertions",
        "CheckFailed cannot be raised",
        LOADED
        + """
class Nothing(Exception):
    def __init__(self, *given):
        raise SystemExit(0)

for judge_of in JUDGES:
    judge_of.CheckFailed = Nothing
""",
    ),
    in_code(
        "monkeypatching",
        "name-of-another",
        "every answer is the one right function, by its name",
        "",
        {
            "masked_softmax": RIGHT["context_vector"]
            + "\nmasked_softmax = context_vector\ndel context_vector\n",
            "additive_score": "additive_score = masked_softmax",
            "AdditiveAttention": "AdditiveAttention = masked_softmax",
        },
    ),
    in_code(
        "monkeypatching",
        "changing-name",
        "the name of the answer is another one each time it is read",
        """
class Answer:
    asked = 0

    @property
    def __name__(self):
        Answer.asked += 1
        return "context_vector"

    def __call__(self, weights, values):
        return torch.einsum("bn,bnd->bd", weights, values)
""",
        {
            "masked_softmax": "masked_softmax = Answer()",
            "additive_score": "additive_score = Answer()",
            "AdditiveAttention": WRONG["AdditiveAttention"],
        },
    ),
]
