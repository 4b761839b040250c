"""Compare the attention weights of a text classifier with other measures of what matters.

The answer of a classifier for two classes is measured by its log-odds z: the logit of the class
that the model chose, less the other's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

import torch
import torch.nn.functional as F
from scipy.stats import kendalltau
from torch import Tensor, nn

from coursekit.data.batching import pad
from solutions.sentences.pooling import AttentionClassifier

Rows = Sequence[Tensor]  # one number for each word, (N,), of each text
PERMUTATIONS = 50  # of the weights of a text
ALLOWED = 0.01  # change of the probabilities by other weights


def kendall(a: Tensor, b: Tensor) -> float:
    """Return Kendall's tau-b of two rows of numbers (N,); NaN if one of them is constant."""
    return float(kendalltau(a, b).statistic)


def read(
    model: AttentionClassifier, texts: Sequence[Sequence[int]]
) -> tuple[Tensor, Tensor, Tensor]:
    """Return logits (B, 2), weights (B, N) and the embedded words (B, N, e) of texts."""
    seen: list[Tensor] = []
    hook = model.embedding.register_forward_hook(lambda module, given, output: seen.append(output))
    logits, weights = model(pad(texts), torch.tensor([len(text) for text in texts]))
    hook.remove()
    return logits, weights, seen[0]


def log_odds(logits: Tensor, classes: Tensor) -> Tensor:
    """Return the log-odds z of a class (B,), for logits (B, 2)."""
    return 2 * logits.gather(1, classes[:, None])[:, 0] - logits.sum(dim=1)


def gradient_times_input(
    model: AttentionClassifier, texts: Sequence[Sequence[int]]
) -> tuple[list[Tensor], list[Tensor], Tensor]:
    """Return weights and |x_j^T dz / dx_j| of each text, (N,), and the chosen classes (M,)."""
    weights, products, classes = [], [], []
    for start in range(0, len(texts), 100):
        part = texts[start : start + 100]
        logits, alpha, embedded = read(model, part)
        chosen = logits.argmax(dim=1)  # (B,)
        (gradient,) = torch.autograd.grad(log_odds(logits, chosen).sum(), embedded)  # (B, N, e)
        product = (gradient * embedded).sum(dim=-1).abs().detach()  # (B, N)
        for row, other, text in zip(alpha.detach(), product, part, strict=True):
            weights.append(row[: len(text)])
            products.append(other[: len(text)])
        classes.append(chosen)
    return weights, products, torch.cat(classes)


@torch.no_grad()
def leave_one_out(
    model: AttentionClassifier, texts: Sequence[Sequence[int]], classes: Tensor
) -> list[Tensor]:
    """Return |z - z without the word| for each word of each text, (N,)."""
    cut = [[*text[:j], *text[j + 1 :]] for text in texts for j in range(len(text))]
    owner = torch.tensor([i for i, text in enumerate(texts) for _ in text])
    order = sorted(range(len(cut)), key=lambda k: len(cut[k]))
    z = torch.empty(len(cut))
    for start in range(0, len(cut), 500):
        members = order[start : start + 500]
        logits, _, _ = read(model, [cut[k] for k in members])
        z[members] = log_odds(logits, classes[owner[members]])
    whole = torch.cat(
        [
            log_odds(read(model, texts[s : s + 100])[0], classes[s : s + 100])
            for s in range(0, len(texts), 100)
        ]
    )
    return list((z - whole[owner]).abs().split([len(text) for text in texts]))


@torch.no_grad()
def states_of(model: AttentionClassifier, texts: Sequence[Sequence[int]]) -> list[Tensor]:
    """Return the states of the encoder for each text, (N, 2d)."""
    held: list[nn.utils.rnn.PackedSequence] = []
    hook = model.rnn.register_forward_hook(lambda module, given, output: held.append(output[0]))
    states = []
    for start in range(0, len(texts), 100):
        part = texts[start : start + 100]
        read(model, part)
        padded, _ = nn.utils.rnn.pad_packed_sequence(held[-1], batch_first=True)  # (B, N, 2d)
        states += [row[: len(text)] for row, text in zip(padded, part, strict=True)]
    hook.remove()
    return states


def strongest(row: Tensor, count: int) -> set[int]:
    """Return the positions of the largest numbers of a row (N,)."""
    return set(row.topk(count).indices.tolist())


def measure_precision(rows: Rows, deciding: Rows) -> dict[str, float]:
    """Return how well the strongest words agree with the positions of the words that decide.

    "precision" is the share of deciding words among as many of the strongest, "top" how often the
    strongest word decides.
    """
    shares = [
        len(strongest(row, len(right)) & set(right.tolist())) / len(right)
        for row, right in zip(rows, deciding, strict=True)
    ]
    tops = [float(row.argmax() in right) for row, right in zip(rows, deciding, strict=True)]
    return {"precision": fmean(shares), "top": fmean(tops)}


