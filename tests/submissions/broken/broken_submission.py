"""What is known of a broken submission: how it is made, what it earns, what has to be said."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tests.submissions.student_notebooks import ASSIGNMENT, POINTS, Files, Handed

Builder = Callable[[Handed], None]


@dataclass(frozen=True)
class Broken:
    """One broken submission.

    Attributes:
        slug: its name, and the student's if it has no other.
        title: what went wrong, one line.
        build: breaks a right submission.
        lost: exercises that earn 0; those that are in none of the three earn all their points.
        maybe: exercises of which two readings are possible: 0, or all points.
        partly: exercises that may earn anything but all their points.
        why: why two readings are possible.
        review: whether a person must be told to look; None is either way.
        review_if_lost: a person must be told if an exercise of `maybe` earns 0.
        says: what the student must be told if points are lost, a regular expression.
        remark: what the student must be told in any case.
        student: whose it is.
        slow: ends only when a limit is reached.
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
        """Where it lies in the course."""
        return f"submitted/{self.owner}/{ASSIGNMENT}"

    def files(self) -> Files:
        """Return what is handed in."""
        hand = Handed()
        self.build(hand)
        return hand.files()

    def allows(self, exercise: str, points: float) -> bool:
        """Tell whether an exercise may earn so much."""
        full = POINTS[exercise]
        if exercise in self.lost:
            return points == 0.0
        if exercise in self.maybe:
            return points in (0.0, full)
        if exercise in self.partly:
            return 0.0 <= points < full
        return points == full

    def expected(self, exercise: str) -> str:
        """Return what an exercise may earn, in words."""
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
        """Add a submission with a cell of the student's own, else at the end of `scores`."""

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
        """Add a submission with another answer: its text, or how it comes from the right one."""

        def build(hand: Handed) -> None:
            right = hand.cell(exercise).source
            text = source(right) if callable(source) else source.strip("\n")
            assert text != right, slug
            hand.write(**{exercise: text})

        self.add(slug, title, build, **more)  # type: ignore[arg-type]
