"""Helper that checks one-line error messages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def refused(message: str) -> Iterator[None]:
    """Expect a one-line ValueError that ends like a sentence and matches `message`."""
    with pytest.raises(ValueError, match=message) as caught:
        yield
    said = str(caught.value)
    assert "\n" not in said and said.endswith("."), said
