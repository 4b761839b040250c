"""Recognises how learning platforms name the files in an archive of submissions.

- Moodle, mod/assign/classes/downloader.php: `Ada Okafor_12345_assignsubmission_file/work.ipynb`,
  in older versions with `file_`, or without folders
  `Ada Okafor_12345_assignsubmission_file_work.ipynb`. The number is the participant's; where groups
  hand in together, one folder is the group's, with its name and number, or without a number for
  those who are in no group: `Default group_assignsubmission_file/work.ipynb`.
- Canvas, lib/content_zipper.rb: `okaforada_LATE_12345_67890_work-1.ipynb`, with the numbers of user
  and attachment; `anon_4fGh2_67890_work.ipynb` if grading is anonymous; for text,
  `okaforada_12345_text.html`.
- Gradescope, *Export Submissions*, as programs that read it expect it: `submission_123/work.ipynb`,
  and `submission_metadata.yml` with Ruby's symbols as keys.
- Blackboard, *Assignment File Download*, from descriptions, not from a source:
  `Homework_ada_attempt_2026-11-20-18-30-05_work.ipynb` and, with the name in its first line,
  `Homework_ada_attempt_2026-11-20-18-30-05.txt`.
- nbgrader's exchange, the folder `inbound`:
  `ada+bahdanau+2026-11-20 18:30:00.000000 UTC/work.ipynb`.
- Folders: `ada/work.ipynb`, `ada/bahdanau/work.ipynb`; files: `ada - work.ipynb`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

import yaml

from autograder.instructor.collecting.packed_files import PackedFile, PackedFileError
from autograder.instructor.timestamps import TimeError, parse_time


@dataclass(frozen=True)
class Sender:
    """How a platform names a person who handed something in.

    Attributes:
        ids: what identifies the person there: number, login, e-mail address.
        name: the full name, if the platform gives it.
        number: Moodle's number of the participant or Canvas's of the user, by which feedback finds
            its way back.
    """

    ids: tuple[str, ...] = ()
    name: str = ""
    number: str = ""


@dataclass(frozen=True)
class ReceivedSubmission:
    """What one person, or one group, handed in at one time.

    Attributes:
        senders: the person, or the members of the group.
        files: the files, with paths inside of the submission.
        submitted_at: UTC time without a zone, or None if the archive does not tell.
        late: whether the platform marks it as late.
        originals: Canvas's names of the files, by path inside of the submission.
    """

    senders: tuple[Sender, ...]
    files: list[PackedFile] = field(default_factory=list)
    submitted_at: datetime | None = None
    late: bool = False
    originals: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Archive:
    """The submissions in an archive.

    Attributes:
        platform: name of the platform, or "folders".
        submissions: what was handed in.
        left_out: files that belong to nobody, with the reason, a phrase that follows the path.
    """

    platform: str
    submissions: list[ReceivedSubmission]
    left_out: dict[str, str] = field(default_factory=dict)


_NOBODYS = "belongs to nobody: its name has no student in it"

_MOODLE = re.compile(
    r"(?P<name>[^/]+?)(?:_(?P<id>\d+))?_assignsubmission_(?P<kind>file|onlinetext)_?/?(?P<file>.+)"
)
_CANVAS = re.compile(
    r"(?:(?P<name>(?!LATE_)\w+?)_)?(?P<late>LATE_)?(?P<id>\d+|anon_[^\W_]+)_"
    r"(?:(?P<attachment>\d+)_(?P<file>[^/]+)|(?P<text>(?:text|link)\.html))"
)
_CANVAS_COPY = re.compile(r"-\d+(?=\.\w+$)")
_BLACKBOARD = re.compile(
    r"(?P<assignment>[^/]+)_(?P<id>[^_/]+)_attempt_"
    r"(?P<time>\d{4}-\d\d-\d\d-\d\d-\d\d-\d\d)(?:_(?P<file>[^/]+)|\.txt)"
)
_EXCHANGE = re.compile(
    r"(?P<id>[^/+]+)\+(?P<assignment>[^/+]+)\+"
    r"(?P<time>\d{4}-\d\d-\d\d[ _]\d\d[:_]\d\d[:_]\d\d[^/+]*)(?:\+[^/]*)?/(?P<file>.+)"
)
_GRADESCOPE = re.compile(r"(?P<id>submission_\d+)/(?P<file>.+)")
_GRADESCOPE_PAGE = "submission_metadata.yml"
_IN_FOLDERS = (_MOODLE, _EXCHANGE, _GRADESCOPE)


def recognise_layout(
    files: Sequence[PackedFile],
    assignment: str,
    notebooks: Iterable[str],
    is_student: Callable[[str], bool],
    zone: str = "",
) -> Archive:
    """Return the submissions in an archive.

    Args:
        files: the files of the archive.
        assignment: name of the assignment, a folder in some archives.
        notebooks: names of its notebooks.
        is_student: whether a folder's name is known to be a student's.
        zone: time zone of times that name none; UTC if empty.
    """
    files = _without_wrappers(files, assignment, is_student)
    readers: dict[str, tuple[re.Pattern[str], Callable[..., Archive]]] = {
        "Moodle": (_MOODLE, _read_moodle),
        "Blackboard": (_BLACKBOARD, _read_blackboard),
        "nbgrader's exchange": (_EXCHANGE, _read_exchange),
        "Gradescope": (_GRADESCOPE, _read_gradescope),
        "Canvas": (_CANVAS, _read_canvas),
    }
    counts = {
        platform: sum(1 for file in files if pattern.fullmatch(file.path))
        for platform, (pattern, _) in readers.items()
    }
    if not any(file.name == _GRADESCOPE_PAGE for file in files):
        counts["Gradescope"] = 0
    best = max(counts, key=lambda platform: counts[platform])
    if 2 * counts[best] < len(files) or not counts[best]:
        return _read_folders(files, assignment, list(notebooks), zone)
    pattern, read = readers[best]
    found = [(file, pattern.fullmatch(file.path)) for file in files]
    archive = read([(file, match) for file, match in found if match], zone=zone, files=files)
    for file, match in found:
        if not match and file.name != _GRADESCOPE_PAGE:
            archive.left_out[file.path] = _NOBODYS
    archive.platform = best
    return archive


def _without_wrappers(
    files: Sequence[PackedFile], assignment: str, is_student: Callable[[str], bool]
) -> list[PackedFile]:
    """Return the files without folders that hold all of them and stand above the students'."""
    files = list(files)
    while True:
        tops = {file.path.partition("/")[0] for file in files if "/" in file.path}
        if len(tops) != 1 or any("/" not in file.path for file in files):
            return files
        if is_student(*tops) or any(p.fullmatch(f.path) for p in _IN_FOLDERS for f in files):
            return files
        inner = [replace(file, path=file.path.partition("/")[2]) for file in files]
        if not any(
            p.fullmatch(f.path) for p in (*_IN_FOLDERS, _CANVAS, _BLACKBOARD) for f in inner
        ):
            deep = [f.path for f in inner if "/" in f.path]
            if 2 * len(deep) < len(inner) or all(
                path.partition("/")[0].casefold() == assignment.casefold() for path in deep
            ):
                return files  # the only folder is the only student's
        files = inner


