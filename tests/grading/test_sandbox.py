"""Tests of each restriction of the sandbox, with code that violates it."""

from __future__ import annotations

import ctypes
import os
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

import autograder
import solutions
from autograder.exercises import EXERCISES
from autograder.instructor.grading.notebook_run import TimeLimits, clean_outputs
from autograder.instructor.grading.sandbox_launcher import Sandbox, SubmissionRejectedError
from autograder.sandbox.framing import HEADER_AT_MOST
from autograder.sandbox.isolation import Limits
from autograder.sandbox.seccomp_filter import REFUSED
from tests.conftest import needs_bubblewrap

LIMITS = Limits(memory=512 << 20, scratch=32 << 20, file_size=16 << 20)
TIMES = TimeLimits(cell=20, exercise=20, total=60)
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJg"
    "gg=="
)


@pytest.fixture(scope="module")
def sandbox():
    cases = {"context_vector": EXERCISES["context_vector"].draw("walls")}
    with Sandbox(False, "autograder.exercises", (), cases, LIMITS, TIMES) as made:
        yield made


def shown(sandbox: Sandbox, code: str, files: dict[str, bytes] | None = None) -> str:
    """Return a cell's output: its text and its error."""
    run = sandbox.run([{"index": 0, "source": code}], files)
    assert run.end.at is None, run.end
    parts = []
    for output in run.outputs[0]:
        if output["output_type"] == "error":
            parts.append(f"{output['ename']}: {output['evalue']}")
        else:
            parts.append(output.get("text") or output["data"]["text/plain"])
    return "".join(parts)


def number_of(name: str) -> int:
    """Return the number of a system call on this machine."""
    return int(ctypes.CDLL("libseccomp.so.2").seccomp_syscall_resolve_name(name.encode()))


DANGEROUS = str.split("""
fork vfork execve execveat clone3 ptrace process_vm_readv process_vm_writev process_madvise
pidfd_open pidfd_getfd kcmp mount umount2 pivot_root chroot move_mount open_tree fsopen fsconfig
fsmount mount_setattr unshare setns socket connect bind listen accept4 bpf perf_event_open
userfaultfd memfd_create memfd_secret io_uring_setup io_uring_enter io_uring_register add_key
request_key keyctl init_module finit_module delete_module kexec_load reboot swapon swapoff
inotify_init1 fanotify_init shmget semget msgget mq_open seccomp personality syslog acct quotactl
open_by_handle_at name_to_handle_at setuid setgid setgroups capset sethostname settimeofday
clock_settime adjtimex landlock_create_ruleset mknodat pkey_mprotect vhangup lookup_dcookie
""")
LIBRARIES = {
    "matplotlib": "import matplotlib.pyplot as p\np.plot([1, 2])\np.savefig('a.png')",
    "training": "import torch\nlayer = torch.nn.TransformerEncoderLayer(8, 2)\n"
    "adam = torch.optim.Adam(layer.parameters())\nlayer(torch.ones(3, 2, 8)).sum().backward()\n"
    "adam.step()",
    "many threads": "import torch\ntorch.set_num_threads(4)\n"
    "(torch.ones(999, 999) @ torch.ones(999)).sum()",
    "saving": "import torch\ntorch.save(torch.ones(3), 'x.pt')\ntorch.load('x.pt', mmap=True)",
    "loading": "from torch.utils.data import DataLoader\nlist(DataLoader(range(9), batch_size=2))",
    "asyncio": "import asyncio, threading\nmain = asyncio.sleep(0.01)\n"
    "t = threading.Thread(target=asyncio.run, args=(main,))\nt.start()\nt.join()",
    "executor": "from concurrent.futures import ThreadPoolExecutor\n"
    "list(ThreadPoolExecutor(4).map(abs, range(9)))",
    "files": "import os, shutil, tempfile\nf = tempfile.mkdtemp()\nopen(f + '/x', 'w').write('x')\n"
    "shutil.make_archive('a', 'gztar', f)\nshutil.copytree(f, 'b')\nshutil.rmtree('b')",
    "sqlite": "import sqlite3\nsqlite3.connect('x.db').execute('create table a(b)')",
    "alarm": "import signal, time\nsignal.signal(signal.SIGALRM, lambda *given: None)\n"
    "signal.setitimer(signal.ITIMER_REAL, 0.01)\ntime.sleep(0.05)",
    "locks": "import multiprocessing as m\nm.Lock(), m.Queue()",
}

