"""Broken submissions: cells that change shared names, modules, torch modes, streams, folders."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.submissions.broken.broken_submission import Bank
from tests.submissions.student_notebooks import SCORES, TRANSLATOR, Handed, reference

BANK = Bank()
NAMES = (
    r"NameError|not defined|not callable|AttributeError|TypeError|overwrit|is (a|an|not)|must be"
)
ORDER = "right by itself, but not when the notebook is run from top to bottom"


def _own(slug: str, title: str, source: str, **more: Any) -> None:
    BANK.own_cell(slug, title, source, after="setup", **more)


def _torch(slug: str, title: str, source: str, maybe: Iterable[str] = (), **more: Any) -> None:
    """Put the cell into both notebooks."""
    maybe = list(maybe)
    if maybe:
        more.setdefault("why", "the student's own cell asks for it, as the student's kernel had it")
        more.setdefault(
            "says", r"grad|device|meta|dtype|float|inference|raised|deterministic|Error"
        )
        more.setdefault("review_if_lost", False)

    def build(hand: Handed) -> None:
        hand.add(source, before="text-masked_softmax")
        hand.add(source, before="text-BidirectionalEncoder")

    BANK.add(slug, title, build, maybe=maybe, **more)


# torch, numpy, warnings

CLASSES = ("AdditiveAttention", *TRANSLATOR)
_torch(
    "default-dtype",
    "torch computes in float64 from here on",
    "torch.set_default_dtype(torch.float64)",
)
_torch(
    "default-dtype-half",
    "torch computes in float16 from here on",
    "torch.set_default_dtype(torch.float16)",
)
_torch(
    "default-device-meta", "new tensors are on the device meta", "torch.set_default_device('meta')"
)
_torch(
    "default-device-cuda",
    "new tensors should be on a GPU that is not there",
    "torch.set_default_device('cuda')",
)
_torch(
    "manual-seed",
    "the seed is set",
    "torch.manual_seed(0)\nimport random\nrandom.seed(0)\nimport numpy as np\nnp.random.seed(0)",
)
_torch("threads-one", "torch has one thread", "torch.set_num_threads(1)")
_torch("threads-many", "torch has 64 threads", "torch.set_num_threads(64)")
_torch(
    "interop-threads", "the threads between operations are set", "torch.set_num_interop_threads(4)"
)
_torch("detect-anomaly", "autograd looks for anomalies", "torch.autograd.set_detect_anomaly(True)")
_torch(
    "inference-mode",
    "inference_mode is entered and never left",
    "mode = torch.inference_mode()\nmode.__enter__()",
)
_torch("no-grad", "gradients are off from here on", "torch.set_grad_enabled(False)")
_torch("no-grad-entered", "no_grad is entered and never left", "torch.no_grad().__enter__()")
_torch(
    "deterministic",
    "only deterministic algorithms are allowed",
    "torch.use_deterministic_algorithms(True)",
)
_torch(
    "autocast",
    "autocast is entered and never left",
    "torch.autocast('cpu', dtype=torch.bfloat16).__enter__()",
    maybe=("additive_score", "context_vector", *CLASSES),
)
_torch(
    "flush-denormal",
    "tiny numbers are flushed, precision is low",
    "torch.set_flush_denormal(True)\ntorch.set_float32_matmul_precision('medium')",
)
_torch(
    "print-options",
    "torch prints other digits",
    "torch.set_printoptions(precision=1, sci_mode=True, threshold=2)",
)
_torch(
    "default-tensor-type",
    "the old way to set the type",
    "torch.set_default_tensor_type(torch.DoubleTensor)",
)
_torch(
    "warnings-as-errors", "warnings are errors", "import warnings\nwarnings.simplefilter('error')"
)
_torch(
    "numpy-errors",
    "numpy raises",
    "import numpy as np\nnp.seterr(all='raise')\nnp.set_printoptions(precision=1)",
)
_torch(
    "torch-backends",
    "back ends are switched off",
    "torch.backends.mkldnn.enabled = False\ntorch.backends.cudnn.enabled = False",
)

# Python's own

_own("stdout-closed", "stdout is closed", "import sys\nsys.stdout.close()\nsys.stderr.close()")
_own("stdout-none", "stdout is None", "import sys\nsys.stdout = None\nsys.stderr = None")
_own("stdout-to-a-file", "stdout is a file", "import sys\nsys.stdout = open('log.txt', 'w')")
_own(
    "stdout-of-ones-own",
    "stdout is an object that writes nothing",
    "import sys\nclass Quiet:\n    pass\nsys.stdout = sys.stderr = Quiet()",
)
_own(
    "descriptors-closed",
    "the file descriptors 0, 1 and 2 are closed",
    "import os\nfor number in (0, 1, 2):\n    os.close(number)",
)
_own(
    "all-descriptors-closed", "all file descriptors are closed", "import os\nos.closerange(0, 256)"
)
_own("chdir", "the working folder is another one", "import os\nos.chdir('/')")
_own(
    "folder-deleted",
    "the working folder is deleted",
    "import os, shutil\nhere = os.getcwd()\nos.chdir('/')\nshutil.rmtree(here, ignore_errors=True)",
)
_own(
    "files-deleted",
    "all files of the working folder are deleted",
    "import glob, os, shutil\nfor p in glob.glob('*'):\n"
    "    shutil.rmtree(p) if os.path.isdir(p) else os.remove(p)",
)
_own("rm", "!rm of everything", "!rm -rf * ..")
_own("environment-cleared", "the environment is empty", "import os\nos.environ.clear()")
_own(
    "locale",
    "another locale and time zone",
    "import locale, os, time\nos.environ['TZ'] = 'Asia/Seoul'\ntime.tzset()\n"
    "for name in ('ko_KR.UTF-8', 'de_DE.UTF-8', 'C'):\n    try:\n"
    "        locale.setlocale(locale.LC_ALL, name)\n    except locale.Error:\n"
    "        pass",
)
_own(
    "recursion-limit-small",
    "the recursion limit is small",
    "import sys\nsys.setrecursionlimit(120)",
    maybe=SCORES,
    why="torch itself needs more than so few frames",
    review_if_lost=False,
    says="recursion|RecursionError|limit",
)
_own(
    "recursion-limit-large",
    "the recursion limit is huge",
    "import sys\nsys.setrecursionlimit(10**8)",
)
_own("path-cleared", "sys.path is empty", "import sys\nsys.path.clear()")
_own(
    "modules-cleared",
    "sys.modules is empty",
    "import sys\nsys.modules.clear()",
    maybe=SCORES,
    why="hardly anything of Python works any more",
    review_if_lost=False,
    says="ended|Error|stopped|modules|raised|not found",
)
_own("gc-off", "the garbage collector is off", "import gc\ngc.disable()\ngc.collect()")
_own(
    "gc-debug",
    "the garbage collector talks",
    "import gc\ngc.set_debug(gc.DEBUG_STATS)\ngc.collect()",
)
_own(
    "trace",
    "a trace function is set",
    "import sys\nsys.settrace(lambda *given: None)\nsys.setprofile(lambda *given: None)",
)
_own(
    "excepthook",
    "the hook for errors is another one",
    "import sys\nsys.excepthook = lambda *given: 1 / 0",
)
_own(
    "displayhook",
    "the hook for values is another one",
    "import sys\nsys.displayhook = lambda value: 1 / 0",
)
_own(
    "logging",
    "everything is logged",
    "import logging\nlogging.basicConfig(level=1)\nlogging.debug('x' * 10_000)",
)
_own(
    "faulthandler",
    "the fault handler is on",
    "import faulthandler\nfaulthandler.enable()\nfaulthandler.dump_traceback_later(1)",
)
_own(
    "limits",
    "the process limits itself",
    "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))",
    maybe=SCORES,
    why="hardly any file can be opened any more",
    review_if_lost=False,
    says="file|Error|stopped|ended",
)
_own(
    "umask",
    "files are made that nobody may read",
    "import os\nos.umask(0o777)\nopen('x', 'w').close()\nos.mkdir('y')",
)
_own(
    "signals",
    "signals are handled by the student's code",
    "import signal\nfor s in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):\n"
    "    signal.signal(s, lambda *given: None)",
)
_own(
    "hash-of-ipython",
    "IPython is changed",
    "ip = get_ipython()\nip.ast_node_interactivity = 'all'\n"
    "ip.run_line_magic('xmode', 'Verbose')\nip.showtraceback = None",
)
_own(
    "cell-transformer",
    "a transformer changes all cells to come",
    "get_ipython().input_transformers_cleanup.append(lambda lines: lines)",
)
_own(
    "events",
    "a hook runs after every cell and raises",
    "get_ipython().events.register('post_run_cell', lambda *given: 1 / 0)",
)
_own(
    "async-debug",
    "a loop of events is set",
    "import asyncio\nasyncio.set_event_loop(asyncio.new_event_loop())",
)
_own(
    "future-annotations",
    "annotations are not evaluated any more",
    "from __future__ import annotations",
)

# Names

_own("check-overwritten", "check = 5", "check = 5")
_own(
    "names-of-builtins",
    "names of builtins are taken",
    "list = [1, 2]\nstr = 'text'\nsum = 0\nmax = 3\nid = 7\ntype = 'x'\ninput = 'y'\nprint = None",
)
_own("len-overwritten", "len = 3", "len = 3")
_own(
    "names-of-modules",
    "names of modules are taken",
    "import numpy as os\nsys = 5\njson = None\nmath = 2",
)
_own(
    "name-of-the-notebook",
    "__name__ and __file__ are changed",
    "__name__ = 'scores'\n__file__ = '/home/me/scores.py'",
)
_own(
    "star-imports",
    "everything is imported from everywhere",
    "from numpy import *\nfrom math import *\nfrom torch import *\nimport torch",
)
_own(
    "names-of-dunder",
    "In, Out, _, exit and get_ipython are taken",
    "In = Out = _ = __ = 5\nexit = quit = 3\nget_ipython = None",
)
BANK.own_cell(
    "torch-none-at-the-end", "torch = None below all exercises", "torch = None\nTensor = nn = 0"
)
BANK.own_cell("torch-deleted-at-the-end", "del torch below all exercises", "del torch, nn, Tensor")
BANK.own_cell(
    "answers-deleted-at-the-end",
    "the answers are deleted below all exercises",
    "del masked_softmax, additive_score, context_vector, AdditiveAttention",
)
BANK.own_cell(
    "answers-overwritten-at-the-end",
    "results get the names of the answers below all exercises",
    "one = torch.ones\n"
    "additive_score = additive_score(one(1, 2), one(1, 3, 2), one(4, 2), one(4, 2), one(4))\n"
    "masked_softmax = masked_softmax(additive_score, additive_score > 0)\n"
    "AdditiveAttention = AdditiveAttention(2, 2, 2)",
)
BANK.own_cell(
    "wrong-draft-at-the-end",
    "an old, wrong version stands below all exercises",
    "def additive_score(query, keys, W, U, v):\n    return keys @ W.T @ v\n",
)
BANK.own_cell(
    "torch-deleted",
    "del torch between the answers and their checks",
    "del torch",
    before="test-additive_score",
    maybe=SCORES,
    why=ORDER,
    review_if_lost=False,
    says=NAMES,
)
BANK.own_cell(
    "answer-overwritten-by-its-result",
    "a result gets the name of the answer, above the check",
    "context_vector = context_vector(torch.ones(1, 3) / 3, torch.ones(1, 3, 2))",
    before="test-context_vector",
    maybe=["context_vector", "AdditiveAttention"],
    why=ORDER,
    review_if_lost=False,
    says=NAMES,
)
BANK.own_cell(
    "nn-overwritten",
    "nn = 3 above a class",
    "nn = 3",
    before="AdditiveAttention",
    maybe=["AdditiveAttention"],
    why=ORDER,
    review_if_lost=False,
    says=NAMES,
)
BANK.own_cell(
    "tensor-overwritten",
    "Tensor is a number above an answer that names it",
    "Tensor = 3.0",
    before="additive_score",
    maybe=["additive_score"],
    why="an annotation may be anything, but `Tensor | None` may not",
    review_if_lost=False,
    says=NAMES,
    partly=["AdditiveAttention"],
)


@BANK()
def experiments_that_fail(hand: Handed) -> None:
    """Own cells between the exercises raise errors of all kinds."""
    for name in SCORES:
        hand.add("1 / 0", before=name)
        hand.add("undefined_name", after=name)
        hand.add(f"{name}(1, 2, 3, 4, 5, 6, 7)", after=name)
        hand.add("def broken(:\n    pass", before=name)
        hand.add(
            "class Odd(Exception):\n    def __str__(self):\n        raise ValueError\nraise Odd",
            after=name,
        )
        hand.add("raise ExceptionGroup('many', [ValueError(1), TypeError(2)])", after=name)
        hand.add("raise GeneratorExit", after=name)


@BANK()
def experiments_that_change_torch_for_a_moment(hand: Handed) -> None:
    """An own cell patches torch for a comparison and puts it back."""
    hand.add(
        "kept = torch.softmax\ntorch.softmax = lambda *given, **more: kept(*given, **more)\n"
        "print(torch.softmax(torch.ones(2), 0))\ntorch.softmax = kept",
        after="setup",
    )


@BANK(maybe=["context_vector", "AdditiveAttention"], why=ORDER, says=NAMES, review_if_lost=False)
def state_from_another_run(hand: Handed) -> None:
    """An answer needs a name that only a cell below it binds."""
    hand.write(
        context_vector=reference("context_vector").replace(
            "values)", "values.to(DTYPE_OF(values)))"
        )
    )
    hand.add("def DTYPE_OF(t):\n    return t.dtype")


# Packages

BANK.own_cell(
    "package-missing",
    "an own cell needs a package that is not there",
    "import einops\nimport seaborn as sns\nfrom sklearn import metrics",
    after="setup",
)
BANK.own_cell(
    "network",
    "an own cell downloads something",
    "import urllib.request\nurllib.request.urlopen('https://example.com', timeout=5).read()",
    after="setup",
)
BANK.own_cell(
    "data-sets",
    "an own cell loads the course's data",
    "from coursekit.data.lesson_data import translation_data\ndata = translation_data('quick')\n"
    "print(len(data.train))",
    after="setup",
)
BANK.own_cell(
    "pickle",
    "an own cell saves and loads tensors",
    "torch.save(torch.ones(3), 'x.pt')\nprint(torch.load('x.pt'))",
    after="setup",
)
BANK.own_cell(
    "home",
    "an own cell reads and writes in the home folder",
    "from pathlib import Path\nprint(list(Path.home().iterdir()))\n"
    "(Path.home() / 'x.txt').write_text('x')",
    after="setup",
)
BANK.own_cell(
    "subclass",
    "an own cell defines a subclass of Tensor",
    "class Named(torch.Tensor):\n    pass\nNamed(torch.ones(2)) + 1",
    after="setup",
)
BANK.own_cell(
    "compile",
    "an own cell compiles a function",
    "@torch.compile\ndef twice(x):\n    return 2 * x\ntwice(torch.ones(3))",
    after="setup",
)
BANK.own_cell(
    "check-in-an-own-cell",
    "an own cell calls the checks again, with answers and without",
    "from autograder import check\ncheck(torch.ones)\ncheck(3)",
)
