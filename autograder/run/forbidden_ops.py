"""Disables the torch operators that an exercise forbids while its answers are tested.

Every call of an operator goes through torch's dispatcher, whether it comes from a module, another
thread, a scripted function or an internal name. The operator's kernels are therefore replaced
there, for the whole process, by a kernel that records the call and raises an error. The record
decides, even if the answer catches the error. Afterwards the kernels are restored, because other
cells may compare their results with the operator's.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from autograder.spec.exercise import Exercise


@dataclass(frozen=True)
class _Family:
    """All operators and functions in torch that compute the same thing.

    Attributes:
        operators: regular expression that matches a part of the operators' names.
        functions: Python functions that compute it without these operators, as "module:name".
        shown: name to show in a message; if empty, the operator's own name.
        otherwise: computes the result of a call that is still allowed; returns None for others.
    """

    operators: str
    functions: tuple[str, ...] = ()
    shown: str = ""
    otherwise: Callable[..., Tensor | None] = lambda *given, **named: None


def _cross_entropy(
    logits: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: int = 1,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Tensor | None:
    """Return what torch's cross entropy returns, or None if it smooths the labels."""
    if label_smoothing:
        return None
    classes = 1 if logits.dim() > 1 else 0
    logs = torch.log_softmax(logits, classes)
    if logits.shape != target.shape:
        found: Tensor = torch.ops.aten.nll_loss_nd(logs, target, weight, reduction, ignore_index)
        return found
    if weight is not None:
        logs = logs * weight.reshape(-1, *[1] * (logits.dim() - 1 - classes))
    losses = -(logs * target).sum(classes)
    return (losses, losses.sum() / losses.numel(), losses.sum())[reduction]


_DECOMPOSED = "torch._decomp.decompositions"
_RNN = "(cudnn|miopen|mkldnn)_rnn"
_FAMILIES = {
    "gru": _Family(f"gru|{_RNN}", (f"{_DECOMPOSED}:gru_cell", f"{_DECOMPOSED}:gru_cell_data")),
    "lstm": _Family(
        f"lstm|{_RNN}",
        (
            f"{_DECOMPOSED}:lstm_cell",
            f"{_DECOMPOSED}:mkldnn_one_layer_lstm",
            "torch.ao.nn.quantizable.modules.rnn:LSTMCell.forward",
        ),
    ),
    "layer_norm": _Family(
        "(layer|group|batch|instance)_norm",
        ("torch._refs:_normalize", f"{_DECOMPOSED}:native_batch_norm_helper"),
    ),
    "rms_norm": _Family("rms_norm", (f"{_DECOMPOSED}:_fused_rms_norm",)),
    "scaled_dot_product_attention": _Family(
        "attention|scaled_dot|_sdp_|transformer_encoder",
        (
            "torch.nn.functional:multi_head_attention_forward",
            "torch.ao.nn.quantizable.modules.activation:MultiheadAttention._forward_impl",
            "torch._higher_order_ops.flex_attention:_math_attention_inner",
            "torch.onnx.ops._impl:attention_23._init_fn",
        ),
    ),
    "cross_entropy.label_smoothing": _Family(
        "cross_entropy_loss", shown="cross_entropy(label_smoothing=...)", otherwise=_cross_entropy
    ),
}


class _Refused(RuntimeError):
    """Raised by a disabled operator; an answer gains nothing by catching it."""


class ForbiddenCallRecorder:
    """Records calls of forbidden operators.

    Args:
        who: name of the code that may not call them.
        forbidden: names of operator families.
    """

    def __init__(self, who: str, forbidden: Sequence[str]):
        self.forbidden = forbidden
        self._who = who
        self._called: list[str] = []

    @property
    def problem(self) -> tuple[str, str] | None:
        """Return the problem for the outcome if a forbidden call was recorded, or None."""
        if not self._called:
            return None
        return (
            "forbidden",
            f"{self._who} calls torch's own {self._called[0]}, which is the whole answer; the task "
            "is to write it yourself.",
        )

    def record(self, shown: str) -> None:
        """Record a call and abort it by raising an error."""
        self._called.append(shown)
        raise _Refused(self.problem[1] if self.problem else "")


# The active recorders; there are several only if checks are nested.
_active_recorders: list[ForbiddenCallRecorder] = []


@contextlib.contextmanager
def forbid_operators(exercise: Exercise) -> Iterator[ForbiddenCallRecorder]:
    """Disable the operators that an exercise forbids, until the block ends."""
    with _override_operators(ForbiddenCallRecorder(exercise.name, exercise.forbidden)) as recorder:
        yield recorder


