"""Registry of fakes that checks pass to answers in place of other exercises' classes."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import nn

from autograder.spec import plain_codec
from autograder.spec.exercise import Fake

Maker = TypeVar("Maker", bound=Callable[..., Any])


@dataclass(frozen=True)
class RegisteredFake:
    """How a fake is made, how it is used, and what a card shows of its arguments."""

    make: Callable[..., Any]
    use: str
    show: Callable[..., str]


FAKES: dict[str, RegisteredFake] = {}


def register_fake(
    use: str, *, name: str = "", show: Callable[..., str] = lambda *arguments: ""
) -> Callable[[Maker], Maker]:
    """Make what is decorated a fake.

    Args:
        use: what it is and how an answer uses it, as in "The check passes {use}"; "" for torch's
            own layers.
        name: its name in a `Fake`; "" for that of the class.
        show: what a card shows of it, given its arguments.
    """

    def register(make: Maker) -> Maker:
        FAKES[name or make.__name__] = RegisteredFake(make, use, show)
        return make

    return register


@register_fake(
    "a torch.Generator: hand it on to what draws, as generator=generator", name="Generator"
)
def generator(seed: int) -> torch.Generator:
    """Return a generator of random numbers that begins at a seed."""
    return torch.Generator().manual_seed(seed)


def build_argument(value: Any, dtype: torch.dtype | None = None) -> Any:
    """Return the object that a `Fake` names, a copy of a list, and anything else as it is.

    Args:
        value: of a case.
        dtype: of a module's parameters, if not torch's default.
    """
    if isinstance(value, Fake):
        made = FAKES[value.name].make(*value.arguments)
        return made.to(dtype) if dtype and isinstance(made, nn.Module) else made
    return copy.deepcopy(value) if isinstance(value, list) else value


def find_usage_hint(values: Iterable[Any], error: str) -> str:
    """Return how that of the given fakes is used of which an error speaks, or ""."""
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
    """Return a given argument as a card shows it; "" for a fake that says nothing."""
    if isinstance(value, Fake):
        return FAKES[value.name].show(*value.arguments)
    return plain_codec.show(value)