def measure_agreement(first: Rows, second: Rows, deciding: Rows) -> dict[str, float]:
    """Return how well two measures agree, means over the texts.

    Returns:
        Kendall's tau over "all" words, over the "deciding" ones of texts with three or more of
        them, and over the "other" words; and "shared", the share of the strongest words, as many
        as decide, that both have.
    """
    taus: dict[str, list[float]] = {"all": [], "deciding": [], "other": [], "shared": []}
    for a, b, right in zip(first, second, deciding, strict=True):
        rest = torch.ones(len(a), dtype=torch.bool)
        rest[right] = False
        taus["all"].append(kendall(a, b))
        taus["other"].append(kendall(a[rest], b[rest]))
        if len(right) > 2:
            taus["deciding"].append(kendall(a[right], b[right]))
        both = strongest(a, len(right)) & strongest(b, len(right))
        taus["shared"].append(len(both) / len(right))
    return {
        name: fmean(value for value in values if value == value) for name, values in taus.items()
    }


@torch.no_grad()
def answers(output: nn.Module, weights: Tensor, states: Tensor) -> Tensor:
    """Return the probability of the second class, (R,), for weights (R, N) over states (N, 2d)."""
    return output(weights @ states).softmax(dim=-1)[:, 1]


def measure_replacements(
    output: nn.Module, weights: Rows, states: Rows, seed: int
) -> dict[str, float]:
    """Put other weights in place of a model's.

    Returns:
        "flipped_...": how often the answer changes with weights that are "shuffled", "even", or all
        on the "strongest" word.
    """
    generator = torch.Generator().manual_seed(seed)
    ways: dict[str, Callable[[Tensor], Tensor]] = {
        "shuffled": lambda alpha: torch.stack(
            [alpha[torch.randperm(len(alpha), generator=generator)] for _ in range(PERMUTATIONS)]
        ),
        "even": lambda alpha: torch.full((1, len(alpha)), 1 / len(alpha)),
        "strongest": lambda alpha: F.one_hot(alpha.argmax(), len(alpha)).float()[None],
    }
    metrics = {}
    for name, replace in ways.items():
        flipped = []
        for alpha, state in zip(weights, states, strict=True):
            before = answers(output, alpha[None], state)  # (1,)
            after = answers(output, replace(alpha), state)  # (R,)
            flipped.append(((after > 0.5) != (before > 0.5)).float().mean().item())
        metrics[f"flipped_{name}"] = fmean(flipped)
    return metrics


def divergence(a: Tensor, b: Tensor) -> Tensor:
    """Return the Jensen-Shannon divergence of rows of weights (..., N), in nats: 0 to log 2."""
    entropy = torch.special.entr
    return (entropy((a + b) / 2) - (entropy(a) + entropy(b)) / 2).sum(dim=-1)  # (...,)


@torch.no_grad()
def furthest(output: nn.Module, weights: Tensor, states: Tensor) -> float:
    """Return the largest divergence of other weights with the same answer, in nats.

    The log-odds are a weighted mean of one number for each state. So the permitted weights form a
    polytope, the divergence is convex, and its maximum lies at a corner: all weight on one word, or
    on two that together reach a bound.

    Args:
        output: the layer that makes logits of a sentence vector.
        weights: the model's, (N,).
        states: (N, 2d).
    """
    second = torch.ones(len(states), dtype=torch.long)
    apiece = log_odds(output(states), second)  # (N,)
    p = (weights @ apiece).sigmoid()
    lowest = (p - ALLOWED).logit() if p > ALLOWED else torch.tensor(-torch.inf)
    highest = (p + ALLOWED).logit() if p < 1 - ALLOWED else torch.tensor(torch.inf)
    corners = [torch.eye(len(weights))[(lowest <= apiece) & (apiece <= highest)]]  # one word
    i, j = torch.triu_indices(len(weights), len(weights), 1)
    for bound in (lowest, highest):
        share = (bound - apiece[j]) / (apiece[i] - apiece[j])
        possible = (share > 0) & (share < 1)
        mixture = torch.zeros(int(possible.sum()), len(weights))  # (K, N)
        row = torch.arange(len(mixture))
        mixture[row, i[possible]] = share[possible]
        mixture[row, j[possible]] = 1 - share[possible]
        corners.append(mixture)
    return divergence(torch.cat(corners), weights).max().item()