@contextlib.contextmanager
def _override_operators(recorder: ForbiddenCallRecorder) -> Iterator[ForbiddenCallRecorder]:
    with contextlib.ExitStack() as stack:
        for name in recorder.forbidden:
            _disable_operators(_FAMILIES[name], recorder, stack)
            for path in _FAMILIES[name].functions:
                _disable_function(path, stack)
        if recorder.forbidden:
            _active_recorders.append(recorder)
            stack.callback(_active_recorders.remove, recorder)
            if "torch._dynamo" in sys.modules and hasattr(torch.compiler, "set_stance"):
                # Compiled code contains other operators, so make it run as it was written.
                stack.enter_context(torch.compiler.set_stance("force_eager"))
        yield recorder


# Functions that return a kernel, which code could then call without the dispatcher.
_KERNEL_GETTERS = (
    "_dispatch_get_computed_kernel_for_dispatch_key",
    "_jit_to_static_module",
    "_fuse_to_static_module",
)
# Functions that trace an operator as the smaller operators that it consists of.
_TRACERS = (
    "torch._C:_create_graph_by_tracing",
    "torch._C:_create_function_from_trace",
    "torch._C:_create_function_from_trace_with_dict",
    "torch._C:ScriptModule._create_method_from_trace",
    "torch._C:ScriptModule._create_method_from_trace_with_dict",
    "torch.fx.experimental.proxy_tensor:dispatch_trace",
)


def disable_kernel_access() -> None:
    """Permanently remove access to kernels, before processes that try answers are forked.

    In the forks, no cell can save an operator in another form for a later cell that may not call
    it.
    """
    for name in _KERNEL_GETTERS:
        if hasattr(torch._C, name):
            delattr(torch._C, name)
    for family in _FAMILIES.values():
        for path in family.functions:
            with contextlib.suppress(ImportError):  # missing in this version of torch
                importlib.import_module(path.partition(":")[0])
        _list_kernels(family.operators)
    for path in _TRACERS:
        importlib.import_module(path.partition(":")[0])
        owner, name, recorder = _find(path)
        if recorder is not None:
            setattr(owner, name, _without_operators(recorder))


def _without_operators(recorder: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(recorder)
    def record(*given: Any, **named: Any) -> Any:
        with _override_operators(ForbiddenCallRecorder("What is traced", tuple(_FAMILIES))):
            return recorder(*given, **named)

    return record


def _find(path: str) -> tuple[Any, str, Any]:
    """Return the owner of the object at "module:name", its last name, and the object or None."""
    module, _, names = path.partition(":")
    owner, found, name = None, sys.modules.get(module), ""
    for name in names.split("."):
        owner, found = found, getattr(found, name, None)
    return owner, name, found


def _disable_operators(
    family: _Family, recorder: ForbiddenCallRecorder, stack: contextlib.ExitStack
) -> None:
    libraries: dict[str, torch.library.Library] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns that a kernel is replaced
        for operator, key in _list_kernels(family.operators):
            space, _, name = operator.partition("::")
            if space not in libraries:
                library = torch.library._scoped_library(space, "IMPL")
                libraries[space] = stack.enter_context(library)
            shown = family.shown or name.partition(".")[0]
            with contextlib.suppress(RuntimeError):  # this torch knows the key only by name
                libraries[space].impl(name, _make_kernel(shown, family, recorder), key)


def _make_kernel(
    shown: str, family: _Family, recorder: ForbiddenCallRecorder
) -> Callable[..., Any]:
    def kernel(*given: Any, **named: Any) -> Any:
        allowed = family.otherwise(*given, **named)
        if allowed is None:
            recorder.record(shown)
        return allowed

    return kernel


def _disable_function(path: str, stack: contextlib.ExitStack) -> None:
    """Replace the code of a function in place, so that every reference to it is affected."""
    function = _find(path)[2]
    if hasattr(function, "__code__"):  # imported, and present in this version of torch
        stack.callback(setattr, function, "__code__", function.__code__)
        function.__code__ = _record_forbidden_call.__code__


def _record_forbidden_call(*given: Any, **named: Any) -> None:
    # This code runs with the globals of another module.
    from autograder.run.forbidden_ops import _active_recorders

    _active_recorders[-1].record(_active_recorders[-1].forbidden[0])


@functools.cache
def _list_kernels(pattern: str) -> list[tuple[str, str]]:
    """Return the kernels of a family, as pairs of an operator and a dispatch key."""
    names = [n for n in torch._C._dispatch_get_all_op_names() if re.search(pattern, n.lower())]
    # Backward operators compute no answer, and there are many.
    return [
        (name, key)
        for name in names
        if "backward" not in name
        for key in _KEY.findall(torch._C._dispatch_dump(name))
    ]


# A line of a dump: "CPU: registered at ..." or "Autograd[alias]: registered at ...".
_KEY = re.compile(r"^(?!debug)(\w+)(?:\[alias\])?(?: \(inactive\))?: registered ", re.MULTILINE)
