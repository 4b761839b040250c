"""Cases and outcomes as plain data, to be sent over the wire and rebuilt on the other side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from autograder.exercise import Call, Case, StandIn
from autograder.performing import Outcome
from autograder.sandbox.wire import PLAIN_DTYPES, text_of

DTYPES = {"float64": torch.float64, "float32": torch.float32}
_TENSORS_OF_A_CASE = ("inputs", "weights", "real", "upstream")
# The kinds of problem that end a case; an answer's process can claim no other.
KINDS = frozenset(
    ("unwritten", "signature", "weights", "returned", "raised", "gradient", "forbidden", "protocol")
)
_SENTENCE_AT_MOST, _PRINTED_AT_MOST = 2_000, 2_000
NUMBERS_AT_MOST = 1 << 20  # in one tensor: far more than any right answer to a small case


def pack_cases(cases: Mapping[str, Sequence[Case]]) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return header and tensors that hold the cases of several exercises."""
    header: dict[str, Any] = {}
    tensors: dict[str, Tensor] = {}
    for exercise, drawn in cases.items():
        header[exercise] = []
        for number, case in enumerate(drawn):
            entry: dict[str, Any] = {
                "name": case.name,
                # JSON makes lists of tuples; `_bundle` makes tuples of lists.
                "calls": [_packed_call(call) for call in case.calls],
                "given": [[n, _packed_argument(v)] for n, v in case.given.items()],
                "construct": [[n, _packed_argument(v)] for n, v in case.construct.items()],
            }
            for what in _TENSORS_OF_A_CASE:
                members: Mapping[str, Tensor] = getattr(case, what)
                entry[what] = list(members)
                for name, tensor in members.items():
                    tensors[f"{exercise}/{number}/{what}/{name}"] = tensor.detach().clone()
            header[exercise].append(entry)
    return header, tensors


def _packed_call(call: Call) -> list[Any]:
    bundles = [call.arguments, call.returns]
    return [call.method, *bundles, call.numbers, dict(call.plain), call.raises, call.intact]


def _call(method: str, arguments: Any, returns: Any, numbers: Any, *others: Any) -> Call:
    return Call(method, _bundle(arguments), _bundle(returns), tuple(numbers), *others)


def _packed_argument(value: Any) -> Any:
    if isinstance(value, StandIn):
        return {"stand_in": value.name, "arguments": list(value.arguments)}
    return value


