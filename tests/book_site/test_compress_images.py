"""Tests of image compression: plots get a palette, other pictures are left unchanged."""

import numpy as np
from PIL import Image

from tools.compress_images import shrink, shrink_pictures


def drawn(path, kind):
    rng = np.random.default_rng(0)
    y, x = np.mgrid[:100, :300]
    pixels = np.full((200, 300, 4), 255, dtype=np.uint8)
    waves = 2 * (50 + 50 * np.sin(x * y / 500))  # about a hundred colours and a white margin
    pixels[50:150, :, :3] = waves.astype(np.uint8)[..., None] // 2 * (1, 2, 2)
    if kind == "noise":
        pixels[..., :3] = rng.integers(0, 256, (200, 300, 3))
    if kind == "glass":
        pixels[..., 3] = 128
    Image.fromarray(pixels).save(path)


def test_a_plot_is_smaller_and_looks_the_same(tmp_path):
    path = tmp_path / "plot.png"
    drawn(path, "plot")
    before, pixels = path.stat().st_size, np.asarray(Image.open(path).convert("RGB"), dtype=int)
    saved = shrink_pictures(tmp_path)
    assert path.stat().st_size == before - saved < before
    after = np.asarray(Image.open(path).convert("RGB"))
    assert np.abs(after - pixels).mean() < 0.5
    assert (after[:50] == 255).all()
    assert shrink(path) == 0, "twice is not better"


def test_what_would_look_different_is_left(tmp_path):
    for kind in ("noise", "glass"):
        path = tmp_path / f"{kind}.png"
        drawn(path, kind)
        before = path.read_bytes()
        assert shrink(path) == 0
        assert path.read_bytes() == before
