"""Imports a list of students into the gradebook."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nbgrader.api import Gradebook, Student

from autograder.instructor.collecting.roster_files import RosterEntry, read_roster_file
from autograder.instructor.collecting.student_matching import normalise
from autograder.instructor.grading.course_folder import Course, CourseError, find_name_problem
from autograder.instructor.grading.gradebook_scores import Person, read_people
from autograder.instructor.sanitize import sanitize_line


@dataclass
class RosterChanges:
    """What importing a list changed.

    Attributes:
        added, changed: ids of students who are new, or have another name, address or number.
        unchanged: number of students who were in the gradebook as they are in the list.
        absent: ids of students of the gradebook who are not in the list; they are kept.
        refused: sentences about lines that cannot be a student.
    """

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    unchanged: int = 0
    absent: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def describe(self, path: Path) -> Iterator[str]:
        """Yield lines that say what was changed."""
        yield f"{path}: {len(self.added)} added, {len(self.changed)} changed, " + (
            f"{self.unchanged} as before."
        )
        for what, names in (("added", self.added), ("changed", self.changed)):
            if names:
                yield f"  {what}: {sanitize_line(', '.join(names))}"
        if self.refused:
            yield f"{len(self.refused)} lines were left out:"
            yield from (f"  {sanitize_line(sentence)}" for sentence in self.refused)
        if self.absent:
            yield (
                f"{len(self.absent)} in the gradebook are not in this list, and were kept: "
                f"{sanitize_line(', '.join(self.absent))}"
            )


def import_roster(course: Course, path: Path) -> RosterChanges:
    """Add the students of a list to the gradebook, or bring them up to date.

    A student who is known by id, number or e-mail address keeps the id.

    Raises:
        CourseError: if the file is no list of students, or two lines have the same id.
    """
    entries = read_roster_file(path)
    changes = RosterChanges()
    with Gradebook(course.db_url, course.course_id) as gradebook:
        people = {person.id: person for person in read_people(gradebook.db)}
        emails = [entry.email.partition("@")[0].casefold() for entry in entries]
        seen: dict[str, RosterEntry] = {}
        for entry in entries:
            student = _find_known(entry, people) or _choose_id(entry, emails)
            if not student or (problem := find_name_problem(student)):
                why = problem if student else "it has neither an id nor an e-mail address"
                changes.refused.append(f"{entry.name or student}: {why}.")
                continue
            if student in seen:
                if seen[student] == entry:
                    continue
                raise CourseError(
                    f"{path} has two students with the id {student!r}, {seen[student].name} and "
                    f"{entry.name}: correct it and import it again. Nothing was changed."
                )
            seen[student] = entry
        for student, entry in seen.items():
            _write(gradebook, student, entry, people.get(student), changes)
        gradebook.db.commit()
    changes.absent = [student for student in people if student not in seen]
    return changes


def _find_known(entry: RosterEntry, people: dict[str, Person]) -> str:
    """Return the id of the student in the gradebook who is this entry, or ""."""
    if entry.id in people:
        return entry.id
    for mine, attribute in ((entry.lms_id, "lms_id"), (entry.email, "email"), (entry.id, "id")):
        if not mine:
            continue
        key = normalise(mine)
        same = [p.id for p in people.values() if normalise(getattr(p, attribute)) == key]
        if len(same) == 1:
            return same[0]
    return ""


def _choose_id(entry: RosterEntry, emails: list[str]) -> str:
    """Return the id of a new student: that of the list, or from the address if that is unique."""
    local = entry.email.partition("@")[0]
    if entry.id or not entry.email:
        return entry.id or entry.lms_id
    return local if emails.count(local.casefold()) == 1 else entry.email


def _write(
    gradebook: Gradebook,
    student: str,
    entry: RosterEntry,
    before: Person | None,
    changes: RosterChanges,
) -> None:
    fields = {
        "first_name": entry.first_name,
        "last_name": entry.last_name,
        "email": entry.email,
        "lms_user_id": entry.lms_id,
    }
    fields = {name: value[:128] for name, value in fields.items() if value}
    if before is None:
        gradebook.db.add(Student(id=student, **fields))
        changes.added.append(student)
        return
    now = vars(before) | {"lms_user_id": before.lms_id}
    if changed := {name: value for name, value in fields.items() if now[name] != value}:
        gradebook.db.query(Student).filter(Student.id == student).update(changed)
        changes.changed.append(student)
    else:
        changes.unchanged += 1
