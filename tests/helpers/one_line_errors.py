"""A mistake of a user's gets one clear sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def refused(message: str) -> Iterator[None]:
    """Expect a ValueError of one line, which ends as a sentence and matches `message`."""
    with pytest.raises(ValueError, match=message) as caught:
        yield
    said = str(caught.value)
    assert "\n" not in said and said.endswith("."), said
