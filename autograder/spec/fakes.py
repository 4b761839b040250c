"""Registers the fakes that checks pass to answers in place of other exercises' classes."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import nn

from autograder.spec import byte_codec
from autograder.spec.exercise import Fake

Maker = TypeVar("Maker", bound=Callable[..., Any])


@dataclass(frozen=True)
class RegisteredFake:
    """A fake's constructor, its usage hint, and a function that formats its arguments."""

    make: Callable[..., Any]
    use: str
    show: Callable[..., str]


FAKES: dict[str, RegisteredFake] = {}


def register_fake(
    use: str, *, name: str = "", show: Callable[..., str] = lambda *arguments: ""
) -> Callable[[Maker], Maker]:
    """Register the decorated class or function as a fake.

    Args:
        use: what the fake is and how an answer uses it, as in "The check passes {use}"; "" for
            torch's own layers.
        name: name of the fake in a `Fake`; "" for the name of the class or function.
        show: formats the fake's arguments for a card.
    """

    def register(make: Maker) -> Maker:
        FAKES[name or make.__name__] = RegisteredFake(make, use, show)
        return make

    return register


@register_fake(
    "a torch.Generator: hand it on to what draws, as generator=generator", name="Generator"
)
def generator(seed: int) -> torch.Generator:
    """Return a random number generator with the given seed."""
    return torch.Generator().manual_seed(seed)


def build_argument(value: Any, dtype: torch.dtype | None = None) -> Any:
    """Return the object that a `Fake` names, a copy of a list, or any other value unchanged.

    Args:
        value: argument of a case.
        dtype: dtype of a module's parameters, if it is not torch's default.
    """
    if isinstance(value, Fake):
        made = FAKES[value.name].make(*value.arguments)
        return made.to(dtype) if dtype and isinstance(made, nn.Module) else made
    return copy.deepcopy(value) if isinstance(value, list) else value


def find_usage_hint(values: Iterable[Any], error: str) -> str:
    """Return the usage hint of the fake that an error message mentions, or ""."""
    for value in values:
        if isinstance(value, Fake) and (use := FAKES[value.name].use):
            made = build_argument(value)
            for member in made if isinstance(made, nn.ModuleList) else [made]:
                kind = type(member)
                names = kind.__name__, f"{kind.__module__}.{kind.__name__}"
                if any(f"'{n}' object " in error or f"of type '{n}'" in error for n in names):
                    return use
    return ""


def format_argument(value: Any) -> str:
    """Return an argument as a card shows it, or "" for a fake without a formatter."""
    if isinstance(value, Fake):
        return FAKES[value.name].show(*value.arguments)
    return byte_codec.show(value)
