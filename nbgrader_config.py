"""nbgrader's settings: stock commands work in the clone, from text masters to feedback."""

import os
import sys
from pathlib import Path

from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbgrader.preprocessors import ClearHiddenTests, GetGrades

root = Path(__file__).resolve().parent

# nbgrader calls alembic by its name, which lies beside this Python, activated or not.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])

c = get_config()  # noqa: F821  (given by traitlets)
c.CourseDirectory.root = str(root)
c.CourseDirectory.course_id = "attention"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
# nbgrader copies all other files of an assignment's folder into the release and into the folder
# where a submission runs. There, a solution's .py would earn full marks by an import.
c.CourseDirectory.ignore = [
    ".ipynb_checkpoints", "*.py", "*.pyc", "__pycache__", "mistakes.md", "notebook.md",
    "feedback",
]  # fmt: skip
c.ClearSolutions.code_stub = {"python": "raise NotImplementedError()"}
c.Execute.timeout = 120
c.Execute.kernel_name = "python3"
# nbgrader gives 0 for anything on stderr, but a right answer may warn, log or show its progress.
c.IgnorePattern.enabled = True
c.IgnorePattern.pattern = "^"
# The hidden tests are in the graded notebook; feedback shows it without them.
c.GenerateFeedback.preprocessors = [GetGrades, ClearHiddenTests, CSSHTMLHeaderPreprocessor]

if (root / "solutions").is_dir():  # not in the students' bundle
    from autograder.exercises import EXERCISES
    from autograder.instructor.authoring.notebook_builder import write_sources
    from autograder.instructor.nbgrader.preprocessors import configure
    from autograder.instructor.nbgrader.shorten_tracebacks import HideOwnTracebacks

    # `nbgrader autograde` runs submissions in a sandbox and judges them outside, as `autograder
    # grade` does, one after the other. Without these two lines it is stock nbgrader again.
    configure(c)
    c.GenerateFeedback.preprocessors.insert(2, HideOwnTracebacks)
    write_sources(EXERCISES, root / "solutions")
