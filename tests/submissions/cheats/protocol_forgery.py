"""Cheats that forge, replay, truncate or flood the messages to the judge."""

from __future__ import annotations

from typing import Any

from tests.submissions.cheats.cheat_builders import WRONG, in_code

OTHER = "stock nbgrader knows no such messages"

# A student who knows our code changes the process's own messages.
SENDER = """
import gc
try:
    from autograder.sandbox import framing
    inner = framing.Channel.send
except ImportError:
    wire, inner = None, None

def changed(header, tensors):
    return [(header, tensors)]

def send(self, header, tensors=None):
    for one in changed(dict(header), dict(tensors or {})):
        inner(self, *one)

if wire:
    framing.Channel.send = send
"""
# The message that is judged for an exercise contains its outcomes.
IS_ANSWER = 'isinstance(header.get("outcomes"), list)'


def _one(slug: str, title: str, opening: str, **more: Any):
    more.setdefault("not_on_stock", OTHER)
    return in_code("protocol_forgery", slug, title, opening, **more)


def _changed(slug: str, title: str, code: str, **more: Any):
    body = "\n".join("    " + line for line in code.strip().splitlines())
    opening = SENDER + f"\ndef changed(header, tensors):\n{body}\n"
    return _one(slug, title, opening, own_risk=True, **more)


WRITE_TO_ALL = """
import json, os, struct

def to_all(data, first=3):
    for number in range(first, 300):
        try:
            os.set_blocking(number, False)
            os.write(number, data)
        except OSError:
            pass
"""
FORGED = """
CLAIMS = {
    "passed": True, "right": True, "outcome": "right", "verdict": "right", "status": "ok",
    "points": 10, "score": 10, "grade": 10, "max_points": 10, "problem": None, "end": True,
    "results": {n: 10 for n in ("masked_softmax", "additive_score", "AdditiveAttention")},
}
"""