Matches = Sequence[tuple[PackedFile, re.Match[str]]]


def _group(matches: Matches, key: Callable[[re.Match[str]], Any]) -> dict[Any, Matches]:
    groups: dict[Any, list[tuple[PackedFile, re.Match[str]]]] = {}
    for file, match in matches:
        groups.setdefault(key(match), []).append((file, match))
    return dict(groups)


def _read_moodle(matches: Matches, **_: Any) -> Archive:
    submissions = []
    for (identity, name), mine in _group(matches, lambda m: (m["id"], m["name"])).items():
        packed = [replace(file, path=match["file"]) for file, match in mine]
        sender = Sender((identity,) if identity else (), name, identity or "")
        submissions.append(ReceivedSubmission((sender,), packed))
    return Archive("", submissions)


def _read_canvas(matches: Matches, **_: Any) -> Archive:
    submissions = []
    for (identity, name), mine in _group(matches, lambda m: (m["id"], m["name"])).items():
        paths = [_CANVAS_COPY.sub("", match["file"] or match["text"]) for _, match in mine]
        packed = [
            replace(file, path=path if paths.count(path) == 1 else match["file"])
            for (file, match), path in zip(mine, paths, strict=True)
        ]
        late = any(match["late"] for _, match in mine)
        number = identity if identity.isdecimal() else ""  # there is none if it is anonymous
        sender = Sender((identity,), name or "", number)
        originals = {
            made.path: file.path
            for made, (file, match) in zip(packed, mine, strict=True)
            if match["attachment"]  # a text in Canvas takes no file back
        }
        submissions.append(ReceivedSubmission((sender,), packed, late=late, originals=originals))
    return Archive("", submissions)


