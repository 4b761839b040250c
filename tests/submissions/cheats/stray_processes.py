"""Cheats with other processes: leftovers, signals, programs that the system starts later."""

from __future__ import annotations

from tests.submissions.cheats.cheat_builders import WRONG, in_code


def _one(slug: str, title: str, code: str, **more):
    guarded = "try:\n" + "\n".join("    " + line for line in code.strip().splitlines())
    guarded += "\nexcept Exception as error:\n    print(repr(error))\n"
    return in_code("stray_processes", slug, title, SETUP + guarded, **more)


SETUP = """
import os, signal, subprocess, sys, time
"""

CHEATS = [
    _one(
        "kill-parent",
        "the process that grades is killed",
        """
os.kill(os.getppid(), signal.SIGKILL)
""",
    ),
    _one(
        "kill-everything",
        "all processes are killed, however often they come back",
        """
for _ in range(3):
    for number in (signal.SIGTERM, signal.SIGKILL):
        os.kill(-1, number)
""",
        own_risk=True,
    ),
    _one(
        "stop-parent",
        "the process that grades is stopped",
        """
os.kill(os.getppid(), signal.SIGSTOP)
""",
    ),
    _one(
        "kill-by-list",
        "everything in /proc that is a Python is killed",
        """
for pid in sorted((int(p) for p in os.listdir("/proc") if p.isdigit()), reverse=True):
    try:
        with open(f"/proc/{pid}/cmdline") as file:
            if pid != os.getpid() and "python" in file.read():
                os.kill(pid, signal.SIGKILL)
    except OSError as error:
        print(error)
""",
    ),
    _one(
        "kill-group",
        "the process group and the session are killed",
        """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.killpg(os.getpgid(os.getppid()), signal.SIGTERM)
os.kill(0, signal.SIGTERM)
""",
    ),
    _one(
        "stays-behind",
        "a daemon that has left its session stays",
        """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execvp("sh", ["sh", "-c", "trap '' TERM HUP INT; sleep 120", "@MARK@"])
    os._exit(0)
""",
    ),
    _one(
        "started-by-the-system",
        "cron, at and systemd are asked to start something later",
        """
job = "touch /tmp/@MARK@-later"
for command in (
    ["systemd-run", "--user", "--on-active=1", "sh", "-c", job],
    ["systemd-run", "--on-active=1", "sh", "-c", job],
    ["sh", "-c", f"echo '{job}' | at now"],
    ["sh", "-c", f"(crontab -l; echo '* * * * * {job}') | crontab -"],
    ["sh", "-c", f"nohup sh -c 'sleep 1; {job}' @MARK@ &"],
):
    try:
        subprocess.run(command, timeout=5)
    except (OSError, subprocess.TimeoutExpired) as error:
        print(error)
""",
        lingers=3.0,
    ),
    _one(
        "limits-for-the-parent",
        "the process that grades may open no more files",
        """
import resource
for pid in (os.getppid(), 1):
    for what in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_CPU):
        try:
            resource.prlimit(pid, what, (1, 1))
        except OSError as error:
            print(error)
""",
        own_risk=True,  # an invisible parent has the id 0, which is oneself
    ),
    in_code(
        "stray_processes",
        "threads-left-behind",
        "threads that never end and change the judge for ever",
        """
import sys, threading

def work():
    while True:
        for name in ("autograder.diagnose.compare", "autograder.diagnose.verdict"):
            judge_of = sys.modules.get(name)
            if judge_of is not None:
                judge_of.are_close = judge_of.find_difference = lambda *given: None

for _ in range(4):
    threading.Thread(target=work).start()
""",
    ),
    in_code(
        "stray_processes",
        "two-processes",
        "fork: the child goes on as if it were the answer, the parent reports success",
        "import os",
        {
            "masked_softmax": WRONG["masked_softmax"].replace(
                "    return", "    if os.fork():\n        os._exit(0)\n    return"
            )
        },
        attacks=("masked_softmax",),
        own_risk=True,
    ),
]
