"""Texts with the weights of recorded classifiers, as `WordsExplorer` takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import nn

from coursekit.data.documents import text_batch
from coursekit.training import results

from .hierarchical_attention import document_views
from .pooling import EncodedReviews


def hop_views(weights: Sequence[Sequence[float]], what: str = "") -> dict[str, Any]:
    """Return the mean of the hops and each hop as views, {name: (N,)}.

    Args:
        weights: of each hop, (r, N).
        what: added to the names, such as ", penalty".
    """
    rows = torch.tensor(weights)  # (r, N)
    hops = {f"hop {k}{what}": row for k, row in enumerate(rows, start=1)}
    return {f"all hops together{what}": rows.mean(dim=0)} | hops


def imdb_review(i: int, classes: Sequence[str] = ("bad", "good")) -> dict[str, Any]:
    """Return a recorded IMDB review as the final state and as the learned hops looked at it."""
    one, several = (
        results.read(name, "imdb")["runs"][0]["examples"][i]
        for name in ("bilstm-attention", "structured")
    )
    queried, hops = {"the final state as query": one["weights"][0]}, hop_views(several["weights"])
    told: dict[str, str] = {}
    for example, views in ((one, queried), (several, hops)):
        sentence = (
            f"Probability of “good”: {example['probabilities'][1]:.2f}; "
            f"in truth {classes[example['label']]}."
        )
        told |= dict.fromkeys(views, sentence)
    return {"words": one["tokens"], "weights": queried | hops, "told": told}


@torch.no_grad()
def generated_review(
    i: int, data: EncodedReviews, model: nn.Module, hops: Mapping[str, Mapping[int, Any]]
) -> dict[str, Any]:
    """Return a generated test review as a model with a query and recorded hops looked at it.

    Args:
        i: number of the test review.
        data: the reviews.
        model: the classifier whose query is the final state, in eval mode.
        hops: name -> number of the review -> its recorded "weights" and "probability".
    """
    review, batch = data.reviews.test[i], text_batch([data.test[i]])
    logits, rows = model(batch.tokens, batch.lengths)  # (1, 2), (1, N)
    weights: dict[str, Any] = {"the final state as query": rows[0]}
    good = {"Final state as query": logits.softmax(dim=1)[0, 1].item()}
    asked = {"the final state as query": "Final state as query"}
    for name, recorded in hops.items():
        views = hop_views(recorded[i]["weights"], f", {name}")
        weights |= views
        good[f"4 hops, {name}"] = recorded[i]["probability"]
        asked |= dict.fromkeys(views, f"4 hops, {name}")
    told = {
        view: f"{which}: probability of a good review: {good[which]:.2f}; "
        f"in truth {review.rating} of 5 stars."
        for view, which in asked.items()
    }
    marked = review.deciding_positions
    return {"words": list(review.words), "weights": weights, "marked": marked, "told": told}


def document(example: Mapping[str, Any], classes: Sequence[str]) -> dict[str, Any]:
    """Return a recorded document as a hierarchical attention network looked at it."""
    rows = [torch.tensor(row) for row in example["weights"]]
    best = max(range(len(classes)), key=example["probabilities"].__getitem__)
    told = (
        f"The model says {classes[best]} with {100 * example['probabilities'][best]:.0f} %; "
        f"it is {classes[example['label']]}."
    )
    views = document_views(rows, torch.tensor(example["sentence_weights"]))
    return {"words": example["tokens"], **views, "told": dict.fromkeys(views["weights"], told)}
