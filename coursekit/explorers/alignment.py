"""Step through a translation and see where each target word looks."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import anywidget
import numpy as np
import traitlets

from coursekit.explorers.theme import stylesheet
from coursekit.plots import array

_HERE = Path(__file__).parent


class AlignmentExplorer(anywidget.AnyWidget):
    """An interactive alignment: pick a target word, see the weights of the source words.

    The reader steps with the buttons, the arrow keys, a click on a word or "play"; a list offers
    the sentences when there are several. It works in the published page without a kernel.

    Args:
        source: the source words (S of them), or a list of several sentences' words.
        target: the target words (T of them), or a list of several sentences' words.
        weights: (T, S), row i for target word i (array, tensor or nested list), or one such for
            each sentence. Kept with 4 decimals.
        links: gold links (source position, target position) counted from 0, or one collection of
            them for each sentence.

    Raises:
        ValueError: when words, weights and links do not fit together.
    """

    _esm = _HERE / "alignment.js"
    _css = stylesheet("alignment-explorer", _HERE / "alignment.css")

    sentences = traitlets.List(traitlets.Dict()).tag(sync=True)
    sentence = traitlets.Int(0).tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)

    def __init__(
        self,
        source: Sequence[str] | Sequence[Sequence[str]],
        target: Sequence[str] | Sequence[Sequence[str]],
        weights: Any,
        links: Collection[Any] | None = None,
        **options: Any,
    ) -> None:
        if isinstance(source, str) or isinstance(target, str):
            raise ValueError("source and target must be lists of words, not one string.")
        if not len(source) or not len(target):
            raise ValueError("source and target must each have at least one word.")
        if isinstance(source[0], str):
            if not isinstance(target[0], str):
                raise ValueError("source is one sentence but target is several; give as many.")
            sentences = [_sentence(source, target, weights, links, "")]
        else:
            if isinstance(target[0], str) or not len(source) == len(target) == len(weights):
                raise ValueError(
                    "give as many sources, targets and weight matrices as there are sentences: "
                    f"there are {len(source)} sources and {len(weights)} weight matrices."
                )
            gold = [None] * len(source) if links is None else list(links)
            if len(gold) != len(source):
                raise ValueError(
                    f"there are {len(source)} sentences but {len(gold)} collections of links."
                )
            sentences = [
                _sentence(*parts, where=f" of sentence {i}")
                for i, parts in enumerate(zip(source, target, weights, gold, strict=True))
            ]
        super().__init__(sentences=sentences, **options)

    @traitlets.validate("sentence")
    def _keep_sentence(self, proposal: Any) -> int:
        return _within(proposal["value"], len(self.sentences), "sentence")

    @traitlets.validate("step")
    def _keep_step(self, proposal: Any) -> int:
        longest = max((len(s["target"]) for s in self.sentences), default=1)
        return _within(proposal["value"], longest, "step")


def _within(value: int, count: int, name: str) -> int:
    if not 0 <= value < max(count, 1):
        raise ValueError(f"{name} must be from 0 to {max(count, 1) - 1}, not {value}.")
    return value


def _sentence(source: Any, target: Any, weights: Any, links: Any, where: str) -> dict[str, Any]:
    """One sentence as plain lists for the browser, checked and with rounded weights."""
    source, target = list(source), list(target)
    if not source or not target or not all(isinstance(word, str) for word in source + target):
        raise ValueError(f"the source and target{where} must be non-empty lists of words.")
    try:
        matrix = np.stack([array(row) for row in weights])
    except (TypeError, ValueError):  # rows of different lengths, or no numbers
        matrix = np.empty(0)
    if matrix.shape != (len(target), len(source)):
        raise ValueError(
            f"the weights{where} must have one row for each of the {len(target)} target words and "
            f"one column for each of the {len(source)} source words."
        )
    rounded = [[round(value, 4) for value in row] for row in matrix.tolist()]
    if not all(math.isfinite(value) and 0 <= value <= 1 for row in rounded for value in row):
        raise ValueError(f"the weights{where} must be numbers between 0 and 1.")
    gold = sorted((int(s), int(t)) for s, t in (() if links is None else links))
    for s, t in gold:
        if not (0 <= s < len(source) and 0 <= t < len(target)):
            raise ValueError(
                f"the link ({s}, {t}){where} lies outside its {len(source)} source words and "
                f"{len(target)} target words."
            )
    return {
        "source": source,
        "target": target,
        "weights": rounded,
        "links": [list(link) for link in gold],
    }
