"""Reading and writing of the recorded results in book/results."""

from __future__ import annotations

import json
import math
import platform
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date
from importlib.metadata import version
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the pages' roles read records without torch
    from torch import Tensor, nn

FOLDER = Path(__file__).resolve().parents[2] / "book" / "results"
_PACKAGES = ("torch", "numpy", "tokenizers", "sacrebleu")
_folder: ContextVar[Path] = ContextVar("folder", default=FOLDER)


@contextmanager
def write_results_to(folder: Path) -> Iterator[None]:
    """Redirect `write_result` inside the block to a folder other than book/results."""
    token = _folder.set(folder)
    try:
        yield
    finally:
        _folder.reset(token)


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
        command: command that repeats the run.
        scorer: how the metrics were computed (sacrebleu's signature).
        folder: where to write; book/results by default.
        more: further entries (history, lengths, entropy), as JSON.

    Returns:
        the file written.
    """
    content = {
        "model": model,
        "data": data,
        **_summarise(runs),
        "parameters": parameters,
        **_describe_machine(),
        "data_sha256": data_sha256,
        "command": command,
        "scorer": scorer,
        **more,
    }
    path = (folder or _folder.get()) / f"{model}.{data}.json"
    _write(path, content)
    return path


def write_comparison(
    name: str,
    data: str,
    *,
    rows: dict[str, tuple[str, list[dict[str, Any]]]],
    data_sha256: str,
    command: str,
    scorer: str,
    folder: Path | None = None,
    **more: Any,
) -> Path:
    """Write `<name>.<data>.json` about several models that were trained on the same data.

    Args:
        name: of the comparison.
        data: name of the data set.
        rows: for each model its label and its runs, as `write_result` takes them, each with its
            "parameters". A row of the record is read as a result of one model is.
        data_sha256: checksum of the data set.
        command: what to type to run it again.
        scorer: how the metrics were computed.
        folder: where to write; book/results if not given.
        more: anything else worth keeping, as JSON.

    Returns:
        the file written.
    """
    content = {
        "model": name,
        "data": data,
        "rows": {row: {"label": label} | _summarise(runs) for row, (label, runs) in rows.items()},
        **_describe_machine(),
        "data_sha256": data_sha256,
        "command": command,
        "scorer": scorer,
        **more,
    }
    path = (folder or _folder.get()) / f"{name}.{data}.json"
    _write(path, content)
    return path


def write_weights(name: str, data: str, module: nn.Module) -> Path:
    """Write `<name>.<data>.safetensors`: parameters and running statistics of a module as float16.

    Tied parameters are written once.
    """
    from safetensors.torch import save_file

    path = _folder.get() / f"{name}.{data}.safetensors"
    path.parent.mkdir(parents=True, exist_ok=True)
    saved = module.state_dict().keys()
    tensors = dict(module.named_parameters()) | {
        name: buffer
        for name, buffer in module.named_buffers()
        if name in saved and buffer.is_floating_point()
    }
    save_file({name: t.detach().cpu().half() for name, t in tensors.items()}, path)
    print(f"wrote {path}", file=sys.stderr)
    return path


def read_weights(name: str, data: str, folder: Path | None = None) -> dict[str, Tensor]:
    """Return what `write_weights` wrote, as float32, for `load_state_dict`.

    Tied parameters are in it once: load it with strict=False.

    Raises:
        FileNotFoundError: no such weights are recorded.
    """
    from safetensors.torch import load_file

    weights = load_file((folder or _folder.get()) / f"{name}.{data}.safetensors")
    return {name: tensor.float() for name, tensor in weights.items()}


def merge_results(
    parts: Sequence[Path], command: str, jobs: int = 1, folder: Path | None = None
) -> Path:
    """Merge records of single seeds, and of single rows of a comparison, into one record.

    Weights that lie beside them are copied.

    Args:
        parts: records of the same model and data, one for each seed or for each seed and row, in
            the desired order.
        command: command that repeats all of them.
        jobs: number of runs that shared the hardware; recorded, because sharing slows them down.
        folder: where to write; book/results by default.

    Returns:
        the file written.

    Raises:
        ValueError: the records differ in more than the results of a seed.
    """
    contents = [json.loads(path.read_text(encoding="utf-8")) for path in parts]
    same = ("model", "data", "parameters", "data_sha256", "scorer", "settings", "versions")
    for name in same:
        if any(content.get(name) != contents[0].get(name) for content in contents):
            raise ValueError(f"The records of {parts[0].name} differ in {name}: {parts}")
    into = folder or _folder.get()
    merged = contents[0] | {"command": command}
    if "rows" in merged:
        rows: dict[str, dict[str, Any]] = {}
        for content in contents:
            for row, part in content["rows"].items():
                runs = [*rows.get(row, {}).get("runs", []), *part["runs"]]
                rows[row] = part | _summarise(runs)
        merged["rows"] = rows
        merged["rehearsal"] = {k: v for c in contents for k, v in c["rehearsal"].items()}
    else:
        # What depends on no seed is in every record, as the run of seed 0.
        by_seed = {run["seed"]: run for content in contents for run in content["runs"]}
        merged |= _summarise(list(by_seed.values()))
    if jobs > 1:
        merged["hardware"] += f", shared by {jobs} runs"
    path = into / parts[0].name
    _write(path, merged)
    for part in parts:
        for weights in part.parent.glob("*.safetensors"):
            shutil.copy(weights, into)
    return path


def _describe_machine() -> dict[str, Any]:
    return {
        "hardware": hardware(),
        "versions": {"python": platform.python_version()} | {p: version(p) for p in _PACKAGES},
        "date": date.today().isoformat(),
    }


def _summarise(runs: list[dict[str, Any]]) -> dict[str, Any]:
    names = runs[0]["metrics"].keys()
    return {
        "metrics": {name: fmean(run["metrics"][name] for run in runs) for name in names},
        "runs": runs,
        "seconds": sum(run["seconds"] for run in runs),
    }


def _write(path: Path, content: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(_round(content), indent=1, ensure_ascii=False, allow_nan=False)
    # Put each row of numbers on one line, for human readers. Strings are not affected, because a
    # JSON string contains no line breaks.
    text = re.sub(
        r"\[\n\s*((?:[-+\de.,\s]|null)+?)\n\s*\]", lambda m: f"[{' '.join(m[1].split())}]", text
    )
    path.write_text(text + "\n", encoding="utf-8")
    print(f"wrote {path}", file=sys.stderr)


def read(model: str, data: str, folder: Path | None = None) -> dict[str, Any]:
    """Return a recorded result.

    Raises:
        FileNotFoundError: no such run is recorded; the message lists the recorded runs.
    """
    where = folder or FOLDER
    path = where / f"{model}.{data}.json"
    if not path.exists():
        known = ", ".join(sorted(p.stem for p in where.glob("*.json"))) or "none"
        raise FileNotFoundError(f"No result {model}.{data} is recorded; there are: {known}.")
    return json.loads(path.read_text(encoding="utf-8"))


def metric_values(result: dict[str, Any], metric: str) -> list[float]:
    """Return a metric of a recorded result for each seed."""
    return [run["metrics"][metric] for run in result["runs"]]


def format_metric(result: dict[str, Any], metric: str, digits: int = 2, scale: float = 1.0) -> str:
    """Return a metric's mean over the seeds and its range, such as "37.19 (36.74–37.70)".

    Args:
        result: a result of `read`.
        metric: one of its metrics.
        digits: digits after the decimal point.
        scale: factor for the values, such as 100 for a percentage.
    """
    return format_values([scale * value for value in metric_values(result, metric)], digits)


def format_values(values: Sequence[float], digits: int = 2) -> str:
    """Return the mean of values and their range, such as "37.19 (36.74–37.70)"."""
    mean, low, high = (f"{x:.{digits}f}" for x in (fmean(values), min(values), max(values)))
    return mean if low == high else f"{mean} ({low}–{high})"


def format_ratio(
    result: dict[str, Any], part: str, whole: str, digits: int = 2, scale: float = 1.0
) -> str:
    """Return the ratio of two metrics: its mean over the seeds and its range."""
    ratios = [
        {"metrics": {"ratio": a / b}}
        for a, b in zip(metric_values(result, part), metric_values(result, whole), strict=True)
    ]
    return format_metric({"runs": ratios}, "ratio", digits, scale)


def count_parameters(result: dict[str, Any]) -> int:
    """Return the number of trained parameters of a result, or of a row of a comparison."""
    return result["parameters"] if "parameters" in result else result["runs"][0]["parameters"]


def label_rows(comparison: dict[str, Any], *names: str) -> dict[str, dict[str, Any]]:
    """Return rows of a comparison by their labels: the named ones in this order, or all."""
    rows = comparison["rows"]
    return {rows[name]["label"]: rows[name] for name in names or rows}


def mean_rows(result: dict[str, Any], table: str, column: str) -> list[float]:
    """Return the mean over the seeds of one column of a table, such as BLEU by length."""
    return [fmean(values) for values in zip(*rows_by_seed(result, table, column), strict=True)]


def rows_by_seed(result: dict[str, Any], table: str, column: str) -> list[list[float]]:
    """Return one column of a table, such as BLEU by length, for each seed."""
    return [[row[column] for row in run[table]] for run in result["runs"]]


def _round(value: Any) -> Any:
    """Round to six significant digits, for small files; NaN becomes None, for valid JSON."""
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _round(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_round(member) for member in value]
    return value
