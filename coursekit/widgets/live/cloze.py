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
    """A masked language model at work: any word of one text or two can be hidden.

    The reader types texts of the vocabulary's words and presses a word. The model's guesses are
    shown, and whether the second text follows the first. Each other word is then hidden as well, to
    see which ones the guess rests on; or a head's weights are shown. Heads can be switched off. It
    works in the published page without a kernel, where the address holds what is shown.

    Args:
        weights: a `PretrainingModel` of `BertEncoder` and `MaskedLanguageModelHead`, as `pack`
            returns it.
        words: its vocabulary, in which each word is one piece, the special ones first.
        heads: the number of heads in a layer.
        examples: texts to begin with, each (words of the first, words of the second, place of the
            word that is hidden, counted from 0 over both). The first is shown at first.
        left: a `Filler` of the same sizes that sees the left, packed, to show beside it; or None.
        eps: of every LayerNorm.

    Raises:
        ValueError: there is no example, a word of one is unknown, a place is none, the texts are
            longer than the model reads, or the model is of another kind.
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
    special = traitlets.Int(len(SPECIAL)).tag(sync=True)  # so many ids are no words
    most = traitlets.Int(0).tag(sync=True)  # words of both texts
    examples = traitlets.List(traitlets.Dict()).tag(sync=True)
    # What the reader has chosen: first, second (words), hidden (a place), off (heads, "1.2" is the
    # second of the first layer), show ("" or a head).
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
                    f"an example needs a first text, at most {most} words in all, and a word "
                    f"{hidden} to hide."
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
