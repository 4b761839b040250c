"""Cases and outcomes as plain data, to be sent over the wire and rebuilt on the other side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from autograder.execution import Outcome
from autograder.exercise import Bundle, Call, Case, Rows, StandIn, Whole
from autograder.sandboxed.wire import PLAIN_DTYPES, text_of

DTYPES = {"float64": torch.float64, "float32": torch.float32}
_TENSORS_OF_A_CASE = ("inputs", "weights", "real", "upstream")
# The kinds of problem that end a case; an answer's process can claim no other.
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
NUMBERS_AT_MOST = 1 << 20  # in one tensor: far more than any right answer to a small case


def pack_cases(cases: Mapping[str, Sequence[Case]]) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return header and tensors that hold the cases of several exercises."""
    tensors: dict[str, Tensor] = {}
    header = {
        exercise: [
            _packed_case(case, f"{exercise}/{number}", tensors) for number, case in enumerate(drawn)
        ]
        for exercise, drawn in cases.items()
    }
    return header, tensors


def _packed_case(case: Case, prefix: str, tensors: dict[str, Tensor]) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": case.name,
        "calls": [_packed_call(call) for call in case.calls],
        "given": [[n, _packed_argument(v)] for n, v in case.given.items()],
        "construct": [[n, _packed_argument(v)] for n, v in case.construct.items()],
        "after": _packed_case(case.after, f"{prefix}/after", tensors) if case.after else None,
        "training": case.training,
        "tied": list(case.tied),
    }
    for what in _TENSORS_OF_A_CASE:
        members: Mapping[str, Tensor] = getattr(case, what)
        entry[what] = list(members)
        for name, tensor in members.items():
            tensors[f"{prefix}/{what}/{name}"] = tensor.detach().clone()
    return entry


def _packed_call(call: Call) -> list[Any]:
    bundles = [_packed_bundle(call.arguments), _packed_bundle(call.returns)]
    error = [call.raises, call.intact, call.mentions]
    return [call.method, *bundles, call.numbers, dict(call.plain), *error]


def _packed_bundle(bundle: Bundle) -> Any:
    """Return a bundle for JSON, which makes lists of tuples; `_bundle` makes tuples of lists."""
    if isinstance(bundle, str):
        return bundle
    if isinstance(bundle, Rows):
        return {"state": bundle.state, "rows": bundle.rows}
    if isinstance(bundle, Whole):
        return {"whole": bundle.name, "members": _packed_bundle(bundle.members)}
    if isinstance(bundle, Mapping):
        return {"dict": {key: _packed_bundle(member) for key, member in bundle.items()}}
    return [_packed_bundle(member) for member in bundle]


def _call(method: str, arguments: Any, returns: Any, numbers: Any, plain: Any, *error: Any) -> Call:
    raises, intact, mentions = error
    bundles = _bundle(arguments), _bundle(returns)
    return Call(method, *bundles, tuple(numbers), plain, raises, intact, tuple(mentions))


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
        after=_case(entry["after"], f"{prefix}/after", tensors) if entry["after"] else None,
        training=entry["training"],
        tied=tuple(entry["tied"]),
    )


def _bundle(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_bundle, value))
    if isinstance(value, str):
        return value
    if "rows" in value:
        return Rows(**value)
    if "whole" in value:
        return Whole(value["whole"], _bundle(value["members"]))
    return {key: _bundle(member) for key, member in value["dict"].items()}


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
                "problem": [problem[0], problem[1][:SENTENCE_AT_MOST]] if problem else None,
                "changed": list(outcome.changed),
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


def unpack_outcomes(
    header: Iterable[Mapping[str, Any]], tensors: Mapping[str, Tensor], cases: Sequence[Case]
) -> dict[tuple[int, str], Outcome]:
    """Return the outcomes by case and dtype.

    What a header may hold has been looked at; which tensors there are has not. A case of which
    nothing usable came back has an outcome with the problem "protocol".
    """
    outcomes: dict[tuple[int, str], Outcome] = {}
    for entry in header:
        number, dtype = int(entry["case"]), entry["dtype"]  # 1.0 is whole, too
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
        problem = entry["problem"][0], text_of(entry["problem"][1], SENTENCE_AT_MOST)
    if len(outputs) < len(returned):  # all or none
        outputs = {}
        problem = problem or LOST
    could_change = [*case.inputs, *case.given, *returned]
    if case.after:  # what was returned before it may be changed too
        could_change += [name for call in case.after.calls for name in call.returned]
    known = tuple(name for name in could_change if name in entry["changed"])
    printed = text_of(entry["printed"], PRINTED_AT_MOST)
    return Outcome(outputs, gradients if case.upstream else {}, problem, known, printed)


LOST = ("protocol", "Nothing usable came back from your code; does it close or change open files?")