def unpack_cases(header: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> dict[str, list[Case]]:
    """Return the cases that `pack_cases` packed; notes and relations stay behind."""
    return {
        exercise: [
            _case(entry, f"{exercise}/{number}", tensors) for number, entry in enumerate(entries)
        ]
        for exercise, entries in header.items()
    }


def _case(entry: Mapping[str, Any], prefix: str, tensors: Mapping[str, Tensor]) -> Case:
    members = {
        what: {name: tensors[f"{prefix}/{what}/{name}"] for name in entry[what]}
        for what in _TENSORS_OF_A_CASE
    }
    return Case(
        name=entry["name"],
        inputs=members["inputs"],
        calls=tuple(_call(*packed) for packed in entry["calls"]),
        given={name: _argument(value) for name, value in entry["given"]},
        construct={name: _argument(value) for name, value in entry["construct"]},
        weights=members["weights"],
        real=members["real"],
        upstream=members["upstream"],
    )


def _bundle(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _bundle(member) for key, member in value.items()}
    return tuple(map(_bundle, value)) if isinstance(value, (list, tuple)) else value


def _argument(value: Any) -> Any:
    if isinstance(value, dict):
        return StandIn(value["stand_in"], tuple(value["arguments"]))
    return value


def pack_outcomes(
    outcomes: Iterable[tuple[int, str, Outcome]],
) -> tuple[list[dict[str, Any]], dict[str, Tensor]]:
    """Return header and tensors that hold what came back from cases.

    Args:
        outcomes: number of the case, name of the dtype, and the outcome.
    """
    header: list[dict[str, Any]] = []
    tensors: dict[str, Tensor] = {}
    for number, dtype, outcome in outcomes:
        problem = outcome.problem
        members = {f"o/{name}": t for name, t in outcome.outputs.items()}
        members |= {f"g/{name}": t for name, t in outcome.gradients.items() if t is not None}
        try:
            plain = {name: _plain(tensor, name[2:]) for name, tensor in members.items()}
        except Exception as error:  # also of a tensor that is no ordinary tensor
            sentence = str(error) if isinstance(error, ValueError) else "What it returned broke."
            problem, plain = ("returned", sentence), {}
        tensors |= {f"{number}/{dtype}/{name}": tensor for name, tensor in plain.items()}
        header.append(
            {
                "case": number,
                "dtype": dtype,
                "problem": list(problem) if problem else None,
                "changed": list(outcome.changed),
                "printed": outcome.printed,
                "outputs": [n[2:] for n in plain if n.startswith("o/")],
                "gradients": [n[2:] for n in plain if n.startswith("g/")],
            }
        )
    return header, tensors


def _plain(tensor: Tensor, name: str) -> Tensor:
    with torch._C.DisableTorchFunctionSubclass():
        found = torch.Tensor.as_subclass(tensor, torch.Tensor).detach()
        if found.device.type != "cpu":
            if found.device.type == "meta":
                raise ValueError(f"{name} is on the device 'meta', which holds no numbers.")
            found = found.cpu()
        if found.layout != torch.strided:
            found = found.to_dense()
        if found.numel() > NUMBERS_AT_MOST:
            raise ValueError(f"{name} has {found.numel():,} numbers, far too many here.")
        if found.dtype not in PLAIN_DTYPES:
            kind = str(found.dtype).removeprefix("torch.")
            raise ValueError(f"{name} has numbers of the type {kind}; they must be real.")
        return found.resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)


def unpack_outcomes(
    header: Any, tensors: Mapping[str, Tensor], cases: Sequence[Case]
) -> dict[tuple[int, str], Outcome]:
    """Return the outcomes by case and dtype, believing nothing of what is said about them.

    A case of which nothing usable came back has an outcome with the problem "protocol".
    """
    found: dict[tuple[int, str], Outcome] = {}
    for entry in header if isinstance(header, list) else []:
        if not isinstance(entry, dict):
            continue
        number, dtype = entry.get("case"), entry.get("dtype")
        if type(number) is int and 0 <= number < len(cases) and dtype in DTYPES:
            found[number, str(dtype)] = _outcome(entry, tensors, cases[number])
    return found


def _outcome(entry: Mapping[str, Any], tensors: Mapping[str, Tensor], case: Case) -> Outcome:
    prefix = f"{entry['case']}/{entry['dtype']}"
    returned = [name for call in case.calls for name in call.returned]
    leaves = [*(n for n, t in case.inputs.items() if t.is_floating_point()), *case.weights]
    outputs = {n: t for n in returned if (t := tensors.get(f"{prefix}/o/{n}")) is not None}
    gradients = {n: tensors.get(f"{prefix}/g/{n}") for n in leaves}
    problem = _problem(entry.get("problem"))
    if len(outputs) < len(returned):  # all or none
        outputs = {}
        problem = problem or LOST
    could_change = (*case.inputs, *case.given, *returned)
    known = [name for name in could_change if name in _strings(entry.get("changed"))]
    printed = text_of(entry.get("printed"), _PRINTED_AT_MOST)
    return Outcome(outputs, gradients if case.upstream else {}, problem, tuple(known), printed)


LOST = ("protocol", "Nothing usable came back from your code; does it close or change open files?")


def _problem(given: Any) -> tuple[str, str] | None:
    if given is None:
        return None
    if not (isinstance(given, list) and len(given) == 2 and given[0] in KINDS):
        return LOST
    return str(given[0]), text_of(given[1], _SENTENCE_AT_MOST)


def _strings(given: Any) -> list[str]:
    return [thing for thing in given if isinstance(thing, str)] if isinstance(given, list) else []
