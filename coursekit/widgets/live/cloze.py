"""Widget that runs a trained BERT in the browser to fill in a hidden word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anywidget
import traitlets

from coursekit.text.wordpiece import SPECIAL, WordPieceVocabulary
from coursekit.widgets.assets import script, stylesheet
from coursekit.widgets.live.weight_packing import Packed

_NEEDED = ("encoder.embeddings.token.weight", "head.transform.weight", "pooler.weight")


class ClozeExplorer(anywidget.AnyWidget):
    """Explorer of a masked language model: any word of one or two texts can be hidden.

    The reader types texts from the vocabulary and clicks a word to hide it. The explorer shows the
    model's guesses, and whether the second text follows the first. It also hides each other word in
    turn, to show which ones the guess depends on, or shows a head's weights. Heads can be switched
    off. It works in the published page without a kernel, and the URL stores the view.

    Args:
        weights: a `PretrainingModel` of `BertEncoder` and `MaskedLanguageModelHead`, as `pack`
            returns it.
        words: its vocabulary, in which each word is one piece, special tokens first.
        heads: the number of heads in a layer.
        examples: example texts, each (words of the first, words of the second, position of the
            hidden word, counted from 0 over both). The first example is shown initially.
        left: a packed `Filler` of the same sizes that sees the left, for comparison; or None.
        eps: eps of every LayerNorm.

    Raises:
        ValueError: there is no example, an example has an unknown word, an invalid position or too
            many words, or the model is of another kind.
    """

    _esm = script("live/engine", "live/shared", "live/cloze")
    _css = stylesheet("live/cloze")

    weights = traitlets.Dict().tag(sync=True)
    left = traitlets.Dict().tag(sync=True)
    words = traitlets.List(traitlets.Unicode()).tag(sync=True)
    heads = traitlets.Int(1).tag(sync=True)
    eps = traitlets.Float(1e-12).tag(sync=True)
    cls = traitlets.Int(0).tag(sync=True)
    sep = traitlets.Int(0).tag(sync=True)
    mask = traitlets.Int(0).tag(sync=True)
    special = traitlets.Int(len(SPECIAL)).tag(sync=True)  # ids below this are not words
    most = traitlets.Int(0).tag(sync=True)  # maximum words of both texts
    examples = traitlets.List(traitlets.Dict()).tag(sync=True)
    # The reader's choices: first, second (words), hidden (a position), off (heads; "1.2" is the
    # second head of the first layer), show ("" or a head).
    shown = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        weights: Packed,
        words: WordPieceVocabulary,
        heads: int,
        examples: Sequence[tuple[Sequence[str], Sequence[str], int]],
        left: Packed | None = None,
        eps: float = 1e-12,
        **options: Any,
    ) -> None:
        if not all(name in weights for name in _NEEDED):
            raise ValueError("weights must be a packed PretrainingModel.")
        if left is not None and not all(name in left for name in _NEEDED[:2]):
            raise ValueError("left must be a packed Filler.")
        if sorted(words.special_ids) != list(range(len(SPECIAL))):
            raise ValueError("the special tokens must be the first ids of the vocabulary.")
        if not examples:
            raise ValueError("examples must hold at least one text.")
        most = weights["encoder.embeddings.position.weight"]["shape"][0] - 3
        for first, second, hidden in examples:
            unknown = [word for word in (*first, *second) if word not in words]
            if unknown:
                raise ValueError(f"{unknown[0]!r} is not in the vocabulary.")
            if not first or not 0 <= hidden < len(first) + len(second) <= most:
                raise ValueError(
                    f"an example needs a first text and at most {most} words in total, and the "
                    f"position {hidden} must be one of them."
                )
        super().__init__(
            weights=weights,
            left=left or {},
            words=words.tokens(range(len(words))),
            heads=heads,
            eps=eps,
            cls=words.cls_id,
            sep=words.sep_id,
            mask=words.mask_id,
            most=most,
            examples=[
                {"first": [*first], "second": [*second], "hidden": hidden}
                for first, second, hidden in examples
            ],
            **options,
        )