def erase(output: nn.Module, order: Tensor, weights: Tensor, states: Tensor) -> float:
    """Take weights away, in an order (N,), until the answer changes.

    Those that are left are scaled to sum to 1.

    Returns:
        the share of the words that are taken away; 1 if the answer never changes.
    """
    n = len(weights)
    rank = torch.empty(n, dtype=torch.long)
    rank[order] = torch.arange(n)
    kept = rank[None] >= torch.arange(1, n)[:, None]  # (N - 1, N): row k has lost k + 1
    rows = weights * kept
    rows = rows / rows.sum(dim=1, keepdim=True).clamp(min=1e-30)
    before, after = answers(output, weights[None], states), answers(output, rows, states)
    changes = ((after > 0.5) != (before > 0.5)).nonzero()
    return (changes[0].item() + 1) / n if len(changes) else 1.0


def gradient_of_weights(
    output: nn.Module, weights: Tensor, states: Tensor, chosen: Tensor
) -> Tensor:
    """Return dz / d alpha_j, (N,): below 0 where a word speaks against the answer."""
    alpha = weights.clone().requires_grad_()
    logits = output(alpha[None] @ states)  # (1, 2)
    (gradient,) = torch.autograd.grad(log_odds(logits, chosen[None]).sum(), alpha)  # (N,)
    return gradient


def measure_erasure(
    model: AttentionClassifier,
    texts: Sequence[Sequence[int]],
    measures: Mapping[str, Rows],
    states: Rows,
    classes: Tensor,
    seed: int,
) -> dict[str, float]:
    """Take away what is largest by each measure, first weights and then the word itself.

    Args:
        model: the classifier.
        texts: ids of each text.
        measures: "weight", "product" and "left_out" of each text, (N,).
        states: of each text, (N, 2d).
        classes: what the model answers, (M,).
        seed: of the orders at random.

    Returns:
        "erased_...", the mean share of the words whose weights are taken away until the answer
        changes; "unchanged_...", how often it never does, which counts as 1; and "without_...", how
        often the answer changes if the first word of the order is left out of the text. Texts whose
        answer changes in none of the orders are not counted in the first two: "erased_texts" is the
        share of the others.
    """
    output, weights = model.output, measures["weight"]
    generator = torch.Generator().manual_seed(seed)
    slopes = [
        gradient_of_weights(output, *given) for given in zip(weights, states, classes, strict=True)
    ]
    orders = {
        name: [row.argsort(descending=True) for row in rows] for name, rows in measures.items()
    }
    orders |= {
        "gradient_weight": [
            (slope * row).argsort(descending=True)
            for slope, row in zip(slopes, weights, strict=True)
        ],
        "gradient": [slope.argsort(descending=True) for slope in slopes],
        "random": [torch.randperm(len(row), generator=generator) for row in weights],
    }
    shares = {
        name: torch.tensor(
            [erase(output, *given) for given in zip(order, weights, states, strict=True)]
        )
        for name, order in orders.items()
    }
    changes = torch.stack(list(shares.values())).amin(dim=0) < 1  # (M,): in some order
    metrics = {"erased_texts": changes.double().mean().item()}
    for name, order in orders.items():
        share = shares[name][changes]
        firsts = [int(first[0]) for first in order]
        cut = [[*text[:j], *text[j + 1 :]] for text, j in zip(texts, firsts, strict=True)]
        _, _, without = gradient_times_input(model, cut)
        metrics |= {
            f"erased_{name}": share.mean().item(),
            f"unchanged_{name}": (share == 1).double().mean().item(),
            f"without_{name}": (without != classes).double().mean().item(),
        }
    return metrics


def measure_mixing(states: Tensor, embedded: Tensor, lengths: Tensor) -> dict[str, float]:
    """Return how much of a state is about its own word, "own", and about the two "beside" it.

    The share is that of the norm of a gradient: of the state in a random direction, with respect
    to each embedding.

    Args:
        states: (B, N, d), with a graph to the embedded words.
        embedded: (B, N, e).
        lengths: real words of each text, (B,).
    """
    direction = torch.randn(states.shape[-1], generator=torch.Generator().manual_seed(3))
    own, beside = [], []
    for j in range(states.shape[1]):
        (gradient,) = torch.autograd.grad(
            (states[:, j] @ direction).sum(), embedded, retain_graph=True
        )
        share = gradient.norm(dim=-1)  # (B, N)
        share = share / share.sum(dim=1, keepdim=True).clamp(min=1e-30)
        for row, n in zip(share, lengths.tolist(), strict=True):
            if j < n:
                own.append(row[j].item())
                beside.append(row[max(0, j - 1) : j + 2].sum().item() - row[j].item())
    return {"own": fmean(own), "beside": fmean(beside), "words": lengths.double().mean().item()}
