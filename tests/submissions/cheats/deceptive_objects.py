"""Cheats with deceptive objects: tensors that lie, types that change."""

from __future__ import annotations

from typing import Any

from tests.submissions.cheats.cheat_builders import WRONG, in_code


def _one(slug: str, title: str, opening: str, masked: str, additive: str, **more: Any):
    answers = {
        "masked_softmax": f"def masked_softmax(scores, mask):\n    return {masked}\n",
        "additive_score": f"def additive_score(query, keys, W, U, v):\n    return {additive}\n",
    }
    return in_code(
        "deceptive_objects",
        slug,
        title,
        opening,
        answers,
        attacks=("masked_softmax", "additive_score"),
        **more,
    )


def _wrapped(slug: str, title: str, opening: str, **more: Any):
    """Return a cheat whose answers are `lie(zeros, leaves)`, which hides its arguments."""
    return _one(
        slug,
        title,
        opening,
        "lie(scores * 0)",
        "lie((keys * 0).sum(-1) + 0 * sum(t.sum() for t in (query, W, U, v)))",
        **more,
    )


CHEATS = [
    _wrapped(
        "equal-to-all",
        "a tensor that answers every comparison with True",
        """
class Equal(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, given=(), more=None):
        name = getattr(function, "__name__", "")
        if name in ("allclose", "equal"):
            return True
        if name in ("isclose", "eq", "__eq__", "le", "isfinite"):
            return torch.ones(given[0].shape, dtype=torch.bool)
        return super().__torch_function__(function, types, given, more or {})

    __eq__ = lambda self, other: True
    __hash__ = torch.Tensor.__hash__

def lie(zeros):
    return zeros.as_subclass(Equal)
""",
    ),
    _wrapped(
        "writes-into-the-right-one",
        "a tensor that overwrites what it is compared with",
        """
class Overwriting(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, given=(), more=None):
        more = more or {}
        if getattr(function, "__name__", "") in ("allclose", "equal", "isclose"):
            with torch._C.DisableTorchFunctionSubclass():
                one, other = given[:2]
                (other if isinstance(one, cls) else one).zero_()
        return super().__torch_function__(function, types, given, more)

def lie(zeros):
    return zeros.as_subclass(Overwriting)
""",
    ),
    _wrapped(
        "learns-the-right-one",
        "a tensor that copies what it is compared with",
        """
class Learning(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, given=(), more=None):
        more = more or {}
        if getattr(function, "__name__", "") in ("allclose", "equal", "isclose"):
            with torch._C.DisableTorchFunctionSubclass():
                mine = next(t for t in given if isinstance(t, cls))
                right = next(t for t in given[:2] if not isinstance(t, cls))
                mine.copy_(right)
        return super().__torch_function__(function, types, given, more)

def lie(zeros):
    return zeros.as_subclass(Learning)
""",
    ),
    _wrapped(
        "says-it-is-a-tensor",
        "no tensor at all, but __class__ says so",
        """
class Anything:
    __class__ = property(lambda self: torch.Tensor)
    shape = property(lambda self: self.inner.shape)
    dtype = property(lambda self: self.inner.dtype)

    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return lambda *given, **more: self

    def __eq__(self, other):
        return True

    def __mul__(self, other):
        return self.inner * other

    @classmethod
    def __torch_function__(cls, function, types, given=(), more=None):
        return True

def lie(zeros):
    return Anything(zeros)
""",
    ),
    _wrapped(
        "changes-after-return",
        "numbers that go on changing after they were returned",
        """
import threading, time

ALL = []

def change():
    while True:
        for found in ALL[-20:]:
            found.uniform_()
        time.sleep(0.0005)

threading.Thread(target=change, daemon=True).start()

def lie(zeros):
    ALL.append(zeros)
    return zeros
""",
    ),
    _wrapped(
        "not-a-number",
        "NaN, which some judges find equal to anything",
        "def lie(zeros):\n    return zeros.double().fill_(float('nan')).to(zeros.dtype)\n",
    ),
    _wrapped(
        "deep-copy-lies",
        "a tensor that turns into another one when it is copied or sent",
        """
class Turning(torch.Tensor):
    def clone(self, *given, **more):
        return self

    detach = contiguous = cpu = double = to = requires_grad_ = clone

    def __deepcopy__(self, memo):
        return self

    def __reduce_ex__(self, protocol):
        import os
        return (os.system, ("touch /tmp/@MARK@-reduced",))

    def tolist(self):
        return [float("nan")]

    def numpy(self, **more):
        raise MemoryError

def lie(zeros):
    return torch.Tensor._make_subclass(Turning, zeros)
""",
    ),
    _one(
        "odd-types",
        "complex, sparse and meta tensors that nobody compares",
        "",
        "(scores * 0).to(torch.complex128) if scores.shape[0] % 2 else (scores * 0).to_sparse()",
        "(keys * 0).sum(-1).to('meta')",
    ),
    in_code(
        "deceptive_objects",
        "module-that-lies",
        "a module whose parameters, call and results are made for the judge",
        """
class Pair(tuple):
    def __len__(self):
        return 2

    def __eq__(self, other):
        return True

    __hash__ = tuple.__hash__
""",
        {
            "AdditiveAttention": WRONG["AdditiveAttention"]
            + """
    def __call__(self, query, keys, mask, projected_keys=None):
        return Pair(self.forward(query, keys, mask, projected_keys))

    def state_dict(self, *given, **more):
        found = super().state_dict(*given, **more)
        found.__class__.__eq__ = lambda self, other: True
        return found

    def named_parameters(self, *given, **more):
        return iter(())
"""
        },
    ),
    in_code(
        "deceptive_objects",
        "class-that-is-all-classes",
        "a metaclass that is an instance of everything",
        """
class Everything(type(nn.Module)):
    def __instancecheck__(cls, thing):
        return True

    def __subclasscheck__(cls, thing):
        return True

    def __eq__(cls, other):
        return True

    __hash__ = type.__hash__

    def __call__(cls, *given, **more):
        from autograder.exercises._fakes import DistanceAttention
        return DistanceAttention(*given)
""",
        {
            "AdditiveAttention": WRONG["AdditiveAttention"].replace(
                "(nn.Module)", "(nn.Module, metaclass=Everything)"
            )
        },
    ),
]