needs_fork = pytest.mark.skipif(
    not hasattr(os, "fork"), reason="Windows cannot run submissions, and says so"
)


@needs_bubblewrap
class TestWalls:
    def test_what_runs_is_an_ordinary_cell(self, sandbox):
        assert shown(sandbox, "import torch\ntorch.ones(2).sum().item()") == "2.0"

    def test_no_network(self, sandbox):
        server = socket.create_server(("127.0.0.1", 0))
        with server:
            port = server.getsockname()[1]
            code = f"import socket; socket.create_connection(('127.0.0.1', {port}), 3)"
            assert "PermissionError" in shown(sandbox, code)
            server.settimeout(0.2)
            with pytest.raises(TimeoutError):
                server.accept()

    def test_no_network_interface_either(self, sandbox):
        found = shown(sandbox, "import socket; print(socket.if_nameindex())")
        assert "PermissionError" in found or ("'lo'" in found and "eth" not in found)

    @pytest.mark.parametrize(
        "path",
        [
            Path(solutions.__path__[0]),
            Path(autograder.__file__).parent / "instructor" / "hidden_tests.py",
            Path(autograder.__file__).parents[1] / "nbgrader_config.py",
            Path.home(),
            Path("/etc/passwd"),
            Path("/var"),
            Path("/root"),
        ],
        ids=["solutions", "instructor", "course", "home", "passwd", "var", "root"],
    )
    def test_no_view_of(self, sandbox, path):
        code = f"import os; print(os.path.exists({str(path)!r}), os.listdir({str(path.parent)!r}))"
        found = shown(sandbox, code)
        assert found.startswith("False") or "FileNotFoundError" in found
        assert "True" not in found

    def test_no_installed_file_says_where_the_course_lies(self, sandbox):
        code = (
            "import os\n"
            "for folder, _, names in os.walk('/packages'):\n"
            "    if folder.count('/') < 3:\n"
            "        for name in names:\n"
            "            if '__editable__' in name or name == 'direct_url.json':\n"
            "                try: open(os.path.join(folder, name), 'rb').read()\n"
            "                except PermissionError: continue\n"
            "                print(folder, name)"
        )
        assert shown(sandbox, code) == ""

    @pytest.mark.parametrize(
        "name", ["solutions.bahdanau.scores", "autograder.instructor.authoring.reference_solution"]
    )
    def test_nothing_that_knows_an_answer_can_be_imported(self, sandbox, name):
        assert "ModuleNotFoundError" in shown(sandbox, f"import {name}")

    def test_no_answer_lies_anywhere_in_sight(self, sandbox):
        code = """
        import os
        for folder, _, names in os.walk("/course"):
            for name in names:
                text = open(os.path.join(folder, name), "rb").read()
                if b"BEGIN SOL" + b"UTION" in text or b"def load_mistakes(" in text:
                    print(folder, name)
        """
        assert shown(sandbox, "if True:\n" + code) == ""

    @pytest.mark.parametrize(
        "folder", ["/", "/course", "/course/autograder", "/packages", "/usr", "/dev", "/etc"]
    )
    def test_nothing_can_be_written_but_in_the_working_folder(self, sandbox, folder):
        found = shown(sandbox, f"open({folder + '/mine'!r}, 'w')")
        assert "Read-only file system" in found or "Permission denied" in found

    @pytest.mark.parametrize("path", ["/tmp/mine", "/dev/shm/mine", "mine", "/tmp/work/mine"])
    def test_nothing_is_left_for_the_next_one(self, sandbox, path):
        assert shown(sandbox, f"open({path!r}, 'w').write('secret'); None") == ""
        assert "FileNotFoundError" in shown(sandbox, f"open({path!r})")

    def test_no_terminal_is_shared(self, sandbox):
        assert "Error" in shown(sandbox, "import os; os.openpty()")
        assert "FileNotFoundError" in shown(sandbox, "open('/dev/ptmx')")

    def test_what_was_handed_in_beside_the_notebook_is_there(self, sandbox):
        files = {"data.txt": b"mine", "helper.py": b"answer = 42\n"}
        assert shown(sandbox, "open('data.txt').read()", files) == "'mine'"
        assert shown(sandbox, "import helper; helper.answer", files) == "42"
        assert shown(sandbox, "import os; os.listdir()") == "[]"

    def test_a_files_name_is_no_more_than_a_name(self, sandbox):
        names = ("__metadata__", "0", "1", "과제.txt", "a" * 300)
        files = {name: name.encode() for name in names} | {"empty": b""}
        code = "import os; sorted((n[:9], open(n).read()[:9]) for n in os.listdir())"
        wanted = [*((name[:9], name[:9]) for name in names), ("empty", "")]
        assert eval(shown(sandbox, code, files)) == sorted(wanted)

    @pytest.mark.slow
    def test_what_it_does_not_take_is_one_students_trouble(self, sandbox):
        with pytest.raises(SubmissionRejectedError, match="runs other notebooks"):
            sandbox.run([{"index": 0, "source": "\x01" * (HEADER_AT_MOST // 6)}])
        assert shown(sandbox, "1 + 1") == "2"

    @pytest.mark.parametrize(
        "code",
        [
            "import os; os.fork()",
            "import subprocess; subprocess.run(['true'])",
            "import os; os.execv('/usr/bin/true', ['true'])",
            "import os; os.posix_spawn('/usr/bin/true', ['true'], {})",
            "import multiprocessing as m; m.get_context('fork').Process(target=print).start()",
        ],
    )
    def test_no_process_can_be_started(self, sandbox, code):
        found = shown(sandbox, code)
        assert "PermissionError" in found

    def test_no_program_runs_by_way_of_the_notebook(self, sandbox):
        assert "not run while" in shown(sandbox, "!touch here")
        assert "not run while" in shown(sandbox, "%%bash\ntouch here")
        assert shown(sandbox, "import os; os.system('touch here')") != "0"
        assert shown(sandbox, "import os; os.listdir()") == "[]"

    def test_other_processes_are_out_of_sight_and_reach(self, sandbox):
        victim = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        try:
            shown(sandbox, f"import os; os.kill({victim.pid}, 9)")
            shown(
                sandbox,
                "import os\n"
                "for p in range(1, 99999):\n"
                "  try: os.kill(p, 9)\n"
                "  except OSError: pass",
            )
            found = shown(sandbox, "import os; [p for p in os.listdir('/proc') if p.isdigit()]")
            assert found in ("[]", "['1']")
            assert victim.poll() is None
        finally:
            victim.kill()
            victim.wait()
        assert shown(sandbox, "1") == "1"

    @pytest.mark.parametrize(
        "code",
        [
            "bytearray(10**11)",
            "import torch\ntorch.ones(10**11)",
            "def eat(kept):\n    while True: kept.append(bytearray(10_000_000))\n"
            "try:\n    eat([])\nexcept MemoryError:\n    print('MemoryError')",
        ],
    )
    def test_memory_is_limited(self, sandbox, code):
        found = shown(sandbox, code)
        assert "MemoryError" in found or "can't allocate memory" in found

    @pytest.mark.parametrize(
        "code",
        [
            "kept = []\nwhile True: kept.append(bytearray(10_000_000))",
            "import torch\nkept = []\nwhile True: kept.append(torch.ones(1_000_000))",
        ],
    )
    def test_cell_that_keeps_all_memory_is_where_it_ends(self, sandbox, code):
        cells = [{"index": 0, "source": "1"}, {"index": 1, "source": code}]
        run = sandbox.run([*cells, {"index": 2, "source": "2"}])
        assert (run.end.at, run.end.why) == (1, "memory")
        assert 2 not in run.outputs

    def test_files_are_limited(self, sandbox):
        assert "File too large" in shown(sandbox, "open('x', 'wb').write(bytes(20_000_000))")
        many = "for n in range(9): open(str(n), 'wb').write(bytes(8_000_000))"
        assert "No space left" in shown(sandbox, many)
        handles = "kept = [open('x', 'w') for _ in range(1000)]"
        assert "Too many open files" in shown(sandbox, handles)

    def test_threads_are_limited(self, sandbox):
        code = (
            "import threading, time\n"
            "for _ in range(5000): threading.Thread(target=time.sleep, args=(99,)).start()"
        )
        run = sandbox.run([{"index": 0, "source": code}])
        # Threads take address space: if their number is unlimited (for root), memory is the limit.
        assert run.end.why == "memory" or "can't start new thread" in str(run.outputs)

    def test_output_is_limited_and_costs_nothing(self, sandbox):
        found = shown(sandbox, "for _ in range(300): print('x' * 1_000_000)\nprint('end')")
        assert len(found) < 25_000
        assert "the rest is not shown" in found

    @pytest.mark.parametrize(
        "loop",
        [
            "while True: pass",
            "while True:\n  try:\n    while True: pass\n  except BaseException: pass",
            "import signal, time\n"
            "for n in range(1, 65):\n"
            "  try: signal.signal(n, lambda *a: None)\n"
            "  except (OSError, ValueError): pass\n"
            "while True: time.sleep(1)",
            "import re\nre.match(r'(a+)+$', 'a' * 64 + 'b')",
        ],
        ids=["plain", "catches everything", "ignores signals", "in C"],
    )
    def test_time_is_limited(self, sandbox, loop):
        usual = sandbox.times
        sandbox.times = replace(usual, cell=1.5)
        try:
            started = time.monotonic()
            run = sandbox.run([{"index": 7, "source": loop}])
            assert (run.end.at, run.end.why) == (7, "time")
            assert time.monotonic() - started < 15
        finally:
            sandbox.times = usual
        assert shown(sandbox, "1") == "1"

    def test_total_time_is_limited(self, sandbox):
        usual = sandbox.times
        sandbox.times = replace(usual, total=3.0)
        try:
            cells = [{"index": n, "source": "import time; time.sleep(1)"} for n in range(9)]
            run = sandbox.run(cells)
            assert run.end.why == "time"
            assert 1 <= len(run.outputs) <= 3
        finally:
            sandbox.times = usual

    @pytest.mark.parametrize(
        ("code", "why"),
        [
            ("import os; os._exit(0)", "exit"),
            ("import ctypes; ctypes.string_at(0)", "killed"),
            ("import os; os.abort()", "killed"),
        ],
    )
    def test_the_end_of_the_process_is_seen(self, sandbox, code, why):
        cells = [{"index": 0, "source": "1"}, {"index": 1, "source": code}]
        run = sandbox.run(cells)
        assert (run.end.at, run.end.why) == (1, why)
        assert 0 in run.outputs

    def test_system_calls_that_nobody_needs_are_refused(self, sandbox):
        """Each is called by its number; Linux itself would know it, so that the filter spoke."""
        numbers = {name: number_of(name) for name in DANGEROUS}
        assert -1 not in numbers.values()
        code = (
            "import ctypes, errno\n"
            "libc = ctypes.CDLL(None, use_errno=True)\n"
            f"for name, number in {numbers}.items():\n"
            "    ctypes.set_errno(0)\n"
            "    code = libc.syscall(number, 0, 0, 0, 0, 0, 0)\n"
            "    print(name, code, errno.errorcode.get(ctypes.get_errno()))"
        )
        refused = {name: "EPERM" if name in REFUSED else "ENOSYS" for name in DANGEROUS}
        assert shown(sandbox, code).split("\n")[:-1] == [
            f"{name} -1 {error}" for name, error in refused.items()
        ]

    def test_a_thread_may_be_started_but_no_namespace_with_it(self, sandbox):
        thread, child, user = 0x10000, 17, 0x10000000
        code = (
            "import ctypes, errno\n"
            "libc = ctypes.CDLL(None, use_errno=True)\n"
            f"for flags in {[child, user | child, user | thread, thread]}:\n"
            f"    libc.syscall({number_of('clone')}, flags, 0, 0, 0, 0)\n"
            "    print(errno.errorcode[ctypes.get_errno()])"
        )
        # The last error comes from Linux itself: a thread must share memory and signals.
        assert shown(sandbox, code).split() == ["EPERM", "EPERM", "ENOSYS", "EINVAL"]

    @pytest.mark.parametrize("code", LIBRARIES.values(), ids=LIBRARIES)
    def test_what_libraries_need_is_allowed(self, sandbox, code):
        assert shown(sandbox, f"{code}\nprint('done')").endswith("done\n")

    def test_the_environment_says_nothing_of_the_machine(self, sandbox, monkeypatch):
        found = shown(sandbox, "import os, sys; print(dict(os.environ), sys.path, sys.prefix)")
        for secret in (str(Path.home()), str(Path(autograder.__file__).parents[1]), sys.prefix):
            assert f"{secret}/" not in found

    def test_an_error_shows_no_path_of_the_machine(self, sandbox):
        run = sandbox.run([{"index": 0, "source": "import torch; torch.ones(2) @ torch.ones(3)"}])
        text = str(run.outputs)
        assert "RuntimeError" in text
        assert str(Path(autograder.__file__).parents[1]) not in text

    def test_submissions_do_not_see_each_other(self, sandbox):
        from concurrent.futures import ThreadPoolExecutor

        code = (
            "import os, time\n"
            "open('/tmp/mine', 'w').write('x')\n"
            "time.sleep(1)\n"
            "print(sorted(os.listdir('/tmp')), len(os.listdir('/dev/shm')))"
        )
        with ThreadPoolExecutor(2) as both:
            found = list(both.map(lambda _: shown(sandbox, code), range(2)))
        assert found == ["['mine', 'work'] 0\n"] * 2

    def test_nothing_is_left_running(self):
        with Sandbox(limits=LIMITS, times=TIMES) as made:
            code = (
                "import threading, time\n"
                "def go():\n  while True: time.sleep(0.1)\n"
                "threading.Thread(target=go).start()"
            )
            run = made.run([{"index": 0, "source": code}])
            assert run.end.why == ""
            process = made._process
            assert process is not None
            family = descendants(process.pid)
            assert len(family) >= 1
        assert process.poll() is not None
        until = time.monotonic() + 10
        while any(alive(member) for member in family) and time.monotonic() < until:
            time.sleep(0.1)
        assert [member for member in family if alive(member)] == []

    def test_it_works_without_walls_of_its_own_for_each(self, monkeypatch):
        """Where submissions cannot have namespaces, each gets a new sandbox."""
        with Sandbox(limits=LIMITS, times=TIMES) as made:
            made.prepare()
            made._single_use = True
            for _ in range(2):
                assert shown(made, "open('/tmp/x', 'x'); 1") != ""
                made._single_use = True


def status(process: int) -> tuple[str, int]:
    """Return a process's state and its parent."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return "X", 0
    return fields[0], int(fields[1])


def alive(process: int) -> bool:
    return status(process)[0] not in "XZ"


def descendants(process: int) -> list[int]:
    """Return the current descendants of a process."""
    everybody = [int(p.name) for p in Path("/proc").iterdir() if p.name.isdigit()]
    found = [process]
    for member in found:
        found += [p for p in everybody if status(p)[1] == member]
    return found[1:]


# Frames


@needs_bubblewrap
@pytest.mark.parametrize(
    "junk",
    [b"\x00" * 64, b"\xff" * 64, b"\x00\x00\x00\x02\x00\x00\x00\x00[]", b"{}"],
    ids=["zeros", "huge", "no object", "short"],
)
def test_what_is_written_to_every_open_file_harms_nobody(sandbox, junk):
    code = (
        "import os\nfor n in range(3, 256):\n  try: os.write(n, {junk!r})\n  except OSError: pass\n"
    ).replace("{junk!r}", repr(junk))
    run = sandbox.run([{"index": 0, "source": code}, {"index": 1, "source": "1"}])
    assert run.end.why in ("broken", "time", "exit", "")
    assert shown(sandbox, "2") == "2"


def test_outputs_are_rebuilt_from_plain_parts():
    evil = 'x"><script>alert(1)</script>'
    given = [
        {"output_type": "display_data", "data": {"text/html": evil, "image/png": evil}},
        {"output_type": "display_data", "data": {"image/png": f"{PNG[:40]}\n{PNG[40:]}\n"}},
        {"output_type": "stream", "name": ["stdout"], "text": {"a": 1}},
        {"output_type": "error", "ename": 3, "evalue": None, "traceback": "no list"},
        {"output_type": "unknown"},
        "no output at all",
    ]
    found = clean_outputs(given)
    assert "script" not in str(found)
    assert found[0]["data"] == {"text/plain": ""}
    assert found[0]["data"].keys() == {"text/plain"}
    assert found[1]["data"]["image/png"] == PNG
    assert found[2] == {"output_type": "stream", "name": "stdout", "text": ""}
    assert len(found) == 4
    assert clean_outputs({"no": "list"}) == []
    half = clean_outputs([{"output_type": "stream", "name": "stdout", "text": "a\ud800b"}])
    assert half[0]["text"] == "a\\ud800b"
