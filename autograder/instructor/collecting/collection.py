"""Collects the submissions of an assignment from the archives of learning platforms."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from nbgrader.api import Gradebook

from autograder.instructor.collecting import platform_ids
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
from autograder.instructor.grading.course_folder import Course, CourseError, find_name_problem
from autograder.instructor.grading.gradebook_scores import Person, read_people
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
        known = platform_ids.read_ids(gradebook.db.connection(), assignment)
    collection = Collection(assignment)
    collector = _Collector(course, assignment, names, people, known, entries, collection)
    for path in (path for path in paths if path not in lists):
        collector.collect(path)
    with Gradebook(course.db_url, course.course_id) as gradebook:
        connection = gradebook.db.connection()
        platform_ids.write_ids(connection, assignment, collector.identities)
        platform_ids.write_groups(connection, assignment, collector.groups)
        for platform, returns in collector.returns.items():
            platform_ids.write_returns(connection, assignment, platform, returns)
        gradebook.db.commit()
    collection.submissions.sort(key=lambda one: one.student)
    handed_in = set(course.students(assignment))
    collection.missing = [person.id for person in people if person.id not in handed_in]
    return collection


class _Collector:
    """Collects from one archive after another."""

    def __init__(
        self,
        course: Course,
        assignment: str,
        names: Mapping[str, NotebookIdentifiers],
        people: Sequence[Person],
        known: Mapping[str, Iterable[str]],
        entries: Sequence[RosterEntry],
        collection: Collection,
    ):
        self._course, self._assignment, self._names = course, assignment, names
        self._matcher = StudentMatcher(people, known)
        self._entries = {entry.platform_id: entry for entry in entries if entry.platform_id}
        self._entries |= {entry.lms_id: entry for entry in entries if entry.lms_id}
        self._groups: dict[str, list[Sender]] = {}
        for entry in entries:
            ids = (entry.platform_id, entry.lms_id, entry.id, entry.email)
            member = Sender(tuple(filter(None, ids)), entry.name)
            self._groups.setdefault(normalise(entry.group), []).append(member)
        self._collection = collection
        self._owners: dict[str, Sender] = {}
        self.identities: list[tuple[str, str]] = []
        self.groups: dict[str, str] = {}
        self.returns: dict[str, dict[str, dict[str, str]]] = {}

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
            entry = next((self._entries[i] for i in sender.ids if i in self._entries), None)
            student = self._find_student(sender, entry, platform)
            time = submission.submitted_at or self._read_time(entry)
            stored = store_submission(self._course, self._assignment, student, files, time)
            number = [i for i in sender.ids if i.isdecimal()]
            self.identities += [(student, i) for i in number if platform in ("Moodle", "Canvas")]
            self._collection.submissions = [
                one for one in self._collection.submissions if one.student != student
            ]
            one = self._describe(student, stored, left, submission.late)
            if stored.state != "older":
                mate = bool(members[0][1]) and (sender, group) != members[0]
                self._note_returns(platform, one, number, {} if mate else submission.originals)
            together = members[0][0].name or members[0][0].ids[0]  # of those without a name
            self.groups[student] = (group or together) if len(members) > 1 else ""
            if group:
                one = replace(one, remarks=(f"Handed in by the group {group}.", *one.remarks))
            self._collection.submissions.append(one)

    def _note_returns(
        self,
        platform: str,
        one: CollectedSubmission,
        numbers: Sequence[str],
        originals: Mapping[str, str],
    ) -> None:
        """Note under which names the platform takes feedback back."""
        names: dict[str, str] = {}
        if platform == "Moodle" and numbers:
            # Moodle reads the number after the first underscore.
            who = one.student.replace("_", "-").replace("/", "-")
            names = {f"{who}_{numbers[0]}_assignsubmission_file_": ""}
        elif platform == "Canvas":
            found = {path: name for name, path in one.notebooks.items() if path}
            names = {original: found.get(path, "") for path, original in originals.items()}
        self.returns.setdefault(platform, {})[one.student] = names

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
                mates = self._groups[normalise(named)]
                others = [mate for mate in mates if not set(mate.ids) & set(sender.ids)]
                yield from ((member, named) for member in (sender, *others))
                continue
            if members:
                yield from ((member, sender.name) for member in members)
            else:
                yield sender, ""

    def _find_group(self, sender: Sender) -> str:
        """Return the name of the group in which a list has the sender, or ""."""
        entries = [self._entries[i] for i in sender.ids if i in self._entries]
        return next((entry.group for entry in entries if entry.group), "")

    def _find_student(self, sender: Sender, entry: RosterEntry | None, platform: str) -> str:
        """Return the id of the sender, who is listed as a stranger if nobody is known by it."""
        if entry is not None:
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

    def _read_time(self, entry: RosterEntry | None) -> datetime | None:
        if entry is None or entry.submitted.strip() in ("", "-"):
            return None
        try:
            return parse_time(entry.submitted, self._course.timezone)
        except TimeError:
            said = f"The time {entry.submitted!r} in the list is not understood; nobody is late."
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
            what = "This one is older and" if stored.state == "older" else "The one before"
            remarks.append(f"{what} is kept in {kept}.")
            if stored.state == "replaced":
                before = read_submission(stored.kept, self._names).notebooks
                lost = [n for n, path in notebooks.items() if not path and before[n].cells]
                remarks += [f"The one before had a {name}; this one has none." for name in lost]
        return CollectedSubmission(student, stored, notebooks, tuple(remarks), late)


def _time_or_first(submission: ReceivedSubmission) -> datetime:
    return submission.submitted_at or datetime.min
