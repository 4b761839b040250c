"""Runs any subcommand of `autograder`: exit status and error messages."""

from __future__ import annotations

import argparse
import sys

from autograder.instructor.commands import (
    collect,
    deadlines,
    feedback,
    grade,
    report_and_bundle,
    show,
)
from autograder.instructor.grading.bwrap_command import SandboxError
from autograder.instructor.grading.course_folder import CourseError
from autograder.instructor.grading.sandbox_launcher import Sandbox
from autograder.instructor.sanitize import sanitize_line


def run(given: argparse.Namespace, started: Sandbox | None) -> int:
    """Run a subcommand and return the exit status.

    Args:
        given: the parsed command line.
        started: a sandbox that is already starting, for grading.
    """
    try:
        if given.command == "grade":
            return grade.grade(given, started)
        others = {
            "roster": collect.roster,
            "collect": collect.collect,
            "due": deadlines.due,
            "extend": deadlines.extend,
            "show": show.show,
            "feedback": feedback.feedback,
            "report": report_and_bundle.report,
            "bundle": report_and_bundle.bundle,
        }
        return others[given.command](given)
    except (CourseError, SandboxError) as error:
        print(f"autograder: {sanitize_line(str(error))}", file=sys.stderr)
        return 2
    except OSError as error:
        if error.filename is None:  # not about a file, so it is our bug
            raise
        print(
            f"autograder: {sanitize_line(f'{error.filename}: {error.strerror}')}. Fix this and "
            "run the same command again; results so far are kept.",
            file=sys.stderr,
        )
        return 2
    except KeyboardInterrupt:
        print(
            "autograder: interrupted; results so far are kept, and the same command will resume "
            "from here.",
            file=sys.stderr,
        )
        return 130