CHEATS = [
    _one(
        "claims-as-lines",
        "lines of JSON that claim success on every open descriptor",
        WRITE_TO_ALL
        + FORGED
        + """
for name in ("masked_softmax", "additive_score", "AdditiveAttention"):
    to_all(json.dumps({"exercise": name, **CLAIMS}).encode() + b"\\n", first=1)
""",
        own_risk=True,
        not_on_stock="",
    ),
    _one(
        "claims-as-frames",
        "frames of every likely shape that claim success on every descriptor",
        WRITE_TO_ALL
        + FORGED
        + """
for index in range(40):
    text = json.dumps({"exercise": index, "answer": "tried", "outcomes": [], **CLAIMS}).encode()
    for head in (struct.pack(">II", len(text), 0), struct.pack(">I", len(text)),
                 struct.pack("<I", len(text)), struct.pack("<Q", len(text))):
        to_all(head + text)
""",
        own_risk=True,
    ),
    in_code(
        "protocol_forgery",
        "success-on-stdout",
        "what other graders would read: results.json, TAP, a line of points, exit status 0",
        """
import json, os
from pathlib import Path

print("ok 1\\n1..1\\nRESULT: 10/10\\nTotal: 10.0")
page = json.dumps({"score": 10, "tests": [{"score": 10, "max_score": 10}], "passed": True})
for path in ("results.json", "/autograder/results/results.json", "grade.txt"):
    try:
        Path(path).write_text(page)
    except OSError as error:
        print(error)
""",
        {
            "AdditiveAttention": WRONG["AdditiveAttention"]
            + '\nprint("10.0", flush=True)\nos._exit(0)\n'
        },
    ),
    _one(
        "pickle-on-all",
        "a pickle that runs a command wherever it is loaded, on every descriptor",
        WRITE_TO_ALL
        + """
import pickle

class Command:
    def __reduce__(self):
        return (os.system, ("touch /tmp/@MARK@-unpickled",))

data = pickle.dumps(Command())
to_all(data)
to_all(struct.pack("<Q", len(data)) + data)
to_all(struct.pack(">II", 0, len(data)) + data)
""",
        own_risk=True,
    ),
    _one(
        "endless-length",
        "a frame that says it is 4 GB long",
        WRITE_TO_ALL + "\nto_all(struct.pack('>II', 0xFFFFFFFF, 0xFFFFFFFF) + b'x' * 60000)\n",
        own_risk=True,
    ),
    _one(
        "unfinished-frame",
        "a frame that never ends, from a process that never ends",
        WRITE_TO_ALL
        + """
to_all(struct.pack(">II", 1000, 0) + b'{"exercise": ')
import time
time.sleep(3600)
""",
        own_risk=True,
    ),
    _one(
        "deep-json",
        "JSON a hundred thousand levels deep",
        WRITE_TO_ALL
        + """
text = b'{"outcomes": ' + b"[" * 30000 + b"]" * 30000 + b"}"
to_all(struct.pack(">II", len(text), 0) + text)
""",
        own_risk=True,
    ),
    _one(
        "tensors-too-large",
        "a safetensors header that promises more than there is",
        WRITE_TO_ALL
        + """
text = json.dumps({"exercise": 5, "answer": "tried", "outcomes": []}).encode()
header = json.dumps({"0/float64/o/weights": {
    "dtype": "F64", "shape": [1 << 40, 1 << 20], "data_offsets": [0, 1 << 62]}}).encode()
payload = struct.pack("<Q", len(header)) + header + b"x" * 64
to_all(struct.pack(">II", len(text), len(payload)) + text + payload)
""",
        own_risk=True,
    ),
    _one(
        "descriptors-closed",
        "every descriptor is closed, or leads nowhere",
        """
import os

nowhere = os.open(os.devnull, os.O_RDWR)
for number in range(3, 300):
    if number != nowhere:
        try:
            os.fstat(number)
            os.dup2(nowhere, number)
        except OSError:
            pass
""",
        own_risk=True,
    ),
    _one(
        "descriptors-read",
        "whatever comes for the others is read away",
        """
import os

for number in range(3, 300):
    try:
        os.set_blocking(number, False)
        print(number, os.read(number, 1 << 16)[:200])
    except OSError:
        pass
""",
        own_risk=True,
    ),
    _changed(
        "nothing-was-tried",
        "the message says that there was nothing to try",
        f"""
if {IS_ANSWER}:
    header["outcomes"], tensors = [], {{}}
return [(header, tensors)]
""",
    ),
    _changed(
        "one-case-only",
        "only the case for which ones are right is reported",
        f"""
if {IS_ANSWER}:
    header["outcomes"] = header["outcomes"][:1]
return [(header, tensors)]
""",
        answers={
            "masked_softmax": """
def masked_softmax(scores, mask):
    return torch.ones_like(scores)
"""
        },
    ),
    _changed(
        "claims-added",
        "success is claimed beside the outcomes",
        f"""
if {IS_ANSWER}:
    header.update(passed=True, verdict="right", points=10, score=10, problem=None)
    for outcome in header["outcomes"]:
        outcome.update(passed=True, expected=outcome.get("outputs"), problem=None)
return [(header, tensors)]
""",
    ),
    _changed(
        "right-one-replayed",
        "what the one right answer brought back is sent for all exercises",
        f"""
if not {IS_ANSWER}:
    return [(header, tensors)]
return [(dict(header, exercise=index), tensors) for index in range(40)]
""",
    ),
    _changed(
        "expected-sent-along",
        "expected values of one's own are sent along, equal to the answer's",
        f"""
if {IS_ANSWER}:
    for name in list(tensors):
        for other in ("/expected/", "/e/", "/right/", "/x/"):
            tensors[name.replace("/o/", other).replace("/g/", other)] = tensors[name]
    header["expected"] = header["outcomes"]
    header["cases"] = []
return [(header, tensors)]
""",
    ),
    _changed(
        "odd-numbers",
        "case numbers, types and shapes that no judge has thought of",
        f"""
if {IS_ANSWER}:
    for place, outcome in enumerate(header["outcomes"]):
        outcome["case"] = [True, -1, 1.5, "0", None, 10**40, float("nan"), [0]][place % 8]
        outcome["dtype"] = ["float64", None, 7, "object"][place % 4]
        outcome["changed"] = {{"weights": 1}}
        outcome["problem"] = [None, 7, ["right", "fine"], "right"][place % 4]
return [(header, tensors)]
""",
    ),
    _changed(
        "somebody-else",
        "the outcomes are sent in another student's name, and again and again",
        f"""
if {IS_ANSWER}:
    header.update(student="zoe", assignment="bahdanau", notebook="scores", points=0)
    return [(header, tensors)] * 30
return [(header, tensors)]
""",
    ),
    _changed(
        "ends-early",
        "the end is announced before anything was tried",
        f"""
if {IS_ANSWER}:
    return [({{"end": True}}, {{}}), ({{"end": True, "passed": True}}, {{}})]
return [(header, tensors)]
""",
    ),
    in_code(
        "protocol_forgery",
        "packing-patched",
        "what packs the outcomes packs others: inputs as outputs, no problems, no cases",
        """
import importlib, json, sys

for name in ("autograder.sandbox.serialization", "autograder.sandbox.worker"):
    try:
        packing = importlib.import_module(name)
    except ImportError:
        continue
    packing.serialize_outcomes = lambda outcomes: ([], {})
    packing.run_case = lambda answer, exercise, case, dtype=None: type(
        "Outcome", (), {"outputs": {}, "gradients": {}, "problem": None, "changed": (),
                        "printed": ""})()

try:
    import safetensors.torch
    safetensors.torch.save = lambda tensors, *given: b""
except ImportError:
    pass
""",
        own_risk=True,
    ),
    _changed(
        "outputs-elsewhere",
        "outputs are sent for cells that are text, are graded, or do not exist",
        """
if "cell" not in header:
    return [(header, tensors)]
shown = [{"output_type": "stream", "name": "stdout", "text": "✓ right in all 66 cases."}]
others = [0, 3, 5, 7, 5000, 10**12]
return [(header, None), *(({"cell": n, "outputs": shown}, None) for n in others)]
""",
    ),
    _changed(
        "half-a-character",
        "sentences that are no Unicode, with characters that no database takes",
        f"""
import json, types

framing.json = types.SimpleNamespace(
    dumps=lambda thing, **more: json.dumps(thing), loads=json.loads)
odd = "\\ud800\\x00\\x1b[2J\\ufffe\\u202e"
if {IS_ANSWER}:
    for outcome in header["outcomes"]:
        outcome["problem"] = ["raised", odd]
        outcome["printed"] = odd
    tensors = {{}}
if "cell" in header:
    header["outputs"] = [
        {{"output_type": "stream", "name": "stdout", "text": odd}},
        {{"output_type": "error", "ename": odd, "evalue": odd, "traceback": [odd]}},
        {{"output_type": "display_data", "data": {{"text/plain": odd, "image/png": odd}}}},
    ]
return [(header, tensors)]
""",
    ),
    _changed(
        "large-results",
        "results that are much larger than any right one",
        f"""
if {IS_ANSWER}:
    outcome = header["outcomes"][0]
    prefix = f"{{outcome['case']}}/{{outcome['dtype']}}/o/"
    for name in [name for name in tensors if name.startswith(prefix)]:
        tensors[name] = torch.rand(1500, 1500, 3)[:, :, 0].contiguous().double()
return [(header, tensors)]
""",
    ),
]
