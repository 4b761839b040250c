"""Honest submissions composed of the bank's answers, so that every style occurs."""

from __future__ import annotations

from collections.abc import Callable

from tests.answers import Entry, entries, source
from tests.submissions.honest.honest_submission import Honest
from tests.submissions.student_notebooks import POINTS, Handed

PARTS = "stock nbgrader gives all points of an exercise or none; here a part may be right"
HAVE_PARTS = ("AttentionDecoder",)


def _of(right: bool) -> dict[str, list[Entry]]:
    found = [e for e in entries() if e.right is right and e.exercise in POINTS]
    return {name: [e for e in found if e.exercise == name] for name in POINTS}


def _writes(answers: dict[str, Entry]) -> Callable[[Handed], None]:
    def build(hand: Handed) -> None:
        hand.write(**{name: source(entry) for name, entry in answers.items()})

    return build


def _named(answers: dict[str, Entry]) -> str:
    return ", ".join(entry.answer.__name__ for entry in answers.values())


def right() -> list[Honest]:
    """Return submissions that contain every right answer of the bank at least once."""
    given = _of(True)
    found = []
    for i in range(max(map(len, given.values()))):
        answers = {name: mine[i % len(mine)] for name, mine in given.items()}
        found.append(Honest(f"right-{i}", _named(answers), _writes(answers), quick=i == 0))
    return found


def wrong() -> list[Honest]:
    """Return submissions of wrong answers, among them some right ones."""
    bad, good = _of(False), _of(True)
    found = []
    for i in range(max(map(len, bad.values()))):
        answers, lost = {}, []
        for place, (name, mine) in enumerate(bad.items()):
            if (i + place) % 5 == 4:
                answers[name] = good[name][i % len(good[name])]
            else:
                answers[name] = mine[(i + place) % len(mine)]
                lost.append(name)
        partly = frozenset(HAVE_PARTS).intersection(lost)
        found.append(
            Honest(
                f"wrong-{i}",
                _named(answers),
                _writes(answers),
                dict.fromkeys([name for name in lost if name not in partly], 0.0),
                partly,
                PARTS if partly else "",
                quick=i == 0,
            )
        )
    return found


BANK = [*right(), *wrong()]
