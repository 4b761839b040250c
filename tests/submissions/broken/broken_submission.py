"""Data type of a broken submission: how to build it, its points and its remarks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tests.submissions.student_notebooks import ASSIGNMENT, POINTS, Files, Handed

Builder = Callable[[Handed], None]


@dataclass(frozen=True)
class Broken:
    """One broken submission.

    Attributes:
        slug: its name, and the student's by default.
        title: what went wrong, in one line.
        build: function that breaks a right submission.
        lost: exercises that earn 0; those in none of the three sets earn all their points.
        maybe: exercises with two valid outcomes: 0, or all points.
        partly: exercises that may earn any points but all of them.
        why: why two outcomes are valid.
        review: whether a manual review must be requested; None allows both.
        review_if_lost: whether a review must be requested if an exercise in `maybe` earns 0.
        says: regular expression for the message to the student if points are lost.
        remark: regular expression for the message to the student in any case.
        student: name of the student.
        slow: whether it ends only when a limit is reached.
    """

    slug: str
    title: str
    build: Builder
    lost: frozenset[str] = frozenset()
    maybe: frozenset[str] = frozenset()
    partly: frozenset[str] = frozenset()
    why: str = ""
    review: bool | None = None
    review_if_lost: bool = True
    says: str = ""
    remark: str = ""
    student: str = ""
    slow: bool = False

    def __post_init__(self) -> None:
        named = [*self.lost, *self.maybe, *self.partly]
        assert len(named) == len(set(named)) and set(named) <= set(POINTS), self.slug
        assert bool(self.maybe) <= bool(self.why), f"{self.slug}: why two readings?"
        assert bool(self.lost) <= bool(self.says), f"{self.slug}: what is the student told?"

    @property
    def owner(self) -> str:
        """The name of the student's folder."""
        return self.student or self.slug

    @property
    def place(self) -> str:
        """Return its path in the course."""
        return f"submitted/{self.owner}/{ASSIGNMENT}"

    def files(self) -> Files:
        """Return the submitted files."""
        hand = Handed()
        self.build(hand)
        return hand.files()

    def allows(self, exercise: str, points: float) -> bool:
        """Return whether an exercise may earn these points."""
        full = POINTS[exercise]
        if exercise in self.lost:
            return points == 0.0
        if exercise in self.maybe:
            return points in (0.0, full)
        if exercise in self.partly:
            return 0.0 <= points < full
        return points == full

    def expected(self, exercise: str) -> str:
        """Return the points that an exercise may earn, in words."""
        full = POINTS[exercise]
        if exercise in self.lost:
            return "0"
        if exercise in self.maybe:
            return f"0 or {full:g}"
        return f"less than {full:g}" if exercise in self.partly else f"{full:g}"


class Bank(list[Broken]):
    """The submissions of one kind."""

    def add(
        self,
        slug: str,
        title: str,
        build: Builder,
        *,
        lost: Iterable[str] = (),
        maybe: Iterable[str] = (),
        partly: Iterable[str] = (),
        **more: object,
    ) -> None:
        """Add a submission."""
        sets = {"lost": frozenset(lost), "maybe": frozenset(maybe), "partly": frozenset(partly)}
        self.append(Broken(slug, title, build, **sets, **more))  # type: ignore[arg-type]

    def __call__(self, **more: object) -> Callable[[Builder], Builder]:
        """Add a builder: its name becomes the slug, its docstring the title."""

        def register(build: Builder) -> Builder:
            title = (build.__doc__ or "").strip().splitlines()[0]
            self.add(build.__name__.replace("_", "-"), title, build, **more)  # type: ignore[arg-type]
            return build

        return register

    def own_cell(
        self,
        slug: str,
        title: str,
        source: str,
        *,
        before: str = "",
        after: str = "",
        **more: object,
    ) -> None:
        """Add a submission with a student's own cell, by default at the end of `scores`."""

        def build(hand: Handed) -> None:
            hand.add(source.strip("\n"), before=before, after=after)

        self.add(slug, title, build, **more)  # type: ignore[arg-type]

    def answer(
        self,
        slug: str,
        title: str,
        exercise: str,
        source: str | Callable[[str], str],
        **more: object,
    ) -> None:
        """Add a submission with a different answer: its text, or a function of the right one."""

        def build(hand: Handed) -> None:
            right = hand.cell(exercise).source
            text = source(right) if callable(source) else source.strip("\n")
            assert text != right, slug
            hand.write(**{exercise: text})

        self.add(slug, title, build, **more)  # type: ignore[arg-type]
