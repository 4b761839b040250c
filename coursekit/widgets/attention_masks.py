"""Widget that shows the masks of the Transformer's three kinds of attention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import anywidget
import traitlets

from coursekit.plots.charts import to_numpy
from coursekit.widgets.assets import script, stylesheet

USES = ("encoder", "decoder", "memory")


class MasksExplorer(anywidget.AnyWidget):
    """Explorer of the masks of the encoder, of the decoder and of the attention between them.

    It shows a table with a row for each query and a column for each key; the reader picks the
    attention and the query. Padding is masked everywhere, and later words in the decoder. With
    scores, the cells hold the weights, and the reader can take the mask away.

    Args:
        source: the words of the source sentence, padding included.
        target: the words that the decoder reads, padding included.
        pad: the padding token.
        use: the initial attention: "encoder", "decoder" or "memory".
        scores: for each use the scores before the mask, a row for each query and a column for each
            key (array, tensor or nested list). Rounded to 3 decimals.

    Raises:
        ValueError: words are missing, the use is unknown, or scores have another shape.
    """

    _esm = script("attention_masks")
    _css = stylesheet("attention_masks", "masks")

    source = traitlets.List(traitlets.Unicode()).tag(sync=True)
    target = traitlets.List(traitlets.Unicode()).tag(sync=True)
    pad = traitlets.Unicode("<pad>").tag(sync=True)
    use = traitlets.Unicode("encoder").tag(sync=True)
    row = traitlets.Int(0).tag(sync=True)
    scores = traitlets.Dict().tag(sync=True)
    masked = traitlets.Bool(True).tag(sync=True)

    def __init__(
        self,
        source: Sequence[str],
        target: Sequence[str],
        pad: str = "<pad>",
        use: str = "encoder",
        scores: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        sentences = []
        for name, words in (("source", source), ("target", target)):
            sentence = list(words) if not isinstance(words, str) else []
            if not sentence or not all(isinstance(word, str) and word for word in sentence):
                raise ValueError(f"{name} must be a list of at least one word.")
            sentences.append(sentence)
        if use not in USES:
            raise ValueError(f"use must be one of {', '.join(USES)}, not {use!r}.")
        kept = {}
        for name, rows in (scores or {}).items():
            queries, keys = sentences[name != "encoder"], sentences[name == "decoder"]
            table = to_numpy(rows)
            if name not in USES or table.shape != (len(queries), len(keys)):
                raise ValueError(
                    f"the scores of {name!r} must be a table for one of {', '.join(USES)}, with a "
                    "row for each query and a column for each key."
                )
            kept[name] = [[round(number, 3) for number in row] for row in table.tolist()]
        if kept and set(kept) != set(USES):
            raise ValueError(f"scores must hold a table for each of {', '.join(USES)}.")
        super().__init__(
            source=sentences[0], target=sentences[1], pad=pad, use=use, scores=kept, **options
        )
