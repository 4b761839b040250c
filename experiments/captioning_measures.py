"""What captioners of drawn scenes get right, where they attend, and what the gate does."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from statistics import fmean
from typing import Any

import torch
from torch import Tensor, nn

from coursekit.corpora.scenes import Scene, kind
from coursekit.models.captioning import (
    Caption,
    CaptionBatch,
    attention_per_object,
    attention_weights,
    caption_batch,
    caption_batches,
    greedy_captions,
    measure_region_attention,
    overlapped_locations,
)
from coursekit.training import device
from coursekit.training.metrics import entropy, exact_match
from solutions.captioning.attention import doubly_stochastic_penalty, reinforce_loss

from .reinforce import Reinforce, to_hard_attention
from .scene_data import EncodedScenes

KINDS = ("size", "colour", "shape", "relation")
DRAWS = 300  # of the locations of one batch, to measure the noise of a gradient
BASELINE_DRAWS = 20  # before them, for the mean reward of each picture
NOISE_BATCH = 48  # captions of that batch


def measure_right(model: nn.Module, data: EncodedScenes, part: str = "test") -> float:
    """Return the share of captions, written greedily, that match the true one exactly."""
    captions = [caption.ids for caption in greedy_captions(model, data.annotations[part])]
    return exact_match(captions, [ids[:-1] for ids in data.captions[part]])


def weights_of(model: nn.Module, data: EncodedScenes) -> list[Tensor]:
    """Return the weights (T, 64) at each word of the true captions of the test scenes."""
    return attention_weights(model, data.annotations["test"], data.captions["test"])


def make_test_batch(data: EncodedScenes) -> CaptionBatch:
    """Return all test scenes with their true captions."""
    return caption_batch(data.annotations["test"], data.captions["test"]).to(device())


def measure_regions(model: nn.Module, data: EncodedScenes) -> dict[str, float]:
    """Return, for each kind of word, how attention fits the true region.

    "share" is the share of the weight inside (attention correctness), "pointing" how often the
    largest weight lies inside.
    """
    metrics: dict[str, float] = {}
    for name, found in measure_region_attention(weights_of(model, data), data.scenes.test).items():
        metrics |= {f"share_{name}": found.share, f"pointing_{name}": found.pointing}
    return metrics


@torch.no_grad()
def measure_words(model: nn.Module, data: EncodedScenes) -> dict[str, float]:
    """Return the share of words found by kind, given the true words before them."""
    batch = make_test_batch(data)
    found = model(batch.previous, batch.annotations)[0].argmax(dim=-1)  # (B, T)
    hits: dict[str, list[bool]] = defaultdict(list)
    for row, ids in zip((found == batch.target).tolist(), data.captions["test"], strict=True):
        for hit, word in zip(row, data.words.tokens(ids), strict=False):  # without the padding
            hits[kind(word) or "other"].append(hit)
    return {f"found_{name}": fmean(values) for name, values in hits.items()}


def relation_shares(weights: Sequence[Tensor], scenes: Sequence[Scene]) -> dict[str, float]:
    """Return where the weight lies at relation words: means over all of them.

    Args:
        weights: (T, 64) for each scene.
        scenes: the scenes.

    Returns:
        the shares "before" and "after", on the object before and after the word, "other", on other
        objects, and "background".
    """
    shares: dict[str, list[float]] = defaultdict(list)
    for matrix, scene in zip(weights, scenes, strict=True):
        for t, word in enumerate(scene.words):
            if kind(word) == "relation":
                on = attention_per_object(matrix[t], scene)
                first, second = scene.about[t]
                shares["before"].append(on[first])
                shares["after"].append(on[second])
                shares["other"].append(sum(on) - on[first] - on[second])
                shares["background"].append(1 - sum(on))
    return {name: fmean(values) for name, values in shares.items()}


def measure_relations(model: nn.Module, data: EncodedScenes) -> dict[str, float]:
    """Return where the weight of a model lies at relation words."""
    shares = relation_shares(weights_of(model, data), data.scenes.test)
    return {f"relation_{name}": value for name, value in shares.items()}


@contextmanager
def _with_gate(model: Any, gate: float) -> Iterator[None]:
    model.attention.beta = lambda query: query.new_full((len(query),), gate)
    try:
        yield
    finally:
        del model.attention.beta  # the method is there again


@torch.no_grad()
def measure_gate(model: Any, data: EncodedScenes) -> dict[str, float]:
    """Return the mean gate by kind of word, and the right captions with the gate forced open."""
    seen: list[Tensor] = []
    hook = model.attention.register_forward_hook(
        lambda module, given, output: seen.append(module.beta(given[0]))
    )
    batch = make_test_batch(data)
    model(batch.previous, batch.annotations)
    hook.remove()
    gates: dict[str, list[float]] = defaultdict(list)
    for row, ids in zip(torch.stack(seen, dim=1).tolist(), data.captions["test"], strict=True):
        for beta, word in zip(row, data.words.tokens(ids), strict=False):  # without the padding
            gates[kind(word) or {"<eos>": "end"}.get(word, word)].append(beta)
    metrics = {f"gate_{name}": fmean(values) for name, values in gates.items()}
    with _with_gate(model, 1.0):
        return metrics | {"exact_gate_open": measure_right(model, data)}


def measure_coverage(model: nn.Module, data: EncodedScenes) -> dict[str, float]:
    """Return means over the scenes: the doubly stochastic penalty, and how broad the weights are.

    "least_penalty" is that of even weights, "effective_locations" exp of the entropy of a word's
    weights, "background" the weight outside all objects.
    """
    values: dict[str, list[float]] = defaultdict(list)
    for weights, scene in zip(weights_of(model, data), data.scenes.test, strict=True):
        steps, locations = weights.shape
        everywhere = torch.ones(1, steps, dtype=torch.bool)
        penalty = doubly_stochastic_penalty(weights.unsqueeze(0), everywhere)
        values["penalty"].append(penalty.item())
        values["least_penalty"].append((locations - steps) ** 2 / locations)
        words = weights[:-1]  # (T - 1, N), without the end
        values["effective_locations"].append(entropy(words).exp().mean().item())
        inside = torch.stack([overlapped_locations(o.mask()) for o in scene.objects]).any(dim=0)
        values["background"].append(words[:, ~inside].sum(dim=1).mean().item())
    return {name: fmean(found) for name, found in values.items()}


def measure_noise(soft: Any, data: EncodedScenes) -> dict[str, float]:
    """Measure the spread of REINFORCE's gradient for W, U and v, on one batch.

    A trained soft model attends to one location at a time; its locations are drawn again and again.

    Returns:
        "variance_none", "variance_mean" and "variance_each": the variance without a baseline, with
        the mean reward of all pictures, and with that of each picture, both estimated from draws
        before; and "gradient_norm", an estimate
        of the norm of the gradient itself.
    """
    model: Any = to_hard_attention(soft).train()
    captions = data.annotations["train"], data.captions["train"]
    batch = next(caption_batches(*captions, NOISE_BATCH, seed=1)).to(device())
    estimator = Reinforce()
    with torch.no_grad():  # the mean reward of each picture, from separate draws
        own = torch.stack([estimator.sample(model, batch)[0] for _ in range(BASELINE_DRAWS)]).mean(
            dim=0
        )  # (B,)
    baselines = {"none": 0.0, "mean": own.mean().item(), "each": own}
    attention = model.attention.soft
    found: dict[str, list[Tensor]] = defaultdict(list)
    for _ in range(DRAWS):
        reward, log_prob, _ = estimator.sample(model, batch)
        for name, baseline in baselines.items():
            loss = reinforce_loss(log_prob, reward.detach(), baseline, batch.mask)
            parts = torch.autograd.grad(
                loss, [attention.W, attention.U, attention.v], retain_graph=True
            )
            found[name].append(torch.cat([part.flatten() for part in parts]).cpu())
    gradients = {name: torch.stack(rows) for name, rows in found.items()}  # (draws, parameters)
    variances = {name: rows.var(dim=0).sum().item() for name, rows in gradients.items()}
    # The square of a mean of n estimates holds an n-th of their variance.
    square = gradients["each"].mean(dim=0).square().sum().item() - variances["each"] / DRAWS
    metrics = {f"variance_{name}": value for name, value in variances.items()}
    return metrics | {"gradient_norm": max(square, 0.0) ** 0.5}


def classify_attention(on: Sequence[float], meant: int) -> str:
    """Say where the weight of a word lies.

    Args:
        on: its share on each object.
        meant: the object that the word is about.

    Returns:
        "on the object", if it has half of the weight or more; "on another object", if another one
        has; else "divided".
    """
    if on[meant] >= 0.5:
        return "on the object"
    return "on another object" if max(on) >= 0.5 else "divided"


def find_mistake(
    scene: Scene, caption: Caption, words: Sequence[str]
) -> tuple[int, str, str, str] | None:
    """Find the first wrong word of a caption, and where the model attended when it wrote it.

    Args:
        scene: the scene.
        caption: what a model wrote.
        words: its words.

    Returns:
        the position, the word written, the word that should stand there, and the result of
        `classify_attention`, or "relation" or "length" if the true word is not about one object.
        None if the caption is right.
    """
    said, truth = [*words, "<eos>"], [*scene.words, "<eos>"]
    if said == truth:
        return None
    t = next(t for t, (one, other) in enumerate(zip(said, truth, strict=False)) if one != other)
    if "<eos>" in (said[t], truth[t]):
        return t, said[t], truth[t], "length"
    if len(scene.about[t]) != 1:
        return t, said[t], truth[t], "relation"
    on = attention_per_object(caption.weights[t], scene)
    return t, said[t], truth[t], classify_attention(on, scene.about[t][0])


def count_attention(model: nn.Module, data: EncodedScenes) -> list[dict[str, Any]]:
    """Count where the weight lies at the first mistakes, and at all right words before them.

    Returns:
        rows of "right", "wanted" and "written", the kinds of the two words, "where", as in
        `find_mistake`, and "number". Right words are those about one object.
    """
    counts: Counter[tuple[bool, str, str, str]] = Counter()
    captions = greedy_captions(model, data.annotations["test"])
    for scene, caption in zip(data.scenes.test, captions, strict=True):
        mistake = find_mistake(scene, caption, data.words.tokens(caption.ids))
        right = len(scene.words) if mistake is None else mistake[0]
        for t, word in enumerate(scene.words[:right]):
            name = kind(word)
            if name and len(scene.about[t]) == 1:
                on = attention_per_object(caption.weights[t], scene)
                counts[True, name, name, classify_attention(on, scene.about[t][0])] += 1
        if mistake:
            _, said, wanted, where = mistake
            counts[False, kind(wanted) or wanted, kind(said) or said, where] += 1
    return [
        {"right": right, "wanted": wanted, "written": written, "where": where, "number": n}
        for (right, wanted, written, where), n in sorted(counts.items())
    ]
