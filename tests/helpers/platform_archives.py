"""Archives of a class's submissions as the platforms export them."""

from __future__ import annotations

import io
import zipfile

from tests.conftest import ROOT

SCORES, TRANSLATOR = (
    (ROOT / f"exercises/bahdanau/{name}.ipynb").read_bytes() for name in ("scores", "translator")
)


def pack(files: dict[str, bytes]) -> bytes:
    page = io.BytesIO()
    with zipfile.ZipFile(page, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return page.getvalue()


MOODLE = {
    "Ada Okafor_501_assignsubmission_file_/scores.ipynb": SCORES,
    "Ada Okafor_501_assignsubmission_file_/translator.ipynb": TRANSLATOR,
    "Bora Yılmaz_502_assignsubmission_file_/homework.zip": pack({"work/scores.ipynb": SCORES}),
    "Team A-철 박_503_assignsubmission_file_/scores.ipynb": SCORES,
}
GRADESCOPE = """submission_11:
  :submitters:
  - :name: Ada Okafor
    :sid: ada
    :email: ada@example.org
  - :name: Someone Else
    :email: bora@example.org
  :created_at: 2026-11-20 18:30:00.128372000 Z
submission_12:
  :submitters:
  - :name: 철 박
    :email: chul@example.org
  :created_at: 2026-11-21 03:30:00 +09:00
"""
RECEIPT = b"Name: Ada Okafor (ada)\nAssignment: Week 3\nDate Submitted: Friday\n"
ARCHIVES: dict[str, dict[str, bytes]] = {
    "Moodle": MOODLE,
    "Moodle without folders": {name.replace("_/", "_"): page for name, page in MOODLE.items()},
    "Moodle of 2023, which leaves out an underscore": {
        name.replace("_file_/", "_file/"): page for name, page in MOODLE.items()
    },
    "Canvas": {
        "okaforada_LATE_71_9001_scores-1.ipynb": SCORES,
        "okaforada_LATE_71_9002_translator.ipynb": TRANSLATOR,
        "yılmazbora_72_9003_scores.ipynb": SCORES,
        "박철_73_9004_scores.ipynb": SCORES,
        "okaforada_LATE_71_text.html": b"<p>Hello</p>",
    },
    "Gradescope": {
        "assignment_5_export/submission_metadata.yml": GRADESCOPE.encode(),
        "assignment_5_export/submission_11/scores.ipynb": SCORES,
        "assignment_5_export/submission_11/translator.ipynb": TRANSLATOR,
        "assignment_5_export/submission_12/scores.ipynb": SCORES,
    },
    "Blackboard": {
        "Week 3_ada_attempt_2026-11-20-18-30-00.txt": RECEIPT,
        "Week 3_ada_attempt_2026-11-20-18-30-00_scores.ipynb": SCORES,
        "Week 3_ada_attempt_2026-11-20-18-30-00_translator.ipynb": TRANSLATOR,
        "Week 3_bora_attempt_2026-11-20-18-30-00_scores.ipynb": SCORES,
        "Week 3_chul_attempt_2026-11-20-18-30-00_scores.ipynb": SCORES,
    },
    "nbgrader's exchange": {
        f"{who}+bahdanau+2026-11-20 18:30:00.000000 UTC+c2VjcmV0/{name}.ipynb": page
        for who, name, page in (
            ("ada", "scores", SCORES),
            ("ada", "translator", TRANSLATOR),
            ("bora", "scores", SCORES),
            ("chul", "scores", SCORES),
        )
    },
    "folders": {
        "all/ada/bahdanau/scores.ipynb": SCORES,
        "all/ada/bahdanau/translator.ipynb": TRANSLATOR,
        "all/Bora Yılmaz/scores.ipynb": SCORES,
        "all/chul@example.org/scores.ipynb": SCORES,
    },
    "folders of files": {
        "ada - scores.ipynb": SCORES,
        "ada - translator.ipynb": TRANSLATOR,
        "bora_scores (1).ipynb": SCORES,
        "scores_chul.ipynb": SCORES,
    },
}
