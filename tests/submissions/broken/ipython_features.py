"""Broken submissions with IPython features: magics, shell commands, input, display, widgets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.submissions.broken.broken_submission import Bank
from tests.submissions.student_notebooks import SCORES, Handed

BANK = Bank()
NOT_HERE = r"not (run|found|there)|magic|command|input|import|Error|file|module"


def _own(slug: str, title: str, source: str, **more: Any) -> None:
    BANK.own_cell(slug, title, source, after="setup", **more)


_own(
    "matplotlib-inline", "%matplotlib inline", "%matplotlib inline\nimport matplotlib.pyplot as plt"
)
_own("matplotlib-notebook", "%matplotlib widget, which is not installed", "%matplotlib widget")
_own("timeit", "%timeit", "%timeit -n 2 -r 2 torch.ones(3).sum()")
_own("timeit-cell", "%%timeit", "%%timeit -n 2 -r 2\ntorch.ones(3).sum()")
_own("time-line", "%time", "%time x = torch.ones(3).sum()")
_own("prun", "%prun and %%prun", "%prun -q torch.ones(3).sum()")
_own("bash", "%%bash", "%%bash\nls -l\nexit 3")
_own("script", "%%script, %%sh, %%writefile", "%%writefile notes.txt\nhello")
_own("pip", "!pip install", "!pip install einops")
_own("pip-magic", "%pip install", "%pip install -q einops seaborn")
_own("conda-magic", "%conda install", "%conda install einops")
_own("ls", "!ls and its result", "files = !ls\nprint(files)\n!ls -la")
_own("shell-endless", "a shell command that never ends", "!yes")
_own(
    "shell-with-variables",
    "a shell command with variables in it",
    'name = "x"\n!echo {name} $name $$HOME',
)
_own("cd", "%cd, %pwd, %env, %who", "%cd /\n%pwd\n%env LANG=ko_KR.UTF-8\n%who")
_own("run-missing", "%run of a file that is not there", "%run helper.py")
_own("run-scores", "%run of the other notebook", "%run translator.ipynb")
_own("load-ext-missing", "%load_ext of an extension that is not there", "%load_ext nb_black")
_own("load-ext-tensorboard", "%tensorboard", "%load_ext tensorboard\n%tensorboard --logdir runs")
_own("autoreload", "%autoreload", "%load_ext autoreload\n%autoreload 2")
_own("unknown-line-magic", "a line magic that nobody knows", "%frobnicate 3")
_own("unknown-cell-magic", "a cell magic that nobody knows", "%%frobnicate\nx = 1")
_own("javascript", "%%javascript and %%html", "%%javascript\nJupyter.notebook.clear_all_output()")
_own("latex", "%%latex", "%%latex\n$x$")
_own("capture", "%%capture", "%%capture captured\nprint('hidden')")
_own("config", "%config", "%config InlineBackend.figure_format = 'retina'")
_own("history", "%history, %recall, %edit, %save", "%history\n%recall 1\n%save x 1")
_own("debug", "%debug and %pdb", "%pdb on\n%debug")
_own("breakpoint", "breakpoint()", "breakpoint()\nprint('on')")
_own("pdb", "pdb.set_trace()", "import pdb\npdb.set_trace()\nprint('on')")
_own("help", "torch.softmax? and help()", "torch.softmax?\ntorch.softmax??\nhelp(torch.ones)")
BANK.own_cell("reset", "%reset below all exercises", "%reset -f")
BANK.own_cell(
    "reset-above",
    "%reset above all exercises, which forgets the imports",
    "%reset -f",
    after="setup-check",
    maybe=SCORES,
    why="the answers are right, but run from top to bottom they do not know torch",
    review_if_lost=False,
    says=r"NameError|not defined|torch|reset|Tensor|missing|no function",
)


@BANK()
def values_of_earlier_cells(hand: Handed) -> None:
    """Own cells use Out, In, _ and the number of a cell."""
    hand.add("3 + 4", after="setup")
    hand.add("print(_ + 1, len(In), Out)", before="masked_softmax")
    hand.add("Out[99]", before="masked_softmax")


def _around(
    slug: str,
    title: str,
    change: Callable[[str], str],
    exercise: str = "additive_score",
    **more: Any,
) -> None:
    BANK.answer(slug, title, exercise, change, **more)


_around("time-around-a-solution", "%%time stands above an answer", lambda r: "%%time\n" + r)
_around(
    "capture-around-a-solution", "%%capture stands above an answer", lambda r: "%%capture\n" + r
)
_around(
    "time-around-a-class",
    "%%time and an empty line stand above a class",
    lambda r: "\n%%time\n\n" + r,
    exercise="BidirectionalEncoder",
)
_around(
    "timeit-around-a-solution",
    "%%timeit stands above an answer, so that its name is never bound",
    lambda r: "%%timeit\n" + r,
    maybe=["additive_score"],
    why="the text is right, but in a notebook the name stays unknown",
    review_if_lost=False,
    says=r"NameError|not defined|missing|no function|not there|timeit|not found",
)
_around(
    "bash-around-a-solution",
    "%%bash stands above an answer",
    lambda r: "%%bash\n" + r,
    maybe=["additive_score"],
    why="the text is right, but in a notebook it is no Python",
    review_if_lost=False,
    says=r"NameError|not defined|missing|no function|not there|bash|not found",
)
_around(
    "magics-in-a-solution",
    "line magics, !ls and a question mark stand below an answer",
    lambda r: r + "\n\n%timeit -n 1 -r 1 torch.ones(1)\n!ls\nadditive_score?\n",
)
_around(
    "magic-in-the-body",
    "a line magic stands in the body of an answer",
    lambda r: r.replace("    projected_query", "    %time pass\n    projected_query", 1),
)
_around(
    "pip-in-the-body",
    "!pip stands in the body of an answer",
    lambda r: r.replace("    projected_query", "    !pip install einops\n    projected_query", 1),
    maybe=["additive_score"],
    why="what a shell command does in a function is for the notebook to say",
    review_if_lost=False,
    says=NOT_HERE,
)
_around(
    "unknown-magic-in-a-solution",
    "a magic that nobody knows stands above an answer in its cell",
    lambda r: "%load_ext nb_black\n" + r,
    maybe=["additive_score"],
    why="the cell ends in its first line, but the function below it is right",
    review_if_lost=False,
    says=NOT_HERE,
)
_around(
    "await-in-a-solution",
    "an answer's cell ends in a top-level await",
    lambda r: r + "\n\nimport asyncio\nawait asyncio.sleep(0)\n",
)
_around(
    "ipython-in-a-solution",
    "an answer asks for get_ipython()",
    lambda r: r.replace("    projected_query", "    get_ipython()\n    projected_query", 1),
)
_around(
    "display-in-an-answer",
    "an answer displays what it computes",
    lambda r: r.replace(
        "    return ", "    display(hidden)\n    display({'a': 1}, 'b')\n    return ", 1
    ),
)
_around(
    "plot-in-an-answer",
    "an answer draws a picture in each call",
    lambda r: (
        "import matplotlib.pyplot as plt\n\n\n"
        + r.replace(
            "    return ",
            "    plt.figure(figsize=(1, 1))\n    plt.plot([1, 2])\n    plt.show()\n"
            "    plt.close()\n    return ",
            1,
        )
    ),
)
_around(
    "input-in-an-answer",
    "an answer asks for input",
    lambda r: r.replace("    projected_query", "    input('go on? ')\n    projected_query", 1),
    lost=["additive_score"],
    says=r"input|EOF",
)
_around(
    "breakpoint-in-an-answer",
    "a breakpoint is left in an answer",
    lambda r: r.replace("    projected_query", "    breakpoint()\n    projected_query", 1),
    maybe=["additive_score"],
    why="the debugger may be left out, or end the answer",
    review_if_lost=False,
    says=r"input|Bdb|breakpoint|debug|EOF|time|stopped",
)
_around(
    "tqdm-in-an-answer",
    "an answer shows progress with a widget",
    lambda r: (
        "from tqdm.notebook import tqdm\n\n\n"
        + r.replace("    return ", "    for _ in tqdm(range(3)):\n        pass\n    return ", 1)
    ),
)
_around(
    "clear-output-in-an-answer",
    "an answer clears the cell's output",
    lambda r: (
        "from IPython.display import clear_output\n\n\n"
        + r.replace("    return ", "    clear_output(wait=True)\n    return ", 1)
    ),
)

# Input

_own("input", "input()", "name = input('your name: ')")
_own("getpass", "getpass()", "from getpass import getpass\ntoken = getpass('token: ')")
_own(
    "stdin",
    "reading from stdin",
    "import sys\nsys.stdin.readline()\nfor line in sys.stdin:\n    print(line)",
)
_own("stdin-descriptor", "reading from the file descriptor 0", "import os\nos.read(0, 10)")
_own("await", "a top-level await", "import asyncio\nawait asyncio.sleep(0.01)")
_own(
    "async-for",
    "a top-level async for",
    "async def g():\n    yield 1\nasync for x in g():\n    print(x)",
)
_own("asyncio-run", "asyncio.run in a cell", "import asyncio\nasyncio.run(asyncio.sleep(0))")

# Display

_own(
    "display",
    "display() of this and that",
    "display(torch.ones(2), 'x', {'a': 1})\nfrom IPython.display import *\n"
    "display(Markdown('# hi'), HTML('<b>x</b>'), Image(data=b'\\x89PNG'))",
)
_own(
    "display-broken",
    "an object whose representation raises",
    "class A:\n    def __repr__(self):\n        raise ValueError('no')\ndisplay(A())\nA()",
)
_own(
    "repr-html-broken",
    "an object whose HTML is not text",
    "class A:\n    def _repr_html_(self):\n        return 5\n    def _repr_png_(self):\n"
    "        return 'x'\nA()",
)
_own(
    "plot",
    "a plot",
    "import matplotlib.pyplot as plt\nplt.plot([1, 2, 3])\nplt.title('한글 제목')\nplt.show()",
)
_own(
    "plot-backend",
    "a plot on a screen that is not there",
    "import matplotlib\nmatplotlib.use('TkAgg')\nimport matplotlib.pyplot as plt\nplt.plot([1])",
)
_own(
    "many-plots",
    "a hundred open figures",
    "import matplotlib.pyplot as plt\nfor i in range(100):\n    plt.figure(figsize=(1, 1))",
)
_own(
    "tqdm",
    "progress bars",
    "from tqdm.auto import tqdm, trange\nfor _ in tqdm(range(1000)):\n    pass\n"
    "for _ in trange(3):\n    pass",
)
_own(
    "tqdm-notebook",
    "a progress bar that is a widget",
    "from tqdm.notebook import tqdm\nfor _ in tqdm(range(3)):\n    pass",
)
_own(
    "widgets",
    "a slider",
    "import ipywidgets as w\nw.interact(lambda x: print(x), x=(0, 10))\nw.IntSlider()",
)
_own(
    "clear-output",
    "clear_output in a loop",
    "from IPython.display import clear_output\nfor i in range(200):\n"
    "    clear_output(wait=True)\n    print(i)",
)
_own(
    "update-display",
    "a display that is updated",
    "h = display('a', display_id=True)\nh.update('b')",
)
_own(
    "course-plots",
    "the course's own plots",
    "from coursekit.plots import charts, style\nstyle.use()\n"
    "charts.alignment(torch.ones(2, 2) / 2, ['a', 'b'], ['c', 'd'])",
)


@BANK(
    maybe=["additive_score"],
    why="a file that the notebook writes itself is there when it is run",
    says=NOT_HERE,
)
def module_written_by_a_cell(hand: Handed) -> None:
    """An own cell writes a module by %%writefile, and the answer imports it."""
    hand.add(
        "%%writefile mytools.py\nimport torch\n\ndef plus(a, b):\n    return a.unsqueeze(1) + b",
        after="setup",
    )
    hand.write(
        additive_score="from mytools import plus\n\n\n"
        "def additive_score(query, keys, W, U, v):\n"
        "    return torch.tanh(plus(query @ W.T, keys @ U.T)) @ v\n"
    )


@BANK()
def colab(hand: Handed) -> None:
    """The notebook comes from Colab: it mounts a drive and installs things."""
    hand.add("from google.colab import drive\ndrive.mount('/content/drive')", before="setup")
    hand.add("!pip install -q git+https://github.com/someone/attention-course", before="setup")
    hand.add("%cd /content/drive/MyDrive/homework\nimport sys\nsys.path.append('.')", after="setup")
    hand.add("#@title Settings { run: 'auto' }\nrate = 0.1 #@param {type: 'number'}", after="setup")
    hand.pages["scores"].metadata["colab"] = {"provenance": [], "gpuType": "T4"}
    hand.pages["scores"].metadata["accelerator"] = "GPU"


@BANK()
def kaggle_paths(hand: Handed) -> None:
    """An own cell reads data that are only on Kaggle, and uses a GPU."""
    hand.add("import os\nfor d, _, f in os.walk('/kaggle/input'):\n    print(d, f)", after="setup")
    hand.add("device = torch.device('cuda')\ntorch.ones(3, device=device)", after="setup")
    hand.add("open('/kaggle/input/train.csv').read()", after="setup")


@BANK()
def cells_in_other_languages(hand: Handed) -> None:
    """Cells of other languages stand between the exercises."""
    hand.add("SELECT * FROM students;", before="masked_softmax")
    hand.add("x <- c(1, 2, 3)\nprint(x)\nif (TRUE) { y = 2 }", before="masked_softmax")
