"""Plugins for `nbgrader export` that write files for Canvas, Moodle and Gradescope.

For instance: `nbgrader export --exporter=autograder.instructor.exports.Canvas --to grades.csv`.
"""

from autograder.instructor.exports.canvas import Canvas
from autograder.instructor.exports.gradescope import Gradescope
from autograder.instructor.exports.moodle import Moodle

__all__ = ["Canvas", "Gradescope", "Moodle"]
