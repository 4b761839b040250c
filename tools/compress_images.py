"""Compression of the built site's pictures with a palette, since plots have few colours.

matplotlib writes four bytes per pixel; a palette needs one, and the file has a third of the size.
The difference is measured here and is invisible.
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from PIL import Image

COLOURS = 128
SEEN = 0.5  # mean difference, of 255, above which a picture is left unchanged


def shrink(path: Path) -> int:
    """Rewrite a PNG with a palette if it is smaller and looks the same; return the bytes saved."""
    with Image.open(path) as picture:
        if picture.mode not in ("RGB", "RGBA"):
            return 0  # it already has a palette or few bits
        whole = picture.convert("RGBA")
    if whole.getchannel("A").getextrema() != (255, 255):
        return 0  # it has transparency
    plain = whole.convert("RGB")
    median = Image.Quantize.MEDIANCUT
    for kmeans in (0, 1):  # a better palette takes three times as long; few pictures need it
        few = plain.quantize(COLOURS, method=median, kmeans=kmeans, dither=Image.Dither.NONE)
        difference = np.asarray(few.convert("RGB"), dtype=int) - np.asarray(plain)
        if np.abs(difference).mean() <= SEEN:
            break
    else:
        return 0
    content = io.BytesIO()
    few.save(content, "PNG", optimize=True)
    saved = path.stat().st_size - len(content.getvalue())
    if saved <= 0:
        return 0
    path.write_bytes(content.getvalue())
    return saved


def shrink_pictures(folder: Path) -> int:
    """Shrink all PNGs in a folder; return the bytes saved."""
    return sum(shrink(path) for path in sorted(folder.glob("*.png")))
