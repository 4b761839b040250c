"""Tests that apply to every explorer."""

import pytest

from coursekit import widgets
from coursekit.plots import style


@pytest.mark.parametrize(
    "explorer",
    [kind for kind in vars(widgets).values() if hasattr(kind, "_esm")],
    ids=lambda kind: kind.__name__,
)
def test_nothing_is_fetched_and_colours_come_from_the_one_master(explorer):
    code = explorer._esm + explorer._css
    assert "import " not in explorer._esm
    assert code.count("http") == code.count("http://www.w3.org/2000/svg")
    for name in ("ink", "accent", "gold", "paper"):
        assert f"--course-{name}" in code
        assert style.LIGHT[name] in code
