"""Matches the people of a platform with the students in the gradebook."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz, process

from autograder.instructor.collecting.platform_layouts import Sender
from autograder.instructor.grading.gradebook_scores import Person

_ALIKE = 85.0  # percent, from which on a name is worth suggesting


@dataclass(frozen=True)
class Match:
    """The student whom a sender is, or why there is none.

    Attributes:
        student: id of the student, or "".
        likely: ids of the students whom the sender may be, if none is certain.
    """

    student: str = ""
    likely: tuple[str, ...] = ()


class StudentMatcher:
    """Finds students by what platforms call them.

    Args:
        people: the students in the gradebook.
        platform_ids: ids that a platform gave them for this assignment, by student.
    """

    def __init__(self, people: Sequence[Person], platform_ids: Mapping[str, Iterable[str]]):
        self._exact = {person.id: person.id for person in people}
        self._keys: dict[str, set[str]] = {}
        self._names: dict[str, set[str]] = {}
        for person in people:
            ids = (person.id, person.lms_id, person.email, *platform_ids.get(person.id, ()))
            for key in ids:
                self._add(self._keys, normalise(key), person.id)
            if "@" in person.email:
                self._add(self._names, normalise(person.email.partition("@")[0]), person.id)
            first, last = person.first_name, person.last_name
            for name in (f"{first} {last}", f"{last} {first}", person.id):
                self._add(self._names, squeeze(name), person.id)

    def find(self, sender: Sender) -> Match:
        """Return the student whom a sender is: by an id, then by a name that only one has."""
        for identity in sender.ids:
            if identity in self._exact:
                return Match(identity)
            if len(found := self._keys.get(normalise(identity), set())) == 1:
                return Match(next(iter(found)))
        several: set[str] = set()
        for name in (sender.name, *_without_group(sender.name), *sender.ids):
            for key in {normalise(name), squeeze(name)}:
                found = self._names.get(key, set())
                if len(found) == 1:
                    return Match(next(iter(found)))
                several |= found
        return Match(likely=tuple(sorted(several)) or self._suggest(sender))

    def _suggest(self, sender: Sender) -> tuple[str, ...]:
        likely: set[str] = set()
        for text in filter(None, (*sender.ids, sender.name)):
            for table in (self._keys, self._names):
                for key, students in table.items():
                    if key.lstrip("0") == normalise(text).lstrip("0"):
                        likely |= students
                if len(text) > 3 and not text.isdigit():
                    alike = process.extract(
                        normalise(text), list(table), scorer=fuzz.ratio, score_cutoff=_ALIKE
                    )
                    for key, *_ in alike:
                        likely |= table[key]
        return tuple(sorted(likely))

    @staticmethod
    def _add(table: dict[str, set[str]], key: str, student: str) -> None:
        if key:
            table.setdefault(key, set()).add(student)


def suggest_owner(matcher: StudentMatcher, folder: str) -> str:
    """Return the student who is likely meant by the name of a folder, or ""."""
    match = matcher.find(Sender((folder,), folder))
    likely = (match.student,) if match.student else match.likely
    return likely[0] if len(likely) == 1 and likely[0] != folder else ""


def normalise(text: str) -> str:
    """Return a text in one Unicode form, without case and surrounding blanks."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def squeeze(name: str) -> str:
    """Return the letters and digits of a name, as Canvas writes it: `okaforada`."""
    return re.sub(r"[\W_]+", "", normalise(name))


def _without_group(name: str) -> list[str]:
    """Return the name after Moodle's `Group-`, for each place where the group may end."""
    parts = name.split("-")
    return ["-".join(parts[place:]) for place in range(1, len(parts))]