def _read_blackboard(matches: Matches, zone: str, **_: Any) -> Archive:
    submissions = []
    for (identity, when), mine in _group(matches, lambda m: (m["id"], m["time"])).items():
        sender = Sender((identity,))
        packed = []
        for file, match in mine:
            if match["file"]:
                packed.append(replace(file, path=match["file"]))
            elif found := re.match(r"[^:\n]+:\s*(.+) \(([^()\n]+)\)\s*$", _read_text(file), re.M):
                sender = Sender((found[2], identity), found[1])
        year, month, day, *clock = when.split("-")
        time = _parse_or_none(f"{year}-{month}-{day} {':'.join(clock)}", zone)
        submissions.append(ReceivedSubmission((sender,), packed, time))
    return Archive("", submissions)


def _read_exchange(matches: Matches, zone: str, **_: Any) -> Archive:
    submissions = []
    for (identity, when), mine in _group(matches, lambda m: (m["id"], m["time"])).items():
        packed = [replace(file, path=match["file"]) for file, match in mine]
        time = _read_timestamp(packed, zone) or _parse_or_none(when.replace("_", ":"), zone)
        submissions.append(ReceivedSubmission((Sender((identity,)),), packed, time))
    return Archive("", submissions)


def _read_gradescope(matches: Matches, files: Sequence[PackedFile], zone: str, **_: Any) -> Archive:
    page = next(file for file in files if file.name == _GRADESCOPE_PAGE)
    try:
        about = yaml.safe_load(_read_text(page))
    except yaml.YAMLError:
        about = None
    about = about if isinstance(about, dict) else {}
    archive = Archive("", [])
    for folder, mine in _group(matches, lambda m: m["id"]).items():
        entry = about.get(folder)
        entry = _plain_keys(entry) if isinstance(entry, dict) else {}
        senders = []
        for who in entry.get("submitters") or ():
            who = _plain_keys(who) if isinstance(who, dict) else {}
            ids = [str(who[key]) for key in ("sid", "email", "id") if who.get(key)]
            senders.append(Sender(tuple(ids), str(who.get("name") or "")))
        packed = [replace(file, path=match["file"]) for file, match in mine]
        if not senders:
            left = f"belongs to nobody: {_GRADESCOPE_PAGE} has no submitter for {folder}"
            archive.left_out |= {file.path: left for file, _ in mine}
            continue
        time = _parse_or_none(entry.get("created_at"), zone)
        archive.submissions.append(ReceivedSubmission(tuple(senders), packed, time))
    return archive


def _plain_keys(entry: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a mapping with Ruby's symbols, `:name`, as plain texts."""
    return {str(key).removeprefix(":"): value for key, value in entry.items()}


def _read_folders(
    files: Sequence[PackedFile], assignment: str, notebooks: Sequence[str], zone: str
) -> Archive:
    """Return the submissions of folders that bear the students' names, and of single files."""
    archive = Archive("folders", [])
    groups: dict[str, list[PackedFile]] = {}
    for file in files:
        who, _, path = file.path.partition("/")
        if path:
            first, _, rest = path.partition("/")
            inside = rest if rest and first.casefold() == assignment.casefold() else path
        else:
            inside, who = file.path, _find_owner(file.path, assignment, notebooks)
        if who:
            groups.setdefault(who, []).append(replace(file, path=inside))
        else:
            archive.left_out[file.path] = _NOBODYS
    for who, mine in groups.items():
        time = _read_timestamp(mine, zone)
        archive.submissions.append(ReceivedSubmission((Sender((who,), who),), mine, time))
    return archive


def _find_owner(name: str, assignment: str, notebooks: Sequence[str]) -> str:
    """Return what is left of a file's name without the words for the work: `ada - scores.ipynb`."""
    stem = PurePosixPath(name).name.split(".")[0]
    words = "|".join(map(re.escape, (assignment, *notebooks)))
    return re.sub(rf"(?i)(?<![^\W_])(?:{words})(?![^\W_])", "", stem).strip(" _-+()0123456789")


def _read_timestamp(files: Iterable[PackedFile], zone: str) -> datetime | None:
    page = next((file for file in files if file.path == "timestamp.txt"), None)
    return _parse_or_none(_read_text(page), zone) if page else None


def _parse_or_none(text: object, zone: str) -> datetime | None:
    try:
        return parse_time(text, zone) if text else None
    except TimeError:
        return None


def _read_text(file: PackedFile) -> str:
    try:
        return file.read()[: 1 << 24].decode("utf-8-sig", "replace")
    except PackedFileError:
        return ""
