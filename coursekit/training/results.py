"""Writes and reads the recorded results in book/results."""

from __future__ import annotations

import json
import math
import platform
import re
import sys
from datetime import date
from importlib.metadata import version
from pathlib import Path
from statistics import fmean
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "book" / "results"
_PACKAGES = ("torch", "numpy", "tokenizers", "sacrebleu")


def hardware() -> str:
    """Return one line about this machine: GPU or CPU, and the number of threads torch uses."""
    import torch

    if torch.cuda.is_available():
        return torch.cuda.get_device_name()
    threads = torch.get_num_threads()
    return f"{_cpu_name()}, {threads} thread{'s' if threads > 1 else ''}"


def _cpu_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def write_result(
    model: str,
    data: str,
    *,
    runs: list[dict[str, Any]],
    parameters: int,
    data_sha256: str,
    command: str,
    scorer: str,
    folder: Path | None = None,
    **more: Any,
) -> Path:
    """Write `<model>.<data>.json`; metrics are the means over the runs.

    Args:
        model: short name of the model, lower case.
        data: name of the data set as in `coursekit.datasets`.
        runs: one entry per seed: {"seed", "metrics": {name: number}, "seconds", ...}.
        parameters: number of trained parameters.
        data_sha256: checksum of the data set.
        command: what to type to run it again.
        scorer: how the metrics were computed (sacrebleu's signature).
        folder: where to write; book/results if not given.
        more: anything else worth keeping (history, lengths, entropy), as JSON.

    Returns:
        the file written.
    """
    names = runs[0]["metrics"].keys()
    content = {
        "model": model,
        "data": data,
        "metrics": {name: fmean(run["metrics"][name] for run in runs) for name in names},
        "runs": runs,
        "parameters": parameters,
        "seconds": sum(run["seconds"] for run in runs),
        "hardware": hardware(),
        "versions": {"python": platform.python_version()} | {p: version(p) for p in _PACKAGES},
        "data_sha256": data_sha256,
        "command": command,
        "scorer": scorer,
        "date": date.today().isoformat(),
        **more,
    }
    path = (folder or FOLDER) / f"{model}.{data}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(_round(content), indent=1, ensure_ascii=False, allow_nan=False)
    # A row of numbers on one line: the files are read by people, too. Text is never touched, as
    # there is no line break inside a JSON string.
    text = re.sub(
        r"\[\n\s*((?:[-+\de.,\s]|null)+?)\n\s*\]", lambda m: f"[{' '.join(m[1].split())}]", text
    )
    path.write_text(text + "\n", encoding="utf-8")
    print(f"wrote {path}", file=sys.stderr)
    return path


def read(model: str, data: str, folder: Path | None = None) -> dict[str, Any]:
    """Return a recorded result.

    Raises:
        FileNotFoundError: no such run was recorded; the message names those that were.
    """
    where = folder or FOLDER
    path = where / f"{model}.{data}.json"
    if not path.exists():
        known = ", ".join(sorted(p.stem for p in where.glob("*.json"))) or "none"
        raise FileNotFoundError(f"No result {model}.{data} is recorded; there are: {known}.")
    return json.loads(path.read_text(encoding="utf-8"))


def _round(value: Any) -> Any:
    """Keep six significant digits: enough to read, and files stay small; JSON has no NaN."""
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _round(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_round(member) for member in value]
    return value
