"""Widget that steps through a beam search and shows which hypotheses are kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

import anywidget
import torch
import traitlets
from torch import Tensor

from coursekit.data.batching import source_batch
from coursekit.models.greedy_decoding import Step, device_of
from coursekit.text.vocabulary import BOS, EOS
from coursekit.widgets.assets import script, stylesheet

FATES = ("kept", "cut", "finished")


class SearchRecorder:
    """Wrapper of a model's `step` that records the calls of a search.

    It carries the words of each hypothesis in the state, so that it can tell which hypotheses the
    search keeps:

        recorder = SearchRecorder(model.step)
        tokens, score = beam_search(recorder, recorder.start(state), 4, BOS, EOS, 30)
        steps = recorder.steps(4, EOS, vocabulary.tokens)

    Args:
        step: `step(tokens (K,), state) -> (log_probs (K, V), state)`.
    """

    def __init__(self, step: Step):
        self._step = step
        self._calls: list[tuple[list[tuple[int, ...]], Tensor]] = []

    def start(self, state: Any) -> dict[str, Any]:
        """Return the initial state of a search, and forget any earlier search."""
        self._calls = []
        words = torch.zeros(1, 0, dtype=torch.long, device=device_of(state))  # (1, 0)
        return {"state": state, "words": words}

    def __call__(self, tokens: Tensor, state: dict[str, Any]) -> tuple[Tensor, dict[str, Any]]:
        """Return log p of every next word, (K, V), and the new state."""
        words = torch.cat([state["words"], tokens.unsqueeze(1)], dim=1)  # (K, L)
        log_probs, moved = self._step(tokens, state["state"])
        self._calls.append(([tuple(row) for row in words.tolist()], log_probs.detach().cpu()))
        return log_probs, {"state": moved, "words": words}

    def steps(
        self,
        beam_size: int,
        eos_id: int,
        names: Callable[[Sequence[int]], Sequence[str]],
        cut: int = 3,
    ) -> list[list[dict[str, Any]]]:
        """Return the extensions of each step, best first, with their fates.

        Args:
            beam_size: beam size of the recorded search.
            eos_id: id that ends a sentence.
            names: maps ids to words.
            cut: number of discarded extensions to list.

        Returns:
            for each step a list of {"parent": index in the list of the previous step, or -1,
            "word", "log_p", "total", "fate": "kept", "cut" or "finished"}.
        """
        shown: list[list[dict[str, Any]]] = []
        live: dict[tuple[int, ...], tuple[int, float]] = {}  # words -> index, total
        places = beam_size
        for (hypotheses, log_probs), after in zip(
            self._calls, [*(set(h) for h, _ in self._calls[1:]), None], strict=True
        ):
            extensions = []
            for words, row in zip(hypotheses, log_probs, strict=True):
                parent, total = live.get(words, (-1, 0.0))
                best = row.topk(min(len(row), beam_size + cut))
                extensions += [
                    (total + value, words, word, parent, value)
                    for value, word in zip(best.values.tolist(), best.indices.tolist(), strict=True)
                ]
            listing = sorted(extensions, key=itemgetter(0), reverse=True)[: places + cut]
            live, listed, ended = {}, [], 0
            for place, (total, words, word, parent, value) in enumerate(listing):
                fate = "cut"
                if after is not None and (*words, word) in after:
                    fate = "kept"
                    live[(*words, word)] = (place, total)
                elif place < places:
                    fate = "finished"
                    ended += 1
                listed.append(
                    {
                        "parent": parent,
                        "word": names([word])[0] if word != eos_id else "<eos>",
                        "log_p": round(value, 3),
                        "total": round(total, 3),
                        "fate": fate,
                    }
                )
            places -= ended
            shown.append(listed)
        return shown


@torch.no_grad()
def record_searches(
    search: Callable[..., tuple[Tensor, Any]],
    model: Any,
    source: Sequence[int],
    names: Callable[[Sequence[int]], Sequence[str]],
    beam_sizes: Sequence[int] = (1, 2, 3, 4),
) -> dict[int, dict[str, Any]]:
    """Search for a translation with each beam size, and record the steps for `BeamExplorer`.

    Args:
        search: a beam search with the signature of the exercise's `beam_search`.
        model: a translator of `coursekit.models.translation`.
        source: ids of a source sentence, with <eos>.
        names: maps target ids to words.
        beam_sizes: the beam sizes to search with.

    Returns:
        beam size -> {"words": the translation, "log_p": its log probability, "steps"}.
    """
    recorder = SearchRecorder(model.step)
    found = {}
    for size in beam_sizes:
        start = recorder.start(model.encode(*source_batch([source])))
        ids, log_p = search(recorder, start, size, BOS, EOS, 2 * len(source) + 10)
        steps = recorder.steps(size, EOS, names)
        found[size] = {"words": names(ids.tolist()), "log_p": float(log_p), "steps": steps}
    return found


class BeamExplorer(anywidget.AnyWidget):
    """Explorer of beam search: the tree of hypotheses, one step at a time.

    The reader chooses a sentence and a beam size and steps through the search with buttons or a
    slider. It works in the published page without a kernel.

    Args:
        sources: the words of each source sentence.
        searches: for each sentence, beam size -> steps as returned by `SearchRecorder.steps`.

    Raises:
        ValueError: there is nothing to show, or the steps are inconsistent.
    """

    _esm = script("beam_search")
    _css = stylesheet("beam_search", "beam")

    searches = traitlets.List(traitlets.Dict()).tag(sync=True)
    search = traitlets.Int(0).tag(sync=True)
    beam = traitlets.Int(0).tag(sync=True)
    position = traitlets.Int(0).tag(sync=True)

    def __init__(
        self,
        sources: Sequence[Sequence[str]],
        searches: Sequence[Mapping[int, Sequence[Sequence[Mapping[str, Any]]]]],
        **options: Any,
    ) -> None:
        if not len(sources) or len(sources) != len(searches):
            raise ValueError(
                f"give as many searches as there are sentences, at least one: there are "
                f"{len(sources)} sentences and {len(searches)} searches."
            )
        members = []
        for i, (words, sizes) in enumerate(zip(sources, searches, strict=True)):
            if isinstance(words, str) or not words or not sizes:
                raise ValueError(f"sentence {i} must be a list of words with at least one search.")
            for size, steps in sizes.items():
                _check(steps, f"the search of sentence {i} with a beam of {size}")
            members.append(
                {
                    "source": list(words),
                    "beams": [
                        {"size": int(size), "steps": [[dict(e) for e in step] for step in steps]}
                        for size, steps in sorted(sizes.items())
                    ],
                }
            )
        # Open at the end of a search with a beam: only there can hypotheses be compared.
        beams = members[options.get("search", 0)]["beams"]
        beam = options.setdefault("beam", min(1, len(beams) - 1))
        options.setdefault("position", len(beams[beam]["steps"]))
        super().__init__(searches=members, **options)


def _check(steps: Any, what: str) -> None:
    before = 0
    for number, step in enumerate(steps):
        for extension in step:
            if not {"parent", "word", "log_p", "total", "fate"} <= extension.keys():
                raise ValueError(f"{what} has an incomplete extension in step {number}.")
            if extension["fate"] not in FATES or not math.isfinite(extension["total"]):
                raise ValueError(
                    f"{what} has an extension in step {number} whose fate is not one of "
                    f"{', '.join(FATES)} or whose total is not finite."
                )
            parent = extension["parent"]
            if (parent != -1) if number == 0 else not 0 <= parent < before:
                raise ValueError(f"{what} has an extension in step {number} without a parent.")
        before = len(step)
    if not before:
        raise ValueError(f"{what} has no steps.")
