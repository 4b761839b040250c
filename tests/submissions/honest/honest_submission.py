"""What is known of an honest submission: what is written in it, and what that earns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.submissions.student_notebooks import ASSIGNMENT, POINTS, Files, Handed


@dataclass(frozen=True)
class Honest:
    """One honest submission.

    Attributes:
        slug: its name, and the student's.
        title: what is in it, one line.
        build: makes it of a submission with right answers.
        points: what the exercises earn that do not earn everything.
        partly: exercises of which some part may be right; they earn less than everything.
        stock_wrong: why stock nbgrader gives other points, or "".
        quick: whether it is in the short run, too.
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
        """Where it lies in the course."""
        return f"submitted/{self.slug}/{ASSIGNMENT}"

    def files(self) -> Files:
        """Return what is handed in."""
        hand = Handed()
        self.build(hand)
        return hand.files()

    def allows(self, exercise: str, points: float) -> bool:
        """Tell whether ours may give an exercise so much."""
        if exercise in self.partly:
            return 0.0 <= points < POINTS[exercise]
        return points == self.points.get(exercise, POINTS[exercise])

    def agrees(self, exercise: str, ours: float, stock: float) -> bool:
        """Tell whether ours may differ from stock nbgrader as it does."""
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
