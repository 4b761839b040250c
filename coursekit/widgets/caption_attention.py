"""Widget that shows where a caption model attends in a picture, word by word."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import anywidget
import matplotlib.image
import numpy as np
import traitlets

from coursekit.plots.charts import to_numpy
from coursekit.widgets.assets import script, stylesheet


@dataclass(frozen=True)
class Look:
    """A picture, a model's caption of it, and the attention weights.

    Attributes:
        picture: uint8 (H, W, 3).
        words: the T words of the model's caption.
        weights: (T, N), N = n * n locations of an n x n feature map, row by row.
        regions: for each word the locations it refers to, bool (N,), or None if there are none.
        truth: the true caption, as text.
    """

    picture: Any
    words: Sequence[str]
    weights: Any
    regions: Sequence[Any]
    truth: str


class GazeExplorer(anywidget.AnyWidget):
    """Explorer of attention over pictures: the reader picks a scene and a word.

    The picture is dark where the weights are small; an outline shows the word's true region. It
    works with mouse and keyboard, in the published page without a kernel, and describes in words
    what it shows.

    Args:
        looks: at least one `Look`. Weights are rounded to 4 decimals.

    Raises:
        ValueError: the sizes do not match.
    """

    _esm = script("caption_attention")
    _css = stylesheet("caption_attention", "gaze")

    scenes = traitlets.List(traitlets.Dict()).tag(sync=True)
    scene = traitlets.Int(0).tag(sync=True)
    word = traitlets.Int(0).tag(sync=True)

    def __init__(self, looks: Sequence[Look], **options: Any) -> None:
        if not looks:
            raise ValueError("looks must hold at least one picture with its caption.")
        scenes = [_scene(i, look) for i, look in enumerate(looks)]
        # Open on a word that is about a place: "a" shows nothing.
        about = [t for t, region in enumerate(scenes[options.get("scene", 0)]["regions"]) if region]
        options.setdefault("word", about[0] if about else 0)
        super().__init__(scenes=scenes, **options)


def _scene(number: int, look: Look) -> dict[str, Any]:
    """Return one picture as plain values for the browser, checked and with rounded weights."""
    where = f"of look {number}"
    picture = np.asarray(look.picture)
    if picture.dtype != np.uint8 or picture.ndim != 3 or picture.shape[2] != 3:
        raise ValueError(f"the picture {where} must be uint8 of the shape (H, W, 3).")
    words = list(look.words) if not isinstance(look.words, str) else []
    if not words or not all(isinstance(word, str) and word for word in words):
        raise ValueError(f"the words {where} must be a list of at least one word.")
    weights = to_numpy(look.weights)
    grid = math.isqrt(weights.shape[-1]) if weights.ndim == 2 else 0
    if grid == 0 or weights.shape != (len(words), grid * grid):
        raise ValueError(
            f"the weights {where} must have the shape ({len(words)}, n * n), a row for each word, "
            f"not {weights.shape}."
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all() and (weights <= 1.0001).all()):
        raise ValueError(f"the weights {where} must be numbers between 0 and 1.")
    if len(look.regions) != len(words):
        raise ValueError(f"the regions {where} must be {len(words)}, one for each word or None.")
    regions: list[list[int]] = []
    for region in look.regions:
        inside = np.zeros(grid * grid) if region is None else to_numpy(region)
        if inside.shape != (grid * grid,):
            raise ValueError(f"a region {where} must have {grid * grid} places, or be None.")
        regions.append(np.flatnonzero(inside).tolist())
    return {
        "picture": _png(picture),
        "words": words,
        "weights": [[round(value, 4) for value in row] for row in weights.tolist()],
        "regions": regions,
        "truth": look.truth,
    }


def _png(picture: np.ndarray) -> str:
    """Return the picture as a data URL."""
    stream = io.BytesIO()
    matplotlib.image.imsave(stream, picture, format="png")
    return "data:image/png;base64," + base64.b64encode(stream.getvalue()).decode()
