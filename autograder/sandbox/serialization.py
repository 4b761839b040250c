"""Serializes cases and outcomes to JSON and tensors, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from autograder.sandbox.framing import PLAIN_DTYPES, to_plain_text
from autograder.spec.exercise import Call, Case, Fake, NamedDict, SelectedRows
from autograder.spec.outcome import Outcome

DTYPES = {"float64": torch.float64, "float32": torch.float32}
_HOST_ONLY_FIELDS = (
    "note",
    "random_outputs",
    "check_random_outputs",
)  # fields of a case that only the judge needs
_DECLARED = {kind.__name__: kind for kind in (Case, Call, SelectedRows, NamedDict, Fake)}
# The kinds of problems that end a case; an answer's process may report no others.
KINDS = frozenset(
    (
        "unwritten",
        "signature",
        "weights",
        "returned",
        "raised",
        "unsteady",
        "gradient",
        "forbidden",
        "protocol",
    )
)
SENTENCE_AT_MOST, PRINTED_AT_MOST = 2_000, 2_000
NUMBERS_AT_MOST = 1 << 20  # in one tensor; far more than a right answer to a small case needs


def serialize_cases(
    cases: Mapping[str, Sequence[Case]],
) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return the cases of several exercises as a header and tensors."""
    tensors: dict[str, Tensor] = {}
    return {name: _pack(list(drawn), tensors) for name, drawn in cases.items()}, tensors


def deserialize_cases(
    header: Mapping[str, Any], tensors: Mapping[str, Tensor]
) -> dict[str, list[Case]]:
    """Return the cases that `serialize_cases` packed, without `_HOST_ONLY_FIELDS`."""
    return {exercise: _unpack(drawn, tensors) for exercise, drawn in header.items()}


def _pack(value: Any, tensors: dict[str, Tensor]) -> Any:
    """Return a value as JSON data; a type that JSON lacks becomes {kind: content}."""
    kind = type(value).__name__
    match value:
        case Tensor():
            number = str(len(tensors))
            tensors[number] = value.detach().clone()
            return {"Tensor": number}
        case list():
            return [_pack(member, tensors) for member in value]
        case tuple():
            return {"tuple": _pack(list(value), tensors)}
        case Mapping():
            return {"dict": _pack([list(item) for item in value.items()], tensors)}
        case Case() | Call() | SelectedRows() | NamedDict() | Fake():
            kept = {name: v for name, v in vars(value).items() if name not in _HOST_ONLY_FIELDS}
            return {kind: _pack(kept, tensors)}
    return value


def _unpack(value: Any, tensors: Mapping[str, Tensor]) -> Any:
    if isinstance(value, list):
        return [_unpack(member, tensors) for member in value]
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "Tensor":
        return tensors[content]
    content = _unpack(content, tensors)
    if kind == "tuple":
        return tuple(content)
    return dict(content) if kind == "dict" else _DECLARED[kind](**content)


def serialize_outcomes(
    outcomes: Iterable[tuple[int, str, Outcome]],
) -> tuple[list[dict[str, Any]], dict[str, Tensor]]:
    """Return the outcomes of cases as a header and tensors.

    Args:
        outcomes: tuples of the number of the case, the name of the dtype, and the outcome.
    """
    header: list[dict[str, Any]] = []
    tensors: dict[str, Tensor] = {}
    for number, dtype, outcome in outcomes:
        problem = outcome.problem
        members = {f"o/{name}": t for name, t in outcome.outputs.items()}
        members |= {f"g/{name}": t for name, t in outcome.gradients.items() if t is not None}
        try:
            plain = {name: _plain(tensor, name[2:]) for name, tensor in members.items()}
        except Exception as error:  # a Tensor subclass may raise anything
            sentence = str(error) if isinstance(error, ValueError) else "What it returned broke."
            problem, plain = ("returned", sentence), {}
        tensors |= {f"{number}/{dtype}/{name}": tensor for name, tensor in plain.items()}
        header.append(
            {
                "case": number,
                "dtype": dtype,
                "problem": [problem[0], problem[1][:SENTENCE_AT_MOST]] if problem else None,
                "changed": list(outcome.mutated),
                "printed": outcome.printed[:PRINTED_AT_MOST],
            }
        )
    return header, tensors


def _plain(tensor: Tensor, name: str) -> Tensor:
    with torch._C.DisableTorchFunctionSubclass():
        bare = torch.Tensor.as_subclass(tensor, torch.Tensor).detach()
        if bare.device.type != "cpu":
            if bare.device.type == "meta":
                raise ValueError(f"{name} is on the device 'meta', which holds no numbers.")
            bare = bare.cpu()
        if bare.layout != torch.strided:
            bare = bare.to_dense()
        if bare.numel() > NUMBERS_AT_MOST:
            raise ValueError(f"{name} has {bare.numel():,} numbers, far too many here.")
        if bare.dtype not in PLAIN_DTYPES:
            kind = str(bare.dtype).removeprefix("torch.")
            raise ValueError(f"{name} has numbers of the type {kind}; they must be real.")
        return bare.resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)


def deserialize_outcomes(
    header: Iterable[Mapping[str, Any]], tensors: Mapping[str, Tensor], cases: Sequence[Case]
) -> dict[tuple[int, str], Outcome]:
    """Return the outcomes by case and dtype.

    The header has been validated, but tensors may be missing. A case without usable results gets an
    outcome with the problem "protocol".
    """
    outcomes: dict[tuple[int, str], Outcome] = {}
    for entry in header:
        number, dtype = int(entry["case"]), entry["dtype"]  # the schema accepts 1.0, too
        outcomes[number, dtype] = _outcome(entry, tensors, f"{number}/{dtype}", cases[number])
    return outcomes


def _outcome(
    entry: Mapping[str, Any], tensors: Mapping[str, Tensor], prefix: str, case: Case
) -> Outcome:
    returned = [name for call in case.calls for name in call.returned]
    leaves = [*(n for n, t in case.inputs.items() if t.is_floating_point()), *case.weights]
    outputs = {n: t for n in returned if (t := tensors.get(f"{prefix}/o/{n}")) is not None}
    gradients = {n: tensors.get(f"{prefix}/g/{n}") for n in leaves}
    problem = None
    if entry["problem"]:
        problem = entry["problem"][0], to_plain_text(entry["problem"][1], SENTENCE_AT_MOST)
    if len(outputs) < len(returned):  # all or none
        outputs = {}
        problem = problem or NO_USABLE_OUTPUT
    could_change = [*case.inputs, *case.extra_arguments, *returned]
    if case.preceding_case:  # results of the preceding case may be changed, too
        could_change += [name for call in case.preceding_case.calls for name in call.returned]
    known = tuple(name for name in could_change if name in entry["changed"])
    printed = to_plain_text(entry["printed"], PRINTED_AT_MOST)
    return Outcome(outputs, gradients if case.upstream else {}, problem, known, printed)


NO_USABLE_OUTPUT = (
    "protocol",
    "Your code returned nothing usable; does it close or change open files?",
)
