"""Command-line interface of `autograder`, from the roster to the report."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a subcommand and return the exit status."""
    parser = argparse.ArgumentParser(prog="autograder", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    _roster(commands.add_parser("roster", help="import a list of students into the gradebook"))
    _collect(commands.add_parser("collect", help="take submissions from a platform's archives"))
    _due(commands.add_parser("due", help="set or show the due date of an assignment"))
    _extend(commands.add_parser("extend", help="give a student more time"))
    _grade(commands.add_parser("grade", help="grade the submissions of an assignment"))
    _show(commands.add_parser("show", help="print the recorded results of a student"))
    _feedback(commands.add_parser("feedback", help="write each student's pages, as nbgrader does"))
    _report(commands.add_parser("report", help="write the instructor's page about an assignment"))
    _bundle(commands.add_parser("bundle", help="write what students get, without any answer"))
    given = parser.parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal may be unable to encode a name
            stream.reconfigure(errors="backslashreplace")
    try:
        from autograder.instructor.grading.bwrap_command import SandboxError
        from autograder.instructor.grading.sandbox_launcher import Sandbox
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("autograder."):
            raise
        print("This is the students' copy; grading needs the whole course.", file=sys.stderr)
        return 2
    started = None
    if given.command == "grade" and not given.scheduler:
        # Starting the sandbox and importing nbgrader each take seconds, so overlap the two.
        with contextlib.suppress(SandboxError, OSError):  # reported once the settings are known
            started = Sandbox(given.unsafe)
    try:
        from autograder.instructor.commands.run_subcommand import run

        status = run(given, started)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    finally:
        if started is not None:
            started.close()


def _roster(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", type=Path, help="CSV file from Moodle, Canvas, Gradescope, Blackboard or Excel"
    )
    _of_course(parser)


def _collect(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("assignment", help="name of the assignment, such as bahdanau")
    parser.add_argument(
        "archive",
        type=Path,
        nargs="+",
        help="archive or folder of submissions; also Moodle's grading worksheet, a CSV file",
    )
    _of_course(parser)


def _due(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("assignment", help="name of the assignment, such as bahdanau")
    parser.add_argument(
        "time", nargs="*", help="such as 2026-11-20 23:59 Asia/Seoul; show the due date if omitted"
    )
    _of_course(parser)


def _extend(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("student", help="the name of the folder in submitted/")
    parser.add_argument("assignment", help="name of the assignment, such as bahdanau")
    parser.add_argument("days", type=float, help="days after the due date; 0 takes them back")
    _of_course(parser)


def _grade(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("assignment", help="name of the assignment, such as bahdanau")
    parser.add_argument(
        "--student", action="append", default=[], metavar="NAME", help="only this student"
    )
    parser.add_argument(
        "--exercise",
        action="append",
        default=[],
        metavar="NAME",
        help="grade only this exercise again (repeatable)",
    )
    parser.add_argument(
        "--force", action="store_true", help="also grade submissions that have not changed"
    )
    parser.add_argument(
        "--why",
        metavar="REASON",
        help="grade the students named by --student again, and record why",
    )
    parser.add_argument(
        "--workers", type=int, metavar="N", help="number of submissions to grade in parallel"
    )
    parser.add_argument("--no-feedback", action="store_true", help="write no feedback pages")
    parser.add_argument(
        "--unsafe", action="store_true", help="run students' code with all your permissions"
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="address of a Dask scheduler, such as tcp://10.0.0.1:8786",
    )
    _of_course(parser)


def _show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("student", help="the name of the folder in submitted/")
    parser.add_argument("assignment", nargs="?", default="", help="default: all of them")
    _of_course(parser)


def _feedback(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("assignment", help="its name, such as bahdanau")
    parser.add_argument(
        "--student", action="append", default=[], metavar="NAME", help="only this student"
    )
    parser.add_argument(
        "--force", action="store_true", help="also write pages that have not changed"
    )
    parser.add_argument(
        "--workers", type=int, metavar="N", help="number of pages to write in parallel"
    )
    parser.add_argument(
        "--zip",
        type=Path,
        metavar="FILE",
        help="also pack the feedback, in the format that the submissions' platform accepts",
    )
    _of_course(parser)


def _report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("assignment", help="its name, such as bahdanau")
    parser.add_argument("--to", type=Path, metavar="FILE", help="default: reports/ASSIGNMENT.html")
    _of_course(parser)


def _bundle(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, help="a new folder, or a name that ends in .zip")
    parser.add_argument(
        "--last", default="", metavar="ASSIGNMENT", help="leave out the assignments after this one"
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="ASSIGNMENT",
        help="pack only this assignment, for students who have the others (repeatable)",
    )
    _course(parser)


def _of_course(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--db", metavar="URL", help="URL of a gradebook to use instead of the configured one"
    )
    _course(parser)


def _course(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--course", type=Path, default=Path("."), metavar="FOLDER", help="default: the current one"
    )
