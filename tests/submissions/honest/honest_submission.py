"""Data type of an honest submission: its content and its points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.submissions.student_notebooks import ASSIGNMENT, POINTS, Files, Handed


@dataclass(frozen=True)
class Honest:
    """One honest submission.

    Attributes:
        slug: its name, and the student's.
        title: its content, in one line.
        build: function that makes it from a submission with right answers.
        points: points of the exercises that do not earn full points.
        partly: exercises that may be partly right; they earn less than full points.
        stock_wrong: why stock nbgrader gives other points, or "".
        quick: whether it is also in the short run.
    """

    slug: str
    title: str
    build: Callable[[Handed], None]
    points: Mapping[str, float] = field(default_factory=dict)
    partly: frozenset[str] = frozenset()
    stock_wrong: str = ""
    quick: bool = False

    @property
    def place(self) -> str:
        """Return its path in the course."""
        return f"submitted/{self.slug}/{ASSIGNMENT}"

    def files(self) -> Files:
        """Return the submitted files."""
        hand = Handed()
        self.build(hand)
        return hand.files()

    def allows(self, exercise: str, points: float) -> bool:
        """Return whether our grader may give an exercise these points."""
        if exercise in self.partly:
            return 0.0 <= points < POINTS[exercise]
        return points == self.points.get(exercise, POINTS[exercise])

    def agrees(self, exercise: str, ours: float, stock: float) -> bool:
        """Return whether this difference between ours and stock nbgrader is allowed."""
        known = exercise in self.partly or exercise in self.points
        return ours == stock or bool(self.stock_wrong and known and ours > stock)


class Bank(list[Honest]):
    """The submissions of one kind."""

    def __call__(
        self,
        points: Mapping[str, float] | None = None,
        partly: tuple[str, ...] = (),
        stock_wrong: str = "",
        quick: bool = False,
    ) -> Callable[[Callable[[Handed], None]], Callable[[Handed], None]]:
        """Add a builder: its name becomes the slug, its docstring the title."""

        def register(build: Callable[[Handed], None]) -> Callable[[Handed], None]:
            title = (build.__doc__ or "").strip().splitlines()[0]
            slug = build.__name__.replace("_", "-")
            self.append(
                Honest(slug, title, build, points or {}, frozenset(partly), stock_wrong, quick)
            )
            return build

        return register
