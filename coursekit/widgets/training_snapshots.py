"""Widget that shows what a translator knows about one sentence in the course of its training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import anywidget
import numpy as np
import traitlets

from coursekit.widgets.assets import script, stylesheet


class TrainingExplorer(anywidget.AnyWidget):
    """Explorer of a training: the loss, and the words and weights of a sentence, at each snapshot.

    The reader moves through the training with a slider or "play", or presses the curves, and
    chooses the target word whose probability and weights are told in words. It works in the
    published page without a kernel.

    Args:
        sentences: each a mapping with the S words "source", the T words "target", and optionally a
            "title" for the list.
        snapshots: in the order of the training, each a mapping with
            "update": the number of updates before it;
            "loss": the mean loss since the snapshot before;
            "sentences": for each sentence "probabilities" (T,) of its target words, each after the
                true words before it, the "weights" (T, S) with which they look at the source, and
                what the model has "written" by itself. Numbers are rounded to 3 decimals.
        language: of the target words, such as fr.
        glosses: the meaning of target words, where known.
        snapshot: which one is shown at first; -1 for the last.
        word: place of the target word that is chosen at first, from 0.

    Raises:
        ValueError: there is no sentence, there are fewer than two snapshots or their updates do not
            rise, or the sizes of words and numbers do not match.
    """

    _esm = script("live/shared", "training_snapshots")
    _css = stylesheet("training_snapshots", "training")

    sentences = traitlets.List(traitlets.Dict()).tag(sync=True)
    updates = traitlets.List(traitlets.Int()).tag(sync=True)
    losses = traitlets.List(traitlets.Float()).tag(sync=True)
    language = traitlets.Unicode("").tag(sync=True)
    glosses = traitlets.Dict().tag(sync=True)
    shown = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        sentences: Sequence[Mapping[str, Any]],
        snapshots: Sequence[Mapping[str, Any]],
        *,
        language: str = "",
        glosses: Mapping[str, str] | None = None,
        snapshot: int = -1,
        word: int = 0,
        **options: Any,
    ) -> None:
        updates = [int(one["update"]) for one in snapshots]
        if not len(sentences):
            raise ValueError("sentences must hold at least one sentence.")
        if len(updates) < 2 or any(a >= b for a, b in pairwise(updates)):
            raise ValueError("there must be at least two snapshots, whose updates rise.")
        prepared = [
            _prepare(sentence, [one["sentences"][i] for one in snapshots], i)
            for i, sentence in enumerate(sentences)
        ]
        if not 0 <= word < len(prepared[0]["target"]):
            raise ValueError(f"the first sentence has no target word {word}.")
        super().__init__(
            sentences=prepared,
            updates=updates,
            losses=[round(float(one["loss"]), 3) for one in snapshots],
            language=language,
            glosses=dict(glosses or {}),
            shown={"sentence": 0, "snapshot": snapshot % len(updates), "word": word},
            **options,
        )


def _prepare(
    sentence: Mapping[str, Any], seen: Sequence[Mapping[str, Any]], i: int
) -> dict[str, Any]:
    """Return a sentence as plain values for the browser, its numbers in thousandths."""
    source, target = list(sentence["source"]), list(sentence["target"])
    frames = []
    for one in seen:
        probabilities, weights = np.asarray(one["probabilities"]), np.asarray(one["weights"])
        if probabilities.shape != (len(target),) or weights.shape != (len(target), len(source)):
            raise ValueError(
                f"sentence {i} needs {len(target)} probabilities and weights of the shape "
                f"({len(target)}, {len(source)}), not {probabilities.shape} and {weights.shape}."
            )
        frames.append(
            {
                "probabilities": np.rint(1000 * probabilities).astype(int).tolist(),
                "weights": np.rint(1000 * weights).astype(int).tolist(),
                "written": str(one["written"]),
            }
        )
    return {
        "source": source,
        "target": target,
        "title": sentence.get("title", " ".join(source)),
        "frames": frames,
    }
