"""Collects the submissions of an assignment from the archives of learning platforms."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from nbgrader.api import Gradebook

from autograder.instructor.collecting.packed_files import (
    PackedFileError,
    clean_path,
    describe_left_out,
    open_package,
    unpack_nested,
)
from autograder.instructor.collecting.platform_layouts import (
    ReceivedSubmission,
    Sender,
    recognise_layout,
)
from autograder.instructor.collecting.roster_files import RosterEntry, read_roster_file
from autograder.instructor.collecting.student_matching import StudentMatcher, normalise
from autograder.instructor.collecting.submission_store import (
    Stored,
    store_submission,
    strip_common_folder,
)
from autograder.instructor.grading import lms_records
from autograder.instructor.grading.course_folder import Course, CourseError, find_name_problem
from autograder.instructor.grading.gradebook_scores import read_people
from autograder.instructor.grading.submission_parser import NotebookIdentifiers, read_submission
from autograder.instructor.timestamps import TimeError, parse_time


@dataclass(frozen=True)
class CollectedSubmission:
    """What was collected from one student.

    Attributes:
        student: id of the student.
        stored: what became of it.
        notebooks: the file that will be graded, or "", by notebook.
        remarks: sentences about files that are unusual, unused or left out.
        late: whether the platform marks it as late without saying by how much.
    """

    student: str
    stored: Stored
    notebooks: Mapping[str, str]
    remarks: tuple[str, ...] = ()
    late: bool = False


@dataclass
class Collection:
    """The result of collecting an assignment.

    Attributes:
        assignment: name of the assignment.
        platforms: name of the platform, by archive.
        submissions: what was collected, sorted by student.
        strangers: sentence about each person who is not in the gradebook, by folder.
        problems: sentences about archives and files that belong to nobody.
        missing: students of the gradebook of whom nothing is in `submitted/`.
    """

    assignment: str
    platforms: dict[str, str] = field(default_factory=dict)
    submissions: list[CollectedSubmission] = field(default_factory=list)
    strangers: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


def collect_submissions(course: Course, assignment: str, paths: Sequence[Path]) -> Collection:
    """Put the submissions in archives, folders and platforms' lists of students into `submitted/`.

    Args:
        course: the course.
        assignment: name of the assignment.
        paths: archives or folders with submissions; and CSV files, such as Moodle's grading
            worksheet, which tell who is who and who handed in when.

    Raises:
        CourseError: if there is no such assignment or file.
    """
    sources = course.sources(assignment)
    names = {name: source.identifiers for name, source in sources.items()}
    if absent := [path for path in paths if not path.exists()]:
        raise CourseError(f"There is no file {absent[0]}.")
    lists = [path for path in paths if path.is_file() and path.suffix.lower() in (".csv", ".tsv")]
    entries = [entry for path in lists for entry in read_roster_file(path)]
    with Gradebook(course.db_url, course.course_id) as gradebook:
        people = read_people(gradebook.db)
        connection = gradebook.db.connection()
        known = lms_records.read_ids(connection, assignment)
        groups = lms_records.read_groups(connection, assignment)
    collection = Collection(assignment)
    matcher = StudentMatcher(people, known)
    collector = _Collector(course, assignment, names, matcher, entries, groups, collection)
    for path in (path for path in paths if path not in lists):
        collector.collect(path)
    with Gradebook(course.db_url, course.course_id) as gradebook:
        connection = gradebook.db.connection()
        lms_records.write_ids(connection, assignment, collector.identities)
        lms_records.write_groups(connection, assignment, collector.groups)
        for platform, uploads in collector.upload_names.items():
            lms_records.write_upload_names(connection, assignment, platform, uploads)
        gradebook.db.commit()
    collection.submissions.sort(key=lambda one: one.student)
    handed_in = set(course.students(assignment))
    collection.missing = [person.id for person in people if person.id not in handed_in]
    return collection


class _Collector:
    """Collects from one archive after another.

    Args:
        course: the course.
        assignment: name of the assignment.
        names: the identifiers of its notebooks.
        matcher: finds the students.
        entries: the students in platforms' lists.
        groups: the group with which each student handed in before.
        collection: the result, which is filled.
    """

    def __init__(
        self,
        course: Course,
        assignment: str,
        names: Mapping[str, NotebookIdentifiers],
        matcher: StudentMatcher,
        entries: Sequence[RosterEntry],
        groups: Mapping[str, str],
        collection: Collection,
    ):
        self._course, self._assignment, self._names = course, assignment, names
        self._matcher = matcher
        self._entries: dict[tuple[str, str], list[RosterEntry]] = {}
        self._groups: dict[str, list[Sender]] = {}
        for entry in entries:
            ids = (entry.platform_id, entry.lms_id, entry.id, entry.email)
            member = Sender(tuple(filter(None, ids)), entry.name)
            self._groups.setdefault(normalise(entry.group), []).append(member)
            # The numbers of two platforms may be the same.
            keys = {("Moodle", entry.platform_id), ("Canvas", entry.lms_id)}
            keys.add(("student", matcher.find(member).student))
            for key in keys:
                self._entries.setdefault(key, []).append(entry)
        self._groups_before = {} if set(self._groups) - {""} else groups
        self._collection = collection
        self._owners: dict[str, Sender] = {}
        self._senders: set[str] = set()  # ids of those who stand in the archive themselves
        self.identities: list[tuple[str, str]] = []
        self.groups: dict[str, str] = {}
        self.upload_names: dict[str, dict[str, dict[str, str]]] = {}

    def collect(self, path: Path) -> None:
        try:
            with open_package(path, path.name) as files:
                archive = recognise_layout(
                    files,
                    self._assignment,
                    self._names,
                    lambda name: bool(self._matcher.find(Sender((name,))).student),
                    self._course.timezone,
                )
                self._collection.platforms[path.name] = archive.platform
                left = {f"{path.name}, {name}": why for name, why in archive.left_out.items()}
                self._collection.problems += describe_left_out(left)
                senders = [sender for one in archive.submissions for sender in one.senders]
                self._senders = {key for sender in senders for key in self._list_ids(sender)}
                in_order = sorted(archive.submissions, key=_time_or_first)
                for submission in in_order:
                    self._collect_one(submission, archive.platform)
        except PackedFileError as error:
            self._collection.problems.append(f"{path.name} {error}: nothing was taken from it.")

    def _collect_one(self, submission: ReceivedSubmission, platform: str) -> None:
        contents, left = unpack_nested(submission.files)
        files = strip_common_folder(dict(contents))
        members = list(self._name_members(submission.senders, platform))
        for sender, group in members:
            entries = self._find_entries(sender, platform)
            student = self._find_student(sender, entries, platform)
            time = submission.submitted_at or self._read_time(entries)
            stored = store_submission(self._course, self._assignment, student, files, time)
            listed = [e.platform_id if platform == "Moodle" else e.lms_id for e in entries]
            number = next(filter(None, (sender.number, *listed)), "")
            if number and platform in ("Moodle", "Canvas"):
                self.identities.append((student, number))
            self._collection.submissions = [
                one for one in self._collection.submissions if one.student != student
            ]
            one = self._describe(student, stored, left, submission.late)
            if stored.state != "older":
                if number and platform == "Moodle":
                    self._note_upload_names(platform, student, {number: ""})
                elif platform == "Canvas" and sender == members[0][0]:
                    found = {path: name for name, path in one.notebooks.items() if path}
                    originals = {n: found.get(p, "") for p, n in submission.originals.items()}
                    self._note_upload_names(platform, student, originals)
                together = members[0][0].name or members[0][0].ids[0]  # of those without a name
                self.groups[student] = (group or together) if len(members) > 1 else ""
            if group:
                one = replace(one, remarks=(f"Handed in by the group {group}.", *one.remarks))
            self._collection.submissions.append(one)

    def _note_upload_names(self, platform: str, student: str, names: Mapping[str, str]) -> None:
        """Note under which names the platform takes a student's feedback back."""
        # A database takes no surrogates, which stand for bytes that are not text.
        written = {
            name.encode("utf-8", "backslashreplace").decode(): notebook
            for name, notebook in names.items()
        }
        self.upload_names.setdefault(platform, {})[student] = written

    def _name_members(
        self, senders: Iterable[Sender], platform: str
    ) -> Iterable[tuple[Sender, str]]:
        """Yield each sender, or each member of a group in its place, and the group's name."""
        for sender in senders:
            members = self._groups.get(normalise(sender.name), []) if sender.name else []
            if platform == "Moodle" and not sender.ids and set(self._groups) != {""}:
                members = members or self._groups.get("", [])  # the group of those who have none
            if platform == "Canvas" and (named := self._find_group(sender)):
                # Canvas gives a group's submission once, under the name of one member.
                yield from ((member, named) for member in (sender, *self._find_mates(named)))
            elif members:
                yield from ((member, sender.name) for member in members)
            else:
                yield sender, ""

    def _list_ids(self, sender: Sender) -> set[str]:
        return {*sender.ids, self._matcher.find(sender).student} - {""}

    def _find_entries(self, sender: Sender, platform: str) -> list[RosterEntry]:
        """Return what the lists say about the sender."""
        keys = [(platform, identity) for identity in sender.ids]
        if student := self._matcher.find(sender).student:
            keys.append(("student", student))
        found = [entry for key in keys for entry in self._entries.get(key, ())]
        return list(dict.fromkeys(found))

    def _find_group(self, sender: Sender) -> str:
        """Return the name of the group in which the sender is, or ""."""
        student = self._matcher.find(sender).student
        listed = (entry.group for entry in self._find_entries(sender, "Canvas"))
        named = (*listed, self._groups_before.get(student))
        return next(filter(None, named), "")

    def _find_mates(self, group: str) -> list[Sender]:
        """Return the members of a group in Canvas who do not stand in the archive themselves."""
        before = [Sender((who,)) for who, name in self._groups_before.items() if name == group]
        listed = self._groups.get(normalise(group), before)
        return [mate for mate in listed if not self._list_ids(mate) & self._senders]

    def _find_student(self, sender: Sender, entries: Sequence[RosterEntry], platform: str) -> str:
        """Return the id of the sender, who is listed as a stranger if nobody is known by it."""
        for entry in entries:
            ids = (entry.email, entry.id, entry.lms_id, *sender.ids)
            sender = Sender(tuple(filter(None, ids)), entry.name or sender.name)
        match = self._matcher.find(sender)
        if match.student:
            return match.student
        student = self._name_folder(sender, platform)
        about = f"{sender.name or sender.ids[0]} is not in the gradebook"
        if len(match.likely) == 1:
            about += f"; likely {match.likely[0]}"
        elif match.likely:
            about += f"; the name fits {' and '.join(match.likely[:4])}"
        elif platform == "Moodle" and not set(self._groups) - {""}:
            about += (
                "; if it is a group, collect with Moodle's grading worksheet, or another CSV file "
                "with a column Group, to say who is in it"
            )
        self._collection.strangers[student] = about
        return student

    def _name_folder(self, sender: Sender, platform: str) -> str:
        """Return a folder's name for a stranger that no other sender has."""
        # Moodle's number is another one in each assignment.
        first = sender.name if platform == "Moodle" and sender.name else ""
        options = [first, *(i for i in sender.ids if "@" not in i or platform != "Moodle")]
        options = [clean_path(option).replace("/", "_")[:100] for option in options if option]
        whole = " ".join(dict.fromkeys(options)) or "unknown"
        for student in (*options, whole, f"{whole} 2"):
            owner = self._owners.setdefault(student, sender)
            if owner.ids == sender.ids and not find_name_problem(student):
                return student
        return hashlib.sha256(repr(sender).encode()).hexdigest()[:16]

    def _read_time(self, entries: Sequence[RosterEntry]) -> datetime | None:
        times = [entry.submitted for entry in entries if entry.submitted.strip() not in ("", "-")]
        if not times:
            return None
        try:
            return parse_time(times[0], self._course.timezone)
        except TimeError:
            said = f"The time {times[0]!r} in the list is not understood; nobody is late."
            if said not in self._collection.problems:
                self._collection.problems.append(said)
            return None

    def _describe(
        self, student: str, stored: Stored, left: Mapping[str, str], late: bool
    ) -> CollectedSubmission:
        """Return what the grader will find in a submission."""
        folder = self._course.submitted(self._assignment, student)
        submission = read_submission(folder, self._names)
        digests = {
            hashlib.sha256(path.read_bytes()).hexdigest(): path.relative_to(folder).as_posix()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }
        notebooks, remarks = {}, describe_left_out(dict(left))
        for name, handed in submission.notebooks.items():
            notebooks[name] = digests.get(handed.digest, "") if handed.cells is not None else ""
            remarks += [r for r in handed.remarks if r not in remarks and not notebooks[name]]
        used = {*notebooks.values(), "timestamp.txt", "submission_secret.txt"}
        if others := [path for path in digests.values() if path not in used]:
            remarks.append(f"Kept beside the notebooks: {', '.join(others)}.")
        if stored.kept is not None:
            kept = stored.kept.relative_to(self._course.root)
            what = {
                "older": "This one is older and is",
                "unchanged": "Another one of this student counts; this one is",
                "replaced": "The one before is",
            }[stored.state]
            remarks.append(f"{what} kept in {kept}.")
            if stored.state == "replaced":
                before = read_submission(stored.kept, self._names).notebooks
                lost = [n for n, path in notebooks.items() if not path and before[n].cells]
                remarks += [f"The one before had a {name}; this one has none." for name in lost]
        return CollectedSubmission(student, stored, notebooks, tuple(remarks), late)


def _time_or_first(submission: ReceivedSubmission) -> datetime:
    return submission.submitted_at or datetime.min
